"""Judges drawn from a population."""

from __future__ import annotations

import numpy as np
import pandas as pd


def judged_frame(judges: int, sigma: float, seed: int, each: int = 2, tie: float = 0.0) -> pd.DataFrame:
    """Judgments of three objects by judges with effects of sd σ on every log-worth, and of another sd on ties."""
    rng = np.random.default_rng(seed)
    worth = np.array([0.6, 0.0, -0.3]) + rng.normal(0, sigma, (judges, 3))
    ties = rng.normal(0, tie, judges) if tie else np.zeros(judges)
    rows = []
    for g in range(judges):
        for i, j in ((0, 1), (0, 2), (1, 2)):
            u = worth[g, i] - worth[g, j]
            p = np.exp([u, ties[g], -u])
            rows.append(("ABC"[i], "ABC"[j], f"J{g:02d}", *rng.multinomial(each, p / p.sum())))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])
