"""Coefficients of agreement: arithmetic on counts of labels.

Letters of the shapes: R judgments, U units, K labels, J judges, G pairs of judges. B is the number of values computed
at once: resamples, pairs of judges, or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from ..core.columns import FloatArray, IntArray, groups, tally

Coefficient = Literal[
    "percent",
    "bennett_s",
    "scott_pi",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "fleiss_kappa",
    "krippendorff_alpha",
    "krippendorff_alpha_ordinal",
    "gwet_ac1",
]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
_ROUNDING = 1e-12  # chance agreement closer to 1 leaves nothing to correct: 0/0


@dataclass(frozen=True, eq=False)
class Labelled:
    """R judgments as codes.

    Attributes
    ----------
    unit, judge, label : ndarray of int, each (R,)
    flip : ndarray of int, shape (K,)
        The label that each label becomes if the two objects change places.
    """

    unit: IntArray
    judge: IntArray
    label: IntArray
    flip: IntArray

    @property
    def units(self) -> int:
        """Number of units U."""
        return int(self.unit.max(initial=-1)) + 1

    def take(self, rows: IntArray) -> Labelled:
        """Return some of the judgments, with their units renumbered."""
        _, unit = groups([self.unit[rows]])
        return Labelled(unit, self.judge[rows], self.label[rows], self.flip)


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums over units from which the coefficients are computed, B times.

    Attributes
    ----------
    pairs, agree : ndarray, each (B,)
        The number of pairs of judgments of the same unit, and of these pairs with equal labels.
    near : ndarray, shape (B, 2)
        Pairs of judgments weighted by the nearness of their labels, linearly and quadratically.
    counts : ndarray, shape (B, K)
        Judgments by label.
    units, paired : ndarray, each (B,)
        The number of units, and the number of units with a pair of judgments.
    unit_agree : ndarray, shape (B,)
        Share of agreeing pairs of each unit with pairs, summed.
    unit_shares : ndarray, shape (B, K)
        Share of each label in each unit, summed.
    coincidences : ndarray, shape (B, K, K)
        Krippendorff's coincidences: each unit's ordered pairs of judgments, divided by the number of its judgments
        minus one.
    margins : ndarray, shape (B, G, 2, K), or None
        Counts of the labels of both judges of each pair, on the units that both judged.
    """

    pairs: FloatArray
    agree: FloatArray
    near: FloatArray
    counts: FloatArray
    units: FloatArray
    paired: FloatArray
    unit_agree: FloatArray
    unit_shares: FloatArray
    coincidences: FloatArray
    margins: FloatArray | None


