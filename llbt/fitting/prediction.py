"""Outcome probabilities under a fit: for its own comparisons, for new ones, or for all pairs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, special
from scipy.sparse import csr_array, eye_array, hstack

from ..base.budgets import refuse_large
from ..base.table import Field, Table, format_count, interval_fields
from ..core.columns import Coded, FloatArray, IntArray
from ..core.statistics import critical_values
from ..data.frames import read_covariate, read_covariate_pair, read_label_pair
from ..data.side_names import refuse_other_names
from ..data.sources import open_frame
from ..errors import OptionError, listed
from ..formulas import design
from ..formulas.coding import Codings
from ..formulas.grid import At, Average, Grid, check_at, codes_of, covariate_grid, is_average, rows_at, shared_rows_at
from ..formulas.sides import side_of
from ..kernel.indexed_rows import Gathered
from ..kernel.likelihood import Problem, distances, information, probabilities, rows_of
from .asked_groups import DIFFERENCES, By, GroupHypothesis, split_place
from .estimates import Estimates
from .new_objects import new_objects
from .prediction_printout import printed_predictions

UNDETERMINED = 1e-8  # a product with `alias_columns` above this is not rounding
_ENTRIES = 10**7  # numbers of the derivatives in memory at once
_COPIES = 6  # copies of the predictors' entries that exist while predictors are made
Values = Mapping[str, npt.NDArray[Any]]


def codings_of(res: Estimates) -> Codings:
    """Return the coding of the fit's formula on its table, to compute rows for other values."""
    spec = res.specification
    return design.codings_of(res.design, spec.formula, res.comparisons, spec.reference)


def predicted(
    res: Estimates,
    frame: Any,
    at: At,
    confidence: float,
    object_covariates: object = None,
    by: By | None = None,
    weights: Any = None,
    hypothesis: GroupHypothesis | None = None,
) -> Table:
    """Return the probability of each outcome as a long table; see `LLBTResults.predict`."""
    at = place_of(res, frame, at, by, weights)
    if hypothesis is not None and by is None:
        raise OptionError("hypothesis='pairwise' without groups", "Name the column of the groups: by='language'.")
    predictions = res.object_effects.notes if res.object_effects is not None else ()
    if frame is None and (isinstance(at, Mapping) or is_average(at)):
        asked = pairs_at(res, at)
        if hypothesis is not None and by is not None:
            names = [by] if isinstance(by, str) else list(by)
            return _difference_table(res, asked, names, confidence, (*asked.notes, *predictions))
        chances = (
            plain_chances(res, asked.problem) if asked.mix is None else mean_chances(res, asked.problem, asked.mix)
        )
        return long_table(res, asked.shown, chances, confidence, (*asked.notes, *predictions))
    if frame is not None:
        problem, shown = comparisons_of(res, frame, object_covariates=object_covariates)
    else:
        problem, shown = own_comparisons(res)
    return long_table(res, shown, plain_chances(res, problem), confidence, predictions)


def place_of(res: Estimates, frame: Any, at: At, by: By | None, weights: Any) -> At:
    """Return the covariate values of the requested probabilities, with the levels of groups."""
    check_place(frame, at, average=True)
    if by is None and weights is None:
        return at
    if frame is not None:
        raise OptionError(
            "a frame together with by= or weights=",
            expected="one of the two, because each row of a frame has its own prediction",
        )
    return split_place(codings_of(res), at, by, weights)


def check_place(frame: Any, at: At, *, average: bool = False) -> None:
    """Raise if comparisons are given twice, by frame and by `at`, and for an `at` that names no values."""
    if frame is not None and at is not None:
        raise OptionError("a frame and at=", expected="one of the two, not both")
    if not average and is_average(at):
        raise OptionError("at='average', but no averages are computed here", "Name values: at={'judge': 'J1'}.")
    check_at(at, average=average)


def own_comparisons(res: Estimates) -> tuple[Problem, dict[str, list[Any]]]:
    """Return the linear predictors of the table's comparisons, without counts, and the table's columns."""
    problem = _without_counts(res, res.design.predictors(res.comparisons.response), res.comparisons.pairs)
    table = res.comparisons.to_frame().drop(columns=list(res.comparisons.count_columns))
    return problem, {str(name): table[name].tolist() for name in table}


