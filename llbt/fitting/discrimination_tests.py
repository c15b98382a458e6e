"""Tests of a fit with discriminations against two models: equal discriminations, and separate worths for each judge."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..base.table import Qualifying, format_number
from ..core.statistics import TestResult, chi2_p_value
from ..errors import DesignError
from .clusters import RATIOS, independence_note
from .discrimination_estimates import DiscriminationEstimates
from .estimates import Estimates

_ALIKE = 10.0  # below this Wald χ² of the pooled worths per df, the ratio is far from χ²


def equality_test(res: DiscriminationEstimates) -> TestResult:
    """Return the test that all discriminations are 1; see `DiscriminationResults.equality_test`."""
    statistic, df = max(0.0, res.without.deviance - res.deviance), len(res.judging.levels) - 1
    return _ratio_test(res, "equal discriminations", "σ = 1 for every judge", statistic, df)


def proportionality_test(res: DiscriminationEstimates) -> TestResult:
    """Return the test against separate worths for each judge; see `DiscriminationResults.proportionality_test`."""
    wider = res.wider.res
    if wider is None:
        raise DesignError(f"{res.wider.formula!r} has no fit to test against: {res.wider.reason}")
    statistic, df = max(0.0, res.deviance - wider.deviance), res.df_resid - wider.df_resid
    null = "each judge's worths are the common worths times a factor"
    return _ratio_test(res, "proportional worths", null, statistic, df)


def _ratio_test(res: DiscriminationEstimates, tested: str, null: str, statistic: float, df: int) -> TestResult:
    return TestResult(
        name=f"Likelihood-ratio test of {tested} of {res.judging.name}",
        null=null,
        statistic=statistic,
        df=df,
        p_value=chi2_p_value(statistic, df),
        distribution=f"χ²({df})",
        notes=(*alike_notes(res.without), *independence_note(res.groups, RATIOS)),
    )


def alike_notes(without: Estimates) -> tuple[str, ...]:
    """Return a note if the worths are so close to each other that discriminations are hardly identified."""
    rows = [k for k, f in enumerate(without.free) if without.design.blocks[f] == "worth"]
    worths = without.solution.params[rows]
    wald = float(worths @ linalg.solve(without.covariance.matrix[np.ix_(rows, rows)], worths, assume_a="pos"))
    if wald >= _ALIKE * len(rows):
        return ()
    return (
        Qualifying(
            f"The pooled worths hardly differ, given their standard errors (Wald's χ² {format_number(wald, 3)} on "
            f"{len(rows)} df). Discriminations are not identified if worths are equal, and then the likelihood ratio "
            "has no χ² distribution."
        ),
    )
