"""
Discrimination of judges
========================

How far each judge follows the worths that all judges share, with intervals: 1 is the average, 0 a judge who guesses,
and below 0 is one who prefers the opposite.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"), discrimination="judge")
llbt.plot.discrimination(res)
