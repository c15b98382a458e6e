"""Scores of groups of judgments for one scale of each object, and for all parameters that are not tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .group_modes import Groups, modes
from .indexed_rows import FloatArray, IntArray
from .likelihood import Problem
from .marginal import Integrand, Posterior
from .mixed import MixedFit, restricted
from .quadrature import Quadrature, Sampling


@dataclass(frozen=True, eq=False)
class ObjectScores:
    """Derivatives of the log-likelihood of G groups at the estimate.

    Attributes
    ----------
    objects : ndarray, shape (G, J)
        Derivatives in log σ of the effects on each object's log-worth; their sum is the derivative in the common log σ.
    others : ndarray, shape (G, p + E − 1)
        Derivatives in the fixed parameters, and in the log σ of other effects.
    repeats : ndarray, shape (G,)
        How many groups have these scores.
    """

    objects: FloatArray
    others: FloatArray
    repeats: FloatArray


def object_scores(
    problem: Problem, bundles: Sequence[Groups], maximum: MixedFit, pairs: IntArray, which: int
) -> ObjectScores:
    """Return the scores of groups in a scale of each object.

    Parameters
    ----------
    problem : Problem
    bundles : sequence of Groups
    maximum : MixedFit
        The fit whose effects were integrated at points.
    pairs : ndarray of int, shape (S, 2)
        The objects of each comparison.
    which : int
        The scale of the effects on log-worths, above 0.

    Notes
    -----
    With effects b ~ N(0, D) the derivative of log ∫ f(y | b) φ(b; D) db in D_ii is half the posterior mean of
    ∂²f/∂bᵢ² / f = sᵢ² − Wᵢᵢ, where s and W are the score and the information of the judgments in b. The derivative in
    log σᵢ is σ² times the mean. Both depend only on differences of the effects, and these are integrated over.
    """
    active = tuple(np.flatnonzero(maximum.scales).tolist())
    scales, place = maximum.scales[list(active)], active.index(which)
    eta = np.stack(problem.at(maximum.params))
    rows = [predictor.toarray() for predictor in problem.predictors]
    parts = []
    assert isinstance(maximum.rule, (Quadrature, Sampling))  # `untestable` has excluded other rules
    for k, bundle in enumerate(bundles):
        groups = restricted(bundle, active)
        integrand = Integrand.of(problem, groups, k, eta, scales, maximum.rule, maximum.modes[k])
        for part, block in map(integrand.posterior, integrand.blocks()):
            own = scales[place] ** 2 * _curvature(part, block, pairs)
            parts.append((own, np.concatenate(list(_others(part, block, rows, place)), axis=1), part.repeats))
    objects, others, repeats = (np.concatenate(column) for column in zip(*parts, strict=True))
    return ObjectScores(objects, others, repeats)


def drawn_judges(
    problem: Problem, bundles: Sequence[Groups], maximum: MixedFit, each: int, rng: np.random.Generator
) -> tuple[list[Groups], MixedFit]:
    """Return groups simulated from a fit, with as many judgments as in the data, and the fit with their modes.

    All groups of each bundle are drawn, `each` times in a row.
    """
    active = tuple(np.flatnonzero(maximum.scales).tolist())
    scales, eta = maximum.scales[list(active)], np.stack(problem.at(maximum.params))
    groups, modes_of = [], []
    for bundle in bundles:
        once = np.repeat(np.arange(len(bundle.rows)), np.rint(bundle.repeats).astype(np.int64))
        every = np.tile(once, each)
        rows, loadings = bundle.rows[every], bundle.loadings[:, every]
        some = restricted(replace(bundle, rows=rows, loadings=loadings, repeats=np.ones(len(every))), active)
        moved = some.loadings * scales[some.scale]
        effects = rng.normal(size=(len(every), some.size))
        predictors = eta[:, rows] + np.einsum("bgrd,gd->bgr", moved, effects)
        p, _ = problem.response.probabilities(predictors.reshape(len(eta), -1))
        totals = np.rint(bundle.counts[:, every].sum(axis=0)).astype(np.int64)
        outcomes = (
            rng.multinomial(totals.ravel(), (p / p.sum(axis=0)).T).T.astype(np.float64).reshape(len(p), *rows.shape)
        )
        groups.append(replace(bundle, rows=rows, loadings=loadings, counts=outcomes, repeats=np.ones(len(every))))
        some = replace(some, counts=outcomes)
        modes_of.append(modes(problem.response, some, eta[:, rows], moved, np.zeros(effects.shape)))
    return groups, replace(maximum, modes=tuple(modes_of))


def _curvature(part: Groups, block: Posterior, pairs: IntArray) -> FloatArray:
    """Return the posterior means of sᵢ² − Wᵢᵢ, shape (G, J)."""
    size, lines = part.rows.shape
    signs = np.zeros((size, lines, int(pairs.max()) + 1))
    group, line = np.indices(part.rows.shape)
    signs[group, line, pairs[part.rows, 0]] = 1.0
    signs[group, line, pairs[part.rows, 1]] = -1.0
    score = signs.swapaxes(1, 2) @ block.score[0]  # (G, J, N)
    weight = (signs**2).swapaxes(1, 2) @ block.weight[0, 0]
    return np.asarray(((score**2 - weight) @ block.share[:, :, None])[..., 0])


def _others(part: Groups, block: Posterior, rows: Sequence[FloatArray], place: int) -> Iterator[FloatArray]:
    """Yield the scores in the fixed parameters, (G, p), and in each other log σ, (G, 1)."""
    mean = (block.score @ block.share[:, :, None])[..., 0]  # (B, G, R)
    yield np.asarray(sum(np.einsum("gr,grp->gp", one, x[part.rows]) for one, x in zip(mean, rows, strict=True)))
    for e, moved in enumerate(block.moved):
        if e != place:
            pull = (block.score * moved).sum(axis=(0, 2))
            yield np.einsum("gn,gn->g", pull, block.share)[:, None]
