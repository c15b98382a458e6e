"""Bradley-Terry scores from counts of wins and ties: the exact maximum, the recursion of the paper, and resamples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..base.arguments import checked_record
from ..base.notes import Qualifying
from ..base.table import counted, format_count
from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..errors import OptionError, SeparationError, listed
from ..fitting.existence import check_connected
from ..fitting.model import LLBT
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.specification import Prior
from ..inference.log_worths import centred
from ..kernel.batch import fit_many
from .outcomes import Outcomes

Ties = Literal["davidson", "half", "drop"]
Algorithm = Literal["exact", "mm"]
Separated = Literal["raise", "rank"]

EPSILON = 1e-9  # the recursion stops when the squared change of the worths is below: pairformance's `epsilon_bt`
_MOST_STEPS = 100_000
_VANISHING = 1e-6  # judgments per pair of a prior that leaves finite differences within 1e-5 of where they are without


@checked_record
@dataclass(frozen=True)
class BradleyTerry:
    """Options of Bradley-Terry scores: ``aggregate(scores, method=BradleyTerry(ties="half"))``.

    Attributes
    ----------
    ties : {"davidson", "half", "drop"}
        Equal scores on an instance: a tie effect (``object + tie``), half a win for either, or left out.
    algorithm : {"exact", "mm"}
        The exact maximum, or the value at which the recursion of Peyrard et al. (2021) stops, with ties dropped or
        split.
    prior : float or "jeffreys", optional
        A number of judgments that are added to each pair and split equally; or Firth's bias reduction, as in
        `llbt.fit`. Scores are finite if systems are connected.
    separated : {"raise", "rank"}
        The treatment of infinite scores: an error; or NaN for the scores, with the ranks, worths and probabilities in
        the limit of a vanishing prior.
    wald : bool
        Whether to return standard errors and Wald intervals of `llbt.fit`: ``method="llbt"``.

    Raises
    ------
    OptionError
        For unknown options, and options that ``algorithm="mm"`` does not have.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> always = pd.DataFrame({"A": [3.0, 2.0, 4.0], "B": [2.0, 1.0, 3.0]})
    >>> llbt.scores.aggregate(always, method=llbt.scores.BradleyTerry(prior=0.5)).estimate.round(3).tolist()
    [1.282, -1.282]
    """

    ties: Ties = "davidson"
    algorithm: Algorithm = "exact"
    prior: Prior = None
    separated: Separated = "raise"
    wald: bool = False

    def __post_init__(self) -> None:
        if self.algorithm == "mm" and self.ties == "davidson":
            raise OptionError(
                "algorithm='mm' with ties='davidson': the recursion has no tie effect",
                "Pass ties='drop', as the paper does, or ties='half'.",
            )
        if self.algorithm == "mm" and (self.prior is not None or self.separated == "rank" or self.wald):
            raise OptionError(
                f"prior={self.prior!r}, separated={self.separated!r} and wald={self.wald} with algorithm='mm'",
                "Leave them out, or pass algorithm='exact'.",
            )

    @property
    def added(self) -> float:
        """The number of judgments added to each pair."""
        return 0.0 if self.prior is None or isinstance(self.prior, str) else float(self.prior)


@dataclass(frozen=True, eq=False)
class Strengths:
    """Scores of the N systems of some games.

    Attributes
    ----------
    log_odds : ndarray, shape (N,)
        Log-odds 2λ, summing to 0; −∞ for a system of worth 0, which does not count in the sum; NaN if none is finite.
    worth : ndarray, shape (N,)
        Worth π ∝ exp(2λ), summing to 1.
    std_error : ndarray, shape (N,)
        Standard errors of the log-odds; NaN for the recursion.
    results : LLBTResults or None
        The fit; None for the recursion, and if scores are not finite.
    has_ties : bool
        Whether anything was tied.
    place : ndarray of int, shape (N,)
        The position of each system in the fit.
    notes : tuple of str
    standing : ndarray, shape (N,), or None
        Values to rank by if the log-odds are not finite.
    """

    log_odds: FloatArray
    worth: FloatArray
    std_error: FloatArray
    results: PlainEstimates | None
    has_ties: bool
    place: IntArray
    notes: tuple[str, ...]
    standing: FloatArray | None = None


def ties_applied(counts: FloatArray, ties: Ties) -> FloatArray:
    """Return counts (…, P, 3) under a rule for ties: unchanged, or only wins (…, P, 2)."""
    if ties == "davidson":
        return counts
    half = counts[..., 1] / 2 if ties == "half" else 0.0
    return np.stack([counts[..., 0] + half, counts[..., 2] + half], axis=-1)


def bradley_terry(outcomes: Outcomes, asked: BradleyTerry) -> Strengths:
    """Return the scores of the systems of some games.

    Raises
    ------
    SeparationError
        If some scores are infinite; the error names the systems and the remedies.
    DesignError
        If no game connects some groups of systems, or all games are ties.
    """
    decided, ties = outcomes.counts[:, [0, 2]].sum(), asked.ties
    helpless = ties == "drop" or (asked.prior is None and asked.separated == "raise")
    if not decided and ties != "half" and asked.algorithm == "exact" and helpless:
        raise SeparationError(
            f"all {format_count(outcomes.n_games)} comparisons are ties, which decide nothing under ties={ties!r}",
            "Pass ties='half', under which all systems are equal, or a smaller tie_threshold=.",
            expected="some wins",
        )
    if asked.algorithm == "mm":
        return _by_recursion(outcomes, ties)
    return _exact(outcomes, asked)


def _exact(outcomes: Outcomes, asked: BradleyTerry) -> Strengths:
    ties = asked.ties
    with_ties = ties == "davidson" and bool(outcomes.counts[:, 1].any())
    c = outcomes.comparisons(ties_applied(outcomes.counts, ties if with_ties or ties == "half" else "drop"))
    formula = "object + tie" if with_ties else "object"
    notes = _tie_notes(outcomes, ties)
    try:
        res = LLBT.from_formula(formula, c).fit(prior=asked.prior)
    except SeparationError as error:
        if asked.separated == "rank":
            return _in_the_limit(outcomes, formula, c, (*notes, _separated_note(error)))
        raise SeparationError(
            f"no finite scores: {error.found}",
            "Pass method=llbt.scores.BradleyTerry(prior=0.5), which adds half a judgment to each pair; "
            "prior='jeffreys' gives Firth's bias reduction, separated='rank' only ranks. Or leave these systems out. "
            "The scores of method='mean', 'elo' and 'trueskill' are always finite.",
        ) from None
    log_odds, error_of, place = _scores_of(res, outcomes)
    if asked.prior is not None:
        firth = asked.prior == "jeffreys"
        by = "Firth's bias reduction" if firth else f"a prior of {asked.added:g} judgments per pair"
        notes = (*notes, f"{by} shrinks the scores towards each other")
    tied = bool(outcomes.counts[:, 1].any())
    return Strengths(log_odds, _worths(log_odds), error_of, res, tied, place, notes)


def _scores_of(res: PlainEstimates, outcomes: Outcomes) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return log-odds and standard errors (N,) in the order of the systems, and each system's position in the fit."""
    log_worths, _ = centred(res, None)
    objects = res.comparisons.objects
    place = np.array([objects.index(label) for label in outcomes.systems], dtype=np.int64)
    return 2 * log_worths.estimate[place], 2 * np.sqrt(np.maximum(np.diag(log_worths.cov), 0))[place], place


