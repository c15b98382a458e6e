"""One contestant on one input in a process of its own; prints one line of JSON."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
WATCHED = ("numpy", "scipy", "pandas", "pyarrow", "statsmodels", "duckdb", "pyspark", "jax", "numba")
LONG = 30.0  # seconds of a cold call after which no warm one is made
MANY = 2.0  # seconds of warm calls after which no further one is made


def status(key: str) -> float:
    """Return a line of /proc/self/status in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) / 1024
    return float("nan")


def settle() -> float:
    """Free memory left from loading, reset the peak, and return the memory in use, in MB."""
    gc.collect()
    if pyarrow := sys.modules.get("pyarrow"):
        pyarrow.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def measure(name: str, folder: Path, calls: int) -> dict[str, Any]:
    from .contestants import CONTESTANTS

    contestant = CONTESTANTS[name]
    for module in contestant.modules:
        importlib.import_module(module)
    data = contestant.prepare(folder)
    before = settle()
    cold, result = timed(contestant.run, data)
    peak = status("VmHWM")
    warm: list[float] = []
    while cold < LONG and len(warm) < calls and sum(warm) < MANY:
        del result
        gc.collect()
        seconds, result = timed(contestant.run, data)
        warm.append(seconds)
    peak = max(peak, status("VmHWM"))
    factor = float(result.pop("factor", 1.0))
    return {
        "cold": cold * factor,
        "warm": [seconds * factor for seconds in warm],
        "extra_mb": peak - before,
        "before_mb": before,
        "result": {key: _plain(value) for key, value in result.items()},
        "versions": _versions(contestant.package),
    }


def timed(run: Any, data: Any) -> tuple[float, dict[str, Any]]:
    start = time.perf_counter()
    result = run(data)
    return time.perf_counter() - start, result


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _versions(package: str) -> dict[str, str]:
    found = {"Python": platform.python_version()}
    loaded = [name for name in WATCHED if name in sys.modules and name != package]
    for name in (package, *loaded):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def main() -> None:
    sys.stdout.flush()
    answer = os.fdopen(os.dup(1), "w")  # what a contestant prints goes to stderr
    os.dup2(2, 1)
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))), file=answer, flush=True)


if __name__ == "__main__":
    main()
