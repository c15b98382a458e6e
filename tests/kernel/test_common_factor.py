"""Slopes in the loadings of a common factor, beside differences of the log-likelihood."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.fitting.clusters import kept_ways
from llbt.fitting.effect_lines import EffectLines
from llbt.kernel.common_factor import FactorLines
from llbt.kernel.laplace_fit import NormalLikelihood

STEP = 1e-4


def lines(formula: str, objects: str) -> FactorLines:
    rng, size = np.random.default_rng(3), len(objects)
    i = rng.integers(size, size=120)
    j = (i + rng.integers(1, size, size=120)) % size
    names = np.array(list(objects))
    rows = pd.DataFrame({"object_i": names[i], "object_j": names[j], "judge": np.arange(120) % 8})
    outcome = rng.integers(3, size=120)
    wins = {name: (outcome == k).astype(int) for k, name in enumerate(("wins_i", "ties", "wins_j"))}
    c = llbt.from_counts(rows.assign(prompt=np.arange(120) // 12, **wins), clusters=("judge", "prompt"))
    res = llbt.fit(formula, c)
    assert isinstance(res, llbt.MixedResults)
    table = EffectLines.of(res.without, res.brackets, kept_ways(c, list(res.judges.groupings)))
    return FactorLines(table.problem, table.crossed(), 0, res.without.solution.params)


@pytest.mark.parametrize(
    ("formula", "objects", "rank"),
    [
        ("object + tie + (object | judge)", "ABC", 1),
        ("object + tie + (object | judge) + (object | prompt)", "ABCDE", 2),
    ],
)
def test_slopes_are_differences_of_the_log_likelihood(formula: str, objects: str, rank: int) -> None:
    table = lines(formula, objects)
    scales = np.arange(len(table.effects.bearings) + rank)
    at, active = np.concatenate([table.plain, -0.5 - 0.3 * scales]), tuple(scales.tolist())
    loadings = np.random.default_rng(1).standard_normal((len(objects), rank))
    point, slopes = table.point(loadings, at, active, None)

    def value(step: np.ndarray) -> float:
        likelihood = NormalLikelihood(table.problem, table.beside(loadings + step), "ep", sites=point.sites)
        return likelihood.at(at, active, None).value

    steps = STEP * np.eye(loadings.size).reshape(-1, *loadings.shape)
    differences = np.array([(value(one) - value(-one)) / (2 * STEP) for one in steps])
    np.testing.assert_allclose(slopes.ravel(), differences, atol=1e-5)


def test_tables_drawn_with_fractional_counts_have_as_many_judgments() -> None:
    table = lines("object + tie + (object | judge)", "ABC")
    part = replace(table, effects=replace(table.effects, counts=table.effects.counts / 4))
    fit, rng = table.alone(), np.random.default_rng(1)
    totals = [part.drawn(fit, rng).problem.counts.sum() for _ in range(40)]
    assert np.mean(totals) == pytest.approx(30, abs=3)
