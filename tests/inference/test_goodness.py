"""First questions to a fit: goodness of fit, analysis of deviance, worths and their picture."""

import itertools
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import llbt

TABLE1 = llbt.load_dataset("dras_table1")


def fit(formula, c, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.TiesWarning)
        return llbt.fit(formula, c, **keywords)


@pytest.fixture(scope="module")
def by_judge():
    return fit("object * judge + tie", TABLE1)


@pytest.fixture(scope="module")
def plain():
    return fit("object + tie", TABLE1)


@pytest.fixture(scope="module")
def rich():
    """Judges, ages, an object table and lengths of both sides; order kept."""
    rng = np.random.default_rng(2)
    rows = [
        {
            "object_i": i,
            "object_j": j,
            "judge": judge,
            "age": float(rng.choice([20, 30, 60])),
            "length_i": float(rng.choice([1, 2, 4])),
            "length_j": float(rng.choice([1, 2, 4])),
            "wins_i": int(rng.integers(2, 12)),
            "ties": int(rng.integers(1, 6)),
            "wins_j": int(rng.integers(2, 12)),
        }
        for i, j in itertools.permutations("abcd", 2)
        for judge in ("J1", "J2")
    ]
    return llbt.from_counts(
        pd.DataFrame(rows),
        covariates=["judge", "age"],
        side_covariates={"length": ("length_i", "length_j")},
        object_covariates=pd.DataFrame({"object": list("abcd"), "price": [3.0, 1.0, 4.0, 2.0]}),
        order=True,
    )


# -- goodness of fit --------------------------------------------------------------------------------------


def poisson_tests(counts, means):
    """Deviance and X², cell by cell."""
    cells = list(zip(np.ravel(counts), np.ravel(means), strict=True))
    deviance = 2 * sum((y * np.log(y / m) if y else 0) - (y - m) for y, m in cells)
    return deviance, sum((y - m) ** 2 / m for y, m in cells)


def test_both_tests_by_hand(by_judge):
    test = llbt.goodness_of_fit(by_judge)
    deviance, pearson = poisson_tests(TABLE1.counts, by_judge.fittedvalues)
    assert test.deviance.statistic == pytest.approx(deviance, rel=1e-10)
    assert test.pearson.statistic == pytest.approx(pearson, rel=1e-10)
    assert (test.deviance.df, test.pearson.df) == (35, 35)
    assert test.deviance.p_value == pytest.approx(stats.chi2.sf(deviance, 35), rel=1e-9)
    assert test.pearson.p_value == pytest.approx(stats.chi2.sf(pearson, 35), rel=1e-9)
    assert test.deviance.statistic == pytest.approx(107.500, abs=5e-4)  # Dras (2015), table 1 as printed
    assert test.deviance.distribution == "chi2"
    assert isinstance(test.deviance, llbt.TestResult)
    assert (test.pooled_deviance, test.pooled_pearson) == (None, None)  # the formula uses the only covariate


@pytest.mark.parametrize("formula", ["object + tie", "object", "tie"])
def test_the_pooled_line_is_the_fit_to_the_pooled_table(formula):
    fine, coarse = (llbt.goodness_of_fit(fit(formula, c)) for c in (TABLE1, TABLE1.pool()))
    for pooled, alone in ((fine.pooled_deviance, coarse.deviance), (fine.pooled_pearson, coarse.pearson)):
        assert pooled.statistic == pytest.approx(alone.statistic, rel=1e-8)
        assert pooled.df == alone.df
        assert pooled.p_value == pytest.approx(alone.p_value, rel=1e-6)
    assert coarse.pooled_deviance is None
    assert fine.deviance.df == coarse.deviance.df + 36


def test_only_covariates_out_of_the_formula_are_pooled(rich):
    for formula, gone in (
        ("object * judge + tie", ["age", "length"]),
        ("object + tie:age", ["judge", "length"]),
        ("object + length + tie", ["judge", "age"]),
        ("object * judge + length:age + tie", []),
        ("object + tie + order:judge", ["age", "length"]),
    ):
        fine = llbt.goodness_of_fit(fit(formula, rich))
        if not gone:
            assert fine.pooled_deviance is None
            continue
        coarse = fit(formula, rich.pool(*gone))
        assert fine.pooled_deviance.statistic == pytest.approx(coarse.deviance, rel=1e-8)
        assert fine.pooled_pearson.statistic == pytest.approx(coarse.pearson_chi2, rel=1e-8)
        assert fine.pooled_deviance.df == coarse.df_resid
        for name in gone:
            assert name in fine.tables[1]
        assert "pooled" in fine.tables[1]


