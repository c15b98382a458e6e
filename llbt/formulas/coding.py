"""Code the terms of a formula as columns of a design matrix, with patsy.

A coding is stored because later questions need rows that the fit did not have: covariate values named by `at=`,
predictions, or an object in place of another. New rows must be coded like the table (levels, contrasts, means of
`center`), and patsy's design stores these. A patsy design cannot be pickled, so no record contains it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import patsy
import patsy.builtins
from scipy.sparse import csr_array, hstack

from ..core.columns import FloatArray, IntArray, Label, groups
from ..core.comparisons import Comparisons
from ..errors import DesignError, FormulaError
from ..kernel.indexed_rows import Gathered
from .allowed import MOST_TERMS, NAMESPACE
from .grammar import SUMMED, Formula, Term, check_levels, has_object, marked, parse, vocabulary
from .integers import decided
from .levels import LevelMatrix
from .sides import check_antisymmetric, side_of
from .variables import (
    FEW,
    Block,
    VariableTable,
    check_constant,
    column_values,
    is_summed,
    reference_object,
    refuse_many,
    relevelled,
    variable_columns,
    word_of,
)

# the object with λ = 0, or for each variable of labels the level with parameter 0
Reference = Label | Mapping[str, Label] | None
Sum = tuple[int, str, tuple[int, ...]]  # a position, a name, and the columns whose sum is minus this effect


@dataclass(frozen=True, eq=False)
class Coding:
    """How one block's terms become columns: patsy's design, and which of its columns belong to the block.

    Attributes
    ----------
    units : tuple
        `VariableTable.units` of the block's variables.
    values : dict of str to ndarray
        The values of the variables in each unit, in the form that `Codings.rows` takes.
    info : patsy.DesignInfo or None
        Patsy's design; None for a block without variables.
    variables : tuple of str
    chosen : ndarray of int
        The positions of the block's columns in patsy's design.
    names, terms : tuple of str
        The name and the term of each column.
    references : tuple of str
        Names of parameters that are 0 by treatment coding.
    reference_rows : tuple of (int, str)
        The references of main effects, each with the position after the columns of its term.
    levels : tuple of (str, str, label or None)
        A labelled variable, its term, and the level that is 0; None if every level has a parameter.
    sums : tuple of (int, str, tuple of int)
        If effects of objects sum to 0, the object without a column has minus the sum of the others. Its entry has the
        position after the columns of its term, its name, and the columns of the others.
    """

    units: tuple[dict[str, IntArray], int, IntArray]
    values: dict[str, npt.NDArray[Any]]
    info: Any  # patsy.DesignInfo; None for a block without variables
    variables: tuple[str, ...]
    chosen: IntArray
    names: tuple[str, ...]
    terms: tuple[str, ...]
    references: tuple[str, ...]
    reference_rows: tuple[tuple[int, str], ...]
    levels: tuple[tuple[str, str, Label | None], ...]
    sums: tuple[Sum, ...] = ()


@dataclass(frozen=True, eq=False)
class Codings:
    """A formula coded on a table; its methods compute rows for any objects and covariate values.

    No result has this record as a field, because patsy's designs cannot be pickled. `llbt.formulas.design` keeps it
    together with the Design.
    """

    formula: Formula
    reference: Label
    table: VariableTable
    blocks: dict[Block, Coding]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all p parameters: worth, then the shared effects (tie, both bad, grades), then order."""
        return tuple(name for coding in self.blocks.values() for name in coding.names)

    def without_rows(self) -> Codings:
        """Return the codings without the rows of the table, which are large and are stored in the Design."""
        none = np.zeros(0, dtype=np.int64)
        blocks = {name: replace(coding, units=({}, 0, none), values={}) for name, coding in self.blocks.items()}
        return replace(self, blocks=blocks)

    def rows(self, block: Block, values: Mapping[str, npt.NDArray[Any]], size: int) -> csr_array:
        """Return the rows that `gathered` returns, as one sparse matrix, (size, p)."""
        return self.gathered(block, values, size).tocsr()

    def gathered(self, block: Block, values: Mapping[str, npt.NDArray[Any]], size: int) -> Gathered:
        """Return `size` rows of a block, in the columns of the whole design.

        If numeric variables make many rows distinct, terms of labels alone are computed once for each distinct
        combination of labels.

        Parameters
        ----------
        block : str
        values : mapping
            For each of the block's variables, shape (size,): the numbers of a numeric variable, else codes into the
            levels.
        size : int
        """
        coding = self.blocks[block]
        if not coding.names:
            return Gathered((), (size, len(self.names)))
        terms = self.formula.of(word_of(block))
        numeric = [term for term in terms if any(self._has_numbers(f.variables) for f in term.factors)]
        if not numeric or size <= FEW:
            return self._placed(block, self._evaluated(block, terms, values, size), np.arange(len(coding.names)))
        labelled = [term for term in terms if term not in numeric]
        sparse = [not is_summed(block, coding.variables) and _of_labels(coding, term) for term in numeric]
        gathered = Gathered((), (size, len(self.names)))
        for kind in (True, False):  # columns that are mostly 0 are separated from the others
            some = [term for term, one in zip(numeric, sparse, strict=True) if one is kind]
            if some:
                gathered += self._placed(block, self._evaluated(block, some, values, size), _positions(coding, some))
        if not labelled:
            return gathered if len(gathered.chosen) or len(gathered.parts) == 1 else Gathered.of(gathered.tocsr())
        used = sorted({name for term in labelled for f in term.factors for name in f.variables})
        first, index = groups([values[name] for name in used])
        once = self._evaluated(block, labelled, {name: values[name][first] for name in used}, len(first))
        gathered = gathered + self._placed(block, once, _positions(coding, labelled)).take(index)
        return gathered if len(gathered.chosen) else Gathered.of(gathered.tocsr())

    def _placed(self, block: Block, rows: FloatArray | csr_array, positions: IntArray) -> Gathered:
        """Return rows for some columns of a block; numeric columns that are mostly not 0 are stored densely."""
        names = list(self.blocks)
        columns = positions + sum(len(self.blocks[other].names) for other in names[: names.index(block)])
        shape = (rows.shape[0], len(self.names))
        full = self._full(block, rows)
        if not full.any():
            some = csr_array(rows)
            return Gathered.of(csr_array((some.data, columns[some.indices], some.indptr), shape=shape))
        own = Gathered((), shape, columns[full], np.ascontiguousarray(rows[:, full].T))
        if full.all():
            return own
        rest = csr_array(rows[:, ~full])
        sparse = Gathered.of(csr_array((rest.data, columns[~full][rest.indices], rest.indptr), shape=shape))
        return own + sparse if rest.nnz else own

    def _full(self, block: Block, rows: FloatArray | csr_array) -> npt.NDArray[np.bool_]:
        """Return which columns are dense: most of their numbers are not 0. Sparse columns, of labels, never are."""
        many = block == "worth" and rows.shape[0] > max(FEW, len(self.table.comparisons) / 2)
        if not many or not isinstance(rows, np.ndarray):
            return np.zeros(rows.shape[1], dtype=np.bool_)
        return np.array([np.count_nonzero(column) > len(rows) / 2 for column in rows.T], dtype=np.bool_)

    def _has_numbers(self, names: Collection[str]) -> bool:
        return any(self.table.columns[name].numeric for name in names)

    def _evaluated(
        self, block: Block, terms: Sequence[Term], values: Mapping[str, npt.NDArray[Any]], size: int
    ) -> FloatArray | csr_array:
        """Return the columns of some terms, in the block's order; sparse if any term has labelled variables.

        If effects of objects are added over both sides, terms without `object` count half on each side.
        """
        coding = self.blocks[block]
        summed = is_summed(block, coding.variables)
        labelled = [term for term in terms if not summed and _of_labels(coding, term)]
        if not labelled:
            rows = self._by_patsy(block, terms, values, size)
            if not summed:
                return rows
            alike = _positions(coding, [term for term in terms if not has_object(term)])
            return rows * np.where(np.isin(_positions(coding, terms), alike), 0.5, 1.0)
        parts = [_label_rows(coding, term, values, size) for term in labelled]
        positions = [_positions(coding, [term]) for term in labelled]
        rest = [term for term in terms if all(term is not known for known in labelled)]
        if rest:
            parts.append(csr_array(self._by_patsy(block, rest, values, size)))
            positions.append(_positions(coding, rest))
        elif len(parts) == 1:
            return parts[0]
        place = np.argsort(np.argsort(np.concatenate(positions)))
        beside = hstack(parts, format="csr")
        columns = csr_array((beside.data, place[beside.indices], beside.indptr), shape=beside.shape)
        columns.sort_indices()
        return columns

    def _by_patsy(
        self, block: Block, terms: Sequence[Term], values: Mapping[str, npt.NDArray[Any]], size: int
    ) -> FloatArray:
        used = {name for term in terms for f in term.factors for name in f.variables}
        if not used:  # the intercept; patsy would not know its number of rows
            return np.ones((size, len(terms)))
        data = self.table.patsy_data(block, {name: values[name] for name in used})
        return _evaluated(self.formula.text, self.blocks[block], terms, data, size)


