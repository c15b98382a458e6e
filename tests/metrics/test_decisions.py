"""Decisions by a metric and the difference it takes: against scipy, plain loops and direct maximisation."""

import itertools
import math
import pickle
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special, stats
from support.draws import draw, first_block

import llbt
from llbt.errors import DesignError, JudgmentError, OptionError
from llbt.metrics.accuracy import pairwise_accuracy
from llbt.metrics.decision_errors import error_agreement
from llbt.metrics.decision_records import OUTCOMES
from llbt.metrics.decisions import decisions_from_tests
from llbt.metrics.difference_curve import difference_curve
from llbt.metrics.segment_tests import bootstrap, paired_t, rank_sum

PAIRS = np.triu_indices(5, 1)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def scores(seed, systems=5, segments=60, spread=0.3, decimals=6):
    rng = np.random.default_rng(seed)
    return np.round(spread * rng.normal(size=(systems, 1)) + rng.normal(size=(systems, segments)), decimals)


def ragged(seed, systems=5, spread=0.3, decimals=6):
    rng = np.random.default_rng(seed)
    return [np.round(spread * rng.normal() + rng.normal(size=rng.integers(20, 60)), decimals) for _ in range(systems)]


# -- tests of pairs ----------------------------------------------------------------------------------------------


def test_the_paired_t_test_is_scipys():
    x = scores(1)
    expected = [stats.ttest_rel(x[a], x[b]).pvalue for a, b in zip(*PAIRS, strict=True)]
    np.testing.assert_allclose(paired_t(x, *PAIRS), expected, rtol=1e-9)


@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_the_rank_sum_test_is_the_formula(decimals):
    """z = (|W − E W| − 1/2)/sd with the correction of the variance for ties, of pooled ranks."""
    samples = ragged(2, decimals=decimals)
    padded = np.full((5, 60), np.nan)
    for row, sample in zip(padded, samples, strict=True):
        row[: len(sample)] = sample
    found = rank_sum(padded, *PAIRS)
    for p, a, b in zip(found, *PAIRS, strict=True):
        m, n = len(samples[a]), len(samples[b])
        ranks = stats.rankdata(np.concatenate([samples[a], samples[b]]))
        _, ties = np.unique(ranks, return_counts=True)
        variance = m * n / 12 * (m + n + 1 - np.sum(ties**3 - ties) / ((m + n) * (m + n - 1)))
        z = max(0.0, abs(ranks[:m].sum() - m * (m + n + 1) / 2) - 0.5) / math.sqrt(variance)
        assert p == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)


@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_the_bootstrap_is_a_loop_over_resamples(decimals):
    x = scores(3, segments=25, decimals=decimals)
    resamples = first_block(4).integers(0, 25, size=(199, 25))
    expected = []
    for a, b in zip(*PAIRS, strict=True):
        moved = [sum(x[a, k] - x[b, k] for k in row) for row in resamples]
        below, above = sum(m <= 1e-9 for m in moved), sum(m >= -1e-9 for m in moved)
        expected.append(min(1.0, 2 * (1 + min(below, above)) / 200))
    np.testing.assert_allclose(bootstrap(x, *PAIRS, 199, draw(4)), expected, rtol=1e-12)


def test_the_bootstrap_is_near_the_t_test_for_many_segments():
    x = scores(5, segments=800, spread=0.05)
    np.testing.assert_allclose(bootstrap(x, *PAIRS, 20_000, draw(1)), paired_t(x, *PAIRS), atol=0.02)


def test_no_p_value_is_zero_and_equal_systems_have_one():
    x = np.vstack([np.zeros(4000), np.zeros(4000), 100 + np.random.default_rng(6).normal(size=(1, 4000))])
    pairs = np.triu_indices(3, 1)
    for p in (paired_t(x, *pairs), rank_sum(x, *pairs), bootstrap(x, *pairs, 99, draw(1))):
        assert p[0] == 1.0
        assert 0 < p[1] < 0.05
        assert 0 < p[2] < 0.05


def test_t_tests_of_constant_differences_or_one_segment_are_undefined():
    x = np.random.default_rng(7).integers(0, 9, size=6).astype(float)
    assert np.isnan(paired_t(np.vstack([x + 3, x]), np.array([0]), np.array([1]))).all()
    assert np.isnan(paired_t(np.array([[1.0], [2.0]]), np.array([0]), np.array([1]))).all()


