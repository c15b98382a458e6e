"""Restricted likelihood for scales of normal effects, and degrees of freedom that allow for their uncertainty."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import linalg

from .indexed_rows import FloatArray, IntArray
from .laplace import NormalDensity
from .laplace_fit import NormalLikelihood
from .marginal import Marginal, Rule
from .mixed import (
    FEW_EFFECTS,
    LARGEST,
    MOST_EFFECTS,
    SMALLEST,
    MarginalLikelihood,
    MixedFit,
    MixedLikelihood,
    dimensions_of,
    nothing,
    scaled_inverse,
    unit_scale,
)
from .newton import Step, newton
from .quadrature import Quadrature, Sampling

_STEP = 0.1  # step of log σ for the determinant's derivatives
_ITERATIONS = 20
_CORRECTIONS = 6  # most steps of the parameters at given scales
# squared distance of the parameters to their maximum before the last step, in standard errors: few lines, many
_AT_PROFILE = {False: 1e-4, True: 1e-2}
_ENOUGH = 1e-3  # the same for the scales
_NEAR = 0.25  # the last step of log σ is shorter, because near σ = 0 the slope vanishes even far from the maximum
_LONGEST = 1.0  # longest step of log σ
_HALVINGS = 8
_SHORT = 0.02  # within this distance in log σ, derivatives of log det J and of J are not computed again
_POINTS = {True: 15, False: 5}  # most points in each dimension: few effects, many
_SAMPLED = 512  # most points of a sample
_START = 0.1  # start of a scale that is 0 at the maximum of the likelihood


@dataclass(frozen=True, eq=False)
class Restricted:
    """Estimates with scales at the restricted maximum; p parameters, k of E scales above 0.

    Attributes
    ----------
    params : ndarray, shape (p,)
    scales : ndarray, shape (E,)
    information : ndarray, shape (p, p)
        J, the observed information of the parameters with the scales held.
    slopes : ndarray, shape (k, p)
        Derivatives of the parameters in log σ.
    bends : ndarray, shape (k, p, p)
        Derivatives of J in log σ, as the parameters change with the scales.
    scale_covariance : ndarray, shape (k, k)
        The covariance of log σ, by the curvature of the restricted likelihood.
    rule : Quadrature or Sampling or NormalDensity
        How the effects were integrated out in the search.
    """

    params: FloatArray
    scales: FloatArray
    information: FloatArray
    slopes: FloatArray
    bends: FloatArray
    scale_covariance: FloatArray
    rule: Rule | NormalDensity

    def covariance(self) -> FloatArray:
        """Return the covariance of the parameters and of log σ, (p + E, p + E); NaN for scales that are 0."""
        p = len(self.params)
        places = np.append(np.arange(p), p + np.flatnonzero(self.scales > 0))
        across = self.scale_covariance @ self.slopes
        own = scaled_inverse(self.information) + self.slopes.T @ across
        covariance = np.full((p + len(self.scales),) * 2, np.nan)
        covariance[np.ix_(places, places)] = np.block([[own, across.T], [across, self.scale_covariance]])
        return covariance


@dataclass(frozen=True, eq=False)
class _Point:
    """The parameters β̂ that maximize the likelihood at some log σ (k,), and their information J there.

    `marginal` is the likelihood before the last step.
    """

    logs: FloatArray
    params: FloatArray
    marginal: Marginal

    @property
    def information(self) -> FloatArray:
        p = len(self.params)
        return self.marginal.information[:p, :p]

    @property
    def log_det(self) -> float:
        return float(2 * np.log(np.diag(linalg.cholesky(self.information))).sum())

    def stretch(self, worths: IntArray, shares: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return the slopes of w log s, the log volume of the worths, in each log σ, (k,), from slopes of β̂ (k, p).

        The shares (k, w, w) are those of the judges whose effects have the scales; see `restricted_maximum`.
        """
        worth = self.params[worths]
        pull = self.information[np.ix_(worths, worths)] @ worth
        size = np.trace(shares, axis1=1, axis2=2)
        return np.asarray(size * (slopes[:, worths] @ pull) / (shares @ worth @ pull + np.maximum(1, size)))


@dataclass(frozen=True, eq=False)
class _Place:
    """A point with the slopes of the likelihood's profile in log σ, its curvature, and the slopes of β̂."""

    point: _Point
    gradient: FloatArray
    curvature: FloatArray
    slopes: FloatArray

    @property
    def logs(self) -> FloatArray:
        return self.point.logs