def test_a_covariate_that_cancels_is_not_in_the_formula():
    with pytest.warns(llbt.errors.FormulaWarning):
        res = llbt.fit("object + judge + tie", TABLE1)
    test = llbt.goodness_of_fit(res)
    assert test.pooled_deviance.statistic == pytest.approx(30.4554, abs=5e-5)
    assert test.pooled_deviance.df == 8


def test_every_line_states_its_table(plain):
    frame = llbt.goodness_of_fit(plain).to_frame()
    assert frame.columns.tolist() == ["test", "table", "statistic", "df", "p_value"]
    assert frame["test"].tolist() == ["Residual deviance", "Pearson X²"] * 2
    assert frame["table"].tolist() == ["24 comparisons"] * 2 + ["6 comparisons (judge pooled)"] * 2
    assert frame["df"].tolist() == [44, 44, 8, 8]
    assert frame["statistic"].tolist()[::2] == pytest.approx([plain.deviance, 30.4554], abs=5e-5)
    assert "24 comparisons" in llbt.goodness_of_fit(plain).deviance.null


def test_a_saturated_model_has_nothing_to_test():
    test = llbt.goodness_of_fit(fit("object + tie", llbt.load_dataset("dras_modpref")))
    assert test.deviance.df == test.pearson.df == 0
    assert test.deviance.statistic == pytest.approx(0, abs=1e-10)
    assert np.isnan([test.deviance.p_value, test.pearson.p_value]).all()
    assert any("saturated" in note for note in test.notes)
    assert "saturated" in test.as_text()
    assert "NA" in test.as_text()


def test_saturated_on_the_pooled_table_only():
    c = llbt.load_dataset("bojar_six_annotators")
    res = fit("object + tie", c)
    test = llbt.goodness_of_fit(res)
    assert test.deviance.df > 0
    assert test.deviance.p_value == pytest.approx(stats.chi2.sf(res.deviance, res.df_resid), rel=1e-9)
    assert test.pooled_deviance.df == 0
    assert np.isnan(test.pooled_deviance.p_value)
    assert any("saturated" in note for note in test.notes)


def single_judgments():
    rng = np.random.default_rng(6)
    pairs = list(itertools.combinations("abc", 2))
    rows = [(*pairs[k % 3], f"case{k:03}", str(rng.choice(["i", "j", "tie"], p=[0.5, 0.3, 0.2]))) for k in range(45)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "case", "outcome"])
    return llbt.from_judgments(frame, covariates="case")


def test_totals_of_one_say_nothing_and_are_refused_a_p_value():
    c = single_judgments()
    assert set(c.totals) == {1}
    res = fit("object + tie", c)
    test = llbt.goodness_of_fit(res)
    assert test.deviance.df == 2 * 45 - 3
    assert np.isnan([test.deviance.p_value, test.pearson.p_value]).all()
    assert any("no comparison has more than one judgment" in note for note in test.notes)
    coarse = fit("object + tie", c.pool())
    assert test.pooled_deviance.p_value == pytest.approx(stats.chi2.sf(coarse.deviance, 3), rel=1e-6)
    summary = res.summary().as_text()
    residual = next(line for line in summary.split("\n") if line.startswith("Residual deviance"))
    assert "p =" not in residual
    assert "no χ² test" in residual


def test_sparse_tables_are_noted_with_their_share(by_judge):
    small = np.mean(by_judge.fittedvalues < 5)
    assert small > 0.2
    (note,) = llbt.goodness_of_fit(by_judge).notes
    assert f"{100 * small:.1f} %" in note
    assert "below 5" in note
    assert "24 comparisons" in note
    dense = fit("object + tie", llbt.load_dataset("puddings"))
    assert (dense.fittedvalues >= 5).all()
    assert llbt.goodness_of_fit(dense).notes == ()


# -- analysis of deviance ---------------------------------------------------------------------------------


