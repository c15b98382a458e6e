"""Aggregation of scores on many instances to one score per system: mean, median, Bradley-Terry, Elo, TrueSkill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..base.arguments import Confidence, Jobs, Number, Rng, checked
from ..base.table import Field, Record, Table, counted, format_count, interval_fields
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..data.column_roles import Names
from ..data.system_scores import SystemScores, as_scores
from ..errors import DesignError, JudgmentError, OptionError
from ..resampling import Resampler
from .bradley_terry import BradleyTerry
from .mechanisms import Asked, Mechanism, Method, Scored, named, scored
from .outcomes import Outcomes, outcomes_of_scores, outcomes_of_table, refuse_without_scores

MECHANISMS: dict[Mechanism, str] = {
    "mean": "mean over the instances",
    "median": "median over the instances",
    "bt": "log-odds 2λ of Bradley-Terry, centred",
    "llbt": "log-odds 2λ of the log-linear Bradley-Terry model, centred",
    "elo": "Elo rating",
    "trueskill": "TrueSkill mean μ",
}
EQUAL = 1e-9
_HEADINGS = {"worth": "Worth", "std_error": "Std. Error", "spread": "Spread", "sigma": "σ"}


@dataclass(frozen=True, repr=False, eq=False)
class Aggregation(Record):
    """One score for each of N systems, the best first.

    Attributes
    ----------
    objects : tuple, length N
    estimate : ndarray, shape (N,)
        Scores on the scale of the mechanism.
    rank : ndarray of int, shape (N,)
        1 is the best; scores equal within 1e-9 share the better rank.
    conf_low, conf_high : ndarray, shape (N,)
        NaN without intervals.
    extra : mapping of str to ndarray, each (N,)
        ``worth`` (π, summing to 1) and ``std_error`` of Bradley-Terry scores; ``spread`` (standard deviation over
        orders) of Elo and TrueSkill ratings; ``sigma`` (σ of the skill, averaged over orders) of TrueSkill.
    probabilities : DataFrame, N × N
        The probability that the row scores higher than the column, given that one of them does.
    method : str
    confidence : float
    notes : tuple of str
    """

    objects: tuple[Label, ...]
    estimate: FloatArray
    rank: FloatArray
    conf_low: FloatArray
    conf_high: FloatArray
    extra: dict[str, FloatArray]
    probabilities: pd.DataFrame
    method: Mechanism
    confidence: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return object, estimate, rank, conf_low, conf_high and further columns of the mechanism; best first."""
        return Table(
            (
                Field("object", "System", list(self.objects)),
                Field("estimate", "Score", self.estimate, "estimate"),
                Field("rank", "Rank", self.rank, "count"),
                *interval_fields(self.conf_low, self.conf_high, self.confidence),
                *(Field(name, _HEADINGS[name], values, "number") for name, values in self.extra.items()),
            ),
            title=f"Aggregated scores: {MECHANISMS[self.method]}",
            notes=self.notes,
        )