@dataclass(frozen=True, eq=False)
class _Local:
    """The restricted likelihood near a point: slopes (k,), minus second derivatives (k, k), slopes of J (k, p, p).

    `det` and `det_curvature` are the slopes and second derivatives of ½ log det J + w log s alone. `det_curvature` and
    `bends` were computed at the log σ `computed_at`.
    """

    computed_at: FloatArray
    gradient: FloatArray
    det: FloatArray
    det_curvature: FloatArray
    curvature: FloatArray
    bends: FloatArray


def restricted_maximum(
    likelihood: MarginalLikelihood, maximum: MixedFit, start: FloatArray, worths: IntArray, shares: FloatArray
) -> Restricted | None:
    """Return estimates with scales that maximize the restricted likelihood; None if it rises without end.

    Parameters
    ----------
    likelihood : MarginalLikelihood
    maximum : MixedFit
        The maximum of the likelihood.
    start : ndarray, shape (p,)
        The estimates without effects.
    worths : ndarray of int, shape (w,)
        Which of the parameters describe worths.
    shares : ndarray, shape (E, w, w)
        J⁻¹J_e, the share of the worths' information J that the judges with the effects of each scale have; the identity
        if all judges have them.

    Notes
    -----
    Let β̂(σ) be the maximum of ℓ(β, σ) at given scales, and J its observed information. ℓ(β̂(σ), σ) − ½ log det J
    allows for the parameters that are estimated with the scales (Cox & Reid 1987); in linear models it is the
    restricted likelihood. This holds for parameters that do not move with the scales. Worths do move: they stretch by a
    factor s(σ) as σ grows, and this shrinks J whatever σ is. So w log s is subtracted for w worths (Barndorff-Nielsen
    1983). The slope of log s is the slope of the worths along themselves, βᵀJβ′/(βᵀJβ + w); w in the denominator keeps
    it finite if no worths differ. If only some judges have the effects, the worths stretch by s^M for their share M: w
    is tr M, and βᵀJβ is βᵀJMβ. Two tables with no common parameter then have the estimates of each table. In 100
    simulated tables of 30 judges with 5 judgments each and σ = 1.2, the mean estimate of σ is 1.31; without log s it is
    1.43, by maximum likelihood 1.24. The medians are 1.19, 1.31 and 1.13. The sum is maximized by Newton's method in
    log σ, with derivatives of log det J by differences. The search uses fewer points than the maximum of the
    likelihood. Slopes, parameters and J are corrected for the distance between the maxima with few and with all points.

    References
    ----------
    Barndorff-Nielsen, O. (1983). On a formula for the distribution of the maximum likelihood estimator. Biometrika
    70(2), 343-365.

    Cox, D. R. & Reid, N. (1987). Parameter orthogonality and approximate conditional inference. Journal of the Royal
    Statistical Society B 49(1), 1-39.
    """
    every, above = tuple(range(len(maximum.scales))), tuple(np.flatnonzero(maximum.scales > 0).tolist())
    logs = np.log(np.where(maximum.scales > 0, maximum.scales, _START))
    # scales that are 0 at the maximum of the likelihood may rise; if the search fails with them, they stay 0
    for active in dict.fromkeys([every, above] if above else [every]):
        try:
            search, place = _Search.of(likelihood, maximum, start, worths, shares)
            if place is None or len(place.logs) < len(active):
                place = search.at(active, logs[list(active)], None)
            estimates = search.climbed(active, place)
        except linalg.LinAlgError:  # J was not positive definite on the way
            continue
        if estimates is not None:
            return estimates
    return None


