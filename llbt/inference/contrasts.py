"""Contrasts of log-worths that the user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.sparse import csr_array

from ..base.arguments import JUDGED_INSIDE, Confidence, Positive, checked, is_real
from ..base.table import Field, Table, format_number, interval_fields
from ..core.columns import FloatArray
from ..core.links import Cumulative
from ..core.response import Response
from ..core.statistics import critical_values, ratio, two_sided_p
from ..errors import OptionError, kind_of, listed, safe_repr
from ..fitting.asked_groups import By, GroupHypothesis, Weights, stack_groups
from ..fitting.estimates import Estimates
from ..fitting.fit_part import FitPart
from ..fitting.fitted import AnyFit, ClassSource, ClassWorthSource, OneSource, WithWorths, WorthSource, average_of
from ..fitting.hypotheses import Linear, estimated
from ..fitting.prediction import undetermined
from ..fitting.protocols import FitLike, WithManyWorths, has_many_worths
from ..fitting.specification import Specification
from ..fitting.summary import coefficient_fields
from ..formulas.grid import At
from .contexts import Contexts, mean_note
from .groups import groups_of
from .large import check_plain
from .log_worths import KNOWN, LogWorths, log_worths_at
from .margins import check_tested, each_against
from .new_judge import check_difference
from .scales import CONTRASTS, Scale, on_scale

_Weights = Mapping[str, Mapping[Any, float] | str]


@checked
def contrasts(
    res: AnyFit | FitPart | OneSource | ClassSource,
    named: Annotated[Mapping[str, Mapping[Any, float] | str] | None, JUDGED_INSIDE] = None,
    *,
    at: At = None,
    by: By | None = None,
    weights: Weights = None,
    hypothesis: GroupHypothesis | None = None,
    scale: Scale = "log_odds",
    margin: Positive | None = None,
    confidence: Confidence = 0.95,
) -> Table:
    """Return estimate, test and interval of named contrasts of the objects' log-worths.

    Parameters
    ----------
    res : a fit, a calibration or latent classes
        For a fit with effects of judges, answers are for the average judge; for latent classes, for each class. For
        very many objects (`LargeResults`) each contrast has an exact standard error.
    named : mapping of str to mapping or str
        Name of the contrast → weight of each object, with sum 0 (objects that are not named have weight 0), or a
        hypothesis about the parameters as in ``res.t_test``, such as ``"object[A] = object[B]"``.
    at : mapping or "average", optional
        Covariate values at which log-worths are taken, if they differ by covariates: ``{"judge": "J3"}``, or a mean
        with weights that sum to 1, ``{"language": {"de": 0.3, "en": 0.7}}``, on the requested scale (see `worth`).
        Hypotheses in words name parameters, and `at` does not affect them.
    by : str or sequence of str, optional
        Covariates that split the answer into blocks of rows, one for each level or for each value that `at` lists. A
        block equals the answer with `at` that level; its p-values and simultaneous intervals hold within the block.
    weights : data frame, optional
        A target mix: covariate values and a column ``weight`` that sums to 1, such as the languages and topics of all
        customers. It works like a mix in `at`, but for several covariates jointly; the weights are taken as known.
    hypothesis : "pairwise", optional
        With `by`: differences between the groups, the first minus the second. Not for probabilities; `predict` has
        their differences.
    scale : {"log_odds", "log_worth", "odds_ratio", "elo", "probability"}
        The scale of estimates and intervals. With ``"log_worth"``, the scale of the parameters, estimates and intervals
        equal those of ``res.t_test``.
    margin : float, optional
        The largest difference from equality that does not matter, on the scale: 20 Elo, an odds ratio of 1.25, a
        probability of .05 from one half. It is then tested whether contrasts are no worse, no better or equivalent.
    confidence : float
        The level of each single interval.

    Returns
    -------
    Table
        term, estimate, std_error, statistic, p_value, conf_low, conf_high; one row per contrast. Statistic and p-value
        test that the contrast is 0 (odds 1). In a fit with effects of objects, ``(1 | object)``, weights give a
        prediction. The table then has probability_greater, P(Σwλ > 0), in place of statistic and p-value, and
        hypotheses in words can only name covariates. For odds and probabilities the standard error is by the delta
        method, and the interval is transformed. Values are NaN if the table does not determine the contrast.

    Raises
    ------
    OptionError
        For unknown objects, for weights that do not sum to 0, and for a scale other than ``"log_worth"`` with
        hypotheses about ties or with graded judgments.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> table = llbt.contrasts(res, {"A vs rest": {"A": 1, "B": -1 / 3, "C": -1 / 3, "D": -1 / 3}})
    >>> table.to_frame()[["term", "estimate"]].round(3).values.tolist()
    [['A vs rest', 2.566]]
    """
    if not isinstance(named, Mapping) or not named:
        given = "none" if named is None or isinstance(named, Mapping) else kind_of(named)
        raise OptionError(
            f"the named contrasts are {given}",
            expected="a mapping of names to weights or hypotheses: contrasts(res, {'A vs B': {'A': 1, 'B': -1}})",
        )

    def again(of: AnyFit | FitPart | OneSource | ClassSource, place: At) -> Table:
        return contrasts(of, named, at=place, scale=scale, margin=margin, confidence=confidence)

    if by is not None or weights is not None or hypothesis is not None:
        groups = groups_of(res, at, by, weights, hypothesis)
        return stack_groups(groups, lambda place: again(res, place))
    if isinstance(res, ClassWorthSource):
        return res.class_worths().stacked(lambda one: again(one, at))
    if has_many_worths(res):
        return _of_many(res, named, at, scale, margin, confidence)
    return _answered(res, named, at, scale, margin, confidence)


def _answered(
    of: WithWorths | FitPart | WorthSource,
    weights: _Weights,
    at: At,
    scale: Scale,
    margin: float | None,
    confidence: float,
) -> Table:
    """Return the contrasts of a fit whose estimates have a covariance."""
    res = average_of(of)
    check_scale(res.response, res.specification, scale)
    check_difference(res, at, False, scale)
    rows, contexts, notes = _linear(res, weights, at, scale)
    matrix = np.concatenate([row.matrix for row in rows])
    predicted = res.object_effects is not None
    words = np.array([isinstance(weights[name], str) or not predicted for name, row in zip(weights, rows, strict=True)
                      for _ in row.labels])  # fmt: skip
    own = np.where(words, res.df_of(matrix), res.worth_df_of(matrix))
    estimate, error = _estimates(rows)
    odds = estimate, error
    if contexts is not None and scale == "probability":
        odds = _mean_odds(res, weights, rows, contexts)
    table = _table(rows, own, res.df_inference, words, scale, confidence, odds)
    if margin is not None:
        check_tested(res, "contrasts")
        table = each_against(margin, scale, *odds, own, confidence).beside(table)
    return replace(table, notes=(*notes, *table.notes, *res.covariance.missing_notes(estimate, error)))


def _of_many(
    res: WithManyWorths, weights: _Weights, at: At, scale: Scale, margin: float | None, confidence: float
) -> Table:
    """Return the contrasts of very many objects, with exact covariances."""
    check_plain(at, population=False)
    check_scale(res.comparisons.response, res.specification, scale)
    of, rows = res.estimated, []
    for name, value in weights.items():
        if isinstance(value, str):
            rows.append(_in_words(res, name, value, scale))
            continue
        matrix = np.zeros((1, len(of.names)))
        matrix[0, : len(res.worths)] = weights_of(res, name, value)
        rows.append(Linear([name], matrix, matrix @ of.values, of.combined(matrix)))
    normal = np.full(sum(len(row.labels) for row in rows), np.inf)
    table = _table(rows, normal, np.inf, normal > 0, scale, confidence)
    if margin is not None:
        table = each_against(margin, scale, *_estimates(rows), normal, confidence).beside(table)
    return replace(table, notes=(*table.notes, "standard errors are exact"))


def check_scale(response: Response | Cumulative, spec: Specification, scale: Scale) -> None:
    """Raise for a scale that is not a function of contrasts of log-worths."""
    if response.plain_odds or scale == "log_worth":
        return
    what = "the judgments are graded" if spec.link == "adjacent" else f"the link is {spec.link!r}"
    raise OptionError(
        f"{what}, and scale={scale!r} is not a sum of log-worths",
        f"Use scale='log_worth', or compare two objects: pairwise(res, scale={scale!r}).",
    )


def _estimates(rows: Sequence[Linear]) -> tuple[FloatArray, FloatArray]:
    """Return the estimates of all contrasts and their standard errors."""
    variance = np.concatenate([np.diag(row.cov) for row in rows])
    return np.concatenate([row.estimate for row in rows]), np.sqrt(np.maximum(variance, 0))


def _table(
    rows: Sequence[Linear],
    own: FloatArray,
    df: float,
    words: npt.NDArray[np.bool_],
    scale: Scale,
    confidence: float,
    odds: tuple[FloatArray, FloatArray] | None = None,
) -> Table:
    """Return contrasts on a scale; `own` holds each contrast's degrees of freedom.

    Tests use the contrasts in `rows`. Estimates use them too, unless `odds` gives half the log-odds of mean
    probabilities, with standard errors.
    """
    estimate, error = _estimates(rows)
    z = ratio(estimate, error)
    shown, shown_error, low, high = on_scale(scale, *(odds or (estimate, error)), critical_values(confidence, own))
    labels = [label for row in rows for label in row.labels]
    return Table(
        (
            *_tested(labels, shown, shown_error, z, two_sided_p(z, own), df, words),
            *interval_fields(low, high, confidence),
        ),
        title=f"Contrasts: {CONTRASTS[scale]}",
    )


def _tested(
    labels: list[str],
    shown: FloatArray,
    error: FloatArray,
    z: FloatArray,
    p_value: FloatArray,
    df: float,
    words: npt.NDArray[np.bool_],
) -> tuple[Field, ...]:
    """Return the columns of contrasts; predictions have P(Σwλ > 0) instead of a test."""
    p_value, tested = np.where(words, p_value, np.nan), np.where(words, z, np.nan)
    fields = coefficient_fields(labels, shown, error, tested, p_value, df)
    if words.all():
        return fields
    greater = Field("probability_greater", "P(Σwλ > 0)", np.where(words, np.nan, special.ndtr(z)), "number", 3)
    return (*(fields if words.any() else fields[:3]), greater)


def _linear(
    res: Estimates, weights: Mapping[str, Mapping[Any, float] | str], at: At, scale: Scale
) -> tuple[list[Linear], Contexts | None, tuple[str, ...]]:
    """Return the contrasts in the order of the weights, the contexts that they average, and notes."""
    rows = {name: _in_words(res, name, value, scale) for name, value in weights.items() if isinstance(value, str)}
    notes: tuple[str, ...] = ()
    contexts: Contexts | None = None
    if at is not None or len(rows) < len(weights):
        if at is not None and rows:
            notes = ("hypotheses in words are about the parameters, so at= does not change them",)
        log_worths, where = log_worths_at(res, at)
        contexts = log_worths.contexts
        notes = (*where, *mean_note(contexts, scale), *notes)
        rows |= {name: _one(res, name, value, log_worths) for name, value in weights.items() if name not in rows}
    return [rows[name] for name in weights], contexts, notes


def _mean_odds(
    res: Estimates, weights: _Weights, rows: Sequence[Linear], contexts: Contexts
) -> tuple[FloatArray, FloatArray]:
    """Return half the log-odds of each contrast's mean probability over contexts, with standard errors."""
    parts: list[tuple[FloatArray, FloatArray]] = []
    for (name, value), row in zip(weights.items(), rows, strict=True):
        estimate, error = _estimates([row])
        if not isinstance(value, str):
            named = weights_of(res, name, value)[None, :]
            mean, spread = contexts.log_odds(named)
            estimate, error = mean, np.where(np.isnan(error), np.nan, spread)
        parts.append((estimate, error))
    return np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts])


