"""Files of PrefLib: orders of alternatives, with or without ties, complete or not, and how many voters gave each."""

from __future__ import annotations

import re
from pathlib import PurePath

import numpy as np

from ..base.table import counted
from ..core.columns import FloatArray, IntArray, Label
from ..errors import JudgmentError
from .paths import bytes_of, decoded, existing

SUFFIXES = (".soc", ".soi", ".toc", ".toi")
_WHOLE = "[0-9]{1,15}"  # a float holds each of these exactly
_NAME = re.compile(rf"#\s*ALTERNATIVE NAME ({_WHOLE}):\s*(.*?)\s*$")
_NUMBER = re.compile(rf"#\s*NUMBER (ALTERNATIVES|VOTERS|UNIQUE ORDERS):\s*({_WHOLE})\s*$")
_PLACE = re.compile(rf"\s*(?:({_WHOLE})|\{{\s*({_WHOLE}(?:\s*,\s*{_WHOLE})*)\s*\}})\s*(?:,|$)")


def read_preflib(path: str) -> tuple[tuple[Label, ...], IntArray, IntArray, IntArray, FloatArray]:
    """Return objects, and list, object and place of each entry, and how often each list was given.

    Alternatives that are missing from an order have no entry.

    Raises
    ------
    JudgmentError
        For a line that is no order, with its number, and where the counts in the head differ from those of the file.
    """
    lines = decoded(bytes_of(existing(path)), f"the file {path!r}").lstrip("\ufeff").splitlines()
    names: dict[int, str] = {}
    numbers: dict[str, int] = {}
    orders: list[tuple[float, list[list[int]]]] = []
    for k, line in enumerate(lines, 1):
        if match := _NAME.match(line):
            _refuse_known(names, int(match[1]), match[2], f"{path!r}, line {k}")
            names[int(match[1])] = match[2]
        elif match := _NUMBER.match(line):
            numbers[match[1]] = int(match[2])
        elif line.strip() and not line.startswith("#"):
            orders.append(_order(line, f"{path!r}, line {k}"))
    _check(path, names, numbers, orders)
    code = {number: k for k, number in enumerate(sorted(names))}
    entries = [
        (k, code.get(number, -1), place)
        for k, (_, places) in enumerate(orders)
        for place, some in enumerate(places, 1)
        for number in some
    ]
    lists, items, places = (np.array(column, dtype=np.int64) for column in zip(*entries, strict=True))
    return tuple(names[n] for n in sorted(names)), lists, items, places, np.array([n for n, _ in orders])


def suffix_of(path: str) -> str:
    """Return the suffix of a path in lower case."""
    return PurePath(path).suffix.lower()


def _refuse_known(names: dict[int, str], number: int, name: str, where: str) -> None:
    """Raise for an alternative that has a name already, and for a name that another one has."""
    if number in names:
        raise JudgmentError(f"a second name of alternative {number}", where=where, expected="one name for each")
    same = [known for known, other in names.items() if other == name]
    if same:
        raise JudgmentError(
            f"alternatives {same[0]} and {number} are both {name!r}",
            "Give each alternative a different name.",
            where=where,
            expected="a name for each alternative",
        )


def _order(line: str, where: str) -> tuple[float, list[list[int]]]:
    """Return how many voters gave an order, and the alternatives in each place: ``3: 1,{2,4},3``."""
    number, _, text = line.partition(":")
    if not text.strip() or not re.fullmatch(_WHOLE, number.strip()) or int(number) == 0:
        raise JudgmentError(
            f"{line.strip()[:60]!r}",
            where=where,
            expected="an order after its count, such as '3: 1,{2,4},3'",
        )
    places, at, text = [], 0, text.strip()
    while at < len(text):
        match = _PLACE.match(text, at)
        if not match:
            raise JudgmentError(
                f"{text[at : at + 40]!r} in an order",
                where=where,
                expected="numbers of alternatives, those of one place in braces, separated by commas",
            )
        places.append([int(n) for n in (match[1] or match[2]).split(",")])
        at = match.end()
    every = [n for some in places for n in some]
    twice = sorted({n for n in every if every.count(n) > 1})
    if twice:
        raise JudgmentError(f"alternative {twice[0]} occurs twice in an order", where=where, expected="each once")
    return float(number), places


def _check(
    path: str, names: dict[int, str], numbers: dict[str, int], orders: list[tuple[float, list[list[int]]]]
) -> None:
    """Raise if the file contradicts its header."""
    where, suffix = repr(path), suffix_of(path)
    if not names or not orders:
        missing = "the line '# ALTERNATIVE NAME 1: …'" if not names else "an order"
        raise JudgmentError(f"a file without {missing}", where=where, expected="a file of PrefLib as of 2022")
    unknown = sorted({n for _, places in orders for some in places for n in some} - set(names))
    if unknown:
        raise JudgmentError(
            f"alternative {unknown[0]} has no name",
            where=where,
            expected=f"one of {min(names)} … {max(names)}",
        )
    counts = {
        "ALTERNATIVES": len(names),
        "VOTERS": int(sum(n for n, _ in orders)),
        "UNIQUE ORDERS": len(orders),
    }
    for what, number in numbers.items():
        if counts[what] != number:
            raise JudgmentError(
                f"{counted(counts[what], what.lower().rstrip('s'))}, where the head says {number}",
                "Check whether the file is whole.",
                where=where,
            )
    complete = suffix in (".soc", ".toc")
    sizes = [sum(map(len, places)) for _, places in orders]
    if complete and min(sizes) < len(names):
        raise JudgmentError(
            f"an order of {min(sizes)} of {len(names)} alternatives in a file of complete ones",
            where=where,
            expected=f"the suffix {suffix[:-1]}i for incomplete orders",
        )
    if suffix.startswith(".s") and any(len(some) > 1 for _, places in orders for some in places):
        raise JudgmentError(
            "ties in a file of strict orders", where=where, expected=f"the suffix .t{suffix[2:]} for orders with ties"
        )
