"""What does not fit into memory is refused before it is made: one error that names size and remedy."""

from __future__ import annotations

import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.base import budgets
from llbt.inference import simultaneous as pairs_room

GIB = 2**30
MANY = 100_000
MEMORY = budgets.memory  # what the fixture replaces


@cache
def ring(size: int) -> llbt.Comparisons:
    """Each object against the next, so that every estimate exists."""
    k = np.arange(size)
    return llbt.from_counts(pd.DataFrame({"object_i": k, "object_j": (k + 1) % size, "wins_i": 2, "wins_j": 1}))


@cache
def measured() -> llbt.Comparisons:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"object_i": list("ABC") * 40, "object_j": list("BCA") * 40, "wins_i": 1, "wins_j": 1, "ties": 1}
    )
    return llbt.from_counts(
        frame.assign(x=rng.normal(size=120), y=rng.normal(size=120)), covariates=["x", "y"], numeric=["x", "y"]
    )


@pytest.fixture(autouse=True)
def eight_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "memory", lambda: 8.0 * GIB)
    monkeypatch.setattr(budgets, "SMALL", 0)  # the tables here are small, and so is the memory that some tests leave


TOO_LARGE: dict[str, tuple[Callable[[], Any], str]] = {
    "covariance": (
        lambda: llbt.LLBT.from_formula("object", ring(MANY)).fit().cov_params(),
        "covariance of 99,999 parameters takes 372.5 GiB.*8.0 GiB",
    ),
    "sum coding": (lambda: llbt.LLBT.from_formula("C(object, Sum)", ring(MANY)), "100,000 parameters"),
    "pairs": (lambda: llbt.fit("object + tie:pair", llbt.from_counts(ring(MANY).to_frame().assign(ties=1))), "100,000"),
    "splines of numbers": (
        lambda: llbt.fit("object:bs(x, df=100):bs(y, df=100)", measured()),
        "covariance of 30,000 parameters.*Take fewer",
    ),
    "splines of ties": (lambda: llbt.fit("object + tie:bs(x, 100):cr(y, df=100):pair", measured()), "30,000"),
    "win matrix": (lambda: ring(MANY).win_matrix(), "matrix of wins of 100,000 objects takes 74.5 GiB.*select"),
    "order": (lambda: llbt.classical.feedback_order(ring(MANY)), "100,000 objects"),
}


