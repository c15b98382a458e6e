"""A finding of the audit: its text, its numbers and its remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import stats

from ..base.table import format_p
from ..core.columns import FloatArray, Label
from ..core.statistics import adjust_p

Level = Literal["error", "warning", "note", "ok", "unchecked"]

SIGNIFICANT = 0.005  # level of a test: with eight of them, fewer than one faultless data set in twenty gets a finding
NAMED = 4  # objects, judges or labels in a line


@dataclass(frozen=True)
class Finding:
    """The finding of one check.

    Attributes
    ----------
    check : str
        The name of the check, for `Audit.failed` and ``--fail-on``.
    level : {"error", "warning", "note", "ok", "unchecked"}
        An error stops an analysis, a warning is a problem that may mislead it, a note informs; ``"unchecked"``: the
        data do not allow the check.
    found : str
    effect, remedy : str
        The effect on an analysis, and the call that deals with it; empty if nothing is wrong.
    figures : mapping of str to float
        The numbers in `found`, unrounded.
    """

    check: str
    level: Level
    found: str
    effect: str = ""
    remedy: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_failure(self) -> bool:
        """Whether something was found."""
        return self.level in ("error", "warning", "note")


def p_text(p: float) -> str:
    """Return a p-value for a sentence: ``p = 0.03``, ``p <2e-16``."""
    text = format_p(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def and_more(parts: list[str], most: int = NAMED) -> str:
    """Return phrases joined by semicolons: the first `most` of them, and the number of the others."""
    shown = "; ".join(parts[:most])
    return shown if len(parts) <= most else f"{shown}; and {len(parts) - most} more"


def leaving_out(column: str, labels: Sequence[Label]) -> str:
    """Return code that selects the rows of a frame without some judges."""
    return f"frame[~frame[{column!r}].isin({list(labels)!r})]"


def one_share(table: FloatArray, effect: FloatArray) -> float:
    """Return the p-value of equal shares for all judges: Pearson's χ² over the mean design effect (Rao & Scott 1981).

    Parameters
    ----------
    table : ndarray, shape (K, 2)
        How often each judge gave the answer, and how often another one.
    effect : ndarray, shape (K,)
        The variance of each judge's number divided by the variance under independence, as `answer_effect` returns it.
    """
    statistic = float(stats.chi2_contingency(table, correction=False).statistic)
    return float(stats.chi2.sf(statistic / effect.mean(), len(table) - 1))


def unlike_all(table: FloatArray, effect: FloatArray | None = None) -> tuple[list[int], FloatArray]:
    """Return the judges whose share of an answer differs from the others, clearest first, and all adjusted p-values.

    P-values are two-sided, exact for whole counts, and adjusted by Holm's method.

    Parameters
    ----------
    table : ndarray, shape (K, 2)
        How often each judge gave the answer, and how often another one.
    effect : ndarray, shape (K,), optional
        Design effects, as in `one_share`: the normal score of a p-value is divided by their root.
    """
    n, total, given = table.sum(axis=1), float(table.sum()), float(table[:, 0].sum())
    if np.all(table == np.floor(table)):
        drawn = stats.hypergeom(total, given, n)
        p = np.minimum(2 * np.minimum(drawn.cdf(table[:, 0]), drawn.sf(table[:, 0] - 1)), 1.0)
    else:
        share = given / total
        with np.errstate(divide="ignore", invalid="ignore"):  # a judge with nearly all judgments has no others
            z = (table[:, 0] - n * share) / np.sqrt(n * share * (1 - share) * (1 - n / total))
        p = 2 * stats.norm.sf(np.abs(z))
    if effect is not None:
        z = stats.norm.isf(np.maximum(p, 1e-300) / 2) / np.sqrt(effect)
        p = np.where(effect > 1, 2 * stats.norm.sf(z), p)
    adjusted = adjust_p(np.asarray(p), "holm")
    return [int(k) for k in np.argsort(adjusted, kind="stable") if adjusted[k] < SIGNIFICANT], adjusted
