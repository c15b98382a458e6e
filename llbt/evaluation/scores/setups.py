"""Scores aggregated by several mechanisms at once; the same of many setups, a test set and a metric each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np
import pandas as pd

from ...columns import Label
from ...errors import DesignError, LLBTError
from ...statistics import as_generator, check_option
from .aggregate import aggregate
from .bradley_terry import Ties
from .mechanisms import Mechanism


def aggregate_methods(
    data: object,
    *,
    methods: Sequence[Mechanism] = get_args(Mechanism),
    ties: Ties = "davidson",
    instance: str | None = None,
    covariates: str | Sequence[str] = (),
    higher_is_better: bool = True,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Return the scores of systems by several mechanisms side by side, the higher the better.

    Parameters
    ----------
    data : frame, path, list of records or Comparisons
        Scores, wide or long, or a table of counts, as in `aggregate`.
    methods : sequence of str
        Mechanisms of `aggregate`; all six by default.
    ties, instance, covariates, higher_is_better
        As in `aggregate`.
    rng : numpy.random.Generator or int, optional
        For the random orders of Elo and TrueSkill; no other mechanism draws.

    Returns
    -------
    DataFrame
        Systems in rows, sorted; mechanisms in columns, each on its own scale: compare ranks, not numbers
        (``plot_ranks_by_method``). Means and medians of scores of which less is better have their signs turned.

    Raises
    ------
    DesignError
        For no mechanism, or unknown ones.
    LLBTError
        As `aggregate`.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"A": [9.0, 2.0, 2.0, 2.0], "B": [0.0, 3.0, 4.0, 3.0]})
    >>> llbt.aggregate_methods(scores, rng=1).rank(ascending=False).loc["A"].astype(int).to_dict()
    {'mean': 1, 'median': 2, 'bt': 2, 'llbt': 2, 'elo': 2, 'trueskill': 2}
    """
    if not methods:
        raise DesignError(f"aggregate_methods: methods={methods!r}; expected at least one: methods=['mean', 'bt'].")
    for method in methods:
        check_option("aggregate_methods", "methods", method, get_args(Mechanism))
    draw = as_generator(rng, "aggregate_methods")
    columns = {}
    for method in methods:
        found = aggregate(
            data,
            method=method,
            ties=ties,
            instance=instance,
            covariates=covariates,
            higher_is_better=higher_is_better,
            rng=draw,
        )
        columns[method] = pd.Series(found.estimate, list(found.objects))
    scores = pd.DataFrame(columns).sort_index()
    return scores if higher_is_better else scores.assign(**_turned(scores))


def aggregate_setups(
    setups: Mapping[Label, object],
    *,
    methods: Sequence[Mechanism] = ("mean", "median", "bt"),
    ties: Ties = "davidson",
    instance: str | None = None,
    covariates: str | Sequence[str] = (),
    higher_is_better: bool = True,
    rng: np.random.Generator | int | None = None,
    progress: bool = False,
) -> dict[Label, pd.DataFrame]:
    """Return the scores of the systems of many setups by several mechanisms, as `compare_aggregations` takes them.

    Parameters
    ----------
    setups : mapping of frame
        A frame of scores under the name of each setup, wide or long, as in `aggregate`; such as
        ``dict(iter(frame.groupby("metric")))``.
    methods : sequence of str
        Mechanisms of `aggregate`.
    ties, instance, covariates, higher_is_better
        As in `aggregate`, the same for all setups.
    rng : numpy.random.Generator or int, optional
        For the random orders of Elo and TrueSkill.
    progress : bool
        Show a progress bar.

    Returns
    -------
    dict of DataFrame
        Under each setup's name: systems in rows, mechanisms in columns, the higher the better.

    Raises
    ------
    DesignError
        For no setup, and unknown mechanisms.
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
    draw = as_generator(rng, "aggregate_setups")
    found: dict[Label, pd.DataFrame] = {}
    for name, frame in _shown(setups, progress):
        try:
            found[name] = aggregate_methods(
                frame,
                methods=methods,
                ties=ties,
                instance=instance,
                covariates=covariates,
                higher_is_better=higher_is_better,
                rng=draw,
            )
        except LLBTError as error:
            raise type(error)(f"setup {name!r}: {error}") from error
    return found


def _turned(scores: pd.DataFrame) -> dict[str, pd.Series[float]]:
    """Return means and medians of scores of which less is better with the sign that makes more better."""
    return {method: -scores[method] for method in ("mean", "median") if method in scores}


def _shown(setups: Mapping[Label, object], progress: bool) -> list[tuple[Label, object]]:
    if not progress:
        return list(setups.items())
    from tqdm.auto import tqdm

    return tqdm(list(setups.items()), desc="setups")  # type: ignore[no-any-return]
