"""Item difficulty and effects of systems: score ~ system + item, for 0/1 scores and for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from ..base.arguments import Confidence, Rng, as_generator, checked
from ..base.budgets import refuse_square
from ..base.table import Field, Note, Record, Table, counted, format_number, in_order, interval_fields, named
from ..core.columns import FloatArray, Label
from ..core.max_z import max_z
from ..core.statistics import critical_value, ratio, two_sided_p
from ..errors import DesignError, SeparationError, listed
from ..inference.mean_squares import MeanSquares
from ..kernel.newton import check_convergence
from ..kernel.robust import effective_clusters
from .adjusted_means import adjusted_means
from .board import Board, group_of, unused_facts
from .board_counts import are_right_or_wrong
from .conditional_rasch import BoolArray, fit_conditionally, inverse_of_contrasts, item_difficulties, kinds_of_items
from .grouped_tests import Units

_MOST_ROWS = 60
_FEWEST_GROUPS = 2 - 1e-9  # of equal size, below which nothing is known of how groups differ
_INDEPENDENT = "Pass by='item' to take items as independent."
_ROUNDING = 1e-9  # a share that is 0: of a residual in the scores, of the error that a residual keeps


@dataclass(frozen=True, eq=False)
class _Fit:
    """A model of scores (N, M): effects that sum to 0, their covariance, and the M difficulties."""

    effect: FloatArray
    covariance: FloatArray
    df: float
    difficulty: FloatArray
    item_fit: MeanSquares


@dataclass(frozen=True, repr=False, eq=False)
class Difficulty(Record):
    """Effects of N systems at equal items, and difficulties of M items. Made by `llbt.scores.difficulty`.

    Attributes
    ----------
    systems : tuple, length N
        The best first.
    estimate, std_error, conf_low, conf_high : ndarray, shape (N,)
        Effects minus their mean: log-odds of a score of 1, or score units.
    covariance : ndarray, shape (N, N)
        Covariance of the estimates.
    df : float
        Degrees of freedom of intervals and tests; infinite for the normal distribution.
    items : tuple, length M
    difficulty : ndarray, shape (M,)
        In log-odds: a system whose effect equals the difficulty solves the item with probability .5. In score units:
        how much worse the scores on the item are than on the average item. Hard items have large values.
    correlation : ndarray, shape (M,)
        The correlation of the scores on the item with the effects of the systems. Below 0, better systems do worse.
    item_fit : MeanSquares
        Infit and outfit of the items: far above 1 if scores do not follow the effects of the systems.
    model : str
        ``"Rasch"`` or ``"additive"``.
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.scores.difficulty(board)"

    systems: tuple[Label, ...]
    estimate: FloatArray
    std_error: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    covariance: FloatArray
    df: float
    items: tuple[Label, ...]
    difficulty: FloatArray
    correlation: FloatArray
    item_fit: MeanSquares
    model: str
    confidence: float
    notes: tuple[str, ...]

    @property
    def misfits(self) -> tuple[Label, ...]:
        """Items whose infit is larger than the model allows."""
        return tuple(label for label, misfit in zip(self.items, self.item_fit.misfits, strict=True) if misfit)

    @property
    def _unit(self) -> str:
        return "log-odds" if self.model == "Rasch" else "score"

    def table(self) -> Table:
        """Return object, estimate, std_error, conf_low, conf_high; the best first."""
        odd = self.misfits
        how = f"{len(odd)} of {len(self.items)}: {named(odd)}" if odd else f"none of {len(self.items)}"
        return Table(
            (
                Field("object", "System", list(self.systems)),
                Field("estimate", f"Effect ({self._unit})", self.estimate, "estimate"),
                Field("std_error", "Std. Error", self.std_error, "estimate"),
                *interval_fields(self.conf_low, self.conf_high, self.confidence),
            ),
            title=f"Systems at equal items: {self.model} model",
            head=(f"Misfitting items (infit larger than the model allows): {how}.",),
            notes=self.notes,
        ).first(_MOST_ROWS, "more system")

    @checked
    def pair_table(self, *, rng: Rng = 0) -> Table:
        """Return every pair of systems compared at equal items, the better system first.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            For the simulated distribution of the largest |z| of all pairs.

        Returns
        -------
        Table
            object_i, object_j, estimate (effect of i minus effect of j), std_error, statistic, p_value, p_adjusted,
            conf_low, conf_high. Adjusted p-values and intervals are simultaneous (Hothorn, Bretz & Westfall 2008).

        Examples
        --------
        >>> import llbt
        >>> solved = {"a": "1110111010", "b": "1100101011", "c": "0100010010"}
        >>> rows = [{"system": s, "item": k, "score": int(x)} for s, row in solved.items() for k, x in enumerate(row)]
        >>> pairs = llbt.scores.difficulty(llbt.scores.read_board(rows)).pair_table().to_frame()
        >>> pairs[["object_i", "object_j", "estimate", "p_value"]].round(2).values.tolist()
        [['a', 'b', 0.76, 0.55], ['a', 'c', 2.4, 0.08], ['b', 'c', 1.64, 0.18]]
        """
        refuse_square("the table of all pairs", len(self.systems))
        i, j = np.triu_indices(len(self.systems), 1)
        variances = np.diag(self.covariance)
        error = np.sqrt(np.maximum(variances[i] + variances[j] - 2 * self.covariance[i, j], 0.0))
        apart = self.estimate[i] - self.estimate[j]
        statistic = ratio(apart, error)
        errors = np.full(self.covariance.shape, np.inf)
        errors[i, j] = errors[j, i] = np.where(error > 0, error, np.inf)
        largest = max_z(errors, self.covariance, self.df, as_generator(rng))
        half = largest.quantile(self.confidence) * error
        return Table(
            (
                Field("object_i", "System i", [self.systems[k] for k in i]),
                Field("object_j", "System j", [self.systems[k] for k in j]),
                Field("estimate", f"Difference ({self._unit})", apart, "estimate"),
                Field("std_error", "Std. Error", error, "estimate"),
                Field("statistic", "z" if np.isinf(self.df) else "t", statistic, "statistic"),
                Field("p_value", "p", two_sided_p(statistic, self.df), "p_value"),
                Field("p_adjusted", "p adjusted", largest.p_value(statistic), "p_value"),
                *interval_fields(apart - half, apart + half, self.confidence),
            ),
            title=f"Pairs of systems at equal items: {self.model} model",
            head=("Adjusted p-values and intervals are simultaneous over all pairs.",),
            notes=self.notes,
        ).first(_MOST_ROWS, "more pair")

    def item_table(self) -> Table:
        """Return item, n, difficulty, correlation, infit, outfit, statistic, p_value, misfit; the hardest first."""
        fit = self.item_fit
        table = Table(
            (
                Field("item", "Item", list(self.items)),
                Field("n", "Scores", fit.judgments, "count"),
                Field("difficulty", f"Difficulty ({self._unit})", self.difficulty, "estimate"),
                Field("correlation", "Correlation with effects", self.correlation, "number", 3, decimals=2),
                Field("infit", "infit", fit.infit, "number", 3, decimals=2),
                Field("outfit", "outfit", fit.outfit, "number", 3, decimals=2),
                Field("statistic", "z", fit.statistic, "statistic"),
                Field("p_value", "p adjusted", fit.p_value, "p_value"),
                Field("misfit", "", ["misfit" if misfit else "" for misfit in fit.misfits]),
            ),
            title="Difficulty and fit of the items: mean squares, about 1 if the model holds",
        )
        return in_order(table, np.argsort(-self.difficulty, kind="stable")).first(_MOST_ROWS, "more item")


