"""Sums over all pairs for Rao and Kupper's model: against the way through comparisons, and finite differences."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.kernel.cuttable import CutTable
from llbt.kernel.likelihood import Likelihood


def fitted(formula, *, order, seed=4, size=7):
    rng = np.random.default_rng(seed)
    rows = [
        (f"o{i}", f"o{j}", "xy"[k], *rng.integers(1, 30, 3))
        for i in range(size)
        for j in range(size)
        for k in range(2)
        if i != j
    ]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "task", "wins_i", "ties", "wins_j"])
    c = llbt.from_counts(frame, order=order, covariates="task")
    return llbt.fit(formula, c, link="cumulative")


@pytest.mark.parametrize(("formula", "order"), [("object + tie", False), ("object + tie + order", True)])
def test_sums_over_pairs_are_sums_over_comparisons(formula, order):
    res = fitted(formula, order=order)
    fast = Likelihood.of(res.problem())
    assert isinstance(fast.table, CutTable)
    slow = replace(fast, table=None)
    rng = np.random.default_rng(1)
    for _ in range(3):
        at = res.solution.params + rng.normal(0, 0.1, len(res.params))
        for one, other in zip(fast.moments(at), slow.moments(at), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(fast.score(at), fast.moments(at)[1], rtol=1e-9, atol=1e-9)


def test_derivatives_are_finite_differences():
    res = fitted("object + tie + order", order=True)
    likelihood = Likelihood.of(res.problem())
    at, step = res.solution.params + 0.05, 1e-5
    _, gradient, information = likelihood.moments(at)
    moved = [(likelihood.moments(at + step * e), likelihood.moments(at - step * e)) for e in np.eye(len(at))]
    np.testing.assert_allclose(gradient, [(a[0] - b[0]) / (2 * step) for a, b in moved], atol=1e-4)
    np.testing.assert_allclose(information, [-(a[1] - b[1]) / (2 * step) for a, b in moved], atol=1e-4)


def test_other_models_go_through_comparisons():
    assert Likelihood.of(fitted("object + tie * task", order=False).problem()).table is None
    probit = fitted("object + tie", order=False)
    assert Likelihood.of(llbt.fit("object + tie", probit.comparisons, link="probit").problem()).table is None


def test_a_cut_of_nothing_has_no_likelihood_and_far_worths_no_table():
    res = fitted("object + tie", order=False)
    likelihood = Likelihood.of(res.problem())
    at = res.solution.params.copy()
    at[-1] = -0.1
    assert likelihood.moments(at)[0] == -np.inf
    at[-1], at[0] = 0.5, 400.0
    assert likelihood.table.moments(at) is None
