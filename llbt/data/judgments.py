"""Judgments in any known format, as one record with standard columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..base.arguments import Number, checked
from ..base.table import counted, format_count
from ..core.columns import Label
from ..core.judgments import Judgments, has_standard_columns
from ..errors import JudgmentError, OptionError
from .asked import Asked, Format
from .both_orders import Orders, once_per_prompt
from .column_roles import Names
from .countable import examined_as, is_flat
from .formats import JudgmentFormat
from .held import held_judgments, self_note
from .outcomes import Outcomes
from .paths import located
from .recognized import resolve
from .row_filters import Missing, Where, may_drop
from .sources import Source, as_names, refuse_absent
from .standard_columns import read
from .value_types import LabelType


@checked
def read_judgments(
    source: object,
    *,
    format: Format = "auto",
    objects: Sequence[str] | None = None,
    outcome: Names | None = None,
    outcomes: Outcomes = None,
    winner: str | None = None,
    loser: str | None = None,
    scores: Sequence[str] | None = None,
    orders: Orders = None,
    judge: str | None = None,
    prompt: str | None = None,
    object_names: Sequence[str] | None = None,
    pairs: str | Sequence[Sequence[str]] | None = None,
    joined: bool = True,
    weights: str | None = None,
    ties_column: str | None = None,
    ignore: Names = (),
    where: Where = None,
    missing: Missing = None,
    defaults: Mapping[str, Label] | None = None,
    labels: LabelType | None = None,
    max_dropped: Number = 0,
) -> Judgments:
    """Return judgments of any known format.

    Parameters
    ----------
    source : path, list of paths, list of records or frame
        A csv, tsv, json, jsonl or parquet file (gzipped or not), several of a kind as a list or with a pattern such as
        ``"a/*.parquet"``; a list of mappings, or of pairs (winner, loser); a frame of any library that narwhals knows.
    format : str or JudgmentFormat
        One of ``list_formats()``, or your own format. ``"auto"`` finds the format by the names of the fields. With
        `objects` and `outcome` no format is needed.
    objects : two str, optional
        Fields of the object shown first and of the other object, in place of the format's fields.
    outcome : str or sequence of str, optional
        Field of the outcome, in place of the format's own. Several fields are the verdicts of several judges, one
        column per judge with the judge's name. An empty cell means that the judge gave no verdict.
    outcomes : mapping, "names", "slots" or None
        The meaning of the outcome labels, as in `from_judgments`. A mapping extends the mapping of the format. Grades
        become an outcome and the column ``strength``; ``"bad"`` becomes a tie of the kind ``both_bad``.
    winner, loser : str, optional
        Fields of the object that won and the object that lost, if there is no field of the outcome.
    scores : two str, optional
        Fields with the scores of the two objects. The higher score wins, equal scores are a tie, and rows without
        scores are left out.
    orders : "agree" or None
        How to count a pair that a judge saw in both orders on one prompt. ``"agree"``: once, as a tie if the verdicts
        differ. None: every judgment counts.
    judge, prompt : str, optional
        Fields of the judge and of the prompt; several fields joined by ``+`` are read together.
    object_names, pairs
        For ``format="prefmod"``, if the columns do not name their pairs: the objects in their order, which tables and
        fits keep (the last is the reference), and the order of the pairs: ``"prefmod"`` (12, 13, 23, 14, …),
        ``"dictionary"`` (12, 13, 14, …) or a list of pairs of names.
    joined : bool
        Whether a label of several objects with identical outputs (``a+b`` in WMT) stands for each of them. With False
        the label is kept, and the record is one judgment.
    weights : str, optional
        Column with the number of judgments in a row.
    ties_column : str, optional
        Column that says yes if a judgment is a tie, whatever its outcome. With only winner and loser, it is found by
        name and values.
    ignore : str or sequence of str
        Columns that are not part of the judgments, although their names suggest it, such as a ``"count"`` of words.
    where : str or mapping, optional
        Rows to read: rows in which this column says yes (``"anony"``), or has this value: ``{"language": "English"}``.
    missing : "drop" or None
        The treatment of rows with a missing value in a column that is read: ``"drop"`` leaves them out, as R's
        ``na.omit`` does, and a note counts them. None refuses them.
    defaults : mapping, optional
        Field of the format → its value if the file lacks the field, such as ``{"baseline": "gpt-4-0314"}``.
    labels : "text", "number" or None
        The type of the labels of objects, as in `from_judgments`.
    max_dropped : int
        How many judgments may be left out because their outcome is unknown, or because they compare an object with
        itself; a note counts them. If it is 0, judgments of an object with itself stay.

    Returns
    -------
    Judgments
        Its `to_frame` has one row per judgment: ``object_i`` (shown first), ``object_j``, ``outcome`` (``"i"``,
        ``"j"`` or ``"tie"``), ``judge``, ``prompt``, ``tie_kind`` (such as ``"both_bad"``), ``strength`` of the
        preference, ``weight`` (judgments that the row stands for; only in formats of counts and weights), ``block``
        (judgments made together, such as those of one ranking), ``record`` (shared by the judgments of one record with
        a label such as ``a+b``; only in formats that have these labels), and every other field under its own name. Its
        attribute ``notes`` says what was read and what was left out. Large files with one judgment per row, over 16 MiB
        of parquet or 256 MiB of text together, stay in DuckDB and are counted there; ``to_frame()`` loads them.

    Raises
    ------
    JudgmentError
        For files that cannot be read, missing fields, formats that do not fit, and more unknown outcomes than
        `max_dropped`. Also for a column that may contain weights, or that contradicts the outcome on ties.
    OptionError
        For an unknown `format`, and for options that the format lacks.

    Notes
    -----
    ``from_judgments``, and everything else that takes judgments, needs no further names for them. A tie of
    the kind ``both_bad`` is a tie. To make it an outcome of its own: ``from_judgments(judgments, outcomes={"both_bad":
    "bad"})``. To leave these judgments out: ``outcomes={"tie (bothbad)": None}`` or by selecting rows:
    ``judgments.take(judgments.to_frame()["tie_kind"].isna())``.

    A record that compares ``a+b`` with ``c`` is one judgment for ``agreement`` and ``judges.summary``, but two for
    scores and fits. To make a fit take it as one judgment, use ``from_judgments(judgments, clusters="record")`` and
    ``cov_type="cluster"``, or pass their frame with ``weights=`` and the column
    ``1 / frame.groupby("record")["record"].transform("size")``.

    Examples
    --------
    >>> import llbt
    >>> battles = [
    ...     {"model_a": "x", "model_b": "y", "winner": "model_a", "judge": "J1"},
    ...     {"model_a": "y", "model_b": "x", "winner": "tie (bothbad)", "judge": "J2"},
    ... ]
    >>> judgments = llbt.read_judgments(battles)
    >>> judgments.to_frame()[["object_i", "object_j", "outcome", "judge"]]
      object_i object_j outcome judge
    0        x        y       i    J1
    1        y        x     tie    J2
    >>> for note in judgments.notes:
    ...     print(note)
    2 records read as 'arena': 2 judgments
    1 tie is of the kind 'both_bad', which outcomes={'both_bad': 'bad'} counts apart
    """
    asked = Asked(
        *(objects, outcome, outcomes, judge, prompt, object_names, pairs, joined, defaults, labels),
        winner=winner,
        loser=loser,
        scores=scores,
        ties_column=ties_column,
        ignore=as_names(ignore, "ignore"),
        where=where,
        missing=missing,
    )
    if isinstance(source, Judgments) and format == "auto" and asked == Asked() and weights is None:
        return source if orders is None else once_per_prompt(source)
    opened, known = resolve(source, format, asked)
    known, opened, notes = examined_as(opened, known, asked, () if weights is None else (weights,))
    known = known if weights is None else _weighted(opened, known, weights)
    with may_drop():
        made = _read_judgments(opened, known, max_dropped)
    made = replace(made, notes=(*made.notes, *notes)) if notes else made
    return made if orders is None else once_per_prompt(made)


def _weighted(opened: Source, known: JudgmentFormat, weights: str) -> JudgmentFormat:
    """Return a format of judgments with the column that says how many each row stands for."""
    refuse_absent(opened, {"weights": (weights,)})
    if known.counts or any(game.weight is not None for game in known.games):
        raise OptionError(f"weights={weights!r}: the format {known.name!r} has counts of its own", "Leave it out.")
    return replace(known, games=tuple(replace(game, weight=weights) for game in known.games))


def _read_judgments(opened: Source, known: JudgmentFormat, max_dropped: int) -> Judgments:
    if _stays_on_disk(opened) and is_flat(known, opened) and known.games[0].weight is None:
        with located(opened.what):
            held = held_judgments(opened, known, max_dropped)
        if held is not None:
            return held
    return _without_selves(read(opened, known, max_dropped), max_dropped)


def _stays_on_disk(source: Source) -> bool:
    """Whether judgments of a source can be had without reading them into memory."""
    as_written = source.labels is None or (source.labels == "text" and source.is_text)
    held = source.frame.implementation.is_duckdb() and not has_standard_columns(source.names)
    return held and not source.inner and as_written


def _without_selves(made: Judgments, max_dropped: int) -> Judgments:
    """Return judgments without comparisons of an object with itself, if some may be left out."""
    same = made.pairs[:, 0] == made.pairs[:, 1]
    n = int(same.sum())
    if not n or not max_dropped:
        return made
    if made.dropped + n > max_dropped:
        raise JudgmentError(
            f"{counted(n, 'judgment')} of an object with itself, and {format_count(made.dropped)} unknown to the "
            "format",
            f"Leave them out (counted) with max_dropped={made.dropped + n}.",
        )
    if same.all():
        raise JudgmentError(
            f"no judgment is left: {counted(n, 'judgment')} of an object with itself",
            expected="judgments of two different objects",
        )
    return replace(made.take(~same), notes=(*made.notes, self_note(n)))
