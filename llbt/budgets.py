"""How much memory there is, asked before arrays are made that would not fit into it."""

from __future__ import annotations

import os

from .errors import DesignError, LLBTError

_MATRICES = 5  # parameters × parameters, held at once by a fit


def memory() -> float:
    """Return how many bytes arrays may take: this machine's memory, or less where the process is limited to less."""
    return min(_physical(), _allowed())


def _physical() -> float:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:  # nobody says how much there is
        return float("inf")
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _allowed() -> float:
    """Return the limit that ``ulimit -v`` sets."""
    try:
        import resource
    except ImportError:  # Windows has none
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit)


def refuse_large(what: str, numbers: float, remedy: str, error: type[LLBTError] = DesignError) -> None:
    """Raise where so many floats do not fit into memory.

    Parameters
    ----------
    what : str
        What needs them, with its size, such as ``"the win matrix of 100,000 objects"``.
    numbers : float
    remedy : str
        What to do instead, a sentence.
    """
    needed, there = 8 * numbers, memory()
    if needed > there:
        raise error(
            f"{what} takes {needed / 2**30:,.1f} GiB, and there are {there / 2**30:,.1f} GiB of memory. {remedy}"
        )


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
