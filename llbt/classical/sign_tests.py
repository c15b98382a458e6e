"""Sign tests by pair, with several rules for ties, and the likelihood-ratio test of the model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from ..base.arguments import Confidence, checked
from ..base.table import counted, format_count
from ..core.columns import MOST_COUNTED, FloatArray, real_array
from ..core.statistics import TestResult, ratio
from ..errors import JudgmentError, safe_repr
from . import sign_rules
from .pair_counts import PairCounts
from .pair_tables import Adjust, absent_pairs, adjust_note, adjusted_p
from .sign_records import LLBTTests, SignTests
from .sign_rules import RULES, Alternative, Interval, Ties
from .unit_verdicts import pair_verdicts

_CLAIMS = {
    "two-sided": "",
    "greater": "; one-sided p-values, alternative: λ_i > λ_j",
    "less": "; one-sided p-values, alternative: λ_i < λ_j",
}
_FEW = 20  # decided judgments below which χ² is too far from the distribution of the likelihood ratio
_INTERVALS = {"wilson": "Wilson's", "clopper-pearson": "Clopper and Pearson's"}


@checked
def sign_test(
    data: object,
    *,
    ties: Ties = "drop",
    unit: str | None = None,
    alternative: Alternative = "two-sided",
    exact: bool = True,
    adjust: Adjust = "holm",
    confidence: Confidence = 0.95,
    interval: Interval = "wilson",
) -> SignTests:
    """Test for every pair whether one object is preferred to the other: the sign test, with a rule for ties.

    Parameters
    ----------
    data : Comparisons, frame, path or list of records
        A table of counts, or judgments in any form that `read_judgments` reads. Counts are summed over covariates and
        over both orders of display; ``c.select(where={"judge": "A"})`` of a table `c` selects one judge.
    ties : str
        The rule for ties. These rules test P(i) = P(j): ``"drop"`` leaves ties out; ``"split"`` gives half to either
        side; ``"proportional"`` divides them in proportion to the wins; ``"asymptotic-ump"`` compares (n_i − n_j)/√(n_i
        + n_j) with the normal distribution and ignores `exact`; ``"trinomial"`` compares n_i − n_j with its
        distribution at the observed share of ties. These rules demand more than P(i) > P(j): ``"median"`` counts ties
        against the side that is tested to be better, ``"two-thirds"`` counts two thirds of them against it.
    unit : str, optional
        The unit with one verdict: ``"judgment"``, or a column such as ``"prompt"``, whose judgments of a pair count
        once, for the object that wins more of them. By default the prompt if it is recorded, otherwise the judgment.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: object_i is preferred.
    exact : bool
        True: the binomial or trinomial distribution; False: its normal approximation, also for counts that are not
        whole.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the number of pairs.
    confidence : float
    interval : {"wilson", "clopper-pearson"}
        The interval of the share of wins, which is two-sided for every alternative.

    Returns
    -------
    SignTests
        object_i, object_j, wins_i, ties, wins_j, n, estimate, conf_low, conf_high, statistic, p_value, p_adjusted;
        one row per pair with a judgment.

    Raises
    ------
    JudgmentError
        For counts that are not whole in an exact test, without judgments, and for a `unit` that the judgments do not
        have.
    OptionError
        For invalid options.

    Notes
    -----
    With n_i wins of i, t ties, n_j wins of j, m = n_i + n_j and n = m + t, the wins x of i out of N are compared with
    Bin(N, 1/2), or (2x − N)/√N with the normal: drop x = n_i, N = m; split x = n_i + t/2, N = n (Dixon & Mood 1946);
    proportional x = n_i + t·n_i/m, N = n; two-thirds x = n_i + t/3, N = n; median x = n_i, N = n. Exact tests give both
    sides the integer part of their share; a remaining tie counts for neither side (split, proportional) or against the
    side tested to be better (two-thirds). For the last two rules, the test in the other direction exchanges i and j,
    and the two-sided p-value is twice the smaller p-value, at most 1.

    Coakley & Heise (1996) add two thirds of the zeros to the positive differences. Here two thirds of the ties go to
    the side tested to be worse, and the test rejects if its count n_j + 2t/3 is small. A test that rejects for large
    n_i + 2t/3 would reject equal chances whenever there are many ties.

    In the median test a tie counts like a loss: it tests whether an object wins more than half of all judgments
    (Dey, Manjourides & Randles 2019). Dras (2015) quotes different advice by Randles (2001): ties should count against
    a preference, but less than losses do. ``"split"`` and ``"two-thirds"`` follow it. Dras's p = .0088 for the data of
    the example is Wald's test of the model (`model_test`).

    The normal approximations of drop and trinomial are the asymptotic-ump test, which Coakley & Heise recommend. For
    models of ties see Rayner & Best (1999), for policies on "no preference" Ennis & Ennis (2012), for trinomial Bian,
    McAleer & Wong (2011). If a rule drops ties and a pair has only ties, its p-value is NaN.

    Units are taken as independent of each other. Judgments of one prompt, in both orders or by several judges, are
    usually correlated: 60 prompts judged in both orders are 60 verdicts, not 120. A verdict is a tie if both objects
    win equally often. If each pair has only one prompt, the default unit is the judgment.

    References
    ----------
    .. [1] Dixon, W. J. & Mood, A. M. (1946). The statistical sign test. Journal of the American Statistical Association
       41(236), 557-566.
    .. [2] Coakley, C. W. & Heise, M. A. (1996). Versions of the sign test in the presence of ties. Biometrics 52(4),
       1242-1251.
    .. [3] Rayner, J. C. W. & Best, D. J. (1999). Modelling ties in the sign test. Biometrics 55(2), 663-665.
    .. [4] Randles, R. H. (2001). On neutral responses (zeros) in the sign test and ties in the Wilcoxon-Mann-Whitney
       test. The American Statistician 55(2), 96-101.
    .. [5] Bian, G., McAleer, M. & Wong, W.-K. (2011). A trinomial test for paired data when there are many ties.
       Mathematics and Computers in Simulation 81(6), 1153-1160.
    .. [6] Ennis, D. M. & Ennis, J. M. (2012). Accounting for no difference/preference responses or ties in choice
       experiments. Food Quality and Preference 23(1), 13-17.
    .. [7] Dey, R., Manjourides, J. & Randles, R. H. (2019). On zeroes in sign and signed rank tests. Pakistan Journal
       of Statistics and Operation Research 15(2), 319-328.

    Examples
    --------
    >>> import llbt
    >>> test = llbt.classical.sign_test(llbt.load_dataset("dras_modpref"))
    >>> test.to_frame()[["wins_i", "wins_j", "n"]].values.tolist()
    [[61, 35, 96]]
    >>> round(float(test.p_value[0]), 5)
    0.01035
    """
    verdicts = pair_verdicts(data, unit)
    pairs, counts = verdicts.pairs, verdicts.counts
    exact = exact and ties != "asymptotic-ump"
    if exact:
        _check_whole(pairs, counts)
    counted = sign_rules.count_wins(ties, counts, whole=exact)
    wins = counted.wins(alternative)
    statistic, p_value = _tested(ties, counts, counted, alternative, exact)
    low, high = sign_rules.share_interval(wins, counted.n, interval, confidence)
    kind = f"intervals: {_INTERVALS[interval]}, two-sided"
    return SignTests(
        *pairs.sides,
        counts,
        counts.sum(axis=1) if ties == "trinomial" else np.nan_to_num(counted.n),
        ratio(wins, counted.n),
        low,
        high,
        statistic,
        p_value,
        adjusted_p(p_value, adjust),
        ties,
        alternative,
        exact,
        float(confidence),
        verdicts.unit,
        (
            RULES[ties].remark,
            kind,
            adjust_note(adjust),
            *verdicts.notes,
            *absent_pairs(pairs),
            *_all_ties(counts, ties),
        ),
    )


@checked
def model_test(
    data: object, *, unit: str | None = None, alternative: Alternative = "two-sided", adjust: Adjust = "holm"
) -> LLBTTests:
    """Test for every pair whether its objects have the same worth, in the model ``object + tie`` of this pair alone.

    Parameters
    ----------
    data : Comparisons, frame, path or list of records
        As in `sign_test`.
    unit : str, optional
        As in `sign_test`.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: object_i has the larger worth. One-sided p-values come from the signed root of the statistic.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None
        How the p-values of the likelihood ratio are adjusted for the number of pairs.

    Returns
    -------
    LLBTTests
        object_i, object_j, wins_i, ties, wins_j, estimate (log-odds 2(λ_i − λ_j)), std_error, wald_statistic,
        wald_p_value, statistic (likelihood ratio), df, p_value, p_adjusted; one row per pair with a judgment.

    Raises
    ------
    JudgmentError
        Without judgments, and for a `unit` that the judgments do not have.
    OptionError
        For invalid options.

    Notes
    -----
    The tie effect fits the ties of a pair exactly, even under λ_i = λ_j. So only the m = n_i + n_j decided judgments,
    or verdicts of units, enter: G² = 2(n_i log(2n_i/m) + n_j log(2n_j/m)). ``llbt.anova`` gives the same for the fits
    with and without ``object``; the log-odds are log(n_i/n_j) with variance 1/n_i + 1/n_j. Other pairs are not used;
    for a test that uses all pairs see ``llbt.pairwise``.

    If m is small, χ² rejects equal worths too often: at the 5 % level it rejects 10.9 % of tables with m = 10 and 25 %
    with m = 3. Below m = 20 the p-value is exact: the probability of a more extreme division of the m judgments under
    Bin(m, 1/2), plus half the probability of equally extreme ones (mid-p). This is the limit of a parametric bootstrap,
    and rejects in at most 7.7 %. A note counts these pairs. Fractional counts are always compared with χ².

    References
    ----------
    Lancaster, H. O. (1961). Significance tests in discrete distributions. Journal of the American Statistical
    Association 56(294), 223-234.

    Dras, M. (2015). Evaluating human pairwise preference judgments. Computational Linguistics 41(2), 337-345.

    Examples
    --------
    >>> import llbt
    >>> test = llbt.classical.model_test(llbt.load_dataset("dras_modpref"))
    >>> [round(float(x), 4) for x in (test.estimate[0], test.statistic[0], test.p_value[0])]
    [0.5555, 7.1304, 0.0076]
    """
    verdicts = pair_verdicts(data, unit)
    pairs, counts = verdicts.pairs, verdicts.counts
    i, j = counts[:, 0], counts[:, 2]
    half = (i + j) / 2
    fall = np.where(half > 0, 2 * (special.rel_entr(i, half) + special.rel_entr(j, half)), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.log(i) - np.log(j)  # −∞ or ∞ without a win; NaN without either
        error = np.where((i > 0) & (j > 0), np.sqrt(1 / i + 1 / j), np.nan)
    wald = ratio(estimate, error)
    few = (i + j < _FEW) & (i == np.floor(i)) & (j == np.floor(j))
    root = np.sign(i - j) * np.sqrt(np.maximum(fall, 0.0))
    p_value = np.where(few, sign_rules.mid_p(i, j, alternative), sign_rules.normal_p(root, alternative))
    return LLBTTests(
        *pairs.sides,
        counts,
        estimate,
        error,
        wald,
        sign_rules.normal_p(wald, alternative),
        fall,
        p_value,
        adjusted_p(p_value, adjust),
        verdicts.unit,
        (
            "log-odds 2(λ_i − λ_j)" + _CLAIMS[alternative],
            adjust_note(adjust),
            *verdicts.notes,
            *absent_pairs(pairs),
            *_small_pairs(few & (i + j > 0), verdicts.unit),
            *_one_sided_pairs(i, j),
            *_all_ties(counts, "drop"),
        ),
    )


@checked
def mcnemar_test(table: Any, *, exact: bool = True, correction: bool = True) -> TestResult:
    """Test whether two systems are right equally often on the same inputs (McNemar's test).

    Parameters
    ----------
    table : array_like or DataFrame, shape (2, 2)
        Numbers of inputs: rows are the outcomes of the first system, columns the outcomes of the second, in the same
        order, as in ``pandas.crosstab(first, second)``.
    exact : bool
        True: the exact sign test of the two cells where the systems differ; False: χ² with one degree of freedom.
    correction : bool
        Whether χ² is corrected for continuity; as in R, there is no correction if these cells are equal.

    Returns
    -------
    TestResult
        The statistic is the smaller of the two cells (exact, df NaN) or χ².

    Raises
    ------
    JudgmentError
        For anything but a table of four whole counts.

    References
    ----------
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
    Psychometrika 12(2), 153-157.

    Examples
    --------
    >>> import llbt
    >>> test = llbt.classical.mcnemar_test([[101, 121], [59, 33]], exact=False)
    >>> round(test.statistic, 4), test.df
    (20.6722, 1.0)
    """
    from statsmodels.stats.contingency_tables import mcnemar

    counts = _two_by_two(table)
    b, c = counts[0, 1], counts[1, 0]
    name, null = "McNemar's test", "both systems are right equally often"
    distribution, df = ("binomial", math.nan) if exact else ("chi2", 1.0)
    where = f"{format_count(b)} above the diagonal of the table, {format_count(c)} below"
    note = f"the systems differ on {counted(b + c, 'input')}: {where}"
    if b + c == 0:
        notes = (note, "the systems never differ, so there is nothing to test")
        return TestResult(name, null, math.nan, df, math.nan, distribution, notes)
    test = mcnemar(counts, exact=exact, correction=correction and b != c)
    return TestResult(name, null, float(test.statistic), df, float(test.pvalue), distribution, (note,))


# -- what the tests share -------------------------------------------------------------------------------------


def _check_whole(pairs: PairCounts, counts: FloatArray) -> None:
    odd = np.flatnonzero((counts != np.floor(counts)).any(axis=1))
    if odd.size:
        k = int(odd[0])
        object_i, object_j = (side[k] for side in pairs.sides)
        raise JudgmentError(
            f"{counted(odd.size, 'pair')} with counts that are not whole, the first {object_i!r} "
            f"and {object_j!r}: {counts[k].tolist()} (wins_i, ties, wins_j)",
            "Pass the table before split_ties() with ties='split', or exact=False.",
            expected="whole counts for an exact test",
        )


def _tested(
    ties: Ties, counts: FloatArray, wins: sign_rules.Counted, alternative: Alternative, exact: bool
) -> tuple[FloatArray, FloatArray]:
    """Return statistics and p-values, each (S,)."""
    if not exact:
        z = sign_rules.z_values(ties, wins, alternative)
        return z, sign_rules.normal_p(z, alternative)
    if ties == "trinomial":
        return counts[:, 0] - counts[:, 2], sign_rules.trinomial_p(counts, alternative)
    return wins.wins(alternative), sign_rules.binomial_p(wins, alternative)


def _all_ties(counts: FloatArray, ties: Ties) -> tuple[str, ...]:
    """Return a note on pairs with only ties, which have no p-value or no share."""
    bare = int((counts[:, [0, 2]].sum(axis=1) == 0).sum())
    if not bare or (RULES[ties].counts_ties and ties != "trinomial"):
        return ()
    undefined = "the share of wins is" if ties == "trinomial" else "estimate and p-value are"
    return (f"{counted(bare, 'pair')} with ties only: {undefined} not defined",)


def _small_pairs(few: npt.NDArray[np.bool_], unit: str) -> tuple[str, ...]:
    if not few.any():
        return ()
    return (
        f"{counted(int(few.sum()), 'pair')} with fewer than {_FEW} decided {unit}s: exact p-values (binomial, mid-p)",
    )


def _one_sided_pairs(i: FloatArray, j: FloatArray) -> tuple[str, ...]:
    extreme = int(((i == 0) != (j == 0)).sum())
    if not extreme:
        return ()
    return (f"{counted(extreme, 'pair')} where one object never wins: infinite log-odds, no Wald test",)


def _two_by_two(table: Any) -> npt.NDArray[np.int64]:
    """Return a table of paired outcomes, checked."""
    try:
        counts = real_array(table)
    except (TypeError, ValueError):
        counts = np.empty(0)
    whole = bool(np.all((counts >= 0) & (counts < MOST_COUNTED)) and np.all(counts == np.floor(counts)))
    if counts.shape != (2, 2) or not whole:
        raise JudgmentError(
            f"found {safe_repr(np.asarray(table, dtype=object).tolist())}",
            "Pass pandas.crosstab(first, second) of two columns with the same two outcomes.",
            expected="a 2 × 2 table of whole counts",
        )
    return counts.astype(np.int64)
