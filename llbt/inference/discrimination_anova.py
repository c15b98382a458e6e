"""Nested fits some of which have a discrimination of each judge, compared by their deviances."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ..core.statistics import chi2_p_value
from ..errors import DesignError, OptionError
from ..fitting.clusters import independence_note
from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.discrimination_tests import RATIOS, alike_notes
from ..fitting.fitted import Fitted
from ..fitting.mixed_results import MixedResults
from ..fitting.results import LLBTResults
from ..table import Field, Table
from .nesting import check_links, check_tables, within

Compared = LLBTResults | DiscriminationResults


def compared_discriminations(results: Sequence[Fitted], test: str | None, n: int) -> Table:
    """Return the analysis of deviance; of one fit beside its neighbours, `without` and `wider`; see `anova`."""
    fits = _checked(results, test, n)
    if len(fits) == 1 and isinstance(fits[0], DiscriminationResults):
        wider = fits[0].wider.res
        fits = [fits[0].without, fits[0], *([] if wider is None else [wider])]
    ranked = sorted(enumerate(fits), key=lambda numbered: -numbered[1].df_resid)
    pairs = list(itertools.pairwise(ranked))
    for (a, small), (b, large) in pairs:
        if not (_inside(small, large) and small.df_resid > large.df_resid):
            raise DesignError(
                f"m{a} ({_named(small)}) and m{b} ({_named(large)}) are not nested, so their deviances cannot be "
                "tested against each other",
                "Compare their .aic or .bic.",
            )
    fits = [fit for _, fit in ranked]
    falls = [small.deviance - large.deviance for (_, small), (_, large) in pairs]
    df = [small.df_resid - large.df_resid for (_, small), (_, large) in pairs]
    p = [math.nan, *(chi2_p_value(max(0.0, fall), more) for fall, more in zip(falls, df, strict=True))]

    def change(name: str) -> list[float]:
        return [math.nan, *(getattr(large, name) - getattr(small, name) for (_, small), (_, large) in pairs)]

    return Table(
        (
            Field("model", "Model", [_named(fit) for fit in fits]),
            Field("df_resid", "Resid. Df", [fit.df_resid for fit in fits], "count"),
            Field("deviance", "Resid. Dev", [fit.deviance for fit in fits], "statistic"),
            Field("df", "Df", [math.nan, *df], "count"),
            Field("statistic", "Deviance", [math.nan, *falls], "statistic"),
            Field("delta_aic", "Delta AIC", change("aic"), "statistic"),
            Field("delta_bic", "Delta BIC", change("bic"), "statistic"),
            Field("p_value", "Pr(>Chi)", p, "p_value"),
            Field("", "", p, "stars"),
        ),
        title="Analysis of deviance",
        notes=_notes(fits),
    )


def _checked(results: Sequence[Fitted], test: str | None, n: int) -> list[Compared]:
    """Return the fits, where they can be compared."""
    if test not in (None, "chi2"):
        raise OptionError(
            f"test={test!r}, but fits with discriminations are compared by their deviances", "Leave test out."
        )
    if n:
        raise OptionError(f"n={n!r} beside fits without effects of judges", "Leave n out; they are tested by χ².")
    fits: list[Compared] = []
    for k, res in enumerate(results):
        if isinstance(res, MixedResults):
            raise DesignError(
                f"m{k} has effects of judges and others have discriminations, so they are not nested",
                "Compare their .bic.",
            )
        fits.append(res)
    plain = [_plain(fit) for fit in fits]
    check_tables(plain)
    check_links(plain)
    shrunk = [fit.specification.formula for fit in plain if fit.specification.prior is not None]
    if shrunk:
        raise DesignError(
            f"{shrunk[0]!r} was fitted with a prior and does not maximize the likelihood", "Leave prior out."
        )
    return fits


def _plain(fit: Compared) -> LLBTResults:
    return fit.without if isinstance(fit, DiscriminationResults) else fit


def _inside(small: Compared, large: Compared) -> bool:
    """Whether one model is a case of the other: with factors of 1, or as worths of their own for every judge."""
    if not isinstance(small, DiscriminationResults):
        return within(small, _plain(large))
    if isinstance(large, DiscriminationResults):
        return small.judging.name == large.judging.name and within(small.without, large.without)
    wider = small.wider.res
    return wider is not None and within(wider, large)


def _named(fit: Compared) -> str:
    formula = fit.specification.formula
    return f"{formula}, σ by {fit.judging.name}" if isinstance(fit, DiscriminationResults) else formula


def _notes(fits: Sequence[Compared]) -> tuple[str, ...]:
    found = [fit for fit in fits if isinstance(fit, DiscriminationResults)]
    notes = [note for fit in found for note in alike_notes(fit.without)]
    notes += [note for fit in found for note in independence_note(fit.groups, RATIOS)]
    notes += [f"{fit.wider.formula}: {fit.wider.reason}" for fit in found if fit.wider.reason]
    return tuple(dict.fromkeys(notes))
