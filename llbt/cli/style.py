"""Style control in the shell: the side columns it reads, and both leaderboards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import llbt

from .inputs import asked_of, in_groups
from .messages import working
from .options import Counting, Model
from .signatures import given
from .values import option_of, sides, wrong

_BOTH_FITS = ("cov_type", "groups", "prior")  # options of the fits that style control takes


def with_style(counting: Counting, style: Sequence[str]) -> Counting:
    """Return the options of counting, with the columns NAME_a and NAME_b of each style that has no columns yet."""
    text = counting.side_covariates
    there = {} if text is None else sides("side_covariates", text)
    added = [f'"{name}={name}_a:{name}_b"' for name in style if name not in there]
    return replace(counting, side_covariates=",".join([*([] if text is None else [text]), *added]))


def style_control(
    data: llbt.Comparisons | llbt.Rankings,
    style: Sequence[str],
    formula: str | None,
    model: Model,
    *,
    at: Any,
    scale: Any,
    confidence: float,
    lacking: Mapping[str, Any],
) -> Any:
    """Return both leaderboards; refuse given options that style control lacks."""
    defaults = ("auto", "adjacent")
    of_fit = {name: x for name, x in given(model).items() if name not in _BOTH_FITS and x not in defaults}
    refused = [name for name, value in {**lacking, **of_fit}.items() if value not in (None, False)]
    if refused:
        raise wrong(refused[0], f"it does not go together with {option_of('style')}; leave one of the two out.")
    if not isinstance(data, llbt.Comparisons):
        raise wrong("style", "it is for judgments of two objects, with a column for each side.")
    fits = {name: value for name, value in asked_of(model, data).items() if name in _BOTH_FITS}
    with working("fitting"), in_groups(data):
        return llbt.style_control(data, style, formula, at=at, scale=scale, confidence=confidence, **fits)
