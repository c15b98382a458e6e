"""Every question to pattern models with covariates of objects, effects of named objects on gaps, and times."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import support.questions as asked

import llbt

OBJECTS = ["A", "B", "C"]
PAIRS = ["AB", "AC", "BC"]
TABLE = pd.DataFrame({"object": OBJECTS, "price": [1.0, 2.0, 4.0], "size": [2.0, 1.0, 2.0]})
SLOW = ("write_report", "goodness_of_fit", "residuals", "fragility", "influence")  # seconds
# a likelihood with several maxima has no profile intervals
LACKS = {"prices": set(), "missing": {"conf_int(profile)"}, "times": set()}


def _answers(times: int = 1, judges: int = 120, share: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(6)
    taste, rows = rng.normal(scale=0.5, size=(judges, 3)), []
    for week in range(times):
        worths = np.array([0.2, 0.1, 0.0]) + taste
        columns = {}
        for name, (i, j) in zip(PAIRS, [(0, 1), (0, 2), (1, 2)], strict=True):
            odds = np.exp(2 * (worths[:, i] - worths[:, j]))
            u = rng.random(judges) * (odds + 1 + 0.6 * np.sqrt(odds))
            answer = np.select([u < odds, u < odds + 1], [1.0, -1.0], 0.0)
            columns[name] = np.where(rng.random(judges) < share * (1.5 if "A" in name else 1), np.nan, answer)
        rows.append(pd.DataFrame(columns).assign(who=np.arange(judges), week=week))
    return pd.concat(rows, ignore_index=True).assign(sex=lambda frame: np.where(frame["who"] % 2, "m", "f"))


def _patterns(frame: pd.DataFrame, **keywords: Any) -> llbt.Patterns:
    named = {"objects": OBJECTS, "columns": PAIRS, "covariates": "sex", "object_covariates": TABLE} | keywords
    return llbt.from_patterns(frame, "comparisons", **named)


@cache
def _fits(name: str) -> tuple[Any, Any]:
    """Return a fit, and a fit of a smaller model."""
    if name == "prices":
        p = _patterns(_answers())
        return llbt.fit("price + tie + dependence", p), llbt.fit("price + tie", p)
    if name == "missing":
        p = _patterns(_answers(share=0.15))
        return llbt.fit("object + tie", p, missing=["A"]), llbt.fit("object + tie", p, missing="common")
    p = _patterns(_answers(2, 60), judge="who", time="week")
    return llbt.fit("object + tie + persistence", p), llbt.fit("object + tie", p)


CELLS = [
    pytest.param(name, question, marks=[pytest.mark.slow] if question in SLOW else [])
    for name in LACKS
    for question in asked.QUESTIONS
]


@pytest.mark.parametrize(("name", "question"), CELLS)
def test_new_models_answer_what_patterns_answer(monkeypatch: pytest.MonkeyPatch, name: str, question: str) -> None:
    whole, smaller = _fits(name)
    monkeypatch.setattr(asked, "fit_of", lambda kind: whole)
    monkeypatch.setattr(asked, "smaller", lambda kind: smaller)
    monkeypatch.setattr(asked, "answered", lambda: whole.patterns)
    error = asked.ask("patterns", question)
    expected = asked.written()["patterns", question] and question not in LACKS[name]
    assert (error is None) == expected, str(error)
