"""The model from which tables are drawn: true worths and judges of a scenario; and checks of options of `power`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from ..base.arguments import is_whole
from ..core.columns import FloatArray, IntArray
from ..core.response import THREE, TWO, Response
from ..errors import OptionError, listed, safe_repr
from ..kernel.indexed_rows import Gathered
from ..kernel.likelihood import Problem
from .scenarios import Scenario

PowerTest = Literal["llbt", "llbt_cluster", "sign", "sign_split"]
TESTS: tuple[PowerTest, ...] = get_args(PowerTest)


@dataclass(frozen=True, eq=False)
class Truth:
    """The model from which tables are drawn: J objects, all P pairs of them, K judges.

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

    @classmethod
    def of(cls, scenario: Scenario, tests: Sequence[PowerTest]) -> Truth:
        """Return the model of a scenario's tables, with judges only if they differ or a test needs them."""
        ties = scenario.tie_share
        tie = math.log(2 * ties / (1 - ties)) if ties > 0 else -math.inf
        needed = scenario.judge_sd > 0 or "llbt_cluster" in tests
        worths = math.log(scenario.odds) / 2 * np.linspace(1, 0, scenario.n_objects)
        judges = scenario.judges if needed and scenario.judges is not None else 1
        return cls(worths, tie, judges, float(scenario.judge_sd))

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
        probability, _ = self.response.probabilities([lead, np.full_like(lead, self.tie)][: self.response.width])
        return np.moveaxis(probability, 0, -1)

    def allotment(self, judgments: int) -> IntArray:
        """Return how many of a pair's judgments each judge makes, shape (K, P): judges take turns.

        The first judge changes from pair to pair, so a remainder does not always go to the same judges.
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
    """Return the requested tests."""
    several = (test,) if isinstance(test, str) else tuple(test) if isinstance(test, Sequence) else ()
    if not several or any(name not in TESTS for name in several) or len(set(several)) < len(several):
        raise OptionError(f"test={test!r}", expected=f"one or several of {listed(TESTS)}, each once")
    return several


def checked_judgments(judgments: object) -> IntArray:
    """Return the distinct numbers of judgments per pair, ascending, shape (M,)."""
    several = (judgments,) if is_whole(judgments) else judgments
    numbers = list(several) if isinstance(several, (Sequence, np.ndarray)) and not isinstance(several, str) else []
    bad = [x for x in numbers if not is_whole(x) or x < 1]
    if bad or not numbers:
        raise OptionError(
            f"judgments= holds {safe_repr(bad[0])}" if bad else f"judgments={safe_repr(judgments)}",
            expected="whole numbers per pair, of at least 1: judgments=[50, 100, 200]",
        )
    return np.unique(np.array(numbers, dtype=np.int64))


def check_flips(tests: Sequence[PowerTest], judges: int | None, alpha: float) -> None:
    """Raise if there are no judges for sign flips, or too few to reject at a level."""
    if "llbt_cluster" not in tests:
        return
    if judges is None:
        raise OptionError(
            "test='llbt_cluster' with judges=None", "This test needs judges as clusters: Scenario(judges=12)."
        )
    least = 2.0 ** (1 - judges)
    if least > alpha:
        enough = 1 + math.ceil(-math.log2(alpha))
        raise OptionError(
            f"test='llbt_cluster' with judges={judges!r}: flips of the signs of {judges} judges' scores give no "
            f"p-value below {least:.3g}, and the level is {alpha:g}",
            expected=f"judges={enough} at least",
        )
