"""Graded tables that several files ask questions of."""

import numpy as np
import pandas as pd
from support.folders import REFERENCE

from llbt import Comparisons
from llbt.core.columns import Coded
from llbt.core.response import Response, graded

FIVE = graded(2, middle=True)
SEVEN = graded(3, middle=True)


def music() -> Comparisons:
    """14,210 graded judgments of five kinds of music, by sex."""
    frame = pd.read_csv(REFERENCE / "models" / "music_graded.csv")
    wide = frame.pivot_table(index=["object_i", "object_j", "sex"], columns="grade", values="count", fill_value=0)
    objects = sorted({*frame["object_i"], *frame["object_j"]})
    pairs = np.array([[objects.index(i), objects.index(j)] for i, j, _ in wide.index])
    sex = Coded("sex", np.array(["female", "male"], dtype=object), (wide.index.get_level_values("sex") == "male") * 1)
    return Comparisons(tuple(objects), pairs, wide[[2, 1, 0, -1, -2]].to_numpy(float), FIVE, columns=(sex,))


def judged(response: Response = SEVEN, seed: int = 4) -> Comparisons:
    """Four objects in both orders, each pair judged by two judges."""
    rng = np.random.default_rng(seed)
    found = [(i, j, k) for i in range(4) for j in range(4) for k in range(2) if i != j]
    i, j, judge = np.array(found).T
    lead = np.array([0.3, 0.1, -0.1, -0.3])
    levels = [np.full(len(i), -0.3) - 0.2 * b * judge for b in range(response.width - 1)]
    p = response.probabilities([lead[i] - lead[j] + 0.1, *levels])[0].T
    counts = np.array([rng.multinomial(60, row) for row in p]).astype(float)
    column = Coded("judge", np.array(["x", "y"], dtype=object), judge)
    return Comparisons(tuple("ABCD"), np.column_stack([i, j]), counts, response, keeps_order=True, columns=(column,))
