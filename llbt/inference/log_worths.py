"""The log-worths of the objects with their covariance, in every class or in one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, eye_array, hstack, kron

from ..base.budgets import refuse_large
from ..base.table import format_number
from ..core.columns import FloatArray, IntArray, Label
from ..errors import DesignError, OptionError, listed
from ..fitting.estimates import Estimates
from ..fitting.fit_part import FitPart
from ..fitting.population_predictions import Population
from ..fitting.prediction import UNDETERMINED, alias_columns, codings_of, undetermined
from ..formulas.coding import Codings
from ..formulas.grid import At, Difference, Grid, check_at, covariate_grid, judged_values, rows_at
from ..kernel.robust import LOST
from .contexts import Contexts
from .preference_scale import Beside, averaging_notes, beside_at, preferred_at

_COPIES = 2  # copies of the combinations that exist while they are made
KNOWN = 1e-12  # a variance below this share of the largest is rounding: nothing was estimated

_AVERAGED = "averaged over {}, whose shares are taken as known"
_AT_MEANS = "odds, probabilities and Elo are those at the mean log-worths: they depend on ties or grades as well"
NAMED = 5  # most classes that a note names


@dataclass(frozen=True, eq=False)
class LogWorths:
    """Log-worths of the J objects in one class, minus the reference's.

    Attributes
    ----------
    rows : ndarray, shape (J, p)
        The log-worths as linear combinations of the parameters.
    estimate : ndarray, shape (J,)
        Log-worth λ; NaN if the table does not determine it.
    cov : ndarray, shape (J, J)
    lost : ndarray, shape (J, d)
        The change of each log-worth along directions that only one cluster informs. Differences of objects with
        different changes have no standard error. Usually d = 0.
    reference : label or None
        The object whose log-worth is 0 in this class; None if there is no reference.
    beside : Beside or None
        For graded judgments and new judges: the further quantities on which P(i preferred | decided) depends.
    of_objects : ndarray, shape (J, J), or None
        The linear combinations of predicted effects of objects that are added; None without such effects.
    contexts : Contexts or None
        The log-worths in each context, if the log-worths are means over contexts.
    """

    rows: FloatArray
    estimate: FloatArray
    cov: FloatArray
    lost: FloatArray
    reference: Label | None = None
    beside: Beside | None = None
    of_objects: FloatArray | None = None
    contexts: Contexts | None = None

    @property
    def unknown(self) -> npt.NDArray[np.bool_]:
        """Which log-worths have no standard error, shape (J,)."""
        return np.asarray((np.abs(self.lost) > LOST).any(axis=1))

    def some(self, which: IntArray) -> LogWorths:
        """Return the log-worths of some of the objects."""
        cov = self.cov[np.ix_(which, which)]
        chosen = np.eye(len(self.estimate))[which]
        beside, contexts = self.beside and self.beside.combined(chosen), self.contexts and self.contexts.some(which)
        own = None if self.of_objects is None else self.of_objects[which]
        rows, lost = self.rows[which], self.lost[which]
        return LogWorths(rows, self.estimate[which], cov, lost, self.reference, beside, own, contexts)

    def combined(self, weights: FloatArray, estimate: FloatArray) -> LogWorths:
        """Return combinations of the log-worths with weights (J, J), such as differences from a mean, at `estimate`."""
        beside, cov = self.beside and self.beside.combined(weights), weights @ self.cov @ weights.T
        own = None if self.of_objects is None else weights @ self.of_objects
        rows, lost = weights @ self.rows, weights @ self.lost
        return LogWorths(rows, estimate, cov, lost, beside=beside, of_objects=own, contexts=self.contexts)

    def centred(self) -> LogWorths:
        """Return the log-worths minus their mean; NaN for objects that the class does not compare."""
        inside = ~np.isnan(self.estimate)
        if self.beside is not None:
            center = inside[:, None] * (np.eye(len(inside)) - inside / inside.sum())
            estimate = center @ np.where(inside, self.estimate, 0.0)
            return self.combined(center, np.where(inside, estimate, np.nan))

        def less_mean(values: FloatArray) -> FloatArray:
            if inside.all():
                return np.asarray(values - values.mean(axis=0))
            return np.asarray(inside[:, None] * (values - values[inside].mean(axis=0)))

        own = None if self.of_objects is None else less_mean(self.of_objects)
        estimate = self.estimate - self.estimate[inside].mean()
        cov = less_mean(self.cov)
        cov -= cov[:, inside].mean(axis=1)[:, None]
        cov *= inside
        rows, lost = less_mean(self.rows), less_mean(self.lost)
        return LogWorths(rows, estimate, cov, lost, of_objects=own, contexts=self.contexts)

    @property
    def predicted(self) -> bool:
        """Whether the log-worths are predictions, with effects of objects."""
        return self.of_objects is not None


def _log_worths(res: Estimates, rows: FloatArray, aliasing: FloatArray, share: float = 1.0) -> LogWorths:
    """Return the log-worths from the objects' rows (J, p) of one class, for the objects that the class compares.

    `share` is the factor of the effects of objects; it is 0 in the difference of two classes.

    If the class does not compare the model's reference with most other objects, the last compared object is the class's
    own reference.
    """
    objects = res.comparisons.objects
    home = objects.index(res.design.reference)
    inside = _comparable(rows @ aliasing, home)
    zero = home if inside[home] else int(np.flatnonzero(inside)[-1])
    against = rows - rows[zero] if rows[zero].any() else rows
    estimate = np.where(inside, against @ np.asarray(res.params.fillna(0.0), dtype=float), np.nan)
    free = against if len(res.free) == against.shape[1] else against[:, res.free]
    lost = res.covariance.moves_lost(free)
    effects = res.object_effects
    if effects is None:
        return LogWorths(against, estimate, res.covariance.combined(free), lost, objects[zero])
    own = share * (np.eye(len(objects)) - np.eye(len(objects))[zero])
    cov = effects.variance(free, own)
    return LogWorths(against, estimate + own @ effects.effect, cov, lost, objects[zero], of_objects=own)


def _contexts(res: Estimates, one: LogWorths, grid: Grid, k: int, rows: csr_array) -> Contexts:
    """Return the log-worths in each context of class k, from rows (K·J, p)."""
    objects = res.comparisons.objects
    assert one.reference is not None  # each class has a reference
    zero, outside = objects.index(one.reference), np.isnan(one.estimate)
    level = (rows @ np.asarray(res.params.fillna(0.0), dtype=float)).reshape(-1, len(objects))
    free, cov, effects = csr_array(rows[:, res.free]), res.covariance.matrix, res.object_effects
    if effects is not None and one.of_objects is not None:
        level, cov = level + effects.effect, effects.covariance
        own = kron(np.ones((len(level), 1)), eye_array(len(objects)))
        free = csr_array(hstack([free, own, csr_array((own.shape[0], len(effects.scales)))], format="csr"))
    contexts_text = grid.judged[k] if grid.judged else class_name({name: grid.shown[name] for name in grid.means}, k)
    estimate = np.where(outside, np.nan, level - level[:, [zero]])
    return Contexts(grid.means, contexts_text, grid.mix[[k]].data, estimate, free, cov)


def _comparable(gaps: FloatArray, home: int) -> npt.NDArray[np.bool_]:
    """Return which objects are in the largest group whose differences are determined, shape (J,).

    `gaps` (J, aliased parameters) are the products of the rows with `alias_columns`; they are equal within a group.
    Among groups of equal size, the group with the reference is chosen.
    """
    group = np.full(len(gaps), -1)
    while (group < 0).any():
        first = int(np.argmax(group < 0))
        group[(group < 0) & (np.abs(gaps - gaps[first]) <= UNDETERMINED).all(axis=1)] = first
    sizes = np.bincount(group)
    return np.asarray(group == (group[home] if sizes[group[home]] == sizes.max() else sizes.argmax()))


def worth_classes(
    res: Estimates, at: At, population: Population | None = None
) -> tuple[list[LogWorths], dict[str, list[Any]], tuple[str, ...]]:
    """Return the log-worths in each requested class, the covariates of each class, and notes.

    With a `population`, preferences are of a judge drawn from this population. A class has the largest group of objects
    whose differences the table determines in that class. The log-worths of other objects are NaN, and a note names
    them.

    Raises
    ------
    DesignError
        For a formula without worths.
    OptionError
        For names or values in `at` that the worth does not use.
    """
    if "worth" not in res.design.blocks:
        remedy = res.remedy if isinstance(res, FitPart) else "Add object."
        raise DesignError(f"the formula {res.specification.formula!r} has no term for the worths", remedy)
    check_at(at)
    codings = codings_of(res)
    aliasing = alias_columns(res)
    predicted = () if res.object_effects is None else res.object_effects.notes
    if isinstance(at, Difference):
        (first, notes), (second, _) = log_worths_at(res, at.first), log_worths_at(res, at.second)
        gap = _log_worths(res, first.rows - second.rows, aliasing, share=0.0)
        notes = tuple(note for note in notes if not note.startswith("at "))
        if first.contexts is not None and second.contexts is not None:
            both = dict.fromkeys((first.contexts.text, second.contexts.text))
            notes = (*notes, f"means over {', minus means over '.join(both)}")
        return [gap], {}, (*notes, *_missing(res, [gap], {}))
    grid = covariate_grid(codings, ("worth",), at)
    rows, size, classes = _class_rows(codings, grid.values, grid.size), len(res.comparisons.objects), grid.mix.shape[0]
    means = grid.spread(size) @ rows
    refuse_large(
        f"the table of the log-worths of {size:,} objects{f' in {classes:,} classes' if classes > 1 else ''}",
        _COPIES * float(classes) * size * (len(res.names) + size) + float(grid.size) * size,
        "Name some of the classes: at= takes lists of levels."
        if classes > 1
        else "Use fewer objects: Comparisons.select(objects=[…]).",
    )
    log_worths: list[LogWorths] = []
    for k in range(classes):
        one = _log_worths(res, means[k * size : (k + 1) * size].toarray(), aliasing)
        some, weights = grid.mix[[k]].indices, grid.mix[[k]].data
        values = {name: column[some] for name, column in grid.values.items()}
        if grid.judged:  # levels besides the log-worths are averaged over the judgments too
            values, weights = {name: values[name][:1] for name in grid.shown}, np.ones(1)
        beside = beside_at(res, codings, one.rows, values, weights, population, one.of_objects)
        contexts = None
        if len(some) > 1 and not (grid.judged and beside):
            each = csr_array(rows[(some[:, None] * size + np.arange(size)).ravel()])
            contexts = _contexts(res, one, grid, k, each)
        log_worths.append(replace(one, beside=beside, contexts=contexts))
    notes = (
        *grid.notes,
        *([_AVERAGED.format(", ".join(grid.judged))] if grid.judged else []),
        *([_AT_MEANS] if grid.judged and log_worths[0].beside else []),
        *averaging_notes(res, codings, grid.shown if grid.judged else grid.values, population),
        *predicted,
    )
    return log_worths, grid.shown, (*notes, *_missing(res, log_worths, grid.shown))


def _class_rows(codings: Codings, values: Mapping[str, npt.NDArray[Any]], classes: int) -> csr_array:
    """Return the objects' rows in each of K classes, one class after another, shape (K·J, p)."""
    return _rows_of(codings, np.arange(len(codings.table.comparisons.objects)), values, classes)


