"""Checks of arguments: signatures declare the types, and `checked` checks the values that callers pass.

``@checked`` reads the signature of a public function when it is imported: texts, labels, numbers, lists and dicts of
them, Literal, callables, records (``_made_by`` names the call that makes them), and the types below. A parameter with
another type raises an error at import. Only data (``object``, ``Any``, ``ArrayLike``) are not checked here; the
function reads them. The function gets counts and numbers as int and float, and arrays of labels as lists.
"""

from __future__ import annotations

import datetime
import functools
import inspect
import itertools
import math
import numbers
import sys
import types
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Any, Literal, ParamSpec, TypeGuard, TypeVar, Union, get_args, get_origin

import numpy as np

from ..errors import DesignError, LLBTError, OptionError, alternatives, safe_repr
from .foreign_names import refuse_count, unknown_argument

P = ParamSpec("P")
R = TypeVar("R")

_NAMESPACES = (
    "classical",
    "judges",
    "metrics",
    "planning",
    "plot",
    "scores",
)  # rooms whose functions users find under the room's name
# modules of these rooms whose functions users find directly under llbt
_ABOVE = ("planning.simulated_power", "planning.scenarios")
_LONGEST = 80  # most characters of a value in a message
_SEVERAL = 100  # up to so many values, a list may be a list of fits


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number; True and False do not count."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_real(value: object) -> TypeGuard[float]:
    """Whether a value is a real number that fits a float, finite or not; True and False do not count."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:  # 10**400
        return False
    return True


@dataclass(frozen=True)
class Kind:
    """The allowed values of an argument.

    Attributes
    ----------
    holds : callable
        Whether a value is of the kind.
    expected : str
        The kind in words, for a message.
    several : str
        Several values of the kind in words; empty for kinds that do not occur in lists.
    plain : callable, optional
        The conversion of a value for the function, such as int for an integer of numpy.
    """

    holds: Callable[[Any], bool]
    expected: str
    several: str = ""
    plain: Callable[[Any], Any] | None = None

    def __or__(self, other: Kind) -> Kind:
        expected = f"{self.expected}, or {other.expected}" if self.expected and other.expected else ""
        return Kind(
            lambda value: self.holds(value) or other.holds(value),
            expected,
            plain=lambda value: (self if self.holds(value) else other).made_plain(value),
        )

    def made_plain(self, value: Any) -> Any:
        """Return the value in the form that the function gets."""
        return value if self.plain is None else self.plain(value)


def _real(holds: Callable[[float], bool], expected: str) -> Kind:
    return Kind(lambda value: is_real(value) and holds(float(value)), expected, "numbers", _number)


def _number(value: Any) -> int | float:
    """Return a number of any type as Python's own: sums of an int8 overflow, and a Fraction has no t quantile."""
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def whole(least: int) -> Kind:
    """Return the kind of whole numbers of at least `least`."""
    return Kind(lambda value: is_whole(value) and value >= least, f"an integer of at least {least}", "integers", int)


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value is an ordered collection that can be read again: no set, dict, generator or answer."""
    if isinstance(value, str | bytes | bytearray | Set | Mapping | Iterator) or not isinstance(value, Iterable):
        return False
    if hasattr(type(value), "as_text"):  # an answer, whose rows are not a list of values
        return False
    return isinstance(value, Sequence) or getattr(value, "ndim", 1) == 1


def _listed(values: Any) -> Any:
    """Return a list or tuple unchanged, and another ordered collection (an array, a series) as a list."""
    return values if isinstance(values, Sequence) else values.tolist() if hasattr(values, "tolist") else list(values)


def is_label(value: object) -> bool:
    """Whether a value is a single label that equals itself; NaN and NaT do not."""
    return isinstance(value, str | numbers.Real | np.generic | datetime.date) and bool(value == value)


_SEED = "an int of at least 0 or a numpy.random.Generator"
Share = Annotated[float, _real(lambda x: 0 < x < 1, "a number between 0 and 1")]
Confidence = Annotated[float, _real(lambda x: 0 < x < 1, "a number between 0 and 1, .95 for 95 % intervals")]
Fraction = Annotated[float, _real(lambda x: 0 <= x <= 1, "a share from 0 to 1, .01 for 1 %")]
BelowOne = Annotated[float, _real(lambda x: 0 <= x < 1, "a number of at least 0 and below 1, .3 for 30 %")]
Finite = Annotated[float, _real(math.isfinite, "a finite number")]
Positive = Annotated[float, _real(lambda x: 0 < x < math.inf, "a finite number, above 0")]
NotNegative = Annotated[float, _real(lambda x: 0 <= x < math.inf, "a finite number, at least 0")]
Count = Annotated[int, whole(1)]
Number = Annotated[int, whole(0)]
Digits = Annotated[int, Kind(lambda n: is_whole(n) and 1 <= n <= 15, "a whole number from 1 to 15", plain=int)]
Decimals = Annotated[int, Kind(lambda n: is_whole(n) and 0 <= n <= 15, "a whole number from 0 to 15", plain=int)]
Jobs = Annotated[
    int, Kind(lambda n: is_whole(n) and n != 0, "the number of processes, or -1 for one per core", plain=int)
]
Rng = Annotated[
    int | np.random.Generator | None,
    Kind(
        lambda rng: rng is None or isinstance(rng, np.random.Generator) or (is_whole(rng) and rng >= 0),
        _SEED,
        plain=lambda rng: int(rng) if is_whole(rng) else rng,
    ),
]

_FLAG = Kind(lambda value: isinstance(value, bool | np.bool_), "True or False", "flags", bool)
_TEXT = Kind(lambda value: isinstance(value, str), "a text, one name", "names")
_LABEL = Kind(is_label, "a label, such as 'A' or 3", "labels")
_DATA = Kind(lambda value: True, "", "values")
_DRAWN = Kind(lambda value: isinstance(value, _loaded("matplotlib.axes", "Axes")), "Axes of matplotlib")
NAMES = Kind(
    lambda value: isinstance(value, str) or (is_list(value) and all(map(_TEXT.holds, value))),
    "the name of a column or several names",
    plain=lambda value: value if isinstance(value, str) else _listed(value),
)
TWO_NAMES = Kind(
    lambda value: not isinstance(value, str) and NAMES.holds(value) and len(_listed(value)) == 2,
    "the names of two columns, side i first",
    "pairs of names of columns",
    plain=lambda value: _listed(value),
)
_LARGEST = 2**63 - 1  # the largest integer of arrays
_FEWER = "Ask for fewer objects, judgments, parameters or resamples, or allow more memory."
JUDGED_INSIDE = _DATA  # for arguments whose function explains more, such as which of several fits is wrong
_PLAIN: dict[Any, Kind] = {
    bool: _FLAG,
    str: _TEXT,
    int: Kind(is_whole, "an integer", "integers", int),
    float: _real(lambda x: True, "a number"),
    Hashable: Kind(lambda value: _hashes(value), "a label, such as 'A' or 3", "labels"),
    None: Kind(lambda value: value is None, "None"),
    type(None): Kind(lambda value: value is None, "None"),
    object: _DATA,
    Any: _DATA,
}
_LABELS = {str, int, float, bool}  # the parts of a Label
_LATER = {"Axes": Annotated[Any, _DRAWN]}  # types that are imported for mypy alone


def _loaded(module: str, name: str) -> type | tuple[()]:
    """Return a type from a module that may not be imported yet; no value has the type then."""
    loaded: type | tuple[()] = getattr(sys.modules.get(module), name, ())
    return loaded


def _hashes(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments that do not match the signature; errors and warnings name the function.

    Raises
    ------
    OptionError
        Raised by the returned function, which otherwise does the same as the given one.
    """
    parameters = inspect.signature(function).parameters.values()
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
    known_names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    required = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    only_named = [name for name in known_names if name not in plain]
    kinds = _declared(function)
    module = function.__module__.partition(".")[2]
    room = "" if module in _ABOVE else module.partition(".")[0]
    # a record of options has its own name; the methods that every answer has keep theirs
    name = function.__qualname__.removesuffix(".__init__").removeprefix("Record.")
    asker = f"{room}.{name}" if room in _NAMESPACES else name

    @functools.wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            passed = {**dict(zip(plain, args, strict=False)), **kwargs}
            for name_given in kwargs:
                if name_given not in known_names:
                    options = [known for known in known_names if known not in ("self", "cls")]
                    raise unknown_argument(function.__name__, name_given, kwargs[name_given], options, passed)
            refuse_count(function.__name__, plain, only_named, required, passed, 0 if rest else len(args))
            names = itertools.chain(plain, itertools.repeat(rest))
            given = [_judged(asker, known, value, kinds, passed) for known, value in zip(names, args, strict=False)]
            named = {known: _judged(asker, known, value, kinds, passed) for known, value in kwargs.items()}
            return function(*given, **named)  # type: ignore[arg-type]
        except LLBTError as error:
            # the outermost function
            error.asker = _method(args[0], function.__name__) if "." in name and args else asker
            raise
        except MemoryError as error:  # nobody checked the memory before the array was made
            refused = DesignError(f"memory ran out: {error}".removesuffix(": "), _FEWER)
            refused.asker = asker
            raise refused from None
        except RecursionError:
            refused = DesignError("an argument holds itself, or is nested too deeply")
            refused.asker = asker
            raise refused from None

    return asked


