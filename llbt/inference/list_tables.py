"""Rankings drawn from a fit of lists, or resampled from the lists themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.budgets import refuse_draws
from ..core.columns import FloatArray, IntArray
from ..core.rankings import Rankings, gathered_rankings
from ..errors import OptionError, listed
from ..fitting.protocols import WithLists
from .list_goodness import ListDrawing, check_drawn

LISTS = "list"


def drawn_rankings(res: WithLists, n: int, rng: np.random.Generator) -> tuple[Rankings, ...]:
    """Return tables of lists drawn from a fit; numbers of lists and places, objects and covariates as in the data."""
    check_drawn(res)
    r = res.rankings
    refuse_draws("keeping the lists of {n} tables", n, 2.0 * float(r.sizes @ r.counts))
    drawing = ListDrawing.of(res, 2)
    whole = drawing.rankings
    each = np.repeat(np.arange(len(r)), r.counts.astype(np.int64))
    columns = tuple(c.take(each) for c in r.columns)
    notes = (
        *r.notes,
        f"lists simulated from {res.specification.formula!r}",
        *(("clusters forgotten",) if r.cluster_columns else ()),
    )
    return tuple(
        gathered_rankings(
            r.objects,
            whole.lists,
            whole.items,
            drawing.places(rng),
            kind=r.kind,
            columns=columns,
            object_columns=r.object_columns,
            notes=notes,
        )
        for _ in range(n)
    )


def levels_of_lists(r: Rankings, unit: str, parameter: str) -> IntArray:
    """Return the level of a cluster or covariate of each list, shape (L,)."""
    by_name = {c.name: c for c in (*r.columns, *r.cluster_columns)}
    column = by_name.get(unit)
    if column is None:
        others = "'list', 'parametric'" if parameter == "resample" else "'list'"
        raise OptionError(
            f"{parameter}={unit!r}",
            f"Keep it where the lists are read: from_rankings(…, clusters={unit!r}).",
            expected=f"{others}, or a cluster or covariate of the lists ({listed(tuple(by_name)) or 'none'})",
        )
    return np.unique(column.codes, return_inverse=True)[1].astype(np.int64)


def counted_again(r: Rankings, counts: FloatArray) -> Rankings:
    """Return the lists with other counts (L,), without lists of count 0; all objects are kept."""
    some = np.flatnonzero(counts > 0)
    sizes = r.sizes[some]
    starts = np.append(0, np.cumsum(sizes))
    entries = np.repeat(r.starts[some] - starts[:-1], sizes) + np.arange(starts[-1])
    return replace(
        r,
        items=r.items[entries],
        places=r.places[entries],
        starts=starts,
        counts=counts[some],
        columns=tuple(c.take(some) for c in r.columns),
        cluster_columns=tuple(c.take(some) for c in r.cluster_columns),
    )
