"""Figures of each judge: ties, positions, agreement with the others and with a fit, verdicts that flip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..base.arguments import Confidence, Number, checked
from ..base.table import Field, Kind, Record, Table, counted, format_percent, in_order
from ..classical.sign_rules import share_interval
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..core.statistics import ratio, sign_p
from ..data.judge_columns import read_judged, refuse_lists
from ..errors import OptionError, listed
from ..fitting.fitted import PlainFit
from .judge_counts import (
    JudgeLines,
    Repeats,
    count_repeats,
    lines_of_counts,
    lines_of_judgments,
    unknown_repeats,
)
from .model_agreement import ModelFigures, model_figures

_MOST_SHOWN = 20


@dataclass(frozen=True, eq=False)
class ByJudge:
    """Figures of K judges: arrays (K,) of counts, shares or probabilities; NaN where undefined.

    Attributes
    ----------
    judge : ndarray
        Labels, sorted.
    judgments : ndarray
    tie_rate : ndarray
        Share of ties.
    first_rate, conf_low, conf_high, p_value : ndarray
        Share of wins of the object shown first among decided judgments, Wilson's interval, exact sign test of ½.
    agreement, agreement_pairs : ndarray
        The share of agreeing pairs among pairs of judgments of the same unit, one by this judge and one by another; and
        the number of these pairs.
    swapped, flips : ndarray
        The number of pairs of this judge's judgments of the same unit in the two display orders, and how many of them
        choose the same position rather than the same object.
    model_agreement, model_expected : ndarray
        Mean probability of the judge's outcomes under the model, and its expectation.
    statistic : ndarray
        Standardized log-likelihood: nearly standard normal for a judge who follows the model, negative for a judge who
        does not.
    """

    judge: npt.NDArray[np.object_]
    judgments: FloatArray
    tie_rate: FloatArray
    first_rate: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    p_value: FloatArray
    agreement: FloatArray
    agreement_pairs: FloatArray
    swapped: FloatArray
    flips: FloatArray
    model_agreement: FloatArray
    model_expected: FloatArray
    statistic: FloatArray


@dataclass(frozen=True, repr=False, eq=False)
class JudgeSummary(Record):
    """Figures of each of K judges.

    Attributes
    ----------
    by_judge : ByJudge
        The columns of ``to_frame()``.
    overall : tuple of str
        The lines above the table, with the figures of all judges together.
    confidence : float
    notes : tuple of str
    """

    by_judge: ByJudge
    overall: tuple[str, ...]
    confidence: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return one row per judge."""
        size = len(self.by_judge.judge)
        whole = Table(
            tuple(
                Field(name, heading, getattr(self.by_judge, name), kind, 3)
                for name, (heading, kind) in _headings(self.confidence).items()
            ),
            title=f"Summary of {counted(size, 'judge')}",
            head=self.overall,
            notes=self.notes,
            answer="judges",
        )
        some = tuple(f for f in whole.fields if f.kind == "text" or not np.isnan(f.values).all())
        printed = in_order(replace(whole, fields=some), self._worst_first()).first(_MOST_SHOWN, "more judge")
        return replace(whole.first(_MOST_SHOWN, "more judge"), printed=printed)

    def _worst_first(self) -> npt.NDArray[np.int64]:
        """Return the judges in order: least agreement with the model first, or with the others if there is no model."""
        figures = self.by_judge
        for worst in (figures.statistic, figures.agreement, figures.p_value):
            if not np.isnan(worst).all():
                return np.argsort(worst, kind="stable")
        return np.arange(len(figures.judge))


def _headings(confidence: float) -> dict[str, tuple[str, Kind]]:
    """Return the heading and the kind of each column."""
    return {
        "judge": ("Judge", "text"),
        "judgments": ("Judgments", "count"),
        "tie_rate": ("Ties", "estimate"),
        "first_rate": ("First wins", "estimate"),
        "conf_low": (f"{100 * confidence:.4g} % low", "estimate"),
        "conf_high": ("high", "estimate"),
        "p_value": ("p", "p_value"),
        "agreement": ("Agrees", "estimate"),
        "agreement_pairs": ("of pairs", "count"),
        "swapped": ("Swapped", "count"),
        "flips": ("Flips", "count"),
        "model_agreement": ("P(said)", "estimate"),
        "model_expected": ("expected", "estimate"),
        "statistic": ("z", "statistic"),
    }


