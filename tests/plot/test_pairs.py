"""Pictures of pairs of objects show the numbers of their records."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.pictures import made, row_names, texts
from support.worths import TABLE1, fit

import llbt
from llbt.plot import style


def test_probabilities_are_those_of_pairwise_and_of_the_worths(pooled):
    ax = llbt.plot.probabilities(pooled)
    square = pd.DataFrame(np.asarray(ax.images[0].get_array().filled(np.nan)), row_names(ax), row_names(ax))
    for row in llbt.pairwise(pooled, scale="probability").to_frame().itertuples():
        assert square.loc[row.object_i, row.object_j] == pytest.approx(row.estimate)
    share = llbt.worth(pooled).to_frame().set_index("object")["estimate"]  # the second route: π_i / (π_i + π_j)
    for a, b in itertools.permutations(share.index, 2):
        assert square.loc[a, b] == pytest.approx(share[a] / (share[a] + share[b]))
    wins = pooled.comparisons.win_matrix()
    for text in ax.texts:
        column, row = text.get_position()
        assert text.get_text().split("\n")[1] == f"{wins.loc[row_names(ax)[row], row_names(ax)[column]]:.0f}"
    assert len(ax.texts) == 12


def test_counts_are_those_of_the_judge_that_is_asked_for(by_judge):
    ax = llbt.plot.probabilities(by_judge, at={"judge": "J3"})
    total = sum(int(text.split("\n")[1]) for text in texts(ax))
    one = TABLE1.select(where={"judge": "J3"})
    assert total == one.n_judgments - one.n_ties


def test_small_cells_have_no_letters():
    _, ax = plt.subplots(figsize=(2, 2))
    llbt.plot.probabilities(fit("object + tie", made(list("abcdefghijkl"), judges=1, n=6)), ax=ax)
    assert not ax.texts
    assert ax.images[0].get_array().shape == (12, 12)


def test_each_of_sixty_objects_has_its_name():
    names = [f"model-{k:02d}-instruct" for k in range(60)]
    frame = pd.DataFrame({"object_i": names, "object_j": names[1:] + names[:1], "wins_i": 3, "wins_j": 2})
    ax = llbt.plot.probabilities(llbt.fit("object", llbt.from_counts(frame)))
    assert set(row_names(ax)) == set(names)
    assert [label.get_text() for label in ax.get_xticklabels()] == row_names(ax)
    size = ax.get_yticklabels()[0].get_fontsize()
    assert 60 * size < 72 * ax.get_window_extent().height / ax.figure.dpi  # rows are higher than letters


@pytest.mark.parametrize("by", ["pair", "object"])
def test_outcome_bars_are_shares_of_counts(by):
    c = made(list("abcd"))
    ax = llbt.plot.outcomes(c, rows=by)
    frame = c.to_frame()
    widths = np.array([[bar.get_width() for bar in container] for container in ax.containers]).T
    left = np.array([[bar.get_x() for bar in container] for container in ax.containers]).T
    np.testing.assert_allclose(left, np.cumsum(widths, axis=1) - widths, atol=1e-12)
    np.testing.assert_allclose(widths.sum(axis=1), 1)
    notes = [text for text in ax.texts if text.get_position()[0] > 1]
    for row, name in enumerate(row_names(ax)):
        other = notes[row].get_text().split(" (")[0] if by == "pair" else None
        expected = counted_by_hand(frame, name, other)
        np.testing.assert_allclose(widths[row], expected / expected.sum())
        assert f"{expected.sum():.0f}" in notes[row].get_text()
    assert len(widths) == (6 if by == "pair" else 4)


def counted_by_hand(frame, name, other):
    """Wins, ties and losses of an object (against another), by a loop over the rows."""
    total = np.zeros(3)
    for row in frame.itertuples():
        if row.object_i == name and other in (None, row.object_j):
            total += [row.wins_i, row.ties, row.wins_j]
        if row.object_j == name and other in (None, row.object_i):
            total += [row.wins_j, row.ties, row.wins_i]
    return total


def test_outcomes_keep_the_rows_with_the_most_judgments():
    ax = llbt.plot.outcomes(made(list("abcdef")), most=4)
    assert len(row_names(ax)) == 4
    assert "the 4 pairs with the most judgments" in ax.get_xlabel()


def test_without_ties_there_are_two_bars():
    ax = llbt.plot.outcomes(llbt.load_dataset("citations"))
    assert [container.get_label() for container in ax.containers] == ["left wins", "right wins"]


@pytest.mark.parametrize("by", ["pair", "object"])
def test_grades_are_shades_of_the_sides(by):
    """Counts by hand; a larger grade is darker, and both sides have the same share of their colour."""
    names = ("++", "+", "=", "-", "--")
    rows = [("a", "b", 1, 2, 3, 4, 5), ("c", "b", 6, 1, 0, 2, 2), ("a", "c", 4, 4, 4, 3, 1)]
    c = llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", *names]), grades=names)
    ax = llbt.plot.outcomes(c, rows=by)
    said = {"pair": ["left +", "left", "tie", "right", "right +"], "object": ["win +", "win", "tie", "loss", "loss +"]}
    assert [container.get_label() for container in ax.containers] == said[by]
    by_hand = {
        "pair": {"a": [4, 4, 4, 3, 1], "b": [5, 4, 3, 2, 1], "c": [6, 1, 0, 2, 2]},
        "object": {"a": [5, 6, 7, 7, 6], "b": [7, 6, 3, 3, 7], "c": [7, 4, 4, 6, 6]},
    }
    widths = np.array([[bar.get_width() for bar in container] for container in ax.containers]).T
    for row, name in enumerate(row_names(ax)):
        expected = np.array(by_hand[by][name])
        np.testing.assert_allclose(widths[row], expected / expected.sum())
    light = [sum(container[0].get_facecolor()[:3]) for container in ax.containers]
    assert light[0] < light[1] < light[2] > light[3] > light[4]
    assert ax.containers[0][0].get_facecolor()[:3] == pytest.approx(mpl.colors.to_rgb(style.BLUE))


def test_both_bad_stands_beside_the_tie():
    frame = pd.DataFrame([("a", "b", said) for said in ("i", "i", "j", "tie", "bad")], columns=[*"ab", "said"])
    c = llbt.from_judgments(frame, objects=("a", "b"), outcome="said", outcomes={"bad": "bad"})
    ax = llbt.plot.outcomes(c)
    bars = {container.get_label(): container[0].get_width() for container in ax.containers}
    assert bars == pytest.approx({"left wins": 0.4, "tie": 0.2, "both bad": 0.2, "right wins": 0.2})
