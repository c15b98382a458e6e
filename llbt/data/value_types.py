"""Texts of a file as numbers, flags and labels: the same whether a file is read into memory or by DuckDB."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..core.columns import Label
from ..errors import JudgmentError, listed

LabelType = Literal["text", "number"]
Kind = Literal["whole", "long", "number", "flag", "text"]

NO_NUMBER = frozenset({"NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A"})
FLAGS = ("True", "False")
# what Python and DuckDB both understand; [0-9], because \d is also the digits of other scripts
WHOLE = "-?(0|[1-9][0-9]{0,17})"  # what fits into 64 bits
LONG = "-?(0|[1-9][0-9]{0,29})"
NUMBER = f"({WHOLE}([.][0-9]+)?|-?[.][0-9]+)([eE][+-]?[0-9]+)?|-?inf"
_WRITTEN = re.compile("[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?")


def typed(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return the texts of a column as numbers or flags if all of them spell one in the usual way ("007" does not).

    Words such as NA are missing among numbers, and labels among labels. Numbers with more than 18 digits are names,
    and stay text.
    """
    distinct = texts.dropna().unique()
    kind = _kind(distinct)
    if kind == "whole":
        gaps = not texts.notna().all() or any(text in NO_NUMBER for text in distinct)
        values = {text: int(text) for text in distinct if text not in NO_NUMBER}
        numbers = pd.Series(list(map(values.get, texts)), texts.index, object)  # as floats, long ones become alike
        return numbers if gaps else numbers.astype(np.int64)
    if kind == "number":
        return texts.map({text: float(text) for text in distinct if text not in NO_NUMBER}).astype(np.float64)
    if kind == "long":
        return texts.where(~texts.isin(NO_NUMBER), None)
    if kind == "flag" and texts.notna().all():
        return texts == FLAGS[0]
    return texts.infer_objects()


def _kind(distinct: Sequence[str] | Any) -> Kind:
    """Return what the distinct texts of a column are."""
    numbers = [text for text in distinct if text not in NO_NUMBER]
    if not numbers:
        return "text"
    if set(distinct) <= set(FLAGS):
        return "flag"
    if all(re.fullmatch(LONG, text) for text in numbers):
        return "whole" if all(re.fullmatch(WHOLE, text) for text in numbers) else "long"
    if not all(re.fullmatch(NUMBER, text) for text in numbers):
        return "text"
    others = [text for text in numbers if float(text) != 0]  # 0 and -0 are one number
    return "number" if len(set(map(float, others))) == len(others) else "text"  # 1.1 and 1.10 may be two versions


def kind_of(typed: Sequence[Any]) -> Kind:
    """Return the common type of Python values: text, flags, whole numbers or numbers."""
    kinds = {type(value) for value in typed if value is not None and value == value}
    if kinds <= {str}:
        return "text"
    return "flag" if kinds == {bool} else "whole" if kinds <= {int} else "number"


def typed_together(columns: Mapping[str, pd.Series[Any]]) -> dict[str, pd.Series[Any]]:
    """Return columns of text of equal length as numbers, flags or text, all of them the same."""
    whole = typed(pd.concat(list(columns.values()), ignore_index=True))
    n = len(whole) // len(columns)
    return {name: whole.iloc[k * n : (k + 1) * n].reset_index(drop=True) for k, name in enumerate(columns)}


def typed_labels(labels: Sequence[Label], asked: LabelType | None) -> list[Label | None]:
    """Return labels of objects as text or as numbers, one for each; None for words that mean "missing".

    Parameters
    ----------
    labels : sequence of labels
        The distinct labels of both sides; texts of a file if `asked` is None.
    asked : "text", "number" or None
        None: numbers if each label, written back as a number, gives the text that was read; else text.

    Raises
    ------
    JudgmentError
        For labels that differ as text and are equal as numbers, unless the caller gives their type.
    """
    if asked == "text":
        return [str(label) for label in labels]
    if asked == "number":
        return _as_numbers(labels)
    texts = [str(label) for label in labels]
    numbers = [text for text in texts if text not in NO_NUMBER]
    if numbers and all(re.fullmatch(WHOLE, text) or "." in text for text in numbers):
        values = {text: _number(text) for text in numbers}
        if all(str(value) == text for text, value in values.items()):
            return [values.get(text) for text in texts]
    _refuse_equal(texts)
    return list(texts)


def _as_numbers(texts: Sequence[Label]) -> list[Label | None]:
    numbers = [_number(label) for label in texts]
    wrong = [
        label for label, value in zip(texts, numbers, strict=True) if value is None and str(label) not in NO_NUMBER
    ]
    if wrong:
        raise JudgmentError(
            f'labels="number": objects that are not numbers: {listed(list(dict.fromkeys(wrong)))}',
            'Pass labels="text".',
            expected="numbers",
        )
    return list(numbers)


def _number(label: Label) -> int | float | None:
    """Return the number of a numeric label or text, whole ones as int; None where it is none."""
    if isinstance(label, bool) or not isinstance(label, str):
        return None if isinstance(label, bool) else label
    if not _WRITTEN.fullmatch(label):
        return None
    exact = Decimal(label)
    return int(exact) if exact == exact.to_integral_value() else float(label)


def _refuse_equal(texts: Sequence[str]) -> None:
    """Raise if two texts are one number: whether they are one object, only the caller knows."""
    alike: dict[Decimal, dict[str, None]] = {}
    for text in texts:
        if _WRITTEN.fullmatch(text):
            alike.setdefault(Decimal(text), {})[text] = None
    several = sorted(sorted(same) for same in alike.values() if len(same) > 1)
    if several:
        examples = "; ".join(listed(same) for same in several[:4])
        more = f" (and {len(several) - 4} more)" if len(several) > 4 else ""
        raise JudgmentError(
            f"labels of objects that differ as text and are equal as numbers: {examples}{more}",
            'Pass labels="text" if they are different objects, labels="number" if they are one, to from_judgments, '
            "from_counts, read_judgments or audit (--labels on the command line).",
            expected="one way to write each object",
        )
