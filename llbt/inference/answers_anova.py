"""Nested models of the same whole answers, lists or patterns, compared by their likelihoods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from ..core.columns import FloatArray
from ..core.statistics import chi2_p_value
from ..errors import DesignError, OptionError
from ..fitting.fitted import WithWorths
from ..fitting.pattern_missingness import Missingness
from ..fitting.pattern_results import PatternResults
from ..fitting.ranking_results import RankingResults
from ..table import Field, Table
from .nesting import within

Answered = RankingResults | PatternResults


def compared_answers(results: Sequence[WithWorths], test: str | None, n: int) -> Table:
    """Return likelihood-ratio tests of nested models of whole answers; see `anova`."""
    fits = sorted(enumerate(_checked(results, test, n)), key=lambda numbered: numbered[1].n_params)
    pairs = list(itertools.pairwise(fits))
    for (a, small), (b, large) in pairs:
        if not (_inside(small, large) and small.n_params < large.n_params):
            raise DesignError(
                f"m{a} ({small.specification.formula}) and m{b} ({large.specification.formula}) are not nested, so "
                "their likelihoods cannot be tested against each other",
                "Compare their .aic or .bic.",
            )
    ratios = [max(0.0, 2 * (large.llf - small.llf)) for (_, small), (_, large) in pairs]
    df = [large.n_params - small.n_params for (_, small), (_, large) in pairs]
    p = [math.nan, *(chi2_p_value(ratio, more) for ratio, more in zip(ratios, df, strict=True))]
    return Table(
        (
            Field("model", "Model", [fit.specification.formula for _, fit in fits]),
            Field("df_model", "Df model", [fit.n_params for _, fit in fits], "count"),
            Field("llf", "logLik", [fit.llf for _, fit in fits], "statistic"),
            Field("aic", "AIC", [fit.aic for _, fit in fits], "statistic"),
            Field("bic", "BIC", [fit.bic for _, fit in fits], "statistic"),
            Field("df", "Df", [math.nan, *df], "count"),
            Field("statistic", "Chisq", [math.nan, *ratios], "statistic"),
            Field("p_value", "Pr(>Chi)", p, "p_value"),
            Field("", "", p, "stars"),
        ),
        title="Likelihood-ratio tests of models of whole answers",
        notes=_notes([fit for _, fit in fits]),
    )


def _checked(results: Sequence[WithWorths], test: str | None, n: int) -> list[Answered]:
    """Return the fits, where they can be compared."""
    fits: list[Answered] = [res for res in results if isinstance(res, RankingResults | PatternResults)]
    if len(fits) < len(results):
        first, other = fits[0], next(res for res in results if not isinstance(res, RankingResults | PatternResults))
        why = first.basis.difference(other.basis) or "their models are no cases of each other"
        raise DesignError(
            f"some fits are of whole answers and some of comparisons: {why}",
            "Fit one kind of them." if first.basis != other.basis else "Compare their .aic or .bic.",
        )
    if len(fits) < 2:
        raise OptionError("one fit of whole answers", expected="two or more, nested in each other")
    if test not in (None, "chi2"):
        raise OptionError(
            f"test={test!r}, but fits of whole answers are compared by their likelihoods", "Leave test out."
        )
    if n:
        raise OptionError(f"n={n!r} beside fits of whole answers", "Leave n out; they are tested by χ².")
    for k, fit in enumerate(fits):
        if not same_answers(fits[0], fit):
            raise DesignError(f"m0 and m{k} are fits of different answers", "Fit both to the same ones.")
        if isinstance(fit, PatternResults) and bool(fit.missingness) is not bool(_missingness(fits[0])):
            raise DesignError(
                f"of m0 and m{k} one has a likelihood of which answers are missing, and one leaves that open",
                "Fit both with missing=, the smaller one with 'common'.",
            )
        if isinstance(fit, RankingResults) and fit.specification.prior is not None:
            raise DesignError(
                f"{fit.specification.formula!r} was fitted with a prior and does not maximize the likelihood",
                "Leave prior out.",
            )
    return fits


def same_answers(one: Answered, other: Answered) -> bool:
    """Whether two fits are of the same answers and kind of choice, so that their likelihoods can be compared."""
    if isinstance(one, RankingResults) and isinstance(other, RankingResults):
        a, b = one.rankings, other.rankings
        if one.specification.best_worst != other.specification.best_worst:
            return False
        return a is b or (
            (a.objects, a.kind) == (b.objects, b.kind)
            and all(np.array_equal(x, y) for x, y in ((a.items, b.items), (a.places, b.places), (a.starts, b.starts)))
            and np.array_equal(a.counts, b.counts)
        )
    if isinstance(one, PatternResults) and isinstance(other, PatternResults):
        p, q = one.patterns, other.patterns
        same = (p.objects, p.kind, p.levels) == (q.objects, q.kind, q.levels)
        return p is q or (same and np.array_equal(p.answers, q.answers) and np.array_equal(p.counts, q.counts))
    return False


def _missingness(fit: Answered) -> Missingness | None:
    return fit.missingness if isinstance(fit, PatternResults) else None


def _inside(small: Answered, large: Answered) -> bool:
    """Whether the worths of one model are a case of the other's, and what stands beside them as well."""
    if not within(small.average, large.average):
        return False
    if isinstance(small, PatternResults) and isinstance(large, PatternResults):
        return small.dependent <= large.dependent and _missing_within(small.missingness, large.missingness)
    return set(small.names_beside) <= set(large.names_beside)


def _missing_within(small: Missingness | None, large: Missingness | None) -> bool:
    """Whether what one model says of missing answers is a case of the other's."""
    if small is None or large is None:
        return small is large
    return all(_spans(large, small) for large, small in ((large.level, small.level), (large.slope, small.slope)))


def _spans(large: FloatArray, small: FloatArray) -> bool:
    """Whether the columns of one matrix are combinations of those of the other."""
    return bool(np.linalg.matrix_rank(np.concatenate([large, small], axis=1)) == np.linalg.matrix_rank(large))


def _notes(fits: Sequence[Answered]) -> tuple[str, ...]:
    notes = []
    if any(fit.specification.groups for fit in fits):
        notes.append("rankings and patterns are taken as independent, whatever the standard errors allow for")
    slopes = {missing.slope.shape[1] for missing in map(_missingness, fits) if missing}
    if len(slopes) > 1:
        notes.append(
            "tests of β, of missing answers, can reject too often with few judges: in simulations with 300 and 500 of "
            "them 6 and 8 % of the time at 5 %"
        )
    return tuple(notes)
