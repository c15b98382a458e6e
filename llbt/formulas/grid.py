"""The covariate values at which a question is asked: ``at=``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeGuard

import numpy as np
import numpy.typing as npt
from scipy.sparse import block_diag, csr_array, eye_array, kron

from ..base.arguments import JUDGED_INSIDE, is_real
from ..base.table import format_number
from ..core.columns import FloatArray, IntArray, groups, is_among
from ..errors import OptionError, listed, safe_repr
from .coding import Codings
from .sides import side_of
from .variables import Block, VariableTable, column_values, is_summed

SUM_OFF = 1e-6  # weights may differ from a sum of 1 by so much


@dataclass(frozen=True, eq=False)
class Difference:
    """A difference between two groups: the covariate values of the first group and of the second group."""

    first: Mapping[Any, Any]
    second: Mapping[Any, Any]


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgments at some covariate values, to average over; each value of a list makes one group."""

    within: Mapping[Any, Any]


Average = Literal["average"] | Judged  # average over all judgments, or over those at some values
At = Annotated[Mapping[Any, Any] | Average | Difference | None, JUDGED_INSIDE]  # checked by `check_at`


@dataclass(frozen=True, eq=False)
class Grid:
    """G combinations of covariate values, and the K requested classes: each is a weighted mean of combinations.

    Attributes
    ----------
    values : dict of str to ndarray, each (G,)
        The values in the form that `Codings.rows` takes: codes of labels, numbers of numeric variables.
    shown : dict of str to list, each of length K
        The values as shown in the columns of a result; a mix is written as "30 % de, 70 % en".
    size : int
        The number of combinations G.
    notes : tuple of str
        Notes on values that were chosen because none was requested.
    mix : csr_array, shape (K, G)
        The weights of the combinations in each class; the identity if no covariate is mixed.
    means : tuple of str
        The covariates that are mixed.
    judged : tuple of str, length K
        For means over judgments of the table, a description of these judgments; empty for other mixes.
    """

    values: dict[str, npt.NDArray[Any]]
    shown: dict[str, list[Any]]
    size: int
    notes: tuple[str, ...]
    mix: csr_array
    means: tuple[str, ...]
    judged: tuple[str, ...] = ()

    def spread(self, size: int) -> csr_array:
        """Return the weights that average R numbers per combination to R numbers per class, shape (K·R, G·R)."""
        return csr_array(kron(self.mix, eye_array(size), format="csr"))


@dataclass(frozen=True, eq=False)
class _Axis:
    """The n values that one or several covariates take together, and the k requested means of these values."""

    values: dict[str, npt.NDArray[Any]]
    shown: dict[str, list[Any]]
    mix: csr_array

    @classmethod
    def listed(cls, table: VariableTable, name: str, values: npt.NDArray[Any]) -> _Axis:
        """Return values of one covariate, each as a separate value."""
        return cls({name: values}, {name: _shown(table, name, values)}, eye_array(len(values), format="csr"))


def check_at(at: object, *, average: bool = True) -> None:
    """Raise unless `at` is a mapping, None, or, if allowed, "average"."""
    if not (at is None or isinstance(at, Mapping | Difference) or (average and is_average(at))):
        expected = "'average' or a mapping" if average else "a mapping"
        raise OptionError(f"at={safe_repr(at)}", expected=f"{expected} such as {{'judge': 'J3'}}")


def is_average(at: object) -> TypeGuard[Average]:
    """Whether an answer is averaged over judgments of the table."""
    return isinstance(at, Judged) or (isinstance(at, str) and at == "average")


