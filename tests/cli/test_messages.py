"""What is said on standard error: options in place of arguments, seconds on a terminal, and nothing into a pipe."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.shell import refused, run

import llbt
from llbt.cli import messages
from llbt.cli.catalog import made
from llbt.cli.messages import ErrorStream, spelled, working

OPTIONS = {
    "cov_type": "--cov-type",
    "groups": "--groups",
    "prior": "--prior",
    "order": "--order",
    "input_format": "--input-format",
    "outcomes": "--outcomes",
    "defaults": "--defaults",
    "wins": "--wins",
    "file": "file",
}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("cov_type='cluster' needs groups=", "--cov-type cluster needs --groups"),
        ("no columns 'a', 'b' (wins=)", "no columns 'a', 'b' (--wins)"),
        ("fit(…, prior='jeffreys') or fit(…, prior=…).", "--prior jeffreys or --prior …."),
        ("llbt.from_judgments(…, order=True), then", "--order, then"),
        ("Pass groups=('judge', 'a,b').", "Pass --groups 'judge,\"a,b\"'."),
        ("outcomes={1: 'i', 'no one': None}", "--outcomes '1=i,no one=none'"),
        ("defaults={'baseline': …}", "--defaults baseline=…"),
        ("Pass format='arena'.", "Pass --input-format arena."),
        ("prior=0.5, or prior=-1", "--prior 0.5, or --prior -1"),
        # what the command has no option for stays as it is, whole calls with it
        ("llbt.audit(frame, format=columns)", "llbt.audit(frame, format=columns)"),
        ("llbt.fit(…, prior=1, n=3)", "llbt.fit(…, prior=1, n=3)"),
        ("n=3 and file='x'", "n=3 and file='x'"),
        ("'prior=2' is not a column, c.prior=2 neither", "'prior=2' is not a column, c.prior=2 neither"),
        ("object == 2\n  prior=1 + tie\n  ^^^^^", "object == 2\n  prior=1 + tie\n  ^^^^^"),
    ],
)
def test_arguments_are_said_as_options(said: str, expected: str) -> None:
    assert spelled(said, OPTIONS) == expected


@pytest.mark.parametrize(
    ("args", "fragment"),
    [
        (["fit", "puddings", "--cov-type", "cluster"], "--groups"),
        (["fit", "puddings", "--groups", "judge"], "judge"),
        (["fit", "puddings", "--prior", "-1"], "--prior -1"),
        (["fit", "puddings", "--prior", "firth"], "'--prior': found 'firth'; expected a number or jeffreys"),
        (["fit", "puddings", "--reference", "7"], "--reference 7 is not an object"),
        (["fit", "puddings", "--method", "glm", "--link", "probit"], "--link probit"),
        (["worth", "puddings", "--confidence", "95"], "--confidence 95"),
        (["leaderboard", "puddings", "--anchor", "9"], "'9' is not an object"),
        (["anova", "puddings", "--test", "cluster"], "--test cluster"),
        (["aggregate", "nowhere.csv"], "no file 'nowhere.csv'"),
        (["metrics", "interval", "-", "--metrics", "bleu"], "'bleu'"),
    ],
)
def test_refusals_name_options(args: list[str], fragment: str) -> None:
    said = refused(*args, input="system,input,human\na,1,2\nb,1,3\n" if "-" in args else None)
    assert fragment in said
    assert not any(f"{name}=" in said for name in ("cov_type", "groups", "prior", "link", "anchor", "confidence"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "PATIENCE", 0.02)


@pytest.mark.usefixtures("soon")
def test_what_takes_long_is_said_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with working("fitting"):
        time.sleep(0.2)
    shown = screen.getvalue()
    assert shown.startswith("\rfitting … 0 s")
    assert shown.split("\r")[-2:] == [" " * len("fitting … 0 s"), ""]  # and is taken away


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(("stream", "seconds"), [(io.StringIO, 0.1), (Terminal, 0.0)])
def test_nothing_is_said_into_a_pipe_or_of_what_is_quick(
    stream: type[io.StringIO], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    with working("fitting"):
        time.sleep(seconds)
    assert screen.getvalue() == ""


def test_a_bar_begins_its_line_again_and_nothing_else_is_a_command_to_the_terminal() -> None:
    raw = io.BytesIO()
    said = ErrorStream(raw, encoding="utf-8", write_through=True)
    said.write("\r 50 %|█████")
    said.write("error: a\rb\x1b[2J\n")
    assert raw.getvalue().decode() == "\r 50 %|█████error: a\\rb\\x1b[2J\n"


@pytest.mark.slow
def test_whoever_reads_no_further_ends_the_process() -> None:
    """By the signal (-13 here, 141 in a shell), without a word; other exit codes are tested where they come up."""
    line = [sys.executable, "-c", "from llbt.cli.main import main; main()", "formats"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as unread:
        assert unread.stdout is not None
        assert unread.stderr is not None
        unread.stdout.close()
        assert unread.stderr.read() == b""
        assert unread.wait() == -13


def test_standard_output_has_the_answer_alone() -> None:
    result = run("fit", "puddings", "--formula", "object", "--format", "csv")
    assert result.stdout.startswith("term,estimate,")
    assert {line.split(": ")[0] for line in result.stderr.splitlines()} == {"note", "warning"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Pass outcomes={None: None, 1: 'i'}.", "Pass --outcomes =none,1=i."),
        ("Pass defaults='x', wins=('a', 'b').", "Pass --defaults x --wins a,b."),
        ("Pass defaults='x', defaults='y' or wins='z'.", "Pass --defaults x, --defaults y or --wins z."),
        ("Leave them out with c.select(objects=group). For finite estimates use a prior: fit(…, prior='jeffreys').",
         "For finite estimates use a prior: --prior jeffreys."),
        ("Remove these rows first, or leave them out (counted) with limit=3.", "Remove these rows first."),
        ("Merge levels (Comparisons.select, Comparisons.pool), or pass order=True.", "Merge levels, or pass --order."),
        ("Say 'i' or None.", "Say 'i' or none."),
        ("Add it: llbt.fit('object + length + (length | judge)', c).",
         "Add it: --formula 'object + length + (length | judge)'."),
        ("For worths that vary by judge, fit llbt.fit('object + (object | gr(judge, by=expert))', c).",
         "For worths that vary by judge, fit --formula 'object + (object | gr(judge, by=expert))'."),
        ("write_report will take about 16 seconds: progress=True shows how far it is.",
         "write_report will take about 16 seconds."),
        ("Add + tie; or drop the ties, with c.drop_ties(); or count them as half wins, with c.split_ties().",
         "Add + tie or drop the ties, with --outcomes tie=none (of counts --ties-column none)."),
    ],
)  # fmt: skip
def test_a_remedy_says_only_what_the_shell_has(said: str, expected: str) -> None:
    assert messages.remedied(said, OPTIONS) == expected


_INTERRUPTED = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "llbt.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
from llbt.cli.start import main
main()
"""


