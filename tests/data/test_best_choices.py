"""Sets of which the best was named, or the best and the worst."""

import pandas as pd
import pytest

import llbt

SETS = pd.DataFrame({"one": ["A", "B", "D"], "two": ["B", "C", "A"], "three": ["C", "D", "B"]}).assign(
    best=list("BBA"), worst=list("ADB"), judge=["x", "y", "x"]
)
OBJECTS = ("one", "two", "three")


def test_the_best_and_the_worst():
    r = llbt.from_choices(SETS, objects=OBJECTS, worst="worst", clusters="judge")
    assert r.kind == "best_worst"
    labels = [[r.objects[k] for k in r.items[a : a + 3]] for a in r.starts[:-1]]
    assert labels == [["B", "A", "C"], ["B", "D", "C"], ["A", "B", "D"]]
    assert r.places.tolist() == [1, 2, 0] * 3
    assert r.clusters == ("judge",)


def test_the_best_alone_is_a_list_of_one_place():
    r = llbt.from_choices(SETS.drop(columns="worst"), objects=OBJECTS)
    assert r.kind == "ranking"
    assert r.places.tolist() == [1, 0, 0] * 3
    assert llbt.fit("object", r, prior=0.5).converged


def test_sets_may_have_fewer_objects():
    frame = SETS.copy()
    frame.loc[0, "three"] = None
    assert llbt.from_choices(frame, objects=OBJECTS, worst="worst").sizes.tolist() == [2, 3, 3]


def test_the_frame_and_a_file_say_the_same(tmp_path):
    SETS.to_csv(tmp_path / "sets.csv", index=False)
    one = llbt.from_choices(SETS, objects=OBJECTS, worst="worst")
    other = llbt.from_choices(tmp_path / "sets.csv", objects=OBJECTS, worst="worst")
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"best": ["B", "A", "A"]}, "1 row that name no object of the set, the first row 1 \\('A'\\)"),
        ({"best": ["B", None, "A"]}, "the first row 1"),
        ({"worst": ["A", "B", "B"]}, "row 1: 'B' is both the best and the worst"),
        ({"two": ["C", "C", "A"], "best": ["C", "B", "A"]}, "repeated within a block, .* Correct these rows"),
    ],
)
def test_what_is_no_choice_is_refused(change, match):
    with pytest.raises(llbt.errors.JudgmentError, match=match):
        llbt.from_choices(SETS.assign(**change), objects=OBJECTS, worst="worst")


def test_columns_have_one_role():
    with pytest.raises(llbt.errors.OptionError, match="one role"):
        llbt.from_choices(SETS, objects=OBJECTS, best="one")
    with pytest.raises(llbt.errors.JudgmentError, match="no column 'four'"):
        llbt.from_choices(SETS, objects=(*OBJECTS, "four"))
    with pytest.raises(llbt.errors.OptionError, match="two columns or more"):
        llbt.from_choices(SETS, objects=("one",))
