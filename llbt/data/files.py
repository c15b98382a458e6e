"""Files and lists of records, opened as frames; large files through DuckDB.

A file is UTF-8, gzipped or not. What cannot be read is an error with the file and the line.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import pandas as pd

from ..errors import JudgmentError, listed
from ..table import counted
from .sources import Source, in_memory, inferred, open_frame, quoted
from .texts import FLAGS, LONG, NO_NUMBER, NUMBER, WHOLE, Kind, LabelType, refuse_label_type

LARGE = {"parquet": 2**24, "csv": 2**28, "json": 2**28}  # bytes from which a file is read by DuckDB, not into memory
_MOST_UNZIPPED = 2**30  # bytes
_LONGEST_LINE = 2**20  # characters of the first line
_KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}
_NO_EXTENSIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_SEPARATORS = (",", "\t", ";", "|")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_PLAIN = re.compile(r"[\w .-]{1,60}")


def open_source(
    source: object,
    header: tuple[str, ...] = (),
    early: Collection[tuple[str, ...]] = (),
    what: str = "the frame",
    labels: LabelType | None = None,
) -> Source:
    """Return a frame, the path of a file or a list of records, opened.

    Parameters
    ----------
    source : frame, path, list of paths, list of records or bytes
        Bytes are those of a csv file.
    header : tuple of str
        Names of the fields of a text file whose first line may not name them; its lines may end early.
    early : collection of tuple of str
        Fields of the first lines of text files whose other lines may end early.
    what : str
        How messages call a frame.
    labels : "text", "number" or None
        What the labels of objects are.

    Raises
    ------
    JudgmentError
        For what is none of them, and for a file that cannot be read.
    """
    refuse_label_type(labels)
    return replace(_opened(source, header, early, what), labels=labels)


def _opened(source: object, header: tuple[str, ...], early: Collection[tuple[str, ...]], what: str) -> Source:
    if isinstance(source, (str, os.PathLike)):
        return _open_paths([os.fspath(source)], header, early)
    if isinstance(source, bytes):
        return _of_text(_csv_fields(_text(_unzipped(source, "the file"), "the file"), "the file", early), "the file")
    if isinstance(source, (list, tuple)):
        if source and all(isinstance(part, (str, os.PathLike)) for part in source):
            return _open_paths([os.fspath(part) for part in source], header, early)
        return open_frame(_as_frame(source, "the list"), "the list")
    return open_frame(source, what)


def _of_text(frame: pd.DataFrame, what: str) -> Source:
    """Return the fields of csv files, in which numbers are found where columns are asked for."""
    return replace(open_frame(frame, what), is_text=True)


def read_table(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    objects: Sequence[str] = ("object_i", "object_j"),
    labels: LabelType | None = None,
) -> pd.DataFrame:
    r"""Return a file as a pandas frame.

    Parameters
    ----------
    file : path or binary file
        csv (separated by commas, tabs, semicolons, bars or blanks), json or jsonl by its suffix, each of them gzipped
        or not, or parquet; an open file is read as csv.
    objects : two str
        Columns with the labels of objects, which are typed together; they need not be there.
    labels : "text", "number" or None
        What these labels are, as in `from_judgments`.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    JudgmentError
        For a file that is not there, cut off, not UTF-8, or not what its suffix says: with the line.

    Notes
    -----
    Labels of objects are numbers only if all of them, written back, are the text that was read. In other columns
    ``NA``, ``nan``, ``null`` and the like are missing in a column of numbers and labels in a column of labels; only
    an empty field is missing everywhere. A column in which two spellings mean one number (versions 1.1 and 1.10) stays
    text, as does one with leading zeros or with whole numbers of more than 18 digits. A file that is one JSON object
    is one record; where its fields are numbers (``"0"``, ``"1"``, …) they are the records.

    Examples
    --------
    >>> import io
    >>> import llbt
    >>> llbt.read_table(io.BytesIO(b"object_i,object_j,outcome\nA,NA,i\n"))
      object_i object_j outcome
    0        A       NA       i
    """
    refuse_label_type(labels)
    if isinstance(file, (str, os.PathLike)):
        path = _existing(os.fspath(file))
        kind = _kind(path)
        frame = _read_paths([path], kind, (), path)
        source = replace(open_frame(frame, path), is_text=kind == "csv")
    elif hasattr(file, "read"):
        raw = file.read()
        text = raw if isinstance(raw, str) else _text(_unzipped(raw, "the file"), "the file")
        source = _of_text(_csv_fields(text, "the file"), "the file")
    else:
        raise JudgmentError(f"{file!r:.60} is of type {type(file).__name__}; expected a path or an open file.")
    if source.frame.implementation.is_pandas() and not len(source.frame):
        return cast(pd.DataFrame, source.frame.to_native())
    with located(source.what):
        return in_memory(replace(source, labels=labels), objects)


def _open_paths(asked: Sequence[str], header: tuple[str, ...], early: Collection[tuple[str, ...]]) -> Source:
    """Return files, one after another, as one source: in memory unless they are large together."""
    paths = [path for name in asked for path in matching(name)]
    what = asked[0] if len(asked) == 1 else f"{asked[0]} and {len(asked) - 1} more"
    if header:
        return _open_headed(paths, header, early, what)
    kinds = dict.fromkeys(map(_kind, paths))
    if len(kinds) > 1:
        raise JudgmentError(f"{what}: files of several kinds: {listed(tuple(kinds))}; expected one. Read them apart.")
    kind = next(iter(kinds))
    if sum(Path(path).stat().st_size for path in paths) > LARGE[kind]:
        return _open_with_duckdb(paths, kind, what)
    frame = _read_paths(paths, kind, early, what)
    return replace(open_frame(frame, what), is_text=kind == "csv")


def matching(name: str) -> list[str]:
    """Return the file of that name or, where there is none, the files that it stands for as a pattern."""
    if not is_pattern(name) or "\0" in name or Path(name).exists():
        return [_existing(name)]
    return [path for path in sorted(glob.glob(name, recursive=True)) if Path(path).is_file()] or [_existing(name)]


def is_pattern(name: str) -> bool:
    """Whether a name that no file has may stand for several."""
    return any(sign in name for sign in "*?[")


def _open_headed(
    paths: Sequence[str], header: tuple[str, ...], early: Collection[tuple[str, ...]], what: str
) -> Source:
    """Return text files whose first lines may not name their fields; where none does, fields stay as written."""
    texts = {path: _text(_unzipped(_bytes(_existing(path)), path), path) for path in paths}
    named = {
        path: set(header) <= set(re.split(r"[\t\r\n,]", text.lstrip("\r\n")[: 2**12])) for path, text in texts.items()
    }
    frame = _stacked(
        [
            _csv_fields(texts[path], path, early) if named[path] else _read_headless(texts[path], header, path)
            for path in paths
        ]
    )
    return replace(open_frame(frame, what), is_text=any(named.values()))


def _read_paths(paths: Sequence[str], kind: str, early: Collection[tuple[str, ...]], what: str) -> pd.DataFrame:
    """Return files of one kind as a frame; those of csv files with their fields as text."""
    if kind == "parquet":
        return _stacked([_read_parquet(path) for path in paths])
    texts = [(path, _text(_unzipped(_bytes(path), path), path)) for path in paths]
    if kind == "json":
        return _as_frame([record for path, text in texts for record in _json_records(text, path)], what)
    frames = [_csv_fields(text, path, early) for path, text in texts]
    for path, frame in zip(paths, frames, strict=True):
        _refuse_other_columns(path, list(map(str, frame)), paths[0], list(map(str, frames[0])))
    return _stacked(frames)


def _stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames below one another; a column that some of them lack keeps its labels as they are."""
    if len(frames) == 1:
        return frames[0]
    shared = set.intersection(*(set(frame) for frame in frames))
    whole = [frame.astype({name: object for name in frame if name not in shared}) for frame in frames]
    return pd.concat(whole, ignore_index=True)


