"""What arguments may be: declared by the types of a signature, checked in one place when a caller hands them in.

``@checked`` reads the signature of a public function. It knows the types bool, str, None and Literal, the records that
say what makes them (``_made_by``), and the types of numbers below; what has another type is left to the function.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import numbers
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, ParamSpec, TypeGuard, TypeVar, Union, get_args, get_origin

import numpy as np

from .errors import LLBTError, OptionError, alternatives

P = ParamSpec("P")
R = TypeVar("R")

_NAMESPACES = (
    "classical",
    "judges",
    "metrics",
    "planning",
    "plot",
    "scores",
)  # rooms whose functions a user finds under their name
_ABOVE = ("planning.power", "planning.scenarios")  # their modules whose functions are found above the room
_LONGEST = 80  # characters of a value in a message
_SEVERAL = 100  # values of a list up to which it may be one of fits


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number; True and False are none."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_real(value: object) -> TypeGuard[float]:
    """Whether a value is a real number that fits a float, finite or not; True and False are none."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:  # 10**400
        return False
    return True


@dataclass(frozen=True)
class Kind:
    """What an argument may be.

    Attributes
    ----------
    holds : callable
        Whether a value is of the kind.
    expected : str
        The kind in words, for a message.
    """

    holds: Callable[[Any], bool]
    expected: str

    def __or__(self, other: Kind) -> Kind:
        return Kind(lambda value: self.holds(value) or other.holds(value), f"{self.expected}, or {other.expected}")


def _real(holds: Callable[[float], bool], expected: str) -> Kind:
    return Kind(lambda value: is_real(value) and holds(float(value)), expected)


def whole(least: int) -> Kind:
    """Return the kind of whole numbers of at least so many."""
    return Kind(lambda value: is_whole(value) and value >= least, f"an integer of at least {least}")


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
Digits = Annotated[int, Kind(lambda n: is_whole(n) and 1 <= n <= 15, "a whole number from 1 to 15")]
Jobs = Annotated[int, Kind(lambda n: is_whole(n) and n != 0, "the number of processes, or -1 for one per core")]
Rng = Annotated[
    int | np.random.Generator | None,
    Kind(lambda rng: rng is None or isinstance(rng, np.random.Generator) or (is_whole(rng) and rng >= 0), _SEED),
]

