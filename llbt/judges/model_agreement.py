"""The probabilities of each judge's judgments under a model, and a standardized log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from ..base.table import counted
from ..core.columns import FloatArray, IntArray, code, groups
from ..core.counts import counts_of_outcomes
from ..core.response import THREE, TWO
from ..errors import DesignError, JudgmentError, listed
from ..fitting.estimates import Estimates
from ..fitting.prediction import chances_of, codings_of, comparisons_of
from ..kernel.likelihood import Problem
from .judge_counts import JudgeLines

_FLAT = 1e-10  # a variance of log-probabilities per judgment below which the model expects all answers alike
_FOLLOWED = 1e-8  # a share of the variance below which nothing is left of it once the model is fitted


@dataclass(frozen=True, eq=False)
class ModelFigures:
    """How well a model agrees with the judgments of K judges.

    Attributes
    ----------
    judgments, agreed, expected : ndarray, shape (K,)
        The number of a judge's judgments, and the sums of p(outcome) and of Σ p² over these judgments.
    statistic : ndarray, shape (K,)
        Standardized log-likelihood.
    followed : ndarray of bool, shape (K,)
        Judges with parameters of their own in the model, so that nothing is left to compare.
    notes : tuple of str
    """

    judgments: FloatArray
    agreed: FloatArray
    expected: FloatArray
    statistic: FloatArray
    followed: npt.NDArray[np.bool_]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Held:
    """R lines of judgments compared with a model.

    Judgments that the model does not determine count 0 in `judgments` (R,).

    Attributes
    ----------
    lines : JudgeLines
    problem : Problem
        The distinct comparisons, F of them.
    at : ndarray of int, shape (R,)
        The comparison of each line.
    p : ndarray, shape (F, C)
        Probabilities of the outcomes; all are 1 if the model does not determine them.
    counts : ndarray, shape (R, C)
    """

    lines: JudgeLines
    problem: Problem
    at: IntArray
    p: FloatArray
    counts: FloatArray

    @property
    def judgments(self) -> FloatArray:
        """Judgments of each line, shape (R,)."""
        return np.asarray(self.counts.sum(axis=1))

    def moment(self, order: int) -> FloatArray:
        """Return the central moment of log p(outcome) under the model, summed by judge, shape (K,)."""
        return self.lines.summed(self.judgments * (self.p * self.excess**order).sum(axis=1)[self.at])

    @property
    def excess(self) -> FloatArray:
        """Log p − Σ p log p of each outcome, shape (F, C)."""
        return np.asarray(np.log(self.p) - special.xlogy(self.p, self.p).sum(axis=1, keepdims=True))

    def slopes(self, free: IntArray) -> FloatArray:
        """Return the covariance of each judge's log-likelihood with the judge's score, shape (K, p)."""
        pull = self.p * self.excess
        size, codes, n = (
            len(self.lines.judge.levels),
            np.asarray(self.lines.judge.codes, dtype=np.int64),
            self.judgments,
        )
        sums = self.problem.response.scores(self.p.T, pull.T)[:, self.at] * n
        parts = zip(self.problem.predictors, sums, strict=True)
        return np.asarray(sum(rows.columns(free).summed(weights, self.at, codes, size) for rows, weights in parts))


def model_figures(lines: JudgeLines, model: Estimates | None) -> ModelFigures:
    """Return each judge's agreement with a model; zeros, NaN and a note without a model."""
    if model is None:
        zero = np.zeros(len(lines.judge.levels))
        note = "no model= was given: agreement with a model is NA"
        return ModelFigures(zero, zero, zero, np.full_like(zero, np.nan), zero > 0, (note,))
    _refuse_grades(model)
    held, notes = _held(lines, model)
    statistic, followed, fault = _standardized(held, model)
    n = held.judgments
    return ModelFigures(
        judgments=lines.summed(n),
        agreed=lines.summed((held.counts * held.p[held.at]).sum(axis=1)),
        expected=lines.summed(n * (held.p**2).sum(axis=1)[held.at]),
        statistic=statistic,
        followed=followed,
        notes=(*notes, fault),
    )


def _refuse_grades(model: Estimates) -> None:
    """Raise for a model of other outcomes than wins, losses and ties."""
    response = model.comparisons.response
    if response in (TWO, THREE):
        return
    formula = "object + tie" if response.has_ties else "object"
    raise DesignError(
        f"model has the outcomes {listed(response.outcomes)}",
        f"Pass model=llbt.fit({formula!r}, res.comparisons.collapse()), where res is this model.",
        expected="a model of wins, losses and ties",
    )