def unit_features(data: Labelled, among: str) -> FloatArray:
    """Return the quantities to sum over units, shape (U, 6 + 2K + K²): the fields of `Sums` except the margins."""
    counts = tally(data.unit, data.label, size=data.units, outcomes=len(data.flip))
    total = counts.sum(axis=1)
    same_pairs, same_agree = _same_judge(data)
    pairs, agree = same_pairs, same_agree
    if among == "inter":
        pairs, agree = _choose2(total) - same_pairs, _choose2(counts).sum(axis=1) - same_agree
    near = [((counts @ weights * counts).sum(axis=1) - total) / 2 for weights in nearness(len(data.flip))[1:]]
    coincident = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(len(data.flip))
    coincident /= np.maximum(total - 1, 1)[:, None, None]  # of one judgment: no pairs, 0
    share = np.divide(agree, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    return np.column_stack(
        [pairs, agree, *near, pairs > 0, share, counts, counts / total[:, None], coincident.reshape(len(total), -1)]
    )


def summed(features: FloatArray, weights: FloatArray, margins: FloatArray | None = None) -> Sums:
    """Return features summed over units.

    Parameters
    ----------
    features : ndarray, shape (U, 6 + 2K + K²)
    weights : ndarray, shape (B, U)
        How often each unit counts.
    margins : ndarray, shape (B, G, 2, K), optional
    """
    sums = weights @ features
    k = round((features.shape[1] - 5) ** 0.5) - 1  # 6 + 2K + K² = 5 + (K + 1)²
    counts, shares, coincident = np.split(sums[:, 6:], [k, 2 * k], axis=1)
    pairs, agree, _, _, paired, share = sums[:, :6].T
    coincidences = coincident.reshape(-1, k, k)
    return Sums(pairs, agree, sums[:, 2:4], counts, weights.sum(axis=1), paired, share, shares, coincidences, margins)


def nearness(k: int) -> FloatArray:
    """Return weights of two labels, shape (3, K, K): 1 if equal else 0; 1 − d/(K − 1); 1 − d²/(K − 1)²."""
    apart = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / max(k - 1, 1)
    return np.stack([np.eye(k), 1 - apart, 1 - apart**2])


# -- pairs of judges ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Crossed:
    """Pairs of judgments of the same unit by two judges, M of them.

    Attributes
    ----------
    unit, between : ndarray of int, each (M,)
        The unit, and the number of the pair of judges.
    labels : ndarray of int, shape (M, 2)
        The label by the judge with the smaller number, and the label by the other judge.
    judges : ndarray of int, shape (G, 2)
    """

    unit: IntArray
    between: IntArray
    labels: IntArray
    judges: IntArray

    def tables(self, k: int) -> FloatArray:
        """Return the counts of pairs of labels, shape (G, K, K)."""
        cell = (self.between * k + self.labels[:, 0]) * k + self.labels[:, 1]
        return np.bincount(cell, minlength=len(self.judges) * k * k).reshape(-1, k, k).astype(np.float64)

    def unit_margins(self, units: int, k: int) -> csr_array:
        """Return the margins of the tables of `counts` by unit, shape (U, G·2·K)."""
        columns = ((self.between[:, None] * 2 + np.arange(2)) * k + self.labels).ravel()
        shape = (units, len(self.judges) * 2 * k)
        return csr_array((np.ones(len(columns)), (np.repeat(self.unit, 2), columns)), shape=shape)


def crossed(data: Labelled) -> Crossed:
    """Return all pairs of judgments of the same unit by two judges."""
    order = np.lexsort((data.judge, data.unit))
    unit, judge, label = data.unit[order], data.judge[order], data.label[order]
    size = np.bincount(unit)
    later = np.cumsum(size)[unit] - np.arange(len(unit)) - 1  # judgments of the same unit that follow
    one = np.repeat(np.arange(len(unit)), later)
    other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(later) - later, later)
    two = judge[one] != judge[other]
    one, other = one[two], other[two]
    first, between = groups([judge[one], judge[other]])
    judges = np.column_stack([judge[one], judge[other]])[first]
    return Crossed(unit[one], between, np.column_stack([label[one], label[other]]), judges)


def judge_pair_sums(met: Crossed, counts: FloatArray, k: int) -> Sums:
    """Return the sums of each pair of judges, B = G. Sums by unit assume one label per judge and unit.

    Parameters
    ----------
    met : Crossed
    counts : ndarray, shape (J, K)
        All judgments of each judge by label.
    k : int
        Number of labels.
    """
    tables = met.tables(k)
    met_at, _ = groups([met.between, met.unit])
    shared = np.bincount(met.between[met_at], minlength=len(tables)).astype(np.float64)
    margins = np.stack([tables.sum(axis=2), tables.sum(axis=1)], axis=1)
    agree, *near = np.einsum("wkl,gkl->wg", nearness(k), tables)
    both = counts[met.judges].sum(axis=1)
    return Sums(
        pairs=tables.sum(axis=(1, 2)),
        agree=agree,
        near=np.column_stack(near),
        counts=both,
        units=both.sum(axis=1) - shared,
        paired=shared,
        unit_agree=agree,
        unit_shares=both - margins.sum(axis=1) / 2,  # a shared unit: half a unit for the label of either
        coincidences=tables + tables.swapaxes(1, 2),
        margins=margins[:, None],
    )


def judge_counts(data: Labelled) -> FloatArray:
    """Return the judgments of each judge by label, shape (J, K)."""
    return tally(data.judge, data.label, outcomes=len(data.flip))


# -- the coefficients --------------------------------------------------------------------------------------------


