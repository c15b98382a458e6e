"""The likelihood of groups of judgments with their normal effects integrated out, and its derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .group_modes import Groups, Modes, contributions, modes
from .indexed_rows import FloatArray, IntArray
from .likelihood import Problem, row_sums, weighted_gram
from .quadrature import Points, Quadrature, Sampling
from .shared_sums import in_threads

_NUMBERS = 1.2e5  # numbers in an array of a block of groups, so that it fits into the processor's cache
_RUN = 12  # blocks that a thread computes one after the other
Rule = Quadrature | Sampling


@dataclass(frozen=True, eq=False)
class Marginal:
    """The marginal log-likelihood, with derivatives in fixed parameters β (p,) and log scales σ (E,).

    Attributes
    ----------
    value : float
        The log-likelihood Σ_g log ∫ Π p^y dΦ(w).
    score : ndarray, shape (p + E,)
    information : ndarray, shape (p + E, p + E)
        Minus the second derivatives of the log-likelihood.
    modes : tuple of Modes
        The modes of each bundle of groups.
    """

    value: float
    score: FloatArray
    information: FloatArray
    modes: tuple[Modes, ...]


def marginal(
    problem: Problem,
    bundles: Sequence[Groups],
    params: FloatArray,
    scales: FloatArray,
    rule: Rule,
    start: Sequence[Modes] | None = None,
) -> Marginal:
    """Return the marginal log-likelihood and its derivatives, with points moved to each group's mode.

    Parameters
    ----------
    problem : Problem
        Comparisons of any counts: the counts are those of the groups.
    bundles : sequence of Groups
    params : ndarray, shape (p,)
    scales : ndarray, shape (E,)
    rule : Quadrature or Sampling
        The points of the integral of a group, by its number of effects.
    start : sequence of Modes, optional
        The first guess of the modes.

    Notes
    -----
    Let LLᵀ be the information at the mode ŵ, and w = ŵ + L⁻ᵀz. Then the integral of a group is |L|⁻¹ Σ ω exp(ℓ(w) −
    w²/2 + z²/2) (Liu & Pierce 1994; Pinheiro & Bates 1995). Its terms are posterior weights q. The score is the
    weighted mean of the scores at given effects. The information is the weighted mean of the information at given
    effects, less the variance of these scores (Louis 1982). These derivatives hold the points fixed.

    References
    ----------
    Liu, Q. & Pierce, D. A. (1994). A note on Gauss-Hermite quadrature. Biometrika 81(3), 624-629.

    Louis, T. A. (1982). Finding the observed information matrix when using the EM algorithm. Journal of the Royal
    Statistical Society B 44(2), 226-233.
    """
    total = _Sums(problem, [predictor.toarray() for predictor in problem.predictors], len(scales))
    eta = np.stack(problem.at(params))
    per_block = []
    for k, groups in enumerate(bundles):
        loadings = groups.loadings * scales[groups.scale]
        first = np.zeros((len(groups.rows), groups.size)) if start is None else start[k].at
        per_block.append(modes(problem.response, groups, eta[:, groups.rows], loadings, first))
        integrand = Integrand.of(problem, groups, k, eta, scales, rule, per_block[-1])
        blocks = integrand.blocks()
        runs = [blocks[first : first + _RUN] for first in range(0, len(blocks), _RUN)]
        for part in in_threads(partial(_summed, total, integrand), runs):
            total.add(part)
    return Marginal(total.value, total.score(), total.information(), tuple(per_block))


def group_values(
    problem: Problem, bundles: Sequence[Groups], params: FloatArray, scales: FloatArray, rule: Rule
) -> list[FloatArray]:
    """Return the log integral of each group, (G,) for each bundle; arguments as in `marginal`."""
    eta = np.stack(problem.at(params))
    values = []
    for k, groups in enumerate(bundles):
        loadings = groups.loadings * scales[groups.scale]
        first = np.zeros((len(groups.rows), groups.size))
        modes_there = modes(problem.response, groups, eta[:, groups.rows], loadings, first)
        integrand = Integrand.of(problem, groups, k, eta, scales, rule, modes_there)
        values.append(np.concatenate([integrand.posterior(some)[1].value for some in integrand.blocks()]))
    return values


@dataclass(frozen=True, eq=False)
class Integrand:
    """A bundle of groups, with points that are moved to their modes.

    Attributes
    ----------
    problem : Problem
    groups : Groups
    eta : ndarray, shape (B, S)
        Predictors of the comparisons.
    loadings : tuple of ndarray, shape (B, G, R, d)
        How the effects of each scale enter the predictors.
    modes : Modes
    points : Points
    turned : tuple of ndarray or None
        The order of dimensions and the signs, if each group has its own.
    """

    problem: Problem
    groups: Groups
    eta: FloatArray
    loadings: tuple[FloatArray, ...]
    modes: Modes
    points: Points
    turned: tuple[IntArray, FloatArray] | None

    @classmethod
    def of(
        cls, problem: Problem, groups: Groups, k: int, eta: FloatArray, scales: FloatArray, rule: Rule, modes: Modes
    ) -> Integrand:
        """Return the integrand of the k-th bundle at scales (E,)."""
        loadings = groups.loadings * scales[groups.scale]
        by_scale = tuple(loadings * (groups.scale == e) for e in range(len(scales)))
        turned = rule.turned(k, len(groups.rows), groups.size)
        return cls(problem, groups, eta, by_scale, modes, rule(groups.size), turned)

    def blocks(self) -> list[slice]:
        """Return the blocks of groups that are integrated together."""
        return list(self.groups.blocks(self.points.at.shape[1], _NUMBERS))

    def posterior(self, some: slice) -> tuple[Groups, Posterior]:
        """Return some of the groups' integrals, with the values at their points."""
        part = self.groups.take(some)
        root, log_root = _roots(self.modes.information[some])
        if self.turned is not None:
            order, signs = self.turned[0][some], self.turned[1][some]
            root = np.take_along_axis(root, order[:, None, :], axis=2) * signs[:, None, :]
        where = _Placed(self.modes.at[some], root, log_root, self.points)
        loadings = [own[:, some] for own in self.loadings]
        return part, _posterior(self.problem, part, self.eta[:, part.rows], loadings, where)


