"""Test whether preferences are transitive: circular triads, stochastic transitivity, and deviances of pairs."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.arguments import checked
from ..base.budgets import refuse_square
from ..base.table import Field, Record, Table, format_count, format_number, format_share
from ..core.columns import FloatArray, IntArray, Label, as_objects
from ..core.comparisons import Comparisons
from ..fitting.fitted import PairFit
from ..fitting.protocols import has_effects
from ..kernel.deviances import cell_deviances
from .expected import expected_counts

_MOST_ROWS = 20
_OF_JUDGES = "expected shares are averaged over judges; deviances assume independent judgments"
_ROUNDING = 1e-12  # shares from fractional counts are equal if they are closer than this
_VIOLATED = as_objects(("none", "strong", "moderate", "weak"))  # by severity: each violation implies those before it


@dataclass(frozen=True, repr=False, eq=False)
class Intransitivity(Record):
    """How far the pooled preferences among J objects are from a ranking.

    Attributes
    ----------
    objects : tuple
    wins : ndarray, shape (J, J)
        Wins of the row's object over the column's, summed over comparisons.
    ties : ndarray, shape (J, J)
        Ties of each pair; symmetric.
    triads : int
        Triples of objects with a majority in each of the three pairs.
    circular_triads : int
        The number of triads in which i is preferred to j, j to k and k to i.
    zeta : float
        Kendall & Babington Smith's coefficient of consistence ζ: 1 for a ranking, 0 for the largest possible number of
        circular triads; NaN unless every pair was compared and has a majority.
    tested : int
        Ordered triples (i, j, k) with shares of at least one half for i over j and for j over k, and i and k compared.
    weak, moderate, strong : int
        How many tested triples violate weak, moderate or strong stochastic transitivity: the share of i over k is below
        one half, below the smaller, or below the larger of the other two shares.
    fitted : ndarray, shape (J, J), or None
        For a fit: expected share of the row's object; NaN for pairs that were never compared.
    deviances : ndarray, shape (J, J), or None
        For a fit: the deviance of each pair, summed over its comparisons; symmetric.
    notes : tuple of str
    """

    objects: tuple[Label, ...]
    wins: FloatArray
    ties: FloatArray
    triads: int
    circular_triads: int
    zeta: float
    tested: int
    weak: int
    moderate: int
    strong: int
    fitted: FloatArray | None
    deviances: FloatArray | None
    notes: tuple[str, ...]

    @property
    def judgments(self) -> FloatArray:
        """Judgments of each pair, shape (J, J)."""
        return self.wins + self.wins.T + self.ties

    @property
    def shares(self) -> FloatArray:
        """Observed share that the row's object wins, with ties as half, (J, J); NaN for pairs not compared."""
        return _shares(self.wins, self.ties)

    def table(self) -> Table:
        """Return the numbers of circular triads and of violations of transitivity, each with the number of triples."""
        forms = ("weak", "moderate", "strong")
        names = ["circular triads", *(f"violations of {form} stochastic transitivity" for form in forms)]
        counts = [self.circular_triads, self.weak, self.moderate, self.strong]
        tested = [self.triads, *[self.tested] * 3]
        share = [v / n if n else math.nan for v, n in zip(counts, tested, strict=True)]
        return Table(
            (
                Field("criterion", "", names),
                Field("count", "count", counts, "count"),
                Field("tested", "of triples", tested, "count"),
                Field("share", "share", share, "number", 3),
            ),
            title="Intransitivity",
            foot=tuple(self._foot()),
            notes=self.notes,
            more="details: .pairs() and .triples()",
        )

    def _foot(self) -> list[str]:
        lines = []
        if not math.isnan(self.zeta):
            most = format_count(most_circular_triads(len(self.objects)))
            shown = format_share(self.zeta)
            lines.append(f"Kendall & Babington Smith's coefficient of consistence: {shown} (at most {most} circular)")
        if self.triads:
            by_chance, spread = self.triads / 4, math.sqrt(3 * self.triads / 16)
            numbers = f"{format_count(by_chance)} (standard deviation {format_number(spread, 3)})"
            lines.append(f"circular triads expected by chance: {numbers}")
        if self.deviances is not None:
            lines.append(_deviance_line(self.objects, self.deviances))
        return lines

    def pairs(self) -> Table:
        """Return one row per pair that was compared; for a fit, the pairs with the largest deviance first.

        Returns
        -------
        Table
            object_i, object_j, judgments, wins_i, ties, wins_j, share (of i, with ties as half); for a fit also
            fitted_share and deviance.
        """
        total = self.judgments
        i, j = np.nonzero(np.triu(total > 0))
        extra: tuple[Field, ...] = ()
        if self.fitted is not None and self.deviances is not None:
            order = np.argsort(-self.deviances[i, j], kind="stable")
            i, j = i[order], j[order]
            extra = (
                Field("fitted_share", "fitted_share", self.fitted[i, j], "number", 3),
                Field("deviance", "deviance", self.deviances[i, j], "statistic"),
            )
        labels = as_objects(self.objects)
        return Table(
            (
                Field("object_i", "object_i", labels[i].tolist()),
                Field("object_j", "object_j", labels[j].tolist()),
                Field("judgments", "judgments", total[i, j], "count"),
                Field("wins_i", "wins_i", self.wins[i, j], "count"),
                Field("ties", "ties", self.ties[i, j], "count"),
                Field("wins_j", "wins_j", self.wins[j, i], "count"),
                Field("share", "share of i", self.shares[i, j], "number", 3),
                *extra,
            ),
            title="Pairs" + (", by deviance" if extra else ""),
        ).first(_MOST_ROWS)

    def triples(self) -> Table:
        """Return one row per triple of objects whose three pairs were compared.

        Returns
        -------
        Table
            object_i, object_j, object_k, ordered so that i wins at least half against j, and j against k; if several
            orders satisfy this, the one with the worst violation. share_ij, share_jk, share_ik. violated: ``"weak"``,
            ``"moderate"``, ``"strong"`` or ``"none"``, the weakest form of transitivity that fails; stronger forms then
            fail too. circular. For a fit also deviance, the sum over the three pairs, with the largest first; for a
            table the worst violations come first.
        """
        shares = self.shares
        ordered, severity = _ordered_triples(shares)
        i, j, k = ordered.T
        first, second, third = shares[i, j], shares[j, k], shares[i, k]
        deviance = (
            None if self.deviances is None else self.deviances[i, j] + self.deviances[j, k] + self.deviances[i, k]
        )
        keys = (third - np.maximum(first, second), -severity)
        order = np.lexsort(keys if deviance is None else (-deviance,))
        bound = 0.5 + _ROUNDING
        circular = (first > bound) & (second > bound) & (third < 1 - bound)
        labels = as_objects(self.objects)
        names = ("object_i", "object_j", "object_k")
        values = {"share_ij": first, "share_jk": second, "share_ik": third}
        return Table(
            (
                *(Field(name, name, labels[ordered[order, side]].tolist()) for side, name in enumerate(names)),
                *(Field(name, name, column[order], "number", 3) for name, column in values.items()),
                Field("violated", "violated", _VIOLATED[severity[order]].tolist()),
                Field("circular", "circular", circular[order]),
                *(() if deviance is None else (Field("deviance", "deviance", deviance[order], "statistic"),)),
            ),
            title="Triples" + ("" if deviance is None else ", by deviance"),
            notes=("in each triple, i wins at least half against j, and j against k",),
        ).first(_MOST_ROWS)


