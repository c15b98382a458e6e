"""Score equations of counts that may be below 0: derivatives, and when there is a root."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from llbt.core.response import THREE
from llbt.kernel.ppi import Scores

# rows of three objects, the last 0, and a tie effect: pairs 01, 02, 12
ROWS = np.array([[[1, -1, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 1]] * 3], dtype=float)
SCORES = Scores(THREE, ROWS)


def test_gradient_and_information_are_derivatives():
    rng = np.random.default_rng(1)
    counts, at = rng.normal(size=(3, 3)) + 3, rng.normal(size=3)

    def value(x):
        return float(np.sum(counts.T * np.log(SCORES.probabilities(x))))

    np.testing.assert_allclose(SCORES.gradient(at, counts), approx_fprime(at, value, 1e-7), atol=1e-5)
    second = approx_fprime(at, lambda x: SCORES.gradient(x, counts), 1e-6)
    np.testing.assert_allclose(SCORES.information(at, counts.sum(axis=1)), -second, atol=1e-5)


def test_judgments_add_up_to_the_gradient():
    rng = np.random.default_rng(2)
    comparison, said = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    counts = np.zeros((3, 3))
    np.add.at(counts, (comparison, said), 1)
    at = rng.normal(size=3)
    np.testing.assert_allclose(SCORES.of_judgments(at, comparison, said).sum(axis=0), SCORES.gradient(at, counts))


def test_the_root_with_counts_below_zero():
    counts = np.array([[5.0, 2.0, 3.0], [4.0, 1.0, -0.5], [3.0, 2.0, 4.0]])
    found = SCORES.root(counts, np.zeros(3))
    np.testing.assert_allclose(SCORES.gradient(found, counts), 0, atol=1e-9)
    assert SCORES.recession(counts) is None


@pytest.mark.parametrize(
    "counts",
    [
        [[5, 2, 0], [4, 1, 0], [3, 2, 4]],  # the first object wins all … but for ties
        [[5, -1, 3], [4, -0.5, 1], [3, -0.2, 2]],  # fewer than no ties
        [[5, 1, -2], [4, 1, -2], [3, 2, 3]],  # fewer than no losses
    ],
)
def test_what_rises_for_ever_has_no_root(counts):
    counts = np.array(counts, dtype=float)
    gone = SCORES.recession(counts) is not None or SCORES.root(counts, np.zeros(3)) is None
    if counts[0, 1] == 2:  # ties keep the first object finite
        assert not gone
    else:
        assert gone


def test_a_winner_of_everything_is_found_without_a_count_below_zero():
    counts = np.array([[5.0, 0, 0], [4, 0, 0], [3, 2, 4]])
    assert SCORES.root(counts, np.zeros(3)) is None
