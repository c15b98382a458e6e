"""What arguments may be: flags, options, counts, shares and numbers, checked where a caller hands them in."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import TypeGuard

import numpy as np

from .errors import OptionError, alternatives


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


def check_flag(asker: str, name: str, value: object) -> None:
    """Raise for what is neither True nor False: a text such as "no" would be true."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name}={value!r}", where=asker, expected="True or False")


def check_option(asker: str, name: str, value: object, allowed: Sequence[str | None]) -> None:
    """Raise for an option that is none of those allowed."""
    if (value is not None and not isinstance(value, str)) or value not in allowed:
        raise OptionError(f"{name}={value!r} is not known", where=asker, expected=alternatives(allowed))


def check_count(asker: str, name: str, value: object, *, least: int) -> None:
    """Raise for what is no whole number of at least so many."""
    if not is_whole(value) or value < least:
        raise OptionError(f"{name}={value!r}", where=asker, expected=f"an integer of at least {least}")


def check_share(asker: str, name: str, value: object) -> float:
    """Return a number that lies between 0 and 1; raise for anything else."""
    if not is_real(value) or not 0 < float(value) < 1:
        raise OptionError(f"{name}={value!r}", where=asker, expected="a number between 0 and 1")
    return float(value)


def check_confidence(asker: str, value: object) -> float:
    """Return the level of an interval; raise for what is no number between 0 and 1."""
    if not is_real(value) or not 0 < float(value) < 1:
        expected = "a number between 0 and 1, .95 for 95 % intervals"
        raise OptionError(f"confidence={value!r}", where=asker, expected=expected)
    return float(value)


def check_least(asker: str, name: str, value: object, *, least: float = 0.0) -> float:
    """Return a finite number of at least so much; raise for anything else."""
    if not is_real(value) or not least <= float(value) < math.inf:
        raise OptionError(f"{name}={value!r}", where=asker, expected=f"a finite number, at least {least:g}")
    return float(value)


def check_names(asker: str, given: Mapping[str, object]) -> None:
    """Raise for arguments that are to name something, such as a column, and are neither text nor None."""
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise OptionError(f"{name}={value!r}", where=asker, expected="a text, one name")


def check_jobs(asker: str, n_jobs: object) -> None:
    """Raise for what is no number of processes."""
    if not is_whole(n_jobs) or n_jobs == 0:
        expected = "the number of processes, or -1 for one per core"
        raise OptionError(f"n_jobs={n_jobs!r}", where=asker, expected=expected)


def as_generator(rng: object, asker: str) -> np.random.Generator:
    """Return the generator that ``rng=`` names: itself, a new one from an int, or one of fresh entropy for None.

    Raises
    ------
    OptionError
        For anything else.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng()
    if is_whole(rng) and rng >= 0:
        return np.random.default_rng(int(rng))
    found = f"rng={rng}" if is_whole(rng) else f"rng is of type {type(rng).__name__}"
    raise OptionError(found, where=asker, expected="an int of at least 0 or a numpy.random.Generator")
