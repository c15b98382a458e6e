"""Parse formulas into terms: which names are allowed, and what each term describes."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
import patsy
from patsy.parse_formula import parse_formula

from ..core.comparisons import Comparisons
from ..errors import FormulaError, listed, near
from .allowed import FUNCTIONS, MOST_CHARACTERS, MOST_NESTED, bounded, check_expression
from .brackets import has_brackets
from .sides import check_sides, is_both, side_names, side_of

Role = Literal[
    "object", "object covariate", "side covariate", "one side", "covariate", "pair", "tie", "bad", "grade", "order"
]

OBJECT_SIDE: frozenset[Role] = frozenset({"object", "object covariate", "side covariate", "one side"})
# words for parameters other than worths: ties, "both bad", grades beyond the first, and order
HEADS: tuple[Literal["tie", "bad", "grade", "order"], ...] = ("tie", "bad", "grade", "order")
SUMMED = ("tie", "bad")  # in these terms the effects of the two objects of a comparison are added
_SAID = {"tie": "ties (tie)", "bad": "both bad (bad)", "grade": "grades (grade)", "order": "order (order)"}
MOST_LEVELS = 10  # with at most so many levels, integers in a term may be labels
_LINE = 200  # most characters of a formula that a message shows


@dataclass(frozen=True)
class Variable:
    """A name that a formula may use, and whether its values are numbers or labels.

    Integers can be labels or numbers; `undecided` is then the number of distinct integers.
    """

    role: Role
    numeric: bool
    integers: bool = False
    undecided: int = 0


@dataclass(frozen=True)
class Vocabulary:
    """The names that formulas for one table may use."""

    variables: dict[str, Variable]
    clusters: tuple[str, ...]
    unkept: tuple[str, ...]
    has_ties: bool
    has_bad: bool
    has_grades: bool
    keeps_order: bool

    def __hash__(self) -> int:
        return hash((frozenset(self.variables.items()), self.clusters, self.unkept))


def vocabulary(c: Comparisons) -> Vocabulary:
    """Return the reserved variables and the table's own columns with their roles."""
    variables = {
        "object": Variable("object", numeric=False),
        "tie": Variable("tie", numeric=True),
        "bad": Variable("bad", numeric=True),
        "grade": Variable("grade", numeric=True),
        "order": Variable("order", numeric=True),
        "pair": Variable("pair", numeric=False),
    }
    variables |= {
        column.name: Variable("covariate", column.numeric, bool(column.integers), column.undecided)
        for column in c.columns
    }
    variables |= {column.name: Variable("object covariate", column.numeric) for column in c.object_columns}
    variables |= {column.name: Variable("side covariate", column.numeric) for column in c.sides}
    numbers = [column.name for column in c.sides if column.numeric]
    variables |= {side: Variable("one side", numeric=True) for name in numbers for side in side_names(name)}
    response = c.response
    has = (response.has_ties, response.has_bad, bool(response.grades))
    return Vocabulary(variables, c.clusters, c.unkept, *has, c.keeps_order)


@dataclass(frozen=True)
class Factor:
    """One factor of a term: patsy's factor, its place in the text, and the variables that it uses."""

    factor: Any  # patsy.EvalFactor; two are equal if their code is
    start: int
    end: int
    variables: frozenset[str]
    object_side: bool  # whether it may differ between the two objects of a comparison
    both_sides: bool  # whether it is sides(…)
    numbers: frozenset[str] = frozenset()  # integer covariates that it uses as numbers
    alone: str = ""  # the name of the variable, if the factor is a variable alone

    @property
    def code(self) -> str:
        """The expression in patsy's normal form."""
        return str(self.factor.code)


@dataclass(frozen=True)
class Term:
    """A product of factors, without the factor ``tie``, ``bad``, ``grade`` or ``order``."""

    factors: tuple[Factor, ...]

    @property
    def codes(self) -> frozenset[str]:
        """The factors' expressions."""
        return frozenset(f.code for f in self.factors)

    @property
    def name(self) -> str:
        """The term in the notation of the formula."""
        return ":".join(f.code for f in self.factors)


