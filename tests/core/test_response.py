"""Responses of K outcomes: against finite differences, their own symmetry, and two and three outcomes by hand."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax

from llbt.core.response import THREE, TWO, Response, both_bad, graded
from llbt.errors import JudgmentError

BOTH_BAD = both_bad()
RESPONSES = {
    "two": TWO,
    "three": THREE,
    "both bad": BOTH_BAD,
    "both bad without ties": both_bad(ties=False),
    **{f"{steps} steps{' and a middle' if m else ''}": graded(steps, m) for steps in (2, 3) for m in (True, False)},
}
each_response = pytest.mark.parametrize("response", RESPONSES.values(), ids=RESPONSES)


def predictors(response: Response, size: int = 40, scale: float = 1.5, seed: int = 4) -> np.ndarray:
    return scale * np.random.default_rng(seed).normal(size=(response.width, size))


@each_response
def test_moments_equal_finite_differences_of_the_norm(response: Response) -> None:
    u, step = predictors(response), 1e-4
    n = np.random.default_rng(1).uniform(0.5, 20, u.shape[1])
    norm, mean, weight = response.moments(u, n)
    assert (norm.shape, mean.shape, weight.shape) == (u.shape[1:], u.shape, (response.width, *u.shape))
    for b, unit in enumerate(np.eye(response.width)[:, :, None] * step):
        up, down = response.moments(u + unit, n), response.moments(u - unit, n)
        np.testing.assert_allclose((up[0] - down[0]) / (2 * step), mean[b], atol=1e-7)
        np.testing.assert_allclose(n * (up[1] - down[1]) / (2 * step), weight[b], atol=1e-5)


@each_response
def test_moments_equal_sums_over_outcomes(response: Response) -> None:
    u = predictors(response, seed=8)
    p = np.exp(log_softmax(response.loadings @ u, axis=0))
    norm, mean, weight = response.moments(u, 3.0)
    np.testing.assert_allclose(response.probabilities(u)[0], p, rtol=1e-13)
    np.testing.assert_allclose(norm, np.log(np.exp(response.loadings @ u).sum(axis=0)), atol=1e-13)
    np.testing.assert_allclose(mean, response.loadings.T @ p, atol=1e-14)
    for s, row in enumerate(p.T):
        expected = 3 * (response.loadings.T @ np.diag(row) @ response.loadings - np.outer(mean[:, s], mean[:, s]))
        np.testing.assert_allclose(weight[:, :, s], expected, atol=1e-13)
    np.testing.assert_array_equal(response.weight(response.probabilities(u)[0], 3.0), weight)


@given(st.sampled_from(sorted(RESPONSES)), st.integers(0, 10**6), st.floats(0.1, 400))
def test_exchanged_sides_flip_the_outcomes(name: str, seed: int, scale: float) -> None:
    response = RESPONSES[name]
    u = predictors(response, 5, scale, seed)
    turned = np.concatenate([-u[:1], u[1:]])
    p, norm = response.probabilities(u)
    q, other = response.probabilities(turned)
    np.testing.assert_allclose(q[list(response.flip)], p, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(norm, other, rtol=1e-12)
    np.testing.assert_allclose(p.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(response.sums(q)[0], -response.sums(p)[0], atol=1e-12)


def test_two_and_three_outcomes_equal_what_is_written_by_hand() -> None:
    u, w = predictors(THREE, 200)
    n = np.random.default_rng(2).uniform(0, 9, 200)
    for response, tie in ((TWO, np.zeros(200)), (THREE, np.exp(w))):
        total = np.exp(u) + tie + np.exp(-u)
        lead, tied = (np.exp(u) - np.exp(-u)) / total, tie / total
        norm, mean, weight = response.moments([u, w][: response.width], n)
        hand = [[n * (1 - tied - lead**2), -n * lead * tied], [-n * lead * tied, n * tied * (1 - tied)]]
        np.testing.assert_allclose(norm, np.log(total), atol=1e-12)
        np.testing.assert_allclose(mean, [lead, tied][: response.width], atol=1e-12)
        np.testing.assert_allclose(weight, np.array(hand)[: response.width, : response.width], rtol=1e-12, atol=1e-12)


@each_response
@pytest.mark.parametrize("scale", [1.0, 400.0, 1e4])
def test_far_predictors_do_not_overflow(response: Response, scale: float) -> None:
    u = predictors(response, scale=scale)
    with np.errstate(all="raise", under="ignore"):
        found = response.moments(u, 1.0)
        logs = np.stack([log - found[0] for log in response.log_weights(u)])
    assert all(np.isfinite(part).all() for part in found)
    np.testing.assert_allclose(logs, log_softmax(response.loadings @ u, axis=0), rtol=1e-12, atol=1e-12)


def test_predictors_may_have_more_axes() -> None:
    u = predictors(THREE, 12)
    flat, shaped = THREE.moments(u, 2.0), THREE.moments(u.reshape(2, 3, 4), 2.0)
    for one, other in zip(flat, shaped, strict=True):
        np.testing.assert_array_equal(other.reshape(one.shape), one)


def test_a_scale_has_scores_and_a_predictor_for_each_larger_grade() -> None:
    assert graded(1, middle=True) == THREE
    assert graded(1, middle=False) == TWO
    five = graded(2, middle=True)
    assert five.outcomes == ("i+", "i", "tie", "j", "j+")
    assert five.loadings[:, 0].tolist() == [2, 1, 0, -1, -2]
    assert five.loadings[:, 1:].T.tolist() == [[0, 0, 1, 0, 0], [1, 0, 0, 0, 1]]
    assert graded(3, middle=False).loadings.tolist()[:3] == [[5, 0, 1], [3, 1, 0], [1, 0, 0]]
    assert [r.has_ties for r in (TWO, THREE, five, graded(2, middle=False))] == [False, True, True, False]
    assert [r.tie for r in (TWO, THREE, five, graded(2, middle=False), BOTH_BAD)] == [None, 1, 1, None, 1]
    shared = Response(("i", "tie", "bad", "j"), np.array([[1.0, 0], [0, 1], [0, 1], [-1, 0]]), (3, 1, 2, 0))
    assert (shared.has_ties, shared.tie) == (True, None)


@each_response
def test_tallies_are_wins_of_whatever_grade_and_what_is_undecided(response: Response) -> None:
    counts = np.random.default_rng(3).integers(0, 9, (4, 7, len(response.outcomes))).astype(float)
    by_name = {"i": 0.0, "tie": 0.0, "j": 0.0, "bad": 0.0}
    for k, outcome in enumerate(response.outcomes):
        by_name[outcome.rstrip("+")] = by_name[outcome.rstrip("+")] + counts[..., k]
    undecided = 0 * counts[..., 0] + by_name["tie"] + by_name["bad"]
    expected = np.stack([by_name["i"], undecided, by_name["j"]], axis=-1)
    np.testing.assert_array_equal(response.tally(counts), expected)
    flipped = response.tally(counts[..., list(response.flip)])
    np.testing.assert_array_equal(flipped, expected[..., ::-1])


def test_equal_responses_are_equal_after_pickling_and_cannot_be_changed() -> None:
    again = pickle.loads(pickle.dumps(BOTH_BAD))
    assert again == BOTH_BAD
    assert hash(again) == hash(BOTH_BAD)
    assert THREE != TWO
    assert replace(BOTH_BAD, outcomes=("i", "bad", "tie", "j")) != BOTH_BAD
    with pytest.raises(ValueError, match="read-only"):
        THREE.loadings[0, 0] = 2.0
    given_by_user = np.array([[1.0], [-1.0]])
    assert Response(("a", "b"), given_by_user, (1, 0)).loadings is not given_by_user
    assert given_by_user.flags.writeable


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outcomes": ("i",)}, "two or more"),
        ({"outcomes": ("i", "i", "j")}, "each named once"),
        ({"loadings": np.ones(3)}, r"shape \(3,\) for 3 outcomes"),
        ({"loadings": np.array([[1.0, 0], [0, np.nan], [-1, 0]])}, "finite numbers"),
        ({"loadings": np.array([[1.0, 1], [0, 1], [-1, 1]])}, "same loading on every outcome"),
        ({"loadings": np.array([[1.0, 0], [0, 1], [-2, 0]])}, "to change its sign"),
        ({"loadings": np.array([[1.0, 1], [0, 0], [-1, 0]])}, "change its sign or stay the same"),
        ({"flip": (0, 1, 2)}, "to change its sign"),
        ({"flip": (1, 2, 0)}, "mirror"),
        ({"flip": (0, 0, 1)}, "mirror"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(change: dict, said: str) -> None:
    with pytest.raises(JudgmentError, match=said):
        replace(THREE, **change)
