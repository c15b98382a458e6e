"""Elo as it was played: by hand, by an explicit loop, and by the ratings of one order of the games."""

import math
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.scores.elo_history import elo_history
from llbt.scores.ratings import Elo, Games, elo_ratings

OUTCOMES = ("i", "tie", "j")


def games(number=300, objects="ABCDE", seed=1):
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(len(objects), 2, replace=False) for _ in range(number)])
    labels = np.array(list(objects))[pairs]
    said = rng.integers(0, 3, number)
    frame = pd.DataFrame(labels, columns=["object_i", "object_j"])
    return frame.assign(outcome=[OUTCOMES[k] for k in said], day=rng.integers(0, 20, number))


def by_loop(frame, rating, k=20.0, scale=400.0):
    """Elo, written down once more; also the ratings of both after each game."""
    rating, path = dict(rating), []
    for row in frame.itertuples():
        score = {"i": 1.0, "tie": 0.5, "j": 0.0}[row.outcome]
        gained = k * (score - 1 / (1 + 10 ** ((rating[row.object_j] - rating[row.object_i]) / scale)))
        rating[row.object_i] += gained
        rating[row.object_j] -= gained
        path += [(row.object_i, rating[row.object_i]), (row.object_j, rating[row.object_j])]
    return rating, path


def test_three_games_by_hand() -> None:
    """A beats B at even odds; then 400 points are ten to one, 0 and 400 by construction: exact in fractions."""
    one = pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "outcome": ["i"]})
    assert elo_history(one, k=32).ratings == {"A": 1516.0, "B": 1484.0}
    upset = elo_history(one, start={"A": 1000, "B": 1400}, k=11)
    assert upset.ratings == {"A": float(1000 + 11 * Fraction(10, 11)), "B": 1390.0}
    drawn = elo_history(one.assign(outcome="tie"), start={"A": 1000, "B": 1400}, k=11).ratings
    assert drawn["A"] == pytest.approx(float(1000 + 11 * (Fraction(1, 2) - Fraction(1, 11))), abs=1e-12)
    assert drawn["A"] + drawn["B"] == pytest.approx(2400, abs=1e-9)


@pytest.mark.parametrize(("k", "start", "scale"), [(20.0, 1500.0, 400.0), (7.5, 1000.0, 173.0)])
def test_ratings_and_their_path_are_those_of_a_loop(k, start, scale) -> None:
    frame = games()
    history = elo_history(frame, k=k, start=start, points=scale)
    expected, path = by_loop(frame, dict.fromkeys("ABCDE", start), k, scale)
    assert history.ratings == expected
    seen = history.path().to_frame()
    assert list(zip(seen["object"], seen["estimate"], strict=True)) == path
    assert seen["judgment"].tolist() == np.repeat(np.arange(1, 301), 2).tolist()


def test_ratings_are_those_of_one_order_of_the_games_side_by_side() -> None:
    """The engine that averages over orders, given the one order that was played."""
    frame = games()
    judged = llbt.read_judgments(frame)
    pairs = np.column_stack(np.triu_indices(5, 1))
    turned = judged.oriented()
    place = {tuple(pair): n for n, pair in enumerate(pairs.tolist())}
    slots = [[3 * place[tuple(pair)] + said] for pair, said in zip(turned.pairs.tolist(), turned.outcomes, strict=True)]
    units = np.arange(len(slots))[None, :]
    found, _ = elo_ratings(Elo(), Games(5, pairs, np.array(slots)), units, np.random.default_rng(1))
    assert np.allclose(elo_history(frame).estimate, found[0], rtol=0, atol=1e-9)


def test_a_warm_start_goes_on_where_the_ratings_stood() -> None:
    frame = games()
    whole = elo_history(frame)
    morning = elo_history(frame.head(120))
    evening = elo_history(frame.iloc[120:], start=morning.ratings)
    assert evening.ratings == whole.ratings
    assert dict(zip(evening.objects, evening.start, strict=True)) == morning.ratings
    kept = elo_history(frame.head(3), start={**dict.fromkeys("ABCDE", 1500.0), "retired": 1712.5})
    assert kept.ratings["retired"] == 1712.5
    row = kept.to_frame().set_index("object").loc["retired"]
    assert (row["rank"], row["judgments"], row["start"]) == (1, 0, 1712.5)