@checked
def aggregate(
    data: object,
    *,
    method: Method = "mean",
    n: Number = 0,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
    system: str | None = None,
    item: Names = (),
    score: Names = (),
    rater: str | None = None,
    ignore: Names = (),
) -> Aggregation:
    """Return one score for each system, with ranks, intervals and probabilities that one scores higher than another.

    Parameters
    ----------
    data : frame, path, list of records, SystemScores or Comparisons
        Scores: wide (one row per item and a column of numbers per system), long (a row for each system and item) or
        with a system in each row. Pass `scores.SystemScores` if lower scores are better (means and medians stay on the
        scale of the scores), or for a threshold of ties. All methods except mean and median also take a table of
        counts, which is summed over its covariates.
    method : str, BradleyTerry, Elo or TrueSkill
        A name, or a record with options other than the defaults (``scores.BradleyTerry(ties="half")``):

        * ``"mean"``, ``"median"``: over the instances, ignoring the pairing;
        * ``"bt"``: Bradley-Terry, maximum likelihood: log-odds 2λ that sum to 0, and worths;
        * ``"llbt"``: Bradley-Terry with the standard errors and Wald intervals of ``llbt.fit``;
        * ``"elo"``, ``"trueskill"``: ratings updated game by game, averaged over random orders of the games.
    n : int
        Number of resamples for percentile intervals, such as 1000. Whole instances are resampled; for a table of
        counts, judgments are.
    confidence : float
        The confidence of the intervals.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.
    system, item, score, rater, ignore
        Columns of a frame, as in `scores.SystemScores.from_frame`; by default found by their names and values. Scores
        of several raters are averaged within items.

    Returns
    -------
    Aggregation
        object, estimate, rank, conf_low, conf_high; worth and std_error; spread and sigma.

    Raises
    ------
    JudgmentError
        For frames that cannot be read as scores, systems without a score, instances that no two systems share, and
        fractional counts if games are resampled or ordered.
    OptionError
        If scores with ``prior="jeffreys"`` are to be resampled.
    DesignError
        For mean and median of a table of counts, and systems that were never compared.
    SeparationError
        For infinite Bradley-Terry scores: some systems won or lost all games against the others, or all games are ties.
        `prior` or `separated` of `scores.BradleyTerry` avoid it.

    Notes
    -----
    Systems are sorted before any draw, so results do not depend on the order of columns. A random order shuffles the
    instances, and the pairs within each instance.

    ``algorithm="mm"`` repeats π_i ← W_i / Σ_j n_ij/(π_i + π_j), starting at equal worths. The paper stops it when
    Σ(Δπ)² falls below 1e-9, short of the maximum. Worths then have two or three correct digits, so systems that are
    this close may change places. A system that never wins gets the worth 0. If two of these systems have no decided
    comparison, the published tool never ends; llbt raises an error.

    Elo and TrueSkill are means over random orders, with a Monte Carlo error. A system shares the rank of a better one
    if the two differ by less than three Monte Carlo errors, as systems with identical scores do.

    Probabilities follow from the model: 1/(1 + exp(2λ_j − 2λ_i)), Elo's expected score at the averaged ratings,
    TrueSkill's Φ((μ_i − μ_j)/√(2β² + σ_i² + σ_j²)). Mean and median have no model. Their probability is the observed
    share of wins among the instances on which the two systems differ, NaN if there is none.

    Without resamples, the intervals of ``"llbt"`` treat the comparisons as independent, although k systems on one
    instance give k(k − 1)/2 of them. ``n=1000`` resamples whole instances. For Elo and TrueSkill, intervals without
    resamples are percentiles over random orders of the games: they show the effect of the order only. With `n` they are
    percentiles over resampled instances, one random order each. Each game in each order takes about 0.05 µs
    (Elo) to 0.2 µs (TrueSkill) for many systems, and several times as much for few systems.

    References
    ----------
    Peyrard, M., Zhao, W., Eger, S. & West, R. (2021). Better than average: paired evaluation of NLP systems. ACL,
    2301-2315. Hunter, D. R. (2004). MM algorithms for generalized Bradley-Terry models. Annals of Statistics 32(1).
    Davidson, R. R. (1970). On extending the Bradley-Terry model to accommodate ties. JASA 65(329). Elo, A. E. (1978).
    The rating of chessplayers. Herbrich, R., Minka, T. & Graepel, T. (2007). TrueSkill: a Bayesian skill rating
    system. NIPS 19.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"A": [9.0, 2.0, 2.0, 2.0], "B": [0.0, 3.0, 4.0, 3.0]})
    >>> llbt.scores.aggregate(scores).to_frame()[["object", "estimate", "rank"]].values.tolist()
    [['A', 3.75, 1], ['B', 2.5, 2]]
    >>> bt = llbt.scores.aggregate(scores, method="bt")
    >>> bt.to_frame()[["object", "rank"]].values.tolist(), round(float(bt.probabilities.loc["B", "A"]), 3)
    ([['B', 1], ['A', 2]], 0.75)
    """
    if n and isinstance(method, BradleyTerry) and method.prior == "jeffreys":
        raise OptionError(f"n={n} with prior='jeffreys'", "Pass prior=0.5 in its place, or leave out n=.")
    asked = Asked(n, float(confidence), Resampler.of("aggregate", rng, n_jobs, progress))
    name = named(method)
    columns = {"system": system, "item": item, "score": score, "rater": rater, "ignore": ignore}
    if isinstance(data, Comparisons):
        outcomes, notes = _of_counts(data, name, [key for key, column in columns.items() if column])
    else:
        outcomes, notes = _of_scores(
            as_scores(data, system=system, item=item, score=score, rater=rater, ignore=ignore), name
        )
    scored_systems = scored(outcomes, method, asked)
    return _aggregation(outcomes, name, replace(scored_systems, notes=(*notes, *scored_systems.notes)), asked)


