"""Checks of the amount of data and of connections: sparse objects, groups, separation, baselines."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import linalg

from ..base.table import counted, format_count, format_percent
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..errors import SeparationError, braced
from ..fitting.existence import check_existence
from ..fitting.specification import make_problem
from ..formulas.design import build_design
from ..kernel.solvers import independent_columns
from .baseline_fit import words
from .evidence import BoolArray, Evidence
from .finding import Finding, and_more

_FEW = 10  # judgments of an object; with 30, 15 and 10, 95 % intervals of 60 objects cover in 94.6, 94.4 and 94.0 %
_PER_OBJECT = 30.0  # judgments per object of a judge whose own estimates are expected to be finite
ACROSS = 10  # judgments between two groups, below which their difference is hardly known
_NEARLY_ALL = 0.85  # share of judgments with the same object from which the others are hardly compared directly
MOST_OBJECTS = 2000  # whose graph is searched for groups hardly compared
_MOST_JUDGES = 20  # whose tables are searched for separation one by one


def check_sparse(e: Evidence) -> Finding:
    """Check for objects with few judgments."""
    n = e.by_object()
    few = sorted(np.flatnonzero(n < _FEW), key=lambda k: (n[k], k))
    if not few:
        return Finding("sparse", "ok", f"every object has {_FEW} judgments or more", figures={"n": 0.0})
    named = [f"{e.judgments.objects[k]!r} ({format_count(n[k])})" for k in few]
    return Finding(
        "sparse",
        "warning",
        f"{len(few)} of {counted(len(n), 'object')} with fewer than {_FEW} judgments: {and_more(named, 8)}",
        "their worths are imprecise, estimates are too far from 0, and normal intervals are rough",
        f"llbt.fit({_formulas(_first_fitted(e))[-1]!r}, c, prior='jeffreys'); then res.conf_int(method='profile')",
        {"n": float(len(few))},
    )


def check_disconnected(e: Evidence) -> Finding:
    """Check for groups of objects that were never compared with each other."""
    idle = [
        (e.judgments.objects[k],) for k in np.flatnonzero(e.by_object() == 0)
    ]  # of a table: objects that none was judged with
    parts = [*e.table().components(), *idle]
    if len(parts) == 1:
        return Finding("disconnected", "ok", "all objects are connected by judgments", figures={"groups": 1.0})
    return Finding(
        "disconnected",
        "error",
        f"{len(parts)} groups of objects never compared with each other: {and_more([braced(g, 6) for g in parts], 6)}",
        "worths of different groups have no common scale, and llbt.fit refuses them",
        "fit the largest group: c.select(objects=max(c.components(), key=len)); or compare objects of different groups",
        {"groups": float(len(parts))},
    )


def separated(formula: str, c: Comparisons) -> tuple[str, str]:
    """Return what separates the estimates of a formula, and the remedy; two empty texts if estimates are finite."""
    design = build_design(formula, c)
    free = np.arange(len(design.names), dtype=np.int64)
    free = free[independent_columns(make_problem(design, c, free, {}))]
    problem = make_problem(design, c, free, {})
    try:
        check_existence(design, free, problem, c)
    except SeparationError as error:
        return error.found, error.remedy
    return "", ""


def _formulas(e: Evidence) -> list[str]:
    """Return the plain formulas, the smallest first: object, with the tie, with the grades."""
    return list(itertools.accumulate(("object", *words(e.response)), "{} + {}".format))


def _first_fitted(e: Evidence) -> Evidence:
    """Return the evidence with the outcomes of a default fit: without grades for single judgments."""
    return e.plain() if e.single else e


def _firstseparated(e: Evidence, c: Comparisons) -> tuple[str, str, str]:
    """Return the smallest plain formula that separates, the reason and the remedy; otherwise empty texts.

    If objects are not connected, worths are checked group by group, so that the message can name objects; ties have one
    effect for all groups. If the estimates of the largest formula are finite, so are those of all smaller formulas.
    """
    parts = c.components()
    formulas = _formulas(e)
    if (len(parts) == 1 or len(formulas) > 1) and not separated(formulas[-1], c)[0]:
        return "", "", ""
    tables = [c] if len(parts) == 1 else [c.select(objects=part) for part in parts]
    for formula, table in [*(("object", t) for t in tables), *((f, c) for f in formulas[1:])]:
        reason, remedy = separated(formula, table)
        if reason:
            return formula, reason, remedy
    return "", "", ""


def check_separation(e: Evidence) -> Finding:
    """Check whether the estimates of the worths and of the tie effect exist."""
    cases = [(x, *_firstseparated(x, x.table())) for x in dict.fromkeys((_first_fitted(e), e))]
    e, formula, reason, remedy = next((x for x in cases if x[2]), cases[-1])
    if not reason:
        return Finding("separation", "ok", f"estimates of {_formulas(e)[-1]} are finite")
    effect = f"maximum likelihood estimates of {formula} (and of all larger models) are infinite; llbt.fit refuses them"
    return Finding("separation", "error", f"{formula}: {reason}", effect, remedy)


def check_order_separation(e: Evidence) -> Finding:
    """Check whether the estimate of the order effect exists, also for grades."""
    cases = [_order_separation(x) for x in dict.fromkeys((_first_fitted(e), e))]
    return next((finding for finding in cases if finding.level != "ok"), cases[-1])


def _order_separation(e: Evidence) -> Finding:
    c = e.table(ordered=True)
    formula = f"{_formulas(e)[-1]} + order"
    reason, remedy = separated(formula, c)
    if not reason:
        return Finding("order_separation", "ok", f"estimates of {formula} are finite")
    if _firstseparated(e, c)[0]:
        return Finding("order_separation", "unchecked", "estimates are infinite even without order: see separation")
    effect = f"maximum likelihood estimates of {formula} are infinite; llbt.fit refuses them"
    return Finding("order_separation", "warning", f"{formula}: {reason}", effect, remedy)


def check_judge_separation(e: Evidence) -> Finding:
    """Check whether estimates exist for each judge alone."""
    name, e = "judge_separation", _first_fitted(e)
    labels, codes = (e.judge.labels, e.judge.codes) if e.judge else ([], e.judgments.outcomes)
    if len(labels) > _MOST_JUDGES:
        return Finding(name, "unchecked", f"not searched: more than {_MOST_JUDGES} judges")
    own = 2 * e.by_judge().sum(axis=1) / len(e.judgments.objects)
    if not (own >= _PER_OBJECT).any():
        return Finding(name, "unchecked", f"no judge has {_PER_OBJECT:.0f} judgments per object, which a search needs")
    separated_judges = []
    for k, label in enumerate(labels):
        rows = (codes == k) & (own[k] >= _PER_OBJECT)
        formula, reason, _ = _firstseparated(e, e.table(rows)) if rows.any() else ("", "", "")
        separated_judges += [f"{label!r} ({formula}): {reason}"] if reason else []
    if not separated_judges:
        return Finding(name, "ok", f"estimates of {_formulas(e)[-1]} are finite for each judge alone")
    interactions = " + ".join(f"{word} * {e.names[0]}" for word in ("object", *words(e.response)))
    return Finding(
        name,
        "note",
        f"infinite estimates for {len(separated_judges)} of {counted(len(labels), 'judge')} alone: "
        f"{and_more(separated_judges, 3)}",
        f"{interactions} has infinite estimates and is refused; models without interactions are not affected",
        f"merge judges into classes; or llbt.fit({interactions!r}, c, prior='jeffreys')",
        {"n": float(len(separated_judges))},
    )


def check_baseline(e: Evidence) -> Finding:
    """Check whether one object is part of every comparison, or nearly every one."""
    objects, n, total = e.judgments.objects, e.by_object(), float(e.judgments.times.sum())
    share = float(n.max()) / total
    if len(objects) < 3 or share < (_NEARLY_ALL if len(objects) > 3 else 1 - 1e-12):
        return Finding("baseline", "ok", "no single object is part of every comparison", figures={"share": share})
    label = objects[int(n.argmax())]
    whole = share >= 1 - 1e-12
    share_text = "every comparison" if whole else f"{format_percent(share)} of the comparisons"
    return Finding(
        "baseline",
        "note",
        f"{label!r} is part of {share_text}: the other {len(objects) - 1} objects are compared "
        f"{'only' if whole else 'nearly only'} through it",
        "differences among the others add the errors of two comparisons, and no cycle of objects can test the model",
        f"llbt.fit(…, reference={label!r}), and llbt.pairwise(res) for the others; or compare the others directly",
        {"share": share},
    )


def check_bridges(e: Evidence) -> Finding:
    """Check for two groups of objects with few judgments between them, by a split of the graph of judgments."""
    judged, codes = np.unique(e.judgments.pairs, return_inverse=True)
    i, j = codes.reshape(e.judgments.pairs.shape).T
    size = len(judged)
    if size > MOST_OBJECTS:
        return Finding("bridges", "unchecked", f"not searched: more than {MOST_OBJECTS:,} objects")
    group, gap = weakest_cut(size, np.column_stack([i, j]), e.judgments.times)
    across = float(e.judgments.times[group[i] != group[j]].sum())
    smaller = int(min(group.sum(), (~group).sum()))
    figures = {"across": across, "smaller": float(smaller), "gap": gap}
    if across == 0 or smaller < 2 or across >= ACROSS:
        text = "no two groups of objects are connected by only a few judgments" if across else "see disconnected"
        return Finding("bridges", "ok", text, figures=figures)
    sides = [tuple(e.judgments.objects[k] for k in judged[side]) for side in (group, ~group)]
    parts = [braced(side, 6) for side in sides]
    larger = sides[0] if len(sides[0]) >= len(sides[1]) else sides[1]
    return Finding(
        "bridges",
        "warning",
        f"only {counted(across, 'judgment')} compare{'s' if across == 1 else ''} {parts[0]} with {parts[1]}",
        "every difference between the two groups rests on these judgments: intervals are wide, ranks are unreliable",
        f"compare objects of both groups; or rank each group by itself: c.select(objects={list(larger)!r})",
        figures,
    )


def weakest_cut(size: int, pairs: IntArray, times: FloatArray) -> tuple[BoolArray, float]:
    """Return the two groups that the graph of judgments splits into, as membership (J,), and the graph's spectral gap.

    Parameters
    ----------
    pairs : ndarray of int, shape (S, 2)
        Numbers of objects, 0 to `size` − 1; every object was judged.
    times : ndarray, shape (S,)
    """
    met = np.zeros((size, size))
    np.add.at(met, tuple(pairs.T), times)
    met += met.T
    degree = met.sum(axis=1)
    values, vectors = linalg.eigh(np.eye(size) - met / np.sqrt(np.outer(degree, degree)), subset_by_index=[0, 1])
    return vectors[:, -1] / np.sqrt(degree) > 0, float(values[-1])
