"""Best-worst sets with normal effects of judges: likelihood, fit, results, and judges as independent units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import linalg, special

from ..base.arguments import Confidence, Count, checked
from ..base.table import Qualifying, Record, Table, format_figure
from ..core.basis import Basis, of_rankings
from ..core.columns import FloatArray, IntArray, Label, groups, summed_by
from ..core.rankings import Rankings, gathered_rankings, list_text
from ..errors import DesignError, FormulaError, OptionError
from ..formulas.brackets import split_brackets
from ..formulas.coding import Reference
from ..kernel.likelihood import inverse
from ..kernel.list_draws import drawn_extremes
from ..kernel.list_fit import FURTHEST, ListFit, ListPoint
from ..kernel.list_likelihood import Lists
from ..kernel.newton import BoolArray, InParameters, check_convergence, moving, newton
from ..kernel.profile import Held
from ..kernel.quadrature import Points, Sampling, product, trapezoid
from ..kernel.robust import Covariance
from ..resampling import steps_shown
from . import hypotheses, wald
from .attributes import COMPLETED, Attribute, missing_attribute
from .extra_rows import rows_beside
from .implied_pair_fit import worths_on_pairs
from .ranking_estimates import RankingEstimates, RankingSpecification
from .ranking_lists import rows_of
from .ranking_model import BestWorst, solved_rankings
from .ranking_prediction import Chances, chances_table
from .summary import coefficient_table_of
from .summary_rows import MOST_ROWS, Sort
from .unsupported_questions import OF_LISTS
from .worth_estimates import WorthEstimates

_MOST = 6  # most objects
# slope of the trapezoid rules, by the contrasts of the objects; with more contrasts a sample is used
_SLOPES = {1: 5.5, 2: 3.5, 3: 1.6}
# log weight, relative to the heaviest, below which points are dropped; quasi-random points
_FAR, _SAMPLED = np.log(1e-7), 4096
_TESTED = "σ has no z and no p-value: llbt.anova tests it against the fit without the bracket."
_START, _AWAY, _ZERO = 0.5, 0.1, 1e-3  # σ at the start; σ when leaving a minimum at 0; σ below which it is 0


@dataclass(frozen=True, eq=False)
class SetsByJudge:
    """log L_g = log Σ_k w_k Π P(best, worst | λ + σ z_k) for G judges, with the same N points z for all.

    `items` are the objects of each batch of `lists`, `judge` (L,) is the judge of each list, and `effects` are z (N,
    J).
    """

    lists: Lists
    items: tuple[IntArray, ...]
    judge: IntArray
    effects: FloatArray
    log_weight: FloatArray

    @classmethod
    def of(cls, base: RankingEstimates, judge: IntArray) -> SetsByJudge:
        """Return the sets of a fit without effects, by judge."""
        r, size = base.rankings, len(base.rankings.objects)
        points = _points(size - 1)
        effects = (linalg.null_space(np.ones((1, size))) @ points.at).T  # only differences of objects matter
        items = tuple(r.items[r.entries_of(some, m)] for m, some in r.of_size())
        return cls(base.lists, items, judge, effects, points.log_weight)

    def of_judge(self, g: int, params: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return log L_g, its gradient in (λ, σ), shape (p,), and minus the second derivatives (p, p)."""
        matrix, value, size = self.lists.matrix.toarray(), self.log_weight.copy(), len(params) - 1
        score, parts = np.zeros((len(value), size + 1)), []
        for batch, items in zip(self.lists.batches, self.items, strict=True):
            mine: Any = np.flatnonzero(self.judge[batch.of] == g)
            x, z, n = matrix[batch.rows[mine]], self.effects[:, items[mine]], self.lists.counts[batch.of[mine]]
            worths = x @ params[:-1] + params[-1] * z  # (N, Q, m)
            likelihood = batch.part(mine).evaluated(worths.reshape(-1, items.shape[1]), np.zeros(0))
            slope = likelihood.score.reshape(z.shape) * n[:, None]
            value += likelihood.value.reshape(z.shape[:2]) @ n
            score[:, :-1] += np.tensordot(slope, x, 2)
            score[:, -1] += (slope * z).sum(axis=(1, 2))
            parts.append((x, z, likelihood.information.reshape(*z.shape, items.shape[1]) * n[:, None, None]))
        total = float(special.logsumexp(value))
        share = np.exp(value - total)
        mean = share @ score
        bent = np.outer(mean, mean) - (score.T * share) @ score
        for x, z, within in parts:
            along = (within @ z[..., None])[..., 0]
            cross = np.tensordot(np.tensordot(share, along, 1), x, 2)
            bent[:-1, :-1] += np.einsum("qmp,qml,qlr->pr", x, np.tensordot(share, within, 1), x)
            bent[-1] += np.append(cross, share @ (along * z).sum(axis=(1, 2)))
            bent[:-1, -1] += cross
        return total, mean, bent

    def each(self, params: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the results of `of_judge` for all judges: (G,), (G, p) and (G, p, p)."""
        by_judge = [self.of_judge(g, params) for g in range(int(self.judge.max()) + 1)]
        value, score, information = (np.array(part) for part in zip(*by_judge, strict=True))
        return value, score, information

    def maximum(self, start: FloatArray, counts: FloatArray, held: BoolArray | None = None) -> ListFit:
        """Return the maximum over (λ, σ), σ ≥ 0, of Σ counts · log L."""

        def evaluate(params: FloatArray) -> ListPoint:
            value, score, information = self.each(params)
            total = float(counts @ value)
            return ListPoint(params, np.tensordot(counts, information, 1), counts @ score, total, total)

        reach = lambda step: float(np.abs(step).max())  # noqa: E731
        ascent = InParameters(evaluate, _step, moving(len(start), held), reach)
        maximum = ListFit.of(newton(ascent, evaluate(start), longest=FURTHEST))
        if maximum.information[-1, -1] < 0 and (held is None or not held[-1]):  # σ = 0 is a minimum: leave it upwards
            away = evaluate(np.append(maximum.params[:-1], _AWAY))
            maximum = ListFit.of(newton(ascent, away, longest=FURTHEST))
        sign = np.append(np.ones(len(start) - 1), np.copysign(1.0, maximum.params[-1]))  # σ and −σ mean the same
        turned = maximum.information * np.outer(sign, sign)
        return replace(maximum, params=maximum.params * sign, gradient=maximum.gradient * sign, information=turned)


def _points(size: int) -> Points:
    """Return points in `size` dimensions that are symmetric about 0, so that σ and −σ have the same likelihood."""
    if size not in _SLOPES:
        drawn = Sampling(_SAMPLED, np.inf, 0)(size)
        both = np.concatenate([drawn.at, -drawn.at], axis=1)
        return Points(both, np.tile(drawn.log_weight, 2) - np.log(2))
    rule = trapezoid(_SLOPES[size])
    points = reduce(product, [rule] * size)
    heavy = points.log_weight > points.log_weight.max() + _FAR
    log_weight = points.log_weight[heavy] - special.logsumexp(points.log_weight[heavy])
    return Points(points.at[:, heavy], log_weight)


def _step(point: ListPoint, free: IntArray) -> FloatArray:
    """Return Newton's step with absolute curvature: far from its maximum the likelihood need not be concave in σ."""
    values, vectors = linalg.eigh(point.information[np.ix_(free, free)])
    return np.asarray(vectors @ (vectors.T @ point.gradient[free] / np.maximum(np.abs(values), 1e-8)))


@Attribute
def _tvalues(fit: BestWorstEffects) -> pd.Series[float]:
    """Estimates over standard errors (z values), shape (p + 1,); NaN for σ, which cannot be below 0."""
    return _but_sigma(wald.tvalues.function(fit))


@Attribute
def _pvalues(fit: BestWorstEffects) -> pd.Series[float]:
    """Two-sided p-values of `tvalues`, shape (p + 1,)."""
    return _but_sigma(wald.pvalues.function(fit))


def _but_sigma(of: pd.Series[float]) -> pd.Series[float]:
    return of.where(np.arange(len(of)) < len(of) - 1)


@dataclass(frozen=True, repr=False, eq=False)
class BestWorstEffects(WorthEstimates, Record):
    """A fit of best-worst sets with normal effects of judges, made by `fit` of ``"object + (object | judge)"``.

    Judge g has the log-worths λ + b_g, b_g ~ N(0, σ²) independent over objects; σ is the last parameter. Estimates are
    those of the average judge. With up to four objects, effects are integrated out by trapezoid rules over contrasts of
    the objects. With five or six objects a quasi-random sample is used, and the log-likelihood is off by about .01.
    """

    _made_by: ClassVar[str] = "llbt.fit('object + (object | judge)', rankings)"
    _unanswered: ClassVar[Mapping[str, tuple[str, str]]] = {
        **OF_LISTS,
        **dict.fromkeys(
            ("judge_effects", "judges.dimension"),
            (
                "effects of judges of best-worst sets are integrated out, not estimated one by one",
                "Ask how far each judge moves the worths: llbt.influence(res).",
            ),
        ),
    }

    specification: RankingSpecification
    rankings: Rankings
    sets: SetsByJudge
    judge: str

    _completed: ClassVar[tuple[str, ...]] = COMPLETED

    def __getattr__(self, name: str) -> Any:
        raise missing_attribute(self, name)

    t_test = hypotheses.Methods.t_test
    wald_test = hypotheses.Methods.wald_test
    to_frame = WorthEstimates.to_frame

    @property
    def names_beside(self) -> tuple[str, ...]:
        """The name of σ, which is the bracket."""
        return tuple(map(str, split_brackets(self.specification.formula)[1]))

    @property
    def scale(self) -> float:
        """The standard deviation σ of the effects; 0 if judges differ by no more than chance."""
        return float(self.solution.params[-1]) if self.solution.params[-1] > _ZERO else 0.0

    tvalues = _tvalues
    pvalues = _pvalues

    @property
    def n_judgments(self) -> float:
        """Number of sets."""
        return self.rankings.n_judgments

    @property
    def answers(self) -> Rankings:
        """The sets."""
        return self.rankings

    @property
    def basis(self) -> Basis:
        """The data of the log-likelihood."""
        return of_rankings(self.rankings)

    @property
    def effective_params(self) -> float:
        """The parameters that `aic` and `bic` count, including σ."""
        return float(self.n_params)

    def _held(self, k: int) -> Held:
        which = np.arange(self.n_params) == k

        def held(start: FloatArray) -> tuple[FloatArray, FloatArray, float]:
            maximum = self.sets.maximum(start, np.ones(int(self.sets.judge.max()) + 1), which)
            return maximum.params, maximum.gradient, maximum.log_likelihood

        return held

    def _profile_bounds(self, drop: float) -> FloatArray:
        bounds = WorthEstimates._profile_bounds(self, drop)
        _, _, without = self._held(self.n_params - 1)(np.append(self.solution.params[:-1], 0.0))
        if self.llf - without < drop:  # the profile does not fall so far on the way to σ = 0
            bounds[-1, 0] = 0.0
        return bounds

    @checked
    def predict(self, *, confidence: Confidence = 0.95) -> Table:
        """Return the probability of each fitted set, for a judge drawn from the population."""
        r, number = self.rankings, np.arange(len(self.rankings))
        alone = replace(self.sets, judge=number, lists=replace(self.sets.lists, counts=np.ones(len(r))))
        value, score, _ = alone.each(self.solution.params)
        error = np.exp(value) * np.sqrt(np.einsum("lp,pr,lr->l", score, self.covariance.matrix, score))
        shown = {"ranking": [list_text(r, k) for k in number.tolist()]}
        return chances_table(self, "Probabilities of sets", shown, Chances(np.exp(value), error), confidence, ())

    @checked
    def summary(self, *, odds: bool = True, max_rows: Count = MOST_ROWS, sort: Sort = "name") -> Table:
        """Return the printout: formula, coefficients of the average judge and σ, fit."""
        rows = rows_beside(self, ["effects"])
        table = coefficient_table_of(rows, self.df_inference, odds=odds, max_rows=max_rows, sort=sort)
        head = (f"Formula: {self.formula}", f"Data: {', '.join(self.rankings.size_texts())}")
        foot = f"Log-likelihood: {format_figure(self.llf)}   AIC: {format_figure(self.aic)}"
        title = "Best-worst model with normal effects of judges"
        return replace(table, title=title, head=head, foot=(foot,), notes=(_TESTED, *self.covariance.notes))

    def table(self) -> Table:
        """Return the summary."""
        return self.summary()


def drawn_sets(res: BestWorstEffects, rng: np.random.Generator) -> Rankings:
    """Return simulated sets with the same objects and the same names of judges, answered by newly drawn judges."""
    r, lam, sigma = res.rankings, res.solution.params[:-1], res.solution.params[-1]
    effects = sigma * rng.normal(size=(int(res.sets.judge.max()) + 1, len(r.objects)))
    rows = rows_of(r, res.comparisons, res.design)
    worth = (res.sets.lists.matrix @ lam)[rows] + effects[res.sets.judge[r.lists], r.items]
    places = []
    some = np.repeat(np.arange(len(r)), r.counts.astype(np.int64))
    sequential = res.specification.best_worst == "sequential"
    for k in some.tolist():
        at = slice(r.starts[k], r.starts[k + 1])
        places.append(drawn_extremes(worth[None, at], rng, sequential=sequential)[0])
    return _taken(r, some, np.concatenate(places), np.ones(len(some)))


def _taken(r: Rankings, some: IntArray, places: IntArray | None, counts: FloatArray, judge: Any = None) -> Rankings:
    """Return the sets at these positions, which may repeat; their places, counts or judges may be replaced."""
    entries = np.concatenate([np.arange(r.starts[k], r.starts[k + 1]) for k in some.tolist()])
    columns, clusters = (
        tuple(judge if judge is not None and c.name == judge.name else c.take(some) for c in each)
        for each in (r.columns, r.cluster_columns)
    )
    given = r.places[entries] if places is None else places
    numbered = np.repeat(np.arange(len(some)), r.sizes[some])
    return gathered_rankings(
        r.objects, numbered, r.items[entries], given, kind=r.kind, columns=columns, cluster_columns=clusters,
        object_columns=r.object_columns, counts=counts, notes=r.notes,
    )  # fmt: skip


def judged_sets(spec: RankingSpecification, data: Rankings) -> BestWorstEffects:
    """Return the fit of a formula with ``(object | judge)``, where judge is a cluster or covariate of the sets."""
    text, brackets = split_brackets(spec.formula)
    if len(brackets) > 1 or not brackets[0].of_objects or brackets[0].by:
        raise FormulaError(
            f"{spec.formula!r} has {' + '.join(map(str, brackets))}, and the data are best-worst sets",
            "Keep one bracket with one σ: (object | judge).",
            expected="one bracket, (object | judge)",
        )
    by = brackets[0].grouping
    column = {c.name: c for c in (*data.columns, *data.cluster_columns)}.get(by)
    if column is None:
        raise FormulaError(
            f"the sets have no column {by!r}, which {spec.formula!r} names",
            f"Keep the column when you read the sets: from_choices(…, clusters={by!r}).",
        )
    if len(data.objects) > _MOST:
        raise DesignError(
            f"normal effects of judges on {len(data.objects)} objects",
            "Fit fewer objects.",
            expected=f"at most {_MOST} objects",
        )
    base = solved_rankings(replace(spec, formula=text), data)
    codes = np.unique(column.codes, return_inverse=True)[1].astype(np.int64)
    sets = SetsByJudge.of(base, codes)
    maximum = sets.maximum(np.append(base.solution.params, _START), np.ones(int(codes.max()) + 1))
    zero = (Qualifying("σ = 0: judges differ by no more than chance. Its standard error is not valid."),)
    cov = Covariance(inverse(maximum.information), notes=zero if maximum.params[-1] < _ZERO else ())
    designed = (base.design, base.free)
    worths = worths_on_pairs(text, spec.reference, base.comparisons, designed, maximum, cov, BestWorstEffects)
    return BestWorstEffects(base.design, base.free, maximum, cov, worths, spec, data, sets, column.name)


@checked
def fit_best_worst_effects(
    formula: str,
    data: Rankings,
    *,
    reference: Reference = None,
    best_worst: BestWorst = "joint",
    progress: bool = False,
) -> BestWorstEffects:
    """Fit best-worst sets with normal effects of judges, and issue the warnings; arguments as in `fit`."""
    with steps_shown("fit", progress):
        res = judged_sets(RankingSpecification(formula, reference, best_worst=best_worst), data)
        check_convergence(res.solution)
        return res


@dataclass(frozen=True, eq=False)
class JudgedUnits:
    """Judges, or levels of a column in which judges are nested, as independent units; `codes` has each judge's unit."""

    fit: BestWorstEffects
    unit: str
    labels: tuple[Label, ...]
    codes: IntArray
    counts: FloatArray
    sizes: FloatArray
    parts: FloatArray
    part: str
    names: tuple[str, ...]
    estimates: FloatArray
    each: str = "list"

    def titles(self) -> list[str]:
        """Return the name of each unit."""
        return [str(label) for label in self.labels]

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the maximum with other counts of the units."""
        start = np.append(self.estimates[:-1], max(self.estimates[-1], _START / 2))
        maximum = self.fit.sets.maximum(start, counts[self.codes])
        if not maximum.converged:
            raise DesignError(
                "the remaining judges have no finite estimates", "Ask for more folds, or for other units."
            )
        return maximum.params

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Refuse: the model has no prior."""
        raise DesignError(
            "a fold has no finite estimates, and a fit with effects of judges has no prior", "Ask for more folds."
        )

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of all choices by each unit's judges."""
        return summed_by(self.codes, self.fit.sets.each(params)[0], len(self.counts))

    def refitted(self, counts: FloatArray) -> BestWorstEffects:
        """Return the fit of a resample with these counts of units; each copy of a judge counts as another judge."""
        copies = np.repeat(np.arange(len(self.codes)), counts[self.codes].astype(np.int64))
        list_numbers = [np.flatnonzero(self.fit.sets.judge == g) for g in copies.tolist()]
        r, some = self.fit.rankings, np.concatenate(list_numbers)
        column = next(c for c in (*r.columns, *r.cluster_columns) if c.name == self.fit.judge)
        codes = np.repeat(np.arange(len(copies)), [len(lists) for lists in list_numbers])
        judges = replace(column, levels=np.array([f"J{k}" for k in range(len(copies))], dtype=object), codes=codes)
        return judged_sets(self.fit.specification, _taken(r, some, None, r.counts[some], judges))


def judged_units(res: BestWorstEffects, by: str | None, option: str) -> JudgedUnits:
    """Return the judges of a fit as independent units, or the levels of a column with one level for each judge."""
    r, by = res.rankings, by or res.judge
    column = {c.name: c for c in (*r.columns, *r.cluster_columns)}.get(by)
    judge = res.sets.judge
    first = groups([judge, judge if column is None else column.codes])[0]
    if column is None or len(first) > judge.max() + 1:
        raise OptionError(
            f"{option}={by!r}", expected=f"{res.judge!r}, or a column with one level for each {res.judge}"
        )
    level = column.codes[first[np.argsort(judge[first])]]
    levels, codes = np.unique(level, return_inverse=True)
    sizes, parts = summed_by(codes[judge], r.counts), np.bincount(codes).astype(np.float64)
    names = tuple(res.names[k] for k in res.places)
    labels, counts = tuple(column.levels[levels].tolist()), np.ones(len(levels))
    return JudgedUnits(res, by, labels, codes, counts, sizes, parts, res.judge, names, res.solution.params)
