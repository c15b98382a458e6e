"""What a fit knows: statsmodels' names, tests of hypotheses, predictions, and no side effects."""

import copy
import dataclasses
import itertools
import pickle
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.fits import fit_by

import llbt
from llbt.fitting.specification import Specification

TABLE1 = llbt.load_dataset("dras_table1")


@pytest.fixture(scope="module")
def pooled():
    return llbt.fit("object + tie", TABLE1.pool())


@pytest.fixture(scope="module")
def by_judge():
    return llbt.fit("object * judge + tie", TABLE1)


def small_frame(objects, seed=4, **columns):
    """Every presentation of every pair once per combination of the columns, with random counts."""
    rng = np.random.default_rng(seed)
    rows = [
        {"object_i": i, "object_j": j}
        | dict(zip(columns, values, strict=True))
        | dict(zip(("wins_i", "ties", "wins_j"), map(int, rng.integers(1, 9, 3)), strict=True))
        for i, j in itertools.permutations(objects, 2)
        for values in itertools.product(*columns.values())
    ]
    return pd.DataFrame(rows)


def small(objects="abc", *, order=True, object_covariates=None, **columns):
    frame = small_frame(objects, **columns)
    return llbt.from_counts(frame, covariates=list(columns), order=order, object_covariates=object_covariates)


# -- statsmodels' names -----------------------------------------------------------------------------------


