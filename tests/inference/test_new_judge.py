"""Worths, pairs and leaderboard of a judge drawn from the population."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.mixed import judged_frame

import llbt
from llbt.core.response import THREE
from llbt.errors import OptionError
from llbt.fitting.population_predictions import Population

_FORMULAS = {
    "objects": ("object + tie + (object | judge)", "adjacent"),
    "objects and ties": ("object + tie + (object | judge) + (tie | judge)", "adjacent"),
    "cuts": ("object + tie + (object | judge)", "cumulative"),
    "normal cuts": ("object + tie + (object | judge)", "probit"),
    "ties by object": ("object + tie + tie:object + (object | judge)", "adjacent"),
    "ties by pair": ("object + tie:pair + (object | judge)", "adjacent"),
}


@pytest.fixture(scope="module")
def c() -> llbt.Comparisons:
    return llbt.from_counts(judged_frame(30, 0.8, seed=3, each=4, tie=0.9), clusters="judge")


def _fitted(c: llbt.Comparisons, kind: str) -> llbt.MixedResults:
    formula, link = _FORMULAS[kind]
    res = llbt.fit(formula, c, link=link)  # type: ignore[arg-type]
    assert isinstance(res, llbt.MixedResults)
    return res


def _preferred(res: llbt.MixedResults) -> pd.Series:
    """P(i preferred | decided) of a new judge, by the outcome probabilities that `predict` averages."""
    said = res.predict(population=True).to_frame().set_index(["object_i", "object_j", "outcome"])["estimate"].unstack()
    return said["i"] / (said["i"] + said["j"])


@pytest.mark.parametrize("kind", ["objects", "objects and ties", "cuts", "normal cuts"])
def test_pairs_are_those_that_predictions_average(c: llbt.Comparisons, kind: str) -> None:
    res = _fitted(c, kind)
    pairs = llbt.pairwise(res, scale="probability", population=True).to_frame()
    expected = _preferred(res).to_numpy()
    np.testing.assert_allclose(pairs["estimate"], expected, atol=1e-6)
    average = llbt.pairwise(res, scale="probability").to_frame()
    assert (np.abs(pairs["estimate"] - 0.5) < np.abs(average["estimate"] - 0.5)).all()
    np.testing.assert_allclose(pairs["p_adjusted"], average["p_adjusted"])
    odds = llbt.pairwise(res, scale="log_odds", population=True).to_frame()
    np.testing.assert_allclose(odds["estimate"], special.logit(expected), atol=1e-5)
    elo = llbt.pairwise(res, scale="elo", population=True).to_frame()
    np.testing.assert_allclose(elo["estimate"], 400 / np.log(10) * special.logit(expected), atol=1e-3)


@pytest.mark.parametrize("kind", ["objects and ties", "normal cuts"])
def test_errors_are_those_of_differences_in_every_estimate(c: llbt.Comparisons, kind: str) -> None:
    """The probability is a sum over a grid of effects; its derivatives are by finite differences."""
    res = _fitted(c, kind)
    size = len(res.names)
    z = np.linspace(-8, 8, 161)
    weight = np.outer(stats.norm.pdf(z), stats.norm.pdf(z)).ravel() * (z[1] - z[0]) ** 2

    def preferred(at: np.ndarray) -> float:
        params, (own, tie) = dict(zip(res.names, at[:size], strict=True)), (*np.exp(at[size:]), 0.0)[:2]
        u = params["object[A]"] + own * np.sqrt(2) * z[:, None] + 0 * z[None]
        w = params["tie"] + tie * z[None] + 0 * z[:, None]
        p = np.asarray(res.average.response.probabilities(np.array([u.ravel(), w.ravel()]))[0]) @ weight
        return float(p[0] / (p[0] + p[2]))

    at = np.concatenate([res.solution.params, np.log(res.solution.scales)])
    slope = np.array([(preferred(at + h) - preferred(at - h)) / 2e-4 for h in 1e-4 * np.eye(len(at))])
    found = llbt.worth(res, population=True).to_frame().set_index("object")
    assert found["estimate"]["A"] == pytest.approx(preferred(at), abs=1e-6)
    assert found["std_error"]["A"] == pytest.approx(np.sqrt(slope @ res.solution.covariance @ slope), rel=1e-4)
    np.testing.assert_allclose(found.loc["C"].astype(float), [0.5, 0.0, 0.5, 0.5], atol=1e-12)
    pairs = llbt.pairwise(res, scale="probability", population=True).to_frame().set_index(["object_i", "object_j"])
    assert pairs["std_error"]["A", "C"] == pytest.approx(found["std_error"]["A"], rel=1e-8)


def test_a_leaderboard_is_of_judges_that_are_drawn(c: llbt.Comparisons) -> None:
    """Against a simulation of judges: each compares the object with one of mean log-worth."""
    res = _fitted(c, "objects and ties")
    board = llbt.leaderboard(res, population=True, scale="probability").to_frame().set_index("object")["estimate"]
    rng = np.random.default_rng(0)
    worth = np.array([res.params["object[A]"], res.params["object[B]"], 0.0])
    own, tie = res.scales
    u = (worth[0] - worth.mean()) + own * np.sqrt(2) * rng.normal(size=10**6)
    p = np.exp(np.array([u, res.params["tie"] + tie * rng.normal(size=10**6), -u]))
    wins, _, losses = (p / p.sum(axis=0)).mean(axis=1)
    assert board["A"] == pytest.approx(wins / (wins + losses), abs=2e-3)
    average = llbt.leaderboard(res, scale="odds_ratio").to_frame().set_index("object")
    drawn = llbt.leaderboard(res, population=True, scale="odds_ratio", anchor="A").to_frame().set_index("object")
    assert drawn["estimate"]["A"] == pytest.approx(1)
    assert drawn.index.tolist() == average.index.tolist()
    assert drawn["rank_high"].tolist() == average["rank_high"].tolist()


@pytest.mark.parametrize("kind", ["ties by object", "ties by pair"])
def test_levels_that_differ_are_averaged(c: llbt.Comparisons, kind: str) -> None:
    """Preferences hardly depend on the level of ties: near those of predictions, which have each pair's own."""
    res = _fitted(c, kind)
    pairs = llbt.pairwise(res, scale="probability", population=True)
    np.testing.assert_allclose(pairs.to_frame()["estimate"], _preferred(res), atol=0.01)
    if kind == "ties by pair":
        assert "ties differ by pair" in pairs.as_text()


