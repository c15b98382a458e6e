"""One score for each system and item, from the rows of a tool's results: metric, task, retries, runs, gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..base.table import Qualifying, counted
from ..core.columns import FloatArray, Label
from ..errors import JudgmentError, OptionError, listed
from .board_files import ScoreFile
from .score_tables import item_label
from .system_scores import SystemScores

LISTED = "listed"
_ROLES = ("system", "item", "metric", "score", "task", "run", "rater", "time", "cost", "hash")


@dataclass(frozen=True, eq=False)
class ScoreRows:
    """Results of a tool, a row for each score.

    Attributes
    ----------
    frame : DataFrame
        Columns system, item and score, and where the tool writes them metric, task, run, rater, time (text that sorts),
        cost and hash (of the item); other columns are known facts about the items. A row without a score means that the
        item was run.
    notes : tuple of str
    cost_unit : str
        The unit of costs: dollars, tokens.
    solved_only : tuple of str
        Systems whose results list solved items only.
    by_name : mapping of str to callable
        Column → a function that reads its value from the name of an item, also of an item that no result lists.
    choose_task : bool
        Whether tasks have systems of their own, as pairs of languages have, so that one has to be chosen.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    cost_unit: str = ""
    solved_only: tuple[str, ...] = ()
    by_name: Mapping[str, Callable[[object], str]] = field(default_factory=dict)
    choose_task: bool = False


@dataclass(frozen=True, eq=False)
class BoardData:
    """One score of each of N systems on each of M items, with facts about the items and costs.

    Attributes
    ----------
    scores : SystemScores
    facts : DataFrame, M rows
    cost : ndarray, shape (N, M), or None
    cost_unit : str
    """

    scores: SystemScores
    facts: pd.DataFrame
    cost: FloatArray | None = None
    cost_unit: str = ""


def framed(rows: Sequence[dict[str, Any]], files: Sequence[ScoreFile]) -> pd.DataFrame:
    """Return rows as a frame without empty columns; raise if there are no rows, or if a name is missing."""
    if not rows:
        raise JudgmentError(
            f"{counted(len(files), 'file')} without a score, the first {str(files[0].path)!r}", expected="scores"
        )
    frame = pd.DataFrame(list(rows))
    frame["score"] = frame["score"].astype(float)
    for name in ("system", "item"):
        if frame[name].isna().any():
            gone = counted(int(frame[name].isna().sum()), "record")
            raise JudgmentError(f"{gone} that name no {name}", expected=f"the {name} of every record")
    for name in frame.columns.drop(["score", "item"]):
        nested = next((value for value in frame[name] if isinstance(value, (list, dict))), None)
        if nested is not None:
            raise JudgmentError(f"{nested!r:.60} as {name}", expected="a text or a number")
    if "metric" in frame:
        frame["metric"] = frame["metric"].map(str, na_action="ignore")
    return frame.drop(columns=[name for name in frame if name not in ("score", "run") and frame[name].isna().all()])


def assembled(
    rows: ScoreRows, metric: str | None = None, task: Sequence[str] = (), items: Sequence[Label] | None = None
) -> BoardData:
    """Return the scores of one metric; several are refused until the caller names one, never averaged.

    Parameters
    ----------
    rows : ScoreRows
    metric : str, optional
    task : sequence of str
        The tasks that are kept; by default all.
    items : sequence of labels, optional
        All items of a benchmark whose results list solved items only; ``("listed",)`` takes those that some result
        lists.

    Raises
    ------
    OptionError
        For unknown metrics and tasks, and if several metrics exist and none was chosen.
    JudgmentError
        For fewer than two systems, and one item number that means different items.
    """
    if rows.choose_task and not task and rows.frame["task"].nunique() > 1:
        there = sorted(rows.frame["task"].unique())
        raise OptionError(
            f"the results are of {len(there)} tasks with systems of their own: {listed(there, 12)}",
            f"Pass one: task={there[0]!r}.",
        )
    _refuse_no_labels(rows.frame)
    frame = _of_metric(_of_tasks(rows.frame, task), metric)
    _refuse_other_items(frame)
    frame, notes = _latest(frame)
    if rows.solved_only or items is not None:
        frame, beside = _completed(frame, rows.solved_only, items)
        notes += beside
    frame = frame.assign(**{name: frame["item"].map(read) for name, read in rows.by_name.items()})
    frame = _joined_items(frame)
    facts = [str(name) for name in frame if name not in _ROLES or name == "task"]
    table, averaged = _averaged(frame)
    notes += averaged
    known, differing = _facts(frame, facts)
    if differing:
        notes.append(f"not kept, because values differ between systems on one item: {listed(differing)}")
    scores = SystemScores.from_frame(
        table[["system", "item", "score"]].join(known, on="item"),
        system="system",
        item="item",
        score="score",
        others=[str(name) for name in known],
    )
    scores = replace(scores, notes=(*scores.notes, *rows.notes, *notes))
    cost = _costs(table, scores) if "cost" in table and table["cost"].notna().any() else None
    return BoardData(scores, known.reindex(list(scores.instances)).reset_index(drop=True), cost, rows.cost_unit)


