"""Read boards of scores: a table, or the files that an evaluation tool wrote."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, checked
from ..base.table import counted
from ..core.columns import FloatArray, Label
from ..data.board_files import FACTS, ScoreFile, score_files
from ..data.board_formats import TABLE, BoardFormat, format_of
from ..data.board_rows import LISTED, BoardData, ScoreRows, assembled, gap_notes
from ..data.column_roles import Names
from ..data.json_records import json_records
from ..data.paths import bytes_of, decoded, existing, first_line, unzipped
from ..data.score_columns import labelled, refuse_gone, scores_of
from ..data.score_tables import score_table
from ..data.sources import as_names
from ..data.system_scores import SystemScores
from ..errors import JudgmentError, OptionError
from .board import Board

_IDS = ("instance_id", "item", "id")  # how a file of items calls them


@checked
def read_board(
    source: object,
    *,
    format: str = "auto",
    task: Names = (),
    items: Annotated[str | os.PathLike[str] | Sequence[Label] | None, JUDGED_INSIDE] = None,
    system: str | None = None,
    item: Names = (),
    score: Names = (),
    rater: str | None = None,
    ignore: Names = (),
    cost: str | None = None,
    higher_is_better: bool = True,
) -> Board:
    """Read a board: systems scored on items, from a table or from the files that an evaluation tool wrote.

    Parameters
    ----------
    source : path, frame, list of records or SystemScores
        A folder of results, one file, a glob pattern of files, or a table of scores as `scores.SystemScores.from_frame`
        reads it.
    format : str
        ``"auto"`` recognizes the format by the names and first lines of files; or ``"table"``, ``"lm_eval"``,
        ``"inspect"``, ``"helm"``, ``"swe_bench"``, ``"every_eval_ever"``, ``"sacrerouge"``, ``"appraise"``,
        ``"mt_metrics_eval"``, ``"promptfoo"``, ``"livecodebench"``.
    task : str or sequence of str
        The tasks to keep; by default all.
    items : sequence of labels or path, optional
        All items of the benchmark, or the file that lists them. Results that list only solved items need it.
        ``"listed"`` takes only the items that some system solved.
    score : str or sequence of str, optional
        Which score to read if the results have several, such as a metric and a filter: ``"exact_match,strict-match"``.
        For a table, its columns of scores.
    system, item, rater, ignore
        Columns of a table, as in `scores.SystemScores.from_frame`.
    cost : str, optional
        Column of a table with the cost of each answer; needs `system` and `item`.
    higher_is_better : bool

    Returns
    -------
    Board
        ``leaderboard()`` ranks the systems. Notes say which scores are missing, averaged or left out.

    Raises
    ------
    JudgmentError
        For files that cannot be read, results that list only solved items without `items`, fewer than two systems, and
        one item number with different contents.
    OptionError
        For several scores or formats if none was chosen, and for unknown names.

    Notes
    -----
    Runs (epochs, seeds) and raters are averaged within system and item, so standard errors measure variation between
    items. If a system was run on an item again, the latest result counts. Samples that ended with an error have no
    score.

    Examples
    --------
    >>> import llbt
    >>> rows = [{"model": m, "question_id": q, "subject": s, "score": float(m == "a")}
    ...         for m in "ab" for q, s in ((1, "law"), (2, "law"), (3, "art"))]
    >>> board = llbt.scores.read_board(rows)
    >>> board.systems, len(board.items), list(board.facts)
    (('a', 'b'), 3, ['subject'])
    """
    columns = {"system": system, "rater": rater, "item": item, "ignore": ignore, "cost": cost}
    named = [name for name, value in columns.items() if value]
    if isinstance(source, (str, os.PathLike)):
        known, files = format_of(score_files(source), format)
        if known is not None:
            if named:
                raise OptionError(
                    f"{', '.join(f'{name}=' for name in named)} with results of {known.tool}",
                    "Leave them out, or pass format='table' for a table.",
                )
            data = assembled(_rows(known, files), _one(score), as_names(task, "task"), _items(items))
            return _board(data, known.name, higher_is_better)
        source = str(files[0].path) if len(files) == 1 else source
    elif format not in ("auto", TABLE):
        raise OptionError(f"format={format!r} with data in memory", expected="'auto' or 'table'")
    if task or items is not None:
        raise OptionError(
            f"{'task' if task else 'items'}= with a table of scores",
            "Select rows of the table before you read it.",
            expected="nothing",
        )
    if isinstance(source, SystemScores):
        if named or score:
            raise OptionError("columns are named for SystemScores, which are already read", "Leave them out.")
        return _board(BoardData(source, _facts(source)), TABLE, source.higher_is_better)
    if cost is not None and (system is None or not item):
        raise OptionError(
            f"cost={cost!r} without system= and item=",
            f"Name these columns, too: read_board(frame, system='system', item='item', cost={cost!r}).",
        )
    others = () if cost is None else (cost,)
    scores = SystemScores.from_frame(
        source, system=system, item=item, score=score, rater=rater, ignore=ignore, others=others
    )
    costs = None if cost is None else _costs(source, scores, str(system), as_names(item, "item"), cost)
    return _board(BoardData(scores, _facts(scores), costs), TABLE, higher_is_better)


def _rows(known: BoardFormat, files: Sequence[ScoreFile]) -> ScoreRows:
    """Return the rows of a tool's results; raise for records with missing fields or fields of another type."""
    try:
        rows = known.rows(files)
    except (KeyError, TypeError, AttributeError) as error:  # a record that the tool would not have written
        what = f"no field {error}" if isinstance(error, KeyError) else first_line(error)
        raise JudgmentError(
            f"{str(files[0].path)!r} or a file beside it is not in the format of {known.tool}: {what}",
            "Leave damaged files out, or pass format='table' for a table of scores.",
        ) from None
    systems = rows.frame["system"].unique()
    if len(systems) < 2:
        raise JudgmentError(
            f"1 system, {systems[0]!r}, in {counted(len(files), 'file')} of format {known.name!r}",
            "Put the results of other systems into the same folder, and read that.",
            expected="at least two systems",
        )
    return rows


