"""The API reference and the vignettes as a static site: sphinx-build -W vignettes/site build/site."""

import inspect
import operator
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
    """Return the names of llbt/surface.py under the questions that group them there, then those of each namespace."""
    source = Path(llbt.__file__).with_name("surface.py").read_text(encoding="utf-8").split("__all__ = [", 1)[1]
    groups: list[tuple[str, list[str]]] = []
    for question, name in GROUP.findall(source):
        if question:
            groups.append((question, []))
        else:
            groups[-1][1].append(name)
    found = [name for _, names in groups for name in names]
    assert sorted(found) == sorted(llbt.__all__), "every public name stands under a question"
    *questions, (_, spaces) = groups
    for space in spaces:
        module = getattr(llbt, space)
        title = f"llbt.{space}: {module.__doc__.partition(':')[0].splitlines()[0].rstrip('.')}"
        questions.append((title, [f"{space}.{name}" for name in module.__all__]))
    return questions


def with_answer(name: str) -> list[str]:
    """Return a name, and after a function the record that it returns, unless that is a name of its own."""
    thing = operator.attrgetter(name)(llbt)
    said = inspect.signature(thing).return_annotation if inspect.isfunction(thing) else None
    answer = getattr(inspect.getmodule(thing), said, None) if isinstance(said, str) else said
    if not (inspect.isclass(answer) and answer.__module__.startswith("llbt.")) or answer in vars(llbt).values():
        return [f"llbt.{name}"]
    return [f"llbt.{name}", f"{answer.__module__}.{answer.__name__}"]


def write_reference() -> None:
    """Write reference.rst, and copy the vignettes to where Sphinx sees them."""
    lines, told = ["Reference", "=========", ""], set()
    for question, names in grouped():
        title = question if question.startswith("llbt") else question[0].upper() + question[1:]
        entries = [entry for name in names for entry in with_answer(name) if not (entry in told or told.add(entry))]
        entries = [f"   {entry}" for entry in entries]
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
