"""Tests that compare metrics: against enumeration, loops, simulated size, and published counts."""

import itertools
import math

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.correlations import LEVELS, SCIPY, by_loop, scores

import llbt
from llbt.metrics.compare import difference_p, standardized
from llbt.metrics.metric_scores import MetricScores
from llbt.metrics.resampled import swapped_difference

SWAPS = {"perm-systems": (True, False), "perm-inputs": (False, True), "perm-both": (True, True)}
FABBRI = [
    "rouge-1_f1",
    "rouge-2_f1",
    "rouge-l_f1",
    "rouge-su4_f1",
    "BEwTE_f1",
    "qa-eval_f1",
    "AutoSummENG",
    "MeMoG",
    "NPowER",
    "bertscore_recall",
    "METEOR",
    "MoverScore",
    "s3_resp",
]
WMT = [
    "BEER",
    "BERTr",
    "BLEU",
    "CDER",
    "CharacTER",
    "chrF",
    "chrF+",
    "EED",
    "ESIM",
    "Meteor++_2.0(syntax)",
    "Meteor++_2.0(syntax+copy)",
    "NIST",
    "PER",
    "PReP",
    "sacreBLEU-BLEU",
    "sacreBLEU-chrF",
    "TER",
    "WER",
    "WMDO",
    "YiSi-0",
    "YiSi-1",
    "YiSi-1_srl",
]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def three(ties=False, missing=0.0, shape=(6, 5), seed=1):
    """Two metrics, of which the first is nearer to the humans, and the humans."""
    x, z = scores(ties, missing, shape, seed)
    y = x + 2 * np.random.default_rng(seed + 1).normal(size=shape)
    return x, np.round(y) if ties else y, z


def swaps_of(method, shape):
    """All swaps of a method, shape (2^cells, N or 1, M or 1)."""
    size = tuple(n if swapped else 1 for n, swapped in zip(shape, SWAPS[method], strict=True))
    return np.array(list(itertools.product([False, True], repeat=math.prod(size)))).reshape(-1, *size)


def looped_differences(x, y, z, level, coefficient, swaps):
    x, y = standardized(x), standardized(y)
    found = []
    for swap in swaps:
        swap = np.broadcast_to(swap, x.shape)
        sides = np.where(swap, y, x), np.where(swap, x, y)
        found.append(by_loop(sides[0], z, level, coefficient) - by_loop(sides[1], z, level, coefficient))
    return np.array(found)


# -- permutation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("method", SWAPS)
@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("level", LEVELS)
def test_swapped_differences_are_those_of_a_loop(level, coefficient, method, missing):
    x, y, z = three(ties=True, missing=missing)
    y[np.isnan(x)] = np.nan
    shape = (25, *(n if swapped else 1 for n, swapped in zip(x.shape, SWAPS[method], strict=True)))
    swaps = np.random.default_rng(3).random(shape) < 0.5
    found = swapped_difference(standardized(x), standardized(y), z, level, coefficient, swaps)
    np.testing.assert_allclose(found, looped_differences(x, y, z, level, coefficient, swaps), atol=1e-10)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize(
    ("method", "shape"), [("perm-both", (3, 2)), ("perm-systems", (6, 2)), ("perm-inputs", (4, 5))]
)
@pytest.mark.parametrize("level", ["system", "input"])
def test_p_values_are_those_of_all_swaps(level, method, shape, alternative):
    """Full enumeration on tiny scores: the simulated p-value is at most 4 standard errors away."""
    x, y, z = three(shape=shape)
    every = looped_differences(x, y, z, level, "pearson", swaps_of(method, shape))
    delta = every[0]  # nothing swapped
    sign = {"greater": every - delta, "less": delta - every, "two-sided": np.abs(every) - abs(delta)}[alternative]
    exact = np.mean(sign >= -1e-10)
    found = llbt.metrics.compare(x, y, z, level=level, method=method, alternative=alternative, n=2000, rng=1)
    assert found.difference == pytest.approx(delta)
    assert abs(found.p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / 2000) + 1 / 2000


