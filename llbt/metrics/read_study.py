"""Read a study of metrics: a table in any layout, or the files that an evaluation tool wrote."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..base.arguments import checked
from ..data.column_roles import Names
from ..data.column_values import spelled
from ..data.sources import as_names
from ..errors import JudgmentError, OptionError, listed
from .metric_scores import MetricScores
from .study import Study
from .study_parts import StudyPart
from .study_tables import StudyRoles, StudyTable, study_tables
from .task_scores import within_task

_HUMAN = "human"


@checked
def read_study(
    source: object,
    *,
    human: Names = (),
    metrics: Names = (),
    task: str | None = None,
    system: str | None = None,
    input: str | None = None,
    metric_column: str | None = None,
    score: str | None = None,
    rater: str | None = None,
    ignore: Names = (),
    lower_is_better: Names = (),
    format: str = "auto",
) -> Study:
    """Read a study: scores of systems by metrics and by humans, on one task or several.

    Parameters
    ----------
    source : path, frame, list of records, or mapping of task to one of these
        A folder of mt-metrics-eval or of WMT's tables of system scores, sacrerouge's files, a glob pattern of files, or
        a table. A table has a column for each metric; or a column that names metrics, with one column of scores or a
        column for each system.
    human : str or sequence of str, optional
        The names of the human scores; by default ``human``.
    metrics : str or sequence of str, optional
        The metrics to keep; by default all other columns of scores. Columns named like lengths, times or numbers of
        rows are kept only if they are named here; a note lists them.
    task, system, input, metric_column, score, rater : str, optional
        Columns that are not recognized by their names. Scores of raters are averaged.
    ignore : str or sequence of str
        Columns to leave out.
    lower_is_better : str or sequence of str
        Metrics for which lower scores are better, such as TER. Their scores are negated.
    format : str
        As in `llbt.scores.read_board`, for files.

    Returns
    -------
    Study
        Inputs and systems without a human score are left out; a note states their number. A metric without scores on a
        task is not compared on this task.

    Raises
    ------
    JudgmentError
        For tables without systems or human scores, several scores of one metric, system and input, and fewer than two
        systems with human scores.
    OptionError
        For unknown metrics.

    Examples
    --------
    >>> import llbt
    >>> rows = [{"lp": lp, "system": s, "segment": k, "bleu": k + s, "human": float(s)}
    ...         for lp in ("en-de", "de-en") for s in range(4) for k in range(3)]
    >>> study = llbt.metrics.read_study(rows)
    >>> study.tasks, study.humans, study.metrics
    (('en-de', 'de-en'), ('human',), ('bleu',))
    """
    named = (*as_names(human, "human"), *as_names(metrics, "metrics"))
    roles = StudyRoles(task, system, input, metric_column, score, rater, as_names(ignore, "ignore"), named)
    tables = study_tables(source, format, roles)
    every = list(dict.fromkeys(name for table in tables for name in table.names))
    humans = _humans(every, as_names(human, "human"))
    asked = as_names(metrics, "metrics") or tuple(name for name in every if name not in humans)
    lower = as_names(lower_is_better, "lower_is_better")
    for option, names in (("metrics", asked), ("lower_is_better", lower)):
        gone = [name for name in names if name not in every]
        if gone:
            raise OptionError(f"{option}={listed(gone)}", expected=f"scores among {listed(every, 20)}")
    if not asked:
        raise JudgmentError(f"no metric, only {listed(humans)}", "Pass metrics= and the names of their columns.")
    parts = [part for table in tables for part in _parts(table, asked, humans, lower)]
    if not parts:
        raise JudgmentError(
            f"no task has scores by a metric and by {listed(humans)}", expected="scores of both on the same task"
        )
    twice = [key for key in {(p.task, p.human) for p in parts} if sum((p.task, p.human) == key for p in parts) > 1]
    if twice:
        raise JudgmentError(f"task {twice[0][0]!r} is in several tables", "Read it from one.")
    turned = (f"lower is better, signs changed: {listed(lower)}",) if lower else ()
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return Study.of(parts, (*notes, *turned))


def _humans(names: Sequence[str], asked: tuple[str, ...]) -> tuple[str, ...]:
    if not asked:
        asked = tuple(name for name in names if spelled(name) == _HUMAN)
    gone = [name for name in asked if name not in names]
    if gone or not asked:
        fault = f"human={listed(gone)}" if gone else "no scores are called 'human'"
        remedy = f"Pass human={names[0]!r} if these are the human scores." if names else ""
        raise JudgmentError(fault, remedy, expected="human scores")
    return asked


def _parts(table: StudyTable, metrics: Sequence[str], humans: Sequence[str], lower: Sequence[str]) -> list[StudyPart]:
    frame, roles = table.frame, table.roles
    tasks: list[Hashable] = [""] if roles.task is None else list(dict.fromkeys(frame[roles.task].tolist()))
    parts = []
    for task in tasks:
        rows = frame if roles.task is None else frame[frame[roles.task] == task]
        there = [name for name in metrics if name in rows and rows[name].notna().any()]
        judges = [name for name in humans if name in rows and rows[name].notna().any()]
        turned = rows.assign(**{name: -rows[name] for name in lower if name in rows}).reset_index(drop=True)
        for human in judges if there else ():
            with within_task(task):
                left = [str(name) for name in turned if name not in (*there, human, roles.system, roles.input)]
                scores = MetricScores.from_frame(
                    turned.drop(columns=[name for name in left if name != roles.rater]),
                    there,
                    human=human,
                    system=str(roles.system),
                    input=roles.input,
                    rater=roles.rater,
                )
                parts.append(StudyPart(task, human, scores))
    return parts
