"""Trees of judges who gave lists: those of the pairs where lists have two objects, and the right split where more."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import DesignError, OptionError
from llbt.kernel.score_processes import orthonormal_scores


def pairs(judges: int = 60, each: int = 8, seed: int = 1) -> pd.DataFrame:
    """Judgments with ties, of three objects; judges older than 49 prefer the opposite."""
    rng = np.random.default_rng(seed)
    judge = np.repeat(np.arange(judges), each)
    i = rng.integers(3, size=len(judge))
    j = (i + rng.integers(1, 3, size=len(judge))) % 3
    worth = np.where((judge > 29)[:, None], [[0.4, 0.0, -0.4]], [[-0.4, 0.0, 0.4]])
    row = np.arange(len(judge))
    apart = worth[row, i] - worth[row, j]
    weight = np.exp(np.stack([apart, np.full(len(judge), -0.5), -apart]))
    said = (rng.random(len(judge)) > np.cumsum(weight / weight.sum(axis=0), axis=0)).sum(axis=0)
    about = {"judge": judge, "age": (20 + judge).astype(float), "town": np.array(list("XYZ"))[judge % 3]}
    names = np.array(list("ABC"))
    outcome = np.array(["i", "tie", "j"])[said]
    return pd.DataFrame({**about, "object_i": names[i], "object_j": names[j], "outcome": outcome})


def as_lists(frame: pd.DataFrame) -> llbt.Rankings:
    """The judgments as lists of two."""
    sides = []
    for side, first in (("object_i", {"i": 1, "tie": 1, "j": 2}), ("object_j", {"i": 2, "tie": 1, "j": 1})):
        part = frame[["judge", "age", "town"]].assign(
            list=np.arange(len(frame)), object=frame[side], rank=frame["outcome"].map(first)
        )
        sides.append(part)
    return llbt.from_rankings(pd.concat(sides), block="list", clusters="judge", covariates=["age", "town"])


def lists(seed: int = 1, judges: int = 80, each: int = 3, round_to: float = 0.0) -> pd.DataFrame:
    """Full rankings of five objects, wide; judges over 49 order them the other way round."""
    rng = np.random.default_rng(seed)
    judge = np.repeat(np.arange(judges), each)
    age, town = (
        20.0 + max(80 // judges, 1) * rng.permutation(judges)[judge],
        np.array(list("XYZ"))[rng.integers(3, size=judges)][judge],
    )
    worth = np.linspace(0.5, -0.5, 5) * np.where(age > 49, -1, 1)[:, None]
    said = 2 * worth + rng.gumbel(size=(len(judge), 5))
    said = np.round(said / round_to) if round_to else said
    places = [np.unique(-row, return_inverse=True)[1] + 1 for row in said]
    return pd.DataFrame(places, columns=list("ABCDE")).assign(judge=judge, age=age, town=town)


def rankings(frame: pd.DataFrame) -> llbt.Rankings:
    return llbt.from_rankings(frame, objects=list("ABCDE"), clusters="judge", covariates=["age", "town"])


@pytest.mark.parametrize("formula", [pytest.param("object", marks=pytest.mark.slow), "object + tie"])
def test_lists_of_two_have_the_tree_of_the_pairs(formula: str) -> None:
    """Splits, statistics, likelihoods and worths, by the likelihood of pairs."""
    frame = pairs() if formula == "object + tie" else pairs().query("outcome != 'tie'")
    table = llbt.from_judgments(frame, clusters="judge", covariates=["age", "town"], numeric="age")
    known, found = (llbt.judges.tree(formula, data, min_size=10) for data in (table, as_lists(frame)))
    assert [node.rule for node in found.nodes] == [node.rule for node in known.nodes]
    assert len(found.nodes) > 1
    one, other = found.tests().to_frame(), known.tests().to_frame()
    assert one["covariate"].tolist() == other["covariate"].tolist()
    np.testing.assert_allclose(one["statistic"], other["statistic"], rtol=1e-8)
    np.testing.assert_allclose(one["p_adjusted"], other["p_adjusted"], rtol=1e-6)
    assert found.llf == pytest.approx(known.llf, abs=1e-7)
    for leaf in found.leaves:
        own, others = (tree.results(leaf.number).params for tree in (found, known))
        np.testing.assert_allclose(own.iloc[:2], others.iloc[:2], atol=1e-7)
    assert found.leaf.tolist() == known.leaf.tolist()
    assert found.n_params == known.n_params


@pytest.mark.parametrize("round_to", [0.0, pytest.param(1.5, marks=pytest.mark.slow)])
def test_the_split_is_found(round_to: float) -> None:
    """By age alone, at 49; each leaf is the fit of its judges' lists."""
    frame = lists(round_to=round_to)
    formula = "object + tie" if round_to else "object"
    found = llbt.judges.tree(formula, rankings(frame))
    assert [node.rule for node in found.leaves] == ["age ≤ 49", "age > 49"]
    for number, part in ((2, frame.query("age <= 49")), (3, frame.query("age > 49"))):
        own = llbt.fit(formula, rankings(part))
        np.testing.assert_allclose(found.results(number).params, own.params, atol=1e-7)
    assert found.llf == pytest.approx(sum(leaf.results.llf for leaf in found.leaves))
    assert found.predict(pd.DataFrame({"age": [30.0, 50.0]})).tolist() == [2, 3]
    assert "all judges (by age, p = " in str(found)