@dataclass(frozen=True)
class Formula:
    """A formula, with its terms sorted by block.

    Attributes
    ----------
    text : str
    worth, tie, bad, grade, order : tuple of Term
        The terms of the log-worths λ, ties γ, "both bad", grades beyond the first, and the order effect δ. Terms of λ
        have a factor that depends on the side.
    stray : tuple of Term
        Terms that cancel, because they have covariates of the comparison only, and are not a margin of another term.
        They are probably a mistake.
    numbers : frozenset of str
        Integer covariates that some factor uses as numbers.
    """

    text: str
    worth: tuple[Term, ...]
    tie: tuple[Term, ...]
    bad: tuple[Term, ...]
    grade: tuple[Term, ...]
    order: tuple[Term, ...]
    stray: tuple[Term, ...]
    numbers: frozenset[str] = frozenset()

    @property
    def variables(self) -> frozenset[str]:
        """Names of the variables that λ, γ or δ depend on."""
        return frozenset(name for term in self.described for f in term.factors for name in f.variables)

    @property
    def described(self) -> tuple[Term, ...]:
        """The terms of λ, γ and δ."""
        return (*self.worth, *self.tie, *self.bad, *self.grade, *self.order)

    def of(self, word: str) -> tuple[Term, ...]:
        """Return the terms of ``"worth"``, ``"tie"``, ``"bad"``, ``"grade"`` or ``"order"``."""
        blocks = {"worth": self.worth, "tie": self.tie, "bad": self.bad, "grade": self.grade, "order": self.order}
        return blocks[word]


def parse(text: str, words: Vocabulary) -> Formula:
    """Return the formula with its terms sorted by block.

    Raises
    ------
    FormulaError
        For formulas that cannot be parsed, unknown names, and combinations that describe nothing. The message marks the
        place.
    """
    return _parsed(_checked(text), words)


@functools.lru_cache(maxsize=64)  # a fit reads its formula twice, and refits read it again
def _parsed(text: str, words: Vocabulary) -> Formula:
    terms = [_term(term, text, words) for term in _patsy_terms(text)]
    numbers = frozenset(name for term in terms for f in term.factors for name in f.numbers)
    for term in terms:
        _refuse_undecided(term, numbers, text, words)
    blocks: dict[str, list[Term]] = {word: [] for word in ("worth", *HEADS, "cancelling")}
    for term in terms:
        block, rest = _sorted_term(term, text, words)
        blocks[block].append(rest)
    described = [term for word in ("worth", *HEADS) for term in blocks[word]]
    stray = [t for t in blocks["cancelling"] if not any(t.codes <= other.codes for other in described)]
    return Formula(
        text,
        worth=tuple(blocks["worth"]),
        tie=tuple(sorted(blocks["tie"], key=has_object)),  # the main level comes before the objects' effects on it
        bad=tuple(sorted(blocks["bad"], key=has_object)),
        grade=tuple(blocks["grade"]),
        order=tuple(blocks["order"]),
        stray=tuple(stray),
        numbers=numbers,
    )


def adds_objects(formula: Formula) -> str | None:
    """Return ``"tie"`` or ``"bad"`` if effects of both objects are added there, as in ``tie:object``; else None."""
    return next((word for word in SUMMED if any(map(has_object, formula.of(word)))), None)


def has_object(term: Term) -> bool:
    """Whether a term has the factor `object`."""
    return any(f.variables == {"object"} for f in term.factors)


def compares_objects(formula: Formula) -> bool:
    """Whether a term uses `object` itself, so that worths need a connected graph of comparisons."""
    return any(f.variables == {"object"} for term in formula.worth for f in term.factors)


def stray_messages(formula: Formula) -> list[str]:
    """Return a message for each stray term: why it cancels, and the term that was probably meant."""
    partner = formula.worth[0].name if formula.worth else "object"
    return [
        f"{t.name} is the same for both objects of a comparison, so it cancels: the nuisance parameters absorb it. "
        f"For its effect on the worths write {partner}:{t.name}; for ties, tie:{t.name}."
        for t in formula.stray
    ]


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise FormulaError(f"the formula is of type {type(text).__name__}", expected="text such as 'object + tie'")
    if not text.strip():
        raise FormulaError("the formula is empty", expected="a formula such as 'object', or 'object + tie' with ties")
    if len(text) > MOST_CHARACTERS:
        raise FormulaError(
            f"the formula has {len(text):,} characters",
            "Put covariates of the objects or judges in columns of a table, and name only those that you need.",
            expected=f"at most {MOST_CHARACTERS:,}",
        )
    if has_brackets(text):
        raise FormulaError(
            f"the formula has random effects in brackets: {text.strip()[:_LINE]!r}",
            "Only llbt.fit(…) reads brackets; leave them out here.",
        )
    # on one line, from the first character that is not a space, because patsy counts positions in this way
    return re.sub(r"[\r\n\t]", " ", _unticked(text.strip()))


