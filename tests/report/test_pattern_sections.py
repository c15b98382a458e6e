"""The page of a fit to patterns: its sections, the numbers in them, and nothing that is asked of comparisons alone."""

import re

import numpy as np
import pandas as pd
import pytest
from support.questions import answered, fit_of

import llbt
from llbt.errors import OptionError
from llbt.report.pattern_sections import dependence_table
from llbt.report.pattern_shares import pattern_shares

RES = fit_of("patterns")


def section(page, name):
    found = re.search(rf'<section id="{name}">.*?</section>', page, re.DOTALL)
    assert found is not None, name
    return found[0]


def values(part):
    return np.array([float(x) for x in re.findall(r'data-value="([^"]+)"', part)])


def test_dependence_has_a_row_for_each_parameter_with_its_preferences():
    frame = dependence_table(RES, 0.95).to_frame().set_index("term")
    names = [name for name in RES.names if name.startswith("I")]
    assert sorted(frame.index) == sorted(names)
    np.testing.assert_allclose(frame["estimate"], RES.params[frame.index])
    np.testing.assert_allclose(frame["conf_low"], RES.conf_int()["conf_low"][frame.index])
    assert frame["estimate"].abs().is_monotonic_decreasing
    assert (frame["first"]["I12.13"], frame["second"]["I12.13"]) == ("A to B", "A to C")


@pytest.mark.slow
def test_a_page_on_patterns(tmp_path):
    page = llbt.write_report(RES, tmp_path / "a.html").read_text(encoding="utf-8")
    names = ["leaderboard", "words", "pairs", "answers", "dependence", "model", "patterns", "made"]
    assert re.findall(r'<section id="(\w+)">', page) == names
    assert page.count("<svg") == 2
    assert llbt.interpret(RES).sentences["model"] in section(page, "words")
    shares, told = pattern_shares(RES), values(section(page, "answers"))
    for value in (*shares.preferred, *shares.observed, *shares.tie):
        assert np.isclose(told, value, atol=6e-4).any()
    drawn = section(page, "pairs")
    for value in shares.preferred:  # in the cells of the heat map: over all answers, not by the log-worths alone
        assert f"{value:.3f}".removeprefix("0") in drawn
    assert "apart from their dependence on other answers" in drawn
    assert "llbt.fit(&#x27;object + tie + dependence&#x27;, patterns)" in section(page, "made")
    assert not re.search(r"goodness_of_fit|Residual", page)


@pytest.mark.slow
def test_patterns_are_fitted_for_the_page(tmp_path):
    page = llbt.write_report(answered(), tmp_path / "a.html", title="Three").read_text(encoding="utf-8")
    assert "<h1>Three</h1>" in page
    assert "A pattern model (object + tie)" in section(page, "words")
    assert 'id="dependence"' not in page
    by_formula = llbt.write_report(answered(), tmp_path / "b.html", formula="object * sex + tie")
    assert "Worths by class" in section(by_formula.read_text(encoding="utf-8"), "leaderboard")


@pytest.mark.slow
def test_a_page_of_many_objects(tmp_path):
    rng = np.random.default_rng(3)
    objects = [f"model-{k}" for k in range(32)]
    worth = np.linspace(1, -1, 32)
    pairs = [(i, j) for j in range(32) for i in range(j)]
    found = {f"{i}:{j}": np.where(rng.random(30) < 1 / (1 + np.exp(worth[j] - worth[i])), 1, -1) for i, j in pairs}
    data = llbt.from_patterns(pd.DataFrame(found), "comparisons", objects=objects, columns=list(found))
    page = llbt.write_report(data, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<summary>All 496 pairs</summary>" in section(page, "answers")
    assert "<svg" not in section(page, "pairs")


def test_the_formula_of_a_fit_is_its_own(tmp_path):
    with pytest.raises(OptionError, match="is for data, and this is a fit"):
        llbt.write_report(RES, tmp_path / "a.html", formula="object")
