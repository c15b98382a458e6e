"""Optional packages: the error that states what they are for and how to install them."""

from __future__ import annotations

import importlib.util

from ..errors import OptionError


def is_installed(package: str) -> bool:
    """Whether a package can be imported, without importing it."""
    return importlib.util.find_spec(package) is not None


def need(package: str, what: str, install: str) -> None:
    """Raise if a package that a function needs is not installed.

    Raises
    ------
    OptionError
        It states the command that installs the package.
    """
    if not is_installed(package):
        raise OptionError(f"{what} need the package {package}", f"Install it: pip install {install}.")
