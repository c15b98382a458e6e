"""Fit a discrimination of each judge, starting from the fit in which all judges discriminate alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import linalg

from ..base.budgets import refuse_parameters
from ..base.table import counted, format_count
from ..core.columns import Coded
from ..core.comparisons import Comparisons
from ..errors import ConvergenceWarning, DesignError, OptionError, listed, warn_user
from ..formulas.brackets import Bracket
from ..kernel.discrimination import DiscriminationFit, Judged, maximize
from ..kernel.robust import Covariance
from ..kernel.threads import few_threads
from .clusters import check_clusters
from .discrimination_clusters import clustered_covariance
from .discrimination_estimates import Judging, Neighbour
from .discrimination_existence import check_finite
from .discrimination_results import DiscriminationResults
from .estimates import Solved
from .fit_part import FitPart, part_of
from .merged_rows import distinct
from .results import LLBTResults
from .specification import CovType

_MOST = 1000  # with at most so many parameters the model with worths for each judge is fitted too
_OF_AVERAGE = "Estimates are for a judge with discrimination 1."


def check_beside(judge: str, brackets: tuple[Bracket, ...]) -> None:
    """Raise for discriminations together with normal effects of judges.

    Raises
    ------
    OptionError
    """
    if brackets:
        raise OptionError(
            f"discrimination={judge!r} together with {' + '.join(map(str, brackets))}: both model how judges differ",
            "Fit one at a time, and compare their .aic.",
        )


def with_discrimination(
    without: LLBTResults,
    judge: str,
    refit: Callable[[str], LLBTResults],
    cov_type: CovType = "nonrobust",
    groups: tuple[str, ...] = (),
) -> DiscriminationResults:
    """Return the fit with a discrimination of each judge.

    Parameters
    ----------
    without : LLBTResults
        The fit with discriminations of 1.
    judge : str
        A covariate of the table.
    refit : function
        Takes another formula and returns its fit to the same table.
    cov_type, groups
        The kind of standard errors, as in `llbt.fit`; `without` takes the judgments as independent.

    Raises
    ------
    OptionError
        If `judge` is not a covariate of labels, and for options that fits with discriminations lack.
    DesignError
        If the table does not identify worths and discriminations.
    SeparationError
        If a discrimination has no finite estimate.
    """
    _check_options(without, judge, cov_type, groups)
    column = _column(without.comparisons, judge)
    present, codes = np.unique(column.codes, return_inverse=True)
    _check_worths(without, judge, len(present))
    refuse_parameters(len(without.free) + len(present))
    scaled = np.array([k for k, f in enumerate(without.free) if without.design.blocks[f] == "worth"], dtype=np.int64)
    problem = without.problem()
    some, first, _ = distinct(without.design, problem, (codes,))
    judged = Judged(some, scaled, codes[first], len(present))
    with few_threads(len(without.names)):
        try:
            maximum = maximize(judged, without.solution.params)
        except linalg.LinAlgError:
            raise _unidentified(judge) from None
    judging = Judging(judge, tuple(column.levels[present].tolist()), Judged(problem, scaled, codes, len(present)))
    check_finite(judged, maximum, judging, tuple(without.names[k] for k in without.free))
    if not maximum.converged:
        warn_user(
            f"Newton's method stopped after {maximum.n_iter} steps from each of {maximum.starts} starts; the estimates "
            "may be off.",
            ConvergenceWarning,
        )
    cov = Covariance(maximum.covariance)
    if cov_type == "cluster" or cov_type == "CR1":
        cov = clustered_covariance(without.comparisons, judging.judged, maximum, judge, cov_type, groups)
    average, wider = _average(without, maximum, cov), _wider(without, judge, refit)
    return DiscriminationResults(average, without, wider, judging, maximum, cov, cov_type, groups)


def _check_options(res: LLBTResults, judge: str, cov_type: CovType, groups: tuple[str, ...]) -> None:
    spec = res.specification
    if not res.log_linear:
        raise OptionError(f"discrimination={judge!r} with link={spec.link!r}", expected="link='adjacent'")
    if spec.prior is not None:
        raise OptionError(
            f"prior={spec.prior!r} together with discrimination={judge!r}",
            f"Leave prior= out. Type llbt.fit({spec.formula!r}, c, discrimination={judge!r}).",
        )
    check_clusters(cov_type, groups, f"discrimination={judge!r}")
    held = [name for name in spec.fixed if res.design.blocks[res.names.index(name)] == "worth"]
    if held:
        raise OptionError(
            f"fixed: {listed(held)} together with discrimination={judge!r}, which scales worths",
            "Hold only effects of ties and order.",
        )


def _column(c: Comparisons, judge: str) -> Coded:
    """Return the codes of the judges."""
    for column in c.columns:
        if column.name == judge and not column.numeric:
            return column
        if column.name == judge:
            raise OptionError(
                f"discrimination={judge!r} is a column of numbers",
                f"Leave {judge!r} out of numeric= when you make the table, so that its values are labels.",
                expected="a covariate of labels",
            )
    if judge in c.clusters:
        raise OptionError(
            f"discrimination={judge!r} is a cluster of the table",
            f"Make it a covariate: from_judgments(…, covariates={judge!r}).",
            expected="a covariate",
        )
    raise OptionError(
        f"discrimination={judge!r} is not a covariate of the table",
        f"Keep the column when you make the table: from_judgments(…, covariates={judge!r}).",
        expected=f"one of {listed([x.name for x in c.columns])}" if c.columns else "",
    )


def _check_worths(res: LLBTResults, judge: str, judges: int) -> None:
    """Raise if judges have nothing to discriminate, or if each judge already has separate worths."""
    if judges < 2:
        raise DesignError(
            f"discrimination={judge!r} has {counted(judges, 'level')} in the table: a single discrimination "
            "cannot be separated from the size of the worths",
            f"Leave discrimination out: llbt.fit({res.specification.formula!r}, c).",
            expected="at least two judges",
        )
    terms = [t for t, block in zip(res.design.terms, res.design.blocks, strict=True) if block == "worth"]
    if not terms:
        raise DesignError(
            f"discrimination={judge!r}, but {res.specification.formula!r} has no worths to discriminate",
            "Add object +.",
        )
    if judge in res.design.worth.units:
        raise DesignError(
            f"discrimination={judge!r}, but in {res.specification.formula!r} each {judge} already has separate worths",
            f"Take {judge} out of the terms of the worths; it may stay in terms of ties and order.",
        )
    worths = sum(res.design.blocks[k] == "worth" for k in res.free)
    if worths < 2:
        what = f"{len(res.comparisons.objects)} objects" if res.design.plain else f"one parameter, {terms[0]}"
        raise DesignError(
            f"discrimination={judge!r} with {what}: a factor for each judge is then the same as a worth for each judge",
            f"Fit {terms[0]} * {_word(judge)} in place of {terms[0]}.",
            expected="worths with at least two parameters",
        )


def _unidentified(judge: str) -> DesignError:
    return DesignError(
        f"the table does not identify worths together with a discrimination of every {judge} (the information matrix "
        "is singular): perhaps an object has a single judge, a judge saw only equal objects, or groups of judges "
        "have separate worths",
        f"Leave these judges out, c.select(where={{{judge!r}: […]}}), or fit without discrimination.",
    )


def _average(without: LLBTResults, maximum: DiscriminationFit, cov: Covariance) -> FitPart:
    """Return the estimates for a judge of discrimination 1, with their covariance."""
    size = len(maximum.params)
    covariance = replace(
        cov,
        source=cov.matrix[:size, :size],
        notes=(_OF_AVERAGE, *cov.notes),
        lost=cov.lost[:, :size] if len(cov.lost) else cov.lost,
        independent=None if cov.independent is None else cov.independent[:size, :size],
    )
    return part_of(DiscriminationResults, without, Solved(maximum.params, maximum.covariance[:size, :size]), covariance)


def _wider(without: LLBTResults, judge: str, refit: Callable[[str], LLBTResults]) -> Neighbour:
    """Return the fit with separate worths for every judge, or why there is none."""
    blocks = zip(without.design.terms, without.design.blocks, strict=True)
    terms = list(dict.fromkeys(term for term, block in blocks if block == "worth"))
    formula = " + ".join([without.specification.formula, *(f"{term}:{_word(judge)}" for term in terms)])
    worths = sum(block == "worth" for block in without.design.blocks)
    size = worths * len(_column(without.comparisons, judge).levels)
    if size > _MOST:
        return Neighbour(formula, None, f"not fitted, because it has up to {format_count(size)} parameters")
    try:
        return Neighbour(formula, refit(formula), "")
    except DesignError as error:
        return Neighbour(formula, None, f"no finite estimates: {error.found}")


def _word(name: str) -> str:
    """Return a column's name as a formula writes it."""
    return name if name.isidentifier() else f"Q({json.dumps(name, ensure_ascii=False)})"
