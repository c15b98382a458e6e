"""Expectation propagation of a marginal likelihood, with its gradient; groupings may be crossed.

Notation as in `crossed` and `laplace`: w are the standard normal effects of all levels, u = η + A w the predictor of
the L lines that they enter. The likelihood of a line, as a function of u, is replaced by a site exp(b u − t u²/2). T =
diag(t), and H = I + AᵀTA. The cavity of a line is the normal density N(c, s) of u given all other sites. The cavity
times the line's likelihood is the tilted density.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from ..core.links import AnyResponse
from ..errors import ConvergenceWarning, warn_user
from .crossed import Crossed
from .group_modes import contributions
from .indexed_rows import FloatArray
from .laplace import Approximation, Effects, LineSums, Sites, Solved, block_inverse, diagonal, products_by_scale
from .likelihood import Problem, row_sums

_POINTS = {4.0: 24, 9.0: 48, np.inf: 96}  # points of a tilted density, by the largest prior variance of a predictor
# share of the way to the new sites: False if they are near and coming nearer, else True
_SHARES = {False: 1.0, True: 0.5}
_FAR = 0.1  # sites are far at this distance, in standard deviations
_SLOW = 0.6  # distances that keep more than this share hardly shrink: undamped sites then swing to and fro
_SWEEPS = 200
# final distance of posterior and tilted means, in standard deviations; of variances, as a share: few lines, many
_ENOUGH = {False: 1e-8, True: 1e-6}
_LEAST = 1e-10  # least precision of a site
_FIXED = 1e-8  # variance of a predictor that no effect enters, such as one with slopes of a covariate that is 0
_SMALLEST = 1e-300  # least probability before its logarithm is taken


@dataclass(frozen=True, eq=False)
class _Gaussian:
    """The normal density of w given prior and sites, and the distribution of each line's u under it."""

    effects: Effects
    solved: Solved
    mean: FloatArray
    variance: FloatArray
    log_integral: float


def propagated(
    problem: Problem, crossed: Crossed, params: FloatArray, scales: FloatArray, sites: Sites | None = None
) -> Approximation:
    """Return the marginal likelihood by expectation propagation, and its gradient.

    Parameters
    ----------
    problem : Problem
        Comparisons of any counts: the counts are those of the lines.
    crossed : Crossed
        All effects enter the first predictor.
    params : ndarray, shape (p,)
    scales : ndarray, shape (E,)
        One of them is above 0.
    sites : (ndarray, ndarray), each (L,), optional
        The first guess of the sites: those at other parameters. None: those of Laplace's approximation.

    Warns
    -----
    ConvergenceWarning
        If the sites still change after 200 sweeps.

    Notes
    -----
    All sites are updated together: fully, or half of the way if they are far from the solution or converge slowly. New
    sites give u the posterior mean and variance of the tilted density. Updates end when both agree. Moments of the
    tilted density are computed by Gauss-Hermite quadrature with 24 to 96 points, placed by its latest mean and
    variance. Let Z_i be the integral of a tilted density, and N_i the integral of its cavity times its site. Then log Z
    is log Z of the normal density plus Σ log Z_i/N_i. At the end sites are stationary, so slopes are those with the
    sites held: |E w_e|² + tr(H⁻¹)_e − d_e for log σ_e, and the tilted means of the scores for the predictors.

    References
    ----------
    Minka, T. P. (2001). Expectation propagation for approximate Bayesian inference. Proceedings of the 17th Conference
    on Uncertainty in Artificial Intelligence, 362-369.
    """
    work = LineSums.of(problem, crossed, params, scales)
    eta = work.eta[:, crossed.rows]
    precision, pull = _first_sites(work) if sites is None else sites
    largest = float((work.loading**2).sum(axis=0).max())
    enough = _ENOUGH[crossed.many]
    points = _rule(next(number for most, number in _POINTS.items() if largest <= most))
    normal, before = _gaussian(work, eta[0], precision, pull), np.inf
    mean, variance = normal.mean, normal.variance
    for _ in range(_SWEEPS):
        left = 1 - precision * normal.variance
        spread, centre = normal.variance / left, (normal.mean - normal.variance * pull) / left
        tilted = _tilted(problem.response, eta, crossed.counts, centre, spread, mean, variance, points)
        mean, variance = tilted.mean, tilted.variance
        apart = np.abs(mean - normal.mean) / np.sqrt(normal.variance)
        far = max(float(apart.max()), float(np.abs(variance / normal.variance - 1).max()))
        if far < enough:
            break
        share = _SHARES[far > _FAR or far > _SLOW * before]
        before = far
        sharper = np.maximum(1 / variance - 1 / spread, _LEAST)  # likelihoods are log-concave, except for rounding
        precision = precision + share * (sharper - precision)
        pull = pull + share * (mean / variance - centre / spread - pull)
        normal = _gaussian(work, eta[0], precision, pull)
    else:
        warn_user(
            f"expectation propagation did not converge in {_SWEEPS} sweeps at some values of σ. Results that depend on "
            "these values may be inaccurate. Compare them with llbt.fit(…, approximation='laplace').",
            ConvergenceWarning,
        )
    widened = 1 + precision * spread
    site = (2 * centre * pull + spread * pull**2 - precision * centre**2) / widened
    value = normal.log_integral + float((tilted.log_integral + (np.log(widened) - site) / 2).sum())
    score, weight = tilted.slopes(problem.response, eta, crossed.counts, spread)
    by_block = [score[:, block.lines] for block in crossed.blocks]
    known = diagonal(crossed, normal.solved)
    slopes = products_by_scale(crossed, normal.effects, normal.effects)
    for which, one in zip(crossed.scales, known, strict=True):
        slopes = slopes + np.bincount(which, one - 1, len(scales))
    gradient = np.concatenate([row_sums(problem, work.scattered(by_block)), slopes])
    weights = tuple(weight[:, :, block.lines] for block in crossed.blocks)
    return Approximation(value, gradient, normal.effects, normal.solved, weights, (precision, pull))