@pytest.mark.parametrize("kind", ["number", "text", "date"])
def test_judgments_are_played_by_time_and_within_it_by_row(kind) -> None:
    frame = games()
    days = {
        "number": frame["day"],
        "text": frame["day"].map("day {:02d}".format),
        "date": pd.Timestamp("2026-01-30") + pd.to_timedelta(frame["day"], unit="D"),
    }[kind]
    played = frame.assign(when=days)
    history = elo_history(played, time="when")
    ordered = frame.sort_values("day", kind="stable")
    assert history.ratings == elo_history(ordered).ratings
    assert history.ratings != elo_history(frame).ratings
    path = history.path().to_frame()
    assert path["when"].tolist()[::2] == played.sort_values("when", kind="stable")["when"].tolist()


def test_the_caller_keeps_the_data() -> None:
    frame, start = games(), dict.fromkeys("ABCDE", 1500.0)
    before = frame.copy()
    elo_history(frame, start=start, time="day")
    pd.testing.assert_frame_equal(frame, before)
    assert start == dict.fromkeys("ABCDE", 1500.0)


def test_the_table_says_who_leads_and_what_was_played() -> None:
    frame = games()
    history = elo_history(frame, time="day")
    table = history.to_frame()
    assert table["estimate"].is_monotonic_decreasing
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]
    played = pd.concat([frame["object_i"], frame["object_j"]]).value_counts()
    assert dict(zip(table["object"], table["judgments"], strict=True)) == played.to_dict()
    assert "300 judgments, in the order of day; k 20, 400 points are odds of ten to one" in history.as_text()


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"start": {"A": 1500}}, "start has no rating of 'B', 'C', 'D', 'E'"),
        ({"start": {**dict.fromkeys("ABCDE", 1500), "B": math.nan}}, "start of 'B' is nan; expected a finite number"),
        ({"start": "1500"}, "start is a str"),
        ({"start": math.inf}, "start is inf"),
        ({"start": True}, "start is a bool"),
        ({"k": 0}, "k=0"),
        ({"time": "hour"}, "no column 'hour' (time=)"),
        ({"k": 1e6}, "left the range of numbers"),
    ],
)
def test_what_it_refuses(options, fragment) -> None:
    with pytest.raises(llbt.LLBTError) as error:
        elo_history(games(), **options)
    assert fragment in str(error.value)
    assert str(error.value).startswith("scores.elo_history: ")


def test_what_has_no_order_is_refused() -> None:
    frame = games()
    with pytest.raises(llbt.errors.JudgmentError, match="one row each"):
        elo_history(llbt.from_judgments(frame))
    with pytest.raises(llbt.errors.JudgmentError, match="no value in 1 of 300 rows, first at row 7"):
        elo_history(frame.assign(day=frame["day"].where(frame.index != 7)), time="day")


@pytest.mark.slow
def test_a_million_games_take_seconds() -> None:
    rng = np.random.default_rng(2)
    i = rng.integers(0, 200, 10**6)
    j = (i + rng.integers(1, 200, 10**6)) % 200
    frame = pd.DataFrame({"object_i": i, "object_j": j, "outcome": np.array(OUTCOMES)[rng.integers(0, 3, 10**6)]})
    judged = llbt.read_judgments(frame)
    begin = time.process_time()
    history = elo_history(judged)
    assert time.process_time() - begin < 8  # 1.5 s on an idle core
    assert history.estimate.sum() == pytest.approx(200 * 1500)


@pytest.mark.parametrize(
    "day",
    [
        pd.to_timedelta([2, 10, 1], unit="D"),
        pd.Categorical(["mid", "late", "early"], categories=["early", "mid", "late"], ordered=True),
    ],
)
def test_time_has_the_order_of_its_type(day) -> None:
    """As text, 10 days come before 2, and late before mid."""
    frame = pd.DataFrame({"object_i": list("ABA"), "object_j": list("BCC"), "outcome": ["i"] * 3})
    played, whole = (elo_history(frame.assign(day=days), time="day") for days in (day, [2, 3, 1]))
    assert played.to_frame()["estimate"].tolist() == whole.to_frame()["estimate"].tolist()
