"""Errors by clusters beside normal effects, against sandwiches of finite differences of an own integral."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import llbt
from llbt.errors import DesignError, OptionError

STEP = 1e-3
NODES = np.linspace(-8, 8, 801)
WEIGHTS = np.exp(-(NODES**2) / 2)
JUDGES, TEAMS, EACH = 24, 8, 12


@cache
def judged() -> pd.DataFrame:
    """Judges of eight teams compare A and B twelve times each; teams differ, too."""
    rng = np.random.default_rng(5)
    lam = 0.3 + np.tile([0.6, -0.6], 4)[np.arange(JUDGES) % TEAMS] + rng.normal(0, 0.4, JUDGES)
    wins = rng.binomial(EACH, special.expit(2 * lam))
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "wins_j": EACH - wins})
    return frame.assign(judge=[f"J{g:02d}" for g in range(JUDGES)], team=[f"T{g % TEAMS}" for g in range(JUDGES)])


def fitted(cov_type: str, groups: str = "team") -> llbt.MixedResults:
    c = llbt.from_counts(judged(), clusters=["judge", "team"])
    return llbt.fit("object + (object | judge)", c, cov_type=cov_type, groups=groups)


def by_team(at: np.ndarray) -> np.ndarray:
    """The log-likelihood of each team at λ and log σ: the difference of two effects has the variance 2σ²."""
    p = special.expit(2 * (at[0] + np.sqrt(2) * np.exp(at[1]) * NODES))
    wins = judged()["wins_i"].to_numpy()[:, None]
    logs = wins * np.log(p) + (EACH - wins) * np.log1p(-p) + np.log(WEIGHTS / WEIGHTS.sum())
    return np.bincount(np.arange(JUDGES) % TEAMS, special.logsumexp(logs, axis=1), TEAMS)


@pytest.mark.parametrize("cov_type", ["CR1", "cluster"])
def test_errors_are_the_sandwich_of_finite_differences(cov_type: str) -> None:
    res = fitted(cov_type)
    at = np.array([res.params["object[A]"], np.log(res.scales.iloc[0])])
    eye = np.eye(2) * STEP
    scores = np.stack([(by_team(at + e) - by_team(at - e)) / (2 * STEP) for e in eye], axis=1)
    assert abs(scores.sum(axis=0)[0]) < 1e-4  # λ is at its maximum, σ at that of the restricted likelihood
    scores -= scores.mean(axis=0)
    bends = np.array([[by_team(at + d + e) - by_team(at + d - e) - by_team(at - d + e) + by_team(at - d - e)
                       for e in eye] for d in eye])  # fmt: skip
    own = -np.moveaxis(bends, 2, 0) / (4 * STEP**2)
    whole = own.sum(axis=0)
    if cov_type == "CR1":
        moved = scores @ np.linalg.inv(whole)
        cov = TEAMS / (TEAMS - 1) * moved.T @ moved
    else:
        moved = np.array([np.linalg.solve(whole - h, s) for h, s in zip(own, scores, strict=True)])
        cov = (TEAMS - 1) / TEAMS * moved.T @ moved
    assert res.bse["object[A]"] ** 2 == pytest.approx(cov[0, 0], rel=1e-4)
    assert (res.scale_errors.iloc[0] / res.scales.iloc[0]) ** 2 == pytest.approx(cov[1, 1], rel=1e-4)
    assert res.df_inference == pytest.approx(TEAMS - 1)
    assert "by team (G = 8" in res.as_text()
    worth = llbt.worth(res, scale="log_worth").to_frame().set_index("object")
    assert worth.loc["A", "std_error"] == pytest.approx(res.bse["object[A]"])


def test_teams_that_differ_have_larger_errors() -> None:
    plain, by_judge, by_team_ = fitted("nonrobust", ""), fitted("cluster", "judge"), fitted("cluster")
    assert by_team_.bse["object[A]"] > by_judge.bse["object[A]"]
    assert by_judge.bse["object[A]"] == pytest.approx(plain.bse["object[A]"], rel=0.2)
    pd.testing.assert_series_equal(by_team_.params, plain.params)
    assert by_team_.llf == plain.llf
    assert by_team_.specification.groups == ("team",)
    assert (by_team_.predict(population=True).to_frame()["std_error"] > 0).all()


def test_where_judges_do_not_differ_errors_are_those_of_the_plain_fit() -> None:
    frame = judged().assign(wins_i=[7, 8, 7, 8] * 6, wins_j=[5, 4, 5, 4] * 6)
    c = llbt.from_counts(frame, clusters=["judge", "team"])
    res = llbt.fit("object + (object | judge)", c, cov_type="cluster", groups="team")
    assert res.scales.eq(0).all()  # type: ignore[union-attr]
    plain = llbt.fit("object", c, cov_type="cluster", groups="team")
    pd.testing.assert_series_equal(res.bse, plain.bse)


def test_what_clusters_do_not_tell_is_refused() -> None:
    c = llbt.from_counts(judged().assign(day=["Mo", "Tu"] * 12), clusters=["judge", "team", "day"])
    split = pd.concat([judged().assign(day=day) for day in ("Mo", "Tu")])
    crossed = llbt.from_counts(split, clusters=["judge", "day"])
    formula = "object + (object | judge)"
    with pytest.raises(OptionError, match="judgments of one judge, which depend on each other"):
        llbt.fit(formula, crossed, cov_type="cluster", groups="day")
    with pytest.raises(OptionError, match="one-way clustering"):
        llbt.fit(formula, c, cov_type="cluster", groups=["team", "day"])
    with pytest.raises(DesignError, match="Laplace's approximation"):
        llbt.fit(formula, c, cov_type="cluster", groups="team", approximation="laplace")
    with pytest.raises(OptionError, match="groups= together"):
        llbt.fit(formula, c, cov_type="cluster")
    with pytest.raises(OptionError, match="takes judges as independent"):
        fitted("CR1").conf_int(method="profile")
