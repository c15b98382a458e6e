"""Fixtures and rules for all tests."""

import gc
import json
import os
import sys

# Small matrices on two workers: more threads only wait for each other. Has to be set before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import settings
from support.folders import REFERENCE

# Every run tries the same examples: a failure is the change's doing, and a slow machine is no failure.
settings.register_profile("llbt", deadline=None, derandomize=True)
settings.load_profile("llbt")

# No test needs a screen; has to be set before matplotlib is imported.
os.environ.setdefault("MPLBACKEND", "agg")

# What Python and pytest compile is kept, also where the environment forbids it. Else every process that a test starts
# compiles llbt again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Modules and 11,000 collected tests stay to the end. To search for garbage among them takes a fifth of the time of
# collecting, so there is no search before pytest_collection_finish.
gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of data that does not ship where nothing says where it is."""
    if os.environ.get("LLBT_SHARED"):
        return
    left_out = [item for item in items if item.get_closest_marker("shared")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Search for garbage again, but only among what tests make."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the data that does not ship; for tests marked ``shared``."""
    folder = Path(os.environ["LLBT_SHARED"])
    assert folder.is_dir(), f"LLBT_SHARED names no folder: {folder}"
    return folder


@pytest.fixture
def unpictured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the pictures out of reports that are about other things: they take most of the time."""
    monkeypatch.setattr("llbt.report.page_parts.is_installed", lambda package: False)


def read_reference(name: str) -> Any:
    """Read a reference file: ``"cems_llbt_undec"`` as a dict, ``"bench_agg_100.csv.gz"`` as a frame."""
    if name.endswith(".csv.gz"):
        return pd.read_csv(REFERENCE / name)
    text = (REFERENCE / f"{name}.json").read_text(encoding="utf-8")
    return _na_as_nan(json.loads(text))


def _na_as_nan(value: Any) -> Any:
    """Replace R's NA, written as a string, by NaN."""
    if isinstance(value, dict):
        return {key: _na_as_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_na_as_nan(item) for item in value]
    return float("nan") if value == "NA" else value


@pytest.fixture(scope="session")
def reference() -> Callable[[str], Any]:
    """Loader of the reference files (``tests/reference/README.md``)."""
    return read_reference
