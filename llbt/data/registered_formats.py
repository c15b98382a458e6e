"""Formats that other packages register, under the entry points of the group ``llbt.formats``.

They are records like llbt's own, data and no code: only llbt's own code reads a file, whoever described its format. A
package is imported when one of its formats is named. All are imported when formats are listed, and when none of llbt's
own formats explains the fields of a file. So no file chooses among packages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ..errors import LLBTWarning, OptionError, warn_user
from .formats import JudgmentFormat

GROUP = "llbt.formats"


@cache
def registered() -> dict[str, EntryPoint]:
    """Return the entry points by name, without importing anything; the first of two with one name."""
    by_name: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        by_name.setdefault(point.name, point)
    return by_name


def load(name: str) -> JudgmentFormat:
    """Return a registered format.

    Raises
    ------
    OptionError
        With the name of the package, for a format that cannot be imported or has another name.
    """
    point = registered()[name]
    package = point.dist.name if point.dist is not None else point.module
    where = f"format {name!r} of the package {package!r} ({point.value})"
    try:
        loaded = point.load()
    except Exception as error:  # whatever a stranger's module raises
        fault = f"{type(error).__name__}: {error}".rstrip(": ")
        raise OptionError(
            f"cannot be imported: {fault}", f"Mend or uninstall {package!r}, or name another format.", where=where
        ) from error
    if type(loaded) is not JudgmentFormat or loaded.name != name:
        shown = f"the format {loaded.name!r}" if type(loaded) is JudgmentFormat else f"of type {type(loaded).__name__}"
        raise OptionError(f"is {shown}", where=where, expected=f"a JudgmentFormat whose name is {name!r}")
    return loaded


def loaded(taken: Collection[str]) -> Iterator[JudgmentFormat]:
    """Return every registered format whose name is not taken; one that is broken is left out with a warning."""
    for name in (name for name in registered() if name not in taken):
        try:
            yield load(name)
        except OptionError as error:
            warn_user(f"{error} It is left out.", LLBTWarning)
