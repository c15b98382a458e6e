"""Fit columns to the width of a terminal: join bounds, leave out the least needed columns, break long labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from .layout import Column
from .notes import WIDTH, text_width

_LABELS = 48  # letters for the labels of a row; if labels get less, a column is left out instead
_MOST = 40  # most letters for one label
_SHORT = 12  # labels this short are never broken
_LONG_TEXT = 160  # a text that is not a label may be cut from so many letters on
_MOST_LINES = 3  # most lines of a text
_SHORTEST = 8  # least letters of a label in a line
_LONG_HEADING = 20  # a heading of numbers with more letters may be broken, into lines of at least _SHORT letters
_PARTS = re.compile(r"[^-_/.,:;\s]*(?:[-_/.,:;\s]+|$)")  # a label may be broken after these characters
_LOW = re.compile(r"(.* %)(?: prediction)?:? low$")

# Headings of columns whose name in frames is not a word for readers.
HEADINGS: dict[str, str] = {
    "std_error": "Std. Error",
    "conf_low": "low",
    "conf_high": "high",
    "rank_low": "Rank from",
    "rank_high": "to",
    "object_i": "Object i",
    "object_j": "Object j",
    "wins_i": "Wins i",
    "wins_j": "Wins j",
    "p_value": "p",
    "p_adjusted": "p adjusted",
}
# Names of the columns that are left out if a table is too wide, in this order.
LEAST_NEEDED = (
    *(
        "than the model expects",
        "reading",
        "hat",
        "df",
        "statistic",
        "p_value",
        "std_error",
        "judgments",
        "missing",
        "n",
    ),
    *("p_t", "p_median", "refits", "other_leaders", "which", "reached", "starts", "aic"),
)
# Columns that are informative only together.
_TOGETHER = (("wins", "ties", "bad", "losses"), ("conf_low", "conf_high"))


def reader_heading(name: str, heading: str) -> str:
    """Return the heading of a column: a reader's word if the heading is only the name in frames."""
    if name in HEADINGS and heading in (name, name.removeprefix("p_")):
        return HEADINGS[name]
    words = heading.replace("_", " ") if heading == name else heading
    first = words.partition(" ")[0]
    return words[:1].upper() + words[1:] if len(first) > 1 and first.isalpha() else words


