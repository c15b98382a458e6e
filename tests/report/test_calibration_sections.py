"""The page of calibrated worths: its sections, and no count or figure of labels and verdicts as if they were one."""

import re

import numpy as np
import pandas as pd
import pytest
from support.questions import fit_of, judgments

import llbt
from llbt.errors import OptionError

FOUND = fit_of("calibrated")


def section(page, name):
    found = re.search(rf'<section id="{name}">.*?</section>', page, re.DOTALL)
    assert found is not None, name
    return found[0]


def values(part):
    return np.array([float(x) for x in re.findall(r'data-value="([^"]+)"', part)])


@pytest.mark.slow
def test_a_page_on_calibrated_worths(tmp_path):
    page = llbt.write_report(FOUND, tmp_path / "a.html").read_text(encoding="utf-8")
    names = ["leaderboard", "words", "pairs", "machines", "checks", "model", "made"]
    assert re.findall(r'<section id="(\w+)">', page) == names
    assert page.count("<svg") == 3
    assert llbt.interpret(FOUND).sentences["machines"] in section(page, "words")
    board = llbt.leaderboard(FOUND).to_frame()
    told = values(section(page, "leaderboard"))
    for value in (*board["estimate"], *board["conf_low"]):
        assert np.isclose(told, value, atol=6e-4).any()
    for count in ("judgments", "wins", "losses"):  # of people and machines together
        assert f'<button type="button">{count}</button>' not in page
    assert "people and of machines together" not in page
    sources, frame = values(section(page, "machines")), FOUND.to_frame()
    for value in (*frame["labels"], *frame["machines"]):
        assert np.isclose(sources, value, atol=6e-4).any()
    checks = values(section(page, "checks"))
    for value in (FOUND.shares.statistic, FOUND.drift["m"].statistic):
        assert np.isclose(checks, value, atol=6e-3).any()
    probability = llbt.pairwise(FOUND, scale="probability").to_frame()["estimate"]
    drawn = section(page, "pairs")
    for value in probability:
        assert f"{value:.3f}".removeprefix("0") in drawn
    assert not re.search(r"AIC|BIC|Log-likelihood", page)


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_an_audit_that_is_passed_has_its_section(tmp_path):
    human = judgments().rename(columns={"people": "outcome"}).drop(columns="machine")
    found = llbt.audit(human)
    page = llbt.write_report(FOUND, tmp_path / "a.html", audit=found, title="Two").read_text(encoding="utf-8")
    assert "Are the judgments in order?" in section(page, "audit")
    assert "<h1>Two</h1>" in page


@pytest.mark.slow
def test_labels_without_estimates_are_not_drawn(tmp_path):
    human = pd.DataFrame({"object_i": "A", "object_j": "D", "prompt": range(3), "outcome": "i"})
    machine = pd.DataFrame({"object_i": "A", "object_j": "D", "prompt": range(40), "outcome": ["i"] * 25 + ["j"] * 15})
    found = llbt.judges.calibrate(human, machine.assign(judge="m"), formula="object", omega=1.0)
    page = llbt.write_report(found, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "verdicts alone" in section(page, "machines")
    assert ">labels alone<" not in section(page, "machines")


def test_the_formula_of_calibrated_worths_is_their_own(tmp_path):
    with pytest.raises(OptionError, match="is for data, and this is a fit"):
        llbt.write_report(FOUND, tmp_path / "a.html", formula="object")
