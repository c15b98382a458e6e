"""The rows of a printed model of whole answers: those of the design, and what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .summary_rows import CoefficientRows, coefficient_rows
from .worth_estimates import WorthEstimates


def rows_beside(res: WorthEstimates, terms: Sequence[str]) -> CoefficientRows:
    """Return the rows of the design, and of the parameters beside it, of each of which the term is given."""
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
