"""Scores of translations: exports of Appraise (DA, SQM, ESA) and data sets of mt-metrics-eval."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..base.table import counted
from ..errors import JudgmentError, listed
from .board_files import ScoreFile
from .board_rows import ScoreRows
from .score_columns import is_float

_APPRAISE = ("rater", "system", "segment", "type", "source", "target", "score", "document", "complete")
_APPRAISE_END = ("spans", "start", "end")  # exports before error spans were marked have the last two alone
_KINDS = frozenset({"TGT", "BAD", "CHK", "REF"})
_CHECKS = re.compile("^BAD$")
_NO_DOCUMENTS = re.compile(r"#bad|#dup|#incomplete|canary|tutorial", re.IGNORECASE)
_HUMAN = re.compile(r"(?P<pair>[^.]+)\.(?P<name>.+)\.(?P<level>[^.]+)\.score")
_METRIC = re.compile(r"(?P<name>.+)\.(?P<level>[^.]+)\.score")


def appraise_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of Appraise: a segment of a document in each line, scored by a user.

    Attention checks (type BAD), repeated and unfinished documents, and tutorials are left out and counted. If a user
    scored a segment several times, the last score counts; scores of several users are averaged.
    """
    frame = pd.concat([_appraise_frame(file) for file in files], ignore_index=True)
    notes = []
    for what, column, pattern in (
        ("of type BAD (attention checks)", "type", _CHECKS),
        ("of documents that are repeated, unfinished or for practice", "document", _NO_DOCUMENTS),
    ):
        out = frame[column].str.contains(pattern)
        if out.any():
            notes.append(f"{counted(int(out.sum()), 'row')} {what} left out")
        frame = frame[~out]
    if frame.empty:
        raise JudgmentError(f"{listed([str(file.path) for file in files], 3)}: every row is a check or a repeat")
    pairs = frame["source"] + "-" + frame["target"]
    return ScoreRows(
        pd.DataFrame(
            {
                "system": frame["system"],
                "task": pairs,
                "item": frame["document"] + " / " + frame["segment"],
                "document": frame["document"],
                "rater": frame["rater"],
                "time": frame["end"].astype(float),
                "score": frame["score"].astype(float),
            }
        ),
        tuple(notes),
        choose_task=True,
    )


def _appraise_frame(file: ScoreFile) -> pd.DataFrame:
    rows = [row for row in csv.reader(io.StringIO(file.text())) if row]
    for k, row in enumerate(rows, 1):
        if not 9 <= len(row) <= 13 or row[3] not in _KINDS or not is_float(row[6]):
            raise JudgmentError(
                f"{str(file.path)!r}, line {k}: {listed(row, 9)}",
                expected=f"the fields {', '.join((*_APPRAISE, *_APPRAISE_END))}",
            )
    ends = [float(row[-1]) if len(row) > 10 and is_float(row[-1]) else float(k) for k, row in enumerate(rows)]
    return pd.DataFrame([row[:9] for row in rows], columns=list(_APPRAISE)).assign(end=ends)


def mt_metrics_rows(files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of mt-metrics-eval: scores of segments by system, human and automatic, in the order of segments.

    Documents and domains come from ``documents/<pair>.docs``. A system called ``ref…`` is a reference translation.
    """
    frames, levels = [], set()
    for file in files:
        folders = file.path.resolve().parent.parts
        human = folders[-1] == "human-scores"
        name = (_HUMAN if human else _METRIC).fullmatch(file.name)
        if name is None:
            continue
        if name["level"] != "seg":
            levels.add(name["level"])
            continue
        pair = name["pair"] if human else folders[-1]
        frames.append(_segment_scores(file).assign(task=pair, metric=name["name"]))
    if not frames:
        raise JudgmentError(
            f"{counted(len(files), 'file')} of scores, none of segments (levels {listed(sorted(levels))})",
            expected="files <name>.seg.score",
        )
    frame = pd.concat(frames, ignore_index=True)
    documents = [_documents(file) for file in files if file.name.endswith(".docs")]
    if documents:
        frame = frame.merge(pd.concat(documents), on=["task", "item"], how="left")
    references = sorted({name for name in frame["system"] if name.startswith("ref")})
    note = f"{listed(references)} are reference translations, ranked among the systems; without= leaves them out"
    return ScoreRows(frame, (note,) if references else (), choose_task=True)


def _segment_scores(file: ScoreFile) -> pd.DataFrame:
    """Return the scores of one file: the k-th line of each system is segment k."""
    words = [line.split() for line in file.text().splitlines() if line.strip()]
    odd = next((k for k, row in enumerate(words, 1) if len(row) != 2), None)
    if odd is not None:
        raise JudgmentError(f"{str(file.path)!r}, line {odd}: {' '.join(words[odd - 1])!r:.80}", expected="two words")
    frame = pd.DataFrame(words, columns=["system", "score"])
    lengths = frame.groupby("system")["score"].size()
    if lengths.nunique() > 1:
        raise JudgmentError(
            f"{str(file.path)!r}: {lengths.index[0]!r} has {lengths.iloc[0]} lines, "
            f"{lengths.idxmin()!r} has {lengths.min()} and {lengths.idxmax()!r} {lengths.max()}",
            expected="the same number for each system, because segments are matched by their order",
        )
    frame["item"] = frame.groupby("system").cumcount() + 1
    try:
        frame["score"] = [np.nan if score == "None" else float(score) for score in frame["score"]]
    except ValueError as error:
        raise JudgmentError(f"{str(file.path)!r}: {error}", expected="numbers, or None") from None
    return frame


def _documents(file: ScoreFile) -> pd.DataFrame:
    words = [line.split() for line in file.text().splitlines() if line.strip()]
    short = next((row for row in words if len(row) < 2), None)
    if short is not None:
        raise JudgmentError(f"{str(file.path)!r}: the line {' '.join(short)!r:.60}", expected="a domain and a document")
    frame = pd.DataFrame([row[:2] for row in words], columns=["domain", "document"])
    return frame.assign(item=np.arange(1, len(frame) + 1), task=file.name.removesuffix(".docs"))