def _in_the_limit(outcomes: Outcomes, formula: str, c: Comparisons, notes: tuple[str, ...]) -> Strengths:
    """Return worths and ranks of systems with infinite log-odds: their limits for a vanishing prior."""
    standing, _, place = _scores_of(LLBT.from_formula(formula, c).fit(prior=_VANISHING), outcomes)
    nothing = np.full(len(standing), np.nan)
    tied = bool(outcomes.counts[:, 1].any())
    return Strengths(nothing, _worths(standing), nothing, None, tied, place, notes, standing)


def _separated_note(error: SeparationError) -> str:
    return Qualifying(
        f"No finite scores ({error.found}). Ranks, worths and probabilities are the limits for a prior near 0."
    )


def _tie_notes(outcomes: Outcomes, ties: Ties) -> tuple[str, ...]:
    tied = float(outcomes.counts[:, 1].sum())
    if not tied:
        return ()
    reading = {
        "davidson": "modelled by one tie effect (Davidson)",
        "half": "counted as half a win for each side",
        "drop": "left out",
    }
    return (f"{counted(tied, 'tie')} in {format_count(outcomes.n_games)} comparisons: {reading[ties]}",)


def _worths(log_odds: FloatArray) -> FloatArray:
    made = np.exp(log_odds - log_odds.max())
    return np.asarray(made / made.sum())


def _by_recursion(outcomes: Outcomes, ties: Ties) -> Strengths:
    wins = win_matrices(outcomes, outcomes.counts[None], ties)
    if wins.any():
        check_connected(outcomes.comparisons(ties_applied(outcomes.counts, ties)))
    worth, steps = recursion(wins)
    if np.isnan(worth).any():
        never = [label for label, won in zip(outcomes.systems, wins[0].sum(axis=1), strict=True) if not won]
        raise SeparationError(
            f"algorithm='mm' divides 0 by 0: {listed(never)} never won, and have no decided comparison with each "
            "other, so their worths tend to 0 in unknown order",
            "Leave them out, or pass ties='half'.",
        )
    with np.errstate(divide="ignore"):
        logs = np.log(worth[0])
    zero = np.isneginf(logs)
    log_odds = logs - logs[~zero].mean()
    notes = [f"MM stopped after {counted(int(steps[0]), 'step')}, short of the maximum: algorithm='exact' reaches it"]
    if zero.any():
        gone = [label for label, none in zip(outcomes.systems, zero, strict=True) if none]
        notes.append(f"{listed(gone)} never won: worth 0, log-odds −∞, the others centred without them")
    nothing = np.full(len(log_odds), np.nan)
    place = np.arange(len(log_odds))
    return Strengths(
        log_odds,
        worth[0],
        nothing,
        None,
        bool(outcomes.counts[:, 1].any()),
        place,
        (*_tie_notes(outcomes, ties), *notes),
    )


