"""Columns without a role: used, refused or named in a note, by their names and values.

A table may have a column of ties, or of how often each row was judged, that its layout does not need. Names alone do
not decide, because a column ``count`` may count the words of an answer. The values and the other columns decide, too. A
column that may change the counts is used or refused; the others are listed as not used (`tables.unused_note`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..base.table import counted, format_count
from ..core.columns import FloatArray, Label
from ..core.judgments import STANDARD, has_standard_columns
from ..errors import JudgmentError, OptionError, listed
from .column_values import Values, columns_called, spelled, values_of, words
from .distinct_rows import Rows
from .formats import Always, Game, JudgmentFormat, Labels, fields_of
from .frames import read_counts, read_factor, read_label_pair, read_sizes
from .outcome_codings import TIE, Meaning
from .outcomes import read_outcomes
from .record_reshaping import field_of
from .row_filters import filter_notes
from .sources import Source, as_two_names, refuse_absent

TIMES = ("tstamp", "timestamp", "time", "datetime", "date", "created_at", "submitted_at", "created", "day")

_TIES = words(
    """
    draw draws drawn tie ties tied istie isties isdraw istied equal equals isequal
    """
)
_STRONG = words(
    """
    count counts freq freqs frequency frequencies weight weights vote votes numvotes nvotes votecount reps
    replicates replications multiplicity
    """
)
_WEAK = words(
    """
    n num number total times w nobs
    """
)
_UNITS = words(
    """
    judge judgeid worker workerid annotator annotatorid rater raterid user userid assessor observer prompt
    promptid question questionid item itemid instruction sentence segment document block session
    """
)
_NAMED = 3  # rows in a message


def examined(
    source: Source, known: JudgmentFormat, named: Collection[str], ties_column: str | None = None
) -> tuple[JudgmentFormat, tuple[str, ...]]:
    """Return a format with a further column of ties, and notes on other columns.

    Parameters
    ----------
    source : Source
    known : JudgmentFormat
        How its records are read.
    named : collection of str
        Columns that the caller named in any argument, which are not looked at.
    ties_column : str, optional
        The column of ties that the caller names; it takes precedence over the outcome.

    Raises
    ------
    JudgmentError
        For a column that may hold counts of the rows, or ties, unless the caller's arguments decide about it.
    OptionError
        For a `ties_column` of a format that says itself which judgments are ties.
    """
    beside = {field_of(names, source.names) for names in (known.judge, known.prompt, known.block)}
    fields = {field for game in known.games for field in fields_of(game)}
    made = STANDARD if has_standard_columns(source.names) else ()  # the frame of judgments that were read before
    taken = {*named, *fields, *known.marks, *made, *(name for name in beside if name)}
    if known.counts:
        sides = as_two_names(known.games[0].objects, "objects")
        there = [ties_column] if ties_column else [name for name in known.counts[2:] if name in source.names]
        ties, notes = of_counts(source, known.counts[:2], there, {*taken, *there})
        ties = ties_column or ties
        game = Game(sides, Always("tie"), ties or "")
        return (replace(known, games=(*known.games[:2], game)) if ties else known), notes
    game, notes = known.games[0], tuple[str, ...]()
    if len(known.games) == 1 and isinstance(game.verdict, Always) and game.weight is None:
        known, notes = _ties_of_wins(source, known, taken, ties_column)
    elif known.flat and isinstance(game.verdict, Labels):
        if ties_column is None:
            notes = _ties_of_outcomes(source, known, game.verdict, taken)
        else:
            _marks_of(source, ties_column)
            game = replace(game, verdict=replace(game.verdict, tie=ties_column))
            known, notes = replace(known, games=(game,)), (f"ties are the rows that say so in column {ties_column!r}",)
    elif ties_column is not None:
        raise OptionError(
            f"ties_column={ties_column!r}: the format {known.name!r} says itself which judgments are ties",
            "Leave it out.",
        )
    return known, (*notes, *_weights_of_judgments(source, taken), *filter_notes(source, taken))


def numbers_of_rows(source: Source, taken: Collection[str]) -> list[str]:
    """Return the columns that are named like row counts and hold numbers other than 1."""
    columns = []
    for name in columns_called(source, _STRONG, taken):
        numbers = values_of(source, name).numbers()
        if numbers is not None and bool((numbers != 1).any()):
            columns.append(name)
    return columns


def of_counts(
    source: Source, wins: Sequence[str], ties: Sequence[str] | None, taken: Collection[str]
) -> tuple[str | None, tuple[str, ...]]:
    """Return the column of ties that the caller did not name, beside wins of both sides, if there is one; and notes.

    `ties` are the columns of ties that are known; None where the caller says that there are none.

    Raises
    ------
    JudgmentError
        For ties that are fractions, and for counts of judgments that are not the sum of wins and ties.
    """
    notes: list[str] = []
    ties_column = None
    for name in columns_called(source, _TIES, taken) if ties is not None and not ties else []:
        values = values_of(source, name)
        numbers = values.numbers()
        if numbers is None or not (numbers != 0).any():
            continue
        if values.missing or values.as_text:
            use = _if_complete(values, f'ties_column="{name}"')
            raise JudgmentError(
                f"column {name!r} holds {_flaw(values)} beside wins of both sides",
                f'It may count ties. Pass {use}ignore=["{name}"].',
                expected="a number of ties in every row",
            )
        if not _whole(numbers):
            raise JudgmentError(
                f"column {name!r} holds fractions beside wins of both sides",
                f'It may count ties. Pass ties_column="{name}" or ignore=["{name}"].',
                expected="whole numbers of ties",
            )
        if ties_column is not None:
            raise JudgmentError(
                f"columns {ties_column!r} and {name!r} may both count ties",
                f'Pass ties_column="{ties_column}" or ties_column="{name}".',
            )
        ties_column = name
        total = float(values.times @ numbers)
        notes.append(f"{counted(total, 'tie')} by column {name!r}")
    for name in columns_called(source, _STRONG | _WEAK, taken):
        notes += _total_of_counts(source, name, (*wins, *(ties or ()), *([ties_column] if ties_column else [])))
    return ties_column, (*notes, *filter_notes(source, taken))


def _total_of_counts(source: Source, name: str, parts: Sequence[str]) -> list[str]:
    """Return a note on a column of totals; refuse one with more judgments than are counted."""
    values = values_of(source, name)
    if values.numbers() is None:
        return []
    filled = source.complete([name]) if values.missing else source
    rows = filled.pick({"total": (name,), "counts": tuple(parts)})
    over = read_sizes(rows, name) - sum(read_counts(rows, part) for part in parts)
    if not over.any():
        return [f"column {name!r} is the total of each row{' that has one' if values.missing else ''}"]
    if spelled(name) in _STRONG:
        raise JudgmentError(
            f"column {name!r} holds numbers that are not the sum of {listed(list(parts))}",
            f'It may say how often each row was judged. Pass ignore=["{name}"] to count the wins as they are.',
        )
    if (over >= 0).all():
        raise JudgmentError(
            f"column {name!r} adds up to {format_count(float(over.sum()))} more than {listed(list(parts))}",
            f'The rest may be ties. Pass a column of ties as ties_column=, or ignore=["{name}"].',
        )
    return []


def _ties_of_wins(
    source: Source, known: JudgmentFormat, taken: Collection[str], ties_column: str | None
) -> tuple[JudgmentFormat, tuple[str, ...]]:
    """Return a format of winners and losers with the column of ties."""
    if ties_column is not None:
        _marks_of(source, ties_column)
    marked: dict[str, dict[Label, bool]] = {}
    notes: list[str] = []
    for name in columns_called(source, _TIES, taken) if ties_column is None else [ties_column]:
        values = values_of(source, name)
        marks, numbers = values.ties(), values.numbers()
        if marks is None and numbers is not None and _whole(numbers):
            raise JudgmentError(
                f"column {name!r} holds numbers from {_span(numbers)} beside a winner and a loser",
                f'It may count ties. Pass ignore=["{name}"] to count the wins alone.',
            )
        if marks is None:
            continue
        n_ties, total = values.yes(marks), int(values.times.sum()) + values.missing
        if n_ties == total:
            raise JudgmentError(
                f"column {name!r} marks all {counted(total, 'row')} as ties",
                f'Pass ignore=["{name}"] to count them as wins.',
                expected="winners and losers, some of them tied",
            )
        if n_ties:
            marked[name] = marks
            notes.append(f"{counted(n_ties, 'draw')} by column {name!r}")
        else:
            notes.append(f"no draws by column {name!r}")
    if not marked:
        return known, tuple(notes)
    _refuse_other_ties(source, marked)
    name, marks = next(iter(marked.items()))
    outcomes: dict[Label | None, Meaning] = {label: "tie" if yes else "i" for label, yes in marks.items()}
    game = replace(known.games[0], verdict=Labels(name, {**outcomes, None: "i"}))
    return replace(known, games=(game,)), tuple(notes)


def _refuse_other_ties(source: Source, marked: Mapping[str, Mapping[Label, bool]]) -> None:
    """Raise for two columns of ties that mark different rows."""
    if len(marked) < 2:
        return
    rows = source.tally({"ties": tuple(marked)})
    ties = {name: _says_yes(rows, name, marks) for name, marks in marked.items()}
    (first, of_first), *others = ties.items()
    for other, of_other in others:
        if (of_first != of_other).any():
            raise JudgmentError(
                f"columns {first!r} and {other!r} mark different rows as ties",
                f'Pass ties_column="{first}" ({counted(rows.count(of_first), "tie")}) or '
                f'ties_column="{other}" ({counted(rows.count(of_other), "tie")}).',
            )


def _says_yes(rows: Rows, name: str, marks: Mapping[Label, bool]) -> npt.NDArray[np.bool_]:
    """Return which distinct rows say yes in a column."""
    flag = read_factor(rows.frame, name)
    return np.array([*(marks[label] for label in flag.labels), False])[flag.codes]


def _marks_of(source: Source, name: str) -> dict[Label, bool]:
    """Return which values mean a tie, in the column that the caller names."""
    refuse_absent(source, {"ties_column": (name,)})
    marks = values_of(source, name).ties()
    if marks is None:
        raise JudgmentError(
            f"column {name!r} (ties_column=) holds {listed(values_of(source, name).labels, 3)}",
            expected="yes or no in every row, as True and False, 1 and 0, tie and win, or these words",
        )
    return marks


def _ties_of_outcomes(
    source: Source, known: JudgmentFormat, verdict: Labels, taken: Collection[str]
) -> tuple[str, ...]:
    """Return notes on columns of ties that agree with the outcome; refuse one that contradicts it."""
    notes: list[str] = []
    for name in columns_called(source, _TIES, taken):
        values = values_of(source, name)
        marks, numbers = values.ties(), values.numbers()
        if marks is None and numbers is not None and _whole(numbers):
            raise JudgmentError(
                f"column {name!r} holds numbers from {_span(numbers)} beside single judgments",
                f'It may count ties. Pass ignore=["{name}"] to take ties from the outcome alone.',
            )
        if marks is None or not any(marks.values()):
            continue
        sides = as_two_names(known.games[0].objects, "objects")
        rows = source.tally({"objects": sides, "outcome": (verdict.field,), "ties_column": (name,)})
        pairs = read_label_pair(rows, "objects", sides)
        outcome, _, _ = read_outcomes(rows, verdict.field, pairs, sides, verdict.outcomes, source.n_rows())
        yes = _says_yes(rows, name, marks)
        odd = yes & (outcome != TIE)
        if odd.any():
            first = sorted(rows.numbers(np.flatnonzero(odd)).tolist())[:_NAMED] if rows.ordered else []
            where = f" (rows {', '.join(map(str, first))}{', …' if rows.count(odd) > _NAMED else ''})" if first else ""
            raise JudgmentError(
                f"column {name!r} says tie in {counted(rows.count(odd), 'row')} whose outcome is decided{where}",
                f'Pass ties_column="{name}" ({counted(rows.count(yes | (outcome == TIE)), "tie")}) or '
                f'ignore=["{name}"] ({counted(rows.count(outcome == TIE), "tie")}).',
            )
        notes.append(f"column {name!r} says tie where the outcome does")
    return tuple(notes)


def _weights_of_judgments(source: Source, taken: Collection[str]) -> tuple[str, ...]:
    """Return notes on columns of ones; refuse a column that may hold counts of the rows."""
    plain = {spelled(name) for name in source.names}
    in_units = bool(plain & _UNITS)
    in_time = bool(plain & {spelled(name) for name in TIMES})
    notes: list[str] = []
    for name in columns_called(source, _STRONG | _WEAK, taken):
        values = values_of(source, name)
        numbers, called = values.numbers(), spelled(name)
        if numbers is None:
            continue
        if (numbers == 1).all():
            notes.append(f"column {name!r} is 1 in every row{' that has a value' if values.missing else ''}")
            continue
        whole = _whole(numbers)
        strong = called in _STRONG and not (in_time and in_units)
        strong = strong and not (called.startswith("freq") and in_units and not whole)
        if strong or (called in _WEAK and whole and not (in_units or in_time)):
            total, n_rows = float(values.times @ numbers), int(values.times.sum()) + values.missing
            flaw = f", {_flaw(values)}," if values.missing or values.as_text else ""
            use = f'weights="{name}" ({counted(total, "judgment")}) or ' if not flaw else ""
            use = use or _if_complete(values, f'weights="{name}"')
            raise JudgmentError(
                f"column {name!r} holds numbers from {_span(numbers)}{flaw} beside single judgments",
                f"It may say how often each row was judged. Pass {use}"
                f'ignore=["{name}"] ({counted(n_rows, "judgment")}).',
            )
    return tuple(notes)


def _flaw(values: Values) -> str:
    """Return why numbers cannot be used as they are."""
    gaps = [f"no value in {counted(values.missing, 'row')}"] if values.missing else []
    return " and ".join([*(["numbers as text"] if values.as_text else []), *gaps])


def _if_complete(values: Values, use: str) -> str:
    """Return the argument that uses a column in the rows that have a value; nothing where its values are text."""
    return "" if values.as_text else f'{use}, missing="drop" or '


def _whole(numbers: FloatArray) -> bool:
    return bool((np.isfinite(numbers) & (numbers == np.floor(numbers)) & (numbers >= 0)).all())


def _span(numbers: FloatArray) -> str:
    return f"{numbers.min():.6g} to {numbers.max():.6g}"