@checked
def difficulty(board: Board, *, by: str = "auto", confidence: Confidence = 0.95) -> Difficulty:
    """Return the effects of systems at equal items, and the difficulties of the items: score ~ system + item.

    Scores of 0 and 1 follow the Rasch model: the log-odds of a 1 are the effect of the system minus the difficulty of
    the item. The effects maximize the likelihood given the total of each item, so the many difficulties do not bias
    them. Other scores are modelled as the sum of a system effect and an item effect, by least squares. Systems that
    lack scores are compared on the items they share.

    Parameters
    ----------
    board : Board
        The result of `llbt.scores.read_board`.
    by : str
        Items of one group may depend on each other: standard errors are clustered. ``"auto"``: the groups that the
        board knows, such as repositories or documents; a column of ``board.facts``; ``"item"``: items are independent.
    confidence : float
        The confidence of each single interval.

    Returns
    -------
    Difficulty
        object, estimate, std_error, conf_low, conf_high; ``.item_table()`` has the items, ``.pair_table()`` the pairs
        of systems.

    Raises
    ------
    SeparationError
        For 0/1 scores with infinite effects: for example, a system solved all items, or none.
    DesignError
        For systems that no shared items connect, if fewer than two items separate systems, and for fewer than two
        groups.
    OptionError
        For groups that the board does not know.

    Notes
    -----
    With groups, standard errors leave out each group: the influences of its items on the effects are summed to ψ_g, and
    the covariance is (G − 1)/G Σ_g ψ_g ψ_gᵀ/(1 − n_g/n)², where n_g of the n items are in group g. Intervals have
    G* − 1 degrees of freedom, G* = n²/Σ n_g². Without missing scores, standard errors of differences in the additive
    model are equal to those of `leaderboard`. Tests of item fit still take items as independent.

    Without groups the Rasch model takes systems as independent, given the item. If systems of one family solve the same
    items, its standard errors are too large for differences within the family, and too small for other differences. The
    additive model allows for families: without missing scores its standard errors of differences are those of the
    paired t test.

    Infit is Σ(x − e)²/Σv, with expectation e and variance v of a score x, given the total of its item in the Rasch
    model; its p-values are adjusted by Holm's method. P-values of the additive model need normal errors.

    References
    ----------
    Andersen, E. B. (1970). Asymptotic properties of conditional maximum-likelihood estimators. Journal of the Royal
    Statistical Society B, 32, 283–301.

    Examples
    --------
    >>> import llbt
    >>> solved = {"a": "1110111010", "b": "1100101011", "c": "0100010010"}
    >>> rows = [{"system": s, "item": k, "score": int(x)} for s, row in solved.items() for k, x in enumerate(row)]
    >>> difficulty = llbt.scores.difficulty(llbt.scores.read_board(rows))
    >>> difficulty.to_frame()[["object", "estimate", "std_error"]].round(2).values.tolist()
    [['a', 1.05, 0.79], ['b', 0.3, 0.69], ['c', -1.35, 0.75]]
    >>> difficulty.item_table().to_frame()["item"].tolist()
    [2, 9, 0, 4, 5, 6]
    """
    scores = board.scores
    there = ~np.isnan(scores.values)
    is_binary = are_right_or_wrong(scores.values)
    informative: BoolArray = _mixed(scores.values) if is_binary else np.asarray(there.any(axis=0))
    values = scores.values[:, informative]
    if values.shape[1] < 2:
        raise DesignError(
            f"{counted(values.shape[1], 'item')} can tell systems apart", "Read more items.", expected="at least two"
        )
    chosen = group_of(board, by)
    units = _units(board, chosen, informative)
    fit = (_rasch if is_binary else _additive)(values, board.systems, units)
    sign = 1.0 if scores.higher_is_better else -1.0
    order = np.argsort(-sign * fit.effect, kind="stable")
    estimate, covariance = fit.effect[order], fit.covariance[np.ix_(order, order)]
    error = np.sqrt(np.diag(covariance))
    half = critical_value(confidence, fit.df) * error
    return Difficulty(
        tuple(board.systems[k] for k in order),
        estimate,
        error,
        estimate - half,
        estimate + half,
        covariance,
        fit.df,
        tuple(label for label, inside in zip(board.items, informative, strict=True) if inside),
        sign * fit.difficulty,
        _correlations(values, fit.effect),
        fit.item_fit,
        "Rasch" if is_binary else "additive",
        confidence,
        (
            *board.notes,
            *_notes(chosen, units, int((~informative).sum()), is_binary=is_binary),
            *unused_facts(board, chosen),
        ),
    )