def _unticked(text: str) -> str:
    """Return a formula with names in backticks, as in R, quoted for patsy: ``Q("home.adv")``."""

    def quoted(match: re.Match[str]) -> str:
        return f"Q({json.dumps(match[1], ensure_ascii=False)})" if match[1] else match[0]

    return re.sub(r"`([^`]+)`|'[^']*'|\"[^\"]*\"", quoted, text)


@functools.lru_cache(maxsize=64)  # tables with other columns may have the same formula
def _patsy_terms(text: str) -> tuple[Any, ...]:
    _check_parentheses(text)
    try:
        tree = bounded(parse_formula(text), lambda what, node: _fail(what, text, node.origin.start, node.origin.end))
        desc = patsy.ModelDesc.from_formula(tree)
    except AssertionError:  # patsy raises this for a sign in place of a term, such as '<x' and '& age'
        _fail("a sign stands where a term should be; terms are joined by +, * or :", text, *_misplaced(text))
    except patsy.PatsyError as error:
        origin = error.origin
        _fail(str(error.message), text, *((origin.start, origin.end) if origin else (0, len(text))))
    if desc.lhs_termlist:
        _fail(
            "the formula has a left-hand side; the counts are the response, so write only the right-hand side",
            text,
            0,
            text.index("~"),
        )
    return tuple(term for term in desc.rhs_termlist if term.factors)


def _check_parentheses(text: str) -> None:
    """Refuse parentheses nested too deeply: Python's own limit differs from version to version."""
    depth = np.cumsum([(sign == "(") - (sign == ")") for sign in text])
    if depth.max() > MOST_NESTED:
        start = int(np.argmax(depth > MOST_NESTED))
        _fail(f"parentheses are nested deeper than {MOST_NESTED} levels", text, start, start + 1)


def _misplaced(text: str) -> tuple[int, int]:
    """Return the start and end of the first sign that cannot begin a term but does, such as ``<``."""
    match = re.search(r"(?:^|[-+*:/~(])\s*([<>&|%^=!@,;.\]})]+)", text)
    return match.span(1) if match else (0, len(text))


def _term(term: Any, text: str, words: Vocabulary) -> Term:
    return Term(tuple(_factor(factor, text, words) for factor in term.factors))


def _factor(factor: Any, text: str, words: Vocabulary) -> Factor:
    start, end = factor.origin.start, factor.origin.end
    try:
        tree = ast.parse(factor.code, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):  # the latter two: nested too deeply for Python's parser
        _fail(f"{factor.code[:80]!r} is not an expression; terms are joined by +, * or :", text, start, end)
    used = set()
    for name in _names(tree, text, (start, end), words):
        if name in words.variables:
            used.add(name)
        elif name not in FUNCTIONS and name != "np":
            _unknown(name, text, (start, end), words)
    check_expression(tree, frozenset(words.variables), lambda what: _fail(what, text, start, end))
    if not used:
        _fail(f"{factor.code!r} uses no variable of the table; leave it out", text, start, end)
    _check_reserved(factor.code, used, text, (start, end))
    numbers = _numbers(tree, text, (start, end), words)
    roles = {name: words.variables[name].role for name in sorted(used)}
    check_sides(tree, roles, lambda what: _fail(what, text, start, end))
    used |= {side_of(name)[0] for name, role in roles.items() if role == "one side"}
    object_side = any(role in OBJECT_SIDE for role in roles.values())
    return Factor(factor, start, end, frozenset(used), object_side, is_both(tree), numbers, _column(tree) or "")


def _column(node: ast.AST) -> str | None:
    """Return the name that a node stands for, plain or as ``Q("x y")``; None for other nodes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Q" and node.args:
        return str(node.args[0].value) if isinstance(node.args[0], ast.Constant) else None
    return node.id if isinstance(node, ast.Name) else None


def _names(tree: ast.expr, text: str, span: tuple[int, int], words: Vocabulary) -> Iterator[str]:
    """Yield the names that an expression uses; ``Q("x y")`` uses ``x y``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in words.variables:
            _fail(f"{node.func.id!r} is a column of the table and cannot be called; rename the column", text, *span)
        name = _column(node)
        if name is not None:
            yield name


