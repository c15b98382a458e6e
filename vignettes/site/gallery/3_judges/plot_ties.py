"""
Ties by judge
=============

The effects of ties and of order, by judge or whatever else the formula lets them differ by.
"""

import llbt

res = llbt.fit("object + tie * judge", llbt.load_dataset("dras_table1"))
llbt.plot.ties(res)
