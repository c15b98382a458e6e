"""Errors, intervals and tests of fits of all kinds, against the covariance and against fits of other kinds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.questions import KINDS, fit_of

import llbt
from llbt.errors import DesignError, OptionError

WITH_MATRIX = [kind for kind in KINDS if kind != "large"]


@pytest.mark.parametrize("kind", WITH_MATRIX)
def test_errors_tests_and_intervals_are_those_of_the_covariance(kind: str) -> None:
    res = fit_of(kind)
    cov, names = res.cov_params(), list(res.names)
    assert list(cov.index) == list(cov.columns) == names
    size = res.params.size  # of classes a frame, their shares beside it
    error = np.sqrt(np.diag(cov))
    estimate = res.estimated.values
    np.testing.assert_allclose(np.ravel(res.params), estimate[:size])
    np.testing.assert_allclose(np.ravel(res.bse), error[:size])
    np.testing.assert_allclose(np.ravel(res.tvalues), (estimate / error)[:size])
    df = res.estimated.df_of(np.eye(len(names)))
    np.testing.assert_allclose(np.ravel(res.pvalues), (2 * stats.t.sf(np.abs(estimate / error), df))[:size])
    half = stats.t.isf(0.05, df) * error
    bounds = res.conf_int(0.1)
    assert list(bounds.index) == names
    np.testing.assert_allclose(bounds, np.column_stack([estimate - half, estimate + half]))


@pytest.mark.parametrize("kind", WITH_MATRIX)
def test_hypotheses_may_name_every_parameter(kind: str) -> None:
    res = fit_of(kind)
    first, last = res.names[0], res.names[-1]
    cov = res.cov_params().to_numpy()
    found = res.t_test([f"{first} = 0", f"{last} = 0.1"]).to_frame()
    row = np.zeros((2, len(res.names)))
    row[0, 0] = row[1, -1] = 1.0
    np.testing.assert_allclose(found["estimate"], row @ res.estimated.values - [0, 0.1])
    np.testing.assert_allclose(found["std_error"], np.sqrt(np.diag(row @ cov @ row.T)))
    test = res.wald_test([f"{first} = 0", f"{last} = 0.1"])
    away = found["estimate"].to_numpy()
    wald = float(away @ np.linalg.solve(row @ cov @ row.T, away))
    scale = 1.0 if test.distribution == "chi2" else 2.0
    assert test.statistic == pytest.approx(wald / scale)
    assert test.df == 2
    with pytest.raises(OptionError, match="rank"):
        res.wald_test([f"{first} = 0", f"2 * {first} = 0"])


def test_very_many_objects_are_tested_as_in_the_plain_fit() -> None:
    large, plain = fit_of("large"), fit_of("plain")
    said = ["object[A] = object[B]", "object[B] = object[D]", "tie = 0"]
    pd.testing.assert_frame_equal(large.t_test(said).to_frame(), plain.t_test(said).to_frame(), rtol=1e-6)
    one, other = large.wald_test(said), plain.wald_test(said)
    assert (one.statistic, one.df) == (pytest.approx(other.statistic, rel=1e-6), other.df)
    with pytest.raises(OptionError, match="rank"):
        large.wald_test(["object[A] = object[B]", "object[B] = object[C]", "object[A] = object[C]"])
    with pytest.raises(DesignError, match=r"GiB"):
        large.cov_params()


def test_classes_are_compared_with_each_other() -> None:
    """The errors of differences are by the joint covariance, the log ratio of the shares that of the delta method."""
    res = fit_of("classes")
    found = res.t_test("object[A]:class[1] = object[A]:class[2]").to_frame().iloc[0]
    cov = res.cov_params()
    one, other = "object[A]:class[1]", "object[A]:class[2]"
    assert found["estimate"] == pytest.approx(res.params.loc[1, "object[A]"] - res.params.loc[2, "object[A]"])
    assert found["std_error"] ** 2 == pytest.approx(cov.loc[one, one] + cov.loc[other, other] - 2 * cov.loc[one, other])
    share = res.t_test("log_share[2] = 0").to_frame().iloc[0]
    assert share["estimate"] == pytest.approx(np.log(res.shares[2] / res.shares[1]))
    slope = float(res.shares[1] * res.shares[2])  # of π_2 in its log ratio
    assert share["std_error"] * slope == pytest.approx(res.share_errors[2])
    assert res.t_test("object[D]:class[2] = object[A]:class[2]").to_frame()["estimate"].iloc[0] == pytest.approx(
        -res.params.loc[2, "object[A]"]
    )


def test_a_class_at_infinity_has_no_test() -> None:
    pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    orders = {f"a{k}": "ABC" for k in range(6)} | {f"b{k}": ("CBA", "CAB", "BCA")[k % 3] for k in range(6)}
    rows = [
        (judge, i, j, "i" if order.index(i) < order.index(j) else "j")
        for judge, order in orders.items()
        for i, j in pairs
    ]
    frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
    found = llbt.judges.classes("object", llbt.from_judgments(frame, clusters="judge"), k=2, starts=5, rng=1)[2]
    (label,) = found.infinite
    test = found.t_test(f"object[A]:class[{label}] = 0").to_frame()
    assert np.isnan(test["std_error"]).all()
    assert np.isnan(test["p_value"]).all()
    assert np.isnan(found.wald_test(f"object[A]:class[{label}] = 0").p_value)


def test_ties_of_rankings_are_tested_as_worths_are() -> None:
    ranks = pd.DataFrame({"A": [1, 2, 1, 3, 1, 1], "B": [2, 1, 1, 1, 3, 2], "C": [3, 3, 2, 2, 2, 2]})
    res = llbt.fit("object + tie", llbt.from_rankings(ranks, objects=list("ABC")))
    found = res.t_test("tie = 0").to_frame().iloc[0]
    assert found["estimate"] == res.params["tie"]
    assert found["std_error"] == pytest.approx(res.bse["tie"])
    assert res.wald_test("tie = 0").statistic == pytest.approx(float(res.tvalues["tie"]) ** 2)
