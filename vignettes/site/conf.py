"""The site of llbt: ``python -m vignettes.site`` builds it into build/site and checks its links."""

import ast
import inspect
import operator
import re
import sys
from pathlib import Path

import nbformat

import llbt

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # the writers of pages stand beside this file

from developer_pages import developer_pages  # noqa: E402
from format_pages import formats_page  # noqa: E402

ANCHOR = re.compile(r"\]\(#([^)]+)\)")
GROUP = re.compile(r"^    # (.+)$|^    \"(\w+)\",$", re.MULTILINE)

project = "llbt"
author = "The llbt developers"
release = llbt.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery", "pictures/of", "pictures/*.ipynb", "pictures/*.py"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["llbt.css"]
html_title = f"llbt {release}"
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": "llbt"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "pages/questions": []}
html_show_sourcelink = False
project_copyright = f"{author}, BSD-3-Clause"
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say what a parameter is
numpydoc_show_class_members = False
nb_execution_mode = "force"
nb_execution_excludepatterns = ["tutorials/*"]  # kept with their outputs, and run by vignettes/run.py
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type", "config.cache"]
sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["pictures"],
    "filename_pattern": r"/plot_",
    "backreferences_dir": "pictures/of",
    "doc_module": ("llbt",),
    "reference_url": {"llbt": None},
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1000,  # seconds: how long an example took is no news
    "download_all_examples": False,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "nested_sections": False,
    "abort_on_example_error": True,
    "plot_gallery": True,
}


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
    """Write reference.rst: every public name under its question."""
    lines, told = ["Reference", "=========", ""], set()
    for question, names in grouped():
        title = question if question.startswith("llbt") else question[0].upper() + question[1:]
        entries = [entry for name in names for entry in with_answer(name) if not (entry in told or told.add(entry))]
        entries = [f"   {entry}" for entry in entries]
        lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: api", "", *entries, ""]
    written("reference.rst", "\n".join(lines))


def without_asserts(source: str) -> str:
    """Return the code of a cell without its assertions, which check the figures and tell a reader nothing."""
    lines = source.splitlines()
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.Assert):
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines).strip("\n")


def write_tutorials() -> None:
    """Copy the vignettes to where Sphinx sees them, without their assertions."""
    for path in sorted(HERE.parent.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.source = without_asserts(cell.source)
            else:  # Jupyter keeps the capitals of a heading in its anchor
                cell.source = ANCHOR.sub(lambda found: found[0].lower(), cell.source)
        notebook.cells = [cell for cell in notebook.cells if cell.source or cell.get("outputs")]
        written(f"tutorials/{path.name}", nbformat.writes(notebook))


def write_changelog() -> None:
    """Copy the changelog of the repository."""
    written("changelog.md", (HERE.parents[1] / "CHANGELOG.md").read_text(encoding="utf-8"))


def written(name: str, text: str) -> None:
    """Write a page that is made, and leave it alone where it says that already: Sphinx reads what changed."""
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (path.exists() and path.read_text(encoding="utf-8") == text):
        path.write_text(text, encoding="utf-8")


def linked_names(app: object, page: str, source: list[str]) -> None:
    """Make links of the public names that pages have in backquotes, with a call's brackets or without."""
    if page.startswith("pages/"):
        known = {entry for _, names in grouped() for name in names for entry in with_answer(name)}
        role = "{py:obj}"
        source[0] = re.sub(r"`(llbt[.\w]+)`", lambda m: role + m[0] if m[1] in known else m[0], source[0])


def plain_bars(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Keep |z| in a docstring from being read as a substitution."""
    lines[:] = [line if "``" in line or ">>>" in line else line.replace("|", r"\|") for line in lines]


def setup(app: object) -> None:
    app.connect("source-read", linked_names)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", plain_bars)  # type: ignore[attr-defined]


# before Sphinx looks which pages there are
write_reference()
write_tutorials()
write_changelog()
written("formats.md", formats_page())
for page, text in developer_pages().items():
    written(f"developers/{page}", text)
