"""The power of the LLBT's test and of sign tests by simulation, and how many judgments are enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from scipy import special

from ..base.arguments import JUDGED_INSIDE, Confidence, Count, Jobs, Rng, Share, checked
from ..base.table import (
    Field,
    Kind,
    Record,
    Table,
    counted,
    format_count,
    format_number,
    format_percent,
    interval_fields,
)
from ..classical.sign_rules import share_interval
from ..core.columns import FloatArray, IntArray
from ..resampling import Resampler
from .power_tests import p_values
from .power_truth import PowerTest, Truth, check_flips, checked_judgments, checked_tests
from .scenarios import Scenario, checked_scenarios, varied

_NAMES: Mapping[PowerTest, str] = {
    "llbt": "likelihood-ratio test of equal worths in object + tie",
    "llbt_cluster": "score test of equal worths in object + tie, judges' scores flipped in sign",
    "sign": "exact sign test, ties dropped",
    "sign_split": "exact sign test, ties split (an odd one left out)",
}
_SETTINGS: Mapping[str, tuple[str, Kind]] = {
    "n_objects": ("Objects", "count"),
    "odds": ("Odds", "number"),
    "tie_share": ("Tie share", "number"),
    "judges": ("Judges", "count"),
    "judge_sd": ("Judge SD", "number"),
}
_TARGET = 0.8  # the power whose number of judgments is printed


@dataclass(frozen=True, repr=False, eq=False)
class Power(Record):
    """Simulated power of T tests at M numbers of judgments in G scenarios.

    Attributes
    ----------
    scenarios : tuple of Scenario, length G
    tests : tuple of str, length T
    judgments : ndarray of int, shape (M,)
        Judgments per pair, ascending.
    rejections : ndarray of int, shape (G, T, M)
        The number of tables in which a test rejected.
    n : int
        The number of tables at each number of judgments.
    alpha : float
        Level of the tests.

    Notes
    -----
    Intervals and standard errors are those of the simulation; they shrink with `n`, not with judgments.
    """

    _made_by: ClassVar[str] = "llbt.power(…)"

    scenarios: tuple[Scenario, ...]
    tests: tuple[PowerTest, ...]
    judgments: IntArray
    rejections: IntArray
    n: int
    alpha: float

    @property
    def estimate(self) -> FloatArray:
        """Power, shape (G, T, M)."""
        return np.asarray(self.rejections / self.n)

    @property
    def std_error(self) -> FloatArray:
        """Monte Carlo standard errors, shape (G, T, M)."""
        return np.asarray(np.sqrt(self.estimate * (1 - self.estimate) / self.n))

    @checked
    def conf_int(self, confidence: Confidence = 0.95) -> FloatArray:
        """Return Wilson's intervals of the power, shape (G, T, M, 2)."""
        rejections = self.rejections.astype(np.float64)
        bounds = share_interval(rejections, np.full(rejections.shape, float(self.n)), "wilson", confidence)
        return np.stack(bounds, axis=-1)

    @checked
    def needed(self, target: Share = 0.8, *, confidence: Confidence = 0.95) -> Table:
        """Return the judgments per pair at which each test has a power, in each scenario.

        Parameters
        ----------
        target : float
            The target power.
        confidence : float

        Returns
        -------
        Table
            The fields in which scenarios differ, test, judgments; conf_low and conf_high, the numbers at which the
            bounds of the simulated power reach the target. NA if the number is outside the range of `judgments`.
        """
        needed = self._needed(target, confidence).reshape(-1, 3)
        return Table(
            (
                *self._settings(len(self.tests)),
                Field("test", "Test", list(self.tests) * len(self.scenarios)),
                Field("judgments", "Judgments", needed[:, 0], "number"),
                Field("conf_low", f"{100 * confidence:.4g} % low", needed[:, 1], "number"),
                Field("conf_high", "high", needed[:, 2], "number"),
            ),
            title=f"Judgments per pair for power {target:g} at level {self.alpha:g}",
            notes=(
                self._simulated(),
                *self._cautions(),
                "NA: the number is outside judgments=; intervals are for the simulation error",
            ),
        )

    def table(self) -> Table:
        """Return one row per scenario, test and number of judgments, with 95 % intervals."""
        rows, size, one = len(self.tests) * len(self.judgments), len(self.judgments), len(self.scenarios) == 1
        per_pair = np.tile(self.judgments, len(self.tests) * len(self.scenarios))
        pairs = np.repeat([math.comb(scenario.n_objects, 2) for scenario in self.scenarios], rows)
        bounds = self.conf_int()
        several = "" if one else f" in {counted(len(self.scenarios), 'scenario')}"
        return Table(
            (
                *self._settings(rows),
                Field("test", "Test", [test for test in self.tests for _ in range(size)] * len(self.scenarios)),
                Field("judgments", "Judgments", per_pair, "count"),
                Field("total", "Total", per_pair * pairs, "count"),
                Field("estimate", "Power", self.estimate.ravel(), "estimate", 3),
                Field("std_error", "MC error", self.std_error.ravel(), "estimate", 3),
                *interval_fields(bounds[..., 0].ravel(), bounds[..., 1].ravel(), digits=3),
            ),
            title=f"Simulated power at level {self.alpha:g}{several}",
            head=_supposed(self.scenarios[0], self.tests) if one else (),
            foot=tuple(self._answers()) if one else (),
            notes=(self._simulated(), *(self._unreached() if one else ()), *self._cautions()),
        )

    def _settings(self, rows: int) -> list[Field]:
        """Return the columns in which scenarios differ, each repeated for its rows."""
        columns = []
        for name in varied(self.scenarios):
            values = [getattr(scenario, name) for scenario in self.scenarios]
            known = np.repeat([math.nan if value is None else value for value in values], rows)
            heading, kind = _SETTINGS[name]
            columns.append(Field(name, heading, known, kind))
        return columns

    def _needed(self, target: float, confidence: float) -> FloatArray:
        """Return the judgments per pair at which power, its upper and its lower bound reach a target, (G, T, 3)."""
        bounds = self.conf_int(confidence)
        curves = np.stack([self.estimate, bounds[..., 1], bounds[..., 0]], axis=2)
        flat = curves.reshape(-1, len(self.judgments))
        numbers = [required_judgments(self.judgments, curve, target, self.n) for curve in flat]
        return np.array(numbers).reshape(curves.shape[:3])

    def _answers(self) -> list[str]:
        lines = []
        for test, (needed, *bounds) in zip(self.tests, self._needed(_TARGET, 0.95)[0].tolist(), strict=True):
            if math.isnan(needed):
                continue
            low, high = (format_count(math.ceil(x)) if not math.isnan(x) else "?" for x in bounds)
            lines.append(
                f"Power {_TARGET:g} of {test}: {format_count(math.ceil(needed))} judgments per pair "
                f"({low} to {high}, simulation error alone)"
            )
        return lines

    def _simulated(self) -> str:
        each = "" if len(self.scenarios) == 1 else " of each scenario"
        return f"{counted(self.n, 'simulated table')}{each}; Wilson intervals of the simulation"

    def _unreached(self) -> list[str]:
        needed = self._needed(_TARGET, 0.95)[0, :, 0]
        return [
            _unreached(test, curve, self.judgments, _TARGET)
            for test, curve, number in zip(self.tests, self.estimate[0], needed, strict=True)
            if math.isnan(number)
        ]

    def _cautions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(caution for one in self.scenarios for caution in _cautions(one, self.tests)))