@pytest.mark.slow
@pytest.mark.parametrize("test", ["paired-t", "bootstrap"])
def test_tests_of_the_metric_have_their_size(test):
    """Share of p < .05 in 2,000 pairs of equal systems with 50 segments; the bootstrap is a little too eager."""
    x = np.random.default_rng(8).normal(size=(4000, 50))
    i, j = np.arange(0, 4000, 2), np.arange(1, 4000, 2)
    p = paired_t(x, i, j) if test == "paired-t" else bootstrap(x, i, j, 499, draw(1))
    slack = 4 * math.sqrt(0.05 * 0.95 / 2000)
    assert 0.05 - slack < np.mean(p < 0.05) < 0.05 + slack + (0.012 if test == "bootstrap" else 0)


# -- the decision table ------------------------------------------------------------------------------------------


def decided(d, p, h, q, alpha):
    """Return the outcome of one pair in plain words of the definition."""
    if math.isnan(p) or math.isnan(q):
        return "undefined"
    if p < alpha and q < alpha:
        return "both" if d * h > 0 else "opposite"
    return "metric_only" if p < alpha else "humans_only" if q < alpha else "neither"


@pytest.mark.parametrize("metric_test", ["paired-t", "bootstrap"])
def test_the_table_is_a_loop_over_pairs(metric_test):
    metric, human = scores(9, systems=9, spread=0.5), ragged(10, systems=9, spread=0.6)
    found = llbt.metrics.decisions(metric, human, metric_test=metric_test, bins=[0.2, 0.4], rng=1, n=199)
    pairs = list(itertools.combinations(range(9), 2))
    drawn = bootstrap(metric, *np.triu_indices(9, 1), 199, draw(1))
    rows = []
    for k, (a, b) in enumerate(pairs):
        d, h = metric[a].mean() - metric[b].mean(), human[a].mean() - human[b].mean()
        p = stats.ttest_rel(metric[a], metric[b]).pvalue if metric_test == "paired-t" else drawn[k]
        q = stats.mannwhitneyu(human[a], human[b], method="asymptotic").pvalue
        rows.append((d, p, h, q, decided(d, p, h, q, 0.05)))
    frame = found.pairs().to_frame()
    columns = ["metric_difference", "metric_p", "human_difference", "human_p"]
    np.testing.assert_allclose(frame[columns], [row[:4] for row in rows], rtol=1e-9, atol=1e-12)
    assert frame["outcome"].tolist() == [row[4] for row in rows]
    assert set(frame["outcome"]) == set(OUTCOMES[:-1])
    bins = found.to_frame()
    edges = [(0, 0.2), (0.2, 0.4), (0.4, math.inf), (0, math.inf)]
    assert bins[["low", "high"]].to_numpy().tolist() == [list(edge) for edge in edges]
    for row, (low, high) in enumerate(edges):
        inside = [r[4] for r in rows if low <= abs(r[0]) < high]
        assert bins["n"].iloc[row] == len(inside)
        for name in ("both", "opposite", "neither"):
            assert bins[name].iloc[row] == inside.count(name)
        assert bins["type_1"].iloc[row] == inside.count("metric_only") + inside.count("opposite")
        assert bins["type_2"].iloc[row] == inside.count("humans_only")


def test_outcomes_of_known_tests():
    d, p = [1, 1, 1, 1, 1, -1, 1, 1.0], [0.01, 0.01, 0.01, 0.2, 0.2, 0.01, math.nan, 0.05]
    h, q = [1, 0.1, -1, 1, 0.1, -1, 1, 1.0], [0.01, 0.3, 0.01, 0.01, 0.3, 0.01, 0.01, 0.3]
    found = decisions_from_tests(d, p, h, q)
    expected = ["both", "metric_only", "opposite", "humans_only", "neither", "both", "undefined", "neither"]
    assert found.outcome.tolist() == expected
    assert found.outcome.tolist() == [decided(*row, 0.05) for row in zip(d, p, h, q, strict=True)]
    assert found.type_1.tolist() == [name in ("metric_only", "opposite") for name in expected]
    assert found.type_2.tolist() == [name == "humans_only" for name in expected]
    assert found.to_frame()["n"].iloc[-1] == 7
    assert "1 pair of 8 without a p-value" in found.notes[0]
    assert decisions_from_tests(d, p, h, q, alpha=0.25).outcome[3] == "both"


