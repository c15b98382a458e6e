"""Brackets of a formula: cut off before patsy reads it, and refused where they cannot be read."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import llbt
from llbt.errors import FormulaError
from llbt.formulas.brackets import Bracket, split_brackets, written_formula


@pytest.mark.parametrize(
    ("text", "rest", "brackets"),
    [
        ("object + tie", "object + tie", ()),
        ("object + (object | judge)", "object", (Bracket("object", "judge"),)),
        ("~ (order|judge) + object + order", "object + order", (Bracket("order", "judge"),)),
        (
            "object * age + tie + ( tie | `the judge` ) + (object | `the judge`)",
            "object * age + tie",
            (Bracket("tie", "the judge"), Bracket("object", "the judge")),
        ),
        (
            "object + order + (object + order || judge)",
            "object + order",
            (Bracket("object", "judge"), Bracket("order", "judge")),
        ),
        ("object + (object || `the judge`)", "object", (Bracket("object", "the judge"),)),
        (
            "object + `is long` + (object+`is long`|judge)",
            "object + `is long`",
            (Bracket("object", "judge"), Bracket("is long", "judge")),
        ),
        ("object + (object | gr(judge, by=expert))", "object", (Bracket("object", "judge", "expert"),)),
        (
            "object + order + (object + order || gr(`the judge`,by = `is expert`)) + (object | prompt)",
            "object + order",
            (
                Bracket("object", "the judge", "is expert"),
                Bracket("order", "the judge", "is expert"),
                Bracket("object", "prompt"),
            ),
        ),
        ("object + (object | gr(judge))", "object", (Bracket("object", "judge"),)),
        ("object + object:I(judge == 'a|b')", "object + object:I(judge == 'a|b')", ()),
        ("object + object:I((x > 1) | y)", "object + object:I((x > 1) | y)", ()),
        ("(object + tie) * judge", "(object + tie) * judge", ()),
    ],
)
def test_brackets_are_cut_off(text: str, rest: str, brackets: tuple[Bracket, ...]) -> None:
    assert split_brackets(text) == (rest, brackets)


def test_a_bracket_prints_as_it_is_written() -> None:
    assert str(Bracket("tie", "judge")) == "(tie | judge)"
    assert split_brackets(f"object + {Bracket('tie', 'two words')}")[1] == (Bracket("tie", "two words"),)
    several = Bracket("my length", "two words", "is expert")
    assert str(several) == "(`my length` | gr(`two words`, by=`is expert`))"
    assert split_brackets(f"object + {several}")[1] == (several,)


def test_the_levels_of_a_bracket_are_written_once() -> None:
    levels = [Bracket("object", "judge", "expert", level) for level in ("no", "yes")]
    assert [str(level) for level in levels] == ["(object | judge), expert=no", "(object | judge), expert=yes"]
    formula = written_formula("object", [*levels, Bracket("object", "prompt")])
    assert formula == "object + (object | gr(judge, by=expert)) + (object | prompt)"


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("object + (object + || judge)", "'' cannot vary"),
        ("object + (object | judge prompt)", "cannot be read as a name"),
        ("object + (object | )", "'' cannot be read as a name"),
        ("object + (object | judge", "cannot be read"),
        ("object * (object | judge)", "cannot be read"),
        ("object - (object | judge)", "cannot be read"),
        ("object | judge", "cannot be read"),
        ("(object | judge)", "only brackets"),
        ("object + (object | judge) + (object | judge)", "occurs twice"),
        ("object + (object | gr(judge, by=team)) + (object | gr(judge, by=team))", "occurs twice"),
    ],
)
def test_brackets_that_cannot_be_read_are_refused(text: str, fragment: str) -> None:
    with pytest.raises(FormulaError) as refused:
        split_brackets(text)
    assert fragment in refused.value.found
    assert "(tie | judge)" in refused.value.remedy


@pytest.mark.parametrize(
    ("text", "found", "remedy"),
    [
        ("object + (object | gr(judge, cor=FALSE))", "cannot be read as a grouping", "(object | gr(judge, by=expert))"),
        ("object + (object | gr(judge/prompt, by=team))", "cannot be read as a grouping", "one grouping"),
        ("object + (object | gr(judge, by=team + age))", "cannot be read as a grouping", "one covariate"),
        ("object + (object | f(judge))", "cannot be read as a grouping", "one grouping"),
        ("object + (object | gr(judge, by=team)) + (object | judge)", "are the same effects", "Keep one of them"),
        ("object + (object | gr(judge, by=team)) + (object | gr(judge, by=age))", "are the same effects", "one column"),
    ],
)
def test_groupings_that_cannot_be_read_are_refused(text: str, found: str, remedy: str) -> None:
    with pytest.raises(FormulaError) as refused:
        split_brackets(text)
    assert found in refused.value.found
    assert remedy in refused.value.remedy


def test_other_readers_of_formulas_say_who_reads_brackets() -> None:
    with pytest.raises(FormulaError, match=r"Only llbt\.fit\(…\) reads brackets"):
        llbt.LLBT.from_formula("object + (object | judge)", llbt.load_dataset("dras_table1"))


@pytest.mark.parametrize(
    ("formula", "remedy"),
    [
        (
            "object + order + length + (object + order + length | judge)",
            "llbt.fit('object + order + length + (object + order + length || judge)', c).",
        ),
        (
            "object + (order+length|judge) + order + length",
            "llbt.fit('object + order + length + (order+length||judge)', c).",
        ),
        ("(1 | judge) + object", "llbt.fit('object + (object | judge)', c)."),
        ("object + length + (length:order | judge)", "Write brackets as separate terms"),
        ("object + (object | judge/prompt)", "llbt.fit('object + (object | judge) + (object | prompt)', c)."),
        ("object + (object | judge + prompt)", "llbt.fit('object + (object | judge) + (object | prompt)', c)."),
        ("object + (object:sex | judge)", "llbt.fit('object + object:sex + (object | judge)', c)."),
        ("object + (0 + object | judge)", "llbt.fit('object + (object | judge)', c)."),
        ("object + (object - 1 | judge)", "llbt.fit('object + (object | judge)', c)."),
        ("object + (1 | gr(judge, by=team))", "llbt.fit('object + (object | gr(judge, by=team))', c)."),
        ("object + (0 + object | gr(judge, by=team))", "llbt.fit('object + (object | gr(judge, by=team))', c)."),
        (
            "object + order + length + (order + length | gr(judge, by=team))",
            "llbt.fit('object + order + length + (order + length || gr(judge, by=team))', c).",
        ),
        (
            "object + (object:sex | gr(judge, by=team))",
            "llbt.fit('object + object:sex + (object | gr(judge, by=team))', c).",
        ),
        ("length + (1 | gr(object, by=length))", "llbt.fit('length + (1 | object)', c)."),
    ],
)
def test_covariances_and_interactions_are_refused_with_what_to_write(formula: str, remedy: str) -> None:
    """The calls run, on a table with order and a length of each side."""
    with pytest.raises(FormulaError) as refused:
        split_brackets(formula)
    assert remedy in refused.value.remedy
    typed = re.search(r"llbt\.fit\(.*\)", refused.value.remedy)
    if typed is not None:
        eval(typed[0], {"llbt": llbt, "c": judged()})


@cache
def judged() -> llbt.Comparisons:
    rng = np.random.default_rng(2)
    pairs = np.array([(i, j) for i in range(3) for j in range(3) if i != j] * 24)
    length = rng.normal(size=pairs.shape)
    own = rng.normal(0, 0.5, (6, 3))
    judge = np.repeat(np.arange(6), 24)
    lead = own[judge, pairs[:, 0]] - own[judge, pairs[:, 1]] + 0.3 * (length[:, 0] - length[:, 1])
    outcome = np.where(lead + rng.logistic(0, 0.5, len(judge)) > 0, "i", "j")
    frame = pd.DataFrame({"object_i": pairs[:, 0], "object_j": pairs[:, 1], "outcome": outcome, "judge": judge})
    frame = frame.assign(length_i=length[:, 0], length_j=length[:, 1], sex=[*"fm"] * 72, prompt=np.arange(144) % 9)
    frame = frame.assign(team=np.where(judge % 2, "red", "blue"))
    sides, beside = {"length": ("length_i", "length_j")}, ("sex", "team")
    return llbt.from_judgments(
        frame, clusters=["judge", "prompt"], covariates=beside, order=True, side_covariates=sides
    )


@pytest.mark.parametrize(("bars", "correlation"), [("||", 0.0), ("|", 0.6)])
def test_effects_of_objects_and_of_order_are_fitted_with_any_covariance(bars: str, correlation: float) -> None:
    """The likelihood of two objects in both orders, by a grid over the effects of both objects and of order.

    The covariance of order with each object is the same, and cancels.
    """
    pairs = [("A", "B"), ("B", "A")] * 8
    frame = pd.DataFrame(pairs, columns=["object_i", "object_j"]).assign(judge=np.repeat(np.arange(8), 2))
    wins = np.array([(4, 1), (5, 2), (1, 0), (4, 4), (3, 3), (5, 0), (0, 2), (2, 2)])
    c = llbt.from_counts(frame.assign(wins_i=wins.ravel(), wins_j=5 - wins.ravel()), clusters="judge", order=True)
    res = llbt.fit(f"object + order + (object + order {bars} judge)", c)
    assert isinstance(res, llbt.MixedResults)
    lead, order = res.maximum.params
    node, weight = np.polynomial.hermite_e.hermegauss(30)
    grid = np.stack(np.meshgrid(node, node, node, indexing="ij"))
    mixed = np.linalg.cholesky([[1, 0, correlation], [0, 1, correlation], [correlation, correlation, 1]])
    first, second, shift = np.einsum("ij,j...->i...", mixed, grid) * res.maximum.scales[[0, 0, 1], None, None, None]
    apart = lead + first - second
    p, q = (special.expit(2 * (sign * apart + order + shift))[..., None] for sign in (1, -1))
    each = p ** wins[:, 0] * (1 - p) ** (5 - wins[:, 0]) * q ** wins[:, 1] * (1 - q) ** (5 - wins[:, 1])
    integral = np.einsum("a,b,c,abcg->g", weight, weight, weight, each) / (2 * np.pi) ** 1.5
    assert res.maximum.value == pytest.approx(np.log(integral).sum(), abs=0.01)
