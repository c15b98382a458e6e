"""What pytest does before it runs examples of docstrings."""

import pytest

import llbt


def pytest_configure(config: pytest.Config) -> None:
    """Import every public name first: a module that is collected alone would hide its function: `llbt.plot.worth`."""
    if config.getoption("doctestmodules"):
        for name in llbt.__all__:
            getattr(llbt, name)
