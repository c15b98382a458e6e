"""Free and merged scores of grades, against scipy's maximum of all parameters together, and against R."""

import json
from dataclasses import replace

import numpy as np
import pytest
from fitting.test_graded_formulas import FIVE, judged, music
from scipy import optimize, stats
from support.folders import REFERENCE

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

    refused(llbt.fit("object + tie", c.collapse()), "no grades beyond the first")
    refused(llbt.fit("object + tie", c), "has no grade, beside which")
    refused(llbt.fit("tie + grade", c), "has no object, beside which")
    refused(llbt.fit("object + tie + grade", c, prior=1), "maximum likelihood")


@pytest.mark.slow
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
