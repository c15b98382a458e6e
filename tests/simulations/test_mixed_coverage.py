"""Effects of judges by simulation: what intervals of λ and σ cover, the size of the test of σ = 0, and the bias of σ.

Three objects, judges with effects of sd σ on every log-worth, so many judgments of random pairs each, no ties. Tables
are fitted many at once by `support.many_mixed`, whose estimates are those of `llbt.fit` (tested below), and those with
σ above 2.5 by the package itself. Intervals are Wald's of the three differences of λ, and those by the profile of σ: a
value is in them where the likelihood, maximized over all else, is less than χ²(.95)/2 below its maximum. Shares are of
tables that have finite estimates.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats
from support import many_mixed
from support.folders import SIMULATIONS
from support.many_mixed import PAIRS, Many

import llbt
from llbt.kernel.effect_groups import Entry, grouped
from llbt.kernel.likelihood import Problem
from llbt.kernel.mixed import maximize
from llbt.kernel.solvers import eliminate

WORTH = np.array([0.5, 0.2, 0.0])
CONTRASTS = np.array([(1, 0), (0, 1), (1, -1)], dtype=float)
DROP = float(stats.chi2.isf(0.05, 1)) / 2
Z = float(stats.norm.isf(0.025))
SIGMAS = (0.0, 0.35, 0.7, 1.2)
CASES = [(judges, judgments, sigma) for sigma in SIGMAS for judges in (12, 30, 100) for judgments in (5, 20)]


@cache
def design() -> Problem:
    frame = pd.DataFrame(np.array(list("ABC"))[PAIRS], columns=["object_i", "object_j"]).assign(wins_i=5, wins_j=5)
    return llbt.fit("object", llbt.from_counts(frame)).problem()


def comparisons(counts: np.ndarray) -> llbt.Comparisons:
    """Return counts by judge, pair and outcome as a table."""
    judge, pair = np.nonzero(counts.sum(axis=2))
    names = np.array(list("ABC"))[PAIRS[pair]]
    wins_i, wins_j = counts[judge, pair].T.astype(int)
    frame = pd.DataFrame({"object_i": names[:, 0], "object_j": names[:, 1], "wins_i": wins_i, "wins_j": wins_j})
    return llbt.from_counts(frame.assign(judge=judge), clusters="judge")


def by_package(counts: np.ndarray) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Return m and σ, the log-likelihood and the information of one table; None without finite estimates."""
    base = design()
    problem = Problem(base.predictors, counts.sum(axis=0), base.offsets, base.response)
    judge, pair = np.nonzero(counts.sum(axis=2))
    groups = grouped(pair, judge, counts[judge, pair], PAIRS, [Entry(True, (0,))], 1)
    try:
        found = maximize(problem, groups.bundles, eliminate(problem).params, np.array([0.8]))
        information = linalg.inv(found.covariance)
    except (linalg.LinAlgError, ValueError):
        return None
    return None if found.infinite else (np.append(found.params, found.scales), found.value, information)


def maxima(counts: np.ndarray) -> tuple[Many, Many]:
    """Return the fits with effects and those without; `beyond` of the first is where no estimate is finite."""
    alone = many_mixed.without(counts)
    start = np.column_stack([alone.at[:, :2], np.full(len(counts), 0.8)])
    found = many_mixed.at_most(many_mixed.fitted(counts, start), alone)
    for k in np.flatnonzero(found.beyond):
        one = None if alone.beyond[k] else by_package(counts[k])
        if one is not None:
            found.at[k], found.value[k], found.information[k] = one
            found.beyond[k] = False
    return found, alone


