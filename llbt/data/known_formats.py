"""All known formats, and the choice of the format that explains the fields and values of a source."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from ..base.arguments import checked
from ..base.table import Field, Table
from ..core.columns import Label
from ..core.judgments import has_standard_columns
from ..errors import JudgmentError, listed, near
from .column_proposals import proposed_layout
from .formats import ByScores, JudgmentFormat
from .frames import read_factor
from .model_formats import MODEL_FORMATS
from .paths import place_of
from .registered_formats import load, loaded, registered
from .sources import Source
from .tool_formats import TOOL_FORMATS
from .wordings import worded_formats

#: The records of all formats that go by the names of fields; ``list_formats`` has ``matrix`` and ``prefmod`` besides,
#: which go by the shape of a table (`llbt.from_matrix`, ``object_names=`` and ``pairs=``).
JUDGMENT_FORMATS: Mapping[str, JudgmentFormat] = MappingProxyType(
    {known.name: known for known in (*TOOL_FORMATS, *MODEL_FORMATS)}
)
HEADERS = frozenset(known.header for known in TOOL_FORMATS if known.header)


@checked
def list_formats() -> Table:
    """Return the formats that `read_judgments` knows, with the fields that mark them.

    Returns
    -------
    Table
        Columns name, description, fields.

    Warns
    -----
    LLBTWarning
        For a registered format that cannot be imported, which is left out.

    Notes
    -----
    `formats.known` holds the record of each of llbt's own formats, except ``matrix`` and ``prefmod``: these have no
    record of fields, because the shape of a table marks them. The formats that other packages register follow. A
    package registers a `JudgmentFormat` under an entry point with its name, in pyproject.toml ::

        [project.entry-points."llbt.formats"]
        lab = "lab_tools.formats:LAB"

    A registered format is used only if none of llbt's own formats explains the fields; it cannot take llbt's names.

    Examples
    --------
    >>> import llbt
    >>> "arena" in llbt.formats.table().to_frame()["name"].tolist()
    True
    """
    shapes = {
        "matrix": "a square matrix of wins, row over column",
        "prefmod": "prefmod: one row per judge, one column per pair (object_names=, pairs=)",
    }
    own = list(JUDGMENT_FORMATS.values())
    rows = [
        *((known.name, known.description, ", ".join(known.marks)) for known in own),
        *((name, description, "") for name, description in shapes.items()),
        *((known.name, known.description, ", ".join(known.marks)) for known in loaded(_NAMES)),
    ]
    return Table(
        fields=tuple(
            Field(name, name, list(values))
            for name, values in zip(("name", "description", "fields"), zip(*rows, strict=True), strict=True)
        ),
        title="Formats of judgments",
    )


_NAMES = (*JUDGMENT_FORMATS, "matrix", "prefmod")


def format_names() -> tuple[str, ...]:
    """Return the names of all formats, llbt's own first; nothing is imported."""
    return (*_NAMES, *(name for name in registered() if name not in _NAMES))


def format_of(name: str) -> JudgmentFormat | None:
    """Return the format with a name, llbt's own before registered ones; None for unknown names, matrix and prefmod.

    Raises
    ------
    OptionError
        For a registered format that cannot be imported, or is not a `JudgmentFormat`.
    """
    if name in _NAMES or name not in registered():
        return JUDGMENT_FORMATS.get(name)
    return load(name)


def matching_format(source: Source, beside: Sequence[str] = ()) -> JudgmentFormat:
    """Return the format that explains most fields of a source, and its values if these separate formats.

    Fields in `beside` are not in the source; the caller gives their values.

    Raises
    ------
    JudgmentError
        If none does, or two explain equally many.
    """
    what, alike = place_of(source.what), _with_its_fields(source, beside)
    if not alike:
        raise JudgmentError(
            f"no known format has the columns {listed(sorted(map(str, source.names)), 20)}{_misspelt(source.names)}",
            f"Pass {layout}."
            if (layout := proposed_layout(source))
            else "Pass objects= and outcome=, or winner= and loser=, or format= and one of list_formats(). Rankings, "
            "best-worst sets, ratings and scores of systems: from_rankings(…), from_choices(…), from_ratings(…), "
            "scores.leaderboard(…).",
            where=what,
        )
    strange = {known.name: _strange_values(source, known) for known in alike}
    matching = [known for known in alike if not strange[known.name]]
    if not matching:
        names = [known.name for known in alike]
        odd = "; ".join(f"{field!r} holds {listed(labels, 3)}" for field, labels in strange[names[0]].items())
        raise JudgmentError(
            f"the columns are those of {listed(names)}, but {odd}", f"Pass format={names[0]!r} or another.", where=what
        )
    best = max(len(known.marks) + len(known.values) for known in matching)
    most = [known for known in matching if len(known.marks) + len(known.values) == best]
    names = [known.name for known in most]
    if len(names) > 1:
        fault = f"the formats {listed(names)} all explain its columns"
        raise JudgmentError(fault, f"Pass format={names[0]!r}.", where=what)
    return most[0]


