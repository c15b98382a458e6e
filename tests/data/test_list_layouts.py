"""Tables of rankings and best-worst sets that are read with no argument, with what they stand for."""

from __future__ import annotations

import io

import pandas as pd
import pytest

import llbt
from llbt.data.list_layouts import list_layout, ratings_of
from llbt.data.sources import open_frame
from llbt.errors import JudgmentError, OptionError

READ = {  # table → the lists it stands for
    "long, by id and trait": (
        "id,item,trait,rank\n1,A,taste,1\n1,B,taste,2\n2,A,taste,2\n2,B,taste,1\n2,C,taste,3\n2,A,look,1\n2,B,look,1",
        ["A > B", "B > A > C", "A = B"],
    ),
    "long, by block": ("block,object,rank\n0,A,1\n0,B,2\n1,B,1\n1,A,2", ["A > B", "B > A"]),
    "places": ("judge,first,second,third\nJ1,A,B,C\nJ2,B,A,", ["A > B > C", "B > A"]),
    "numbered places": ("rank_1,rank_2,rank_3\nA,B,C\nB,C,A", ["A > B > C", "B > C > A"]),
    "ranks": ("judge,age,A,B,C\nJ1,31,1,2,3\nJ2,47,3,1,2\nJ3,28,2,1,", ["A > B > C", "B > C > A", "B > A"]),
}
SETS = {
    "letters": ("item_A,item_B,item_C,best,worst\nv1,v2,v3,A,C\nv2,v4,v3,B,A", ["v1 > (v2) > v3", "v4 > (v3) > v2"]),
    "tricot": (
        "id,variety_a,variety_b,variety_c,overall_best,overall_worst\n1,v1,v2,v3,C,A\n2,v2,v4,v3,A,B",
        ["v3 > (v2) > v1", "v2 > (v3) > v4"],
    ),
    "best alone": ("option1,option2,option3,best\nx,y,z,y\nx,y,z,x", ["y > (x, z)", "x > (y, z)"]),
}
UNREAD = {
    "ratings": "judge,A,B,C\nJ1,5,5,2\nJ2,1,4,4",
    "two columns of points": "home,away\n1,2\n2,1",
    "a rank of systems": "system,rank,score\na,1,.9\nb,2,.7",
    "ranks with a gap": "A,B,C\n1,2,4\n1,2,3",
    "numbers by place": "rank_1,rank_2,rank_3\n1,2,3\n3,1,2",
    "ranks of systems in tasks": "model,arc,mmlu,gsm\na,1,2,3\nb,2,3,1\nc,3,1,2",
    "a board with votes": "model,rank,votes\na,1,20\nb,2,17",
    "places with an object twice": "first,second,third\nA,A,B\nB,C,A",
    "battles": "model_a,model_b,winner\nx,y,model_a\ny,x,tie",
}


def table(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text))


def lists(found: llbt.Rankings) -> list[str]:
    """Return each list as it is printed, in any order."""
    lines = found.as_text().split("\n\n")[1].splitlines()[1:]
    return sorted(line for text in lines for line in [text.rsplit("  ", 1)[0].strip()] * int(text.split()[-1]))


@pytest.mark.parametrize("name", READ)
def test_rankings_are_read_and_said(name: str) -> None:
    text, expected = READ[name]
    found = llbt.from_rankings(table(text))
    assert lists(found) == sorted(expected)
    assert found.notes[0].startswith("read as rankings")


@pytest.mark.parametrize("name", SETS)
def test_sets_are_read_and_said(name: str) -> None:
    text, expected = SETS[name]
    found = llbt.from_choices(table(text))
    assert lists(found) == sorted(expected)
    assert found.notes[0].startswith("read as sets")


@pytest.mark.parametrize("name", UNREAD)
def test_what_may_be_something_else_is_no_list(name: str) -> None:
    frame = table(UNREAD[name])
    assert list_layout(open_frame(frame)) is None
    with pytest.raises(OptionError, match="no column says which rows belong together"):
        llbt.from_rankings(frame)


