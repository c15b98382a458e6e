"""Checks of the cuts of a cumulative link: the formula describes all cuts, and the estimates are in order."""

from __future__ import annotations

import numpy as np

from ..base.table import format_number
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..core.links import Cumulative
from ..errors import DesignError, OptionError
from ..formulas.design import Design
from ..formulas.variables import word_of
from ..kernel.likelihood import Problem
from .separation import class_of

_MEANT = {"tie": "θ₁ (tie)", "grade": "the distance of a cut from the previous one, θ_h − θ_(h−1) (grade),"}


def check_cuts_described(problem: Problem, design: Design) -> None:
    """Raise if the formula has no term for a cut: the cut would be 0, and an outcome would have the probability 0.

    Raises
    ------
    OptionError
        It names the words that the formula lacks.
    """
    response = problem.response
    if not isinstance(response, Cumulative):
        return
    if any(rows.added for rows in design.shared.values()):
        raise OptionError(
            f"link={response.link!r} has one cut for ties, but the formula has tie:object",
            "Leave tie:object out, or use link='adjacent'.",
        )
    words = [word for word, there in (("tie", response.tie is not None), ("grade", response.grades)) if there]
    missing = [word for word in words if word not in design.blocks]
    if missing:
        raise OptionError(
            f"link={response.link!r} needs cuts for ties and grades, but the formula has no {' and no '.join(missing)}",
            f"Add + {' + '.join(missing)}; or take the outcomes out of the table, with c.drop_ties() or c.collapse().",
        )


def check_order_of_cuts(problem: Problem, design: Design, c: Comparisons, params: FloatArray) -> None:
    """Raise if fitted cuts of a comparison are out of order: an outcome would then have no positive probability.

    Raises
    ------
    DesignError
        It names the judge or the other levels of the covariates that the cut depends on.
    """
    if not isinstance(problem.response, Cumulative):
        return
    eta = problem.at(params)
    for block, b in c.response.shared.items():
        word, rows = word_of(block), design.shared[b]
        low = int(np.argmin(eta[b]))
        if eta[b][low] <= 0:
            who = class_of(c, list(rows.units), low) or "the table"
            raise DesignError(
                f"fitted cuts of {who} are out of order: {_MEANT[word]} is {format_number(float(eta[b][low]), 4)}",
                f"Let cuts depend on fewer covariates (+ {word}), merge levels, or use link='adjacent', whose γ may be "
                "any number.",
            )
