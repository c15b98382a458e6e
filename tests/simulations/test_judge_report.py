"""How often the report on a machine that judges finds biases that are not there, and those that are."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.folders import SIMULATIONS
from support.machine_judge import verdicts

import llbt

ROWS, LABELS = 900, 300
SETTINGS: dict[str, dict[str, float]] = {
    "no bias": {},
    "position .2": {"order": 0.2},
    "length .3": {"length": 0.3},
    "self-preference .4": {"own": 0.4},
}
NAMES = ("position", "length", "self-preference", "leaderboard")


def asked(tables: int, seed: int, planted: dict[str, float]) -> dict[str, float]:
    """Return the shares of tables in which each bias is found, and what a label is worth."""
    found = []
    for one in range(tables):
        frame = verdicts(np.random.default_rng([seed, len(planted), one]), ROWS, LABELS, **planted)
        r = llbt.judges.report(
            frame, human="human", machine="machine", family=["m0"], length=("length_a", "length_b"), n=1
        )
        found.append([*(name in r.found for name in NAMES), bool(r.found), r.trial_worth / LABELS])
    values = np.array(found, dtype=float)
    shares = {f"{name} found": values[:, k].mean() for k, name in enumerate(NAMES)}
    shares |= {"any found": values[:, 4].mean(), "worth of a label": values[:, 5].mean()}
    return {name: round(float(share), 4) for name, share in shares.items()}


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "judge_report.json").read_text(encoding="utf-8")))


def test_biases_that_are_not_there_are_rarely_found_and_those_that_are_often() -> None:
    found = recorded()["found"]
    assert found["no bias"]["any found"] <= 0.07
    for setting, bias in (
        ("position .2", "position"),
        ("length .3", "length"),
        ("self-preference .4", "self-preference"),
    ):
        assert found[setting][f"{bias} found"] > 0.2 > 0.05 > found["no bias"][f"{bias} found"]
    assert all(one["worth of a label"] > 1.1 for one in found.values())


@pytest.mark.slow
def test_a_planted_position_bias_is_found_again() -> None:
    assert asked(3, 5, {"order": 0.8})["position found"] == 1.0


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_report_again(setting: str) -> None:
    record = recorded()
    found = asked(record["tables"], record["seed"], SETTINGS[setting])
    assert found == pytest.approx(record["found"][setting], abs=2e-2)
