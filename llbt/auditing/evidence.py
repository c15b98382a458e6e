"""The evidence of an audit: judgments as codes, without rows that compare nothing, and counts of these rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ..base.budgets import refuse_large
from ..core.columns import Coded, FloatArray, IntArray, Label, Lines, arranged, as_objects, dense, groups, tally
from ..core.comparisons import Comparisons, tabulate
from ..core.counts import n_columns
from ..core.grades import graded_outcomes
from ..core.judgments import MADE, Judgments
from ..core.response import THREE, TWO, Response
from ..data.countable import Countable
from ..data.distinct_rows import Rows
from ..data.formats import Labels
from ..data.frames import Factor, read_factor, read_sizes
from ..data.graded_outcomes import Judged
from ..data.grades import MOST_GRADES
from ..data.outcome_codings import BAD, LEFT_OUT, TIE, by_label
from ..data.outcomes import Outcomes, read_outcomes
from ..data.row_filters import Filter, filters_of
from ..data.sources import refuse_absent
from ..data.spare_columns import TIMES
from ..data.standard_columns import ORDER_UNKNOWN
from ..errors import JudgmentError, OptionError, listed
from ..kernel.score_components import Components
from .baseline_fit import Expected, expect

BoolArray = npt.NDArray[np.bool_]

_PER_ROW = 50.0  # floats that a row takes at the peak, with judge and prompt: measured on a million
_TASKS = ("task", "lp", "language_pair", "language", "lang", "subset", "split", "dataset", "benchmark", "domain")
_TASK_PAIRS = (("srclang", "trglang"), ("source_lang", "target_lang"), ("src_lang", "tgt_lang"))


@dataclass(frozen=True, eq=False)
class Evidence:
    """Judgments as codes, without rows that compare nothing, and counts of these rows. N lines, J objects.

    Attributes
    ----------
    judgments : Judgments
        Judgments with positive weights, and with `shown` if the order is recorded. They have the winner, not the grade.
    response : Response
        The outcomes that a judgment can have, graded if the strength of preference is known.
    outcome : ndarray of int, shape (N,)
        The outcome of each line, as a column of the counts of a table.
    judge, prompt : Factor or None
        Codes (N,), −1 where missing.
    block, task : Factor or None
        The group of judgments made together, and the task: codes (N,), −1 where missing.
    moment : ndarray, shape (N,), or None
        The time of a judgment, as a rank between 0 and 1; None if it is unknown.
    names : tuple of str
        The columns of judge and prompt.
    beside : tuple of str
        The columns of block, task and time; an empty name of the time stands for the order of the rows.
    unordered : str
        Why it is unknown which object was shown first; empty if the order is recorded.
    single : bool
        Whether lines are recorded judgments; False for the lines of a table of counts.
    seen : dict of label to float
        Every label of an object with its number of rows (or judgments), before any row was left out.
    missing, unlabelled : dict of str to int
        Rows without an object or an outcome, and rows without a judge or a prompt, by column.
    selves : dict of label to int
        Rows in which the object was compared with itself.
    skipped : int
        Rows that ``outcomes=`` leaves out.
    sides : tuple of str
        The columns of the objects.
    unread : str
        Why the outcomes cannot be read.
    dropped : int
        Judgments that the reader left out because their outcome is unknown.
    rows : int
        Rows that were read.
    filters : tuple of Filter
        Unnamed columns that may be filters of rows.
    unused : tuple of str
        Columns that the audit ignores.
    """

    judgments: Judgments
    response: Response
    outcome: IntArray
    judge: Factor | None
    prompt: Factor | None
    names: tuple[str, str]
    unordered: str
    single: bool
    seen: dict[Label, float]
    missing: dict[str, int] = field(default_factory=dict)
    unlabelled: dict[str, int] = field(default_factory=dict)
    selves: dict[Label, int] = field(default_factory=dict)
    skipped: int = 0
    sides: tuple[str, str] = ("object_i", "object_j")
    unread: str = ""
    dropped: int = 0
    block: Factor | None = None
    task: Factor | None = None
    moment: FloatArray | None = None
    beside: tuple[str, str, str] = ("block", "task", "")
    rows: int = 0
    filters: tuple[Filter, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def timeless(self) -> str:
        """Why the times of the judgments are unknown, or an empty text."""
        if self.moment is not None:
            return ""
        return "no column records when judgments were made: time=…"

    @cached_property
    def expected(self) -> Expected:
        """Expectations under one worth for each object."""
        pairs, outcome = self.judgments.pairs, self.outcome
        if self.unordered:
            turned = pairs[:, 0] > pairs[:, 1]
            flip = np.asarray(THREE.flip if self.response == TWO else self.response.flip)
            pairs, outcome = np.where(turned[:, None], pairs[:, ::-1], pairs), np.where(turned, flip[outcome], outcome)
        first, rows = groups([*pairs.T])
        counts = self._tally(rows, outcome, len(first))
        c = Comparisons(self._names(), pairs[first], counts, self.response, keeps_order=not self.unordered)
        return expect(c, rows, self._tally(np.arange(len(rows)), outcome, len(rows)))

    def _tally(self, by: IntArray, outcome: IntArray, size: int) -> FloatArray:
        return tally(by, outcome, self.judgments.times, size, n_columns(self.response))

    def by_judge(self) -> FloatArray:
        """Return the counts of every judge, shape (K, 3)."""
        if self.judge is None:
            return np.zeros((0, 3))
        return self.judgments.tally(self.judge.codes, len(self.judge.labels))

    def by_object(self) -> FloatArray:
        """Return the judgments of every object, shape (J,)."""
        judgments = self.judgments
        return np.asarray(sum(np.bincount(side, judgments.times, len(judgments.objects)) for side in judgments.pairs.T))

    def by_pair(self) -> tuple[FloatArray, FloatArray]:
        """Return the counts of each pair in sorted order, and the counts in reverse order, (P, 3) each."""
        pairs = self.judgments.pairs
        first, group = groups([*np.sort(pairs, axis=1).T])
        forward = pairs[:, 0] < pairs[:, 1]
        one, other = (self.judgments.tally(np.where(way, group, -1), len(first)) for way in (forward, ~forward))
        return one, other

    def table(self, rows: BoolArray | None = None, *, ordered: bool = False) -> Comparisons:
        """Return the judgments, or some of them, as the table that a model is fitted to."""
        lines = np.arange(len(self.outcome)) if rows is None else np.flatnonzero(rows)
        first, group = groups([*self.judgments.pairs[lines].T])
        by = np.full(len(self.outcome), -1, dtype=np.int64)
        by[lines] = group
        counts = self._tally(by, self.outcome, len(first))
        like = Comparisons(
            self._names(), self.judgments.pairs[lines[first]], counts, self.response, keeps_order=ordered
        )
        return tabulate(Lines(like.pairs, like.counts), like)

    def plain(self) -> Evidence:
        """Return the evidence without grades."""
        if not self.response.grades:
            return self
        outcomes = self.judgments.outcomes
        return replace(self, response=THREE if (outcomes == TIE).any() else TWO, outcome=outcomes)

    def _names(self) -> tuple[Label, ...]:
        """Return the objects, or their representations if two of them (1 and '1') look the same."""
        objects = self.judgments.objects
        alike = len({str(label) for label in objects}) < len(objects)
        return tuple(repr(label) for label in objects) if alike else objects


def units_of(e: Evidence) -> dict[str, Factor]:
    """Return the columns that group judgments: block, judge, prompt; each with two labels or more."""
    named = ((e.beside[0], e.block), (e.names[0], e.judge), (e.names[1], e.prompt))
    return {name: factor for name, factor in named if factor is not None and len(factor.labels) > 1}


def dependent_within(e: Evidence, without: str = "") -> list[IntArray]:
    """Return the clusters of dependent lines, codes (N,) each: all units except `without`, and judge × prompt.

    Lines without a label are clusters of their own.
    """
    units = units_of(e)
    codes = {name: complete(factor) for name, factor in units.items()}
    if e.names[0] in codes and e.names[1] in codes:
        codes["both"] = groups([codes[name] for name in e.names])[1]
    return [of for name, of in codes.items() if name != without and int(of.max(initial=-1)) + 1 < len(of)]


def answer_effect(e: Evidence, given: BoolArray, among: BoolArray) -> FloatArray:
    """Return the design effect on the share of an answer for each judge, (K,): 1 where judgments are independent.

    Parameters
    ----------
    given : ndarray of bool, shape (N,)
        Which lines give the answer.
    among : ndarray of bool, shape (N,)
        Which lines are counted; all of them have a judge.
    """
    assert e.judge is not None  # asked of judges alone
    lines, times = np.flatnonzero(among), e.judgments.times[among]
    share = float(times @ given[lines]) / float(times.sum())
    away, judge, size = given[lines] - share, e.judge.codes[lines], len(e.judge.labels)
    v = np.full(len(lines), share * (1 - share))
    beside = [codes[lines] for codes in dependent_within(e, e.names[0])]
    known = Components.of(beside, times * away, times * away**2, times, v)
    alone = np.bincount(judge, times * v, size)
    return np.asarray(1 + known.beyond(judge, size).variance / np.maximum(alone, 1e-300))


def complete(factor: Factor) -> IntArray:
    """Return codes without unused labels; each line without a label gets a code of its own."""
    codes, missing = factor.codes.copy(), factor.codes < 0
    codes[~missing] = dense(codes[~missing], len(factor.labels))[0]
    codes[missing] = codes.max(initial=-1) + 1 + np.arange(int(missing.sum()))
    return codes


@dataclass(frozen=True)
class Named:
    """The columns that a caller of `audit` names. None: a column of the usual name; the strength only from a format."""

    judge: str | None = None
    prompt: str | None = None
    weights: str | None = None
    block: str | None = None
    task: str | None = None
    time: str | None = None
    strength: str | None = None


def from_source(opened: Countable, named: Named, decided: Collection[str] = ()) -> Evidence:
    """Return judgments without the rows that compare nothing, and a record of these rows.

    Parameters
    ----------
    decided : collection of str
        Columns that the caller names in addition to `named`, such as the ones to ignore.
    """
    judged = Judged(opened, named.strength, {})
    source, sides, outcome = opened.source, opened.sides, judged.field
    judge, prompt, weights, block, time = (
        opened.called.get(name, name)
        if name is not None
        else next((default for default in defaults if default in source.names), None)
        for name, defaults in (
            (named.judge, ("judge", opened.judge)),
            (named.prompt, ("prompt", opened.prompt)),
            (named.weights, ("weight", opened.weights)),
            (named.block, ("block",)),
            (named.time, TIMES),
        )
    )
    task = _task_columns(named.task, source.names)
    names = tuple(n for n in (*sides, outcome, judge, prompt, weights, block, time, *task) if n is not None)
    graded = judged.beside.get("strength", ("strength",) if opened.is_standard else ())
    asks = "outcome" if outcome == opened.labels.field else "strength"
    roles = {"objects": sides, asks: (outcome,), "judge": (judge,), "prompt": (prompt,), "weights": (weights,)}
    roles |= {"block": (block,), "time": (time,), "task": task} | ({"strength": graded} if graded else {})
    refuse_absent(source, {role: tuple(n for n in columns if n is not None) for role, columns in roles.items()})
    others = tuple(dict.fromkeys(name for name in (*names, *graded) if name not in (*sides, outcome)))
    made = MADE if opened.is_standard else ()
    known = {*names, *graded, opened.labels.tie, *decided, *made}
    size = source.n_rows()
    refuse_large(
        f"an audit of {size:,} rows",
        _PER_ROW * size,
        "Audit a part of them, such as rows drawn at random, or a table: from_judgments(…, clusters='judge').",
        JudgmentError,
    )
    picked = source.pick({"objects": sides, "outcome": (outcome,), "judgments": others})
    read = {name: read_factor(picked.frame, name) for name in names}
    meant, unsigned = _meant(judged, picked)
    sizes = _sizes(picked, read[outcome], meant, graded)
    n = _weights(read[weights]) if weights in read else np.ones(len(picked.times))
    pairs = _pairs(read[sides[0]], read[sides[1]])
    there = (pairs.codes >= 0).all(axis=1)
    same = there & (pairs.codes[:, 0] == pairs.codes[:, 1])
    informative = there & ~same & (read[outcome].codes >= 0) & (n > 0)
    rows = np.flatnonzero(informative)
    outcomes, unread = _outcomes(
        picked.take(informative), outcome, replace(pairs, codes=pairs.codes[rows]), sides, meant.outcomes
    )
    rows_read = rows[outcomes != LEFT_OUT]
    outcomes = outcomes[outcomes != LEFT_OUT]
    labels = tuple(pairs.levels.tolist())
    judgments = Judgments(labels, pairs.codes[rows_read], outcomes, weights=n[rows_read], shown=opened.shown)
    told_outcome, response = _graded(outcomes, sizes[rows_read])
    selves = np.bincount(pairs.codes[same, 0], minlength=len(pairs.levels))
    return Evidence(
        judgments=judgments.among_judged(),
        response=response,
        outcome=told_outcome,
        judge=_taken(read.get(judge or ""), rows_read),
        prompt=_taken(read.get(prompt or ""), rows_read),
        names=(judge or "judge", prompt or "prompt"),
        unordered=_unordered(judgments.pairs, f"{sides[0]} always sorts before {sides[1]}")
        if opened.shown
        else ORDER_UNKNOWN,
        single=True,
        seen=dict(zip(pairs.levels.tolist(), _mentions(pairs.codes, n, len(pairs.levels)).tolist(), strict=True)),
        missing=_absent(read, (*sides, outcome)),
        unlabelled={name: k for name, k in _absent(read, (judge, prompt)).items() if k < len(picked.times)},
        selves={pairs.levels[k]: int(selves[k]) for k in np.flatnonzero(selves)},
        skipped=len(rows) - len(rows_read),
        sides=sides,
        unread=unsigned or unread,
        dropped=opened.dropped,
        block=_taken(read.get(block or ""), rows_read),
        task=_taken(_joined([read[name] for name in task]), rows_read),
        moment=_moment(read.get(time or ""), rows_read, source.frame),
        beside=(block or "block", "+".join(task) or "task", time or ""),
        rows=size,
        filters=tuple(filters_of(source, known)),
        unused=tuple(name for name in source.names if name not in known),
    )


def _task_columns(task: str | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that together identify the task, if any."""
    if task is not None:
        return (task,)
    pair = next((pair for pair in _TASK_PAIRS if set(pair) <= set(names)), ())
    return pair or tuple(name for name in _TASKS if name in names)[:1]


