"""Judgments in any known format, as one record with standard columns."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..arguments import Number, checked
from ..core.columns import IntArray, Label
from ..core.comparisons import OUTCOMES
from ..core.judgments import OBJECTS, STANDARD, Judgments, has_standard_columns
from ..errors import JudgmentError, OptionError, listed
from ..table import counted, format_count
from .both_orders import Orders, once_per_prompt
from .duckdb_files import typed_relation
from .files import open_source
from .formats import Game, JudgmentFormat, Labels, Lean, fields_of
from .frames import read_factor, read_label_pair
from .kept import Names
from .known_formats import (
    HEADERS,
    JUDGMENT_FORMATS,
    format_names,
    format_of,
    has_known_format,
    matching_format,
    own_format,
    refuse_values_of_another,
)
from .outcomes import Outcomes, checked_outcomes, read_outcomes, sizes_of
from .paths import located
from .readings import BAD, BOTH_BAD, LEFT_OUT, TIE, WIN_I, WIN_J, Meaning, by_label
from .reshaped import field_of
from .rows import Rows
from .sources import Roles, Source, as_names, as_two_names, in_memory, refuse_absent
from .spare_columns import Missing, Where, examined, may_drop, restricted, without_missing
from .standard import free_name, kind_note, own_names, own_notes, read
from .texts import LabelType, kind_of
from .wide import matrix_source, prefmod_format
from .wordings import points_of, winner_format

Format = str | JudgmentFormat
OWN_COLUMNS = "columns"  # the name of formats that say no more than what columns are called

_WORDS = {k: word for k, word in enumerate(OUTCOMES)} | {BAD: "tie"}  # as Judgments say what a label means


@checked
def read_judgments(
    source: object,
    *,
    format: Format = "auto",
    objects: Sequence[str] | None = None,
    outcome: Names | None = None,
    outcomes: Outcomes = None,
    winner: str | None = None,
    loser: str | None = None,
    scores: Sequence[str] | None = None,
    orders: Orders = None,
    judge: str | None = None,
    prompt: str | None = None,
    object_names: Sequence[str] | None = None,
    pairs: str | Sequence[Sequence[str]] | None = None,
    joined: bool = True,
    weights: str | None = None,
    ties_column: str | None = None,
    ignore: Names = (),
    where: Where = None,
    missing: Missing = None,
    defaults: Mapping[str, Label] | None = None,
    labels: LabelType | None = None,
    max_dropped: Number = 0,
) -> Judgments:
    """Return judgments of any known format.

    Parameters
    ----------
    source : path, list of paths, list of records or frame
        A csv, tsv, json, jsonl or parquet file (gzipped or not), several of a kind as a list or with a pattern such as
        ``"a/*.parquet"``; a list of mappings, or of pairs (winner, loser); a frame of any library that narwhals knows.
    format : str or JudgmentFormat
        One of ``list_formats()``, or a format of your own. ``"auto"`` goes by the names of the fields; with `objects`
        and `outcome` no format is needed.
    objects : two str, optional
        Fields of the object shown first and of the other, in place of those of the format.
    outcome : str or sequence of str, optional
        Field that says who won, in place of that of the format. Several are what as many judges said of a row, each a
        column named after the judge; where one is empty, that judge said nothing.
    outcomes : mapping, "names", "slots" or None
        What its labels mean, as in `from_judgments`; a mapping extends that of the format. Grades in it become
        outcomes and the column ``strength``, ``"bad"`` a tie of the kind ``both_bad``.
    winner, loser : str, optional
        Fields of the object that won and of the one that lost, where no field says which it was.
    scores : two str, optional
        Fields with the points of either object: who has more won, equal points are a tie, no points no judgment.
    orders : "agree" or None
        What becomes of a pair that a judge saw in both orders on one prompt: ``"agree"`` counts it once, as a tie where
        the verdicts differ. None: every judgment counts.
    judge, prompt : str, optional
        Fields of the judge and of what was judged; several joined by ``+`` are read together.
    object_names, pairs
        For ``format="prefmod"`` where the columns do not say which pair they hold: the objects in their order, which
        tables and fits keep (the last is the reference), and the order of the pairs: ``"prefmod"`` (12, 13, 23, 14,
        …), ``"dictionary"`` (12, 13, 14, …) or a list of pairs of names.
    joined : bool
        Whether a label of several objects whose outputs were identical (``a+b`` in WMT) stands for each of them;
        with False it stays as it is written, and the record is one judgment.
    weights : str, optional
        Column with the number of judgments that a row stands for.
    ties_column : str, optional
        Column that says yes where a judgment is a tie, whatever its outcome says; where there is none but winner and
        loser, it is found by its name and values.
    ignore : str or sequence of str
        Columns that say nothing of the judgments, though their names may: ``"count"``, say, of words.
    where : str or mapping, optional
        Rows to read: those in which this column says yes (``"anony"``), or has this value: ``{"language": "English"}``.
    missing : "drop" or None
        What becomes of rows without a value in a column that is read: ``"drop"`` leaves them out, counted, as R's
        ``na.omit`` does; None: they are refused.
    defaults : mapping, optional
        Field of the format → its value where the file has no such field, such as ``{"baseline": "gpt-4-0314"}``.
    labels : "text", "number" or None
        What the labels of objects are, as in `from_judgments`.
    max_dropped : int
        How many judgments may be left out, counted, because nobody knows what they say; among them those of an object
        with itself, which stay if none may.

    Returns
    -------
    Judgments
        Its `to_frame` has one row per judgment: ``object_i`` (shown first), ``object_j``, ``outcome`` (``"i"``,
        ``"j"`` or ``"tie"``), ``judge``, ``prompt``, ``tie_kind`` (such as ``"both_bad"``), ``strength`` of the
        preference, ``weight`` (judgments that the row stands for; only in formats of counts and weights), ``block``
        (judgments made together, such as those of one ranking), ``record`` (the same for judgments that were one
        before labels such as ``a+b`` were taken apart; only in formats that have such labels), and every other field
        under its own name.
        Its attribute ``notes`` says what was read and what was left out. Rows of large files of one judgment a row,
        over 16 MiB of parquet or 256 MiB of text together, stay in DuckDB and are counted there; ``to_frame()`` brings
        them.

    Raises
    ------
    JudgmentError
        For files that cannot be read, fields that are not there, formats that do not fit, and more unknown outcomes
        than `max_dropped`; for a column that may say how often a row was judged, or contradicts the outcome on ties.
    OptionError
        For a `format` that nobody knows, and options that it does not take.

    Notes
    -----
    ``from_judgments``, and everything else that takes judgments, needs no further names for them. A tie of
    the kind ``both_bad`` is a tie. An outcome of its own: ``from_judgments(judgments, outcomes={"both_bad": "bad"})``.
    Leave such judgments out with ``outcomes={"tie (bothbad)": None}`` or by selecting rows:
    ``judgments.take(judgments.to_frame()["tie_kind"].isna())``.

    Of a record that compares ``a+b`` with ``c``, ``agreement`` and ``judges.summary`` count one judgment, scores and
    fits two. A fit takes them as one with ``from_judgments(judgments, clusters="record")`` and ``cov_type="cluster"``,
    or, of their frame, with ``weights=`` a column ``1 / frame.groupby("record")["record"].transform("size")``.

    Examples
    --------
    >>> import llbt
    >>> battles = [
    ...     {"model_a": "x", "model_b": "y", "winner": "model_a", "judge": "J1"},
    ...     {"model_a": "y", "model_b": "x", "winner": "tie (bothbad)", "judge": "J2"},
    ... ]
    >>> judgments = llbt.read_judgments(battles)
    >>> judgments.to_frame()[["object_i", "object_j", "outcome", "judge"]]
      object_i object_j outcome judge
    0        x        y       i    J1
    1        y        x     tie    J2
    >>> for note in judgments.notes:
    ...     print(note)
    2 records read as 'arena': 2 judgments
    1 tie is of the kind 'both_bad', which outcomes={'both_bad': 'bad'} counts apart
    """
    asked = Asked(
        *(objects, outcome, outcomes, judge, prompt, object_names, pairs, joined, defaults, labels),
        winner=winner,
        loser=loser,
        scores=scores,
        ties_column=ties_column,
        ignore=as_names(ignore, "ignore"),
        where=where,
        missing=missing,
    )
    if isinstance(source, Judgments) and format == "auto" and asked == Asked() and weights is None:
        return source if orders is None else once_per_prompt(source)
    opened, known = resolve(source, format, asked)
    known, opened, notes = _examined(opened, known, asked, () if weights is None else (weights,))
    known = known if weights is None else _weighted(opened, known, weights)
    with may_drop():
        made = _read_judgments(opened, known, max_dropped)
    made = replace(made, notes=(*made.notes, *notes)) if notes else made
    return made if orders is None else once_per_prompt(made)


def _weighted(opened: Source, known: JudgmentFormat, weights: str) -> JudgmentFormat:
    """Return a format of judgments with the column that says how many each row stands for."""
    refuse_absent(opened, {"weights": (weights,)})
    if known.counts or any(game.weight is not None for game in known.games):
        raise OptionError(f"weights={weights!r}: the format {known.name!r} has counts of its own", "Leave it out.")
    return replace(known, games=tuple(replace(game, weight=weights) for game in known.games))


def _read_judgments(opened: Source, known: JudgmentFormat, max_dropped: int) -> Judgments:
    if _stays_on_disk(opened) and is_flat(known, opened) and known.games[0].weight is None:
        with located(opened.what):
            found = _held(opened, known, max_dropped)
        if found is not None:
            return found
    return _without_selves(read(opened, known, max_dropped), max_dropped)


def _stays_on_disk(source: Source) -> bool:
    """Whether judgments of a source can be had without reading them into memory."""
    as_written = source.labels is None or (source.labels == "text" and source.is_text)
    held = source.frame.implementation.is_duckdb() and not has_standard_columns(source.names)
    return held and not source.inner and as_written


def _without_selves(made: Judgments, max_dropped: int) -> Judgments:
    """Return judgments without those of an object with itself, if some may be left out."""
    same = made.pairs[:, 0] == made.pairs[:, 1]
    n = int(same.sum())
    if not n or not max_dropped:
        return made
    if made.dropped + n > max_dropped:
        raise JudgmentError(
            f"{counted(n, 'judgment')} of an object with itself, and {format_count(made.dropped)} unknown to the "
            "format",
            f"Leave them out (counted) with max_dropped={made.dropped + n}.",
        )
    if same.all():
        raise JudgmentError(f"no judgment is left: {counted(n, 'judgment')} of an object with itself.")
    return replace(made.take(~same), notes=(*made.notes, self_note(n)))


def self_note(n: int) -> str:
    """Return the note on comparisons of an object with itself."""
    return f"{counted(n, 'judgment')} of an object with itself left out (max_dropped=)"


@dataclass(frozen=True)
class Asked:
    """What a caller says of the fields, in place of what a format says; see `read_judgments`."""

    objects: Sequence[str] | None = None
    outcome: Names | None = None
    outcomes: Outcomes = None
    judge: str | None = None
    prompt: str | None = None
    object_names: Sequence[str] | None = None
    pairs: str | Sequence[Sequence[str]] | None = None
    joined: bool = True
    defaults: Mapping[str, Label] | None = None
    labels: LabelType | None = None
    winner: str | None = None
    loser: str | None = None
    scores: Sequence[str] | None = None
    orders: Orders = None
    ties_column: str | None = None
    ignore: tuple[str, ...] = ()
    where: Where = None
    missing: Missing = None
    units: tuple[str, ...] = ()  # columns that are used only where every row has a label

    def __post_init__(self) -> None:
        checked_outcomes(self.outcomes)
        if (self.winner is None) != (self.loser is None):
            name, other = ("winner", "loser") if self.loser is None else ("loser", "winner")
            raise OptionError(f"{name}={getattr(self, name)!r} needs {other}=, too")
        said = [name for name in ("outcome", "winner", "scores") if getattr(self, name) is not None]
        if len(said) > 1 or (self.winner is not None and self.objects is not None):
            beside = said[0] if len(said) > 1 else "objects"
            raise OptionError(f"{said[-1]}= and {beside}= both say who won", "Pass either.")
        if self.orders not in (None, "agree"):
            raise OptionError(f"orders={self.orders!r}", expected="'agree' or None")
        if self.missing not in (None, "drop"):
            raise OptionError(f"missing={self.missing!r}", expected="'drop' or None")
        if self.outcome is not None and not self.verdicts:
            raise OptionError(f"outcome={self.outcome!r}", expected="a column, or one for each judge")
        if len(self.verdicts) > 1 and self.judge is not None:
            raise OptionError(
                f"judge={self.judge!r}: each column of outcome= is named after its judge", "Leave it out."
            )

    @property
    def named(self) -> frozenset[str]:
        """The columns that the caller names."""
        fields: tuple[str | None, ...] = (
            *self.verdicts,
            self.ties_column,
            self.judge,
            self.prompt,
            *(self.objects or ()),
            *self.ignore,
        )
        fields += (self.winner, self.loser, *(self.scores or ()))
        asked = [self.where] if isinstance(self.where, str) else self.where or ()
        return frozenset(name for name in (*fields, *asked) if name is not None)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The columns that say who won; several are those of as many judges."""
        return () if self.outcome is None else as_names(self.outcome, "outcome")

    @property
    def field(self) -> str | None:
        """The column that says who won, where it is one."""
        return next(iter(self.verdicts), None)

    @property
    def names_fields(self) -> bool:
        """Whether the caller names the fields of objects or outcome."""
        return self.objects is not None or self.outcome is not None or self.names_layout

    @property
    def names_layout(self) -> bool:
        """Whether the caller names fields that take the place of an outcome."""
        return self.winner is not None or self.scores is not None or len(self.verdicts) > 1


