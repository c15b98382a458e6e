"""Scales by restricted likelihood: its slope at the estimate, from sums over a grid of effects and differences."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import llbt
from llbt.core.columns import FloatArray
from llbt.kernel.restricted import _Search

WINS = np.array([5, 1, 4, 0, 6, 3, 5, 2])
_Z = np.linspace(-10, 10, 1001)


def _minus(beta: float, log: float) -> float:
    """Minus the log-likelihood of eight judges who compare A with B six times each."""
    u = 2 * (beta + np.exp(log) * np.sqrt(2) * _Z)
    said = WINS[:, None] * u - 6 * np.logaddexp(0, u)
    return -float(np.log(np.exp(said) @ stats.norm.pdf(_Z) * (_Z[1] - _Z[0])).sum())


def _profile(log: float) -> tuple[float, float, float]:
    """Return β̂, the log-likelihood there, and its information J by differences."""
    best = optimize.minimize_scalar(_minus, bounds=(-2, 2), args=(log,), method="bounded", options={"xatol": 1e-9})
    at, step = float(best.x), 1e-3
    bent = _minus(at + step, log) - 2 * best.fun + _minus(at - step, log)
    return at, -float(best.fun), float(bent / step**2)


def test_few_judges_by_brute_force() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": WINS, "wins_j": 6 - WINS, "judge": range(8)})
    res = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    assert isinstance(res, llbt.MixedResults)
    log, step = float(np.log(res.scales.iloc[0])), 0.1
    (b, _, here), (up, high, ahead), (down, low, behind) = (_profile(log + s) for s in (0, step, -step))
    slope, bend = (up - down) / (2 * step), (ahead - behind) / (2 * step)
    stretch = b * here * slope / (b * here * b + 1)
    assert (high - low) / (2 * step) == pytest.approx(bend / here / 2 + stretch, abs=0.05)  # of a slope of 1.2 before
    assert res.params["object[A]"] == pytest.approx(b, abs=1e-3)
    v = 1 / here
    spread = float(res.scale_errors.iloc[0] / res.scales.iloc[0]) ** 2
    assert res.bse["object[A]"] == pytest.approx(np.sqrt(v + slope**2 * spread), rel=0.01)
    df = 2 * v**2 / ((bend * v**2) ** 2 * spread)
    assert res.average.df_of(np.ones((1, 1)))[0] == pytest.approx(max(df, 7), rel=0.02)
    assert res.maximum.scales[0] < res.scales.iloc[0]
    assert "These estimates rest on few judges (8, effective number 8.00)" in res.as_text()
    assert res.pvalues["object[A]"] == pytest.approx(
        2 * stats.t.sf(res.tvalues["object[A]"], res.average.df_inference), rel=1e-6
    )


@pytest.mark.slow
def test_crossed_scales_have_a_restricted_maximum() -> None:
    """Of four judges × 20 prompts half the searches had failed: the curvature between two scales lacked a term."""
    rng = np.random.default_rng(4)
    judge, prompt = np.divmod(np.arange(80), 20)
    i = rng.integers(3, size=80)
    j = (i + rng.integers(1, 3, size=80)) % 3
    own = np.array([0.6, 0.3, 0.0]) + rng.normal(0, 0.5, (4, 1, 3)) + rng.normal(0, 0.5, (20, 3))
    wins = (rng.random(80) < 1 / (1 + np.exp(-2 * (own[judge, prompt, i] - own[judge, prompt, j])))).astype(int)
    frame = pd.DataFrame({"object_i": i, "object_j": j, "wins_i": wins, "wins_j": 1 - wins})
    c = llbt.from_counts(frame.assign(judge=judge, prompt=prompt), clusters=("judge", "prompt"))
    res = llbt.fit("object + (object | judge) + (object | prompt)", c, approximation="laplace")
    assert isinstance(res, llbt.MixedResults)
    assert (res.scales > res.maximum.scales).all()
    shares = np.stack([np.eye(2)] * 2)  # both σ are those of all judges
    search, place = _Search.of(res.judges.likelihood(), res.maximum, res.without.solution.params, np.arange(2), shares)
    logs, step, kept = np.log(res.scales.to_numpy()), 0.02, (0, 1)

    def slopes(at: FloatArray) -> FloatArray:
        return search.local(kept, search.at(kept, at, place)).gradient

    np.testing.assert_allclose(slopes(logs), 0.0, atol=0.02)
    bent = [(slopes(logs - side) - slopes(logs + side)) / (2 * step) for side in step * np.eye(2)]
    np.testing.assert_allclose(search.local(kept, search.at(kept, logs, place)).curvature, bent, atol=0.3)


@pytest.mark.parametrize(("seed", "is_zero"), [(90, True), (116, False), (99, True)])
def test_a_search_from_zero_ends_where_the_slope_on_a_grid_vanishes(seed: int, is_zero: bool) -> None:
    """Eight judges × 4 judgments with σ = 0 at the largest likelihood; the search had ended at .03, .04, or nowhere."""
    rng = np.random.default_rng(seed)
    judge, i = np.repeat(np.arange(8), 4), rng.integers(3, size=32)
    j = (i + rng.integers(1, 3, size=32)) % 3
    worth = np.array([0.3, 0, -0.3]) + rng.normal(0, 0.3, (8, 3))
    wins = (rng.random(32) < 1 / (1 + np.exp(-2 * (worth[judge, i] - worth[judge, j])))).astype(int)
    names = np.array(list("ABC"))
    frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 1 - wins})
    res = llbt.fit("object + (object | judge)", llbt.from_counts(frame.assign(judge=judge), clusters="judge"))
    assert isinstance(res, llbt.MixedResults)
    assert res.maximum.scales[0] == 0
    start, shares = res.without.solution.params, np.eye(2)[None]
    search, _ = _Search.of(res.judges.likelihood(), res.maximum, start, np.arange(2), shares)

    def slope(sigma: float) -> float:
        logs = np.log([sigma])
        return float(search.local((0,), search.at((0,), logs, None)).gradient[0])

    grid = np.geomspace(0.05, 1, 9)
    slopes = np.array([slope(sigma) for sigma in grid])
    if is_zero:
        assert res.scales.iloc[0] == 0
        assert (slopes < 0).all()
    else:
        found = float(res.scales.iloc[0])
        assert (slopes[grid < 0.8 * found] > 0).all()
        assert (slopes[grid > 1.25 * found] < 0).all()


def test_a_search_that_leaves_all_estimates_ends_without_warning() -> None:
    """Four judges × 6 judgments; each pair names the preferred object first."""
    won = ["CB CB CA CB AB CB", "BC AB AB BC AC AC", "BC AB BC BA CB AB", "CA CB BA CA CB CA"]
    rows = [(*pair, judge, 1, 0) for judge, one in enumerate(won) for pair in one.split()]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "wins_j"])
    c = llbt.from_counts(frame, clusters="judge")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        res = llbt.fit("object + (object | judge)", c)
    assert "The restricted likelihood has no maximum in σ." in " ".join(str(res).split())
