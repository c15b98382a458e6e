"""Marginal means and AMCEs, beside R's survey (as cregg calls it) and statsmodels' least squares on dummies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import llbt
from llbt.errors import DesignError, JudgmentError, OptionError

REFERENCE = Path(__file__).parents[1] / "reference"
PROFILES = pd.read_csv(REFERENCE / "conjoint_profiles.csv")
ATTRIBUTES = ["price", "colour", "size"]
conjoint = llbt.classical.conjoint


def test_means_and_effects_are_those_of_survey() -> None:
    """svymean by level and svyglm of R's survey 4.1, the functions behind mm and amce of cregg, on drawn profiles."""
    theirs = json.loads((REFERENCE / "conjoint_survey.json").read_text(encoding="utf-8"))
    answer = conjoint(PROFILES)
    means, effects = pd.DataFrame(theirs["mm"]), pd.DataFrame(theirs["amce"])[1:]
    ours = answer.to_frame()
    assert ours["level"].tolist() == means["level"].tolist()
    np.testing.assert_allclose(ours[["estimate", "std_error"]], means[["estimate", "std_error"]], atol=1e-11)
    ours = answer.effect_table().to_frame().dropna()
    assert (ours["attribute"] + ours["level"]).tolist() == effects["term"].tolist()
    np.testing.assert_allclose(ours[["estimate", "std_error"]], effects[["estimate", "std_error"]], atol=1e-11)


def test_effects_of_ratings_are_those_of_least_squares() -> None:
    """statsmodels' OLS with clustered errors, CR1 less its factor (N − 1)/(N − k); other references."""
    frame = PROFILES.assign(rating=np.random.default_rng(2).normal(size=len(PROFILES)))
    answer = conjoint(frame, outcome="rating", attributes=ATTRIBUTES, respondent="respondent", reference={"size": "s"})
    effects = answer.effect_table().to_frame().set_index("level")
    other = smf.ols("rating ~ price + colour + C(size, Treatment('s'))", frame).fit(
        cov_type="cluster", cov_kwds={"groups": frame["respondent"]}, use_t=True
    )
    n, k = len(frame), len(other.params)
    assert effects.loc["l", "estimate"] == pytest.approx(other.params.iloc[-1])
    assert effects.loc["l", "std_error"] == pytest.approx(other.bse.iloc[-1] * np.sqrt((n - k) / (n - 1)))
    assert effects.loc["s", "estimate"] == 0


def test_notes_name_columns_tasks_and_combinations() -> None:
    text = conjoint(PROFILES).as_text(notes="all")
    assert "outcomes by column 'chosen', respondents by 'respondent', tasks by 'task'" in text
    assert "4 tasks without a chosen profile: their profiles count as not chosen" in text
    assert "columns not used: 'profile'" in text
    apart = PROFILES[(PROFILES["price"] != "p30") | (PROFILES["colour"] != "red")]
    answer = conjoint(apart, outcome="chosen", attributes=ATTRIBUTES, respondent="respondent")
    assert "No profile has price p30 with colour red. AMCEs then assume" in answer.as_text()


def test_columns_that_are_named_help_to_find_the_others() -> None:
    other = PROFILES.rename(columns={"respondent": "who", "task": "screening"})
    answer = conjoint(other, respondent="who", task="screening")
    assert "respondents by 'who', tasks by 'screening'" in answer.as_text(notes="all")
    assert answer.to_frame().equals(conjoint(PROFILES).to_frame())
    with pytest.raises(JudgmentError, match=r"the columns 'who', 'screening', .* do not show"):
        conjoint(other)


def test_means_of_equal_levels_count_both_profiles() -> None:
    """Both profiles of a task have the level: one of two is chosen, by hand ½."""
    frame = pd.DataFrame({"respondent": [1, 1, 2, 2], "a": [*"xxyy"], "b": [*"uvvu"], "chosen": [1, 0, 0, 1]})
    means = conjoint(frame, outcome="chosen", attributes=["a", "b"], respondent="respondent").to_frame()
    assert means["estimate"].tolist() == [0.5, 0.5, 1, 0]


def test_errors_are_na_where_respondents_do_not_vary() -> None:
    """A level that one respondent saw: deviations from its mean sum to 0 there, and would give an error of 0."""
    frame = PROFILES.assign(brand=np.where(PROFILES["profile"] == 1, "own", "other"))
    first = frame["respondent"] == frame["respondent"].iloc[0]
    frame.loc[first & (frame["profile"] == 2), "brand"] = "rare"
    answer = conjoint(frame, attributes=[*ATTRIBUTES, "brand"])
    for table in (answer.to_frame(), answer.effect_table().to_frame()):
        bare = table[table["level"] == "rare"]
        assert bare[["std_error", "conf_low", "conf_high"]].isna().all(axis=None)
        assert bare["estimate"].notna().all()
    assert answer.to_frame()["std_error"].notna().sum() == len(answer.levels) - 1
    assert "such as for levels that one respondent saw: 'brand rare'" in answer.as_text().replace("\n      ", " ")
    by_rare = conjoint(frame, attributes=[*ATTRIBUTES, "brand"], reference={"brand": "rare"}).effect_table().to_frame()
    assert by_rare.loc[by_rare["attribute"] == "brand", "std_error"].isna().all()


@pytest.mark.parametrize(
    ("frame", "options", "error", "message"),
    [
        (PROFILES, {"outcome": "choosen"}, OptionError, r"no column 'choosen' \(did you mean 'chosen'\?\)"),
        (PROFILES, {"outcome": "task", "task": "task"}, OptionError, "a column has two roles"),
        (PROFILES, {"reference": {"price": "p9"}}, OptionError, "expected a level: 'p10', 'p20', 'p30'"),
        (PROFILES, {"reference": {"prize": "p9"}}, OptionError, "reference= names 'prize'"),
        (PROFILES.drop(columns="chosen"), {}, JudgmentError, "do not show which hold outcomes"),
        (PROFILES.assign(price=PROFILES["price"].mask(PROFILES.index == 3)), {}, JudgmentError, "1 missing value"),
        (PROFILES.assign(chosen=1), {"outcome": "chosen"}, JudgmentError, "several chosen profiles"),
        (PROFILES[PROFILES["respondent"] == 1], {}, DesignError, "1 respondent; expected at least two"),
        (PROFILES.assign(shade=PROFILES["colour"]), {}, DesignError, "the attributes determine each other"),
        (PROFILES.assign(size="l"), {"attributes": ATTRIBUTES}, DesignError, "'size' has one level, 'l'"),
        (PROFILES.assign(size=[["l"]] * len(PROFILES)), {}, JudgmentError, "column 'size' holds a list; expected one"),
        (PROFILES.assign(chosen="maybe"), {"outcome": "chosen"}, JudgmentError, "column 'chosen' holds 'maybe'"),
    ],
)  # fmt: skip
def test_what_has_no_answer_is_refused(frame: pd.DataFrame, options: dict, error: type, message: str) -> None:
    roles = {"attributes": ATTRIBUTES, "respondent": "respondent", "task": "task"} if "outcome" in options else {}
    with pytest.raises(error, match=message):
        conjoint(frame, **{**roles, **options})
