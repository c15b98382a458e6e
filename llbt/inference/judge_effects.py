"""The effects of single judges in a fit with brackets: how each judge differs from the average judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from ..base.arguments import Confidence, checked
from ..base.table import Field, Record, Table, in_order, interval_fields
from ..core.columns import FloatArray, IntArray
from ..core.statistics import critical_values
from ..errors import DesignError, OptionError, listed
from ..fitting.effect_levels import members
from ..fitting.fitted import EffectsFit
from ..fitting.protocols import WithEffects
from ..fitting.variance_components import effect_df
from ..kernel.mixed import restricted
from .worth import worth

_MOST_ROWS = 20


@dataclass(frozen=True, repr=False, eq=False)
class JudgeEffects(Record):
    """Predicted effects of G judges. J objects.

    Made by `judge_effects`.

    Attributes
    ----------
    res : MixedResults
    effects : ndarray, shape (G, J)
        Effects on the log-worths, minus their mean over the objects that a judge's judgments connect. They are 0 for
        objects that the judge did not judge, and without ``(object | …)``.
    effect_errors : ndarray, shape (G, J)
        The standard errors of these effects; NaN for objects that the judge did not judge.
    others : ndarray, shape (G, M)
        Effects on ties, order and so on; slopes by unit of the covariate.
    other_errors : ndarray, shape (G, M)
        The standard errors of these effects; NaN for judges of another level of `Bracket.by`.
    columns : tuple of (str, str), length M
        The bracket of each of these effects, and its grade, if it has one.
    by : str
        The grouping, whose levels are the judges.
    confidence : float
    """

    _made_by: ClassVar[str] = "llbt.judge_effects(res)"

    res: WithEffects
    effects: FloatArray
    effect_errors: FloatArray
    others: FloatArray
    other_errors: FloatArray
    columns: tuple[tuple[str, str], ...]
    by: str
    confidence: float

    def table(self) -> Table:
        """Return judge, term, object, estimate, std_error, conf_low, conf_high, one row per judge and effect."""
        levels, objects = self.res.judges.groupings[self.by], self.res.comparisons.objects
        judges, terms, labels, estimates, errors, degrees = [], [], [], [], [], []
        place = {str(bracket): e for e, bracket in enumerate(self.res.brackets)}
        log_variance = np.diag(self.res.solution.covariance)[len(self.res.solution.params) :]
        parts = []
        for bracket in self.res.brackets:
            if bracket.grouping == self.by and bracket.of_objects:
                mine = members(bracket, self.res.comparisons, levels)[:, None]
                errors_of_level = np.where(mine, self.effect_errors, np.nan)
                parts.append((str(bracket), list(map(str, objects)), self.effects, errors_of_level))
        for k, (term, label) in enumerate(self.columns):
            parts.append((term, [label], self.others[:, [k]], self.other_errors[:, [k]]))
        for term, things, effects_of_part, error in parts:
            known = ~np.isnan(error)
            judge, column = np.nonzero(known)
            judges += [levels[g] for g in judge]
            terms += [term] * len(judge)
            labels += [things[k] for k in column]
            estimates.append(effects_of_part[known])
            errors.append(error[known])
            sigma, spread = self.res.scales.iloc[place[term]], log_variance[place[term]]
            df = effect_df(error[known] ** 2, float(sigma), float(spread))
            degrees.append(df if self.by != "object" else np.full(len(df), np.inf))
        estimate, std_error = np.concatenate(estimates), np.concatenate(errors)
        slopes = ", slopes" if any(bracket.is_slope for bracket in self.res.brackets) else ""
        average = f", γ, δ{slopes}), as they differ from the average"
        beside = "), beside their covariates" if self.by == "object" else average
        half = critical_values(self.confidence, np.concatenate(degrees)) * std_error
        whole = Table(
            (
                Field(self.by, self.by, judges),
                Field("term", "term", terms),
                *((Field("object", "object", labels, frame_only=not any(labels)),) if self.by != "object" else ()),
                Field("estimate", "estimate", estimate, "estimate"),
                Field("std_error", "std_error", std_error, "estimate"),
                *interval_fields(estimate - half, estimate + half, self.confidence),
            ),
            title=f"Effects of {self.by} (log-worth λ{beside}",
            notes=(
                "Effects are the most probable values, shrunk towards 0 where judgments are few.",
                "Standard errors take the estimates as known; intervals use t, because σ is estimated.",
            ),
        )
        largest = in_order(whole, np.argsort(-np.abs(estimate), kind="stable"))
        return replace(whole.first(_MOST_ROWS), printed=largest.first(_MOST_ROWS, "smaller effect"))

    def worths(self) -> pd.DataFrame:
        """Return each judge's log-worths λᵢ + b_gi minus the reference object's, shape (G, J), labelled.

        Raises
        ------
        DesignError
            If worths depend on covariates, because a judge then has several sets of worths, and for effects of objects.
        """
        if self.by == "object":
            raise DesignError(
                "the effects of objects are the same for all judges, so no judge has separate worths",
                "Use the objects' worths, which include the effects: llbt.worth(res, scale='log_worth').",
            )
        if not self.res.design.plain:
            raise DesignError(
                f"the worths of {self.res.specification.formula!r} depend on covariates, so a judge has several sets",
                f"Ask for a judge's probabilities, res.predict(at={{{self.by!r}: …}}), or for their effects: "
                f"llbt.judge_effects(res, by={self.by!r}).to_frame().",
            )
        average = worth(self.res, scale="log_worth").to_frame().set_index("object")["estimate"]
        objects = list(self.res.comparisons.objects)
        worths = average[objects].to_numpy(dtype=float) + self.effects
        worths -= worths[:, [objects.index(self.res.design.reference)]]
        return pd.DataFrame(worths, index=list(self.res.judges.groupings[self.by]), columns=objects)


@checked
def judge_effects(res: EffectsFit, *, by: str | None = None, confidence: Confidence = 0.95) -> JudgeEffects:
    """Return how each judge differs from the average judge: predicted effects with standard errors.

    Parameters
    ----------
    res : MixedResults
        A fit with brackets, ``llbt.fit("object + (object | judge)", c)``.
    by : str, optional
        The grouping whose effects are returned, if there are several, such as ``"prompt"``. By default the first.
    confidence : float
        The level of the intervals.

    Returns
    -------
    JudgeEffects
        The table has a row for each judge and effect: ``(object | judge)`` has one effect for each object that the
        judge compared; ``(tie | judge)``, ``(order | judge)`` and slopes such as ``(length | judge)`` have one effect.
        ``worths()`` returns the judges' log-worths, shrunk towards the average judge's log-worths, more so with few
        judgments. With ``gr(judge, by=expert)`` a judge has the effects of their own level, which `term` names.

    Raises
    ------
    OptionError
        If no bracket has this grouping.

    Notes
    -----
    The effects w of a judge are the mode of exp(ℓ(w) − w²/2). Here ℓ is the log-likelihood of the judge's judgments at
    the estimates, and w is in standard deviations. The effects' covariance is the inverse of the information I + AᵀWA
    at the mode, times σ². Only differences of log-worths are identified, so a judge's effects are taken minus their
    mean over the objects that the judge's judgments connect. Intervals use t, because σ is estimated. Effects of judges
    with many judgments hardly depend on σ, and their degrees of freedom (Satterthwaite's) are large.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> wins = [5, 1, 4, 0, 6, 3, 5, 2]
    >>> frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "judge": range(8)})
    >>> c = llbt.from_counts(frame.assign(wins_j=6 - frame["wins_i"]), clusters="judge")
    >>> effects = llbt.judge_effects(llbt.fit("object + (object | judge)", c))
    >>> effects.worths()["A"].round(2).tolist()
    [0.65, -0.6, 0.31, -1.07, 1.14, 0.02, 0.65, -0.27]
    """
    grouping = res.judges.name if by is None else by
    if grouping not in res.judges.groupings:
        raise OptionError(f"by={by!r}", expected=f"a grouping of the fit: {listed(list(res.judges.groupings))}")
    approximated = res.solution.predicted or grouping != res.judges.name
    effects = _predicted(res, grouping) if approximated else _of_modes(res)
    return JudgeEffects(res, *effects, by=grouping, confidence=confidence)


_Found = tuple[FloatArray, FloatArray, FloatArray, FloatArray, tuple[tuple[str, str], ...]]


def _columns(res: WithEffects, grouping: str) -> tuple[tuple[str, str], ...]:
    """Return the bracket, and the grade if there is one, of each effect of a judge that is not on log-worths."""
    some = [bracket for bracket in res.brackets if bracket.grouping == grouping and not bracket.of_objects]
    return tuple((str(bracket), label) for bracket in some for label in bracket.things(res.comparisons.response))


def _none(res: WithEffects, grouping: str) -> FloatArray:
    """Return errors of effects that are not on log-worths, (G, M): 0, and NaN for judges without the effect."""
    levels = res.judges.groupings[grouping]
    by_bracket = {str(b): members(b, res.comparisons, levels) for b in res.brackets if b.grouping == grouping}
    has = [by_bracket[term] for term, _ in _columns(res, grouping)]
    return np.where(np.column_stack([np.ones((len(levels), 0), dtype=np.bool_), *has]), 0.0, np.nan)


def _predicted(res: WithEffects, grouping: str) -> _Found:
    """Return the effects from Laplace's approximation; 0 for brackets without a predicted effect."""
    size, objects = len(res.judges.groupings[grouping]), len(res.comparisons.objects)
    effects, effect_errors = np.zeros((size, objects)), np.full((size, objects), np.nan)
    columns = _columns(res, grouping)
    others, other_errors = np.zeros((size, len(columns))), _none(res, grouping)
    first = 0
    for bracket, one, unit in zip(res.brackets, res.solution.predicted, res.units.tolist(), strict=False):
        if bracket.grouping != grouping:
            continue
        mine = members(bracket, res.comparisons, res.judges.groupings[grouping])[one.level]
        level, thing, effect, error = one.level[mine], one.thing[mine], one.effect[mine], one.error[mine]
        if bracket.of_objects:
            effects[level, thing], effect_errors[level, thing] = effect, error
            continue
        at = level, first + thing
        others[at], other_errors[at] = effect / unit, error / unit
        first += len(bracket.things(res.comparisons.response))
    return effects, effect_errors, others, other_errors, columns


