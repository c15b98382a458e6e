"""Sums over runs against sums over dense rows, and fits with numbers of the sides against the explicit GLM.

Second routes: the predictors' three cells written out on dense rows made by hand, statsmodels' Poisson GLM with a dummy
for each comparison (``method="glm"``), finite differences of the log-likelihood, and numpy's sort for what is coded.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from support.fits import fit_by

import llbt
from llbt.core import columns
from llbt.core.response import THREE
from llbt.formulas import coding, variables
from llbt.formulas.design import build_design
from llbt.kernel import runtable
from llbt.kernel.indexed_rows import Gathered, Part
from llbt.kernel.likelihood import Likelihood, Problem, rows_of, table_of
from llbt.kernel.runtable import RunTable, run_table
from llbt.kernel.solvers import eliminate

SIDES = {"x1": ("x1_i", "x1_j"), "x2": ("x2_i", "x2_j")}


# --- tables by hand ---------------------------------------------------------------------------------------------------


@dataclass
class Table:
    """Gathered rows, the same as dense ones, and totals."""

    signed: Gathered
    tie: Gathered
    dense: tuple[np.ndarray, np.ndarray]
    totals: np.ndarray
    has_ties: bool

    def runs(self) -> RunTable:
        found = run_table((self.signed, self.tie)[: 1 + self.has_ties], self.totals)
        assert found is not None
        return found


def sorted_table(*, q: int = 2, ties: bool = True, order: bool = True, by_judge: bool = True, seed: int = 0) -> Table:
    """Four objects and two judges in 24 runs of uneven lengths; p = 3 worths, q numbers, 2 ties and the order."""
    rng = np.random.default_rng(seed)
    found = np.array([(a, b, k) for a in range(4) for b in range(4) for k in (0, 1) if a != b])
    i, j, judge = np.repeat(found, np.resize([1, 2, 40, 3, 9, 17], len(found)), axis=0).T
    size, p = len(i), 3 + q + 3
    objects, judges, first = np.zeros((4, p)), np.zeros((2, p)), np.zeros((1, p))
    objects[:3, [0, 1, p - 1]] = np.eye(3)  # columns of the numbers lie between those of the objects
    judges[:, 2 + q : 4 + q] = [[1, 0], [1, 1]]
    if not by_judge:
        judge, judges = np.zeros(size, dtype=np.int64), judges[:1]
    first[0, 4 + q] = 1.0
    chosen, own = 2 + np.arange(q), rng.normal(size=(q, size))
    parts = [Part(objects, i, 1.0), Part(csr_array(objects), j, -1.0)]
    dense = objects[i] - objects[j]
    dense[:, chosen] = own.T
    if order:
        parts.append(Part(first, np.zeros(size, dtype=np.int64), 1.0))
        dense += first
    signed = Gathered(tuple(parts), (size, p), chosen, own)
    tie = Gathered((Part(judges, judge, 1.0),) if ties else (), (size, p))
    middle = judges[judge] if ties else np.zeros((size, p))
    return Table(signed, tie, (dense, middle), rng.integers(1, 6, size) * 0.5, ties)


def dense_sums(table: Table, params: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return Σ n log Σ exp, its gradient and its second derivatives, a comparison's cells written out."""
    signed, tie = table.dense
    rows = np.stack([signed, tie, -signed] if table.has_ties else [signed, -signed], axis=1)  # (S, C, p)
    predictor = rows @ params
    norm = np.logaddexp.reduce(predictor, axis=1)
    weight = table.totals[:, None] * np.exp(predictor - norm[:, None])
    mean = np.einsum("sc,scp->sp", weight, rows) / table.totals[:, None]
    away = rows - mean[:, None]
    value = float(table.totals @ norm)
    return value, table.totals @ mean, np.einsum("sc,scp,scq->pq", weight, away, away)


