"""Laplace's approximation of a marginal likelihood, with its exact gradient; groupings may be crossed.

Notation as in `crossed`: w are the standard normal effects of all levels, A their loadings (times scales σ) on the
predictors u = η + A w of the lines, W minus the second derivatives of the log-likelihood there, H = I + AᵀWA.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import linalg, sparse

from .crossed import Block, Crossed
from .group_modes import contributions
from .indexed_rows import FloatArray, IntArray
from .likelihood import Problem, row_sums, weighted_gram

_ITERATIONS = 60
_NEAR = 1e-7  # at this squared distance of a group to its mode, in standard deviations, a step is the last
_NEAR_BY_CHORD = 1e-12  # the same if the step uses the information of an earlier point
_SLOW = 0.1  # if a chord step leaves more than this share of the squared distance, the information is computed anew
_LARGE = 16  # a group with so many effects has its matrix factored by itself
_HALVINGS = 25
Method = Literal["laplace", "ep"]
Sites = tuple[FloatArray, FloatArray]  # of L lines: the precisions and the pulls of expectation propagation
METHOD_NAMES: dict[Method, str] = {"laplace": "Laplace's approximation", "ep": "Expectation propagation"}
_STEP = 1e-4  # step of a predictor for third derivatives by differences; the error is about its square


@dataclass(frozen=True, eq=False)
class Effects:
    """Standard normal effects: own effects (N + 1,) and shared effects (R + 1,); the last of each is 0."""

    own: FloatArray
    shared: FloatArray

    def local(self, block: Block) -> FloatArray:
        """Return the effects of each group of a block, (G, n + r)."""
        return np.concatenate([self.own[block.own], self.shared[block.shared]], axis=1)

    def moved(self, step: Effects, by: FloatArray, crossed: Crossed) -> Effects:
        """Return the effects after steps of these lengths: one length for each block's groups, or one for all."""
        if by.ndim == 0:
            return Effects(self.own + by * step.own, self.shared + by * step.shared)
        return Effects(self.own + np.append(by[_owner(crossed)], 0.0) * step.own, self.shared)

    @classmethod
    def none(cls, crossed: Crossed) -> Effects:
        """Return effects of 0."""
        return cls(np.zeros(len(crossed.scales[0]) + 1), np.zeros(len(crossed.scales[1]) + 1))


@dataclass(frozen=True, eq=False)
class Solved:
    """H in blocks [[D, C], [Cᵀ, E]], with D of each group's own effects, factored so that H x = y can be solved.

    Attributes
    ----------
    inverse : tuple of ndarray, each (G, n, n)
        D⁻¹ of each block.
    towards : tuple of ndarray, each (G, n, r)
        D⁻¹C.
    complement : ndarray, shape (R, R)
        (E − CᵀD⁻¹C)⁻¹, of the shared effects.
    log_determinant : float
    """

    inverse: tuple[FloatArray, ...]
    towards: tuple[FloatArray, ...]
    complement: FloatArray
    log_determinant: float

    def among(self, block: Block) -> FloatArray:
        """Return the part of `complement` that belongs to the shared effects of each group, (G, r, r)."""
        return np.asarray(self._padded[block.shared[:, :, None], block.shared[:, None]])

    @cached_property
    def _padded(self) -> FloatArray:
        return np.pad(self.complement, (0, 1))


@dataclass(frozen=True)
class NormalDensity:
    """The rule that approximates the integrand by a normal density.

    Attributes
    ----------
    exact : bool
        Whether the information is exact for all parameters of the approximation. Else it covers the fixed parameters
        alone, with the weights of the judgments held.
    method : {"laplace", "ep"}
        The density around the mode, or the density of expectation propagation.
    scales : bool
        Whether the information has the rows of log σ; they are 0 otherwise.
    """

    exact: bool
    method: Method
    scales: bool = True


