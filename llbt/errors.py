"""The exceptions and warnings of llbt.

Every error has fields: the place, the finding, the expectation and the remedy. Its text is made from these in one
place; code reads the fields, never the text. The labels, columns and paths in a text may come from strangers, so
invisible characters are escaped.
"""

import difflib
import importlib
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, TypeVar

T = TypeVar("T")

# controls, half characters, and what is not seen or changes the direction of what is: Unicode's Cc, Cs, Cf, Zl and Zp,
# fillers, and the joiner of graphemes
UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
_ROOMS = ("classical", "errors", "formats", "judges", "metrics", "planning", "plot", "scores")  # whose names users type
_FILES = ("csv", "tsv", "json", "jsonl", "parquet")
_COEFFICIENTS = ("kappa", "cohen_kappa", "fleiss_kappa", "krippendorff", "krippendorff_alpha", "scott_pi", "gwet_ac1")
_RENAMED = {  # old names before the rooms, and what to type now
    "choices_from": "from_choices",
    "fit_patterns": "fit",
    "fit_rankings": "fit",
    "patterns_from": "from_patterns",
    "rankings_from": "from_rankings",
}
_AGREEMENT = "llbt.judges.agreement(judgments, unit='prompt')"
_TO_TYPE = {  # names after "llbt." that users of other packages guess, and what to type instead
    **dict.fromkeys(("load", "read", "read_file"), "llbt.read_judgments('judgments.csv')"),
    **{f"{verb}_{kind}": f"llbt.read_judgments('judgments.{kind}')" for verb in ("read", "from") for kind in _FILES},
    **dict.fromkeys(("from_pandas", "from_dataframe", "from_frame", "from_df"), "llbt.from_judgments(frame)"),
    **dict.fromkeys((f"{room}{name}" for room in ("", "judges.") for name in _COEFFICIENTS), _AGREEMENT),
    **dict.fromkeys(("save", "dump"), "pandas.to_pickle(res, 'fit.pickle')"),
    "summary": "res.summary()",
    "predict": "res.predict()",
    "planning.power": "llbt.power(llbt.Scenario(odds=1.5)), or for a fit llbt.planning.needed(res, top=1)",
}
_MOST_NEAR = 3  # names in a message
_ALIKE = 0.75  # difflib's ratio from which a name is near another
_BELOW = "\n  "  # what messages set below their first line: a formula with a mark under it

__all__ = [
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
    "SlowWarning",
    "TiesWarning",
]


def printable(text: object) -> str:
    r"""Return a text on one line, with invisible characters as escapes such as ``\u202e``."""
    return UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), str(text))


def _printable(message: str) -> str:
    return _BELOW.join(map(printable, message.split(_BELOW)))


class LLBTError(ValueError):
    """The base class of all errors: the place, the finding, the expectation and the remedy.

    Attributes
    ----------
    asker : str
        The public function that was called, filled in by `arguments.checked`.
    where : str
        The file, column or row, in place of the function; empty if `found` shows it.
    found : str
        What is wrong, without a full stop if one of the next two follows.
    expected : str
        What was expected, without a full stop; may be empty.
    remedy : str
        The remedy: a sentence, or a line to paste; may be empty.

    Notes
    -----
    The text is made from the fields when it is printed, so a caller can still set `where` of a raised error.
    """

    def __init__(self, found: str = "", remedy: str = "", *, where: str = "", expected: str = "") -> None:
        super().__init__(found)
        self.asker = ""
        self.where, self.found, self.expected, self.remedy = where, found, expected, remedy

    def __str__(self) -> str:
        return _message(self)


def _message(error: LLBTError) -> str:
    """Return an error in words."""
    where = error.where or error.asker
    text = f"{where}: {error.found}" if where else str(error.found)
    text += f"; expected {error.expected}" if error.expected else ""
    text += f". {error.remedy}" if error.remedy else "." if error.expected else ""
    return _printable(text)


class JudgmentError(LLBTError):
    """The judgments, counts or matrices cannot be read as comparisons."""


class FormulaError(LLBTError):
    """The formula cannot be parsed, or it names something that the table does not have."""


class OptionError(LLBTError):
    """An argument has an invalid value, or it contradicts another argument."""


class DesignError(LLBTError):
    """The table does not allow the requested model or test."""


class SeparationError(DesignError):
    """The maximum likelihood estimate does not exist: some parameters are infinite.

    `found` names the separated objects or judges, and the infinite parameters.
    """


