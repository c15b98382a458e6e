"""Scores of systems on many instances made one score each: mean, median, Bradley-Terry, Elo, TrueSkill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..arguments import (
    BelowOne,
    Confidence,
    Count,
    Finite,
    Jobs,
    NotNegative,
    Number,
    Positive,
    Rng,
    checked,
)
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..data.score_frames import read_scores
from ..data.score_ties import TieRule
from ..errors import DesignError, JudgmentError, listed
from ..resampling import Resampler
from ..table import Field, Record, Table, counted, format_count, interval_fields
from .bradley_terry import Algorithm, Fitting, Separated, Ties
from .mechanisms import Asked, Mechanism, Scored, centre, paired, rated
from .outcomes import Outcomes, outcomes_of_scores, outcomes_of_table, without_scores
from .ratings import Elo, TrueSkill

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
        """Return object, estimate, rank, conf_low, conf_high and what else the mechanism has; the best first."""
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
    method: Mechanism = "mean",
    ties: Ties = "davidson",
    algorithm: Algorithm = "exact",
    prior: Positive | None = None,
    bias_reduction: bool = False,
    separated: Separated = "raise",
    systems: Sequence[str] | None = None,
    system: str = "system",
    instance: str | None = None,
    score: str = "score",
    covariates: str | Sequence[str] = (),
    higher_is_better: bool = True,
    tie_threshold: NotNegative = 0.0,
    relative: bool = False,
    orders: Count = 100,
    k: Positive = 20.0,
    start: Finite = 1500.0,
    elo_scale: Positive = 400.0,
    draw_probability: BelowOne | None = None,
    n: Number = 0,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> Aggregation:
    """Return one score for each system, with ranks, intervals and probabilities that one scores higher than another.

    Parameters
    ----------
    data : frame, path, list of records or Comparisons
        Scores, wide (one row per instance and a column per system) or long (one row per score); or a table of counts,
        summed over its covariates, for all but mean and median.
    method : str
        * ``"mean"``, ``"median"``: over the instances, without regard to pairing;
        * ``"bt"``: Bradley-Terry, maximum likelihood: log-odds 2λ that sum to 0, and worths;
        * ``"llbt"``: the same with standard errors and Wald intervals of ``llbt.fit``;
        * ``"elo"``, ``"trueskill"``: ratings updated game by game, averaged over random orders of the games.
    ties : {"davidson", "half", "drop"}
        Equal scores on an instance: a tie effect (``object + tie``), half a win for either, or left out. For Elo and
        TrueSkill the first two are draws. Mean and median know no ties.
    algorithm : {"exact", "mm"}
        Of ``"bt"``: the maximum itself, or the recursion of the paper where it stops, with ties dropped or split.
    prior : float, optional
        Of ``"bt"`` and ``"llbt"``: so many judgments are added to each pair, split equally, as in `llbt.fit`; scores
        are finite wherever systems are connected.
    bias_reduction : bool
        Of ``"bt"`` and ``"llbt"``: Firth's, as in `llbt.fit`, finite likewise; not with `n`.
    separated : {"raise", "rank"}
        Where scores of ``"bt"`` and ``"llbt"`` are infinite: an error, or ranks, worths and probabilities as a prior
        that vanishes leaves them, with NaN for the scores.
    systems, system, instance, score
        Where the scores are: columns of a wide frame, or the names of the columns of a long one.
    covariates : str or sequence of str
        Columns of numbers that are no systems; the other columns of numbers of a wide frame are, but for those that
        count the rows or are called id, index or …_id beside others: they are left out with a note, and systems
        only where `systems` names them.
    higher_is_better : bool
        Whether the higher score wins, or the lower. Means and medians stay on the scale of the scores.
    tie_threshold : float
        Two scores are tied if they differ by at most so much, give or take 1e-12 of the larger.
    relative : bool
        Whether the threshold is a share of the larger of the two (by absolute value).
    orders : int
        Of Elo and TrueSkill: how many random orders. With 1 they are the usual sequential tools.
    k, start, elo_scale : float
        Of Elo: the most points that one game moves; where all begin; points for odds of ten to one.
    draw_probability : float, optional
        Of TrueSkill; by default the share of ties in the data.
    n : int
        Number of resamples for percentile intervals, 1000 say: of whole instances; of judgments, for a table.
    confidence : float
        Of the intervals.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    Aggregation
        object, estimate, rank, conf_low, conf_high; worth and std_error; spread and sigma.

    Raises
    ------
    JudgmentError
        For frames that cannot be read as scores, systems without a score, instances that no two systems share, and
        fractional counts where games are drawn or ordered.
    DesignError
        For unknown options, mean and median of a table of counts, systems that were never compared.
    SeparationError
        Where Bradley-Terry scores are infinite: some systems won or lost everything against the others, or all tied;
        unless `prior`, `bias_reduction` or `separated` say what to do.

    Notes
    -----
    Systems are sorted before anything is drawn, so that no result depends on the order of columns. A random order
    shuffles the instances, and the pairs within each.

    ``algorithm="mm"`` is π_i ← W_i / Σ_j n_ij/(π_i + π_j) from equal worths, which the paper stops when Σ(Δπ)² falls
    below 1e-9, short of the maximum: worths to two or three digits, and systems as close as that may change places. A
    system that never wins gets the worth 0. Where two such systems have no decided comparison, the published tool does
    not return; here that is an error.

    Probabilities are those of the model: 1/(1 + exp(2λ_j − 2λ_i)), Elo's expected score at the averaged ratings,
    TrueSkill's Φ((μ_i − μ_j)/√(2β² + σ_i² + σ_j²)). Mean and median have no model: there it is the observed share of
    the instances on which one of the two is higher; NaN where there is none.

    Intervals of ``"llbt"`` without resamples take the comparisons as independent, though k systems on one instance
    make k(k − 1)/2 of them; ``n=1000`` resamples instances whole. For Elo and TrueSkill they are percentiles over
    orders, which say what the order does to a rating of one order and nothing of the instances; with `n`, percentiles
    over resampled instances, one random order each. They take time for each game in each order, some 0.3 µs (Elo) to
    1 µs (TrueSkill): for 60 systems on 10,000 instances pass ``orders=10`` or ``n_jobs=-1``.

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
    fitting = Fitting(ties, algorithm, prior, bool(bias_reduction), separated)
    _check_options(method, fitting, n)
    asked = Asked(n, int(orders), float(confidence), Resampler.of("aggregate", rng, n_jobs, progress))
    reading = {"systems": systems, "system": system, "instance": instance, "score": score, "covariates": covariates}
    outcomes, notes = _read(
        data, method, reading, TieRule(float(tie_threshold), bool(relative)), bool(higher_is_better)
    )
    if method in ("mean", "median"):
        found = centre(outcomes, method == "median", asked)
    elif method in ("bt", "llbt"):
        found = paired(outcomes, method == "llbt", fitting, asked)
    else:
        rater = Elo(k, start, elo_scale) if method == "elo" else _trueskill(outcomes, ties, draw_probability)
        found = rated(outcomes, rater, ties == "drop", asked)
    lower = method in ("mean", "median") and not higher_is_better
    return _aggregation(outcomes.systems, method, replace(found, notes=(*notes, *found.notes)), lower, asked)