def _units(board: Board, by: str | None, informative: BoolArray) -> Units:
    """Return the groups of the items that are kept; without groups, each item is its own group."""
    if by is None:
        return Units.of(np.arange(informative.sum()))
    column = board.facts[by][informative]
    if column.isna().any():
        raise DesignError(f"by={by!r}: {counted(int(column.isna().sum()), 'item')} without a value", _INDEPENDENT)
    units = Units.of(pd.factorize(column)[0].astype(np.int64))
    effective = effective_clusters(units.sizes)[1]
    if effective < _FEWEST_GROUPS:
        raise DesignError(
            f"{by} has {counted(units.number, 'group')} among the items that tell systems apart, equivalent to "
            f"{format_number(effective, 3)} groups of equal size",
            _INDEPENDENT,
            expected="at least two",
        )
    return units


def _notes(by: str | None, units: Units, gone: int, *, is_binary: bool) -> list[str]:
    why = "left out: all of their systems solved them, or none did" if is_binary else "left out: they have no score"
    notes: list[str] = [Note(gone, "item", why)] if gone else []
    if by is not None:
        effective = format_number(effective_clusters(units.sizes)[1], 3)
        notes.append(
            f"clustered by {units.number} groups of {by} (G* = {effective}); by='item' takes items as independent"
        )
    return notes


