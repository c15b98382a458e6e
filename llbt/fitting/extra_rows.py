"""The rows of a printed model of rankings or patterns, and the lines around the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.table import counted, format_count, format_figure
from .summary import integer_levels
from .summary_rows import CoefficientRows, coefficient_rows
from .worth_estimates import WorthEstimates


def rows_beside(res: WorthEstimates, terms: Sequence[str]) -> CoefficientRows:
    """Return the rows of the worths and of the further parameters; `terms` has the term of each further parameter."""
    rows, names = coefficient_rows(res.average), list(res.names_beside)
    estimate, error, statistic, p_value = (
        np.append(values, more.loc[names].to_numpy(dtype=np.float64)).astype(np.float64)
        for values, more in (
            (rows.estimate, res.params),
            (rows.error, res.bse),
            (rows.statistic, res.tvalues),
            (rows.p_value, res.pvalues),
        )
    )
    return CoefficientRows(
        [*rows.names, *names],
        [*rows.terms, *terms],
        [*rows.blocks, *terms],
        estimate,
        error,
        statistic,
        p_value,
        np.append(rows.without, np.zeros(len(names), dtype=np.bool_)),
    )


def data_lines(res: WorthEstimates, formula: str, sizes: Sequence[str]) -> list[str]:
    """Return the formula and the sizes of the data."""
    reference = f" (reference {res.design.reference})" if res.design.reference_rows else ""
    data = f"Data: {sizes[0]}{reference}, {', '.join(sizes[1:])}{integer_levels(res.average)}"
    return [f"Formula: {formula}", data]


def fit_lines(res: WorthEstimates, of: str) -> tuple[str, ...]:
    """Return the log-likelihood of the answers, the information criteria, and the steps of the search."""
    return (
        f"Log-likelihood: {format_figure(res.llf)} (of the {of}, Σ n log p) with {counted(res.n_params, 'parameter')}",
        f"AIC: {format_figure(res.aic)}   BIC: {format_figure(res.bic)} (N = {format_count(res.n_judgments)})",
        f"Newton's method: {counted(res.n_iter, 'step')}",
    )
