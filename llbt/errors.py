"""The exceptions and warnings of llbt.

Every message says where, what was found, what was expected and what to do.
"""

import sys
import warnings
from collections.abc import Sequence


class LLBTError(ValueError):
    """Anything that llbt refuses to do; the message says why and what to do instead."""


class JudgmentError(LLBTError):
    """The judgments, counts or matrices handed in cannot be read as comparisons."""


class FormulaError(LLBTError):
    """The formula cannot be read, or names something that the table does not have."""


class DesignError(LLBTError):
    """What is asked for has no answer: a model that the table does not allow, an option unknown or out of place."""


class SeparationError(DesignError):
    """The maximum likelihood estimate does not exist: some parameters are infinite."""


class LLBTWarning(UserWarning):
    """What was asked is answered, but there is something to know: not what was meant, perhaps, or not reliable."""


class TiesWarning(LLBTWarning):
    """The table has ties and the formula has no term for them (γ = 0)."""


class FormulaWarning(LLBTWarning):
    """A term of the formula cancels and describes nothing."""


class ClusterWarning(LLBTWarning):
    """Too few clusters for a cluster-robust covariance to be relied on."""


class ConvergenceWarning(LLBTWarning):
    """The solver stopped before its tolerance was reached: the result is an approximation."""


def warn_user(message: str, category: type[LLBTWarning]) -> None:
    """Warn at the line of the caller outside this package, however deep inside it was called."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == __package__:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def listed(labels: Sequence[object], most: int = 8) -> str:
    """Return labels quoted and joined for a message: ``'A', 'B' and 3 more``."""
    shown = ", ".join(repr(label) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown} and {len(labels) - most} more"


def braced(labels: Sequence[object], most: int = 8) -> str:
    """Return a set of labels for a message: ``{A, B, … (3 more)}``."""
    shown = ", ".join(str(label) for label in labels[:most])
    return "{" + (shown if len(labels) <= most else f"{shown}, … ({len(labels) - most} more)") + "}"
