"""Posteriors with σ on a grid: against integration over effects, log-worths and σ, written out."""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import llbt
from llbt.errors import OptionError

WINS, EACH = np.array([7, 2, 6, 8, 3, 5, 7, 4]), 8
FRAME = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": WINS, "wins_j": EACH - WINS, "judge": range(8)})


def integrated(scale: float) -> tuple[float, float, float, float]:
    """Return the mean and sd of λ_A − λ_B, the probability that it is positive, and the mean of σ.

    Effects of two objects differ by a normal variable of variance 2σ²; log-worths less their mean are ±d/2.
    """
    d, sigma = np.linspace(-3.5, 3.5, 351), np.linspace(0.005, 4, 200)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    latent = d[:, None, None] + np.sqrt(2) * sigma[None, :, None] * nodes
    logs = np.zeros((len(d), len(sigma)))
    for wins in WINS:
        p = special.expit(2 * latent)
        logs += np.log((p**wins * (1 - p) ** (EACH - wins)) @ (weights / weights.sum()))
    logs += stats.norm.logpdf(d / 2, scale=scale / np.sqrt(2))[:, None] + stats.norm.logpdf(sigma)
    density = np.exp(logs - logs.max())
    density /= density.sum()
    of_d, of_sigma = density.sum(axis=1), density.sum(axis=0)
    mean = float(of_d @ d)
    positive = float(of_d @ ((d > 1e-9) + 0.5 * (np.abs(d) <= 1e-9)))
    return mean, float(np.sqrt(of_d @ (d - mean) ** 2)), positive, float(of_sigma @ sigma)


@pytest.mark.slow
def test_it_is_that_of_integration_over_effects_and_scale() -> None:
    res = llbt.fit("object + (object | judge)", llbt.from_counts(FRAME, clusters="judge"))
    post = llbt.posterior(res, prior=0.8, draws=1500)
    mean, sd, positive, sigma = integrated(0.8)
    lead = post.log_worths[:, 0] - post.log_worths[:, 1]
    found = post.weights @ lead
    assert found == pytest.approx(mean, abs=0.02)
    assert np.sqrt(post.weights @ (lead - found) ** 2) == pytest.approx(sd, rel=0.05)
    assert post.prob("A > B") == pytest.approx(positive, abs=0.03)
    assert post.names[-1] == "sigma (object | judge)"
    assert post.weights @ post.params[:, -1] == pytest.approx(sigma, abs=0.03)
    assert "log-worths are of the average judge" in str(post)


def test_effects_of_objects_have_a_prior_of_their_own() -> None:
    frame = pd.DataFrame({"object_i": list("AAB") * 6, "object_j": list("BCC") * 6, "wins_i": 4, "wins_j": 3})
    skill = pd.DataFrame({"object": list("ABC"), "skill": [1.0, 2.0, 4.0]})
    res = llbt.fit("skill + (1 | object)", llbt.from_counts(frame, object_covariates=skill))
    with pytest.raises(OptionError, match=r"llbt\.distribution\(res\)"):
        llbt.posterior(res)
