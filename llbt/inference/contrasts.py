"""Contrasts of log-worths: single ones, and every pair of objects with the error controlled over all of them."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import special, stats
from scipy.sparse import csr_array

from .. import statistics
from ..columns import FloatArray, IntArray, Label
from ..errors import DesignError, listed
from ..formulas.grid import At
from ..hypotheses import Linear, _estimated
from ..prediction import undetermined
from ..results import LLBTResults
from ..statistics import MaxZ, adjust_p, as_generator, max_z, two_sided_p
from ..summary import coefficient_fields
from ..table import Field, Record, Table, format_count, format_number
from .objects import LogWorths, log_worths_at
from .worth import FACTORS, Scale

Adjust = Literal["single-step", "holm", "bonferroni", "fdr_bh"]

_DIFFERENCES: dict[Scale, str] = {
    "log_worth": "differences of log-worths, λᵢ − λⱼ",
    "log_odds": "log-odds of i over j, 2(λᵢ − λⱼ)",
    "odds_ratio": "odds of i over j, exp(2(λᵢ − λⱼ))",
    "probability": "probability that i beats j, given a decision",
    "elo": "differences of Elo, 400·log10 of the odds of i over j",
}
_CONTRASTS: dict[Scale, str] = {
    "log_worth": "log-worths, Σwλ",
    "log_odds": "log-odds, 2Σwλ",
    "odds_ratio": "odds, exp(2Σwλ)",
    "probability": "probability of a win given a decision, at odds exp(2Σwλ)",
    "elo": "Elo, 400·log10 of the odds exp(2Σwλ)",
}
_ADJUSTED = {
    "single-step": "single-step",
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "fdr_bh": "Benjamini and Hochberg's method (false discovery rate)",
    None: "not adjusted",
}
_MOST_ROWS = 60
_SAME = 1e-9  # log-worths closer than that are equal
_KNOWN = 1e-12  # a variance below this share of the largest is rounding: nothing was estimated


# -- single contrasts ------------------------------------------------------------------------------------


def contrasts(
    res: LLBTResults,
    weights: Mapping[str, Mapping[Any, float] | str],
    *,
    at: At = None,
    scale: Scale = "log_odds",
    confidence: float = 0.95,
) -> Table:
    """Return estimate, test and interval of named contrasts of the objects' log-worths.

    Parameters
    ----------
    res : LLBTResults
    weights : mapping of str to mapping or str
        Name of the contrast → weight of each object, with sum 0 (objects that are not named have weight 0), or a
        hypothesis about the parameters as in ``res.t_test``, such as ``"object[A] = object[B]"``.
    at : mapping or "average", optional
        Where the log-worths are taken when they differ by covariates: ``{"judge": "J3"}``; hypotheses in words name
        parameters and are taken as they are.
    scale : {"log_odds", "log_worth", "odds_ratio", "elo", "probability"}
        Of estimates and intervals; with ``"log_worth"``, that of the parameters, those of ``res.t_test``.
    confidence : float
        Of each interval by itself.

    Returns
    -------
    Table
        term, estimate, std_error, statistic, p_value, conf_low, conf_high; one row per contrast. Statistic and p-value
        test that the contrast is 0 (odds 1); for odds and probabilities the standard error is by the delta method and
        the interval is transformed. NaN where the table does not determine the contrast.

    Raises
    ------
    DesignError
        For unknown objects, weights that do not sum to 0, and hypotheses about ties on another scale than
        ``"log_worth"``.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> table = llbt.contrasts(res, {"A vs rest": {"A": 1, "B": -1 / 3, "C": -1 / 3, "D": -1 / 3}})
    >>> table.to_frame()[["term", "estimate"]].round(3).values.tolist()
    [['A vs rest', 2.566]]
    """
    check_options("contrasts", scale, confidence)
    if not isinstance(weights, Mapping) or not weights:
        raise DesignError(
            "contrasts: expected a mapping of names to weights or hypotheses, such as {'A vs B': {'A': 1, 'B': -1}}; "
            f"found {'none' if isinstance(weights, Mapping) else type(weights).__name__}."
        )
    rows, notes = _linear(res, weights, at, scale)
    estimate = np.concatenate([row.estimate for row in rows])
    error = np.sqrt(np.maximum(np.concatenate([np.diag(row.cov) for row in rows]), 0))
    df = res.df_inference
    z = _ratio(estimate, error)
    shown, shown_error, low, high = on_scale(scale, estimate, error, critical(confidence, df))
    labels = [label for row in rows for label in row.labels]
    return Table(
        (
            *coefficient_fields(labels, shown, shown_error, z, two_sided_p(z, df), df),
            Field("conf_low", f"{100 * confidence:.4g} % low", low, "estimate"),
            Field("conf_high", "high", high, "estimate"),
        ),
        title=f"Contrasts: {_CONTRASTS[scale]}",
        notes=notes,
    )


def _linear(
    res: LLBTResults, weights: Mapping[str, Mapping[Any, float] | str], at: At, scale: Scale
) -> tuple[list[Linear], tuple[str, ...]]:
    """Return the contrasts, in their order, and notes."""
    rows = {name: _in_words(res, name, value, scale) for name, value in weights.items() if isinstance(value, str)}
    notes: tuple[str, ...] = ()
    if at is not None or len(rows) < len(weights):
        if at is not None and rows:
            notes = ("hypotheses in words are about the parameters as they are, whatever at= says",)
        found, where = log_worths_at(res, at, "contrasts")
        notes = (*where, *notes)
        rows |= {name: _one(res, name, value, found) for name, value in weights.items() if name not in rows}
    return [rows[name] for name in weights], notes


def _one(res: LLBTResults, name: str, weights: Any, found: LogWorths) -> Linear:
    """Return the contrast of log-worths that a mapping of weights describes."""
    row = _weights(res, name, weights)
    matrix = (row @ found.rows)[None, :]
    estimate = matrix @ np.asarray(res.params.fillna(0.0), dtype=float)
    cov = (row @ found.cov @ row).reshape(1, 1)
    cov[cov <= _KNOWN * np.diag(found.cov).max() * (row @ row)] = 0.0
    unknown = undetermined(res, csr_array(matrix))
    estimate[unknown] = cov[unknown] = np.nan
    return Linear([name], matrix, estimate, cov)


def _weights(res: LLBTResults, name: str, weights: Any) -> FloatArray:
    """Return the weights of the J objects, shape (J,)."""
    objects = res.comparisons.objects
    if not isinstance(weights, Mapping):
        raise DesignError(
            f"contrasts: {name!r} is a {type(weights).__name__}; it may be weights, such as {{{objects[0]!r}: 1, "
            f"{objects[1]!r}: -1}}, or a hypothesis in words."
        )
    unknown = [label for label in weights if label not in objects]
    if unknown:
        raise DesignError(f"contrasts: {name!r} names {listed(unknown)}; the objects are {listed(objects, 20)}.")
    bad = {k: w for k, w in weights.items() if not isinstance(w, numbers.Real) or not np.isfinite(float(w))}
    if bad:
        raise DesignError(f"contrasts: {name!r} has the weights {bad!r}; weights are finite numbers.")
    row = np.zeros(len(objects))
    for label, weight in weights.items():
        row[objects.index(label)] = weight
    largest = np.abs(row).max()
    if not largest:
        raise DesignError(f"contrasts: all weights of {name!r} are 0; it compares nothing.")
    if abs(row.sum()) > 1e-8 * largest:
        raise DesignError(
            f"contrasts: the weights of {name!r} sum to {format_number(float(row.sum()))}; log-worths have no zero of "
            "their own, so weights have to sum to 0: {'A': 1, 'B': -0.5, 'C': -0.5}."
        )
    return row


def _in_words(res: LLBTResults, name: str, text: str, scale: Scale) -> Linear:
    """Return the hypotheses that a text describes, named."""
    found = _estimated(res, text)
    ties = [n for n, block in zip(res.names, res.design.blocks, strict=True) if block == "tie"]
    used = [n for n in ties if found.matrix[:, res.names.index(n)].any()]
    if used and scale != "log_worth":
        raise DesignError(
            f"contrasts: {name!r} is about {listed(used)}, which has no {scale}; ask for scale='log_worth', or "
            f"res.t_test({text!r})."
        )
    labels = [name] if len(found.labels) == 1 else [f"{name}: {label}" for label in found.labels]
    return Linear(labels, found.matrix, found.estimate, found.cov)


# -- all pairs -------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class Pairwise(Record):
    """Every pair of objects compared. J objects, m = J(J − 1)/2 pairs.

    Made by `pairwise`; `compact_letters` and `significance_clusters` read it.

    Attributes
    ----------
    objects : tuple, length J
    pairs : ndarray of int, shape (m, 2)
        Positions of i and j.
    log_worths : ndarray, shape (J,)
        Log-worths λ with mean 0; NaN for objects that take no part.
    std_error : ndarray, shape (m,)
        Of the differences λ_i − λ_j.
    p_value, p_adjusted : ndarray, shape (m,)
    critical : float
        Quantile of max |z| over all pairs, for the simultaneous intervals.
    df : float
        Degrees of freedom behind tests and intervals; infinite for the normal.
    scale : str
        Of the printed estimates.
    adjust : str or None
    confidence : float
    notes : tuple of str
    """

    objects: tuple[Label, ...]
    pairs: IntArray
    log_worths: FloatArray
    std_error: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    critical: float
    df: float
    scale: Scale
    adjust: Adjust | None
    confidence: float
    notes: tuple[str, ...]

    @property
    def difference(self) -> FloatArray:
        """Differences of log-worths λ_i − λ_j, shape (m,)."""
        i, j = self.pairs.T
        return np.asarray(self.log_worths[i] - self.log_worths[j])

    @property
    def statistic(self) -> FloatArray:
        """Differences over their standard errors, shape (m,); NaN where nothing was estimated."""
        return _ratio(self.difference, self.std_error)

    @property
    def significant(self) -> npt.NDArray[np.bool_]:
        """Whether the adjusted p-value is below 1 − confidence, shape (m,)."""
        known = np.abs(self.difference) > _SAME  # where the model itself says it
        return np.where(self.std_error > 0, self.p_adjusted < 1 - self.confidence, known)

    @property
    def apart(self) -> npt.NDArray[np.bool_]:
        """Whether the simultaneous interval leaves out equality, shape (m,)."""
        half = np.where(self.std_error > 0, self.critical * self.std_error, _SAME)
        return np.abs(self.difference) > half

    @property
    def ranking(self) -> IntArray:
        """Positions of the objects that take part, the best first."""
        rounded = np.round(self.log_worths / _SAME)
        return np.argsort(-rounded, kind="stable")[: int(np.sum(~np.isnan(rounded)))]

    def better(self, which: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return whether the object of the row is the better one of such a pair (m,), shape (J, J)."""
        matrix = np.zeros((len(self.objects), len(self.objects)), dtype=np.bool_)
        for (i, j), ahead in ((self.pairs.T, self.difference > 0), (self.pairs.T[::-1], self.difference < 0)):
            matrix[i[which & ahead], j[which & ahead]] = True
        return matrix

    def table(self) -> Table:
        """Return object_i, object_j, estimate, std_error, statistic, p_value, p_adjusted, conf_low, conf_high."""
        estimate, error, low, high = on_scale(self.scale, self.difference, self.std_error, self.critical)
        letter = "z" if np.isinf(self.df) else "t"
        sides = [[self.objects[k] for k in column] for column in self.pairs.T]
        rest = len(self.pairs) - _MOST_ROWS
        level = f"{100 * self.confidence:.4g} %"
        return Table(
            (
                Field("object_i", "object_i", sides[0]),
                Field("object_j", "object_j", sides[1]),
                Field("estimate", "Estimate", estimate, "estimate"),
                Field("std_error", "Std. Error", error, "estimate"),
                Field("statistic", f"{letter} value", self.statistic, "statistic"),
                Field("p_value", f"Pr(>|{letter}|)", self.p_value, "p_value"),
                Field("p_adjusted", "adjusted", self.p_adjusted, "p_value"),
                Field("", "", self.p_adjusted, "stars"),
                Field("conf_low", f"{level} low", low, "estimate"),
                Field("conf_high", "high", high, "estimate"),
            ),
            title=f"Pairwise comparisons: {_DIFFERENCES[self.scale]}",
            notes=(
                *self.notes,
                f"p-values: {_ADJUSTED[self.adjust]}; {level} intervals simultaneous, |{letter}| up to "
                + format_number(self.critical, 4),
            ),
            shown=tuple(range(_MOST_ROWS)) if rest > 0 else None,
            more=f"… {format_count(rest)} more rows: .to_frame()" if rest > 0 else "",
        )


