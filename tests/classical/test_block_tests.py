"""Tests of rankings in blocks: against scipy, published figures, the published formulas and full enumeration."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from llbt.classical.block_tests import durbin_test, friedman_test, page_test, skillings_mack_test
from llbt.errors import DesignError, JudgmentError, OptionError

ALL = (friedman_test, durbin_test, skillings_mack_test, page_test)


def wide(values):
    values = np.asarray(values, dtype=float)
    return pd.DataFrame(values, columns=list("ABCDEFGH")[: values.shape[1]])


def asked(test, values, **options):
    frame = wide(values)
    order = {"order": list(frame)} if test is page_test and "order" not in options else {}
    return test(frame, objects=list(frame), **order, **options)


def long(values):
    frame = wide(values).assign(judge=[f"J{k}" for k in range(len(values))])
    return frame.melt("judge", var_name="object", value_name="rank")


def drawn(seed, b=14, t=5, *, levels=None, missing=0.0):
    """Return values in b blocks of t objects; few levels make ties, and some values may be missing."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(b, t)) + 0.3 * np.arange(t)
    values = values if levels is None else np.round(values * levels / 3)
    kept = rng.random((b, t)) >= missing
    return np.where(kept, values, np.nan)


# Conover (1999), p. 391: seven varieties of ice cream, three to a judge; χ² = 12 with 6 df, p = .062 (agricolae)
VARIETIES = [(1, 2, 4), (2, 3, 5), (3, 4, 6), (4, 5, 7), (1, 5, 6), (2, 6, 7), (1, 3, 7)]
PREFERENCES = [(2, 3, 1), (3, 1, 2), (2, 1, 3), (1, 2, 3), (3, 1, 2), (3, 1, 2), (3, 1, 2)]
ICE_CREAM = np.full((7, 7), np.nan)
for _row, (_varieties, _ranks) in enumerate(zip(VARIETIES, PREFERENCES, strict=True)):
    ICE_CREAM[_row, np.array(_varieties) - 1] = _ranks

# Skillings & Mack (1981), times of four methods of assembly by nine persons: 15.49 with 3 df, p = .0014
NA = np.nan
ASSEMBLY = np.transpose(
    [
        [3.2, 3.1, 4.3, 3.5, 3.6, 4.5, NA, 4.3, 3.5],
        [4.1, 3.9, 3.5, 3.6, 4.2, 4.7, 4.2, 4.6, NA],
        [3.8, 3.4, 4.6, 3.9, 3.7, 3.7, 3.4, 4.4, 3.7],
        [4.2, 4.0, 4.8, 4.0, 3.9, NA, NA, 4.9, 3.9],
    ]
)


class TestFriedman:
    @pytest.mark.parametrize("levels", [None, 2, 4], ids=["no ties", "many ties", "ties"])
    @pytest.mark.parametrize("seed", range(3))
    def test_equals_scipy(self, seed, levels):
        values = drawn(seed, levels=levels)
        found, theirs = asked(friedman_test, values), stats.friedmanchisquare(*values.T)
        assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-10)
        assert (found.df, found.distribution) == (4, "chi2")

    def test_the_long_form_in_any_order_is_the_wide_form(self):
        values = drawn(3, levels=4)
        frame = long(values).sample(frac=1, random_state=1)
        found = friedman_test(frame, block="judge")
        assert found.statistic == pytest.approx(asked(friedman_test, values).statistic, rel=1e-12)

    def test_columns_have_the_names_they_are_given(self):
        frame = long(drawn(3)).assign(prompt=1).rename(columns={"object": "system", "rank": "rating"})
        found = friedman_test(frame, object="system", rank="rating", block=["judge", "prompt"])
        assert found.statistic == pytest.approx(asked(friedman_test, drawn(3)).statistic, rel=1e-12)

    def test_only_the_order_within_blocks_counts(self):
        values = drawn(4, levels=4)
        moved = np.exp(values) + 100 * np.arange(len(values))[:, None]
        assert asked(friedman_test, moved).statistic == pytest.approx(asked(friedman_test, values).statistic, rel=1e-9)

    def test_rows_without_ranks_are_left_out_and_counted(self):
        values = drawn(5)
        found = asked(friedman_test, np.vstack([values, np.full(5, np.nan)]))
        assert found.statistic == pytest.approx(asked(friedman_test, values).statistic, rel=1e-12)
        assert found.notes == ("left out: 1 block with fewer than two ranked objects",)


