"""Comparison of two boards of the same items: how each system's mean score changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy import stats

from ..base.table import Field, Record, Table, interval_fields
from ..core.columns import FloatArray, IntArray, Label
from ..core.max_z import max_z_of
from ..core.statistics import ratio
from ..data.system_scores import SystemScores
from ..errors import DesignError, listed
from .grouped_tests import Units, means, roots

_FEWEST = 2  # items that both boards have


@dataclass(frozen=True, repr=False, eq=False)
class BoardChanges(Record):
    """Changes of k systems from one board to another, on the items that both have.

    Made by ``board.compare(other)``.

    Attributes
    ----------
    systems : tuple, length k
    estimate, std_error : ndarray, shape (k,)
        The mean of the differences b − a, on the scale of the scores. The standard error is NaN if it is unknown, and 0
        if nothing changed.
    conf_low, conf_high, p_adjusted : ndarray, shape (k,)
        Simultaneous, by the largest |t| of all systems.
    n : ndarray of int, shape (k,)
        Number of items with a score of the system on both boards.
    names : tuple of str
        The names of the boards.
    higher_is_better : bool
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "board.compare(other)"

    systems: tuple[Label, ...]
    estimate: FloatArray
    std_error: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    p_adjusted: FloatArray
    n: IntArray
    names: tuple[str, str]
    higher_is_better: bool
    confidence: float
    notes: tuple[str, ...]

    @property
    def worse(self) -> tuple[Label, ...]:
        """The systems that got worse, with `confidence` for all systems together."""
        gone = self.conf_high < 0 if self.higher_is_better else self.conf_low > 0
        return tuple(label for label, lost in zip(self.systems, gone, strict=True) if lost)

    @property
    def better(self) -> tuple[Label, ...]:
        """The systems that got better, with `confidence` for all systems together."""
        won = self.conf_low > 0 if self.higher_is_better else self.conf_high < 0
        return tuple(label for label, gained in zip(self.systems, won, strict=True) if gained)

    def table(self) -> Table:
        """Return object, estimate (b − a), std_error, conf_low, conf_high, p_adjusted and n; the largest gain first."""
        order = np.argsort(-self.estimate if self.higher_is_better else self.estimate, kind="stable")
        one, other = self.names
        words = [f"got {what}: {listed(who)}" for what, who in (("better", self.better), ("worse", self.worse)) if who]
        answer = "; ".join(words) or "No system's change is beyond chance"
        return Table(
            (
                Field("object", "System", [self.systems[k] for k in order]),
                Field("estimate", f"{other} − {one}", self.estimate[order], "estimate"),
                Field("std_error", "Std. Error", self.std_error[order], "estimate"),
                *interval_fields(self.conf_low[order], self.conf_high[order], self.confidence),
                Field("p_adjusted", "p adjusted", self.p_adjusted[order], "p_value"),
                Field("n", "Items", self.n[order], "count"),
            ),
            title=f"Changes of mean scores from {one} to {other}, on items of both",
            head=(answer[0].upper() + answer[1:],),
            notes=self.notes,
        )


def board_changes(
    a: SystemScores,
    b: SystemScores,
    groups: pd.Series | None,
    names: tuple[str, str],
    confidence: float,
    rng: np.random.Generator,
) -> BoardChanges:
    """Return the changes of the systems that both boards have; `groups` holds the group of each item of `a`."""
    systems = [label for label in a.systems if label in b.systems]
    place = {label: k for k, label in enumerate(b.instances)}
    shared = [k for k, label in enumerate(a.instances) if label in place]
    if not systems or len(shared) < _FEWEST:
        raise DesignError(
            f"the boards share {len(systems)} systems and {len(shared)} items",
            "Compare boards of the same systems on the same items.",
            expected="at least one system and two items with the same names",
        )
    rows_a, rows_b = ([board.systems.index(label) for label in systems] for board in (a, b))
    before = a.values[np.ix_(rows_a, shared)]
    after = b.values[np.ix_(rows_b, [place[a.instances[k]] for k in shared])]
    codes = np.arange(len(shared)) if groups is None else pd.factorize(groups.iloc[shared])[0]
    largest = np.nanmax(np.abs(np.concatenate([before, after], axis=1)), axis=1, initial=0.0)
    units = Units.of(codes.astype(np.int64))
    changes = means(after - before, units, largest)
    known = np.isfinite(changes.std_error) & (changes.std_error > 0)
    low, high, p_value = np.full(len(systems), np.nan), np.full(len(systems), np.nan), np.full(len(systems), np.nan)
    same = changes.std_error == 0
    low[same], high[same] = changes.mean[same], changes.mean[same]
    if known.any():
        df = float(np.min(changes.df[known]))
        most = max_z_of(roots((after - before)[known], units), df, rng)
        reach = most.quantile(confidence) * changes.std_error
        low[known], high[known] = (changes.mean - reach)[known], (changes.mean + reach)[known]
        tails = 2 * stats.t.sf(np.abs(ratio(changes.mean, changes.std_error)), changes.df)
        p_value[known] = np.maximum(most.p_value(ratio(changes.mean, changes.std_error)[known]), tails[known])
    only = [
        f"only in {name}: {listed([x for x in board.systems if x not in systems], 3)}"
        for name, board in zip(names, (a, b), strict=True)
        if len(board.systems) > len(systems)
    ]
    apart = len(a.instances) + len(b.instances) - 2 * len(shared)
    notes = (
        *only,
        *([f"{apart} items that only one board has are left out"] if apart else []),
        "intervals and p-values hold for all systems together",
        *([f"clustered by {groups.name}"] if groups is not None else []),
    )
    return BoardChanges(
        tuple(systems),
        changes.mean,
        changes.std_error,
        low,
        high,
        p_value,
        np.sum(~np.isnan(after - before), axis=1),
        names,
        a.higher_is_better,
        confidence,
        notes,
    )
