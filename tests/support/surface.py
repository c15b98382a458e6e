"""Every name that a user may type. `python -m support.surface`, in tests, adds new names to surface.csv."""

from __future__ import annotations

import csv
import types
from typing import Any

import llbt

from .folders import TESTS

TABLE = TESTS / "surface.csv"

NAMESPACES: dict[str, types.ModuleType] = {
    name: value for name in llbt.__all__ if isinstance(value := getattr(llbt, name), types.ModuleType)
}


def public() -> dict[str, Any]:
    """Every public function, class and constant under its name below ``llbt``: ``"fit"``, ``"plot.worth"``."""
    found = {name: getattr(llbt, name) for name in llbt.__all__ if name not in NAMESPACES}
    for space, module in NAMESPACES.items():
        found |= {f"{space}.{name}": getattr(module, name) for name in module.__all__}
    return found


def rows() -> list[tuple[str, str]]:
    """Return the table: each name before the rooms (or none), and where it is now."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [(row["before"], row["now"]) for row in csv.DictReader(file)]


def add_new_names() -> None:
    """Append public names that the table lacks; a name that is lost is taken out by hand, for it breaks programs."""
    with TABLE.open("a", encoding="utf-8", newline="") as file:
        file.writelines(f",{name}\n" for name in sorted(set(public()) - {now for _, now in rows()}))


if __name__ == "__main__":
    add_new_names()