def code_formula(text: str, c: Comparisons, *, reference: Reference = None) -> Codings:
    """Return the codings of a formula's blocks on a table.

    Raises
    ------
    FormulaError, OptionError, DesignError
        As in `llbt.formulas.design.build_design`.
    """
    words = vocabulary(c)
    formula = parse(text, words)
    check_levels(formula)
    c = decided(formula, c)
    chosen = references(reference)
    columns = relevelled(variable_columns(c, formula.variables), chosen)
    table = VariableTable(text, c, columns, vocabulary(c).variables, reference_object(chosen.get("object"), c))
    check_constant(formula, table)
    refuse_many(formula, table)
    blocks: dict[Block, Coding] = {
        "worth": _coding(table, "worth", formula.worth, _with_margins(formula.worth, formula.text)),
        **{block: _coding(table, block, *_terms(formula, block)) for block in (*c.response.shared, "order")},
    }
    return Codings(formula, _treatment_reference(formula, blocks["worth"], table.reference), table, blocks)


def _terms(formula: Formula, block: Block) -> tuple[Sequence[Term], Sequence[Term]]:
    """Return the terms of a block other than the worth, and the same terms with the margins that patsy needs."""
    written = formula.of(word_of(block))
    summed = any(map(has_object, written)) and block in SUMMED
    return written, _with_margins(written, formula.text) if summed else written


