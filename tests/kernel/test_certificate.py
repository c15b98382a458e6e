"""Proofs that a likelihood has a maximum, and steps that are directions of recession, beside the linear program."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.sparse import csr_array

from llbt.core.links import Cumulative
from llbt.core.response import THREE, TWO, both_bad, graded
from llbt.kernel.certificate import _longest, is_proven
from llbt.kernel.indexed_rows import Gathered
from llbt.kernel.likelihood import Problem
from llbt.kernel.recession import Rise, recession_direction
from llbt.kernel.solvers import independent_columns

RESPONSES = {
    "two": TWO,
    "ties": THREE,
    "grades": graded(2, middle=True),
    "grades without a middle": graded(2, middle=False),
    "both bad": both_bad(),
    "Rao and Kupper": Cumulative(THREE, "cumulative"),
    "cumulative": Cumulative(graded(2, middle=True), "cumulative"),
    "probit": Cumulative(graded(2, middle=True), "probit"),
}


def random_problem(response, rng):
    """Few votes on objects whose worths depend on a number and, of some tables, on a judge; with an order effect."""
    objects, votes = rng.integers(3, 6), rng.integers(20, 160)
    i = rng.integers(0, objects, votes)
    j = (i + rng.integers(1, objects, votes)) % objects
    z = given_to(votes, rng)
    apart = np.zeros((votes, objects))
    apart[np.arange(votes), i], apart[np.arange(votes), j] = 1, -1
    signed = (apart[:, :-1, None] * z[:, None, :]).reshape(votes, -1)
    signed = np.column_stack([signed, np.ones(votes)])  # the object shown first
    shared = response.width - 1
    rows = [np.column_stack([signed, np.zeros((votes, shared))])]
    for b in range(shared):
        rows.append(np.zeros(rows[0].shape))
        rows[-1][:, signed.shape[1] + b] = 1
    params = np.concatenate([rng.normal(size=signed.shape[1]) * rng.choice([0.3, 1.0, 2.0]), np.full(shared, 0.7)])
    probability = response.probabilities(np.array([part @ params for part in rows]))[0]
    said = (rng.random(votes) > np.cumsum(probability, axis=0)[:-1]).sum(axis=0)
    counts = np.eye(len(response.outcomes))[said] * rng.choice([1.0, 3.0], votes)[:, None]
    return of_rows(rows, counts, response)


def given_to(votes, rng):
    """A constant, a number and, in half of the tables, a judge."""
    judge = [(rng.random(votes) < 0.4).astype(float)] if rng.random() < 0.5 else []
    return np.column_stack([np.ones(votes), rng.normal(size=votes).round(1), *judge])


def of_rows(rows, counts, response):
    """The problem of the parameters that the rows tell apart."""
    predictors = tuple(Gathered.of(csr_array(part)) for part in rows)
    whole = Problem(predictors, counts, np.zeros((len(rows), len(counts))), response)
    kept = np.flatnonzero(independent_columns(whole))
    return Problem(tuple(part.columns(kept) for part in predictors), counts, whole.offsets, response)


def random_lists(rng):
    """Rankings by Plackett-Luce, as the pairs that they imply: a choice set has a recession cone of pairs."""
    objects, lists = rng.integers(3, 6), rng.integers(6, 30)
    z = given_to(lists, rng)
    worth = z @ (rng.normal(size=(z.shape[1], objects)) * rng.choice([0.3, 1.0, 2.0]))
    ranked = np.argsort(-worth - rng.gumbel(size=worth.shape), axis=1)[:, : rng.integers(2, objects + 1)]
    pairs = [(k, a, b) for k, one in enumerate(ranked) for a, b in itertools.combinations(one, 2)]
    apart = np.zeros((len(pairs), objects))
    which, above, below = np.array(pairs).T
    apart[np.arange(len(pairs)), above], apart[np.arange(len(pairs)), below] = 1, -1
    rows = (apart[:, :-1, None] * z[which][:, None, :]).reshape(len(pairs), -1)
    return of_rows([rows], np.tile([1.0, 0.0], (len(pairs), 1)), TWO)


def verdicts(kind, size, seed):
    """How often which route says what of random tables: (the program's, the certificate's, the steps')."""
    rng = np.random.default_rng(seed)
    found = Counter()
    for _ in range(size):
        problem = random_lists(rng) if kind == "lists" else random_problem(RESPONSES[kind], rng)
        exists = recession_direction(problem) is None
        rise = Rise(problem)
        proven = rise.reached is not None and bool(is_proven(problem, rise.reached))
        found[exists, proven, rise.direction is not None] += 1
    return found


KINDS = (*RESPONSES, "lists")


LONG = ("probit", "grades", "both bad", "Rao and Kupper")


def assert_agree(found):
    """No proof of what the program refutes, on either side; as a rule one of the two says which."""
    assert not any(proven for exists, proven, _ in found if not exists), found
    assert not any(step for exists, _, step in found if exists), found


@pytest.mark.parametrize("kind", KINDS)
def test_proofs_agree_with_the_linear_program(kind):
    assert_agree(verdicts(kind, 8, 7))


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.exhaustive if kind in LONG else pytest.mark.slow) for kind in KINDS],
)
def test_proofs_of_many_tables_agree_with_the_linear_program(kind):
    """Nearly all of 300 tables that have a maximum are proven, and most others have a step that says so."""
    found = verdicts(kind, 300, 33)
    assert_agree(found)
    exists, infinite = (sum(n for key, n in found.items() if key[0] is has) for has in (True, False))
    assert exists >= 100
    assert infinite >= 15
    assert found[True, True, False] >= 0.97 * exists
    assert found[False, False, True] >= 0.6 * infinite


def test_a_bound_of_the_longest_difference_is_one():
    """The criterion is with the largest (x − y)ᵀH⁻¹(x − y) over pairs of alternatives; here by each of them."""
    rng = np.random.default_rng(5)
    for kind in ("ties", "grades", "both bad"):
        problem = random_problem(RESPONSES[kind], rng)
        rise = Rise(problem)
        rows = np.stack([part.toarray() for part in problem.predictors])
        alternatives = np.einsum("kb,bsp->ksp", problem.response.loadings, rows)
        apart = alternatives[:, None] - alternatives[None]
        exact = np.einsum("klsp,pq,klsq->kls", apart, rise.reached.inverse.matrix, apart).max()
        bound = _longest(problem, rise.reached.inverse.matrix, 1e-10)
        assert exact <= bound < np.inf


def test_curvatures_of_cuts_bound_the_second_derivative():
    """c·max(v, w) times the first derivative and least·max(v, w)² beside differences of log p."""
    rng, step = np.random.default_rng(6), 1e-4
    for link in ("cumulative", "probit"):
        response = Cumulative(THREE, link)
        u, cut = rng.normal(size=40), rng.uniform(0.1, 2.0, 40)
        ratio, least = response.curvatures(response.probabilities([u, cut])[0])
        for v, w in ((1.0, 0.0), (0.0, 1.0), (0.7, 1.0), (1.0, 0.2)):
            # of a tie: the upper cut at 2u + θ rises by v, the lower at 2u − θ falls by w
            at = [
                np.log(response.probabilities([u + t * (v - w) / 4, cut + t * (v + w) / 2])[0][1])
                for t in (-step, 0.0, step)
            ]
            first, second = (at[2] - at[0]) / (2 * step), (2 * at[1] - at[0] - at[2]) / step**2
            assert (second <= ratio[1] * max(v, w) * first + 1e-5).all()
            assert (second >= least[1] * max(v, w) ** 2 - 1e-5).all()
