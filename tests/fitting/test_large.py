"""Fits of very many objects against the route with the whole covariance, on tables that both can fit."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.graphs import KINDS, Kind, finite_graph, judged_graph
from support.large import FORMULA, both_fits, few_are_many, without_bands

import llbt
from llbt import Comparisons, LargeResults, LLBTResults
from llbt.cli.answers import _facts_of_fit
from llbt.errors import DesignError, FormulaError, OptionError, SeparationError

EXACT = 1e-8
SIZE = 300


@pytest.fixture(scope="module")
def table() -> Comparisons:
    return llbt.from_judgments(judged_graph("random", SIZE, 3000), order=True)


@pytest.fixture(scope="module")
def fits(table: Comparisons) -> tuple[LargeResults, LLBTResults]:
    with without_bands():
        found = both_fits(table)
        assert found[0].variances.way == "series"  # kept from here on
    return found


def centred(res: LLBTResults, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-worths less their mean, and the covariance of these and of the other parameters."""
    p = len(res.params)
    rows = np.eye(p + 1)[:, np.r_[0 : size - 1, size : p + 1]]  # the reference is last of the objects
    rows[:size] -= rows[:size].mean(axis=0)
    return (rows @ res.params.to_numpy())[:size], rows @ res.cov_params().to_numpy() @ rows.T


