"""Newton's method without a matrix, against scoring with the dense information, its inverse, and what is aliased."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.graphs import Kind, judged_graph
from support.large import without_bands

import llbt
from llbt import Comparisons
from llbt.kernel import graph_variances
from llbt.kernel.band import Band
from llbt.kernel.conjugate import Bordered, Graph
from llbt.kernel.indexed_rows import FloatArray, Gathered, Part
from llbt.kernel.likelihood import Problem, pseudo_counts
from llbt.kernel.matrix_free import Summit, WorthProblem, climbed, undetermined

KINDS: tuple[Kind, ...] = ("random", "power-law", "matchmade")
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def wide() -> Iterator[None]:
    with without_bands():
        yield


def table(kind: Kind, objects: int = 300, judgments: int = 3000, reach: int = 3) -> Comparisons:
    return llbt.from_judgments(judged_graph(kind, objects, judgments, reach=reach), order=True)


def problem(
    c: Comparisons, prior: float = 0.3, columns: tuple[tuple[int, float], ...] = ((1, 1.0), (0, 1.0))
) -> WorthProblem:
    """Return log-worths beside a column of the tie predictor (1) or the signed one (0) each, the same in all rows."""
    everywhere, q = np.zeros(len(c), dtype=np.int64), len(columns)
    rows = []
    for predictor in (0, 1):
        row = np.array([[value if at == predictor else 0.0 for at, value in columns]])
        rows.append(Gathered((Part(row, everywhere, 1.0),), (len(c), q)))
    counts = c.counts + pseudo_counts(c.pairs, c.totals, 3, prior)
    beside = Problem(tuple(rows), counts, np.zeros((2, len(c))), c.response)
    return WorthProblem.of(c.pairs, len(c.objects), beside)


def dense(bordered: Bordered) -> FloatArray:
    """Return the whole matrix of a bordered Laplacian, made of its parts."""
    size, graph = bordered.graph.size, bordered.graph
    found = np.zeros((size + len(bordered.corner),) * 2)
    found[graph.first, graph.second] = found[graph.second, graph.first] = -bordered.weights
    found[np.arange(size), np.arange(size)] = -found[:size, :size].sum(axis=1)
    found[:size, size:], found[size:, :size] = bordered.border, bordered.border.T
    found[size:, size:] = bordered.corner
    return found


def inverse_of(bordered: Bordered) -> FloatArray:
    """Return the pseudo-inverse; numpy's own limit of 1e-15 is within the rounding of a singular value of 0."""
    return np.linalg.pinv(dense(bordered), rcond=1e-12, hermitian=True)


def summit(kind: Kind) -> tuple[Comparisons, Summit]:
    c = table(kind)
    return c, climbed(problem(c))


@every_kind
def test_the_maximum_is_that_of_scoring(kind: Kind) -> None:
    c, found = summit(kind)
    res = llbt.LLBT.from_formula("object + tie + order", c).fit(method="eliminate", prior=0.3)
    worths = np.append(res.params.to_numpy()[: len(c.objects) - 1], 0.0)
    assert found.converged
    np.testing.assert_allclose(found.worths, worths - worths.mean(), atol=1e-8)
    np.testing.assert_allclose(found.others, res.params[["tie", "order"]], atol=1e-8)
    np.testing.assert_allclose(
        np.linalg.inv(found.information.schur).diagonal() ** 0.5, res.bse[["tie", "order"]], rtol=1e-8
    )


@pytest.mark.usefixtures("wide")
@every_kind
def test_systems_are_solved_as_the_pseudo_inverse_solves_them(kind: Kind) -> None:
    """The graph of matchmade pairs is narrow, so that groups are solved for, too; the others have none."""
    _, found = summit(kind)
    right = np.random.default_rng(1).normal(size=(302, 11))
    right[:300] -= right[:300].mean(axis=0)
    assert (found.information.system.between is not None) == (kind == "matchmade")
    np.testing.assert_allclose(
        found.information.solve(right).values, inverse_of(found.information.system) @ right, atol=1e-9
    )


@pytest.mark.usefixtures("wide")
@every_kind
def test_variances_are_those_of_the_pseudo_inverse(kind: Kind) -> None:
    """To the error that they say they have: the 95th percentile over 200 objects, here over all 300."""
    _, found = summit(kind)
    whole = np.diag(inverse_of(found.information.system))[:300]
    found_here = graph_variances.variances(found.information, np.random.default_rng(0), np.arange(10))
    assert found_here.way == ("draws" if kind == "matchmade" else "series")
    error = np.abs(np.sqrt(found_here.values / whole) - 1)
    assert np.sum(error < 1e-6) >= graph_variances.SAMPLED  # these are exact
    assert np.quantile(error, 0.95) <= found_here.high < 0.05
    assert 0 < found_here.median < found_here.high


@every_kind
def test_along_a_band_systems_and_variances_are_exact(kind: Kind) -> None:
    _, found = summit(kind)
    found = replace(
        found.information, system=replace(found.information.system, way=found.information.system.graph.band)
    )
    inverse = inverse_of(found.system)
    right = np.random.default_rng(1).normal(size=(302, 3))
    right[:300] -= right[:300].mean(axis=0)
    solved = found.solve(right)
    assert solved.iterations <= 2
    np.testing.assert_allclose(solved.values, inverse @ right, atol=1e-9)
    values = graph_variances.variances(found, np.random.default_rng(0), np.arange(10))
    assert (values.way, values.high) == ("exact", 0.0)
    np.testing.assert_allclose(values.values, np.diag(inverse)[:300], rtol=1e-8)