def _joined(factors: Sequence[Factor]) -> Factor | None:
    """Return one column that combines several; None without a column."""
    if len(factors) < 2:
        return factors[0] if factors else None
    codes = np.column_stack([factor.codes for factor in factors])
    known = (codes >= 0).all(axis=1)
    combinations, group = np.unique(codes[known], axis=0, return_inverse=True)
    joined = np.full(len(codes), -1, dtype=np.int64)
    joined[known] = group.ravel()
    labels = ["-".join(str(f.labels[k]) for f, k in zip(factors, row, strict=True)) for row in combinations]
    return Factor([*labels], joined)


def _moment(time: Factor | None, rows: IntArray, frame: Any) -> FloatArray | None:
    """Return the times of judgments as ranks between 0 and 1, (N,): from a column, else from the order of the rows.

    None where neither is known: an engine without an order of rows, or labels that are not times.
    """
    if time is None or not len(time.labels):
        ordered = isinstance(frame, nw.DataFrame) or frame.implementation.is_polars()
        values: FloatArray | None = np.arange(len(rows), dtype=np.float64) if ordered else None
    else:
        times = _as_times(time.labels)
        values = None if times is None or (time.codes[rows] < 0).any() else times[time.codes[rows]]
    if values is None or len(values) < 2 or np.ptp(values) == 0:
        return None
    return np.asarray((stats.rankdata(values) - 1) / (len(values) - 1))


