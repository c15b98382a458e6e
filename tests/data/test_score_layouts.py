"""Tables of scores read by meaning: honest ones are read as meant, harmful ones are refused with calls that work.

Second route: what is meant is written beside each table by hand, and means are taken by pandas.
"""

import re

import numpy as np
import pandas as pd
import pytest
from support.shell import answered, refused

import llbt
from llbt.data.system_scores import SystemScores, as_scores
from llbt.errors import LLBTError

RNG = np.random.default_rng(7)
N = 12
WIDE = pd.DataFrame({"A": RNG.integers(0, 2, N), "B": RNG.integers(0, 2, N)})
REAL = pd.DataFrame({"A": RNG.random(N).round(3), "B": RNG.random(N).round(3)})
MODELS = ("gpt", "llama", "claude")
LONG = pd.DataFrame([(m, q) for m in MODELS for q in range(N)], columns=["model", "question_id"]).assign(
    score=RNG.integers(0, 2, 3 * N)
)
BOARD = pd.DataFrame(
    {"model": list("abcde"), **{task: RNG.random(5).round(3) for task in ("arc", "hellaswag", "mmlu")}}
)
AB, BY_MODEL, IN_ROWS = ("A", "B"), tuple(sorted(MODELS)), tuple("abcde")


def called(system, item, score):
    return LONG.rename(columns={"model": system, "question_id": item, "score": score})


def twice(frame, name, values):
    return pd.concat([frame.assign(**{name: value}) for value in values], ignore_index=True)


HONEST = {
    "model, question_id, score": (LONG, BY_MODEL),
    "model_id, sample_id, score": (called("model_id", "sample_id", "score"), BY_MODEL),
    "model, task_id, accuracy": (called("model", "task_id", "accuracy"), BY_MODEL),
    "System, Segment, Rating": (called("System", "Segment", "Rating"), BY_MODEL),
    "agent, idx, reward": (called("agent", "idx", "reward"), BY_MODEL),
    "summarizer_id, instance_id, f1": (called("summarizer_id", "instance_id", "f1"), BY_MODEL),
    "unknown word for the system": (called("translator", "sentence", "quality"), BY_MODEL),
    "unknown word for the item": (called("model", "headline", "score"), BY_MODEL),
    "systems by number": (LONG.assign(model=np.repeat([1, 2, 3], N)), (1, 2, 3)),
    "long with latency": (LONG.assign(latency_s=RNG.random(3 * N)), BY_MODEL),
    "long with tokens": (LONG.assign(n_tokens=RNG.integers(5, 90, 3 * N)), BY_MODEL),
    "long with text": (LONG.assign(output="words"), BY_MODEL),
    "long in another order": (LONG.sample(frac=1, random_state=1), BY_MODEL),
    "epochs": (twice(LONG, "epoch", (1, 2)).rename(columns={"question_id": "id"}), BY_MODEL),
    "seeds": (twice(LONG, "seed", (3, 5, 8)), BY_MODEL),
    "raters": (twice(LONG, "rater", ("r", "s")), BY_MODEL),
    "annotators and seeds": (twice(twice(LONG, "annotator", "rs"), "seed", (1, 2)), BY_MODEL),
    "documents and segments": (twice(called("system", "segment", "score"), "document", ("d", "e")), BY_MODEL),
    "wide": (WIDE, AB),
    "wide, real": (REAL, AB),
    "doc_id": (WIDE.assign(doc_id=range(N)), AB),
    "seed of one value": (WIDE.assign(seed=1), AB),
    "a row for each seed": (REAL.assign(seed=range(N)), AB),
    "length": (WIDE.assign(length=RNG.integers(50, 400, N)), AB),
    "latency_s": (WIDE.assign(latency_s=RNG.random(N) * 9 + 0.01), AB),
    "all of them": (WIDE.assign(doc_id=range(N), seed=1, length=range(50, 50 + N), latency_s=2.5), AB),
    "time_ms": (REAL.assign(time_ms=range(100, 100 + N)), AB),
    "timestamp": (WIDE.assign(timestamp=range(1_700_000_000, 1_700_000_000 + N)), AB),
    "prompt texts": (WIDE.assign(prompt=[f"What is {k}?" for k in range(N)]), AB),
    "domain": (WIDE.assign(domain=["news", "talk"] * 6), AB),
    "wide with raters": (twice(WIDE.assign(doc=range(N)), "judge", ("j", "k")), AB),
    "names that are numbers": (pd.DataFrame({7: [1, 2, 3], 13: [2, 3, 1], 70: [1, 1, 1]}), (7, 13, 70)),
    "names that are digits": (pd.DataFrame({"7": [1, 2, 3], "70": [2, 3, 1]}), ("7", "70")),
    "a system called system": (
        WIDE.set_axis(["baseline", "system"], axis=1).assign(item=range(N)),
        ("baseline", "system"),
    ),
    "a baseline called random": (WIDE.set_axis(["random", "ours"], axis=1), ("ours", "random")),
    "a system in each row": (BOARD, IN_ROWS),
    "a board with its average": (BOARD.assign(average=0.5), IN_ROWS),
    "a board with sizes": (BOARD.assign(params=[7, 13, 70, 7, 8]), IN_ROWS),
    "a board by index": (BOARD.set_index("model"), IN_ROWS),
    "a board of three seeds": (twice(BOARD, "seed", (1, 2, 3)), IN_ROWS),
}

