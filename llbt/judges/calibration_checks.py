"""Checks of calibrated worths: whether labels are drawn at random, and errors are equal on all pairs."""

from __future__ import annotations

import numpy as np
from scipy import stats

from ..base.table import counted
from ..core.columns import FloatArray
from ..core.statistics import TestResult
from .calibration_units import Units

_EXPECTED = 5.0  # labels of a cell below which χ² is not relied on


def same_pairs(units: Units) -> TestResult:
    """Test whether pairs have the same shares among labelled and other units."""
    number = len(units.pairs)
    both = (units.labelled, ~units.labelled)
    table = np.stack([np.bincount(units.pair, chosen, number) for chosen in both]).astype(np.float64)
    null = "labelled and unlabelled units have the same pairs"
    return _homogeneity("Pairs of labelled and unlabelled units", null, table)


def drift_of(units: Units, k: int) -> TestResult:
    """Test whether a machine agrees with people equally often on all pairs."""
    human, machine = units.human, units.machines[k]
    outcomes = len(units.table.response.outcomes)
    notes = []
    for source in (human, machine):
        counts = np.zeros((units.size, outcomes))
        np.add.at(counts, (source.unit, source.outcomes), source.share)
        notes.append(counts.argmax(axis=1))
    agree = (notes[0] == notes[1])[units.labelled]
    pair, number = units.pair[units.labelled], len(units.pairs)
    table = np.stack([np.bincount(pair, chosen, number) for chosen in (agree, ~agree)]).astype(np.float64)
    return _homogeneity(f"Agreement of {machine.name} by pair", "the machine agrees equally often on every pair", table)


def _homogeneity(name: str, null: str, table: FloatArray) -> TestResult:
    """Return Pearson's χ² of a table of two rows."""
    nonempty = table[:, table.sum(axis=0) > 0]
    df = (int((nonempty.sum(axis=1) > 0).sum()) - 1) * (nonempty.shape[1] - 1)
    if df <= 0:
        return TestResult(name, null, 0.0, 0, 1.0, "chi2")
    expected = np.outer(nonempty.sum(axis=1), nonempty.sum(axis=0)) / nonempty.sum()
    statistic = float(((nonempty - expected) ** 2 / expected).sum())
    below = int((expected < _EXPECTED).sum())
    few = (f"{counted(below, 'expected count')} below 5",) if below else ()
    return TestResult(name, null, statistic, df, float(stats.chi2.sf(statistic, df)), "chi2", few)
