"""The word `grade`: fits of graded judgments by formula, against R and statsmodels' explicit Poisson GLM."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from support.fits import fit_by
from support.folders import REFERENCE
from support.graded import FIVE, SEVEN, judged, music

import llbt
from llbt import Comparisons
from llbt.core.columns import Coded
from llbt.core.response import THREE, Response, graded
from llbt.errors import FormulaError, JudgmentError, SeparationError

FORMULAS = {
    "m0": "tie + grade",
    "m1": "object + tie + grade",
    "m2": "object * sex + tie + grade",
    "m3": "object * sex + tie * sex + grade * sex",
}


def of_r(name: str) -> str:
    """The name that R's parameter has here."""
    word, _, by = name.partition("_")
    start = {"tie": "tie", "strong": "grade[+]"}.get(word, f"object[{word}]")
    return f"{start}:sex[male]" if by else start


@pytest.mark.parametrize("method", ["eliminate", "glm"])
@pytest.mark.parametrize("model", FORMULAS)
def test_formulas_of_graded_judgments_equal_r(model: str, method: str) -> None:
    expected = json.loads((REFERENCE / "models" / "music_graded_reference.json").read_text())[model]
    res = fit_by(FORMULAS[model], music(), method=method)
    names = [of_r(name) for name in expected["coefficients"]]
    assert sorted(names) == sorted(res.names)
    np.testing.assert_allclose(res.params[names], list(expected["coefficients"].values()), atol=1e-7)
    np.testing.assert_allclose(res.bse[names], list(expected["se"].values()), atol=1e-7)
    assert res.deviance == pytest.approx(expected["deviance"], abs=1e-6)
    assert res.df_resid == expected["df_residual"]
    assert (res.llf_poisson, res.aic_poisson) == (pytest.approx(expected["logLik"]), pytest.approx(expected["AIC"]))


@pytest.mark.parametrize("response", [SEVEN, graded(2, middle=False)], ids=["seven", "no middle"])
@pytest.mark.parametrize("method", ["eliminate", "glm"])
def test_a_formula_with_every_word_equals_the_explicit_poisson_glm(response: Response, method: str) -> None:
    c = judged(response)
    tie = "tie * judge + " if response.has_ties else ""
    res = fit_by(f"object + {tie}grade * judge + order", c, method=method)
    levels = [*(["tie"] if response.has_ties else []), *(f"grade[{level}]" for level in response.grades)]
    names = [f"object[{o}]" for o in "ABC"] + [name for b in levels for name in (b, f"{b}:judge[y]")] + ["order"]
    assert list(res.names) == names
    lines = []
    for s, (i, j) in enumerate(c.pairs):
        for loading in response.loadings:
            worth = loading[0] * (np.eye(4)[i] - np.eye(4)[j])[:3]
            own = [x for level in loading[1:] for x in (level, level * c.columns[0].codes[s])]
            lines.append([*worth, *own, loading[0], *np.eye(len(c))[s]])
    expected = sm.GLM(c.counts.ravel(), np.array(lines), family=sm.families.Poisson()).fit(tol=1e-13, maxiter=100)
    np.testing.assert_allclose(res.params, expected.params[: len(names)], atol=1e-8)
    np.testing.assert_allclose(res.bse, expected.bse[: len(names)], rtol=1e-7)
    assert res.deviance == pytest.approx(expected.deviance, rel=1e-9)
    assert res.df_resid == expected.df_resid


def test_one_grade_is_the_table_of_wins_ties_and_losses() -> None:
    c = judged(graded(1, middle=True))
    assert c.response == THREE
    three = Comparisons(c.objects, c.pairs, c.counts, THREE, keeps_order=True, columns=c.columns)
    one, today = (llbt.fit("object + tie + order", table) for table in (c, three))
    np.testing.assert_allclose(one.params, today.params, atol=1e-10)
    assert llbt.default_formula(c) == "object + tie + order"
    assert llbt.default_formula(judged()) == "object + tie + grade + order"
    with pytest.raises(FormulaError, match=r"not how strongly, .* leave it out, or keep the grades"):
        llbt.fit("object + tie + grade", c)


def test_without_the_word_larger_grades_have_no_effect_of_their_own() -> None:
    c = judged()
    without = llbt.fit("object + tie", c)
    held = llbt.fit("object + tie + grade", c, fixed={"grade[+]": 0.0, "grade[++]": 0.0})
    np.testing.assert_allclose(held.params, without.params.reindex(held.names).fillna(0.0), atol=1e-9)
    assert "Grades: i++ > i+ > i > tie > j > j+ > j++, " in str(without.summary())
    assert "beyond the first, not modelled (γ = 0); add + grade" in " ".join(str(without.summary()).split())
    assert "not modelled" not in str(llbt.fit("object + tie + grade", c).summary())


