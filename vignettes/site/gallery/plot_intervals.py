"""
Intervals and who does not differ
=================================

The objects with their confidence intervals, the best at the top; beside them which do not differ
significantly.
"""

import llbt

c = llbt.load_dataset("cems").pool()  # six business schools
res = llbt.fit("object + tie", c)
llbt.plot.intervals(res)
