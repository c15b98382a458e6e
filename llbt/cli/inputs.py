"""Judgments, counts, scores and fits, made of FILE and its options."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import llbt

from ..auditing.audit import Audit, audited
from ..auditing.evidence import Named
from ..base.table import format_count
from ..data.asked import Asked
from ..data.files import open_source
from ..data.paths import held
from ..data.sources import in_memory
from ..errors import DesignError, LLBTError, listed
from ..fitting.fit import FitResults
from ..report.report_inputs import UNITS
from ..scores.board import Board
from .messages import working
from .options import BoardReading, Counting, Model, Reading, ScoreReading
from .row_choice import without_rows
from .signatures import given
from .values import (
    among,
    assigned,
    items,
    number_or,
    numbers,
    option_of,
    outcomes,
    pairs,
    prior_of,
    sides,
    two,
    where,
    wrong,
)

_FILES = ("object_covariates", "judge_covariates")  # beside FILE
_OF_COUNTS = ("wins",)
_LAYOUT = ("winner", "loser", "scores", "orders")
_OF_JUDGMENTS = ("outcome", "outcomes", "strength", "weights", "input_format", "defaults", "max_dropped", *_LAYOUT)


@dataclass(frozen=True, eq=False)
class Opened:
    """FILE and its layout.

    Attributes
    ----------
    source : path, bytes or Comparisons
        The last for a bundled data set.
    options : dict
        Arguments of the readers.
    who : dict
        The named columns of judge and prompt; of a bundled data set, only the audit uses them.
    """

    source: Any
    options: dict[str, Any]
    who: dict[str, Any]


def opened(file: str, reading: Reading, counting: Counting | None = None) -> Opened:
    """Return a file's judgments or counts, or a bundled data set, and the options that they are read with."""
    asked = given(reading, *([counting] if counting is not None else []))
    for name in ("pool", "largest_component"):
        asked.pop(name, None)
    who = {name: asked.pop(name) for name in UNITS if name in asked}
    if file != "-" and not Path(file).exists() and not _is_pattern(file):
        return Opened(_bundled(file, asked), {}, who)
    exclude, drop = (asked.pop(name, None) for name in ("exclude", "drop"))
    counts = [name for name in _OF_COUNTS if name in asked]
    judgments = [name for name in _OF_JUDGMENTS if name in asked]
    if counts and judgments:
        raise wrong(counts[0], f"it is for counts, {option_of(judgments[0])} for judgments.")
    streamed = [name for name in ("FILE", *_FILES) if (file if name == "FILE" else asked.get(name)) == "-"]
    if len(streamed) > 1:
        first = streamed[0] if streamed[0] == "FILE" else option_of(streamed[0])
        raise wrong(streamed[1], f"standard input is {first} already.")
    options = {name: _READERS[name](name, text) if name in _READERS else text for name, text in asked.items()}
    if "ties_column" in options and not counts:
        if len(options["ties_column"]) > 1:
            raise wrong("ties_column", f"several columns can only be summed with {option_of('wins')}; pass that, too.")
        options["ties_column"] = options["ties_column"][0]
    if "input_format" in options:
        options["format"] = options.pop("input_format")
    source = source_of(file)
    if exclude is not None or drop is not None:
        source = without_rows(source, exclude, drop, options)
    return Opened(source, options, who)


def source_of(file: str) -> Any:
    """Return a file's path, or the bytes of standard input and pipes, which can be read only once."""
    if file == "-":
        return sys.stdin.buffer.read()
    return held(file)


def _is_pattern(file: str) -> bool:
    return any(sign in file for sign in "*?[")


def _bundled(name: str, asked: Mapping[str, Any]) -> llbt.Comparisons:
    if name not in llbt.list_datasets().to_frame()["name"].tolist():
        raise wrong("FILE", f"there is no file {name!r}, and no bundled data set of that name (llbt datasets).")
    if asked:
        raise wrong(next(iter(asked)), f"it is for files; the bundled data set {name!r} is read as it is.")
    return llbt.load_dataset(name)


def refuse_standard_input(output: Path, file: str, counting: Counting) -> None:
    """Refuse to write over what is read from standard input."""
    if "-" not in (file, counting.object_covariates, counting.judge_covariates):
        return
    with contextlib.suppress(OSError, ValueError):  # no file, or no standard input
        if os.path.samestat(os.fstat(sys.stdin.fileno()), output.stat()):
            raise wrong("output", f"{str(output)!r} is standard input; name another file to write.")


