"""The picture of effects of judges shows the numbers of their table, in order."""

import numpy as np
import pytest
from support.calls import mixed

import llbt
from llbt.errors import OptionError


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
    with pytest.raises(OptionError, match="what judges have effects on: 'A', 'B'"):
        llbt.plot.judge_effects(llbt.judge_effects(mixed()), of="tie")