def _supposed(scenario: Scenario, tests: Sequence[PowerTest]) -> tuple[str, ...]:
    """Return lines on the assumptions and the tests."""
    far = "" if scenario.n_objects == 2 else ", best against worst, the others equally spaced between"
    pairs = math.comb(scenario.n_objects, 2)
    lines = [
        f"Truth: {scenario.n_objects} objects, odds {format_number(scenario.odds, 4)}{far}; "
        f"{format_percent(scenario.tie_share)} ties between equal objects",
        "Judgments: per pair" + (f", the same number for each of {pairs} pairs" if pairs > 1 else ""),
    ]
    if scenario.judges is not None:
        lines.append(
            f"Judges: {scenario.judges}, who take turns; standard deviation of their log-odds: {scenario.judge_sd:g}"
        )
    return (*lines, *(f"{test}: {_NAMES[test]}" for test in tests))


def _cautions(scenario: Scenario, tests: Sequence[PowerTest]) -> list[str]:
    """Return warnings about these tests in a scenario."""
    notes = []
    if any(test.startswith("sign") for test in tests) and scenario.n_objects > 2:
        notes.append("sign tests compare the best object with the worst, which is unknown before a study")
    if scenario.judge_sd > 0 and set(tests) - {"llbt_cluster"}:
        others = ", ".join(test for test in tests if test != "llbt_cluster")
        notes.append(f"judges differ: without clusters, true nulls are rejected too often by {others}")
    return notes


