"""Checks of unnamed columns that may be filters of rows."""

from __future__ import annotations

from collections.abc import Mapping

from ..base.table import format_count
from ..core.columns import Label
from .evidence import Evidence
from .finding import Finding, and_more


def check_filters(e: Evidence) -> Finding:
    """Check for unused columns that may mark the rows to count."""
    if not e.filters:
        return Finding("filters", "ok", "no unused column marks rows that should not count")
    calls = [
        f"from_judgments(…, where={_pasted(one.where)}) keeps {format_count(one.n_rows)} of {format_count(e.rows)} rows"
        for one in e.filters
        if one.n_rows
    ]
    calls.append(f"from_judgments(…, ignore={[one.name for one in e.filters]}) keeps all")
    return Finding(
        "filters",
        "note",
        and_more([f"column {one.name!r} may mark the rows to count ({one.text})" for one in e.filters]),
        "all rows are counted, even those marked as invalid",
        "; ".join(calls),
        {one.name: float(one.n_rows) for one in e.filters},
    )


def _pasted(where: str | Mapping[str, Label]) -> str:
    return f'"{where}"' if isinstance(where, str) else repr(dict(where))
