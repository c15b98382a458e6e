"""The report: everything that is asked of judgments as a rule, in one HTML file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import Confidence, Number, checked
from ..auditing.audit import Audit, audit
from ..core.columns import Label
from ..core.comparisons import Comparisons
from ..data.doors import from_counts, from_judgments
from ..data.judgments import Format
from ..data.outcomes import Outcomes
from ..data.sources import as_names
from ..data.texts import LabelType
from ..errors import DesignError, JudgmentError, LLBTError, SeparationError
from ..fitting.model import default_formula, fit
from ..fitting.results import LLBTResults
from ..fitting.specification import CovType
from ..formulas.grid import At
from ..inference.anova import anova
from ..inference.goodness import goodness_of_fit
from ..inference.level_tests import level_tests, levels_of
from ..inference.objects import worth_classes
from ..inference.pairwise import pairwise
from ..inference.pairwise_record import Pairwise
from ..inference.ranks import leaderboard
from ..inference.residuals import residuals as residuals_of
from ..plot.fits import residuals as residuals_plot
from ..plot.intervals import intervals as intervals_plot
from ..plot.network import network as network_plot
from ..plot.pairs import outcomes as outcomes_plot
from ..plot.pairs import probabilities as probabilities_plot
from ..plot.worth import worth as worth_plot
from ..table import Record, Table, counted, format_count
from .interpret import interpret
from .page_parts import folded, page, paragraph, picture, section, table
from .writing import checked_target, write_whole

_MOST_PAIRS = 300  # rows of pairs and comparisons that are printed
_MOST_DRAWN = 30  # objects of a heat map
_JUDGMENT_OPTIONS = ("format", "objects", "outcome", "outcomes", "weights", "defaults", "max_dropped")
_UNITS = ("judge", "prompt", "block")  # which judgments may depend on each other within
_COUNT_OPTIONS = ("wins", "ties_column")
_AUDIT_OPTIONS = ("format", "objects", "outcome", "outcomes", "judge", "prompt", "weights", "defaults", "labels")


@dataclass(frozen=True, eq=False)
class _Study:
    """What a report is about.

    Attributes
    ----------
    table : Comparisons
    found : Audit
    res : LLBTResults
    at : "average" or None
        Where worths are taken: averaged where they differ by covariates.
    confidence : float
    judge : str
        What the column of judges is called, if there is one.
    notices : tuple of str
        What a reader must know first.
    """

    table: Comparisons
    found: Audit
    res: LLBTResults
    at: At
    confidence: float
    judge: str
    notices: tuple[str, ...]


@checked
def write_report(
    data: object,
    *,
    formula: str | None = None,
    path: str | os.PathLike[str] = "report.html",
    title: str | None = None,
    format: Format | None = None,
    objects: Sequence[str] | None = None,
    outcome: str | None = None,
    outcomes: Outcomes = None,
    weights: str | None = None,
    defaults: Mapping[str, Label] | None = None,
    max_dropped: Number = 0,
    wins: Sequence[str] | None = None,
    ties_column: str | Sequence[str] | None = None,
    covariates: str | Sequence[str] = (),
    clusters: str | Sequence[str] = (),
    numeric: str | Sequence[str] = (),
    object_covariates: object = None,
    side_covariates: Mapping[str, Sequence[str]] | None = None,
    order: bool = False,
    labels: LabelType | None = None,
    judge: str | None = None,
    prompt: str | None = None,
    reference: Label | None = None,
    cov_type: CovType = "cautious",
    groups: str | Sequence[str] = (),
    confidence: Confidence = 0.95,
) -> Path:
    """Write one self-contained HTML page on judgments, from audit to leaderboard, model and fit; return its path.

    Parameters
    ----------
    data : frame, path, list of records or Comparisons
        Judgments, as `from_judgments` takes them; counts, as `from_counts` does, where `wins` or `ties_column` are
        named.
    formula : str, optional
        By default that of `default_formula`: ``object``, with ``+ tie`` where there are ties and ``+ order`` where the
        order was kept.
    path : path
        Where to write; a file that is there is replaced.
    title : str, optional
    format, objects, outcome, outcomes, weights, defaults, max_dropped
        How judgments are written, as in `from_judgments`.
    wins, ties_column
        Columns of counts, as in `from_counts`.
    covariates, clusters, numeric, object_covariates, side_covariates, order, labels
        As in `from_judgments`.
    judge, prompt : str, optional
        Columns, as in `audit`.
    reference : label, optional
        The object with log-worth 0; by default the last.
    cov_type, groups
        As in `fit`. By default standard errors by those of judge, prompt, block and `clusters` that make them largest;
        of independent judgments, if none is recorded or they are too few. The page says which.
    confidence : float
        Of all intervals.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    JudgmentError
        For data that cannot be read, and options that do not go with it.
    DesignError
        For objects that were never compared with each other, a folder that is not there, and a path that is read.
    OSError
        Where the page cannot be written; a page that was there stays as it was.

    Notes
    -----
    The page loads nothing: styles, script and pictures are inside, and its content security policy forbids the rest.
    Where an estimate is infinite, the model is fitted with Firth's bias reduction, and the page says so first.

    Examples
    --------
    >>> import tempfile
    >>> import llbt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = llbt.write_report(llbt.load_dataset("dras_modpref"), path=f"{folder}/report.html")
    ...     report.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target = checked_target(path, (data, object_covariates))
    options = {
        "format": format,
        "objects": objects,
        "outcome": outcome,
        "outcomes": outcomes,
        "weights": weights,
        "defaults": defaults,
        "max_dropped": max_dropped,
        "wins": wins,
        "ties_column": ties_column,
        "covariates": covariates,
        "clusters": _with_groups(clusters, groups, covariates),
        "numeric": numeric,
        "object_covariates": object_covariates,
        "side_covariates": side_covariates,
        "order": order,
        "labels": labels,
        "judge": judge,
        "prompt": prompt,
    }
    c, found = _read(data, {name: value for name, value in options.items() if not _is_default(value)})
    asked = {"reference": reference, "cov_type": cov_type, "groups": groups}
    study = _studied(c, found, formula, asked, confidence, judge or "judge")
    write_whole(target, _page(study, title or "Preference judgments"))
    return target