def _as_times(labels: Sequence[Any]) -> FloatArray | None:
    """Return times as increasing numbers, or None if a label cannot be read as a time."""
    series = pd.Series(as_objects(labels))
    numbers = pd.to_numeric(series, errors="coerce")
    if numbers.notna().all():
        return np.asarray(numbers, dtype=np.float64)
    # only ISO 8601 says which number is the day; of other forms pandas guesses, with a warning
    times = pd.to_datetime(series.astype(str), format="ISO8601", errors="coerce", utc=True)
    return np.asarray(times.astype("int64"), dtype=np.float64) if times.notna().all() else None


def _pairs(i: Factor, j: Factor) -> Coded:
    """Return the objects with common sorted levels, codes (N, 2), −1 where a label is missing."""
    again, labels = pd.factorize(as_objects([*i.labels, *j.labels]))
    recoded = [np.append(part, -1)[f.codes] for part, f in zip(np.split(again, [len(i.labels)]), (i, j), strict=True)]
    codes = np.column_stack(recoded)
    sorted_codes = arranged("objects", labels, np.arange(len(labels))).codes  # of found label k: its place when sorted
    levels = np.empty(len(labels), dtype=object)
    levels[sorted_codes] = labels
    return Coded("objects", levels, np.append(sorted_codes, -1)[codes])


