"""How often the bootstrap test of K classes against K + 1 rejects K classes that are true.

Thirty judges say of every pair of four objects twice what they prefer. Two drawn tables are fitted for each simulated
one, and the 95 % quantile of all drawn statistics is what each simulated statistic is held against: the size of a test
with many draws (Giacomini, Politis & White 2013, Econometric Theory 29(3)).
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt

WORTHS = np.array([[0.8, 0.3, -0.3, -0.8], [-0.8, -0.3, 0.3, 0.8]])
PAIRS = np.column_stack(np.triu_indices(4, 1))
JUDGES, REPEATS, STARTS = 30, 2, 10


def judged(classes: int, rng: np.random.Generator) -> llbt.Comparisons:
    """Return what judges say, each of a class drawn anew."""
    worths = WORTHS[rng.integers(classes, size=JUDGES)]
    odds = np.exp(2 * (worths[:, PAIRS[:, 0]] - worths[:, PAIRS[:, 1]]))
    wins = rng.binomial(REPEATS, odds / (1 + odds)).ravel()
    frame = pd.DataFrame(np.array(list("ABCD"))[np.tile(PAIRS, (JUDGES, 1))], columns=["object_i", "object_j"])
    frame = frame.assign(judge=np.repeat(np.arange(JUDGES), len(PAIRS)), wins_i=wins, wins_j=REPEATS - wins)
    return llbt.from_counts(frame, clusters="judge")


def statistics(classes: int, tables: int, seed: int) -> np.ndarray:
    """Return the statistic of each simulated table, and those of two tables drawn from its fit, shape (tables, 3)."""
    found = []
    for one in range(tables):
        rng = np.random.default_rng([seed, classes, one])
        models = llbt.judges.classes("object", judged(classes, rng), k=[classes, classes + 1], starts=STARTS, rng=rng)
        test = models.bootstrap_test(classes, n=2, enough=3, starts=STARTS, rng=rng)
        found.append((test.statistic, *test.draws.tolist()))
    return np.array(found)


def summarized(found: np.ndarray) -> dict[str, float]:
    """Return the size at 5 and 10 %, and the medians of the statistics of simulated and of drawn tables."""
    simulated, drawn = found[:, 0], found[:, 1:]
    return {
        "size at .05": round(float(np.mean(simulated > np.quantile(drawn, 0.95))), 4),
        "size at .10": round(float(np.mean(simulated > np.quantile(drawn, 0.90))), 4),
        "median simulated": round(float(np.median(simulated)), 3),
        "median drawn": round(float(np.median(drawn)), 3),
    }


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "class_size.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("classes", [1, 2])
def test_true_numbers_of_classes_are_rarely_rejected(classes: int) -> None:
    found = recorded()["found"][str(classes)]
    assert 0.03 <= found["size at .05"] <= 0.07
    assert 0.07 <= found["size at .10"] <= 0.13


@pytest.mark.exhaustive
@pytest.mark.parametrize("classes", [1, 2])
def test_size_again(classes: int) -> None:
    record = recorded()
    found = summarized(statistics(classes, record["tables"], record["seed"]))
    assert found == pytest.approx(record["found"][str(classes)], abs=2e-2)