class TestDurbin:
    def test_published_figure(self):
        found = asked(durbin_test, ICE_CREAM)
        assert (found.statistic, found.df) == pytest.approx((12, 6), rel=1e-12)
        assert found.p_value == pytest.approx(0.0619688, abs=5e-8)

    def test_equals_friedman_on_complete_blocks(self):
        values = drawn(6, levels=3)
        assert asked(durbin_test, values).statistic == pytest.approx(asked(friedman_test, values).statistic, rel=1e-12)

    def test_ties_by_the_formula_in_words(self):
        """(t − 1) Σ (R_j − r(k + 1)/2)² / (A − C) of Conover (1999), eq. 5.9.3: A, C and rank sums by loops."""
        values = ICE_CREAM.copy()
        values[0, 1] = values[0, 0]
        values[3, 3] = values[3, 4]
        k, r, t = 3, 3, 7
        ranks = np.array([stats.rankdata(row, nan_policy="omit") for row in values])
        a = sum(x**2 for x in ranks.ravel() if not math.isnan(x))
        c = 7 * k * (k + 1) ** 2 / 4
        sums = [sum(x for x in column if not math.isnan(x)) for column in ranks.T]
        expected = (t - 1) * sum((s - r * (k + 1) / 2) ** 2 for s in sums) / (a - c)
        assert asked(durbin_test, values).statistic == pytest.approx(expected, rel=1e-12)


class TestSkillingsMack:
    def test_published_figure(self):
        found = asked(skillings_mack_test, ASSEMBLY)
        assert found.statistic == pytest.approx(15.49, abs=5e-3)
        assert found.df == 3
        assert found.p_value == pytest.approx(0.0014, abs=5e-5)

    @pytest.mark.parametrize("levels", [None, 3], ids=["no ties", "ties"])
    def test_equals_friedman_on_complete_blocks(self, levels):
        values = drawn(7, levels=levels)
        found, theirs = asked(skillings_mack_test, values), asked(friedman_test, values)
        assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.p_value), rel=1e-9)
        assert found.df == theirs.df

    def test_equals_durbin_on_a_balanced_design(self):
        found, theirs = asked(skillings_mack_test, ICE_CREAM), asked(durbin_test, ICE_CREAM)
        assert (found.statistic, found.df) == pytest.approx((theirs.statistic, theirs.df), rel=1e-9)

    @pytest.mark.parametrize("seed", range(3))
    def test_equals_the_published_formula_without_ties(self, seed):
        """Adjusted sums A and their covariance by loops, one object left out in place of a generalized inverse."""
        values = drawn(seed, b=20, missing=0.3)
        values = values[np.isfinite(values).sum(axis=1) > 1]
        t = values.shape[1]
        sums, covariance = np.zeros(t), np.zeros((t, t))
        for row in values:
            there = np.flatnonzero(np.isfinite(row))
            k = len(there)
            for j, rank in zip(there, stats.rankdata(row[there]), strict=True):
                sums[j] += math.sqrt(12 / (k + 1)) * (rank - (k + 1) / 2)
                covariance[j, j] += k - 1
            for j, other in itertools.permutations(there, 2):
                covariance[j, other] -= 1
        expected = sums[1:] @ np.linalg.solve(covariance[1:, 1:], sums[1:])
        assert asked(skillings_mack_test, values).statistic == pytest.approx(expected, rel=1e-9)

    @pytest.mark.slow
    def test_mean_over_all_orders_is_the_df_with_ties_and_gaps(self):
        """E[AᵀV⁻A] = rank of V exactly when V is the covariance of A over all orders within blocks."""
        blocks = [[1, 2.5, 2.5, np.nan], [1.5, np.nan, 1.5, 3], [np.nan, 1, 2, np.nan], [2, 1, np.nan, np.nan]]
        every = [list(itertools.permutations([x for x in row if not math.isnan(x)])) for row in blocks]
        found = []
        for orders in itertools.product(*every):
            values = np.full((4, 4), np.nan)
            for row, order in zip(range(4), orders, strict=True):
                values[row, np.isfinite(blocks[row])] = order
            found.append(asked(skillings_mack_test, values).statistic)
        assert np.mean(found) == pytest.approx(3, rel=1e-9)

    def test_objects_that_no_block_connects_lose_a_degree_of_freedom(self):
        values = np.full((12, 5), np.nan)
        values[:6, :2] = drawn(8, 6, 2)
        values[6:, 2:] = drawn(9, 6, 3)
        found = asked(skillings_mack_test, values)
        parts = [asked(friedman_test, values[:6, :2]), asked(friedman_test, values[6:, 2:])]
        assert found.df == 3
        assert found.statistic == pytest.approx(sum(part.statistic for part in parts), rel=1e-9)

    @pytest.mark.slow
    def test_size_in_incomplete_blocks_with_ties(self):
        """600 sets of 30 blocks of 2 to 4 of 4 objects without any difference: 5 % ± three standard errors."""
        rng = np.random.default_rng(11)
        p_values = []
        for _ in range(600):
            values = rng.integers(0, 5, (30, 4)).astype(float)
            values[np.arange(30), rng.integers(0, 4, 30)] = np.where(rng.random(30) < 0.6, np.nan, 2)
            values[np.arange(15), rng.integers(0, 4, 15)] = np.nan
            p_values.append(asked(skillings_mack_test, values).p_value)
        assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.027)