def test_missing_human_scores_and_lists_are_the_same():
    metric, human = scores(11), ragged(12)
    padded = np.full((5, 70), np.nan)
    for k, row in enumerate(human):
        padded[k, k : k + len(row)] = row
    one, other = llbt.metrics.decisions(metric, human), llbt.metrics.decisions(metric, padded)
    pd.testing.assert_frame_equal(one.pairs().to_frame(), other.pairs().to_frame())


def test_groups_are_apart_and_counted_together():
    metric, human = {"a": scores(13), "b": scores(14, systems=3)}, {"b": ragged(15, systems=3), "a": scores(16)}
    found = llbt.metrics.decisions(metric, human, bins=1)
    assert found.to_frame()["n"].tolist() == [13, 13]
    frame = found.pairs().to_frame()
    assert frame["group"].tolist() == ["a"] * 10 + ["b"] * 3
    apart = pd.concat([llbt.metrics.decisions(metric[k], human[k]).pairs().to_frame().assign(group=k) for k in "ab"])
    pd.testing.assert_frame_equal(frame, apart.reset_index(drop=True))


def test_frames_name_the_systems():
    metric = pd.DataFrame(scores(17, systems=3), index=["x", "y", "z"])
    assert llbt.metrics.decisions(metric, ragged(18, systems=3)).object_j == ("y", "z", "z")


@pytest.mark.parametrize("bins", [1, 3, 5])
def test_numbers_of_bins_have_about_the_same_number_of_pairs(bins):
    found = llbt.metrics.decisions(scores(19, systems=10), ragged(20, systems=10), bins=bins)
    n = found.to_frame()["n"].tolist()
    assert len(n) == bins + 1
    assert sum(n[:-1]) == n[-1] == 45
    assert max(n[:-1]) - min(n[:-1]) <= 1


def test_degenerate_tables():
    one = llbt.metrics.decisions(np.ones((1, 4)), np.ones((1, 4)))
    assert one.to_frame()["n"].tolist() == [0, 0]
    assert one.notes == ("no pair of systems",)
    equal = llbt.metrics.decisions(np.ones((3, 4)), np.ones((3, 4)))
    assert equal.outcome.tolist() == ["neither"] * 3
    assert equal.to_frame()["n"].tolist() == [3, 3]
    shifted = llbt.metrics.decisions(np.arange(3.0)[:, None] + np.zeros((3, 4)), ragged(21, systems=3))
    assert set(shifted.outcome) == {"undefined"}
    assert "3 pairs of 3 without a p-value" in shifted.notes[0]
    two = llbt.metrics.decisions(scores(22, systems=2), ragged(23, systems=2))
    assert two.to_frame()["n"].iloc[-1] == 1


def test_errors_of_one_metric_where_another_is_right():
    human = ragged(24, systems=10)
    truth = np.array([row.mean() for row in human])[:, None]
    rng = np.random.default_rng(25)
    tables = {
        name: llbt.metrics.decisions(truth + noise * rng.normal(size=(10, 50)), human)
        for name, noise in (("sure", 0.3), ("fair", 1.0), ("blind", 3.0))
    }
    found = error_agreement(tables)
    names = list(tables)
    right = {name: [o in ("both", "neither") for o in table.outcome] for name, table in tables.items()}
    kinds = {"type_1": ("metric_only", "opposite"), "type_2": ("humans_only",)}
    for kind, outcomes in kinds.items():
        for a, b in itertools.product(range(3), range(3)):
            wrong = [o in outcomes for o in tables[names[a]].outcome]
            expected = sum(w and (a == b or r) for w, r in zip(wrong, right[names[b]], strict=True))
            assert getattr(found, kind)[a, b] == expected
    assert found.type_1.sum() > 0
    assert found.type_2.sum() > 0
    frame = found.to_frame()
    assert frame["type_1"].tolist() == found.type_1.ravel().tolist()
    assert frame["other"].tolist()[:3] == ["(all errors)", "fair", "blind"]


