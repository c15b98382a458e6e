"""Marginal tests of terms: each left out of a fit's formula, or added to it, alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..arguments import checked
from ..errors import DesignError, OptionError, listed
from ..fitting.ranking_results import RankingResults
from ..fitting.results import LLBTResults
from ..formulas.grammar import parse, stray_messages, vocabulary
from ..resampling import shown
from ..table import Field, Table, format_figure
from .anova import (
    Compared,
    Test,
    chosen_test,
    compared,
    dispersion_notes,
    empty_notes,
    flip_notes,
    p_value_fields,
    reservations,
    statistic_fields,
)
from .list_terms import added, dropped
from .refit import WrittenTerm, cuts_apart, own_terms, refit_terms, written_terms


@checked
def drop1(res: LLBTResults | RankingResults, *, test: Test | None = None, progress: bool = False) -> Table:
    """Test each term of a formula given all others.

    Parameters
    ----------
    res : LLBTResults or RankingResults
    test : {"chi2", "F", "wald", "score", "cluster"}, optional
        As in `llbt.anova`; the larger model is `res`. Of a fit of lists likelihoods are compared.
    progress : bool
        Show a progress bar of the terms.

    Returns
    -------
    Table
        A row for the fit itself, ``<none>``, then one per term that is left out: term, df, deviance and aic of the
        model without it (of the judgments; a note has R's), statistic, df_denom (of F) and p_value; of a fit of lists
        llf in place of deviance. A term that is
        contained in another (``object`` in ``object:judge``), or whose parameters are all held, stays, as do the cuts
        of a cumulative link.

    Raises
    ------
    DesignError
        Where no term can be left out.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
    >>> llbt.drop1(res).to_frame()[["term", "df"]].to_dict("list")
    {'term': ['<none>', 'object:judge', 'tie'], 'df': [nan, 9.0, 1.0]}
    """
    if isinstance(res, RankingResults):
        return dropped(res, test, progress=progress)
    test = chosen_test(test, res)
    terms, held = own_terms(res)
    _, others = cuts_apart(res, terms)
    leavable = [term for term in others if not any(term.margin_of(other) for other in (*terms, *held))]
    if not leavable:
        raise DesignError(f"{res.specification.formula!r} has no term with an estimated parameter to leave out.")
    rows = []
    for term in shown("drop1", leavable, progress):
        fit = refit_terms(res, [other for other in terms if other is not term])
        rows.append(_Row(term, fit, compared(fit, res, test, res)))
    return _marginal(res, rows, test, title="Single term deletions", notes=dispersion_notes(test, [res]))


@checked
def add1(res: LLBTResults | RankingResults, scope: str, *, test: Test | None = None, progress: bool = False) -> Table:
    """Test what each of some further terms would add to a fit.

    Parameters
    ----------
    res : LLBTResults or RankingResults
    scope : str
        A formula; the terms of it that the fit does not have are added one at a time. Those that contain another new
        one (``object:judge:age`` beside ``object:judge``) are left for later.
    test : {"chi2", "F", "wald", "score", "cluster"}, optional
        As in `llbt.anova`; the larger model, whose dispersion F takes, is that of the row.
    progress : bool
        Show a progress bar of the terms.

    Returns
    -------
    Table
        A row for the fit itself, ``<none>``, then one per term that is added: term, df, deviance and aic of the model
        with it (of the judgments; a note has R's), statistic, df_denom (of F) and p_value.

    Raises
    ------
    OptionError
        For a scope without new terms.
    FormulaError
        For a scope that cannot be read, or names something that the table does not have.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"))
    >>> llbt.add1(res, "object * judge + tie * judge").to_frame()[["term", "df"]].to_dict("list")
    {'term': ['<none>', 'object:judge', 'tie:judge'], 'df': [nan, 9.0, 3.0]}
    """
    if isinstance(res, RankingResults):
        return added(res, scope, test, progress=progress)
    terms, held = own_terms(res)
    own = [*terms, *held]
    new = [term for term in written_terms(scope, res.comparisons) if not term.is_among(own)]
    if not new:
        stray = stray_messages(parse(scope, vocabulary(res.comparisons)))
        raise OptionError(
            f"the scope {scope!r} has no term that {res.specification.formula!r} lacks ({listed(_names(own))})",
            stray[0] if stray else "Name the terms to add.",
        )
    first = [term for term in new if not any(other.margin_of(term) for other in new)]
    fits = [refit_terms(res, [*terms, term]) for term in shown("add1", first, progress)]
    test = chosen_test(test, max(fits, key=lambda fit: len(fit.free)))
    rows = [_Row(term, fit, compared(res, fit, test, fit)) for term, fit in zip(first, fits, strict=True)]
    later = [term for term in new if term not in first]
    notes = (f"contain other new terms, so not added yet: {', '.join(_names(later))}",) if later else ()
    return _marginal(res, rows, test, title="Single term additions", notes=(*notes, *dispersion_notes(test, fits)))


@dataclass(frozen=True, eq=False)
class _Row:
    """A term, the fit without or with it, and the test of the smaller of the two models."""

    term: WrittenTerm
    fit: LLBTResults
    test: Compared


def _marginal(res: LLBTResults, rows: Sequence[_Row], test: Test, *, title: str, notes: tuple[str, ...]) -> Table:
    fits, tests = [res, *(row.fit for row in rows)], [None, *(row.test for row in rows)]
    names = ["<none>", *_names([row.term for row in rows])]
    return Table(
        (
            Field("term", "", names),
            Field("df", "Df", [float("nan") if t is None else t.df for t in tests], "count"),
            Field("deviance", "Deviance", [fit.deviance for fit in fits], "statistic"),
            Field("aic", "AIC", [fit.aic for fit in fits], "statistic"),
            *statistic_fields(test, tests, likelihood_ratio="LRT"),
            *p_value_fields(tests),
        ),
        title=title,
        head=(f"Model: {res.specification.formula}",),
        notes=(*notes, *empty_notes(names, tests), *flip_notes(tests, res), *reservations(test, fits), *_poisson(res)),
    )


def _poisson(res: LLBTResults) -> tuple[str, ...]:
    """Say how R's AIC, of the Poisson counts, is found from that of the judgments."""
    if not res.log_linear:
        return ()
    found, more = res.aic_poisson, res.aic_poisson - res.aic
    return (
        f"AIC is of the judgments; R's, of the Poisson counts, is {format_figure(found)} for <none>, and "
        f"{format_figure(abs(more))} {'more' if more > 0 else 'less'} than here in every row",
    )


def _names(terms: Sequence[WrittenTerm]) -> list[str]:
    return [term.name for term in terms]