def undetermined(res: Estimates, rows: csr_array | Gathered) -> npt.NDArray[np.bool_]:
    """Return which rows, linear combinations of the parameters, the table does not determine, shape (R,)."""
    if not res.aliased:
        return np.zeros(rows.shape[0], dtype=np.bool_)
    known = rows.toarray()[:, : len(res.names)]  # effects of objects are determined
    return np.asarray((np.abs(known @ alias_columns(res)) > UNDETERMINED).any(axis=1))


def alias_columns(res: Estimates) -> FloatArray:
    """Return columns (p, aliased parameters); a row times these columns is 0 if the table determines it.

    In every row of the table, the entries of the estimated parameters imply the entries of the aliased ones. Another
    row is determined if this holds for it, too; its product with these columns is then 0.
    """
    aliased = np.array([res.names.index(name) for name in res.aliased], dtype=np.int64)
    columns = np.zeros((len(res.names), len(aliased)))
    if not len(aliased):
        return columns
    size, outcomes = res.counts.shape
    whole = _without_counts(res, res.design.predictors(res.comparisons.response))
    gram = information(whole, np.full((size, outcomes), 1 / outcomes), np.ones(size))
    columns[res.free] = -linalg.lstsq(gram[np.ix_(res.free, res.free)], gram[np.ix_(res.free, aliased)])[0]
    columns[aliased, range(len(aliased))] = 1.0
    return columns


def _problem_at(
    res: Estimates, codings: Codings, pairs: IntArray, values: tuple[Values, Values], new: int = 0
) -> Problem:
    """Return the predictors of pairs (R, 2) with covariate values for both sides, and of `new` objects."""
    i, j = pairs.T
    signed = rows_at(codings, "worth", i, values[0]) - rows_at(codings, "worth", j, values[1])
    signed = csr_array(signed + rows_at(codings, "order", i, values[0]))
    shared = res.comparisons.response.shared
    rows = {0: signed} | {b: shared_rows_at(codings, block, pairs, values[0]) for block, b in shared.items()}
    none = csr_array(signed.shape)
    width = res.comparisons.response.width
    return _without_counts(res, tuple(Gathered.of(rows.get(b, none)) for b in range(width)), pairs, new)


def _without_counts(
    res: Estimates, predictors: tuple[Gathered, ...], pairs: IntArray | None = None, new: int = 0
) -> Problem:
    """Return predictors without counts; if objects have effects, pairs have columns for these."""
    response, size = res.response, predictors[0].shape[0]
    if res.object_effects is not None and pairs is not None:
        predictors = _with_objects(predictors, pairs, len(res.object_effects.effect) + new)
    return Problem(predictors, np.zeros((size, len(response.outcomes))), np.zeros((response.width, size)), response)


def _with_objects(predictors: tuple[Gathered, ...], pairs: IntArray, objects: int) -> tuple[Gathered, ...]:
    """Return predictors with a column for each object: in the signed predictor 1 for i and −1 for j."""
    place, ones = np.arange(len(pairs)), np.ones(len(pairs))
    shape = (len(pairs), objects)
    own = csr_array((ones, (place, pairs[:, 0])), shape=shape) - csr_array((ones, (place, pairs[:, 1])), shape=shape)
    others = [csr_array(shape)] * (len(predictors) - 1)
    return tuple(
        Gathered.of(csr_array(hstack([rows.tocsr(), more])))
        for rows, more in zip(predictors, [own, *others], strict=True)
    )


