"""Fits by a solver of one's choice, as `LLBT.fit` has it."""

from typing import Any

import llbt


def fit_by(formula: str, data: llbt.Comparisons, *, reference: Any = None, **options: Any) -> llbt.LLBTResults:
    """`llbt.fit` with ``method=`` besides."""
    return llbt.LLBT.from_formula(formula, data, reference=reference).fit(**options)
