"""Large or several files as relations of DuckDB, which reads them without loading them into memory."""

from __future__ import annotations

import glob
import gzip
import math
import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ..base.budgets import memory
from ..errors import JudgmentError
from .csv_text import headings, refuse_other_columns
from .paths import first_line, first_text
from .sources import Source, open_frame, quoted
from .value_types import FLAGS, LONG, NO_NUMBER, NUMBER, WHOLE, Kind

_SHARE, _LEAST = 0.8, 2**27  # of the memory that there is, and bytes that DuckDB may take at least
_CHUNK = 2**24  # bytes of a file looked at in one go
_GUESSED = ("DATE", "TIME", "UUID")  # DuckDB's types of texts in JSON that look like them
_NO_EXTENSIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def open_with_duckdb(paths: list[str], kind: str, what: str) -> Source | None:
    """Return large or several files as a DuckDB relation, which counts on disk.

    None for files that DuckDB would read differently: these are read into memory, whatever their size.
    """
    try:
        import duckdb
    except ImportError:
        raise JudgmentError(
            f"{what!r}: files of {sum(map(os.path.getsize, paths)) >> 20} MiB together are read with DuckDB",
            "Install it, pip install 'llbt[duckdb]', or pass a frame that you read yourself.",
        ) from None
    try:
        connection = connection_to(paths)
        if kind == "json":
            return _json_source(connection, [glob.escape(path) for path in paths], what)
        relation = (_csv_relation if kind == "csv" else _parquet_relation)(connection, paths)
        return None if relation is None else replace(open_frame(relation, what), is_text=kind == "csv")
    except duckdb.Error as error:
        raise JudgmentError(f"{what!r} cannot be read as {kind}: {first_line(error)}") from None


