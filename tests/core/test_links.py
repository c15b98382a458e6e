"""Cumulative links: probabilities and what follows from them, against finite differences and written-out models."""

import numpy as np
import pytest
from scipy import special

from llbt.core.links import Cumulative, linked
from llbt.core.response import THREE, TWO, Response, graded
from llbt.errors import OptionError

SCALES = {"two": TWO, "three": THREE, "five": graded(2, True), "seven": graded(3, True), "four": graded(2, False)}
each_scale = pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
each_link = pytest.mark.parametrize("link", ["cumulative", "probit"])
STEP = 1e-6


def drawn(response, seed=5, size=9):
    """Predictors with cuts in order (B, S), and counts of which some are 0 (K, S)."""
    rng = np.random.default_rng(seed)
    signed = rng.normal(size=(1, size))
    return (
        np.vstack([signed, rng.uniform(0.2, 1, (response.width - 1, size))]),
        rng.integers(0, 4, (len(response.outcomes), size)).astype(float),
    )


def derivative(function, predictors):
    """Central differences in each predictor, first axis."""
    moved = [STEP * np.eye(len(predictors))[b][:, None] for b in range(len(predictors))]
    return np.array([(function(predictors + d) - function(predictors - d)) / (2 * STEP) for d in moved])


@each_link
@each_scale
def test_probabilities_are_stretches_between_cuts_written_out(scale, link):
    response = Cumulative(scale, link)
    u, _ = drawn(response)
    curve = special.expit if link == "cumulative" else special.ndtr
    steps = np.cumsum(u[1:], axis=0)  # θ₁, θ₂ … above the middle
    middle = [] if scale.has_ties else [0 * u[0]]
    theta = np.array([*steps[::-1], *middle, *(-steps)])
    top = np.vstack([0 * u[0], *(curve(2 * u[0] - cut) for cut in theta), 0 * u[0] + 1])
    p, norm = response.probabilities(u)
    np.testing.assert_allclose(p, np.diff(top, axis=0), rtol=1e-9, atol=1e-14)
    assert not norm.any()
    np.testing.assert_allclose(response.room(u), u[1:].min(axis=0) if len(u) > 1 else np.inf)


@each_link
@each_scale
def test_gradient_and_second_derivatives_are_finite_differences(scale, link):
    response = Cumulative(scale, link)
    u, y = drawn(response)
    p, _ = response.probabilities(u)
    value, score, information = response.contributions(u, y)
    np.testing.assert_allclose(value, special.xlogy(y, p).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(score, derivative(lambda v: response.contributions(v, y)[0], u), atol=1e-6)
    np.testing.assert_allclose(information, -derivative(lambda v: response.contributions(v, y)[1], u), atol=1e-6)
    np.testing.assert_allclose(response.scores(p, y), score)
    np.testing.assert_allclose(response.information(p, y), information)
    assert np.linalg.eigvalsh(np.moveaxis(information, 2, 0)).min() > -1e-9  # the curve is log-concave


@pytest.mark.parametrize("link", ["adjacent", "cumulative", "probit"])
@each_scale
def test_slopes_make_scores_and_the_expected_information(scale, link):
    response = linked(scale, link)
    u, y = drawn(response)
    p, _ = response.probabilities(u)
    slopes = response.slopes(p)
    logs = derivative(lambda v: np.log(response.probabilities(v)[0]), u)
    np.testing.assert_allclose(slopes, np.moveaxis(logs, 0, 1), atol=1e-7)
    np.testing.assert_allclose(np.einsum("ks,kbs->bs", y, slopes), response.scores(p, y), atol=1e-10)
    expected = 3.0 * np.einsum("ks,kbs,kcs->bcs", p, slopes, slopes)
    np.testing.assert_allclose(response.weight(p, 3.0), expected, atol=1e-10)


@pytest.mark.parametrize("link", ["adjacent", "cumulative", "probit"])
@each_scale
def test_odds_of_being_preferred_are_those_of_the_probabilities(scale, link):
    response = linked(scale, link)
    u, _ = drawn(response)
    u[1:] = u[1:, :1]  # the same cuts everywhere
    at = [response.levels[name] for name in response.levels]
    levels = u[at, 0]
    won, _, lost = response.tally(response.probabilities(u)[0].T).T
    value, slope, slopes = response.preference(u[0], levels)
    np.testing.assert_allclose(value, np.log(won / lost), atol=1e-12)
    if response.plain_odds:
        np.testing.assert_allclose(value, 2 * u[0], atol=1e-12)
    forward, back = (response.preference(u[0] + d, levels)[0] for d in (STEP, -STEP))
    np.testing.assert_allclose(slope, (forward - back) / (2 * STEP), atol=1e-7)
    for k in range(len(at)):
        d = STEP * np.eye(len(at))[k]
        forward, back = (response.preference(u[0], levels + sign * d)[0] for sign in (1, -1))
        np.testing.assert_allclose(slopes[:, k], (forward - back) / (2 * STEP), atol=1e-7)


def test_tails_keep_their_digits():
    five = Cumulative(graded(2, True), "probit")
    u = np.array([[9.0, -9.0], [0.5, 0.5], [0.5, 0.5]])
    p = five.probabilities(u)[0]
    np.testing.assert_allclose(p[:, 0], p[::-1, 1], rtol=1e-12)
    tail = special.ndtr(-18.5) - special.ndtr(-19.0)
    assert p[3, 0] == pytest.approx(tail, rel=1e-12)
    assert np.isfinite(five.slopes(p)).all()


def test_what_was_seen_without_probability_says_so():
    five = Cumulative(graded(2, True), "cumulative")
    out_of_order = np.array([[0.1], [-0.2], [0.5]])
    seen, unseen = np.array([[1.0, 1, 1, 1, 1]]).T, np.array([[1.0, 1, 0, 1, 1]]).T
    assert five.contributions(out_of_order, seen)[0] == -np.inf
    value, score, information = five.contributions(out_of_order, unseen)  # nobody said the outcome that has none
    assert np.isfinite([*value, *score.ravel(), *information.ravel()]).all()


def test_a_link_needs_one_scale_and_leaves_what_is_the_same_model_alone():
    assert linked(THREE, "adjacent") is THREE
    assert linked(TWO, "cumulative") is TWO
    assert isinstance(linked(TWO, "probit"), Cumulative)
    bad = Response(("i", "tie", "bad", "j"), np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0]]), (3, 1, 2, 0))
    with pytest.raises(OptionError, match=r"link='cumulative' needs outcomes that are ordered.*'bad'"):
        linked(bad, "cumulative")
