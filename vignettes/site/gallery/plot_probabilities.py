"""
Probability that row beats column
=================================

Each pair's fitted probability, with the counted wins below it.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
llbt.plot.probabilities(res)
