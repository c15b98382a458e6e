"""Very many objects: units left out and held out, contrasts, residuals, new tables, against the dense route."""

from __future__ import annotations

import importlib

import numpy as np
import pandas as pd
import pytest
from support.large import both_fits, few_are_many

import llbt
from llbt import LargeResults, LLBTResults
from llbt.errors import OptionError
from llbt.inference.unit_models import folds_of, unit_model

FORMULA = "object + tie + order"


def _frame() -> pd.DataFrame:
    """Eight judges compare 110 objects, 500 pairs each."""
    rng, worths = np.random.default_rng(3), np.random.default_rng(4).normal(0, 0.4, 110)
    judge = np.repeat(np.arange(8), 500)
    i = rng.integers(110, size=len(judge))
    j = (i + rng.integers(1, 110, size=len(judge))) % 110
    lead = 2 * (worths[i] - worths[j]) + 0.3 + rng.logistic(size=len(judge))
    outcome = np.select([lead > 0.6, lead > -0.6], ["i", "tie"], "j")
    return pd.DataFrame({"object_i": i, "object_j": j, "outcome": outcome, "judge": [f"J{k}" for k in judge]})


def table(frame: pd.DataFrame) -> llbt.Comparisons:
    return llbt.from_judgments(frame, order=True, clusters="judge")


@pytest.fixture(scope="module")
def fits() -> tuple[LargeResults, LLBTResults]:
    return both_fits(table(_frame()), FORMULA, prior=None)


def centred(res: LLBTResults) -> np.ndarray:
    found = np.append(res.params.to_numpy()[:109], 0.0)
    return found - found.mean()