def test_undefined_pairs_of_one_metric_are_left_out_of_all():
    humans = ([1.0, 1.0], [0.01, 0.01])
    one = decisions_from_tests([1.0, 1.0], [0.5, 0.5], *humans)
    other = decisions_from_tests([1.0, 1.0], [0.01, math.nan], *humans)
    found = error_agreement({"one": one, "other": other})
    assert found.n == 1
    assert found.type_2.tolist() == [[1, 1], [0, 0]]
    assert "1 pair without a p-value" in found.notes[0]


# -- the difference curve ----------------------------------------------------------------------------------------


def drawn(seed, n=300, intercept=0.2, slope=0.8, scale=1.0):
    rng = np.random.default_rng(seed)
    d = rng.exponential(2, size=n) * rng.choice([-1, 1], size=n)
    return scale * d, rng.random(n) < special.expit(intercept + slope * np.abs(d))


def maximised(d, agree):
    """Return estimate and inverse information of the logistic regression, by direct maximisation."""
    x = np.column_stack([np.ones(len(d)), np.abs(d)])

    def loss(b):
        return np.sum(np.logaddexp(0, x @ b)) - agree @ (x @ b)

    b = optimize.minimize(
        loss,
        np.zeros(2),
        method="Newton-CG",
        jac=lambda b: x.T @ (special.expit(x @ b) - agree),
        hess=lambda b: hessian(x, b),
        options={"xtol": 1e-12},
    ).x
    return b, np.linalg.inv(hessian(x, b))


def hessian(x, b):
    p = special.expit(x @ b)
    return (x * (p * (1 - p))[:, None]).T @ x


def test_the_curve_is_the_logistic_regression_by_direct_maximisation():
    d, agree = drawn(1)
    curve = difference_curve(d, agree)
    b, cov = maximised(d, agree.astype(float))
    np.testing.assert_allclose(curve.params, b, rtol=1e-6)
    np.testing.assert_allclose(curve.cov, cov, rtol=1e-5)
    at = np.array([0.0, 1.0, -3.0])
    x = np.column_stack([np.ones(3), np.abs(at)])
    half = stats.norm.isf(0.025) * np.sqrt(np.diag(x @ cov @ x.T))
    frame = curve.predict(at)
    assert frame["difference"].tolist() == [0, 1, 3]
    np.testing.assert_allclose(frame["estimate"], special.expit(x @ b), rtol=1e-5)
    np.testing.assert_allclose(frame["conf_low"], special.expit(x @ b - half), rtol=1e-5)
    np.testing.assert_allclose(frame["conf_high"], special.expit(x @ b + half), rtol=1e-5)


