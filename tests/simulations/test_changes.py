"""False alarms, power and coverage of `llbt.compare`, by simulation: planted changes, and prompts of both tables."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt

FILE = SIMULATIONS / "changes.json"
SIZE, GAMMA, LOSS = 20, -0.5, 0.25
LABELS = tuple(f"m{k:02d}" for k in range(SIZE))
SETTINGS = {
    "none changed": (0, 0),
    "1 changed": (1, 0),
    "3 changed": (3, 0),
    "6 changed": (6, 0),
    "10 changed": (10, 0),
    "none changed, 300 prompts in both": (0, 300),
    "1 changed, 300 prompts in both": (1, 300),
}


def drawn(worths, judgments, prompts, rng):
    """Return a table of judgments at prompts; worths (prompts, J), each prompt with worths of its own."""
    prompt = rng.integers(len(worths), size=judgments)
    i = rng.integers(SIZE, size=judgments)
    j = (i + rng.integers(1, SIZE, size=judgments)) % SIZE
    apart = worths[prompt, i] - worths[prompt, j]
    weights = np.exp(np.stack([apart, np.full(judgments, GAMMA), -apart]))
    outcome = (rng.random(judgments) * weights.sum(0) > np.cumsum(weights, 0)).sum(0)
    columns = {
        "object_i": np.array(LABELS)[i],
        "object_j": np.array(LABELS)[j],
        "outcome": np.array(["i", "tie", "j"])[outcome],
        "prompt": prompt,
    }
    return llbt.from_judgments(pd.DataFrame(columns), clusters=["prompt"])


def one(changed, prompts, judgments, rng):
    """Return what one comparison found: false alarm, power, coverage of all, the gate's power and error, verdict."""
    worths = rng.normal(0, 0.5, SIZE) + rng.normal(0, 0.4, (max(prompts, 1), SIZE)) * (prompts > 0)
    hit = np.isin(np.arange(SIZE), rng.permutation(SIZE)[:changed])
    before, after = (drawn(w, judgments, prompts, rng) for w in (worths, worths - LOSS * hit))
    found = llbt.compare(
        before, after, cov_type="cluster" if prompts else "nonrobust", groups="prompt" if prompts else ()
    )
    if found.no_verdict:
        return [np.nan] * 5 + [1.0]
    of, alarm = found.changes, np.array(found.verdicts) != ""
    worse = np.array(found.verdicts) == "worse"
    covered = ((of.conf_low <= -LOSS * hit) & (-LOSS * hit <= of.conf_high)).all()
    gate = np.array([found.gate(label).failed[0] for label in found.objects])
    power = [worse[hit].mean(), gate[hit].mean()] if changed else [np.nan, np.nan]
    return [alarm[~hit].any(), power[0], covered, power[1], gate[~hit].mean(), 0.0]


def simulated(runs, judgments, seed):
    names = ("any false", "power", "all 20 covered", "power of the gate", "false gate", "no verdict")
    results = {}
    for name, (changed, prompts) in SETTINGS.items():
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.array([one(changed, prompts, judgments, rng) for _ in range(runs)], dtype=float)
            shares = np.nanmean(found, axis=0)
        results[name] = {key: None if np.isnan(x) else round(float(x), 4) for key, x in zip(names, shares, strict=True)}
    return results


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.exhaustive
def test_changes_again():
    expected = recorded()
    found = simulated(expected["runs"], expected["judgments in each table"], expected["seed"])
    for name, shares in expected["results"].items():
        assert found[name] == pytest.approx(shares, abs=0.02), name


def test_alarms_are_few_and_intervals_hold():
    """The standard error of .05 in 400 runs is .011."""
    results = recorded()["results"]
    for name in SETTINGS:
        few = not name.startswith(("6", "10"))
        assert name.startswith("10") or results[name]["any false"] <= 0.09
        assert not few or results[name]["all 20 covered"] >= 0.92
    assert results["1 changed"]["power of the gate"] > 0.88
    assert results["10 changed"]["no verdict"] > 0.4
