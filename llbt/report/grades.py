"""Grades on the report page: observed and expected shares, from pairs of equal objects to pairs far apart."""

from __future__ import annotations

import numpy as np

from ..base.table import Field, Table
from ..fitting.plain_estimates import PlainEstimates

_GROUPS = 5  # of about as many judgments each


def expected_grades(res: PlainEstimates, groups: int = _GROUPS) -> Table:
    """Return observed and expected shares of the grades, by the distance of the objects.

    Parameters
    ----------
    res : LLBTResults
        For graded judgments.
    groups : int
        The number of groups by P(the expected favourite is preferred | decided), each with about the same number of
        judgments.

    Returns
    -------
    Table
        One row for each outcome in each group, seen from the favourite: favourite (the mean probability that it is
        preferred, given a decision), outcome, judgments, observed and expected (shares).
    """
    response = res.comparisons.response
    counts, means = res.counts, res.solution.means
    won, _, lost = response.tally(means).T
    turned = lost > won
    flip = np.asarray(response.flip)
    counts, means = (np.where(turned[:, None], x[:, flip], x) for x in (counts, means))
    chance, total = np.maximum(won, lost) / (won + lost), counts.sum(axis=1)
    order = np.argsort(chance, kind="stable")
    middle = np.cumsum(total[order]) - total[order] / 2
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.minimum((groups * middle / total.sum()).astype(np.int64), groups - 1)
    there = np.unique(group)
    n = np.array([total[group == g].sum() for g in there])
    favourite = np.array([(total * chance)[group == g].sum() for g in there]) / n
    observed, expected = (np.array([x[group == g].sum(axis=0) for g in there]) / n[:, None] for x in (counts, means))
    size = len(response.outcomes)
    names = [
        name.replace("i", "favourite", 1) if name[0] == "i" else name.replace("j", "other", 1)
        for name in response.outcomes
    ]
    return Table(
        (
            Field("favourite", "P(favourite)", np.repeat(favourite, size), "number", digits=3),
            Field("outcome", "Outcome", names * len(there)),
            Field("judgments", "Judgments", np.repeat(n, size), "count"),
            Field("observed", "Observed", observed.ravel(), "number", digits=3),
            Field("expected", "Expected", expected.ravel(), "number", digits=3),
        ),
        title="Grades, observed and expected",
        head=(f"Model: {res.specification.formula}",),
        notes=(
            "P(favourite): probability of being preferred, given a decision; other columns: shares of the judgments",
        ),
    )
