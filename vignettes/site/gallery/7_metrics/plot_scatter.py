"""
Does a metric agree with people?
================================

One metric against human scores, a dot for each system. Outliers are marked and named. The legend has correlations
with and without them (Mathur et al. 2020).
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(3)
human = pd.Series(rng.normal(size=12), index=[f"system {k:02}" for k in range(12)])
human.iloc[-1] = -6.0
llbt.plot.scatter(0.3 * human + 0.4 * rng.normal(size=12), human)

# %%
# Sixty systems.

many = pd.Series(rng.normal(size=60), index=[f"system {k:02}" for k in range(60)])
llbt.plot.scatter(many + rng.normal(size=60), many)
