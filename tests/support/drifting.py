"""Tables drawn from worths that go at random."""

import itertools

import numpy as np
import pandas as pd

import llbt


def drifting_table(
    rng: np.random.Generator, sigma: float, days: int = 10, objects: int = 5, number: int = 8
) -> tuple[llbt.Comparisons, np.ndarray]:
    """Return counts of so many judgments of each pair on each day, and the log-worths less their mean, (days, J)."""
    steps = rng.normal(0, sigma, (days - 1, objects))
    worth = np.cumsum(np.vstack([rng.normal(0, 0.4, objects), steps]), axis=0)
    i, j = np.array(list(itertools.combinations(range(objects), 2))).T
    lead = worth[:, i] - worth[:, j]
    weights = np.exp(np.stack([lead, np.full_like(lead, -0.5), -lead], axis=-1))
    counts = rng.multinomial(number, weights / weights.sum(axis=-1, keepdims=True)).reshape(-1, 3)
    frame = pd.DataFrame(counts, columns=["wins_i", "ties", "wins_j"])
    frame = frame.assign(object_i=np.tile(i, days), object_j=np.tile(j, days), day=np.repeat(np.arange(days), len(i)))
    return llbt.from_counts(frame, clusters="day"), worth - worth.mean(axis=1, keepdims=True)