def _of_modes(res: WithEffects) -> _Found:
    """Return the effects at the modes on which quadrature and sampling are centred."""
    judges, solution = res.judges, res.solution
    size, objects = len(judges.levels), len(res.comparisons.objects)
    active = np.flatnonzero(solution.scales)
    effects, effect_errors = np.zeros((size, objects)), np.full((size, objects), np.nan)
    columns = _columns(res, judges.name)
    others, other_errors = np.zeros((size, len(columns))), _none(res, judges.name)
    names = [term for term, _ in columns]
    for b, bundle in enumerate(judges.grouped.bundles):
        mine = np.flatnonzero(judges.grouped.bundle == b)
        at = judges.grouped.place[mine]
        of_objects = [e for e in np.unique(bundle.scale).tolist() if res.brackets[e].of_objects]
        if of_objects:
            judged = np.abs(judges.grouped.objects[b][at]).sum(axis=2) > 0
            effect_errors[mine] = np.where(judged, 0.0, np.nan)
        if not len(active):
            continue
        scale = restricted(bundle, tuple(active.tolist())).scale
        sigma = solution.scales[active][scale]
        mode = solution.modes[b].at[at] * sigma
        cov = np.linalg.inv(solution.modes[b].information[at]) * np.outer(sigma, sigma)
        for k, e in enumerate(active):
            dims: IntArray = np.flatnonzero(scale == k)
            if not len(dims):
                continue
            if e in of_objects:
                spread = judges.grouped.objects[b][at]
                effects[mine] = np.einsum("gjd,gd->gj", spread, mode[:, dims])
                variance = np.einsum("gjd,gde,gje->gj", spread, cov[:, dims][:, :, dims], spread)
                effect_errors[mine] = np.where(judged, np.sqrt(np.maximum(variance, 0)), np.nan)
            else:
                at_columns = names.index(str(res.brackets[e])) + np.arange(len(dims))
                others[np.ix_(mine, at_columns)] = mode[:, dims] / res.units[e]
                errors = np.sqrt(np.diagonal(cov, axis1=1, axis2=2)[:, dims])
                other_errors[np.ix_(mine, at_columns)] = errors / res.units[e]
    return effects, effect_errors, others, other_errors, columns
