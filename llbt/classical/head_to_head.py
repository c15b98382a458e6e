"""Every pair of systems by itself: how often each was better, and the sign test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..base.arguments import checked
from ..base.budgets import refuse_square
from ..base.table import Field, Record, Table, counted, p_fields
from ..core.columns import FloatArray, IntArray, Label, as_objects
from ..core.statistics import sign_p
from .pair_counts import Objects, as_whole
from .pair_tables import Adjust, absent_pairs, adjust_note, adjusted_p, pair_fields
from .unit_verdicts import pair_verdicts


@dataclass(frozen=True, repr=False, eq=False)
class HeadToHead(Record):
    """Wins, ties and losses of J systems against each other, with sign tests; P pairs were compared.

    Attributes
    ----------
    objects : tuple, length J
    pairs : ndarray of int, shape (P, 2)
        Positions of i and j.
    counts : ndarray, shape (P, 3)
        Wins of i, ties, wins of j; judgments, not units.
    p_value, p_adjusted : ndarray, shape (P,)
        Two-sided exact sign tests of equal chances among decided units; NaN where all are ties.
    adjust : str or None
    unit : str
        The unit with one verdict in the tests: ``"judgment"``, ``"prompt"``, ….
    notes : tuple of str
    """

    objects: tuple[Label, ...]
    pairs: IntArray
    counts: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    adjust: Adjust
    unit: str
    notes: tuple[str, ...]

    @property
    def shares(self) -> FloatArray:
        """Shares of the judgments of a pair in which i is better, neither is, j is better, shape (P, 3)."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    def matrix(self) -> pd.DataFrame:
        """Return the share of judgments in which the row is better than the column, ties in the denominator.

        J × J, labelled; NaN on the diagonal and for pairs that were never compared.
        """
        refuse_square("the matrix of shares", len(self.objects))
        made = np.full((len(self.objects), len(self.objects)), np.nan)
        i, j = self.pairs.T
        made[i, j], made[j, i] = self.shares[:, 0], self.shares[:, 2]
        return pd.DataFrame(made, index=list(self.objects), columns=list(self.objects))

    def table(self) -> Table:
        """Return object_i, object_j, wins_i, ties, wins_j, n, estimate, share_ties, share_j, p_value, p_adjusted."""
        i, j = as_objects(self.objects)[self.pairs].T.tolist()
        return Table(
            (
                *pair_fields(i, j, self.counts),
                Field("n", "n", as_whole(self.counts.sum(axis=1)), "count"),
                Field("estimate", "i better", self.shares[:, 0], "number", 3),
                Field("share_ties", "tied", self.shares[:, 1], "number", 3),
                Field("share_j", "j better", self.shares[:, 2], "number", 3),
                *p_fields(self.p_value, self.p_adjusted),
            ),
            title="Head to head: shares of the judgments of each pair",
            notes=(*self.notes, f"p-values: sign test of the decided {self.unit}s", adjust_note(self.adjust)),
        ).first()


@checked
def head_to_head(
    data: object, *, unit: str | None = None, adjust: Adjust = "holm", exclude: Objects = ()
) -> HeadToHead:
    """Return wins, ties and losses of every pair of objects with their sign test.

    Parameters
    ----------
    data : Comparisons, frame, path or list of records
        A table of counts, or judgments in any form that `read_judgments` reads. Counts are summed over covariates and
        over both orders of presentation.
    unit : str, optional
        The unit with one verdict in the tests, as in `sign_test`: by default the prompt if it is recorded. Counts and
        shares are always of judgments.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the number of pairs.
    exclude : label or sequence of labels
        Objects that are left out.

    Returns
    -------
    HeadToHead
        object_i, object_j, wins_i, ties, wins_j, n, estimate (the share of the n judgments in which i is better),
        share_ties, share_j, p_value, p_adjusted; one row per pair that was compared. ``matrix()`` has the shares as a
        J × J frame.

    Raises
    ------
    OptionError
        For an unknown `adjust`, and unknown objects in `exclude`.
    JudgmentError
        If no judgment is left, and for a `unit` that the judgments do not have.

    Notes
    -----
    The denominator of the shares includes ties, as in the tables of the Workshop on Machine Translation. The p-value is
    from the exact two-sided sign test, which drops ties (for fractional counts from the normal approximation).
    Judgments implied by one ranking are not independent, so the p-value of a pair is valid, but p-values of different
    pairs are not independent.

    References
    ----------
    Callison-Burch, C. et al. (2010). Findings of the 2010 Joint Workshop on Statistical Machine Translation and
    Metrics for Machine Translation. WMT, 17-53.

    Examples
    --------
    >>> import llbt
    >>> head_to_head = llbt.classical.head_to_head(llbt.load_dataset("dras_modpref"))
    >>> head_to_head.to_frame()[["wins_i", "ties", "wins_j", "n"]].values.tolist()
    [[61, 24, 35, 120]]
    >>> round(float(head_to_head.matrix().loc["+", "-"]), 3)
    0.508
    """
    verdicts = pair_verdicts(data, unit, exclude=exclude)
    pairs = verdicts.pairs
    wins_i, wins_j = verdicts.counts[:, 0], verdicts.counts[:, 2]
    p_value = np.array([sign_p(w, n) for w, n in zip(wins_i, wins_i + wins_j, strict=True)])
    tied = int(np.isnan(p_value).sum())
    notes = (
        *verdicts.notes,
        *absent_pairs(pairs),
        *([f"{counted(tied, 'pair')} with ties only: p-value NA"] if tied else []),
    )
    adjusted = adjusted_p(p_value, adjust)
    return HeadToHead(pairs.objects, pairs.pairs, pairs.counts, p_value, adjusted, adjust, verdicts.unit, notes)