def test_the_p_value_is_never_0():
    _, y, z = three(shape=(12, 40))
    found = llbt.metrics.compare(z, y, z, alternative="greater", n=99, rng=1)
    assert found.p_value == 1 / 100


@pytest.mark.parametrize(("alternative", "expected"), [("greater", 3 / 6), ("less", 6 / 6), ("two-sided", 4 / 6)])
def test_the_p_value_by_hand(alternative, expected):
    """δ = .2; δ* = .2, −.3, .1, NaN, −.1: what is equal, and what is undefined, counts as at least as large."""
    replicates = np.array([0.2, -0.3, 0.1, np.nan, -0.1])
    assert difference_p(replicates, 0.2, "perm-both", alternative) == pytest.approx(expected)


@pytest.mark.parametrize(("alternative", "expected"), [("greater", 4 / 6), ("less", 5 / 6), ("two-sided", 1.0)])
def test_the_bootstrap_p_value_by_hand(alternative, expected):
    """δ* = .2, −.3, .1, NaN, 0: 3 are not above 0, 4 not below."""
    replicates = np.array([0.2, -0.3, 0.1, np.nan, 0.0])
    assert difference_p(replicates, 0.2, "boot", alternative) == pytest.approx(expected)


def test_a_metric_does_not_differ_from_itself_on_another_scale():
    """Standardized they are the same, so that no swap changes anything."""
    x, _, z = three()
    found = llbt.metrics.compare(x, 10 * x + 3, z, n=99, rng=1)
    assert found.difference == pytest.approx(0, abs=1e-12)
    assert found.p_value == 1.0


@pytest.mark.parametrize("method", ["perm-both", "perm-systems", "perm-inputs", "boot", "williams"])
def test_exchanging_the_metrics_turns_the_alternative_round(method):
    x, y, z = three(shape=(10, 12))
    one = llbt.metrics.compare(x, y, z, method=method, alternative="greater", n=2000, rng=1)
    other = llbt.metrics.compare(y, x, z, method=method, alternative="less", n=2000, rng=1)
    assert one.difference == pytest.approx(-other.difference)
    assert one.p_value == pytest.approx(other.p_value, abs=0.002)


def test_cells_that_one_metric_lacks_are_left_out_of_both():
    x, y, z = three(shape=(8, 6))
    x[0, 0] = y[1, 1] = y[2, 3] = np.nan
    found = llbt.metrics.compare(x, y, z, level="input", n=50, rng=1)
    gone = np.isnan(x) | np.isnan(y)
    assert found.estimate_x == pytest.approx(by_loop(np.where(gone, np.nan, x), z, "input", "pearson"))
    assert "3 cells left out: one of the metrics has no score there" in found.as_text()


def test_undefined_resamples_are_counted():
    """Humans who know two grades: many resamples of three systems hold one of them only."""
    rng = np.random.default_rng(1)
    z = np.array([[1.0, 1], [1, 1], [2, 2]])
    found = llbt.metrics.compare(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), z, method="boot", n=200, rng=1)
    undefined = int(np.isnan(found.replicates).sum())
    assert stats.binomtest(undefined, 200, 9 / 27).pvalue > 0.001  # all of one grade: (2/3)³ + (1/3)³ = 9/27
    assert f"{undefined} resamples without a correlation" in found.as_text()


def test_no_correlation_no_test():
    x, y, z = three()
    found = llbt.metrics.compare(x, y, np.ones_like(z), n=20, rng=1)
    assert math.isnan(found.p_value)
    assert "undefined" in found.as_text()


def test_the_number_of_processes_changes_nothing():
    x, y, z = three()
    with joblib.parallel_config(backend="threading"):
        one, two = (llbt.metrics.compare(x, y, z, n=600, rng=3, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.replicates, two.replicates)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["system", "input"])