@pytest.mark.parametrize("block", [7, 64, 8192])
@pytest.mark.parametrize("order", [True, False], ids=["order", "no_order"])
@pytest.mark.parametrize("ties", ["by_judge", "one", "none"])
@pytest.mark.parametrize("q", [1, 3])
def test_sums_over_runs_are_those_over_dense_rows(q, ties, order, block, monkeypatch) -> None:
    monkeypatch.setattr(runtable, "_BLOCK", block)
    table = sorted_table(q=q, ties=ties != "none", order=order, by_judge=ties == "by_judge", seed=q)
    runs = table.runs()
    length = np.diff(runs.starts, append=len(table.totals))
    assert len(length) == (24 if ties == "by_judge" else 12)  # a pair's runs are one where judges are alike
    assert length.min() < 7 < length.max()
    for scale in (0.0, 1.0):
        params = scale * np.random.default_rng(q + 5).normal(size=table.signed.shape[1])
        value, gradient, matrix = dense_sums(table, params)
        found = runs.moments(params)
        assert found is not None
        assert found[0] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(found[1], gradient, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found[2], matrix, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(runs.expected(params), gradient, rtol=1e-10, atol=1e-10)


def test_tables_of_numbers_alone_are_one_run() -> None:
    whole = sorted_table(q=3, ties=False, order=False)
    signed = Gathered((), (whole.signed.shape[0], 3), np.arange(3), whole.signed.own)
    tie = Gathered((), signed.shape)
    table = Table(signed, tie, (whole.signed.own.T, np.zeros(signed.shape)), whole.totals, has_ties=False)
    runs = table.runs()
    assert runs.starts.tolist() == [0]
    params = np.array([0.3, -1.0, 2.0])
    for found, expected in zip(runs.moments(params), dense_sums(table, params), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("where", ["number", "object", "tie"])
def test_near_an_overflow_there_are_no_sums(where, monkeypatch) -> None:
    monkeypatch.setattr(runtable, "_BLOCK", 64)  # the comparison that is far off may stand in any block
    table = sorted_table(q=1)
    column = {"number": 2, "object": 1, "tie": 3}[where]
    reached = np.abs(table.dense[where == "tie"][:, column]).max()
    params = np.zeros(table.signed.shape[1])
    for worth, there in ((299.0, True), (301.0, False)):
        params[column] = worth / reached
        found = table.runs().moments(params)
        assert (found is not None) == there
        assert (table.runs().expected(params) is not None) == there
        if found is not None:
            for part, expected in zip(found, dense_sums(table, params), strict=True):
                np.testing.assert_allclose(part, expected, rtol=1e-10, atol=1e-10)


def test_reach_is_no_less_than_any_predictor_moves() -> None:
    rng = np.random.default_rng(3)
    for seed in range(40):
        table = sorted_table(q=1 + seed % 3, ties=seed % 5 > 0, order=seed % 2 > 0, seed=seed)
        step = rng.normal(size=table.signed.shape[1]) * 10.0 ** rng.uniform(-2, 2, table.signed.shape[1])
        moved = max(np.abs(rows @ step).max() for rows in table.dense)
        assert moved * (1 - 1e-12) <= table.runs().reach(step)
    step = np.zeros(table.signed.shape[1])
    step[table.signed.chosen[0]] = -2.0  # a bound that is met
    assert table.runs().reach(step) == pytest.approx(2 * np.abs(table.signed.own[0]).max(), rel=1e-12)


def equal_runs(length: int, *, q: int = 1) -> RunTable | None:
    size = 6 * length
    part = Part(np.eye(6, 6 + q), np.repeat(np.arange(6), length), 1.0)
    signed = Gathered((part,), (size, 6 + q), 6 + np.arange(q), np.ones((q, size)))
    return run_table((signed,), np.ones(size))


def test_short_runs_and_tables_without_numbers_have_no_table_of_runs() -> None:
    assert equal_runs(7) is None
    assert equal_runs(100, q=0) is None
    found = equal_runs(8)
    assert found is not None
    assert found.starts.tolist() == [0, 8, 16, 24, 32, 40]


# --- fits -------------------------------------------------------------------------------------------------------------


def judgments(
    n: int,
    *,
    objects: int = 4,
    digits: int | None = None,
    scale: float = 1.0,
    ties: bool = True,
    share: tuple[float, ...] = (0.4, 0.3, 0.3),
    seed: int = 0,
) -> llbt.Comparisons:
    """Judgments that objects, the order and two positive numbers of each side move."""
    rng = np.random.default_rng(seed)
    i, step = rng.integers(0, objects, n), rng.integers(1, objects, n)
    j, judge = (i + step) % objects, rng.choice(len(share), n, p=share)
    x = rng.uniform(0.5, 3, (n, 2, 2))  # judgment, side, number
    x = x if digits is None else np.round(x, digits)
    u = 0.1 + (i - j) * 0.1 * (1 + judge) + (x[:, 0] - x[:, 1]) @ [0.4, -0.2]
    chances = np.exp(np.column_stack([u, np.full(n, -0.3 if ties else -np.inf), -u]))
    said = (rng.random(n)[:, None] > np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    frame = {"object_i": [f"o{k}" for k in i], "object_j": [f"o{k}" for k in j], "judge": [f"J{k}" for k in judge]}
    frame |= {f"x{k + 1}_{side}": scale * x[:, s, k] for s, side in enumerate("ij") for k in (0, 1)}
    frame["outcome"] = np.array(["i", "tie", "j"])[said]
    return llbt.from_judgments(pd.DataFrame(frame), side_covariates=SIDES, covariates="judge", order=True)


def by_hand(c: llbt.Comparisons) -> dict[str, np.ndarray]:
    """Return the column of every parameter that the formulas here make, as the docs define it; ties aside."""
    (i, j), (x1, x2), judge = c.pairs.T, (side.values.T for side in c.sides), c.columns[0].values
    found = {"x1": x1[0] - x1[1], "x2": x2[0] - x2[1], "order": np.ones(len(i))}
    found |= {"np.log(x1)": np.log(x1[0] / x1[1]), "center(x1)": found["x1"], "x1:x2": x1[0] * x2[0] - x1[1] * x2[1]}
    for k, name in enumerate(c.objects):
        one = 1.0 * (i == k) - (j == k)
        found |= {f"object[{name}]": one, f"object[{name}]:x1": x1[0] * (i == k) - x1[1] * (j == k)}
        found |= {f"object[{name}]:judge[{level}]": one * (judge == level) for level in c.columns[0].levels}
    for level in c.columns[0].levels:
        found[f"x1:judge[{level}]"] = found["x1"] * (judge == level)
        found[f"order:judge[{level}]"] = 1.0 * (judge == level)
    return found


def rows_by_hand(res: llbt.LLBTResults) -> tuple[np.ndarray, np.ndarray]:
    """Return the dense rows of the signed and of the tie predictor."""
    known, names = by_hand(res.comparisons), list(res.params.index)
    judge = res.comparisons.columns[0].values
    nothing = np.zeros(len(judge))
    signed = [nothing if name.startswith("tie") else known[name] for name in names]
    ties = {"tie": nothing + 1, **{f"tie:judge[{level}]": 1.0 * (judge == level) for level in np.unique(judge)}}
    return np.column_stack(signed), np.column_stack([ties.get(name, nothing) for name in names])


def log_likelihood(res: llbt.LLBTResults, rows: tuple[np.ndarray, np.ndarray], params: np.ndarray) -> float:
    u, w = (part @ params for part in rows)
    counts, has_ties = res.problem().counts, res.comparisons.has_ties
    predictor = np.column_stack([u, w, -u] if has_ties else [u, -u])
    return float(np.sum(counts * (predictor - np.logaddexp.reduce(predictor, axis=1)[:, None])))


def check_maximum(res: llbt.LLBTResults) -> None:
    """The rows are those by hand, and there the log-likelihood is flat and as curved as the errors say."""
    rows = rows_by_hand(res)
    problem, estimate = res.problem(), np.asarray(res.params)
    for gathered, dense in zip(problem.predictors, rows, strict=False):
        np.testing.assert_allclose(gathered.toarray(), dense, rtol=1e-12, atol=1e-12)
    step = 1e-4 * np.diag(np.asarray(res.bse))
    top = log_likelihood(res, rows, estimate)
    up, down = (np.array([log_likelihood(res, rows, estimate + sign * move) for move in step]) for sign in (1.0, -1.0))
    np.testing.assert_allclose((up - down) / 2e-4, 0, atol=2e-6)  # in standard errors; noise is 1e-13 · 3000 / 1e-4
    wide = [
        2 * top - log_likelihood(res, rows, estimate + 100 * move) - log_likelihood(res, rows, estimate - 100 * move)
        for move in step
    ]
    precision = np.diag(np.linalg.inv(np.asarray(res.cov_params())))
    np.testing.assert_allclose(np.array(wide) / 1e-4, np.asarray(res.bse) ** 2 * precision, rtol=1e-3)


def check_like_glm(formula: str, c: llbt.Comparisons, rtol: float = 1e-8) -> llbt.LLBTResults:
    found, explicit = (fit_by(formula, c, method=method) for method in ("eliminate", "glm"))
    assert list(found.params.index) == list(explicit.params.index)
    np.testing.assert_allclose(found.params, explicit.params, rtol=rtol, atol=1e-10)
    np.testing.assert_allclose(found.bse, explicit.bse, rtol=rtol)
    np.testing.assert_allclose(found.cov_params(), explicit.cov_params(), rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(found.deviance, explicit.deviance, rtol=rtol)
    np.testing.assert_allclose(found.fittedvalues, explicit.fittedvalues, rtol=1e-7, atol=1e-10)
    return found


def goes_through_runs(res: llbt.LLBTResults) -> bool:
    problem = res.problem()
    return isinstance(table_of(problem, problem.totals), RunTable)


def own_names(res: llbt.LLBTResults) -> list[str]:
    return [res.params.index[k] for k in res.problem().signed.chosen]


@pytest.fixture(name="few")
def _few(monkeypatch) -> None:
    """Let numbers be columns of their own in tables small enough for the explicit GLM to be quick."""
    for module in (coding, variables):
        monkeypatch.setattr(module, "FEW", 50)


@pytest.mark.parametrize(
    "formula",
    ["object + x1 + x2 + tie + order", "object * judge + x1 + x2 + tie + order", "x1 + x2 + tie:judge + order:judge"],
)
def test_the_log_likelihood_of_3000_judgments_is_flat_at_the_estimate(formula: str) -> None:
    res = fit_by(formula, judgments(3_000, objects=6), method="eliminate")
    assert goes_through_runs(res)
    assert own_names(res) == ["x1", "x2"]
    assert res.converged
    check_maximum(res)


def test_a_table_as_small_as_may_have_columns_of_its_own_gives_what_the_explicit_glm_does() -> None:
    res = check_like_glm("object + x1 + x2 + tie + order", judgments(505))
    assert goes_through_runs(res)
    check_maximum(res)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "own", "runs"),
    [
        ("object * judge + x1 + x2 + tie + order", ["x1", "x2"], True),
        ("object + x1:x2 + tie + tie:judge + order:judge", ["x1:x2"], True),
        ("object * x1 + tie", ["x1"], False),  # columns of the interaction are 0 for three objects of four
        ("object + x1 + x1:judge + tie", ["x1"], False),
        ("object + x1:judge + tie", [], False),
        ("x1 + x2 + tie", ["x1", "x2"], True),
        ("object + np.log(x1) + tie", ["np.log(x1)"], True),
        ("object + center(x1) + x2 + tie", ["center(x1)", "x2"], True),
    ],
    ids=str,
)
@pytest.mark.usefixtures("few")
def test_formulas_with_numbers_give_what_the_explicit_glm_does(formula: str, own: list[str], runs: bool) -> None:
    res = check_like_glm(formula, judgments(300))
    assert own_names(res) == own
    assert goes_through_runs(res) == runs
    check_maximum(res)


@pytest.mark.usefixtures("few")
def test_a_number_of_most_judgments_is_a_column_of_its_own_that_is_often_0() -> None:
    res = check_like_glm("object + x1:judge + tie", judgments(300, share=(0.7, 0.3)))
    assert own_names(res) == ["x1:judge[J0]"]
    check_maximum(res)


@pytest.mark.usefixtures("few")
def test_without_ties_the_fit_is_that_of_the_explicit_glm() -> None:
    res = check_like_glm("object + x1 + x2 + order", judgments(300, ties=False))
    assert goes_through_runs(res)
    assert not res.problem().response.has_ties
    check_maximum(res)


@pytest.mark.parametrize(("digits", "own"), [(2, ["x1", "x2"]), (1, ["x1", "x2"]), (0, [])])
@pytest.mark.usefixtures("few")
def test_numbers_that_repeat_give_what_the_explicit_glm_does(digits: int, own: list[str]) -> None:
    c = judgments(300, digits=digits)
    assert len(c) < 300 if digits == 0 else len(c.sides[0].levels) < 300
    res = check_like_glm("object + x1 + x2 + tie + order", c)
    assert own_names(res) == own
    check_maximum(res)


@pytest.mark.usefixtures("few")
def test_numbers_beside_labels_of_many_combinations_leave_the_labels_where_they_are() -> None:
    """Most combinations of object and style are new, so that the column of the style is one of many numbers too."""
    rng = np.random.default_rng(5)
    i, step, styled, x = rng.integers(0, 60, 200), rng.integers(1, 60, 200), rng.random((200, 2)), rng.random((200, 2))
    frame = {"object_i": [f"o{k:02}" for k in i], "object_j": [f"o{k:02}" for k in (i + step) % 60]}
    frame |= {f"style_{side}": np.where(styled[:, s] < 0.6, "b", "a") for s, side in enumerate("ij")}
    frame |= {f"x_{side}": x[:, s] for s, side in enumerate("ij")} | {"outcome": rng.choice(["i", "j"], 200)}
    sides = {"style": ("style_i", "style_j"), "x": ("x_i", "x_j")}
    c = llbt.from_judgments(pd.DataFrame(frame), side_covariates=sides)
    design = build_design("object + style + x", c)
    style, x = (side.values for side in sorted(c.sides, key=lambda side: side.name))
    rows = dict(zip(design.names, design.signed_rows().toarray().T, strict=True))
    np.testing.assert_array_equal(rows["style[b]"], 1.0 * (style[:, 0] == "b") - (style[:, 1] == "b"))
    np.testing.assert_allclose(rows["x"], x[:, 0] - x[:, 1], rtol=1e-15)
    for k, name in enumerate(c.objects[:-1]):
        np.testing.assert_array_equal(rows[f"object[{name}]"], 1.0 * (c.pairs[:, 0] == k) - (c.pairs[:, 1] == k))


@pytest.mark.usefixtures("few")
def test_numbers_of_a_bad_scale_give_what_the_explicit_glm_does() -> None:
    c = judgments(300, scale=1e3)
    res = check_like_glm("object + x1 + x2 + tie + order", c, rtol=1e-6)
    assert goes_through_runs(res)
    assert abs(res.params["x1"]) < 1e-3
    plain = fit_by("object + x1 + x2 + tie + order", judgments(300), method="eliminate")
    np.testing.assert_allclose(res.params[["x1", "x2"]] * 1e3, plain.params[["x1", "x2"]], rtol=1e-9)


@pytest.mark.usefixtures("few")
def test_where_predictors_are_taken_for_far_rows_take_the_place_of_runs(monkeypatch) -> None:
    c, formula = judgments(300), "object * judge + x1 + x2 + tie + order"
    through_runs = fit_by(formula, c, method="eliminate")
    monkeypatch.setattr(runtable, "_FAR", 1.0)
    params = np.asarray(through_runs.params)
    problem = through_runs.problem()
    assert table_of(problem, problem.totals).moments(params) is None
    np.testing.assert_allclose(Likelihood.of(problem).score(params), 0, atol=1e-9)
    through_rows = fit_by(formula, c, method="eliminate")
    np.testing.assert_allclose(through_rows.params, through_runs.params, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(through_rows.bse, through_runs.bse, rtol=1e-9)


def test_a_judgment_beyond_an_overflow_changes_nothing() -> None:
    """It is sure at the estimate; second route: the maximum without it."""
    table = sorted_table(q=1, seed=8)
    u = 0.5 * table.signed.own[0]
    counts = np.random.default_rng(9).poisson(3 * np.exp(np.column_stack([u, 0 * u, -u]))) + 1.0
    own, at = table.signed.own.copy(), 200
    own[0, at], counts[at] = 2_000.0, [3, 0, 0]
    signed = Gathered(table.signed.parts, table.signed.shape, table.signed.chosen, own)
    problem = Problem((signed, table.tie), counts, np.zeros((2, len(counts))), THREE)
    expected = eliminate(rows_of(problem, np.arange(len(counts)) != at))
    assert expected.params[2] > 0.2
    assert table_of(problem, problem.totals).moments(expected.params) is None
    found = eliminate(problem, start=expected.params + 0.1 * np.eye(len(expected.params))[0])
    assert found.converged
    np.testing.assert_allclose(found.params, expected.params, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.cov, expected.cov, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(Likelihood.of(problem).score(expected.params), 0, atol=1e-7)


@pytest.mark.parametrize(("n", "rows"), [(300, 1000), (300, 50), (900, 1000)], ids=["small", "small_own", "large_own"])
def test_a_number_that_decides_every_judgment_is_named(n: int, rows: int, monkeypatch) -> None:
    for module in (coding, variables):
        monkeypatch.setattr(module, "FEW", rows)
    rng = np.random.default_rng(11)
    i, step, x = rng.integers(0, 4, n), rng.integers(1, 4, n), rng.normal(size=(n, 2, 2))
    frame = {"object_i": [f"o{k}" for k in i], "object_j": [f"o{k}" for k in (i + step) % 4]}
    frame |= {f"x{k + 1}_{side}": x[:, s, k] for s, side in enumerate("ij") for k in (0, 1)}
    frame["outcome"] = np.where(x[:, 0, 0] > x[:, 1, 0], "i", "j")
    c = llbt.from_judgments(pd.DataFrame(frame), side_covariates=SIDES)
    with pytest.raises(llbt.errors.SeparationError, match=r"\bx1\b"):
        llbt.fit("object + x1 + x2", c)
    frame["outcome"] = np.where(rng.random(n) < 0.2, "i", frame["outcome"])  # some go the other way
    again = llbt.from_judgments(pd.DataFrame(frame), side_covariates=SIDES)
    assert fit_by("object + x1 + x2", again, method="eliminate").params["x1"] > 0


# --- codes ------------------------------------------------------------------------------------------------------------


def check_groups(keys: list[np.ndarray]) -> int:
    """Compare with numpy's sort of whole rows; return how many are distinct."""
    first, group = columns.groups(keys)
    _, expected, inverse = np.unique(np.column_stack(keys), axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(group, inverse.ravel())
    return len(first)


def wide(rng: np.random.Generator, size: int, values: int) -> np.ndarray:
    """Codes up to 2**21, of so many values: three keys fill 63 bits."""
    return rng.choice(np.append(rng.choice(2**21 - 1, values - 1, replace=False), 2**21 - 1), size)


@pytest.mark.parametrize("ordered", [True, False], ids=["sorted", "as_they_come"])
@pytest.mark.parametrize(
    ("values", "distinct"),
    [
        ((2000, 2000, 2000, 3, 3), "all"),  # the first keys tell all rows apart
        ((2, 2, 2, 2, 2), "few"),
        ((7, 7, 7, 2000, 2000), "most"),  # only the last keys do
        ((2, 2, 2, 2, 2, 2, 2000, 2000, 2000), "most"),
    ],
    ids=["early", "few", "late", "last"],
)
def test_groups_of_wide_keys_are_those_of_sorted_rows(values, distinct: str, ordered: bool) -> None:
    rng = np.random.default_rng(len(values) + values[0])
    keys = [wide(rng, 1500, number) for number in values]
    if ordered:
        rows = np.lexsort(keys[::-1])
        keys = [key[rows] for key in keys]
    found = check_groups(keys)
    assert {"all": found == 1500, "few": found <= 32, "most": found > 1000}[distinct]


def test_groups_stop_early_only_where_no_two_rows_are_alike() -> None:
    """Rows that all differ in the first keys but two, which the last key tells apart, or does not."""
    rng = np.random.default_rng(1)
    keys = [wide(rng, 1000, 900) for _ in range(5)]
    for key in keys[:4]:
        key[700] = key[20]
    for last, distinct in ((keys[4][20] + 1, 1000), (keys[4][20], 999)):
        keys[4][700] = last
        assert check_groups(keys) == distinct


@pytest.mark.parametrize("shape", [(60,), (30, 2), (0,)], ids=str)
def test_numbers_are_coded_by_their_sorted_distinct_values(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(2).integers(-8, 8, shape) / 4
    values.flat[: values.size // 4] *= -1.0  # makes some zeros -0.0
    found = columns.code("x", values, numeric=True)
    assert found.numeric
    assert found.levels.tolist() == sorted(set(values.ravel().tolist()))
    assert found.codes.shape == shape
    np.testing.assert_array_equal(found.values, values)


def test_zeros_of_both_signs_are_one_level() -> None:
    found = columns.code("x", np.array([[0.0, -0.0], [-1.5, 1e-300]]), numeric=True)
    assert found.levels.tolist() == [-1.5, 0.0, 1e-300]
    assert found.codes.tolist() == [[1, 1], [0, 2]]


@pytest.mark.parametrize("missing", [[], [0], [11], [3, 4, 9]], ids=str)
@pytest.mark.parametrize("shape", [(200,), (100, 2)], ids=str)
def test_dense_codes_have_no_gaps_and_lead_back(shape: tuple[int, ...], missing: list[int]) -> None:
    levels = np.setdiff1d(np.arange(12), missing)
    codes = np.random.default_rng(3).permutation(np.resize(levels, 200)).reshape(shape)
    found, old = columns.dense(codes, 12)
    assert old.tolist() == levels.tolist()
    assert found.shape == shape
    np.testing.assert_array_equal(found, np.searchsorted(levels, codes))
