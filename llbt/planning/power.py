"""How many judgments are enough? Power by simulation, for the LLBT's test and its neighbours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import special

from ..arguments import (
    BelowOne,
    Confidence,
    Count,
    Jobs,
    NotNegative,
    Positive,
    Rng,
    Share,
    checked,
)
from ..classical.sign_rules import share_interval
from ..core.columns import FloatArray, IntArray
from ..resampling import Resampler
from ..table import Field, Record, Table, counted, format_count, format_number, format_percent, interval_fields
from .power_tests import p_values
from .power_truth import PowerTest, Truth, check_flips, checked_judgments, checked_tests, checked_truth

_NAMES: Mapping[PowerTest, str] = {
    "llbt": "likelihood-ratio test of equal worths in object + tie",
    "llbt_cluster": "score test of equal worths in object + tie, judges' scores flipped in sign",
    "sign": "exact sign test, ties dropped",
    "sign_split": "exact sign test, ties split (an odd one left out)",
}


@dataclass(frozen=True, repr=False, eq=False)
class Power(Record):
    """Simulated power of T tests at M numbers of judgments.

    Attributes
    ----------
    tests : tuple of str, length T
    judgments : ndarray of int, shape (M,)
        Judgments per pair, ascending.
    rejections : ndarray of int, shape (T, M)
        Tables that a test rejected.
    n : int
        Tables at each number of judgments.
    n_objects : int
    odds : float
        True odds of the best object over the worst.
    tie_share : float
        True probability of a tie between equal objects.
    judges : int or None
    judge_sd : float
        Standard deviation of judges' log-odds.
    alpha, target : float
        Level of the tests, and the power that is asked for.
    confidence : float
        Level of the intervals.

    Notes
    -----
    Intervals and standard errors are those of the simulation; they shrink with `n`, not with judgments.
    """

    _made_by: ClassVar[str] = "llbt.power(…)"

    tests: tuple[PowerTest, ...]
    judgments: IntArray
    rejections: IntArray
    n: int
    n_objects: int
    odds: float
    tie_share: float
    judges: int | None
    judge_sd: float
    alpha: float
    target: float
    confidence: float

    @property
    def estimate(self) -> FloatArray:
        """Power, shape (T, M)."""
        return np.asarray(self.rejections / self.n)

    @property
    def std_error(self) -> FloatArray:
        """Monte Carlo standard errors, shape (T, M)."""
        return np.asarray(np.sqrt(self.estimate * (1 - self.estimate) / self.n))

    def conf_int(self) -> FloatArray:
        """Return Wilson's intervals of the power, shape (T, M, 2)."""
        rejections = self.rejections.astype(np.float64)
        bounds = share_interval(rejections, np.full(rejections.shape, float(self.n)), "wilson", self.confidence)
        return np.stack(bounds, axis=-1)

    @property
    def required(self) -> dict[PowerTest, float]:
        """Judgments per pair at which each test has the power `target`; NaN where `judgments` do not enclose it."""
        return {
            test: required_judgments(self.judgments, curve, self.target, self.n)
            for test, curve in zip(self.tests, self.estimate, strict=True)
        }

    def required_interval(self) -> dict[PowerTest, tuple[float, float]]:
        """Return where the bounds of the power reach `target`, as judgments per pair; NaN where they do not."""
        found = {}
        for test, bounds in zip(self.tests, self.conf_int(), strict=True):
            early, late = (required_judgments(self.judgments, bounds[:, k], self.target, self.n) for k in (1, 0))
            found[test] = (early, late)
        return found

    def table(self) -> Table:
        """Return one row per test and number of judgments."""
        size, pairs = len(self.judgments), math.comb(self.n_objects, 2)
        per_pair = np.tile(self.judgments, len(self.tests))
        bounds = self.conf_int()
        return Table(
            (
                Field("test", "Test", [test for test in self.tests for _ in range(size)]),
                Field("judgments", "Judgments", per_pair, "count"),
                Field("total", "Total", per_pair * pairs, "count"),
                Field("estimate", "Power", self.estimate.ravel(), "estimate", 3),
                Field("std_error", "MC error", self.std_error.ravel(), "estimate", 3),
                *interval_fields(bounds[..., 0].ravel(), bounds[..., 1].ravel(), self.confidence, 3),
            ),
            title=f"Simulated power at level {self.alpha:g}",
            head=tuple(self._setting()),
            foot=tuple(self._answers()),
            notes=tuple(self._notes()),
        )

    def _setting(self) -> list[str]:
        far = "" if self.n_objects == 2 else ", best against worst, the others equally spaced between"
        lines = [
            f"Truth: {self.n_objects} objects, odds {format_number(self.odds, 4)}{far}; "
            f"{format_percent(self.tie_share)} ties between equal objects",
            f"Judgments: per pair, each of {counted(math.comb(self.n_objects, 2), 'pair')} alike",
        ]
        if self.judges is not None:
            lines.append(f"Judges: {self.judges}, who take turns; their log-odds differ by sd {self.judge_sd:g}")
        return [*lines, *(f"{test}: {_NAMES[test]}" for test in self.tests)]

    def _answers(self) -> list[str]:
        ranges = self.required_interval()
        lines = []
        for test, needed in self.required.items():
            if math.isnan(needed):
                continue
            low, high = (format_count(math.ceil(x)) if not math.isnan(x) else "?" for x in ranges[test])
            lines.append(
                f"Power {self.target:g} of {test}: {format_count(math.ceil(needed))} judgments per pair "
                f"({low} to {high}, simulation error alone)"
            )
        return lines

    def _notes(self) -> list[str]:
        notes = [f"{counted(self.n, 'simulated table')}; Wilson intervals of the simulation"]
        for (test, needed), curve in zip(self.required.items(), self.estimate, strict=True):
            if math.isnan(needed):
                notes.append(_unreached(test, curve, self.judgments, self.target))
        return [*notes, *self.cautions()]

    def cautions(self) -> list[str]:
        """Return what to keep in mind about these tests of this truth."""
        notes = []
        if any(test.startswith("sign") for test in self.tests) and self.n_objects > 2:
            notes.append("sign tests compare the best object with the worst, which a study does not know beforehand")
        if self.judge_sd > 0 and set(self.tests) - {"llbt_cluster"}:
            others = ", ".join(test for test in self.tests if test != "llbt_cluster")
            notes.append(
                f"judges differ; taken as independent judgments, true nulls are rejected too often by {others}"
            )
        return notes


