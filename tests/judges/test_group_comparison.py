"""Groups of judges compared: equal to what each group says for itself, and right of all pairs together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special

import llbt
from llbt.errors import OptionError

OBJECTS = "ABC"
PAIRS = [(0, 1), (0, 2), (1, 2)]
WORTHS = np.array([[0.8, 0.1, -0.9], [-0.9, 0.2, 0.7]])


def judged(judges: int, repeats: int, seed: int, worths: np.ndarray = WORTHS) -> pd.DataFrame:
    """Judges of two groups, the young and the old, who differ in their worths."""
    rng = np.random.default_rng(seed)
    second = np.arange(judges) % 3 == 0
    rows = []
    for g in range(judges):
        worth = worths[int(second[g])]
        for i, j in PAIRS * repeats:
            wins = rng.random() < special.expit(2 * (worth[i] - worth[j]))
            rows.append((f"judge{g:03d}", "old" if second[g] else "young", OBJECTS[i], OBJECTS[j], "ji"[int(wins)]))
    return pd.DataFrame(rows, columns=["judge", "age", "object_i", "object_j", "outcome"])


def two_classes(frame: pd.DataFrame, **options: object):
    c = llbt.from_judgments(frame, clusters="judge")
    return llbt.judges.classes("object", c, k=2, starts=5, rng=1, **options)[2]


def of_group(frame: pd.DataFrame, age: str) -> pd.DataFrame:
    fit = llbt.fit("object", llbt.from_judgments(frame[frame["age"] == age]))
    return llbt.pairwise(fit, scale="log_worth").to_frame()


def test_of_certain_classes_it_is_the_difference_of_separate_fits():
    frame = judged(60, 8, seed=1)
    found = llbt.judges.compare_groups(two_classes(frame)).to_frame()
    first, second = of_group(frame, "young"), of_group(frame, "old")  # two thirds are young, so class 1
    np.testing.assert_allclose(found["estimate"], first["estimate"] - second["estimate"], atol=1e-3)
    np.testing.assert_allclose(found["std_error"], np.hypot(first["std_error"], second["std_error"]), rtol=1e-3)
    np.testing.assert_allclose(found["statistic"], found["estimate"] / found["std_error"])
    assert found[["group_a", "group_b"]].drop_duplicates().to_numpy().tolist() == [[1, 2]]
    assert (found["p_value"] <= found["p_adjusted"]).all()
    assert found["is_reversed"].tolist() == [True, True, True]


def test_opposite_order_is_what_both_are_sure_of():
    worths = np.array([[0.8, 0.0, -0.8], [0.8, 0.05, -0.85]])
    worths[1, :2] = worths[1, 1::-1]  # A and B change places, C stays the last
    frame = judged(60, 8, seed=2, worths=worths)
    c = llbt.from_judgments(frame, clusters="judge", covariates="age")
    tree = llbt.judges.tree("object", c, split=["age"], honest=True, rng=1)
    found = llbt.judges.compare_groups(tree).to_frame()
    assert found["is_reversed"].tolist() == [True, False, False]
    leaves = [tree.results(leaf.number) for leaf in tree.leaves]
    first, second = (llbt.pairwise(one, scale="log_worth").to_frame() for one in leaves)
    np.testing.assert_allclose(found["estimate"], first["estimate"] - second["estimate"], atol=1e-10)
    np.testing.assert_allclose(found["std_error"], np.hypot(first["std_error"], second["std_error"]), rtol=1e-10)


def test_three_groups_are_three_pairs():
    frame = judged(60, 4, seed=3)
    c = llbt.from_judgments(frame, clusters="judge")
    found = llbt.judges.compare_groups(llbt.judges.classes("object", c, k=3, starts=5, prior=1, rng=1)[3])
    assert np.unique(found.groups, axis=0).tolist() == [[1, 2], [1, 3], [2, 3]]
    table = found.to_frame().set_index(["group_a", "group_b", "object_i", "object_j"])["estimate"]
    np.testing.assert_allclose(table.loc[1, 2] + table.loc[2, 3], table.loc[1, 3], atol=1e-10)


def test_leaves_that_the_same_judges_found_have_no_tests():
    frame = judged(60, 4, seed=4)
    c = llbt.from_judgments(frame, clusters="judge", covariates="age")
    found = llbt.judges.compare_groups(llbt.judges.tree("object", c, split=["age"]))
    assert np.isfinite(found.estimate).all()
    assert np.isnan(np.concatenate([found.std_error, found.p_value, found.p_adjusted, found.conf_low])).all()
    assert not found.is_reversed.any()
    assert "honest=True" in " ".join(found.table().as_text().split())


def test_a_class_at_infinity_has_no_errors():
    frame = judged(45, 2, seed=5, worths=np.array([[0.8, 0.1, -0.9], [-9.0, 0.0, 9.0]]))
    fit = two_classes(frame)
    assert fit.infinite == (2,)
    found = llbt.judges.compare_groups(fit)
    assert np.isnan(found.std_error).all()
    assert "No finite estimates and no errors in class 2" in found.table().as_text()


def test_a_single_group_is_refused():
    frame = judged(30, 2, seed=6, worths=WORTHS[[0, 0]])
    c = llbt.from_judgments(frame, clusters="judge", covariates="age")
    with pytest.raises(OptionError, match="single group"):
        llbt.judges.compare_groups(llbt.judges.classes("object", c, k=1, starts=1)[1])
    with pytest.raises(OptionError, match="single group"):
        llbt.judges.compare_groups(llbt.judges.tree("object", c, alpha=1e-9))


@pytest.mark.exhaustive
def test_all_intervals_hold_together_as_often_as_they_say():
    together, found_wrong, runs = 0, 0, 150
    worths = np.array([[0.5, 0.1, -0.6], [-0.6, 0.2, 0.2]])  # B and C are equal in the second
    expected = np.array([(worths[0, i] - worths[0, j]) - (worths[1, i] - worths[1, j]) for i, j in PAIRS])
    for seed in range(runs):
        fit = two_classes(judged(90, 3, 1000 + seed, worths))
        straight = fit.params.iloc[0, 0] > fit.params.iloc[1, 0]  # which class is the larger may change
        expected_here = expected if straight else -expected
        found = llbt.judges.compare_groups(fit)
        together += int(((found.conf_low <= expected_here) & (expected_here <= found.conf_high)).all())
        found_wrong += int(found.is_reversed[2])
    assert together / runs > 0.9
    assert found_wrong / runs <= 0.05
