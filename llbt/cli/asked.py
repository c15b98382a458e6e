"""Commands made from functions of the library: their options come from the signature and the docstring.

Signatures are read from the source, so that help and completion import none of the library.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_type_hints

import typer

from .completion import after_files
from .messages import spelled, watched, working
from .options import (
    Confidence,
    Counting,
    File,
    Formula,
    Jobs,
    Lists,
    Model,
    Printing,
    Reading,
    Rng,
    Text,
    column,
    option,
)
from .sources import docstring, source
from .values import items, option_of, wrong

_SHARED: dict[str, Any] = {"confidence": Confidence, "rng": Rng, "n_jobs": Jobs}
_NOT_TYPED = ("progress", "costs")  # bars are for terminals, costs are a table
_KINDS: dict[str, tuple[Any, str]] = {
    "str": (Text, "NAME"),
    "int": (int | None, "N"),
    "float": (float | None, "NUMBER"),
    "mapping": (Text, "COVARIATE=VALUE,…"),
}
_ENTRY = re.compile(r"^(\w[\w, ]*?)(?: : (.*))?\n((?:    .*\n|\n(?=    ))*)", re.MULTILINE)
_CODE, _BRACKETED = re.compile("`+([^`]*)`+"), re.compile(r"[^.;]*\{[^}]*\}\.?")  # a mapping is not typed in a shell
_NEEDED = inspect.Parameter.empty


@dataclass(frozen=True)
class _Asked:
    """A parameter with its name, default, kind and text from the docstring."""

    name: str
    default: Any
    kind: str
    text: str

    def option(self, options: dict[str, str]) -> inspect.Parameter:
        """Return the parameter of a command; its text may name `options`."""
        words = re.match(r"\{(.*?)\}", self.kind)
        default = ",".join(map(str, self.default)) if isinstance(self.default, tuple) else self.default
        text = _BRACKETED.sub("", _CODE.sub(lambda code: options.get(code[1], code[1]), self.text)).rstrip(" ;.") + "."
        text = spelled(text, options).replace("None:", "Left out:")
        named = (
            column
            if re.search("[Cc]olumn|[Cc]luster|[Cc]ovariate", text) and self.kind[:3] in ("str", "map")
            else option
        )
        kind: Any
        if self.name in _SHARED:
            kind, default = _SHARED[self.name], None if self.name == "rng" else default
        elif words:
            kind = Annotated[Literal[tuple(ast.literal_eval(f"[{words[1]}]"))], option(option_of(self.name), text)]
        else:
            plain, metavar = _KINDS[self.kind.split()[0].rstrip(",")]
            plain, metavar = (Text, f"{metavar},…") if self.several else (plain, metavar)
            kind = Annotated[plain, named(option_of(self.name), _with_default(text, default), metavar)]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)

    @property
    def several(self) -> bool:
        return "sequence of" in self.kind

    def value(self, given: Any) -> Any:
        """Return the value for the function: lists are written with commas."""
        if not self.several:
            return given
        parts: list[Any] = items(self.name, given)
        if self.kind.startswith("int"):
            if not all(part.isdecimal() for part in parts):
                raise wrong(self.name, f"found {given!r}; expected whole numbers separated by commas.")
            parts = [int(part) for part in parts]
        return parts[0] if len(parts) == 1 else parts


def _with_default(text: str, default: Any) -> str:
    return text if default in (None, _NEEDED) else f"{text} [default: {default}]"


def _read(module: str, name: str) -> tuple[str, list[_Asked]]:
    """Return the first paragraph of the docstring of a function or record, and its parameters or fields."""
    text = source(module, name)
    node: Any = ast.parse(text).body[0]
    head, entries = re.split(r"\n\n\w+\n-+\n", docstring(text))[:2]
    texts = {
        key: (kind or "", " ".join(text.split()))
        for names, kind, text in _ENTRY.findall(f"{entries}\n")
        for key in names.split(", ")
    }
    return head, [_Asked(key, default, *texts[key]) for key, default in _defaults(node)]


def _defaults(node: Any) -> list[tuple[str, Any]]:
    """Return the names of parameters or fields with their defaults."""
    if isinstance(node, ast.ClassDef):
        fields: list[Any] = [part for part in node.body if isinstance(part, ast.AnnAssign)]
        return [(field.target.id, ast.literal_eval(field.value)) for field in fields]
    first, last = [*node.args.args], node.args.kwonlyargs
    defaults = [*[None] * (len(first) - len(node.args.defaults)), *node.args.defaults, *node.args.kw_defaults]
    by_name = zip([*first, *last], defaults, strict=True)
    return [(one.arg, _NEEDED if default is None else ast.literal_eval(default)) for one, default in by_name]


# -- what is asked -----------------------------------------------------------------------------------------------------

Made = Callable[..., tuple[Any, tuple[Any, ...]]]  # options → the data, and the first arguments of the function


Machines = Annotated[
    str,
    typer.Argument(
        help="The verdicts of machines, written in the same way.",
        metavar="OTHER",
        show_default=False,
        autocompletion=after_files,
    ),
]


def fitted(
    file: File, *, formula: Formula = None, lists: Lists, reading: Reading, counting: Counting, model: Model
) -> tuple[Any, tuple[Any, ...]]:
    """The options describe the layout of FILE and the model, as for llbt fit."""
    from .list_inputs import data_of, fit_of, tell

    data = data_of(file, lists, reading, counting, model)
    tell(data)
    return data, (fit_of(formula, data, model),)


Formulas = Annotated[
    list[str] | None,
    option(
        "--formula",
        "A model. Repeat the option to compare models on the same folds. [default: the model of llbt fit]",
        "FORMULA",
    ),
]


def several_fits(
    file: File, *, formula: Formulas = None, lists: Lists, reading: Reading, counting: Counting, model: Model
) -> tuple[Any, tuple[Any, ...]]:
    """The options describe the layout of FILE and the models, as for llbt fit."""
    from .list_inputs import data_of, fit_of, tell

    data = data_of(file, lists, reading, counting, model)
    tell(data)
    return data, ([fit_of(one, data, model) for one in formula or (None,)],)


def people_and_machines(file: File, other: Machines, *, reading: Reading) -> tuple[Any, tuple[Any, ...]]:
    """FILE has the labels of people, OTHER the verdicts of machines. The options describe the layout of both."""
    from .inputs import judged_of, opened

    return None, tuple(judged_of(opened(name, reading), name) for name in (file, other))


def supposed(**assumed: Any) -> tuple[Any, tuple[Any, ...]]:
    """No file is read: the options are the assumptions about the study."""
    import llbt

    return None, (llbt.Scenario(**assumed),)


_MADE: dict[str, tuple[Made, Sequence[str]]] = {
    "inference.held_out.held_out": (several_fits, ("results",)),
    "planning.simulated_power.power": (supposed, ("scenario",)),
    "judges.calibrate.calibrate": (people_and_machines, ("human", "machine")),
}
_ASKED_OF_A_FIT: tuple[Made, Sequence[str]] = (fitted, ("res",))


def question(home: str) -> Callable[..., None]:
    """Return the function of a command that prints the answer of a function of the library.

    Parameters
    ----------
    home : str
        The function that answers, such as ``"inference.drift.drift"``.
    """
    made, first = _MADE.get(home, _ASKED_OF_A_FIT)
    module, _, name = home.rpartition(".")
    function_text, parameters = _read(module, name)
    own = [one for one in parameters if one.name not in (*first, *_NOT_TYPED)]
    before = _options_of(made)

    def ask(**given: Any) -> None:
        from .answers import rendered
        from .inputs import at_of

        printing = given.pop("printing")
        data, asked = made(**{one.name: given.pop(one.name) for one in before})
        values = {one.name: one.value(given[one.name]) for one in own if given[one.name] is not None}
        if "at" in values:
            values["at"] = at_of(values["at"], data)
        if any(one.name == "progress" for one in parameters):
            values["progress"] = watched()
        with working(name.replace("_", " ")):
            answer = getattr(importlib.import_module(f"llbt.{module}"), name)(*asked, **values)
        typer.echo(rendered(answer, printing))

    options = {one.name: option_of(one.name) for one in own}
    last = inspect.Parameter("printing", inspect.Parameter.KEYWORD_ONLY, annotation=Printing)
    spread = [*(one.option(options) for one in own), *before, last]  # its own options first
    ask.__signature__ = inspect.Signature(sorted(spread, key=lambda one: one.default is not _NEEDED))  # type: ignore[attr-defined]
    ask.__annotations__ = {one.name: one.annotation for one in spread}
    ask.__name__, ask.__doc__ = name, f"{function_text}\n\n{made.__doc__}"
    return ask


def _options_of(made: Made) -> list[inspect.Parameter]:
    if made is supposed:
        fields = _read("planning.scenarios", "Scenario")[1]
        return [one.option({field.name: option_of(field.name) for field in fields}) for one in fields]
    hints = get_type_hints(made, include_extras=True)
    given = inspect.signature(made).parameters.values()
    return [one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY) for one in given]