def test_likelihood_ratio_by_hand(plain, by_judge):
    frame = llbt.anova(plain, by_judge).to_frame()
    assert {"model", "df_resid", "deviance", "df", "statistic", "p_value"} <= set(frame.columns)
    assert frame["model"].tolist() == ["object + tie", "object * judge + tie"]
    assert frame["df_resid"].tolist() == [44, 35]
    ratio = 2 * (by_judge.llf - plain.llf)
    assert frame["statistic"].iloc[1] == pytest.approx(ratio, rel=1e-9)
    assert frame["df"].iloc[1] == 9
    assert frame["p_value"].iloc[1] == pytest.approx(stats.chi2.sf(ratio, 9), rel=1e-7)
    assert frame.iloc[0][["df", "statistic", "p_value"]].isna().all()


def test_fits_in_any_order_are_sorted_by_residual_df(plain, by_judge):
    largest = fit("object * judge + tie * judge", TABLE1)
    smallest = fit("object + tie", TABLE1, fixed={"tie": 0.0})
    expected = llbt.anova(smallest, plain, by_judge, largest).to_frame()
    assert expected["df_resid"].tolist() == [45, 44, 35, 32]
    for order in itertools.permutations([plain, by_judge, largest, smallest]):
        pd.testing.assert_frame_equal(llbt.anova(*order).to_frame(), expected)
    deviances = [smallest.deviance, plain.deviance, by_judge.deviance, largest.deviance]
    np.testing.assert_allclose(expected["statistic"][1:], -np.diff(deviances), rtol=1e-12)
    np.testing.assert_allclose(
        expected["p_value"][1:], stats.chi2.sf(-np.diff(deviances), expected["df"][1:]), rtol=1e-9
    )


def test_a_fixed_parameter_is_nested_in_a_free_one(plain):
    held = fit("object + tie", TABLE1, fixed={"tie": -1.0})
    frame = llbt.anova(held, plain).to_frame()
    assert frame["df"].iloc[1] == 1
    assert frame["statistic"].iloc[1] == pytest.approx(held.deviance - plain.deviance, rel=1e-12)
    without = fit("object", TABLE1)
    assert llbt.anova(without, plain).to_frame()["df"].iloc[1] == 1
    both = fit("object + tie", TABLE1, fixed={"tie": -1.0, "object[A]": 0.1})
    assert llbt.anova(plain, both, held).to_frame()["df"].tolist()[1:] == [1, 1]


def test_fits_held_at_different_values_are_not_nested(plain):
    held = fit("object + tie", TABLE1, fixed={"tie": -1.0})
    other = fit("object + tie", TABLE1, fixed={"tie": -1.0 + 1e-3, "object[A]": 0.1})
    with pytest.raises(llbt.errors.DesignError, match="not nested"):
        llbt.anova(held, other)
    with pytest.raises(llbt.errors.DesignError, match="not nested"):
        llbt.anova(fit("object", TABLE1), other)
    assert len(llbt.anova(plain, other).to_frame()) == 2


def test_nesting_is_of_models_not_of_names(plain, by_judge, rich):
    other = fit("C(object, Sum) + tie", TABLE1, reference="A")
    assert llbt.anova(other, by_judge).to_frame()["df"].iloc[1] == 9
    price = fit("price + tie", rich)
    assert llbt.anova(price, fit("object + tie", rich)).to_frame()["df"].iloc[1] == 2
    assert llbt.anova(price, fit("price + tie + order", rich)).to_frame()["df"].iloc[1] == 1


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("object + tie:judge", "object * judge + tie"),
        ("object + length + tie", "object * judge + tie"),
        ("price + tie", "object"),
        ("object + order", "object + tie:pair"),
    ],
)
def test_fits_that_are_not_nested_are_refused(a, b, rich):
    first, second = fit(a, rich), fit(b, rich)
    for pair in ((first, second), (second, first)):
        with pytest.raises(llbt.errors.DesignError, match="not nested"):
            llbt.anova(*pair)


def test_the_same_model_twice_is_refused(plain):
    for other in (plain, fit("C(object, Sum) + tie", TABLE1), fit("object + tie", TABLE1, method="eliminate")):
        with pytest.raises(llbt.errors.DesignError, match="same model"):
            llbt.anova(plain, other)