def _outcomes(
    rows: Rows, column: str, pairs: Coded, sides: tuple[str, str], outcomes: Outcomes
) -> tuple[IntArray, str]:
    """Return the outcomes of some rows (0, 1, 2; 3: left out), or why they cannot be read."""
    if not len(pairs.codes):
        return np.zeros(0, dtype=np.int64), ""
    try:
        codes = read_outcomes(rows, column, pairs, sides, outcomes)[0].astype(np.int64)
        return np.where(codes == BAD, TIE, codes), ""
    except JudgmentError as refused:
        return np.zeros(len(pairs.codes), dtype=np.int64), str(refused)


def _meant(judged: Judged, rows: Rows) -> tuple[Labels, str]:
    """Return the meaning of the outcome labels, and why they are not signed grades if the caller says they are."""
    try:
        return judged.labels(rows), ""
    except JudgmentError as refused:
        return judged.countable.labels, str(refused)


def _sizes(rows: Rows, outcomes: Factor, meant: Labels, columns: Sequence[str]) -> FloatArray:
    """Return the strength of preference in some rows, (U,), NaN if unknown: by the labels, else by the column."""
    if meant.strengths:
        return np.append(by_label(outcomes.labels, meant.strengths, np.nan), np.nan)[outcomes.codes].astype(np.float64)
    return read_sizes(rows, columns[0]) if columns else np.full(len(outcomes.codes), np.nan)


