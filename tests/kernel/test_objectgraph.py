"""The information of many objects as a bordered graph, against sums over the rows of all parameters."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support.graphs import finite_graph

import llbt
from llbt.fitting.specification import make_problem
from llbt.kernel.likelihood import Problem, weighted_gram
from llbt.kernel.objectgraph import GraphInformation, object_graph
from llbt.kernel.solvers import independent_in_gram, independent_with

FORMULAS = ("object + tie", "object + tie * topic + order", "object + length + tie + order:topic", "object:topic + tie")


def problem_of(formula: str, **fixed: float) -> Problem:
    c = finite_graph("random", 320, 1500)
    model = llbt.LLBT.from_formula(formula, c)
    free = np.array([k for k, name in enumerate(model.design.names) if name not in fixed])
    return make_problem(model.design, c, free, fixed)


def weights_of(problem: Problem, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(3), len(problem.counts)).T
    return problem.response.weight(probability, rng.gamma(2.0, size=len(problem.counts)))


def information(problem: Problem, weights: np.ndarray) -> GraphInformation:
    graph = object_graph(problem.predictors)
    assert graph is not None
    return graph.information(weights)


@pytest.mark.parametrize("formula", FORMULAS)
def test_is_the_sum_over_comparisons(formula: str) -> None:
    problem = problem_of(formula)
    weights = weights_of(problem)
    found = information(problem, weights)
    expected = weighted_gram(problem, weights)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12 * np.abs(expected).max())


def test_held_objects_are_one_node_with_the_reference() -> None:
    problem = problem_of("object + tie", **{"object[3]": 0.5, "object[4]": -0.1})
    weights = weights_of(problem)
    found = information(problem, weights)
    assert found.nodes == 317
    np.testing.assert_allclose(found.toarray(), weighted_gram(problem, weights), atol=1e-10)


def test_sums_are_those_of_the_matrices() -> None:
    problem = problem_of("object + tie")
    one, other = (information(problem, weights_of(problem, seed)) for seed in (0, 1))
    np.testing.assert_allclose((one + other).toarray(), one.toarray() + other.toarray(), atol=1e-10)
    np.testing.assert_allclose(one.toarray() + other, one.toarray() + other.toarray(), atol=1e-10)


@pytest.mark.parametrize("formula", ["C(object, Sum) + tie", "object + object:topic + tie", "length + tie"])
def test_is_none_where_rows_are_more_than_objects(formula: str) -> None:
    assert object_graph(problem_of(formula).predictors) is None


def test_finds_what_is_aliased_where_a_dense_matrix_does() -> None:
    problem = problem_of("object + tie + order")
    i, j = (part.index for part in problem.signed.parts[:2])
    halves = np.where((i < 160) == (j < 160), 1.0, 0.0)
    alone = np.where((i == 5) | (j == 5), 0.0, halves)
    for weights, known in ((np.ones(len(i)), 321), (halves, 320), (alone, 319)):
        given = problem.response.weight(np.full((3, len(i)), 1 / 3), weights)
        expected = independent_in_gram(weighted_gram(problem, given))
        assert expected.sum() == known
        np.testing.assert_array_equal(independent_with(problem, given), expected)


def test_finds_columns_that_worths_explain() -> None:
    problem = problem_of("object + length + tie")
    worth = np.random.default_rng(0).normal(size=320)
    i, j = (part.index for part in problem.signed.parts[:2])
    signed = dataclasses.replace(problem.signed, own=(worth[i] - worth[j])[None])
    aliased = dataclasses.replace(problem, predictors=(signed, *problem.predictors[1:]))
    found = independent_with(aliased, weights_of(problem))
    np.testing.assert_array_equal(np.flatnonzero(~found), signed.chosen)