def _one(score: Names) -> str | None:
    """Return the requested score of a tool's results."""
    names = as_names(score, "score")
    if len(names) > 1:
        raise OptionError(f"score={list(names)!r}", f"Pass one: score={names[0]!r}.", expected="one score of a tool")
    return names[0] if names else None


def _board(data: BoardData, source: str, higher_is_better: bool) -> Board:
    unused = tuple(name for name in data.scores.unused if name not in data.facts)
    scores = replace(data.scores, higher_is_better=higher_is_better, unused=unused)
    notes = (*scores.notes_beside(), *gap_notes(data))  # those of the scores are said by the leaderboard, too
    return Board(scores, data.facts, source, data.cost, data.cost_unit, notes)


def _items(items: object) -> list[Any] | None:
    """Return the items of a benchmark, given as labels or as the file that lists them."""
    if items is None or items == LISTED:
        return None if items is None else [LISTED]
    if isinstance(items, (str, os.PathLike)):
        return _items_of_file(os.fspath(items))
    if not isinstance(items, (Sequence, np.ndarray, pd.Series, pd.Index, set, frozenset)) or not len(items):
        raise OptionError(f"items= is {type(items).__name__}", expected="labels of items, a path or 'listed'")
    return list(items)


def _items_of_file(path: str) -> list[Any]:
    text = decoded(unzipped(bytes_of(existing(path)), path), path)
    if Path(path).suffix in (".json", ".jsonl"):
        records = json_records(text, path)
    else:
        records = [line.strip() for line in text.splitlines() if line.strip()]
    labels = [next((r[name] for name in _IDS if name in r), None) if isinstance(r, dict) else r for r in records]
    if None in labels:
        raise JudgmentError(f"{path!r}: record {labels.index(None)} names no item", expected=f"a field {_IDS[0]!r}")
    return labels


def _facts(scores: SystemScores) -> pd.DataFrame:
    """Return the columns that describe items: one value per item, and repeated values or the name of a known fact."""
    first = np.empty(len(scores.instances), dtype=np.intp)
    first[scores.place[::-1]] = np.arange(len(scores.place))[::-1]
    facts = {}
    for name in scores.columns:
        if name in (scores.instance, scores.rater, *scores.items):
            continue
        codes, values = labelled(scores.columns[name])
        some = str(name).casefold() in FACTS or len(values) < len(first)
        if some and len(values) and bool((codes == codes[first][scores.place]).all()):
            facts[str(name)] = scores.columns[name].iloc[first].to_numpy()
    return pd.DataFrame(facts, index=range(len(first)))


def _costs(source: object, scores: SystemScores, system: str, item: Sequence[str], cost: str) -> FloatArray:
    table = score_table(source)
    refuse_gone(table, (cost,))
    if len(item) > 1:
        raise OptionError(f"cost={cost!r} with {len(item)} columns of items", "Join these columns to one column first.")
    values = pd.Series(scores_of(table[cost], cost)).groupby([table[system], table[item[0]]]).mean().unstack()
    costs: FloatArray = values.reindex(index=list(scores.systems), columns=list(scores.instances)).to_numpy(np.float64)
    return costs
