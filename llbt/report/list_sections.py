"""The report of lists: the answer in words, the audit, the leaderboard, and the fit of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..auditing.audit import Audit, audit
from ..base.table import format_count
from ..core.rankings import Rankings
from ..errors import SeparationError
from ..fitting.ranking_model import default_formula_of_lists, fit_cautiously
from ..formulas.grid import At
from ..inference.goodness import goodness_of_fit
from ..inference.log_worths import worth_classes
from ..inference.pairwise import pairwise
from ..judges.tree import JudgeTree
from ..plot.pairs import probabilities as probabilities_plot
from .groups import tree_sentences
from .interpret import interpret
from .page_parts import complete, folded, or_why, paragraph, picture, table
from .report_inputs import beside
from .sections import Sections, at_text, audited, made_by, pair_sentences, ranked

_SOURCE_OF_SETS = (
    "The model: Marley, A. A. J. & Louviere, J. J. (2005). Some probabilistic models of best, worst, and best-worst "
    "choices. Journal of Mathematical Psychology 49(6), 464-480."
)
_MOST_DRAWN = 30  # objects of a heat map
_MOST_FIRST = 200  # objects of a set, of which one is first
_DRAWN = 199  # tables of lists
_MOST_ENTRIES = 50_000  # of lists that are drawn so often


@dataclass(frozen=True, eq=False)
class ListStudy:
    """The inputs of a report of lists.

    Attributes
    ----------
    res : a fit of rankings
    audit : Audit
    at : "average" or None
        ``"average"`` if worths differ by covariates; then they are averaged.
    confidence : float
    notices : tuple of str
        Notices at the top of the page.
    tree : JudgeTree or None
        Groups of judges, shown in addition to the fit of all judges.
    """

    res: Any
    audit: Audit
    at: At
    confidence: float
    notices: tuple[str, ...]
    tree: JudgeTree | None = None


def studied_lists(data: Rankings, formula: str | None, audit_given: Audit | None, confidence: float) -> ListStudy:
    """Return the inputs of the page on lists, with a fit made for it."""
    res, reduced = _fitted(formula or default_formula_of_lists(data), data)
    return list_study_of(res, audit_given, confidence, reduced)


def list_study_of(
    res: Any, audit_given: Audit | None, confidence: float, reduced: Sequence[str] = (), tree: JudgeTree | None = None
) -> ListStudy:
    """Return the inputs of the page for a fit of rankings, with groups of judges if there are any."""
    audit_given = audit_given or audit(res.rankings)
    classes, _, _ = worth_classes(res.average, None)
    notices = (*beside(tree), *reduced, *res.covariance.notes)
    return ListStudy(res, audit_given, "average" if len(classes) > 1 else None, confidence, notices, tree)


def _fitted(formula: str, r: Rankings) -> tuple[Any, tuple[str, ...]]:
    """Return the fit clustered to give the largest standard errors, and a notice if bias was reduced."""
    try:
        return fit_cautiously(formula, r), ()
    except SeparationError as error:
        note = (
            f"Without correction some estimate is infinite, so Firth's bias reduction was used. {error.found}. "
            f"{error.remedy}"
        )
        return fit_cautiously(formula, r, prior="jeffreys"), (note,)


def sections_of_lists(s: ListStudy) -> Sections:
    """Return the sections of the page by name: each heading, and the function that makes the parts."""
    few = len(s.res.rankings.objects) <= _MOST_FIRST
    asked: dict[str, tuple[str, Callable[[ListStudy], list[str]]]] = {
        "words": ("In words", _words),
        "audit": ("Are there problems in the data?", lambda s: audited(s.audit)),
        "leaderboard": ("Leaderboard", lambda s: ranked(s.res, s.at, s.confidence, s.notices)),
        **({"first": ("Who comes first?", _first)} if few else {}),
        "pairs": ("Pairs", _paired),
        **({"tree": ("Tree of judges", _tree)} if s.tree is not None else {}),
        "model": ("Model", lambda s: [table(complete(s.res.summary()))]),
        **({"fit": ("Does the model fit?", _fitting)} if s.res.specification.prior is None else {}),
        "lists": ("Lists", lambda s: [folded("The first lists", table(s.res.rankings))]),
        "made": ("How this was made", _made),
    }
    return {name: (heading, partial(tell, s)) for name, (heading, tell) in asked.items()}


def _words(s: ListStudy) -> list[str]:
    return [paragraph(interpret(s.res, confidence=s.confidence).text, "lead")]


def _first(s: ListStudy) -> list[str]:
    return [or_why(lambda: complete(s.res.first(confidence=s.confidence)))]


def _paired(s: ListStudy) -> list[str]:
    few = len(s.res.rankings.objects) <= _MOST_DRAWN
    caption = "Probability that the row object is ranked before the column object, in lists of these two"
    drawn = picture("probabilities", caption, lambda: probabilities_plot(s.res, at=s.at)) if few else ""
    return [drawn, *pair_sentences(pairwise(s.res, at=s.at, confidence=s.confidence), s.at)]


def _tree(s: ListStudy) -> list[str]:
    return tree_sentences(s.tree, s.confidence) if s.tree is not None else []


def _fitting(s: ListStudy) -> list[str]:
    """Return tests of fit by pairs and, for lists of three or more, by triples; for large data, the call for them."""
    r = s.res.rankings
    if float(r.counts @ r.sizes) > _MOST_ENTRIES:
        entries = f"{format_count(float(r.counts @ r.sizes))} objects in lists"
        return [
            paragraph(f"Not simulated for the page ({entries}); llbt.goodness_of_fit(res) gives the test.", "quiet")
        ]
    pairs = or_why(lambda: goodness_of_fit(s.res, _DRAWN, rng=0))
    if int(r.sizes.max()) < 3:
        return [pairs]
    return [pairs, or_why(lambda: goodness_of_fit(s.res, _DRAWN, of="triples", rng=0))]


def _made(s: ListStudy) -> list[str]:
    spec = s.res.specification
    asked = {name: getattr(spec, name) for name in ("reference", "cov_type", "groups", "prior", "best_worst")}
    given = {name: value for name, value in asked.items() if value not in (None, "nonrobust", "", "joint")}
    options = "".join(f", {name}={value!r}" for name, value in given.items())
    at = at_text(s.at)
    calls = (
        f"res = llbt.fit({spec.formula!r}, rankings{options})",
        f"llbt.leaderboard(res{at})   llbt.pairwise(res{at})   res.first()",
        f"llbt.goodness_of_fit(res, {_DRAWN}, rng=0)   llbt.audit(rankings)",
        *([f"llbt.judges.tree({spec.formula!r}, rankings, by={s.tree.data.by!r})"] if s.tree is not None else []),
    )
    source = (
        "The model: Turner, H. L., van Etten, J., Firth, D. & Kosmidis, I. (2020). Modelling rankings in R: the "
        "PlackettLuce package. Computational Statistics 35, 1027-1057."
        if s.res.rankings.kind == "ranking"
        else _SOURCE_OF_SETS
    )
    return made_by(calls, source)


def calls_of_sets(res: Any, at: At) -> tuple[tuple[str, ...], str]:
    """Return the calls that made the tables for sets with effects of judges, and the reference for the model."""
    spec = res.specification
    asked = {"reference": spec.reference, "best_worst": spec.best_worst}
    options = "".join(f", {name}={value!r}" for name, value in asked.items() if value not in (None, "joint"))
    calls = (
        f"res = llbt.fit({spec.formula!r}, sets{options})",
        f"llbt.leaderboard(res{at_text(at)})   llbt.pairwise(res{at_text(at)})   llbt.interpret(res)",
    )
    return calls, _SOURCE_OF_SETS