def factor_slopes(
    problem: Problem, crossed: Crossed, params: FloatArray, scales: FloatArray, which: int, at: Approximation
) -> FloatArray:
    """Return the slopes of the log-likelihood in the loading of one scale's effect on each line, (L,).

    Parameters
    ----------
    problem : Problem
    crossed : Crossed
        Exactly one effect of this scale enters each line.
    params : ndarray, shape (p,)
    scales : ndarray, shape (E,)
    which : int
        The number of the scale.
    at : Approximation
        The solution of expectation propagation at these parameters.

    Notes
    -----
    The likelihood is stationary in the sites there, so its slopes are the slopes with fixed sites: σ E[(b − t u) w],
    where w is the effect.
    """
    work = LineSums.of(problem, crossed, params, scales)
    precision, pull = at.sites
    mine = int(np.flatnonzero(crossed.scale == which)[0])
    slopes = np.empty(len(crossed.rows))
    for k, block in enumerate(crossed.blocks):
        lines, own = block.lines, block.place[mine]
        inverse = block_inverse(block, at.solved, k)
        mean, u = at.mode.local(block)[block.group, own], work.predictors(block, at.mode)[0]
        shared = np.zeros(len(lines))  # the covariance of u and w
        for place, _, loading in work.places(block):
            shared += loading * inverse[block.group, place, own]
        slopes[lines] = pull[lines] * mean - precision[lines] * (u * mean + shared)
    return np.asarray(scales[which] * slopes)


def extended(sites: Sites, lines: int) -> Sites:
    """Return sites to start from with `lines` more lines, whose sites have no information yet."""
    precision, pull = sites
    return np.append(precision, np.full(lines, _LEAST)), np.append(pull, np.zeros(lines))


def _first_sites(work: LineSums) -> Sites:
    """Return the sites of Laplace's approximation, from each line's first and second derivatives at the mode."""
    mode, lines = work.mode(None)
    precision, pull = np.empty((2, len(work.crossed.rows)))
    for block, (_, score, weight) in zip(work.crossed.blocks, lines, strict=True):
        precision[block.lines] = np.maximum(weight[0, 0], _LEAST)
        pull[block.lines] = score[0] + precision[block.lines] * work.predictors(block, mode)[0]
    return precision, pull


