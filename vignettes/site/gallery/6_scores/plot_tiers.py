"""
Tiers of a leaderboard
======================

Mean scores of systems on the same items with their intervals. The ranks that each system may have stand at the right;
dashed lines separate clusters: every system above is significantly better than every system below.
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(4)
easy = rng.normal(size=400)  # of the items
skill = {"atlas": 1.6, "birch": 1.5, "cedar": 1.4, "delta": 0.3, "ember": 0.2, "fjord": -1.2}
solved = {name: 1.0 * (easy + one + rng.logistic(size=400) > 0) for name, one in skill.items()}
board = llbt.scores.leaderboard(pd.DataFrame(solved), test="mcnemar")
llbt.plot.intervals(board)
