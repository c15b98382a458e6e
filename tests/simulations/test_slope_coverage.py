"""Slopes that vary between judges, by simulation: intervals of the average slope, and bias of σ.

Three objects, worths .6, .3, 0, and a length of each side, drawn from a normal distribution of sd 1. Judges, and in
some cases prompts, have slopes of it with mean .4 and sd .5. A judge judges 20 random pairs, one on each prompt, or a
lognormal number between 5 and 20 of them. Tables are fitted by `llbt.fit` as a user does.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt
from llbt.core.columns import FloatArray
from llbt.errors import LLBTError

WORTH, MEAN, SIGMA, PROMPTS = np.array([0.6, 0.3, 0.0]), 0.4, 0.5, 20
NAMES = np.array(list("ABC"))
FORMULAS = {
    "judges": "object + length + (length | judge)",
    "crossed": "object + length + (length | judge) + (length | prompt)",
}
CASES = [
    (12, "equal", "judges"),
    (12, "unequal", "judges"),
    (30, "equal", "judges"),
    (30, "unequal", "judges"),
    (12, "equal", "crossed"),
    (30, "equal", "crossed"),
]


def table(judges: int, sizes: str, kind: str, rng: np.random.Generator) -> llbt.Comparisons:
    cells = rng.permutation(judges * PROMPTS)
    judge, prompt = np.divmod(cells, PROMPTS)
    if sizes == "unequal":
        size = np.clip(np.exp(rng.normal(np.log(0.75 * PROMPTS), 0.8, judges)), 5, PROMPTS).astype(int)
        place = pd.Series(judge).groupby(judge).cumcount().to_numpy()
        judge, prompt = judge[place < size[judge]], prompt[place < size[judge]]
    i = rng.integers(3, size=len(judge))
    j = (i + rng.integers(1, 3, size=len(judge))) % 3
    length = rng.normal(size=(2, len(judge)))
    slope = MEAN + rng.normal(0, SIGMA, judges)[judge]
    if kind == "crossed":
        slope = slope + rng.normal(0, SIGMA, PROMPTS)[prompt]
    apart = WORTH[i] - WORTH[j] + slope * (length[0] - length[1])
    wins = (rng.random(len(judge)) < 1 / (1 + np.exp(-2 * apart))).astype(int)
    frame = pd.DataFrame({"object_i": NAMES[i], "object_j": NAMES[j], "wins_i": wins, "wins_j": 1 - wins})
    frame = frame.assign(judge=judge, prompt=prompt, length_i=length[0], length_j=length[1])
    sides = {"length": ("length_i", "length_j")}
    return llbt.from_counts(frame, clusters=("judge", "prompt"), side_covariates=sides, order=True)


def fitted(judges: int, sizes: str, kind: str, rng: np.random.Generator) -> FloatArray | None:
    """Return whether the interval of the average slope holds, σ of judges, by both likelihoods, and its half width."""
    try:
        res = llbt.fit(FORMULAS[kind], table(judges, sizes, kind, rng))
    except LLBTError:
        return None
    assert isinstance(res, llbt.MixedResults)
    low, high = res.conf_int().loc["length"]
    return np.array([low < MEAN < high, res.scales.iloc[0], res.maximum.scales[0], (high - low) / 2, res.converged])


def simulated(judges: int, sizes: str, kind: str, tables: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, judges, len(sizes), len(kind)])
    every = [fitted(judges, sizes, kind, rng) for _ in range(tables)]
    estimated = np.array([one for one in every if one is not None])
    held, sigma = estimated[:, 0], estimated[:, 1]
    return {
        "tables": tables,
        "coverage": round(float(held.mean()), 4),
        "its error": round(float(held.std(ddof=1) / len(held) ** 0.5), 4),
        "sigma of judges": round(float(sigma.mean()), 4),
        "error, judges": round(float(sigma.std(ddof=1) / len(sigma) ** 0.5), 4),
        "by maximum likelihood, judges": round(float(estimated[:, 2].mean()), 4),
        "half width": round(float(np.median(estimated[:, 3])), 4),
        "not converged": round(1 - float(estimated[:, 4].mean()), 4),
        "without finite estimates": round(1 - len(estimated) / tables, 4),
    }


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "slope_coverage.json").read_text(encoding="utf-8")))


def _name(case: tuple[int, str, str]) -> str:
    return ", ".join(map(str, case))


@pytest.mark.parametrize("case", recorded()["found"], ids=str)
def test_intervals_cover(case: str) -> None:
    """Within two Monte Carlo errors of .93 to .97."""
    numbers = recorded()["found"][case]
    error = 2 * np.sqrt(0.05 * 0.95 / numbers["tables"])
    assert 0.93 - error < numbers["coverage"] < 0.97 + error
    assert numbers["not converged"] == 0


@pytest.mark.parametrize("case", recorded()["found"], ids=str)
def test_sigma_is_hardly_biased(case: str) -> None:
    """Within 4 % and two Monte Carlo errors of the truth, .5."""
    numbers = recorded()["found"][case]
    assert abs(numbers["sigma of judges"] - SIGMA) < 0.04 * SIGMA + 2 * numbers["error, judges"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [case for case in CASES if _name(case) in recorded()["found"]], ids=_name)
def test_it_is_found_again(case: tuple[int, str, str]) -> None:
    known = recorded()["found"][_name(case)]
    assert simulated(*case, known["tables"], recorded()["seed"]) == pytest.approx(known, abs=0.005)
