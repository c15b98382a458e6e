"""The tail of the largest |z|: against the studentized range, Bonferroni's bounds, and more contrasts."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from llbt.core.max_z import MaxZ, _root, _root_of_many, draws_of, max_z
from llbt.core.statistics import two_sided_p


def over(pairs: np.ndarray, seed: int = 1, df: float = np.inf) -> MaxZ:
    """The distribution over some pairs of estimates with an uneven covariance."""
    size = int(pairs.max()) + 1
    root = np.random.default_rng(0).normal(size=(size, size)) + 2 * np.eye(size)
    cov = root @ root.T
    std_error = np.full((size, size), np.inf)
    i, j = pairs.T
    std_error[i, j] = std_error[j, i] = np.sqrt(cov[i, i] + cov[j, j] - 2 * cov[i, j])
    return max_z(std_error, cov, df, np.random.default_rng(seed))


@pytest.mark.parametrize("size", [3, 10, 30, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("df", [np.inf, 9, 100])
def test_the_far_tail_is_that_of_the_studentized_range(size: int, df: float) -> None:
    found = max_z(np.where(np.eye(size), np.inf, np.sqrt(2)), np.eye(size), df, np.random.default_rng(1))
    m = size * (size - 1) // 2
    z = stats.t.isf(np.array([1e-2, 1e-3, 1e-4, 1e-6, 1e-8] if np.isinf(df) else [1e-2, 1e-4, 1e-6]) / (2 * m), df)
    ratio = found.p_value(z) / stats.studentized_range.sf(z * np.sqrt(2), size, df)
    assert 0.9 < ratio.min() < ratio.max() < 1.2


@pytest.mark.parametrize("variances", [(1.0, 1.0, 1.0), (1.0, 4.0, 0.1)])
def test_the_far_tail_of_three_pairs_is_that_of_an_integral(variances: tuple[float, ...]) -> None:
    """In two dimensions max |z| is R·v(angle), and P(R ≥ c/v) = exp(−c²/2v²)."""
    scale = np.sqrt(np.add.outer(variances, variances))
    np.fill_diagonal(scale, np.inf)
    found = max_z(scale, np.diag(variances), np.inf, np.random.default_rng(1))
    rows = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]]) * np.sqrt(variances)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    values, vectors = np.linalg.eigh(rows.T @ rows)
    plane = rows @ vectors[:, values > 1e-9]
    assert plane.shape == (3, 2)
    angle = (np.arange(200_000) + 0.5) * np.pi / 200_000
    v = np.abs(plane @ [np.cos(angle), np.sin(angle)]).max(axis=0)
    c = np.array([1.0, 2.0, 4.0, 6.6, 8.0])
    exact = [np.exp(-((one / v) ** 2) / 2).mean() for one in c]
    assert exact[3] < 2e-10
    np.testing.assert_allclose(found.p_value(c), exact, rtol=0.06)
    assert np.all(exact <= 3 * two_sided_p(c, np.inf) * (1 + 1e-9))


@pytest.mark.slow
@pytest.mark.parametrize("df", [np.inf, 9.0])
def test_p_values_are_within_bonferronis_bounds_fall_with_z_and_rise_with_the_contrasts(df: float) -> None:
    every = np.array([(i, j) for i in range(12) for j in range(i)])
    order = np.random.default_rng(3).permutation(len(every) - 1)  # the last pair, of all estimates, stays
    z = np.linspace(0.5, 14, 60)
    alone = two_sided_p(z, df)
    found = []
    for number in (0, 1, 2, 5, 10, 11, 30, 64, 65):
        tests = over(np.concatenate([every[order[:number]], every[-1:]]), df=df)
        p = tests.p_value(z)
        assert np.all(alone <= p)
        assert np.all(p <= np.minimum(1, (number + 1) * alone))
        assert np.all(np.diff(p) <= 0)
        found.append(p)
    for fewer, more in pairwise(found):
        assert np.all(fewer <= more)


def test_roots_of_many_estimates_give_the_differences_of_the_eigenvalues() -> None:
    """Cholesky's factor against the eigenvalues: the same covariance of all differences."""
    rng = np.random.default_rng(2)
    root = rng.normal(size=(12, 12)) + 2 * np.eye(12)
    cov = root @ root.T
    cov = (cov - cov.mean(axis=0)) - (cov - cov.mean(axis=0)).mean(axis=1)[:, None]  # of estimates less their mean
    error = np.full((12, 12), np.inf)
    i, j = np.triu_indices(10, 1)  # the last two are no pairs
    error[i, j] = error[j, i] = np.sqrt(cov[i, i] + cov[j, j] - 2 * cov[i, j])
    found, expected = _root_of_many(error, cov), _root(cov)
    assert found is not None
    for of in (found, expected):
        apart = of[i] - of[j]
        np.testing.assert_allclose(np.linalg.norm(apart, axis=1), error[i, j], rtol=1e-9)
    np.testing.assert_allclose(
        (found[i] - found[j]) @ (found[i] - found[j]).T, (expected[i] - expected[j]) @ (expected[i] - expected[j]).T,
        rtol=1e-8, atol=1e-8,
    )  # fmt: skip
    assert not found[10:].any()


def test_known_differences_are_left_to_the_eigenvalues() -> None:
    cov = np.diag([1.0, 2.0, 3.0, 0.0])
    cov[0, 1] = cov[1, 0] = cov[1, 1] = 1.0  # the first two are the same
    error = np.full((4, 4), 1.0)
    assert _root_of_many(error, cov) is None


def test_fewer_directions_of_more_estimates() -> None:
    assert [draws_of(size) for size in (2, 300, 400, 1000, 2000, 10_000)] == [
        20_000,
        20_000,
        15_000,
        6_000,
        4_000,
        4_000,
    ]


@pytest.mark.slow
def test_many_estimates_have_the_critical_value_of_all_directions() -> None:
    """320 estimates by Cholesky's factor: Tukey's quantile of equal variances, by the studentized range."""
    size = 320
    error = np.full((size, size), np.sqrt(2))
    found = max_z(error, np.eye(size), np.inf, np.random.default_rng(1)).quantile(0.95)
    assert found == pytest.approx(stats.studentized_range.ppf(0.95, size, np.inf) / np.sqrt(2), abs=0.02)
