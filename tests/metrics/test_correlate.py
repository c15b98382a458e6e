"""Correlations of metrics with humans against loops over scipy.stats."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.correlations import LEVELS, SCIPY, by_loop, of_points, scores

import llbt
from llbt.metrics import kernels as correlation_kernels
from llbt.metrics.correlate import correlate
from llbt.metrics.metric_scores import MetricScores


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("level", LEVELS)
def test_correlations_are_those_of_a_loop_over_scipy(level, coefficient, ties, missing):
    x, z = scores(ties, missing)
    found = correlate(x, z, level=level, coefficient=coefficient)
    assert found.estimate == pytest.approx(by_loop(x, z, level, coefficient), abs=1e-12)


def test_kendall_by_hand():
    """Two inputs: τ-b of (1, 3, 2) with (1, 2, 3) is 1/3; of (4, 5, 9) with (2, 3, 3) it is 2/√(3·2)."""
    found = correlate([[1, 4], [3, 5], [2, 9]], [[1, 2], [2, 3], [3, 3]], level="input", coefficient="kendall")
    assert found.estimate == pytest.approx((1 / 3 + 2 / np.sqrt(6)) / 2, abs=1e-15)


@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("ties", [False, True])
def test_weights_are_resamples_written_out(coefficient, ties):
    """By columns with common and with own weights, by rows, and by rows sorted: scipy on each resample."""
    x, z = scores(ties, 0.1)
    drawn = np.random.default_rng(2).integers(9, size=(40, 9))
    weights = np.array([np.bincount(row, minlength=9) for row in drawn], dtype=float)
    expected = np.array(
        [[of_points(a[row], b[row], coefficient) for a, b in zip(x.T, z.T, strict=True)] for row in drawn]
    )
    for given in (weights, np.repeat(weights[None], 7, axis=0)):
        found = correlation_kernels.column_correlations(x, z, given, coefficient)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    for j in range(7):
        there = ~np.isnan(x[:, j] + z[:, j])
        sides = (np.where(there, x[:, j], 0)[None], np.where(there, z[:, j], 0)[None], weights * there)
        kernels = [lambda *given: correlation_kernels.row_correlations(*given, coefficient, (0.0, 0.0))]
        if coefficient == "kendall":
            kernels.append(lambda *given: correlation_kernels._rows_kendall_sorted(*given, (0.0, 0.0)))
        for kernel in kernels:
            np.testing.assert_allclose(kernel(*sides), expected[:, j], atol=1e-12)


def test_columns_in_chunks_are_columns_at_once(monkeypatch):
    x, z = scores()
    weights = np.ones((3, 9))
    whole = correlation_kernels.column_correlations(x, z, weights, "spearman")
    monkeypatch.setattr(correlation_kernels, "_ENTRIES", 1)
    np.testing.assert_array_equal(correlation_kernels.column_correlations(x, z, weights, "spearman"), whole)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e150])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", SCIPY)
def test_correlations_do_not_depend_on_the_scale(scale, level, coefficient):
    x, z = scores()
    one = correlate(x, z, level=level, coefficient=coefficient)
    assert correlate(x * scale, z, level=level, coefficient=coefficient).estimate == pytest.approx(
        one.estimate, abs=1e-9
    )


@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
@pytest.mark.parametrize("level", ["input", "global"])
def test_rank_correlations_do_not_change_with_a_rising_function(level, coefficient):
    x, z = scores(ties=True)
    one, other = (correlate(side, z, level=level, coefficient=coefficient) for side in (x, np.exp(x)))
    assert one.estimate == other.estimate


@pytest.mark.parametrize("coefficient", SCIPY)
def test_constant_inputs_are_counted_and_left_out_of_the_mean(coefficient):
    x, z = scores()
    z[:, 2] = 3.0
    x[:, 5] = np.nan
    found = correlate(x, z, level="input", coefficient=coefficient)
    kept = [0, 1, 3, 4, 6]
    rest = correlate(x[:, kept], z[:, kept], level="input", coefficient=coefficient)
    assert found.estimate == pytest.approx(rest.estimate, abs=1e-14)
    assert (found.defined, found.undefined) == (5, 2)
    assert "undefined for 2 of 7 inputs" in found.as_text()
    assert "9 scores missing" in found.as_text()


@pytest.mark.parametrize("level", LEVELS)
def test_a_constant_side_has_no_correlation_and_a_note_says_so(level):
    x, _ = scores()
    found = correlate(x, np.full_like(x, 0.1), level=level)  # means of .1 differ by rounding
    assert np.isnan(found.estimate)
    assert found.defined == 0
    assert "undefined" in found.notes[-1]


def test_means_that_differ_by_rounding_are_tied():
    """.1 + .2 + .3 and .3 + .2 + .1 are different floats; as means of scores they are the same."""
    x = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [1.0, 1.0, 1.0]])
    z = np.array([[1.0] * 3, [2.0] * 3, [3.0] * 3])
    assert x[0].sum() != x[1].sum()
    assert correlate(x, z, coefficient="kendall").estimate == pytest.approx(2 / np.sqrt(6), abs=1e-12)


def test_one_score_per_system_is_a_system_level_correlation():
    x, z = scores(shape=(12, 1))
    assert correlate(x[:, 0], z[:, 0]).estimate == pytest.approx(stats.pearsonr(x[:, 0], z[:, 0]).statistic)


def test_humans_may_have_judged_other_inputs_at_system_level():
    x, z = scores()
    expected = stats.kendalltau(x.mean(axis=1), z[:, :3].mean(axis=1)).statistic
    assert correlate(x, z[:, :3], coefficient="kendall").estimate == pytest.approx(expected)


@pytest.mark.parametrize(("level", "n"), [("system", 8), ("input", 7), ("global", 48)])
def test_points_are_systems_or_cells_that_have_both_scores(level, n):
    """Nine systems, seven inputs; one system without any score, one with human scores elsewhere only, one cell gone."""
    x, z = scores()
    x[0] = x[1, :3] = z[1, 3:] = x[2, 2] = np.nan
    found = correlate(x, z, level=level)
    assert found.n == n
    assert float(found) == found.estimate == pytest.approx(by_loop(x[1:], z[1:], level, "pearson"), abs=1e-12)


def test_the_printed_correlation_is_the_number():
    found = correlate(*scores())
    assert float(found.as_text().splitlines()[3].split()[2]) == pytest.approx(found.estimate, abs=5e-5)
    assert pickle.loads(pickle.dumps(found)) == found


def test_the_caller_s_arrays_stay_as_they_are():
    x, z = scores(missing=0.1)
    before = x.copy()
    correlate(x, z, level="input")
    np.testing.assert_array_equal(x, before)


X, Z = scores()


ERRORS = {
    "level": (
        lambda: correlate(X, Z, level="summary"),
        llbt.errors.OptionError,
        "level='summary'",
    ),
    "coefficient": (lambda: correlate(X, Z, coefficient="tau"), llbt.errors.OptionError, "coefficient='tau'"),
    "shapes": (
        lambda: correlate(X, Z[:, :3], level="input"),
        llbt.errors.JudgmentError,
        r"metric has shape \(9, 7\), human \(9, 3\)",
    ),
    "systems": (lambda: correlate(X, Z[:3]), llbt.errors.JudgmentError, "expected as many systems"),
    "one system": (
        lambda: correlate(X[:1], Z[:1]),
        llbt.errors.JudgmentError,
        r"1 system; expected at least 2 \(rows of metric\) for a correlation",
    ),
    "infinite": (
        lambda: correlate(np.where(X > 1, np.inf, X), Z),
        llbt.errors.JudgmentError,
        "infinite score.*first in row",
    ),
    "text": (
        lambda: correlate([["a"], ["b"]], [[1], [2]]),
        llbt.errors.JudgmentError,
        "metric is not a matrix of numbers",
    ),
    "cube": (lambda: correlate(np.ones((2, 2, 2)), Z), llbt.errors.JudgmentError, r"shape \(2, 2, 2\)"),
    "order": (
        lambda: correlate(pd.DataFrame(X), pd.DataFrame(Z).iloc[::-1]),
        llbt.errors.JudgmentError,
        r"are in a different order.*human\.reindex_like\(metric\)",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_say_what_was_found(case):
    call, error, fragment = ERRORS[case]
    with pytest.raises(error, match=fragment):
        call()


def labelled():
    return pd.DataFrame(X, index=[f"s{k}" for k in range(len(X))], columns=[f"i{k}" for k in range(X.shape[1])])


def test_matrices_keep_the_labels_of_a_frame():
    found = MetricScores.from_matrices({"a": labelled(), "b": X}, Z)
    assert (found.systems, found.inputs) == (tuple(labelled().index), tuple(labelled().columns))
    named = MetricScores.from_matrices({"a": labelled()}, Z, systems=range(len(X)))
    assert named.systems == tuple(range(len(X)))


@pytest.mark.parametrize("turned", [labelled()[::-1], labelled().iloc[:, ::-1]], ids=["systems", "inputs"])
def test_frames_in_another_order_are_refused(turned):
    with pytest.raises(llbt.errors.JudgmentError, match="human and 'a' are frames whose labels differ"):
        MetricScores.from_matrices({"a": labelled()}, turned)
    with pytest.raises(llbt.errors.JudgmentError, match=r"Align them first: human.reindex_like\(metric\)"):
        correlate(labelled(), turned)


def test_dates_and_digits_in_quotes_are_no_scores():
    for values in (["1", "2", "3"], pd.to_datetime(["2020", "2021", "2022"])):
        with pytest.raises(llbt.errors.JudgmentError, match="correlate: metric is not a matrix of numbers"):
            correlate(values, [1.0, 2.0, 3.0])


COEFFICIENTS = ("pearson", "spearman", "kendall")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_scores_that_differ_by_rounding_are_tied(level, coefficient):
    """Scores on a grid of tenths, as they are and a few units in the last place off."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(12, 30))
    z, grid = x + rng.normal(size=x.shape), np.round(x, 1)
    noisy = grid * (1 + rng.integers(-2, 3, size=x.shape) * 2.2e-16)
    assert (noisy != grid).mean() > 0.5
    expected = llbt.metrics.correlate(grid, z, level=level, coefficient=coefficient).estimate
    assert llbt.metrics.correlate(noisy, z, level=level, coefficient=coefficient).estimate == pytest.approx(
        expected, abs=1e-12
    )
    assert llbt.metrics.correlate(z, noisy, level=level, coefficient=coefficient).estimate == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("offset", [1e11, -1e11])
