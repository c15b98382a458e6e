"""Free and merged scores of grades, against scipy's maximum of all parameters together, and against R."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from support.folders import REFERENCE
from support.graded import FIVE, judged, music

import llbt
from llbt import Comparisons
from llbt.errors import DesignError
from llbt.fitting.results import LLBTResults


def largest(c: Comparisons, group: list[int], given: list[float]) -> tuple[float, np.ndarray]:
    """−2 log-likelihood and scores at the maximum over worths, order, γ and the scores of groups but the first."""
    grades, objects = len(group), len(c.objects)
    i, j = c.pairs.T
    totals = c.totals[:, None]

    def loss(x: np.ndarray) -> float:
        worth, order = np.append(x[: objects - 1], 0.0), x[objects - 1]
        tie, levels = x[objects], np.append(0.0, x[objects + 1 : objects + grades])
        scores = np.append(given[0], x[objects + grades :])[group]
        lead = (worth[i] - worth[j] + order)[:, None]
        parts = [scores[::-1] * lead + levels[::-1], np.full_like(lead, tie), -scores * lead + levels]
        logs = np.concatenate(parts, axis=1)
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        return -2 * float((c.counts * logs).sum())

    start = np.zeros(objects + grades + max(group))
    start[objects + grades :] = given[1 : 1 + max(group)]
    start[:objects] = 0.1
    found = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-5, "maxiter": 2000})
    found = optimize.minimize(
        loss, found.x, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-8, "fatol": 1e-9}
    )
    observed = c.counts / totals
    saturated = -2 * float((c.counts * np.log(np.where(c.counts > 0, observed, 1.0))).sum())
    return found.fun - saturated, np.append(given[0], found.x[objects + grades :])[group]


def test_scores_are_at_the_maximum_of_all_parameters_together() -> None:
    c = judged().pool()
    found = llbt.grade_tests(llbt.fit("object + tie + grade + order", c)).to_frame().set_index("model")
    models = {"free": [0, 1, 2], "i = i+": [0, 0, 1], "i+ = i++": [0, 1, 1]}
    for name, group in models.items():
        value, scores = largest(c, group, [1.0, 2.0, 3.0])
        assert found.loc[name, "deviance"] == pytest.approx(value, abs=1e-4)
        np.testing.assert_allclose(found.loc[name, ["score i", "score i+", "score i++"]].to_list(), scores, atol=2e-3)
        assert found.loc[name, "deviance"] <= value + 1e-7
    assert found.loc["as fitted", "df"] == 2
    assert found.loc["i = i+", "statistic"] == pytest.approx(
        found.loc["i = i+", "deviance"] - found.loc["free", "deviance"]
    )
    p = stats.chi2.sf(found.loc["as fitted", "statistic"], 2)
    assert found.loc["as fitted", "p_value"] == pytest.approx(p, rel=1e-9)


def test_merged_grades_of_music_are_the_collapsed_table_of_r_and_how_they_were_split() -> None:
    """With one score the likelihood is that of the three outcomes times that of two binomials of one share."""
    c = music()
    three = json.loads((REFERENCE / "models" / "music_graded_reference.json").read_text())["three"]
    ends = np.concatenate([c.counts[:, [0, 1]], c.counts[:, [4, 3]]])
    expected = ends.sum(axis=1, keepdims=True) * ends.sum(axis=0) / ends.sum()
    split = 2 * float((ends * np.log(np.where(ends > 0, ends / expected, 1.0))).sum())
    found = llbt.grade_tests(llbt.fit("object + tie + grade", c)).to_frame().set_index("model")
    assert found.loc["i = i+", "deviance"] == pytest.approx(three["deviance"] + split, abs=1e-6)
    assert found.loc["as fitted", "deviance"] == pytest.approx(656.555596, abs=1e-6)


def test_scores_that_are_those_of_the_scale_fit_exactly() -> None:
    """Expected counts of a linear scale: the free scores are 1 and 2; and without a middle 1 and 3."""
    for response, scores in ((FIVE, [1.0, 2.0]), (llbt.core.response.graded(2, middle=False), [1.0, 3.0])):
        c = judged(response).pool()
        formula = "object + grade + order" + (" + tie" if response.has_ties else "")
        res = llbt.fit(formula, c)
        exact = replace(c, counts=res.solution.means)
        found = llbt.grade_tests(llbt.fit(formula, exact)).to_frame().set_index("model")
        np.testing.assert_allclose(found.loc["free", ["score i", "score i+"]].to_list(), scores, atol=1e-5)
        assert found.loc["as fitted", "statistic"] == pytest.approx(0.0, abs=1e-7)


def test_what_has_no_scores_to_test_says_so() -> None:
    c = judged()

    def refused(res: LLBTResults, match: str) -> None:
        with pytest.raises(DesignError, match=match):
            llbt.grade_tests(res)

    refused(llbt.fit("object + tie", c.collapse()), r"no grades beyond the first.*from_judgments\(…, strength=…\)")
    refused(llbt.fit("object + tie", c), "has no grade, and tests of scores need it")
    refused(llbt.fit("tie + grade", c), "has no object, and tests of scores need it")
    refused(llbt.fit("object + tie + grade", c, prior=1), "maximum likelihood")


def by_judges(judges: int, copies: int = 1, seed: int = 1) -> Comparisons:
    """Three objects on a linear scale by some judges, who say what they say of a pair several times over."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    u = np.array([0.5, 0.1, -0.2])[pairs] @ [1.0, -1.0]
    p = FIVE.probabilities([u, np.full(3, 0.2), np.full(3, -0.3)])[0].T
    counts = np.array([[rng.multinomial(2, row) for row in p] for _ in range(judges)]) * copies
    labels = np.array(list("ABC"))[np.tile(pairs, (judges, 1))]
    frame = pd.DataFrame(labels, columns=["object_i", "object_j"]).assign(judge=np.repeat(np.arange(judges), 3))
    columns = list(FIVE.outcomes)
    return llbt.from_counts(
        frame.join(pd.DataFrame(counts.reshape(-1, 5), columns=columns)), grades=columns, clusters="judge"
    )


