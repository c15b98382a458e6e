"""Lists as judges gave them: what is kept, what is counted, and the comparisons that they imply."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.core.rankings import gathered_rankings

WIDE = pd.DataFrame({"A": [1, 2, 1, 1], "B": [2, 1, 1, 2], "C": [3, 3, 2, 3]})


def gathered(rows, **keywords):
    lists, items, places = (np.array(column) for column in zip(*rows, strict=True))
    return gathered_rankings(("A", "B", "C", "D"), lists, items, places, **keywords)


def test_equal_lists_are_counted_once():
    r = llbt.from_rankings(WIDE, objects=list("ABC"))
    assert (len(r), r.n_judgments) == (3, 4)
    assert r.counts.tolist() == [2, 1, 1]
    assert str(r).splitlines()[3].split() == ["A", ">", "B", ">", "C", "2"]


def test_equal_lists_of_other_judges_are_not_merged():
    r = llbt.from_rankings(WIDE.assign(judge=list("xyyz")), objects=list("ABC"), clusters="judge")
    assert len(r) == 4


def test_places_are_steps_and_objects_stand_in_order():
    r = gathered([(0, 2, 30), (0, 0, 7), (0, 1, 30), (0, 3, 0)])
    assert r.items.tolist() == [0, 1, 2, 3]
    assert r.places.tolist() == [1, 2, 2, 0]
    assert r.tied.tolist() == [1, 2]
    assert r.largest_tie == 2


def test_lists_that_say_nothing_are_left_out_and_counted():
    r = gathered([(0, 0, 1), (1, 0, 1), (1, 1, 2), (2, 0, 0), (2, 2, 0)])
    assert len(r) == 1
    assert r.objects == ("A", "B")
    assert r.notes == (
        "left out: 1 list of a single object",
        "left out: 1 list without any place",
        "2 objects left without lists: 'C', 'D'",
    )
    with pytest.raises(llbt.errors.JudgmentError, match="no list compares two objects"):
        gathered([(0, 0, 1), (1, 1, 1)])


def test_an_object_twice_in_a_list_is_refused():
    with pytest.raises(llbt.errors.JudgmentError, match="'A' occurs twice in list 0"):
        gathered([(0, 0, 1), (0, 1, 2), (0, 0, 3)])


def test_arrays_cannot_be_written():
    r = llbt.from_rankings(WIDE, objects=list("ABC"))
    with pytest.raises(ValueError, match="read-only"):
        r.places[0] = 5


# -- implied comparisons -------------------------------------------------------------------------------------


def test_objects_below_lose_against_all_that_are_ranked():
    r = gathered([(0, 0, 1), (0, 1, 2), (0, 2, 0), (0, 3, 0)])
    frame = r.to_comparisons().to_frame()
    said = {(i, j): (w, v) for i, j, w, _, v in frame.itertuples(index=False)}
    assert said == {("A", "B"): (1, 0), ("A", "C"): (1, 0), ("A", "D"): (1, 0), ("B", "C"): (1, 0), ("B", "D"): (1, 0)}


def test_the_best_and_the_worst_imply_what_they_say():
    r = gathered([(0, 2, 1), (0, 0, 2), (0, 1, 0), (0, 3, 0)], kind="best_worst")
    frame = r.to_comparisons().to_frame()
    won = {(i, j) if w else (j, i) for i, j, w, _, _ in frame.itertuples(index=False)}
    assert won == {("C", "A"), ("C", "B"), ("C", "D"), ("B", "A"), ("D", "A")}
    assert "C > (B, D) > A" in str(r)
    assert r.largest_tie == 1


def test_counts_multiply_what_a_list_implies(monkeypatch):
    rows = [(k, i, p) for k, places in enumerate(itertools.permutations((1, 2, 3))) for i, p in enumerate(places)]
    counts = np.arange(1.0, 7.0)
    r = gathered(rows, counts=counts)
    whole = r.to_comparisons()
    assert whole.n_judgments == 3 * counts.sum()
    monkeypatch.setattr("llbt.core.rankings._ENTRIES", 9)
    assert r.to_comparisons() == whole


def test_what_is_assumed_is_said():
    notes = llbt.from_rankings(WIDE, objects=list("ABC")).to_comparisons().notes
    assert notes[-2].startswith("12 judgments implied by 4 lists: higher beats lower")
    assert "not independent" in notes[-1]


PAIRS_ONLY = {
    "LLBT": lambda data: llbt.LLBT.from_formula("object", data),
    "default_formula": llbt.default_formula,
    "intransitivity": llbt.intransitivity,
    "outcomes": llbt.plot.outcomes,
    "sign_test": llbt.classical.sign_test,
    "head_to_head": llbt.classical.head_to_head,
    "ranking_scores": lambda data: llbt.classical.ranking_scores(data, n=0),
    "summary": llbt.judges.summary,
}


@pytest.mark.parametrize("name", PAIRS_ONLY)
def test_what_takes_comparisons_says_how_to_make_them(name):
    ranks = pd.DataFrame({"A": [1, 2, 1, 1], "B": [2, 1, 3, 2], "C": [3, 3, 2, 3], "judge": list("xyxy")})
    rankings = llbt.from_rankings(ranks, objects=list("ABC"), clusters="judge")
    with pytest.raises(llbt.LLBTError) as caught:
        PAIRS_ONLY[name](rankings)
    said = re.search(r"Pass ((\w+)\.to_comparisons\(\)), the pairs that the lists imply\.$", str(caught.value))
    assert said
    PAIRS_ONLY[name](eval(said[1], {said[2]: rankings}))


def test_a_frame_of_lists_is_read_back():
    r = llbt.from_rankings(WIDE.assign(sex=list("fmfm")), objects=list("ABC"), covariates="sex")
    frame = r.to_frame()
    again = llbt.from_rankings(frame, block="list", rank="place", covariates="sex")
    assert again.objects == r.objects
    assert again.places.tolist() == r.places.tolist()
    assert frame["count"].sum() == 12


def test_names_that_llbt_uses_are_refused():
    with pytest.raises(llbt.errors.JudgmentError, match="'list'"):
        llbt.from_rankings(WIDE.assign(list=1), objects=list("ABC"), clusters="list")
