"""The versions that a report of a problem has."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import tomllib

import pytest
from support.folders import REPOSITORY

import llbt

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_USERS = ("dask", "duckdb", "parquet", "plot", "polars", "spark")


def test_versions_are_those_that_packages_say_themselves() -> None:
    frame = llbt.show_versions().to_frame().set_index("package")
    for name in ("llbt", "numpy", "scipy", "pandas", "statsmodels", "matplotlib"):
        assert frame.loc[name, "version"] == importlib.import_module(name).__version__


def test_the_packages_are_those_of_pyproject() -> None:
    frame = llbt.show_versions().to_frame()
    extras = PROJECT["optional-dependencies"]
    needs = [need for extra in FOR_USERS for need in extras[extra]]
    named = {need.partition(">")[0].partition("[")[0] for need in [*PROJECT["dependencies"], *needs]}
    assert set(frame["package"]) == {"llbt", *named}
    assert set(frame["part"]) <= {"core", *FOR_USERS}


def test_a_package_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    version = importlib.metadata.version

    def without(name: str) -> str:
        if name == "polars":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", without)
    found = llbt.show_versions()
    assert found.to_frame().set_index("package").loc["polars", "version"] == "not installed"
    assert platform.python_version() in str(found)


def test_of_a_folder_on_the_path_the_needs_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", lost)
    assert llbt.show_versions().to_frame()["package"].tolist() == ["llbt"]
    assert "is not installed" in str(llbt.show_versions())
