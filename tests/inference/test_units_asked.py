"""Questions to fits of every kind by their units, against refits, derivatives of kernels and closed forms."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.questions import JUDGES, SKILL, _ranks, by_judge, fit_of, judged

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference.expected import expected_counts
from llbt.inference.kinds import estimates_of
from llbt.inference.pair_residuals import pair_residuals
from llbt.inference.simulated_pairs import simulated_pairs
from llbt.inference.unit_models import unit_model
from llbt.inference.unit_tests import UnitScores
from llbt.resampling import Resampler


def ranked_without(judges: set[str]) -> pd.Series:
    rest = _ranks(3).query("judge not in @judges")
    lists = llbt.from_rankings(rest, objects=list("ABCD"), object_covariates=SKILL)
    return llbt.fit("object", lists).params


def test_the_judges_whose_lists_turn_the_order_turn_it() -> None:
    res = fit_of("rankings")
    found = llbt.fragility(res, unit="judge", change="adjacent")
    row = found.to_frame().iloc[1]  # of the second and the third
    mine = found.removals[found.removals["change"] == row["change"]]
    removed = [str(name) for name in mine["what"]]
    assert row["removed"] == len(removed) >= 1
    after, before = ranked_without(set(removed)), res.params
    first, second = f"object[{row['object']}]", f"object[{row['overtaken_by']}]"
    assert before[first] > before[second]
    assert after[second] > after[first]
    assert "exact" in found.to_frame()


def test_the_fewest_units_of_fits_with_effects_and_discriminations() -> None:
    found = llbt.fragility(fit_of("mixed"))
    assert found.unit == "judge"
    gone = set(found.removals["what"])
    rest = judged().select(where={"judge": [name for name in JUDGES if name not in gone]})
    again = llbt.fit("object + tie + (object | judge)", rest)
    row = found.to_frame().iloc[0]
    assert again.maximum.params[1] > again.maximum.params[0]
    assert (row["object"], row["overtaken_by"]) == ("A", "B")
    weeks = llbt.fragility(fit_of("discrimination"), unit="week", most=0.4)
    assert np.isnan(weeks.to_frame()["removed"].iloc[0]) or weeks.to_frame()["removed"].iloc[0] == 1


def test_scores_of_levels_are_the_derivatives_of_the_likelihood_of_lists() -> None:
    res = fit_of("rankings")
    model = unit_model(res, "sex", "by")
    score, information = UnitScores(model, 3).derivatives
    sex = res.rankings.columns[0].codes
    for g in (0, 1):
        moments = res.lists.of_lists(sex == g).moments(res.solution.params)
        np.testing.assert_allclose(score[g], moments.gradient, atol=1e-6)
        np.testing.assert_allclose(information[g], moments.information, rtol=1e-4, atol=1e-4)
    row = llbt.level_tests(res, by="sex").to_frame().set_index("sex").loc["f"]
    whole = res.solution.information
    mine = res.lists.of_lists(sex == 0).moments(res.solution.params)
    left = mine.information - mine.information @ np.linalg.inv(whole) @ mine.information
    rao = mine.gradient @ np.linalg.solve(left, mine.gradient)
    assert row["statistic"] == pytest.approx(rao, rel=1e-3)
    both = llbt.fit("object * sex", res.rankings)
    assert row["statistic"] == pytest.approx(2 * (both.llf - res.llf), rel=0.2)  # the likelihood ratio of the same
    assert row["p_value"] == pytest.approx(stats.chi2.sf(rao, 3), rel=1e-2)


@pytest.mark.parametrize("kind", ["mixed", "patterns", "discrimination"])
def test_derivatives_of_units_add_up_to_the_information_of_the_fit(kind: str) -> None:
    res = fit_of(kind)
    model = unit_model(res, None, "by")
    score, information = UnitScores(model, 1).derivatives
    assert np.abs(model.counts @ score).max() < 2e-3
    whole = np.tensordot(model.counts, information, 1)
    if kind == "patterns":
        np.testing.assert_allclose(whole, res.solution.information, rtol=1e-4, atol=1e-3)
    if kind == "mixed":  # of log σ there, of σ here
        size, sigma = len(res.maximum.params), res.maximum.scales[0]
        turn = np.diag([*np.ones(size), sigma])
        np.testing.assert_allclose(np.linalg.inv(turn @ whole @ turn), res.maximum.covariance, rtol=5e-3, atol=1e-4)


def test_levels_of_few_judges_have_no_p_value() -> None:
    found = llbt.level_tests(fit_of("mixed"), by="sex")
    assert found.to_frame()["p_value"].isna().all()
    assert "fewer than 20 judges" in found.as_text()
    with pytest.raises(OptionError, match="judgments of one judge depend on each other"):
        llbt.level_tests(fit_of("mixed"), by="week")


@pytest.mark.slow
def test_simulated_residuals_of_pairs_are_those_of_the_closed_form() -> None:
    res = llbt.fit("object + tie", judged())
    found = simulated_pairs(res, 300, Resampler.of("residuals", 1, 1))
    z = found.off(np.array([1.0, 0.0, -1.0])).z
    names = [(found.objects[i], found.objects[j]) for i, j in found.ends]
    exact = pair_residuals(res, 20).to_frame().set_index(["object_i", "object_j"])["residual"]
    np.testing.assert_allclose(z, [exact[name] for name in names], rtol=0.2, atol=0.1)


@pytest.mark.slow
def test_lists_fit_as_the_test_of_lists_says() -> None:
    res = fit_of("rankings")
    found = llbt.goodness_of_fit(res, n=199, rng=1).to_frame().set_index(["object_i", "object_j", "outcome"])["z"]
    drawn = llbt.residuals(res, n=60).to_frame()
    assert set(drawn["judgments"]) == {48}
    z = drawn.set_index(["object_i", "object_j"])["residual"]
    for pair in z.index:  # scores in place of refits
        np.testing.assert_allclose(found[(*pair, "i")], z[pair], atol=0.8)


@pytest.mark.slow
def test_a_circle_that_no_effects_explain_is_found() -> None:
    rng = np.random.default_rng(4)
    rows = []
    for judge in range(14):
        b = rng.normal(0, 0.3, 3)
        for i, j in ((0, 1), (1, 2), (0, 2)):
            wins = rng.binomial(6, special.expit(2 * (b[i] - b[j] + (0.7 if (i, j) != (0, 2) else -0.7))))
            rows.append(("ABC"[i], "ABC"[j], wins, 6 - wins, judge))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "judge"])
    res = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    found = llbt.goodness_of_fit(res, n=19, rng=1)
    assert found.test.p_value == pytest.approx(0.05)
    assert found.to_frame()["z"].abs().min() > 4
    assert llbt.intransitivity(res).circular_triads == 1


def test_too_few_tables_are_refused_and_cells_are_of_judgments() -> None:
    with pytest.raises(OptionError, match="expected at least 15, three for each"):
        llbt.goodness_of_fit(fit_of("mixed"), n=9)
    with pytest.raises(OptionError, match="judgments in its cells depend on each other"):
        llbt.residuals(fit_of("mixed"), of="cells")


@pytest.mark.slow
def test_drawn_tables_without_finite_estimates_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two refits are made to fail."""
    refits = []

    def failing(res: object, data: object) -> np.ndarray:
        refits.append(data)
        if len(refits) in (2, 5):
            raise DesignError("the drawn table separates")
        return estimates_of(res, data)

    monkeypatch.setattr("llbt.inference.simulated_pairs.summary_of", failing)
    found = llbt.goodness_of_fit(fit_of("patterns"), n=40, rng=1)
    assert found.test.distribution == "38 drawn tables"
    assert found.notes == ("2 of 40 drawn tables left out: no finite estimates.",)
    assert found.as_text().index("2 of 40") < found.as_text().index("Observed")


