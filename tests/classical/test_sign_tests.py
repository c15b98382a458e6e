"""Sign tests by what they make of ties: against scipy, statsmodels, full enumeration and the model's own tests."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

import llbt
from llbt.classical.sign_rules import RULES, trinomial_tail
from llbt.classical.sign_tests import mcnemar_test, sign_test
from llbt.errors import JudgmentError, OptionError

ALTERNATIVES = ("two-sided", "greater", "less")
ANNOTATORS = "ACDMOZ"


def tables(n):
    """Return all tables (wins_i, ties, wins_j) of n judgments, shape (tables, 3)."""
    return np.array([(i, n - i - j, j) for i in range(n + 1) for j in range(n + 1 - i)])


def compared(counts):
    """Return each row of counts as a pair of its own objects, in the order of the rows."""
    rows = [(f"a{k:04}", f"b{k:04}", *row) for k, row in enumerate(np.atleast_2d(counts).tolist())]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])
    return llbt.from_counts(frame, ties_column="ties")


def signed(counts, **options):
    return sign_test(compared(counts), **options)


def tosses(least, n):
    """Return P(at least so many heads in n tosses), in whole numbers up to the division."""
    return sum(math.comb(n, k) for k in range(max(least, 0), n + 1)) / 2**n


def counted_by_hand(rule, i, t, j):
    """Return wins counted for i against i's alternative, wins for j against j's, and n of the exact test."""
    n = i + t + j
    if rule == "drop":
        return i, j, i + j
    if rule == "split":
        return i + t // 2, j + t // 2, i + j + 2 * (t // 2)
    if rule == "median":
        return i, j, n
    if rule == "two-thirds":
        return i + t // 3, j + t // 3, n
    of_i, of_j = t * i // (i + j), t * j // (i + j)
    return i + of_i, j + of_j, i + j + of_i + of_j


def p_by_hand(rule, table, alternative):
    for_i, for_j, n = counted_by_hand(rule, *table)
    greater, less = tosses(for_i, n), tosses(for_j, n)
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2 * min(greater, less))}[alternative]


class TestExact:
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_drop_is_the_binomial_test_of_scipy_for_every_table(self, alternative):
        counts = np.concatenate([tables(n) for n in (1, 2, 5, 9)])
        p_value = signed(counts, alternative=alternative).p_value
        for (i, _, j), p in zip(counts.tolist(), p_value, strict=True):
            if i + j:
                assert p == pytest.approx(stats.binomtest(i, i + j, alternative=alternative).pvalue, rel=1e-12)
            else:
                assert math.isnan(p)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    @pytest.mark.parametrize("rule", ["split", "proportional", "two-thirds", "median"])
    def test_binomial_rules_are_tosses_of_a_coin_for_every_table(self, rule, alternative):
        counts = np.concatenate([tables(n) for n in (2, 5, 6, 10)])
        counts = counts[counts[:, [0, 2]].sum(axis=1) > 0]
        expected = [p_by_hand(rule, row, alternative) for row in counts.tolist()]
        np.testing.assert_allclose(signed(counts, ties=rule, alternative=alternative).p_value, expected, rtol=1e-12)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    @pytest.mark.parametrize("n", [1, 2, 5, 12])
    def test_trinomial_is_the_enumeration_of_all_tables(self, n, alternative):
        every = tables(n)
        d = every[:, 0] - every[:, 2]
        sizes = [math.factorial(n) / math.prod(math.factorial(k) for k in row) for row in every.tolist()]
        expected = []
        for i, t, j in every.tolist():
            q = (i + j) / n / 2
            chance = np.array(sizes) * q ** (every[:, 0] + every[:, 2]) * (t / n) ** every[:, 1]
            tail = {"greater": d >= i - j, "less": d <= i - j, "two-sided": np.abs(d) >= abs(i - j)}[alternative]
            expected.append(chance[tail].sum())
        found = signed(every, ties="trinomial", alternative=alternative)
        np.testing.assert_allclose(found.p_value, expected, rtol=1e-10)
        np.testing.assert_array_equal(found.statistic, d)
        np.testing.assert_array_equal(found.n, n)

    def test_trinomial_of_a_worked_example(self):
        """7 plus, 1 minus, 2 ties: p = .049, sign test .070 (real-statistics.com, trinomial test, example 1)."""
        assert signed([7, 2, 1], ties="trinomial").p_value[0] == pytest.approx(0.049, abs=5e-4)
        assert signed([7, 2, 1]).p_value[0] == pytest.approx(0.070, abs=5e-4)

    def test_trinomial_without_ties_is_the_sign_test(self):
        counts = [[12, 0, 3], [4, 0, 4], [0, 0, 7]]
        np.testing.assert_allclose(signed(counts, ties="trinomial").p_value, signed(counts).p_value, rtol=1e-12)

    def test_trinomial_tail_of_many_judgments_is_that_of_a_convolution(self):
        one = np.array([0.3, 0.4, 0.3])
        whole = one
        for _ in range(79):
            whole = np.convolve(whole, one)
        tail = trinomial_tail(np.arange(-80, 81), np.full(161, 80), np.full(161, 48))
        np.testing.assert_allclose(tail, whole[::-1].cumsum()[::-1], rtol=1e-9)

    @pytest.mark.parametrize("rule", RULES)
    def test_two_sided_is_symmetric_and_one_sided_changes_sides(self, rule):
        counts = np.array([[9, 7, 2], [3, 8, 4], [6, 1, 6], [5, 5, 0]])
        turned = counts[:, ::-1]
        np.testing.assert_allclose(signed(counts, ties=rule).p_value, signed(turned, ties=rule).p_value, rtol=1e-12)
        greater = signed(counts, ties=rule, alternative="greater")
        less = signed(turned, ties=rule, alternative="less")
        np.testing.assert_allclose(greater.p_value, less.p_value, rtol=1e-12)
        np.testing.assert_allclose(greater.estimate, 1 - less.estimate, rtol=1e-12)


# wins of i, n and estimate for 9 wins, 5 ties, 2 losses of 16 judgments; the definitions, by hand
COUNTED = [
    ("drop", "two-sided", 9, 11, 9 / 11),
    ("split", "two-sided", 11, 15, 11 / 15),  # the fifth tie is left out
    ("proportional", "two-sided", 13, 15, 13 / 15),  # 45/11 and 10/11 of the ties
    ("two-thirds", "two-sided", 10, 16, 10 / 16),
    ("two-thirds", "less", 13, 16, 13 / 16),
    ("median", "two-sided", 9, 16, 9 / 16),
    ("median", "less", 14, 16, 14 / 16),
    ("trinomial", "two-sided", 7, 16, 9 / 11),
]


@pytest.mark.parametrize(("rule", "alternative", "statistic", "n", "estimate"), COUNTED)
def test_what_a_rule_counts(rule, alternative, statistic, n, estimate):
    found = signed([9, 5, 2], ties=rule, alternative=alternative)
    assert (found.statistic[0], found.n[0]) == (statistic, n)
    assert found.estimate[0] == pytest.approx(estimate, rel=1e-15)


Z = [
    ("drop", "two-sided", 7 / math.sqrt(11)),
    ("asymptotic-ump", "two-sided", 7 / math.sqrt(11)),
    ("trinomial", "two-sided", 7 / math.sqrt(11)),
    ("split", "two-sided", 7 / math.sqrt(16)),
    ("proportional", "two-sided", 7 / 11 * math.sqrt(16)),
    ("two-thirds", "greater", (9 + 5 / 3 - 8) / 2),
    ("two-thirds", "two-sided", (9 + 5 / 3 - 8) / 2),
    ("two-thirds", "less", (9 + 10 / 3 - 8) / 2),
    ("median", "greater", (9 - 8) / 2),
    ("median", "less", (14 - 8) / 2),
]


@pytest.mark.parametrize(("rule", "alternative", "z"), Z)
def test_normal_approximations(rule, alternative, z):
    """(x − n/2)/(√n/2), by hand for 9 wins, 5 ties, 2 losses."""
    found = signed([9, 5, 2], ties=rule, alternative=alternative, exact=False)
    p = {"greater": stats.norm.sf(z), "less": stats.norm.cdf(z), "two-sided": 2 * stats.norm.sf(z)}[alternative]
    assert found.statistic[0] == pytest.approx(z, rel=1e-12)
    assert found.p_value[0] == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "asymptotic-ump"])
def test_the_normal_approximation_is_near_the_exact_test_of_many_judgments(rule):
    counts = [2_600, 1_801, 2_500]
    exact, normal = (signed(counts, ties=rule, exact=exact).p_value[0] for exact in (True, False))
    assert normal == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("wins", [(0, 3, 9), (4, 2, 6), (30, 11, 12), (8, 1, 0)])
@pytest.mark.parametrize(
    ("interval", "theirs", "method"), [("wilson", "wilson", "wilson"), ("clopper-pearson", "exact", "beta")]
)
def test_intervals_are_those_of_scipy_and_statsmodels(wins, interval, theirs, method):
    found = signed(wins, interval=interval, confidence=0.9)
    i, _, j = wins
    ends = stats.binomtest(i, i + j).proportion_ci(0.9, method=theirs)
    assert (found.conf_low[0], found.conf_high[0]) == pytest.approx((ends.low, ends.high), rel=1e-9, abs=1e-12)
    assert (found.conf_low[0], found.conf_high[0]) == pytest.approx(
        proportion_confint(i, i + j, 0.1, method), rel=1e-9, abs=1e-12
    )


# -- size -------------------------------------------------------------------------------------------------------


def rejected(p_i, p_tie, n=30, **options):
    """Return P(p ≤ .05) over all tables of n judgments, by their multinomial probabilities."""
    every = tables(n)
    chance = stats.multinomial.pmf(every, n, [p_i, p_tie, 1 - p_i - p_tie])
    assert chance.sum() == pytest.approx(1, abs=1e-10)
    return float(chance[signed(every, **options).p_value <= 0.05].sum())


# P(p ≤ .05) where P(i) = P(j) = .3, P(tie) = .4, n = 30, summed over all 496 tables: exact and normal
SIZES = [
    ("drop", 0.030076, 0.051458),
    ("split", 0.006137, 0.012564),
    ("proportional", 0.099836, 0.139626),
    ("two-thirds", 0.000425, 0.000740),
    ("asymptotic-ump", 0.051458, 0.051458),
    ("median", 0.000015, 0.000015),
    ("trinomial", 0.034349, 0.051458),
]


LLBT_SIZES = (0.053514, 0.040680)  # likelihood ratio against χ², Wald


@pytest.mark.parametrize(("rule", "exact", "normal"), SIZES)
def test_size_with_forty_per_cent_ties(rule, exact, normal):
    assert rejected(0.3, 0.4, ties=rule) == pytest.approx(exact, abs=1e-6)
    assert rejected(0.3, 0.4, ties=rule, exact=False) == pytest.approx(normal, abs=1e-6)


@pytest.mark.parametrize(("rule", "exact", "normal"), SIZES)
def test_size_by_simulation(rule, exact, normal):
    """The same by 40,000 drawn tables; a share is right to four standard errors, at most .007."""
    drawn = np.random.default_rng(1).multinomial(30, [0.3, 0.4, 0.3], 40_000)
    seen, times = np.unique(drawn, axis=0, return_counts=True)
    for share, options in ((exact, {}), (normal, {"exact": False})):
        found = times[signed(seen, ties=rule, **options).p_value <= 0.05].sum() / 40_000
        assert found == pytest.approx(share, abs=4 * math.sqrt(max(share, 1e-4) / 40_000))


@pytest.mark.parametrize("p_tie", [0.05, 0.2, 0.4, 0.6, 0.8])
@pytest.mark.parametrize("n", [10, 30, 60])
def test_the_trinomial_test_keeps_its_size_where_measured(n, p_tie):
    assert rejected((1 - p_tie) / 2, p_tie, n, ties="trinomial") <= 0.05


def test_size_of_the_model_tests_with_forty_per_cent_ties():
    every = tables(30)
    chance = stats.multinomial.pmf(every, 30, [0.3, 0.4, 0.3])
    found = llbt.classical.model_test(compared(every))
    assert chance[stats.chi2.sf(found.statistic, 1) <= 0.05].sum() == pytest.approx(LLBT_SIZES[0], abs=1e-6)
    assert 0.04 < chance[found.p_value <= 0.05].sum() < LLBT_SIZES[0]
    assert chance[found.wald_p_value <= 0.05].sum() == pytest.approx(LLBT_SIZES[1], abs=1e-6)


def test_few_decided_judgments_do_not_reject_too_often():
    """χ² rejects 10.9 % of tables of 10 judgments without ties; the p-values are enumerated by hand."""
    sizes = {}
    for m in range(1, 20):
        wins = np.arange(m + 1.0)
        found = llbt.classical.model_test(compared(np.column_stack([wins, 0 * wins, m - wins])))
        chance = stats.binom.pmf(wins, m, 0.5)
        ratio = found.statistic
        by_hand = [
            chance[ratio > g + 1e-9].sum() + chance[np.abs(ratio - g) < 1e-9].sum() / 2 if g > 1e-9 else None
            for g in ratio
        ]
        for p, expected in zip(found.p_value, by_hand, strict=True):
            assert expected is None or p == pytest.approx(expected, abs=1e-12)
        sizes[m] = chance[found.p_value <= 0.05].sum(), chance[stats.chi2.sf(ratio, 1) <= 0.05].sum()
    assert sizes[10] == pytest.approx((22 / 1024, 112 / 1024))
    assert max(size for size, _ in sizes.values()) == pytest.approx(0.0768, abs=1e-4)
    assert max(size for _, size in sizes.values()) == pytest.approx(0.25)


def test_few_decided_judgments_are_said_and_one_sided_tests_agree():
    c = compared([[8, 3, 2], [30, 1, 11]])
    found = llbt.classical.model_test(c)
    assert any(note.startswith("1 pair with fewer than 20 decided judgments") for note in found.notes)
    assert found.p_value[0] == pytest.approx(2 * (stats.binom.sf(8, 10, 0.5) + stats.binom.pmf(8, 10, 0.5) / 2))
    assert found.p_value[1] == pytest.approx(stats.chi2.sf(found.statistic[1], 1))
    greater, less = (llbt.classical.model_test(c, alternative=side).p_value[0] for side in ("greater", "less"))
    assert (greater, less) == pytest.approx((found.p_value[0] / 2, 1 - found.p_value[0] / 2))
    assert not any("fewer than 20" in note for note in llbt.classical.model_test(compared([30, 1, 11])).notes)
    assert llbt.classical.model_test(compared([[4.5, 0, 5.5]])).p_value[0] == pytest.approx(
        stats.chi2.sf(0.1003, 1), abs=1e-3
    )


@pytest.mark.parametrize("p_tie", [0.0, 0.1, 0.4, 0.7])
@pytest.mark.parametrize(("rule", "weight"), [("drop", 0.5), ("split", 0.5), ("two-thirds", 1 / 3), ("median", 0.0)])
@pytest.mark.parametrize("n", [7, 30])
def test_exact_tests_keep_their_size_on_the_edge_of_their_own_hypothesis(rule, weight, p_tie, n):
    """The edge is P(i) + weight·P(tie) = 1/2; one-sided, where the test is least conservative."""
    if p_tie * (1 - weight) <= 0.5:
        assert rejected(0.5 - weight * p_tie, p_tie, n, ties=rule, alternative="greater") <= 0.05


def test_the_median_test_has_the_size_of_a_binomial_test_where_half_are_wins():
    below = stats.binom.sf(19, 30, 0.5)  # 20 of 30 is the smallest number with p ≤ .05
    assert rejected(0.5, 0.2, ties="median", alternative="greater") == pytest.approx(below, rel=1e-9)


# -- data -------------------------------------------------------------------------------------------------------


class TestData:
    @pytest.mark.parametrize(("name", "sign"), [("dras_modpref", 1), ("dras_collins", -1)])
    @pytest.mark.parametrize("rule", RULES)
    def test_sign_test_and_model_agree_in_direction(self, name, sign, rule):
        """Of + over - (61, 24, 35) and of B over R (39, 77, 83), where R has no majority of all judgments."""
        c = llbt.load_dataset(name)
        shares, odds = sign_test(c, ties=rule), llbt.classical.model_test(c)
        fitted = llbt.fit("object + tie", c, reference=shares.object_j[0])
        assert np.sign(odds.estimate[0]) == np.sign(fitted.params.iloc[0]) == sign
        no_majority = (rule, name) == ("median", "dras_collins")
        assert np.sign(shares.estimate[0] - 0.5) == (0 if no_majority else sign)

    def test_rules_that_test_equality_agree_on_both_sets_of_dras_and_the_median_test_does_not(self):
        for name in ("dras_modpref", "dras_collins"):
            c = llbt.load_dataset(name)
            found = {rule: sign_test(c, ties=rule).p_value[0] for rule in RULES}
            assert max(p for rule, p in found.items() if rule not in ("two-thirds", "median")) < 0.05
            assert found["median"] > 0.9
            assert llbt.classical.model_test(c).p_value[0] < 0.05

    def test_p_of_dras_is_walds_and_the_median_test_is_no_rule_for_ties(self):
        """His section 5 prints p = .0088 for o1; the median test has scipy's 61 of 120."""
        c = llbt.load_dataset("dras_modpref")
        assert round(float(llbt.classical.model_test(c).wald_p_value[0]), 4) == 0.0088
        median = sign_test(c, ties="median")
        assert median.p_value[0] == pytest.approx(stats.binomtest(61, 120).pvalue, rel=1e-12)
        assert "median test" in str(median)
        for rule in ("split", "two-thirds"):  # a tie speaks against a preference, but less than a loss
            p = [signed(counts, ties=rule).p_value[0] for counts in ([61, 0, 35], [61, 24, 35], [61, 0, 59])]
            assert p[0] < p[1] < p[2]

    def test_six_annotators_pooled(self):
        """Totals 125 / 118 / 25 + 110 of 378 (Bojar et al. 2011)."""
        found = sign_test(llbt.load_dataset("bojar_six_annotators").collapse())
        assert found.counts.tolist() == [[125, 135, 118]]
        assert found.p_value[0] == pytest.approx(stats.binomtest(125, 243).pvalue, rel=1e-12)
        assert found.estimate[0] == pytest.approx(125 / 243)
        assert "summed over judge" in found.notes

    @pytest.mark.parametrize("judge", ANNOTATORS)
    def test_six_annotators_one_by_one(self, judge):
        c = llbt.load_dataset("bojar_six_annotators").collapse().select(where={"judge": judge})
        ((i, t, j),) = c.counts.astype(int).tolist()
        assert i + t + j == 63
        assert sign_test(c).p_value[0] == pytest.approx(stats.binomtest(i, i + j).pvalue, rel=1e-12)
        ump = sign_test(c, ties="asymptotic-ump").statistic[0]
        assert ump == pytest.approx((i - j) / math.sqrt(i + j), rel=1e-12)

    def test_no_annotator_decides_between_the_two(self):
        c = llbt.load_dataset("bojar_six_annotators").collapse()
        one_by_one = [c.select(where={"judge": judge}) for judge in ANNOTATORS]
        assert min(sign_test(one).p_value[0] for one in one_by_one) > 0.1

    @pytest.mark.parametrize("adjust", ["holm", "bonferroni", "fdr_bh"])
    def test_adjusted_p_values_are_those_of_statsmodels(self, adjust):
        c = llbt.load_dataset("puddings")
        for found in (sign_test(c, adjust=adjust), llbt.classical.model_test(c, adjust=adjust)):
            np.testing.assert_allclose(found.p_adjusted, multipletests(found.p_value, method=adjust)[1], rtol=1e-12)
            assert "p_adjusted" in found.to_frame()

    def test_without_adjustment_both_p_values_are_the_same(self):
        found = sign_test(llbt.load_dataset("puddings"), adjust=None)
        assert found.p_adjusted.tolist() == found.p_value.tolist()
        assert "p-values are not adjusted for the number of pairs" in found.notes
        assert list(found.to_frame()) == [
            *("object_i", "object_j", "wins_i", "ties", "wins_j"),
            *("n", "estimate", "conf_low", "conf_high", "statistic", "p_value", "p_adjusted"),
        ]


