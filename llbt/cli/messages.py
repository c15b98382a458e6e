"""Messages on standard error: warnings, errors with the names of options, and progress."""

from __future__ import annotations

import ast
import contextlib
import csv
import io
import re
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import typer

from ..errors import LLBTError, LLBTWarning, printable

PATIENCE = 2.0  # seconds that nothing is said of
_VALUE = r"""'[^'\n]*'|"[^"\n]*"|\{[^{}\n]*\}|\[[^][\n]*\]|\([^()\n]*\)|…|[\w.+-]*\w"""
_ARGUMENT = rf"([a-z_]+)=({_VALUE})?"
_CALL = r"\b[\w.]+\(((?:[^()\n]|\([^()\n]*\))*)\)"
_FRAME_FIRST = re.compile(r"(from_judgments|read_board)\(frame, ")
_SAID = re.compile(rf"{_CALL}|(?<![\w.'\"-])(?:[a-z_]+=(?:{_VALUE})?)(?:, [a-z_]+=(?:{_VALUE}))*(?!=)")
_OPTIONS_ALONE = re.compile(rf"(?:(?:…|c), )?{_ARGUMENT}(?:, {_ARGUMENT})*")
_ONE = re.compile(_ARGUMENT)
_OF_PYTHON = re.compile(
    r"\x00|\b(?:c|r|res|frame|llbt|Comparisons|pandas)[.\[]\w|\w(?<!\bgr)\([^)]*[…=]"
)  # what a shell has not; gr(judge, by=expert) is part of a formula
_FIT = re.compile(r"llbt\.fit\('([^']*)', c\)")
_BAR = re.compile(r": progress=True[^.]*")  # a terminal has a bar without asking
_NAMED_BESIDE = re.compile(r" \((?:Comparisons\.\w+(?:, )?)+\)")  # methods in parentheses
_SENTENCE, _CLAUSE = re.compile(r"(?<=[.?]) (?=[A-Z'])"), re.compile(r"; or |; |,? or ")
_BARE = re.compile(r"[\w@%+:,./=…-]+")
_COMMANDS = {  # calls that are commands
    "list_formats()": "llbt formats",
    "c.drop_ties()": "--outcomes tie=none (of counts --ties-column none)",
    "llbt.fit('object', llbt.from_judgments(frame))": "llbt fit FILE",
    "from_rankings(…)": "llbt fit --rankings",
    "from_choices(…)": "llbt fit --best",
    "from_ratings(…)": "llbt fit --ratings",
    "scores.leaderboard(…)": "llbt scores leaderboard",
}
_FITTED = re.compile(r"""llbt\.fit\((["'])([^"']*)\1, (?:…|c)(?=[,)])""")
_BY_TASK = re.compile(r"\[llbt\.fit\([^\]]* in frame\.groupby\('(\w+)'\)\]")
_WITHOUT = re.compile(r"frame\[~frame\['([^']+)'\]\.isin\((\[[^\]]*\])\)\]")
_ITSELF = re.compile(r"frame\[frame\['[^']+'\] != frame\['[^']+'\]\]")
_ASKED = re.compile(r"""llbt\.(influence|level_tests)(?:\(res, (?:by=|--by )["']?([\w-]+)["']?\))?""")
_LARGEST = "c.select(objects=max(c.components(), key=len))"
_WORDS = {"format": "input_format"}  # arguments of the library that are options under another name


# the options of the command that runs
_OPTIONS: ContextVar[Mapping[str, str]] = ContextVar("options", default=MappingProxyType({}))


class ErrorStream(io.TextIOWrapper):
    """Standard error with invisible characters escaped, so that names from files cannot control a terminal."""

    def write(self, text: str) -> int:
        """Write a text with invisible characters escaped; a line may overwrite the last one, as progress bars do."""
        again = "\r" if text.startswith("\r") else ""
        return super().write(again + "\n".join(map(printable, text.removeprefix(again).split("\n"))))


@contextlib.contextmanager
def reported(options: Mapping[str, str]) -> Iterator[None]:
    """Print warnings to stderr, a line each; end with exit code 2 where llbt refuses.

    Parameters
    ----------
    options : mapping
        Names of parameters → the options of the command.
    """
    refusal = ""
    _OPTIONS.set(options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LLBTWarning)
        try:
            yield
        except LLBTError as error:
            refusal = f"error: {_by_options(error, options)}"
        except BrokenPipeError:
            raise  # whoever read the output has enough: typer ends without a word
        except (OSError, MemoryError, RecursionError, UnicodeError) as error:
            refusal = f"error: {_in_words(error)}"
        finally:
            for warning in caught:
                typer.echo(f"warning: {remedied(' '.join(str(warning.message).split()), options)}", err=True)
    if refusal:
        typer.echo(refusal, err=True)
        raise typer.Exit(2)


def _in_words(error: Exception) -> str:
    """Return one line for an error of the system: a full disk, too little memory."""
    if isinstance(error, OSError):
        return f"{error.strerror or error}" + (f": {str(error.filename)!r}" if error.filename else "")
    text_of = {MemoryError: "not enough memory", RecursionError: "the input is nested too deeply"}
    return " ".join(f"{text_of.get(type(error), type(error).__name__)}: {error}".split()).rstrip(": ")


