"""Fits of more than three outcomes, made by hand: against statsmodels' explicit Poisson GLM, and against R."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import optimize
from scipy.sparse import csr_array
from support.folders import REFERENCE

from llbt import Comparisons, fit
from llbt.core.response import Response, graded
from llbt.kernel.batch import fit_many, params_of_many
from llbt.kernel.deviances import deviance, leverages
from llbt.kernel.explicit import glm
from llbt.kernel.indexed_rows import Gathered
from llbt.kernel.jackknife import left_out
from llbt.kernel.likelihood import Problem, information, log_likelihood, probabilities, rows_of
from llbt.kernel.penalties import Penalty
from llbt.kernel.recession import recession_direction
from llbt.kernel.robust import Clustered, cluster_scores, judgment_sandwich
from llbt.kernel.solvers import Fit, eliminate

FIVE = graded(2, middle=True)
BOTH_BAD = Response(("i", "tie", "bad", "j"), np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0]]), (3, 1, 2, 0))
RESPONSES = {"five": FIVE, "seven": graded(3, middle=True), "no middle": graded(2, middle=False), "both bad": BOTH_BAD}
each_response = pytest.mark.parametrize("response", RESPONSES.values(), ids=RESPONSES)
J, JUDGES = 6, 3


def judged(response: Response, seed: int = 61, most: int = 40) -> tuple[Problem, list[np.ndarray]]:
    """Six objects, all pairs in both orders by three judges: worths, order, and levels of the first judge's own.

    Returns the problem and, written out by themselves, the rows of each predictor (S, p).
    """
    rng = np.random.default_rng(seed)
    found = [(i, j, k) for i in range(J) for j in range(J) for k in range(JUDGES) if i != j]
    i, j, judge = np.array(found).T
    p = J + 2 * (response.width - 1)
    signed = np.zeros((len(i), p))
    signed[:, : J - 1] = (np.eye(J)[i] - np.eye(J)[j])[:, :-1]
    signed[:, J - 1] = 1.0  # the order
    rows = [signed]
    for b in range(response.width - 1):
        level = np.zeros((len(i), p))
        level[:, J + 2 * b], level[:, J + 2 * b + 1] = 1.0, judge == 0
        rows.append(level)
    truth = np.concatenate([np.linspace(0.5, -0.3, J - 1), [0.1], rng.normal(0, 0.4, p - J)])
    offsets = rng.normal(0, 0.1, (response.width, len(i)))
    empty = np.ones((len(i), len(response.outcomes)))
    problem = Problem(tuple(Gathered.of(csr_array(part)) for part in rows), empty, offsets, response)
    n = rng.integers(5, most, len(i))
    return replace(problem, counts=rng.multinomial(n, probabilities(problem, truth)).astype(float)), rows


def poisson(problem: Problem, rows: list[np.ndarray]) -> sm.GLM:
    """The literal model, cell by cell: loadings times rows, and a dummy for each comparison."""
    size, cells = problem.counts.shape
    lines, offset = [], []
    for s in range(size):
        for loading in problem.response.loadings:
            lines.append(np.append(sum(x * row[s] for x, row in zip(loading, rows, strict=True)), np.eye(size)[s]))
            offset.append(loading @ problem.offsets[:, s])
    family = sm.families.Poisson()
    model = sm.GLM(problem.counts.ravel(), np.array(lines), family=family, offset=np.array(offset))
    assert len(lines) == size * cells
    return model.fit(tol=1e-13, maxiter=100)


def check_equal(problem: Problem, found: Fit, expected: sm.GLM) -> None:
    p = len(found.params)
    assert found.converged
    np.testing.assert_allclose(found.params, expected.params[:p], atol=1e-8)
    np.testing.assert_allclose(found.cov, expected.cov_params()[:p, :p], atol=1e-8)
    np.testing.assert_allclose(found.means.ravel(), expected.mu, rtol=1e-8)
    assert deviance(problem.counts, found.means) == pytest.approx(expected.deviance, rel=1e-8)


@each_response
def test_eliminate_and_glm_equal_the_explicit_poisson_glm(response: Response) -> None:
    problem, rows = judged(response)
    expected = poisson(problem, rows)
    names = tuple(f"x{k}" for k in range(rows[0].shape[1]))
    for found in (eliminate(problem), glm(problem, names)):
        check_equal(problem, found, expected)
    fitted = eliminate(problem)
    hat = expected.get_hat_matrix_diag(observed=False)
    np.testing.assert_allclose(leverages(problem, fitted).ravel(), hat, rtol=1e-7)


@each_response
def test_many_fits_at_once_equal_single_ones(response: Response) -> None:
    problem, _ = judged(response)
    start = eliminate(problem)
    tables = np.random.default_rng(3).poisson(start.means, (6, *start.means.shape)).astype(float) + 0.5
    many = fit_many(problem, tables, start.params)
    for table, params, found in zip(tables, many.params, many.deviance, strict=True):
        alone = eliminate(replace(problem, counts=table))
        np.testing.assert_allclose(params, alone.params, atol=1e-7)
        assert found == pytest.approx(deviance(table, alone.means), rel=1e-9)
    np.testing.assert_array_equal(params_of_many(problem, tables, start.params), many.params)


@each_response
def test_covariances_equal_sums_over_single_judgments(response: Response) -> None:
    problem, rows = judged(response, most=9)
    found = eliminate(problem)
    z = np.einsum("kb,bsp->skp", response.loadings, np.array(rows))
    p = probabilities(problem, found.params)
    scores = z - np.einsum("sk,skp->sp", p, z)[:, None]
    meat = np.einsum("sk,skp,skq->pq", problem.counts, scores, scores)
    np.testing.assert_allclose(judgment_sandwich(problem, found), found.cov @ meat @ found.cov, atol=1e-12)
    codes = np.arange(len(p)) % 7
    clusters = Clustered(np.arange(len(p)), problem.counts, codes)
    by_line = np.einsum("sk,skp->sp", problem.counts, scores)
    by_cluster = np.array([by_line[codes == g].sum(axis=0) for g in range(7)])
    np.testing.assert_allclose(cluster_scores(problem, found, clusters), by_cluster, atol=1e-10)
    moved = np.zeros((len(found.params),) * 2)
    for g in range(7):  # one step of Newton's method without the cluster
        own = rows_of(problem, np.flatnonzero(codes == g))
        rest = np.linalg.inv(found.cov) - information(own, p[codes == g], own.totals)
        step = np.linalg.solve(rest, by_cluster[g])
        moved += np.outer(step, step)
    np.testing.assert_allclose(found.cov @ left_out(problem, found, clusters).meat @ found.cov, moved, rtol=1e-7)


@pytest.mark.parametrize("model", ["m1", "m2", "m3"])
def test_graded_preferences_for_music_equal_r(model: str) -> None:
    """R's glm of 14,210 graded judgments of five kinds of music, by sex."""
    folder = REFERENCE / "models"
    frame = pd.read_csv(folder / "music_graded.csv")
    expected = json.loads((folder / "music_graded_reference.json").read_text())[model]
    wide = frame.pivot_table(index=["object_i", "object_j", "sex"], columns="grade", values="count", fill_value=0)
    counts = wide[[2, 1, 0, -1, -2]].to_numpy(dtype=float)
    i, j, sex = (wide.index.get_level_values(k) for k in range(3))
    male = (sex == "male").astype(float)
    names, columns = list(expected["coefficients"]), []
    for name in names:
        word, _, by = name.partition("_")
        values = (i == word) * 1.0 - (j == word) if word not in ("tie", "strong") else np.ones(len(i))
        columns.append(values * (male if by else 1.0))
    block = np.array([{"tie": 1, "strong": 2}.get(name.partition("_")[0], 0) for name in names])
    rows = [Gathered.of(csr_array(np.column_stack(columns) * (block == b))) for b in range(3)]
    problem = Problem(tuple(rows), counts, np.zeros((3, len(counts))), FIVE)
    found = eliminate(problem)
    np.testing.assert_allclose(found.params, list(expected["coefficients"].values()), atol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.diag(found.cov)), list(expected["se"].values()), atol=1e-7)
    assert deviance(counts, found.means) == pytest.approx(expected["deviance"], abs=1e-6)
    assert counts.size - len(counts) - len(names) == expected["df_residual"]


