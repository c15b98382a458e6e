"""Files and lists of records, opened as frames; large files through DuckDB.

A file is UTF-8, gzipped or not. What cannot be read is an error with the file and the line.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from ..errors import JudgmentError, listed
from ..table import counted
from .frames import Source, as_numbers, open_frame

LARGE = {"parquet": 2**24, "csv": 2**28, "json": 2**28}  # bytes from which a file is read by DuckDB, not into memory
_KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}
_SEPARATORS = (",", "\t", ";", "|")


def open_source(source: object, header: tuple[str, ...] = (), what: str = "the frame") -> Source:
    """Return a frame, the path of a file or a list of records, opened.

    Parameters
    ----------
    source : frame, path or list of records
    header : tuple of str
        Names of the fields of a text file that does not name them in its first line; its lines may end early.
    what : str
        How messages call a frame.

    Raises
    ------
    JudgmentError
        For what is none of them, and for a file that cannot be read.
    """
    if isinstance(source, (str, os.PathLike)):
        return _open_path(os.fspath(source), header)
    if isinstance(source, (list, tuple)):
        return open_frame(_as_frame(source, "the list"), "the list")
    return open_frame(source, what)


def read_table(file: str | os.PathLike[str] | BinaryIO) -> pd.DataFrame:
    r"""Return a file as a pandas frame.

    Parameters
    ----------
    file : path or binary file
        csv (separated by commas, tabs, semicolons or bars), json, jsonl or parquet by its suffix, each of them
        gzipped or not; a binary file is read as csv.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    JudgmentError
        For a file that is not there, cut off, not UTF-8, or not what its suffix says: with the line.

    Notes
    -----
    ``NA``, ``nan``, ``null`` and the like are missing in a column of numbers and labels in a column of labels; only
    an empty field is missing everywhere.

    Examples
    --------
    >>> import io
    >>> import llbt
    >>> llbt.read_table(io.BytesIO(b"object_i,object_j,outcome\nA,NA,i\n"))
      object_i object_j outcome
    0        A       NA       i
    """
    if isinstance(file, (str, os.PathLike)):
        return _read_path(os.fspath(file))
    what = "the file"
    return _read_csv(_text(_unzipped(file.read(), what), what), what)


def _open_path(path: str, header: tuple[str, ...]) -> Source:
    if header:
        return open_frame(_read_headless(_text(_unzipped(_bytes(_existing(path)), path), path), header, path), path)
    if any(sign in path for sign in "*?[") and not Path(path).exists():
        return _open_with_duckdb(path, _kind(path))
    kind = _kind(_existing(path))
    if Path(path).stat().st_size > LARGE[kind]:
        return _open_with_duckdb(path, kind)
    return open_frame(_read_path(path), path)


def _existing(path: str) -> str:
    if not Path(path).is_file():
        found = "is a folder" if Path(path).is_dir() else "is not there"
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


def _read_path(path: str) -> pd.DataFrame:
    kind = _kind(_existing(path))
    if kind == "parquet":
        return _read_parquet(path)
    text = _text(_unzipped(_bytes(path), path), path)
    return _read_csv(text, path) if kind == "csv" else _as_frame(_json_records(text, path), path)


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
        frame: pd.DataFrame = pq.read_table(path).to_pandas()
    except (OSError, ValueError) as error:
        raise JudgmentError(f"{path!r} cannot be read as parquet: {_first_line(error)}") from None
    return frame


def _open_with_duckdb(path: str, kind: str) -> Source:
    """Return large or several files as a DuckDB relation: what is asked for is counted on disk."""
    try:
        import duckdb
    except ImportError:
        raise JudgmentError(
            f"{path!r}: several files, or files over {LARGE[kind] >> 20} MiB, are read with DuckDB: "
            "pip install 'llbt[duckdb]'. Or pass a frame that you read yourself."
        ) from None
    connection = duckdb.connect()  # one of its own: the caller's tables and settings are not touched
    try:
        if kind == "parquet":
            return open_frame(connection.read_parquet(path), path)
        if kind == "json":
            return open_frame(connection.read_json(path, sample_size=-1), path)
        separator = _headings(_first_text(path), path)[0]
        # as text, so that labels such as 007 stay; numbers are found where the counts come back
        texts = connection.read_csv(path, sep=separator, header=True, all_varchar=True)
        return replace(open_frame(texts, path), is_text=True)
    except duckdb.Error as error:
        raise JudgmentError(f"{path!r} cannot be read as {kind}: {_first_line(error)}") from None


def _first_text(path: str) -> str:
    """Return the first line of a file or of the first file of a pattern."""
    first = min(glob.glob(path, recursive=True), default=path)
    opened = gzip.open if first.endswith(".gz") else open
    try:
        with opened(_existing(first), "rt", encoding="utf-8-sig") as file:
            return str(file.readline())
    except (OSError, UnicodeDecodeError) as error:
        raise JudgmentError(f"{first!r} cannot be read: {_first_line(error)}") from None


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _unzipped(raw: bytes, what: str) -> bytes:
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise JudgmentError(f"{what!r} is gzipped, but damaged or cut off: {_first_line(error)}") from None


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


def _read_csv(text: str, what: str) -> pd.DataFrame:
    separator, names = _headings(text.split("\n", 1)[0], what)
    try:
        frame = pd.read_csv(io.StringIO(text), sep=separator, keep_default_na=False, na_values=[""], dtype=object)
    except (ValueError, pd.errors.ParserError) as error:
        raise JudgmentError(f"{what!r} cannot be read as csv: {_first_line(error)}") from None
    if not isinstance(frame.index, pd.RangeIndex) or (len(frame) and frame[frame.columns[-1]].isna().any()):
        # in silence, pandas fills short lines and takes an index from long ones
        _refuse_ragged(text, separator, len(names), what)
    return pd.DataFrame({name: _typed(column) for name, column in frame.items()})


def _headings(head: str, what: str) -> tuple[str, list[str]]:
    """Return the separator of a csv file and the names of its columns, by its first line."""
    separator = max(_SEPARATORS, key=lambda sign: (head.count(sign), -_SEPARATORS.index(sign)))
    names = next(csv.reader([head.rstrip("\r\n")], delimiter=separator), [])
    if not any(names):
        raise JudgmentError(f"{what!r} has no first line with the names of the columns.")
    _refuse_twice(names, what)
    return separator, names


def _typed(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return the texts of a column as numbers or flags if they are, else as text."""
    found = as_numbers(texts)
    if found is not texts:
        return found
    flags = set(texts.dropna().unique())
    if flags and flags <= {"True", "False"} and texts.notna().all():
        return texts == "True"
    return texts.infer_objects()


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