def test_not_nested_says_which(rich):
    with pytest.raises(llbt.errors.DesignError) as caught:
        llbt.anova(fit("object + tie", rich), fit("object * judge + tie", rich), fit("object + tie:pair", rich))
    assert "m1 (object * judge + tie) and m2 (object + tie:pair)" in str(caught.value).replace(
        "m2 (object + tie:pair) and m1 (object * judge + tie)", "m1 (object * judge + tie) and m2 (object + tie:pair)"
    )


def test_fits_of_different_tables_are_refused(by_judge):
    pooled = fit("object + tie", TABLE1.pool())
    with pytest.raises(llbt.errors.DesignError) as caught:
        llbt.anova(pooled, by_judge)
    expected = "m0 was fitted to 6 comparisons (judge pooled), m1 to 24: fit both to the table with judge"
    assert expected in str(caught.value)
    with pytest.raises(llbt.errors.DesignError) as caught:
        llbt.anova(by_judge, pooled)
    assert "m1 to 6 (judge pooled)" in str(caught.value)
    part = fit("object + tie", TABLE1.select(where={"judge": ["J1", "J2"]}))
    with pytest.raises(llbt.errors.DesignError, match="different tables"):
        llbt.anova(part, by_judge)
    dropped = fit("object", TABLE1.drop_ties())
    with pytest.raises(llbt.errors.DesignError, match="table"):
        llbt.anova(dropped, by_judge)


def test_the_same_table_made_twice_is_the_same_table(plain):
    again = fit("object * judge + tie", llbt.from_counts(TABLE1.to_frame().sample(frac=1), covariates="judge"))
    assert llbt.anova(plain, again).to_frame()["df"].iloc[1] == 9


def test_anova_needs_fits(plain):
    with pytest.raises(llbt.errors.DesignError, match="anova"):
        llbt.anova()
    with pytest.raises(llbt.errors.OptionError, match="results is of type Comparisons"):
        llbt.anova(plain, TABLE1)


# -- worths -----------------------------------------------------------------------------------------------


def delta_method(f, res, step=1e-5):
    """Standard errors of f(parameters) by central differences; f returns one value per object."""
    params = res.params.fillna(0.0)
    names = [name for name in res.names if np.isfinite(res.bse[name])]
    gradient = []
    for name in names:
        up, down = params.copy(), params.copy()
        up[name] += step
        down[name] -= step
        gradient.append((f(up) - f(down)) / (2 * step))
    gradient = np.array(gradient)
    cov = res.cov_params().loc[names, names].to_numpy()
    return np.sqrt(np.einsum("pk,pq,qk->k", gradient, cov, gradient))


SCALES = {
    "log_worth": lambda lam: lam,
    "log_odds": lambda lam: 2 * lam,
    "odds_ratio": lambda lam: np.exp(2 * lam),
    "elo": lambda lam: 400 * np.log10(np.exp(2 * lam)),
    "probability": lambda lam: np.exp(2 * lam) / np.exp(2 * lam).sum(),
}


def interval(scale, estimate, error, confidence):
    """Wald intervals, on the logit scale for probabilities and on the log scale for odds."""
    z = stats.norm.ppf(0.5 + confidence / 2)
    if scale == "probability":
        half = z * error / (estimate * (1 - estimate))
        return special.expit(special.logit(estimate) - half), special.expit(special.logit(estimate) + half)
    if scale == "odds_ratio":
        return estimate * np.exp(-z * error / estimate), estimate * np.exp(z * error / estimate)
    return estimate - z * error, estimate + z * error


def assert_worths(found, res, scale, log_worth, objects, confidence=0.95):
    """Compare one class of a worth table with log-worths as a function of the parameters."""

    def on_scale(params):
        lam = np.array([log_worth(params, o) for o in objects])
        return SCALES[scale](lam - lam[list(objects).index(res.design.reference)])

    expected = pd.DataFrame({"object": list(objects), "estimate": on_scale(res.params.fillna(0.0))})
    expected["std_error"] = delta_method(on_scale, res)
    known = expected["estimate"].to_numpy(), expected["std_error"].to_numpy()
    expected["conf_low"], expected["conf_high"] = interval(scale, *known, confidence)
    expected = expected.sort_values("estimate", ascending=False).reset_index(drop=True)
    found = found[expected.columns].reset_index(drop=True)
    assert found["object"].tolist() == expected["object"].tolist()
    numbers = expected.columns[1:]
    np.testing.assert_allclose(found[numbers], expected[numbers], rtol=2e-6, atol=1e-9)


