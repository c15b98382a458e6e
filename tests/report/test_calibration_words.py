"""Calibrated worths in words: each number is an attribute of the calibration, or one of its tables."""

import numpy as np
import pandas as pd
import pytest
from support.questions import fit_of, judgments

import llbt

FOUND = fit_of("calibrated")
SAID = llbt.interpret(FOUND)


def test_worths_and_odds_are_the_corrected_ones():
    frame = FOUND.to_frame().set_index("object")["estimate"]
    pi = np.exp(2 * frame) / np.exp(2 * frame).sum()
    for name, value in pi.items():
        assert SAID.figures[f"worth of {name}"] == pytest.approx(value)
    first, second, *_, last = frame.index
    assert SAID.figures["odds first"] == pytest.approx(np.exp(2 * (frame[first] - frame[second])))
    odds = np.exp(2 * (frame[first] - frame[last]))
    assert SAID.figures["odds ends"] == pytest.approx(odds)
    assert SAID.figures["share ends"] == pytest.approx(odds / (1 + odds))
    pairs = llbt.pairwise(FOUND).to_frame()
    assert SAID.figures["pairs that differ"] == (pairs["p_adjusted"] < 0.05).sum()


def test_what_machines_add_is_said():
    assert SAID.figures["omega of m"] == FOUND.omega["m"]
    assert SAID.figures["effective labels"] == FOUND.effective_labels
    assert SAID.figures["factor"] == FOUND.effective_labels / FOUND.n_labels
    assert (SAID.figures["labels"], SAID.figures["units"]) == (FOUND.n_labels, FOUND.n_units) == (120, 240)
    frame = FOUND.to_frame()
    moved = frame["estimate"] - frame["machines"]
    most = moved.abs().idxmax()
    assert SAID.figures["largest correction"] == pytest.approx(moved[most])
    assert f"lower {frame['object'][most]} most" in SAID.sentences["correction"]


def test_checks_are_those_of_the_calibration():
    assert SAID.figures["p of pairs"] == FOUND.shares.p_value
    assert SAID.figures["p of m by pair"] == FOUND.drift["m"].p_value
    assert "do not differ significantly in their pairs" in SAID.sentences["checks"]


def test_ties_are_those_after_correction_and_no_count_of_both_sources():
    odds = FOUND.predict(at={}).to_frame().set_index("outcome")["estimate"]
    tie, won, lost = (odds[name].to_numpy() for name in ("tie", "i", "j"))
    assert SAID.figures["odds of a tie"] == pytest.approx((tie / np.sqrt(won * lost))[0])
    assert "share of ties" not in SAID.figures


def test_without_estimates_of_the_labels_alone_nothing_is_said_of_the_gain():
    human = pd.DataFrame({"object_i": "A", "object_j": "D", "prompt": range(3), "outcome": "i"})
    machine = pd.DataFrame({"object_i": "A", "object_j": "D", "prompt": range(40), "outcome": ["i"] * 25 + ["j"] * 15})
    machine["judge"] = "m"
    found = llbt.judges.calibrate(human, machine, formula="object", omega=1.0)
    assert found.labels is None
    assert "is unknown" in llbt.interpret(found).sentences["machines"]
    assert "effective labels" not in llbt.interpret(found).figures


def test_a_machine_that_contradicts_people():
    frame = judgments()
    turned = frame["people"].map({"i": "j", "j": "i", "tie": "tie"})
    human = frame.rename(columns={"people": "outcome"}).drop(columns="machine")[:120]
    machine = frame.assign(outcome=turned, judge="m").drop(columns=["people", "machine"])
    found = llbt.judges.calibrate(human, machine, formula="object + tie", unit="prompt", omega=0.5)
    text = llbt.interpret(found).sentences["correction"]
    assert "The verdicts alone put D first, the labels alone " in text
    assert "; together " in text
