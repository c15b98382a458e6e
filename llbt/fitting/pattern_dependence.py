"""Dependence of a judge's answers to pairs that share an object, the same for all judges or by a covariate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..core.columns import Coded, FloatArray, IntArray
from ..core.patterns import Patterns
from ..errors import DesignError, FormulaError, OptionError, listed, near
from ..formulas.brackets import has_brackets, quoted
from ..formulas.coding import Reference
from ..kernel.patterns import products_of

_TERM = re.compile(r"dependence(?:\s*([:*])\s*(\w+|`[^`]+`))?")
EVERYONE = ""  # in place of a covariate: dependence that all judges have

Dependence = tuple[str, ...]


def split_dependence(formula: str) -> tuple[str, Dependence]:
    """Return the formula without terms of dependence (``"0"`` if nothing is left), and what dependence varies by.

    ``dependence`` has parameters that all judges share, ``dependence * sex`` also their differences by sex.

    Raises
    ------
    FormulaError
        For brackets, for dependence within other terms, and for differences without shared parameters.
    """
    if has_brackets(formula):
        raise FormulaError(
            f"{formula!r} has effects of judges in brackets, and the data are Patterns",
            "Fit the effects to comparisons, fit(formula, patterns.to_comparisons()), or use the term dependence.",
        )
    others, by = [], []
    for term in formula.split("+"):
        match = _TERM.fullmatch(term.strip())
        if match is None:
            others.append(term)
            continue
        by += [] if match[1] == ":" else [EVERYONE]
        by += [match[2].strip("`")] if match[2] else []
    text = "+".join(others).strip() or "0"
    if re.search(r"\bdependence\b", text):
        raise FormulaError(
            f"dependence is part of another term in {formula!r}",
            "Write it as a separate term: object + dependence; or by a covariate: object + dependence * sex.",
        )
    if by and EVERYONE not in by:
        raise FormulaError(
            f"{formula!r} has dependence by {by[0]} without dependence",
            f"Write both: dependence * {quoted(by[0])}.",
        )
    return text, tuple(dict.fromkeys(by))


def dependence_terms(by: Dependence) -> list[str]:
    """Return the terms as a formula writes them."""
    return ["dependence" if name == EVERYONE else f"dependence:{quoted(name)}" for name in by]


def check_dependence(p: Patterns, by: Dependence, reference: Reference) -> None:
    """Raise for covariates that the patterns do not have, or that have one value."""
    columns = {column.name: column for column in p.columns}
    for name in by:
        if name == EVERYONE:
            continue
        if name not in columns:
            raise DesignError(
                f"dependence by {name!r}{near(name, tuple(columns))}, which is not a covariate of the patterns "
                f"(covariates: {listed(list(columns)) if columns else 'none'})",
                f"Keep it where the patterns are read: from_patterns(…, covariates={name!r}).",
            )
        if len(np.unique(columns[name].codes)) < 2:
            raise DesignError(
                f"dependence by {name!r}, which has one value for all judges", f"Leave dependence:{quoted(name)} out."
            )
        _reference_level(columns[name], reference)


def dependence_names(p: Patterns, by: Dependence, reference: Reference) -> tuple[str, ...]:
    """Return the names of the parameters: ``I12.13`` for all judges, ``I12.13:sex[m]`` for how men differ."""
    label = [f"{i + 1}{j + 1}" if len(p.objects) < 10 else f"{i + 1}:{j + 1}" for i, j in p.pairs]
    products = [f"I{label[a]}.{label[b]}" for a, b in products_of(p.pairs)]
    return tuple(f"{product}{suffix}" for suffix in _suffixes(p, by, reference) for product in products)


def dependence_loads(p: Patterns, by: Dependence, reference: Reference, codes: Sequence[IntArray]) -> FloatArray:
    """Return how the parameters enter the Q products of each class of judges, (G, Q, D).

    Parameters
    ----------
    codes : sequence of ndarray of int, each (G,)
        The code of each column of the patterns in the classes.
    """
    number, classes = len(products_of(p.pairs)), len(codes[0]) if codes else 1
    loads = [np.ones((classes, 1))] if by else []
    for name in by[1:]:
        k = [column.name for column in p.columns].index(name)
        values = p.columns[k].levels[codes[k]]
        if p.columns[k].numeric:
            loads.append(values[:, None].astype(np.float64))
        else:
            others = _other_levels(p.columns[k], reference)
            loads.append(np.stack([values == level for level in others], axis=1).astype(np.float64))
    every = np.concatenate(loads, axis=1) if loads else np.zeros((classes, 0))
    return np.asarray(np.einsum("gd,qr->gqdr", every, np.eye(number)).reshape(classes, number, -1))


def _suffixes(p: Patterns, by: Dependence, reference: Reference) -> list[str]:
    columns, suffixes = {column.name: column for column in p.columns}, []
    for name in by:
        if name == EVERYONE:
            suffixes.append("")
        elif columns[name].numeric:
            suffixes.append(f":{name}")
        else:
            suffixes += [f":{name}[{level}]" for level in _other_levels(columns[name], reference)]
    return suffixes


def _other_levels(column: Coded, reference: Reference) -> list[object]:
    """Return the levels of the judges that have parameters of their own, all but the reference."""
    first = _reference_level(column, reference)
    return [level for level in column.levels[np.unique(column.codes)].tolist() if level != first]


def _reference_level(column: Coded, reference: Reference) -> object:
    """Return the level without parameters of its own: the first, or the one that ``reference=`` names."""
    levels = column.levels[np.unique(column.codes)].tolist()
    if column.numeric or not isinstance(reference, Mapping) or column.name not in reference:
        return levels[0]
    named = reference[column.name]
    if named not in levels:
        raise OptionError(f"reference={{{column.name!r}: {named!r}}}", expected=f"one of {listed(levels)}")
    return named
