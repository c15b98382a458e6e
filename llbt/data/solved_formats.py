"""Results of SWE-bench: lists of solved items, details of each item, and reports of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..errors import JudgmentError
from .board_files import ScoreFile, number_of
from .board_rows import ScoreRows

_FAILED = ("unresolved_ids", "error_ids", "empty_patch_ids")


def swe_bench_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of SWE-bench; older results list solved items only.

    A system is the folder of ``results/results.json`` or ``per_instance_details.json``, or, for the report of a run,
    the model in the file name ``<model>.<run>.json``. The repository of an item is its number without the last part.
    """
    rows: list[dict[str, Any]] = []
    solved_only: list[str] = []
    for file in files:
        record = file.record()
        if "resolved_ids" in record:
            rows += _report(file.name.removesuffix(".json").rpartition(".")[0] or file.folder, record)
        elif isinstance(record.get("resolved"), list):
            system = file.path.resolve().parent.parent.name if file.folder == "results" else file.folder
            solved_only.append(system)
            rows += _lists(system, record)
        else:
            rows += _details(file, record)
    frame = pd.DataFrame(rows, columns=["system", "item", "score", "cost"])
    frame["cost"] = frame["cost"].astype(float)
    by_name = {"repository": repository_of}
    return ScoreRows(frame, cost_unit="dollars", solved_only=tuple(solved_only), by_name=by_name)


def repository_of(item: object) -> str:
    """Return the repository of an item of SWE-bench: ``astropy/astropy`` of ``astropy__astropy-12907``."""
    return (str(item).rpartition("-")[0] or str(item)).replace("__", "/")


def _lists(system: str, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of lists of items: resolved items, and other items that are named as failed."""
    lists = {name: ids for name, ids in record.items() if isinstance(ids, list)}
    scores = {item: 0.0 for ids in lists.values() for item in ids} | {item: 1.0 for item in record["resolved"]}
    return [{"system": system, "item": item, "score": score} for item, score in scores.items()]


def _report(system: str, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the report of a run: items that it did not finish have no score."""
    scores: dict[Any, float | None] = dict.fromkeys(record.get("incomplete_ids") or ())
    scores |= {item: 0.0 for name in _FAILED for item in record.get(name) or ()}
    scores |= {item: 1.0 for item in record["resolved_ids"]}
    return [{"system": system, "item": item, "score": score} for item, score in scores.items()]


def _details(file: ScoreFile, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of details by item: whether it is resolved, and its cost."""
    odd = next(
        (key for key, details in record.items() if not isinstance(details, dict) or "resolved" not in details), None
    )
    if odd is not None:
        raise JudgmentError(
            f"{str(file.path)!r}: {odd!r} is {record[odd]!r:.60}",
            expected="lists of resolved items, or for each item whether it is resolved",
        )
    return [
        {
            "system": file.folder,
            "item": item,
            "score": number_of(details["resolved"], item),
            "cost": details.get("cost"),
        }
        for item, details in record.items()
    ]