class TestModel:
    @pytest.mark.parametrize("name", ["dras_modpref", "dras_collins"])
    def test_equals_fit_and_anova_of_the_pair(self, name):
        c = llbt.load_dataset(name)
        found = llbt.classical.model_test(c)
        full = llbt.fit("object + tie", c, reference=found.object_j[0])
        analysis = llbt.anova(llbt.fit("tie", c), full).to_frame()
        assert found.statistic[0] == pytest.approx(analysis["statistic"].iloc[1], rel=1e-8)
        assert found.p_value[0] == pytest.approx(analysis["p_value"].iloc[1], rel=1e-8)
        assert found.estimate[0] == pytest.approx(2 * full.params.iloc[0], rel=1e-8)
        assert found.std_error[0] == pytest.approx(2 * full.bse.iloc[0], rel=1e-8)
        assert found.wald_statistic[0] == pytest.approx(full.tvalues.iloc[0], rel=1e-8)
        assert found.wald_p_value[0] == pytest.approx(full.pvalues.iloc[0], rel=1e-8)

    def test_takes_each_pair_of_a_larger_table_alone(self):
        c = llbt.load_dataset("puddings")
        found = llbt.classical.model_test(c)
        for k, pair in enumerate(itertools.combinations(c.objects, 2)):
            alone = c.select(objects=pair)
            analysis = llbt.anova(llbt.fit("tie", alone), llbt.fit("object + tie", alone)).to_frame()
            assert (found.object_i[k], found.object_j[k]) == pair
            assert found.statistic[k] == pytest.approx(analysis["statistic"].iloc[1], rel=1e-6, abs=1e-9)

    @pytest.mark.parametrize(("alternative", "sign"), [("greater", 1), ("less", -1)])
    def test_one_sided_p_values_are_of_the_signed_root(self, alternative, sign):
        found = llbt.classical.model_test(compared([[24, 3, 9], [9, 3, 24]]), alternative=alternative)
        root = np.array([1, -1]) * np.sqrt(found.statistic)
        np.testing.assert_allclose(found.p_value, stats.norm.sf(sign * root), rtol=1e-12)
        np.testing.assert_allclose(found.wald_p_value, stats.norm.sf(sign * found.wald_statistic), rtol=1e-12)

    def test_without_a_win_the_ratio_is_finite_and_the_estimate_is_not(self):
        found = llbt.classical.model_test(compared([[6, 1, 0], [0, 4, 0]]))
        assert found.estimate[0] == math.inf
        assert found.statistic[0] == pytest.approx(2 * 6 * math.log(2))
        assert np.isnan(found.wald_statistic).all()
        assert np.isnan([found.estimate[1], found.statistic[1], found.p_value[1]]).all()
        assert "1 pair where one object never wins: infinite log-odds, no Wald test" in found.notes
        assert "1 pair with ties only: estimate and p-value are not defined" in found.notes


