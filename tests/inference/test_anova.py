"""Analysis of deviance: each test by a second route, the terms of a formula in sequence and one at a time."""

import dataclasses
import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.tools.numdiff import approx_fprime, approx_hess
from support.fits import fit_by
from support.folders import SIMULATIONS

import llbt
from llbt.inference import tested_models
from llbt.inference.nested import Reference
from llbt.inference.nested import nested as compared
from llbt.inference.refit import refit, written_terms
from llbt.inference.terms import add1, drop1
from llbt.kernel.batch import fit_many
from llbt.kernel.likelihood import information, probabilities
from llbt.kernel.likelihood import score as score_of
from llbt.kernel.robust import Covariance

TABLE1 = llbt.load_dataset("dras_table1")
SIMULATED = ("anova_size_order.json", "anova_size.json")  # one and three degrees of freedom
TESTS = ("chi2", "F", "wald", "score")  # those that need no clusters

# Deviances, p-values and Wald statistics of refits: what the solvers leave is 1e-9 standard errors.
CLOSE = 1e-7
# Second derivatives by finite differences of log-likelihoods of hundreds.
NUMERIC = 1e-4


def fit(formula, c, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.LLBTWarning)
        return fit_by(formula, c, **keywords)


@pytest.fixture(scope="module")
def rich():
    """Judges and ages, an object table; order kept."""
    rng = np.random.default_rng(5)
    rows = [
        (i, j, judge, float(rng.choice([20, 30, 60])), *rng.integers([3, 1, 3], [12, 6, 12]))
        for i, j in itertools.permutations("abcd", 2)
        for judge in ("J1", "J2", "J3")
    ]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "age", "wins_i", "ties", "wins_j"])
    prices = pd.DataFrame({"object": list("abcd"), "price": [3.0, 1.0, 4.0, 2.0]})
    return llbt.from_counts(frame, covariates=["judge", "age"], object_covariates=prices, order=True)


# Nested pairs with the hypotheses that lead from the larger to the smaller, written by hand.
NESTED = {
    "tie": ("object", "object + tie", "tie = 0"),
    "order": ("object + tie", "object + tie + order", "order = 0"),
    "object": ("tie", "object + tie", ["object[a]", "object[b]", "object[c]"]),
    "a numeric covariate": (
        "object + tie",
        "object * age + tie",
        ["object[a]:age", "object[b]:age", "object[c]:age"],
    ),
    "a factor": (
        "object * judge + tie",
        "object * judge + tie * judge",
        ["tie:judge[J2]", "tie:judge[J3]"],
    ),
    "another coding": (  # worths linear in the price: with d at 2, a − d = b₁, b − d = −b₁, c − d = 2 b₁
        "price + tie",
        "object + tie",
        ["object[a] + object[b] = 0", "object[c] - 2 * object[a] = 0"],
    ),
    "two blocks at once": (
        "object + tie",
        "object + tie:judge + order",
        ["tie:judge[J1] - tie:judge[J2]", "tie:judge[J1] - tie:judge[J3]", "order"],
    ),
}


@pytest.fixture(params=NESTED, scope="module")
def nested(request, rich):
    small, large, hypotheses = NESTED[request.param]
    return fit(small, rich), fit(large, rich), hypotheses


def last_row(table):
    return table.to_frame().iloc[-1]


# -- several fits: each test by a second route -------------------------------------------------------------------------


def test_likelihood_ratio_by_hand(nested):
    small, large, hypotheses = nested
    row = last_row(llbt.anova(small, large))
    df = 1 if isinstance(hypotheses, str) else len(hypotheses)
    ratio = 2 * (large.llf - small.llf)
    assert row["df"] == df
    assert row["statistic"] == pytest.approx(ratio, rel=CLOSE)
    assert row["p_value"] == pytest.approx(stats.chi2.sf(ratio, df), rel=CLOSE)
    assert row["delta_aic"] == pytest.approx(2 * df - ratio, rel=CLOSE)
    assert row["delta_bic"] == pytest.approx(df * np.log(large.comparisons.n_judgments) - ratio, rel=CLOSE)


