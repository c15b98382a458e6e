"""The inputs of a report: the fit, the audit of its judgments, and the notices at the top of the page."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..auditing.audit import Audit, audit, audit_of
from ..core.comparisons import Comparisons
from ..core.links import Link
from ..data.asked import Asked
from ..data.countable import countable
from ..data.table_readers import comparisons_of
from ..errors import DesignError, SeparationError
from ..fitting.estimates import Estimates
from ..fitting.existence import check_existence
from ..fitting.fitted import average_of
from ..fitting.large import MOST_DENSE
from ..fitting.mixed import with_effects
from ..fitting.model import LLBT, ComparisonResults, default_formula
from ..fitting.ridge import RidgePenalty
from ..fitting.specification import CovType, Method, Prior, make_problem
from ..formulas.brackets import split_brackets
from ..formulas.coding import Reference
from ..formulas.grid import At
from ..inference.goodness import GoodnessOfFit, goodness_of_fit
from ..inference.log_worths import worth_classes
from ..judges.class_protocol import ClassesLike
from ..judges.classes import ClassModels
from ..judges.tree import JudgeTree

Groups = ClassModels | ClassesLike | JudgeTree

UNITS = ("judge", "prompt", "block")  # which judgments may depend on each other within


@dataclass(frozen=True, eq=False)
class Study:
    """The inputs of a report.

    Attributes
    ----------
    res : LLBTResults or FitPart
        The fit itself, or its part on the average judge (with effects of judges) or on a judge of discrimination 1.
    asked : a fit of pairs
        The whole fit.
    audit : Audit
    at : "average" or None
        ``"average"`` if worths differ by covariates; then they are averaged.
    confidence : float
    notices : tuple of str
        Notices at the top of the page.
    groups : ClassModels, LatentClasses, JudgeTree or None
        Groups of judges, shown in addition to the fit of all judges.
    """

    res: Any
    asked: Any
    audit: Audit
    at: At
    confidence: float
    notices: tuple[str, ...]
    groups: Groups | None = None

    @functools.cached_property
    def fit(self) -> GoodnessOfFit:
        """The tests of fit, computed only once, because they may need simulations."""
        goodness: GoodnessOfFit = goodness_of_fit(self.res)
        return goodness

    @property
    def plain(self) -> bool:
        """Whether the fit has neither random effects nor discriminations."""
        return self.asked is self.res

    @property
    def table(self) -> Comparisons:
        """The judgments as counts."""
        comparisons: Comparisons = self.res.comparisons
        return comparisons


def studied(data: object, formula: str | None, audit_given: Audit | None, confidence: float) -> Study:
    """Return the inputs of the page for a table, or for judgments in a known format, with a fit made for it."""
    if isinstance(data, Comparisons):
        c, audited = data, functools.partial(audit, data)
    else:  # judgments or counts, read once for fit and audit
        opened = countable(data, None, Asked(units=UNITS), 0, UNITS)
        c, audited = comparisons_of(opened, units=UNITS), functools.partial(audit_of, opened)
    if len(c.objects) > MOST_DENSE:
        raise too_many(len(c.objects))
    return study_of(_fitted(formula or default_formula(c), c), audit_given or audited, confidence)


def study_of(
    res: Any, audit_given: Audit | Callable[[], Audit] | None, confidence: float, groups: Groups | None = None
) -> Study:
    """Return the inputs of the page for a fit of pairs; the audit is given, made by a function, or made here."""
    if "worth" not in res.design.blocks:
        raise DesignError(f"the formula {res.specification.formula!r} has no term for the worths", "Add object.")
    if not isinstance(audit_given, Audit):
        audit_given = audit(res.comparisons) if audit_given is None else audit_given()
    average = average_of(res)
    classes, _, _ = worth_classes(average, None)
    notices = (*beside(groups), *_reduced(average), *average.covariance.notes)
    return Study(average, res, audit_given, "average" if len(classes) > 1 else None, confidence, notices, groups)


def too_many(objects: int) -> DesignError:
    """Return the error for more objects than a page can show."""
    return DesignError(
        f"a page needs the covariance of all objects, and there are {objects:,}, more than {MOST_DENSE:,}",
        "Take fewer objects: Comparisons.select(objects=[…]); or the ranks alone: llbt.leaderboard(llbt.fit(…)).",
    )


def of_all(groups: Groups) -> Any:
    """Return the fit of all judges together, without groups."""
    if isinstance(groups, JudgeTree):
        return groups.nodes[0].results
    return (groups.fits[0] if isinstance(groups, ClassModels) else groups).pooled


def beside(groups: Groups | None) -> tuple[str, ...]:
    """Return the notice that only one section describes groups of judges, and the others all judges."""
    if groups is None:
        return ()
    name = "tree" if isinstance(groups, JudgeTree) else "classes"
    half = " who found it" if isinstance(groups, JudgeTree) and groups.honest else ""
    return (
        f"The section on {name} of judges describes groups of judges; all other sections describe all "
        f"judges{half} together.",
    )


def _fitted(formula: str, c: Comparisons) -> ComparisonResults:
    """Return the fit of a formula, with effects of judges if the formula has brackets."""
    text, brackets = split_brackets(formula)
    return with_effects(LLBT.from_formula(text, c).fit(), brackets) if brackets else finite_fit(formula, c)


def finite_fit(
    formula: str,
    c: Comparisons,
    *,
    reference: Reference = None,
    method: Method = "auto",
    fixed: Mapping[str, float] | None = None,
    cov_type: CovType = "cautious",
    groups: str | Sequence[str] = (),
    prior: Prior = None,
    penalty: RidgePenalty = None,
    link: Link = "adjacent",
) -> ComparisonResults:
    """Return the fit, with Firth's bias reduction if estimates are infinite and there is no prior or penalty."""
    model = LLBT.from_formula(formula, c, reference=reference)
    fitted = functools.partial(model.fit, method=method, fixed=fixed, cov_type=cov_type, groups=groups, link=link)
    try:
        return fitted(prior=prior, penalty=penalty)
    except SeparationError:
        if prior is not None or penalty is not None:
            raise
        return fitted(prior="jeffreys")


def _reduced(res: Estimates) -> tuple[str, ...]:
    """Return the note that bias was reduced because an estimate was infinite."""
    if not res.specification.reduces_bias:
        return ()
    spec = res.specification
    problem = make_problem(res.design, res.comparisons, res.free, spec.fixed, spec.link)
    try:
        check_existence(res.design, res.free, problem, res.comparisons)
    except SeparationError as error:
        note = "Without correction some estimate is infinite, so Firth's bias reduction was used."
        return (f"{note} {error.found}. {error.remedy}",)
    return ()
