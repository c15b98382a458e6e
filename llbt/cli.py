"""The command line: files in, tables out; only public names of `llbt` are called."""

from __future__ import annotations

import ast
import contextlib
import csv
import gzip
import io
import json
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import pandas as pd
import typer

import llbt

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text, also where a help text has brackets
)


Method = StrEnum("Method", ["auto", "glm", "eliminate"])
Format = StrEnum("Format", ["text", "markdown", "latex", "html", "json", "csv"])
Text = str | None

_FILE = """A csv or tsv file (gzipped or not), - for csv from standard input or, where there is no such file, the name
of a bundled data set (llbt datasets)."""
_FORMULA = 'The model, such as "object + tie", "object * judge + tie" or "object + tie + order".'
_OBJECTS = "The two columns with the objects; that of object i first. [default: object_i,object_j]"
_OUTCOME = "Judgments: the column that says who won. [default: outcome]"
_OUTCOMES = """Judgments: what the labels of that column mean: each i, j, tie, or none to leave its rows out; an empty
label stands for missing outcomes: 1=i,0=j,0.5=tie,=none. Or names (labels are the winners' names), or slots (they
never are). Numbers always need it."""
_WEIGHTS = "Judgments: the column with the number of judgments that a row stands for."
_WINS = "Counts: the two columns with the wins of object i and of object j. [default: wins_i,wins_j]"
_TIES = "Counts: the column with the ties; several are summed. [default: ties, if there is one]"
_COVARIATES = "Columns that split the table, such as judge,age; a formula may name them."
_CLUSTERS = "Columns that are kept beside the counts; they split nothing."
_NUMERIC = "Covariates to read as numbers; by default only columns with decimal points are."
_ORDER = "Keep which object was shown first (object i); else both presentations of a pair are merged."
_SIDES = "Covariates with a value for each side, and their two columns: length=length_a:length_b."
_TABLE = "A file with one row per object: a column object, and one for each object covariate."
_REFERENCE = "The object with log-worth 0. [default: the last]"
_FIXED = "Parameters to hold at a value: tie=-0.5."
_METHOD = "The solver: glm is statsmodels' Poisson GLM, eliminate is for large tables; both give the same results."
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
    formula: Annotated[str, _option("--formula", _FORMULA, "FORMULA")],
    objects: Annotated[Text, _option("--objects", _OBJECTS, "I,J")] = None,
    outcome: Annotated[Text, _option("--outcome", _OUTCOME, "COLUMN")] = None,
    outcomes: Annotated[Text, _option("--outcomes", _OUTCOMES, "LABEL=i|j|tie|none,…")] = None,
    weights: Annotated[Text, _option("--weights", _WEIGHTS, "COLUMN")] = None,
    wins: Annotated[Text, _option("--wins", _WINS, "I,J")] = None,
    ties: Annotated[Text, _option("--ties", _TIES, "COLUMN,…")] = None,
    covariates: Annotated[Text, _option("--covariates", _COVARIATES, "COLUMN,…")] = None,
    clusters: Annotated[Text, _option("--clusters", _CLUSTERS, "COLUMN,…")] = None,
    numeric: Annotated[Text, _option("--numeric", _NUMERIC, "NAME,…")] = None,
    order: Annotated[bool, _option("--order", _ORDER)] = False,
    side_covariates: Annotated[Text, _option("--side-covariates", _SIDES, "NAME=I:J,…")] = None,
    object_covariates: Annotated[Text, _option("--object-covariates", _TABLE, "FILE")] = None,
    reference: Annotated[Text, _option("--reference", _REFERENCE, "OBJECT")] = None,
    fixed: Annotated[Text, _option("--fixed", _FIXED, "NAME=NUMBER,…")] = None,
    method: Annotated[Method, _option("--method", _METHOD)] = Method.auto,
    form: Annotated[Format, _option("--format", _FORMAT)] = Format.text,
) -> None:
    """Fit a log-linear Bradley-Terry model to a table of judgments or counts.

    A table of counts has one row per pair, with the wins of either object. It is one if --wins or --ties is given, or
    if it has columns wins_i and wins_j and nothing is said about outcomes. Otherwise every row is a judgment.

    In lists, a name with a comma is quoted: '"a,b",c'. A message that asks for covariates='judge', as one writes it
    in Python, asks for --covariates judge here.
    """
    # what was given for the table, by the names of the library's parameters
    asked = {name: given for name, given in ctx.params.items() if name in _READERS and given not in (None, False)}
    with _reported():
        held = None if fixed is None else _numbers("fixed", fixed)
        data = _comparisons(file, asked)
        res = llbt.fit(formula, data, reference=_object(reference, data), method=cast(Any, method.value), fixed=held)
        typer.echo(_RENDERED[form](res))


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


def main() -> None:
    """Run the command line; what it prints is UTF-8 whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    app(prog_name="llbt")


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Print warnings to stderr, a line each; end with exit code 2 where llbt refuses."""
    refusal = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", llbt.LLBTWarning)
        try:
            yield
        except llbt.LLBTError as error:
            refusal = f"error: {error}"
        finally:
            for warning in caught:
                typer.echo(f"warning: {' '.join(str(warning.message).split())}", err=True)
    if refusal:
        typer.echo(refusal, err=True)
        raise typer.Exit(2)


