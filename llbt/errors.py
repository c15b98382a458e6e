"""The exceptions and warnings of llbt.

Every message says where, what was found, what was expected and what to do. Labels, columns and paths in it may come
from strangers, so no message sends a terminal anything but text.
"""

import re
import sys
import warnings
from collections.abc import Sequence

# controls, half characters, and what is not seen or changes the direction of what is: Unicode's Cc, Cs, Cf, Zl and Zp,
# fillers, and the joiner of graphemes
UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
_BELOW = "\n  "  # what messages set below their first line: a formula with a mark under it


def printable(text: object) -> str:
    r"""Return a text on one line as it may be printed: what cannot be seen in it as its escape, such as ``\u202e``."""
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


def _printable(message: object) -> object:
    return _BELOW.join(map(printable, message.split(_BELOW))) if isinstance(message, str) else message


class LLBTError(ValueError):
    """Anything that llbt refuses to do; the message says why and what to do instead."""

    def __init__(self, *message: object) -> None:
        super().__init__(*map(_printable, message))


class JudgmentError(LLBTError):
    """The judgments, counts or matrices handed in cannot be read as comparisons."""


class FormulaError(LLBTError):
    """The formula cannot be read, or names something that the table does not have."""


class DesignError(LLBTError):
    """What is asked for has no answer: a model that the table does not allow, an option unknown or out of place."""


class SeparationError(DesignError):
    """The maximum likelihood estimate does not exist: some parameters are infinite.

    Attributes
    ----------
    found : str
        Who separates, and what is infinite: a sentence without its full stop.
    remedy : str
        What to do instead.
    """

    def __init__(self, found: str, remedy: str = "") -> None:
        super().__init__(f"{found}. {remedy}" if remedy else found)
        self.found = printable(found)
        self.remedy = printable(remedy)


class LLBTWarning(UserWarning):
    """What was asked is answered, but there is something to know: not what was meant, perhaps, or not reliable."""

    def __init__(self, *message: object) -> None:
        super().__init__(*map(_printable, message))


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
    said = ", ".join(repr(label) for label in labels[:most])
    return said if len(labels) <= most else f"{said} and {len(labels) - most} more"


def braced(labels: Sequence[object], most: int = 8) -> str:
    """Return a set of labels for a message: ``{A, B, … (3 more)}``."""
    said = ", ".join(map(printable, labels[:most]))
    return "{" + (said if len(labels) <= most else f"{said}, … ({len(labels) - most} more)") + "}"
