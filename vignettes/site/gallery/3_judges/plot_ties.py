"""
Ties by judge
=============

The effects of ties and of order, by judge or by another covariate of the formula.
"""

import llbt

res = llbt.fit("object + tie * judge", llbt.load_dataset("dras_table1"))
llbt.plot.ties(res)
