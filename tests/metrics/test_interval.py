"""Intervals of correlations: Fisher's by formula and by scipy, bootstraps against plain loops, coverage simulated."""

import math

import joblib
import numpy as np
import pytest
from scipy import stats
from support.correlations import LEVELS, SCIPY, by_loop, scores
from support.draws import first_block

import llbt
from llbt.errors import JudgmentError, OptionError
from llbt.metrics.correlate import correlate
from llbt.metrics.interval import fisher_interval
from llbt.metrics.metric_scores import MetricScores
from llbt.metrics.resampled import bootstrap_correlations

FABBRI = "deutsch_fabbri2020.csv.gz"


def agreeing(systems, inputs, rng):
    """Scores of a metric and of humans that share a quality of the systems."""
    z = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    return z + rng.normal(size=(systems, inputs)), z


# -- Fisher ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_fisher_s_interval_of_pearson_s_r_is_scipy_s(confidence):
    x, z = scores(shape=(15, 6))
    found = llbt.metrics.interval(x, z, method="fisher", confidence=confidence)
    expected = stats.pearsonr(x.mean(axis=1), z.mean(axis=1)).confidence_interval(confidence)
    assert (found.conf_low, found.conf_high) == pytest.approx((expected.low, expected.high), abs=1e-12)


FISHER = {  # Bonett & Wright (2000): points lost, and the factor of the standard error, at r
    "pearson": (3, lambda r: 1.0),
    "spearman": (3, lambda r: math.sqrt(1 + r * r / 2)),
    "kendall": (4, lambda r: math.sqrt(0.437)),
}


@pytest.mark.parametrize("coefficient", FISHER)
@pytest.mark.parametrize("level", ["system", "input"])
def test_fisher_s_interval_counts_systems_at_both_levels(level, coefficient):
    """By logarithms in place of atanh, with z = 1.959964."""
    x, z = scores(shape=(15, 6))
    r = by_loop(x, z, level, coefficient)
    lost, factor = FISHER[coefficient]
    half = 1.959964 * factor(r) / math.sqrt(15 - lost)
    ends = [math.exp(2 * (0.5 * math.log((1 + r) / (1 - r)) + sign * half)) for sign in (-1, 1)]
    found = llbt.metrics.interval(x, z, level=level, coefficient=coefficient, method="fisher")
    assert (found.conf_low, found.conf_high) == pytest.approx([(e - 1) / (e + 1) for e in ends], abs=1e-6)


@pytest.mark.parametrize(
    ("x", "z", "fragment"),
    [
        ([1.0, 2, 3, 5], [1.0, 3, 2, 4], "needs more than 4 points, found 4"),
        ([1.0, 2, 3, 4, 5], [2.0, 4, 6, 8, 10], "correlation of 1 is infinite"),
        ([1.0, 2, 3, 4, 5], [2.0] * 5, "undefined"),
    ],
)
def test_fisher_s_interval_is_nan_where_there_is_none(x, z, fragment):
    found = llbt.metrics.interval(x, z, method="fisher", coefficient="kendall")
    assert np.isnan([found.conf_low, found.conf_high]).all()
    assert fragment in found.as_text()


def test_fisher_s_interval_at_global_level_has_a_reservation():
    assert "too narrow" in llbt.metrics.interval(*scores(), level="global", method="fisher").as_text()


# -- bootstrap -------------------------------------------------------------------------------------------------------


def looped(x, z, level, coefficient, resampled, n, rng):
    """The bootstrap distribution by writing out every resample, from the same draws."""
    systems, inputs = x.shape
    both = [np.tile(np.arange(size), (n, 1)) for size in (systems, inputs)]
    if resampled != "inputs":
        both[0] = rng.integers(systems, size=(n, systems))
    if resampled != "systems":
        both[1] = rng.integers(inputs, size=(n, inputs))
    cells = [np.ix_(rows, columns) for rows, columns in zip(*both, strict=True)]
    return [by_loop(x[cell], z[cell], level, coefficient) for cell in cells]


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("resampled", ["systems", "inputs", "both"])
@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.slow
def test_the_bootstrap_distribution_is_that_of_a_plain_loop(level, coefficient, resampled, missing):
    x, z = scores(ties=True, missing=missing, shape=(8, 9))
    rng = np.random.default_rng
    found = bootstrap_correlations((x,), z, level, coefficient, resampled, True, 30, rng(5))[0]
    np.testing.assert_allclose(found, looped(x, z, level, coefficient, resampled, 30, rng(5)), atol=1e-10)


