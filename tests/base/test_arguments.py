"""Every public function refuses flags, counts, shares and options that are none, and names the argument."""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.calls import CALLS, JUDGMENTS
from support.surface import public

import llbt
from llbt.base.arguments import checked
from llbt.base.table import Record
from llbt.formats import JudgmentFormat

PUBLIC = [
    *(function for function in public().values() if inspect.isfunction(function)),
    *(
        function
        for owner in (llbt.Comparisons, llbt.LLBT, llbt.LLBTResults)
        for name, function in vars(owner).items()
        if inspect.isfunction(function) and not name.startswith("_")
    ),
]
NO_FLAG: tuple[Any, ...] = ("no", "yes", 1, 0, None, [], math.nan)
NO_COUNT: tuple[Any, ...] = ("many", True, 2.5, -2, math.nan, math.inf, 1j)
NO_JOBS: tuple[Any, ...] = ("many", True, 2.5, 0, math.nan, 1j)
NO_NUMBER: tuple[Any, ...] = ("x", True, math.nan, math.inf, -math.inf, 0.5j)
NO_SHARE: tuple[Any, ...] = (1, 2, 95, -0.5)
NO_OPTION: tuple[Any, ...] = ("nonsense", 3, True, ["nonsense"])
NO_NAME: tuple[Any, ...] = (3, True, 0.5, {"a": 1})
NO_SEED: tuple[Any, ...] = ("x", -1, 0.5, True, [1])
SHARES = {"confidence", "alpha", "target", "tie_share"}
SAID_OTHERWISE = {
    "formula",
    "scope",
    "hypothesis",
    "file",
    "name",
    "names",
}  # what they may be is tested with formulas and files
SCORES = {"metric", "other", "human"}  # data, whatever they are
MEANT = (
    (llbt.classical.feedback_order, "time_limit", math.inf),  # no limit
    *((door, "where", {"a": 1}) for door in (llbt.from_counts, llbt.from_judgments, llbt.read_judgments, llbt.audit)),
    *(
        (llbt.metrics.williams, name, math.nan) for name in ("r_x", "r_y", "r_xy")
    ),  # an undefined correlation has no test
)


def kinds(function: Callable[..., Any], name: str) -> set[Any]:
    """Return the types that an argument may have; a Literal stands for itself."""
    annotation = inspect.signature(function).parameters[name].annotation
    known = dict(inspect.unwrap(function).__globals__)
    try:
        return set(_flat(eval(annotation, known) if isinstance(annotation, str) else annotation))
    except NameError:  # a type of drawing or files, imported for the annotation alone
        return set()


def _flat(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) in (typing.Union, type(int | str)):
        for part in typing.get_args(annotation):
            yield from _flat(part)
    elif typing.get_origin(annotation) is typing.Annotated:
        yield from _flat(typing.get_args(annotation)[0])
    else:
        yield Literal if typing.get_origin(annotation) is Literal else annotation


def bad_values(function: Callable[..., Any], name: str) -> tuple[Any, ...]:
    """Return what an argument cannot be, by what it can be."""
    found = kinds(function, name)
    if name in SAID_OTHERWISE or {bool, str} <= found:  # labels may be anything
        return ()
    choices: list[tuple[bool, tuple[Any, ...]]] = [
        (np.random.Generator in found, NO_SEED),
        (bool in found, NO_FLAG),
        (float in found and name in SHARES, (*NO_NUMBER, *NO_SHARE)),
        (float in found, NO_NUMBER),
        (name == "n_jobs", NO_JOBS),
        (int in found, NO_COUNT),
        (Literal in found, NO_OPTION),
        (str in found, NO_NAME),
    ]
    values = next((values for asked, values in choices if asked), ())
    return tuple(value for value in values if (function, name, value) not in MEANT)


ARGUMENTS = [
    (function, name)
    for function in PUBLIC
    for name in inspect.signature(function).parameters
    if bad_values(function, name)
]


