"""The results that a fit can have, and what each knows of the average judge."""

from __future__ import annotations

from .discrimination_results import DiscriminationResults
from .large_results import LargeResults
from .mixed_results import MixedResults
from .results import LLBTResults

MaybeMixed = LLBTResults | MixedResults
Fitted = MaybeMixed | DiscriminationResults
AnyFit = Fitted | LargeResults


def average_of(res: Fitted) -> LLBTResults:
    """Return a fit; of one in which judges differ that of the average judge: effects of 0, a discrimination of 1."""
    return res if isinstance(res, LLBTResults) else res.average
