"""Results of the tests of pairs: one row per pair, with counts, estimates and tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.table import Field, Record, Table, interval_fields, p_fields
from ..core.columns import FloatArray, Label
from .pair_counts import as_whole
from .pair_tables import pair_fields
from .sign_rules import RULES, Alternative, Ties


@dataclass(frozen=True, repr=False, eq=False)
class SignTests(Record):
    """Sign tests of S pairs of objects, made by `sign_test`.

    Attributes
    ----------
    object_i, object_j : tuple, length S
    counts : ndarray, shape (S, 3)
        Wins of i, ties, wins of j: verdicts of units, or judgments.
    n : ndarray, shape (S,)
        Number of units that the test uses.
    estimate, conf_low, conf_high : ndarray, shape (S,)
        The share of wins of i, as the rule counts wins, and its two-sided interval.
    statistic : ndarray, shape (S,)
        Wins counted for i (exact binomial tests), wins of i minus wins of j (exact trinomial test), or z.
    p_value : ndarray, shape (S,)
    p_adjusted : ndarray, shape (S,)
        Equal to `p_value` if not adjusted.
    rule, alternative : str
    exact : bool
        Whether the test uses the exact distribution of the counts instead of the normal approximation.
    confidence : float
    unit : str
        The unit with one verdict: ``"judgment"``, ``"prompt"``, ….
    notes : tuple of str
    """

    object_i: tuple[Label, ...]
    object_j: tuple[Label, ...]
    counts: FloatArray
    n: FloatArray
    estimate: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    rule: Ties
    alternative: Alternative
    exact: bool
    confidence: float
    unit: str
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return object_i … n, estimate, conf_low, conf_high, statistic, p_value, p_adjusted."""
        rule = RULES[self.rule]
        statistic = "z" if not self.exact else "i − j" if self.rule == "trinomial" else "wins"
        return Table(
            (
                *pair_fields(self.object_i, self.object_j, self.counts),
                Field("n", "n", as_whole(self.n), "count"),
                Field("estimate", "Share of i", self.estimate, "estimate"),
                *interval_fields(self.conf_low, self.conf_high, self.confidence),
                Field("statistic", statistic, self.statistic, "number" if self.exact else "statistic"),
                *p_fields(self.p_value, self.p_adjusted),
            ),
            title=f"Sign tests: {rule.says} ({self.rule})",
            head=(
                f"Null hypothesis: {rule.tested(self.alternative)}",
                f"Reference distribution: {_reference(self.rule, self.exact)}",
            ),
            notes=self.notes,
            answer="sign test",
        ).first()


@dataclass(frozen=True, repr=False, eq=False)
class LLBTTests(Record):
    """Tests of equal worth in the model ``object + tie``, pair by pair; made by `classical.model_test`.

    Attributes
    ----------
    object_i, object_j : tuple, length S
    counts : ndarray, shape (S, 3)
        Wins of i, ties, wins of j: verdicts of units, or judgments.
    estimate, std_error : ndarray, shape (S,)
        Log-odds 2(λ_i − λ_j).
    wald_statistic, wald_p_value : ndarray, shape (S,)
        Estimate over standard error, compared with the normal distribution.
    statistic, p_value : ndarray, shape (S,)
        Likelihood ratio, compared with χ² with one degree of freedom.
    p_adjusted : ndarray, shape (S,)
        `p_value` after adjustment for the number of pairs; equal to `p_value` if not adjusted.
    unit : str
        The unit with one verdict: ``"judgment"``, ``"prompt"``, ….
    notes : tuple of str
    """

    object_i: tuple[Label, ...]
    object_j: tuple[Label, ...]
    counts: FloatArray
    estimate: FloatArray
    std_error: FloatArray
    wald_statistic: FloatArray
    wald_p_value: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    unit: str
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return object_i … wins_j, estimate, std_error, both tests, p_adjusted."""
        return Table(
            (
                *pair_fields(self.object_i, self.object_j, self.counts),
                Field("estimate", "Log-odds", self.estimate, "estimate"),
                Field("std_error", "Std. Error", self.std_error, "estimate"),
                Field("wald_statistic", "z value", self.wald_statistic, "statistic"),
                Field("wald_p_value", "Wald p", self.wald_p_value, "p_value"),
                Field("statistic", "LR", self.statistic, "statistic"),
                Field("df", "Df", np.ones(len(self.statistic)), "count"),
                *p_fields(self.p_value, self.p_adjusted),
            ),
            title="Tests of equal worth in the model object + tie, one fit per pair",
            head=("Null hypothesis: λ_i = λ_j", "Reference distribution: chi2 (LR), normal (Wald)"),
            notes=self.notes,
            answer="model test",
        ).first()


def _reference(ties: Ties, exact: bool) -> str:
    if not exact:
        return "normal (asymptotic)"
    return "trinomial at the observed share of ties" if ties == "trinomial" else "binomial (exact)"