def test_the_size_of_the_permutation_test(level):
    """Two metrics that are exchangeable by construction: 5 % of the tests reject at .05."""
    rng = np.random.default_rng(5)
    rejected, n = 0, 500
    for _ in range(n):
        z = rng.normal(size=(10, 1)) + rng.normal(size=(10, 12))
        x, y = (z + rng.normal(size=(10, 12)) for _ in range(2))
        rejected += llbt.metrics.compare(x, y, z, level=level, alternative="greater", n=199, rng=rng).p_value <= 0.05
    assert abs(rejected / n - 0.05) < 4 * math.sqrt(0.05 * 0.95 / n)


# -- Williams --------------------------------------------------------------------------------------------------------


def test_williams_t_is_steiger_s_formula():
    """The determinant by numpy, and the formula as (2) in Steiger (1980)."""
    r_x, r_y, r_xy, n = 0.75, 0.6, 0.45, 24
    matrix = np.array([[1, r_x, r_y], [r_x, 1, r_xy], [r_y, r_xy, 1]])
    mean = (r_x + r_y) / 2
    top = (n - 1) * (1 + r_xy)
    expected = (r_x - r_y) * math.sqrt(
        top / (2 * (n - 1) / (n - 3) * np.linalg.det(matrix) + mean**2 * (1 - r_xy) ** 3)
    )
    found = llbt.metrics.williams(r_x, r_y, r_xy, n)
    assert (found.statistic, found.df, found.p_value) == pytest.approx((expected, 21, 2 * stats.t.sf(expected, 21)))


def test_williams_test_of_scores_takes_their_correlations():
    x, y, z = three(shape=(12, 4))
    means = [side.mean(axis=1) for side in (x, y, z)]
    r = np.corrcoef(means)
    found = llbt.metrics.compare(x, y, z, method="williams", alternative="greater")
    by_hand = llbt.metrics.williams(r[0, 2], r[1, 2], r[0, 1], 12, alternative="greater")
    assert (found.statistic, found.df, found.p_value) == pytest.approx((by_hand.statistic, by_hand.df, by_hand.p_value))


@pytest.mark.parametrize(
    ("given", "fragment"),
    [(("a", 0.5, 0.3, 20), "r_x='a'"), ((0.5, 1.5, 0.3, 20), "r_y=1.5"), ((0.5, 0.5, 0.3, 20.5), "n=20.5")],
)
def test_williams_test_refuses_what_is_no_correlation(given, fragment):
    with pytest.raises((llbt.errors.DesignError, llbt.errors.OptionError), match=fragment):
        llbt.metrics.williams(*given)


def test_the_size_of_williams_test():
    rng = np.random.default_rng(7)
    z = rng.normal(size=(1500, 16))
    x, y = (z + rng.normal(size=z.shape) for _ in range(2))
    p = []
    for rows in zip(x, y, z, strict=True):
        r = np.corrcoef(rows)
        p.append(llbt.metrics.williams(r[0, 2], r[1, 2], r[0, 1], 16).p_value)
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 1500)


@pytest.mark.parametrize("x", [[1.0, 2, 3], [1.0, 3, 2, 5, 4]])
def test_williams_test_is_undefined_for_three_systems_and_for_one_metric_twice(x):
    x = np.array(x)
    z = np.arange(len(x)) ** 2.0
    found = llbt.metrics.compare(x, 2 * x, z, method="williams")
    assert math.isnan(found.p_value)
    assert "Williams' test is undefined" in found.as_text()


