"""A fit as a model of independent units, which every kind of fit can leave out, resample and hold out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..core.columns import FloatArray, IntArray, Label
from ..errors import DesignError, OptionError
from .refit import refit_data


class HeldOutUnits(Protocol):
    """A fit and its data in U units that can be held out: judgments, lists, patterns, judges or prompts."""

    @property
    def unit(self) -> str:
        """The unit: ``"judgment"``, ``"list"``, ``"pattern"``, or the column whose levels are the units."""

    @property
    def labels(self) -> tuple[Label, ...] | None:
        """The levels that are the units, length U; None for single judgments, lists and patterns."""

    @property
    def counts(self) -> FloatArray:
        """The number of copies of each unit, shape (U,)."""

    @property
    def sizes(self) -> FloatArray:
        """The number of judgments in each unit (for lists and patterns their number), shape (U,)."""

    @property
    def each(self) -> str:
        """The noun for what `sizes` counts: ``"judgment"``, ``"list"`` or ``"pattern"``."""

    def estimated(self, counts: FloatArray) -> FloatArray:
        """Return the estimates (p,) with other counts of the units (U,).

        Raises
        ------
        DesignError
            If they are not finite, or the units do not identify them.
        """

    def shrunk(self, counts: FloatArray) -> FloatArray:
        """Return the estimates from these counts and a prior of one judgment.

        Raises
        ------
        DesignError
            If the model has no prior, or some estimate is infinite in spite of the prior.
        """


class IndependentUnits(HeldOutUnits, Protocol):
    """A fit and its data in U independent units."""

    def log_scores(self, params: FloatArray) -> FloatArray:
        """Return the log-probability of each unit (U,) at some parameters (p,)."""


@runtime_checkable
class DependentUnits(HeldOutUnits, Protocol):
    """A fit and its data in U units that depend on each other: known units help to predict the others."""

    def log_scores_given(self, params: FloatArray, known: FloatArray) -> FloatArray:
        """Return the log-probability of each unknown unit (U,), given the known ones."""


class UnitModel(IndependentUnits, Protocol):
    """A fit and its data in U independent units, which can also be left out or drawn again."""

    @property
    def parts(self) -> FloatArray:
        """The number of independent parts of each unit: judges with effects, judgments, lists; shape (U,)."""

    @property
    def part(self) -> str:
        """The noun for what `parts` counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p estimated parameters, including those that are not worths."""

    @property
    def estimates(self) -> FloatArray:
        """The estimates, shape (p,)."""

    def titles(self) -> list[str]:
        """Return the name of each unit in a printout, length U."""

    def refitted(self, counts: FloatArray) -> Any:
        """Return the fit to the data with other counts of the units.

        Raises
        ------
        DesignError
            As in `estimated`.
        """


@singledispatch
def unit_model(res: Any, by: str | None, option: str) -> UnitModel:
    """Return a fit as a model of units.

    Parameters
    ----------
    res
        A fit.
    by : str or None
        The column whose levels are the units, or ``"judgment"``, ``"list"``, ``"pattern"``; None for the unit that the
        fit takes as independent.
    option : str
        The name of the argument that `by` comes from, for error messages.

    Raises
    ------
    OptionError
        For a column that the data do not have, and for units that depend on each other by the model.
    """
    if isinstance(res, Mapping):
        raise OptionError("fits in a mapping", "Pass a list: list(fits.values()).", expected="a fit or a list of fits")
    if hasattr(res, "best"):
        raise OptionError(f"a {type(res).__name__}, which is several fits", "Pass one of them, such as .best.")
    raise OptionError(f"a {type(res).__name__}, whose data are not independent units", expected="a fit")


@singledispatch
def units_to_predict(res: Any, by: str | None) -> IndependentUnits | DependentUnits:
    """Return a fit as a model of units that can be held out; arguments and errors as in `unit_model`."""
    return unit_model(res, by, "by")


@singledispatch
def own_estimates(res: Any) -> FloatArray:
    """Return the estimates (p,) that `estimates_of` computes for other data."""
    return unit_model(res, None, "by").estimates


@singledispatch
def estimates_of(res: Any, data: Any) -> FloatArray:
    """Return the estimates (p,) of the same model in data drawn from a fit; DesignError if they are not finite."""
    return own_estimates(refit_data(res, data))


@singledispatch
def summary_of(res: Any, data: Any) -> FloatArray:
    """Return p numbers that show how a fit would follow data drawn from it: by default `estimates_of`.

    For fits that take long, the numbers are the scores of the data at the fit's own estimates.
    """
    return estimates_of(res, data)


@singledispatch
def own_summary(res: Any) -> FloatArray:
    """Return what `summary_of` returns for the fit's own data, (p,)."""
    return own_estimates(res)


def folds_of(model: HeldOutUnits, folds: int, rng: np.random.Generator) -> list[FloatArray]:
    """Return how often each unit is in each fold, (U,) each: folds of equal size, without replacement.

    Raises
    ------
    OptionError
        For more folds than units.
    DesignError
        For counts that are not whole numbers.
    """
    counts = model.counts
    if np.any(counts % 1 > 0):
        raise DesignError(f"some counts of {model.unit}s are not whole numbers", "Hold out levels of a cluster: by=.")
    each: IntArray = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    if folds > len(each):
        what = f"{model.unit}s" if model.labels is None else f"levels of {model.unit}"
        raise OptionError(f"folds={folds} of {len(each)} {what}", f"Use folds={len(each)} or fewer.")
    fold = rng.permutation(len(each)) % folds
    return [np.bincount(each[fold == k], minlength=len(counts)).astype(np.float64) for k in range(folds)]
