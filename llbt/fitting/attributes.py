"""Attributes that fits of several kinds share: each is computed by one function, or refused with a reason."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar, overload

from ..base.arguments import filled
from ..base.foreign_names import OF_FITS, unknown_attribute
from ..core.basis import Basis, of_comparisons
from ..core.columns import FloatArray, Label
from ..core.comparisons import Comparisons
from ..errors import DesignError
from ..formulas.design import Design

F = TypeVar("F")
R = TypeVar("R")
K = TypeVar("K", bound=type)

# The attributes that completion lists for a fit: the most wanted ones. The reference has all attributes.
COMPLETED = (
    *("aic", "as_latex", "bse", "comparisons", "conf_int", "llf", "params", "predict", "pvalues", "rankings"),
    *("shares", "summary", "t_test", "to_frame"),
)


class Attribute(property, Generic[F, R]):
    """An attribute of several kinds of fits, computed by one function: write ``aic = criteria.aic`` in a class.

    The type of the function's argument declares what it needs of a fit.
    """

    def __init__(self, function: Callable[[F], R]) -> None:
        super().__init__(function)
        self.function = function

    @overload
    def __get__(self, fit: None, kind: type | None = None) -> Attribute[F, R]: ...
    @overload
    def __get__(self, fit: F, kind: type | None = None) -> R: ...
    def __get__(self, fit: F | None, kind: type | None = None) -> Any:
        return self if fit is None else self.function(fit)


class UnavailableError(DesignError, AttributeError):
    """A figure that this kind of fit does not have; the message states why, and what to use instead."""


class Lacking(property):
    """An attribute that a kind of fit cannot have; access raises an error that states why.

    Attributes
    ----------
    name : str
        The name of the attribute.
    why, remedy : str
        As in `llbt.fitting.unsupported_questions`, where ``{name}`` is the attribute.
    """

    def __init__(self, name: str, why: str, remedy: str) -> None:
        super().__init__(self.refused, doc=f"Refused: {why}.")
        self.name, self.why, self.remedy = name, why, remedy

    def refused(self, fit: object) -> Any:
        """Raise the error."""
        raise self.error(fit, type(fit))

    def error(self, fit: object, kind: type) -> UnavailableError:
        """Return the error for a fit, or for a part of a fit of that kind."""
        remedy = filled(self.remedy.replace("{name}", self.name), fit)
        return UnavailableError(f"{kind.__name__} has no {self.name}: {self.why}", remedy)


def lacks(figures: Mapping[str, tuple[str, str]]) -> Callable[[K], K]:
    """Return a decorator that refuses attributes that a class cannot have; the error has the reason and a remedy."""

    def named(kind: K) -> K:
        for name, (why, remedy) in figures.items():
            setattr(kind, name, Lacking(name, why, remedy))
        return kind

    return named


def missing_attribute(fit: object, name: str) -> AttributeError:
    """Return the error for an attribute that a fit does not have: the reason, or which function to call instead."""
    kind = type(fit)
    given = inspect.getattr_static(kind, name, None)
    if isinstance(given, Lacking):
        return given.error(fit, kind)
    package = sys.modules.get("llbt")
    is_function = name.islower() and name in getattr(package, "__all__", ()) and callable(getattr(package, name))
    if is_function and name not in OF_FITS and name not in getattr(kind, "_unanswered", {}):
        return AttributeError(f"{name} is a function: llbt.{name}(res)")
    return unknown_attribute(kind, name)


# -- what was fitted ---------------------------------------------------------------------------------------------------


class _WithFormula(Protocol):
    @property
    def formula(self) -> str: ...


class WithSpecification(Protocol):
    """A fit that keeps its specification."""

    @property
    def specification(self) -> _WithFormula:
        """The specification of the fit."""


class WithTable(Protocol):
    """A fit with comparisons: its own, or those that its answers imply."""

    @property
    def comparisons(self) -> Comparisons:
        """The table."""


class WithDesign(Protocol):
    """A fit with a design of its parameters."""

    @property
    def design(self) -> Design:
        """The design of the parameters."""


@Attribute
def formula(fit: WithSpecification) -> str:
    """The formula, including brackets."""
    return fit.specification.formula


@Attribute
def objects(fit: WithTable) -> tuple[Label, ...]:
    """The J objects, in the order of the table."""
    return fit.comparisons.objects


@Attribute
def answers(fit: WithTable) -> Comparisons:
    """The fitted table."""
    return fit.comparisons


@Attribute
def n_judgments(fit: WithTable) -> float:
    """Number of judgments, the sum of their weights."""
    return fit.comparisons.n_judgments


@Attribute
def basis(fit: WithTable) -> Basis:
    """The data of the log-likelihood; compare `llf`, `aic` and `bic` only between fits with the same basis."""
    return of_comparisons(fit.comparisons)


@Attribute
def reference(fit: WithDesign) -> Label | None:
    """The object whose log-worth is 0, or None."""
    return fit.design.reference


@Attribute
def counts(fit: WithTable) -> FloatArray:
    """The counts of the table, shape (S, C): wins of i, (ties,) wins of j."""
    return fit.comparisons.outcome_counts


@Attribute
def n_cells(fit: WithTable) -> int:
    """Number of cells n of the table, the observations of the explicit Poisson model."""
    return int(fit.comparisons.outcome_counts.size)
