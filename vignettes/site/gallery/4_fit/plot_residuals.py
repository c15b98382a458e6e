"""
Where the model is off
======================

The largest standardized residuals: what happened more or less often than the model expects.
"""

import llbt

res = llbt.fit("object + tie", llbt.load_dataset("cems").pool())
llbt.plot.residuals(res, most=12)
