"""
Where the model fails
=====================

The largest standardized residuals: outcomes more or less frequent than the model expects.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("cems").pool())
llbt.plot.residuals(res, most=12)
