"""The command line: files in, tables out."""

from __future__ import annotations

import ast
import contextlib
import csv
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import llbt
from llbt.auditing.audit import Audit, audited
from llbt.auditing.evidence import Named
from llbt.data.judgments import Asked
from llbt.errors import UNSEEN, printable
from llbt.report.study import UNITS, finite_fit
from llbt.report.writing import checked_target

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text, also where a help text has brackets
)


Method = StrEnum("Method", ["auto", "glm", "eliminate"])
Link = StrEnum("Link", ["adjacent", "cumulative", "probit"])
CovType = StrEnum(
    "CovType",
    [
        ("cautious", "cautious"),
        ("nonrobust", "nonrobust"),
        ("quasi", "quasi"),
        ("cluster", "cluster"),
        ("CR1", "CR1"),
        ("HC0", "HC0"),
    ],
)
Format = StrEnum("Format", ["text", "markdown", "latex", "html", "json", "csv"])
Text = str | None

_FILE = """A csv, tsv, json, jsonl or parquet file (gzipped or not), several with a quoted pattern such as
'a/*.parquet', - for csv from standard input or, where there is no such file, the name of a bundled data set (llbt
datasets)."""
_FORMULA = """The model, such as "object * judge + tie". [default: object, with + tie where there are ties and + order
where the order is kept]"""
_OBJECTS = "The two columns with the objects; that of object i first. [default: object_i,object_j]"
_OUTCOME = "Judgments: the column that says who won. [default: outcome]"
_OUTCOMES = """Judgments: what the labels of that column mean: each i, j, tie, bad (both are), or none to leave its rows
out; an empty label stands for missing outcomes: 1=i,0=j,0.5=tie,=none. Grades are whole numbers, positive for object i:
A>>B=2,A>B=1,A=B=0,A<B=-1,A<<B=-2. Or names (labels are the winners' names), or slots (they never are). Numbers always
need it."""
_INPUT = "How the judgments are written (llbt formats). [default: as the names of the columns say]"
_DROPPED = """How many judgments may be left out, counted, because nobody knows what their outcome says or they
compare an object with itself."""
_LABELS = """What the labels of objects are: text (2 and 2.0 are two) or number (they are one). [default: numbers where
all of them are written as numbers print]"""
_DEFAULTS = "What a field of the format says where FILE has no such field: baseline=gpt-4-0314."
_FAIL_ON = "Exit with 1 if one of these checks finds something; error, warning or note stand for all of that level."
_JUDGE = "The column with the judge. [default: judge]"
_PROMPT = "The column with what was judged. [default: prompt]"
_REPORT = "How to print the audit; json and csv are unrounded."
_WEIGHTS = "Judgments: the column with the number of judgments that a row stands for."
_STRENGTH = """Judgments: the column that says how much the winner is preferred, 1, 2, …, or a signed grade in place of
the outcome; strength for formats that have one. Without it there are wins, ties and losses."""
_WINS = "Counts: the two columns with the wins of object i and of object j. [default: wins_i,wins_j]"
_TIES = "Counts: the column with the ties; several are summed. [default: ties, if there is one]"
_COVARIATES = "Columns that split the table, such as judge,age; a formula may name them."
_CLUSTERS = "Columns that are kept beside the counts; they split nothing."
_NUMERIC = "Covariates to read as numbers; by default only columns with decimal points are."
_ORDER = "Keep which object was shown first (object i); else both presentations of a pair are merged."
_SIDES = "Covariates with a value for each side, and their two columns: length=length_a:length_b."
_TABLE = "A file with one row per object: a column object, and one for each object covariate."
_REFERENCE = "The object with log-worth 0. [default: the last]"
_COVARIANCE = """Standard errors: of independent judgments (nonrobust, HC0), of overdispersed ones (quasi), or by the
clusters of --groups (cluster, CR1); cautious: by those of judge, prompt, block and --clusters that make them largest,
if any is recorded."""
_GROUPS = "The column, or two of them, within which judgments depend on each other, for --cov-type cluster and CR1."
_FIXED = "Parameters to hold at a value: tie=-0.5."
_METHOD = "The solver: glm is statsmodels' Poisson GLM, eliminate is for large tables; both give the same results."
_LINK = """What makes probabilities of log-worths: adjacent is the log-linear model, cumulative Rao and Kupper's and
Agresti's, probit Thurstone's and Glenn and David's."""
_PAGE = "The file to write, - for standard output; one that is there is replaced."
_TITLE = "The heading of the page. [default: the name of FILE]"
_FORMAT = "How to print the fit; json and csv are unrounded."


