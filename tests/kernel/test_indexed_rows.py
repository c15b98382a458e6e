"""Gathered rows against the matrix that they stand for, with and without columns of their own."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import llbt
from llbt.kernel.indexed_rows import Gathered, Part, quadratic, weighted_product
from llbt.kernel.robust import Clustered, cluster_scores


def rows_of_objects_and_numbers(seed: int = 1) -> tuple[Gathered, np.ndarray]:
    """Return 80 rows of five objects, one without a column, and two numbers, and the same as a matrix."""
    rng = np.random.default_rng(seed)
    index, own = rng.integers(0, 5, 80), rng.normal(size=(2, 80))
    objects = np.zeros((5, 6))
    objects[:4, [0, 1, 3, 4]] = np.eye(4)
    matrix = objects[index]
    matrix[:, [2, 5]] = own.T
    return Gathered((Part(csr_array(objects), index, 1.0),), (80, 6), np.array([2, 5]), own), matrix


@pytest.fixture(name="case")
def _case() -> tuple[Gathered, np.ndarray]:
    """Differences with one more part, and the same as a matrix."""
    rows, matrix = rows_of_objects_and_numbers()
    i, j = np.random.default_rng(5).integers(0, 80, (2, 60))
    order = np.array([[0, 0, 0, 1.0, 0, 0]])
    part = Part(csr_array(order), np.zeros(60, dtype=np.int64), 1.0)
    return rows.differences(i, j) + Gathered((part,), (60, 6)), matrix[i] - matrix[j] + order


def test_numbers_stand_apart_from_few_distinct_rows(case) -> None:
    found, matrix = case
    assert found.chosen.tolist() == [2, 5]
    assert found.own.shape == (2, 60)
    assert {part.matrix.shape[0] for part in found.parts} == {5, 1}
    np.testing.assert_allclose(found.toarray(), matrix, atol=1e-15)


def test_differences_without_numbers_are_those_of_the_matrix() -> None:
    rows, matrix = rows_of_objects_and_numbers()
    i, j = np.random.default_rng(6).integers(0, 80, (2, 60))
    found = Gathered(rows.parts, rows.shape).differences(i, j)
    assert found.shape == (60, 6)
    matrix[:, [2, 5]] = 0
    np.testing.assert_array_equal(found.toarray(), matrix[i] - matrix[j])


def test_products_are_those_of_the_matrix(case) -> None:
    found, matrix = case
    rng = np.random.default_rng(2)
    params, weights = rng.normal(size=6), rng.normal(size=60)
    np.testing.assert_allclose(found @ params, matrix @ params, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.transposed(weights), matrix.T @ weights, rtol=1e-12, atol=1e-12)
    product = weighted_product(found, found, weights)
    np.testing.assert_allclose(product, matrix.T @ (weights[:, None] * matrix), rtol=1e-11, atol=1e-11)
    other = Gathered((Part(csr_array(np.array([[0, 2.0, 0, 0, 0, 0]])), np.zeros(60, dtype=np.int64), 1.0),), (60, 6))
    mixed = weighted_product(found, other, weights)
    np.testing.assert_allclose(mixed, matrix.T @ (weights[:, None] * other.toarray()), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("chosen", [[0, 2, 5], [5, 3, 2], [1, 4], [2]], ids=str)
def test_some_columns_are_those_of_the_matrix(case, chosen: list[int]) -> None:
    found, matrix = case
    np.testing.assert_allclose(found.columns(np.array(chosen)).toarray(), matrix[:, chosen], atol=1e-15)


@pytest.mark.parametrize(
    "rows", [np.array([3, 3, 59]), slice(10, 20), np.arange(60) % 2 == 0], ids=["picked", "slice", "mask"]
)
def test_some_rows_are_those_of_the_matrix(case, rows) -> None:
    found, matrix = case
    np.testing.assert_allclose(found.take(rows).toarray(), matrix[rows], atol=1e-15)


def test_sums_by_group_are_those_of_the_matrix(case) -> None:
    found, matrix = case
    rng = np.random.default_rng(3)
    rows, group, weights = rng.integers(0, 60, 200), rng.integers(0, 7, 200), rng.normal(size=200)
    expected = np.zeros((7, 6))
    np.add.at(expected, group, weights[:, None] * matrix[rows])
    np.testing.assert_allclose(found.summed(weights, rows, group, 7), expected, rtol=1e-12, atol=1e-12)


def test_quadratic_forms_are_those_of_the_matrices() -> None:
    a, full = rows_of_objects_and_numbers()
    b = Gathered.of(csr_array(np.ones((1, full.shape[1])))).take(np.zeros(len(full), dtype=np.int64))
    root = np.random.default_rng(2).normal(size=(full.shape[1], full.shape[1]))
    matrix = root @ root.T
    for one, other in ((a, a), (a, b), (b, a), (b, b)):
        expected = np.einsum("sp,pq,sq->s", one.toarray(), matrix, other.toarray())
        np.testing.assert_allclose(quadratic(one, other, matrix), expected, rtol=1e-10, atol=1e-10)


def side_judgments(n: int) -> llbt.Comparisons:
    """Judgments that a difference of lengths moves; every one has lengths of its own."""
    rng = np.random.default_rng(4)
    i, step = rng.integers(0, 6, n), rng.integers(1, 6, n)
    j = (i + step) % 6
    length = rng.normal(size=(n, 2))
    u = (i - j) * 0.2 + 0.4 * (length[:, 0] - length[:, 1])
    chances = np.exp(np.column_stack([u, np.full(n, -0.3), -u]))
    said = (rng.random(n)[:, None] > np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    frame = {
        "object_i": [f"o{k}" for k in i],
        "object_j": [f"o{k}" for k in j],
        "outcome": np.array(["i", "tie", "j"])[said],
    }
    frame |= {"length_i": length[:, 0], "length_j": length[:, 1], "judge": [f"J{k}" for k in rng.integers(0, 40, n)]}
    sides = {"length": ("length_i", "length_j")}
    return llbt.from_judgments(pd.DataFrame(frame), side_covariates=sides, clusters="judge", order=True)


def test_a_side_covariate_of_every_judgment_gives_what_the_explicit_matrix_does() -> None:
    """Fisher scoring with plain numpy on the dense rows is the second route."""
    c = side_judgments(1_500)
    res = llbt.fit("object + length + tie + order", c)
    problem = res.problem()
    assert len(problem.signed.chosen) == 1
    signed, tie = (rows.toarray() for rows in problem.predictors)
    params = np.zeros(len(res.params))
    for _ in range(12):
        u = signed @ params
        cells = np.exp(np.column_stack([u, tie @ params, -u]))
        p = cells / cells.sum(axis=1, keepdims=True)
        center = p[:, :1] * signed + p[:, 1:2] * tie - p[:, 2:] * signed
        rows = np.stack([signed, tie, -signed], axis=1) - center[:, None]
        score = np.einsum("sc,scp->p", problem.counts, rows)
        weighted = (problem.totals[:, None] * p)[:, :, None] * rows
        information = np.einsum("scp,scq->pq", weighted, rows)
        params = params + np.linalg.solve(information, score)
    np.testing.assert_allclose(res.params, params, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(res.bse, np.sqrt(np.diag(np.linalg.inv(information))), rtol=1e-8)


def test_scores_of_clusters_are_sums_of_those_of_judgments() -> None:
    c = side_judgments(1_200)
    res = llbt.fit("object + length + tie", c)
    problem, kept = res.problem(), c.cluster_counts
    clusters = Clustered(kept.rows, kept.counts, kept.columns[0].codes)
    signed, tie = (rows.toarray() for rows in problem.predictors)
    p = res.solution.means / problem.totals[:, None]
    center = (p[:, :1] - p[:, 2:]) * signed + p[:, 1:2] * tie
    expected = np.zeros((clusters.size, len(res.params)))
    for row, counts, k in zip(clusters.rows, clusters.counts, clusters.codes, strict=True):
        for cell, z in enumerate([signed[row], tie[row], -signed[row]]):
            expected[k] += counts[cell] * (z - center[row])
    np.testing.assert_allclose(cluster_scores(problem, res.solution, clusters), expected, atol=1e-9)
