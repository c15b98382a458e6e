"""Commands of functions that take records of options: each field of a record becomes an option."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from ..errors import alternatives
from .messages import reported


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function with a parameter for each field of its records; its errors name the options."""
    hints = {name: kind for name, kind in get_type_hints(function, include_extras=True).items() if name != "return"}
    given = inspect.signature(function).parameters
    parts: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}
    spread: dict[str, inspect.Parameter] = {}
    for name, kind in {"ctx": typer.Context, **hints}.items():
        if name in parts:
            spread |= _options_of(kind)
        else:
            spread[name] = _parameter(name, kind, given[name].default if name in given else inspect.Parameter.empty)

    def run(**asked: Any) -> None:
        ctx: typer.Context = asked.pop("ctx")
        for name, kind in parts.items():
            asked[name] = kind(**{f.name: asked.pop(f.name) for f in dataclasses.fields(kind)})
        with reported({name: option for param in ctx.command.params if (name := param.name) for option in param.opts}):
            function(**asked)

    # parameters without a default come first, as Python wants them
    ordered = sorted(spread.values(), key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return run


@functools.cache  # commands share records, and hints are slow to read
def _options_of(record: Any) -> dict[str, inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    return {f.name: _parameter(f.name, hints[f.name], f.default) for f in dataclasses.fields(record)}


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_chosen(annotation))


def _chosen(annotation: Any) -> Any:
    """Return an option that accepts only its words; a wrong word gives the same error as in other options."""
    kind, *choices = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    words = [word for part in (kind, *get_args(kind)) if get_origin(part) is Literal for word in get_args(part)]
    if not words:
        return annotation

    def chosen(text: str) -> str:
        if text not in words:
            raise typer.BadParameter(f"found {text!r}; expected {alternatives(words)}.")
        return text

    def begun(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    option = copy.copy(choices[0])
    option.parser, option.metavar = chosen, option.metavar or f"<{'|'.join(words)}>"
    option.autocompletion = option.autocompletion or begun
    return Annotated[kind, option]


def given(*records: Any) -> dict[str, Any]:
    """Return the given values of records of options, by the names of their fields."""
    values = {f.name: getattr(record, f.name) for record in records for f in dataclasses.fields(record)}
    return {name: value for name, value in values.items() if value not in (None, False, 0)}
