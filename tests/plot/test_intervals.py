"""Pictures of intervals and ranks show the numbers of their tables: artists are compared, not pixels."""

import numpy as np
import pandas as pd
import pytest
from support.pictures import bars, made, row_names, texts
from support.worths import TABLE1, fit

import llbt


@pytest.mark.parametrize("scale", ["log_odds", "log_worth", "odds_ratio", "elo", "probability"])
def test_intervals_are_those_of_the_leaderboard(pooled, scale):
    ax = llbt.plot.intervals(pooled, scale=scale, confidence=0.9)
    board = llbt.leaderboard(pooled, scale=scale, confidence=0.9).to_frame()
    values, rows = bars(ax.containers[0])
    np.testing.assert_allclose(values, board[["estimate", "conf_low", "conf_high"]], rtol=1e-9)
    np.testing.assert_array_equal(rows, range(4))
    assert row_names(ax) == board["object"].tolist()
    assert texts(ax) == board["group"].tolist()
    assert ax.get_xscale() == ("log" if scale in ("odds_ratio", "probability") else "linear")
    assert "90 % intervals" in ax.get_xlabel()


@pytest.mark.parametrize(("scale", "factor"), [("log_worth", 1), ("log_odds", 2), ("elo", 800 / np.log(10))])
def test_quasi_intervals_are_those_of_the_quasi_variances(pooled, scale, factor):
    ax = llbt.plot.intervals(pooled, bars="quasi", scale=scale)
    quasi = llbt.quasi_variances(pooled).to_frame().set_index("object").loc[row_names(ax)]
    values, _ = bars(ax.containers[0])
    np.testing.assert_allclose(values, factor * quasi[["estimate", "conf_low", "conf_high"]], rtol=1e-9)
    assert (np.diff(values[:, 0]) <= 0).all()


def test_breaks_stand_between_significance_clusters():
    res = fit("object + tie", made(list("abcdef"), n=6))
    ax = llbt.plot.intervals(res)
    cluster = llbt.pairwise(res).clusters().to_frame()["significance_cluster"].to_numpy()
    breaks = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    np.testing.assert_array_equal(breaks, np.flatnonzero(np.diff(cluster)) + 0.5)
    assert 0 < len(breaks) < 5
    assert "dashed: all above beat all below" in ax.get_xlabel()
    assert "same letter" in ax.get_xlabel()


def test_ranks_stand_where_many_letters_would_be_needed():
    res = fit("object + tie", made([f"o{k:02d}" for k in range(26)], judges=1, n=6))
    pairs = llbt.pairwise(res)
    assert len(set("".join(pairs.letters().to_frame()["group"]))) > 9
    ax = llbt.plot.intervals(res)
    heading, *beside = sorted(texts(ax), key=lambda text: text != "ranks")
    assert heading == "ranks"
    ends = pairs.ranks().to_frame()[["rank_low", "rank_high"]].to_numpy().tolist()
    assert beside == [f"{low}" if low == high else f"{low}–{high}" for low, high in ends]
    assert "confidence sets" in ax.get_xlabel()
    assert "same letter" not in ax.get_xlabel()


def test_rank_shares_are_those_of_the_bootstrap(pooled):
    res = fit("object + tie", made(list("abcde"), n=2))
    table = llbt.bootstrap(res, n=100, rng=1).ranks()
    ax = llbt.plot.ranks(table)
    square = table.to_frame().pivot(index="object", columns="rank", values="estimate").loc[row_names(ax)]
    np.testing.assert_array_equal(ax.images[0].get_array(), square)
    assert ax.images[0].get_extent() == [0.5, 5.5, 4.5, -0.5]
    assert (np.diff(square.to_numpy() @ np.arange(1, 6)) >= 0).all()  # by mean rank
    for text in ax.texts:
        share = square.iloc[text.get_position()[1], text.get_position()[0] - 1]
        assert abs(float(text.get_text()) - share) <= 0.01


@pytest.mark.parametrize("question", [llbt.leaderboard, lambda res: llbt.pairwise(res).ranks()])
def test_rank_sets_are_those_of_the_table(question):
    table = question(fit("object + tie", made(list("abcde"), n=2)))
    ax = llbt.plot.ranks(table)
    values, _ = bars(ax.containers[0])
    np.testing.assert_array_equal(values, table.to_frame()[["rank", "rank_low", "rank_high"]])
    assert row_names(ax) == table.to_frame()["object"].tolist()


