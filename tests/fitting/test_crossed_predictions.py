"""Predictions for judges and prompts that are crossed: beside judge_effects, dense matrices and differences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.core.columns import FloatArray
from llbt.errors import OptionError
from llbt.kernel.effect_contrasts import Touch, added_effects
from llbt.kernel.laplace_fit import approximation_at
from llbt.kernel.propagation import propagated

BOTH = "object + order + (object | judge) + (order | prompt)"


@pytest.fixture(scope="module")
def res() -> llbt.MixedResults:
    """Eight judges, six prompts, three objects; judge 7 has no judgment of C."""
    rng = np.random.default_rng(6)
    judge, prompt = np.divmod(np.arange(144) % 48, 6)
    i = rng.integers(3, size=144)
    j = (i + rng.integers(1, 3, size=144)) % 3
    i, j = np.where(judge == 7, np.arange(144) % 2, i), np.where(judge == 7, 1 - np.arange(144) % 2, j)
    own = np.array([0.5, 0.2, 0.0]) + rng.normal(0, 0.6, (8, 3))
    apart = own[judge, i] - own[judge, j] + 0.2 + rng.normal(0, 0.5, 6)[prompt]
    wins = (rng.random(144) < 1 / (1 + np.exp(-2 * apart))).astype(int)
    names = np.array(list("ABC"))
    frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 1 - wins})
    c = llbt.from_counts(frame.assign(judge=judge, prompt=prompt), clusters=("judge", "prompt"), order=True)
    found = llbt.fit(BOTH, c)
    assert isinstance(found, llbt.MixedResults)
    assert (found.scales > 0.05).all()
    return found


def _logit(res: llbt.MixedResults, **at: object) -> pd.Series:
    """Return half the log-odds of each ordered pair."""
    found = res.predict(at=at).to_frame().set_index(["object_i", "object_j", "outcome"])["estimate"]
    return np.log(found.xs("i", level=2) / found.xs("j", level=2)) / 2


def test_effects_are_those_of_judge_effects_and_add_up(res: llbt.MixedResults) -> None:
    worths = llbt.judge_effects(res, by="judge").worths().loc[3]
    frame = llbt.judge_effects(res, by="prompt").to_frame()
    order = res.params["order"] + frame.set_index("prompt").loc[5, "estimate"]
    alone, there, both = _logit(res, judge=3), _logit(res, prompt=5), _logit(res, judge=3, prompt=5)
    average = {name: float(res.params.get(f"object[{name}]", 0.0)) for name in "ABC"}
    for i, j in (("A", "B"), ("B", "A"), ("A", "C")):
        assert alone[i, j] == pytest.approx(worths[i] - worths[j] + res.params["order"])
        assert there[i, j] == pytest.approx(average[i] - average[j] + order)
        assert both[i, j] == pytest.approx(worths[i] - worths[j] + order)
    frame = pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "judge": [3], "prompt": [5]})
    assert res.predict(frame).to_frame()["estimate"].iloc[0] == pytest.approx(1 / (1 + np.exp(-2 * both["A", "B"])))


def test_covariances_are_those_of_dense_matrices_and_slopes_of_differences(res: llbt.MixedResults) -> None:
    lines, problem, best = res.judges.crossed, res.judges.problem, res.solution
    assert lines is not None
    at = approximation_at(problem, lines, best)
    key = list(zip(*(of.tolist() for of in lines.levels[0]), strict=True))
    first_places, others = (np.array([key.index((3, k)), key.index((7, k)) if k < 2 else -1]) for k in (1, 2))
    one = np.ones(2)
    touches = [Touch(0, first_places, 0, one), Touch(0, others, 0, -one), Touch(1, np.array([2, 4]), 0, one)]
    moved, cov, slopes = added_effects(problem, lines, at, best.params, best.scales, touches)

    sizes = [len(level) for level, _ in lines.levels]
    first = np.cumsum([0, *sizes])
    loadings = np.zeros((len(lines.rows), first[-1]))
    for e, touched in enumerate(lines.touched):
        for sign, index in zip((1.0, -1.0), touched, strict=False):  # order effects enter once
            loadings[np.arange(len(loadings)), first[e] + index] += sign * best.scales[e]
    precision, pull = at.sites
    eta = np.stack(problem.at(best.params))[0, lines.rows]
    h = np.eye(first[-1]) + (loadings.T * precision) @ loadings
    mean = np.linalg.solve(h, loadings.T @ (pull - precision * eta))
    asked = np.zeros((2, first[-1]))
    for r, (t, sign) in product(range(2), zip(touches, (1.0, -1.0, 1.0), strict=True)):
        if t.index[r] >= 0:
            asked[r, first[t.scale] + t.index[r]] += sign * best.scales[t.scale]
    unseen = np.array([0.0, best.scales[0] ** 2])
    np.testing.assert_allclose(moved[0], asked @ mean, atol=1e-6)
    np.testing.assert_allclose(cov[0, 0], np.diag(asked @ np.linalg.solve(h, asked.T)) + unseen, atol=1e-6)

    def added(x: FloatArray) -> FloatArray:
        near = propagated(problem, lines, x[: len(best.params)], np.exp(x[len(best.params) :]))
        return added_effects(problem, lines, near, x[: len(best.params)], np.exp(x[len(best.params) :]), touches)[0][0]

    x = np.concatenate([best.params, np.log(best.scales)])
    exact = [(added(x + step) - added(x - step)) / 2e-3 for step in 1e-3 * np.eye(len(x))]
    np.testing.assert_allclose(slopes[0], np.stack(exact, axis=1), atol=0.06)  # the sites move, too


def test_levels_that_are_not_there_are_named(res: llbt.MixedResults) -> None:
    with pytest.raises(OptionError, match="'prompt' has no 99 in the table"):
        res.predict(at={"prompt": 99})
    with pytest.raises(OptionError, match="no value is given for 'prompt'"):
        res.predict(at={"judge": 1, "prompt": []})
    with pytest.raises(OptionError, match="at= averages over values of 'judge'"):
        res.predict(at={"judge": {1: 0.5, 2: 0.5}})
    both = res.predict(at={"judge": [1, 2], "prompt": range(3)}).to_frame()
    assert len(both) == 2 * 3 * 6 * 2
