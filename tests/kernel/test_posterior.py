"""Draws from a posterior: weighted ones against long chains, and chains where weights fail."""

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.inference.posterior_targets import plain_target, scales_of
from llbt.kernel.hamiltonian import effective_draws, hamiltonian, r_hat
from llbt.kernel.posterior import MOST_K, Density


def judged(size: int, judgments: int, seed: int = 1) -> llbt.Comparisons:
    """Return judgments with ties of random pairs."""
    rng = np.random.default_rng(seed)
    worths = 0.5 * rng.standard_normal(size)
    i = rng.integers(size, size=judgments)
    j = (i + rng.integers(1, size, judgments)) % size
    d = worths[i] - worths[j]
    p = np.exp(np.column_stack([d, np.full(judgments, -0.4), -d]))
    said = (rng.random(judgments)[:, None] > (p / p.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    labels = np.array([f"m{k:03}" for k in range(size)])
    return llbt.from_judgments(
        pd.DataFrame({"object_i": labels[i], "object_j": labels[j], "outcome": np.array(["i", "tie", "j"])[said]})
    )


def first_by_chains(res: llbt.LLBTResults, n: int) -> tuple[np.ndarray, float, float]:
    """Return P(first) of each object from eight chains of n steps, the worst R̂ and effective number."""
    target = plain_target(res)
    density = target.density(scales_of(target).prior(1.0))
    assert isinstance(density, Density)
    mode = density.mode(target.start)

    def whitened(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, slope = density.slopes(mode.params + at @ mode.root.T)
        return value, slope @ mode.root

    rng = np.random.default_rng(5)
    draws = hamiltonian(whitened, rng.standard_normal((8, len(target.start))), n, rng, lambda steps: steps).draws
    params = mode.params + draws.reshape(-1, len(target.start)) @ mode.root.T
    size = len(res.comparisons.objects)
    worths = np.column_stack([params[:, : size - 1], np.zeros(len(params))])
    first = np.bincount(worths.argmax(axis=1), minlength=size) / len(worths)
    return first, float(r_hat(draws).max()), float(effective_draws(draws).min())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "judgments"), [(5, 60), (20, 400), pytest.param(60, 1200, marks=pytest.mark.exhaustive)]
)
def test_first_places_are_those_of_20000_draws_of_long_chains(size: int, judgments: int) -> None:
    res = llbt.fit("object + tie", judged(size, judgments), prior=1.0)
    post = llbt.posterior(res)
    first, worst, effective = first_by_chains(res, 2500)
    assert post.route == "importance sampling"
    assert worst < 1.01
    assert effective > 5000
    found = post.to_frame().set_index("object")["first"].reindex(res.comparisons.objects)
    assert np.abs(found.to_numpy() - first).max() < 0.02


@pytest.mark.slow
def test_chains_are_run_where_weights_fail() -> None:
    """200 objects and five judgments of each: k̂ is above .5."""
    post = llbt.posterior(llbt.fit("object + tie", judged(200, 1000), prior=1.0))
    assert post.route == "Hamiltonian Monte Carlo"
    assert post.k_hat > MOST_K
    assert post.r_hat < 1.02
    assert post.ess > 1000
    assert post.chains == 8
    assert post.weights == pytest.approx(1 / 4000)
    assert post.to_arviz()["posterior"]["log_worth"].shape == (8, 500, 200)


def test_laplace_is_exact_where_there_are_no_judgments_to_speak_of() -> None:
    """With a narrow prior the posterior is the prior: marginal likelihood and spread are those of it."""
    res = llbt.fit("object + tie", judged(5, 60), prior=1.0)
    target = plain_target(res)
    prior = scales_of(target).prior(1e-4)
    density = target.density(prior)
    assert isinstance(density, Density)
    mode = density.mode(target.start)
    inside = np.linalg.inv(prior.precision)[:4, :4]
    assert (mode.root @ mode.root.T)[:4, :4] == pytest.approx(inside, rel=1e-4)
    assert mode.params[:4] == pytest.approx(0, abs=1e-6)
