"""The result of comparing two tables: the change of each object, and the gate that a release has to pass."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..base.arguments import JUDGED_INSIDE, NotNegative, Rng, checked
from ..base.table import Field, Record, Table, counted, format_number, format_p, interval_fields
from ..core.columns import FloatArray, Label
from ..core.statistics import TestResult, adjust_p
from ..errors import DesignError, OptionError, listed, safe_repr
from ..fitting.estimates import Estimates
from .log_worths import LogWorths
from .margins import Margin, together_against
from .pair_tests import all_pairs
from .pairwise_record import Pairwise
from .scales import FACTORS, Scale
from .simultaneous import Simultaneous

SCALES: dict[Scale, str] = {"log_worth": "log-worth λ", "log_odds": "log-odds 2λ", "elo": "Elo"}
_MOST_ROWS = 60
_MOST_PAIRS = 20  # pairs printed if there is no verdict


@dataclass(frozen=True, repr=False, eq=False)
class Gate(Record):
    """A one-sided test of objects named beforehand: whether they got worse by more than `by`.

    Attributes
    ----------
    objects : tuple of labels
    estimate, std_error : ndarray
        The change and its standard error, in units of `scale`.
    p_value, p_adjusted : ndarray
        One-sided p-values of the hypothesis that the change is −by or better; adjusted by Holm's method for several
        objects.
    failed : ndarray of bool
        Whether the object got worse, at level 1 − confidence.
    by : float
    scale : str
    confidence : float
    how : str
        The test that was used.
    """

    _made_by: ClassVar[str] = "llbt.compare(a, b).gate(objects)"

    objects: tuple[Label, ...]
    estimate: FloatArray
    std_error: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    failed: npt.NDArray[np.bool_]
    by: float
    scale: Scale
    confidence: float
    how: str

    def table(self) -> Table:
        """Return object, estimate, std_error, p_value, p_adjusted, failed."""
        worse = [label for label, out in zip(self.objects, self.failed, strict=True) if out]
        than = f" by more than {format_number(self.by)}" if self.by else ""
        answer = f"Worse{than}: {listed(worse)}" if worse else f"None got worse{than}: {listed(self.objects)}"
        return Table(
            (
                Field("object", "object", list(self.objects)),
                Field("estimate", "change", self.estimate, "estimate"),
                Field("std_error", "Std. Error", self.std_error, "estimate"),
                Field("p_value", "p", self.p_value, "p_value"),
                Field("p_adjusted", "p adjusted", self.p_adjusted, "p_value"),
                Field("failed", "worse", ["yes" if out else "no" for out in self.failed.tolist()]),
            ),
            title=f"Gate: {SCALES[self.scale]}",
            head=(answer, f"Decided by {self.how}"),
        )


@dataclass(frozen=True, repr=False, eq=False)
class Changes(Record):
    """Changes of the k objects that two tables have in common.

    Made by `compare`.

    Attributes
    ----------
    res : LLBTResults
        The fit of both tables.
    names : tuple of two str
        The names of the two tables.
    objects : tuple of k labels
    only : tuple of two tuples of labels
        Objects that only one table has; they have no change.
    judgments : ndarray, shape (k, 2)
        The number of judgments of each object in either table.
    moved : LogWorths
        The changes δ up to a constant.
    changes : Simultaneous
        The changes of the k objects against the anchors (log-worth).
    is_anchor : ndarray of bool, shape (k,)
    no_verdict : str
        Why changes have no direction; empty if they have one.
    test : TestResult
        The test of whether any object changed.
    scale : {"log_worth", "log_odds", "elo"}
    margin : float or None
        The largest change that does not matter, on the scale.
    confidence : float
    rng : int or numpy.random.Generator
    """

    _made_by: ClassVar[str] = "llbt.compare(a, b)"

    res: Estimates
    names: tuple[str, str]
    objects: tuple[Label, ...]
    only: tuple[tuple[Label, ...], ...]
    judgments: FloatArray
    moved: LogWorths
    changes: Simultaneous
    is_anchor: npt.NDArray[np.bool_]
    no_verdict: str
    test: TestResult
    scale: Scale
    margin: float | None
    confidence: float
    rng: Rng

    @property
    def verdicts(self) -> tuple[str, ...]:
        """``"worse"``, ``"better"`` or ``""`` for each object, simultaneously; all empty without a verdict."""
        changes = self.changes
        words = np.where(changes.conf_high < 0, "worse", np.where(changes.conf_low > 0, "better", ""))
        return ("",) * len(self.objects) if self.no_verdict else tuple(words.tolist())

    def table(self) -> Table:
        """Return object, estimate, std_error, conf_low, conf_high, p_adjusted, verdict, is_anchor, n_a, n_b.

        Estimates are changes from a to b relative to the anchors; NaN without a verdict. With a margin there are also
        p_no_worse, p_no_better, p_equivalent and claim, and p_adjusted is in frames only.
        """
        changes, factor = self.changes, FACTORS[self.scale]
        known = np.full(len(self.objects), np.nan if self.no_verdict else factor)
        a, b = self.names
        digits = 1 if self.scale == "elo" else 3
        low, high = interval_fields(known * changes.conf_low, known * changes.conf_high, self.confidence, digits)
        table = Table(
            (
                Field("object", "object", list(self.objects)),
                Field("estimate", "change", known * changes.estimate, "estimate", digits),
                Field("std_error", "Std. Error", known * changes.std_error, "estimate", digits),
                low,
                high,
                Field("p_adjusted", "p adjusted", known / factor * changes.p_adjusted, "p_value"),
                Field("verdict", "", list(self.verdicts)),
                Field("is_anchor", "anchor", ["yes" if inside else "" for inside in self.is_anchor.tolist()]),
                Field("n_a", f"n {a}", self.judgments[:, 0], "count"),
                Field("n_b", f"n {b}", self.judgments[:, 1], "count"),
            ),
            title=f"Changes from {a} to {b}: {SCALES[self.scale]}",
            head=self._head(),
            notes=self._notes(),
        )
        return table if self.margin is None else self._against(self.margin).beside(table)

    def _against(self, margin: float) -> Margin:
        """Return the tests of the changes against a margin, adjusted for both directions of all objects."""
        of, known = self.changes, np.nan if self.no_verdict else 1.0
        error = known * of.std_error
        return together_against(
            margin, self.scale, of.estimate, error, of.df, self.confidence, of.distribution, "single-step"
        )

    def _as_printed(self) -> Table:
        """Return the objects that fell most; if changes of objects have no verdict, the pairs that moved apart most."""
        if self.no_verdict:
            order = np.argsort(-np.abs(self._all_pairs.statistic), kind="stable")[:_MOST_PAIRS]
            pairs = self.pairs().first(_MOST_PAIRS, "more pair", ".pairs()")
            against = () if self.margin is None else self._against(self.margin).notes
            notes = (*self._notes(), *against)
            return replace(pairs, shown=tuple(order.tolist()), head=self._head(), notes=notes)
        first_rows, order = self.table().first(_MOST_ROWS), np.argsort(self.changes.estimate, kind="stable")
        return replace(first_rows, shown=tuple(order[:_MOST_ROWS].tolist()))

    def pairs(self) -> Table:
        """Return the columns of `llbt.pairwise` for changes: how much i changed relative to j, δᵢ − δⱼ, for all pairs.

        This needs no anchor. Intervals and adjusted p-values are simultaneous over all pairs.
        """
        pairs = self._all_pairs.table()
        title = f"Changes of i against j from {self.names[0]} to {self.names[1]}: {SCALES[self.scale]}"
        return replace(pairs, title=title, answer="")

    @functools.cached_property
    def _all_pairs(self) -> Pairwise:
        return all_pairs(
            self.res,
            self.moved,
            self.rng,
            objects=self.objects,
            scale=self.scale,
            margin=self.margin,
            confidence=self.confidence,
        )

    @checked
    def gate(
        self, objects: Annotated[Label | Sequence[Label] | Literal["any"], JUDGED_INSIDE], *, by: NotNegative = 0.0
    ) -> Gate:
        """Test whether objects that you named before looking got worse by more than `by`.

        Parameters
        ----------
        objects : label, sequence of labels, or "any"
            One object: a one-sided test at level 1 − confidence. Several objects: Holm's method. ``"any"``: all
            objects, by the simultaneous intervals of the table.
        by : float
            The change that is tolerated, in units of `scale`.

        Returns
        -------
        Gate
            A row per object; ``failed`` names the objects that got worse.

        Raises
        ------
        OptionError
            For objects that are not in both tables.
        DesignError
            If there is no verdict.

        Examples
        --------
        >>> import llbt
        >>> c = llbt.load_dataset("dras_table1")
        >>> changes = llbt.compare(*(c.select(where={"judge": judge}).pool() for judge in ("J1", "J2")))
        >>> changes.gate("A").failed.tolist()
        [False]
        """
        if self.no_verdict:
            raise DesignError(f"no verdict: {self.no_verdict}", "Name objects that have not changed: anchor=[…].")
        named = self._named(objects)
        places = [self.objects.index(label) for label in named]
        factor, of = FACTORS[self.scale], self.changes
        estimate, error = factor * of.estimate[places], factor * of.std_error[places]
        if np.isnan(error).any():
            gone = [label for label, missing in zip(named, np.isnan(error), strict=True) if missing]
            raise DesignError(
                f"the changes of {listed(gone)} have no standard error", "Name other objects, or other anchors."
            )
        if isinstance(objects, str) and objects == "any" and "any" not in self.objects:
            p_value, adjusted = of.p_value[places], of.p_adjusted[places]
            failed = factor * of.conf_high[places] < -by
            how = f"the simultaneous intervals of all objects, {100 * self.confidence:.4g} %"
        else:
            p_value = stats.t.cdf((estimate + by) / error, of.df[places])
            adjusted = p_value if len(named) == 1 else adjust_p(p_value, "holm")
            failed = adjusted <= 1 - self.confidence
            tests = "a one-sided test" if len(named) == 1 else "one-sided tests, adjusted by Holm's method,"
            how = f"{tests} at {100 * (1 - self.confidence):.4g} %"
        return Gate(named, estimate, error, p_value, adjusted, failed, by, self.scale, self.confidence, how)

    def _named(self, objects: Label | Sequence[Label]) -> tuple[Label, ...]:
        """Return the objects that a gate tests."""
        if isinstance(objects, str) and objects == "any" and "any" not in self.objects:
            return self.objects
        named = (objects,) if isinstance(objects, str | int | float) else tuple(objects)
        unknown = [label for label in named if label not in self.objects]
        if unknown or not named:
            raise OptionError(
                f"objects={safe_repr(objects)}",
                expected=f"'any', or objects of both tables: {listed(self.objects, 20)}",
            )
        return named

    def _head(self) -> tuple[str, ...]:
        """Return the answer in words, and its basis."""
        test = self.test
        letter = f"F({len(self.objects) - 1})" if test.distribution.startswith("F") else f"χ²({test.df:.4g})"
        tested = f"{letter} = {format_number(test.statistic)}, p = {format_p(test.p_value)}"
        lines = [
            f"No change detected: {tested}" if test.p_value > 1 - self.confidence else f"Some objects changed: {tested}"
        ]
        words = self.verdicts
        for word in ("worse", "better"):
            named = [label for label, verdict in zip(self.objects, words, strict=True) if verdict == word]
            lines += [f"{word.capitalize()} in {self.names[1]}: {listed(named)}"] if named else []
        if self.no_verdict:
            lines += [f"No verdict: {self.no_verdict}; name objects that have not changed: anchor=[…]"]
        else:
            anchors = [label for label, inside in zip(self.objects, self.is_anchor, strict=True) if inside]
            anchor_text = "all objects" if len(anchors) == len(self.objects) else counted(len(anchors), "object")
            lines += [f"Against the mean of {anchor_text}, the object itself left out"]
        only = zip(self.names, self.only, strict=True)
        lines += [f"Only in {name}, left out: {listed(labels)}" for name, labels in only if labels]
        return tuple(lines)

    def _notes(self) -> tuple[str, ...]:
        level = f"{100 * self.confidence:.4g} %"
        simultaneous = f"intervals are simultaneous: all are correct with {level} confidence"
        return (simultaneous, *self.res.covariance.notes)
