"""Classes of judges against what is known of the judges: special cases, the joint likelihood, and attenuation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import optimize, special, stats

import llbt
from llbt.errors import DesignError, OptionError

OBJECTS = "ABCD"
PAIRS = [(i, j) for i in range(4) for j in range(i + 1, 4)]
SHARES = {"x": 0.8, "y": 0.5, "z": 0.2}  # of the first class, by group


def drawn(judges: int, spread: float, repeats: int, seed: int) -> pd.DataFrame:
    """Judges of two classes with opposite worths; group and age say which is more probable."""
    rng = np.random.default_rng(seed)
    group = rng.choice(list(SHARES), judges)
    age = np.round(rng.uniform(20, 80, judges))
    first = rng.random(judges) < [SHARES[one] for one in group]
    worth = np.linspace(spread, -spread, 4)
    rows = []
    for g in range(judges):
        own = worth if first[g] else -worth
        for i, j in PAIRS * repeats:
            wins = rng.random() < special.expit(2 * (own[i] - own[j]))
            rows.append((f"judge{g:03d}", OBJECTS[i], OBJECTS[j], "i" if wins else "j", group[g], age[g], g % 7 < 3))
    columns = ["judge", "object_i", "object_j", "outcome", "group", "age", "first"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["first"] = np.repeat(first, len(PAIRS) * repeats)
    return frame


def fitted(frame: pd.DataFrame, **options: object) -> llbt.judges.class_fit.LatentClasses:  # type: ignore[name-defined]
    c = llbt.from_judgments(frame, clusters="judge", covariates=["group", "age"], numeric="age")
    return llbt.judges.classes("object", c, k=2, starts=10, rng=1, **options)[2]


@pytest.fixture(scope="module")
def certain():
    """Judges of whom everybody's class is beyond doubt."""
    frame = drawn(60, 1.2, 3, seed=4)
    return frame, fitted(frame)


def truth(frame: pd.DataFrame, found) -> pd.DataFrame:
    """A row per judge, with `second`: whether he is most probably in class 2."""
    people = frame.drop_duplicates("judge").set_index("judge")
    return people.assign(second=found.posterior[2].loc[people.index] > 0.5)


def test_where_no_judge_is_in_doubt_it_is_the_table_of_shares(certain):
    frame, fit = certain
    people = truth(frame, fit)
    found = fit.association("group")
    table = found.table().to_frame()
    np.testing.assert_allclose(found.errors, np.eye(2), atol=1e-3)
    cells = pd.crosstab(people["group"], people["second"])
    share = cells[True] / cells.sum(axis=1)
    second = table[table["class"] == 2].set_index("value")
    np.testing.assert_allclose(second["share"], share, atol=2e-3)
    np.testing.assert_allclose(second["std_error"], np.sqrt(share * (1 - share) / cells.sum(axis=1)), atol=2e-3)
    assert second["n_judges"].tolist() == cells.sum(axis=1).tolist()
    g = stats.chi2_contingency(cells, correction=False, lambda_="log-likelihood")
    assert found.statistic == pytest.approx(g.statistic, abs=0.1)
    assert found.df == g.dof
    assert found.p_value == pytest.approx(g.pvalue, rel=0.1)


def test_of_a_number_it_is_then_the_logit(certain):
    frame, fit = certain
    people = truth(frame, fit)
    found = fit.association("age").coefficients.set_index("term")
    logit = sm.Logit(people["second"].astype(float), sm.add_constant(people["age"])).fit(disp=0)
    assert found.loc["age", "estimate"] == pytest.approx(logit.params["age"], abs=1e-3)
    assert found.loc["age", "std_error"] == pytest.approx(logit.bse["age"], rel=0.02)
    table = fit.association("age").table().to_frame()
    assert table["value"].unique().tolist() == people["age"].quantile([0.25, 0.5, 0.75]).tolist()


def test_intervals_are_of_the_log_odds(certain):
    table = certain[1].association("group").summary(confidence=0.9).to_frame()
    low, middle, high = (special.logit(table[name]) for name in ("conf_low", "share", "conf_high"))
    np.testing.assert_allclose(high - middle, middle - low)
    error = table["std_error"] / (table["share"] * (1 - table["share"]))
    np.testing.assert_allclose(high - middle, stats.norm.ppf(0.95) * error)


