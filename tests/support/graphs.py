"""Judgments with ties and an order effect of many objects, on graphs of pairs as they come up."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

import llbt

Kind = Literal["random", "power-law", "matchmade"]
KINDS: tuple[Kind, ...] = ("random", "power-law", "matchmade")


def judged_graph(kind: Kind, objects: int, judgments: int, *, seed: int = 0, reach: int = 50) -> pd.DataFrame:
    """Return judgments with the columns object_i, object_j, outcome (i, tie, j).

    Pairs at random; with few objects that meet most others; or of objects that are near in worth, up to `reach` places
    from each other.
    """
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 0.5, objects)
    i, j = _PAIRS[kind](rng, worth, judgments, reach)
    apart = worth[i] - worth[j] + 0.1
    weights = np.stack([np.exp(apart), np.full(judgments, np.exp(-0.5)), np.exp(-apart)])
    said = (rng.random(judgments) * weights.sum(axis=0) > np.cumsum(weights, axis=0)[:2]).sum(axis=0)
    outcome = pd.Categorical.from_codes(said, ["i", "tie", "j"])
    return pd.DataFrame({"object_i": i, "object_j": j, "outcome": outcome})


def finite_graph(kind: Kind, objects: int, judgments: int, *, seed: int = 0, order: bool = True) -> llbt.Comparisons:
    """Return such judgments with topics and lengths, and two rounds that make all estimates finite.

    In one everybody wins against an object that is near in worth, in the other he loses to it.
    """
    frame = judged_graph(kind, objects, judgments, seed=seed, reach=10)
    rng = np.random.default_rng(seed)
    place = np.argsort(rng.normal(0, 0.5, objects))  # the worths of `judged_graph`
    following = np.roll(place, -1)
    rounds = [pd.DataFrame({"object_i": place, "object_j": following, "outcome": said}) for said in ("i", "j")]
    frame = pd.concat([frame.astype({"outcome": str}), *rounds], ignore_index=True)
    frame["topic"] = rng.choice(["x", "y"], len(frame))
    frame["length_i"], frame["length_j"] = rng.normal(size=(2, len(frame)))
    return llbt.from_judgments(
        frame,
        objects=("object_i", "object_j"),
        outcome="outcome",
        covariates="topic",
        side_covariates={"length": ("length_i", "length_j")},
        order=order,
    )


def _random(rng, worth, judgments, reach):
    i, away = rng.integers(0, len(worth), judgments), rng.integers(1, len(worth), judgments)
    return i, (i + away) % len(worth)


def _power_law(rng, worth, judgments, reach):
    size = len(worth)
    often = np.cumsum(rng.permutation(np.arange(1, size + 1) ** -0.8))
    i = np.concatenate([np.arange(size), np.searchsorted(often, often[-1] * rng.random(judgments - size))])
    j = np.searchsorted(often, often[-1] * rng.random(judgments))
    j = np.where(i == j, (j + 1) % size, j)
    turned = rng.random(judgments) < 0.5
    return np.where(turned, j, i), np.where(turned, i, j)


def _matchmade(rng, worth, judgments, reach):
    size, order = len(worth), np.argsort(worth)
    place = rng.integers(0, size, judgments)
    away = rng.integers(1, reach + 1, judgments) * rng.choice([-1, 1], judgments)
    other = np.where((place + away < 0) | (place + away >= size), place - away, place + away)
    return order[place], order[other]


_PAIRS = {"random": _random, "power-law": _power_law, "matchmade": _matchmade}