def _refuse_no_labels(frame: pd.DataFrame) -> None:
    """Raise for labels that are lists or records, and for systems, items and tasks that are missing."""
    for name in (name for name in ("system", "item", "task", "run", "hash") if name in frame):
        column = frame[name] if name in ("system", "item", "task") else frame[name].dropna()
        odd = [value for value in column if not isinstance(value, (str, int, float, np.integer)) or value != value]
        if odd:
            raise JudgmentError(
                f"{counted(len(odd), 'record')} with {odd[0]!r:.60} as {name}", expected="text or a number"
            )


def _of_metric(frame: pd.DataFrame, metric: str | None) -> pd.DataFrame:
    if "metric" not in frame:
        if metric is not None:
            raise OptionError(f"score={metric!r}", "Leave it out: the results have one score.")
        return frame
    there = sorted(frame["metric"].dropna().unique())
    if metric is None and len(there) > 1:
        raise OptionError(
            f"the results have {len(there)} scores: {listed(there, 12)}", f"Pass one: score={there[0]!r}."
        )
    if metric is not None and metric not in there:
        raise OptionError(f"score={metric!r}", expected=f"one of {listed(there, 12)}")
    chosen = metric or (there[0] if there else None)
    return frame[(frame["metric"] == chosen) | frame["metric"].isna()].drop(columns="metric")


def _of_tasks(frame: pd.DataFrame, task: Sequence[str]) -> pd.DataFrame:
    if not task:
        return frame
    there = sorted(frame["task"].dropna().unique()) if "task" in frame else []
    gone = [name for name in task if name not in there]
    if gone:
        raise OptionError(f"task={listed(gone)}", expected=f"some of {listed(there, 20)}")
    return frame[frame["task"].isin(list(task))]


def _refuse_other_items(frame: pd.DataFrame) -> None:
    """Raise if two systems were run on different items with the same number."""
    if "hash" not in frame:
        return
    keys = [name for name in ("task", "item") if name in frame]
    several = frame.groupby(keys, observed=True, sort=False)["hash"].nunique() > 1
    if several.any():
        first = several.index[int(several.to_numpy().argmax())]
        raise JudgmentError(
            f"{counted(int(several.sum()), 'item')} with the same number and different contents, the first {first!r}: "
            "the systems were run on different versions or parts of the data",
            "Read them separately, or leave the other files out.",
        )