def test_the_maximum_of_a_ring_of_3000_is_that_of_scoring() -> None:
    """A narrow graph is solved along its band; its two ends are further apart than a step may move a comparison."""
    rng, at = np.random.default_rng(3), np.repeat(np.arange(3000), 3)
    frame = pd.DataFrame({"object_i": at, "object_j": (at + 1) % 3000, "outcome": rng.choice(["i", "tie", "j"], 9000)})
    c = llbt.from_judgments(frame, order=True)
    asked = problem(c)
    assert isinstance(asked.way, Band)
    found = climbed(asked)
    assert found.converged
    assert np.ptp(found.worths) > 20
    res = llbt.LLBT.from_formula("object + tie + order", c).fit(method="eliminate", prior=0.3)
    worths = np.append(res.params.to_numpy()[:2999], 0.0)
    np.testing.assert_allclose(found.worths, worths - worths.mean(), atol=1e-8)


def test_few_objects_have_exact_variances() -> None:
    c = llbt.from_judgments(judged_graph("random", 30, 400), order=True)
    found = climbed(problem(c)).information
    values = graph_variances.variances(found, np.random.default_rng(0), np.arange(10))
    assert values.way == "exact"
    np.testing.assert_allclose(values.values, np.diag(inverse_of(found.system))[:30], rtol=1e-6)


@pytest.mark.usefixtures("wide")
def test_where_no_approximation_is_close_the_first_objects_have_exact_variances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graph_variances, "_CLOSE", 1e-6)
    monkeypatch.setattr(graph_variances, "_MOST_DRAWS", 64)
    _, found = summit("matchmade")
    first = np.arange(299, 199, -1)
    values = graph_variances.variances(found.information, np.random.default_rng(0), first)
    assert (values.way, values.draws, values.exact) == ("draws", 64, 100)
    whole = np.diag(inverse_of(found.information.system))[:300]
    np.testing.assert_allclose(values.values[first], whole[first], rtol=1e-6)
    assert np.abs(values.values / whole - 1).max() > 1e-3


def test_a_graph_that_falls_apart_has_no_groups() -> None:
    """Two long chains: the Laplacian between their groups would have two constants that nothing answers to."""
    chain = np.column_stack([np.arange(99), np.arange(1, 100)])
    apart = Graph.of(*np.concatenate([chain, chain + 100]).T, 200)
    assert apart.groups is None
    whole = Graph.of(*np.concatenate([chain, chain + 100, [[99, 100]]]).T, 200)
    assert len(np.unique(whole.groups)) == 40
    assert np.ptp(np.flatnonzero(whole.groups == whole.groups[50])) < 5
    arms = np.concatenate([np.column_stack([np.r_[0, at[:-1]], at]) for at in 1 + np.arange(6000).reshape(200, 30)])
    assert Graph.of(*arms.T, 6001).groups.max() < 600  # small pieces of a stretch are one


def test_a_ring_is_cut_into_groups_of_neighbours() -> None:
    """From one place of it both ways are equally far, yet no group has objects of both."""
    at = np.arange(100_000)
    groups = Graph.of(at, np.roll(at, -1), len(at)).groups
    assert 1500 < groups.max() < 2500
    first, last = np.full(groups.max() + 1, len(at)), np.zeros(groups.max() + 1, dtype=np.int64)
    np.minimum.at(first, groups, at)
    np.maximum.at(last, groups, at)
    assert np.sum(last - first > 200) <= 8  # the stretch at either end, one of which is where the ring closes


def test_what_the_table_does_not_determine_is_found() -> None:
    """A column of the signed predictor that is a difference of worths, one that is twice another, and one of zeros."""
    c = table("random", 40, 500)
    assert list(undetermined(problem(c))) == []
    assert list(undetermined(problem(c, columns=((1, 1.0), (0, 1.0), (1, 2.0), (0, 0.0))))) == [2, 3]
    worth = np.arange(40.0)
    rows = (worth[c.pairs[:, 0]] - worth[c.pairs[:, 1]])[:, None]
    own = Gathered((), (len(c), 1), np.array([0]), np.ascontiguousarray(rows.T))
    beside = Problem((own, Gathered((), (len(c), 1))), c.counts, np.zeros((2, len(c))), c.response)
    assert list(undetermined(WorthProblem.of(c.pairs, 40, beside))) == [0]


def test_a_prior_is_shared_by_the_comparisons_of_a_pair() -> None:
    """Whichever object stands first, as the judgments are spread; by a frame grouped by the sorted pair."""
    pairs, totals = np.array([[0, 1], [1, 0], [2, 1]]), np.array([3.0, 1.0, 5.0])
    frame = pd.DataFrame(np.sort(pairs, axis=1)).assign(n=totals)
    share = frame["n"] / frame.groupby([0, 1])["n"].transform("sum")
    np.testing.assert_allclose(
        pseudo_counts(pairs, totals, 3, 0.6), np.repeat(0.2 * share.to_numpy()[:, None], 3, axis=1)
    )
