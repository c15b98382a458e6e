"""The parameters of a table of models, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.table import check_renamed, relabelled
from ..core.columns import is_among
from ..errors import OptionError, listed
from .model_columns import ModelColumn


def chosen(
    terms: Sequence[str], columns: Sequence[ModelColumn], keep: Sequence[str] | None, drop: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the parameters that `keep` and `drop` leave; both name parameters, or terms of a formula."""
    if keep is None and drop is None:
        hidden = {name for column in columns for name in column.hidden}
        shown = {name for column in columns for name in {*column.blocks, *column.beside} - {*column.hidden}}
        return tuple(term for term in terms if term not in hidden or term in shown)
    word, asked = ("keep", keep) if drop is None else ("drop", drop)
    if keep is not None and drop is not None:
        raise OptionError("both keep= and drop= were given", "Pass only one: the terms to keep, or the terms to drop.")
    if isinstance(asked, str) or not isinstance(asked, Sequence):
        raise OptionError(f"{word}={asked!r}", expected="a list of parameters or terms: ['object', 'tie']")
    of_formula = {name: term for column in columns for name, term in column.terms.items()}
    known = {*terms, *of_formula.values()}
    unknown = [name for name in asked if not is_among(name, known)]
    if unknown:
        there = list(dict.fromkeys([*of_formula.values(), *terms]))
        raise OptionError(f"{word}= names {listed(unknown)}", expected=f"parameters or terms: {listed(there, 12)}")
    named = [term in asked or of_formula.get(term) in asked for term in terms]
    chosen_terms = tuple(term for term, there in zip(terms, named, strict=True) if there == (word == "keep"))
    if not chosen_terms:
        raise OptionError(f"{word}={list(asked)!r} leaves no parameter", "Name fewer or others.")
    return chosen_terms


def called(terms: Sequence[str], rename: Mapping[Any, str] | None) -> tuple[str, ...]:
    """Return the names of parameters with labels or whole names changed; two must not become the same name."""
    if rename is None:
        return tuple(terms)
    if not isinstance(rename, Mapping):
        raise OptionError(f"rename is of type {type(rename).__name__}", expected="a mapping: {'gpt-4-0613': 'GPT-4'}")
    names = {str(label): str(new_name) for label, new_name in rename.items()}
    check_renamed(names, terms)
    renamed = tuple(relabelled(term, names) for term in terms)
    twice = [name for name in dict.fromkeys(renamed) if renamed.count(name) > 1]
    if twice:
        raise OptionError(f"rename= gives several parameters the name {listed(twice)}", expected="a name for each")
    return renamed
