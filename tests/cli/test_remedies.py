"""Every remedy that the command line prints is typed: it answers or says something else."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.pasting import options
from support.refusals import COUNTED, JUDGMENTS, LISTS, RANKS, RATED, SCORED
from support.shell import run

import llbt

FLAGS = {"--order", "--largest-component", "--population"}
TABLES = {
    **{name: frame for name, (frame, said) in JUDGMENTS.items() if not said},
    **{f"counts, {name}": frame for name, (frame, said) in COUNTED.items() if not said},
    **{f"lists, {name}": frame for name, (frame, said) in LISTS.items() if not said},
    **{f"ratings, {name}": frame for name, (frame, said) in RATED.items() if not said},
    **{f"scores, {name}": frame for name, (frame, said) in SCORED.items() if not said},
    "groups that never meet": pd.DataFrame(
        {"object_i": [*"ABAB", *"CDCD"], "object_j": [*"BABA", *"DCDC"], "outcome": [*"iijj", *"iijj"]}
    ),
    "separated": pd.DataFrame({"object_i": ["A", "B", "A"], "object_j": ["B", "C", "C"], "outcome": ["i", "i", "i"]}),
}
COMMANDS = ("fit", "audit", "leaderboard", "worth", "anova", "report", "agreement", "aggregate")
WIDE = pd.DataFrame({"judge": [*"gghh"], "A": [1, 2, 1, 3], "B": [2, 1, 3, 1], "C": [3, 3, 2, 2]})
TIED = WIDE.assign(B=[2, 2, 2, 1])
RATINGS = WIDE.assign(judge=["g", "h", "k", "m"], A=[5, 4, 2, 5])
SETS = pd.DataFrame({"x": [*"ABC"], "y": [*"BCA"], "z": [*"CAB"], "best": [*"ABC"], "worst": [*"BCA"]})
TASKS = pd.DataFrame({"id": 1, "task": [1, 1, 2, 2], "price": [1, 2, 2, 1], "size": [*"smsl"], "chosen": [0, 1, 0, 1]})
LINES = {  # options of lists → the table they are typed with
    "ranks absent": (WIDE, ["--rankings", "A,B,D"]),
    "an outcome beside ranks": (WIDE, ["--rankings", "A,B,C", "--outcome", "A"]),
    "two kinds": (WIDE, ["--rankings", "A,B,C", "--ratings", "A,B,C"]),
    "ranks and a block": (WIDE, ["--rankings", "A,B,C", "--block", "judge"]),
    "ranks, counted": (WIDE.assign(count=[2, 3, 4, 5]), []),
    "codes": (WIDE.assign(A=[1, 2, -1, 3]), ["--rankings", "A,B,C"]),
    "ranks in rows": (RANKS, ["--rankings", "rank", "--object", "item"]),
    "twice": (pd.concat([RANKS, RANKS.iloc[:1]]), ["--rankings", "rank", "--object", "object", "--block", "list"]),
    "no list": (RANKS.drop(columns="list"), ["--rankings", "rank", "--object", "object"]),
    "no tie": (TIED, ["--rankings", "A,B,C"]),
    "ranks or ratings": (RATINGS.assign(A=[1, 1, 2, 3]), []),
    "ratings absent": (RATINGS, ["--ratings", "A,D"]),
    "words": (RATINGS.assign(A=[*"abcd"]), ["--ratings", "A,B,C"]),
    "best without objects": (SETS, ["--best", "best"]),
    "worst alone": (SETS, ["--worst", "worst"]),
    "best of no set": (SETS.assign(best=[*"DBC"]), ["--objects", "x,y,z", "--best", "best", "--worst", "worst"]),
    "best missing": (SETS.assign(best=["A", None, "C"]), ["--objects", "x,y,z", "--best", "best"]),
    "several best": (SETS, ["--objects", "x,y,z", "--best", "best,worst"]),
    "attributes missing": (TASKS.assign(price=[1, None, 2, 1]), []),
    "few profiles": (TASKS, []),
    "clusters absent": (WIDE, ["--rankings", "A,B,C", "--groups", "worker"]),
    "a link of lists": (WIDE, ["--rankings", "A,B,C", "--link", "probit"]),
}


def typed(command: str, frame: pd.DataFrame, asked: list[str], folder: Path) -> tuple[bool, int]:
    """Return whether a command refuses a table, and how many remedies of its refusal were typed."""
    file = folder / "table.csv"
    frame.to_csv(file, index=False)
    line = [command, file.name, *asked]
    first = run(*line)
    assert first.exit_code in (0, 2), first.output
    if first.exit_code == 0:
        return False, 0
    said = " ".join(first.stderr.split())
    assert said.count(file.name) <= 1, said
    assert "…" not in said.partition(". ")[2], said
    # an option that cannot stand here is named in a sentence; what to type instead follows the word Pass
    ways = list(options(said.partition("Pass ")[2] if said.startswith("Usage") else said, FLAGS))
    for way in ways:
        again = run(*line, *way)
        assert again.exit_code in (0, 2), (way, again.output)
        assert again.exit_code == 0 or " ".join(again.stderr.split()) != said, f"{way} leads to the same: {said}"
        assert "no such option" not in again.stderr.lower(), (way, again.stderr)
    return True, len(ways)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_refusal_proposes_works_when_it_is_typed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(llbt, "write_report", lambda res, place, **said: place)  # its refusals come before
    done = [typed(command, frame, [], tmp_path) for frame in TABLES.values()]
    assert sum(refused for refused, _ in done) > 5
    if command not in ("aggregate",):
        assert sum(n for _, n in done) > 20


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "worth", "leaderboard", "anova", "report"])
def test_what_a_refusal_of_lists_proposes_works_when_it_is_typed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(llbt, "write_report", lambda res, place, **said: place)
    done = [typed(command, frame, asked, tmp_path) for frame, asked in LINES.values()]
    assert sum(refused for refused, _ in done) > 15, done
    assert sum(n for _, n in done) > 4, done


def test_options_are_taken_as_they_stand() -> None:
    said = "Pass --weights count (2) or --ignore 'a,b' (3). Pass --objects x,y --outcome z, or --order. See --at of"
    assert list(options(said, FLAGS)) == [
        ["--weights", "count"],
        ["--ignore", "a,b"],
        ["--objects", "x,y", "--outcome", "z"],
        ["--order"],
    ]
