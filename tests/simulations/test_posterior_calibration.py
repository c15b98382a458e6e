"""Posteriors, by simulation-based calibration: log-worths and data drawn from the prior and the model.

If the draws come from the posterior, the share of draws below the truth is uniform (Talts et al. 2018), intervals hold
their level exactly, and among objects with P(first) = p a share p is first. `written` makes the file.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.folders import SIMULATIONS

import llbt
from llbt.errors import LLBTError

FILE = SIMULATIONS / "posterior_calibration.json"
LEVELS = (0.5, 0.8, 0.95)
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
Study = Callable[[np.random.Generator], tuple[Any, np.ndarray, float]]  # a fit, the true log-worths, the prior scale


def names(size: int) -> list[str]:
    return [f"m{k:02}" for k in range(size)]


def pairs(size: int, judgments: int, scale: float, rng: np.random.Generator) -> tuple[Any, np.ndarray, float]:
    """Judgments of random pairs, with ties: all parameters from their prior."""
    worths, tie = scale * rng.standard_normal(size), 2.5 * rng.standard_normal()
    i = rng.integers(size, size=judgments)
    j = (i + rng.integers(1, size, judgments)) % size
    d = worths[i] - worths[j]
    p = np.exp(np.column_stack([d, np.full(judgments, tie), -d]))
    said = (rng.random(judgments)[:, None] > (p / p.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    objects = np.array(names(size))
    counts = {name: (said == k).astype(int) for k, name in enumerate(("wins_i", "ties", "wins_j"))}
    frame = pd.DataFrame({"object_i": objects[i], "object_j": objects[j], **counts})
    return llbt.fit("object + tie", llbt.from_counts(frame), prior=1.0), worths, scale


def rankings(rng: np.random.Generator) -> tuple[Any, np.ndarray, float]:
    """Rankings of four objects."""
    worths = 0.7 * rng.standard_normal(4)
    said = (-(rng.gumbel(size=(12, 4)) + 2 * worths)).argsort(axis=1).argsort(axis=1) + 1
    r = llbt.from_rankings(pd.DataFrame(said, columns=names(4)), objects=names(4))
    return llbt.fit("object", r, prior=1.0), worths, 0.7


STUDIES: dict[str, Study] = {
    "5 objects, 40 judgments": lambda rng: pairs(5, 40, 0.8, rng),
    "100 objects, 200 judgments": lambda rng: pairs(100, 200, 0.8, rng),
    "4 objects, 12 rankings": rankings,
}
TABLES = dict(zip(STUDIES, (1000, 40, 60), strict=True))


def one(study: Study, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return the shares of draws below the truth, P(first), who is first, and the route; None without a fit."""
    try:
        res, worths, scale = study(rng)
        post = llbt.posterior(res, prior=scale, rng=int(rng.integers(2**31)))
    except LLBTError:
        return None
    truth = worths - worths.mean()
    kept = [int(str(label)[1:]) for label in post.objects]  # objects that were never judged are in no table
    truth = truth[kept] - truth[kept].mean()
    below = post.weights @ (post.log_worths < truth)
    board = post.to_frame().set_index("object").loc[list(post.objects)]
    return {
        "below": below,
        "first": board["first"].to_numpy(),
        "is_first": truth == truth.max(),
        "chains": post.chains > 1,
    }


def simulated(name: str, tables: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([seed, list(STUDIES).index(name)])
    every = [one(STUDIES[name], rng) for _ in range(tables)]
    found = [each for each in every if each is not None]
    below, first, is_first = (np.concatenate([each[key] for each in found]) for key in ("below", "first", "is_first"))
    own = np.array([each["below"][0] for each in found])  # of one object a table: independent
    hold = {f"{level:.0%} intervals hold": round(float((abs(2 * below - 1) <= level).mean()), 3) for level in LEVELS}
    place = np.digitize(first, BINS[1:-1])
    return {
        "tables": len(found),
        "without a fit": tables - len(found),
        "by chains": int(sum(each["chains"] for each in found)),
        **hold,
        "p of uniformity": round(float(stats.kstest(own, "uniform").pvalue), 3),
        "P(first), then share first": {
            f"{BINS[k]:g} to {BINS[k + 1]:g}": f"{first[place == k].mean():.3f}, {is_first[place == k].mean():.3f} "
            f"of {(place == k).sum()}"
            for k in range(len(BINS) - 1)
            if (place == k).any()
        },
    }


def written(seed: int = 39) -> None:
    """Write the file."""
    record = {
        "what": "posteriors of log-worths and data drawn from the prior: share of intervals that hold the truth, a "
        "test that the share of draws below the truth is uniform, and mean P(first) beside the share that is first",
        "command": "pytest -m exhaustive tests/simulations/test_posterior_calibration.py",
        "seed": seed,
        "found": {name: simulated(name, tables, seed) for name, tables in TABLES.items()},
    }
    FILE.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", STUDIES)
def test_draws_are_calibrated(name: str) -> None:
    found = recorded()["found"][name]
    assert found["p of uniformity"] > 0.01
    for level in LEVELS:
        share = found[f"{level:.0%} intervals hold"]
        assert share == pytest.approx(level, abs=3.5 * np.sqrt(level * (1 - level) / found["tables"]))


@pytest.mark.slow
def test_a_few_are_found_again() -> None:
    """Twenty tables from their seed: intervals of level .8 hold four of five, three standard errors at most away."""
    found = simulated("5 objects, 40 judgments", 20, 39)
    assert found["80% intervals hold"] == pytest.approx(0.8, abs=3 * np.sqrt(0.16 / 20))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", STUDIES)
def test_it_is_found_again(name: str) -> None:
    assert simulated(name, TABLES[name], recorded()["seed"]) == recorded()["found"][name]
