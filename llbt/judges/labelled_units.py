"""Judgments as labels of units: the unit, the judge and the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import counted, format_count
from ..core.columns import Coded, FloatArray, IntArray, Label, as_objects, code, groups
from ..core.comparisons import Comparisons
from ..core.counts import OUTCOMES
from ..core.judgments import Judgments
from ..data.files import open_source
from ..data.formats import Labels
from ..data.judge_columns import read_judged
from ..data.known_formats import has_known_format, matching_format
from ..data.sources import as_names
from ..errors import DesignError, JudgmentError, LLBTError, listed, within
from .block_bests import BEST_OF_BLOCK, best_of_blocks
from .coefficients import COEFFICIENTS, Labelled, label_shares, unit_features

Among = Literal["inter", "intra"]
Reason = tuple[type[LLBTError], str, str]  # the error, what it says, and the same in a few words for a note

ORDERED = ("cohen_kappa_linear", "cohen_kappa_quadratic", "krippendorff_alpha_ordinal")
ONE_LABEL = (*(name for name in COEFFICIENTS if name.startswith(("cohen", "krippendorff"))), "fleiss_kappa")
_WITH_KINDS, _KIND = "outcome_and_kind", "tie_kind"
MOST_PAIRS = 10_000_000  # pairs of judgments listed one by one, for what is computed by pair of judges: 1 GB
_MOST_CELLS = 100_000_000  # units × labels²: 1 GB


@dataclass(frozen=True, eq=False)
class LabelledUnits:
    """R judgments, their K labels, and the names for messages.

    Attributes
    ----------
    judgments : Judgments
    data : Labelled
        Codes; labels as if the object of each pair whose name sorts first were i.
    labels : list
    judge : Coded
    unit : tuple of str
        The columns that make a unit, the columns of the objects first.
    called : dict
        Columns that have another name in the standard frame.
    rows : ndarray of int, shape (R,)
        The positions of the judgments before judgments without a label were left out.
    again : ndarray of bool, shape (R,)
        Whether the same judge had already judged the unit.
    notes : tuple of str
    """

    judgments: Judgments
    data: Labelled
    labels: list[Label]
    judge: Coded
    unit: tuple[str, ...]
    called: dict[str, str]
    rows: IntArray
    again: npt.NDArray[np.bool_]
    notes: tuple[str, ...]

    def shares(self) -> FloatArray:
        """Return the shares of the labels, each judgment in both orientations, (K,)."""
        counts = np.bincount(self.data.label, minlength=len(self.labels)).astype(np.float64)
        return label_shares(counts, self.data.flip)

    def column(self, name: str, parameter: str) -> Coded:
        """Return a column by the name that the caller gave."""
        return self.judgments.column(self.called.get(name, name), parameter)

    @property
    def ordered(self) -> bool:
        """Whether the labels have an order: i < tie < j, or all numbers."""
        numbers = all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in self.labels)
        return numbers or set(self.labels) <= set(OUTCOMES)


def read_units(
    frame: object, unit: str | Sequence[str], judge: str, label: str, objects: Sequence[str]
) -> LabelledUnits:
    """Return judgments with their labels and units; the parameters are those of `agreement`."""
    names = as_names(unit, "unit")
    renames = judge != "judge" and not isinstance(frame, Judgments)
    outcome, label = _columns_of(frame, label)
    judgments = read_judged(frame, objects=objects, outcome=outcome, judge=judge if renames else None)
    judgments, first_rows, once = _labelled_once(judgments, label)
    judgments, label_codes, rows, notes = _labelled(judgments, label)
    called = {judge: "judge"} if renames and judge not in judgments.names else {}  # its name once it was read
    judges = judgments.column(called.get(judge, judge), "judge")
    given, _ = judgments.grouped([called.get(name, name) for name in names], "unit")
    low, high = np.sort(judgments.pairs, axis=1).T
    _, units = groups([given, low, high])
    codes = np.asarray(judges.codes, dtype=np.int64)
    first, cell = groups([units, codes])
    again = first[cell] != np.arange(len(cell))
    labels = _sorted_labels(label_codes.levels.tolist())
    _refuse_many(label, labels, int(units.max()) + 1)
    data = _oriented(label_codes.values, labels, judgments.pairs)
    data = replace(data, unit=units, judge=codes)
    return LabelledUnits(
        judgments,
        data,
        labels,
        judges,
        (*objects, *names),
        called,
        first_rows[rows],
        again,
        (*judgments.notes, *once, *notes),
    )


def _labelled_once(judgments: Judgments, label: str) -> tuple[Judgments, IntArray, tuple[str, ...]]:
    """Return rows with one label each, their positions in the judgments, and notes."""
    if label == BEST_OF_BLOCK and label not in judgments.names:
        return best_of_blocks(judgments)
    return judgments.once()


def _columns_of(frame: object, label: str) -> tuple[str, str]:
    """Return the column of a frame with the outcome, and the column of the judgments with the labels.

    If the only outcome of a frame is the column that the caller names, the labels are the outcomes.
    """
    if isinstance(frame, (Judgments, Comparisons)) or label == "outcome":
        return "outcome", label
    source = open_source(frame)
    names = frozenset(map(str, source.names))
    if "outcome" in names or label not in names:
        return "outcome", label
    if not has_known_format(source):
        return label, "outcome"
    verdict = matching_format(source).games[0].verdict
    return "outcome", "outcome" if isinstance(verdict, Labels) and verdict.field == label else label


def _labelled(judgments: Judgments, label: str) -> tuple[Judgments, Coded, IntArray, list[str]]:
    """Return the judgments that have a label, their labels, their positions, and a note on the others."""
    rows = np.arange(len(judgments.outcomes))
    if label == _WITH_KINDS and label not in judgments.names:
        return judgments, _with_kinds(judgments), rows, []
    missing = judgments.values(label).isna().to_numpy() if label in judgments.names else np.zeros(len(rows), dtype=bool)
    if not missing.any():
        return judgments, judgments.column(label, "label"), rows, []
    if missing.all():
        raise JudgmentError(f"column {label!r} (label=) has no value in any of {len(missing):,} rows.")
    judgments = judgments.take(~missing)
    note = f"{counted(int(missing.sum()), 'judgment')} left out: no value of {label!r}"
    return judgments, judgments.column(label, "label"), rows[~missing], [note]


def _with_kinds(judgments: Judgments) -> Coded:
    """Return the outcomes; a tie with a known kind has its kind in place of the outcome."""
    outcomes, kinds = judgments.values("outcome"), judgments.values(_KIND)
    apart = (outcomes == "tie") & kinds.notna()
    return code(_WITH_KINDS, as_objects(np.where(apart, kinds.astype(object), outcomes.astype(object)).tolist()))


def _refuse_many(name: str, labels: list[Label], units: int) -> None:
    if units * len(labels) ** 2 > _MOST_CELLS:
        raise JudgmentError(
            f"column {name!r} (label=) has {len(labels):,} different labels, such as {listed(labels, 3)}, on "
            f"{units:,} units: too many",
            expected="few labels that judges share",
        )


def _sorted_labels(labels: list[Label]) -> list[Label]:
    """Return the labels that a judgment may have: i first and j last, both if either was seen."""
    if not {"i", "j"} & set(labels):
        return ["i", "tie", "j"] if labels == ["tie"] else labels
    return ["i", *(name for name in labels if name not in ("i", "j")), "j"]


def _oriented(codes: npt.NDArray[Any], labels: list[Label], pairs: IntArray) -> Labelled:
    """Return labels as codes, as if the first name of each pair were i; units and judges are added later."""
    flip = np.arange(len(labels))
    if "i" in labels:
        flip[[0, -1]] = flip[[-1, 0]]
    label = np.asarray(pd.Index(labels, dtype=object).get_indexer(pd.Index(codes, dtype=object)), dtype=np.int64)
    label = np.where(pairs[:, 0] > pairs[:, 1], flip[label], label)
    return Labelled(label, label, label, flip)


def with_chance(
    read: LabelledUnits, chance_from: object, label: str, objects: Sequence[str]
) -> tuple[LabelledUnits, FloatArray, str]:
    """Return the judgments coded with the labels of both tables, and the label shares and source of `chance_from`."""
    outcome, label = _columns_of(chance_from, label)
    with within("chance_from"):
        others = _labelled_once(read_judged(chance_from, objects=objects, outcome=outcome), label)[0]
    other, codes, _, _ = _labelled(others, label)
    labels = _sorted_labels(list(code(label, np.concatenate([_labels_of(read), codes.values])).levels))
    mapped = _oriented(_labels_of(read), labels, np.zeros((len(read.data.label), 2), dtype=np.int64))
    data = replace(mapped, unit=read.data.unit, judge=read.data.judge)
    counts = np.bincount(_oriented(codes.values, labels, other.pairs).label, minlength=len(labels))
    shares = label_shares(counts.astype(np.float64), data.flip)
    read = replace(read, data=data, labels=labels)
    return read, shares, f"all {counted(len(codes.codes), 'judgment')} of chance_from="


def _labels_of(read: LabelledUnits) -> npt.NDArray[Any]:
    return np.asarray(as_objects(read.labels)[read.data.label])


def refuse_nothing(read: LabelledUnits, among: Among) -> None:
    """Raise unless two units have a pair of judgments."""
    judges, units = read.judge.levels, read.data.units
    if among == "inter" and len(np.unique(read.data.judge)) == 1:
        raise JudgmentError(
            f"all {counted(len(read.data.label), 'judgment')} are by one judge, {judges[0]!r}",
            "Pass among='intra' for the agreement of a judge with themselves.",
            expected="two judges or more",
        )
    paired = int((unit_features(read.data, among)[:, 0] > 0).sum())
    if paired >= 2:
        return
    how = "by two judges" if among == "inter" else "twice by a judge"
    fault = f"no unit was judged {how}" if not paired else f"only one unit was judged {how}"
    raise JudgmentError(
        f"{fault} ({counted(units, 'unit')}, {counted(len(judges), 'judge')})",
        f"A unit is one combination of {listed(read.unit)}. If judges shared larger units than these, name "
        "fewer columns in unit=.",
        expected="two of these units or more",
    )


def repeating(data: Labelled) -> IntArray:
    """Return the judges with more than one judgment of some unit."""
    first, cell = groups([data.unit, data.judge])
    return np.unique(data.judge[first[np.bincount(cell) > 1]])


def withheld(read: LabelledUnits, among: Among, names: Sequence[str]) -> dict[str, Reason]:
    """Return the coefficients that the judgments do not allow, with the error to raise and the reason."""
    reasons: dict[str, Reason] = {}
    if not read.ordered:
        why = f"needs labels with an order, numbers or 'i' < 'tie' < 'j'; found {listed(read.labels)}"
        brief = "labels have no order (as numbers and 'i' < 'tie' < 'j' have)"
        reasons |= dict.fromkeys(ORDERED, (DesignError, why, brief))
    pairs = unit_features(read.data, "inter")[:, 0].sum()
    if pairs > MOST_PAIRS:
        why = f"is computed by pair of judges, and there are {format_count(pairs)} pairs of judgments: too many"
        brief = f"{format_count(pairs)} pairs of judgments are too many"
        by_judges = [name for name in COEFFICIENTS if name.startswith("cohen")]
        reasons |= dict.fromkeys(by_judges, (JudgmentError, why, brief))
    if read.again.any():
        reasons |= dict.fromkeys(ONE_LABEL, (JudgmentError, *_repeats(read)))
    if among == "intra":
        why = "compares judges by one label each; it has no meaning for repeats by one judge (among='intra')"
        brief = "they compare different judges, not repeats by one judge"
        reasons |= dict.fromkeys(ONE_LABEL, (DesignError, why, brief))
    return {name: reasons[name] for name in names if name in reasons}


def _repeats(read: LabelledUnits) -> tuple[str, str]:
    row = int(read.again.argmax())
    i, j = (read.judgments.objects[k] for k in read.judgments.pairs[row])
    where = [f"{name} {read.column(name, 'unit').values[row]!r}" for name in read.unit[2:]]
    first = ", ".join([f"judge {read.judge.values[row]!r}", f"objects {i!r} and {j!r}", *where])
    again, of = format_count(int(read.again.sum())), counted(len(read.again), "judgment")
    repeats = f"{again} of {of} repeat an earlier one by the same judge"
    why = f"needs one label per judge and unit; {repeats}, the first at row {read.rows[row]} ({first})"
    return why, f"a judge repeats units in {again} of {of} (first: row {read.rows[row]})"
