"""Read claims about two objects, such as ``"A > B"``, without evaluating names as code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.columns import Label
from ..errors import OptionError, listed, near, safe_repr

Sign = Literal[">", "<", "="]

_SIGNS: tuple[Sign, ...] = (">", "<", "=")
_EXPECTED = "two objects with >, < or = between them: 'A > B'"


@dataclass(frozen=True)
class Claim:
    """A claim about two objects.

    Attributes
    ----------
    first, second : int
        The positions of the two objects.
    sign : {">", "<", "="}
    """

    first: int
    second: int
    sign: Sign


def read_claim(text: str, objects: Sequence[Label]) -> Claim:
    """Return the claim that a text makes about two objects.

    The text is an object, a sign and another object. Spaces around them do not count. A name that contains a sign can
    stand in backticks. Every way to split the text is tried, and exactly one must give two objects of the table.

    Raises
    ------
    OptionError
        For a text without a sign, unknown objects, an object compared with itself, and a text with two readings.
    """
    places = {str(label).strip(): k for k, label in enumerate(objects)}
    splits = [(text[:k], sign, text[k + 1 :]) for k, sign in enumerate(text) if sign in _SIGNS]
    sides = [(_name(left, places), sign, _name(right, places)) for left, sign, right in splits]
    claims = {Claim(places[a], places[b], sign) for a, sign, b in sides if a in places and b in places}
    if len(claims) > 1:
        raise OptionError(
            f"{safe_repr(text)} can be read in {len(claims)} ways, because object names contain >, < or =",
            "Put each name in backticks: '`A > B` > `C`'.",
        )
    if not claims:
        raise _unread(text, sides, places)
    (claim,) = claims
    if claim.first == claim.second:
        raise OptionError(f"{safe_repr(text)} compares an object with itself", expected=_EXPECTED)
    return claim


def _name(side: str, places: dict[str, int]) -> str:
    """Return the name of an object on one side, without backticks."""
    name = side.strip()
    if name not in places and len(name) > 2 and name[0] == name[-1] == "`":
        return name[1:-1].strip()
    return name


def _unread(text: str, sides: Sequence[tuple[str, str, str]], places: dict[str, int]) -> OptionError:
    """Return the error for a text that is no claim about two objects."""
    if not sides:
        return OptionError(f"{safe_repr(text)} has no sign", expected=_EXPECTED)
    a, _, b = max(sides, key=lambda side: (side[0] in places) + (side[2] in places))
    unknown = [name for name in (a, b) if name not in places]
    hint = near(unknown[0], tuple(places)) if len(unknown) == 1 else ""
    return OptionError(
        f"{safe_repr(text)} names {listed(unknown)}{hint}",
        expected=f"objects of the answer: {listed(list(places), 20)}",
    )
