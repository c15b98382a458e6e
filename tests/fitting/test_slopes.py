"""Slopes of a covariate that vary between judges: beside lme4, integrals over a grid, and simulation; refusals."""

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
from llbt.errors import DesignError, FormulaError, LLBTError, OptionError

FOLDER = Path(__file__).parents[1] / "reference" / "models"
SIDES: Any = {"length": ("length_i", "length_j")}
ALONE = "object + length + (length | judge)"
BOTH = "object + length + (length | judge) + (length | prompt)"
# standard normal points and weights of a fine grid
AT = np.linspace(-8, 8, 801)
WEIGHT = stats.norm.pdf(AT) * (AT[1] - AT[0])


@cache
def frame() -> pd.DataFrame:
    d = pd.read_csv(FOLDER / "slopes_glmer.csv")
    return d.assign(wins_i=d["y"], wins_j=1 - d["y"]).drop(columns="y")


@cache
def table() -> llbt.Comparisons:
    return llbt.from_counts(frame(), clusters=("judge", "prompt"), side_covariates=SIDES, order=True)


@cache
def fitted(formula: str = ALONE, approximation: Any = None) -> llbt.MixedResults:
    res = llbt.fit(formula, table(), approximation=approximation)
    assert isinstance(res, llbt.MixedResults)
    return res


def lme4(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / "slopes_glmer.json").read_text())[name])


def test_slopes_of_judges_are_those_of_lme4_by_quadrature() -> None:
    expected, res = lme4("judges"), fitted()
    assert res.names == ("object[A]", "object[B]", "length")
    # glmer ends its search at a relative change of 1e-6 or so of the deviance
    np.testing.assert_allclose(res.maximum.params, expected["coefficients"], atol=2e-4)
    assert res.maximum.scales[0] / res.units[0] == pytest.approx(expected["sigma"]["judge"], abs=2e-4)
    assert res.llf == pytest.approx(expected["logLik"], abs=1e-4)


def test_slopes_of_judges_and_prompts_are_those_of_lme4_by_laplace() -> None:
    expected, res = lme4("crossed"), fitted(BOTH, "laplace")
    np.testing.assert_allclose(res.maximum.params, expected["coefficients"], atol=3e-4)
    scales = [expected["sigma"][name] for name in ("judge", "prompt")]
    np.testing.assert_allclose(res.maximum.scales / res.units, scales, atol=3e-4)
    assert res.llf == pytest.approx(expected["logLik"], abs=1e-4)


def test_expectation_propagation_is_the_default_of_two_groupings() -> None:
    """With few levels Laplace's σ are too small."""
    res, laplace = fitted(BOTH), fitted(BOTH, "laplace")
    assert "Expectation propagation" in res.as_text()
    assert res.llf > laplace.llf
    assert (res.maximum.scales > laplace.maximum.scales).all()
    np.testing.assert_allclose(res.maximum.params, laplace.maximum.params, atol=0.1)


def likelihood(d: pd.DataFrame, worths: FloatArray, tie: float, slope: float, sigma: float) -> float:
    """Σ_g log ∫ Π p dΦ over each judge's slope."""
    x = (d["length_i"] - d["length_j"]).to_numpy()
    place = {name: k for k, name in enumerate("ABC")}
    apart = worths[d["object_i"].map(place)] - worths[d["object_j"].map(place)]
    eta = apart[:, None] + (slope + sigma * AT) * x[:, None]
    log_total = np.logaddexp.reduce([eta, np.full_like(eta, tie), -eta])
    outcome = d["outcome"].to_numpy()[:, None]
    log_p = np.select([outcome == "i", outcome == "j"], [eta, -eta], tie) - log_total
    by_judge = pd.DataFrame(log_p).groupby(d["judge"].to_numpy()).sum().to_numpy()
    return float(np.log(np.exp(by_judge) @ WEIGHT).sum())