@dataclass(frozen=True, eq=False)
class _Search:
    """The search: the likelihood with few integration points, and corrections to the maximum with all points.

    `shift` (E,) is added to the slopes of log σ, `moved` (p,) to the parameters and `bent` (p, p) to J. The search
    starts at `start` (p,); `plain` (p,) are the estimates without effects. If `again`, the likelihood of a place is
    computed once more after the last step of the parameters. There are two reasons: for a `NormalDensity`, the rows of
    log σ cost the most and are left out until then; and if a scale starts at 0, its small slopes have to be accurate.
    """

    likelihood: MarginalLikelihood
    rule: Rule | NormalDensity
    plain: FloatArray
    start: FloatArray
    worths: IntArray
    shares: FloatArray
    shift: FloatArray
    moved: FloatArray
    bent: FloatArray
    again: bool

    @classmethod
    def of(
        cls, likelihood: MarginalLikelihood, maximum: MixedFit, start: FloatArray, worths: IntArray, shares: FloatArray
    ) -> tuple[_Search, _Place | None]:
        """Return the search, and the point of the maximum if a scale is above 0."""
        p, size = len(start), len(maximum.scales)
        above = tuple(np.flatnonzero(maximum.scales > 0).tolist())
        zeros = np.zeros(size), np.zeros(p), np.zeros((p, p))
        rule = _rule(likelihood, maximum)
        again = isinstance(rule, NormalDensity) or len(above) < size
        alone = cls(likelihood, rule, start, maximum.params, worths, shares, *zeros, again)
        if not above:
            return alone, None
        logs = np.log(maximum.scales[list(above)])
        place = alone.at(above, logs, None)
        shift = np.zeros(size)
        shift[list(above)] = -place.gradient
        places = np.append(np.arange(p), p + np.array(above))
        known = scaled_inverse(maximum.covariance[np.ix_(places, places)])[:p, :p]
        moved, bent = maximum.params - place.point.params, known - place.point.information
        return replace(alone, shift=shift, moved=moved, bent=bent), place

    def at(self, active: tuple[int, ...], logs: FloatArray, near: _Place | None) -> _Place:
        """Return the profile at some scales, from a place nearby."""
        start = self.start if near is None else near.point.params + (logs - near.logs) @ near.slopes
        point = self.point(active, logs, start, nothing() if near is None else near.point.marginal)
        if self.again:
            marginal = self.likelihood(np.append(point.params, logs), active, self.rule, point.marginal)
            step = _AtScales(self, active, logs).step(_Corrected(point.params, marginal))
            point = _Point(logs, point.params + step.values, marginal)
        p, marginal = len(self.start), point.marginal
        own, across = marginal.information[:p, :p], marginal.information[p:, :p]
        slopes = -linalg.cho_solve(linalg.cho_factor(own), across.T).T
        gradient = marginal.score[p:] + slopes @ marginal.score[:p]
        return _Place(point, gradient, marginal.information[p:, p:] + slopes @ across.T, slopes)

    def point(self, active: tuple[int, ...], logs: FloatArray, start: FloatArray, near: Marginal) -> _Point:
        """Return the maximum over the parameters at some scales, from a start."""
        ascent = _AtScales(self, active, logs)
        search = newton(
            ascent,
            _Corrected(start, ascent.marginal_at(start, near)),
            enough=0.0,
            rest=_AT_PROFILE[self.likelihood.many],
            exact=0.0,
            most=_CORRECTIONS - 1,
            accepts=lambda before, after, step, share: True,
        )
        params = search.point.params
        return _Point(logs, params + ascent.step(search.point).values, search.point.marginal)

    def climbed(self, active: tuple[int, ...], place: _Place) -> Restricted | None:
        """Return the maximum over the scales that are above 0."""
        while True:
            search = newton(
                _OverScales(self, active),
                _Here(self, active, place),
                enough=0.0,
                rest=_ENOUGH,
                exact=0.0,
                short=_NEAR,
                most=_ITERATIONS,
                halvings=_HALVINGS,
                accepts=_flattens,
                ends=_leaves,
            )
            here = search.point
            if search.failure is not None:
                raise search.failure
            if search.n_iter and here.is_extreme:
                return None
            low = here.vanishing
            if low.any():
                active = tuple(np.array(active)[~low].tolist())
                if not active:
                    return self.without()
                place = self.at(active, here.logs[~low], None)
                continue
            if search.converged and search.step is not None:
                return self.settled(active, here.place, search.step.values, here.local)
            return None

    def local(self, active: tuple[int, ...], place: _Place) -> _Local:
        """Return how the restricted likelihood and J change from a place.

        The slopes of β̂ next to the point follow from β̂ itself, by second differences.
        """
        here, size = place.point, len(active)
        steps = np.eye(size) * _STEP

        def beside(step: FloatArray, start: FloatArray) -> _Point:
            return self.point(active, here.logs + step, start, here.marginal)

        moves = steps @ place.slopes
        ahead = [beside(step, here.params + move) for step, move in zip(steps, moves, strict=True)]
        behind = [beside(-step, one.params - 2 * move) for step, move, one in zip(steps, moves, ahead, strict=True)]
        sides = list(zip(ahead, behind, strict=True))
        bends = np.stack([(one.information - other.information) / (2 * _STEP) for one, other in sides])
        first = np.array([(one.log_det - other.log_det) / (2 * _STEP) for one, other in sides])
        curved = np.diag([one.log_det - 2 * here.log_det + other.log_det for one, other in sides])
        moved = np.zeros((size, size, len(here.params)))  # second differences of β̂
        for k, (one, other) in enumerate(sides):
            moved[k, k] = one.params - 2 * here.params + other.params
        for k, m in itertools.combinations(range(size), 2):
            both = beside(steps[k] + steps[m], ahead[k].params + ahead[m].params - here.params)
            curved[k, m] = curved[m, k] = both.log_det - ahead[k].log_det - ahead[m].log_det + here.log_det
            moved[k, m] = moved[m, k] = both.params - ahead[k].params - ahead[m].params + here.params
        shares = self.shares[list(active)]
        stretched = np.stack([
            one.stretch(self.worths, shares, place.slopes + moved[k] / _STEP)
            - other.stretch(self.worths, shares, place.slopes - moved[k] / _STEP)
            for k, (one, other) in enumerate(sides)
        ])  # fmt: skip
        det = first / 2 + here.stretch(self.worths, shares, place.slopes)
        det_curvature = curved / (2 * _STEP**2) + (stretched + stretched.T) / (4 * _STEP)
        gradient = place.gradient + self.shift[list(active)] - det
        return _Local(here.logs, gradient, det, det_curvature, place.curvature + det_curvature, bends)

    def local_beside(self, active: tuple[int, ...], place: _Place, known: _Local, moved: FloatArray) -> _Local:
        """Return how the restricted likelihood changes from a place, after a short move (k,) from a known one."""
        det = known.det + known.det_curvature @ moved
        gradient = place.gradient + self.shift[list(active)] - det
        return replace(known, gradient=gradient, det=det, curvature=place.curvature + known.det_curvature)

    def settled(self, active: tuple[int, ...], place: _Place, step: FloatArray, local: _Local) -> Restricted:
        """Return the estimates after one more step; it is so short that derivatives are not computed again."""
        values, vectors = np.linalg.eigh(local.curvature)
        scales = np.zeros(len(self.shift))
        scales[list(active)] = np.exp(place.logs + step)
        information = place.point.information + np.einsum("k,kpq->pq", step, local.bends)
        corrected = information + self.bent
        unit = unit_scale(information)
        if np.linalg.eigvalsh(unit[:, None] * corrected * unit).min(initial=np.inf) <= 0:
            corrected = information
        return Restricted(
            place.point.params + step @ place.slopes + self.moved,
            scales,
            corrected,
            place.slopes,
            local.bends,
            (vectors / np.maximum(np.abs(values), 1e-12)) @ vectors.T,
            self.rule,
        )

    def without(self) -> Restricted:
        """Return the result with all scales 0, where the parameters are the estimates without effects."""
        p = len(self.start)
        empty = np.zeros((0, p))
        return Restricted(
            self.plain, np.zeros(len(self.shift)), np.eye(p), empty, np.zeros((0, p, p)), np.zeros((0, 0)), self.rule
        )


