"""Every remedy that the audit prints is pasted and runs on the board that triggers it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.planted import DEFECTS, board, drawn

import llbt
from llbt.auditing.finding import Finding

STARTS = re.compile(
    r"(?:llbt\.)?(?:from_judgments|fit|pairwise|influence|level_tests)\(|c\.select\(|frame\.\w+\(|frame\["
)


def calls(remedy: str) -> list[str]:
    """Return the calls that stand in a remedy, each to its last parenthesis."""
    found, at = [], 0
    while start := STARTS.search(remedy, at):
        at, depth = start.end(), 1
        while depth or remedy[at : at + 1] in (".", "["):
            depth += (remedy[at] in "([") - (remedy[at] in ")]")
            at += 1
        found.append(remedy[start.start() : at])
    return found


def run(finding: Finding, data: Any, formula: str, **roles: Any) -> int:
    """Run the calls of a remedy one after the other, with … filled in, and return how many there were."""
    assert finding.is_failure
    kept = {name: value for name, value in roles.items() if value}
    names: dict[str, Any] = {"llbt": llbt, "frame": data, "np": np}
    names["c"] = llbt.from_judgments(data, **kept)
    done = calls(finding.remedy)
    for call in done:
        code = call.replace("from_judgments(…", "from_judgments(frame").replace("llbt.llbt", "llbt")
        code = code if code.startswith(("llbt.", "c.", "frame")) else f"llbt.{code}"
        code = code.replace("llbt.fit(…", f'llbt.fit("{formula}", c').replace(", …)", ", c)").replace(", …,", ", c,")
        code = re.sub(
            r'where=\{"(\w+)": \[…\]', lambda column: f'where={{"{column[1]}": {levels_of(data, column[1])}', code
        )
        if "(res" in code or "res." in code:
            names["res"] = llbt.fit(formula, names["c"])
        value = eval(code, names)
        names["c" if isinstance(value, llbt.Comparisons) else "res"] = value
    return len(done)


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
