"""
Are predictions right?
======================

The observed shares of held-out judgments against their predicted probabilities.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("cems").pool())
llbt.plot.calibration(llbt.held_out(res, rng=1))