# -- what goes in -------------------------------------------------------------------------------------------------


def test_covariates_and_both_orders_are_summed():
    frame = pd.DataFrame(
        [("B", "A", "x", 3, 1, 5), ("A", "B", "x", 2, 0, 1), ("A", "B", "y", 4, 2, 0)],
        columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"],
    )
    c = llbt.from_counts(frame, ties_column="ties", covariates="judge", order=True)
    for found in (sign_test(c), llbt.classical.model_test(c)):
        assert (found.object_i, found.object_j) == (("A",), ("B",))
        assert found.counts.tolist() == [[11, 3, 4]]
        assert {"summed over judge", "summed over both orders of display"} <= set(found.notes)
    assert c.keeps_order


def test_pairs_without_judgments_are_left_out_and_counted():
    frame = pd.DataFrame(
        [("A", "B", 3, 1, 5), ("B", "C", 2, 0, 1), ("A", "D", 0, 0, 0)],
        columns=["object_i", "object_j", "wins_i", "ties", "wins_j"],
    )
    found = sign_test(llbt.from_counts(frame, ties_column="ties"))
    assert list(zip(found.object_i, found.object_j, strict=True)) == [("A", "B"), ("B", "C")]
    assert "1 pair without a judgment: no row" in found.notes
    assert "left out: 1 object without a judgment ('D')" in found.notes