@checked
def intransitivity(data: PairFit | Comparisons) -> Intransitivity:
    """Return how intransitive the pooled preferences are, and for a fit, which pairs contribute to the deviance.

    A Bradley-Terry model ranks the objects, so it cannot describe preferences that go round in a circle.

    Parameters
    ----------
    data : LLBTResults, MixedResults, DiscriminationResults or Comparisons
        A fit or a table; for one judge's table use ``c.select(where={"judge": "J1"})``.

    Returns
    -------
    Intransitivity
        Circular triads with Kendall & Babington Smith's ζ, and violations of weak, moderate and strong stochastic
        transitivity. ``pairs()`` and ``triples()`` return the pairs and triples, for a fit with their deviances.

    Raises
    ------
    OptionError
        For anything but a fit or a table.

    Notes
    -----
    Counts are summed over all comparisons of a pair. i is *preferred* to j if it has more wins. With d circular triads
    among n objects, ζ = 1 − d/d_max, where d_max = n(n² − 1)/24 for odd n and n(n² − 4)/24 for even n (Kendall &
    Babington Smith 1940). ζ needs a majority in every pair. Otherwise ζ is NaN, and circular triads are counted among
    the triads with three majorities. If every majority were a coin toss, a quarter of T triads would be circular, with
    variance 3T/16 (Moran 1947). This holds whichever pairs are missing, because the triads are uncorrelated.

    Let p be the share of judgments won, with ties as half. An ordered triple (i, j, k) with p_ij ≥ ½ and p_jk ≥ ½
    violates weak stochastic transitivity if p_ik < ½, moderate if p_ik < min(p_ij, p_jk), and strong if p_ik <
    max(p_ij, p_jk). A circular triad meets this condition in three orders and violates all three forms in each. Other
    triples without even pairs meet it in one order. The model implies all three forms for the probabilities. Shares of
    few judgments differ from them, so small violations are expected. The deviance of a triple is the sum over its three
    pairs, so each pair is in n − 2 triples.

    References
    ----------
    Kendall, M. G. & Babington Smith, B. (1940). On the method of paired comparisons. Biometrika 31, 324-345.
    Moran, P. A. P. (1947). On the method of paired comparisons. Biometrika 34, 363-365.
    Tversky, A. (1969). Intransitivity of preferences. Psychological Review 76, 31-48.

    Examples
    --------
    >>> import llbt
    >>> cycles = llbt.intransitivity(llbt.load_dataset("cems"))
    >>> cycles.circular_triads, cycles.triads, cycles.zeta
    (1, 20, 0.875)
    >>> cycles.weak, cycles.moderate, cycles.strong, cycles.tested
    (3, 6, 7, 22)
    """
    c = data if isinstance(data, Comparisons) else data.comparisons
    wins, ties = _pooled(c, c.outcome_counts)
    fitted, deviances = (None, None) if isinstance(data, Comparisons) else _fitted(data)
    shares = _shares(wins, ties)
    triads, circular = count_triads(shares)
    size = len(c.objects)
    possible = size >= 3 and triads == math.comb(size, 3)
    zeta = 1 - circular / most_circular_triads(size) if possible else math.nan
    tested, weak, moderate, strong = count_violations(shares)
    notes = _notes(c, shares, circular, possible)
    if has_effects(data):
        notes = (*notes, _OF_JUDGES)
    return Intransitivity(
        c.objects, wins, ties, triads, circular, zeta, tested, weak, moderate, strong, fitted, deviances, notes
    )