def _with_groups(
    clusters: str | Sequence[str], groups: str | Sequence[str], covariates: str | Sequence[str]
) -> tuple[str, ...]:
    """Return the clusters to keep: those named, and those that standard errors are asked by."""
    given = {"clusters": clusters, "groups": groups, "covariates": covariates}
    kept, by, split = (as_names(names, parameter) for parameter, names in given.items())
    return tuple(dict.fromkeys((*kept, *(name for name in by if name not in split))))


# -- in --------------------------------------------------------------------------------------------------------


def _is_default(value: object) -> bool:
    return value is None or (isinstance(value, (str, Sequence, Mapping, bool, int)) and not value)


def _read(data: object, given: dict[str, Any]) -> tuple[Comparisons, Audit]:
    """Return the comparisons and the audit of what they were made from."""
    who: dict[str, Any] = {name: given[name] for name in ("judge", "prompt") if name in given}
    kept = {name: value for name, value in given.items() if name not in who}
    if isinstance(data, Comparisons):
        if kept:
            raise JudgmentError(f"{next(iter(kept))}= is for judgments; comparisons are taken as they are.")
        return data, audit(data, **who)
    units = [who.get(name, name) for name in _UNITS]
    counts = [name for name in _COUNT_OPTIONS if name in kept]
    wrong = [name for name in _JUDGMENT_OPTIONS if name in kept and name != "objects"]
    if counts and wrong:
        raise JudgmentError(f"{counts[0]}= is for counts, {wrong[0]}= for judgments.")
    if counts:
        c = from_counts(data, **kept, units=units)
        return c, audit(c, **who)
    c = from_judgments(data, **kept, units=units)
    return c, audit(data, **{name: given[name] for name in _AUDIT_OPTIONS if name in given})


def _studied(
    c: Comparisons, found: Audit, formula: str | None, options: Mapping[str, Any], confidence: float, judge: str
) -> _Study:
    """Return what the page is about: the fit, bias-reduced where the estimates are infinite otherwise."""
    asked = formula or default_formula(c)
    notices: tuple[str, ...] = ()
    try:
        res = fit(asked, c, **options)
    except SeparationError as error:
        res = fit(asked, c, **options, prior="jeffreys")
        said = "Without correction some estimate is infinite, so Firth's bias reduction was used."
        notices = (f"{said} {error.found}. {error.remedy}",)
    if "worth" not in res.design.blocks:
        raise DesignError(f"the formula {asked!r} has no term for the worths; add object.")
    classes, _, _ = worth_classes(res, None)
    notices = (*notices, *(_sentence(note) for note in res.covariance.notes))
    return _Study(c, found, res, "average" if len(classes) > 1 else None, confidence, judge, notices)


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."


# -- out -------------------------------------------------------------------------------------------------------


def _page(s: _Study, title: str) -> str:
    parts = {
        "words": ("In words", _words(s)),
        "audit": ("Are the judgments in order?", _audited(s)),
        "leaderboard": ("Leaderboard", _ranked(s)),
        "pairs": ("Pairs", _paired(s)),
        "model": ("Model", _modelled(s)),
        "fit": ("Does the model fit?", _fitted(s)),
        "counts": ("Counts", _counted(s)),
        "made": ("How this was made", _made(s)),
    }
    body = "\n".join(section(name, heading, blocks) for name, (heading, blocks) in parts.items())
    return page(title, body, [(name, heading) for name, (heading, _) in parts.items()])


def _words(s: _Study) -> list[str]:
    notices = [paragraph(notice, "notice") for notice in s.notices]
    return [*notices, paragraph(interpret(s.res, confidence=s.confidence).text, "lead")]


def _audited(s: _Study) -> list[str]:
    whole = s.found.table()
    bad = [k for k, finding in enumerate(s.found.findings) if finding.is_failure]
    rest = [k for k in range(len(s.found.findings)) if k not in bad]
    parts = [table(replace(whole, shown=tuple(bad)))] if bad else [paragraph(whole.title)]
    parts += [folded(f"{counted(len(rest), 'check')} without a finding", table(_rows(whole, rest)))] if rest else []
    return [*parts, _judges(s)]