@dataclass(frozen=True, eq=False)
class _Corrected:
    """Parameters at given scales, and the likelihood there."""

    params: FloatArray
    marginal: Marginal

    @property
    def value(self) -> float:
        """The log-likelihood."""
        return self.marginal.value


@dataclass(frozen=True, eq=False)
class _AtScales:
    """The likelihood of the parameters at given scales."""

    search: _Search
    active: tuple[int, ...]
    logs: FloatArray

    def marginal_at(self, params: FloatArray, near: Marginal) -> Marginal:
        """Return the likelihood at some parameters."""
        rule = self.search.rule
        rule = replace(rule, scales=False) if isinstance(rule, NormalDensity) else rule
        return self.search.likelihood(np.append(params, self.logs), self.active, rule, near)

    def step(self, point: _Corrected) -> Step:
        """Return Newton's step."""
        p = len(point.params)
        score = point.marginal.score[:p]
        # cho_solve does not warn of a flat likelihood, as solve does; the search ends there without a result
        values = linalg.cho_solve(linalg.cho_factor(point.marginal.information[:p, :p]), score)
        return Step(values, float(score @ values))

    def moved(self, point: _Corrected, step: FloatArray) -> _Corrected:
        """Return the parameters that a step leads to."""
        params = point.params + step
        return _Corrected(params, self.marginal_at(params, point.marginal))


