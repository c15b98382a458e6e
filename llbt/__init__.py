"""Log-linear Bradley-Terry models for preference judgments, with ties, order effects and judge covariates.

>>> import llbt
>>> res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
>>> res.params.round(4).to_dict()
{'object[+]': 0.2778, 'tie': -0.6551}
"""

from .auditing.audit import Audit, audit
from .auditing.finding import Finding
from .comparisons import Comparisons
from .data.datasets import list_datasets, load_dataset
from .data.doors import from_counts, from_judgments
from .data.files import read_table
from .data.formats import Always, Choice, Constant, Game, JudgmentFormat, Labels, Lean, OneHot, Reworded, Scores, Share
from .data.judgments import read_judgments
from .data.known_formats import JUDGMENT_FORMATS, list_formats
from .data.matrices import from_matrix
from .data.rankings import from_rankings, from_ratings
from .data.scores import from_scores
from .errors import (
    ClusterWarning,
    ConvergenceWarning,
    DesignError,
    FormulaError,
    FormulaWarning,
    JudgmentError,
    LLBTError,
    LLBTWarning,
    SeparationError,
    TiesWarning,
)
from .evaluation.agreement import Agreement, agreement
from .evaluation.block_tests import durbin_test, friedman_test, page_test, skillings_mack_test
from .evaluation.feedback_order import FeedbackOrder, minimum_feedback_order
from .evaluation.head_to_head import HeadToHead, head_to_head
from .evaluation.judges import JudgeSummary, judge_summary
from .evaluation.metrics.compare_all_metrics import MetricComparisons, compare_all_metrics
from .evaluation.metrics.compare_metrics import MetricComparison, compare_metrics
from .evaluation.metrics.correlation_intervals import CorrelationInterval, correlation_interval
from .evaluation.metrics.correlations import Correlation, correlate
from .evaluation.metrics.decision_errors import error_agreement
from .evaluation.metrics.decisions import decision_table, decisions_from_tests
from .evaluation.metrics.difference_curve import difference_curve
from .evaluation.metrics.metric_power import MetricPower, metric_power
from .evaluation.metrics.metric_scores import MetricScores, system_normality
from .evaluation.metrics.metric_simulations import IntervalCoverage, interval_coverage
from .evaluation.metrics.outliers import correlation_without_outliers, outliers
from .evaluation.metrics.pairwise_accuracy import pairwise_accuracy
from .evaluation.metrics.soft_accuracy import soft_pairwise_accuracy
from .evaluation.metrics.system_subsets import rolling_correlations, sampled_correlations, top_correlations
from .evaluation.metrics.tie_calibration import tie_calibrated_accuracy
from .evaluation.metrics.williams import williams_test
from .evaluation.power import Power, power
from .evaluation.power_grid import PowerGrid, power_grid
from .evaluation.ranking_readings import ranking_readings
from .evaluation.ranking_scores import RankingScores, ranking_scores
from .evaluation.scores.aggregate import Aggregation, aggregate
from .evaluation.scores.compare_aggregations import AggregationComparison, compare_aggregations
from .evaluation.scores.pairwise_score_records import PairwiseScores
from .evaluation.scores.pairwise_scores import pairwise_scores
from .evaluation.scores.setups import aggregate_methods, aggregate_setups
from .evaluation.scores.simulate_scores import SimulatedScores, simulate_scores
from .evaluation.shown_with import ShownWith, shown_with
from .evaluation.sign_records import LLBTTests, SignTests
from .evaluation.sign_tests import llbt_test, mcnemar_test, sign_test
from .inference.anova import anova
from .inference.bootstrap import Bootstrap, bootstrap, rank_distribution
from .inference.contrasts import contrasts
from .inference.goodness import GoodnessOfFit, goodness_of_fit
from .inference.influence import Influence, influence
from .inference.intransitivity import Intransitivity, intransitivity
from .inference.level_tests import level_tests
from .inference.pair_residuals import pair_residuals
from .inference.pairwise import Pairwise, compact_letters, pairwise, significance_clusters
from .inference.quasi_variances import QuasiVariances, quasi_variances
from .inference.ranks import leaderboard, rank_intervals
from .inference.residuals import residual_table
from .inference.simulation import simulate
from .inference.terms import add1, drop1
from .inference.worth import worth
from .model import LLBT, default_formula, fit
from .report.bump_plot import plot_ranks_by_method
from .report.decision_plots import plot_decisions, plot_difference_curve, plot_subset_correlations
from .report.fit_plots import plot_anova, plot_residuals
from .report.interpret import Interpretation, interpret
from .report.interval_plots import plot_intervals, plot_ranks
from .report.judge_plots import plot_judges, plot_ties
from .report.metric_plots import plot_significance
from .report.model_table import ModelTable, model_table
from .report.network_plot import plot_network
from .report.page import write_report
from .report.pair_plots import plot_outcomes, plot_probabilities
from .report.plots import plot_worth
from .report.power_plot import plot_power
from .report.score_plots import plot_differences, plot_paired
from .report.win_plot import plot_win_probabilities
from .results import LLBTResults
from .specification import Specification
from .statistics import TestResult
from .table import Table

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022  # grouped by the question a user has
    # where do the counts come from?
    "Comparisons",
    "from_counts",
    "from_judgments",
    "from_matrix",
    "from_rankings",
    "from_ratings",
    "from_scores",
    "JUDGMENT_FORMATS",
    "list_formats",
    "read_judgments",
    "read_table",
    # how is a file of judgments written?
    "Always",
    "Choice",
    "Constant",
    "Game",
    "JudgmentFormat",
    "Labels",
    "Lean",
    "OneHot",
    "Reworded",
    "Scores",
    "Share",
    # which data sets are there?
    "list_datasets",
    "load_dataset",
    # what is wrong with them?
    "audit",
    # what model?
    "LLBT",
    "LLBTResults",
    "Specification",
    "fit",
    # how good are the objects, and which differ?
    "compact_letters",
    "contrasts",
    "leaderboard",
    "level_tests",
    "pairwise",
    "plot_intervals",
    "plot_judges",
    "plot_network",
    "plot_outcomes",
    "plot_probabilities",
    "plot_ranks",
    "plot_ties",
    "plot_worth",
    "quasi_variances",
    "rank_intervals",
    "significance_clusters",
    "worth",
    # does the model fit, and which terms does it need?
    "add1",
    "anova",
    "drop1",
    "goodness_of_fit",
    "influence",
    "intransitivity",
    "pair_residuals",
    "plot_anova",
    "plot_residuals",
    "residual_table",
    # how sure is it?
    "bootstrap",
    "rank_distribution",
    "simulate",
    # what goes into the paper?
    "interpret",
    "model_table",
    "write_report",
    # do judges agree, and what does each do?
    "agreement",
    "judge_summary",
    # what do the classical readings and tests say?
    "durbin_test",
    "friedman_test",
    "head_to_head",
    "llbt_test",
    "mcnemar_test",
    "minimum_feedback_order",
    "page_test",
    "ranking_readings",
    "ranking_scores",
    "shown_with",
    "sign_test",
    "skillings_mack_test",
    # how many judgments does a study need?
    "plot_power",
    "power",
    "power_grid",
    # which system is better, by scores?
    "aggregate",
    "aggregate_methods",
    "aggregate_setups",
    "compare_aggregations",
    "pairwise_scores",
    "plot_differences",
    "plot_paired",
    "plot_ranks_by_method",
    "plot_win_probabilities",
    "simulate_scores",
    # does a metric agree with humans, and which metric better?
    "compare_all_metrics",
    "compare_metrics",
    "correlate",
    "correlation_interval",
    "correlation_without_outliers",
    "decision_table",
    "decisions_from_tests",
    "default_formula",
    "difference_curve",
    "error_agreement",
    "interval_coverage",
    "metric_power",
    "outliers",
    "pairwise_accuracy",
    "plot_decisions",
    "plot_difference_curve",
    "plot_significance",
    "plot_subset_correlations",
    "rolling_correlations",
    "sampled_correlations",
    "soft_pairwise_accuracy",
    "system_normality",
    "tie_calibrated_accuracy",
    "top_correlations",
    "williams_test",
    # what comes back?
    "Aggregation",
    "AggregationComparison",
    "Agreement",
    "Audit",
    "Bootstrap",
    "Correlation",
    "CorrelationInterval",
    "FeedbackOrder",
    "Finding",
    "GoodnessOfFit",
    "HeadToHead",
    "Influence",
    "Interpretation",
    "IntervalCoverage",
    "Intransitivity",
    "JudgeSummary",
    "LLBTTests",
    "MetricComparison",
    "MetricComparisons",
    "MetricPower",
    "MetricScores",
    "ModelTable",
    "Pairwise",
    "PairwiseScores",
    "Power",
    "PowerGrid",
    "QuasiVariances",
    "RankingScores",
    "ShownWith",
    "SignTests",
    "SimulatedScores",
    "Table",
    "TestResult",
    # what went wrong?
    "ClusterWarning",
    "ConvergenceWarning",
    "DesignError",
    "FormulaError",
    "FormulaWarning",
    "JudgmentError",
    "LLBTError",
    "LLBTWarning",
    "SeparationError",
    "TiesWarning",
]
