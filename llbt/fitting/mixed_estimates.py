"""The estimates of a fit with effects of judges, under statsmodels' names."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from ..base.arguments import Confidence, checked
from ..core import basis
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..core.statistics import TestResult
from ..errors import DesignError, OptionError, listed
from ..formulas.brackets import Bracket, written_formula
from ..formulas.design import Design
from ..kernel.crossed import Crossed
from ..kernel.effect_groups import Grouped
from ..kernel.laplace import Method, Sites
from ..kernel.laplace_fit import NormalLikelihood
from ..kernel.likelihood import Problem
from ..kernel.mixed import MarginalLikelihood, MixedFit, MixedLikelihood
from ..kernel.mixed_profile import fall_at_zero, profile_fixed
from ..kernel.quadrature import Sampling
from ..resampling import steps_shown
from . import attributes, criteria, wald
from .effect_lines import slope_units
from .fit_part import FitPart
from .plain_estimates import PlainEstimates
from .specification import CovType, Specification
from .variance_components import boundary_test, scale_intervals, share_between
from .wald import Estimated

OF_AVERAGE = "Estimates are of the average judge, whose effects are 0."


@dataclass(frozen=True, eq=False)
class JudgeTable:
    """The judges, and the judgments of each.

    Attributes
    ----------
    name : str
        The cluster or covariate.
    levels : tuple
        Labels of the G judges.
    grouped : Grouped
        The judgments by judge; without bundles if Laplace's approximation was used for crossed groupings or too many
        lines.
    problem : Problem
        Distinct comparisons, with the counts of all judges.
    notes : tuple of str
    crossed : Crossed or None
        The lines of Laplace's approximation, or of expectation propagation.
    others : mapping of str to tuple
        The groupings crossed with the judges, and their levels.
    objects : Crossed or None
        The lines of ``(1 | object)``, if its effects are integrated out by quadrature or sampling.
    method : {"laplace", "ep"}
        The approximation used for `crossed`.
    sites : (ndarray, ndarray) or None
        Where expectation propagation starts: its sites at the maximum.
    """

    name: str
    levels: tuple[Label, ...]
    grouped: Grouped
    problem: Problem
    notes: tuple[str, ...]
    crossed: Crossed | None = None
    others: Mapping[str, tuple[Label, ...]] = field(default_factory=dict)
    objects: Crossed | None = None
    method: Method = "laplace"
    sites: Sites | None = None

    @property
    def lines(self) -> Crossed | None:
        """The lines of counts with the effects that enter each, if they are stored."""
        return self.objects if self.crossed is None else self.crossed

    @property
    def groupings(self) -> dict[str, tuple[Label, ...]]:
        """All groupings with their levels."""
        return {self.name: self.levels, **self.others}

    def likelihood(self, held: int | None = None) -> MarginalLikelihood:
        """Return the likelihood that was maximized, optionally with one scale held at its value."""
        return self.likelihood_of(self.problem, held)

    def likelihood_of(self, problem: Problem, held: int | None = None) -> MarginalLikelihood:
        """Return the likelihood of the same judgments with other fixed parameters."""
        if self.crossed is not None:
            return NormalLikelihood(problem, self.crossed, self.method, held, self.sites)
        return MixedLikelihood(problem, self.grouped.bundles, held)


@dataclass(frozen=True, repr=False, eq=False)
class MixedEstimates:
    """The estimates of a fit with effects and what follows from them: `MixedResults` without tests and printout."""

    average: FitPart
    without: PlainEstimates
    brackets: tuple[Bracket, ...]
    judges: JudgeTable
    solution: MixedFit
    maximum: MixedFit
    cov_type: CovType = "nonrobust"
    groups: tuple[str, ...] = ()

    @property
    def specification(self) -> Specification:
        """The specification of the fit; the formula has its brackets."""
        spec = self.without.specification
        formula = written_formula(spec.formula, self.brackets)
        return replace(spec, formula=formula, cov_type=self.cov_type, groups=self.groups)

    @property
    def has_judges(self) -> bool:
        """Whether judges have effects, not only objects."""
        return any(bracket.effect != "1" for bracket in self.brackets)

    @property
    def comparisons(self) -> Comparisons:
        """The table that was fitted."""
        return self.without.comparisons

    @property
    def design(self) -> Design:
        """The design of the fixed parameters."""
        return self.without.design

    @property
    def estimated(self) -> Estimated:
        """Estimates of the fixed parameters for the average judge (log-worth λ, γ, δ), with their covariance.

        Errors come from the observed information at the restricted likelihood's σ, and degrees of freedom from
        Satterthwaite's formula.
        """
        return self.average.estimated

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p fixed parameters."""
        return self.design.names

    aliased = wald.aliased
    params = wald.params
    bse = wald.bse
    tvalues = wald.tvalues
    pvalues = wald.pvalues
    df_inference = wald.df_inference
    cov_params = wald.Methods.cov_params
    conf_int = wald.Methods.conf_int
    to_frame = wald.Methods.to_frame
    formula = attributes.formula
    objects = attributes.objects
    reference = attributes.reference

    def _profile_bounds(self, drop: float) -> FloatArray:
        """Return where the profile marginal likelihood has fallen by `drop`, shape (p, 2); see `conf_int`."""
        if self.groups:
            raise OptionError(
                f"method='profile' takes judges as independent, and the fit has cov_type={self.cov_type!r}",
                "Take method='wald', or fit with cov_type='nonrobust'.",
            )
        bounds = np.full((len(self.names), 2), np.nan)
        with steps_shown("conf_int", progress=False):
            for place, k in enumerate(self.without.free):
                bounds[k] = profile_fixed(self.judges.likelihood_of, self.judges.problem, self.maximum, place, drop)
        return bounds

    @property
    def fixed(self) -> dict[str, float]:
        """Parameters held at a value, with these values."""
        return self.average.fixed

    @property
    def scales(self) -> pd.Series[float]:
        """Standard deviations σ of the effects (log-worth, γ, δ), shape (E,); 0 if judges do not differ.

        σ of a slope is in log-worths for one unit of its covariate.
        """
        return self._by_bracket(self.solution.scales / self.units, "sigma")

    @functools.cached_property
    def units(self) -> FloatArray:
        """The unit of each bracket's σ in `solution` and `maximum`, shape (E,); see `slope_units`."""
        return slope_units(self.design, self.brackets)

    @property
    def scale_errors(self) -> pd.Series[float]:
        """Standard errors of σ, by the delta method from the standard errors of log σ, shape (E,); NaN if σ is 0."""
        variance = np.diag(self.solution.covariance)[len(self.solution.params) :]
        return self._by_bracket(self.solution.scales / self.units * np.sqrt(variance), "std_error")

    @checked
    def scale_intervals(self, *, confidence: Confidence = 0.95, progress: bool = False) -> pd.DataFrame:
        """Return profile likelihood intervals of σ: columns conf_low, conf_high; one row per bracket.

        Parameters
        ----------
        confidence : float
        progress : bool
            Show a bar that counts the steps of the search; their number is not known beforehand.

        Notes
        -----
        The lower bound is 0 if the likelihood at σ = 0 has not fallen far enough. The upper bound is infinite if the
        likelihood has not fallen far enough at σ = 10, where almost every choice of a judge is certain. In simulated
        studies (three objects, σ .35 to 1.2) 95 % intervals cover the truth in 93 to 97 %. With 12 judges who make 20
        judgments each, they cover it in 93 %, lie below σ in 6 %, and above it in 1.5 %. With fewer judges coverage is
        lower: 84 % with four judges and 90 % with six. The intervals belong to the maximum of the likelihood, where σ
        is too small (``tests/simulations/scale_intervals.json``).
        """
        with steps_shown("scale_intervals", progress):
            return self.profile if confidence == 0.95 else self._profiled(confidence)

    @functools.cached_property
    def profile(self) -> pd.DataFrame:
        """The 95 % intervals of σ, which printouts show."""
        return self._profiled(0.95)

    def _profiled(self, confidence: float) -> pd.DataFrame:
        bounds = scale_intervals(self.judges.likelihood, self.maximum, confidence) / self.units[:, None]
        return pd.DataFrame(bounds, index=self._labels, columns=["conf_low", "conf_high"])

    @property
    def share_between(self) -> float:
        """The share of the variance of a pair's latent log-odds that is between judges: 8σ²/(8σ² + π²/3).

        On the normal scale (``link="probit"``) it is 8σ²/(8σ² + 1). With crossed groupings the divisor includes the
        variance between the levels of all, and the share is that of the first ``(object | …)``; see `shares_between`.
        NaN without ``(object | …)``, and if there is one σ for each level of a covariate.
        """
        shares = self.shares_between
        first = next((grouping for grouping, _ in shares), None)
        return next(iter(shares.values())) if sum(grouping == first for grouping, _ in shares) == 1 else math.nan

    @property
    def shares_between(self) -> dict[tuple[str, str], float]:
        """`share_between` by grouping, and by the level of `Bracket.by`, such as ``expert=yes``, if it has one.

        A grouping is left out if the variance between levels of another one depends on a covariate.
        """
        scales = {b: s for b, s in zip(self.brackets, self.solution.scales.tolist(), strict=True) if b.of_objects}
        shares = {}
        for bracket, sigma in scales.items():
            others = {b: s for b, s in scales.items() if b.grouping != bracket.grouping}
            if not any(b.by for b in others):
                crossed = sum(s**2 for s in others.values())
                key = (bracket.grouping, bracket.condition)
                shares[key] = share_between(sigma, crossed, self.specification.link)
        return shares

    @checked
    def boundary_test(self, of: str | None = None) -> TestResult:
        """Test a standard deviation against 0, by the likelihood ratio on ½χ²₀ + ½χ²₁.

        Parameters
        ----------
        of : str, optional
            The name of the standard deviation, as in `scales`; the others are then estimated. By default the only one.

        Raises
        ------
        DesignError
            Without `of` for several standard deviations, because the mixture of χ² is then unknown.
        OptionError
            For a name that `scales` lacks.

        Notes
        -----
        If another standard deviation is 0 at the null hypothesis, the p-value is too large; a note says so.

        References
        ----------
        Self, S. G. & Liang, K.-Y. (1987). Asymptotic properties of maximum likelihood estimators and likelihood ratio
        tests under nonstandard conditions. Journal of the American Statistical Association 82(398), 605-610.
        """
        names = self._labels
        noise = self.maximum.moved if isinstance(self.maximum.rule, Sampling) else 0.0
        if of is None and len(names) == 1:
            return boundary_test(self.llf, self.without.llf, names[0], noise)
        if of is None:
            raise DesignError(
                f"{len(names)} standard deviations at once, whose mixture of χ² distributions is not known",
                f"Test one of them: res.boundary_test({names[0]!r}). Compare with a fit that lacks one of them: "
                "llbt.anova(smaller, res). Or simulate: llbt.anova(res.without, res, n=199).",
            )
        if of not in names:
            raise OptionError(f"of={of!r}", expected=f"one of {listed(names)}")
        fall, at_zero = fall_at_zero(self.judges.likelihood, self.maximum, names.index(of))
        return boundary_test(self.llf, self.llf - fall, of, noise, others_at_zero=at_zero)

    answers = attributes.answers
    n_judgments = attributes.n_judgments
    basis = attributes.basis
    nobs = criteria.nobs
    df_model = criteria.df_model
    aic = criteria.aic
    bic = criteria.bic
    bic_of = criteria.Methods.bic_of
    fit_statistics = criteria.Methods.fit_statistics
    effective_params = criteria.effective_params
    counts = attributes.counts
    n_cells = attributes.n_cells

    @property
    def llf(self) -> float:
        """Largest log-likelihood of the judgments, Σ_g log ∫ Π p^y dΦ; if σ = 0, the same as without effects."""
        return self.maximum.value

    @property
    def n_params(self) -> int:
        """The number of estimated parameters, including every standard deviation, even if σ = 0."""
        return len(self.solution.params) + len(self.brackets)

    @property
    def bic_judges(self) -> float:
        """BIC with the number of levels that have effects, such as judges, as observations."""
        return basis.bic(self.llf, self.n_params, len(self.judges.levels))

    @property
    def converged(self) -> bool:
        """Whether the maximum was reached, and more points did not change it."""
        return self.maximum.converged

    @property
    def n_iter(self) -> int:
        """The number of evaluations of the likelihood."""
        return self.maximum.n_iter

    @property
    def gradient_norm(self) -> float:
        """Euclidean norm of the score of the parameters and of log σ at the maximum of the likelihood."""
        maximum = self.maximum
        active = tuple(np.flatnonzero(maximum.scales > 0).tolist())
        if maximum.rule is None or not active:
            return self.without.gradient_norm
        at = np.concatenate([maximum.params, np.log(maximum.scales[list(active)])])
        return float(np.linalg.norm(self.judges.likelihood()(at, active, maximum.rule, None).score))

    @property
    def _labels(self) -> list[str]:
        return [str(bracket) for bracket in self.brackets]

    def _by_bracket(self, values: FloatArray, name: str) -> pd.Series[float]:
        return pd.Series(values, index=self._labels, name=name, dtype=float)