def covariate_grid(codings: Codings, blocks: Sequence[Block], at: Mapping[Any, Any] | Average | None) -> Grid:
    """Return every combination of the values of the covariates in some blocks.

    A label covariate that `at` does not name takes all its levels. A number takes its mean over the judgments; a side
    covariate takes the same mean (or its first level) on both sides. A note states these means and first levels. A
    mapping of values to weights, such as {"de": .3, "en": .7}, gives their mean. A tuple of names gives the mean of
    combinations, {("de", "code"): .3, …}. "average" gives the mean over the judged combinations, weighted by their
    shares of the judgments.

    Raises
    ------
    OptionError
        For a name that is not a covariate of these blocks, for unknown levels, and for values that were not judged.
    """
    table = codings.table
    names = _covariates(codings, blocks)
    asked = dict(at if isinstance(at, Mapping) else at.within if isinstance(at, Judged) else {})
    joint: list[tuple[str, ...]] = [key for key in asked if isinstance(key, tuple)]
    unknown = [name for name in _names(asked) if name not in names]
    if unknown:
        has = f"at= may name {listed(names)}" if names else "no covariate applies here, so leave at= out"
        raise OptionError(f"at: {listed(unknown)} is not a covariate of the formula {codings.formula.text!r}; {has}.")
    if is_average(at):
        return _judged_grid(codings, names, asked)
    twice = {name for name in _names(asked) if _names(asked).count(name) > 1}
    if twice:
        raise OptionError(f"at: {listed(sorted(twice))} is named twice", expected="each covariate once")
    axes = [_jointly_mixed(table, key, asked[key]) for key in joint]
    notes: list[str] = []
    for name in [name for name in names if not any(name in key for key in joint)]:
        wanted = asked.get(name)
        if name in asked and isinstance(wanted, Mapping):
            axes.append(_mixed(table, name, wanted))
        else:
            values = _asked(table, name, wanted) if name in asked else _default(table, name, notes)
            axes.append(_Axis.listed(table, name, values))
    return _product(axes, tuple(notes))


def _judged_grid(codings: Codings, names: Sequence[str], within: Mapping[Any, Any]) -> Grid:
    """Return the judged combinations of values, averaged over the judgments at some values.

    A list of values in `within` gives one class for each value.
    """
    table = codings.table
    groups = list(itertools.product(*(_asked(table, name, wanted) for name, wanted in within.items())))
    parts = [judged_values(codings, names, dict(zip(within, group, strict=True))) for group in groups]
    values = {name: np.concatenate([part[name] for part, _ in parts]) for name in names}
    columns = zip(within, zip(*groups, strict=True), strict=True)
    shown = {name: _shown(table, name, np.array(column)) for name, column in columns}
    mix = block_diag([csr_array(weights[None, :]) for _, weights in parts], format="csr")
    if mix.shape[0] == mix.shape[1]:
        return Grid(values, shown, mix.shape[1], (), mix, ())
    where = [", ".join(f"{name} {shown[name][k]}" for name in within) or "the table" for k in range(len(groups))]
    means = tuple(name for name in names if name not in within)
    return Grid(values, shown, mix.shape[1], (), mix, means, tuple(f"the judgments of {one}" for one in where))


def _covariates(codings: Codings, blocks: Sequence[Block]) -> list[str]:
    """Return the covariates in some blocks."""
    roles = ("covariate", "side covariate")
    used = sorted({name for block in blocks for name in codings.blocks[block].variables})
    return [name for name in used if codings.table.variables[name].role in roles]


def _product(axes: Sequence[_Axis], notes: tuple[str, ...]) -> Grid:
    """Return every combination of the values of some axes, and of their means."""
    values: dict[str, npt.NDArray[Any]] = {}
    shown: dict[str, list[Any]] = {}
    mix = csr_array(np.ones((1, 1)))
    for axis in axes:
        classes, size = axis.mix.shape
        values = {name: np.repeat(column, size) for name, column in values.items()}
        shown = {name: [value for value in column for _ in range(classes)] for name, column in shown.items()}
        values |= {name: np.tile(column, mix.shape[1]) for name, column in axis.values.items()}
        shown |= {name: column * mix.shape[0] for name, column in axis.shown.items()}
        mix = csr_array(kron(mix, axis.mix, format="csr"))
    means = [name for axis in axes if axis.mix.shape[0] < axis.mix.shape[1] for name in axis.shown]
    return Grid(values, shown, mix.shape[1], notes, mix, tuple(means))


def _mixed(table: VariableTable, name: str, wanted: Mapping[Any, Any]) -> _Axis:
    """Return the weighted mean over some values of a covariate."""
    values = _asked(table, name, list(wanted))
    return _mean(table, {name: values}, _mixing_weights(name, wanted))


def _jointly_mixed(table: VariableTable, names: tuple[str, ...], wanted: Any) -> _Axis:
    """Return the weighted mean over some combinations of values of several covariates."""
    if not isinstance(wanted, Mapping) or not all(isinstance(row, tuple) and len(row) == len(names) for row in wanted):
        raise OptionError(
            f"at: {names!r} has {safe_repr(wanted)}",
            expected="weights of combinations, such as {('de', 'code'): 0.4, ('en', 'chat'): 0.6}",
        )
    values = {name: _asked(table, name, [row[k] for row in wanted]) for k, name in enumerate(names)}
    return _mean(table, values, _mixing_weights(names, wanted))


