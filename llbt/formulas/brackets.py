"""Random effects in a formula, such as ``(object | judge)``; these brackets are read before all other terms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from ..core.columns import Label
from ..core.response import Response
from ..errors import FormulaError
from .allowed import MOST_CHARACTERS

_ALLOWED = (
    "Write brackets as separate terms, joined by +. (object | judge) gives each judge log-worths; (tie | judge), "
    "(bad | judge), (grade | judge) and (order | judge) give each judge these effects; (length | judge) gives each "
    "judge a slope of the covariate. judge must be a cluster or covariate of the table. "
    "(object | gr(judge, by=expert)) has one σ for each level of expert. (1 | object) adds what covariates of objects "
    "do not explain."
)
_WORDS = ("object", "tie", "order", "bad", "grade")
_BRACKET = re.compile(r"\(([^|]*)\|([^|]*)\)", re.DOTALL)
_INDEPENDENT = re.compile(r"\(([^|]*)\|\|([^|]*)\)", re.DOTALL)
_SEVERAL = re.compile(r"[^\W\d]\w*(\s*[/:+*]\s*[^\W\d]\w*)+")
_NAME = r"[^\W\d]\w*|`[^`]+`"
_GROUPED = re.compile(rf"gr\s*\(\s*({_NAME})\s*(?:,\s*by\s*=\s*({_NAME})\s*)?\)")
_CALL = re.compile(r"[^\W\d]\w*\s*\(")
_WITH_CONSTANT = re.compile(r"[01]\s*\+\s*(\w+)|(\w+)\s*[+-]\s*1")
_QUOTES = "'\"`"


@dataclass(frozen=True)
class Bracket:
    """Normally distributed random effects, for each level of a grouping variable.

    Attributes
    ----------
    effect : str
        The varying effect: ``"object"``, ``"tie"``, ``"bad"``, ``"grade"`` or ``"order"``; the name of a numeric
        covariate for slopes; ``"1"`` for effects of objects.
    grouping : str
        A cluster or covariate of the table; for ``"1"`` it is the objects.
    by : str
        A covariate of the grouping's levels, such as judges, each of whose levels has its own σ; empty for one σ.
    level : label or None
        The level of `by` that has these effects; None before the levels are read from the table.
    joint : str
        The bracket as it stands in the formula, if it names two effects whose covariance cancels; else empty.
    """

    effect: str
    grouping: str
    by: str = ""
    level: Label | None = None
    joint: str = field(default="", compare=False)

    @property
    def of_objects(self) -> bool:
        """Whether each level has an effect for each object."""
        return self.effect == "object"

    @property
    def is_slope(self) -> bool:
        """Whether each level has a slope of a covariate."""
        return self.effect not in (*_WORDS, "1")

    @property
    def term(self) -> str:
        """The term of the formula that the effects deviate from."""
        return self.effect if self.effect.isidentifier() else f'Q("{self.effect}")'

    @property
    def enters_differences(self) -> bool:
        """Whether the effects enter the difference of two worths: effects of objects or of order, and slopes."""
        return self.is_slope or self.effect in ("object", "order")

    def predictors(self, response: Response) -> tuple[int, ...]:
        """Return the predictors that the effects enter; a level has one effect for each, or for each object."""
        if self.effect == "grade":
            return tuple(response.grades.values())
        return (response.shared[self.effect],) if self.effect in ("tie", "bad") else (0,)

    def things(self, response: Response) -> tuple[str, ...]:
        """Return the names of a level's effects: the grades, or one empty name for other effects."""
        return tuple(response.grades) if self.effect == "grade" else ("",)

    @property
    def common(self) -> str:
        """The bracket with one σ for all levels of `by`."""
        return self._of(quoted(self.grouping))

    @property
    def written(self) -> str:
        """The bracket as a formula has it; the same for all levels of `by`."""
        return self._of(f"gr({quoted(self.grouping)}, by={quoted(self.by)})") if self.by else self.common

    @property
    def condition(self) -> str:
        """The level of `by` in words, such as ``expert=yes``; empty for one σ."""
        return f"{quoted(self.by)}={self.level}" if self.by and self.level is not None else ""

    def _of(self, grouping: str) -> str:
        return f"({self.effect if self.effect == '1' else quoted(self.effect)} | {grouping})"

    def __str__(self) -> str:
        return f"{self.common}, {self.condition}" if self.condition else self.written