def simulated(judges: int, judgments: int, sigma: float, tables: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, judges, judgments, round(100 * sigma)])
    counts = many_mixed.tables(tables, judges, judgments, WORTH, sigma, rng)
    found, alone = maxima(counts)
    finite = ~found.beyond
    cov = np.linalg.inv(np.where(finite[:, None, None], found.information, np.eye(3)))[:, :2, :2]
    error = np.sqrt(np.einsum("ci,tij,cj->tc", CONTRASTS, cov, CONTRASTS))
    within = np.abs(found.at[:, :2] @ CONTRASTS.T - CONTRASTS @ WORTH[:2]) < Z * error
    gain = 2 * (found.value - alone.value)
    there = many_mixed.fitted(counts, alone.at, held=sigma).value if sigma else alone.value
    inside = found.value - there < DROP
    size = found.at[finite, 2]
    laplace = many_mixed.laplace(counts[finite], found.at[finite])[:, 2]
    shares = {
        "no finite estimate": ~finite,
        "lambda": within[finite],
        "sigma": inside[finite],
        "sigma above its interval": (~inside & (found.at[:, 2] < sigma))[finite],
        "sigma below its interval": (~inside & (found.at[:, 2] > sigma))[finite],
        "sigma = 0": size == 0,
        "rejected": (gain > stats.chi2.isf(0.1, 1))[finite],
    }
    return {name: round(float(np.mean(said)), 4) for name, said in shares.items()} | {
        "median of sigma": round(float(np.median(size)), 3),
        "median of Laplace's sigma": round(float(np.median(laplace)), 3),
    }


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "mixed_coverage.json").read_text(encoding="utf-8")))


def tables_of(case: tuple[int, int, float]) -> int:
    """Return how many tables were drawn: fewer where σ is large, as its points are many."""
    return int(recorded()["tables"][str(case[2])])


def found_in(case: tuple[int, int, float]) -> dict[str, float]:
    return dict(recorded()["found"][", ".join(map(str, case))])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_intervals_cover_and_the_test_keeps_its_level(case: tuple[int, int, float]) -> None:
    """As promised, within two standard errors of a share of so many tables."""
    found, sigma = found_in(case), case[2]
    error = 2 * np.sqrt(0.05 * 0.95 / tables_of(case))
    assert 0.93 - error < found["lambda"] < 0.97 + error
    if sigma == 0:
        assert found["rejected"] < 0.05 + error
    else:
        assert 0.92 - error < found["sigma"] < 0.98 + error


def test_laplaces_sigma_is_nearer_to_0() -> None:
    for judges, judgments, sigma in CASES:
        found = found_in((judges, judgments, sigma))
        if sigma > 0.5:
            assert found["median of Laplace's sigma"] < found["median of sigma"] - 0.005
            assert abs(found["median of sigma"] / sigma - 1) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("case", [(12, 5, 0.7), (12, 20, 1.2)], ids=str)
def test_some_tables_are_fitted_as_one(case: tuple[int, int, float]) -> None:
    _compare(*case, tables=3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_tables_are_fitted_as_one(case: tuple[int, int, float]) -> None:
    _compare(*case, tables=20)


def _compare(judges: int, judgments: int, sigma: float, tables: int) -> None:
    """Estimates, errors, likelihood ratios and what the profile of σ holds, against the package's own."""
    counts = many_mixed.tables(tables, judges, judgments, WORTH, sigma, np.random.default_rng(7))
    found, alone = maxima(counts)
    there = many_mixed.fitted(counts, alone.at, held=sigma).value if sigma else alone.value
    for k in np.flatnonzero(~found.beyond):
        res = llbt.fit("object + (object | judge)", comparisons(counts[k]), reference="C")
        assert isinstance(res, llbt.MixedResults)
        np.testing.assert_allclose(res.maximum.params, found.at[k, :2], atol=1e-6)
        np.testing.assert_allclose(
            res.maximum.scales**2, found.at[k, 2:] ** 2, atol=1e-6
        )  # near 0 known only as a square
        error = np.sqrt(np.diag(np.linalg.inv(found.information[k])))
        np.testing.assert_allclose(
            np.sqrt(np.diag(res.maximum.covariance))[:2], error[:2], rtol=5e-4
        )  # information of log σ is next to none at .08
        assert res.boundary_test().statistic == pytest.approx(2 * (found.value[k] - alone.value[k]), abs=1e-6)
        low, high = res.scale_intervals().iloc[0]
        if abs(found.value[k] - there[k] - DROP) > 0.02:  # the package finds bounds to half a percent
            assert (low <= sigma <= high) == (found.value[k] - there[k] < DROP)
        at = many_mixed.laplace(counts[k : k + 1], found.at[k : k + 1])[0]
        if at[2] < many_mixed.LARGEST:
            same = llbt.fit("object + (object | judge)", res.comparisons, reference="C", approximation="laplace")
            np.testing.assert_allclose(same.maximum.scales, at[2:], atol=1e-3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_found_again(case: tuple[int, int, float]) -> None:
    assert simulated(*case, tables_of(case), recorded()["seed"]) == pytest.approx(found_in(case), abs=0.0021)