def test_f_by_hand(nested):
    small, large, _ = nested
    row = last_row(llbt.anova(small, large, test="F"))
    y, m = large.counts.ravel(), large.fittedvalues.to_numpy()
    dispersion = sum((y - m) ** 2 / m) / large.df_resid
    df = small.df_resid - large.df_resid
    statistic = 2 * (large.llf - small.llf) / df / dispersion
    assert row["statistic"] == pytest.approx(statistic, rel=CLOSE)
    assert row["delta_deviance"] == pytest.approx(small.deviance - large.deviance, rel=CLOSE)
    assert (row["df"], row["df_denom"]) == (df, large.df_resid)
    assert row["p_value"] == pytest.approx(stats.f.sf(statistic, df, large.df_resid), rel=CLOSE)


def test_f_takes_the_dispersion_of_the_largest(rich):
    fits = [fit(f, rich) for f in ("object + tie", "object + tie + order", "object * judge + tie + order")]
    frame = llbt.anova(*fits, test="F").to_frame()
    dispersion = fits[2].pearson_chi2 / fits[2].df_resid
    assert frame["statistic"].iloc[1] == pytest.approx((fits[0].deviance - fits[1].deviance) / dispersion, rel=CLOSE)
    assert frame["df_denom"].tolist()[1:] == [fits[2].df_resid] * 2
    assert f"dispersion {dispersion:.4g}"[:15] in llbt.anova(*fits, test="F").as_text()


def test_wald_is_the_hypothesis_written_by_hand(nested):
    small, large, hypotheses = nested
    row = last_row(llbt.anova(small, large, test="wald"))
    expected = large.wald_test(hypotheses)
    assert (row["statistic"], row["p_value"]) == pytest.approx((expected.statistic, expected.p_value), rel=CLOSE)
    assert row["df"] == expected.df


@pytest.mark.parametrize(
    "options", [{"cov_type": "HC0"}, {"cov_type": "quasi"}, {"cov_type": "cluster", "groups": "age"}, {"prior": 2.0}]
)
def test_wald_uses_the_covariance_of_the_fit(options, rich):
    small, large = fit("object + tie", rich), fit("object + tie + order", rich, **options)
    table = llbt.anova(small, large, test="wald")
    row, expected = last_row(table), large.wald_test("order")
    assert (row["statistic"], row["p_value"]) == pytest.approx((expected.statistic, expected.p_value), rel=CLOSE)
    if np.isfinite(large.df_inference):
        assert row["df_denom"] == large.df_inference
        assert "Pr(>F)" in table.as_text()
    else:
        assert "df_denom" not in table.to_frame()
        assert "Pr(>Chi)" in table.as_text()


def explicit_log_likelihood(res):
    """Log-likelihood in all parameters of a fit, cell by cell, nuisance parameters profiled out."""
    design, counts = res.design, res.counts
    signed, tie = design.signed_rows().toarray(), design.shared[1].of_comparisons().toarray()

    def value(params):
        predictors = np.stack([signed @ params, tie @ params, -(signed @ params)], axis=1)
        return float(np.sum(counts * (predictors - np.log(np.exp(predictors).sum(axis=1, keepdims=True)))))

    return value


@pytest.mark.parametrize("name", [name for name in NESTED if name not in ("another coding", "two blocks at once")])
def test_score_by_numeric_derivatives(name, rich):
    """At the smaller fit's estimates, which the larger has under the same names."""
    small, large = (fit(formula, rich) for formula in NESTED[name][:2])
    point = small.params.reindex(large.names).fillna(0.0).to_numpy()
    value = explicit_log_likelihood(large)
    gradient, hessian = approx_fprime(point, value, centered=True), approx_hess(point, value)
    expected = gradient @ np.linalg.solve(-hessian, gradient)
    row = last_row(llbt.anova(small, large, test="score"))
    assert row["statistic"] == pytest.approx(expected, rel=NUMERIC)
    assert row["p_value"] == pytest.approx(stats.chi2.sf(row["statistic"], row["df"]), rel=CLOSE)


def test_score_is_that_of_statsmodels(nested):
    """The smaller model's explicit GLM, tested for the columns of the larger one."""
    small, large, _ = nested
    glm, more = small.to_glm(), large.to_glm().model.exog[:, : len(large.names)]
    both = np.column_stack([glm.model.exog, more])
    independent = np.linalg.qr(both)[1].diagonal()[-more.shape[1] :]
    kept = more[:, np.abs(independent) > 1e-9]
    statistic, p_value, df = glm.model.score_test(glm.params, exog_extra=kept)
    row = last_row(llbt.anova(small, large, test="score"))
    assert row["df"] == df
    assert (row["statistic"], row["p_value"]) == pytest.approx((np.ravel(statistic)[0], np.ravel(p_value)[0]), rel=1e-6)


