"""Layouts under column names of their own: winner and loser, two sides and an outcome, two sides and their points.

Names suggest the roles of columns, and the values decide. The table is then read as a known format, with its columns in
place of the fields.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..core.columns import Label
from ..core.judgments import OBJECTS
from ..errors import JudgmentError
from .formats import Always, ByScores, Game, JudgmentFormat, Labels, meaning
from .frames import as_number, read_factor
from .outcome_codings import NO, YES, Meaning
from .sources import Source

_WINNERS = (("winner", "loser"), ("won", "lost"), ("better", "worse"), ("preferred", "rejected"), ("win", "loss"))
_CHOSEN = ("chosen", "rejected")  # names of systems, or their answers
_NAMING = ("", "name", "id", "model", "player", "team", "object", "item")  # beside winner: winner_name, winner_id
_FIRST = (
    *(("i", "j"), ("a", "b"), ("1", "2"), ("x", "y"), ("left", "right"), ("home", "away"), ("white", "black")),
    *(("first", "second"), ("one", "two")),
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_OBJECTS = _words(
    """
    model system agent player team object competitor candidate condition method stimulus option item bot algorithm
    engine contestant
    """
)
_WEAK_OBJECTS = ("", *_words("answer choice image text essay script portfolio"))  # or what objects made
_POINTS = _words("score scores goals points pts runs")
_OUTCOMES = _words(
    """
    winner outcome result verdict preferred preference selected selection choice chosen decision judgment judgement
    vote label
    """
)
_CHOOSING = _words("selected chosen preferred better won wins win winner best")
_JUDGES = _words(
    """
    judge judgeid assessor assessorid rater raterid annotator annotatorid observer observerid worker workerid judgehash
    """
)
_PROMPTS = _words("prompt promptid questionid instruction")
_LONGEST = 60  # characters of a name; what is longer is a text
_DRAWS = ("draw", "Draw", "DRAW", "drawn", "tied", "Tied", "equal", "Equal")

CHESS = Labels(
    "Result",
    meaning("i", "1-0", "1–0") | meaning("j", "0-1", "0–1") | meaning(None, "*")
    | meaning("tie", "1/2-1/2", "½-½", "1/2–1/2", "½–½", "0.5-0.5", "1/2"),
)  # fmt: skip


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name: of homeTeam, home_team and 'Home team' home and team."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", name)
    return tuple(part.casefold() for part in parts)


def worded_formats(source: Source) -> list[JudgmentFormat]:
    """Return how a source says who won under column names of its own: one format, or none."""
    names = {name: words_of(name) for name in source.names if source.has_labels(name)}
    if set(OBJECTS) <= set(names):
        return []  # these are llbt's own names
    known = _winners(source, names) or _sides(source, names)
    return [] if known is None else [replace(known, judge=_called(names, _JUDGES), prompt=_called(names, _PROMPTS))]


def winner_format(winner: str, loser: str, name: str = "choix") -> JudgmentFormat:
    """Return the format of a table with the winner of each judgment in one column, and the loser in another."""
    return JudgmentFormat(name, (Game((winner, loser), Always("i")),), (winner, loser), shown=False)


def points_format(objects: Sequence[str], scores: Sequence[str], name: str = "points") -> JudgmentFormat:
    """Return the format of a table with two objects and the points of each, where more is better."""
    verdict = ByScores((scores[0], scores[1]), points=True)
    return JudgmentFormat(name, (Game((objects[0], objects[1]), verdict),), (*objects, *scores))


def points_of(source: Source, scores: Sequence[str], objects: Sequence[str] | None) -> JudgmentFormat:
    """Return the format of a table whose points the caller names; the objects are found if they are not named.

    Raises
    ------
    JudgmentError
        If no two columns have usual names of objects.
    """
    names = {name: words_of(name) for name in source.names if source.has_labels(name)}
    sides = objects or _object_sides(source, {k: words for k, words in names.items() if k not in scores})
    if sides is None:
        raise JudgmentError(
            "scores= names no objects", "Pass objects= and the names of their columns, too.", where=source.what
        )
    known = points_format(sides, scores, "columns")
    return replace(known, judge=_called(names, _JUDGES), prompt=_called(names, _PROMPTS))


def _called(names: dict[str, tuple[str, ...]], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the columns with some names, in the order of these."""
    by_name = {"".join(words): name for name, words in reversed(names.items())}
    return tuple(by_name[word] for word in wanted if word in by_name)


def _winners(source: Source, names: dict[str, tuple[str, ...]]) -> JudgmentFormat | None:
    columns = {words: name for name, words in names.items()}
    for won, lost in (*_WINNERS, _CHOSEN):
        for beside in _NAMING:
            pair = [columns.get((word, beside) if beside else (word,)) for word in (won, lost)]
            if pair[0] is None or pair[1] is None:
                continue
            sure = won == "winner"  # won and lost may be counts, chosen and rejected texts
            if not (sure or _are_names(source, (pair[0], pair[1]), again=won == "chosen", numbers=False)):
                continue
            known = winner_format(pair[0], pair[1])
            notes = (f"{pair[0]!r} won against {pair[1]!r} in every row",) if won != "winner" else ()
            return replace(known, notes=notes)
    return None


