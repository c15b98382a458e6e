"""Brackets of a formula: cut off before patsy reads it, and refused where they cannot be read."""

import pytest

import llbt
from llbt.errors import FormulaError
from llbt.formulas.brackets import Bracket, split_brackets


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


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("object + (1 | judge)", "'1' cannot vary by judge"),
        ("object + (object + tie | judge)", "'object + tie' cannot vary"),
        ("object + (object | judge / prompt)", "is not the name of a cluster"),
        ("object + (object | )", "'' is not the name"),
        ("object + (object | judge", "cannot be read"),
        ("object * (object | judge)", "cannot be read"),
        ("object - (object | judge)", "cannot be read"),
        ("object | judge", "cannot be read"),
        ("(object | judge)", "only brackets"),
        ("object + (object | judge) + (object | judge)", "stands twice"),
    ],
)
def test_brackets_that_cannot_be_read_are_refused(text: str, fragment: str) -> None:
    with pytest.raises(FormulaError) as refused:
        split_brackets(text)
    assert fragment in refused.value.found
    assert "(tie | judge)" in refused.value.remedy


def test_other_readers_of_formulas_say_who_reads_brackets() -> None:
    with pytest.raises(FormulaError, match=r"read by llbt\.fit"):
        llbt.LLBT.from_formula("object + (object | judge)", llbt.load_dataset("dras_table1"))


@pytest.mark.parametrize(
    ("bracket", "remedy"),
    [
        ("(object || judge)", r"one to a bracket: \(object \| judge\)\."),
        ("(object + order | judge)", r"one to a bracket: \(object \| judge\) \+ \(order \| judge\)\."),
        ("(object+tie||judge)", r"\(object \| judge\) \+ \(tie \| judge\)\."),
        ("(length | judge)", r"llbt\.fit\('object \+ length', c, cov_type='cluster', groups='judge'\)"),
        ("(object + length | judge)", "Brackets are terms of their own"),
    ],
)
def test_covariances_and_slopes_are_refused_with_what_to_write(bracket: str, remedy: str) -> None:
    with pytest.raises(FormulaError, match=remedy):
        split_brackets(f"object + {bracket}")
