"""Judgments that stay in their file, and are counted there."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from ..base.table import counted
from ..core.columns import IntArray
from ..core.counts import OUTCOMES
from ..core.judgments import OBJECTS, STANDARD, Judgments
from ..errors import JudgmentError
from .countable import tie_kind_notes
from .distinct_rows import Rows
from .duckdb_files import typed_relation
from .formats import JudgmentFormat, Labels
from .frames import read_label_pair
from .outcome_codings import BAD, BOTH_BAD, LEFT_OUT, TIE, WIN_I, WIN_J, by_label
from .outcomes import read_outcomes
from .record_reshaping import field_of
from .sources import Source, as_two_names
from .standard_columns import free_name, own_names, own_notes
from .value_types import kind_of

_WORDS = {k: word for k, word in enumerate(OUTCOMES)} | {BAD: "tie"}  # as Judgments say what a label means


def held_judgments(source: Source, known: JudgmentFormat, max_dropped: int) -> Judgments | None:
    """Return the judgments of a DuckDB relation, counted and mapped by DuckDB.

    None if the meaning of a label differs between rows and it does not name a winner.
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
    outcomes, left, dropped = read_outcomes(rows, verdict.field, pairs, (i, j), verdict.outcomes, most)
    query = _query(source, known, rows, outcomes, leaves)
    if query is None:
        return None
    used = (outcomes != LEFT_OUT) & ~(same & leaves)
    weights = rows.times[used].astype(np.float64)
    n = int(weights.sum())
    if not n:
        raise JudgmentError(
            f"no judgment is left: {counted(selves, 'judgment')} of an object with itself",
            expected="judgments of two different objects",
        )
    notes = (
        f"{counted(int(rows.times.sum()), 'record')} read as {known.name!r}: {counted(n, 'judgment')}",
        *left,
        *tie_kind_notes(rows, np.where(outcomes == BAD, TIE, outcomes), verdict),
        *([self_note(selves)] if leaves else []),
        *own_notes(known),
    )
    held = Judgments(
        tuple(pairs.levels.tolist()),
        np.asarray(pairs.codes[used], dtype=np.int64),
        np.where(outcomes == BAD, TIE, outcomes)[used].astype(np.int64),
        weights=weights,
        shown=known.shown,
        dropped=dropped,
        notes=notes,
        query=query,
        called=own_names(field_of(known.judge, source.names), field_of(known.prompt, source.names), source.names),
    )
    return held.among_judged()


def _query(source: Source, known: JudgmentFormat, rows: Rows, words: IntArray, leaves: bool) -> Any:
    """Return the relation of the single judgments, or None if the engine cannot express it."""
    verdict = known.games[0].verdict
    assert isinstance(verdict, Labels)
    i, j = as_two_names(known.games[0].objects, "objects")
    mapped = _mapped(rows, words, verdict, (i, j))
    if mapped is None:
        return None
    outcome, kind, strength = mapped
    native = source.frame.to_native()
    kinds = {name: kind_of(rows.frame[name].to_list()) for name in (i, j, verdict.field)} if source.is_text else {}
    frame: Any = nw.from_native(typed_relation(native, kinds)) if source.is_text else source.frame
    judge, prompt = (field_of(names, source.names) for names in (known.judge, known.prompt))
    columns = {"object_i": nw.col(i), "object_j": nw.col(j), "outcome": outcome}
    columns |= {"judge": nw.col(judge) if judge else nw.lit(None), "prompt": nw.col(prompt) if prompt else nw.lit(None)}
    columns |= {"tie_kind": kind, "strength": strength, "block": nw.lit(None)}
    others = [name for name in source.names if name not in (i, j, verdict.field, judge, prompt)]
    columns |= {free_name(name, [*columns, *others]) if name in STANDARD else name: nw.col(name) for name in others}
    chosen = frame.select(*(value.alias(name) for name, value in columns.items()))
    has_outcome = ~nw.col("outcome").is_null()
    two = (nw.col(name).cast(nw.String) for name in OBJECTS)
    return chosen.filter(has_outcome & (next(two) != next(two)) if leaves else has_outcome).to_native()


def _mapped(rows: Rows, mapping: IntArray, verdict: Labels, sides: tuple[str, str]) -> tuple[Any, Any, Any] | None:
    """Return outcome, kind of tie and strength as expressions over the columns of the file, if possible."""
    cases = pd.DataFrame({"said": mapping, **{name: rows.frame[name].to_list() for name in (*sides, verdict.field)}})
    label = cases[verdict.field]
    texts = {name: cases[name].map(str) for name in (*sides, verdict.field)}
    by_name = np.where(texts[verdict.field] == texts[sides[1]], WIN_J, -1)
    by_name = np.where(texts[verdict.field] == texts[sides[0]], WIN_I, by_name)
    column = nw.col(verdict.field)
    # labels that name the winner in every row go by name, the others have one meaning
    i, j = (column.cast(nw.String) == nw.col(name).cast(nw.String) for name in sides)
    outcome: Any = nw.when(i).then(nw.lit("i")).otherwise(nw.when(j).then(nw.lit("j")).otherwise(nw.lit(None)))
    kind, strength = nw.lit(None), nw.lit(None)
    for value, group in cases.groupby(label, dropna=True):
        meanings = group["said"].unique()
        if not (by_name[group.index] == group["said"]).all():
            if len(meanings) > 1:
                return None
            meaning = _WORDS.get(int(meanings[0]))
            outcome = nw.when(column == value).then(nw.lit(meaning)).otherwise(outcome)
        value_kind = BOTH_BAD if BAD in meanings else verdict.tie_kinds.get(value)
        if value_kind is not None:
            kind = nw.when(column == value).then(nw.lit(value_kind)).otherwise(kind)
        size = by_label([value], verdict.strengths, None)[0]
        if size is not None:
            strength = nw.when(column == value).then(nw.lit(size)).otherwise(strength)
    missing = cases.loc[label.isna(), "said"]
    if len(missing) and missing.iloc[0] != LEFT_OUT:
        outcome = nw.when(column.is_null()).then(nw.lit(_WORDS[int(missing.iloc[0])])).otherwise(outcome)
        if missing.iloc[0] == BAD:
            kind = nw.when(column.is_null()).then(nw.lit(BOTH_BAD)).otherwise(kind)
    return outcome, kind, strength


def self_note(n: int) -> str:
    """Return the note on comparisons of an object with itself."""
    return f"{counted(n, 'judgment')} of an object with itself left out (max_dropped=)"