def _check_reserved(code: str, used: set[str], text: str, span: tuple[int, int]) -> None:
    for word in HEADS:
        if word in used and code != word:
            _fail(
                f"{word!r} cannot be transformed; write it as a separate factor, as in {word}:judge",
                text,
                *span,
            )


def _numbers(tree: ast.expr, text: str, span: tuple[int, int], words: Vocabulary) -> frozenset[str]:
    """Return the integer covariates that an expression uses as numbers.

    Labels may stand alone, in C(…) and in comparisons such as I(judge == 'J1'); they are not numbers.
    """
    allowed: set[int] = {id(tree)}
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "C":
            allowed.update(id(arg) for arg in node.args[:1])
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(_column(side) == "object" for side in sides):
                _fail(
                    f"{ast.unparse(node)[:80]} compares 'object', which stands for both sides; add a column with this "
                    "comparison to the object table (object_covariates=) and use that column in the formula",
                    text,
                    *span,
                )
            allowed.update(id(side) for side in sides)
            if not all(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops):
                names.update(name for name in map(_column, sides) if name is not None)
    for node in ast.walk(tree):
        name = None if id(node) in allowed else _column(node)
        variable = None if name is None else words.variables.get(name)
        if name is None or variable is None or variable.numeric:
            continue
        names.add(name)
        if variable.role in ("object", "pair"):
            _fail(f"{name!r} holds labels, so it cannot be used in {ast.unparse(tree)}", text, *_find(name, text, span))
        if not variable.integers:
            _fail(
                f"{name!r} holds labels (Booleans and text are labels), but {ast.unparse(tree)} needs numbers. When "
                f"you make the table, pass numeric={name!r}",
                text,
                *_find(name, text, span),
            )
    return frozenset(name for name in names if name in words.variables and words.variables[name].integers)


def _refuse_undecided(term: Term, numbers: Collection[str], text: str, words: Vocabulary) -> None:
    """Raise for a term with so many distinct integers that they may be meant as numbers."""
    for factor in term.factors:
        n = 0 if factor.alone in {"", *numbers} else words.variables[factor.alone].undecided
        if n > MOST_LEVELS:
            name = json.dumps(factor.alone, ensure_ascii=False)
            _fail(
                f"{factor.alone!r} has {n} whole numbers. Write C({factor.code}) for {n} levels, or pass "
                f"numeric={name} for one slope",
                text,
                factor.start,
                factor.end,
            )


def _sorted_term(term: Term, text: str, words: Vocabulary) -> tuple[str, Term]:
    """Return the block of a term, and the term without its ``tie``, ``bad``, ``grade`` or ``order``."""
    heads = [f for f in term.factors if f.code in HEADS]
    rest = Term(tuple(f for f in term.factors if f not in heads))
    objectlike = [f for f in rest.factors if f.object_side]
    both = [f for f in objectlike if f.both_sides]
    if both and len(objectlike) > 1:
        _fail(
            f"{both[0].code} uses both sides, so it can only be combined with covariates of the comparison",
            text,
            *_span(both[0]),
        )
    if not heads:
        return ("worth" if objectlike else "cancelling"), term
    if len(heads) > 1:
        phrase = " or ".join(_SAID[f.code] for f in heads)
        _fail(f"a term describes {phrase}, not both", text, heads[-1].start, heads[-1].end)
    head = heads[0]
    _check_available(head, text, words)
    wrong = [f for f in objectlike if not _may_stand(f, head.code)]
    if wrong:
        others = {"order": " and object", "grade": " and pair"}.get(head.code, ", pair and object")
        _fail(
            f"{head.code}:{wrong[0].code} has no meaning: {wrong[0].code} differs between the two objects of a "
            f"comparison, but {head.code} is one effect for both. {head.code} may be combined with covariates of the "
            "comparison" + others,
            text,
            wrong[0].start,
            wrong[0].end,
        )
    return head.code, rest


def _may_stand(factor: Factor, head: str) -> bool:
    """Whether ``tie``, ``bad``, ``grade`` or ``order`` may be combined with a factor that differs between sides.

    ``object`` may be combined with all of them except ``grade``.
    """
    return factor.code == "object" if head in SUMMED else head == "order" and factor.variables == {"object"}


