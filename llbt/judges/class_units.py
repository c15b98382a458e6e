"""Latent classes as models of units: judges, or levels of a column in which each judge has one level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.columns import FloatArray, IntArray, Label, summed_by
from ..errors import DesignError
from ..fitting.merged_rows import distinct
from ..inference.judge_units import units_of_judges
from ..inference.mixed_tables import judges_again
from ..inference.refit import refit_data
from ..kernel.likelihood import pseudo_counts
from ..kernel.mixture import Answers, Mixture, continued, judge_values
from .class_covariance import infinite_classes
from .class_protocol import ClassesLike

_STARTS, _SEED = 10, 0  # beside the estimates
_WEAK = 1.0  # judgments added to each pair in each class


@dataclass(frozen=True, eq=False)
class ClassUnits:
    """K classes of G judges in units; `codes` is the unit of each judge, shape (G,), `starts` counts random starts.

    Parameters are the parameters of class 1, class 2, …, then log π_k/π_1 of the shares, as in `LatentClasses.names`.
    """

    fit: ClassesLike
    unit: str
    labels: tuple[Label, ...]
    counts: FloatArray
    sizes: FloatArray
    codes: IntArray
    starts: int

    @property
    def each(self) -> str:
        """The word for what `sizes` counts."""
        return "judgment"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters of all classes, and of the log ratios of shares."""
        return self.fit.names

    @property
    def estimates(self) -> FloatArray:
        """The parameters of all classes, then the log ratios of shares."""
        return _flat(self.fit.mixture)

    def titles(self) -> list[str]:
        """Return what each unit is called."""
        return [str(label) for label in self.labels]

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the maximum found from the estimates and other starts, with the classes in the order of the fit."""
        return continued_estimates(self.fit, self.fit.by_judge.answers.weighted(counts[self.codes]), self.starts)

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Return the estimates with a prior of one judgment for each pair in each class."""
        answers = self.fit.by_judge.answers.weighted(counts[self.codes])
        return continued_estimates(self.fit, with_weak_prior(self.fit, answers), self.starts)

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of all judgments of each unit, log Σ π_k P(judgments | class k)."""
        values = judge_values(self.fit.by_judge.answers, *of_classes(self.fit, params))
        return summed_by(self.codes, values, len(self.counts))

    def refitted(self, counts: FloatArray) -> ClassesLike:
        """Return the fit with given numbers of each unit, each copy of a judge as a separate judge."""
        times = np.repeat(np.arange(len(self.codes)), counts[self.codes].astype(np.int64))
        again: ClassesLike = refit_data(self.fit, judges_again(self.fit.comparisons, self.fit.by_judge.name, times))
        return again


def class_units(res: ClassesLike, by: str | None, option: str) -> ClassUnits:
    """Return latent classes as a model of judges, or of levels that judges are nested in.

    Resamples are fitted from the estimates alone, so classes keep their meaning. If judges are left out or held out, EM
    also uses other starts, because the estimates come from these judges.
    """
    own = res.by_judge.name
    name, labels, codes, sizes = units_of_judges(res.comparisons, own, by, option, "by their class")
    return ClassUnits(res, name, labels, np.ones(len(labels)), sizes, codes, 0 if option == "resample" else _STARTS)


def continued_estimates(res: ClassesLike, answers: Answers, starts: int = _STARTS) -> FloatArray:
    """Return the maximum for some answers, from the estimates and other starts, with classes in the order of the fit.

    Raises
    ------
    DesignError
        Where a class has no finite estimates.
    """
    mixture = continued(answers, res.mixture, res.pooled.solution.params, starts, np.random.default_rng(_SEED))
    if infinite_classes(answers, mixture) or not mixture.converged:
        raise DesignError(
            "a class of the remaining judges has no finite estimates", "Take fewer classes, or fit with prior=0.1."
        )
    return _flat(mixture)


def with_weak_prior(res: ClassesLike, answers: Answers) -> Answers:
    """Return answers with a prior of one judgment more for each pair in each class."""
    c, problem = res.pooled.comparisons, res.by_judge.answers.problem
    first = distinct(res.pooled.design, res.pooled.problem(), list(c.pairs.T))[1]
    weak = pseudo_counts(c.pairs[first], problem.totals, problem.counts.shape[1], _WEAK)
    return replace(answers, prior=answers.prior + weak)


def of_classes(res: ClassesLike, params: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the shares (K,) and the parameters of each class (K, p)."""
    size = res.mixture.params.size
    ratios = np.exp(np.append(0.0, params[size:]))
    return ratios / ratios.sum(), params[:size].reshape(res.mixture.params.shape)


def _flat(mixture: Mixture) -> FloatArray:
    return np.concatenate([mixture.params.ravel(), np.log(mixture.shares[1:] / mixture.shares[0])])