def _refuse_other_columns(path: str, own: Sequence[str], first: str, names: Sequence[str]) -> None:
    if set(own) != set(names):
        raise JudgmentError(f"{path!r} has the columns {listed(own, 20)}, {first!r} has {listed(names, 20)}.")


def _existing(path: str) -> str:
    if "://" in path:
        raise JudgmentError(f"{path!r} is an address, and nothing is fetched; download the file and name it.")
    try:
        there, found = Path(path).is_file(), "is a folder" if Path(path).is_dir() else "is not there"
    except (OSError, ValueError) as error:  # a name that no file can have
        there, found = False, f"is not there ({_first_line(error)})"
    if not there:
        raise JudgmentError(f"the file {path!r} {found}; expected a file, or a pattern such as 'a/*.parquet'.")
    return path


def _kind(path: str) -> str:
    """Return what a path's suffix says: csv (also without one), json or parquet."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    last = next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), ".csv")
    if last not in _KINDS:
        raise JudgmentError(
            f"{path!r}: unknown kind of file; expected one of {listed(tuple(_KINDS), 20)} (or + '.gz')."
        )
    return _KINDS[last]


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise JudgmentError(f"the file {path!r} cannot be read: {error.strerror}.") from None


def _read_parquet(path: str) -> pd.DataFrame:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise JudgmentError(f"{path!r}: parquet needs pyarrow: pip install 'llbt[parquet]'.") from None
    try:
        frame: pd.DataFrame = pq.read_table(path).to_pandas(ignore_metadata=True)  # an index is a column, too
    except (OSError, ValueError) as error:
        raise JudgmentError(f"{path!r} cannot be read as parquet: {_first_line(error)}") from None
    return frame


def _open_with_duckdb(paths: list[str], kind: str, what: str) -> Source:
    """Return large or several files as a DuckDB relation: what is asked for is counted on disk."""
    try:
        import duckdb
    except ImportError:
        raise JudgmentError(
            f"{what!r}: files of more than {LARGE[kind] >> 20} MiB together are read with DuckDB: "
            "pip install 'llbt[duckdb]'. Or pass a frame that you read yourself."
        ) from None
    try:
        connection = _connection(paths)
        if kind == "csv":
            return replace(open_frame(_csv_relation(connection, paths), what), is_text=True)
        if kind == "parquet":
            return open_frame(connection.read_parquet([glob.escape(path) for path in paths], union_by_name=True), what)
        return open_frame(
            _plain_json(connection.read_json(cast(Any, [glob.escape(path) for path in paths]), sample_size=-1)), what
        )
    except duckdb.Error as error:
        raise JudgmentError(f"{what!r} cannot be read as {kind}: {_first_line(error)}") from None


def _connection(paths: Sequence[str]) -> Any:
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
    heads = {file: _headings(_first_text(file), file) for file in paths}
    first = next(iter(heads))
    names = heads[first][1]
    alike = [name for name in names if [other.lower() for other in names].count(name.lower()) > 1]
    if alike:
        raise JudgmentError(f"{first!r}: DuckDB cannot tell the columns {listed(alike)} apart; rename all but one.")
    relation = None
    for separator, own in dict.fromkeys((separator, tuple(own)) for separator, own in heads.values()):
        files = [file for file, head in heads.items() if (head[0], tuple(head[1])) == (separator, own)]
        _refuse_other_columns(files[0], own, first, names)
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


def _first_text(path: str) -> str:
    """Return the first line of a file."""
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(_existing(path), "rt", encoding="utf-8-sig") as file:
            return str(file.readline(_LONGEST_LINE))
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise JudgmentError(f"{path!r} cannot be read: {_first_line(error)}") from None


@contextlib.contextmanager
def located(what: str) -> Iterator[None]:
    """Name the file in what is refused inside."""
    try:
        yield
    except JudgmentError as error:
        if what in ("the frame", "the list") or what in str(error):
            raise
        raise JudgmentError(f"{what}: {error}") from None


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _unzipped(raw: bytes, what: str) -> bytes:
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            found = file.read(_MOST_UNZIPPED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise JudgmentError(f"{what!r} is gzipped, but damaged or cut off: {_first_line(error)}") from None
    if len(found) > _MOST_UNZIPPED:
        raise JudgmentError(
            f"{what!r} is gzipped and holds more than {_MOST_UNZIPPED >> 20} MiB ({len(raw) / 2**20:.1f} MiB as it "
            "is); unzip it, so that it is read with DuckDB, or pass a frame that you read yourself."
        )
    return found


def _text(raw: bytes, what: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        guess = "UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "another encoding"
        raise JudgmentError(
            f"{what!r}, line {line}: the byte 0x{raw[error.start]:02x} is not UTF-8 (the file may be in {guess}); "
            "expected a UTF-8 file. Save it as UTF-8."
        ) from None


# -- csv -----------------------------------------------------------------------------------------------------


def _csv_fields(text: str, what: str, early: Collection[tuple[str, ...]] = ()) -> pd.DataFrame:
    """Return a csv file with its fields as text."""
    text = text.lstrip("\r\n")
    separator, names = _headings(re.split(r"[\r\n]", text, maxsplit=1)[0], what)  # old Macs end lines with \r alone
    may_end = any(set(head) <= set(names) for head in early)
    # such files of tabs are written without quoting, and the sentences in them have quotation marks
    quoting: Literal[0, 3] = csv.QUOTE_NONE if may_end and separator == "\t" else csv.QUOTE_MINIMAL
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=r"\s+" if separator == " " else separator,
            keep_default_na=False,
            na_values=[""],
            dtype=object,
            quoting=quoting,
        )
    except (ValueError, pd.errors.ParserError) as error:
        if "EOF inside string" not in str(error):
            _refuse_ragged(text, separator, quoting, len(names), what, may_end)  # knows the line
        raise JudgmentError(f"{what!r} cannot be read as csv: {_first_line(error)}") from None
    if separator == " " and not isinstance(frame.index, pd.RangeIndex):  # R writes the names of rows without a heading
        frame = frame.reset_index(names="row.names")
        names = ["row.names", *names]
    if not isinstance(frame.index, pd.RangeIndex) or (len(frame) and frame[frame.columns[-1]].isna().any()):
        # in silence, pandas fills short lines and takes an index from long ones
        _refuse_ragged(text, separator, quoting, len(names), what, may_end)
    return frame


def _headings(head: str, what: str) -> tuple[str, list[str]]:
    """Return the separator of a csv file and the names of its columns, by its first line."""
    separator = max(_SEPARATORS, key=lambda sign: (head.count(sign), -_SEPARATORS.index(sign)))
    separator = " " if separator not in head and " " in head.strip() else separator
    try:
        names = next(
            csv.reader(
                [head.strip() if separator == " " else head.rstrip("\r\n")],
                delimiter=separator,
                skipinitialspace=separator == " ",
            ),
            [],
        )
    except csv.Error as error:
        raise JudgmentError(f"{what!r}, line 1: not csv ({error}).") from None
    if not any(names):
        raise JudgmentError(f"{what!r} has no first line with the names of the columns.")
    if _CONTROL.search(head) or (len(names) == 1 and not _PLAIN.fullmatch(names[0])):
        # not shown: it may be anything, of a file that somebody else named
        raise JudgmentError(
            f"{what!r}: the first line names no columns; expected names separated by commas, tabs, semicolons or bars."
        )
    _refuse_twice(names, what)
    return separator, names


def _read_headless(text: str, header: tuple[str, ...], what: str) -> pd.DataFrame:
    """Return a text file without names of columns: separated by commas or tabs, else by blanks."""
    separator = next((sign for sign in (",", "\t") if sign in text.split("\n", 1)[0]), None)
    rows = (
        list(csv.reader(io.StringIO(text), delimiter=separator))
        if separator
        else [x.split() for x in text.splitlines()]
    )
    long = next((k for k, fields in enumerate(rows) if len(fields) > len(header)), None)
    if long is not None:
        raise JudgmentError(
            f"{what!r}, line {long + 1}: {counted(len(rows[long]), 'field')}; expected at most {len(header)}: "
            f"{', '.join(header)}."
        )
    full = [[*fields, *[None] * (len(header) - len(fields))] for fields in rows if fields]
    return pd.DataFrame(full, columns=list(header))


def _refuse_twice(names: Sequence[str], what: str) -> None:
    twice = tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
    if twice:
        raise JudgmentError(f"{what!r} has several columns named {listed(twice)}; rename all but one.")


def _refuse_ragged(text: str, separator: str, quoting: Literal[0, 3], width: int, what: str, may_end: bool) -> None:
    blank = separator == " "
    text = "\n".join(map(str.strip, text.splitlines())) if blank else text
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting, skipinitialspace=blank)
    before = csv.field_size_limit(max(len(text), 1))  # answers of a language model are longer than csv expects
    try:
        for fields in reader:
            if any(fields) and (len(fields) > width or (len(fields) < width and not may_end)):
                raise JudgmentError(
                    f"{what!r}, line {reader.line_num}: {counted(len(fields), 'field')}, but the first line names "
                    f"{width}; the line is cut off or damaged. Complete it, or leave it out before."
                )
    except csv.Error as error:
        raise JudgmentError(f"{what!r}, line {reader.line_num}: not csv ({error}).") from None
    finally:
        csv.field_size_limit(before)


# -- records -------------------------------------------------------------------------------------------------


def _json_records(text: str, what: str) -> list[Any]:
    """Return the records of a JSON list, of a file with one JSON value a line, or of one JSON object."""
    lines = [(k, line) for k, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise JudgmentError(f"{what!r} is empty; expected at least one record.")
    if text.lstrip().startswith("[") and (len(lines) == 1 or not _is_json(lines[0][1])):
        found = _parsed(text, what, 1)
        return found if isinstance(found, list) else [found]
    try:
        found = [_parsed(line, what, k) for k, line in lines]
    except JudgmentError:
        whole = _whole(text)  # one object over several lines
        if whole is None:
            raise
        found = [whole]
    return _numbered(found[0]) if len(found) == 1 else found


def _numbered(record: Any) -> list[Any]:
    """Return the records of an object whose fields are their numbers ("0", "1", …), or the object itself as one."""
    numbers = isinstance(record, dict) and all(name.isdecimal() for name in record)
    return list(record.values()) if numbers and record else [record]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _whole(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _parsed(text: str, what: str, line: int) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            twice = tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
            raise JudgmentError(f"{what!r}, line {line}: a record has {listed(twice)} twice; expected each field once.")
        return dict(pairs)

    try:
        found = json.loads(text, object_pairs_hook=unique)
        if "\\ud" in text.lower():
            json.dumps(found, ensure_ascii=False).encode()  # half a character is none
        return found
    except UnicodeEncodeError as error:
        raise JudgmentError(f"{what!r}, line {line}: text with half a character ({error.reason}).") from None
    except json.JSONDecodeError as error:
        at = f"line {line + error.lineno - 1}, column {error.colno}"
        raise JudgmentError(f"{what!r}, {at}: not JSON ({error.msg}); the file is cut off or damaged there.") from None
    except JudgmentError:
        raise
    except RecursionError:
        raise JudgmentError(f"{what!r}, line {line}: nested too deeply for a record.") from None
    except ValueError as error:
        raise JudgmentError(f"{what!r}, line {line}: not readable as JSON ({_first_line(error)}).") from None


def _as_frame(records: Sequence[Any], what: str) -> pd.DataFrame:
    """Return records as a frame: mappings by their fields, pairs as winner and loser (the lists of choix)."""
    if not records:
        raise JudgmentError(f"{what} is empty; expected at least one record.")
    if all(isinstance(record, Mapping) for record in records):
        frame = pd.DataFrame([dict(record) for record in records], dtype=object)
        return pd.DataFrame({name: inferred(column) for name, column in frame.items()})
    if all(isinstance(record, (list, tuple)) and len(record) == 2 for record in records):
        return pd.DataFrame([tuple(record) for record in records], columns=["winner", "loser"])
    odd = next(k for k, r in enumerate(records) if not isinstance(r, Mapping))
    raise JudgmentError(
        f"{what}: record {odd} is {records[odd]!r:.80}; expected records with named fields, or pairs (winner, loser)."
    )