def test_an_object_that_only_ever_wins_by_much_is_separated() -> None:
    problem, _ = judged(FIVE)
    assert recession_direction(problem) is None
    signed, totals = problem.signed.toarray()[:, 0], problem.totals
    counts = problem.counts.copy()
    counts[signed > 0, 2:], counts[signed < 0, :3] = 0.0, 0.0  # the first object is never tied and never beaten
    both_grades = replace(problem, counts=counts)
    assert (
        recession_direction(both_grades) is None
    )  # but slightly or by much better: what tells the two apart is finite
    assert np.abs(eliminate(both_grades).params).max() < 10
    counts[signed > 0, 0], counts[signed > 0, 1] = totals[signed > 0], 0.0
    counts[signed < 0, 4], counts[signed < 0, 3] = totals[signed < 0], 0.0
    direction = recession_direction(replace(problem, counts=counts))
    assert direction is not None
    assert direction[0] > 0
    along = np.array(FIVE.log_weights([rows @ direction for rows in problem.predictors])).T
    away = along.max(axis=1, keepdims=True) - along
    assert (away[counts > 0] < 1e-6 * np.abs(direction).max()).all()
    assert (away[signed != 0].max(axis=1) > 0.1 * np.abs(direction).max()).all()


def test_a_table_of_five_outcomes_is_fitted_with_equal_grades() -> None:
    """Formulas have no word for grades yet: `object + tie` is the model in which the larger grade has no effect."""
    problem, rows = judged(FIVE)
    pairs = np.array([(a, b) for a in range(J) for b in range(J) for _ in range(JUDGES) if a != b])
    names = tuple("ABCDEF")
    first = np.arange(0, len(pairs), JUDGES)
    counts = np.add.reduceat(problem.counts, first)
    c = Comparisons(names, pairs[first], counts, FIVE, keeps_order=True)
    found = fit("object + tie + order", c)
    columns = [0, 1, 2, 3, 4, 6, 5]  # worths, tie, order as the formula has them
    small = [part[first][:, columns] * (b < 2) for b, part in enumerate(rows)]
    plain = Problem(tuple(Gathered.of(csr_array(part)) for part in small), counts, np.zeros((3, len(counts))), FIVE)
    expected = poisson(plain, small)
    np.testing.assert_allclose(found.params, expected.params[:7], atol=1e-8)
    assert found.deviance == pytest.approx(expected.deviance, rel=1e-8)
    assert c.wins_i.sum() == counts[:, :2].sum()
    assert c.n_ties == counts[:, 2].sum()


