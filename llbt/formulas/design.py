"""The Design: rows evaluated once per distinct combination, and indices from comparisons into them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ..columns import IntArray, Label
from ..comparisons import Comparisons
from ..gathered import Gathered, Part
from .coding import Block, Codings, code_formula, column_values
from .grammar import Formula, stray_messages

_FEW = 1000  # distinct rows that are few however many comparisons there are


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one block, one per distinct combination of the variables that the block uses.

    Attributes
    ----------
    matrix : csr_array, shape (U, p)
        The rows, in the columns of the whole design.
    index : ndarray of int
        Row of each comparison, shape (S,); for the worth, of object i and of object j, shape (S, 2).
    units : dict of str to ndarray of int, each (U,)
        Codes of the variables in each row: ``object``, covariates.
    """

    matrix: csr_array
    index: IntArray
    units: dict[str, IntArray]

    @property
    def part(self) -> Part:
        """The row of each comparison, for a predictor that it is all or a part of."""
        return Part(self.matrix, self.index, 1.0)


@dataclass(frozen=True, eq=False)
class Design:
    """The linear predictors of a formula on a table. S comparisons, p parameters.

    The signed predictor of comparison s is ``worth[index_i] − worth[index_j] + order``, its tie predictor is
    ``tie``: the log means of i, tie and j are μ + signed, μ + tie and μ − signed.

    Attributes
    ----------
    names : tuple of str, length p
        Parameter names.
    terms : tuple of str, length p
        The term of the formula that each parameter belongs to.
    blocks : tuple of str, length p
        What each parameter describes: ``"worth"``, ``"tie"`` or ``"order"``.
    references : tuple of str
        Names of parameters that are 0 by treatment coding, such as the reference object's.
    reference_rows : tuple of (int, str)
        References of main effects, each with the position behind the parameters of its term.
    worth, tie, order : Rows
    reference : label
        The reference object.
    plain : bool
        Whether the worth is `object` alone, in whatever coding, so that every worth is free.
    remarks : tuple of str
        What is probably not meant: terms that cancel.
    """

    names: tuple[str, ...]
    terms: tuple[str, ...]
    blocks: tuple[Block, ...]
    references: tuple[str, ...]
    reference_rows: tuple[tuple[int, str], ...]
    worth: Rows
    tie: Rows
    order: Rows
    reference: Label
    plain: bool
    remarks: tuple[str, ...]

    def signed_rows(self) -> Gathered:
        """Return the S × p rows of the signed predictor."""
        i, j = np.ascontiguousarray(self.worth.index.T)
        if self.worth.matrix.shape[0] > max(_FEW, len(i) / 2):  # nearly every comparison has rows of its own
            rows = Gathered.differences(self.worth.matrix, i, j)
            return rows.with_part(self.order.part) if self.order.matrix.nnz else rows
        parts = (Part(self.worth.matrix, i, 1.0), Part(self.worth.matrix, j, -1.0), self.order.part)
        return Gathered(tuple(part for part in parts if part.matrix.nnz), (len(i), len(self.names)))

    def tie_rows(self) -> Gathered:
        """Return the S × p rows of the tie predictor."""
        parts = (self.tie.part,) if self.tie.matrix.nnz else ()
        return Gathered(parts, (len(self.tie.index), len(self.names)))


def build_design(text: str, c: Comparisons, *, reference: Label | None = None) -> Design:
    """Return the design of a formula on a table.

    Parameters
    ----------
    text : str
        The formula.
    c : Comparisons
    reference : label, optional
        The object with λ = 0; by default the last.

    Raises
    ------
    FormulaError
        For a formula that cannot be read or evaluated.
    DesignError
        For an unknown reference object, or a covariate that is constant over the table.
    """
    codings = code_formula(text, c, reference=reference)
    blocks = codings.blocks
    return Design(
        names=codings.names,
        terms=tuple(term for coding in blocks.values() for term in coding.terms),
        blocks=tuple(block for block, coding in blocks.items() for _ in coding.names),
        references=tuple(name for coding in blocks.values() for name in coding.references),
        reference_rows=blocks["worth"].reference_rows,
        worth=_rows(codings, "worth"),
        tie=_rows(codings, "tie"),
        order=_rows(codings, "order"),
        reference=codings.reference,
        plain=_is_plain(codings.formula),
        remarks=tuple(stray_messages(codings.formula)),
    )


def _rows(codings: Codings, block: Block) -> Rows:
    """Evaluate a block once per distinct combination of its variables."""
    codes, first, index = codings.blocks[block].units
    values = {
        name: column_values(codings.table.columns[name], codes[name][first]) for name in codings.blocks[block].variables
    }
    return Rows(codings.rows(block, values, len(first)), index, {name: codes[name][first] for name in codes})


def _is_plain(formula: Formula) -> bool:
    return len(formula.worth) == 1 and [f.variables for f in formula.worth[0].factors] == [frozenset({"object"})]
