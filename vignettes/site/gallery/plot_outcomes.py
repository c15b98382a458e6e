"""
Wins, ties and losses
=====================

What was counted, before any model: a bar for each object (or pair), split into wins, ties and losses.
"""

import llbt

c = llbt.load_dataset("puddings")  # six brands of chocolate pudding
llbt.plot.outcomes(c, rows="object")