class TestPage:
    @pytest.mark.parametrize("seed", range(3))
    def test_equals_scipy_on_complete_blocks_without_ties(self, seed):
        values = drawn(seed)
        found, theirs = asked(page_test, values), stats.page_trend_test(values, method="asymptotic")
        assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
        assert found.notes[0] == f"L = {theirs.statistic:.10g}"
        assert (found.distribution, math.isnan(found.df)) == ("normal", True)

    def test_the_order_is_that_of_the_hypothesis(self):
        values = drawn(2)
        order = ["C", "A", "E", "B", "D"]
        found = asked(page_test, values, order=order)
        theirs = stats.page_trend_test(wide(values)[order].to_numpy(), method="asymptotic")
        assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
        against = asked(page_test, values, order=order[::-1])
        assert against.statistic == pytest.approx(-found.statistic, rel=1e-9)

    @pytest.mark.parametrize(
        "blocks",
        [
            [[1, 2.5, 2.5], [1, 2, 3], [1.5, 1.5, 3]],
            [[1, 2, np.nan, 3], [np.nan, 1.5, 1.5, np.nan], [1, 2, 3, np.nan]],
        ],
        ids=["ties", "ties and gaps"],
    )
    @pytest.mark.slow
    def test_mean_and_variance_are_those_over_all_orders(self, blocks):
        """z² averages to 1 and z to 0 over all orders within blocks."""
        every = [list(itertools.permutations([x for x in row if not math.isnan(x)])) for row in blocks]
        found = []
        for orders in itertools.product(*every):
            values = np.array(blocks)
            for row, order in enumerate(orders):
                values[row, np.isfinite(values[row])] = order
            found.append(asked(page_test, values).statistic)
        assert np.mean(found) == pytest.approx(0, abs=1e-9)
        assert np.mean(np.square(found)) == pytest.approx(1, rel=1e-9)

    def test_ranks_of_an_incomplete_block_are_those_averaged_over_all_ways_to_fill_it(self):
        """Alvo and Cabilio (1995): k = 2 of 3 objects stand for the complete rankings that agree with them."""
        agreeing = [r for r in itertools.permutations((1, 2, 3)) if r[0] < r[1]]
        mean = np.mean(agreeing, axis=0) - 2
        gaps = np.array([[1, 2, np.nan], [1, np.nan, 2], [np.nan, 1, 2]])
        expected = mean @ [1, 2, 3] + mean[[0, 2, 1]] @ [1, 2, 3] + mean[[2, 0, 1]] @ [1, 2, 3]
        variance = sum((abs(a - b) * 2 / 3) ** 2 for a, b in ((1, 2), (1, 3), (2, 3)))
        assert asked(page_test, gaps).statistic == pytest.approx(expected / math.sqrt(variance), rel=1e-12)

    def test_numbers_as_labels(self):
        frame = long(drawn(2)).replace({"object": dict(zip("ABCDE", range(5), strict=True))})
        found = page_test(frame, block="judge", order=[0, 1, 2, 3, 4])
        assert found.statistic == pytest.approx(asked(page_test, drawn(2)).statistic, rel=1e-12)


# -- what cannot be tested ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", ALL)
def test_nothing_but_ties_has_no_p_value(test):
    found = asked(test, np.ones((12, 3)))
    assert np.isnan([found.statistic, found.p_value]).all()
    assert found.notes == ("all ranks are tied, so there is nothing to test",)


