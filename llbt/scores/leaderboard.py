"""The leaderboard of systems scored on the same instances: rank ranges, significance clusters, and their tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.arguments import Confidence, Count, Jobs, Rng, checked
from ..base.budgets import refuse_square
from ..base.table import Qualifying, counted, format_count, format_number
from ..classical.pair_tables import Adjust, adjust_note, adjusted_p
from ..core.columns import FloatArray, IntArray, Label
from ..data.column_roles import Names
from ..data.system_scores import SystemScores, as_scores
from ..errors import JudgmentError, OptionError
from ..kernel.robust import effective_clusters
from ..resampling import Resampler
from .adjusted_means import adjusted_means
from .board_counts import are_right_or_wrong, has_gaps
from .board_tests import BoardPairs, BoardTest, board_pairs, least_p
from .board_units import means_of_domains, units_of
from .grouped_tests import Units, covariance, means
from .leaderboard_result import EQUAL, Grouping, ScoreLeaderboard, refuse_many_letters
from .outcomes import refuse_without_scores
from .pairwise_records import missing_notes
from .sign_flips import random_flip_p

_FEWEST_DRAWS = 9_999
_LARGEST = 1e150
_WILCOXON = ("Wilcoxon assumes symmetric differences; Peyrard et al. (2021) advise a sign test.",)
_FINER = 10  # how far below the level the smallest p-value of random exchanges can be, adjusted


@checked
def leaderboard(
    frame: object,
    *,
    test: BoardTest = "wilcoxon",
    groups: Grouping = "clusters",
    by: str | None = None,
    macro: str | None = None,
    adjust: Adjust = "holm",
    confidence: Confidence = 0.95,
    n: Count | None = None,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
    system: str | None = None,
    item: Names = (),
    score: Names = (),
    rater: str | None = None,
    ignore: Names = (),
) -> ScoreLeaderboard:
    """Return the leaderboard of systems scored on the same instances: means, rank ranges and groups.

    Parameters
    ----------
    frame : frame, path, list of records or SystemScores
        Wide (one row per item, one column per system), long (a row for each system and item) or with a system in each
        row. Pass `scores.SystemScores` if lower scores are better, or for a threshold of ties. The threshold affects
        wins, ties and Borda points, but not the tests.
    test : {"wilcoxon", "t", "mcnemar", "permutation"}
        The two-sided test of every pair of systems, on the instances for which both have a score: Wilcoxon's signed
        ranks (Peyrard et al. 2021 advise the sign test instead, see `scores.pairwise`); the paired t test; McNemar's
        exact test, for scores of 0 and 1; or the permutation test of the mean difference, which exchanges the scores of
        instances.
    groups : {"clusters", "letters", "leader"}
        ``"clusters"``: breaks where every system above is significantly better than every system below, as in WMT;
        ``"letters"``: systems that share a letter do not differ significantly; ``"leader"``: the first system leads all
        systems that are not significantly worse, the first of the others leads in the same way, and so on.
    by : str, optional
        The column with the document or task of each instance. Instances of one document may depend on each other:
        standard errors and the t test leave out each document in turn; in the other tests whole documents change sides.
    macro : str, optional
        The column whose values (tasks, domains) count equally: the mean of a system is the average of its means within
        each value. If ``by=`` names the same column, each of its values is one instance, so tests are over tasks.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the number of pairs.
    confidence : float
        A pair differs significantly if its adjusted p-value is below 1 − `confidence`.
    n : int, optional
        Number of random exchanges of a permutation test with more than 24 instances (or documents) with a difference;
        up to 24 the test is exact. The default is 9,999, or more if this is needed so that adjusted p-values (Holm,
        Bonferroni) can be a tenth of the level.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar over random exchanges.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.
    system, item, score, rater, ignore
        Columns of a frame, as in `scores.SystemScores.from_frame`; by default found by their names and values. If
        `rater` is named, standard errors and tests are clustered by rater, as with ``by=``; otherwise several raters
        are averaged within items.

    Returns
    -------
    ScoreLeaderboard
        object, estimate (the mean, adjusted for missing instances), std_error, rank (of the estimates), rank_low,
        rank_high, significance_cluster (or group, or leader), wins, ties, losses (over opponents and instances),
        win_share (ties half), borda, borda_rank (by win_share), n and missing (instances), plain_mean (of the instances
        that a system has); the best first. ``by_pair()`` has the test of every pair: object_i, object_j, n, estimate,
        wins_i, ties, wins_j, statistic, p_value, p_adjusted.

    Raises
    ------
    JudgmentError
        For frames that cannot be read as scores, systems without a score, instances without a value of `by`, and scores
        beyond 1e150.
    OptionError
        For McNemar's test of scores other than 0 and 1.
    DesignError
        For a single document or task, and if more than 52 letters are needed.

    Notes
    -----
    rank_low is 1 + the number of systems that are significantly better. rank_high is N minus the number that are
    significantly worse (Mogstad et al. 2024). With Holm's and Bonferroni's adjustment the ranges hold for all systems
    together. A test may prefer the system with the lower mean, because signed ranks are not means, and because with
    missing scores the means are over different instances. A note counts the pairs where this is significant. A rank may
    then lie outside its range.

    Missing scores are counted. A system that lacks hard instances has a high mean on the others. So with missing
    scores, estimates come from the two-way model x_si = a_s + b_i + error, by least squares: a_s plus the mean of b is
    the expected mean on all instances. plain_mean is the mean of the system's own instances. Tests, wins and Borda
    points of a pair use the instances that both have. (On a task that a model lacks, MTEB's Borda count gives the model
    no points, and every other model a point against it.)

    With ``macro=`` the t test compares averages of domain means. The variance is the sum of the variances within the D
    domains divided by D², with Satterthwaite's degrees of freedom: domains are fixed, and instances are sampled within
    them. The permutation test weights differences as the average does. Signed ranks and McNemar's wins have no weights:
    all instances count equally. The script of WMT24's official ranking (humeval/tools.py of wmt24-news-systems,
    November 2024) ranks by averages over domains, too. It tests each pair within each domain by Wilcoxon's two-sided
    test, and combines the p-values by Stouffer's method, without adjustment for the number of pairs. Two domains that
    favour different systems then add up to one significant difference; in the t test here they cancel out.

    Borda points count the systems beaten on each instance, with half a point for a tie. For complete scores they are N
    minus the average rank, summed over the instances. The win share is the number of points per comparison.

    Without documents, std_error is s/√n. With G documents of n_g instances, each document is left out in turn (CR3,
    Bell & McCaffrey 2002): std_error is √((G − 1)/G Σ_g (s_g/(1 − n_g/n))²)/n with s_g = Σ_(m in g) (x_m − x̄). If all
    documents have the same size, this is the clustered error of Miller (2024). The t test uses it, with G* − 1 degrees
    of freedom, where G* = n²/Σ n_g² is the effective number of documents; below two there is no test. The other tests
    assume that under the null hypothesis all scores of a document may be exchanged between two systems. They change the
    signs of the documents' sums: of signed ranks (Rosner, Glynn & Lee 2006), of wins minus losses, or of differences.
    With up to 24 documents whose sum is not 0, all signs are enumerated. With more, signed ranks use the normal
    distribution, and differences use random signs. McNemar's test remains exact up to 32,768 instances that only one of
    the two systems gets right.

    In 3,000 simulated pairs of equal systems (14 documents of 5 instances, with half of the variance between
    documents), tests at 5 % reject 4 % (McNemar's) to 5.5 % if they allow for documents. If they ignore documents, they
    reject 16 % (McNemar's) to 27 %. Among five equal systems on 8, 20 and 50 documents of very unequal size (10 e^N(0,
    1) instances, 2,000 tables each) the t test finds some difference in 3, 4 and 4 % of tables
    (`tests/simulations/leaderboard_documents.json`).

    The adjustment is for all pairs, whatever `groups` shows: a leader chosen by the same scores cannot be tested as if
    it had been named in advance.

    References
    ----------
    Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
    samples. Survey Methodology 28(2), 169-181.
    Bojar, O. et al. (2013). Findings of the 2013 Workshop on Statistical Machine Translation. WMT, 1-44.
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
    Psychometrika 12(2), 153-157. Miller, E. (2024). Adding error bars to evals. arXiv:2411.00640. Mogstad, M., Romano,
    J. P., Shaikh, A. M. & Wilhelm, D. (2024). Inference for ranks. Review of Economic Studies 91(1), 476-518. Piepho,
    H.-P. (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of Computational
    and Graphical Statistics 13(2), 456-466. Rosner, B., Glynn, R. J. & Lee, M.-L. T. (2006). The Wilcoxon signed rank
    test for paired comparisons of clustered data. Biometrics 62(1), 185-192.

    Examples
    --------
    Three systems are right (1) or wrong (0) on the same 40 tasks:

    >>> import llbt
    >>> import pandas as pd
    >>> right = pd.DataFrame({"A": [1] * 30 + [0] * 10, "B": [1] * 28 + [0] * 12, "C": [1] * 12 + [0] * 28})
    >>> board = llbt.scores.leaderboard(right, test="mcnemar")
    >>> board.to_frame()[["object", "estimate", "rank_low", "rank_high", "significance_cluster"]].values.tolist()
    [['A', 0.75, 1, 2, 1], ['B', 0.7, 1, 2, 1], ['C', 0.3, 3, 3, 2]]
    >>> board.by_pair().to_frame()["p_value"].round(5).tolist()
    [0.5, 1e-05, 3e-05]
    """
    asked = _Asked(
        test, groups, adjust, float(confidence), n, Resampler.of("scores.leaderboard", rng, n_jobs, progress)
    )
    if rater is not None and by is not None:
        raise OptionError(f"by={by!r} and rater={rater!r}", f"Leave rater= out: by={by!r} averages over raters.")
    scores = as_scores(
        frame,
        tuple(dict.fromkeys(name for name in (by, macro) if name is not None)),
        system=system,
        item=item,
        score=score,
        rater=rater,
        ignore=ignore,
        by_rater=by is None,
    )
    if macro is not None and macro == by:
        scores, by = means_of_domains(scores, macro), None
    by = by or scores.rater or None
    refuse_square("the leaderboard", len(scores.systems))
    refuse_without_scores(scores.systems, scores.values, len(scores.instances))
    _refuse_extremes(scores)
    if test == "mcnemar":
        _refuse_grades(scores)
    units = units_of(scores, by, None if macro == scores.instance else macro)
    standing = _standing(scores, units)
    values = scores.better
    pairs = np.column_stack(np.triu_indices(len(values), 1)).astype(np.int64)
    rows = standing.order[pairs]
    pairs_tested, drawn = _drawn(
        board_pairs(values, rows, scores.rule, units, test, asked.draw.progress), values, rows, units, asked
    )
    there = np.array([np.count_nonzero(~np.isnan(values[k])) for k in standing.order], dtype=np.int64)
    p_adjusted = adjusted_p(pairs_tested.p_value, adjust)
    crossed = int(np.sum((pairs_tested.ahead < 0) & (p_adjusted < 1 - asked.confidence)))
    board = ScoreLeaderboard(
        standing.systems,
        standing.estimate,
        standing.std_error,
        standing.rank,
        there,
        values.shape[1] - there,
        pairs,
        pairs_tested.n,
        pairs_tested.counts,
        pairs_tested.estimate,
        pairs_tested.ahead,
        pairs_tested.statistic,
        pairs_tested.p_value,
        p_adjusted,
        test,
        groups,
        adjust,
        asked.confidence,
        (
            *_about(scores, units, by, asked),
            *_averaged(units, macro, test),
            *drawn,
            *_reservations(values, pairs_tested, asked, crossed, standing.adjusted),
        ),
        standing.plain_mean,
        standing.covariance,
        standing.df,
        scores.higher_is_better,
    )
    if groups == "letters":
        refuse_many_letters(board)
    return board


@dataclass(frozen=True, eq=False)
class _Asked:
    """The options of a leaderboard."""

    test: BoardTest
    groups: Grouping
    adjust: Adjust
    confidence: float
    n: int | None
    draw: Resampler

    def smallest(self, p: float, pairs: int) -> float:
        """Return the smallest possible adjusted p-value of `pairs` tests, if `p` is the smallest possible p-value."""
        return p * pairs if self.adjust in ("holm", "bonferroni") else p

    def draws(self, pairs: int) -> int:
        """Return the number of random exchanges of a permutation test."""
        if self.n is not None:
            return int(self.n)
        return max(_FEWEST_DRAWS, math.ceil(_FINER * self.smallest(1.0, pairs) / (1 - self.confidence)) - 1)


@dataclass(frozen=True, eq=False)
class _Standing:
    """N systems by their means, the best first.

    Attributes
    ----------
    order : ndarray of int, shape (N,)
        Row of each system in the scores.
    systems : tuple, length N
    estimate, std_error, plain_mean : ndarray, shape (N,)
    rank : ndarray of int, shape (N,)
    adjusted : bool
        Whether estimates are adjusted for the instances that each system has.
    covariance : ndarray, shape (N, N)
        Covariance of the estimates; NaN where there is no standard error.
    df : float
        Degrees of freedom of the covariance: the smallest of any system.
    """

    order: IntArray
    systems: tuple[Label, ...]
    estimate: FloatArray
    std_error: FloatArray
    plain_mean: FloatArray
    rank: IntArray
    adjusted: bool
    covariance: FloatArray
    df: float


def _standing(scores: SystemScores, units: Units) -> _Standing:
    values = scores.values
    scale = np.maximum(np.nanmax(values, axis=1), -np.nanmin(values, axis=1))
    plain = means(values, units, scale)
    adjusted = adjusted_means(values, units, scale) if has_gaps(values) else None
    standing = plain if adjusted is None else adjusted[0]
    better = standing.mean if scores.higher_is_better else -standing.mean
    ahead = better[None, :] - better[:, None] > EQUAL * np.abs(better).max()
    rank = 1 + ahead.sum(axis=1)
    order = np.argsort(rank, kind="stable")
    systems = tuple(scores.systems[k] for k in order)
    estimates = standing.mean[order], standing.std_error[order], plain.mean[order]
    cov = covariance(values, units) if adjusted is None else adjusted[1] @ adjusted[1].T
    return _Standing(
        order,
        systems,
        *estimates,
        rank[order],
        adjusted is not None,
        cov[np.ix_(order, order)],
        float(np.min(standing.df)),
    )


def _refuse_extremes(scores: SystemScores) -> None:
    largest = float(max(np.nanmax(scores.values), -np.nanmin(scores.values)))
    if largest > _LARGEST:
        raise JudgmentError(
            f"scores of up to {largest:.3g}, whose squares overflow",
            "Divide all scores by the same number.",
            expected=f"scores of at most {_LARGEST:g}",
        )


def _refuse_grades(scores: SystemScores) -> None:
    for row, values in enumerate(scores.values):
        if are_right_or_wrong(values):
            continue
        column = int(np.flatnonzero(~np.isin(values, (0.0, 1.0)) & ~np.isnan(values))[0])
        raise OptionError(
            f"test='mcnemar' is for scores of 0 and 1, but {scores.systems[row]!r} has "
            f"{format_number(float(scores.values[row, column]))} on {scores.instances[column]!r}",
            "For other scores choose test='wilcoxon', test='t' or test='permutation'.",
            expected="scores of 0 and 1",
        )


def _averaged(units: Units, macro: str | None, test: BoardTest) -> tuple[str, ...]:
    """Return notes on the averages, and on tests without weights."""
    if macro is None:
        return ()
    if not units.parts:
        return (f"each {macro} is one instance, the mean of its scores",)
    alike = "; the test weights all instances equally" if test in ("wilcoxon", "mcnemar") else ""
    return (f"means are averages over {len(units.parts)} values of {macro}, weighted equally{alike}",)


def _drawn(
    tested: BoardPairs, values: FloatArray, pairs: IntArray, units: Units, asked: _Asked
) -> tuple[BoardPairs, tuple[str, ...]]:
    """Return the results with p-values from random exchanges, and notes on these p-values."""
    rows = np.flatnonzero(tested.drawn)
    if not len(rows):
        return tested, ()
    n = asked.draws(len(pairs))
    p_value = tested.p_value.copy()
    p_value[rows] = random_flip_p(values * units.weights, units, pairs[rows], n, asked.draw)
    least = 1 / (n + 1)
    note = f"p-values of {counted(len(rows), 'pair')} by {format_count(n)} random exchanges; none can be below "
    note += format_number(least, 2)
    if asked.smallest(least, len(pairs)) >= 1 - asked.confidence:
        note += f", too large to be significant after adjustment for {counted(len(pairs), 'pair')}: raise n"
    return replace(tested, p_value=p_value), (note,)


def _about(scores: SystemScores, units: Units, by: str | None, asked: _Asked) -> tuple[str, ...]:
    """Return notes on the tests and the data."""
    level = 1 - asked.confidence
    percent, together = f"{100 * asked.confidence:.4g} %", asked.adjust in ("holm", "bonferroni")
    ranges = (
        f"rank ranges are simultaneous, with {percent} confidence" if together else f"{percent} rank range for each"
    )
    threshold = scores.rule.threshold
    return (
        adjust_note(asked.adjust),
        f"two-sided tests at level {level:.4g}; {ranges}",
        *(_WILCOXON if asked.test == "wilcoxon" else ()),
        *(() if by is None else (_grouped(units, by),)),
        *(() if scores.higher_is_better else ("lower scores are better",)),
        *((f"ties: scores within {threshold:g}",) if threshold else ()),
        *scores.notes_beside(() if by is None else (by,)),
    )


def _grouped(units: Units, by: str) -> str:
    number, effective = effective_clusters(units.sizes)
    effective_number = format_number(effective, 3)
    return f"standard errors (CR3) and tests by {format_count(number)} groups of {by} (G* = {effective_number})"


def _reservations(values: FloatArray, pairs: BoardPairs, asked: _Asked, crossed: int, adjusted: bool) -> Sequence[str]:
    """Return notes on scores that are missing, tests that are not defined, and tests that contradict the ranks."""
    notes: list[str] = []
    gaps = int(np.isnan(values).sum()) if has_gaps(values) else 0
    if gaps:
        estimated = (
            "means are adjusted for which instances a system lacks (plain_mean: the mean of its own instances)"
            if adjusted
            else "no shared instances connect all systems, so means over different instances are hardly comparable"
        )
        notes.append(
            Qualifying(
                f"{counted(gaps, 'score')} of {format_count(values.size)} missing: {estimated}. A pair is tested on "
                "the instances that both systems have."
            )
        )
    notes += map(Qualifying, missing_notes(values.shape[1], pairs.n))
    undefined = np.isnan(pairs.p_value) & (pairs.n > 0)
    if undefined.any():
        notes.append(f"{counted(int(undefined.sum()), 'pair')} without a test, {_UNDEFINED[asked.test]}")
    if crossed:
        notes.append(f"{counted(crossed, 'pair')} where the lower-ranked system is significantly better by the test")
    return [*notes, *_too_few(pairs, asked)]


_UNDEFINED: dict[BoardTest, str] = {
    "wilcoxon": "whose scores are all equal: not significant",
    "t": "whose differences do not vary, or with fewer than two effective groups: not significant",
    "mcnemar": "that never differ: not significant",
    "permutation": "without a common instance",
}


def _too_few(pairs: BoardPairs, asked: _Asked) -> tuple[str, ...]:
    """Return a note if no pair can be significant because too few units differ."""
    tested = int(np.sum(~np.isnan(pairs.p_value)))
    least = least_p(pairs.units.tolist(), asked.test)
    if not tested or asked.smallest(least, tested) < 1 - asked.confidence:
        return ()
    return (
        Qualifying(
            f"too few independent differences: no pair among {format_count(tested)} can be significant, as each has at "
            f"most {int(pairs.units.max())}."
            + (" test='t' has no such bound." if int(pairs.n.max()) > 1 else " Read more items.")
        ),
    )
