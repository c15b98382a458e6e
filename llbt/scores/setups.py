"""Aggregation by several mechanisms at once, for one setup or for many (a test set and a metric each)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np
import pandas as pd

from ..base.arguments import Jobs, Rng, Share, checked
from ..base.table import Table, counted
from ..classical.pair_tables import Adjust
from ..core.columns import Label
from ..core.comparisons import Comparisons
from ..data.column_roles import Names
from ..data.system_scores import SystemScores, as_scores
from ..errors import LLBTError, LLBTWarning, OptionError, listed
from ..resampling import Resampler
from .aggregate import aggregate
from .mechanisms import Mechanism, Method, named
from .pairwise import pairwise
from .pairwise_records import PairwiseScores, significance_table

OnError = Literal["raise", "nan"]


@checked
def aggregate_methods(
    data: object,
    *,
    methods: Sequence[Method] = get_args(Mechanism),
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
    system: str | None = None,
    item: Names = (),
    score: Names = (),
    rater: str | None = None,
    ignore: Names = (),
) -> pd.DataFrame:
    """Return the scores of systems by several mechanisms side by side, the higher the better.

    Parameters
    ----------
    data : frame, path, list of records, SystemScores or Comparisons
        Scores, wide or long, or a table of counts, as in `aggregate`.
    methods : sequence of str, BradleyTerry, Elo or TrueSkill
        Mechanisms of `aggregate`, each once; all six by default. With ``BradleyTerry(separated="rank")``, systems
        without finite scores get their negated ranks.
    rng : numpy.random.Generator or int, optional
        For the random orders of Elo and TrueSkill; no other mechanism uses random numbers.
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.
    system, item, score, rater, ignore
        Columns of a frame, as in `aggregate`.

    Returns
    -------
    DataFrame
        Systems in rows, sorted; mechanisms in columns, each on its own scale: compare ranks, not numbers
        (``plot.ranks_by_method``). If lower scores are better, means and medians are negated.

    Raises
    ------
    OptionError
        Without a mechanism, and for one that is named twice.
    LLBTError
        As in `aggregate`.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"A": [9.0, 2.0, 2.0, 2.0], "B": [0.0, 3.0, 4.0, 3.0]})
    >>> llbt.scores.aggregate_methods(scores, rng=1).rank(ascending=False).loc["A"].astype(int).to_dict()
    {'mean': 1, 'median': 2, 'bt': 2, 'llbt': 2, 'elo': 2, 'trueskill': 2}
    """
    draw = Resampler.of("aggregate_methods", rng, n_jobs, progress)
    if any((system, item, score, rater, ignore)):
        data = as_scores(data, system=system, item=item, score=score, rater=rater, ignore=ignore)
    by_setup, failed = _by_setup({"": data}, methods, draw)
    for error in failed.get("", {}).values():
        raise error
    return by_setup[""]


@checked
def aggregate_setups(
    setups: Mapping[Label, object],
    *,
    methods: Sequence[Method] = ("mean", "median", "bt"),
    on_error: OnError = "raise",
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> dict[Label, pd.DataFrame]:
    """Return the scores of systems by several mechanisms in many setups, as input for `scores.compare`.

    Parameters
    ----------
    setups : mapping of frame
        Scores under the name of each setup, as in `aggregate`: a frame, wide or long, for example from
        ``dict(iter(frame.groupby("metric")))``, or `SystemScores`.
    methods : sequence of str, BradleyTerry, Elo or TrueSkill
        As in `aggregate_methods`.
    on_error : {"raise", "nan"}
        The treatment of setups for which a mechanism has no scores: an error that counts these setups, or NaN with one
        warning that names them. `scores.compare` leaves these setups out of the figures of the mechanism.
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
    OptionError
        Without a setup or a mechanism, and for a mechanism that is named twice.
    LLBTError
        As in `aggregate`; the message names the setup and the others that fail.

    Warns
    -----
    LLBTWarning
        With ``on_error="nan"``: setups without scores by some mechanism, and the reason for the first.

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
    _refuse_no_setups(setups)
    draw = Resampler.of("aggregate_setups", rng, n_jobs, progress)
    by_setup, failed = _by_setup(setups, methods, draw)
    if failed and on_error == "raise":
        _raise(failed, len(setups))
    if failed:
        _warn(failed, len(setups))
    return by_setup