@pytest.mark.parametrize("test", [friedman_test, durbin_test, skillings_mack_test])
def test_one_block_has_no_p_value(test):
    found = asked(test, [[1, 2, 3]])
    assert np.isnan([found.statistic, found.p_value]).all()
    assert found.notes == ("no object is in more than one block, so the statistic is the same whatever the ranks",)


@pytest.mark.parametrize("test", ALL)
def test_few_blocks_are_noted(test):
    assert "only 4 blocks: the p-value is rough" in asked(test, drawn(1, 4)).notes
    assert not [note for note in asked(test, drawn(1, 10)).notes if "rough" in note]


SOME = [[1, 2, 3], [2, 1, np.nan], [1, 2, 3]]
UNEVEN = [[1, 2, np.nan], [2, np.nan, 1], [1, 2, np.nan]]
ERRORS = [
    (friedman_test, wide(SOME), {"objects": ["A", "B", "C"]}, DesignError, "the first row 1 with 2; .*skillings_mack"),
    (friedman_test, long(SOME), {"block": "judge"}, DesignError, "judge='J1' with 2"),
    (
        durbin_test,
        wide(SOME),
        {"objects": ["A", "B", "C"]},
        DesignError,
        "blocks have 2 to 3 objects; .*skillings_mack",
    ),
    (durbin_test, wide(UNEVEN), {"objects": ["A", "B", "C"]}, DesignError, "by object are 1 to 3; .*skillings_mack"),
    (
        durbin_test,
        wide([[1, 2, NA, NA], [NA, NA, 1, 2]]),
        {"objects": list("ABCD")},
        DesignError,
        "by pair are 0 to 1",
    ),
    (friedman_test, wide(SOME), {}, JudgmentError, "found neither; expected .*objects=.* or block="),
    (friedman_test, wide(SOME), {"objects": ["A", "B"], "block": "C"}, JudgmentError, "found both"),
    (
        friedman_test,
        wide(SOME),
        {"objects": ["A", "X"]},
        JudgmentError,
        "no column 'X'; expected columns among 'A', 'B', 'C'",
    ),
    (friedman_test, wide(SOME), {"objects": ["A", "A"]}, JudgmentError, "named twice"),
    (friedman_test, wide(SOME), {"objects": ["A"]}, JudgmentError, "found 1 object; expected ranks of two or more"),
    (friedman_test, long(SOME), {"block": "rater"}, JudgmentError, "no column 'rater'"),
    (
        skillings_mack_test,
        wide([[1, 2, NA], [2, 1, NA]]),
        {"objects": ["A", "B", "C"]},
        JudgmentError,
        "skillings_mack_test: 1 object never ranked together with another: 'C'.*Leave them out",
    ),
    (
        friedman_test,
        pd.concat([long(SOME), long(SOME)[:1]]),
        {"block": "judge"},
        JudgmentError,
        "1 object repeated within a block",
    ),
    (friedman_test, wide(SOME).replace({1.0: "first"}), {"objects": ["A", "B"]}, JudgmentError, "not a number"),
    (
        page_test,
        wide(SOME),
        {"objects": ["A", "B", "C"], "order": ["A", "B"]},
        OptionError,
        "check 'C'; expected 'A', 'B'",
    ),
    (page_test, wide(SOME), {"objects": ["A", "B", "C"], "order": list("ABCC")}, OptionError, "once: check 'C'"),
    (page_test, wide(SOME), {"objects": ["A", "B", "C"], "order": list("ABCX")}, OptionError, "check 'X'"),
]


@pytest.mark.parametrize(("test", "frame", "options", "error", "fragment"), ERRORS)
def test_errors_say_what_was_found_and_what_to_do(test, frame, options, error, fragment):
    with pytest.raises(error, match=f"(?s){fragment}"):
        test(frame, **options)


def test_page_needs_an_order():
    with pytest.raises(TypeError, match="order"):
        page_test(wide(SOME), objects=["A", "B", "C"])


@pytest.mark.parametrize("test", ALL)
def test_the_frame_is_left_as_it_was(test):
    frame = wide(drawn(1))
    before = frame.copy()
    test(frame, objects=list(frame), **({"order": list(frame)} if test is page_test else {}))
    pd.testing.assert_frame_equal(frame, before)


def test_the_printout_names_test_and_hypothesis():
    text = asked(page_test, drawn(1), order=list("EDCBA")).as_text()
    assert text.startswith("Page's test\nNull hypothesis: in every block all orders of its objects are equally likely")
    assert "in the order 'E', 'D', 'C', 'B', 'A'" in text
