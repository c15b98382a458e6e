"""Terms of labels times numbers, coded without a dense column for each label, beside patsy's columns."""

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.formulas import coding
from llbt.formulas.design import build_design

FORMULAS = (
    "object + object:x + tie",
    "object + object:x + object:y + l + tie",
    "object * g * x + tie:x",
    "object:x + object:x:y + l:x + tie",
    "object + C(object, Sum):x + tie",
    "object + x:object:g + l + object:l + tie",
    "object + object:np.log(x**2 + 1) + tie",
)


@pytest.fixture(scope="module")
def table():
    rng, size = np.random.default_rng(0), 1200
    i = rng.integers(0, 5, size)
    frame = pd.DataFrame(
        {
            "object_i": i,
            "object_j": (i + rng.integers(1, 5, size)) % 5,
            "outcome": rng.choice(["i", "tie", "j"], size),
            "g": rng.choice(["a", "b"], size),
            **{name: rng.normal(size=size) for name in ("x", "y", "l_i", "l_j")},
        }
    )
    sides = {"l": ("l_i", "l_j")}
    return llbt.from_judgments(frame, covariates=["x", "y", "g"], numeric=["x", "y"], side_covariates=sides)


@pytest.mark.parametrize("formula", FORMULAS)
def test_columns_are_those_of_patsy(formula, table, monkeypatch):
    found = build_design(formula, table)
    monkeypatch.setattr(coding, "_of_labels", lambda coding, term: False)
    by_patsy = build_design(formula, table)
    assert found.names == by_patsy.names
    for ours, theirs in zip(found.predictors(table.response), by_patsy.predictors(table.response), strict=True):
        np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=0, atol=1e-15)
        assert set(ours.chosen) == set(theirs.chosen)  # columns that are not 0 anywhere stay columns of their own