def _unreached(test: PowerTest, curve: FloatArray, judgments: IntArray, target: float) -> str:
    if _risen(curve)[0] < target:
        most = format_count(judgments[-1])
        return f"power {target:g} of {test} is not reached with {most} judgments per pair: pass more in judgments="
    first = format_count(judgments[0])
    return f"power {target:g} of {test} is there with {first} judgments per pair already: pass fewer in judgments="


@checked
def power(
    *,
    n_objects: int = 2,
    judgments: int | Sequence[int] = (25, 50, 100, 200, 400),
    odds: Positive = 1.5,
    tie_share: BelowOne = 0.3,
    judges: Count | None = None,
    judge_sd: NotNegative = 0.0,
    test: PowerTest | Sequence[PowerTest] = "llbt",
    alpha: Share = 0.05,
    target: Share = 0.8,
    n: Count = 1000,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> Power:
    """Return the simulated power of tests that objects differ, and the judgments that a power needs.

    Parameters
    ----------
    n_objects : int
        J objects, all J(J − 1)/2 pairs of which are judged equally often.
    judgments : int or sequence of int
        Judgments per pair; several give a curve, from which the required number is read.
    odds : float
        True odds of the best object over the worst where it is no tie; the log-worths of all objects are equally
        spaced. 1: no difference, so that the power is the size of the test.
    tie_share : float
        Probability of a tie between two equal objects, 0 ≤ tie_share < 1; between unequal ones it is smaller. 0 gives
        tables without a tie category.
    judges : int, optional
        Judges, who take turns at each pair; needed for `judge_sd` and ``"llbt_cluster"``.
    judge_sd : float
        Standard deviation over judges of the log-odds of a pair: every judge's worth of every object has a normal
        deviation.
    test : str or sequence of str
        ``"llbt"``: likelihood-ratio test of equal worths in ``object + tie``, J − 1 df. ``"llbt_cluster"``: score test
        of the same with judges' scores flipped in sign, as ``llbt.anova(…, test="cluster")``; 999 random flips of more
        than 13 judges. ``"sign"``: exact sign test of the best object against the worst, ties dropped;
        ``"sign_split"``: ties split evenly, an odd one left out. All are two-sided.
    alpha : float
        Level of the tests.
    target : float
        The power that the required number of judgments is for.
    n : int
        Simulated tables.
    confidence : float
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    Power
        ``to_frame()``: test, judgments (per pair), total, estimate, std_error (of the simulation), conf_low, conf_high
        (Wilson). ``required``: judgments per pair for `target`, by test.

    Raises
    ------
    DesignError
        For options out of range, and for ``"llbt_cluster"`` with so few judges that no p-value can be below `alpha`.

    Notes
    -----
    P(i) : P(tie) : P(j) = exp(λ_i − λ_j) : exp(γ) : exp(λ_j − λ_i), the LLBT given its totals, with 2(λ_1 − λ_J) =
    log odds and γ = log(2t/(1 − t)) for a share t of ties.

    Tables grow: one with more judgments holds the one with fewer, so that curves are smooth, and all tests see the same
    tables. The required number is interpolated on the curve made monotone, with probit power linear in √judgments, as
    it is for a normal statistic; the power of exact tests is a sawtooth, and the number is right up to its teeth.

    χ² holds for large tables only: part of a power at few judgments may be a level above `alpha`, which ``odds=1``
    shows.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the American
    Statistical Association 22, 209-212. Dras, M. (2015). Evaluating human pairwise preference judgments. Computational
    Linguistics 41(2), 337-345.

    Examples
    --------
    >>> import llbt
    >>> found = llbt.power(judgments=[100, 200, 300, 400], odds=1.5, tie_share=0.3, n=2000, rng=1)
    >>> found.estimate.round(2).tolist()
    [[0.39, 0.67, 0.83, 0.92]]
    >>> round(found.required["llbt"])
    275
    """
    tests = checked_tests(test)
    per_pair = checked_judgments(judgments)
    truth = checked_truth(n_objects, odds, tie_share, judges, judge_sd, tests)
    check_flips(tests, judges, alpha)
    draw = Resampler.of("power", rng, n_jobs, progress)
    task = partial(_rejections, truth, tests, per_pair, alpha)
    found = np.sum(draw.blocks(task, n, 3 * truth.judges * len(truth.pairs)), axis=0)
    setting = (n, int(n_objects), float(odds), float(tie_share), judges, float(judge_sd))
    return Power(tests, per_pair, found, *setting, float(alpha), float(target), float(confidence))


def required_judgments(judgments: IntArray, curve: FloatArray, target: float, n: int) -> float:
    """Return where a curve of simulated power crosses a target; NaN where it does not between two of its points.

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
    """Return how many of so many tables each test rejects at each number of judgments, shape (T, M)."""
    found = np.zeros((len(tests), len(judgments)), dtype=np.int64)
    chances = truth.probabilities(tables, rng)
    shape = (tables, truth.judges, len(truth.pairs))
    counts = np.zeros((*shape, chances.shape[-1]))
    there = np.zeros(shape[1:], dtype=np.int64)
    for place, number in enumerate(judgments):
        wanted = truth.allotment(int(number))
        counts += rng.multinomial(wanted - there, chances, size=shape)
        there = wanted
        for k, test in enumerate(tests):
            found[k, place] += np.sum(p_values(test, counts, truth) <= alpha)
    return found
