"""Which kind of fit answers which of 28 questions: what is written down in questions.csv is what fits do."""

from __future__ import annotations

import re

import pytest
from support.questions import KINDS, QUESTIONS, ask, written

from llbt.errors import LLBTError

WRITTEN = written()
ATTRIBUTES = ("predict", "conf_int(profile)")  # of the fit itself: a kind without has no such attribute
SLOW = {("calibrated", "influence"), *((kind, "write_report") for kind in KINDS)}
CELLS = [
    pytest.param(kind, question, marks=[pytest.mark.slow] if (kind, question) in SLOW else [])
    for kind in KINDS
    for question in QUESTIONS
]


def test_the_matrix_has_every_kind_and_question() -> None:
    assert list(WRITTEN) == [(kind, question) for question in QUESTIONS for kind in KINDS]


@pytest.mark.parametrize(("kind", "question"), CELLS)
def test_a_kind_answers_or_says_why_not(kind: str, question: str) -> None:
    """An answer has a number; a refusal is an error of the package that says what to ask instead."""
    error = ask(kind, question)
    assert (error is None) == WRITTEN[kind, question]
    if error is not None and question not in ATTRIBUTES:
        assert isinstance(error, LLBTError)
        assert re.search(r"; expected |[.:] [A-Z]|llbt\.", str(error)), "no way out"


def test_the_number_of_questions_answered() -> None:
    """The figures that the documents give."""
    found = {kind: sum(answered for (name, _), answered in WRITTEN.items() if name == kind) for kind in KINDS}
    assert found == {
        "plain": 28,
        "mixed": 23,
        "discrimination": 24,
        "rankings": 23,
        "patterns": 22,
        "large": 11,
        "classes": 14,
        "calibrated": 14,
    }