@checked
def summary(
    data: object,
    *,
    judge: str = "judge",
    unit: str | Sequence[str] | None = None,
    model: PlainFit | None = None,
    min_judgments: Number = 20,
    confidence: Confidence = 0.95,
) -> JudgeSummary:
    """Return one row per judge: ties, position bias, agreement with the others and with a model, flips.

    Parameters
    ----------
    data : frame, path, list of records or Comparisons
        Judgments in any form that `read_judgments` reads; or a table that keeps the judge as a covariate or a cluster.
        A table gives ties, positions (if it keeps the order) and agreement with the model, but has no units.
    judge : str
        Column of the judge.
    unit : str or sequence of str, optional
        Columns that, together with the two objects, identify what was judged; by default the prompt, if it is recorded.
        With an empty list, the two objects alone are the unit.
    model : LLBTResults, optional
        A fit, of these judgments or of others, that has their objects and covariates.
    min_judgments : int
        Judges with fewer judgments are named in a note; none is left out.
    confidence : float
        Level of Wilson's intervals.

    Returns
    -------
    JudgeSummary
        ``to_frame()``: judge, judgments, tie_rate, first_rate (wins of the object shown first among decided judgments)
        with conf_low, conf_high, p_value (exact sign test of ½), agreement (a share of agreement_pairs), flips (of the
        swapped pairs of judgments), model_agreement, model_expected, statistic. NaN if the data do not determine a
        figure; the notes say why.

    Raises
    ------
    JudgmentError
        For columns that are missing or have gaps, judgments with a weight other than 1, and objects that the model does
        not have.
    OptionError
        For a `model` that is not a fit, a `judge` that a table of counts does not keep, and a `unit` together with a
        table of counts.
    DesignError
        For a `model` of graded outcomes, and for a `model` with an order effect if these data have no order of
        presentation.

    Notes
    -----
    Agreement is over pairs of judgments of the same unit by this judge and by others, in the same order of the objects.
    It is not corrected for chance. A repeat counts as a judgment.

    With p the model's probabilities of the outcomes of a judgment, model_agreement is the mean of p(outcome), and
    model_expected the mean of Σ p². The statistic is based on l_z of Drasgow, Levine and Williams: the log-likelihood
    minus its expectation, W, divided by the root of its variance V, each summed over the judge's judgments. l_z takes
    the model as known. But a model fitted to the same judgments is drawn towards each judge (with two judges, W of one
    is −W of the other), so V becomes V − cᵀI⁻¹c. A model fitted to other judgments has independent errors, so V becomes
    V + cᵀI⁻¹c. Here c is the covariance of W and the judge's score, and I the information of the fit. The judgments
    count as part of the fit if the fit has at least as many judgments of each pair and outcome; a note states which
    case applies. The skewness of the log-likelihood is then removed by the cubic of Hall. Judgments are taken as
    independent.

    References
    ----------
    Drasgow, F., Levine, M. V. & Williams, E. A. (1985). Appropriateness measurement with polychotomous item response
    models and standardized indices. British Journal of Mathematical and Statistical Psychology 38(1), 67-86.

    Snijders, T. A. B. (2001). Asymptotic null distribution of person fit statistics with estimated person parameter.
    Psychometrika 66(3), 331-342.

    Hall, P. (1992). On the removal of skewness by transformation. Journal of the Royal Statistical Society B 54(1),
    221-228.

    Examples
    --------
    >>> import llbt
    >>> c = llbt.load_dataset("dras_table1")
    >>> summary = llbt.judges.summary(c, model=llbt.fit("object + tie", c.pool()))
    >>> summary.to_frame()[["judge", "judgments", "tie_rate", "model_agreement", "statistic"]].round(2).values.tolist()
    [['J1', 240.0, 0.02, 0.78, 2.84], ['J2', 240.0, 0.04, 0.77, 2.41], ['J3', 240.0, 0.08, 0.63, -5.97],
     ['J4', 240.0, 0.04, 0.76, 1.76]]
    """
    refuse_lists(data)
    if isinstance(data, Comparisons):
        if unit is not None:
            raise OptionError(
                f"unit={unit!r}, but a table of counts does not record units",
                "Pass the judgments, as llbt.read_judgments(…) returns them, or leave unit= out.",
            )
        lines = lines_of_counts(data, judge)
        repeated = unknown_repeats(len(lines.judge.levels))
    else:
        judgments, _, once = read_judged(data, judge=None if judge == "judge" else judge).once()
        lines = lines_of_judgments(judgments, judge)
        repeated = count_repeats(judgments, lines.judge, unit)
        repeated = replace(repeated, notes=(*once, *repeated.notes))
    return _summary(lines, repeated, model_figures(lines, model), min_judgments, confidence)