def main_effect(params, o):
    return params.get(f"object[{o}]", 0.0)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("reference", [None, "B"])
def test_worths_on_every_scale(scale, reference):
    res = fit("object + tie", TABLE1, reference=reference)
    for confidence in (0.95, 0.5):
        frame = llbt.worth(res, scale=scale, confidence=confidence).to_frame()
        assert frame.columns.tolist() == ["object", "estimate", "std_error", "conf_low", "conf_high"]
        assert_worths(frame, res, scale, main_effect, "ABCD", confidence)


@pytest.mark.parametrize("scale", SCALES)
def test_worths_by_class_on_every_scale(by_judge, scale):
    frame = llbt.worth(by_judge, scale=scale).to_frame()
    assert frame["judge"].tolist() == [judge for judge in ("J1", "J2", "J3", "J4") for _ in range(4)]
    for judge, rows in frame.groupby("judge"):

        def log_worth(params, o, judge=judge):
            return main_effect(params, o) + params.get(f"object[{o}]:judge[{judge}]", 0.0)

        assert_worths(rows, by_judge, scale, log_worth, "ABCD")


def test_the_published_worths():
    """Dras (2015): A .658, D .295, B .033, C .013 on the pooled table."""
    frame = llbt.worth(fit("object + tie", TABLE1.pool())).to_frame()
    assert frame["object"].tolist() == ["A", "D", "B", "C"]
    assert frame["estimate"].round(3).tolist() == [0.658, 0.295, 0.033, 0.013]
    assert frame["estimate"].sum() == pytest.approx(1)


def test_worths_do_not_depend_on_the_reference_or_the_coding():
    tables = [
        llbt.worth(fit(formula, TABLE1, reference=reference)).to_frame()
        for formula in ("object + tie", "C(object, Sum) + tie", "C(object, Treatment('C')) + tie")
        for reference in (None, "B")
    ]
    for other in tables[1:]:
        pd.testing.assert_frame_equal(other, tables[0], rtol=1e-7)


def test_intervals_stay_inside_their_range():
    frame = pd.DataFrame(
        [("a", "b", 999, 1, 1), ("b", "c", 300, 0, 1), ("a", "c", 50, 0, 1)],
        columns=["object_i", "object_j", "wins_i", "ties", "wins_j"],
    )
    res = fit("object + tie", llbt.from_counts(frame))
    for confidence in (0.5, 0.95, 0.999999):
        shares = llbt.worth(res, confidence=confidence).to_frame()
        assert ((shares["conf_low"] > 0) & (shares["conf_low"] < shares["estimate"])).all()
        assert ((shares["estimate"] < shares["conf_high"]) & (shares["conf_high"] < 1)).all()
        odds = llbt.worth(res, scale="odds_ratio", confidence=confidence).to_frame()
        assert (odds["conf_low"] > 0).all()
    assert shares["estimate"].max() > 0.99


def test_the_reference_has_no_error_on_the_scales_against_it(plain):
    for scale, value in {"log_worth": 0, "log_odds": 0, "elo": 0, "odds_ratio": 1}.items():
        row = llbt.worth(plain, scale=scale).to_frame().set_index("object").loc["D"]
        assert row["estimate"] == value
        assert row["std_error"] == 0
        assert row["conf_low"] == row["conf_high"] == value


def test_worths_at_chosen_classes(by_judge):
    everything = llbt.worth(by_judge).to_frame()
    for at in ({"judge": "J3"}, {"judge": ["J3"]}):
        found = llbt.worth(by_judge, at).to_frame()
        pd.testing.assert_frame_equal(found, everything.query("judge == 'J3'").reset_index(drop=True))
    two = llbt.worth(by_judge, at={"judge": ["J4", "J1"]}).to_frame()
    assert two["judge"].unique().tolist() == ["J4", "J1"]


