"""The audit of graded judgments: the checks that others have too, asked with grades, and those of grades alone."""

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.core.response import graded

GRADES = {2: 2, 1: 1, 0: 0, -1: -1, -2: -2}
FORMAT = llbt.formats.columns(outcome="grade", outcomes=GRADES)
FIVE = graded(2, middle=True)


def drawn(rng: np.random.Generator, n: int, delta: float = 0.0, spread: float = 0.35) -> pd.DataFrame:
    """Return n judgments of eight objects by ten judges, in five grades: the model of ARCHITECTURE, section 2."""
    worth = rng.normal(0, spread, 8)
    i = rng.integers(0, 8, n)
    j = (i + rng.integers(1, 8, n)) % 8
    lead = worth[i] - worth[j] + delta
    p, _ = FIVE.probabilities(np.array([lead, np.full(n, 0.2), np.full(n, -0.6)]))
    said = (rng.random(n)[:, None] > p.T.cumsum(axis=1)[:, :-1]).sum(axis=1)
    names = np.array(list("abcdefgh"))
    columns = {"object_i": names[i], "object_j": names[j], "grade": 2 - said, "judge": rng.integers(0, 10, n)}
    return pd.DataFrame(columns | {"prompt": np.arange(n)})


def table(frame: pd.DataFrame, **options) -> llbt.Comparisons:
    return llbt.from_judgments(frame, outcome="grade", outcomes=GRADES, **options)


@pytest.fixture(scope="module")
def clean() -> pd.DataFrame:
    return drawn(np.random.default_rng(1), 3000)


def test_a_table_and_its_judgments_are_held_against_the_same_fit(clean):
    judged = llbt.audit(clean, format=FORMAT)
    counted = llbt.audit(table(clean, clusters=("judge", "prompt"), order=True))
    for name in ("ties", "position", "outlying_judges", "blocks", "separation", "disconnected"):
        one, other = judged.finding(name), counted.finding(name)
        assert (one.level, one.found) == (other.level, other.found)
        assert one.figures == pytest.approx(other.figures, rel=1e-6)
    assert judged.failed("warning") == ()


def test_the_position_is_tested_with_the_grades(clean):
    """By Wald's test of the graded fit."""
    finding = llbt.audit(clean, format=FORMAT).finding("position")
    res = llbt.fit("object + tie + grade + order", table(clean, order=True))
    assert finding.figures["p_given"] == pytest.approx(res.pvalues["order"], rel=1e-6)
    biased = llbt.audit(drawn(np.random.default_rng(2), 3000, delta=0.1), format=FORMAT)
    assert biased.finding("position").level == "warning"


def test_the_existence_of_estimates_is_asked_with_the_grades():
    """The tie of three outcomes may be finite where a grade that nobody uses is not."""
    rows = [("a", "b", 7, 0, 6, 0, 5), ("b", "c", 4, 0, 5, 0, 6), ("a", "c", 5, 0, 4, 0, 6)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", *(names := ("++", "+", "=", "-", "--"))])
    c = llbt.from_counts(frame, grades=names)
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit("object + tie + grade", c)
    finding = llbt.audit(c).finding("separation")
    assert finding.level == "error"
    assert finding.found.startswith("object + tie")
    assert llbt.audit(c.collapse()).finding("separation").level == "ok"


def test_sizes_that_are_no_grades_are_left_aside():
    rng = np.random.default_rng(3)
    frame = llbt.read_judgments(drawn(rng, 500), format=FORMAT).to_frame()
    assert llbt.audit(frame).finding("separation").found.endswith("grade are finite")
    for strength in (frame["strength"] * 0.3, frame["strength"].where(frame.index > 20), frame["strength"] * 0 + 1):
        assert llbt.audit(frame.assign(strength=strength)).finding("separation").found.endswith("tie are finite")


def test_a_table_with_both_bad_is_audited_as_if_they_were_ties():
    rng = np.random.default_rng(4)
    frame = llbt.read_judgments(drawn(rng, 400), format=FORMAT).to_frame()[["object_i", "object_j", "outcome", "judge"]]
    bad = frame.assign(outcome=frame["outcome"].mask(rng.random(400) < 0.1, "bad"))
    c = llbt.from_judgments(bad, outcomes={"bad": "bad"}, clusters="judge")
    assert llbt.audit(c).to_frame().equals(llbt.audit(c.collapse()).to_frame())
