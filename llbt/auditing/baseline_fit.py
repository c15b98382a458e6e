"""The expected judgments under one worth for each object, common to all judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.columns import FloatArray, IntArray
from ..core.comparisons import Comparisons
from ..core.counts import counts_of_outcomes
from ..core.response import Response
from ..fitting.specification import make_problem
from ..formulas.design import build_design
from ..kernel.likelihood import Problem, probabilities
from ..kernel.penalties import firth
from ..kernel.robust import Clustered
from ..kernel.score_components import Components
from ..kernel.solvers import Fit, eliminate, independent_columns

_MANY = 500  # parameters
_PRIOR = 1.0  # judgments of each comparison, split equally over its outcomes
_FAR = 5.0  # log-worths beyond which estimates may be infinite


@dataclass(frozen=True, eq=False)
class Expected:
    """A fit of object, tie (if there are ties) and order (if it is known), with the comparison of each line.

    Attributes
    ----------
    pairs : ndarray of int, shape (S, 2)
    problem : Problem
    fit : Fit
        The maximum likelihood fit. If estimates are infinite or nearly so: the fit with Firth's bias reduction, or with
        a prior for many objects.
    probability : ndarray, shape (S, K)
    rows : ndarray of int, shape (N,)
        The comparison of each line of the evidence.
    counts : ndarray, shape (N, K)
    worths : ndarray, shape (J, p)
        The log-worths as combinations of the parameters.
    blocks : tuple of str
        The block of each parameter.
    """

    pairs: IntArray
    problem: Problem
    fit: Fit
    probability: FloatArray
    rows: IntArray
    counts: FloatArray
    worths: FloatArray
    blocks: tuple[str, ...]

    def units(self, codes: IntArray) -> Clustered:
        """Return the lines that belong to a unit (code 0 or more), codes (N,)."""
        known = codes >= 0
        return Clustered(self.rows[known], self.counts[known], codes[known])

    def components(self, codes: Sequence[IntArray], values: FloatArray) -> Components:
        """Return the components of the lines' scores in a direction that adds values (S,) to the signed predictor."""
        slopes = values[:, None] * self.problem.response.slopes(self.probability.T)[:, 0].T
        away = slopes - (self.probability * slopes).sum(axis=1, keepdims=True)
        v = (self.probability * away**2).sum(axis=1)[self.rows]
        score, square = ((self.counts * power[self.rows]).sum(axis=1) for power in (away, away**2))
        return Components.of(codes, score, square, self.counts.sum(axis=1), v)

    @property
    def lead(self) -> FloatArray:
        """Fitted log-worth of i minus log-worth of j, shape (S,)."""
        worth = self.worths @ self.fit.params
        return np.asarray(worth[self.pairs[:, 0]] - worth[self.pairs[:, 1]])


def expect(c: Comparisons, rows: IntArray, counts: FloatArray) -> Expected:
    """Return the expected outcome of each judgment under the pooled fit."""
    c = c if c.n_ties or c.response.grades else c.drop_ties()
    design = build_design(" + ".join(("object", *words(c.response), *(["order"] if c.keeps_order else []))), c)
    free = np.flatnonzero(independent_columns(make_problem(design, c, np.arange(len(design.names)), {})))
    problem = make_problem(design, c, free, {})
    fit = _fitted(problem)
    worths = design.worth.matrix.columns(free).toarray()[np.argsort(design.worth.units["object"])]
    return Expected(
        c.pairs,
        problem,
        fit,
        probabilities(problem, fit.params),
        rows,
        counts_of_outcomes(counts, c.response),
        worths,
        tuple(design.blocks[k] for k in free),
    )


def words(response: Response) -> tuple[str, ...]:
    """Return the terms of a formula for ties and grades, as far as the response has them."""
    return tuple(dict.fromkeys(name.partition("[")[0] for name in response.shared))


def effects_of(judge: str, response: Response) -> str:
    """Return the calls for ties and grades by judge: random effects, which are finite also for judges without ties."""
    formula = " + ".join(("object", *words(response), *(f"({word} | {judge})" for word in words(response))))
    return f'llbt.from_judgments(…, clusters="{judge}"), then llbt.fit("{formula}", …)'


def ordered_remedy(response: Response) -> str:
    """Return the calls that keep the order of presentation and fit its effect."""
    formula = " + ".join(("object", *words(response), "order"))
    return f'llbt.from_judgments(…, order=True), then llbt.fit("{formula}", …)'


def _fitted(problem: Problem) -> Fit:
    """Return the maximum likelihood fit or, if it does not exist, a penalized fit."""
    try:
        fit = eliminate(problem)
    except np.linalg.LinAlgError:  # probabilities of 0 on the way to infinity
        return _finite(problem)
    near = fit.converged and np.abs(fit.params).max(initial=0) <= _FAR and np.isfinite(fit.cov).all()
    return fit if near else _finite(problem)


def _finite(problem: Problem) -> Fit:
    """Return the fit with Firth's bias reduction, or with a prior if many parameters would take minutes."""
    if problem.signed.shape[1] <= _MANY:
        return eliminate(problem, penalty=firth(problem))
    return eliminate(replace(problem, counts=problem.counts + _PRIOR / problem.counts.shape[1]))
