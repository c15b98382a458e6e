"""σ for each level of a covariate of judges: beside lme4, integrals over a grid, and separate fits; refusals."""

import itertools
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import llbt
from llbt.core.columns import FloatArray
from llbt.errors import DesignError, OptionError
from llbt.fitting.effect_levels import members
from llbt.inference.expected import expected_counts
from llbt.inference.mixed_tables import _added

FOLDER = Path(__file__).parents[1] / "reference" / "models"
SIDES: Any = {"length": ("length_i", "length_j")}
FIXED = "object + order + length + "
# standard normal points and weights of a fine grid
AT = np.linspace(-8, 8, 161)
WEIGHT = stats.norm.pdf(AT) * (AT[1] - AT[0])


def fit(formula: str, c: llbt.Comparisons, **options: Any) -> llbt.MixedResults:
    res = llbt.fit(formula, c, **options)
    assert isinstance(res, llbt.MixedResults)
    return res


@cache
def reference() -> llbt.Comparisons:
    d = pd.read_csv(FOLDER / "scales_glmer.csv")
    d = d.assign(wins_i=d["y"], wins_j=1 - d["y"]).drop(columns="y")
    roles: dict[str, Any] = {"clusters": ("judge", "prompt"), "covariates": "expert", "side_covariates": SIDES}
    return llbt.from_counts(d, order=True, **roles)


@pytest.mark.parametrize("effect", ["object", "order", "length"])
def test_each_level_has_the_sigma_of_lme4(effect: str) -> None:
    expected = json.loads((FOLDER / "scales_glmer.json").read_text())[effect]
    res = fit(f"{FIXED}({effect} | gr(judge, by=expert))", reference(), approximation="laplace")
    names = [f"({effect} | judge), expert={level}" for level in ("no", "yes")]
    assert res.scales.index.tolist() == names
    _are_lme4s(res, expected, ("no", "yes"))


def test_crossed_effects_with_levels_are_those_of_lme4() -> None:
    expected = json.loads((FOLDER / "scales_glmer.json").read_text())["crossed"]
    formula = f"{FIXED}(object | gr(judge, by=expert)) + (object | prompt)"
    res = fit(formula, reference(), approximation="laplace")
    assert res.formula == formula
    _are_lme4s(res, expected, ("no", "yes", "both"))


def _are_lme4s(res: llbt.MixedResults, expected: dict[str, Any], names: tuple[str, ...]) -> None:
    order = [res.names.index(name) for name in ("object[A]", "order", "length")]
    # glmer ends its search at a relative change of 1e-6 or so of the deviance
    np.testing.assert_allclose(res.maximum.params[order], expected["coefficients"], atol=1e-4)
    np.testing.assert_allclose(res.maximum.scales / res.units, [expected["sigma"][name] for name in names], atol=3e-4)
    assert res.llf == pytest.approx(expected["logLik"], abs=1e-5)


# -- beside integrals over a grid ----------------------------------------------------------------------------


@cache
def tied() -> pd.DataFrame:
    """Judgments of three objects with ties by 14 judges, of whom 7 are experts and differ less."""
    rng = np.random.default_rng(11)
    sigma = np.where(np.arange(14) % 2, 0.9, 0.3)
    own, ties, slopes = rng.normal(0, sigma[:, None], (14, 3)), rng.normal(-0.4, sigma), rng.normal(0.4, sigma)
    rows = []
    for g, (i, j) in itertools.product(range(14), [(0, 1), (0, 2), (1, 2)] * 3):
        length = rng.integers(-2, 3, 2) / 2.0
        eta = 0.4 * (j - i) + own[g, i] - own[g, j] + slopes[g] * (length[0] - length[1])
        p = np.exp([eta, ties[g], -eta])
        outcome = rng.choice(["i", "tie", "j"], p=p / p.sum())
        rows.append(("ABC"[i], "ABC"[j], f"J{g:02d}", ["yes", "no"][g % 2], outcome, *length))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "expert", "outcome", "length_i", "length_j"])


