"""Three stories of the documents, as a user would tell them: every line stands in the README or a vignette."""

import numpy as np
import pandas as pd
import pytest

import llbt


def test_an_r_user_puts_a_table_into_a_paper() -> None:
    """Business schools: two fits side by side, in LaTeX; their deviances are checked in tests/test_reference.py."""
    c = llbt.load_dataset("cems")
    none, by_english = llbt.fit("object + tie", c), llbt.fit("object * ENG + tie", c)
    table = llbt.model_table([none, by_english], names=["all alike", "by English"])
    text = table.as_latex()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    assert "all alike" in text
    assert "by English" in text
    for res in (none, by_english):
        assert f"{res.deviance:.2f}"[:5] in text.replace(",", "")
    frame = table.to_frame()
    assert len(frame) >= len(by_english.params)


def test_an_arena_file_becomes_a_leaderboard_in_three_lines(tmp_path) -> None:
    rng = np.random.default_rng(3)
    names = np.array(["gpt", "opus", "llama", "qwen"])
    a = rng.integers(0, 4, 4_000)
    b = (a + rng.integers(1, 4, 4_000)) % 4
    u = 0.4 * (b - a)  # the earlier, the better
    said = np.where(
        rng.random(4_000) < 0.2, "tie", np.where(rng.random(4_000) < 1 / (1 + np.exp(-2 * u)), "model_a", "model_b")
    )
    pd.DataFrame({"model_a": names[a], "model_b": names[b], "winner": said}).to_parquet(tmp_path / "battles.parquet")

    c = llbt.from_judgments(tmp_path / "battles.parquet", format="auto")
    res = llbt.fit("object + tie", c)
    board = llbt.leaderboard(res, scale="elo").to_frame()

    assert board["object"].tolist() == ["gpt", "opus", "llama", "qwen"]
    assert (board["rank_low"] <= board["rank"]).all()
    # neighbours differ by .8 on the log-odds scale: 400·log10(e)·.8 = 139 points
    gaps = -np.diff(board["estimate"])
    np.testing.assert_allclose(gaps, 400 * np.log10(np.e) * 0.8, rtol=0.35)


@pytest.fixture(name="judged")
def _judged() -> pd.DataFrame:
    """240 judgments of two systems by four annotators, one of whom sees no difference."""
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"sentence": np.repeat(np.arange(60), 4), "annotator": np.tile(list("WXYZ"), 60)})
    swapped = rng.random(240) < 0.5
    chances = np.where(frame["annotator"] == "Z", 0.5, 0.75)
    new_wins = rng.random(240) < chances
    tie = rng.random(240) < 0.2
    frame["left"], frame["right"] = np.where(swapped, "old", "new"), np.where(swapped, "new", "old")
    frame["winner"] = np.where(tie, "tie", np.where(new_wins != swapped, "left", "right"))
    return frame


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_a_reviewer_of_240_judgments_is_answered(judged: pd.DataFrame, tmp_path) -> None:
    """Who judged, is one system better, do the annotators differ, do they agree, and a page to attach."""
    columns = {"objects": ("left", "right"), "outcome": "winner"}
    c = llbt.from_judgments(judged, **columns, covariates="annotator")
    pooled, by_annotator = llbt.fit("object + tie", c), llbt.fit("object * annotator + tie", c)
    assert pooled.params["object[new]"] > 0
    assert pooled.pvalues["object[new]"] < 0.001
    test = llbt.anova(pooled, by_annotator).to_frame().iloc[-1]
    assert test["df"] == 3
    assert llbt.classical.sign_test(c).to_frame()["p_value"].iloc[0] < 0.001
    standard = llbt.read_judgments(judged, **columns, judge="annotator")
    agreement = llbt.judges.agreement(standard, unit=["sentence"]).to_frame().set_index("term")
    assert 0 < agreement.loc["percent", "estimate"] < 1
    summary = llbt.judges.summary(standard, model=llbt.fit("object + tie", c)).to_frame().set_index("judge")
    assert summary["judgments"].tolist() == [60] * 4
    words = llbt.interpret(pooled).text
    assert "new" in words
    assert f"{c.n_judgments:.0f}" in words
    found = llbt.audit(judged, format=llbt.formats.columns(("left", "right"), "winner"), judge="annotator")
    page = llbt.write_report(by_annotator, tmp_path / "report.html", audit=found)
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