@cache
def tied() -> pd.DataFrame:
    """Judgments with ties, where some lengths are the same on both sides."""
    rng = np.random.default_rng(4)
    judge = np.repeat(np.arange(12), 25)
    i = rng.integers(3, size=len(judge))
    j = (i + rng.integers(1, 3, size=len(judge))) % 3
    length = rng.integers(-2, 3, (len(judge), 2)) / 2.0
    eta = 0.4 * (j - i) + (0.4 + rng.normal(0, 0.6, 12)[judge]) * (length[:, 0] - length[:, 1])
    p = np.exp(np.stack([eta, np.full_like(eta, -0.5), -eta], axis=1))
    drawn = (rng.random(len(judge))[:, None] > (p / p.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    labels = np.array(list("ABC"))
    d = pd.DataFrame({"object_i": labels[i], "object_j": labels[j], "judge": judge})
    d["outcome"] = np.array(["i", "tie", "j"])[drawn]
    return d.assign(length_i=length[:, 0], length_j=length[:, 1])


@cache
def tied_fit(formula: str = "object + tie + length + (length | judge)") -> llbt.MixedResults:
    res = llbt.fit(formula, llbt.from_judgments(tied(), clusters="judge", side_covariates=SIDES))
    assert isinstance(res, llbt.MixedResults)
    return res


def test_the_maximum_with_ties_is_that_of_integrals_over_a_grid() -> None:
    def minus(at: FloatArray) -> float:
        return -likelihood(tied(), np.array([at[0], at[1], 0.0]), at[3], at[2], float(np.exp(at[4])))

    best = optimize.minimize(minus, [0.5, 0.2, 0.4, -0.5, -0.5], method="BFGS")
    res = tied_fit()
    assert res.llf == pytest.approx(-best.fun, abs=1e-5)
    np.testing.assert_allclose(res.maximum.params, best.x[:4], atol=1e-3)
    assert res.maximum.scales[0] / res.units[0] == pytest.approx(np.exp(best.x[4]), abs=1e-3)


def asked() -> pd.DataFrame:
    rows = [("A", "B", 1.0, -1.0), ("A", "B", 0.0, 0.0), ("C", "A", -0.5, 1.5)]
    return pd.DataFrame(rows, columns=["object_i", "object_j", "length_i", "length_j"])


def test_a_new_judge_has_a_slope_drawn_from_the_population() -> None:
    """Probabilities averaged over the grid, at the fit's estimates; equal lengths leave nothing to average."""
    res = tied_fit()
    worth = dict(zip("ABC", [*res.params.iloc[:2], 0.0], strict=True))
    slopes = res.params["length"] + res.scales.iloc[0] * AT
    d = asked()
    x = (d["length_i"] - d["length_j"]).to_numpy()
    eta = (d["object_i"].map(worth) - d["object_j"].map(worth)).to_numpy()[:, None] + slopes * x[:, None]
    weights = np.exp(np.stack([eta, np.full_like(eta, res.params["tie"]), -eta]))
    expected = (weights / weights.sum(axis=0)) @ WEIGHT
    answer = res.predict(d, population=True).to_frame()
    np.testing.assert_allclose(answer["estimate"].to_numpy().reshape(3, 3), expected.T, atol=1e-6)
    average = res.predict(d).to_frame()
    np.testing.assert_allclose(answer["estimate"][3:6], average["estimate"][3:6], atol=1e-8)
    np.testing.assert_allclose(answer["std_error"][3:6], average["std_error"][3:6], rtol=1e-6)


def test_errors_of_a_new_judge_are_those_of_differences() -> None:
    """Derivatives of averaged probabilities in the estimates and log σ, by differences of refitted numbers."""
    res = tied_fit()
    covariance = res.solution.covariance
    d, steps = asked(), []

    def chances(at: FloatArray) -> FloatArray:
        x = (d["length_i"] - d["length_j"]).to_numpy()
        worth = dict(zip("ABC", [at[0], at[1], 0.0], strict=True))
        slopes = at[2] + np.exp(at[4]) * AT
        eta = (d["object_i"].map(worth) - d["object_j"].map(worth)).to_numpy()[:, None] + slopes * x[:, None]
        weights = np.exp(np.stack([eta, np.full_like(eta, at[3]), -eta]))
        return np.asarray(((weights / weights.sum(axis=0)) @ WEIGHT).T.ravel())

    at = np.append(res.solution.params, np.log(res.scales))
    for k in range(5):
        step = 1e-5 * np.eye(5)[k]
        steps.append((chances(at + step) - chances(at - step)) / 2e-5)
    jacobian = np.stack(steps, axis=1)
    expected = np.sqrt(np.einsum("rp,pq,rq->r", jacobian, covariance, jacobian))
    np.testing.assert_allclose(res.predict(d, population=True).to_frame()["std_error"], expected, rtol=1e-4)


@pytest.mark.parametrize("approximation", [None, "laplace"])
def test_a_judge_of_the_table_has_their_most_probable_slope(approximation: Any) -> None:
    c = llbt.from_judgments(tied(), clusters="judge", side_covariates=SIDES)
    res = llbt.fit("object + tie + length + (length | judge)", c, approximation=approximation)
    assert isinstance(res, llbt.MixedResults)
    effects = llbt.judge_effects(res).to_frame().set_index("judge")["estimate"]
    d = asked().assign(judge=[0, 3, 5])
    answer = res.predict(d).to_frame()["estimate"].to_numpy().reshape(3, 3)
    worth = dict(zip("ABC", [*res.params.iloc[:2], 0.0], strict=True))
    slope = res.params["length"] + effects[d["judge"]].to_numpy()
    eta = (d["object_i"].map(worth) - d["object_j"].map(worth) + slope * (d["length_i"] - d["length_j"])).to_numpy()
    weights = np.exp(np.stack([eta, np.full_like(eta, res.params["tie"]), -eta]))
    np.testing.assert_allclose(answer, (weights / weights.sum(axis=0)).T, atol=1e-8)


def test_predicted_slopes_are_the_modes_of_each_judge() -> None:
    """By scipy, for each judge alone."""
    res, d = tied_fit(), tied()
    sigma, estimates = float(res.scales.iloc[0]), res.params
    effects = llbt.judge_effects(res).to_frame().set_index("judge")
    worth = dict(zip("ABC", [*estimates.iloc[:2], 0.0], strict=True))
    for judge in (0, 7):
        mine = d[d["judge"] == judge]
        x = (mine["length_i"] - mine["length_j"]).to_numpy()
        apart = (mine["object_i"].map(worth) - mine["object_j"].map(worth)).to_numpy()

        def minus(b: float, mine: pd.DataFrame = mine, x: FloatArray = x, apart: FloatArray = apart) -> float:
            eta = apart + (estimates["length"] + b) * x
            total = np.logaddexp.reduce([eta, np.full_like(eta, estimates["tie"]), -eta])
            won = np.select([mine["outcome"] == "i", mine["outcome"] == "j"], [eta, -eta], estimates["tie"])
            return float((total - won).sum() + b**2 / (2 * sigma**2))

        best = optimize.minimize_scalar(minus, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9})
        assert effects.loc[judge, "estimate"] == pytest.approx(best.x, abs=1e-6)
        bend = (minus(best.x + 1e-4) - 2 * minus(best.x) + minus(best.x - 1e-4)) / 1e-8
        assert effects.loc[judge, "std_error"] == pytest.approx(bend**-0.5, rel=1e-4)


def test_judges_and_prompts_are_predicted_together() -> None:
    res = fitted(BOTH)
    d = asked().assign(judge=["j01", "j02", "j03"], prompt=["p03", "p04", "p05"])
    both = res.predict(d).to_frame()["estimate"].to_numpy().reshape(3, 2)
    of_judge, of_prompt = (
        llbt.judge_effects(res, by=by).to_frame().set_index(by)["estimate"] for by in ("judge", "prompt")
    )
    slope = res.params["length"] + of_judge[d["judge"]].to_numpy() + of_prompt[d["prompt"]].to_numpy()
    worth = dict(zip("ABC", [*res.params.iloc[:2], 0.0], strict=True))
    eta = (d["object_i"].map(worth) - d["object_j"].map(worth) + slope * (d["length_i"] - d["length_j"])).to_numpy()
    np.testing.assert_allclose(both[:, 0], 1 / (1 + np.exp(-2 * eta)), atol=1e-8)


def test_new_tables_have_slopes_that_vary() -> None:
    """The variance of counts between drawn tables is that of slopes, beside that of judgments."""
    from llbt.inference.mixed_tables import drawn_table

    res = tied_fit()
    c, rng = res.comparisons, np.random.default_rng(1)
    x = res.design.signed_rows().toarray()[:, res.names.index("length")]
    sums = np.array([x @ (t.counts[:, 0] - t.counts[:, 2]) for t in (drawn_table(res, rng) for _ in range(300))])
    same = [x @ (t.counts[:, 0] - t.counts[:, 2]) for t in (drawn_table(res, rng, judges="same") for _ in range(300))]
    assert len(c) == len(x)
    assert sums.std() > 1.3 * np.std(same)


def test_slopes_and_worths_vary_side_by_side() -> None:
    res = tied_fit("object + tie + length + (object + length || judge)")
    assert list(res.scales.index) == ["(object | judge)", "(length | judge)"]
    assert "(object | judge) + (length | judge)" in res.formula
    assert llbt.anova(tied_fit(), res).to_frame()["p_value"].iloc[-1] > 0.05
    names = set(llbt.judge_effects(res).to_frame()["term"])
    assert names == {"(object | judge)", "(length | judge)"}
    held = llbt.drop1(res).as_text()
    assert "length" in held


@pytest.mark.parametrize("approximation", [None, "laplace"])
def test_the_unit_of_a_covariate_does_not_matter(approximation: Any) -> None:
    """Lengths in thousandths give σ and slopes a thousand times as large, and the same answers."""
    small = tied().assign(length_i=tied()["length_i"] / 1000, length_j=tied()["length_j"] / 1000)
    formula = "object + tie + length + (length | judge)"
    one, other = (
        llbt.fit(formula, llbt.from_judgments(d, clusters="judge", side_covariates=SIDES), approximation=approximation)
        for d in (tied(), small)
    )
    assert isinstance(one, llbt.MixedResults)
    assert isinstance(other, llbt.MixedResults)
    assert other.llf == pytest.approx(one.llf, abs=1e-8)
    np.testing.assert_allclose(other.scales, 1000 * one.scales, rtol=1e-6)
    np.testing.assert_allclose(other.scale_errors, 1000 * one.scale_errors, rtol=1e-5)
    np.testing.assert_allclose(other.scale_intervals(), 1000 * one.scale_intervals(), rtol=1e-5)
    effects = [llbt.judge_effects(res).to_frame() for res in (one, other)]
    for column in ("estimate", "std_error", "conf_low", "conf_high"):
        np.testing.assert_allclose(effects[1][column], 1000 * effects[0][column], rtol=1e-4, atol=1e-6)
    d = asked()
    chances = [
        res.predict(frame, population=True).to_frame()["estimate"]
        for res, frame in ((one, d), (other, d.assign(length_i=d["length_i"] / 1000, length_j=d["length_j"] / 1000)))
    ]
    np.testing.assert_allclose(chances[1], chances[0], rtol=1e-6)
    largest = [float(str(res).split("at the maximum of the likelihood σ = ")[1].split("\n")[0]) for res in (one, other)]
    assert largest[1] == pytest.approx(1000 * largest[0], rel=1e-3)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize(("formula", "approximation"), [(ALONE, None), (ALONE, "laplace"), (BOTH, None)])
def test_very_small_and_large_units_give_the_same_fit(formula: str, approximation: Any, factor: float) -> None:
    d = frame().assign(length_i=factor * frame()["length_i"], length_j=factor * frame()["length_j"])
    c = llbt.from_counts(d, clusters=("judge", "prompt"), side_covariates=SIDES, order=True)
    res, same = llbt.fit(formula, c, approximation=approximation), fitted(formula, approximation)
    assert isinstance(res, llbt.MixedResults)
    assert res.llf == pytest.approx(same.llf, abs=1e-7)
    np.testing.assert_allclose(factor * res.scales, same.scales, rtol=1e-5)
    assert factor * res.params["length"] == pytest.approx(same.params["length"], rel=1e-6)
    assert res.pvalues["length"] == pytest.approx(same.pvalues["length"], rel=1e-5)


def test_a_joint_test_has_the_degrees_of_freedom_of_its_hypotheses() -> None:
    """One hypothesis: those of its t. Several: those of Fai & Cornelius, between the least and the largest."""
    res = fitted()
    alone = res.wald_test("length")
    assert alone.p_value == pytest.approx(res.pvalues["length"], rel=1e-9)
    df = res.estimated.df_each[[0, 2]]
    both = res.wald_test("object[A] = 0, length = 0")
    found = float(both.distribution.removeprefix("F with ").removesuffix(" denominator df"))
    assert df.min() < found < df.max()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [100, 600])