def _check_options(method: Mechanism, fitting: Fitting, n: int) -> None:
    ties, algorithm = fitting.ties, fitting.algorithm
    if algorithm == "mm" and method != "bt":
        raise DesignError(f"algorithm='mm' is one of method='bt'; with {method!r} leave it out.")
    if algorithm == "mm" and ties == "davidson":
        raise DesignError(
            "the recursion of algorithm='mm' has no tie effect; pass ties='drop', as the paper does, or ties='half'."
        )
    _check_penalty(method, fitting, n)


def _check_penalty(method: object, fitting: Fitting, n: object) -> None:
    special = fitting.penalized or fitting.separated == "rank"
    if special and (method not in ("bt", "llbt") or fitting.algorithm == "mm"):
        raise DesignError(
            "prior=, bias_reduction= and separated= are those of method='bt' and 'llbt' with "
            f"algorithm='exact', not of {method!r}{' with mm' if fitting.algorithm == 'mm' else ''}; leave them out."
        )
    if fitting.bias_reduction and n:
        raise DesignError("n= does not go with bias_reduction=; pass prior=0.5 in its place, or leave n out.")


def _read(
    data: object, method: Mechanism, reading: dict[str, Any], rule: TieRule, higher_is_better: bool
) -> tuple[Outcomes, tuple[str, ...]]:
    if isinstance(data, Comparisons):
        if method in ("mean", "median"):
            raise DesignError(
                f"method={method!r} needs the scores themselves, but a table of counts says only who was "
                "better. Pass the frame of scores, or method='bt'."
            )
        if rule.threshold or not higher_is_better or reading["systems"] is not None:
            raise DesignError(
                "systems=, tie_threshold= and higher_is_better= read scores; a table of counts has none. "
                "Pass them where the table is made, or c.select(objects=…)."
            )
        return outcomes_of_table(data, "aggregate")
    matrix = read_scores(data, **reading)
    bare = without_scores(matrix.systems, matrix.values)
    if bare:
        left = [label for label in matrix.systems if label not in bare]
        raise JudgmentError(
            f"{listed(bare)} {'has' if len(bare) == 1 else 'have'} no score on any of "
            f"{counted(len(matrix.instances), 'instance')}; expected some for each system. Leave "
            f"{'it' if len(bare) == 1 else 'them'} out: systems={left[:8]!r}{'…' if len(left) > 8 else ''}."
        )
    outcomes = outcomes_of_scores(matrix, rule, higher_is_better)
    return outcomes, (*matrix.notes, *_gaps(outcomes, method))


