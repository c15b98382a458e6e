"""Fits of hundreds to thousands of objects: what each way of solving finds is what dense algebra finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from support.graphs import KINDS, Kind, finite_graph

import llbt
from llbt.kernel.likelihood import Inverse
from llbt.kernel.solver_choice import Costs

FORMULAS = ("object + tie", "object + tie + order", "object + length + tie * topic + order")


def densely(formula: str, c: llbt.Comparisons, patch: pytest.MonkeyPatch, **options: object) -> llbt.LLBTResults:
    """Return the fit that sums over rows and factors dense matrices."""
    with patch.context() as without:
        without.setattr("llbt.kernel.likelihood.object_graph", lambda _: None)
        without.setattr("llbt.kernel.solvers.object_graph", lambda _: None)
        return llbt.fit(formula, c, **options)


def assert_same(found: llbt.LLBTResults, expected: llbt.LLBTResults) -> None:
    assert found.converged
    assert found.aliased == expected.aliased
    np.testing.assert_allclose(found.params, expected.params, atol=1e-8, rtol=0)
    np.testing.assert_allclose(found.bse, expected.bse, rtol=1e-8)
    assert found.deviance == pytest.approx(expected.deviance, rel=1e-12)


@pytest.mark.parametrize("formula", FORMULAS)
def test_agree_with_the_dense_way(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    c = finite_graph("power-law", 400, 2000)
    assert_same(llbt.fit(formula, c), densely(formula, c, monkeypatch))


@pytest.mark.parametrize(
    "options",
    [
        {"prior": 0.5},
        {"link": "cumulative"},
        {"fixed": {"object[3]": 0.2, "tie": -0.4}},
        {"cov_type": "HC0"},
        {"reference": 7},
    ],
    ids=str,
)
def test_options_agree_too(options: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    c = finite_graph("random", 320, 2000)
    assert_same(llbt.fit("object + tie", c, **options), densely("object + tie", c, monkeypatch, **options))


def test_worths_that_sum_to_0_are_those_of_treatment_coding() -> None:
    """Coded so that most products are full, which are dense then."""
    c = finite_graph("random", 320, 2000)
    summed, plain = (llbt.fit(f"{term} + tie", c) for term in ("C(object, Sum)", "object"))
    assert not issparse(summed.solution.inverse.information)
    worths = np.append(plain.params.to_numpy()[:319], 0.0)
    np.testing.assert_allclose(summed.params.to_numpy()[:319], (worths - worths.mean())[:319], atol=1e-8)
    contrast = np.eye(320)[:319, :319] - 1 / 320
    cov = contrast @ plain.cov_params().to_numpy()[:319, :319] @ contrast.T
    np.testing.assert_allclose(summed.bse.to_numpy()[:319], np.sqrt(np.diag(cov)), rtol=1e-8)


@pytest.mark.slow
def test_effects_of_objects_on_ties_do_not_depend_on_the_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The information is sparse, but a factor of it fills up: dense or sparse, the estimates are the same."""
    c = finite_graph("random", 320, 6000)
    dense = llbt.fit("object + tie + tie:object", c, prior=0.5)
    assert issparse(dense.solution.inverse.information)
    monkeypatch.setattr("llbt.kernel.solver_choice._FILLED", 2.0)
    sparse = llbt.fit("object + tie + tie:object", c, prior=0.5)
    np.testing.assert_allclose(dense.params, sparse.params, atol=1e-8)


def test_graded_judgments_agree_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    size = 310
    i = np.concatenate([np.arange(size), rng.integers(0, size, 2000)])
    frame = pd.DataFrame({"object_i": i, "object_j": (i + rng.integers(1, size, len(i))) % size})
    names = ["i+", "i", "tie", "j", "j+"]
    for name, counts in zip(names, rng.integers(1, 4, (5, len(i))), strict=True):
        frame[name] = counts
    c = llbt.from_counts(frame, grades=names)
    assert_same(llbt.fit("object + tie + grade", c), densely("object + tie + grade", c, monkeypatch))


def test_the_covariance_is_made_when_it_is_asked_for() -> None:
    res = llbt.fit("object + tie", finite_graph("random", 320, 2000))
    assert isinstance(res.solution.inverse, Inverse)
    assert "matrix" not in vars(res.solution.inverse)
    first = res.cov_params()
    assert "matrix" in vars(res.solution.inverse)
    assert res.covariance.matrix is res.solution.cov
    pd.testing.assert_frame_equal(first, res.cov_params())
    with pytest.raises(AttributeError):
        res.solution.inverse = np.eye(2)  # type: ignore[misc]


def test_leverages_and_log_worths_are_those_of_dense_rows() -> None:
    res = llbt.fit("object + tie + order", finite_graph("matchmade", 320, 2000))
    assert res.hat_diag.sum() == pytest.approx(len(res.comparisons) + len(res.params), rel=1e-9)
    frame = llbt.worth(res, scale="log_worth").to_frame().set_index("object").loc[list(res.comparisons.objects)]
    np.testing.assert_allclose(frame["std_error"].to_numpy()[:319], res.bse.to_numpy()[:319], rtol=1e-9)
    rows = np.zeros((150, 321))
    rows[np.arange(150), np.arange(150)], rows[np.arange(150), np.arange(150) + 100] = 1.0, -1.0
    expected = rows @ res.cov_params().to_numpy() @ rows.T
    np.testing.assert_allclose(res.combined_cov(rows), expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_agree_at_three_thousand_objects(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    c = finite_graph(kind, 3000, 30_000)
    found = llbt.fit("object + tie + order", c)
    with monkeypatch.context() as densely:
        densely.setattr("llbt.kernel.solver_choice.costs_of", lambda *_: Costs(0.0, 1.0, 1.0))
        expected = llbt.fit("object + tie + order", c)
    assert found.converged
    np.testing.assert_allclose(found.params, expected.params, atol=1e-8, rtol=0)
