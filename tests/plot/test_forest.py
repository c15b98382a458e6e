"""The picture of contrasts shows the numbers of their table."""

import numpy as np
import pytest
from support.pasting import to_type
from support.pictures import bars, row_names
from support.worths import TABLE1, fit

import llbt
from llbt.errors import OptionError

NAMED = {"A vs B": {"A": 1, "B": -1}, "A vs rest": {"A": 3, "B": -1, "C": -1, "D": -1}}


@pytest.mark.parametrize(("scale", "equal"), [("log_odds", 0), ("elo", 0), ("odds_ratio", 1), ("probability", 0.5)])
def test_rows_are_those_of_the_table(pooled, scale, equal) -> None:
    table = llbt.contrasts(pooled, NAMED, scale=scale, confidence=0.9)
    ax = llbt.plot.forest(table)
    values, rows = bars(ax.containers[0])
    np.testing.assert_allclose(values, table.to_frame()[["estimate", "conf_low", "conf_high"]], rtol=1e-9)
    np.testing.assert_array_equal(rows, [0, 1])
    assert row_names(ax) == list(NAMED)
    assert equal in [line.get_xdata()[0] for line in ax.lines]
    assert ax.get_xscale() == ("log" if scale == "odds_ratio" else "linear")
    assert "(90 % intervals)" in ax.get_xlabel()


def test_groups_are_named_behind_contrasts() -> None:
    res = fit("object * judge + tie", TABLE1)
    ax = llbt.plot.forest(llbt.contrasts(res, {"A vs B": {"A": 1, "B": -1}}, by="judge"))
    assert row_names(ax) == [f"A vs B, J{k}" for k in range(1, 5)]


def test_another_table_is_refused(pooled) -> None:
    with pytest.raises(OptionError, match=r"expected what llbt\.contrasts\(res, \{…\}\) returns"):
        llbt.plot.forest(llbt.leaderboard(pooled))
    with pytest.raises(OptionError) as refused:
        llbt.plot.forest(pooled)
    (pasted,) = to_type(refused.value.remedy)
    assert row_names(eval(pasted, {"llbt": llbt, "res": pooled})) == ["A", "D", "B", "C"]
