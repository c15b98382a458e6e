"""Several tests at once, on arrays: max |z|, adjusted p-values, letters, clusters."""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import llbt
from llbt import Scenario, power
from llbt.base.arguments import as_generator
from llbt.core.max_z import max_z
from llbt.core.statistics import adjust_p, compact_letters, letters_exceed, significance_clusters, two_sided_p
from llbt.errors import OptionError


def tukey(size):
    """The standard errors √2 of all differences of independent estimates with variance 1."""
    return np.where(np.eye(size), np.inf, np.sqrt(2))


def in_pairs(number):
    """So many pairs of an estimate with variance 1 and one that is known, in no other pair: standard errors and cov."""
    return np.where(np.kron(np.eye(number), 1 - np.eye(2)), 1.0, np.inf), np.diag(np.tile([1.0, 0.0], number))


# -- max |z| ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("df", [np.inf, 10])
@pytest.mark.parametrize("size", [2, 3, 5, 10, 30])
@pytest.mark.slow
def test_max_z_over_all_pairs_of_equal_variances_is_the_studentized_range(size, df):
    found = max_z(tukey(size), np.eye(size), df, np.random.default_rng(1))
    for confidence in (0.8, 0.95, 0.99):
        exact = stats.studentized_range.ppf(confidence, size, df) / np.sqrt(2)
        assert found.quantile(confidence) == pytest.approx(exact, abs=0.01, rel=0.003)


def test_max_z_does_not_depend_on_a_correlation_that_all_estimates_share():
    """λ less the reference's is such a case: adding a common part changes no difference."""
    shifted = np.eye(6) + 3.0
    a, b = (max_z(tukey(6), cov, np.inf, np.random.default_rng(1)).quantile(0.95) for cov in (np.eye(6), shifted))
    assert a == pytest.approx(b, abs=0.01)


@pytest.mark.parametrize("size", [1, 2, 4, 20])
def test_max_z_of_independent_contrasts_is_sidaks(size):
    found = max_z(*in_pairs(size), np.inf, np.random.default_rng(2))
    assert found.quantile(0.95) == pytest.approx(stats.norm.ppf((1 + 0.95 ** (1 / size)) / 2), abs=0.01)
    z = np.array([0.5, 2.0, -3.0, 4.5])
    np.testing.assert_allclose(found.p_value(z), -np.expm1(size * np.log1p(-two_sided_p(z, np.inf))), rtol=0.04)


def test_max_z_of_one_contrast_said_twice_is_that_of_one():
    same = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    std_error = np.where(same, np.inf, np.sqrt(2))
    found = max_z(std_error, same, np.inf, np.random.default_rng(2))
    assert found.quantile(0.95) == pytest.approx(stats.norm.isf(0.025), abs=0.01)


@pytest.mark.parametrize("df", [np.inf, 8])
def test_single_step_p_values_are_those_of_the_studentized_range_far_into_the_tail(df):
    found = max_z(tukey(5), np.eye(5), df, np.random.default_rng(3))
    z = np.array([0.7, -1.9, 2.6, 3.4, -4.5])
    exact = stats.studentized_range.sf(np.abs(z) * np.sqrt(2), 5, df)
    np.testing.assert_allclose(found.p_value(z), exact, rtol=0.03)


def test_single_step_p_values_lie_between_the_plain_and_bonferronis_and_agree_with_the_quantile():
    found = max_z(tukey(8), np.eye(8), np.inf, np.random.default_rng(4))
    z = np.append(np.linspace(0, 30, 301), np.nan)
    p, alone = found.p_value(z), two_sided_p(z, np.inf)
    assert np.isnan(p[-1])
    assert np.all(p[:-1] >= alone[:-1])
    assert np.all(p[:-1] <= np.minimum(1, 28 * alone[:-1]))
    assert np.all(np.diff(p[:-1]) <= 0)
    np.testing.assert_array_equal(p[:-1] < 0.05, z[:-1] > found.quantile(0.95))


def test_max_z_without_contrasts_is_nan():
    found = max_z(np.full((3, 3), np.inf), np.eye(3), np.inf, np.random.default_rng(0))
    assert np.isnan(found.quantile(0.95))
    assert np.isnan(found.p_value(np.array([1.0]))).all()


def test_max_z_over_4950_pairs_stays_within_memory():
    tracemalloc.start()
    found = max_z(tukey(100), np.eye(100), np.inf, np.random.default_rng(5))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6
    exact = stats.studentized_range.ppf(0.95, 100, np.inf) / np.sqrt(2)
    assert found.quantile(0.95) == pytest.approx(exact, abs=0.01)


# -- adjusted p-values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["holm", "bonferroni", "fdr_bh"])
@pytest.mark.parametrize("size", [1, 2, 7, 45])
@pytest.mark.slow
def test_adjusted_p_values_are_statsmodels(method, size):
    rng = np.random.default_rng(size)
    p = np.round(rng.beta(0.4, 2, size), 2)  # with ties and zeros
    np.testing.assert_allclose(adjust_p(p, method), multipletests(p, method=method)[1], rtol=1e-12)
    holes = np.insert(p, [0, size], np.nan)
    np.testing.assert_allclose(adjust_p(holes, method), np.insert(adjust_p(p, method), [0, size], np.nan))


