"""Calls on very large inputs, each made in a process with little memory: python limited.py NAME GIB FOLDER.

Prints what came of it: an answer, a refusal of the package, or that it will take long.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import llbt

HUGE = 10**15


def table(size: int) -> llbt.Comparisons:
    """A ring of objects, and ten pairs more of each."""
    rng = np.random.default_rng(size)
    i = np.concatenate([np.arange(size), rng.integers(0, size, 10 * size)])
    j = np.concatenate([(np.arange(size) + 1) % size, rng.integers(0, size, 10 * size)])
    i, j = i[i != j], j[i != j]
    wins, losses = rng.integers(1, 4, (2, len(i)))
    return llbt.from_counts(pd.DataFrame({"object_i": i, "object_j": j, "wins_i": wins, "wins_j": losses}))


def by_judge(judges: int) -> llbt.Comparisons:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"object_i": list("ABA") * judges, "object_j": list("BCC") * judges})
    frame["wins_i"], frame["wins_j"] = rng.integers(1, 5, (2, len(frame)))
    return llbt.from_counts(frame.assign(judge=np.repeat(np.arange(judges), 3)), covariates="judge")


def two_rankings(size: int) -> llbt.Rankings:
    names = [f"o{k}" for k in range(size)]
    ranks = np.array([np.arange(1, size + 1), np.arange(size, 0, -1)])
    return llbt.from_rankings(pd.DataFrame(ranks, columns=names), objects=names)


def with_numbers(terms: int) -> llbt.LLBTResults:
    rng = np.random.default_rng(0)
    names = [f"x{k}" for k in range(terms)]
    frame = pd.DataFrame(rng.normal(size=(2000, terms)), columns=names).assign(object_i="A", object_j="B")
    frame["wins_i"], frame["wins_j"] = rng.integers(1, 5, (2, 2000))
    found = llbt.fit("object + " + " + ".join(f"object:{x}" for x in names), llbt.from_counts(frame, covariates=names))
    assert isinstance(found, llbt.LLBTResults)
    return found


def metrics(number: int) -> llbt.metrics.MetricScores:
    rng = np.random.default_rng(0)
    scores = {f"m{k}": rng.normal(size=(10, 50)) for k in range(number)}
    return llbt.metrics.MetricScores.from_matrices(scores, rng.normal(size=(10, 50)))


def scores(systems: int) -> pd.DataFrame:
    values = np.random.default_rng(1).normal(size=(50, systems))
    return pd.DataFrame(values, columns=[f"s{k}" for k in range(systems)])


def few() -> llbt.LLBTResults:
    found = llbt.fit("object", llbt.load_dataset("citations"))
    assert isinstance(found, llbt.LLBTResults)
    return found


def judgments(folder: Path, number: int) -> Path:
    """A csv file of so many judgments of 100 objects, made in parts where it is not there."""
    path = folder / "judgments.csv"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    names, words = np.array([f"m{k:02d}" for k in range(100)]), np.array(["i", "tie", "j"])
    for start in range(0, number, 10**6):
        i = rng.integers(0, 100, 10**6)
        columns = {"object_i": names[i], "object_j": names[(i + rng.integers(1, 100, 10**6)) % 100]}
        part = pd.DataFrame({**columns, "outcome": words[rng.integers(0, 3, 10**6)]})
        part.to_csv(path, mode="a", index=False, header=start == 0)
    return path


def wide(folder: Path, columns: int) -> Path:
    path = folder / "wide.csv"
    names = ",".join(f"c{k}" for k in range(columns))
    path.write_text(f"object_i,object_j,outcome,{names}\n" + f"A,B,i,{','.join('1' * columns)}\n" * 3)
    return path


X, Y, Z = np.random.default_rng(2).normal(size=(3, 6, 8))
CALLS: Mapping[str, tuple[float, Callable[[Path], Any]]] = {  # name → GiB that it may take, and the call
    "report": (4, lambda folder: llbt.write_report(table(10**4), folder / "report.html")),
    "pairs": (4, lambda folder: llbt.pairwise(llbt.fit("object", table(10**4)))),
    "board": (4, lambda folder: llbt.leaderboard(llbt.fit("object", table(4000)))),
    "board of scores": (4, lambda folder: llbt.scores.leaderboard(scores(5000))),
    "judges": (4, lambda folder: llbt.fit("object * judge", by_judge(10**4))),
    "network": (4, lambda folder: llbt.plot.network(llbt.fit("object", table(2000)))),
    "probabilities": (4, lambda folder: llbt.plot.probabilities(llbt.fit("object", table(2000)))),
    "rankings": (4, lambda folder: llbt.fit("object", two_rankings(10_000))),
    "pairs of rankings": (4, lambda folder: two_rankings(10_000).to_comparisons()),
    "file": (2, lambda folder: llbt.from_judgments(judgments(folder, 10**7))),
    "columns": (4, lambda folder: llbt.from_judgments(wide(folder, 10**5))),
    "terms": (4, lambda folder: llbt.drop1(with_numbers(300))),
    "metrics": (4, lambda folder: llbt.metrics.compare_all(metrics(1000), rng=1)),
    "bootstrap": (4, lambda folder: llbt.bootstrap(few(), n=10**9, rng=1)),
    "statistic": (4, lambda folder: llbt.bootstrap(few(), lambda res: res.llf, n=5 * 10**6, rng=1)),
}
RESAMPLERS: Mapping[str, Callable[[int], Any]] = {
    "bootstrap": lambda n: llbt.bootstrap(few(), n=n, rng=1),
    "goodness_of_fit": lambda n: llbt.goodness_of_fit(few(), n=n, rng=1),
    "simulate": lambda n: llbt.simulate(few(), n=n, rng=1),
    "power": lambda n: llbt.power(llbt.Scenario(), judgments=[20], n=n, rng=1),
    "metrics.interval": lambda n: llbt.metrics.interval(X, Z, n=n, rng=1),
    "metrics.compare": lambda n: llbt.metrics.compare(X, Y, Z, n=n, rng=1),
    "metrics.soft_pairwise_accuracy": lambda n: llbt.metrics.soft_pairwise_accuracy(X, Z, n=n, rng=1),
    "metrics.power": lambda n: llbt.metrics.power(X, Z, methods=["boot"], degraded=[0.5], n=n, n_trials=2, rng=1),
    "metrics.coverage": lambda n: llbt.metrics.coverage(X, Z, methods=["boot-both"], n=n, n_trials=2, rng=1),
    "scores.aggregate": lambda n: llbt.scores.aggregate(scores(3), n=n, rng=1),
    "scores.leaderboard": lambda n: llbt.scores.leaderboard(scores(3), test="permutation", n=n, rng=1),
}


def outcome(call: Callable[[], Any]) -> str:
    """Return what comes of a call."""
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", llbt.errors.SlowWarning)
    try:
        return f"answer: {type(call()).__name__}"
    except llbt.LLBTError as error:
        return f"refused: {error}"
    except llbt.errors.SlowWarning as warning:
        return f"told: {warning}"


if __name__ == "__main__":
    import resource

    name, folder = sys.argv[1], Path(sys.argv[2])
    gib, made = CALLS[name]
    resource.setrlimit(resource.RLIMIT_AS, (int(gib * 2**30),) * 2)
    print(outcome(lambda: made(folder)))
