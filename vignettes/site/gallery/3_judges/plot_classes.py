"""
Latent classes of judges
========================

Groups of judges that nobody knows beforehand: the shares of the classes, and the log-worths of the objects in each
class. The intervals allow for uncertain class membership.
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(1)
judge = np.repeat(np.arange(90), 12)
i = rng.integers(4, size=len(judge))
j = (i + rng.integers(1, 4, size=len(judge))) % 4
worth = np.array([[1.0, 0.4, 0.2, -0.6], [-0.6, 0.3, 0.2, 1.1]])[(judge >= 55).astype(int)]
row = np.arange(len(judge))
says = np.where(rng.random(len(judge)) < 1 / (1 + np.exp(-2 * (worth[row, i] - worth[row, j]))), "i", "j")
cheese = np.array(["Brie", "Comté", "Gouda", "Feta"])
frame = pd.DataFrame({"judge": judge, "object_i": cheese[i], "object_j": cheese[j], "outcome": says})
models = llbt.judges.classes("object", llbt.from_judgments(frame, clusters="judge"), k=[1, 2, 3], starts=10, rng=1)
llbt.plot.classes(models.best)