def _unreached(test: PowerTest, curve: FloatArray, judgments: IntArray, target: float) -> str:
    if _risen(curve)[0] < target:
        most = format_count(judgments[-1])
        return f"Power {target:g} of {test} is not reached with {most} judgments per pair."
    first = format_count(judgments[0])
    return f"Power {target:g} of {test} is reached with {first} judgments per pair already."


@checked
def power(
    scenario: Annotated[Scenario | Sequence[Scenario], JUDGED_INSIDE],
    *,
    judgments: Annotated[int | Sequence[int], JUDGED_INSIDE] = (25, 50, 100, 200, 400),
    test: PowerTest | Sequence[PowerTest] = "llbt",
    alpha: Share = 0.05,
    n: Count = 1000,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> Power:
    """Return the simulated power of tests that objects differ, and the number of judgments for a given power.

    Parameters
    ----------
    scenario : Scenario or sequence of Scenario
        The assumptions: number of objects, their distance, share of ties, and judges. Several scenarios, such as
        ``Scenario(…).grid(odds=[1, 2], judges=[6, 12])``, are compared.
    judgments : int or sequence of int
        Judgments per pair; several give a curve, from which the required number is read.
    test : str or sequence of str
        ``"llbt"``: likelihood-ratio test of equal worths in ``object + tie``, J − 1 df. ``"llbt_cluster"``: score test
        of the same hypothesis that flips the signs of judges' scores, as ``llbt.anova(…, test="cluster")``; with more
        than 13 judges, 999 random flips. ``"sign"``: exact sign test of the best object against the worst, ties
        dropped; ``"sign_split"``: ties split evenly, an odd one left out. All are two-sided.
    alpha : float
        Level of the tests.
    n : int
        Number of simulated tables per scenario.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar for each scenario.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    Power
        ``to_frame()``: the fields in which scenarios differ, test, judgments (per pair), total, estimate, std_error (of
        the simulation), conf_low, conf_high (Wilson). ``needed(target=0.8)``: judgments per pair for a power, by
        scenario and test.

    Raises
    ------
    OptionError
        For options out of range, the same scenario twice, and ``"llbt_cluster"`` with too few judges for any p-value
        below `alpha`.

    Notes
    -----
    P(i) : P(tie) : P(j) = exp(λ_i − λ_j) : exp(γ) : exp(λ_j − λ_i), the LLBT given its totals, with 2(λ_1 − λ_J) =
    log odds and γ = log(2t/(1 − t)) for a share t of ties.

    Tables grow: a table with more judgments contains the table with fewer, so curves are smooth. All tests see the same
    tables. The required number is interpolated on the monotone curve, with probit power linear in √judgments, as for a
    normal statistic. The power of exact tests is a sawtooth, so the number is accurate only to the width of a tooth.

    χ² is valid only for large tables. With few judgments, the true level may be above `alpha` and inflate the power;
    ``odds=1`` shows this.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the American
    Statistical Association 22, 209-212. Dras, M. (2015). Evaluating human pairwise preference judgments. Computational
    Linguistics 41(2), 337-345.

    Examples
    --------
    >>> import llbt
    >>> study = llbt.Scenario(odds=1.5, tie_share=0.3)
    >>> power = llbt.power(study, judgments=[100, 200, 300, 400], n=2000, rng=1)
    >>> power.estimate.round(2).tolist()
    [[[0.39, 0.67, 0.83, 0.92]]]
    >>> power.needed(0.8).to_frame()["judgments"].round().tolist()
    [275.0]

    >>> power = llbt.power(study.grid(odds=[1, 1.5], tie_share=[0, 0.4]), judgments=200, n=500, rng=1)
    >>> power.to_frame()[["odds", "tie_share", "estimate"]].round(2).values.tolist()
    [[1.0, 0.0, 0.06], [1.0, 0.4, 0.05], [1.5, 0.0, 0.81], [1.5, 0.4, 0.61]]
    """
    scenarios = checked_scenarios(scenario)
    tests = checked_tests(test)
    per_pair = checked_judgments(judgments)
    for one in scenarios:
        check_flips(tests, one.judges, alpha)
    draw = Resampler.of("power", rng, n_jobs, progress)
    powers = []
    for one in scenarios:
        truth = Truth.of(one, tests)
        task = partial(_rejections, truth, tests, per_pair, alpha)
        powers.append(np.sum(draw.blocks(task, n, 3 * truth.judges * len(truth.pairs)), axis=0))
    return Power(scenarios, tests, per_pair, np.stack(powers), int(n), float(alpha))


def required_judgments(judgments: IntArray, curve: FloatArray, target: float, n: int) -> float:
    """Return where a curve of simulated power crosses a target; NaN if it does not cross between two of its points.

    Parameters
    ----------
    judgments : ndarray of int, shape (M,)
        Ascending.
    curve : ndarray, shape (M,)
        Power in n tables.
    target : float
    n : int
    """
    rising = _risen(curve)
    if rising[0] >= target or rising[-1] < target:
        return math.nan
    after = int((rising >= target).argmax())
    near = slice(after - 1, after + 1)
    z = special.ndtri(np.clip(rising[near], 0.25 / n, 1 - 0.25 / n))
    share = np.clip((special.ndtri(target) - z[0]) / (z[1] - z[0]), 0.0, 1.0)
    low, high = np.sqrt(judgments[near])
    return float(min((low + share * (high - low)) ** 2, judgments[after]))


def _risen(curve: FloatArray) -> FloatArray:
    """Return the nearest curve that never falls, shape (M,)."""
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(curve).x)


def _rejections(
    truth: Truth,
    tests: tuple[PowerTest, ...],
    judgments: IntArray,
    alpha: float,
    tables: int,
    rng: np.random.Generator,
) -> IntArray:
    """Return the number of tables in which each test rejects, at each number of judgments, shape (T, M)."""
    rejections = np.zeros((len(tests), len(judgments)), dtype=np.int64)
    chances = truth.probabilities(tables, rng)
    shape = (tables, truth.judges, len(truth.pairs))
    counts = np.zeros((*shape, chances.shape[-1]))
    there = np.zeros(shape[1:], dtype=np.int64)
    for place, number in enumerate(judgments):
        wanted = truth.allotment(int(number))
        counts += rng.multinomial(wanted - there, chances, size=shape)
        there = wanted
        for k, test in enumerate(tests):
            rejections[k, place] += np.sum(p_values(test, counts, truth) <= alpha)
    return rejections
