"""The network of who met whom has the counts of the table and the residuals of the fit."""

import numpy as np
import pandas as pd
import pytest
from support.pictures import made, texts
from support.worths import fit

import llbt


def test_the_network_has_a_line_per_pair_as_wide_as_its_judgments(pooled):
    c = made(list("abcdef"), n=9).select(where={"judge": "J1"})
    res = fit("object + tie", c)
    ax = llbt.plot.network(res)
    best_first = llbt.leaderboard(res).to_frame()["object"].tolist()
    assert texts(ax) == best_first
    angle = np.pi / 2 - 2 * np.pi * np.arange(6) / 6
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    frame = llbt.residuals(res, of="pairs").to_frame().set_index(["object_i", "object_j"])
    lines = ax.collections[0]
    assert len(lines.get_segments()) == 15
    for segment, width, residual in zip(lines.get_segments(), lines.get_linewidths(), lines.get_array(), strict=True):
        ends = [best_first[int(np.argmin(np.abs(places - end).sum(axis=1)))] for end in segment]
        assert best_first.index(ends[0]) < best_first.index(ends[1])
        row = frame.loc[tuple(sorted(ends))]
        assert residual == pytest.approx(row["residual"] * (1 if ends == sorted(ends) else -1))
        assert width / max(lines.get_linewidths()) == pytest.approx(row["judgments"] / frame["judgments"].max())


def test_a_pair_that_is_fitted_exactly_has_no_colour():
    ax = llbt.plot.network(fit("object + tie", llbt.load_dataset("dras_modpref")))
    assert np.ma.is_masked(ax.collections[0].get_array()[0])


def test_beyond_fifteen_objects_pairs_are_squares_of_a_matrix():
    rng = np.random.default_rng(2)
    i, j = np.triu_indices(16, 1)
    counts = pd.DataFrame(
        {"object_i": i, "object_j": j, "wins_i": rng.integers(1, 9, 120), "wins_j": rng.integers(1, 9, 120)}
    )
    res = fit("object", llbt.from_counts(counts))
    ax = llbt.plot.network(res)
    drawn = ax.collections[0]
    ranked = [text.get_text() for text in ax.get_yticklabels()]
    assert ranked == llbt.leaderboard(res).to_frame()["object"].astype(str).tolist()
    judgments = counts.set_index(["object_i", "object_j"]).sum(axis=1)
    frame = llbt.residuals(res, of="pairs").to_frame().set_index(["object_i", "object_j"])["residual"]
    areas, seen = {}, {}
    for path, value in zip(drawn.get_paths(), drawn.get_array(), strict=True):
        low, high = path.vertices.min(axis=0), path.vertices.max(axis=0)
        x, y = (low + high) / 2
        better, worse = int(ranked[round(y)]), int(ranked[round(x)])
        assert round(y) < round(x)
        pair = (min(better, worse), max(better, worse))
        areas[pair], seen[pair] = (high - low).prod(), value if better < worse else -value
    np.testing.assert_allclose([areas[pair] for pair in judgments.index], judgments / judgments.max())
    np.testing.assert_allclose([seen[pair] for pair in frame.index], frame)