def win_matrices(outcomes: Outcomes, counts: FloatArray, ties: Ties) -> FloatArray:
    """Return wins of the row over the column of B tables (B, P, 3), shape (B, N, N)."""
    won = ties_applied(counts, ties)
    size = len(outcomes.systems)
    made = np.zeros((len(counts), size, size))
    i, j = outcomes.pairs.T
    made[:, i, j], made[:, j, i] = won[..., 0], won[..., -1]
    return made


def recursion(wins: FloatArray, epsilon: float = EPSILON) -> tuple[FloatArray, IntArray]:
    """Return the worths (B, N) at which Hunter's MM recursion stops for win matrices (B, N, N), and its steps (B,).

    π_i ← W_i / Σ_j n_ij / (π_i + π_j) for all systems at once, divided by their sum. The recursion starts at equal
    worths and stops when Σ(Δπ)² is below epsilon (Hunter 2004, equation 3; Peyrard et al. 2021). Worths are equal if
    nobody won, and NaN if the recursion divides 0 by 0.
    """
    games, won = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    worth = np.full(won.shape, 1 / won.shape[1])
    steps = np.zeros(len(wins), dtype=np.int64)
    before = np.full(won.shape, 0.5)  # the first step starts from one half each
    active = np.flatnonzero(won.sum(axis=1) > 0)
    for _ in range(_MOST_STEPS):
        if not len(active):
            break
        at = before[active]
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = games[active] / (at[:, :, None] + at[:, None, :])
            terms[:, np.arange(at.shape[1]), np.arange(at.shape[1])] = 0.0
            new = won[active] / terms.sum(axis=2)
            new /= new.sum(axis=1, keepdims=True)
        worth[active] = before[active] = new
        steps[active] += 1
        moving = ((new - at) ** 2).sum(axis=1) >= epsilon  # False for NaN, which stays
        active = active[moving]
    return worth, steps


def resampled_log_odds(
    strengths: Strengths,
    without: Strengths | None,
    outcomes: Outcomes,
    asked: BradleyTerry,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the log-odds of resampled games, shape (B, N); NaN where they are not finite.

    A resample without ties has an infinite tie effect. Its scores come from the model `without`, which has no tie
    effect.
    """
    counts = outcomes.resampled(size, rng)
    if strengths.results is None:
        worth, _ = recursion(win_matrices(outcomes, counts, asked.ties))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(worth > 0, np.log(worth), np.nan)
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))
    drawn = _refitted(strengths, strengths.results, outcomes, counts, asked)
    if without is not None and without.results is not None:
        bare = counts[..., 1].sum(axis=1) == 0
        drawn[bare] = _refitted(without, without.results, outcomes, counts[bare], replace(asked, ties="half"))
    return drawn


def without_ties(strengths: Strengths, outcomes: Outcomes, asked: BradleyTerry) -> Strengths | None:
    """Return a fit of the same pairs without a tie effect, if `strengths` has a tie effect that resamples may lack."""
    if strengths.results is None or asked.prior is not None or not (asked.ties == "davidson" and strengths.has_ties):
        return None
    return _exact(outcomes, replace(asked, ties="half"))


def _refitted(
    strengths: Strengths, res: PlainEstimates, outcomes: Outcomes, counts: FloatArray, asked: BradleyTerry
) -> FloatArray:
    """Return the log-odds of tables (B, P, 3), shape (B, N)."""
    if not len(counts):
        return np.empty((0, len(strengths.place)))
    problem = res.problem()
    applied = ties_applied(counts, asked.ties if problem.response.has_ties or asked.ties == "half" else "drop")
    tables = _in_order(strengths, res, outcomes, applied) + asked.added / problem.counts.shape[1]
    params = fit_many(problem, tables, res.solution.params).params
    rows, _ = centred(res, None)
    return np.asarray(2 * params @ rows.rows[:, res.free].T)[:, strengths.place]


def _in_order(strengths: Strengths, res: PlainEstimates, outcomes: Outcomes, counts: FloatArray) -> FloatArray:
    """Return tables (B, P, C) in the order of the comparisons of the fit, (B, S, C)."""
    size = len(strengths.place)
    i, j = strengths.place[outcomes.pairs].T
    row = np.full((size, size), -1, dtype=np.int64)
    row[i, j] = np.arange(len(i))
    row[j, i] = np.arange(len(i)) + len(i)  # turned round
    both = np.concatenate([counts, counts[..., ::-1]], axis=1)
    a, b = res.comparisons.pairs.T
    return both[:, row[a, b]]
