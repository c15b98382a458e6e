"""Three ways of solving for a step: each finds what dense algebra finds, and the cheapest is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import KINDS, Kind, judged_graph

from llbt.kernel.conjugate import Bordered, Graph
from llbt.kernel.likelihood import Inverse, inverse_diagonal
from llbt.kernel.objectgraph import GraphInformation
from llbt.kernel.solver_choice import Costs, Steps, costs_of, variances_along


def information(kind: Kind, size: int, number: int, q: int = 2) -> GraphInformation:
    rng = np.random.default_rng(7)
    frame = judged_graph(kind, size, number, reach=10)
    i, j = frame["object_i"].to_numpy(), frame["object_j"].to_numpy()
    key = np.unique(np.minimum(i, j) * size + np.maximum(i, j))
    i, j = np.divmod(key, size)
    w, z = rng.gamma(2.0, size=len(i)), rng.normal(size=(len(i), q))
    border = np.zeros((size, q))
    for column, x in zip(border.T, z.T, strict=True):
        column[:] = np.bincount(i, w * x, size) - np.bincount(j, w * x, size)
    return GraphInformation(Bordered(Graph.of(i, j, size), w, border, z.T @ (w[:, None] * z)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_finds_the_same(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    found = information(kind, 350, 1500)
    right = np.random.default_rng(1).normal(size=found.shape[0])
    expected = np.linalg.solve(found.toarray(), right)
    ways = {"dense": Costs(1.0, 2.0, 9.0), "band": Costs(2.0, 1.0, 9.0), "conjugate": Costs(9.0, 9.0, 1e-4)}
    for way, costs in ways.items():
        monkeypatch.setattr("llbt.kernel.solver_choice.costs_of", lambda *_, costs=costs: costs)
        atol = (1e-5 if way == "conjugate" else 1e-10) * np.abs(expected).max()
        np.testing.assert_allclose(Steps().solve(found, right), expected, atol=atol, err_msg=way)


@pytest.mark.parametrize("q", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_variances_are_those_of_the_inverse(kind: Kind, q: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Along the band, and from the dense factor."""
    found = information(kind, 350, 1500, q)
    expected = np.diag(np.linalg.inv(found.toarray()))
    np.testing.assert_allclose(inverse_diagonal(found), expected, rtol=1e-9)
    monkeypatch.setattr("llbt.kernel.solver_choice.costs_of", lambda *_: Costs(9.0, 1.0, 9.0))
    np.testing.assert_allclose(variances_along(found), expected, rtol=1e-9)
    monkeypatch.setattr("llbt.kernel.solver_choice.costs_of", lambda *_: Costs(9.0, 3.0, 9.0))
    assert variances_along(found) is None


@pytest.mark.parametrize("kind", ["random", "matchmade"])
def test_variances_do_not_need_the_covariance(kind: Kind) -> None:
    asked, whole = (Inverse(information(kind, 1200, 9000)) for _ in range(2))
    np.testing.assert_allclose(asked.diagonal, np.diag(whole.matrix), rtol=1e-9)
    assert "matrix" not in vars(asked)
    assert (variances_along(asked.information) is None) == (kind == "random")
    few = Inverse(information(kind, 350, 1500))
    np.testing.assert_allclose(few.diagonal, np.diag(few.matrix), rtol=0)
    assert "matrix" in vars(few)


def test_conjugate_gradients_are_given_up_where_a_direct_way_costs_less(monkeypatch: pytest.MonkeyPatch) -> None:
    found = information("matchmade", 350, 1500)
    right = np.random.default_rng(1).normal(size=found.shape[0])
    monkeypatch.setattr("llbt.kernel.solver_choice.costs_of", lambda *_: Costs(1.5, 2.0, 0.1))  # 15 iterations
    steps = Steps()
    np.testing.assert_allclose(steps.solve(found, right), np.linalg.solve(found.toarray(), right), atol=1e-9)
    monkeypatch.setattr("llbt.kernel.solver_choice.bordered_gradients", None)  # nor are they tried again
    steps.solve(found, right)


@pytest.mark.parametrize(
    ("kind", "size", "number", "first"),
    [
        ("random", 3000, 30_000, "conjugate"),
        ("power-law", 3000, 30_000, "conjugate"),
        ("matchmade", 3000, 30_000, "band"),
    ],
)
def test_the_cheapest_way_is_chosen(kind: Kind, size: int, number: int, first: str) -> None:
    graph = information(kind, size, number).system.graph
    costs = costs_of(graph, 1)
    # what each way costs here: some 20 iterations, or hundreds where the graph is narrow
    expected = {"conjugate": 20 * costs.iteration, "dense": costs.dense, "band": costs.band}
    if kind == "matchmade":
        expected["conjugate"] = 250 * costs.iteration
    assert min(expected, key=expected.__getitem__) == first
    tried = costs.most is None or costs.most > 0
    assert tried == (first == "conjugate")


def test_nothing_direct_is_chosen_where_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = information("random", 1000, 3000).system.graph
    monkeypatch.setattr("llbt.kernel.solver_choice.memory", lambda: 1e5)
    assert costs_of(graph, 1).most is None


def test_a_small_graph_is_solved_at_once() -> None:
    graph = information("random", 300, 20_000).system.graph
    costs = costs_of(graph, 1)
    assert (costs.direct, costs.most) == ("dense", 0)
