"""Pictures of boards of scores show the numbers of their records: artists are compared, not pixels."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.drawn import PICTURES, faults
from support.pictures import bars, row_names, texts

import llbt
from llbt.errors import OptionError

RNG = np.random.default_rng(1)
HOSTILE = "$x_1$ <b>&"
SCORES = pd.DataFrame(RNG.normal([3.0, 1.5, 1.4, 0.0], size=(30, 4)), columns=[HOSTILE, "b", "c", "d"])


def board(**options):
    return llbt.scores.leaderboard(SCORES, test="t", **options)


def test_means_have_t_intervals_and_rank_ranges_beside_them():
    found = board()
    ax = llbt.plot.intervals(found, confidence=0.9)
    values, rows = bars(ax.containers[0])
    data = SCORES[list(found.systems)]
    low, high = stats.t.interval(0.9, 29, data.mean(), data.sem())
    np.testing.assert_allclose(values, np.column_stack([data.mean(), low, high]))
    np.testing.assert_array_equal(rows, range(4))
    assert row_names(ax) == list(found.systems)
    assert texts(ax) == ["1", "2–3", "2–3", "4", "ranks"]
    breaks = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert breaks == [0.5, 2.5]
    assert "90 % intervals" in ax.get_xlabel()
    assert "simultaneous 95 %" in ax.get_xlabel()


def test_letters_and_lower_scores():
    lower = llbt.scores.SystemScores.from_frame(SCORES, higher_is_better=False)
    ax = llbt.plot.intervals(llbt.scores.leaderboard(lower, test="t", groups="letters"))
    assert row_names(ax) == ["d", "c", "b", HOSTILE]
    assert texts(ax) == ["a", "b", "b", "c"]
    assert "lower is better" in ax.get_xlabel()
    assert "simultaneous" not in llbt.plot.intervals(board(adjust=None)).get_xlabel()


def test_ranks_of_a_board():
    found = board()
    values, _ = bars(llbt.plot.ranks(found).containers[0])
    np.testing.assert_array_equal(values, np.column_stack([found.rank, found.rank_low, found.rank_high]))


def test_options_of_fits_are_refused_beside_a_board():
    for option in ({"scale": "elo"}, {"by": "judge"}, {"bars": "quasi"}):
        with pytest.raises(OptionError, match=f"{next(iter(option))}=.*given with a board of scores.*Leave it out"):
            llbt.plot.intervals(board(), **option)
    with pytest.raises(OptionError, match="given with a table"):
        llbt.plot.ranks(board(), at="average")


def test_the_frontier_is_that_of_the_record():
    rows = [
        {"system": s, "item": k, "score": float(k % 9 < right), "usd": usd}
        for s, right, usd in ((HOSTILE, 7, 30.0), ("b", 4, 1.0), ("c", 4, 2.0))
        for k in range(45)
    ]
    found = llbt.scores.read_board(rows, system="system", item="item", score="score", cost="usd").frontier()
    ax = llbt.plot.frontier(found)
    beaten, best = (one.get_offsets() for one in ax.collections)
    np.testing.assert_allclose(beaten, [[2.0, 4 / 9]])
    np.testing.assert_allclose(best, [[1.0, 4 / 9], [30.0, 7 / 9]])
    np.testing.assert_allclose(ax.lines[0].get_xydata(), best)
    assert texts(ax) == ["b (1.000)", f"{HOSTILE} (1.000)"]
    assert ax.get_xscale() == "log"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["intervals: scores", "frontier"])
def test_twenty_systems_have_places(name):
    assert faults(PICTURES[name](20)) == []