def _judged(asker: str, name: str, value: object, kinds: Mapping[str, Kind], passed: Mapping[str, object]) -> object:
    """Return the converted argument; raise if it is invalid."""
    kind = kinds.get(name)
    _refuse_unanswered(asker, value)
    _refuse_part(name, value, kind)
    if isinstance(value, np.ndarray) and value.ndim == 0:  # neither a number nor a list of numbers
        raise OptionError(f"{name} is an array without dimensions", expected=(kind and kind.expected) or "a value")
    for one in _ones(value):
        if is_whole(one) and abs(one) > _LARGEST and name != "rng":  # seeds may have any length
            raise OptionError(f"{name} is a number beyond 2**63", expected="a smaller one")
    if kind is None:
        return value
    if not kind.holds(value):
        remedy = _exchanged(kinds, name, passed) or _as_pairs(kind, name, value) or _as_n(kind, kinds, value, passed)
        raise OptionError(_shown(name, value), remedy, expected=kind.expected)
    return kind.made_plain(value)


def _method(owner: object, name: str) -> str:
    """Return a method's name after the name of the object's type, or of the class that it makes."""
    kind = owner if isinstance(owner, type) else type(owner)
    return f"{kind.__name__}.{name}"


def _refuse_unanswered(asker: str, value: object) -> None:
    """Raise for a record that states why it does not answer (`_unanswered`), alone or in a list."""
    for one in _ones(value):
        why, remedy = getattr(type(one), "_unanswered", {}).get(asker, ("", ""))
        if why:
            raise OptionError(why, filled(remedy, one))


