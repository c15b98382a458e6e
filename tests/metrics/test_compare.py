"""Tests of two metrics: against enumeration, loops and their simulated size."""

import itertools
import math

import joblib
import numpy as np
import pytest
from scipy import stats
from support.correlations import LEVELS, SCIPY, by_loop
from support.in_full import in_full
from support.three_metrics import X, Y, Z, three

import llbt
from llbt.metrics.compare import difference_p
from llbt.metrics.metric_tests import standardized
from llbt.metrics.resampled import swapped_difference

SWAPS = {"perm-systems": (True, False), "perm-inputs": (False, True), "perm-both": (True, True)}


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


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("method", SWAPS)
@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.slow
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
@pytest.mark.slow
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
    found = llbt.metrics.compare(z, y, z, method="perm-both", alternative="greater", n=99, rng=1)
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


def test_a_test_says_of_which_systems_it_speaks_and_how_small_its_p_can_be():
    """By enumeration: of 2⁶ swaps by system one is none, and two-sided all swapped is the same: 2/64."""
    x, y, z = three(shape=(6, 30))
    default = llbt.metrics.compare(x, y, z, n=999, rng=1)
    every = looped_differences(x, y, z, "system", "pearson", swaps_of("perm-systems", (6, 30)))
    assert np.isclose(np.abs(every), np.abs(every[0])).sum() == 2
    assert default.floors.tolist() == [2 / 64, 2 / 64]
    assert default.method == "perm-systems"
    assert "Null hypothesis: both metrics agree with humans equally well for systems like these\n" in default.as_text()
    assert "999 resamples: no p-value can be below 0.0312" in default.as_text()
    cells = llbt.metrics.compare(x, y, z, method="perm-both", n=99, rng=1)
    assert "equally well for these 6 systems, not for others" in in_full(cells)
    assert cells.floors[0] == 1 / 100
    williams = llbt.metrics.compare(x, y, z, method="williams")
    assert williams.floors[0] == 0
    assert "for systems like these" in williams.as_text()


def test_five_systems_are_too_few_to_swap():
    x, y, z = three(shape=(5, 30))
    found = llbt.metrics.compare(x, y, z, n=999, rng=1)
    assert found.p_value > 0.05
    assert "nothing can be significant at 0.05: with so few systems or inputs to swap" in " ".join(
        found.as_text().split()
    )
    few = llbt.metrics.compare(x, y, z, method="perm-both", n=9, rng=1)
    assert "so nothing can be significant at 0.05: raise n=9" in " ".join(few.as_text().split())


def test_tasks_have_floors_of_their_own():
    x, y, z = three(shape=(5, 30))
    sides = [{"en-de": side, "en-es": side[::-1]} for side in (x, y, z)]
    found = llbt.metrics.compare(*sides, n=9999, rng=1)
    assert found.floors.tolist() == pytest.approx([2 / 2**10, 2 / 32, 2 / 32])
    assert "in a task: no p-value can be below 0.0625" in str(found.by_task())
