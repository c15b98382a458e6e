"""σ for each level of a covariate of judges: names in printouts and frames, and what is refused with what to type."""

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.mixed import judged_frame

import llbt
from llbt.errors import DesignError, FormulaError, LLBTError, OptionError

FORMULA = "object + tie + (object | gr(judge, by=expert))"
NAMES = ["(object | judge), expert=no", "(object | judge), expert=yes"]


@cache
def frame() -> pd.DataFrame:
    d = judged_frame(12, 0.8, seed=3)
    number = d["judge"].str[1:].astype(int)
    few, half = np.where(number < 2, "few", "many"), np.where(number % 2, "yes", "no")
    return d.assign(expert=half, few=few, age=20.0 + number, same="x", pair=d["object_i"] + d["object_j"])


@cache
def table() -> llbt.Comparisons:
    columns = ["expert", "few", "age", "same", "matched"]
    d = frame().assign(matched=frame()["pair"]).drop(columns="pair")
    return llbt.from_counts(d, clusters="judge", covariates=columns, numeric="age")


@cache
def res() -> llbt.MixedResults:
    found = llbt.fit(FORMULA, table())
    assert isinstance(found, llbt.MixedResults)
    return found


def test_names_are_the_same_everywhere() -> None:
    assert res().formula == FORMULA
    assert res().scales.index.tolist() == NAMES
    assert res().scale_errors.index.tolist() == NAMES
    assert res().scale_intervals().index.tolist() == NAMES
    assert set(llbt.judge_effects(res()).to_frame()["term"]) == set(NAMES)
    assert list(llbt.model_table([res()]).terms[-2:]) == NAMES
    text = res().as_text()
    for name, sigma in res().scales.items():
        assert re.search(rf"{re.escape(str(name))} +σ {sigma:.4f}", text)
    assert "judge by expert: 6 no, 6 yes" in text
    assert "expert: 2 levels, only in brackets" in " ".join(text.split())
    assert llbt.fit(res().formula, table()).llf == pytest.approx(res().llf)
    assert res().n_params == 5


def test_one_share_of_variance_for_each_level() -> None:
    assert np.isnan(res().share_between)
    shares = res().shares_between
    assert list(shares) == [("judge", "expert=no"), ("judge", "expert=yes")]
    for share, sigma in zip(shares.values(), res().scales, strict=True):
        assert share == pytest.approx(8 * sigma**2 / (8 * sigma**2 + np.pi**2 / 3))
    plain = llbt.fit("object + tie + (object | judge)", table())
    assert isinstance(plain, llbt.MixedResults)
    assert plain.shares_between == {("judge", ""): plain.share_between}


def test_few_judges_of_a_level_are_noted() -> None:
    assert "rests on few judges (6, effective number 6.00)" in res().as_text()


def test_sentences_are_of_each_level() -> None:
    text = " ".join(str(llbt.interpret(res())).split())
    assert "between levels of judge with expert=no is" in text
    assert "A new judge from the population with expert=yes prefers" in text
    assert "as estimated from 6 levels of judge" in text


def test_numbers_and_truth_values_are_levels_too() -> None:
    d = frame().assign(expert=frame()["expert"] == "yes")
    yes = llbt.fit(FORMULA, llbt.from_counts(d, clusters="judge", covariates="expert"))
    assert isinstance(yes, llbt.MixedResults)
    assert yes.scales.index.tolist() == ["(object | judge), expert=False", "(object | judge), expert=True"]
    np.testing.assert_allclose(yes.scales, res().scales, rtol=1e-6)
    assert len(yes.predict(at={"expert": True}, population=True).to_frame()) == 9
    with pytest.raises(OptionError, match="at= has expert='yes'"):
        llbt.worth(yes, at={"expert": "yes"}, scale="log_odds", population=True)


