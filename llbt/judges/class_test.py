"""Tests of latent classes: of one more class, by judges drawn from the smaller mixture, and of nested formulas."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.notes import Qualifying, about
from ..base.table import Field, Record, Table, counted
from ..core.columns import FloatArray
from ..errors import DesignError
from ..inference.nesting import check_tables, predictors_within, within
from ..inference.tested_models import TestedModel, columns_of
from ..kernel.mixture import Answers, Mixture, mixture
from ..resampling import Resampler, p_of_count
from .class_fit import LONE, counted_classes
from .class_protocol import ClassesLike

_ROUGH = 1e-2  # gain of an EM step, below which only the best starts go on
_SAME = 1e-6  # of a log-likelihood: where EM and Newton's method end


@dataclass(frozen=True, repr=False, eq=False)
class ClassTest(Record):
    """Parametric bootstrap test of K classes of judges against K + 1: tables are drawn from the fit of K classes.

    Made by ``llbt.judges.classes(formula, c).bootstrap_test(k)``.

    Attributes
    ----------
    k : int
        The number of classes under the null hypothesis.
    statistic : float
        Twice the difference of the log-likelihoods, at least 0.
    draws : ndarray, shape (B,)
        The statistic of every table that was drawn and fitted.
    n : int
        The largest number of draws.
    enough : int
        Drawing ends when this many draws are at least as large as the statistic.
    short : bool
        Whether the fit of K + 1 classes had a smaller likelihood than the fit of K, so its maximum was not found.
    shorts : int
        The number of draws in which this happened; their statistic in `draws` is 0.
    by : str
        The column whose levels are the judges.
    """

    _made_by: ClassVar[str] = "llbt.judges.classes(formula, c).bootstrap_test(k)"

    k: int
    statistic: float
    draws: FloatArray
    n: int
    enough: int
    short: bool
    shorts: int
    by: str

    @property
    def as_large(self) -> int:
        """The number of draws at least as large as the statistic."""
        return _as_large(self.draws, self.statistic)

    @property
    def stopped(self) -> bool:
        """Whether drawing ended early, because enough draws were at least as large as the statistic."""
        return self.as_large >= self.enough and len(self.draws) < self.n

    @property
    def p_value(self) -> float:
        """(1 + draws as large)/(B + 1); if drawing ended early, draws as large/B (Besag & Clifford 1991)."""
        drawn = len(self.draws)
        return self.as_large / drawn if self.stopped else float(p_of_count(self.as_large, drawn))

    @property
    def std_error(self) -> float:
        """Monte Carlo standard error of the p-value, √(p(1 − p)/B)."""
        return math.sqrt(self.p_value * (1 - self.p_value) / len(self.draws))

    def table(self) -> Table:
        """Return k, statistic, p_value, std_error, as_large, n; one row."""
        return Table(
            fields=(
                Field("k", "K", (self.k,), "count"),
                Field("statistic", "statistic", (self.statistic,), "statistic"),
                Field("p_value", "p", (self.p_value,), "p_value"),
                Field("std_error", "std. error of p", (self.std_error,), "estimate", 2),
                Field("as_large", "draws as large", (self.as_large,), "count"),
                Field("n", "draws", (len(self.draws),), "count"),
            ),
            title=f"{self.k} against {self.k + 1} latent classes of {self.by}",
            head=(f"Null hypothesis: {self.k} {'class' if self.k == 1 else 'classes'}; statistic: 2 Δ log-likelihood",),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if self.stopped:
            notes.append(
                f"Stopped after {len(self.draws)} of {self.n} draws: {self.enough} were as large as the statistic."
            )
        if self.short:
            notes.append(
                Qualifying(
                    f"The {self.k + 1} classes are less likely than the {self.k}: their maximum was not found, and the "
                    "statistic is set to 0. Take more starts=."
                )
            )
        if self.shorts:
            notes.append(
                Qualifying(
                    f"In {counted(self.shorts, 'draw')} the {self.k + 1} classes were less likely than the {self.k}: "
                    "their maximum was not found. The statistic of these draws is set to 0, so p may be too small. "
                    "Take more starts=."
                )
            )
        return tuple(notes)


def bootstrap_test(
    small: ClassesLike, large: ClassesLike, n: int, starts: int, enough: int, draw: Resampler
) -> ClassTest:
    """Return the test of the smaller of two fits that differ by one class."""
    observed, short = _ratio(small.mixture, large.mixture)

    def ended(ratios_so_far: Sequence[tuple[float, bool]]) -> int | None:
        large_ones = np.flatnonzero(_are_as_large(np.array([one for one, _ in ratios_so_far]), observed))
        return int(large_ones[enough - 1]) + 1 if len(large_ones) >= enough else None

    task = functools.partial(_drawn, small.by_judge.answers, small.mixture, large.mixture, starts)
    ratios = draw.until(task, n, ended)
    draws = np.array([one for one, _ in ratios])
    shorts = sum(one for _, one in ratios)
    return ClassTest(small.k, observed, draws, n, enough, short, shorts, small.by_judge.name)


def _drawn(
    answers: Answers, small: Mixture, large: Mixture, starts: int, rng: np.random.Generator
) -> tuple[float, bool]:
    drawn = answers.drawn(small.shares, small.params, rng)
    pooled = small.shares @ small.params  # where classes of starts are looked for from
    first, second = (
        mixture(drawn, len(one.shares), pooled, starts, rng, also=one, gain=_ROUGH) for one in (small, large)
    )
    return _ratio(first, second)


def _ratio(small: Mixture, large: Mixture) -> tuple[float, bool]:
    """Return twice the difference of log-likelihoods, and whether it was below 0."""
    ratio = 2 * (large.log_likelihood - small.log_likelihood)
    return max(0.0, ratio), ratio < -_SAME * max(1.0, abs(small.log_likelihood))


def _are_as_large(draws: FloatArray, observed: float) -> FloatArray:
    return np.asarray(draws >= observed - _SAME * max(1.0, observed))


def _as_large(draws: FloatArray, observed: float) -> int:
    return int(_are_as_large(draws, observed).sum())


# -- the same number of classes by nested formulas ------------------------------------------------------------


def model_of_classes(res: ClassesLike) -> TestedModel:
    """Return latent classes as a model that is tested against others."""
    distinct = ("χ² assumes that no two classes of the smaller model are equal",) if res.k > 1 else ()
    lone = res.k > 1 and res.mixture.reached == 1 and res.mixture.starts > 1
    formula = f"{res.pooled.specification.formula}, {counted_classes(res.k)} of {res.by_judge.name}"
    return TestedModel(
        fit=res,
        what="latent classes",
        family="latent classes",
        formula=formula,
        n_params=res.n_params,
        base=res.pooled,
        check_data=_check_same_classes,
        refitted=_not_refitted,
        shrunk=bool(res.by_judge.answers.prior.any()),
        holds=_holds_by_class,
        notes=(*distinct, *res.infinite_notes(), *((about(formula, LONE),) if lone else ())),
    )


def _not_refitted(some: object) -> TestedModel:
    raise DesignError(
        "latent classes cannot be refitted term by term", "Fit both formulas, and use llbt.anova(m0, m1)."
    )


def _check_same_classes(models: Sequence[TestedModel]) -> None:
    """Raise for classes of different judgments or judges, and for different numbers of them."""
    check_tables([model.base for model in models])
    first = models[0].fit
    for k, model in enumerate(models):
        if model.fit.by_judge.name != first.by_judge.name:
            raise DesignError(
                f"m0 has classes of {first.by_judge.name}, m{k} of {model.fit.by_judge.name}",
                "Use the same column by= in both fits.",
            )
        if model.fit.k != first.k:
            few, formula = min(first.k, model.fit.k), first.pooled.specification.formula
            raise DesignError(
                f"m0 has {counted_classes(first.k)}, m{k} has {model.fit.k}: a likelihood ratio between numbers of "
                "classes has no χ² distribution",
                "Test the number of classes with simulated judges: "
                f"llbt.judges.classes({formula!r}, c, k=[{few}, {few + 1}]).bootstrap_test({few}).",
            )


def _holds_by_class(small: TestedModel, large: TestedModel) -> bool:
    """Whether the predictors of one model are among those of the other, including the predictors of single classes."""
    own = [
        columns_of(model.base.problem(), np.flatnonzero(~model.fit.by_judge.answers.common)) for model in (small, large)
    ]
    return within(small.base, large.base) and predictors_within(*own)
