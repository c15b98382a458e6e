"""Groups of judgments with normal effects of their own: the likelihood at given effects, and its mode.

Notation: G groups, R lines of counts in each group (a line has the group's judgments of one comparison), B predictors,
K outcomes, d independent standard normal effects w of a group, E scales σ. The predictors of a line are η + A w, with η
= xβ and the loadings A = Z diag(σ).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..core.links import AnyResponse
from .indexed_rows import FloatArray, IntArray

_ITERATIONS = 60
_AT_MODE = 1e-10  # squared distance to the mode, in its own standard deviations, that counts as reached
_HALVINGS = 20


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups with equally many effects; groups with fewer than R lines are padded with lines without judgments.

    Attributes
    ----------
    rows : ndarray of int, shape (G, R)
        The comparison of each line.
    counts : ndarray, shape (K, G, R)
    loadings : ndarray, shape (B, G, R, d)
        Z: how the effects enter the predictors, before they are multiplied by their scale.
    scale : ndarray of int, shape (d,)
        The scale of each effect, 0 … E − 1.
    repeats : ndarray, shape (G,)
        How many groups have exactly these judgments.
    """

    rows: IntArray
    counts: FloatArray
    loadings: FloatArray
    scale: IntArray
    repeats: FloatArray

    @property
    def size(self) -> int:
        """Number of effects d."""
        return len(self.scale)

    def take(self, some: slice) -> Groups:
        """Return a selection of the groups."""
        return replace(
            self,
            rows=self.rows[some],
            counts=self.counts[:, some],
            loadings=self.loadings[:, some],
            repeats=self.repeats[some],
        )

    def blocks(self, points: int, most: float) -> Iterator[slice]:
        """Yield blocks of groups; an array over the lines of a block has about `most` numbers at `points` points."""
        step = max(1, int(most / max(1, points * self.rows.shape[1] * len(self.loadings))))
        for start in range(0, len(self.rows), step):
            yield slice(start, start + step)


@dataclass(frozen=True, eq=False)
class Modes:
    """The mode of each group: where the likelihood times the density of the effects is largest.

    Attributes
    ----------
    at : ndarray, shape (G, d)
        The effects, in standard deviations σ.
    height : ndarray, shape (G,)
        Log-likelihood less half the squared length of the effects.
    information : ndarray, shape (G, d, d)
        Minus the second derivatives there, I + AᵀWA.
    score : ndarray, shape (B, G, R)
        Derivatives of the log-likelihood in the predictors.
    weight : ndarray, shape (B, B, G, R)
        W, minus the second derivatives.
    """

    at: FloatArray
    height: FloatArray
    information: FloatArray
    score: FloatArray
    weight: FloatArray


def contributions(
    response: AnyResponse, predictors: FloatArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Σ y log p of lines (…,), its gradient (B, …) and minus its second derivatives (B, B, …).

    Parameters
    ----------
    response : Response or Cumulative
    predictors : ndarray, shape (B, …)
    counts : ndarray
        Of a shape that broadcasts to (K, …).
    """
    shape = predictors.shape[1:]
    flat = predictors.reshape(len(predictors), -1)
    counts_by_line = np.broadcast_to(counts, (len(counts), *shape)).reshape(len(counts), -1)
    value, score, weight = response.contributions(flat, counts_by_line)
    width = len(predictors)
    return value.reshape(shape), score.reshape(width, *shape), weight.reshape(width, width, *shape)


def modes(response: AnyResponse, groups: Groups, eta: FloatArray, loadings: FloatArray, start: FloatArray) -> Modes:
    """Return the modes of all groups by Newton's method; steps that do not increase the likelihood are halved.

    Parameters
    ----------
    response : Response or Cumulative
    groups : Groups
    eta : ndarray, shape (B, G, R)
    loadings : ndarray, shape (B, G, R, d)
        A, in units of standard normal effects.
    start : ndarray, shape (G, d)
    """
    points = _at(response, groups, eta, loadings, start)
    moving = np.arange(len(start))
    for _ in range(_ITERATIONS):
        step, decrement = _newton(points, loadings, moving)
        moving, step = moving[decrement > _AT_MODE], step[decrement > _AT_MODE]
        if not len(moving):
            break
        _climb(response, groups, eta, loadings, points, moving, step)
    return points


def _at(response: AnyResponse, groups: Groups, eta: FloatArray, loadings: FloatArray, at: FloatArray) -> Modes:
    predictors = eta + np.einsum("bgrd,gd->bgr", loadings, at)
    value, score, weight = contributions(response, predictors, groups.counts)
    information = np.eye(at.shape[1]) + gram(loadings, weight)
    return Modes(at.copy(), value.sum(axis=1) - 0.5 * (at**2).sum(axis=1), information, score, weight)


def gram(loadings: FloatArray, weight: FloatArray) -> FloatArray:
    """Return AᵀWA of each group, shape (G, d, d)."""
    width = len(loadings)
    weighted = [sum(weight[b, c][:, :, None] * loadings[c] for c in range(width)) for b in range(width)]
    return np.asarray(sum(loadings[b].swapaxes(1, 2) @ weighted[b] for b in range(width)))


def _newton(points: Modes, loadings: FloatArray, moving: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return Newton's steps of some groups, and their squared length in standard deviations."""
    some = loadings[:, moving]
    gradient = np.einsum("bgrd,bgr->gd", some, points.score[:, moving]) - points.at[moving]
    step = np.linalg.solve(points.information[moving], gradient[:, :, None])[:, :, 0]
    return step, np.einsum("gd,gd->g", gradient, step)


def _climb(
    response: AnyResponse,
    groups: Groups,
    eta: FloatArray,
    loadings: FloatArray,
    points: Modes,
    moving: IntArray,
    step: FloatArray,
) -> None:
    """Take the steps of some groups, each halved until the height does not fall, and store the values there."""
    left = np.arange(len(moving))
    for _ in range(_HALVINGS):
        some = moving[left]
        part = replace(groups, rows=groups.rows[some], counts=groups.counts[:, some])
        tried = _at(response, part, eta[:, some], loadings[:, some], points.at[some] + step[left])
        better = tried.height >= points.height[some] - 1e-12 * np.abs(points.height[some])
        into = some[better]
        points.at[into], points.height[into] = tried.at[better], tried.height[better]
        points.information[into] = tried.information[better]
        points.score[:, into], points.weight[:, :, into] = tried.score[:, better], tried.weight[:, :, better]
        left = left[~better]
        if not len(left):
            return
        step[left] /= 2