@pytest.mark.parametrize(("call", "said"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_arrays_beyond_memory_are_refused_before_they_are_made(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(llbt.LLBTError, match=said):
        call()


SCORES = pd.DataFrame(np.random.default_rng(1).normal(size=(3, 200))).add_prefix("s")
PAIRED: dict[str, Callable[[], Any]] = {
    "shares": lambda: llbt.classical.head_to_head(ring(200)).matrix(),
    "intransitivity": lambda: llbt.intransitivity(ring(200)),
    "scores": lambda: llbt.scores.pairwise(SCORES),
    "judgments of scores": lambda: llbt.from_scores(SCORES),
    "aggregation": lambda: llbt.scores.aggregate(SCORES, method="bt"),
}


@pytest.mark.parametrize("call", PAIRED.values(), ids=PAIRED)
def test_so_are_tables_of_all_pairs(call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "memory", lambda: 8 * 200.0**2 - 1)
    with pytest.raises(llbt.LLBTError, match=r"of 200 objects takes .* Take fewer objects"):
        call()


@pytest.mark.parametrize("asked", [llbt.pairwise, llbt.leaderboard])
def test_all_pairs_of_a_fit_are_refused_and_some_are_not(
    asked: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    res = llbt.fit("object", ring(200))
    monkeypatch.setattr(budgets, "memory", lambda: pairs_room._MATRICES * 8 * 200.0**2 - 1)
    with pytest.raises(
        llbt.errors.DesignError, match=r"all pairs of 200 objects takes .* Name some: pairwise\(res, obj"
    ):
        asked(res)
    assert len(llbt.pairwise(res, objects=[0, 1, 2]).to_frame()) == 3
    monkeypatch.setattr(budgets, "memory", lambda: pairs_room._MATRICES * 8 * 200.0**2)
    asked(res)


@pytest.mark.slow
def test_the_pairs_of_a_fit_take_what_the_budget_says() -> None:
    table = ring(600)
    llbt.pairwise(llbt.fit("object", ring(4)))  # modules that are imported are not part of it
    tracemalloc.start()
    try:
        llbt.pairwise(llbt.fit("object", table))
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 8 * 600.0**2 * 10 < taken < 8 * 600.0**2 * pairs_room._MATRICES


def test_what_fits_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is on what is allocated: the covariance of 119 parameters takes 5 matrices of 113 kB."""
    monkeypatch.setattr(budgets, "memory", lambda: 5 * 8 * 119.0**2)
    assert np.isfinite(llbt.fit("object", ring(120), method="eliminate").bse).all()
    monkeypatch.setattr(budgets, "memory", lambda: 5 * 8 * 119.0**2 - 1)
    with pytest.raises(llbt.errors.DesignError, match="119 parameters"):
        _ = llbt.fit("object", ring(120), method="eliminate").bse


def test_small_arrays_are_made_without_a_question_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "memory", lambda: 0.0)
    monkeypatch.setattr(budgets, "SMALL", 800)
    budgets.refuse_square("the matrix", 10)
    with pytest.raises(llbt.errors.DesignError, match="the matrix of 11 objects takes"):
        budgets.refuse_square("the matrix", 11)


@pytest.mark.parametrize("door", ["pandas", "duckdb"])
def test_an_audit_of_too_many_rows_says_so(door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"object_i": ["A", "B"] * 50, "object_j": ["B", "A"] * 50, "outcome": ["i", "j"] * 50})
    data = duckdb.from_df(frame) if door == "duckdb" else frame
    monkeypatch.setattr(budgets, "memory", lambda: 39_999.0)
    with pytest.raises(llbt.errors.JudgmentError, match=r"an audit of 100 rows takes .* GiB.* Audit a part of them"):
        llbt.audit(data)
    monkeypatch.setattr(budgets, "memory", lambda: 40_000.0)
    assert llbt.audit(data).findings


UNDER_LIMIT = """
import numpy as np, pandas as pd, llbt
k = np.arange(15_000)
c = llbt.from_counts(pd.DataFrame({"object_i": k, "object_j": (k + 1) % 15_000, "wins_i": 2, "wins_j": 1}))
try:
    llbt.LLBT.from_formula("object", c).fit().cov_params()
except llbt.errors.DesignError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="ulimit is of Unix")
def test_the_limit_of_the_process_counts() -> None:
    command = ["bash", "-c", 'ulimit -v 4000000 && exec "$0" -c "$1"', sys.executable, UNDER_LIMIT]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stderr
    # of the limit, 3.8 GiB, what the process does not have yet
    assert re.search(r"covariance of 14,999 parameters takes 8.4 GiB, and there are [0-3]\.\d GiB", found.stdout)


@pytest.mark.parametrize(
    ("line", "folder", "names"),
    [
        ("0::/jobs/mine", "jobs", ("memory.max", "memory.current", "inactive_file")),
        (
            "4:cpu,memory:/jobs/mine",
            "memory/jobs",
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
)
def test_memory_is_what_the_group_of_the_process_leaves(line, folder, names, tmp_path, monkeypatch):
    """Files as the kernel writes them, of either version: the group above has the limit, less what is used for good."""
    limit, used, pages = names
    monkeypatch.setattr(budgets, "memory", MEMORY)
    monkeypatch.setattr(budgets, "_PROC", tmp_path)
    monkeypatch.setattr(budgets, "_CGROUPS", tmp_path / "groups")
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "cgroup").write_text(f"12:pids:/x\n{line}\n", encoding="utf-8")
    (tmp_path / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 4194304 kB\n", encoding="utf-8")
    group = tmp_path / "groups" / folder
    (group / "mine").mkdir(parents=True)
    (group / "mine" / limit).write_text("max\n", encoding="utf-8")
    assert budgets.memory() == 4 * GIB
    (group / limit).write_text(f"{3 * GIB}\n", encoding="utf-8")
    (group / used).write_text(f"{2 * GIB}\n", encoding="utf-8")
    (group / "memory.stat").write_text(f"anon 5\n{pages} {GIB // 2}\n", encoding="utf-8")
    assert budgets.memory() == 1.5 * GIB


@pytest.mark.slow
def test_a_limit_of_the_process_is_the_budget():
    """Under ulimit -v of 4 GiB: a matrix of 24,000 objects (4.3 GiB) is refused with its figure, and DuckDB is told."""
    code = (
        "from llbt.base import budgets; from llbt.data.duckdb_files import connection_to\n"
        "assert budgets.memory() < 4 * 2**30, budgets.memory()\n"
        "limit = connection_to([]).sql(\"SELECT current_setting('memory_limit')\").fetchall()[0][0]\n"
        "assert float(limit.split()[0]) <= 3.2 or 'MiB' in limit, limit\n"
        "try: budgets.refuse_square('the matrix', 24_000)\n"
        "except ValueError as error: print(error)\n"
    )
    line = ["bash", "-c", 'ulimit -v 4194304; exec "$0" -c "$1"', sys.executable, code]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert "the matrix of 24,000 objects takes 4.3 GiB" in done.stdout, done.stderr