def has_known_format(source: Source, beside: Sequence[str] = ()) -> bool:
    """Whether a known format has the fields of a source, together with the fields beside it."""
    return bool(_with_its_fields(source, beside))


def ranking_format(names: Sequence[str], columns: Collection[str]) -> tuple[JudgmentFormat, ByScores] | None:
    """Return the known format with rankings in these columns of a table, and how it reads them; or None.

    The columns are then read as the format's authors read them: the ranks that mean "not ranked", and whether
    1 is the best.
    """
    for known in _explaining(frozenset(map(str, names)), JUDGMENT_FORMATS.values()):
        for game in known.games:
            if isinstance(game.verdict, ByScores) and set(game.verdict.fields) <= set(columns):
                return known, game.verdict
    return None


def _misspelt(names: Iterable[object]) -> str:
    """Return a question about the one field that a format lacks, if a column has a similar name."""
    fields = list(map(str, names))
    for known in JUDGMENT_FORMATS.values():
        lacking = [mark for mark in known.marks if mark not in fields]
        if len(lacking) == 1 < len(known.marks):
            for name in fields:
                if name not in known.marks and (question := near(name, lacking)):
                    return f"; {name!r}{question}"
    return ""


def _with_its_fields(source: Source, beside: Sequence[str]) -> list[JudgmentFormat]:
    """Return the formats whose marks a source has; registered ones only where none of llbt's own has."""
    if has_standard_columns(source.names):  # whatever other columns, of a format too, were kept with them
        return [JUDGMENT_FORMATS["judgments"]]
    fields = frozenset((*map(str, source.names), *beside))
    exact = _explaining(fields, JUDGMENT_FORMATS.values())
    # chosen and rejected may be the names of models, and the others are read by wording, judges too
    open_to_wording = {"chosen_rejected_unnamed", "choix", "chess", "points"}
    worded = worded_formats(source) if {known.name for known in exact} <= open_to_wording else []
    return worded or exact or _explaining(fields, loaded(_NAMES))


def _explaining(fields: frozenset[str], formats: Iterable[JudgmentFormat]) -> list[JudgmentFormat]:
    return [
        known
        for known in formats
        if known.marks and fields.issuperset(known.marks) and not any(f.startswith(known.unlike) for f in fields)
    ]


def refuse_values_of_another(source: Source, known: JudgmentFormat) -> None:
    """Raise if some values of a source belong to another format with the same fields."""
    for field, labels in _strange_values(source, known).items():
        for other in JUDGMENT_FORMATS.values():
            theirs = [label for label in labels if re.fullmatch(other.values.get(field, ""), str(label))]
            if other.marks == known.marks and field in other.values and theirs:
                raise JudgmentError(
                    f"format {known.name!r} does not read {field!r} {listed(theirs, 3)}, "
                    f"which belongs to {other.name!r}",
                    f"Pass format={other.name!r}, or the records of each format separately.",
                    where=source.what,
                )


def _strange_values(source: Source, known: JudgmentFormat) -> dict[str, list[Label]]:
    """Return the values that a format does not have, by the fields that distinguish it."""
    strange_by_field: dict[str, list[Label]] = {}
    for field, expected in known.values.items():
        if field not in source.names:
            continue
        labels = read_factor(source.tally({"values": (field,)}).frame, field).labels
        strange = [label for label in labels if not re.fullmatch(expected, str(label))]
        strange_by_field |= {field: strange} if strange else {}
    return strange_by_field


def own_format(fields: frozenset[str], objects: Sequence[str] | None, outcome: str | None) -> JudgmentFormat:
    """Return llbt's own format for a file if the caller names objects or outcome: judgments, else counts."""
    counts = JUDGMENT_FORMATS["counts"]
    marks = set(counts.marks) - (set(counts.marks[:2]) if objects is not None else set())
    if outcome is None and "outcome" not in fields and marks <= fields:
        return counts
    return JUDGMENT_FORMATS["judgments"]
