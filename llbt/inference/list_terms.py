"""Terms of a fit of lists, each left out or added alone: likelihood-ratio tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.statistics import chi2_p_value
from ..errors import DesignError, OptionError, listed
from ..fitting.ranking_model import solved_rankings
from ..fitting.ranking_results import RankingResults
from ..formulas.grammar import parse, stray_messages, vocabulary
from ..kernel.list_fit import fit_lists
from ..resampling import shown
from ..table import Field, Table
from .refit import WrittenTerm, written_terms


def dropped(res: RankingResults, test: str | None, *, progress: bool) -> Table:
    """Return the tests of each term of a fit of lists given all others; see `drop1`."""
    _check(res, test)
    terms = written_terms(res.specification.formula, res.comparisons)
    leavable = [term for term in terms if not any(term.margin_of(other) for other in terms)]
    rows = []
    for term in shown("drop1", leavable, progress):
        llf, n_params = _of_terms(res, [other for other in terms if other is not term])
        rows.append(_Row(term.name, llf, n_params, 2 * (res.llf - llf), res.n_params - n_params))
    return _table(res, rows, "Single term deletions", ())


def added(res: RankingResults, scope: str, test: str | None, *, progress: bool) -> Table:
    """Return the tests of what each of some further terms would add to a fit of lists; see `add1`."""
    _check(res, test)
    own = written_terms(res.specification.formula, res.comparisons)
    new = [term for term in written_terms(scope, res.comparisons) if not term.is_among(own)]
    if not new:
        stray = stray_messages(parse(scope, vocabulary(res.comparisons)))
        raise OptionError(
            f"the scope {scope!r} has no term that {res.specification.formula!r} lacks",
            stray[0] if stray else "Name the terms to add.",
        )
    first = [term for term in new if not any(other.margin_of(term) for other in new)]
    rows = []
    for term in shown("add1", first, progress):
        llf, n_params = _of_terms(res, [*own, term])
        rows.append(_Row(term.name, llf, n_params, 2 * (llf - res.llf), n_params - res.n_params))
    later = [term.name for term in new if term not in first]
    return _table(
        res,
        rows,
        "Single term additions",
        (f"contain other new terms, so not added yet: {listed(later)}",) * bool(later),
    )


@dataclass(frozen=True)
class _Row:
    """A term, the likelihood and number of parameters of the model without or with it, and the test."""

    name: str
    llf: float
    n_params: int
    statistic: float
    df: int


def _check(res: RankingResults, test: str | None) -> None:
    if test not in (None, "chi2"):
        raise OptionError(f"test={test!r}, but fits of lists are compared by their likelihoods", "Leave test out.")
    if res.specification.prior is not None:
        raise DesignError("the fit has a prior and does not maximize the likelihood", "Fit without prior=.")


def _of_terms(res: RankingResults, terms: Sequence[WrittenTerm]) -> tuple[float, int]:
    """Return the log-likelihood of these terms, and their parameters; without any of the worths these are equal."""
    if any(term.block == "worth" for term in terms):
        formula = " + ".join(term.name for term in terms)
        found = solved_rankings(
            replace(res.specification, formula=formula, cov_type="nonrobust", groups=""), res.rankings
        )
        return found.llf, found.n_params
    lists = replace(res.lists, matrix=res.lists.matrix[:, :0])
    lists = lists if any(term.block == "tie" for term in terms) else replace(lists, held=np.zeros(len(lists.orders)))
    return (fit_lists(lists).log_likelihood if lists.size else lists.log_likelihood(np.zeros(0))), lists.size


def _table(res: RankingResults, rows: Sequence[_Row], title: str, notes: tuple[str, ...]) -> Table:
    p = [math.nan, *(chi2_p_value(max(0.0, row.statistic), row.df) if row.df else math.nan for row in rows)]
    aic = [res.aic, *(2 * row.n_params - 2 * row.llf for row in rows)]
    clusters = ("lists are taken as independent, whatever the standard errors allow for",)
    return Table(
        (
            Field("term", "", ["<none>", *(row.name for row in rows)]),
            Field("df", "Df", [math.nan, *(row.df for row in rows)], "count"),
            Field("llf", "logLik", [res.llf, *(row.llf for row in rows)], "statistic"),
            Field("aic", "AIC", aic, "statistic"),
            Field("statistic", "LRT", [math.nan, *(row.statistic for row in rows)], "statistic"),
            Field("p_value", "Pr(>Chi)", p, "p_value"),
            Field("", "", p, "stars"),
        ),
        title=title,
        head=(f"Model: {res.specification.formula}",),
        notes=(*notes, *(clusters if res.specification.groups else ())),
    )