@cache
def table() -> llbt.Comparisons:
    return llbt.from_judgments(tied(), clusters="judge", covariates="expert", side_covariates=SIDES)


@cache
def fitted(formula: str = "object + tie + (object | gr(judge, by=expert))", **options: Any) -> llbt.MixedResults:
    return fit(formula, table(), **options)


def likelihood(at: FloatArray, effect: str) -> float:
    """Σ_g log ∫ Π p over a grid of each judge's effects, at worths, γ, the slope and log σ of both levels."""
    d = tied()
    worth = dict(zip("ABC", [at[0], at[1], 0.0], strict=True))
    sigma = np.exp(at[4:])[(d["expert"] == "yes").to_numpy().astype(int), None]
    x = (d["length_i"] - d["length_j"]).to_numpy()[:, None]
    eta = (d["object_i"].map(worth) - d["object_j"].map(worth)).to_numpy()[:, None] + at[3] * x
    tie, weight = np.full_like(eta, at[2]), WEIGHT
    if effect == "object":  # two independent differences span all three
        contrasts = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
        i, j = (d[name].map({"A": 0, "B": 1, "C": 2}) for name in ("object_i", "object_j"))
        apart = (contrasts[:, i] - contrasts[:, j]).T
        grid = np.stack(np.meshgrid(AT[::4], AT[::4]), axis=0).reshape(2, -1)
        eta, weight = eta + sigma * (apart @ grid), np.outer(WEIGHT[::4], WEIGHT[::4]).ravel() * 16
        tie = np.full_like(eta, at[2])
    if effect == "tie":
        tie = tie + sigma * AT
        eta = np.broadcast_to(eta, tie.shape)
    if effect == "length":
        eta = eta + sigma * AT * x
        tie = np.full_like(eta, at[2])
    outcome = d["outcome"].to_numpy()[:, None]
    log_p = np.select([outcome == "i", outcome == "j"], [eta, -eta], tie)
    log_p = log_p - np.logaddexp.reduce([eta, tie, -eta])
    by_judge = pd.DataFrame(log_p).groupby(d["judge"].to_numpy()).sum().to_numpy()
    return float(np.log(np.exp(by_judge) @ weight).sum())


@pytest.mark.parametrize("effect", ["object", "tie", "length"])
def test_the_likelihood_is_that_of_integrals_over_a_grid(effect: str) -> None:
    """At the maximum the value agrees, and the slopes are 0 in every parameter and both log σ."""
    res = fitted(f"object + tie + length + ({effect} | gr(judge, by=expert))")
    place = [res.names.index(name) for name in ("object[A]", "object[B]", "tie", "length")]
    scales = res.maximum.scales / res.units
    at = np.concatenate([res.maximum.params[place], np.log(np.where(scales > 0, scales, 1e-6))])
    assert res.llf == pytest.approx(likelihood(at, effect), abs=1e-4)
    slopes = optimize.approx_fprime(at, lambda x: likelihood(x, effect), 1e-5)
    np.testing.assert_allclose(slopes, 0, atol=0.02)


# -- beside separate fits ------------------------------------------------------------------------------------


def _parts(d: pd.DataFrame, formula: str, **options: Any) -> list[llbt.MixedResults]:
    of_level = [d[d["expert"] == level] for level in ("no", "yes")]
    roles: dict[str, Any] = {"clusters": [name for name in ("judge", "prompt") if name in d], "side_covariates": SIDES}
    return [fit(formula, llbt.from_judgments(part, **roles), **options) for part in of_level]


