"""Answers of commands, printed in the requested format."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import typer

from ..auditing.audit import Audit
from ..base.notes import ALL
from ..base.table import Field, Record, Table, reworded
from ..errors import UNSEEN, LLBTError
from ..fitting.fit import FitResults
from ..fitting.fitted import is_fit
from .messages import answered
from .options import Printing
from .signatures import given
from .values import assigned, items, wrong

_FIGURES = (
    "deviance", "df_resid", "null_deviance", "df_null", "pearson_chi2", "aic", "bic", "llf", "aic_poisson",
    "bic_poisson", "llf_poisson", "n_cells",
)  # fmt: skip


def rendered(answer: Record, printing: Printing, page: Callable[..., str] | None = None) -> str:
    """Return an answer as text, Markdown, LaTeX, HTML, JSON or csv; the last two unrounded and whole.

    HTML is one table, or the result of `page`.

    csv has no place for notes, so they are written to standard error.
    Lines around the table name options of the command instead of arguments of the library.
    """
    asked = _asked(printing)
    if printing.format in ("text", "markdown", "latex", "html") and type(answer).as_text is Record.as_text:
        answer = _by_options(answer.table() if printing.columns is not None else answer._as_printed())
    match printing.format:
        case "json":
            return _as_json(_facts(answer))
        case "csv":
            for note in _by_options(answer.table()).notes:
                typer.echo(f"note: {note}", err=True)
            return answer.to_frame().to_csv(index=False, lineterminator="\n").removesuffix("\n")
        case "markdown":
            return answer.as_markdown(**asked)
        case "latex":
            return answer.as_latex(**asked)
        case "html":
            return answer.as_html(**asked) if page is None else page(answer, **asked)
        case "text":
            return answer.as_text(**asked).replace(ALL, "--notes all")


def _by_options(table: Table) -> Table:
    """Return a table whose lines name options."""
    head, foot = (tuple(map(answered, lines)) for lines in (table.head, table.foot))
    notes, more = reworded(table.notes, answered), answered(table.more)
    printed = None if table.printed is None else _by_options(table.printed)
    return replace(table, head=head, foot=foot, notes=notes, more=more, printed=printed)


def _asked(printing: Printing) -> dict[str, Any]:
    """Return the given options of a rendering."""
    asked: dict[str, Any] = {name: value for name, value in given(printing).items() if name != "format"}
    if printing.notes is not None and printing.format != "text":
        raise wrong("notes", f"it is for text; --format {printing.format} has all notes.")
    sized = printing.format in ("latex", "html")
    for_others = [name for name in asked if printing.format in ("json", "csv") or (name == "size" and not sized)]
    if for_others:
        where = "LaTeX and HTML" if for_others[0] == "size" else "text, Markdown, LaTeX and HTML"
        raise wrong(for_others[0], f"it is for {where}, not for --format {printing.format}.")
    if printing.columns is not None:
        asked["columns"] = items("columns", printing.columns)
    if printing.rename is not None:
        asked["rename"] = assigned("rename", printing.rename, "gpt-4-0613=GPT-4")
    return asked


def _facts(answer: Record) -> dict[str, Any]:
    """Return the JSON of an answer: its rows, and the facts about all of them."""
    if isinstance(answer, Audit):
        findings = answer.to_frame().to_dict("records")
        return {"sizes": list(answer.sizes), "notes": list(answer.notes), "findings": findings}
    if is_fit(answer):
        return _facts_of_fit(answer)
    table = answer.table()
    table = _by_options(table)
    lines = {"head": list(table.head), "foot": list(table.foot)}
    return {"title": table.title, **lines, "notes": list(table.notes), "rows": _rows(answer.to_frame())}


def _facts_of_fit(res: FitResults) -> dict[str, Any]:
    return {
        "formula": res.specification.formula,
        "objects": list(res.comparisons.objects),
        **_figures(res),
        **_sigma(res),
        "n_judgments": res.comparisons.n_judgments,
        "converged": res.converged,
        "notes": [*map(answered, res.summary(odds=False).notes)],
        "coefficients": _rows(res.to_frame()),
    }


def _figures(res: FitResults) -> dict[str, Any]:
    """Return the goodness-of-fit figures of a fit; some kinds of fit lack some of them."""
    figures = {}
    for name in _FIGURES:
        with contextlib.suppress(AttributeError, LLBTError):
            figures[name] = getattr(res, name)
    return figures


def _sigma(res: FitResults) -> dict[str, Any]:
    """Return how judges differ: standard deviations of effects, or discriminations."""
    scales = getattr(res, "scales", getattr(res, "discriminations", None))
    if scales is None:
        return {}
    return {"sigma": {str(name): value for name, value in scales.items()}}


def _rows(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows of a frame, with None for missing and infinite numbers, which JSON cannot write."""
    plain = frame.astype(object)
    return plain.where(frame.notna() & ~frame.isin([float("inf"), -float("inf")]), None).to_dict("records")


def _as_json(facts: Mapping[str, Any]) -> str:
    """Return facts as JSON, with invisible characters escaped."""
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=2, default=_plain)
    return "\n".join(UNSEEN.sub(lambda match: json.dumps(match[0])[1:-1], line) for line in text.split("\n"))


def _plain(value: Any) -> Any:
    """Return a number of numpy as Python's, anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def one_below_another(answers: Mapping[str, Record], name: str, notes: Sequence[str]) -> Table:
    """Return the rows of answers to one question, each with its subject in a first column."""
    tables = {about: answer.table() for about, answer in answers.items()}
    first = next(iter(tables.values()))
    about = [about for about, table in tables.items() for _ in table.fields[0].values]
    fields = [
        replace(field, values=[value for table in tables.values() for value in table.fields[k].values])
        for k, field in enumerate(first.fields)
    ]
    notes_once = dict.fromkeys((*(note for table in tables.values() for note in table.notes), *notes))
    return replace(first, fields=(Field(name, name, about), *fields), notes=tuple(notes_once))
