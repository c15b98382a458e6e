"""Files of results of evaluation tools: the files below a folder, and their content."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import JudgmentError
from .json_records import json_records
from .paths import bytes_of, decoded, existing, first_line, is_pattern, matching, unzipped

_HEAD = 2**13  # bytes by which a file is known
FACTS = (
    *("task", "subject", "subset", "category", "topic", "level", "difficulty", "domain", "genre", "type", "scenario"),
    *("repository", "repo", "document", "doc", "passage", "story", "language", "lang", "source_language"),
    *("target_language", "split", "year"),
)  # what is known of an item, by the names that tools and authors give it


@dataclass(frozen=True)
class ScoreFile:
    """A file of results, and the folder below which it was found.

    Attributes
    ----------
    path : Path
    root : Path
    """

    path: Path
    root: Path

    @property
    def name(self) -> str:
        """The name of the file without ``.gz``."""
        return self.path.name.removesuffix(".gz")

    @property
    def folder(self) -> str:
        """The name of the folder that holds the file."""
        return self.path.resolve().parent.name

    def head(self) -> str:
        """Return the first characters of the file, which show its format."""
        try:
            with open(self.path, "rb") as file:
                raw = file.read(_HEAD)
            if raw.startswith(b"\x1f\x8b"):
                with gzip.open(self.path, "rb") as unzipped_file:
                    raw = unzipped_file.read(_HEAD)
        except (OSError, EOFError, zlib.error) as error:
            raise JudgmentError(f"{str(self.path)!r} cannot be read: {first_line(error)}") from None
        return raw.decode("utf-8-sig", errors="replace")

    def text(self) -> str:
        """Return the content of the file as text."""
        return decoded(unzipped(bytes_of(str(self.path)), str(self.path)), str(self.path))

    def records(self) -> list[dict[str, Any]]:
        """Return the records of a json or jsonl file; raise for a record without named fields."""
        records = json_records(self.text(), str(self.path))
        odd = next((k for k, record in enumerate(records) if not isinstance(record, dict)), None)
        if odd is not None:
            raise JudgmentError(
                f"{str(self.path)!r}: record {odd} is {records[odd]!r:.80}", expected="records with named fields"
            )
        return records

    def record(self) -> dict[str, Any]:
        """Return the one record of a json file."""
        records = self.records()
        if len(records) != 1:
            raise JudgmentError(f"{str(self.path)!r} holds {len(records)} records", expected="one")
        return records[0]

    def members(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the names and records of the json files in a zip file."""
        try:
            with zipfile.ZipFile(io.BytesIO(bytes_of(str(self.path)))) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".json"):
                        for record in json_records(decoded(archive.read(name), name), f"{self.path}/{name}"):
                            yield name, record
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise JudgmentError(
                f"{str(self.path)!r} cannot be unzipped: {first_line(error)}",
                f"Convert it: inspect log convert {self.path} --to json --output-dir logs.",
            ) from None


def score_files(source: str | os.PathLike[str]) -> tuple[ScoreFile, ...]:
    """Return a file, the files that match a pattern, or all files below a folder except hidden ones, by path.

    Raises
    ------
    JudgmentError
        For a path that does not exist, and folders without files.
    """
    name = os.fspath(source)
    if os.path.isdir(name):
        root = Path(name)
        files = [path for path in sorted(root.rglob("*")) if path.is_file() and not _is_hidden(path, root)]
        if not files:
            raise JudgmentError(f"the folder {name!r} holds no files", expected="results of systems")
        return tuple(ScoreFile(path, root) for path in files)
    files = [Path(path) for path in matching(existing(name) if not is_pattern(name) else name)]
    root = Path(os.path.commonpath([path.parent for path in files])) if len(files) > 1 else files[0].parent
    return tuple(ScoreFile(path, root) for path in files)


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.relative_to(root).parts)


def facts_of(record: object, beside: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the facts of a record about its item, among `FACTS`, that are texts or numbers."""
    if not isinstance(record, dict):
        return {}
    return {
        name.casefold(): value
        for name, value in record.items()
        if isinstance(name, str)
        and name.casefold() in FACTS
        and name.casefold() not in beside
        and isinstance(value, (str, int, float, bool))
    }


def number_of(value: object, what: str) -> float:
    """Return a score as a number, NaN for none; raise for anything else."""
    if value is None:
        return float("nan")
    if isinstance(value, (bool, int, float)):
        return float(value)
    raise JudgmentError(f"{what}: {value!r:.60} is not a number", expected="a number, or nothing")