def test_columns_that_are_named_are_not_looked_for() -> None:
    frame = table(SETS["letters"][0])
    with pytest.raises(OptionError, match="no column says which objects"):
        llbt.from_choices(frame, best="worst")


@pytest.mark.parametrize(
    "text",
    [
        "judge,A,B,C,count\nJ1,1,2,3,20\nJ2,2,1,3,43",
        "id,item,rank,count\n1,A,1,4\n1,B,2,4\n2,A,2,5\n2,B,1,5",
        "first,second,third,votes\nA,B,C,3\nB,A,C,4",
    ],
)
def test_columns_that_may_be_weights_are_not_passed_over(text: str) -> None:
    with pytest.raises(JudgmentError, match=r"column '(count|votes)' may say how often each list was given"):
        llbt.from_rankings(table(text))


_ABC = {"objects": ["A", "B", "C"]}
RATED = {  # table → what from_ratings is told; None where it may be something else
    "a row for each person": ("person,A,B,C\n1,7,5,3\n2,6,6,2\n3,7,4,4", _ABC),
    "participants by number": ("participant,A,B,C\nP1,7,5,3\nP2,6,6,2\nP3,7,4,4", _ABC),
    "participants of a shared task": ("participant,A,B,C\nAnn,7,5,3\nBo,6,6,2\nCy,7,4,4", None),
    "sliders": ("rater_id,A,B,C\n1,70,55,30\n2,61,66,20\n3,77,45,49", _ABC),
    "halves": ("judge,A,B,C\nx,4.5,3,2\ny,5,2.5,1\nz,3,4,5", _ABC),
    "an age and a sex": ("judge,age,gender,A,B,C\n1,33,1,7,5,3\n2,40,2,6,6,2\n3,22,1,7,4,4", _ABC),
    "numbers of rows": ("id,A,B,C\n1,7,5,3\n2,6,6,2\n3,7,4,4", _ABC),
    "percent by number": ("id,A,B,C\n1,70,55,33\n2,66,64,29\n3,70,44,43", None),
    "a code": ("judge,left_handed,A,B,C\n1,0,7,5,3\n2,1,6,6,2\n3,0,7,4,4", None),
    "points of both sides": ("judge,home,away\n1,3,2\n2,1,1", None),
    "likings": (
        "consumer,product,liking\n1,a,5\n1,b,3\n2,a,4\n2,b,2",
        {"object": "product", "rating": "liking", "block": ["consumer"]},
    ),
    "films": (
        "user_id,movie,rating,timestamp\n1,a,5,11\n1,b,3,12\n2,a,4,13\n2,b,2,14",
        {"object": "movie", "rating": "rating", "block": ["user_id"]},
    ),
    "systems on prompts": (
        "model,prompt,judge,score\na,1,x,5\nb,1,x,3\na,2,x,4\nb,2,x,2",
        {"object": "model", "rating": "score", "block": ["prompt", "judge"]},
    ),
    "scores without a judge": ("model,question_id,score\na,1,5\nb,1,3\na,2,4\nb,2,2", None),
    "an object twice": ("judge,object,rating\nx,a,5\nx,a,4\nx,b,1", None),
}


@pytest.mark.parametrize("name", RATED)
def test_ratings_that_have_one_meaning(name: str) -> None:
    text, said = RATED[name]
    found = ratings_of(open_frame(table(text)))
    assert (found and dict(found.arguments)) == said
    if found is not None:
        # three judges of three objects, or two blocks of two
        c = llbt.from_ratings(table(text), **found.arguments).to_comparisons()
        assert c.n_judgments == (9 if "objects" in said else 2)


def test_an_item_is_no_object_beside_a_system() -> None:
    text = "judge,item,system,rank\nx,1,a,1\nx,1,b,2\nx,2,a,2\nx,2,b,1"
    assert lists(llbt.from_rankings(table(text))) == ["a > b", "b > a"]
