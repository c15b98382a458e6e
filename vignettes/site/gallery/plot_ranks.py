"""
How sure the ranks are
======================

How often each object has each rank when the judgments are resampled.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("cems").pool())
ranks = llbt.bootstrap(res, n=500, rng=1).ranks()
llbt.plot.ranks(ranks)