def test_grades_and_order_of_a_new_judge() -> None:
    """Order effects are left out of preferences, as they are for the average judge."""
    rng = np.random.default_rng(5)
    rows = []
    for g in range(25):
        own, ahead = rng.normal([0.5, 0.2, 0.0], 0.6), rng.normal(0.3, 0.4)
        for i in range(3):
            for j in range(3):
                if i != j:
                    score = np.array([2, 1, 0, -1, -2])
                    p = np.exp(score * (own[i] - own[j] + ahead) / 2 + [-1, 0, 0, 0, -1])
                    rows.append(("ABC"[i], "ABC"[j], g, *rng.multinomial(3, p / p.sum())))
    names = ("++", "+", "=", "-", "--")
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", *names])
    c = llbt.from_counts(frame, grades=names, clusters="judge", order=True)
    res = llbt.fit("object + tie + grade + order + (object | judge) + (order | judge)", c)
    assert isinstance(res, llbt.MixedResults)
    found = llbt.pairwise(res, scale="probability", population=True).to_frame().set_index(["object_i", "object_j"])
    z = np.random.default_rng(1).normal(size=200_000)
    u = res.params["object[A]"] + np.sqrt(2) * res.scales.iloc[0] * z
    levels = np.array([0 * z + res.params["tie"], 0 * z + res.params["grade[+]"]])
    p = np.asarray(res.average.response.probabilities(np.array([u, *levels]))[0]).mean(axis=1)
    assert found["estimate"]["A", "C"] == pytest.approx(p[:2].sum() / (p[:2].sum() + p[-2:].sum()), abs=3e-3)


def test_without_differences_a_new_judge_is_the_average_one() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": 4, "wins_j": 2, "judge": range(9)})
    res = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    average, new = (llbt.pairwise(res, population=flag).to_frame().iloc[0, 2:] for flag in (False, True))
    np.testing.assert_allclose(new.astype(float), average.astype(float), rtol=1e-8)


@pytest.mark.parametrize("ask", [llbt.worth, llbt.pairwise, llbt.leaderboard])
def test_what_has_no_population_says_so(c: llbt.Comparisons, ask) -> None:
    with pytest.raises(OptionError, match="no judges drawn from a population"):
        ask(llbt.fit("object + tie", c), population=True)
    with pytest.raises(OptionError, match="of the judges are those of the average judge"):
        ask(_fitted(c, "objects"), population=True, scale="log_worth")


@pytest.mark.parametrize("effects", [{}, {"tie": 0.7}, {"tie": 3.0}])
def test_judges_far_apart_are_averaged_as_exactly_as_near_ones(effects: dict[str, float]) -> None:
    """Against sums over a fine grid; products of Gauss-Hermite rules were off by half a percentage point at σ = 3."""
    z = np.linspace(-8, 8, 1601)
    weight = stats.norm.pdf(z) / stats.norm.pdf(z).sum()
    eta = np.array([np.linspace(-3, 3, 9), np.full(9, -0.3)])
    scales = np.array([4.0, *effects.values()])
    share = np.diag([2.0, 1.0])[:, : len(scales)]
    found = Population(THREE, share, scales, np.arange(len(scales)), np.eye(4), "").averaged(eta).probability
    tie_at, tie_weight = (z[::10], weight[::10] * 10) if effects else (np.zeros(1), np.ones(1))
    u = eta[0][:, None, None] + 4 * np.sqrt(2) * z[:, None]
    w = -0.3 + sum(effects.values()) * tie_at
    p, _ = THREE.probabilities(np.stack([(u + 0 * w).ravel(), (w + 0 * u).ravel()]))
    grid = p.reshape(3, 9, len(z), len(tie_at)) @ tie_weight @ weight
    np.testing.assert_allclose(found, grid, atol=1e-5)


def test_judges_of_the_table_are_answered_elsewhere() -> None:
    frame = judged_frame(6, 0.8, seed=3, each=9, tie=0.9)
    mixed = llbt.fit("object + tie + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    shares = llbt.fit("object + tie", llbt.from_counts(frame, covariates="judge"), discrimination="judge")
    for res, other in ((mixed, r"judge_effects\(res, by='judge'\).worths"), (shares, r"res\.by_judge\(\)")):
        for ask in (llbt.worth, llbt.pairwise, llbt.leaderboard):
            with pytest.raises(OptionError, match=other):
                ask(res, at={"judge": "J02"})


def test_pairs_of_a_new_judge_say_what_their_tests_are_of(c: llbt.Comparisons) -> None:
    res = _fitted(c, "objects")
    assert "a new judge is undecided where the average judge is" in " ".join(
        llbt.pairwise(res, population=True).as_text().split()
    )
    assert "undecided" not in llbt.pairwise(res).as_text()
