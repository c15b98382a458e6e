"""Seeded judgments, written once to a folder of .npy files, so that all contestants read the same data."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
OUTCOMES = ("i", "tie", "j")  # codes 0, 1, 2 in outcome.npy
GRADES = ("i+", "i", "tie", "j", "j+")  # codes 0 to 4 of a graded input
TIES = 0.22
STRONG = 0.3  # γ of the larger grade
ORDER_EFFECT = 0.05  # δ; the odds of the object shown first are times exp(2δ)
GRAPHS = ("random", "power-law", "matchmade")  # of the pairs that are judged
SPARSE = ("sparse", "large")  # kinds of inputs with a graph
NEAR = 20  # places in worth between the two objects of a matchmade pair
TASTE = 0.6  # standard deviation of judges' log-worths, where it is estimated
LENGTH = 10  # objects of a list
PART = 4_000_000  # judgments in a part of an input that no memory need hold
CUBE = "cube.npy"  # the counts of an input in parts
PARTS = "part-*.parquet"
AGGREGATED = Path(__file__).parent.parent / "tests" / "reference" / "bench_agg_100.csv.gz"


@dataclass(frozen=True)
class Input:
    name: str
    objects: int
    judgments: int
    judges: int = 0
    sides: int = 0
    kind: str = "plain"
    seed: int = 5
    graph: str = "random"

    @property
    def text(self) -> str:
        if self.kind == "metrics":
            return (
                f"{self.objects} systems × {self.judgments // self.objects} inputs, a metric and a human score of each"
            )
        if self.kind == "lists":
            return f"{self.objects:,} objects × {self.judgments:,} lists of {LENGTH}"
        extra = f", {self.judges} judges" if self.judges else ""
        extra += f", {self.sides} side covariates" if self.sides else ""
        extra += f", a {self.graph} graph" if self.kind in SPARSE else ""
        return f"{self.objects:,} objects × {self.judgments:,} judgments{extra}"


FULL = (
    Input("S", 10, 10_000),
    Input("M", 50, 200_000),
    Input("L", 200, 2_000_000),
    Input("XL", 1_000, 10_000_000),
    Input("L-huge", 200, 100_000_000, kind="parts"),
    Input("M-judges", 50, 200_000, judges=100, kind="judges"),
    Input("judged", 50, 1_000_000, judges=10_000, kind="judged"),
    Input("M-sides", 50, 200_000, sides=5, kind="sides"),
    Input("L-graded", 200, 2_000_000, kind="graded"),
    Input("agg100", 100, 495_000, kind="agg100"),
    Input("arena", 129, 1_374_996, kind="arena"),
    Input("metrics", 25, 2_500, kind="metrics"),
    Input("lists", 1_000, 100_000, kind="lists"),
    Input("sparse-2e3", 2_000, 60_000, kind="sparse"),
    *(Input(f"sparse-1e4-{graph}", 10_000, 300_000, kind="sparse", graph=graph) for graph in GRAPHS),
    *(Input(f"sparse-1e5-{graph}", 100_000, 1_000_000, kind="large", graph=graph) for graph in GRAPHS),
    Input("sparse-1e6", 1_000_000, 10_000_000, kind="large"),
)
TINY = (
    Input("tiny", 6, 3_000),
    Input("tiny-judges", 5, 4_000, judges=4, kind="judges"),
    Input("tiny-judged", 5, 2_000, judges=40, kind="judged"),
    Input("tiny-sides", 5, 2_000, sides=2, kind="sides"),
    Input("tiny-graded", 6, 3_000, kind="graded"),
    Input("tiny-lists", 12, 400, kind="lists"),
    Input("tiny-sparse", 310, 6_000, kind="sparse", graph="power-law"),
    Input("tiny-parts", 6, 5_000, kind="parts"),
)


def growing() -> dict[str, tuple[Input, ...]]:
    """One series per dimension: every input is four times (objects: twice) the one before."""
    return {
        "judgments": tuple(Input(f"judgments-{n}", 50, n) for n in (40_000, 160_000, 640_000, 2_560_000, 10_240_000)),
        "objects": tuple(Input(f"objects-{n}", n, 1_000_000) for n in (50, 100, 200, 400, 800)),
        "judges": tuple(Input(f"judges-{n}", 20, 4_000 * n, judges=n, kind="judges") for n in (4, 16, 64)),
        "covariates": tuple(Input(f"covariates-{n}", 50, 100_000, sides=n, kind="sides") for n in (1, 4, 16)),
    }


def object_names(size: int) -> list[str]:
    return [f"object{k:04d}" for k in range(size)]


def side_names(size: int) -> list[str]:
    return [f"x{k + 1}" for k in range(size)]


def make(wanted: Input, work: Path) -> Path:
    """Return the folder of an input; make it if it does not exist."""
    folder = work / wanted.name
    if (folder / "input.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if wanted.kind == "parts":
        _write_parts(wanted, folder)
    elif wanted.kind not in ("agg100", "arena"):
        for name, values in DRAWN.get(wanted.kind, _drawn)(wanted):
            np.save(folder / f"{name}.npy", values)
    (folder / "input.json").write_text(json.dumps(asdict(wanted)))
    return folder


def described(folder: Path) -> Input:
    return Input(**json.loads((folder / "input.json").read_text()))


def read(folder: Path, *names: str) -> tuple[Array, ...]:
    return tuple(np.load(folder / f"{name}.npy") for name in names)


def _drawn_scores(wanted: Input) -> Iterator[tuple[str, Array]]:
    """Yield scores (N, M): quality of the system, difficulty of the input, and noise."""
    rng = np.random.default_rng(wanted.seed)
    shape = (wanted.objects, wanted.judgments // wanted.objects)
    shared = rng.normal(size=(shape[0], 1)) + rng.normal(size=(1, shape[1])) + rng.normal(size=shape)
    for name, noise in (("metric", 1.0), ("human", 0.5)):
        yield name, shared + noise * rng.normal(size=shape)


def _drawn_lists(wanted: Input) -> Iterator[tuple[str, Array]]:
    """Yield lists (n, LENGTH) of different objects, the best first, by Plackett-Luce."""
    rng = np.random.default_rng([wanted.seed, wanted.objects, wanted.judgments])
    log_worth = rng.normal(size=wanted.objects) / 2
    shown = np.array([rng.choice(wanted.objects, LENGTH, replace=False) for _ in range(wanted.judgments)])
    said = 2 * log_worth[shown] + rng.gumbel(size=shown.shape)
    yield "lists", np.take_along_axis(shown, np.argsort(-said, axis=1), axis=1).astype(np.int32)


def _drawn(wanted: Input) -> Iterator[tuple[str, Array]]:
    rng = np.random.default_rng([wanted.seed, wanted.objects, wanted.judgments, wanted.judges, wanted.sides])
    size, n = wanted.objects, wanted.judgments
    if wanted.kind in SPARSE:
        log_worth = rng.normal(size=size) / 2
        i, j = pairs_of(wanted.graph, log_worth, n, rng)
    else:
        i = rng.integers(0, size, n, dtype=np.int32)
        j = (i + rng.integers(1, size, n, dtype=np.int32)) % np.int32(size)
        log_worth = rng.normal(size=size) / 2  # abilities N(0, 1) are log-odds
    yield "i", i
    yield "j", j
    signed = (log_worth[i] - log_worth[j]) + ORDER_EFFECT
    if wanted.judges:
        judge = rng.integers(0, wanted.judges, n, dtype=np.int32)
        yield "judge", judge
        taste = rng.normal(scale=TASTE if wanted.kind == "judged" else 0.1, size=(wanted.judges, size))
        signed += taste[judge, i] - taste[judge, j]
    if wanted.sides:
        values = rng.normal(size=(n, 2, wanted.sides))
        yield "sides", values
        signed += (values[:, 0] - values[:, 1]) @ np.linspace(-0.1, 0.1, wanted.sides)
    if wanted.kind == "graded":
        yield "outcome", _drawn_grades(signed, rng)
        return
    yield "outcome", _drawn_outcomes(signed, rng)


def _drawn_outcomes(signed: Array, rng: np.random.Generator) -> Array:
    """Return codes of OUTCOMES (n,)."""
    tie = np.exp(_tie_effect(signed[:50_000]))
    up, down = np.exp(signed), np.exp(-signed)
    draw = rng.random(len(signed)) * (up + tie + down)
    return np.asarray((draw > up).astype(np.int8) + (draw > up + tie), dtype=np.int8)


def pairs_of(graph: str, worth: Array, number: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the two objects of each judgment, (number,) each, on one of GRAPHS."""
    size = len(worth)
    i = rng.integers(0, size, number, dtype=np.int32)
    if graph == "matchmade":
        order = np.argsort(worth)
        away = rng.integers(1, NEAR + 1, number) * rng.choice([-1, 1], number)
        other = np.where((i + away < 0) | (i + away >= size), i - away, i + away)
        return order[i].astype(np.int32), order[other].astype(np.int32)
    j = (i + rng.integers(1, size, number, dtype=np.int32)) % np.int32(size)
    if graph == "power-law":
        weight = rng.permutation(1 / np.arange(1, size + 1) ** 0.8)
        met = rng.choice(size, number, p=weight / weight.sum()).astype(np.int32)
        j = np.where(met == i, j, met)
    swapped = rng.random(number) < 0.5
    return np.where(swapped, j, i), np.where(swapped, i, j)


