"""
How few judgments a ranking hangs on
====================================

For each place in the ranking, how many judgments have to be left out for the next object to overtake: filled where no
smaller choice of judgments does it.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
llbt.plot.fragility(llbt.fragility(res, change="adjacent"))