# -- a table of counts ---------------------------------------------------------------------------------------


def counted(read: Opened, counting: Counting, groups: Sequence[str], units: str = "kept") -> llbt.Comparisons:
    """Return the comparisons of a file, or a bundled data set, summed over the covariates to pool.

    Parameters
    ----------
    groups : sequence of str
        Columns to keep as clusters; they must exist.
    units : {"kept", "found"}
        Whether a named judge and prompt must exist, or are kept only if they exist.
    """
    with working("reading"):
        return narrowed(_table(read, groups, units), counting.pool, counting.largest_component)


def narrowed(c: llbt.Comparisons, pool: str | None, largest_component: bool) -> llbt.Comparisons:
    """Return a table summed over the covariates to pool, or its largest group of objects."""
    c = _pooled(c, pool)
    return _largest(c) if largest_component else c


def _table(read: Opened, groups: Sequence[str], units: str) -> llbt.Comparisons:
    if isinstance(read.source, llbt.Comparisons):
        if read.who:
            raise wrong(next(iter(read.who)), "it is for files; a bundled data set is read as it is.")
        return read.source
    if "orders" in read.options and read.who:
        read = _once(read)
    named = tuple(read.who.values()) if units == "kept" else ()
    wanted = [name for name in UNITS if name not in read.who] if named else [read.who.get(name, name) for name in UNITS]
    clusters = dict.fromkeys((*read.options.get("clusters", ()), *named, *groups))
    beside = [name for name in clusters if name not in read.options.get("covariates", ())]
    door = llbt.from_counts if any(name in read.options for name in _OF_COUNTS) else llbt.from_judgments
    return door(read.source, **{**read.options, "clusters": beside, "units": wanted})


def _once(read: Opened) -> Opened:
    """Return judgments that count a pair once if a judge saw it in both orders on one prompt."""
    names = (
        "objects",
        "outcome",
        "outcomes",
        "winner",
        "loser",
        "scores",
        "orders",
        "ties_column",
        "ignore",
        "where",
        "missing",
    )
    of_reading = (*names, "defaults", "labels", "format", "max_dropped")
    first = {name: value for name, value in read.options.items() if name in of_reading}
    rest = {name: value for name, value in read.options.items() if name not in of_reading}
    return Opened(llbt.read_judgments(read.source, **first, **read.who), rest, {})


def _pooled(c: llbt.Comparisons, pool: str | None) -> llbt.Comparisons:
    if pool is None:
        return c
    return c.pool() if pool == "all" and "all" not in c.covariates else c.pool(*items("pool", pool))


def _largest(c: llbt.Comparisons) -> llbt.Comparisons:
    """Return the largest group of compared objects, with a note on the objects left out."""
    parts = sorted(c.components(), key=len, reverse=True)
    if len(parts) < 2:
        return c
    component = c.select(objects=parts[0])
    out = [str(label) for part in parts[1:] for label in part]
    gone = f"{format_count(c.n_judgments - component.n_judgments)} judgments of {listed(out, 6)}"
    return replace(
        component,
        notes=(*component.notes, f"left out, never compared with the others: {gone} (largest_component=True)"),
    )


@contextlib.contextmanager
def in_groups(c: llbt.Comparisons) -> Iterator[None]:
    """Add the remedy in options to an error about objects that were never compared."""
    try:
        yield
    except DesignError as error:
        if len(c.components()) > 1:
            error.remedy = "Pass --largest-component to fit the largest group alone."
        raise


def audit_of(read: Opened, c: llbt.Comparisons | None = None) -> Audit:
    """Return the audit of a file in the given format, or of its table `c` if the file has counts."""
    if isinstance(read.source, llbt.Comparisons):
        return llbt.audit(read.source, **read.who)
    with working("auditing"):
        if c is not None and any(name in read.options for name in _OF_COUNTS):
            return llbt.audit(c, **read.who)
        names = ("objects", "outcome", "outcomes", "defaults", "labels", "ties_column", "where", "missing", *_LAYOUT)
        ignored = tuple(read.options.get("ignore", ()))
        asked = Asked(ignore=ignored, **{name: read.options[name] for name in names if name in read.options})
        named = Named(weights=read.options.get("weights"), strength=read.options.get("strength"), **read.who)
        return audited(read.source, read.options.get("format"), asked, named)


