"""Records of json and jsonl files, as frames."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..core.columns import inferred
from ..errors import JudgmentError, listed, repeated, safe_repr
from .paths import first_line


def json_records(text: str, what: str) -> list[Any]:
    """Return the records of a JSON list, of a file with one JSON value a line, or of one JSON object."""
    lines = [(k, line) for k, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise JudgmentError(f"{what!r} is empty", expected="at least one record")
    if text.lstrip().startswith("[") and (len(lines) == 1 or not _is_json(lines[0][1])):
        records = _parsed(text, what, 1)
        return records if isinstance(records, list) else [records]
    try:
        records = [_parsed(line, what, k) for k, line in lines]
    except JudgmentError:
        whole = _whole(text)  # one object over several lines
        if whole is None:
            raise
        records = [whole]
    return _numbered(records[0]) if len(records) == 1 else records


def _numbered(record: Any) -> list[Any]:
    """Return the records of a JSON object with numbers as fields ("0", "1", …), or the JSON object as one record."""
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
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _parsed(text: str, what: str, line: int) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise JudgmentError(
                f"{what!r}, line {line}: a record has {listed(repeated(names))} twice", expected="each field once"
            )
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=unique)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()  # half a character is none
        return value
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
        raise JudgmentError(f"{what!r}, line {line}: not readable as JSON ({first_line(error)}).") from None


def as_frame(records: Sequence[Any], what: str) -> pd.DataFrame:
    """Return records as a frame: mappings by their fields, pairs as winner and loser (the lists of choix)."""
    if not records:
        raise JudgmentError(f"{what} is empty", expected="at least one record")
    if all(isinstance(record, Mapping) for record in records):
        frame = pd.DataFrame([dict(record) for record in records], dtype=object)
        return pd.DataFrame({name: inferred(column) for name, column in frame.items()})
    if all(isinstance(record, (list, tuple)) and len(record) == 2 for record in records):
        return pd.DataFrame([tuple(record) for record in records], columns=["winner", "loser"])
    odd = next(k for k, r in enumerate(records) if not isinstance(r, Mapping))
    raise JudgmentError(
        f"{what}: record {odd} is {safe_repr(records[odd]):.80}",
        expected="records with named fields, or pairs (winner, loser)",
    )
