"""The results that a fit can have, and what each knows of the average judge."""

from __future__ import annotations

from .discrimination_results import DiscriminationResults
from .large_results import LargeResults
from .mixed_results import MixedResults
from .pattern_results import PatternResults
from .ranking_results import RankingResults
from .results import LLBTResults

MaybeMixed = LLBTResults | MixedResults
Fitted = MaybeMixed | DiscriminationResults
WithWorths = Fitted | RankingResults | PatternResults
AnyFit = WithWorths | LargeResults


def average_of(res: WithWorths) -> LLBTResults:
    """Return a fit; of one in which judges differ that of the average judge: effects of 0, a discrimination of 1.

    Of a fit to lists the worths beside the comparisons that these imply.
    """
    return res if isinstance(res, LLBTResults) else res.average
