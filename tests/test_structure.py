"""Kinds of fits are told apart in few places: the numbers of today may fall and not grow."""

from __future__ import annotations

import ast
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


@pytest.mark.slow
def _bound(node: ast.AST) -> str | None:
    """Return the name that a node binds: a variable, a parameter, or a caught error."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ExceptHandler(name=name):
            return name
    return None


def test_no_local_is_called_by_a_participle_that_says_nothing() -> None:
    """A name says what it holds: `found` was assigned 661 times and never did."""
    empty = {"found", "kept", "said", "told"}
    assigned = [
        f"{path.relative_to(PACKAGE)} {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (name := _bound(node)) in empty
    ]
    assert assigned == ["auditing/finding.py found", "errors.py found"]  # public: a field, and what an error reports
