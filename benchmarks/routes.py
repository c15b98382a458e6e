"""`python -m benchmarks.routes`: seconds of a Newton step by each solver, and by the solver that llbt chooses.

Written to ROUTES.md beside this file. Conjugate gradients are stopped where they take more than a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

from llbt.kernel import routes
from llbt.kernel.conjugate import Bordered, Graph
from llbt.kernel.objectgraph import GraphInformation

from . import machine
from .inputs import GRAPHS, Array, pairs_of
from .report import seconds, table

SIZES, DEGREES = (500, 1_000, 2_000, 4_000, 8_000), (6, 30)
LONGEST = 60.0
WITHIN = 2.0
EVER = 1e9


def information(kind: str, size: int, judgments: int) -> GraphInformation | None:
    """Return the information of judgments of equal objects on worths and ties; None if objects are not connected."""
    rng = np.random.default_rng([size, judgments])
    i, j = pairs_of(kind, rng.normal(size=size), judgments, rng)
    pairs, totals = np.unique(np.minimum(i, j) * np.int64(size) + np.maximum(i, j), return_counts=True)
    first, second = np.divmod(pairs, size)
    graph = Graph.of(first, second, size)
    if connected_components(graph.pattern)[0] > 1:
        return None
    lead = rng.uniform(-0.5, 0.5, len(pairs))
    cross = totals * lead / 3
    border = np.bincount(first, cross, size) - np.bincount(second, cross, size)
    return GraphInformation(Bordered(graph, totals * 2 / 3, border[:, None], np.array([[2 * totals.sum() / 9]])))


def timed(run: Callable[[], Array]) -> float:
    """Return the shortest of three runs, or the one where it is long."""
    found = []
    for _ in range(3):
        began = time.perf_counter()
        run()
        found.append(time.perf_counter() - began)
        if found[-1] > 5:
            break
    return min(found)


def measured(info: GraphInformation, right: Array) -> dict[str, float]:
    """Return the seconds of a step in each way, and in the way that is chosen."""
    graph = info.system.graph
    true = routes.costs_of
    ways = {
        "dense": routes.Costs(0.0, 1.0, EVER),
        "band": routes.Costs(1.0, 0.0, EVER),
        "conjugate gradients": routes.Costs(LONGEST, LONGEST, LONGEST / (10 * graph.size)),
    }
    costs = true(graph, 1)
    found = {}
    for name, given in ways.items():
        if getattr(costs, name, 0.0) > LONGEST:
            found[name] = np.inf
            continue
        routes.costs_of = lambda *_, given=given: given
        steps = routes.Steps()
        steps.solve(info, right)  # orders the graph, once for all steps of a fit
        found[name] = timed(lambda steps=steps: steps.solve(info, right))
    routes.costs_of = true
    steps = routes.Steps()
    began = time.perf_counter()
    steps.solve(info, right)  # may try conjugate gradients in vain, once for all steps of a fit
    found["first"] = time.perf_counter() - began
    found["chosen"] = timed(lambda: steps.solve(info, right))
    return found


def rows() -> list[list[str]]:
    lines = []
    for kind in GRAPHS:
        for size in SIZES:
            for degree in DEGREES:
                info = information(kind, size, size * degree)
                if info is None:
                    continue
                right = np.random.default_rng(1).normal(size=info.shape[0])
                found = measured(info, right)
                best = min(found[name] for name in ("dense", "band", "conjugate gradients"))
                shown = [seconds(value) if np.isfinite(value) else "" for value in found.values()]
                ratio = found["chosen"] / best
                mark = f"{ratio:.2f}" if ratio <= WITHIN else f"**{ratio:.2f}**"
                lines.append([kind, f"{size:,}", f"{len(info.system.weights):,}", *shown, mark])
                print(*lines[-1], sep="  ", flush=True)
    return lines


def main() -> None:
    header = ("graph", "objects", "pairs", "dense", "band", "conjugate gradients", "first", "chosen", "chosen / best")
    about = ", ".join(f"{name} {value}" for name, value in machine.described().items())
    text = (
        "# Ways of solving for a step\n\nWritten by `python -m benchmarks.routes`; do not edit. Seconds of one Newton "
        "step of `object + tie` in each way, and in the way that `llbt/kernel/solver_choice.py` chooses: *first* the "
        "first step of a fit, which orders the graph and may try conjugate gradients in vain, *chosen* any later one. "
        f"{about}.\n\n{table(header, rows(), 'lrrrrrrrr')}\n"
    )
    (Path(__file__).parent / "ROUTES.md").write_text(text)


if __name__ == "__main__":
    main()
