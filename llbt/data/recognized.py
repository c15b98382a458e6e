"""How to read the records of a source: by a format that its fields show, or by the caller's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.columns import Label
from ..errors import JudgmentError, OptionError, listed
from .asked import Asked, Format
from .files import open_source
from .formats import Game, JudgmentFormat, Labels, Lean, fields_of
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
from .outcome_codings import Meaning
from .outcomes import Outcomes, checked_outcomes, sizes_of
from .paths import located
from .sources import Source, as_two_names, in_memory
from .standard_columns import free_name
from .wide import matrix_source, prefmod_format
from .wordings import points_of, winner_format

OWN_COLUMNS = "columns"  # the name of formats that say no more than what columns are called


def resolve(source: object, format: Format, asked: Asked) -> tuple[Source, JudgmentFormat]:
    """Return the opened source, and its format with the caller's replacements.

    Raises
    ------
    OptionError, JudgmentError
        For unknown formats, and formats that do not fit.
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
    """Return the format that the fields of a source show; llbt's own if the caller names the fields."""
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
    """Raise if a field of judge or prompt that the caller names is missing."""
    for parameter, path in (("judge", asked.judge), ("prompt", asked.prompt)):
        gone = [] if path is None else _gone(path, source)
        if gone:
            fault = f"no field {listed(gone)} ({parameter}=)"
            raise JudgmentError(fault, where=source.what, expected=f"one of {listed(source.names, 20)}")


def _refuse_lacking(source: Source, known: JudgmentFormat) -> None:
    """Raise if a required field of the caller's own format is missing."""
    gone = [part for path in known.marks if path not in known.defaults for part in _gone(path, source)]
    if gone:
        raise JudgmentError(f"no field {listed(gone)}; it has {listed(source.names, 20)}.", where=source.what)


def _gone(path: str, source: Source) -> list[str]:
    parts = [] if path in source.names else path.split("+")
    return [part for part in parts if part.split(".")[0] not in source.names and part not in source.names]


def overridden(known: JudgmentFormat, asked: Asked) -> JudgmentFormat:
    """Return a format with the fields that the caller names instead."""
    games = tuple(_named(game, known, asked) for game in known.games)
    judge = known.judge if asked.judge is None else (asked.judge,)
    prompt = known.prompt if asked.prompt is None else (asked.prompt,)
    joined = known.joined if asked.joined else ""
    replaced = replace(known, games=games, judge=judge, prompt=prompt, joined=joined)
    return _with_defaults(replaced, asked.defaults) if asked.defaults else replaced


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
            raise OptionError(
                f"objects=: a record of format {known.name!r} names more than two objects", "Leave objects= out."
            )
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
            raise OptionError(
                f"outcomes=: the outcomes of format {known.name!r} are not labels", "Leave outcomes= out."
            )
        mapping: Outcomes = asked.outcomes
        if isinstance(mapping, Mapping):
            known_too = game.verdict.outcomes if isinstance(game.verdict.outcomes, Mapping) else {}
            mapping = {**known_too, **_with_labels_of(game.verdict, checked_outcomes(mapping))}
        sizes = {**game.verdict.strengths, **sizes_of(asked.outcomes)}
        game = replace(game, verdict=replace(game.verdict, outcomes=mapping, strengths=sizes))
    return game


def _with_labels_of(verdict: Labels, mapping: Mapping[Any, Meaning]) -> dict[Any, Meaning]:
    """Return a mapping to outcomes; kinds of ties that it maps to "both bad" are added by their labels."""
    kinds = verdict.tie_kinds.items()
    return {**{label: mapping[kind] for label, kind in kinds if mapping.get(kind) == "bad"}, **mapping}