def _mean(table: VariableTable, values: dict[str, npt.NDArray[Any]], weights: FloatArray) -> _Axis:
    """Return the mean over combinations of values, each (n,); its columns show the share of each value."""
    positive, shown = np.flatnonzero(weights), {}
    for name, column in values.items():
        shares: dict[Any, float] = {}
        for value, weight in zip(_shown(table, name, column[positive]), weights[positive], strict=True):
            shares[value] = shares.get(value, 0.0) + float(weight)
        shown[name] = [", ".join(f"{100 * share:.4g} % {value}" for value, share in shares.items())]
    return _Axis(
        {name: column[positive] for name, column in values.items()}, shown, csr_array(weights[positive][None, :])
    )


def _mixing_weights(key: Any, wanted: Mapping[Any, Any]) -> FloatArray:
    """Return the weights of a mean, which have to be at least 0 and to sum to 1."""
    what = f"at: the weights of {key!r}"
    weights = _weights_of(what, list(wanted.values()))
    total = weights.sum()
    if abs(total - 1) > SUM_OFF:
        normalized = {value: round(float(w / total), 8) for value, w in zip(wanted, weights, strict=True)}
        raise OptionError(
            f"{what} sum to {format_number(float(total), 8)}",
            f"Divide them by their sum: at={safe_repr({key: normalized})}.",
            expected="a sum of 1",
        )
    return np.asarray(weights / total)


def _weights_of(what: str, weights: Sequence[Any]) -> FloatArray:
    """Return weights of a mean, which have to be finite, at least 0, and not all 0."""
    wrong = [w for w in weights if not is_real(w) or not np.isfinite(float(w)) or float(w) < 0]
    if wrong:
        raise OptionError(f"{what} hold {safe_repr(wrong[0])}", expected="numbers of 0 or more that sum to 1")
    array = np.array([float(w) for w in weights])
    if not array.any():
        raise OptionError(f"{what} are all 0", expected="numbers of 0 or more that sum to 1")
    return array


def labels_at(at: object) -> dict[str, Any]:
    """Return the values that `at` gives to each covariate; the values of a mix, or of two groups, are a list."""
    if isinstance(at, Difference):
        first, second = labels_at(at.first), labels_at(at.second)
        return {name: value if value == second[name] else [value, second[name]] for name, value in first.items()}
    at = at.within if isinstance(at, Judged) else at
    by_name: dict[str, Any] = {}
    for key, value in at.items() if isinstance(at, Mapping) else ():
        if isinstance(key, tuple):
            by_name |= {name: list(dict.fromkeys(row[k] for row in value)) for k, name in enumerate(key)}
        else:
            by_name[key] = list(value) if isinstance(value, Mapping) else value
    return by_name


def _names(asked: Mapping[Any, Any]) -> list[Any]:
    """Return the covariates that the keys of `at` name; a tuple names several."""
    return [name for key in asked for name in (key if isinstance(key, tuple) else (key,))]


def rows_at(codings: Codings, block: Block, objects: IntArray, values: Mapping[str, npt.NDArray[Any]]) -> csr_array:
    """Return the rows of a block for objects and covariate values, shape (R, p).

    Parameters
    ----------
    codings : Codings
    block : str
    objects : ndarray of int, shape (R,)
        Positions in the table's objects.
    values : mapping
        The values (R,) of each covariate, as in a `Grid`. For new objects it also has the object covariates. It has
        ``pair`` if the block uses it, and ``x_i`` and ``x_j`` of a side covariate ``x`` whose sides differ.
    """
    data: dict[str, npt.NDArray[Any]] = {}
    for name in codings.blocks[block].variables:
        column, role = codings.table.columns[name], codings.table.variables[name].role
        if role == "object":
            data[name] = objects
        elif role == "object covariate" and name not in values:
            data[name] = column_values(column, column.codes[objects])
        elif role == "one side" and name not in values:  # the same on both sides
            data[name] = values[side_of(name)[0]]
        else:
            data[name] = values[name]
    return codings.rows(block, data, len(objects))