@checked
def compare_tests(
    setups: Mapping[Label, object],
    *,
    adjust: Adjust = None,
    alpha: Share = 0.05,
    progress: bool = False,
) -> Table:
    """Return how many pairs of systems each test finds significant in many setups, and the shares others confirm.

    Parameters
    ----------
    setups : mapping of frame
        Scores under the name of each setup, as in `aggregate_setups`.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the pairs of a setup, as in `pairwise`.
    alpha : float
        The largest p-value that counts as significant.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Table
        test, significant (pairs of all setups), share (of all pairs), and a column for each test: P(column | row), the
        share of the pairs found by the row's test that the column's test finds, too. NaN where the row's test finds
        none.

    Raises
    ------
    OptionError
        Without a setup.
    JudgmentError
        For setups that cannot be read as scores.

    References
    ----------
    Peyrard, M., Zhao, W., Eger, S. & West, R. (2021). Better than average: paired evaluation of NLP systems. ACL,
    2301-2315, section 5 and figure 6.

    Examples
    --------
    >>> import llbt
    >>> drawn = [llbt.scores.simulate(n_systems=4, n_instances=50, rng=k).frame for k in range(3)]
    >>> setups = {k: frame.drop(columns=["instance", "type"]) for k, frame in enumerate(drawn)}
    >>> llbt.scores.compare_tests(setups).to_frame()[["test", "significant"]].values.tolist()
    [['t', 16.0], ['median', 15.0], ['sign', 16.0], ['wilcoxon', 15.0]]
    """
    _refuse_no_setups(setups)
    draw = Resampler.of("compare_tests", None, progress=progress)
    tested = draw.each([partial(_pairs_of, as_scores(data), adjust) for data in setups.values()])
    return significance_table(tested, alpha, (f"pairs of {counted(len(setups), 'setup')} together",))


def _pairs_of(scores: SystemScores, adjust: Adjust, rng: np.random.Generator) -> PairwiseScores:
    return pairwise(scores, adjust=adjust)


def _refuse_no_setups(setups: object) -> None:
    if not isinstance(setups, Mapping) or not setups:
        raise OptionError(
            f"setups is {'empty' if isinstance(setups, Mapping) else f'of type {type(setups).__name__}'}",
            expected="a mapping of names to frames of scores, with at least one",
        )


def _by_setup(
    setups: Mapping[Label, object], methods: Sequence[Method], draw: Resampler
) -> tuple[dict[Label, pd.DataFrame], dict[Label, dict[Mechanism, LLBTError]]]:
    """Return scores by setup and mechanism, the higher the better, NaN if missing, and the reasons."""
    names = [named(method) for method in methods]
    if not names or len(set(names)) < len(names):
        raise OptionError(f"methods={methods!r}", expected="at least one, each once: methods=['mean', 'bt']")
    read = map(_read, setups.values())
    made = iter(draw.each([partial(_scores, data, method) for data in read for method in methods]))
    by_setup: dict[Label, pd.DataFrame] = {}
    failed: dict[Label, dict[Mechanism, LLBTError]] = {}
    for setup in setups:
        columns = {name: next(made) for name in names}
        wrong = {name: outcome for name, outcome in columns.items() if isinstance(outcome, LLBTError)}
        failed |= {setup: wrong} if wrong else {}
        empty = dict.fromkeys(wrong, pd.Series(dtype=float))
        by_setup[setup] = pd.DataFrame(columns | empty).sort_index()
    return by_setup, failed


def _read(data: object) -> SystemScores | Comparisons | LLBTError:
    """Return scores read once for all mechanisms, or the error of reading them."""
    try:
        return data if isinstance(data, Comparisons) else as_scores(data)
    except LLBTError as error:
        return error


def _scores(
    data: SystemScores | Comparisons | LLBTError, method: Method, rng: np.random.Generator
) -> pd.Series[float] | LLBTError:
    """Return scores, the higher the better, or the error of the mechanism."""
    if isinstance(data, LLBTError):
        return data
    try:
        aggregation = aggregate(data, method=method, rng=rng)
    except LLBTError as error:
        return error
    scores = pd.Series(aggregation.estimate, list(aggregation.objects), dtype=float)
    if scores.isna().all():  # no score is finite: ranks with the sign turned
        return pd.Series(-np.asarray(aggregation.rank, dtype=float), list(aggregation.objects))
    lower = isinstance(data, SystemScores) and not data.higher_is_better
    return -scores if lower and aggregation.method in ("mean", "median") else scores


def _raise(failed: Mapping[Label, Mapping[Mechanism, LLBTError]], total: int) -> None:
    """Raise the first error, with the names of the other setups that fail."""
    name, *others = failed
    error = next(iter(failed[name].values()))
    more = f" So do {len(others)} of {total - 1} other setups: {listed(others)}." if others else ""
    raise type(error)(
        f"setup {name!r}: {error.found}",
        f"{error.remedy}{more} aggregate_setups(…, on_error='nan') goes on without them.".lstrip(),
        expected=error.expected,
    ) from error


def _warn(failed: Mapping[Label, Mapping[Mechanism, LLBTError]], total: int) -> None:
    first = next(iter(failed))
    without = {method: [name for name, wrong in failed.items() if method in wrong] for method in get_args(Mechanism)}
    which = "; ".join(f"{method} in {listed(names)}" for method, names in without.items() if names)
    warnings.warn(
        f"aggregate_setups: {len(failed)} of {total} setups lack scores, NaN there: {which}. The first, {first!r}: "
        f"{next(iter(failed[first].values()))}",
        LLBTWarning,
        stacklevel=3,
    )
