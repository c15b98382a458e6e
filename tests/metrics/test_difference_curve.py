"""The curve of agreement against direct maximisation, its sandwich, bins and the needed difference."""

import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special, stats
from support.decided import drawn

from llbt.metrics.accuracy import pairwise_accuracy
from llbt.metrics.difference_curve import difference_curve


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


def test_groups_are_left_out_in_turn():
    """CR3: (G − 1)/G · Σ (θ₍₋g₎ − θ̂)(θ₍₋g₎ − θ̂)ᵀ, each θ₍₋g₎ by one Newton step from θ̂ on the other groups' pairs."""
    d, agree = drawn(4, n=200)
    groups = np.random.default_rng(5).integers(0, 12, size=200)
    curve = difference_curve(d, agree, groups=groups)
    b, _ = maximised(d, agree.astype(float))
    x = np.column_stack([np.ones(200), np.abs(d)])
    moved = []
    for g in range(12):
        kept = groups != g
        moved.append(np.linalg.solve(hessian(x[kept], b), x[kept].T @ (agree - special.expit(x @ b))[kept]))
    np.testing.assert_allclose(curve.cov, 11 / 12 * np.array(moved).T @ np.array(moved), rtol=1e-5)
    assert not any("independent" in note for note in curve.notes)
    assert any("independent" in note for note in difference_curve(d, agree).notes)
    inside = np.array([hessian(x[groups == g], b) for g in range(12)])
    along = np.linalg.inv(inside.sum(axis=0)) @ [1, 2.0]
    share = along @ inside @ along
    c = stats.t.isf(0.025, share.sum() ** 2 / (share**2).sum() - 1)
    half = c * math.sqrt(np.array([1, 2.0]) @ curve.cov @ [1, 2.0])
    assert curve.predict([2.0])["conf_low"].iloc[0] == pytest.approx(special.expit([1, 2.0] @ b - half), rel=1e-5)


def test_a_large_difference_takes_no_interval_away():
    """As YiSi-1 and ESIM on WMT19: P(agree) is 1 to the last digit, and a sandwich by division printed 95 % 0 to 0."""
    d, agree = drawn(4, n=200)
    d, agree, groups = np.append(d, 80.0), np.append(agree, True), np.arange(201) % 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = difference_curve(d, agree, groups=groups)
    assert 0 < curve.needed_low < curve.needed < curve.needed_high


def test_what_one_group_alone_knows_has_no_interval():
    """All disagreements are of one group: without it there is no curve."""
    d, agree = drawn(4, n=60)
    curve = difference_curve(d, agree, groups=np.where(agree, np.arange(60) % 5, 9))
    assert curve.needed > 0
    assert math.isnan(curve.needed_low)
    assert math.isnan(curve.needed_high)
    assert any("one of the groups is left out" in note for note in curve.notes)
    assert "95 % NA to NA" in curve.as_text()


@pytest.mark.shared
@pytest.mark.parametrize(("metric", "needed"), [("YiSi-1", 0.0064288), ("ESIM", 0.029354)])
def test_metrics_of_wmt19_have_intervals(shared: Path, metric: str, needed: float) -> None:
    difference, agree, pair = [], [], []
    for path in sorted((shared / "data" / "wmt19_sys_scores").glob("*.csv")):
        frame = pd.read_csv(path, sep=r"\s+")
        if metric in frame:
            i, j = np.triu_indices(len(frame), 1)
            x, human = frame[metric].to_numpy(), frame["HUMAN"].to_numpy()
            difference += (x[i] - x[j]).tolist()
            agree += (np.sign(x[i] - x[j]) == np.sign(human[i] - human[j])).tolist()
            pair += [path.name] * len(i)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = difference_curve(difference, agree, groups=pair)
    assert curve.needed == pytest.approx(needed, rel=1e-4)
    assert 0 < curve.needed_low < curve.needed < curve.needed_high


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
