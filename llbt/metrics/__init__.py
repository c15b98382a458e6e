"""Whether a metric agrees with humans, and which of two metrics agrees better: `llbt.metrics`."""

from typing import NoReturn

from ..errors import unknown_name
from .accuracy import pairwise_accuracy
from .compare import compare
from .compare_all import compare_all
from .correlate import correlate
from .coverage import coverage
from .decision_errors import error_agreement
from .decisions import decisions, decisions_from_tests
from .difference_curve import difference_curve
from .interval import interval
from .metric_scores import MetricScores
from .outliers import outliers
from .power import power
from .read_study import read_study
from .soft_accuracy import soft_pairwise_accuracy
from .study import Study
from .subsets import subset_correlations
from .tie_calibration import tie_calibrated_accuracy
from .williams import williams

__all__ = [
    "MetricScores",
    "Study",
    "compare",
    "compare_all",
    "correlate",
    "coverage",
    "decisions",
    "decisions_from_tests",
    "difference_curve",
    "error_agreement",
    "interval",
    "outliers",
    "pairwise_accuracy",
    "power",
    "read_study",
    "soft_pairwise_accuracy",
    "subset_correlations",
    "tie_calibrated_accuracy",
    "williams",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name(__name__, name)