def _coding(table: VariableTable, block: Block, written: Sequence[Term], basis: Sequence[Term]) -> Coding:
    """Code the terms of one block; `basis` has the same terms with the margins that patsy needs."""
    used = tuple(sorted({name for term in basis for f in term.factors for name in f.variables})) if written else ()
    units = table.units(block, used)
    if not written:
        return Coding(units, {}, None, (), np.zeros(0, dtype=np.int64), (), (), (), (), ())
    if not used:  # the effect itself, without variables
        return Coding(units, {}, None, (), np.zeros(1, dtype=np.int64), (block,), (word_of(block),), (), (), ())
    values = {name: column_values(table.columns[name], units[0][name]) for name in used}
    data = table.patsy_data(block, values)
    info = _design_info(table.text, basis, data)
    _check_sides(table, written, info, data)
    labels = {_patsy_term(term): _term_label(block, term) for term in written}
    columns_kept: list[int] = []
    names: list[str] = []
    terms: list[str] = []
    references: list[str] = []
    rows: list[tuple[int, str]] = []
    sums: list[Sum] = []
    for term, subterms in info.term_codings.items():
        if term not in labels:
            continue
        level = [_with_head(block, name) for subterm in subterms for name in _column_names(info, subterm)]
        columns_kept += range(*info.term_slices[term].indices(len(info.column_names)))
        if is_summed(block, used):
            sums += _sums(info, subterms, block, table.reference, len(names))
        names += level
        terms += [labels[term]] * len(level)
        zeros = [_with_head(block, name) for subterm in subterms for name in _zero_names(info, subterm)]
        references += zeros
        rows += [(len(names), zero) for zero in zeros if len(term.factors) == 1 and block == "worth"]
    positions = np.array(columns_kept, dtype=np.int64)
    levels = tuple(
        level for term in written for level in _reference_levels(table, info, term, labels[_patsy_term(term)])
    )
    coded = (tuple(names), tuple(terms), tuple(references), tuple(rows), levels, tuple(sums))
    return Coding(units, values, info, used, positions, *coded)