FIT = {param.name: param.opts[0] for param in made("cli.models.fit").params}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "fit the largest group: c.select(objects=max(c.components(), key=len)); or compare objects",
            "fit the largest group: --largest-component; or compare objects",
        ),
        (
            'from_judgments(…, clusters="judge"), then llbt.fit(…, groups="judge")',
            "--clusters judge, then --groups judge",
        ),
        (
            'llbt.from_judgments(…, order=True), then llbt.fit("object + order", …)',
            "--order, then --formula 'object + order'",
        ),
        (
            "llbt.fit('object', c, prior='jeffreys'); then res.conf_int(method='profile')",
            "--formula object --prior jeffreys; then res.conf_int(method='profile')",
        ),
        (
            "by itself: [llbt.fit('object', llbt.from_judgments(part, …)) for task, part in frame.groupby('task')]",
            "by itself: --where task=…",
        ),
        ("from_judgments(…, ignore=['anony']) keeps all", "--ignore anony keeps all"),
        ("if rows were copied: frame.drop_duplicates(); if", "if rows were copied: --drop copies; if"),
        ("frame[frame['model_a'] != frame['model_b']]; their verdicts", "--drop self; their verdicts"),
        ("without them: frame[~frame['judge'].isin(['j 3', 7])]", "without them: --exclude 'judge=j 3,judge=7'"),
        (
            'llbt.level_tests(res, by="judge"); see llbt.influence',
            "llbt level-tests FILE --by judge; see llbt influence",
        ),
    ],
)
def test_cures_of_the_audit_are_options_of_fit(said: str, expected: str) -> None:
    assert messages.cured(said, FIT) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_an_interrupt_while_commands_are_imported_says_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED, "datasets"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-2, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_an_interrupt_while_commands_are_made_says_nothing() -> None:
    code = """
import os, signal
import llbt.cli.main
from llbt.cli.start import main

llbt.cli.main.app = lambda prog_name: os.kill(os.getpid(), signal.SIGINT)
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_nothing_is_imported_before_interrupts_are_silent() -> None:
    """An interrupt before the handler is set prints a traceback."""
    code = f"""
import signal, sys
sys.path.insert(0, {str(Path(llbt.__file__).parents[1])!r})
before = set(sys.modules)
import llbt.cli.start
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["llbt", "llbt.cli", "llbt.cli.start"]


def test_python_m_llbt_is_the_command():
    done = subprocess.run([sys.executable, "-m", "llbt", "datasets"], capture_output=True, text=True, check=True)
    assert done.stdout == run("datasets").stdout
