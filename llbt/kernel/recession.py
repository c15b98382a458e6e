"""Directions along which a likelihood rises without end: conditions for them, and the search for one.

Along a direction of recession no observed outcome becomes less likely, and some become more likely (Albert & Anderson
1984, Biometrika 71(1)). With a cumulative link an outcome does not become less likely if the cut above it does not fall
and the cut below it does not rise; the link's curve is log-concave (Pratt 1981, Journal of the American Statistical
Association 76).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, optimize, sparse
from scipy.sparse import csr_array

from ..base.budgets import refuse_large
from ..core.links import Cumulative
from ..errors import DesignError, SlowWarning, warn_user
from .indexed_rows import FloatArray, IntArray
from .likelihood import Problem
from .solvers import maximum

TOLERANCE = 1e-7
_SMALL = 300_000  # with so many entries of the conditions the linear program takes about a second
_SECONDS = 60.0  # most seconds of a larger program
_NEARLY = 1e-6  # a step may miss a condition by this share of the largest margin
_OPEN = 1e-4  # a condition holds strictly from this share of the largest margin
_MOVED = 12.0  # least distance that a parameter moves a predictor on its way to infinity


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions of a direction of recession v: e·v = 0 and a·v ≥ 0, strictly for some a.

    Attributes
    ----------
    equal, unequal : csr_array, each (…, p)
        Rows e for outcomes that were seen together, and rows a for those that were not.
    """

    equal: csr_array
    unequal: csr_array

    @classmethod
    def of(cls, problem: Problem) -> Conditions:
        """Return the conditions that the outcomes of a problem imply.

        If u are the predictors along v, an outcome k has L(k)·u ≤ L(seen)·u; outcomes observed together have equal
        values.
        """
        predictors = [rows.tocsr() for rows in problem.predictors]
        if isinstance(problem.response, Cumulative):
            return _of_cuts(problem, problem.response, predictors)
        loadings, seen = problem.response.loadings, problem.counts > 0
        first = np.where(seen.any(axis=1), seen.argmax(axis=1), -1)  # one observed outcome of each comparison
        equal, unequal = [csr_array((0, predictors[0].shape[1]))], [csr_array((0, predictors[0].shape[1]))]
        for one, other in itertools.permutations(range(len(loadings)), 2):
            at = loadings[one] - loadings[other]
            for where, conditions in ((seen[:, other], equal), (~seen[:, other], unequal)):
                some = np.flatnonzero(where & (first == one))
                if len(some):
                    parts = zip(at, predictors, strict=True)
                    conditions.append(sum(factor * part[some] for factor, part in parts if factor))
        return cls(sparse.vstack(equal, format="csr"), sparse.vstack(unequal, format="csr"))

    @property
    def is_large(self) -> bool:
        """Whether the linear program takes seconds or longer."""
        return bool(self.equal.nnz + self.unequal.nnz > _SMALL)

    def of_columns(self, chosen: IntArray) -> Conditions:
        """Return the conditions on directions in some of the parameters alone."""
        return Conditions(self.equal[:, chosen], self.unequal[:, chosen])

    def open_directions(self, direction: FloatArray) -> FloatArray:
        """Return orthonormal directions (d, p) left undetermined by the outcomes that `direction` does not separate."""
        return self._left_open(np.abs(self.unequal @ direction) <= TOLERANCE * np.abs(direction).max())

    def _left_open(self, still: FloatArray) -> FloatArray:
        rows = sparse.vstack([self.equal, self.unequal[still]])
        refuse_large(
            f"naming which of {rows.shape[1]:,} parameters have no finite estimates",
            2 * float(rows.shape[1]) ** 2,
            "Some are infinite: fit judges in smaller groups (Comparisons.select) to see which.",
        )
        values, vectors = linalg.eigh((rows.T @ rows).toarray())
        return np.asarray(vectors[:, values < 1e-9 * max(1.0, float(values.max(initial=0)))].T)

    def nearest(self, step: FloatArray) -> FloatArray | None:
        """Return the direction of recession that equals a step up to rounding, (p,); None if there is none.

        A step may miss conditions by 1e-6 of the largest margin. Conditions that it keeps with almost no margin are
        then made equations, and the others are tested again.
        """
        margins, equal = self.unequal @ step, np.abs(self.equal @ step)
        most = float(margins.max(initial=0.0))
        if not most > 0 or max(-margins.min(), equal.max(initial=0.0)) > _NEARLY * most:
            return None
        basis = self._left_open(margins <= _OPEN * most)
        direction = np.asarray(basis.T @ (basis @ step))
        margins = self.unequal @ direction
        most = float(margins.max(initial=0.0))
        exact = most > 0 and margins.min() >= -TOLERANCE * TOLERANCE * most
        return direction / np.abs(direction).max() if exact else None