def test_covariates_of_a_table_of_judges_are_levels() -> None:
    judges = frame()[["judge", "expert"]].drop_duplicates()
    c = llbt.from_counts(frame().drop(columns=["expert", "pair"]), clusters="judge", judge_covariates=judges)
    found = llbt.fit(FORMULA, c)
    assert isinstance(found, llbt.MixedResults)
    np.testing.assert_allclose(found.scales, res().scales, rtol=1e-6)


@pytest.mark.parametrize(
    ("by", "found"),
    [
        ("exprt", r"'exprt' \(did you mean 'expert'\?\) is not a covariate of this table"),
        ("judge", "'judge' is the grouping itself"),
        ("age", "'age' holds numbers"),
        ("same", "'same' has one level, 'x'"),
        ("matched", "judge 'J00' has 'AB', 'AC', 'BC' of 'matched'"),
        ("few", "'judge' has 2 levels with few=few, too few to estimate a standard deviation"),
    ],
)
def test_columns_without_levels_of_judges_are_refused(by: str, found: str) -> None:
    with pytest.raises(DesignError, match=found) as refused:
        llbt.fit(f"object + tie + (object | gr(judge, by={by}))", table())
    typed = re.search(r"llbt\.fit\(.*\)", refused.value.remedy)
    assert typed is not None or by in ("exprt", "age")
    if typed is not None:
        again = eval(typed[0], {"llbt": llbt, "c": table()})
        assert again.formula == "object + tie + (object | judge)"


def test_a_cluster_has_to_be_a_covariate() -> None:
    c = llbt.from_counts(frame().drop(columns="pair"), clusters=("judge", "expert"))
    with pytest.raises(DesignError, match="'expert' is a cluster of this table") as refused:
        llbt.fit(FORMULA, c)
    assert "covariates='expert'" in refused.value.remedy


def test_levels_whose_judges_made_one_judgment_are_refused() -> None:
    d = frame().drop(columns="pair")
    once = d[d["expert"] == "yes"].drop_duplicates("judge").assign(wins_i=[1, 0] * 3, ties=0, wins_j=[0, 1] * 3)
    c = llbt.from_counts(pd.concat([d[d["expert"] == "no"], once]), clusters="judge", covariates="expert")
    with pytest.raises(DesignError, match="every level of 'judge' with expert=yes made one judgment"):
        llbt.fit(FORMULA, c)


@pytest.mark.parametrize(
    ("asked", "error", "match"),
    [
        (lambda: llbt.fit(FORMULA, table(), discrimination="judge"), OptionError, "both model how judges differ"),
        (lambda: llbt.fit(FORMULA, table(), approximation="ep"), OptionError, "approximation='ep' with effects of"),
        (
            lambda: llbt.fit("object + tie + (order | gr(judge, by=expert))", table()),
            DesignError,
            "deviations from order",
        ),
        (lambda: res().equal_scales_test(), DesignError, "a σ for each level of 'expert'"),
        (lambda: res().boundary_test(), DesignError, "2 standard deviations at once"),
    ],
)
def test_what_does_not_go_with_levels_is_refused(asked: Any, error: type[LLBTError], match: str) -> None:
    with pytest.raises(error, match=match):
        asked()


def test_the_test_of_one_sigma_that_a_refusal_names_runs() -> None:
    with pytest.raises(DesignError) as refused:
        res().boundary_test()
    typed = re.search(r"res\.boundary_test\('.*?'\)", refused.value.remedy)
    assert typed is not None
    assert eval(typed[0], {"res": res()}).df == 1


def test_best_worst_sets_have_one_sigma() -> None:
    sets = pd.DataFrame({"s1": "A", "s2": "B", "s3": "C", "best": [*"ABACBA"], "worst": [*"CCBACB"]})
    sets = sets.assign(judge=[*"uvw"] * 2, expert=[*"yny"] * 2)
    roles: dict[str, Any] = {"clusters": "judge", "covariates": "expert"}
    choices = llbt.from_choices(sets, objects=["s1", "s2", "s3"], best="best", worst="worst", **roles)
    with pytest.raises(FormulaError, match="best-worst sets"):
        llbt.fit("object + (object | gr(judge, by=expert))", choices)
