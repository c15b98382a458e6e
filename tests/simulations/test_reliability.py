"""Scale separation reliability beside the truth, with random and with adaptive pairs, and how split halves cover.

40 objects take part in 20 rounds of 20 judgments by 20 judges. Adaptive pairs are neighbours by the wins so far, in
random order among equals. The truth is the squared correlation of estimated and true log-worths; split-half reliability
is compared with the correlation of two studies of the same objects.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt
from llbt.errors import SeparationError

OBJECTS, ROUNDS = 40, 20
SETTINGS = [(sigma, adaptive) for sigma in (0.0, 0.2, 0.4) for adaptive in (False, True)]


def study(rng: np.random.Generator, worth: np.ndarray, adaptive: bool) -> llbt.Comparisons:
    """Return the judgments of one study."""
    wins, rows = np.zeros(OBJECTS), []
    for _ in range(ROUNDS):
        order = rng.permutation(OBJECTS)
        if adaptive:
            order = order[np.argsort(-wins[order], kind="stable")]
        for i, j in order.reshape(-1, 2):
            first = rng.random() < 1 / (1 + np.exp(-2 * (worth[i] - worth[j])))
            wins[i if first else j] += 1
            rows.append((i, j, "i" if first else "j"))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])
    return llbt.from_judgments(frame.assign(judge=rng.permutation(np.arange(len(rows)) % 20)), clusters="judge")


def estimates(c: llbt.Comparisons) -> np.ndarray | None:
    try:
        res = llbt.fit("object", c)
    except SeparationError:
        return None
    return llbt.worth(res, scale="log_worth").to_frame().set_index("object")["estimate"].sort_index().to_numpy()


def asked(tables: int, seed: int, sigma: float, adaptive: bool) -> dict[str, float]:
    """Return means and shares over tables with finite estimates."""
    found = []
    for one in range(tables):
        rng = np.random.default_rng([seed, round(10 * sigma), adaptive, one])
        worth = rng.normal(0, sigma, OBJECTS)
        c, again = study(rng, worth, adaptive), estimates(study(rng, worth, adaptive))
        own = estimates(c)
        if own is None or again is None:
            continue
        r = llbt.reliability(llbt.fit("object", c), n=20, rng=1)
        truth = np.corrcoef(own, worth)[0, 1] ** 2 if sigma else 0.0
        h = r.halves
        assert h is not None
        assert r.judge_fit is not None
        found.append((r.ssr, truth, h.whole[0], np.corrcoef(own, again)[0, 1], h.whole[1], h.whole[2], r.closeness,
                      any(r.judge_fit.misfits), any(r.object_fit.misfits)))  # fmt: skip
    ssr, truth, whole, other, low, high, close, judges, objects = np.array(found, dtype=float).T
    target = float(np.tanh(np.arctanh(other).mean()))
    shares = {
        "SSR": ssr.mean(), "squared correlation with the truth": truth.mean(), "split-half reliability": whole.mean(),
        "correlation with another study": target, "covered": np.mean((low <= target) & (target <= high)),
        "closeness": close.mean(), "closeness below .8": np.mean(close < 0.8), "some judge named": judges.mean(),
        "some object named": objects.mean(), "tables": len(ssr),
    }  # fmt: skip
    return {name: round(float(share), 4) for name, share in shares.items()}


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "reliability.json").read_text(encoding="utf-8")))


def name_of(setting: tuple[float, bool]) -> str:
    return f"standard deviation {setting[0]}, {'adaptive' if setting[1] else 'random'} pairs"


@pytest.mark.parametrize("setting", SETTINGS)
def test_ssr_is_right_with_random_pairs_and_inflated_with_adaptive_ones(setting: tuple[float, bool]) -> None:
    found = recorded()["found"][name_of(setting)]
    beside = found["SSR"] - found["squared correlation with the truth"]
    if setting[1]:
        assert beside > 0.08
        assert found["closeness below .8"] > 0.95
    else:
        assert abs(beside) < 0.06
        assert found["closeness below .8"] < 0.05
        assert found["covered"] >= 0.95
    assert found["some judge named"] <= 0.07
    assert found["some object named"] <= 0.07


@pytest.mark.slow
def test_adaptive_pairs_of_equal_objects_look_reliable() -> None:
    """Few tables of the same simulation: equal objects, so any reliability is error."""
    random, adaptive = (asked(3, 1, 0.0, way)["SSR"] for way in (False, True))
    assert random < 0.3 < 0.5 < adaptive


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", SETTINGS)
def test_reliability_again(setting: tuple[float, bool]) -> None:
    record = recorded()
    found = asked(record["tables"], record["seed"], *setting)
    assert found == pytest.approx(record["found"][name_of(setting)], abs=2e-2)