@pytest.mark.parametrize("approximation", [None, "laplace"])
@pytest.mark.parametrize("effect", ["object", "tie", "length"])
def test_without_shared_parameters_the_likelihood_is_the_sum_of_two_tables(effect: str, approximation: Any) -> None:
    fixed = "object + tie + length"
    bracket = f"({effect} | gr(judge, by=expert))"
    whole = fitted(f"(object + tie + length) * expert + {bracket}", approximation=approximation)
    parts = _parts(tied(), f"{fixed} + ({effect} | judge)", approximation=approximation)
    assert whole.llf == pytest.approx(sum(part.llf for part in parts), abs=1e-3)
    for sigma, part in zip(whole.scales, parts, strict=True):
        if part.maximum.scales[0] > 0:  # from 0, the search for the maximum of the restricted likelihood may fail
            assert sigma == pytest.approx(part.scales.iloc[0], abs=2e-3)
    each = [part.maximum.scales[0] / part.units[0] for part in parts]
    np.testing.assert_allclose(whole.maximum.scales / whole.units, each, atol=1e-3)


def crossed() -> pd.DataFrame:
    """Judgments where experts judge other prompts than the others."""
    rng = np.random.default_rng(5)
    sigma = np.where(np.arange(14) % 2, 1.0, 0.6)
    own, of_prompts = rng.normal(0, sigma[:, None], (14, 3)), rng.normal(0, [[0.5], [0.9]] * 6, (12, 3))
    rows = []
    for g, p, (i, j) in itertools.product(range(14), range(12), [(0, 1), (0, 2), (1, 2)]):
        if g % 2 == p % 2:
            worth = own[g] + of_prompts[p]
            eta = 0.3 * (j - i) + worth[i] - worth[j]
            chances = np.exp([eta, -0.4, -eta])
            outcome = rng.choice(["i", "tie", "j"], p=chances / chances.sum())
            rows.append(("ABC"[i], "ABC"[j], g, p, ["yes", "no"][g % 2], outcome, 0.0, 1.0))
    columns = ["object_i", "object_j", "judge", "prompt", "expert", "outcome", "length_i", "length_j"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize("approximation", [pytest.param(None, marks=pytest.mark.slow), "laplace"])
def test_two_crossed_groupings_may_both_have_levels(approximation: Any) -> None:
    """By expectation propagation and by Laplace's approximation: the sum of two tables."""
    d = crossed()
    roles: dict[str, Any] = {"clusters": ("judge", "prompt"), "covariates": "expert", "side_covariates": SIDES}
    formula = "(object + tie) * expert + (object | gr(judge, by=expert)) + (object | gr(prompt, by=expert))"
    whole = fit(formula, llbt.from_judgments(d, **roles), approximation=approximation)
    parts = _parts(d, "object + tie + (object | judge) + (object | prompt)", approximation=approximation)
    assert whole.llf == pytest.approx(sum(part.llf for part in parts), abs=2e-3)
    each = np.stack([part.maximum.scales for part in parts], axis=1).ravel()
    np.testing.assert_allclose(whole.maximum.scales, each, atol=2e-3)
    for by in ("judge", "prompt"):
        _same_effects(whole, parts, by)


@pytest.mark.slow
def test_sampled_effects_have_levels() -> None:
    """Six objects: within the Monte Carlo error of two tables."""
    rng = np.random.default_rng(3)
    pairs = list(itertools.combinations(range(6), 2))
    rows = []
    for g in range(16):
        own = rng.normal(0, 0.4 + 0.5 * (g % 2), 6)
        for i, j in pairs:
            wins = rng.binomial(2, 1 / (1 + np.exp(-2 * (own[i] - own[j]))))
            rows.append(("ABCDEF"[i], "ABCDEF"[j], g, ["yes", "no"][g % 2], wins, 2 - wins))
    d = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "expert", "wins_i", "wins_j"])
    whole = fit(
        "object * expert + (object | gr(judge, by=expert))",
        llbt.from_counts(d, clusters="judge", covariates="expert"),
    )
    of_level = [d[d["expert"] == level] for level in ("no", "yes")]
    parts = [fit("object + (object | judge)", llbt.from_counts(part, clusters="judge")) for part in of_level]
    assert {bundle.size for bundle in whole.judges.grouped.bundles} == {5}  # not those of the other level
    assert whole.llf == pytest.approx(sum(part.llf for part in parts), abs=0.3)
    np.testing.assert_allclose(whole.maximum.scales, [part.maximum.scales[0] for part in parts], rtol=0.05)


