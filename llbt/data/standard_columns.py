"""Records of a format as one frame of judgments with standard columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.table import Note, counted
from ..core.columns import Coded, FloatArray, IntArray, Label, as_objects, code, inferred
from ..core.judgments import OBJECTS, STANDARD, Judgments, has_standard_columns
from ..errors import JudgmentError, listed
from .formats import Constant, Game, JudgmentFormat, Labelled, Labels, Reworded, Side, fields_of
from .outcome_codings import BOTH_BAD, LEFT_OUT
from .paths import located
from .record_reshaping import field_of, gap, joined_values, judged
from .sources import Source, in_memory
from .verdicts import Compared, Records, decide, label_codes, weigh

ORDER_UNKNOWN = "the order of presentation is not known: object_i may have been shown second"


@dataclass(frozen=True, eq=False)
class _Piece:
    """The m judgments that one game of a format finds in the records; each array has shape (m,)."""

    row: IntArray
    i: npt.NDArray[Any]
    j: npt.NDArray[Any]
    outcomes: IntArray
    strength: FloatArray
    kinds: npt.NDArray[Any]
    weight: FloatArray | None
    notes: tuple[Note, ...]
    dropped: int
    unknown: str = ""
    recorded: IntArray | None = None  # which of them come from one record of a joined label; None: no such labels


def read(source: Source, known: JudgmentFormat, max_dropped: int = 0) -> Judgments:
    """Return the judgments of a source, in the order of its records.

    Raises
    ------
    JudgmentError
        For missing fields, and more unknown outcomes than `max_dropped`.
    """
    with located(source.what):
        return _read(source, known, max_dropped)


def _read(source: Source, known: JudgmentFormat, max_dropped: int) -> Judgments:
    frame = in_memory(source, *_labelled(known))
    again = has_standard_columns(source.names) and known.name == "judgments"  # the frame of judgments read before
    if again and "weight" in frame:
        known = replace(known, games=(replace(known.games[0], weight="weight"),))
    everything = np.arange(len(frame))
    records, left = judged(Records(frame.reset_index(drop=True), everything, everything, source.what), known)
    records = _filled(records, known.defaults)
    games = [game for game in known.games if not game.optional or not _gaps(records, game)]
    for game in games:
        _refuse_gaps(records, game, known)
    pieces = [_piece(records, game, known, max_dropped) for game in games]
    _refuse_dropped(pieces, max_dropped)
    left += _summed([note for piece in pieces for note in piece.notes])
    if not sum(len(piece.row) for piece in pieces):
        raise JudgmentError(f"no judgment is left of {counted(len(frame), 'record')}: {'; '.join(left)}.")
    made, renamed = _standard(records, pieces, known, ["tie_kind", "strength", "record"] if again else [])
    notes = (
        f"{counted(len(frame), 'record')} read as {known.name!r}: {counted(made.n_judgments, 'judgment')}",
        *left,
        *_kinds(made),
        *renamed,
        *own_notes(known),
    )
    return replace(made, notes=notes, shown=known.shown, dropped=sum(piece.dropped for piece in pieces))


def _labelled(known: JudgmentFormat) -> tuple[list[str], list[str]]:
    """Return the fields of a format that hold objects, and those that may name them."""
    objects = [side for game in known.games for side in game.objects if isinstance(side, str)]
    outcomes = [game.verdict.field for game in known.games if isinstance(game.verdict, Labels)]
    return list(dict.fromkeys(objects)), list(dict.fromkeys(outcomes))


def _filled(records: Records, defaults: Mapping[str, Label]) -> Records:
    """Return records with the values of the fields that the file lacks."""
    gone = {name: value for name, value in defaults.items() if not records.has(name)}
    return replace(records, frame=records.frame.assign(**gone)) if gone else records


def _gaps(records: Records, game: Game) -> list[str]:
    paths = [part for path in fields_of(game) for part in ([path] if path in records.frame else path.split("+"))]
    return [path for path in paths if not records.has(path)]


def _refuse_gaps(records: Records, game: Game, known: JudgmentFormat) -> None:
    gone = _gaps(records, game)
    if gone:
        raise gap(records, gone, known)


def _refuse_dropped(pieces: Sequence[_Piece], most: int) -> None:
    dropped = sum(piece.dropped for piece in pieces)
    if dropped > most:
        unknown = next((piece.unknown for piece in pieces if piece.unknown), "")
        raise JudgmentError(
            f"{counted(dropped, 'judgment')} unknown to the format{f', the first in {unknown}' if unknown else ''}",
            f"Correct them, or leave them out (counted) with max_dropped={dropped}.",
        )


def _piece(records: Records, game: Game, known: JudgmentFormat, max_dropped: int) -> _Piece:
    """Return the judgments that one game finds in the records."""
    i, j = (_objects(records, side, known) for side in game.objects)
    missing = pd.isna(i) | pd.isna(j)
    if missing.all() and known.advice:
        raise gap(records, [str(side) for side in game.objects], known)
    unknown = records.first_of(missing, lambda k: f"the objects are {i[k]!r} and {j[k]!r}")
    nothing = (np.isin(i, _NOTHING) | np.isin(j, _NOTHING)) & ~missing
    notes = _left(nothing, f"no object ({listed([u for u in known.unnamed if u])})") + _left(
        missing, "an object missing"
    )
    itself = (i == j) & ~(missing | nothing) if known.itself else np.zeros(len(i), dtype=bool)
    notes += _left(itself, "an object compared with itself")
    named = ~(missing | nothing | itself)
    sides = (_named(game.objects[0]), _named(game.objects[1]))
    compared = Compared(records, (i, j), sides).take(named)
    records, (i, j) = compared.records, compared.objects
    weight, without_verdict, bad, off_scale = weigh(game.weight, records)
    decision = decide(game.verdict, compared, max_dropped)
    first = game is known.games[0]  # the parts of one judgment are left out together, and counted once
    notes += _left(without_verdict, f"{fields_of(game)[-1]!r} missing or failed") if first else []
    notes += _left(bad, "unknown to the format (max_dropped=)") if first else []
    used = (decision.outcomes != LEFT_OUT) & ~without_verdict & ~bad
    dropped = decision.dropped + int(missing.sum()) + (int(bad.sum()) if first else 0)
    piece = _Piece(
        *(records.row[used], i[used], j[used], decision.outcomes[used], decision.strength[used], decision.kinds[used]),
        *(None if weight is None else weight[used], (*notes, *decision.notes), dropped),
        unknown or decision.unknown or off_scale,
    )
    return _unjoined(piece, known.joined) if known.joined else piece


_ONCE = "clusters='record' for standard errors, joined=False keeps the labels whole"
_NOTHING = "\0no object"  # stands for the labels that stand for no object


def _named(side: Side) -> str:
    """Return the name of a side in messages."""
    if isinstance(side, Labelled):
        return side.otherwise
    return str(side.field if isinstance(side, Reworded) else side.value if isinstance(side, Constant) else side)


def _objects(records: Records, side: Side, known: JudgmentFormat) -> npt.NDArray[Any]:
    """Return the labels of one side, shape (n,)."""
    if isinstance(side, Reworded):
        codes, labels = label_codes(records.values(side.field))
        return as_objects([*map(dict(side.words).get, labels), None])[codes]
    if isinstance(side, Labelled):
        side = side.label if _have_labels(records, side) else side.otherwise
        _refuse_records(records, side)
        return joined_values(records, side)
    _refuse_records(records, side)
    if isinstance(side, str) and "+" in side and side not in records.frame:
        return joined_values(records, side)
    codes, labels = label_codes(records.values(side))
    unnamed = [_NOTHING if label in known.unnamed else label for label in labels]
    return as_objects([*unnamed, _NOTHING if None in known.unnamed else None])[codes]


def _refuse_records(records: Records, side: Side) -> None:
    """Raise for a field that holds a record where the label of an object should be."""
    values = records.values(side) if isinstance(side, str) and records.says(side) else np.empty(0)
    if values.dtype != object or pd.api.types.infer_dtype(values, skipna=True) != "mixed":
        return
    fields = next((tuple(value) for value in values if isinstance(value, dict) and value), ())
    if fields:
        raise JudgmentError(
            f"column {side!r} holds records with the fields {listed(fields)}",
            f"Name the field with the label, such as {f'{side}.{fields[0]}'!r}.",
            expected="labels: text, numbers or dates",
        )


def _have_labels(records: Records, side: Labelled) -> bool:
    """Whether every object of the records has a label of its own."""
    both = ((side.label, side.otherwise), side.beside)
    pairs_seen = {
        pair
        for label, otherwise in both
        for pair in zip(joined_values(records, label), joined_values(records, otherwise), strict=True)
    }
    labels = {label for label, _ in pairs_seen}
    return bool(pairs_seen) and not labels & {None, ""} and len(labels) == len(pairs_seen)


def _left(out: npt.NDArray[np.bool_], why: str) -> list[Note]:
    return [Note(int(out.sum()), "judgment", f"left out: {why}")] if out.any() else []


def _unjoined(piece: _Piece, sign: str) -> _Piece:
    """Return the judgments with one for each of the objects that a joined label names."""
    i, j = ([str(label).split(sign) for label in side] for side in (piece.i, piece.j))
    pairs = [(k, a, b) for k, (left, right) in enumerate(zip(i, j, strict=True)) for a in left for b in right]
    if len(pairs) == len(piece.row):
        return replace(piece, recorded=np.arange(len(pairs)))
    both = [pair for pair in pairs if pair[1] != pair[2]]
    notes = _left(np.array([a == b for _, a, b in pairs]), "an output compared with one identical to it")
    more = len(pairs) - len(piece.row)
    at = np.array([k for k, _, _ in both], dtype=np.int64)
    return _Piece(
        *(piece.row[at], as_objects(a for _, a, _ in both), as_objects(b for _, _, b in both), piece.outcomes[at]),
        *(piece.strength[at], piece.kinds[at], None if piece.weight is None else piece.weight[at]),
        (
            *piece.notes,
            Note(more, "judgment", f"added: one judgment covered several identical outputs (a{sign}b; {_ONCE})"),
            *notes,
        ),
        piece.dropped,
        piece.unknown,
        at,
    )


def _summed(notes: Sequence[Note]) -> list[str]:
    """Return notes of several games with equal ones added up: ``3 judgments left out: …``."""
    sums: dict[tuple[str, str], int] = {}
    for note in notes:
        sums[note.noun, note.what] = sums.get((note.noun, note.what), 0) + note.n
    return [Note(n, noun, what) for (noun, what), n in sums.items()]


def _standard(
    records: Records, pieces: Sequence[_Piece], known: JudgmentFormat, standard: Sequence[str]
) -> tuple[Judgments, list[str]]:
    """Return the judgments of all games, by record, and notes on columns that had to be renamed.

    Columns of the records that are `standard` already keep their values and names.
    """
    row = np.concatenate([piece.row for piece in pieces])
    order = np.argsort(row, kind="stable")
    row = row[order]

    def gathered(name: str) -> npt.NDArray[Any]:
        return np.asarray(np.concatenate([getattr(piece, name) for piece in pieces])[order])

    judge, prompt, block = (field_of(names, records) for names in (known.judge, known.prompt, known.block))
    data: dict[str, Any] = {
        "judge": records.number[row] if judge is None and known.one_judge else joined_values(records, judge)[row],
        "prompt": joined_values(records, prompt)[row],
        "tie_kind": gathered("kinds"),
        "strength": gathered("strength"),
        "block": joined_values(records, block)[row] if block or not known.blocks else records.number[row],
    }
    if pieces[0].recorded is not None:
        data["record"] = _numbered(pieces)[order]
    data |= {name: records.frame[name].to_numpy(dtype=object)[row] for name in standard if name in records.frame}
    gone = {judge, prompt, block, *standard} | (
        {path for game in known.games for path in fields_of(game)} if not known.blocks else set()
    )
    others = [name for name in records.frame.columns if name not in gone]
    weight = None if pieces[0].weight is None else gathered("weight")
    taken = [*OBJECTS, "outcome", *data, *others, *([] if weight is None else ["weight"])]
    names = {name: free_name(str(name), taken) for name in others if name in STANDARD}
    made = {name: inferred(pd.Series(list(values), dtype=object)) for name, values in data.items()}
    made |= {names.get(name, name): records.frame[name].take(row).reset_index(drop=True) for name in others}
    notes = [f"the column {old!r} of the file is {new!r} here" for old, new in names.items()]
    pairs = in_order(code("objects", np.column_stack([gathered("i"), gathered("j")])), known.objects)
    objects, outcomes = tuple(pairs.levels.tolist()), np.asarray(gathered("outcomes"), dtype=np.int64)
    judgments = Judgments(objects, np.asarray(pairs.codes, dtype=np.int64), outcomes, made, weight)
    return replace(judgments, called=own_names(judge, prompt, records.frame.columns)), notes


def own_names(judge: str | None, prompt: str | None, columns: Iterable[object]) -> dict[str, str]:
    """Return the names of the judge and prompt columns in a source, where they have other names."""
    there = {"judge": judge, "prompt": prompt}
    return {role: name for role, name in there.items() if name is not None and name in columns and name != role}


def in_order(pairs: Coded, objects: Sequence[Label]) -> Coded:
    """Return the objects of each row as codes into levels in the order of the caller, if there is one."""
    if not objects:
        return pairs
    rank = {label: k for k, label in enumerate(objects)}
    order = np.argsort([rank.get(label, len(rank)) for label in pairs.levels], kind="stable")
    return replace(pairs, levels=pairs.levels[order], codes=np.argsort(order)[pairs.codes])


def _numbered(pieces: Sequence[_Piece]) -> IntArray:
    """Return the record number of each judgment; judgments of one joined label share it."""
    sizes = [0 if piece.recorded is None else int(piece.recorded.max(initial=-1)) + 1 for piece in pieces]
    starts = np.cumsum([0, *sizes])
    return np.concatenate([start + piece.recorded for start, piece in zip(starts, pieces, strict=False)])


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return an unused name, with as few underscores appended as needed."""
    return name if name not in taken else free_name(f"{name}_", taken)


def _kinds(made: Judgments) -> list[str]:
    """Return a note on each kind of tie: how many judgments have it, and how they count."""
    by_kind = pd.Series(made.times).groupby(made.columns["tie_kind"]).sum()
    return [kind_note(float(n), str(kind)) for kind, n in by_kind.items()]


def own_notes(known: JudgmentFormat) -> tuple[str, ...]:
    """Return the notes of a format for all its files."""
    return known.notes if known.shown else (ORDER_UNKNOWN, *known.notes)


def kind_note(n: float, kind: str) -> str:
    """Return the note on a kind of ties."""
    if kind != BOTH_BAD:
        return f"{counted(n, 'tie')} of the kind {kind!r} counted as ties"
    are = "is" if n == 1 else "are"
    return f"{counted(n, 'tie')} {are} of the kind {kind!r}, which outcomes={{{kind!r}: 'bad'}} counts apart"
