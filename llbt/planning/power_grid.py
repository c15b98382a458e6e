"""Power of many designs side by side: every combination of objects, odds, ties, judges and judgments."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import Confidence, Count, Jobs, Rng, Share, checked
from ..errors import DesignError
from ..resampling import Resampler
from ..table import Field, Kind, Record, Table, counted
from .power import Power, power
from .power_truth import PowerTest

_SEVERAL = (list, tuple, range, np.ndarray)
_SETTING: dict[str, tuple[str, Kind]] = {
    "n_objects": ("Objects", "count"),
    "odds": ("Odds", "number"),
    "tie_share": ("Tie share", "number"),
    "judges": ("Judges", "count"),
    "judge_sd": ("Judge SD", "number"),
}


@dataclass(frozen=True, repr=False, eq=False)
class PowerGrid(Record):
    """Simulated power of G designs.

    Attributes
    ----------
    powers : tuple of Power, length G
    varied : tuple of str
        What differs between designs, of n_objects, odds, tie_share, judges and judge_sd; the last varies fastest.
    """

    powers: tuple[Power, ...]
    varied: tuple[str, ...]

    def table(self) -> Table:
        """Return one row per design, test and number of judgments."""
        parts = [one.table() for one in self.powers]
        rows = [len(part.fields[0].values) for part in parts]
        fields = (
            Field(field.name, field.heading, np.concatenate([part.fields[k].values for part in parts]), field.kind, 3)
            for k, field in enumerate(parts[0].fields)
        )
        return Table(
            (*self._settings(rows), *fields),
            title=f"Simulated power at level {self.powers[0].alpha:g} of {counted(len(self.powers), 'design')}",
            notes=self._notes(),
        )

    def required(self) -> Table:
        """Return the judgments per pair that each design needs for the target, and the bounds of the simulation."""
        first = self.powers[0]
        needed = [one.required[test] for one in self.powers for test in one.tests]
        bounds = np.array([one.required_interval()[test] for one in self.powers for test in one.tests])
        return Table(
            (
                *self._settings([len(first.tests)] * len(self.powers)),
                Field("test", "Test", list(first.tests) * len(self.powers)),
                Field("judgments", "Judgments", np.array(needed), "number"),
                Field("conf_low", f"{100 * first.confidence:.4g} % low", bounds[:, 0], "number"),
                Field("conf_high", "high", bounds[:, 1], "number"),
            ),
            title=f"Judgments per pair for power {first.target:g} at level {first.alpha:g}",
            notes=(*self._notes(), "NA: judgments= do not enclose the number; intervals are those of the simulation"),
        )

    def _settings(self, rows: Sequence[int]) -> list[Field]:
        return [
            Field(
                name, _SETTING[name][0], np.repeat([getattr(one, name) for one in self.powers], rows), _SETTING[name][1]
            )
            for name in self.varied
        ]

    def _notes(self) -> tuple[str, ...]:
        said = dict.fromkeys(note for one in self.powers for note in one.cautions())
        return (
            f"{counted(self.powers[0].n, 'simulated table')} of each design; Wilson intervals of the simulation",
            *said,
        )


@checked
def power_grid(
    *,
    n_objects: int | Sequence[int] = 2,
    judgments: int | Sequence[int] = (25, 50, 100, 200, 400),
    odds: float | Sequence[float] = 1.5,
    tie_share: float | Sequence[float] = 0.3,
    judges: int | Sequence[int] | None = None,
    judge_sd: float | Sequence[float] = 0.0,
    test: PowerTest | Sequence[PowerTest] = "llbt",
    alpha: Share = 0.05,
    target: Share = 0.8,
    n: Count = 1000,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> PowerGrid:
    """Return the simulated power of many designs: of every combination of what is given as a sequence.

    Parameters
    ----------
    n_objects, odds, tie_share, judges, judge_sd : number or sequence of numbers
        As in `power`, one or several. ``odds=[1, 2]`` has the size of the tests beside their power: where the size is
        above `alpha`, so is a part of what looks like power.
    judgments, test, alpha, target, n, confidence
        As in `power`, the same for all designs.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar for each design.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    PowerGrid
        ``to_frame()``: what varies, then the columns of `power`. ``required()``: the judgments per pair for `target`,
        by design and test. ``powers``: the single records.

    Raises
    ------
    DesignError
        As `power`, and for an empty sequence.

    Examples
    --------
    >>> import llbt
    >>> found = llbt.power_grid(odds=[1, 1.5], tie_share=[0, 0.4], judgments=200, n=500, rng=1)
    >>> found.to_frame()[["odds", "tie_share", "estimate"]].round(2).values.tolist()
    [[1.0, 0.0, 0.06], [1.0, 0.4, 0.05], [1.5, 0.0, 0.81], [1.5, 0.4, 0.61]]
    """
    given: dict[str, object] = {
        "n_objects": n_objects,
        "odds": odds,
        "tie_share": tie_share,
        "judges": judges,
        "judge_sd": judge_sd,
    }
    values = {name: _several(name, value) for name, value in given.items()}
    designs = list(itertools.product(*values.values()))
    powers = []
    draw = Resampler.of("power_grid", rng, n_jobs, progress)
    for objects, best, ties, who, sd in designs:
        one = power(
            n_objects=objects,
            judgments=judgments,
            odds=best,
            tie_share=ties,
            judges=who,
            judge_sd=sd,
            test=test,
            alpha=alpha,
            target=target,
            n=n,
            confidence=confidence,
            rng=draw.rng,
            progress=progress,
            n_jobs=n_jobs,
        )
        powers.append(one)
    return PowerGrid(tuple(powers), tuple(name for name, value in given.items() if isinstance(value, _SEVERAL)))


def _several(name: str, value: object) -> list[Any]:
    """Return what a design may have, checked by `power` one by one."""
    if not isinstance(value, _SEVERAL):
        return [value]
    found = list(value)
    if not found or None in found or len(set(found)) < len(found):
        raise DesignError(f"{name}={value!r}; expected a number, or several different ones: [1, 2].")
    return found
