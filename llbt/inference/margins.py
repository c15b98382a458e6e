"""Margins: whether a difference is no worse, no better, or equivalent, within a distance that matters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special, stats

from ..base.table import Field, Table
from ..core.columns import FloatArray
from ..core.max_z import MaxZ
from ..core.statistics import adjust_p, ratio
from ..errors import OptionError
from ..fitting.estimates import Estimates
from .scales import FACTORS, Scale

Adjust = Literal["single-step", "holm", "bonferroni", "fdr_bh"]
_OF_EQUALITY = ("statistic", "p_value", "p_adjusted", "")  # columns that are replaced by those of the margin


@dataclass(frozen=True, eq=False)
class Margin:
    """The p-values of m differences against a margin.

    Attributes
    ----------
    size : float
        The margin, in units of `scale`.
    scale : str
    p_no_worse : ndarray, shape (m,)
        One-sided p-values of the hypothesis that the difference is at or below minus the margin.
    p_no_better : ndarray, shape (m,)
        One-sided p-values of the hypothesis that the difference is at or above the margin.
    confidence : float
    together : bool
        Whether p-values are adjusted for all differences.
    """

    size: float
    scale: Scale
    p_no_worse: FloatArray
    p_no_better: FloatArray
    confidence: float
    together: bool

    @property
    def p_equivalent(self) -> FloatArray:
        """The larger of both p-values: two one-sided tests (Schuirmann 1987), shape (m,)."""
        return np.maximum(self.p_no_worse, self.p_no_better)

    @property
    def claims(self) -> tuple[str, ...]:
        """The claim that holds at `confidence`: ``"equivalent"``, ``"no worse"``, ``"no better"`` or ``""``."""
        level = 1 - self.confidence
        parts = [p <= level for p in (self.p_equivalent, self.p_no_worse, self.p_no_better)]
        return tuple(np.select(parts, ["equivalent", "no worse", "no better"], "").tolist())

    def beside(self, table: Table) -> Table:
        """Return a table of the differences with p_no_worse, p_no_better, p_equivalent and claim."""
        equality_fields = (
            replace(f, frame_only=f.frame_only or f.name in _OF_EQUALITY) for f in table.fields if f.name
        )
        fields = (
            *equality_fields,
            Field("p_no_worse", "p no worse", self.p_no_worse, "p_value"),
            Field("p_no_better", "p no better", self.p_no_better, "p_value"),
            Field("p_equivalent", "p equivalent", self.p_equivalent, "p_value", frame_only=True),  # the larger of both
            Field("claim", "claim", self.claims),
        )
        return replace(table, fields=fields, notes=(*table.notes, *self.notes))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the meaning of the p-values and claims."""
        low, high = (f"{value:.4g}" for value in bounds(self.size, self.scale))
        level = f"{100 * (1 - self.confidence):.4g} %"
        how = "adjusted for both directions of all rows" if self.together else "each row by itself"
        return (
            f"no worse: above {low}; no better: below {high}; equivalent: both",
            f"claims at {level}, by one-sided p-values, {how}",
        )


def half_width(margin: float, scale: Scale) -> float:
    """Return the margin, given as a distance from equality on a scale, as a difference of log-worths.

    Raises
    ------
    OptionError
        For odds of at most 1 and probabilities of .5 or more, because these leave no room on one side.
    """
    if scale == "odds_ratio" and margin <= 1:
        raise OptionError(f"margin={margin!r}", expected="an odds ratio above 1: 1.25 for odds from 0.8 to 1.25")
    if scale == "probability" and margin >= 0.5:
        raise OptionError(f"margin={margin!r}", expected="a number below 0.5: 0.05 for probabilities from 0.45 to 0.55")
    if scale == "odds_ratio":
        return float(np.log(margin) / 2)
    return float(special.logit(0.5 + margin) / 2) if scale == "probability" else margin / FACTORS[scale]


def bounds(margin: float, scale: Scale) -> tuple[float, float]:
    """Return the bounds within which differences count as equivalent, on the scale."""
    if scale == "odds_ratio":
        return 1 / margin, margin
    return (0.5 - margin, 0.5 + margin) if scale == "probability" else (-margin, margin)


def each_against(
    margin: float, scale: Scale, estimate: FloatArray, error: FloatArray, df: FloatArray, confidence: float
) -> Margin:
    """Return the tests of m differences of log-worths against a margin, each alone."""
    worse, better = _one_sided(_distances(margin, scale, estimate, error), df)
    return Margin(margin, scale, worse, better, confidence, together=False)


def together_against(
    margin: float,
    scale: Scale,
    estimate: FloatArray,
    error: FloatArray,
    df: FloatArray,
    confidence: float,
    distribution: MaxZ,
    adjust: Adjust | None,
) -> Margin:
    """Return the tests of m differences against a margin, adjusted for both directions of all differences.

    Single-step p-values come from the distribution of the largest |z|, which is the largest z over both directions.
    These p-values agree with simultaneous intervals: a difference is no worse if its interval is above the lower bound,
    and equivalent if its interval is within both bounds.
    """
    z = _distances(margin, scale, estimate, error)
    p = _one_sided(z, df)
    if adjust == "single-step":
        alike = np.where(df != distribution.df, stats.t.isf(p, distribution.df), z)
        p = np.where(z > 0, distribution.p_value(np.abs(alike).ravel()).reshape(z.shape), np.where(np.isnan(z), z, 1.0))
    elif adjust is not None:
        p = adjust_p(p.ravel(), adjust).reshape(p.shape)
    return Margin(margin, scale, p[0], p[1], confidence, together=adjust is not None)


def _distances(margin: float, scale: Scale, estimate: FloatArray, error: FloatArray) -> FloatArray:
    """Return the distances of estimates above the lower and below the upper bound, in standard errors, (2, m)."""
    half = half_width(margin, scale)
    return np.stack([ratio(half + estimate, error), ratio(half - estimate, error)])


def _one_sided(z: FloatArray, df: FloatArray) -> FloatArray:
    return np.asarray(special.stdtr(df, -z))


def check_tested(res: Estimates, function_name: str) -> None:
    """Raise for predictions of worths that are drawn from a distribution, because these are not tested."""
    if res.object_effects is not None:
        raise OptionError(
            "margin= with effects of objects, whose worths are predictions and are not tested",
            f"Leave it out: llbt.{function_name}(…) has the probability that one is better, and prediction intervals.",
        )
