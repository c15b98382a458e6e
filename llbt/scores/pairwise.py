"""Comparisons of every pair of systems on the same instances: means, medians and wins, with their tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special, stats

from ..base.arguments import Confidence, checked
from ..base.budgets import refuse_square
from ..base.table import counted
from ..classical.pair_tables import Adjust, adjusted_p
from ..classical.sign_rules import Alternative
from ..core.columns import FloatArray, IntArray, Label
from ..data.column_roles import Names
from ..data.system_scores import FIRST, ROUNDING, SECOND, SystemScores, TieRule, as_scores
from ..data.table_readers import from_counts
from ..errors import DesignError, listed
from ..fitting.model import LLBT
from ..inference.log_worths import centred
from .paired_tests import (
    PairedTest,
    cleaned,
    largest,
    median_test,
    moments,
    pair_up,
    row_medians,
    sign_test_of,
    t_test,
    wilcoxon_test,
)
from .pairwise_records import TESTS, PairwiseScores, ScoreTest, adjust_line, missing_notes

_UNDEFINED: dict[ScoreTest, tuple[str, str]] = {  # the test, and where it is not defined
    "t": ("paired t", "differences do not vary"),
    "median": ("Mood's median test", "no score lies above the common median"),
    "sign": ("sign test", "ties only"),
    "wilcoxon": ("Wilcoxon's test", "no difference"),
}
_MOST_VALUES = 2**18  # differences at a time: they stay in the processor's cache


@checked
def pairwise(
    frame: object,
    *,
    adjust: Adjust = "holm",
    alternative: Alternative = "two-sided",
    confidence: Confidence = 0.95,
    system: str | None = None,
    item: Names = (),
    score: Names = (),
    rater: str | None = None,
    ignore: Names = (),
) -> PairwiseScores:
    """Compare every pair of systems on their common instances: means, medians, wins, and their tests.

    Parameters
    ----------
    frame : frame, path, list of records or SystemScores
        Wide (one row per item, one column per system), long (a row for each system and item) or with a system in each
        row. Pass `scores.SystemScores` if lower scores are better: differences and wins are then of the negated scores,
        so positive values mean that i is better. Or pass it for a threshold of ties, which affects wins, win odds, the
        sign test and the Bradley-Terry model, but not the other tests.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the number of pairs, separately for each test.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: i is better.
    confidence : float
        The level of the intervals of the mean difference, which are always two-sided.
    system, item, score, rater, ignore
        Columns of a frame, as in `scores.SystemScores.from_frame`; by default found by their names and values. Scores
        of several raters are averaged within items.

    Returns
    -------
    PairwiseScores
        ``to_frame()``: object_i, object_j, n, mean_difference, conf_low, conf_high, median_difference (of the
        differences), difference_of_medians, wins_i, ties, wins_j, win_share, bt_probability, cohen_dz, win_odds,
        rank_biserial, p_t, p_median, p_sign, p_wilcoxon (adjusted). ``test_table()`` has statistics and unadjusted
        p-values, ``significance()`` the agreement of the tests, ``probabilities()`` matrices of P(i > j).

    Raises
    ------
    JudgmentError
        For frames that cannot be read as scores.

    Notes
    -----
    Each mechanism has its test [1]_. The mean has the paired t test, with Cohen's d_z = mean/SD of the differences. The
    median has Mood's median test, with Yates' correction: it counts each system's scores above the common median, and
    takes the two samples as independent (one-sided p-values use the signed root of χ²). Bradley-Terry, for one pair of
    systems, has the exact sign test without ties. The fourth test is Wilcoxon's signed-rank test without differences of
    0. Up to 50 differences it is exact, with average ranks for equal differences. With more differences it is the
    normal approximation with the variance corrected for equal differences, without continuity correction. The effect
    sizes of the last two tests are the win odds (wins_i + ties/2)/(wins_j + ties/2) [2]_ and the matched-pairs
    rank-biserial correlation (R₊ − R₋)/(R₊ + R₋) [3]_.

    Win share is the share of instances that i wins, with half of the ties. bt_probability comes from the Bradley-Terry
    model, fitted to the wins of all pairs, without ties, by maximum likelihood; NaN without a finite estimate. Scores
    are equal, and differences 0, within a relative 1e-12. Instances are taken as independent.

    References
    ----------
    .. [1] Peyrard, M., Zhao, W., Eger, S. & West, R. (2021). Better than average: paired evaluation of NLP systems.
       ACL, 2301-2315.
    .. [2] Dong, G., Hoaglin, D. C., Qiu, J. et al. (2020). The win ratio: on interpretation and handling of ties.
       Statistics in Biopharmaceutical Research 12(1), 99-106.
    .. [3] Kerby, D. S. (2014). The simple difference formula: an approach to teaching nonparametric correlation.
       Comprehensive Psychology 3, 11.IT.3.1.

    Examples
    --------
    One outlier decides the mean of A, but B wins every other instance:

    >>> import llbt
    >>> import pandas as pd
    >>> pairs = llbt.scores.pairwise(pd.DataFrame({"A": [9.0, 1, 2, 3, 4, 5, 6, 7], "B": [1.0, 2, 3, 4, 5, 6, 7, 8]}))
    >>> frame = pairs.to_frame()
    >>> frame[["mean_difference", "wins_i", "wins_j"]].values.tolist()
    [[0.125, 1.0, 7.0]]
    >>> frame[["p_t", "p_sign"]].round(3).values.tolist()
    [[0.915, 0.07]]
    """
    scores = as_scores(frame, system=system, item=item, score=score, rater=rater, ignore=ignore)
    refuse_square("the table of all pairs", len(scores.systems))
    pairs = np.column_stack(np.triu_indices(len(scores.systems), 1)).astype(np.int64)
    compared = _joined(list(_by_block(scores, pairs, alternative)))
    return _record(scores, pairs, compared, (adjust, alternative, float(confidence)))


@dataclass(frozen=True, eq=False)
class _Compared:
    """The results for P pairs, each array with P rows; the attributes are those of `PairwiseScores`."""

    n: IntArray
    counts: FloatArray
    mean: FloatArray
    deviation: FloatArray
    median_difference: FloatArray
    difference_of_medians: FloatArray
    tests: dict[ScoreTest, PairedTest]


def _by_block(scores: SystemScores, pairs: IntArray, alternative: Alternative) -> Iterator[_Compared]:
    values = scores.better
    size = max(1, _MOST_VALUES // values.shape[1])
    for start in range(0, len(pairs), size):
        i, j = pairs[start : start + size].T
        yield _compare(values[i], values[j], scores.rule, alternative)


def _compare(i: FloatArray, j: FloatArray, rule: TieRule, alternative: Alternative) -> _Compared:
    """Compare the scores (P, M) of either side."""
    scores = pair_up(i, j)
    difference, larger = scores.i - scores.j, scores.larger
    scale, distance = largest(larger), np.abs(difference)
    outcomes, n = rule.outcomes(scores.i, scores.j), scores.n
    wins_i, wins_j = (np.count_nonzero(outcomes == side, axis=1) for side in (FIRST, SECOND))
    counts = np.column_stack([wins_i, n - wins_i - wins_j, wins_j]).astype(np.float64)
    mean, deviation = moments(difference, scale)
    return _Compared(
        n,
        counts,
        mean,
        deviation,
        cleaned(row_medians(difference), scale),
        cleaned(row_medians(scores.i) - row_medians(scores.j), scale),
        {
            "t": t_test(mean, deviation, n, alternative),
            "median": median_test(scores, alternative),
            "sign": sign_test_of(counts, alternative),
            "wilcoxon": wilcoxon_test(difference, distance <= ROUNDING * larger, scale, alternative),
        },
    )


def _joined(blocks: Sequence[_Compared]) -> _Compared:
    tests: dict[ScoreTest, PairedTest] = {}
    for name in TESTS:
        parts = [block.tests[name] for block in blocks]
        tests[name] = PairedTest(
            np.concatenate([part.statistic for part in parts]),
            np.concatenate([part.df for part in parts]),
            np.concatenate([part.p_value for part in parts]),
            np.concatenate([part.effect for part in parts]),
        )
    return _Compared(
        np.concatenate([block.n for block in blocks]),
        np.concatenate([block.counts for block in blocks]),
        np.concatenate([block.mean for block in blocks]),
        np.concatenate([block.deviation for block in blocks]),
        np.concatenate([block.median_difference for block in blocks]),
        np.concatenate([block.difference_of_medians for block in blocks]),
        tests,
    )


def _record(
    scores: SystemScores,
    pairs: IntArray,
    compared: _Compared,
    options: tuple[Adjust, Alternative, float],
) -> PairwiseScores:
    adjust, alternative, confidence = options
    lower = "lower scores are better: differences and wins of the negated scores"
    threshold = scores.rule.threshold
    quantile = stats.t.isf((1 - confidence) / 2, np.where(compared.n > 1, compared.n - 1.0, np.nan))
    half = quantile * compared.deviation / np.sqrt(np.maximum(compared.n, 1))
    half[compared.deviation == 0] = np.nan
    chances, bt_note = _bradley_terry(scores.systems, pairs, compared.counts)
    p_values = {name: test.p_value for name, test in compared.tests.items()}
    return PairwiseScores(
        scores.systems,
        pairs,
        compared.n,
        compared.counts,
        compared.mean,
        compared.mean - half,
        compared.mean + half,
        compared.median_difference,
        compared.difference_of_medians,
        chances,
        compared.tests,
        {name: adjusted_p(p, adjust) for name, p in p_values.items()},
        alternative,
        adjust,
        confidence,
        (
            adjust_line(adjust),
            *(() if scores.higher_is_better else (lower,)),
            *((f"ties: scores within {threshold:g}",) if threshold else ()),
            *scores.notes_beside(),
            *missing_notes(len(scores.instances), compared.n),
            *_undefined(compared),
            bt_note,
        ),
    )


def _bradley_terry(systems: Sequence[Label], pairs: IntArray, counts: FloatArray) -> tuple[FloatArray, str]:
    """Return P(i > j) of the pairs in the model of all systems, and its notes."""
    decided = counts[:, [0, 2]].sum(axis=1) > 0
    sides = [[systems[k] for k in column] for column in pairs[decided].T]
    nothing = np.full(len(pairs), np.nan)
    if not decided.any():
        return nothing, "BT: NA, there are ties only"
    wins = dict(zip(("object_i", "object_j", "wins_i", "wins_j"), (*sides, *counts[decided][:, [0, 2]].T), strict=True))
    try:
        res = LLBT.from_formula("object", from_counts(pd.DataFrame(wins), ties_column=None)).fit()
    except DesignError as error:
        return nothing, f"BT: NA, {error.found}"
    known = dict(zip(res.comparisons.objects, centred(res, None)[0].estimate, strict=True))
    log_worth = np.array([known.get(label, np.nan) for label in systems])
    left = [label for label in systems if label not in known]
    i, j = pairs.T
    note = "BT: P(i > j) in the Bradley-Terry model of all systems, ties left out"
    note += f"; NA for {listed(left)}, without a win or loss" if left else ""
    return np.asarray(special.expit(2 * (log_worth[i] - log_worth[j]))), note


def _undefined(compared: _Compared) -> tuple[str, ...]:
    """Return notes on the number of pairs for which a test is not defined, and the reason."""
    some = compared.n > 0
    gone = {name: some & np.isnan(test.p_value) for name, test in compared.tests.items()}
    single = int(np.sum(gone["t"] & (compared.n == 1)))
    gone["t"] = gone["t"] & (compared.n > 1)
    notes = [
        f"{_UNDEFINED[name][0]}: NA in {counted(int(rows.sum()), 'pair')}, {_UNDEFINED[name][1]}"
        for name, rows in gone.items()
        if rows.any()
    ]
    return (*notes, *((f"{_UNDEFINED['t'][0]}: NA in {counted(single, 'pair')} with one instance",) if single else ()))