def test_a_covariate_that_never_differs_is_aliased(rows: int) -> None:
    """Without a warning of numpy, in tables of few and of many different comparisons; its slope is refused."""
    rng = np.random.default_rng(1)
    i, length = rng.integers(4, size=rows), rng.normal(size=rows).round(1)
    labels = np.array(list("ABCD"))
    d = pd.DataFrame({"object_i": labels[i], "object_j": labels[(i + 1) % 4], "judge": np.arange(rows) % 20})
    d = d.assign(outcome=rng.choice(["i", "j", "tie"], rows), length_i=length, length_j=length)
    c = llbt.from_judgments(d, clusters="judge", side_covariates=SIDES)
    res = llbt.fit("object + tie + length", c)
    assert res.aliased == ("length",)
    with pytest.raises(DesignError, match="for 0 levels of 'judge'"):
        llbt.fit("object + tie + length + (length | judge)", c)


def test_a_table_of_slopes_has_no_empty_column() -> None:
    text = llbt.judge_effects(tied_fit()).as_text()
    assert "(log-worth λ, γ, δ, slopes)" in text
    assert "Object" not in text
    assert "object" in llbt.judge_effects(tied_fit()).to_frame()


def test_a_slope_of_few_levels_is_refused() -> None:
    """Lengths that differ for two judges alone say nothing of a standard deviation."""
    d = frame().copy()
    d.loc[~d["judge"].isin(["j00", "j01"]), ["length_i", "length_j"]] = 0.0
    c = llbt.from_counts(d, clusters=("judge", "prompt"), side_covariates=SIDES, order=True)
    with pytest.raises(DesignError, match=r"differs between the objects for 2 levels of 'judge'"):
        llbt.fit(ALONE, c)


