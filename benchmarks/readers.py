"""The cost of reading files of judgments, scores and rankings, for llbt and for pandas that reads and counts them.

Each reader runs in fresh processes, in turns with its peer, which reads the same file and finds the same totals but
checks nothing. The ratio of a row is of this run alone.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .running import ROOT, environment
from .worker import settle, status, timed

FULL, TINY = 1_000_000, 2_000  # judgments; a tenth as many lists and items of scores
JUDGMENTS = ["object_i", "object_j", "outcome"]
SYSTEMS = [f"system {k}" for k in range(10)]
RANKED = [f"object {k}" for k in range(6)]

Totals = list[float]


@dataclass(frozen=True)
class Reader:
    """A file and its readers, whose totals must be equal."""

    file: str
    text: str
    llbt: Callable[[Path], Totals]
    peer_text: str
    peer: Callable[[Path], Totals]


@dataclass(frozen=True)
class Reading:
    """Median seconds and megabytes of both, and whether their totals are equal."""

    name: str
    seconds: tuple[float, float]
    megabytes: tuple[float, float]
    equal: bool


def write_files(folder: Path, n: int) -> None:
    """Write n judgments as csv and JSON lines, and a tenth as many rankings of six objects and items of ten scores."""
    rng = np.random.default_rng(34)
    names = np.array([f"model {k:02}" for k in range(50)])
    i = rng.integers(50, size=n)
    j = (i + rng.integers(1, 50, size=n)) % 50
    outcome = np.array(["i", "tie", "j"])[rng.choice(3, size=n, p=(0.45, 0.15, 0.4))]
    frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "outcome": outcome})
    frame["judge"] = np.array([f"judge {k}" for k in range(200)])[rng.integers(200, size=n)]
    frame.to_csv(folder / "judgments.csv", index=False)
    frame.to_json(folder / "judgments.jsonl", orient="records", lines=True)
    scores = pd.DataFrame(rng.random((n // 10, len(SYSTEMS))).round(4), columns=SYSTEMS)
    scores.to_csv(folder / "scores.csv", index=False)
    ranks = rng.random((n // 10, len(RANKED))).argsort(axis=1) + 1
    pd.DataFrame(ranks, columns=RANKED).to_csv(folder / "rankings.csv", index=False)


def _table(path: Path) -> Totals:
    import llbt

    c = llbt.from_judgments(path, order=True)
    return [float(c.n_judgments), float(c.n_ties), float(len(c)), float((c.wins_i**2).sum())]


def _groups(frame: pd.DataFrame) -> Totals:
    counts = frame.groupby(JUDGMENTS).size().unstack(fill_value=0)
    return [float(x) for x in (counts.to_numpy().sum(), counts["tie"].sum(), len(counts), (counts["i"] ** 2).sum())]


def _csv(path: Path) -> Totals:
    return _groups(pd.read_csv(path))


def _lines(path: Path) -> Totals:
    return _groups(pd.read_json(path, lines=True))


def _scores(path: Path) -> Totals:
    import llbt

    scores = llbt.scores.SystemScores.from_wide(path)
    return [round(float(mean), 9) for mean in scores.values.mean(axis=1)]


def _means(path: Path) -> Totals:
    return [round(float(mean), 9) for mean in pd.read_csv(path).mean()]


def _implied(path: Path) -> Totals:
    import llbt

    return [float(wins) for wins in llbt.from_rankings(path, objects=RANKED).to_comparisons().wins_i]


def _pairs(path: Path) -> Totals:
    ranks = pd.read_csv(path)
    return [float((ranks[a] < ranks[b]).sum()) for a, b in combinations(RANKED, 2)]


def _audit(path: Path) -> Totals:
    import llbt

    return [float(llbt.audit(path).finding("disconnected").level == "ok")]


def _looked_at(path: Path) -> Totals:
    """What an audit counts first: outcomes by pair and by judge, and repeats."""
    frame = pd.read_csv(path)
    _groups(frame)
    frame.groupby(["judge", "outcome"]).size()
    frame.duplicated().sum()
    return [1.0]


_READ_CSV = "pandas.read_csv"
READERS = {
    "csv": Reader("judgments.csv", "from_judgments of a csv", _table, f"{_READ_CSV}, groupby", _csv),
    "jsonl": Reader("judgments.jsonl", "from_judgments of JSON lines", _table, "pandas.read_json, groupby", _lines),
    "scores": Reader("scores.csv", "SystemScores of a wide csv", _scores, f"{_READ_CSV}, mean", _means),
    "rankings": Reader("rankings.csv", "from_rankings of a wide csv", _implied, f"{_READ_CSV}, pair by pair", _pairs),
    "audit": Reader("judgments.csv", "audit of a csv", _audit, f"{_READ_CSV}, three groupings", _looked_at),
}


def measure(repeats: int, work: Path, n: int = FULL) -> list[Reading]:
    """Return the time and memory of every reader and its peer, run in turns."""
    folder = work / "readers"
    for part, size in (("first", TINY), ("timed", n)):
        (folder / part).mkdir(parents=True, exist_ok=True)
        write_files(folder / part, size)
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _ in range(repeats):
        for name in READERS:
            for who in ("llbt", "peer"):
                line = [sys.executable, "-m", "benchmarks.readers", name, who, str(folder)]
                said = subprocess.run(line, cwd=ROOT, env=environment(), capture_output=True, check=True, text=True)
                found.setdefault((name, who), []).append(json.loads(said.stdout))
    return [_reading(name, found[name, "llbt"], found[name, "peer"]) for name in READERS]


def _reading(name: str, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> Reading:
    def both(key: str) -> tuple[float, float]:
        one, other = (statistics.median(run[key] for run in runs) for runs in (ours, theirs))
        return one, other

    return Reading(name, both("seconds"), both("megabytes"), ours[0]["totals"] == theirs[0]["totals"])


def main(name: str, who: str, folder: str) -> None:
    """Read one file, after a small one for which all modules were imported, and print what it took."""
    reader = READERS[name]
    read = reader.llbt if who == "llbt" else reader.peer
    read(Path(folder) / "first" / reader.file)
    before = settle()
    seconds, totals = timed(read, Path(folder) / "timed" / reader.file)
    print(json.dumps({"seconds": seconds, "megabytes": status("VmHWM") - before, "totals": totals}))


if __name__ == "__main__":
    main(*sys.argv[1:])