def _judges(s: _Study) -> str:
    """Return the test of each judge against the rest, where the table keeps more than one."""
    c = s.res.comparisons
    if s.judge not in (*(column.name for column in c.columns), *c.clusters) or len(levels_of(c, s.judge)) < 2:
        return ""
    return folded("Each judge against the rest", table(level_tests(s.res, by=s.judge)))


def _ranked(s: _Study) -> list[str]:
    board = leaderboard(s.res, at=s.at, confidence=s.confidence)
    level = f"{100 * s.confidence:.4g} % intervals"

    def intervals() -> Any:
        return intervals_plot(s.res, at=s.at, confidence=s.confidence)

    parts = [
        table(board),
        picture(
            "intervals", f"Log-odds with {level}; objects that share a letter do not differ significantly", intervals
        ),
    ]
    if s.at is not None:
        parts.append(picture("worths", "Worths by class", lambda: worth_plot(s.res)))
    return parts


def _paired(s: _Study) -> list[str]:
    pairs = pairwise(s.res, at=s.at, confidence=s.confidence)
    few = len(s.table.objects) <= _MOST_DRAWN
    drawn = picture(
        "probabilities",
        "Probability that the object of the row beats that of the column",
        lambda: probabilities_plot(s.res, at=s.at),
    )
    network = picture(
        "network",
        "Who met whom: the width of a line is its number of judgments, its colour how far the model is off",
        lambda: network_plot(s.res),
    )
    return [drawn if few else "", table(_told_pairs(pairs)), network]


def _told_pairs(pairs: Pairwise) -> Table:
    """Return the pairs; where they are many, those of the best object and those of neighbours in the ranking."""
    whole = pairs.table()
    if len(pairs.pairs) <= _MOST_PAIRS:
        return replace(whole, shown=None, more="")
    place = np.full(len(pairs.objects), -2)
    place[pairs.ranking] = np.arange(len(pairs.ranking))
    i, j = place[pairs.pairs].T
    told = np.flatnonzero((np.minimum(i, j) >= 0) & ((np.minimum(i, j) == 0) | (np.abs(i - j) == 1)))
    more = (
        f"shown: pairs of the best object and of neighbours in the ranking, {format_count(len(told))} of "
        f"{format_count(len(pairs.pairs))}; p-values and intervals are adjusted for all of them"
    )
    return replace(whole, shown=tuple(told.tolist()), more=more)


def _modelled(s: _Study) -> list[str]:
    corrected = s.res.specification.reduces_bias  # then a difference of deviances is no test
    return [table(s.res.summary()), "" if corrected else _or_why(lambda: anova(s.res))]


def _fitted(s: _Study) -> list[str]:
    residuals = picture(
        "residuals", "The largest standardized residuals; beyond ±2 is unusual", lambda: residuals_plot(s.res)
    )
    if s.res.df_resid == 0:
        return [paragraph("The model is saturated: it reproduces the counts, and there is nothing to test.")]
    return [table(goodness_of_fit(s.res)), residuals, folded("Largest residuals", table(residuals_of(s.res)))]


def _counted(s: _Study) -> list[str]:
    outcomes = picture("outcomes", "Wins, ties and losses", lambda: outcomes_plot(s.table, rows="object", most=60))
    whole = s.table.table()
    rows = min(len(s.table), _MOST_PAIRS)
    rest = len(s.table) - rows
    more = f"… {format_count(rest)} more" if rest else ""
    return [outcomes, folded("All counts", table(replace(whole, shown=tuple(range(rows)), more=more)))]


def _made(s: _Study) -> list[str]:
    version = getattr(sys.modules.get("llbt"), "__version__", "")
    spec = s.res.specification
    options = f", reference={spec.reference!r}" if spec.reference is not None else ""
    options += f", prior={spec.prior!r}" if spec.prior is not None else ""
    options += f", cov_type={spec.cov_type!r}" if spec.cov_type != "nonrobust" else ""
    options += f", groups={spec.groups!r}" if spec.groups else ""
    at = ", at='average'" if s.at is not None else ""
    calls = (
        f"res = llbt.fit({spec.formula!r}, comparisons{options})",
        f"llbt.leaderboard(res{at})   llbt.pairwise(res{at})   llbt.anova(res)   llbt.goodness_of_fit(res)",
    )
    return [
        paragraph(f"Written by llbt {version}. Its tables come from these calls:"),
        "".join(f'<div class="foot">{paragraph(call)}</div>' for call in calls),
        paragraph(
            "The model: Dras, M. (2015). Evaluating human pairwise preference judgments. Computational Linguistics "
            "41(2), 337-345.",
            "quiet",
        ),
    ]


def _rows(whole: Table, rows: list[int]) -> Table:
    return Table(whole.fields[:3], title="Checks without a finding", shown=tuple(rows))


def _or_why(ask: Any) -> str:
    """Return a table, or why there is none."""
    try:
        answer: Record = ask()
    except LLBTError as error:
        return paragraph(str(error), "quiet")
    return table(answer)
