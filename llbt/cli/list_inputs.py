"""Rankings, best-worst sets and ratings, and their fits, made of FILE and its options."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import pandas as pd
import typer

import llbt

from ..auditing.audit import Audit
from ..base.table import counted as in_words
from ..data.conjoint import attributes_of, profiles_of
from ..data.files import open_source
from ..data.list_layouts import ListLayout, judge_of, list_layout, makers_of, ratings_of
from ..data.row_filters import restricted
from ..data.sources import Source, in_memory, open_frame
from ..data.spare_columns import numbers_of_rows
from ..errors import JudgmentError, SeparationError, listed
from ..fitting.answer_clusters import ClusterCov
from ..fitting.fit import FitResults
from ..fitting.ranking_model import default_formula_of_lists, fit_cautiously
from ..formulas.brackets import has_brackets
from ..report.report_inputs import finite_fit
from .inputs import (
    Opened,
    asked_of,
    audit_of,
    counted,
    fitted,
    frame_or_file,
    groups_of,
    in_groups,
    narrowed,
    opened,
    source_of,
)
from .messages import answered, working
from .options import Counting, Lists, Model, Reading
from .signatures import given
from .values import items, option_of, prior_of, where, wrong

_KINDS = ("rankings", "best", "ratings")
_BESIDE = {  # options of a kind of lists → the kinds that they stand beside
    "worst": ("best",),
    "design": ("best",),
    "object": ("rankings", "ratings"),
    "block": ("rankings", "ratings"),
}
_KEPT = ("covariates", "clusters", "object_covariates", "judge", "prompt", "ignore", "where", "missing")
_OF_RATINGS = ("numeric", "judge_covariates", "pool", "largest_component")
_OF_PROFILES = (
    "every profile is checked as a separate object, but a model of attributes needs each profile only once: "
    "ignore findings of disconnected, separation and sparse"
)
_OF_FITS = ("reference", "cov_type", "groups", "prior")


def list_kind(lists: Lists) -> str:
    """Return which kind of lists the options name; empty for judgments and counts."""
    kinds = [name for name in _KINDS if getattr(lists, name) is not None]
    if len(kinds) > 1:
        raise wrong(kinds[1], f"{option_of(kinds[0])} names another kind of lists already.")
    for name, known in _BESIDE.items():
        if getattr(lists, name) is not None and not set(kinds) & set(known):
            raise wrong(name, f"use it only with {' or '.join(map(option_of, known))}.")
    if lists.unranked is not None and kinds not in ([], ["rankings"]):
        raise wrong("unranked", "it is for rankings.")
    return kinds[0] if kinds else ""


def data_of(
    file: str, lists: Lists, reading: Reading, counting: Counting, model: Model
) -> llbt.Comparisons | llbt.Rankings:
    """Return the judgments, counts or lists of a file: read by the options, or else by its columns."""
    return _data_of(file, lists, reading, counting, model, "kept")[0]


def _data_of(
    file: str, lists: Lists, reading: Reading, counting: Counting, model: Model, units: Literal["kept", "found"]
) -> tuple[llbt.Comparisons | llbt.Rankings, Opened | None]:
    """Return what a file holds, and how judgments or counts in it are written; None for lists and ratings."""
    if kind := list_kind(lists):
        with working("reading"):
            return _named(file, kind, lists, {**given(reading), **given(counting)}, model), None
    read = opened(file, reading, counting)
    try:
        return counted(read, counting, groups_of(model), units), read
    except JudgmentError:
        data = recognized(read, lists, reading, counting, model)
        if data is None:
            raise
        return data, None


def audited_fit(
    file: str, formula: str | None, lists: Lists, reading: Reading, counting: Counting, model: Model
) -> tuple[FitResults, Audit]:
    """Return the fit that a page is about, with Firth's bias reduction where estimates are infinite, and an audit."""
    data, read = _data_of(file, lists, reading, counting, model, "found")
    if isinstance(data, llbt.Rankings):
        checks = audit_of_lists(data, reading)
        try:
            return fit_of(formula, data, model), checks
        except SeparationError:
            if model.prior is not None:
                raise
            return fit_of(formula, data, replace(model, prior="jeffreys")), checks
    checks = audit_of_lists(data, reading) if read is None else audit_of(read, data)
    formula = formula or llbt.default_formula(data)
    if has_brackets(formula):
        return fitted(formula, data, model), checks
    with working("fitting"), in_groups(data):
        return finite_fit(formula, data, **asked_of(model, data)), checks


