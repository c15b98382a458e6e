"""One σ for all objects against one for each: scores by a brute-force integral, size and power by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from support.mixed import judged_frame

import llbt
from llbt.errors import DesignError
from llbt.kernel.object_scores import object_scores


@pytest.fixture(scope="module")
def res() -> llbt.MixedResults:
    c = llbt.from_counts(judged_frame(30, 0.8, seed=3, each=4, tie=0.9), clusters="judge")
    found = llbt.fit("object + tie + (object | judge)", c)
    assert isinstance(found, llbt.MixedResults)
    return found


def test_scores_are_derivatives_of_an_integral_over_all_effects(res: llbt.MixedResults) -> None:
    """Three effects of each judge, each with a σ of its own, on a grid of 41³ points; differences in log σ."""
    judges = res.judges
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    found = object_scores(judges.problem, judges.grouped.bundles, res.maximum, pairs, 0)
    node, weight = np.polynomial.hermite_e.hermegauss(41)
    z = np.stack(np.meshgrid(node, node, node, indexing="ij")).reshape(3, -1)
    w = np.prod(np.stack(np.meshgrid(weight, weight, weight, indexing="ij")).reshape(3, -1), axis=0) / weight.sum() ** 3
    params = dict(zip(res.names, res.maximum.params, strict=True))
    worth = np.array([params["object[A]"], params["object[B]"], 0.0])
    bundle = judges.grouped.bundles[0]

    def value(log: np.ndarray, g: int) -> float:
        b = worth[:, None] + np.exp(log)[:, None] * z
        total = np.zeros(z.shape[1])
        for line, row in enumerate(bundle.rows[g]):
            i, j = pairs[row]
            v = np.stack([b[i] - b[j], 0 * b[i] + params["tie"], b[j] - b[i]])
            total += bundle.counts[:, g, line] @ (v - np.log(np.exp(v).sum(axis=0)))
        return float(np.log(np.exp(total) @ w))

    at = np.full(3, np.log(res.maximum.scales[0]))
    for g in (0, 7):
        slopes = [(value(at + h, g) - value(at - h, g)) / 2e-3 for h in 1e-3 * np.eye(3)]
        np.testing.assert_allclose(found.objects[g], slopes, atol=2e-4)
    assert found.repeats @ found.objects.sum(axis=1) == pytest.approx(0.0, abs=0.01)  # at the maximum in the one σ
    np.testing.assert_allclose(found.repeats @ found.others, 0.0, atol=0.01)


@pytest.mark.slow
def test_the_test_has_a_df_for_each_contrast(res: llbt.MixedResults) -> None:
    test = res.equal_scales_test()
    assert test.df == 2
    assert 0 < test.p_value < 1
    assert "judges drawn from the fit" in test.distribution
    assert "9,999 simulated sums of scores" in test.as_text()


@pytest.mark.slow
def test_an_object_that_judges_disagree_on_is_seen() -> None:
    """Log-worths of A differ by 1.6 between judges, of the others by .3."""
    assert _p(_unequal(60, 1.6, seed=1)) < 0.01


@pytest.mark.exhaustive
def test_the_test_has_its_size() -> None:
    p = np.array([_p(judged_frame(40, 0.7, seed=seed, each=2)) for seed in range(25)])
    assert np.mean(p < 0.1) < 0.29
    assert 0.3 < p.mean() < 0.7


def _p(frame: pd.DataFrame) -> float:
    res = llbt.fit("object + tie + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    assert isinstance(res, llbt.MixedResults)
    return res.equal_scales_test().p_value


def _unequal(judges: int, first: float, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, [first, 0.3, 0.3, 0.3], (judges, 4))
    rows = []
    for g in range(judges):
        for i, j in itertools.combinations(range(4), 2):
            p = np.exp([worth[g, i] - worth[g, j], 0.0, worth[g, j] - worth[g, i]])
            rows.append(("ABCD"[i], "ABCD"[j], g, *rng.multinomial(3, p / p.sum())))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])


def test_what_cannot_be_tested_says_why(res: llbt.MixedResults) -> None:
    wins = [5, 1, 4, 0, 6, 3, 5, 2]
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "judge": range(8)})
    two = llbt.fit(
        "object + (object | judge)", llbt.from_counts(frame.assign(wins_j=6 - frame["wins_i"]), clusters="judge")
    )
    with pytest.raises(DesignError, match="only the sum of the two variances"):
        two.equal_scales_test()
    c = res.comparisons
    with pytest.raises(DesignError, match="no effects on log-worths"):
        llbt.fit("object + tie + (tie | judge)", c).equal_scales_test()
    with pytest.raises(DesignError, match="integrated out by quadrature or sampling"):
        llbt.fit("object + tie + (object | judge)", c, approximation="laplace").equal_scales_test()
