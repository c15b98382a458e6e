"""How much memory there is, asked before arrays are made that would not fit into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import DesignError, LLBTError

_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_COUNTLESS = 10**15  # resamples, beyond which their number itself fits no message
_MATRICES = 5  # parameters × parameters, held at once by a fit


def memory() -> float:
    """Return how many more bytes arrays may take: what is free, or less where the process or its group is limited.

    The smallest of the free memory of the machine, what ``ulimit -v`` leaves the process, and what the memory
    controllers (cgroups, version 1 or 2) of its group and those above leave, as in containers and batch systems.
    """
    return max(0.0, min(_free(), _unlimited(), *map(_left_in, _groups())))


def _free() -> float:
    """Return the memory that is free without swapping, or all memory if this is unknown."""
    free = _fields(_PROC / "meminfo").get("MemAvailable")
    if free is not None:
        return 1024.0 * free
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:  # nobody says how much there is
        return float("inf")
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _unlimited() -> float:
    """Return the memory that the limit of ``ulimit -v`` leaves to the process."""
    try:
        import resource
    except ImportError:  # Windows has none
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    return float(limit) - 1024.0 * _fields(_PROC / "self" / "status").get("VmSize", 0)


def _groups() -> Iterator[Path]:
    """Yield the folders of the memory controllers of this process's group and of all above it."""
    for line in _lines(_PROC / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = _CGROUPS / "memory" if controllers else _CGROUPS
        below = Path(path.lstrip("/"))
        yield from (top / part for part in (below, *below.parents))


def _left_in(group: Path) -> float:
    """Return the memory that a group's limit leaves; pages of files that can be freed do not count."""
    for limit, used, pages in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        bytes_ = [next(iter(_lines(group / name)), "") for name in (limit, used)]
        if all(number.isdecimal() for number in bytes_):  # without a limit it is "max"
            return float(bytes_[0]) - float(bytes_[1]) + _fields(group / "memory.stat").get(pages, 0)
    return float("inf")


def _fields(file: Path) -> dict[str, int]:
    """Return the numbers of a file of the system, a name and a number a line."""
    words = (line.replace(":", " ").split() for line in _lines(file))
    return {word[0]: int(word[1]) for word in words if len(word) > 1 and word[1].isdecimal()}


def _lines(file: Path) -> list[str]:
    """Return the lines of a file of the system; none where there is no such file."""
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def refuse_large(what: str, numbers: float, remedy: str, error: type[LLBTError] = DesignError) -> None:
    """Raise where so many floats do not fit into memory.

    Parameters
    ----------
    what : str
        The object that needs them, with its size, such as ``"the win matrix of 100,000 objects"``.
    numbers : float
    remedy : str
        The remedy, a sentence.
    """
    needed, there = 8 * numbers, memory()
    if needed > there:
        raise error(
            f"{what} takes {needed / 2**30:,.1f} GiB, and there are {there / 2**30:,.1f} GiB of memory. {remedy}"
        )


def refuse_draws(what: str, n: int, numbers: float = 1.0, remedy: str = "Pass n=10_000.") -> None:
    """Raise where so many floats of each of n resamples or tables do not fit into memory; `what` has ``{n}`` in it."""
    n = min(n, _COUNTLESS)
    refuse_large(what.format(n=f"{n:.3g}"), numbers * n, remedy)


def refuse_square(what: str, size: int, error: type[LLBTError] = DesignError) -> None:
    """Raise where a matrix of so many objects by as many does not fit into memory."""
    refuse_large(
        f"{what} of {size:,} objects", float(size) ** 2, "Take fewer objects: Comparisons.select(objects=[…]).", error
    )


def refuse_parameters(size: int) -> None:
    """Raise where the covariance of so many parameters does not fit into memory."""
    refuse_large(
        f"the covariance of {size:,} parameters",
        _MATRICES * float(size) ** 2,
        "Take fewer objects (Comparisons.select), merge levels (Comparisons.pool), or keep judges as clusters rather "
        "than covariates: cov_type='cluster'.",
    )