@dataclass(frozen=True, eq=False)
class Approximation:
    """The approximation of the likelihood at some parameters, by Laplace's method or by expectation propagation.

    Attributes
    ----------
    value : float
        The log-likelihood; by Laplace's method ℓ(ŵ) − ŵ²/2 − ½ log|H|.
    score : ndarray, shape (p + E,)
        The derivatives of the value in the fixed parameters and log σ.
    mode : Effects
        The mean of the normal density.
    solved : Solved
        The factored H at the mode.
    weights : tuple of ndarray, each (B, B, L)
        W of the lines of each block.
    sites : (ndarray, ndarray), each (L,)
        For expectation propagation, the coefficients t and b of each line's site (see `propagation`); else empty.
    """

    value: float
    score: FloatArray
    mode: Effects
    solved: Solved
    weights: tuple[FloatArray, ...]
    sites: Sites


def laplace(
    problem: Problem, crossed: Crossed, params: FloatArray, scales: FloatArray, near: Approximation | None = None
) -> Approximation:
    """Return Laplace's approximation and its gradient.

    Parameters
    ----------
    problem : Problem
        Comparisons of any counts: the counts are those of the lines.
    crossed : Crossed
    params : ndarray, shape (p,)
    scales : ndarray, shape (E,)
        Standard deviations of the effects; a scale of 0 has no effects.
    near : Approximation, optional
        The approximation at other parameters, whose mode is the first guess.

    Notes
    -----
    Let t be half the derivative of tr(W(u) V) in u, with V = A H⁻¹Aᵀ held, and let q = H⁻¹Aᵀt. Let s be the score in u.
    The fixed parameters move u by X β at given effects; their slope is Xᵀ(s − t + W A q). The slope of log σ_e is
    |w_e|² − d_e + tr(H⁻¹)_e − 2 q_e·w_e, over the d_e effects of that scale. The terms with q are there because the
    modes move with the parameters.
    """
    work = LineSums.of(problem, crossed, params, scales)
    mode, lines = work.mode(near)
    solved = work.solved([weight for _, _, weight in lines])
    value = work.height(mode, lines).sum() - 0.5 * float(mode.shared @ mode.shared) - 0.5 * solved.log_determinant
    bent = work.bent(mode, solved)
    turned = work.solve(solved, work.gathered(bent))
    score = work.scattered([
        score - t + work.weighted(block, weight, turned)
        for block, (_, score, weight), t in zip(crossed.blocks, lines, bent, strict=True)
    ])  # fmt: skip
    pull = products_by_scale(crossed, mode, mode) - 2 * products_by_scale(crossed, turned, mode)
    known = diagonal(crossed, solved)
    shrunk = [np.bincount(which, d - 1, len(scales)) for which, d in zip(crossed.scales, known, strict=True)]
    slopes = np.concatenate([row_sums(problem, score), pull + sum(shrunk)])
    weights = tuple(weight for _, _, weight in lines)
    return Approximation(float(value), slopes, mode, solved, weights, (np.empty(0), np.empty(0)))


def information_beside(
    problem: Problem, crossed: Crossed, params: FloatArray, scales: FloatArray, at: Approximation
) -> FloatArray:
    """Return the information of the fixed parameters with W held, Xᵀ(W − WA H⁻¹AᵀW)X, shape (p, p)."""
    work = LineSums.of(problem, crossed, params, scales)
    solved = at.solved
    rows = [sparse.csr_array(predictor.toarray()) for predictor in problem.predictors]
    width, size = len(rows), len(problem.counts)
    weights = np.zeros((width, width, size))
    shared = np.zeros((len(crossed.scales[1]) + 1, len(params)))
    lost = np.zeros((len(params), len(params)))
    for k, (block, weight) in enumerate(zip(crossed.blocks, at.weights, strict=True)):
        these = crossed.rows[block.lines]
        for b in range(width):
            for c in range(width):
                weights[b, c] += np.bincount(these, weight[b, c], size)
        towards = work.towards(block, weight, [one[these] for one in rows])
        own = block.size[1]
        mine, others = towards[:, :own], towards[:, own:]
        lost += np.einsum("gnp,gnq->pq", mine, solved.inverse[k] @ mine, optimize=True)
        np.add.at(shared, block.shared, others - solved.towards[k].swapaxes(1, 2) @ mine)
    lost += shared[:-1].T @ solved.complement @ shared[:-1]
    return weighted_gram(problem, weights) - lost


