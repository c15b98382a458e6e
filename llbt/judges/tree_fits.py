"""Fits of the nodes of a tree, scores of their judges, and the gain of splits, for judgments of pairs and for lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse, special

from ..core.basis import Basis
from ..core.columns import FloatArray, IntArray
from ..fitting.clusters import kept_way
from ..fitting.estimates import Estimates
from ..fitting.fitted import plain_of
from ..fitting.merged_rows import distinct
from ..fitting.model import LLBT
from ..fitting.protocols import FitLike, WithLists, has_lists
from ..fitting.ranking_estimates import RankingSpecification
from ..fitting.ranking_lists import Ghost
from ..fitting.ranking_model import solved_rankings
from ..fitting.specification import Prior, Specification
from ..formulas.coding import Reference
from ..kernel.batch import fit_many
from ..kernel.likelihood import pseudo_counts
from ..kernel.list_fit import Unbounded, fit_lists
from ..kernel.list_likelihood import Lists
from ..kernel.ranking_terms import Batch, Choices
from ..kernel.robust import cluster_scores
from .judge_lists import JudgeLists
from .judge_table import JudgeData

ByJudge = JudgeData | JudgeLists
BoolArray = npt.NDArray[np.bool_]


class _Solution(Protocol):
    @property
    def params(self) -> FloatArray: ...


class NodeFit(FitLike, Protocol):
    """The fit of a node: of counts of judgments, or of rankings."""

    @property
    def free(self) -> IntArray:
        """Which of the parameters of the design were estimated."""

    @property
    def solution(self) -> _Solution:
        """The result of the solver."""

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors."""

    @property
    def llf(self) -> float:
        """Log-likelihood."""

    @property
    def effective_params(self) -> float:
        """The number of parameters that AIC and BIC count."""

    @property
    def n_judgments(self) -> float:
        """Number of judgments or rankings."""

    @property
    def basis(self) -> Basis:
        """The data of the log-likelihood."""


@dataclass(frozen=True)
class Growth:
    """Settings of a tree's growth; see `tree`. `worths` has only the terms of worths, for lists without ties."""

    formula: str
    worths: str
    reference: Reference
    prior: Prior
    alpha: float
    min_size: int
    max_depth: int


def fitted(data: ByJudge, growth: Growth) -> NodeFit:
    """Return the fit of the judgments of some judges, without the warnings of `llbt.fit`."""
    if isinstance(data, JudgeLists):
        formula = growth.formula if data.rankings.largest_tie > 1 else growth.worths
        spec = RankingSpecification(formula, growth.reference, prior=growth.prior)
        return solved_rankings(spec, data.rankings)
    model = LLBT.from_formula(growth.formula, data.comparisons, reference=growth.reference)
    return model.solved(Specification(growth.formula, growth.reference, prior=growth.prior))


def judge_scores(data: ByJudge, results: NodeFit) -> FloatArray:
    """Return the scores of the judges at their fit, in their order, shape (G, p)."""
    if isinstance(data, JudgeLists):
        assert has_lists(results)  # lists are fitted as lists
        return results.lists.scores(results.solution.params, data.codes, len(data.levels))
    fit = plain_of(results)
    assert fit is not None
    problem = fit.problem()
    way = kept_way(fit.comparisons, data.by, (data.by,))
    scores = cluster_scores(problem, fit.solution, way.clusters)
    place = {level: k for k, level in enumerate(way.levels)}
    return np.asarray(scores[[place[level] for level in data.levels]])


def gains(data: ByJudge, growth: Growth, results: NodeFit, masks: BoolArray) -> FloatArray:
    """Return the log-likelihood of both sides together for each split (B, G), NaN if a side has no finite fit."""
    if isinstance(data, JudgeLists):
        assert has_lists(results)
        return np.array([_gain_of_lists(data, growth, results, mask) for mask in masks])
    fit = plain_of(results)
    assert fit is not None
    return _gains_of_pairs(data, growth, fit, masks)


# -- lists -------------------------------------------------------------------------------------------------------


def _gain_of_lists(data: JudgeLists, growth: Growth, results: WithLists, mask: BoolArray) -> float:
    goes = mask[data.codes]
    return sum(_maximum(results, growth, side) for side in (goes, ~goes))


def _maximum(results: WithLists, growth: Growth, some: BoolArray) -> float:
    """Return the maximum log-likelihood of the lists in the mask `some` (L,), with the prior; NaN if there is none."""
    lists, start = _with_own_orders(results.lists.of_lists(some), results)
    if growth.prior is not None and growth.prior != "jeffreys":
        lists, start = Ghost(float(growth.prior)).joined(lists), None
    try:
        maximum = fit_lists(lists, start)
    except Unbounded:
        return np.nan
    return maximum.log_likelihood if maximum.converged else np.nan


def _with_own_orders(lists: Lists, results: WithLists) -> tuple[Lists, FloatArray | None]:
    """Return lists with a δ for each number of tied objects that occurs, and the starting values of their fit.

    As in a fit of these lists alone, the other δ are 0, because the lists have no ties of these sizes.
    """
    tied: list[IntArray] = [b.chosen for b in lists.batches if isinstance(b, Choices)]
    own = np.isin(lists.orders, np.concatenate(tied) if tied else [])
    orders = lists.orders[own]
    batches: tuple[Batch, ...] = tuple(
        replace(b, orders=orders) if isinstance(b, Choices) else b for b in lists.batches
    )
    params, p = results.solution.params, lists.matrix.shape[1]
    held = None if lists.held is None else lists.held[own]
    start = params if held is not None else np.append(params[:p], params[p:][own])
    return replace(lists, batches=batches, orders=orders, held=held), start


# -- pairs -------------------------------------------------------------------------------------------------------


def _gains_of_pairs(data: JudgeData, growth: Growth, results: Estimates, masks: BoolArray) -> FloatArray:
    table = results.comparisons
    way = kept_way(table, data.by, (data.by,))
    problem, first, merged = distinct(results.design, results.problem(), list(table.pairs.T))
    outcomes = problem.counts.shape[1]
    lines = way.clusters
    cell = merged[lines.rows][:, None] * outcomes + np.arange(outcomes)
    shape = (len(way.levels), problem.counts.size)
    by_judge = sparse.csr_matrix((lines.counts.ravel(), (np.repeat(lines.codes, outcomes), cell.ravel())), shape=shape)
    place = {level: g for g, level in enumerate(data.levels)}
    order = np.array([place[level] for level in way.levels], dtype=np.int64)
    left = np.asarray(by_judge.T @ masks[:, order].T.astype(np.float64)).T.reshape(-1, *problem.counts.shape)
    counts = np.concatenate([left, problem.counts - left])
    if growth.prior is not None and growth.prior != "jeffreys":
        added = pseudo_counts(table.pairs[first], problem.totals, outcomes, float(growth.prior))
        counts = counts + added
    fits = fit_many(problem, counts, results.solution.params)
    totals = np.maximum(counts.sum(axis=2, keepdims=True), 1e-300)
    value = special.xlogy(counts, counts / totals).sum(axis=(1, 2)) - fits.deviance / 2
    value = np.where(fits.degenerate, np.nan, value)
    return np.asarray(value[: len(masks)] + value[len(masks) :])
