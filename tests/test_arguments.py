"""Every public function refuses flags, counts, shares and options that are none, and names the argument."""

from __future__ import annotations

import inspect
import io
import math
import typing
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import llbt

JUDGMENTS = pd.DataFrame(
    {
        "object_i": list("ABCABCABCABC") * 2,
        "object_j": list("BCABCABCABCA") * 2,
        "outcome": ["i", "j", "tie", "j", "i", "i", "i", "i", "i", "j", "j", "tie"] * 2,
        "judge": ["J1"] * 12 + ["J2"] * 12,
        "prompt": [k // 3 for k in range(12)] * 2,
        "block": list(range(24)),
    }
)
RANKINGS = pd.DataFrame({"A": [1, 2, 1, 3], "B": [2, 1, 3, 1], "C": [3, 3, 2, 2]})
RATINGS = pd.DataFrame({"judge": ["J1", "J1", "J2", "J2"], "object": list("ABAB"), "rating": [5, 4, 2, 4]})
SCORES = pd.DataFrame(np.random.default_rng(1).normal(size=(12, 3)), columns=list("ABC"))
X, Y, Z = np.random.default_rng(2).normal(size=(3, 6, 8))
AGREE = [0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1]
DIFFERENCES = [0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4]
TESTS = ([2.1, -0.3, 1.0], [0.001, 0.4, 0.03], [0.2, -0.1, 0.0], [0.01, 0.02, 0.9])
METRIC, HUMAN = [31.0, 28.0, 30.0, 27.0, 10.0], [0.3, 0.2, 0.1, 0.0, -1.4]


@cache
def counts() -> llbt.Comparisons:
    return llbt.from_judgments(JUDGMENTS, covariates="judge")


@cache
def fitted() -> llbt.LLBTResults:
    return llbt.fit("object + tie", counts())


@cache
def by_judge() -> llbt.LLBTResults:
    return llbt.fit("object * judge + tie * judge", counts())


@cache
def metric_scores() -> llbt.MetricScores:
    return llbt.MetricScores.from_matrices({"x": X, "y": Y}, Z)


@cache
def metric_comparisons() -> llbt.MetricComparisons:
    return llbt.compare_all_metrics(metric_scores(), n=3, rng=1)


@cache
def score_pairs() -> llbt.PairwiseScores:
    return llbt.pairwise_scores(SCORES)


# What each function is called with: arguments with which it answers.
CALLS: dict[Callable[..., Any], Callable[[], tuple[list[Any], dict[str, Any]]]] = {
    llbt.from_counts: lambda: ([counts().pool().to_frame()], {}),
    llbt.from_judgments: lambda: ([JUDGMENTS], {}),
    llbt.load_dataset: lambda: (["dras_modpref"], {}),
    llbt.rank_distribution: lambda: ([llbt.bootstrap(fitted(), n=3, rng=1)], {}),
    llbt.Comparisons.pool: lambda: ([counts()], {}),
    llbt.from_matrix: lambda: ([[[0, 7], [3, 0]]], {"names": ["A", "B"]}),
    llbt.from_rankings: lambda: ([RANKINGS], {"objects": list("ABC")}),
    llbt.from_ratings: lambda: ([RATINGS], {}),
    llbt.from_scores: lambda: ([SCORES], {}),
    llbt.read_table: lambda: ([io.BytesIO(b"a,b\n1,2\n")], {}),
    llbt.read_judgments: lambda: ([JUDGMENTS], {}),
    llbt.audit: lambda: ([JUDGMENTS], {}),
    llbt.fit: lambda: (["object + tie", counts()], {}),
    llbt.LLBT.fit: lambda: ([llbt.LLBT.from_formula("object + tie", counts())], {}),
    llbt.contrasts: lambda: ([fitted(), {"A": {"A": 1, "B": -1}}], {}),
    llbt.leaderboard: lambda: ([fitted()], {}),
    llbt.level_tests: lambda: ([fitted()], {}),
    llbt.pairwise: lambda: ([fitted()], {}),
    llbt.plot_intervals: lambda: ([fitted()], {}),
    llbt.plot_judges: lambda: ([by_judge()], {}),
    llbt.plot_network: lambda: ([fitted()], {}),
    llbt.plot_outcomes: lambda: ([counts()], {}),
    llbt.plot_probabilities: lambda: ([fitted()], {}),
    llbt.plot_ties: lambda: ([by_judge()], {}),
    llbt.plot_worth: lambda: ([fitted()], {}),
    llbt.quasi_variances: lambda: ([fitted()], {}),
    llbt.rank_intervals: lambda: ([fitted()], {}),
    llbt.worth: lambda: ([fitted()], {}),
    llbt.add1: lambda: ([fitted(), "judge:object"], {}),
    llbt.anova: lambda: ([fitted(), by_judge()], {}),
    llbt.drop1: lambda: ([fitted()], {}),
    llbt.goodness_of_fit: lambda: ([fitted()], {}),
    llbt.influence: lambda: ([fitted()], {}),
    llbt.plot_residuals: lambda: ([fitted()], {}),
    llbt.residual_table: lambda: ([fitted()], {}),
    llbt.bootstrap: lambda: ([fitted()], {"n": 3, "rng": 1}),
    llbt.simulate: lambda: ([fitted()], {}),
    llbt.interpret: lambda: ([fitted()], {}),
    llbt.model_table: lambda: ([[fitted()]], {}),
    llbt.write_report: lambda: ([counts()], {}),
    llbt.agreement: lambda: ([JUDGMENTS], {"unit": "prompt"}),
    llbt.judge_summary: lambda: ([counts()], {}),
    llbt.durbin_test: lambda: ([RANKINGS], {"objects": list("ABC")}),
    llbt.friedman_test: lambda: ([RANKINGS], {"objects": list("ABC")}),
    llbt.skillings_mack_test: lambda: ([RANKINGS], {"objects": list("ABC")}),
    llbt.page_test: lambda: ([RANKINGS], {"objects": list("ABC"), "order": list("ABC")}),
    llbt.head_to_head: lambda: ([counts()], {}),
    llbt.llbt_test: lambda: ([counts().pool()], {}),
    llbt.mcnemar_test: lambda: ([[[101, 121], [59, 33]]], {}),
    llbt.minimum_feedback_order: lambda: ([counts()], {}),
    llbt.ranking_readings: lambda: ([JUDGMENTS], {}),
    llbt.ranking_scores: lambda: ([JUDGMENTS], {}),
    llbt.shown_with: lambda: ([JUDGMENTS], {"reference": "A"}),
    llbt.sign_test: lambda: ([counts()], {}),
    llbt.power: lambda: ([], {"judgments": [20], "n": 3, "rng": 1}),
    llbt.power_grid: lambda: ([], {"judgments": [20], "n": 3, "rng": 1}),
    llbt.aggregate: lambda: ([SCORES], {}),
    llbt.aggregate_methods: lambda: ([SCORES], {"rng": 1}),
    llbt.aggregate_setups: lambda: ([{"one": SCORES}], {"rng": 1}),
    llbt.pairwise_scores: lambda: ([SCORES], {}),
    llbt.plot_differences: lambda: ([SCORES, "A", "B"], {}),
    llbt.plot_paired: lambda: ([SCORES, "A", "B"], {}),
    llbt.plot_ranks_by_method: lambda: ([llbt.aggregate_methods(SCORES, rng=1)], {}),
    llbt.plot_win_probabilities: lambda: ([score_pairs()], {}),
    llbt.simulate_scores: lambda: ([], {"n_systems": 3, "n_instances": 20, "rng": 1}),
    llbt.compare_all_metrics: lambda: ([metric_scores()], {"n": 3, "rng": 1}),
    llbt.compare_metrics: lambda: ([X, Y, Z], {"n": 3, "rng": 1}),
    llbt.correlate: lambda: ([X, Z], {}),
    llbt.correlation_interval: lambda: ([X, Z], {"n": 3, "rng": 1}),
    llbt.correlation_without_outliers: lambda: ([METRIC, HUMAN], {}),
    llbt.decision_table: lambda: ([X, Z], {}),
    llbt.decisions_from_tests: lambda: ([*TESTS], {}),
    llbt.difference_curve: lambda: ([DIFFERENCES, AGREE], {"bins": 3}),
    llbt.interval_coverage: lambda: ([X, Z], {"methods": ["boot-both"], "n": 3, "n_trials": 2, "rng": 1}),
    llbt.metric_power: lambda: ([X, Z], {"methods": ["boot"], "degraded": [0.5], "n": 3, "n_trials": 2, "rng": 1}),
    llbt.outliers: lambda: ([HUMAN], {}),
    llbt.pairwise_accuracy: lambda: ([METRIC, HUMAN], {}),
    llbt.plot_difference_curve: lambda: ([llbt.difference_curve(DIFFERENCES, AGREE, bins=3)], {}),
    llbt.plot_significance: lambda: ([metric_comparisons()], {}),
    llbt.rolling_correlations: lambda: ([METRIC, HUMAN], {}),
    llbt.sampled_correlations: lambda: ([METRIC, HUMAN], {"n": 3, "rng": 1}),
    llbt.soft_pairwise_accuracy: lambda: ([X, Z], {"n": 3, "rng": 1}),
    llbt.tie_calibrated_accuracy: lambda: ([METRIC, HUMAN], {}),
    llbt.top_correlations: lambda: ([METRIC, HUMAN], {}),
    llbt.williams_test: lambda: ([0.5, 0.4, 0.3, 20], {}),
    llbt.Comparisons.to_frame: lambda: ([counts()], {}),
    llbt.LLBTResults.conf_int: lambda: ([fitted()], {}),
    llbt.LLBTResults.t_test: lambda: ([fitted(), "tie"], {}),
    llbt.LLBTResults.predict: lambda: ([fitted()], {}),
    llbt.LLBTResults.summary: lambda: ([fitted()], {}),
}

PUBLIC = [
    *(function for name in llbt.__all__ if inspect.isfunction(function := getattr(llbt, name))),
    *(
        function
        for owner in (llbt.Comparisons, llbt.LLBT, llbt.LLBTResults)
        for name, function in vars(owner).items()
        if inspect.isfunction(function) and not name.startswith("_")
    ),
]
NO_FLAG: tuple[Any, ...] = ("no", "yes", 1, 0, None, [], math.nan)
NO_COUNT: tuple[Any, ...] = ("many", True, 2.5, -2, math.nan, math.inf, 1j)
NO_JOBS: tuple[Any, ...] = ("many", True, 2.5, 0, math.nan, 1j)
NO_NUMBER: tuple[Any, ...] = ("x", True, math.nan, math.inf, -math.inf, 0.5j)
NO_SHARE: tuple[Any, ...] = (1, 2, 95, -0.5)
NO_OPTION: tuple[Any, ...] = ("nonsense", 3, True, ["nonsense"])
NO_NAME: tuple[Any, ...] = (3, True, 0.5, {"a": 1})
NO_SEED: tuple[Any, ...] = ("x", -1, 0.5, True, [1])
SHARES = {"confidence", "alpha", "target", "tie_share"}
SAID_OTHERWISE = {
    "formula",
    "scope",
    "hypothesis",
    "file",
    "name",
    "names",
}  # what they may be is tested with formulas and files
MEANT = (
    (llbt.minimum_feedback_order, "time_limit", math.inf),  # no limit
    *((llbt.williams_test, name, math.nan) for name in ("r_x", "r_y", "r_xy")),  # an undefined correlation has no test
)


def kinds(function: Callable[..., Any], name: str) -> set[Any]:
    """Return the types that an argument may have; a Literal stands for itself."""
    annotation = inspect.signature(function).parameters[name].annotation
    try:
        return set(_flat(eval(annotation, dict(function.__globals__)) if isinstance(annotation, str) else annotation))
    except NameError:  # a type of drawing or files, imported for the annotation alone
        return set()


def _flat(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) in (typing.Union, type(int | str)):
        for part in typing.get_args(annotation):
            yield from _flat(part)
    else:
        yield Literal if typing.get_origin(annotation) is Literal else annotation


def bad_values(function: Callable[..., Any], name: str) -> tuple[Any, ...]:
    """Return what an argument cannot be, by what it can be."""
    found = kinds(function, name)
    if name in SAID_OTHERWISE or {bool, str} <= found:  # labels may be anything
        return ()
    choices: list[tuple[bool, tuple[Any, ...]]] = [
        (np.random.Generator in found, NO_SEED),
        (bool in found, NO_FLAG),
        (float in found and name in SHARES, (*NO_NUMBER, *NO_SHARE)),
        (float in found, NO_NUMBER),
        (name == "n_jobs", NO_JOBS),
        (int in found, NO_COUNT),
        (Literal in found, NO_OPTION),
        (str in found, NO_NAME),
    ]
    values = next((values for asked, values in choices if asked), ())
    return tuple(value for value in values if (function, name, value) not in MEANT)


ARGUMENTS = [
    (function, name)
    for function in PUBLIC
    for name in inspect.signature(function).parameters
    if bad_values(function, name)
]


@pytest.mark.parametrize(("function", "name"), ARGUMENTS, ids=[f"{f.__qualname__}-{name}" for f, name in ARGUMENTS])
def test_what_is_no_such_argument_is_refused_by_its_name(
    function: Callable[..., Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for value in bad_values(function, name):
        given, named = CALLS[function]()
        parameters = inspect.signature(function).parameters
        if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            given.append(value)
        elif parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY and list(parameters).index(name) < len(given):
            given[list(parameters).index(name)] = value
        else:
            named[name] = value
        with pytest.raises(llbt.LLBTError, match=name):
            function(*given, **named)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__qualname__)
def test_the_calls_have_answers(function: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a refusal would say nothing of the argument."""
    monkeypatch.chdir(tmp_path)
    given, named = CALLS[function]()
    assert function(*given, **named) is not None
    plt.close("all")


@pytest.mark.parametrize("value", [np.True_, np.False_])
def test_flags_of_numpy_are_flags(value: np.bool_) -> None:
    assert llbt.from_judgments(JUDGMENTS, order=value).keeps_order is bool(value)
