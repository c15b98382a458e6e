"""Inputs that once ended in errors of other libraries, or were misread silently: refused in words, or answered."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.calls import counts, fitted, graded

import llbt
from llbt.errors import DesignError, FormulaError, JudgmentError, OptionError

AGES = np.arange(30) / 10


def by_age() -> llbt.Comparisons:
    rng = np.random.default_rng(1)
    first = rng.integers(0, 4, 600)
    second = (first + rng.integers(1, 4, 600)) % 4
    frame = pd.DataFrame({"object_i": first, "object_j": second, "outcome": rng.choice(["i", "j"], 600)})
    return llbt.from_judgments(frame.assign(x=rng.choice(AGES, 600)), covariates="x", numeric="x")


@pytest.mark.parametrize("rest", ["<x", "& age", "%x", "== 3", "^ x", "(& age)", "<"])
def test_a_sign_in_place_of_a_term_is_marked(rest):
    with pytest.raises(FormulaError, match="a sign stands where a term should be") as caught:
        llbt.fit(f"object + {rest}", counts())
    *_, text, caret = str(caught.value).split("\n")
    assert text[caret.index("^")] == rest.strip("(")[0]


@pytest.mark.parametrize("method", ["auto", "eliminate", "glm"])
def test_a_spline_with_more_columns_than_values_is_refused(method):
    with pytest.raises(DesignError, match=r"df=4|method='eliminate'"):
        llbt.fit("object * cr(x, df=99)", by_age(), method=method)
    assert llbt.fit("object * cr(x, df=4)", by_age(), method="eliminate").solution.converged  # what the message says


@pytest.mark.parametrize("statistic", [3, lambda res: "x", lambda res: object()])
def test_a_statistic_that_is_none(statistic):
    with pytest.raises(OptionError, match="expected a function of a fit that returns a number") as caught:
        llbt.bootstrap(fitted(), statistic, n=2, rng=1)
    assert "Pass statistic=lambda res: res.params." in str(caught.value)
    assert llbt.bootstrap(fitted(), lambda res: res.params, n=2, rng=1).replicates.shape[0] == 2


def test_a_graded_model_says_nothing_of_judges_and_the_remedy_does():
    res = graded()
    table = llbt.from_judgments(
        pd.DataFrame({"object_i": list("ABC"), "object_j": list("BCA"), "outcome": list("iji"), "judge": 1}),
        clusters="judge",
    )
    with pytest.raises(DesignError, match="expected a model of wins, losses and ties") as caught:
        llbt.judges.summary(table, model=res)
    pasted = str(caught.value).split("model=")[1].split(", where")[0]
    model = eval(pasted, {"llbt": llbt, "res": res})
    assert llbt.judges.summary(table, model=model).to_frame()["model_agreement"].notna().all()


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl"])
def test_json_that_is_nested_too_deeply(name, tmp_path):
    file = tmp_path / name
    file.write_text('{"object_i": ' + "[" * 100_000 + "]" * 100_000 + "}", encoding="utf-8")
    with pytest.raises(JudgmentError, match="nested too deeply for a record"):
        llbt.from_judgments(file)


@pytest.mark.parametrize("name", ["a\ud800.html", "a\0.html", "a" * 300 + ".html"])
def test_a_report_under_a_name_that_no_file_can_have(name, tmp_path):
    with pytest.raises(OptionError, match="no file can be named"):
        llbt.write_report(fitted(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_correlations_that_no_data_have():
    with pytest.raises(OptionError, match="no data have the three correlations"):
        llbt.metrics.williams(-1, 0.4, 0.3, 20)
    matrix = np.array([[1, -1, 0.4], [-1, 1, 0.3], [0.4, 0.3, 1]])  # of data, no eigenvalue is negative
    assert np.linalg.eigvalsh(matrix).min() < 0
    x = np.random.default_rng(1).normal(size=(3, 9))
    x[1] = x[0] + x[2]  # on the boundary: the determinant is 0 to rounding
    r = np.corrcoef(x)
    llbt.metrics.williams(r[0, 2], r[1, 2], r[0, 1], 9)
