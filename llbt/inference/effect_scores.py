"""Scores (slopes of the log-likelihood) of tables at the estimates of a fit with effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..fitting.clusters import kept_ways
from ..fitting.effect_lines import EffectLines
from ..fitting.protocols import WithEffects
from ..kernel.laplace_fit import NormalLikelihood
from ..kernel.mixed import MixedLikelihood
from .judge_units import rule_of


def effect_scores(res: WithEffects, data: Comparisons) -> FloatArray:
    """Return the score of a table at the estimates of a fit: the slopes of the table's log-likelihood.

    Parameters
    ----------
    res : MixedResults
        A fit with at least one σ above 0.
    data : Comparisons
        The comparisons of the fit, with other counts.

    Returns
    -------
    ndarray, shape (p + A,)
        Slopes in the p fixed parameters, then in the logarithms of the A σ's above 0.
    """
    params, scales = res.solution.params, res.solution.scales
    active = tuple(np.flatnonzero(scales > 0).tolist())
    without = replace(res.without, comparisons=data)
    lines = EffectLines.of(without, res.brackets, kept_ways(data, list(res.judges.groupings)))
    at = np.concatenate([params, np.log(scales[list(active)])])
    if res.judges.crossed is None:
        return MixedLikelihood(lines.problem, lines.grouped().bundles)(at, active, rule_of(res), None).score
    point = NormalLikelihood(lines.problem, lines.crossed(), res.judges.method).at(at, active, None)
    return np.asarray(point.score[np.append(np.arange(len(params)), len(params) + np.array(active))])
