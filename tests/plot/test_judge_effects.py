"""The picture of effects of judges shows the numbers of their table, in order."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from support.calls import mixed

import llbt
from llbt.errors import OptionError


@cache
def slopes() -> llbt.MixedResults:
    rng = np.random.default_rng(1)
    judge = np.arange(240) % 12
    length = rng.normal(size=(2, 240))
    wins = rng.random(240) < 1 / (1 + np.exp(-(0.2 + rng.normal(0, 1, 12)[judge]) * (length[0] - length[1])))
    d = pd.DataFrame({"object_i": "A", "object_j": "B", "outcome": np.where(wins, "i", "j"), "judge": judge})
    d = d.assign(length_i=length[0], length_j=length[1])
    c = llbt.from_judgments(d, clusters="judge", side_covariates={"length": ("length_i", "length_j")})
    res = llbt.fit("object + length + (object + length || judge)", c)
    assert isinstance(res, llbt.MixedResults)
    return res


def test_rows_are_judges_in_order_of_their_effects() -> None:
    effects = llbt.judge_effects(mixed())
    ax = llbt.plot.judge_effects(effects, of="B")
    frame = effects.to_frame().query("object == 'B'").sort_values("estimate", ascending=False, kind="stable")
    line, _, (bars,) = ax.containers[0].lines
    np.testing.assert_allclose(line.get_xdata(), frame["estimate"])
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, frame[["conf_low", "conf_high"]], atol=1e-12)
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(judge) for judge in frame["judge"]]


def test_a_fit_is_drawn_as_its_effects() -> None:
    one, two = (llbt.plot.judge_effects(given, of="B") for given in (mixed(), llbt.judge_effects(mixed())))
    for first, second in zip(one.lines, two.lines, strict=True):
        np.testing.assert_allclose(first.get_xydata(), second.get_xydata())


def test_the_first_object_is_drawn_where_nothing_is_said() -> None:
    assert "λ of A" in llbt.plot.judge_effects(llbt.judge_effects(mixed())).get_xlabel()


def test_what_judges_have_no_effects_on_is_refused() -> None:
    with pytest.raises(OptionError, match="of='tie' is not an effect of this fit; expected one of 'A', 'B'"):
        llbt.plot.judge_effects(llbt.judge_effects(mixed()), of="tie")


def test_slopes_are_named_by_their_covariate() -> None:
    res = slopes()
    axes = [llbt.plot.judge_effects(res, of=name) for name in ("length", "slope of length")]
    assert [ax.get_xlabel() for ax in axes] == ["slope of length, minus the average judge\n(95 % intervals)"] * 2
    frame = llbt.judge_effects(res).to_frame().query("term == '(length | judge)'")
    line = axes[0].containers[0].lines[0]
    np.testing.assert_allclose(np.sort(line.get_xdata()), np.sort(frame["estimate"]))
    with pytest.raises(OptionError, match="of='size' is not an effect of this fit") as refused:
        llbt.plot.judge_effects(res, of="size")
    assert refused.value.remedy == "Pass of='slope of length'."
