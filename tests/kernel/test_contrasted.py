"""Contrasts of few objects against effects of the objects themselves, and six digits against eight."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.fitting.mixed_results import MixedResults
from llbt.kernel import crossed as lines_of_counts
from llbt.kernel.laplace import laplace
from llbt.kernel.propagation import propagated

FORMULA = "object + tie + (object | judge) + (object | prompt)"


def _table(objects: int, judges: int = 8, prompts: int = 9, judgments: int = 80) -> llbt.Comparisons:
    """Return judgments of single judges on single prompts, some judges without some pairs."""
    rng = np.random.default_rng(7)
    of_judge, of_prompt = rng.normal(0, 0.8, (judges, objects)), rng.normal(0, 0.6, (prompts, objects))
    judge, prompt = rng.integers(0, judges, judgments), rng.integers(0, prompts, judgments)
    i = rng.integers(0, objects, judgments)
    j = (i + rng.integers(1, objects, judgments)) % objects
    worth = np.linspace(0.5, -0.5, objects) + of_judge[judge] + of_prompt[prompt]
    at = np.arange(judgments)
    odds = np.exp(np.stack([worth[at, i] - worth[at, j], worth[at, j] - worth[at, i], np.full(judgments, -0.4)]))
    drawn = (rng.random(judgments) > np.cumsum(odds / odds.sum(axis=0), axis=0)[:2]).sum(axis=0)
    frame = pd.DataFrame(
        {
            "object_i": [f"m{k}" for k in i],
            "object_j": [f"m{k}" for k in j],
            "outcome": np.array(["i", "j", "tie"])[drawn],
            "judge": [f"w{k}" for k in judge],
            "prompt": [f"q{k}" for k in prompt],
        }
    )
    return llbt.from_judgments(frame, clusters=("judge", "prompt"))


@cache
def _fitted(objects: int) -> MixedResults:
    return llbt.fit(FORMULA, _table(objects))


@pytest.mark.parametrize("objects", [2, 3])
@pytest.mark.parametrize("approximate", [laplace, propagated], ids=["laplace", "ep"])
def test_contrasts_of_objects_have_the_likelihood_and_slopes_of_objects(objects, approximate):
    judges = _fitted(objects).judges
    params, scales = np.linspace(0.3, -0.4, objects), np.array([0.7, 0.5])
    by_object = approximate(judges.problem, judges.crossed, params, scales)
    contrasted = judges.crossed.contrasted()
    by_contrast = approximate(judges.problem, contrasted, params, scales)
    assert len(contrasted.scales[0]) + len(contrasted.scales[1]) < sum(map(len, judges.crossed.scales))
    assert by_contrast.value == pytest.approx(by_object.value, abs=1e-8)
    assert by_contrast.score == pytest.approx(by_object.score, abs=1e-6)


def test_more_objects_keep_their_own_effects():
    lines = _fitted(4).judges.crossed
    assert lines.contrasted() is lines


def test_six_digits_change_estimates_by_less_than_a_hundredth_of_their_errors(monkeypatch):
    c = _table(3, judges=12, judgments=200)
    fine = llbt.fit(FORMULA, c)
    monkeypatch.setattr(lines_of_counts, "_MANY", 10)
    rough = llbt.fit(FORMULA, c)
    assert rough.judges.crossed.many
    assert not np.array_equal(rough.solution.params, fine.solution.params)
    error = np.sqrt(np.diag(fine.solution.covariance))
    apart = np.append(
        rough.solution.params - fine.solution.params, np.log(rough.solution.scales / fine.solution.scales)
    )
    assert np.abs(apart / error).max() < 0.01
    assert rough.llf == pytest.approx(fine.llf, abs=1e-4)
