"""What a release is made of says the same everywhere: version, requirements, citation, and what is packed."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.folders import REPOSITORY

import llbt

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def read(name: str) -> Any:
    return yaml.safe_load((REPOSITORY / name).read_text(encoding="utf-8"))


def test_the_version_is_one() -> None:
    recipe, cited = read("conda/recipe.yaml"), read("CITATION.cff")
    versions = {llbt.__version__, PROJECT["project"]["version"], recipe["package"]["version"], str(cited["version"])}
    assert len(versions) == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+", llbt.__version__)


def test_conda_needs_what_pyproject_says() -> None:
    recipe = read("conda/recipe.yaml")
    wanted = [re.fullmatch(r"([\w-]+)(>=[\w.]+)(; .*)?", need) for need in PROJECT["project"]["dependencies"]]
    assert all(wanted)
    ours = {f"{need[1]} {need[2]}" for need in wanted if need}
    assert set(recipe["requirements"]["run"]) == {f"python {PROJECT['project']['requires-python']}", *ours}
    assert PROJECT["build-system"]["requires"][0].replace(">=", " >=") in recipe["requirements"]["host"]
    assert recipe["about"]["license"] == PROJECT["project"]["license"]
    assert recipe["about"]["summary"] == PROJECT["project"]["description"]
    scripts = {f"{name} = {place}" for name, place in PROJECT["project"]["scripts"].items()}
    assert set(recipe["build"]["python"]["entry_points"]) == scripts


def test_the_lowest_and_the_newest_versions_run_every_public_function() -> None:
    """At matplotlib 3.9 every plot died and the reference tests passed."""
    run = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    tests = re.search(r"^OTHER_VERSIONS=\((.*?)\)$", run, re.MULTILINE | re.DOTALL)
    assert tests is not None
    assert "tests/base/test_arguments.py::test_the_calls_have_answers" in tests[1].split()


def test_the_builder_of_conda_packages_takes_the_recipe() -> None:
    builder = pytest.importorskip("rattler_build", reason="the extra release has it")
    (variant,) = builder.Stage0Recipe.from_file(str(REPOSITORY / "conda" / "recipe.yaml")).render(
        builder.VariantConfig()
    )
    rendered = variant.recipe
    rendered = rendered() if callable(rendered) else rendered
    assert (rendered.package.name, rendered.package.version) == ("llbt", llbt.__version__)
    assert sorted(rendered.requirements.run) == sorted(read("conda/recipe.yaml")["requirements"]["run"])


def test_the_citation_has_what_the_format_requires() -> None:
    """https://github.com/citation-file-format/citation-file-format, schema 1.2.0: required keys and their types."""
    cited = read("CITATION.cff")
    assert set(cited) >= {"cff-version", "message", "title", "authors", "version", "date-released", "license", "type"}
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] in ("software", "dataset")
    assert all(isinstance(cited[key], str) and cited[key] for key in ("message", "title", "license"))
    assert cited["license"] == PROJECT["project"]["license"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(cited["date-released"]))
    assert cited["authors"]
    assert all({"name"} <= set(author) or {"family-names", "given-names"} <= set(author) for author in cited["authors"])
    for reference in cited["references"]:
        assert set(reference) >= {"type", "title", "authors", "year", "journal"}
        assert all({"family-names", "given-names"} <= set(author) for author in reference["authors"])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    line = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(line, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_packages_hold_what_they_should(built: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    packed = set(zipfile.ZipFile(wheel).namelist())
    here = {
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / "llbt").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in packed if name.startswith("llbt/")} == here
    assert "llbt/py.typed" in packed
    assert not {name.partition("/")[0] for name in packed} - {"llbt", f"llbt-{llbt.__version__}.dist-info"}
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= here | {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "tests/surface.csv",
    }
    assert not [name for name in names if re.match(r"\.(?!gitignore)|benchmarks/|vignettes/.*\.ipynb|paper/", name)]
    assert sdist.stat().st_size < 3_000_000


@pytest.mark.slow
def test_package_indexes_would_take_them(built: Path) -> None:
    line = [sys.executable, "-m", "twine", "check", "--strict", *map(str, sorted(built.iterdir()))]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2