def resolve(source: object, format: Format, asked: Asked) -> tuple[Source, JudgmentFormat]:
    """Return the opened source, and its format with what the caller says instead.

    Raises
    ------
    OptionError, JudgmentError
        For formats that nobody knows, or that do not fit.
    """
    if not isinstance(format, (str, JudgmentFormat)):
        raise _unknown(format)
    known = format_of(format) if isinstance(format, str) else format
    labels = asked.labels or (known.labels if known else None)
    opened = open_source(source, known.header if known else (), HEADERS, labels=labels)
    opened, asked = _one_verdict_a_row(opened, asked)
    if format == "prefmod" or asked.object_names is not None or asked.pairs is not None:
        known = prefmod_format(
            in_memory(opened), asked.object_names, asked.pairs, asked.outcomes, (asked.judge, asked.prompt)
        )
    elif format == "matrix":
        opened, known = matrix_source(opened), JUDGMENT_FORMATS["counts"]
    elif known is None and format != "auto":
        raise _unknown(format)
    elif known is None:
        known = _recognized(opened, asked)
    elif known.values and not asked.names_fields:
        refuse_values_of_another(opened, known)
    _refuse_unknown(opened, asked)
    if known.name not in JUDGMENT_FORMATS:
        _refuse_lacking(opened, known)
    return opened, overridden(known, asked)