def test_judgments_are_summed_as_their_table_is():
    frame = pd.DataFrame(
        {"object_i": ["A", "B", "A", "C"], "object_j": ["B", "A", "B", "B"], "outcome": ["i", "i", "tie", "i"]}
    )
    for asked in (sign_test, llbt.classical.model_test):
        found, expected = asked(frame), asked(llbt.from_judgments(frame))
        pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    assert found.counts.tolist() == [[1, 1, 1], [0, 0, 1]]


def test_whole_counts_are_integers_and_others_stay():
    c = compared([[9, 5, 2]])
    counts = ["wins_i", "ties", "wins_j"]
    assert (sign_test(c).to_frame()[counts].dtypes == np.int64).all()
    assert sign_test(c.split_ties(), exact=False).to_frame()[counts].to_numpy().tolist() == [[11.5, 0, 4.5]]


@pytest.mark.parametrize(
    ("rule", "p_value", "estimate"),
    [
        ("drop", math.nan, math.nan),
        ("proportional", math.nan, math.nan),
        ("asymptotic-ump", math.nan, math.nan),
        ("trinomial", 1.0, math.nan),
        ("split", 1.0, 0.5),
        ("two-thirds", 1.0, 0.5),
        ("median", 1.0, 0.5),
    ],
)
@pytest.mark.parametrize("exact", [True, False])
def test_nothing_but_ties(rule, p_value, estimate, exact):
    found = signed([[0, 6, 0], [3, 0, 1]], ties=rule, exact=exact)
    assert found.p_value[0] == pytest.approx(p_value, nan_ok=True)
    assert found.estimate[0] == pytest.approx(estimate, nan_ok=True)
    assert any("1 pair with ties only" in note for note in found.notes) == math.isnan(estimate)
    assert not math.isnan(found.p_value[1])