def test_worths_averaged_over_the_judgments(rich):
    res = fit("object * judge + object:age + tie", rich)
    rows = rich.to_frame()
    weight = rows[["wins_i", "ties", "wins_j"]].sum(axis=1)
    share = weight[rows["judge"] == "J2"].sum() / weight.sum()
    age = (weight * rows["age"]).sum() / weight.sum()

    def log_worth(params, o):
        interaction = share * params.get(f"object[{o}]:judge[J2]", 0.0)
        return main_effect(params, o) + interaction + age * params.get(f"object[{o}]:age", 0.0)

    for scale in SCALES:
        table = llbt.worth(res, at="average", scale=scale)
        assert table.to_frame().columns[0] == "object"
        assert_worths(table.to_frame(), res, scale, log_worth, "abcd")
        assert any("averaged over the judgments" in note for note in table.notes)


def test_average_without_covariates_is_the_worth_itself(plain):
    pd.testing.assert_frame_equal(llbt.worth(plain, at="average").to_frame(), llbt.worth(plain).to_frame())


def test_numbers_default_to_their_mean_over_the_judgments_and_a_note_says_so(rich):
    res = fit("object * age + tie", rich)
    rows = rich.to_frame()
    weight = rows[["wins_i", "ties", "wins_j"]].sum(axis=1)
    mean = (weight * rows["age"]).sum() / weight.sum()
    assert mean != pytest.approx(rows["age"].mean(), rel=1e-5)  # not the mean over the rows
    table = llbt.worth(res)
    assert table.to_frame()["age"].unique() == pytest.approx([mean])
    (note,) = [note for note in table.notes if "age" in note]
    assert "mean over the judgments" in note
    assert "at=" in note
    for age in (mean, 20.0, 77.0):
        at = None if age == mean else {"age": age}

        def log_worth(params, o, age=age):
            return main_effect(params, o) + age * params.get(f"object[{o}]:age", 0.0)

        assert_worths(llbt.worth(res, at).to_frame(), res, "probability", log_worth, "abcd")
    several = llbt.worth(res, at={"age": [20, 40]}).to_frame()
    assert several["age"].tolist() == [20] * 4 + [40] * 4


@pytest.mark.parametrize("scale", SCALES)
def test_worths_from_object_covariates(rich, scale):
    price = {"a": 3.0, "b": 1.0, "c": 4.0, "d": 2.0}
    res = fit("price + price:judge + tie", rich)
    for judge, extra in (("J1", 0.0), ("J2", 1.0)):
        frame = llbt.worth(res, {"judge": judge}, scale).to_frame()

        def log_worth(params, o, extra=extra):
            return price[o] * (params["price"] + extra * params["price:judge[J2]"])

        assert_worths(frame, res, scale, log_worth, "abcd")


def test_worths_with_side_covariates_are_of_equal_sides(rich):
    res = fit("object + length + tie", rich)
    assert res.bse["length"] > 0
    table = llbt.worth(res)
    assert_worths(table.to_frame(), res, "probability", main_effect, "abcd")
    assert any("length" in note and "both sides" in note for note in table.notes)


def test_the_length_cancels_where_it_is_the_same(rich):
    res = fit("object + length + tie", rich)
    frames = [llbt.worth(res, at={"length": value}).to_frame().drop(columns="length") for value in (1, 4)]
    pd.testing.assert_frame_equal(*frames, rtol=1e-9)


def partly_connected():
    rows = [("a", "b", 5, 2, 3), ("b", "c", 4, 1, 4), ("a", "c", 2, 2, 4)]
    rows = [(*row, "J1") for row in rows] + [("a", "b", 3, 1, 3, "J2")]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j", "judge"])
    return fit("object * judge + tie", llbt.from_counts(frame, covariates="judge"))


def test_worths_that_the_table_does_not_determine_are_nan():
    res = partly_connected()
    assert len(res.aliased) == 1
    for scale in ("log_worth", "log_odds", "elo", "odds_ratio"):
        frame = llbt.worth(res, scale=scale).to_frame()
        assert frame.query("judge == 'J1'")["estimate"].notna().all()
        unknown = frame.query("judge == 'J2' and object == 'c'")  # J2 compared a and b alone
        assert unknown[["estimate", "std_error", "conf_low", "conf_high"]].isna().all(axis=None)
        assert frame.query("judge == 'J2' and object != 'c'")["estimate"].notna().all()