def joint(frame: pd.DataFrame) -> pd.Series:
    """Shares of the second class by group where worths and shares are found at once."""
    people = frame.drop_duplicates("judge")
    wins = frame.assign(win=frame["outcome"] == "i").groupby(["judge", "object_i", "object_j"], sort=True)["win"]
    share, number = wins.mean().unstack([1, 2]), wins.size().unstack([1, 2])
    group = pd.Categorical(people.set_index("judge").loc[share.index, "group"]).codes
    pairs = [(OBJECTS.index(i), OBJECTS.index(j)) for i, j in share.columns]
    n, k = number.to_numpy(), (share * number).to_numpy()

    def loss(point):
        logs = []
        for part in (point[:3], point[3:6]):
            worth = np.append(part, 0.0)
            eta = np.array([2 * (worth[i] - worth[j]) for i, j in pairs])
            logs.append((k * special.log_expit(eta) + (n - k) * special.log_expit(-eta)).sum(axis=1))
        second = point[6:][group]
        both = np.logaddexp(logs[0] + special.log_expit(-second), logs[1] + special.log_expit(second))
        return -both.sum()

    start = np.r_[1, 0.5, 0.2, -1, -0.5, -0.2, 0, 0, 0]
    return pd.Series(special.expit(optimize.minimize(loss, start).x[6:]), index=["x", "y", "z"])


def oriented(fit, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the class that holds A to be the worst."""
    params = fit.params.iloc[:, 0]
    return table[table["class"] == params.idxmin()].set_index("value")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_three_steps_are_near_the_joint_maximum(seed):
    frame = drawn(200, 0.6, 1, seed)
    fit = fitted(frame)
    found = fit.association("group")
    assert np.diag(found.errors).max() < 0.98  # some are in doubt
    table = oriented(fit, found.table().to_frame())
    distance = (table["share"] - joint(frame)) / table["std_error"]
    assert distance.abs().max() < 0.75


@pytest.mark.slow
def test_most_probable_classes_are_attenuated_and_three_steps_are_not():
    plain, corrected, covered = [], [], []
    for seed in range(40):
        frame = drawn(150, 0.4, 1, 100 + seed)
        fit = fitted(frame)
        table = oriented(fit, fit.association("group").table().to_frame())
        placed = fit.posterior[table["class"].iloc[0]].loc[frame["judge"].unique()] > 0.5
        people = frame.drop_duplicates("judge").set_index("judge")
        share = placed.groupby(people["group"]).mean()
        plain.append(share["z"] - share["x"])
        corrected.append(table.loc["z", "share"] - table.loc["x", "share"])
        expected = 1 - pd.Series(SHARES)
        covered += ((table["conf_low"] <= expected) & (expected <= table["conf_high"])).tolist()
    assert np.mean(plain) < 0.5  # 0.6 in truth
    assert np.mean(corrected) == pytest.approx(0.6, abs=3 * np.std(corrected) / np.sqrt(40))
    assert np.mean(covered) > 0.85


def test_a_share_of_nothing_has_no_error():
    frame = drawn(40, 1.2, 3, seed=5)
    frame["group"] = np.where(frame["first"], "a", frame["group"])
    found = fitted(frame).association("group")
    assert np.isnan(found.std_errors).any()
    assert "no standard error" in found.table().as_text()


def test_what_cannot_be_asked_is_named(certain):
    frame, fit = certain
    with pytest.raises(OptionError, match="no covariate or cluster 'sex'"):
        fit.association("sex")
    more = frame.assign(same="a", year=2020, day=np.arange(len(frame)) % 2)
    c = llbt.from_judgments(more, clusters="judge", covariates=["same", "year", "day"], numeric="year")
    models = llbt.judges.classes("object", c, k=[1, 2], starts=3, rng=1)
    with pytest.raises(OptionError, match="one class holds all judges"):
        models[1].association("same")
    with pytest.raises(DesignError, match="'same' is 'a' for all 60 judges"):
        models[2].association("same")
    with pytest.raises(DesignError, match=r"'year' is 2020\.0 for all 60 judges"):
        models[2].association("year")
    with pytest.raises(DesignError, match="not the same in all judgments"):
        models[2].association("day")
