"""Profile intervals beside discriminations, against an own likelihood that is maximized with the parameter held."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special, stats
from support.questions import by_judge, fit_of

import llbt


def highest(res: llbt.DiscriminationResults, which: int, value: float) -> float:
    """The largest Σ n log p with a parameter at a value where the mean of σ² is 1, by a general optimizer."""
    c = by_judge()
    counts, judge = c.outcome_counts, c.columns[0].codes
    share = np.bincount(judge, c.totals) / c.totals.sum()
    p, judges = len(res.params), len(share)

    def minus(x: np.ndarray) -> float:
        sigma = x[p - 1 :]
        sigma = sigma / np.sqrt(share @ sigma**2)
        params = np.insert(x[: p - 1], which, value)
        worth = np.append(params[: p - 1], 0.0)
        away = sigma[judge] * (worth[c.pairs[:, 0]] - worth[c.pairs[:, 1]])
        logs = np.stack([away, np.full(len(away), params[p - 1]), -away], axis=1)
        return -float(np.sum(counts * (logs - special.logsumexp(logs, axis=1, keepdims=True))))

    start = np.concatenate([np.delete(res.params.to_numpy(), which), res.discriminations.to_numpy()])
    assert len(start) == p - 1 + judges
    return -float(optimize.minimize(minus, start, method="BFGS", options={"gtol": 1e-5}).fun)


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 2, 3])
def test_bounds_are_where_the_likelihood_falls_by_half_the_quantile(which: int) -> None:
    res = fit_of("discrimination")
    for bound in res.conf_int(method="profile").iloc[which]:
        assert 2 * (res.llf - highest(res, which, bound)) == pytest.approx(stats.chi2.isf(0.05, 1), abs=1e-4)


def test_ties_are_held_as_by_a_refit() -> None:
    res = fit_of("discrimination")
    for bound in res.conf_int(method="profile").loc["tie"]:
        held = llbt.fit("object + tie", by_judge(), discrimination="judge", fixed={"tie": float(bound)})
        assert 2 * (res.llf - held.llf) == pytest.approx(stats.chi2.isf(0.05, 1), rel=1e-6)