def pairwise(
    res: LLBTResults,
    *,
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    at: At = None,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Pairwise:
    """Compare every pair of objects: estimates, tests, adjusted p-values and simultaneous intervals.

    Parameters
    ----------
    res : LLBTResults
    scale : {"log_odds", "log_worth", "odds_ratio", "elo", "probability"}
        Of estimates and intervals: 2(λ_i − λ_j), λ_i − λ_j, the odds exp(2(λ_i − λ_j)), 400·log10 of the odds, or
        P(i beats j | decided) = 1/(1 + exp(−2(λ_i − λ_j))). Tests are the same on all of them.
    adjust : {"single-step", "holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the number of pairs: single-step, Holm and Bonferroni control the chance of any
        false finding, ``"fdr_bh"`` the expected share of false findings, None nothing.
    at : mapping or "average", optional
        Where the log-worths are taken when they differ by covariates: ``{"judge": "J3"}``.
    confidence : float
        Of all intervals together, whatever `adjust` says.
    rng : int or numpy.random.Generator
        For the simulated distribution of max |z|. The default seed makes printouts repeatable; other seeds move the
        intervals by about a thousandth of their width.

    Returns
    -------
    Pairwise
        object_i, object_j, estimate, std_error, statistic, p_value, p_adjusted, conf_low, conf_high; one row per pair.
        Intervals are made on the log-odds scale and transformed. NaN for objects whose log-worth the table does not
        determine: they were not compared with the others at `at`, and do not count as pairs.

    Raises
    ------
    DesignError
        For log-worths that differ between classes and no `at`, and for options that are not known.

    Notes
    -----
    Single-step: p-values and intervals come from the distribution of the largest |z| over all pairs, with the
    correlation that they have, so they agree with each other and are never wider than Bonferroni's. For equal
    variances and correlations this is Tukey's method.

    References
    ----------
    Hothorn, T., Bretz, F. & Westfall, P. (2008). Simultaneous inference in general parametric models. Biometrical
    Journal 50(3), 346-363.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> pairs = llbt.pairwise(res)
    >>> pairs.to_frame()[["object_i", "object_j", "estimate", "p_adjusted"]].round(3).values.tolist()[:3]
    [['A', 'B', 2.997, 0.0], ['A', 'C', 3.9, 0.0], ['A', 'D', 0.801, 0.0]]
    """
    check_options("pairwise", scale, confidence)
    if adjust is not None and adjust not in get_args(Adjust):
        known = ", ".join(map(repr, get_args(Adjust)))
        raise DesignError(f"pairwise: adjust={adjust!r} is not known; it may be {known} or None.")
    generator = as_generator(rng, "pairwise")
    found, notes = centred(res, at, "pairwise")
    return all_pairs(res, found, generator, scale=scale, adjust=adjust, confidence=confidence, notes=notes)


def all_pairs(
    res: LLBTResults,
    found: LogWorths,
    rng: np.random.Generator,
    *,
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    confidence: float = 0.95,
    notes: tuple[str, ...] = (),
) -> Pairwise:
    """Return every pair of objects compared, from the centred log-worths of one class."""
    objects, df = res.comparisons.objects, res.df_inference
    pairs = np.column_stack(np.triu_indices(len(objects), 1)).astype(np.int64)
    difference = found.estimate[pairs[:, 0]] - found.estimate[pairs[:, 1]]
    error = _pair_errors(found, pairs)
    distribution = _largest(found, pairs, error, df, rng)
    statistic = _ratio(difference, error)
    p_value = two_sided_p(statistic, df)
    return Pairwise(
        objects,
        pairs,
        found.estimate,
        error,
        p_value,
        _adjusted(statistic, p_value, adjust, distribution),
        distribution.quantile(confidence),
        df,
        scale,
        adjust,
        confidence,
        notes,
    )


def _adjusted(statistic: FloatArray, p_value: FloatArray, adjust: Adjust | None, distribution: MaxZ) -> FloatArray:
    if adjust is None:
        return p_value
    return distribution.p_value(statistic) if adjust == "single-step" else adjust_p(p_value, adjust)


def _pair_errors(found: LogWorths, pairs: IntArray) -> FloatArray:
    """Return the standard errors of differences of log-worths; NaN where they are not determined, 0 where known."""
    i, j = pairs.T
    variances = np.diag(found.cov)
    variance = variances[i] + variances[j] - 2 * found.cov[i, j]
    variance[variance <= _KNOWN * variances.max(initial=0.0)] = 0.0
    variance[np.isnan(found.estimate[i] - found.estimate[j])] = np.nan
    return np.asarray(np.sqrt(variance))


def _largest(found: LogWorths, pairs: IntArray, error: FloatArray, df: float, rng: np.random.Generator) -> MaxZ:
    """Return the distribution of the largest |z| over the pairs that were estimated."""
    rows = np.flatnonzero(error > 0)
    weights = np.column_stack([1 / error[rows], -1 / error[rows]]).ravel()
    where = (np.repeat(np.arange(len(rows)), 2), pairs[rows].ravel())
    return max_z(csr_array((weights, where), shape=(len(rows), len(found.cov))), found.cov, df, rng)


# -- letters and clusters --------------------------------------------------------------------------------


def compact_letters(pairs: Pairwise) -> Table:
    """Return letters such that two objects share one exactly when they do not differ significantly.

    Parameters
    ----------
    pairs : Pairwise
        Significant is an adjusted p-value below 1 − ``pairs.confidence``, adjusted as `pairwise` was asked to.

    Returns
    -------
    Table
        object, group; the best object first. Objects that take no part have no letter.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
    Computational and Graphical Statistics 13(2), 456-466.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> llbt.compact_letters(llbt.pairwise(res)).to_frame().values.tolist()
    [['A', 'a'], ['D', 'b'], ['B', 'c'], ['C', 'd']]
    """
    _check_pairwise(pairs, "compact_letters")
    letters = letters_of(pairs)
    order = best_first(pairs)
    return Table(
        (
            Field("object", "object", [pairs.objects[k] for k in order]),
            Field("group", "group", [letters[k] for k in order]),
        ),
        title="Compact letters: objects that share a letter do not differ significantly",
        notes=(*pairs.notes, _significance(pairs)),
    )


def significance_clusters(pairs: Pairwise) -> Table:
    """Return the ranking cut where every object above is significantly better than every object below.

    Parameters
    ----------
    pairs : Pairwise
        Significant is an adjusted p-value below 1 − ``pairs.confidence``, adjusted as `pairwise` was asked to; the
        WMT tables do not adjust (``adjust=None``).

    Returns
    -------
    Table
        object, significance_cluster (1, 2, …; NaN for objects that take no part); the best object first.

    References
    ----------
    Bojar, O. et al. (2013). Findings of the 2013 Workshop on Statistical Machine Translation. WMT, 1-44.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> llbt.significance_clusters(llbt.pairwise(res)).to_frame().values.tolist()
    [['A', 1], ['D', 2], ['B', 3], ['C', 4]]
    """
    _check_pairwise(pairs, "significance_clusters")
    number = np.array(statistics.significance_clusters(pairs.better(pairs.significant), pairs.ranking.tolist()))
    order = best_first(pairs)
    values = number if number.all() else np.where(number > 0, number, np.nan)
    return Table(
        (
            Field("object", "object", [pairs.objects[k] for k in order]),
            Field("significance_cluster", "cluster", values[order], "count"),
        ),
        title="Significance clusters: all objects above a break are significantly better than all below",
        notes=(*pairs.notes, _significance(pairs)),
    )


def letters_of(pairs: Pairwise) -> list[str]:
    """Return the letters of the J objects, empty for those that take no part."""
    better = pairs.better(pairs.significant)
    return statistics.compact_letters(better | better.T, pairs.ranking.tolist())


def best_first(pairs: Pairwise) -> IntArray:
    """Return the positions of all J objects, the best first and those that take no part last."""
    return np.append(pairs.ranking, np.flatnonzero(np.isnan(pairs.log_worths)))


def _check_pairwise(pairs: object, asker: str) -> None:
    if not isinstance(pairs, Pairwise):
        raise DesignError(
            f"{asker}: found a {type(pairs).__name__}; it takes what llbt.pairwise returns: "
            f"llbt.{asker}(llbt.pairwise(res))."
        )


def _significance(pairs: Pairwise) -> str:
    return f"significant: p < {1 - pairs.confidence:.4g}, p-values {_ADJUSTED[pairs.adjust]}"


# -- shared ----------------------------------------------------------------------------------------------


def centred(res: LLBTResults, at: At, asker: str) -> tuple[LogWorths, tuple[str, ...]]:
    """Return the log-worths of one class less their mean, and notes.

    Only objects whose differences the table determines take part: the largest such group. The log-worths of the
    others are NaN, and a note names them.
    """
    found, notes = log_worths_at(res, at, asker)
    inside = _comparable(res, found.rows)
    out = [label for label, kept in zip(res.comparisons.objects, inside, strict=True) if not kept]
    if out:
        notes = (*notes, f"NA: the table does not compare {listed(out)} with the others here")
    center = inside[:, None] * (np.eye(len(inside)) - inside / inside.sum())
    rows = center @ found.rows
    estimate = rows @ np.asarray(res.params.fillna(0.0), dtype=float)
    return LogWorths(rows, np.where(inside, estimate, np.nan), center @ found.cov @ center.T), notes


def _comparable(res: LLBTResults, rows: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which objects are in the largest group whose differences the table determines, shape (J,)."""
    group = np.full(len(rows), -1)
    while (group < 0).any():
        first = int(np.argmax(group < 0))
        group[(group < 0) & ~undetermined(res, csr_array(rows - rows[first]))] = first
    return np.asarray(group == np.bincount(group).argmax())


def on_scale(
    scale: Scale, difference: FloatArray, error: FloatArray, z: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return estimate, standard error and interval ± z of differences of log-worths, shape (m,) each."""
    factor = FACTORS.get(scale, 2.0)
    center, spread = factor * difference, factor * error
    low, high = center - z * spread, center + z * spread
    with np.errstate(over="ignore"):
        if scale == "odds_ratio":
            return np.exp(center), np.exp(center) * spread, np.exp(low), np.exp(high)
        if scale == "probability":
            share = special.expit(center)
            return share, share * special.expit(-center) * spread, special.expit(low), special.expit(high)
    return center, spread, low, high


def critical(confidence: float, df: float) -> float:
    """Return the quantile of |z| (or |t|) of one interval."""
    return float(stats.t.isf((1 - confidence) / 2, df))


def check_options(asker: str, scale: object, confidence: object) -> None:
    """Check a scale and a level of confidence."""
    if scale not in get_args(Scale):
        known = ", ".join(map(repr, get_args(Scale)))
        raise DesignError(f"{asker}: scale={scale!r} is not known; it may be {known}.")
    if not isinstance(confidence, numbers.Real) or not 0 < float(confidence) < 1:
        raise DesignError(f"{asker}: confidence={confidence!r}; it lies between 0 and 1, .95 for 95 % intervals.")


def _ratio(estimate: FloatArray, error: FloatArray) -> FloatArray:
    """Return estimates over standard errors; NaN where nothing was estimated."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 0, estimate / error, np.nan)