def audit_of_lists(data: llbt.Comparisons | llbt.Rankings, reading: Reading) -> Audit:
    """Return the audit of lists, or of the comparisons that ratings imply."""
    names = (*data.clusters, *data.covariates)
    judge = reading.judge or judge_of(names) or next((name for name in data.clusters if name != "block"), None)
    with working("auditing"):
        checks = llbt.audit(data, judge=judge, prompt=reading.prompt)
    profiles = isinstance(data, llbt.Rankings) and attributes_of(data)
    return replace(checks, notes=(*checks.notes, _OF_PROFILES)) if profiles else checks


def audit_of_file(file: str, lists: Lists, reading: Reading) -> Audit:
    """Return the audit of a file of judgments, counts, lists or ratings."""
    if kind := list_kind(lists):
        return audit_of_lists(_named(file, kind, lists, given(reading), Model()), reading)
    read = opened(file, reading)
    try:
        return audit_of(read)
    except JudgmentError:
        data = recognized(read, lists, reading, Counting(), Model())
        if data is None:
            raise
        return audit_of_lists(data, reading)


def refuse_lists(read: Opened, file: str, reading: Reading) -> None:
    """Refuse lists and ratings where verdicts on pairs are needed; name the command that compares judges."""
    data = recognized(read, Lists(), reading, Counting(), Model())
    if data is not None:
        raise JudgmentError(
            f"agreement needs verdicts on pairs, but the file is {data.notes[0]}",
            f"llbt audit {shlex.quote(file)} names judges who are unlike the others.",
        )


def recognized(
    read: Opened, lists: Lists, reading: Reading, counting: Counting, model: Model
) -> llbt.Comparisons | llbt.Rankings | None:
    """Return the lists or ratings that the columns of a file imply, or None."""
    done = ("exclude", "drop")  # these rows are gone already
    asked = {name: value for name, value in {**given(reading), **given(counting)}.items() if name not in done}
    if isinstance(read.source, llbt.Comparisons) or set(asked) - {*_KEPT, *_OF_RATINGS}:
        return None
    with working("reading"):
        table, notes, what = _table(read.source, asked)
        layout = _layout_of(open_frame(table, what))
        if layout is None or (layout.kind != "ratings" and set(asked) - set(_KEPT)):
            return None
        data = _lists(table, layout, asked, lists, model)
        layout_notes = () if layout.kind == "profiles" else (layout.note,)
        return replace(data, notes=(*layout_notes, *notes, *data.notes))


def _layout_of(source: Source) -> ListLayout | None:
    """Return how a table of lists is read; refuse a column that may count lists, with the remedy in options."""
    try:
        return list_layout(source) or profiles_of(source) or ratings_of(source)
    except JudgmentError as error:
        if counts := numbers_of_rows(source, ()):
            ignored = f"pass --ignore {shlex.quote(counts[0])} to count each row once"
            error.remedy = f"Write each list as often as it was given, or {ignored}."
        raise


def fit_of(formula: str | None, data: llbt.Comparisons | llbt.Rankings, model: Model) -> FitResults:
    """Return the fit of a model to a file, by default of the default formula."""
    if isinstance(data, llbt.Comparisons):
        return fitted(formula, data, model)
    options = {name: value for name, value in given(model).items() if not (name == "cov_type" and value == "cautious")}
    _refuse({name: value for name, value in options.items() if value not in ("auto", "adjacent")}, _OF_FITS, "rankings")
    asked: dict[str, Any] = {"reference": model.reference, "prior": prior_of(model.prior)}
    formula = formula or _sum_of(attributes_of(data)) or default_formula_of_lists(data)
    with working("fitting"):
        if model.cov_type == "cautious" and not model.groups:
            return fit_cautiously(formula, data, **asked)
        cov_type = cast(ClusterCov, options.get("cov_type", "cluster"))
        return llbt.fit(formula, data, cov_type=cov_type, groups=model.groups or "", **asked)


def _sum_of(names: Sequence[str]) -> str:
    return " + ".join(name if name.isidentifier() else f"Q({json.dumps(name)})" for name in names)


def two_models(data: llbt.Rankings) -> str:
    """Return the options that compare two models of lists: without and with an attribute, ties, or judge effects."""
    attributes = attributes_of(data)
    if len(attributes) > 1:
        both = [_sum_of(attributes[:-1]), _sum_of(attributes)]
        return " ".join(f"--formula {shlex.quote(formula)}" for formula in both)
    if data.largest_tie > 1:
        return "--formula object --formula object+tie"
    judge = next(iter((*data.covariates, *data.clusters)), "judge")
    return f"--covariates {shlex.quote(judge)} --formula object --formula {shlex.quote(f'object*{judge}')}"


def tell(data: llbt.Comparisons | llbt.Rankings) -> None:
    """Write to standard error how a file was read, where the answer does not state it."""
    for note in data.notes:
        typer.echo(f"note: {answered(note)}", err=True)