def test_an_offset_changes_no_correlation(level, coefficient, offset):
    """Scores in quarters, which the shift keeps exactly: the same correlations as without it."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 40, size=(12, 30)) / 4
    z = x + rng.integers(0, 80, size=x.shape) / 4
    options = {"level": level, "coefficient": coefficient}
    expected = llbt.metrics.correlate(x, z, **options).estimate
    assert llbt.metrics.correlate(x + offset, z, **options).estimate == pytest.approx(expected, abs=1e-12)
    assert llbt.metrics.correlate(x, z + offset, **options).estimate == pytest.approx(expected, abs=1e-12)
    few = {"n": 20, "rng": 1, **options}
    moved = llbt.metrics.interval(x + offset, z - offset, **few)
    assert moved.conf_low == pytest.approx(llbt.metrics.interval(x, z, **few).conf_low, abs=1e-9)


def test_small_scores_beside_large_ones_keep_their_order():
    x = [1e-20, 2e-20, 3e-20, 1.0, 1e6]
    assert llbt.metrics.correlate(x, [1, 2, 3, 4, 5], coefficient="kendall").estimate == 1


@pytest.mark.parametrize(
    ("level", "rule"),
    [
        ("system", "a system's mean is over its available scores"),
        ("input", "a cell counts if both scores are present"),
        ("global", "a cell counts if both scores are present"),
    ],
)
def test_a_note_counts_missing_scores_and_states_the_rule(level, rule):
    x, z = scores()
    x[0, 0] = np.nan
    assert correlate(x, z, level=level).notes == (f"1 score missing: {rule}",)


def test_what_is_masked_is_missing():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(8, 5))
    z = x + rng.normal(size=x.shape)
    hidden = rng.random(x.shape) < 0.2
    wrong = np.where(hidden, -999.0, x)
    expected = llbt.metrics.correlate(np.where(hidden, np.nan, x), z)
    found = llbt.metrics.correlate(np.ma.masked_array(wrong, hidden), np.ma.masked_array(z, False))
    assert (found.estimate, found.notes) == (expected.estimate, expected.notes)
    assert abs(llbt.metrics.correlate(wrong, z).estimate - expected.estimate) > 0.05
    whole = np.ma.masked_array([[1, -9], [2, 3], [3, 1]], [[0, 1], [0, 0], [0, 0]])
    scores = llbt.metrics.MetricScores.from_matrices({"m": whole}, [[1, 2], [2, 3], [3, 4]])
    assert np.isnan(scores.matrix("m").iloc[0, 1])
    with pytest.raises(llbt.errors.JudgmentError, match=r"1 count.* missing"):
        llbt.from_matrix(np.ma.masked_array([[0, 9], [1, 0]], [[0, 1], [0, 0]]), names=["a", "b"])
    with pytest.raises(llbt.errors.JudgmentError, match="not finite"):
        llbt.metrics.pairwise_accuracy(np.ma.masked_array([1.0, 2, 3], [0, 0, 1]), [1.0, 2, 3])


def test_float_noise_makes_no_difference_to_tie_calibration():
    rng = np.random.default_rng(6)
    x, z = rng.integers(0, 6, 40) / 10, rng.integers(0, 5, 40) / 10
    noisy = z * (1 + 3e-16 * rng.integers(-1, 2, 40))
    expected = llbt.metrics.tie_calibrated_accuracy(x, z)
    assert llbt.metrics.tie_calibrated_accuracy(x, noisy).human_ties == expected.human_ties


def test_one_score_per_system_that_differs_by_rounding_is_tied():
    """Systems whose means are equal up to the order of their sum, as a caller's own means are."""
    human = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    metric = np.array([0.1 + 0.2, 0.3, 0.5, 0.1 * 8, 0.7 + 0.1, 0.9])
    assert len(np.unique(metric)) == 6
    found = llbt.metrics.correlate(metric, human, coefficient="kendall")
    expected = stats.kendalltau(np.round(metric, 9), human).statistic
    assert found.estimate == pytest.approx(expected)


def test_outliers_that_are_kept_are_said_with_what_is_without_them():
    """Mathur et al. (2020), recommendation 1: remove them before Pearson's r is computed."""
    metric, human = [30, 28, 29, 27, 10], [0.2, 0.1, 0.0, -0.1, -1.4]
    kept = llbt.metrics.correlate(metric, human)
    without = llbt.metrics.correlate(metric, human, outliers="drop")
    advice = "without them (outliers='drop', Mathur et al. 2020): 0.80000"
    assert kept.notes == ("systems with outlying human scores are included: 4", advice)
    assert without.estimate == pytest.approx(0.8)
    assert llbt.metrics.correlate(metric[:4], human[:4]).notes == ()
