"""Calls of every public function that are right, and what they are made with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import llbt
from llbt.judges.class_fit import LatentClasses
from llbt.metrics.compare_all import MetricComparisons
from llbt.scores.cost_frontier import CostFrontier
from llbt.scores.pairwise_records import PairwiseScores

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

SETS = pd.DataFrame(
    {"one": list("AB"), "two": list("BC"), "three": list("CA"), "best": list("AB"), "worst": list("BC")}
)

RATINGS = pd.DataFrame({"judge": ["J1", "J1", "J2", "J2"], "object": list("ABAB"), "rating": [5, 4, 2, 4]})

SCORES = pd.DataFrame(np.random.default_rng(1).normal(size=(12, 3)), columns=list("ABC"))

VERDICTS = pd.DataFrame(
    {"object_i": list("ABCA") * 10, "object_j": list("BCAC") * 10, "people": ["i", "j", "i", "i", "j"] * 8}
)
VERDICTS["machine"] = VERDICTS["people"].where(VERDICTS.index % 4 > 0, "j")

X, Y, Z = np.random.default_rng(2).normal(size=(3, 6, 8))

AGREE = [0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1]

DIFFERENCES = [0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4]

TESTS = ([2.1, -0.3, 1.0], [0.001, 0.4, 0.03], [0.2, -0.1, 0.0], [0.01, 0.02, 0.9])

METRIC, HUMAN = [31.0, 28.0, 30.0, 27.0, 10.0], [0.3, 0.2, 0.1, 0.0, -1.4]


@cache
def counts() -> llbt.Comparisons:
    return llbt.from_judgments(JUDGMENTS, covariates="judge")


@cache
def rankings() -> llbt.Rankings:
    return llbt.from_rankings(RANKINGS, objects=list("ABC"))


@cache
def patterns() -> llbt.Patterns:
    return llbt.from_patterns(RANKINGS, "rankings", objects=list("ABC"))


@cache
def fitted() -> llbt.LLBTResults:
    return llbt.fit("object + tie", counts())


@cache
def by_day() -> llbt.LLBTResults:
    return llbt.fit("object + tie", llbt.from_judgments(JUDGMENTS.assign(day=JUDGMENTS["prompt"]), clusters="day"))


@cache
def graded() -> llbt.LLBTResults:
    rows = [("A", "B", 9, 8, 7, 5, 2), ("A", "C", 9, 9, 6, 3, 1), ("B", "C", 7, 8, 9, 6, 4)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", *(names := ("++", "+", "=", "-", "--"))])
    return llbt.fit("object + tie + grade", llbt.from_counts(frame, grades=names))


@cache
def by_judge() -> llbt.LLBTResults:
    return llbt.fit("object * judge + tie * judge", counts())


@cache
def mixed() -> llbt.MixedResults:
    found = llbt.fit("object + tie + (object | judge)", counts_of_judges())
    assert isinstance(found, llbt.MixedResults)
    return found


@cache
def tasted() -> llbt.MixedResults:
    """Twelve judges of three objects, half of whom prefer the first and half the last."""
    rows = [(i, j, judge, 3, 1) for judge in range(6) for i, j in ("AB", "AC", "BC")]
    rows += [(i, j, judge, 1, 3) for judge in range(6, 12) for i, j in ("AB", "AC", "BC")]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "wins_j"])
    found = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    assert isinstance(found, llbt.MixedResults)
    return found


@cache
def discriminating() -> llbt.DiscriminationResults:
    found = llbt.fit("object + tie", llbt.load_dataset("dras_table1"), discrimination="judge")
    assert isinstance(found, llbt.DiscriminationResults)
    return found


@cache
def counts_of_judges() -> llbt.Comparisons:
    wins = [5, 1, 4, 0, 6, 3, 5, 2]
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "ties": 2, "judge": range(8)})
    return llbt.from_counts(frame.assign(wins_j=6 - frame["wins_i"]), clusters="judge")


@cache
def judged_by_age() -> llbt.Comparisons:
    wins = [5, 1, 4, 2, 6, 3, 5, 2, 4, 3, 2, 1]
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "judge": range(12), "age": range(20, 32)})
    return llbt.from_counts(frame.assign(wins_j=7 - frame["wins_i"]), clusters="judge", covariates="age", numeric="age")


PROFILES = pd.DataFrame(
    {
        "respondent": np.repeat([1, 2, 3], 4), "task": [1, 1, 2, 2] * 3, "price": [*"lhhlllhllhhh"],
        "size": [*"sslslsllllsl"], "chosen": [1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1],
    }
)  # fmt: skip
STUDY = [{"system": s, "item": k, "bleu": float(s + k), "human": float(s)} for s in range(3) for k in range(2)]


@cache
def found_classes() -> LatentClasses:
    return llbt.judges.classes("object + tie", counts_of_judges(), k=2, starts=3, prior=1, rng=1)[2]


@cache
def metric_scores() -> llbt.metrics.MetricScores:
    return llbt.metrics.MetricScores.from_matrices({"x": X, "y": Y}, Z)


@cache
def metric_comparisons() -> MetricComparisons:
    return llbt.metrics.compare_all(metric_scores(), n=3, rng=1)


@cache
def score_pairs() -> PairwiseScores:
    return llbt.scores.pairwise(SCORES)


def costs() -> CostFrontier:
    long = SCORES.rename_axis("item").reset_index().melt("item", var_name="system", value_name="score")
    board = llbt.scores.read_board(long.assign(usd=1.0), system="system", item="item", score="score", cost="usd")
    return board.frontier(n=50)


def styled_counts() -> llbt.Comparisons:
    rng = np.random.default_rng(0)
    lengths = {name: rng.integers(10, 90, len(JUDGMENTS)) for name in ("length_a", "length_b")}
    return llbt.from_judgments(JUDGMENTS.assign(**lengths), side_covariates=["length"])


# What each function is called with: arguments with which it answers.
CALLS: dict[Callable[..., Any], Callable[[], tuple[list[Any], dict[str, Any]]]] = {
    llbt.from_counts: lambda: ([counts().pool().to_frame()], {}),
    llbt.from_judgments: lambda: ([JUDGMENTS], {}),
    llbt.load_dataset: lambda: (["dras_modpref"], {}),
    llbt.Comparisons.pool: lambda: ([counts()], {}),
    llbt.from_matrix: lambda: ([[[0, 7], [3, 0]]], {"names": ["A", "B"]}),
    llbt.from_rankings: lambda: ([RANKINGS], {"objects": list("ABC")}),
    llbt.Rankings.to_comparisons: lambda: ([rankings()], {}),
    llbt.from_patterns: lambda: ([RANKINGS, "rankings"], {"objects": list("ABC")}),
    llbt.Patterns.to_comparisons: lambda: ([patterns()], {}),
    llbt.from_choices: lambda: ([SETS], {"objects": ("one", "two", "three"), "worst": "worst"}),
    llbt.from_ratings: lambda: ([RATINGS], {}),
    llbt.from_scores: lambda: ([SCORES], {}),
    llbt.read_judgments: lambda: ([JUDGMENTS], {}),
    llbt.audit: lambda: ([JUDGMENTS], {}),
    llbt.formats.columns: lambda: ([("left", "right"), "winner"], {}),
    llbt.fit: lambda: (["object + tie", counts()], {}),
    llbt.LLBT.fit: lambda: ([llbt.LLBT.from_formula("object + tie", counts())], {}),
    llbt.planning.needed: lambda: ([fitted()], {"split": 1}),
    llbt.best: lambda: ([fitted()], {}),
    llbt.posterior: lambda: ([fitted()], {"draws": 1000}),
    llbt.distribution: lambda: ([fitted()], {"draws": 1000}),
    llbt.style_control: lambda: ([styled_counts()], {}),
    llbt.compare: lambda: ([counts().pool(), counts().pool()], {}),
    llbt.plot.changes: lambda: ([llbt.compare(counts().pool(), counts().pool())], {}),
    llbt.drift: lambda: ([by_day()], {"time": "day"}),
    llbt.plot.over_time: lambda: ([llbt.drift(by_day(), time="day")], {}),
    llbt.fragility: lambda: ([fitted()], {}),
    llbt.sensitivity: lambda: ([fitted()], {}),
    llbt.contrasts: lambda: ([fitted(), {"A": {"A": 1, "B": -1}}], {}),
    llbt.plot.forest: lambda: ([llbt.contrasts(fitted(), {"A": {"A": 1, "B": -1}})], {}),
    llbt.judges.dimension: lambda: ([tasted()], {}),
    llbt.judge_effects: lambda: ([mixed()], {}),
    llbt.leaderboard: lambda: ([fitted()], {}),
    llbt.grade_tests: lambda: ([graded()], {}),
    llbt.tie_tests: lambda: ([llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())], {}),
    llbt.level_tests: lambda: ([fitted()], {}),
    llbt.pairwise: lambda: ([fitted()], {}),
    llbt.plot.intervals: lambda: ([fitted()], {}),
    llbt.plot.ranks: lambda: ([fitted()], {}),
    llbt.plot.discrimination: lambda: ([discriminating()], {}),
    llbt.plot.judge_effects: lambda: ([llbt.judge_effects(mixed())], {}),
    llbt.plot.judges: lambda: ([by_judge()], {}),
    llbt.plot.network: lambda: ([fitted()], {}),
    llbt.plot.outcomes: lambda: ([counts()], {}),
    llbt.plot.probabilities: lambda: ([fitted()], {}),
    llbt.plot.ties: lambda: ([by_judge()], {}),
    llbt.plot.worth: lambda: ([fitted()], {}),
    llbt.quasi_variances: lambda: ([fitted()], {}),
    llbt.worth: lambda: ([fitted()], {}),
    llbt.add1: lambda: ([fitted(), "judge:object"], {}),
    llbt.anova: lambda: ([fitted(), by_judge()], {}),
    llbt.drop1: lambda: ([fitted()], {}),
    llbt.goodness_of_fit: lambda: ([fitted()], {}),
    llbt.held_out: lambda: ([fitted()], {"folds": 3, "rng": 1}),
    llbt.plot.fragility: lambda: ([fitted()], {}),
    llbt.plot.calibration: lambda: ([llbt.held_out(fitted(), folds=3, rng=1)], {}),
    llbt.influence: lambda: ([fitted()], {}),
    llbt.plot.residuals: lambda: ([fitted()], {}),
    llbt.residuals: lambda: ([fitted()], {}),
    llbt.reliability: lambda: ([by_day()], {"judge": "day", "n": 3}),
    llbt.bootstrap: lambda: ([fitted()], {"n": 3, "rng": 1}),
    llbt.simulate: lambda: ([fitted()], {}),
    llbt.interpret: lambda: ([fitted()], {}),
    llbt.model_table: lambda: ([[fitted()]], {}),
    llbt.write_report: lambda: ([counts()], {}),
    llbt.judges.agreement: lambda: ([JUDGMENTS], {"unit": "prompt"}),
    llbt.judges.compare_groups: lambda: ([found_classes()], {}),
    llbt.judges.calibrate: lambda: ([JUDGMENTS[:16], JUDGMENTS.assign(judge="m")], {"unit": "block"}),
    llbt.judges.classes: lambda: (["object + tie", counts_of_judges()], {"k": [1, 2], "starts": 3, "rng": 1}),
    llbt.plot.classes: lambda: ([found_classes()], {}),
    llbt.plot.posteriors: lambda: ([found_classes()], {}),
    llbt.plot.tree: lambda: ([llbt.judges.tree("object", judged_by_age())], {}),
    llbt.judges.tree: lambda: (["object", judged_by_age()], {}),
    llbt.judges.report: lambda: ([VERDICTS], {"human": "people", "machine": "machine", "n": 3}),
    llbt.judges.summary: lambda: ([counts()], {}),
    llbt.classical.conjoint: lambda: ([PROFILES], {}),
    llbt.classical.durbin_test: lambda: ([RANKINGS], {"objects": list("ABC")}),
    llbt.classical.friedman_test: lambda: ([RANKINGS], {"objects": list("ABC")}),
    llbt.classical.skillings_mack_test: lambda: ([RANKINGS], {"objects": list("ABC")}),
    llbt.classical.page_test: lambda: ([RANKINGS], {"objects": list("ABC"), "order": list("ABC")}),
    llbt.classical.head_to_head: lambda: ([counts()], {}),
    llbt.classical.model_test: lambda: ([counts().pool()], {}),
    llbt.classical.mcnemar_test: lambda: ([[[101, 121], [59, 33]]], {}),
    llbt.classical.feedback_order: lambda: ([counts()], {}),
    llbt.classical.ranking_readings: lambda: ([JUDGMENTS], {}),
    llbt.classical.ranking_scores: lambda: ([JUDGMENTS], {}),
    llbt.classical.shown_with: lambda: ([JUDGMENTS], {"reference": "A"}),
    llbt.classical.sign_test: lambda: ([counts()], {}),
    llbt.planning.next_pairs: lambda: ([fitted()], {"n": 3}),
    llbt.planning.sequential: lambda: ([["A", "B", "C"]], {}),
    llbt.power: lambda: ([llbt.Scenario()], {"judgments": [20], "n": 3, "rng": 1}),
    llbt.scores.aggregate: lambda: ([SCORES], {}),
    llbt.scores.aggregate_methods: lambda: ([SCORES], {"rng": 1}),
    llbt.scores.aggregate_setups: lambda: ([{"one": SCORES}], {"rng": 1}),
    llbt.scores.compare_tests: lambda: ([{"one": SCORES}], {}),
    llbt.scores.difficulty: lambda: ([llbt.scores.read_board(SCORES)], {}),
    llbt.scores.elo_history: lambda: ([JUDGMENTS], {}),
    llbt.scores.leaderboard: lambda: ([SCORES], {}),
    llbt.scores.pairwise: lambda: ([SCORES], {}),
    llbt.scores.read_board: lambda: ([SCORES], {}),
    llbt.plot.differences: lambda: ([SCORES, "A", "B"], {}),
    llbt.plot.paired: lambda: ([SCORES, "A", "B"], {}),
    llbt.plot.ranks_by_method: lambda: ([llbt.scores.aggregate_methods(SCORES, rng=1)], {}),
    llbt.plot.win_probabilities: lambda: ([score_pairs()], {}),
    llbt.scores.simulate: lambda: ([], {"n_systems": 3, "n_instances": 20, "rng": 1}),
    llbt.metrics.read_study: lambda: ([STUDY], {}),
    llbt.metrics.compare_all: lambda: ([metric_scores()], {"n": 3, "rng": 1}),
    llbt.metrics.compare: lambda: ([X, Y, Z], {"n": 3, "rng": 1}),
    llbt.metrics.correlate: lambda: ([X, Z], {}),
    llbt.metrics.interval: lambda: ([X, Z], {"n": 3, "rng": 1}),
    llbt.metrics.decisions: lambda: ([X, Z], {}),
    llbt.metrics.decisions_from_tests: lambda: ([*TESTS], {}),
    llbt.metrics.difference_curve: lambda: ([DIFFERENCES, AGREE], {"bins": 3}),
    llbt.metrics.coverage: lambda: ([X, Z], {"methods": ["boot-both"], "n": 3, "n_trials": 2, "rng": 1}),
    llbt.metrics.power: lambda: ([X, Z], {"methods": ["boot"], "degraded": [0.5], "n": 3, "n_trials": 2, "rng": 1}),
    llbt.metrics.outliers: lambda: ([HUMAN], {}),
    llbt.metrics.pairwise_accuracy: lambda: ([METRIC, HUMAN], {}),
    llbt.plot.scatter: lambda: ([METRIC, HUMAN], {}),
    llbt.plot.frontier: lambda: ([costs()], {}),
    llbt.plot.difference_curve: lambda: ([llbt.metrics.difference_curve(DIFFERENCES, AGREE, bins=3)], {}),
    llbt.plot.power: lambda: ([llbt.power(llbt.Scenario(), judgments=[20, 40], n=3, rng=1)], {}),
    llbt.plot.significance: lambda: ([metric_comparisons()], {}),
    llbt.metrics.subset_correlations: lambda: ([METRIC, HUMAN], {"subsets": "sampled", "n": 3, "rng": 1}),
    llbt.metrics.soft_pairwise_accuracy: lambda: ([X, Z], {"n": 3, "rng": 1}),
    llbt.metrics.tie_calibrated_accuracy: lambda: ([METRIC, HUMAN], {}),
    llbt.metrics.williams: lambda: ([0.5, 0.4, 0.3, 20], {}),
    llbt.Comparisons.to_frame: lambda: ([counts()], {}),
    llbt.LLBTResults.conf_int: lambda: ([fitted()], {}),
    llbt.LLBTResults.t_test: lambda: ([fitted(), "tie"], {}),
    llbt.LLBTResults.predict: lambda: ([fitted()], {}),
    llbt.LLBTResults.summary: lambda: ([fitted()], {}),
}