X, Y, Z = three()
ERRORS = {
    "method": ({"method": "fisher"}, llbt.errors.OptionError, "method='fisher'"),
    "alternative": ({"alternative": "bigger"}, llbt.errors.OptionError, "alternative='bigger'"),
    "williams": ({"method": "williams", "level": "input"}, llbt.errors.OptionError, "Pass level='system'"),
    "n": ({"n": 0}, llbt.errors.OptionError, "n=0"),
    "constant": ({"other": np.ones_like(X)}, llbt.errors.JudgmentError, "all scores of other are equal"),
    "inputs": ({"human": Z[:, :2]}, llbt.errors.JudgmentError, "expected the same systems"),
    "metrics": ({"other": Y[:, :2]}, llbt.errors.JudgmentError, r"metric has shape \(6, 5\), other \(6, 2\)"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_say_what_was_found(case):
    options, error, fragment = ERRORS[case]
    with pytest.raises(error, match=fragment):
        llbt.metrics.compare(**{"metric": X, "other": Y, "human": Z, "n": 10, **options})


# -- all pairs -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(1)
    human = rng.normal(size=(12, 1)) + rng.normal(size=(12, 30))
    metrics = {f"sd {sd}": human + sd * rng.normal(size=human.shape) for sd in (0.3, 1, 2, 8)}
    return MetricScores.from_matrices(metrics, human)


def test_all_pairs_are_the_tests_one_by_one(many):
    found = llbt.metrics.compare_all(many, n=2000, rng=1)
    for i, j in itertools.permutations(range(4), 2):
        x, y = many.values[[i, j]]
        one = llbt.metrics.compare(x, y, many.human, alternative="greater", n=2000, rng=2)
        assert found.difference[i, j] == pytest.approx(one.difference)
        assert abs(found.p_value[i, j] - one.p_value) < 0.06
    assert np.isnan(found.p_value.diagonal()).all()


@pytest.mark.parametrize(
    ("adjust", "by", "expected"),
    [
        (None, "row", [0.01, 0.02, 0.04]),
        ("bonferroni", "row", [0.03, 0.06, 0.12]),
        ("bonferroni", "table", [0.12, 0.24, 0.48]),
        ("holm", "row", [0.03, 0.04, 0.04]),
        ("fdr_bh", "row", [0.03, 0.03, 0.04]),
    ],
)
def test_p_values_are_adjusted_over_rows_or_the_table(adjust, by, expected):
    from llbt.metrics.compare_all import _adjusted

    p = np.full((4, 4), 0.9)
    np.fill_diagonal(p, np.nan)
    p[0, 1:] = [0.01, 0.02, 0.04]
    found = _adjusted(p, adjust, by)
    assert found[0, 1:] == pytest.approx(expected)
    assert np.isnan(found.diagonal()).all()


def test_williams_tests_of_all_pairs_are_two_directions_of_one(many):
    found = llbt.metrics.compare_all(many, method="williams", adjust=None)
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose((found.p_value + found.p_value.T)[off], 1)
    assert len(found.to_frame()) == 12


def test_pairs_without_a_test_are_counted():
    x, y, z = three(shape=(8, 1))
    found = llbt.metrics.compare_all(MetricScores.from_matrices({"a": x, "b": 2 * x, "c": y}, z), method="williams")
    assert "1 pair without a test" in found.as_text()


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda s: llbt.metrics.compare_all(s.values), "scores is of type ndarray; expected MetricScores"),
        (lambda s: llbt.metrics.compare_all(s, adjust="fdr"), "adjust='fdr'"),
        (lambda s: llbt.metrics.compare_all(s, family="column"), "family='column'"),
        (
            lambda s: llbt.metrics.compare_all(MetricScores.from_matrices({"a": X}, Z)),
            "1 metric; expected at least two",
        ),
        (lambda s: llbt.plot.significance(s), "comparisons is of type MetricScores; expected MetricComparisons"),
        (lambda s: llbt.plot.significance(llbt.metrics.compare_all(s, n=10), alpha=2), "alpha=2"),
    ],
)
def test_all_pairs_refuse_what_they_cannot_compare(many, call, fragment):
    with pytest.raises(llbt.errors.OptionError, match=fragment):
        call(many)


def test_the_picture_shades_what_is_significant(many):
    found = llbt.metrics.compare_all(many, adjust="bonferroni", n=500, rng=1)
    ax = llbt.plot.significance(found)
    shades = ax.images[0].get_array()
    np.testing.assert_array_equal(shades >= 1, found.better(adjusted=False))
    np.testing.assert_array_equal(shades == 2, found.better())
    dots = next(line for line in ax.lines if line.get_label() == "_better")
    assert set(zip(dots.get_ydata(), dots.get_xdata(), strict=True)) == set(
        zip(*np.nonzero(found.better()), strict=True)
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == list(many.metrics)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "row better than column, p ≤ 0.05",
        "and after Bonferroni by row",
    ]