def test_log_scores_of_judges_add_up_and_estimates_return(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = fits
    for by in (None, "judge"):
        model, other = unit_model(large, by, "by"), unit_model(dense, by, "by")
        assert model.counts @ model.log_scores(model.estimates) == pytest.approx(large.llf, abs=1e-8)
        np.testing.assert_allclose(model.log_scores(model.estimates), other.log_scores(other.estimates), atol=1e-6)
        np.testing.assert_allclose(model.estimated(model.counts), model.estimates, atol=1e-8)


def test_a_judge_left_out_is_a_dense_fit_without_them(fits: tuple[LargeResults, LLBTResults]) -> None:
    frame = llbt.influence(fits[0], by="judge").to_frame()
    assert len(frame) == 8 * 110
    rest = llbt.fit(FORMULA, table(_frame().query("judge != 'J5'")))
    mine = frame[frame["judge"] == "J5"].set_index("object")
    np.testing.assert_allclose(mine.loc[list(range(110)), "without"], centred(rest), atol=1e-6)
    np.testing.assert_allclose(mine.loc[list(range(110)), "estimate"], centred(fits[1]), atol=1e-6)
    largest = frame.groupby("judge", sort=False)["change"].agg(lambda x: x.abs().max())
    assert largest.is_monotonic_decreasing


def test_of_very_many_objects_those_that_move_most_are_listed(
    fits: tuple[LargeResults, LLBTResults], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = llbt.influence(fits[0], by="judge").to_frame()
    room = importlib.import_module("llbt.inference.influence")
    monkeypatch.setattr(room, "_MANY", 100)
    few = llbt.influence(fits[0], by="judge")
    found = few.to_frame()
    assert len(found) == 8 * 100
    assert "the 100 objects that change most" in few.as_text()
    mine = whole[whole["judge"] == "J5"].set_index("object")["change"]
    first = found[found["judge"] == "J5"].set_index("object")["change"]
    np.testing.assert_allclose(first, mine.loc[first.index])
    assert first.abs().min() >= mine.drop(first.index).abs().max()
    monkeypatch.setattr(room, "_MOST_LARGE", 7)
    with pytest.raises(OptionError, match="8 judges to leave out in turn"):
        llbt.influence(fits[0], by="judge")


def test_held_out_judges_are_predicted_as_by_the_dense_route(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = (llbt.held_out(res, by="judge", folds=4, rng=2).to_frame().iloc[0] for res in fits)
    for name in ("log_loss", "std_error"):
        assert large[name] == pytest.approx(dense[name], abs=1e-7)
    loss = 0.0
    model = unit_model(fits[1], "judge", "by")
    for part in folds_of(model, 4, np.random.default_rng(2)):
        loss -= part @ model.log_scores(model.estimated(1 - part)) / 4000
    assert large["log_loss"] == pytest.approx(loss, abs=1e-7)


def test_without_finite_estimates_a_prior_predicts() -> None:
    """An object that one judge alone compares."""
    odd = pd.DataFrame({"object_i": 110, "object_j": [0, 1], "outcome": ["i", "j"], "judge": "J5"})
    large, dense = both_fits(table(pd.concat([_frame(), odd])), FORMULA, prior=None)
    found, expected = (llbt.held_out(res, by="judge", folds=8, rng=2).to_frame().iloc[0] for res in (large, dense))
    assert found["prior_folds"] == expected["prior_folds"] == 1
    assert found["log_loss"] == pytest.approx(expected["log_loss"], abs=1e-6)
    left = llbt.influence(large, by="judge")
    assert left.to_frame().query("judge == 'J5'")["without"].isna().all()
    assert "NA: no finite estimate without this judge; fit(…, prior=0.1) gives one" in " ".join(left.as_text().split())
    with few_are_many():
        again = llbt.fit(FORMULA, large.comparisons, prior=0.1)
    assert llbt.influence(again, by="judge").to_frame()["without"].notna().all()


@pytest.mark.parametrize("scale", ["log_odds", "log_worth", "elo", "odds_ratio"])
def test_contrasts_are_those_of_the_whole_covariance(fits: tuple[LargeResults, LLBTResults], scale: str) -> None:
    weights = {"two": {3: 1, 7: -1}, "some": {1: 0.5, 2: 0.5, 4: -0.25, 5: -0.75}}
    large, dense = (llbt.contrasts(res, weights, scale=scale).to_frame() for res in fits)
    assert list(large) == list(dense)
    np.testing.assert_allclose(large.iloc[:, 1:], dense.iloc[:, 1:], rtol=1e-5, atol=1e-7)


def test_contrasts_in_words(fits: tuple[LargeResults, LLBTResults]) -> None:
    words = {"two": "object[3] = object[7]", "tied": "tie = 0"}
    large, dense = (llbt.contrasts(res, words, scale="log_worth").to_frame() for res in fits)
    np.testing.assert_allclose(large.iloc[:, 1:], dense.iloc[:, 1:], rtol=1e-5, atol=1e-7)
    with pytest.raises(OptionError, match="'tied' is about 'tie', which has no elo"):
        llbt.contrasts(fits[0], words, scale="elo")
    with pytest.raises(OptionError, match="sum to 1"):
        llbt.contrasts(fits[0], {"one": {3: 1}})


def test_drawn_tables_have_the_fitted_counts(fits: tuple[LargeResults, LLBTResults]) -> None:
    """Simulation: the mean of tables, and a fit to one of twenty times as many judgments."""
    large = fits[0]
    drawn = np.mean([one.outcome_counts for one in llbt.simulate(large, 200, rng=1)], axis=0)
    means = large.fittedvalues.to_numpy().reshape(drawn.shape)
    z = (drawn - means) / np.sqrt(means * (1 - means / large.comparisons.totals[:, None]) / 200)
    assert 0.9 < z.std() < 1.1
    with few_are_many():
        again = llbt.fit(FORMULA, llbt.simulate(large, times=50, rng=3)[0])
    assert np.corrcoef(again.worths, large.worths)[0, 1] > 0.99


@pytest.mark.parametrize("kind", ["pearson", "deviance"])
def test_residuals_are_exact_where_they_are_largest(fits: tuple[LargeResults, LLBTResults], kind: str) -> None:
    """The others are too small by what estimation takes, never too large."""
    large, dense = (llbt.residuals(res, kind=kind) for res in fits)
    assert "the 100 comparisons of the largest residuals" in large.as_text()
    keys = ["object_i", "object_j", "outcome"]
    found, expected = (one.to_frame().set_index(keys)["residual"] for one in (large, dense))
    expected = expected.loc[found.index]
    first = found.index[:60]
    np.testing.assert_allclose(found[first], expected[first], rtol=1e-5)
    assert (found.abs() <= expected.abs() * (1 + 1e-6) + 1e-9).all()
    assert np.corrcoef(found, expected)[0, 1] > 0.99


def test_residuals_of_pairs_are_exact_where_they_are_largest(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = (llbt.residuals(res, of="pairs") for res in fits)
    assert "the 100 pairs of the largest residuals" in large.as_text()
    keys = ["object_i", "object_j"]
    found, expected = (one.to_frame().set_index(keys) for one in (large, dense))
    expected = expected.loc[found.index]
    for name in ("judgments", "estimate", "fitted"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6, atol=1e-7)
    first = found.index[:60]
    np.testing.assert_allclose(found["residual"][first], expected["residual"][first], rtol=1e-5)
    assert (found["residual"].abs() <= expected["residual"].abs() * (1 + 1e-6) + 1e-9).all()
