"""The columns of both sides in a frame of new comparisons: which of them have other names, and how to rename them."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import JudgmentError, listed
from .column_proposals import side_pairs, sides_of
from .sources import Source


def refuse_other_names(source: Source, sides: Mapping[str, tuple[str, str]]) -> None:
    """Raise if columns of both sides are absent, and say which columns to rename.

    Parameters
    ----------
    source : Source
        New comparisons.
    sides : mapping
        ``"object"`` and the side covariates → their two columns.
    """
    absent = {name: two for name, two in sides.items() if not set(two) <= set(source.names)}
    if not absent:
        return
    gone = [column for two in absent.values() for column in two if column not in source.names]
    renames: dict[str, str] = {}
    for name, two in absent.items():
        renames |= dict(zip(_other_names(source, name, sides), two, strict=False))
    plural = "column" if len(gone) == 1 else "columns"
    raise JudgmentError(
        f"no {plural} {listed(gone)}; it has {listed(source.names, 20)}",
        _remedy(renames, gone),
        where=source.what,
        expected="the columns of both objects with the endings _i and _j",
    )


def _other_names(source: Source, name: str, sides: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    """Return the two columns that probably hold a side covariate or the objects; none if names do not tell."""
    if name == "object":
        free = [column for column in source.names if not any(column.startswith(f"{one}_") for one in sides)]
        return sides_of(source, free)
    pairs = [pair for pair in side_pairs(source.names) if pair[0].startswith(f"{name}_")]
    return min(pairs, key=lambda pair: len(pair[0]), default=())


def _remedy(renames: Mapping[str, str], gone: list[str]) -> str:
    changed = {old: new for old, new in renames.items() if old != new}
    if set(changed.values()) != set(gone):
        return f"Rename or add the columns {listed(gone)}."
    words = ", ".join(f"{old!r} to {new!r}" for old, new in changed.items())
    return f"Rename {words}. In pandas: frame.rename({changed!r}, axis=1)."
