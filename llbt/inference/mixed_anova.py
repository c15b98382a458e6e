"""Nested fits with effects of judges compared by likelihood: mixtures of χ², or tables drawn from the smaller."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import TypeGuard

import numpy as np

from ..core.columns import FloatArray
from ..errors import DesignError, OptionError, listed
from ..fitting.fitted import MaybeMixed
from ..fitting.mixed_results import MixedResults
from ..fitting.results import LLBTResults, bic_reservation
from ..fitting.variances import NOISE, likelihood_ratio, mixture_p_value, said_mixture
from ..formulas.brackets import Bracket
from ..kernel.laplace import Laplace
from ..kernel.quadrature import Sampling
from ..resampling import Resampler, p_value
from ..table import Field, Table, format_count, format_number
from .mixed_tables import drawn_table
from .nesting import check_links, check_tables, within
from .refit import refit_data

_REFITS = 10  # tables drawn in one block: the bar moves


def compared_effects(results: Sequence[MaybeMixed], test: str | None, n: int, draw: Resampler) -> Table:
    """Return the analysis of fits some of which have effects; see `anova`."""
    _check(results, test)
    ranked = sorted(enumerate(results), key=lambda numbered: numbered[1].n_params)
    for (a, small), (b, large) in itertools.pairwise(ranked):
        _check_nested(f"m{a}", small, f"m{b}", large)
    fits = [fit for _, fit in ranked]
    pairs = list(itertools.pairwise(fits))
    statistic = [_ratio(small, large) for small, large in pairs]
    if n:
        p = [_simulated(small, large, n, draw) for small, large in pairs]
    else:
        p = [_p_value(found, small, large) for found, (small, large) in zip(statistic, pairs, strict=True)]
    first = [math.nan]
    p_values = [*first, *p]
    return Table(
        (
            Field("model", "Model", [fit.specification.formula for fit in fits]),
            Field("df_model", "Npar", [fit.n_params for fit in fits], "count"),
            Field("llf", "logLik", [fit.llf for fit in fits], "statistic"),
            Field("aic", "AIC", [fit.aic for fit in fits], "statistic"),
            Field("bic", "BIC", [fit.bic for fit in fits], "statistic"),
            Field("df", "Df", [*first, *(large.n_params - small.n_params for small, large in pairs)], "count"),
            Field("statistic", "Chisq", [*first, *statistic], "statistic"),
            Field("p_value", "Pr(drawn)" if n else "Pr(>Chisq)", p_values, "p_value"),
            Field("", "", p_values, "stars"),
        ),
        title="Likelihood-ratio tests of fits with effects",
        notes=(*_notes(ranked, n), *bic_reservation([_plain(fit) for fit in fits])),
    )


def _plain(fit: MaybeMixed) -> LLBTResults:
    return fit.without if isinstance(fit, MixedResults) else fit


def _brackets(fit: MaybeMixed) -> tuple[Bracket, ...]:
    return fit.brackets if isinstance(fit, MixedResults) else ()


def _ratio(small: MaybeMixed, large: MaybeMixed) -> float:
    return likelihood_ratio(large.llf, small.llf)


def _more(small: MaybeMixed, large: MaybeMixed) -> int:
    """Return how many standard deviations the larger fit has beyond the smaller one."""
    return len(_brackets(large)) - len(_brackets(small))


def _p_value(statistic: float, small: MaybeMixed, large: MaybeMixed) -> float:
    further = large.n_params - small.n_params - _more(small, large)
    return math.nan if _more(small, large) > 1 else mixture_p_value(statistic, further, boundary=_more(small, large))


# -- tables drawn from the smaller fit -----------------------------------------------------------------------


def _simulated(small: MaybeMixed, large: MaybeMixed, n: int, draw: Resampler) -> float:
    ratios = draw.blocks(partial(_ratios, small, large), n, small.comparisons.counts.size, _REFITS)
    return p_value(np.concatenate(ratios), _ratio(small, large))


def _ratios(small: MaybeMixed, large: MaybeMixed, n: int, rng: np.random.Generator) -> FloatArray:
    """Return the likelihood ratios of n tables drawn from the smaller fit; NaN where one of the two has no maximum."""
    found = np.full(n, np.nan)
    for b in range(n):
        table = drawn_table(small, rng)
        try:
            found[b] = _ratio(refit_data(small, table), refit_data(large, table))
        except DesignError:
            continue
    return found


# -- checks and notes ----------------------------------------------------------------------------------------


def _check(results: Sequence[MaybeMixed], test: str | None) -> None:
    if len(results) == 1:
        raise OptionError(
            f"one fit with effects, {results[0].specification.formula!r}, whose terms are not taken in sequence",
            "Fit without what is to be tested, and compare the two: llbt.anova(smaller, larger).",
        )
    if test not in (None, "chi2"):
        raise OptionError(
            f"test={test!r}, but fits with effects of judges are compared by their likelihoods", "Leave test out."
        )
    plain = [_plain(fit) for fit in results]
    check_tables(plain)
    check_links(plain)
    _check_integrals(results)
    shrunk = [fit.specification.formula for fit in plain if fit.specification.prior is not None]
    if shrunk:
        raise DesignError(
            f"{shrunk[0]!r} was fitted with a prior and does not maximize the likelihood", "Leave prior out."
        )


def _check_integrals(results: Sequence[MaybeMixed]) -> None:
    """Raise for likelihoods some of which are Laplace's approximation, whose error is none of the others."""
    by = {isinstance(fit.maximum.rule, Laplace) for fit in results if _approximated(fit)}
    if len(by) > 1:
        raise DesignError(
            "some fits have Laplace's approximation of the likelihood, others the integral, and these differ by more "
            "than the effects do",
            "Fit all in one way: approximation='laplace', or without it.",
        )


