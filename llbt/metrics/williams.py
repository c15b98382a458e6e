"""Williams' test of two correlations that share a variable."""

from __future__ import annotations

import math

from scipy import stats

from ..base.arguments import Number, checked, is_real
from ..classical.sign_rules import Alternative
from ..core.columns import FloatArray
from ..core.statistics import TestResult
from ..errors import OptionError
from .correlate import Correlation, correlation_of
from .kernels import Coefficient

_SMALL = 1e-10
_ONE_LINE = "the metrics agree perfectly, or a correlation is undefined"


@checked
def williams(r_x: float, r_y: float, r_xy: float, n: Number, *, alternative: Alternative = "two-sided") -> TestResult:
    """Return Williams' test of whether two correlations that share a variable are equal.

    Parameters
    ----------
    r_x, r_y : float
        Correlations of two metrics with human scores.
    r_xy : float
        Correlation of the metrics with each other.
    n : int
        Number of points, that is, systems.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: r_x > r_y.

    Returns
    -------
    TestResult
        Williams' t on n − 3 degrees of freedom; NaN where the test is undefined: fewer than four points, or metrics
        perfectly correlated.

    Raises
    ------
    OptionError
        For values that are not correlations, and an unknown alternative.

    Notes
    -----
    t = (r_x − r_y) √[(n − 1)(1 + r_xy) / (2 |R| (n − 1)/(n − 3) + r̄² (1 − r_xy)³)] with r̄ = (r_x + r_y)/2 and
    |R| = 1 − r_x² − r_y² − r_xy² + 2 r_x r_y r_xy; n − 3 degrees of freedom.

    References
    ----------
    Williams, E. J. (1959). The comparison of regression variables. Journal of the Royal Statistical Society B 21(2),
    396-399. Steiger, J. H. (1980). Tests for comparing elements of a correlation matrix. Psychological Bulletin 87(2),
    245-251.

    Examples
    --------
    >>> import llbt
    >>> williams = llbt.metrics.williams(0.9, 0.6, 0.5, 20)
    >>> round(williams.statistic, 3), williams.df, round(williams.p_value, 4)
    (2.753, 17, 0.0136)
    """
    for name, r in (("r_x", r_x), ("r_y", r_y), ("r_xy", r_xy)):
        if not is_real(r) or abs(r) > 1 + _SMALL:
            raise OptionError(f"{name}={r!r}", expected="a correlation, from −1 to 1, or NaN")
    if 1 - r_x**2 - r_y**2 - r_xy**2 + 2 * r_x * r_y * r_xy < -_SMALL:
        raise OptionError(
            f"no data have the three correlations r_x={r_x!r}, r_y={r_y!r} and r_xy={r_xy!r}: the determinant of "
            "their matrix is negative",
            "Check them, and pass them with all their digits, as llbt.metrics.correlate(…) returns them.",
        )
    t, df, p = williams_figures(r_x, r_y, r_xy, n, alternative)
    notes = () if not math.isnan(p) else ("fewer than four points, or metrics that are perfectly correlated: no test",)
    null = "the correlations of both metrics with human scores are equal"
    return TestResult("Williams' test of dependent correlations", null, t, df, p, "t", notes)


def williams_figures(
    r_x: float, r_y: float, r_xy: float, n: int, alternative: Alternative
) -> tuple[float, float, float]:
    """Return t, degrees of freedom and p-value of `williams`."""
    df = n - 3
    if df < 1:
        return math.nan, math.nan, math.nan
    determinant = 1 - r_x**2 - r_y**2 - r_xy**2 + 2 * r_x * r_y * r_xy
    below = 2 * max(determinant, 0.0) * (n - 1) / df + ((r_x + r_y) / 2) ** 2 * (1 - r_xy) ** 3
    if not below > _SMALL or 1 - abs(r_xy) < _SMALL:
        return math.nan, df, math.nan
    t = (r_x - r_y) * math.sqrt((n - 1) * (1 + r_xy) / below)
    return t, df, williams_p(t, df, alternative)


def williams_p(t: float, df: float, alternative: Alternative) -> float:
    """Return the p-value of Williams' t; NaN if t is NaN."""
    tail = {"two-sided": 2 * stats.t.sf(abs(t), df), "greater": stats.t.sf(t, df), "less": stats.t.cdf(t, df)}
    return float(tail[alternative])


def williams_of(
    x: FloatArray,
    y: FloatArray,
    of_x: Correlation,
    of_y: Correlation,
    coefficient: Coefficient,
    alternative: Alternative,
) -> tuple[float, float, float, str]:
    """Return Williams' t, df and p-value of two metrics' system scores, and their notes."""
    between = correlation_of(x, y, "system", coefficient).estimate
    t, df, p = williams_figures(of_x.estimate, of_y.estimate, between, of_x.n, alternative)
    reason = ""
    if math.isnan(p):
        few = f"it needs at least 4 systems, found {of_x.n}"
        reason = f"Williams' test is undefined: {few if of_x.n < 4 else _ONE_LINE}"
    elif coefficient != "pearson":
        reason = "Williams' t was derived for Pearson's r: with rank correlations it is rough"
    return t, df, p, reason
