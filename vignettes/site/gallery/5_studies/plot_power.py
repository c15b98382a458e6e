"""
Power of a study
================

Simulated power over the number of judgments per pair, and the number of judgments for a power of 80 %.
"""

import llbt

scenario = llbt.Scenario(odds=1.5, tie_share=0.3)
found = llbt.power(scenario, judgments=[50, 100, 200, 400], test=("llbt", "sign"), n=400, rng=1)
llbt.plot.power(found)
