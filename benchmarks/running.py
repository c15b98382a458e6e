"""Contestants take turns: every repeat goes once through all of them, each in a fresh process."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import accuracy
from .contestants import CONTESTANTS, HERE, IMPORTED, PACKAGES, Contestant
from .inputs import Input, make, write_parquet
from .worker import THREADS

ROOT = Path(__file__).parent.parent
NEEDED = ("numpy", "pandas", "pyarrow", "scipy")  # what the worker itself reads inputs with
PARQUET = "parquet file"
_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"  # of JAX, as of BLAS and OpenMP
ENOUGH = 5.0  # seconds that a contestant has run on an input after which it has no further repeat
EXPECTED = 6e-6  # published deviances have five decimals


@dataclass
class Measured:
    """The results of one contestant on one input, over all repeats."""

    contestant: Contestant
    input: Input
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    extra_mb: list[float] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    off: dict[str, float] = field(default_factory=dict)  # from the tight solution
    reason: str = ""  # why it could not run
    timed_out: bool = False
    spent: float = 0.0  # seconds of all its processes

    @property
    def ran(self) -> bool:
        return bool(self.cold) and not self.reason

    def median(self, what: str) -> float:
        values = getattr(self, what) or self.cold  # too slow for a second call: the first is all there is
        return statistics.median(values)

    @property
    def largest(self) -> float:
        return max(self.off.values(), default=float("nan"))

    @property
    def failed(self) -> bool:
        """Whether an exact contestant is further from the truth than it may be."""
        bound = EXPECTED if self.contestant.expect else accuracy.LIMIT
        return self.ran and self.contestant.exact and any(not value <= bound for value in self.off.values())


def environment() -> dict[str, str]:
    # compiled modules are kept, as where a package is installed
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | dict.fromkeys(THREADS, "1") | {"XLA_FLAGS": _ONE_THREAD, "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT)}


def python_of(contestant: Contestant, peers: Path) -> str | None:
    """Return the interpreter that has the contestant: a venv of its own, else this one."""
    if contestant.package in HERE:
        return sys.executable
    own = peers / contestant.package / "bin" / "python"
    if own.exists() and not (peers / f"{contestant.package}.failed").exists():
        return str(own)
    module = IMPORTED.get(contestant.package, contestant.package)
    return sys.executable if importlib.util.find_spec(module) else None


def missing(contestant: Contestant, peers: Path) -> str:
    note = peers / f"{contestant.package}.failed"
    return (
        f"not installable: {note.read_text().strip()}" if note.exists() else "not installed: python -m benchmarks peers"
    )


def install(peers: Path, only: Sequence[str] = ()) -> None:
    """Make a venv for every peer; what cannot be installed is noted and shown in the results."""
    peers.mkdir(parents=True, exist_ok=True)
    for package in only or PACKAGES:
        folder, note = peers / package, peers / f"{package}.failed"
        note.unlink(missing_ok=True)
        if not (folder / "bin" / "python").exists():
            venv.create(folder, with_pip=True)
        command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", package, *NEEDED]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        print(f"{package}: {'failed' if found.returncode else 'installed'}", flush=True)
        if found.returncode:
            note.write_text(_last_line(found.stderr))


def measure_all(
    pairs: Iterable[tuple[Contestant, Input]],
    repeats: int,
    work: Path,
    peers: Path,
    *,
    calls: int = 15,
    side_by_side: int = 1,
) -> list[Measured]:
    """Run every contestant on its input, `repeats` times in turns; side by side only where time does not matter.

    What has run for ENOUGH is not repeated.
    """
    found = [Measured(contestant, wanted) for contestant, wanted in pairs]
    for wanted in {m.input for m in found}:
        make(wanted, work)
    for repeat in range(repeats):
        left = [m for m in found if not m.reason and m.spent < ENOUGH]
        with ThreadPoolExecutor(side_by_side) as pool:
            for m in pool.map(lambda m: _run_once(m, work, peers, calls), left):
                print(
                    f"{repeat + 1}/{repeats} {m.contestant.name} {m.input.name}: {_said(m)}",
                    file=sys.stderr,
                    flush=True,
                )
    memory: dict[tuple[str, str], accuracy.Solution] = {}
    for m in found:
        _check(m, work, memory)
    return found


def _said(m: Measured) -> str:
    return m.reason or f"cold {m.cold[-1]:.4g} s, warm {m.median('warm'):.4g} s, +{m.extra_mb[-1]:.0f} MB"


def _run_once(m: Measured, work: Path, peers: Path, calls: int) -> Measured:
    python = python_of(m.contestant, peers)
    if python is None:
        m.reason = missing(m.contestant, peers)
        return m
    folder = make(m.input, work)
    if m.contestant.reads == PARQUET:
        write_parquet(folder)
    if m.input.kind == "arena" and not _shipped(folder, peers):
        m.reason = "needs the judgments that leaderbot ships: python -m benchmarks peers"
        return m
    start = time.perf_counter()
    answer, m.reason, m.timed_out = _answer(
        [python, "-m", "benchmarks.worker", m.contestant.name, str(folder), str(calls)], m.contestant.limit
    )
    m.spent += time.perf_counter() - start
    if m.reason:
        return m
    m.cold.append(answer["cold"])
    m.warm.extend([statistics.median(answer["warm"])] if answer["warm"] else [])
    m.extra_mb.append(answer["extra_mb"])
    m.result, m.versions = answer["result"], answer["versions"]
    return m


def _answer(command: list[str], limit: float) -> tuple[dict[str, Any], str, bool]:
    """Return the output of a worker; or why it has none, and whether the time limit was the reason."""
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the worker and what it started
        process.communicate()
        return {}, f"stopped after {limit:g} s", True
    if process.returncode:
        return {}, f"exit {process.returncode}: {_last_line(err)}", False
    return json.loads(out.splitlines()[-1]), "", False


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"


def _shipped(folder: Path, peers: Path) -> bool:
    """Whether the counts that leaderbot ships are there; written by its own interpreter."""
    if (folder / "pairs.npy").exists():
        return True
    python = python_of(CONTESTANTS["leaderbot"], peers)
    if python is None:
        return False
    done = subprocess.run(
        [python, "-m", "benchmarks.inputs", str(folder)], cwd=ROOT, env=environment(), capture_output=True, check=False
    )
    return done.returncode == 0


def _check(m: Measured, work: Path, memory: dict[tuple[str, str], accuracy.Solution]) -> None:
    if not m.ran:
        return
    if m.contestant.rule:
        found = accuracy.differences(m.contestant.rule, make(m.input, work), m.result, memory)
        m.off = {name: float(value) for name, value in found.items()}
    for name, value in m.contestant.expect.items():
        m.off[name] = abs(m.result[name] - value)
