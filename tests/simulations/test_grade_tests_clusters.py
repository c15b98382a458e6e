"""How often `grade_tests` rejects a true linear scale where judges repeat themselves, by simulation.

Three objects, five grades, judges who say what they say of a pair several times over: with c copies the likelihood
ratio is c times too large.
"""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt
from llbt import Comparisons
from llbt.core.response import graded

FIVE = graded(2, middle=True)
PAIRS = np.array([(0, 1), (0, 2), (1, 2)])
SETTINGS = [(12, 1), (12, 4), (30, 4)]


def drawn(rng: np.random.Generator, judges: int, copies: int) -> Comparisons:
    """Two judgments of a pair by each judge, `copies` times."""
    lead = np.array([0.5, 0.1, -0.2])[PAIRS] @ [1.0, -1.0]
    p = FIVE.probabilities([lead, np.full(3, 0.2), np.full(3, -0.3)])[0].T
    counts = np.array([[rng.multinomial(2, row) for row in p] for _ in range(judges)]) * copies
    labels = np.array(list("ABC"))[np.tile(PAIRS, (judges, 1))]
    frame = pd.DataFrame(labels, columns=["object_i", "object_j"]).assign(judge=np.repeat(np.arange(judges), 3))
    names = list(FIVE.outcomes)
    counted = frame.join(pd.DataFrame(counts.reshape(-1, 5), columns=names))
    return llbt.from_counts(counted, grades=names, clusters="judge")


def rejected(judges: int, copies: int, tables: int, seed: int) -> dict[str, float]:
    """The share of tables rejected at level .05: spacing, by the likelihood ratio and by flips of judges' scores."""
    rng, p = np.random.default_rng([seed, judges, copies]), []
    for _ in range(tables):
        c = drawn(rng, judges, copies)
        fits = [llbt.fit("object + tie + grade", c, **options) for options in ({}, BY_JUDGE)]
        p.append([llbt.grade_tests(res).to_frame()["p_value"][1] for res in fits])
    shares = (np.array(p) < 0.05).mean(axis=0)
    return {"likelihood ratio": float(shares[0]), "flips": float(shares[1])}


BY_JUDGE: dict[str, Any] = {"cov_type": "cluster", "groups": "judge"}


@pytest.mark.parametrize(("judges", "copies"), SETTINGS)
def test_recorded_flips_keep_their_size(judges: int, copies: int) -> None:
    record = json.loads((SIMULATIONS / "grade_tests_clusters.json").read_text(encoding="utf-8"))
    found = record["found"][f"{judges}, {copies}"]
    error = np.sqrt(0.05 * 0.95 / record["tables"])
    assert abs(found["flips"] - 0.05) < 3 * error
    if copies > 1:
        assert found["likelihood ratio"] > 0.2


@pytest.mark.exhaustive
@pytest.mark.parametrize(("judges", "copies"), SETTINGS)
def test_flips_keep_their_size(judges: int, copies: int) -> None:
    record = json.loads((SIMULATIONS / "grade_tests_clusters.json").read_text(encoding="utf-8"))
    found = rejected(judges, copies, record["tables"], record["seed"])
    assert found == pytest.approx(record["found"][f"{judges}, {copies}"], abs=0.005)