def test_split_ties_of_the_table_is_the_rule_split_without_exactness():
    c = compared([[9, 5, 2]])
    split = sign_test(c.split_ties(), exact=False)
    assert split.p_value[0] == pytest.approx(sign_test(c, ties="split", exact=False).p_value[0], rel=1e-12)


def test_a_table_without_ties_is_tested_alike_by_all_binomial_rules():
    counts = [[9, 0, 2], [3, 0, 4]]
    expected = signed(counts).p_value
    for rule in ("split", "proportional", "two-thirds", "median", "trinomial"):
        np.testing.assert_allclose(signed(counts, ties=rule).p_value, expected, rtol=1e-12)


ERRORS = [
    ({"ties": "ignore"}, OptionError, "ties='ignore'; expected 'drop', 'split'"),
    ({"alternative": "larger"}, OptionError, "alternative='larger'"),
    ({"adjust": "bh"}, OptionError, "adjust='bh'; expected 'holm', 'bonferroni', 'fdr_bh' or None"),
    ({"interval": "wald"}, OptionError, "interval='wald'"),
    ({"confidence": 95}, OptionError, "confidence=95"),
]


@pytest.mark.parametrize(("options", "error", "fragment"), ERRORS)
def test_unknown_options_are_refused(options, error, fragment):
    with pytest.raises(error, match=fragment):
        signed([3, 1, 2], **options)


