"""What a user may type: every public name, imported when the first of them is asked for."""

from . import classical, errors, formats, judges, metrics, plot, scores
from .auditing.audit import audit
from .core.comparisons import Comparisons
from .core.judgments import Judgments
from .core.statistics import TestResult
from .data.datasets import list_datasets, load_dataset
from .data.doors import from_counts, from_judgments
from .data.judgments import read_judgments
from .data.matrices import from_matrix
from .data.rankings import from_rankings, from_ratings
from .data.scores import from_scores
from .errors import LLBTError
from .fitting.discrimination_results import DiscriminationResults
from .fitting.large_results import LargeResults
from .fitting.mixed_results import MixedResults
from .fitting.model import LLBT, default_formula, fit
from .fitting.results import LLBTResults
from .inference.anova import anova
from .inference.bootstrap import bootstrap
from .inference.contrasts import contrasts
from .inference.goodness import goodness_of_fit
from .inference.grade_tests import grade_tests
from .inference.held_out import held_out
from .inference.influence import influence
from .inference.intransitivity import intransitivity
from .inference.judge_effects import judge_effects
from .inference.level_tests import level_tests
from .inference.pairwise import pairwise
from .inference.quasi_variances import quasi_variances
from .inference.ranks import leaderboard
from .inference.residuals import residuals
from .inference.simulation import simulate
from .inference.terms import add1, drop1
from .inference.worth import worth
from .planning.power import power
from .planning.scenarios import Scenario
from .report.interpret import interpret
from .report.model_table import model_table
from .report.page import write_report
from .table import Table

__all__ = [  # noqa: RUF022  # grouped by the question a user has
    # where do the counts come from?
    "Comparisons",
    "Judgments",
    "from_counts",
    "from_judgments",
    "from_matrix",
    "from_rankings",
    "from_ratings",
    "from_scores",
    "read_judgments",
    # which data sets are there?
    "list_datasets",
    "load_dataset",
    # what is wrong with them?
    "audit",
    # what model?
    "DiscriminationResults",
    "LargeResults",
    "LLBT",
    "LLBTResults",
    "MixedResults",
    "default_formula",
    "fit",
    # how good are the objects, and which differ?
    "contrasts",
    "judge_effects",
    "leaderboard",
    "level_tests",
    "pairwise",
    "quasi_variances",
    "worth",
    # does the model fit, and which terms does it need?
    "add1",
    "anova",
    "drop1",
    "goodness_of_fit",
    "held_out",
    "influence",
    "intransitivity",
    "residuals",
    # how sure is it?
    "bootstrap",
    "simulate",
    # how many judgments does a study need?
    "Scenario",
    "power",
    # what goes into the paper?
    "grade_tests",
    "interpret",
    "model_table",
    "write_report",
    # what comes back, and what went wrong?
    "LLBTError",
    "Table",
    "TestResult",
    # the neighbours, each a namespace
    "classical",
    "errors",
    "formats",
    "judges",
    "metrics",
    "plot",
    "scores",
]
