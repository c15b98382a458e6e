"""The commands of llbt, and the process that runs them."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Annotated

import typer

from .. import __version__
from .catalog import group
from .messages import ErrorStream

_COMMANDS = (
    *("cli.lists.example", "cli.lists.datasets", "cli.lists.formats"),
    *("cli.judging.audit", "cli.models.fit", "cli.models.leaderboard", "cli.comparing.compare", "cli.models.worth"),
    *("cli.questions.pairwise", "cli.questions.contrasts", "cli.questions.predict", "cli.models.anova"),
    *("cli.models.report", "report.interpret.interpret", "inference.sensitivity.sensitivity"),
    *("inference.fragility.fragility", "inference.influence.influence", "inference.level_tests.level_tests"),
    *("inference.drift.drift", "inference.held_out.held_out", "planning.next_pairs.next_pairs"),
    *("planning.simulated_power.power", "cli.planning.needed", "cli.judging.agreement", "cli.judging.judge_report"),
    *("judges.calibrate.calibrate", "cli.scoring.aggregate", "cli.scoring.board"),
)

app = typer.Typer(
    cls=group(*_COMMANDS),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text, also where a help text has brackets
    epilog="""Answers go to standard output, warnings and errors to standard error.

    \b
    Exit codes:
      0    success
      1    llbt audit --fail-on: a named check has a finding;
           llbt compare --fail-if-worse: an object got worse
      2    error; the reason is on standard error
      130  interrupted
      141  standard output was closed before the end""",
)
metrics = typer.Typer(
    cls=group("cli.scoring.interval", "cli.scoring.compare_all"), no_args_is_help=True, rich_markup_mode=None
)
scores = typer.Typer(
    cls=group("cli.scoring.leaderboard", "cli.scoring.difficulty", "cli.scoring.frontier"),
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(metrics, name="metrics", help="Measure how well metrics agree with humans, and compare metrics.")
app.add_typer(scores, name="scores", help="Compare systems by their scores on the same instances.")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"llbt {__version__}")
        raise typer.Exit


@app.callback()
def _llbt(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Fit log-linear Bradley-Terry models to paired comparisons with ties, order effects and covariates."""


def main() -> None:
    """Run the command line; what it prints is UTF-8 whatever the locale."""
    if sys.stdout is None:
        raise SystemExit("error: standard output is closed")
    if sys.stdin is None:  # closed: what is read from it is as empty as that of /dev/null
        sys.stdin = open(os.devnull)  # noqa: SIM115 - as long as the process
    os.environ["MPLBACKEND"] = "agg"  # a notebook's own may not be there, and pictures of a page need none
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever read the output has enough
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    if isinstance(sys.stderr, io.TextIOWrapper) and not isinstance(sys.stderr, ErrorStream):
        sys.stderr = ErrorStream(sys.stderr.buffer, encoding="utf-8", line_buffering=True)
    app(prog_name="llbt")