def _of_cuts(problem: Problem, response: Cumulative, predictors: list[csr_array]) -> Conditions:
    """Return the conditions of a cumulative link: a cut stays where outcomes on both of its sides were seen."""
    seen = problem.counts > 0
    equal, unequal = [csr_array((0, predictors[0].shape[1]))], [csr_array((0, predictors[0].shape[1]))]
    for m, at in enumerate(response.cuts):
        above, below = seen[:, m], seen[:, m + 1]
        held, rises, falls = above & below, above & ~below, below & ~above
        for where, sign, conditions in ((held, 1, equal), (rises, 1, unequal), (falls, -1, unequal)):
            some = np.flatnonzero(where)
            if len(some):
                parts = zip(at, predictors, strict=True)
                conditions.append(sum(sign * factor * part[some] for factor, part in parts if factor))
    return Conditions(sparse.vstack(equal, format="csr"), sparse.vstack(unequal, format="csr"))


def recession_direction(problem: Problem) -> FloatArray | None:
    """Return a direction of recession (p,) that separates as many outcomes as possible; None if there is none."""
    return direction_among(Conditions.of(problem))


class Rise:
    """A search for the maximum of a problem that ends at a step which is a direction of recession.

    Attributes
    ----------
    direction : ndarray, shape (p,)
        The direction; None if no step was a direction of recession.
    reached : Maximum or None
        The point where Newton's method stopped.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.direction: FloatArray | None = None
        self.reached = maximum(problem, self._is_direction)

    def _is_direction(self, params: FloatArray, step: FloatArray) -> bool:
        """Whether a step is a direction of recession; near 0 this is not tested, as there is no need."""
        if max(float(np.abs(u).max()) for u in self._problem.at(params)) > _MOVED:
            self.direction = self._conditions.nearest(step)
        return self.direction is not None

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions.of(self._problem)

    def by_program(self) -> FloatArray | None:
        """Return a direction of recession; a large table is first searched along the parameters that moved far."""
        conditions, reached = self._conditions, self.reached
        if reached is not None and conditions.is_large:
            moved = _moved(self._problem, reached.params)
            some = direction_among(conditions.of_columns(moved)) if 0 < len(moved) < len(reached.params) else None
            if some is not None:
                direction = np.zeros(len(reached.params))
                direction[moved] = some
                return direction
        return direction_among(conditions)


def _moved(problem: Problem, params: FloatArray) -> IntArray:
    """Return the parameters that each move some predictor far."""
    largest = np.max([rows.largest() for rows in problem.predictors], axis=0)
    return np.flatnonzero(np.abs(params) * largest > _MOVED)


def direction_among(conditions: Conditions) -> FloatArray | None:
    """Return v (p,) that satisfies the conditions, as many as possible strictly; None if none can be strict.

    The linear program maximizes Σ min(1, a·v) over the inequalities a·v ≥ 0, subject to the equations of outcomes that
    were seen together. Its solution is strict wherever any direction is strict.

    Raises
    ------
    DesignError
        If the linear program does not end in time.
    """
    equal, unequal = conditions.equal, conditions.unequal
    m, p = unequal.shape
    if m == 0:
        return None
    if conditions.is_large:
        warn_user(
            f"a linear program checks whether all estimates are finite ({m + equal.shape[0]:,} conditions on {p:,} "
            f"parameters, up to {_SECONDS:g} s). With a prior they are, and the check is skipped: fit(…, "
            "prior='jeffreys').",
            SlowWarning,
        )
    scale = 1 / np.maximum(abs(sparse.vstack([equal, unequal])).max(axis=0).toarray().ravel(), 1e-300)
    program = optimize.linprog(
        np.concatenate([np.zeros(p), -np.ones(m)]),
        A_ub=sparse.hstack([-unequal.multiply(scale), sparse.eye_array(m)], format="csr"),
        b_ub=np.zeros(m),
        A_eq=sparse.hstack([equal.multiply(scale), csr_array((equal.shape[0], m))], format="csr"),
        b_eq=np.zeros(equal.shape[0]),
        bounds=[(None, None)] * p + [(0, 1)] * m,
        method="highs",
        options={"time_limit": _SECONDS} if conditions.is_large else {},
    )
    if program.status == 1:
        raise DesignError(
            f"the check whether all of {p:,} estimates are finite did not end in {_SECONDS:g} s",
            "With a prior they are finite: fit(…, prior='jeffreys').",
        )
    if program.status != 0:
        raise DesignError(f"the check that estimates exist did not finish: {program.message}")
    return None if -program.fun < TOLERANCE else np.asarray(program.x[:p] * scale)
