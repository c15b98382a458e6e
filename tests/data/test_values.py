"""Values that no count, label or held parameter can have are refused, by the column or argument that holds them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import llbt

C = llbt.load_dataset("dras_table1").pool()
JUDGMENTS = pd.DataFrame(
    {
        "object_i": list("AABBABCC"),
        "object_j": list("BCCABAAB"),
        "outcome": list("ijijjiji"),
    }
)
MATRIX = np.array([[0.0, 7, 5], [3, 0, 2], [4, 4, 0]])
MASK = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=bool)
NAMES = list("ABC")
HALF = "\ud800"


def counted(wins: Any, **more: Any) -> pd.DataFrame:
    return pd.DataFrame({"object_i": list("AAB"), "object_j": list("BCC"), "wins_i": wins, "wins_j": [3, 2, 4], **more})


def weighed(weight: Any) -> llbt.Comparisons:
    return llbt.from_judgments(JUDGMENTS.assign(w=weight), weights="w")


def with_column(values: list[Any], **kept: Any) -> llbt.Comparisons:
    column = pd.Series(values * 2, dtype=None if isinstance(values[0], complex) else object)
    return llbt.from_judgments(JUDGMENTS.assign(x=column), **kept)


def records(*names: Any) -> list[dict[str, Any]]:
    return [{"object_i": i, "object_j": j, "outcome": "i"} for i in names for j in names if i is not j]


REFUSED: dict[str, tuple[Callable[[], Any], type[llbt.LLBTError], str]] = {
    # masked values are missing
    "masked floats": (
        lambda: llbt.from_matrix(np.ma.array(MATRIX, mask=MASK), names=NAMES),
        llbt.errors.JudgmentError,
        "missing",
    ),
    "masked ints": (
        lambda: llbt.from_matrix(np.ma.array(MATRIX.astype(int), mask=MASK), names=NAMES),
        llbt.errors.JudgmentError,
        "'A', column 'B' .missing",
    ),
    "masked objects": (
        lambda: llbt.from_matrix(np.ma.array(MATRIX.astype(object), mask=MASK), names=NAMES),
        llbt.errors.JudgmentError,
        "'A', column 'B' .missing",
    ),
    "masked ties": (
        lambda: llbt.from_matrix(MATRIX, tie_counts=np.ma.array(MATRIX, mask=MASK), names=NAMES),
        llbt.errors.JudgmentError,
        "tie_counts=.*missing",
    ),
    "masked column": (
        lambda: llbt.from_counts(counted(np.ma.array([1, 2, 3], mask=[0, 1, 0]))),
        llbt.errors.JudgmentError,
        "'wins_i': 1 missing value, the first at row 1",
    ),
    "masked 2 x 2": (
        lambda: llbt.classical.mcnemar_test(np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])),
        llbt.errors.JudgmentError,
        "2 × 2 table of whole counts",
    ),
    "masked hypothesis": (
        lambda: llbt.fit("object + tie", C).t_test(np.ma.array([[1.0, 1, 0, 0]], mask=[[1, 0, 0, 0]])),
        llbt.errors.OptionError,
        "hypothesis=",
    ),
    # complex numbers have a part that counts have not
    "complex matrix": (lambda: llbt.from_matrix(MATRIX + 0j, names=NAMES), llbt.errors.JudgmentError, "not numbers"),
    "complex counts": (
        lambda: llbt.from_counts(counted([1j, 2, 3])),
        llbt.errors.JudgmentError,
        "'wins_i'.*complex128",
    ),
    "complex labels": (
        lambda: with_column([1j, 2j, 1j, 2j], covariates="x"),
        llbt.errors.JudgmentError,
        "'x'.*complex128",
    ),
    "complex 2 x 2": (lambda: llbt.classical.mcnemar_test(np.eye(2) + 0j), llbt.errors.JudgmentError, "whole counts"),
    "complex hypothesis": (
        lambda: llbt.fit("object + tie", C).t_test(np.array([[1j, 0, 0, 0]])),
        llbt.errors.OptionError,
        "hypothesis=",
    ),
    # counts that floats cannot tell from their neighbours
    "2^63": (
        lambda: llbt.from_counts(counted(np.array([2**63, 1, 1], dtype=np.uint64))),
        llbt.errors.JudgmentError,
        r"'wins_i': 1 value of 2\*\*53 or more, the first at row 0",
    ),
    "2^53 + 1": (lambda: llbt.from_counts(counted([1, 2**53 + 1, 1])), llbt.errors.JudgmentError, "first at row 1"),
    "2^53 + 1 in polars": (
        lambda: llbt.from_counts(pl.from_pandas(counted([1, 1, 2**53 + 1]))),
        llbt.errors.JudgmentError,
        "first at row 2",
    ),
    "1e300": (lambda: llbt.from_counts(counted([1e300, 1, 1])), llbt.errors.JudgmentError, r"1e\+300"),
    "matrix of 2^63": (
        lambda: llbt.from_matrix([[0, 2**63], [3, 0]], names=["A", "B"]),
        llbt.errors.JudgmentError,
        r"add up to 9.223e\+18",
    ),
    "sum": (
        lambda: llbt.from_counts(counted([2**52, 2**52, 2**52])),
        llbt.errors.JudgmentError,
        r"add up to 1.351e\+16",
    ),
    "weights": (lambda: weighed(1e300), llbt.errors.JudgmentError, "column 'w': 8 values"),
    "2 x 2 of 2^63": (
        lambda: llbt.classical.mcnemar_test([[1, 2**63], [3, 4]]),
        llbt.errors.JudgmentError,
        "whole counts",
    ),
    # held parameters and priors
    **{
        f"{name} = {value:.3g}": (
            lambda name=name, value=value: llbt.fit("object + tie", C, fixed={name: value}),
            llbt.errors.OptionError,
            "fixed=.*computers round a probability to 0",
        )
        for name in ("tie", "object[A]")
        for value in (800.0, -800.0, 1e300, 31.0)
    },
    "fixed flag": (lambda: llbt.fit("object + tie", C, fixed={"tie": True}), llbt.errors.OptionError, "held at True"),
    "fixed 2^2000": (
        lambda: llbt.fit("object + tie", C, fixed={"tie": 2**2000}),
        llbt.errors.OptionError,
        "finite number",
    ),
    "fixed text": (lambda: llbt.fit("object + tie", C, fixed="tie"), llbt.errors.OptionError, "expected a mapping"),
    **{
        f"prior {prior:.3g}": (
            lambda prior=prior: llbt.fit("object", C, prior=prior),
            llbt.errors.OptionError,
            "prior=",
        )
        for prior in (1e300, 2.0**53, float("inf"), -1.0)
    },
    "prior 2^2000": (lambda: llbt.fit("object", C, prior=2**2000), llbt.errors.OptionError, "prior is a number beyond"),
    # labels
    "true and 1": (
        lambda: with_column([True, 1, 2, True], covariates="x"),
        llbt.errors.JudgmentError,
        "'x' holds numbers beside",
    ),
    "true and 1 as objects": (lambda: llbt.from_judgments(records(True, 1, 2)), llbt.errors.JudgmentError, "object_i"),
    "true and Decimal": (lambda: with_column([True, Decimal(1), 2, 3], clusters="x"), llbt.errors.JudgmentError, "'x'"),
    "half a character": (
        lambda: llbt.from_judgments(records(HALF, "B")),
        llbt.errors.JudgmentError,
        "object_i.*half a character",
    ),
    "half in a matrix": (
        lambda: llbt.from_matrix(np.eye(2)[::-1], names=[HALF, "B"]),
        llbt.errors.JudgmentError,
        "names=.*half",
    ),
    "half in a cluster": (
        lambda: with_column([HALF, "x", "y", "z"], clusters="x"),
        llbt.errors.JudgmentError,
        "column 'x'.*half a character",
    ),
    # names
    "integer columns": (
        lambda: llbt.audit(JUDGMENTS.set_axis([0, 1, 2], axis=1), format=llbt.formats.columns(("0", "1"), "2")),
        llbt.errors.JudgmentError,
        r"frame.columns = \[str",
    ),
    # records inside a column
    "polars struct of counts": (
        lambda: llbt.from_counts(
            pl.DataFrame({"object_i": ["A"], "object_j": ["B"], "wins_i": [{"a": 1}], "wins_j": [2]})
        ),
        llbt.errors.JudgmentError,
        "'wins_i' holds values of type Struct",
    ),
    "polars struct of a covariate": (
        lambda: llbt.from_counts(
            pl.from_pandas(counted([1, 2, 3])).with_columns(s=pl.struct("wins_i")), covariates="s"
        ),
        llbt.errors.JudgmentError,
        "'s' holds values of type Struct",
    ),
    "arrow list": (
        lambda: llbt.from_judgments(
            pa.table({"object_i": ["A", "B"], "object_j": ["B", "A"], "outcome": ["i", "j"], "s": [[1], [2]]}),
            clusters="s",
        ),
        llbt.errors.JudgmentError,
        "'s' holds values of type List",
    ),
}


@pytest.mark.parametrize(("call", "error", "said"), REFUSED.values(), ids=REFUSED)
def test_refused(call: Callable[[], Any], error: type[llbt.LLBTError], said: str) -> None:
    with pytest.raises(error, match=said):
        call()


def test_a_masked_score_is_a_missing_one() -> None:
    x, z = np.random.default_rng(1).normal(size=(2, 5, 8))
    mask = x > 1
    assert mask.any()
    missing = llbt.metrics.correlate(np.where(mask, np.nan, x), z).estimate
    assert (
        llbt.metrics.correlate(np.ma.array(x, mask=mask), z).estimate
        == missing
        != llbt.metrics.correlate(x, z).estimate
    )


def test_the_largest_counts_are_kept_to_the_last_judgment() -> None:
    largest = 2**53 - 100
    c = llbt.from_counts(counted([largest, 1, 1]))
    assert c.to_frame()["wins_i"].tolist() == [largest, 1, 1]
    assert c.n_judgments == largest + 11


def test_texts_and_flags_beside_each_other_are_labels() -> None:
    assert with_column([True, False, None, True][:2] * 2, covariates="x").columns[0].levels.tolist() == [False, True]
    assert with_column([True, "no", True, "no"], covariates="x").columns[0].levels.tolist() == [True, "no"]


@pytest.mark.parametrize(("name", "value"), [("tie", 8.0), ("tie", -20.0), ("object[A]", 10.0), ("object[A]", -15.0)])
def test_a_parameter_may_be_held_far_away(name: str, value: float) -> None:
    """Deviances by `LLBTResults` and of the held model written out: elimination where statsmodels does not converge."""
    res = llbt.fit("object + tie", C, fixed={name: value})
    assert res.converged
    params = {"object[D]": 0.0, **res.params.to_dict()}
    assert params[name] == value
    worth = np.array([params[f"object[{label}]"] for label in C.objects])
    i, j = C.pairs.T
    logs = np.column_stack([worth[i] - worth[j], np.full(len(C), params["tie"]), worth[j] - worth[i]])
    logs -= np.logaddexp.reduce(logs, axis=1)[:, None]
    saturated = C.counts * np.log(np.where(C.counts > 0, C.counts, 1) / C.totals[:, None])
    assert res.deviance == pytest.approx(2 * float(np.sum(saturated - C.counts * logs)), rel=1e-9)


@pytest.mark.parametrize("value", [True, "3", None, float("nan"), float("inf"), 1j, np.ma.masked, [1.0, float("nan")]])
def test_a_numeric_covariate_is_asked_about_at_finite_numbers(value: Any) -> None:
    c = llbt.from_judgments(JUDGMENTS.assign(x=np.arange(8) / 2), numeric="x")
    res = llbt.fit("object + object:x", c, prior="jeffreys")
    with pytest.raises(llbt.errors.OptionError, match=r"at: covariate 'x' is (?s:.*); expected a finite number"):
        llbt.worth(res, at={"x": value})
    assert len(llbt.worth(res, at={"x": np.float32(1.5)}).to_frame()) == 3
