"""One verdict per unit: correlated judgments of one prompt count once in tests of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.table import counted
from ..core.columns import FloatArray, IntArray, groups
from ..core.comparisons import Comparisons
from ..core.judgments import Judgments
from ..errors import JudgmentError, listed, near
from .pair_counts import Objects, PairCounts, pair_counts

_KNOWN = "prompt"  # what is the unit where nothing is said
_SAME = 1e-9  # fractional counts: wins closer than this are equal


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The counts for tests of P pairs.

    Attributes
    ----------
    pairs : PairCounts
        All judgments.
    counts : ndarray, shape (P, 3)
        Verdicts for i, for neither, for j: one per unit, or the judgments themselves.
    unit : str
        The unit with one verdict: ``"judgment"``, or a column such as ``"prompt"``.
    notes : tuple of str
        Notes on the judgments, and on the number of verdicts.
    """

    pairs: PairCounts
    counts: FloatArray
    unit: str
    notes: tuple[str, ...]


def pair_verdicts(data: object, unit: str | None, *, exclude: Objects = ()) -> Verdicts:
    """Return one verdict per pair and unit: for the object that wins more of its judgments, otherwise a tie.

    Parameters
    ----------
    data : Comparisons, or what `read_judged` reads
    unit : str or None
        A column; or ``"judgment"``: every judgment is a unit. None: the prompt if it is recorded and some pair was
        judged on several prompts, otherwise ``"judgment"``.
    exclude : label or sequence of labels

    Raises
    ------
    JudgmentError
        For a unit that the judgments do not have.
    """
    pairs = pair_counts(data, exclude=exclude, beside=_KNOWN if unit is None else unit)
    if unit is None and not _is_known(pairs.judgments):
        unit = "judgment"
    name = unit or _KNOWN
    if name == "judgment":
        return Verdicts(pairs, pairs.counts, name, pairs.notes)
    if not _is_known(pairs.judgments, name):
        raise _unknown(data, pairs.judgments, name)
    pair, outcome = np.divmod(pairs.cells, 3)
    first, group = groups([pair, _codes(pairs.judgments, name)])
    size = len(pairs.pairs)
    if unit is None and np.bincount(pair[first], minlength=size).max() == 1:
        return Verdicts(pairs, pairs.counts, "judgment", (*pairs.notes, *_one_each(pairs, name)))
    lead = np.bincount(group, weights=(1 - outcome) * pairs.judgments.times)
    verdict = np.where(lead > _SAME, 0, np.where(lead < -_SAME, 2, 1))
    counts = np.bincount(3 * pair[first] + verdict, minlength=3 * size).reshape(size, 3).astype(np.float64)
    one_each = f"one verdict per {name} and pair, for the object that wins more of its judgments"
    note = f"{one_each}: {counted(len(first), 'verdict')} of {counted(pairs.counts.sum(), 'judgment')}"
    return Verdicts(pairs, counts, name, (*pairs.notes, note))


def _is_known(judgments: Judgments, name: str = _KNOWN) -> bool:
    here = judgments.standing_for(name)
    return here in judgments.columns and bool(judgments.columns[here].notna().any())


def _codes(judgments: Judgments, name: str) -> IntArray:
    """Return the unit of each judgment, shape (R,); a judgment without a value is a unit of its own."""
    values = judgments.columns[judgments.standing_for(name)]
    codes, levels = values.factorize()
    alone = np.flatnonzero(codes < 0)
    made = np.asarray(codes, dtype=np.int64)
    made[alone] = len(levels) + np.arange(len(alone))
    return made


def _one_each(pairs: PairCounts, name: str) -> tuple[str, ...]:
    """Return a note that each pair was judged on one unit only, unless each pair has one judgment."""
    if pairs.counts.sum() == len(pairs.pairs):
        return ()
    return (f"each pair was judged on one {name}, so its judgments are assumed independent",)


def _unknown(data: object, judgments: Judgments, name: str) -> JudgmentError:
    if isinstance(data, Comparisons):
        names = (*data.clusters, *data.covariates)
        remedy = "Pass unit='judgment', or keep the column when the table is made: from_judgments(…, clusters=…)."
    else:
        names = tuple(column for column, values in judgments.columns.items() if values.notna().any())
        remedy = "Pass unit='judgment', or judgments that have it."
    has = listed(names) or "none"
    return JudgmentError(f"unit={name!r}{near(name, names)} is not a column of the judgments (columns: {has})", remedy)
