"""Scores of systems, and their correlations by loops over scipy."""

import numpy as np
from scipy import stats

LEVELS = ("system", "input", "global")

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def scores(ties=False, missing=0.0, shape=(9, 7), seed=1):
    """A metric and humans who agree with it to a part; ties by rounding, missing cells at random."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(shape[0], 1)) + rng.normal(size=shape)
    x = z + rng.normal(size=shape)
    x, z = (np.round(side) if ties else side for side in (x, z))
    for side in (x, z):
        side[rng.random(shape) < missing] = np.nan
    return x, z


def of_points(x, z, coefficient):
    """The coefficient of what both have, by scipy; NaN where one side is constant."""
    both = ~np.isnan(x) & ~np.isnan(z)
    x, z = x[both], z[both]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(z) == 0:
        return np.nan
    return SCIPY[coefficient](x, z).statistic


def by_loop(x, z, level, coefficient):
    if level == "system":  # rounded: means of the same scores in another order are tied
        return of_points(*(np.round(np.nanmean(side, axis=1), 12) for side in (x, z)), coefficient)
    if level == "global":
        return of_points(x.ravel(), z.ravel(), coefficient)
    return np.nanmean([of_points(a, b, coefficient) for a, b in zip(x.T, z.T, strict=True)])
