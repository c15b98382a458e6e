"""Checks of unnamed columns that may be filters of rows."""

from __future__ import annotations

from collections.abc import Mapping

from ..base.table import format_count
from ..core.columns import Label
from .evidence import Evidence
from .finding import Finding, and_more


def check_filters(e: Evidence) -> Finding:
    """Return columns that may be filters of rows, although all rows are counted."""
    if not e.filters:
        return Finding("filters", "ok", "no unused column marks rows that should not count")
    calls = [
        f"from_judgments(…, where={_pasted(found.where)}) keeps {format_count(found.kept)} of {format_count(e.rows)} "
        "rows"
        for found in e.filters
        if found.kept
    ]
    calls.append(f"from_judgments(…, ignore={[found.name for found in e.filters]}) keeps all")
    return Finding(
        "filters",
        "note",
        and_more([f"column {found.name!r} may mark the rows that count ({found.told})" for found in e.filters]),
        "all rows are counted, even those marked as invalid",
        "; ".join(calls),
        {found.name: float(found.kept) for found in e.filters},
    )


def _pasted(where: str | Mapping[str, Label]) -> str:
    return f'"{where}"' if isinstance(where, str) else repr(dict(where))
