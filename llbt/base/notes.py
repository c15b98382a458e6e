"""Notes of two severities: those that qualify a number, and those that describe what is printed."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

WIDTH = 88  # of a line of text
MOST = 5  # lines of describing notes in text
_LEAD = "Note: "
ALL = ".as_text(notes='all')"  # how to print every note


class Qualifying(str):
    """A note that qualifies a number: a prior, dependence, a missing standard error, weights that are not counts.

    It stands above the columns and is never cut. All other notes describe what is printed.
    """

    __slots__ = ()


def qualifying(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes that qualify a number."""
    return tuple(note for note in notes if isinstance(note, Qualifying))


def describing(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes that describe what is printed."""
    return tuple(note for note in notes if not isinstance(note, Qualifying))


def reworded(notes: Iterable[str], form: Callable[[str], str]) -> tuple[str, ...]:
    """Return other words of notes, each of its severity."""
    return tuple(Qualifying(form(note)) if isinstance(note, Qualifying) else form(note) for note in notes)


def about(name: object, note: str) -> str:
    """Return a note with its subject before it, of the same severity."""
    return Qualifying(f"{name}: {note}") if isinstance(note, Qualifying) else f"{name}: {note}"


def named(labels: Sequence[object], most: int = 3) -> str:
    """Return labels joined for a note, the first of many: ``A, B, C and 3 more``."""
    return ", ".join(map(str, labels[:most])) + (f" and {len(labels) - most:,} more" if len(labels) > most else "")


def all_lines(notes: Iterable[str], width: int | None) -> list[str]:
    """Return notes in full."""
    return [line for note in notes for line in wrapped(_LEAD + note, width, " " * len(_LEAD))]


def few_lines(notes: Sequence[str], width: int) -> list[str]:
    """Return at most five lines: a note on each, and a last one that says how to print the notes in full."""
    lines = [_LEAD + note for note in notes]
    if len(lines) <= MOST and all(text_width(line) <= width for line in lines):
        return lines
    shown = [shortened(line, width) for line in lines[: MOST - 1]]
    hidden = len(lines) - len(shown)
    what = "notes in full" if not hidden else "1 more note" if hidden == 1 else f"{hidden} more notes"
    return [*shown, f"… {what}: {ALL}"]


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)


def shortened(line: str, width: int) -> str:
    """Return a line that is no wider, cut behind a word."""
    return line if text_width(line) <= width else wrapped(line, width - 2, "")[0] + " …"


def wrapped(line: str, width: int | None, indent: str) -> list[str]:
    """Return a line in lines that are no wider, broken between words; only words wider than a line are split."""
    if width is None or text_width(line) <= width:
        return [line]
    start = line[: len(line) - len(line.lstrip(" "))]
    lines, here = [], start
    for word in _parts(line.strip().split(" "), width - max(len(start), len(indent))):
        if here.strip() and text_width(f"{here} {word}") > width:
            lines.append(here.rstrip())
            here = indent + word
        else:
            here = f"{here} {word}" if here.strip() else here + word
    return [*lines, here]


def _parts(words: Iterable[str], width: int) -> Iterable[str]:
    """Return words, those that are wider than a line in parts."""
    for word in words:
        while text_width(word) > width:
            size = next(k for k in range(width, 0, -1) if text_width(word[:k]) <= width)
            yield word[:size]
            word = word[size:]
        yield word
