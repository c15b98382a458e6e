"""The likelihood of groups of judgments, their normal effects integrated out, with its derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .effects import Groups, Modes, contributions, modes
from .gathered import FloatArray
from .likelihood import Problem, row_sums, weighted_gram
from .quadrature import Points, Quadrature, Sampling

_NUMBERS = 3e5  # numbers of one array of a block of groups: what stays near the processor
Rule = Quadrature | Sampling


@dataclass(frozen=True, eq=False)
class Marginal:
    """What the judgments say of fixed parameters β (p,) and of the logarithms of scales σ (E,).

    Attributes
    ----------
    value : float
        The log-likelihood Σ_g log ∫ Π p^y dΦ(w).
    score : ndarray, shape (p + E,)
    information : ndarray, shape (p + E, p + E)
        Minus its second derivatives.
    modes : tuple of Modes
        Of each bundle of groups.
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
    """Return the marginal log-likelihood and its derivatives, at points that are moved to each group's mode.

    Parameters
    ----------
    problem : Problem
        Comparisons of any counts: the counts are those of the groups.
    bundles : sequence of Groups
    params : ndarray, shape (p,)
    scales : ndarray, shape (E,)
    rule : Quadrature or Sampling
        The points that a group with so many effects is integrated at.
    start : sequence of Modes, optional
        Where modes are looked for first.

    Notes
    -----
    With w = ŵ + L⁻ᵀz, LLᵀ the information at the mode ŵ, the integral of a group is |L|⁻¹ Σ ω exp(ℓ(w) − w²/2 + z²/2)
    (Liu & Pierce 1994; Pinheiro & Bates 1995). Its terms are posterior weights q; the score is the mean of the scores
    at given effects, the information the mean of theirs less the variance of these scores (Louis 1982). All refer to
    points that are held where they are.

    References
    ----------
    Liu, Q. & Pierce, D. A. (1994). A note on Gauss-Hermite quadrature. Biometrika 81(3), 624-629.

    Louis, T. A. (1982). Finding the observed information matrix when using the EM algorithm. Journal of the Royal
    Statistical Society B 44(2), 226-233.
    """
    total = _Sums(problem, len(scales))
    eta = np.stack(problem.at(params))
    found = []
    for k, groups in enumerate(bundles):
        loadings = groups.loadings * scales[groups.scale]
        first = np.zeros((len(groups.rows), groups.size)) if start is None else start[k].at
        found.append(modes(problem.response, groups, eta[:, groups.rows], loadings, first))
        for part, block in posteriors(problem, groups, k, eta, scales, rule, found[-1]):
            total.add(part, block)
    return Marginal(total.value, total.score(), total.information(), tuple(found))


def posteriors(
    problem: Problem, groups: Groups, k: int, eta: FloatArray, scales: FloatArray, rule: Rule, found: Modes
) -> Iterator[tuple[Groups, Posterior]]:
    """Yield blocks of a bundle of groups, the k-th, with what they know at points that are moved to their modes."""
    loadings = groups.loadings * scales[groups.scale]
    at, turned = rule(groups.size), rule.turned(k, len(groups.rows), groups.size)
    for some in groups.blocks(at.at.shape[1], _NUMBERS):
        part = groups.take(some)
        moved_by = [loadings[:, some] * (groups.scale == e) for e in range(len(scales))]
        root, log_root = _roots(found.information[some])
        if turned is not None:
            root = np.take_along_axis(root, turned[0][some, None, :], axis=2) * turned[1][some, None, :]
        where = _Placed(found.at[some], root, log_root, at)
        yield part, _posterior(problem, part, eta[:, part.rows], moved_by, where)


def _roots(information: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return L⁻ᵀ of information matrices LLᵀ, (G, d, d), and log|L|, (G,)."""
    lower = np.linalg.cholesky(information)
    return np.linalg.inv(lower).swapaxes(1, 2), np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)


@dataclass(frozen=True, eq=False)
class _Placed:
    """Points moved to modes (G, d) by roots (G, d, d), whose inverse has the determinant exp of (G,)."""

    mode: FloatArray
    root: FloatArray
    log_root: FloatArray
    points: Points


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a block of groups knows at its N points.

    Attributes
    ----------
    value : ndarray, shape (G,)
        Logarithm of each group's integral.
    share : ndarray, shape (G, N)
        Posterior weights of the points.
    score : ndarray, shape (B, G, R, N)
        Derivatives of the log-likelihood in the predictors.
    weight : ndarray, shape (B, B, G, R, N)
        Minus the second ones.
    moved : ndarray, shape (E, B, G, R, N)
        What the effects of each scale add to the predictors: their derivatives in log σ.
    """

    value: FloatArray
    share: FloatArray
    score: FloatArray
    weight: FloatArray
    moved: FloatArray


def _posterior(
    problem: Problem, groups: Groups, eta: FloatArray, loadings: Sequence[FloatArray], placed: _Placed
) -> Posterior:
    """Return what groups know at points moved to their modes; loadings (B, G, R, d) are those of each scale alone."""
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


class _Sums:
    """Sums over blocks of groups of values, scores and information."""

    def __init__(self, problem: Problem, scales: int) -> None:
        self.problem = problem
        size, width = problem.signed.shape[0], len(problem.predictors)
        self.rows = [predictor.toarray() for predictor in problem.predictors]
        self.value = 0.0
        self.slopes = np.zeros((width, size))  # of β, in the predictors of the comparisons
        self.scale_slopes = np.zeros(scales)
        self.weights = np.zeros((width, width, size))
        p = problem.signed.shape[1]
        self.rest = np.zeros((p + scales, p + scales))  # what is not a weight of a single comparison

    def add(self, groups: Groups, block: Posterior) -> None:
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
        """Add the mean information of scales, with fixed parameters and among each other."""
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
        self.rest -= self._summed(groups, variance)

    def _summed(self, groups: Groups, variance: FloatArray) -> FloatArray:
        """Return Σ_g J_gᵀ V_g J_g with J the rows of the lines, and the scales as they are."""
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
        found = self.rest.copy()
        p = self.rows[0].shape[1]
        found[:p, :p] += weighted_gram(self.problem, self.weights)
        return (found + found.T) / 2