def test_the_bounds_are_percentiles_of_the_replicates():
    found = llbt.metrics.interval(*scores(), confidence=0.9, n=999, rng=1)
    assert (found.conf_low, found.conf_high) == pytest.approx(np.quantile(found.replicates, [0.05, 0.95]))
    assert found.estimate == correlate(*scores()).estimate


def test_resamples_of_other_draws_have_the_same_distribution():
    """Kolmogorov and Smirnov's test of our replicates against a loop with draws of its own."""
    x, z = scores(shape=(10, 12))
    found = llbt.metrics.interval(x, z, n=2000, rng=1).replicates
    other = looped(x, z, "system", "pearson", "both", 400, np.random.default_rng(99))
    assert stats.ks_2samp(found, other).pvalue > 0.01


def test_undefined_resamples_widen_the_interval():
    """Two systems: half of the resamples have one of them twice, and no correlation."""
    found = llbt.metrics.interval([[1.0, 2], [2, 4]], [[1.0, 1], [3, 4]], method="boot-systems", n=400, rng=1)
    undefined = np.isnan(found.replicates)
    assert stats.binomtest(int(undefined.sum()), 400, 0.5).pvalue > 0.001
    assert (found.conf_low, found.conf_high) == (-math.inf, math.inf)
    assert f"{undefined.sum()} resamples without a correlation" in found.as_text()