def _of_counts(c: Comparisons, method: Mechanism, named: Sequence[str]) -> tuple[Outcomes, tuple[str, ...]]:
    if named:
        raise OptionError(
            f"{named[0]}= with a table of counts, which has no columns of scores", f"Leave {named[0]}= out."
        )
    if method in ("mean", "median"):
        raise DesignError(
            f"method={method!r} needs the scores themselves, but a table of counts has only wins and ties",
            "Pass the frame of scores, or method='bt'.",
        )
    return outcomes_of_table(c)


def _of_scores(scores: SystemScores, method: Mechanism) -> tuple[Outcomes, tuple[str, ...]]:
    refuse_without_scores(scores.systems, scores.values, len(scores.instances))
    outcomes = outcomes_of_scores(scores)
    return outcomes, (*scores.notes_beside(), *_gaps(outcomes, method))


def _gaps(outcomes: Outcomes, method: Mechanism) -> list[str]:
    """Return a note on missing scores; raise if a paired mechanism has no pairs."""
    assert outcomes.scores is not None
    if method not in ("mean", "median") and not outcomes.n_games:
        raise JudgmentError(
            f"no instance has scores of two systems, which method={method!r} compares",
            "Check the column that names the instances: llbt.scores.SystemScores.from_long(…, instance='…').",
            expected="systems scored on the same instances",
        )
    missing = int(np.isnan(outcomes.scores).sum())
    if not missing:
        return []
    centre = "compare systems on different instances (scores.leaderboard adjusts means for this)"
    what = centre if method in ("mean", "median") else "are no comparisons"
    return [f"{counted(missing, 'score')} of {format_count(outcomes.scores.size)} missing: they {what}"]


def _aggregation(outcomes: Outcomes, method: Mechanism, scores: Scored, asked: Asked) -> Aggregation:
    """Return the record, the best first, from scores in sorted order."""
    lower = method in ("mean", "median") and outcomes.negated
    better = scores.standing if scores.standing is not None else -scores.estimate if lower else scores.estimate
    with np.errstate(invalid="ignore"):  # −∞ less −∞
        ahead = better[None, :] - better[:, None] > EQUAL * scores.unit
    rank = 1 + ahead.sum(axis=1)
    order = np.argsort(rank, kind="stable")
    labels = [outcomes.systems[place] for place in order]
    shares = scores.probabilities[np.ix_(order, order)].copy()
    np.fill_diagonal(shares, np.nan)
    low, high = scores.bounds
    return Aggregation(
        objects=tuple(labels),
        estimate=scores.estimate[order],
        rank=rank[order],
        conf_low=low[order],
        conf_high=high[order],
        extra={name: values[order] for name, values in scores.extra.items()},
        probabilities=pd.DataFrame(shares, index=labels, columns=labels),
        method=method,
        confidence=asked.confidence,
        notes=scores.notes,
    )
