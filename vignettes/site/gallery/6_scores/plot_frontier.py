"""
Cost and score
==============

Mean score over mean cost. No other system beats the systems on the line at the same cost or less. Beside a name is
the share of resamples of items in which the system is on the line.
"""

import numpy as np

import llbt

rng = np.random.default_rng(4)
easy = rng.normal(size=200)  # of the items
systems = {"nano": (-1.0, 0.02), "mini": (0.1, 0.1), "old": (0.2, 0.9), "base": (0.9, 0.5), "large": (1.0, 3.0)}
rows = [
    {"system": name, "item": k, "score": float(easy[k] + skill + rng.logistic() > 0), "usd": usd * rng.gamma(4, 0.25)}
    for name, (skill, usd) in systems.items()
    for k in range(200)
]
board = llbt.scores.read_board(rows, system="system", item="item", score="score", cost="usd")
llbt.plot.frontier(board.frontier())
