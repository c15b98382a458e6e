"""What shells complete: commands, options, their values, and columns of the file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.shell import run

import llbt
from llbt.cli.completion import after_files, bundled, columns_of

LINES = {  # how each shell hands the line over
    "bash": lambda line: {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)},
    "zsh": lambda line: {"_TYPER_COMPLETE_ARGS": line},
    "fish": lambda line: {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


def completed(shell: str, line: str) -> str:
    result = run(env={"_LLBT_COMPLETE": f"complete_{shell}", **LINES[shell](line)}, prog_name="llbt")
    return result.stdout


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "battles.csv").write_text("model_a,model_b,winner,my judge\nx,y,model_a,1\n")
    votes = ["model_a,model_b,winner,judge", "xeno,yew,a,ann", "yew,xeno,b,ben", "xeno,zed,a,ben", "zed,yew,b,ann"]
    (tmp_path / "votes.csv").write_text("\n".join(votes) + "\n")
    (tmp_path / "data").mkdir()


@pytest.mark.parametrize("shell", LINES)
@pytest.mark.parametrize(
    ("line", "expected", "not_expected"),
    [
        ("llbt le", "leaderboard", "worth"),
        ("llbt ne", "needed", "leaderboard"),
        ("llbt needed x --sp", "--split", "--at"),
        ("llbt metrics ", "compare-all", "leaderboard"),
        ("llbt worth --sc", "--scale", "--at"),
        ("llbt worth x --scale lo", "log_odds", "elo"),
        ("llbt fit x --prior j", "jeffreys", "--prior"),
        ("llbt fit b", "battles.csv", "data"),
        ("llbt fit dras_t", "dras_table1_as_analysed", "battles"),
        ("llbt fit battles.csv --objects model_a,model", "model_a,model_b", "winner"),
        ("llbt fit battles.csv --outcome w", "winner", "model_b"),
        ("llbt fit battles.csv --formula object*w", "object*winner", "object*tie"),
        ("llbt fit battles.csv --formula o", "order", "winner"),
        ("llbt fit battles.csv --where my", "my judge", "winner"),
        ("llbt fit battles.csv --exclude my", "my judge", "winner"),
        ("llbt fit votes.csv --exclude judge=b", "judge=ben", "judge=ann"),
        ("llbt pairwise votes.csv --only x,y", "x,yew", "x,xeno"),
        ("llbt leaderboard votes.csv --anchor y", "yew", "xeno"),
        ("llbt fit battles.csv --judge-covariates b", "battles.csv", "baseball"),
        ("llbt audit x --fail-on warning,dis", "warning,disconnected", "separation"),
        ("llbt audit x --input-format are", "arena", "kaggle"),
    ],
)
@pytest.mark.slow
def test_each_shell_completes(shell: str, line: str, expected: str, not_expected: str) -> None:
    found = completed(shell, line)
    assert expected in found
    assert not_expected not in found.replace("--scale", "")


@pytest.mark.parametrize("shell", LINES)
def test_scripts_of_the_shells(shell: str) -> None:
    result = run(env={"_LLBT_COMPLETE": f"source_{shell}"}, prog_name="llbt")
    assert f"_LLBT_COMPLETE=complete_{shell}" in result.stdout
    assert "llbt" in result.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.slow
def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    """The script itself, sourced by bash, with an llbt of this interpreter on the path."""
    program = tmp_path / "bin" / "llbt"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom llbt.cli.main import main\nmain()\n")
    program.chmod(0o755)
    line = 'eval "$(_LLBT_COMPLETE=source_bash llbt)"; COMP_WORDS=(llbt leader); COMP_CWORD=1; '
    line += '"$(complete -p llbt | sed "s/.*-F \\([^ ]*\\).*/\\1/")" llbt leader llbt; echo "${COMPREPLY[@]}"'
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "--norc", "-c", line], capture_output=True, text=True, env=environment, timeout=60)
    assert done.stdout.split() == ["leaderboard"], done.stderr


def test_data_sets_are_those_of_the_library() -> None:
    assert set(bundled()) == set(llbt.list_datasets().to_frame()["name"])


def test_files_within_folders(tmp_path: Path) -> None:
    (tmp_path / "data" / "a.csv").write_text("")
    assert after_files("data/") == ["data/a.csv"]
    assert after_files("./da") == ["./data/"]
    assert after_files("nowhere/x") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b c;d\n1;2;3\n", ["a", "b c", "d"]),
        ('{"left": "x", "right": "y"}\n', ["left", "right"]),
        ('{"left": \n', []),
        ("one\n", []),
        ("", []),
    ],
)
def test_columns_of_a_file(text: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "t").write_text(text)
    assert columns_of("t") == expected
    assert columns_of(tmp_path) == columns_of(None) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "blocked"), [("[]", "numpy pandas scipy"), ("['--help']", "numpy llbt.cli.options pydantic_core")]
)
def test_help_and_completion_import_none_of_the_library(words: str, blocked: str) -> None:
    """The list of commands makes no command, which takes .1 s of .2: docstrings are read from the source."""
    code = f"""
import sys
from llbt.cli.main import main
sys.argv[1:] = {words}
try:
    main()
finally:
    print([name for name in {blocked.split()} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
