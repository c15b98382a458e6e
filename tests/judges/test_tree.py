"""Trees of judges: R's figures, the distribution of the tests, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.in_full import in_full

import llbt
from llbt.errors import DesignError, OptionError
from llbt.judges.tree_growth import Split
from llbt.kernel.score_processes import contingency, fluctuation, orthonormal_scores, supremum_p


@pytest.fixture(scope="module")
def models(shared: Path) -> llbt.Comparisons:
    frame = pd.read_csv(shared / "data" / "topmodel2007.csv")
    pairs = [name for name in frame.columns if ":" in name]
    about = ["judge", "gender", "age", "q1", "q2", "q3"]
    long = frame.melt(id_vars=about, value_vars=pairs, var_name="pair", value_name="first").dropna()
    long[["object_i", "object_j"]] = long["pair"].str.split(":", expand=True)
    long["outcome"] = long["first"].map({1: "i", -1: "j"})
    frame = long[[*about, "object_i", "object_j", "outcome"]]
    return llbt.from_judgments(frame, clusters="judge", covariates=about[1:], numeric="age")


@pytest.mark.shared
def test_topmodel(models: llbt.Comparisons, reference: Callable[[str], Any]) -> None:
    """R psychotree's bttree(preference ~ ., minsize = 5)."""
    found = llbt.judges.tree("object", models, reference="Barbara")
    tests = found.tests().to_frame().set_index(["node", "covariate"])
    root = {"age": 32.35655, "q2": 19.839222, "gender": 17.08798, "q1": 12.63195, "q3": 6.758559}
    for covariate, statistic in root.items():
        assert tests.loc[(1, covariate), "statistic"] == pytest.approx(statistic, abs=1e-4)
    adjusted = {"gender": 0.0214924, "q2": 0.0066800, "q1": 0.1282764, "q3": 0.7451515}
    for covariate, p in adjusted.items():
        assert tests.loc[(1, covariate), "p_adjusted"] == pytest.approx(p, abs=1e-6)
    assert tests.loc[(1, "age"), "p_adjusted"] == pytest.approx(0.00079155, rel=0.15)  # of Hansen's table in R
    for covariate, statistic in {"q2": 17.5966, "gender": 15.5708, "age": 12.3225}.items():
        assert tests.loc[(2, covariate), "statistic"] == pytest.approx(statistic, abs=1e-4)
    said = reference("models/pt_bttree_Topmodel2007")
    assert found.llf == pytest.approx(said["logLik"], abs=1e-6)
    of_rule = dict(zip(said["rules"], said["worth"]["values"], strict=True))
    own = {len(node.judges): node.number for node in found.leaves}
    for judges, worths in zip((35, 71, 56, 30), of_rule.values(), strict=True):
        worth = llbt.worth(found.results(own[judges])).to_frame().set_index("object")["estimate"]
        np.testing.assert_allclose(worth[said["worth"]["cols"]], worths, atol=1e-6)
    about = models.to_frame(clusters=True)[["judge", "gender", "age", "q1", "q2", "q3"]].drop_duplicates("judge")
    about = about.sort_values("judge")
    assert found.predict(about).tolist() == found.leaf.loc[about["judge"]].tolist()
    assert len(found.prune("bic").leaves) <= len(found.leaves)
    assert found.prune("aic").llf == pytest.approx(found.llf)


def drawn(judges: int = 60, each: int = 8, seed: int = 1, apart: float = 1.0) -> pd.DataFrame:
    """Judgments with ties, of three objects; judges older than 49 prefer the opposite as far as they are apart."""
    rng = np.random.default_rng(seed)
    judge = np.repeat(np.arange(judges), each)
    i = rng.integers(3, size=len(judge))
    j = (i + rng.integers(1, 3, size=len(judge))) % 3
    age = 20 + judge
    worth = np.where((age > 49)[:, None], np.array([[0, 0.4, 0.8]]) * (1 - 2 * apart), [[0, 0.4, 0.8]])
    row = np.arange(len(judge))
    difference = worth[row, i] - worth[row, j]
    weight = np.exp(np.stack([difference, np.full(len(judge), -0.5), -difference]))
    said = (rng.random(len(judge)) > np.cumsum(weight / weight.sum(axis=0), axis=0)).sum(axis=0)
    return pd.DataFrame(
        {
            "judge": judge,
            "age": age,
            "town": np.array(["X", "Y", "Z"])[judge % 3],
            "object_i": np.array(list("ABC"))[i],
            "object_j": np.array(list("ABC"))[j],
            "outcome": np.array(["i", "tie", "j"])[said],
        }
    )


def table(frame: pd.DataFrame) -> llbt.Comparisons:
    return llbt.from_judgments(frame, clusters="judge", covariates=["age", "town"], numeric="age")


def test_the_split_is_found_with_ties(capsys: pytest.CaptureFixture) -> None:
    found = llbt.judges.tree("object + tie", table(drawn()), progress=True)
    assert "judges.tree: " in capsys.readouterr().err
    assert [node.rule for node in found.leaves] == ["age ≤ 49", "age > 49"]
    older = drawn().query("age > 49")
    apart = llbt.fit("object + tie", llbt.from_judgments(older))
    np.testing.assert_allclose(found.results(3).params, apart.params, atol=1e-9)
    assert found.predict(pd.DataFrame({"age": [30, 50, 49]})).tolist() == [2, 3, 2]
    shares = found.stability(n=5, rng=1).to_frame().set_index("covariate")["share"]
    assert shares["age"] > shares["town"]


