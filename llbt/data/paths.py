"""Names of files and patterns, and the text of the files; an error names the file."""

from __future__ import annotations

import contextlib
import glob
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import JudgmentError, listed

_MOST_UNZIPPED = 2**30  # bytes
_LONGEST_LINE = 2**20  # characters of the first line
_KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}


def matching(name: str) -> list[str]:
    """Return the file of this name or, if there is none, the files that match the name as a pattern."""
    if not is_pattern(name) or "\0" in name or Path(name).exists():
        return [existing(name)]
    return [path for path in sorted(glob.glob(name, recursive=True)) if Path(path).is_file()] or [existing(name)]


def is_pattern(name: str) -> bool:
    """Whether a name that no file has may be a pattern for several files."""
    return any(sign in name for sign in "*?[")


def existing(path: str) -> str:
    """Return the path of an existing file; URLs are refused."""
    if "://" in path:
        raise JudgmentError(f"{path!r} is a URL, and llbt downloads nothing", "Download the file and name it.")
    try:
        folder = Path(path).is_dir()
        there, fault = Path(path).exists() and not folder, "is a folder" if folder else "is not there"
    except (OSError, ValueError) as error:  # a name that no file can have
        there, fault = False, f"is not there ({first_line(error)})"
    if not there:
        raise JudgmentError(f"the file {path!r} {fault}", expected="a file, or a pattern such as 'a/*.parquet'")
    return path


def is_pipe(path: str) -> bool:
    """Whether a file can be read only once, such as ``<(zcat a.csv.gz)`` or a pipe made by ``mkfifo``."""
    return not Path(path).is_file()


def held(source: object) -> object:
    """Return the content of a pipe, which can be read only once; any other source stays unchanged."""
    if not isinstance(source, (str, os.PathLike)):
        return source
    path = os.fspath(source)
    try:
        return bytes_of(path) if Path(path).is_fifo() else source
    except (OSError, ValueError):  # a name that no file can have is refused where it is read
        return source


def kind_of(path: str) -> str:
    """Return the kind of a file by its suffix: csv (also without a suffix), json or parquet."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    last = next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), ".csv")
    if last not in _KINDS:
        raise JudgmentError(
            f"{path!r}: unknown kind of file", expected=f"one of {listed(tuple(_KINDS), 20)} (or + '.gz')"
        )
    return _KINDS[last]


def bytes_of(path: str) -> bytes:
    """Return the content of a file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise JudgmentError(f"the file {path!r} cannot be read: {error.strerror}.") from None


def first_text(path: str) -> str:
    """Return the first line of a file."""
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(existing(path), "rt", encoding="utf-8-sig") as file:
            return str(file.readline(_LONGEST_LINE))
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise JudgmentError(f"{path!r} cannot be read: {first_line(error)}") from None


def unzipped(raw: bytes, what: str) -> bytes:
    """Return bytes without gzip's compression, if they have it."""
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            content = file.read(_MOST_UNZIPPED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise JudgmentError(f"{what!r} is gzipped, but damaged or cut off: {first_line(error)}") from None
    if len(content) > _MOST_UNZIPPED:
        raise JudgmentError(
            f"{what!r} is gzipped and holds more than {_MOST_UNZIPPED >> 20} MiB ({len(raw) / 2**20:.1f} MiB as it is)",
            "Unzip it, so that it is read with DuckDB, or pass a frame that you read yourself.",
        )
    return content


def decoded(raw: bytes, what: str) -> str:
    """Return UTF-8 as text, without a byte order mark."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        guess = "UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "another encoding"
        raise JudgmentError(
            f"{what!r}, line {line}: the byte 0x{raw[error.start]:02x} is not UTF-8 (the file may be in {guess})",
            "Save it as UTF-8.",
            expected="a UTF-8 file",
        ) from None


def place_of(what: str) -> str:
    """Return the name of a file for messages; empty for data in memory."""
    return "" if what in ("the frame", "the list") else what


@contextlib.contextmanager
def located(what: str) -> Iterator[None]:
    """Name the file in errors that are raised inside."""
    try:
        yield
    except JudgmentError as error:
        error.where = error.where or place_of(what)
        raise


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text."""
    return next(iter(str(error).splitlines()), type(error).__name__)
