"""Fits as models of units: leaving out, drawing again, holding out, against fits made by hand without the units."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.questions import JUDGES, SKILL, _ranks, answered, by_judge, fit_of, judged

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference.unit_models import folds_of, unit_model

UNITS = {"plain": "judgment", "mixed": "judge", "discrimination": "judgment", "rankings": "list", "patterns": "pattern"}


def less(counts: np.ndarray, place: int, number: float = 1.0) -> np.ndarray:
    found = counts.copy()
    found[place] -= number
    return found


@pytest.mark.parametrize("kind", UNITS)
def test_log_scores_of_the_units_add_up_to_the_log_likelihood(kind: str) -> None:
    res = fit_of(kind)
    model = unit_model(res, None, "by")
    assert model.unit == UNITS[kind]
    assert len(model.names) == len(model.estimates)
    np.testing.assert_allclose(model.counts @ model.log_scores(model.estimates), res.llf, atol=1e-6)
    assert model.counts @ model.sizes == res.n_judgments
    np.testing.assert_allclose(model.estimated(model.counts), model.estimates, atol=1e-6)
    assert len(model.titles()) == len(model.counts)


def test_a_judge_left_out_of_normal_effects_is_a_fit_without_him() -> None:
    model = unit_model(fit_of("mixed"), None, "by")
    found = model.estimated(less(model.counts, 3))
    rest = judged().select(where={"judge": [name for name in JUDGES if name != "J03"]})
    again = llbt.fit("object + tie + (object | judge)", rest)
    np.testing.assert_allclose(found[:-1], again.maximum.params, atol=1e-4)
    np.testing.assert_allclose(found[-1], again.maximum.scales[0], atol=1e-4)
    refitted = model.refitted(less(model.counts, 3))
    np.testing.assert_allclose(refitted.params, again.params, atol=1e-6)


def test_a_judge_is_predicted_by_the_integral_over_his_effects() -> None:
    rng = np.random.default_rng(2)
    wins = rng.binomial(6, stats.logistic.cdf(0.6 + 1.2 * rng.normal(size=12)))
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "wins_j": 6 - wins, "judge": range(12)})
    res = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    model = unit_model(res, None, "by")
    lam, sigma = model.estimates
    at = np.linspace(-9, 9, 4001)  # b_A − b_B over its standard deviation √2 σ
    p = stats.logistic.cdf(2 * (lam + np.sqrt(2) * sigma * at))
    density = stats.norm.pdf(at) * (at[1] - at[0])
    exact = [np.log(np.sum(p**y * (1 - p) ** (6 - y) * density)) for y in wins.tolist()]
    np.testing.assert_allclose(model.log_scores(model.estimates), exact, atol=1e-6)
    nobody = model.log_scores(np.array([lam, 0.0]))
    np.testing.assert_allclose(nobody, stats.binom.logpmf(wins, 6, stats.logistic.cdf(2 * lam))
                               - np.log(stats.binom(6, 0.5).pmf(wins) * 2.0**6), atol=1e-9)  # fmt: skip


def test_models_with_and_without_effects_are_held_against_each_other_on_the_same_judges() -> None:
    plain, mixed = llbt.fit("object + tie", judged()), fit_of("mixed")
    both = llbt.held_out([plain, mixed], folds=4, rng=4).to_frame()
    alone = llbt.held_out(plain, by="judge", folds=4, rng=4).to_frame().iloc[0]
    for name in ("log_loss", "std_error"):
        np.testing.assert_allclose(both[name].iloc[0], alone[name], atol=1e-9)
    model = unit_model(mixed, None, "by")
    parts = folds_of(model, 4, np.random.default_rng(4))
    loss = -sum(part @ model.log_scores(model.estimated(1 - part)) for part in parts) / 576
    np.testing.assert_allclose(both["log_loss"].iloc[1], loss, atol=1e-9)
    assert both["delta_log_loss"].iloc[1] == pytest.approx(loss - alone["log_loss"])
    assert both["log_loss"].iloc[1] < alone["log_loss"]  # judges differ in this table


def test_a_judgment_left_out_of_discriminations_is_a_fit_without_it() -> None:
    model = unit_model(fit_of("discrimination"), None, "by")
    place = int(np.argmax(model.counts))
    row, outcome = (x[place] for x in np.nonzero(by_judge().outcome_counts))
    counts = by_judge().outcome_counts.copy()
    counts[row, outcome] -= 1
    frame = by_judge().to_frame()
    frame[list(by_judge().count_columns)] = counts
    again = llbt.fit("object + tie", llbt.from_counts(frame, covariates=["judge", "sex"]), discrimination="judge")
    np.testing.assert_allclose(model.estimated(less(model.counts, place))[:4], again.params, atol=1e-6)


def test_levels_that_share_judges_are_left_out_of_discriminations() -> None:
    found = llbt.influence(fit_of("discrimination"), by="week").to_frame()
    rest = by_judge().select(where={"week": [0, 2]})
    again = llbt.fit("object + tie", rest, discrimination="judge")
    mine = found[found["week"].astype(str) == "1"].set_index("object")["without"]
    np.testing.assert_allclose(mine[["A", "B", "C"]], again.params[:3], atol=1e-6)


def test_a_list_and_a_pattern_left_out_are_fits_without_them() -> None:
    rest = _ranks(3).query("not (judge == 'J08' and week == 1)")
    again = llbt.fit(
        "object", llbt.from_rankings(rest, objects=list("ABCD"), clusters=["judge", "week"], object_covariates=SKILL)
    )
    model = unit_model(fit_of("rankings"), None, "by")
    judge, week = (column.values for column in fit_of("rankings").rankings.cluster_columns)
    place = int(np.flatnonzero((judge == "J08") & (week == 1))[0])
    np.testing.assert_allclose(model.estimated(less(model.counts, place)), again.params, atol=1e-7)
    found = llbt.influence(fit_of("rankings"), by="judge").to_frame()
    assert set(found["judge"]) == set(JUDGES)
    whole = unit_model(fit_of("rankings"), "judge", "by")
    moved = whole.estimated(less(whole.counts, 8)) - whole.estimates
    mine = found[found["judge"] == "J08"].set_index("object")["change"]
    np.testing.assert_allclose(mine[["A", "B", "C"]], moved, atol=1e-9)
    model = unit_model(fit_of("patterns"), None, "by")
    counts = less(model.counts, 5)
    again = llbt.fit("object + tie + dependence", answered_with(counts))
    np.testing.assert_allclose(model.estimated(counts), again.params, atol=1e-6)
    np.testing.assert_allclose(model.refitted(counts).params, again.params, atol=1e-6)


def answered_with(counts: np.ndarray) -> llbt.Patterns:
    frame = answered().to_frame().drop(columns="count").assign(n=counts)
    return llbt.from_patterns(
        frame, "comparisons", objects=list("ABC"), columns=["A:B", "A:C", "B:C"], covariates="sex", weight="n"
    )


def test_held_out_patterns_are_predicted_by_fits_without_them() -> None:
    res = fit_of("patterns")
    model = unit_model(res, None, "by")
    parts = folds_of(model, 4, np.random.default_rng(6))
    loss = 0.0
    for part in parts:
        again = llbt.fit("object + tie + dependence", answered_with(model.counts - part))
        loss -= part @ model.log_scores(again.params.to_numpy()) / 200
    found = llbt.held_out(res, folds=4, rng=6)
    assert found.to_frame()["log_loss"].iloc[0] == pytest.approx(loss, abs=1e-8)
    assert "200 patterns, each predicted whole" in found.as_text()
    sex = llbt.held_out(res, by="sex", folds=2, rng=1)
    assert sex.to_frame()["log_loss"].iloc[0] > 0


@pytest.mark.parametrize("formula", ["object + tie", "object + tie + dependence"])
def test_drawn_patterns_have_the_probabilities_of_the_model(formula: str) -> None:
    res = llbt.fit(formula, answered())
    tables = llbt.simulate(res, 40, rng=2)
    assert all(table.n_judges == 200 for table in tables)
    drawn = pd.concat([table.to_frame() for table in tables])
    columns = ["A:B", "A:C", "B:C"]
    seen = drawn[drawn["sex"] == "f"].groupby(columns)["count"].sum()
    every = pd.DataFrame([(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)], columns=columns)
    p = np.exp(_logs(res, every))
    seen = seen.reindex(pd.MultiIndex.from_frame(every)).fillna(0).to_numpy(dtype=float)
    assert stats.chisquare(seen, p * seen.sum()).pvalue > 0.001


def _logs(res: Any, every: pd.DataFrame) -> np.ndarray:
    """Return log-probabilities of patterns by the formula of the model, summed over all of them."""
    lam, gamma = {"A": res.params["object[A]"], "B": res.params["object[B]"], "C": 0.0}, res.params["tie"]
    y = every.to_numpy(dtype=float)
    pairs = [name.split(":") for name in every]
    log = y @ np.array([lam[i] - lam[j] for i, j in pairs]) + gamma * (y == 0).sum(axis=1)
    for name in ("I12.13", "I12.23", "I13.23"):
        places = [{"12": 0, "13": 1, "23": 2}[pair] for pair in name[1:].split(".")]
        log = log + res.params.get(name, 0.0) * y[:, places[0]] * y[:, places[1]]
    return log - np.log(np.exp(log).sum())


@pytest.mark.parametrize("kind", ["discrimination", "patterns"])
def test_resamples_are_refits_of_drawn_units(kind: str) -> None:
    res = fit_of(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        boot = llbt.bootstrap(res, n=4, rng=1)
        same = llbt.bootstrap(res, lambda fit: fit.params, n=4, rng=1)
    size = len(res.params)
    kept = ~np.isnan(boot.replicates[:, 0]) & ~np.isnan(same.replicates[:, 0])
    assert kept.sum() >= 2
    np.testing.assert_allclose(boot.replicates[kept, :size], same.replicates[kept], atol=1e-5)
    drawn = llbt.bootstrap(res, n=3, rng=1, resample="parametric")
    assert drawn.names == boot.names
    assert np.isfinite(drawn.replicates).any()


def test_units_that_depend_on_each_other_are_refused() -> None:
    with pytest.raises(OptionError, match="judgments of one judge depend on each other through the effects"):
        llbt.influence(fit_of("mixed"), by="week")
    with pytest.raises(OptionError, match="each judge has its own discrimination"):
        llbt.influence(fit_of("discrimination"), by="judge")
    with pytest.raises(DesignError, match="have effects of object, so all of them depend on each other"):
        llbt.influence(llbt.fit("skill + tie + (1 | object)", _with_skill()))
    with pytest.raises(OptionError, match="a covariate of the patterns"):
        llbt.held_out(fit_of("patterns"), by="judge")


def _with_skill() -> llbt.Comparisons:
    names = ["A", "B", "C", "D", "E", "F", "G", "H"]
    rng = np.random.default_rng(1)
    rows = [(i, j, *rng.multinomial(12, [0.4, 0.2, 0.4])) for n, i in enumerate(names) for j in names[n + 1 :]]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])
    skill = pd.DataFrame({"object": names, "skill": rng.normal(size=8)})
    return llbt.from_counts(frame, object_covariates=skill)
