"""Fits with effects of judges in words, side by side, and on the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.mixed import judged_frame

import llbt


@pytest.fixture(scope="module")
def c() -> llbt.Comparisons:
    return llbt.from_counts(judged_frame(20, 0.8, seed=3, each=4), clusters="judge")


@pytest.fixture(scope="module")
def res(c: llbt.Comparisons) -> llbt.MixedResults:
    found = llbt.fit("object + tie + (object | judge)", c)
    assert isinstance(found, llbt.MixedResults)
    return found


def test_words_are_of_the_average_judge_and_then_of_judges(res: llbt.MixedResults) -> None:
    found = llbt.interpret(res)
    assert "with normal effects of judge (object + tie + (object | judge))" in found.sentences["model"]
    assert {"preference", "differences", "ties", "judges"} <= set(found.sentences)
    assert "fit" not in found.sentences
    figures = found.figures
    assert figures["sigma of (object | judge)"] == res.scales.iloc[0]
    assert figures["p of effects"] == res.boundary_test().p_value
    assert figures["share between"] == res.share_between
    first, last = (llbt.worth(res).to_frame()["object"].iloc[k] for k in (0, -1))
    pairs = llbt.pairwise(res, scale="probability", population=True).to_frame()
    row = pairs[pairs[["object_i", "object_j"]].isin([first, last]).all(axis=1)]["estimate"].iloc[0]
    assert figures["share of a new judge"] == pytest.approx(max(row, 1 - row))
    assert figures["odds ends"] == pytest.approx(
        np.exp(np.abs(llbt.pairwise(res).to_frame()["estimate"]).max()), rel=1e-8
    )
    judges = found.sentences["judges"]
    assert f"{100 * figures['share of a new judge']:.1f} %" in judges
    assert "from 20 levels of judge" in judges


def test_words_of_judges_beside_objects_count_the_judges() -> None:
    """They said "as estimated from 4 levels of object", the grouping that the formula names first."""
    prices = pd.DataFrame({"object": list("ABC"), "price": [1.0, 4.0, 3.0]})
    frame = judged_frame(20, 0.8, seed=3, each=4)
    c = llbt.from_counts(frame, clusters="judge", object_covariates=prices)
    said = llbt.interpret(llbt.fit("price + tie + (1 | object) + (object | judge)", c)).sentences["judges"]
    assert "as estimated from 20 levels of judge." in said
    assert said.startswith("The standard deviation of log-worths between objects of equal covariates is")


def test_words_of_judges_who_do_not_differ() -> None:
    c = llbt.from_counts(judged_frame(6, 0.0, seed=1, each=2).assign(wins_i=4, ties=2, wins_j=3), clusters="judge")
    text = llbt.interpret(llbt.fit("object + tie + (object | judge)", c)).text
    assert "so that they do not differ" in text
    assert "new judge" not in text


def test_covariates_of_judges_are_tested_by_wald(c: llbt.Comparisons) -> None:
    frame = c.to_frame(clusters=True)
    frame["sex"] = np.where(frame["judge"].str[2].astype(int) % 2, "f", "m")
    found = llbt.fit(
        "object * sex + tie + (object | judge)", llbt.from_counts(frame, clusters="judge", covariates="sex")
    )
    said = llbt.interpret(found)
    names = [name for name in found.names if ":sex" in name]
    expected = found.wald_test([f"{name} = 0" for name in names])
    assert said.figures["worth by sex"] == pytest.approx(expected.statistic)
    assert "judge was not modelled" not in said.text


def test_standard_deviations_stand_in_rows_of_their_own(res: llbt.MixedResults) -> None:
    table = llbt.model_table([res.without, res])
    frame = table.to_frame().set_index(["model", "term"])
    row = frame.loc["(2)", "(object | judge)"]
    sigma, error = res.scales.iloc[0], res.scale_errors.iloc[0]
    half = stats.norm.isf(0.025) * error / sigma
    expected = [sigma, error, np.nan, np.nan, sigma * np.exp(-half), sigma * np.exp(half)]
    np.testing.assert_allclose(row.astype(float), expected)
    assert ("(1)", "(object | judge)") not in frame.index
    assert table.terms[-1] == "(object | judge)"
    figures = table.figures
    assert figures["llf"].tolist() == pytest.approx([res.without.llf, res.llf])
    assert figures["aic"].iloc[0] == pytest.approx(-2 * res.without.llf + 2 * 3)
    assert figures["aic"].iloc[1] == pytest.approx(res.aic)
    assert figures["deviance"].isna().tolist() == [False, True]
    text = table.as_text()
    assert "of the judgments, Σ n log p" in text
    assert "—" in text
    assert len(table.for_maketables()) == 2


@pytest.mark.slow
def test_a_page_says_how_judges_differ(res: llbt.MixedResults, c: llbt.Comparisons, tmp_path: Path) -> None:
    page = llbt.write_report(res, tmp_path / "a.html").read_text(encoding="utf-8")
    for said in (
        "Effects of each judge, the largest first",
        "For a new judge, drawn from the population",
        "Effects of each judge",
        "with normal effects of judge",
        "Estimates are of the average judge, whose effects are 0.",
        "llbt.anova(res.without, res)",
        "½χ²₀ + ½χ²₁",
    ):
        assert said in page, said
    assert "Does the model fit?" not in page
    again = llbt.write_report(c, tmp_path / "b.html", formula="object + tie + (object | judge)")
    assert "Effects of each judge, the largest first" in again.read_text(encoding="utf-8")
