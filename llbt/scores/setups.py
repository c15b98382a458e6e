"""Scores aggregated by several mechanisms at once; the same of many setups, a test set and a metric each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from ..arguments import Jobs, Positive, Rng, checked
from ..core.columns import Label
from ..errors import DesignError, LLBTError, LLBTWarning, listed
from ..resampling import Resampler
from .aggregate import Aggregation, aggregate
from .bradley_terry import Separated, Ties
from .mechanisms import Mechanism

OnError = Literal["raise", "nan"]


@checked
def aggregate_methods(
    data: object,
    *,
    methods: Sequence[Mechanism] = get_args(Mechanism),
    ties: Ties = "davidson",
    prior: Positive | None = None,
    bias_reduction: bool = False,
    separated: Separated = "raise",
    instance: str | None = None,
    covariates: str | Sequence[str] = (),
    higher_is_better: bool = True,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> pd.DataFrame:
    """Return the scores of systems by several mechanisms side by side, the higher the better.

    Parameters
    ----------
    data : frame, path, list of records or Comparisons
        Scores, wide or long, or a table of counts, as in `aggregate`.
    methods : sequence of str
        Mechanisms of `aggregate`; all six by default.
    ties, prior, bias_reduction, separated, instance, covariates, higher_is_better
        As in `aggregate`. With ``separated="rank"`` systems without finite Bradley-Terry scores have their ranks with
        the sign turned.
    rng : numpy.random.Generator or int, optional
        For the random orders of Elo and TrueSkill; no other mechanism draws.
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    DataFrame
        Systems in rows, sorted; mechanisms in columns, each on its own scale: compare ranks, not numbers
        (``plot.ranks_by_method``). Means and medians of scores of which less is better have their signs turned.

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
    >>> llbt.scores.aggregate_methods(scores, rng=1).rank(ascending=False).loc["A"].astype(int).to_dict()
    {'mean': 1, 'median': 2, 'bt': 2, 'llbt': 2, 'elo': 2, 'trueskill': 2}
    """
    _check_methods(methods)
    options = {"ties": ties, "instance": instance, "covariates": covariates, "higher_is_better": higher_is_better}
    penalty = {"prior": prior, "bias_reduction": bias_reduction, "separated": separated}
    draw = Resampler.of("aggregate_methods", rng, n_jobs, progress)
    found, failed = _by_setup({"": data}, methods, options, penalty, draw)
    for error in failed.get("", {}).values():
        raise error
    return found[""]


@checked
def aggregate_setups(
    setups: Mapping[Label, object],
    *,
    methods: Sequence[Mechanism] = ("mean", "median", "bt"),
    ties: Ties = "davidson",
    prior: Positive | None = None,
    bias_reduction: bool = False,
    separated: Separated = "raise",
    on_error: OnError = "raise",
    instance: str | None = None,
    covariates: str | Sequence[str] = (),
    higher_is_better: bool = True,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> dict[Label, pd.DataFrame]:
    """Return the scores of the systems of many setups by several mechanisms, as `scores.compare` takes them.

    Parameters
    ----------
    setups : mapping of frame
        A frame of scores under the name of each setup, wide or long, as in `aggregate`; such as
        ``dict(iter(frame.groupby("metric")))``.
    methods : sequence of str
        Mechanisms of `aggregate`.
    ties, prior, bias_reduction, separated, instance, covariates, higher_is_better
        As in `aggregate_methods`, the same for all setups.
    on_error : {"raise", "nan"}
        What is done where a mechanism has no scores for a setup: an error that counts such setups, or NaN, and one
        warning that names them; `scores.compare` leaves them out of that mechanism's figures.
    rng : numpy.random.Generator or int, optional
        For the random orders of Elo and TrueSkill.
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    dict of DataFrame
        Under each setup's name: systems in rows, mechanisms in columns, the higher the better.

    Raises
    ------
    DesignError
        For no setup, and unknown mechanisms.
    LLBTError
        As `aggregate`; the message names the setup, and says which others fail.

    Warns
    -----
    LLBTWarning
        With ``on_error="nan"``: which setups have no scores by which mechanism, and why the first.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> easy = pd.DataFrame({"A": [3.0, 2.0, 4.0], "B": [2.0, 1.0, 5.0]})
    >>> outlier = pd.DataFrame({"A": [9.0, 1.0, 1.0], "B": [2.0, 2.0, 2.0]})
    >>> scores = llbt.scores.aggregate_setups({"easy": easy, "outlier": outlier})
    >>> scores["outlier"].rank(ascending=False).loc["A"].to_dict()
    {'mean': 1.0, 'median': 2.0, 'bt': 2.0}
    >>> print(llbt.scores.compare(scores).to_frame()[["first", "second", "reversed"]].values.tolist())
    [['mean', 'median', 0.5], ['mean', 'bt', 0.5], ['median', 'bt', 0.0]]
    """
    if not isinstance(setups, Mapping) or not setups:
        raise DesignError("expected a mapping of names to frames of scores, with at least one.")
    _check_methods(methods)
    options = {"ties": ties, "instance": instance, "covariates": covariates, "higher_is_better": higher_is_better}
    penalty = {"prior": prior, "bias_reduction": bias_reduction, "separated": separated}
    draw = Resampler.of("aggregate_setups", rng, n_jobs, progress)
    found, failed = _by_setup(setups, methods, options, penalty, draw)
    if failed and on_error == "raise":
        _raise(failed, len(setups))
    if failed:
        _warn(failed, len(setups), methods)
    return found


def _check_methods(methods: Sequence[Mechanism]) -> None:
    if not methods:
        raise DesignError(f"methods={methods!r}; expected at least one: methods=['mean', 'bt'].")


def _by_setup(
    setups: Mapping[Label, object],
    methods: Sequence[Mechanism],
    options: dict[str, Any],
    penalty: dict[str, Any],
    draw: Resampler,
) -> tuple[dict[Label, pd.DataFrame], dict[Label, dict[Mechanism, LLBTError]]]:
    """Return scores by setup and mechanism, the higher the better, NaN where there are none, and why there are none."""
    own = {method: options | (penalty if method in ("bt", "llbt") else {}) for method in methods}
    tasks = [partial(_scores, data, method, own[method]) for data in setups.values() for method in methods]
    made = iter(draw.each(tasks))
    found: dict[Label, pd.DataFrame] = {}
    failed: dict[Label, dict[Mechanism, LLBTError]] = {}
    for name in setups:
        columns = {method: next(made) for method in methods}
        wrong = {method: said for method, said in columns.items() if isinstance(said, LLBTError)}
        failed |= {name: wrong} if wrong else {}
        empty = dict.fromkeys(wrong, pd.Series(dtype=float))
        found[name] = pd.DataFrame(columns | empty).sort_index()
    return found, failed


def _scores(
    data: object, method: Mechanism, options: dict[str, Any], rng: np.random.Generator
) -> pd.Series[float] | LLBTError:
    """Return scores of which more is better, or the error that says why there are none."""
    try:
        return _higher_better(aggregate(data, method=method, rng=rng, **options), options)
    except LLBTError as error:
        return error


def _higher_better(found: Aggregation, options: Mapping[str, Any]) -> pd.Series[float]:
    """Return scores of which more is better: ranks with the sign turned where no score is finite."""
    scores = pd.Series(found.estimate, list(found.objects), dtype=float)
    if scores.isna().all():
        return pd.Series(-np.asarray(found.rank, dtype=float), list(found.objects))
    return -scores if found.method in ("mean", "median") and not options["higher_is_better"] else scores


def _raise(failed: Mapping[Label, Mapping[Mechanism, LLBTError]], total: int) -> None:
    """Raise the first error, with the names of the other setups that fail."""
    name, *others = failed
    error = next(iter(failed[name].values()))
    more = f" So do {len(others)} of {total - 1} other setups: {listed(others)}." if others else ""
    raise type(error)(
        f"setup {name!r}: {error}{more} aggregate_setups(…, on_error='nan') goes on without them."
    ) from error


def _warn(failed: Mapping[Label, Mapping[Mechanism, LLBTError]], total: int, methods: Sequence[Mechanism]) -> None:
    first = next(iter(failed))
    without = {method: [name for name, wrong in failed.items() if method in wrong] for method in methods}
    which = "; ".join(f"{method} in {listed(names)}" for method, names in without.items() if names)
    warnings.warn(
        f"aggregate_setups: {len(failed)} of {total} setups lack scores, NaN there: {which}. The first, {first!r}: "
        f"{next(iter(failed[first].values()))}",
        LLBTWarning,
        stacklevel=3,
    )
