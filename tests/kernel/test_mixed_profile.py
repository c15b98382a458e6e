"""Profile intervals of fixed parameters beside normal effects, against fits that hold the parameter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.mixed import judged_frame

import llbt

FALL = float(stats.chi2.isf(0.05, 1))


def check(res: llbt.MixedResults, names: list[str], *, close: float = 1e-5, approximation: str | None = None) -> None:
    """The likelihood of fits in which a parameter is held at its bounds is lower by half the quantile."""
    bounds = res.conf_int(method="profile")
    for name in names:
        for side in ("conf_low", "conf_high"):
            held = {name: float(bounds.loc[name, side])}
            found = llbt.fit(res.formula, res.comparisons, fixed=held, approximation=approximation)  # type: ignore[arg-type]
            assert 2 * (res.llf - found.llf) == pytest.approx(FALL, rel=close), (name, side)


def two_objects(wins: list[int]) -> llbt.Comparisons:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "judge": range(8)})
    return llbt.from_counts(frame.assign(wins_j=6 - frame["wins_i"]), clusters="judge")


def test_bounds_are_where_refits_fall_by_half_the_quantile() -> None:
    check(llbt.fit("object + (object | judge)", two_objects([5, 1, 4, 0, 6, 3, 5, 2])), ["object[A]"])  # type: ignore[arg-type]


def test_without_differences_between_judges_bounds_are_those_of_the_plain_fit() -> None:
    c = two_objects([4, 4, 3, 4, 3, 4, 3, 4])
    res = llbt.fit("object + (object | judge)", c)
    assert res.scales.eq(0).all()
    plain = llbt.fit("object", c)
    pd.testing.assert_frame_equal(res.conf_int(method="profile"), plain.conf_int(method="profile"), rtol=1e-6)


def test_objects_may_have_effects() -> None:
    rows = [("A", "B", 10, 90), ("A", "C", 50, 50), ("A", "D", 50, 50), ("B", "C", 90, 10), ("B", "D", 90, 10)]
    frame = pd.DataFrame([*rows, ("C", "D", 50, 50)], columns=["object_i", "object_j", "wins_i", "wins_j"])
    price = pd.DataFrame({"object": list("ABCD"), "price": [1.0, 2.0, 3.0, 4.0]})
    res = llbt.fit("price + (1 | object)", llbt.from_counts(frame, object_covariates=price))
    check(res, ["price"], close=1e-3)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("approximation", [None, "laplace"])
@pytest.mark.parametrize("brackets", ["(object | judge)", "(object | judge) + (tie | judge)"])
def test_several_parameters_and_effects(brackets: str, approximation: str | None) -> None:
    c = llbt.from_counts(judged_frame(12, 0.8, seed=3, tie=0.5), clusters="judge")
    res = llbt.fit(f"object + tie + {brackets}", c, approximation=approximation)  # type: ignore[arg-type]
    check(res, ["object[A]", "tie"], close=1e-3, approximation=approximation)  # type: ignore[arg-type]


def test_all_parameters_may_be_held() -> None:
    res = llbt.fit("object + (object | judge)", two_objects([5, 1, 4, 0, 6, 3, 5, 2]), fixed={"object[A]": 0.1})
    assert res.params["object[A]"] == 0.1
    assert np.isnan(res.conf_int(method="profile")).all(axis=None)