def _one(res: Estimates, name: str, weights: Any, log_worths: LogWorths) -> Linear:
    """Return the contrast of log-worths for a mapping of weights."""
    row = weights_of(res, name, weights)
    matrix = (row @ log_worths.rows)[None, :]
    estimate = matrix @ np.asarray(res.params.fillna(0.0), dtype=float)
    if res.object_effects is not None and log_worths.of_objects is not None:
        estimate += row @ log_worths.of_objects @ res.object_effects.effect
    cov = (row @ log_worths.cov @ row).reshape(1, 1)
    cov[cov <= KNOWN * np.diag(log_worths.cov).max() * (row @ row)] = 0.0
    unknown = undetermined(res, csr_array(matrix))
    estimate[unknown] = np.nan
    cov[unknown | res.covariance.unknown(matrix[:, res.free]).any()] = np.nan
    return Linear([name], matrix, estimate, cov)


def weights_of(res: FitLike, name: str, weights: Any) -> FloatArray:
    """Return the weights of the J objects, shape (J,)."""
    objects = res.comparisons.objects
    if not isinstance(weights, Mapping):
        raise OptionError(
            f"{name!r} is {kind_of(weights)}",
            expected=f"weights, such as {{{objects[0]!r}: 1, {objects[1]!r}: -1}}, or a hypothesis in words",
        )
    unknown = [label for label in weights if label not in objects]
    if unknown:
        raise OptionError(f"{name!r} names {listed(unknown)}", expected=f"objects of the table: {listed(objects, 20)}")
    bad = {k: w for k, w in weights.items() if not is_real(w) or not np.isfinite(float(w))}
    if bad:
        raise OptionError(f"{name!r} has the weights {safe_repr(bad)}", expected="finite numbers")
    row = np.zeros(len(objects))
    for label, weight in weights.items():
        row[objects.index(label)] = weight
    largest = np.abs(row).max()
    if not largest:
        raise OptionError(f"all weights of {name!r} are 0, so it compares nothing.")
    if abs(row.sum()) > 1e-8 * largest:
        raise OptionError(
            f"the weights of {name!r} sum to {format_number(float(row.sum()))}",
            expected="a sum of 0, because log-worths have no natural zero: {'A': 1, 'B': -0.5, 'C': -0.5}",
        )
    return row


def _in_words(res: Estimates | WithManyWorths, name: str, text: str, scale: Scale) -> Linear:
    """Return the named hypotheses in a text."""
    hypotheses = estimated(res, text)
    blocks = zip(res.design.names, res.design.blocks, strict=True)
    ties = [name for name, block in blocks if block in ("tie", "bad", "grade")]
    used = [n for n in ties if hypotheses.matrix[:, res.names.index(n)].any()]
    if used and scale != "log_worth":
        raise OptionError(
            f"{name!r} is about {listed(used)}, which has no {scale}",
            f"Use scale='log_worth', or res.t_test({text!r}).",
        )
    labels = [name] if len(hypotheses.labels) == 1 else [f"{name}: {label}" for label in hypotheses.labels]
    return Linear(labels, hypotheses.matrix, hypotheses.estimate, hypotheses.cov)