def test_shares_of_a_class_are_those_of_the_objects_that_it_compares():
    """J2 judged a against b 3 to 3, once undecided: half each, and no share of c, as a note says."""
    table = llbt.worth(partly_connected())
    frame = table.to_frame().set_index(["judge", "object"])["estimate"]
    assert frame["J1"].sum() == pytest.approx(1)
    assert frame["J2"][["a", "b"]].tolist() == pytest.approx([0.5, 0.5])
    assert np.isnan(frame["J2"]["c"])
    assert "NA at judge J2: the table does not compare 'c' with the others there" in table.notes


def test_worths_of_held_parameters_are_known_numbers():
    res = fit("object + tie", TABLE1, fixed={"object[A]": 0.5})
    frame = llbt.worth(res, scale="log_worth").to_frame().set_index("object")
    assert frame.loc["A", ["estimate", "std_error"]].tolist() == [0.5, 0.0]
    assert_worths(llbt.worth(res).to_frame(), res, "probability", main_effect, "ABCD")


def test_equal_worths_are_listed_in_the_order_of_the_objects():
    frame = pd.DataFrame(
        [(i, j, 3, 2, 3) for i, j in itertools.combinations("dbca", 2)],
        columns=["object_i", "object_j", "wins_i", "ties", "wins_j"],
    )
    found = llbt.worth(fit("object + tie", llbt.from_counts(frame))).to_frame()
    np.testing.assert_allclose(found["estimate"], 0.25, rtol=1e-9)
    assert sorted(found["object"]) == list("abcd")


def test_every_worth_table_says_its_scale_and_reference(plain):
    said = {"probability": "sum", "log_worth": "λ", "log_odds": "2λ", "odds_ratio": "exp(2λ)", "elo": "400"}
    for scale, words in said.items():
        text = llbt.worth(plain, scale=scale).as_text()
        assert words in text
        assert "reference D" in text
        assert "95 %" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"scale": "elos"}, r"scale='elos'; expected 'probability', 'log_worth'"),
        ({"at": "mean"}, r"at='mean'"),
        ({"at": {"judge": "J9"}}, r"'judge' has no 'J9' in the table; it has 'J1', 'J2', 'J3', 'J4'"),
        ({"at": {"sex": "f"}}, r"'sex' is not a covariate of the formula"),
    ],
)
def test_worth_errors(by_judge, arguments, said):
    with pytest.raises((llbt.errors.DesignError, llbt.errors.OptionError), match=said):
        llbt.worth(by_judge, **arguments)


@pytest.mark.parametrize("confidence", [95, 1, 0, -0.5, float("nan")])
def test_a_confidence_is_a_probability(plain, confidence):
    with pytest.raises(llbt.errors.OptionError, match="confidence"):
        llbt.worth(plain, confidence=confidence)


def test_at_needs_a_value_for_each_name(by_judge, rich):
    for res, at in ((by_judge, {"judge": []}), (fit("object * age + tie", rich), {"age": []})):
        for question in (lambda res, at: llbt.worth(res, at), lambda res, at: res.predict(at=at)):
            with pytest.raises(llbt.errors.DesignError, match="at"):
                question(res, at)


def test_worth_needs_worths():
    with pytest.raises(llbt.errors.DesignError, match=r"no term for the worths; add object"):
        llbt.worth(fit("tie", TABLE1))


def test_at_a_number_takes_numbers(rich):
    with pytest.raises(llbt.errors.DesignError, match=r"'age' is a finite number, but 'old' was given"):
        llbt.worth(fit("object * age + tie", rich), at={"age": "old"})