def _gaussian(work: LineSums, eta: FloatArray, precision: FloatArray, pull: FloatArray) -> _Gaussian:
    """Return the normal density given prior and sites."""
    blocks = work.crossed.blocks
    pulled = (pull - precision * eta)[None]
    solved = work.solved([precision[None, None, block.lines] for block in blocks])
    right = work.gathered([pulled[:, block.lines] for block in blocks])
    effects = work.solve(solved, right)
    mean, variance = eta.copy(), np.empty_like(eta)
    for k, block in enumerate(blocks):
        mean[block.lines] += work.loaded(block, effects)[0]
        known = work.variance(block, block_inverse(block, solved, k))[0, 0]
        variance[block.lines] = np.maximum(known, _FIXED)
    log = float((pull * eta - precision * eta**2 / 2).sum()) - solved.log_determinant / 2
    log += float(right.own @ effects.own + right.shared @ effects.shared) / 2
    return _Gaussian(effects, solved, mean, variance, log)


@dataclass(frozen=True, eq=False)
class _Tilted:
    """The tilted densities of all lines.

    Attributes
    ----------
    mean, variance, log_integral : ndarray, shape (L,)
    at, share : ndarray, shape (L, N)
        Points and their probabilities.
    """

    mean: FloatArray
    variance: FloatArray
    log_integral: FloatArray
    at: FloatArray
    share: FloatArray

    def slopes(
        self, response: AnyResponse, eta: FloatArray, counts: FloatArray, spread: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slopes of log Z_i in the predictors (B, L), and the weights of a site in all predictors (B, B, L).

        Let G be minus the second derivatives of log Z_i, and g its column for u. The weights are G + g gᵀ s/(1 − s
        G_uu); the weight of u is the site's t.
        """
        _, scores, weights = contributions(response, _predictors(eta, self.at), counts[:, :, None])
        score = np.einsum("bln,ln->bl", scores, self.share)
        apart = scores - score[..., None]
        bent = np.einsum("bcln,ln->bcl", weights, self.share)
        bent -= np.einsum("bln,cln,ln->bcl", apart, apart, self.share, optimize=True)
        column = bent[0]
        return score, bent + column[:, None] * column[None] * (spread / (1 - spread * column[0]))


def _predictors(eta: FloatArray, at: FloatArray) -> FloatArray:
    """Return the predictors at points of the first one, (B, L, N)."""
    return np.concatenate([at[None], np.broadcast_to(eta[1:, :, None], (len(eta) - 1, *at.shape))])


@cache
def _rule(number: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Hermite points of a standard normal density, and log weights relative to the density."""
    points, weights = np.polynomial.hermite_e.hermegauss(number)
    return points, np.log(weights / np.sqrt(2 * np.pi)) + points**2 / 2


def _tilted(
    response: AnyResponse,
    eta: FloatArray,
    counts: FloatArray,
    centre: FloatArray,
    spread: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    points: tuple[FloatArray, FloatArray],
) -> _Tilted:
    """Return the tilted densities: cavities with these means and variances (L,) times the lines' likelihoods.

    The points are placed by the latest moments of the tilted density. Points placed at the mode would fail if a
    likelihood cuts off a wide cavity.
    """
    width = np.sqrt(variance)
    at = mean[:, None] + width[:, None] * points[0]
    p, _ = response.probabilities(_predictors(eta, at))
    value = special.xlogy(counts[:, :, None], np.maximum(p, _SMALLEST)).sum(axis=0)
    log = value - (at - centre[:, None]) ** 2 / (2 * spread[:, None]) + points[1]
    top = log.max(axis=1, keepdims=True)
    share = np.exp(log - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    mean = (share * at).sum(axis=1)
    variance = (share * (at - mean[:, None]) ** 2).sum(axis=1)
    integral = (top + np.log(total))[:, 0] + np.log(width) - np.log(spread) / 2
    return _Tilted(mean, variance, integral, at, share)