def test_any_penalty_is_added_by_the_one_hook() -> None:
    """A normal prior on all parameters, against scipy's maximum and the inverse of a Hessian by finite differences."""
    problem, _ = judged(FIVE, most=8)
    size, precision = problem.signed.shape[1], 3.0

    def normal(params: np.ndarray) -> Penalty:
        curvature = precision * np.eye(size)
        return Penalty(-precision / 2 * float(params @ params), -precision * params, curvature)

    def loss(params: np.ndarray) -> float:
        return precision / 2 * float(params @ params) - log_likelihood(problem, probabilities(problem, params))

    found = eliminate(problem, penalty=normal)
    expected = optimize.minimize(loss, np.zeros(size), method="BFGS", options={"gtol": 1e-7}).x
    np.testing.assert_allclose(found.params, expected, atol=1e-5)
    assert found.objective == pytest.approx(-loss(found.params), rel=1e-12)
    np.testing.assert_allclose(found.means.sum(axis=1), problem.totals, rtol=1e-12)
    steps = 1e-3 * np.eye(size)
    hessian = [
        [
            (loss(found.params + a + b) - loss(found.params + a - b) - loss(found.params - a + b))
            + loss(found.params - a - b)
            for a in steps
        ]
        for b in steps
    ]
    np.testing.assert_allclose(np.linalg.inv(found.cov), np.array(hessian) / 4e-6, atol=1e-3)
    unpenalized = eliminate(problem)
    knowing_nothing = eliminate(problem, penalty=lambda params: replace(normal(params), informs=False))
    np.testing.assert_allclose(knowing_nothing.params, found.params, atol=1e-12)
    p = probabilities(problem, found.params)
    np.testing.assert_allclose(np.linalg.inv(knowing_nothing.cov), information(problem, p, problem.totals), rtol=1e-9)
    assert (np.diag(knowing_nothing.cov) > np.diag(found.cov)).all()
    assert np.linalg.norm(found.params) < np.linalg.norm(unpenalized.params)
