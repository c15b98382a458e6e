"""The results that a fit can have, and what each knows of the average judge."""

from __future__ import annotations

from typing import Annotated, Protocol, runtime_checkable

from ..arguments import Kind
from ..core.comparisons import Comparisons
from .best_worst_effects import BestWorstEffects
from .class_worths import ClassWorths
from .discrimination_results import DiscriminationResults
from .large_results import LargeResults
from .mixed_results import MixedResults
from .pattern_results import PatternResults
from .ranking_results import RankingResults
from .results import LLBTResults
from .specification import Specification

MaybeMixed = LLBTResults | MixedResults
Fitted = MaybeMixed | DiscriminationResults
WithWorths = Fitted | RankingResults | PatternResults | BestWorstEffects
AnyFit = WithWorths | LargeResults


@runtime_checkable
class WorthSource(Protocol):
    """An answer without a likelihood that has log-worths with their covariance, such as a calibration."""

    @property
    def comparisons(self) -> Comparisons:
        """The table."""

    @property
    def specification(self) -> Specification:
        """What was asked for."""

    def worth_source(self) -> LLBTResults:
        """Return the log-worths with their covariance."""


@runtime_checkable
class ClassWorthSource(Protocol):
    """An answer that has log-worths of several classes of judges."""

    @property
    def comparisons(self) -> Comparisons:
        """The table."""

    @property
    def specification(self) -> Specification:
        """What was asked for."""

    def class_worths(self) -> ClassWorths:
        """Return the log-worths of every class with their joint covariance."""


OneSource = Annotated[
    WorthSource,
    Kind(lambda value: hasattr(type(value), "worth_source"), "a Calibration, what llbt.judges.calibrate(…) returns"),
]
ClassSource = Annotated[
    ClassWorthSource,
    Kind(
        lambda value: hasattr(type(value), "class_worths"),
        "LatentClasses, what llbt.judges.classes(formula, c)[k] returns",
    ),
]


def average_of(res: WithWorths | WorthSource) -> LLBTResults:
    """Return a fit; of one in which judges differ that of the average judge: effects of 0, a discrimination of 1.

    Of a fit to lists the worths beside the comparisons that these imply; of a calibration its worths.
    """
    if isinstance(res, WorthSource):
        return res.worth_source()
    return plain_of(res) or res.average


def plain_of(res: object) -> LLBTResults | None:
    """Return a fit whose counts are all there is to ask; None where judges, lists or patterns are asked whole."""
    return res if isinstance(res, LLBTResults) else None