def _reference_levels(
    table: VariableTable, info: Any, term: Term, label: str
) -> Iterator[tuple[str, str, Label | None]]:
    """Yield the reference level of each labelled variable in a term; None if every level has a parameter."""
    for factor in term.factors:
        contrasts = [
            subterm.contrast_matrices[factor.factor].matrix
            for subterm in info.term_codings[_patsy_term(term)]
            if factor.factor in subterm.contrast_matrices
        ]
        if not contrasts or len(factor.variables) > 1:
            continue
        (variable,) = factor.variables
        categories = info.factor_infos[factor.factor].categories
        if list(map(str, categories)) != list(map(str, table.columns[variable].levels)):
            continue  # a comparison of labels, such as I(judge == 'J1')
        zeros = [np.flatnonzero(~matrix.any(axis=1)).tolist() for matrix in contrasts]
        if all(matrix.shape[0] == matrix.shape[1] for matrix in contrasts):
            yield variable, label, None
        elif all(zeros):
            yield variable, label, categories[zeros[0][0]]


def _check_sides(table: VariableTable, written: Sequence[Term], info: Any, data: dict[str, Any]) -> None:
    """Raise for a ``sides(…)`` feature that does not change its sign when the two sides are swapped."""
    for factor in {f.code: f for term in written for f in term.factors if f.both_sides}.values():
        names = sorted({side_of(name)[0] for name in factor.variables if table.variables[name].role == "one side"})
        evaluate = functools.partial(factor.factor.eval, info.factor_infos[factor.factor].state)
        wrong = check_antisymmetric(factor.code, evaluate, data, names)
        if wrong:
            raise FormulaError(f"{wrong}.\n{marked(table.text, factor.start, factor.end)}")


def _with_margins(written: Sequence[Term], text: str) -> list[Term]:
    """Return terms of objects preceded by all their margins of comparison covariates.

    Patsy needs these margins to code the other terms as contrasts. Without them, ``object + object:judge`` would be
    rank deficient. In the worth the margins cancel in the difference of the two objects. For ties and both bad, effects
    of objects must sum to 0.
    """
    margins: dict[frozenset[str], Term] = {frozenset(): Term(())}
    for term in written:
        same_for_both = [f for f in term.factors if not f.object_side]
        for size in range(1, len(same_for_both) + 1):
            for factors in itertools.combinations(same_for_both, size):
                margins.setdefault(frozenset(f.code for f in factors), Term(factors))
            if len(margins) > MOST_TERMS:
                _fail_at(
                    f"the term has {len(same_for_both)} factors of the judges or comparisons, and more than "
                    f"{MOST_TERMS:,} margins; combine these factors in one column, or name fewer",
                    text,
                    term,
                )
    return [*margins.values(), *(term for term in written if term.codes not in margins)]


def _patsy_term(term: Term) -> Any:
    return patsy.Term([f.factor for f in term.factors])


def _term_label(block: Block, term: Term) -> str:
    return term.name if block == "worth" else _with_head(word_of(block), term.name or "Intercept")


def _with_head(block: Block, name: str) -> str:
    """Return a column's name preceded by its block, such as ``tie``; the intercept is named as the block."""
    if block == "worth":
        return name
    return block if name == "Intercept" else f"{block}:{name}"


def _column_names(info: Any, subterm: Any) -> Iterator[str]:
    """Yield the names of a subterm's columns in patsy's order: the leftmost factor varies fastest."""
    pieces = [[f.name() + s for s in _suffixes(info, subterm, f)[0]] for f in subterm.factors]
    for combination in itertools.product(*reversed(pieces)):
        yield ":".join(reversed(combination)) or "Intercept"


def _zero_names(info: Any, subterm: Any) -> Iterator[str]:
    """Yield the names of columns that treatment coding leaves out, because their parameter is 0."""
    pieces = []
    for f in subterm.factors:
        columns, zeros = _suffixes(info, subterm, f)
        pieces.append([(f.name() + s, s in zeros) for s in (*columns, *zeros)])
    for combination in itertools.product(*reversed(pieces)):
        if any(zero for _, zero in combination):
            yield ":".join(name for name, _ in reversed(combination))


