"""The test of two metrics in one task: their statistics, and the differences in resamples. Arrays only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ..base.table import counted
from ..core.columns import FloatArray
from ..errors import JudgmentError, OptionError
from ..resampling import drawn_swaps
from .correlate import Level, correlation_of
from .interval import bootstrap_task, entries
from .kernels import NAMES, Coefficient
from .permuted_accuracies import MeanOrders, PairResults, SignedSums, SoftOrders, TiedOrders
from .resampled import Resampled, permuted_differences

Statistic = Literal["correlation", "pairwise_accuracy", "soft_pairwise_accuracy", "tie_calibrated_accuracy"]
TestMethod = Literal["perm-systems", "perm-inputs", "perm-both", "perm-pairs", "boot", "williams"]

SWAPPED: dict[str, Resampled] = {"perm-systems": "systems", "perm-inputs": "inputs", "perm-both": "both"}
SYMBOLS: dict[Statistic, str] = {
    "correlation": "r",
    "pairwise_accuracy": "PA",
    "soft_pairwise_accuracy": "SPA",
    "tie_calibrated_accuracy": "acc_eq",
}
_TITLES: dict[Statistic, str] = {
    "pairwise_accuracy": "pairwise accuracy",
    "soft_pairwise_accuracy": "soft pairwise accuracy",
    "tie_calibrated_accuracy": "accuracy with ties",
}
OF_RESULTS = "results are swapped pair by pair, as in WMT24: pairs share scores, so p-values are too small"
_NOBODY = np.zeros((1, 1, 1), dtype=np.bool_)


@dataclass(frozen=True)
class Measure:
    """The measure of agreement with humans.

    Attributes
    ----------
    statistic : str
    level, coefficient : str
        Level and coefficient of a correlation.
    draws : int
        Exchanges for each p-value of soft pairwise accuracy.
    seed : int
        The seed of these exchanges, which are the same for all metrics.
    """

    statistic: Statistic
    level: Level
    coefficient: Coefficient
    draws: int = 1
    seed: int = 0

    @property
    def title(self) -> str:
        """The statistic, in words."""
        if self.statistic == "correlation":
            return f"{NAMES[self.coefficient]}, {self.level} level"
        return _TITLES[self.statistic]

    def signs(self, task: int) -> SignedSums:
        """Return the random signs of a task."""
        return SignedSums(self.draws, (self.seed, task))


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of two metrics and of humans in a task, each (N, M); both metrics lack the same cells."""

    x: FloatArray
    y: FloatArray
    human: FloatArray


@dataclass(frozen=True, eq=False)
class PreparedTest:
    """The statistics of two metrics, and their difference in resamples.

    Attributes
    ----------
    estimates : tuple of float
    differences : callable
        (number of resamples, generator) → differences, shape (B,).
    entries : int
        How many numbers one resample holds in memory.
    notes : tuple of str
    """

    estimates: tuple[float, float]
    differences: Callable[[int, np.random.Generator], FloatArray]
    entries: int
    notes: tuple[str, ...]


def prepared_test(scores: PairedScores, measure: Measure, method: TestMethod, task: int) -> PreparedTest:
    """Return the test by resampling for task number `task`."""
    if measure.statistic == "correlation":
        return _of_correlations(scores, measure.level, measure.coefficient, method)
    if method == "perm-pairs":
        results = PairResults.of(scores.x, scores.y, scores.human)
        return PreparedTest(results.estimates, results.differences, results.entries, (OF_RESULTS,))
    orders = _orders(standardized(scores.x), standardized(scores.y), scores.human, measure, task)
    shape = (1 if method == "perm-inputs" else len(scores.x), 1 if method == "perm-systems" else scores.x.shape[1])
    estimates = orders.values(_NOBODY)[:, 0]
    draws = partial(_exchanged, orders, shape)
    return PreparedTest((float(estimates[0]), float(estimates[1])), draws, orders.entries, _notes(orders))


def estimate_of(x: FloatArray, human: FloatArray, measure: Measure, task: int) -> float:
    """Return the statistic of one metric in a task."""
    if measure.statistic == "correlation":
        return correlation_of(x, human, measure.level, measure.coefficient).estimate
    if measure.statistic == "tie_calibrated_accuracy":
        return PairResults.of(x, x, human).estimates[0]
    return float(_orders(x, x, human, measure, task).values(_NOBODY)[0, 0])


def _orders(
    x: FloatArray, y: FloatArray, human: FloatArray, measure: Measure, task: int
) -> MeanOrders | SoftOrders | TiedOrders:
    if measure.statistic == "pairwise_accuracy":
        return MeanOrders.of(x, y, human)
    if measure.statistic == "soft_pairwise_accuracy":
        return SoftOrders.of(x, y, human, measure.signs(task))
    return TiedOrders.of(x, y, human)


