"""The public surface: every name that a user may type, and what it stands for."""

from __future__ import annotations

import types
from typing import Any

import llbt

NAMESPACES: dict[str, types.ModuleType] = {
    name: value for name in llbt.__all__ if isinstance(value := getattr(llbt, name), types.ModuleType)
}


def public() -> dict[str, Any]:
    """Every public function, class and constant under its name below ``llbt``: ``"fit"``, ``"plot.worth"``."""
    found = {name: getattr(llbt, name) for name in llbt.__all__ if name not in NAMESPACES}
    for space, module in NAMESPACES.items():
        found |= {f"{space}.{name}": getattr(module, name) for name in module.__all__}
    return found
