"""Latent classes as models of units that share judges, such as prompts, predicted from the judges' other judgments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse, special

from ..core.columns import FloatArray, IntArray, Label, dense, summed_by
from ..fitting.clusters import kept_ways
from ..fitting.merged_rows import distinct
from ..inference.unit_models import DependentUnits, UnitModel, unit_model
from ..kernel.likelihood import probabilities
from ..kernel.mixture import Answers
from .class_protocol import ClassesLike
from .class_units import continued_estimates, of_classes, with_weak_prior


@dataclass(frozen=True, eq=False)
class ClassLines:
    """K classes of judges, with L lines of judgments in U units.

    Attributes
    ----------
    fit : LatentClasses
    unit : str
    labels : tuple
    rows : ndarray of int, shape (L,)
        The comparison of each line, as a row of the comparisons of `fit.by_judge.answers`.
    outcomes : ndarray, shape (L, C)
        The counts of each line.
    judges, codes : ndarray of int, shape (L,)
        The judge and the unit of each line.
    """

    fit: ClassesLike
    unit: str
    labels: tuple[Label, ...]
    rows: IntArray
    outcomes: FloatArray
    judges: IntArray
    codes: IntArray

    @property
    def counts(self) -> FloatArray:
        """The count of every unit: one, shape (U,)."""
        return np.ones(len(self.labels))

    @property
    def sizes(self) -> FloatArray:
        """How many judgments each unit has, shape (U,)."""
        return summed_by(self.codes, self.outcomes.sum(axis=1), len(self.labels))

    @property
    def each(self) -> str:
        """The word for what `sizes` counts."""
        return "judgment"

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the maximum-likelihood estimates from the units whose count is 1; the other counts are 0."""
        return continued_estimates(self.fit, self._answers(counts))

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Return the estimates with a prior of one judgment for each pair in each class."""
        return continued_estimates(self.fit, with_weak_prior(self.fit, self._answers(counts)))

    def _answers(self, counts: FloatArray) -> Answers:
        some = np.flatnonzero(counts[self.codes] > 0)
        whole = self.fit.by_judge.answers
        judges, _ = dense(self.judges[some], len(self.fit.by_judge.levels))
        table = table_of_judges(self.rows[some], judges, self.outcomes[some], len(whole.problem.counts))
        total = np.asarray(table.sum(axis=0)).reshape(whole.problem.counts.shape)
        return Answers.of(replace(whole.problem, counts=total), table, whole.common, whole.prior)

    def log_scores_given(self, params: FloatArray, known: FloatArray) -> FloatArray:
        """Return log P(unit | known units) of each unit that is not known, (U,); NaN for known units.

        The class probabilities of a unit's judges are computed from their judgments of known units.
        """
        shares, each = of_classes(self.fit, params)
        problem = self.fit.by_judge.answers.problem
        lines = np.stack(
            [special.xlogy(self.outcomes, probabilities(problem, one)[self.rows]).sum(axis=1) for one in each], axis=1
        )  # (L, K)
        in_rest = known[self.codes] > 0
        by_judge = partial(summed_by, size=len(self.fit.by_judge.levels))
        before = np.log(shares) + np.stack([by_judge(self.judges[in_rest], one) for one in lines[in_rest].T], axis=1)
        scores = np.full(len(known), np.nan)
        for unit in np.flatnonzero(known == 0).tolist():
            mine = self.codes == unit
            after = before + np.stack([by_judge(self.judges[mine], one) for one in lines[mine].T], axis=1)
            scores[unit] = (special.logsumexp(after, axis=1) - special.logsumexp(before, axis=1)).sum()
        return scores


def table_of_judges(rows: IntArray, judges: IntArray, counts: FloatArray, size: int) -> sparse.csr_matrix:
    """Return the counts of each judge, (G, S·C), of lines with counts (L, C) of S comparisons."""
    outcomes = counts.shape[1]
    cell = rows[:, None] * outcomes + np.arange(outcomes)
    shape = (int(judges.max()) + 1, size * outcomes)
    table = sparse.csr_matrix((counts.ravel(), (np.repeat(judges, outcomes), cell.ravel())), shape=shape)
    table.eliminate_zeros()
    return table


def class_units_to_predict(res: ClassesLike, by: str | None) -> UnitModel | DependentUnits:
    """Return latent classes as a model of units to hold out: of judges, or of levels that share judges."""
    own = res.by_judge.name
    if by is None or by == "judgment" or res.comparisons.named(by) == own:
        return unit_model(res, by, "by")
    ways = kept_ways(res.comparisons, [own, by])
    of_judge, of_unit = (way.clusters for way in ways)
    if len(np.unique(np.stack([of_judge.codes, of_unit.codes]), axis=1).T) == of_judge.size:
        return unit_model(res, by, "by")
    pooled = res.pooled
    merged = distinct(pooled.design, pooled.problem(), list(pooled.comparisons.pairs.T))[2]
    place = {level: k for k, level in enumerate(res.by_judge.levels)}
    judges = np.array([place[level] for level in ways[0].levels], dtype=np.int64)[of_judge.codes]
    return ClassLines(res, ways[1].name, ways[1].levels, merged[of_unit.rows], of_unit.counts, judges, of_unit.codes)
