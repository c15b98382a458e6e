"""Packages that llbt works without: an error that says what they are for and how to install them."""

from __future__ import annotations

import importlib.util

from ..errors import OptionError


def is_installed(package: str) -> bool:
    """Whether a package can be imported; it is not imported."""
    return importlib.util.find_spec(package) is not None


def need(package: str, what: str, install: str) -> None:
    """Raise where a package that something needs is not installed.

    Raises
    ------
    OptionError
        With the command that installs it.
    """
    if not is_installed(package):
        raise OptionError(f"{what} need the package {package}", f"Install it: pip install {install}.")
