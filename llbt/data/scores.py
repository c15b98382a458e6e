"""Read scores of systems on instances, and return them as Comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import checked
from ..base.budgets import refuse_square
from ..base.table import Qualifying, counted, format_count
from ..core.columns import FloatArray, IntArray, Label, Lines, groups
from ..core.comparisons import Comparisons
from ..errors import JudgmentError, listed
from .column_roles import Names, wanted
from .files import open_source
from .frames import is_number
from .sources import as_names
from .system_scores import SystemScores, TieRule, as_scores, instance_columns
from .tables import assembled, coded_pairs, kept_at


@checked
def from_scores(
    frame: object,
    *,
    covariates: Names = (),
    clusters: Names = (),
    numeric: Names = (),
    object_covariates: object = None,
    system: str | None = None,
    item: Names = (),
    score: Names = (),
    rater: str | None = None,
    ignore: Names = (),
) -> Comparisons:
    """Return the comparisons that scores imply: each pair of systems on each instance.

    Parameters
    ----------
    frame : frame, path, list of records or SystemScores
        A frame of any library that narwhals knows, or the path of a file; scores of one metric: a row for each system
        and item, a column for each system, or a row for each system. If lower scores are better, or for a threshold of
        ties, pass `scores.SystemScores`.
    covariates, clusters, numeric, object_covariates
        As in `from_counts`; covariates and clusters have one value per instance. ``clusters="instance"`` (or whatever
        the column is called) keeps the instance itself.
    system, item, score, rater, ignore
        Columns of a frame, as in `scores.SystemScores.from_frame`; by default found by their names and values. A
        `rater` is kept as clusters.

    Returns
    -------
    Comparisons

    Raises
    ------
    JudgmentError
        For columns that are missing or have two roles; scores that are not finite numbers; an instance (of a system)
        that occurs twice; a covariate that is missing or has several values for an instance; and if no instance has two
        scores.

    Notes
    -----
    A missing score implies nothing about its system on that instance; notes name the pairs that lack instances. A pair
    has one judgment per instance. The judgments on one instance share their scores, so they are not independent:
    estimates are consistent, but standard errors and tests of a plain fit are wrong. Keep the instance in `clusters`
    and fit with ``cov_type="cluster"``; this needs a line per pair and instance.

    With a threshold, ties are not transitive; the model does not need transitivity.

    References
    ----------
    .. [1] Peyrard, M., Zhao, W., Eger, S. and West, R. (2021). Better than average: Paired evaluation of NLP systems.
       ACL-IJCNLP 2021, 2301-2315.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> scores = pd.DataFrame(
    ...     {"A": [0.9, 0.8, 0.3], "B": [0.5, 0.7, 0.4], "C": [0.5, 0.2, None], "domain": ["news", "news", "talk"]})
    >>> llbt.from_scores(scores).to_frame()
      object_i object_j  wins_i  ties  wins_j
    0        A        B       2     0       1
    1        A        C       2     0       0
    2        B        C       1     1       0
    >>> close = llbt.scores.SystemScores.from_wide(scores, tie_threshold=0.1)
    >>> llbt.from_scores(close, covariates="domain").to_frame()
      object_i object_j domain  wins_i  ties  wins_j
    0        A        B   news       1     1       0
    1        A        B   talk       0     1       0
    2        A        C   news       2     0       0
    3        B        C   news       1     1       0
    """
    names, beside, numbered = _kept_names(covariates, clusters, numeric, object_covariates)
    scores = as_scores(
        frame, (*names, *beside), system=system, item=item, score=score, rater=rater, ignore=ignore, by_rater=True
    )
    if scores.rater and scores.rater not in (*names, *beside):
        beside = (*beside, scores.rater)
    columns = instance_columns(scores, (*names, *beside))
    _refuse_gaps(scores.instances, columns, beside, numbered)
    lines, first = _lines(scores, columns)
    if not len(lines):
        raise JudgmentError(
            f"no instance has two scores: {counted(int(np.isfinite(scores.values).sum()), 'score')} of "
            f"{counted(len(scores.systems), 'system')} on {counted(len(scores.instances), 'instance')}; a comparison "
            "needs two",
            "Check what names the instances: llbt.scores.SystemScores.from_long(…, instance='…').",
        )
    asked = wanted(names, beside, numbered, object_covariates, None)
    pairs = coded_pairs(scores.systems, lines[:, :2])
    counts = Lines(pairs.codes, lines[:, 3:].astype(np.float64), *kept_at(columns.iloc[first], asked, lines[:, 2]))
    unkept = tuple(str(name) for name in scores.columns if name not in (scores.instance, *names, *beside))
    notes = [*_notes(scores, beside or (scores.instance,), not beside), *scores.notes_beside((*names, *beside))]
    return assembled(counts, pairs, asked, notes, unkept=unkept, order=False)


def _kept_names(
    covariates: Names, clusters: Names, numeric: Names, table: object
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the names of covariates, clusters and numbers; a column that only `numeric` names is a covariate."""
    named, beside = as_names(covariates, "covariates"), as_names(clusters, "clusters")
    numbered = as_names(numeric, "numeric")
    of_objects = () if table is None else open_source(table, what="the frame of object_covariates=").names
    alone = tuple(name for name in numbered if name not in (*named, *of_objects))
    names = (*named, *alone, *beside)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise JudgmentError(
            f"column {twice[0]!r} is named twice in covariates=, numeric= and clusters=",
            expected="each column once, as a covariate or as a cluster",
        )
    return (*named, *alone), beside, numbered


