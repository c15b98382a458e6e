"""The result of `reliability`: the share of the variance of the worths that is not estimation error, and misfits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.table import Field, Record, Table, format_percent, format_share, in_order, interval_fields, named
from ..core.columns import FloatArray, Label
from ..errors import OptionError
from .anchored_marks import AnchoredMarks
from .mean_squares import MeanSquares
from .split_halves import SplitHalves

_MOST_ROWS = 20


@dataclass(frozen=True, repr=False, eq=False)
class Reliability(Record):
    """The reliability of the worths of J objects, as used in comparative judgement. Made by `reliability`.

    Attributes
    ----------
    objects : tuple of J labels
    estimate, std_error : ndarray, shape (J,)
        Log-worths minus their mean, and their standard errors; NaN for objects that are not compared with the others.
    ssr : float
        Scale separation reliability.
    separation : float
        Standard deviation of the true worths in mean standard errors, √(SSR/(1 − SSR)); NaN for a negative SSR.
    closeness : float
        Mean difference of worths over judged pairs, divided by the mean difference over all pairs. It is far below 1 if
        pairs were chosen by earlier results.
    halves : SplitHalves or None
        The split halves; None with fewer than four judges.
    judge : str
        The column of the judges; empty without judges.
    judges : tuple of labels
    object_fit : MeanSquares
        The mean squares of the objects.
    judge_fit : MeanSquares or None
        The mean squares of the judges.
    anchored : AnchoredMarks or None
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.reliability(res)"

    objects: tuple[Label, ...]
    estimate: FloatArray
    std_error: FloatArray
    ssr: float
    separation: float
    closeness: float
    halves: SplitHalves | None
    judge: str
    judges: tuple[Label, ...]
    object_fit: MeanSquares
    judge_fit: MeanSquares | None
    anchored: AnchoredMarks | None
    confidence: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return measure, estimate, conf_low, conf_high: SSR, separation index, and split halves."""
        rows = [("scale separation reliability (SSR)", self.ssr, math.nan, math.nan),
                ("separation index", self.separation, math.nan, math.nan)]  # fmt: skip
        if self.halves is not None:
            h = self.halves
            rows.append((f"split-half correlation, by {self.judge}", *h.half))
            rows.append((f"split-half reliability, every {self.judge}", *h.whole))
        names, *numbers = zip(*rows, strict=True)
        estimate, low, high = (np.array(column, dtype=float) for column in numbers)
        measure = Field("measure", "measure", list(names))
        bounds = ["" if math.isnan(a) else f"{_share(a)} to {_share(b)}" for a, b in zip(low, high, strict=True)]
        shown = ["NA" if math.isnan(x) else _share(x) for x in estimate]
        level = f"{100 * self.confidence:.4g} % CI"
        title, head = "Reliability of the worths", self._head()
        printed = Table((measure, Field("estimate", "estimate", shown, "composed"),
                         Field("conf_low", level, bounds, "composed")),
                        title=title, head=head, notes=self.notes)  # fmt: skip
        fields = (
            measure,
            Field("estimate", "estimate", estimate, "estimate", 3),
            *interval_fields(low, high, self.confidence),
        )
        return Table(fields, title=title, head=head, notes=self.notes, printed=printed)

    def _head(self) -> tuple[str, ...]:
        if math.isnan(self.ssr):
            first = "No scale separation reliability: a worth has no standard error, or all worths are equal."
        elif self.ssr < 0:
            first = "No reliability: the estimates vary less than estimates of equal worths would by chance."
        else:
            share = format_percent(self.ssr)
            first = f"SSR = {_share(self.ssr)}: {share} of the variance of the worths is not estimation error."
        return (first, *self._misfit_lines())

    def _misfit_lines(self) -> tuple[str, ...]:
        parts = [(f"{self.judge}s", self.judges, self.judge_fit), ("objects", self.objects, self.object_fit)]
        lines = []
        for what, labels, fit in parts:
            if fit is not None:
                odd = [label for label, misfit in zip(labels, fit.misfits, strict=True) if misfit]
                how = f"{len(odd)} of {len(labels)}: {named(odd)}" if odd else f"none of {len(labels)}"
                lines.append(f"Misfitting {what} (infit larger than the model allows): {how}.")
        return tuple(lines)

    def object_table(self) -> Table:
        """Return object, judgments, estimate, std_error, infit, outfit, statistic, p_value, misfit; the best first."""
        fields = (
            Field("object", "object", list(self.objects)),
            Field("judgments", "judgments", self.object_fit.judgments, "count"),
            Field("estimate", "log-worth", self.estimate, "estimate"),
            Field("std_error", "Std. Error", self.std_error, "estimate"),
            *_fit_fields(self.object_fit),
        )
        order = np.argsort(-np.where(np.isnan(self.estimate), -np.inf, self.estimate), kind="stable")
        table = Table(fields, title="Fit of the objects: mean squares, about 1 where the model holds")
        return in_order(table, order).first(_MOST_ROWS, "more object")

    def judge_table(self) -> Table:
        """Return judge, judgments, infit, outfit, statistic, p_value, misfit; the largest infit first.

        Raises
        ------
        OptionError
            If the table has no judges.
        """
        if self.judge_fit is None:
            raise OptionError(
                "the table keeps no judges, so there is no fit of judges",
                "Keep them: llbt.from_judgments(data, clusters='judge').",
            )
        fit = self.judge_fit
        fields = (
            Field(self.judge, self.judge, list(self.judges)),
            Field("judgments", "judgments", fit.judgments, "count"),
            *_fit_fields(fit),
        )
        order = np.argsort(-np.where(np.isnan(fit.infit), -np.inf, fit.infit), kind="stable")
        table = Table(fields, title=f"Fit of each {self.judge}: mean squares, about 1 where the model holds")
        return in_order(table, order).first(_MOST_ROWS, f"more {self.judge}")

    def marks(self) -> Table:
        """Return object, anchor (its external mark, else NaN), estimate, conf_low, conf_high; the best first.

        Raises
        ------
        OptionError
            Without anchors.
        """
        if self.anchored is None:
            named_marks = dict(zip(self.objects[:3], (10, 20, 30), strict=False))
            raise OptionError(
                "no anchors, so there is no scale of marks",
                f"Name objects with their marks: llbt.reliability(res, anchors={named_marks!r}).",
            )
        a = self.anchored
        fields = (
            Field("object", "object", list(self.objects)),
            Field("anchor", "external mark", a.external, "number", 4),
            Field("estimate", "mark", a.estimate, "estimate", 3),
            *interval_fields(a.low, a.high, self.confidence, 3),
        )
        alike = (
            "" if math.isnan(a.correlation) else f"; the anchors' marks correlate {_share(a.correlation)} with worths"
        )
        table = Table(
            fields,
            title="Marks of the objects on the scale of the anchors",
            head=(f"One log-worth is {a.slope:.4g} marks{alike}.",),
            notes=a.notes,
        )
        order = np.argsort(-np.where(np.isnan(self.estimate), -np.inf, self.estimate), kind="stable")
        return in_order(table, order).first(_MOST_ROWS, "more object")


def _share(x: float) -> str:
    """Return a correlation with three decimals and no leading zero; a number above 1 with two decimals."""
    return f"{x:.2f}" if abs(x) >= 1 else f"-{format_share(-x)}" if x < 0 else format_share(x)


def _fit_fields(fit: MeanSquares) -> tuple[Field, ...]:
    return (
        Field("infit", "infit", fit.infit, "number", 3, decimals=2),
        Field("outfit", "outfit", fit.outfit, "number", 3, decimals=2),
        Field("statistic", "z", fit.statistic, "statistic"),
        Field("p_value", "p adjusted", fit.p_value, "p_value"),
        Field("misfit", "", ["misfit" if misfit else "" for misfit in fit.misfits]),
    )