def test_no_correlation_no_interval():
    x, _ = scores()
    found = llbt.metrics.interval(x, np.ones_like(x), n=20, rng=1)
    assert np.isnan([found.estimate, found.conf_low, found.conf_high]).all()


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing():
    """Processes that are forked start at once; what they are given is pickled as for any other."""
    x, z = scores()
    with joblib.parallel_config(backend="multiprocessing"):
        one, two = (llbt.metrics.interval(x, z, level="input", n=600, rng=3, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.replicates, two.replicates)
    assert len(one.replicates) == 600


def test_a_progress_bar_changes_nothing(capsys):
    one, other = (llbt.metrics.interval(*scores(), n=300, rng=3, progress=shown) for shown in (False, True))
    np.testing.assert_array_equal(one.replicates, other.replicates)
    assert "metrics.interval" in capsys.readouterr().err


def test_humans_inputs_of_their_own_are_drawn_apart():
    """Only inputs drawn, quality shared by inputs: drawn together they move together, drawn apart they do not."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(6, 40)) * 3
    x, z = (np.arange(6)[:, None] + shared + rng.normal(size=(6, 40)) for _ in range(2))
    spread = [
        llbt.metrics.interval(x, z, method="boot-inputs", paired_inputs=paired, n=500, rng=1).replicates.std()
        for paired in (True, False)
    ]
    assert spread[0] < 0.5 * spread[1]
    fewer = llbt.metrics.interval(x, z[:, :10], paired_inputs=False, n=200, rng=1)
    assert fewer.conf_low < fewer.estimate < fewer.conf_high


X, Z = scores()
ERRORS = {
    "method": ({"method": "boot"}, llbt.errors.OptionError, "method='boot'; expected 'boot-systems'"),
    "confidence": ({"confidence": 95}, llbt.errors.OptionError, "confidence=95"),
    "n": ({"n": 0}, llbt.errors.OptionError, "n=0"),
    "jobs": ({"n_jobs": 0}, llbt.errors.OptionError, "n_jobs=0"),
    "rng": ({"rng": "1"}, llbt.errors.OptionError, "rng='1'"),
    "pairing": ({"level": "input", "paired_inputs": False}, llbt.errors.OptionError, "Pass level='system'"),
    "inputs": ({"human": Z[:, :3]}, llbt.errors.OptionError, "metric has 7 inputs, human 3.*Pass paired_inputs=False"),
    "systems": ({"human": Z[:3]}, llbt.errors.JudgmentError, "expected as many systems"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_say_what_was_found(case):
    options, error, fragment = ERRORS[case]
    with pytest.raises(error, match=fragment):
        llbt.metrics.interval(X, **{"human": Z, "n": 10, **options})


# -- coverage --------------------------------------------------------------------------------------------------------


def test_fisher_s_interval_covers_a_normal_correlation():
    """Pairs of normals with ρ = .6: at most 4 standard errors from 95 % in 2,000 samples."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(2000):
        x = rng.normal(size=(20, 1))
        found = fisher_interval(x, 0.6 * x + 0.8 * rng.normal(size=(20, 1)), "system", "pearson", 0.95)
        held += found.conf_low <= 0.6 <= found.conf_high
    assert abs(held / 2000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 2000)


@pytest.mark.slow
def test_the_bootstrap_of_systems_covers_what_it_resamples():
    """New systems on the same inputs: from the simulation's own truth, ρ of the means = .8; a percentile interval of
    40 systems covers a little less than 95 %."""
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        quality = rng.normal(size=(40, 1))
        x, z = (quality + 0.5 * np.sqrt(5) * rng.normal(size=(40, 5)) for _ in range(2))  # variance of a mean: 1 + .25
        found = llbt.metrics.interval(x, z, method="boot-systems", n=400, rng=rng)
        held += found.conf_low <= 0.8 <= found.conf_high
    assert 0.90 <= held / 400 <= 0.98


def test_coverage_is_that_of_a_loop_over_halves():
    """Fisher's intervals of permuted halves by hand, from the same permutations."""
    x, z = agreeing(11, 9, np.random.default_rng(3))
    found = llbt.metrics.coverage(x, z, methods=["fisher"], n_trials=8, rng=4)
    rng = first_block(4)
    sides = []
    for _ in range(8):
        rows, columns = rng.permutation(11), rng.permutation(9)
        one, other = np.ix_(rows[:5], columns[:4]), np.ix_(rows[5:10], columns[4:8])
        bounds = stats.pearsonr(x[one].mean(axis=1), z[one].mean(axis=1)).confidence_interval()
        r = stats.pearsonr(x[other].mean(axis=1), z[other].mean(axis=1)).statistic
        sides.append(int(r > bounds.high) - int(r < bounds.low))
    assert (found.below[0], found.covered[0], found.above[0]) == tuple(sides.count(side) for side in (-1, 0, 1))


def test_coverage_does_not_depend_on_the_number_of_processes():
    x, z = agreeing(8, 8, np.random.default_rng(3))
    with joblib.parallel_config(backend="threading"):
        one, two = (llbt.metrics.coverage(x, z, n=50, n_trials=25, rng=4, n_jobs=jobs) for jobs in (1, 2))
    assert one.as_text() == two.as_text()
    assert (one.below + one.covered + one.above + one.undefined).tolist() == [25] * 4


def test_trials_without_a_correlation_are_counted():
    x, z = agreeing(8, 8, np.random.default_rng(3))
    found = llbt.metrics.coverage(x, np.ones_like(z), methods="fisher", n_trials=5, rng=1)
    assert found.undefined.tolist() == [5]
    assert np.isnan(found.estimate).all()
    assert "5 trials without" in found.as_text()


@pytest.mark.parametrize(
    ("options", "error", "fragment"),
    [
        ({"methods": []}, OptionError, "methods=\\[\\]"),
        ({"methods": ["boot"]}, OptionError, r"methods=\['boot'\]"),
        ({"n_trials": 0}, OptionError, "n_trials=0"),
        ({"metric": X[:3], "human": Z[:3]}, JudgmentError, "3 systems and 7 inputs"),
    ],
)
def test_coverage_refuses_what_it_cannot_simulate(options, error, fragment):
    with pytest.raises(error, match=fragment):
        llbt.metrics.coverage(**{"metric": X, "human": Z, **options})


# -- Deutsch, Dror & Roth (2021) -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fabbri(shared):
    return MetricScores.from_frame(
        shared / "data" / FABBRI, ["qa-eval_f1", "rouge-2_f1"], human="expert_relevance", input="instance"
    )


@pytest.mark.shared
def test_the_interval_of_rouge_2(fabbri):
    """Kendall's τ at system level, both resampled: [−.09, .84] in section 6."""
    found = llbt.metrics.interval(fabbri.matrix("rouge-2_f1"), fabbri.human_matrix(), coefficient="kendall", rng=1)
    assert (found.conf_low, found.conf_high) == pytest.approx((-0.09, 0.84), abs=0.05)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "published"), [("system", [0.87, 0.81, 0.70, 0.98]), ("input", [1.00, 0.73, 0.73, 0.93])]
)
def test_the_coverage_of_table_1(fabbri, level, published):
    """QAEval-F1, Pearson, 1,000 halves; 200 resamples in place of 1,000 change little.

    Standard error of either simulation: up to .015."""
    x, z = fabbri.matrix("qa-eval_f1"), fabbri.human_matrix()
    found = llbt.metrics.coverage(x, z, level=level, n=200, n_trials=1000, rng=3)
    np.testing.assert_allclose(found.estimate, published, atol=0.03)
