"""Values of options, converted from text to the types of the library."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterable
from typing import Any

import typer


def wrong(name: str, message: str) -> typer.BadParameter:
    """Return the error that refuses the value of an option; it names the option."""
    return typer.BadParameter(message, param_hint=name if name == "FILE" else f"'{option_of(name)}'")


def option_of(name: str) -> str:
    """Return the option of a field of the records of options."""
    return f"--{name.replace('_', '-')}"


def items(name: str, text: str) -> list[str]:
    """Return the parts of a list; a part with a comma is quoted."""
    lines = list(csv.reader(text.splitlines(), skipinitialspace=True))
    parts = [part.strip() for line in lines for part in line]
    if not parts or not all(parts):
        raise wrong(name, f"found {text!r}; expected parts separated by commas, none of them empty.")
    return parts


def two(name: str, text: str) -> list[str]:
    """Return the two columns that an option names."""
    parts = items(name, text)
    if len(parts) != 2:
        raise wrong(name, f"found {text!r}; expected two columns separated by a comma, that of object i first.")
    return parts


def pairs(name: str, text: str, example: str) -> list[tuple[str, str]]:
    """Return the texts before and after the last = of each part."""
    parts = []
    for part in items(name, text):
        key, equals, value = (piece.strip() for piece in part.rpartition("="))
        if not equals:
            raise wrong(name, f"found {part!r}; expected parts with an =, such as {example}.")
        parts.append((key, value))
    return parts


def assigned(name: str, text: str, example: str) -> dict[str, str]:
    """Return the text after the last = of each part, by the text before it, which must be unique."""
    by_name: dict[str, str] = {}
    for key, value in pairs(name, text, example):
        if key in by_name:
            raise wrong(name, f"{key!r} is there twice.")
        by_name[key] = value
    return by_name


def outcomes(name: str, text: str) -> Any:
    """Return the meanings of labels; a mapping pasted from Python is read, too."""
    if text in ("names", "slots"):
        return text
    if text.startswith("{"):
        try:
            return ast.literal_eval(text)
        except (SyntaxError, TypeError, ValueError):
            raise wrong(name, f"{text} is not a mapping; expected one such as {{'left': 'i', 'no': None}}.") from None
    meanings = {"i": "i", "j": "j", "tie": "tie", "bad": "bad", "none": None, "": None}
    meanings_given = assigned(name, text, "left=i,right=j,both=tie,skipped=none")
    grades = {value: int(value) for value in meanings_given.values() if re.fullmatch(r"[+-]?\d{1,3}", value)}
    unknown = [
        f"{key}={meaning}"
        for key, meaning in meanings_given.items()
        if meaning.lower() not in meanings and meaning not in grades
    ]
    if unknown:
        raise wrong(name, f"found {unknown[0]!r}; expected i, j, tie, bad, none or a whole number after the =.")
    meaning = {key or None: grades.get(value, meanings.get(value.lower())) for key, value in meanings_given.items()}
    flags = {"true": True, "false": False}  # as a table has them
    return meaning | {flags[key.lower()]: value for key, value in meaning.items() if key and key.lower() in flags}


def where(name: str, text: str) -> str | dict[str, str]:
    """Return the column that says yes in the rows to read, or the value that columns have there."""
    return assigned(name, text, "language=English") if "=" in text else text


def sides(name: str, text: str) -> dict[str, list[str]]:
    """Return the two columns of each side covariate."""
    sides_of = {key: value.split(":") for key, value in assigned(name, text, "length=length_a:length_b").items()}
    for key, columns in sides_of.items():
        if not key or len(columns) != 2 or not all(columns):
            raise wrong(name, f"found '{key}={':'.join(columns)}'; expected one such as length=length_a:length_b.")
    return sides_of


def numbers(name: str, text: str) -> dict[str, float]:
    """Return numbers by name."""
    values = assigned(name, text, "tie=-0.5")
    try:
        return {key: float(value) for key, value in values.items()}
    except ValueError as error:
        raise wrong(name, f"{error}; expected a number after each =, such as tie=-0.5.") from None


def number_or(name: str, text: str, *words: str) -> float | str:
    """Return a number, or one of the allowed words."""
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        raise wrong(name, f"found {text!r}; expected a number or {' or '.join(words)}.") from None


def prior_of(text: str | None) -> Any:
    """Return the prior that makes estimates finite: a number of judgments, or jeffreys."""
    return None if text is None else number_or("prior", text, "jeffreys")


def among(labels: Iterable[Any], text: str) -> Any:
    """Return the label with this text (3 may be a number); without one, the number or the text itself."""
    if (match := next((label for label in labels if str(label) == text), None)) is not None:
        return match
    try:
        return float(text)
    except ValueError:
        return text
