"""McNemar's tests by counts: against binomial tests of each pair, and signs of groups gone through one by one."""

import itertools

import numpy as np
import pytest
from scipy import stats

from llbt.data.system_scores import TieRule
from llbt.scores.board_counts import pair_counts
from llbt.scores.board_tests import board_pairs
from llbt.scores.grouped_tests import Units, covariance, means, roots
from llbt.scores.sign_flips import listed_flip_p


def right(systems: int = 5, items: int = 90, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(4)
    values = (rng.random((systems, items)) < np.linspace(0.2, 0.8, systems)[:, None]).astype(float)
    return np.where(rng.random(values.shape) < missing, np.nan, values)


PAIRS = np.column_stack(np.triu_indices(5, 1)).astype(np.int64)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_counts_of_each_pair_by_comparing_its_scores(missing: float, sign: float) -> None:
    values = sign * right(missing=missing)
    found = board_pairs(values, PAIRS, TieRule(), Units.of(np.arange(90)), "mcnemar")
    for row, (i, j) in enumerate(PAIRS):
        both = ~np.isnan(values[i]) & ~np.isnan(values[j])
        d = values[i, both] - values[j, both]
        b, c = int((d > 0).sum()), int((d < 0).sum())
        assert found.counts[row].tolist() == [b, both.sum() - b - c, c]
        assert found.p_value[row] == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-10)
        assert found.estimate[row] == pytest.approx(d.mean())


def test_many_items_are_counted_in_blocks() -> None:
    values = np.tile(right(3), 200)
    counts = pair_counts(values, np.array([[0, 1], [0, 2]]))
    assert counts[0].tolist() == [
        (values[0] > values[1]).sum(),
        (values[0] == values[1]).sum(),
        (values[0] < values[1]).sum(),
    ]


@pytest.mark.parametrize("groups", [6, 20])
def test_complete_boards_by_group_as_with_a_gap(groups: int) -> None:
    """Sums of groups by system, and by pair: a board with an item more, which all but one lack, goes the other way."""
    values, codes = right(), np.arange(90) % groups
    found = board_pairs(values, PAIRS, TieRule(), Units.of(codes), "mcnemar")
    beside = np.column_stack([values, [1, *[np.nan] * 4]])
    other = board_pairs(beside, PAIRS, TieRule(), Units.of(np.append(codes, 0)), "mcnemar")
    np.testing.assert_allclose(found.p_value, other.p_value, rtol=1e-12)
    np.testing.assert_array_equal(found.units, other.units)
    np.testing.assert_array_equal(found.statistic, other.statistic)


def test_all_signs_of_few_units_one_by_one() -> None:
    sums = np.random.default_rng(2).normal(size=(6, 7)).round(1)
    sums[3] = 0
    expected = [
        np.mean([abs(np.dot(s, row)) >= abs(row.sum()) - 1e-9 for s in itertools.product((1, -1), repeat=7)])
        for row in sums
    ]
    np.testing.assert_allclose(listed_flip_p(sums), expected)


def test_covariances_are_those_of_the_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    values = rng.random((4, 30))
    values[1, 3:9] = np.nan
    single = Units.of(np.arange(30))
    for units in (single, Units.of(np.arange(30) // 4), single.macro(np.arange(30) % 3)):
        root = roots(values, units)
        with monkeypatch.context() as patch:
            patch.setattr("llbt.scores.grouped_tests._COLUMNS", 7)
            np.testing.assert_allclose(covariance(values, units), root @ root.T, rtol=1e-12)
        errors = means(values, units, np.ones(4)).std_error
        np.testing.assert_allclose(np.sqrt(np.diag(covariance(values, units))), errors, rtol=1e-12)
    np.testing.assert_allclose(covariance(values[[0, 2]], single), np.cov(values[[0, 2]]) / 30, rtol=1e-12)
