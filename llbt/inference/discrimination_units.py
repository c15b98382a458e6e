"""New judges for fits with discriminations: a new judge has the discrimination of one of the known judges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ..core.columns import FloatArray, Label, summed_by
from ..fitting.protocols import WithDiscriminations
from ..kernel.likelihood import rows_of
from .pair_units import JUDGMENT, JudgedCounts, discrimination_units, finite
from .unit_models import IndependentUnits


@dataclass(frozen=True, eq=False)
class NewJudges:
    """K judges as units. The parameters are the worths, then the discriminations, which are NaN for unknown judges.

    Attributes
    ----------
    unit : str
        The column whose levels are the judges.
    labels : tuple
    model : JudgedCounts
    """

    unit: str
    labels: tuple[Label, ...]
    model: JudgedCounts

    @property
    def counts(self) -> FloatArray:
        """The count of every judge: one, shape (K,)."""
        return np.ones(len(self.labels))

    @property
    def sizes(self) -> FloatArray:
        """The number of judgments of each judge, shape (K,)."""
        judged = self.model.judged
        return summed_by(judged.judge, judged.problem.totals, judged.size)

    @property
    def each(self) -> str:
        """The noun for what `sizes` counts."""
        return JUDGMENT

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the estimates from the judges whose count is 1."""
        judged, known, size = self.model.judged, counts > 0, len(self.model.pooled)
        rows = np.flatnonzero(known[judged.judge])
        number = np.cumsum(known) - 1
        some = replace(
            judged, problem=rows_of(judged.problem, rows), judge=number[judged.judge[rows]], size=int(known.sum())
        )
        start = self.model.estimates[np.append(np.ones(size, dtype=np.bool_), known)]
        estimates = finite(replace(self.model, judged=some, estimates=start).estimated(some.problem.counts))
        sigma = np.full(judged.size, np.nan)
        sigma[known] = estimates[size:]
        return np.concatenate([estimates[:size], sigma])

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Raise, because discriminations have no prior."""
        return finite(self.model.shrunk(counts))

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of each judge's judgments, (K,).

        The probability is averaged over the known discriminations.
        """
        judged, size = self.model.judged, len(self.model.pooled)
        counts, known = judged.problem.counts, params[size:][~np.isnan(params[size:])]
        logs = []
        for sigma in known.tolist():
            p = judged.probabilities(params[:size], np.full(judged.size, sigma))
            logs.append(summed_by(judged.judge, special.xlogy(counts, p).sum(axis=1), judged.size))
        return np.asarray(special.logsumexp(logs, axis=0) - np.log(len(known)))


def units_of_discriminations(res: WithDiscriminations, by: str | None) -> IndependentUnits:
    """Return a fit with discriminations as a model of judgments, of levels of a column or of new judges."""
    name = None if by is None else res.comparisons.named(by)
    if name == res.judging.name:
        return NewJudges(name, res.judging.levels, JudgedCounts.of(res))
    return discrimination_units(res, by, "by")
