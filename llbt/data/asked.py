"""Fields of judgments that the caller names, in place of the fields of their format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.columns import Label
from ..errors import OptionError, listed, repeated
from .both_orders import Orders
from .column_roles import Names
from .formats import JudgmentFormat
from .outcomes import Outcomes, checked_outcomes
from .row_filters import Missing, Where
from .sources import as_names
from .value_types import LabelType

Format = str | JudgmentFormat


@dataclass(frozen=True)
class Asked:
    """The caller's fields, which replace those of a format; see `read_judgments`."""

    objects: Sequence[str] | None = None
    outcome: Names | None = None
    outcomes: Outcomes = None
    judge: str | None = None
    prompt: str | None = None
    object_names: Sequence[str] | None = None
    pairs: str | Sequence[Sequence[str]] | None = None
    joined: bool = True
    defaults: Mapping[str, Label] | None = None
    labels: LabelType | None = None
    winner: str | None = None
    loser: str | None = None
    scores: Sequence[str] | None = None
    orders: Orders = None
    ties_column: str | None = None
    ignore: tuple[str, ...] = ()
    where: Where = None
    missing: Missing = None
    units: tuple[str, ...] = ()  # columns that are used only where every row has a label

    def __post_init__(self) -> None:
        checked_outcomes(self.outcomes)
        if (self.winner is None) != (self.loser is None):
            name, other = ("winner", "loser") if self.loser is None else ("loser", "winner")
            raise OptionError(f"{name}={getattr(self, name)!r} needs {other}=, too")
        given = [name for name in ("outcome", "winner", "scores") if getattr(self, name) is not None]
        if len(given) > 1 or (self.winner is not None and self.objects is not None):
            beside = given[0] if len(given) > 1 else "objects"
            raise OptionError(f"{given[-1]}= and {beside}= both say who won", "Pass either.")
        if self.orders not in (None, "agree"):
            raise OptionError(f"orders={self.orders!r}", expected="'agree' or None")
        if self.missing not in (None, "drop"):
            raise OptionError(f"missing={self.missing!r}", expected="'drop' or None")
        if self.outcome is not None and not self.verdicts:
            raise OptionError(f"outcome={self.outcome!r}", expected="a column, or one for each judge")
        if repeated(self.verdicts):
            raise OptionError(f"outcome= names {listed(repeated(self.verdicts))} twice", expected="each column once")
        if len(self.verdicts) > 1 and self.judge is not None:
            raise OptionError(
                f"judge={self.judge!r}: each column of outcome= is named after its judge", "Leave it out."
            )

    @property
    def named(self) -> frozenset[str]:
        """The columns that the caller names."""
        fields: tuple[str | None, ...] = (
            *self.verdicts,
            self.ties_column,
            self.judge,
            self.prompt,
            *(self.objects or ()),
            *self.ignore,
        )
        fields += (self.winner, self.loser, *(self.scores or ()))
        asked = [self.where] if isinstance(self.where, str) else self.where or ()
        return frozenset(name for name in (*fields, *asked) if name is not None)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The columns of the outcome; several columns belong to several judges."""
        return () if self.outcome is None else as_names(self.outcome, "outcome")

    @property
    def field(self) -> str | None:
        """The column of the outcome, if there is only one."""
        return next(iter(self.verdicts), None)

    @property
    def names_fields(self) -> bool:
        """Whether the caller names the fields of objects or outcome."""
        return self.objects is not None or self.outcome is not None or self.names_layout

    @property
    def names_layout(self) -> bool:
        """Whether the caller names fields that take the place of an outcome."""
        return self.winner is not None or self.scores is not None or len(self.verdicts) > 1


def unless_default(value: Any, default: Any) -> Any:
    """Return the arguments of a reader's caller; None if it is the default."""
    return None if value == default or (isinstance(value, list) and tuple(value) == default) else value
