"""Resampling: random draws, parallel work, percentile intervals and p-values. B is the number of resamples."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .base.arguments import Rng, as_generator
from .base.budgets import refuse_draws
from .base.table import counted
from .errors import SlowWarning, warn_user

T = TypeVar("T")
Floats = npt.NDArray[np.float64]

_ENTRIES = 4_000_000  # numbers that a block of resamples holds: 32 MB
_MOST = 250  # resamples in a block: few enough to share among processes, and for a bar to move
_ROUND = 10  # resamples between two questions whether there are enough
_AHEAD = 2  # jobs that each process is given beforehand
_SOON = 5.0  # seconds that nobody minds
_SAME = 1e-9  # values that are closer are equal: rounding must not decide which are as extreme


@dataclass(frozen=True, eq=False)
class Resampler:
    """The generator, the number of processes and the progress bar of a public function's call.

    Attributes
    ----------
    asker : str
        The public function; its bar has this name.
    rng : numpy.random.Generator
    n_jobs : int
        Processes, as joblib counts them: −1 for one per core.
    progress : bool
        Whether a bar is shown.
    """

    asker: str
    rng: np.random.Generator
    n_jobs: int = 1
    progress: bool = False

    @classmethod
    def of(cls, asker: str, rng: Rng, n_jobs: int = 1, progress: bool = False) -> Resampler:
        """Return the resampler for the arguments of a public function."""
        return cls(asker, as_generator(rng), int(n_jobs), bool(progress))

    def blocks(self, task: Callable[[int, np.random.Generator], T], n: int, entries: int, most: int = _MOST) -> list[T]:
        """Return the results of a task for n resamples, block by block.

        Parameters
        ----------
        task : callable
            (number of resamples, generator) → their result.
        n : int
        entries : int
            Numbers that the task holds for one resample.
        most : int
            Resamples in a block.
        """
        return self.several([(task, entries)], n, most)[0]

    def several(
        self, tasks: Sequence[tuple[Callable[[int, np.random.Generator], T], int]], n: int, most: int = _MOST
    ) -> list[list[T]]:
        """Return the results of several tasks, each for its own n resamples, block by block, with one bar.

        Parameters
        ----------
        tasks : sequence of (task, entries)
            As in `blocks`.
        n, most : int
        """
        refuse_draws("keeping {n} resamples", n)
        sizes = [_block_sizes(n, entries, most) for _, entries in tasks]
        made = self.each(
            [partial(task, size) for (task, _), row in zip(tasks, sizes, strict=True) for size in row],
            [size for row in sizes for size in row],
        )
        ends = np.cumsum([len(row) for row in sizes])
        return [made[end - len(row) : end] for row, end in zip(sizes, ends.tolist(), strict=True)]

    def each(self, tasks: Sequence[Callable[[np.random.Generator], T]], sizes: Sequence[int] = ()) -> list[T]:
        """Return the results of tasks; each has its own generator, so results do not depend on the process.

        Parameters
        ----------
        tasks : sequence of callable
        sizes : sequence of int
            How many steps of the bar each is; by default one.
        """
        seeds = self.rng.integers(2**63, size=len(tasks))
        jobs = [partial(_seeded, task, int(seed)) for task, seed in zip(tasks, seeds, strict=True)]
        if self.n_jobs == 1 or len(jobs) < 2:
            return [job() for job in shown(self.asker, jobs, self.progress, sizes)]
        from joblib import Parallel, delayed, effective_n_jobs

        processes = min(effective_n_jobs(self.n_jobs), len(jobs))
        ahead = _AHEAD * processes
        taken = shown(self.asker, jobs, self.progress, sizes, ahead)
        return list(Parallel(processes, pre_dispatch=ahead)(delayed(job)() for job in taken))

    def until(
        self, task: Callable[[np.random.Generator], T], n: int, enough: Callable[[Sequence[T]], int | None]
    ) -> list[T]:
        """Return the results of a task for at most n resamples; it stops early if there are enough.

        Parameters
        ----------
        task : callable
        n : int
        enough : callable
            The results so far → how many of these are enough, or None. It is asked after the first, and then after
            every ten, so that the answer is the same for any number of processes. After
            the first, the bar shows how long all n take.
        """
        refuse_draws("keeping {n} resamples", n)
        sizes = [1] + [min(_ROUND, n - start) for start in range(1, n, _ROUND)]
        results: list[T] = []
        quiet = replace(self, progress=False)
        for size in shown(self.asker, sizes, self.progress, sizes):
            results += quiet.each([task] * size)
            last = enough(results)
            if last is not None:
                return results[:last]
        return results


def _block_sizes(n: int, entries: int, most: int) -> list[int]:
    block = max(1, min(most, _ENTRIES // max(1, entries)))
    return [min(block, n - start) for start in range(0, n, block)]


def shown(
    asker: str, jobs: Collection[T], progress: bool, sizes: Sequence[int] | None = None, ahead: int = 0
) -> Iterable[T]:
    """Return the jobs; with `progress`, a bar with the function's name advances by the size of each finished job.

    Without it, a long run gives one warning with a forecast, as soon as the time is known. `ahead` is the number of
    jobs that are taken before the first one is finished.
    """
    if not progress:
        yield from _foretold(asker, jobs, sizes or [1] * len(jobs), ahead)
        return
    from tqdm.auto import tqdm

    sizes = sizes or [1] * len(jobs)
    with tqdm(total=sum(sizes), desc=asker) as bar:
        for size, job in zip(sizes, jobs, strict=True):
            yield job
            bar.update(size)


def _foretold(asker: str, jobs: Collection[T], sizes: Sequence[int], ahead: int) -> Iterable[T]:
    """Return the jobs; after some seconds, warn how long all of them will take if much time is left.

    With several processes, the clock starts when the first job is finished, because processes take seconds to start.
    """
    first = start = time.monotonic()
    total, done = sum(sizes), 0
    has_warned = not asker  # a part of something else, which tells
    for k, job in enumerate(jobs):
        now = time.monotonic()
        if k <= ahead:
            start = now
        else:
            done += sizes[k - ahead - 1]
            left = (now - start) * (total - done) / done
            if not has_warned and now - first > _SOON:
                has_warned = True
                if left > _SOON:
                    span = _span(now - first + left)
                    warn_user(f"{asker} will take {span}: progress=True shows how far it is.", SlowWarning)
        yield job


def _span(seconds: float) -> str:
    """Return about how long something takes, in words."""
    for size, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"about {seconds / size:,.0f} {name}"
    return f"about {seconds:.0f} seconds"


_STEP: ContextVar[Callable[[float], object] | None] = ContextVar("step", default=None)  # of the fit that is made
_PATIENCE = 8e7  # numbers that likelihoods of effects evaluate in about five seconds


@contextlib.contextmanager
def steps_shown(asker: str, progress: bool, tell: Callable[[], object] | None = None) -> Iterator[None]:
    """Inside this context, with `progress`, a bar with the function's name counts the steps of fits.

    The bar has no end, because the number of steps is unknown. Without `progress`, `tell` is called once if the steps
    take more than some seconds. A fit that another function makes counts its steps in the context of that function.
    """
    if not progress and _STEP.get() is not None:
        yield
        return
    if not progress:
        with _with_steps(_Patience(tell or _tell).spent):
            yield
        return
    from tqdm.auto import tqdm

    with tqdm(desc=asker, unit=" steps") as bar, _with_steps(lambda numbers: bar.update()):
        yield


@contextlib.contextmanager
def _with_steps(moved: Callable[[float], object]) -> Iterator[None]:
    token = _STEP.set(moved)
    try:
        yield
    finally:
        _STEP.reset(token)


def _tell() -> None:
    warn_user("the fit takes long: progress=True shows the steps.", SlowWarning)


class _Patience:
    """The work that is left before a warning."""

    def __init__(self, tell: Callable[[], object]) -> None:
        self._left, self._tell = _PATIENCE, tell

    def spent(self, numbers: float) -> None:
        if self._left > 0 >= self._left - numbers:
            self._tell()
        self._left -= numbers


def step_made(numbers: float = 0.0) -> None:
    """Count one step of a fit; the step evaluates this many numbers."""
    moved = _STEP.get()
    if moved is not None:
        moved(numbers)


def _seeded(task: Callable[[np.random.Generator], T], seed: int) -> T:
    return task(np.random.default_rng(seed))


# -- what is drawn ---------------------------------------------------------------------------------------------------


def drawn_weights(units: int, size: int, rng: np.random.Generator) -> Floats:
    """Return how often each of so many units is drawn, with replacement, in each resample, shape (size, units)."""
    drawn = rng.integers(units, size=(size, units)) + units * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units).astype(np.float64)


def drawn_counts(counts: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Return tables of judgments drawn with replacement from a table, each as large as the table, shape (size, …)."""
    drawn = rng.multinomial(int(counts.sum()), (counts / counts.sum()).ravel(), size=size)
    return drawn.reshape(size, *counts.shape).astype(np.float64)