def _option(name: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(name, help=" ".join(text.split()), metavar=metavar, show_default=metavar is None)


@app.command()
def example() -> None:
    """Print the fit of a bundled data set, and how to go on."""
    with _reported():
        res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool("judge"))
        typer.echo(
            "Dras (2015), Table 1: four systems compared in pairs by four judges, here pooled over the judges.\n"
            'Go on with llbt fit dras_table1 --formula "object * judge + tie", or a file of yours: llbt fit --help\n\n'
            f"{res}"
        )


@app.command()
def datasets() -> None:
    """Print the bundled data sets with their sizes and sources."""
    with _reported():
        typer.echo(llbt.list_datasets().as_text())


@app.command()
def fit(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help=" ".join(_FILE.split()), metavar="FILE", show_default=False)],
    formula: Annotated[Text, _option("--formula", _FORMULA, "FORMULA")] = None,
    objects: Annotated[Text, _option("--objects", _OBJECTS, "I,J")] = None,
    outcome: Annotated[Text, _option("--outcome", _OUTCOME, "COLUMN")] = None,
    outcomes: Annotated[Text, _option("--outcomes", _OUTCOMES, "LABEL=i|j|tie|bad|none|GRADE,…")] = None,
    strength: Annotated[Text, _option("--strength", _STRENGTH, "COLUMN")] = None,
    weights: Annotated[Text, _option("--weights", _WEIGHTS, "COLUMN")] = None,
    input_format: Annotated[Text, _option("--input-format", _INPUT, "NAME")] = None,
    defaults: Annotated[Text, _option("--defaults", _DEFAULTS, "FIELD=VALUE,…")] = None,
    labels: Annotated[Text, _option("--labels", _LABELS, "text|number")] = None,
    max_dropped: Annotated[int, _option("--max-dropped", _DROPPED, "N")] = 0,
    wins: Annotated[Text, _option("--wins", _WINS, "I,J")] = None,
    ties_column: Annotated[Text, _option("--ties-column", _TIES, "COLUMN,…")] = None,
    covariates: Annotated[Text, _option("--covariates", _COVARIATES, "COLUMN,…")] = None,
    clusters: Annotated[Text, _option("--clusters", _CLUSTERS, "COLUMN,…")] = None,
    numeric: Annotated[Text, _option("--numeric", _NUMERIC, "NAME,…")] = None,
    order: Annotated[bool, _option("--order", _ORDER)] = False,
    side_covariates: Annotated[Text, _option("--side-covariates", _SIDES, "NAME=I:J,…")] = None,
    object_covariates: Annotated[Text, _option("--object-covariates", _TABLE, "FILE")] = None,
    judge: Annotated[Text, _option("--judge", _JUDGE, "COLUMN")] = None,
    prompt: Annotated[Text, _option("--prompt", _PROMPT, "COLUMN")] = None,
    reference: Annotated[Text, _option("--reference", _REFERENCE, "OBJECT")] = None,
    cov_type: Annotated[CovType, _option("--cov-type", _COVARIANCE)] = CovType.cautious,
    groups: Annotated[Text, _option("--groups", _GROUPS, "COLUMN,…")] = None,
    fixed: Annotated[Text, _option("--fixed", _FIXED, "NAME=NUMBER,…")] = None,
    method: Annotated[Method, _option("--method", _METHOD)] = Method.auto,
    link: Annotated[Link, _option("--link", _LINK)] = Link.adjacent,
    form: Annotated[Format, _option("--format", _FORMAT)] = Format.text,
) -> None:
    """Fit a log-linear Bradley-Terry model to a table of judgments or counts.

    A table of counts has one row per pair, with the wins of either object. It is one if --wins or --ties-column is
    given, or if it has columns wins_i and wins_j and nothing is said about outcomes. Otherwise every row is a judgment.

    In lists, a name with a comma is quoted: '"a,b",c'. A message that asks for covariates='judge', as one writes it
    in Python, asks for --covariates judge here.
    """
    asked = _asked(ctx)
    with _reported():
        held = None if fixed is None else _numbers("fixed", fixed)
        by = [] if groups is None else _items("groups", groups)
        who = _taken(asked, UNITS)
        source, said = _opened(file, asked)
        if who and isinstance(source, llbt.Comparisons):
            raise _wrong(next(iter(who)), f"it is for files; the bundled data set {file!r} is read as it is.")
        data = _comparisons(source, said, [*who.values(), *by], [name for name in UNITS if name not in who])
        model = formula or llbt.default_formula(data)
        options: dict[str, Any] = {"link": link.value, "fixed": held, **_covariance(cov_type, by)}
        which = _object(reference, data)
        if method == Method.auto:
            res = llbt.fit(model, data, reference=which, **options)
        else:
            res = llbt.LLBT.from_formula(model, data, reference=which).fit(**options | {"method": method.value})
        typer.echo(_RENDERED[form](res))