@dataclass(frozen=True, eq=False)
class _Here:
    """A point with the restricted likelihood around it, which is missing if J is not positive definite."""

    search: _Search
    active: tuple[int, ...]
    known: _Place | None
    before: _Here | None = None

    @property
    def place(self) -> _Place:
        """The point, if there is one."""
        assert self.known is not None
        return self.known

    @property
    def logs(self) -> FloatArray:
        """Logarithms of the scales, shape (k,)."""
        return self.place.logs

    @property
    def value(self) -> float:
        """The log-likelihood. It is not maximized: the slopes tell which point is nearer to the maximum."""
        return self.place.point.marginal.value

    @cached_property
    def local(self) -> _Local:
        """How the restricted likelihood and J change around the point."""
        if self.before is not None:
            known = self.before.local
            if np.abs(self.logs - known.computed_at).max() <= _SHORT:
                return self.search.local_beside(self.active, self.place, known, self.logs - self.before.logs)
        return self.search.local(self.active, self.place)

    @property
    def is_extreme(self) -> bool:
        """Whether a scale is so large that the likelihood is assumed to rise without end."""
        return bool((self.logs >= np.log(LARGEST)).any())

    @property
    def vanishing(self) -> npt.NDArray[np.bool_]:
        """Which scales are so small, and still falling, that they are held at 0 from here on."""
        return np.asarray((self.logs < np.log(SMALLEST)) & (self.local.gradient <= 0))


@dataclass(frozen=True, eq=False)
class _OverScales:
    """The restricted likelihood of some scales."""

    search: _Search
    active: tuple[int, ...]

    def step(self, here: _Here) -> Step:
        """Return Newton's step, within bounds."""
        values, decrement = _newton(here.local)
        return Step(values, decrement, float(np.abs(values).max()))

    def moved(self, here: _Here, step: FloatArray) -> _Here:
        """Return where a step leads."""
        logs = np.minimum(here.logs + step, np.log(LARGEST))
        try:
            return _Here(self.search, self.active, self.search.at(self.active, logs, here.place), here)
        except linalg.LinAlgError:  # J is not positive definite at this point
            return _Here(self.search, self.active, None)


def _leaves(here: _Here, step: Step, n_iter: int) -> bool:
    """Whether scales are too large, or some should be dropped before the search goes on."""
    return bool((n_iter and here.is_extreme) or here.vanishing.any())


def _flattens(before: _Here, after: _Here, step: Step, share: float) -> bool:
    """Whether the likelihood still rises at the end of a step, or its slope is less steep there, or all scales fall.

    The slope of log det J at the end is predicted.
    """
    if after.known is None:
        return False
    local, taken = before.local, share * step.values
    left = after.place.gradient + before.search.shift[list(before.active)] - local.det - local.det_curvature @ taken
    return bool(np.all(taken <= 0) or left @ taken > -abs(local.gradient @ taken))


def _rule(likelihood: MarginalLikelihood, maximum: MixedFit) -> Rule | NormalDensity:
    """Return the points of the search: those of the maximum, or fewer if it has many."""
    if isinstance(likelihood, NormalLikelihood):
        return NormalDensity(exact=False, method=likelihood.method)
    assert isinstance(likelihood, MixedLikelihood)
    rule, size = maximum.rule, dimensions_of(likelihood.bundles, tuple(range(len(maximum.scales))))
    if isinstance(rule, Quadrature) or (rule is None and size <= MOST_EFFECTS):
        most = _POINTS[size <= FEW_EFFECTS]
        return Quadrature(most if rule is None else min(rule.number, most))
    return (
        replace(rule, number=min(rule.number, _SAMPLED))
        if isinstance(rule, Sampling)
        else Sampling(_SAMPLED, np.inf, 0)
    )


def _newton(local: _Local) -> tuple[FloatArray, float]:
    """Return Newton's step within bounds, and its decrement; the step leads up even without concavity."""
    values, vectors = np.linalg.eigh(local.curvature)
    # near 0 the likelihood is linear in σ², so that slope and curvature alone would give steps of ½
    values = np.maximum(np.where(values > 0, values, -values / 2), 1e-8 * max(1.0, np.abs(values).max()))
    turned = vectors.T @ local.gradient
    step = vectors @ (turned / values)
    longest = max(1.0, float(np.abs(step).max()) / _LONGEST)
    return step / longest, float(turned**2 @ (1 / values))
