"""Check before a fit whether the maximum likelihood estimate exists; the message names what has no estimate.

A direction of recession keeps every observed outcome at least as likely against every other outcome of its comparison,
and makes one more likely. Along it the likelihood never falls, and some parameters go to infinity. The estimate exists
if there is no such direction (Albert & Anderson 1984, Biometrika 71(1); for the win graph Ford 1957, American
Mathematical Monthly 64(8)).

For small tables a linear program finds such a direction (`kernel/recession`). Large tables are fitted: usually the
point where Newton's method ends proves a maximum (`kernel/certificate`), or the last step is such a direction.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.graphs import components_of, ordered_components, strong_components
from ..core.links import AnyResponse, Cumulative
from ..core.response import THREE, TWO
from ..errors import DesignError, SeparationError, braced
from ..formulas.design import Design
from ..kernel.certificate import is_proven
from ..kernel.likelihood import Problem, rows_of
from ..kernel.recession import Conditions, Rise, recession_direction
from ..kernel.robust import Clustered
from ..kernel.solvers import Maximum, all_independent_with
from .merged_rows import distinct
from .separation import BELOW, Separation, describe, describe_groups, describe_no_ties, used_levels

_SAMPLED = 20  # comparisons for each parameter that are checked first
_MANY = 500  # with so many rows a fit is tried before the linear program
_CHECKS = 100  # most tables without some clusters that are checked
_ENTRIES = 1e6  # most comparisons × parameters of such a table
_PRIOR = "fit(…, prior=1.0)"  # the only prior of a cumulative link


def check_connected(c: Comparisons) -> None:
    """Raise if the worths of the objects have no common scale.

    Raises
    ------
    DesignError
        If some objects were never compared with the others, not even through third objects; it names the groups.
    """
    components = c.components()
    if len(components) > 1:
        shown = ", ".join(braced(group) for group in components[:6]) + (", …" if len(components) > 6 else "")
        raise DesignError(
            f"the objects fall into {len(components)} groups never compared with each other: {shown}; their worths "
            "have no common scale",
            "Fit the largest group: c.select(objects=max(c.components(), key=len)).",
        )


def check_odd_cycles(c: Comparisons, word: str) -> None:
    """Raise if effects of objects that are added over both sides of a comparison have no common scale.

    If all judgments are between two camps, a constant can be added to one camp and subtracted from the other. There are
    no camps if every component of the graph of pairs has a cycle of odd length.

    Raises
    ------
    DesignError
        It names the two camps.
    """
    size = len(c.objects)
    i, j = c.pairs[c.totals > 0].T
    edges = (np.concatenate([i, i + size]), np.concatenate([j + size, j]))  # each object stands once in either camp
    _, camp = components_of(2 * size, np.column_stack(edges))
    split = np.flatnonzero(camp[:size] != camp[size:])
    if not len(split):
        return
    sides = [
        braced(tuple(o for o, k in zip(c.objects, camp[:size], strict=True) if k == of))
        for of in (camp[split[0]], camp[split[0] + size])
    ]
    raise DesignError(
        f"{word}:object: objects {sides[0]} were compared only with {sides[1]}, and no two objects of the same "
        f"side with each other. So only the sums of two objects' effects on {word} are known, not each effect",
        f"Collect judgments of a pair within one side, or leave {word}:object out.",
    )


def is_settled(problem: Problem) -> bool:
    """Whether some comparisons of a large table already prove that no parameter is aliased and no estimate infinite."""
    size, some = problem.signed.shape[0], _SAMPLED * problem.signed.shape[1]
    if size <= 2 * some:
        return False
    return _is_pinned(rows_of(problem, np.random.default_rng(0).integers(0, size, some)))


def check_existence(design: Design, free: IntArray, problem: Problem, c: Comparisons) -> Maximum | None:
    """Raise if the estimate of some parameter is infinite.

    Parameters
    ----------
    design : Design
    free : ndarray of int, shape (p,)
        The design's parameter of each column of the problem.
    problem : Problem
    c : Comparisons
        The table of the problem; it gives the names.

    Returns
    -------
    Maximum or None
        The maximum of the likelihood, if it had to be computed.

    Raises
    ------
    SeparationError
        It names the objects, levels and parameters without a finite estimate.
    """
    others = _beside_worths(design, free) if problem.response in (TWO, THREE) else None
    many = problem.signed.shape[0] > _MANY
    if others is not None and (design.plain or many):  # for a small table the program below names every parameter
        _check_strong(design, problem, c)
    if others in ([], ["tie"]) and (design.plain or many):
        if _exists_by_graph(design, problem, with_tie=bool(others)):
            return None
    elif _is_pinned(problem):
        return None
    elif isinstance(problem.response, Cumulative) and c.has_ties and not c.n_ties and "tie" in design.blocks:
        raise _separated(*describe_no_ties(float(c.counts.sum()), BELOW), _PRIOR)
    if many:
        _check_levels(design, free, problem, c)
    merged, rows = _merged(design, problem)
    reached, direction = _decided(merged)
    if direction is not None:
        full = np.zeros(len(design.names))
        full[free] = direction / np.abs(direction).max()
        infinite = [design.names[k] for k in free[_undetermined(merged, direction)]]
        cause_and_remedy = describe(Separation(full, infinite, design, merged, rows, c))
        raise _separated(*cause_and_remedy, *([_PRIOR] if isinstance(problem.response, Cumulative) else []))
    return reached


def _decided(problem: Problem) -> tuple[Maximum | None, FloatArray | None]:
    """Return the maximum if it had to be computed, or a direction of recession (p,) if there is no maximum."""
    if problem.signed.shape[0] <= _MANY:
        return None, recession_direction(problem)
    rise = Rise(problem)
    if rise.direction is not None:
        return None, rise.direction
    if rise.reached is not None and is_proven(problem, rise.reached):
        return rise.reached, None
    direction = rise.by_program()
    return (rise.reached if direction is None and rise.reached and rise.reached.converged else None), direction


def _separated(
    cause: str, remedy: str, finite: str = "fit(…, prior='jeffreys') or fit(…, prior=1.0)"
) -> SeparationError:
    return SeparationError(cause, f"{remedy} For finite estimates use a prior: {finite}.")


def separated_without(problem: Problem, clusters: Clustered, lost: IntArray) -> tuple[FloatArray, IntArray]:
    """Return unit directions (d, p) in which estimates are infinite if a cluster is left out, and that cluster (d,).

    Without the cluster, a combination of the parameters that moves along its direction is infinite or not determined.
    A cluster is checked if it alone has judgments in some cell, and if it is not in `lost`. Many clusters are first
    checked together: if the estimate exists without all of them, it exists without each. Tables that are too large are
    not checked.
    """
    directions, by = [np.empty((0, problem.signed.shape[1]))], [np.empty(0, dtype=np.int64)]
    holder = _only_holders(problem, clusters)
    waiting = [np.setdiff1d(holder[holder >= 0], lost)]
    if problem.signed.shape[0] * problem.signed.shape[1] > _ENTRIES:
        waiting = []
    for _ in range(_CHECKS):
        if not waiting:
            break
        some = waiting.pop()
        left = replace(problem, counts=np.where(np.isin(holder, some), 0.0, problem.counts))
        if not len(some) or _is_pinned(left):
            continue
        _, direction = _decided(left)
        if len(some) > 1:
            if direction is not None or Conditions.of(left).open_directions(np.zeros(left.signed.shape[1])).size:
                waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        elif direction is not None:
            open_ = Conditions.of(left).open_directions(direction)
            directions.append(open_)
            by.append(np.full(len(open_), some[0]))
    return np.concatenate(directions), np.concatenate(by)


def _only_holders(problem: Problem, clusters: Clustered) -> IntArray:
    """Return the only cluster with judgments in each cell, shape (S, K); −1 for no cluster or several."""
    line, cell = np.nonzero(clusters.counts > 0)
    cells = clusters.rows[line] * problem.counts.shape[1] + cell
    lowest, highest = np.full(problem.counts.size, clusters.size), np.full(problem.counts.size, -1)
    np.minimum.at(lowest, cells, clusters.codes[line])
    np.maximum.at(highest, cells, clusters.codes[line])
    holder = np.where(lowest == highest, highest, -1)
    return holder.reshape(problem.counts.shape)


def _merged(design: Design, problem: Problem) -> tuple[Problem, IntArray]:
    """Sum comparisons with the same linear predictors; also return the first comparison of each."""
    merged, first, _ = distinct(design, problem)
    if merged is problem:
        return problem, first
    order = np.argsort(first)  # in the order of the table, which is sorted by objects
    return rows_of(merged, order), first[order]


def _beside_worths(design: Design, free: IntArray) -> list[str] | None:
    """Return the names of the free parameters that are not worths; None unless every worth has a parameter of its own.

    A row of the worth is an object, or an object under a judge. Every row has a parameter of its own if the number of
    independent parameters equals the number of differences that comparisons inform. In each connected group of rows
    that is the number of rows minus one.
    """
    units, pairs = len(next(iter(design.worth.units.values()), ())), design.worth.index
    worths = sum(design.blocks[k] == "worth" for k in free)
    if not worths or worths < units - components_of(units, pairs)[0]:
        return None
    return [design.names[k] for k in free if design.blocks[k] != "worth"]


def _is_pinned(problem: Problem) -> bool:
    """Whether outcomes seen together already exclude every direction; this is the usual, fast case."""
    seen = problem.counts > 0
    # one equation for each outcome but the first
    equations = np.count_nonzero(seen) - np.count_nonzero(seen.any(axis=1))
    if equations < problem.signed.shape[1]:
        return False
    weights = _equations(problem.response)[:, :, seen @ (1 << np.arange(seen.shape[1]))]
    return all_independent_with(problem, weights)


def _equations(response: AnyResponse) -> FloatArray:
    """Return Gram matrices of predictors that are 0 along a direction of recession, by seen outcomes, (B, B, 2^K)."""
    size, width = len(response.outcomes), response.width
    grams = np.zeros((width, width, 1 << size))
    for seen in range(1, 1 << size):
        together = [k for k in range(size) if seen >> k & 1]
        if isinstance(response, Cumulative):
            away = response.cuts[[k for k in together if k + 1 in together]]
        else:
            away = response.loadings[together] - response.loadings[together[0]]
        grams[:, :, seen] = away.T @ away
    return grams


def _check_strong(design: Design, problem: Problem, c: Comparisons) -> None:
    """Raise if some objects won all judgments against others; other terms of the formula do not matter.

    Raises
    ------
    SeparationError
        It names the groups in the first class of judgments (a judge with separate worths), and the other classes.
    """
    pairs = design.worth.index
    _, whole = components_of(len(next(iter(design.worth.units.values()))), pairs)
    strong = ordered_components(len(whole), pairs, problem.response.tally(problem.counts))
    if len(np.unique(strong)) > len(np.unique(whole)):
        raise _separated(*describe_groups(c, design, problem, whole, strong))


def _check_levels(design: Design, free: IntArray, problem: Problem, c: Comparisons) -> None:
    """Raise if a class with its own effect, such as a judge with a tie effect, always or never has the outcome.

    Raises
    ------
    SeparationError
        It names the classes.
    """
    if isinstance(problem.response, Cumulative):
        return
    for b, levels in design.shared.items():
        own = levels.matrix.tocsr()[:, free]
        if levels.added or np.count_nonzero(own.count_nonzero(axis=0)) < own.shape[0]:
            continue
        used, first = used_levels(problem, b, levels, levels.index)
        wrong = (first == 0).astype(float) - (used == 0)
        if wrong.any():
            direction = np.zeros(len(design.names))
            direction[free] = np.round(sparse.linalg.lsqr(own, wrong, atol=1e-12, btol=1e-12)[0], 6)
            infinite = [design.names[k] for k in np.flatnonzero(direction)]
            raise _separated(
                *describe(Separation(direction, infinite, design, problem, np.arange(len(problem.counts)), c))
            )


def _exists_by_graph(design: Design, problem: Problem, *, with_tie: bool) -> bool:
    """Whether the graph of wins shows that all estimates exist, for worths alone or with a single `tie`."""
    if not with_tie:
        return True
    (i, j), (wins, ties, losses) = design.worth.index.T, problem.response.tally(problem.counts).T
    if not ties.any():
        raise _separated(*describe_no_ties(float(problem.counts.sum())))
    # a closed walk of wins alone has more wins than ties
    size = len(next(iter(design.worth.units.values())))
    cycles = strong_components(size, [(i, j, wins > 0), (j, i, losses > 0)])
    return len(np.unique(cycles)) < size


def _undetermined(problem: Problem, direction: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which parameters are not determined by the outcomes that `direction` does not separate, (p,)."""
    open_ = Conditions.of(problem).open_directions(direction)
    return np.asarray(np.abs(open_).max(axis=0, initial=0) > 1e-6)
