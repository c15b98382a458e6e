"""Files and lists of records, opened as frames; large files through DuckDB.

A file is csv (separated by commas, tabs, semicolons, bars or blanks), json or jsonl by its suffix, UTF-8, gzipped or
not; or parquet. Invalid content raises an error with file and line. Labels of objects are numbers only if all of
them, written back, are the text that was read. In other columns ``NA``, ``nan``, ``null`` and the like are missing in a
column of numbers and labels in a column of labels; only an empty field is missing everywhere. A column in which two
spellings mean one number (versions 1.1 and 1.10) stays text, as does one with leading zeros or with whole numbers of
more than 18 digits. A file that is one JSON object is one record; where its fields are numbers (``"0"``, ``"1"``, …)
they are the records.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..base.budgets import memory
from ..core.judgments import Judgments
from ..errors import JudgmentError, listed
from .csv_text import csv_fields, headless_fields, refuse_other_columns
from .duckdb_files import open_with_duckdb
from .json_records import as_frame, json_records
from .paths import bytes_of, decoded, existing, first_line, is_pipe, kind_of, matching, unzipped
from .sources import Source, open_frame
from .value_types import LabelType

_RECORDS = re.compile(r'\s*(\[\s*)?\{\s*"')  # how JSON begins that holds records, and no csv
_READ = 16  # times as much memory as a text file is long, while it is read into it
LARGE = {"parquet": 2**24, "csv": 2**28, "json": 2**28}  # bytes from which a file is read by DuckDB, not into memory


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
    source : frame, path, list of paths, list of records, bytes or open file
        Bytes and open files have the content of a csv, json, jsonl or parquet file.
    header : tuple of str
        Names of the fields of a text file whose first line may not name them; its lines may end early.
    early : collection of tuple of str
        Fields of the first lines of text files whose other lines may end early.
    what : str
        How messages call a frame.
    labels : "text", "number" or None
        The type of the labels of objects.

    Raises
    ------
    JudgmentError
        For a source of another type, and for a file that cannot be read.
    """
    return replace(_opened(source, header, early, what), labels=labels)


def _opened(source: object, header: tuple[str, ...], early: Collection[tuple[str, ...]], what: str) -> Source:
    if isinstance(source, (str, os.PathLike)):
        return _open_paths([os.fspath(source)], header, early)
    if callable(getattr(source, "read", None)):
        source = source.read()  # type: ignore[attr-defined]
        source = source.encode() if isinstance(source, str) else source
    if isinstance(source, bytes):
        return _of_bytes(source, early)
    if isinstance(source, (list, tuple)):
        if source and all(isinstance(part, (str, os.PathLike)) for part in source):
            return _open_paths([os.fspath(part) for part in source], header, early)
        return open_frame(as_frame(source, "the list"), "the list")
    return open_frame(source.held if isinstance(source, Judgments) else source, what)


def _of_bytes(raw: bytes, early: Collection[tuple[str, ...]]) -> Source:
    """Return the kind of a file without a name: parquet or JSON by its beginning, otherwise csv."""
    what = "the file"
    if raw.startswith(b"PAR1"):
        return open_frame(_read_parquet(io.BytesIO(raw), what), what)
    text = decoded(unzipped(raw, what), what)
    if _RECORDS.match(text):
        return open_frame(as_frame(json_records(text, what), what), what)
    return _of_text(csv_fields(text, what, early), what)


def _of_text(frame: pd.DataFrame, what: str) -> Source:
    """Return the fields of csv files; numbers are recognized when a column is used."""
    return replace(open_frame(frame, what), is_text=True)


def _open_paths(asked: Sequence[str], header: tuple[str, ...], early: Collection[tuple[str, ...]]) -> Source:
    """Return files, one after another, as one source: in memory unless they are large together."""
    paths = [path for name in asked for path in matching(name)]
    what = asked[0] if len(asked) == 1 else f"{asked[0]} and {len(asked) - 1} more"
    if header:
        return _open_headed(paths, header, early, what)
    if len(paths) == 1 and is_pipe(paths[0]):
        return _of_bytes(bytes_of(paths[0]), early)
    kinds = dict.fromkeys(map(kind_of, paths))
    if len(kinds) > 1:
        raise JudgmentError(
            f"{what}: files of several kinds: {listed(tuple(kinds))}", "Read them apart.", expected="one"
        )
    kind = next(iter(kinds))

    def read() -> Source:
        return replace(open_frame(_read_paths(paths, kind, early, what), what), is_text=kind == "csv")

    size = sum(0 if is_pipe(path) else Path(path).stat().st_size for path in paths)
    large = size > min(LARGE[kind], memory() / _READ) and not any(map(is_pipe, paths))
    source = open_with_duckdb(paths, kind, what) if large else None
    return read() if source is None else replace(source, otherwise=read)


def _open_headed(
    paths: Sequence[str], header: tuple[str, ...], early: Collection[tuple[str, ...]], what: str
) -> Source:
    """Return text files that may lack a header line; without any header, fields keep their text."""
    texts = {path: decoded(unzipped(bytes_of(existing(path)), path), path) for path in paths}
    named = {
        path: set(header) <= set(re.split(r"[\t\r\n,]", text.lstrip("\r\n")[: 2**12])) for path, text in texts.items()
    }
    frame = _stacked(
        [
            csv_fields(texts[path], path, early) if named[path] else headless_fields(texts[path], header, path)
            for path in paths
        ]
    )
    return replace(open_frame(frame, what), is_text=any(named.values()))


def _read_paths(paths: Sequence[str], kind: str, early: Collection[tuple[str, ...]], what: str) -> pd.DataFrame:
    """Return files of one kind as a frame; the fields of csv files are text."""
    if kind == "parquet":
        return _stacked([_read_parquet(path, path) for path in paths])
    texts = [(path, decoded(unzipped(bytes_of(path), path), path)) for path in paths]
    if kind == "json":
        return as_frame([record for path, text in texts for record in json_records(text, path)], what)
    frames = [csv_fields(text, path, early) for path, text in texts]
    for path, frame in zip(paths, frames, strict=True):
        refuse_other_columns(path, list(map(str, frame)), paths[0], list(map(str, frames[0])))
    return _stacked(frames)


def _stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames below one another; a column that some of them lack keeps its labels as they are."""
    if len(frames) == 1:
        return frames[0]
    shared = set.intersection(*(set(frame) for frame in frames))
    whole = [frame.astype({name: object for name in frame if name not in shared}) for frame in frames]
    return pd.concat(whole, ignore_index=True)


def _read_parquet(file: str | io.BytesIO, path: str) -> pd.DataFrame:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise JudgmentError(f"{path!r}: parquet needs pyarrow", "Install it: pip install 'llbt[parquet]'.") from None
    try:
        table = pq.read_table(file)
        table.validate(full=True)  # text that is no UTF-8 would be found out by whoever reads it
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)  # an index is a column, too
    except (OSError, ValueError) as error:
        raise JudgmentError(f"{path!r} cannot be read as parquet: {first_line(error)}") from None
    return frame
