"""Fits with discriminations in words, beside others in a table, and on a page."""

from pathlib import Path

import lxml.html
import numpy as np
import pandas as pd
import pytest
from support.calls import discriminating, mixed

import llbt


def test_the_paragraph_says_how_judges_differ() -> None:
    res = discriminating()
    found = llbt.interpret(res)
    said = found.sentences["judges"]
    assert "from 0.398 (J3) to 1.21 (J2) and differ (likelihood ratio 56.32 on 3 df" in said
    assert "Separate log-worths for each judge fit better than discriminations (likelihood ratio 117.1 on 6 df" in said
    assert "with a discrimination of each judge" in found.sentences["model"]
    assert found.figures["smallest discrimination"] == res.discriminations["J3"]
    assert found.figures["inverted judges"] == 0
    worths = llbt.worth(res).to_frame().set_index("object")["estimate"]
    assert f"A ({worths['A']:.3f}) > D ({worths['D']:.3f})".replace("(0.", "(.") in found.sentences["preference"]
    assert "fit" not in found.sentences


def test_discriminations_are_rows_beside_other_fits() -> None:
    res = discriminating()
    wider = res.wider.res
    assert wider is not None
    found = llbt.model_table([res.without, res, wider])
    assert found.figures["df_resid"].tolist() == [44, 41, 35]
    assert found.figures["deviance"].iloc[1] == pytest.approx(res.deviance)
    assert found.figures["aic"].iloc[1] == pytest.approx(res.aic)
    frame = found.to_frame().query("model == '(2)'").set_index("term")
    np.testing.assert_allclose(frame.loc["σ[J1]":"σ[J4]", "estimate"], res.discriminations)
    np.testing.assert_allclose(frame.loc["σ[J1]":"σ[J4]", "conf_low"], res.discrimination_intervals()["conf_low"])
    text = found.as_text(notes="all")
    assert "σ[J3]" in text
    assert "their mean square 1" in " ".join(text.split())
    beside = llbt.model_table([res, mixed()])
    assert beside.figures["aic"].iloc[0] == pytest.approx(-2 * res.llf + 2 * 7)


def biased() -> llbt.DiscriminationResults:
    """Twelve judges with counts as expected of their σ: the first prefers the opposite, the second guesses."""
    sigma = np.array([-1.0, 0.0, *[1.0] * 10])
    worth = {"A": 0.6, "B": 0.0, "C": -0.6}
    rows = [
        (i, j, f"judge {k:02d}", round(60 / (1 + np.exp(-2 * factor * (worth[i] - worth[j])))))
        for k, factor in enumerate(sigma)
        for i, j in ("AB", "AC", "BC")
    ]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i"])
    c = llbt.from_counts(frame.assign(wins_j=60 - frame["wins_i"]), covariates="judge")
    res = llbt.fit("object", c, discrimination="judge")
    assert isinstance(res, llbt.DiscriminationResults)
    return res


@pytest.mark.slow
def test_a_page_has_a_section_that_names_inverted_and_guessing_judges(tmp_path: Path) -> None:
    res = biased()
    page = lxml.html.document_fromstring(llbt.write_report(res, tmp_path / "page.html").read_text(encoding="utf-8"))
    part = page.get_element_by_id("judges")
    said = [line.text_content() for line in part.iter("p")]
    assert "Inverted: judge 00." in said
    assert [line for line in said if line.startswith("Guessing")] in (
        ["Guessing: judge 01."],
        ["Guessing or inverted: judge 01."],
    )
    assert [caption.text_content()[:15] for caption in part.iter("figcaption")] == ["Discriminations"]
    first = part.find(".//table")
    k = [head.text_content() for head in first.iter("th") if head.get("scope") == "col"].index("estimate")
    values = [float(row[k].get("data-value")) for row in first.find("tbody")]
    np.testing.assert_allclose(values, res.discriminations, atol=0.006)  # as rounded
    tests = [caption.text_content() for caption in part.iter("caption")][1:]
    assert ["Likelihood-ratio" in title for title in tests] == [True, True]
    assert "σ by judge" in page.get_element_by_id("model").text_content()
    assert "discrimination='judge'" in page.get_element_by_id("made").text_content()
    assert page.get_element_by_id("words").text_content().count("for a judge of discrimination 1.") == 1


def test_intervals_by_profile_are_tabulated_and_drawn_where_asked() -> None:
    res = discriminating()
    bounds = res.discrimination_intervals(method="profile")
    frame = res.by_judge(method="profile").to_frame()
    np.testing.assert_allclose(frame[["conf_low", "conf_high"]], bounds)
    assert (frame["conf_low"] - res.by_judge().to_frame()["conf_low"]).abs().max() > 0.005
    ax = llbt.plot.discrimination(res, method="profile")
    drawn = np.sort(np.concatenate([bars.lines[2][0].get_segments() for bars in ax.containers])[:, :, 0], axis=0)
    np.testing.assert_allclose(drawn, np.sort(bounds.to_numpy(), axis=0))
    assert res.readings(method="profile").tolist() == frame["reading"].tolist()