def _roots(information: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return L⁻ᵀ of information matrices LLᵀ, (G, d, d), and log|L|, (G,)."""
    lower = np.linalg.cholesky(information)
    return np.linalg.inv(lower).swapaxes(1, 2), np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)


@dataclass(frozen=True, eq=False)
class _Placed:
    """Points moved to modes (G, d) by roots (G, d, d); `log_root` (G,) has log determinants of the roots' inverses."""

    mode: FloatArray
    root: FloatArray
    log_root: FloatArray
    points: Points


@dataclass(frozen=True, eq=False)
class Posterior:
    """The integrals of a block of groups, with terms at its N points.

    Attributes
    ----------
    value : ndarray, shape (G,)
        Logarithm of each group's integral.
    share : ndarray, shape (G, N)
        Posterior weights of the points.
    score : ndarray, shape (B, G, R, N)
        Derivatives of the log-likelihood in the predictors.
    weight : ndarray, shape (B, B, G, R, N)
        Minus the second derivatives.
    moved : ndarray, shape (E, B, G, R, N)
        What each scale's effects add to the predictors; this is also the derivative in log σ.
    """

    value: FloatArray
    share: FloatArray
    score: FloatArray
    weight: FloatArray
    moved: FloatArray


def _posterior(
    problem: Problem, groups: Groups, eta: FloatArray, loadings: Sequence[FloatArray], placed: _Placed
) -> Posterior:
    """Return groups' integrals at points moved to their modes; loadings (B, G, R, d) are those of each single scale."""
    points = placed.points
    effects = placed.mode[:, :, None] + placed.root @ points.at  # (G, d, N)
    moved = np.stack([some @ effects for some in loadings])
    predictors = eta[..., None] + moved.sum(axis=0)
    value, score, weight = contributions(problem.response, predictors, groups.counts[..., None])
    far = 0.5 * (effects**2).sum(axis=1) - 0.5 * (points.at**2).sum(axis=0)
    log = value.sum(axis=1) - far + points.log_weight
    top = log.max(axis=1, keepdims=True)
    share = np.exp(log - top)
    norm = share.sum(axis=1, keepdims=True)
    return Posterior((top + np.log(norm))[:, 0] - placed.log_root, share / norm, score, weight, moved)


def _summed(sums: _Sums, integrand: Integrand, blocks: Sequence[slice]) -> _Sums:
    """Return the sum over some blocks. A block's arrays live until the next block's exist, so memory is reused."""
    total = sums.empty()
    for some in blocks:
        part = integrand.posterior(some)
        total.take(*part)
    return total


class _Sums:
    """Sums of values, scores and information over blocks of groups."""

    def __init__(self, problem: Problem, rows: list[FloatArray], scales: int) -> None:
        self.problem, self.rows = problem, rows
        size, width = problem.signed.shape[0], len(problem.predictors)
        self.value = 0.0
        self.slopes = np.zeros((width, size))  # the score of β, in the predictors of the comparisons
        self.scale_slopes = np.zeros(scales)
        self.weights = np.zeros((width, width, size))
        p = problem.signed.shape[1]
        self.rest = np.zeros((p + scales, p + scales))  # the information that is no weight of a single comparison

    def add(self, other: _Sums) -> None:
        """Add the sums of other blocks."""
        self.value += other.value
        self.slopes += other.slopes
        self.scale_slopes += other.scale_slopes
        self.weights += other.weights
        self.rest += other.rest

    def empty(self) -> _Sums:
        """Return sums of 0, to which blocks are added."""
        return _Sums(self.problem, self.rows, len(self.scale_slopes))

    def take(self, groups: Groups, block: Posterior) -> None:
        """Add a block of groups."""
        share, repeats = block.share[:, :, None], groups.repeats
        self.value += float(repeats @ block.value)
        score = (block.score @ share)[..., 0]
        weight = (block.weight @ share)[..., 0]
        pull = np.stack([(block.score * moved).sum(axis=(0, 2)) for moved in block.moved])
        mean = np.einsum("egn,gn->eg", pull, block.share)
        self.scale_slopes += mean @ repeats
        self._scatter(groups, score, weight)
        self._add_scales(groups, block, mean)
        self._subtract_variance(groups, block, pull, score, mean)

    def _scatter(self, groups: Groups, score: FloatArray, weight: FloatArray) -> None:
        size, flat = self.slopes.shape[1], groups.rows.ravel()
        for b, slope in enumerate(score):
            self.slopes[b] += np.bincount(flat, (slope * groups.repeats[:, None]).ravel(), size)
            for c, one in enumerate(weight[b]):
                self.weights[b, c] += np.bincount(flat, (one * groups.repeats[:, None]).ravel(), size)

    def _add_scales(self, groups: Groups, block: Posterior, mean: FloatArray) -> None:
        """Add the mean information of scales, with fixed parameters and among scales."""
        p = self.rest.shape[0] - len(mean)
        for e, moved in enumerate(block.moved):
            bent = np.stack([sum(w * m for w, m in zip(one, moved, strict=True)) for one in block.weight])
            towards = (bent @ block.share[:, :, None])[..., 0] * groups.repeats[:, None]
            mixed = sum(one.ravel() @ rows[groups.rows.ravel()] for one, rows in zip(towards, self.rows, strict=True))
            self.rest[p + e, :p] += mixed
            self.rest[:p, p + e] += mixed
            for f, other in enumerate(block.moved):
                own = np.einsum("gn,gn->g", (bent * other).sum(axis=(0, 2)), block.share)
                self.rest[p + e, p + f] += float(own @ groups.repeats)
            self.rest[p + e, p + e] -= float(mean[e] @ groups.repeats)

    def _subtract_variance(
        self, groups: Groups, block: Posterior, pull: FloatArray, score: FloatArray, mean: FloatArray
    ) -> None:
        """Subtract the posterior variance of the score at given effects."""
        width, size, lines, number = block.score.shape
        stacked = np.concatenate([
            block.score.transpose(1, 0, 2, 3).reshape(size, width * lines, number), pull.transpose(1, 0, 2)
        ], axis=1)  # fmt: skip
        centre = np.concatenate([score.transpose(1, 0, 2).reshape(size, -1), mean.T], axis=1)
        stacked -= centre[:, :, None]
        variance = (stacked * (block.share * groups.repeats[:, None])[:, None]) @ stacked.swapaxes(1, 2)
        self.rest -= self._projected(groups, variance)

    def _projected(self, groups: Groups, variance: FloatArray) -> FloatArray:
        """Return Σ_g J_gᵀ V_g J_g for the rows J of the lines; the scales stay as they are."""
        size, p = len(groups.rows), self.rows[0].shape[1]
        scales = self.rest.shape[0] - p
        lines = np.concatenate([rows[groups.rows] for rows in self.rows], axis=1)
        jacobian = np.zeros((size, lines.shape[1] + scales, p + scales))
        jacobian[:, : lines.shape[1], :p] = lines
        jacobian[:, lines.shape[1] :, p:] = np.eye(scales)
        return np.asarray(np.einsum("glp,glq->pq", jacobian, variance @ jacobian, optimize=True))

    def score(self) -> FloatArray:
        """Return the score of fixed parameters and log σ."""
        return np.concatenate([row_sums(self.problem, self.slopes), self.scale_slopes])

    def information(self) -> FloatArray:
        """Return the observed information of fixed parameters and log σ."""
        information = self.rest.copy()
        p = self.rows[0].shape[1]
        information[:p, :p] += weighted_gram(self.problem, self.weights)
        return (information + information.T) / 2
