"""Sums of blocks that several threads compute, in an order that does not depend on the number of threads."""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def in_threads(task: Callable[[T], U], blocks: Iterable[T]) -> Iterator[U]:
    """Yield the result of a task for each block, in the order of the blocks.

    Parameters
    ----------
    task : callable
        The function of a block. It must spend its time in numpy, which lets other threads run, and must not change
        shared data.
    blocks : iterable
        The blocks. Their number must not depend on the number of threads, because sums are rounded block by block.
    """
    taken = list(blocks)
    workers = min(cores(), len(taken))
    if workers < 2:
        yield from map(task, taken)
        return
    with ThreadPoolExecutor(workers) as pool:
        # numpy keeps its handling of overflows in the context, which a new thread does not inherit
        jobs = [pool.submit(contextvars.copy_context().run, task, block) for block in taken]
        try:
            for job in jobs:
                yield job.result()
        finally:
            for job in jobs:
                job.cancel()


def cores() -> int:
    """Return how many threads may compute: one for each core that the process may use, at most OMP_NUM_THREADS.

    joblib sets OMP_NUM_THREADS in its processes so that together they use each core once.
    """
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(there, int(asked))) if asked.isdigit() else there
