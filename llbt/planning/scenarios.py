"""The scenarios of a power simulation: the distance of objects, the share of ties, and the judges."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import numpy as np

from ..base.arguments import (
    JUDGED_INSIDE,
    BelowOne,
    Count,
    Kind,
    NotNegative,
    Positive,
    checked,
    checked_record,
    is_whole,
)
from ..errors import OptionError

_MOST_OBJECTS = 50
_SEVERAL = (list, tuple, range, np.ndarray)

Objects = Annotated[
    int, Kind(lambda n: is_whole(n) and 2 <= n <= _MOST_OBJECTS, f"a whole number from 2 to {_MOST_OBJECTS}")
]


@checked_record
@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The assumptions about a study for a power simulation.

    Attributes
    ----------
    n_objects : int
        Number of objects J. All J(J − 1)/2 pairs are judged equally often.
    odds : float
        True odds that the best object beats the worst, given no tie. The log-worths of all objects are equally spaced.
        With odds of 1 objects do not differ, and the power is the size of the test.
    tie_share : float
        Probability of a tie between two equal objects, 0 ≤ tie_share < 1; between unequal objects it is smaller. 0
        gives tables without a tie category.
    judges : int, optional
        Number of judges, who take turns at each pair; needed for `judge_sd` and for the test ``"llbt_cluster"``.
    judge_sd : float
        Standard deviation over judges of the log-odds of a pair: every judge's worth of every object has a normal
        deviation.

    Raises
    ------
    OptionError
        For invalid values, and for a `judge_sd` above 0 with fewer than two judges.

    Examples
    --------
    >>> import llbt
    >>> study = llbt.Scenario(n_objects=4, odds=2, judges=12, judge_sd=0.8)
    >>> [one.judges for one in study.grid(judges=[6, 12, 24])]
    [6, 12, 24]
    """

    n_objects: Objects = 2
    odds: Positive = 1.5
    tie_share: BelowOne = 0.3
    judges: Count | None = None
    judge_sd: NotNegative = 0.0

    def __post_init__(self) -> None:
        if self.judge_sd > 0 and (self.judges is None or self.judges < 2):
            raise OptionError(
                f"judge_sd={self.judge_sd:g} with judges={self.judges!r}",
                "Pass judges=10, say.",
                expected="at least two judges",
            )

    @checked
    def grid(
        self,
        *,
        n_objects: Annotated[Sequence[int] | None, JUDGED_INSIDE] = None,
        odds: Annotated[Sequence[float] | None, JUDGED_INSIDE] = None,
        tie_share: Annotated[Sequence[float] | None, JUDGED_INSIDE] = None,
        judges: Annotated[Sequence[int] | None, JUDGED_INSIDE] = None,
        judge_sd: Annotated[Sequence[float] | None, JUDGED_INSIDE] = None,
    ) -> tuple[Scenario, ...]:
        """Return the scenarios of every combination of the given values; the other fields stay.

        Parameters
        ----------
        n_objects, odds, tie_share, judges, judge_sd : sequence of numbers, optional
            Different values of each field. ``odds=[1, 2]`` gives the size of a test and its power. If the size is above
            the level, the power is overstated, too.

        Returns
        -------
        tuple of Scenario
            The last field of the signature varies fastest.

        Raises
        ------
        OptionError
            For arguments that are not sequences of different numbers, and for numbers that a scenario refuses.
        """
        given: dict[str, object] = {
            "n_objects": n_objects,
            "odds": odds,
            "tie_share": tie_share,
            "judges": judges,
            "judge_sd": judge_sd,
        }
        several = {name: _several(name, values) for name, values in given.items() if values is not None}
        combined = itertools.product(*several.values())
        return tuple(replace(self, **dict(zip(several, values, strict=True))) for values in combined)


def _several(name: str, values: object) -> list[Any]:
    several = list(values) if isinstance(values, _SEVERAL) else []
    if not several or None in several or len(set(several)) < len(several):
        raise OptionError(f"{name}={values!r}", expected="several different numbers: [1, 2]")
    return several


def varied(scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """Return the fields in which several scenarios differ."""
    return tuple(field.name for field in fields(Scenario) if len({getattr(one, field.name) for one in scenarios}) > 1)


def checked_scenarios(scenario: object) -> tuple[Scenario, ...]:
    """Return the requested scenarios, one or several."""
    scenarios = tuple(scenario) if isinstance(scenario, (list, tuple)) else (scenario,)
    if not scenarios or not all(isinstance(one, Scenario) for one in scenarios):
        raise OptionError(
            f"scenario is of type {type(scenario).__name__}", expected="an llbt.Scenario(…), or a list of them"
        )
    if len(set(scenarios)) < len(scenarios):
        raise OptionError("scenario= has the same scenario twice", expected="different scenarios")
    return scenarios
