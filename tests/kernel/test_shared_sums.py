"""Sums over blocks of groups: the same with one thread and with several."""

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.kernel import marginal, shared_sums


def test_blocks_come_back_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_sums, "cores", lambda: 3)
    assert list(shared_sums.in_threads(lambda k: k * k, range(50))) == [k * k for k in range(50)]


def test_a_thread_treats_overflows_as_its_caller_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_sums, "cores", lambda: 2)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        list(shared_sums.in_threads(lambda k: np.exp(np.array([k])), [1.0, 1000.0]))


def test_cores_are_at_most_what_the_environment_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert shared_sums.cores() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    assert shared_sums.cores() == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert shared_sums.cores() >= 1


def test_estimates_are_the_same_with_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    rows = [(f"J{k}", i, j, float(rng.normal(0, 1))) for k in range(15) for i, j in ("AB", "AC", "BC")]
    frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "lead"])
    frame["wins_i"] = rng.binomial(4, 1 / (1 + np.exp(-frame.pop("lead"))))
    c = llbt.from_counts(frame.assign(wins_j=4 - frame["wins_i"]), clusters="judge")
    monkeypatch.setattr(marginal, "_NUMBERS", 10.0)
    found = []
    for number in (1, 2, 5):
        monkeypatch.setattr(shared_sums, "cores", lambda number=number: number)
        res = llbt.fit("object + (object | judge)", c)
        found.append([res.llf, *res.params, *res.scales])
    assert found[0] == found[1] == found[2]
