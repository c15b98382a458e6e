"""Effects of judges in a formula, such as ``(object | judge)``; they are read before all other terms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, get_args

from ..core.response import Response
from ..errors import FormulaError
from ..kernel.effect_groups import Effect
from .allowed import MOST_CHARACTERS

_ALLOWED = (
    "Brackets are terms of their own, joined by +: (object | judge) for log-worths of each judge, (tie | judge) for "
    "tie effects, (bad | judge), (grade | judge) and (order | judge) likewise; judge is a cluster or covariate of the "
    "table; (1 | object) for what covariates of objects leave."
)
_BRACKET = re.compile(r"\(([^|]*)\|([^|]*)\)", re.DOTALL)
_INDEPENDENT = re.compile(r"\(([^|]*)\|\|([^|]*)\)", re.DOTALL)
_SEVERAL = re.compile(r"[^\W\d]\w*(\s*[/:+*]\s*[^\W\d]\w*)+")
_WITH_CONSTANT = re.compile(r"[01]\s*\+\s*(\w+)|(\w+)\s*[+-]\s*1")
_QUOTES = "'\"`"


@dataclass(frozen=True)
class Bracket:
    """Normal effects of the levels of a grouping.

    Attributes
    ----------
    effect : str
        The varying effect: ``"object"``, ``"tie"``, ``"bad"``, ``"grade"`` or ``"order"``; ``"1"`` for effects of
        objects.
    grouping : str
        A cluster or covariate of the table; for ``"1"`` it is the objects.
    """

    effect: Effect
    grouping: str

    @property
    def of_objects(self) -> bool:
        """Whether each level has an effect for each object."""
        return self.effect == "object"

    def things(self, response: Response) -> tuple[str, ...]:
        """Return the things on which each level has an effect: the grades, or one thing without a name."""
        return tuple(response.grades) if self.effect == "grade" else ("",)

    def __str__(self) -> str:
        name = self.grouping if self.grouping.isidentifier() else f"`{self.grouping}`"
        return f"({self.effect} | {name})"


def are_propagated(brackets: Sequence[Bracket]) -> bool:
    """Whether expectation propagation fits the effects: effects of objects or of order, in two crossed groupings."""
    groupings = {bracket.grouping for bracket in brackets} - {"object"}
    return len(groupings) == 2 and all(bracket.effect in ("object", "order") for bracket in brackets)


def entered(response: Response) -> dict[Effect, tuple[int, ...]]:
    """Return the predictors that each kind of effect enters; a level has one effect for each predictor."""
    predictors: dict[Effect, tuple[int, ...]] = {"object": (0,), "order": (0,), "1": (0,)}
    shared = response.shared
    if "tie" in shared:
        predictors["tie"] = (shared["tie"],)
    if "bad" in shared:
        predictors["bad"] = (shared["bad"],)
    if response.grades:
        predictors["grade"] = tuple(response.grades.values())
    return predictors


def split_brackets(text: object) -> tuple[str, tuple[Bracket, ...]]:
    """Return a formula without its brackets, and the brackets.

    ``(object + order || judge)`` stands for ``(object | judge) + (order | judge)``: effects are independent. Values
    that are not text, and texts that are too long, are returned unchanged; the parser of formulas refuses them.

    Raises
    ------
    FormulaError
        For a bracket that cannot be read, for a bracket that occurs twice, and if the formula has nothing but brackets.
    """
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS or not has_brackets(text):
        return text, ()  # type: ignore[return-value]
    rest, brackets = [], []
    for term in _summands(text):
        if not has_brackets(term):
            rest.append(term)
            continue
        brackets += _read(term, text)
    if len(set(brackets)) < len(brackets):
        _fail("a bracket stands twice", text)
    if not any(part.strip(" ~") for part in rest):
        _fail("the formula has only brackets; add the average worths: object +", text)
    return " + ".join(part.strip() for part in rest), tuple(brackets)


def has_brackets(text: str) -> bool:
    """Whether a bar stands in brackets that are not a call (such as ``I(x | y)``), outside of quotes."""
    opened: list[bool] = []
    for k, mark in _marks(text):
        if mark == "(":
            before = text[:k].rstrip()[-1:]
            opened.append(not (before.isalnum() or before in "_)]") or not before)
        elif mark == ")" and opened:
            opened.pop()
        elif mark == "|" and (not opened or opened[-1]):
            return True
    return False


def _marks(text: str) -> Iterator[tuple[int, str]]:
    """Yield brackets, plus signs and bars outside of quotes, with their positions."""
    quote = ""
    for k, mark in enumerate(text):
        if quote:
            quote = "" if mark == quote else quote
        elif mark in _QUOTES:
            quote = mark
        elif mark in "()+|":
            yield k, mark


def _summands(text: str) -> list[str]:
    """Return the parts that plus signs outside of brackets join."""
    depth, start, parts = 0, 0, []
    for k, mark in _marks(text):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if mark == "+" and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    return [*parts, text[start:]]


def _read(term: str, text: str) -> list[Bracket]:
    """Return the bracket of a term, or the several that double bars stand for."""
    inside = term.strip().removeprefix("~").strip()
    apart = _INDEPENDENT.fullmatch(inside)
    match = apart or _BRACKET.fullmatch(inside)
    if match is None:
        _fail(f"{term.strip()[:80]!r} cannot be read", text)
    grouping = match[2].strip()
    name = grouping[1:-1] if re.fullmatch(r"`[^`]+`", grouping) else grouping
    several = _SEVERAL.fullmatch(grouping)
    if several:
        apart_by = " + ".join(f"({match[1].strip()} | {one.strip()})" for one in re.split("[/:+*]", grouping))
        _fail(
            f"{grouping[:80]!r} is not one grouping",
            text,
            f"Effects of several groupings are crossed, a bracket each: {_call(text, term, apart_by)}",
        )
    if not name or (name == grouping and not name.isidentifier()):
        _fail(f"{grouping[:80]!r} is not the name of a cluster or covariate (others than words in backticks)", text)
    effects = [effect.strip() for effect in match[1].split("+")] if apart else [match[1].strip()]
    return [_bracket(effect, name, term, text) for effect in effects]


def _bracket(effect: str, grouping: str, term: str, text: str) -> Bracket:
    """Return the bracket of one effect; refused with the formula to fit instead."""
    for known in get_args(Effect):
        if effect == known and (effect == "1") == (grouping == "object"):
            return Bracket(known, grouping)
    varying = set(get_args(Effect)) - {"1"}
    if effect == "1":
        instead = (
            f"It is the same for both objects, and cancels. Worths that vary by {grouping} are (object | {grouping}): "
            f"{_call(text, term, Bracket('object', grouping))}"
        )
    elif (constant := _WITH_CONSTANT.fullmatch(effect)) and (constant[1] or constant[2]) in varying:
        instead = f"Effects need no constant: {_call(text, term, f'({constant[1] or constant[2]} | {grouping})')}"
    elif effect.startswith("object:") and effect.count(":") == 1:
        beside = effect.split(":")[1].strip()
        instead = (
            f"Effects of judges do not differ by {beside}. Keep the average interaction: "
            f"{_call(text, term, f'object:{beside} + (object | {grouping})')}"
        )
    elif {part.strip() for part in effect.split("+")} < varying:
        instead = (
            "Covariances between effects are not fitted. Take independent effects, with two bars: "
            f"{_call(text, term, term.strip().replace('|', '||'))}"
        )
    elif effect.isidentifier() and effect not in varying:
        plain = [part.strip() for part in _summands(text) if not has_brackets(part)]
        formula = " + ".join(plain if effect in plain else [*plain, effect])
        instead = (
            "Slopes of covariates do not vary at random. Keep the average slope, and cluster: "
            f"llbt.fit({formula!r}, c, cov_type='cluster', groups={grouping!r})."
        )
    else:
        instead = _ALLOWED
    _fail(f"{effect[:80]!r} cannot vary by {grouping}", text, instead)


def _call(text: str, term: str, instead: object) -> str:
    """Return the call that fits a formula with another term in place of one, unless that is there already."""
    others = [part.strip() for part in _summands(text) if part != term]
    formula = " + ".join(others if str(instead) in others else [*others, str(instead)])
    return f"llbt.fit({formula!r}, c)."


def _fail(fault: str, text: str, remedy: str = _ALLOWED) -> NoReturn:
    raise FormulaError(f"{fault}, in {text.strip()[:200]!r}", remedy)
