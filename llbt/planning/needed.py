"""How many more judgments a question needs, from a fit of the judgments so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from scipy import special, stats

from ..base.arguments import JUDGED_INSIDE, Confidence, Count, Positive, Rng, Share, as_generator, checked, is_list
from ..base.notes import Qualifying
from ..base.table import Field, Record, Table, counted, format_count, format_number, format_percent
from ..core.columns import FloatArray, IntArray, Label
from ..core.statistics import critical_value
from ..errors import DesignError, OptionError, listed, safe_repr
from ..fitting.asked_groups import Weights
from ..fitting.estimates import Estimates
from ..fitting.fitted import PlainFit
from ..fitting.plain_estimates import PlainEstimates
from ..formulas.grid import At
from ..inference.groups import groups_of
from ..inference.log_worths import LogWorths, centred
from ..inference.pair_tests import all_pairs
from ..inference.scales import FACTORS
from ..inference.simultaneous import root_of

_DRAWS = 4_000  # of estimates to come; the share of them that reach a goal is right to .007
_TRUTHS = 200  # worths that the estimates allow, for the interval of what is needed
_SPREAD = (0.1, 0.9)  # of that interval
_CELLS = 20_000_000  # draws × pairs that are held at once


@dataclass(frozen=True)
class Goal:
    """A goal, and the multiple of the current judgments that reaches it.

    Attributes
    ----------
    text : str
        The goal in words.
    factor : float
        The multiple of the units so far, at the estimates; infinite if the goal cannot be reached.
    low, high : float
        Bounds of the multiple for 80 % of the worths drawn from the distribution of the estimates.
    now : float
        The chance of reaching the goal with the current number of judgments.
    likely : float
        The probability, given the judgments so far, that the goal is true. With any number of judgments, the chance of
        reaching the goal is at most this. NaN for the width of intervals.
    same_units : float
        The largest chance with more judgments by the same units; NaN without clusters.
    """

    text: str
    factor: float
    low: float
    high: float
    now: float
    likely: float
    same_units: float


@dataclass(frozen=True, repr=False, eq=False)
class Needed(Record):
    """The number of judgments that each goal needs.

    Made by `planning.needed`.

    Attributes
    ----------
    goals : tuple of Goal
    unit : str
        What to add: clusters of the fit, or judgments.
    units : float
        Units so far.
    judgments : float
        Judgments so far.
    power : float
    """

    _made_by: ClassVar[str] = "llbt.planning.needed(res, split=1)"

    goals: tuple[Goal, ...]
    unit: str
    units: float
    judgments: float
    power: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return goal, factor, units, judgments, judgments_low, judgments_high, now, likely; a row per goal."""
        factor = np.array([goal.factor for goal in self.goals])
        low, high = (np.array([getattr(goal, name) for goal in self.goals]) for name in ("low", "high"))
        by_cluster = self.unit != "judgment"
        units = np.ceil(factor * self.units)
        return Table(
            (
                Field("goal", "goal", [goal.text for goal in self.goals]),
                Field("factor", "times", factor, "number", 3),
                *((Field("units", f"{self.unit}s", units, "count"),) if by_cluster else ()),
                Field("judgments", "judgments", np.ceil(factor * self.judgments), "count"),
                Field("judgments_low", "80 % low", np.ceil(low * self.judgments), "count"),
                Field("judgments_high", "high", np.ceil(high * self.judgments), "count"),
                Field("now", "power now", [goal.now for goal in self.goals], "number", 2),
                Field("likely", "P(goal is true)", [goal.likely for goal in self.goals], "number", 2),
            ),
            title=f"Judgments needed for a power of {format_percent(self.power)}",
            head=tuple(self._sentence(goal) for goal in self.goals),
            notes=self.notes,
            answer="judgments needed",
        )

    def _sentence(self, goal: Goal) -> str:
        """Return one goal in a sentence."""
        if math.isinf(goal.factor):
            return f"{goal.text}: no number of judgments can show this, as the estimates are equal or reversed"
        judgments = math.ceil(goal.factor * self.judgments)
        sentence = f"{goal.text}: {format_count(judgments)} judgments in all"
        if self.unit != "judgment":
            sentence += f", of {counted(math.ceil(goal.factor * self.units), self.unit)}"
        if goal.factor <= 1:
            return f"{sentence}: there are enough"
        if goal.likely < self.power:
            return f"{sentence}; but the goal is true with probability {format_number(goal.likely, 2)} only"
        return sentence