def _one_verdict_a_row(source: Source, asked: Asked) -> tuple[Source, Asked]:
    """Return a row for each judge's verdict, of a table that has a column for each judge."""
    if len(asked.verdicts) < 2:
        return source, asked
    with located(source.what):
        judge, outcome = (free_name(name, source.names) for name in ("judge", "outcome"))
        judged = source.longer(asked.verdicts, judge, outcome).complete([outcome])
    return judged, replace(asked, outcome=outcome, judge=judge)


def _unknown(format: object) -> OptionError:
    known = listed(format_names(), 60)
    return OptionError(f"format={format!r}", expected=f"'auto', a JudgmentFormat or one of {known}")


def _recognized(source: Source, asked: Asked) -> JudgmentFormat:
    """Return the format that the fields of a source say; llbt's own where the caller names the fields."""
    if asked.winner is not None and asked.loser is not None:
        return winner_format(asked.winner, asked.loser, OWN_COLUMNS)
    if asked.scores is not None:
        return points_of(source, as_two_names(asked.scores, "scores"), asked.objects)
    fields = frozenset(map(str, source.names))
    own = own_format(fields, asked.objects, asked.field)
    if asked.objects is not None and (asked.outcome is not None or "outcome" in fields):
        return own
    lacking = tuple(asked.defaults or ())
    return own if asked.names_fields and not has_known_format(source, lacking) else matching_format(source, lacking)


