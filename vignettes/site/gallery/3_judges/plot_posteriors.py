"""
Who belongs to which class
==========================

The probability that each judge belongs to each latent class, given all judgments of the judge.
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(2)
judge = np.repeat(np.arange(40), 10)
i = rng.integers(4, size=len(judge))
j = (i + rng.integers(1, 4, size=len(judge))) % 4
worth = np.array([[0.6, 0.2, 0.1, -0.4], [-0.4, 0.2, 0.1, 0.6]])[(judge >= 24).astype(int)]
row = np.arange(len(judge))
says = np.where(rng.random(len(judge)) < 1 / (1 + np.exp(-2 * (worth[row, i] - worth[row, j]))), "i", "j")
cheese = np.array(["Brie", "Comté", "Gouda", "Feta"])
frame = pd.DataFrame({"judge": judge, "object_i": cheese[i], "object_j": cheese[j], "outcome": says})
models = llbt.judges.classes("object", llbt.from_judgments(frame, clusters="judge"), k=2, starts=10, rng=1)
llbt.plot.posteriors(models[2])
