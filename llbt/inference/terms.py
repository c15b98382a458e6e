"""Marginal tests of terms: each term alone is left out of a fit's formula, or added to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..base.arguments import checked
from ..base.table import Field, Table, format_figure
from ..errors import DesignError, OptionError, listed
from ..fitting.fitted import OneSource, WithWorths
from ..formulas.grammar import parse, stray_messages, vocabulary
from ..resampling import shown
from .anova import (
    asked_test,
    df_of,
    dispersion_notes,
    empty_notes,
    flip_notes,
    p_value_fields,
    reservations,
    statistic_fields,
)
from .kinds import tested
from .nested import Compared, Reference, Test, nested
from .refit import WrittenTerm
from .tested_models import TestedModel, check_maximum


@checked
def drop1(res: WithWorths | OneSource, *, test: Test | None = None, progress: bool = False) -> Table:
    """Test each term of a formula given all others.

    Parameters
    ----------
    res : a fit, or Calibration
    test : {"chi2", "F", "wald", "score", "cluster"}, optional
        As in `llbt.anova`; the larger model is `res`. For fits with effects or discriminations, of rankings and of
        patterns, likelihoods are compared. Calibrated worths have no likelihood and are tested by Wald's test.
    progress : bool
        Show a progress bar of the terms.

    Returns
    -------
    Table
        A row for the fit itself, ``<none>``, then one for each term that is left out: term, df, deviance and aic of the
        model without the term (AIC of the judgments; a note has R's AIC), statistic, df_denom (of F) and p_value. Fits
        other than `LLBTResults` have llf in place of deviance; calibrated worths have neither. A term stays if another
        term contains it (``object`` in ``object:judge``) or if all its parameters are held; so do the cuts of a
        cumulative link. Every model has the fit's brackets and discriminations, and the terms that brackets and
        discriminations need. `dependence` of patterns is a term.

    Raises
    ------
    DesignError
        If no term can be left out.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
    >>> llbt.drop1(res).to_frame()[["term", "df"]].to_dict("list")
    {'term': ['<none>', 'object:judge', 'tie'], 'df': [nan, 9.0, 1.0]}
    """
    whole = _whole(res)
    by = Reference(asked_test([whole], test))
    rest = [term for term in whole.terms if term.name not in whole.staying]
    leavable = [term for term in rest if not any(term.margin_of(other) for other in whole.terms)]
    if not leavable:
        raise DesignError(f"{whole.formula!r} has no term with an estimated parameter that can be left out.")
    rows = []
    for term in shown("drop1", leavable, progress):
        small = whole.refitted([other for other in whole.terms if other is not term])
        rows.append(_Row(term, small, nested(small, whole, by)))
    notes = (*dispersion_notes(by.test, [whole.base]), *whole.staying_notes)
    return _marginal(whole, rows, by.test, title="Single term deletions", notes=notes)


@checked
def add1(res: WithWorths, scope: str, *, test: Test | None = None, progress: bool = False) -> Table:
    """Test further terms, each added alone to a fit.

    Parameters
    ----------
    res : a fit
    scope : str
        A formula; its terms that the fit does not have are added one at a time. Terms that contain another new term
        (``object:judge:age`` contains ``object:judge``) are not tested yet.
    test : {"chi2", "F", "wald", "score", "cluster"}, optional
        As in `llbt.anova`; the larger model, which gives the dispersion of F, is the model of the row.
    progress : bool
        Show a progress bar of the terms.

    Returns
    -------
    Table
        A row for the fit itself, ``<none>``, then one for each term that is added: term, df, deviance and aic of the
        model with the term (AIC of the judgments; a note has R's AIC), statistic, df_denom (of F) and p_value. Fits
        other than `LLBTResults` have llf in place of deviance.

    Raises
    ------
    OptionError
        For a scope without new terms, or with brackets.
    FormulaError
        For a scope that cannot be parsed, or that names something that the table does not have.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"))
    >>> llbt.add1(res, "object * judge + tie * judge").to_frame()[["term", "df"]].to_dict("list")
    {'term': ['<none>', 'object:judge', 'tie:judge'], 'df': [nan, 9.0, 3.0]}
    """
    whole = _whole(res)
    new = [term for term in whole.scope(scope) if not term.is_among(whole.terms)]
    if not new:
        raise _nothing_new(whole, scope)
    first = [term for term in new if not any(other.margin_of(term) for other in new)]
    models = [whole.refitted([*whole.terms, term]) for term in shown("add1", first, progress)]
    by = Reference(asked_test(models, test))
    rows = [_Row(term, model, nested(whole, model, by)) for term, model in zip(first, models, strict=True)]
    later = [term for term in new if term not in first]
    notes = (f"not added yet, because they contain other new terms: {', '.join(_names(later))}",) if later else ()
    notes = (*notes, *dispersion_notes(by.test, [model.base for model in models]))
    return _marginal(whole, rows, by.test, title="Single term additions", notes=notes)


def _whole(res: WithWorths | OneSource) -> TestedModel:
    """Return the fit as the model whose terms are tested; raise if it does not maximize a likelihood."""
    whole = tested(res)
    if not whole.plain:
        check_maximum([whole])
    return whole


def _nothing_new(whole: TestedModel, scope: str) -> OptionError:
    stray = stray_messages(parse(scope, vocabulary(whole.base.comparisons)))
    return OptionError(
        f"the scope {scope!r} has no term that {whole.formula!r} lacks ({listed(_names(whole.terms))})",
        stray[0] if stray else "Name the terms to add.",
    )


@dataclass(frozen=True, eq=False)
class _Row:
    """A term, the model without or with it, and the test of the smaller model against the larger."""

    term: WrittenTerm
    model: TestedModel
    test: Compared


def _marginal(whole: TestedModel, rows: Sequence[_Row], test: Test, *, title: str, notes: tuple[str, ...]) -> Table:
    tests = [None, *(row.test for row in rows)]
    names = ["<none>", *_names([row.term for row in rows])]
    own = _plain_notes if whole.plain else _other_notes
    return Table(
        (
            Field("term", "", names),
            Field("df", "Df", df_of(tests), "count"),
            *_figures([whole, *(row.model for row in rows)]),
            *statistic_fields(test, tests, likelihood_ratio="LRT"),
            *p_value_fields(tests),
        ),
        title=title,
        head=(f"Model: {whole.formula}",),
        notes=(*notes, *empty_notes(names, tests), *own(whole, rows, test)),
    )


def _figures(models: Sequence[TestedModel]) -> tuple[Field, ...]:
    """Return the deviances of plain fits, the log-likelihoods of others, and AIC; empty without a likelihood."""
    fits = [model.fit for model in models]
    if models[0].basis is None:
        return ()
    aic = Field("aic", "AIC", [fit.aic for fit in fits], "statistic")
    if models[0].plain:
        return Field("deviance", "Deviance", [model.deviance for model in models], "statistic"), aic
    return Field("llf", "logLik", [fit.llf for fit in fits], "statistic"), aic


def _plain_notes(whole: TestedModel, rows: Sequence[_Row], test: Test) -> tuple[str, ...]:
    bases = [whole.base, *(row.model.base for row in rows)]
    return (*flip_notes([row.test for row in rows], whole.base), *reservations(test, bases), *_poisson(whole))


def _other_notes(whole: TestedModel, rows: Sequence[_Row], test: Test) -> tuple[str, ...]:
    notes = [note for row in rows for note in row.test.notes]
    notes += [
        f"{row.term.name}: the fit of this model did not converge, so its test may be off"
        for row in rows
        if not getattr(row.model.fit, "converged", True)
    ]
    return tuple(dict.fromkeys([*notes, *whole.term_notes]))


def _poisson(whole: TestedModel) -> tuple[str, ...]:
    """Return a note on how R's AIC, of the Poisson counts, follows from the AIC of the judgments."""
    res = whole.base
    if not res.log_linear:
        return ()
    more = res.aic_poisson - res.aic
    return (
        f"R's AIC, of the Poisson counts, is {format_figure(abs(more))} {'more' if more > 0 else 'less'} in every row.",
    )


def _names(terms: Sequence[WrittenTerm]) -> list[str]:
    return [term.name for term in terms]
