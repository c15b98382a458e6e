"""Readers of frames of counts or judgments into Comparisons."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from ..base.arguments import JUDGED_INSIDE, TWO_NAMES, Number, checked
from ..base.table import counted, format_count
from ..core.columns import Coded, FloatArray, Label, Lines, groups
from ..core.comparisons import Comparisons
from ..core.grades import rising
from ..core.judgments import MADE, OBJECTS
from ..core.response import THREE, TWO, Response, both_bad
from ..errors import JudgmentError, OptionError
from .asked import Asked, Format, unless_default
from .both_orders import Orders
from .column_roles import Names, Wanted, wanted
from .countable import Countable, countable, tie_kind_notes
from .distinct_rows import Rows
from .files import open_source
from .frames import read_counts, read_label_pair, weight_notes
from .graded_outcomes import Judged
from .grades import Grades, grade_columns
from .held import self_note
from .outcomes import Outcomes, bad_of, read_outcomes, sizes_of
from .paths import located
from .row_filters import Missing, Where, may_drop, restricted, without_missing
from .sources import Roles, Source, as_names, as_two_names
from .spare_columns import of_counts
from .standard_columns import in_order
from .tables import assembled, condensed, unused_note
from .value_types import LabelType

Two = Annotated[Sequence[str], TWO_NAMES]
WINS = ("wins_i", "wins_j")


@checked
def from_counts(
    frame: object,
    *,
    objects: Two = ("object_i", "object_j"),
    wins: Two = WINS,
    ties_column: Annotated[Names | Mapping[str, Literal["tie", "bad"]] | None, JUDGED_INSIDE] = "ties",
    grades: Grades | None = None,
    covariates: Names = (),
    clusters: Names = (),
    numeric: Names = (),
    object_covariates: object = None,
    judge_covariates: object = None,
    side_covariates: Annotated[Mapping[str, Two] | Sequence[str] | None, JUDGED_INSIDE] = None,
    order: bool = False,
    units: Names = (),
    ignore: Names = (),
    where: Where = None,
    missing: Missing = None,
    labels: LabelType | None = None,
) -> Comparisons:
    """Return comparisons from a frame of counts, one row per pair of objects (and covariates).

    Parameters
    ----------
    frame : frame, path, list of records or bytes
        A frame of pandas, polars, pyarrow, DuckDB, Dask, PySpark or any library that narwhals knows (a lazy one is
        collected), the path of a csv, json or parquet file, an open file, or its bytes.
    objects : two str
        Columns with the two objects of each row; labels of any type.
    wins : two str
        Columns with the wins of object i and of object j.
    ties_column : str, sequence of str, mapping or None
        Column with the ties; several columns (two kinds of ties) are summed. By default ``"ties"``, or another column
        of whole numbers with a usual name, such as ``"draws"``. Without one, and with None, the table has no tie
        category. A mapping of columns to ``"tie"`` or ``"bad"``, ``{"ties": "tie", "both_bad": "bad"}``, counts both
        bad as an outcome of its own.
    grades : sequence of str or mapping, optional
        In place of `wins` and `ties_column`: a column for each grade of preference, from object i preferred most to
        object j preferred most, ``("++", "+", "=", "-", "--")``, with equally many for both objects; or a mapping of
        columns to grades, positive for object i: ``{"much better": 2, "better": 1, "same": 0, "worse": -1, "much
        worse": -2}``.
    covariates, clusters : str or sequence of str
        Columns that split the table, and columns that are kept beside the counts.
    numeric : str or sequence of str
        Covariates of any kind to read as numbers, whatever their type. A column of the frame that is named only here is
        kept as a covariate.
    object_covariates : frame or path, optional
        One row per object. A column ``object`` names it (or a pandas index of labels, or the first column); every other
        column is an object covariate.
    judge_covariates : frame or path, optional
        One row per judge. The judge column has the same name as in the judgments, or ``judge`` (or it is a pandas index
        with a name or labels, or the first column). Every other column is a covariate of judges, such as their age.
        These covariates are joined to the judgments and split the table as `covariates` do. The judge splits the table
        only if `covariates` name it, too.
    side_covariates : mapping or sequence of str, optional
        Name → the two columns with its value for either object: ``{"length": ("length_a", "length_b")}``. Names alone,
        ``["length"]``, stand for the columns with ``_a`` and ``_b`` appended.
    order : bool
        Whether to keep the order of presentation, with the object of the first column shown first. Without it the two
        orders of a pair are merged, and a note says so.
    units : str or sequence of str
        Columns to keep as clusters if they exist, have no other role, and have a label in every row:
        ``("judge", "prompt", "block")`` for ``cov_type="cautious"``.
    ignore : str or sequence of str
        Columns that are not counts, although their names suggest it, such as ``"total"`` or ``"count"``.
    where, missing : optional
        Rows to read, and the treatment of rows with a missing value, as in `read_judgments`.
    labels : "text", "number" or None
        The type of the labels of objects. None: labels of a csv file are numbers if all labels of both columns are
        written in the standard form of numbers, otherwise text; frames, parquet and JSON keep their types. ``"text"``:
        labels are texts (2 and 2.0 are two objects). ``"number"``: labels that spell the same number are one object.

    Returns
    -------
    Comparisons

    Raises
    ------
    JudgmentError
        For columns that are missing or have reserved names; missing, negative or infinite counts; missing labels; an
        object compared with itself; an object table that does not match.
    OptionError
        For options that name a column twice, or cannot be combined.

    Notes
    -----
    Floats are numbers; Boolean, text, categorical and date columns are labels. Integer covariates of objects
    (`object_covariates`) and sides (`side_covariates`) are numbers. Integer covariates of rows and judges are numbers
    within functions, such as ``I(age - 30)``, and labels as a term by themselves. With three to ten labels the printout
    says so; with more you must write ``C(age)`` or ``numeric="age"``. Integers that name a judge, worker, annotator,
    rater, user, prompt, item, question, block or topic are labels. Objects and clusters are always labels; whole floats
    become integers. Rows that repeat a comparison are summed, and a note counts them.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> counts = pd.DataFrame(
    ...     {"object_i": ["A", "A", "B"], "object_j": ["B", "C", "C"],
    ...      "wins_i": [7, 9, 5], "wins_j": [3, 2, 4], "ties": [1, 0, 2]})
    >>> c = llbt.from_counts(counts)
    >>> c.n_judgments, c.n_ties, c.has_ties
    (33, 3, True)

    Five grades, from much better to much worse:

    >>> graded = pd.DataFrame(
    ...     {"object_i": ["A", "A"], "object_j": ["B", "C"],
    ...      "++": [4, 1], "+": [3, 2], "=": [2, 2], "-": [5, 6], "--": [1, 4]})
    >>> c = llbt.from_counts(graded, grades=("++", "+", "=", "-", "--"))
    >>> c.to_frame()
      object_i object_j  i+  i  tie  j  j+
    0        A        B   4  3    2  5   1
    1        A        C   1  2    2  6   4
    """
    asked = wanted(covariates, clusters, numeric, object_covariates, side_covariates, units, judge_covariates)
    source = open_source(frame, labels=labels)
    sides = as_two_names(objects, "objects")
    with located(source.what):
        source, notes = restricted(source, where)
    if grades is None:
        undecided = _tie_columns(ties_column, source.names)
        two, beside = as_two_names(wins, "wins"), list(undecided)
        if {*sides, *two, *beside} <= set(source.names):
            named = {*sides, *two, *beside, *as_names(ignore, "ignore"), *_named(asked)}
            with located(source.what):
                spare, more = of_counts(source, two, None if ties_column is None else beside, named)
            notes = (*notes, *more)
            undecided |= {spare: "tie"} if spare else {}
        columns = (_bad_columns if "bad" in undecided.values() else _three_columns)(
            as_two_names(wins, "wins"), undecided
        )
    else:
        usual = ties_column is None or (isinstance(ties_column, str) and ties_column == "ties")
        if not usual or unless_default(wins, WINS) is not None:
            raise OptionError("grades= replaces wins= and ties_column=", "Pass either.")
        columns = _graded_columns(grades)
    with located(source.what), may_drop():
        if missing is not None:
            named = {*sides, *(name for names in columns.roles.values() for name in names), *_named(asked)}
            source, left = without_missing(source, named - set(as_names(units, "units")))
            notes = (*notes, *left)
        return _from_counts(source, asked, sides, columns, notes, order)


@dataclass(frozen=True)
class _Counted:
    """The columns of counts: by the parameter that names them, and by outcome. Columns of one outcome are summed."""

    roles: Roles
    outcomes: tuple[tuple[str, ...], ...]
    response: Response | None = None


def _three_columns(wins: tuple[str, str], undecided: Collection[str]) -> _Counted:
    ties = tuple(undecided)
    return _Counted({"wins": wins, "ties_column": ties}, ((wins[0],), ties, (wins[1],)))


def _bad_columns(wins: tuple[str, str], undecided: Mapping[str, str]) -> _Counted:
    columns = {meaning: tuple(name for name, of in undecided.items() if of == meaning) for meaning in ("tie", "bad")}
    shared = [names for names in columns.values() if names]
    response = both_bad(ties=bool(columns["tie"]))
    return _Counted({"wins": wins, "ties_column": tuple(undecided)}, ((wins[0],), *shared, (wins[1],)), response)


def _graded_columns(grades: Grades) -> _Counted:
    names, response = grade_columns(grades)
    outcomes = [(name,) for name in names]
    return _Counted({"grades": names}, (*outcomes[:1], *([()] if response == TWO else []), *outcomes[1:]), response)


def _from_counts(
    source: Source, asked: Wanted, sides: tuple[str, str], count_columns: _Counted, notes: tuple[str, ...], order: bool
) -> Comparisons:
    asked = asked.where_there({"objects": sides, **count_columns.roles}, source)
    roles = {"objects": sides, **count_columns.roles, **asked.roles()}
    picked = source.pick(roles)
    asked, unlabelled = asked.labelled(picked)
    pairs = read_label_pair(picked, "objects", sides)
    _without_selves(picked, pairs, None)
    read = [[read_counts(picked, name) for name in names] for names in count_columns.outcomes]
    counts = np.column_stack([sum(columns, np.zeros(len(pairs.codes))) for columns in read])
    lines = Lines(pairs.codes, counts, *asked.read(picked))
    ties = _sum_notes(count_columns, read)
    unkept = source.others({k: names for k, names in roles.items() if k != "judge_covariates"})
    notes = (*notes, *ties, *_repeat_note(lines), *unlabelled, *unused_note(unkept))
    return assembled(lines, pairs, asked, notes, unkept=unkept, order=order, response=count_columns.response)


@checked
def from_judgments(
    frame: object,
    *,
    format: Format | None = None,
    objects: Two = OBJECTS,
    outcome: Names = "outcome",
    outcomes: Outcomes = None,
    winner: str | None = None,
    loser: str | None = None,
    scores: Sequence[str] | None = None,
    orders: Orders = None,
    strength: str | None = None,
    cuts: Annotated[Sequence[float], JUDGED_INSIDE] = (),
    weights: str | None = None,
    covariates: Names = (),
    clusters: Names = (),
    numeric: Names = (),
    object_covariates: object = None,
    judge_covariates: object = None,
    side_covariates: Annotated[Mapping[str, Two] | Sequence[str] | None, JUDGED_INSIDE] = None,
    order: bool = False,
    units: Names = (),
    ties_column: str | None = None,
    ignore: Names = (),
    where: Where = None,
    missing: Missing = None,
    defaults: Mapping[str, Label] | None = None,
    labels: LabelType | None = None,
    max_dropped: Number = 0,
) -> Comparisons:
    """Return comparisons from judgments, one row per recorded decision.

    Parameters
    ----------
    frame : frame, path, list of records or bytes
        A frame of pandas, polars (eager or lazy), pyarrow, DuckDB, Dask, PySpark or any library that narwhals knows; a
        file or several, as in `read_judgments`; the bytes of one; what `read_judgments` returns. Rows are counted in
        their own engine, such as DuckDB or Spark; only the counts are loaded.
    format : str or JudgmentFormat, optional
        The layout of the judgments, as in `read_judgments`. None: the columns have the names below; if these are
        missing, or if none is given for a file, the format is found by its fields (``"auto"``).
    objects : two str
        Columns with the two objects of each row; labels of any type.
    outcome : str or sequence of str
        Column of the outcome. Several columns hold the outcomes of several judges, as in `read_judgments`.
    outcomes : mapping, "names", "slots" or None
        How to read the outcome labels. None: a label is the winner's name, the name of one of the two object columns,
        ``i``/``j``, ``a``/``b``, ``left``/``right`` or ``>``/``=``/``<``, and ``tie``; one of these codings must
        explain every label. ``"names"`` allows only the winner's name, ``"slots"`` only the other codings. A mapping
        from labels to ``"i"``, ``"j"``, ``"tie"`` or None (leaves the rows out, counted in the notes) extends the
        defaults; its key None stands for missing outcomes. Numbers always need a mapping. ``{"tie (bothbad)": "bad"}``
        counts both bad as an outcome of its own, apart from ties. The key may also be the kind of a tie, as in
        `read_judgments`: ``{"both_bad": "bad"}``. A mapping to grades, ``{"A>>B": 2, "A>B": 1, "A=B": 0, "A<B": -1,
        "A<<B": -2}``, positive for object i, with equally many for both objects, gives a table of graded judgments.
    strength : str, optional
        Column of the strength of the preference: sizes 1, 2, … in addition to the outcome (0 or empty for ties); or
        signed grades, positive for object i, if there is no other column of the outcome. ``"strength"`` is the column
        of formats that have one, such as HelpSteer3, Arena-Hard, MultiPref and Potato; see `read_judgments`. Without it
        preferences of all strengths count equally, and a note counts each strength.
    cuts : sequence of float
        Strengths beyond which a preference has the next grade, for strengths finer than grades. AlpacaEval's
        preferences are up to .5 from the middle; ``cuts=(0.25,)`` makes two grades of them.
    weights : str, optional
        Column with the number of judgments in a row, or with sampling weights. Sampling weights need clustered standard
        errors: ``fit(…, cov_type="cluster", groups="judge")``. If judgments are independent, cluster by a column that
        numbers the rows.
    covariates, clusters, numeric, object_covariates, judge_covariates, side_covariates, order, units
        As in `from_counts`. If the format has a column of the judge or the prompt, you can also name it ``"judge"`` or
        ``"prompt"``. `units` keep their names in the frame; other columns have the requested names.
    winner, loser, scores, orders
        As in `read_judgments`: columns of the winner and of the loser; of the scores of both objects; and ``"agree"``,
        to count a pair once if a judge saw it in both orders on one prompt.
    ties_column, ignore, where, missing, defaults
        As in `read_judgments`: the column that marks ties, columns that are not part of the judgments, the rows to
        read, the treatment of rows with a missing value, and values of fields that the file lacks.
    labels : "text", "number" or None
        The type of the labels of objects, as in `from_counts`.
    max_dropped : int
        How many rows may be left out because their outcome is unknown or they compare an object with itself. The notes
        count them.

    Returns
    -------
    Comparisons

    Raises
    ------
    JudgmentError
        For outcomes that are missing, unknown or ambiguous, with a mapping to paste; for grades that are fractions,
        asymmetric, or all on one side; and as in `from_counts` and `read_judgments`.
    OptionError
        For outcomes that are not a mapping, cuts that do not increase; and as in `from_counts` and `read_judgments`.

    Notes
    -----
    The words of the codings may be capitalized (``A``, ``Left``, ``Tie``). Names of objects and columns must match
    exactly.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> judgments = pd.DataFrame(
    ...     {"model_a": ["x", "y", "x"], "model_b": ["y", "x", "y"], "winner": ["model_a", "tie", "model_b"]})
    >>> c = llbt.from_judgments(judgments, objects=("model_a", "model_b"), outcome="winner", order=True)
    >>> c.to_frame()
      object_i object_j  wins_i  ties  wins_j
    0        x        y       1     0       1
    1        y        x       0     1       0
    """
    asked = wanted(covariates, clusters, numeric, object_covariates, side_covariates, units, judge_covariates)
    named = Asked(
        unless_default(objects, OBJECTS),
        unless_default(outcome, "outcome"),
        outcomes,
        defaults=defaults,
        labels=labels,
        winner=winner,
        loser=loser,
        scores=scores,
        orders=orders,
        ties_column=ties_column,
        ignore=as_names(ignore, "ignore"),
        where=where,
        missing=missing,
        units=as_names(units, "units"),
    )
    beside = [name for name in (strength, weights) if name is not None]
    judgments = countable(frame, format, named, max_dropped, {*beside, *_named(asked)})
    if order and not judgments.shown:
        raise OptionError(
            f"order=True: {judgments.format or 'the frame'!r} does not record which object was shown first",
            "Leave it out.",
        )
    if orders is not None and weights is not None:
        raise OptionError(f"orders={orders!r} is for single judgments", "Leave out weights=.")
    with located(judgments.source.what), may_drop():
        weights = judgments.weights if weights is None else weights
        judged = Judged(judgments, strength, sizes_of(outcomes), rising(cuts, 0.0, "no preference"), bad_of(outcomes))
        return _from_judgments(judged, asked, weights, max_dropped, order)


def comparisons_of(opened: Countable, *, units: Names = (), order: bool = False) -> Comparisons:
    """Return the comparisons of judgments or counts that are open already, keeping `units` only."""
    with located(opened.source.what), may_drop():
        asked = wanted((), (), (), None, None, units)
        return _from_judgments(Judged(opened, None, {}), asked, opened.weights, 0, order)


def _from_judgments(judged: Judged, asked: Wanted, weights: str | None, max_dropped: int, order: bool) -> Comparisons:
    layout = judged.countable
    asked = asked.under_names_of(layout.source.names, layout.called)
    source = layout.source.renamed(layout.aliases({**asked.roles(), "units": ()}))
    if layout.counts:
        if judged.strength is not None:
            raise OptionError(
                f"strength={judged.strength!r}: a table of counts has none", "Use grades= of from_counts."
            )
        columns = _three_columns((layout.counts[0], layout.counts[1]), layout.counts[2:])
        c = _from_counts(source, asked, layout.sides, columns, layout.notes, order)
        return replace(c, called=layout.called)
    if judged.cuts and (judged.strength is None or judged.sizes):
        raise OptionError("cuts= cuts the numbers of a column into grades", "Pass strength=, and words in outcomes=.")
    if judged.beside and judged.sizes:
        raise OptionError("strength= and the grades of outcomes= both set the strength", "Pass either.")
    asks = "outcome" if judged.field == layout.labels.field else "strength"  # what an error about the column names
    used_columns: dict[str, tuple[str, ...]] = {"objects": layout.sides, asks: (judged.field,), **judged.beside}
    used_columns |= {} if weights is None else {"weights": _one(weights, "weights")}
    asked = asked.where_there(used_columns, source)
    roles = {**used_columns, **asked.roles()}
    picked = source.tally({**roles, **judged.unasked({name for names in roles.values() for name in names})})
    asked, unlabelled = asked.labelled(picked)
    pairs = in_order(read_label_pair(picked, "objects", layout.sides), layout.objects)
    picked, pairs, selves = _without_selves(picked, pairs, max_dropped)
    labels = judged.labels(picked)
    outcomes, left, _ = read_outcomes(
        picked, labels.field, pairs, layout.sides, labels.outcomes, max_dropped - selves, written=judged.written
    )
    kinds = tie_kind_notes(picked, outcomes, labels)
    each = None if weights is None else read_counts(picked, weights)
    weighed = picked.weights if each is None else each * picked.times
    outcomes, response, beside = judged.coded(picked, labels, outcomes, weighed)
    lines = condensed(pairs, outcomes, weighed, *asked.read(picked), response or THREE)
    unkept = source.others({k: names for k, names in roles.items() if k != "judge_covariates"})
    made = MADE if layout.is_standard else ()
    notes = (
        *_read_as(picked, layout),
        *layout.notes,
        *left,
        *kinds,
        *([self_note(selves)] if selves else []),
        *beside,
        *(() if each is None or weights is None else weight_notes(each, picked, weights)),
        *unlabelled,
        *unused_note([name for name in unkept if name not in made and name not in source.made]),
    )
    c = assembled(lines, pairs, asked, notes, unkept=unkept, order=order, shown=layout.shown, response=response)
    return replace(c, called=layout.called)


def _read_as(rows: Rows, opened: Countable) -> list[str]:
    return [f"{counted(int(rows.times.sum()), 'row')} read as {opened.format!r}"] if opened.format else []


def _named(asked: Wanted) -> set[str]:
    """Return the columns that a caller asks to keep."""
    return {name for names in asked.roles().values() for name in names}


def _one(name: object, parameter: str) -> tuple[str]:
    if not isinstance(name, str):
        raise OptionError(f"{parameter}={name!r}", expected="the name of one column")
    return (name,)


def _tie_columns(ties: Names | Mapping[str, str] | None, names: Sequence[str]) -> dict[str, str]:
    """Return the columns of ties and of both bad, each with its outcome; the default column may be absent."""
    if ties is None or (isinstance(ties, str) and ties == "ties" and "ties" not in names):
        return {}
    if not isinstance(ties, Mapping):
        return dict.fromkeys(as_names(ties, "ties_column"), "tie")
    wrong = {name: meaning for name, meaning in ties.items() if meaning not in ("tie", "bad")}
    if wrong or not ties:
        raise OptionError(f"ties_column={dict(wrong or ties)!r}", expected="columns with 'tie' or 'bad' for each")
    return dict(ties)


def _sum_notes(count_columns: _Counted, read: Sequence[Sequence[FloatArray]]) -> list[str]:
    """Return a note if columns of ties, or of both bad, are summed."""
    if not count_columns.roles.get("ties_column"):
        return []
    words = {"tie": "ties are", "bad": "both bad is"}
    notes = []
    for outcome, names, counts in zip(
        (count_columns.response or THREE).outcomes, count_columns.outcomes, read, strict=True
    ):
        parts = [f"{name} ({format_count(float(n.sum()))})" for name, n in zip(names, counts, strict=True)]
        notes += [f"{words[outcome]} the sum of {' and '.join(parts)}"] if len(parts) > 1 else []
    return notes


def _without_selves(rows: Rows, pairs: Coded, most: int | None) -> tuple[Rows, Coded, int]:
    """Return rows and their objects without comparisons of an object with itself, and how many these were.

    Counts (`most` is None) may have none.
    """
    same = pairs.codes[:, 0] == pairs.codes[:, 1]
    n = rows.count(same)
    if n > (most or 0) or (n and same.all()):
        label = pairs.levels[pairs.codes[rows.start(same), 0]]
        raise JudgmentError(
            f"{counted(n, 'row')} with an object compared with itself{rows.place(same)}: {label!r}",
            "Leave these rows out first."
            if most is None
            else f"Remove these rows first, or leave them out (counted) with max_dropped={n}.",
            expected="two different objects",
        )
    return (rows.take(~same), replace(pairs, codes=pairs.codes[~same]), n) if n else (rows, pairs, 0)


def _repeat_note(lines: Lines) -> list[str]:
    """Return a note if several rows count the same comparison, shown in the same order."""
    first, _ = groups([*lines.keys(), *(c.codes for c in lines.clusters)])
    extra = len(lines.pairs) - len(first)
    if not extra:
        return []
    what = counted(len(lines.pairs), "row")
    return [f"{counted(extra, 'row')} repeating a comparison: {what} were summed to {format_count(len(first))}"]
