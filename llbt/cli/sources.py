"""The source and the docstrings of the package, read without importing it."""

from __future__ import annotations

import inspect
from pathlib import Path


def source(module: str, name: str) -> str:
    """Return the source of a function or class at the top of a module, as ``"inference.drift"`` and ``"drift"``."""
    path = Path(__file__).parents[1].joinpath(*module.split(".")).with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    begun = text.index(next(word for word in (f"\ndef {name}(", f"\nclass {name}") if word in text))
    return text[begun + 1 :].partition("\n\n\n")[0]


def docstring(text: str) -> str:
    """Return the docstring in a source, worded for a command: "Print" in place of "Return"."""
    doc = inspect.cleandoc(text.partition(':\n    """')[2].partition('"""')[0])
    return f"Print {doc.removeprefix('Return ')}" if doc.startswith("Return ") else doc
