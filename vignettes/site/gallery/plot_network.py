"""
Who met whom
============

A line for each pair, as wide as its judgments, coloured by how far the model is off.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("cems").pool())
llbt.plot.network(res)