def test_ranks_of_a_fit_are_those_of_its_leaderboard(pooled, by_judge):
    values, _ = bars(llbt.plot.ranks(pooled).containers[0])
    board = llbt.leaderboard(pooled).to_frame()
    np.testing.assert_array_equal(values, board[["rank", "rank_low", "rank_high"]])
    at = {"judge": "J3"}
    assert (
        row_names(llbt.plot.ranks(by_judge, at=at)) == llbt.leaderboard(by_judge, at=at).to_frame()["object"].tolist()
    )
    with pytest.raises(llbt.errors.OptionError, match=r"Name one class: at={'judge': 'J1'}"):
        llbt.plot.ranks(by_judge)
    with pytest.raises(llbt.errors.OptionError, match="given with a table"):
        llbt.plot.ranks(llbt.leaderboard(pooled), at=at)


def several(ax):
    """Return the center, low and high of each series by object, and where in its row it stands."""
    names = row_names(ax)
    found = {}
    for container in ax.containers:
        values, rows = bars(container)
        at = np.round(rows).astype(int)
        found[container.get_label()] = dict(zip([names[k] for k in at], values, strict=True)), rows - at
    return found


@pytest.mark.parametrize(("scale", "quasi"), [("log_odds", False), ("probability", False), ("elo", True)])
def test_groups_stand_beside_each_other(by_judge, scale, quasi):
    ax = llbt.plot.intervals(by_judge, by="judge", scale=scale, bars="quasi" if quasi else "confidence")
    drawn = several(ax)
    assert list(drawn) == ["J1", "J2", "J3", "J4"]
    numbers = ["estimate", "conf_low", "conf_high"]
    for judge, (values, _) in drawn.items():
        at = {"judge": judge}
        table = llbt.quasi_variances(by_judge, at=at) if quasi else llbt.leaderboard(by_judge, at=at, scale=scale)
        rows = table.to_frame().set_index("object")[numbers] * (800 / np.log(10) if quasi else 1)
        np.testing.assert_allclose([values[label] for label in rows.index], rows, rtol=1e-9)
    offsets = np.array([offset for _, offset in drawn.values()])
    assert np.ptp(offsets, axis=1).max() < 1e-9  # each group at its place of every row
    assert np.diff(offsets[:, 0]).min() > 0.1  # apart
    mean = np.mean(
        [[np.log(v[0]) if scale == "probability" else v[0] for v in d.values()] for d, _ in drawn.values()], 0
    )
    assert (np.diff(mean) <= 0).all()
    assert ax.get_legend().get_title().get_text() == "judge"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(drawn)
    assert not texts(ax)


def test_groups_that_are_named_are_drawn_alone(by_judge):
    ax = llbt.plot.intervals(by_judge, by="judge", at={"judge": ["J4", "J2"]})
    assert list(several(ax)) == ["J4", "J2"]


def test_fits_stand_beside_each_other():
    c = llbt.from_counts(TABLE1.to_frame(), clusters="judge")
    fits = {
        "independent": fit("object + tie", c),
        "by judge": fit("object + tie", c, cov_type="cluster", groups="judge"),
    }
    ax = llbt.plot.intervals(fits)
    for (name, res), (drawn, (values, _)) in zip(fits.items(), several(ax).items(), strict=True):
        assert drawn == name
        board = llbt.leaderboard(res).to_frame().set_index("object")[["estimate", "conf_low", "conf_high"]]
        np.testing.assert_allclose([values[label] for label in board.index], board, rtol=1e-9)
    unnamed = llbt.plot.intervals([fits["independent"], fit("object", c)])
    assert list(several(unnamed)) == ["object + tie", "object"]


def test_what_does_not_stand_beside_each_other_is_refused(pooled, by_judge):
    with pytest.raises(llbt.errors.OptionError, match="do not both have 'D'"):
        llbt.plot.intervals({"all": pooled, "some": fit("object + tie", TABLE1.pool().select(objects=list("ABC")))})
    with pytest.raises(llbt.errors.OptionError, match=r"expected LLBTResults.*or a dict of names to fits"):
        llbt.plot.intervals([])
    with pytest.raises(llbt.errors.OptionError, match=r"12 fits or groups.*at={'judge': \['J1', 'J2'\]}"):
        llbt.plot.intervals([by_judge] * 3, by="judge")
    rows = [("A", "B", 9, 8, 7, 5, 2), ("A", "C", 9, 9, 6, 3, 1), ("B", "C", 7, 8, 9, 6, 4), ("C", "D", 7, 8, 9, 6, 4)]
    names = ("++", "+", "=", "-", "--")
    graded = fit(
        "object + tie", llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", *names]), grades=names)
    )
    with pytest.raises(llbt.errors.DesignError, match=r"Choose scale='log_worth'"):
        llbt.plot.intervals({"three": pooled, "five": graded})
    assert len(several(llbt.plot.intervals({"three": pooled, "five": graded}, scale="log_worth"))) == 2