@pytest.mark.parametrize("asker", [sign_test, llbt.classical.model_test])
def test_what_is_neither_table_nor_judgments_is_refused(asker):
    with pytest.raises(JudgmentError, match="of type NoneType; expected a frame"):
        asker(None)


def test_fractional_counts_are_refused_by_exact_tests_with_the_remedy():
    with pytest.raises(JudgmentError, match=r"'a0000' and 'b0000': \[3\.5, 0\.0, 2\.5\].*exact=False"):
        sign_test(compared([[3, 1, 2]]).split_ties())


@pytest.mark.parametrize("rule", RULES)
def test_the_printout_states_rule_hypothesis_and_reference(rule):
    text = " ".join(signed([9, 5, 2], ties=rule).as_text().split())
    assert f"({rule})" in text
    assert f"Null hypothesis: {RULES[rule].null}" in text
    reference = {"asymptotic-ump": "normal (asymptotic)", "trinomial": "trinomial at the observed"}
    assert f"Reference distribution: {reference.get(rule, 'binomial (exact)')}" in text
    less = " ".join(signed([9, 5, 2], ties=rule, alternative="less").as_text().split())
    assert "P(j) ≤" in less or "P(j) + P(tie)/3 ≤" in less
    assert "alternative: object_j is preferred" in less


