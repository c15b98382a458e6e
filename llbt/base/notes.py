"""Notes of two severities: those that qualify a number, and those that describe the printout."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

WIDTH = 88  # width of a line of text
MOST = 5  # most lines of describing notes in text
_LEAD = "Note: "
ALL = ".as_text(notes='all')"  # how to print every note


class Qualifying(str):
    """A note that qualifies a number: a prior, dependence, a missing standard error, weights that are not counts.

    It stands above the columns and is never cut. All other notes describe the printout.
    """

    __slots__ = ()


def qualifying(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes that qualify a number."""
    return tuple(note for note in notes if isinstance(note, Qualifying))


def describing(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes that describe the printout."""
    return tuple(note for note in notes if not isinstance(note, Qualifying))


def reworded(notes: Iterable[str], form: Callable[[str], str]) -> tuple[str, ...]:
    """Return notes in other words, with the same severities."""
    return tuple(Qualifying(form(note)) if isinstance(note, Qualifying) else form(note) for note in notes)


def about(name: object, note: str) -> str:
    """Return a note preceded by its subject, with the same severity."""
    return Qualifying(f"{name}: {note}") if isinstance(note, Qualifying) else f"{name}: {note}"


def named(labels: Sequence[object], most: int = 3) -> str:
    """Return labels joined for a note, only the first of many: ``A, B, C and 3 more``."""
    return ", ".join(map(str, labels[:most])) + (f" and {len(labels) - most:,} more" if len(labels) > most else "")


def all_lines(notes: Iterable[str], width: int | None) -> list[str]:
    """Return notes in full."""
    return [line for note in notes for line in wrapped(_LEAD + note, width, " " * len(_LEAD))]


def few_lines(notes: Sequence[str], width: int) -> list[str]:
    """Return at most five lines: one for each note, and a last line with the call that prints all notes in full."""
    lines = [_LEAD + note for note in notes]
    if len(lines) <= MOST and all(text_width(line) <= width for line in lines):
        return lines
    shown = [shortened(line, width) for line in lines[: MOST - 1]]
    hidden = len(lines) - len(shown)
    what = "notes in full" if not hidden else "1 more note" if hidden == 1 else f"{hidden} more notes"
    return [*shown, f"… {what}: {ALL}"]


def text_width(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)


def shortened(line: str, width: int) -> str:
    """Return a line cut after a word, so that it is not wider than `width`."""
    return line if text_width(line) <= width else wrapped(line, width - 2, "")[0] + " …"


def wrapped(line: str, width: int | None, indent: str) -> list[str]:
    """Return a line broken between words into lines of at most `width`; only words wider than a line are split."""
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
    """Return words; those wider than a line are split into parts."""
    for word in words:
        while text_width(word) > width:
            size = next(k for k in range(width, 0, -1) if text_width(word[:k]) <= width)
            yield word[:size]
            word = word[size:]
        yield word