class LLBTWarning(UserWarning):
    """The result may be unreliable, or may not be what was intended."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_printable(message))


class TiesWarning(LLBTWarning):
    """The table has ties and the formula has no term for them (γ = 0)."""


class FormulaWarning(LLBTWarning):
    """A term of the formula cancels and describes nothing."""


class ClusterWarning(LLBTWarning):
    """There are too few clusters for a reliable cluster-robust covariance."""


class ConvergenceWarning(LLBTWarning):
    """The solver stopped before its tolerance was reached: the result is an approximation."""


class SlowWarning(LLBTWarning):
    """The call takes long: the message states what is running and what would be faster."""


@contextmanager
def within(part: str) -> Iterator[None]:
    """Add to any error in this context the name of the part where it occurred."""
    try:
        yield
    except LLBTError as error:
        error.found = f"{part}: {error.found}"
        raise


# packages whose frames are not the caller's: scipy's searches and cached values call functions of this package
_INSIDE = (__package__, "scipy", "functools")


def warn_user(message: str, category: type[LLBTWarning]) -> None:
    """Warn at the line of the caller outside this package, however deep inside it was called."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] in _INSIDE:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def repeated(names: Iterable[T]) -> tuple[T, ...]:
    """Return the names that occur more than once, in the order of their first occurrence."""
    return tuple(name for name, times in Counter(names).items() if times > 1)


def listed(labels: Sequence[object], most: int = 8) -> str:
    """Return labels quoted and joined for a message: ``'A', 'B' and 3 more``."""
    shown = ", ".join(map(safe_repr, labels[:most]))
    return shown if len(labels) <= most else f"{shown} and {len(labels) - most} more"


def safe_repr(value: object) -> str:
    """Return the repr of a value for a message, or its type where the repr of a caller's class raises."""
    return _in_text(value, repr)


def safe_str(value: object) -> str:
    """Return a value as text, or its type where the str of a caller's class raises."""
    return _in_text(value, str)


def _in_text(value: object, form: Callable[[object], str]) -> str:
    try:
        return form(value)
    except Exception:  # whatever a class of the caller's raises
        return f"<{type(value).__name__}, which cannot be printed>"


def unknown_name(module: str, name: str) -> AttributeError:
    """Return the error for a name that a public module does not have. It proposes a call, or similar names.

    Names in other modules are also proposed, with or without the module: ``plot_residual`` gives
    ``llbt.plot.residuals``.
    """
    fault = f"module {module!r} has no attribute {name!r}"
    call = _TO_TYPE.get(f"{module}.{name}".partition(".")[2])
    if call:
        return AttributeError(f"{fault}. Type {call}.", name=name, obj=None)
    near = [] if name.startswith("_") else _near(module, name)
    if not near:
        return AttributeError(fault, name=name, obj=sys.modules.get(module))
    # without the module Python has no suggestion of its own to add
    return AttributeError(f"{fault}. Did you mean {' or '.join(near)}?", name=name, obj=None)


def _near(module: str, name: str) -> list[str]:
    """Return the public names that look most like a name, those of its own room first."""
    package, _, own = module.partition(".")
    if name in _RENAMED and not own:
        return [f"{package}.{_RENAMED[name]}"]
    spelled: dict[str, list[str]] = {}
    for room in ("", *sorted(_ROOMS, key=lambda room: room != own)):
        place = f"{package}.{room}".rstrip(".")
        for known in getattr(importlib.import_module(place), "__all__", ()):  # none while it is being imported
            if known not in _ROOMS:
                for word in {known, f"{room}_{known}".strip("_"), f"{known}_{room}".strip("_")}:
                    spelled.setdefault(word.lower(), []).append(f"{place}.{known}")
    matches = difflib.get_close_matches(name.lower(), spelled, n=_MOST_NEAR, cutoff=_ALIKE)
    names = dict.fromkeys(full for word in matches for full in spelled[word])
    exact = [full for full in names if full.rpartition(".")[2].lower() == name.lower()]
    inside = [full for full in names if full.startswith(f"{module}.")] if own else []
    return list(exact or inside or names)[:_MOST_NEAR]


def near(name: str, known: Sequence[object]) -> str:
    """Return the question that proposes a similar known name, if there is one: `` (did you mean 'judge'?)``."""
    matches = difflib.get_close_matches(name, [str(one) for one in known], n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""


def kind_of(value: object) -> str:
    """Return the type of a value for a message, with its article: ``a dict``, ``an LLBTResults``."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeio' or name.startswith('LLBT') else 'a'} {name}"


def alternatives(options: Sequence[object]) -> str:
    """Return options for a message: ``'a', 'b' or None``."""
    *others, last = map(repr, options)
    return f"{', '.join(others)} or {last}" if others else last


def braced(labels: Sequence[object], most: int = 8) -> str:
    """Return a set of labels for a message: ``{A, B, … (3 more)}``."""
    shown = ", ".join(map(printable, labels[:most]))
    return "{" + (shown if len(labels) <= most else f"{shown}, … ({len(labels) - most} more)") + "}"


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name(__name__, name)
