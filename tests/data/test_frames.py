"""Columns as codes: those that a column of labels has are taken as they are, and numbers of their own have none."""

from dataclasses import replace

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import llbt
from llbt.core.columns import code
from llbt.data.frames import read_factor

TEXTS = ["b", None, "a", "b", "c"]
CODED = {
    "dictionary": pa.table({"x": pa.array(TEXTS).dictionary_encode()}),
    "dictionaries that differ": pa.table({"x": pa.chunked_array([pa.array(TEXTS[:2]), pa.array(TEXTS[2:])])}),
    "numbers": pa.table({"x": pa.array([2, None, 1, 2, 3]).dictionary_encode()}),
    "a null in the dictionary": pa.table(
        {"x": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0, 3]), pa.array(["b", None, "a", "c"]))}
    ),
    "categorical": pl.DataFrame({"x": pl.Series(TEXTS, dtype=pl.Categorical)}),
    "enum": pl.DataFrame({"x": pl.Series(TEXTS, dtype=pl.Enum(["unused", "c", "b", "a"]))}),
}


@pytest.mark.parametrize("kind", CODED)
def test_codes_are_of_the_labels_of_the_rows(kind: str) -> None:
    expected = ["2", None, "1", "2", "3"] if kind == "numbers" else TEXTS
    frame = CODED[kind]
    if kind == "dictionaries that differ":
        chunks = [chunk.dictionary_encode() for chunk in frame["x"].chunks]
        frame = pa.table({"x": pa.chunked_array(chunks)})
    found = read_factor(nw.from_native(frame), "x")
    assert [None if code < 0 else found.labels[code] for code in found.codes] == expected
    assert sorted(found.labels) == sorted({label for label in expected if label is not None})


@pytest.mark.parametrize("equal", [False, True])
def test_numbers_of_which_no_two_are_equal_are_not_ranked(equal: bool) -> None:
    """Behind a column that tells all rows apart; values, order of the table and fit are those of ranked numbers."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"object_i": rng.integers(0, 4, 300), "outcome": rng.choice(["i", "tie", "j"], 300)})
    frame["object_j"] = (frame["object_i"] + rng.integers(1, 4, 300)) % 4
    for name in ("x", "z"):
        frame[f"{name}_i"], frame[f"{name}_j"] = rng.normal(size=(2, 300))
    if equal:
        frame.loc[7, "z_i"] = frame.loc[100, "z_j"]
    sides = {name: (f"{name}_i", f"{name}_j") for name in ("x", "z")}
    for order in (True, False):
        mixed = frame.sample(frac=1, random_state=1)
        one, other = (llbt.from_judgments(read, side_covariates=sides, order=order) for read in (frame, mixed))
        pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
        x, z = one.sides
        assert np.array_equal(x.levels, np.sort(x.levels))
        assert np.array_equal(z.levels, np.sort(z.levels)) == equal
        assert len(np.unique(z.levels)) == len(z.levels) == 600 - equal
        ranked = replace(one, sides=(x, code("z", z.values, numeric=True)))
        np.testing.assert_array_equal(ranked.sides[1].values, z.values)
        formula = "object + tie + center(x) + center(z)"
        pd.testing.assert_series_equal(llbt.fit(formula, one).params, llbt.fit(formula, ranked).params, rtol=1e-9)