def _refuse_unknown(source: Source, asked: Asked) -> None:
    """Raise if a field of judge or prompt that the caller names is not there."""
    for parameter, path in (("judge", asked.judge), ("prompt", asked.prompt)):
        gone = [] if path is None else _gone(path, source)
        if gone:
            found = f"no field {listed(gone)} ({parameter}=)"
            raise JudgmentError(found, where=source.what, expected=f"one of {listed(source.names, 20)}")


def _refuse_lacking(source: Source, known: JudgmentFormat) -> None:
    """Raise if a field that a format of the caller's own has to have is not there."""
    gone = [part for path in known.marks if path not in known.defaults for part in _gone(path, source)]
    if gone:
        raise JudgmentError(f"no field {listed(gone)}; it has {listed(source.names, 20)}.", where=source.what)


def _gone(path: str, source: Source) -> list[str]:
    parts = [] if path in source.names else path.split("+")
    return [part for part in parts if part.split(".")[0] not in source.names and part not in source.names]


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
        The columns that the format calls so.
    weights : str or None
    counts : tuple of str
        Of a table of counts: the columns with wins of i, wins of j and, if there are any, ties.
    format : str
        The format that was recognized or asked for; empty if the caller names the columns.
    shown : bool
        Whether the first column holds the object shown first.
    dropped : int
        Judgments left out because nobody knows what they say.
    objects : tuple of labels
        The objects in their order, if that is not the one of their labels.
    notes : tuple of str
        What was read and left out on the way here.
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
        """What the source calls the judge and the prompt, where it has other names."""
        names = own_names(self.judge, self.prompt, self.source.names)
        return {role: name for role, name in names.items() if role not in self.source.names}

    @property
    def is_standard(self) -> bool:
        """Whether the source are judgments that were read before."""
        return has_standard_columns((*self.source.names, *self.called))

    def aliases(self, roles: Roles) -> dict[str, str]:
        """Return the columns that are asked for as ``judge`` or ``prompt`` and have other names (old → new)."""
        asked = {name for names in roles.values() for name in names}
        return {old: new for new, old in self.called.items() if new in asked and old not in asked}