def test_held_parameters_are_part_of_the_hypothesis(rich):
    small = fit("object + tie", rich, fixed={"tie": -0.5, "object[a]": 0.1})
    large = fit("object + tie + order", rich, fixed={"object[a]": 0.1})
    row = last_row(llbt.anova(small, large, test="wald"))
    assert row["statistic"] == pytest.approx(large.wald_test(["tie = -0.5", "order = 0"]).statistic, rel=CLOSE)

    value = explicit_log_likelihood(large)
    free = large.names.index("object[a]") != np.arange(len(large.names))
    point = small.params.reindex(large.names).fillna(0.0).to_numpy()
    gradient = approx_fprime(point, value, centered=True)[free]
    hessian = approx_hess(point, value)[np.ix_(free, free)]
    row = last_row(llbt.anova(small, large, test="score"))
    assert row["statistic"] == pytest.approx(gradient @ np.linalg.solve(-hessian, gradient), rel=NUMERIC)


@pytest.mark.parametrize("test", TESTS)
def test_tests_do_not_depend_on_coding_reference_solver_or_scale(test, rich):
    expected = last_row(llbt.anova(fit("object + tie", rich), fit("object * age + tie", rich), test=test))
    numbers = ["df", "statistic", "p_value", "delta_aic", "delta_bic"]
    for small, large, options in (
        ("C(object, Sum) + tie", "object * age + tie", {}),
        ("object + tie", "C(object, Sum) * I(1e6 * age - 2e7) + tie", {}),
        ("object + tie", "object * age + tie", {"reference": "b", "method": "eliminate"}),
        ("object + tie", "object + object:age + tie", {"method": "glm"}),
    ):
        found = last_row(llbt.anova(fit(small, rich, **options), fit(large, rich, **options), test=test))
        np.testing.assert_allclose(found[numbers].astype(float), expected[numbers].astype(float), rtol=1e-6)


def test_tests_of_two_cells(rich):
    c = rich.drop_ties()
    small, large = fit("object", c), fit("object + order", c)
    glm = small.to_glm()
    statistic, _, _ = glm.model.score_test(glm.params, exog_extra=large.to_glm().model.exog[:, 3])
    assert last_row(llbt.anova(small, large, test="score"))["statistic"] == pytest.approx(
        np.ravel(statistic)[0], rel=1e-6
    )
    z = large.tvalues["order"]
    assert last_row(llbt.anova(small, large, test="wald"))["statistic"] == pytest.approx(z**2, rel=CLOSE)


def test_reference_of_r_for_three_fits(reference):
    c = llbt.load_dataset("cems").pool("SEX")
    formulas = ("object + tie", "object * ENG + tie", "object * ENG + tie * ENG")
    files = ("cems_llbt_ENG_null", "cems_llbt_ENG_undec", "cems_llbt_ENG_undecENG")
    figures = [reference(file) for file in files]
    frame = llbt.anova(*(fit(formula, c) for formula in formulas)).to_frame()
    np.testing.assert_allclose(frame["deviance"], [f["deviance"] for f in figures], rtol=CLOSE)
    assert frame["df_resid"].tolist() == [f["df_residual"] for f in figures] == [54, 49, 48]
    np.testing.assert_allclose(frame["statistic"][1:], -np.diff([f["deviance"] for f in figures]), rtol=1e-6)
    np.testing.assert_allclose(frame["delta_aic"][1:], np.diff([f["AIC"] for f in figures]), rtol=1e-6)


# -- one fit: terms in sequence ----------------------------------------------------------------------------------------


def test_sequence_of_baseball_is_that_of_r(reference):
    expected = reference("bt2_baseball_home")["anova"]
    frame = llbt.anova(fit("object + order", llbt.load_dataset("baseball"))).to_frame()
    assert frame["term"].tolist() == ["NULL", "object", "order"]
    assert frame["df_resid"].tolist()[1:] == [row["Resid. Df"] for row in expected]
    np.testing.assert_allclose(frame["deviance"][1:], [row["Resid. Dev"] for row in expected], rtol=CLOSE)
    assert frame["statistic"].iloc[2] == pytest.approx(expected[1]["Deviance"], rel=1e-6)
    assert frame["p_value"].iloc[2] == pytest.approx(expected[1]["Pr(>Chi)"], rel=1e-6)


