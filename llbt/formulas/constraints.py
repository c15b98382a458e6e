"""Read linear hypotheses about the parameters, given as texts or arrays; texts are parsed and cannot run code."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import patsy
from patsy.constraint import parse_constraint

from ..core.columns import FloatArray, real_array
from ..errors import OptionError, listed, safe_repr

Hypothesis = str | Sequence[str] | npt.ArrayLike

_MOST_CHARACTERS = 30_000
_MOST_NESTED = 200  # most nested operators, because patsy handles them by recursion


def read_hypothesis(
    hypothesis: Any, names: Sequence[str], others: Mapping[str, Sequence[int]]
) -> tuple[list[str], FloatArray, FloatArray]:
    """Return the labels, coefficients (k, p) and right-hand sides (k,) of k linear hypotheses.

    `names` are the p parameters. `others` are further effects that a text may name. Each is minus the sum of the
    parameters at the given positions. The reference of treatment coding has no positions, so its effect is 0.
    """
    if isinstance(hypothesis, str):
        return _read_text([hypothesis], names, others)
    if isinstance(hypothesis, Sequence) and hypothesis and all(isinstance(h, str) for h in hypothesis):
        return _read_text(hypothesis, names, others)
    try:
        matrix = np.atleast_2d(real_array(hypothesis))
        if not np.isfinite(matrix).all():
            raise ValueError
    except (TypeError, ValueError):
        raise OptionError(
            f"hypothesis={safe_repr(hypothesis):.80}",
            expected="a text such as 'object[A] = 0', a list of texts, or an array of finite numbers",
        ) from None
    p = len(names)
    if matrix.ndim != 2 or matrix.shape[1] != p or not len(matrix):
        raise OptionError(
            f"hypothesis is an array of shape {matrix.shape}",
            expected=f"shape (k, {p}) with at least one row: the coefficients of {listed(names)}",
        )
    return [f"hypothesis {k}" for k in range(len(matrix))], matrix, np.zeros(len(matrix))


def _read_text(
    texts: Sequence[str], parameters: Sequence[str], others: Mapping[str, Sequence[int]]
) -> tuple[list[str], FloatArray, FloatArray]:
    """Read hypotheses with patsy."""
    names = [*parameters, *others]
    if not all(text.strip() for text in texts):
        raise OptionError("hypothesis: the text is empty", f"Write a hypothesis such as '{names[0]} = 0'.")
    try:
        for text in texts:
            _check_size(text, names)
        with np.errstate(all="ignore"):  # values that are not finite are refused below
            constraints = [patsy.DesignInfo(names).linear_constraint(text) for text in texts]
    except patsy.PatsyError as error:
        raise OptionError(f"hypothesis: {error}\n  A hypothesis may name {listed(names, 12)}.") from None
    coefs = np.vstack([constraint.coefs for constraint in constraints])
    matrix = coefs[:, : len(parameters)].copy()
    for column, at in zip(coefs[:, len(parameters) :].T, others.values(), strict=True):
        matrix[:, list(at)] -= column[:, None]
    right = np.concatenate([constraint.constants.ravel() for constraint in constraints])
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        raise OptionError(
            f"hypothesis: {listed(texts)}: a coefficient or constant is not finite", expected="finite numbers"
        )
    labels = [label for text, c in zip(texts, constraints, strict=True) for label in _labels(text, len(c.coefs))]
    return labels, matrix, right


def _check_size(text: str, names: list[str]) -> None:
    """Raise for a hypothesis that is too large for patsy, which evaluates it by recursion."""
    if len(text) > _MOST_CHARACTERS:
        raise OptionError(
            f"hypothesis has {len(text):,} characters",
            "Pass an array of coefficients: a row for each hypothesis, a column for each estimated parameter.",
            expected=f"at most {_MOST_CHARACTERS:,}",
        )
    level = [parse_constraint(text, names)]
    for _ in range(_MOST_NESTED):
        level = [part for node in level for part in node.args]
        if not level:
            return
    raise OptionError(
        f"hypothesis: {text[:60]!r}… nests more than {_MOST_NESTED} operators",
        "Pass several texts, or an array of coefficients.",
    )


def _labels(text: str, size: int) -> list[str]:
    """Return a label for each hypothesis in a text; commas or a chain of equals signs separate the hypotheses."""
    if size == 1:
        return [text.strip()]
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == size:
        return parts
    chain = [part.strip() for part in text.split("=")]
    if len(chain) == size + 1:
        return [f"{left} = {right}" for left, right in itertools.pairwise(chain)]
    return [f"{text.strip()} [{k}]" for k in range(size)]
