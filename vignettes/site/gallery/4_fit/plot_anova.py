"""
Nested models
=============

The residual deviance of each model beside its degrees of freedom: which term is worth its parameters?
"""

import llbt

res = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
llbt.plot.anova(llbt.anova(res))
