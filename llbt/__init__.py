"""Log-linear Bradley-Terry models for preference judgments, with ties, order effects and judge covariates.

>>> import llbt
>>> res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
>>> res.params.round(4).to_dict()
{'object[+]': 0.2778, 'tie': -0.6551}
"""

__version__ = "0.2.0"
TYPE_CHECKING = False  # what type checkers take as True; the module typing takes longer to import than this one

if TYPE_CHECKING:  # what checkers and editors read; the interpreter reads HOMES, which says the same
    from . import classical, errors, formats, judges, metrics, planning, plot, scores
    from .auditing.audit import audit
    from .base.table import Table
    from .base.versions import show_versions
    from .core.comparisons import Comparisons
    from .core.judgments import Judgments
    from .core.patterns import Patterns
    from .core.rankings import Rankings
    from .core.statistics import TestResult
    from .data.best_choices import from_choices
    from .data.datasets import list_datasets, load_dataset
    from .data.judgments import read_judgments
    from .data.matrices import from_matrix
    from .data.pattern_frames import from_patterns
    from .data.rankings import from_rankings
    from .data.ratings import from_ratings
    from .data.scores import from_scores
    from .data.table_readers import from_counts, from_judgments
    from .errors import LLBTError
    from .fitting.discrimination_results import DiscriminationResults
    from .fitting.fit import fit
    from .fitting.large_results import LargeResults
    from .fitting.mixed_results import MixedResults
    from .fitting.model import LLBT, default_formula
    from .fitting.pattern_results import PatternResults
    from .fitting.ranking_results import RankingResults
    from .fitting.results import LLBTResults
    from .inference.anova import anova
    from .inference.best import best
    from .inference.bootstrap import bootstrap
    from .inference.changes import compare
    from .inference.contrasts import contrasts
    from .inference.distribution import distribution
    from .inference.drift import drift
    from .inference.fragility import fragility
    from .inference.goodness import goodness_of_fit
    from .inference.grade_tests import grade_tests
    from .inference.held_out import held_out
    from .inference.influence import influence
    from .inference.intransitivity import intransitivity
    from .inference.judge_effects import judge_effects
    from .inference.level_tests import level_tests
    from .inference.pairwise import pairwise
    from .inference.posterior import posterior
    from .inference.quasi_variances import quasi_variances
    from .inference.ranks import leaderboard
    from .inference.reliability import reliability
    from .inference.residuals import residuals
    from .inference.sensitivity import sensitivity
    from .inference.simulation import simulate
    from .inference.style_control import style_control
    from .inference.terms import add1, drop1
    from .inference.tie_tests import tie_tests
    from .inference.worth import worth
    from .planning.scenarios import Scenario
    from .planning.simulated_power import power
    from .report.interpret import interpret
    from .report.model_table import model_table
    from .report.page import write_report

__all__ = [  # noqa: RUF022  # grouped by the question a user has
    # where do the counts come from?
    "Comparisons",
    "Judgments",
    "Patterns",
    "Rankings",
    "from_choices",
    "from_counts",
    "from_judgments",
    "from_matrix",
    "from_patterns",
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
    "PatternResults",
    "RankingResults",
    "default_formula",
    "fit",
    # how good are the objects, and which differ?
    "contrasts",
    "compare",
    "drift",
    "judge_effects",
    "leaderboard",
    "best",
    "level_tests",
    "pairwise",
    "style_control",
    "quasi_variances",
    "reliability",
    "worth",
    # does the model fit, and which terms does it need?
    "add1",
    "anova",
    "drop1",
    "goodness_of_fit",
    "held_out",
    "fragility",
    "influence",
    "intransitivity",
    "residuals",
    "sensitivity",
    "tie_tests",
    # how sure is it?
    "bootstrap",
    "distribution",
    "posterior",
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
    "show_versions",
    # the neighbours, each a namespace
    "classical",
    "errors",
    "formats",
    "judges",
    "metrics",
    "planning",
    "plot",
    "scores",
]

# The module below `llbt` in which each name is defined; a namespace is its own.
HOMES = {
    "audit": "auditing.audit",
    "classical": "classical",
    "Comparisons": "core.comparisons",
    "Judgments": "core.judgments",
    "TestResult": "core.statistics",
    "list_datasets": "data.datasets",
    "load_dataset": "data.datasets",
    "from_counts": "data.table_readers",
    "from_judgments": "data.table_readers",
    "read_judgments": "data.judgments",
    "from_matrix": "data.matrices",
    "from_rankings": "data.rankings",
    "from_choices": "data.best_choices",
    "from_patterns": "data.pattern_frames",
    "Patterns": "core.patterns",
    "PatternResults": "fitting.pattern_results",
    "Rankings": "core.rankings",
    "from_ratings": "data.ratings",
    "from_scores": "data.scores",
    "LLBTError": "errors",
    "errors": "errors",
    "DiscriminationResults": "fitting.discrimination_results",
    "LargeResults": "fitting.large_results",
    "MixedResults": "fitting.mixed_results",
    "LLBT": "fitting.model",
    "default_formula": "fitting.model",
    "fit": "fitting.fit",
    "RankingResults": "fitting.ranking_results",
    "LLBTResults": "fitting.results",
    "formats": "formats",
    "anova": "inference.anova",
    "best": "inference.best",
    "bootstrap": "inference.bootstrap",
    "compare": "inference.changes",
    "style_control": "inference.style_control",
    "contrasts": "inference.contrasts",
    "distribution": "inference.distribution",
    "drift": "inference.drift",
    "fragility": "inference.fragility",
    "sensitivity": "inference.sensitivity",
    "goodness_of_fit": "inference.goodness",
    "grade_tests": "inference.grade_tests",
    "held_out": "inference.held_out",
    "influence": "inference.influence",
    "intransitivity": "inference.intransitivity",
    "judge_effects": "inference.judge_effects",
    "level_tests": "inference.level_tests",
    "pairwise": "inference.pairwise",
    "posterior": "inference.posterior",
    "quasi_variances": "inference.quasi_variances",
    "leaderboard": "inference.ranks",
    "reliability": "inference.reliability",
    "residuals": "inference.residuals",
    "simulate": "inference.simulation",
    "add1": "inference.terms",
    "drop1": "inference.terms",
    "tie_tests": "inference.tie_tests",
    "worth": "inference.worth",
    "judges": "judges",
    "metrics": "metrics",
    "planning": "planning",
    "power": "planning.simulated_power",
    "Scenario": "planning.scenarios",
    "plot": "plot",
    "interpret": "report.interpret",
    "model_table": "report.model_table",
    "write_report": "report.page",
    "scores": "scores",
    "Table": "base.table",
    "show_versions": "base.versions",
}


if not TYPE_CHECKING:  # else every name would do for type checkers

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used: help and completion in a shell use none, so they start fast."""
        import importlib

        if name not in HOMES:
            raise importlib.import_module(".errors", __name__).unknown_name(__name__, name)
        home = importlib.import_module(f".{HOMES[name]}", __name__)
        globals()[name] = home if HOMES[name] == name else getattr(home, name)
        return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)  # the rooms are attributes too, and no names to use