HARMFUL = {
    "length like scores": WIDE.assign(length=RNG.permutation([0, 1] * 6)),
    "turn like scores": WIDE.add(1).assign(turn=[1, 2] * 6),
    "cost like scores": pd.DataFrame({"A": [0.1, 0.9, 0.5], "B": [0.3, 0.2, 0.8], "cost": [0.2, 0.3, 0.5]}),
    "a dash": WIDE.assign(C=["1", "-", "0"] * 4),
    "n/a among scores": WIDE.assign(C=["1", "n/a", "0"] * 4),
    "a percent sign": WIDE.assign(C=["10%", "20%", "30%"] * 4),
    "a dash in a long table": LONG.assign(score=["1", "-", "0"] * N),
    "a label in each row": BOARD.rename(columns={"model": "name"}),
    "an index without a name": BOARD.set_index(BOARD["model"].rename(None)).drop(columns="model"),
    "one model, wide": pd.DataFrame({"doc_id": range(3), "target": list("abc"), "exact_match": [1.0, 0, 1]}),
    "one model, long": LONG[LONG["model"] == "gpt"],
    "two metrics": LONG.assign(bleu=RNG.random(3 * N)).rename(columns={"score": "chrf"}),
    "filters": twice(LONG, "filter", ("strict", "flexible")),
    "rows twice": pd.concat([LONG, LONG]),
    "one score a system": BOARD[["model", "arc"]],
    "wins and losses": pd.DataFrame({"winner": list("aba"), "loser": list("bab"), "time": [1, 2, 3], "sex": [0, 1, 1]}),
    "battles": pd.DataFrame({"model_a": list("ab"), "model_b": list("ba"), "winner": ["model_a", "tie"], "turn": 1}),
    "counts": pd.DataFrame({"object_i": list("ab"), "object_j": list("bc"), "wins_i": [1, 2], "wins_j": [3, 4]}),
    "teams": pd.DataFrame({"team1": list("ab"), "team2": list("bc"), "w1": [1, 2], "w2": [3, 4]}),
    "no header": pd.DataFrame({"SysA": ["SysB", "SysA"], "101": [101, 102], "78": [66, 91]}),
    "no header, numbers": pd.DataFrame({"0.71": [0.6, 0.5], "0.65": [0.7, 0.6]}),
    "flags": WIDE.astype(bool),
    "a system or a method": twice(LONG, "method", ("zero-shot", "few-shot")),
    "a board on two scales": BOARD.assign(elo=[1200, 1300, 1250, 1100, 1000]),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_tables_are_read(name):
    frame, systems = HONEST[name]
    scores = as_scores(frame)
    assert tuple(sorted(scores.systems, key=str)) == tuple(sorted(systems, key=str))
    if scores.systems == BY_MODEL:
        (score,) = {"score", "accuracy", "Rating", "reward", "f1", "quality"} & set(frame)
        system = frame.columns[[set(frame[column]) == set(MODELS) for column in frame]][0]
        expected = frame.groupby(system)[score].mean()
        np.testing.assert_allclose(np.nanmean(scores.values, axis=1), expected.loc[list(BY_MODEL)], rtol=1e-12)


VALUE = r"(?:'[^']*'|\[[^\]]*\])"
CALL = re.compile(rf"\b(?:system|item|score|ignore)={VALUE}(?:, \w+={VALUE})*")


def reading(frame, **given):
    """Return how many systems are read, or the refusal."""
    try:
        return len(as_scores(frame, **given).systems)
    except LLBTError as error:
        return str(error)


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_tables_are_refused(name):
    """Arguments of the message are pasted: they lead to an answer, or to another message."""
    with pytest.raises(LLBTError) as caught:
        as_scores(HARMFUL[name])
    for call in CALL.findall(caught.value.remedy):
        given = eval(f"dict({call})")
        assert reading(HARMFUL[name], **given) not in (1, str(caught.value))


def test_every_remedy_of_two_readings_answers():
    frame = HARMFUL["length like scores"]
    assert as_scores(frame, ignore="length").systems == ("A", "B")
    assert as_scores(frame, score=["A", "B", "length"]).systems == ("A", "B", "length")
    board = HARMFUL["a label in each row"]
    assert as_scores(board, system="name").systems == IN_ROWS
    assert as_scores(board, item="name").systems == ("arc", "hellaswag", "mmlu")


def test_raters_are_averaged_or_named():
    frame = pd.DataFrame(
        {"system": list("aabbaabb"), "instance": ["q1"] * 4 + ["q2"] * 4, "rater": ["h1", "h2"] * 4}
    ).assign(score=[3, 4, 2, 4, 5, 3, 1, 2])
    board = llbt.scores.leaderboard(frame)
    assert board.to_frame()[["object", "estimate"]].values.tolist() == [["a", 3.75], ["b", 2.25]]
    assert any("averaged over 'rater' (2)" in note for note in board.notes)
    by_rater = llbt.scores.leaderboard(frame, rater="rater")
    assert any("by 2 groups of rater" in note for note in by_rater.notes)
    again = llbt.scores.leaderboard(SystemScores.from_frame(frame, rater="rater"))
    assert again.notes == by_rater.notes
    assert llbt.scores.aggregate(frame, rater="rater").estimate.tolist() == [3.75, 2.25]


def test_what_is_not_used_is_named():
    notes = as_scores(LONG.assign(latency_s=1.0, output="words")).notes_beside()
    assert "columns not used: 'latency_s', 'output'" in notes


def test_judgments_comparisons_and_fits_are_no_scores():
    made = llbt.read_judgments(HARMFUL["wins and losses"])
    table = llbt.from_judgments(made)
    for data in (made, table):
        with pytest.raises(LLBTError, match="not scores of systems"):
            llbt.scores.leaderboard(data)


@pytest.mark.shared
def test_files_of_the_field(shared):
    with pytest.raises(LLBTError, match="no header"):
        as_scores(shared / "layouts" / "r15_no_header_scores.csv")
    scores = as_scores(shared / "layouts" / "r17_several_raters.csv")
    assert scores.values.mean(axis=1).tolist() == [3.75, 2.25]


def test_the_shell_has_the_same_calls():
    text = HARMFUL["length like scores"].to_csv(index=False)
    said = refused("scores", "leaderboard", "-", input=text)
    assert "Pass --ignore length (2 systems) or --score A,B,length (3 systems)." in said
    for options, n in ((("--ignore", "length"), 2), (("--score", "A,B,length"), 3)):
        board = answered("scores", "leaderboard", "-", *options, "--format", "csv", input=text)
        assert len(board.splitlines()) == n + 1
    judgments = HARMFUL["wins and losses"].to_csv(index=False)
    assert "Fit them with llbt fit FILE." in refused("aggregate", "-", input=judgments)
    raters = twice(LONG, "person", ("r", "s")).to_csv(index=False)
    board = answered("scores", "leaderboard", "-", "--rater", "person", "--test", "t", input=raters)
    assert "2 groups of person" in " ".join(board.split())