def _rows_of(codings: Codings, objects: IntArray, values: Mapping[str, npt.NDArray[Any]], classes: int) -> csr_array:
    spread = {name: np.repeat(column, len(objects)) for name, column in values.items()}
    return rows_at(codings, "worth", np.tile(objects, classes), spread)


def class_name(shown: Mapping[str, Sequence[Any]], k: int) -> str:
    """Return the covariates of a class in words, such as ``season s2``; empty if there are none."""
    return ", ".join(f"{name} {_shown(values[k])}" for name, values in shown.items())


def _missing(res: Estimates, log_worths: Sequence[LogWorths], shown: Mapping[str, Sequence[Any]]) -> tuple[str, ...]:
    """Return notes on the objects without a log-worth, and in which classes."""
    where: dict[tuple[Label, ...], list[str]] = {}
    for k, one in enumerate(log_worths):
        unknown = np.isnan(one.estimate)
        if unknown.any():
            labels = tuple(o for o, out in zip(res.comparisons.objects, unknown, strict=True) if out)
            where.setdefault(labels, []).append(class_name(shown, k))
    notes = [
        f"NA{' at ' if classes[0] else ''}{' and '.join(classes[:NAMED])}"
        + (f" and {len(classes) - NAMED} more" if len(classes) > NAMED else "")
        + f": the table does not compare {listed(labels)} with the others{' there' if classes[0] else ''}"
        for labels, classes in where.items()
    ]
    more = sum(len(classes) for classes in list(where.values())[NAMED:])
    return (*notes[:NAMED], *([f"NA in {more} more classes, where other objects are not compared"] if more else []))


