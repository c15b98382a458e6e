"""Kinds of fits are told apart in few places: the numbers of today may fall and not grow."""

from __future__ import annotations

import pytest
from support import structure


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