@checked
def needed(
    res: PlainFit,
    *,
    split: Annotated[int | Sequence[Label] | None, JUDGED_INSIDE] = None,
    top: Count | None = None,
    elo: Positive | None = None,
    power: Share = 0.8,
    at: At = None,
    weights: Weights = None,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
) -> Needed:
    """Return how many judgments are needed until ranks are known, from a fit of the judgments so far.

    Parameters
    ----------
    res : LLBTResults
        With ``cov_type="cautious"`` or ``"cluster"``, clusters (prompts, judges) are added, each with as many judgments
        as now.
    split : two labels, or 1
        The goal that these two objects differ significantly; 1: that the first object differs from all others.
    top : int, optional
        The goal that each of the `top` best objects differs from each of the others.
    elo : float, optional
        The goal that the interval of every object extends at most this many Elo points to either side.
    power : float
        The chance of reaching the goal.
    at : mapping or "average", optional
        Covariate values for the log-worths, if these differ by covariates: ``{"judge": "J3"}``.
    weights : data frame, optional
        A target mix: covariate values and a column ``weight`` of sum 1, as in `leaderboard`.
    confidence : float
        The confidence of the intervals and tests of the goals.
    rng : int or numpy.random.Generator

    Returns
    -------
    Needed
        A row per goal: goal, factor (times the judgments so far), units (with clusters), judgments, judgments_low,
        judgments_high (for 80 % of the worths drawn from the distribution of the estimates), now (the power with the
        current number of judgments), likely (the probability that the goal is true, which bounds the power of any
        number of judgments).

    Raises
    ------
    OptionError
        Without a goal, for objects that the table does not compare, and if `top` is not below the number of objects.
    DesignError
        For differences without a standard error.

    Notes
    -----
    needed = κ·(units so far). κ is the smallest multiple with P(goal holds for λ̂ + Lz/√κ with errors s/√κ) ≥ power,
    where z is standard normal and LLᵀ = V is the covariance of the fit. Each draw of z reaches the goal at the multiple
    κ_z = max (c − ζ_ij)² s²_ij/d²_ij, with ζ = Lz/s and d the estimated differences, so κ is a quantile of the κ_z.
    Decisions are made as in the printouts. For two objects, c is the critical value of one pair (1.96 with confidence
    .95). For the first and the best objects, c is the simultaneous critical value of all pairs. In refits (8 objects,
    prompts as clusters, 400 refits), a requested power of .80 gave .80 for a pair, .82 for the first object and .80 for
    the top three. With standard errors for independent judgments it gave .76, .68 and .72.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    >>> needed = llbt.planning.needed(res, split=["+", "-"], elo=20)
    >>> needed.to_frame()[["goal", "judgments"]].values.tolist()
    [["'+' and '-' differ", 142.0], ['every interval within ±20.0 Elo', 391.0]]
    """
    if split is None and top is None and elo is None:
        raise OptionError("no goal", expected="split=['A', 'B'], split=1, top=3 or elo=20, one or more of them")
    log_worths, notes = centred(res, at if weights is None else groups_of(res, at, None, weights, None)[0].at)
    inside = np.flatnonzero(~np.isnan(log_worths.estimate))
    order = inside[np.argsort(-log_worths.estimate[inside], kind="stable")]
    log_worths = log_worths.some(order)
    objects = tuple(res.comparisons.objects[k] for k in order)
    ahead = _Ahead.of(res, log_worths, objects, power, confidence, rng)
    goals = []
    if split is not None:
        goals.append(_split(ahead, split))
    if top is not None:
        goals.append(_top(ahead, top))
    if elo is not None:
        goals.append(_width(ahead, elo))
    unit, units = _units(res)
    noted = (
        ()
        if unit == "judgment"
        else (f"the numbers of judgments assume {format_number(res.nobs / units, 3)} for each {unit}, as now",)
    )
    limits = [goal for goal in goals if goal.same_units < power]
    more = tuple(
        Qualifying(
            f"{goal.text}: more judgments of the same {unit}s reach a power of {format_number(goal.same_units, 2)} "
            f"at most; add {unit}s"
        )
        for goal in limits
    )
    return Needed(tuple(goals), unit, units, float(res.nobs), power, (*notes, *noted, *more, *res.covariance.notes))


