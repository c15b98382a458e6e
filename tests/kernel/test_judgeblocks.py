"""Information in blocks of judges beside a border, against the same matrix taken as one."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse

import llbt
from llbt.errors import DesignError
from llbt.kernel.judgeblocks import JudgeBlocks
from llbt.kernel.likelihood import Inverse, inverse
from llbt.kernel.solver_choice import Steps


def bordered(sizes, border, rng):
    """A positive definite matrix of blocks beside a border, its rows and columns in any order, sparse."""
    p = sum(sizes) + border
    label = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(border, -1)])
    root = rng.standard_normal((p, p)) * ((label[:, None] == label) | (label[:, None] < 0))
    matrix = root.T @ root + np.eye(p)
    inside = (label[:, None] >= 0) & (label >= 0) & (label[:, None] != label)
    matrix[inside] = 0.0
    matrix += np.diag(np.abs(matrix).sum(axis=1))
    order = rng.permutation(p)
    return csr_array(matrix[np.ix_(order, order)])


@pytest.mark.parametrize("sizes", [[4] * 30, [2, 3, 4, 5] * 9, [1, 6] * 20])
@pytest.mark.parametrize("border", [1, 5])
def test_solution_and_inverse_are_those_of_the_whole(sizes, border):
    rng = np.random.default_rng(len(sizes))
    matrix = bordered(sizes, border, rng)
    blocks = JudgeBlocks.of(matrix)
    assert blocks is not None
    assert len(blocks.partition.border) == border
    right = rng.standard_normal(matrix.shape[0])
    np.testing.assert_allclose(blocks.solve(right), np.linalg.solve(matrix.toarray(), right), rtol=1e-9)
    np.testing.assert_allclose(Steps().solve(matrix, right), blocks.solve(right), rtol=1e-12)
    whole = inverse(matrix.toarray())
    np.testing.assert_allclose(blocks.inverse(), whole, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(Inverse(matrix).diagonal, np.diag(whole), rtol=1e-10)
    np.testing.assert_allclose(Inverse(matrix).matrix, whole, rtol=1e-9, atol=1e-13)
    some = rng.standard_normal((7, len(right)))
    np.testing.assert_allclose(Inverse(matrix).combined(some), some @ whole @ some.T, rtol=1e-9, atol=1e-13)


def test_what_hangs_together_has_no_blocks():
    rng = np.random.default_rng(0)
    root = csr_array(rng.standard_normal((60, 60)) * (rng.random((60, 60)) < 0.1))
    assert JudgeBlocks.of(csr_array(root.T @ root + csr_array(np.eye(60)))) is None


@pytest.mark.parametrize("where", ["block", "border"])
def test_explained_columns_are_seen(where):
    rng = np.random.default_rng(1)
    matrix = bordered([4] * 20, 3, rng)
    assert JudgeBlocks.of(matrix).all_independent(1e-10)
    part = JudgeBlocks.of(matrix).partition
    k, m = part.border[:2] if where == "border" else np.flatnonzero(part.label == 3)[:2]
    whole = matrix.toarray()
    whole[k], whole[:, k] = whole[m], whole[:, m]
    whole[k, k] = whole[k, m] = whole[m, k] = whole[m, m]
    assert not JudgeBlocks.of(csr_array(whole), part).all_independent(1e-10)


def judged(objects, judges, each, seed):
    rng = np.random.default_rng(seed)
    n = judges * each
    k = np.repeat(np.arange(judges), each)
    i = rng.integers(0, objects, n)
    j = (i + rng.integers(1, objects, n)) % objects
    worth = rng.normal(size=objects) * 0.4 + rng.normal(size=(judges, objects)) * 0.1
    first = rng.random(n) < 1 / (1 + np.exp(-2 * (worth[k, i] - worth[k, j])))
    names = np.array([f"m{m:02}" for m in range(objects)])
    outcome = np.where(rng.random(n) < 0.2, "tie", np.where(first, names[i], names[j]))
    frame = pd.DataFrame({"i": names[i], "j": names[j], "judge": k, "outcome": outcome})
    return llbt.from_judgments(frame, objects=("i", "j"), covariates="judge", order=True)


@pytest.mark.parametrize(
    "formula",
    ["object * judge + tie + order:judge", pytest.param("object * judge + tie * judge", marks=pytest.mark.slow)],
)
def test_fit_by_judge_is_that_of_the_whole(monkeypatch, formula):
    """The other route: the same fit where no blocks are found."""
    table = judged(5, 150, 200, 1)
    found = llbt.LLBT.from_formula(formula, table).fit(method="eliminate")
    assert issparse(found.solution.inverse.information)
    assert JudgeBlocks.of(found.solution.inverse.information) is not None
    with monkeypatch.context() as patch:
        patch.setattr(JudgeBlocks, "of", lambda *args: None)
        whole = llbt.LLBT.from_formula(formula, table).fit(method="eliminate")
        whole.bse.sum()
        np.testing.assert_allclose(whole.params, found.params, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(whole.cov_params(), found.cov_params(), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(whole.bse, found.bse, rtol=1e-8)
        np.testing.assert_allclose(whole.pvalues, found.pvalues, rtol=1e-7)
    assert found.deviance == pytest.approx(whole.deviance, rel=1e-10)
    assert found.aic == pytest.approx(whole.aic, rel=1e-12)


def test_what_needs_the_whole_covariance_alone_is_refused(monkeypatch):
    """In memory for half of the covariance there is enough for the fit and what is asked of single judges."""
    table = judged(4, 200, 60, 1)
    roomy = llbt.LLBT.from_formula("object * judge + tie", table).fit(method="eliminate")
    whole, worths = roomy.cov_params(), llbt.worth(roomy, at={"judge": 7}).to_frame()
    monkeypatch.setattr("llbt.base.budgets.memory", lambda: 4.0 * roomy.params.size**2)
    res = llbt.LLBT.from_formula("object * judge + tie", table).fit(method="eliminate")
    np.testing.assert_allclose(res.bse, np.sqrt(np.diag(whole)), rtol=1e-8)
    pd.testing.assert_frame_equal(llbt.worth(res, at={"judge": 7}).to_frame(), worths, rtol=1e-8)
    assert res.summary().to_frame().shape[0] >= 4
    for ask in (res.cov_params, lambda: llbt.worth(res)):
        with pytest.raises(DesignError, match="GiB of memory"):
            ask()


@pytest.mark.slow
def test_fit_by_judge_is_the_fits_of_the_judges():
    """Where everything differs by judge each judge's worths are those of a fit to his judgments alone."""
    table = judged(5, 150, 200, 2)
    res = llbt.LLBT.from_formula("object * judge + tie * judge", table).fit(method="eliminate")
    for judge in (0, 7, 149):
        alone = llbt.fit("object + tie", table.select(where={"judge": judge}))
        own = llbt.worth(res, at={"judge": judge}, scale="log_worth").to_frame()["estimate"]
        np.testing.assert_allclose(own, llbt.worth(alone, scale="log_worth").to_frame()["estimate"], atol=1e-8)