@pytest.mark.slow
def test_statistics_by_brute_force() -> None:
    """Scores of judges by differences of the likelihood, supLM over all cuts, χ² over labels; the split by refits."""
    frame = lists(judges=24)
    found = llbt.judges.tree("object", rankings(frame), max_depth=1)
    res = llbt.fit("object", rankings(frame))
    worth = np.append(res.params.to_numpy(), 0.0)

    def value(part: pd.DataFrame, at: np.ndarray) -> float:
        order = np.argsort(part[list("ABCDE")].to_numpy(), axis=1)
        chosen = 2 * at[order]
        left = np.logaddexp.accumulate(chosen[:, ::-1], axis=1)[:, ::-1]
        return float((chosen - left).sum())

    step = 1e-5 * np.eye(5)[:4]
    parts = [part for _, part in frame.groupby("judge")]
    scores = np.array([[(value(p, worth + h) - value(p, worth - h)) / 2e-5 for h in step] for p in parts])
    root = orthonormal_scores(scores)
    age = np.array([part["age"].iloc[0] for part in parts])
    town = np.array([part["town"].iloc[0] for part in parts])
    walked = np.cumsum(root[np.argsort(age)], axis=0)
    largest = max(float((walked[k - 1] ** 2).sum()) / (k / 24 * (1 - k / 24)) for k in range(5, 20))
    chi2 = sum(float((root[town == t].sum(axis=0) ** 2).sum()) * 24 / (town == t).sum() for t in "XYZ")
    tests = found.tests().to_frame().query("node == 1").set_index("covariate")["statistic"]
    assert tests["age"] == pytest.approx(largest, rel=1e-6)
    assert tests["town"] == pytest.approx(chi2, rel=1e-6)
    best = max(
        np.sort(age)[4:19],
        key=lambda cut: sum(
            llbt.fit("object", rankings(frame[side])).llf for side in (frame["age"] <= cut, frame["age"] > cut)
        ),
    )
    split = found.nodes[0].split
    assert split is not None
    assert split.value == best


@pytest.mark.slow
def test_an_honest_tree_and_its_groups() -> None:
    frame = lists(judges=120)
    found = llbt.judges.tree("object", rankings(frame), honest=True, rng=2)
    finders = set(found.data.levels)
    assert len(finders) == 60
    for leaf, res in found.held:
        own = frame.query(found.nodes[leaf - 1].rule.replace("≤", "<="))
        own = own[~own["judge"].isin(finders)]
        np.testing.assert_allclose(res.params, llbt.fit("object", rankings(own)).params, atol=1e-7)
    reversed_pairs = llbt.judges.compare_groups(found, rng=1).to_frame().set_index(["object_i", "object_j"])
    assert bool(reversed_pairs.loc[("A", "E"), "is_reversed"])
    assert llbt.plot.tree(found).get_yticklabels()[0].get_text() in "ABCDE"
    assert len(found.prune("bic").leaves) <= len(found.leaves)
    assert found.stability(n=2, rng=1).to_frame().set_index("covariate").loc["age", "share"] > 0


@pytest.mark.slow
def test_a_page_shows_the_tree(tmp_path: Path) -> None:
    found = llbt.judges.tree("object", rankings(lists(judges=40)))
    page = llbt.write_report(found, tmp_path / "a.html").read_text(encoding="utf-8")
    assert '<section id="tree">' in page
    assert "llbt.judges.tree(&#x27;object&#x27;, rankings, by=&#x27;judge&#x27;)" in page


def test_a_prior_makes_leaves_finite() -> None:
    """With a prior every node has a fit, of as many judges as there are objects."""
    frame = lists(judges=20, each=1)
    found = llbt.judges.tree("object", rankings(frame), prior=1.0, alpha=0.99)
    assert all(np.isfinite(leaf.results.params).all() for leaf in found.leaves)
    assert all(leaf.results.specification.prior == 1.0 for leaf in found.leaves)


@pytest.mark.slow
def test_ties_that_a_node_lacks() -> None:
    """A node whose judges tie nothing has no log δ, as a fit of their lists has none."""
    frame = lists()
    old = frame["age"] > 49
    tied = lists(round_to=1.5)
    frame.loc[old, list("ABCDE")] = tied.loc[old, list("ABCDE")]
    found = llbt.judges.tree("object + tie", rankings(frame), max_depth=1)
    assert [node.rule for node in found.leaves] == ["age ≤ 49", "age > 49"]
    assert [name for name in found.results(2).params.index if name.startswith("tie")] == []
    assert any(name.startswith("tie") for name in found.results(3).params.index)


def test_refusals() -> None:
    r = rankings(lists(judges=12))
    with pytest.raises(OptionError, match="brackets"):
        llbt.judges.tree("object + (object | judge)", r)
    with pytest.raises(OptionError, match="no covariate or cluster 'who'"):
        llbt.judges.tree("object", r, by="who")
    with pytest.raises(DesignError, match="from_rankings"):
        llbt.judges.tree("object", llbt.from_rankings(lists(judges=12), objects=list("ABCDE"), clusters="judge"))
    with pytest.raises(DesignError, match="at least 10"):
        llbt.judges.tree("object", rankings(lists(judges=8)))


def test_covariates_that_differ_within_a_judge_are_noted() -> None:
    frame = lists(judges=40)
    found = llbt.judges.tree("object", rankings(frame.assign(age=np.arange(len(frame)))), by="judge")
    assert "'age' differs between judgments of one judge, and cannot split judges" in found.as_text()
    assert "With 30 judges, tests at 5 % reject" in found.tests().as_text()