def test_a_slope_that_does_not_vary_leaves_the_restricted_likelihood_of_the_other() -> None:
    """With the other slope at σ = 0 the estimate of the first is that without the second; before, it was ML's."""
    rng = np.random.default_rng(0)
    d = tied()
    noise = rng.normal(0, 1, (2, len(d)))
    d = d.assign(size_i=2 * d["length_i"] + noise[0], size_j=2 * d["length_j"] + noise[1])
    c = llbt.from_judgments(d, clusters="judge", side_covariates={**SIDES, "size": ("size_i", "size_j")})
    both = llbt.fit("object + tie + length + size + (length + size || judge)", c)
    assert isinstance(both, llbt.MixedResults)
    if both.scales.iloc[1] == 0:
        one = llbt.fit("object + tie + length + size + (length | judge)", c)
        assert isinstance(one, llbt.MixedResults)
        assert both.scales.iloc[0] == pytest.approx(one.scales.iloc[0], rel=0.02)
    assert both.scales.iloc[0] > both.maximum.scales[0] / both.units[0]


@pytest.mark.parametrize(
    "brackets", ["(length + size || judge)", "(length | judge) + (size | judge) + (object | prompt)"]
)
def test_slopes_of_one_covariate_in_two_units_are_refused(brackets: str) -> None:
    """Their σ are not identified; slopes by two groupings are."""
    d = tied().assign(size_i=tied()["length_i"] * -0.3 + 7, size_j=tied()["length_j"] * -0.3 + 7)
    d = d.assign(prompt=np.arange(len(d)) % 9)
    c = llbt.from_judgments(d, clusters=("judge", "prompt"), side_covariates={**SIDES, "size": ("size_i", "size_j")})
    with pytest.raises(DesignError, match=r"'size' is always the same multiple of .* 'length'") as refused:
        llbt.fit(f"object + tie + length + size + {brackets}", c)
    assert refused.value.remedy == "Leave (size | judge) out."
    assert llbt.fit("object + tie + length + size + (length | judge)", c).aliased == ("size",)