def test_terms_of_grades_are_tested_as_other_terms_are() -> None:
    c = judged()
    res = llbt.fit("object + tie + grade * judge", c)
    small = llbt.fit("object + tie + grade", c)
    dropped = llbt.drop1(res).to_frame().set_index("term")
    assert dropped.loc["grade:judge", "df"] == 2
    assert dropped.loc["grade:judge", "statistic"] == pytest.approx(small.deviance - res.deviance, abs=1e-8)
    assert res.design.terms.count("grade") == 2


def test_what_grade_cannot_say() -> None:
    c = judged()
    with pytest.raises(FormulaError, match=r"grade:object has no meaning"):
        llbt.fit("object + grade:object", c)
    with pytest.raises(FormulaError, match=r"describes ties \(tie\) or grades \(grade\), not both"):
        llbt.fit("object + tie:grade", c)
    with pytest.raises(FormulaError, match="'grade' cannot be transformed"):
        llbt.fit("object + np.exp(grade)", c)
    with pytest.raises(JudgmentError, match="'grade' is a word that llbt uses itself"):
        replace(c, columns=(Coded("grade", np.array(["x"], dtype=object), np.zeros(len(c), dtype=int)),))


def separated(formula: str, c: Comparisons) -> str:
    with pytest.raises(SeparationError) as caught:
        llbt.fit(formula, c)
    return str(caught.value)


def test_grades_that_were_never_used_are_named() -> None:
    c = judged()
    judge = c.columns[0].codes
    total = int(c.n_judgments)

    def without(outcomes: list[int], judges: tuple[int, ...]) -> Comparisons:
        counts, spread = c.counts.copy(), [k for k in range(7) if k not in outcomes]
        rows = np.isin(judge, judges)
        counts[rows, spread[1]] += counts[rows][:, outcomes].sum(axis=1)
        counts[np.ix_(np.flatnonzero(rows), outcomes)] = 0
        return replace(c, counts=counts)

    never = separated("object + tie + grade", without([0, 6], (0, 1)))
    assert f"the table has no i++ or j++ among {total:,} judgments, so grade[++] is −∞" in never
    assert "Make the table without the outcome that never occurred" in never
    told = without([0, 6], (0, 1))
    llbt.fit("object + tie + grade", replace(told, counts=told.counts[:, 1:6], response=FIVE))  # as it says
    llbt.fit("object + tie", told.collapse())
    by_one = separated("object + tie + grade * judge", without([1, 5], (1,)))
    assert "judge 'y' has no i+ or j+ among" in by_one
    assert "so grade[+]:judge[y] is −∞" in by_one
    assert "Use one effect of each grade (grade), or merge the levels of 'judge'" in by_one
    no_first = separated("object + tie + grade", without([2, 4], (0, 1)))
    assert "the table has no i or j among" in no_first
    assert "'tie', 'grade[+]', 'grade[++]' have no finite estimate" in no_first
    assert "the table has no ties among" in separated("object + tie + grade", without([3], (0, 1)))
    llbt.fit("object + tie + grade", without([1, 5], (1,)))  # of all judges together it exists


def test_every_grade_is_predicted_and_printed() -> None:
    c = judged()
    res = llbt.fit("object + tie + grade * judge + order", c)
    at = res.predict(at={"judge": "y"}).to_frame()
    assert at["outcome"].tolist()[:7] == list(SEVEN.outcomes)
    own = res.predict().to_frame()
    same = own[own["judge"] == "y"].merge(at, on=["object_i", "object_j", "outcome"], suffixes=("", "_at"))
    np.testing.assert_allclose(same["estimate"], same["estimate_at"], atol=1e-12)
    asked = res.predict(pd.DataFrame({"object_i": ["B"], "object_j": ["A"], "judge": ["x"]})).to_frame()
    lead = res.params["object[B]"] - res.params["object[A]"] + res.params["order"]
    shared = {"tie": res.params["tie"], "+": res.params["grade[+]"], "++": res.params["grade[++]"]}
    logs = np.array([3, 2, 1, 0, -1, -2, -3]) * lead
    logs += [shared["++"], shared["+"], 0, shared["tie"], 0, shared["+"], shared["++"]]
    np.testing.assert_allclose(asked["estimate"], np.exp(logs) / np.exp(logs).sum(), rtol=1e-9)
    printed = str(res.summary())
    assert "grade[++]:judge[y]" in printed
    assert "exp(2δ) of order, exp(γ) of ties, grades; interactions multiply." in printed
    odds = res.summary().to_frame().set_index("term")["odds"]
    assert odds["grade[+]"] == pytest.approx(np.exp(res.params["grade[+]"]))
    simulated = llbt.fit("object + tie + grade * judge + order", llbt.simulate(res, n=1, rng=2)[0])
    assert (np.abs(simulated.params - res.params) < 4 * res.bse).all()