def drawn_swaps(shape: tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return True or False at random, each with probability 1/2."""
    return rng.integers(2, size=shape, dtype=np.bool_)


# -- intervals and p-values ------------------------------------------------------------------------------------------


def percentiles(
    replicates: Floats, confidence: float, estimate: npt.ArrayLike = 0.0, *, whole: bool = False
) -> tuple[Floats, Floats]:
    """Return both bounds of the percentile interval of each column.

    Parameters
    ----------
    replicates : ndarray, shape (B, …)
        NaN where degenerate; it counts as −∞ for lower and as +∞ for upper bounds.
    confidence : float
    estimate : array_like, shape (…)
        The estimates. Bounds are NaN where an estimate is NaN, and without resamples.
    whole : bool
        Whether bounds must be values of replicates, such as ranks.

    Returns
    -------
    low, high : ndarray, shape (…)
    """
    tail = (1 - confidence) / 2
    if not len(replicates):
        return np.full(replicates.shape[1:], np.nan), np.full(replicates.shape[1:], np.nan)
    bounds = (percentile(replicates, tail, -math.inf, whole), percentile(replicates, 1 - tail, math.inf, whole))
    low, high = (np.where(np.isnan(estimate), np.nan, bound) for bound in bounds)
    return low, high


def percentile(replicates: Floats, share: float, degenerate: float, whole: bool = False) -> Floats:
    """Return a quantile of each column (B, …), by linear interpolation; infinite where an infinite value is part of it.

    Parameters
    ----------
    replicates : ndarray, shape (B, …)
    share : float
        NaN gives NaN.
    degenerate : float
        The value in place of NaN, −∞ or +∞.
    whole : bool
        Whether to return, in place of an interpolated value, the smallest replicate with at least this share of the
        replicates at or below it.
    """
    if math.isnan(share):
        return np.full(replicates.shape[1:], np.nan)
    ordered = np.sort(np.where(np.isnan(replicates), degenerate, replicates), axis=0)
    size = len(ordered)
    place = max(0.0, math.ceil(share * size - _SAME) - 1) if whole else share * (size - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    infinite = np.isinf(below) | np.isinf(above)
    with np.errstate(invalid="ignore"):
        between = below + (above - below) * (place - math.floor(place))
    return np.asarray(np.where(infinite, np.where(np.isinf(below), below, above), between))


def degenerate_notes(replicates: Floats, lack: str) -> list[str]:
    """Return a note on the number of degenerate ones among B resamples (B, …), or nothing."""
    lost = int(np.isnan(replicates).any(axis=tuple(range(1, replicates.ndim))).sum())
    return [f"{counted(lost, 'resample')} {lack}: counted as −∞ and +∞ for the bounds"] if lost else []


def p_value(replicates: Floats, observed: float) -> float:
    """Return (1 + number of replicates (B,) at least as large as the observed value)/(B + 1).

    A degenerate replicate (NaN) counts as larger than the observed value. The p-value is never 0 (Phipson & Smyth 2010,
    Statistical Applications in Genetics and Molecular Biology 9(1)).
    """
    slack = _SAME * max(1.0, abs(observed))
    return float(p_of_count(np.sum(~(replicates < observed - slack)), len(replicates)))


def p_of_count(as_large: npt.ArrayLike, n: int) -> Floats:
    """Return (1 + number of n replicates as large as the observed value)/(n + 1)."""
    return np.asarray((1.0 + np.asarray(as_large)) / (n + 1))
