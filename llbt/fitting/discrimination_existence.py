"""Check that the discriminations of judges have finite estimates; judges without one are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack

from ..base.table import counted
from ..core.columns import FloatArray, Label
from ..core.response import Response
from ..errors import SeparationError, listed
from ..kernel.discrimination import DiscriminationFit, Judged
from ..kernel.indexed_rows import Gathered
from ..kernel.likelihood import Problem
from ..kernel.recession import recession_direction
from .discrimination_estimates import Judging

_NEAR = 12.0  # at a predictor this large a maximum may be an effect of rounding
_NAMED = 8  # most judges in a message
_ENTRIES = 1e6  # most comparisons × parameters for which directions are searched
_PERFECT = "whose judgments all agree with the order of the worths, or all with the reverse order"
_TOGETHER = "because in this direction no observed outcome becomes less likely"
_STILL = "because the likelihood rises without end as this discrimination grows beyond all others"
_SMALL = 1e-6  # share of the largest entry of a direction that counts as 0
_EQUAL = 1e-9  # share of the largest difference of worths that counts as 0


def check_finite(judged: Judged, maximum: DiscriminationFit, judging: Judging, names: Sequence[str]) -> None:
    """Raise if the likelihood has no finite maximum: it still rises at very large predictors.

    The message names the judges whose answers all agree with the order of the worths. If there are none, it names the
    infinite discriminations given the worths, or the infinite parameters given the discriminations.

    Raises
    ------
    SeparationError
    """
    far = float(maximum.furthest.max())
    if maximum.converged and far < _NEAR:
        return
    perfect = _perfect(judged, maximum)
    if perfect.any():
        raise _infinite(judging, maximum, perfect, _PERFECT)
    if judged.problem.counts.shape[0] * (judged.size + len(maximum.params)) < _ENTRIES:
        sigmas = _rising_sigmas(judged, maximum)
        if sigmas.any():
            raise _infinite(judging, maximum, sigmas, _TOGETHER)
        params = _rising_params(judged, maximum)
        if params.any():
            gone = [name for name, value in zip(names, params, strict=True) if value]
            raise SeparationError(
                f"with a discrimination of each {judging.name}, {listed(gone)} have no finite estimate",
                "Leave out or merge objects or levels, or fit without discrimination.",
            )
    if not maximum.converged and far >= _NEAR:
        raise _infinite(judging, maximum, np.where(maximum.furthest >= _NEAR, maximum.sigma, 0.0), _STILL)


def _infinite(judging: Judging, maximum: DiscriminationFit, direction: FloatArray, why: str) -> SeparationError:
    """Return the error that names judges with infinite discriminations; signs are relative to the other judges."""
    which = np.flatnonzero(direction)
    totals = np.bincount(judging.judged.judge, judging.judged.problem.totals, judging.judged.size)
    side = -1.0 if totals @ np.where(direction, 0.0, np.sign(maximum.sigma)) < 0 else 1.0
    phrases = [_described(judging.levels[k], side * float(direction[k]), float(totals[k])) for k in which[:_NAMED]]
    more = f" and {len(which) - _NAMED} more" if len(which) > _NAMED else ""
    return SeparationError(
        f"the discrimination of {judging.name} {', '.join(phrases)}{more}, {why}",
        f"Leave {listed([judging.levels[k] for k in which])} out (c.select(where={{{judging.name!r}: […]}})); merge "
        f"judges; or let judges differ by normal effects: (object | {judging.name}).",
    )


def _described(level: Label, sign: float, judgments: float) -> str:
    return f"{level!r} is {'+' if sign > 0 else '−'}∞ ({counted(judgments, 'judgment')})"


def _differences(judged: Judged, maximum: DiscriminationFit) -> FloatArray:
    """Return λᵢ − λⱼ at discrimination 1, (S,); differences due to rounding are set to 0."""
    worth = np.zeros(len(maximum.params))
    worth[judged.scaled] = maximum.params[judged.scaled]
    d = np.array(judged.problem.signed @ worth)
    d[np.abs(d) < _EQUAL * np.abs(d).max(initial=0.0)] = 0.0
    return d


def _perfect(judged: Judged, maximum: DiscriminationFit) -> FloatArray:
    """Return 1 for judges who always choose the object with the larger worth, −1 for the smaller worth, else 0."""
    response, counts = judged.problem.response, judged.problem.counts
    assert isinstance(response, Response)
    score, d = response.loadings[:, 0], _differences(judged, maximum)
    sided = d != 0
    extremes = counts[:, [int(np.argmax(score)), int(np.argmin(score))]]
    for_better = np.where(d > 0, extremes[:, 0], extremes[:, 1])
    for_worse = np.where(d > 0, extremes[:, 1], extremes[:, 0])
    judgments, better, worse = (
        np.bincount(judged.judge[sided], values[sided], judged.size)
        for values in (judged.problem.totals, for_better, for_worse)
    )
    return np.where(judgments > 0, 1.0 * (better == judgments) - 1.0 * (worse == judgments), 0.0)


def _rising_sigmas(judged: Judged, maximum: DiscriminationFit) -> FloatArray:
    """Return a direction of the discriminations, (K,), along which the likelihood never falls if worths are held."""
    problem, size = judged.problem, len(judged.judge)
    shape = (size, judged.size)
    factors = csr_array((_differences(judged, maximum), (np.arange(size), judged.judge)), shape=shape)
    parts = (rows.columns(judged.others).tocsr() for rows in problem.predictors)
    sided = [hstack([csr_array(shape) if b else factors, rows]) for b, rows in enumerate(parts)]
    return _direction(problem, sided)[: judged.size]


def _rising_params(judged: Judged, maximum: DiscriminationFit) -> FloatArray:
    """Return a direction of the parameters along which the likelihood never falls if the discriminations are held."""
    problem, signed = judged.problem, judged.problem.signed.tocsr()
    scaled = np.isin(np.arange(signed.shape[1]), judged.scaled).astype(np.float64)
    factors = diags_array(maximum.sigma[judged.judge]) @ signed @ diags_array(scaled)
    whole = factors + signed @ diags_array(1.0 - scaled)
    return _direction(problem, [whole, *(rows.tocsr() for rows in problem.predictors[1:])])


def _direction(problem: Problem, predictors: Sequence[Any]) -> FloatArray:
    """Return a direction of recession of a problem with other rows, (p,); all entries are 0 if there is none."""
    rows = tuple(Gathered.of(csr_array(part)) for part in predictors)
    direction = recession_direction(replace(problem, predictors=rows))
    if direction is None:
        return np.zeros(rows[0].shape[1])
    return np.where(np.abs(direction) > _SMALL * np.abs(direction).max(), direction, 0.0)
