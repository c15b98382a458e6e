"""Errors have fields, their text is made of them in one place, and no code reads the text back."""

import ast
import pickle
import re
from pathlib import Path

import pytest

import llbt
from llbt.base.arguments import checked
from llbt.base.table import Note
from llbt.data.paths import located
from llbt.errors import DesignError, JudgmentError, LLBTError, OptionError, kind_of, listed, safe_repr, safe_str

TABLE = llbt.load_dataset("dras_table1").pool()
MODULES = sorted(Path(llbt.__file__).parent.rglob("*.py"))
ERRORS = ("error", "refused", "refusal", "caught", "problem")  # what modules call an error that they caught
# Whatever reads an error's text has one of these; the other modules need not be parsed, which takes seconds.
MAY_READ = re.compile(rf"\bstr\(\s*({'|'.join(ERRORS)})\b|\b({'|'.join(ERRORS)})\s*\.\s*args\b")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "no rows"),
        ({"where": "a.csv"}, "a.csv: no rows"),
        ({"expected": "some"}, "no rows; expected some."),
        ({"remedy": "Add some."}, "no rows. Add some."),
        ({"where": "a.csv", "expected": "some", "remedy": "Add some."}, "a.csv: no rows; expected some. Add some."),
    ],
)
def test_the_text_is_made_of_the_fields(given: dict[str, str], text: str) -> None:
    error = JudgmentError("no rows", **given)
    again = pickle.loads(pickle.dumps(error))
    for one in (error, again):
        assert str(one) == text
        assert (one.where, one.found) == (given.get("where", ""), "no rows")
        assert (one.expected, one.remedy) == (given.get("expected", ""), given.get("remedy", ""))


def test_a_bad_option_is_no_bad_design() -> None:
    assert issubclass(OptionError, LLBTError)
    assert not issubclass(OptionError, DesignError)
    with pytest.raises(OptionError) as caught:
        llbt.worth(llbt.fit("object + tie", llbt.load_dataset("dras_table1")), scale="logit")  # type: ignore[arg-type]
    assert (caught.value.asker, caught.value.found) == ("worth", "scale='logit'")
    assert caught.value.expected.startswith("'probability', 'log_worth'")


def test_a_file_is_named_once_and_comes_before_the_function() -> None:
    @checked
    def ask(where: str) -> None:
        with located("a.csv"):
            raise JudgmentError("no rows", where=where)

    for where, text in (("", "a.csv: no rows"), ("a.csv, line 3", "a.csv, line 3: no rows")):
        with pytest.raises(JudgmentError) as caught:
            ask(where)
        assert str(caught.value) == text


def test_notes_with_a_count_know_it() -> None:
    note = Note(1200, "judgment", "left out: an object missing")
    assert note == "1,200 judgments left out: an object missing"
    assert (pickle.loads(pickle.dumps(note)).n, str(Note(1, "row", "left out"))) == (1200, "1 row left out")


def _reads(node: ast.AST) -> bool:
    """Whether a node takes the text of an error apart: ``… in str(error)``, ``str(error).split``, ``error.args``."""
    if isinstance(node, ast.Attribute):
        return (node.attr == "args" and _is_error(node.value)) or _is_text(node.value)
    return isinstance(node, ast.Compare) and any(_is_text(side) for side in (node.left, *node.comparators))


def _is_text(node: ast.AST) -> bool:
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"
    return call and len(node.args) == 1 and _is_error(node.args[0])


def _is_error(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ERRORS


OF_OTHERS = {  # what they say themselves is all that these libraries give
    ("csv_text.py", "EOF inside string"),  # pandas
    ("paths.py", "splitlines"),  # first_line, to wrap it
    ("sources.py", "strip"),  # DuckDB, to wrap its first line
}


def test_no_code_reads_an_error_back() -> None:
    texts = [(module.name, module.read_text(encoding="utf-8")) for module in MODULES]
    found = [
        (name, ast.unparse(node))
        for name, text in texts
        if MAY_READ.search(text)
        for node in ast.walk(ast.parse(text))
        if _reads(node)
    ]
    assert [(name, code) for name, code in found if not any(name == n and c in code for n, c in OF_OTHERS)] == []


@pytest.mark.parametrize("code", ["'x' in str(error)", "str(error).split('. ')", "error.args[0]"])
def test_what_reads_an_error_is_seen(code: str) -> None:
    assert any(_reads(node) for node in ast.walk(ast.parse(code)))
    assert MAY_READ.search(code)


@pytest.mark.parametrize(
    ("ask", "fragment"),
    [
        (
            lambda: llbt.model_table(llbt.fit("object + tie", TABLE)),
            "model_table: results= is an LLBTResults; expected a list",
        ),
        (
            lambda: llbt.fit("object", TABLE.drop_ties(), link="probit").to_glm(),
            "LLBTResults.to_glm: link='probit' is no",
        ),
        (
            lambda: llbt.read_judgments([{"one": 1, "two": 2}]),
            "read_judgments: no known format has the columns 'one', 'two'",
        ),
        (
            lambda: llbt.plot.subset_correlations(3),
            "found 'int'; expected what llbt.metrics.subset_correlations returns",
        ),
    ],
    ids=["an LLBTResults", "to_glm", "no known format", "plot"],
)
def test_what_refuses_is_named(ask, fragment: str) -> None:
    with pytest.raises(LLBTError) as caught:
        ask()
    assert fragment in str(caught.value)


@pytest.mark.parametrize(("value", "said"), [({}, "a dict"), (1, "an int"), ([], "a list")])
def test_kinds_have_articles(value: object, said: str) -> None:
    assert kind_of(value) == said


class Silent:
    """An object that can be neither printed nor written."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def test_a_value_that_cannot_be_printed_is_named_by_its_type() -> None:
    shown = "<Silent, which cannot be printed>"
    assert (safe_repr(Silent()), safe_str(Silent()), listed([Silent(), "A"])) == (shown, shown, f"{shown}, 'A'")
    assert (safe_repr([Silent()]), safe_repr("A"), safe_str("A")) == ("<list, which cannot be printed>", "'A'", "A")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: llbt.worth(llbt.fit("object", llbt.load_dataset("citations")), at=Silent()),
        lambda: llbt.from_judgments([{"object_i": Silent(), "object_j": "B", "outcome": "i"}]),
    ],
)
def test_an_argument_that_cannot_be_printed_is_refused(ask) -> None:
    with pytest.raises(LLBTError, match=r"<Silent, which cannot be printed>.*; expected"):
        ask()
