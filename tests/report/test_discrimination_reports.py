"""Fits with discriminations in words, beside others in a table, and why they have no page."""

from pathlib import Path

import numpy as np
import pytest
from support.calls import discriminating, mixed

import llbt
from llbt.errors import OptionError


def test_the_paragraph_says_how_judges_differ() -> None:
    res = discriminating()
    found = llbt.interpret(res)
    said = found.sentences["judges"]
    assert "from 0.398 (J3) to 1.21 (J2) and differ (likelihood ratio 56.32 on 3 df" in said
    assert "Log-worths of each judge's own fit better than factors (likelihood ratio 117.1 on 6 df" in said
    assert "with a discrimination of each judge" in found.sentences["model"]
    assert found.figures["smallest discrimination"] == res.discriminations["J3"]
    assert found.figures["inverted judges"] == 0
    assert found.sentences["preference"] == llbt.interpret(res.average).sentences["preference"]
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
    text = found.as_text()
    assert "σ[J3]" in text
    assert "their mean square 1" in text
    beside = llbt.model_table([res, mixed()])
    assert beside.figures["aic"].iloc[0] == pytest.approx(-2 * res.llf_judgments + 2 * 7)


def test_a_page_refuses_them_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"Report res\.without"):
        llbt.write_report(discriminating(), tmp_path / "page.html")