def _standardized(held: _Held, model: Estimates) -> tuple[FloatArray, npt.NDArray[np.bool_], str]:
    """Return the standardized log-likelihoods (K,), the judges with own parameters (K,), and a note on the model.

    V is the variance of the log-likelihood, c its covariance with the score, and I the information of the fit. The
    error of the estimates changes V to V − cᵀI⁻¹c if the judgments are part of the fit, and to V + cᵀI⁻¹c if they are
    not. Skewness is removed by Hall's cubic, whose slope is a square.
    """
    own = _among(held, model)
    variance, third = held.moment(2), held.moment(3)
    slopes = held.slopes(model.free)
    pulled = np.einsum("kp,pq,kq->k", slopes, model.solution.cov, slopes, optimize=True)
    flat = variance <= _FLAT * held.lines.summed(held.judgments)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(flat, 0.0, pulled / variance)
        followed = own & (share > 1 - _FOLLOWED)
        left = 1 - share if own else 1 + share
        z = held.lines.summed((held.counts * held.excess[held.at]).sum(axis=1)) / np.sqrt(variance * left)
        # the third cumulant of what is left, the pull of the others going the way of the judge's own
        skewness = third * (left * (1 - 2 * share) if own else left * (1 - share)) / (variance * left) ** 1.5
        z = z - skewness / 6 * (z**2 - 1) + skewness**2 / 108 * z**3
    whose = (
        "z assumes that the fit includes these judgments: it has as many of each kind"
        if own
        else "z assumes that the fit does not include these judgments: it has fewer of some kind"
    )
    return np.where(flat | followed, np.nan, z), np.asarray(followed & ~flat), whose


def _among(held: _Held, model: Estimates) -> bool:
    """Return whether the fit has at least as many judgments of each pair and outcome as these data."""
    c = model.comparisons
    size, place = len(c.objects), {label: k for k, label in enumerate(c.objects)}
    sides = np.array([[place[x] for x in held.lines.frame[name]] for name in ("object_i", "object_j")]).T
    given = _by_pair(sides[held.lines.at], held.counts, size)
    return bool((given <= _by_pair(c.pairs, c.outcome_counts, size) + 1e-9).all())


def _by_pair(pairs: IntArray, counts: FloatArray, size: int) -> FloatArray:
    """Return counts (R, C) of pairs (R, 2) summed by pair, in either order of its objects, shape (size², C)."""
    cell = pairs.min(axis=1) * size + pairs.max(axis=1)
    both = np.where(pairs[:, :1] > pairs[:, 1:], counts[:, ::-1], counts)
    return np.column_stack([np.bincount(cell, column, size * size) for column in both.T])


def _held(lines: JudgeLines, model: Estimates) -> tuple[_Held, tuple[str, ...]]:
    """Return the lines with their expectations under the model, and notes on lines that it does not determine."""
    first, group = _distinct(lines, model)
    problem, _ = comparisons_of(model, first)
    p, at = chances_of(model, problem), group[lines.at]
    counts = counts_of_outcomes(lines.counts, model.comparisons.response)
    unknown = np.asarray(np.isnan(p).any(axis=1))
    p = np.where(unknown[:, None], 1.0, p)
    ties, lost = float(lines.counts.sum() - counts.sum()), float(counts[unknown[at]].sum())
    notes = [f"agreement with the model: {counted(ties, 'tie')} left out, as the model has no ties"] if ties else []
    if lost:
        notes.append(
            f"agreement with the model: {counted(lost, 'judgment')} left out, which the model does not determine"
        )
    return _Held(lines, problem, at, p, np.where(unknown[at][:, None], 0.0, counts)), tuple(notes)


def _distinct(lines: JudgeLines, model: Estimates) -> tuple[pd.DataFrame, IntArray]:
    """Return the comparisons of the lines' frame that the model distinguishes, and the comparison of each row."""
    if "order" in model.design.blocks and not lines.shown:
        raise DesignError(
            f"the model {model.specification.formula!r} has an order effect, but these data do not record which object "
            "was shown first",
            "Pass judgments with the order (from_judgments(…, order=True)), or a model without order.",
        )
    needed = _needed(model)
    gone = [name for name in needed if name not in lines.frame]
    if gone:
        raise JudgmentError(
            f"the model {model.specification.formula!r} needs {listed(gone)}, which these data do not have; they "
            f"have {listed(list(lines.frame), 20)}."
        )
    frame = pd.DataFrame(lines.frame)[needed]
    gaps = [name for name in needed if frame[name].isna().any()]
    if gaps:
        raise JudgmentError(f"column {gaps[0]!r}, which the model uses, has missing values", "Leave them out.")
    codes = [code(name, frame[name].to_numpy(dtype=object)) for name in needed]
    objects = model.comparisons.objects
    strange = [x for x in dict.fromkeys(x for column in codes[:2] for x in column.levels.tolist()) if x not in objects]
    if strange:
        raise JudgmentError(
            f"the model does not know the objects {listed(strange)}; it has {listed(objects)}", "Leave them out."
        )
    first, group = groups([np.asarray(column.codes, dtype=np.int64) for column in codes])
    return frame.iloc[first].reset_index(drop=True), group


def _needed(model: Estimates) -> list[str]:
    """Return the columns that a prediction needs: the objects first."""
    codings = codings_of(model)
    columns = ["object_i", "object_j"]
    for name in sorted({name for coding in codings.blocks.values() for name in coding.variables}):
        role = codings.table.variables[name].role
        columns += [name] if role == "covariate" else [f"{name}_i", f"{name}_j"] if role == "side covariate" else []
    return columns
