"""Large files, and several, as relations of DuckDB, which reads them where they are."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ..errors import JudgmentError, listed
from .csv_text import headings, refuse_other_columns
from .paths import first_line, first_text
from .sources import Source, open_frame, quoted
from .texts import FLAGS, LONG, NO_NUMBER, NUMBER, WHOLE, Kind

_NO_EXTENSIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def open_with_duckdb(paths: list[str], kind: str, what: str) -> Source:
    """Return large or several files as a DuckDB relation: what is asked for is counted on disk."""
    try:
        import duckdb
    except ImportError:
        raise JudgmentError(
            f"{what!r}: files of {sum(map(os.path.getsize, paths)) >> 20} MiB together are read with DuckDB: "
            "pip install 'llbt[duckdb]'. Or pass a frame that you read yourself."
        ) from None
    try:
        connection = connection_to(paths)
        if kind == "csv":
            return replace(open_frame(_csv_relation(connection, paths), what), is_text=True)
        if kind == "parquet":
            return open_frame(connection.read_parquet([glob.escape(path) for path in paths], union_by_name=True), what)
        return open_frame(
            _plain_json(connection.read_json(cast(Any, [glob.escape(path) for path in paths]), sample_size=-1)), what
        )
    except duckdb.Error as error:
        raise JudgmentError(f"{what!r} cannot be read as {kind}: {first_line(error)}") from None


def connection_to(paths: Sequence[str]) -> Any:
    """Return a connection of its own that reads these files and no other, writes nothing and fetches nothing."""
    import duckdb

    connection = duckdb.connect(config={**_NO_EXTENSIONS})
    names = [os.path.abspath(name) for path in paths for name in (path, glob.escape(path))]
    literals = ", ".join("'" + name.replace("'", "''") + "'" for name in dict.fromkeys(names))
    connection.execute(f"SET allowed_paths = [{literals}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _csv_relation(connection: Any, paths: list[str]) -> Any:
    """Return csv files as one relation of text: labels such as 007 stay, numbers are found where the counts are.

    Nothing is guessed: DuckDB would read columns of several files by position, and take a damaged line for another
    dialect.
    """
    heads = {file: headings(first_text(file), file) for file in paths}
    first = next(iter(heads))
    names = heads[first][1]
    alike = [name for name in names if [other.lower() for other in names].count(name.lower()) > 1]
    if alike:
        raise JudgmentError(f"{first!r}: DuckDB cannot tell the columns {listed(alike)} apart; rename all but one.")
    relation = None
    for separator, own in dict.fromkeys((separator, tuple(own)) for separator, own in heads.values()):
        files = [file for file, head in heads.items() if (head[0], tuple(head[1])) == (separator, own)]
        refuse_other_columns(files[0], own, first, names)
        part = connection.read_csv(
            [glob.escape(file) for file in files],  # DuckDB takes every name for a pattern
            header=True,
            sep=separator,
            columns=dict.fromkeys(own, "VARCHAR"),
            auto_detect=False,
            quotechar='"',
            escapechar='"',
            strict_mode=True,
        ).select(*(quoted(name) for name in names))
        relation = part if relation is None else relation.union(part)
    return relation


def _plain_json(relation: Any) -> Any:
    """Return a relation whose columns of mixed types, which DuckDB leaves as JSON, are text."""
    names = [quoted(name) for name in relation.columns]
    mixed = [str(kind) == "JSON" for kind in relation.types]
    if not any(mixed):
        return relation
    return relation.project(
        ", ".join(f"{name} ->> '$' AS {name}" if is_json else name for name, is_json in zip(names, mixed, strict=True))
    )


def typed_relation(relation: Any, given: Mapping[str, Kind]) -> Any:
    """Return a DuckDB relation of text with numbers and flags where `texts.typed` has them.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
    given : mapping
        Column → what its texts are, where that is known.
    """
    names = [quoted(name) for name in relation.columns]
    words = ", ".join(f"'{word}'" for word in sorted(NO_NUMBER))
    flags = ", ".join(f"'{flag}'" for flag in FLAGS)

    def facts(name: str) -> list[str]:
        number, said = f"try_cast({name} AS DOUBLE)", f"{name} NOT IN ({words})"
        others = f"FILTER ({said} AND {number} <> 0)"
        return [
            f"coalesce(bool_and({name} IN ({flags})), false) AND count({name}) = count(*)",
            *(
                f"coalesce(bool_and(regexp_full_match({name}, '{pattern}')) FILTER ({said}), false)"
                for pattern in (WHOLE, LONG, NUMBER)
            ),
            f"count(DISTINCT {name}) {others} = count(DISTINCT {number}) {others}",
        ]

    found = relation.aggregate(", ".join(fact for name in names for fact in facts(name))).fetchall()[0]
    chosen = []
    for k, name in enumerate(names):
        flag, whole, long, number, apart = found[5 * k : 5 * k + 5]
        own: list[tuple[Kind, bool]] = [("flag", flag), ("whole", whole), ("long", long), ("number", number and apart)]
        kind = given.get(relation.columns[k], next((kind for kind, holds in own if holds), "text"))
        said = {"whole": f"try_cast({name} AS BIGINT)", "number": f"try_cast({name} AS DOUBLE)"}.get(kind, name)
        missing = f"CASE WHEN {name} NOT IN ({words}) THEN {said} END"
        chosen.append({"text": name, "flag": f"{name} = '{FLAGS[0]}'"}.get(kind, missing) + f" AS {name}")
    return relation.project(", ".join(chosen))
