"""Probabilities under a fit to lists: of its own lists, of other lists, and of each object as the first of a set."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.sparse import csc_array, csr_array

from ..base.table import Field, Table, counted, format_count, interval_fields
from ..core.columns import Coded, FloatArray, IntArray, Label, groups
from ..core.rankings import Rankings, list_text
from ..core.statistics import critical_value
from ..errors import OptionError, listed
from ..formulas.coding import Codings
from ..formulas.grid import At, check_at, codes_of, covariate_grid, rows_at
from ..kernel.list_likelihood import Lists
from .prediction import codings_of, undetermined
from .ranking_estimates import RankingEstimates
from .ranking_lists import batches_of
from .worth_estimates import WorthEstimates

BoolArray = npt.NDArray[np.bool_]

_BLOCK = 2_000  # lists whose errors are computed at once
_MOST_SHOWN = 200  # most objects of a set for probabilities to be first


def predicted_lists(res: RankingEstimates, data: Rankings | None, confidence: float) -> Table:
    """Return the probability of each list; see `RankingResults.predict`."""
    r = res.rankings if data is None else data
    codings, number = codings_of(res.average), len(r)
    notes: tuple[str, ...] = ()
    if data is None:
        chances = Chances.of(res, res.lists, np.arange(number), number)
    else:
        lists, gone = _others(res, codings, data)
        impossible = _impossible(res, data)
        if impossible.any():
            number_of = counted(int(impossible.sum()), "list")
            notes = (f"{number_of} of probability 0: no fitted list has as many tied objects in one place",)
        chances = Chances.of(res, lists, np.arange(number), number).without(gone, impossible)
    columns = [column for column in r.columns if column.name in _used(codings)]
    shown = {"ranking": [list_text(r, k) for k in range(number)]} | {c.name: c.values.tolist() for c in columns}
    return chances_table(res, "Probabilities of lists", shown, chances, confidence, notes)


def predicted_first(res: RankingEstimates, objects: Sequence[Label] | None, at: At, confidence: float) -> Table:
    """Return the probability that each object is the first of a set; see `RankingResults.first`."""
    check_at(at, average=False)
    if isinstance(at, str):
        raise OptionError("at='average' averages worths, not probabilities", "Name values: at={'judge': 'J1'}.")
    known = res.rankings.objects
    shown = codes_of(known, list(known if objects is None else objects), "object")
    size = len(shown)
    if len(np.unique(shown)) < size or size < 2:
        raise OptionError(f"objects={list(objects or ())!r}", expected="two objects or more, each once")
    if size > _MOST_SHOWN:
        raise OptionError(
            f"a set of {format_count(size)} objects",
            "Name the objects that are shown together: objects=[…].",
            expected=f"at most {format_count(_MOST_SHOWN)}",
        )
    codings = codings_of(res.average)
    grid = covariate_grid(codings, ("worth",), at if isinstance(at, Mapping) else None)
    orders, first = _firsts(size, res.rankings.kind)
    number = len(orders)
    items = np.tile(shown[orders].ravel(), grid.size)
    values = {name: np.repeat(value, orders.size) for name, value in grid.values.items()}
    sets = Rankings(
        known,
        items,
        np.tile(_places(size, number, res.rankings.kind), grid.size),
        np.arange(number * grid.size + 1) * size,
        np.ones(number * grid.size),
        res.rankings.kind,
    )
    lists, gone = _lists_at(res, codings, sets, values)
    mix, classes = csc_array(grid.mix), grid.mix.shape[0]  # each combination belongs to one class
    group = (mix.indices[:, None] * size + first).ravel()
    chances = Chances.of(res, lists, group, classes * size, np.repeat(mix.data, number))
    chances = chances.without(np.bincount(group, gone) > 0, np.zeros(classes * size, dtype=np.bool_))
    labels = [known[k] for k in shown]
    columns: dict[str, list[Any]] = {name: [v for v in column for _ in labels] for name, column in grid.shown.items()}
    notes = grid.notes
    if len(res.lists.orders):
        notes = (*notes, "alone in the first place; with the remaining probability, several share it")
    return chances_table(
        res, "Probabilities of being first", columns | {"object": labels * classes}, chances, confidence, notes
    )


def _firsts(size: int, kind: str) -> tuple[IntArray, IntArray]:
    """Return the orders (Q, size) of a set, and the object (Q,) that is first in each."""
    if kind == "best_worst":
        ends = np.array(list(itertools.permutations(range(size), 2)), dtype=np.int64)
    else:
        ends = np.arange(size)[:, None]
    rest = [np.setdiff1d(np.arange(size), named) for named in ends]
    return np.column_stack([ends, np.array(rest, dtype=np.int64).reshape(len(ends), -1)]), ends[:, 0]


def _places(size: int, number: int, kind: str) -> IntArray:
    place = np.zeros(size, dtype=np.int64)
    place[: 2 if kind == "best_worst" else 1] = (1, 2) if kind == "best_worst" else (1,)
    return np.tile(place, number)


def _others(res: RankingEstimates, codings: Codings, data: Rankings) -> tuple[Lists, BoolArray]:
    """Return other lists in the form of the fit's own lists, and which of them the fit does not determine."""
    if data.kind != res.rankings.kind:
        raise OptionError(
            f"lists of the kind {data.kind!r} for a fit of the kind {res.rankings.kind!r}",
            expected="lists of the same kind as the fitted ones",
        )
    codes = codes_of(res.rankings.objects, list(data.objects), "object")
    own = {column.name: column for column in data.columns}
    missing = [name for name in _used(codings) if name not in own]
    if missing:
        raise OptionError(
            f"{listed(missing)} is in the formula, but is not a covariate of these lists",
            f"Keep the column when you read the lists: from_rankings(…, covariates={missing[0]!r}).",
        )
    values = {name: _matched(codings.table.columns[name], own[name])[data.lists] for name in _used(codings)}
    return _lists_at(res, codings, replace(data, items=codes[data.items], objects=res.rankings.objects), values)


