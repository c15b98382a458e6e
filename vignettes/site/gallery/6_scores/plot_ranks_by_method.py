"""
Ranks by method
===============

The ranks of each system by mean, median, Bradley–Terry, Elo and TrueSkill: lines cross where methods disagree.
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(1)
difficulty = rng.normal(size=80)  # of the instances
scores = pd.DataFrame(
    {
        "large": 30 + 5 * difficulty + rng.normal(2.0, 4, 80),
        "tuned": 30 + 5 * difficulty + rng.normal(2.5, 2, 80),
        "small": 30 + 5 * difficulty + rng.normal(0.0, 2, 80),
    }
)
scores.loc[:5, "large"] += 60  # some very easy instances: the mean is moved, the others are not
by_method = llbt.scores.aggregate_methods(scores, methods=("mean", "median", "bt"))
llbt.plot.ranks_by_method(by_method)

# %%
# Forty systems.

difficulty = rng.normal(size=80)
quality = np.linspace(3, -3, 40)
many = pd.DataFrame({f"system {k:02}": difficulty + quality[k] + rng.normal(0, 3, 80) for k in range(40)})
llbt.plot.ranks_by_method(llbt.scores.aggregate_methods(many, methods=("mean", "median", "bt")))
