"""What a script can count of the structure: tests of kinds, modules that name a kind, common attributes, lines."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

from support.questions import KINDS, fit_of, written

PACKAGE = Path(__file__).parents[2] / "llbt"
RESULTS = frozenset(
    {
        "BestWorstEffects", "Calibration", "DiscriminationResults", "LLBTResults", "LargeResults", "LatentClasses",
        "MixedResults", "PatternResults", "RankingResults",
    }
)  # fmt: skip
# what stands for kinds: of several or of one in the signatures of functions, and what they inherit their estimates from
UNIONS = frozenset({"_ALL", "AnyFit", "ComparisonResults", "FitResults", "PairFit", "WithWorths"})
ALIASES = frozenset(
    {"Classes", "ClassSource", "DiscriminationsFit", "EffectsFit", "OneSource", "PlainFit", "RankingsFit"}
)
HALVES = frozenset(
    {
        "DiscriminationEstimates", "Estimates", "FitPart", "LargeEstimates", "MixedEstimates", "PatternEstimates",
        "PlainEstimates", "RankingEstimates", "WorthEstimates",
    }
)  # fmt: skip
GUARDS = frozenset({"is_fit", "plain_of"})  # functions that say what a fit is or has, beside those of `protocols`


def modules() -> list[Path]:
    """Return the modules of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def _trees_with(words: frozenset[str]) -> dict[Path, ast.Module]:
    """Return the trees of the modules whose text has one of some words: parsing all of them takes seconds."""
    texts = {path: path.read_text(encoding="utf-8") for path in modules()}
    return {path: ast.parse(text) for path, text in texts.items() if any(word in text for word in words)}


def _names(tree: ast.AST) -> set[str]:
    return {node.id if isinstance(node, ast.Name) else node.attr for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.Attribute)}  # fmt: skip


def kind_tests() -> int:
    """Return how many isinstance tests ask for a kind of fit, for one of several, or for what kinds inherit from."""
    asked = RESULTS | UNIONS | ALIASES | HALVES
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and bool(_names(node.args[1]) & asked)
        for tree in _trees_with(asked).values()
        for node in ast.walk(tree)
    )


def guarded() -> int:
    """Return how often functions ask what a fit is or has, such as effects or lists, without naming its class."""
    named = GUARDS | {
        node.name
        for node in ast.walk(ast.parse((PACKAGE / "fitting" / "protocols.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("has_")
    }
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in named
        for tree in _trees_with(frozenset(named)).values()
        for node in ast.walk(tree)
    )


def naming_a_kind(kinds: frozenset[str] = RESULTS) -> list[str]:
    """Return the modules that name a kind of fit in their code."""
    found = []
    for path, tree in _trees_with(kinds).items():
        said = _names(tree) | {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
        if said & kinds:
            found.append(str(path.relative_to(PACKAGE)))
    return found


def common_attributes() -> list[str]:
    """Return the public attributes that the fits of all kinds have."""
    each = [{name for name in object.__dir__(fit_of(kind)) if name[0] != "_"} for kind in KINDS]
    return sorted(set.intersection(*each))


def logic_lines() -> int:
    """Return the lines of code of the package, without comments, docstrings and blank lines."""
    total = 0
    for path in modules():
        text = path.read_text(encoding="utf-8")
        texts: set[int] = set()
        for node in ast.walk(ast.parse(text)):
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
                value = body[0].value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    texts |= set(range(value.lineno, (value.end_lineno or value.lineno) + 1))
        skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in skip:
                lines |= set(range(token.start[0], token.end[0] + 1))
        total += len(lines - texts)
    return total


def _called(node: ast.AST) -> set[str]:
    functions = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
    return {
        f.attr if isinstance(f, ast.Attribute) else f.id for f in functions if isinstance(f, ast.Attribute | ast.Name)
    }


def _makes_steps(loop: ast.For | ast.While) -> bool:
    """Whether a loop that can be left early assigns a decrement, or a step from what solves, sweeps or makes steps."""
    if not any(isinstance(node, ast.Break | ast.Return) for node in ast.walk(loop)):
        return False
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign):
            names = {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            solved = any(part in call for call in _called(node.value) for part in ("solve", "step", "swept"))
            if "decrement" in names or ("step" in names and solved):
                return True
    return False


def newton_loops() -> list[str]:
    """Return the functions with a loop by Newton's method of their own, each as module:function.

    That is a loop which can be left early and in which a decrement is assigned, or a step by a function whose name has
    "solve", "step" or "swept" in it. Halving a step, and solving by conjugate gradients, is none.
    """
    return [
        f"{path.relative_to(PACKAGE)}:{function.name}"
        for path, tree in _trees_with(frozenset({"step", "decrement"})).items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.For | ast.While) and _makes_steps(node) for node in ast.walk(function))
    ]


if __name__ == "__main__":
    answered = {kind: sum(found for (name, _), found in written().items() if name == kind) for kind in KINDS}
    size = len({question for _, question in written()})
    print(f"questions answered of {size}:", ", ".join(f"{kind} {number}" for kind, number in answered.items()))
    print("attributes common to all kinds:", len(common_attributes()))
    print("isinstance tests on kinds:", kind_tests(), "and questions what a fit has:", guarded())
    print("modules that name a kind:", len(naming_a_kind()))
    print("modules that take a kind by another name:", len(naming_a_kind(ALIASES)))
    print("Newton loops:", ", ".join(newton_loops()))
    print("modules:", len(modules()), "lines of logic:", logic_lines())
