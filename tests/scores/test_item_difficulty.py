"""Effects of systems at equal items: the models by other programs, what cannot be estimated, items that misfit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

import llbt
from llbt.errors import DesignError, OptionError, SeparationError
from llbt.scores.board import Board


def board_of(values: np.ndarray, *, higher_is_better: bool = True) -> Board:
    rows = [
        {"system": f"s{s}", "item": f"i{k}", "score": values[s, k]} for s, k in np.argwhere(~np.isnan(values)).tolist()
    ]
    return llbt.scores.read_board(rows, higher_is_better=higher_is_better)


def graded() -> np.ndarray:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(4, 9)) + np.arange(4)[:, None]
    values[rng.random(values.shape) < 0.15] = np.nan
    return values


def rasch(systems: int, items: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    odds = np.linspace(-1.5, 1.5, systems)[:, None] - rng.normal(size=items)
    return (rng.random((systems, items)) < 1 / (1 + np.exp(-odds))).astype(float)


def test_additive_model_by_least_squares_on_dummies() -> None:
    """Effects, difficulties and infit of statsmodels' regression on dummies and its hat matrix."""
    values = graded()
    found = llbt.scores.difficulty(board_of(values))
    cells = np.argwhere(~np.isnan(values))
    rows = pd.DataFrame(cells, columns=["s", "k"]).assign(score=values[tuple(cells.T)])
    other = smf.ols("score ~ C(s) + C(k)", rows).fit()
    whole = pd.DataFrame([(s, k) for s in range(4) for k in range(9)], columns=["s", "k"])
    whole["fitted"] = other.predict(whole)
    effect = whole.groupby("s")["fitted"].mean()
    expected = [effect[int(str(label)[1:])] - effect.mean() for label in found.systems]
    np.testing.assert_allclose(found.estimate, expected, atol=1e-12)
    level = whole.groupby("k")["fitted"].mean()
    codes = [int(str(label)[1:]) for label in found.items]
    np.testing.assert_allclose(found.difficulty, level.mean() - level[codes], atol=1e-12)
    rows["square"], rows["free"] = other.resid**2 / other.mse_resid, 1 - other.get_influence().hat_matrix_diag
    sums = rows.groupby("k")[["square", "free"]].sum().loc[codes]
    np.testing.assert_allclose(found.item_fit.infit, sums["square"] / sums["free"])
    rows["standard"] = rows["square"] / rows["free"]
    np.testing.assert_allclose(found.item_fit.outfit, rows.groupby("k")["standard"].mean().loc[codes])


def test_errors_of_differences_are_those_of_the_paired_t_test() -> None:
    values = np.random.default_rng(2).normal(size=(3, 12))
    found = llbt.scores.difficulty(board_of(values))
    i, j = (int(str(label)[1:]) for label in found.systems[:2])
    cov = found.covariance
    difference = values[i] - values[j]
    assert found.estimate[0] - found.estimate[1] == pytest.approx(difference.mean())
    assert cov[0, 0] + cov[1, 1] - 2 * cov[0, 1] == pytest.approx(difference.var(ddof=1) / 12)


def test_pairs_at_equal_items_have_the_errors_and_the_largest_t_of_drawn_effects() -> None:
    """The largest |t| of all pairs by 20,000 draws of effects with the covariance, and one common variance estimate."""
    answer = llbt.scores.difficulty(board_of(graded()))
    pairs = answer.pair_table().to_frame()
    i, j = np.triu_indices(4, 1)
    weights = np.eye(4)[i] - np.eye(4)[j]
    error = np.sqrt(np.einsum("mk,kl,ml->m", weights, answer.covariance, weights))
    np.testing.assert_allclose(pairs["estimate"], weights @ answer.estimate)
    np.testing.assert_allclose(pairs["std_error"], error)
    np.testing.assert_allclose(pairs["p_value"], 2 * stats.t.sf(abs(pairs["statistic"]), answer.df))
    rng = np.random.default_rng(3)
    draws = rng.multivariate_normal(np.zeros(4), answer.covariance, 20_000) @ weights.T / error
    largest = abs(draws / np.sqrt(rng.chisquare(answer.df, (20_000, 1)) / answer.df)).max(axis=1)
    expected = [(largest >= one).mean() for one in abs(pairs["statistic"])]
    np.testing.assert_allclose(pairs["p_adjusted"], expected, atol=0.012)
    half = (pairs["conf_high"] - pairs["estimate"]) / pairs["std_error"]
    np.testing.assert_allclose(half, np.quantile(largest, 0.95), rtol=0.03)


def test_two_systems_are_compared_by_the_items_that_one_of_them_solved() -> None:
    """Log-odds ln(b/c) with variance 1/b + 1/c, as McNemar's test has it."""
    values = np.array([[1.0] * 6 + [0.0] * 2 + [1.0, 0.0], [0.0] * 6 + [1.0] * 2 + [1.0, 0.0]])
    found = llbt.scores.difficulty(board_of(values))
    assert found.estimate[0] - found.estimate[1] == pytest.approx(np.log(3))
    np.testing.assert_allclose(found.std_error, np.sqrt(1 / 6 + 1 / 2) / 2)
    assert any("2 items left out" in note for note in found.notes)


def test_an_item_that_better_systems_fail_misfits() -> None:
    values = rasch(12, 60, 4)
    values[:, 7] = np.arange(12) < 6
    found = llbt.scores.difficulty(board_of(values))
    assert found.misfits == ("i7",)
    assert found.correlation[found.items.index("i7")] < -0.7
    assert "i7" in found.table().head[0]


