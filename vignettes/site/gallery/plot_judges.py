"""
Each judge against all
======================

The log-worths as each judge sees them, over those of the pooled model: points far from the diagonal are
opinions of one judge.
"""

import llbt

c = llbt.load_dataset("dras_table1")
llbt.plot.judges(llbt.fit("object * judge + tie", c), llbt.fit("object + tie", c))
