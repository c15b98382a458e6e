"""Many fits with normal effects of judges at once, by another rule than the package's: for simulations.

Three objects, two outcomes. A judge's log-worths differ from each other by x = (x_A − x_C, x_B − x_C), normal with mean
m = (λ_A − λ_C, λ_B − λ_C) and covariance σ²(I + 11ᵀ), so that his judgments have the likelihood Σ w(z) P(m + σLz) at
the points z of a square grid: the trapezoidal rule, which is exact to rounding where the integrand is wider than a
step. The likelihood's derivatives are those of the density of x (Fisher's and Louis's identities), moments of z alone.

Notation: T tables, G judges in each, N points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

PAIRS = np.array([(0, 1), (0, 2), (1, 2)])
SIDES = np.array([(1, -1), (1, 0), (0, 1)], dtype=float)  # each pair's difference, in x
LARGEST = 2.5  # σ up to which steps are short enough
LEAST = 0.02  # σ below which it counts as 0 if the likelihood falls with it, as in the package
_COARSE, _STEPS, _REACH = 0.36, (0.3, 0.2, 0.14, 0.1, 0.07), 6.5  # of the grid
_WIDTH = 0.17  # of a step times σ, at most
_ROOT = np.linalg.cholesky(np.eye(2) + 1)
_INVERSE = np.linalg.inv(_ROOT)
_NUMBERS = 4e5  # of an array of a block of tables


@dataclass(frozen=True)
class Many:
    """What is found of each table: m and σ (T, 3), the log-likelihood (T,), the information of m and log σ (T, 3, 3).

    `beyond` says where σ exceeds `LARGEST`, and nothing is found here.
    """

    at: np.ndarray
    value: np.ndarray
    information: np.ndarray
    beyond: np.ndarray


def tables(
    number: int, judges: int, judgments: int, worth: np.ndarray, sigma: float, rng: np.random.Generator
) -> np.ndarray:
    """Return counts by table, judge, pair and outcome (T, G, 3, 2): judgments of random pairs."""
    own = worth + sigma * rng.normal(size=(number, judges, 3))
    share = special.expit(2 * (own[..., PAIRS[:, 0]] - own[..., PAIRS[:, 1]]))
    total = rng.multinomial(judgments, np.full(3, 1 / 3), size=(number, judges))
    wins = rng.binomial(total, share)
    return np.stack([wins, total - wins], axis=3).astype(float)


def without(counts: np.ndarray) -> Many:
    """Return the fits without effects, σ = 0; `beyond` where an estimate is infinite."""
    summed = counts.sum(axis=1)
    total = summed.sum(axis=2)
    at = np.zeros((len(counts), 2))
    for _ in range(30):
        p = special.expit(2 * at @ SIDES.T)
        score = 2 * (summed[..., 0] - total * p) @ SIDES
        information = np.einsum("tp,pi,pj->tij", 4 * total * p * (1 - p), SIDES, SIDES) + 1e-9 * np.eye(2)
        step = np.linalg.solve(information, score[..., None])[..., 0]
        at = np.clip(at + np.clip(step, -1, 1), -9, 9)
    eta = 2 * at @ SIDES.T
    value = -(summed[..., 0] * np.logaddexp(0, -eta) + summed[..., 1] * np.logaddexp(0, eta)).sum(axis=1)
    full = np.full((len(at), 3, 3), np.nan)
    full[:, :2, :2] = information
    return Many(np.column_stack([at, np.zeros(len(at))]), value, full, np.abs(at).max(axis=1) > 8)


def fitted(counts: np.ndarray, start: np.ndarray, held: float | None = None) -> Many:
    """Return the maxima of the likelihood, with σ free or held: with a coarse grid first, then with one fine enough.

    Parameters
    ----------
    counts : ndarray, shape (T, G, 3, 2)
    start : ndarray, shape (T, 3)
        m and σ to start from.
    held : float, optional
        A value of σ.
    """
    at = start.copy() if held is None else np.column_stack([start[:, :2], np.full(len(start), held)])
    coarse = _blocks(counts, at, held is not None, _COARSE)
    near = np.where(coarse.at[:, 2:] > 0, coarse.at, np.append(at[0, :2], 0.1))
    steps = np.array(_STEPS)
    fine = steps[np.minimum(np.searchsorted(-steps, -_WIDTH / near[:, 2]), len(steps) - 1)]
    parts = [(np.flatnonzero(fine == step), step) for step in steps]
    found = [(some, _blocks(counts[some], near[some], held is not None, step)) for some, step in parts if len(some)]
    back = np.argsort(np.concatenate([some for some, _ in found]))
    return _joined([part for _, part in found], back)


def _blocks(counts: np.ndarray, at: np.ndarray, held: bool, step: float) -> Many:
    size = max(1, int(_NUMBERS / (counts.shape[1] * len(_grid(step)[0]))))
    starts = range(0, len(counts), size)
    return _joined([_fitted(counts[k : k + size], at[k : k + size], held, step) for k in starts], np.arange(len(at)))


def _joined(parts: list[Many], order: np.ndarray) -> Many:
    fields = zip(*((part.at, part.value, part.information, part.beyond) for part in parts), strict=True)
    return Many(*(np.concatenate(field)[order] for field in fields))


@cache
def _grid(step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points (N, 2), their log-weights (N,), and 1 and the moments that are asked (N, 9)."""
    line = np.arange(-np.ceil(_REACH / step), np.ceil(_REACH / step) + 1) * step
    z = np.stack(np.meshgrid(line, line), axis=2).reshape(-1, 2)
    z = z[(z**2).sum(axis=1) < _REACH**2]
    s = (z**2).sum(axis=1)
    one, two = z.T
    weight = np.log(step**2 / (2 * np.pi)) - s / 2
    return z, weight, np.column_stack([np.ones(len(z)), one, two, one**2, one * two, two**2, s * one, s * two, s**2])


