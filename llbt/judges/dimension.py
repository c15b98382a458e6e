"""The dimensions along which judges differ most: common factors of the judges' effects on log-worths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from scipy import linalg

from ..base.arguments import Confidence, Count, Jobs, Kind, Rng, checked, is_whole
from ..base.table import (
    Field,
    Record,
    Table,
    counted,
    format_count,
    format_number,
    format_percent,
    in_order,
    interval_fields,
)
from ..core.columns import FloatArray, Label
from ..core.statistics import critical_value
from ..errors import DesignError, LLBTError, OptionError, listed
from ..fitting.clusters import kept_ways
from ..fitting.effect_lines import EffectLines
from ..fitting.fitted import EffectsFit
from ..fitting.protocols import WithEffects
from ..formulas.brackets import Bracket, written_formula
from ..inference.judge_units import plain_estimates
from ..kernel.common_factor import FactorFit, FactorLines, factor_maximum, loading_errors
from ..kernel.laplace_fit import predicted_effects
from ..resampling import Resampler, p_value, steps_shown

_MOST_ROWS = 20
Rank = Annotated[int, Kind(lambda value: is_whole(value) and value in (1, 2), "1 or 2", plain=int)]


@dataclass(frozen=True, repr=False, eq=False)
class JudgeDimension(Record):
    """The loadings of J objects on R dimensions, and the scores of G judges along them.

    Made by `llbt.judges.dimension`.

    Attributes
    ----------
    objects : tuple
    loadings : ndarray, shape (J, R)
        The change in each log-worth for a judge whose score is 1; the mean over objects is 0. All are 0 if a dimension
        does not increase the likelihood.
    std_error : ndarray, shape (J, R)
    judges : tuple
    scores : ndarray, shape (G, R)
        The predicted value of each judge along each dimension, in standard deviations.
    score_errors : ndarray, shape (G, R)
    sigma : float
        The standard deviation of the remaining, independent effects, in log-worths.
    shares : ndarray, shape (R,)
        The share of each dimension in the variance of log-worths between judges.
    statistic : float
        Twice the gain in log-likelihood over the fit with R − 1 dimensions, or with independent effects if R is 1.
    n_params : int
        The number of parameters that the last dimension adds.
    p_value : float
        The p-value of the last dimension, by tables drawn from the fit with R − 1 dimensions; NaN if none are drawn.
    n : int
        The number of drawn tables.
    by : str
        The grouping whose levels are the judges.
    confidence : float
    """

    _made_by: ClassVar[str] = "llbt.judges.dimension(res)"

    objects: tuple[Label, ...]
    loadings: FloatArray
    std_error: FloatArray
    judges: tuple[Label, ...]
    scores: FloatArray
    score_errors: FloatArray
    sigma: float
    shares: FloatArray
    statistic: float
    n_params: int
    p_value: float
    n: int
    by: str
    confidence: float

    @property
    def rank(self) -> int:
        """The number of dimensions R."""
        return len(self.shares)

    def table(self) -> Table:
        """Return object, dimension, loading, std_error, conf_low, conf_high, sorted by dimension and loading.

        If there are more than 20 rows, the loadings nearest to 0 are not printed.
        """
        half = critical_value(self.confidence, np.inf) * self.std_error.T.ravel()
        loadings, dimension = self.loadings.T.ravel(), np.repeat(np.arange(self.rank), len(self.objects))
        fields = (
            Field("object", "object", [*self.objects] * self.rank),
            self._dimensions(len(self.objects)),
            Field("loading", "loading", loadings, "estimate"),
            Field("std_error", "Std. Error", self.std_error.T.ravel(), "estimate"),
            *interval_fields(loadings - half, loadings + half, self.confidence),
        )
        table = Table(
            fields,
            title=f"Dimension{'s' * (self.rank > 1)} along which levels of {self.by} differ most",
            head=self._head(),
            notes=(
                f"Loading: change in the log-worth λ for a {self.by} whose score is 1.",
                "The sign of each dimension is arbitrary. Standard errors assume that both exist."
                if self._found > 1
                else "The sign of the dimension is arbitrary. Standard errors assume that it exists.",
                f"Score of each {self.by}: .judge_table()",
                f"σ is estimated by maximum likelihood: too small with few levels of {self.by}.",
            ),
        )
        order = np.lexsort((-loadings, dimension))
        return _largest(in_order(table, order), loadings[order], "smaller loading")

    def _dimensions(self, times: int) -> Field:
        """Return the column of the dimensions' numbers, which is not printed if there is one."""
        numbers = np.repeat(np.arange(1, self.rank + 1), times)
        return Field("dimension", "dimension", numbers, "count", frame_only=self.rank == 1)

    @property
    def _found(self) -> int:
        """The number of dimensions that increase the likelihood."""
        return int(np.any(self.loadings, axis=0).sum())

    def _head(self) -> tuple[str, ...]:
        n_found = self._found
        n_less = min(n_found, self.rank - 1)
        less = counted(n_less, "dimension") if n_less else "independent effects"
        shares = " and ".join(map(format_percent, self.shares[:n_found].tolist()))
        which = "this" if self.rank == 1 else "the first"
        along = f"lies along {which} dimension" if n_found == 1 else "lie along these dimensions"
        of_variance = (
            f"{shares} of the variance of log-worths between levels of {self.by} {along}; "
            f"the remaining effects have σ {format_number(self.sigma, 3)}."
        )
        if n_found < self.rank:
            fault = f"No {'second ' * n_found}dimension of {self.by} was found"
            missing = f"{fault}: it would not increase the likelihood of the fit with {less}."
            return (of_variance, missing) if n_found else (missing,)
        of_test = (
            f", p = {format_number(self.p_value, 3)} ({format_count(self.n)} drawn tables)"
            if self.n
            else "; n=199 gives its p-value"
        )
        return (
            of_variance,
            f"Likelihood ratio against {less}: {format_number(self.statistic, 4)} with {self.n_params} "
            f"more parameters{of_test}.",
        )

    def judge_table(self) -> Table:
        """Return judge, dimension, score, std_error, with scores in standard deviations.

        The column of judges has the name of the grouping. The scores farthest from 0 are printed first.
        """
        scores = self.scores.T.ravel()
        fields = (
            Field(self.by, self.by, [*self.judges] * self.rank),
            self._dimensions(len(self.judges)),
            Field("score", "score", scores, "estimate"),
            Field("std_error", "Std. Error", self.score_errors.T.ravel(), "estimate"),
        )
        along = "the dimension" if self.rank == 1 else "each dimension"
        table = Table(fields, title=f"Score of each {self.by} along {along}, in standard deviations")
        largest = in_order(table, np.argsort(-np.abs(scores), kind="stable"))
        return replace(table.first(_MOST_ROWS), printed=largest.first(_MOST_ROWS, "smaller score"))


