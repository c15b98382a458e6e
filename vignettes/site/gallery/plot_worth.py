"""
Worths by judge
===============

The worths of the objects in each class of the covariates, as the papers that use prefmod draw them. Judge J3
prefers D where the others prefer A.
"""

import llbt

c = llbt.load_dataset("dras_table1")  # four systems, four judges
res = llbt.fit("object * judge + tie", c)
llbt.plot.worth(res)