def test_sequence_of_cems_is_that_of_separate_fits(reference):
    c = llbt.load_dataset("cems").pool("SEX")
    res = fit("object * ENG + tie * ENG", c)
    frame = llbt.anova(res).to_frame()
    assert frame["term"].tolist() == ["NULL", "object", "object:ENG", "tie", "tie:ENG"]
    fits = [fit(f, c) for f in ("object", "object * ENG", "object * ENG + tie", "object * ENG + tie * ENG")]
    deviances = [res.null_deviance, *(f.deviance for f in fits)]
    np.testing.assert_allclose(frame["deviance"], deviances, rtol=CLOSE)
    np.testing.assert_allclose(frame["statistic"][1:], -np.diff(deviances), rtol=1e-6)
    assert frame["df_resid"].tolist() == [res.df_null, *(f.df_resid for f in fits)]
    assert frame["df"].tolist()[1:] == [5, 5, 1, 1]
    np.testing.assert_allclose(frame["delta_bic"][2:], np.diff([f.bic for f in fits]), rtol=1e-6)
    for row, file in ((3, "cems_llbt_ENG_undec"), (4, "cems_llbt_ENG_undecENG")):
        figures = reference(file)
        assert frame["deviance"][row] == pytest.approx(figures["deviance"], rel=CLOSE)
        assert frame["df_resid"][row] == figures["df_residual"]


@pytest.mark.parametrize("test", TESTS)
def test_rows_of_a_sequence_are_tests_of_two_fits(test, rich):
    formulas = ("object", "object + object:age", "object + object:age + tie", "object * age + tie + order")
    fits = [fit(formula, rich) for formula in formulas]
    expected = llbt.anova(*fits, test=test).to_frame().drop(columns="model")
    found = llbt.anova(fits[-1], test=test).to_frame().drop(columns="term")
    assert len(found) == 5
    pd.testing.assert_frame_equal(found[2:].reset_index(drop=True), expected[1:].reset_index(drop=True), rtol=1e-6)
    if test == "wald":
        everything = fits[0].wald_test(["object[a]", "object[b]", "object[c]"])
        assert found["statistic"][1] == pytest.approx(everything.statistic, rel=CLOSE)


def test_a_sequence_warns_of_nothing(rich):
    res = fit("object + judge + tie", rich)  # judge cancels, and the first rows have no tie term
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert llbt.anova(res).to_frame()["term"].tolist() == ["NULL", "object", "tie"]
        drop1(res)
        add1(res, "object * judge")


def test_aliased_terms_add_nothing_and_a_note_says_so(rich):
    res = fit("object + price + tie", rich)
    for test in TESTS:
        table = llbt.anova(res, test=test)
        row = table.to_frame().set_index("term").loc["price"]
        assert row["df"] == 0
        assert np.isnan([row["statistic"], row["p_value"]]).all()
        assert any("price" in note and "add nothing" in note for note in table.notes)
    frame = drop1(res).to_frame().set_index("term")
    assert frame["df"].tolist()[1:] == [2, 0, 1]


def test_terms_that_are_held_stay_in_every_model(rich):
    res = fit("object + tie + order", rich, fixed={"tie": -0.5})
    frame = llbt.anova(res).to_frame()
    assert frame["term"].tolist() == ["NULL", "object", "order"]
    nothing = dict.fromkeys(("object[a]", "object[b]", "object[c]"), 0.0)
    fits = [
        fit("object + tie", rich, fixed={"tie": -0.5} | nothing),
        fit("object + tie", rich, fixed={"tie": -0.5}),
        res,
    ]
    np.testing.assert_allclose(frame["deviance"], [f.deviance for f in fits], rtol=CLOSE)
    frame = drop1(res).to_frame()
    assert frame["term"].tolist() == ["<none>", "object", "order"]
    assert frame["deviance"][2] == pytest.approx(fits[1].deviance, rel=CLOSE)
    added = add1(fits[1], "order").to_frame()
    assert added["deviance"].tolist() == pytest.approx([fits[1].deviance, res.deviance], rel=CLOSE)
    alone = fit("object + tie", rich, fixed={"tie": -0.5}, cov_type="cluster", groups="age")
    assert drop1(alone).to_frame()["deviance"][1] == pytest.approx(fits[0].deviance, rel=CLOSE)


