"""Predicted effects of objects beyond their covariates, ``(1 | object)``, and the errors of these predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.table import Qualifying
from ..core.columns import FloatArray, IntArray
from ..formulas.brackets import Bracket
from ..kernel.crossed import Crossed
from ..kernel.laplace import effects_of_scale
from ..kernel.likelihood import Problem
from ..kernel.mixed import MixedFit

_PREDICTED = (
    Qualifying(
        "Worths are predictions from covariates and effects of objects. Their intervals are right on average over "
        "objects, not for each object."
    ),
)
_NONE = (
    Qualifying(
        "Objects do not differ beyond the covariates (σ = 0), so worths are those of the covariates alone. Their "
        "intervals do not allow for a larger σ."
    ),
)


@dataclass(frozen=True, eq=False)
class ObjectEffects:
    """Predicted effects u of J objects on log-worths, with f estimated parameters. E scales are above 0.

    Attributes
    ----------
    effect : ndarray, shape (J,)
        The most probable effects û given the judgments and the estimates; 0 if σ is 0.
    covariance : ndarray, shape (f + J + E, f + J + E)
        The covariance of the errors of the parameters, of û − u, and of the scales' log σ.
    first : int
        The place in `covariance` where the effects begin, f.
    scales : ndarray of int, shape (E,)
        The brackets whose scale is above 0.
    sigma : float
        Standard deviation of the effects.

    Notes
    -----
    If the parameters are known, û − u has the covariance σ²H⁻¹ from the curvature at the mode. The mode also depends on
    the estimates. With T the derivatives of the mode and S the covariance of the estimates and log σ, the covariance of
    û − u is σ²H⁻¹ + T S Tᵀ (Kass & Steffey 1989). With weights held and σ known, these are the prediction errors of
    Henderson's equations.

    References
    ----------
    Henderson, C. R. (1975). Best linear unbiased estimation and prediction under a selection model. Biometrics 31(2),
    423-447.

    Kass, R. E. & Steffey, D. (1989). Approximate Bayesian inference in conditionally independent hierarchical models.
    Journal of the American Statistical Association 84(407), 717-726.
    """

    effect: FloatArray
    covariance: FloatArray
    first: int
    scales: IntArray
    sigma: float

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on worths that include these effects."""
        return _PREDICTED if self.sigma > 0 else _NONE

    def rows(self, free: FloatArray, objects: FloatArray) -> FloatArray:
        """Return combinations of parameters (R, f) and of effects (R, J) in the order of `covariance`."""
        return np.concatenate([free, objects, np.zeros((len(free), len(self.scales)))], axis=1)

    def log_scales(self, brackets: IntArray) -> FloatArray:
        """Return log σ of some brackets as combinations in the order of `covariance`, (m, f + J + E)."""
        place = self.first + len(self.effect) + np.searchsorted(self.scales, brackets)
        return np.asarray(np.eye(len(self.covariance))[place])

    def variance(self, free: FloatArray, objects: FloatArray) -> FloatArray:
        """Return the covariance of combinations of parameters and effects, (R, R)."""
        rows = self.rows(free, objects)
        return np.asarray(rows @ self.covariance @ rows.T)

    def extended(self, number: int) -> ObjectEffects:
        """Return the effects followed by the effects of new objects, which are predicted as 0 with the variance σ²."""
        end = self.first + len(self.effect)
        known = np.r_[0:end, end + number : len(self.covariance) + number]
        covariance = np.zeros((len(self.covariance) + number,) * 2)
        covariance[np.ix_(known, known)] = self.covariance
        covariance[range(end, end + number), range(end, end + number)] = self.sigma**2
        return replace(self, effect=np.append(self.effect, np.zeros(number)), covariance=covariance)


def object_effects(
    table: Problem,
    lines: Crossed | None,
    brackets: Sequence[Bracket],
    maximum: MixedFit,
    objects: int,
    plain: FloatArray,
) -> ObjectEffects | None:
    """Return the predicted effects of ``(1 | object)``; None if the formula lacks this bracket.

    Parameters
    ----------
    table : Problem
    lines : Crossed or None
    brackets : sequence of E Bracket
    maximum : MixedFit
    objects : int
        The number of objects J.
    plain : ndarray, shape (f, f)
        The covariance of the parameters if every scale is 0.
    """
    which = next((e for e, bracket in enumerate(brackets) if bracket.effect == "1"), None)
    if which is None:
        return None
    active: IntArray = np.flatnonzero(maximum.scales > 0)
    size = len(maximum.params)
    known = np.append(np.arange(size), size + active)
    estimates = maximum.covariance[np.ix_(known, known)] if len(active) else plain
    effect, given, moves = np.zeros(objects), np.zeros((objects, objects)), np.zeros((objects, len(known)))
    if maximum.scales[which] > 0:
        assert lines is not None  # true where effects of objects are kept
        place = lines.levels[which][1]
        effect[place], given[np.ix_(place, place)], moved = effects_of_scale(
            table, lines, maximum.params, maximum.scales, which
        )
        moves[place] = moved[:, known]
    every = np.eye(len(known))
    spread = np.concatenate([every[:size], moves, every[size:]])
    covariance = spread @ estimates @ spread.T
    covariance[size : size + objects, size : size + objects] += given
    return ObjectEffects(effect, covariance, size, active, float(maximum.scales[which]))