def log_worths_at(res: Estimates, at: At, population: Population | None = None) -> tuple[LogWorths, tuple[str, ...]]:
    """Return the log-worths of the one class that `at` names, and notes on it.

    Raises
    ------
    OptionError
        If worths differ between classes and `at` does not name a single class; it lists the levels.
    """
    classes, shown, notes = worth_classes(res, at, population)
    if len(classes) > 1:
        open_ = {
            name: sorted(set(map(str, values))) for name, values in shown.items() if len(set(map(str, values))) > 1
        }
        levels = "; ".join(f"{name}: {', '.join(values[:12])}" for name, values in open_.items())
        first = {name: values[0] for name, values in shown.items() if name in open_}
        raise OptionError(
            f"the worths differ by {', '.join(open_)} ({levels})", f"Name one class: at={first!r}, or at='average'."
        )
    means = (
        () if classes[0].contexts is None else classes[0].contexts.names
    )  # the name of a mean is what it averages over
    where = class_name({name: values for name, values in shown.items() if name not in means}, 0)
    return classes[0], (*notes, *([f"at {where}"] if where else []))


def _shown(value: Any) -> str:
    return format_number(value, 5) if isinstance(value, float) else str(value)


def centred(res: Estimates, at: At, population: Population | None = None) -> tuple[LogWorths, tuple[str, ...]]:
    """Return the centred log-worths of one class, and notes; NaN for objects that the class does not compare."""
    log_worths, notes = log_worths_at(res, at, population)
    return log_worths.centred(), notes


def averaged_share(res: Estimates, i: int, j: int) -> float:
    """Return the probability that object i is preferred to j, given a decision, averaged over the judgments.

    Each judgment of the table counts with the probability at its own covariate values, without order effects. The
    probability at the averaged log-odds is different: it is further from a half if judges differ. The result is NaN if
    the table does not determine the probability at the values of some judgment.
    """
    codings = codings_of(res)
    values, weights = judged_values(codings)
    rows = _rows_of(codings, np.array([i, j]), values, len(weights))
    difference = csr_array(rows[::2] - rows[1::2])
    if undetermined(res, difference).any():
        return float("nan")
    apart = difference @ np.asarray(res.params.fillna(0.0), dtype=float)
    if res.object_effects is not None:
        apart = apart + res.object_effects.effect[i] - res.object_effects.effect[j]
    return float(weights @ preferred_at(res, codings, apart, values))