@pytest.mark.parametrize("found", [signed([9, 5, 2], adjust="holm"), llbt.classical.model_test(compared([9, 5, 2]))])
def test_records_survive_a_pickle(found):
    assert pickle.loads(pickle.dumps(found)).as_text() == found.as_text()


def test_many_pairs_are_shortened_in_print_only():
    found = signed(tables(12))
    assert "… 31 more rows: .to_frame()" in found.as_text()
    assert len(found.to_frame()) == 91


# -- McNemar ------------------------------------------------------------------------------------------------------

SQUARE = [[101, 121], [59, 33]]


class TestMcNemar:
    @pytest.mark.parametrize("exact", [True, False])
    @pytest.mark.parametrize("correction", [True, False])
    @pytest.mark.parametrize("table", [SQUARE, [[4, 0], [7, 1]], [[0, 3], [2, 0]]])
    def test_equals_statsmodels_in_every_form(self, table, exact, correction):
        found = mcnemar_test(pd.DataFrame(table), exact=exact, correction=correction)
        theirs = mcnemar(table, exact=exact, correction=correction)
        assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)

    @pytest.mark.parametrize("table", [SQUARE, [[4, 0], [7, 1]], [[2, 6], [6, 3]]])
    def test_the_exact_test_is_the_sign_test_of_the_cells_that_differ(self, table):
        (_, b), (c, _) = table
        assert mcnemar_test(table).p_value == pytest.approx(signed([b, 5, c]).p_value[0], rel=1e-12)

    def test_chi2_by_hand(self):
        found = mcnemar_test(SQUARE, exact=False)
        assert found.statistic == pytest.approx((121 - 59 - 1) ** 2 / 180)
        assert found.p_value == pytest.approx(stats.chi2.sf(61**2 / 180, 1))
        assert (found.df, found.distribution) == (1, "chi2")

    def test_equal_cells_are_not_corrected_away_from_equality(self):
        found = mcnemar_test([[3, 4], [4, 3]], exact=False)
        assert (found.statistic, found.p_value) == (0, 1)

    @pytest.mark.parametrize("exact", [True, False])
    def test_systems_that_never_differ(self, exact):
        found = mcnemar_test([[30, 0], [0, 12]], exact=exact)
        assert np.isnan([found.statistic, found.p_value]).all()
        assert "the systems never differ, so there is nothing to test" in found.notes

    @pytest.mark.parametrize(
        "table",
        [[1, 2, 3, 4], [[1, 2]], [[1, -2], [3, 4]], [[1, 2.5], [3, 4]], [["a", 2], [3, 4]], [[np.nan, 1], [1, 1]]],
    )
    def test_other_tables_are_refused(self, table):
        with pytest.raises(JudgmentError, match=r"mcnemar_test: found .*expected a 2 × 2 table of whole counts"):
            mcnemar_test(table)