def test_estimates_and_fit_are_those_of_the_dense_route(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = fits
    worths, cov = centred(dense, SIZE)
    np.testing.assert_allclose(large.worths, worths, atol=EXACT)
    np.testing.assert_allclose(large.params[["tie", "order"]], dense.params[["tie", "order"]], atol=EXACT)
    np.testing.assert_allclose(large.bse[["tie", "order"]], dense.bse[["tie", "order"]], rtol=1e-6)
    np.testing.assert_allclose(large.bse[:SIZE], np.sqrt(np.diag(cov)[:SIZE]), rtol=0.02)
    assert list(large.params.index) == [*(f"object[{o}]" for o in large.comparisons.objects), "tie", "order"]
    for name in ("deviance", "null_deviance", "pearson_chi2", "llf", "llf_multinomial", "llf_poisson"):
        assert getattr(large, name) == pytest.approx(getattr(dense, name), rel=1e-10), name
    for name in ("aic", "bic", "aic_poisson", "bic_poisson"):
        if large.specification.prior is None:
            assert getattr(large, name) == pytest.approx(getattr(dense, name), rel=1e-10), name
        else:
            with pytest.raises(llbt.errors.DesignError, match="effective parameters"):
                getattr(large, name)
    for name in ("df_resid", "df_null", "df_model", "nobs", "n_cells", "converged"):
        assert getattr(large, name) == getattr(dense, name), name
    pd.testing.assert_series_equal(large.fittedvalues, dense.fittedvalues, rtol=1e-7)


def test_frames_and_intervals_follow_from_estimates_and_errors(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, _ = fits
    frame = large.to_frame()
    np.testing.assert_allclose(frame["statistic"], large.params / large.bse)
    np.testing.assert_allclose(frame["conf_high"] - frame["conf_low"], 2 * 1.959963984540054 * large.bse)
    assert (frame["p_value"] < 0.05).equals(~((frame["conf_low"] < 0) & (frame["conf_high"] > 0)))
    again = pickle.loads(pickle.dumps(large))
    assert again.to_frame().equals(frame)
    assert "0.3 %" in large.error_note or "0.4 %" in large.error_note


def test_hypotheses_have_exact_errors(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = fits
    texts = ["object[3] - object[17] = 0.5", "tie = -0.4", "object[5] + object[6] - 2 * object[7] + order"]
    columns = ["estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]
    found, expected = large.t_test(texts).to_frame(), dense.t_test(texts).to_frame()
    np.testing.assert_allclose(found[columns], expected[columns], rtol=1e-6)
    with pytest.raises(OptionError, match="nobody"):
        large.t_test("nobody = 1")


def test_probabilities_have_exact_errors(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = fits
    frame = pd.DataFrame({"object_i": np.arange(20), "object_j": np.arange(20)[::-1] + 100})
    found, expected = large.predict(frame).to_frame(), dense.predict(frame).to_frame()
    pd.testing.assert_frame_equal(found, expected, rtol=1e-6)
    own = large.predict().to_frame()
    np.testing.assert_allclose(own["estimate"], dense.predict().to_frame()["estimate"], atol=EXACT)
    assert "std_error" not in own


def test_the_summary_has_the_best_objects_with_exact_errors(fits: tuple[LargeResults, LLBTResults]) -> None:
    large, dense = fits
    _, cov = centred(dense, SIZE)
    summary = large.summary(max_rows=10)
    frame = summary.to_frame()
    best = np.argsort(-large.worths)[:8]
    assert list(frame["term"]) == [*(f"object[{large.comparisons.objects[k]}]" for k in best), "tie", "order"]
    np.testing.assert_allclose(frame["std_error"][:8], np.sqrt(np.diag(cov)[best]), rtol=1e-6)
    text = str(summary)
    assert f"Formula: {FORMULA}" in text
    assert "292 rows with the lowest worths are hidden" in text
    assert "Newton's method" in text


def test_a_narrow_graph_is_solved_along_its_band_with_exact_errors() -> None:
    large, dense = both_fits(finite_graph("matchmade", 250, 2500), prior=None)
    worths, cov = centred(dense, 250)
    np.testing.assert_allclose(large.worths, worths, atol=EXACT)
    np.testing.assert_allclose(large.bse[:250], np.sqrt(np.diag(cov)[:250]), rtol=1e-8)
    assert large.error_note == "standard errors are exact"
    assert "along a band" in str(large.summary())


def test_a_knockout_is_solved_by_a_sparse_factor() -> None:
    rng, below = np.random.default_rng(4), np.repeat(np.arange(1, 300), 3)
    said = rng.choice(["i", "tie", "j"], len(below))
    above, first = (below - 1) // 2, rng.random(len(below)) < 0.5
    sides = {"object_i": np.where(first, below, above), "object_j": np.where(first, above, below)}
    frame = pd.DataFrame({**sides, "outcome": said})
    with without_bands():
        large, dense = both_fits(llbt.from_judgments(frame, order=True))
        assert "by a sparse factor" in str(large.summary())
    np.testing.assert_allclose(large.worths, centred(dense, 300)[0], atol=EXACT)
    np.testing.assert_allclose(large.params[["tie", "order"]], dense.params[["tie", "order"]], atol=EXACT)
    assert pickle.loads(pickle.dumps(large)).to_frame().equals(large.to_frame())


def test_covariates_of_the_sides_stand_beside_the_objects() -> None:
    c = finite_graph("random", 150, 3000)
    large, dense = both_fits(c, "object + tie + tie:topic + order + length", prior=None)
    worths, _ = centred(dense, 150)
    np.testing.assert_allclose(large.worths, worths, atol=EXACT)
    names = list(large.beside.names)
    assert sorted(names) == sorted(dense.params.index[149:])
    np.testing.assert_allclose(large.params[names], dense.params[names], atol=EXACT)
    np.testing.assert_allclose(large.bse[names], dense.bse[names], rtol=1e-6)


def test_fractions_grades_and_two_outcomes() -> None:
    frame = judged_graph("random", 120, 2500)
    frame["outcome"] = frame["outcome"].astype(str)
    frame.loc[frame.index % 3 == 0, "outcome"] = frame["outcome"].replace({"i": "i+", "j": "j+"})
    grades = {"i+": 2, "i": 1, "tie": 0, "j": -1, "j+": -2}
    graded = llbt.from_judgments(frame, outcomes=grades)
    plain = llbt.from_judgments(judged_graph("random", 120, 2500)).split_ties()
    for c, formula in ((graded, "object + tie + grade"), (plain, "object")):
        large, dense = both_fits(c, formula)
        np.testing.assert_allclose(large.worths, centred(dense, 120)[0], atol=EXACT)
        assert large.deviance == pytest.approx(dense.deviance, rel=1e-10)


def test_without_a_prior_the_table_says_whose_estimates_are_finite() -> None:
    c = llbt.from_judgments(judged_graph("random", 200, 700), order=True)
    with few_are_many():
        with pytest.raises(SeparationError, match=r"groups .the largest has \d+ objects. that wins and ties") as error:
            llbt.fit(FORMULA, c)
        assert "prior=" in error.value.remedy
        assert "c.largest_component()" in error.value.remedy
        part = c.largest_component()
        assert f"the largest has {len(part.objects)} objects" in error.value.found
        large, dense = both_fits(part, prior=None)
    np.testing.assert_allclose(large.worths, centred(dense, len(part.objects))[0], atol=1e-7)
    assert part.notes[-1] in large.summary(max_rows=3).as_text(notes="all")


def test_objects_that_never_met_are_counted() -> None:
    frame = judged_graph("random", 110, 1500)
    other = judged_graph("random", 60, 900)
    other[["object_i", "object_j"]] += 1000
    c = llbt.from_judgments(pd.concat([frame, other], ignore_index=True), order=True)
    with few_are_many(), pytest.raises(DesignError, match=r"2 groups never compared .* .the largest has 110 objects"):
        llbt.fit(FORMULA, c, prior=0.1)


def test_what_a_large_fit_has_not_is_refused(table: Comparisons) -> None:
    with few_are_many():
        for options in (
            {"cov_type": "quasi"},
            {"fixed": {"tie": 0.0}},
            {"prior": "jeffreys"},
            {"link": "probit"},
            {"reference": 3},
        ):
            with pytest.raises(OptionError, match=next(iter(options))):
                llbt.fit(FORMULA, table, **options)
        with pytest.raises(FormulaError, match="'tie:object' with 300 objects"):
            llbt.fit("object + tie + tie:object", table)
        dense_table = llbt.from_judgments(judged_graph("random", 150, 9000), order=True)
        no_ties = replace(dense_table, counts=dense_table.counts * [1, 0, 1])
        with pytest.raises(SeparationError, match="there are no ties"):
            llbt.fit(FORMULA, no_ties)
        one_sided = judged_graph("random", 150, 9000)
        one_sided["length_i"], one_sided["length_j"] = one_sided["object_i"] * 1.0, one_sided["object_j"] * 1.0
        aliased = llbt.from_judgments(one_sided, side_covariates={"length": ("length_i", "length_j")})
        with pytest.raises(DesignError, match="does not determine 'length'"):
            llbt.fit("object + tie + length", aliased, prior=0.1)
        with pytest.warns(llbt.errors.TiesWarning):
            llbt.fit("object + order", table, prior=0.1)


def test_the_whole_covariance_is_refused_with_its_size(fits: tuple[LargeResults, LLBTResults]) -> None:
    with pytest.raises(DesignError, match=r"302 parameters takes 0\.0 GiB"):
        fits[0].cov_params()
    with pytest.raises(AttributeError, match=r"llbt.worth\(res\)"):
        _ = fits[0].worth


def test_cautious_errors_say_that_clusters_are_left_out(table: Comparisons) -> None:
    frame = judged_graph("random", 150, 2000)
    frame["who"] = np.arange(2000) % 20
    with few_are_many():
        res = llbt.fit(FORMULA, llbt.from_judgments(frame, clusters="who", order=True), prior=0.1, cov_type="cautious")
    assert "Clustered standard errors (by who)" in str(res.summary(max_rows=3))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_three_thousand_objects_are_fitted_as_densely(kind: Kind) -> None:
    c = finite_graph(kind, 3000, 30_000)
    with few_are_many():
        large = llbt.fit(FORMULA, c)
    errors = large.bse[:3000]
    dense = llbt.LLBT.from_formula(FORMULA, c).fit(method="eliminate")
    worths, cov = centred(dense, 3000)
    np.testing.assert_allclose(large.worths, worths, atol=EXACT)
    off = np.abs(errors / np.sqrt(np.diag(cov)[:3000]) - 1)
    assert np.quantile(off, 0.95) <= large.variances.high * 1.5 + 1e-6
    assert large.variances.high < 0.05


@pytest.mark.slow
def test_figures_in_json_and_the_refusal_of_a_glm() -> None:
    """More than 10,000 objects: R's figures beside those of the judgments, without AIC where a prior was taken."""
    k = np.arange(10_010)
    c = llbt.from_counts(pd.DataFrame({"object_i": k, "object_j": (k + 1) % len(k), "wins_i": 2, "wins_j": 1}))
    facts = _facts_of_fit(llbt.fit("object", c))
    assert facts["llf"] == pytest.approx(30_030 * np.log(1 / 2), rel=0.01)  # a circle: equal worths
    assert facts["aic"] == pytest.approx(-2 * facts["llf"] + 2 * 10_009)
    assert facts["aic_poisson"] == pytest.approx(-2 * facts["llf_poisson"] + 2 * (10_009 + 10_010))
    assert "aic" not in _facts_of_fit(llbt.fit("object", c, prior=1.0))
    with pytest.raises(llbt.errors.DesignError, match=r"20,020 cells × 20,019 columns .*method='eliminate'"):
        llbt.fit("object", c, method="glm")