@cache
def call_of(function: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return a valid call; many arguments of a function are tried, and the answer that it is about is made once."""
    return CALLS[function]()


@pytest.mark.parametrize(("function", "name"), ARGUMENTS, ids=[f"{f.__qualname__}-{name}" for f, name in ARGUMENTS])
def test_what_is_no_such_argument_is_refused_by_its_name(
    function: Callable[..., Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names_columns = function in (llbt.judges.report, llbt.metrics.read_study)
    scores = set() if names_columns else SCORES
    for value in bad_values(function, name):
        given, named = list(call_of(function)[0]), dict(call_of(function)[1])
        parameters = inspect.signature(function).parameters
        if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            given.append(value)
        elif parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY and list(parameters).index(name) < len(given):
            given[list(parameters).index(name)] = value
        else:
            named[name] = value
        with pytest.raises(llbt.errors.JudgmentError if name in scores else llbt.errors.OptionError, match=name):
            function(*given, **named)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__qualname__)
def test_the_calls_have_answers(function: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a refusal would say nothing of the argument."""
    monkeypatch.chdir(tmp_path)
    given, named = CALLS[function]()
    assert function(*given, **named) is not None
    plt.close("all")


# Methods that rooms ask of records, with what is checked already.
INSIDE = {
    "Study": ("of",),
    "Comparisons": {"same_counts", "named"},
    "Judgments": {"of_counts", "values", "take", "turned", "tally", "tabulate", "column", "grouped", "standing_for"},
    "LLBT": {"solved"},
    "FitPart": {"combined_cov", "df_of", "worth_df_of"},
    "LLBTResults": {"combined_cov", "df_of", "worth_df_of"},
    "Pairwise": {"better"},
    "Rankings": {"entries_of"},
    "SystemScores": {"notes_beside"},
    "Table": {"first", "in_order"},
}


def records(of: type) -> Iterator[type]:
    """Yield every record below one."""
    for record in of.__subclasses__():
        yield record
        yield from records(record)


def asked(record: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods of a record, its own and those of its bases, that a user calls with arguments."""
    for name, method in inspect.getmembers(record, lambda x: inspect.isfunction(x) or inspect.ismethod(x)):
        own = inspect.unwrap(method)
        if (
            not name.startswith("_")
            and own.__module__.startswith("llbt")
            and len(inspect.signature(own).parameters) > 1
        ):
            yield name, method


def test_whoever_a_user_asks_checks_its_arguments_and_bears_its_name() -> None:
    classes = {*records(Record), *(thing for thing in public().values() if inspect.isclass(thing))}
    classes = {one for one in classes if not issubclass(one, (Exception, JudgmentFormat))}
    told = [
        f"{record.__name__}.{name}"
        for record in classes
        for name, method in asked(record)
        if not hasattr(method, "__wrapped__") and name not in INSIDE.get(record.__name__, ())
    ]
    told += [name for name, one in public().items() if inspect.isfunction(one) and not hasattr(one, "__wrapped__")]
    assert told == []


@pytest.mark.parametrize("value", [np.True_, np.False_])
def test_flags_of_numpy_are_flags(value: np.bool_) -> None:
    assert llbt.from_judgments(JUDGMENTS, order=value).keeps_order is bool(value)


def test_numbers_of_numpy_count_as_those_of_python() -> None:
    """An int8 of 100 overflowed in sums, and a uint8 of 200 drew other samples than 200."""
    one, other = (llbt.bootstrap(CALLS[llbt.bootstrap]()[0][0], n=n, rng=1) for n in (200, np.uint8(200)))
    assert np.array_equal(one.replicates, other.replicates)
    with pytest.raises(llbt.errors.DesignError, match="expected at least 200, for two groups of 100"):
        llbt.judges.tree(*CALLS[llbt.judges.tree]()[0], min_size=np.int8(100))


@pytest.mark.parametrize("names", [{"one"}, frozenset({"one"}), {"one": 1}, iter(["one"])])
def test_names_come_in_an_order(names: Any) -> None:
    """A set labelled the models in the order of its hashes."""
    with pytest.raises(llbt.errors.OptionError, match="expected a list of names"):
        llbt.model_table(CALLS[llbt.model_table]()[0][0], names=names)
    assert "one" in repr(llbt.model_table(CALLS[llbt.model_table]()[0][0], names=np.array(["one"])))


def test_a_parameter_without_a_kind_fails_when_its_function_is_defined() -> None:
    def ask(unknown: typing.ClassVar) -> None: ...

    def say(anything) -> None: ...  # type: ignore[no-untyped-def]

    for function, name in ((ask, "unknown"), (say, "anything")):
        with pytest.raises(TypeError, match=f"knows no kind for {name}"):
            checked(function)


def test_a_long_dict_is_described_by_the_types_of_its_items() -> None:
    scores = pd.DataFrame({"A": [1.0, 2.0, 3.0], "B": [2.0, 1.0, 0.0]})
    with pytest.raises(llbt.errors.OptionError, match="setups is a dict of int and tuple with DataFrame; expected"):
        llbt.scores.aggregate_setups({1: scores, ("a", "b"): scores})  # type: ignore[dict-item]
