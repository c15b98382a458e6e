"""The available memory, checked before large arrays are made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import DesignError, LLBTError

_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_COUNTLESS = 10**15  # so many resamples or more are not written out in a message
SMALL = 2**20  # bytes that every machine has; up to so many, the free memory is not read, which takes a millisecond
_MATRICES = 5  # matrices of parameters × parameters that a fit has in memory at once


def memory() -> float:
    """Return how many more bytes arrays may take: the free memory, or less if the process or its group is limited.

    It is the smallest of three numbers: the free memory of the machine; what ``ulimit -v`` leaves to the process; and
    what the memory controllers (cgroups, version 1 or 2) of its group and of the groups above leave, as in containers
    and batch systems.
    """
    return max(0.0, min(_free(), _unlimited(), *map(_left_in, _groups())))


def _free() -> float:
    """Return the memory that is free without swapping, or all memory if this is unknown."""
    free = _fields(_PROC / "meminfo").get("MemAvailable")
    if free is not None:
        return 1024.0 * free
    # the system does not tell how much memory there is
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return float("inf")
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _unlimited() -> float:
    """Return the memory that the limit of ``ulimit -v`` leaves to the process."""
    try:
        import resource
    except ImportError:  # Windows does not have it
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    return float(limit) - 1024.0 * _fields(_PROC / "self" / "status").get("VmSize", 0)


def _groups() -> Iterator[Path]:
    """Yield the folders of the memory controllers of this process's group and of all groups above it."""
    for line in _lines(_PROC / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = _CGROUPS / "memory" if controllers else _CGROUPS
        below = Path(path.lstrip("/"))
        yield from (top / part for part in (below, *below.parents))


def _left_in(group: Path) -> float:
    """Return the memory that a group's limit leaves; cached pages of files do not count, as they can be freed."""
    for limit, used, pages in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        bytes_ = [next(iter(_lines(group / name)), "") for name in (limit, used)]
        if all(number.isdecimal() for number in bytes_):  # without a limit the file says "max"
            return float(bytes_[0]) - float(bytes_[1]) + _fields(group / "memory.stat").get(pages, 0)
    return float("inf")


def _fields(file: Path) -> dict[str, int]:
    """Return the numbers of a system file that has a name and a number on each line."""
    words = (line.replace(":", " ").split() for line in _lines(file))
    return {word[0]: int(word[1]) for word in words if len(word) > 1 and word[1].isdecimal()}


def _lines(file: Path) -> list[str]:
    """Return the lines of a system file; an empty list if there is no such file."""
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def refuse_large(what: str, numbers: float, remedy: str, error: type[LLBTError] = DesignError) -> None:
    """Raise if so many floats do not fit into memory.

    Parameters
    ----------
    what : str
        The object that needs the memory, with its size, such as ``"the win matrix of 100,000 objects"``.
    numbers : float
    remedy : str
        The remedy, as a sentence.
    """
    needed = 8 * numbers
    if needed > SMALL and needed > (there := memory()):
        raise error(
            f"{what} takes {needed / 2**30:,.1f} GiB, and there are {there / 2**30:,.1f} GiB of memory. {remedy}"
        )


def refuse_draws(what: str, n: int, numbers: float = 1.0, remedy: str = "Pass n=10_000.") -> None:
    """Raise if n resamples or tables of `numbers` floats each do not fit into memory; `what` contains ``{n}``."""
    n = min(n, _COUNTLESS)
    refuse_large(what.format(n=f"{n:.3g}"), numbers * n, remedy)


def refuse_square(what: str, size: int, error: type[LLBTError] = DesignError) -> None:
    """Raise if a square matrix of `size` objects does not fit into memory."""
    refuse_large(
        f"{what} of {size:,} objects", float(size) ** 2, "Take fewer objects: Comparisons.select(objects=[…]).", error
    )


def refuse_parameters(size: int) -> None:
    """Raise if the covariance of so many parameters does not fit into memory."""
    refuse_large(
        f"the covariance of {size:,} parameters",
        _MATRICES * float(size) ** 2,
        "Take fewer objects (Comparisons.select), merge levels (Comparisons.pool), or keep judges as clusters rather "
        "than covariates: cov_type='cluster'.",
    )
