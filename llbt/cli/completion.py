"""Completions after an option: columns of the file, files and data sets, formats."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
from pathlib import Path

import typer

_START = 1 << 16  # characters of a file in which its first line ends


def after_files(incomplete: str) -> list[str]:
    """Return files and bundled data sets whose names begin so."""
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    begun = incomplete if incomplete.endswith("/") else incomplete[: len(incomplete) - len(Path(incomplete).name)]
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    found = [f"{begun}{path.name}{'/' if path.is_dir() else ''}" for path in there if not path.name.startswith(".")]
    return [name for name in (*found, *bundled()) if name.startswith(incomplete)]


def bundled() -> list[str]:
    """Return the names of the bundled data sets, by their files."""
    room = importlib.util.find_spec("llbt")
    folders = room.submodule_search_locations if room is not None else None
    names = {path.stem for folder in folders or () for path in Path(folder, "data", "sets").glob("*.csv")}
    return sorted(name for name in names if not name.endswith("_objects"))


def after_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return columns of FILE that complete the part after the last comma, equals sign or colon."""
    begun = re.match(r"(?:.*[,=:])?", incomplete)
    before = begun[0] if begun else ""
    # an option whose value is still being written keeps click from sorting what stands before it
    file = ctx.params.get("file") or next((word for word in ctx.args if Path(word).is_file()), None)
    return [before + name for name in columns_of(file) if name.startswith(incomplete[len(before) :])]


def after_formats(incomplete: str) -> list[str]:
    """Return the formats of judgments whose names begin so."""
    import llbt

    return [name for name in llbt.formats.table().to_frame()["name"] if name.startswith(incomplete)]


def columns_of(file: object) -> list[str]:
    """Return the fields that the first line of a text file names; none where that is not to be seen at once."""
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
