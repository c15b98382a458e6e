"""Verdicts of people and of a machine on the same answers, with planted biases."""

from __future__ import annotations

import numpy as np
import pandas as pd


def verdicts(
    rng: np.random.Generator,
    rows: int,
    labels: int,
    order: float = 0.0,
    length: float = 0.0,
    own: float = 0.0,
    answers: float = 2.0,
) -> pd.DataFrame:
    """Return a row for each pair of answers of four objects, m0 the machine's own; labels in the first rows.

    `answers` is the standard deviation of what both see in an answer beyond its author; the others are what the machine
    adds to log-worths for the first position, a standard deviation of the relative length, and its own objects.
    """
    worth = np.array([0.45, 0.15, -0.15, -0.45])
    i = rng.integers(4, size=rows)
    j = (i + rng.integers(1, 4, size=rows)) % 4
    sizes = rng.lognormal(5, 0.4, size=(2, rows)).round()
    gap = (sizes[0] - sizes[1]) / sizes.sum(axis=0)
    gap /= np.sqrt(np.mean(gap**2))
    seen = worth[i] - worth[j] + rng.normal(0, answers, rows)
    lean = order + length * gap + own * ((i == 0).astype(float) - (j == 0))
    names = np.array([f"m{k}" for k in range(4)])

    def said(log_worth: np.ndarray) -> np.ndarray:
        return np.where(rng.random(rows) < 1 / (1 + np.exp(-2 * log_worth)), "model_a", "model_b")

    frame = pd.DataFrame({"model_a": names[i], "model_b": names[j], "human": said(seen), "machine": said(seen + lean)})
    frame["length_a"], frame["length_b"] = sizes
    frame.loc[labels:, "human"] = None
    return frame
