"""The audit: defects of judgments, found before a model is fitted."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..base.arguments import Decimals, Digits, checked
from ..base.table import Field, Notes, Record, Table, counted, format_count, format_percent
from ..core.comparisons import Comparisons
from ..core.rankings import Rankings
from ..data.asked import Asked, Format
from ..data.both_orders import Orders
from ..data.column_roles import Names
from ..data.countable import Countable, countable
from ..data.outcomes import Outcomes
from ..data.paths import located
from ..data.row_filters import Missing, Where
from ..data.sources import as_names
from ..data.table_readers import comparisons_of
from ..data.tables import unused_note
from ..errors import OptionError, listed
from .checks import CHECKS, run
from .evidence import Evidence, Named, from_source, from_table, units_of
from .finding import Finding, Level
from .list_checks import LIST_CHECKS, run_on_lists
from .lists import ListEvidence, lists_evidence

_LEVELS: tuple[Level, ...] = ("error", "warning", "note", "ok", "unchecked")
_MARKS = {"error": "ERROR", "warning": "WARNING", "note": "note", "ok": "ok", "unchecked": "not checked"}
_USUAL = Named()  # the columns of judge, prompt, … by their usual names
_WIDTH = 88
_INDENT = 12
_NOTE = "Tests and p-values assume independent judgments."
_NOTE_OF_UNITS = "Tests and p-values allow for dependence within {}."
_NOTE_OF_LISTS = "Tests and p-values assume independent lists."


@dataclass(frozen=True, repr=False)
class Audit(Record):
    """The result of an audit.

    Attributes
    ----------
    findings : tuple of Finding
        One for each check: errors first, then warnings, notes, passed checks, and checks that could not run.
    sizes : tuple of str
        The numbers of objects, judgments, judges and prompts; and the numbers of judgments per pair, judge and object.
    notes : tuple of str
    judge : str
        The column of the judges; ``"judge"`` if none was named or found.
    """

    _made_by: ClassVar[str] = "llbt.audit(…)"

    findings: tuple[Finding, ...]
    sizes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    judge: str = "judge"

    @checked
    def finding(self, check: str) -> Finding:
        """Return the finding of one check.

        Raises
        ------
        OptionError
            For an unknown check.
        """
        _check_names((check,), self._checks())
        return next(finding for finding in self.findings if finding.check == check)

    @checked
    def failed(self, *names: str) -> tuple[Finding, ...]:
        """Return the findings of the named checks; for continuous integration.

        Parameters
        ----------
        *names : str
            Checks, such as ``"separation"``, ``"disconnected"``; or levels: ``"error"``, ``"warning"`` (and errors),
            ``"note"`` (anything found). A named check that could not run counts as failed, too.

        Raises
        ------
        OptionError
            For an unknown check.
        """
        levels = _LEVELS[:3]
        _check_names(names, (*self._checks(), *levels))
        lowest = max((levels.index(level) for level in levels if level in names), default=-1)
        return tuple(
            finding
            for finding in self.findings
            if finding.level in levels[: lowest + 1] or (finding.check in names and finding.level != "ok")
        )

    def _checks(self) -> list[str]:
        own = {finding.check for finding in self.findings}
        return [name for name in dict.fromkeys((*CHECKS, *LIST_CHECKS)) if name in own]

    def table(self) -> Table:
        """Return one row per check: check, level, found, effect, remedy."""
        fields = tuple(
            Field(name, heading, [getattr(finding, name) for finding in self.findings])
            for name, heading in (
                ("check", "Check"),
                ("level", "Level"),
                ("found", "Found"),
                ("effect", "Effect on an analysis"),
                ("remedy", "Remedy"),
            )
        )
        return Table(fields, title=self._title(), head=self.sizes, notes=self.notes, answer="audit")

    @checked
    def as_text(
        self,
        *,
        columns: Sequence[str] | None = None,
        rename: Mapping[Any, str] | None = None,
        digits: Digits | None = None,
        decimals: Decimals | None = None,
        caption: str | None = None,
        notes: Notes = "few",
    ) -> str:
        """Return the audit as plain text: a paragraph per finding, a line per passed check.

        With `columns` or `rename` it prints the table of the other formats. Numbers are parts of sentences, so `digits`
        and `decimals` have no effect. Parameters and errors are as in ``as_text`` of every result.
        """
        if columns is not None or rename is not None:
            return self.table().as_text(columns=columns, rename=rename, caption=caption, notes=notes)
        lines = [line for finding in self.findings for line in _paragraph(finding)]
        sizes = [line for size in self.sizes for line in _wrapped(size, "", "  ")]
        title = self._title() if caption is None else caption
        return Table((), title=title, head=(*sizes, "", *lines), notes=self.notes).as_text(notes=notes)

    def _title(self) -> str:
        numbers = {level: sum(finding.level == level for finding in self.findings) for level in _LEVELS}
        counts = [counted(numbers[level], level) for level in _LEVELS[:3] if numbers[level]] or ["nothing found"]
        counts += [f"{numbers['ok']} ok"] + ([f"{numbers['unchecked']} not checked"] if numbers["unchecked"] else [])
        return f"Audit: {', '.join(counts)}"


@checked
def audit(
    data: object,
    *,
    format: Format | None = None,
    objects: Sequence[str] | None = None,
    outcome: Names | None = None,
    outcomes: Outcomes = None,
    winner: str | None = None,
    loser: str | None = None,
    scores: Sequence[str] | None = None,
    orders: Orders = None,
    judge: str | None = None,
    prompt: str | None = None,
    block: str | None = None,
    task: str | None = None,
    time: str | None = None,
    weights: str | None = None,
    ties_column: str | None = None,
    ignore: Names = (),
    where: Where = None,
    missing: Missing = None,
) -> Audit:
    """Check judgments for problems before fitting: one report, with a remedy for each problem.

    The checks are: labels; self-comparisons; repeated judgments and their flips with the order; dependence within
    blocks, judges and prompts; pooled tasks; ties; grades and reversed scales; positions; judges who always answer the
    same, who gave most judgments, or who differ from the rest; drift over time; objects with few judgments; groups that
    were never or hardly compared; and whether estimates exist.

    Parameters
    ----------
    data : frame, path, list of records, Comparisons or Rankings
        Judgments, as `from_judgments` takes them; a table of counts, which allows fewer checks; or lists of objects in
        order, which have checks of their own.
    format : str or JudgmentFormat, optional
        The layout of the judgments, as in `from_judgments`. A column ``"weight"`` has the number of judgments in a row.
    objects, outcome, outcomes
        The columns of the objects, the column with the outcome, and the meaning of its labels, as in `from_judgments`.
    winner, loser, scores, orders
        Columns of the winner and of the loser, or of the scores of both objects, and the treatment of a pair that was
        judged in both orders, as in `from_judgments`.
    judge, prompt : str, optional
        The columns of judges and prompts; in a table or lists, covariates or clusters. By default ``"judge"`` and
        ``"prompt"``, if they exist and are not empty.
    block : str, optional
        Column that identifies judgments made together, such as the judgments of one ranking; by default ``"block"``.
    task : str, optional
        Column of the task: a language pair, a benchmark; by default one with a usual name (``"task"``,
        ``"language"``, ``"dataset"``, …, or ``"srclang"`` with ``"trglang"``).
    time : str, optional
        Column of the times; by default one with a usual name (``"tstamp"``, ``"timestamp"``, ``"date"``, …), else the
        order of the rows. Its values are numbers, or times in ISO 8601 (in other formats the day is ambiguous).
    weights : str, optional
        Column with the number of judgments in a row; by default ``"weight"``.
    ties_column, ignore, where, missing
        The column that marks ties, columns that are not part of the judgments, the rows to read, and whether to leave
        out rows with a missing value instead of reporting them, as in `from_judgments`. Unnamed columns that may be
        filters of rows are a finding. Other columns that the audit ignores are listed in its notes.

    Returns
    -------
    Audit

    Raises
    ------
    JudgmentError
        For missing columns, weights that are not counts, and columns that may hold counts of rows or ties. Problems of
        the judgments are reported, not raised.
    OptionError
        For columns that a table of counts, or lists, do not have, and for parameters that they do not take.

    Notes
    -----
    Rows without an object or an outcome and comparisons of an object with itself are reported, and left out of all
    further checks. Judgments of the same judge, prompt and pair are repeats. A verdict flips if the same position wins
    in both orders of a pair. Ties by judge: Pearson's χ² of ties × judge, and for each judge twice the smaller tail of
    the hypergeometric distribution, adjusted by Holm's method. Positions: the exact binomial test, and within pairs the
    test of Cochran, Mantel and Haenszel, which is valid for any worths. The third test, of the order effect given the
    worths, uses all judgments and decides the level of the finding. For graded judgments (with sizes in whole numbers),
    the largest grade is tested like ties. The lead is the fitted difference of the log-worths. Verdicts that contradict
    the overall worths are tested for each judge and task by the sum of score × lead, compared with verdicts reversed at
    random. Larger grades for smaller leads are tested one-sided by the covariance of size and lead, compared with
    permuted sizes. Every test has the level .005 (``drift`` has three tests with a third of it each), so fewer than one
    in twenty faultless data sets gets a finding from any of them. Tests allow for dependence within a block, judge or
    prompt by variance components of the scores. A judge is compared with the usual differences between judges. In
    simulations with dependent judgments (worths of prompts or judges, both orders, rankings; rows in any order) at most
    5 % of the tables had a finding other than dependence. docs/decisions/031-what-the-audit-sees.md shows how often
    planted defects are found, by their strength and the number of judgments. With 20,000 judgments most of them are
    nearly always found. With 1,000 judgments a careless judge, or the drift of one object, is hardly ever found.

    Lists are checked as lists: repeated lists; whether estimates of worths and ties exist (by the implied comparisons,
    and by the fit); objects that are always first; and judges who tie in more or fewer lists. Under a fit of one worth
    for each object, the checks are: judges who agree too little with the fit, or rank an object too high or low; and
    dependence between lists of one judge. In 450 simulated clean tables of lists of two, three and five objects, no
    judge was found to differ from the rest, at the same level.

    References
    ----------
    Mantel, N. & Haenszel, W. (1959). Statistical aspects of the analysis of data from retrospective studies of
    disease. Journal of the National Cancer Institute 22(4), 719-748.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> judgments = pd.DataFrame(
    ...     {"object_i": ["a", "b", "a", "c"], "object_j": ["b", "a", "c", "c"], "outcome": ["i", "j", "i", "tie"]})
    >>> audit = llbt.audit(judgments)
    >>> audit.finding("self_comparisons").found
    "1 row with an object compared with itself: 'c'"
    >>> [finding.check for finding in audit.failed("separation", "disconnected")]
    ['separation']
    """
    named = Named(judge, prompt, weights, block, task, time)
    asked = Asked(
        *(objects, outcome, outcomes),
        winner=winner,
        loser=loser,
        scores=scores,
        orders=orders,
        ties_column=ties_column,
        ignore=as_names(ignore, "ignore"),
        where=where,
        missing=missing,
    )
    if not isinstance(data, (Comparisons, Rankings)):
        return audited(data, format, asked, named)
    of_rows: dict[str, object] = {
        **{"objects": objects, "outcome": outcome, "outcomes": outcomes},
        **{"winner": winner, "loser": loser, "scores": scores, "orders": orders},
        **{"weights": weights, "ties_column": ties_column, "ignore": asked.ignore or None, "where": where},
        "missing": missing,
    }
    given = [f"{name}=" for name, value in of_rows.items() if value is not None]
    if given:
        raise OptionError(
            f"{' and '.join(given)} given with {'lists' if isinstance(data, Rankings) else 'a table of counts'}",
            f"Leave out {' and '.join(given)}, or audit the judgments.",
        )
    if isinstance(data, Rankings):
        return _audited_lists(data, format, named)
    if format is not None:
        raise OptionError(f"format={format!r} is for judgments", "Leave it out: a table of counts is taken as it is.")
    return _audited_table(data, named)


def audited(data: object, format: Format | None, asked: Asked, named: Named) -> Audit:
    """Return the audit of judgments of a format, with the caller's fields in place of the format's."""
    judgments = countable(data, format, asked, max_dropped=sys.maxsize, named=_looked_at(named))
    return audit_of(judgments, named, asked.named)


def audit_of(opened: Countable, named: Named = _USUAL, decided: Collection[str] = ()) -> Audit:
    """Return the audit of opened judgments or counts; `decided` has further columns that the caller named."""
    if opened.counts:
        if named.weights is not None:
            raise OptionError("weights= given with a table of counts", "Leave out weights=.")
        return _audited_table(comparisons_of(opened, order=opened.shown), named)
    with located(opened.source.what):
        evidence = from_source(opened, named, decided)
    findings = {column.note for column in evidence.filters}
    notes = tuple(note for note in opened.notes if note not in findings)
    return _audit(evidence, (*notes, *unused_note(evidence.unused)))


def _looked_at(named: Named) -> tuple[str, ...]:
    """Return the columns that an audit uses by name; by default weights are in ``weight``."""
    named_columns = (
        named.judge,
        named.prompt,
        named.weights or "weight",
        named.block,
        named.task,
        named.time,
        named.strength,
    )
    return tuple(name for name in named_columns if name is not None)


def _audited_table(c: Comparisons, named: Named) -> Audit:
    if named.time is not None:
        raise OptionError(
            f"time={named.time!r} given with a table of counts",
            "Leave out time=, or audit the judgments: counts do not record times.",
        )
    c = c.collapse() if c.response.has_bad else c  # both bad are ties, as in judgments one by one
    return _audit(from_table(c, replace(named, weights=None)), c.notes)


def _audited_lists(r: Rankings, format: Format | None, named: Named) -> Audit:
    asked = {"format": format, "block": named.block, "task": named.task, "time": named.time}
    given = [name for name, value in asked.items() if value is not None]
    if given:
        raise OptionError(
            f"{listed(given)} given with lists", "Leave it out: lists are checked by judge and prompt alone."
        )
    e = lists_evidence(r, named.judge, named.prompt)
    findings = sorted(run_on_lists(e), key=lambda finding: _LEVELS.index(finding.level))
    return Audit(tuple(findings), _sizes_of_lists(e), (*r.notes, *_not_pairs(e), _NOTE_OF_LISTS), e.names[0])


def _audit(evidence: Evidence, notes: tuple[str, ...]) -> Audit:
    findings = sorted(run(evidence), key=lambda finding: _LEVELS.index(finding.level))
    units = " or ".join(units_of(evidence))
    note = _NOTE_OF_UNITS.format(units) if units else _NOTE
    return Audit(tuple(findings), _sizes(evidence), (*notes, note), evidence.names[0])


def _check_names(names: Sequence[str], known: Sequence[str] | dict[str, Any]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise OptionError(f"no check {listed(unknown)}", expected=f"names among {listed(list(known), 30)}")


# -- out -----------------------------------------------------------------------------------------------------


def _sizes(e: Evidence) -> tuple[str, ...]:
    """Return the numbers of objects and judgments in two lines, and a line on grades if there are any."""
    judgments, total = e.judgments, float(e.judgments.times.sum())
    if not total:
        return ("no judgment is left",)
    pairs, objects = np.sum(e.by_pair(), axis=(0, 2)), len(judgments.objects)
    per = {"pair": pairs, "judge": e.by_judge().sum(axis=1), "object": e.by_object()}
    possible = objects * (objects - 1) // 2
    sizes = [counted(objects, "object"), f"{format_count(len(pairs))} of {counted(possible, 'pair')} compared"]
    ties = (
        "" if e.unread else f" ({format_percent(float(judgments.times[judgments.outcomes == 1].sum()) / total)} ties)"
    )
    sizes.append(f"{counted(total, 'judgment')}{ties}")
    sizes += [counted(len(f.labels), what) for what, f in (("judge", e.judge), ("prompt", e.prompt)) if f is not None]
    spread = [
        f"per {what} {format_count(n.min())} to {format_count(n.max())} (median {format_count(float(np.median(n)))})"
        for what, n in per.items()
        if len(n)
    ]
    return (", ".join(sizes), f"judgments {', '.join(spread)}", *_grades(e, total))


def _sizes_of_lists(e: ListEvidence) -> tuple[str, ...]:
    """Return the numbers of objects and lists in two lines."""
    r, size = e.rankings, len(e.rankings.objects)
    possible = size * (size - 1) // 2
    met = len(np.unique(e.pairs.pairs, axis=0))
    sizes = [*r.size_texts(), f"{format_count(met)} of {counted(possible, 'pair')} in a list together"]
    sizes += [counted(len(c.levels), what) for what, c in (("judge", e.judge), ("prompt", e.prompt)) if c is not None]
    spread = [
        f"per {what} {format_count(n.min())} to {format_count(n.max())} (median {format_count(float(np.median(n)))})"
        for what, n in (("judge", e.by_judge), ("object", e.by_object))
        if len(n)
    ]
    return (", ".join(sizes), f"lists {', '.join(spread)}")


def _not_pairs(e: ListEvidence) -> list[str]:
    """Return a note that lists of more than two objects should not be fitted as pairs."""
    r, implied = e.rankings, float(e.pairs.counts.sum())
    if implied <= r.n_judgments:
        return []
    return [
        f"fit the lists, llbt.fit(formula, rankings): the {counted(implied, 'comparison')} that they imply "
        f"({implied / r.n_judgments:.3g} per list) are not independent, but a fit of pairs assumes that they are"
    ]


def _grades(e: Evidence, total: float) -> list[str]:
    """Return how often each grade is given, if there are any."""
    if not e.response.grades:
        return []
    given = np.bincount(e.outcome, e.judgments.times, len(e.response.outcomes)) / total
    shares = (f"{name} {format_percent(float(share))}" for name, share in zip(e.response.outcomes, given, strict=True))
    return [f"of these {', '.join(shares)}"]


def _paragraph(finding: Finding) -> list[str]:
    """Return a finding in lines: level, name and finding, then its effect and the remedy."""
    indent = " " * _INDENT
    start = f"{_MARKS[finding.level]:<{_INDENT}}"
    lines = _wrapped(f"{finding.check}: {finding.found}", start, indent)
    lines += _wrapped(f"effect: {finding.effect}", indent, indent + " " * 8) if finding.effect else []
    return lines + (_wrapped(f"do: {finding.remedy}", indent, indent + " " * 4) if finding.remedy else [])


def _wrapped(text: str, start: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=start, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _sentences(finding: Finding) -> str:
    parts = (finding.found, finding.effect and f"effect: {finding.effect}", finding.remedy and f"do: {finding.remedy}")
    return ". ".join(part for part in parts if part)