def check_levels(formula: Formula) -> None:
    """Raise for ``tie:object`` without ``tie``, and for ``bad:object`` without ``bad``.

    Raises
    ------
    FormulaError
    """
    for word in SUMMED:
        terms = formula.of(word)
        summed = [term for term in terms if has_object(term)]
        if summed and len(summed) == len(terms):
            what = (
                f"{word}:object needs the term {word}, to which it adds effects of objects; "
                f"write {word} + {word}:object"
            )
            _fail(what, formula.text, *_span(next(f for f in summed[0].factors if f.code == "object")))


def _check_available(head: Factor, text: str, words: Vocabulary) -> None:
    if head.code == "tie" and not words.has_ties:
        _fail(
            "the table has no ties (two outcomes per comparison), so the term tie cannot be estimated; leave it out",
            text,
            *_span(head),
        )
    if head.code == "bad" and not words.has_bad:
        _fail(
            "the table has no outcome 'bad' (both bad), so the term bad cannot be estimated; leave it out, or keep "
            "this outcome when you make the table: from_judgments(…, outcomes={'both_bad': 'bad'})",
            text,
            *_span(head),
        )
    if head.code == "grade" and not words.has_grades:
        _fail(
            "the table says which object is preferred, not how strongly, so the term grade cannot be estimated; "
            "leave it out, or keep the grades when you make the table: from_judgments(…, strength=…) or "
            "from_counts(…, grades=…)",
            text,
            *_span(head),
        )
    if head.code == "order" and not words.keeps_order:
        _fail(
            "the table merged the two presentations of each pair, so it has no order effect; make the table with "
            "order=True (object_i shown first), or leave order out",
            text,
            *_span(head),
        )


def _span(factor: Factor) -> tuple[int, int]:
    return factor.start, factor.end


def _unknown(name: str, text: str, span: tuple[int, int], words: Vocabulary) -> NoReturn:
    start, end = _find(name, text, span)
    stem = name[:-2] if name.endswith(("_i", "_j")) else ""
    two = [column for column in words.unkept if stem and column.startswith(f"{stem}_")]
    side = words.variables.get(stem)
    if side is not None and side.role == "side covariate":
        what = (
            f"{stem!r} holds labels, but sides(…) needs numbers. When you make the table, pass "
            f"numeric={json.dumps(stem, ensure_ascii=False)}"
        )
    elif len(two) == 2:
        mapping = json.dumps({stem: two}, ensure_ascii=False)
        what = f"{name!r} is the value of one side. When you make the table, pass side_covariates={mapping}"
    elif name in words.clusters:
        what = (
            f"{name!r} is a cluster of this table, so the counts are not split by it; to use it in a formula, pass "
            f"covariates={name!r} when you make the table"
        )
    elif name in words.unkept:
        what = (
            f"{name!r} is a column of your frame but was not kept; make the table with "
            f"from_judgments(…, covariates={name!r})"
        )
    else:
        known = [name for name, variable in words.variables.items() if variable.role not in _unsaid(words)]
        quoted = [n for n in (*known, *words.unkept) if not n.isidentifier() and n.startswith(name)]
        hint = f" (write `{quoted[0]}`)" if quoted else near(name, known)
        what = f"no variable {name!r}{hint}; the formula may use {listed(known, 12)}"
    _fail(what, text, start, end)


def _unsaid(words: Vocabulary) -> tuple[Role, ...]:
    has: dict[Role, bool] = {"one side": False, "bad": words.has_bad, "grade": words.has_grades}
    return tuple(role for role, there in has.items() if not there)


def _find(name: str, text: str, span: tuple[int, int]) -> tuple[int, int]:
    match = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text[span[0] : span[1]])
    return (span[0] + match.start(), span[0] + match.end()) if match else span


def _fail(what: str, text: str, start: int, end: int) -> NoReturn:
    """Raise a FormulaError that marks the place."""
    raise FormulaError(f"{what}.\n{marked(text, start, end)}")


def marked(text: str, start: int, end: int) -> str:
    """Return a formula with carets under a place; of a long formula only the part around it."""
    first = 0 if len(text) <= _LINE else max(0, min(start - _LINE // 4, len(text) - _LINE))
    last = len(text) if len(text) <= _LINE else first + _LINE
    before, after = "…" if first else "", "…" if last < len(text) else ""
    caret = " " * (start - first + len(before)) + "^" * max(1, min(end, last) - start)
    return f"  {before}{text[first:last]}{after}\n  {caret}"
