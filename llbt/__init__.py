"""Log-linear Bradley-Terry models for preference judgments, with ties, order effects and judge covariates.

>>> import llbt
>>> res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
>>> res.params.round(4).to_dict()
{'object[+]': 0.2778, 'tie': -0.6551}
"""

from .auditing.audit import Audit, audit
from .auditing.finding import Finding
from .classical.block_tests import durbin_test, friedman_test, page_test, skillings_mack_test
from .classical.feedback_order import FeedbackOrder, minimum_feedback_order
from .classical.head_to_head import HeadToHead, head_to_head
from .classical.ranking_readings import ranking_readings
from .classical.ranking_scores import RankingScores, ranking_scores
from .classical.shown_with import ShownWith, shown_with
from .classical.sign_records import LLBTTests, SignTests
from .classical.sign_tests import llbt_test, mcnemar_test, sign_test
from .core.comparisons import Comparisons
from .core.statistics import TestResult
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
    OptionError,
    SeparationError,
    TiesWarning,
)
from .fitting.model import LLBT, default_formula, fit
from .fitting.results import LLBTResults
from .fitting.specification import Specification
from .inference.anova import anova
from .inference.bootstrap import Bootstrap, bootstrap
from .inference.contrasts import contrasts
from .inference.goodness import GoodnessOfFit, goodness_of_fit
from .inference.influence import Influence, influence
from .inference.intransitivity import Intransitivity, intransitivity
from .inference.level_tests import level_tests
from .inference.pair_residuals import pair_residuals
from .inference.pairwise import pairwise
from .inference.pairwise_record import Pairwise
from .inference.quasi_variances import QuasiVariances, quasi_variances
from .inference.ranks import leaderboard
from .inference.residuals import residual_table
from .inference.simulation import simulate
from .inference.terms import add1, drop1
from .inference.worth import worth
from .judges.agreement import Agreement, agreement
from .judges.summary import JudgeSummary, judge_summary
from .metrics.accuracy import pairwise_accuracy
from .metrics.compare import MetricComparison, compare_metrics
from .metrics.compare_all import MetricComparisons, compare_all_metrics
from .metrics.correlate import Correlation, correlate
from .metrics.coverage import IntervalCoverage, interval_coverage
from .metrics.decision_errors import error_agreement
from .metrics.decisions import decision_table, decisions_from_tests
from .metrics.difference_curve import difference_curve
from .metrics.interval import CorrelationInterval, correlation_interval
from .metrics.metric_scores import MetricScores
from .metrics.outliers import correlation_without_outliers, outliers
from .metrics.power import MetricPower, metric_power
from .metrics.soft_accuracy import soft_pairwise_accuracy
from .metrics.subsets import subset_correlations
from .metrics.tie_calibration import tie_calibrated_accuracy
from .metrics.williams import williams_test
from .planning.power import Power, power
from .planning.power_grid import PowerGrid, power_grid
from .plot.decisions import plot_decisions, plot_difference_curve, plot_subset_correlations
from .plot.differences import plot_differences, plot_paired
from .plot.fits import plot_anova, plot_residuals
from .plot.intervals import plot_intervals, plot_ranks
from .plot.judges import plot_judges, plot_ties
from .plot.network import plot_network
from .plot.pairs import plot_outcomes, plot_probabilities
from .plot.power import plot_power
from .plot.ranks_by_method import plot_ranks_by_method
from .plot.significance import plot_significance
from .plot.win_probabilities import plot_win_probabilities
from .plot.worth import plot_worth
from .report.interpret import Interpretation, interpret
from .report.model_table import ModelTable, model_table
from .report.page import write_report
from .scores.aggregate import Aggregation, aggregate
from .scores.compare import AggregationComparison, compare_aggregations
from .scores.pairwise import pairwise_scores
from .scores.pairwise_records import PairwiseScores
from .scores.setups import aggregate_methods, aggregate_setups
from .scores.simulate import SimulatedScores, simulate_scores
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
    "subset_correlations",
    "soft_pairwise_accuracy",
    "tie_calibrated_accuracy",
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
    "OptionError",
    "SeparationError",
    "TiesWarning",
]