@app.command()
def audit(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help=" ".join(_FILE.split()), metavar="FILE", show_default=False)],
    objects: Annotated[Text, _option("--objects", _OBJECTS, "I,J")] = None,
    outcome: Annotated[Text, _option("--outcome", _OUTCOME, "COLUMN")] = None,
    outcomes: Annotated[Text, _option("--outcomes", _OUTCOMES, "LABEL=i|j|tie|bad|none|GRADE,…")] = None,
    judge: Annotated[Text, _option("--judge", _JUDGE, "COLUMN")] = None,
    prompt: Annotated[Text, _option("--prompt", _PROMPT, "COLUMN")] = None,
    weights: Annotated[Text, _option("--weights", _WEIGHTS, "COLUMN")] = None,
    input_format: Annotated[Text, _option("--input-format", _INPUT, "NAME")] = None,
    defaults: Annotated[Text, _option("--defaults", _DEFAULTS, "FIELD=VALUE,…")] = None,
    labels: Annotated[Text, _option("--labels", _LABELS, "text|number")] = None,
    fail_on: Annotated[Text, _option("--fail-on", _FAIL_ON, "CHECK,…")] = None,
    form: Annotated[Format, _option("--format", _REPORT)] = Format.text,
) -> None:
    """Say what is wrong with judgments before a model does, and what to do about it."""
    with _reported():
        asked = _asked(ctx)
        who = _taken(asked, UNITS)
        found = _audited(*_opened(file, asked), who)
        failed = () if fail_on is None else found.failed(*_items("fail_on", fail_on))
        typer.echo(_rendered(found, form))
    if failed:
        typer.echo(f"failed: {', '.join(finding.check for finding in failed)}", err=True)
        raise typer.Exit(1)