def _approximated(fit: MaybeMixed) -> TypeGuard[MixedResults]:
    """Whether effects were integrated out in some way."""
    return isinstance(fit, MixedResults) and fit.maximum.rule is not None


def _check_nested(a: str, small: MaybeMixed, b: str, large: MaybeMixed) -> None:
    """Check that the brackets and predictors of the small model are among those of the large one."""
    lacking = [str(bracket) for bracket in _brackets(small) if bracket not in _brackets(large)]
    inside = not lacking and within(_plain(small), _plain(large))
    if inside and small.n_params < large.n_params:
        return
    what = "the same model" if inside else "not nested"
    lack = f" ({b} lacks {listed(lacking)})" if lacking else ""
    raise DesignError(
        f"{a} ({small.specification.formula}) and {b} ({large.specification.formula}) are {what}{lack}, so their "
        "likelihoods cannot be tested against each other",
        "Compare their .aic or .bic.",
    )


def _notes(ranked: Sequence[tuple[int, MaybeMixed]], n: int) -> tuple[str, ...]:
    notes = ["log-likelihood, AIC and BIC are those of the judgments, Σ n log p with the effects integrated out"]
    for (_, small), (_, large) in itertools.pairwise(ranked):
        formula, more = large.specification.formula, _more(small, large)
        noise = 2 * math.hypot(_noise(small), _noise(large))
        if noise > NOISE:
            notes.append(f"{formula}: the statistic has a Monte Carlo error of {format_number(noise, 2)}")
        if n or not more:
            continue
        if more > 1:
            notes.append(
                f"NA: {formula}: {more} standard deviations at once have a mixture of χ² that is not known; "
                "anova(…, n=199) draws tables from the smaller fit"
            )
        else:
            notes.append(f"{formula}: on {said_mixture(large.n_params - small.n_params - 1)}, for σ cannot be below 0")
        if isinstance(small, MixedResults) and not np.all(small.maximum.scales > 0):
            notes.append(
                f"{formula}: σ = 0 in the smaller fit, too, so that the p-value is too large; n=199 draws tables"
            )
    if any(_approximated(fit) and isinstance(fit.maximum.rule, Laplace) for _, fit in ranked):
        notes.append("likelihoods with effects are Laplace's approximation, too low where levels made few judgments")
    if n:
        notes.append(
            f"p-values: {format_count(n)} tables drawn from the smaller fit with new judges; those of which a fit has "
            "no maximum count as larger"
        )
    return tuple(dict.fromkeys(notes))


def _noise(fit: MaybeMixed) -> float:
    """Return the Monte Carlo error of a log-likelihood."""
    return fit.maximum.moved if isinstance(fit, MixedResults) and isinstance(fit.maximum.rule, Sampling) else 0.0
