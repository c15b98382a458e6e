"""Many setups, a test set and a metric each, aggregated by several mechanisms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import pandas as pd

from ...columns import Label
from ...errors import DesignError, LLBTError
from ...statistics import check_option
from .aggregate import aggregate
from .bradley_terry import Ties
from .mechanisms import Mechanism


def aggregate_setups(
    setups: Mapping[Label, object],
    *,
    methods: Sequence[Mechanism] = ("mean", "median", "bt"),
    ties: Ties = "davidson",
    instance: str | None = None,
    covariates: str | Sequence[str] = (),
    higher_is_better: bool = True,
    progress: bool = False,
) -> dict[Label, pd.DataFrame]:
    """Return the scores of the systems of many setups by several mechanisms, as `compare_aggregations` takes them.

    Parameters
    ----------
    setups : mapping of frame
        A frame of scores under the name of each setup, wide or long, as in `aggregate`; such as
        ``dict(iter(frame.groupby("metric")))``.
    methods : sequence of str
        Mechanisms of `aggregate`, but Elo and TrueSkill, which need random orders: aggregate these one by one.
    ties, instance, covariates, higher_is_better
        As in `aggregate`, the same for all setups.
    progress : bool
        Show a progress bar.

    Returns
    -------
    dict of DataFrame
        Under each setup's name: systems in rows, mechanisms in columns, the higher the better.

    Raises
    ------
    DesignError
        For no setup, unknown mechanisms, and those that depend on random orders.
    LLBTError
        As `aggregate`; the message names the setup.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> easy = pd.DataFrame({"A": [3.0, 2.0, 4.0], "B": [2.0, 1.0, 5.0]})
    >>> outlier = pd.DataFrame({"A": [9.0, 1.0, 1.0], "B": [2.0, 2.0, 2.0]})
    >>> scores = llbt.aggregate_setups({"easy": easy, "outlier": outlier})
    >>> scores["outlier"].rank(ascending=False).loc["A"].to_dict()
    {'mean': 1.0, 'median': 2.0, 'bt': 2.0}
    >>> print(llbt.compare_aggregations(scores).to_frame()[["first", "second", "reversed"]].values.tolist())
    [['mean', 'median', 0.5], ['mean', 'bt', 0.5], ['median', 'bt', 0.0]]
    """
    if not isinstance(setups, Mapping) or not setups:
        raise DesignError("aggregate_setups: expected a mapping of names to frames of scores, with at least one.")
    fixed = [method for method in get_args(Mechanism) if method not in ("elo", "trueskill")]
    for method in methods:
        check_option("aggregate_setups", "methods", method, fixed)
    found: dict[Label, pd.DataFrame] = {}
    for name, frame in _shown(setups, progress):
        try:
            each = {
                method: aggregate(
                    frame,
                    method=method,
                    ties=ties,
                    instance=instance,
                    covariates=covariates,
                    higher_is_better=higher_is_better,
                )
                for method in methods
            }
        except LLBTError as error:
            raise type(error)(f"setup {name!r}: {error}") from error
        columns = {method: pd.Series(result.estimate, list(result.objects)) for method, result in each.items()}
        scores = pd.DataFrame(columns).sort_index()
        found[name] = scores if higher_is_better else scores.assign(**_turned(scores))
    return found


def _turned(scores: pd.DataFrame) -> dict[str, pd.Series[float]]:
    """Return means and medians of scores of which less is better with the sign that makes more better."""
    return {method: -scores[method] for method in ("mean", "median") if method in scores}


def _shown(setups: Mapping[Label, object], progress: bool) -> list[tuple[Label, object]]:
    if not progress:
        return list(setups.items())
    from tqdm.auto import tqdm

    return tqdm(list(setups.items()), desc="setups")  # type: ignore[no-any-return]