@pytest.mark.slow
def test_draws_of_slopes_are_by_unit_of_the_covariate() -> None:
    """σ of the posterior is that of the fit, in the unit of the table; its prior is for the root mean square."""
    small = tied().assign(length_i=tied()["length_i"] * 10, length_j=tied()["length_j"] * 10)
    res = llbt.fit(
        "object + tie + length + (length | judge)", llbt.from_judgments(small, clusters="judge", side_covariates=SIDES)
    )
    assert isinstance(res, llbt.MixedResults)
    answer = llbt.posterior(res, draws=1000, rng=1)
    assert "the prior on σ of a slope is for the root mean square of its covariate" in "".join(answer.notes)
    median = float(np.median(answer.params[:, -1]))
    assert median == pytest.approx(res.scales.iloc[0], rel=0.4)


def test_a_name_that_is_no_word_stands_in_backticks() -> None:
    c = llbt.from_judgments(tied(), clusters="judge", side_covariates={"my length": ("length_i", "length_j")})
    res = llbt.fit("object + tie + `my length` + (`my length` | judge)", c)
    assert isinstance(res, llbt.MixedResults)
    assert res.scales.index.tolist() == ["(`my length` | judge)"]
    assert res.llf == pytest.approx(tied_fit().llf, abs=1e-8)
    assert llbt.fit(res.formula, c).llf == pytest.approx(res.llf, abs=1e-8)


