"""Worths that are a part of another kind of answer: they answer what worths tell, and refuse what that kind refuses."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from support.calls import CALLS, JUDGMENTS, counts, discriminating, found_classes, patterns
from support.large import few_are_many
from support.mixed import judged_frame
from support.surface import public

import llbt
from llbt.errors import DesignError, OptionError
from llbt.fitting.attributes import Lacking
from llbt.fitting.fit_part import FitPart
from llbt.fitting.plain_estimates import PlainEstimates
from llbt.judges.calibrate import Calibration
from llbt.judges.class_fit import LatentClasses

_FITS = ("Results", "PlainFit", "PairFit", "EffectsFit", "DiscriminationsFit", "AnyFit", "WithWorths")


def _kinds(function: Any) -> str:
    return " ".join(str(p.annotation) for p in inspect.signature(function).parameters.values())


TAKING = {
    name: function
    for name, function in public().items()
    if inspect.isfunction(function) and "." not in function.__qualname__ and any(k in _kinds(function) for k in _FITS)
} | {"write_report": llbt.write_report}
BY_WORTHS = frozenset(name for name, function in TAKING.items() if "FitPart" in _kinds(function))
OWN: dict[str, Callable[[Any], tuple[list[Any], dict[str, Any]]]] = {  # other calls than those of plain fits
    "add1": lambda res: ([res, "tie"], {}),
    "anova": lambda res: ([res, res], {}),
    "contrasts": lambda res: ([res, {"A": {res.comparisons.objects[0]: 1, res.comparisons.objects[1]: -1}}], {}),
    "held_out": lambda res: ([[res]], {}),
    "intransitivity": lambda res: ([res], {}),
    "judges.summary": lambda res: ([counts()], {"model": res}),
    "plot.judge_effects": lambda res: ([res], {}),
}


class Case(NamedTuple):
    """An answer and the worths that are a part of it."""

    whole: Any
    part: FitPart


@cache
def mixed() -> llbt.MixedResults:
    c = llbt.from_counts(judged_frame(12, 0.8, seed=3), clusters="judge")
    found = llbt.fit("object + tie + (object | judge)", c)
    assert isinstance(found, llbt.MixedResults)
    return found


@cache
def objects_differ() -> llbt.MixedResults:
    """Objects of which the price says nothing."""
    rows = [("A", "B", 10, 90), ("A", "C", 50, 50), ("A", "D", 50, 50), ("B", "C", 90, 10), ("B", "D", 90, 10)]
    frame = pd.DataFrame([*rows, ("C", "D", 50, 50)], columns=["object_i", "object_j", "wins_i", "wins_j"])
    price = pd.DataFrame({"object": list("ABCD"), "price": [1.0, 2.0, 3.0, 4.0]})
    found = llbt.fit("price + (1 | object)", llbt.from_counts(frame, object_covariates=price))
    assert isinstance(found, llbt.MixedResults)
    return found


@cache
def lists() -> llbt.RankingResults:
    ranks = np.array([[1, 2, 3], [2, 1, 3], [1, 3, 2], [3, 1, 2], [2, 3, 1], [1, 2, 3], [1, 2, 2]])
    frame = pd.DataFrame(ranks, columns=list("ABC")).assign(judge=list("JJKKLLL"))
    r = llbt.from_rankings(frame, objects=list("ABC"), clusters="judge")
    return llbt.fit("object + tie", r)


@cache
def dependent() -> llbt.PatternResults:
    rng = np.random.default_rng(3)
    ranks = np.argsort(np.argsort(rng.gumbel(size=(60, 3)) + np.array([0.5, 0.2, 0.0]), axis=1), axis=1) + 1
    frame = pd.DataFrame(ranks, columns=list("ABC"))
    return llbt.fit("object", llbt.from_patterns(frame, "rankings", objects=list("ABC")))


@cache
def large() -> llbt.LargeResults:
    with few_are_many(2):
        found = llbt.fit("object + tie", llbt.from_judgments(JUDGMENTS))
    assert isinstance(found, llbt.LargeResults)
    return found


@cache
def calibrated() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return llbt.judges.calibrate(JUDGMENTS[:16], JUDGMENTS.assign(judge="m"), unit="block")


CASES: dict[str, Callable[[], Case]] = {
    "mixed.average": lambda: Case(mixed(), mixed().average),
    "objects.average": lambda: Case(objects_differ(), objects_differ().average),
    "discrimination.average": lambda: Case(discriminating(), discriminating().average),
    "rankings.average": lambda: Case(lists(), lists().average),
    "patterns.average": lambda: Case(dependent(), dependent().average),
    "large.beside": lambda: Case(large(), large().beside),
    "calibrated.results": lambda: Case(calibrated(), calibrated().results),
    "calibrated.labels": lambda: Case(calibrated(), calibrated().labels),
    "calibrated.machines": lambda: Case(calibrated(), calibrated().machines),
    "class": lambda: Case(found_classes(), found_classes().results(1)),
}
HAVE_WORTHS = [name for name in CASES if name != "large.beside"]


def ask(name: str, res: Any) -> Any:
    if name in OWN:
        args, options = OWN[name](res)
    else:
        args, options = CALLS[TAKING[name]]()
        args = [[res] if isinstance(value, list) else res, *args[1:]] if (value := args[0]) is not None else args
    return TAKING[name](*args, **options)


def refusal(name: str, res: Any) -> OptionError:
    """Return the error of a question; that it answers is a failure that names it."""
    try:
        ask(name, res)
    except OptionError as error:
        return error
    pytest.fail(f"{name} answers")


@pytest.mark.parametrize("case", CASES)
def test_what_needs_more_than_worths_is_refused_and_asked_of_the_whole(case: str) -> None:
    """By its type; the words are to pass the whole."""
    whole, part = CASES[case]()
    for name in sorted(set(TAKING) - BY_WORTHS):
        error = refusal(name, part)
        assert "FitPart" in error.found, name
        assert error.remedy == f"Pass the whole result, as {type(whole)._made_by} returned it.", name


def slow_if(slow: Callable[[str], bool], names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.slow] if slow(name) else []) for name in sorted(names)]


@pytest.mark.parametrize("name", slow_if(lambda name: name in ("plot.intervals", "plot.worth"), BY_WORTHS))
def test_what_worths_tell_is_the_answer_of_the_whole(name: str) -> None:
    drawn = name.startswith("plot.")
    for case in ["rankings.average"] if drawn else HAVE_WORTHS:
        if name == "quasi_variances" and len(CASES[case]().part.comparisons.objects) < 3:
            continue
        whole, part = CASES[case]()
        found = ask(name, part)
        if case.endswith("average") and not drawn:
            pd.testing.assert_frame_equal(found.to_frame(), ask(name, whole).to_frame())


def test_worths_of_calibrated_results_are_those_of_its_table() -> None:
    table = calibrated().to_frame().set_index("object")
    lam = llbt.worth(calibrated().results, scale="log_worth").to_frame().set_index("object")["estimate"]
    np.testing.assert_allclose(lam - lam.mean(), table.loc[lam.index, "estimate"], atol=1e-12)


def test_parameters_beside_very_many_worths_have_none() -> None:
    with pytest.raises(DesignError, match=r"has no term for the worths.*Pass the whole"):
        llbt.worth(large().beside)


ALONE = {  # attributes of estimates, and of the table that stands beside them
    "aliased", "answers", "bse", "counts", "df_inference", "estimated", "fixed", "formula", "log_linear", "n_params",
    "names", "objects", "params", "pvalues", "reference", "response", "tvalues", "worth_df_inference",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_attributes_are_of_estimates_alone(case: str) -> None:
    """Counts and likelihoods are no attributes; of the whole's own attributes it is said that they are its."""
    whole, part = CASES[case]()
    members = inspect.getmembers(PlainEstimates)
    found = [name for name, value in members if isinstance(value, property) and name[0] != "_"]
    assert set(found) >= ALONE | {"llf", "aic", "bic", "deviance", "df_resid", "hat_diag"}
    for name in found:
        if name in ALONE:
            getattr(part, name)
            continue
        with pytest.raises(AttributeError) as error:
            getattr(part, name)
        given = inspect.getattr_static(type(whole), name, None)
        if isinstance(given, Lacking):
            assert f"{type(whole).__name__} has no {name}" in str(error.value)
        elif given is not None:
            assert f"{name} belongs to the whole {type(whole).__name__}" in str(error.value)
        else:
            assert f"FitPart has no attribute {name!r}" in str(error.value)
        assert "average" not in str(error.value)
    with pytest.raises(AttributeError, match="to_glm"):
        part.to_glm()


