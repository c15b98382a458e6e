"""The command line, called in this process."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import typer.main
import typer.testing
from typer.testing import CliRunner, Result

from llbt.cli.main import app

# Commands are made of signatures once, not at each of some hundred calls; that alone takes 0.05 s.
typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[assignment]


def run(*args: object, **options: Any) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args], **options)


def answered(*args: object, **options: Any) -> str:
    """Return what is on standard output, once a call has succeeded."""
    result = run(*args, **options)
    assert result.exit_code == 0, result.output
    return result.stdout


def facts(*args: object, **options: Any) -> Any:
    """Return what a call says in JSON."""
    return json.loads(answered(*args, "--format", "json", **options))


def refused(*args: object, **options: Any) -> str:
    """Return what is on standard error once a call was refused: exit code 2, nothing on stdout, no traceback."""
    result = run(*args, **options)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.output
    return " ".join(result.stderr.split())
