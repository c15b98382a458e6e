"""How many judgments `planning.next_pairs` saves on real data: replays of WMT10's Spanish-English judgments.

15 systems, 105 pairs with 79 to 130 judgments of experts each. A judgment of a pair is drawn from those that were made
of it; right is the order of the fit to all 11,307. Each replay begins with a judgment of each pair, and goes on in
batches of 100: pairs drawn at random, judged alike often, or named by next_pairs (of a fit with prior="jeffreys").
"""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt

RECORD = SIMULATIONS / "next_pairs_replay.json"
LOOKS = (400, 600, 800, 1200, 1600, 2000, 3000)
BATCH = 100
TOP = 3
RULES = {
    "a": {"criterion": "a"},
    "order": {"criterion": "order"},
    "top": {"goal": "top", "k": TOP, "criterion": "order"},
}


class Replay:
    """What is drawn from, and what is right."""

    def __init__(self, data: Path) -> None:
        blocks = pd.read_csv(data / "wmt10_expert_RNK.csv.gz")
        blocks = blocks[(blocks["srclang"] == "Spanish") & (blocks["trglang"] == "English")]
        c = llbt.from_judgments(blocks)
        self.objects, self.pairs = c.objects, c.to_frame()[["object_i", "object_j"]]
        self.share = c.counts / c.counts.sum(axis=1, keepdims=True)
        self.place = {pair: k for k, pair in enumerate(self.pairs.itertuples(index=False, name=None))}
        self.right = self._worths(llbt.fit("object + tie", c))

    def errors(self, rule: str, rng: np.random.Generator) -> list[tuple[float, float]]:
        """Share of the pairs in the wrong order, and of the best three that are not among them, at each look."""
        size = len(self.share)
        counts, found = rng.multinomial(1, self.share), []
        while (done := int(counts.sum())) < LOOKS[-1]:
            batch = min(BATCH, min(look for look in LOOKS if look > done) - done)
            counts = counts + rng.multinomial(self._asked(rule, counts, batch, size, rng), self.share)
            if counts.sum() in LOOKS:
                found.append(self._wrong(self._worths(self._fit(counts))))
        return found

    def _asked(
        self,
        rule: str,
        counts: np.ndarray,
        batch: int,
        size: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        if rule == "random":
            return rng.multinomial(batch, np.full(size, 1 / size))
        if rule == "uniform":
            least = np.argsort(counts.sum(axis=1) + rng.random(size) / 2)
            return np.bincount(least[np.arange(batch) % size], minlength=size)
        found = llbt.planning.next_pairs(self._fit(counts), batch, **RULES[rule])
        names = list(zip(found.pairs["object_i"], found.pairs["object_j"], strict=True))
        return np.bincount([self.place[names[k]] for k in found.sequence], minlength=size)

    def _fit(self, counts: np.ndarray) -> llbt.LLBTResults:
        frame = self.pairs.assign(**dict(zip(("wins_i", "ties", "wins_j"), counts.T, strict=True)))
        return llbt.fit("object + tie", llbt.from_counts(frame), prior="jeffreys")

    def _worths(self, res: llbt.LLBTResults) -> np.ndarray:
        return np.array([res.params.get(f"object[{label}]", 0.0) for label in self.objects])

    def _wrong(self, worth: np.ndarray) -> tuple[float, float]:
        i, j = np.triu_indices(len(worth), 1)
        turned = np.sign(worth[i] - worth[j]) != np.sign(self.right[i] - self.right[j])
        best, found = (set(np.argsort(-x)[:TOP].tolist()) for x in (self.right, worth))
        return float(turned.mean()), len(best - found) / TOP


def found(data: Path, rule: str, replays: int, seed: int) -> dict[str, list[float]]:
    replay = Replay(data)
    errors = np.array([replay.errors(rule, np.random.default_rng([seed, k])) for k in range(replays)])
    mean, error = errors.mean(axis=0), errors.std(axis=0) / math.sqrt(replays)
    return {
        "pairs": mean[:, 0].round(4).tolist(),
        "error": error[:, 0].round(4).tolist(),
        "top": mean[:, 1].round(4).tolist(),
    }


def needed(errors: list[float], level: float) -> float:
    """Judgments at which a falling error reaches a level, between looks by the log of both."""
    falling = np.minimum.accumulate(errors)
    after = int(np.argmax(falling <= level))
    x, y = np.log(LOOKS), np.log(np.maximum(falling, 1e-4))
    part = (y[after - 1] - math.log(level)) / (y[after - 1] - y[after])
    return float(np.exp(x[after - 1] + part * (x[after] - x[after - 1])))


def test_recorded_savings() -> None:
    """The judgments until 6 % of the pairs are in the wrong order, and until 10 % of the best three are not found."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))["found"]
    drawn, alike = (needed(record[rule]["pairs"], 0.06) for rule in ("random", "uniform"))
    assert needed(record["order"]["pairs"], 0.06) < 0.9 * min(drawn, alike)
    drawn, alike = (needed(record[rule]["top"], 0.1) for rule in ("random", "uniform"))
    assert needed(record["top"]["top"], 0.1) < 0.6 * min(drawn, alike)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("rule", ["random", "order"])
def test_replay(shared: Path, rule: str) -> None:
    """Six replays: within four standard errors of what is recorded."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    expected = record["found"][rule]
    some = found(shared / "data", rule, 6, 3)
    spread = 4 * np.array(expected["error"]) * math.sqrt(record["replays"] / 6)
    assert (np.abs(np.subtract(some["pairs"], expected["pairs"])) <= spread).all()


@pytest.mark.shared
@pytest.mark.exhaustive
@pytest.mark.parametrize("rule", ["random", "uniform", *RULES])
def test_replay_again(shared: Path, rule: str) -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    again = found(shared / "data", rule, record["replays"], record["seed"])
    assert again["pairs"] == pytest.approx(record["found"][rule]["pairs"], abs=2e-3)