@pytest.mark.parametrize(
    ("formula", "match", "error"),
    [
        ("object + (length | judge)", r"average slope of length, which the formula 'object' lacks", DesignError),
        ("object + (size | judge)", r"'size' is not a covariate of this table", DesignError),
        ("object + (objct | judge)", r"'objct' \(did you mean 'object'\?\) is not a covariate", DesignError),
        ("object + (age | judge)", r"'age' is the same for both objects, so that its slope cancels", DesignError),
        ("object + style + (style | judge)", r"'style' has levels, and slopes need a number", DesignError),
        ("object + length + (length | object)", r"cannot vary by object", FormulaError),
        ("object + length + length:judge + (length | judge)", r"together with length:judge", DesignError),
        ("object + length + (np.log(length) | judge)", r"Compute a column of it for each side", FormulaError),
        ("object + length + (0 + length | judge)", r"Leave out the constant", FormulaError),
        (
            "object + order + length + (order + length | judge)",
            r"Covariances between effects of one judge",
            FormulaError,
        ),
    ],
)
def test_slopes_that_mean_nothing_are_refused(formula: str, match: str, error: type[LLBTError]) -> None:
    place = np.arange(len(frame()))
    d = frame().assign(age=place % 3, style_i="a", style_j=np.where(place % 2 == 0, "a", "b"))
    sides = {**SIDES, "style": ("style_i", "style_j")}
    clusters, covariates = ("prompt",), ("age", "judge")
    c = llbt.from_counts(d, clusters=clusters, covariates=covariates, side_covariates=sides)
    with pytest.raises(error, match=match):
        llbt.fit(formula, c)


@pytest.mark.parametrize(
    ("lacking", "complete"),
    [
        ("object + (length | judge)", "object + length + (length | judge)"),
        ("object + (order + length || judge)", "object + order + length + (order | judge) + (length | judge)"),
    ],
)
def test_the_call_that_adds_all_averages_runs(lacking: str, complete: str) -> None:
    with pytest.raises(DesignError, match="are deviations from") as refused:
        llbt.fit(lacking, table())
    typed = re.search(r"llbt\.fit\(.*\)", refused.value.remedy)
    assert typed is not None
    assert eval(typed[0], {"llbt": llbt, "c": table()}).formula == complete


def test_one_bracket_of_objects_and_a_slope_says_that_its_covariance_cancels() -> None:
    joint, apart = (llbt.fit(f"object + length + (object + length {bar} judge)", table()) for bar in ("|", "||"))
    said = (
        "(object + length | judge) has the same likelihood as (object | judge) + (length | judge): the covariance of "
        "the two effects cancels from every comparison."
    )
    assert said in joint.summary().notes
    assert said not in apart.summary().notes
    assert joint.llf == apart.llf
    assert joint.formula == apart.formula


def test_expectation_propagation_of_other_effects_names_slopes() -> None:
    d = tied().assign(prompt=np.arange(len(tied())) % 9)
    c = llbt.from_judgments(d, clusters=("judge", "prompt"))
    with pytest.raises(OptionError, match="slopes"):
        llbt.fit("object + tie + (tie | judge) + (object | prompt)", c, approximation="ep")