def _mixed(values: FloatArray) -> BoolArray:
    """Return the items that some system solved and another system did not."""
    return np.asarray((values == 1).any(axis=0) & (values == 0).any(axis=0))


def _rasch(values: FloatArray, systems: tuple[Label, ...], units: Units) -> _Fit:
    _refuse_infinite(values, systems)
    kinds, kind = kinds_of_items(values)
    search = fit_conditionally(values, kinds)
    point = search.point
    check_convergence(_Ending(search.converged, search.n_iter, point.gradient))
    there = ~np.isnan(values)
    given = point.probability[:, kind]
    variance = np.where(there, given * (1 - given), 0.0)
    square = np.where(there, (values - given) ** 2, 0.0)
    n, total = there.sum(axis=0).astype(np.float64), variance.sum(axis=0)
    fit = MeanSquares.tested(
        n,
        ratio(square.sum(axis=0), total),
        np.where(there, ratio(square, variance), 0.0).sum(axis=0) / n,
        ratio(np.sqrt(np.maximum(point.spread[kind], 0.0)), total),
    )
    hard = item_difficulties(point.params, kinds.there, kinds.totals)[kind]
    inverse = inverse_of_contrasts(point.information)
    if units.single:
        return _Fit(point.params, inverse, np.inf, hard, fit)
    influence = units.sums(inverse @ np.where(there, values - given, 0.0)) / (1 - units.sizes / units.sizes.sum())
    root = influence * np.sqrt(1 - 1 / units.number)
    return _Fit(point.params, root @ root.T, effective_clusters(units.sizes)[1] - 1, hard, fit)


@dataclass(frozen=True, eq=False)
class _Ending:
    converged: bool
    n_iter: int
    gradient: FloatArray


