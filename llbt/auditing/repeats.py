"""Checks of repeated judgments: duplicates, and verdicts that flip with the order."""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from ..base.table import counted, format_count, format_percent
from ..core.columns import IntArray, groups
from ..core.statistics import sign_p
from .baseline_fit import ordered_remedy
from .dependence_checks import clustered
from .evidence import BoolArray, Evidence
from .finding import SIGNIFICANT, Finding, p_text

_MANY_FLIPS = 0.2  # of the decided repeats in the other order: up to it, flips are only noted


def _known(e: Evidence) -> tuple[list[IntArray], BoolArray, str]:
    """Return the columns that identify a judgment, the rows in which all are known, and their names."""
    factors = [(name, f) for name, f in zip(e.names, (e.judge, e.prompt), strict=True) if f is not None]
    known = np.all([f.codes >= 0 for _, f in factors], axis=0)
    return [f.codes for _, f in factors], known, ", ".join(name for name, _ in factors)


def _caution(e: Evidence) -> str:
    absent = "prompt" if e.prompt is None else "judge" if e.judge is None else ""
    return f"; no column names the {absent}, so the {absent}s may differ" if absent else ""


def check_duplicates(e: Evidence) -> Finding:
    """Check for judgments that are recorded more than once."""
    codes, known, same = _known(e)
    first, group = groups([*e.judgments.pairs[known].T, *(c[known] for c in codes)])
    counts = e.judgments.take(known).tally(group, len(first))
    n = counts.sum(axis=1)
    repeats = float(np.maximum(n - 1, 0).sum())
    if not repeats:
        return Finding("duplicates", "ok", f"no judgment is recorded twice (same {same} and pair)", figures={"n": 0.0})
    pairs, agree = (float((np.maximum(x * (x - 1), 0) / 2).sum()) for x in (n, counts))
    return Finding(
        "duplicates",
        "note" if _caution(e) else "warning",
        f"{counted(repeats, 'judgment')} repeat{'s' if repeats == 1 else ''} an earlier one (same {same} and pair in "
        f"the same order); {format_percent(agree / pairs) if pairs else 'NA'} of repeats agree{_caution(e)}",
        "repeats count as independent judgments, so standard errors are too small",
        f"if rows were copied: frame.drop_duplicates(); if judgments were made twice: {clustered(e)}",
        {"n": repeats, "agreement": agree / pairs if pairs else np.nan},
    )


def check_swapped(e: Evidence) -> Finding:
    """Check judgments that were repeated in the other order: how often the verdict flips."""
    codes, known, same = _known(e)
    judgments = e.judgments.take(known)
    first, group = groups([*np.sort(judgments.pairs, axis=1).T, *(c[known] for c in codes)])
    forward = judgments.pairs[:, 0] < judgments.pairs[:, 1]
    a, b = (judgments.tally(np.where(way, group, -1), len(first)) for way in (forward, ~forward))
    n = float((a.sum(axis=1) * b.sum(axis=1)).sum())
    if not n:
        return Finding("swapped", "ok", f"no judgment is repeated in the other order (same {same})", figures={"n": 0.0})
    at_first, at_second = float((a[:, 0] * b[:, 0]).sum()), float((a[:, 2] * b[:, 2]).sum())
    stands = float((a[:, 0] * b[:, 2] + a[:, 2] * b[:, 0]).sum())
    flips = at_first + at_second
    share = flips / (flips + stands) if flips + stands else np.nan
    p = sign_p(at_first, flips)
    expected, more = _by_chance(e, flips, flips + stands)
    figures = {"n": n, "flips": flips, "stands": stands, "tied": n - flips - stands, "flip_share": share, "p_value": p}
    figures |= {"expected": expected, "p_more": more}
    text = (
        f"{counted(n, 'judgment')} repeated in the other order (same {same}): the same object wins both "
        f"{format_count(stands)} times, the same position {format_count(flips)} times, a tie is among them "
        f"{format_count(n - flips - stands)} times"
    )
    if not flips:
        return Finding(
            "swapped", "ok", f"{counted(n, 'judgment')} repeated in the other order, no flip", figures=figures
        )
    return Finding(
        "swapped",
        "warning" if (share > _MANY_FLIPS and more < SIGNIFICANT) or p < SIGNIFICANT else "note",
        f"{text}. Decided verdicts flip in {format_percent(share)}, {format_percent(expected)} expected of two "
        f"independent judgments (the first position wins {format_count(at_first)} "
        f"of the flips, {p_text(p)}){_caution(e)}",
        "a verdict that flips follows the position, not the object; and the two judgments are not independent",
        f"{ordered_remedy(e.response)}; {clustered(e)}",
        figures,
    )


def _by_chance(e: Evidence, flips: float, decided: float) -> tuple[float, float]:
    """Return the share of flips expected of independent judgments without order effects, and the p-value of more flips.

    The worths come from the fit. A pair of decided judgments in both orders flips with probability 2pq, where p and q
    are the probabilities of i and j given a decision.
    """
    x = e.expected
    i = special.expit(2 * x.lead)
    pairs = x.counts.sum(axis=1)
    share = float(np.average((2 * i * (1 - i))[x.rows], weights=pairs))
    if not decided:
        return share, np.nan
    return share, float(stats.binom.sf(np.floor(flips) - 1, np.floor(decided), share))