def _units(res: PlainEstimates) -> tuple[str, float]:
    """Return what to add and its current number: the first of the clusters of the fit, otherwise judgments."""
    groups, by_cluster = res.specification.groups, res.comparisons.cluster_counts
    if not groups or res.covariance.independent is None:
        return "judgment", float(res.nobs)
    columns = (*(by_cluster.columns if by_cluster else ()), *res.comparisons.columns)
    return groups[0], float(next(len(column.levels) for column in columns if column.name == groups[0]))


@dataclass(frozen=True, eq=False)
class _Ahead:
    """Estimates in falling order, their distribution, and the critical values of decisions.

    Attributes
    ----------
    objects : tuple of J labels, the best estimate first
    log_worths : LogWorths
    root : ndarray, shape (J, J)
        L, with LLᵀ the covariance of the estimates.
    between : ndarray, shape (J, J), or None
        The same for the variance that remains with more judgments by the same clusters; None without clusters.
    critical : float
        The simultaneous critical value of all pairs.
    alone : float
        The critical value of one pair.
    """

    objects: tuple[Label, ...]
    log_worths: LogWorths
    root: FloatArray
    between: FloatArray | None
    critical: float
    alone: float
    power: float
    rng: np.random.Generator

    @classmethod
    def of(
        cls,
        res: Estimates,
        log_worths: LogWorths,
        objects: tuple[Label, ...],
        power: float,
        confidence: float,
        rng: Rng,
    ) -> _Ahead:
        pairs = all_pairs(res, log_worths, rng, objects=objects, confidence=confidence)
        if np.isnan(pairs.std_error).any():
            raise DesignError(
                "some differences between objects have no standard error", "Ask for more judgments first."
            )
        independent, between = res.covariance.independent, None
        if independent is not None:
            rows = log_worths.rows[:, res.free]
            between = root_of(log_worths.cov - rows @ independent @ rows.T)
        alone = critical_value(confidence, np.inf)
        critical = stats.norm.isf(stats.t.sf(pairs.critical, pairs.df))  # judgments to come have more clusters
        return cls(objects, log_worths, root_of(log_worths.cov), between, critical, alone, power, as_generator(rng))

    def errors(self, root: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        """Return the standard errors of λ_i − λ_j, shape (m,)."""
        return np.asarray(np.sqrt(np.maximum(((root[i] - root[j]) ** 2).sum(axis=1), 0.0)))

    def goal(self, goal_text: str, i: IntArray, j: IntArray, critical: float) -> Goal:
        """Return the goal that each object i is significantly better than its object j, for m pairs."""
        apart = self.log_worths.estimate[i] - self.log_worths.estimate[j]
        error = self.errors(self.root, i, j)
        draws = min(_DRAWS, max(500, _CELLS // max(1, len(i))))
        drawn = self.root @ self.rng.standard_normal((len(self.root), draws))
        z = (drawn[i] - drawn[j]) / error[:, None]
        multiples = _multiples(apart / error, z, critical)
        truths = self.log_worths.estimate[:, None] + self.root @ self.rng.standard_normal((len(self.root), _TRUTHS))
        other = [_needed(_multiples((one[i] - one[j]) / error, z, critical), self.power) for one in truths.T]
        low, high = np.quantile(other, _SPREAD, method="inverted_cdf")
        drawn_truths = self.log_worths.estimate[:, None] + drawn
        likely = (
            float((drawn_truths[i] > drawn_truths[j]).all(axis=0).mean())
            if len(i) > 1
            else float(special.ndtr(apart[0] / error[0]))
        )
        factor = _needed(multiples, self.power)
        now = float((multiples <= 1).mean())
        return Goal(goal_text, factor, float(low), float(high), now, likely, self._with_same_units(i, j, critical))

    def _with_same_units(self, i: IntArray, j: IntArray, critical: float) -> float:
        """Return the largest power that more judgments by the same clusters reach; NaN without clusters."""
        if self.between is None:
            return math.nan
        apart, error = self.log_worths.estimate[i] - self.log_worths.estimate[j], self.errors(self.between, i, j)
        drawn = self.between @ self.rng.standard_normal((len(self.between), _DRAWS))
        return float((apart[:, None] + drawn[i] - drawn[j] > critical * error[:, None]).all(axis=0).mean())


def _multiples(effect: FloatArray, z: FloatArray, critical: float) -> FloatArray:
    """Return the smallest multiple κ of each draw with √κ·effect + z > c for all pairs; infinite if none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.where(effect[:, None] > 0, np.maximum(critical - z, 0.0) / effect[:, None], np.inf)
    return np.asarray(roots.max(axis=0) ** 2)


def _needed(multiples: FloatArray, power: float) -> float:
    return float(np.quantile(multiples, power, method="inverted_cdf"))


def _split(ahead: _Ahead, split: int | Sequence[Label]) -> Goal:
    """Return the goal that two objects, or the first and all others, differ."""
    size = len(ahead.objects)
    if isinstance(split, int) and not isinstance(split, bool) and split == 1:
        first, others = np.zeros(size - 1, dtype=np.int64), np.arange(1, size)
        return ahead.goal(f"{ahead.objects[0]!r} is the best", first, others, ahead.critical)
    named = list(split) if is_list(split) else []
    unknown = [label for label in named if label not in ahead.objects]
    if len(named) != 2 or named[0] == named[1] or unknown:
        raise OptionError(f"split={safe_repr(split)}", expected=f"1, or two of {listed(ahead.objects, 20)}")
    i, j = sorted(ahead.objects.index(label) for label in named)  # the better one first
    text = f"{ahead.objects[i]!r} and {ahead.objects[j]!r} differ"
    return ahead.goal(text, np.array([i]), np.array([j]), ahead.alone)


def _top(ahead: _Ahead, top: int) -> Goal:
    """Return the goal that each of the best objects differs from each of the others."""
    size = len(ahead.objects)
    if top >= size:
        raise OptionError(f"top={top} of {size} objects", expected=f"fewer than {size}")
    i, j = (side.ravel() for side in np.meshgrid(np.arange(top), np.arange(top, size), indexing="ij"))
    return ahead.goal(f"the top {top} are known", i, j, ahead.critical)


def _width(ahead: _Ahead, elo: float) -> Goal:
    """Return the goal that the interval of every object extends at most this many points to either side."""
    error = np.sqrt(np.maximum(np.diag(ahead.log_worths.cov), 0.0)).max()
    factor = float((ahead.alone * FACTORS["elo"] * error / elo) ** 2)
    same = math.nan
    if ahead.between is not None:
        left = np.sqrt((ahead.between**2).sum(axis=1)).max()
        same = float(ahead.alone * FACTORS["elo"] * left <= elo)
    text = f"every interval within ±{format_number(elo, 3)} Elo"
    return Goal(text, factor, factor, factor, float(factor <= 1), math.nan, same)