def test_dispersion_of_single_judgments_means_little():
    rng = np.random.default_rng(6)
    pairs = list(itertools.combinations("abc", 2))
    rows = [(*pairs[k % 3], f"case{k:03}", str(rng.choice(["i", "j", "tie"]))) for k in range(60)]
    c = llbt.from_judgments(pd.DataFrame(rows, columns=["object_i", "object_j", "case", "outcome"]), covariates="case")
    res = fit("object + tie", c)
    assert any("no comparison has more than one judgment" in note for note in llbt.anova(res, test="F").notes)
    assert llbt.anova(res).notes == ()


# -- terms one at a time -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_drop1_is_a_test_of_two_fits_for_each_term(test, rich):
    res = fit("object * judge + tie * age + order", rich)
    table = drop1(res, test=test)
    frame = table.to_frame()
    assert frame["term"].tolist() == ["<none>", "object:judge", "tie:age", "order"]  # object, tie: margins
    assert (frame["deviance"][0], frame["aic"][0]) == (res.deviance, res.aic)
    assert frame.loc[0, ["df", "statistic", "p_value"]].isna().all()
    without = ("object + tie * age + order", "object * judge + tie + order", "object * judge + tie * age")
    for row, formula in enumerate(without, start=1):
        small = fit(formula, rich)
        expected = last_row(llbt.anova(small, res, test=test))
        for column in ("df", "statistic", "p_value"):
            assert frame[column][row] == pytest.approx(expected[column], rel=1e-6)
        assert frame["deviance"][row] == pytest.approx(small.deviance, rel=CLOSE)
        assert frame["aic"][row] == pytest.approx(small.aic, rel=CLOSE)
    heading = {"chi2": "LRT", "F": "F", "wald": "Wald", "score": "Rao score"}[test]
    assert f" {heading} " in table.as_text()


@pytest.mark.parametrize("test", TESTS)
def test_add1_is_a_test_of_two_fits_for_each_term(test, rich):
    res = fit("object + tie", rich)
    frame = add1(res, "object * judge + tie * age + order", test=test).to_frame()
    assert frame["term"].tolist() == ["<none>", "object:judge", "tie:age", "order"]
    for row, formula in enumerate(("object * judge + tie", "object + tie * age", "object + tie + order"), start=1):
        large = fit(formula, rich)
        expected = last_row(llbt.anova(res, large, test=test))
        for column in ("df", "statistic", "p_value"):
            assert frame[column][row] == pytest.approx(expected[column], rel=1e-6)
        assert frame["deviance"][row] == pytest.approx(large.deviance, rel=CLOSE)
        if test == "F":  # the dispersion of each row's own larger model, as in R
            assert frame["df_denom"][row] == large.df_resid


def test_drop1_of_the_only_term_leaves_the_nuisance_parameters():
    res = fit("object", llbt.load_dataset("baseball"))
    frame = drop1(res).to_frame()
    assert frame["deviance"][1] == pytest.approx(res.null_deviance, rel=CLOSE)
    assert frame["df"][1] == 6


def test_dropping_a_term_codes_the_others_anew(rich):
    """Two sets of dummies for γ share the intercept: without the first the second has it."""
    res = fit("object + tie:judge + tie:pair", rich)
    frame = drop1(res).to_frame().set_index("term")
    assert frame.loc["tie:judge", "deviance"] == pytest.approx(fit("object + tie:pair", rich).deviance, rel=CLOSE)
    assert frame.loc["tie:pair", "deviance"] == pytest.approx(fit("object + tie:judge", rich).deviance, rel=CLOSE)
    assert frame["df"].tolist()[1:] == [3, 2, 5]


def test_add1_adds_margins_first(rich):
    table = add1(fit("object + tie", rich), "object * judge * age + tie")
    assert table.to_frame()["term"].tolist() == ["<none>", "object:judge", "object:age"]
    assert any("object:judge:age" in note for note in table.notes)
    assert add1(fit("object + tie", rich), "judge:object").to_frame()["term"].tolist() == ["<none>", "judge:object"]


@pytest.mark.parametrize(
    "formula",
    [
        "~ object * judge + tie*judge",
        "(object + tie) * C(judge)",
        "I(price ** 2) + C(object,  Treatment('b')):I(judge == 'J1') + order:object",
        "object + I(age > 25):object + tie",
        'object + Q("age"):object + tie:np.log(age)',
    ],
)
def test_terms_put_together_are_the_formula(formula, rich):
    terms = written_terms(formula, rich)
    whole, again = fit(formula, rich), fit(" + ".join(term.name for term in terms), rich)
    assert again.names == whole.names
    assert again.deviance == pytest.approx(whole.deviance, rel=CLOSE)
    assert {term.name for term in terms} == set(whole.design.terms)