def _sides(source: Source, names: dict[str, tuple[str, ...]]) -> JudgmentFormat | None:
    """Return the format of a table with two sides and an outcome or their points, if it is one."""
    sides = _object_sides(source, names)
    if sides is None:
        return None
    verdict = _verdict(source, names, sides)
    if verdict is not None:
        note = f"the objects are {sides[0]!r} and {sides[1]!r}, the outcome is {verdict.field!r}"
        name = "chess" if verdict.outcomes is CHESS.outcomes else "judgments"
        return JudgmentFormat(name, (Game(sides, verdict),), (*sides, verdict.field), notes=(note,))
    points = [pair for stem, pair in _pairs(names) if stem in _POINTS and all(_numeric(source, name) for name in pair)]
    if len(points) != 1:
        return None
    note = f"the side with more points won: {points[0][0]!r} of {sides[0]!r}, {points[0][1]!r} of {sides[1]!r}"
    return replace(points_format(sides, points[0]), notes=(note,))


def _pairs(names: dict[str, tuple[str, ...]]) -> list[tuple[str, tuple[str, str]]]:
    """Return columns whose names differ only by the word of a side, with the rest of their names."""
    pairs = []
    at = {words: name for name, words in names.items()}
    for name, words in names.items():
        for k, word in enumerate(words):
            for i, j in _FIRST:
                other = at.get((*words[:k], j, *words[k + 1 :]))
                if word == i and other is not None:
                    pairs.append(("".join((*words[:k], *words[k + 1 :])), (name, other)))
    return pairs


def _object_sides(source: Source, names: dict[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """Return the two columns of objects, if names and values leave no doubt."""
    pairs = _pairs(names)
    for stems, again in ((_OBJECTS, False), (_WEAK_OBJECTS, True)):
        named = [pair for stem, pair in pairs if stem in stems or stem.removesuffix("name").removesuffix("id") in stems]
        named_pairs = [pair for pair in named if _are_names(source, pair, again=again, numbers=not again)]
        if named_pairs:
            return named_pairs[0] if len(named_pairs) == 1 else None
    return None


def _verdict(source: Source, names: dict[str, tuple[str, ...]], sides: tuple[str, str]) -> Labels | None:
    """Return the column that says who won, and what its labels mean beside the usual words."""
    others = {name: words for name, words in names.items() if name not in sides}
    flags = {name: flag_meaning for name, words in others.items() if (flag_meaning := _flagged(words)) is not None}
    if len(flags) == 1:
        name, (won, lost) = next(iter(flags.items()))
        labels = _labels(source, name)
        if all(str(label).casefold() in YES | NO for label in labels):
            yes = [label for label in labels if str(label).casefold() in YES]
            return Labels(name, meaning(lost, *labels) | meaning(won, *yes))
    called = [name for name, words in others.items() if "".join(words) in _OUTCOMES]
    called = [name for name in called if names[name] == ("winner",)] or called
    if len(called) != 1:
        return None
    if {"1-0", "0-1", "1–0", "0–1"} & set(map(str, _labels(source, called[0]))):
        return replace(CHESS, field=called[0])
    return Labels(called[0], meaning("tie", *_DRAWS))


def _flagged(words: Sequence[str]) -> tuple[Meaning, Meaning] | None:
    """Return what yes and no mean in a column that asks whether one side won, such as is_A_selected."""
    rest = [word for word in words if word != "is"]
    if len(rest) != 2 or rest[1] not in _CHOOSING:
        return None
    side = [k for k in (0, 1) if rest[0] in {pair[k] for pair in _FIRST}]
    return None if len(side) != 1 else ("i", "j") if side[0] == 0 else ("j", "i")


def _are_names(source: Source, pair: tuple[str, str], *, again: bool, numbers: bool) -> bool:
    """Whether two columns name objects: short labels, some in both if `again`, not all numbers unless `numbers`."""
    label_sets = [_labels(source, name) for name in pair]
    both: set[Label] = {label for labels in label_sets for label in labels}
    if not all(label_sets) or any(len(str(label)) > _LONGEST for label in both):
        return False
    if not numbers and all(as_number(label) is not None for label in both):
        return False
    return not again or (len(both) <= source.n_rows() and bool(set(label_sets[0]) & set(label_sets[1])))


def _numeric(source: Source, name: str) -> bool:
    labels = _labels(source, name)
    return bool(labels) and all(as_number(label) is not None for label in labels)


def _labels(source: Source, name: str) -> list[Label]:
    return read_factor(source.tally({"values": (name,)}).frame, name).labels