def _suffixes(info: Any, subterm: Any, factor: Any) -> tuple[list[str], list[str]]:
    """Return the suffixes of a factor's columns, and the suffixes of reference levels, which have no column."""
    info_of = info.factor_infos[factor]
    if info_of.type == "numerical":
        return ([""] if info_of.num_columns == 1 else [f"[{k}]" for k in range(info_of.num_columns)]), []
    contrast = subterm.contrast_matrices[factor]
    levels, columns = contrast.matrix.shape
    if levels == columns:
        return list(contrast.column_suffixes), []
    reduced = [
        "[" + s[3:] if s.startswith("[T.") or (factor.name() == "object" and s.startswith("[S.")) else s
        for s in contrast.column_suffixes
    ]
    zeros = [f"[{info_of.categories[k]}]" for k in np.flatnonzero(~contrast.matrix.any(axis=1))]
    return reduced, zeros


def _sums(info: Any, subterms: Sequence[Any], block: Block, omitted: Label, start: int) -> Iterator[Sum]:
    """Yield the effects of the object without a column, one for each combination of the other factors' columns."""
    for subterm in subterms:
        pieces = [_suffixes(info, subterm, f)[0] for f in subterm.factors]
        place = next((k for k, f in enumerate(subterm.factors) if f.name() == "object"), -1)
        columns = [tuple(reversed(at)) for at in itertools.product(*(range(len(piece)) for piece in reversed(pieces)))]
        objects = [at for at in columns if place >= 0 and at[place] == 0]
        for at in objects:
            same = [k for k, other in enumerate(columns) if _but(other, place) == _but(at, place)]
            suffixes = [piece[k] for piece, k in zip(pieces, at, strict=True)]
            suffixes[place] = f"[{omitted}]"
            name = ":".join(f.name() + s for f, s in zip(subterm.factors, suffixes, strict=True))
            yield start + len(columns), _with_head(block, name), tuple(start + k for k in same)
        start += len(columns)


def _but(at: tuple[int, ...], place: int) -> tuple[int, ...]:
    return at[:place] + at[place + 1 :]


def _treatment_reference(formula: Formula, worth: Coding, otherwise: Label) -> Label:
    """Return the object with λ = 0: the formula may name one, as in ``C(object, Treatment('B'))``."""
    mains = [t.factors[0].factor for t in formula.worth if [f.variables for f in t.factors] == [frozenset({"object"})]]
    for factor in mains:
        (subterm,) = worth.info.term_codings[patsy.Term([factor])]
        contrast = subterm.contrast_matrices.get(factor)
        zero = [] if contrast is None else np.flatnonzero(~contrast.matrix.any(axis=1)).tolist()
        if zero:
            label: Label = worth.info.factor_infos[factor].categories[zero[0]]
            return label
    return otherwise


def references(reference: Reference) -> dict[str, Label]:
    """Return the requested reference level of each variable; a single label is the reference of the objects."""
    if reference is None:
        return {}
    return dict(reference) if isinstance(reference, Mapping) else {"object": reference}


def _design_info(text: str, basis: Sequence[Term], data: dict[str, Any]) -> Any:
    """Code terms with patsy, in an environment that has only the functions of `allowed`."""
    terms = [_patsy_term(term) for term in basis]
    environment = patsy.EvalEnvironment([NAMESPACE])
    try:
        with np.errstate(all="ignore"):  # values that are not finite are refused after the evaluation
            return patsy.design_matrix_builders([terms], lambda: iter([data]), environment, NA_action=_never_drop())[0]
    except Exception as error:  # any error of the user's expression is reported at its place in the formula
        _fail(error, text)


def _of_labels(coding: Coding, term: Term) -> bool:
    """Whether a term has labelled variables, perhaps times numeric columns, so that most of its entries are 0.

    The caller computes these terms as sparse matrices; patsy would compute every entry.
    """
    if coding.info is None or not term.factors:
        return False
    kinds = [coding.info.factor_infos[f.factor].type for f in term.factors]
    if "categorical" not in kinds or not all(f.code in coding.variables for f in term.factors):
        return False
    contrasts = [
        contrast
        for subterm in coding.info.term_codings[_patsy_term(term)]
        for contrast in subterm.contrast_matrices.values()
    ]
    return "numerical" not in kinds or all(isinstance(one.matrix, LevelMatrix) for one in contrasts)


