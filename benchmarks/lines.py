"""Size and shape of the package, by room: `python -m benchmarks.lines [COMMIT …]`; without one, the files as they are.

Lines of logic are those with code: no blank line, no comment, no docstring. Statements are those of the syntax tree,
docstrings left out. The longest import path counts modules, imports for types alone left out.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = "llbt"
REPOSITORY = Path(__file__).parents[1]
PARAMETERS = 8  # a public function with more of them is counted
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
# In a process of its own, because grimp finds the package that is loaded where one is.
IMPORTS = f"""
import grimp, json
graph = grimp.build_graph("{PACKAGE}", exclude_type_checking_imports=True, cache_dir=None)
print(json.dumps({{name: sorted(graph.find_modules_directly_imported_by(name)) for name in graph.modules}}))
"""


@dataclass(frozen=True)
class Size:
    """The counts of some files."""

    files: int = 0
    lines: int = 0
    logic: int = 0
    statements: int = 0
    names: int = 0
    wide: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class Shape:
    """A tree of files: its rooms, its public functions with many parameters, its longest chain of imports."""

    rooms: dict[str, Size]
    wide: dict[str, int]
    chain: list[str]


def counted(source: str) -> Size:
    """Count the lines and statements of one file."""
    tree = ast.parse(source)
    told = {id(text): text for text in map(_docstring, ast.walk(tree)) if text}
    inside = {line for text in told.values() for line in range(text.lineno, (text.end_lineno or text.lineno) + 1)}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {line for t in tokens if t.type not in NO_CODE for line in range(t.start[0], t.end[0] + 1)}
    statements = sum(isinstance(node, ast.stmt) and id(node) not in told for node in ast.walk(tree))
    return Size(1, len(source.splitlines()), len(code - inside), statements)


def _docstring(node: ast.AST) -> ast.Expr | None:
    """Return the statement that documents a module, class or function."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or not node.body:
        return None
    first = node.body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return first if text else None


def shape(root: Path) -> Shape:
    """Measure the package in a folder."""
    rooms: dict[str, Size] = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        room = _room(path.relative_to(root).with_suffix("").parts)
        rooms[room] = rooms.get(room, Size()) + counted(path.read_text(encoding="utf-8"))
    wide = {}
    for name, path in surface(root).items():
        parameters = _parameters(path, name.rpartition(".")[2])
        if parameters > PARAMETERS:
            wide[name] = parameters
        rooms[_room(path.relative_to(root).parts)] += Size(names=1, wide=int(parameters > PARAMETERS))
    run = subprocess.run([sys.executable, "-c", IMPORTS], cwd=root, capture_output=True, text=True, check=True)
    return Shape(rooms, wide, longest(json.loads(run.stdout)))


def _room(parts: Sequence[str]) -> str:
    """Return the folder of a module: ``"scores"`` for llbt/scores/setups.py, ``"(root)"`` for llbt/errors.py."""
    return "/".join(parts[1:-1]) or "(root)"


def surface(root: Path) -> dict[str, Path]:
    """Return the public names, of the package and of the namespaces among them, and the files that define them."""
    found = {}
    for name, path in _named(root / PACKAGE / "__init__.py").items():
        inner = _named(path) if name in (path.stem, path.parent.name) else {}
        found |= {f"{name}.{own}": place for own, place in inner.items()} or {name: path}
    return found


def _named(path: Path) -> dict[str, Path]:
    """Return the names in ``__all__`` of a file, and the files that they are imported from."""
    places, names = {}, []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):  # imports for type checkers stand in a block
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            places |= {alias.asname or alias.name: _file(folder, alias.name) for alias in node.names}
        elif isinstance(node, ast.Assign) and any(ast.unparse(target) == "__all__" for target in node.targets):
            names = ast.literal_eval(node.value)
    return {name: places.get(name, path) for name in names}


def _file(folder: Path, name: str) -> Path:
    """Return the file of a name imported from a module or package: the name may be a module itself."""
    places = (folder / name / "__init__.py", folder / f"{name}.py", folder.with_suffix(".py"), folder / "__init__.py")
    return next(path for path in places if path.exists())


def _parameters(path: Path, name: str) -> int:
    """Return how many parameters a function of a file has, 0 for anything else."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
    return 0


def longest(imports: dict[str, list[str]]) -> list[str]:
    """Return the longest chain of imports, from the top: ``{"a": ["b"], "b": []}`` has ``["a", "b"]``."""
    below: dict[str, list[str]] = {}
    for module in TopologicalSorter(imports).static_order():
        below[module] = [module, *max((below[name] for name in sorted(imports[module])), key=len, default=[])]
    return max(below.values(), key=len)


def at(commit: str) -> Shape:
    """Measure the package as a commit has it."""
    packed = subprocess.run(["git", "archive", commit, PACKAGE], cwd=REPOSITORY, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="llbt-lines-") as folder, tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")
        return shape(Path(folder))


def shown(measured: Shape) -> str:
    """Return the table of a shape as text, the rooms by size, the sum last."""
    rows = sorted(measured.rooms.items(), key=lambda row: -row[1].logic)
    rows.append(("all", sum(measured.rooms.values(), Size())))
    heads = ("room", *(field.name for field in fields(Size)))
    cells = [heads, *((room, *(f"{n:,}" for n in astuple(size))) for room, size in rows)]
    lines = [f"{room:20}" + "".join(f"{cell:>12}" for cell in row) for room, *row in cells]
    wide = ", ".join(f"{name} {n}" for name, n in sorted(measured.wide.items()))
    lines.append(f"public functions with more than {PARAMETERS} parameters: {wide or 'none'}")
    lines.append(f"longest import path: {len(measured.chain)}: {' > '.join(measured.chain)}")
    return "\n".join(lines)


def main(line: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lines", description=__doc__)
    parser.add_argument("commits", nargs="*", metavar="COMMIT", help="measured one after the other")
    for commit in parser.parse_args(line).commits or [None]:
        print(f"{commit or 'the files as they are'}\n{shown(at(commit) if commit else shape(REPOSITORY))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
