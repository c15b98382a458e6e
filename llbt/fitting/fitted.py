"""Types of results of fits, and how to get the average judge's worths from each type."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Protocol, TypeGuard, runtime_checkable

from ..base.arguments import Kind, record_kind
from ..core.comparisons import Comparisons
from .best_worst_effects import BestWorstEffects
from .class_worths import ClassWorths
from .discrimination_results import DiscriminationResults
from .estimates import Estimates
from .fit_part import FitPart
from .large_results import LargeResults
from .mixed_results import MixedResults
from .pattern_results import PatternResults
from .plain_estimates import PlainEstimates
from .protocols import FitLike, WithDiscriminations, WithEffects, WithLists
from .ranking_results import RankingResults
from .results import LLBTResults
from .specification import Specification

_WITH_WORTHS = (
    LLBTResults, MixedResults, DiscriminationResults, RankingResults, PatternResults, BestWorstEffects,
)  # fmt: skip
_ALL = (*_WITH_WORTHS, LargeResults)
# the kinds that functions take: fits known by counts, effects or discriminations; fits of pairs; nearly all; all
PlainFit = Annotated[PlainEstimates, record_kind(LLBTResults)]
WITH_WORTHS = functools.reduce(Kind.__or__, map(record_kind, _WITH_WORTHS))
WithWorths = Annotated[FitLike, WITH_WORTHS]
EffectsFit = Annotated[WithEffects, record_kind(MixedResults)]
DiscriminationsFit = Annotated[WithDiscriminations, record_kind(DiscriminationResults)]
RankingsFit = Annotated[WithLists, record_kind(RankingResults)]
PairFit = Annotated[FitLike, functools.reduce(Kind.__or__, map(record_kind, _WITH_WORTHS[:3]))]
AnyFit = Annotated[FitLike, functools.reduce(Kind.__or__, map(record_kind, _ALL))]


@runtime_checkable
class WorthSource(Protocol):
    """A result that has log-worths with their covariance but no likelihood, such as a calibration."""

    @property
    def comparisons(self) -> Comparisons:
        """The table."""

    @property
    def specification(self) -> Specification:
        """The specification of the fit."""

    def worth_source(self) -> Estimates:
        """Return the log-worths with their covariance."""


@runtime_checkable
class ClassWorthSource(Protocol):
    """A result that has log-worths of several classes of judges."""

    @property
    def comparisons(self) -> Comparisons:
        """The table."""

    @property
    def specification(self) -> Specification:
        """The specification of the fit."""

    def class_worths(self) -> ClassWorths:
        """Return the log-worths of every class with their joint covariance."""


OneSource = Annotated[
    WorthSource,
    Kind(lambda value: hasattr(type(value), "worth_source"), "a Calibration, what llbt.judges.calibrate(…) returns"),
]
CLASSES = Kind(
    lambda value: hasattr(type(value), "class_worths"), "LatentClasses, what llbt.judges.classes(formula, c)[k] returns"
)
ClassSource = Annotated[ClassWorthSource, CLASSES]


@runtime_checkable
class TreeSource(Protocol):
    """A tree of judges with a fit in each leaf."""

    @property
    def leaves(self) -> tuple[Any, ...]:
        """The nodes that are not split."""

    @property
    def specification(self) -> Specification:
        """The options of the fits of the nodes."""


AnyTree = Annotated[
    TreeSource,
    Kind(lambda value: hasattr(type(value), "leaves"), "a JudgeTree, what llbt.judges.tree(formula, c) returns"),
]


def average_of(res: WithWorths | FitPart | WorthSource) -> Estimates:
    """Return the estimates of a fit; if judges differ, for a judge with effects of 0 and a discrimination of 1.

    For rankings and patterns they are the worths on the implied comparisons; for a calibration, the calibrated worths.
    """
    if isinstance(res, WorthSource):
        return res.worth_source()
    return res if isinstance(res, Estimates) else res.average  # type: ignore[union-attr]


def is_fit(value: object) -> TypeGuard[Any]:
    """Whether a value is a fit of some kind, as returned by `llbt.fit`."""
    return isinstance(value, _ALL)


def plain_of(res: object) -> PlainEstimates | None:
    """Return the fit if it is a plain fit of comparisons, without effects or discriminations of judges; else None."""
    return res if isinstance(res, LLBTResults) else None