def connection_to(paths: Sequence[str]) -> Any:
    """Return a new connection that can only read these files: it cannot write files or use the network."""
    import duckdb

    room = memory()
    limit = {} if math.isinf(room) else {"memory_limit": f"{max(_LEAST, int(_SHARE * room)) >> 20}MiB"}
    connection = duckdb.connect(config={**_NO_EXTENSIONS, **limit})
    names = [os.path.abspath(name) for path in paths for name in (path, glob.escape(path))]
    literals = ", ".join("'" + name.replace("'", "''") + "'" for name in dict.fromkeys(names))
    connection.execute(f"SET allowed_paths = [{literals}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _csv_relation(connection: Any, paths: list[str]) -> Any:
    """Return csv files as one relation of text: labels such as 007 stay, and columns of counts are converted later.

    Nothing is guessed: DuckDB would read columns of several files by position, and take a damaged line for another
    dialect. None where it cannot tell columns apart (they differ in case) or lines (they end in several ways, or start
    after empty ones, or have fields separated by any number of blanks).
    """
    lines = {file: first_text(file) for file in paths}
    if not all(line.strip() for line in lines.values()):
        return None
    heads = {file: headings(line, file) for file, line in lines.items()}
    first = next(iter(heads))
    names = heads[first][1]
    if _differ_in_case(names) or any(separator == " " for separator, _ in heads.values()):
        return None
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
    return relation if not any(map(_ends_differ, paths)) or _is_readable(relation) else None


def _differ_in_case(names: Collection[str]) -> bool:
    """Whether DuckDB treats some different names as equal."""
    return len({name.lower() for name in names}) < len(set(names))


def _ends_differ(path: str) -> bool:
    """Whether a text file has line breaks of several kinds, even if only inside quotation marks."""
    opened = gzip.open if path.endswith(".gz") else open
    windows = mac = unix = 0
    last = b""
    try:
        with opened(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                both = chunk.count(b"\r\n") + (last == b"\r" and chunk[:1] == b"\n")
                windows, mac, unix = windows + both, mac + chunk.count(b"\r"), unix + chunk.count(b"\n")
                last = chunk[-1:]
    except (OSError, EOFError, zlib.error) as error:
        raise JudgmentError(f"{path!r} is damaged or cut off: {first_line(error)}") from None
    return sum(n > 0 for n in (windows, mac - windows, unix - windows)) > 1


def _is_readable(relation: Any) -> bool:
    """Whether DuckDB can read the files of a relation to the end."""
    import duckdb

    try:
        relation.aggregate("count(*)").fetchall()
    except duckdb.Error:
        return False
    return True


def _parquet_relation(connection: Any, paths: list[str]) -> Any:
    """Return parquet files as one relation; None where DuckDB cannot tell columns apart."""
    files = [glob.escape(path) for path in paths]
    literals = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    names = {name for (name,) in connection.sql(f"SELECT DISTINCT name FROM parquet_schema([{literals}])").fetchall()}
    return None if _differ_in_case(names) else connection.read_parquet(files, union_by_name=True)


def _json_source(connection: Any, files: list[str], what: str) -> Source | None:
    """Return JSON files as one relation, in which no text is taken for a date; None where columns differ in case."""
    import duckdb

    try:
        relation = connection.read_json(cast(Any, files), sample_size=-1)
    except (duckdb.BinderException, duckdb.InvalidInputException):  # memory knows the line of what is damaged
        return None
    kinds = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    if any(kind.startswith(_GUESSED) for kind in kinds.values()):
        as_written = {name: "VARCHAR" if kind.startswith(_GUESSED) else kind for name, kind in kinds.items()}
        relation = connection.read_json(cast(Any, files), columns=as_written)
    unsure = {name for name, kind in kinds.items() if kind in ("JSON", "HUGEINT", "UHUGEINT")}
    floats = [name for name, kind in kinds.items() if kind == "DOUBLE"]
    if floats:  # whole numbers of any length among them
        most = relation.aggregate(", ".join(f"max(abs({quoted(name)}))" for name in floats)).fetchall()[0]
        unsure |= {name for name, n in zip(floats, most, strict=True) if n is not None and n >= 2**53}
    return replace(open_frame(_plain_json(relation), what), unsure=frozenset(unsure))


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
    """Return a DuckDB relation of text with the types that `value_types.typed` gives to its columns.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
    given : mapping
        Column → type of its texts, where it is known.
    """
    names = [quoted(name) for name in relation.columns]
    words = ", ".join(f"'{word}'" for word in sorted(NO_NUMBER))
    flags = ", ".join(f"'{flag}'" for flag in FLAGS)

    def facts(name: str) -> list[str]:
        number, expression = f"try_cast({name} AS DOUBLE)", f"{name} NOT IN ({words})"
        others = f"FILTER ({expression} AND {number} <> 0)"
        return [
            f"coalesce(bool_and({name} IN ({flags})), false) AND count({name}) = count(*)",
            *(
                f"coalesce(bool_and(regexp_full_match({name}, '{pattern}')) FILTER ({expression}), false)"
                for pattern in (WHOLE, LONG, NUMBER)
            ),
            f"count(DISTINCT {name}) {others} = count(DISTINCT {number}) {others}",
        ]

    facts_found = relation.aggregate(", ".join(fact for name in names for fact in facts(name))).fetchall()[0]
    chosen = []
    for k, name in enumerate(names):
        flag, whole, long, number, apart = facts_found[5 * k : 5 * k + 5]
        own: list[tuple[Kind, bool]] = [("flag", flag), ("whole", whole), ("long", long), ("number", number and apart)]
        kind = given.get(relation.columns[k], next((kind for kind, holds in own if holds), "text"))
        expression = {"whole": f"try_cast({name} AS BIGINT)", "number": f"try_cast({name} AS DOUBLE)"}.get(kind, name)
        missing = f"CASE WHEN {name} NOT IN ({words}) THEN {expression} END"
        chosen.append({"text": name, "flag": f"{name} = '{FLAGS[0]}'"}.get(kind, missing) + f" AS {name}")
    return relation.project(", ".join(chosen))
