"""
Judges from a population
========================

How much each judge differs from the average judge, in order of size, with intervals (a caterpillar plot).
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(3)
judges = [f"judge {k:02}" for k in range(1, 25)]
prefers = 1 / (1 + np.exp(-2 * rng.normal(0.3, 0.5, len(judges))))  # P(new preferred to old), judge by judge
wins = rng.binomial(20, prefers)
frame = pd.DataFrame({"object_i": "new", "object_j": "old", "judge": judges, "wins_i": wins, "wins_j": 20 - wins})
res = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
llbt.plot.judge_effects(llbt.judge_effects(res), of="new")