def _refuse_infinite(values: FloatArray, systems: tuple[Label, ...]) -> None:
    """Raise for infinite effects: finite effects need a chain of items from each system to every other system.

    A link is an item that one system solved and the other did not.
    """
    right, wrong = (values == 1).astype(np.float64), (values == 0).astype(np.float64)
    ahead = right @ wrong.T > 0
    _refuse_parts(ahead, systems)
    number, part = connected_components(ahead, directed=True, connection="strong")
    if number == 1:
        return
    largest = np.bincount(part).argmax()
    extreme = [label for label, some in zip(systems, right.any(axis=1) & wrong.any(axis=1), strict=True) if not some]
    which = f"{listed(extreme)} solved all or none" if extreme else "some systems solved all that others solved"
    raise SeparationError(
        f"effects are infinite: of the items that separate systems, {which}", _without(part == largest, systems)
    )


def _refuse_parts(linked: FloatArray | BoolArray, systems: tuple[Label, ...]) -> None:
    number, part = connected_components(linked, directed=False)
    if number > 1:
        inside = part == np.bincount(part).argmax()
        apart = listed([label for label, is_inside in zip(systems, inside, strict=True) if not is_inside])
        raise DesignError(
            f"no items connect {apart} with the other systems, so they cannot be compared", _without(inside, systems)
        )


def _without(informative: BoolArray, systems: tuple[Label, ...]) -> str:
    if informative.sum() < 2:
        return "Compare means instead: board.leaderboard()."
    gone = ", ".join(repr(label) for label, inside in zip(systems, informative, strict=True) if not inside)
    return f"Leave them out: llbt.scores.difficulty(board.without({gone}))."


def _additive(values: FloatArray, systems: tuple[Label, ...], units: Units) -> _Fit:
    there = ~np.isnan(values)
    cells = there.astype(np.float64)
    _refuse_parts(cells @ cells.T, systems)
    adjusted = adjusted_means(values, units, np.nanmax(np.abs(values), axis=1))
    assert adjusted is not None  # systems are connected
    means, root = adjusted
    known: BoolArray = np.isfinite(means.std_error)
    if not known.all():
        few = listed([label for label, inside in zip(systems, known, strict=True) if not inside])
        what = "items" if units.single else "groups of items"
        raise DesignError(f"scores on fewer than two {what}: {few}", _without(known, systems))
    effect = means.mean - means.mean.mean()
    root = root - root.mean(axis=0)
    n = cells.sum(axis=0)
    item = np.where(there, values - effect[:, None], 0.0).sum(axis=0) / n
    residual = np.where(there, values - effect[:, None] - item, 0.0)
    residual[np.abs(residual) < _ROUNDING * np.nanmax(np.abs(values))] = 0.0
    # the share of its own error in a fitted score: of the item's mean, and of the effects less their mean on the item
    share = cells / n
    inverse = inverse_of_contrasts(np.diag(cells.sum(axis=1)) - share @ cells.T)
    mixed = inverse @ share
    leverage = 1 / n + np.diag(inverse)[:, None] - 2 * mixed + (share * mixed).sum(axis=0)
    free = np.where(there, np.maximum(1 - leverage, 0.0), 0.0)
    free[free < _ROUNDING] = 0.0
    df = free.sum(axis=0)
    square = ratio(residual**2, (residual**2).sum() / df.sum() * np.ones_like(residual))
    fit = MeanSquares.tested(
        n,
        ratio(square.sum(axis=0), df),
        ratio(np.where(free > 0, ratio(square, free), 0.0).sum(axis=0), (free > 0).sum(axis=0).astype(np.float64)),
        np.sqrt(ratio(np.full(len(n), 2.0), df)),
    )
    return _Fit(effect, root @ root.T, float(np.min(means.df)), item.mean() - item, fit)


def _correlations(values: FloatArray, effect: FloatArray) -> FloatArray:
    """Return the correlation of the scores (N, M) on each item with the effects; NaN where either does not vary."""
    there = ~np.isnan(values)
    n = there.sum(axis=0)

    def centred(x: FloatArray) -> FloatArray:
        known = np.where(there, x, 0.0)
        return np.where(there, known - known.sum(axis=0) / n, 0.0)

    x, y = centred(values), centred(effect[:, None])
    return ratio((x * y).sum(axis=0), np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0)))
