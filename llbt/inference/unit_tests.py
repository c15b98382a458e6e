"""Tests of the levels of a column against the rest, for any kind of fit: score tests of separate estimates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..base.table import Field, Table, format_count
from ..core.columns import FloatArray
from ..core.statistics import adjust_p, chi2_p_value, ratio
from ..errors import DesignError
from ..fitting.fitted import WithWorths, average_of
from .kinds import unit_model
from .unit_models import UnitModel

_PRINTED = 20
_STEP = 1e-4  # step of a parameter for differences of log-probabilities
_MOST = 40  # parameters at most, because all pairs of them are moved
_LEAST = 10  # fewest independent parts of a level
# fewest judges with effects: with 12 a test at 5 % rejects 10 % of levels like the rest, with 20 it rejects 5 %
_LEAST_JUDGES = 20
_KNOWN = 1e-7  # directions below this share of the largest eigenvalue are not identified


def unit_tests(res: WithWorths, by: str) -> Table:
    """Return the score tests of the levels of a column; see `level_tests`."""
    model = unit_model(res, by, "by")
    if len(model.counts) < 2:
        raise DesignError(f"by={by!r} has one level", "There is no other level to compare it with.")
    if len(model.names) > _MOST:
        raise DesignError(
            f"the model has {format_count(len(model.names))} parameters for each level to test",
            "Use a fit with fewer parameters.",
            expected=f"at most {_MOST}",
        )
    scores = UnitScores(model, len(average_of(res).free))
    tests = [scores.test(g) for g in range(len(model.counts))]
    statistic, df = (np.array([t[k] for t in tests], dtype=np.float64) for k in (0, 1))
    least = _LEAST if model.part == model.each else _LEAST_JUDGES
    enough = model.parts >= least
    p = np.array(
        [chi2_p_value(x, int(d)) if d and ok else np.nan for x, d, ok in zip(statistic, df, enough, strict=True)]
    )
    reason = [model.names[t[2]] if t[1] else "" for t in tests]
    score = np.array([t[3] for t in tests], dtype=np.float64)
    order = np.argsort(np.where(np.isnan(p), np.inf, p), kind="stable")
    titles = model.titles()
    return Table(
        (
            Field(by, by, [titles[g] for g in order]),
            Field(f"{model.each}s", f"{model.each}s", model.sizes[order], "count"),
            Field("statistic", "Chisq", statistic[order], "statistic"),
            Field("df", "Df", df[order], "count"),
            Field("reason", "reason", [reason[g] for g in order]),
            Field("score", "its score", score[order], "statistic"),
            Field("p_value", "p", p[order], "p_value"),
            Field("p_adjusted", "p (Holm)", adjust_p(p, "holm")[order], "p_value"),
        ),
        title=f"Each {by} against the rest: score tests of separate estimates",
        notes=(
            "reason: the estimate that differs most; score above 0: larger than in the rest",
            f"Holm's method: {int((~np.isnan(p)).sum())} levels",
            *((f"NA: fewer than {least} {model.part}s, too few for χ²",) * bool((~enough).any())),
        ),
    ).first(_PRINTED)


@dataclass(frozen=True, eq=False)
class UnitScores:
    """The scores and observed information of each of U units, by differences of log-probabilities.

    The first `own` estimates are those that a level may have separately.
    """

    model: UnitModel
    own: int

    @cached_property
    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """Return the scores (U, p) and information (U, p, p) of the units at the estimates."""
        model, at = self.model, self.model.estimates
        p, size = len(at), len(model.counts)
        middle = model.log_scores(at)
        steps = _STEP * np.eye(p) * np.maximum(1.0, np.abs(at))
        up, down = np.empty((size, p)), np.empty((size, p))
        for k in range(p):
            up[:, k], down[:, k] = model.log_scores(at + steps[k]), model.log_scores(at - steps[k])
        h = np.diag(steps)
        score = (up - down) / (2 * h)
        information = np.empty((size, p, p))
        pairs = [(k, m) for k in range(p) for m in range(k + 1)]
        for k, m in pairs:
            if k == m:
                information[:, k, k] = -(up[:, k] - 2 * middle + down[:, k]) / h[k] ** 2
                continue
            both = model.log_scores(at + steps[k] + steps[m]) + model.log_scores(at - steps[k] - steps[m])
            bent = (both - up[:, k] - down[:, k] - up[:, m] - down[:, m] + 2 * middle) / (2 * h[k] * h[m])
            information[:, k, m] = information[:, m, k] = -bent
        return score, information

    @cached_property
    def _whole(self) -> FloatArray:
        """The information of all units, (p, p)."""
        return np.asarray(np.tensordot(self.model.counts, self.derivatives[1], 1))

    def test(self, g: int) -> tuple[float, int, int, float]:
        """Return Rao's statistic of a unit's separate estimates, its df, and the most extreme estimate with its score.

        The estimates come from all units, so the score s of one unit has the variance i − i I⁻¹ i.
        """
        own = slice(0, self.own)
        score, information = self.derivatives[0][g, own], self.derivatives[1][g, own]
        inverse = np.linalg.pinv(self._whole, rcond=1e-10, hermitian=True)
        left = information[:, own] - information @ inverse @ information.T
        values, vectors = np.linalg.eigh((left + left.T) / 2)
        informed = values > _KNOWN * max(float(np.abs(self._whole).max()), 1e-300)
        if not informed.any():
            return np.nan, 0, 0, np.nan
        along = vectors[:, informed].T @ score
        statistic = float(np.sum(along**2 / values[informed]))
        each = ratio(score, np.sqrt(np.clip(np.diag(left), 0.0, None)))
        # an estimate on which the unit has no information has no score
        most = int(np.argmax(np.nan_to_num(np.abs(each))))
        return statistic, int(informed.sum()), most, float(each[most])
