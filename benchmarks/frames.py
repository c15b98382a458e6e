"""Inputs in the form that each contestant reads; nothing here is timed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from .inputs import CUBE, GRADES, OUTCOMES, Array, described, object_names, read, side_names


def integers(folder: Path) -> pd.DataFrame:
    """Integer labels and integer outcomes (0, 1, 2 for OUTCOMES)."""
    i, j, outcome = read(folder, "i", "j", "outcome")
    return pd.DataFrame({"left": i, "right": j, "outcome": outcome})


def categories(folder: Path) -> pd.DataFrame:
    """Names as pandas categoricals."""
    i, j, outcome = read(folder, "i", "j", "outcome")
    names = object_names(described(folder).objects)
    coded = {"left": (i, names), "right": (j, names), "outcome": (outcome, list(OUTCOMES))}
    return pd.DataFrame({name: pd.Categorical.from_codes(codes, words) for name, (codes, words) in coded.items()})


def strings(folder: Path, words: tuple[str, ...] = OUTCOMES) -> pd.DataFrame:
    """Names in columns of text, of pandas' own default type."""
    i, j, outcome = read(folder, "i", "j", "outcome")
    names = pd.Series(object_names(described(folder).objects))
    columns = {"left": names.take(i), "right": names.take(j), "outcome": pd.Series(words).take(outcome)}
    return pd.DataFrame({name: column.reset_index(drop=True) for name, column in columns.items()})


def graded(folder: Path) -> pd.DataFrame:
    """Names and grades in columns of text."""
    return strings(folder, GRADES)


def graded_as_three(folder: Path) -> pd.DataFrame:
    """The same judgments, wins and losses whatever their grade."""
    return strings(folder, ("i", "i", "tie", "j", "j"))


def arena(folder: Path) -> pd.DataFrame:
    """As arena-rank writes it: model_a, model_b, winner."""
    i, j, outcome = read(folder, "i", "j", "outcome")
    names = pd.Series(object_names(described(folder).objects))
    words = pd.Series(["model_a", "tie", "model_b"])
    columns = {"model_a": names.take(i), "model_b": names.take(j), "winner": words.take(outcome)}
    return pd.DataFrame({name: column.reset_index(drop=True) for name, column in columns.items()})


def with_judges(folder: Path) -> pd.DataFrame:
    return categories(folder).assign(judge=read(folder, "judge")[0])


def with_sides(folder: Path) -> pd.DataFrame:
    (values,) = read(folder, "sides")
    columns = {
        f"{name}_{side}": values[:, k, n]
        for n, name in enumerate(side_names(values.shape[2]))
        for k, side in enumerate(("left", "right"))
    }
    return categories(folder).assign(**columns)


def arena_with_sides(folder: Path) -> pd.DataFrame:
    """The style features of arena-rank: differences between the sides."""
    (values,) = read(folder, "sides")
    difference = values[:, 0] - values[:, 1]
    return arena(folder).assign(**{name: difference[:, n] for n, name in enumerate(side_names(values.shape[2]))})


def cube(folder: Path) -> Array:
    """Counts, shape (J, J, 3): the row was shown first."""
    if (folder / CUBE).exists():
        return np.load(folder / CUBE).astype(float)
    i, j, outcome = read(folder, "i", "j", "outcome")
    size = described(folder).objects
    codes = (i.astype(np.int64) * size + j) * 3 + outcome
    return np.bincount(codes, minlength=size * size * 3).reshape(size, size, 3).astype(float)


def table(folder: Path) -> tuple[Array, Array, int]:
    """Counts per ordered pair: pairs (S, 2), counts (S, 3), number of objects."""
    counts = cube(folder)
    pairs = np.argwhere(counts.sum(axis=2) > 0)
    return pairs, counts[pairs[:, 0], pairs[:, 1]], len(counts)


def shipped(folder: Path) -> tuple[Array, Array, list[str]]:
    """The Chatbot Arena counts that leaderbot ships: pairs, counts (win, tie, loss), names."""
    pairs, counts = read(folder, "pairs", "counts")
    return pairs, counts, json.loads((folder / "names.json").read_text())


def explicit(folder: Path) -> tuple[pd.DataFrame, list[str]]:
    """The rows of the explicit Poisson model (a cell each) and the names of its parameters; see `table`."""
    pairs, counts, size = table(folder)
    rows = np.arange(len(pairs))
    signed = np.zeros((len(pairs), size))
    signed[rows, pairs[:, 0]] = 1
    signed[rows, pairs[:, 1]] = -1
    matrix = np.zeros((len(pairs), 3, size + 1))
    matrix[:, 0, : size - 1] = signed[:, :-1]
    matrix[:, 2, : size - 1] = -signed[:, :-1]
    matrix[:, 1, size - 1] = 1
    matrix[:, 0, size], matrix[:, 2, size] = 1, -1
    names = [*(f"o{k}" for k in range(size - 1)), "tie", "order_"]
    frame = pd.DataFrame(matrix.reshape(-1, size + 1), columns=names)
    frame["count"] = counts.ravel()
    frame["comparison"] = np.repeat(rows, 3)
    return frame, names
