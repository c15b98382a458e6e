"""What a formula may contain: names, functions and sizes, checked before patsy evaluates anything.

patsy evaluates the factors of a formula as Python code. A formula may come from a stranger, so only the expressions
listed below reach patsy, and only in sizes that patsy evaluates fast.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
from patsy.parse_formula import ParseNode

from ..errors import listed

Fail = Callable[[str], NoReturn]

MOST_CHARACTERS = 30_000
MOST_TERMS = 1_000
MOST_NESTED = 50  # parentheses within parentheses, and calls within calls
MOST_COLUMNS = 100  # most columns of one spline, and the highest degree
LARGEST_EXPONENT = 8
LARGEST_NUMBER = 10**15


@dataclass(frozen=True)
class Function:
    """The fewest and the most positional arguments of a function, and the names of its keyword arguments."""

    least: int
    most: int
    keywords: frozenset[str] = frozenset()


_SPLINE = frozenset({"df", "knots", "degree", "include_intercept", "lower_bound", "upper_bound", "constraints"})
# functions of numpy; each may be written with or without np. before it
_NUMERIC = {
    **dict.fromkeys(("log", "log2", "log10", "log1p", "exp", "expm1", "sqrt", "abs", "sign"), Function(1, 1)),
    **dict.fromkeys(("sin", "cos", "tan", "tanh", "floor", "ceil", "square"), Function(1, 1)),
    **dict.fromkeys(("power", "minimum", "maximum"), Function(2, 2)),
    **dict.fromkeys(("where", "clip"), Function(3, 3)),
}
_CODED = {  # functions of patsy
    "C": Function(1, 2, frozenset({"contrast", "levels"})),
    "I": Function(1, 1),
    "Q": Function(1, 1),
    "sides": Function(1, 1),  # our own: half of a feature of both sides, see `llbt.formulas.sides`
    **dict.fromkeys(("center", "standardize", "scale"), Function(1, 1)),
    **dict.fromkeys(("bs", "cr", "cc"), Function(1, 2, _SPLINE)),
    "te": Function(1, 4, frozenset({"constraints"})),
    "Treatment": Function(0, 1, frozenset({"reference"})),
    "Sum": Function(0, 1, frozenset({"omit"})),
    "Poly": Function(0, 1, frozenset({"scores"})),
    **dict.fromkeys(("Diff", "Helmert"), Function(0, 0)),
}
FUNCTIONS = _CODED | _NUMERIC
_CONTRASTS = frozenset({"Treatment", "Sum", "Poly", "Diff", "Helmert"})
_SPLINES = frozenset({"bs", "cr", "cc"})

# all names that an expression can use besides the table's columns and patsy's own functions
NAMESPACE: dict[str, Any] = {name: getattr(np, name) for name in _NUMERIC}
NAMESPACE["np"] = SimpleNamespace(**NAMESPACE, pi=np.pi)
NAMESPACE["sides"] = functools.partial(np.multiply, 0.5)

_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr)
_UNARY = (ast.UAdd, ast.USub, ast.Invert)
_COMPARED = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def bounded(tree: ParseNode, fail: Callable[[str, ParseNode], NoReturn]) -> ParseNode:
    """Return patsy's tree of a formula with long sums balanced, so that patsy needs few nested calls.

    If the formula would expand to more than `MOST_TERMS` terms, or nests more than `MOST_NESTED` operators, `fail` is
    called with a message and the node.
    """
    if tree.type == "~":
        sides = [bounded(side, fail) for side in tree.args]
        return ParseNode(tree.type, tree.token, sides, tree.origin)
    return _expanded(tree, fail, 0)[0]


def _expanded(node: ParseNode, fail: Callable[[str, ParseNode], NoReturn], depth: int) -> tuple[ParseNode, int]:
    """Return a node with its sums balanced, and the largest number of terms to which the node can expand."""
    if depth > MOST_NESTED:
        fail(f"the formula is nested deeper than {MOST_NESTED} operators; write it as a sum of terms", node)
    parts = [_expanded(part, fail, depth + 1) for part in _summands(node)]
    size = _terms(node, [size_of_part for _, size_of_part in parts])
    if size > MOST_TERMS:
        fail(f"the formula expands to more than {MOST_TERMS:,} terms; write only the terms you need", node)
    nodes = [part for part, _ in parts]
    if node.type == "+" and len(node.args) == 2:
        return _balanced(nodes, node), size
    return ParseNode(node.type, node.token, nodes, node.origin), size


def _summands(node: ParseNode) -> list[ParseNode]:
    """Return the operands of a node; for a sum such as a + b + c, all its summands."""
    if node.type != "+" or len(node.args) != 2:
        return list(node.args)
    parts = []
    while node.type == "+" and len(node.args) == 2:  # sums lean to the left
        parts.append(node.args[1])
        node = node.args[0]
    return [node, *reversed(parts)]


def _balanced(nodes: list[ParseNode], written: ParseNode) -> ParseNode:
    if len(nodes) == 1:
        return nodes[0]
    half = len(nodes) // 2
    sides = [_balanced(nodes[:half], written), _balanced(nodes[half:], written)]
    return ParseNode("+", written.token, sides, written.origin)


def _terms(node: ParseNode, sizes: list[int]) -> int:
    """Return the largest number of terms to which a node can expand."""
    if len(sizes) == 2 and node.type == ":":
        return sizes[0] * sizes[1]
    if len(sizes) == 2 and node.type == "*":
        return sum(sizes) + sizes[0] * sizes[1]
    if node.type == "**":
        exponent = str(node.args[1].token.extra)
        power = min(int(exponent) if exponent.isdecimal() and len(exponent) < 9 else 1, sizes[0])
        products = (math.comb(sizes[0], k) for k in range(1, power + 1))
        return next((total for total in itertools.accumulate(products) if total > MOST_TERMS), 0) or 2 ** sizes[0] - 1
    return max(1, sum(sizes))


def check_expression(tree: ast.expr, columns: frozenset[str], fail: Fail) -> None:
    """Call `fail` for the parts of a factor's expression that this module does not allow.

    Names that are not functions of this module are checked by the caller. `columns` are the columns of the table.
    """
    _check_depth(tree, fail)
    for node, place in _nodes(tree, "whole"):
        if isinstance(node, ast.Constant):
            _check_constant(node, place, fail)
        elif isinstance(node, ast.Call):
            _check_call(node, columns, fail)
        elif isinstance(node, ast.BinOp):
            _check_operator(node, fail)
        elif isinstance(node, ast.List | ast.Tuple):
            _check_list(node, place, fail)
        elif isinstance(node, ast.Name | ast.Attribute):
            _check_name(node, place, columns, fail)
        elif not _plain(node):
            fail(_foreign(node))


def _check_name(node: ast.Name | ast.Attribute, place: str, columns: frozenset[str], fail: Fail) -> None:
    if isinstance(node, ast.Name):
        if node.id == "np" and "np" not in columns:
            fail("np must be followed by one of its functions, as in np.log(x)")
        contrast = place == "argument" and node.id in _CONTRASTS  # C(judge, Sum)
        if node.id in FUNCTIONS and node.id not in columns and place != "called" and not contrast:
            fail(f"{node.id} is a function; write {node.id}(…)")
    elif not (isinstance(node.value, ast.Name) and node.value.id == "np" and "np" not in columns):
        fail(f"{ast.unparse(node)[:80]!r}: attributes are not allowed in a formula")
    elif not (node.attr == "pi" or (node.attr in _NUMERIC and place == "called")):
        fail(f"{ast.unparse(node)!r} is not allowed in a formula; np. may precede {listed(sorted(_NUMERIC), 30)}")


def _foreign(node: ast.expr) -> str:
    hint = {ast.BoolOp: "; write & for and, | for or", ast.IfExp: "; write where(…)"}.get(type(node), "")
    written = ast.unparse(node)
    return (
        f"{written if len(written) < 80 else written[:77] + '…'!r} is not allowed in a formula, which may have names, "
        f"numbers, + - * / // % **, comparisons, & | ~ and functions{hint}"
    )


def _plain(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, _UNARY)
    return isinstance(node, ast.Compare) and all(isinstance(op, _COMPARED) for op in node.ops)


def _nodes(node: ast.expr, place: str) -> Iterator[tuple[ast.expr, str]]:
    """Yield every node with its role: whole factor, called, argument, compared, listed, or operand."""
    yield node, place
    if isinstance(node, ast.Call):
        yield from _nodes(node.func, "called")
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from _nodes(argument, "argument")
    elif isinstance(node, ast.Attribute):
        return  # the function's name is checked together with the call
    else:
        inner = "listed" if isinstance(node, ast.List | ast.Tuple) else "operand"
        inner = "compared" if isinstance(node, ast.Compare) else inner
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _nodes(child, inner)


def _check_depth(tree: ast.expr, fail: Fail) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(MOST_NESTED):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    fail(f"an expression is nested deeper than {MOST_NESTED} levels; make it a column of the table")


def _check_constant(node: ast.Constant, place: str, fail: Fail) -> None:
    value = node.value
    if isinstance(value, str):
        if place == "operand":
            fail(f"the text {value!r} is an operand of arithmetic; texts may only be compared or be arguments")
    elif isinstance(value, int | float):
        too_large = isinstance(value, int) and abs(value) > LARGEST_NUMBER
        if too_large or not math.isfinite(value):
            fail("a number is too large: whole numbers may be up to 10¹⁵, others below 1.8·10³⁰⁸")
    elif value is not None:
        fail(f"{value!r} is not a number, text, True, False or None")


def _check_list(node: ast.List | ast.Tuple, place: str, fail: Fail) -> None:
    allowed = isinstance(node, ast.List) and place in ("argument", "listed")
    if not allowed or not all(isinstance(item, ast.List) or _literal(item) for item in node.elts):
        fail(f"{ast.unparse(node)[:80]!r}: write a list only as an argument, in square brackets, with numbers or texts")


def _literal(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _check_operator(node: ast.BinOp, fail: Fail) -> None:
    if not isinstance(node.op, _BINARY):
        fail(_foreign(node))
    if not isinstance(node.op, ast.Pow):
        return
    exponent = _number(node.right)
    if exponent is None or abs(exponent) > LARGEST_EXPONENT:
        fail(f"{ast.unparse(node)[:80]!r}: ** takes an exponent from -{LARGEST_EXPONENT} to {LARGEST_EXPONENT}")
    if not any(isinstance(part, ast.Name) for part in ast.walk(node.left)):
        # powers of powers of plain numbers grow without bound, because Python computes them, not numpy
        fail(f"{ast.unparse(node)[:80]!r}: this is a power of plain numbers; write its value")


def _number(node: ast.expr) -> float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        sign, node = -1 if isinstance(node.op, ast.USub) else 1, node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return sign * node.value
    return None


def _check_call(node: ast.Call, columns: frozenset[str], fail: Fail) -> None:
    name = _called(node)
    if name is None:
        fail(f"{ast.unparse(node)[:80]!r}: a function must be called by its name, as in log(x)")
    if name not in FUNCTIONS:
        return  # an unknown name, which the caller refuses
    keywords = [keyword.arg for keyword in node.keywords]
    unknown = [keyword for keyword in keywords if keyword not in FUNCTIONS[name].keywords]
    if unknown or any(isinstance(argument, ast.Starred) for argument in node.args):
        fail(f"{name} takes no argument {'*' if None in unknown or not unknown else unknown[0]!r} in a formula")
    if not FUNCTIONS[name].least <= len(node.args) <= FUNCTIONS[name].most:
        fail(f"{name} takes {_arity(FUNCTIONS[name])}, not {len(node.args)}")
    if name == "Q" and not (isinstance(node.args[0], ast.Constant) and node.args[0].value in columns):
        fail("Q takes the name of a column in quotation marks, as in Q('x y')")
    if name in _SPLINES:
        _spline_columns(node, fail)
    if name == "te":
        _check_product(node, fail)


def _arity(function: Function) -> str:
    if function.least == function.most:
        return f"{function.most} arguments" if function.most != 1 else "1 argument"
    return f"{function.least} to {function.most} arguments"


def _called(node: ast.Call) -> str | None:
    """Return the name of the function that is called, without np. before it."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def _spline_columns(node: ast.Call, fail: Fail) -> int:
    """Return the largest number of columns that a spline may have."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    given |= {"df": node.args[1]} if len(node.args) > 1 else {}
    size = {}
    for name in ("df", "degree"):
        value = _number(given[name]) if name in given else 3
        if value is None or not 0 <= value <= MOST_COLUMNS:
            fail(f"{name} of a spline must be a number from 0 to {MOST_COLUMNS}")
        size[name] = int(value)
    knots = given.get("knots")
    inner = len(knots.elts) if isinstance(knots, ast.List) else 0
    if knots is not None and not 0 < inner <= MOST_COLUMNS:
        fail(f"knots of a spline must be a list of 1 to {MOST_COLUMNS} numbers")
    return max(size["df"], inner + size["degree"] + 1)


def most_columns(code: str) -> int:
    """Return the largest number of columns that a numeric expression can give; the expression was checked before."""
    calls = (node for node in ast.walk(ast.parse(code, mode="eval")) if isinstance(node, ast.Call))
    return math.prod(_spline_columns(node, _never) for node in calls if _called(node) in _SPLINES)


def _never(message: str) -> NoReturn:
    raise AssertionError(message)  # the expression was refused before


def _check_product(node: ast.Call, fail: Fail) -> None:
    """Call `fail` if te(…) would give too many columns: the product of the column counts of its splines."""
    if not all(isinstance(part, ast.Call) and _called(part) in _SPLINES for part in node.args):
        fail("te takes splines, as in te(cr(x, df=4), cr(y, df=4))")
    size = math.prod(_spline_columns(part, fail) for part in node.args if isinstance(part, ast.Call))
    if size > MOST_TERMS:
        fail(f"te would give {size:,} columns, more than {MOST_TERMS:,}; use a smaller df")
