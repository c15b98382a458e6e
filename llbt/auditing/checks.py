"""The checks of an audit: defects of judgments, their effect on an analysis, and the calls that deal with them.

Each check sees the `Evidence`, counts, and returns one `Finding`. `run` runs them, and reports a check that the data do
not allow as unchecked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .columns import check_filters
from .coverage import (
    check_baseline,
    check_bridges,
    check_disconnected,
    check_judge_separation,
    check_order_separation,
    check_separation,
    check_sparse,
)
from .dependence_checks import check_blocks, check_tasks
from .evidence import Evidence, units_of
from .finding import Finding
from .grade_checks import check_grades, check_turned
from .judge_checks import check_judges, check_position, check_ties
from .outlier_checks import check_dominant, check_drift, check_outlying
from .repeats import check_duplicates, check_swapped
from .row_checks import check_labels, check_missing, check_outcomes, check_self_comparisons, check_similar_labels

CHECKS: dict[str, tuple[str, Callable[[Evidence], Finding]]] = {
    "missing": ("single", check_missing),
    "outcomes": ("", check_outcomes),
    "filters": ("single", check_filters),
    "self_comparisons": ("single", check_self_comparisons),
    "labels": ("", check_labels),
    "similar_labels": ("", check_similar_labels),
    "disconnected": ("rows", check_disconnected),
    "bridges": ("rows", check_bridges),
    "separation": ("rows outcomes", check_separation),
    "order_separation": ("rows outcomes order", check_order_separation),
    "judge_separation": ("rows outcomes judge", check_judge_separation),
    "baseline": ("rows", check_baseline),
    "sparse": ("rows", check_sparse),
    "duplicates": ("single rows outcomes key", check_duplicates),
    "swapped": ("single rows outcomes order key", check_swapped),
    "blocks": ("rows outcomes together", check_blocks),
    "tasks": ("rows outcomes task", check_tasks),
    "ties": ("rows outcomes", check_ties),
    "grades": ("rows outcomes grades", check_grades),
    "position": ("rows outcomes order", check_position),
    "judges": ("rows outcomes judge", check_judges),
    "outlying_judges": ("rows outcomes judge", check_outlying),
    "turned_scale": ("rows outcomes grades", check_turned),
    "dominant_judge": ("rows judge", check_dominant),
    "drift": ("rows outcomes moment", check_drift),
}


def run(e: Evidence, names: Collection[str] = CHECKS.keys()) -> tuple[Finding, ...]:
    """Return the findings of all checks, or of the named checks, in the order of `CHECKS`."""
    return tuple(_one(name, needs, check, e) for name, (needs, check) in CHECKS.items() if name in names)


def _one(name: str, needs: str, check: Callable[[Evidence], Finding], e: Evidence) -> Finding:
    why = next((why for need in needs.split() if (why := _lacking(need, e))), "")
    return Finding(name, "unchecked", why) if why else check(e)


def _lacking(need: str, e: Evidence) -> str:
    """Return why a check cannot run; empty if it can."""
    reasons = {
        "single": (e.single, "needs single judgments: audit the frame that the table was made from"),
        "rows": (len(e.judgments.outcomes) > 0, "no judgment is left"),
        "outcomes": (not e.unread, "needs outcomes that can be read"),
        "order": (not e.unordered, e.unordered),
        "grades": (bool(e.response.grades), "judgments say who is preferred, not by how much"),
        "judge": (e.judge is not None, "no column names the judge: judge=…"),
        "together": (
            bool(units_of(e)),
            "no column says which judgments were made together: judge=…, prompt=…, block=…",
        ),
        "moment": (e.moment is not None, e.timeless),
        "task": (e.task is not None, "no column names the task: task=…"),
        "key": (e.judge is not None or e.prompt is not None, "no column names judge or prompt: judge=…, prompt=…"),
    }
    there, why = reasons[need]
    return "" if there else why
