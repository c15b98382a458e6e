"""Outcome probabilities of each class of judges, and of the mixture of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..base.table import Table
from ..formulas.grid import At, is_average
from .asked_groups import By
from .class_worths import MOST_ROWS, ClassWorths
from .prediction import (
    chances_of,
    comparisons_of,
    long_table,
    own_comparisons,
    pairs_at,
    place_of,
    predicted,
    slopes_of,
)

_MIXTURE = "class all: a judge drawn from all classes, Σ π_k P_k"


def class_predictions(
    of: ClassWorths, frame: Any, at: At, confidence: float, by: By | None = None, weights: Any = None
) -> Table:
    """Return the predictions of all classes one below another, and then those of the mixture."""
    at = place_of(of.pooled, frame, at, by, weights)
    stacked = of.stacked(lambda one: predicted(one, frame, at, confidence))
    mixed = _mixture(of, frame, at, confidence)
    columns = {field.name: field.values for field in mixed.fields}
    size = len(mixed.fields[0].values)
    columns |= {"class": ["all"] * size, "share": np.ones(size)}
    fields = tuple(
        replace(f, values=[*f.values, *columns[f.name]], kind="composed" if f.name == "class" else f.kind)
        for f in stacked.fields
    )
    return replace(stacked, fields=fields, notes=(*stacked.notes, _MIXTURE)).first(MOST_ROWS)


def _mixture(of: ClassWorths, frame: Any, at: At, confidence: float) -> Table:
    """Return the predictions for a judge drawn from all classes, with delta-method errors from all parameters."""
    shown: dict[str, list[Any]] = {}
    mix: csr_array | None = None
    chances, slopes = [], []
    for res, share in zip(of.each, of.shares, strict=True):
        if frame is not None:
            problem, shown = comparisons_of(res, frame)
        elif isinstance(at, Mapping) or is_average(at):
            asked = pairs_at(res, at)
            problem, shown, mix = asked.problem, asked.shown, asked.mix
        else:
            problem, shown = own_comparisons(res)
        mixed_chances = chances_of(res, problem)
        slope = slopes_of(problem, mixed_chances, res.free)
        if mix is not None:
            mixed_chances, slope = (
                mix @ mixed_chances,
                (mix @ slope.reshape(len(slope), -1)).reshape(-1, *slope.shape[1:]),
            )
        chances.append(mixed_chances)
        slopes.append(share * slope)
    every = np.stack(chances)  # (K, R, C)
    gradient = np.concatenate([*slopes, np.moveaxis(np.tensordot(of.share_slopes, every, (0, 0)), 0, -1)], axis=2)
    variance = np.einsum("rcp,rcp->rc", gradient @ of.covariance, gradient)
    estimate = np.tensordot(of.shares, every, 1)
    error = np.sqrt(np.maximum(variance, 0))
    return long_table(of.each[0], shown, (estimate, error, np.full(len(error), np.inf)), confidence, ())
