"""What does not fit into memory is refused before it is made: one error that names size and remedy."""

from __future__ import annotations

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
from llbt import budgets

GIB = 2**30
MANY = 100_000


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
    monkeypatch.setattr(budgets, "memory", lambda: 14 * 8 * 200.0**2 - 1)
    with pytest.raises(
        llbt.errors.DesignError, match=r"all pairs of 200 objects takes .* Name some: pairwise\(res, obj"
    ):
        asked(res)
    assert len(llbt.pairwise(res, objects=[0, 1, 2]).to_frame()) == 3
    monkeypatch.setattr(budgets, "memory", lambda: 14 * 8 * 200.0**2)
    asked(res)


def test_the_pairs_of_a_fit_take_what_the_budget_says() -> None:
    tracemalloc.start()
    try:
        llbt.pairwise(llbt.fit("object", ring(600)))
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 8 * 600.0**2 * 10 < taken < 8 * 600.0**2 * 20


def test_what_fits_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is on what is allocated: the covariance of 119 parameters takes 5 matrices of 113 kB."""
    monkeypatch.setattr(budgets, "memory", lambda: 5 * 8 * 119.0**2)
    assert np.isfinite(llbt.fit("object", ring(120), method="eliminate").bse).all()
    monkeypatch.setattr(budgets, "memory", lambda: 5 * 8 * 119.0**2 - 1)
    with pytest.raises(llbt.errors.DesignError, match="119 parameters"):
        _ = llbt.fit("object", ring(120), method="eliminate").bse


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
    assert "covariance of 14,999 parameters takes 8.4 GiB, and there are 3.8 GiB" in found.stdout
