"""The record of judgments one by one: against pandas and against the table that the door makes of the same rows."""

import pickle

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt import Judgments, from_judgments, read_judgments
from llbt.core.columns import tally
from llbt.errors import JudgmentError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    i = rng.integers(5, size=300)
    j = (i + rng.integers(1, 5, size=300)) % 5
    names = np.array([*"badc", 7], dtype=object)
    outcome = np.array(["i", "tie", "j"], dtype=object)[rng.integers(3, size=300)]
    return pd.DataFrame(
        {"object_i": names[i], "object_j": names[j], "outcome": outcome, "judge": rng.integers(4, size=300)}
    )


@pytest.fixture(scope="module")
def judgments(frame):
    return read_judgments(frame)


def test_its_columns_are_those_of_the_frame(frame, judgments):
    assert isinstance(judgments, Judgments)
    assert (judgments.objects, judgments.n_judgments) == ((7, "a", "b", "c", "d"), 300)
    found = judgments.to_frame()
    assert tuple(found.columns) == judgments.names
    for name in frame:
        assert found[name].tolist() == frame[name].tolist()


@pytest.mark.parametrize("order", [False, True])
def test_its_table_is_that_of_the_door(frame, judgments, order):
    expected = from_judgments(frame, order=order)
    assert judgments.tabulate(order=order) == expected == from_judgments(judgments, order=order)
    assert judgments.tabulate(order=order).notes[0] == judgments.notes[0]


def test_turned_round_it_says_the_same(judgments):
    back = judgments.turned()
    assert back.tabulate() == judgments.tabulate()
    assert back.tabulate(order=True) != judgments.tabulate(order=True)
    swapped = {"object_i": "object_j", "object_j": "object_i"}
    found, expected = back.to_frame(), judgments.to_frame().rename(columns=swapped)
    assert found["object_i"].tolist() == expected["object_i"].tolist()
    assert found["outcome"].tolist() == expected["outcome"].map({"i": "j", "tie": "tie", "j": "i"}).tolist()
    assert back.turned().to_frame().equals(judgments.to_frame())
    some = judgments.pairs[:, 0] > judgments.pairs[:, 1]
    assert judgments.turned(some).to_frame().equals(judgments.oriented().to_frame())
    assert (np.diff(judgments.oriented().pairs) > 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_tallies_are_those_of_pandas(judgments, weighted):
    weights = np.random.default_rng(1).integers(0, 4, 300) / 2 if weighted else None
    by = np.asarray(judgments.columns["judge"]) - 1  # the first judge is in no group
    cross = pd.crosstab(by, judgments.outcomes, np.ones(300) if weights is None else weights, aggfunc="sum")
    found = tally(by, judgments.outcomes, weights)
    assert found.tolist() == cross.loc[0:].to_numpy().tolist()
    assert tally(by, judgments.outcomes, weights, size=5)[3:].tolist() == [[0.0] * 3] * 2


def test_parts_keep_objects_and_notes(judgments):
    some = judgments.take(judgments.to_frame()["object_i"] == "a")
    assert (some.objects, some.notes) == (judgments.objects, judgments.notes)
    assert set(some.to_frame()["object_i"]) == {"a"}
    assert some.columns["judge"].index.tolist() == list(range(some.n_judgments))
    among = judgments.take((judgments.to_frame()[["object_i", "object_j"]].isin(["a", "d"])).all(axis=1))
    assert among.among_judged().objects == ("a", "d")
    assert among.among_judged().to_frame().equals(among.to_frame())


def test_it_prints_what_it_holds():
    text = "said at\nlength " * 9
    found = read_judgments([{"model_a": "x", "model_b": "y", "winner": "tie", "text": text}] * 12)
    lines = str(found).split("\n")
    assert lines[0] == "Judgments: 12 judgments of 2 objects"
    assert "other columns: 'text'" in lines[1]
    assert "… 2 more rows: .to_frame()" in str(found)
    assert str(found.take(slice(3))).count("tie") == 3
    assert "12 records read as 'arena': 12 judgments" in str(found)
    assert pickle.loads(pickle.dumps(found)).to_frame().equals(found.to_frame())


def test_what_an_engine_holds(tmp_path, monkeypatch, frame, judgments):
    """The record has the distinct pairs and outcomes, and how often each was found; rows come when asked for."""
    frame.to_csv(tmp_path / "t.csv", index=False)
    in_memory = read_judgments(tmp_path / "t.csv")
    monkeypatch.setattr("llbt.data.files.LARGE", dict.fromkeys(("csv", "json", "parquet"), 0))
    held = read_judgments(tmp_path / "t.csv")
    assert held.query is not None
    assert len(held.outcomes) < held.n_judgments == 300
    assert (held.notes, held.names, held.objects) == (in_memory.notes, in_memory.names, in_memory.objects)
    for order in (False, True):
        assert held.tabulate(order=order) == in_memory.tabulate(order=order)
    assert from_judgments(held, covariates="judge") == from_judgments(in_memory, covariates="judge")
    columns = ["object_i", "object_j", "outcome", "judge"]
    rows, others = (sorted(map(tuple, x.to_frame()[columns].astype(str).to_numpy())) for x in (held, in_memory))
    assert rows == others
    assert str(held).startswith("Judgments: 300 judgments of 5 objects")
    for asked in (held.turned, held.oriented, lambda: held.take([0]), lambda: held.values("judge")):
        with pytest.raises(JudgmentError, match="stay in a database engine"):
            asked()
    summary = llbt.judges.summary(held).to_frame()
    assert summary.equals(llbt.judges.summary(in_memory).to_frame())
