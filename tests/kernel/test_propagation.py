"""Expectation propagation: its value by brute-force quadrature, its gradient and information by differences."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.core.columns import FloatArray, IntArray
from llbt.kernel.crossed import Bearing, Crossed, crossed
from llbt.kernel.effect_groups import Entry
from llbt.kernel.group_modes import contributions
from llbt.kernel.laplace import laplace
from llbt.kernel.laplace_fit import NormalLikelihood
from llbt.kernel.likelihood import Problem
from llbt.kernel.propagation import propagated

LINKS = {"binary": "adjacent", "ties": "adjacent", "cumulative": "cumulative", "probit": "probit"}


def _tiny(kind: str) -> tuple[Problem, Crossed, FloatArray]:
    """Two objects, two judges, two prompts, a judgment or two of each judge and prompt; parameters near 0."""
    table = pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "wins_i": [5], "wins_j": [3]})
    counts = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [1.0, 0.0]])
    if kind != "binary":
        table["ties"] = 2
        counts = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    formula = "object" if kind == "binary" else "object + tie"
    res = llbt.fit(formula, llbt.from_counts(table), link=LINKS[kind])
    judge, prompt = np.divmod(np.arange(4), 2)
    bearings = [Bearing(0, judge, Entry(True, (0,))), Bearing(1, prompt, Entry(True, (0,)))]
    lines = crossed(np.zeros(4, dtype=np.int64), counts, np.array([[0, 1]]), bearings)
    return res.problem(), lines, np.asarray(res.params)


def _integral(problem: Problem, lines: Crossed, params: FloatArray, scales: FloatArray) -> float:
    """The log-likelihood by 24 Gauss-Hermite points in each of the four differences of effects."""
    at, weights = np.polynomial.hermite_e.hermegauss(24)
    log = np.log(weights / weights.sum())
    points = np.array(list(product(at, repeat=4))).T
    total = np.array(list(product(log, repeat=4))).sum(axis=1)
    eta = np.stack(problem.at(params))[:, lines.rows]
    judge, prompt = np.divmod(np.arange(4), 2)
    for line in range(4):
        u = np.tile(eta[:, line, None], points.shape[1])
        u[0] += np.sqrt(2) * (scales[0] * points[judge[line]] + scales[1] * points[2 + prompt[line]])
        total += contributions(problem.response, u, lines.counts[:, line, None])[0]
    return float(np.logaddexp.reduce(total))


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "ties")) for kind in LINKS])
@pytest.mark.parametrize("sigma", [0.5, pytest.param(0.8, marks=pytest.mark.slow)])
def test_the_value_is_nearly_the_integral(kind: str, sigma: float) -> None:
    problem, lines, params = _tiny(kind)
    scales = np.array([sigma, 0.7 * sigma])
    exact = _integral(problem, lines, params, scales)
    by_sites = propagated(problem, lines, params, scales).value - exact
    assert abs(by_sites) < 2e-3
    assert abs(by_sites) < abs(laplace(problem, lines, params, scales).value - exact) / 20


J, JUDGES, PROMPTS = 3, 7, 5


@cache
def _lines(seed: int = 1, size: int = 80) -> tuple[Problem, Crossed]:
    """Judgments of three objects, with ties and an order effect that differs by prompts."""
    rng = np.random.default_rng(seed)
    pairs: IntArray = np.array([(i, j) for i in range(J) for j in range(J) if i != j])
    rows, judge, prompt = (rng.integers(n, size=size) for n in (len(pairs), JUDGES, PROMPTS))
    counts = np.eye(3)[rng.integers(3, size=size)]
    wins = rng.integers(1, 4, size=(3, len(pairs)))
    table = pd.DataFrame({"object_i": pairs[:, 0], "object_j": pairs[:, 1]})
    table = table.assign(wins_i=wins[0], ties=wins[1], wins_j=wins[2])
    problem = llbt.fit("object + tie + order", llbt.from_counts(table, order=True)).problem()
    bearings = [
        Bearing(0, judge, Entry(True, (0,))),
        Bearing(1, prompt, Entry(True, (0,))),
        Bearing(1, prompt, Entry(False, (0,))),
    ]
    return problem, crossed(rows, counts, pairs, bearings)


AT = np.concatenate([[0.4, -0.2, -0.5, 0.1], np.log([0.8, 0.5, 0.3])])


def _at(x: FloatArray) -> tuple[float, FloatArray]:
    problem, lines = _lines()
    found = propagated(problem, lines, x[:4], np.exp(x[4:]))
    return found.value, found.score


def test_the_gradient_is_that_of_the_approximation() -> None:
    slopes = [(_at(AT + h)[0] - _at(AT - h)[0]) / 2e-3 for h in 1e-3 * np.eye(len(AT))]
    np.testing.assert_allclose(_at(AT)[1], slopes, atol=1e-5)


def test_sites_of_another_place_lead_to_the_same() -> None:
    problem, lines = _lines()
    near = propagated(problem, lines, AT[:4] + 0.3, np.exp(AT[4:] - 0.4))
    found = propagated(problem, lines, AT[:4], np.exp(AT[4:]), near.sites)
    value, score = _at(AT)
    assert found.value == pytest.approx(value, abs=1e-7)
    np.testing.assert_allclose(found.score, score, atol=1e-6)


@pytest.mark.slow
def test_the_information_is_about_that_with_sites_held() -> None:
    problem, lines = _lines()
    likelihood, kept = NormalLikelihood(problem, lines, "ep"), (0, 1, 2)
    found = likelihood.at(AT, kept, None)
    about, exact = likelihood.beside(AT, kept, found), likelihood.exact(AT, kept, found)
    steps = 1e-3 * np.eye(len(AT))
    np.testing.assert_allclose(exact, [(_at(AT - h)[1] - _at(AT + h)[1]) / 2e-3 for h in steps], atol=1e-3)
    np.testing.assert_allclose(about[4:], exact[4:], atol=0.02)
    np.testing.assert_allclose(about[:4, :4], exact[:4, :4], atol=0.1 * np.abs(exact).max())


@pytest.mark.parametrize("scales", [(1.0, 1.0), pytest.param((3.0, 2.0), marks=pytest.mark.slow)])
def test_wide_cavities_are_integrated_over(scales: tuple[float, float]) -> None:
    """Points at the mode of a tilted density made slopes wrong by .1 where a likelihood cuts a wide cavity off."""
    problem, lines = _lines(size=40)
    at = np.concatenate([AT[:4], np.log([*scales, 1.0])])

    def of(x: FloatArray) -> tuple[float, FloatArray]:
        found = propagated(problem, lines, x[:4], np.exp(x[4:]))
        return found.value, found.score

    slopes = [(of(at + h)[0] - of(at - h)[0]) / 2e-2 for h in 1e-2 * np.eye(len(at))]
    np.testing.assert_allclose(of(at)[1], slopes, atol=5e-3)


@pytest.mark.filterwarnings("error")
def test_sites_settle_far_from_everything() -> None:
    """Undamped sites swung to and fro between the same two places there."""
    problem, lines = _lines(size=40)
    found = propagated(problem, lines, 8 * AT[:4], np.array([6.0, 9.0, 0.1]))
    assert np.isfinite(found.value)
    assert (found.sites[0] > 0).all()
