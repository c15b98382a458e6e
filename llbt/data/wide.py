"""Judgments in wide form: square matrices of wins, and prefmod's tables with one column per pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..base.table import counted
from ..core.columns import Label
from ..errors import JudgmentError, OptionError, listed
from .formats import Constant, Game, JudgmentFormat, Labels
from .frames import as_number
from .matrices import from_matrix
from .outcome_codings import Meaning
from .outcomes import Outcomes, checked_outcomes, sizes_of
from .sources import Source, as_names, collected, in_memory, open_frame

Pairs = str | Sequence[Sequence[str]]
_SHOWN = 6  # columns in a note
_ORDERS = '"prefmod", "dictionary" or a list of pairs'
_SIGNS = (":", " vs ", "_vs_", " - ", "-", "_", ".")


def matrix_source(source: Source) -> Source:
    """Return a square matrix of wins, row over column, as a frame of counts."""
    matrix = in_memory(source) if source.is_text else collected(source.frame).to_native()
    return open_frame(from_matrix(matrix).to_frame(), source.what)


def prefmod_format(
    frame: pd.DataFrame,
    object_names: Sequence[str] | None,
    pairs: Pairs | None,
    outcomes: Outcomes,
    others: Sequence[str | None] = (),
) -> JudgmentFormat:
    """Return the format of a table with one row per judge and one column per pair, as prefmod reads it.

    Parameters
    ----------
    frame : pandas.DataFrame
        The columns of the pairs come first, unless their headings name the pairs.
    object_names : sequence of str, optional
        The J objects in their order; without it the headings name the pairs, such as ``A:B``.
    pairs : "prefmod", "dictionary", sequence of pairs or None
        The order of the columns: 12, 13, 23, 14, … or 12, 13, 14, …, or the two objects of each column.
    outcomes : mapping or None
        The meaning of the entries, in place of prefmod's coding.
    others : sequence of str or None
        Columns that hold no pair, wherever they stand: the judge, the prompt.

    Raises
    ------
    OptionError
        For invalid `pairs`, or pairs of other objects.
    JudgmentError
        For headings that do not name pairs, fewer columns than pairs, and entries that prefmod's coding does not
        explain.

    Notes
    -----
    The coding is prefmod's (Hatzinger & Dittrich 2012): with negative entries 1 (or 2) is for the first object of the
    pair, 0 undecided and −1 for the second; without, the smallest entry is for the first and the largest for the
    second, and one in the middle is undecided (of 1 and 2 none is). Missing entries were not judged.
    """
    columns = _pair_columns(frame.drop(columns=[name for name in others if name in frame]), object_names, pairs)
    coding, strengths = _coding(frame[list(columns)], outcomes)
    games = tuple(
        Game((Constant(i), Constant(j)), Labels(str(name), coding, strengths=strengths))
        for name, (i, j) in columns.items()
    )
    places = ", ".join(f"{name} is {i}:{j}" for name, (i, j) in list(columns.items())[:_SHOWN])
    places += ", …" if len(columns) > _SHOWN else ""
    meanings = ", ".join(f"{entry} is {outcome}" for entry, outcome in coding.items() if entry is not None)
    coded = [f"entries read as in prefmod: {meanings}"] if outcomes is None else []
    notes = (f"columns read as pairs: {places}", *coded)
    objects = tuple(object_names or ())
    return JudgmentFormat("prefmod", games, one_judge=True, shown=False, objects=objects, notes=notes)


def _pair_columns(
    frame: pd.DataFrame, object_names: Sequence[str] | None, pairs: Pairs | None
) -> dict[Any, tuple[str, str]]:
    """Return the two objects of every column that holds a pair."""
    if object_names is None and (pairs is None or isinstance(pairs, str)):
        return _named_pairs([str(name) for name in frame.columns])
    if pairs is None:
        raise OptionError(
            "pairs=: object_names= names the objects, not the pair of a column",
            expected='"prefmod" (12, 13, 23, 14, …), "dictionary" (12, 13, 14, …) or a list of pairs',
        )
    names = None if object_names is None else as_names(list(object_names), "object_names")
    pair_list = _ordered(names, pairs) if isinstance(pairs, str) and names else _listed(names, pairs)
    if len(pair_list) > frame.shape[1]:
        raise JudgmentError(
            f"{counted(len(pair_list), 'pair')}, but only {counted(frame.shape[1], 'column')}",
            expected="one column for each pair, before all others",
        )
    return dict(zip(frame.columns, pair_list, strict=False))


def _ordered(names: Sequence[str], order: str) -> list[tuple[str, str]]:
    if order not in ("prefmod", "dictionary"):
        raise OptionError(f"pairs={order!r}", expected=_ORDERS)
    ordered = list(combinations(range(len(names)), 2))
    ordered = sorted(ordered, key=lambda two: two[::-1]) if order == "prefmod" else ordered
    return [(names[i], names[j]) for i, j in ordered]


def _listed(names: Sequence[str] | None, pairs: Any) -> list[tuple[str, str]]:
    if not isinstance(pairs, Sequence):
        raise OptionError(f"pairs={pairs!r}", expected=_ORDERS)
    pair_list = [tuple(map(str, two)) for two in pairs if not isinstance(two, str)]
    wrong = [two for two in pair_list if len(two) != 2 or two[0] == two[1] or (names and not set(two) <= set(names))]
    if wrong or not pair_list or len(pair_list) != len(pairs):
        shown = listed(wrong or list(pairs))
        raise OptionError(
            f"pairs=: {shown}", expected="pairs of two objects" + (f" of {listed(names)}" if names else "")
        )
    return [(two[0], two[1]) for two in pair_list]


def _named_pairs(headings: Sequence[str]) -> dict[Any, tuple[str, str]]:
    """Return the pairs that headings name, by the first separator with which headings name all pairs of objects."""
    for sign in _SIGNS:
        split = {name: name.split(sign) for name in headings if sign in name}
        named = {name: (two[0].strip(), two[1].strip()) for name, two in split.items() if len(two) == 2 and all(two)}
        objects = {label for two in named.values() for label in two}
        if named and len({frozenset(two) for two in named.values()}) == len(objects) * (len(objects) - 1) // 2:
            return dict(named)
    raise JudgmentError(
        f"format 'prefmod': the columns {listed(headings, 12)} do not name the pairs they hold",
        'Pass object_names=[…] and pairs="prefmod" (12, 13, 23, 14, …), "dictionary" (12, 13, 14, …) or a list of '
        "pairs to read_judgments.",
    )


def _coding(frame: pd.DataFrame, outcomes: Outcomes) -> tuple[dict[Label | None, Meaning], dict[Label, float]]:
    """Return the meanings of the entries, and their strengths of preference."""
    if isinstance(outcomes, Mapping):
        return {None: None, **checked_outcomes(outcomes)}, sizes_of(outcomes)
    labels = [label for label in pd.unique(frame.to_numpy(dtype=object).ravel()) if not pd.isna(label)]
    numbers = [as_number(label.item() if isinstance(label, np.generic) else label) for label in labels]
    if any(number is None or not number.is_integer() for number in numbers):
        raise JudgmentError(f"format 'prefmod': entries {listed(labels)}", expected="whole numbers, or outcomes={…}")
    values = sorted({int(number) for number in numbers if number is not None})
    # the ends of the scale have to be there: 0 and 1 alone may be all of a scale of two, or part of one of three
    whole = {(0, 1, 2), (0, 2), (1, 2), (1, 2, 3), (-1, 1), (-1, 0, 1)}
    wide = {-2, 2} <= set(values) <= set(range(-2, 3)) or values == list(range(5))
    if tuple(values) not in whole and not wide:
        raise JudgmentError(
            f"format 'prefmod': entries {values}",
            f"State their meanings: outcomes={{{', '.join(f'{value}: …' for value in values[:5])}}}, each 'i', 'tie', "
            "'j' or None.",
            expected="-1/0/1, 0/1/2, 1/2 or -2 to 2, with both ends present",
        )
    signed = values[0] < 0
    middle = 0.0 if signed else (values[0] + values[-1]) / 2
    toward_i = {value: (value - middle) if signed else (middle - value) for value in values}
    meanings: dict[Label | None, Meaning] = {None: None}
    meanings |= {value: "i" if lean > 0 else "j" if lean < 0 else "tie" for value, lean in toward_i.items()}
    return meanings, {value: abs(lean) for value, lean in toward_i.items()}
