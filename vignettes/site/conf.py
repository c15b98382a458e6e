"""The API reference and the vignettes as a static site: sphinx-build -W vignettes/site build/site."""

import re
import shutil
from pathlib import Path

import llbt

HERE = Path(__file__).parent
GROUP = re.compile(r"^    # (.+)$|^    \"(\w+)\",$", re.MULTILINE)

project = "llbt"
author = "The llbt developers"
release = llbt.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc", "myst_nb"]
exclude_patterns = ["build"]
html_theme = "alabaster"
html_theme_options = {
    "description": "Paired comparisons with ties, order effects and covariates",
    "page_width": "72rem",
}
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say what a parameter is
numpydoc_show_class_members = False
nb_execution_mode = "off"  # they are kept with their outputs, and run by vignettes/run.py
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "myst.xref_missing", "mystnb.unknown_mime_type"]  # links as Jupyter has them


def grouped() -> list[tuple[str, list[str]]]:
    """Return the public names under the questions that group them in llbt/__init__.py."""
    source = Path(llbt.__file__).read_text(encoding="utf-8").split("__all__ = [", 1)[1]
    groups: list[tuple[str, list[str]]] = []
    for question, name in GROUP.findall(source):
        if question:
            groups.append((question, []))
        else:
            groups[-1][1].append(name)
    found = [name for _, names in groups for name in names]
    assert sorted(found) == sorted(llbt.__all__), "every public name stands under a question"
    return groups


def write_reference() -> None:
    """Write reference.rst, and copy the vignettes to where Sphinx sees them."""
    lines = ["Reference", "=========", ""]
    for question, names in grouped():
        title = question[0].upper() + question[1:]
        entries = [f"   llbt.{name}" for name in names]
        lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: api", "", *entries, ""]
    (HERE / "reference.rst").write_text("\n".join(lines), encoding="utf-8")
    target = HERE / "vignettes"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for path in HERE.parent.glob("*.ipynb"):
        shutil.copy(path, target)


def plain_bars(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Keep |z| in a docstring from being read as a substitution."""
    lines[:] = [line if "``" in line or ">>>" in line else line.replace("|", r"\|") for line in lines]


def setup(app: object) -> None:
    app.connect("autodoc-process-docstring", plain_bars)  # type: ignore[attr-defined]


write_reference()  # before Sphinx looks which pages there are
