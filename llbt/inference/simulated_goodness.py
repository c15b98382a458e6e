"""A test of fit against tables drawn from a fit: how far cells are from expectation, and the record of the test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..base.arguments import checked
from ..base.frame_styles import FrameStyle, in_style
from ..base.table import Field, Record, Table, format_count, format_number
from ..core.columns import FloatArray
from ..core.statistics import TestResult, two_sided_p
from ..resampling import p_value

_PRINTED = 10
_EQUAL = 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class SimulatedGoodness(Record):
    """A test of fit against tables drawn from the fit, with the cells that do not fit.

    Made by `goodness_of_fit` for fits other than `LLBTResults`.

    Attributes
    ----------
    test : TestResult
        X² = Σ (observed − expected)²/expected over the cells, with the p-value from drawn tables.
    cells : DataFrame
        object_i, object_j (and object_k), outcome, observed, expected, z, p_value; the largest |z| first.
    notes : tuple of str
    """

    test: TestResult
    cells: pd.DataFrame
    notes: tuple[str, ...]

    @checked
    def to_frame(self, style: FrameStyle = "llbt") -> pd.DataFrame:
        """Return all cells.

        Parameters
        ----------
        style : {"llbt", "broom"}
            The names of the columns: llbt's names, or those of R's package broom.
        """
        return in_style(self.cells.copy(), style)

    def table(self) -> Table:
        """Return the test, and the cells that are farthest from expectation."""
        shown = self.cells.head(_PRINTED)
        labels = [name for name in shown if str(name).startswith("object_")]
        more = len(self.cells) - len(shown)
        notes = (*self.notes, *([f"{format_count(more)} more cells in to_frame()"] if more else []))
        return Table(
            (
                *(Field(str(name), str(name), shown[name].tolist()) for name in labels),
                Field("outcome", "outcome", shown["outcome"].tolist()),
                Field("observed", "observed", shown["observed"].to_numpy(), "count"),
                Field("expected", "expected", shown["expected"].to_numpy(), "estimate", 4),
                Field("z", "z", shown["z"].to_numpy(), "statistic"),
                Field("p_value", "Pr(>|z|)", shown["p_value"].to_numpy(), "p_value"),
            ),
            title=self.test.name,
            head=(
                f"X² = {format_number(self.test.statistic, 5)}, p = {format_number(self.test.p_value, 3)} "
                f"({self.test.distribution})",
            ),
            notes=notes,
        )


def tested(name: str, null: str, cells: pd.DataFrame, counted: Apart, notes: tuple[str, ...]) -> SimulatedGoodness:
    """Return the test of cells, given a frame of their objects and outcomes, the largest |z| first."""
    z = counted.z
    statistic = float((counted.off**2 / counted.expected).sum())
    p = p_value((counted.apart**2 / counted.expected).sum(axis=1), statistic)
    order = np.argsort(-np.nan_to_num(np.abs(z)), kind="stable")  # cells that never vary have no z and come last
    frame = cells.assign(
        observed=counted.expected + counted.off, expected=counted.expected, z=z, p_value=two_sided_p(z, np.inf)
    )
    drawn = f"{format_count(len(counted.apart))} drawn tables"
    test = TestResult(name, null, statistic, float("nan"), p, drawn)
    return SimulatedGoodness(test, frame.iloc[order].reset_index(drop=True), notes)


@dataclass(frozen=True, eq=False)
class Apart:
    """The distances of K cells from expectation, in the data and in n drawn tables, allowing for estimation.

    Attributes
    ----------
    off : ndarray, shape (K,)
        Observed minus expected counts.
    expected : ndarray, shape (K,)
    apart : ndarray, shape (n, K)
        The distances in the drawn tables, minus the part that their own estimates explain.
    """

    off: FloatArray
    expected: FloatArray
    apart: FloatArray

    @property
    def z(self) -> FloatArray:
        """The residuals divided by their standard deviation in the drawn tables; NaN if they do not vary."""
        spread = self.apart.std(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(spread > _EQUAL * np.maximum(1.0, self.expected), self.off / spread, np.nan)