# -- options are carried along -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"reference": "b", "method": "eliminate"},
        {"fixed": {"tie": -0.3}},
        {"cov_type": "cluster", "groups": ["age", "judge"]},
        {"cov_type": "quasi"},
        {"prior": "jeffreys"},
        {"prior": 0.5},
    ],
)
def test_refits_have_the_options_of_the_fit(options, rich):
    res = fit("object * judge + tie", rich, **options)
    again = refit(res, "object + tie")
    expected = fit("object + tie", rich, **options)
    assert again.specification == dataclasses.replace(res.specification, formula="object + tie")
    pd.testing.assert_series_equal(again.params, expected.params)
    pd.testing.assert_frame_equal(again.cov_params(), expected.cov_params())
    frame = drop1(res, test="chi2").to_frame().set_index("term")
    assert frame.loc["object:judge", "deviance"] == pytest.approx(expected.deviance, rel=CLOSE)
    llbt.anova(res, test="chi2")


@pytest.mark.parametrize(
    ("options", "test", "said"),
    [
        ({"cov_type": "cluster", "groups": "age"}, "chi2", "likelihood ratio takes judgments as independent"),
        ({"cov_type": "cluster", "groups": "age"}, "F", "cov_type='cluster' (age)"),
        (
            {"cov_type": "HC0"},
            "score",
            "score test takes judgments as independent, but the fit has cov_type='HC0'; test='wald'",
        ),
        ({"cov_type": "quasi"}, "chi2", "dispersion as 1; test='F'"),
        ({"prior": "jeffreys"}, "chi2", "bias reduction do not maximize"),
        ({"prior": 1.0}, "F", "a prior do not maximize"),
    ],
)
def test_a_note_says_what_a_test_does_not_take_from_the_fit(options, test, said, rich):
    res = fit("object + tie + order", rich, **options)
    tables = [
        llbt.anova(res, test=test),
        drop1(res, test=test),
        add1(res, "object * judge", test=test),
        llbt.anova(fit("object + tie", rich), res, test=test),
    ]
    for table in tables:
        assert any(said in note for note in table.notes), table.notes
    notes = llbt.anova(fit("object + tie", rich), res, test="wald").notes
    assert not [note for note in notes if "BIC" not in note]
    assert llbt.anova(fit("object + tie", rich), test="chi2").notes == ()


def test_score_of_shrunken_estimates_takes_their_own_score_out(rich):
    """Neyman's C(α): the part of the score along the smaller model is projected out, so no term tests the shrinkage."""
    plain, shrunk = (
        [fit(f, rich, **o) for f in ("object + tie", "object + tie + order")] for o in ({}, {"prior": 5.0})
    )
    expected, found = (last_row(llbt.anova(*fits, test="score"))["statistic"] for fits in (plain, shrunk))
    assert found == pytest.approx(expected, abs=0.1)


def test_few_judgments_are_tested_by_the_score():
    """Ten judges with three judgments of each pair: 6 judgments per parameter of the larger model."""
    rng = np.random.default_rng(1)
    rows = [
        (i, j, f"J{k}", *rng.multinomial(3, [0.4, 0.2, 0.4]))
        for i, j in itertools.combinations("abcd", 2)
        for k in range(10)
    ]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])
    c = llbt.from_counts(frame, covariates="judge")
    small, large = fit("object + tie", c), fit("object * judge + tie", c, prior=0.1)
    default = llbt.anova(small, large)
    assert default.to_frame().equals(llbt.anova(small, large, test="score").to_frame())
    assert any(
        note.startswith("5.8 judgments per parameter") and "Rao's score test keeps" in note for note in default.notes
    )
    assert add1(small, "object * judge").to_frame().equals(add1(small, "object * judge", test="score").to_frame())
    for test, how in (("chi2", "too often"), ("wald", "too rarely")):
        notes = llbt.anova(small, large, test=test).notes
        assert any(how in note and "test='score' keeps its level" in note for note in notes)
    assert (
        llbt.anova(fit("object", c), small)
        .to_frame()
        .equals(llbt.anova(fit("object", c), small, test="chi2").to_frame())
    )


