"""
What changed from one table to another
======================================

Two weeks, releases or groups: the change of each object with simultaneous intervals, the largest loss at the top.
"""

import llbt

c = llbt.load_dataset("dras_table1")
before, after = (c.select(where={"judge": judge}).pool() for judge in ("J1", "J2"))
llbt.plot.changes(llbt.compare(before, after))