def _refuse(asked: Mapping[str, Any], known: Sequence[str], kind: str) -> None:
    other = [name for name in asked if name not in known]
    if other:
        raise wrong(other[0], f"it is not for {option_of(kind)}; known there: {listed([option_of(n) for n in known])}.")


# -- a table of lists ----------------------------------------------------------------------------------------


def _named(file: str, kind: str, lists: Lists, asked: dict[str, Any], model: Model) -> llbt.Comparisons | llbt.Rankings:
    """Return the rankings, best-worst sets or ratings of columns that the options name."""
    _refuse(asked, {"best": ("objects", *_KEPT), "ratings": (*_KEPT, *_OF_RATINGS)}.get(kind, _KEPT), kind)
    table, notes, _ = _table(frame_or_file(file), asked)
    layout = _layout_of_sets(lists, asked) if kind == "best" else _layout_of_values(kind, lists, table)
    data = _lists(table, layout, asked, lists, model)
    return replace(data, notes=(*notes, *data.notes)) if notes else data


def _table(source: object, asked: Mapping[str, Any]) -> tuple[pd.DataFrame, tuple[str, ...], str]:
    """Return the rows and columns that are read, notes on rows that are not, and the name of the table in messages."""
    read, notes = restricted(open_source(source), where("where", asked["where"]) if "where" in asked else None)
    table, ignored = in_memory(read), items("ignore", asked["ignore"]) if "ignore" in asked else []
    _refuse_gone(table, ignored, "ignore")
    return table.drop(columns=ignored), notes, read.what


def _refuse_gone(table: pd.DataFrame, names: Sequence[str], option: str) -> None:
    gone = [name for name in names if name not in table]
    if gone:
        raise wrong(option, f"the file has no column {listed(gone)}; it has {listed(list(table), 20)}.")


def _layout_of_sets(lists: Lists, asked: Mapping[str, Any]) -> ListLayout:
    best, worst = items("best", lists.best or ""), None if lists.worst is None else items("worst", lists.worst)
    objects = items("objects", asked["objects"]) if "objects" in asked else None
    if lists.design is not None:
        arguments: dict[str, Any] = {"design": source_of(lists.design), "best": best, "worst": worst}
        return ListLayout("sets", {**arguments, **({} if objects is None else {"objects": objects})}, "")
    if objects is None:
        raise wrong("best", "--objects names the columns with the objects of each set; pass it, or --design, too.")
    for name, columns in (("best", best), ("worst", worst or [""])):
        if len(columns) > 1:
            raise wrong(name, "several columns need --design, with one column for each set; pass it, too.")
    return ListLayout("sets", {"objects": objects, "best": best[0], "worst": worst and worst[0]}, "")


def _layout_of_values(kind: str, lists: Lists, table: pd.DataFrame) -> ListLayout:
    """Return how columns of ranks or ratings are read: one for each object, or one with a column of objects."""
    names = items(kind, getattr(lists, kind))
    _refuse_gone(table, names, kind)
    value = "rating" if kind == "ratings" else "rank"
    if lists.object is None:
        if lists.block is not None:
            raise wrong("block", "use it only with --object, which names the column of objects.")
        return ListLayout("ratings" if kind == "ratings" else "ranks", {"objects": names}, "")
    if len(names) > 1:
        raise wrong("object", f"with --object, {option_of(kind)} names one column, the column of the {value}s.")
    _refuse_gone(table, [lists.object], "object")
    block = items("block", lists.block) if lists.block else makers_of(open_frame(table), lists.object, names)
    _refuse_gone(table, block or [], "block")
    if block is None:
        raise wrong("object", "--block names the columns that make a list, such as judge,prompt; pass it, too.")
    return ListLayout(
        "ratings" if kind == "ratings" else "long", {"object": lists.object, value: names[0], "block": block}, ""
    )


def _lists(
    table: pd.DataFrame, layout: ListLayout, asked: Mapping[str, Any], lists: Lists, model: Model
) -> llbt.Comparisons | llbt.Rankings:
    """Return the lists of a table, or the comparisons that its ratings imply, with the kept columns."""
    table, absent, notes = _without_missing(table, layout, asked.get("missing"))
    beside = _beside(table, layout, asked, model)
    arguments: dict[str, Any] = {**layout.arguments, **absent, **beside}
    data: llbt.Comparisons | llbt.Rankings
    if layout.kind == "ratings":
        pairs = llbt.from_ratings(table, **arguments).to_comparisons()
        data = narrowed(pairs, asked.get("pool"), bool(asked.get("largest_component")))
    elif layout.kind == "profiles":
        data = llbt.from_choices(table, **beside)
    elif layout.kind == "sets":
        data = llbt.from_choices(table, **arguments)
    else:
        data = llbt.from_rankings(
            table, **arguments, **({} if lists.unranked is None else {"unranked": lists.unranked})
        )
    return replace(data, notes=(*notes, *data.notes)) if notes else data


