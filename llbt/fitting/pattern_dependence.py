"""Dependence of a judge's answers: on pairs that share an object, and on the same pair at consecutive times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..core.columns import Coded, FloatArray, IntArray
from ..core.patterns import Patterns
from ..errors import DesignError, FormulaError, OptionError, listed, near
from ..formulas.brackets import has_brackets, quoted
from ..formulas.coding import Reference
from ..kernel.patterns import products_of

_TERM = re.compile(r"dependence(?:\s*([:*])\s*(\w+|`[^`]+`))?")
EVERYONE = ""  # in place of a covariate: dependence that all judges have
PERSISTENCE = "persistence"


@dataclass(frozen=True)
class Dependence:
    """Which answers of a judge depend on each other. False if none do.

    Attributes
    ----------
    by : tuple of str
        What the dependence of pairs that share an object varies by: ``""`` for all judges, then covariates; empty
        without this dependence.
    persistence : bool
        Whether the answers to a pair depend on each other at consecutive times.
    """

    by: tuple[str, ...] = ()
    persistence: bool = False

    def __bool__(self) -> bool:
        return bool(self.by) or self.persistence


NONE = Dependence()


def split_dependence(formula: str) -> tuple[str, Dependence]:
    """Return the formula without terms of dependence (``"0"`` if nothing is left), and the dependence.

    ``dependence`` has parameters that all judges share, ``dependence * sex`` also their differences by sex.
    ``persistence`` has a parameter for each pair.

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
    terms = [term for term in formula.split("+") if term.strip() != PERSISTENCE]
    persistence = len(terms) < len(formula.split("+"))
    others, by = [], []
    for term in terms:
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
    if re.search(rf"\b{PERSISTENCE}\b", text):
        raise FormulaError(
            f"persistence is part of another term in {formula!r}", "Write it as a separate term: object + persistence."
        )
    if by and EVERYONE not in by:
        raise FormulaError(
            f"{formula!r} has dependence:{by[0]} but not dependence",
            f"Write both: dependence * {quoted(by[0])}.",
        )
    return text, Dependence(tuple(dict.fromkeys(by)), persistence)


def dependence_terms(dependence: Dependence) -> list[str]:
    """Return the terms as a formula writes them."""
    own = ["dependence" if name == EVERYONE else f"dependence:{quoted(name)}" for name in dependence.by]
    return [*own, *([PERSISTENCE] if dependence.persistence else [])]


def _with_dependence(text: str, dependence: Dependence) -> str:
    return " + ".join([text, *dependence_terms(dependence)])


def check_dependence(p: Patterns, text: str, dependence: Dependence, reference: Reference) -> None:
    """Raise for covariates that the patterns do not have or that have one value, and for persistence with one time.

    The messages need `text`, the formula without terms of dependence.
    """
    if dependence.persistence and p.n_times < 2:
        rest = _with_dependence(text, Dependence(dependence.by))
        raise DesignError(
            "persistence is the dependence of answers at consecutive times, but each judge answered once",
            f"Leave persistence out: llbt.fit({rest!r}, patterns). Or read the patterns with times: "
            "from_patterns(…, judge='judge', time='week').",
        )
    columns = _columns(p)
    for name in dependence.by:
        if name == EVERYONE:
            continue
        if name not in columns:
            raise DesignError(
                f"dependence by {name!r}{near(name, tuple(columns))}, which is not a covariate of the patterns "
                f"(covariates: {listed(list(columns)) if columns else 'none'})",
                f"Keep it where the patterns are read: from_patterns(…, covariates={name!r}).",
            )
        if len(np.unique(columns[name].codes)) < 2:
            others = Dependence(tuple(one for one in dependence.by if one != name), dependence.persistence)
            raise DesignError(
                f"dependence by {name!r}, which has one value for all judges",
                f"Leave dependence:{quoted(name)} out: llbt.fit({_with_dependence(text, others)!r}, patterns).",
            )
        _reference_level(columns[name], reference)


def dependence_names(p: Patterns, dependence: Dependence, reference: Reference) -> tuple[str, ...]:
    """Return the names of the parameters.

    ``I12.13`` for all judges, ``I12.13:sex[m]`` for the difference of men, ``persistence[A:B]`` for a pair.
    """
    pairs = p.distinct_pairs
    label = [f"{i + 1}{j + 1}" if len(p.objects) < 10 else f"{i + 1}:{j + 1}" for i, j in pairs]
    products = [f"I{label[a]}.{label[b]}" for a, b in products_of(pairs)]
    own = [f"{product}{suffix}" for suffix in _suffixes(p, dependence.by, reference) for product in products]
    lasting = [f"{PERSISTENCE}[{p.objects[i]}:{p.objects[j]}]" for i, j in pairs] if dependence.persistence else []
    return (*own, *lasting)


def dependence_products(p: Patterns, dependence: Dependence) -> IntArray:
    """Return the two answers of each product, (Q, 2): of pairs that share an object, then of a pair at two times."""
    size, steps = len(p.distinct_pairs), np.arange(p.n_times)
    parts = [np.empty((0, 2), dtype=np.int64)]
    if dependence.by:
        parts += [products_of(p.distinct_pairs) + size * t for t in steps]
    if dependence.persistence:
        parts += [np.arange(size)[:, None] + size * np.array([t, t + 1]) for t in steps[:-1]]
    return np.concatenate(parts)


def dependence_loads(p: Patterns, dependence: Dependence, reference: Reference, first: IntArray) -> FloatArray:
    """Return how the parameters enter the Q products of each class of judges, (G, Q, D).

    Parameters
    ----------
    first : ndarray of int, shape (G,)
        A pattern of each class.
    """
    parts = []
    if dependence.by:
        values = np.concatenate([_values(p, name, reference, first) for name in dependence.by], axis=2)  # (G, T, d)
        number = len(products_of(p.distinct_pairs))
        each = np.einsum("gtd,qr->gtqdr", values, np.eye(number))
        parts.append(each.reshape(len(first), p.n_times * number, -1))
    if dependence.persistence:
        same = np.tile(np.eye(len(p.distinct_pairs)), (p.n_times - 1, 1))
        parts.append(np.broadcast_to(same, (len(first), *same.shape)))
    loads = np.zeros((len(first), sum(part.shape[1] for part in parts), sum(part.shape[2] for part in parts)))
    row = column = 0
    for part in parts:
        _, rows, columns = part.shape
        loads[:, row : row + rows, column : column + columns] = part
        row, column = row + rows, column + columns
    return loads


def _values(p: Patterns, name: str, reference: Reference, first: IntArray) -> FloatArray:
    """Return the values that dependence is multiplied by, for each class and time, (G, T, d)."""
    if name == EVERYONE:
        return np.ones((len(first), p.n_times, 1))
    column = _columns(p)[name]
    of_time = p.times is not None and name == p.times.name
    values = column.values[None, :] if of_time else column.values[first][:, None]
    values = np.broadcast_to(values, (len(first), p.n_times))
    if column.numeric:
        return values.astype(np.float64)[:, :, None]
    return np.stack([values == level for level in _other_levels(column, reference)], axis=2).astype(np.float64)


def _columns(p: Patterns) -> dict[str, Coded]:
    """Return the covariates of the judges and the times, by name."""
    return {column.name: column for column in (*p.columns, *((p.times,) if p.times else ()))}


def _suffixes(p: Patterns, by: tuple[str, ...], reference: Reference) -> list[str]:
    columns, suffixes = _columns(p), []
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
