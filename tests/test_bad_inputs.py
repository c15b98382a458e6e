"""Bad inputs to every public function end in a clear refusal, or in the answer to the same input written cleanly."""

import itertools
import re
import resource
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.bad_inputs import (
    NO_REMEDY,
    NO_SUBJECT,
    RAW,
    REFUSED,
    RIGHT,
    TRAP,
    WRONG,
    Case,
    every_case,
    outcome,
    replaced,
)
from support.calls import CALLS

import llbt

GOOD = (REFUSED, RIGHT)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a report that is written is written there


def refuted(cases: list[Case]) -> list[str]:
    """What is neither refused nor right, one line each."""
    found = ((case, *outcome(case)) for case in cases)
    return [f"{kind} | {case} | {text[:200]!r}" for case, kind, text in found if kind not in GOOD]


@pytest.mark.slow
def test_all_are_refused_or_right():
    cases = every_case()
    assert len(set(map(str, cases))) == len(cases) > 5_000
    assert refuted(cases) == []


def documented(function: Callable[..., Any]) -> tuple[type[Exception], ...]:
    """The errors that a docstring names under Raises, and that of arguments that are none of what is declared."""
    section = re.search(r"\n *Raises\n *-+\n(.*?)(?=\n *\n *[\w ]+\n *-+\n|\Z)", function.__doc__ or "", re.DOTALL)
    named = re.findall(r"\b\w+Error\b", section[1]) if section else []
    return llbt.errors.OptionError, *(getattr(llbt.errors, name) for name in named if hasattr(llbt.errors, name))


@pytest.mark.slow
def test_what_is_refused_is_documented():
    told = set()
    for function, call in CALLS.items():
        first = 1 if "." in function.__qualname__ else 0
        for place, make in itertools.product(range(first, len(call()[0])), NO_SUBJECT.values()):
            try:
                replaced(function, call, place, make)()
            except llbt.LLBTError as error:
                if not isinstance(error, documented(function)):
                    told.add((function.__module__, function.__qualname__, type(error).__name__))
            except Exception:  # told of above
                continue
            finally:
                plt.close("all")
    assert told == set()


@pytest.mark.parametrize(
    ("kind", "ask", "oracle"),
    [
        (REFUSED, lambda: llbt.from_counts(3), None),
        (RIGHT, lambda: 2.0, lambda: 2.0 + 1e-12),
        (RIGHT, lambda: pd.DataFrame({"a": [1]}), lambda: pd.DataFrame({"a": [1.0]})),
        (WRONG, lambda: 2.0, None),
        (WRONG, lambda: 2.0, lambda: 3.0),
        (WRONG, lambda: 2.0, lambda: llbt.from_counts(3)),
        (WRONG, lambda: pd.DataFrame({"a": [1]}), lambda: pd.DataFrame({"a": [2]})),
        (RAW, lambda: [][1], None),
        (NO_REMEDY, lambda: fail("no"), None),
        (NO_REMEDY, lambda: fail("the table is not to our liking at all"), None),
    ],
)
def test_every_outcome_is_told_apart(kind, ask, oracle):
    assert outcome(Case("f", "x", ask, oracle))[0] == kind


@pytest.mark.slow
def test_much_memory_is_a_trap(monkeypatch):
    monkeypatch.setattr("support.bad_inputs.MEGABYTES", 100)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # growth is seen beyond the most so far
    assert outcome(Case("f", "x", lambda: np.ones((most + 200, 2**17)).sum()))[0] == TRAP


def test_what_does_not_end_is_a_trap(monkeypatch):
    monkeypatch.setattr("support.bad_inputs.SECONDS", 0.05)

    def endless() -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue

    assert outcome(Case("f", "x", endless))[0] == TRAP


def fail(text: str) -> None:
    raise llbt.LLBTError(text)