def most_circular_triads(size: int) -> int:
    """Return the largest possible number of circular triads of `size` objects (Kendall & Babington Smith 1940)."""
    return size * (size**2 - (1 if size % 2 else 4)) // 24


def count_triads(shares: FloatArray) -> tuple[int, int]:
    """Return the number of triples with a majority in each pair, and how many of them are circular.

    Parameters
    ----------
    shares : ndarray, shape (J, J)
        Probabilities that the row's object wins; NaN if unknown and on the diagonal.

    Returns
    -------
    triads, circular : int
        The number of triangles tr(A³)/6, where A is 1 for pairs with a majority; and the number of directed cycles of
        three tr(P³)/3, where P is 1 if a majority prefers the row's object.
    """
    preferred = (shares > 0.5 + _ROUNDING).astype(np.float64)
    decided = preferred + preferred.T
    triads = np.sum((decided @ decided) * decided) / 6
    circular = np.sum((preferred @ preferred) * preferred.T) / 3
    return round(float(triads)), round(float(circular))


def count_violations(shares: FloatArray) -> tuple[int, int, int, int]:
    """Return numbers of tested ordered triples, and of violations of weak, moderate and strong transitivity.

    Parameters
    ----------
    shares : ndarray, shape (J, J)
        Probabilities that the row's object wins; NaN if unknown and on the diagonal.
    """
    violations = np.zeros(4, dtype=np.int64)
    for j in range(len(shares)):
        before = np.flatnonzero(shares[:, j] >= 0.5 - _ROUNDING)
        after = np.flatnonzero(shares[j] >= 0.5 - _ROUNDING)
        third = shares[np.ix_(before, after)]
        first, second = shares[before, j][:, None], shares[j, after][None, :]
        bounds = (np.inf, 0.5, np.minimum(first, second), np.maximum(first, second))
        violations += [int(np.count_nonzero(third < bound - _ROUNDING)) for bound in bounds]  # NaN is below nothing
    tested, weak, moderate, strong = violations.tolist()
    return tested, weak, moderate, strong