def _wrong(name: str, message: str) -> typer.BadParameter:
    option = name if name == "FILE" else f"'--{name.replace('_', '-')}'"
    return typer.BadParameter(message, param_hint=option)


# -- a table -------------------------------------------------------------------------------------------------


def _comparisons(file: str, asked: Mapping[str, Any]) -> llbt.Comparisons:
    """Return the comparisons of a file or, where there is none, of a bundled data set; `asked` by parameter."""
    if file != "-" and not Path(file).exists():
        return _bundled(file, asked)
    counts = [name for name in ("wins", "ties") if name in asked]
    judgments = [name for name in ("outcome", "outcomes", "weights") if name in asked]
    if counts and judgments:
        raise _wrong(counts[0], f"it is for counts, --{judgments[0]} for judgments; expected one or the other.")
    if file == asked.get("object_covariates") == "-":
        raise _wrong("object_covariates", "standard input is FILE already.")
    frame = _read("FILE", file)
    options = {name: _READERS[name](name, given) for name, given in asked.items()}
    if counts or (not judgments and {"wins_i", "wins_j"} <= set(frame.columns)):
        return llbt.from_counts(frame, **options)
    if isinstance(options.get("outcomes"), dict):
        options["outcomes"] = _with_flags(options["outcomes"], frame.get(options.get("outcome", "outcome")))
    return llbt.from_judgments(frame, **options)


def _with_flags(outcomes: Mapping[Any, Any], column: pd.Series[Any] | None) -> dict[Any, Any]:
    """Return the mapping with keys such as true as the Boolean labels that pandas reads."""
    labels = [] if column is None else column.unique().tolist()
    flags = {str(label).lower(): label for label in labels if isinstance(label, bool)}
    return {flags.get(str(key).lower(), key): said for key, said in outcomes.items()}


def _bundled(name: str, asked: Mapping[str, Any]) -> llbt.Comparisons:
    if name not in llbt.list_datasets().to_frame()["name"].tolist():
        raise _wrong("FILE", f"there is no file {name!r}, and no bundled data set of that name (llbt datasets).")
    if asked:
        raise _wrong(next(iter(asked)), f"it is for files; the bundled data set {name!r} is read as it is.")
    return llbt.load_dataset(name)


def _read(name: str, file: str) -> pd.DataFrame:
    """Return a table from a file or standard input; NA is missing among numbers, and a label among labels."""
    separator = "\t" if ".tsv" in Path(file).suffixes else ","
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        frame, labels = (
            pd.read_csv(io.BytesIO(raw), sep=separator, keep_default_na=na, na_values=[""], low_memory=False)
            for na in (True, False)
        )
    except (OSError, EOFError, ValueError, zlib.error) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise _wrong(name, f"{file!r} cannot be read as {'tsv' if separator != ',' else 'csv'}: {what}") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise _wrong(name, f"{file!r} has more fields in its rows than in its first line, the names of the columns.")
    number = pd.api.types.is_numeric_dtype
    return pd.DataFrame({key: frame[key] if number(frame[key]) else labels[key] for key in frame})


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
    meanings = {"i": "i", "j": "j", "tie": "tie", "none": None, "": None}
    found = _assigned(name, text, "left=i,right=j,both=tie,skipped=none")
    wrong = [f"{key}={said}" for key, said in found.items() if said.lower() not in meanings]
    if wrong:
        raise _wrong(name, f"found {wrong[0]!r}; expected i, j, tie or none after the =.")
    return {key or None: meanings[said.lower()] for key, said in found.items()}


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


def _json(res: llbt.LLBTResults) -> str:
    fit = ("deviance", "df_resid", "null_deviance", "df_null", "pearson_chi2", "aic", "bic", "llf", "nobs")
    frame = res.to_frame()
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    facts = {
        "formula": res.specification.formula,
        "objects": list(res.comparisons.objects),
        **{name: getattr(res, name) for name in fit},
        "n_judgments": res.comparisons.n_judgments,
        "converged": res.converged,
        "notes": list(res.summary(odds=False).notes),
        "coefficients": rows,
    }
    return json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=2)


_RENDERED: dict[Format, Callable[[llbt.LLBTResults], str]] = {
    Format.text: llbt.LLBTResults.as_text,
    Format.markdown: llbt.LLBTResults.as_markdown,
    Format.latex: llbt.LLBTResults.as_latex,
    Format.html: llbt.LLBTResults.as_html,
    Format.json: _json,
    Format.csv: lambda res: res.to_frame().to_csv(index=False, lineterminator="\n").removesuffix("\n"),
}

_READERS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("objects", "wins"), _two),
    **dict.fromkeys(("ties", "covariates", "clusters", "numeric"), _items),
    **dict.fromkeys(("outcome", "weights", "order"), _verbatim),
    "outcomes": _outcomes,
    "side_covariates": _sides,
    "object_covariates": _read,
}
