"""The cost of importing llbt's public names, compared with pandas, scipy.stats and patsy, and of help in a shell."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from .running import ROOT, environment

HELP = "import sys; from llbt.cli.main import main; sys.argv[1:] = ['--help']; main()"
LINES = {
    "llbt": "import llbt; llbt.fit",
    "base": "import pandas, scipy.stats, patsy",
    "help": HELP,
    "nothing": "pass",
}


def measure(times: int) -> dict[str, float]:
    """Return median seconds of each line in a fresh interpreter, in turns, and the ratio without the interpreter."""
    seconds: dict[str, list[float]] = {name: [] for name in LINES}
    for repeat in range(times + 1):
        for name, line in LINES.items():
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", line], cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, check=True
            )
            if repeat:  # the first round compiles
                seconds[name].append(time.perf_counter() - start)
    found = {name: statistics.median(values) for name, values in seconds.items()}
    return found | {"ratio": (found["llbt"] - found["nothing"]) / (found["base"] - found["nothing"])}
