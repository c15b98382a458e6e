"""Small tables that the doors refuse, each with the call that is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

import llbt
from llbt.metrics import MetricScores
from llbt.scores import SystemScores


@dataclass(frozen=True)
class Refused:
    """A table, the door that it is handed to, and what is said of it."""

    name: str
    door: Callable[..., Any]
    frame: pd.DataFrame
    said: dict[str, Any] = field(default_factory=dict)


A = ["A", "B", "A", "C", "B", "C"]
B = ["B", "C", "C", "B", "A", "A"]
PAIRS = {"model_a": A, "model_b": B}
SIDES = {"object_i": A, "object_j": B}
BATTLES = pd.DataFrame({**PAIRS, "winner": ["model_a", "tie", "model_b", "model_a", "model_b", "model_a"]})
JUDGED = pd.DataFrame({**SIDES, "outcome": ["i", "tie", "j", "i", "j", "i"]})
WINS = pd.DataFrame({"winner": A, "loser": B})
COUNTS = pd.DataFrame(
    {"object_i": ["A", "A", "B"], "object_j": ["B", "C", "C"], "wins_i": [3, 2, 4], "wins_j": [1, 2, 2]}
)
RANKS = pd.DataFrame({"list": [1, 1, 1, 2, 2, 2], "object": ["A", "B", "C"] * 2, "rank": [1, 2, 3, 2, 1, 3]})
RATINGS = pd.DataFrame({"judge": ["J1"] * 3 + ["J2"] * 3, "object": ["A", "B", "C"] * 2, "rating": [5, 3, 1, 4, 4, 2]})
LONG = pd.DataFrame({"model": ["a", "a", "b", "b"], "question_id": [1, 2, 1, 2], "score": [0.5, 0.7, 0.6, 0.9]})
WIDE = pd.DataFrame({"doc": ["d1", "d2", "d3"], "a": [0.5, 0.7, 0.1], "b": [0.6, 0.9, 0.3]})
CHOICES = pd.DataFrame({"a": ["A", "B"], "b": ["B", "C"], "c": ["C", "D"], "best": ["A", "D"], "worst": ["C", "B"]})
METRICS = pd.DataFrame(
    {"system": ["a", "a", "b", "b"], "input": [1, 2, 1, 2], "human": [1, 2, 3, 4], "bleu": [0.1, 0.2, 0.3, 0.4]}
)


def outcomes(values: list[Any]) -> pd.DataFrame:
    """Return six judgments of three objects with these outcomes."""
    return pd.DataFrame({**SIDES, "outcome": values})


JUDGMENTS = {
    "goals": (outcomes([0, 1, 2, 3, 1, 0]), {}),
    "ones and zeros": (outcomes([0, 1, 1, 0, 1, 0]), {}),
    "ones, zeros, halves": (outcomes([0, 1, 0.5, 0, 1, 0]), {}),
    "one and two": (outcomes([1, 2, 2, 1, 1, 2]), {}),
    "zero, one, two": (outcomes([1, 2, 0, 1, 1, 2]), {}),
    "one, two, three": (outcomes([1, 2, 3, 1, 1, 2]), {}),
    "signs": (outcomes([1, -1, 0, 1, 1, -1]), {}),
    "signed grades": (outcomes([2, -1, 0, 1, 1, -2]), {}),
    "only ones": (outcomes([1] * 6), {}),
    "unknown word": (outcomes(["i", "j", "skip", "tie", "i", "j"]), {}),
    "all unknown": (outcomes(["x", "y", "z", "x", "y", "z"]), {}),
    "missing outcome": (outcomes(["i", "j", None, "tie", "i", "j"]), {}),
    "numbers and missing": (outcomes([1, 0, None, 1, 0, 1]), {}),
    "arrows": (outcomes(["A>>B", "A>B", "A=B", "B>A", "B>>A", "?"]), {}),
    "numbers that name objects": (
        pd.DataFrame({"object_i": [1, 2, 1], "object_j": [2, 3, 3], "outcome": [1, 2, 3]}),
        {},
    ),
    "names of others": (pd.DataFrame({**SIDES, "outcome": ["A", "B", "B", "C", "B", "C"]}), {}),
    "two readings": (
        pd.DataFrame({"object_i": ["i", "j", "i"], "object_j": ["j", "i", "j"], "outcome": ["i", "i", "j"]}),
        {},
    ),
    "no outcome": (JUDGED.drop(columns="outcome"), {}),
    "no objects": (pd.DataFrame({"x": A, "y": B, "outcome": JUDGED["outcome"]}), {}),
    "model columns, nothing known": (pd.DataFrame({"sys_1": A, "sys_2": B, "Winner": A}), {}),
    "left and right": (pd.DataFrame({"left": A, "right": B, "pick": ["left", "right"] * 3}), {}),
    "outcome under another name": (pd.DataFrame({**SIDES, "verdict": ["i", "j"] * 3}), {}),
    "one role twice": (JUDGED, {"covariates": ["outcome"]}),
    "covariate absent": (JUDGED.assign(judgee="x"), {"covariates": "judge"}),
    "cluster absent": (JUDGED.assign(annotator="x"), {"clusters": "anotator"}),
    "weights absent": (JUDGED.assign(votes=[1, 2, 3, 4, 5, 6]), {"weights": "vote", "ignore": "votes"}),
    "weights text": (JUDGED.assign(votes=list("abcdef")), {"weights": "votes"}),
    "weights negative": (JUDGED.assign(votes=[1, 2, -3, 4, 5, 6]), {"weights": "votes"}),
    "weights fractions": (JUDGED.assign(votes=[1, 2, 0.5, 4, 5, 6]), {"weights": "votes"}),
    "count": (BATTLES.assign(count=[1, 2, 3, 4, 5, 6]), {}),
    "n": (BATTLES.assign(n=[1, 2, 3, 4, 5, 6]), {}),
    "is_tie contradicts": (BATTLES.assign(is_tie=[True, True, False, False, True, False]), {}),
    "ties that count": (WINS.assign(draws=[0, 1, 2, 3, 0, 0]), {}),
    "all ties": (WINS.assign(draw=1), {}),
    "ties_column is text": (BATTLES.assign(cup=list("abcabc")), {"ties_column": "cup"}),
    "ties_column absent": (BATTLES, {"ties_column": "is_tie"}),
    "where absent": (BATTLES, {"where": "anony"}),
    "where keeps nothing": (BATTLES.assign(anony=False), {"where": "anony"}),
    "ignore absent": (BATTLES, {"ignore": "count"}),
    "self comparison": (outcomes(["i", "j"] * 3).assign(object_j=["A", "C", "C", "B", "A", "A"]), {}),
    "order that is not known": (WINS, {"order": True}),
    "strength absent": (JUDGED, {"strength": "size"}),
    "strength text": (JUDGED.assign(size=list("abcdef")), {"strength": "size"}),
    "strength uneven": (JUDGED.assign(size=[1, 2, 3, 1.5, 2, 1]), {"strength": "size"}),
    "strength signed fractions": (JUDGED.assign(size=[0.1, -0.4, 0, 0.7, -0.3, 0.2]), {"strength": "size"}),
    "uneven grades": (
        outcomes(["2", "1", "0", "-1", "1", "-2"]),
        {"outcomes": {"2": 2, "1": 1, "0": 0, "-1": -1, "-2": -3}},
    ),
    "unknown format": (BATTLES, {"format": "arenas"}),
    "wrong format": (BATTLES, {"format": "wmt"}),
    "format that does not fit": (JUDGED, {"format": "arena"}),
    "empty": (JUDGED.iloc[:0], {}),
    "labels that read alike": (
        pd.DataFrame({"object_i": [1, "1", 2], "object_j": [2, 2, 3], "outcome": ["i", "j", "i"]}),
        {},
    ),
    "missing object": (JUDGED.assign(object_i=["A", None, "A", "C", "B", "C"]), {}),
    "missing covariate": (JUDGED.assign(age=[1, None, 2, 3, 1, 2]), {"covariates": "age"}),
    "numeric of text": (JUDGED.assign(age=list("abcabc")), {"covariates": "age", "numeric": "age"}),
    "numeric that is not a covariate": (JUDGED.assign(age=[1, 2, 3, 1, 2, 3]), {"numeric": "age"}),
    "side covariates absent": (JUDGED, {"side_covariates": {"length": ("length_a", "length_b")}}),
    "outcome named Winner": (pd.DataFrame({"Winner": A, "Loser": B, "Draw": [False] * 6}), {}),
    "winner as object and outcome": (
        pd.DataFrame({"Winner": A, "Loser": B}),
        {"objects": ("Winner", "Loser"), "outcome": "Winner"},
    ),
    "winner alone as outcome": (pd.DataFrame({"Winner": A, "Loser": B}), {"objects": ("Winner", "Loser")}),
    "chosen without systems": (
        pd.DataFrame({"prompt": ["p"] * 3, "chosen": ["text one", "text 2", "text 3"], "rejected": ["x", "y", "z"]}),
        {},
    ),
    "scores as judgments": (LONG, {}),
    "counts as judgments": (COUNTS, {"outcome": "wins_i"}),
    "ranks as judgments": (RANKS, {}),
    "ratings as judgments": (RATINGS, {}),
    "mapping that leaves out all": (outcomes(["i"] * 6), {"outcomes": {"i": None}}),
    "mapping misses": (outcomes(["yes", "no", "maybe"] * 2), {"outcomes": {"yes": "i"}}),
    "mapping with a wrong word": (outcomes(["yes", "no"] * 3), {"outcomes": {"yes": "win", "no": "j"}}),
    "outcomes that is a word": (outcomes(["yes", "no"] * 3), {"outcomes": "winner"}),
    "objects of one name": (JUDGED, {"objects": "object_i"}),
    "object covariates lack an object": (
        JUDGED,
        {"object_covariates": pd.DataFrame({"object": ["A", "B"], "size": [1.0, 2.0]})},
    ),
    "judge covariates without judge": (
        JUDGED.assign(worker="w"),
        {"judge_covariates": pd.DataFrame({"judge": ["w"], "age": [3.0]})},
    ),
    "defaults of a baseline": (
        pd.DataFrame({"instruction": ["p", "q"], "generator_2": ["x", "y"], "preference": [1, 2]}),
        {},
    ),
}

COUNTED: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {
    "no wins": (COUNTS.drop(columns="wins_j"), {}),
    "wins under other names": (COUNTS.rename(columns={"wins_i": "win1", "wins_j": "win2"}), {}),
    "wins of sides": (COUNTS.rename(columns={"wins_i": "wins_a", "wins_j": "wins_b"}), {}),
    "objects of sides": (COUNTS.rename(columns={"object_i": "model_a", "object_j": "model_b"}), {}),
    "objects under other names": (COUNTS.rename(columns={"object_i": "one", "object_j": "two"}), {}),
    "negative": (COUNTS.assign(wins_i=[3, -2, 4]), {}),
    "text": (COUNTS.assign(wins_i=["3", "x", "4"]), {}),
    "missing": (COUNTS.assign(wins_i=[3, None, 4]), {}),
    "self": (COUNTS.assign(object_j=["A", "C", "C"]), {}),
    "fractions of draws": (COUNTS.assign(draws=[0.5, 1, 0]), {}),
    "two columns of draws": (COUNTS.assign(draws=[1, 1, 0], tied=[1, 1, 1]), {}),
    "total that is more": (COUNTS.assign(n=[5, 5, 7]), {}),
    "votes": (COUNTS.assign(votes=[9, 1, 7]), {}),
    "ties column absent": (COUNTS, {"ties_column": "draws"}),
    "order": (COUNTS, {"grades": ["a", "b"]}),
    "judgments as counts": (BATTLES, {}),
    "scores as counts": (LONG, {}),
    "covariate absent": (COUNTS.assign(age=1), {"covariates": "agee"}),
    "empty": (COUNTS.iloc[:0], {}),
}
LISTS = {
    "no columns": (pd.DataFrame({"x": [1, 2]}), {}),
    "tied": (RANKS.assign(rank=[1, 1, 3, 2, 1, 3]), {}),
    "missing": (RANKS.assign(rank=[1, None, 3, 2, 1, 3]), {}),
    "twice": (pd.concat([RANKS, RANKS.iloc[:1]]), {}),
    "text": (RANKS.assign(rank=list("abcabc")), {}),
    "other names": (RANKS.rename(columns={"list": "id", "object": "item"}), {}),
    "rank named absent": (RANKS, {"rank": "place"}),
    "judgments": (BATTLES, {}),
    "empty": (RANKS.iloc[:0], {}),
    "wide": (pd.DataFrame({"A": [1, 2], "B": [2, 1], "C": [3, 3]}), {}),
    "orderings": (pd.DataFrame({"first": ["A", "B"], "second": ["B", "C"], "third": ["C", "A"]}), {}),
}
RATED = {
    "no columns": (pd.DataFrame({"x": [1, 2]}), {}),
    "text": (RATINGS.assign(rating=list("abcabc")), {}),
    "missing": (RATINGS.assign(rating=[5, None, 1, 4, 4, 2]), {}),
    "twice": (pd.concat([RATINGS, RATINGS.iloc[:1].assign(rating=1)]), {}),
    "other names": (RATINGS.rename(columns={"judge": "rater", "object": "item"}), {}),
    "wide": (pd.DataFrame({"A": [1, 2], "B": [2, 1], "C": [3, 3]}), {}),
    "judgments": (BATTLES, {}),
    "empty": (RATINGS.iloc[:0], {}),
}
CHOSEN = {
    "worst absent": (CHOICES, {"objects": ["a", "b", "c"], "best": "best", "worst": "wurst"}),
    "best elsewhere": (CHOICES.assign(best=["A", "Z"]), {"objects": ["a", "b", "c"], "best": "best", "worst": "worst"}),
    "both": (CHOICES.assign(worst=["A", "B"]), {"objects": ["a", "b", "c"], "best": "best", "worst": "worst"}),
    "judgments": (BATTLES, {"objects": ["model_a", "model_b"], "best": "winner"}),
}
SCORED = {
    "long": (LONG, {}),
    "no numbers": (BATTLES, {}),
    "judgments": (JUDGED, {}),
    "counts": (COUNTS, {}),
    "bad cell": (WIDE.assign(a=["0.5", "-", "0.1"]), {}),
    "missing": (WIDE.assign(a=[0.5, None, 0.1]), {}),
    "one system": (WIDE[["doc", "a"]], {}),
    "leaderboard page": (
        pd.DataFrame(
            {"model": ["x", "y", "z"], "arc": [0.1, 0.2, 0.3], "hellaswag": [0.4, 0.5, 0.6], "mmlu": [0.3, 0.1, 0.2]}
        ),
        {},
    ),
    "seed": (WIDE.assign(seed=[1, 2, 3]), {}),
    "integer names": (pd.DataFrame({7: [0.1, 0.2], 13: [0.3, 0.1]}), {}),
    "no header": (pd.DataFrame([[1, 101, 0.5], [2, 101, 0.6]], columns=["1", "78", "0.4"]), {}),
    "empty": (WIDE.iloc[:0], {}),
    "length": (WIDE.assign(length=[0.2, 0.3, 0.4]), {}),
    "two scores": (LONG.assign(other=[1.5, 2.5, 1.5, 2.5]), {}),
}
LONGS = {
    "names": (LONG, {}),
    "twice": (pd.concat([LONG, LONG.iloc[:1]]), {"system": "model", "instance": "question_id"}),
    "missing": (LONG.assign(score=[0.5, None, 0.6, 0.9]), {"system": "model", "instance": "question_id"}),
    "text": (LONG.assign(score=list("abcd")), {"system": "model", "instance": "question_id"}),
    "absent": (LONG, {"system": "modle", "instance": "question_id"}),
}
MEASURED = {
    "no human": (METRICS.drop(columns="human"), {}),
    "no system": (METRICS.drop(columns="system"), {}),
    "metric absent": (METRICS, {"metrics": ["blue"]}),
    "text": (METRICS.assign(bleu=list("abcd")), {}),
    "judgments": (BATTLES, {}),
    "twice": (pd.concat([METRICS, METRICS.iloc[:1]]), {}),
}
_READ = {"format", "objects", "outcome", "outcomes", "ties_column", "ignore", "where", "weights", "max_dropped"}
_AUDITED = _READ - {"max_dropped"}
DOORS: tuple[tuple[Callable[..., Any], dict[str, tuple[pd.DataFrame, dict[str, Any]]]], ...] = (
    (llbt.from_judgments, JUDGMENTS),
    (llbt.read_judgments, {name: case for name, case in JUDGMENTS.items() if set(case[1]) <= _READ}),
    (llbt.audit, {name: case for name, case in (JUDGMENTS | COUNTED).items() if set(case[1]) <= _AUDITED}),
    (llbt.from_counts, COUNTED),
    (llbt.from_rankings, LISTS),
    (llbt.from_ratings, RATED),
    (llbt.from_choices, CHOSEN),
    (llbt.scores.leaderboard, SCORED),
    (llbt.scores.aggregate, SCORED),
    (SystemScores.from_long, LONGS),
    (MetricScores.from_frame, MEASURED),
)


def refusals() -> list[Refused]:
    """Return every table with every door that it is handed to; a door may take one that another refuses."""
    return [
        Refused(f"{door.__qualname__}: {name}", door, frame, said)
        for door, cases in DOORS
        for name, (frame, said) in cases.items()
    ]