def effects_of_scale(
    problem: Problem, crossed: Crossed, params: FloatArray, scales: FloatArray, which: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return one scale's most probable effects, their covariance at known parameters, and their derivatives.

    Returns
    -------
    tuple of ndarray, (m,), (m, m) and (m, p + E)
        Effects in the order of `Crossed.levels`, in units of the predictors; their part of σ² H⁻¹; and their
        derivatives in the fixed parameters and log σ, from the equation Aᵀs = w that the modes solve.
    """
    work = LineSums.of(problem, crossed, params, scales)
    mode, lines = work.mode(None)
    solved = work.solved([weight for _, _, weight in lines])
    sigma, shared = scales[which], int(bool((crossed.scales[1] == which).any()))
    mine = np.flatnonzero(crossed.scales[shared] == which)

    def of(effects: Effects) -> FloatArray:
        return np.asarray((effects.shared if shared else effects.own)[mine])

    columns = []
    for k in mine.tolist():
        unit = Effects.none(crossed)
        (unit.shared if shared else unit.own)[k] = 1.0
        columns.append(of(work.solve(solved, unit)))
    moves = []
    rows = [predictor.toarray() for predictor in problem.predictors]
    for q in range(len(params)):
        slopes = [
            np.einsum("bcl,cl->bl", weight, np.stack([one[crossed.rows[block.lines], q] for one in rows]))
            for block, (_, _, weight) in zip(crossed.blocks, lines, strict=True)
        ]
        moves.append(-of(work.solve(solved, work.gathered(slopes))))
    for e in range(len(scales)):
        part = Effects(*(np.append(whole[:-1] * (scale == e), 0.0)
                         for whole, scale in zip((mode.own, mode.shared), crossed.scales, strict=True)))  # fmt: skip
        moves.append(2 * of(work.solve(solved, part)) - of(part) + (e == which) * of(mode))
    return sigma * of(mode), sigma**2 * np.stack(columns), sigma * np.stack(moves, axis=1)


_Lines = list[tuple[FloatArray, FloatArray, FloatArray]]  # of each block: values, scores, weights


@dataclass(frozen=True, eq=False)
class LineSums:
    """Sums over lines.

    Attributes
    ----------
    problem : Problem
    crossed : Crossed
    eta : ndarray, shape (B, S)
        The comparisons' predictors if all effects are 0.
    loading : ndarray, shape (T, L) or (T, 1)
        The loadings of effects on the predictors of lines.
    """

    problem: Problem
    crossed: Crossed
    eta: FloatArray
    loading: FloatArray

    @classmethod
    def of(cls, problem: Problem, crossed: Crossed, params: FloatArray, scales: FloatArray) -> LineSums:
        """Return the sums at parameters (p,) and scales (E,)."""
        return cls(problem, crossed, np.stack(problem.at(params)), scales[crossed.scale, None] * crossed.factor)

    @cached_property
    def _together(self) -> list[tuple[int, int]]:
        """The pairs of effects that enter at least one line together."""
        every = range(len(self.loading))
        return [(one, other) for one in every for other in every if (self.loading[one] * self.loading[other]).any()]

    def places(self, block: Block) -> list[tuple[IntArray, int, FloatArray]]:
        """Return the effects of a block's lines: places (L,), the predictor that they enter, loadings (L,) or (1,)."""
        loading = self.loading if self.loading.shape[1] == 1 else self.loading[:, block.lines]
        return list(zip(block.place, self.crossed.predictor.tolist(), loading, strict=True))

    def predictors(self, block: Block, effects: Effects) -> FloatArray:
        """Return u of the lines of a block, (B, L)."""
        return self.eta[:, self.crossed.rows[block.lines]] + self.loaded(block, effects)

    def loaded(self, block: Block, effects: Effects) -> FloatArray:
        """Return A w, (B, L)."""
        local = effects.local(block)
        total = np.zeros((len(self.eta), len(block.lines)))
        for place, b, loading in self.places(block):
            total[b] += loading * local[block.group, place]
        return total

    def lines(self, effects: Effects) -> _Lines:
        """Return the log-likelihood and its derivatives at given effects."""
        return [
            contributions(self.problem.response, self.predictors(block, effects), self.crossed.counts[:, block.lines])
            for block in self.crossed.blocks
        ]

    def height(self, effects: Effects, lines: _Lines) -> FloatArray:
        """Return, for each group of each block, the log-likelihood less half the squared own effects."""
        return np.concatenate([
            np.bincount(block.group, value, len(block.own)) - 0.5 * (effects.own[block.own] ** 2).sum(axis=1)
            for block, (value, _, _) in zip(self.crossed.blocks, lines, strict=True)
        ])  # fmt: skip

    def gathered(self, slopes: list[FloatArray]) -> Effects:
        """Return Aᵀ times values of the lines of each block, (B, L)."""
        total = Effects.none(self.crossed)
        for block, slope in zip(self.crossed.blocks, slopes, strict=True):
            groups, own, size = block.size
            local = np.zeros(groups * size)
            for place, b, loading in self.places(block):
                local += np.bincount(block.group * size + place, loading * slope[b], groups * size)
            by_group = local.reshape(groups, size)
            total.own[block.own] = by_group[:, :own]  # an own effect belongs to one group
            np.add.at(total.shared, block.shared, by_group[:, own:])
        total.own[-1] = total.shared[-1] = 0.0
        return total

    def weighted(self, block: Block, weight: FloatArray, effects: Effects) -> FloatArray:
        """Return W A w of a block, (B, L)."""
        return np.asarray(np.einsum("bcl,cl->bl", weight, self.loaded(block, effects)))

    def scattered(self, slopes: list[FloatArray]) -> FloatArray:
        """Return values of the lines summed over each comparison, (B, S)."""
        size = self.eta.shape[1]
        total = np.zeros_like(self.eta)
        for block, slope in zip(self.crossed.blocks, slopes, strict=True):
            for b, one in enumerate(slope):
                total[b] += np.bincount(self.crossed.rows[block.lines], one, size)
        return total

    def gram(self, block: Block, weight: FloatArray) -> FloatArray:
        """Return AᵀWA of each group, (G, n + r, n + r)."""
        groups, _, size = block.size
        first = block.group * size
        places = self.places(block)
        at: list[IntArray] = []
        values: list[FloatArray] = []
        for one, another in self._together:
            (place, b, loading), (other, c, times) = places[one], places[another]
            at.append((first + place) * size + other)
            values.append(loading * times * weight[b, c])
        if not at:
            return np.zeros((groups, size, size))
        total = np.bincount(np.concatenate(at), np.concatenate(values), groups * size * size)
        return np.asarray(total, dtype=np.float64).reshape(groups, size, size)

    def towards(self, block: Block, weight: FloatArray, rows: list[sparse.csr_array]) -> FloatArray:
        """Return AᵀWX of each group, (G, n + r, p), where X are the rows of the block's lines."""
        groups, _, size = block.size
        total = np.zeros((groups * size, rows[0].shape[1]))
        lines = np.arange(len(block.lines))
        for place, b, loading in self.places(block):
            for c, one in enumerate(rows):
                loads = sparse.coo_array(
                    (loading * weight[b, c], (block.group * size + place, lines)), shape=(groups * size, len(lines))
                )
                total += (loads.tocsr() @ one).toarray()
        return total.reshape(groups, size, -1)

    def solved(self, weights: Sequence[FloatArray]) -> Solved:
        """Return H, factored so that H x = y can be solved, from W of the lines of each block."""
        inverses: list[FloatArray] = []
        towards: list[FloatArray] = []
        log = 0.0
        number = len(self.crossed.scales[1])
        complement = np.eye(number + 1)
        for block, weight in zip(self.crossed.blocks, weights, strict=True):
            _, own, size = block.size
            local = self.gram(block, weight)
            matrix = local[:, :own, :own] + np.eye(own)
            inverse, logs = _inverses(matrix)
            log += logs
            inverses.append(inverse)
            towards.append(inverse @ local[:, :own, own:])
            if size > own:
                rest = local[:, own:, own:] - local[:, own:, :own] @ towards[-1]
                at = block.shared[:, :, None] * (number + 1) + block.shared[:, None]
                np.add.at(complement.reshape(-1), at.ravel(), rest.ravel())
        return Solved(tuple(inverses), tuple(towards), *_inverted(complement[:-1, :-1], log))

    def solve(self, solved: Solved, right: Effects) -> Effects:
        """Return H⁻¹ times the effects `right`."""
        rest = right.shared.copy()
        for block, towards in zip(self.crossed.blocks, solved.towards, strict=True):
            np.add.at(rest, block.shared, -np.einsum("gnr,gn->gr", towards, right.own[block.own]))
        answer = Effects.none(self.crossed)
        answer.shared[:-1] = solved.complement @ rest[:-1]
        for block, inverse, towards in zip(self.crossed.blocks, solved.inverse, solved.towards, strict=True):
            own = np.einsum("gnm,gm->gn", inverse, right.own[block.own])
            answer.own[block.own] = own - np.einsum("gnr,gr->gn", towards, answer.shared[block.shared])
        answer.own[-1] = 0.0
        return answer

    def bent(self, effects: Effects, solved: Solved) -> list[FloatArray]:
        """Return t of each block's lines, (B, L): half the derivatives of tr(W(u) V) in u, with V = A H⁻¹Aᵀ held."""
        bends = []
        for k, block in enumerate(self.crossed.blocks):
            variance = self.variance(block, block_inverse(block, solved, k))
            u, counts = self.predictors(block, effects), self.crossed.counts[:, block.lines]
            slopes = np.zeros_like(u)
            for d in range(len(u)):
                step = np.zeros((len(u), 1))
                step[d] = _STEP
                ahead, behind = (contributions(self.problem.response, u + s, counts)[2] for s in (step, -step))
                slopes[d] = np.einsum("bcl,bcl->l", ahead - behind, variance) / (4 * _STEP)
            bends.append(slopes)
        return bends

    def variance(self, block: Block, inverse: FloatArray) -> FloatArray:
        """Return A H⁻¹Aᵀ of each single line, (B, B, L)."""
        width = len(self.eta)
        total = np.zeros((width, width, len(block.lines)))
        places = self.places(block)
        for one, another in self._together:
            (place, b, loading), (other, c, times) = places[one], places[another]
            total[b, c] += loading * times * inverse[block.group, place, other]
        return total

    def mode(self, near: Approximation | None) -> tuple[Effects, _Lines]:
        """Return the most probable effects, and the likelihood of the lines there, by Newton's method or chord steps.

        Chord steps use the information of an earlier point. They are used as long as they converge fast enough.
        """
        at = Effects.none(self.crossed) if near is None else near.mode
        solved, before = (None, np.inf) if near is None else (near.solved, np.inf)
        lines = self.lines(at)
        groups = sum(len(block.own) for block in self.crossed.blocks)
        for _ in range(_ITERATIONS):
            pulled = self.gathered([score for _, score, _ in lines])
            gradient = Effects(pulled.own - at.own, pulled.shared - at.shared)
            chord = solved is not None
            step = self.solve(self.solved([weight for _, _, weight in lines]) if solved is None else solved, gradient)
            decrement = float(gradient.own @ step.own + gradient.shared @ step.shared)
            if chord and decrement > _SLOW * before:
                solved = None
                continue
            at, lines = self.climbed(at, step, lines)
            if decrement < (_NEAR_BY_CHORD if chord else _NEAR) * groups:
                break
            before = decrement
        return at, lines

    def climbed(self, at: Effects, step: Effects, lines: _Lines) -> tuple[Effects, _Lines]:
        """Take a step, halved until the value does not fall: by group if groups share no effects, else all at once."""
        heights = self.height(at, lines)
        alone = len(at.shared) == 1
        by = np.ones(len(heights)) if alone else np.array(1.0)
        for _ in range(_HALVINGS):
            tried = at.moved(step, by, self.crossed)
            lines_there = self.lines(tried)
            reached = self.height(tried, lines_there)
            if not alone:
                heights = np.array(heights.sum() - 0.5 * float(at.shared @ at.shared))
                reached = np.array(reached.sum() - 0.5 * float(tried.shared @ tried.shared))
            down = reached < heights - 1e-9 * (1 + np.abs(heights))
            if not down.any():
                return tried, lines_there
            by = np.where(down, by / 2, by)
            heights = self.height(at, lines)
        return at, lines


def _owner(crossed: Crossed) -> IntArray:
    """Return the group of each own effect, in the order of the blocks."""
    owner = np.zeros(len(crossed.scales[0]) + 1, dtype=np.int64)
    before = 0
    for block in crossed.blocks:
        owner[block.own] = before + np.arange(len(block.own))[:, None]
        before += len(block.own)
    return owner[:-1]


def block_inverse(block: Block, solved: Solved, k: int) -> FloatArray:
    """Return the part of H⁻¹ that belongs to the effects of each group of a block, (G, n + r, n + r)."""
    groups, own, size = block.size
    if size == own:
        return solved.inverse[k]
    among = solved.among(block)
    across = -solved.towards[k] @ among
    whole = np.empty((groups, size, size))
    whole[:, :own, :own] = solved.inverse[k] - across @ solved.towards[k].swapaxes(1, 2)
    whole[:, :own, own:], whole[:, own:, :own] = across, across.swapaxes(1, 2)
    whole[:, own:, own:] = among
    return whole


def _inverses(matrices: FloatArray) -> tuple[FloatArray, float]:
    """Return the inverses of positive definite matrices (G, n, n), and the sum of their log determinants."""
    if matrices.shape[1] < _LARGE:
        log = 2 * float(np.log(np.diagonal(np.linalg.cholesky(matrices), axis1=1, axis2=2)).sum())
        return np.asarray(np.linalg.inv(matrices), dtype=np.float64), log
    inverses, total = np.empty_like(matrices), 0.0
    for matrix, inverse in zip(matrices, inverses, strict=True):
        inverse[:], total = _inverted(matrix, total)
    return inverses, total


def _inverted(matrix: FloatArray, log: float) -> tuple[FloatArray, float]:
    """Return the inverse of a matrix, and `log` plus its log determinant."""
    if not len(matrix):
        return matrix, log
    lower, failed = linalg.lapack.dpotrf(matrix, lower=1, clean=1)
    if failed:
        raise linalg.LinAlgError("the information of effects is not positive definite")
    inverse, _ = linalg.lapack.dpotri(lower, lower=1)
    inverse += inverse.T
    inverse[np.diag_indices(len(inverse))] /= 2
    return inverse, log + 2 * float(np.log(np.diagonal(lower)).sum())


def diagonal(crossed: Crossed, solved: Solved) -> list[FloatArray]:
    """Return diag H⁻¹ of own and of shared effects."""
    own = np.ones(len(crossed.scales[0]) + 1)
    for k, block in enumerate(crossed.blocks):
        known = np.diagonal(solved.inverse[k], axis1=1, axis2=2).copy()
        if block.shared.size:
            known += np.einsum("gnr,gnr->gn", solved.towards[k] @ solved.among(block), solved.towards[k])
        own[block.own] = known
    return [own[:-1], np.diag(solved.complement)]


def products_by_scale(crossed: Crossed, one: Effects, other: Effects) -> FloatArray:
    """Return the products of effects summed by scale, (E,)."""
    size = len(crossed.levels)
    parts = ((one.own * other.own)[:-1], (one.shared * other.shared)[:-1])
    return np.asarray(sum(np.bincount(which, part, size) for which, part in zip(crossed.scales, parts, strict=True)))