# -- answers -------------------------------------------------------------------------------------------------


@cache
def apart(approximation: Any = None) -> tuple[llbt.MixedResults, list[llbt.MixedResults]]:
    """Return a fit whose levels share nothing, and the fits of the two tables."""
    formula = "(object + tie) * expert + (object | gr(judge, by=expert))"
    parts = _parts(tied(), "object + tie + (object | judge)", approximation=approximation)
    return fitted(formula, approximation=approximation), parts


def _same_effects(whole: llbt.MixedResults, parts: list[llbt.MixedResults], by: str) -> None:
    """Compare effects at the restricted likelihood's σ."""
    effects = llbt.judge_effects(whole, by=by).to_frame()
    for level, part in zip(("no", "yes"), parts, strict=True):
        expected = llbt.judge_effects(part, by=by).to_frame()
        mine = effects[effects["term"] == f"(object | {by}), expert={level}"]
        assert mine[[by, "object"]].to_numpy().tolist() == expected[[by, "object"]].to_numpy().tolist()
        np.testing.assert_allclose(mine["estimate"], expected["estimate"], atol=0.005)
        np.testing.assert_allclose(mine["std_error"], expected["std_error"], atol=0.005)
    assert len(effects) == sum(len(llbt.judge_effects(part, by=by).to_frame()) for part in parts)


@pytest.mark.parametrize("approximation", [None, "laplace"])
def test_effects_are_those_of_the_judges_of_a_level(approximation: Any) -> None:
    _same_effects(*apart(approximation), "judge")


@pytest.mark.parametrize("effect", ["tie", "length"])
@pytest.mark.parametrize("approximation", [None, "laplace"])
def test_judges_of_another_level_have_no_effect(effect: str, approximation: Any) -> None:
    """Each judge has one effect; its error in the array of the other level is NaN."""
    res = fitted(f"object + tie + length + ({effect} | gr(judge, by=expert))", approximation=approximation)
    effects = llbt.judge_effects(res)
    frame = effects.to_frame()
    assert sorted(frame["judge"]) == sorted(set(tied()["judge"]))
    expert = tied().drop_duplicates("judge").set_index("judge")["expert"]
    assert (frame["term"] == f"({effect} | judge), expert=" + frame["judge"].map(expert)).all()
    for k, bracket in enumerate(res.brackets):
        mine = members(bracket, res.comparisons, res.judges.levels)
        assert mine.sum() == 7
        assert (np.isnan(effects.other_errors[:, k]) == ~mine).all()
        assert (effects.others[~mine, k] == 0).all()


@pytest.mark.parametrize("approximation", [None, "laplace"])
def test_predictions_for_a_judge_are_those_of_their_level(approximation: Any) -> None:
    whole, parts = apart(approximation)
    for judge, part in zip(("J01", "J00"), parts, strict=True):
        mine, expected = (res.predict(at={"judge": judge}).to_frame() for res in (whole, part))
        assert set(mine["expert"]) == {"no" if judge == "J01" else "yes"}
        np.testing.assert_allclose(mine["estimate"], expected["estimate"], atol=0.005)
        np.testing.assert_allclose(mine["std_error"], expected["std_error"], atol=0.005)


def test_a_judge_is_not_asked_at_another_level() -> None:
    whole, _ = apart()
    with pytest.raises(OptionError, match="judge 'J01' has expert=no in the table, not 'yes'"):
        whole.predict(at={"judge": "J01", "expert": "yes"})
    with pytest.raises(OptionError, match="judge 'J01' has expert=no in the table, not 'yes'"):
        whole.predict(tied()[tied()["judge"] == "J01"].assign(expert="yes"))
    both = whole.predict(at={"judge": ["J00", "J01"]}).to_frame()
    assert both.groupby("judge")["expert"].unique().map(list).to_dict() == {"J00": ["yes"], "J01": ["no"]}


