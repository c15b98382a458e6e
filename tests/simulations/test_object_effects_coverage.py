"""Effects of objects by simulation: what prediction intervals of pairs and ranges of ranks hold, and the mean of σ.

Objects with log-worths of .4 times a standard normal covariate and effects of sd .6, random pairs with a vote each. A
share is of the pairs, or objects, of all tables: it is on average over objects that these intervals hold.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special
from support.folders import SIMULATIONS

import llbt

CASES = [(12, 400), (12, 60), (30, 150)]


def simulated(objects: int, votes: int, tables: int, seed: int) -> dict[str, float]:
    """Return the shares of pairs and ranks that are held, the mean of σ, and the share of tables in which it is 0."""
    rng = np.random.default_rng(seed)
    names, price = np.array([f"o{k:02d}" for k in range(objects)]), rng.normal(size=objects)
    covariates = pd.DataFrame({"object": names, "price": price})
    held, ranks, sigmas = [], [], []
    for _ in range(tables):
        worth = 0.4 * price + 0.6 * rng.normal(size=objects)
        i = rng.integers(objects, size=votes)
        j = (i + rng.integers(1, objects, size=votes)) % objects
        won = (rng.random(votes) < special.expit(2 * (worth[i] - worth[j]))).astype(int)
        frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "wins_i": won, "wins_j": 1 - won})
        res = llbt.fit("price + (1 | object)", llbt.from_counts(frame, object_covariates=covariates))
        assert isinstance(res, llbt.MixedResults)
        pairs = llbt.pairwise(res)
        a, b = pairs.pairs.T
        place = [names.tolist().index(label) for label in pairs.objects]  # an object may have no vote
        true = worth[place]
        held += (np.abs(pairs.difference - true[a] + true[b]) <= 1.96 * pairs.std_error).tolist()
        sigmas.append(float(res.scales.iloc[0]))
        if sigmas[-1] > 0 and pairs.rank_ranges is not None:
            rank = 1 + (-true).argsort().argsort()
            ranks += ((rank >= pairs.rank_ranges[:, 0]) & (rank <= pairs.rank_ranges[:, 1])).tolist()
    return {
        "pairs": round(float(np.mean(held)), 4),
        "ranks": round(float(np.mean(ranks)), 4),
        "sigma": round(float(np.mean(sigmas)), 4),
        "zero": round(float(np.mean(np.array(sigmas) == 0)), 4),
    }


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "object_effects_coverage.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_said_of_coverage(case: tuple[int, int]) -> None:
    """As the docstring of `worth` says it."""
    found = recorded()["found"][", ".join(map(str, case))]
    assert 0.92 < found["pairs"] < 0.97
    assert found["ranks"] > 0.95


@pytest.mark.slow
def test_the_first_tables_are_found_again() -> None:
    found = simulated(12, 60, 20, recorded()["seed"])
    assert 0.85 < found["pairs"] < 0.99


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_found_again(case: tuple[int, int]) -> None:
    record = recorded()
    found = simulated(*case, record["tables"], record["seed"])
    assert found == pytest.approx(record["found"][", ".join(map(str, case))], abs=0.005)