@pytest.mark.parametrize("target", [0.7, 0.8, 0.95])
def test_the_needed_difference_is_where_the_curve_reaches_the_target(target):
    curve = difference_curve(*drawn(2), target=target, confidence=0.9)
    assert curve.predict([curve.needed])["estimate"].iloc[0] == pytest.approx(target, rel=1e-9)

    def needed(b):
        return (special.logit(target) - b[0]) / b[1]

    gradient = optimize.approx_fprime(curve.params, needed, 1e-7)
    half = stats.norm.isf(0.05) * math.sqrt(gradient @ curve.cov @ gradient)
    assert curve.needed_low == pytest.approx(max(0, curve.needed - half), rel=1e-4)
    assert curve.needed_high == pytest.approx(curve.needed + half, rel=1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_the_metric_scales_the_needed_difference(scale):
    one, other = difference_curve(*drawn(3)), difference_curve(*drawn(3, scale=scale))
    assert other.needed == pytest.approx(scale * one.needed, rel=1e-6)
    assert other.needed_high == pytest.approx(scale * one.needed_high, rel=1e-6)


def test_groups_have_the_sandwich_covariance():
    """V (Σ_g s_g s_gᵀ) V · G/(G − 1) · (n − 1)/(n − 2), the scores summed by group."""
    d, agree = drawn(4, n=200)
    groups = np.random.default_rng(5).integers(0, 12, size=200)
    curve = difference_curve(d, agree, groups=groups)
    b, v = maximised(d, agree.astype(float))
    x = np.column_stack([np.ones(200), np.abs(d)])
    s = x * (agree - special.expit(x @ b))[:, None]
    summed = np.array([s[groups == g].sum(axis=0) for g in range(12)])
    np.testing.assert_allclose(curve.cov, v @ summed.T @ summed @ v * 12 / 11 * 199 / 198, rtol=1e-5)
    assert not any("independent" in note for note in curve.notes)
    assert any("independent" in note for note in difference_curve(d, agree).notes)


@pytest.mark.parametrize("bins", [1, 4])
def test_bins_have_wilsons_intervals(bins):
    d, agree = drawn(6, n=103)
    found = difference_curve(d, agree, bins=bins, confidence=0.9).bins
    size, z = np.abs(d), stats.norm.isf(0.05)
    assert found.n.sum() == 103
    assert found.n.max() - found.n.min() <= 2
    for k in range(bins):
        top = size <= found.high[k] if k == bins - 1 else size < found.high[k]
        inside = (size >= found.low[k]) & top
        n, p = inside.sum(), agree[inside].mean()
        assert (found.n[k], found.agreements[k]) == (n, agree[inside].sum())
        assert found.mean[k] == pytest.approx(size[inside].mean())
        middle, half = (p + z**2 / (2 * n)), z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        assert found.conf_low[k] == pytest.approx((middle - half) / (1 + z**2 / n))
        assert found.conf_high[k] == pytest.approx((middle + half) / (1 + z**2 / n))


def test_it_takes_what_pairwise_accuracy_found():
    rng = np.random.default_rng(7)
    human = rng.normal(size=30)
    metric = human + rng.normal(size=30)
    found = pairwise_accuracy(metric, np.round(human, 1), ties="drop")
    curve = difference_curve(found.metric_difference, found.agree)
    assert len(curve.agree) == found.n < len(found.agree)
    assert curve.agree.mean() == pytest.approx(found.estimate)
    assert f"{len(found.agree) - found.n} pair" in curve.notes[0]
    assert curve.params[1] > 0


@pytest.mark.parametrize(
    ("d", "agree", "note"),
    [
        ([1.0, 2, 3], [1, 1, 1], "all pairs agree"),
        ([1.0, 2, 3], [0, 0, 0], "no pairs agree"),
        ([1.0, 2, 3, 4], [0, 0, 1, 1], "separated by the size"),
        ([1.0, 2, 2, 3], [0, 0, 1, 1], "separated by the size"),
        ([1.0, 2, 3, 4], [1, 1, 0, 0], "separated by the size"),
        ([2.0, -2, 2, 2], [0, 1, 1, 0], "of the same size"),
        ([], [], "no pairs"),
        ([1.0, 2], [math.nan, math.nan], "no pairs"),
    ],
    ids=["all", "none", "separated", "touching", "reversed", "equal", "empty", "left-out"],
)
def test_without_a_finite_estimate_the_curve_is_nan_with_a_note(d, agree, note):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = difference_curve(d, agree)
    assert np.isnan(curve.params).all()
    assert math.isnan(curve.needed)
    assert any(note in said for said in curve.notes)
    assert curve.predict([1.0])["estimate"].isna().all()
    assert curve.bins.n.sum() == np.sum(~np.isnan(agree))
    assert "NA" in curve.as_text()


def test_a_curve_that_falls_needs_no_number_and_one_above_the_target_needs_none():
    d, agree = drawn(8)
    falling = difference_curve(d, ~agree)
    assert math.isnan(falling.needed)
    assert math.isnan(falling.needed_high)
    assert any("does not rise" in note for note in falling.notes)
    above = difference_curve(*drawn(9, intercept=2.0, slope=0.5), target=0.6)
    assert (above.needed, above.needed_low) == (0.0, 0.0)
    assert any("at any difference" in note for note in above.notes)
    flat = difference_curve(*drawn(10, n=60, intercept=0.5, slope=0.02))
    assert any("not clearly above 0" in note or "does not rise" in note for note in flat.notes)


@pytest.mark.slow
def test_the_interval_of_the_needed_difference_covers_it():
    """Of 400 draws at level .9: within four standard errors, and two points for the delta method."""
    truth = (special.logit(0.8) - 0.2) / 0.8
    curves = [difference_curve(*drawn(seed, n=250), confidence=0.9) for seed in range(400)]
    covered = np.mean([curve.needed_low <= truth <= curve.needed_high for curve in curves])
    assert abs(covered - 0.9) < 4 * math.sqrt(0.09 / 400) + 0.02


# -- bad input ---------------------------------------------------------------------------------------------------

M = np.random.default_rng(1).normal(size=(3, 6))
T = ([1.0, 2.0], [0.1, 0.2], [1.0, 2.0], [0.3, 0.4])
D = decisions_from_tests(*T)
BAD = [
    (lambda: llbt.metrics.decisions(M, M, metric_test="t"), OptionError, "metric_test='t'; expected 'paired-t'"),
    (lambda: llbt.metrics.decisions(M, M, n=0), OptionError, "metrics.decisions: n=0"),
    (lambda: llbt.metrics.decisions(M, M, rng="a"), OptionError, "rng='a'"),
    (lambda: llbt.metrics.decisions(M, M, alpha=5), OptionError, "alpha=5; expected a number between 0 and 1"),
    (lambda: llbt.metrics.decisions(M, M, bins=0), DesignError, "bins=0; a number of bins"),
    (lambda: llbt.metrics.decisions(M, M, bins=[2.0, 1.0]), DesignError, "bins=[2.0, 1.0]"),
    (lambda: llbt.metrics.decisions(M, M, bins=[-1.0]), DesignError, "bins=[-1.0]"),
    (lambda: llbt.metrics.decisions(M, M, bins="a"), DesignError, "bins='a'"),
    (lambda: llbt.metrics.decisions(M[0], M), JudgmentError, "metrics.decisions: metric= is shape (6,)"),
    (lambda: llbt.metrics.decisions(M, M[:2]), JudgmentError, "metric= has 3 systems and human= 2"),
    (lambda: llbt.metrics.decisions(M, [[1.0], [], [2.0]]), JudgmentError, "no human score for the systems in rows 1"),
    (lambda: llbt.metrics.decisions(M, [[1.0], ["a"], [2.0]]), JudgmentError, "system 1: human="),
    (lambda: llbt.metrics.decisions(M * math.nan, M), JudgmentError, "metric= has 18 values that are not finite"),
    (lambda: llbt.metrics.decisions(M, M * math.inf), JudgmentError, "human= has 18 values that are not finite"),
    (lambda: llbt.metrics.decisions({"a": M}, M), JudgmentError, "one of metric= and human= maps groups"),
    (
        lambda: llbt.metrics.decisions({"a": M}, {"a": M[:2]}),
        JudgmentError,
        "metrics.decisions: group 'a': metric= has 3",
    ),
    (lambda: decisions_from_tests(T[0], [0.1], *T[2:]), JudgmentError, "arrays of lengths [1, 2]"),
    (lambda: decisions_from_tests(*T, object_i=["a"]), JudgmentError, "arrays of lengths [1, 2]"),
    (lambda: decisions_from_tests(T[0], [0.1, 1.2], *T[2:]), JudgmentError, "metric_p=1.2 at pair 1"),
    (lambda: decisions_from_tests([1.0, math.nan], *T[1:]), JudgmentError, "metric_difference= has 1 values"),
    (lambda: error_agreement([D]), DesignError, "error_agreement: expected a mapping"),
    (lambda: error_agreement({}), DesignError, "error_agreement: expected a mapping"),
    (
        lambda: error_agreement({"a": D, "b": decisions_from_tests(*T, object_i=["x", "y"])}),
        DesignError,
        "'b' has other pairs",
    ),
    (lambda: difference_curve([1.0], [1, 0]), JudgmentError, "1 differences and 2 agreements"),
    (lambda: difference_curve([1.0, math.nan], [1, 0]), JudgmentError, "metric_difference= has 1 values"),
    (
        lambda: difference_curve([1.0, 2.0], [1, 0.5]),
        JudgmentError,
        "1 values that are not 0 or 1 (first 0.5 at pair 1)",
    ),
    (lambda: difference_curve([1.0, 2.0], [1, 0], target=1), OptionError, "target=1; expected a number between"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], bins=0), OptionError, "bins=0; expected an integer of at least 1"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], confidence=95), OptionError, "confidence=95"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], groups=["a"]), DesignError, "groups= has 1 labels for 2 pairs"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], groups=["a", "a"]), DesignError, "at least two groups"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], groups=["a", None]), DesignError, "1 missing labels"),
    (lambda: llbt.plot.decisions([1]), OptionError, "plot.decisions: decisions=[1]; expected DecisionTable"),
    (
        lambda: llbt.plot.difference_curve([1]),
        OptionError,
        "plot.difference_curve: curve=[1]; expected DifferenceCurve",
    ),
]