def test_choices_are_refits_without_a_level() -> None:
    found = llbt.sensitivity(fit_of("rankings"), leave_out="judge")
    worst = found.refits[found.refits["choice"] == "without one judge"].set_index("left_out")
    for judge in JUDGES[:3]:
        after = ranked_without({judge})
        leader = max([("object[D]", 0.0), *after.items()], key=lambda item: item[1])[0]
        assert f"object[{worst.loc[judge, 'leader']}]" == leader
    mixed = llbt.sensitivity(fit_of("mixed"), leave_out="object")
    assert "ties split" in set(mixed.refits["choice"])
    with pytest.raises(OptionError, match="leave_out='object': rankings and patterns cannot"):
        llbt.sensitivity(fit_of("patterns"), leave_out="object")


def test_expected_shares_are_averaged_over_judges() -> None:
    res = fit_of("mixed")
    by_table = res.predict(population=True).to_frame()
    means = expected_counts(res)
    np.testing.assert_allclose(means / means.sum(axis=1, keepdims=True),
                               by_table["estimate"].to_numpy().reshape(means.shape), atol=1e-9)  # fmt: skip
    found = llbt.intransitivity(fit_of("discrimination"))
    p = fit_of("discrimination").means
    y = by_judge().outcome_counts
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = 2 * np.nansum(np.where(y > 0, y * np.log(y / p), 0.0))
    np.testing.assert_allclose(found.deviances.sum() / 2, deviance, rtol=1e-9)


def test_a_ranking_of_two_tells_what_a_judgment_tells() -> None:
    res = fit_of("rankings")
    found = llbt.planning.next_pairs(res, 1, goal={"A": 1.0, "B": -1.0}).to_frame().iloc[0]
    lam = dict(zip("ABCD", [*res.params, 0.0], strict=True))
    i, j = found["object_i"], found["object_j"]
    p = special.expit(2 * (lam[i] - lam[j]))
    row = np.array([float(o == i) - float(o == j) for o in "ABC"])
    v, v1 = (np.linalg.inv(res.solution.information + more * 4 * p * (1 - p) * np.outer(row, row)) for more in (0, 1))
    contrast = np.array([1.0, -1.0, 0.0])
    assert found["gain"] == pytest.approx(contrast @ (v - v1) @ contrast)
    ranks = pd.DataFrame({"A": [1, 2, 1, 3, 1], "B": [2, 1, 1, 1, 3], "C": [3, 3, 2, 2, 2]})
    tied = llbt.fit("object + tie", llbt.from_rankings(ranks, objects=list("ABC")))
    with pytest.raises(DesignError, match="rankings with ties or of best-worst sets"):
        llbt.planning.next_pairs(tied)


def test_pairs_of_patterns_have_no_probability_where_answers_depend() -> None:
    res = fit_of("patterns")
    with pytest.raises(OptionError, match=r"odds given the judge.s other answers.*res\.predict\(\)"):
        llbt.pairwise(res, scale="probability")
    with pytest.raises(OptionError, match="odds given the judge's other answers"):
        llbt.plot.probabilities(res, ax=plt.figure().subplots())
    plt.close()
    assert "given all other answers of the judge" in llbt.pairwise(res).as_text()
    alone = llbt.fit("object + tie", res.patterns)
    chance = llbt.pairwise(alone, scale="probability").to_frame()["estimate"].iloc[0]
    said = alone.predict().to_frame().iloc[:3].set_index("outcome")["estimate"]
    assert chance == pytest.approx(said["i"] / (said["i"] + said["j"]))
