"""Every remedy that the audit prints is pasted and runs on the board that triggers it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.pasting import arguments
from support.planted import DEFECTS, board, drawn

import llbt
from llbt.auditing.checks import run as run_checks
from llbt.auditing.evidence import Named, from_source
from llbt.auditing.finding import Finding
from llbt.data.asked import Asked
from llbt.data.countable import countable

STARTS = re.compile(
    r"\[llbt\.fit\(|(?:llbt\.)?(?:from_judgments|fit|pairwise|influence|level_tests|from_rankings|anova)\("
    r"|c\.select\(|(?:frame = )?frame\.\w+\(|frame\["
)
GOES_ON = re.compile(r"(?: = frame)?(?:\.\w+\(?|\[)")  # a method, an attribute, a part, or what is assigned


def calls(remedy: str) -> list[str]:
    """Return the calls that stand in a remedy, each to its last parenthesis."""
    found, at = [], 0
    while start := STARTS.search(remedy, at):
        at, depth = start.end(), start[0].count("(") + start[0].count("[")
        while depth or (further := GOES_ON.match(remedy, at)):
            at = at if depth else further.end() - 1
            depth += (remedy[at] in "([") - (remedy[at] in ")]")
            at += 1
        found.append(remedy[start.start() : at])
    return found


def run(finding: Finding, data: Any, formula: str, **roles: Any) -> int:
    """Run the calls of a remedy one after the other, with … filled in, and return how many there were."""
    return len(pasted(finding, data, formula, **roles))


def pasted(finding: Finding, data: Any, formula: str, **roles: Any) -> list[Any]:
    """Return what the calls of a remedy lead to, one after the other, with … filled in: tables, frames and fits."""
    assert finding.is_failure
    kept = {name: value for name, value in roles.items() if value}
    reading = "".join(f", {name}={kept[name]!r}" for name in ("outcome", "outcomes") if name in kept)
    names: dict[str, Any] = {"llbt": llbt, "frame": data.copy(), "np": np}
    values = []
    for call in calls(finding.remedy):
        code = call.replace("from_judgments(…", f"from_judgments(frame{reading}").replace("llbt.llbt", "llbt")
        code = code if code.startswith(("llbt.", "c.", "frame", "[")) else f"llbt.{code}"
        code = code.replace("llbt.fit(…", f'llbt.fit("{formula}", c').replace("part, …)", "part)")
        code = code.replace(", …)", ", c)").replace(", …,", ", c,")
        code = re.sub(
            r'where=\{"(\w+)": \[…\]', lambda column: f'where={{"{column[1]}": {levels_of(data, column[1])}', code
        )
        if "c" not in names and re.search(r"\bc\b|\bres\b", code):
            names["c"] = llbt.from_judgments(names["frame"], **kept)
        if "(res" in code or "res." in code:
            names["res"] = llbt.fit(formula, names["c"])
        if re.match(r"frame(?:\[.+\])? = ", code):
            exec(code, names)
            value = names["frame"]
        else:
            value = eval(code, names)
        names["c" if isinstance(value, llbt.Comparisons) else "res"] = value
        values.append(value)
    return values


def levels_of(data: pd.DataFrame, column: str) -> list[Any]:
    """Return the levels of a column but the last."""
    return sorted(set(data[column].tolist()))[:-1]


@pytest.mark.parametrize(
    ("defect", "check"),
    [
        pytest.param("ties one judge never uses", "ties", marks=pytest.mark.slow),  # those of grades are the same calls
        ("position bias", "position"),
        ("blocks taken as independent", "blocks"),
        ("judge with the sides swapped", "outlying_judges"),
        ("one voter a thousand times", "dominant_judge"),
        ("duplicated votes", "duplicates"),
        ("baseline design", "baseline"),
    ],
)
def test_the_remedy_runs_where_the_defect_is(defect: str, check: str) -> None:
    planted = DEFECTS[defect]
    frame = planted.plant(board(np.random.default_rng(2), 6, 1_500), planted.strengths[2])
    (finding,) = run_checks(from_source(countable(frame, None, Asked(), 0), Named()), (check,))  # no other: faster
    assert run(finding, frame, "object + tie", covariates=["judge"], order=True) > 0, finding.remedy


def test_flips_are_dealt_with() -> None:
    one = drawn(board(np.random.default_rng(3), 6, 400))
    other = one.assign(object_i=one["object_j"], object_j=one["object_i"])  # the same position wins
    frame = pd.concat([one, other], ignore_index=True)
    assert run(llbt.audit(frame).finding("swapped"), frame, "object + tie", order=True) > 1


@pytest.mark.shared
@pytest.mark.slow
def test_remedies_of_llmfao_run(shared: Path) -> None:
    """`object + tie:worker` is separated there: workers without ties."""
    path = shared / "data" / "llmfao.csv"
    raw = pd.read_csv(path)
    said = {"left": "i", "right": "j", "tie": "tie"}
    frame = pd.DataFrame(
        {"object_i": raw["left"], "object_j": raw["right"], "outcome": raw["winner"].map(said), "worker": raw["worker"]}
    ).assign(prompt=raw["prompt"])
    found = llbt.audit(frame, judge="worker")
    for check in ("ties", "position", "blocks"):
        finding = found.finding(check)
        if finding.is_failure:
            assert run(finding, frame, "object + tie", covariates=["worker"], order=True) > 1
    assert "(tie | worker)" in found.finding("ties").remedy
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit("object + tie:worker", llbt.from_judgments(frame, covariates="worker"))


def _judgments(pairs: str, said: str) -> pd.DataFrame:
    i, j = zip(*pairs.split(), strict=True)
    return pd.DataFrame({"object_i": i, "object_j": j, "outcome": list(said)})


@pytest.mark.parametrize(
    ("check", "frame"),
    [
        ("sparse", _judgments("AB BA AC CA BC CB", "ijijij")),
        ("disconnected", _judgments("AB BA AB BA CD DC", "ijjiij")),
        ("bridges", pd.concat([_judgments("AB BC AC DE EF DF", "ijiiji")] * 6 + [_judgments("CD DC", "ij")])),
    ],
)
def test_remedies_of_coverage_run_as_they_stand(check: str, frame: pd.DataFrame) -> None:
    finding = llbt.audit(frame.reset_index(drop=True)).finding(check)
    assert finding.is_failure
    assert "…" not in finding.remedy
    assert run(finding, frame, "object") > 0, finding.remedy


# -- rows and labels ------------------------------------------------------------------------------------------


def judged(*further: tuple[Any, ...]) -> pd.DataFrame:
    """Return four objects in both orders by four judges, three outcomes each, and some further rows."""
    pairs = itertools.permutations(["alpha", "bravo", "delta", "hotel"], 2)
    rows = [
        (i, j, ("i", "j", "tie", "i" if k % 2 else "j")[(k + judge) % 4], f"J{judge}", k)
        for k, (i, j) in enumerate(pairs)
        for judge in range(4)
    ]
    return pd.DataFrame([*rows, *further], columns=["object_i", "object_j", "outcome", "judge", "prompt"])


def test_rows_without_objects_or_outcomes_are_dropped_or_left_out() -> None:
    frame = judged((None, "alpha", "i", "J1", 1), ("alpha", "bravo", None, "J1", 2))
    finding = llbt.audit(frame).finding("missing")
    with pytest.raises(llbt.errors.JudgmentError):
        llbt.from_judgments(frame)
    dropped = eval(calls(finding.remedy)[0], {"frame": frame})
    assert llbt.from_judgments(dropped).n_judgments == 48
    frame = judged(("alpha", "bravo", None, "J1", 2))
    dropped, c = pasted(llbt.audit(frame).finding("missing"), frame, "object")
    assert len(dropped) == c.n_judgments == 48
    frame = judged((None, "alpha", "i", "J1", 1))
    assert "outcomes" not in llbt.audit(frame).finding("missing").remedy


@pytest.mark.parametrize("numbered", [False, True])
def test_rows_without_a_judge_are_labelled(numbered: bool) -> None:
    frame = judged(("alpha", "bravo", "i", None, 1))
    frame = frame.assign(judge=frame["judge"].str[1:].astype(float)) if numbered else frame
    (labelled,) = pasted(llbt.audit(frame).finding("missing"), frame, "object")
    assert llbt.from_judgments(labelled, clusters="judge").n_judgments == 49
    assert llbt.audit(labelled).finding("missing").level == "ok"


def test_outcomes_that_cannot_be_read_are_passed_as_the_message_says() -> None:
    frame = judged(("alpha", "bravo", "left!", "J1", 1), ("alpha", "bravo", "draw?", "J1", 1))
    finding = llbt.audit(frame).finding("outcomes")
    assert finding.remedy == "follow the message, both in llbt.audit and in llbt.from_judgments"
    (said,) = arguments(finding.found)
    assert llbt.from_judgments(frame, **said).n_judgments == 48
    assert llbt.audit(frame, **said).finding("outcomes").level == "ok"


@pytest.mark.parametrize(
    ("check", "further"),
    [
        ("labels", [("Alpha ", "bravo", "i", "j0", 1), ("ＢＲＡＶＯ", "delta", "j", "J1", 2)]),
        ("labels", [(f"{'a' * k}lpha", f"{'A' * k}lpha", "i", "J1", k) for k in range(2, 9)]),
        ("labels", [(1, "alpha", "i", "J1", 1), ("1", "alpha", "j", "J1", 1), ("1", "bravo", "j", "J1", 1)]),
        ("similar_labels", [("alphq", "bravo", "i", "J1", 1), ("alpha", "hotell", "i", "J1", 2)]),
        ("self_comparisons", [("bravo", "bravo", "i", "J1", 1)]),
    ],
)
def test_remedies_of_rows_and_labels_leave_nothing_to_find(check: str, further: list[tuple[Any, ...]]) -> None:
    frame = judged(*further)
    finding = llbt.audit(frame).finding(check)
    assert "…" not in finding.remedy
    left = pasted(finding, frame, "object")[-1]
    assert llbt.audit(left).finding(check).level == "ok", finding.remedy


@pytest.mark.parametrize("marked", ["anony", "skipped"])
def test_columns_that_say_which_rows_count_filter_or_are_ignored(marked: str) -> None:
    frame = judged().assign(**{marked: [k % 3 == 0 for k in range(48)]})
    finding = llbt.audit(frame).finding("filters")
    some, every = pasted(finding, frame, "object")
    assert (some.n_judgments, every.n_judgments) == (finding.figures[marked], 48)


# -- estimates that do not exist, tasks -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "formula", "frame"),
    [
        ("separation", "object", _judgments("AB BC AC", "iii")),
        ("separation", "object + tie", judged()[["object_i", "object_j"]].assign(outcome="tie")),
        ("order_separation", "object + order", _judgments("AB BC AC BA CB CA", "iiiiii")),
    ],
)
def test_remedies_of_separation_run(check: str, formula: str, frame: pd.DataFrame) -> None:
    finding = llbt.audit(frame).finding(check)
    assert finding.found.startswith(f"{formula}: ")
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit(formula, llbt.from_judgments(frame, order="order" in formula))
    fits = pasted(finding, frame, formula, order="order" in formula)
    assert fits
    assert all(np.isfinite(res.params).all() for res in fits), finding.remedy


def test_judges_who_separate_have_finite_estimates_with_a_prior() -> None:
    both = "AB BC AC BA CB CA " * 10
    frame = pd.concat(
        [
            _judgments(both, "iiijjj" * 10).assign(judge="sure"),
            _judgments(both, ("iiijij" + "jjiiij") * 5).assign(judge="fair"),
        ],
        ignore_index=True,
    )
    finding = llbt.audit(frame).finding("judge_separation")
    with pytest.raises(llbt.errors.SeparationError):
        llbt.fit("object * judge", llbt.from_judgments(frame, covariates="judge"))
    (res,) = pasted(finding, frame, "object", covariates="judge")
    assert np.isfinite(res.params).all()


def test_pooled_tasks_are_fitted_apart() -> None:
    """By rows, by a table, and by a task that two columns say."""
    rng = np.random.default_rng(1)
    rows = [
        (i, j, rng.choice(["i", "j"], p=[p := 1 / (1 + np.exp(sign * (a - b))), 1 - p]), task)
        for task, sign in (("de", 1), ("fr", -1))
        for (a, i), (b, j) in itertools.permutations(enumerate("abcd"), 2)
        for _ in range(50)
    ]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "task"])
    c = llbt.from_judgments(frame, clusters="task")
    one, other = (llbt.fit("object", llbt.from_judgments(part)) for _, part in frame.groupby("task"))
    pair = frame.rename(columns={"task": "trglang"}).assign(srclang="en")
    for found, data in ((llbt.audit(frame), frame), (llbt.audit(c), frame), (llbt.audit(pair), pair)):
        (fits,) = pasted(found.finding("tasks"), data, "object", clusters=[] if data is pair else "task")
        assert [res.llf for res in fits] == pytest.approx([one.llf, other.llf])


# -- judges, grades and time ----------------------------------------------------------------------------------


def test_judges_with_one_answer_are_left_out_of_rows_and_of_a_table() -> None:
    always = [(i, j, "i", "J9", k) for k, (i, j) in enumerate(itertools.permutations(["alpha", "bravo", "delta"], 2))]
    frame = judged(*always)
    c = llbt.from_judgments(frame, clusters="judge")
    rows, table = (
        llbt.audit(data).finding("judges") for data in (frame, llbt.from_judgments(frame, clusters="judge", order=True))
    )
    (left,) = pasted(rows, frame, "object")
    assert llbt.from_judgments(left).n_judgments == 48
    assert llbt.audit(left).finding("judges").level == "ok"
    (kept,) = pasted(table, frame, "object", clusters="judge", order=True)
    assert (kept.n_judgments, c.n_judgments) == (48, 54)
    assert llbt.audit(kept).finding("judges").level == "ok"


GRADES = {2: 2, 1: 1, 0: 0, -1: -1, -2: -2}
READ = {"outcome": "grade", "outcomes": GRADES}


@pytest.fixture(scope="module")
def graded_votes() -> pd.DataFrame:
    """Six objects, five judges, votes in five grades."""
    rng = np.random.default_rng(1)
    i = rng.integers(0, 6, 900)
    j = (i + rng.integers(1, 6, 900)) % 6
    grade = np.clip(np.round((j - i) * 0.25 + rng.normal(size=900)), -2, 2).astype(int)
    names = np.array(list("abcdef"))
    return pd.DataFrame({"object_i": names[i], "object_j": names[j], "grade": grade, "judge": rng.integers(0, 5, 900)})


def test_a_judge_who_turns_the_scale_is_left_out(graded_votes: pd.DataFrame) -> None:
    odd = graded_votes.assign(grade=np.where(graded_votes["judge"] == 4, -graded_votes["grade"], graded_votes["grade"]))
    finding = llbt.audit(odd, **READ).finding("turned_scale")
    (left,) = pasted(finding, odd, "object")
    assert set(left["judge"]) == {0, 1, 2, 3}
    assert llbt.audit(left, **READ).finding("turned_scale").level == "ok"
    whole = graded_votes.assign(grade=3 * np.sign(graded_votes["grade"]) - graded_votes["grade"])
    finding = llbt.audit(whole, **READ).finding("turned_scale")
    assert "the whole gives larger grades to similar objects" in finding.found


def test_judges_who_use_grades_otherwise_have_effects_of_their_own(graded_votes: pd.DataFrame) -> None:
    odd = graded_votes.copy()
    odd.loc[odd["judge"] == 3, "grade"] = 2 * np.sign(odd["grade"])
    finding = llbt.audit(odd, **READ).finding("grades")
    c, res = pasted(finding, odd, "object", **READ)
    assert c.n_judgments == 900
    assert "(grade | judge)" in str(res)


def test_a_grade_that_nobody_gives_is_left_to_words(graded_votes: pd.DataFrame) -> None:
    seven = graded_votes.assign(grade=graded_votes["grade"] * 2 - np.sign(graded_votes["grade"]))  # 1 and 3, no 2
    finding = llbt.audit(seven, outcome="grade", outcomes={k: k for k in range(-3, 4)}).finding("grades")
    assert finding.found.startswith("no judge used the grade")
    assert calls(finding.remedy.partition("; ")[0]) == []


@pytest.mark.parametrize("time", ["", "tstamp"])
def test_drift_is_seen_in_parts_of_the_file(time: str) -> None:
    planted = DEFECTS["drift of one object"]
    frame = planted.plant(board(np.random.default_rng(3), 5, 1_500), planted.strengths[2])
    if time:
        frame = frame.assign(tstamp=np.arange(1_500)).sample(frac=1, random_state=1)
    finding = llbt.audit(frame).finding("drift")
    assert "is getting better" in finding.found
    parts, c, res = pasted(finding, frame, "object")
    assert parts["period"].value_counts().tolist() == [375] * 4
    assert not time or parts["tstamp"].is_monotonic_increasing
    assert c.n_judgments == 1_500
    first = res.params.filter(like="period[3]")
    assert first.abs().max() > 0.5  # the change of 1.4 over the file


# -- lists ----------------------------------------------------------------------------------------------------


def lists(*rows: str, judges: str = "") -> pd.DataFrame:
    """Return lists such as ``"A B=C"``, one row for each object; without names a judge each."""
    return pd.DataFrame(
        [
            (k, judges[k] if judges else f"J{k % 4}", label, place)
            for k, row in enumerate(rows)
            for place, group in enumerate(row.split(), start=1)
            for label in group.split("=")
        ],
        columns=["list", "judge", "object", "rank"],
    )


def run_lists(finding: Finding, frame: pd.DataFrame, formula: str = "object") -> list[Any]:
    """Return what the calls of a remedy of lists lead to, with … filled in."""
    assert finding.is_failure
    names: dict[str, Any] = {"llbt": llbt, "frame": frame}
    values = []
    for call in calls(finding.remedy):
        code = call.replace("from_rankings(…", 'from_rankings(frame, block="list"')
        code = code.replace("llbt.fit(…", f'llbt.fit("{formula}", r').replace(", …)", ", r)")
        names["r"] = names.get("r") or llbt.from_rankings(frame, block="list", clusters="judge")
        values.append(eval(code, names))
        names |= {"r": values[-1]} if isinstance(values[-1], llbt.Rankings) else {}
    return values


def ranked(frame: pd.DataFrame) -> llbt.Rankings:
    return llbt.from_rankings(frame, block="list", clusters="judge")


EVERY = [" ".join(order) for order in itertools.permutations("ABC")]


@pytest.mark.parametrize(
    ("check", "frame"),
    [
        ("labels", lists("A B C", "a C B", "B A C", "C a B", judges="Jj JK".replace(" ", "K"))),
        ("similar_labels", lists("mistral-large B", "B mistral-larg", "B mistral-large")),
        ("judges", lists(*EVERY * 3, *["A=B=C"] * 6, judges="KLM" * 6 + "F" * 6)),
        ("dominant_judge", lists(*EVERY * 6, judges="KLMN" * 3 + "D" * 24)),
    ],
)
def test_remedies_of_labels_and_judges_of_lists_leave_nothing_to_find(check: str, frame: pd.DataFrame) -> None:
    finding = llbt.audit(ranked(frame)).finding(check)
    assert "…" not in finding.remedy
    (left,) = run_lists(finding, frame)
    assert llbt.audit(ranked(left)).finding(check).level == "ok", finding.remedy


@pytest.mark.parametrize(
    ("check", "frame"),
    [
        ("sparse", lists(*EVERY, *EVERY, "D A", "A D")),
        ("separation", lists("A B C", "A C B", "A B C D", "D B C", "A D", "A C B")),
        ("ends", lists(*["A B C", "A C B"] * 5)),
    ],
)
def test_remedies_of_estimates_of_lists_are_finite(check: str, frame: pd.DataFrame) -> None:
    finding = llbt.audit(ranked(frame)).finding(check)
    (res,) = run_lists(finding, frame)
    assert np.isfinite(res.params).all()


def test_judges_of_lists_who_tie_or_rank_otherwise() -> None:
    rows = [*EVERY * 10, *["A=B C", "B=C A"] * 10]
    frame = lists(*rows, judges="KLMNO" * 12 + "F" * 20)
    left, res = run_lists(llbt.audit(ranked(frame)).finding("ties"), frame, "object + tie")
    assert "F" not in set(left["judge"])
    assert not np.allclose(res.bse, llbt.fit("object + tie", ranked(frame)).bse)
    orders = ["A B C D", "A B D C", "B A C D", "A C B D"]
    turned = [order[::-1] for order in orders]
    frame = lists(*orders * 15, *turned * 3, judges="KLMNO" * 12 + "F" * 12)
    left, r, tested = run_lists(llbt.audit(ranked(frame)).finding("outlying_judges"), frame)
    assert "F" not in set(left["judge"])
    assert r.covariates
    assert tested.to_frame()["p_value"].min() < 1e-6


def test_lists_that_repeat_or_are_alike_are_clustered() -> None:
    frame = lists(
        *["A B C"] * 12,
        *["C B A"] * 12,
        *["B C A"] * 12,
        *["C A B"] * 12,
        judges="K" * 12 + "L" * 12 + "M" * 12 + "N" * 12,
    )
    found = llbt.audit(ranked(frame))
    _, res = run_lists(found.finding("duplicates"), frame)
    assert not np.allclose(res.bse, llbt.fit("object", ranked(frame)).bse)
    r, res = run_lists(found.finding("blocks"), frame)
    assert "judge" in r.clusters
    assert not np.allclose(res.bse, llbt.fit("object", ranked(frame)).bse)


def test_objects_without_a_place_are_read_as_unknown() -> None:
    frame = lists("A B", "B A C", "C B A", "A C").assign(judge="J")
    frame = pd.concat([frame, pd.DataFrame({"list": [0, 3], "judge": "J", "object": ["C", "B"], "rank": np.nan})])
    below = llbt.from_rankings(frame, block="list", clusters="judge", unranked="below")
    (unknown,) = run_lists(llbt.audit(below).finding("unranked"), frame)
    assert llbt.audit(unknown).finding("unranked").level == "ok"


@pytest.mark.parametrize(
    ("check", "rows"),
    [
        ("disconnected", ["A B", "B A", "C D", "D C"]),
        ("bridges", [*EVERY, *(" ".join(order) for order in itertools.permutations("XYZ")), "A X", "X A"]),
    ],
)
def test_advice_on_lists_that_is_no_call_has_none(check: str, rows: list[str]) -> None:
    finding = llbt.audit(ranked(lists(*rows))).finding(check)
    assert finding.is_failure
    assert finding.remedy
    assert "(" not in finding.remedy
