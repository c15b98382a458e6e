"""Differences of objects times numbers, beside dense rows and the explicit model."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import llbt
from llbt.kernel import indexed_rows, product_rows
from llbt.kernel.indexed_rows import Gathered, Part, gram
from llbt.kernel.product_rows import ProductRows

SIZE = 5000


def sides(objects=5, numbers=3, seed=1):
    """Rows e_i ⊗ z of each side without the columns of the last object, some numbers 0: (2·SIZE, p), and i and j."""
    rng = np.random.default_rng(seed)
    z = np.column_stack([np.ones(SIZE), rng.integers(0, 2, (SIZE, numbers - 1)) * rng.normal(size=(SIZE, numbers - 1))])
    labels = rng.integers(0, objects, (2, SIZE))  # some meet themselves; their rows are 0
    rows = [(np.eye(objects)[:, :-1][side][:, None, :] * z[:, :, None]).reshape(SIZE, -1) for side in labels]
    return csr_array(np.concatenate(rows)), np.arange(SIZE), np.arange(SIZE, 2 * SIZE)


def test_the_product_is_that_of_dense_rows():
    matrix, i, j = sides()
    rows = ProductRows.of(matrix, i, j)
    assert len(rows.pairs) == 10
    assert rows.columns.tolist() == [[k, k + 4, k + 8] for k in range(4)]
    dense, weights = (matrix[i] - matrix[j]).toarray(), np.random.default_rng(2).random(SIZE)
    np.testing.assert_allclose(rows.gram(weights), (dense * weights[:, None]).T @ dense, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("gone", [[11], [4], [4, 5], [6, 7], [5, 10], [4, 8], [8, 9, 10]])
def test_objects_may_lack_features_that_are_aliased(gone):
    matrix, i, j = sides()
    matrix = csr_array(matrix[:, np.setdiff1d(np.arange(12), gone)])
    rows = ProductRows.of(matrix, i, j)
    assert rows is not None
    dense, weights = (matrix[i] - matrix[j]).toarray(), np.random.default_rng(2).random(SIZE)
    np.testing.assert_allclose(rows.gram(weights), (dense * weights[:, None]).T @ dense, rtol=1e-12, atol=1e-9)


def test_a_gram_matrix_takes_them_beside_other_parts_and_predictors():
    matrix, i, j = sides()
    p = matrix.shape[1] + 2
    worths = csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], p))
    once = np.zeros(SIZE, dtype=np.int64)
    order, tie = np.eye(p)[[p - 2]], np.eye(p)[[p - 1]]
    signed = Gathered((Part(worths, i, 1.0), Part(worths, j, -1.0), Part(order, once, 1.0)), (SIZE, p))
    ties = Gathered((Part(tie, once, 1.0),), (SIZE, p))
    assert signed.products
    w = np.random.default_rng(3).random((3, SIZE))
    weights = np.array([[w[0], w[1]], [w[1], w[2]]])
    dense = [signed.toarray(), ties.toarray()]
    expected = sum(dense[b].T @ (weights[b, c][:, None] * dense[c]) for b in range(2) for c in range(2))
    np.testing.assert_allclose(gram([signed, ties], weights), expected, rtol=1e-12, atol=1e-9)


def test_other_rows_are_refused():
    matrix, i, j = sides()
    assert ProductRows.of(matrix.toarray(), i, j) is None  # few distinct rows
    assert ProductRows.of(matrix, i[:100], j[:100]) is None  # not worth it
    assert ProductRows.of(matrix, i, j[::-1]) is None  # sides with features of their own
    assert ProductRows.of(csr_array(matrix.shape), i, j) is None


def contexts(ties, objects=3, size=160, never=False):
    """A small table with two features; object 0 never wins against object 1 on code, where asked."""
    rng = np.random.default_rng(4)
    i = rng.integers(0, objects, size)
    j = (i + rng.integers(1, objects, size)) % objects
    z = pd.DataFrame({"length": rng.normal(size=size).round(2), "code": rng.integers(0, 2, size)})
    worth = rng.normal(size=(objects, 3)) * 0.4
    u = ((worth[i] - worth[j]) * np.column_stack([np.ones(size), z])).sum(axis=1)
    if never:
        u = np.where(z["code"] == 1, (j == 0) * 99.0 - (i == 0) * 99.0 + u, u)
    eta = np.column_stack([u, np.full(size, -0.5 if ties else -np.inf), -u])
    outcome = np.array(["i", "tie", "j"])[(eta + rng.gumbel(size=eta.shape)).argmax(axis=1)]
    frame = z.assign(object_i=i, object_j=j, outcome=outcome)
    return llbt.from_judgments(frame, covariates=["length", "code"], numeric=["length", "code"])


@pytest.fixture
def products(monkeypatch):
    """Take small tables as products, too; a list of the products that were made."""
    made, product = [], ProductRows.gram
    monkeypatch.setattr(product_rows, "_LEAST", 1)
    monkeypatch.setattr(indexed_rows, "_SMALL", 0)
    monkeypatch.setattr(ProductRows, "gram", lambda rows, weights: made.append(rows) or product(rows, weights))
    return made


@pytest.mark.parametrize("ties", [False, True])
def test_worths_by_features_are_those_of_the_explicit_model(ties, products):
    c, formula = contexts(ties), "object + object:(length + code)" + " + tie" * ties
    res = llbt.fit(formula, c, method="eliminate")
    assert products
    explicit = llbt.fit(formula, c, method="glm")
    assert (res.solution.solver, explicit.solution.solver) == ("eliminate", "glm")
    np.testing.assert_allclose(res.params, explicit.params, atol=1e-8)
    np.testing.assert_allclose(res.bse, explicit.bse, rtol=1e-8)


def test_an_object_that_never_wins_on_code_is_refused(products):
    with pytest.raises(llbt.errors.SeparationError, match="code"):
        llbt.fit("object + object:(length + code)", contexts(ties=False, never=True))
    assert products
