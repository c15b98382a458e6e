"""What power is simulated for: the true worths, the judges, and the options of `power`, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from ..arguments import is_whole
from ..core.columns import FloatArray, IntArray
from ..core.response import THREE, TWO, Response
from ..errors import DesignError, listed
from ..kernel.gathered import Gathered
from ..kernel.likelihood import Problem

PowerTest = Literal["llbt", "llbt_cluster", "sign", "sign_split"]
TESTS: tuple[PowerTest, ...] = get_args(PowerTest)

_MOST_OBJECTS = 50


@dataclass(frozen=True, eq=False)
class Truth:
    """Where tables are drawn from: J objects, all P pairs of them, K judges.

    Attributes
    ----------
    log_worth : ndarray, shape (J,)
        λ, the best object first.
    tie : float
        γ; −∞ for tables without a tie category.
    judges : int
    judge_sd : float
        Standard deviation of a judge's log-odds of a pair.
    """

    log_worth: FloatArray
    tie: float
    judges: int
    judge_sd: float

    @property
    def response(self) -> Response:
        """Two outcomes, or three with a tie category."""
        return THREE if np.isfinite(self.tie) else TWO

    @property
    def pairs(self) -> IntArray:
        """Objects i < j of each pair, shape (P, 2)."""
        return np.column_stack(np.triu_indices(len(self.log_worth), 1)).astype(np.int64)

    @property
    def extreme(self) -> int:
        """The pair of the best and the worst object."""
        return len(self.log_worth) - 2

    def probabilities(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return outcome probabilities of n draws of judges, shape (n, K, P, C); (1, 1, P, C) if judges are alike."""
        worth = self.log_worth[None, None]
        if self.judge_sd > 0:
            # on the log-odds scale 2(λ_i − λ_j) both objects' deviations add up to judge_sd
            deviations = rng.standard_normal((n, self.judges, len(self.log_worth)))
            worth = worth + self.judge_sd / np.sqrt(8) * deviations
        i, j = self.pairs.T
        lead = worth[..., i] - worth[..., j]
        found, _ = self.response.probabilities([lead, np.full_like(lead, self.tie)][: self.response.width])
        return np.moveaxis(found, 0, -1)

    def allotment(self, judgments: int) -> IntArray:
        """Return how many of a pair's judgments each judge makes, shape (K, P): judges take turns.

        The first turn moves on by one from pair to pair, so that a remainder does not always go to the same judges.
        """
        place = (np.arange(self.judges)[:, None] - np.arange(len(self.pairs))) % self.judges
        return np.asarray((judgments - place + self.judges - 1) // self.judges, dtype=np.int64)

    def model(self) -> tuple[Problem, FloatArray]:
        """Return the design of `object + tie` with the last object as reference, and the true parameters (p,)."""
        (i, j), size = self.pairs.T, len(self.log_worth)
        signed = (np.eye(size)[i] - np.eye(size)[j])[:, :-1]
        worth, zero = self.log_worth[:-1] - self.log_worth[-1], np.zeros(len(i))
        rows, response = [signed], self.response
        if response.has_ties:
            rows = [np.column_stack([signed, zero]), np.column_stack([0 * signed, zero + 1])]
            worth = np.append(worth, self.tie)
        counts, offsets = np.zeros((len(i), len(response.outcomes))), np.zeros((len(rows), len(i)))
        return Problem(tuple(Gathered.of(csr_array(part)) for part in rows), counts, offsets, response), worth


def checked_tests(test: object) -> tuple[PowerTest, ...]:
    """Return the tests that are asked for."""
    several = (test,) if isinstance(test, str) else tuple(test) if isinstance(test, Sequence) else ()
    if not several or any(name not in TESTS for name in several) or len(set(several)) < len(several):
        raise DesignError(f"test={test!r}; it is one or several of {listed(TESTS)}, each once.")
    return several


def checked_judgments(judgments: object) -> IntArray:
    """Return the distinct numbers of judgments per pair, ascending, shape (M,)."""
    several = (judgments,) if is_whole(judgments) else judgments
    found = list(several) if isinstance(several, (Sequence, np.ndarray)) and not isinstance(several, str) else []
    bad = [x for x in found if not is_whole(x) or x < 1]
    if bad or not found:
        said = f"it holds {bad[0]!r}" if bad else f"judgments={judgments!r}"
        raise DesignError(f"{said}; judgments= are whole numbers per pair, of at least 1: judgments=[50, 100, 200].")
    return np.unique(np.array(found, dtype=np.int64))


def checked_truth(
    n_objects: int, odds: float, tie_share: float, judges: int | None, judge_sd: float, tests: Sequence[PowerTest]
) -> Truth:
    """Return what tables are drawn from."""
    if not is_whole(n_objects) or not 2 <= n_objects <= _MOST_OBJECTS:
        raise DesignError(f"n_objects={n_objects!r}; it is a whole number from 2 to {_MOST_OBJECTS}.")
    _check_judges(n_objects, judges, judge_sd, tests)
    tie = math.log(2 * tie_share / (1 - tie_share)) if tie_share > 0 else -math.inf
    needed = judge_sd > 0 or "llbt_cluster" in tests  # else it does not matter who judges
    worths = math.log(odds) / 2 * np.linspace(1, 0, n_objects)
    return Truth(worths, tie, judges if needed and judges is not None else 1, float(judge_sd))


def _check_judges(n_objects: int, judges: int | None, judge_sd: float, tests: Sequence[PowerTest]) -> None:
    if judge_sd > 0 and (judges is None or judges < 2):
        raise DesignError(
            f"judge_sd={judge_sd:g} with judges={judges!r}; judges who differ are at least two: judges=10."
        )
    if "llbt_cluster" in tests and judges is None:
        raise DesignError("test='llbt_cluster' with judges=None; the judges are its clusters: judges=12.")


def check_flips(tests: Sequence[PowerTest], judges: int | None, alpha: float) -> None:
    """Raise where flips of so few judges' scores cannot reject at a level."""
    least = 2.0 ** (1 - (judges or 1))
    if "llbt_cluster" in tests and least > alpha:
        enough = 1 + math.ceil(-math.log2(alpha))
        raise DesignError(
            f"test='llbt_cluster' with judges={judges!r}; flips of the signs of {judges} judges' scores give no "
            f"p-value below {least:.3g}, and the level is {alpha:g}: judges={enough} at least."
        )