def _refuse_gaps(
    instances: Sequence[Label], columns: pd.DataFrame, beside: Sequence[str], numbered: Sequence[str]
) -> None:
    """Raise for covariates without a value, here where the instance is known."""
    for name, column in columns.items():
        wrong, what, expected = column.isna().to_numpy(), "missing", "a value for every instance"
        covariate = name not in beside
        if not wrong.any() and covariate and (name in numbered or is_number(_native(columns), str(name))):
            wrong = ~np.isfinite(pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan))
            what, expected = "not a finite number", "numbers"
        if wrong.any():
            raise JudgmentError(
                f"column {name!r}: {counted(int(wrong.sum()), 'value')} {what}, the first for instance "
                f"{instances[int(wrong.argmax())]!r}",
                "Fill them, or remove these instances first.",
                expected=expected,
            )


def _native(columns: pd.DataFrame) -> Any:
    return nw.from_native(columns, eager_only=True)


def _lines(scores: SystemScores, columns: pd.DataFrame) -> tuple[npt.NDArray[Any], IntArray]:
    """Return counts by pair of systems and group; instances of a group have the same values of all that is kept.

    Returns
    -------
    lines : ndarray of int, shape (R, 6)
        Systems i and j, the group, wins of i, ties, wins of j; each line has a judgment.
    first : ndarray of int, shape (G,)
        The first instance of each group.
    """
    codes = [pd.factorize(columns[name])[0].astype(np.int64) for name in columns]
    codes = codes or [np.zeros(len(scores.instances), dtype=np.int64)]
    first, group = groups(codes)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(first)))
    refuse_square("the table of all pairs", len(scores.systems), JudgmentError)
    i, j = np.triu_indices(len(scores.systems), 1)
    counts = _pair_outcomes(scores.better[:, order], starts, scores.rule)
    pair, cell = np.nonzero(counts.any(axis=0))
    return np.column_stack([i[pair], j[pair], cell, *counts[:, pair, cell]]), first


def _pair_outcomes(values: FloatArray, starts: IntArray, rule: TieRule) -> npt.NDArray[np.int32]:
    """Return how often the first of two systems won, was tied and lost, in groups of instances.

    Parameters
    ----------
    values : ndarray, shape (N, M)
        Scores, NaN where there is none; the instances of a group side by side.
    starts : ndarray of int, shape (G,)
        Where each group starts.

    Returns
    -------
    ndarray of int, shape (3, P, G)
        For the P = N(N − 1)/2 pairs in the order of `numpy.triu_indices`.
    """
    size = len(values)
    counts = np.empty((3, size * (size - 1) // 2, len(starts)), dtype=np.int32)
    row = 0
    for outcomes in rule.outcomes_by_pair(values):
        for k in range(3):
            counts[k, row : row + len(outcomes)] = _summed(outcomes == k, starts)
        row += len(outcomes)
    return counts


def _summed(outcomes: npt.NDArray[np.bool_], starts: IntArray) -> npt.NDArray[np.int32]:
    """Return the counts of an outcome of K pairs, (K, M), by group, shape (K, G)."""
    if len(starts) == 1:
        return np.asarray(np.count_nonzero(outcomes, axis=1)[:, None], dtype=np.int32)
    return np.asarray(np.add.reduceat(outcomes, starts, axis=1, dtype=np.int32))


def _notes(scores: SystemScores, clusters: Sequence[str], unkept: bool) -> list[str]:
    """Return notes on what was read, what was missing, and the validity of the standard errors."""
    scored = np.isfinite(scores.values)
    per_instance = scored.sum(axis=0)
    implied = int((per_instance * (per_instance - 1) // 2).sum())
    small = int((per_instance < 2).sum())
    notes = [
        f"{counted(implied, 'judgment')} implied by the scores of {counted(len(scores.systems), 'system')} on "
        f"{counted(len(per_instance) - small, 'instance')}"
    ]
    notes += [f"left out: {counted(small, 'instance')} with fewer than two scores"] if small else []
    notes += _missing(scores, scored)
    if per_instance.max() > 2:
        keeping = f"Keep clusters={clusters[0]!r} and fit" if unkept else "Fit"
        notes.append(
            Qualifying(
                "Judgments on one instance share their scores and are not independent: standard errors and tests of a "
                f"plain fit are not right. {keeping} with cov_type='cluster', groups={clusters[0]!r}."
            )
        )
    return notes


def _missing(scores: SystemScores, scored: npt.NDArray[np.bool_]) -> list[str]:
    """Return a note on the pairs that lack instances because a score is missing, those that lack most first."""
    missing = int(scored.size - scored.sum())
    if not missing:
        return []
    i, j = np.triu_indices(len(scored), 1)
    there = scored.astype(np.float64)
    lacking = scored.shape[1] - (there @ there.T)[i, j].astype(np.int64)
    worst = [k for k in np.argsort(-lacking, kind="stable") if lacking[k]]
    pairs = [f"{scores.systems[i[k]]} and {scores.systems[j[k]]}: {lacking[k]}" for k in worst]
    return [
        f"{counted(missing, 'score')} missing: {counted(len(worst), 'pair')} of {format_count(len(i))} without some of "
        f"the {counted(scored.shape[1], 'instance')} (how many: {listed(pairs, 5)})"
    ]
