"""Does the maximum likelihood estimate exist? Checked before a fit, and what fails is named.

The estimate exists when no direction of the parameters keeps every observed outcome at least as likely
against every other outcome of its comparison, and one of them more likely: along such a direction of
recession the likelihood never falls, and some parameters go to infinity (Albert & Anderson 1984,
Biometrika 71(1); for the win graph Ford 1957, American Mathematical Monthly 64(8)).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize, sparse
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from .columns import FloatArray, IntArray, Label, groups
from .comparisons import Comparisons
from .errors import DesignError, SeparationError, braced, listed
from .formulas.design import Design
from .solvers import Problem, independent_in_gram
from .table import format_count

_TOLERANCE = 1e-7

REMEDY = (
    "Leave out or merge these objects or levels (Comparisons.select, Comparisons.pool), or use a formula without "
    "the terms that separate."
)


def check_connected(c: Comparisons) -> None:
    """Raise where the worths of the objects have no common scale.

    Raises
    ------
    DesignError
        Where some objects were never compared with the others, not even through third ones; the groups
        are named.
    """
    components = c.components()
    if len(components) > 1:
        shown = ", ".join(braced(group) for group in components[:6]) + (", …" if len(components) > 6 else "")
        raise DesignError(
            f"the objects fall into {len(components)} groups never compared with each other: {shown}; their worths "
            "have no common scale. Fit the groups apart: c.select(objects=group) for group in c.components()."
        )


def check_existence(design: Design, free: IntArray, problem: Problem, c: Comparisons) -> None:
    """Raise where the estimate of some parameter is infinite.

    Parameters
    ----------
    design : Design
    free : ndarray of int, shape (p,)
        Which of the design's parameters the problem's columns are.
    problem : Problem
    c : Comparisons
        The table of the problem, for the names.

    Raises
    ------
    SeparationError
        Naming the objects, levels and parameters without a finite estimate.
    """
    merged, rows = _merged(design, problem)
    if _is_plain(design, free, problem):
        if _exists_by_graph(design, free, merged, rows, c):
            return
    elif _is_pinned(merged):
        return
    direction = recession_direction(merged)
    if direction is not None:
        raise SeparationError(_describe(direction, design, free, merged, rows, c))


def recession_direction(problem: Problem) -> FloatArray | None:
    """Return a direction of recession that separates as many outcomes as any can, or None; shape (p,).

    The linear program maximizes Σ min(1, a·v) over the inequalities a·v ≥ 0 that the outcomes set, subject
    to the equalities that outcomes seen together set; its solution is strict wherever any direction is.
    """
    equal, unequal = _recession_rows(problem)
    p, m = problem.signed.shape[1], unequal.shape[0]
    if m == 0:
        return None
    scale = 1 / np.maximum(abs(sparse.vstack([equal, unequal])).max(axis=0).toarray().ravel(), 1e-300)
    found = optimize.linprog(
        np.concatenate([np.zeros(p), -np.ones(m)]),
        A_ub=sparse.hstack([-unequal.multiply(scale), sparse.eye_array(m)], format="csr"),
        b_ub=np.zeros(m),
        A_eq=sparse.hstack([equal.multiply(scale), csr_array((equal.shape[0], m))], format="csr"),
        b_eq=np.zeros(equal.shape[0]),
        bounds=[(None, None)] * p + [(0, 1)] * m,
        method="highs",
    )
    if found.status != 0:
        raise DesignError(f"the check that estimates exist did not finish: {found.message}")
    return None if -found.fun < _TOLERANCE else np.asarray(found.x[:p] * scale)


def _recession_rows(problem: Problem) -> tuple[csr_array, csr_array]:
    """Return rows a of the conditions a·v = 0 and a·v ≥ 0 on a direction of recession v.

    An observed cell has the largest predictor of its comparison along v; cells observed together have
    equal ones.
    """
    u, w = problem.signed, problem.tie
    seen = problem.counts > 0
    i, j = seen[:, 0], seen[:, -1]
    if not problem.has_ties:
        return u[i & j], sparse.vstack([u[i & ~j], -u[j & ~i]], format="csr")
    t = seen[:, 1]
    equal = [u[i & j], w[i & j & t], (u - w)[i & t & ~j], (u + w)[j & t & ~i]]
    only_i, only_j, only_t = i & ~t & ~j, j & ~t & ~i, t & ~i & ~j
    unequal = [
        *((u - w)[only_i], u[only_i]),
        *((-u - w)[only_j], -u[only_j]),
        *((w - u)[only_t], (w + u)[only_t]),
        *(u[i & t & ~j], -u[j & t & ~i], -w[i & j & ~t]),
    ]
    return sparse.vstack(equal, format="csr"), sparse.vstack(unequal, format="csr")


def _merged(design: Design, problem: Problem) -> tuple[Problem, IntArray]:
    """Sum comparisons with the same linear predictors; also return the first comparison of each."""
    keys = [*design.worth.index.T, design.tie.index, design.order.index]
    first, group = groups(keys)
    counts = np.column_stack([np.bincount(group, weights=column, minlength=len(first)) for column in problem.counts.T])
    merged = Problem(
        problem.signed[first], problem.tie[first], counts, problem.signed_offset[first], problem.tie_offset[first]
    )
    return merged, first


def _is_plain(design: Design, free: IntArray, problem: Problem) -> bool:
    """Whether the free parameters are all worths, and at most the one tie effect."""
    worths = sum(block == "worth" for block in design.blocks)
    others = [design.names[k] for k in free if design.blocks[k] != "worth"]
    return design.plain and others in ([], ["tie"]) and worths == sum(design.blocks[k] == "worth" for k in free)


def _is_pinned(problem: Problem) -> bool:
    """Whether outcomes seen together already rule out every direction: the usual, fast case."""
    equal, _ = _recession_rows(problem)
    return bool(independent_in_gram((equal.T @ equal).toarray()).all())


def _exists_by_graph(design: Design, free: IntArray, problem: Problem, rows: IntArray, c: Comparisons) -> bool:
    """Decide plain `object` and most of `object + tie` on the graph of wins; False where the graph cannot tell."""
    i, j = c.pairs[rows].T
    wins, losses = problem.counts[:, 0] > 0, problem.counts[:, -1] > 0
    ties = problem.counts[:, 1] > 0 if problem.has_ties else np.zeros(len(i), dtype=np.bool_)
    size = len(c.objects)
    groups_, group = _strong_components(size, [(i, j, wins | ties), (j, i, losses | ties)])
    if groups_ > 1:
        raise SeparationError(_one_sided(c, group, _top_group(i, j, wins | ties, losses | ties, group)))
    if len(free) == sum(design.blocks[k] == "worth" for k in free):
        return True
    if not ties.any():
        raise SeparationError(_no_ties(problem.counts.sum()))
    cycles, _ = _strong_components(size, [(i, j, wins), (j, i, losses)])
    return cycles < size  # a closed walk of wins alone has more wins than ties


def _strong_components(
    size: int, edges: list[tuple[IntArray, IntArray, npt.NDArray[np.bool_]]]
) -> tuple[int, IntArray]:
    start = np.concatenate([a[kept] for a, _, kept in edges])
    end = np.concatenate([b[kept] for _, b, kept in edges])
    graph = coo_array((np.ones(len(start)), (start, end)), shape=(size, size))
    number, group = connected_components(graph, connection="strong")
    return int(number), group


def _top_group(
    i: IntArray, j: IntArray, up: npt.NDArray[np.bool_], down: npt.NDArray[np.bool_], group: IntArray
) -> int:
    """Return a strong component that no other one ever won against or tied with."""
    beaten = {int(group[b]) for a, b in zip(i[up], j[up], strict=True) if group[a] != group[b]}
    beaten |= {int(group[a]) for a, b in zip(i[down], j[down], strict=True) if group[a] != group[b]}
    return min(set(group.tolist()) - beaten)


def _one_sided(c: Comparisons, group: IntArray, top: int) -> str:
    inside = np.array(group) == top
    objects = np.array(c.objects, dtype=object)
    i, j = c.pairs.T
    across = inside[i] != inside[j]
    won = float(np.where(inside[i], c.counts[:, 0], c.counts[:, 2])[across].sum())
    above, below = tuple(objects[inside]), tuple(objects[~inside])
    many = int(group.max()) + 1
    more = f" In all there are {many} such groups." if many > 2 else ""
    return (
        f"{braced(above)} won all {format_count(won)} judgments against {braced(below)}, so their log-worths differ by ∞ "
        f"and have no finite estimate.{more} {REMEDY}"
    )


def _no_ties(judgments: float) -> str:
    return (
        f"there are no ties among {format_count(judgments)} judgments, though the table has a tie category, so tie is −∞. "
        "Leave tie out after c.drop_ties(), which removes the empty category."
    )


def _describe(
    direction: FloatArray, design: Design, free: IntArray, problem: Problem, rows: IntArray, c: Comparisons
) -> str:
    """Say what separates: ties, the order of presentation, or objects, and which parameters are infinite."""
    direction = direction / np.abs(direction).max()
    full = np.zeros(len(design.names))
    full[free] = direction
    u, w = problem.signed @ direction, problem.tie @ direction
    lost = _infinite_names(direction, design, free, problem)
    moved = np.abs(u) > _TOLERANCE
    if not moved.any():
        return _describe_ties(w, lost, full, design, problem, rows, c)
    worth = design.worth.matrix @ full
    shift = worth[design.worth.index[rows, 0]] - worth[design.worth.index[rows, 1]]
    if np.all(np.abs(shift) < _TOLERANCE):
        return _describe_order(moved, u, lost, design, problem, rows, c)
    return _describe_worths(worth, shift, lost, design, problem, rows, c)


def _infinite_names(direction: FloatArray, design: Design, free: IntArray, problem: Problem) -> list[str]:
    """Return the parameters that are not determined by the outcomes that do not separate."""
    equal, unequal = _recession_rows(problem)
    still = sparse.vstack([equal, unequal[np.abs(unequal @ direction) < _TOLERANCE]], format="csr")
    values, vectors = linalg.eigh((still.T @ still).toarray())
    undetermined = np.abs(vectors[:, values < 1e-9 * max(1.0, float(values.max(initial=0)))]).max(axis=1, initial=0)
    return [design.names[k] for k, size in zip(free, undetermined, strict=True) if size > 1e-6]


def _verdict(lost: list[str], full: FloatArray, design: Design) -> str:
    if len(lost) == 1:
        sign = "−∞" if full[design.names.index(lost[0])] < 0 else "+∞"
        return f"so {lost[0]} is {sign}"
    return f"so {listed(lost)} have no finite estimate"


def _class_names(units: dict[str, IntArray], c: Comparisons) -> list[str]:
    return [name for name in units if name in (*(column.name for column in c.columns), "pair")]


def _class_text(names: list[str], row: int, c: Comparisons) -> str:
    """Return the class that a comparison is in, as ``judge 'J7', sex 'f'``."""
    values = {column.name: column.levels[column.codes[row]] for column in c.columns}
    values["pair"] = ":".join(str(c.objects[k]) for k in np.sort(c.pairs[row]))
    return ", ".join(f"{name} {values[name]!r}" for name in names)


def _describe_ties(
    w: FloatArray,
    lost: list[str],
    full: FloatArray,
    design: Design,
    problem: Problem,
    rows: IntArray,
    c: Comparisons,
) -> str:
    names = _class_names(design.tie.units, c)
    unit = design.tie.index[rows]
    bad = sorted({int(unit[s]) for s in np.flatnonzero((np.abs(w) > _TOLERANCE) & _all_or_none(problem, unit))})
    bad = bad or sorted({int(k) for k in unit[np.abs(w) > _TOLERANCE]})
    told = []
    for k in bad[:3]:
        members = unit == k
        n, ties = problem.counts[members].sum(), problem.counts[members, 1].sum()
        who = _class_text(names, int(rows[np.flatnonzero(members)[0]]), c) or "the table"
        what = "no ties" if ties == 0 else "nothing but ties" if ties == n else f"{format_count(ties)} ties"
        told.append(f"{who} has {what} among {format_count(n)} judgments")
    more = f" and {len(bad) - 3} more alike" if len(bad) > 3 else ""
    levels = f"Use one tie effect (tie), or merge the levels of {listed(names)}." if names else REMEDY
    return f"{'; '.join(told)}{more}, {_verdict(lost, full, design)}. {levels}"


def _all_or_none(problem: Problem, unit: IntArray) -> npt.NDArray[np.bool_]:
    ties = np.bincount(unit, weights=problem.counts[:, 1])[unit]
    n = np.bincount(unit, weights=problem.totals)[unit]
    return np.asarray((ties == 0) | (ties == n))


def _describe_order(
    moved: npt.NDArray[np.bool_],
    u: FloatArray,
    lost: list[str],
    design: Design,
    problem: Problem,
    rows: IntArray,
    c: Comparisons,
) -> str:
    names = _class_names(design.order.units, c)
    row = int(np.flatnonzero(moved)[0])
    where = _class_text(names, int(rows[row]), c)
    won = problem.counts[moved].sum(axis=0)
    side = "first" if u[row] > 0 else "second"
    n = won[0] if u[row] > 0 else won[-1]
    return (
        f"the object shown {side} won all {format_count(n)} decided judgments{' of ' + where if where else ''}, so "
        f"{listed(lost)} has no finite estimate. Leave order out."
    )


def _describe_worths(
    worth: FloatArray,
    shift: FloatArray,
    lost: list[str],
    design: Design,
    problem: Problem,
    rows: IntArray,
    c: Comparisons,
) -> str:
    row = int(np.argmax(np.abs(shift)))
    names = _class_names(design.worth.units, c)
    where = _class_text(names, int(rows[row]), c)
    members = np.array([_class_text(names, int(s), c) == where for s in rows])
    index = design.worth.index[rows]
    cut = worth[index[row]].mean()
    upper = worth[index] > cut
    across = members & (upper[:, 0] != upper[:, 1])
    counts = np.where(upper[:, :1], problem.counts, problem.counts[:, ::-1])[across].sum(axis=0)
    pairs = c.pairs[rows][members]
    above = [c.objects[k] for k in np.unique(pairs[upper[members]])]
    below: list[Label] = [c.objects[k] for k in np.unique(pairs[~upper[members]])]
    ties = f", tied {format_count(counts[1])}" if problem.has_ties and counts[1] else ""
    tally = f"won {format_count(counts[0])}{ties} and lost {format_count(counts[-1])} of the judgments against"
    setting = f" (under {where})" if where else ""
    fewer = f"Leave {', '.join(names)} out of the worth, or: " if where else ""
    return (
        f"{braced(above)} {tally} {braced(below)}{setting}, so {listed(lost)} {'have' if len(lost) > 1 else 'has'} no "
        f"finite estimate. {fewer}{REMEDY}"
    )