def _latest(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the last row of each system, item, run and rater: earlier ones were run again."""
    keys = [name for name in ("system", "task", "item", "run", "rater") if name in frame]
    if "time" in frame:
        frame = frame.sort_values("time", kind="stable")
    again = frame.duplicated(keys, keep="last")
    if not again.any():
        return frame, []
    if "time" not in frame:
        row = frame[again].iloc[0]
        raise JudgmentError(
            f"{row['system']!r} is scored on {row['item']!r} again ({counted(int(again.sum()), 'repeated row')}), and "
            "no time shows which is the later one",
            "Leave the other files out.",
            expected="one score each",
        )
    many = counted(int(again.sum()), "score")
    return frame[~again], [f"{many} left out: the same system was run again on the item, and the latest counts"]


def _joined_items(frame: pd.DataFrame) -> pd.DataFrame:
    """Return items with distinct labels if several tasks use the same numbers."""
    if "task" not in frame:
        return frame
    tasks = frame["task"].nunique()
    if tasks > 1 and (frame.groupby("item", observed=True)["task"].nunique() > 1).any():
        pairs = frame[["task", "item"]].drop_duplicates()
        names: dict[tuple[Any, Any], Label] = {key: item_label(key) for key in pairs.itertuples(index=False, name=None)}
        keys = zip(frame["task"], frame["item"], strict=True)
        frame = frame.assign(item=pd.Series([names[key] for key in keys], index=frame.index, dtype=object))
    return frame


def _completed(
    frame: pd.DataFrame, short: Sequence[str], items: Sequence[Label] | None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows, with added rows for unsolved items, which the results do not list."""
    there = list(dict.fromkeys(frame["item"]))
    if not short:
        raise OptionError("items= for results that state for each item whether it was solved", "Leave items= out.")
    if items is None:
        raise JudgmentError(
            f"the results of {counted(len(short), 'system')} list solved items only, {len(there)} different ones; an "
            "item that no system solved is in none of them",
            "Pass items= with the names of all items of the benchmark or the file that lists them, or items='listed' "
            "to score those that are listed.",
        )
    listed_only = tuple(items) == (LISTED,)
    wanted = there if listed_only else list(dict.fromkeys(items))
    unknown = [item for item in there if item not in set(wanted)]
    if unknown:
        raise JudgmentError(
            f"{counted(len(unknown), 'item')} of the results not in items=: {listed(unknown, 3)}",
            expected="all items of the benchmark",
        )
    known = set(zip(frame["system"], frame["item"], strict=True))
    added = [(system, item, 0.0) for system in short for item in wanted if (system, item) not in known]
    notes = [f"{counted(len(added), 'unlisted score')} of {counted(len(short), 'result')} counted as not solved"]
    if listed_only:
        notes.append(
            Qualifying(
                "Items that no system solved are in no result, so means are too high; McNemar's test is not affected."
            )
        )
    rows = pd.DataFrame(added, columns=["system", "item", "score"])
    return pd.concat([frame, rows], ignore_index=True), notes


def _averaged(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return one row for each system and item: the mean over its runs and raters."""
    over = [name for name in ("run", "rater") if name in frame]
    keys = ["system", "item"]
    if not frame.duplicated(keys).any():
        return frame, []
    values = [name for name in ("score", "cost") if name in frame]
    table = frame.groupby(keys, sort=False, observed=True)[values].mean().reset_index()
    which = " and ".join(f"{frame[name].nunique():,} {name}s" for name in over if frame[name].nunique() > 1)
    return table, [f"{counted(len(frame), 'score')} averaged over {which} within system and item"]


def _facts(frame: pd.DataFrame, names: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the facts about each item, and the columns that differ between rows of one item."""
    by_item = frame.groupby("item", sort=False, observed=True)
    differing = [name for name in names if (by_item[name].nunique() > 1).any()]
    return by_item[[name for name in names if name not in differing]].first(), differing


def _costs(table: pd.DataFrame, scores: SystemScores) -> FloatArray:
    wide = table.pivot(index="system", columns="item", values="cost")
    costs: FloatArray = wide.reindex(index=list(scores.systems), columns=list(scores.instances)).to_numpy(np.float64)
    return costs


def gap_notes(data: BoardData) -> tuple[str, ...]:
    """Return notes on missing scores, and on items that only one system has."""
    there = ~np.isnan(data.scores.values)
    lacking = there.shape[1] - there.sum(axis=1)
    notes: list[str] = []
    if lacking.any():
        order = np.argsort(-lacking, kind="stable")
        worst = [f"{data.scores.systems[k]}: {lacking[k]}" for k in order if lacking[k]]
        shown = ", ".join(worst[:3]) + (f" and {len(worst) - 3} more" if len(worst) > 3 else "")
        notes.append(f"{counted(int(lacking.sum()), 'score')} of {there.size:,} missing ({shown})")
    alone = there.sum(axis=0) == 1
    if alone.any():
        who = listed([data.scores.systems[k] for k in np.unique(np.argmax(there[:, alone], axis=0))], 3)
        many = counted(int(alone.sum()), "item")
        notes.append(Qualifying(f"One system alone has {many} ({who}): no pair is tested on them."))
    none = ~there.any(axis=0)
    if none.any():
        notes.append(f"{counted(int(none.sum()), 'item')} without a score of any system")
    return tuple(notes)