def written_formula(fixed: str, brackets: Sequence[Bracket]) -> str:
    """Return a formula with its brackets, those of several levels of `Bracket.by` once."""
    return " + ".join([fixed, *dict.fromkeys(bracket.written for bracket in brackets)])


def quoted(name: str) -> str:
    """Return a name as a formula writes it; a name that is not an identifier stands in backticks."""
    return name if name.isidentifier() else f"`{name}`"


def are_propagated(brackets: Sequence[Bracket]) -> bool:
    """Whether expectation propagation fits the effects: of objects, of order, or slopes, in two crossed groupings."""
    groupings = {bracket.grouping for bracket in brackets} - {"object"}
    return len(groupings) == 2 and all(bracket.enters_differences for bracket in brackets)


def split_brackets(text: object) -> tuple[str, tuple[Bracket, ...]]:
    """Return a formula without its brackets, and the brackets.

    ``(object + order || judge)`` stands for ``(object | judge) + (order | judge)``: the effects are then independent.
    So does ``(object + order | judge)``, because the covariance of the effects enters no comparison.
    Values that are not text, and texts that are too long, are returned unchanged; the parser of formulas refuses them.

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
    _check_once(brackets, text)
    if not any(part.strip(" ~") for part in rest):
        _fail("the formula has only brackets; add the average worths, as in object + (object | judge)", text)
    return " + ".join(part.strip() for part in rest), tuple(brackets)


def has_brackets(text: str) -> bool:
    """Whether a formula has a bar outside of quotes and outside of function calls such as ``I(x | y)``."""
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
    """Return the parts of a formula between the plus signs that are outside of brackets."""
    depth, start, parts = 0, 0, []
    for k, mark in _marks(text):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if mark == "+" and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    return [*parts, text[start:]]


def _check_once(brackets: Sequence[Bracket], text: str) -> None:
    """Raise if effects occur twice, in one way or with different `by`."""
    for k, bracket in enumerate(brackets):
        others = [other for other in brackets[:k] if other.common == bracket.common]
        if others and others[0].by == bracket.by:
            _fail("a bracket occurs twice", text)
        if others:
            _fail(
                f"{others[0].written} and {bracket.written} are the same effects",
                text,
                "Keep one of them. For a σ of each combination of two covariates, make one column of both and name it.",
            )


def _read(term: str, text: str) -> list[Bracket]:
    """Return the bracket of a term, or several: double bars stand for one bracket per effect."""
    inside = term.strip().removeprefix("~").strip()
    apart = _INDEPENDENT.fullmatch(inside)
    match = apart or _BRACKET.fullmatch(inside)
    if match is None:
        _fail(f"{term.strip()[:80]!r} cannot be read as a random effect", text)
    grouping, by = _grouping(match, term, text)
    several = [effect.strip() for effect in match[1].split("+")]
    cancel = not apart and _covariances_cancel(several)
    effects = several if apart or cancel else [match[1].strip()]
    among = Bracket("object", grouping, by, joint=inside if cancel else "")
    return [_bracket(effect, among, term, text) for effect in effects]


def _covariances_cancel(effects: Sequence[str]) -> bool:
    """Whether effects that are correlated within a level have the likelihood of independent effects.

    The effects of all objects have one σ, and so one covariance with another effect of the level. It is the same for
    both objects of a comparison, and cancels.
    """
    return len(set(effects)) == 2 and "object" in effects and all(_is_name(effect) for effect in effects)


def _grouping(match: re.Match[str], term: str, text: str) -> tuple[str, str]:
    """Return the grouping of a bracket, and the covariate of ``by=``; the latter is empty without it."""
    grouping, by = match[2].strip(), ""
    if _CALL.match(grouping):
        grouped = _GROUPED.fullmatch(grouping)
        if grouped is None:
            _fail(
                f"{grouping[:80]!r} cannot be read as a grouping",
                text,
                "Write one grouping and one covariate, as in (object | gr(judge, by=expert)). Names with spaces or "
                "signs need backticks.",
            )
        grouping, by = grouped[1], (grouped[2] or "").strip("`")
    name = grouping[1:-1] if re.fullmatch(r"`[^`]+`", grouping) else grouping
    if _SEVERAL.fullmatch(grouping):
        apart_by = " + ".join(f"({match[1].strip()} | {one.strip()})" for one in re.split("[/:+*]", grouping))
        _fail(
            f"{grouping[:80]!r} is more than one grouping",
            text,
            f"Write a bracket for each grouping; their effects are crossed: {_call(text, term, apart_by)}",
        )
    if not name or (name == grouping and not name.isidentifier()):
        _fail(f"{grouping[:80]!r} cannot be read as a name; names with spaces or signs need backticks", text)
    return name, by


def _bracket(effect: str, among: Bracket, term: str, text: str) -> Bracket:
    """Return the bracket of one effect; if it cannot be fitted, raise an error with the formula to fit instead.

    `among` is the bracket with the same grouping and ``(object | …)``.
    """
    grouping = among.grouping
    if among.by and grouping == "object":
        _fail(
            f"{term.strip()[:80]!r}: σ of effects of objects cannot differ by {among.by}",
            text,
            f"Fit one σ: {_call(text, term, f'({effect} | object)')}",
        )
    if effect in (*_WORDS, "1") and (effect == "1") == (grouping == "object"):
        return replace(among, effect=effect)
    if _is_name(effect) and effect not in _WORDS and grouping != "object":
        return replace(among, effect=effect.strip("`"))
    grouped = among.written.removeprefix("(object | ")[:-1]
    if effect == "1":
        instead = (
            f"A constant is the same for both objects, so it cancels. For worths that vary by {grouping}, fit "
            f"{_call(text, term, among.written)}"
        )
    elif constant := _WITH_CONSTANT.fullmatch(effect):
        instead = f"Leave out the constant: {_call(text, term, f'({constant[1] or constant[2]} | {grouped})')}"
    elif effect.startswith("object:") and effect.count(":") == 1:
        beside = effect.split(":")[1].strip()
        instead = (
            f"Random effects cannot differ by {beside}. Keep the average interaction: "
            f"{_call(text, term, f'object:{beside} + {among.written}')}"
        )
    elif "+" in effect and all(_is_name(part.strip()) for part in effect.split("+")):
        instead = (
            "Covariances between effects of one judge are not estimated. Fit independent effects, with two bars: "
            f"{_call(text, term, term.strip().replace('|', '||'))}"
        )
    elif "(" in effect:
        instead = (
            "Compute a column of it for each side, such as log_length_i and log_length_j. Name it when you make the "
            "table: from_judgments(…, side_covariates={'log_length': ('log_length_i', 'log_length_j')}). Then write "
            f"log_length + (log_length | {grouped})."
        )
    else:
        instead = _ALLOWED
    _fail(f"{effect[:80]!r} cannot vary by {grouping}", text, instead)


def _is_name(text: str) -> bool:
    return text.isidentifier() or re.fullmatch(r"`[^`]+`", text) is not None


def _call(text: str, term: str, instead: object) -> str:
    """Return the call of `llbt.fit` with `instead` in place of a term; no term is repeated."""
    others = [part.strip() for part in _summands(text) if part != term]
    formula = " + ".join(others if str(instead) in others else [*others, str(instead)])
    return f"llbt.fit({formula!r}, c)."


def _fail(fault: str, text: str, remedy: str = _ALLOWED) -> NoReturn:
    raise FormulaError(f"{fault}, in {text.strip()[:200]!r}", remedy)