@pytest.mark.parametrize("case", CASES)
def test_the_printout_has_no_deviance_and_no_test_of_fit(case: str) -> None:
    _, part = CASES[case]()
    text = part.as_text()
    assert "Not a fit of its own" in text
    assert not re.search(r"Residual deviance|Pearson|AIC|χ² test|log-likelihood:|goodness_of_fit", text)
    assert "goodness_of_fit" not in part._repr_html_()
    kept = pickle.loads(pickle.dumps(part))
    assert kept.whole is part.whole is type(CASES[case]().whole)
    assert kept.as_text() == text


@pytest.mark.parametrize("case", CASES)
def test_profile_intervals_are_refused_with_a_reason(case: str) -> None:
    """By the whole, where it has none, as by its worths; what to ask in their place answers."""
    whole, part = CASES[case]()
    given = [part, whole] if isinstance(whole, llbt.LargeResults | Calibration | LatentClasses) else [part]
    for res in given:
        with pytest.raises(OptionError, match=r"method='profile', but .*no profile.* intervals.*conf_int") as error:
            res.conf_int(method="profile")
        assert type(whole).__name__ in error.value.found
        pd.testing.assert_frame_equal(res.conf_int(method="wald"), res.conf_int())
    for call in re.findall(r"res\.\w+\([^()]*\)", error.value.remedy):
        assert eval(call, {"res": given[-1]}) is not None


def test_a_bootstrap_of_patterns_no_longer_answers_from_pairs() -> None:
    """The estimate was .684 and its interval .859 to 1.309: resampled pairs are no model of rankings."""
    with pytest.raises(OptionError, match="PatternResults"):
        llbt.bootstrap(llbt.fit("object", patterns()).average, n=5, rng=1)


def test_a_leaderboard_says_what_its_counts_are_of() -> None:
    """Of calibrated worths those of people and machines together, of a class weighted judgments."""
    board = llbt.leaderboard(calibrated().results)
    assert "Note: counts are the judgments of people and of machines together" in board.as_text()
    judged = board.to_frame()["judgments"].sum() / 2
    assert judged == calibrated().results.comparisons.n_judgments == 16 + len(JUDGMENTS)
    weighted = llbt.leaderboard(found_classes().results(1)).as_text()
    assert "each judgment counts with the probability that its judge belongs to class 1" in weighted
    assert "counts" not in llbt.leaderboard(mixed()).as_text()