# -- a fit ---------------------------------------------------------------------------------------------------


def groups_of(model: Model) -> list[str]:
    """Return the columns within which judgments depend on each other."""
    return [] if model.groups is None else items("groups", model.groups)


def asked_of(model: Model, c: llbt.Comparisons) -> dict[str, Any]:
    """Return the options of a fit; groups alone mean cluster-robust standard errors."""
    groups = groups_of(model)
    return {
        "reference": None if model.reference is None else _reference(model.reference, c),
        "method": model.method,
        "fixed": None if model.fixed is None else numbers("fixed", model.fixed),
        "prior": prior_of(model.prior),
        "penalty": None if model.penalty is None else number_or("penalty", model.penalty, "ridge"),
        "cov_type": "cluster" if groups and model.cov_type == "cautious" else model.cov_type,
        "groups": groups,
        "link": model.link,
    }


def fitted(formula: str | None, c: llbt.Comparisons, model: Model) -> FitResults:
    """Return the fit of a model, by default of the default formula for the table."""
    asked = asked_of(model, c)
    formula = formula or llbt.default_formula(c)
    with working("fitting"), in_groups(c):
        return llbt.fit(formula, c, discrimination=model.discrimination, approximation=model.approximation, **asked)


def _reference(text: str, c: llbt.Comparisons) -> Any:
    """Return the object with this label, or the named levels."""
    if "=" not in text or text in map(str, c.objects):
        return label_of(c.objects, text)
    labels = {"object": c.objects, **{column.name: column.levels for column in c.columns}}
    named = pairs("reference", text, "object=B,judge=J2")
    return {name: label_of(labels.get(name, ()), level) for name, level in named}


def label_of(labels: Iterable[Any], text: str) -> Any:
    """Return the label with this text; without one, the text itself, which is then refused by name."""
    return next((label for label in labels if str(label) == text), text)


def at_of(text: str | None, c: llbt.Comparisons | llbt.Rankings) -> Any:
    """Return the covariate values of a question, with the types that the table has."""
    if text is None or text == "average":
        return text
    sides = c.sides if isinstance(c, llbt.Comparisons) else ()
    levels = {column.name: column.levels for column in (*c.columns, *sides)}
    values: dict[str, list[Any]] = {}
    mixes: dict[str, dict[Any, float]] = {}
    for name, value in pairs("at", text, "judge=J3"):
        label, colon, weight = value.rpartition(":")
        if colon and value not in map(str, levels.get(name, ())):  # language=de:0.3
            mixes.setdefault(name, {})[among(levels.get(name, ()), label)] = numbers("at", f"{name}={weight}")[name]
        else:
            values.setdefault(name, []).append(among(levels.get(name, ()), value))
    both = [name for name in mixes if name in values]
    if both:
        expected = f"{both[0]}=…:0.3,{both[0]}=…:0.7"
        raise wrong("at", f"{both[0]!r} has values with and without a weight; expected {expected}.")
    return {name: chosen[0] if len(chosen) == 1 else chosen for name, chosen in values.items()} | mixes


@contextlib.contextmanager
def mixed(file: str | None) -> Iterator[Any]:
    """Yield the table of a target mix, or None; errors about `weights` name --mix."""
    try:
        yield None if file is None else in_memory(open_source(source_of(file)))
    except LLBTError as error:
        if file is not None:
            for part in ("where", "found", "expected", "remedy"):
                setattr(error, part, getattr(error, part).replace("weights=", "mix="))
        raise


def anchor_of(text: str | None, c: llbt.Comparisons | llbt.Rankings) -> Any:
    """Return the reference object of a leaderboard, or objects with their fixed values."""
    if text is None or "=" not in text or text in map(str, c.objects):
        return text if text is None else label_of(c.objects, text)
    return {label_of(c.objects, name): value for name, value in numbers("anchor", text).items()}


_READERS: dict[str, Callable[[str, str], Any]] = {
    **dict.fromkeys(("objects", "wins", "scores"), two),
    **dict.fromkeys(("outcome", "ties_column", "ignore", "covariates", "clusters", "numeric"), items),
    "outcomes": outcomes,
    "defaults": lambda name, text: assigned(name, text, "baseline=gpt-4-0314"),
    "where": where,
    "side_covariates": sides,
    **dict.fromkeys(_FILES, lambda name, file: source_of(file)),
}


