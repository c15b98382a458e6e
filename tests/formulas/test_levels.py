"""Treatment coding by indices, against patsy's own contrast matrices."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import patsy
import pytest

import llbt
from llbt.formulas.design import build_design
from llbt.formulas.levels import Levels

LABELS = ["a", "b", "c", "d"]


@pytest.mark.parametrize("reference", LABELS)
@pytest.mark.parametrize("coding", ["code_with_intercept", "code_without_intercept"])
def test_is_patsys_treatment(coding: str, reference: str) -> None:
    found = getattr(Levels(reference), coding)(LABELS)
    expected = getattr(patsy.Treatment(reference), coding)(LABELS)
    assert list(found.column_suffixes) == list(expected.column_suffixes)
    assert found.matrix.shape == expected.matrix.shape
    codes = np.array([3, 0, 0, 2, 1])
    np.testing.assert_array_equal(found.matrix.rows(codes).toarray(), expected.matrix[codes])
    for column in range(expected.matrix.shape[1]):
        np.testing.assert_array_equal(found.matrix[codes, column], expected.matrix[codes, column])
    np.testing.assert_array_equal(found.matrix.any(axis=1), expected.matrix.any(axis=1))


def test_interactions_are_as_patsy_codes_them() -> None:
    rows = [(a, b, 3, 1, 2, judge) for judge in ("x", "y") for a in LABELS for b in LABELS if a < b]
    c = llbt.from_counts(
        pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j", "judge"]), covariates="judge"
    )
    design = build_design("object * judge + tie", c, reference="b")
    units = design.worth.units
    frame = pd.DataFrame({"object": np.array(LABELS)[units["object"]], "judge": np.array(["x", "y"])[units["judge"]]})
    expected = patsy.dmatrix("C(object, Treatment('b')) * judge", frame, return_type="dataframe")
    names = [name.replace("C(object, Treatment('b'))", "object").replace("[T.", "[") for name in expected]
    found = pd.DataFrame(design.worth.matrix.toarray(), columns=list(design.names))
    shared = [name for name in names if name in found]
    assert [name for name in design.names if name != "tie"] == shared
    expected.columns = pd.Index(names)
    np.testing.assert_array_equal(found[shared], expected[shared])


@pytest.mark.parametrize(
    "formula", ["object + tie", "object + tie + order", "object + price + tie", "object + order:object"]
)
@pytest.mark.slow
def test_takes_no_memory_of_objects_by_objects(formula: str) -> None:
    size = 2000
    objects = np.arange(size)
    frame = pd.DataFrame({"object_i": objects, "object_j": np.roll(objects, 1), "wins_i": 1, "ties": 1, "wins_j": 1})
    prices = pd.DataFrame({"object": objects, "price": objects % 7 + 0.5})
    c = llbt.from_counts(frame, order=True, object_covariates=prices)
    tracemalloc.start()
    design = build_design(formula, c)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(design.names) >= size
    assert peak < size**2  # a byte for each entry of such a matrix
