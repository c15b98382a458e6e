"""Scores of tables at the estimates of a fit whose effects a normal density approximates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..fitting.clusters import kept_ways
from ..fitting.effect_lines import EffectLines
from ..fitting.protocols import WithEffects
from ..kernel.laplace_fit import NormalLikelihood


def effect_scores(res: WithEffects, data: Comparisons) -> FloatArray:
    """Return the slopes of the log-likelihood of a table at the estimates of a fit.

    Parameters
    ----------
    res : MixedResults
        A fit with some σ above 0, by expectation propagation or Laplace's approximation.
    data : Comparisons
        The comparisons of the fit with any counts.

    Returns
    -------
    ndarray, shape (p + A,)
        In the fixed parameters, and in the logarithm of each σ above 0.
    """
    params, scales = res.solution.params, res.solution.scales
    active = tuple(np.flatnonzero(scales > 0).tolist())
    without = replace(res.without, comparisons=data)
    lines = EffectLines.of(without, res.brackets, kept_ways(data, list(res.judges.groupings)))
    likelihood = NormalLikelihood(lines.problem, lines.crossed(), res.judges.method)
    point = likelihood.at(np.concatenate([params, np.log(scales[list(active)])]), active, None)
    return np.asarray(point.score[np.append(np.arange(len(params)), len(params) + np.array(active))])