def _summary(
    lines: JudgeLines, repeated: Repeats, model: ModelFigures, min_judgments: int, confidence: float
) -> JudgeSummary:
    first, ties, second = (lines.summed(lines.counts[:, k]) for k in range(3))
    n, decided = first + ties + second, first + second
    if not lines.shown:
        first = decided = np.full(len(n), np.nan)
    low, high = share_interval(first, decided, "wilson", confidence)
    p_value = [sign_p(*pair) if pair[1] > 0 else math.nan for pair in zip(first, decided, strict=True)]
    figures = ByJudge(
        judge=lines.judge.levels,
        judgments=n,
        tie_rate=ratio(ties, n),
        first_rate=ratio(first, decided),
        conf_low=low,
        conf_high=high,
        p_value=np.array(p_value),
        agreement=ratio(repeated.agreed, repeated.pairs),
        agreement_pairs=repeated.pairs,
        swapped=repeated.swapped,
        flips=repeated.flips,
        model_agreement=ratio(model.agreed, model.judgments),
        model_expected=ratio(model.expected, model.judgments),
        statistic=model.statistic,
    )
    undefined = _undefined(figures, lines.shown, model)
    notes = (*_small(figures, min_judgments), *undefined, *repeated.notes, *model.notes)
    return JudgeSummary(figures, _overall(figures, repeated, model), confidence, notes)


def _overall(figures: ByJudge, repeated: Repeats, model: ModelFigures) -> tuple[str, ...]:
    """Return one line on all judges together."""
    n = figures.judgments
    decided = n * (1 - figures.tie_rate)
    parts = [f"{counted(n.sum(), 'judgment')}", f"{format_percent(np.nansum(figures.tie_rate * n) / n.sum())} ties"]
    rates = ~np.isnan(figures.first_rate)
    if rates.any():
        rate = float(np.sum((figures.first_rate * decided)[rates]) / decided[rates].sum())
        parts.append(f"the object shown first wins {format_percent(rate)} of decided judgments")
    if np.nansum(repeated.pairs) > 0:
        share = format_percent(repeated.agreed.sum() / repeated.pairs.sum())
        parts.append(f"judgments of a unit by two judges agree in {share}")
    if model.judgments.any():
        agreed, expected = (x.sum() / model.judgments.sum() for x in (model.agreed, model.expected))
        parts.append(f"mean probability under the model {format_percent(agreed)}, expected {format_percent(expected)}")
    return ("All: " + "; ".join(parts),)


def _small(figures: ByJudge, least: int) -> list[str]:
    few = figures.judge[figures.judgments < least].tolist()
    if not few:
        return []
    return [f"rates are imprecise for {counted(len(few), 'judge')} with fewer than {least} judgments: {listed(few, 1)}"]


def _undefined(figures: ByJudge, shown: bool, model: ModelFigures) -> list[str]:
    """Return why figures are NaN."""
    notes = []
    if not shown:
        notes.append("the data do not record which object was shown first: positions and flips are NA")
    tied = figures.judge[np.isnan(figures.first_rate) & (figures.tie_rate == 1)].tolist() if shown else []
    if tied:
        who = f"{counted(len(tied), 'judge')} with ties alone"
        notes.append(f"the share of first wins is NA for {who}: {listed(tied, 2)}")
    alone = figures.judge[figures.agreement_pairs == 0].tolist()
    if alone:
        who = f"{counted(len(alone), 'judge')} who shared no unit"
        notes.append(f"agreement is NA for {who}: {listed(alone, 1)}")
    followed = figures.judge[model.followed].tolist()
    if followed:
        who = f"{counted(len(followed), 'judge')} with own parameters in the model"
        notes.append(f"z is NA for {who} ({listed(followed, 1)}): use a model of all judges")
    flat = figures.judge[np.isnan(figures.statistic) & ~np.isnan(figures.model_agreement) & ~model.followed].tolist()
    if flat:
        notes.append(
            f"z is NA for {counted(len(flat), 'judge')} with equally likely answers in the model: {listed(flat, 1)}"
        )
    return notes