@app.command()
def report(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help=" ".join(_FILE.split()), metavar="FILE", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help=_PAGE, metavar="FILE")] = Path("report.html"),
    formula: Annotated[Text, _option("--formula", _FORMULA, "FORMULA")] = None,
    title: Annotated[Text, _option("--title", _TITLE, "TEXT")] = None,
    objects: Annotated[Text, _option("--objects", _OBJECTS, "I,J")] = None,
    outcome: Annotated[Text, _option("--outcome", _OUTCOME, "COLUMN")] = None,
    outcomes: Annotated[Text, _option("--outcomes", _OUTCOMES, "LABEL=i|j|tie|bad|none|GRADE,…")] = None,
    strength: Annotated[Text, _option("--strength", _STRENGTH, "COLUMN")] = None,
    weights: Annotated[Text, _option("--weights", _WEIGHTS, "COLUMN")] = None,
    input_format: Annotated[Text, _option("--input-format", _INPUT, "NAME")] = None,
    defaults: Annotated[Text, _option("--defaults", _DEFAULTS, "FIELD=VALUE,…")] = None,
    labels: Annotated[Text, _option("--labels", _LABELS, "text|number")] = None,
    max_dropped: Annotated[int, _option("--max-dropped", _DROPPED, "N")] = 0,
    wins: Annotated[Text, _option("--wins", _WINS, "I,J")] = None,
    ties_column: Annotated[Text, _option("--ties-column", _TIES, "COLUMN,…")] = None,
    covariates: Annotated[Text, _option("--covariates", _COVARIATES, "COLUMN,…")] = None,
    clusters: Annotated[Text, _option("--clusters", _CLUSTERS, "COLUMN,…")] = None,
    numeric: Annotated[Text, _option("--numeric", _NUMERIC, "NAME,…")] = None,
    order: Annotated[bool, _option("--order", _ORDER)] = False,
    side_covariates: Annotated[Text, _option("--side-covariates", _SIDES, "NAME=I:J,…")] = None,
    object_covariates: Annotated[Text, _option("--object-covariates", _TABLE, "FILE")] = None,
    judge: Annotated[Text, _option("--judge", _JUDGE, "COLUMN")] = None,
    prompt: Annotated[Text, _option("--prompt", _PROMPT, "COLUMN")] = None,
    reference: Annotated[Text, _option("--reference", _REFERENCE, "OBJECT")] = None,
    cov_type: Annotated[CovType, _option("--cov-type", _COVARIANCE)] = CovType.cautious,
    groups: Annotated[Text, _option("--groups", _GROUPS, "COLUMN,…")] = None,
) -> None:
    """Write one HTML page: audit, leaderboard, pairs, model and fit, with pictures.

    The page is one file that loads nothing; send it as it is. The options say how FILE is written, as for llbt fit;
    --judge and --prompt name columns for the audit and for standard errors.
    """
    asked = _asked(ctx)
    with _reported():
        _refuse_standard_input(output, file, asked)
        target = None if str(output) == "-" else checked_target(output, (file, asked.get("object_covariates")))
        by = [] if groups is None else _items("groups", groups)
        who = _taken(asked, UNITS)
        source, said = _opened(file, asked)
        data = _comparisons(source, said, by, [who.get(name, name) for name in UNITS])
        found = _audited(data if _counts(said) else source, said, who)
        asked_of = {"reference": _object(reference, data), **_covariance(cov_type, by)}
        res = finite_fit(formula or llbt.default_formula(data), data, **asked_of)
        heading = title or ("Preference judgments" if file == "-" else Path(file).stem)
        if target is not None:
            typer.echo(f"written: {printable(llbt.write_report(res, target, title=heading, audit=found))}")
            return
        with tempfile.TemporaryDirectory() as folder:
            page = llbt.write_report(res, Path(folder, "report.html"), title=heading, audit=found)
            typer.echo(page.read_text(encoding="utf-8"), nl=False)


@app.command()
def formats() -> None:
    """Print the formats of judgments that are known, with the columns that mark them."""
    with _reported():
        typer.echo(llbt.formats.table().as_text())


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"llbt {llbt.__version__}")
        raise typer.Exit


