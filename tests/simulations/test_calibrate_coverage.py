"""How often the 95 % intervals of `judges.calibrate` hold, and how its errors compare, by simulated studies.

Four objects, 2,000 units of which few are labelled, at random or with very unequal shares of pairs, and a machine that
errs a little, says nothing, or likes one object too much.
"""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt
from llbt.judges.calibrate import calibrate

RECORD = SIMULATIONS / "calibrate_coverage.json"
WORTHS, TIE = np.array([0.4, 0.1, -0.1, -0.4]), 0.7
PAIRS = np.column_stack(np.triu_indices(4, 1))
UNITS = 2000
MACHINES = {"good": (0.15, 0.0), "useless": (1.0, 0.0), "biased": (0.15, 0.5)}  # verdicts at random; for A, whoever won
DRAWN = {"at random": np.full(6, 1 / 6), "unequal": np.array([0.4, 0.25, 0.15, 0.1, 0.05, 0.05])}
LABELS = (50, 200, 1000)
SETTINGS = {f"{machine}, {drawn}, {n}": (machine, drawn, n) for machine in MACHINES for drawn in DRAWN for n in LABELS}
TRUE = WORTHS - WORTHS.mean()


def study(rng: np.random.Generator, machine: str, drawn: str, labels: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw labels of some units and verdicts on all; of each pair as many units as its share of labels needs."""
    wrong, bias = MACHINES[machine]
    which = rng.integers(0, 6, UNITS)
    i, j = PAIRS[which].T
    weights = np.exp(np.column_stack([WORTHS[i] - WORTHS[j], np.full(UNITS, np.log(TIE)), WORTHS[j] - WORTHS[i]]))
    below = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    said = (rng.random((UNITS, 1)) > below).sum(axis=1)
    verdict = np.where(rng.random(UNITS) < wrong, rng.integers(0, 3, UNITS), said)
    likes = (rng.random(UNITS) < bias) & (i == 0)
    verdict = np.where(likes, 0, verdict)
    frame = pd.DataFrame({"object_i": np.array(list("ABCD"))[i], "object_j": np.array(list("ABCD"))[j]})
    frame["prompt"] = np.arange(UNITS)
    outcomes = np.array(["i", "tie", "j"])
    chance = DRAWN[drawn][which]
    some = rng.choice(UNITS, labels, replace=False, p=chance / chance.sum())
    return frame.assign(outcome=outcomes[said]).iloc[some], frame.assign(outcome=outcomes[verdict])


def found(setting: str, studies: int, seed: int) -> dict[str, float]:
    """The share of intervals of the worths that hold, root mean squared errors, and studies without estimates."""
    rng = np.random.default_rng(seed)
    held, own, labels, gains, lost = [], [], [], [], 0
    for _ in range(studies):
        human, machine = study(rng, *SETTINGS[setting])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer = calibrate(human, machine)
            except llbt.errors.SeparationError:
                lost += 1
                continue
        if answer.labels is None:
            lost += 1
            continue
        frame = answer.to_frame().set_index("object").loc[list("ABCD")]
        held.append((frame["conf_low"] < TRUE) & (frame["conf_high"] > TRUE))
        own.append(frame["estimate"] - TRUE)
        labels.append(frame["labels"] - TRUE)
        gains.append(answer.effective_labels / answer.n_labels)
    rmse = [math.sqrt(np.mean(np.square(errors))) for errors in (own, labels)]
    figures = {"coverage": np.mean(held), "rmse": rmse[0], "rmse of labels": rmse[1], "gain": np.median(gains)}
    return {**{name: round(float(value), 4) for name, value in figures.items()}, "without estimates": lost}


def recorded() -> dict:
    return json.loads(RECORD.read_text(encoding="utf-8"))


def test_the_record_has_every_setting() -> None:
    assert set(recorded()["found"]) == set(SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS)
def test_recorded_coverage(setting: str) -> None:
    """.95 ± .015, but of few labels and a useless machine a little more; never clearly worse than the labels alone."""
    figures = recorded()["found"][setting]
    most = 0.975 if setting == "useless, at random, 50" else 0.965
    assert 0.935 <= figures["coverage"] <= most
    assert figures["rmse"] <= 1.03 * figures["rmse of labels"]


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["good, at random, 50", "biased, unequal, 200"])
def test_coverage(setting: str) -> None:
    """60 studies: within four standard errors, of judgments as dependent as those of one study."""
    expected = recorded()["found"][setting]["coverage"]
    assert found(setting, 60, 2)["coverage"] == pytest.approx(expected, abs=4 * math.sqrt(0.05 * 0.95 / 60))


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", SETTINGS)
def test_coverage_again(setting: str) -> None:
    record = recorded()
    assert found(setting, record["studies"], record["seed"]) == pytest.approx(record["found"][setting], rel=1e-3)
