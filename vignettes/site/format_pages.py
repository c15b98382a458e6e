"""The page of formats: each known format with an example, which llbt reads in exactly this format."""

import json
import sys
import tempfile
from pathlib import Path

import llbt

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))  # the cases by which the readers are tested

from support.format_cases import CASES, Case

_LONGEST = 1200  # characters of an example
_INTRODUCTION = """# Formats

A file, a frame or a list of records in one of these formats needs no names of columns.
`llbt.from_judgments("battles.jsonl")` counts the judgments, and `llbt.read_judgments` returns the judgments themselves.
The notes of both state what was left out or counted as a tie. A format is recognized by its fields, in any order;
`format="arena"` names it. Use `llbt.formats.columns` to describe another table, and `llbt.formats.JudgmentFormat` to
describe another format.

The tests of the reader read every example below. *Read as* shows the judgments that llbt reads from it.
"""


def _shown(case: Case) -> str:
    """Return the input of a case as it would stand in a file."""
    if isinstance(case.source, str):
        return case.source
    if isinstance(case.source, list) and case.source and isinstance(case.source[0], dict):
        return "\n".join(json.dumps(record, ensure_ascii=False, default=str) for record in case.source)
    return str(case.source)


def _read(case: Case) -> str:
    """Return the judgments that a case holds, as llbt reads them."""
    with tempfile.TemporaryDirectory() as folder:
        source = case.open(Path(folder))
        judgments = llbt.read_judgments(source, format="auto" if case.auto else case.name, **case.options)
    frame = judgments.to_frame()
    columns = ["object_i", "object_j", "outcome", *case.also.split()]
    return str(frame[columns].to_string(index=False))


def formats_page() -> str:
    """Return the page in Markdown."""
    parts, table = [_INTRODUCTION], llbt.formats.table().to_frame()
    cases = {case.name: case for case in reversed(CASES)}
    for name, description in zip(table["name"], table["description"], strict=True):
        parts.append(f"## {name}\n\n{description[0].upper()}{description[1:]}.\n")
        if name not in cases:
            continue
        text = _shown(cases[name])
        text = text if len(text) <= _LONGEST else text[:_LONGEST] + "\n…"
        parts.append(f"```text\n{text}\n```\n\nread as\n\n```text\n{_read(cases[name])}\n```\n")
    return "\n".join(parts)
