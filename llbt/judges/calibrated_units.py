"""Calibrated worths as a model of units: the labelled units, or all units with the machines' verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ..core.columns import FloatArray, IntArray, Label, summed_by
from ..errors import DesignError, OptionError
from ..inference.refit import refit_data
from .calibration_problem import CalibrationProblem
from .calibration_units import Units


@dataclass(frozen=True, eq=False)
class CalibratedUnits:
    """A calibration as a model of units; `clusters` (U,) numbers the units of the problem.

    Attributes
    ----------
    fit : Calibration
    clusters : ndarray of int, shape (U,)
    whole : bool
        Whether leaving out a unit removes the machines' verdicts, too; otherwise only its labels.
    """

    fit: Any
    clusters: IntArray
    whole: bool

    @property
    def _units(self) -> Units:
        units: Units = self.fit.problem.units
        return units

    @property
    def unit(self) -> str:
        """The kind of the units."""
        return self._units.kind

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of the units."""
        return tuple(self._units.names[k] for k in self.clusters.tolist())

    @property
    def counts(self) -> FloatArray:
        """The count of every unit: one."""
        return np.ones(len(self.clusters))

    @cached_property
    def sizes(self) -> FloatArray:
        """How many labels each unit has, shape (U,)."""
        return self._summed(np.ones(len(self._units.human.unit)))

    @property
    def each(self) -> str:
        """The word for what `sizes` counts."""
        return "label"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        names: tuple[str, ...] = self.fit.names
        return names

    @property
    def estimates(self) -> FloatArray:
        """The calibrated estimates."""
        return np.asarray(self.fit.results.solution.params)

    def titles(self) -> list[str]:
        """Return what each unit is called."""
        return [str(label) for label in self.labels]

    def _taken(self, counts: FloatArray) -> Units:
        """Return each unit as often as its count; or all units, with labels only where the count is above 0."""
        number = len(self._units.names)
        if self.whole:
            return self._units.again(counts.astype(np.int64), np.ones(number, dtype=np.bool_))
        labelled = np.zeros(number, dtype=np.bool_)
        labelled[self.clusters] = counts > 0
        return self._units.again(np.ones(number, dtype=np.int64), labelled)

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the estimates from resampled or remaining units. Weights that the data chose are chosen again."""
        means = "within_pairs" if self.fit.within_pairs else "overall"
        problem = CalibrationProblem.of(self._taken(counts), self.fit.design, means)  # type: ignore[arg-type]
        try:
            return problem.calibrated(self.fit.held).params
        except linalg.LinAlgError:
            raise DesignError("the remaining labels have no finite estimates", "Ask for more folds.") from None

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Refuse: calibrations have no prior."""
        raise DesignError("a fold has no finite estimates, and a calibration has no prior", "Ask for more folds.")

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of the labels of each unit."""
        human = self._units.human
        chance = self.fit.problem.scores.probabilities(params)[human.outcomes, human.comparison]
        return self._summed(np.log(chance))

    def _summed(self, values: FloatArray) -> FloatArray:
        """Return values of the labels summed by unit."""
        units = self._units
        return summed_by(units.cluster[units.human.unit], values, len(units.names))[self.clusters]

    def refitted(self, counts: FloatArray) -> Any:
        """Return the calibration of resampled or remaining units."""
        return refit_data(self.fit, self._taken(counts))


def calibrated_units(res: Any, by: str | None, option: str) -> CalibratedUnits:
    """Return a calibration as a model of its units, or of the groups of units that depend on each other.

    Only labels are left out or held out: the machines have still judged these units. Whole units are resampled, because
    the verdicts are a sample, too.
    """
    units: Units = res.problem.units
    if by is not None and by != units.kind:
        raise OptionError(
            f"{option}={by!r} is not the unit of these calibrated worths",
            "Leave it out.",
            expected=f"{units.kind!r}, their independent units",
        )
    whole = option == "resample"
    clusters = np.arange(len(units.names)) if whole else np.unique(units.cluster[units.labelled])
    return CalibratedUnits(res, clusters, whole)