def test_an_honest_tree_is_estimated_by_the_others() -> None:
    c = table(drawn(120))
    found = llbt.judges.tree("object + tie", c, honest=True, rng=3)
    assert len(found.data.levels) == 60
    finders = set(found.data.levels)
    for leaf, res in found.held:
        own = drawn(120).query(found.nodes[leaf - 1].rule.replace("≤", "<="))
        own = own[~own["judge"].isin(finders)]
        np.testing.assert_allclose(res.params, llbt.fit("object + tie", llbt.from_judgments(own)).params, atol=1e-9)


def test_scores_that_do_not_wander() -> None:
    """Size of the tests where judges are all alike, and the distribution of the maximum against simulated bridges."""
    rng = np.random.default_rng(5)
    n, p, trim = 100, 3, 10
    steps = rng.normal(size=(4000, n, p))
    walked = np.cumsum(steps - steps.mean(axis=1, keepdims=True), axis=1) / np.sqrt(n)
    t = np.arange(trim, n - trim + 1) / n
    highest = np.max(np.sum(walked[:, trim - 1 : n - trim] ** 2, axis=2) / (t * (1 - t)), axis=1)
    for share in (0.5, 0.9, 0.95):
        p_value = supremum_p(float(np.quantile(highest, share)), p, trim / n, len(t))
        assert p_value == pytest.approx(1 - share, abs=4 * np.sqrt(share * (1 - share) / 4000))
    scores = orthonormal_scores(steps[0] - steps[0].mean(axis=0))
    np.testing.assert_allclose(scores.T @ scores, np.eye(p), atol=1e-10)
    codes = np.arange(n) % 2
    # two labels of equal size: the χ² of the sums is that of Rao's score, n times the squared distance of the means / 4
    apart = scores[codes == 0].mean(axis=0) - scores[codes == 1].mean(axis=0)
    assert contingency(scores, codes)[0] == pytest.approx(n * n / 4 * float(apart @ apart))
    assert np.isnan(fluctuation(scores, np.zeros(n), 5)[0])


@pytest.mark.slow
def test_size_of_the_root_test() -> None:
    """Judges all alike: the tree is split in 1.5 to 6 % of samples."""
    split = 0
    for seed in range(400):
        found = llbt.judges.tree("object + tie", table(drawn(40, seed=seed, apart=0.0)), max_depth=1, min_size=5)
        split += len(found.nodes) > 1
    assert 0.015 <= split / 400 <= 0.06 + 0.02


def test_refusals() -> None:
    frame = drawn()
    mixed = table(frame.assign(town=frame["town"].sample(frac=1, random_state=1).to_numpy()))
    by_town = llbt.judges.tree("object + tie", table(frame.assign(age=1.0, town=np.where(frame["age"] > 49, "X", "Y"))))
    with pytest.raises(DesignError, match="no covariate of the judges"):
        llbt.judges.tree("object", llbt.from_judgments(frame, clusters="judge"))
    with pytest.raises(OptionError, match="no covariate or cluster"):
        llbt.judges.tree("object", table(frame), split=["weight"])
    with pytest.raises(DesignError, match="not the same in all judgments"):
        llbt.judges.tree("object + tie", mixed, split=["town"])
    with pytest.raises(OptionError, match="brackets"):
        llbt.judges.tree("object + (object | judge)", table(frame))
    with pytest.raises(DesignError, match="at least 200"):
        llbt.judges.tree("object", table(frame), min_size=100)
    with pytest.raises(OptionError, match="not a label that the tree was grown with"):
        by_town.predict(pd.DataFrame({"town": ["Q"]}))
    constant = llbt.judges.tree("object + tie", table(frame.assign(town="X")))
    assert "town: the same for all judges, so no split." in in_full(constant)


def test_the_best_objects_stand_below_each_leaf() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for judge in range(40):
        sign = 1 if judge > 20 else -1
        for i, j in [*zip("ABCDEF", "BCDEFA", strict=True)]:
            wins = rng.binomial(6, 1 / (1 + np.exp(-sign * (ord(j) - ord(i)))))
            rows.append((i, j, wins, 6 - wins, judge, 20 + judge))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j", "judge", "age"])
    table = llbt.from_counts(frame, clusters="judge", covariates="age", numeric="age")
    found = llbt.judges.tree("object", table, max_depth=1)
    assert len(found.leaves) == 2
    lines = found.as_text().split("\n")
    for leaf in found.leaves:
        at = next(k for k, line in enumerate(lines) if f"[{leaf.number}]" in line)
        best = llbt.worth(leaf.results).to_frame()["object"].tolist()
        assert [line.split()[-1] for line in lines[at + 1 : at + 5]] == best[:4]
        assert lines[at + 5].endswith(f"… 2 more objects: .results({leaf.number})")
    assert "object[" not in found.as_text()
    assert "object[A]" in found.to_frame()["term"].tolist()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "x ≤ 0"), (1e6, "x ≤ 1000000"), (49.5, "x ≤ 49.5"), (-20.0, "x ≤ -20"), (1e-5, "x ≤ 1e-05")],
)
def test_the_number_of_a_split_is_printed_whole(value: float, text: str) -> None:
    assert Split("x", value, (), ()).text(left=True) == text