def _at(counts: np.ndarray, at: np.ndarray, grid: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log-likelihood (T,), its score (T, 3) and minus its second derivatives (T, 3, 3) in m and log σ."""
    z, weight, monomials = _grid(grid)
    sigma = np.exp(at[:, 2])
    x = at[:, :2, None] + sigma[:, None, None] * (_ROOT @ z.T)
    eta = 2 * np.einsum("pi,tin->tpn", SIDES, x)
    lost = -np.logaddexp(0, eta)
    log = np.concatenate([lost + eta, lost], axis=1)
    said = np.concatenate([counts[..., 0], counts[..., 1]], axis=2)
    terms = said @ log + weight
    top = terms.max(axis=2, keepdims=True)
    moments = np.exp(terms - top, out=terms) @ monomials
    value = (top[..., 0] + np.log(moments[..., 0])).sum(axis=1)
    moment = (moments / moments[..., :1])[..., 1:]
    first, second = moment[..., :2], moment[..., [2, 3, 3, 4]].reshape(*moment.shape[:2], 2, 2)
    square, cubic, fourth = moment[..., 2] + moment[..., 4], moment[..., 5:7], moment[..., 7]
    judges = counts.shape[1]
    root = np.broadcast_to(_INVERSE.T, (len(at), 2, 2)) / sigma[:, None, None]  # scores of m are root @ z
    score = np.empty((len(at), 3))
    score[:, :2] = np.einsum("tij,tj->ti", root, first.sum(axis=1))
    score[:, 2] = square.sum(axis=1) - 2 * judges
    spread = second.sum(axis=1) - np.einsum("tgi,tgj->tij", first, first)
    information = np.empty((len(at), 3, 3))
    information[:, :2, :2] = root @ (judges * np.eye(2) - spread) @ root.swapaxes(1, 2)
    mixed = 2 * first.sum(axis=1) - (cubic - square[..., None] * first).sum(axis=1)
    information[:, :2, 2] = information[:, 2, :2] = np.einsum("tij,tj->ti", root, mixed)
    information[:, 2, 2] = 2 * square.sum(axis=1) - (fourth - square**2).sum(axis=1)
    return value, score, information


def _fitted(counts: np.ndarray, start: np.ndarray, held: bool, grid: float) -> Many:
    size, free = len(counts), 2 if held else 3
    at = np.column_stack([start[:, :2], np.log(start[:, 2])])
    value, score, information = (np.full((size, *shape), np.nan) for shape in ((), (3,), (3, 3)))
    moving, gone, beyond = np.arange(size), np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    for _ in range(60):
        value[moving], score[moving], information[moving] = _at(counts[moving], at[moving], grid)
        if not held:
            gone[moving] = (at[moving, 2] < np.log(LEAST)) & (score[moving, 2] <= 0)
            beyond[moving] = (at[moving, 2] >= np.log(LARGEST) - 1e-9) & (score[moving, 2] > 0)
        step, decrement = _newton(score[moving, :free], information[moving, :free, :free])
        left = (decrement > 1e-14) & ~gone[moving] & ~beyond[moving]
        moving, step = moving[left], step[left]
        if not len(moving):
            break
        at[moving, :free] += step / np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
        at[:, 2] = at[:, 2] if held else np.minimum(at[:, 2], np.log(LARGEST))
    at[:, 2] = np.where(gone, 0.0, np.exp(at[:, 2]))
    if len(moving):
        raise ArithmeticError(f"{len(moving)} tables do not converge")
    return Many(at, value, information, beyond)


def _newton(score: np.ndarray, information: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    value, vector = np.linalg.eigh(information)
    value = np.maximum(np.abs(value), 1e-8 * np.abs(value).max(axis=1, keepdims=True))
    gradient = np.einsum("tji,tj->ti", vector, score)
    return np.einsum("tij,tj->ti", vector, gradient / value), (gradient**2 / value).sum(axis=1)


def at_most(res: Many, fallback: Many) -> Many:
    """Return fits whose σ is 0 as those without effects, with no information of log σ (0, and 1 on the diagonal)."""
    zero = res.at[:, 2] == 0
    information = res.information.copy()
    information[zero, :2, :2] = fallback.information[zero, :2, :2]
    information[zero, 2], information[zero, :, 2], information[zero, 2, 2] = 0, 0, 1
    return Many(
        at=np.where(zero[:, None], fallback.at, res.at),
        value=np.where(zero, fallback.value, res.value),
        information=information,
        beyond=res.beyond | fallback.beyond,
    )


def laplace(counts: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return m and σ (T, 3) at the maximum of Laplace's approximation, by Newton's method on differences of values."""
    at = np.column_stack([start[:, :2], np.log(np.maximum(start[:, 2], 0.1))])
    h, moving = 1e-3, np.arange(len(at))
    for _ in range(40):
        here, some = at[moving], counts[moving]
        middle = _laplace(some, here)
        shift = h * np.eye(3)
        up = np.stack([_laplace(some, here + shift[k]) for k in range(3)], axis=1)
        down = np.stack([_laplace(some, here - shift[k]) for k in range(3)], axis=1)
        score, information = (up - down) / (2 * h), np.empty((len(here), 3, 3))
        for i in range(3):
            information[:, i, i] = (2 * middle - up[:, i] - down[:, i]) / h**2
            for j in range(i):
                both = _laplace(some, here + shift[i] + shift[j])
                mixed = (both - up[:, i] - up[:, j] + middle) / h**2
                information[:, i, j] = information[:, j, i] = -mixed
        step, decrement = _newton(score, information)
        gone = (here[:, 2] < np.log(LEAST)) & (score[:, 2] <= 0)
        beyond = here[:, 2] >= np.log(LARGEST) - 1e-9
        left = (decrement > 1e-6) & ~gone & ~beyond
        moving, step = moving[left], step[left]
        if not len(moving):
            break
        at[moving] += 0.5 * step / np.maximum(0.5, np.abs(step).max(axis=1, keepdims=True))
        at[:, 2] = np.minimum(at[:, 2], np.log(LARGEST))
    at[:, 2] = np.where(at[:, 2] < np.log(LEAST), 0.0, np.exp(at[:, 2]))
    return at


def _laplace(counts: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the approximation (T,): at the mode ẑ of each judge log P − ẑ²/2 − ½ log|I + LᵀWL|."""
    sides = 2 * np.exp(at[:, 2])[:, None, None] * (SIDES @ _ROOT)  # (T, 3, 2): log-odds by z
    fixed = 2 * at[:, :2] @ SIDES.T
    wins, total = counts[..., 0], counts.sum(axis=3)
    z = np.zeros((*counts.shape[:2], 2))
    for _ in range(25):
        p = special.expit(fixed[:, None] + z @ sides.swapaxes(1, 2))
        gradient = (wins - total * p) @ sides - z
        weight = total * p * (1 - p)
        a, b, d = (weight @ (sides[..., i] * sides[..., j])[..., None] for i, j in ((0, 0), (0, 1), (1, 1)))
        a, b, d = 1 + a[..., 0], b[..., 0], 1 + d[..., 0]
        root = a * d - b * b
        step = np.stack([d * gradient[..., 0] - b * gradient[..., 1], a * gradient[..., 1] - b * gradient[..., 0]], -1)
        step /= root[..., None]
        z += step / np.maximum(1, np.abs(step).max(axis=2, keepdims=True))
        if np.abs(step).max() < 1e-9:
            break
    eta = fixed[:, None] + z @ sides.swapaxes(1, 2)
    log = -(wins * np.logaddexp(0, -eta) + (total - wins) * np.logaddexp(0, eta)).sum(axis=2)
    return np.asarray((log - 0.5 * (z**2).sum(axis=2) - 0.5 * np.log(root)).sum(axis=1))
