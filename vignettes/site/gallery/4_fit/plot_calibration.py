"""
Are predictions right?
======================

How often held-out judgments came out as predicted, over the predicted probability.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("cems").pool())
llbt.plot.calibration(llbt.held_out(res, rng=1))