def _without_missing(
    table: pd.DataFrame, layout: ListLayout, missing: str | None
) -> tuple[pd.DataFrame, dict[str, Any], tuple[str, ...]]:
    """Return the rows to read, the numbers that stand for a missing value, and notes, by --missing."""
    if layout.kind == "profiles":
        return _whole_tasks(table, layout, missing)
    sets = layout.kind == "sets"
    if missing not in (None, "drop"):
        if sets:
            raise wrong("missing", f"found {missing!r}; for best-worst sets, expected drop.")
        return table, {"missing": [_number(part) for part in items("missing", missing or "")]}, ()
    roles = ("best", "worst") if sets else ("objects", "object", "rank", "rating", "block")
    named = [layout.arguments.get(role) or [] for role in roles]
    names = [name for part in named for name in ([part] if isinstance(part, str) else part)]
    _refuse_gone(table, names, "best" if sets else "object")
    if missing is None:
        lacking = int(table[names].isna().any(axis=1).sum()) if sets else 0
        if lacking:
            what = f"no best or no worst is named in {in_words(lacking, 'row')}"
            raise JudgmentError(what, "Pass --missing drop to leave these rows out; a note counts them.")
        return table, {}, ()
    complete = table.dropna(subset=names).reset_index(drop=True)
    gone = len(table) - len(complete)
    note = f"{in_words(gone, 'row')} with a missing value left out (--missing drop)"
    return complete, {}, (note,) if gone else ()


def _whole_tasks(
    table: pd.DataFrame, layout: ListLayout, missing: str | None
) -> tuple[pd.DataFrame, dict[str, Any], tuple[str, ...]]:
    """Return the rows of tasks that have all attributes of their profiles, and a note on the others."""
    open_rows = table[layout.arguments["attributes"]].isna().any(axis=1)
    if not open_rows.any():
        return table, {}, ()
    if missing != "drop":
        what = f"an attribute is empty in {in_words(int(open_rows.sum()), 'row')}"
        raise JudgmentError(what, "Pass --missing drop to leave their tasks out; a note counts them.")
    task = table.groupby(layout.arguments["block"], sort=False).ngroup()
    gone = task.isin(task[open_rows])
    note = f"{in_words(task[gone].nunique(), 'task')} with a missing attribute left out (--missing drop)"
    return table[~gone].reset_index(drop=True), {}, (note,)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise wrong("missing", f"found {text!r}; expected drop, or numbers that mean none, such as -1.") from None


def _beside(table: pd.DataFrame, layout: ListLayout, asked: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the columns to keep beside lists: requested columns, --groups, and the columns of judges and prompts."""
    columns: dict[str, Any] = {
        name: items(name, asked[name]) for name in ("covariates", "clusters", "numeric") if name in asked
    }
    columns |= {name: source_of(asked[name]) for name in ("object_covariates", "judge_covariates") if name in asked}
    clusters = [*columns.get("clusters", ())]
    known = {*clusters, *columns.get("covariates", ())}
    of_options = {"groups": groups_of(model), **{name: [asked[name]] for name in ("judge", "prompt") if name in asked}}
    for option, names in of_options.items():
        _refuse_gone(table, [name for name in names if name not in known and name != "block"], option)
    named = [name for names in of_options.values() for name in names]
    used = {name for part in layout.arguments.values() for name in ([part] if isinstance(part, str) else part or ())}
    free = [str(name) for name in table if name not in used or name in _block(layout)]
    roles = {"judge": layout.judge or judge_of(free), "prompt": "prompt" if "prompt" in free else None}
    units = [name for role, name in roles.items() if name is not None and role not in asked]
    named += [name for name in units if _one_each(table, name, _block(layout))]
    clusters += [name for name in dict.fromkeys(named) if name not in known]
    if layout.kind == "ratings" and not clusters and not ("block" in table and "block" not in _block(layout)):
        clusters = ["block"]
    return {**columns, **({"clusters": clusters} if clusters else {})}


def _block(layout: ListLayout) -> Sequence[str]:
    return cast(Sequence[str], layout.arguments.get("block", ()))


def _one_each(table: pd.DataFrame, name: str, block: Sequence[str]) -> bool:
    """Whether a column has a label in every row, the same label in all rows of a list."""
    if table[name].isna().any():
        return False
    return not block or name in block or bool(table.groupby(list(block), sort=False)[name].nunique().eq(1).all())