_FLAG = Kind(lambda value: isinstance(value, (bool, np.bool_)), "True or False")
_TEXT = Kind(lambda value: isinstance(value, str), "a text, one name")
_PLAIN = {bool: _FLAG, str: _TEXT, None: Kind(lambda value: value is None, "None")}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments that are not what the signature declares, and name the function in all that it refuses.

    Raises
    ------
    OptionError
        By the function that is returned, which is the function itself otherwise.
    """
    parameters = inspect.signature(function).parameters.values()
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
    kinds = functools.cache(lambda: _declared(function))
    module = function.__module__.partition(".")[2]
    room = "" if module in _ABOVE else module.partition(".")[0]
    # a record of options is known under its name, what every answer has under its own
    name = function.__qualname__.removesuffix(".__init__").removeprefix("Record.")
    asker = f"{room}.{name}" if room in _NAMESPACES else name

    @functools.wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        given = zip(itertools.chain(plain, itertools.repeat(rest)), args, strict=False)
        try:
            for known, value in itertools.chain(given, kwargs.items()):
                _refuse_unanswered(asker, known, value, kinds().get(known))
                if known in kinds() and not kinds()[known].holds(value):
                    passed = {**dict(zip(plain, args, strict=False)), **kwargs}
                    wrong, exchanged = _shown(known, value), _exchanged(kinds(), known, passed)
                    raise OptionError(wrong, exchanged, expected=kinds()[known].expected)
            return function(*args, **kwargs)
        except LLBTError as error:
            error.asker = _method(args[0], function.__name__) if "." in name and args else asker  # the outermost
            raise

    return asked


def _method(owner: object, name: str) -> str:
    """Return a method's name under that of the object's own type, or of the class that it makes an object of."""
    kind = owner if isinstance(owner, type) else type(owner)
    return f"{kind.__name__}.{name}"


def _refuse_unanswered(asker: str, name: str, value: object, kind: Kind | None) -> None:
    """Raise for a record that says why it does not answer (`_unanswered`), and for worths without their fit.

    Worths that stand for another kind of answer (`stands_for`) are refused what that is, in its words, and what asks
    for more than worths. Values are looked at alone and in lists.
    """
    for one in value if isinstance(value, list | tuple) and len(value) <= _SEVERAL else (value,):
        whole: type = (getattr(one, "stands_for", None) if hasattr(type(one), "stands_for") else None) or type(one)
        why, remedy = getattr(whole, "_unanswered", {}).get(asker, ("", ""))
        if why:
            raise OptionError(why, _filled(remedy, one))
        if whole is type(one) or name == "self" or one._answers_alone(asker):
            continue
        if kind is not None and not kind.holds(object.__new__(whole)):
            raise OptionError(f"{name} is of type {whole.__name__}", expected=kind.expected)
        raise OptionError(
            f"{name} holds the worths of a {whole.__name__} alone, and more is asked than worths",
            f"Pass the whole, what {getattr(whole, '_made_by', whole.__name__)} returned.",
        )


def _filled(remedy: str, res: Any) -> str:
    """Return what to ask with its gaps filled from a fit; see `llbt.fitting.unanswered`."""
    if "{" not in remedy:
        return remedy
    formula = repr(getattr(res, "average", res).specification.formula)
    data = getattr(res, "rankings", None) or res.comparisons
    named = getattr(getattr(res, "judges", None), "name", None)
    judge = repr(named if named not in (None, "object") else next(iter((*data.clusters, *data.covariates)), "judge"))
    remedy = remedy.replace("{plain}", f"llbt.fit({formula}, res.comparisons)")
    return remedy.replace("{formula}", formula).replace("{judge}", judge)


def checked_record(record: type[R]) -> type[R]:
    """Refuse fields of a record of options that are not what its types declare, and name the record in all of it."""
    record.__init__ = checked(record.__init__)  # type: ignore[method-assign]
    return record


def _declared(function: Callable[..., Any]) -> dict[str, Kind]:
    """Return the kinds of arguments that a signature declares; types that are imported for mypy alone declare none."""
    found = {}
    for p in inspect.signature(function).parameters.values():
        try:
            kind = _kind(eval(p.annotation, function.__globals__) if isinstance(p.annotation, str) else p.annotation)
        except NameError:
            continue
        if kind is not None:
            found[p.name] = kind
    return found


def _kind(declared: Any) -> Kind | None:
    """Return the kind that a type declares; None for a type that says nothing, or a choice with such a type in it."""
    origin, parts = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return next((part for part in parts[1:] if isinstance(part, Kind)), None)
    if origin is Literal:
        return _option(parts)
    if origin in (Union, types.UnionType):
        if all(part is type(None) or get_origin(part) is Literal for part in parts):
            return _option((*(option for part in parts for option in get_args(part)), None))
        kinds = [_kind(None if part is type(None) else part) for part in parts]
        known = [kind for kind in kinds if kind is not None]
        return functools.reduce(Kind.__or__, known) if len(known) == len(kinds) else None
    if origin is Sequence:
        one = _kind(parts[0])
        return None if one is None or get_origin(parts[0]) not in (Literal, Annotated) else _several(one)
    made_by = getattr(declared, "_made_by", None)
    if made_by is not None:
        return Kind(lambda value: isinstance(value, declared), f"{declared.__name__}, what {made_by} returns")
    return _PLAIN.get(declared)


def _option(known: tuple[str | None, ...]) -> Kind:
    return Kind(lambda value: isinstance(value, str | None) and value in known, alternatives(known))


def _several(one: Kind) -> Kind:
    return Kind(
        lambda value: isinstance(value, Sequence) and not isinstance(value, str) and all(map(one.holds, value)),
        f"a list of {one.expected}",
    )


def _exchanged(kinds: Mapping[str, Kind], name: str, passed: Mapping[str, object]) -> str:
    """Return the remedy where two arguments stand in each other's place; else nothing."""
    for other, held in passed.items():
        fits = other in kinds and kinds[name].holds(held) and kinds[other].holds(passed.get(name))
        if fits and not kinds[other].holds(held):
            return f"{name} and {other} stand in each other's place."
    return ""


def _shown(name: str, value: object) -> str:
    """Return an argument in words, by its type where it is long."""
    text = repr(value)
    if len(text) > _LONGEST or "\n" in text:
        return f"{name} is of type {type(value).__name__}"
    return f"{name}={text}"


def as_generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """Return the generator that ``rng=`` names: itself, a new one from an int, or one of fresh entropy for None."""
    return np.random.default_rng(rng)