def _exchanged(
    orders: MeanOrders | SoftOrders | TiedOrders, shape: tuple[int, int], size: int, rng: np.random.Generator
) -> FloatArray:
    """Return the differences of the two statistics after random exchanges, shape (B,)."""
    first, second = orders.values(drawn_swaps((size, *shape), rng))
    return np.asarray(first - second)


def _notes(orders: MeanOrders | SoftOrders | TiedOrders) -> tuple[str, ...]:
    """Return notes on the number of pairs, and on tie thresholds or permutations."""
    notes = [f"{counted(orders.pairs, 'pair')} of systems{' on inputs' if isinstance(orders, TiedOrders) else ''}"]
    if isinstance(orders, TiedOrders):
        notes.append("tie thresholds: the best of each metric, searched again after every exchange")
    if isinstance(orders, SoftOrders):
        notes.append(f"{counted(orders.signs.draws, 'permutation')} for each p-value of a pair")
    return tuple(notes)


def _of_correlations(scores: PairedScores, level: Level, coefficient: Coefficient, method: TestMethod) -> PreparedTest:
    x, y, z = scores.x, scores.y, scores.human
    of_x, of_y = (correlation_of(side, z, level, coefficient) for side in (x, y))
    if method == "boot":
        draws = partial(_boot_differences, x, y, z, level, coefficient)
    else:
        draws = partial(permuted_differences, standardized(x), standardized(y), z, level, coefficient, SWAPPED[method])
    notes = tuple(dict.fromkeys((*of_x.notes, *of_y.notes)))
    return PreparedTest((of_x.estimate, of_y.estimate), draws, 4 * entries(x, level) + 2 * x.size, notes)


def _boot_differences(
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    level: Level,
    coefficient: Coefficient,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    of_x, of_y = bootstrap_task((x, y), z, level, coefficient, "boot-both", True, size, rng)
    return np.asarray(of_x - of_y)


# -- what is refused -------------------------------------------------------------------------------------------------


def check_test(measure: Measure, method: TestMethod, tasks: int = 1) -> None:
    """Raise if the test does not exist for the statistic, or does not exist for several tasks."""
    statistic = measure.statistic
    if statistic != "correlation":
        for name, given, default in (
            ("level", measure.level, "system"),
            ("coefficient", measure.coefficient, "pearson"),
        ):
            if given != default:
                raise OptionError(
                    f"{name}={given!r} with statistic={statistic!r}; it is for correlations", f"Leave {name}= out."
                )
        if method in ("boot", "williams"):
            raise OptionError(
                f"method={method!r} with statistic={statistic!r}; it is for correlations", "Pass method='perm-systems'."
            )
    if method == "perm-pairs" and statistic != "tie_calibrated_accuracy":
        raise OptionError(
            f"method='perm-pairs' with statistic={statistic!r}; it exchanges results of pairs",
            "Pass statistic='tie_calibrated_accuracy', or method='perm-systems'.",
        )
    if method == "williams" and measure.level != "system":
        raise OptionError(
            f"method='williams' with level={measure.level!r}; Williams' test takes one pair of scores per system",
            "Pass level='system', or method='perm-systems'.",
        )
    if method == "williams" and tasks > 1:
        raise OptionError(
            "method='williams' with tasks; Williams' test compares one correlation per metric",
            "Pass method='perm-systems'.",
        )


def check_same_inputs(x: FloatArray, z: FloatArray) -> None:
    """Raise if metrics and humans have different numbers of inputs, because resamples pair them."""
    if x.shape != z.shape:
        raise JudgmentError(
            f"metric has shape {x.shape}, human {z.shape}",
            "Pass human scores for these inputs; or pass mean scores for all three, one per system.",
            expected="the same systems (rows) and inputs (columns)",
        )


def check_constant(metrics: dict[str, FloatArray]) -> None:
    """Raise for a metric without two different scores: it cannot be standardized."""
    for name, x in metrics.items():
        if len(np.unique(x[~np.isnan(x)])) < 2:
            raise JudgmentError(f"all scores of {name} are equal or missing, so it has no correlation", "Leave it out.")


def standardized(x: FloatArray) -> FloatArray:
    """Return scores minus the mean of all, divided by the standard deviation of all."""
    return np.asarray((x - np.nanmean(x)) / np.nanstd(x))


def shared_cells(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both matrices without the cells that one of them lacks."""
    missing = np.isnan(x) | np.isnan(y)
    return np.where(missing, np.nan, x), np.where(missing, np.nan, y)