@pytest.mark.parametrize(("call", "error", "fragment"), BAD, ids=[f"{k:02}" for k in range(len(BAD))])
def test_bad_input(call, error, fragment):
    with pytest.raises(error) as caught:
        call()
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    "record",
    [D, D.pairs(), error_agreement({"a": D, "b": D}), difference_curve(*drawn(1))],
    ids=["table", "pairs", "errors", "curve"],
)
def test_records_survive_pickling_and_print(record):
    again = pickle.loads(pickle.dumps(record))
    pd.testing.assert_frame_equal(again.to_frame(), record.to_frame())
    assert again.as_text() == record.as_text() == repr(record)


# -- pictures ----------------------------------------------------------------------------------------------------


def test_the_picture_of_decisions_has_a_mark_per_pair_turned_to_the_metric():
    found = llbt.metrics.decisions(scores(9, systems=9, spread=0.2), ragged(10, systems=9, spread=0.3))
    ax = llbt.plot.decisions(found)
    turn = np.where(found.metric_difference < 0, -1, 1)
    points = np.column_stack([found.metric_difference, found.human_difference]) * turn[:, None]
    by_label = {part.get_label(): part.get_offsets() for part in ax.collections}
    names = {
        "both": "both",
        "metric_only": "metric only",
        "opposite": "opposite",
        "humans_only": "humans only",
        "neither": "neither",
    }
    expected = {f"{label}: {(found.outcome == name).sum()}": name for name, label in names.items()}
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == [label for label in expected if not label.endswith(": 0")]
    assert set(legend) == set(by_label)
    for label in legend:
        np.testing.assert_allclose(by_label[label], points[found.outcome == expected[label]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Metric difference", "Human difference")


def test_a_picture_without_pairs_is_empty():
    ax = llbt.plot.decisions(llbt.metrics.decisions(np.ones((1, 4)), np.ones((1, 4))))
    assert not ax.collections
    assert ax.get_legend() is None


def test_the_picture_of_the_curve_has_band_bins_target_and_needed_difference():
    curve = difference_curve(*drawn(11))
    _, (other, mine) = plt.subplots(1, 2)
    ax = llbt.plot.difference_curve(curve, unit="BLEU", ax=mine)
    assert ax is mine
    assert not other.lines
    line = ax.lines[0].get_xydata()
    np.testing.assert_allclose(line[:, 1], curve.predict(line[:, 0])["estimate"])
    (band,) = [part for part in ax.collections if part.get_paths()[0].vertices.shape[0] > 100]
    edge = band.get_paths()[0].vertices
    assert edge[:, 1].max() == pytest.approx(curve.predict(line[-1:, 0])["conf_high"].iloc[0])
    assert edge[:, 1].min() == pytest.approx(curve.predict([0.0])["conf_low"].iloc[0])
    (bars,) = ax.containers
    middle, _, (spans,) = bars.lines
    np.testing.assert_allclose(middle.get_xydata(), np.column_stack([curve.bins.mean, curve.bins.estimate]))
    drawn_bounds = np.array([segment[:, 1] for segment in spans.get_segments()])
    np.testing.assert_allclose(drawn_bounds, np.column_stack([curve.bins.conf_low, curve.bins.conf_high]))
    (text,) = ax.texts
    assert float(text.get_text()) == pytest.approx(curve.needed, rel=0.01)
    assert text.xy[0] == curve.needed
    assert any(set(part.get_ydata()) == {0.8} for part in ax.lines)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Difference of BLEU", "P(humans agree)")


def test_a_single_huge_difference_does_not_squeeze_the_picture():
    d, agree = drawn(12)
    ax = llbt.plot.difference_curve(difference_curve(np.append(d, 500.0), np.append(agree, True)))
    assert ax.get_xlim()[1] < 50


@pytest.mark.parametrize("agree", ["all", "none at all"])
def test_the_curve_without_an_estimate_shows_the_bins_alone(agree):
    curve = difference_curve([1.0, 2, 3], [1, 1, 1], bins=2) if agree == "all" else difference_curve([], [])
    ax = llbt.plot.difference_curve(curve)
    assert not ax.texts
    ax.figure.canvas.draw()