@app.callback()
def _llbt(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Fit log-linear Bradley-Terry models to paired comparisons with ties, order effects and covariates."""


class _Said(io.TextIOWrapper):
    """Standard error, where names that came from outside are no commands to a terminal."""

    def write(self, text: str) -> int:
        return super().write("\n".join(map(printable, text.split("\n"))))


def main() -> None:
    """Run the command line; what it prints is UTF-8 whatever the locale."""
    if sys.stdout is None:
        raise SystemExit("error: standard output is closed")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    if isinstance(sys.stderr, io.TextIOWrapper) and not isinstance(sys.stderr, _Said):
        sys.stderr = _Said(sys.stderr.buffer, encoding="utf-8", line_buffering=True)
    app(prog_name="llbt")


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Print warnings to stderr, a line each; end with exit code 2 where llbt refuses."""
    refusal = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", llbt.errors.LLBTWarning)
        try:
            yield
        except llbt.LLBTError as error:
            error.asker = ""  # who asked is the command
            refusal = f"error: {error}"
        except BrokenPipeError:
            raise  # whoever read the output has enough: typer ends without a word
        except (OSError, MemoryError, RecursionError, UnicodeError) as error:
            refusal = f"error: {_in_words(error)}"
        finally:
            for warning in caught:
                typer.echo(f"warning: {' '.join(str(warning.message).split())}", err=True)
    if refusal:
        typer.echo(refusal, err=True)
        raise typer.Exit(2)


def _in_words(error: Exception) -> str:
    """Return one line for what the system refuses: a full disk, too little memory."""
    if isinstance(error, OSError):
        return f"{error.strerror or error}" + (f": {str(error.filename)!r}" if error.filename else "")
    said = {MemoryError: "not enough memory", RecursionError: "the input is nested too deeply"}
    return " ".join(f"{said.get(type(error), type(error).__name__)}: {error}".split()).rstrip(": ")


_FLAGS = {"format": "input-format", "max_dropped": "max-dropped"}  # parameters whose options have other names


def _asked(ctx: typer.Context) -> dict[str, Any]:
    """Return what was given for the table, by the names of the library's parameters."""
    params = {("format" if name == "input_format" else name): given for name, given in ctx.params.items()}
    return {name: given for name, given in params.items() if name in _READERS and given not in (None, False, 0)}


def _is_pattern(file: str) -> bool:
    return any(sign in file for sign in "*?[")


def _wrong(name: str, message: str) -> typer.BadParameter:
    option = name if name == "FILE" else f"'--{name.replace('_', '-')}'"
    return typer.BadParameter(message, param_hint=option)


# -- a table -------------------------------------------------------------------------------------------------


def _comparisons(
    source: Any, said: Mapping[str, Any], clusters: Sequence[str], units: Sequence[str]
) -> llbt.Comparisons:
    """Return the comparisons of a file, or a bundled data set as it is.

    The columns `clusters` are kept and have to be there, `units` are kept where they are.
    """
    if isinstance(source, llbt.Comparisons):
        return source
    kept = dict.fromkeys((*said.get("clusters", ()), *clusters))
    beside = [name for name in kept if name not in said.get("covariates", ())]
    door = llbt.from_counts if _counts(said) else llbt.from_judgments
    return door(source, **{**said, "clusters": beside, "units": units})


def _audited(source: Any, said: Mapping[str, Any], who: Mapping[str, str]) -> Audit:
    """Return the audit of a file as it is said to be written, or of a table."""
    if isinstance(source, llbt.Comparisons):
        return llbt.audit(source, **who)
    fields = {name: said[name] for name in ("objects", "outcome", "outcomes", "defaults", "labels") if name in said}
    return audited(
        source,
        said.get("format"),
        Asked(**fields),
        Named(weights=said.get("weights"), strength=said.get("strength"), **who),
    )


def _counts(said: Mapping[str, Any]) -> list[str]:
    """Return the options of tables of counts that were given."""
    return [name for name in ("wins", "ties_column") if name in said]


def _taken(asked: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return some of what was given, and take it out."""
    return {name: asked.pop(name) for name in names if name in asked}


def _covariance(cov_type: CovType, groups: Sequence[str]) -> dict[str, Any]:
    """Return how standard errors are asked for; groups alone mean those of clusters."""
    kind = CovType.cluster if groups and cov_type == CovType.cautious else cov_type
    return {"cov_type": kind.value, "groups": groups}


def _opened(file: str, asked: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return a file's judgments or counts, or a bundled data set, and the options that they are read with."""
    if file != "-" and not Path(file).exists() and not _is_pattern(file):
        return _bundled(file, asked), {}
    counts = _counts(asked)
    judgments = [
        name
        for name in ("outcome", "outcomes", "strength", "weights", "format", "defaults", "max_dropped")
        if name in asked
    ]
    if counts and judgments:
        raise _wrong(counts[0], f"it is for counts, --{_FLAGS.get(judgments[0], judgments[0])} for judgments.")
    if file == asked.get("object_covariates") == "-":
        raise _wrong("object_covariates", "standard input is FILE already.")
    options = {name: _READERS[name](name, given) for name, given in asked.items()}
    return _source(file), options


def _refuse_standard_input(output: Path, file: str, asked: Mapping[str, Any]) -> None:
    """Refuse to write over what is read from standard input."""
    if "-" not in (file, asked.get("object_covariates")):
        return
    with contextlib.suppress(OSError, ValueError):  # no file, or no standard input
        if os.path.samestat(os.fstat(sys.stdin.fileno()), output.stat()):
            raise _wrong("output", f"{str(output)!r} is standard input; name another file to write.")


def _source(file: str) -> Any:
    """Return a file's path, or the bytes on standard input."""
    return sys.stdin.buffer.read() if file == "-" else file


def _bundled(name: str, asked: Mapping[str, Any]) -> llbt.Comparisons:
    if name not in llbt.list_datasets().to_frame()["name"].tolist():
        raise _wrong("FILE", f"there is no file {name!r}, and no bundled data set of that name (llbt datasets).")
    if asked:
        raise _wrong(next(iter(asked)), f"it is for files; the bundled data set {name!r} is read as it is.")
    return llbt.load_dataset(name)


def _read(name: str, file: str) -> Any:
    return _source(file)


# -- the values of options -----------------------------------------------------------------------------------


def _verbatim(name: str, given: Any) -> Any:
    return given


def _items(name: str, text: str) -> list[str]:
    """Return the parts of a list; a part with a comma is quoted."""
    lines = list(csv.reader(text.splitlines(), skipinitialspace=True))
    parts = [part.strip() for line in lines for part in line]
    if not parts or not all(parts):
        raise _wrong(name, f"found {text!r}; expected parts separated by commas, none of them empty.")
    return parts


def _two(name: str, text: str) -> list[str]:
    parts = _items(name, text)
    if len(parts) != 2:
        raise _wrong(name, f"found {text!r}; expected two columns separated by a comma, that of object i first.")
    return parts


def _assigned(name: str, text: str, example: str) -> dict[str, str]:
    """Return what stands after the last = of each part, by what stands before it."""
    found: dict[str, str] = {}
    for part in _items(name, text):
        key, equals, value = (piece.strip() for piece in part.rpartition("="))
        if not equals:
            raise _wrong(name, f"found {part!r}; expected parts with an =, such as {example}.")
        if key in found:
            raise _wrong(name, f"{key!r} is there twice.")
        found[key] = value
    return found


def _outcomes(name: str, text: str) -> Any:
    """Return what labels mean; also a mapping as Python writes it, so that a message can be pasted."""
    if text in ("names", "slots"):
        return text
    if text.startswith("{"):
        try:
            return ast.literal_eval(text)
        except (SyntaxError, TypeError, ValueError):
            raise _wrong(name, f"{text} is not a mapping; expected one such as {{'left': 'i', 'no': None}}.") from None
    meanings = {"i": "i", "j": "j", "tie": "tie", "bad": "bad", "none": None, "": None}
    found = _assigned(name, text, "left=i,right=j,both=tie,skipped=none")
    grades = {value: int(value) for value in found.values() if re.fullmatch(r"[+-]?\d{1,3}", value)}
    wrong = [f"{key}={said}" for key, said in found.items() if said.lower() not in meanings and said not in grades]
    if wrong:
        raise _wrong(name, f"found {wrong[0]!r}; expected i, j, tie, bad, none or a whole number after the =.")
    said = {key or None: grades.get(value, meanings.get(value.lower())) for key, value in found.items()}
    flags = {"true": True, "false": False}  # as a table has them
    return said | {flags[key.lower()]: value for key, value in said.items() if key and key.lower() in flags}


def _sides(name: str, text: str) -> dict[str, list[str]]:
    sides = {key: value.split(":") for key, value in _assigned(name, text, "length=length_a:length_b").items()}
    for key, columns in sides.items():
        if not key or len(columns) != 2 or not all(columns):
            raise _wrong(name, f"found '{key}={':'.join(columns)}'; expected one such as length=length_a:length_b.")
    return sides


def _numbers(name: str, text: str) -> dict[str, float]:
    found = _assigned(name, text, "tie=-0.5")
    try:
        return {key: float(value) for key, value in found.items()}
    except ValueError as error:
        raise _wrong(name, f"{error}; expected a number after each =, such as tie=-0.5.") from None


def _object(text: str | None, data: llbt.Comparisons) -> str | int | float | None:
    """Return the object that is written so: 3 may be a number."""
    return next((label for label in data.objects if str(label) == text), text)


# -- what is printed -----------------------------------------------------------------------------------------


def _rendered(found: Audit, form: Format) -> str:
    frame = found.to_frame()
    if form == Format.json:
        return _as_json({"sizes": list(found.sizes), "notes": list(found.notes), "findings": frame.to_dict("records")})
    if form == Format.csv:
        return frame.to_csv(index=False, lineterminator="\n").removesuffix("\n")
    renderings = {Format.markdown: found.as_markdown, Format.latex: found.as_latex, Format.html: found.as_html}
    return renderings.get(form, found.as_text)()


_Fitted = llbt.LLBTResults | llbt.MixedResults | llbt.DiscriminationResults


def _sigma(res: _Fitted) -> dict[str, Any]:
    """Return how judges differ: standard deviations of effects, or discriminations."""
    if isinstance(res, llbt.LLBTResults):
        return {}
    found = res.scales if isinstance(res, llbt.MixedResults) else res.discriminations
    return {"sigma": {str(name): value for name, value in found.items()}}


def _json(res: _Fitted) -> str:
    fit: tuple[str, ...] = ("aic", "bic", "llf")
    if isinstance(res, llbt.LLBTResults):
        fit = ("deviance", "df_resid", "null_deviance", "df_null", "pearson_chi2", *fit, "nobs")
    frame = res.to_frame()
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    facts = {
        "formula": res.specification.formula,
        "objects": list(res.comparisons.objects),
        **{name: getattr(res, name) for name in fit},
        **_sigma(res),
        "n_judgments": res.comparisons.n_judgments,
        "converged": res.converged,
        "notes": list(res.summary(odds=False).notes),
        "coefficients": rows,
    }
    return _as_json(facts)


def _as_json(facts: Mapping[str, Any]) -> str:
    """Return facts as JSON in which what cannot be seen is escaped."""
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=2)
    return "\n".join(UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], line) for line in text.split("\n"))


_RENDERED: dict[Format, Callable[[_Fitted], str]] = {
    Format.text: lambda res: res.as_text(),
    Format.markdown: lambda res: res.as_markdown(),
    Format.latex: lambda res: res.as_latex(),
    Format.html: lambda res: res.as_html(),
    Format.json: _json,
    Format.csv: lambda res: res.to_frame().to_csv(index=False, lineterminator="\n").removesuffix("\n"),
}

_READERS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("objects", "wins"), _two),
    **dict.fromkeys(("ties_column", "covariates", "clusters", "numeric"), _items),
    **dict.fromkeys(
        ("outcome", "strength", "weights", "order", "format", "max_dropped", "judge", "prompt", "labels"), _verbatim
    ),
    "outcomes": _outcomes,
    "defaults": lambda name, text: _assigned(name, text, "baseline=gpt-4-0314"),
    "side_covariates": _sides,
    "object_covariates": _read,
}
