"""Groups of commands, each imported only when it runs; their list is made from docstrings in the source."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .sources import docstring, source


def group(*homes: str) -> type[TyperGroup]:
    """Return the class of a group of commands, for typer.

    Parameters
    ----------
    *homes : str
        The places of functions in the package: ``"cli.models.fit"`` is the function of a command,
        ``"inference.drift.drift"`` a function of the library, which `llbt.cli.asked` makes a command.
    """
    places = {home.rpartition(".")[2].replace("_", "-"): home for home in homes}

    class Commands(TyperGroup):
        def __init__(self, **attrs: Any) -> None:
            super().__init__(**attrs)
            self.commands = {name: TyperCommand(name) for name in places} | dict(self.commands)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return made(places[cmd_name]) if cmd_name in places else super().get_command(ctx, cmd_name)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            texts = {name: docstring(source(*_parts(home))) for name, home in places.items()}
            described = {name: TyperCommand(name, help=text) for name, text in texts.items()}
            TyperGroup(commands={**self.commands, **described}).format_commands(ctx, formatter)

    return Commands


@functools.cache
def made(home: str) -> Any:
    """Return the command of a function."""
    from .signatures import command

    module, name = _parts(home)
    if module.startswith("cli."):
        function = getattr(importlib.import_module(f"llbt.{module}"), name)
    else:
        from .asked import question

        function = question(home)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command()(command(function))
    return typer.main.get_command(alone)


def _parts(home: str) -> tuple[str, str]:
    """Return module and name of a function."""
    module, _, name = home.rpartition(".")
    return module, name
