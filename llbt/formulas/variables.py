"""The variables of a formula, with their values in a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import patsy
import patsy.builtins

from ..base.budgets import refuse_large, refuse_parameters
from ..core.columns import Coded, IntArray, Label, as_objects, groups, is_among
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError, listed
from .allowed import most_columns
from .grammar import SUMMED, Formula, Term, Variable
from .levels import Levels
from .sides import side_names, side_of

Word = Literal["worth", "tie", "bad", "grade", "order"]  # what a parameter describes
Block = str  # one of these words; each grade separately: ``"grade[+]"``

_NUMBERS = 50  # floats that take as much memory as the name of a parameter and its other data
FEW = 1000  # up to so many rows patsy may evaluate term by term


def is_summed(block: Block, used: Collection[str]) -> bool:
    """Whether a block adds effects of objects over the two sides of a comparison."""
    return block in SUMMED and "object" in used


def word_of(block: Block) -> Word:
    """Return the word for what the parameters of a block describe, such as ``"grade"`` for ``"grade[+]"``."""
    return cast(Word, block.partition("[")[0])


@dataclass(frozen=True, eq=False)
class VariableTable:
    """The variables that a formula may use, with their values in a table."""

    text: str
    comparisons: Comparisons
    columns: dict[str, Coded]
    variables: dict[str, Variable]
    reference: Label

    def units(self, block: Block, used: Sequence[str]) -> tuple[dict[str, IntArray], int, IntArray]:
        """Return each variable's codes in the distinct combinations, their number, and each comparison's combination.

        For the worth, and if effects of objects are added, both sides of each comparison count; otherwise only the side
        of the object shown first.
        """
        sides = (0, 1) if block == "worth" or is_summed(block, used) else (0,)
        # an object covariate is identified by its object, so that each object has its own row
        keys = sorted({"object" if self.variables[name].role == "object covariate" else name for name in used})
        codes = {name: np.concatenate([self.codes(name, k) for k in sides]) for name in {*keys, *used}}
        size = length = len(self.comparisons) * len(sides)
        if not keys:
            size, index = 1, np.broadcast_to(np.int64(0), length)
        elif length > FEW and max(len(self.columns[name].levels) for name in keys) > length / 2:
            index = np.arange(length)  # almost no rows are equal, so equal ones are not searched for
        else:
            first, index = groups([codes[name] for name in keys])
            codes, size = {name: codes_of[first] for name, codes_of in codes.items()}, len(first)
        return codes, size, index.reshape(len(sides), -1).T if len(sides) > 1 else index

    def patsy_data(self, block: Block, values: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
        """Convert variables from the form that `Codings.rows` takes to the form that patsy takes."""
        summed = is_summed(block, values)
        contrast = patsy.Sum(omit=self.reference) if summed else Levels(self.reference)
        return {name: _patsy_column(self.columns[name], column, contrast) for name, column in values.items()}

    def pair_codes(self, pairs: IntArray) -> IntArray:
        """Return the codes of pairs of objects (R, 2), whichever comes first.

        Raises
        ------
        DesignError
            For pairs that are not in the table.
        """
        c = self.comparisons
        known, wanted = np.unique(_pair_keys(c, c.pairs)), _pair_keys(c, pairs)
        codes = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        missing = np.flatnonzero(known[codes] != wanted)
        if missing.size:
            a, b = (c.objects[k] for k in pairs[missing[0]])
            raise DesignError(f"{a!r} and {b!r} were never compared, so the formula does not determine this pair.")
        return codes

    def codes(self, name: str, side: int) -> IntArray:
        """Return the codes of a variable for one side of each comparison, shape (S,)."""
        column, role = self.columns[name], self.variables[name].role
        if role == "object":
            return self.comparisons.pairs[:, side]
        if role == "object covariate":
            return column.codes[self.comparisons.pairs[:, side]]
        if role == "one side":
            return column.codes[:, side_of(name)[1] ^ side]
        return column.codes[:, side] if role == "side covariate" else column.codes


def column_values(column: Coded, codes: IntArray) -> npt.NDArray[Any]:
    """Return a variable in the form that `Codings.rows` takes: the numbers of a numeric column, codes of labels."""
    return column.levels[codes] if column.numeric else codes


def relevelled(columns: dict[str, Coded], chosen: Mapping[str, Label]) -> dict[str, Coded]:
    """Return the columns with the requested reference levels first, as R's ``relevel`` does.

    Raises
    ------
    OptionError
        For a name that is not a labelled column of the table, and for unknown levels.
    """
    releveled = dict(columns)
    for name, level in chosen.items():
        if name == "object":
            continue
        labelled = [known for known, column in columns.items() if not column.numeric and known != "pair"]
        if name not in labelled:
            raise OptionError(
                f"reference: {name!r} is not a labelled variable of the table", expected=f"one of {listed(labelled)}"
            )
        column = columns[name]
        levels = column.levels.tolist()
        if not is_among(level, set(levels)):
            raise OptionError(
                f"reference: {name!r} has no level {level!r} in the table", expected=f"one of {listed(levels, 20)}"
            )
        first = levels.index(level)
        order = np.array([first, *(k for k in range(len(levels)) if k != first)])
        releveled[name] = replace(column, levels=column.levels[order], codes=np.argsort(order)[column.codes])
    return releveled


def reference_object(reference: Label | None, c: Comparisons) -> Label:
    """Return the object with λ = 0, by default the last one; raise for an object that is not in the table."""
    if reference is None:
        return c.objects[-1]
    if not is_among(reference, set(c.objects)):
        raise OptionError(
            f"reference={reference!r} is not an object of the table", expected=f"one of {listed(c.objects, 20)}"
        )
    return reference


def variable_columns(c: Comparisons, used: Collection[str]) -> dict[str, Coded]:
    """Return every variable of the table as a coded column; codes of objects are positions in ``c.objects``."""
    columns = {"object": Coded("object", as_objects(c.objects), np.arange(len(c.objects)))}
    columns |= {"pair": _pairs(c)} if "pair" in used else {}
    columns |= {name: side for side in c.sides if side.numeric for name in side_names(side.name)}
    return columns | {column.name: column for column in (*c.columns, *c.sides, *c.object_columns)}


def _pairs(c: Comparisons) -> Coded:
    keys, codes = np.unique(_pair_keys(c, c.pairs), return_inverse=True)
    named = [(c.objects[a], c.objects[b]) for a, b in zip(*divmod(keys, len(c.objects)), strict=True)]
    plain = [f"{a}:{b}" for a, b in named]
    # object names with a colon may make two pairs read alike
    return Coded(
        "pair", as_objects(plain if len(set(plain)) == len(plain) else [f"{a!r}:{b!r}" for a, b in named]), codes
    )


def _pair_keys(c: Comparisons, pairs: IntArray) -> IntArray:
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return np.asarray(low * len(c.objects) + high)


def check_constant(formula: Formula, table: VariableTable) -> None:
    """Raise for a covariate of the formula that has the same value everywhere in the table."""
    for name in sorted(formula.variables):
        column, role = table.columns[name], table.variables[name].role
        if role not in ("object", "pair") and len(column.levels) < 2:
            where = "objects" if role == "object covariate" else "comparisons"
            raise DesignError(
                f"{role} {name!r} is {column.levels.tolist()[0]!r} in all {where} of the table, so it has no effect "
                "to estimate",
                "Leave it out of the formula.",
            )


def refuse_many(formula: Formula, table: VariableTable) -> None:
    """Raise if the columns of terms do not fit into memory; labels in the worth are never coded as a dense matrix."""
    labelled = [term for term in formula.worth if all(_is_label(table, factor.code) for factor in term.factors)]
    dense = [term for term in formula.described if all(term is not known for known in labelled)]
    refuse_parameters(sum(_most_columns(table, term) for term in dense))
    number = sum(_most_columns(table, term) for term in labelled)
    refuse_large(
        f"coding {number:,} parameters", _NUMBERS * float(number), "Take fewer objects or levels.", DesignError
    )


def _is_label(table: VariableTable, code: str) -> bool:
    return code in table.columns and not table.columns[code].numeric


def _most_columns(table: VariableTable, term: Term) -> int:
    """Return the largest number of columns that a term may have."""
    size = 1
    for factor in term.factors:
        whole = next((name for name in factor.variables if factor.code == name or factor.code.startswith("C(")), None)
        labels = whole is not None and (factor.code != whole or not table.columns[whole].numeric)
        size *= len(table.columns[whole].levels) if whole is not None and labels else most_columns(factor.code)
    return size


def _patsy_column(column: Coded, values: npt.NDArray[Any], contrast: Any) -> Any:
    """Return a variable in the form that patsy takes; labels keep all levels in our order, objects get a contrast."""
    if column.numeric:
        return values
    labels = pd.Categorical.from_codes(values, categories=pd.Index(list(column.levels), dtype=object))
    if column.name != "object":
        return labels
    return patsy.builtins.C(labels, contrast)
