"""Columns as codes into labels: codes that a column has are taken as they are."""

import narwhals.stable.v2 as nw
import polars as pl
import pyarrow as pa
import pytest

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
