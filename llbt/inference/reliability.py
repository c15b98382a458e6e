"""Reliability as used in comparative judgement: scale separation, split halves, misfit, marks from anchors."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..base.arguments import Confidence, Count, Jobs, Rng, checked
from ..base.table import Qualifying, counted, format_number
from ..core.columns import FloatArray
from ..core.comparisons import Comparisons
from ..errors import DesignError
from ..fitting.clusters import Way, kept_way
from ..fitting.fitted import PlainFit
from ..fitting.plain_estimates import PlainEstimates
from ..formulas.grid import At
from ..resampling import Resampler
from .anchored_marks import anchored_marks, check_anchors
from .log_worths import centred
from .mean_squares import MeanSquares, mean_squares
from .refit import written_terms
from .reliability_record import Reliability
from .split_halves import FEWEST_JUDGES, split_halves

_CLOSE = 0.8  # below this closeness pairs look as if they were chosen by earlier results


@checked
def reliability(
    res: PlainFit,
    *,
    judge: str | None = None,
    anchors: Mapping[object, float] | None = None,
    at: At = None,
    n: Count = 100,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> Reliability:
    """Return how reliable the worths are, which judges and objects do not fit, and marks on the scale of anchors.

    Parameters
    ----------
    res : LLBTResults
    judge : str, optional
        The column of the judges, a cluster or covariate of the table; by default ``"judge"`` if the table has it.
    anchors : mapping, optional
        External marks of some objects, ``{"A": 41, "F": 12, "K": 30}``: `marks` puts all objects on their scale.
    at : mapping or "average", optional
        Covariate values at which log-worths are taken, if they differ by covariates.
    n : int
        The number of random splits of the judges into halves.
    confidence : float
    rng : int or numpy.random.Generator
        Used to draw the splits; the default seed makes printouts repeatable.
    progress : bool
        Show a bar that counts the splits.
    n_jobs : int
        The number of processes, −1 for one per core. The result depends only on `rng`.

    Returns
    -------
    Reliability
        A row for each measure; ``object_table()`` and ``judge_table()``: infit and outfit; ``marks()``.

    Raises
    ------
    OptionError
        For a column that the table does not have; for fewer than two anchors, unknown objects and equal marks.
    DesignError
        For anchors of equal worth.

    Notes
    -----
    With λ̂ the log-worths minus their mean, SSR = 1 − Σ se²/Σ λ̂²: the share of the variance of the worths that is not
    estimation error, by the standard errors of the fit. Clustered standard errors therefore lower SSR. R's sirt
    (``btm``, ``mle.rel``) gives another figure. It divides the squared worths by J − 1 and the squared errors by J, and
    it takes each error from the diagonal of the information, as if the other worths were known. Its ``sepG`` is the
    observed standard deviation over the root mean squared error. So G²/(1 + G²) with sirt's G is never below ½ if SSR
    is positive, and it is not SSR. Here ``separation`` G is the standard deviation of the true worths over the root
    mean squared error, and SSR = G²/(1 + G²).

    *Adaptive pairing inflates SSR.* If pairs are chosen by earlier results, objects that won by chance meet better
    objects, and the spread of the worths grows with the errors. In simulations (40 objects of equal worth, 20 judgments
    of each), SSR is .03 on average with random pairs and .84 with pairs of neighbours; the true value is 0. Split
    halves of an adaptive study are inflated too, because both halves judged the same pairs. A ``closeness`` below .8
    gives a warning.

    Split halves: worths are fitted to two random halves of the judges. r is the mean correlation over `n` splits (by
    Fisher's z), and 2r/(1 + r) is the reliability of all judges (Spearman–Brown). The interval is Fisher's for J
    objects; it is valid for other objects of the same kind.

    The score x of a judgment is 1, 0 or −1 (a win of i, a tie, a win of j); e and v are its mean and variance in the
    model. Infit is Σ(x − e)²/Σv, outfit is the mean of (x − e)²/v. z is the cube root transformation of infit. Misfits
    have a one-sided p-value of at most .05 by Holm's method over the judges or objects. Mean squares are a little below
    1 on average, because the estimates follow the judgments.

    Marks: with three or more anchors the line is fitted by least squares, with t intervals of a new mark. Two anchors
    fix the line, and intervals then include only the errors of the worths. With 3 to 10 anchors among 15 objects, 95 %
    intervals covered in 96 to 98 % (200 simulated tables each).

    References
    ----------
    Verhavert, S., De Maeyer, S., Donche, V. & Coertjens, L. (2018). Scale separation reliability: what does it mean in
    the context of comparative judgment? Applied Psychological Measurement 42(6), 428-445.

    Bramley, T. & Vitello, S. (2019). The effect of adaptivity on the reliability coefficient in adaptive comparative
    judgement. Assessment in Education 26(1), 43-58.

    Wright, B. D. & Masters, G. N. (1982). Rating scale analysis. MESA Press.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"))
    >>> reliability = llbt.reliability(res, anchors={"A": 60, "B": 35, "C": 20})
    >>> round(reliability.ssr, 3), reliability.judge_fit.infit.round(2).tolist()
    (0.994, [0.7, 0.61, 1.79, 0.72])
    >>> reliability.marks().to_frame()[["object", "estimate"]].round(1).values.tolist()
    [['A', 60.8], ['D', 53.0], ['B', 31.5], ['C', 22.7]]
    """
    if res.object_effects is not None:
        raise DesignError(
            "worths with effects of objects are predictions, shrunk by their uncertainty",
            "Fit the worths themselves: llbt.fit('object', res.comparisons).",
        )
    c = res.comparisons
    marks = None if anchors is None else check_anchors(anchors, c)
    log_worths, notes = centred(res, at)
    way = _judges(c, judge)
    why = _no_halves(res, way)
    draw = Resampler.of("reliability", rng, n_jobs, progress)
    halves = split_halves(res, log_worths, way.name, int(n), confidence, draw) if way and not why else None
    error = np.where(
        log_worths.unknown | np.isnan(log_worths.estimate), np.nan, np.sqrt(np.maximum(np.diag(log_worths.cov), 0))
    )
    ssr = separation_reliability(log_worths.estimate, error)
    close = closeness(log_worths.estimate, c)
    return Reliability(
        objects=c.objects,
        estimate=log_worths.estimate,
        std_error=error,
        ssr=ssr,
        separation=math.sqrt(ssr / (1 - ssr)) if 0 <= ssr < 1 else math.nan,
        closeness=close,
        halves=halves,
        judge=way.name if way else "",
        judges=way.levels if way else (),
        object_fit=_of_objects(res),
        judge_fit=_of_judges(res, way) if way else None,
        anchored=None if marks is None else anchored_marks(marks, log_worths, confidence),
        confidence=confidence,
        notes=(*_warnings(res, close), *notes, *why, *(halves.notes if halves else ()), *_marked(marks)),
    )


def separation_reliability(estimate: FloatArray, error: FloatArray) -> float:
    """Return 1 − Σ se²/Σ λ̂² of centred log-worths; NaN if an error is unknown or all log-worths are equal."""
    some = ~np.isnan(estimate)
    spread = float(estimate[some] @ estimate[some])
    return 1 - float(error[some] @ error[some]) / spread if spread > 0 else math.nan


def closeness(estimate: FloatArray, c: Comparisons) -> float:
    """Return the mean difference of log-worths in judged pairs over the mean in all pairs; NaN if all are equal."""
    known = np.sort(estimate[~np.isnan(estimate)])
    size = len(known)
    all_pairs = 2 * float((2 * np.arange(size) - size + 1) @ known) / (size * (size - 1)) if size > 1 else 0.0
    apart = np.abs(estimate[c.pairs[:, 0]] - estimate[c.pairs[:, 1]])
    judged = ~np.isnan(apart)
    if not all_pairs > 0 or not c.totals[judged].sum():
        return math.nan
    return float(np.average(apart[judged], weights=c.totals[judged])) / all_pairs


def _warnings(res: PlainEstimates, close: float) -> tuple[str, ...]:
    warnings: list[str] = []
    if close < _CLOSE:
        warnings.append(Qualifying(
            f"Judged pairs are close: their worths differ {format_number(close, 2)} times as much as worths of random "
            "pairs. If pairs were chosen by earlier results (adaptive pairing), SSR and split halves are too large."
        ))  # fmt: skip
    else:
        warnings.append("SSR assumes pairs chosen without looking at results: adaptive pairing inflates it.")
    if res.specification.prior is not None:
        warnings.append(
            Qualifying("The prior shrinks worths, so SSR depends on the prior as well as on the judgments.")
        )
    return tuple(warnings)


def _marked(marks: FloatArray | None) -> tuple[str, ...]:
    """Return a note on where to find the marks, if there are anchors."""
    if marks is None:
        return ()
    return (f"Marks of all objects on the scale of {counted(int((~np.isnan(marks)).sum()), 'anchor')}: .marks()",)


def _judges(c: Comparisons, judge: str | None) -> Way | None:
    """Return the judges; None if none were named and the table has none."""
    name = c.named(judge or "judge")
    if judge is None and name not in (*c.clusters, *(column.name for column in c.columns)):
        return None
    return kept_way(c, name, (name,))


def _no_halves(res: PlainEstimates, way: Way | None) -> tuple[str, ...]:
    """Return a note on why there are no split halves, or an empty text."""
    if way is None:
        return ("No split halves and no judge fit: from_judgments(…, clusters='judge') keeps judges.",)
    if len(way.levels) < FEWEST_JUDGES:
        return (
            f"{counted(len(way.levels), 'level')} of {way.name}: too few for split halves, which need {FEWEST_JUDGES}.",
        )
    if any(way.name in term.codes for term in written_terms(res.specification.formula, res.comparisons)):
        return (f"Each {way.name} has parameters in the model, so there are no split halves.",)
    return ()


def _of_judges(res: PlainEstimates, way: Way) -> MeanSquares:
    return mean_squares(res, way.clusters.rows, way.clusters.counts, way.clusters.codes, len(way.levels))


def _of_objects(res: PlainEstimates) -> MeanSquares:
    """Return the mean squares of the objects; each judgment counts for both of its objects."""
    c = res.comparisons
    rows = np.tile(np.arange(len(c)), 2)
    return mean_squares(res, rows, c.outcome_counts[rows], c.pairs.T.ravel(), len(c.objects))
