"""
Tree of judges
==============

Covariates of the judges that separate groups with different preferences: the splits, and below each leaf the log-
worths of the objects with intervals.
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(1)
judge = np.repeat(np.arange(120), 12)
i = rng.integers(4, size=len(judge))
j = (i + rng.integers(1, 4, size=len(judge))) % 4
old, expert = judge >= 70, judge % 3 == 0
worth = np.where(
    old[:, None], [0.0, 0.2, 0.4, 1.0], np.where(expert[:, None], [1.2, 0.6, 0.3, 0.0], [0.6, 1.0, 0.2, 0.0])
)
row = np.arange(len(judge))
says = np.where(rng.random(len(judge)) < 1 / (1 + np.exp(-2 * (worth[row, i] - worth[row, j]))), "i", "j")
cheese = np.array(["Brie", "Comté", "Gouda", "Feta"])
about = {"judge": judge, "age": 20 + judge // 2, "expert": np.where(expert, "yes", "no")}
frame = pd.DataFrame({**about, "object_i": cheese[i], "object_j": cheese[j], "outcome": says})
c = llbt.from_judgments(frame, clusters="judge", covariates=["age", "expert"], numeric="age")
llbt.plot.tree(llbt.judges.tree("object", c))
