"""The groups and the target mix of a question about worths: `by=`, `weights=`, `hypothesis=`."""

from __future__ import annotations

from typing import Any

from ..errors import OptionError
from ..fitting.asked_groups import By, Group, GroupHypothesis, asked_groups
from ..fitting.fitted import AnyFit, ClassSource, ClassWorthSource, OneSource, average_of
from ..fitting.prediction import codings_of
from ..fitting.protocols import has_many_worths
from ..formulas.grid import At


def groups_of(
    res: AnyFit | OneSource | ClassSource, at: At, by: By | None, weights: Any, hypothesis: GroupHypothesis | None
) -> list[Group]:
    """Return the groups of a question; without `by` a single group without a name."""
    if has_many_worths(res):
        raise OptionError(
            "by=, weights= or hypothesis=, but the log-worths do not differ by covariates", "Leave it out."
        )
    estimates = res.class_worths().pooled if isinstance(res, ClassWorthSource) else average_of(res)
    return asked_groups(codings_of(estimates), at, by, weights, hypothesis)