def _used(codings: Codings) -> list[str]:
    """Return the covariates of lists in the formula of the worths."""
    names = codings.blocks["worth"].variables
    return sorted(name for name in names if codings.table.variables[name].role == "covariate")


def _matched(known: Coded, column: Coded) -> npt.NDArray[Any]:
    """Return the values of a covariate in the fit's coding, shape (L,)."""
    if known.numeric:
        try:
            return np.asarray(column.values, dtype=np.float64)
        except (TypeError, ValueError):
            raise OptionError(
                f"covariate {known.name!r} of these lists has {listed(column.levels.tolist()[:3])}",
                expected="numbers, as in the lists that were fitted",
            ) from None
    levels = codes_of(known.levels.tolist(), column.levels.tolist(), f"covariate {known.name!r}")
    return np.asarray(levels[column.codes])


def _lists_at(
    res: RankingEstimates, codings: Codings, r: Rankings, values: Mapping[str, npt.NDArray[Any]]
) -> tuple[Lists, BoolArray]:
    """Return lists with a row of worths for each entry, by object and covariates (N,), and which are undetermined."""
    rows = rows_at(codings, "worth", r.items, values)
    gone = undetermined(res.average, csr_array(rows - rows[r.starts[:-1][r.lists]]))
    sequential = res.specification.best_worst == "sequential"
    batches = batches_of(r, np.arange(len(r.items)), res.lists.orders, sequential=sequential)
    lists = replace(res.lists, batches=batches, counts=r.counts, matrix=csr_array(rows[:, res.free]))
    return lists, np.bincount(r.lists, gone) > 0


def _impossible(res: RankingEstimates, r: Rankings) -> BoolArray:
    """Return which lists have a number of objects in one place that no fitted list has, shape (L,)."""
    if r.kind == "best_worst":
        return np.zeros(len(r), dtype=np.bool_)
    ranked = r.places > 0
    of, places = r.lists[ranked], r.places[ranked]
    first, place = groups([of, places])
    wrong = ~np.isin(np.bincount(place), [1, *res.lists.orders.tolist()])
    return np.bincount(of[first], wrong, len(r)) > 0


@dataclass(frozen=True, eq=False)
class Chances:
    """Probabilities of groups of lists, and their standard errors by the delta method, each (n,)."""

    estimate: FloatArray
    error: FloatArray

    @classmethod
    def of(
        cls, res: RankingEstimates, lists: Lists, group: IntArray, number: int, weight: FloatArray | float = 1.0
    ) -> Chances:
        """Return the estimates of groups (L,) of lists, summed with weights (L,)."""
        value, score, ties = lists.each(res.solution.params)
        chance = weight * np.exp(value)
        estimate = np.bincount(group, chance, number).astype(np.float64)
        share = chance / np.maximum(estimate, np.finfo(float).tiny)[group]
        summed = csr_array((share, (group, np.arange(len(group)))), shape=(number, len(group)))
        worths, beside = csr_array(summed @ score @ lists.matrix), summed @ ties
        error = np.zeros(number)
        for begin in range(0, number, _BLOCK):
            some = slice(begin, begin + _BLOCK)
            rows = np.column_stack([worths[some].toarray(), beside[some]])
            square = np.einsum("kp,kp->k", rows @ res.covariance.matrix, rows)
            error[some] = estimate[some] * np.sqrt(np.maximum(square, 0.0))
            error[some][res.covariance.unknown(rows)] = np.nan
        return cls(estimate, error)

    def without(self, gone: BoolArray, impossible: BoolArray) -> Chances:
        """Return the probabilities, NaN where the fitted lists do not determine them, 0 for impossible lists."""
        estimate = np.where(gone, np.nan, np.where(impossible, 0.0, self.estimate))
        return Chances(estimate, np.where(gone | impossible, np.nan, self.error))


def chances_table(
    res: WorthEstimates,
    title: str,
    shown: Mapping[str, list[Any]],
    chances: Chances,
    confidence: float,
    notes: Sequence[str],
) -> Table:
    """Return probabilities with intervals on the logit scale, so that they stay in (0, 1)."""
    estimate, error = chances.estimate, chances.error
    with np.errstate(divide="ignore", invalid="ignore"):
        center = special.logit(estimate)
        half = critical_value(confidence, res.df_inference) * error / (estimate * (1 - estimate))
    return Table(
        (
            *(Field(name, name, column) for name, column in shown.items()),
            Field("estimate", "estimate", estimate, "estimate", 3),
            Field("std_error", "std_error", error, "estimate", 3),
            *interval_fields(special.expit(center - half), special.expit(center + half), confidence, 3),
        ),
        title=title,
        notes=(*notes, *res.covariance.missing_notes(estimate, error), f"{100 * confidence:.4g} % intervals"),
    )
