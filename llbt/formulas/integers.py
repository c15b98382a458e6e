"""Integer covariates: numbers if a formula uses them as numbers, else labels; the printout tells which."""

from __future__ import annotations

import json
from dataclasses import replace

from ..core.columns import Coded
from ..core.comparisons import Comparisons
from .grammar import Formula

INTEGERS = " (integers; "


def decided(formula: Formula, c: Comparisons) -> Comparisons:
    """Return a table whose integers are numbers if a formula uses them as numbers."""
    chosen = {column.name for column in c.columns if column.name in formula.numbers and not column.numeric}
    if not chosen:
        return c
    columns = tuple(column.as_numbers() if column.name in chosen else column for column in c.columns)
    return replace(c, columns=columns)


def levels_note(column: Coded, formula: Formula) -> str:
    """Return a hint to use integers as numbers, if a formula has three or more as labels; else ``""``."""
    terms = (term for block in (formula.described, formula.stray) for term in block)
    alone = {factor.alone for term in terms for factor in term.factors}
    if column.undecided < 3 or column.name not in alone:
        return ""
    return f"{INTEGERS}numeric={json.dumps(column.name, ensure_ascii=False)} for one slope)"