def _gaps(outcomes: Outcomes, method: Mechanism) -> list[str]:
    """Return a note on missing scores; raise where a paired mechanism has nothing to pair."""
    assert outcomes.scores is not None
    if method not in ("mean", "median") and not outcomes.n_games:
        raise JudgmentError(
            f"no instance has scores of two systems, which method={method!r} compares; expected systems "
            "scored on the same instances. Check what names the instances (instance=)."
        )
    missing = int(np.isnan(outcomes.scores).sum())
    if not missing:
        return []
    what = "compare systems on different instances" if method in ("mean", "median") else "are no comparisons"
    return [f"{counted(missing, 'score')} of {format_count(outcomes.scores.size)} missing: they {what}"]


def _trueskill(outcomes: Outcomes, ties: Ties, draw_probability: float | None) -> TrueSkill:
    drawn = 0.0 if ties == "drop" else float(outcomes.counts[:, 1].sum())
    if draw_probability is not None and not draw_probability and drawn:
        raise DesignError(
            f"draw_probability=0, but {counted(drawn, 'comparison')} of {format_count(outcomes.n_games)} "
            "are ties; expected a positive probability. Leave it out, or pass ties='drop'."
        )
    games = outcomes.n_games if ties != "drop" else float(outcomes.counts[:, [0, 2]].sum())
    return TrueSkill(drawn / max(1.0, games) if draw_probability is None else float(draw_probability))


def _aggregation(systems: Sequence[Label], method: Mechanism, found: Scored, lower: bool, asked: Asked) -> Aggregation:
    """Return the record, the best first, from scores in sorted order."""
    better = found.standing if found.standing is not None else -found.estimate if lower else found.estimate
    with np.errstate(invalid="ignore"):  # −∞ less −∞
        ahead = better[None, :] - better[:, None] > EQUAL * found.unit
    rank = 1 + ahead.sum(axis=1)
    order = np.argsort(rank, kind="stable")
    labels = [systems[place] for place in order]
    shares = found.probabilities[np.ix_(order, order)].copy()
    np.fill_diagonal(shares, np.nan)
    low, high = found.bounds
    return Aggregation(
        objects=tuple(labels),
        estimate=found.estimate[order],
        rank=rank[order],
        conf_low=low[order],
        conf_high=high[order],
        extra={name: values[order] for name, values in found.extra.items()},
        probabilities=pd.DataFrame(shares, index=labels, columns=labels),
        method=method,
        confidence=asked.confidence,
        notes=found.notes,
    )