def test_a_new_judge_is_drawn_from_a_level() -> None:
    """Averages over a grid at the fit's estimates, from a frame, from at=, and on the scale of worths."""
    res = fitted("object + tie + (object | gr(judge, by=expert))")
    worth = dict(zip("ABC", [*res.params.iloc[:2], 0.0], strict=True))
    for level in ("no", "yes"):
        sigma = float(res.scales[f"(object | judge), expert={level}"])
        eta = worth["A"] - worth["B"] + np.sqrt(2) * sigma * AT
        weights = np.exp(np.stack([eta, np.full_like(eta, res.params["tie"]), -eta]))
        expected = (weights / weights.sum(axis=0)) @ WEIGHT
        frame = pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "expert": [level]})
        answer = res.predict(frame, population=True).to_frame()
        np.testing.assert_allclose(answer["estimate"], expected, atol=1e-6)
        asked = res.predict(at={"expert": level}, population=True).to_frame()
        np.testing.assert_allclose(asked.iloc[:3][["estimate", "std_error"]], answer[["estimate", "std_error"]])
        odds = llbt.pairwise(res, at={"expert": level}, population=True, scale="log_odds").to_frame()
        log_odds = odds.set_index(["object_i", "object_j"])["estimate"]["A", "B"]
        assert log_odds == pytest.approx(np.log(expected[0] / expected[2]), abs=1e-6)
    every = res.predict(at={"expert": ["no", "yes"]}, population=True).to_frame()
    assert every["expert"].tolist() == ["no"] * 9 + ["yes"] * 9


def test_the_errors_of_a_new_judge_are_those_of_their_table() -> None:
    whole, parts = apart()
    for level, part in zip(("no", "yes"), parts, strict=True):
        mine = whole.predict(at={"expert": level}, population=True).to_frame()
        expected = part.predict(population=True, at={}).to_frame()
        np.testing.assert_allclose(mine["std_error"], expected["std_error"], atol=0.005)


@pytest.mark.parametrize(
    "asked",
    [
        lambda res: res.predict(at={}, population=True),
        lambda res: llbt.worth(res, scale="log_odds", population=True),
        lambda res: llbt.leaderboard(res, at={"expert": "maybe"}, scale="log_odds", population=True),
        lambda res: llbt.pairwise(res, at="average", scale="probability", population=True),
    ],
)
def test_a_new_judge_needs_a_level(asked: Any) -> None:
    res = fitted("object + tie + (object | gr(judge, by=expert))")
    with pytest.raises(OptionError, match="σ differs by 'expert'") as refused:
        asked(res)
    typed = re.search(r"at=(\{.*\})\.", refused.value.remedy)
    assert typed is not None
    assert len(llbt.worth(res, eval(typed[1]), scale="log_odds", population=True)) == 3


def test_a_frame_needs_the_level_of_a_new_judge() -> None:
    res = fitted("object + tie + (object | gr(judge, by=expert))")
    pair = pd.DataFrame({"object_i": ["A"], "object_j": ["B"]})
    with pytest.raises(llbt.errors.LLBTError, match="no column 'expert'"):
        res.predict(pair, population=True)
    with pytest.raises(OptionError, match="'expert' has no 'maybe' in the table"):
        res.predict(pair.assign(expert="maybe"), population=True)
    assert len(res.predict(pair).to_frame()) == 3  # the average judge is the same at both levels


def test_equal_scales_are_an_interior_hypothesis() -> None:
    small, large = fitted("object + tie + (object | judge)"), fitted("object + tie + (object | gr(judge, by=expert))")
    found = llbt.anova(large, small).to_frame().iloc[1]
    assert found["df"] == 1
    assert found["statistic"] == pytest.approx(2 * (large.llf - small.llf))
    assert found["p_value"] == pytest.approx(stats.chi2.sf(found["statistic"], 1))
    called = re.search(r"llbt\.anova\(llbt\.fit\(.*?\), res\)", large.as_text())
    assert called is not None
    again = eval(called[0], {"llbt": llbt, "res": large}).to_frame().iloc[1]
    assert again["p_value"] == pytest.approx(found["p_value"])
    none = llbt.anova(large.without, large)
    assert np.isnan(none.to_frame()["p_value"].iloc[1])
    assert "n=199" in none.as_text(notes="all")