def test_every_attribute_has_the_value_of_the_full_poisson_glm(by_judge):
    res, glm = by_judge, by_judge.to_glm()
    p, n, s = len(res.params), 72, 24
    close = {"rtol": 1e-7, "atol": 1e-9}
    np.testing.assert_allclose(res.params, glm.params[:p], **close)
    np.testing.assert_allclose(res.bse, glm.bse[:p], **close)
    np.testing.assert_allclose(res.tvalues, glm.tvalues[:p], **close)
    np.testing.assert_allclose(res.pvalues, glm.pvalues[:p], **close)
    np.testing.assert_allclose(res.cov_params(), glm.cov_params().iloc[:p, :p], **close)
    np.testing.assert_allclose(res.conf_int(), glm.conf_int()[:p], **close)
    np.testing.assert_allclose(res.conf_int(alpha=0.2), glm.conf_int(alpha=0.2)[:p], **close)
    np.testing.assert_allclose(res.fittedvalues, glm.fittedvalues, **close)
    np.testing.assert_allclose(res.resid_response, glm.resid_response, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(res.resid_pearson, glm.resid_pearson, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(res.resid_deviance, glm.resid_deviance, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(res.hat_diag, glm.get_hat_matrix_diag(), rtol=1e-6, atol=1e-9)
    for name in ("deviance", "pearson_chi2"):
        assert getattr(res, name) == pytest.approx(getattr(glm, name), rel=1e-9), name
    for name, theirs in (("llf", "llf"), ("aic", "aic"), ("bic", "bic_llf")):
        assert getattr(res, f"{name}_poisson") == pytest.approx(getattr(glm, theirs), rel=1e-9), name
    assert (res.n_cells, s + res.df_model - 1, res.df_resid, res.df_null) == (n, glm.df_model, glm.df_resid, n - s)
    assert (res.nobs, res.df_model, res.df_resid) == (960, p, n - s - p)
    assert res.converged is True
    assert res.n_iter > 0
    assert res.gradient_norm < 1e-6
    assert res.hat_diag.sum() == pytest.approx(s + p)


@pytest.mark.parametrize("formula", ["object + tie", "object * judge + tie * judge"])
def test_the_null_deviance_has_nuisance_alone(formula):
    res = llbt.fit(formula, TABLE1)
    total = TABLE1.counts.sum(axis=1, keepdims=True)
    y = TABLE1.counts
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(y > 0, y * np.log(y / (total / 3)), 0)
    assert res.null_deviance == pytest.approx(2 * part.sum(), rel=1e-12)
    assert res.null_deviance == pytest.approx(1438.7032, abs=5e-5)
    assert res.df_null == 48


def test_the_multinomial_log_likelihood(pooled):
    y, m = pooled.counts, pooled.fittedvalues.to_numpy().reshape(6, 3)
    by_hand = sum(
        stats.multinomial.logpmf(row, row.sum(), fitted / fitted.sum()) for row, fitted in zip(y, m, strict=True)
    )
    assert pooled.llf_multinomial == pytest.approx(by_hand, rel=1e-10)
    poisson = stats.poisson.logpmf(y, m).sum()
    assert pooled.llf_poisson == pytest.approx(poisson, rel=1e-12)
    assert pooled.aic_poisson == pytest.approx(-2 * poisson + 2 * (6 + 4), rel=1e-12)
    judgments = (y * np.log(m / y.sum(axis=1, keepdims=True))).sum()
    assert pooled.llf == pytest.approx(judgments, rel=1e-12)
    assert pooled.aic == pytest.approx(-2 * judgments + 2 * 4, rel=1e-12)
    assert pooled.bic == pytest.approx(-2 * judgments + np.log(960) * 4, rel=1e-12)


def test_a_split_of_the_table_that_no_model_uses_leaves_the_difference_of_bic():
    """By R's, on cells, it moves by df · log(ratio of the cells): the day adds cells and no information."""
    rng = np.random.default_rng(2)
    rows = [("ab"[k % 2] + "x", "c", f"d{k % 7}", *rng.multinomial(9, [0.5, 0.2, 0.3])) for k in range(28)]
    rows += [("ax", "bx", f"d{k}", *rng.multinomial(9, [0.4, 0.2, 0.4])) for k in range(7)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "day", "wins_i", "ties", "wins_j"])
    split = llbt.from_counts(frame, covariates="day")
    change = [
        llbt.anova(llbt.fit("tie", c), llbt.fit("object + tie", c)).to_frame()["delta_bic"].iloc[1]
        for c in (split, split.pool())
    ]
    assert change[0] == pytest.approx(change[1], rel=1e-9)
    by_cells = [
        llbt.fit("object + tie", c).to_glm().bic_llf - llbt.fit("tie", c).to_glm().bic_llf
        for c in (split, split.pool())
    ]
    assert by_cells[0] - by_cells[1] == pytest.approx(2 * np.log(7), rel=1e-6)


def test_what_bic_takes_the_judgments_for_is_said():
    plain = llbt.model_table([llbt.fit("object + tie", TABLE1)]).notes
    assert not any("clustering" in note or "fractional" in note for note in plain)
    clustered = llbt.fit("object + tie", TABLE1, cov_type="cluster", groups="judge")
    assert any(note == "AIC and BIC ignore clustering." for note in llbt.model_table([clustered]).notes)
    halves = TABLE1.to_frame()
    halves[["wins_i", "ties", "wins_j"]] *= 0.5
    weighted = llbt.from_counts(halves, covariates="judge")
    table = llbt.anova(llbt.fit("tie", weighted), llbt.fit("object + tie", weighted))
    assert any("Counts are fractional: AIC and BIC depend on the scale" in note for note in table.notes)


def test_tables_are_labelled_by_parameter_and_cell(by_judge):
    names = list(by_judge.names)
    for series in (by_judge.params, by_judge.bse, by_judge.tvalues, by_judge.pvalues):
        assert series.index.tolist() == names
    assert by_judge.cov_params().index.tolist() == by_judge.cov_params().columns.tolist() == names
    assert by_judge.conf_int().columns.tolist() == ["conf_low", "conf_high"]
    fitted = by_judge.fittedvalues
    assert fitted.index.names == ["object_i", "object_j", "judge", "outcome"]
    assert fitted.loc[("A", "B", "J3", "i")] == by_judge.fittedvalues.to_numpy()[2 * 3]
    wins = TABLE1.to_frame().set_index(["object_i", "object_j", "judge"])
    residual = by_judge.resid_response
    for (i, j, judge), row in wins.iterrows():
        for outcome, name in (("i", "wins_i"), ("tie", "ties"), ("j", "wins_j")):
            cell = (i, j, judge, outcome)
            assert fitted.loc[cell] + residual.loc[cell] == pytest.approx(row[name], abs=1e-9)


def test_fitted_counts_reproduce_the_sufficient_statistics(pooled):
    y, m = pooled.counts, pooled.fittedvalues.to_numpy().reshape(6, 3)
    np.testing.assert_allclose(m.sum(axis=1), y.sum(axis=1), rtol=1e-12)
    assert m[:, 1].sum() == pytest.approx(y[:, 1].sum(), rel=1e-9)
    for k in range(4):
        sign = np.select([TABLE1.pool().pairs[:, 0] == k, TABLE1.pool().pairs[:, 1] == k], [1, -1])
        assert sign @ (m[:, 0] - m[:, 2]) == pytest.approx(sign @ (y[:, 0] - y[:, 2]), abs=1e-7)


def test_to_frame_has_the_columns_of_every_result(by_judge):
    frame = by_judge.to_frame()
    assert frame.columns.tolist() == [
        *("term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high")
    ]
    assert frame["term"].tolist() == list(by_judge.names)
    np.testing.assert_array_equal(frame["estimate"], by_judge.params)
    np.testing.assert_array_equal(frame["conf_high"], by_judge.conf_int()["conf_high"])


def test_conf_int_by_hand_and_its_errors(pooled):
    z = stats.norm.ppf(0.95)
    expected = np.column_stack([pooled.params - z * pooled.bse, pooled.params + z * pooled.bse])
    np.testing.assert_allclose(pooled.conf_int(0.1), expected, rtol=1e-12)
    np.testing.assert_allclose(pooled.conf_int(alpha=0.1, method="wald"), expected, rtol=1e-12)
    with pytest.raises(llbt.errors.OptionError, match=r"method='magic'"):
        pooled.conf_int(method="magic")
    for alpha in (0, 1, 95, -0.1):
        with pytest.raises(llbt.errors.OptionError, match="alpha"):
            pooled.conf_int(alpha=alpha)


def test_methods_are_options_with_names():
    with pytest.raises(llbt.errors.OptionError, match=r"method='newton'; expected 'auto', 'glm' or 'eliminate'"):
        fit_by("object + tie", TABLE1, method="newton")
    assert fit_by("object + tie", TABLE1, method="eliminate").solution.solver == "eliminate"
    assert fit_by("object + tie", TABLE1, method="glm").solution.solver == "glm"


def test_data_has_to_be_comparisons():
    with pytest.raises(llbt.errors.OptionError, match="data is of type DataFrame"):
        llbt.fit("object", TABLE1.to_frame())


def asked_for(res):
    asked = res.specification
    return asked.formula, asked.reference, dict(asked.fixed), asked.method


def test_fit_is_short_for_from_formula_and_fit(pooled):
    model = llbt.LLBT.from_formula("object + tie", TABLE1.pool(), reference="A")
    res = model.fit(method="eliminate", fixed={"tie": -1.5})
    assert asked_for(res) == ("object + tie", "A", {"tie": -1.5}, "eliminate")
    assert fit_by("object + tie", TABLE1.pool(), reference="A", method="eliminate", fixed={"tie": -1.5}).params.equals(
        res.params
    )
    assert asked_for(pooled) == ("object + tie", None, {}, "auto")
    assert pooled.comparisons == TABLE1.pool()


# -- held and aliased parameters --------------------------------------------------------------------------


def test_held_parameters_have_no_standard_error_and_no_df(pooled):
    res = llbt.fit("object + tie", TABLE1.pool(), fixed={"tie": float(pooled.params["tie"])})
    np.testing.assert_allclose(res.params, pooled.params, atol=1e-8)
    assert res.deviance == pytest.approx(pooled.deviance, abs=1e-9)
    assert res.df_resid == pooled.df_resid + 1
    assert np.isnan(res.bse["tie"])
    assert np.isnan(res.pvalues["tie"])
    assert res.fixed == {"tie": pooled.params["tie"]}
    assert res.aliased == ()
    assert (res.cov_params().loc["tie"] == 0).all()
    away = llbt.fit("object + tie", TABLE1.pool(), fixed={"tie": -0.5})
    assert away.params["tie"] == -0.5
    assert away.deviance > pooled.deviance
    without = llbt.fit("object + tie", TABLE1.pool(), fixed={"tie": 0})
    with pytest.warns(llbt.errors.TiesWarning):
        plain = llbt.fit("object", TABLE1.pool())
    np.testing.assert_allclose(without.params[:3], plain.params, atol=1e-9)
    assert without.df_resid == plain.df_resid


def test_holding_errors():
    with pytest.raises(
        llbt.errors.OptionError, match=r"fixed: no parameter 'ties'; expected names among 'object\[A\]'"
    ):
        llbt.fit("object + tie", TABLE1, fixed={"ties": 0.0})
    for value in (np.inf, np.nan, "0"):
        with pytest.raises(llbt.errors.OptionError, match="finite number"):
            llbt.fit("object + tie", TABLE1, fixed={"tie": value})


@pytest.fixture(scope="module")
def aliased():
    objects = pd.DataFrame({"object": list("abcd"), "price": [1.0, 2.0, 4.0, 9.0]})
    return llbt.fit("object + price + tie", small("abcd", object_covariates=objects))


def test_aliased_parameters_are_na_as_in_r(aliased):
    assert aliased.aliased == ("price",)
    for series in (aliased.params, aliased.bse, aliased.tvalues, aliased.pvalues):
        assert np.isnan(series["price"])
        assert series.drop("price").notna().all()
    assert aliased.cov_params()["price"].isna().all()
    assert aliased.df_resid == llbt.fit("object + tie", aliased.comparisons).df_resid
    text = aliased.summary().as_text()
    assert "Note: 1 not defined because of singularities (NA): price.\n" in text
    assert not any(line.startswith("price") for line in text.split("\n"))  # a count in place of a row of nothing
    assert aliased.to_frame()["term"].tolist() == list(aliased.names)


def test_the_later_of_two_aliased_terms_is_na():
    objects = pd.DataFrame({"object": list("abc"), "p": [1.0, 2.0, 4.0], "q": [2.0, 4.0, 8.0]})
    c = small("abc", object_covariates=objects)
    assert llbt.fit("p + q + tie", c).aliased == ("q",)
    assert llbt.fit("q + p + tie", c).aliased == ("p",)


# -- t_test and wald_test ---------------------------------------------------------------------------------


def by_hand(res, coefficients, right=0.0):
    """Estimate and standard error of one combination, term by term."""
    value = sum(k * res.params[name] for name, k in coefficients.items()) - right
    cov = res.cov_params()
    variance = sum(a * b * cov.loc[m, n] for m, a in coefficients.items() for n, b in coefficients.items())
    return value, np.sqrt(variance)


@pytest.mark.parametrize(
    ("hypothesis", "coefficients", "right"),
    [
        ("object[A] = object[B]", {"object[A]": 1, "object[B]": -1}, 0),
        ("object[A] - object[B]", {"object[A]": 1, "object[B]": -1}, 0),
        ("object[A]", {"object[A]": 1}, 0),
        ("object[A] = 0.25", {"object[A]": 1}, 0.25),
        ("object[A] - 2 * tie = 1", {"object[A]": 1, "tie": -2}, 1),
        ("tie = -1.5", {"tie": 1}, -1.5),
        ("object[A] = object[D]", {"object[A]": 1}, 0),  # the reference counts as 0
        ("object[D] = object[B]", {"object[B]": -1}, 0),
        ("object[A] + object[B] + object[C] + object[D]", {"object[A]": 1, "object[B]": 1, "object[C]": 1}, 0),
        ("(object[A] + object[D]) / 2 = object[B]", {"object[A]": 0.5, "object[B]": -1}, 0),
    ],
)
def test_one_hypothesis_by_hand(pooled, hypothesis, coefficients, right):
    estimate, error = by_hand(pooled, coefficients, right)
    (row,) = pooled.t_test(hypothesis).to_frame().to_dict("records")
    assert row["term"] == hypothesis
    assert row["estimate"] == pytest.approx(estimate, rel=1e-12)
    assert row["std_error"] == pytest.approx(error, rel=1e-12)
    assert row["statistic"] == pytest.approx(estimate / error, rel=1e-12)
    assert row["p_value"] == pytest.approx(2 * stats.norm.sf(abs(estimate / error)), rel=1e-10)
    half = stats.norm.ppf(0.975) * error
    assert (row["conf_low"], row["conf_high"]) == pytest.approx((estimate - half, estimate + half), rel=1e-10)
    test = pooled.wald_test(hypothesis)
    assert test.statistic == pytest.approx((estimate / error) ** 2, rel=1e-10)
    assert test.df == 1
    assert test.p_value == pytest.approx(stats.chi2.sf((estimate / error) ** 2, 1), rel=1e-10)


def test_confidence_of_the_intervals(pooled):
    estimate, error = by_hand(pooled, {"object[A]": 1})
    table = pooled.t_test("object[A]", confidence=0.8)
    half = stats.norm.ppf(0.9) * error
    assert table.to_frame()[["conf_low", "conf_high"]].iloc[0].tolist() == pytest.approx(
        [estimate - half, estimate + half]
    )
    assert "80 %" in table.as_text()


@pytest.mark.parametrize("confidence", [95, 1, 0, -0.5, float("nan")])
def test_a_confidence_is_a_probability(pooled, confidence):
    with pytest.raises(llbt.errors.OptionError, match="confidence"):
        pooled.t_test("object[A]", confidence=confidence)


def test_several_hypotheses_by_commas_lists_and_arrays(pooled):
    text = pooled.t_test("object[A] = object[B], tie = -1").to_frame()
    listed = pooled.t_test(["object[A] = object[B]", "tie = -1"]).to_frame()
    assert text["term"].tolist() == listed["term"].tolist() == ["object[A] = object[B]", "tie = -1"]
    pd.testing.assert_frame_equal(text, listed)
    array = pooled.t_test(np.array([[1, -1, 0, 0], [0, 0, 0, 1]])).to_frame()
    np.testing.assert_allclose(array["estimate"] + [0, 1], text["estimate"], rtol=1e-12)
    np.testing.assert_allclose(array["std_error"], text["std_error"], rtol=1e-12)
    one = pooled.t_test([1, -1, 0, 0]).to_frame()
    assert one["estimate"].tolist() == array["estimate"].tolist()[:1]


def test_a_chain_of_equals_signs_is_named_by_its_equations(pooled):
    chain, apart = "object[A] = object[B] = tie = 0", "object[A] = object[B], object[B] = tie, tie = 0"
    assert pooled.wald_test(chain) == pooled.wald_test(apart)
    assert pooled.t_test(chain).to_frame().equals(pooled.t_test(apart).to_frame())
    assert pooled.wald_test(chain).null == apart


def test_joint_wald_test_by_hand(pooled):
    matrix = np.array([[1, -1, 0, 0], [0, 1, -1, 0.0]])
    difference = matrix @ pooled.params.to_numpy()
    expected = difference @ np.linalg.inv(matrix @ pooled.cov_params().to_numpy() @ matrix.T) @ difference
    for hypothesis in ("object[A] = object[B], object[B] = object[C]", matrix, "object[A] = object[B] = object[C]"):
        test = pooled.wald_test(hypothesis)
        assert test.statistic == pytest.approx(expected, rel=1e-10)
        assert test.df == 2
        assert test.p_value == pytest.approx(stats.chi2.sf(expected, 2), rel=1e-9)
        assert test.distribution == "chi2"
    everything = pooled.wald_test(np.eye(4))
    params = pooled.params.to_numpy()
    assert everything.statistic == pytest.approx(params @ np.linalg.inv(pooled.cov_params()) @ params, rel=1e-10)


def test_interactions_and_their_references_may_be_named(by_judge):
    estimate, error = by_hand(by_judge, {"object[A]:judge[J3]": 1})
    for hypothesis in ("object[A]:judge[J3]", "object[A]:judge[J3] = object[A]:judge[J1]"):
        row = by_judge.t_test(hypothesis).to_frame().iloc[0]
        assert (row["estimate"], row["std_error"]) == pytest.approx((estimate, error), rel=1e-12)
    assert by_judge.t_test("object[D]:judge[J2] = object[B]").to_frame()["estimate"].iloc[0] == pytest.approx(
        -by_judge.params["object[B]"]
    )


def test_names_made_by_functions_hold_commas_and_brackets():
    res = llbt.fit("C(object, Treatment('B')) + tie", TABLE1.pool())
    a, c = "C(object, Treatment('B'))[A]", "C(object, Treatment('B'))[C]"
    estimate, error = by_hand(res, {a: 1, c: -1})
    for hypothesis in (f"{a} = {c}", [f"{a} = {c}"]):
        row = res.t_test(hypothesis).to_frame().iloc[0]
        assert (row["estimate"], row["std_error"]) == pytest.approx((estimate, error), rel=1e-10)
    both = res.t_test(f"{a} = {c}, tie = 0").to_frame()
    np.testing.assert_allclose(both["estimate"], [estimate, res.params["tie"]], rtol=1e-10)
    named = res.t_test(f"{a} = C(object, Treatment('B'))[B]").to_frame()
    assert named["estimate"].iloc[0] == pytest.approx(res.params[a], rel=1e-12)


AWKWARD = ["a,b", "c]", "[d", "e = f", "g + 1", "tie", "2 * h", "j,k,l", "ü", "x:y"]


def test_object_names_with_commas_brackets_and_signs():
    res = llbt.fit("object + tie", small(AWKWARD, order=False))
    assert res.design.reference == "ü"
    others = [name for name in AWKWARD if name != "ü"]
    for m, n in itertools.pairwise(others):
        estimate, error = by_hand(res, {f"object[{m}]": 1, f"object[{n}]": -1})
        row = res.t_test(f"object[{m}] = object[{n}]").to_frame().iloc[0]
        assert (row["estimate"], row["std_error"]) == pytest.approx((estimate, error), rel=1e-9)
        pair = res.t_test(f"object[{m}] = object[ü], object[{n}] - tie").to_frame()
        expected = [res.params[f"object[{m}]"], res.params[f"object[{n}]"] - res.params["tie"]]
        np.testing.assert_allclose(pair["estimate"], expected, rtol=1e-9)
    assert res.wald_test(", ".join(f"object[{m}] = 0" for m in others)).df == len(others)


def test_hypotheses_that_cannot_be_read(pooled):
    with pytest.raises(llbt.errors.OptionError, match=r"object\[Z\]"):
        pooled.t_test("object[A] = object[Z]")
    with pytest.raises(llbt.errors.OptionError, match="hypothesis"):
        pooled.t_test("object[A] *")
    with pytest.raises(llbt.errors.OptionError, match="hypothesis"):
        pooled.t_test("object[A] * tie")
    with pytest.raises(llbt.errors.OptionError, match="4"):
        pooled.t_test(np.ones((1, 5)))
    for empty in ("", " ", []):
        with pytest.raises(llbt.errors.OptionError, match="hypothesis"):
            pooled.t_test(empty)


def test_dependent_hypotheses_are_refused(pooled):
    with pytest.raises(llbt.errors.OptionError, match=r"3 hypotheses .*rank 2"):
        pooled.wald_test("object[A] = object[B], object[B] = object[C], object[A] = object[C]")


def test_aliased_parameters_cannot_be_tested(aliased):
    for test in (aliased.t_test, aliased.wald_test):
        with pytest.raises(llbt.errors.DesignError, match=r"'price' is aliased \(NA\)"):
            test("price = 0")
        with pytest.raises(llbt.errors.DesignError, match="aliased"):
            test([0, 0, 0, 1, 0])
    assert aliased.t_test("object[a] = 0").to_frame()["std_error"].iloc[0] == aliased.bse["object[a]"]


def test_a_held_parameter_is_a_known_number():
    res = llbt.fit("object + tie", TABLE1.pool(), fixed={"tie": -1.5})
    row = res.t_test("object[A] - tie").to_frame().iloc[0]
    assert row["estimate"] == pytest.approx(res.params["object[A]"] + 1.5)
    assert row["std_error"] == pytest.approx(res.bse["object[A]"])


# -- predict ----------------------------------------------------------------------------------------------


def outcome_probabilities(worth_i, worth_j, tie, order=0.0):
    weights = np.exp([worth_i - worth_j + order, tie, worth_j - worth_i - order])
    return weights / weights.sum()


def test_predictions_of_the_own_rows_are_fitted_shares(by_judge):
    frame = by_judge.predict().to_frame()
    assert frame.columns[:5].tolist() == ["object_i", "object_j", "judge", "outcome", "estimate"]
    assert len(frame) == 72
    assert frame["outcome"].tolist() == ["i", "tie", "j"] * 24
    total = np.repeat(TABLE1.totals, 3)
    np.testing.assert_allclose(frame["estimate"] * total, by_judge.fittedvalues, rtol=1e-12)
    first = by_judge.params["object[A]"] + by_judge.params["object[A]:judge[J2]"]
    second = by_judge.params["object[B]"] + by_judge.params["object[B]:judge[J2]"]
    expected = outcome_probabilities(first, second, by_judge.params["tie"])
    np.testing.assert_allclose(frame["estimate"][3:6], expected, rtol=1e-10)


def test_predictions_at_values_are_of_all_pairs(by_judge):
    frame = by_judge.predict(at={"judge": "J3"}).to_frame()
    assert frame[["object_i", "object_j"]].drop_duplicates().to_numpy().tolist() == [
        list(pair) for pair in itertools.combinations("ABCD", 2)
    ]
    assert set(frame["judge"]) == {"J3"}
    own = by_judge.predict().to_frame().query("judge == 'J3'").reset_index(drop=True)
    pd.testing.assert_frame_equal(frame[own.columns], own)
    several = by_judge.predict(at={"judge": ["J4", "J1"]}).to_frame()
    assert several["judge"].unique().tolist() == ["J4", "J1"]
    everything = by_judge.predict(at={}).to_frame()
    assert everything["judge"].unique().tolist() == ["J1", "J2", "J3", "J4"]


def test_predictions_for_a_frame_in_any_order_and_orientation(by_judge):
    frame = pd.DataFrame(
        {"judge": ["J3", "J1", "J3"], "object_i": ["B", "D", "A"], "object_j": ["A", "C", "B"], "junk": [1, 2, 3]}
    )
    found = by_judge.predict(frame).to_frame()
    assert found["object_i"].tolist() == [o for o in "BDA" for _ in range(3)]
    estimates = found["estimate"].to_numpy().reshape(3, 3)
    np.testing.assert_allclose(estimates.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(estimates[0], estimates[2][::-1], rtol=1e-12)
    own = by_judge.predict().to_frame().query("object_i == 'A' and object_j == 'B' and judge == 'J3'")
    np.testing.assert_allclose(estimates[2], own["estimate"], rtol=1e-12)
    assert frame.columns.tolist() == ["judge", "object_i", "object_j", "junk"]


def test_predictions_with_order_have_both_presentations():
    c = small("abc", sex=["f", "m"])
    res = llbt.fit("object + tie + order:sex", c)
    frame = res.predict(at={"sex": "m"}).to_frame()
    pairs = frame[["object_i", "object_j"]].drop_duplicates().to_numpy().tolist()
    assert sorted(pairs) == sorted([list(p) for p in itertools.permutations("abc", 2)])
    worth = dict(zip("abc", [*res.params[["object[a]", "object[b]"]], 0.0], strict=True))
    for (i, j), rows in frame.groupby(["object_i", "object_j"], sort=False):
        expected = outcome_probabilities(worth[i], worth[j], res.params["tie"], res.params["order:sex[m]"])
        np.testing.assert_allclose(rows["estimate"], expected, rtol=1e-10)
    new = res.predict(pd.DataFrame({"object_i": ["c"], "object_j": ["a"], "sex": ["f"]})).to_frame()
    expected = outcome_probabilities(worth["c"], worth["a"], res.params["tie"], res.params["order:sex[f]"])
    np.testing.assert_allclose(new["estimate"], expected, rtol=1e-10)


def test_predictions_without_a_tie_category_have_two_outcomes():
    c = llbt.load_dataset("citations")
    res = llbt.fit("object", c)
    frame = res.predict(at={}).to_frame()
    assert frame["outcome"].unique().tolist() == ["i", "j"]
    sums = frame.groupby(["object_i", "object_j"])["estimate"].sum()
    np.testing.assert_allclose(sums, 1, rtol=1e-12)
    first = frame.iloc[0]
    log_odds = 2 * (res.params[f"object[{first['object_i']}]"] - res.params[f"object[{first['object_j']}]"])
    assert first["estimate"] == pytest.approx(1 / (1 + np.exp(-log_odds)), rel=1e-10)


def test_predictions_at_numbers_sides_and_pairs():
    frame = small_frame("abc", age=[20.0, 40.0])
    rng = np.random.default_rng(1)
    frame["l_i"], frame["l_j"] = rng.choice([1.0, 2.0, 3.0], (2, len(frame)))
    c = llbt.from_counts(frame, covariates="age", side_covariates={"l": ("l_i", "l_j")})
    res = llbt.fit("object * age + l + tie:pair", c)
    p = res.params
    new = pd.DataFrame({"object_i": ["b"], "object_j": ["a"], "age": [33.0], "l_i": [2.5], "l_j": [0.5]})
    expected = outcome_probabilities(
        p["object[b]"] + 33 * p["object[b]:age"] + 2.5 * p["l"],
        p["object[a]"] + 33 * p["object[a]:age"] + 0.5 * p["l"],
        p["tie:pair[a:b]"],
    )
    np.testing.assert_allclose(res.predict(new).to_frame()["estimate"], expected, rtol=1e-10)
    table = res.predict(at={"age": [20, 33]})
    found = table.to_frame()
    assert found["age"].unique().tolist() == [20.0, 33.0]
    rows = found.query("object_i == 'a' and object_j == 'b' and age == 33")["estimate"]
    expected = outcome_probabilities(
        p["object[a]"] + 33 * p["object[a]:age"], p["object[b]"] + 33 * p["object[b]:age"], p["tie:pair[a:b]"]
    )
    np.testing.assert_allclose(rows, expected, rtol=1e-10)  # the same length on both sides
    weight = c.totals
    mean = np.average(c.to_frame()["age"], weights=weight)
    default = res.predict(at={})
    assert default.to_frame()["age"].unique() == pytest.approx([mean])
    assert any("age" in note and "mean" in note for note in default.notes)


def test_what_the_table_does_not_determine_is_nan():
    rows = [("a", "b", 5, 2, 3), ("b", "c", 4, 1, 4), ("a", "c", 2, 2, 4)]
    rows = [(*row, "J1") for row in rows] + [("a", "b", 3, 1, 3, "J2")]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j", "judge"])
    res = llbt.fit("object * judge + tie", llbt.from_counts(frame, covariates="judge"))
    found = res.predict(at={}).to_frame()
    known = found.groupby(["object_i", "object_j", "judge"])["estimate"].apply(lambda e: e.notna().all())
    assert known.to_dict() == {
        (*("a", "b"), "J1"): True,
        (*("a", "b"), "J2"): True,
        (*("a", "c"), "J1"): True,
        (*("a", "c"), "J2"): False,
        (*("b", "c"), "J1"): True,
        (*("b", "c"), "J2"): False,
    }
    assert found.query("judge == 'J2' and object_j == 'c'")["estimate"].isna().all()
    assert res.predict().to_frame()["estimate"].notna().all()


def test_predict_errors(by_judge):
    frame = pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "judge": ["J1"]})
    with pytest.raises(llbt.errors.OptionError, match="not both"):
        by_judge.predict(frame, at={"judge": "J1"})
    with pytest.raises(llbt.errors.OptionError, match=r"has no 'Z' in the table; expected one of 'A', 'B', 'C', 'D'"):
        by_judge.predict(frame.assign(object_j="Z"))
    with pytest.raises(llbt.errors.OptionError, match=r"'judge' has no 'J9' in the table"):
        by_judge.predict(frame.assign(judge="J9"))
    with pytest.raises(llbt.errors.OptionError, match=r"'judge' has no 'J9' in the table"):
        by_judge.predict(at={"judge": "J9"})
    with pytest.raises(llbt.errors.OptionError, match=r"'sex' is not a covariate of the formula"):
        by_judge.predict(at={"sex": "f"})
    with pytest.raises(llbt.LLBTError, match="judge"):
        by_judge.predict(frame.drop(columns="judge"))


# -- attributes, pickles, frozenness ------------------------------------------------------------------------


def test_questions_that_are_functions_say_so(pooled):
    for name in ("worth", "anova", "goodness_of_fit"):
        with pytest.raises(AttributeError, match=rf"{name} is a function: llbt\.{name}\(res\)"):
            getattr(pooled, name)
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = pooled.nothing
    assert not hasattr(pooled, "model")
    assert getattr(pooled, "nothing", 3) == 3


def public_records():
    res = llbt.fit("object * judge + tie", TABLE1)
    return {
        "Comparisons": TABLE1,
        "Comparisons, all kinds of columns": llbt.load_dataset("cems"),
        "LLBTResults": res,
        "Specification": res.specification,
        "Table": res.summary(),
        "worth": llbt.worth(res),
        "predict": res.predict(),
        "t_test": res.t_test("tie"),
        "anova": llbt.anova(res, llbt.fit("object + tie", TABLE1)),
        "TestResult": res.wald_test("tie = 0"),
        "GoodnessOfFit": llbt.goodness_of_fit(llbt.fit("object + tie", TABLE1)),
    }


@pytest.mark.parametrize("name", public_records())
@pytest.mark.parametrize("way", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_records_survive_pickling_and_copying(name, way):
    record = public_records()[name]
    again = way(record)
    assert type(again) is type(record)
    assert repr(again) == repr(record)
    if hasattr(record, "to_frame"):
        pd.testing.assert_frame_equal(again.to_frame(), record.to_frame())
    if isinstance(record, llbt.Comparisons | Specification):
        assert again == record


def test_unpickled_results_answer_questions():
    res = pickle.loads(pickle.dumps(public_records()["LLBTResults"]))
    assert res.summary().as_text() == public_records()["LLBTResults"].summary().as_text()
    assert len(llbt.worth(res).to_frame()) == 16
    assert len(res.predict(at={"judge": "J1"}).to_frame()) == 18
    with pytest.raises(AttributeError, match="worth is a function"):
        _ = res.worth


def test_records_are_frozen():
    for record in public_records().values():
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, dataclasses.fields(record)[0].name, None)
    with pytest.raises(ValueError, match="read-only"):
        TABLE1.counts[0, 0] = 5


def test_results_that_are_changed_by_a_user_change_nothing(pooled):
    before = pooled.params.copy()
    params = pooled.params
    params["tie"] = 9
    frame = pooled.to_frame()
    frame["estimate"] = 0
    cov = pooled.cov_params()
    cov.iloc[:, :] = 0
    pd.testing.assert_series_equal(pooled.params, before)
    assert pooled.to_frame()["estimate"].iloc[-1] == before["tie"]
    assert pooled.bse["tie"] > 0


# -- no side effects --------------------------------------------------------------------------------------


def ask_everything(res):
    """Use the whole public surface once."""
    name = res.bse.dropna().index[0]
    records = [res, llbt.goodness_of_fit(res), llbt.worth(res), res.predict(), res.t_test(name), res.wald_test(name)]
    for record in records:
        assert record.as_text()
        assert record.as_markdown()
        assert record.as_html()
        assert record.as_latex()
        assert len(record.to_frame())
    for name in ("resid_response", "resid_pearson", "resid_deviance", "hat_diag", "fittedvalues"):
        assert getattr(res, name).notna().all()
    assert np.isfinite([res.llf, res.aic, res.bic, res.deviance, res.null_deviance, res.pearson_chi2]).all()
    assert res.to_glm().converged


def test_data_are_never_changed():
    frame = small_frame("abc", sex=["f", "m"])
    before = frame.copy(deep=True)
    c = llbt.from_counts(frame, covariates="sex")
    kept = c.to_frame(), c.counts.copy(), c.pairs.copy(), repr(c)
    for method in ("glm", "eliminate"):
        ask_everything(fit_by("object * sex + tie * sex", c, method=method, fixed={"tie:sex[m]": 0.1}))
    new = frame[["object_i", "object_j", "sex"]]
    llbt.fit("object * sex + tie", c).predict(new)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(c.to_frame(), kept[0])
    np.testing.assert_array_equal(c.counts, kept[1])
    np.testing.assert_array_equal(c.pairs, kept[2])
    assert repr(c) == kept[3]


def test_arguments_are_never_changed(by_judge):
    at, fixed, matrix = {"judge": ["J1", "J2"]}, {"tie": -1.0}, np.eye(len(by_judge.names))
    by_judge.predict(at=at)
    llbt.worth(by_judge, at)
    llbt.fit("object + tie", TABLE1, fixed=fixed)
    by_judge.wald_test(matrix)
    assert at == {"judge": ["J1", "J2"]}
    assert fixed == {"tie": -1.0}
    np.testing.assert_array_equal(matrix, np.eye(len(by_judge.names)))


def test_global_random_states_and_options_are_untouched():
    state, python = np.random.get_state(), random.getstate()  # noqa: NPY002  # that is the point
    errors, options = np.geterr(), np.get_printoptions()
    width = pd.get_option("display.width")
    for method in ("glm", "eliminate"):
        ask_everything(fit_by("object + tie", TABLE1, method=method))
    after = np.random.get_state()  # noqa: NPY002
    assert after[0] == state[0]
    np.testing.assert_array_equal(after[1], state[1])
    assert after[2:] == state[2:]
    assert random.getstate() == python
    assert (np.geterr(), np.get_printoptions()) == (errors, options)
    assert pd.get_option("display.width") == width


def test_nothing_is_printed(capfd):
    for method in ("glm", "eliminate"):
        ask_everything(fit_by("object * judge + tie * judge", TABLE1, method=method))
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit("object + tie + order", llbt.from_counts(small_frame("ab").assign(wins_j=0), order=True))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", ["glm", "eliminate"])
@pytest.mark.parametrize(
    ("formula", "data"),
    [
        ("object + tie", "dras_modpref"),  # saturated
        ("object + tie", "dras_collins"),
        ("object * judge + tie * judge", "dras_table1"),
        ("object + tie:pair", "dras_table1"),
        ("object * judge + tie:judge:pair + bad:judge:pair", "bojar_six_annotators"),  # saturated
        ("object + tie", "cems"),
        ("object + order", "baseball"),
    ],
)
def test_no_warning_of_another_library_escapes(formula, data, method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            res = fit_by(formula, llbt.load_dataset(data), method=method)
        except llbt.errors.SeparationError:
            assert formula == "object + tie:pair"  # some pairs have no ties: refused, without a warning
            return
        for name in ("bse", "tvalues", "pvalues", "fittedvalues", "resid_pearson", "resid_deviance", "hat_diag"):
            assert getattr(res, name).notna().all()
        assert np.isfinite([res.llf, res.aic, res.bic, res.deviance, res.null_deviance, res.pearson_chi2]).all()
        assert res.summary().as_text()
        assert res.t_test(res.names[0]).as_text()
        assert llbt.goodness_of_fit(res).as_text()
        assert llbt.worth(res).as_text()
        assert res.predict().as_text()
        assert res.to_glm().converged


def test_no_warning_for_held_aliased_and_extreme_parameters(aliased):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = llbt.fit("object + tie", TABLE1.pool(), fixed={"tie": -1.0, "object[A]": 0.4})
        for res in (held, aliased):
            ask_everything(res)
        nothing = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"), fixed={"tie": 0, "object[+]": 0})
        assert nothing.df_resid == nothing.df_null == 2
        assert nothing.deviance == pytest.approx(nothing.null_deviance)
        equal = llbt.fit("object + tie", llbt.from_counts(small_frame("abc").assign(wins_i=4, ties=4, wins_j=4)))
        assert np.allclose(equal.params, 0, atol=1e-9)
        ask_everything(equal)


# -- ties that are not modelled -----------------------------------------------------------------------------


def test_ties_without_a_tie_term_warn_with_their_share_and_both_ways_out():
    c = llbt.load_dataset("dras_collins")
    with pytest.warns(llbt.errors.TiesWarning) as caught:
        llbt.fit("object", c)
    (warning,) = caught
    message = str(warning.message)
    assert f"{100 * 77 / 199:.1f} %" in message
    assert "γ = 0" in message
    assert "+ tie" in message
    assert "drop_ties()" in message
    assert "split_ties()" in message
    assert warning.filename == __file__
    with pytest.warns(llbt.errors.TiesWarning, match=r"38\.7 %") as caught:
        llbt.LLBT.from_formula("object", c).fit()
    assert caught[0].filename == __file__


def test_both_ways_out_do_not_warn_and_say_what_they_did():
    c = llbt.load_dataset("dras_collins")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        llbt.fit("object + tie", c)
        llbt.fit("object + tie", c, fixed={"tie": 0.0})
        dropped, split = llbt.fit("object", c.drop_ties()), llbt.fit("object", c.split_ties())
    assert dropped.df_resid == split.df_resid == 0
    assert dropped.params.iloc[0] == pytest.approx(np.log(39 / 83) / 2, rel=1e-8)
    assert split.params.iloc[0] == pytest.approx(np.log((39 + 38.5) / (83 + 38.5)) / 2, rel=1e-8)
    assert "conservative" in split.summary().as_text()
    assert "dropped" in dropped.summary().as_text()


def test_the_warning_can_be_switched_off_by_its_class():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", llbt.errors.LLBTWarning)
        assert llbt.fit("object", TABLE1).converged


def test_a_table_whose_ties_were_all_selected_away_still_has_its_category():
    c = TABLE1.select(where={"judge": "J1"}).select(objects=["A", "B", "D"])
    assert c.has_ties
    if c.n_ties == 0:
        with pytest.raises(llbt.errors.SeparationError, match="no ties"):
            llbt.fit("object + tie", c)
    with pytest.warns(llbt.errors.TiesWarning, match=f"{100 * c.n_ties / c.n_judgments:.1f}".removesuffix(".0")):
        llbt.fit("object", c)


# -- comparisons without judgments --------------------------------------------------------------------------


def test_empty_comparisons_are_left_out_with_a_note():
    frame = small_frame("abc")
    empty = frame.iloc[[0]].assign(wins_i=0, ties=0, wins_j=0, x="empty")
    c = llbt.from_counts(pd.concat([frame.assign(x="full"), empty]), covariates="x", order=True)
    res, plain = llbt.fit("object + tie", c), llbt.fit("object + tie", llbt.from_counts(frame, order=True))
    assert (res.nobs, res.df_resid, res.df_model) == (plain.nobs, plain.df_resid, plain.df_model)
    np.testing.assert_allclose(res.params, plain.params, rtol=1e-10)
    assert any("1 comparison" in note for note in res.comparisons.notes)
    assert "without a judgment" in res.summary().as_text()


# -- row order, labels and scale ----------------------------------------------------------------------------


def test_pooled_and_by_judge_tables_give_the_same_estimates_and_different_deviances(pooled):
    split = llbt.fit("object + tie", TABLE1)
    np.testing.assert_allclose(split.params, pooled.params, rtol=1e-9)
    np.testing.assert_allclose(split.bse, pooled.bse, rtol=1e-8)
    assert split.deviance > pooled.deviance + 200
    assert (split.df_resid, pooled.df_resid) == (44, 8)


@pytest.mark.parametrize("seed", range(3))
def test_row_order_and_orientation_do_not_change_the_answer(seed):
    frame = small_frame("abcd", sex=["f", "m"])
    turned = frame.sample(frac=1, random_state=seed).reset_index(drop=True)
    swap = np.random.default_rng(seed).random(len(turned)) < 0.5
    for i, j in (("object_i", "object_j"), ("wins_i", "wins_j")):
        turned.loc[swap, [i, j]] = turned.loc[swap, [j, i]].to_numpy()
    a, b = (llbt.fit("object * sex + tie", llbt.from_counts(f, covariates="sex")) for f in (frame, turned))
    assert a.names == b.names
    np.testing.assert_allclose(a.params, b.params, rtol=1e-9, atol=1e-12)
    assert a.comparisons == b.comparisons


def test_scaled_counts_scale_the_information():
    frame = small_frame("abcd")
    scaled = frame.assign(**{name: 2.5 * frame[name] for name in ("wins_i", "ties", "wins_j")})
    a, b = (llbt.fit("object + tie", llbt.from_counts(f)) for f in (frame, scaled))
    np.testing.assert_allclose(b.params, a.params, rtol=1e-8)
    np.testing.assert_allclose(b.bse, a.bse / np.sqrt(2.5), rtol=1e-8)
    assert b.deviance == pytest.approx(2.5 * a.deviance, rel=1e-8)


CEMS = llbt.load_dataset("cems")


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("object * ENG + tie", "ENG: 2 levels, reference 1;"),
        ("object + ENG:LAT + tie", "ENG: 2 levels, no reference;"),  # ENG[1]:LAT and ENG[2]:LAT, as patsy codes it
        ("object + tie:ENG", "ENG: 2 levels, no reference;"),
        ("object * ENG + tie:ENG", "ENG: 2 levels, reference 1 in object:ENG, no reference in tie:ENG;"),
        ("object * C(ENG, Treatment(2)) + tie", "ENG: 2 levels, reference 2;"),
        ("object * C(ENG, Sum) + tie", "ENG: 2 levels;"),
        ("object * I(ENG == 1) + tie", "ENG: 2 levels;"),
    ],
)
def test_the_reference_level_is_said_as_the_terms_are_coded(formula, said):
    """The level that is said has no parameter, every other has; without a reference every level has one."""
    res = llbt.fit(formula, CEMS)
    assert said in res.summary().head[1]
    for variable, term, level in res.design.levels:
        own = [name for name, its in zip(res.names, res.design.terms, strict=True) if its == term]
        for k in {"ENG": [1, 2]}.get(variable, []):
            assert any(f"[{k}]" in name for name in own) == (k != level)