# -- judgments and scores ------------------------------------------------------------------------------------


def judged(file: str, reading: Reading) -> Any:
    """Return judgments one by one, read by the given layout."""
    return judged_of(opened(file, reading), file)


def judged_of(read: Opened, file: str) -> Any:
    """Return the judgments of a file one by one."""
    if isinstance(read.source, llbt.Comparisons):
        raise wrong("FILE", f"the bundled data set {file!r} has counts; expected single judgments.")
    options: dict[str, Any] = {**read.options, **read.who}
    return llbt.read_judgments(read.source, **options)


def scored(file: str, reading: ScoreReading, beside: Sequence[str] = ()) -> llbt.scores.SystemScores:
    """Return scores of systems from a file by the roles of its columns; other columns are not systems."""
    rule: Any = {name: getattr(reading, name) for name in ("higher_is_better", "tie_threshold", "relative")}
    systems, others, item, score, ignore = (
        [] if text is None else items(name, text)
        for name, text in (
            ("systems", reading.systems),
            ("others", reading.others),
            ("item", reading.item or reading.instance),
            ("score", reading.score),
            ("ignore", reading.ignore),
        )
    )
    if systems and (reading.system or score):
        raise wrong(
            "systems", "it is for wide tables, one score column per system; --system and --score are for long tables."
        )
    others_named = [*others, *(name for name in beside if name not in others)]
    return llbt.scores.SystemScores.from_frame(
        frame_or_file(file),
        system=reading.system,
        item=item,
        score=score or systems,
        rater=reading.rater,
        ignore=ignore,
        others=others_named,
        **rule,
    )


def board_of(file: str, reading: BoardReading) -> Board:
    """Return the board of the results of an evaluation tool, without the systems to leave out."""
    board = llbt.scores.read_board(
        source_of(file),
        format=reading.input_format,
        score=[] if reading.score is None else items("score", reading.score),
        task=[] if reading.task is None else items("task", reading.task),
        items=reading.items,
        system=reading.system,
        item=[] if reading.item is None else items("item", reading.item),
        cost=reading.cost,
        higher_is_better=reading.higher_is_better,
    )
    return board if reading.without is None else board.without(*items("without", reading.without))


def metric_scores(
    file: str, metrics: str | None, *, human: str, system: str, input: str | None, rater: str | None, ignore: str | None
) -> llbt.metrics.MetricScores:
    """Return the scores of metrics and of humans of a file with a row per system and input."""
    return _metric_scores(frame_of(file), metrics, human=human, system=system, input=input, rater=rater, ignore=ignore)


def task_scores(
    file: str,
    metrics: str | None,
    *,
    human: str,
    system: str,
    input: str | None,
    rater: str | None,
    ignore: str | None,
    tasks: str,
) -> dict[Any, llbt.metrics.MetricScores]:
    """Return the scores of each task of a file with a row per task, system and input."""
    frame = frame_of(file)
    if tasks not in frame:
        raise wrong("tasks", f"the file has no column {tasks!r}; it has {listed(list(frame.columns), 20)}.")
    gone = int(frame[tasks].isna().sum())
    if gone:
        raise wrong("tasks", f"column {tasks!r} is empty in {gone:,} of {len(frame):,} rows.")
    return {
        task: _metric_scores(
            part.drop(columns=tasks), metrics, human=human, system=system, input=input, rater=rater, ignore=ignore
        )
        for task, part in frame.groupby(tasks, sort=True)
    }


def _metric_scores(
    frame: Any,
    metrics: str | None,
    *,
    human: str,
    system: str,
    input: str | None,
    rater: str | None,
    ignore: str | None,
) -> llbt.metrics.MetricScores:
    if input is None and "input" in frame:
        input = "input"
    names = None if metrics is None else items("metrics", metrics)
    left = () if ignore is None else items("ignore", ignore)
    return llbt.metrics.MetricScores.from_frame(
        frame, names, human=human, system=system, input=input, rater=rater, ignore=left
    )


def frame_of(file: str) -> Any:
    """Return the columns of a file, typed."""
    return in_memory(open_source(frame_or_file(file)))


def frame_or_file(file: str) -> Any:
    """Return the path of an existing file, or the content of standard input."""
    if file != "-" and not Path(file).exists() and not _is_pattern(file):
        raise wrong("FILE", f"there is no file {file!r}.")
    return source_of(file)