# -- printing ----------------------------------------------------------------------------------------------------------


def test_columns_and_headings(rich):
    res = fit("object + tie + order", rich)
    common = ["df_resid", "deviance", "df"]
    changes = ["delta_aic", "delta_bic", "p_value"]
    for test, columns in {
        "chi2": ["statistic"],
        "F": ["delta_deviance", "statistic", "df_denom"],
        "wald": ["delta_deviance", "statistic"],
        "score": ["delta_deviance", "statistic"],
    }.items():
        table = llbt.anova(res, test=test)
        assert table.to_frame().columns.tolist() == ["term", *common, *columns, *changes]
        text = table.as_text()
        assert text.startswith("Analysis of deviance, terms added in sequence\nModel: object + tie + order\n")
        assert "Resid. Df Resid. Dev Df Deviance" in text
        assert ("Pr(>F)" if test == "F" else "Pr(>Chi)") in text
        for rendered in (table.as_markdown(), table.as_html(), table.as_latex()):
            assert "NULL" in rendered
    assert "Single term deletions" in drop1(res).as_text()
    assert "Single term additions" in add1(res, "object * judge").as_text()


# -- errors ------------------------------------------------------------------------------------------------------------


def test_errors(rich):
    res = fit("object + tie", rich)
    held = fit("object + tie", rich, fixed={"object[a]": 0.2})
    everything = fit("tie", rich, fixed={"tie": 0.2})
    saturated = fit("object + tie", llbt.load_dataset("dras_modpref"))
    three = fit("object * age + tie", rich, cov_type="cluster", groups="judge")
    mixed = [
        fit("tie", rich),
        fit("object + tie", rich, cov_type="HC0"),
        fit("object + tie + order", rich, cov_type="quasi"),
    ]
    options = {
        "no fit; expected two or more": lambda: llbt.anova(),
        "results is of type Comparisons": lambda: llbt.anova(res, rich),
        "test='LR'; expected 'chi2', 'F', 'wald', 'score', 'cluster' or None": lambda: llbt.anova(res, test="LR"),
        "test='rao'": lambda: drop1(res, test="rao"),
        "test=1; expected": lambda: add1(res, "order", test=1),
        "with judgments that are independent; expected one way": lambda: llbt.anova(res, test="cluster"),
        r"no term that 'object \+ tie' lacks \('object', 'tie'\). Name the terms": lambda: add1(res, "object"),
        "judge is the same for both objects": lambda: add1(res, "object + judge"),
    }
    designs = {
        "not nested": lambda: llbt.anova(fit("object + order", rich), fit("object * judge + tie", rich), test="wald"),
        "same model": lambda: llbt.anova(res, fit("C(object, Sum) + tie", rich), test="score"),
        "Fit both to the table with age": lambda: llbt.anova(res, fit("object", rich.pool("age")), test="F"),
        "saturated": lambda: llbt.anova(saturated, test="F"),
        r"'object\[a\]' is held in 'object \+ tie', but 'tie' lacks this parameter": lambda: drop1(held),
        "all parameters of 'tie' are held": lambda: llbt.anova(everything),
        "no term with an estimated parameter": lambda: drop1(everything),
        "3 parameters are tested at once, but the effective number .* of judge is .* test='cluster'": lambda: drop1(
            three, test="wald"
        ),
        "some fits give χ², others F": lambda: llbt.anova(*mixed, test="wald"),
    }
    for error, cases in ((llbt.errors.OptionError, options), (llbt.errors.DesignError, designs)):
        for message, call in cases.items():
            with pytest.raises(error, match=message):
                call()
    with pytest.raises(llbt.errors.FormulaError, match="no variable 'jury'"):
        add1(res, "object * jury")


# -- size --------------------------------------------------------------------------------------------------------------

HYPOTHESES = {  # true where worths and γ alone are at work; 1 and 3 degrees of freedom
    "order": ("object + tie", "object + tie + order"),
    "object:group": ("object + tie", "object * group + tie"),
}


