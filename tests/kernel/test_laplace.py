"""Laplace's approximation: its value by one dense matrix, its gradient by differences, and another program's maxima."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

import llbt
from llbt.core.response import THREE
from llbt.kernel.crossed import Bearing, Crossed, crossed
from llbt.kernel.effect_groups import Entry
from llbt.kernel.laplace import laplace
from llbt.kernel.laplace_fit import NormalLikelihood
from llbt.kernel.likelihood import Problem

J, JUDGES, PROMPTS = 4, 9, 5


def _lines(seed: int = 1, size: int = 150) -> tuple[Problem, Crossed, np.ndarray, tuple[np.ndarray, ...]]:
    """Judgments of pairs of four objects by judges and prompts, with effects of four kinds."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(J) for j in range(i + 1, J)])
    rows, judge, prompt = (rng.integers(n, size=size) for n in (len(pairs), JUDGES, PROMPTS))
    counts = np.eye(3)[rng.integers(3, size=size)] + np.eye(3)[rng.integers(3, size=size)]
    table = pd.DataFrame({"object_i": pairs[:, 0], "object_j": pairs[:, 1], "wins_i": 2, "ties": 1, "wins_j": 1})
    problem = llbt.fit("object + tie", llbt.from_counts(table)).problem()
    bearings = [
        Bearing(0, judge, Entry(True, (0,))),
        Bearing(1, prompt, Entry(True, (0,))),
        Bearing(0, judge, Entry(False, (1,))),
        Bearing(1, prompt, Entry(False, (0, 1))),
    ]
    return problem, crossed(rows, counts, pairs, bearings), counts, (rows, judge, prompt, pairs)


def _dense(at: np.ndarray) -> float:
    """The same with loadings in one matrix, the mode by scipy, and the determinant of all effects at once."""
    _, _, counts, (rows, judge, prompt, pairs) = _lines()
    sigma = np.exp(at[J:])
    size = len(rows)
    parts = [np.zeros((2, size, n)) for n in (JUDGES * J, PROMPTS * J, JUDGES, PROMPTS * 2)]
    line = np.arange(size)
    for k, codes in ((0, judge), (1, prompt)):
        parts[k][0, line, codes * J + pairs[rows, 0]] = sigma[k]
        parts[k][0, line, codes * J + pairs[rows, 1]] = -sigma[k]
    parts[2][1, line, judge] = sigma[2]
    for b in range(2):
        parts[3][b, line, prompt * 2 + b] = sigma[3]
    loadings = np.concatenate(parts, axis=2)
    worth = np.append(at[: J - 1], 0.0)
    eta = np.array([worth[pairs[rows, 0]] - worth[pairs[rows, 1]], np.full(size, at[J - 1])])

    def probability(w: np.ndarray) -> np.ndarray:
        u = eta + loadings @ w
        p = np.exp(np.array([u[0], u[1], -u[0]]))
        return np.asarray(p / p.sum(axis=0))

    def minus(w: np.ndarray) -> tuple[float, np.ndarray]:
        p = probability(w)
        score = (THREE.loadings.T @ (counts.T - counts.sum(axis=1) * p))[:, :, None] * loadings
        return -float((counts.T * np.log(p)).sum()) + w @ w / 2, w - score.sum(axis=(0, 1))

    mode = optimize.minimize(minus, np.zeros(loadings.shape[2]), jac=True, method="BFGS", options={"gtol": 1e-7}).x
    p = probability(mode)
    mean = THREE.loadings.T @ p
    weight = np.einsum("kb,kc,kl->bcl", THREE.loadings, THREE.loadings, p) - mean[:, None] * mean[None]
    information = np.einsum("bld,bcl,cle->de", loadings, weight * counts.sum(axis=1), loadings, optimize=True)
    return -minus(mode)[0] - float(np.linalg.slogdet(np.eye(len(mode)) + information)[1]) / 2


AT = np.concatenate([[0.4, -0.2, 0.1, -0.5], np.log([0.8, 0.5, 0.6, 0.3])])


def _at(x: np.ndarray) -> tuple[float, np.ndarray]:
    problem, lines, _, _ = _lines()
    found = laplace(problem, lines, x[:J], np.exp(x[J:]))
    return found.value, found.score


def test_crossed_effects_are_one_dense_matrix() -> None:
    assert _at(AT)[0] == pytest.approx(_dense(AT), abs=1e-7)


def test_the_gradient_is_that_of_the_approximation() -> None:
    slopes = [(_at(AT + h)[0] - _at(AT - h)[0]) / 2e-4 for h in 1e-4 * np.eye(len(AT))]
    np.testing.assert_allclose(_at(AT)[1], slopes, atol=1e-5)


@pytest.mark.slow
def test_the_information_is_about_that_with_weights_held() -> None:
    """Exact in the rows of log σ; in those of fixed parameters it leaves out what the determinant bends."""
    problem, lines, _, _ = _lines()
    likelihood, kept = NormalLikelihood(problem, lines, "laplace"), tuple(range(4))
    found = likelihood.at(AT, kept, None)
    about, exact = likelihood.beside(AT, kept, found), likelihood.exact(AT, kept, found)
    steps = 1e-4 * np.eye(len(AT))
    np.testing.assert_allclose(exact, [(_at(AT - h)[1] - _at(AT + h)[1]) / 2e-4 for h in steps], atol=1e-5)
    np.testing.assert_allclose(about[J:], exact[J:], atol=0.01)
    np.testing.assert_allclose(about[:J, :J], exact[:J, :J], atol=0.1 * np.abs(exact).max())


@pytest.mark.shared
@pytest.mark.parametrize("name", ["trdel", "immig"])
def test_maxima_of_real_judges(shared: Path, name: str) -> None:
    """Figures of another program: Laplace's maximum to 1e-3 of the estimates and of the log-likelihood."""
    expected = json.loads((shared / "reference" / "models" / "mixed.json").read_text())[name]
    frame = pd.read_csv(shared / "data" / f"{name}_long.csv")
    names = {"i": "object_i", "j": "object_j", "wi": "wins_i", "t": "ties", "wj": "wins_j"}
    c = llbt.from_counts(frame[[k for k in ("g", *names) if k in frame]].rename(columns=names), clusters="g")
    formula = "object + tie + (object | g)" if c.has_ties else "object + (object | g)"
    res = llbt.fit(formula, c, reference=expected["objects"][-1], approximation="laplace")
    assert isinstance(res, llbt.MixedResults)
    assert res.llf == pytest.approx(expected["laplace_llf"], abs=1e-6)
    at = dict(zip(expected["names"], expected["laplace"], strict=True))
    np.testing.assert_allclose(res.maximum.params, [at[term] for term in res.names], atol=1e-4)
    assert np.log(res.maximum.scales[0]) == pytest.approx(at["log sigma"], abs=1e-4)
