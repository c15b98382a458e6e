"""Judgments ready to be counted: one row each, counted by their own engine if possible."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ..base.table import counted
from ..core.columns import IntArray, Label
from ..core.judgments import Judgments, has_standard_columns
from ..errors import OptionError
from .asked import Asked, Format
from .both_orders import Orders, once_per_prompt
from .distinct_rows import Rows
from .files import open_source
from .formats import JudgmentFormat, Labels, fields_of
from .frames import read_factor
from .known_formats import (
    JUDGMENT_FORMATS,
    has_known_format,
)
from .outcome_codings import TIE
from .paths import located
from .recognized import OWN_COLUMNS, overridden, resolve
from .record_reshaping import field_of
from .row_filters import restricted, without_missing
from .sources import Roles, Source, as_two_names
from .spare_columns import examined
from .standard_columns import kind_note, own_names, own_notes, read


def is_flat(known: JudgmentFormat, source: Source) -> bool:
    """Whether every judgment is a row whose objects and label are columns, which any engine can count."""
    # a field without a dot that is not there is no column of any kind, and said to be missing where columns are picked
    columns = all(path in source.names or "." not in path for path in fields_of(known.games[0]))
    beside = (field_of(names, source.names) for names in (known.judge, known.prompt))
    return known.flat and columns and all(name is None or name in source.names for name in beside)


@dataclass(frozen=True, eq=False)
class Countable:
    """Judgments as they are counted: one row each, objects and labels in columns.

    Attributes
    ----------
    source : Source
    sides : two str
        The columns of the objects.
    labels : Labels
        The column of the outcomes, and what its labels mean.
    judge, prompt : str or None
        The columns of the judge and the prompt in the format.
    weights : str or None
    counts : tuple of str
        For a table of counts: the columns with wins of i, wins of j and, if there are any, ties.
    format : str
        The format that was recognized or asked for; empty if the caller names the columns.
    shown : bool
        Whether the first column holds the object shown first.
    dropped : int
        Judgments left out because their outcome is unknown.
    objects : tuple of labels
        The objects in their order, if it differs from the order of their labels.
    notes : tuple of str
        Notes on the data that were read or left out.
    """

    source: Source
    sides: tuple[str, str]
    labels: Labels
    judge: str | None = None
    prompt: str | None = None
    weights: str | None = None
    counts: tuple[str, ...] = ()
    format: str = ""
    shown: bool = True
    dropped: int = 0
    objects: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def called(self) -> dict[str, str]:
        """The names of judge and prompt in the source, where they differ."""
        names = own_names(self.judge, self.prompt, self.source.names)
        return {role: name for role, name in names.items() if role not in self.source.names}

    @property
    def is_standard(self) -> bool:
        """Whether the source holds judgments that were read before."""
        return has_standard_columns((*self.source.names, *self.called))

    def aliases(self, roles: Roles) -> dict[str, str]:
        """Return the columns that are requested as ``judge`` or ``prompt`` but have other names (old → new)."""
        asked = {name for names in roles.values() for name in names}
        return {old: new for new, old in self.called.items() if new in asked and old not in asked}


def countable(
    source: object, format: Format | None, asked: Asked, max_dropped: int, named: Collection[str] = ()
) -> Countable:
    """Return judgments ready to be counted; data without one row per judgment are read into memory.

    Parameters
    ----------
    source, format, max_dropped
        As in `from_judgments`.
    asked : Asked
    named : collection of str
        Columns that the caller names for something else, such as a covariate.
    """
    is_file = isinstance(source, (str, os.PathLike, list, tuple, bytes))
    if format is None and not is_file and not asked.names_layout:
        standard = overridden(JUDGMENT_FORMATS["judgments"], replace(asked, defaults=None))
        opened = open_source(source, labels=asked.labels)
        own = set(fields_of(standard.games[0])) <= set(opened.names) or not has_known_format(opened)
        if own and not asked.defaults:
            if isinstance(source, Judgments) and asked.where is None and asked.orders is None:
                return _as_made(_countable(opened, standard), source)
            if not set(fields_of(standard.games[0])) <= set(opened.names):
                return _countable(opened, standard)  # what is not there is said where columns are picked
            known, opened, notes = examined_as(opened, standard, asked, named)
            judgments = replace(_made(opened, known, max_dropped, asked.orders), notes=notes)
            return _as_made(judgments, source, notes) if isinstance(source, Judgments) else judgments
    opened, known = resolve(source, format or "auto", asked)
    known, opened, notes = examined_as(opened, known, asked, named)
    notes = (*own_notes(known), *notes)
    name = "" if asked.names_fields or known.name == OWN_COLUMNS else known.name
    if asked.orders is None and is_flat(known, opened):
        return replace(_countable(opened, known), format=name, shown=known.shown, notes=notes)
    if known.counts and asked.orders is not None:
        raise OptionError(
            f"orders={asked.orders!r}: counts do not show which judgments are on the same prompt", "Leave orders= out."
        )
    if known.counts:
        counts = tuple(name for name in known.counts if name in opened.names or name in known.counts[:2])
        sides = as_two_names(known.games[0].objects, "objects")
        return Countable(opened, sides, Labels(""), counts=counts, format=name, shown=known.shown, notes=notes)
    judgments = _made(opened, known, max_dropped, asked.orders)
    return replace(judgments, notes=(*judgments.notes, *notes[len(own_notes(known)) :]))


def examined_as(
    opened: Source, known: JudgmentFormat, asked: Asked, named: Collection[str] = ()
) -> tuple[JudgmentFormat, Source, tuple[str, ...]]:
    """Return how the requested rows are read, the rows, and notes."""
    with located(opened.what):
        opened, row_notes = restricted(opened, asked.where)
        if asked.missing is not None:
            read = {name for game in known.games for name in fields_of(game)}
            if isinstance(asked.outcomes, Mapping) and None in asked.outcomes:  # which says what no outcome means
                read -= {getattr(game.verdict, "field", "") for game in known.games}
            beside = [name for name in named if name not in asked.units]
            opened, left = without_missing(
                opened, [*read, *beside, *filter(None, (asked.judge, asked.prompt, asked.ties_column))]
            )
            row_notes = (*row_notes, *left)
        known, notes = examined(opened, known, asked.named.union(named), asked.ties_column)
    return known, opened, (*row_notes, *_judges_note(opened, asked), *notes)


def _judges_note(opened: Source, asked: Asked) -> tuple[str, ...]:
    """Return a note on columns that were read as judges, and the number of their missing verdicts."""
    if len(asked.verdicts) < 2:
        return ()
    return (
        f"{counted(len(asked.verdicts), 'column')} of outcome= read as judges, {counted(opened.n_rows(), 'verdict')}",
    )


def _made(opened: Source, known: JudgmentFormat, max_dropped: int, orders: Orders = None) -> Countable:
    """Return data that can be counted without loading them, or the data read into memory."""
    if orders is None and is_flat(known, opened):
        return _countable(opened, known)
    made = read(opened, known, max_dropped)
    made = made if orders is None else once_per_prompt(made)
    opened_lines = _as_made(_countable(open_source(made), JUDGMENT_FORMATS["judgments"]), made)
    used = {field for game in known.games for field in fields_of(game)}
    return replace(opened_lines, source=replace(opened_lines.source, made=opened_lines.source.made | used))


def _as_made(judgments: Countable, made: Judgments, notes: tuple[str, ...] = ()) -> Countable:
    """Return judgments that were read before, their judges and prompts under the names of their source."""
    called = {role: name for role, name in made.called.items() if name not in judgments.source.names}
    return replace(
        judgments,
        source=replace(judgments.source, made=made.empty()).renamed(called),
        judge=called.get("judge", judgments.judge),
        prompt=called.get("prompt", judgments.prompt),
        notes=(*made.notes, *notes),
        shown=made.shown,
        dropped=made.dropped,
        objects=made.objects,
    )


def _countable(source: Source, known: JudgmentFormat) -> Countable:
    labels = known.games[0].verdict
    assert isinstance(labels, Labels)  # the format is flat
    sides = as_two_names(known.games[0].objects, "objects")
    made = has_standard_columns(source.names)
    weight = known.games[0].weight
    weights = weight if isinstance(weight, str) else "weight" if made and "weight" in source.names else None
    if made and labels.outcomes is None and labels.field == "outcome":  # no object called i can change what it means
        labels = Labels("outcome", {"i": "i", "tie": "tie", "j": "j"})
    judge, prompt = (field_of(names, source.names) for names in (known.judge, known.prompt))
    return Countable(source, sides, labels, judge, prompt, weights)


def tie_kind_notes(rows: Rows, meanings: IntArray, labels: Labels) -> list[str]:
    """Return a note on each kind of tie: how many judgments have it, and how they count."""
    if not labels.tie_kinds:
        return []
    factor = read_factor(rows.frame, labels.field)
    kinds: dict[str, int] = {}
    for k, label in enumerate(factor.labels):
        if label in labels.tie_kinds:
            n = rows.count((factor.codes == k) & (meanings == TIE))
            kinds[labels.tie_kinds[label]] = kinds.get(labels.tie_kinds[label], 0) + n
    return [kind_note(n, kind) for kind, n in kinds.items() if n]