# -- the picture ------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drawn(ax):
    """Centers and intervals of each line, read from the artists: label -> (y, low, high), by class."""
    found = {}
    for container in ax.containers:
        line, _, (bars,) = container.lines
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        x = np.array([segment[0, 0] for segment in bars.get_segments()])
        np.testing.assert_allclose(line.get_xdata(), x)
        np.testing.assert_array_equal(np.round(x), np.arange(len(x)))  # near its class
        found[container.get_label()] = np.column_stack([line.get_ydata(), ends])
    return found


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("at", [None, {"judge": ["J3", "J1"]}, "average"])
def test_the_picture_shows_the_worths(by_judge, scale, at):
    ax = llbt.plot.worth(by_judge, at=at, scale=scale)
    frame = llbt.worth(by_judge, at, scale).to_frame()
    lines = drawn(ax)
    assert list(lines) == ["A", "B", "C", "D"]
    for label, values in lines.items():
        rows = frame[frame["object"] == label]
        np.testing.assert_allclose(values, rows[["estimate", "conf_low", "conf_high"]], rtol=1e-9, atol=1e-12)
    if at != "average":
        ticks = [label.get_text() for label in ax.get_xticklabels()]
        assert ticks == frame["judge"].unique().tolist()
        assert ax.get_xlabel() == "judge"
    assert ax.get_yscale() == ("log" if scale in ("probability", "odds_ratio") else "linear")
    assert ax.get_ylabel()


def test_every_object_is_named_beside_its_last_point(by_judge):
    ax = llbt.plot.worth(by_judge)
    last = llbt.worth(by_judge, {"judge": "J4"}).to_frame().sort_values("estimate")
    texts = sorted(ax.texts, key=lambda text: text.xyann[1])
    assert [text.get_text() for text in texts] == last["object"].tolist()
    heights = [text.xyann[1] for text in texts]
    assert min(np.diff(heights)) > 0.03  # apart, so that they can be read


def test_classes_of_two_covariates(rich):
    res = fit("object * judge + object:age + tie", rich)
    ax = llbt.plot.worth(res, at={"age": [20, 60]})
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        f"{a}, {b}" if ax.get_xlabel() == "age, judge" else f"{b}, {a}" for a in ("20.0", "60.0") for b in ("J1", "J2")
    ]
    assert all(len(values) == 4 for values in drawn(ax).values())


def test_a_class_that_is_asked_for_twice_is_drawn(rich):
    res = fit("object * age + tie", rich)
    assert set(drawn(llbt.plot.worth(res, at={"age": [20, 20]}))) == set("abcd")


def test_the_axes_given_are_used_and_no_figure_is_made(by_judge):
    figure, (left, right) = plt.subplots(1, 2)
    before = plt.get_fignums()
    assert llbt.plot.worth(by_judge, ax=left) is left
    assert plt.get_fignums() == before
    assert len(left.containers) == 4
    assert not right.containers
    assert figure.axes == [left, right]


def test_without_axes_one_figure_is_made(by_judge):
    ax = llbt.plot.worth(by_judge)
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.figure.axes == [ax]


def test_no_global_setting_is_changed(by_judge):
    settings = dict(mpl.rcParams)
    backend = mpl.get_backend()
    for scale in SCALES:
        llbt.plot.worth(by_judge, scale=scale)
    assert dict(mpl.rcParams) == settings
    assert mpl.get_backend() == backend


def test_pictures_raise_no_warning(by_judge, plain, rich):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for res in (by_judge, plain, fit("price + tie", rich), fit("object + tie", llbt.load_dataset("dras_modpref"))):
            ax = llbt.plot.worth(res)
            ax.figure.canvas.draw()


def test_undetermined_worths_leave_gaps():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = llbt.plot.worth(partly_connected(), scale="log_worth")
    values = {container.get_label(): container.lines[0].get_ydata() for container in ax.containers}
    gaps = {label: np.isnan(value).tolist() for label, value in values.items()}
    assert gaps == {"a": [False, False], "b": [False, False], "c": [False, True]}
    assert sorted(text.get_text() for text in ax.texts) == ["a", "b", "c"]  # at the heights of their last points


@pytest.mark.parametrize(
    "question",
    [
        llbt.worth,
        llbt.leaderboard,
        llbt.pairwise,
        llbt.goodness_of_fit,
        llbt.influence,
        llbt.residuals,
        llbt.quasi_variances,
        llbt.drop1,
        llbt.simulate,
        llbt.bootstrap,
    ],
)
def test_a_question_to_no_fit_says_what_it_takes(question):
    with pytest.raises(
        llbt.errors.OptionError, match=rf"{question.__name__}: res is of type Comparisons; expected LLBT"
    ):
        question(llbt.load_dataset("dras_table1"))
