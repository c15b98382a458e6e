"""Checks for outlying judges, judges with most judgments, and drift of objects or periods."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..base.table import counted, format_count, format_percent
from ..core.columns import FloatArray, IntArray, Label
from ..core.statistics import adjust_p
from ..kernel.robust import Clustered
from ..kernel.unit_scores import UnitTests, compare_units, dependence, trend_scores
from .baseline_fit import words
from .dependence_checks import without
from .evidence import Evidence, dependent_within
from .finding import NAMED, SIGNIFICANT, Finding, and_more, p_text

_TOO_MANY = 0.05  # share of all judgments of one judge
_TIMES = 4.0  # as many as the median of the others
_STRETCHES = 20  # parts of a file that are held against the rest
_RUNS = 6.0  # standard deviations fewer runs of equal outcomes than by chance: rows sorted by who won


def _against_the_rest(e: Evidence, units: Clustered, beside: Sequence[IntArray], *, differ: bool = False) -> UnitTests:
    """Return tests of units: agreement, favoured objects, and positions if they are known."""
    x = e.expected
    directions = {"agreement": (0, x.lead)} | ({} if e.unordered else {"order": (0, np.ones(len(x.lead)))})
    return compare_units(x.problem, x.fit, x.probability, units, x.pairs, directions, beside, differ=differ)


def _reason(e: Evidence, tests: UnitTests, k: int) -> str:
    """Return in words how one unit differs from the rest."""
    if tests.reason[k] == "object":
        z, label = float(tests.item_statistic[k]), e.judgments.objects[tests.item[k]]
        return f"decides {'for' if z > 0 else 'against'} {label!r} (z = {z:.1f})"
    z = float(tests.statistics[str(tests.reason[k])][k])
    if tests.reason[k] == "order":
        return f"decides for the {'first' if z > 0 else 'second'} position (z = {z:.1f})"
    return f"agrees {'too well' if z > 0 else 'too little'} with the overall worths (z = {z:.1f})"


def check_outlying(e: Evidence) -> Finding:
    """Check for judges who decide differently from the others."""
    assert e.judge is not None  # the check needs it
    labels = e.judge.labels
    if len(labels) < 2:
        return Finding("outlying_judges", "ok", "one judge: no other judge to compare with")
    beside = [codes[e.judge.codes >= 0] for codes in dependent_within(e, e.names[0])]
    tests = _against_the_rest(e, e.expected.units(e.judge.codes), beside, differ=True)
    tested = int((~np.isnan(tests.p_values)).sum())
    who = [int(k) for k in np.argsort(tests.p_adjusted, kind="stable") if tests.p_adjusted[k] < SIGNIFICANT]
    figures = {"n": float(len(who)), "tested": float(tested)}
    if not who:
        smallest = f" (smallest {p_text(float(np.nanmin(tests.p_adjusted)))})" if tested else ""
        text = f"none of {counted(tested, 'judge')} decides differently from the others{smallest}"
        return Finding("outlying_judges", "ok", text, figures=figures)
    text = and_more([f"{labels[k]!r} {_reason(e, tests, k)}, {p_text(float(tests.p_adjusted[k]))}" for k in who])
    name = e.names[0]
    return Finding(
        "outlying_judges",
        "warning",
        f"{len(who)} of {counted(tested, 'judge')} decide{'s' if len(who) == 1 else ''} differently from the others "
        f"(score tests, Holm's adjusted p): {text}",
        "a judge who guesses, favours an object or exchanges the sides distorts the worths",
        f'llbt.level_tests(res, by="{name}"), llbt.influence(res, by="{name}"); fit with and without them: '
        + without(e, [labels[k] for k in who]),
        figures,
    )


def check_dominant(e: Evidence) -> Finding:
    """Check for judges with far more judgments than all others."""
    assert e.judge is not None  # the check needs it
    name = e.names[0]

    def remedy(judges: Sequence[Label]) -> str:
        return (
            f'llbt.influence(res, by="{name}"); fit with and without them: {without(e, judges)}; or weights= that give '
            "every judge the same total"
        )

    return dominant(e.judge.labels, e.by_judge().sum(axis=1), "judgments", remedy)


def dominant(labels: Sequence[Label], n: FloatArray, what: str, remedy: Callable[[Sequence[Label]], str]) -> Finding:
    """Return the finding on judges with far more judgments or lists, n (G,), than all others."""
    share = n / n.sum()
    if len(n) < 3:
        return Finding("dominant_judge", "ok", f"{counted(len(n), 'judge')}: no other judge to compare with")
    who = [
        int(k) for k in np.argsort(-n) if share[k] >= _TOO_MANY and n[k] >= _TIMES * float(np.median(np.delete(n, k)))
    ]
    figures = {"largest": float(share.max()), "n": float(len(who))}
    if not who:
        text = f"no judge has many more {what} than the others (at most {format_percent(float(share.max()))})"
        return Finding("dominant_judge", "ok", text, figures=figures)
    named = [f"{labels[k]!r}: {format_count(n[k])} ({format_percent(float(share[k]))})" for k in who]
    return Finding(
        "dominant_judge",
        "warning",
        f"{len(who)} of {len(n)} judges with far more {what} than the others (median "
        f"{format_count(float(np.median(n)))}): {and_more(named)}",
        "worths mostly reflect one judge; standard errors by judge need about equally many judgments per judge",
        remedy([labels[k] for k in who]),
        figures,
    )


def check_drift(e: Evidence) -> Finding:
    """Check for objects whose worth changes over time, and for periods that differ from the rest."""
    assert e.moment is not None  # the check needs it
    if not e.beside[2] and _sorted_by_outcome(e):
        return Finding("drift", "unchecked", "rows are sorted by outcome: name the column of times, time=…")
    x, beside = e.expected, dependent_within(e)
    scores = trend_scores(
        x.pairs[x.rows], len(e.judgments.objects), x.problem.response, x.probability[x.rows], x.counts, e.moment, beside
    )
    p = adjust_p(scores.p_values(), "holm")
    moved = [int(k) for k in np.argsort(p, kind="stable") if p[k] < SIGNIFICANT / 3]
    parts = np.minimum((e.moment * _STRETCHES).astype(np.int64), _STRETCHES - 1)
    labels, codes = np.unique(parts, return_inverse=True)
    odd: list[int] = []
    varied = 1.0
    if len(labels) > 2:
        units = x.units(np.asarray(codes, dtype=np.int64))
        varied = dependence(x.pairs, len(e.judgments.objects), x.problem.response, x.probability, units, beside)[1]
        tests = _against_the_rest(e, units, beside)
        q = tests.p_adjusted
        odd = [int(k) for k in np.argsort(q, kind="stable") if q[k] < SIGNIFICANT / 3]
    by = repr(e.beside[2]) if e.beside[2] else "the order of the rows"
    figures = {"objects": float(len(moved)), "stretches": float(len(odd)), "p_value": varied}
    varies = bool(varied < SIGNIFICANT / 3)
    if not moved and not odd and not varies:
        return Finding("drift", "ok", f"no object and no period differs from the others (by {by})", figures=figures)
    trends = [_trend(e.judgments.objects[k], float(scores.z[k]), float(p[k])) for k in moved[:NAMED]]
    trends += [f"and {len(moved) - NAMED} more objects"] if len(moved) > NAMED else []
    trends += [
        f"the part from {labels[k] / _STRETCHES:.0%} to {(labels[k] + 1) / _STRETCHES:.0%} of the judgments "
        f"{_reason(e, tests, k)}, {p_text(float(q[k]))}"
        for k in odd[:NAMED]
    ]
    trends += [f"worths differ between periods (score test: {p_text(varied)})"] if varies else []
    return Finding(
        "drift",
        "warning",
        f"by {by}: {'; '.join(trends)}",
        "one worth averages over time: an object may have changed, or some rows were recorded differently "
        "(outcomes or sides exchanged)",
        f"check each period: {_by_period(e)}",
        figures,
    )


def _by_period(e: Evidence) -> str:
    """Return the calls that fit separate worths to each quarter of the rows, in the order of time."""
    time = e.beside[2]
    arranged = f".sort_values({time!r})" if time else ""
    formula = " + ".join(("object * period", *words(e.response)))
    return (
        f"frame = frame{arranged}.assign(period=[4 * k // len(frame) for k in range(len(frame))]); "
        f"llbt.from_judgments(…, covariates='period'), then llbt.fit({formula!r}, …)"
    )


def _trend(label: Label, z: float, p: float) -> str:
    return f"{label!r} is getting {'better' if z > 0 else 'worse'} (score test of a trend: z = {z:.1f}, {p_text(p)})"


def _sorted_by_outcome(e: Evidence) -> bool:
    """Whether neighbouring rows have the same outcome far more often than by chance (Wald–Wolfowitz runs test)."""
    outcomes: IntArray = e.judgments.outcomes
    n = len(outcomes)
    share: FloatArray = np.bincount(outcomes, minlength=3) / n
    change = 1 - float((share**2).sum())
    runs = float((outcomes[1:] != outcomes[:-1]).sum())
    return bool(runs < (n - 1) * change - _RUNS * np.sqrt(n * max(change * (1 - change), 1e-12)))
