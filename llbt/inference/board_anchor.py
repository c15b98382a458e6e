"""The zero of a leaderboard: the mean of the log-worths, or an object with a given value."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from ..base.arguments import JUDGED_INSIDE
from ..core.columns import Label, is_among
from ..errors import DesignError, OptionError, listed, safe_repr
from ..fitting.estimates import Estimates
from ..fitting.protocols import FitLike
from .log_worths import LogWorths
from .scales import Scale

Anchor = Annotated[Label | Mapping[Any, float], JUDGED_INSIDE]

_LOG_SCALES = ("log_worth", "log_odds", "elo")


def read_anchor(res: FitLike, anchor: Anchor | None, scale: Scale, graded: bool) -> tuple[Label | None, float]:
    """Return the object from which estimates are measured, and its value on the scale."""
    if anchor is None:
        return None, 0.0
    label, value = _one_value(anchor, scale) if isinstance(anchor, Mapping) else (anchor, 0.0)
    if scale == "probability" and not graded:
        raise OptionError(
            "worths sum to 1 and have no anchor",
            f"Choose scale='odds_ratio' for odds against {label!r}, or ask pairwise(res, scale='probability').",
        )
    objects = res.comparisons.objects
    if not is_among(label, set(objects)):
        raise OptionError(
            f"anchor {safe_repr(label)} is not an object", expected=f"one of the table: {listed(objects, 20)}"
        )
    return label, value


def _one_value(anchor: Mapping[Any, float], scale: Scale) -> tuple[Label, float]:
    if len(anchor) != 1:
        raise OptionError(f"anchor={dict(anchor)!r}", expected="a value for one object, such as {'A': 1000}")
    ((label, value),) = anchor.items()
    if not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
        raise OptionError(f"anchor={dict(anchor)!r}", expected="a finite number as the value")
    if scale not in _LOG_SCALES:
        raise OptionError(
            f"anchor={dict(anchor)!r} with scale={scale!r}",
            f"On {scale!r} name the object alone: anchor={label!r}.",
            expected=f"a scale on which differences count: {listed(_LOG_SCALES)}",
        )
    return label, float(value)


def anchored(res: Estimates, log_worths: LogWorths, label: Label) -> LogWorths:
    """Return log-worths relative to one object, whose log-worth becomes 0."""
    k = res.comparisons.objects.index(label)
    if np.isnan(log_worths.estimate[k]):
        raise DesignError(f"the table does not compare {label!r} with the other objects here", "Choose another anchor.")
    shift = np.eye(len(log_worths.estimate))
    shift[:, k] -= 1
    return log_worths.combined(shift, log_worths.estimate - log_worths.estimate[k])