# -- power -----------------------------------------------------------------------------------------------------------


def test_power_rises_with_the_loss_and_is_there_when_nothing_is_left(many):
    found = llbt.metrics.power(many.matrix("sd 0.3"), many.human_matrix(), degraded=[0.05, 1], n=99, n_trials=30, rng=1)
    assert (np.diff(found.estimate, axis=1) > 0).all()
    assert found.estimate[0, 1] > 0.9
    assert found.loss[0] < found.loss[1]
    assert found.to_frame()["method"].tolist() == ["perm-both"] * 2 + ["boot"] * 2


def test_power_does_not_depend_on_the_number_of_processes(many):
    x, z = many.matrix("sd 1"), many.human_matrix()
    with joblib.parallel_config(backend="threading"):
        one, two = (llbt.metrics.power(x, z, degraded=[0.5], n=40, n_trials=12, rng=1, n_jobs=jobs) for jobs in (1, 2))
    assert one.as_text() == two.as_text()


def test_a_degraded_metric_has_the_same_scores_elsewhere():
    from llbt.metrics.power import _degraded

    x, _, _ = three(missing=0.1, shape=(20, 20))
    worse = _degraded(x, 0.3, np.random.default_rng(1))
    np.testing.assert_array_equal(np.sort(worse, axis=None), np.sort(x, axis=None))
    np.testing.assert_array_equal(np.isnan(worse), np.isnan(x))
    there = ~np.isnan(x)
    assert np.mean((worse != x)[there]) == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("degraded", [[], [0.0], [1.2], [np.nan]])
def test_power_refuses_shares_that_are_none(degraded):
    with pytest.raises(llbt.errors.DesignError, match="expected shares of the scores, above 0 and up to 1"):
        llbt.metrics.power(X, Z, degraded=degraded)


# -- Deutsch, Dror & Roth (2021) -------------------------------------------------------------------------------------


@pytest.mark.shared
def test_qaeval_and_bertscore_beat_the_eleven_others(shared):
    """Figure 5, system level, Pearson's r, Bonferroni by row; with the rank coefficients other metrics win too."""
    path = shared / "data" / "deutsch_fabbri2020.csv.gz"
    many = MetricScores.from_frame(path, FABBRI, human="expert_relevance", input="instance")
    found = llbt.metrics.compare_all(many, adjust="bonferroni", n=1000, rng=1)
    wins = dict(zip(FABBRI, found.better().sum(axis=1), strict=True))
    assert {name: count for name, count in wins.items() if count} == {"qa-eval_f1": 11, "bertscore_recall": 11}


@pytest.fixture(scope="module")
def wmt(shared):
    path = shared / "data" / "wmt19_sys_scores" / "DA-newstest2019-deen-sys-nohy-scores.csv"
    return MetricScores.from_frame(pd.read_csv(path, sep=" "), WMT, human="HUMAN", system="SYSTEM", input=None)


@pytest.mark.shared
def test_williams_test_over_the_metrics_of_wmt19(wmt):
    """81 of 231 pairs of German to English differ, one-tailed at .05 in either direction."""
    found = llbt.metrics.compare_all(wmt, method="williams", adjust=None)
    better = found.p_value < 0.05
    assert (better | better.T).sum() // 2 == 81


@pytest.mark.shared
def test_williams_test_with_correlations_as_low_as_in_summarization(wmt):
    """3 of 231 pairs are left where both correlations with humans are .3 lower, that of the metrics as it is."""
    r = np.corrcoef(np.vstack([wmt.values[:, :, 0], wmt.human[:, 0]]))
    pairs = [
        min(
            llbt.metrics.williams(r[i, -1] - 0.3, r[j, -1] - 0.3, r[i, j], 16, alternative=side).p_value
            for side in ("greater", "less")
        )
        for i, j in itertools.combinations(range(22), 2)
    ]
    assert (len(pairs), sum(p < 0.05 for p in pairs)) == (231, 3)
