"""The Design of a formula: rows for the distinct combinations of its variables, and the row of each comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from ..core.columns import IntArray, Label
from ..core.comparisons import Comparisons
from ..core.response import Response
from ..kernel.indexed_rows import Gathered
from .coding import Codings, Reference, Sum, code_formula
from .grammar import Formula, stray_messages
from .variables import Block, Word, is_summed, word_of


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one block, one for each distinct combination of the block's variables.

    Attributes
    ----------
    matrix : Gathered, shape (U, p)
        The rows, in the columns of the whole design.
    index : ndarray of int
        The row of each comparison, shape (S,). For the worth, and if effects of objects are added up, the rows of
        object i and of object j, shape (S, 2).
    units : dict of str to ndarray of int, each (U,)
        The codes of the variables in each row: ``object`` and covariates.
    added : bool
        Whether the rows of object i and object j are added.
    """

    matrix: Gathered
    index: IntArray
    units: dict[str, IntArray]
    added: bool = False

    def of_comparisons(self) -> Gathered:
        """Return the row of each comparison; if both objects have rows, their difference, or their sum if `added`."""
        if self.index.ndim == 1:
            return self.matrix.take(self.index)
        return (self.matrix.sums if self.added else self.matrix.differences)(*self.index.T)


@dataclass(frozen=True, eq=False)
class Design:
    """The linear predictors of a formula on a table. S comparisons, p parameters.

    The signed predictor of comparison s is ``worth[index_i] − worth[index_j] + order``, its tie predictor is
    ``shared[1]``: the log means of i, tie and j are μ + signed, μ + tie and μ − signed. "Both bad" also has a
    predictor. Each larger grade has a predictor too, added to its score times the signed predictor.

    Attributes
    ----------
    names : tuple of str, length p
        Parameter names.
    terms : tuple of str, length p
        The term of the formula that each parameter belongs to.
    blocks : tuple of str, length p
        The block of each parameter: ``"worth"``, ``"tie"``, ``"bad"``, ``"grade"`` or ``"order"``.
    references : tuple of str
        Names of parameters that are 0 by treatment coding, such as the reference object's.
    reference_rows : tuple of (int, str)
        The references of main effects, each with the position after the parameters of its term.
    levels : tuple of (str, str, label or None)
        For each variable of labels, by term, the level that is 0 by treatment coding; None if all levels have
        parameters.
    sums : tuple of (int, str, tuple of int)
        Effects without a parameter, because the effects of all objects sum to 0. Each has the position after the
        parameters of its term, its name, and the parameters whose sum is minus the effect.
    worth, order : Rows
    shared : dict of int to Rows
        The rows of the shared effects (tie, both bad, larger grades), by the number of the response's predictor.
    reference : label
        The reference object.
    plain : bool
        Whether the worth is `object` alone, in any coding, so that every worth is free.
    remarks : tuple of str
        Probable mistakes: terms that cancel.
    """

    names: tuple[str, ...]
    terms: tuple[str, ...]
    blocks: tuple[Word, ...]
    references: tuple[str, ...]
    reference_rows: tuple[tuple[int, str], ...]
    levels: tuple[tuple[str, str, Label | None], ...]
    sums: tuple[Sum, ...]
    worth: Rows
    order: Rows
    shared: dict[int, Rows]
    reference: Label
    plain: bool
    remarks: tuple[str, ...]

    def signed_rows(self) -> Gathered:
        """Return the S × p rows of the signed predictor."""
        return self.worth.of_comparisons() + self.order.of_comparisons()

    def predictors(self, response: Response) -> tuple[Gathered, ...]:
        """Return the S × p rows of each predictor of a response; predictors without terms are 0."""
        signed = self.signed_rows()
        by_predictor = {0: signed} | {b: rows.of_comparisons() for b, rows in self.shared.items()}
        return tuple(by_predictor.get(b, Gathered((), signed.shape)) for b in range(response.width))


_CODINGS: WeakKeyDictionary[Design, Codings] = WeakKeyDictionary()  # patsy's designs cannot be pickled


def build_design(text: str, c: Comparisons, *, reference: Reference = None) -> Design:
    """Return the design of a formula on a table.

    Parameters
    ----------
    text : str
        The formula.
    c : Comparisons
    reference : label or mapping, optional
        The object with λ = 0, by default the last; a mapping also sets levels of covariates, as in `llbt.fit`.

    Raises
    ------
    FormulaError
        For a formula that cannot be read or evaluated.
    OptionError
        For an unknown reference.
    DesignError
        For a covariate that is constant over the table.
    """
    codings = code_formula(text, c, reference=reference)
    blocks = codings.blocks
    design = Design(
        names=codings.names,
        terms=tuple(term for coding in blocks.values() for term in coding.terms),
        blocks=tuple(word_of(block) for block, coding in blocks.items() for _ in coding.names),
        references=tuple(name for coding in blocks.values() for name in coding.references),
        reference_rows=blocks["worth"].reference_rows,
        levels=tuple(dict.fromkeys(one for coding in blocks.values() for one in coding.levels)),
        sums=tuple(_all_sums(codings)),
        worth=_rows(codings, "worth"),
        order=_rows(codings, "order"),
        shared={b: _rows(codings, block) for block, b in c.response.shared.items()},
        reference=codings.reference,
        plain=_is_plain(codings.formula),
        remarks=tuple(stray_messages(codings.formula)),
    )
    _CODINGS[design] = codings.without_rows()
    return design


def codings_of(design: Design, text: str, c: Comparisons, reference: Reference) -> Codings:
    """Return the codings that a design was made from, to compute rows for other values.

    They are kept as long as the design exists. A pickled design has lost them; its formula is then coded again on its
    table, once.
    """
    codings = _CODINGS.get(design)
    if codings is None:
        codings = _CODINGS[design] = code_formula(text, c, reference=reference).without_rows()
    return codings


def _rows(codings: Codings, block: Block) -> Rows:
    """Compute a block once for each distinct combination of its variables."""
    coding = codings.blocks[block]
    codes, size, index = coding.units
    return Rows(codings.gathered(block, coding.values, size), index, codes, is_summed(block, coding.variables))


def _all_sums(codings: Codings) -> Iterator[Sum]:
    """Yield the `sums` of all blocks, with positions among the parameters of the design."""
    start = 0
    for coding in codings.blocks.values():
        yield from ((start + at, name, tuple(start + k for k in columns)) for at, name, columns in coding.sums)
        start += len(coding.names)


def _is_plain(formula: Formula) -> bool:
    return len(formula.worth) == 1 and [f.variables for f in formula.worth[0].factors] == [frozenset({"object"})]
