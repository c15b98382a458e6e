"""Do judges differ as much on one object as on another? A score test of the one σ that effects on log-worths have."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray
from ..core.statistics import TestResult
from ..errors import DesignError
from ..kernel.cluster_tests import Scores, flipped
from ..kernel.object_scores import ObjectScores, object_scores
from ..kernel.quadrature import Quadrature, Sampling
from .distinct import distinct
from .mixed_estimates import MixedEstimates

_ZERO = 1e-8  # share of the largest eigenvalue below which one is 0


def untestable(res: MixedEstimates) -> str:
    """Return why equal σ cannot be tested; nothing where it can."""
    effects = [bracket.effect for bracket in res.brackets]
    if "object" not in effects:
        return "the fit has no effects on log-worths"
    if len(res.comparisons.objects) < 3:
        return "of two objects only the sum of the two variances is known"
    if not res.solution.scales[effects.index("object")] > 0:
        return "σ is 0, so that judges do not differ on any object"
    if not isinstance(res.solution.rule, (Quadrature, Sampling)):
        return "the test needs effects that are integrated at points"
    return ""


def equal_scales_test(res: MixedEstimates) -> TestResult:
    """Return the score test of equal σ per object; see `MixedResults.equal_scales_test`."""
    why = untestable(res)
    if why:
        raise DesignError(f"no test of equal σ per object: {why}.")
    which = [bracket.effect for bracket in res.brackets].index("object")
    judges = res.judges
    without = res.without
    _, first, _ = distinct(without.design, without.problem(), list(without.comparisons.pairs.T))
    pairs = without.comparisons.pairs[first]
    scores = object_scores(judges.problem, judges.grouped.bundles, res.solution, pairs, which)
    efficient = _efficient(scores)
    found = flipped(efficient, efficient.own.shape[1])
    return TestResult(
        name="Score test of equal σ per object",
        null="judges differ as much on one object as on another",
        statistic=found.statistic,
        df=found.df,
        p_value=found.p_value,
        distribution="flips of the signs of judges' scores",
        notes=(found.said(judges.name),),
    )


def _efficient(found: ObjectScores) -> Scores:
    """Return the judges' scores in contrasts of log σ, made orthogonal to those of all other parameters.

    The information is that of the outer products of the judges' scores; contrasts that they do not know are left out.
    """
    size = found.objects.shape[1]
    contrasts = linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0][:, 1:]
    tested, other = found.objects @ contrasts, np.column_stack([found.others, found.objects.sum(axis=1)])
    weighted = found.repeats[:, None] * other
    slopes = linalg.lstsq(weighted.T @ other, weighted.T @ tested)[0]
    own = _whitened(tested - other @ slopes, found.repeats)
    beside = _whitened(other, found.repeats)
    times = np.rint(found.repeats).astype(np.int64)
    own, beside = np.repeat(own, times, axis=0), np.repeat(beside, times, axis=0)
    return Scores(own, own[:, :, None] * beside[:, None, :], np.empty((0, own.shape[1])))


def _whitened(scores: FloatArray, repeats: FloatArray) -> FloatArray:
    """Return combinations of scores whose sum of squares over all judges is 1, as many as are independent."""
    value, vector = np.linalg.eigh(scores.T @ (repeats[:, None] * scores))
    kept = value > _ZERO * max(value.max(initial=0.0), np.finfo(float).tiny)
    return np.asarray(scores @ vector[:, kept] / np.sqrt(value[kept]))
