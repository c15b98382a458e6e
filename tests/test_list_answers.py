"""Every public function that takes a fit, asked of one of lists: it answers, or says why not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.calls import CALLS
from support.surface import public

import llbt
from llbt.base.arguments import filled
from llbt.errors import OptionError
from llbt.fitting.unsupported_questions import OF_LISTS

_FITS = ("PlainFit", "PairFit", "EffectsFit", "AnyFit", "WithWorths")
TAKING = {
    name: function
    for name, function in public().items()
    if inspect.isfunction(function)
    and any(kind in str(p.annotation) for p in inspect.signature(function).parameters.values() for kind in _FITS)
}
OWN = {
    "anova": lambda res: ([llbt.fit("skill", res.rankings), res], {}),
    "intransitivity": lambda res: ([res], {}),
    "judges.summary": lambda res: ([res.comparisons], {"model": res}),
}


def frame(number: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    said = np.array([0.8, 0.2, -0.3]) + rng.gumbel(size=(number, 3))
    ranks = np.argsort(np.argsort(-said, axis=1), axis=1) + 1
    return pd.DataFrame(ranks, columns=list("ABC")).assign(judge=[f"J{k % 9}" for k in range(number)])


@pytest.fixture(scope="module")
def res() -> llbt.RankingResults:
    skill = pd.DataFrame({"object": list("ABC"), "skill": [3.0, 2.0, 1.5]})
    r = llbt.from_rankings(frame(), objects=list("ABC"), covariates="judge", object_covariates=skill)
    return llbt.fit("object", r)


def _call(name: str, res: llbt.RankingResults) -> Any:
    if name in OWN:
        args, options = OWN[name](res)
    else:
        args, options = CALLS[TAKING[name]]()
        args = [_in_place(value, res) for value in args]
    return TAKING[name](*args, **options)


def _in_place(value: Any, res: llbt.RankingResults) -> Any:
    if isinstance(value, list) and value and type(value[0]).__name__.endswith("Results"):
        return [res, res]
    return res if type(value).__name__.endswith("Results") else value


SLOW = {"residuals": [pytest.mark.slow]}  # their tests of fit draw tables


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in sorted(TAKING)])
def test_a_fit_of_lists_is_answered_or_told_why_not(name: str, res: llbt.RankingResults) -> None:
    if name not in OF_LISTS:
        assert _call(name, res) is not None
        return
    with pytest.raises(OptionError) as error:
        _call(name, res)
    found, remedy = OF_LISTS[name]
    assert (error.value.found, error.value.remedy) == (found, filled(remedy, res))
    assert "RankingResults" not in str(error.value)


def test_the_table_of_refusals_has_no_function_that_answers() -> None:
    assert set(OF_LISTS) <= {*TAKING, "LLBTResults.predict"}


def test_the_way_out_is_one(res: llbt.RankingResults) -> None:
    """What refusals tell to ask in their place is answered."""
    plain = llbt.fit("object", res.comparisons)
    assert llbt.residuals(plain) is not None
    assert llbt.intransitivity(res.comparisons) is not None
    assert llbt.plot.network(plain) is not None


def test_a_question_is_a_function(res: llbt.RankingResults) -> None:
    with pytest.raises(AttributeError, match=r"llbt.worth\(res\)"):
        res.worth  # noqa: B018
    with pytest.raises(AttributeError, match=r"llbt.drop1\(res\)"):
        res.drop1  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'grade_tests'"):
        res.grade_tests  # noqa: B018


def test_a_fit_of_lists_in_words() -> None:
    ties = frame().replace({"A": {3: 2}, "C": {3: 2}})
    r = llbt.from_rankings(ties, objects=list("ABC"), covariates="judge")
    res = llbt.fit("object + tie", r, prior=0.5, cov_type="cluster", groups="judge")
    said = llbt.interpret(res)
    assert said.sentences["model"] == (
        "A Plackett-Luce model (object + tie) was fitted to 90 lists of 3 objects, with a prior of 0.500 wins and as "
        "many losses of each object; standard errors allow for dependence within judge."
    )
    delta = float(np.exp(res.params["tie"]))
    assert said.figures["odds of 2 tied"] == pytest.approx(delta)
    counts = [len(set(row)) for row in ties[list("ABC")].to_numpy().tolist()]
    assert said.figures["share of shared places"] == pytest.approx(sum(n < 3 for n in counts) / sum(counts), abs=1e-12)
    assert "Whether judgments differ by judge was not modelled." in said.text
    best, second, _ = sorted([*res.params[["object[A]", "object[B]"]], 0.0], reverse=True)
    assert said.figures["odds first"] == pytest.approx(float(np.exp(2 * (best - second))))


def test_lists_where_comparisons_are_asked_for_are_sent_on() -> None:
    r = llbt.from_rankings(frame(), objects=list("ABC"), clusters="judge")
    with pytest.raises(OptionError, match=r"llbt\.fit\(formula, rankings\)"):
        llbt.judges.classes("object", r)


def test_names_and_the_order_of_rows_change_nothing() -> None:
    """Other labels, another reference, rows in another order or given twice: the same log-worths and δ."""
    rng = np.random.default_rng(6)
    said = -np.round(np.array([0.6, 0.1, -0.5]) + rng.gumbel(size=(80, 3)))
    places = pd.DataFrame([np.unique(row, return_inverse=True)[1] + 1 for row in said], columns=list("ABC"))
    plain = llbt.fit("object + tie", llbt.from_rankings(places, objects=list("ABC")))
    worths = np.append(plain.params.iloc[:2], 0.0)
    turned = places.rename(columns={"A": "Z", "B": "Y", "C": "X"}).sample(frac=1, random_state=1)
    other = llbt.fit("object + tie", llbt.from_rankings(turned, objects=list("XYZ")), reference="Y")
    found = [other.params["object[Z]"], 0.0, other.params["object[X]"]]
    np.testing.assert_allclose(np.array(found) - found[2], worths - worths[2], atol=1e-9)
    np.testing.assert_allclose(other.params.iloc[2:], plain.params.iloc[2:], atol=1e-9)
    assert other.llf == pytest.approx(plain.llf, abs=1e-9)
    twice = llbt.fit("object + tie", llbt.from_rankings(pd.concat([places, places]), objects=list("ABC")))
    np.testing.assert_allclose(twice.params, plain.params, atol=1e-9)
    np.testing.assert_allclose(twice.bse * np.sqrt(2), plain.bse, rtol=1e-8)
