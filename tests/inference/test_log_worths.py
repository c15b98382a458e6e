"""Worths in classes that do not compare all objects: against fits of the class alone."""

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.inference.log_worths import LogWorths

TEAMS = {"s1": "abcdz", "s2": "abcde", "s3": "abcde"}


def seasons():
    rng = np.random.default_rng(1)
    rows = [
        (season, i, j, wins, 6 - wins)
        for season, teams in TEAMS.items()
        for n, i in enumerate(teams)
        for j in teams[n + 1 :]
        for wins in [rng.integers(1, 6)]
    ]
    return pd.DataFrame(rows, columns=["season", "object_i", "object_j", "wins_i", "wins_j"])


FRAME = seasons()
RES = llbt.fit("object * season", llbt.from_counts(FRAME, covariates="season"))


def alone(season, reference=None):
    return llbt.fit(
        "object", llbt.from_counts(FRAME[FRAME["season"] == season].drop(columns="season")), reference=reference
    )


def at(season, scale):
    frame = llbt.worth(RES, {"season": season}, scale).to_frame().set_index("object")
    return frame[["estimate", "std_error", "conf_low", "conf_high"]]


@pytest.mark.parametrize("scale", ["probability", "log_worth", "log_odds", "odds_ratio", "elo"])
@pytest.mark.parametrize("season", list(TEAMS))
def test_a_class_without_the_reference_has_the_worths_of_a_fit_of_its_own(season, scale):
    """`object * season` is a model of its own in each season: z did not play in s2 and s3, e not in s1."""
    expected = llbt.worth(alone(season), scale=scale).to_frame().set_index("object")
    found = at(season, scale)
    np.testing.assert_allclose(found.loc[expected.index], expected[found.columns], rtol=1e-6, atol=1e-9)
    assert found.drop(expected.index).isna().all(axis=None)


def test_who_is_left_out_is_said_and_whose_log_worth_is_zero():
    notes = " ".join(llbt.worth(RES).notes)
    assert "NA at season s1: the table does not compare 'e' with the others there" in notes
    assert "NA at season s2 and season s3: the table does not compare 'z' with the others there" in notes
    assert "reference z; where the table does not compare it with most objects: e at season s2, e at season s3" in notes
    assert "not compared" not in " ".join(llbt.worth(RES, {"season": "s1"}).notes)
    assert at("s2", "log_worth").loc["e"].tolist() == [0, 0, 0, 0]


def test_a_reference_of_ones_own_holds_where_it_played():
    res = llbt.fit("object * season", llbt.from_counts(FRAME, covariates="season"), reference="b")
    found = llbt.worth(res, scale="log_worth")
    frame = found.to_frame()
    assert (frame.loc[frame["object"] == "b", "estimate"] == 0).all()
    assert "does not compare it" not in " ".join(found.notes)
    expected = llbt.worth(alone("s3", "b"), scale="log_worth").to_frame().set_index("object")["estimate"]
    own = frame[frame["season"] == "s3"].set_index("object")["estimate"]
    np.testing.assert_allclose(own[expected.index], expected, atol=1e-7)


def test_a_leaderboard_of_a_class_agrees_with_its_worths():
    board = llbt.leaderboard(RES, at={"season": "s2"}, scale="log_worth").to_frame().set_index("object")["estimate"]
    worths = at("s2", "log_worth")["estimate"]
    gap = (board - worths).dropna()
    assert len(gap) == 5
    np.testing.assert_allclose(gap, gap.iloc[0], atol=1e-9)


def test_quasi_variances_of_a_class_are_those_of_a_fit_of_its_own():
    found = llbt.quasi_variances(RES, at={"season": "s2"})
    expected = llbt.quasi_variances(alone("s2"))
    assert found.objects == expected.objects
    np.testing.assert_allclose(found.estimate, expected.estimate, atol=1e-7)
    np.testing.assert_allclose(found.quasi_std_error, expected.quasi_std_error, rtol=1e-5)
    assert "reference e" in " ".join(found.notes)


def test_ranks_in_resamples_leave_out_who_was_not_compared():
    ranks = llbt.bootstrap(RES, n=40, rng=1).ranks(at={"season": "s2"}).to_frame()
    shares = ranks.groupby("object")["estimate"].sum(min_count=1)
    assert np.isnan(shares["z"])
    np.testing.assert_allclose(shares.drop("z"), 1)
    assert ranks.loc[ranks["rank"] == 6, "estimate"].fillna(0).eq(0).all()


def test_influence_compares_with_one_reference():
    """What is left out may change the reference of a class; log-worths with and without are against the same object."""
    rows = [(s, f"J{k % 3}", i, j, w) for k, (s, i, j, w, _) in enumerate(FRAME.itertuples(index=False))]
    frame = pd.DataFrame(rows, columns=["season", "judge", "object_i", "object_j", "wins_i"])
    table = llbt.from_counts(frame.assign(wins_j=6 - frame["wins_i"]), covariates=["season", "judge"])
    res = llbt.fit("object * season", table)
    found = llbt.influence(res, by="judge", at={"season": "s2"}).to_frame()
    for judge in ("J0", "J1", "J2"):
        rest = llbt.fit("object * season", table.select(where={"judge": [j for j in ("J0", "J1", "J2") if j != judge]}))
        expected = llbt.worth(rest, {"season": "s2"}, "log_worth").to_frame().set_index("object")["estimate"]
        without = found[found["judge"] == judge].set_index("object")["without"]
        np.testing.assert_allclose(without.drop("z"), (expected - expected["e"])[without.index].drop("z"), atol=1e-6)


def test_centred_log_worths_are_those_of_the_centring_matrix() -> None:
    """By the mean taken off in place against the matrix I − 11ᵀ/J, also where an object is out."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(5, 5))
    for out in ([], [3]):
        estimate = rng.normal(size=5)
        estimate[out] = np.nan
        one = LogWorths(rng.normal(size=(5, 3)), estimate, root @ root.T, rng.normal(size=(5, 1)))
        inside = ~np.isnan(estimate)
        center = inside[:, None] * (np.eye(5) - inside / inside.sum())
        found, expected = one.centred(), one.combined(center, estimate - np.nanmean(estimate))
        for name in ("rows", "estimate", "cov", "lost"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-13)
