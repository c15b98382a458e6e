"""Test whether judges differ equally on all objects: a score test of a common σ of the effects on log-worths."""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg

from ..base.table import format_count
from ..core.columns import FloatArray
from ..core.statistics import TestResult
from ..errors import DesignError
from ..kernel.object_scores import ObjectScores, drawn_judges, object_scores
from ..kernel.quadrature import Quadrature, Sampling
from ..resampling import p_value
from .merged_rows import distinct
from .mixed_estimates import MixedEstimates

_ZERO = 1e-8  # eigenvalues below this share of the largest count as 0
_JUDGES = 2000  # judges that are drawn in total
_LEAST = 4  # least number of judges drawn for each judge
_DRAWS = 9999  # sums of the drawn judges' scores


def untestable(res: MixedEstimates) -> str:
    """Return why equal σ cannot be tested, or an empty text if it can."""
    effects = [bracket.effect for bracket in res.brackets]
    if "object" not in effects:
        return "the fit has no effects on log-worths"
    by = [bracket.by for bracket in res.brackets if bracket.of_objects and bracket.by]
    if by:
        return f"the fit has a σ for each level of {by[0]!r}"
    if len(res.comparisons.objects) < 3:
        return "for two objects only the sum of the two variances is identified"
    if not res.maximum.scales[effects.index("object")] > 0:
        return "σ is 0, so that judges do not differ on any object"
    if not isinstance(res.maximum.rule, (Quadrature, Sampling)):
        return "the test needs effects that are integrated out by quadrature or sampling"
    return ""


def equal_scales_test(res: MixedEstimates, rng: np.random.Generator) -> TestResult:
    """Return the score test of equal σ for all objects; see `MixedResults.equal_scales_test`."""
    why = untestable(res)
    if why:
        raise DesignError(f"no test of equal σ per object: {why}.")
    which = [bracket.effect for bracket in res.brackets].index("object")
    without, judges = res.without, res.judges
    _, first, _ = distinct(without.design, without.problem(), list(without.comparisons.pairs.T))
    pairs = without.comparisons.pairs[first]
    seen = object_scores(judges.problem, judges.grouped.bundles, res.maximum, pairs, which)
    each = max(_LEAST, math.ceil(_JUDGES / len(judges.levels)))
    bundles, drawn_scores = drawn_judges(judges.problem, judges.grouped.bundles, res.maximum, each, rng)
    parted = _parted(object_scores(judges.problem, bundles, drawn_scores, pairs, which))
    ends = np.cumsum([len(bundle.rows) for bundle in bundles])[:-1]
    drawn = [
        np.concatenate([part.reshape(each, -1, part.shape[1]) for part in np.split(scores, ends)], axis=1)
        for scores in parted
    ]
    statistic, df, p = _tested(seen, drawn[0], drawn[1], rng)
    return TestResult(
        name="Score test of equal σ per object",
        null="judges differ as much on one object as on another",
        statistic=statistic,
        df=df,
        p_value=p,
        distribution="scores of judges drawn from the fit",
        notes=(
            f"p-value from {format_count(_DRAWS)} simulated sums of scores, {each} simulated judges for each judge",
        ),
    )


def _tested(
    seen: ObjectScores, alike: FloatArray, beside: FloatArray, rng: np.random.Generator
) -> tuple[float, int, float]:
    """Return statistic, df and p-value.

    R judges are simulated for each judge. With their scores in the tested parameters, (R, G, q), and in the others,
    (R, G, m), the tested scores are made orthogonal to the others.
    """
    tested, other = _parted(seen)
    size = len(alike)
    slopes = linalg.lstsq(np.einsum("rgm,rgn->mn", beside, beside), np.einsum("rgm,rgq->mq", beside, alike))[0]
    alike = alike - beside @ slopes
    alike = (alike - alike.mean(axis=0)) * math.sqrt(size / (size - 1))
    value, vector = np.linalg.eigh(np.einsum("rgp,rgq->pq", alike, alike) / size)
    positive = value > _ZERO * value.max()
    root = vector[:, positive] / np.sqrt(value[positive])
    statistic = float(np.sum((seen.repeats @ (tested - other @ slopes) @ root) ** 2))
    sums = np.zeros((_DRAWS, int(positive.sum())))
    for of_judge in (alike @ root).swapaxes(0, 1):
        sums += of_judge[rng.integers(size, size=_DRAWS)]
    return statistic, int(positive.sum()), p_value(np.sum(sums**2, axis=1), statistic)


def _parted(scores: ObjectScores) -> tuple[FloatArray, FloatArray]:
    """Return scores in contrasts of the objects' log σ, (G, J − 1), and in all untested parameters, (G, m)."""
    size = scores.objects.shape[1]
    contrasts = linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0][:, 1:]
    return scores.objects @ contrasts, np.column_stack([scores.others, scores.objects.sum(axis=1)])