def _drawn_grades(signed: Array, rng: np.random.Generator) -> Array:
    """Return grades of adjacent categories, codes of GRADES (n,)."""
    weights = np.exp(np.multiply.outer(np.array([2.0, 1, 0, -1, -2]), signed) + np.c_[[STRONG, 0, 0, 0, STRONG]])
    draw = rng.random(len(signed)) * weights.sum(axis=0)
    return np.asarray((np.cumsum(weights, axis=0)[:-1] < draw).sum(axis=0), dtype=np.int8)


def _tie_effect(signed: Array) -> float:
    """Return the γ with which the expected share of ties is TIES."""
    low, high = -10.0, 10.0
    weight = np.exp(signed) + np.exp(-signed)
    for _ in range(60):
        middle = (low + high) / 2
        share = np.mean(np.exp(middle) / (weight + np.exp(middle)))
        low, high = (middle, high) if share < TIES else (low, middle)
    return (low + high) / 2


def _write_parts(wanted: Input, folder: Path) -> None:
    """Write judgments as parts of parquet, at least two, and the counts (J, J, 3) of all, each part drawn by itself."""
    size, most = wanted.objects, min(PART, -(-wanted.judgments // 2))
    log_worth = np.random.default_rng([wanted.seed, size]).normal(size=size) / 2
    counts = np.zeros(size * size * 3, dtype=np.int64)
    for number, start in enumerate(range(0, wanted.judgments, most)):
        rng = np.random.default_rng([wanted.seed, size, number])
        i, j = pairs_of("random", log_worth, min(most, wanted.judgments - start), rng)
        outcome = _drawn_outcomes((log_worth[i] - log_worth[j]) + ORDER_EFFECT, rng)
        counts += np.bincount((i.astype(np.int64) * size + j) * 3 + outcome, minlength=len(counts))
        _write_words(folder / f"part-{number:03d}.parquet", object_names(size), i, j, outcome)
    np.save(folder / CUBE, counts.reshape(size, size, 3))


def write_parquet(folder: Path) -> Path:
    """Return the judgments as one parquet file with names."""
    target = folder / "judgments.parquet"
    if target.exists():
        return target
    part = folder / "judgments.part"
    _write_words(part, object_names(described(folder).objects), *read(folder, "i", "j", "outcome"))
    return part.rename(target)


def _write_words(target: Path, objects: list[str], i: Array, j: Array, outcome: Array) -> None:
    """Write judgments with names as a parquet file, in blocks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pa.array(objects)
    columns = (("left", i, names), ("right", j, names), ("outcome", outcome, pa.array(OUTCOMES)))
    schema = pa.schema([(name, pa.string()) for name, _, _ in columns])
    with pq.ParquetWriter(target, schema) as writer:
        for start in range(0, len(i), 1_000_000):
            block = slice(start, start + 1_000_000)
            arrays = [words.take(pa.array(codes[block])) for _, codes, words in columns]
            writer.write_table(pa.table(arrays, schema=schema))


def write_arena(folder: Path) -> None:
    """Write the counts of the Chatbot Arena judgments that leaderbot ships; runs where leaderbot is installed."""
    from leaderbot.data import load

    data = load()
    np.save(folder / "pairs.npy", np.asarray(data["X"]))
    np.save(folder / "counts.npy", np.asarray(data["Y"])[:, [0, 2, 1]])
    (folder / "names.json").write_text(json.dumps(list(data["models"])))


DRAWN = {"metrics": _drawn_scores, "lists": _drawn_lists}

if __name__ == "__main__":
    write_arena(Path(sys.argv[1]))
