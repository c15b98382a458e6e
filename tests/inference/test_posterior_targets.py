"""Likelihoods that posteriors are of: against probabilities written out, and slopes by finite differences."""

import itertools

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import OptionError
from llbt.inference.kinds import target_of
from llbt.inference.posterior_targets import scales_of

RNG = np.random.default_rng(4)
RANKS = pd.DataFrame(
    (-(RNG.gumbel(size=(40, 3)) + np.array([0.6, 0.0, -0.3]))).argsort(axis=1).argsort(axis=1) + 1, columns=list("ABC")
)
POINTS = RNG.normal(0, 0.6, (4, 2))


def log_worths(points: np.ndarray) -> np.ndarray:
    """Return log-worths (n, 3) with C as the reference."""
    return np.column_stack([points, np.zeros(len(points))])


def likelihood_of(target):
    return target.likelihood_at(np.empty(0))


def check_slopes(likelihood, points: np.ndarray) -> None:
    values, slopes = likelihood.slopes(points)
    assert values == pytest.approx(likelihood.values(points))
    for k in range(points.shape[1]):
        step = np.eye(points.shape[1])[k] * 1e-5
        numeric = (likelihood.values(points + step) - likelihood.values(points - step)) / 2e-5
        assert slopes[:, k] == pytest.approx(numeric, rel=1e-5, abs=1e-5)


def test_rankings_have_the_probability_of_plackett_and_luce() -> None:
    target = target_of(llbt.fit("object", llbt.from_rankings(RANKS, objects=list("ABC"))))
    expected = np.zeros(4)
    for row in RANKS.to_numpy():
        order = row.argsort()
        for stage in range(2):
            u = 2 * log_worths(POINTS)[:, order[stage:]]
            expected += u[:, 0] - np.log(np.exp(u).sum(axis=1))
    assert likelihood_of(target).values(POINTS) == pytest.approx(expected)
    check_slopes(likelihood_of(target), POINTS)


def test_ties_of_rankings_have_a_prior_of_their_own() -> None:
    tied = RANKS.copy()
    tied.loc[:9, ["A", "B", "C"]] = [1, 1, 2]
    res = llbt.fit("object + tie", llbt.from_rankings(tied, objects=list("ABC")))
    target = target_of(res)
    assert target.names[-1] == "tie"
    check_slopes(likelihood_of(target), np.column_stack([POINTS, POINTS[:, 0] - 1]))
    prior = scales_of(target).prior(0.5)
    assert prior.precision[2] == pytest.approx([0, 0, 1 / 2.5**2])


def test_patterns_have_the_probability_of_all_pairs_at_once() -> None:
    target = target_of(llbt.fit("object", llbt.from_patterns(RANKS, "rankings", objects=list("ABC"))))
    lam = log_worths(POINTS)

    def log_weight(ranks: np.ndarray) -> np.ndarray:
        pairs = itertools.combinations(range(3), 2)
        return sum((lam[:, i] - lam[:, j]) * np.sign(ranks[j] - ranks[i]) for i, j in pairs)

    norm = np.log(sum(np.exp(log_weight(np.array(p))) for p in itertools.permutations((1, 2, 3))))
    expected = sum(log_weight(row) - norm for row in RANKS.to_numpy())
    assert likelihood_of(target).values(POINTS) == pytest.approx(expected)
    check_slopes(likelihood_of(target), POINTS)


def test_independent_answers_are_judgments() -> None:
    wins = RNG.choice([1, -1], (60, 3), p=[0.6, 0.4])
    answers = pd.DataFrame(wins, columns=["AB", "AC", "BC"])
    patterns = llbt.from_patterns(answers, "comparisons", objects=list("ABC"), columns=list(answers))
    found = llbt.posterior(llbt.fit("object", patterns))
    plain = llbt.posterior(llbt.fit("object", patterns.to_comparisons()))
    assert found.log_worths == pytest.approx(plain.log_worths, abs=1e-6)


def test_cumulative_links_have_no_cuts_out_of_order() -> None:
    grades = pd.DataFrame(
        {
            "object_i": ["A", "A", "B"] * 30,
            "object_j": ["B", "C", "C"] * 30,
            "outcome": RNG.choice(["i+", "i", "tie", "j", "j+"], 90, p=[0.25, 0.3, 0.1, 0.2, 0.15]),
        }
    )
    c = llbt.from_judgments(grades, outcomes={"i+": 2, "i": 1, "tie": 0, "j": -1, "j+": -2})
    for link in ("adjacent", "cumulative", "probit"):
        res = llbt.fit("object + tie + grade", c, link=link)
        likelihood = likelihood_of(target_of(res))
        assert likelihood.values(res.params.to_numpy()[None])[0] == pytest.approx(
            likelihood.moments(res.params.to_numpy())[0]
        )
        check_slopes(likelihood, res.params.to_numpy() + 0.05 * RNG.normal(size=(3, len(res.params))))
        post = llbt.posterior(res)
        tie = post.params[:, post.names.index("tie")][post.weights > 0]
        assert link == "adjacent" or (tie > 0).all()


def test_kinds_without_draws_are_told_what_to_ask() -> None:
    rows = [(a, b, *RNG.multinomial(8, [0.6, 0.4]), judge)
            for judge in "xyz" for a, b in itertools.combinations("ABC", 2)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "judge"])
    res = llbt.fit("object", llbt.from_counts(frame, covariates="judge"), discrimination="judge")
    with pytest.raises(OptionError, match=r"llbt\.distribution\(res\)"):
        llbt.posterior(res)
    assert len(llbt.distribution(res)) == 3
