"""Every remedy that the command line prints is typed: it answers or says something else."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.pasting import options
from support.refusals import COUNTED, JUDGMENTS, LISTS, RATED, SCORED
from support.shell import run

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
COMMANDS = ("fit", "audit", "leaderboard", "agreement", "aggregate")


def typed(command: str, name: str, folder: Path) -> tuple[bool, int]:
    """Return whether a command refuses a table, and how many remedies of its refusal were typed."""
    file = folder / "table.csv"
    TABLES[name].to_csv(file, index=False)
    line = [command, file.name]
    first = run(*line)
    assert first.exit_code in (0, 2), first.output
    if first.exit_code == 0:
        return False, 0
    said = " ".join(first.stderr.split())
    assert said.count(file.name) <= 1, said
    assert "…" not in said.partition(". ")[2], said
    ways = list(options(said, FLAGS))
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
    done = [typed(command, name, tmp_path) for name in TABLES]
    assert sum(refused for refused, _ in done) > 5
    if command not in ("aggregate",):
        assert sum(n for _, n in done) > 20


def test_options_are_taken_as_they_stand() -> None:
    said = "Pass --weights count (2) or --ignore 'a,b' (3). Pass --objects x,y --outcome z, or --order. See --at of"
    assert list(options(said, FLAGS)) == [
        ["--weights", "count"],
        ["--ignore", "a,b"],
        ["--objects", "x,y", "--outcome", "z"],
        ["--order"],
    ]
