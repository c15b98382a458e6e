"""Drifting worths: estimates by period, the drift rate, and a test of no drift."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..base.arguments import Jobs, Number, Rng, checked
from ..base.table import Field, Record, Table, counted, format_number, format_p, interval_fields
from ..core.columns import FloatArray, Label
from ..core.statistics import TestResult, critical_value
from ..errors import DesignError, OptionError, listed
from ..fitting.estimates import Estimates
from ..fitting.variance_components import likelihood_ratio, mixture_p_value, mixture_text
from ..kernel.random_walk import Periods, Rate, Rates, Walk, rate
from ..resampling import Resampler, p_value
from .simulated_counts import draw_parametric

_MOST_ROWS = 60
_ROUGH = 0.02  # allowed error of the logarithm of a simulated table's rate; its likelihood is exact to four digits
_BLOCK = 10  # tables that one process computes at once
_LOST = "could not be fitted, and count as having a larger statistic"


@dataclass(frozen=True, repr=False, eq=False)
class Drift(Record):
    """Worths of J objects in T periods. p parameters.

    Made by `drift`.

    Attributes
    ----------
    res : LLBTResults
        The fit without drift.
    time : str
        The column whose values are the periods.
    levels : tuple of T labels
        The periods in order; the middle of each if `periods` made them.
    judgments : ndarray, shape (T, J)
        The number of judgments of each object.
    estimate, std_error : ndarray, shape (T, J)
        Log-worths that sum to 0 in each period, with standard errors.
    sigma, sigma_low, sigma_high : float
        The standard deviation of a log-worth's step over one unit of time, with its interval; the interval is NaN if σ
        was held.
    numbers : bool
        Whether the periods are numbers, so that their differences count; else all steps are 1.
    periods : Periods
    rates : Rates
        The paths at the estimated or fixed rate, and at other likely rates.
    still : Walk
        The walk without drift.
    centred : ndarray, shape (J, p)
        The log-worths minus their mean, as linear combinations of the parameters.
    confidence : float
    """

    _made_by: ClassVar[str] = "llbt.drift(res, time=…)"

    res: Estimates
    time: str
    levels: tuple[Label, ...]
    judgments: FloatArray
    estimate: FloatArray
    std_error: FloatArray
    sigma: float
    sigma_low: float
    sigma_high: float
    numbers: bool
    periods: Periods
    rates: Rates
    still: Walk
    centred: FloatArray
    confidence: float

    @property
    def held(self) -> bool:
        """Whether σ was given, not estimated."""
        return bool(np.isnan(self.sigma_low))

    @property
    def llf(self) -> float:
        """Laplace's approximation of the log-likelihood of σ, with all other parameters integrated out."""
        return self.rates.best.value

    def table(self) -> Table:
        """Return period, object, estimate, std_error, conf_low, conf_high, judgments, one row per object and period."""
        objects, (low, high) = self.res.comparisons.objects, np.moveaxis(self.bounds(), -1, 0)
        whole = Table(
            (
                Field(self.time, self.time, [level for level in self.levels for _ in objects]),
                Field("object", "object", list(objects) * len(self.levels)),
                Field("estimate", "estimate", self.estimate.ravel(), "estimate"),
                Field("std_error", "std_error", self.std_error.ravel(), "estimate"),
                *interval_fields(low.ravel(), high.ravel(), self.confidence),
                Field("judgments", "judgments", self.judgments.ravel(), "count"),
            ),
            title=f"Worths over {self.time}: log-worths λ, with sum 0 in each period",
            head=(self._rate_text(),),
            notes=self._notes(),
        )
        return replace(whole.first(_MOST_ROWS), printed=self._by_object(whole))

    def _by_object(self, whole: Table) -> Table:
        """Return the first and last worths of each object, and its change, or its one worth, the largest first."""
        labels = list(self.res.comparisons.objects)
        ends = [f"at {self.levels[k]}" for k in (0, -1)]
        change = self.change()
        order = [labels.index(label) for label in change.fields[0].values]
        fields = [
            Field("object", "object", [labels[k] for k in order]),
            Field("first", ends[0], self.estimate[0][order], "estimate"),
            Field("last", ends[1], self.estimate[-1][order], "estimate"),
            *(replace(f, heading="Change") if f.name == "estimate" else f for f in change.fields[1:]),
        ]
        if not self.held and self.sigma == 0:  # there is one worth for all periods
            order = np.argsort(-self.estimate[0], kind="stable").tolist()
            worths = Field("estimate", "Estimate", self.estimate[0][order], "estimate", decimals=3)
            fields = [Field("object", "object", [labels[k] for k in order]), worths]
        return replace(whole, fields=tuple(fields)).first(_MOST_ROWS, "more object")

    def bounds(self) -> FloatArray:
        """Return the intervals of the log-worths, shape (T, J, 2)."""
        half = self._z * self.std_error
        return np.stack([self.estimate - half, self.estimate + half], axis=-1)

    def common(self) -> Table:
        """Return the parameters that all periods share, such as tie and order: term, estimate, std_error, interval."""
        where = [k for k, spread in enumerate(np.diag(self.periods.spread)) if spread == 0]
        names = [self.res.names[self.res.free[k]] for k in where]
        estimate = self.rates.best.path[-1, where]
        error = np.sqrt(np.diag(self.rates.covariances()[-1])[where])
        low, high = estimate - self._z * error, estimate + self._z * error
        return Table(
            (
                Field("term", "term", names),
                Field("estimate", "estimate", estimate, "estimate"),
                Field("std_error", "std_error", error, "estimate"),
                *interval_fields(low, high, self.confidence),
            ),
            title=f"Parameters common to all values of {self.time}",
        )

    @checked
    def change(self, first: Label | None = None, last: Label | None = None) -> Table:
        """Return the change of each log-worth minus the mean of all log-worths, from one period to another.

        Parameters
        ----------
        first, last : label, optional
            Two periods; by default the first and the last.

        Returns
        -------
        Table
            object, estimate, std_error, conf_low, conf_high, the largest rise first. Estimates are shrunk towards no
            change, more so with few judgments.

        Raises
        ------
        OptionError
            For an unknown period, or if `first` is not before `last`.
        """
        start, end = self._place(first, 0, "first"), self._place(last, len(self.levels) - 1, "last")
        if start >= end:
            raise OptionError(
                f"first={self.levels[start]!r}, last={self.levels[end]!r}", expected="a period and a later one"
            )
        covariance = self.rates.covariance_of_step(start, end)
        estimate = self.estimate[end] - self.estimate[start]
        error = np.sqrt(np.maximum(np.einsum("jp,pq,jq->j", self.centred, covariance, self.centred), 0.0))
        order = np.argsort(-estimate, kind="stable")
        low, high = estimate - self._z * error, estimate + self._z * error
        return Table(
            (
                Field("object", "object", [self.res.comparisons.objects[k] for k in order]),
                Field("estimate", "estimate", estimate[order], "estimate"),
                Field("std_error", "std_error", error[order], "estimate"),
                *interval_fields(low[order], high[order], self.confidence),
            ),
            title=f"Change of log-worth λ from {self.time} {self.levels[start]} to {self.levels[end]}",
            notes=("against the mean of all objects",),
        )

    @checked
    def test(self, n: Number = 0, *, rng: Rng = None, progress: bool = False, n_jobs: Jobs = 1) -> TestResult:
        """Test whether worths change at all: σ = 0.

        Parameters
        ----------
        n : int
            The number of tables that are drawn from the fit without drift and fitted in the same way. With 0, the
            likelihood ratio is compared with ½χ²₀ + ½χ²₁.
        rng : numpy.random.Generator or int, optional
        progress : bool
            Show a progress bar.
        n_jobs : int
            The number of processes, −1 for one per core. The result depends only on `rng`.

        Returns
        -------
        TestResult
            Twice the difference of the marginal log-likelihoods of σ, at its estimate and at 0.

        Raises
        ------
        DesignError
            If σ was held.
        """
        if self.held:
            raise DesignError(
                f"σ = {format_number(self.sigma, 4)} was held, so there is no likelihood-ratio test",
                f"Leave out sigma=: llbt.drift(res, time={self.time!r}).test().",
            )
        statistic = likelihood_ratio(self.rates.best.value, self.still.value)
        name, null = "Likelihood-ratio test of drift", "σ = 0: worths do not change"
        if not n:
            p = mixture_p_value(statistic, 0, boundary=1)
            return TestResult(name, null, statistic, 1, p, mixture_text(0))
        draw = Resampler.of("Drift.test", rng, n_jobs, progress)
        task = functools.partial(_drawn, self.periods, self.res.solution.params)
        drawn = np.concatenate(draw.blocks(task, n, self.periods.counts.size, _BLOCK))
        lost = int(np.isnan(drawn).sum())
        notes = (f"{counted(lost, 'draw')} {_LOST}",) if lost else ()
        distribution = f"{counted(n, 'table')} drawn from the fit without drift"
        return TestResult(name, null, statistic, np.nan, p_value(drawn, statistic), distribution, notes)

    @property
    def _z(self) -> float:
        return critical_value(self.confidence, np.inf)

    def _place(self, level: Label | None, default: int, name: str) -> int:
        if level is None:
            return default
        if level not in self.levels:
            raise OptionError(f"{name}={level!r}", expected=f"a period: {listed(self.levels, 20)}")
        return self.levels.index(level)

    def _rate_text(self) -> str:
        unit = f"one unit of {self.time}" if self.numbers else f"one step of {self.time}"
        sigma, low, high = (format_number(x, 3) for x in (self.sigma, self.sigma_low, self.sigma_high))
        if self.held:
            return f"Drift rate held: σ = {sigma} log-worths over {unit}"
        p_value = self.test().p_value
        p = format_p(p_value)
        p_text = f"{'p ' + p if p[0] == '<' else 'p = ' + p}"
        level = f"{100 * self.confidence:.4g} %"
        if p_value < 1 - self.confidence:
            return f"Drift detected: σ = {sigma} log-worths over {unit} ({level} {low} to {high}), {p_text}"
        if self._undecided:
            return f"Too little data to tell: σ = {sigma} log-worths over {unit}, at most {high} ({level}), {p_text}"
        return f"No drift detected: σ = {sigma}, at most {high} log-worths over {unit} ({level}), {p_text}"

    @property
    def _undecided(self) -> bool:
        """Whether the drift that the data allow could have reversed the order of the objects.

        This is true if, at the upper bound of σ, a log-worth may change more between the first and last period than the
        standard deviation of the objects' log-worths.
        """
        steps = float(self.levels[-1]) - float(self.levels[0]) if self.numbers else len(self.levels) - 1
        return bool(self.sigma_high * np.sqrt(steps) > self.estimate.mean(axis=0).std())

    def _notes(self) -> tuple[str, ...]:
        if self.rates.best.converged and self.still.converged:
            return ()
        return ("the most probable worths were not reached; estimates may be off",)


def _drawn(periods: Periods, params: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return the likelihood ratios of tables drawn without drift, (size,); NaN for tables that cannot be fitted."""
    predictors = periods.predictors(np.tile(params, (periods.size[0], 1)))
    means = periods.counts.sum(axis=0) * periods.response.probabilities(predictors)[0]
    tables = draw_parametric(means.T, size, rng).astype(np.float64)
    return np.array([_ratio(replace(periods, counts=table.T), params) for table in tables])


def _ratio(periods: Periods, params: FloatArray) -> float:
    rough: Rate = rate(periods, params, _ROUGH)
    if not rough.still.converged or rough.infinite:
        return np.nan
    return likelihood_ratio(rough.best.value, rough.still.value)
