"""The report page of graded judgments: every section, and its tables are those of the library."""

import lxml.html
import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.report.grades import expected_grades
from llbt.report.page import write_report

NAMES = ("++", "+", "=", "-", "--")


@pytest.fixture(scope="module")
def table() -> llbt.Comparisons:
    rng = np.random.default_rng(1)
    rows = [(a, b, *rng.poisson((9 + 3 * k, 12, 8, 7, 4))) for k, (a, b) in enumerate(("ab", "bc", "ac", "ad", "bd"))]
    return llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", *NAMES]), grades=NAMES)


@pytest.mark.slow
def test_every_section_and_picture_is_there(table, tmp_path):
    document = lxml.html.document_fromstring(write_report(table, tmp_path / "graded.html").read_text(encoding="utf-8"))
    sections = [section.get("id") for section in document.iter("section")]
    assert sections == ["leaderboard", "words", "audit", "pairs", "model", "fit", "grades", "choices", "counts", "made"]
    assert "not drawn" not in document.text_content()
    assert len(list(document.iter("figure"))) == 5
    assert "darker the larger the grade" in document.text_content()


@pytest.mark.usefixtures("unpictured")
def test_tables_are_those_of_the_library(table, tmp_path):
    """Leaderboard and pairs are of P(i preferred | decided), and the scale is tested."""
    res = llbt.fit("object + tie + grade", table)
    text = write_report(res, tmp_path / "graded.html").read_text(encoding="utf-8")
    found = {
        (t.findtext("caption") or "").partition(":")[0]: [[c.get("data-value") for c in r] for r in t.find("tbody")]
        for t in lxml.html.document_fromstring(text).iter("table")
    }
    tests = next(rows for name, rows in found.items() if name.startswith("Scores of the grades"))
    statistics = llbt.grade_tests(res).to_frame()["statistic"].tolist()[1:]
    assert [float(row[-2]) for row in tests[1:]] == pytest.approx(statistics)
    board = llbt.leaderboard(res).to_frame()
    assert any(
        np.isclose([float(v) for v in row if v not in (None, "")], board["estimate"][0]).any()
        for name, rows in found.items()
        if name.startswith("Leaderboard")
        for row in rows[:1]
    )


@pytest.mark.parametrize("link", ["adjacent", "cumulative"])
def test_observed_and_expected_grades_are_shares_of_the_judgments(table, link):
    """One group for all: by `predict`, turned towards the favourite and added up by hand."""
    res = llbt.fit("object + tie + grade", table, link=link)
    found = expected_grades(res, groups=1).to_frame()
    chances = res.predict().to_frame().set_index(["object_i", "object_j", "outcome"])["estimate"]
    observed, expected = np.zeros(5), np.zeros(5)
    for pair, counts in zip(table.pairs, table.counts, strict=True):
        i, j = (table.objects[k] for k in pair)
        p = np.array([chances[i, j, name] for name in table.response.outcomes])
        way = slice(None) if p[:2].sum() >= p[3:].sum() else slice(None, None, -1)
        observed += counts[way]
        expected += (counts.sum() * p)[way]
    np.testing.assert_allclose(found["observed"], observed / observed.sum(), rtol=1e-12)
    np.testing.assert_allclose(found["expected"], expected / expected.sum(), rtol=1e-6)
    assert found["outcome"].tolist() == ["favourite+", "favourite", "tie", "other", "other+"]
    parts = expected_grades(res, groups=3).to_frame()
    assert parts["favourite"].is_monotonic_increasing
    assert parts.groupby("favourite")["judgments"].first().sum() == table.n_judgments
    np.testing.assert_allclose(parts.groupby("favourite")[["observed", "expected"]].sum(), 1)


def test_interpret_says_how_often_larger_grades_are_given(table):
    counts = table.counts.sum(axis=0)
    share = (counts[0] + counts[4]) / (counts.sum() - counts[2])
    res = llbt.fit("object + tie + grade", table)
    found = llbt.interpret(res)
    odds = np.exp([res.params["grade[+]"], *res.conf_int().loc["grade[+]"]])
    assert [found.figures[f"{name} of +"] for name in ("odds", "low", "high")] == pytest.approx(odds)
    assert found.figures["share of grades"] == pytest.approx(share)
    said = found.sentences["grades"]
    assert said.startswith(f"{100 * share:.1f} % of the preferences are beyond the first grade; between equally good")
    assert f"the odds against the first grade are of + {odds[0]:.3f} (95 % interval" in said
    without = llbt.interpret(llbt.fit("object + tie", table)).sentences["grades"]
    assert without.endswith("which the model does not describe (γ = 0): add + grade.")
    cumulative = llbt.interpret(llbt.fit("object + tie + grade", table, link="cumulative")).sentences["grades"]
    assert cumulative.endswith("of the preferences are beyond the first grade.")
    assert "grades" not in llbt.interpret(llbt.fit("object + tie", table.collapse())).sentences