def _refuse_ragged(text: str, separator: str, width: int, what: str) -> None:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    for fields in reader:
        if fields and len(fields) != width and any(fields):
            raise JudgmentError(
                f"{what!r}, line {reader.line_num}: {counted(len(fields), 'field')}, but the first line names {width}; "
                "the line is cut off or damaged. Complete it, or leave it out before."
            )


# -- records -------------------------------------------------------------------------------------------------


def _json_records(text: str, what: str) -> list[Any]:
    """Return the records of a JSON list, or of a file with one JSON value a line."""
    if text.lstrip().startswith("["):
        found = _parsed(text, what, 1)
        return found if isinstance(found, list) else [found]
    lines = ((k, line) for k, line in enumerate(text.split("\n"), 1) if line.strip())
    try:
        return [_parsed(line, what, k) for k, line in lines]
    except JudgmentError:
        whole = _whole(text)  # one object over several lines
        if whole is None:
            raise
        raise JudgmentError(
            f"{what!r} holds one JSON object ({listed(tuple(whole))}); expected a list of records."
        ) from None


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
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        at = f"line {line + error.lineno - 1}, column {error.colno}"
        raise JudgmentError(f"{what!r}, {at}: not JSON ({error.msg}); the file is cut off or damaged there.") from None
    except RecursionError:
        raise JudgmentError(f"{what!r}, line {line}: nested too deeply for a record.") from None


def _as_frame(records: Sequence[Any], what: str) -> pd.DataFrame:
    """Return records as a frame: mappings by their fields, pairs as winner and loser (the lists of choix)."""
    if not records:
        raise JudgmentError(f"{what} is empty; expected at least one record.")
    if all(isinstance(record, Mapping) for record in records):
        return pd.DataFrame([dict(record) for record in records])
    if all(isinstance(record, (list, tuple)) and len(record) == 2 for record in records):
        return pd.DataFrame([tuple(record) for record in records], columns=["winner", "loser"])
    odd = next(k for k, r in enumerate(records) if not isinstance(r, Mapping))
    raise JudgmentError(
        f"{what}: record {odd} is {records[odd]!r:.80}; expected records with named fields, or pairs (winner, loser)."
    )