def simulated(hypothesis, runs, seed):
    """Pairs of fits to tables of the smaller model: 4 objects, all pairs (and groups), 30 judgments each."""
    groups = "xy" if "group" in hypothesis else "x"
    rows = [(i, j, g, 10, 10, 10) for i, j in itertools.combinations("ABCD", 2) for g in groups]
    names = ["object_i", "object_j", "group", "wins_i", "ties", "wins_j"]
    c = llbt.from_counts(pd.DataFrame(rows, columns=names), covariates="group", order=True)
    fits = [fit(formula, c) for formula in HYPOTHESES[hypothesis]]
    truth = probabilities(fits[0].problem(), np.array([0.5, 0.1, -0.3, -0.5]))  # λ of A, B, C against D, and γ
    counts = np.random.default_rng(seed).multinomial(30, truth, size=(runs, len(truth))).astype(float)
    params = [fit_many(res.problem(), counts, res.solution.params).params for res in fits]
    for k in range(runs):
        yield [refitted(res, counts[k], found[k]) for res, found in zip(fits, params, strict=True)]


def refitted(res, counts, params):
    """The same model at the estimates from other counts."""
    problem = dataclasses.replace(res.problem(), counts=counts)
    p = probabilities(problem, params)
    cov = np.linalg.inv(information(problem, p, problem.totals))
    solution = dataclasses.replace(res.solution, params=params, inverse=cov, means=problem.totals[:, None] * p)
    c = dataclasses.replace(res.comparisons, counts=counts)
    return dataclasses.replace(res, comparisons=c, solution=solution, covariance=Covariance(cov))


def _compared(small, large, test):
    return compared(tested_models.tested(small), tested_models.tested(large), Reference(test))


def sizes(hypothesis, runs, seed):
    """Share of the tables on which each test at level .05 rejects the smaller model."""
    tests = ("chi2", "wald", "score")
    pairs = simulated(hypothesis, runs, seed)
    p_values = [[_compared(small, large, test).p_value for test in tests] for small, large in pairs]
    return dict(zip(tests, np.mean(np.array(p_values) < 0.05, axis=0).tolist(), strict=True))


@pytest.mark.parametrize("name", SIMULATED)
def test_size(name):
    """4 to 6 %; the standard error of a share of 2,000 is half a point."""
    recorded = json.loads((SIMULATIONS / name).read_text(encoding="utf-8"))
    assert recorded["runs"] >= 2000
    assert all(0.04 <= size <= 0.06 for size in recorded["sizes"].values())


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SIMULATED)
def test_size_again(name):
    recorded = json.loads((SIMULATIONS / name).read_text(encoding="utf-8"))
    found = sizes(recorded["hypothesis"], recorded["runs"], recorded["seed"])
    assert found == pytest.approx(recorded["sizes"], abs=2 / recorded["runs"])  # a p-value may be .05 but for rounding


def test_simulated_fits_are_those_of_fit():
    small, large = next(simulated("object:group", 1, seed=2))
    for res in (small, large):
        expected = fit(res.specification.formula, res.comparisons)
        np.testing.assert_allclose(res.params, expected.params, rtol=1e-6)
        np.testing.assert_allclose(res.bse, expected.bse, rtol=1e-6)
    for test in ("chi2", "wald", "score"):
        expected = last_row(llbt.anova(small, large, test=test))
        found = _compared(small, large, test)
        assert found.p_value == pytest.approx(expected["p_value"], rel=CLOSE)


@pytest.mark.slow
def test_size_with_few_judgments_of_ten_judges():
    """3 judgments per pair and judge: the likelihood ratio rejects about 12 % of true models, the score test 3 %."""
    rows = [(i, j, f"J{k}", 1, 1, 1) for i, j in itertools.combinations("abcd", 2) for k in range(10)]
    names = ["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"]
    c = llbt.from_counts(pd.DataFrame(rows, columns=names), covariates="judge")
    small, large = (fit(formula, c) for formula in ("object + tie", "object * judge + tie"))
    truth = probabilities(small.problem(), np.array([1.0, 0.67, 0.33, -0.3]))
    counts = np.random.default_rng(3).multinomial(3, truth, size=(200, len(truth))).astype(float)
    fits = [fit_many(res.problem(), counts, res.solution.params) for res in (small, large)]
    ratio = fits[0].deviance - fits[1].deviance
    score = []
    for table, params in zip(counts, fits[0].params, strict=True):
        problem = dataclasses.replace(large.problem(), counts=table)
        p = probabilities(small.problem(), params)
        u = score_of(problem, p)
        score.append(u @ np.linalg.solve(information(problem, p, problem.totals), u))
    bound = stats.chi2.isf(0.05, 27)
    assert np.mean(ratio > bound) > 0.08
    assert np.mean(np.array(score) > bound) < 0.08