def estimates_for(res: Estimates, problem: Problem) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the estimates of the predictors' columns, with their covariance.

    The parameters come first, then the effects of objects, if there are any, with those of new objects last. The last
    estimates are log σ of the scales above 0, which have no columns.
    """
    params = np.asarray(res.params.fillna(0.0), dtype=float)
    if res.object_effects is None:
        return params, res.free, res.covariance.matrix
    new = problem.signed.shape[1] - len(params) - len(res.object_effects.effect)
    effects = res.object_effects.extended(new)
    free = np.append(res.free, np.arange(len(params), problem.signed.shape[1]))
    return np.append(params, effects.effect), free, effects.covariance


def chances_of(res: Estimates, problem: Problem) -> FloatArray:
    """Return outcome probabilities, shape (R, C); NaN if the table does not determine them."""
    probability = probabilities(problem, estimates_for(res, problem)[0])
    probability[undetermined_comparisons(res, problem)] = np.nan
    return probability


def undetermined_comparisons(res: Estimates, problem: Problem) -> npt.NDArray[np.bool_]:
    """Return which comparisons have a predictor that the table does not determine, shape (R,)."""
    return np.asarray(np.any([undetermined(res, rows) for rows in problem.predictors], axis=0))


def plain_chances(res: Estimates, problem: Problem) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return outcome probabilities, their delta-method standard errors, each (R, C), and degrees of freedom (R,)."""
    probability = chances_of(res, problem)
    _, known, cov = estimates_for(res, problem)
    whole = replace(problem, predictors=tuple(rows.columns(known) for rows in problem.predictors))
    error = probability * np.sqrt(np.maximum(distances(whole, probability, cov[: len(known), : len(known)]), 0))
    return probability, error, chance_df(res, free_columns(res, problem), error)


def free_columns(res: Estimates, problem: Problem) -> Problem:
    """Return comparisons with only the columns of the estimated parameters."""
    return replace(problem, predictors=tuple(rows.columns(res.free) for rows in problem.predictors))


def chance_df(res: Estimates, free: Problem, error: FloatArray) -> FloatArray:
    """Return the degrees of freedom of predicted comparisons, (R,), from rows of the estimated parameters.

    Unknown standard errors in `error` (R, C) are set to NaN.
    """
    if res.object_effects is not None:
        return np.full(len(error), np.inf)
    if not res.covariance.differs:
        return np.full(len(error), res.df_inference)
    df = np.full(len(error), np.inf)
    for part in (rows.toarray() for rows in free.predictors):
        error[res.covariance.unknown(part)] = np.nan
        df = np.minimum(df, res.covariance.df_of(part))
    return df


def slopes_of(problem: Problem, chances: FloatArray, known: IntArray) -> FloatArray:
    """Return the derivatives of outcome probabilities in some columns of the predictors, shape (R, C, q)."""
    rows = [predictor.columns(known).toarray() for predictor in problem.predictors]
    along = problem.response.slopes(chances.T)  # (C, B, R)
    slopes = sum(along[:, b, :, None] * rows[b] for b in range(len(rows)))
    return np.asarray(chances[:, :, None] * np.swapaxes(slopes, 0, 1))