def _ordered_triples(shares: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the compared triples, each in its worst order, shape (T, 3), and the severity, shape (T,).

    Severity is 0 for a transitive triple; 1, 2 or 3 if strong, moderate or weak stochastic transitivity is violated.
    """
    triples = _compared_triples(~np.isnan(shares))
    worst = np.full(len(triples), -1)
    ordered = triples.copy()
    for sides in itertools.permutations(range(3)):
        candidate = triples[:, sides]
        severity = _severity(shares, candidate)
        better = severity > worst
        worst[better] = severity[better]
        ordered[better] = candidate[better]
    return ordered, worst


def _severity(shares: FloatArray, triples: IntArray) -> IntArray:
    """Return how severely triples (T, 3) violate transitivity in this order; −1 if the order is not tested."""
    i, j, k = triples.T
    first, second, third = shares[i, j], shares[j, k], shares[i, k] + _ROUNDING
    violated = (third < np.maximum(first, second)).astype(np.int64)
    violated += third < np.minimum(first, second)
    violated += third < 0.5
    return np.where((first >= 0.5 - _ROUNDING) & (second >= 0.5 - _ROUNDING), violated, -1)


def _compared_triples(compared: npt.NDArray[np.bool_]) -> IntArray:
    """Return i < j < k with all three pairs compared, shape (T, 3)."""
    upper = np.triu(compared, 1)
    parts = [np.empty((0, 3), dtype=np.int64)]
    for i in range(len(compared) - 2):
        partners = np.flatnonzero(upper[i])
        j, k = np.nonzero(upper[np.ix_(partners, partners)])
        parts.append(np.column_stack([np.full(len(j), i), partners[j], partners[k]]))
    return np.concatenate(parts)


def _pooled(c: Comparisons, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return wins and ties (J, J), from counts of outcomes (S, K) summed over the comparisons of each pair."""
    refuse_square("the matrices of wins and ties", len(c.objects))
    wins, ties = np.zeros((2, len(c.objects), len(c.objects)))
    (i, j), (wins_i, tied, wins_j) = c.pairs.T, c.response.tally(counts).T
    np.add.at(wins, (i, j), wins_i)
    np.add.at(wins, (j, i), wins_j)
    np.add.at(ties, (i, j), tied)
    return wins, ties + ties.T


def _shares(wins: FloatArray, ties: FloatArray) -> FloatArray:
    total = wins + wins.T + ties
    return np.asarray((wins + ties / 2) / np.where(total > 0, total, np.nan))


def _fitted(res: PairFit) -> tuple[FloatArray, FloatArray]:
    """Return expected shares and deviances of the pairs, each (J, J)."""
    c, means = res.comparisons, expected_counts(res)
    parts = cell_deviances(c.outcome_counts, means)
    deviances = np.zeros((len(c.objects), len(c.objects)))
    np.add.at(deviances, tuple(c.pairs.T), parts.sum(axis=1))
    return _shares(*_pooled(c, means)), deviances + deviances.T


def _notes(c: Comparisons, shares: FloatArray, circular: int, possible: bool) -> tuple[str, ...]:
    """Return notes on what was pooled, and on what is counted if pairs are missing or even."""
    known = shares[np.triu_indices(len(shares), 1)]
    missing, even = int(np.isnan(known).sum()), int((np.abs(known - 0.5) <= _ROUNDING).sum())
    over = [*(["the order shown"] if c.keeps_order else []), *c.covariates]
    notes = ["preferences are majorities of the judgments" + (f", pooled over {', '.join(over)}" if over else "")]
    if c.n_ties:
        notes.append("ties count as half a win for either side")
    if missing:
        notes.append(f"never compared: {_of_pairs(missing, known)}; triples with them are left out")
    if even:
        notes.append(f"even: {_of_pairs(even, known)}; no triad with them counts as circular")
    if circular:
        notes.append("each circular triad counts as three violations of stochastic transitivity")
    if len(shares) < 3:
        notes.append("two objects make no triple")
    elif not possible:
        notes.append("some pairs lack a majority: no coefficient of consistence, and circular triads may be missed")
    return tuple(notes)


def _of_pairs(number: int, known: FloatArray) -> str:
    return f"{format_count(number)} of {format_count(len(known))} pairs"


def _deviance_line(objects: tuple[Label, ...], deviances: FloatArray) -> str:
    i, j = np.unravel_index(int(deviances.argmax()), deviances.shape)
    total, largest = format_number(float(deviances.sum() / 2)), format_number(float(deviances.max()))
    return f"Residual deviance: {total}; the largest part, {largest}, is from {objects[int(i)]} and {objects[int(j)]}"
