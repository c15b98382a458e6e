"""Checks of how judges answer: ties, positions, judges with one answer."""

from __future__ import annotations

import numpy as np
from scipy import stats

from ..base.table import counted, format_count, format_percent
from ..core.columns import FloatArray
from ..core.statistics import sign_p
from ..data.outcome_codings import TIE
from .baseline_fit import effects_of, ordered_remedy
from .dependence_checks import order_effect, without
from .evidence import Evidence, answer_effect
from .finding import SIGNIFICANT, Finding, and_more, one_share, p_text, unlike_all

_SAME_ANSWERS = 5  # judgments from which a judge with one answer only is named


def check_ties(e: Evidence) -> Finding:
    """Check the share of ties, overall and by judge."""
    total, tied = float(e.judgments.times.sum()), float(e.judgments.times[e.judgments.outcomes == 1].sum())
    figures = {"ties": tied, "share": tied / total}
    if not tied:
        return Finding("ties", "ok", f"no ties among {counted(total, 'judgment')}: leave tie out", figures=figures)
    overall = f"{format_percent(tied / total)} of {counted(total, 'judgment')} are ties"
    counts = e.by_judge()
    judged = np.flatnonzero(counts.sum(axis=1) > 0)
    table = np.column_stack([counts[judged, 1], counts[judged][:, [0, 2]].sum(axis=1)])
    if len(judged) < 2 or not table.sum(axis=0).all() or e.judge is None:
        return Finding("ties", "ok", overall, figures=figures)
    effect = answer_effect(e, e.judgments.outcomes == TIE, e.judge.codes >= 0)[judged]
    p = one_share(table, effect)
    shares = table[:, 0] / table.sum(axis=1)
    by_judge = f"by judge {format_percent(shares.min())} to {format_percent(shares.max())}"
    if p >= SIGNIFICANT:
        text = f"{format_percent(tied / total)} ties, {by_judge} (χ² test of equal shares: {p_text(p)})"
        return Finding("ties", "ok", text, figures=figures | {"p_value": p})
    extreme, adjusted = unlike_all(table, effect)
    named = [
        f"{e.judge.labels[judged[k]]!r}: {format_percent(shares[k])} of {format_count(table[k].sum())} "
        f"({p_text(float(adjusted[k]))})"
        for k in extreme
    ]
    others = f"; different from the others (Holm's adjusted p): {and_more(named)}" if named else ""
    return Finding(
        "ties",
        "warning",
        f"{overall}, {by_judge} (χ² test of equal shares: {p_text(p)}){others}",
        "one tie effect averages over judges who use ties differently",
        effects_of(e.names[0], e.response),
        figures | {"p_value": p, "judges": float(len(named))},
    )


def check_position(e: Evidence) -> Finding:
    """Check the balance of positions, and whether the object shown first wins more or less often."""
    a, b = e.by_pair()
    both = (a.sum(axis=1) > 0) & (b.sum(axis=1) > 0)
    first, second = (float((a + b)[:, k].sum()) for k in (0, 2))
    rarer = np.minimum(a.sum(axis=1), b.sum(axis=1)) / (a + b).sum(axis=1)
    p, within, given = sign_p(first, first + second), _within_pairs(a, b), _given_worths(e)
    rate = first / (first + second) if first + second else np.nan
    figures = {
        "rate": rate,
        "p_value": p,
        "p_within": within,
        "p_given": given,
        "rarer": float(np.median(rarer)),
        "both": float(both.sum()),
        "pairs": float(len(a)),
    }
    if not first + second:
        return Finding("position", "ok", "no judgment is decided", figures=figures)
    tests = p_text(p) if np.isnan(within) else f"{p_text(p)}; within pairs {p_text(within)}"
    tests += f"; given worths {p_text(given)}"
    if both.any() and given >= SIGNIFICANT:
        text = f"the first object won {format_percent(rate)} of {counted(first + second, 'decided judgment')} ({tests})"
        return Finding("position", "ok", text, figures=figures)
    won = f"won {format_percent(rate)} of {counted(first + second, 'decided judgment')}"
    text = (
        f"the object shown first {won} ({tests}); "
        f"shown in both orders: {format_count(both.sum())} of {counted(len(a), 'pair')}; in the median pair the "
        f"rarer order has {format_percent(float(np.median(rarer)))}"
    )
    if not both.any():
        effect = "no pair was shown in both orders, so the order effect rests on the model alone"
        return Finding("position", "note", text, effect, "randomize the order of each judgment", figures)
    effect = "without an order effect in the model, worths are biased for objects shown first more often than others"
    return Finding("position", "warning", text, effect, ordered_remedy(e.response), figures)


def _given_worths(e: Evidence) -> float:
    """Return the p-value of Wald's test of no order effect in the model object (+ tie) + order.

    The test uses all judgments; in sparse data, most pairs were shown in one order only. Judges and prompts may have
    order effects of their own.
    """
    x = e.expected
    if "order" not in x.blocks:
        return 1.0
    k = x.blocks.index("order")
    effect, df = order_effect(e)
    return float(2 * stats.t.sf(abs(x.fit.params[k]) / np.sqrt(x.fit.cov[k, k] * effect), df))


def _within_pairs(a: FloatArray, b: FloatArray) -> float:
    """Return the p-value of no order effect given each pair, for any worths (Cochran, Mantel and Haenszel).

    Given the totals of a pair, the wins of its first-named object in one order are hypergeometric.

    Parameters
    ----------
    a, b : ndarray, shape (P, 3)
        First-position wins, ties, second-position wins in either order of each pair.
    """
    n_a, n_b = a[:, 0] + a[:, 2], b[:, 0] + b[:, 2]
    n, won = n_a + n_b, a[:, 0] + b[:, 2]
    varies = (n > 1) & (n_a > 0) & (n_b > 0)
    n, n_a, n_b, won, seen = (x[varies] for x in (n, n_a, n_b, won, a[:, 0]))
    variance = float((n_a * n_b * won * (n - won) / (n**2 * (n - 1))).sum())
    if variance <= 0:
        return np.nan
    return float(2 * stats.norm.sf(abs((seen - n_a * won / n).sum()) / np.sqrt(variance)))


def check_judges(e: Evidence) -> Finding:
    """Check for judges who give only one answer."""
    counts = e.by_judge()
    n = counts.sum(axis=1)
    enough = n >= _SAME_ANSWERS
    answers = [(1, "a tie")] if e.unordered else [(0, "the first object"), (2, "the second object"), (1, "a tie")]
    who = [(int(k), answer) for c, answer in answers for k in np.flatnonzero(enough & (counts[:, c] == n))]
    labels = e.judge.labels if e.judge is not None else []
    tested = counted(int(enough.sum()), "judge")
    if not who:
        return Finding("judges", "ok", f"none of {tested} with {_SAME_ANSWERS} or more judgments gives only one answer")
    share = counts.sum(axis=0) / counts.sum()
    chance = sum(float((share[c] ** n[enough]).sum()) for c, _ in answers)
    named = [f"{labels[k]!r}: always {answer} ({format_count(n[k])} judgments)" for k, answer in who]
    return Finding(
        "judges",
        "warning",
        f"{len(who)} of {tested} with {_SAME_ANSWERS} or more judgments always give the same answer ({chance:.2g} "
        f"expected by chance): {and_more(named)}",
        "these judges may have answered without looking; this shrinks differences or inflates the order effect",
        f"fit with and without them: {without(e, [labels[k] for k, _ in who])}; see llbt.influence"
        if len(labels) > 1
        else "add another judge: constant answers carry no information about the objects",
        {"n": float(len(who)), "expected": chance},
    )
