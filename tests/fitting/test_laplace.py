"""Fits by Laplace's approximation: asked for, taken for crossed groupings, its bias, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from support.mixed import judged_frame

import llbt
from llbt.errors import DesignError, OptionError


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    found = judged_frame(30, 0.8, seed=2)
    return found.assign(prompt=np.arange(len(found)) * 7 % 11 % 6)


@pytest.fixture(scope="module")
def crossed(frame: pd.DataFrame) -> llbt.MixedResults:
    c = llbt.from_counts(frame, clusters=("judge", "prompt"))
    found = llbt.fit("object + tie + (object | judge) + (tie | prompt)", c)
    assert isinstance(found, llbt.MixedResults)
    return found


@pytest.fixture(scope="module")
def res(frame: pd.DataFrame) -> llbt.MixedResults:
    c = llbt.from_counts(frame, clusters="judge")
    found = llbt.fit("object + tie + (object | judge)", c, approximation="laplace")
    assert isinstance(found, llbt.MixedResults)
    return found


def test_one_point_of_quadrature_is_the_same_approximation(res: llbt.MixedResults) -> None:
    from llbt.kernel.marginal import marginal
    from llbt.kernel.quadrature import Quadrature

    found = res.solution
    bundles = res.judges.grouped.bundles
    one = marginal(res.judges.problem, bundles, found.params, found.scales, Quadrature(1))
    assert res.llf == pytest.approx(one.value, abs=5e-5)  # whose modes are found to 1e-5
    assert res.converged
    assert "Laplace's approximation" in res.as_text()
    assert res.specification.approximation == "laplace"


def test_effects_are_those_of_the_groups(res: llbt.MixedResults) -> None:
    """Raw effects of all objects, and contrasts that a judge can know: two parametrizations."""
    from dataclasses import replace

    by_modes = llbt.judge_effects(replace(res, solution=replace(res.solution, predicted=())))
    found = llbt.judge_effects(res)
    np.testing.assert_allclose(found.effects, by_modes.effects, atol=1e-5)
    np.testing.assert_allclose(found.effect_errors, by_modes.effect_errors, atol=1e-5)


def test_bounds_of_the_standard_deviation_are_about_the_estimate(res: llbt.MixedResults) -> None:
    bounds = res.scale_intervals().iloc[0]
    assert bounds["conf_low"] < res.scales.iloc[0] < bounds["conf_high"]


def test_crossed_groupings_have_a_scale_each(crossed: llbt.MixedResults, frame: pd.DataFrame) -> None:
    assert list(crossed.scales.index) == ["(object | judge)", "(tie | prompt)"]
    assert "30 levels of judge and of 6 levels of prompt" in crossed.as_text()
    assert set(llbt.judge_effects(crossed, by="prompt").to_frame()["prompt"]) == set(range(6))
    assert llbt.judge_effects(crossed).worths().shape == (30, 3)
    assert pickle.loads(pickle.dumps(crossed)).as_text() == crossed.as_text()
    turned = llbt.fit("object + tie + (tie | prompt) + (object | judge)", crossed.comparisons)
    assert turned.llf == pytest.approx(crossed.llf, abs=1e-7)
    np.testing.assert_allclose(turned.scales, crossed.scales[turned.scales.index], atol=1e-4)


def test_a_new_judge_has_new_effects_of_both(crossed: llbt.MixedResults) -> None:
    average, new = (crossed.predict(population=flag).to_frame()["estimate"] for flag in (False, True))
    assert (average - new).abs().max() > 0.01
    with pytest.raises(DesignError, match="not kept in groups"):
        crossed.predict(at={"judge": "J01"})


@pytest.mark.slow
def test_the_bias_is_towards_zero_where_judgments_are_few(res: llbt.MixedResults) -> None:
    found = res.laplace_bias(rng=1).to_frame().set_index("term")
    again = res.laplace_bias(rng=1).to_frame().set_index("term")
    pd.testing.assert_frame_equal(found, again)
    sigma = found.loc["σ (object | judge)"]
    assert sigma["bias"] < -2 * sigma["std_error"]
    exact = llbt.fit("object + tie + (object | judge)", res.comparisons).scales.iloc[0]
    assert abs(sigma["corrected"] - exact) < abs(sigma["estimate"] - exact)


def test_what_cannot_be_approximated_is_refused(frame: pd.DataFrame) -> None:
    c = llbt.from_counts(frame.assign(worker=frame["judge"].str.lower()), clusters=("judge", "worker"))
    with pytest.raises(OptionError, match="without brackets"):
        llbt.fit("object + tie", c, approximation="laplace")
    with pytest.raises(DesignError, match="'judge' and 'worker' part the judgments in the same 30 ways"):
        llbt.fit("object + tie + (object | judge) + (object | worker)", c)
    exact = llbt.fit("object + tie + (object | judge)", c)
    with pytest.raises(DesignError, match="not integrated out by Laplace"):
        exact.laplace_bias()
    with pytest.raises(OptionError, match="by='prompt'"):
        llbt.judge_effects(exact, by="prompt")
