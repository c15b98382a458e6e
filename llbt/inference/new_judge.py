"""Whom a question about worths is of: all judges alike, the average judge, or one drawn from the population."""

from __future__ import annotations

from ..errors import OptionError
from ..fitting.fitted import Fitted, average_of
from ..fitting.mixed_results import MixedResults
from ..fitting.population import Population
from ..fitting.results import LLBTResults
from .scales import Scale


def asked_of(res: Fitted, population: bool, scale: Scale) -> tuple[LLBTResults, Population | None]:
    """Return the fit whose log-worths are asked for, and the population of judges that probabilities are averaged over.

    Raises
    ------
    OptionError
        For a population where a fit has none, and for its log-worths.
    """
    if not isinstance(res, MixedResults):
        if population:
            raise OptionError(
                "population=True, but this fit has no judges drawn from a population",
                "Let judges differ by normal effects, fit('object + tie + (object | judge)', c), or leave it out.",
            )
        return average_of(res), None
    if population and scale == "log_worth":
        raise OptionError(
            "population=True beside scale='log_worth': log-worths of judges have those of the average judge as their "
            "mean",
            "Leave population out, or ask for another scale, such as 'log_odds'.",
        )
    return res.average, Population.of(res, ordered=False) if population else None


def said_by(population: Population | None) -> tuple[str, ...]:
    """Return the note that answers are of a judge drawn from the population."""
    return () if population is None else (population.said,)