def with_bounds_joined(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return columns with the bounds of an interval joined: ``[0.12, 0.34]``; a range of ranks replaces the rank."""
    joined: list[Column] = []
    ranged = any(column.name == "rank_low" and set(column.cells) != {"NA"} for column in columns)
    for column in columns:
        if column.name == "rank" and ranged:  # the range and the order of the rows tell the rank
            continue
        before = joined[-1] if joined else None
        if before is not None and (before.name, column.name) == ("conf_low", "conf_high"):
            level = _LOW.match(before.heading)
            if level is not None:
                joined[-1] = replace(before, heading=f"{level[1]} CI", cells=interval_texts(before.cells, column.cells))
                continue
        if before is not None and (before.name, column.name) == ("rank_low", "rank_high"):
            heading = before.heading.removesuffix(": low") if before.heading.endswith(": low") else "Rank range"
            joined[-1] = replace(before, heading=heading, cells=list(map(_ranks, before.cells, column.cells)))
            continue
        joined.append(column)
    return tuple(joined)


def interval_texts(low: Sequence[str], high: Sequence[str]) -> list[str]:
    """Return intervals with their bounds aligned."""
    widest = max(map(len, high), default=0)
    return ["NA" if (a, b) == ("NA", "NA") else f"[{a}, {b.rjust(widest)}]" for a, b in zip(low, high, strict=True)]


def _ranks(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"


def fitted(
    columns: Sequence[Column], least_needed: Sequence[str], width: int = WIDTH
) -> tuple[list[Column], list[str]]:
    """Return the columns that fit a line, with labels of enough letters, and the names of the columns left out."""
    fitting, left_out = list(columns), []
    for name in (*least_needed, *LEAST_NEEDED):
        names = [column.name for column in fitting]
        if _total(fitting) <= width:
            break
        if name in names and (name != "p_value" or "p_adjusted" in names):
            gone = next((group for group in _TOGETHER if name in group), (name,))
            left_out += [one for one in gone if one in names or one == "conf_high"]
            fitting = [column for column in fitting if column.name not in gone]
    return fitting, left_out


def _total(columns: Sequence[Column]) -> int:
    """Return the width of columns if labels are broken into short lines."""
    widths = _widths(columns)
    labels = [k for k, column in enumerate(columns) if column.kind == "text" and widths[k] > _SHORT]
    share = min(_MOST, _LABELS // max(1, len(labels)))
    return sum(min(w, share) if k in labels else w for k, w in enumerate(widths)) + max(0, len(columns) - 1)


def _widths(columns: Sequence[Column]) -> list[int]:
    return [max(map(text_width, [column.heading, *column.cells])) for column in columns]


def lines_of(columns: Sequence[Column], width: int = WIDTH) -> list[str]:
    """Return headings and rows as lines with one space between columns.

    Labels that are too long are broken. Columns that do not fit a line even then stand in several blocks, each with
    the first labels.
    """
    blocks = _blocks(columns, width)
    lines = _lines(blocks[0], width)
    for block in blocks[1:]:
        lines += ["", *_lines(block, width)]
    return lines


def _blocks(columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Return the columns in blocks that fit a line; stars and equal headings stay with the column before them."""
    least = list(map(min, map(_least_width, columns), _widths(columns)))
    if sum(least) + len(columns) - 1 <= width:
        return [list(columns)]
    texts = [column.kind == "text" for column in columns]
    first = texts.index(True) if True in texts else 0
    labels = max(1, texts.index(False, first)) if False in texts[first:] else 1
    times = Counter(column.heading for column in columns)
    room = width - sum(min(w, _LABELS // labels) + 1 for w in _widths(columns)[:labels])
    blocks: list[list[Column]] = [[]]
    used = 0
    for column, narrowest in zip(columns[labels:], least[labels:], strict=True):
        held = column.kind == "stars" or times[column.heading] > 1
        if blocks[-1] and used + narrowest + 1 > room and not held:
            blocks.append([])
            used = 0
        blocks[-1].append(column)
        used += narrowest + 1
    return [[*columns[:labels], *block] for block in blocks]


def _lines(columns: Sequence[Column], width: int) -> list[str]:
    widths = _widths(columns)
    excess = sum(widths) + len(columns) - 1 - width
    if excess > 0:
        widths = _narrowed(columns, widths, excess)
    rows = [[column.heading for column in columns], *map(list, zip(*(c.cells for c in columns), strict=True))]
    return [line for row in rows for line in _row(row, columns, widths)]


def _narrowed(columns: Sequence[Column], widths: list[int], excess: int) -> list[int]:
    """Return widths reduced by an excess; the longest labels and headings are broken first."""
    narrow, least = list(widths), list(map(_least_width, columns))
    while excess > 0:
        longest = max(range(len(narrow)), key=lambda k: narrow[k] if narrow[k] > least[k] else 0)
        if narrow[longest] <= least[longest]:
            break
        narrow[longest] -= 1
        excess -= 1
    return narrow


def _least_width(column: Column) -> int:
    """Return the width down to which a column is narrowed: a label is broken, a number never."""
    if column.kind == "text":
        return _SHORTEST
    numbers = max(map(text_width, column.cells), default=0)
    heading = text_width(column.heading)
    return max(numbers, _SHORT if heading > _LONG_HEADING else heading)


def _row(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    parts = [_part(cell, c, w) for cell, c, w in zip(cells, columns, widths, strict=True)]
    left = [column.left for column in columns]
    return [
        " ".join(map(_padded, line, widths, left)).rstrip()
        for line in zip_longest(*parts, fillvalue="")
    ]  # fmt: skip


def _part(cell: str, column: Column, width: int) -> list[str]:
    """Return a cell as lines: a heading or label in full, or the first lines of a long text, such as a long ranking."""
    lines = broken(cell, width)
    if column.kind != "text" or len(cell) <= _LONG_TEXT or len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1][: width - 2].rstrip() + " …"]


def broken(text: str, width: int) -> list[str]:
    """Return a label as lines, broken after hyphens and the like, or within words that are too long."""
    if text_width(text) <= width:
        return [text]
    lines = [""]
    for part in _PARTS.findall(text):
        if lines[-1] and text_width(lines[-1] + part.rstrip()) > width:
            lines.append("")
        rest = lines[-1] + part
        while text_width(rest.rstrip()) > width:
            at = width
            while text_width(rest[:at]) > width:
                at -= 1
            lines[-1] = rest[:at]
            rest = rest[at:]
            lines.append("")
        lines[-1] = rest
    return [line.rstrip() for line in lines if line.strip()]


def _padded(text: str, width: int, left: bool) -> str:
    space = " " * (width - text_width(text))
    return text + space if left else space + text
