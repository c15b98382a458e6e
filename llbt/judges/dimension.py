"""The dimension along which judges differ most: a common factor of their effects on log-worths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import linalg

from ..base.arguments import Confidence, Count, Jobs, Rng, checked
from ..base.table import (
    Field,
    Record,
    Table,
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
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.protocols import WithEffects
from ..formulas.brackets import Bracket, written_formula
from ..inference.mixed_tables import drawn_table
from ..inference.refit import refit_table
from ..kernel.common_factor import FactorFit, FactorLines, factor_maximum
from ..kernel.laplace_fit import predicted_effects
from ..resampling import Resampler, p_value, steps_shown

_FEWEST = 3  # objects; the effects on two differ along their difference only
_MOST_ROWS = 20


@dataclass(frozen=True, repr=False, eq=False)
class JudgeDimension(Record):
    """The loadings of J objects on a dimension, and the scores of G judges along it.

    Made by `llbt.judges.dimension`.

    Attributes
    ----------
    objects : tuple
    loadings : ndarray, shape (J,)
        The change of each log-worth for a judge one standard deviation along the dimension, of mean 0.
    std_error : ndarray, shape (J,)
    judges : tuple
    scores : ndarray, shape (G,)
        The place of each judge along the dimension, in standard deviations.
    score_errors : ndarray, shape (G,)
    sigma : float
        The standard deviation of the effects beside the dimension, in log-worths.
    share : float
        The share of the variance between judges' log-worths that is along the dimension.
    statistic : float
        Twice the gain in log-likelihood over independent effects.
    n_params : int
        The number of parameters that the dimension adds.
    p_value : float
        By tables drawn from the fit with independent effects; NaN without drawn tables.
    n : int
        The number of drawn tables.
    by : str
        The grouping, whose levels are the judges.
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
    share: float
    statistic: float
    n_params: int
    p_value: float
    n: int
    by: str
    confidence: float

    def table(self) -> Table:
        """Return object, loading, std_error, conf_low, conf_high, by loading; the first and the last are printed."""
        half = critical_value(self.confidence, np.inf) * self.std_error
        fields = (
            Field("object", "object", list(self.objects)),
            Field("loading", "loading", self.loadings, "estimate"),
            Field("std_error", "Std. Error", self.std_error, "estimate"),
            *interval_fields(self.loadings - half, self.loadings + half, self.confidence),
        )
        table = Table(
            fields,
            title=f"Dimension along which levels of {self.by} differ most",
            head=self._head(),
            notes=(
                f"Loading: change of the log-worth λ for a {self.by} one standard deviation along it.",
                "Its sign is arbitrary. Standard errors assume that there is such a dimension.",
                f"Places of each {self.by} along it: .judge_table()",
                f"By maximum likelihood (expectation propagation): σ is too small with few levels of {self.by}.",
            ),
        )
        order = np.argsort(-self.loadings, kind="stable")
        largest = np.sort(np.argsort(-np.abs(self.loadings[order]), kind="stable")[:_MOST_ROWS])
        first_rows = in_order(table, order).first(_MOST_ROWS, "smaller loading")
        return first_rows if first_rows.shown is None else replace(first_rows, shown=tuple(largest.tolist()))

    def _head(self) -> tuple[str, ...]:
        if not np.any(self.loadings):
            return (f"No dimension: independent effects of {self.by} describe the judgments as well.",)
        of_test = (
            f", p = {format_number(self.p_value, 3)} ({format_count(self.n)} drawn tables)"
            if self.n
            else "; n=199 gives its p-value"
        )
        return (
            f"{format_percent(self.share)} of the variance of log-worths between levels of {self.by} is along it; "
            f"σ of the rest is {format_number(self.sigma, 3)}.",
            f"Likelihood ratio against independent effects: {format_number(self.statistic, 4)} with {self.n_params} "
            f"more parameters{of_test}.",
        )

    def judge_table(self) -> Table:
        """Return judge, score (standard deviations along the dimension), std_error; printed with the largest first."""
        fields = (
            Field(self.by, self.by, list(self.judges)),
            Field("score", "score", self.scores, "estimate"),
            Field("std_error", "Std. Error", self.score_errors, "estimate"),
        )
        table = Table(fields, title=f"Places of each {self.by} along the dimension, in standard deviations")
        largest = in_order(table, np.argsort(-np.abs(self.scores), kind="stable"))
        return replace(table.first(_MOST_ROWS), printed=largest.first(_MOST_ROWS, "smaller score"))


