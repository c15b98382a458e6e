"""Refit other formulas or data with the options of a given fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

from ..core.comparisons import Comparisons
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..errors import DesignError, OptionError, listed
from ..fitting.best_worst_effects import judged_sets
from ..fitting.discrimination import with_discrimination
from ..fitting.mixed import with_effects
from ..fitting.model import LLBT
from ..fitting.pattern_model import solved_patterns
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.protocols import FitLike, WithDiscriminations, WithEffects, has_discriminations, has_effects
from ..fitting.ranking_model import solved_rankings
from ..fitting.specification import Specification
from ..formulas.coding import references
from ..formulas.grammar import HEADS, Term, parse, vocabulary
from ..formulas.variables import Word


@dataclass(frozen=True)
class WrittenTerm:
    """A term of a formula, so that formulas can be put together from terms.

    Attributes
    ----------
    name : str
        The term as written in a formula: ``object:judge``, ``tie``.
    block : str
        The block of the parameter: ``"worth"``, ``"tie"``, ``"bad"``, ``"grade"``, ``"order"``, or for patterns
        ``"dependence"`` or ``"persistence"``.
    codes : frozenset of str
        The factors of the term, without ``tie``, ``grade`` or ``order``.
    """

    name: str
    block: str
    codes: frozenset[str]

    def margin_of(self, other: WrittenTerm) -> bool:
        """Whether the other term has all factors of this one and more."""
        return self.block == other.block and self.codes < other.codes

    def is_among(self, others: Sequence[WrittenTerm]) -> bool:
        """Whether the same term is among the others, in any order of its factors."""
        return any(self.block == other.block and self.codes == other.codes for other in others)


def written_terms(formula: str, c: Comparisons) -> list[WrittenTerm]:
    """Return the terms of a formula that describe something, in the order worth, tie, bad, grade, order."""
    parsed = parse(formula, vocabulary(c))
    words: tuple[Word, ...] = ("worth", *HEADS)
    return [_written(word, term) for word in words for term in parsed.of(word)]


def _written(block: Word, term: Term) -> WrittenTerm:
    head = [] if block == "worth" else [block]
    return WrittenTerm(":".join([*head, *(f.code for f in term.factors)]), block, term.codes)


def own_terms(res: PlainEstimates) -> tuple[list[WrittenTerm], list[WrittenTerm]]:
    """Return the terms of a fit with an estimated parameter, and the terms whose parameters were all held."""
    design = res.design
    open_terms = {term for name, term in zip(design.names, design.terms, strict=True) if name not in res.fixed}
    terms = written_terms(res.specification.formula, res.comparisons)
    return [t for t in terms if t.name in open_terms], [t for t in terms if t.name not in open_terms]


def cuts_apart(res: PlainEstimates, terms: Sequence[WrittenTerm]) -> tuple[list[WrittenTerm], list[WrittenTerm]]:
    """Return the terms that every model with the fit's link needs (its cuts), and the other terms.

    Without cuts a cumulative link gives ties and grades no probability.
    """
    cuts = [] if res.log_linear else [t for t in terms if t.block in ("tie", "grade") and not t.codes]
    return cuts, [term for term in terms if term not in cuts]


def refit(res: PlainEstimates, formula: str) -> Any:
    """Return the fit of another formula to the same table with the same options.

    Parameters
    ----------
    res : LLBTResults
    formula : str
        A formula with every parameter that `res` holds at a value.

    Raises
    ------
    DesignError
        If the formula lacks a parameter that is held at a value.

    Notes
    -----
    Every field of the fit's `Specification` is carried along. There are no warnings (ties, terms that cancel, few
    clusters): the first fit gave them, or they are intended here.
    """
    spec = res.specification
    model = LLBT.from_formula(formula, res.comparisons, reference=spec.reference)
    lost = [name for name in spec.fixed if name not in model.design.names]
    if lost:
        raise DesignError(
            f"fixed: {listed(lost)} is held in {spec.formula!r}, but {formula!r} lacks this parameter, so "
            "neither model is a special case of the other",
            "Fit both models and compare them: llbt.anova(m0, m1).",
        )
    return _solved(model, spec)


def refit_terms(res: PlainEstimates, terms: Sequence[WrittenTerm]) -> Any:
    """Return the fit of these terms with the options of `res`; without terms, only nuisance parameters are fitted.

    Terms whose parameters are all held stay in every model, as R keeps offsets in its null model.
    """
    if terms:
        _, held = own_terms(res)
        return refit(res, " + ".join(term.name for term in (*terms, *held)))
    model = LLBT(res.specification.formula, res.comparisons, res.specification.reference, res.design)
    everything = {name: res.fixed.get(name, 0.0) for name in res.names}
    return _solved(model, replace(res.specification, fixed=everything, cov_type="nonrobust", groups=()))


def refit_table(res: PlainEstimates, c: Comparisons) -> Any:
    """Return the fit of the same formula to another table.

    The reference object and levels stay the same as in the fit, if the table has them.

    The covariance assumes independent judgments, because resamples may not keep the clusters.
    """
    levels = {column.name: column.levels.tolist() for column in (*c.columns, *c.sides, *c.object_columns)}
    asked = references(res.specification.reference)
    remaining = {name: level for name, level in asked.items() if name != "object" and level in levels.get(name, [])}
    reference = {**remaining, **({"object": res.design.reference} if res.design.reference in c.objects else {})}
    model = LLBT.from_formula(res.specification.formula, c, reference=reference)
    held = {name: value for name, value in res.specification.fixed.items() if name in model.design.names}
    return _solved(model, replace(res.specification, cov_type="nonrobust", groups=(), fixed=held))


@singledispatch
def refit_data(res: Any, data: Any) -> Any:
    """Return the fit of the same formula and options to other data of the same kind, taken as independent."""
    raise OptionError(f"a {type(res).__name__} cannot be fitted again", expected="a fit")


def refit_differing(res: WithEffects | WithDiscriminations, data: Comparisons) -> FitLike:
    """Return the fit with effects or discriminations of judges to another table."""
    return beside(res, refit_table(res.without, data))


def beside(res: FitLike, plain: Any) -> FitLike:
    """Return the fit with the effects or discriminations of `res`, given a fit without them."""
    if has_effects(res):
        return with_effects(plain, res.brackets)
    if has_discriminations(res):
        return with_discrimination(plain, res.judging.name, lambda formula: refit(plain, formula))
    return plain  # type: ignore[no-any-return]


def with_equal_scales(res: WithEffects) -> list[Any]:
    """Return the fit with one σ in place of one for each level of a covariate; an empty list without such σ."""
    plain: Any = res.without
    common = tuple(dict.fromkeys(replace(bracket, by="", level=None) for bracket in res.brackets))
    return [with_effects(plain, common)] if common != res.brackets else []


def refit_rankings(res: FitLike, data: Rankings) -> FitLike:
    """Return the fit to other rankings."""
    return solved_rankings(replace(res.specification, cov_type="nonrobust", groups=""), data)


def refit_sets(res: FitLike, data: Rankings) -> FitLike:
    """Return the fit to other best-worst sets, with effects of judges."""
    return judged_sets(res.specification, data)


def refit_patterns(res: FitLike, data: Patterns) -> FitLike:
    """Return the fit to other patterns."""
    return solved_patterns(replace(res.specification, cov_type="nonrobust", groups=""), data)


def _solved(model: LLBT, spec: Specification) -> Any:
    return model.solved(replace(spec, formula=model.formula, reference=model.reference))
