"""Completions after an option: columns of the file, terms of a formula, files and data sets, formats, checks."""

from __future__ import annotations

import csv
import importlib.util
import itertools
import json
from pathlib import Path

import typer

_START = 1 << 16  # characters of a file in which its first line ends


def after_files(incomplete: str) -> list[str]:
    """Return files and bundled data sets whose names begin with the given text."""
    return [*files(incomplete), *(name for name in bundled() if name.startswith(incomplete))]


def files(incomplete: str) -> list[str]:
    """Return files and folders whose names begin with the given text."""
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    begun = incomplete if incomplete.endswith("/") else incomplete[: len(incomplete) - len(Path(incomplete).name)]
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    paths = [f"{begun}{path.name}{'/' if path.is_dir() else ''}" for path in there if not path.name.startswith(".")]
    return [name for name in paths if name.startswith(incomplete)]


def bundled() -> list[str]:
    """Return the names of the bundled data sets, by their files."""
    room = importlib.util.find_spec("llbt")
    folders = room.submodule_search_locations if room is not None else None
    names = {path.stem for folder in folders or () for path in Path(folder, "data", "sets").glob("*.csv")}
    return sorted(name for name in names if not name.endswith("_objects"))


def after_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return columns of FILE that complete the part after the last comma, equals sign or colon."""
    return _last_part(incomplete, ",=:", columns_of(_file_of(ctx)))


def after_formula(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return terms that complete the last word of a formula: its own words, and columns of FILE."""
    columns = [name if name.isidentifier() else f"`{name}`" for name in columns_of(_file_of(ctx))]
    return _last_part(incomplete, " +*:|(", ["object", "tie", "order", *columns])


def after_objects(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return objects of FILE that complete the part after the last comma: labels that two columns share."""
    columns = _values_of(_file_of(ctx))
    named = str(ctx.params.get("objects") or "").split(",")
    sides = [columns[name] for name in named if name in columns]
    if not sides:
        texts = [values for values in columns.values() if not all(map(_is_number, values))]
        sides = next(([a, b] for a, b in itertools.combinations(texts, 2) if len(a & b) > 1), [])
    return _last_part(incomplete, ",", sorted(set().union(*sides)))


def after_values(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return columns of FILE, and after an equals sign the values of the column."""
    done, comma, part = incomplete.rpartition(",")
    name, equals, value = part.partition("=")
    if not equals:
        return after_columns(ctx, incomplete)
    values = sorted(_values_of(_file_of(ctx)).get(name, ()))
    return [f"{done}{comma}{name}={one}" for one in values if one.startswith(value)]


def after_checks(incomplete: str) -> list[str]:
    """Return levels and checks of the audit that complete the part after the last comma."""
    from ..auditing import checks, list_checks

    return _last_part(
        incomplete, ",", ["error", "warning", "note", *dict.fromkeys([*checks.CHECKS, *list_checks.LIST_CHECKS])]
    )


def _last_part(incomplete: str, separators: str, words: list[str]) -> list[str]:
    """Return completions of the text after the last separator."""
    before = incomplete[: max(incomplete.rfind(mark) for mark in separators) + 1]
    return [before + word for word in words if word.startswith(incomplete[len(before) :])]


def _file_of(ctx: typer.Context) -> object:
    """Return FILE, or the first word that is a file: click assigns no words while an option lacks its value."""
    return ctx.params.get("file") or next((word for word in ctx.args if Path(word).is_file()), None)


def after_formats(incomplete: str) -> list[str]:
    """Return the formats of judgments whose names begin with the given text."""
    import llbt

    return [name for name in llbt.formats.table().to_frame()["name"] if name.startswith(incomplete)]


def columns_of(file: object) -> list[str]:
    """Return the fields named in the first line of a text file; none if the line does not show them."""
    try:
        with open(str(file), encoding="utf-8-sig") as lines:
            first = lines.readline(_START).strip()
    except (OSError, UnicodeDecodeError, ValueError):
        return []
    if first.startswith("{"):
        try:
            return list(json.loads(first))
        except ValueError:
            return []
    separator = max(",\t;|", key=first.count)
    return next(csv.reader([first], delimiter=separator), []) if first.count(separator) else []


def _values_of(file: object) -> dict[str, set[str]]:
    """Return the values of each column in the first lines of a text file with separators."""
    names = columns_of(file)
    try:
        with open(str(file), encoding="utf-8-sig") as lines:
            rows = lines.read(_START).splitlines()[1:]
    except (OSError, UnicodeDecodeError, ValueError):
        return {}
    if not names or (rows and rows[0].startswith("{")):
        return {}
    separator = max(",\t;|", key="\n".join(rows).count)
    cells = [row for row in csv.reader(rows, delimiter=separator) if len(row) == len(names)]
    return {name: {row[k] for row in cells} - {""} for k, name in enumerate(names)}


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).removeprefix("-").isdigit()