def _label_rows(coding: Coding, term: Term, values: Mapping[str, npt.NDArray[Any]], size: int) -> csr_array:
    """Return the sparse columns of a term of labels, perhaps times numeric columns, shape (size, columns)."""
    assert coding.info is not None
    names = {f.factor: f.code for f in term.factors}
    parts = []
    for subterm in coding.info.term_codings[_patsy_term(term)]:
        rows = csr_array(np.ones((size, 1)))
        for factor in subterm.factors:
            if factor in subterm.contrast_matrices:
                contrast = subterm.contrast_matrices[factor].matrix
                rows = _products(rows, contrast_rows(contrast, values[names[factor]]))
            else:
                rows = csr_array(rows * np.asarray(values[names[factor]], dtype=np.float64)[:, None])
        parts.append(rows)
    return parts[0] if len(parts) == 1 else csr_array(hstack(parts, format="csr"))


def _products(a: csr_array, b: csr_array) -> csr_array:
    """Return the product of every column of a with every column of b; the columns of a vary fastest, as in patsy."""
    if a.shape[1] == 1 and a.nnz == a.shape[0] and (a.data == 1).all():
        return b
    row = np.repeat(np.arange(b.shape[0]), np.diff(b.indptr))
    products = a[row]
    times = np.diff(products.indptr)
    columns = products.indices + np.repeat(b.indices.astype(np.int64) * a.shape[1], times)
    shape = (b.shape[0], a.shape[1] * b.shape[1])
    return csr_array((products.data * np.repeat(b.data, times), columns, products.indptr[b.indptr]), shape=shape)


def contrast_rows(contrast: Any, codes: IntArray) -> csr_array:
    """Return the rows of a contrast matrix for the codes of some levels, shape (U, columns)."""
    if isinstance(contrast, LevelMatrix):
        return contrast.rows(codes)
    return csr_array(csr_array(np.asarray(contrast, dtype=np.float64))[codes])


def _positions(coding: Coding, terms: Sequence[Term]) -> IntArray:
    """Return the positions of some terms' columns among the block's columns, in ascending order."""
    slices = [
        range(*coding.info.term_slices[_patsy_term(term)].indices(len(coding.info.column_names))) for term in terms
    ]
    return np.flatnonzero(np.isin(coding.chosen, [k for span in slices for k in span]))


def _evaluated(text: str, coding: Coding, terms: Sequence[Term], data: dict[str, Any], size: int) -> FloatArray:
    if coding.info is None:  # the effect itself, ``tie`` or ``order``
        return np.ones((size, len(coding.names)))
    wanted = {_patsy_term(term) for term in terms}
    info = coding.info.subset([term for term in coding.info.terms if term in wanted])
    try:
        with np.errstate(all="ignore"):
            matrix = patsy.build_design_matrices([info], data, NA_action=_never_drop())[0]
    except Exception as error:  # any error of the user's expression is reported at its place in the formula
        _fail(error, text)
    full: FloatArray = np.asarray(matrix)
    bad = np.flatnonzero(~np.isfinite(full).all(axis=0))
    if bad.size:
        name = coding.names[_positions(coding, terms)[bad[0]]]
        raise DesignError(
            f"{name} is not finite in {int((~np.isfinite(full[:, bad[0]])).sum())} of {size} distinct rows of the "
            f"formula {text!r}",
            "Check the variables in this term (np.log needs numbers above 0).",
        )
    return full


def _never_drop() -> Any:
    # the table has no missing values; values that an expression makes are checked after the evaluation
    return patsy.NAAction(on_NA="raise", NA_types=[])


def _fail_at(what: str, text: str, term: Term) -> NoReturn:
    start, end = min(f.start for f in term.factors), max(f.end for f in term.factors)
    raise FormulaError(f"{what}.\n{marked(text, start, end)}")


def _fail(error: Exception, text: str) -> NoReturn:
    if isinstance(error, MemoryError):
        raise DesignError(f"the columns of the formula do not fit into memory: {error}.\n{marked(text, 0, len(text))}")
    origin = getattr(error, "origin", None)
    message = str(getattr(error, "message", error))
    spot = (origin.start, origin.end) if origin else (0, len(text))
    raise FormulaError(f"the formula cannot be evaluated: {message}.\n{marked(text, *spot)}") from None
