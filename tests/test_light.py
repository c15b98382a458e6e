"""llbt without its extras, and how much a core installation is."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.folders import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = ("matplotlib", "trueskill", "duckdb", "polars", "pyarrow", "dask", "pyspark")
BLOCK = """
import importlib.util, multiprocessing.process, sys, threading, warnings
warnings.simplefilter("ignore")
blocked = {blocked!r}
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name.partition(".")[0] in blocked else found(name, *more)
def refuse(*_): raise RuntimeError("a thread or a process")
threading.Thread.start = multiprocessing.process.BaseProcess.start = refuse
import llbt
c = llbt.load_dataset("dras_table1")
res = llbt.fit("object * judge + tie", c)
"""


def run(code: str, cwd: Path, *blocked: str) -> str:
    text = BLOCK.format(blocked=set(blocked or OPTIONAL)) + code
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("package", [None, "matplotlib"])
def test_fits_prints_audits_and_ranks_without_an_extra_and_without_threads(tmp_path: Path, package: str | None) -> None:
    code = """
print(res)
print(llbt.leaderboard(llbt.fit("object + tie", c.pool())))
print(llbt.audit(c))
print(llbt.bootstrap(llbt.fit("object + tie", c.pool()), n=20, rng=1))
"""
    out = run(code, tmp_path, *([package] if package else []))
    assert "Log-linear Bradley-Terry model" in out
    assert "Leaderboard" in out


@pytest.mark.slow
def test_a_report_without_matplotlib_has_no_pictures_and_says_so(tmp_path: Path) -> None:
    code = """
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    llbt.write_report(c, "report.html", formula="object + tie")
print(*(w.message for w in said))
"""
    out = run(code, tmp_path, "matplotlib")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "pip install 'llbt[plot]'" in out
    assert "Pictures are left out" in page
    assert "<figure" not in page


@pytest.mark.slow
def test_every_picture_names_the_extra(tmp_path: Path) -> None:
    code = """
plain = llbt.fit("object + tie", c.pool())
calls = {"worth": plain, "intervals": plain, "network": plain, "outcomes": c, "anova": llbt.anova(res)}
for name, what in calls.items():
    try:
        getattr(llbt.plot, name)(what)
    except llbt.errors.OptionError as error:
        assert "pip install 'llbt[plot]'" in str(error), error
        print(name)
"""
    assert len(run(code, tmp_path, "matplotlib").split()) == 5


@pytest.mark.slow
def test_trueskill_is_asked_for_where_it_is_needed(tmp_path: Path) -> None:
    code = """
import numpy as np, pandas as pd
scores = pd.DataFrame(np.random.default_rng(1).normal(size=(20, 3)), columns=list("ABC"))
print(llbt.scores.aggregate(scores, method="elo", rng=1))
try:
    llbt.scores.aggregate(scores, method="trueskill", rng=1)
except llbt.errors.OptionError as error:
    print(error)
"""
    out = run(code, tmp_path, "trueskill")
    assert "ratings by TrueSkill need the package trueskill" in out


def core() -> set[str]:
    """Return the distributions that a core installation brings, llbt itself left out."""
    found: set[str] = set()
    todo = list(PROJECT["dependencies"])
    while todo:
        need = Requirement(todo.pop())
        name = re.sub(r"[-_.]+", "-", need.name).lower()
        if name not in found and (need.marker is None or need.marker.evaluate({"extra": ""})):
            found.add(name)
            todo += importlib.metadata.requires(name) or []
    return found


def test_a_core_installation_is_small() -> None:
    """Limits of today, so that a new package is noticed: 394 MB, 356 of them numpy, scipy, pandas and statsmodels.

    pip compiles 115 MB of that (November 2026); the limits are for an environment that it compiled, or did not.
    """
    names = core()
    paths = [Path(str(file.locate())) for name in names for file in importlib.metadata.files(name) or []]
    sizes = [(path.suffix == ".pyc", path.stat().st_size / 1e6) for path in paths if path.is_file()]
    compiled, own = (sum(size for pyc, size in sizes if pyc is wanted) for wanted in (True, False))
    assert own <= 290, own
    assert own + compiled <= 400, compiled
    assert len(names) <= 30, sorted(names)
    assert not {"matplotlib", "pyarrow", "duckdb"} & names