def unless_default(value: Any, default: Any) -> Any:
    """Return what the caller of a door said; None if it is the default."""
    return None if value == default or (isinstance(value, list) and tuple(value) == default) else value


def countable(
    source: object, format: Format | None, asked: Asked, max_dropped: int, named: Collection[str] = ()
) -> Countable:
    """Return judgments ready to be counted; only what is not one row per judgment is read into memory.

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
            known, opened, notes = _examined(opened, standard, asked, named)
            found = replace(_made(opened, known, max_dropped, asked.orders), notes=notes)
            return _as_made(found, source, notes) if isinstance(source, Judgments) else found
    opened, known = resolve(source, format or "auto", asked)
    known, opened, notes = _examined(opened, known, asked, named)
    notes = (*own_notes(known), *notes)
    name = "" if asked.names_fields or known.name == OWN_COLUMNS else known.name
    if asked.orders is None and is_flat(known, opened):
        return replace(_countable(opened, known), format=name, shown=known.shown, notes=notes)
    if known.counts and asked.orders is not None:
        raise OptionError(f"orders={asked.orders!r}: counts do not say which judgments are of one prompt")
    if known.counts:
        counts = tuple(name for name in known.counts if name in opened.names or name in known.counts[:2])
        sides = as_two_names(known.games[0].objects, "objects")
        return Countable(opened, sides, Labels(""), counts=counts, format=name, shown=known.shown, notes=notes)
    found = _made(opened, known, max_dropped, asked.orders)
    return replace(found, notes=(*found.notes, *notes[len(own_notes(known)) :]))


def _examined(
    opened: Source, known: JudgmentFormat, asked: Asked, named: Collection[str] = ()
) -> tuple[JudgmentFormat, Source, tuple[str, ...]]:
    """Return how the rows that are asked for are read, these rows, and notes."""
    with located(opened.what):
        opened, kept = restricted(opened, asked.where)
        if asked.missing is not None:
            read = [name for game in known.games for name in fields_of(game)]
            beside = [name for name in named if name not in asked.units]
            opened, left = without_missing(opened, [*read, *beside, *filter(None, (asked.judge, asked.prompt))])
            kept = (*kept, *left)
        known, notes = examined(opened, known, asked.named.union(named), asked.ties_column)
    return known, opened, (*kept, *_judges_note(opened, asked), *notes)


def _judges_note(opened: Source, asked: Asked) -> tuple[str, ...]:
    """Return a note on columns that were read as judges, and how often these said nothing."""
    if len(asked.verdicts) < 2:
        return ()
    return (
        f"{counted(len(asked.verdicts), 'column')} of outcome= read as judges, {counted(opened.n_rows(), 'verdict')}",
    )


def _made(opened: Source, known: JudgmentFormat, max_dropped: int, orders: Orders = None) -> Countable:
    """Return what can be counted as it is, or else what is read into memory."""
    if orders is None and is_flat(known, opened):
        return _countable(opened, known)
    made = read(opened, known, max_dropped)
    made = made if orders is None else once_per_prompt(made)
    return _as_made(_countable(open_source(made), JUDGMENT_FORMATS["judgments"]), made)


def _as_made(found: Countable, made: Judgments, notes: tuple[str, ...] = ()) -> Countable:
    """Return judgments that were read before, their judges and prompts under the names of their source."""
    called = {role: name for role, name in made.called.items() if name not in found.source.names}
    return replace(
        found,
        source=replace(found.source, made=made.empty()).renamed(called),
        judge=called.get("judge", found.judge),
        prompt=called.get("prompt", found.prompt),
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


def tie_kind_notes(rows: Rows, said: IntArray, labels: Labels) -> list[str]:
    """Return notes on kinds of ties, which count as ties."""
    if not labels.tie_kinds:
        return []
    factor = read_factor(rows.frame, labels.field)
    kinds: dict[str, int] = {}
    for k, label in enumerate(factor.labels):
        if label in labels.tie_kinds:
            n = rows.count((factor.codes == k) & (said == TIE))
            kinds[labels.tie_kinds[label]] = kinds.get(labels.tie_kinds[label], 0) + n
    return [kind_note(n, kind) for kind, n in kinds.items() if n]


def overridden(known: JudgmentFormat, asked: Asked) -> JudgmentFormat:
    """Return a format with the fields that the caller names instead."""
    games = tuple(_named(game, known, asked) for game in known.games)
    judge = known.judge if asked.judge is None else (asked.judge,)
    prompt = known.prompt if asked.prompt is None else (asked.prompt,)
    joined = known.joined if asked.joined else ""
    found = replace(known, games=games, judge=judge, prompt=prompt, joined=joined)
    return _with_defaults(found, asked.defaults) if asked.defaults else found


def _with_defaults(known: JudgmentFormat, defaults: Mapping[str, Label]) -> JudgmentFormat:
    read_fields = (path for game in known.games for path in fields_of(game))
    paths = (*read_fields, *known.judge, *known.prompt, *known.block)
    fields = dict.fromkeys(part for path in paths for part in (path, *path.split("+")))
    strange = [name for name in defaults if name not in fields]
    if strange:
        raise OptionError(
            f"defaults=: format {known.name!r} reads no field {listed(strange)}",
            expected=f"some of {listed(tuple(fields), 20)}",
        )
    return replace(known, defaults={**known.defaults, **defaults})


def _named(game: Game, known: JudgmentFormat, asked: Asked) -> Game:
    if asked.objects is not None:
        new = dict(zip(known.games[0].objects, as_two_names(asked.objects, "objects"), strict=True))
        if not set(game.objects) <= set(new):
            raise OptionError(f"objects=: a record of format {known.name!r} names more than two objects.")
        game = replace(game, objects=(new[game.objects[0]], new[game.objects[1]]))
    if asked.field is not None:
        if len(known.games) > 1 or not isinstance(game.verdict, (Labels, Lean)):
            raise OptionError(
                f"outcome={asked.field!r}: format {known.name!r} has no single field that says who won",
                "Leave it out, or pass objects= and the names of their columns, too.",
            )
        game = replace(game, verdict=replace(game.verdict, field=asked.field))
    if asked.outcomes is not None:
        if not isinstance(game.verdict, Labels):
            raise OptionError(f"outcomes=: the outcomes of format {known.name!r} are not labels.")
        said: Outcomes = asked.outcomes
        if isinstance(said, Mapping):
            known_too = game.verdict.outcomes if isinstance(game.verdict.outcomes, Mapping) else {}
            said = {**known_too, **_with_labels_of(game.verdict, checked_outcomes(said))}
        sizes = {**game.verdict.strengths, **sizes_of(asked.outcomes)}
        game = replace(game, verdict=replace(game.verdict, outcomes=said, strengths=sizes))
    return game


def _with_labels_of(verdict: Labels, said: Mapping[Any, Meaning]) -> dict[Any, Meaning]:
    """Return a mapping of labels and kinds of ties to outcomes as one of labels, where kinds are those of labels."""
    kinds = verdict.tie_kinds.items()
    return {**{label: said[kind] for label, kind in kinds if said.get(kind) == "bad"}, **said}


def _held(source: Source, known: JudgmentFormat, max_dropped: int) -> Judgments | None:
    """Return the judgments of a DuckDB relation, counted and mapped where the rows are.

    None where a label means one thing in one row and another in the next, and names no winner either.
    """
    game, verdict = known.games[0], known.games[0].verdict
    assert isinstance(verdict, Labels)  # what flat means
    i, j = as_two_names(game.objects, "objects")
    if source.unsure & {i, j, verdict.field}:
        return None
    rows = source.tally({"objects": (i, j), "outcome": (verdict.field,)})
    pairs = read_label_pair(rows, "objects", (i, j))
    same = pairs.codes[:, 0] == pairs.codes[:, 1]
    selves = rows.count(same)
    leaves = 0 < selves <= max_dropped
    most = max_dropped - selves * leaves
    said, left, dropped = read_outcomes(rows, verdict.field, pairs, (i, j), verdict.outcomes, most)
    query = _query(source, known, rows, said, leaves)
    if query is None:
        return None
    kept = (said != LEFT_OUT) & ~(same & leaves)
    weights = rows.times[kept].astype(np.float64)
    n = int(weights.sum())
    if not n:
        raise JudgmentError(f"no judgment is left: {counted(selves, 'judgment')} of an object with itself.")
    notes = (
        f"{counted(int(rows.times.sum()), 'record')} read as {known.name!r}: {counted(n, 'judgment')}",
        *left,
        *tie_kind_notes(rows, np.where(said == BAD, TIE, said), verdict),
        *([self_note(selves)] if leaves else []),
        *own_notes(known),
    )
    held = Judgments(
        tuple(pairs.levels.tolist()),
        np.asarray(pairs.codes[kept], dtype=np.int64),
        np.where(said == BAD, TIE, said)[kept].astype(np.int64),
        weights=weights,
        shown=known.shown,
        dropped=dropped,
        notes=notes,
        query=query,
        called=own_names(field_of(known.judge, source.names), field_of(known.prompt, source.names), source.names),
    )
    return held.among_judged()


def _query(source: Source, known: JudgmentFormat, rows: Rows, said: IntArray, leaves: bool) -> Any:
    """Return the relation of the judgments one by one, or None where it cannot be said in the engine."""
    verdict = known.games[0].verdict
    assert isinstance(verdict, Labels)
    i, j = as_two_names(known.games[0].objects, "objects")
    mapped = _mapped(rows, said, verdict, (i, j))
    if mapped is None:
        return None
    found, kind, strength = mapped
    native = source.frame.to_native()
    kinds = {name: kind_of(rows.frame[name].to_list()) for name in (i, j, verdict.field)} if source.is_text else {}
    frame: Any = nw.from_native(typed_relation(native, kinds)) if source.is_text else source.frame
    judge, prompt = (field_of(names, source.names) for names in (known.judge, known.prompt))
    columns = {"object_i": nw.col(i), "object_j": nw.col(j), "outcome": found}
    columns |= {"judge": nw.col(judge) if judge else nw.lit(None), "prompt": nw.col(prompt) if prompt else nw.lit(None)}
    columns |= {"tie_kind": kind, "strength": strength, "block": nw.lit(None)}
    others = [name for name in source.names if name not in (i, j, verdict.field, judge, prompt)]
    columns |= {free_name(name, [*columns, *others]) if name in STANDARD else name: nw.col(name) for name in others}
    chosen = frame.select(*(value.alias(name) for name, value in columns.items()))
    kept = ~nw.col("outcome").is_null()
    two = (nw.col(name).cast(nw.String) for name in OBJECTS)
    return chosen.filter(kept & (next(two) != next(two)) if leaves else kept).to_native()


def _mapped(rows: Rows, said: IntArray, verdict: Labels, sides: tuple[str, str]) -> tuple[Any, Any, Any] | None:
    """Return outcome, kind of tie and strength as expressions over the columns of the file, if they can be."""
    cases = pd.DataFrame({"said": said, **{name: rows.frame[name].to_list() for name in (*sides, verdict.field)}})
    label = cases[verdict.field]
    texts = {name: cases[name].map(str) for name in (*sides, verdict.field)}
    by_name = np.where(texts[verdict.field] == texts[sides[1]], WIN_J, -1)
    by_name = np.where(texts[verdict.field] == texts[sides[0]], WIN_I, by_name)
    column = nw.col(verdict.field)
    # labels that name the winner in every row go by name, the others have one meaning
    i, j = (column.cast(nw.String) == nw.col(name).cast(nw.String) for name in sides)
    found: Any = nw.when(i).then(nw.lit("i")).otherwise(nw.when(j).then(nw.lit("j")).otherwise(nw.lit(None)))
    kind, strength = nw.lit(None), nw.lit(None)
    for value, group in cases.groupby(label, dropna=True):
        meanings = group["said"].unique()
        if not (by_name[group.index] == group["said"]).all():
            if len(meanings) > 1:
                return None
            meaning = _WORDS.get(int(meanings[0]))
            found = nw.when(column == value).then(nw.lit(meaning)).otherwise(found)
        value_kind = BOTH_BAD if BAD in meanings else verdict.tie_kinds.get(value)
        if value_kind is not None:
            kind = nw.when(column == value).then(nw.lit(value_kind)).otherwise(kind)
        size = by_label([value], verdict.strengths, None)[0]
        if size is not None:
            strength = nw.when(column == value).then(nw.lit(size)).otherwise(strength)
    missing = cases.loc[label.isna(), "said"]
    if len(missing) and missing.iloc[0] != LEFT_OUT:
        found = nw.when(column.is_null()).then(nw.lit(_WORDS[int(missing.iloc[0])])).otherwise(found)
        if missing.iloc[0] == BAD:
            kind = nw.when(column.is_null()).then(nw.lit(BOTH_BAD)).otherwise(kind)
    return found, kind, strength
