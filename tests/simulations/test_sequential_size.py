"""How often `planning.sequential` is wrong at any time, and how soon it is right, by simulation.

Streams of judgments are drawn and bets are placed on arrays of many streams; that the bets are those of the package a
test looks at. Evidence is looked at after every judgment (or judge, or batch).
"""

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.folders import SIMULATIONS

import llbt
from llbt.planning.betting_evidence import (
    N_BETS,
    log_e_values,
    log_leads,
    log_two_sided,
    of_counts,
    of_scores,
)

ALPHA = 0.05
RECORD = SIMULATIONS / "sequential_size.json"


def tied_pair(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """Two objects alike, a third of judgments ties, 2,000 judgments."""
    outcomes = rng.choice([1, 0, -1], p=[1 / 3] * 3, size=(streams, 2000))
    return {"rejected": _ever(_two_sided(np.cumsum(outcomes == 1, axis=1), np.cumsum(outcomes == -1, axis=1)))}


def order_by_lot(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """Two objects alike, odds 2 for the one that is shown first, who that is drawn by lot; 2,000 judgments."""
    first = rng.random((streams, 2000)) < 0.5
    won = rng.random((streams, 2000)) < np.where(first, 2 / 3, 1 / 3)
    return {"rejected": _ever(_two_sided(np.cumsum(won, axis=1), np.cumsum(~won, axis=1)))}


def judges_in_sequence(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """Two objects alike on average, ten judges one after the other with 200 judgments each, sd .5 of log-odds."""
    chance = special.expit(0.5 * rng.standard_normal((streams, 10)))
    won = rng.random((streams, 10, 200)) < chance[..., None]
    flat = won.reshape(streams, -1)
    judgments = _ever(_two_sided(np.cumsum(flat, axis=1), np.cumsum(~flat, axis=1)))
    return {"judgments": judgments, "judges": _ever(_by_judge(won.mean(axis=2)))}


def many_judges(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """As before, with 200 judges, 20 judgments of each, and sd 1."""
    chance = special.expit(rng.standard_normal((streams, 200)))
    return {"judges": _ever(_by_judge(rng.binomial(20, chance) / 20))}


def leaders_at_random(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """Four objects alike, 1,000 judgments of pairs drawn at random: does any of them lead?"""
    return _leaders(np.zeros(4), 1000, streams, rng, lambda log_e, leads: rng.random(log_e.shape))


def two_leaders_at_random(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """Two leaders alike, two objects at odds of 3 against either."""
    return _leaders(_TWO, 1000, streams, rng, lambda log_e, leads: rng.random(log_e.shape))


def two_leaders_chased(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """The same; judged is always who is nearest to leading against the one who keeps him from it."""

    def chase(log_e: np.ndarray, leads: np.ndarray) -> np.ndarray:
        others = np.where(np.eye(4, dtype=bool), np.inf, log_e)
        return np.where(
            np.arange(4)[:, None] == leads.argmax(axis=1)[:, None, None],
            -others,
            -np.inf,
        )

    return _leaders(_TWO, 1000, streams, rng, chase)


def only_the_leaders(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """Two objects alike, and no others: does either lead?"""
    return _leaders(np.zeros(2), 2000, streams, rng, lambda log_e, leads: rng.random(log_e.shape))


_TWO = np.log(3) / 2 * np.array([1.0, 1.0, 0.0, 0.0])
SETTINGS: dict[str, Callable[[int, np.random.Generator], dict[str, float]]] = {
    one.__name__: one
    for one in (
        tied_pair,
        order_by_lot,
        judges_in_sequence,
        many_judges,
        leaders_at_random,
        two_leaders_at_random,
        two_leaders_chased,
        only_the_leaders,
    )
}


def _two_sided(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Two-sided log e-values after each judgment, (streams, judgments), of a pair."""
    up, down = (log_e_values(of_counts(a.astype(float), b.astype(float))) for a, b in ((wins, losses), (losses, wins)))
    return np.logaddexp(up, down) - np.log(2)


def _by_judge(scores: np.ndarray) -> np.ndarray:
    """Two-sided log e-values after each judge, (streams, judges)."""
    up, down = (log_e_values(np.cumsum(of_scores(x), axis=1)) for x in (scores, 1 - scores))
    return np.logaddexp(up, down) - np.log(2)


def _ever(log_e: np.ndarray) -> float:
    return round(float((log_e.max(axis=1) >= -math.log(ALPHA)).mean()), 4)


def _leaders(
    worth: np.ndarray,
    judgments: int,
    streams: int,
    rng: np.random.Generator,
    prefer: Callable,
) -> dict:
    """How often an object seems to lead at J/alpha and at 1/alpha; judged is the pair that is preferred most."""
    size, rows = len(worth), np.arange(streams)
    log_e, wealth = (
        np.zeros((streams, size, size)),
        np.zeros((streams, size, size, N_BETS)),
    )
    peak = np.zeros(streams)
    win, loss = of_scores(np.array([1.0, 0.0]))
    for _ in range(judgments):
        wanted = prefer(log_e, log_leads(log_e))
        wanted[:, np.arange(size), np.arange(size)] = -np.inf
        i, j = np.divmod(wanted.reshape(streams, -1).argmax(axis=1), size)
        won = (rng.random(streams) < special.expit(2 * (worth[i] - worth[j])))[:, None]
        wealth[rows, i, j] += np.where(won, win, loss)
        wealth[rows, j, i] += np.where(won, loss, win)
        for a, b in ((i, j), (j, i)):
            log_e[rows, a, b] = log_e_values(wealth[rows, a, b])
        peak = np.maximum(peak, log_leads(log_e).max(axis=1))
    return {
        "at J/alpha": round(float((peak >= math.log(size / ALPHA)).mean()), 4),
        "at 1/alpha": round(float((peak >= -math.log(ALPHA)).mean()), 4),
    }


# -- the package itself: pairs by next_pairs ---------------------------------------------------------------------------


def chosen_by_next_pairs(streams: int, rng: np.random.Generator) -> dict[str, float]:
    """Two leaders alike, a third object at odds of 3 against either: five judgments of each pair, and three batches of
    30 that `next_pairs` names to find the leader; looked at after every judgment.
    """
    labels, worth = ["A", "B", "C"], np.log(3) / 2 * np.array([1.0, 1.0, 0.0])
    frame = pd.DataFrame(itertools.combinations(labels, 2), columns=["object_i", "object_j"])
    table = llbt.from_counts(frame.assign(wins_i=1, wins_j=1))
    chances = special.expit(2 * (worth[table.pairs[:, 0]] - worth[table.pairs[:, 1]]))
    seen = [_one_by_one(table, chances, rng) for _ in range(streams)]
    leads = np.array([one[0] for one in seen])
    return {
        "at J/alpha": round(float((leads >= math.log(len(labels) / ALPHA)).mean()), 4),
        "tied pair": round(float(np.mean([one[1] >= -math.log(ALPHA) for one in seen])), 4),
        "judgments of the tied pair": round(float(np.mean([one[2] for one in seen])), 1),
    }


def _one_by_one(table: llbt.Comparisons, chances: np.ndarray, rng: np.random.Generator) -> tuple[float, float, int]:
    """The largest log e-values of a leader and of the tied pair in one stream, and the judgments of that pair."""
    which, won = np.repeat(np.arange(3), 5), np.empty(0, dtype=bool)
    for batch in range(4):
        if batch:
            counts = np.column_stack([np.bincount(which, won, 3), np.zeros(3), np.bincount(which, ~won, 3)])
            res = llbt.fit("object", replace(table, counts=counts), prior="jeffreys")
            found = llbt.planning.next_pairs(res, 30, goal="top", k=1, criterion="order")
            which = np.append(which, found.sequence)
        won = np.append(won, rng.random(len(which) - len(won)) < chances[which[len(won) :]])
    steps = (which[:, None] == np.arange(3)) * np.where(won, 1.0, -1.0)[:, None]
    wins, losses = (np.cumsum(np.maximum(side * steps, 0), axis=0) for side in (1, -1))
    log_e = np.zeros((len(which), 3, 3))
    i, j = table.pairs.T
    log_e[:, i, j], log_e[:, j, i] = (
        log_e_values(of_counts(wins, losses)),
        log_e_values(of_counts(losses, wins)),
    )
    return (
        float(log_leads(log_e).max()),
        float(log_two_sided(log_e)[:, 0, 1].max()),
        int((which == 0).sum()),
    )


# -- how soon it is right ----------------------------------------------------------------------------------------------


def judgments_needed(odds: float, streams: int, rng: np.random.Generator) -> dict[str, float]:
    """Decided judgments of one pair until p ≤ .05, beside the sign test's fixed number for power .8."""
    most = 3000 if odds < 2 else 1000
    won = rng.random((streams, most)) < odds / (1 + odds)
    log_e = _two_sided(np.cumsum(won, axis=1), np.cumsum(~won, axis=1))
    over = log_e >= -math.log(ALPHA)
    first = np.where(over.any(axis=1), over.argmax(axis=1) + 1, most)
    fixed = fixed_design(odds)
    return {
        "mean": round(float(first.mean()), 1),
        "median": float(np.median(first)),
        "by the fixed number": round(float((first <= fixed).mean()), 3),
        "fixed": fixed,
    }


def fixed_design(odds: float) -> float:
    """Judgments with which the exact two-sided sign test has power .8 from there on."""
    share, n = odds / (1 + odds), np.arange(5, 1500)
    least = stats.binom.isf(ALPHA / 2, n, 0.5) + 1
    power = stats.binom.sf(least - 1, n, share) + stats.binom.cdf(n - least, n, share)
    return float(n[np.flatnonzero(power < 0.8)[-1] + 1])


def found(setting: str, streams: int, seed: int) -> dict[str, float]:
    """The mean of what parts of at most 1,000 streams find, each with a seed of its own."""
    sizes = [min(1000, streams - first) for first in range(0, streams, 1000)]
    parts = [ALL[setting](size, np.random.default_rng([seed, k])) for k, size in enumerate(sizes)]
    return {name: round(float(np.mean([part[name] for part in parts])), 4) for name in parts[0]}


ALL = {
    **SETTINGS,
    "chosen_by_next_pairs": chosen_by_next_pairs,
    **{f"judgments_needed {odds:g}": partial(judgments_needed, odds) for odds in (1.5, 2.0, 3.0)},
}


# -- what is recorded --------------------------------------------------------------------------------------------------


def recorded() -> dict:
    return json.loads(RECORD.read_text(encoding="utf-8"))


def test_the_record_has_every_setting() -> None:
    record = recorded()
    assert set(record["found"]) == set(ALL)
    assert record["streams"] == 10_000


@pytest.mark.parametrize("setting", [*SETTINGS, "chosen_by_next_pairs"])
def test_recorded_level(setting: str) -> None:
    """Of 10,000 streams .05 are wrong at most at any time, but for those without what the docstring asks for."""
    share = recorded()["found"][setting]
    others = {"judgments", "at 1/alpha", "judgments of the tied pair"}
    assert all(value <= ALPHA for name, value in share.items() if name not in others)
    assert share.get("judgments", 1.0) > 0.5


def test_recorded_costs() -> None:
    """On average a little later than the fixed number for power .8, in half of the streams before it."""
    for odds in (1.5, 2, 3):
        share = recorded()["found"][f"judgments_needed {odds:g}"]
        assert share["mean"] < 1.2 * share["fixed"]
        assert share["by the fixed number"] > 0.45


@pytest.mark.slow
@pytest.mark.parametrize("setting", [name for name in SETTINGS if name not in ("tied_pair", "order_by_lot")])
def test_level(setting: str) -> None:
    """400 streams: within four standard errors of what is recorded."""
    for name, share in found(setting, 400, 3).items():
        expected = recorded()["found"][setting][name]
        assert share == pytest.approx(expected, abs=4 * math.sqrt(max(expected * (1 - expected), 0.01) / 400))


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", ALL)
def test_level_again(setting: str) -> None:
    """Of pairs by `next_pairs` to rounding: which of two that gain the same comes first is up to the last digit."""
    record = recorded()
    again = found(setting, record["streams"], record["seed"])
    assert again == pytest.approx(record["found"][setting], abs=2e-3, rel=1e-3)
