"""Columns of a table of models: the parameters and figures of each kind of fit, or of each latent class."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..core.basis import Basis
from ..core.comparisons import Comparisons
from ..fitting.discrimination_results import DiscriminationResults
from ..fitting.estimates import Estimates
from ..fitting.large_results import LargeResults
from ..fitting.mixed_results import MixedResults
from ..fitting.pattern_estimates import PatternEstimates
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.results import LLBTResults, bic_reservation
from ..fitting.summary import aliased_notes, held_notes
from ..fitting.worth_estimates import WorthEstimates
from ..judges.calibrate import Calibration
from ..judges.class_fit import LatentClasses
from .pattern_words import held_of

Frame = Callable[[Sequence[str], float], pd.DataFrame]  # of parameters and a confidence

WHOLE = "whole answers"  # in place of a link
_COLUMNS = ("estimate", "std_error", "statistic", "p_value")
_MOST_EXACT = 1000  # parameters of very many objects whose errors are solved for


@dataclass(frozen=True, eq=False)
class ModelColumn:
    """The column of a fit, or of one class, in a table of models.

    Attributes
    ----------
    label : str
        The second heading of the fit: the class.
    formula, link : str
    blocks, terms : mapping of str to str
        The block of each parameter (worth, tie, …), and its term of the formula.
    beside : tuple of str
        Rows below all parameters: σ of effects, discriminations.
    values : callable
        A function of row names and a confidence. It returns a frame with estimate, std_error, statistic, p_value,
        conf_low, conf_high, indexed by name.
    figures : mapping of str to float
        The figures of fit that this fit has.
    basis : Basis or None
        The data of the log-likelihood; None if the fit has no likelihood.
    comparisons : Comparisons
    reference : str
        The object whose log-worth is 0; empty without worths.
    notes : tuple of str
        Notes on this column alone.
    remarks : tuple of str
        Notes on all fits of this kind.
    reservations : tuple of str
        Notes on what AIC and BIC assume about the judgments.
    hidden : tuple of str
        Parameters that are shown only if `keep` names them, or another fit shows them.
    """

    label: str
    formula: str
    link: str
    blocks: Mapping[str, str]
    terms: Mapping[str, str]
    beside: tuple[str, ...]
    values: Frame
    figures: Mapping[str, float]
    basis: Basis | None
    comparisons: Comparisons
    reference: str
    notes: tuple[str, ...]
    remarks: tuple[str, ...]
    reservations: tuple[str, ...]
    hidden: tuple[str, ...] = ()


@functools.singledispatch
def model_columns(res: Any) -> tuple[ModelColumn, ...]:
    """Return the columns of a fit; one, or one for each class."""
    raise AssertionError(f"no columns of {type(res).__name__}")


@model_columns.register(LLBTResults)
def _of_plain(res: PlainEstimates) -> tuple[ModelColumn, ...]:
    figures = _deviance(res) | _likelihood(res) | _counts(res.comparisons)
    return (_column(res, res.names, _frame_of(res), figures, res.basis),)


@model_columns.register(MixedResults)
def _of_effects(res: MixedResults) -> tuple[ModelColumn, ...]:
    brackets = tuple(map(str, res.brackets))

    def values(names: Sequence[str], confidence: float) -> pd.DataFrame:
        sigma, error = res.scales.set_axis(brackets), res.scale_errors.set_axis(brackets)
        reach = np.exp(stats.norm.isf((1 - confidence) / 2) * error / sigma.where(sigma > 0))
        scales = {"estimate": sigma, "std_error": error, "conf_low": sigma / reach, "conf_high": sigma * reach}
        return _below(_frame_of(res)(names, confidence), pd.DataFrame(scales))

    remark = "rows such as (object | judge) are the standard deviations σ of normal effects of judges"
    figures = _likelihood(res) | _counts(res.comparisons)
    return (
        _column(res.average, res.names, values, figures, res.basis, brackets, (remark,), res.specification.formula),
    )


@model_columns.register(DiscriminationResults)
def _of_discriminations(res: DiscriminationResults) -> tuple[ModelColumn, ...]:
    sigmas = tuple(f"σ[{level}]" for level in res.judging.levels)

    def values(names: Sequence[str], confidence: float) -> pd.DataFrame:
        factors = res.by_judge(confidence=confidence).to_frame().set_axis(list(sigmas))
        return _below(_frame_of(res)(names, confidence), factors)

    remark = "σ[…] are discriminations: factors on the log-worths of a judge, their mean square 1"
    figures = _deviance(res) | _likelihood(res) | _counts(res.comparisons)
    return (_column(res.average, res.names, values, figures, res.basis, sigmas, (remark,)),)


@model_columns.register(WorthEstimates)
def _of_whole_answers(res: Any) -> tuple[ModelColumn, ...]:
    """Return the column of a fit to rankings or patterns."""
    figures = _likelihood(res) | {"n_judgments": res.n_judgments}
    column = _column(res.average, res.names, _frame_of(res), figures, res.basis, formula=res.specification.formula)
    own = {name: "tie" for name in res.names_beside} | dict(column.blocks)
    return (replace(column, link=WHOLE, blocks=own),)


@model_columns.register(PatternEstimates)
def _of_patterns(res: PatternEstimates) -> tuple[ModelColumn, ...]:
    """Return the column of a fit to patterns; with dependence, its odds are conditional on the other answers."""
    (column,) = _of_whole_answers(res)
    held = held_of(res).removesuffix(",")
    return (replace(column, remarks=(f"odds of patterns are those of two objects{held}",)) if held else column,)


@model_columns.register(LargeResults)
def _of_very_many(res: LargeResults) -> tuple[ModelColumn, ...]:
    worths = tuple(res.names[: len(res.worths)])

    def values(names: Sequence[str], confidence: float) -> pd.DataFrame:
        asked = [name for name in names if name in set(res.names)]
        if len(asked) > _MOST_EXACT:
            return _frame_of(res)(asked, confidence)
        frame = res.t_test(asked, confidence=confidence).to_frame() if asked else pd.DataFrame(columns=["term"])
        return frame.set_index("term")

    known = res.specification.prior is None
    likelihood = _likelihood(res) if known else {"llf": res.llf}
    figures = _deviance(res) | likelihood | _counts(res.comparisons)
    column = _column(res.beside, res.beside.names, values, figures, res.basis, formula=res.specification.formula)
    blocks, terms = (dict.fromkeys(worths, word) for word in ("worth", "object"))
    hint = (
        "log-worths of very many objects are listed if keep= names them, relative to the mean of all; llbt.worth(res)"
    )
    return (
        replace(
            column,
            blocks=blocks | dict(column.blocks),
            terms=terms | dict(column.terms),
            hidden=worths,
            reference="none (the mean of all)",
            remarks=(hint,),
        ),
    )


@model_columns.register(LatentClasses)
def _of_classes(classes: LatentClasses) -> tuple[ModelColumn, ...]:
    pooled = classes.pooled
    figures = _likelihood(classes) | _counts(pooled.comparisons)
    remark = "log-likelihood, AIC and BIC belong to all classes of a fit together; they are repeated below each class"
    infinite = "its estimates are not finite, and have no standard errors"
    return tuple(
        replace(
            _column(pooled, pooled.names, _frame_of_class(classes, label), figures, classes.basis),
            label=f"class {label}",
            figures=figures | {"share": float(classes.shares[label])},
            notes=(infinite,) if label in classes.infinite else (),
            remarks=(remark,),
        )
        for label in classes.labels
    )


def _frame_of_class(classes: LatentClasses, label: int) -> Frame:
    def values(names: Sequence[str], confidence: float) -> pd.DataFrame:
        estimate, error = classes.params.loc[label], classes.bse.loc[label]
        statistic, reach = estimate / error, stats.norm.isf((1 - confidence) / 2) * error
        columns = (estimate, error, statistic, 2 * stats.norm.sf(np.abs(statistic)))
        frame = pd.DataFrame(dict(zip(_COLUMNS, columns, strict=True)), index=list(classes.params.columns))
        return frame.assign(conf_low=estimate - reach, conf_high=estimate + reach)

    return values


@model_columns.register(Calibration)
def _of_calibrated(calibration: Calibration) -> tuple[ModelColumn, ...]:
    source = calibration.worth_source()
    figures = {
        "n_labels": calibration.n_labels,
        "n_units": calibration.n_units,
        "effective_labels": calibration.effective_labels,
    }
    remark = "calibrated worths have no likelihood; effective labels: the number of labels with the same precision"
    return (_column(source, source.names, _frame_of(source), figures, None, remarks=(remark,)),)


# -- what columns have in common -------------------------------------------------------------------------------


def _column(
    worths: Estimates,
    names: Sequence[str],
    values: Frame,
    figures: Mapping[str, float],
    basis: Basis | None,
    beside: tuple[str, ...] = (),
    remarks: tuple[str, ...] = (),
    formula: str = "",
) -> ModelColumn:
    """Return the column of a fit whose worths, ties and order effects a design describes."""
    design = worths.design
    blocks = dict(zip(design.names, design.blocks, strict=True))
    blocks = {name: blocks.get(name, "tie") for name in names}
    notes = [*worths.covariance.notes]
    notes += [*held_notes(worths.fixed), *aliased_notes(worths.aliased)]
    return ModelColumn(
        label="",
        formula=formula or worths.specification.formula,
        link=worths.specification.link,
        blocks=blocks,
        terms=dict(zip(design.names, design.terms, strict=True)),
        beside=beside,
        values=values,
        figures=figures,
        basis=basis,
        comparisons=worths.comparisons,
        reference=str(design.reference) if "worth" in design.blocks else "",
        notes=tuple(notes),
        remarks=remarks,
        reservations=bic_reservation([worths]) if basis is not None else (),
    )


def _frame_of(res: Any) -> Frame:
    """Return a function that returns the estimates of a fit, from its attributes with statsmodels' names."""

    def values(names: Sequence[str], confidence: float) -> pd.DataFrame:
        columns = dict(zip(_COLUMNS, (res.params, res.bse, res.tvalues, res.pvalues), strict=True))
        return pd.DataFrame(columns).join(res.conf_int(1 - confidence))

    return values


def _below(frame: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of both frames, with NaN in columns that `more` lacks."""
    return pd.concat([frame, more.reindex(columns=frame.columns)])


def _deviance(res: Any) -> dict[str, float]:
    return {"deviance": res.deviance, "df_resid": res.df_resid}


def _likelihood(res: Any) -> dict[str, float]:
    return {"aic": res.aic, "bic": res.bic, "llf": res.llf}


def _counts(c: Comparisons) -> dict[str, float]:
    ties = {"n_ties": c.n_ties} if c.has_ties else {}
    return {"n_judgments": c.n_judgments, "n_comparisons": len(c)} | ties
