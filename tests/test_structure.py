"""Kinds of fits are told apart in few places: the numbers of today may fall and not grow."""

from __future__ import annotations

from support import structure


def test_few_tests_ask_for_a_kind() -> None:
    assert structure.kind_tests() <= 80


def test_few_modules_name_a_kind() -> None:
    assert len(structure.naming_a_kind()) <= 94


def test_kinds_have_attributes_in_common() -> None:
    assert len(structure.common_attributes()) >= 57