def _ones(value: object) -> Sequence[object]:
    """Return the items of a short list, or the value alone."""
    return value if isinstance(value, list | tuple) and len(value) <= _SEVERAL else (value,)


def _refuse_part(name: str, value: object, kind: Kind | None) -> None:
    """Raise for a part of an answer, which has a `whole`, if the declared type does not allow parts."""
    part = next((one for one in _ones(value) if hasattr(type(one), "whole")), None)
    if part is None or name == "self":
        return
    other = object() if part is value else [object()]
    if kind is None or not kind.holds(value) or kind.holds(other):
        raise OptionError(
            f"{name} is of type {type(part).__name__}",
            str(getattr(part, "remedy", "")),
            expected=(kind and kind.expected) or "a whole result",
        )


def filled(remedy: str, res: Any) -> str:
    """Return a remedy with its gaps filled in from a fit; see `llbt.fitting.unsupported_questions`."""
    if "{" not in remedy:
        return remedy
    formula = repr(getattr(res, "average", res).specification.formula)
    data = getattr(res, "rankings", None) or res.comparisons
    named = getattr(getattr(res, "judges", None), "name", None)
    judge = repr(named if named not in (None, "object") else next(iter((*data.clusters, *data.covariates)), "judge"))
    remedy = remedy.replace("{plain}", f"llbt.fit({formula}, res.comparisons)")
    return remedy.replace("{formula}", formula).replace("{judge}", judge)


def checked_record(record: type[R]) -> type[R]:
    """Refuse fields of a record of options that do not match their declared types; the error names the record."""
    record.__init__ = checked(record.__init__)  # type: ignore[method-assign]
    return record


def _declared(function: Callable[..., Any]) -> dict[str, Kind]:
    """Return the kinds of arguments that a signature declares.

    Raises
    ------
    TypeError
        At import, for a parameter whose type declares no kind.
    """
    kinds = {}
    for p in inspect.signature(function).parameters.values():
        if p.name in ("self", "cls"):
            continue
        declared = eval(p.annotation, function.__globals__, _LATER) if isinstance(p.annotation, str) else p.annotation
        kind = None if declared is p.empty else _kind(declared)
        if kind is None:
            raise TypeError(f"{function.__qualname__}: @checked knows no kind for {p.name}: {p.annotation}")
        kinds[p.name] = kind
    return kinds