def _graded(outcomes: IntArray, sizes: FloatArray) -> tuple[IntArray, Response]:
    """Return the outcome of each judgment and the scale: graded if all preferences have sizes 1, 2, …, not all 1."""
    decided = sizes[outcomes != TIE]
    if not ((decided >= 1) & (decided <= MOST_GRADES) & (decided == np.floor(decided))).all() or (decided <= 1).all():
        return outcomes, THREE if (outcomes == TIE).any() else TWO
    places, response, _ = graded_outcomes(TIE - outcomes, sizes)
    return places.astype(np.int64), response


def _weights(factor: Factor) -> FloatArray:
    """Return the number of judgments in each row, (N,); 0 if it is missing."""
    wrong = [w for w in factor.labels if isinstance(w, str) or not 0 <= float(w) < np.inf]
    if wrong:
        raise JudgmentError(f"weights=: {listed(wrong)}", expected="finite numbers of judgments, at least 0")
    return np.append(np.array(factor.labels, dtype=np.float64), 0.0)[factor.codes]


def _taken(factor: Factor | None, rows: IntArray) -> Factor | None:
    """Return a column at some rows, without unused labels; None if no value remains."""
    if factor is None or not (factor.codes[rows] >= 0).any():
        return None
    codes = factor.codes[rows]
    used, again = np.unique(codes[codes >= 0], return_inverse=True)
    dense = np.full(len(codes), -1, dtype=np.int64)
    dense[codes >= 0] = again
    return Factor([factor.labels[k] for k in used], dense)


