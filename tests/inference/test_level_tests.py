"""Judges against the rest: Rao's tests of statsmodels on the explicit GLM, and judges made to be unlike the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt

OBJECTS = np.array(list("abcdef"))


def judgments(seed: int = 1, judges: int = 12, n: int = 150) -> pd.DataFrame:
    """Six objects, i shown first with a small advantage; every judge has the same worths."""
    rng = np.random.default_rng(seed)
    size = judges * n
    i = rng.integers(0, 6, size)
    j = (i + rng.integers(1, 6, size)) % 6
    u = np.linspace(-0.6, 0.6, 6)[i] - np.linspace(-0.6, 0.6, 6)[j] + 0.1
    weights = np.exp(np.column_stack([u, np.full(size, -0.7), -u]))
    edges = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    said = (rng.random(size)[:, None] > edges).sum(axis=1)
    return pd.DataFrame(
        {
            "object_i": OBJECTS[i],
            "object_j": OBJECTS[j],
            "outcome": np.array(["i", "tie", "j"])[said],
            "judge": [f"J{k % judges:02}" for k in range(size)],
        }
    )


def table_of(frame: pd.DataFrame, **keep: str) -> pd.DataFrame:
    c = llbt.from_judgments(frame, order=True, **(keep or {"clusters": "judge"}))
    return llbt.level_tests(llbt.fit("object + tie + order", c)).to_frame()


def test_scores_equal_those_of_statsmodels() -> None:
    """GLMResults.score_test of one more column in the explicit Poisson GLM with a dummy for each comparison."""
    frame = judgments()
    c = llbt.from_judgments(frame, covariates="judge", order=True)
    res = llbt.fit("object + tie + order", c)
    found = llbt.level_tests(res).to_frame().set_index("judge")
    glm = res.to_glm()
    cells = res.fittedvalues.index.to_frame(index=False)
    worth = res.params.reindex([f"object[{o}]" for o in "abcdef"], fill_value=0.0).to_numpy()
    at = dict(zip("abcdef", worth, strict=True))
    side = cells["outcome"].map({"i": 1.0, "tie": 0.0, "j": -1.0}).to_numpy()
    lead = cells["object_i"].map(at).to_numpy(dtype=float) - cells["object_j"].map(at).to_numpy(dtype=float)
    for judge in ("J00", "J07"):
        mine = (cells["judge"] == judge).to_numpy(dtype=float)
        for name, column in {"agreement": side * lead, "tie": side == 0, "order": side}.items():
            statistic, p = glm.score_test(exog_extra=(column * mine)[:, None])[:2]
            assert found.loc[judge, name] ** 2 == pytest.approx(float(np.squeeze(statistic)), rel=1e-5)
            assert 2 * stats.norm.sf(abs(found.loc[judge, name])) == pytest.approx(float(np.squeeze(p)), abs=1e-6)


def test_clusters_and_covariates_say_the_same() -> None:
    frame = judgments(2)
    pd.testing.assert_frame_equal(table_of(frame, clusters="judge"), table_of(frame, covariates="judge"), rtol=1e-6)


def test_judges_unlike_the_rest_are_first_and_say_why() -> None:
    frame = judgments(3, n=200)
    rng = np.random.default_rng(0)
    mine = {judge: (frame["judge"] == judge).to_numpy() for judge in ("J01", "J04", "J06", "J09")}
    frame.loc[mine["J01"], "outcome"] = frame["outcome"].map({"i": "j", "j": "i", "tie": "tie"})  # labels exchanged
    frame.loc[mine["J04"], "outcome"] = np.where(rng.random(200) < 0.8, "i", "j")  # likes what is shown first
    frame.loc[mine["J06"] & (frame["outcome"] == "tie"), "outcome"] = "i"  # no ties
    for own, verdict in (("object_i", "i"), ("object_j", "j")):
        frame.loc[mine["J09"] & (frame[own] == "a"), "outcome"] = verdict  # always for a, the worst
    found = table_of(frame).set_index("judge")
    assert found.index[:4].sort_values().tolist() == ["J01", "J04", "J06", "J09"]
    assert (found["p_adjusted"].iloc[:4] < 0.001).all()
    assert (found["p_adjusted"].iloc[4:] > 0.001).all()
    assert found["reason"].iloc[:4].sort_index().tolist()[0] == "agreement"
    assert found.loc["J01", "agreement"] < -5
    assert found.loc["J04", "order"] > 5
    assert found.loc["J06", "tie"] < -4
    assert (found.loc["J09", "object"], found.loc["J09", "reason"]) == ("a", "object")
    assert found.loc["J09", "object_statistic"] > 5


@pytest.mark.slow
def test_the_familywise_error_of_judges_alike_is_kept() -> None:
    """100 boards of 12 judges, 20 judgments for each in half of them: any adjusted p below .05 in at most 10 %."""
    rejected = [table_of(judgments(seed, n=20 + 60 * (seed % 2)))["p_adjusted"].min() < 0.05 for seed in range(100)]
    assert np.mean(rejected) <= 0.1


def test_few_judgments_are_not_table_of() -> None:
    frame = judgments(5)
    few = frame[(frame["judge"] != "J03") | (frame.groupby("judge").cumcount() < 9)]
    found = table_of(few).set_index("judge")
    assert np.isnan(
        found.loc["J03", ["agreement", "tie", "order", "p_value", "p_adjusted"]].to_numpy(dtype=float)
    ).all()
    assert found.index[-1] == "J03"
    assert found.loc["J03", "reason"] == ""


def test_one_level_and_none() -> None:
    frame = judgments(6)
    res = llbt.fit("object + tie", llbt.from_judgments(frame.assign(judge="only"), clusters="judge", order=False))
    with pytest.raises(llbt.errors.DesignError, match="level_tests: by='judge' has one level"):
        llbt.level_tests(res)
    with pytest.raises(
        llbt.errors.OptionError, match="level_tests: by='who' is not a column of this table; it has 'judge'"
    ):
        llbt.level_tests(res, by="who")


def test_influence_shows_the_test_of_each_level() -> None:
    res = llbt.fit("object + tie + order", llbt.from_judgments(judgments(7), clusters="judge", order=True))
    influence = llbt.influence(res, by="judge").to_frame().groupby("judge")["p_adjusted"].first()
    found = llbt.level_tests(res).to_frame().set_index("judge")["p_adjusted"].sort_index()
    pd.testing.assert_series_equal(influence, found)