def mean_chances(res: Estimates, problem: Problem, mix: csr_array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return M weighted means of outcome probabilities, with weights (M, R), in the form of `plain_chances`.

    The degrees of freedom of a mean are the smallest among its comparisons.
    """
    each = chances_of(res, problem)
    _, known, cov = estimates_for(res, problem)
    outcomes, missing = each.shape[1], np.zeros_like(each)
    df = chance_df(res, free_columns(res, problem), missing)
    means = np.empty((mix.shape[0], outcomes))
    error, smallest = np.empty_like(means), np.empty(mix.shape[0])
    block = max(1, int(_ENTRIES * mix.shape[0] / (mix.nnz * outcomes * max(1, len(known)))))
    for start in range(0, mix.shape[0], block):  # blocks of means bound the memory
        some = slice(start, start + block)
        members, place = np.unique(mix[some].indices, return_inverse=True)
        weights = csr_array((mix[some].data, place, mix[some].indptr), shape=(len(means[some]), len(members)))
        slopes = slopes_of(rows_of(problem, members), each[members], known).reshape(len(members), -1)
        gradient = (weights @ slopes).reshape(len(means[some]), outcomes, -1)
        along = gradient @ cov[: len(known), : len(known)]
        means[some] = weights @ each[members]
        error[some] = np.sqrt(np.maximum(np.einsum("rcp,rcp->rc", along, gradient), 0)) + weights @ missing[members]
        smallest[some] = [df[members[weights[[k]].indices]].min() for k in range(len(means[some]))]
    return means, error, smallest


@dataclass(frozen=True, eq=False)
class AskedPairs:
    """All pairs of objects at the requested covariate values, R comparisons.

    Attributes
    ----------
    problem : Problem
        The linear predictors of the comparisons.
    shown : dict of str to list
        The columns that name the answers.
    notes : tuple of str
        Notes on covariates without a requested value.
    mix : csr_array, shape (M, R), or None
        The weights of the comparisons in each answer, if answers are means of comparisons.
    """

    problem: Problem
    shown: dict[str, list[Any]]
    notes: tuple[str, ...]
    mix: csr_array | None

    def unmixed(self, what: str) -> AskedPairs:
        """Return the pairs; raise if they are means, for which `what` is not available."""
        if self.mix is not None:
            raise OptionError(
                f"at= averages over values, and {what} cannot be averaged",
                "Name values: at={'judge': 'J1'}. A list of values gives a prediction for each.",
            )
        return self


def pairs_at(res: Estimates, at: Mapping[str, Any] | Average) -> AskedPairs:
    """Return all pairs at covariate values, in both orders of presentation if there is an order effect."""
    codings = codings_of(res)
    grid = covariate_grid(codings, tuple(codings.blocks), at)
    size = len(res.comparisons.objects)
    choose = itertools.permutations if "order" in res.design.blocks else itertools.combinations
    pairs = np.array(list(choose(range(size), 2)), dtype=np.int64)
    refuse_large(
        f"predicting {format_count(len(pairs))} pairs in {format_count(grid.size)} contexts",
        _COPIES * float(grid.size) * len(pairs) * sum(2 * len(coding.variables) for coding in codings.blocks.values()),
        "Name values of the covariates, such as their means: at={…}. Or average over some of them: weights=.",
    )
    every = np.tile(pairs, (grid.size, 1))
    repeated = {name: np.repeat(values, len(pairs)) for name, values in grid.values.items()}
    values = {**repeated, **_pair_codes(codings, every)}
    problem = _problem_at(res, codings, every, (values, values))
    labels, answers = res.comparisons.objects, np.tile(pairs, (grid.mix.shape[0], 1))
    shown: dict[str, list[Any]] = {f"object_{side}": [labels[k] for k in answers[:, n]] for n, side in enumerate("ij")}
    for name, column in grid.shown.items():
        shown[name] = [value for value in column for _ in range(len(pairs))]
    if not grid.means:
        return AskedPairs(problem, shown, grid.notes, None)
    return AskedPairs(problem, shown, (*grid.notes, *_mean_notes(grid)), grid.spread(len(pairs)))


def _difference_table(
    res: Estimates, asked: AskedPairs, by: Sequence[str], confidence: float, notes: tuple[str, ...]
) -> Table:
    """Return differences of outcome probabilities between the groups of some covariates, with Wald intervals."""
    mix = csr_array(eye_array(asked.problem.signed.shape[0])) if asked.mix is None else asked.mix
    group = np.array([" ".join(map(repr, values)) for values in zip(*(asked.shown[name] for name in by), strict=True)])
    parts = [np.flatnonzero(group == name) for name in dict.fromkeys(group.tolist())]
    if len(parts) < 2:
        raise OptionError("hypothesis='pairwise' with a single group", expected="two groups or more")
    first, second = (np.concatenate(side) for side in zip(*itertools.combinations(parts, 2), strict=True))
    differences = mean_chances(res, asked.problem, csr_array(mix[first] - mix[second]))
    shown = {name: [column[k] for k in first] for name, column in asked.shown.items()}
    for name in by:
        both = [(asked.shown[name][k], asked.shown[name][m]) for k, m in zip(first, second, strict=True)]
        shown[name] = [one if one == other else f"{one} − {other}" for one, other in both]
    return long_table(res, shown, differences, confidence, (DIFFERENCES, *notes), differences=True)


def _mean_notes(grid: Grid) -> tuple[str, ...]:
    """Return notes on the values over which probabilities are averaged."""
    if grid.judged:
        return (f"mean probabilities over {', '.join(grid.judged)}, whose shares are taken as known",)
    parts = dict.fromkeys(f"{name} {value}" for name in grid.means for value in grid.shown[name])
    return (f"mean probabilities over {listed(list(parts))}",)


def comparisons_of(
    res: Estimates, frame: Any, beside: Sequence[str] = (), object_covariates: object = None
) -> tuple[Problem, dict[str, list[Any]]]:
    """Return the predictors of new comparisons, without counts, and the columns that were read for them.

    Columns of labels in `beside` are read too, although the formula does not use them. Objects that are not in the
    table are taken from `object_covariates`.
    """
    codings = codings_of(res)
    table = codings.table
    used = sorted({name for coding in codings.blocks.values() for name in coding.variables})
    covariates = [name for name in used if table.variables[name].role == "covariate"]
    more = [name for name in beside if name not in covariates]
    sides = {name: (f"{name}_i", f"{name}_j") for name in used if table.variables[name].role == "side covariate"}
    roles: dict[str, tuple[str, ...]] = {
        "objects": ("object_i", "object_j"),
        "covariates": (*covariates, *more),
        **sides,
    }
    source = open_frame(frame)
    refuse_other_names(source, {"object": ("object_i", "object_j"), **sides})
    picked = source.pick(roles)
    objects = read_label_pair(picked, "objects", ("object_i", "object_j"))
    asked = objects.values.ravel().tolist()
    new = new_objects(res, codings, asked, object_covariates)
    pairs = codes_of((*res.comparisons.objects, *new.labels), asked, "object").reshape(-1, 2)
    values: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    shown: dict[str, list[Any]] = {"object_i": objects.values[:, 0].tolist(), "object_j": objects.values[:, 1].tolist()}
    for name in covariates:
        column = read_covariate(picked, name, numeric=table.columns[name].numeric)
        shown[name] = column.values.tolist()
        values[0][name] = values[1][name] = _matched(table.columns[name], column.values)
    for name in more:
        shown[name] = read_covariate(picked, name, numeric=False).values.tolist()
    for name, columns in sides.items():
        sided = read_covariate_pair(picked, name, columns, numeric=table.columns[name].numeric)
        for k in (0, 1):
            shown[columns[k]] = sided.values[:, k].tolist()
            values[k][name] = _matched(table.columns[name], sided.values[:, k])
    for name in [name for name in used if table.variables[name].role == "one side"]:
        covariate, other = side_of(name)
        for k in (0, 1):
            values[k][name] = values[k ^ other][covariate]
    for k in (0, 1):
        values[k].update(_pair_codes(codings, pairs))
        values[k].update({name: column[pairs[:, k]] for name, column in new.values.items()})
    return _problem_at(res, codings, pairs, values, len(new.labels)), shown


def _matched(known: Coded, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values in the form that `Codings.rows` takes: labels as codes of the table's levels."""
    if known.numeric:
        return values.astype(np.float64)
    return codes_of(known.levels.tolist(), values.tolist(), f"covariate {known.name!r}")


def _pair_codes(codings: Codings, pairs: IntArray) -> dict[str, IntArray]:
    if not any("pair" in coding.variables for coding in codings.blocks.values()):
        return {}
    return {"pair": codings.table.pair_codes(pairs)}


def long_table(
    res: Estimates,
    shown: dict[str, list[Any]],
    chances: tuple[FloatArray, FloatArray, FloatArray],
    confidence: float,
    notes: tuple[str, ...],
    *,
    differences: bool = False,
) -> Table:
    """Return one row per comparison and outcome, with intervals on the logit scale, so that they stay in (0, 1).

    Intervals of `differences` of probabilities are symmetric.
    """
    outcomes = res.comparisons.response.outcomes
    z = np.repeat(critical_values(confidence, chances[2]), len(outcomes))
    estimate, error = (values.ravel() for values in chances[:2])
    with np.errstate(divide="ignore", invalid="ignore"):
        center = special.logit(estimate)
        half = z * error / (estimate * (1 - estimate))
    low, high = special.expit(center - half), special.expit(center + half)
    if differences:
        low, high = estimate - z * error, estimate + z * error
    whole = Table(
        (
            *(Field(name, name, [v for v in column for _ in outcomes]) for name, column in shown.items()),
            Field("outcome", "outcome", list(outcomes) * len(chances[0])),
            Field("estimate", "estimate", estimate, "estimate", 3),
            Field("std_error", "std_error", error, "estimate", 3),
            *interval_fields(low, high, confidence, 3),
        ),
        title="Differences of outcome probabilities" if differences else "Outcome probabilities",
        notes=(*notes, *res.covariance.missing_notes(estimate, error)),
    )
    if differences:
        return whole
    bounds = low.reshape(chances[0].shape), high.reshape(chances[0].shape)
    return replace(whole, printed=printed_predictions(whole, shown, outcomes, chances[0], bounds, confidence))