def _largest(table: Table, values: FloatArray, noun: str) -> Table:
    """Return a table that prints the rows of the largest |values|, in the order of the table."""
    largest = np.sort(np.argsort(-np.abs(values), kind="stable")[:_MOST_ROWS])
    first_rows = table.first(_MOST_ROWS, noun)
    return first_rows if first_rows.shown is None else replace(first_rows, shown=tuple(largest.tolist()))


@checked
def dimension(
    res: EffectsFit,
    *,
    by: str | None = None,
    rank: Rank = 1,
    n: Count = 0,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> JudgeDimension:
    """Estimate the dimension along which judges differ most: the objects that some judges prefer and others do not.

    Parameters
    ----------
    res : MixedResults
        A fit with effects on log-worths, ``llbt.fit("object + (object | judge)", c)``. Groupings may be crossed.
    by : str, optional
        The grouping whose levels are the judges; by default the first grouping with ``(object | …)``.
    rank : {1, 2}
        The number of dimensions R. Test the first before you ask for two.
    n : int
        How many tables are drawn for the p-value of the last dimension; 0 for no p-value. Each drawn table is fitted.
    confidence : float
        The level of the intervals.
    rng : int or numpy.random.Generator
        Used to draw tables; the default seed makes printouts repeatable.
    progress : bool
        Show a bar.
    n_jobs : int
        The number of processes, −1 for one per core. The result depends only on `rng`.

    Returns
    -------
    JudgeDimension
        A row for each object and dimension, with the loading in log-worths. ``judge_table()`` has the judges' scores.

    Raises
    ------
    OptionError
        If the fit has no ``(object | …)`` with this grouping.
    DesignError
        For fewer than R + 2 objects, and for fits without ``(object | …)``, with a σ for each level of a covariate,
        with effects on ties or grades, or with ``(1 | object)``.

    Notes
    -----
    Judge g has the effects b_gi + Σ_r ℓ_ir f_gr on the log-worths, with independent b_gi ~ N(0, σ²) and f_gr ~ N(0, 1).
    The covariance of a judge's effects is σ²I + LLᵀ, a factor-analytic structure of rank R. With three objects and
    R = 1, the two differences of effects can have any covariance. The loadings of a dimension have mean 0, and the
    loadings of two dimensions are orthogonal. All estimates maximize the likelihood by expectation propagation; the fit
    with R − 1 dimensions is estimated in the same way. Standard errors come from the observed information of all
    parameters. If the last dimension does not exist, its scores are not identified, and the likelihood ratio has no χ²
    distribution. The p-value therefore comes from tables drawn from the fit with R − 1 dimensions, with σ and loadings
    enlarged as the restricted likelihood enlarges σ.

    References
    ----------
    Minka, T. P. (2001). Expectation propagation for approximate Bayesian inference. Proceedings of the 17th Conference
    on Uncertainty in Artificial Intelligence, 362-369.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import llbt
    >>> rows = [(i, j, g) for g in range(12) for i, j in ("AB", "AC", "BC") for _ in range(4)]
    >>> frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge"])
    >>> taste = np.where(frame["judge"] < 6, "A", "C")  # half of the judges prefer A, half C
    >>> often, half = frame.index % 4 > 0, frame.index % 2 == 0
    >>> likes_i, likes_j = (frame[name] == taste for name in ("object_i", "object_j"))
    >>> frame["wins_i"] = np.where(likes_i, often, np.where(likes_j, ~often, half)).astype(int)
    >>> c = llbt.from_counts(frame.assign(wins_j=1 - frame["wins_i"]), clusters="judge")
    >>> found = llbt.judges.dimension(llbt.fit("object + (object | judge)", c))
    >>> found.objects[int(np.argmin(np.abs(found.loadings)))]  # along the dimension A and C are apart
    'B'
    """
    by = _grouping(res, by)
    _check(res, by, rank)
    with steps_shown("dimension", progress and not n):
        lines, labels = _lines(res, by)
        less = lines.alone()
        for _ in range(rank - 1):
            less = factor_maximum(lines, less)
        fit = factor_maximum(lines, less) if less.rank == rank - 1 else less
        of_loadings = loading_errors(lines, fit)
    which = next(e for e, b in enumerate(res.brackets) if b.of_objects and b.grouping == by)
    draw = Resampler.of("dimension", rng, n_jobs, progress)
    gains = np.array(draw.each([partial(_drawn_gain, lines, _enlarged(res, less, which))] * int(n)))
    gain = 2 * max(fit.best.value - less.best.value, 0.0)
    scores, errors = _scores(lines, fit, len(labels))
    sigma, objects = float(fit.best.scales[which]), len(res.comparisons.objects)
    along = (fit.loadings**2).sum(axis=0)
    shares = along / (along.sum() + (objects - 1) * sigma**2)
    return JudgeDimension(
        objects=res.comparisons.objects,
        loadings=_padded(fit.loadings, rank, 0.0),
        std_error=_padded(of_loadings, rank, np.nan),
        judges=labels,
        scores=_padded(scores, rank, 0.0),
        score_errors=_padded(errors, rank, 1.0),
        sigma=sigma,
        shares=np.pad(shares, (0, rank - fit.rank)),
        statistic=gain,
        n_params=objects - rank,
        p_value=p_value(gains, gain) if n else np.nan,
        n=int(n),
        by=by,
        confidence=confidence,
    )


def _padded(values: FloatArray, rank: int, value: float) -> FloatArray:
    """Return values (m, r) with a constant for the R − r dimensions that do not increase the likelihood, (m, R)."""
    return np.pad(values, ((0, 0), (0, rank - values.shape[1])), constant_values=value)


def _grouping(res: WithEffects, by: str | None) -> str:
    """Return the grouping of the judges; raise if it has no effects on log-worths."""
    some = [bracket.grouping for bracket in res.brackets if bracket.of_objects]
    if not some:
        name = res.judges.name if res.judges.name != "object" else "judge"
        more = written_formula(res.without.specification.formula, [*res.brackets, Bracket("object", name)])
        raise DesignError(
            "the fit has no effects of judges on log-worths", f"Fit them: llbt.fit({more!r}, res.comparisons)."
        )
    if by is not None and by not in some:
        raise OptionError(f"by={by!r}", expected=f"a grouping with (object | …): {listed(some)}")
    return some[0] if by is None else by


def _check(res: WithEffects, by: str, rank: int) -> None:
    """Raise for fits whose effects cannot have this number of common factors."""
    objects = len(res.comparisons.objects)
    if objects < 3:
        raise DesignError(
            "two objects differ in one direction only, so there is no dimension to find",
            f"Use the standard deviation of the effects: res.scales[{f'(object | {by})'!r}].",
            expected="three objects or more",
        )
    if objects < rank + 2:
        raise DesignError(
            f"rank={rank} with {objects} objects, whose differences can have any covariance with one dimension and σ",
            "Leave rank= out: llbt.judges.dimension(res).",
            expected=f"{rank + 2} objects or more",
        )
    plain = res.without.specification.formula
    if any(bracket.by for bracket in res.brackets):
        common = list(dict.fromkeys(replace(bracket, by="", level=None) for bracket in res.brackets))
        raise DesignError(
            "the fit has a σ for each level of a covariate",
            f"Fit one σ: llbt.fit({written_formula(plain, common)!r}, res.comparisons).",
        )
    others = [bracket for bracket in res.brackets if not bracket.enters_differences or bracket.effect == "1"]
    if others:
        rest = [bracket for bracket in res.brackets if bracket not in others]
        raise DesignError(
            f"the fit has {listed(list(map(str, others)))}, but dimensions can be estimated only together with effects "
            "on log-worths, effects on order and slopes",
            f"Leave it out: llbt.fit({written_formula(plain, rest)!r}, res.comparisons).",
        )


def _lines(res: WithEffects, by: str) -> tuple[FactorLines, tuple[Label, ...]]:
    """Return the lines of counts of a fit with their effects, and the judges' labels."""
    without = res.without
    ways = kept_ways(without.comparisons, list(res.judges.groupings))
    table = EffectLines.of(without, res.brackets, ways)
    lines = FactorLines(table.problem, table.crossed(), table.groupings.index(by), without.solution.params)
    return lines, ways[table.groupings.index(by)].levels


def _enlarged(res: WithEffects, fit: FactorFit, which: int) -> FactorFit:
    """Return a fit with σ and loadings multiplied by the restricted σ divided by the maximum likelihood σ.

    Tables for the p-value are drawn from it. With maximum likelihood σ, simulated judges would differ too little.
    """
    own, restricted, largest = len(res.brackets), res.solution.scales, res.maximum.scales
    ratio = np.where(largest > 0, restricted / np.where(largest > 0, largest, 1.0), 1.0)
    scales = np.where(fit.best.scales[:own] > 0, fit.best.scales[:own] * ratio, restricted * (fit.rank == 0))
    best = replace(fit.best, scales=np.append(scales, fit.best.scales[own:]))
    return replace(fit, loadings=fit.loadings * ratio[which], best=best)


def _drawn_gain(lines: FactorLines, less: FactorFit, rng: np.random.Generator) -> float:
    """Return the likelihood ratio in a table drawn from the fit with R − 1 dimensions; NaN without estimates."""
    drawn = lines.drawn(less, rng)
    try:
        drawn = replace(drawn, plain=plain_estimates(drawn.problem, lines.plain))
        again = drawn.alone()
        for _ in range(less.rank):
            again = factor_maximum(drawn, again)
        return 2 * max(factor_maximum(drawn, again).best.value - again.best.value, 0.0)
    except (LLBTError, linalg.LinAlgError):
        return np.nan


def _scores(lines: FactorLines, fit: FactorFit, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the judges' scores and their standard errors, each (G, R)."""
    scores, errors = np.zeros((size, fit.rank)), np.ones((size, fit.rank))
    if fit.rank:
        predicted = predicted_effects(lines.problem, lines.beside(fit.loadings), fit.best)[-fit.rank :]
        for r, one in enumerate(predicted):
            scores[one.level, r], errors[one.level, r] = one.effect, one.error
    return scores, errors