# -- letters and clusters ---------------------------------------------------------------------------------


def random_relation(rng, size):
    """A random symmetric relation, and a random order of some of the objects."""
    upper = np.triu(rng.random((size, size)) < rng.random(), 1)
    order = rng.permutation(size)[: rng.integers(1, size + 1)].tolist()
    return upper | upper.T, order


def test_two_objects_share_a_letter_exactly_when_they_do_not_differ():
    rng = np.random.default_rng(6)
    for _ in range(300):
        apart, order = random_relation(rng, rng.integers(1, 9))
        letters = compact_letters(apart, order)
        for a, b in itertools.combinations(order, 2):
            assert bool(set(letters[a]) & set(letters[b])) == (not apart[a, b])
        for k, own in enumerate(letters):
            assert bool(own) == (k in order)
            assert len(set(own)) == len(own)


def test_no_letter_is_contained_in_another_and_the_first_goes_to_the_best():
    rng = np.random.default_rng(7)
    for _ in range(200):
        apart, order = random_relation(rng, 7)
        letters = compact_letters(apart, order)
        holders = {letter: {k for k in order if letter in letters[k]} for letter in set("".join(letters))}
        assert sorted(holders) == [chr(ord("a") + k) for k in range(len(holders))]
        assert letters[order[0]].startswith("a")
        assert not any(
            one < other or (one == other and x != y) for x, one in holders.items() for y, other in holders.items()
        )


def test_letters_of_piephos_example():
    """Piepho (2004, section 2): a line of overlapping groups, and all alike or all apart."""
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) > 1
    assert compact_letters(apart, range(5)) == ["a", "ab", "bc", "cd", "d"]
    assert compact_letters(np.zeros((3, 3), bool), range(3)) == ["a", "a", "a"]
    assert compact_letters(~np.eye(3, dtype=bool), [2, 0, 1]) == ["b", "c", "a"]


def test_letters_go_on_after_the_alphabets():
    letters = compact_letters(~np.eye(110, dtype=bool), range(110))
    assert [letters[k] for k in (0, 25, 26, 51, 52, 103, 104)] == ["a", "z", "A", "Z", ".a", ".Z", "..a"]
    assert len(set(letters)) == 110


def test_a_cluster_ends_where_all_above_are_better_than_all_below():
    rng = np.random.default_rng(8)
    several = 0
    for _ in range(300):
        size = rng.integers(1, 7)
        place = rng.permutation(size)
        better = (place[:, None] < place[None, :]) & (rng.random((size, size)) < 0.9)
        order = np.argsort(place)[: rng.integers(1, size + 1)].tolist()
        numbers = significance_clusters(better, order)
        breaks = [
            k for k in range(1, len(order)) if all(better[above, below] for above in order[:k] for below in order[k:])
        ]
        for where, k in enumerate(order):
            assert numbers[k] == 1 + sum(b <= where for b in breaks)
        assert all(numbers[k] == 0 for k in range(size) if k not in order)
        several += len(breaks) > 1
    assert several > 50


# -- rng --------------------------------------------------------------------------------------------------


def test_rng_is_an_int_or_a_generator():
    own = np.random.default_rng(3)
    assert as_generator(own) is own
    assert as_generator(np.int64(3)).integers(1000) == np.random.default_rng(3).integers(1000)


@pytest.mark.parametrize(
    ("rng", "said"),
    [("1", "='1'"), (1.0, "=1.0"), (True, "=True"), (np.random, "module"), (-1, "at least 0")],
)
def test_rng_of_another_type_is_an_error_that_names_it(rng, said):
    with pytest.raises(OptionError, match=f"power: rng.*{said}"):
        power(Scenario(), judgments=[5], rng=rng)


def test_many_p_values_by_the_curve_are_those_computed_each():
    for df in (np.inf, 9.0):
        found = max_z(tukey(12), np.eye(12), df, np.random.default_rng(6))
        z = np.append(np.linspace(0, 12, 5001), np.nan)
        each = np.concatenate([found.p_value(part) for part in np.array_split(z[::10], 2)])
        np.testing.assert_allclose(found.p_value(z)[::10], each, rtol=1e-5)


def test_letters_are_too_many_exactly_when_they_are_counted_so():
    rng = np.random.default_rng(7)
    for _ in range(200):
        size = int(rng.integers(1, 10))
        upper = np.triu(rng.random((size, size)) < rng.random(), 1)
        significant, order = upper | upper.T, rng.permutation(size).tolist()
        number = len(set("".join(compact_letters(significant, order))))
        assert [letters_exceed(significant, order, most) for most in (number - 1, number)] == [True, False]


def test_pairs_whose_interval_leaves_out_equality_are_those_of_small_adjusted_p_values():
    rng = np.random.default_rng(40)
    rows = [(f"m{i}", f"m{j}", w := rng.binomial(40, 0.5 + (j - i) / 40), 40 - w) for j in range(9) for i in range(j)]
    table = llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j"]))
    pairs = llbt.pairwise(llbt.fit("object", table))
    assert 0 < pairs.significant.sum() < len(pairs.significant)
    np.testing.assert_array_equal(pairs.significant, pairs.p_adjusted < 0.05)
