"""Checks of grades of preference: unused grades, judges who give only the extremes, reversed scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..base.table import counted, format_count, format_percent
from ..core.columns import FloatArray, IntArray, Label, tally
from ..core.response import Response
from ..core.statistics import adjust_p
from .baseline_fit import effects_of
from .dependence_checks import without
from .evidence import Evidence, answer_effect, complete, dependent_within
from .finding import SIGNIFICANT, Finding, and_more, one_share, p_text, unlike_all

_FEWEST = 10  # preferences of a judge, or of a task, whose direction is tested


def sizes_of_outcomes(response: Response) -> IntArray:
    """Return the strength of preference of each outcome, (K,): 0 for undecided ones, 1, 2, … for the grades."""
    return np.unique(np.abs(response.loadings[:, 0]), return_inverse=True)[1] + (not response.has_ties)


def check_grades(e: Evidence) -> Finding:
    """Check for grades that nobody gives, and for judges who give the largest grade more or less often than others."""
    size = sizes_of_outcomes(e.response)[e.outcome]
    names = _names(e.response)
    given = np.bincount(size, e.judgments.times, len(names) + 1)[1:]
    figures = {f"share_{name}": float(n / given.sum()) for name, n in zip(names, given, strict=True)}
    unused = [name for name, n in zip(names, given, strict=True) if not n]
    shares = [f"{name} {format_percent(float(n / given.sum()))}" for name, n in zip(names, given, strict=True)]
    text = f"of {counted(given.sum(), 'preference')} {', '.join(shares)}"
    judged = _ends_by_judge(e, size, text, figures)
    if not unused:
        return judged
    also = f"; {judged.found}" if judged.is_failure else f"; {text}"
    return Finding(
        "grades",
        judged.level if judged.is_failure else "note",
        f"no judge used the grade {', '.join(unused)}{also}",
        f"the γ of an unused grade is −∞{f'; {judged.effect}' if judged.is_failure else ''}",
        "renumber the larger grades without a gap, by outcomes= or cuts="
        + (f"; {judged.remedy}" if judged.is_failure else ""),
        {**judged.figures, "unused": float(len(unused))},
    )


def _names(response: Response) -> list[str]:
    """Return the grades, the smallest first, by the outcomes that have them: ``i or j``, ``i+ or j+``."""
    sizes, signed = sizes_of_outcomes(response), response.loadings[:, 0]
    order = [k for k in np.argsort(sizes, kind="stable") if signed[k] > 0]
    return [f"{response.outcomes[k]} or {response.outcomes[response.flip[k]]}" for k in order]


def _ends_by_judge(e: Evidence, size: IntArray, ends: str, figures: dict[str, float]) -> Finding:
    """Check whether judges give the largest grade equally often."""
    decided = size > 0
    by = np.where(decided, -1 if e.judge is None else e.judge.codes, -1)
    labels = [] if e.judge is None else e.judge.labels
    counts = tally(by, (size < size.max()).astype(np.int64), e.judgments.times, len(labels), 2)  # the ends first
    judged = np.flatnonzero(counts.sum(axis=1) > 0)
    table = counts[judged]
    if len(judged) < 2 or not table.sum(axis=0).all():
        return Finding("grades", "ok", ends, figures=figures)
    effect = answer_effect(e, size == size.max(), by >= 0)[judged]
    p = one_share(table, effect)
    share = table[:, 0] / table.sum(axis=1)
    figures = figures | {"p_value": p}
    name = _names(e.response)[-1]
    spread = f"{format_percent(share.min())} to {format_percent(share.max())}"
    by_judge = f"{ends}; {name} by judge {spread} (χ² test of equal shares: {p_text(p)})"
    if p >= SIGNIFICANT:
        return Finding("grades", "ok", by_judge, figures=figures)
    extreme, adjusted = unlike_all(table, effect)
    named = [
        f"{labels[judged[k]]!r}: {_habit(float(share[k]), name)} in {format_count(table[k].sum())} preferences "
        f"({p_text(float(adjusted[k]))})"
        for k in extreme
    ]
    others = f"; different from the others (Holm's adjusted p): {and_more(named)}" if named else ""
    judge = e.names[0]
    return Finding(
        "grades",
        "warning",
        by_judge + others,
        "each γ averages over judges who use the scale differently",
        effects_of(judge, e.response),
        figures | {"judges": float(len(named))},
    )


def _habit(share: float, name: str) -> str:
    """Return in words how often the largest grade is given."""
    return f"only {name}" if share == 1 else f"never {name}" if share == 0 else f"{name} {format_percent(share)}"


# -- turned scales -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Direction:
    """Whether some judgments agree with the overall worths: z of the preferred object, and z of the grade."""

    who: str
    side: float
    size: float


def check_turned(e: Evidence) -> Finding:
    """Check for judges, tasks or whole files whose verdicts or grades contradict the overall worths."""
    x = e.expected
    response, lead = e.response, x.lead[x.rows]
    outcome = x.counts.argmax(axis=1)  # a line has one outcome
    signed, size = response.loadings[outcome, 0], sizes_of_outcomes(response)[outcome].astype(np.float64)
    times, decided = e.judgments.times, signed != 0
    known = x.components(dependent_within(e), x.lead)
    whole = known.beyond(np.zeros(len(lead), dtype=np.int64), 1).variance
    units = [("the whole", np.flatnonzero(decided), float(whole[0]))]
    judged: dict[str, Label] = {}
    for what, factor in (("", e.judge), (f"{e.beside[1]} ", e.task)):
        if factor is not None and len(factor.labels) > 1:
            codes = complete(factor)
            others = x.components(dependent_within(e, e.names[0]), x.lead) if factor is e.judge else known
            spread = others.beyond(codes, int(codes.max()) + 1).variance
            parts = _parts(factor.labels, factor.codes, decided)
            units += [(f"{what}{label!r}", rows, float(spread[codes[rows[0]]])) for label, rows in parts if len(rows)]
            judged |= {repr(label): label for label, _ in parts} if factor is e.judge else {}
    directions = [
        _Direction(
            who,
            _along(lead[rows] * signed[rows], times[rows], spread),
            _larger(lead[rows] * np.sign(signed[rows]), size[rows], times[rows]),
        )
        for who, rows, spread in units
        if times[rows].sum() >= _FEWEST
    ]
    z = np.array([[f.side, f.size] for f in directions]).reshape(-1, 2)
    adjusted = adjust_p(stats.norm.cdf(np.where(np.isnan(z), np.inf, z)).ravel(), "holm").reshape(z.shape)
    named = [
        f"{directions[k].who} {('decides against the overall worths', 'gives larger grades to similar objects')[m]} "
        f"(z = {z[k, m]:.1f}, {p_text(float(adjusted[k, m]))})"
        for k, m in np.argwhere(adjusted < SIGNIFICANT)
        if m == 0 or adjusted[k, 0] >= SIGNIFICANT  # where sides are turned, sizes run the wrong way by that alone
    ]
    turned = [directions[k].who for k in np.flatnonzero((adjusted < SIGNIFICANT).any(axis=1))]
    judges = [judged[who] for who in turned if who in judged]
    figures = {"n": float(len(named)), "tested": float(len(directions))}
    if not named:
        text = f"neither the whole nor any of {len(directions) - 1} parts (judges, tasks) contradicts the worths"
        return Finding("turned_scale", "ok", text, figures=figures)
    return Finding(
        "turned_scale",
        "warning",
        f"one-sided tests, Holm's adjusted p: {and_more(named)}",
        "a reversed scale reverses the worths or shrinks their differences",
        "check how these grades were recorded; if they are reversed, correct outcomes= or exchange the sides"
        + (f"; or fit with and without the judges: {without(e, judges)}" if judges else ""),
        figures,
    )


def _parts(labels: list[Label], codes: IntArray, decided: npt.NDArray[np.bool_]) -> list[tuple[Label, IntArray]]:
    """Return the decided lines of each label."""
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(labels) + 1))
    return [(label, order[a:b][decided[order[a:b]]]) for label, a, b in zip(labels, ends, ends[1:], strict=False)]


def _along(lead: FloatArray, times: FloatArray, spread: float = 0.0) -> float:
    """Return z of Σ score · lead if each verdict is equally likely to be reversed; lead has the verdict's sign.

    `spread` is the part of the variance from dependence between judgments.
    """
    variance = float((times * lead**2).sum()) + spread
    return float((times * lead).sum() / np.sqrt(variance)) if variance > 0 else np.nan


def _larger(lead: FloatArray, size: FloatArray, times: FloatArray) -> float:
    """Return z of the covariance of a preference's size and the preferred object's lead, under permuted sizes."""
    n = float(times.sum())
    a, b = (values - float((times * values).sum()) / n for values in (lead, size))
    variance = float((times * a**2).sum() * (times * b**2).sum() / (n - 1))
    return float((times * a * b).sum() / np.sqrt(variance)) if variance > 0 else np.nan