def _by_options(error: LLBTError, options: Mapping[str, str]) -> LLBTError:
    """Return an error whose fields name options in place of arguments; the command stands for the asker."""
    error.asker = ""
    error.where, error.found = spelled(error.where, options), spelled(error.found, options)
    error.expected, error.remedy = spelled(error.expected, options), remedied(error.remedy, options)
    return error


def remedied(text: str, options: Mapping[str, str]) -> str:
    """Return a remedy for the command line, without the parts that are only for Python."""
    text = _FIT.sub(r"--formula '\1'", _BAR.sub("", text))
    text = spelled(_NAMED_BESIDE.sub("", text), options, "\0")
    sentences = _SENTENCE.split(re.sub(r"\bNone\b", "none", text))
    usable = []
    for sentence in sentences:
        if _OF_PYTHON.search(sentence):
            parts = [part for part in _CLAUSE.split(sentence.rstrip(".")) if not _OF_PYTHON.search(part)]
            sentence = f"{' or '.join(parts)}." if parts and parts[0] in sentence[: len(parts[0])] else ""
        usable += [sentence] if sentence else []
    return " ".join(usable)


def spelled(text: str, options: Mapping[str, str], unknown: str = "") -> str:
    """Return a text with options where it has arguments of the library that the command has as options.

    A call such as ``fit(…, prior='jeffreys')`` is replaced by its options, if all of its arguments are options. Lines
    below the first, such as a formula with a mark under it, stay. An argument that the command does not have is marked
    as unknown.
    """

    def replaced(match: re.Match[str]) -> str:
        if match[1] is not None and not _OPTIONS_ALONE.fullmatch(match[1]):
            return _COMMANDS.get(match[0], match[0])  # a call of what the command line may not call
        named = _ONE.findall(match[1] or match[0])
        parts = [_option(name, value, options) for name, value in named]
        if len({name for name, _ in named}) < len(named) and None not in parts:
            return ", ".join(map(str, parts))  # alternatives
        return f"{unknown}{match[0]}" if None in parts else " ".join(part for part in parts if part is not None)

    first, below, rest = _FRAME_FIRST.sub(r"\1(…, ", text).partition("\n")
    return _SAID.sub(replaced, first) + below + rest


def cured(remedy: str, options: Mapping[str, str]) -> str:
    """Return a remedy of the audit with the options of `llbt fit`; what has no option stays a line of Python."""
    text = _BY_TASK.sub(r"--where \1=…", remedy.replace(_LARGEST, "--largest-component"))
    text = text.replace("frame.drop_duplicates()", "--drop copies")
    text = _FITTED.sub(lambda call: f"llbt.fit(…, formula={call[2]!r}", _ASKED.sub(_as_command, text))
    text = spelled(
        text, {name: option for name, option in options.items() if name != "method"}
    )  # conf_int's is another
    return _ITSELF.sub("--drop self", _WITHOUT.sub(_as_excluded, text))


def _as_command(match: re.Match[str]) -> str:
    by = f" FILE --by {match[2]}" if match[2] else ""
    return f"llbt {match[1].replace('_', '-')}{by}"


def _as_excluded(match: re.Match[str]) -> str:
    labels = ast.literal_eval(match[2])
    return f"--exclude {_typed(_joined([f'{match[1]}={label}' for label in labels]))}"


def answered(text: str) -> str:
    """Return a line of an answer with the options of the command that runs."""
    return spelled(text, _OPTIONS.get())


def _option(name: str, value: str, options: Mapping[str, str]) -> str | None:
    """Return the option for an argument, as it is typed; None if the command has no such option."""
    option = options.get(_WORDS.get(name, name))
    if option is None or not option.startswith("--"):
        return None
    try:
        read = ast.literal_eval(value.replace("…", "'…'")) if value else True
    except (SyntaxError, ValueError):
        read = value
    return option if read is True else f"{option} {_typed(_written(read))}"


def _written(value: Any) -> str:
    """Return a value of Python as the command line reads it."""
    if isinstance(value, Mapping):
        sides = {
            k: ":".join(map(_written, v)) if isinstance(v, list | tuple) else _written(v) for k, v in value.items()
        }
        return _joined([f"{'' if key is None else _written(key)}={meaning}" for key, meaning in sides.items()])
    if isinstance(value, (list, tuple, set)):
        return _joined([_written(part) for part in value])
    return "none" if value is None else str(value)


def _joined(parts: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(parts)
    return line.getvalue()


def _typed(text: str) -> str:
    """Return a text quoted for a shell, where it has to be."""
    if _BARE.fullmatch(text):
        return text
    return f"'{text}'" if "'" not in text else '"' + re.sub(r'(["$`\\])', r"\\\1", text) + '"'


# -- progress ------------------------------------------------------------------------------------------------


def watched() -> bool:
    """Whether standard error is a terminal, so that progress is shown."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal what is running and for how long, after two seconds."""
    if not watched():
        yield
        return
    done = threading.Event()
    clock = threading.Thread(target=_tick, args=(what, done), daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()


def _tick(what: str, done: threading.Event) -> None:
    """Write the seconds over one line until it is done, and take the line away."""
    start = time.monotonic()
    width = 0
    while not done.wait(PATIENCE if not width else 0.5):
        line = f"{printable(what)} … {time.monotonic() - start:.0f} s"
        width = max(width, len(line))
        sys.stderr.write(f"\r{line:<{width}}")
        sys.stderr.flush()
    if width:
        sys.stderr.write("\r" + " " * width)
        sys.stderr.write("\r")
        sys.stderr.flush()
