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
from llbt.auditing.finding import Finding

STARTS = re.compile(
    r"\[llbt\.fit\(|(?:llbt\.)?(?:from_judgments|fit|pairwise|influence|level_tests)\(|c\.select\(|frame\.\w+\(|frame\["
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
    names: dict[str, Any] = {"llbt": llbt, "frame": data.copy(), "np": np}
    values = []
    for call in calls(finding.remedy):
        code = call.replace("from_judgments(…", "from_judgments(frame").replace("llbt.llbt", "llbt")
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
        if re.match(r"frame\[.+\] = ", code):
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
        ("ties one judge never uses", "ties"),
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
    frame = planted.plant(board(np.random.default_rng(2), 8, 2_000), planted.strengths[2])
    finding = llbt.audit(frame).finding(check)
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
    assert finding.remedy == "do what the message says, in llbt.audit and in llbt.from_judgments alike"
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
