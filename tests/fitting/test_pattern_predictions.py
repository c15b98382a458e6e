"""Probabilities of answers under pattern models, against sums over all patterns and against the fit of pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from support.questions import answered, fit_of

import llbt
from llbt.core.patterns import Patterns

PAIRS = ((0, 1), (0, 2), (1, 2))
STEP = 1e-5


def marginal(params: np.ndarray) -> np.ndarray:
    """P(i), P(tie), P(j) of the pairs AB, AC, BC at two log-worths, γ and three θ, by all 27 patterns, shape (9,)."""
    lam, gamma, theta = np.append(params[:2], 0.0), params[2], params[3:]
    patterns = np.array(list(itertools.product((1, 0, -1), repeat=3)))
    logs = patterns @ np.array([lam[i] - lam[j] for i, j in PAIRS]) + gamma * (patterns == 0).sum(axis=1)
    logs += np.stack([patterns[:, 0] * patterns[:, 1], patterns[:, 0] * patterns[:, 2],
                      patterns[:, 1] * patterns[:, 2]], axis=1) @ theta  # fmt: skip
    p = np.exp(logs - logs.max())
    p /= p.sum()
    return np.array([p[patterns[:, k] == y].sum() for k in range(3) for y in (1, 0, -1)])


def test_probabilities_are_sums_over_all_patterns() -> None:
    res = fit_of("patterns")
    assert [name[:3] for name in res.names[3:]] == ["I12", "I12", "I13"]
    found = res.predict().to_frame()
    found = found[found["sex"] == found["sex"].iloc[0]] if "sex" in found else found
    order = [("A", "B"), ("A", "C"), ("B", "C")]
    found = found.set_index(["object_i", "object_j"]).loc[order]
    at = res.params.to_numpy()
    np.testing.assert_allclose(found["estimate"], marginal(at), atol=1e-10)
    eye = np.eye(len(at)) * STEP
    slope = np.stack([(marginal(at + e) - marginal(at - e)) / (2 * STEP) for e in eye], axis=1)
    error = np.sqrt(np.einsum("kp,pq,kq->k", slope, res.cov_params().to_numpy(), slope))
    np.testing.assert_allclose(found["std_error"], error, rtol=1e-6)


@pytest.mark.parametrize("formula", ["object + tie", "object * sex + tie"])
def test_without_dependence_they_are_those_of_the_pairs(formula: str) -> None:
    res = llbt.fit(formula, answered())
    plain = llbt.fit(formula, res.comparisons)
    key = ["object_i", "object_j", *(["sex"] if "sex" in res.predict().to_frame() else []), "outcome"]
    found, other = (one.predict().to_frame().set_index(key).sort_index() for one in (res, plain))
    columns = ["estimate", "std_error", "conf_low", "conf_high"]
    pd.testing.assert_frame_equal(found[columns], other.loc[found.index, columns], rtol=1e-6)


def ranked() -> Patterns:
    rng = np.random.default_rng(3)
    ranks = np.argsort(np.argsort(rng.gumbel(size=(60, 3)) + np.array([0.5, 0.2, 0.0]), axis=1), axis=1) + 1
    return llbt.from_patterns(pd.DataFrame(ranks, columns=list("ABC")), "rankings", objects=list("ABC"))


def test_orders_without_ties_have_two_outcomes() -> None:
    res = llbt.fit("object", ranked())
    lam = np.append(res.params, 0.0)
    weight = {order: np.exp(sum(lam[i] - lam[j] for i, j in itertools.combinations(order, 2)))
              for order in itertools.permutations(range(3))}  # fmt: skip
    total = sum(weight.values())
    found = res.predict().to_frame().set_index(["object_i", "object_j", "outcome"])["estimate"]
    for i, j in PAIRS:
        above = sum(w for order, w in weight.items() if order.index(i) < order.index(j)) / total
        assert found["ABC"[i], "ABC"[j], "i"] == pytest.approx(above)
        assert found["ABC"[i], "ABC"[j], "j"] == pytest.approx(1 - above)