def _kind(declared: Any) -> Kind | None:
    """Return the kind that a type declares; None for a type that declares none."""
    origin, parts = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return next((part for part in parts[1:] if isinstance(part, Kind)), None) or _kind(parts[0])
    if origin is Literal:
        return _option(parts)
    if origin in (Union, types.UnionType):
        return _any_of(parts)
    if origin is Sequence:
        one = _kind(parts[0])
        return None if one is None else _several(one)
    if origin is Mapping:
        key, value = map(_kind, parts)
        return None if key is None or value is None else _mapped(key, value)
    if origin is Callable:
        return Kind(callable, "a function")
    if origin is np.ndarray or getattr(origin or declared, "__module__", "").startswith("numpy._typing"):
        return _DATA  # an array, or anything that numpy makes an array of
    kind, record = _PLAIN.get(declared if origin is None else origin), origin or declared
    if kind is not None or not isinstance(record, type) or getattr(record, "_is_protocol", False):
        return kind
    return record_kind(record)


def _any_of(parts: tuple[Any, ...]) -> Kind | None:
    """Return the kind of a union; if one part is data, any value is allowed."""
    if all(part is type(None) or get_origin(part) is Literal for part in parts):
        return _option((*(option for part in parts for option in get_args(part)), None))
    labels = set(parts) >= _LABELS
    kinds = [_LABEL] if labels else []
    kinds += [kind for part in parts if not (labels and part in _LABELS) and (kind := _kind(part)) is not None]
    if len(kinds) < len(parts) - (len(_LABELS) - 1) * labels:
        return None
    return _DATA if _DATA in kinds else functools.reduce(Kind.__or__, kinds)


def record_kind(declared: type) -> Kind:
    """Return the kind of the objects of a class."""
    made_by = getattr(declared, "_made_by", None)
    expected = f"{declared.__name__}, what {made_by} returns" if made_by else f"an object of type {declared.__name__}"
    return Kind(lambda value: isinstance(value, declared), expected, f"objects of type {declared.__name__}")


def _option(known: tuple[str | None, ...]) -> Kind:
    return Kind(lambda value: isinstance(value, str | None) and value in known, alternatives(known))


def _several(one: Kind) -> Kind:
    return Kind(
        lambda value: is_list(value) and all(map(one.holds, value)),
        f"a list of {one.several or one.expected}",
        plain=lambda value: _each(one, _listed(value)),
    )


def _each(one: Kind, values: Any) -> Any:
    """Return values with each of them converted, a tuple as a tuple; unchanged if nothing is converted."""
    if one.plain is None:
        return values
    made = [one.plain(value) for value in values]
    return tuple(made) if isinstance(values, tuple) else made


def _mapped(key: Kind, value: Kind) -> Kind:
    return Kind(
        lambda given: isinstance(given, Mapping) and all(key.holds(k) and value.holds(v) for k, v in given.items()),
        f"a dict of {key.several or key.expected} with {value.several or value.expected}",
    )


def _exchanged(kinds: Mapping[str, Kind], name: str, passed: Mapping[str, object]) -> str:
    """Return the remedy if two arguments were exchanged; else empty."""
    for other, held in passed.items():
        fits = other in kinds and kinds[name].holds(held) and kinds[other].holds(passed.get(name))
        if fits and not kinds[other].holds(held):
            return f"{name} and {other} are swapped."
    return ""


def _as_pairs(kind: Kind, name: str, value: object) -> str:
    """Return the remedy if the pairs that rankings imply are of the kind; else empty."""
    pairs = getattr(type(value), "_pairs", None)  # the type that to_comparisons() returns
    if pairs is None or not kind.holds(object.__new__(pairs)):
        return ""
    return f"Pass {name}.to_comparisons(), the pairs that the lists imply."


def _as_n(kind: Kind, kinds: Mapping[str, Kind], value: object, passed: Mapping[str, object]) -> str:
    """Return the remedy if a number in place of a function was meant as `n`, the number of resamples; else empty."""
    meant = "a function" in kind.expected and "n" in kinds and "n" not in passed and kinds["n"].holds(value)
    return f"Type n={value}." if meant else ""


def _shown(name: str, value: object) -> str:
    """Return an argument in words; a long one is described by its type, a long dict by the types of its items."""
    text = safe_repr(value)
    if not 0 < len(text) <= _LONGEST or "\n" in text:
        if type(value) is dict:
            keys, values = (dict.fromkeys(type(one).__name__ for one in part) for part in (value, value.values()))
            return f"{name} is a dict of {' and '.join(keys)} with {' and '.join(values)}"
        return f"{name} is of type {type(value).__name__}"
    return f"{name}={text}"


def as_generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """Return the generator for ``rng=``: the given one, a new one from an int, or one with fresh entropy for None."""
    return np.random.default_rng(rng)
