"""Sections that the reports of all fits have: the audit, the leaderboard and the pairs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..auditing.audit import Audit
from ..base.table import Table, counted, format_count
from ..errors import OptionError
from ..fitting.fitted import OneSource, WithWorths, average_of
from ..formulas.grid import At
from ..inference.pairwise_record import Pairwise
from ..inference.ranks import leaderboard
from ..plot.intervals import intervals as intervals_plot
from ..plot.worth import worth as worth_plot
from .page_parts import complete, folded, monospaced, paragraph, picture, table

Sections = dict[str, tuple[str, Callable[[], list[str]]]]  # by name: heading, and what makes the parts

_ANSWERED = "objects that share a letter, or whose rank ranges overlap, do not differ significantly"
_PREDICTED = "at the right the ranks that each object may have"
MOST_PAIRS = 300  # rows of pairs and comparisons that are printed
_MOST_FOLDED = 2000  # rows on the page: a megabyte


def refuse_formula(formula: str | None) -> None:
    """Raise if a formula is given together with a fit."""
    if formula is not None:
        raise OptionError(
            f"formula={formula!r} is for data, and this is a fit", "Leave it out: a fit is reported as it is."
        )


def made_by(calls: tuple[str, ...], source: str) -> list[str]:
    """Return the calls that made the tables of a page, and the reference for its model."""
    version = getattr(sys.modules.get("llbt"), "__version__", "")
    return [
        paragraph(f"Written by llbt {version}. Its tables come from these calls:"),
        monospaced(calls),
        paragraph(source, "quiet"),
    ]


def audited(audit: Audit) -> list[str]:
    """Return the findings of an audit, and in a folded block the checks without a finding."""
    whole = audit.table()
    bad = [k for k, finding in enumerate(audit.findings) if finding.is_failure]
    rest = [k for k in range(len(audit.findings)) if k not in bad]
    parts = [table(replace(whole, shown=tuple(bad)))] if bad else [paragraph(whole.title)]
    parts += [folded(f"{counted(len(rest), 'check')} without a finding", table(_rows(whole, rest)))] if rest else []
    return parts


def ranked(res: WithWorths | OneSource, at: At, confidence: float, notices: Sequence[str] = ()) -> list[str]:
    """Return the notices, the leaderboard, its picture and, if `at` averages worths, the picture of worths by class."""
    level = f"{100 * confidence:.4g} % intervals"
    drawn = average_of(res)
    parts = [
        *(paragraph(notice, "notice") for notice in notices),
        table(complete(leaderboard(res, at=at, confidence=confidence).table())),
        picture(
            "intervals",
            f"Log-odds with {level}; {_ANSWERED if drawn.object_effects is None else _PREDICTED}",
            lambda: intervals_plot(drawn, at=at, confidence=confidence),
        ),
    ]
    return [*parts, picture("worths", "Worths by class", lambda: worth_plot(drawn))] if at is not None else parts


def pair_sentences(pairs: Pairwise, at: At) -> list[str]:
    """Return the pairs; if there are many, first the pairs of the best object and of neighbours in the ranking."""
    whole, size = pairs.table(), len(pairs.pairs)
    if size <= MOST_PAIRS:
        return [table(complete(whole))]
    place = np.full(len(pairs.objects), -2)
    place[pairs.ranking] = np.arange(len(pairs.ranking))
    i, j = place[pairs.pairs].T
    shown = np.flatnonzero((np.minimum(i, j) >= 0) & ((np.minimum(i, j) == 0) | (np.abs(i - j) == 1)))
    adjusted = "p-values and intervals are" if pairs.rank_ranges is None else "intervals are"
    more = (
        f"shown: pairs of the best object and of neighbours in the ranking, {format_count(len(shown))} of "
        f"{format_count(size)}; {adjusted} adjusted for all of them"
    )
    asked = f"llbt.pairwise(res{at_text(at)}).to_frame()"
    rest = size > _MOST_FOLDED
    short = replace(whole, shown=tuple(shown.tolist()), more=f"{more}; all: {asked}" if rest else more)
    return [table(short), "" if rest else folded(f"All {format_count(size)} pairs", table(complete(whole)), long=True)]


def at_text(at: At) -> str:
    """Return the argument of a call, or an empty text."""
    return "" if at is None else f", at={at!r}"


def _rows(whole: Table, rows: list[int]) -> Table:
    return Table(whole.fields[:3], title="Checks without a finding", shown=tuple(rows))
