"""Kinds of fits are told apart in few places: the numbers of today may fall and not grow."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from support import structure

PACKAGE = Path(__file__).parents[1] / "llbt"


@pytest.mark.slow
def test_few_tests_ask_for_a_kind() -> None:
    assert structure.kind_tests() <= 6


def test_few_modules_name_a_kind() -> None:
    assert len(structure.naming_a_kind()) <= 17


def test_kinds_have_attributes_in_common() -> None:
    assert len(structure.common_attributes()) >= 57


@pytest.mark.slow
def test_newtons_method_is_written_once() -> None:
    """The driver; beside it many refits at once, and the modes of effects in integrals."""
    own = {"kernel/batch.py", "kernel/group_modes.py", "kernel/laplace.py", "kernel/newton.py"}
    assert {loop.split(":")[0] for loop in structure.newton_loops()} == own
    assert len(structure.newton_loops()) <= 5


@cache
def _trees() -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(PACKAGE.rglob("*.py"))]


def _bound(node: ast.AST) -> str | None:
    """Return the name that a node binds: a variable, a parameter, or a caught error."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ExceptHandler(name=name):
            return name
    return None


@pytest.mark.slow
def test_no_local_is_called_by_a_participle_that_says_nothing() -> None:
    """A name says what it holds: `found` was assigned 661 times and never did."""
    empty = {"found", "kept", "said", "told"}
    assigned = [
        f"{path.relative_to(PACKAGE)} {name}"
        for path, tree in _trees()
        for node in ast.walk(tree)
        if (name := _bound(node)) in empty
    ]
    assert assigned == ["auditing/finding.py found", "errors.py found"]  # public: a field, and what an error reports


@pytest.mark.slow
def test_no_part_of_a_message_is_a_statement_of_its_own() -> None:
    """A text over two lines without brackets loses the second one; only docstrings are texts alone."""
    lost = [
        f"{path.relative_to(PACKAGE)}:{statement.lineno}"
        for path, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(body := getattr(node, "body", None), list)
        for k, statement in enumerate(body)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.Constant, ast.JoinedStr))
        if k > 0 or not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if not (isinstance(statement.value, ast.Constant) and statement.value.value is ...)
    ]
    assert lost == []
