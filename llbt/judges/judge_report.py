"""Is my LLM judge usable? From two columns, verdicts of people and of the machine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..base.arguments import Confidence, Count, Jobs, Rng, as_generator, checked
from ..base.table import Qualifying, counted, format_count
from ..core.columns import FloatArray, Label
from ..data.files import open_source
from ..data.frames import refuse_odd_cells
from ..data.judgments import read_judgments
from ..data.outcomes import Outcomes
from ..data.sources import in_memory
from ..errors import DesignError, JudgmentError, OptionError, listed, near
from .agreement import agreement
from .calibrate import calibrate
from .judge_biases import Verdicts, biases
from .judge_report_record import JudgeReport

_ROW = "file row"  # no column of a file is likely to have this name
_SIDES = (("object_i", "object_j"), ("model_a", "model_b"))  # columns of the objects that are known without being named
_FEWEST = 20  # labelled rows, for estimates at all
_PROMPT = "prompt"  # rows with the same value in this column may depend on each other
_CONSTANT = {"i": "the first object", "j": "the second object", "tie": "a tie"}


@checked
def report(
    data: object,
    *,
    human: str,
    machine: str,
    objects: Sequence[str] | None = None,
    outcomes: Outcomes = None,
    family: Sequence[Label] = (),
    length: Sequence[str] | None = None,
    order: bool = True,
    groups: str | None = None,
    confidence: Confidence = 0.95,
    n: Count = 999,
    rng: Rng = 0,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> JudgeReport:
    """Find out whether a machine's verdicts are usable: agreement, biases, labels that they replace, leaderboards.

    Parameters
    ----------
    data : frame, path or list of records
        One row for each pair of answers. Include rows without a human label; the machine's verdicts on them are used.
    human, machine : str
        The columns of the verdicts; an empty field in the column `human` is a row without a label.
    objects : two str, optional
        The columns of the objects; by default ``object_i, object_j`` or ``model_a, model_b``.
    outcomes : mapping, optional
        The outcome for each label in the columns of verdicts, as in `read_judgments`: ``{"left": "i", "right": "j",
        "equal": "tie"}``.
    family : sequence of labels
        The objects of the machine's own family, for self-preference.
    length : two str, optional
        The columns with the lengths of both answers, for length bias.
    order : bool
        Whether the first object of a row was shown first.
    groups : str, optional
        A column whose rows depend on each other, such as the prompt.
    confidence : float
    n : int
        Resamples of rows for the intervals of agreement.
    rng : int or numpy.random.Generator
    progress : bool
        Show a bar that counts the resamples.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    JudgeReport
        A row for each object: the calibrated leaderboard, and the leaderboards of people and of the machine. The lines
        above the table have the other answers. ``bias_table()``, ``agreement`` and ``calibration`` have the figures.
        ``llbt.write_report(found)`` writes a page.

    Raises
    ------
    JudgmentError
        For missing columns, for missing values of objects or groups, for unknown labels, and for fewer than 20 labelled
        rows.
    OptionError
        For unknown objects of the family.

    Notes
    -----
    Biases are tests in Bradley–Terry models, with errors clustered by row or by `groups`. Position bias is the order
    effect of the machine in all rows, tested against 0. The other biases compare machine and people in the same
    labelled rows: ``object * source`` with ties, order and length by source. Length bias: the effect of one standard
    deviation of (x_i − x_j)/(x_i + x_j) on the machine's log-odds, minus the effect on people's. Self-preference: how
    much higher the machine ranks its own objects relative to the others than people do. Leaderboard: whether any worths
    differ (Wald). A machine that prefers the better object more often than people do has larger differences between all
    worths. A family of good objects then gains, too. p-values are adjusted by Holm over the biases; a bias counts as
    found if its adjusted p-value is at most .05. A bias that is not found may still exist. In simulated files of 900
    rows with 300 labels, 5 % of the tests find a bias that does not exist; a machine that prefers the first of equal
    objects in 54 % is detected in 34 %. If the file does not record position, length or family, the answer names them
    as not answered.

    The calibrated leaderboard and the number of labels that the verdicts replace come from `calibrate`, with each row
    as a unit. If every row has a label, the verdicts can add nothing. Then a random half of the labels is hidden, and
    the answer is about the other half.

    References
    ----------
    Zheng, L. et al. (2023). Judging LLM-as-a-judge with MT-Bench and Chatbot Arena. NeurIPS Datasets and Benchmarks.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import llbt
    >>> rng = np.random.default_rng(1)
    >>> pairs = [rng.permutation(["x", "y", "z"])[:2] for _ in range(300)]
    >>> frame = pd.DataFrame(pairs, columns=["model_a", "model_b"])
    >>> frame["llm"] = np.where(rng.random(300) < 0.6, "model_a", "model_b")
    >>> frame["people"] = np.where(rng.random(300) < 0.8, frame["llm"], "model_b")
    >>> frame.loc[100:, "people"] = None
    >>> report = llbt.judges.report(frame, human="people", machine="llm", n=99)
    >>> report.labels, report.rows, sorted(report.unanswered)
    (100, 300, ['length', 'self-preference'])
    """
    table = in_memory(open_source(data))
    sides = _sides(table, objects)
    verdicts, notes = _verdicts(table, (human, machine), sides, outcomes, length, order, groups)
    known = sorted({*verdicts.machine["object_i"], *verdicts.machine["object_j"]})
    own = _family(family, known)
    draw = as_generator(rng)
    both = pd.concat([verdicts.human.assign(judge=human), verdicts.machine.assign(judge=machine)], ignore_index=True)
    agreed = agreement(
        both[both[_ROW].isin(verdicts.human[_ROW])],
        unit=_ROW,
        coefficients=["percent", "cohen_kappa"],
        confidence=confidence,
        n=n,
        rng=draw,
        progress=progress,
        n_jobs=n_jobs,
    )
    bias_tests = biases(verdicts, own, confidence)
    unanswered = dict(bias_tests.unanswered)
    labels, rows = len(verdicts.human), len(verdicts.machine)
    calibration = _calibrated(verdicts, verdicts.human, confidence, unanswered)
    constant = len(set(verdicts.machine["outcome"])) == 1
    half, worth = labels, float(labels) if constant else math.nan
    if calibration is not None:
        worth = calibration.effective_labels
    if labels == rows and calibration is not None:
        half = labels // 2
        some = verdicts.human.iloc[np.sort(draw.permutation(labels)[:half])]
        trial = _calibrated(verdicts, some, confidence, unanswered)
        worth = math.nan if trial is None else trial.effective_labels
    return JudgeReport(
        agreement=agreed,
        biases=bias_tests.tested,
        calibration=calibration,
        labels=labels,
        rows=rows,
        trial_labels=half,
        trial_worth=float(min(worth, rows)),  # with the verdicts, labels are worth at most one for each row
        unanswered=unanswered,
        family=own,
        confidence=confidence,
        notes=tuple(dict.fromkeys((*notes, *bias_tests.notes, *_dependent(table, groups)))),
    )


def _dependent(table: pd.DataFrame, groups: str | None) -> tuple[str, ...]:
    """Return a note if tests take rows as independent that may depend on each other."""
    if groups:
        return (Qualifying(f"Intervals of agreement take rows of one {groups} as independent."),)
    if _PROMPT not in table or not table[_PROMPT].duplicated().any():
        return ()
    advice = f"If they are not, use groups={_PROMPT!r}"
    return (Qualifying(f"All intervals and tests take rows of one {_PROMPT} as independent. {advice}."),)


def _sides(table: pd.DataFrame, objects: Sequence[str] | None) -> tuple[str, str]:
    """Return the columns of the objects."""
    if objects is not None:
        if isinstance(objects, str) or len(objects) != 2:
            raise OptionError(f"objects={objects!r}", expected="two columns, such as ('model_a', 'model_b')")
        return objects[0], objects[1]
    sides_there = next((sides for sides in _SIDES if set(sides) <= set(table)), None)
    if sides_there is None:
        raise JudgmentError(
            f"the columns are {listed(list(table))}", "Name the columns of the objects: objects=('left', 'right').",
            expected="object_i and object_j, or model_a and model_b",
        )  # fmt: skip
    return sides_there


def _verdicts(
    table: pd.DataFrame,
    columns: tuple[str, str],
    sides: tuple[str, str],
    outcomes: Outcomes,
    length: Sequence[str] | None,
    order: bool,
    groups: str | None,
) -> tuple[Verdicts, tuple[str, ...]]:
    """Return the verdicts of people and of the machine in one layout, and notes on rows that are left out."""
    if length is not None and (isinstance(length, str) or len(length) != 2):
        raise OptionError(f"length={length!r}", expected="two columns: length=('length_a', 'length_b')")
    if columns[0] == columns[1]:
        raise OptionError(
            f"human={columns[0]!r} and machine={columns[1]!r} are the same column",
            expected="one column of people's verdicts and one of the machine's",
        )
    wanted = {"human": columns[0], "machine": columns[1], "groups": groups}
    wanted |= {f"length[{k}]": name for k, name in enumerate(length or ())}
    wanted |= {f"objects[{k}]": name for k, name in enumerate(sides)}
    for parameter, name in wanted.items():
        if name is not None and name not in table:
            raise JudgmentError(
                f"there is no column {name!r} ({parameter}=){near(name, list(table))}",
                expected=f"one of {listed(list(table), 20)}",
            )
    refuse_odd_cells(table[[*dict.fromkeys(name for name in wanted.values() if name is not None)]])
    whole = table.assign(**{_ROW: np.arange(len(table))})
    _refuse_missing(whole, [*sides, *([groups] if groups else [])])
    judged = _filled(whole[columns[1]])
    labelled = judged & _filled(whole[columns[0]])
    _refuse_few(int(labelled.sum()), int(judged.sum()), columns)
    gap = _relative(whole[judged], length) if length else None
    notes = []
    if not judged.all():
        notes.append(Qualifying(f"{counted(int((~judged).sum()), 'row')} left out: no verdict in {columns[1]!r}."))

    def framed(column: str, rows: pd.Series) -> pd.DataFrame:
        given = whole[[*dict.fromkeys((*sides, column, _ROW, *([groups] if groups else [])))]]
        given = given.assign(**{column: given[column].where(rows)})
        if not isinstance(outcomes, Mapping | None):  # a word, or a wrong type that read_judgments refuses
            frame = read_judgments(given, objects=sides, outcome=column, outcomes=outcomes, missing="drop").to_frame()
        else:  # rows are left out by None, not removed, because errors have to state the row of the file
            meanings = {**(outcomes or {}), None: None}
            frame = read_judgments(given, objects=sides, outcome=column, outcomes=meanings).to_frame()
        if len(frame) < rows.sum():
            gone = counted(int(rows.sum()) - len(frame), "verdict")
            notes.append(Qualifying(f"{gone} in {column!r} not used: left out by outcomes=."))
        names = [*dict.fromkeys(("object_i", "object_j", "outcome", _ROW, *([groups] if groups else [])))]
        made = frame[names].copy()
        if gap is not None:
            made["length_a"], made["length_b"] = gap[made[_ROW]] / 2, -gap[made[_ROW]] / 2
        return made

    machine = framed(columns[1], judged)
    human = framed(columns[0], labelled & whole[_ROW].isin(machine[_ROW]))
    _refuse_few(len(human), len(machine), columns)
    return Verdicts(human, machine, _ROW, groups or _ROW, order, gap is not None), tuple(notes)


def _filled(column: pd.Series) -> pd.Series:
    """Return whether each field of a column has a value; an empty text is no value."""
    return column.notna() & (column.astype(str).str.strip() != "")


def _refuse_missing(table: pd.DataFrame, columns: Sequence[str]) -> None:
    for name in columns:
        missing = table[name].isna()
        if missing.any():
            raise JudgmentError(
                f"column {name!r}: {counted(int(missing.sum()), 'missing value')}, the first at row "
                f"{int(missing.to_numpy().argmax())}",
                "Fill in the values, or leave these rows out of the data.",
                expected="a value in every row",
            )


def _refuse_few(labels: int, rows: int, columns: tuple[str, str]) -> None:
    if labels < _FEWEST:
        raise JudgmentError(
            f"{counted(labels, 'row')} of {format_count(rows)} with both verdicts ({columns[0]!r} and {columns[1]!r})",
            "Label more rows.",
            expected=f"{_FEWEST} or more",
        )


def _relative(table: pd.DataFrame, length: Sequence[str]) -> FloatArray:
    """Return (x_i − x_j)/(x_i + x_j) by file row, divided by its standard deviation around 0."""
    sizes = table[list(length)].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    bad = ~(sizes >= 0).all(axis=1)
    if bad.any():
        raise JudgmentError(
            f"{counted(int(bad.sum()), 'row')} without two lengths in {listed(list(length))}, the first at row "
            f"{int(table[_ROW].to_numpy()[bad.argmax()])}",
            expected="numbers of at least 0",
        )
    total = sizes.sum(axis=1)
    share = np.divide(sizes[:, 0] - sizes[:, 1], total, out=np.zeros(len(total)), where=total > 0)
    spread = float(np.sqrt(np.mean(share**2)))
    if spread == 0:
        raise JudgmentError(f"the lengths {listed(list(length))} are equal in all rows", "Leave length= out.")
    difference = np.full(int(table[_ROW].max()) + 1, np.nan)
    difference[table[_ROW]] = share / spread
    return difference


def _family(family: Sequence[Label], known: Sequence[Any]) -> tuple[Label, ...]:
    by_text = {str(label): label for label in known}  # a shell has labels as text alone
    asked = [family] if isinstance(family, str) else family
    own = tuple(dict.fromkeys(label if label in known else by_text.get(str(label), label) for label in asked))
    unknown = [label for label in own if label not in known]
    if unknown or (own and len(own) == len(known)):
        what = f"family: no object {listed(unknown)}" if unknown else "family has all objects"
        raise OptionError(
            f"{what}{near(str(unknown[0]), known) if unknown else ''}", expected=f"some of {listed(known)}"
        )
    return own


def _calibrated(verdicts: Verdicts, human: pd.DataFrame, confidence: float, unanswered: dict[str, str]) -> Any:
    """Return the calibration of the verdicts by some labels, or None with the reason."""
    ties = (human["outcome"] == "tie").any() or (verdicts.machine["outcome"] == "tie").any()
    groups = None if verdicts.cluster == _ROW else verdicts.cluster
    first, *others = verdicts.machine["outcome"].unique()
    if not others:
        always = f"the machine's verdict is {_CONSTANT[first]} in every row, so it says nothing about the objects"
        unanswered["calibrated leaderboard"] = always
        return None
    formula = "object + tie" if ties else "object"
    try:
        return calibrate(
            human,
            verdicts.machine.assign(judge="machine"),
            formula=formula,
            unit=_ROW,
            groups=groups,
            confidence=confidence,
        )
    except (DesignError, JudgmentError) as error:
        unanswered["calibrated leaderboard"] = str(error)
        return None
