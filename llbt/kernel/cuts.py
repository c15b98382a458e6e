"""Cuts of a cumulative link have to be in order: where a fit starts, and whether it may end at a point."""

from __future__ import annotations

import numpy as np
from scipy import optimize, sparse, special

from ..core.links import Cumulative
from ..errors import DesignError
from .indexed_rows import FloatArray
from .likelihood import Problem, row_sums, sparse_gram

_SEEN = 0.5  # judgments added to each outcome, so that every outcome has a stretch of the scale


def room(problem: Problem, params: FloatArray) -> FloatArray:
    """Return the distance between the two nearest cuts of each comparison, (S,); infinite where there are no cuts."""
    if not isinstance(problem.response, Cumulative):
        return np.full(problem.signed.shape[0], np.inf)
    return problem.response.room(problem.at(params))


def ordered_start(problem: Problem, response: Cumulative) -> FloatArray:
    """Return parameters whose cuts are in order, close to what all judgments together suggest, shape (p,).

    Raises
    ------
    DesignError
        Where no parameters put all cuts in order.
    """
    wanted = np.repeat(_pooled(problem, response)[:, None], problem.signed.shape[0], axis=1) - problem.offsets
    wanted[0] = 0.0
    levels = np.eye(response.width)
    levels[0, 0] = 0.0
    gram = sparse_gram(problem, np.broadcast_to(levels[:, :, None], (*levels.shape, wanted.shape[1])))
    own = np.flatnonzero(gram.diagonal() > 0)
    block = gram[own][:, own]
    block = block if isinstance(block, np.ndarray) else block.toarray()
    start = np.zeros(problem.signed.shape[1])
    start[own] = np.linalg.lstsq(block, row_sums(problem, wanted)[own], rcond=None)[0]
    return start if (room(problem, start) > 0).all() else _by_program(problem)


def _pooled(problem: Problem, response: Cumulative) -> FloatArray:
    """Return the predictors (B,) that fit all judgments together, with the signed predictor at 0."""
    counts = problem.counts.sum(axis=0) + _SEEN
    shares = (counts + counts[::-1]) / (2 * counts.sum())
    top = np.cumsum(shares)[:-1]
    at = special.logit(top) if response.link == "cumulative" else special.ndtri(top)
    return np.append(0.0, np.linalg.lstsq(response.cuts[:, 1:], at, rcond=None)[0])


def _by_program(problem: Problem) -> FloatArray:
    """Return parameters that put the nearest cuts as far apart as possible, up to 1, by a linear program."""
    p = problem.signed.shape[1]
    rows = sparse.vstack([part.tocsr() for part in problem.predictors[1:]], format="csr")
    away = np.ones((rows.shape[0], 1))
    program = optimize.linprog(
        np.append(np.zeros(p), -1.0),
        A_ub=sparse.hstack([-rows, sparse.csr_array(away)], format="csr"),
        b_ub=problem.offsets[1:].ravel(),
        bounds=[(None, None)] * p + [(None, 1.0)],
        method="highs",
    )
    if program.status != 0 or -program.fun <= 0:
        held = "In fixed=, hold tie and grade above 0, or leave them out."
        remedy = held if problem.offsets[1:].any() else "Add tie and grade to the formula."
        raise DesignError("no parameters put the cuts of all comparisons in order", remedy)
    return np.asarray(program.x[:p])
