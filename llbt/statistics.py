"""Statistics on arrays, and the record that every test returns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from .table import Field, Record, Table, format_percent

_SMALL_COUNT = 5.0  # Cochran's rule: at most a fifth of the expected counts below five
_SMALL_SHARE = 0.2


@dataclass(frozen=True, repr=False)
class TestResult(Record):
    """What a test found.

    Attributes
    ----------
    name : str
        The test.
    null : str
        The hypothesis that it tests.
    statistic : float
    df : float
        Degrees of freedom of the reference distribution (NaN where it has none).
    p_value : float
        NaN where the reference distribution does not hold; `notes` says why.
    distribution : str
        The reference distribution, ``"chi2"`` or ``"normal"``.
    notes : tuple of str
    """

    __test__ = False  # the name starts with Test: keep pytest from collecting it

    name: str
    null: str
    statistic: float
    df: float
    p_value: float
    distribution: str
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """Return the test as a one-row `Table`."""
        return Table(
            fields=(
                Field("statistic", "Statistic", (self.statistic,), "number", 5),
                Field("df", "Df", (self.df,), "count"),
                Field("p_value", "p", (self.p_value,), "p_value"),
            ),
            title=self.name,
            head=(f"Null hypothesis: {self.null}", f"Reference distribution: {self.distribution}"),
            notes=self.notes,
        )


def chi2_p_value(statistic: float, df: float) -> float:
    """Return P(χ²(df) ≥ statistic); NaN for df ≤ 0 or an undefined statistic."""
    if df <= 0 or math.isnan(statistic):
        return math.nan
    return float(stats.chi2.sf(statistic, df))


def chi2_reservation(means: npt.NDArray[np.float64]) -> tuple[bool, str]:
    """Return whether deviance and X² of a table can be held against χ², and what to say of it.

    Parameters
    ----------
    means : ndarray, shape (S, C)
        Fitted counts.

    Returns
    -------
    possible : bool
        False where no comparison has more than one judgment: then the deviance is a function of the fit alone.
    note : str
        Empty where χ² is a fair approximation (Cochran 1954, Biometrics 10(4): at most a fifth of the expected counts
        below 5).
    """
    if np.all(means.sum(axis=1) <= 1 + 1e-9):
        return False, (
            "no comparison has more than one judgment, so deviance and X² do not measure fit and have no χ² "
            "distribution; pool covariates to test the fit"
        )
    small = float(np.mean(means < _SMALL_COUNT))
    if small > _SMALL_SHARE:
        return True, f"{format_percent(small)} of the fitted counts are below 5: the χ² p-value of fit is rough"
    return True, ""
