"""The posterior: against integration on a grid, other ways to write the same model, and explicit arithmetic."""

import itertools

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import OptionError
from llbt.inference.posterior_targets import plain_target, scales_of

COUNTS = pd.DataFrame(
    [("A", "B", 9, 4, 5), ("A", "C", 11, 2, 6), ("B", "C", 8, 5, 6)],
    columns=["object_i", "object_j", "wins_i", "ties", "wins_j"],
)
TABLE = llbt.from_counts(COUNTS)
RES = llbt.fit("object + tie", TABLE)
POST = llbt.posterior(RES)


def log_posterior(lam: np.ndarray, tie: np.ndarray, scale: float) -> np.ndarray:
    """Return the log-density of log-worths (…, 3) and the tie effect (…,), written out."""
    total = -0.5 * ((lam - lam.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1) / scale**2 - 0.5 * (tie / 2.5) ** 2
    for (i, j), (wins, ties, losses) in zip(
        itertools.combinations(range(3), 2), COUNTS[["wins_i", "ties", "wins_j"]].to_numpy(), strict=True
    ):
        d = lam[..., i] - lam[..., j]
        norm = np.logaddexp(np.logaddexp(d, -d), tie)
        total = total + wins * d - losses * d + ties * tie - (wins + ties + losses) * norm
    return total


def on_grid(scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return centred log-worths (m, 3) and weights (m,) on a grid of 81 × 81 × 31 points, and the log of their sum."""
    a, b, tie = np.meshgrid(np.linspace(-1.2, 2, 81), np.linspace(-1.6, 1.6, 81), np.linspace(-2.5, 1, 31))
    lam = np.stack([a, b, np.zeros(a.shape)], axis=-1).reshape(-1, 3)
    found = log_posterior(lam, tie.ravel(), scale)
    weights = np.exp(found - found.max())
    volume = 3.2 / 80 * 3.2 / 80 * 3.5 / 30
    return lam - lam.mean(axis=1, keepdims=True), weights / weights.sum(), found.max() + np.log(weights.sum() * volume)


@pytest.mark.slow
def test_it_is_that_of_numerical_integration() -> None:
    """Three digits: 100,000 draws have a standard error of .0016 for a probability of a half, .001 for a mean.

    On the grid objects can be equal; each then has half of the weight.
    """
    post = llbt.posterior(RES, draws=100_000)
    lam, weights, _ = on_grid(1.0)
    equal = np.isclose(lam[:, :, None], lam[:, None, :]).sum(axis=2) - 1
    ahead = (lam[:, None, :] > lam[:, :, None] + 1e-9).sum(axis=2) + equal / 2
    first, at_most = weights @ np.clip(1 - ahead, 0, 1), weights @ np.clip(2 - ahead, 0, 1)
    assert post.route == "importance sampling"
    found = post.prob_best().to_frame().set_index("object")["probability"]
    assert found[list("ABC")].to_numpy() == pytest.approx(first, abs=0.004)
    assert found.sum() == pytest.approx(1)
    assert post.weights @ post.log_worths == pytest.approx(weights @ lam, abs=0.002)
    lead, by = lam[:, 0] - lam[:, 1], 3.5 * 3.2 / 80  # half way between points of the grid
    assert post.prob("A > B", by=by) == pytest.approx(weights @ (lead > by), abs=0.005)
    assert post.prob("B < A", by=by) == post.prob("A > B", by=by)
    assert post.prob("A = B", by=by) == pytest.approx(weights @ (np.abs(lead) <= by), abs=0.005)
    second = post.prob_rank(2).to_frame().set_index("object").loc[list("ABC")]
    assert second["at_most"].to_numpy() == pytest.approx(at_most, abs=0.005)
    assert second["probability"].to_numpy() == pytest.approx(at_most - first, abs=0.005)


def test_chains_start_where_the_density_is_not_next_to_nothing() -> None:
    """C never loses and the prior is wide: means of chains are those of a sum over a grid.

    Before, chains started at normal draws. One of eight started where the density falls steeply, and never moved.
    """
    counts = [("A", "B", 2, 24), ("A", "C", 0, 29), ("B", "C", 0, 38)]
    frame = pd.DataFrame(counts, columns=["object_i", "object_j", "wins_i", "wins_j"])
    post = llbt.posterior(llbt.fit("object", llbt.from_counts(frame), prior=1.0), prior=6, rng=0)
    a, b = np.meshgrid(np.linspace(-60, 1, 611), np.linspace(-50, 1, 511))  # relative to C
    lam = np.stack([a, b, np.zeros(a.shape)], axis=-1).reshape(-1, 3)
    lam -= lam.mean(axis=1, keepdims=True)
    log_density = -0.5 * (lam**2).sum(axis=1) / 6**2
    for i, j, wins, losses in counts:
        d = 2 * (lam[:, "ABC".index(i)] - lam[:, "ABC".index(j)])
        log_density -= wins * np.logaddexp(0, -d) + losses * np.logaddexp(0, d)
    weights = np.exp(log_density - log_density.max())
    assert post.route == "Hamiltonian Monte Carlo"
    assert post.log_worths.mean(axis=0) == pytest.approx(weights @ lam / weights.sum(), abs=0.35)
    assert post.r_hat < 1.02


def test_the_density_is_the_one_written_out() -> None:
    target = plain_target(RES)
    density = target.density(scales_of(target).prior(0.7))
    points = np.random.default_rng(1).normal(size=(5, 3))
    lam = np.column_stack([points[:, :2], np.zeros(5)])
    expected = log_posterior(lam, points[:, 2], 0.7)
    found, slopes = density.slopes(points)
    assert np.diff(density.values(points)) == pytest.approx(np.diff(expected))
    assert found == pytest.approx(density.values(points))
    for k in range(3):
        step = np.eye(3)[k] * 1e-5
        numeric = (density.values(points + step) - density.values(points - step)) / 2e-5
        assert slopes[:, k] == pytest.approx(numeric, rel=1e-6, abs=1e-6)


@pytest.mark.slow
def test_the_scale_maximizes_the_marginal_likelihood() -> None:
    """By integration on the grid, whose maximum Laplace's method meets to a few per cent."""
    post = llbt.posterior(RES, prior="shrinkage")
    scales = np.exp(np.linspace(-2.5, 1, 9))
    evidence = [on_grid(scale)[2] - 2 * np.log(scale) for scale in scales]
    fine = np.linspace(-2.5, 1, 400)
    best = np.exp(fine[np.polyval(np.polyfit(np.log(scales), evidence, 6), fine).argmax()])
    assert post.scale == pytest.approx(best, rel=0.08)


@pytest.mark.parametrize("formula", ["object * judge + tie", "object + object:age + order"])
def test_it_does_not_depend_on_the_reference(formula: str) -> None:
    rng = np.random.default_rng(3)
    rows = [
        (i, j, *rng.multinomial(6, [0.5, 0.2, 0.3]), judge, age)
        for i, j in itertools.combinations("ABCD", 2)
        for judge, age in (("x", 20.0), ("y", 35.0), ("z", 50.0))
    ]
    frame = pd.DataFrame(rows, columns=[*COUNTS.columns, "judge", "age"])
    if "tie" not in formula:
        frame = frame.drop(columns="ties")
    table = llbt.from_counts(frame, covariates=["judge", "age"], numeric="age", order=True)
    at = {"judge": "y"} if "judge" in formula else {"age": 30.0}
    values = []
    for reference in "AC":
        res = llbt.fit(formula, table, reference=reference)
        target = plain_target(res)
        values.append(target.density(scales_of(target).prior(0.5)).log_evidence(target.start))
        assert llbt.posterior(res, prior=0.5, at=at).ess > 400
    assert values[0] == pytest.approx(values[1], abs=1e-6)


def test_a_held_parameter_stays() -> None:
    held = llbt.fit("object + tie", TABLE, fixed={"tie": -0.5})
    post = llbt.posterior(held)
    assert post.names == ("object[A]", "object[B]")
    tied = llbt.fit("object + tie", TABLE, fixed={"object[A]": 0.8})
    found = llbt.posterior(tied)
    assert np.ptp(found.log_worths[:, 0] - found.log_worths[:, 2]) == pytest.approx(0, abs=1e-12)
    assert found.log_worths[0, 0] - found.log_worths[0, 2] == pytest.approx(0.8)


def test_it_prints_the_answer_first_within_88_columns() -> None:
    lines = str(POST).split("\n")
    assert lines[1].startswith("Probability of first place: A .")
    assert max(map(len, lines)) <= 88
    assert POST.to_frame()["first"].sum() == pytest.approx(1)


def test_the_seed_decides() -> None:
    assert np.array_equal(llbt.posterior(RES, rng=3).log_worths, llbt.posterior(RES, rng=3).log_worths)
    assert not np.array_equal(llbt.posterior(RES, rng=3).log_worths, POST.log_worths)


def test_arviz_gets_draws_of_equal_weight() -> None:
    found = POST.to_arviz(rng=1)
    drawn = found["posterior"]["log_worth"]
    assert drawn.shape == (1, 4000, 3)
    assert drawn[0].mean(axis=0) == pytest.approx(POST.weights @ POST.log_worths, abs=0.03)
    assert found["coords"]["object"] == ["A", "B", "C"]
    assert found["posterior"]["params"].shape == (1, 4000, len(found["coords"]["parameter"]))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: llbt.posterior(RES, prior=0), "a number from 1e-6 to 1e6, the prior scale of log-worths"),
        (lambda: llbt.posterior(RES, prior=1e308), "a number from 1e-6 to 1e6, the prior scale of log-worths"),
        (lambda: llbt.posterior(RES, prior=-1.0), "a number from 1e-6 to 1e6"),
        (lambda: llbt.posterior(RES, prior=float("nan")), "a number from 1e-6 to 1e6"),
        (lambda: llbt.posterior(RES, prior="normal"), "'shrinkage'"),
        (lambda: llbt.posterior(RES, draws=10), "an integer of at least 1000"),
        (lambda: POST.prob("A > D"), "names 'D'"),
        (lambda: POST.prob("A"), "has no sign"),
        (lambda: POST.prob("A > A"), "compares an object with itself"),
        (lambda: POST.prob("A = B"), "by=0"),
        (lambda: POST.prob("A > B", by=-1), "at least 0"),
        (lambda: POST.prob_rank(0), "an integer of at least 1"),
        (lambda: POST.prob_rank(4), "a rank from 1 to 3"),
    ],
)
def test_bad_input_is_refused(asked, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        asked()


def test_weights_and_priors_of_the_fit_are_said() -> None:
    halves = llbt.from_counts(COUNTS.assign(wins_i=COUNTS["wins_i"] + 0.5))
    found = llbt.posterior(llbt.fit("object + tie", halves, prior=1.0))
    assert "Counts are not whole" in str(found)
    assert "The prior of the fit, prior=1.0, is replaced." in str(found)


def test_a_clustered_fit_has_no_likelihood() -> None:
    frame = pd.DataFrame([row for row in COUNTS.to_dict("records") for _ in range(6)]).assign(judge=list(range(6)) * 3)
    table = llbt.from_counts(frame, clusters="judge")
    with pytest.raises(OptionError, match="cov_type='cluster' by judge has no likelihood"):
        llbt.posterior(llbt.fit("object + tie", table, cov_type="cluster", groups="judge"))
