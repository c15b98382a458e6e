"""Calls of every public function that are right, and what they are made with."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

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
    llbt.subset_correlations: lambda: ([METRIC, HUMAN], {"subsets": "sampled", "n": 3, "rng": 1}),
    llbt.soft_pairwise_accuracy: lambda: ([X, Z], {"n": 3, "rng": 1}),
    llbt.tie_calibrated_accuracy: lambda: ([METRIC, HUMAN], {}),
    llbt.williams_test: lambda: ([0.5, 0.4, 0.3, 20], {}),
    llbt.Comparisons.to_frame: lambda: ([counts()], {}),
    llbt.LLBTResults.conf_int: lambda: ([fitted()], {}),
    llbt.LLBTResults.t_test: lambda: ([fitted(), "tie"], {}),
    llbt.LLBTResults.predict: lambda: ([fitted()], {}),
    llbt.LLBTResults.summary: lambda: ([fitted()], {}),
}