def test_lower_scores_are_the_better_ones() -> None:
    values = rasch(5, 40, 6)
    one = llbt.scores.difficulty(board_of(values))
    other = llbt.scores.difficulty(board_of(1 - values, higher_is_better=False))
    assert other.systems == one.systems
    np.testing.assert_allclose(other.estimate, -one.estimate, atol=1e-9)
    np.testing.assert_allclose(other.difficulty, one.difficulty, atol=1e-9)


def test_infinite_effects_are_refused_and_the_remedy_works() -> None:
    values = rasch(5, 30, 5)
    values[2] = 1.0
    board = board_of(values)
    with pytest.raises(SeparationError, match=r"'s2' solved all or none.*board.without\('s2'\)"):
        llbt.scores.difficulty(board)
    assert len(llbt.scores.difficulty(board.without("s2")).systems) == 4


def test_systems_without_shared_items_are_refused() -> None:
    values = np.full((4, 20), np.nan)
    values[:2, :10], values[2:, 10:] = rasch(2, 10, 1), rasch(2, 10, 2)
    for one in (values, values + np.where(np.isnan(values), 0, 0.5)):
        with pytest.raises(DesignError, match="no items connect"):
            llbt.scores.difficulty(board_of(one))


def test_scores_without_any_residual_have_no_fit() -> None:
    """Sums of .1, .3 and .7 that rounding alone keeps from being exact."""
    found = llbt.scores.difficulty(board_of(np.add.outer([0.1, 0.3, 0.7], 0.1 * np.arange(7))))
    assert np.isnan(found.item_fit.infit).all()
    assert np.isnan(found.item_fit.outfit).all()
    assert found.misfits == ()


@pytest.mark.slow
def test_a_large_board_has_the_effects_it_was_drawn_with() -> None:
    values = rasch(134, 500, 7)
    values[np.random.default_rng(8).random(values.shape) < 0.05] = np.nan
    found = llbt.scores.difficulty(board_of(values))
    truth = np.linspace(-1.5, 1.5, 134)[[int(str(label)[1:]) for label in found.systems]]
    z = (found.estimate - truth) / found.std_error
    assert 0.8 < z.std() < 1.2
    assert abs(found.item_fit.infit.mean() - 1) < 0.02
    assert 0.85 < found.item_fit.statistic.std() < 1.15


def in_groups(values: np.ndarray, size: int) -> Board:
    rows = [
        {"system": "abcdefgh"[s], "item": k, "document": f"d{k // size}", "score": float(values[s, k])}
        for s in range(len(values))
        for k in range(values.shape[1])
        if not np.isnan(values[s, k])
    ]
    return llbt.scores.read_board(rows)


def test_clustered_errors_of_differences_are_those_of_the_leaderboard() -> None:
    board = in_groups(np.random.default_rng(2).normal(size=(4, 30)) + np.arange(4)[:, None], 3)
    found = llbt.scores.difficulty(board)
    means = board.leaderboard(test="t")
    tested = means.by_pair().to_frame()
    place = {system: k for k, system in enumerate(found.systems)}
    for row in tested.itertuples():
        i, j = place[row.object_i], place[row.object_j]
        error = np.sqrt(found.covariance[i, i] + found.covariance[j, j] - 2 * found.covariance[i, j])
        assert row.estimate / error == pytest.approx(row.statistic)
    assert any("groups of document" in note for note in found.notes)
    alone = llbt.scores.difficulty(board, by="item")
    np.testing.assert_allclose(alone.estimate, found.estimate)
    assert not np.allclose(alone.std_error, found.std_error)


def test_clustered_errors_of_the_rasch_model_are_near_those_of_refits_without_each_group() -> None:
    values = rasch(4, 240, 3)
    board = in_groups(values, 20)
    found = llbt.scores.difficulty(board)
    refits = []
    for group in range(12):
        fewer = in_groups(np.delete(values, range(20 * group, 20 * group + 20), axis=1), 20)
        again = llbt.scores.difficulty(fewer, by="item")
        refits.append([again.estimate[again.systems.index(system)] for system in found.systems])
    jackknife = np.sqrt(11 / 12 * ((np.array(refits) - found.estimate) ** 2).sum(axis=0))
    np.testing.assert_allclose(found.std_error, jackknife, rtol=0.1)


def test_copies_of_items_in_one_group_tell_nothing_new() -> None:
    values = rasch(4, 150, 5)
    copied = llbt.scores.difficulty(in_groups(np.repeat(values, 4, axis=1), 4))
    single = llbt.scores.difficulty(in_groups(values, 1), by="item")
    ratio = copied.std_error / single.std_error
    assert ((ratio > 0.8) & (ratio < 1.25)).all()


def test_too_few_groups_and_unknown_ones_are_refused() -> None:
    board = in_groups(rasch(3, 60, 1), 20)
    with pytest.raises(OptionError, match="by='item'"):
        llbt.scores.difficulty(board, by="town")
    lopsided = llbt.scores.read_board(
        [
            {"system": s, "item": k, "document": "one" if k else "two", "score": float(x)}
            for s, said in zip("abc", rasch(3, 80, 2), strict=True)
            for k, x in enumerate(said)
        ]
    )
    with pytest.raises(DesignError, match="Pass by='item'"):
        llbt.scores.difficulty(lopsided)
    llbt.scores.difficulty(lopsided, by="item")