@pytest.mark.parametrize(("model", "group"), [("as fitted", None), ("i = i+", [0, 0])])
def test_flips_are_those_of_the_definition_with_slopes_by_finite_differences(model: str, group: list[int]) -> None:
    c = by_judges(7)
    res = llbt.fit("object + tie + grade", c, cov_type="cluster", groups="judge")
    found = llbt.grade_tests(res).to_frame().set_index("model").loc[model]
    i, j = c.pairs.T

    def logs(x: np.ndarray) -> np.ndarray:
        worth, tie, level, score = np.append(x[:2], 0.0), x[2], x[3], x[4]
        lead = worth[i] - worth[j]
        parts = [score * lead + level, lead, np.full_like(lead, tie), -lead, -score * lead + level]
        return np.stack(parts, axis=1) - np.logaddexp.reduce(np.stack(parts, axis=1), axis=1, keepdims=True)

    def loss(x: np.ndarray, score: float) -> float:
        return -float((c.counts * logs(np.append(x, score))).sum())

    score = 2.0 if group is None else 1.0
    restricted = optimize.minimize(loss, np.zeros(4), args=(score,), method="BFGS", options={"gtol": 1e-7}).x
    at = np.append(restricted, score)
    step = 1e-5 * np.eye(5)
    slopes = np.stack([(logs(at + h) - logs(at - h)) / 2e-5 for h in step], axis=2)
    p, kept = np.exp(logs(at)), c.cluster_counts
    codes, rows = kept.columns[0].codes, kept.rows
    own = np.zeros((7, 5))
    np.add.at(own, codes, np.einsum("nk,nkp->np", kept.counts, slopes[rows]))
    one = np.einsum("sk,skp,skq->spq", p, slopes, slopes)
    each = np.zeros((7, 5, 5))
    np.add.at(each, codes, kept.counts.sum(axis=1)[:, None, None] * one[rows])
    inverse = np.linalg.inv(each.sum(axis=0))
    direction = inverse[4]
    rest = np.linalg.inv(each.sum(axis=0)[:4, :4])
    reached = []
    for signs in itertools.product((1, -1), repeat=7):
        total = np.array(signs) @ own @ direction
        shared = (np.array(signs)[:, None] * (direction @ each)[:, :4]).sum(axis=0)
        reached.append(total**2 / (inverse[4, 4] - shared @ rest @ shared))
    # without a flip nothing is shared: a parameter's efficient score is free of the others
    assert found["statistic"] == pytest.approx(reached[0], rel=1e-4)
    assert found["p_value"] == pytest.approx(np.mean(np.array(reached) >= reached[0] * (1 - 1e-4)), abs=1e-9)


def test_clusters_change_the_test_and_nothing_else() -> None:
    c = by_judges(40)
    plain = llbt.grade_tests(llbt.fit("object + tie + grade", c))
    clustered = llbt.grade_tests(llbt.fit("object + tie + grade", c, cov_type="CR1", groups="judge"))
    same = ["model", "score i", "score i+", "df", "deviance"]
    assert plain.to_frame()[same].equals(clustered.to_frame()[same])
    assert "assume independent judgments" in plain.as_text()
    assert "sign flips of 40 judges' scores" in " ".join(clustered.as_text(notes="all").split())
    # judgments that are independent: both say much the same
    both = [t.to_frame().set_index("model")["p_value"].drop("free") for t in (plain, clustered)]
    np.testing.assert_allclose(both[0], both[1], atol=0.15)


def test_two_ways_of_clustering_are_refused() -> None:
    c = judged()
    two = llbt.from_counts(
        c.to_frame().assign(item=np.arange(len(c)) % 5, judge_=np.arange(len(c)) % 4),
        grades=c.response.outcomes, clusters=["item", "judge_"],
    )  # fmt: skip
    res = llbt.fit("object + tie + grade", two, cov_type="cluster", groups=["item", "judge_"])
    with pytest.raises(DesignError, match="clustered by item and judge_"):
        llbt.grade_tests(res)


@pytest.mark.exhaustive
def test_the_test_of_spacing_has_its_size() -> None:
    """200 tables of a linear scale, 60 judgments per pair and order: 5 % are rejected at 5 %."""
    res = llbt.fit("object + tie + grade + order", judged(FIVE).pool())
    tables = llbt.simulate(res, n=200, rng=7)
    p = [
        llbt.grade_tests(llbt.fit("object + tie + grade + order", c))
        .to_frame()
        .set_index("model")
        .loc["as fitted", "p_value"]
        for c in tables
    ]
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.09
    assert 0.4 <= np.mean(p) <= 0.6
