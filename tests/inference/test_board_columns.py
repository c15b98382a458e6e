"""The columns of leaderboards: the same for every fit, shares and chances by loops, tiers by their definition."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import questions
from support.contrasts import simulated

import llbt
from llbt.inference.board_columns import COLUMNS, mean_chances, tiers

TABLE1 = llbt.load_dataset("dras_table1")


def graded() -> llbt.LLBTResults:
    rows = [("A", "B", 9, 8, 7, 5, 2), ("A", "C", 9, 9, 6, 3, 1), ("B", "C", 7, 8, 9, 6, 4)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", *(names := ("++", "+", "=", "-", "--"))])
    return llbt.fit("object + tie + grade", llbt.from_counts(frame, grades=names))


def test_columns_are_the_same_for_graded_judgments_and_clusters() -> None:
    clustered = llbt.fit("object + tie", questions.judged(), cov_type="cluster", groups="judge")
    for res in (graded(), clustered):
        assert list(llbt.leaderboard(res).to_frame()) == list(COLUMNS)


@pytest.mark.filterwarnings("ignore::llbt.errors.LLBTWarning")
@pytest.mark.parametrize("kind", list(questions.KINDS))
def test_columns_are_the_same_for_every_kind_of_fit(kind: str) -> None:
    board = questions.QUESTIONS["leaderboard"](kind).to_frame()
    front = ["class", "share"] if "class" in board else []
    assert list(board) == [*front, *COLUMNS]


MIX = {"judge": {"J1": 0.5, "J2": 0.5}}
OPTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({"at": "average", "scale": "elo"}, []),
    ({"at": {"judge": "J3"}, "scale": "probability"}, []),
    ({"by": "judge", "scale": "odds_ratio"}, ["judge"]),
    ({"at": {"judge": ["J1", "J2"]}, "by": "judge", "hypothesis": "pairwise"}, ["judge"]),
    ({"at": MIX, "anchor": "A"}, []),
]


@pytest.mark.parametrize(("options", "front"), OPTIONS)
def test_columns_are_the_same_for_every_option(options: dict[str, Any], front: list[str]) -> None:
    res = llbt.fit("object * judge + tie", TABLE1)
    board = llbt.leaderboard(res, **options)
    assert list(board.to_frame()) == [*front, *COLUMNS]
    assert board.to_frame()["win_probability"].isna().all() == ("hypothesis" in options)
    assert ("Model %" in board.as_text()) == (options.get("at") in (MIX, "average"))


def test_columns_of_frames_alone_print_where_they_are_named() -> None:
    board = llbt.leaderboard(llbt.fit("object + tie", TABLE1.pool()))
    assert "Std. Error" not in board.as_text() + board.as_html() + board.as_latex() + board.as_markdown()
    named = board.as_text(columns=["object", "std_error", "tier", "bad"])
    assert named.split("\n\n")[1].split("\n")[0].split() == ["Object", "Std.", "Error", "Tier", "Bad"]


def chances(res: Any) -> dict[Any, float]:
    """The mean over others of P(preferred | decided), from the rows of `pairwise`."""
    found = llbt.pairwise(res, scale="probability").to_frame()
    won: dict[Any, list[float]] = {label: [] for label in res.comparisons.objects}
    for i, j, chance in found[["object_i", "object_j", "estimate"]].itertuples(index=False):
        won[i].append(chance)
        won[j].append(1 - chance)
    return {label: float(np.mean(each)) for label, each in won.items()}


def test_shares_of_wins_by_a_loop() -> None:
    """Of all judgments with ties as half; and the mean over others of predicted P(win | decided)."""
    c = TABLE1.pool()
    res = llbt.fit("object + tie", c)
    board = llbt.leaderboard(res).to_frame().set_index("object")
    won, all_ = dict.fromkeys("ABCD", 0.0), dict.fromkeys("ABCD", 0.0)
    for row in c.to_frame().to_dict("records"):
        for side, own in (("object_i", "wins_i"), ("object_j", "wins_j")):
            won[row[side]] += row[own] + row["ties"] / 2
            all_[row[side]] += row["wins_i"] + row["ties"] + row["wins_j"]
    assert board["win_share"].to_dict() == pytest.approx({label: won[label] / all_[label] for label in "ABCD"})
    assert board["win_probability"].to_dict() == pytest.approx(chances(res))


def test_the_mean_probability_of_graded_judgments_is_of_being_preferred() -> None:
    res = graded()
    assert llbt.leaderboard(res).to_frame().set_index("object")["win_probability"].to_dict() == pytest.approx(
        chances(res)
    )


def test_of_many_objects_the_polynomial_is_the_mean() -> None:
    worths = np.random.default_rng(3).normal(0, 2.0, 700)
    worths[5] = np.nan
    known = worths[~np.isnan(worths)]
    expected = [np.sum(1 / (1 + np.exp(-2 * (worth - known)))) - 0.5 for worth in known]
    found = mean_chances(worths)
    assert np.isnan(found[5])
    np.testing.assert_allclose(found[~np.isnan(found)], np.array(expected) / (len(known) - 1), atol=1e-10)


def by_definition(low: np.ndarray, high: np.ndarray) -> list[int]:
    """Cut wherever every range above ends before every range below begins."""
    cuts = [k for k in range(1, len(low)) if max(high[:k]) < min(low[k:])]
    return [1 + sum(cut <= place for cut in cuts) for place in range(len(low))]


def test_tiers_are_cut_where_no_range_of_ranks_crosses() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        rank = np.arange(1, 9)
        low, high = rank - rng.integers(0, 2, 8), rank + rng.integers(0, 2, 8)
        assert tiers(low, high).tolist() == by_definition(low, high)
    assert np.isnan(tiers([1, 2, np.nan], [1, 2, np.nan])).tolist() == [False, False, True]
    assert tiers([np.nan], [np.nan]).tolist() != [1]


def test_tiers_print_where_letters_do_not_and_there_are_several() -> None:
    """Two chains far apart: letters would be more than nine, the tiers two."""
    truth = np.concatenate([np.linspace(0.7, -0.7, 13) + 1.2, np.linspace(0.7, -0.7, 13) - 1.2])
    board = llbt.leaderboard(
        llbt.fit("object + tie", simulated(np.random.default_rng(8), truth, judgments=12), prior=1.0)
    )
    assert board.to_frame()["tier"].tolist() == [1] * 13 + [2] * 13
    assert "Tier" in board.as_text()
    assert "Group" not in board.as_text()


def close() -> llbt.LLBTResults:
    return llbt.fit("object + tie", simulated(np.random.default_rng(6), np.array([0.3, 0.25, 0.2, 0.0, -0.3, -0.6])))


@pytest.mark.parametrize("scale", ["log_worth", "log_odds", "elo", "odds_ratio"])
def test_the_best_and_its_correction_are_those_of_best(scale: Any) -> None:
    res = close()
    found, board = llbt.best(res), llbt.leaderboard(res, scale=scale)
    assert board.to_frame().loc[board.to_frame()["may_be_best"], "object"].tolist() == list(found.candidates)
    assert len(found.candidates) > 1
    assert board.head[0] == "First place is open between 4 objects (95 % confidence): C, A, B and 1 more"
    factor = {"log_worth": 1.0, "log_odds": 2.0, "elo": 800 / np.log(10), "odds_ratio": 2.0}[scale]
    values = factor * np.array([found.worth.corrected, found.worth.conf_low, found.worth.conf_high])
    said = [float(text) for text in re.findall(r"-?\d+\.?\d*", board.head[1].replace("95 %", ""))]
    np.testing.assert_allclose(
        said, np.exp(values) if scale == "odds_ratio" else values, rtol=6e-3, atol=0.51 if scale == "elo" else 0
    )


def test_against_an_anchor_the_correction_is_that_of_the_difference() -> None:
    """200,000 draws of λ_A − λ_B about its corrected value, of those with A first: half exceed the estimate.

    What is left of the worths given the difference is independent of it, and held as it was observed.
    """
    truth = np.array([0.3, 0.28, 0.26, 0.24, 0.2, 0])
    res = llbt.fit("object + tie", simulated(np.random.default_rng(6), truth))
    line = llbt.leaderboard(res, scale="elo", anchor={"B": 1000}).head[1]
    corrected = (float(re.findall(r"\d+", line)[0]) - 1000) * np.log(10) / 800
    lam, cov = np.append(res.params.to_numpy()[:5], 0.0), np.zeros((6, 6))
    cov[:5, :5] = res.cov_params().to_numpy()[:5, :5]
    of = np.array([1, -1, 0, 0, 0, 0])
    variance = of @ cov @ of
    drawn = corrected + variance**0.5 * np.random.default_rng(1).standard_normal(200_000)
    first = (lam + np.outer(drawn - of @ lam, cov @ of / variance)).argmax(axis=1) == 0
    assert np.mean(drawn[first] > of @ lam) == pytest.approx(0.5, abs=0.01)
    assert of @ lam - corrected > 0.1 * variance**0.5
    assert "corrected" not in llbt.leaderboard(res, anchor="A").as_text()


def test_the_set_of_the_best_may_be_smaller_than_the_rank_ranges_say() -> None:
    board = llbt.leaderboard(
        llbt.fit("object + tie", simulated(np.random.default_rng(5), np.array([0.4, 0.3, 0.2, 0.0, -0.3, -0.6])))
    )
    assert board.head == ("First: A (with 95 % confidence)",)
    assert board.to_frame()["rank_low"].tolist()[:2] == [1, 1]
    assert any("First place has its own test" in note for note in board.notes)


def test_of_worths_nothing_is_corrected() -> None:
    assert "corrected" not in llbt.leaderboard(close(), scale="probability").as_text()