@checked
def dimension(
    res: EffectsFit,
    *,
    by: str | None = None,
    n: Count = 0,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> JudgeDimension:
    """Return the dimension along which judges differ most: which objects some judges prefer and others do not.

    Parameters
    ----------
    res : MixedResults
        A fit with effects on log-worths, ``llbt.fit("object + (object | judge)", c)``, also with crossed groupings.
    by : str, optional
        The grouping whose levels are the judges; by default the first with ``(object | …)``.
    n : int
        How many tables are drawn from the fit for a p-value; 0 for none. The dimension is estimated in each.
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
        A row for each object: its loading in log-worths. ``judge_table()`` has the judges' scores.

    Raises
    ------
    OptionError
        If no bracket has this grouping.
    DesignError
        For fewer than three objects, for a fit without ``(object | …)``, with a σ for each level of a covariate, or
        with effects on ties or grades.

    Notes
    -----
    Judge g has the effects b_gi + ℓᵢ f_g on the log-worths, with b_gi ~ N(0, σ²) and f_g ~ N(0, 1), all independent.
    The covariance of a judge's effects is σ²I + ℓℓᵀ, factor-analytic of rank 1; with three objects it is any covariance
    of the two differences. The loadings ℓ have mean 0. They maximize the likelihood by expectation propagation, and so
    does the fit with ℓ = 0 to which it is compared. Standard errors come from the observed information of all
    parameters. Under ℓ = 0 the likelihood ratio has no χ² distribution, because f is then undefined; tables are drawn
    instead.

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
    >>> frame["wins_i"] = ((frame["object_i"] == taste) | (frame.index % 4 == 0)).astype(int)
    >>> c = llbt.from_counts(frame.assign(wins_j=1 - frame["wins_i"]), clusters="judge")
    >>> found = llbt.judges.dimension(llbt.fit("object + (object | judge)", c))
    >>> found.objects[int(np.argmax(found.loadings))], found.objects[int(np.argmin(found.loadings))]
    ('A', 'C')
    """
    by = _grouping(res, by)
    _check(res, by)
    with steps_shown("dimension", progress and not n):
        lines, labels = _lines(res, res.without, by)
        alone = lines.alone()
        fit = factor_maximum(lines, alone)
    draw = Resampler.of("dimension", rng, n_jobs, progress)
    gains = np.array(draw.each([partial(_drawn_gain, res, by)] * int(n)))
    scores, errors = _scores(lines, fit, len(labels))
    which = next(e for e, b in enumerate(res.brackets) if b.of_objects and b.grouping == by)
    sigma, objects = float(fit.best.scales[which]), len(res.comparisons.objects)
    along = float(fit.loadings @ fit.loadings)
    gain = 2 * max(fit.best.value - alone.value, 0.0) if along else 0.0
    return JudgeDimension(
        objects=res.comparisons.objects,
        loadings=fit.loadings,
        std_error=np.sqrt(np.maximum(np.diag(fit.covariance), 0)),
        judges=labels,
        scores=scores,
        score_errors=errors,
        sigma=sigma,
        share=along / (along + (objects - 1) * sigma**2) if along else 0.0,
        statistic=gain,
        n_params=objects - 1,
        p_value=p_value(gains, gain) if n else np.nan,
        n=int(n),
        by=by,
        confidence=confidence,
    )


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


def _check(res: WithEffects, by: str) -> None:
    """Raise for fits whose effects have no common factor here."""
    if len(res.comparisons.objects) < _FEWEST:
        raise DesignError(
            "two objects differ in one direction only, so there is no dimension to find",
            f"The standard deviation describes how judges differ: res.scales[{f'(object | {by})'!r}].",
            expected="three objects or more",
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
            f"the fit has {listed(list(map(str, others)))}, and the dimension is estimated beside effects on "
            "log-worths, order and slopes only",
            f"Leave it out: llbt.fit({written_formula(plain, rest)!r}, res.comparisons).",
        )


def _lines(res: WithEffects, without: PlainEstimates, by: str) -> tuple[FactorLines, tuple[Label, ...]]:
    """Return the lines of a table with the effects of a fit, and the judges' labels."""
    ways = kept_ways(without.comparisons, list(res.judges.groupings))
    table = EffectLines.of(without, res.brackets, ways)
    lines = FactorLines(table.problem, table.crossed(), table.groupings.index(by), without.solution.params)
    return lines, ways[table.groupings.index(by)].levels


def _drawn_gain(res: WithEffects, by: str, rng: np.random.Generator) -> float:
    """Return the likelihood ratio in a table drawn from the fit; NaN without finite estimates."""
    try:
        lines, _ = _lines(res, refit_table(res.without, drawn_table(res, rng)), by)
        alone = lines.alone()
        return 2 * max(factor_maximum(lines, alone, errors=False).best.value - alone.value, 0.0)
    except (LLBTError, linalg.LinAlgError):
        return np.nan


def _scores(lines: FactorLines, fit: FactorFit, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the judges' scores and their standard errors; 0 and 1 without a dimension."""
    scores, errors = np.zeros(size), np.ones(size)
    if np.any(fit.loadings):
        predicted = predicted_effects(lines.problem, lines.beside(fit.loadings), fit.best)[-1]
        scores[predicted.level], errors[predicted.level] = predicted.effect, predicted.error
    return scores, errors
