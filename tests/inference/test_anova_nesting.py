"""Analysis of deviance of fits that a user names: which are nested, and in what order they stand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.worths import TABLE1, fit

import llbt


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


@pytest.mark.slow
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
    expected = "m0 was fitted to 6 comparisons (judge pooled), m1 to 24. Fit both to the table with judge"
    assert expected in str(caught.value)
    with pytest.raises(llbt.errors.DesignError) as caught:
        llbt.anova(by_judge, pooled)
    assert "m1 to 6 (judge pooled)" in str(caught.value)
    part = fit("object + tie", TABLE1.select(where={"judge": ["J1", "J2"]}))
    with pytest.raises(
        llbt.errors.DesignError, match="different tables cannot be compared: they are not of the same j"
    ):
        llbt.anova(part, by_judge)
    dropped = fit("object", TABLE1.drop_ties())
    with pytest.raises(
        llbt.errors.DesignError, match="compared: the outcomes are i, j in one and i, tie, j in the other"
    ):
        llbt.anova(dropped, by_judge)


def test_the_same_table_made_twice_is_the_same_table(plain):
    again = fit("object * judge + tie", llbt.from_counts(TABLE1.to_frame().sample(frac=1), covariates="judge"))
    assert llbt.anova(plain, again).to_frame()["df"].iloc[1] == 9


def test_anova_needs_fits(plain):
    with pytest.raises(llbt.errors.OptionError, match="anova"):
        llbt.anova()
    with pytest.raises(llbt.errors.OptionError, match="results is of type Comparisons"):
        llbt.anova(plain, TABLE1)
