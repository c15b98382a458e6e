"""Products of rows that differ in their numbers alone, beside dense ones."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import llbt
from llbt.kernel.column_blocks import ColumnBlocks
from llbt.kernel.indexed_rows import Gathered, gram


def rows_of_pairs(size=5000, objects=5, numbers=3, seed=1):
    """Rows (e_i − e_j) ⊗ z without the columns of the last object, dense."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, objects, size)
    j = (i + rng.integers(1, objects, size)) % objects
    apart = np.zeros((size, objects))
    apart[np.arange(size), i], apart[np.arange(size), j] = 1, -1
    return (apart[:, :-1, None] * rng.normal(size=(size, 1, numbers))).reshape(size, -1)


def test_the_product_is_that_of_dense_rows():
    rows = rows_of_pairs()
    blocks = ColumnBlocks.of(csr_array(rows))
    assert len(blocks.blocks) == 10  # the pairs, whichever object comes first
    weights = np.random.default_rng(2).random(len(rows))
    np.testing.assert_allclose(blocks.gram(weights), (rows * weights[:, None]).T @ rows, rtol=1e-12, atol=1e-9)


def test_rows_without_an_entry_and_rows_with_columns_of_their_own():
    rows = rows_of_pairs()
    rows[::3] = 0
    blocks = ColumnBlocks.of(csr_array(rows))
    weights = np.ones(len(rows))
    np.testing.assert_allclose(blocks.gram(weights), rows.T @ rows, rtol=1e-12, atol=1e-9)
    rng = np.random.default_rng(3)
    assert ColumnBlocks.of(csr_array(np.where(rng.random((5000, 40)) < 0.5, 1.0, 0.0))) is None
    assert ColumnBlocks.of(csr_array(rows[:100])) is None  # too few to be worth it
    assert ColumnBlocks.of(csr_array(np.kron(np.eye(50), np.ones((100, 2))))) is None  # a sparse product


def test_a_gram_matrix_takes_them_with_columns_beside():
    rows = rows_of_pairs()
    own = np.random.default_rng(4).normal(size=(1, len(rows)))
    parts = Gathered.of(csr_array(np.column_stack([rows, np.zeros(len(rows))])))
    beside = Gathered((), parts.shape, np.array([rows.shape[1]]), own)
    both = beside + parts
    assert both.column_blocks is not None
    dense, weights = np.column_stack([rows, own[0]]), np.random.default_rng(5).random(len(rows))
    found = gram([both], weights[None, None])
    np.testing.assert_allclose(found, (dense * weights[:, None]).T @ dense, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("ties", [False, True])
def test_worths_that_depend_on_numbers_are_those_of_an_own_newton_method(ties):
    rng = np.random.default_rng(6)
    size, objects = 6000, 4
    i = rng.integers(0, objects, size)
    j = (i + rng.integers(1, objects, size)) % objects
    z = np.column_stack([np.ones(size), rng.normal(size=(size, 2))])
    worth = rng.normal(size=(objects, 3))
    worth[-1] = 0
    u = ((worth[i] - worth[j]) * z).sum(axis=1)
    eta = np.column_stack([u, np.full(size, -0.3 if ties else -np.inf), -u])
    said = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    frame = pd.DataFrame({"object_i": i, "object_j": j, "outcome": np.array(["i", "tie", "j"])[said]})
    c = llbt.from_judgments(frame.assign(x=z[:, 1], y=z[:, 2]), covariates=["x", "y"], numeric=["x", "y"])
    res = llbt.fit("object + object:x + object:y" + " + tie" * ties, c)
    apart = np.zeros((size, objects))
    apart[np.arange(size), i], apart[np.arange(size), j] = 1, -1
    rows = np.zeros((3, size, 3 * (objects - 1) + ties))
    rows[0, :, : 3 * (objects - 1)] = (z[:, :, None] * apart[:, None, :-1]).reshape(size, -1)
    rows[2] = -rows[0]
    rows[1, :, 3 * (objects - 1) :] = 1
    if not ties:
        rows, said = rows[[0, 2]], said // 2
    params = np.zeros(rows.shape[2])
    for _ in range(12):
        p = np.exp(rows @ params)
        p /= p.sum(axis=0)
        away = rows - np.einsum("ks,ksp->sp", p, rows)
        score = away[said, np.arange(size)].sum(axis=0)
        information = np.einsum("ks,ksp,ksq->pq", p, away, away, optimize=True)
        params = params + np.linalg.solve(information, score)
    np.testing.assert_allclose(res.params, params, atol=1e-9)
    np.testing.assert_allclose(res.bse, np.sqrt(np.diag(np.linalg.inv(information))), rtol=1e-9)
