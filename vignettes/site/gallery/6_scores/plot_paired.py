"""
Two systems, instance by instance
=================================

The scores of two systems on the same instances against each other, with both distributions.
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(1)
difficulty = rng.normal(size=80)  # of the instances
scores = pd.DataFrame(
    {
        "large": 30 + 5 * difficulty + rng.normal(2.0, 4, 80),
        "tuned": 30 + 5 * difficulty + rng.normal(2.5, 2, 80),
        "small": 30 + 5 * difficulty + rng.normal(0.0, 2, 80),
    }
)
llbt.plot.paired(scores, "tuned", "small")
