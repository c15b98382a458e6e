"""The facts about a fit that tests of nested models and terms need: one record, made by one function per kind of fit.

`kinds` registers these functions. A kind of fit in another subpackage registers its own function by
``@tested.register``, next to its results.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, singledispatch
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..core.basis import Basis
from ..core.columns import FloatArray, IntArray
from ..errors import DesignError, OptionError, kind_of, listed
from ..fitting.best_worst_effects import judged_sets
from ..fitting.clusters import RATIOS, independence_note
from ..fitting.discrimination import with_discrimination
from ..fitting.discrimination_tests import alike_notes
from ..fitting.estimates import Estimates
from ..fitting.mixed import with_effects
from ..fitting.pattern_dependence import EVERYONE, PERSISTENCE, dependence_terms, split_dependence
from ..fitting.pattern_missingness import Missingness
from ..fitting.pattern_model import solved_patterns
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.protocols import WithDiscriminations, WithEffects, WithLists, WithManyWorths, WithPatterns
from ..fitting.ranking_model import rankings_of_terms
from ..formulas.brackets import split_brackets
from ..kernel.laplace import METHOD_NAMES, NormalDensity
from ..kernel.likelihood import Problem
from ..kernel.quadrature import Sampling
from .nesting import check_links, check_tables, predictors_within, same_answers, within
from .refit import WrittenTerm, cuts_apart, own_terms, refit, refit_terms, written_terms

Family = Literal["comparisons", "rankings, sets or patterns", "latent classes", "calibrated worths"]
Terms = Sequence[WrittenTerm]


def _holds(small: TestedModel, large: TestedModel) -> bool:
    """Whether one model's predictors are among the other's."""
    return within(small.base, large.base)


@dataclass(frozen=True, eq=False)
class TestedModel:
    """A fit as one model among others for the same data.

    Attributes
    ----------
    fit : result
        The fit; it has `llf`, `aic` and `bic`, except for calibrated worths.
    what : str
        The kind of fits in words.
    family : str
        Models of one family may be nested.
    formula : str
        The model as printed in tables: the formula and further parts.
    n_params : int
    base : LLBTResults or FitPart
        The predictors of the table: its worths, ties and order effects.
    check_data : callable
        Takes models of the family, and raises an error unless they have the same data.
    refitted : callable
        Takes terms, and returns the model with only these terms and with the same options and further parts.
    deviance : float
        The deviance of the Poisson counts; NaN if the model has none.
    beside : frozenset of str
        The parts besides the predictors; a smaller model has a subset of them.
    scales : mapping of str to int
        The number of standard deviations of each part; these cannot be below 0.
    at_zero : bool
        Whether one of these standard deviations is 0.
    noise : float
        The Monte Carlo error of its log-likelihood.
    shrunk : bool
        Whether a prior keeps the estimates from the maximum of the likelihood.
    holds : callable
        Takes a smaller model, whose parts are all predictors, and this model. Returns whether the smaller model's
        predictors are among this model's predictors.
    clustered : bool
        Whether its covariance is by clusters.
    wider : LLBTResults or None
        A plain fit, without random effects or discriminations, in which this model is nested.
    neighbours : tuple of results
        The fits that `anova` compares when this fit is the only argument, including this fit.
    terms : tuple of WrittenTerm
        The terms of the formula.
    staying : frozenset of str
        Names of the terms that are in every model.
    read_scope : callable, optional
        A function from a formula to its terms; by default for formulas of comparisons.
    notes, term_notes, staying_notes : tuple of str
        Notes for comparisons of models, for tables of terms, and for tables of terms that are left out.
    """

    __test__ = False  # the name starts with Test: keep pytest from collecting it

    fit: Any
    what: str
    family: Family
    formula: str
    n_params: int
    base: Any
    check_data: Callable[[Sequence[TestedModel]], None]
    refitted: Callable[[Terms], TestedModel]
    deviance: float = math.nan
    beside: frozenset[str] = frozenset()
    scales: Mapping[str, int] = field(default_factory=dict)
    at_zero: bool = False
    noise: float = 0.0
    shrunk: bool = False
    clustered: bool = False
    holds: Callable[[TestedModel, TestedModel], bool] = _holds
    wider: Estimates | None = None
    neighbours: tuple[Any, ...] = ()
    terms: tuple[WrittenTerm, ...] = ()
    staying: frozenset[str] = frozenset()
    read_scope: Callable[[str], list[WrittenTerm]] | None = None
    notes: tuple[str, ...] = ()
    term_notes: tuple[str, ...] = ()
    staying_notes: tuple[str, ...] = ()

    @property
    def n_scales(self) -> int:
        """The number of standard deviations among its parameters."""
        return sum(self.scales.values())

    def scales_beside(self, small: TestedModel) -> tuple[int, int]:
        """Return the number of standard deviations that are 0, and that equal others, if a smaller model is true."""
        new = sum(number for part, number in self.scales.items() if part not in small.scales)
        return new, self.n_scales - small.n_scales - new

    @property
    def plain(self) -> bool:
        """Whether the model is a fit of comparisons with predictors only; such fits have more than one test."""
        return self.fit is self.base

    @property
    def basis(self) -> Basis | None:
        """The data of the log-likelihood; None without a log-likelihood."""
        return None if self.family == "calibrated worths" else self.fit.basis

    def is_within(self, large: TestedModel) -> bool:
        """Whether this model is nested in another model of the same data."""
        if self.beside <= large.beside:
            return large.holds(self, large)
        return self.wider is not None and not large.beside and within(self.wider, large.base)

    def scope(self, text: str) -> list[WrittenTerm]:
        """Return the terms that a formula names."""
        return written_terms(text, self.base.comparisons) if self.read_scope is None else self.read_scope(text)


@singledispatch
def tested(res: Any) -> TestedModel:
    """Return a fit as the record that tests against other models need."""
    raise OptionError(f"found {kind_of(res)}", expected="a fit, as llbt.fit returns it")


def formula_of(terms: Terms) -> str:
    """Return the formula of some terms."""
    return " + ".join(term.name for term in terms) or "0"


# -- fits of comparisons -------------------------------------------------------------------------------------


def _same_table(models: Sequence[TestedModel]) -> None:
    """Raise for fits of different tables or links, and if only some likelihoods are approximated."""
    check_tables([model.base for model in models])
    check_links([model.base for model in models])
    rules = [rule for rule in (_rule(model.fit) for model in models) if rule is not None]
    laplace = [isinstance(rule, NormalDensity) and rule.method == "laplace" for rule in rules]
    by = {METHOD_NAMES["laplace"] if near else "integral" for near in laplace}
    if len(by) > 1:
        ways = " and ".join(sorted(by))
        raise DesignError(
            f"the likelihoods of these fits are computed in different ways ({ways}), which differ by more than the "
            "effects do",
            "Fit all in one way: approximation='laplace', or without it.",
        )


def _rule(fit: Any) -> object:
    """Return how effects of a fit were integrated out; None if there was nothing to integrate."""
    maximum = getattr(fit, "maximum", None)
    return None if maximum is None else maximum.rule


def plain_model(res: PlainEstimates) -> TestedModel:
    """Return a fit of pairs by its counts in the form that tests against other models need."""
    terms, held = own_terms(res)
    cuts, _ = cuts_apart(res, terms)

    def refitted(some: Terms) -> TestedModel:
        return plain_model(refit_terms(res, [term for term in some if term not in held]))

    return TestedModel(
        fit=res,
        what="fits without effects of judges",
        family="comparisons",
        formula=res.specification.formula,
        n_params=res.n_params,
        base=res,
        check_data=_same_table,
        refitted=refitted,
        deviance=res.deviance,
        shrunk=res.specification.prior is not None,
        clustered=bool(res.specification.groups),
        terms=(*terms, *held),
        staying=frozenset(term.name for term in (*cuts, *held)),
    )


def model_with_effects(res: WithEffects) -> TestedModel:
    """Return a fit with normal effects in the form that tests against other models need."""
    base = plain_model(res.without)
    blocks = {{"object": "worth", "1": "worth"}.get(b.effect, b.effect) for b in res.brackets}
    needed = _last_of(base.terms, blocks) | {bracket.term for bracket in res.brackets if bracket.is_slope}

    def refitted(some: Terms) -> TestedModel:
        again = base.refitted(some).fit
        return model_with_effects(with_effects(again, res.brackets))

    near = {
        "laplace": "likelihoods use Laplace's approximation, which is too low if levels have few judgments",
        "ep": "likelihoods by expectation propagation are up to .2 below those by quadrature",
    }
    rule, dependent = res.maximum.rule, independence_note(res.groups, RATIOS)
    return replace(
        base,
        fit=res,
        what="fits with effects of judges",
        formula=res.specification.formula,
        n_params=res.n_params,
        refitted=refitted,
        beside=frozenset(part for bracket in res.brackets for part in (bracket.common, bracket.written)),
        deviance=math.nan,
        scales=Counter(bracket.common for bracket in res.brackets),
        at_zero=not np.all(res.maximum.scales > 0),
        noise=res.maximum.moved if isinstance(rule, Sampling) else 0.0,
        staying=base.staying | needed,
        read_scope=partial(_fixed_scope, base),
        notes=(*((near[rule.method],) if isinstance(rule, NormalDensity) else ()), *dependent),
        term_notes=(
            f"every model has {', '.join(dict.fromkeys(bracket.written for bracket in res.brackets))}; "
            "llbt.anova(smaller, larger) tests a bracket",
            *dependent,
        ),
        staying_notes=_needed_notes(needed, "the effects are deviations from"),
    )


def _last_of(terms: Terms, blocks: set[str]) -> frozenset[str]:
    """Return the terms without which a block would be empty."""
    return frozenset(t.name for t in terms if t.block in blocks and sum(o.block == t.block for o in terms) == 1)


def _needed_notes(needed: frozenset[str], why: str) -> tuple[str, ...]:
    return (f"not left out, because {why} it: {', '.join(sorted(needed))}",) if needed else ()


def _fixed_scope(base: TestedModel, text: str) -> list[WrittenTerm]:
    """Return the terms of a scope; raise for brackets."""
    rest, brackets = split_brackets(text)
    if brackets:
        raise OptionError(
            f"scope {text!r} has brackets, which are not added one at a time",
            "Fit the formula with the bracket, and pass both fits to llbt.anova.",
        )
    return base.scope(rest)


def model_with_discriminations(res: WithDiscriminations) -> TestedModel:
    """Return a fit with discriminations in the form that tests against other models need."""
    base, judge = plain_model(res.without), res.judging.name
    wider, dependent = res.wider, independence_note(res.groups, RATIOS)

    def refitted(some: Terms) -> TestedModel:
        again = base.refitted(some).fit
        return model_with_discriminations(with_discrimination(again, judge, partial(refit, again)))

    needed = frozenset(
        term.name
        for term in base.terms
        if term.block == "worth" and sum(res.without.design.terms[k] != term.name for k in _worths(res.without)) < 2
    )
    return replace(
        base,
        fit=res,
        what="fits with discriminations",
        formula=f"{res.specification.formula}, σ by {judge}",
        n_params=res.n_params,
        refitted=refitted,
        deviance=res.deviance,
        beside=frozenset({f"σ by {judge}"}),
        wider=wider.res,
        neighbours=(res.without, res, *([] if wider.res is None else [wider.res])),
        staying=base.staying | needed,
        notes=(*alike_notes(res.without), *dependent, *((f"{wider.formula}: {wider.reason}",) if wider.reason else ())),
        term_notes=(f"every model has a discrimination of each {judge}", *dependent),
        staying_notes=_needed_notes(needed, "the discriminations multiply"),
    )


def _worths(res: Estimates) -> list[int]:
    """Return which of the free parameters describe worths."""
    return [k for k in res.free if res.design.blocks[k] == "worth"]


def model_of_many(res: WithManyWorths) -> TestedModel:
    """Return a fit of very many objects in the form that tests against other models need."""

    def refitted(some: Terms) -> TestedModel:
        raise DesignError(
            "fits of very many objects are not repeated for each term", "Fit each model, and use llbt.anova(m0, m1)."
        )

    return TestedModel(
        fit=res,
        what="fits of very many objects",
        family="comparisons",
        formula=res.specification.formula,
        n_params=res.n_params,
        base=res.beside,
        check_data=_same_table,
        refitted=refitted,
        deviance=res.deviance,
        beside=frozenset({"a worth of each object"}),
        shrunk=res.specification.prior is not None,
        holds=_holds_beside_objects,
    )


def _holds_beside_objects(small: TestedModel, large: TestedModel) -> bool:
    """Whether a fit of many objects has all predictors of a model, except differences of objects."""
    others = np.flatnonzero(~_of_objects_alone(small.base))
    return predictors_within(columns_of(small.base.problem(), others), large.base.problem())


def _of_objects_alone(res: Estimates) -> npt.NDArray[np.bool_]:
    """Return which of the free parameters are differences of a value that each object has, shape (p,)."""
    first, *others = res.problem().predictors
    is_difference = np.zeros(len(res.free), dtype=np.bool_)
    if "object" not in res.design.worth.units:
        return is_difference
    objects, row = np.unique(res.design.worth.units["object"], return_index=True)
    i, j = np.searchsorted(objects, res.comparisons.pairs).T
    for k, at in enumerate(res.free):
        value = res.design.worth.matrix.tocsr()[row][:, [at]].toarray()[:, 0]
        alone = not any(rows.columns(np.array([k])).toarray().any() for rows in others)
        is_difference[k] = alone and np.allclose(first.columns(np.array([k])).toarray()[:, 0], value[i] - value[j])
    return is_difference


def columns_of(problem: Problem, some: IntArray) -> Problem:
    """Return a problem with some of its parameters only."""
    return replace(problem, predictors=tuple(rows.columns(some) for rows in problem.predictors))


# -- fits of rankings, sets and patterns ---------------------------------------------------------------------


def _same_answers(models: Sequence[TestedModel]) -> None:
    """Raise for fits of different answers, and if only some models include the missing answers."""
    first, modelled = models[0].fit, [bool(getattr(model.fit, "missingness", None)) for model in models]
    for k, model in enumerate(models):
        if not same_answers(first, model.fit):
            raise DesignError(f"m0 and m{k} are fits of different answers", "Fit both to the same answers.")
        if modelled[k] is not modelled[0]:
            raise DesignError(
                f"only one of m0 and m{k} models which answers are missing",
                "Fit both with missing=, the smaller one with 'common'.",
            )


def model_of_lists(res: WithLists) -> TestedModel:
    """Return a fit of rankings in the form that tests against other models need."""
    spec = res.specification

    def refitted(some: Terms) -> TestedModel:
        asked = replace(spec, formula=formula_of(some), cov_type="nonrobust", groups="")
        return model_of_lists(rankings_of_terms(asked, res.rankings))

    terms = written_terms(spec.formula, res.comparisons)
    return replace(_of_answers(res, refitted, res.names_beside, terms), shrunk=spec.prior is not None)


def _of_answers(
    res: Any, refitted: Callable[[Terms], TestedModel], beside: Iterable[str], terms: Iterable[WrittenTerm]
) -> TestedModel:
    """Return the common parts of models of rankings, best-worst sets and patterns."""
    assumption = "rankings and patterns are assumed independent, even if standard errors are clustered"
    notes = (assumption,) if res.specification.groups else ()
    return TestedModel(
        fit=res,
        what="fits of rankings, sets or patterns",
        family="rankings, sets or patterns",
        formula=res.formula,
        n_params=res.n_params,
        base=res.average,
        check_data=_same_answers,
        refitted=refitted,
        beside=frozenset(beside),
        terms=tuple(terms),
        notes=notes,
        term_notes=notes,
    )


def model_of_sets(res: Any) -> TestedModel:
    """Return a fit of best-worst sets with effects in the form that tests against other models need."""
    text, brackets = split_brackets(res.formula)
    terms = tuple(written_terms(text, res.comparisons))
    needed = _last_of(terms, {"worth"})

    def refitted(some: Terms) -> TestedModel:
        asked = replace(res.specification, formula=f"{formula_of(some)} + {brackets[0]}")
        return model_of_sets(judged_sets(asked, res.rankings))

    model = replace(
        _of_answers(res, refitted, res.names_beside, terms),
        scales={brackets[0].common: 1},
        at_zero=res.scale == 0,
        staying=needed,
        term_notes=(f"every model has {brackets[0]}; llbt.anova(smaller, larger) tests it",),
        staying_notes=_needed_notes(needed, "the effects are deviations from"),
    )
    return replace(model, read_scope=partial(_fixed_scope, model))


def model_of_patterns(res: WithPatterns) -> TestedModel:
    """Return a fit of patterns in the form that tests against other models need."""
    spec = res.specification

    def read(text: str) -> list[WrittenTerm]:
        rest, dependence = split_dependence(text)
        depends = zip(dependence_terms(dependence), dependence.by, strict=False)
        own = [WrittenTerm(term, "dependence", frozenset({name} - {EVERYONE})) for term, name in depends]
        lasting = [WrittenTerm(PERSISTENCE, PERSISTENCE, frozenset())] if dependence.persistence else []
        return [*written_terms(rest, res.comparisons), *own, *lasting]

    def refitted(some: Terms) -> TestedModel:
        asked = replace(spec, formula=formula_of(some), cov_type="nonrobust", groups="")
        return model_of_patterns(solved_patterns(asked, res.patterns))

    model = _of_answers(res, refitted, dependence_terms(res.dependence), read(spec.formula))
    return replace(model, holds=_holds_missing, read_scope=read)


def _holds_missing(small: TestedModel, large: TestedModel) -> bool:
    """Whether one model is a special case of the other, in its predictors and in its model of missing answers."""
    one, other = small.fit.missingness, large.fit.missingness
    return within(small.base, large.base) and _missing_within(one, other)


def _missing_within(small: Missingness | None, large: Missingness | None) -> bool:
    if small is None or large is None:
        return small is large
    return all(_spans(large, small) for large, small in ((large.level, small.level), (large.slope, small.slope)))


def _spans(large: FloatArray, small: FloatArray) -> bool:
    """Whether the columns of one matrix are combinations of the columns of the other."""
    return bool(np.linalg.matrix_rank(np.concatenate([large, small], axis=1)) == np.linalg.matrix_rank(large))


def slope_notes(models: Sequence[TestedModel]) -> tuple[str, ...]:
    """Return a note that tests of how missing answers depend on the answers do not keep their level."""
    modelled = [missing for model in models if (missing := getattr(model.fit, "missingness", None))]
    if len({missing.slope.shape[1] for missing in modelled}) < 2:
        return ()
    return (
        "tests of β (missing answers) can reject too often with few judges: simulations with 300 and 500 judges "
        "rejected in 6 and 8 % at level 5 %",
    )


# -- what can be compared ------------------------------------------------------------------------------------


def check_comparable(models: Sequence[TestedModel]) -> None:
    """Raise for models of different families or data."""
    first = models[0]
    for other in models[1:]:
        if other.family == first.family:
            continue
        both = first.basis is not None and other.basis is not None
        why = first.basis.difference(other.basis) if first.basis is not None and other.basis is not None else ""
        raise DesignError(
            f"some fits are of {first.family} and some of {other.family}: "
            f"{why or 'neither model is a special case of the other'}",
            "Compare fits of one kind." if why or not both else "Compare their .aic or .bic.",
        )
    first.check_data(models)


def check_nested(models: Sequence[tuple[int, TestedModel]]) -> None:
    """Raise if a model of a numbered sequence is not a special case of the next one."""
    for (a, small), (b, large) in itertools.pairwise(models):
        inside = small.is_within(large)
        if inside and small.n_params < large.n_params:
            continue
        lacking = sorted(small.beside - large.beside)
        lack = f" (m{b} lacks {listed(lacking)})" if lacking and not inside else ""
        raise DesignError(
            f"m{a} ({small.formula}) and m{b} ({large.formula}) are {'the same model' if inside else 'not nested'}"
            f"{lack}, so they cannot be tested against each other",
            "Compare their .aic or .bic.",
        )


def check_maximum(models: Sequence[TestedModel]) -> None:
    """Raise for estimates with a prior, because these do not maximize the compared likelihood."""
    shrunk = [model.formula for model in models if model.shrunk]
    if shrunk:
        raise DesignError(
            f"{shrunk[0]!r} was fitted with a prior and does not maximize the likelihood", "Fit it without prior=."
        )
