"""The results that a fit can have, and what each knows of the average judge."""

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
# what functions take: fits that they know by their counts, effects or discriminations; of pairs; nearly all; all
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
    """An answer without a likelihood that has log-worths with their covariance, such as a calibration."""

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
    """An answer that has log-worths of several classes of judges."""

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


def average_of(res: WithWorths | FitPart | WorthSource) -> Estimates:
    """Return the estimates of a fit; where judges differ, of the average judge: effects of 0, a discrimination of 1.

    For a fit to lists the worths beside the comparisons that these imply; for a calibration its worths.
    """
    if isinstance(res, WorthSource):
        return res.worth_source()
    return res if isinstance(res, Estimates) else res.average  # type: ignore[union-attr]


def is_fit(value: object) -> TypeGuard[Any]:
    """Whether a value is a fit of some kind, as `llbt.fit` returns it."""
    return isinstance(value, _ALL)


def plain_of(res: object) -> PlainEstimates | None:
    """Return a fit whose counts are all there is to ask; None where judges, lists or patterns are asked whole."""
    return res if isinstance(res, LLBTResults) else None