def _mentions(codes: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """Return the number of judgments with each label, shape (size,); a label compared with itself counts once."""
    i, j = codes.T
    sides = ((i, i >= 0), (j, (j >= 0) & (i != j)))
    return np.asarray(sum(np.bincount(side[rows], weights[rows], size) for side, rows in sides))


def _absent(read: dict[str, Factor], names: Sequence[str | None]) -> dict[str, int]:
    numbers = {name: int((read[name].codes < 0).sum()) for name in names if name is not None}
    return {name: number for name, number in numbers.items() if number}


def _unordered(pairs: IntArray, what: str) -> str:
    """Return why the order seems not to be recorded (three or more pairs, all in alphabetical order), or empty text."""
    forward = pairs[:, 0] < pairs[:, 1]
    if len(np.unique(pairs, axis=0)) < 3 or forward.any() != forward.all():
        return ""
    return f"{what} (or after it): the frame does not seem to record which object was shown first"


def from_table(c: Comparisons, named: Named) -> Evidence:
    """Return the counts of a table, one line per comparison, cluster and outcome."""
    by_cluster = c.cluster_counts
    rows = np.arange(len(c)) if by_cluster is None else by_cluster.rows
    counts = c.counts if by_cluster is None else by_cluster.counts
    columns = {column.name: column.codes[rows] for column in c.columns}
    columns |= {column.name: column.codes for column in (by_cluster.columns if by_cluster else ())}
    levels = {column.name: column.levels for column in (*c.columns, *(by_cluster.columns if by_cluster else ()))}
    line, outcome = np.nonzero(counts)
    factors = []
    task = next((name for name in _TASKS if name in columns), "task")
    for name, default in ((named.judge, "judge"), (named.prompt, "prompt"), (named.block, "block"), (named.task, task)):
        if name is not None and c.named(name) not in columns:
            raise OptionError(f"no covariate or cluster {name!r}", expected=f"one of {listed(list(columns)) or 'none'}")
        column = c.named(name or default)
        factors.append(Factor(levels[column].tolist(), columns[column][line]) if column in columns else None)
    signed = (THREE if c.response == TWO else c.response).loadings[:, 0]
    weights = counts[line, outcome]
    outcomes = TIE - np.sign(signed).astype(np.int64)[outcome]
    judgments = Judgments(c.objects, c.pairs[rows][line], outcomes, weights=weights, shown=c.keeps_order)
    return Evidence(
        judgments=judgments,
        response=c.response,
        outcome=outcome,
        judge=factors[0],
        prompt=factors[1],
        names=(c.named(named.judge or "judge"), c.named(named.prompt or "prompt")),
        unordered=""
        if c.keeps_order
        else "the table does not keep which object was shown first: from_judgments(…, order=True)",
        single=False,
        seen=dict(zip(c.objects, _mentions(judgments.pairs, judgments.times, len(c.objects)).tolist(), strict=True)),
        block=factors[2],
        task=factors[3],
        beside=(named.block or "block", named.task or task, ""),
    )
