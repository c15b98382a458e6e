"""The pages for developers: every module by its docstring, and the documents of the repository."""

import ast
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "llbt"
_INTRODUCTION = """# Modules

A folder of `llbt/` is a room. Each module is listed by the first line of its docstring. The page is generated when the
site is built.
"""
_HIDDEN = "---\nnosearch: true\n---\n"  # users search for how-tos, not for decision records


def first_line(path: Path) -> str:
    """Return what a module holds: the first line of its docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def modules_page() -> str:
    """Return the list of modules, room by room."""
    lines = [_INTRODUCTION]
    for room in [PACKAGE, *sorted(path for path in PACKAGE.iterdir() if (path / "__init__.py").exists())]:
        paths = sorted(path for path in room.glob("*.py") if path.name != "__init__.py")
        about = first_line(room / "__init__.py").replace("|", r"\|")
        rows = [f"| `{path.stem}` | {first_line(path).replace('|', chr(92) + '|')} |" for path in paths]
        lines += [f"## {room.relative_to(REPOSITORY).as_posix()}", "", about, ""]
        lines += ["| module | holds |", "| --- | --- |", *rows, ""]
    return "\n".join(lines)


def developer_pages() -> dict[str, str]:
    """Return the text of each page below developers/, by its path in the repository, so that links work."""
    documents = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/words.md"]
    documents += [f"docs/decisions/{path.name}" for path in sorted((REPOSITORY / "docs" / "decisions").glob("*.md"))]
    pages = {name: (REPOSITORY / name).read_text(encoding="utf-8") for name in documents}
    return {name: _HIDDEN + text for name, text in {**pages, "modules.md": modules_page()}.items()}
