"""Split-half reliability: the correlation of worths by random halves of the judges."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..base.table import Qualifying, counted
from ..core.columns import FloatArray
from ..core.statistics import critical_value
from ..errors import DesignError
from ..fitting.plain_estimates import PlainEstimates
from ..resampling import Resampler
from .log_worths import LogWorths
from .pair_units import PairUnits, pair_units

FEWEST_JUDGES = 4  # two judges in each half
_FEWEST_OBJECTS = 4  # fewest objects for a finite Fisher interval
_INSIDE = 1 - 1e-12  # a correlation of 1 has no z


@dataclass(frozen=True, eq=False)
class SplitHalves:
    """The mean correlation r of log-worths by random halves of the judges, and the reliability of all judges.

    Attributes
    ----------
    half : ndarray, shape (3,)
        r and the bounds of its interval, for other objects of the same kind (Fisher's z).
    whole : ndarray, shape (3,)
        2r/(1 + r) of each value (Spearman–Brown): the expected correlation of worths by all judges with worths by as
        many other judges.
    splits : int
        The number of splits with a correlation.
    notes : tuple of str
    """

    half: FloatArray
    whole: FloatArray
    splits: int
    notes: tuple[str, ...] = ()


def split_halves(
    res: PlainEstimates, log_worths: LogWorths, judge: str, n: int, confidence: float, draw: Resampler
) -> SplitHalves:
    """Return the split-half reliability by the levels of a column with at least four levels."""
    units = pair_units(res, judge, "judge")
    assert units.labels is not None  # units of a column have labels
    made = draw.each([functools.partial(_correlation, units, _Worths.of(res, log_worths))] * n)
    correlations = np.array([r for r, _ in made])
    known = ~np.isnan(correlations)
    shrunk = sum(by_prior for _, by_prior in made)
    notes: list[str] = []
    if shrunk:
        what = f"{counted(shrunk, 'split')} of {n} with infinite worths in a half: both halves fitted with prior=1."
        notes.append(Qualifying(what))
    if not known.all():
        lost = counted(int((~known).sum()), "split")
        notes.append(Qualifying(f"{lost} of {n} left out: a half has no finite worths, even with a prior."))
    z = float(np.mean(np.arctanh(np.clip(correlations[known], -_INSIDE, _INSIDE)))) if known.any() else math.nan
    objects = int((~np.isnan(log_worths.estimate)).sum())
    if objects < _FEWEST_OBJECTS:
        notes.append(f"No interval of split halves: {objects} objects, Fisher's interval needs {_FEWEST_OBJECTS}.")
    error = 1 / math.sqrt(objects - 3) if objects >= _FEWEST_OBJECTS else math.nan
    reach = critical_value(confidence, np.inf) * error
    half = np.tanh([z, z - reach, z + reach])
    return SplitHalves(half, stepped_up(half), int(known.sum()), tuple(notes))


def stepped_up(r: FloatArray) -> FloatArray:
    """Return the correlation of measurements twice as long (Spearman–Brown); −1 if it is not defined."""
    return np.maximum(2 * r / (1 + r), -1.0)


@dataclass(frozen=True, eq=False)
class _Worths:
    """The log-worths of the compared objects, as rows @ params + offset of the estimated parameters."""

    rows: FloatArray
    offset: FloatArray

    @classmethod
    def of(cls, res: PlainEstimates, log_worths: LogWorths) -> _Worths:
        rows = log_worths.rows[~np.isnan(log_worths.estimate)]
        held = np.nan_to_num(res.estimated.values)
        held[res.free] = 0.0
        return cls(rows[:, res.free], rows @ held)

    def by(self, params: FloatArray) -> FloatArray:
        return self.rows @ params + self.offset


def _correlation(units: PairUnits, worths: _Worths, rng: np.random.Generator) -> tuple[float, bool]:
    """Return the correlation of worths by two random halves, and whether a prior was needed."""
    size = len(units.counts)
    half = np.zeros(size)
    half[rng.permutation(size)[: size // 2]] = 1.0
    shrunk = False
    try:
        both = [units.estimated(part) for part in (half, 1 - half)]
    except DesignError:
        shrunk = True
        try:
            both = [units.shrunk(part) for part in (half, 1 - half)]
        except DesignError:
            return math.nan, False
    first, second = (worths.by(params) for params in both)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return math.nan, False
    return float(stats.pearsonr(first, second).statistic), shrunk
