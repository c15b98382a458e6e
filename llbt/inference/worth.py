"""The worths of the objects, on any scale and for any covariate values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ..base.arguments import Confidence, checked
from ..base.table import Field, Table, interval_fields
from ..errors import OptionError
from ..fitting.asked_groups import By, GroupHypothesis, Weights, stack_groups
from ..fitting.estimates import Estimates
from ..fitting.fit_part import FitPart
from ..fitting.fitted import AnyFit, ClassSource, ClassWorthSource, OneSource
from ..fitting.population_predictions import Population
from ..fitting.protocols import has_many_worths
from ..formulas.grid import At
from .contexts import check_mean, mean_note
from .groups import groups_of
from .large import check_plain, large_worths
from .log_worths import NAMED, LogWorths, class_name, worth_classes
from .new_judge import asked_of, population_notes
from .scales import SCALES, Scale, critical_for, elo_notes, scale_text, typeset, worths_on_scale

Part = Literal["all", "covariates"]


@checked
def worth(
    res: AnyFit | FitPart | OneSource | ClassSource,
    at: At = None,
    scale: Scale = "probability",
    *,
    by: By | None = None,
    weights: Weights = None,
    hypothesis: GroupHypothesis | None = None,
    population: bool = False,
    part: Part = "all",
    confidence: Confidence = 0.95,
) -> Table:
    """Return the worth of every object with its standard error and interval.

    Parameters
    ----------
    res : a fit of any kind, Calibration or LatentClasses
        For latent classes there is a row per class and object, with the columns class and share in front.
        For a fit with effects of judges, answers are for the average judge, unless `population` is True.
    at : mapping or "average", optional
        Covariate values, such as ``{"judge": "J3", "age": [20, 40]}``; by default every class of the labels that the
        worth uses, and numbers at their mean. A mapping of values to weights that sum to 1,
        ``{"language": {"de": 0.3, "en": 0.7}}``, averages over these values on the requested scale: the mean of
        log-worths, log-odds, Elo or worths, and the geometric mean of odds. Several covariates are mixed independently.
        ``"average"`` averages in this way over the judgments of the table; with `by`, over the judgments of each group.
    scale : {"probability", "log_worth", "log_odds", "odds_ratio", "elo"}
        Worths π that sum to 1 in each class; or log-worth, log-odds, odds and Elo against the reference object.
    by : str or sequence of str, optional
        Covariates that split the answer into blocks of rows, one for each level or for each value that `at` lists. A
        block equals the answer with `at` that level; its p-values and simultaneous intervals hold within the block.
    weights : data frame, optional
        A target mix: covariate values and a column ``weight`` that sums to 1, such as the languages and topics of all
        customers. It works like a mix in `at`, but for several covariates jointly; the weights are taken as known.
    hypothesis : "pairwise", optional
        With `by`: differences between the groups, the first minus the second. Not for probabilities; `predict` has
        their differences.
    population : bool
        For a fit with effects of judges. True: probabilities for a judge drawn from the population, averaged over the
        distribution of the effects, and therefore nearer to a half. False: the average judge, whose effects are 0. A
        population has no worths π, so the scales are based on P(i preferred | decided) against the reference object,
        and ``"log_worth"`` raises an error.
    part : {"all", "covariates"}
        For a fit with effects of objects, ``price + (1 | object)``. ``"all"``: worths predicted from covariates and
        effects. ``"covariates"``: worths from the regression on covariates only.
    confidence : float

    Returns
    -------
    Table
        Covariates, object, estimate, std_error, conf_low, conf_high; one row per class and object, the best first.
        Standard errors are by the delta method. Intervals are Wald's, on the logit scale for probabilities and on the
        log scale for odds, so that they stay in range. Objects that a class does not compare with the others have NaN,
        and a note names them. The worths of the other objects sum to 1; if the reference is not among them, the last of
        these objects is the reference.

    Raises
    ------
    DesignError
        For a formula without worths.
    OptionError
        For an unknown scale; for names in `at` that the worth does not use; for a population if the fit has no effects
        of judges or on the scale of log-worths; and for a part if the fit has no effects of objects.

    Notes
    -----
    With effects of objects, λᵢ = xᵢβ̂ + ûᵢ, where û are the most probable effects. Standard errors are those of
    prediction and include the estimation of β and σ (`ObjectEffects`). In simulations (12 objects with 400 and 60
    judgments, 30 with 150, σ .6), 95 % intervals of pairs cover the truth in 93 to 94 %, on average over objects.
    Intervals of objects far from the prediction by their covariates cover the truth less often.

    For graded judgments and other links, probabilities are not proportional to worths. On every scale except
    ``"log_worth"`` the estimate comes from P(i preferred | decided), for any grade, against the reference object, with
    a delta-method error. Covariates of grades (for a link, of ties) that the worth does not use are averaged over the
    judgments.

    For a new judge P(i preferred | decided) = p̄_i/(p̄_i + p̄_j), with the outcome probabilities p̄ of
    ``res.predict(population=True)`` without order effects. Log-odds, odds and Elo are functions of this probability.
    The delta method gives their standard errors from the errors of the worths, γ and log σ.

    For a fit of more than 10,000 objects, log-worths, odds and Elo are measured from the mean of all objects, and a
    note states the accuracy of the standard errors.

    Objects with equal covariates have equal worths, and each of them counts: the worths of all objects sum to 1. R's
    prefmod prints objects with equal covariates as one ("LO,SG,ST"), and the worths of the distinct objects sum to 1.
    To get prefmod's worths, divide by the sum of the worths over one object of each kind.

    References
    ----------
    Hatzinger, R. & Dittrich, R. (2012). prefmod: an R package for modeling preferences based on paired comparisons,
    rankings, or ratings. Journal of Statistical Software 48(10).

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> llbt.worth(res).to_frame()[["object", "estimate"]].round(3).values.tolist()
    [['A', 0.658], ['D', 0.295], ['B', 0.033], ['C', 0.013]]
    """
    if by is not None or weights is not None or hypothesis is not None:
        groups = groups_of(res, at, by, weights, hypothesis)
        return stack_groups(
            groups,
            lambda place: worth(res, place, scale, population=population, part=part, confidence=confidence),
        )
    if isinstance(res, ClassWorthSource):
        return res.class_worths().stacked(
            lambda one: worth(one, at, scale, population=population, part=part, confidence=confidence)
        )
    if has_many_worths(res):
        check_plain(at, population)
        if part == "covariates":
            raise _no_part()
        return large_worths(res, scale, confidence)
    plain, at, drawn = asked_of(res, at, population, scale)
    if part == "covariates":
        if plain.object_effects is None:
            raise _no_part()
        plain = replace(plain, object_effects=None)
    return worth_table(plain, at, scale, confidence, drawn)


def _no_part() -> OptionError:
    return OptionError(
        "part='covariates', but this fit has no effects of objects beside them",
        "Type llbt.worth(res). Or let objects differ by normal effects, such as llbt.fit('price + (1 | object)', c).",
    )


def worth_table(res: Estimates, at: At, scale: Scale, confidence: float, population: Population | None = None) -> Table:
    """Return the worths of the objects as a table; see `worth`."""
    classes, shown, notes = worth_classes(res, at, population)
    graded = classes[0].beside is not None
    for log_worths in classes:
        check_mean(log_worths.contexts, graded, scale)
    blocks = [
        worths_on_scale(log_worths, scale, critical_for(res, log_worths, scale, confidence)) for log_worths in classes
    ]
    order = [np.argsort(-np.where(np.isnan(b[0]), -np.inf, b[0]), kind="stable") for b in blocks]
    labels = res.comparisons.objects
    fields = [Field(name, name, [v for v in column for _ in labels]) for name, column in shown.items()]
    estimate, error, low, high = (
        np.concatenate([b[k][o] for b, o in zip(blocks, order, strict=True)]) for k in range(4)
    )
    return Table(
        (
            *fields,
            Field("object", "object", [labels[k] for o in order for k in o]),
            Field("estimate", "estimate", estimate, "estimate", typeset=typeset(scale, graded)),
            Field("std_error", "std_error", error, "estimate"),
            *interval_fields(low, high, confidence),
        ),
        title=f"Worths: {scale_text(scale, SCALES, graded, ', against the reference')}",
        notes=(
            *notes,
            *dict.fromkeys(
                note for log_worths in classes for note in mean_note(log_worths.contexts, scale, "mean worth π")
            ),
            *population_notes(population),
            *elo_notes(res.comparisons, scale, graded),
            *res.covariance.missing_notes(estimate, error),
            f"{100 * confidence:.4g} % intervals; {_references(res, classes, shown)}",
        ),
    )


def _references(res: Estimates, classes: Sequence[LogWorths], shown: Mapping[str, Sequence[Any]]) -> str:
    """Return the reference object, and the references of classes that lack it."""
    own = res.design.reference
    others = [f"{log_worths.reference} at {class_name(shown, k)}" for k, log_worths in enumerate(classes)]
    others = [text for text, log_worths in zip(others, classes, strict=True) if log_worths.reference != own]
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    named = (
        f"; where the table does not compare it with most objects: {', '.join(others[:NAMED])}{more}" if others else ""
    )
    return f"reference {own}{named}"
