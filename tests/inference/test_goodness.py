"""Goodness of fit, by hand and on pooled tables; what questions say that are asked of no fit."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.worths import TABLE1, fit

import llbt


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
    c = llbt.load_dataset("bojar_six_annotators").collapse()
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