def observed_and_expected(
    sums: Sums, flip: IntArray, chance: FloatArray | None = None
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return observed and expected agreement of each coefficient, each (B,).

    Parameters
    ----------
    sums : Sums
    flip : ndarray of int, shape (K,)
    chance : ndarray, shape (K,), optional
        Shares of the labels for Scott's π; by default the shares among the judgments.
    """
    k = len(flip)
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = sums.agree / sums.pairs
        by_unit = sums.unit_agree / sums.paired
        shares = label_shares(sums.counts, flip) if chance is None else chance
        unit_shares = label_shares(sums.unit_shares, flip)
        nothing = np.full(len(raw), np.nan)
        values = {
            "percent": (raw, nothing),
            "bennett_s": (raw, np.full(len(raw), 1 / k)),
            "scott_pi": (raw, np.broadcast_to((shares**2).sum(axis=-1), raw.shape)),
            "fleiss_kappa": (by_unit, (unit_shares**2).sum(axis=-1)),
            "gwet_ac1": (by_unit, (unit_shares * (1 - unit_shares)).sum(axis=-1) / np.float64(k - 1)),
            "krippendorff_alpha": _alpha(sums.coincidences, flip, ordinal=False),
            "krippendorff_alpha_ordinal": _alpha(sums.coincidences, flip, ordinal=True),
        }
        if sums.margins is not None:
            expected = _expected_by_judges(sums.margins, flip)
            near = np.column_stack([sums.agree, sums.near]) / sums.pairs[:, None]
            for w, name in enumerate(("cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic")):
                values[name] = (near[:, w], expected[w])
    return values


def corrected(name: str, observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return (observed − expected)/(1 − expected); NaN for 0/0; the observed agreement itself for percent."""
    if name == "percent":
        return observed
    left = 1 - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(left > _ROUNDING, (observed - expected) / left, np.nan)


def label_shares(counts: FloatArray, flip: IntArray) -> FloatArray:
    """Return shares of the labels, each judgment in both orientations, (…, K)."""
    both = counts + counts[..., flip]
    with np.errstate(invalid="ignore"):
        return np.asarray(both / both.sum(axis=-1, keepdims=True))


def _expected_by_judges(margins: FloatArray, flip: IntArray) -> FloatArray:
    """Return the expected agreement of Cohen's κ, nominal, linear and quadratic, (3, B)."""
    both = (margins + margins[..., flip]) / 2
    size = both.sum(axis=-1)[:, :, 0]
    one, other = both[:, :, 0], both[:, :, 1]
    met = np.divide(one, size[..., None], out=np.zeros_like(one), where=size[..., None] > 0)
    joint = np.einsum("bgk,bgl->bkl", met, other)
    return np.asarray(np.einsum("wkl,bkl->wb", nearness(len(flip)), joint) / size.sum(axis=1))


def _alpha(coincidences: FloatArray, flip: IntArray, *, ordinal: bool) -> tuple[FloatArray, FloatArray]:
    """Return 1 − D_o and 1 − D_e of Krippendorff's α, each (B,).

    The expected pairs are pairs of different judgments, each in both orientations. Without labels that flip they are
    n_c(n_k − [c = k])/(n − 1).
    """
    k = len(flip)
    seen = (coincidences + coincidences[:, flip][:, :, flip]) / 2
    n = seen.sum(axis=2)
    size = n.sum(axis=1)
    itself = n[:, :, None] * (np.eye(k) + np.eye(k)[flip]) / 2
    expected = (n[:, :, None] * n[:, None, :] - itself) / (size - 1)[:, None, None]
    middle = np.cumsum(n, axis=1) - n / 2
    far = (middle[:, :, None] - middle[:, None, :]) ** 2 if ordinal else np.broadcast_to(1 - np.eye(k), seen.shape)
    largest = far.max(axis=(1, 2))
    disagreement = [(table * far).sum(axis=(1, 2)) / (size * largest) for table in (seen, expected)]
    return 1 - disagreement[0], 1 - disagreement[1]


def _same_judge(data: Labelled) -> tuple[FloatArray, FloatArray]:
    """Return the pairs of judgments of each unit by the same judge, and how many of these agree, each (U,)."""
    first, cell = groups([data.unit, data.judge])
    counts = tally(cell, data.label, size=len(first), outcomes=len(data.flip))
    of = data.unit[first]
    pairs = np.bincount(of, _choose2(counts.sum(axis=1)), data.units)
    agree = np.bincount(of, _choose2(counts).sum(axis=1), data.units)
    return pairs.astype(np.float64), agree.astype(np.float64)


def _choose2(n: FloatArray) -> FloatArray:
    return n * (n - 1) / 2
