"""Compare two tables: how much each object's log-worth changed, relative to objects that did not change."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt

from ..base.arguments import JUDGED_INSIDE, Confidence, Positive, Rng, as_generator, checked, is_label, is_list
from ..base.table import format_p
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..core.stacking import stacked
from ..errors import DesignError, OptionError, listed, safe_repr
from ..fitting.estimates import Estimates
from ..fitting.hypotheses import wald_test
from ..fitting.model import LLBT, default_formula
from ..fitting.specification import CovType, Prior
from ..formulas.brackets import split_brackets
from ..formulas.grammar import HEADS, parse, vocabulary
from ..formulas.grid import At, check_at
from .changes_record import SCALES, Changes
from .contrasts import check_scale
from .log_worths import LogWorths, worth_classes
from .scales import Scale
from .simultaneous import simultaneous

TABLE = "table"  # the covariate that names the table of a comparison
_FAR = 2.0  # an object farther from the centre, in standard errors, is no anchor
_MAJORITY = 2 / 3  # anchors have to be at least this share of the objects, so that changes have a direction
_APART = 0.01  # below this p-value anchors count as having changed themselves
_MOST_TURNS = 30  # most rounds of the search for anchors
Anchor = Literal["consensus", "mean"]


@checked
def compare(
    a: Comparisons,
    b: Comparisons,
    formula: str | None = None,
    *,
    names: Sequence[str] = ("a", "b"),
    anchor: Annotated[Anchor | Sequence[Label], JUDGED_INSIDE] = "consensus",
    common: Sequence[str] = (),
    at: At = None,
    scale: Scale = "log_worth",
    margin: Positive | None = None,
    cov_type: CovType = "cautious",
    groups: str | Sequence[str] = (),
    prior: Prior = None,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
) -> Changes:
    """Compare two tables: which objects got better or worse from `a` to `b`, and by how much.

    Both tables are fitted as one, in which log-worths, ties and order effects may differ between the tables. Log-worths
    have no natural zero, so a change is measured against other objects, the anchors.

    Parameters
    ----------
    a, b : Comparisons
        The two tables, for example of two weeks, two releases, or two groups of judges or prompts.
    formula : str, optional
        The model of each table, such as ``"object + tie"``; by default `default_formula`.
    names : two str
        The names of the two tables.
    anchor : {"consensus", "mean"} or sequence of labels
        ``"consensus"``: the objects whose changes agree; starting at the median change, objects more than two standard
        errors away are left out. ``"mean"``: all objects. Labels: objects that you know have not changed. An object is
        never an anchor of its own change.
    common : sequence of str
        Terms of the formula that are the same in both tables, such as ``["tie", "order"]``.
    at : mapping, optional
        Covariate values at which log-worths are compared, if they differ by covariates: ``{"language": "de"}``.
    scale : {"log_worth", "log_odds", "elo"}
        The scale of the changes. Other scales are refused, because their changes are not sums of log-worths.
    margin : float, optional
        The largest change that does not matter, on the scale, such as 20 Elo. Tests then ask whether each object got no
        worse, got no better, or stayed equivalent. Their p-values are adjusted for both directions of all objects.
    cov_type, groups, prior
        As in `fit`, for both tables together: a judge or prompt with the same label in both is one cluster.
    confidence : float
        The simultaneous level of all intervals.
    rng : int or numpy.random.Generator
        Used to simulate the distribution of the largest |z|.

    Returns
    -------
    Changes
        A row per object that both tables have: object, estimate (its change), std_error, conf_low, conf_high,
        p_adjusted, is_anchor, n_a, n_b (judgments); with `margin` also p_no_worse, p_no_better, p_equivalent and claim,
        as in `contrasts`. ``test`` tests whether any object changed. ``pairs()`` has the changes of all pairs of
        objects, which need no anchor. ``gate(objects)`` is a one-sided test of objects named beforehand.

    Raises
    ------
    OptionError
        For unknown anchors and terms, and for anchors whose own changes differ (Wald's test, p < .01).
    DesignError
        For fewer than two objects that both tables have.
    JudgmentError
        For tables with different outcomes, covariates or orders.

    Notes
    -----
    δᵢ is the log-worth of i in b minus its log-worth in a, up to a constant. The change is δᵢ minus the mean δ of the
    anchors other than i. With ``"consensus"`` the anchors are the objects whose δᵢ is at most 2 standard errors from
    the centre. The centre is first the median, then the mean of the anchors, until the anchors no longer change; at
    least half of the objects are anchors. If the anchors are fewer than two thirds of the objects, or differ among
    themselves (p < .01), the data do not tell which side moved. Changes are then NaN, and `pairs` has the changes of
    each pair.

    Intervals and adjusted p-values come from the distribution of the largest |z| (Hothorn, Bretz & Westfall 2008,
    Biometrical Journal 50(3), 346-363).

    Simulations had 20 objects, 5,000 judgments in each table, and none to three objects that got worse by .25 (400
    pairs of tables). Some unchanged object is called changed in 5 to 6 % of these pairs (7 % if both tables have the
    same 300 prompts). All 20 intervals cover in 93 to 95 %. A gate stops an object that got worse in 90 %, and an
    unchanged object in 4 to 5 %. If ten objects got worse, there is no verdict in 59 %, and otherwise false calls are
    frequent.

    Examples
    --------
    >>> import llbt
    >>> c = llbt.load_dataset("dras_table1")
    >>> before, after = (c.select(where={"judge": both}).pool() for both in (["J1", "J2"], ["J3", "J4"]))
    >>> changes = llbt.compare(before, after, names=["first", "last"])
    >>> changes.test.p_value < 0.001
    True
    >>> changes.to_frame().columns.tolist()[:5]
    ['object', 'estimate', 'std_error', 'conf_low', 'conf_high']
    """
    one, other = _names(names)
    if scale not in SCALES:
        raise OptionError(
            f"scale={scale!r}", expected="'log_worth', 'log_odds' or 'elo', which are linear in log-worths"
        )
    both = stacked({one: a, other: b}, TABLE)
    objects = [label for label in both.objects if label in a.objects and label in b.objects]
    if len(objects) < 2:
        raise DesignError(f"the tables share {len(objects)} of their objects ({listed(objects)})", "Compare tables "
                          "that have two or more objects in common.")  # fmt: skip
    text = _formula(formula or default_formula(both), common, both)
    model = LLBT.from_formula(text, both, reference=objects[0])
    res = model.fit(cov_type=cov_type, groups=groups, prior=prior)
    check_scale(res.response, res.specification, scale)
    moved = _moved(res, _at(res, at, one), _at(res, at, other), objects)
    chosen = _anchors(anchor, moved, objects, res)
    weights, rows = against(chosen.is_anchor), moved.rows[:, res.free]
    return Changes(
        res=res,
        names=(one, other),
        objects=tuple(objects),
        only=tuple(tuple(x for x in c.objects if x not in objects) for c in (a, b)),
        judgments=np.column_stack([_judgments(a, objects), _judgments(b, objects)]),
        moved=moved,
        changes=simultaneous(weights, moved.estimate, res.covariance, rows, confidence, as_generator(rng)),
        is_anchor=chosen.is_anchor,
        no_verdict=chosen.no_verdict,
        test=replace(
            res.wald_test(moved.rows[1:] - moved.rows[0]), name="Did any object change?", null="no object changed"
        ),
        scale=scale,
        margin=margin,
        confidence=confidence,
        rng=rng,
    )


def _names(names: Sequence[str]) -> tuple[str, str]:
    if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
        raise OptionError(f"names={safe_repr(names)}", expected="two different names, such as ['monday', 'friday']")
    return names[0], names[1]


def _formula(formula: str, common: Sequence[str], both: Comparisons) -> str:
    """Return the formula of both tables; terms that are not in `common` have their own values in each table."""
    text, brackets = split_brackets(formula)
    if brackets:
        who = [bracket.grouping for bracket in brackets if bracket.grouping != "object"]
        clusters = f", cov_type='cluster', groups={who[0]!r}" if who else ""
        raise OptionError(
            f"formula={formula!r} has effects in brackets. They would be the same in both tables, so changes in them "
            "would count as changes of objects",
            f"Leave them out, and allow for dependence by clusters: llbt.compare(a, b, formula={text!r}{clusters}).",
        )
    parsed = parse(formula, vocabulary(both))
    there = [head for head in HEADS if getattr(parsed, head)]
    unknown = [word for word in common if word not in there]
    if unknown:
        has = f"{listed(there)}, the terms of {formula!r}" if there else f"none: {formula!r} has no other terms"
        raise OptionError(f"common={listed(unknown)}", expected=has)
    return f"({formula}) * {TABLE}" + "".join(f" - {word}:{TABLE}" for word in common)


def _at(res: Estimates, at: At, name: str) -> LogWorths:
    check_at(at, average=False)
    asked = dict(at) if isinstance(at, Mapping) else {}
    classes, shown, _ = worth_classes(res, {**asked, TABLE: name})
    if len(classes) > 1:
        differ = {name: values[0] for name, values in shown.items() if len(set(map(str, values))) > 1}
        raise OptionError(f"the worths differ by {listed(list(differ))}", f"Name one class: at={differ!r}.")
    return classes[0]


def _moved(res: Estimates, before: LogWorths, after: LogWorths, objects: Sequence[Label]) -> LogWorths:
    """Return the changes of the k shared objects, up to a constant, as log-worths."""
    places = [res.comparisons.objects.index(label) for label in objects]
    estimate, rows = (after.estimate - before.estimate)[places], (after.rows - before.rows)[places]
    unknown = [label for label, value in zip(objects, estimate, strict=True) if math.isnan(value)]
    if unknown:
        raise DesignError(
            f"one of the tables does not compare {listed(unknown)} with the other objects",
            "Compare the connected objects: .largest_component() of each table.",
        )
    free = rows[:, res.free]
    return LogWorths(rows, estimate, res.covariance.combined(free), res.covariance.moves_lost(free))


def against(is_anchor: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the contrasts of each object with the mean of the anchors other than itself, shape (k, k)."""
    size = len(is_anchor)
    others = np.where(np.eye(size, dtype=np.bool_), False, is_anchor[None, :]).astype(np.float64)
    total = others.sum(axis=1, keepdims=True)
    return np.where(total > 0, np.eye(size) - others / np.maximum(total, 1.0), 0.0)


def _errors(res: Estimates, moved: LogWorths, weights: FloatArray) -> FloatArray:
    """Return the standard errors of contrasts of changes, shape (m,); NaN if there is none."""
    errors = np.sqrt(np.maximum(np.einsum("mk,mk->m", weights @ moved.cov, weights), 0.0))
    errors[(errors == 0) | res.covariance.unknown(weights @ moved.rows[:, res.free])] = np.nan
    return np.asarray(errors)


# -- anchors -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Anchors:
    """Which objects are anchors, shape (k,), and why there is no verdict; the reason is empty if there is a verdict."""

    is_anchor: npt.NDArray[np.bool_]
    no_verdict: str = ""


def _anchors(anchor: Anchor | Sequence[Label], moved: LogWorths, objects: Sequence[Label], res: Estimates) -> _Anchors:
    if isinstance(anchor, str):
        if anchor == "consensus":
            return _consensus(moved, res)
        if anchor == "mean":
            return _Anchors(np.ones(len(objects), dtype=np.bool_))
    named = list(anchor) if is_list(anchor) else [anchor]
    unknown = [label for label in named if not is_label(label) or label not in objects]
    if unknown or not named:
        raise OptionError(
            f"anchor={safe_repr(anchor)}",
            expected=f"'consensus', 'mean' or objects of both tables: {listed(objects, 20)}",
        )
    inside = np.array([label in named for label in objects])
    p_value = _differ(res, moved, inside)
    if p_value < _APART:
        raise OptionError(
            f"the anchors {listed(named)} changed relative to each other (Wald's test, p = {format_p(p_value)})",
            "Name other objects, or use anchor='consensus'.",
        )
    return _Anchors(inside)


def _consensus(moved: LogWorths, res: Estimates) -> _Anchors:
    size = len(moved.estimate)
    from_median = np.abs(moved.estimate - np.median(moved.estimate))
    error = _errors(res, moved, against(np.ones(size, dtype=np.bool_)))
    inside = from_median <= _FAR * error  # False for NaN
    for _ in range(_MOST_TURNS):
        if 2 * inside.sum() < size:
            inside = np.zeros(size, dtype=np.bool_)
            inside[np.argsort(from_median / error, kind="stable")[: (size + 1) // 2]] = True
            break
        weights = against(inside)
        agreeing = np.abs(weights @ moved.estimate) <= _FAR * _errors(res, moved, weights)
        if np.array_equal(agreeing, inside):
            break
        inside = agreeing
    stayed = int(inside.sum())
    if stayed < _MAJORITY * size:
        return _Anchors(inside, f"{size - stayed} objects changed relative to the other {stayed}")
    p_value = _differ(res, moved, inside)
    if p_value < _APART:
        return _Anchors(inside, "the objects that changed least also changed relative to each other")
    return _Anchors(inside)


def _differ(res: Estimates, moved: LogWorths, some: npt.NDArray[np.bool_]) -> float:
    """Return the p-value of the hypothesis that some objects did not change relative to each other.

    It is 1 for a single object.
    """
    rows = moved.rows[some]
    return 1.0 if len(rows) < 2 else float(wald_test(res, rows[1:] - rows[0]).p_value)


def _judgments(c: Comparisons, objects: Sequence[Label]) -> FloatArray:
    """Return the number of judgments of each object, shape (k,)."""
    total = np.bincount(c.pairs.ravel(), np.repeat(c.counts.sum(axis=1), 2), minlength=len(c.objects))
    return np.array([total[c.objects.index(label)] for label in objects])