@pytest.mark.slow
def test_equal_scales_are_tested_by_simulation_too() -> None:
    small, large = fitted("object + tie + (object | judge)"), fitted("object + tie + (object | gr(judge, by=expert))")
    p = float(llbt.anova(small, large).to_frame()["p_value"].iloc[1])
    drawn = float(llbt.anova(small, large, n=99, rng=1).to_frame()["p_value"].iloc[1])
    assert drawn == pytest.approx(p, abs=0.1)


@pytest.mark.parametrize("approximation", [None, "laplace"])
def test_each_sigma_is_tested_against_zero(approximation: Any) -> None:
    """The test of a level is that of its table."""
    whole, parts = apart(approximation)
    for name, part in zip(whole.scales.index, parts, strict=True):
        mine, expected = whole.boundary_test(name), part.boundary_test()
        assert mine.statistic == pytest.approx(expected.statistic, abs=2e-3)
        assert mine.p_value == pytest.approx(expected.p_value, abs=1e-3)
    with pytest.raises(DesignError, match="2 standard deviations at once"):
        whole.boundary_test()
    with pytest.raises(OptionError, match="expected one of"):
        whole.boundary_test("(object | judge)")


def test_a_level_whose_judges_do_not_differ_has_sigma_0() -> None:
    """Its judges are the average judge; the other level has its own σ."""
    d = tied()
    same = d[d["judge"] == "J00"]
    experts = pd.concat([same.assign(judge=f"J{g:02d}") for g in range(0, 14, 2)])
    c = llbt.from_judgments(
        pd.concat([experts, d[d["expert"] == "no"]]), clusters="judge", covariates="expert", side_covariates=SIDES
    )
    res = fit("(object + tie) * expert + (object | gr(judge, by=expert))", c)
    assert res.scales.iloc[1] == 0 < res.scales.iloc[0]
    assert {bundle.size for bundle in res.judges.grouped.bundles} == {2}
    average = res.predict(at={"expert": "yes"}).to_frame()
    for judge in ("J00", "J02"):
        mine = res.predict(at={"judge": judge}).to_frame()
        np.testing.assert_allclose(mine["estimate"], average["estimate"])
    assert res.boundary_test(res.scales.index[1]).p_value == 1
    assert "another σ is 0" in res.boundary_test(res.scales.index[0]).as_text()
    assert "σ = 0 for (object | judge), expert=yes" in res.as_text()


def test_expected_counts_are_averages_over_judges_of_each_level() -> None:
    res = fitted("object + tie + length + (length | gr(judge, by=expert))")
    chances = res.predict(population=True).to_frame()["estimate"].to_numpy().reshape(-1, 3)
    totals = res.comparisons.counts.sum(axis=1)
    np.testing.assert_allclose(expected_counts(res), totals[:, None] * chances, atol=1e-9)


def test_tables_are_drawn_with_the_sigma_of_each_level() -> None:
    """Lines of experts have the standard deviation of experts."""
    res = fitted("object + tie + (tie | gr(judge, by=expert))")
    rng, lines = np.random.default_rng(1), res.comparisons.cluster_counts
    assert lines is not None
    drawn = np.stack([sum(added for _, added in _added(res, lines.rows, "new", rng)) for _ in range(400)])
    expert = res.comparisons.columns[0].values[lines.rows] == "yes"
    for level, mine in (("no", ~expert), ("yes", expert)):
        spread = drawn[:, mine].std(axis=0).mean()
        assert spread == pytest.approx(res.scales[f"(tie | judge), expert={level}"], rel=0.1, abs=1e-12)