def judged_values(
    codings: Codings, names: Sequence[str] | None = None, within: Mapping[str, Any] | None = None
) -> tuple[dict[str, npt.NDArray[Any]], FloatArray]:
    """Return the K distinct values of covariates, each (K,), and the share of the judgments at each.

    By default the covariates are those of the worth. Shares are among the judgments at the values in `within`, which
    are codes of labels, or numbers.

    Raises
    ------
    OptionError
        If there are no judgments at these values.
    """
    table = codings.table
    names = _covariates(codings, ("worth",)) if names is None else names
    if not names:
        return {}, np.ones(1)
    totals = np.tile(table.comparisons.totals, 2)
    codes = {name: np.concatenate([table.codes(name, 0), table.codes(name, 1)]) for name in names}
    matches = np.ones(len(totals), dtype=np.bool_)
    for name, wanted in (within or {}).items():
        matches &= column_values(table.columns[name], codes[name]) == wanted
    if not totals[matches].any():
        where = {name: _shown(table, name, np.array([wanted]))[0] for name, wanted in (within or {}).items()}
        raise OptionError(
            f"no judgment was made at {where!r}, so there is nothing to average",
            f"Pass at={where!r}: the other covariates then take all their levels.",
        )
    codes, totals = {name: column[matches] for name, column in codes.items()}, totals[matches]
    first, group = groups(list(codes.values()))
    weights = np.bincount(group, weights=totals)
    values = {name: column_values(table.columns[name], codes[name][first]) for name in names}
    return values, weights / weights.sum()


def average_rows(codings: Codings) -> csr_array:
    """Return the rows of the objects' worths, averaged over the judgments of the table, shape (J, p)."""
    values, weights = judged_values(codings)
    size = len(codings.table.comparisons.objects)
    spread = {name: np.repeat(column, size) for name, column in values.items()}
    rows = rows_at(codings, "worth", np.tile(np.arange(size), len(weights)), spread)
    return csr_array(kron(weights[None, :], eye_array(size), format="csr") @ rows)


def shared_rows_at(
    codings: Codings, block: Block, pairs: IntArray, values: Mapping[str, npt.NDArray[Any]]
) -> csr_array:
    """Return the rows of shared effects, such as the tie, for pairs (R, 2) and covariate values, (R, p)."""
    first = rows_at(codings, block, pairs[:, 0], values)
    if not is_summed(block, codings.blocks[block].variables):
        return first
    return csr_array(first + rows_at(codings, block, pairs[:, 1], values))


def codes_of(levels: Sequence[Any], wanted: Sequence[Any], what: str) -> IntArray:
    """Return the positions of labels among the levels of a variable."""
    position = {level: k for k, level in enumerate(levels)}
    missing = sorted({repr(w) for w in wanted if not is_among(w, position)})
    if missing:
        raise OptionError(
            f"{what} has no {', '.join(missing[:8])} in the table", expected=f"one of {listed(list(levels), 20)}"
        )
    return np.array([position[w] for w in wanted], dtype=np.int64)


def _asked(table: VariableTable, name: str, wanted: Any) -> npt.NDArray[Any]:
    wanted = wanted.ravel() if isinstance(wanted, np.ndarray) else wanted  # a single number may be an array too
    several = list(wanted) if isinstance(wanted, (list, tuple, set, range, np.ndarray)) else [wanted]
    column = table.columns[name]
    if not several:
        raise OptionError(
            f"at: no value is given for {name!r}", f"Name at least one value, or leave {name!r} out of at=."
        )
    if not column.numeric:
        return codes_of(column.levels.tolist(), several, f"at: covariate {name!r}")
    if not all(is_real(value) and np.isfinite(value) for value in several):
        raise OptionError(f"at: covariate {name!r} is {wanted!r}", expected="a finite number, or several")
    return np.array(several, dtype=np.float64)


def _default(table: VariableTable, name: str, notes: list[str]) -> npt.NDArray[Any]:
    column, c = table.columns[name], table.comparisons
    sided = table.variables[name].role == "side covariate"
    if column.numeric:
        weights = np.repeat(c.totals[:, None], 2, axis=1) if sided else c.totals
        mean = float(np.average(column.values, weights=weights))
        sides = " on both sides" if sided else ""
        notes.append(f"{name} = {format_number(mean)}{sides} (its mean over the judgments); choose another with at=")
        return np.array([mean])
    if sided:
        notes.append(f"{name} = {column.levels[0]!r} on both sides (its first level); choose another with at=")
        return np.zeros(1, dtype=np.int64)
    return np.arange(len(column.levels))


def _shown(table: VariableTable, name: str, values: npt.NDArray[Any]) -> list[Any]:
    column = table.columns[name]
    shown: list[Any] = (values if column.numeric else column.levels[values]).tolist()
    return shown
