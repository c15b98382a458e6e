"""The site of llbt: ``python -m vignettes.site`` builds it into build/site and checks its links."""

import ast
import inspect
import operator
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat

import llbt

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "twin")]  # the writers of pages stand there

from developer_pages import developer_pages  # noqa: E402
from format_pages import formats_page  # noqa: E402
from make_page import page as try_page  # noqa: E402

ANCHOR = re.compile(r"\]\(#([^)]+)\)")
GROUP = re.compile(r"^    # (.+)$|^    \"(\w+)\",$", re.MULTILINE)

project = "llbt"
author = "The llbt developers"
release = llbt.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "math_pages",
]
exclude_patterns = ["_whole", "gallery", "pictures/of", "pictures/**.ipynb", "pictures/**.py"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_extra_path = ["_whole"]  # a page that is a file by itself
html_css_files = ["llbt.css"]
html_math_renderer = "mathml"  # MathJax would be fetched from another site
html_search_scorer = str(HERE / "scorer.js")
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
myst_update_mathjax = False
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
    "write_computation_times": False,
    "capture_repr": (),  # no boxes that show <Axes: …>
    "download_all_examples": False,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "nested_sections": False,
    "abort_on_example_error": True,
    "plot_gallery": True,
}


def grouped() -> list[tuple[str, list[str]]]:
    """Return the names of llbt/__init__.py under the questions that group them there, then those of each namespace."""
    source = Path(llbt.__file__).read_text(encoding="utf-8").split("__all__ = [", 1)[1]
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


def record_of(name: str) -> str | None:
    """Return the record that a public function returns, unless the record has a public name of its own."""
    thing = operator.attrgetter(name)(llbt)
    annotation = inspect.signature(thing).return_annotation if inspect.isfunction(thing) else None
    record = getattr(inspect.getmodule(thing), annotation, None) if isinstance(annotation, str) else annotation
    if not (inspect.isclass(record) and record.__module__.startswith("llbt.")) or record in vars(llbt).values():
        return None
    return f"{record.__module__}.{record.__name__}"


NAMES = [name for _, names in grouped() for name in names]
RECORDS = {f"llbt.{name}": record for name in NAMES if (record := record_of(name))}
autosummary_context = {
    "record_of": RECORDS,
    "returned_by": {record: [name for name, own in RECORDS.items() if own == record] for record in RECORDS.values()},
}


def summary_of(names: Iterable[str]) -> list[str]:
    """Return the lines of a table of names, each with a page of its own."""
    return [".. autosummary::", "   :toctree: api", "", *(f"   {name}" for name in names), ""]


def write_reference() -> None:
    """Write reference.rst, the public names under their questions, and records.rst, the records that they return.

    The navigation shows only the public names; records.rst is reached by the links of the functions.
    """
    lead = "The records that functions return have :doc:`pages of their own <records>`."
    lines = ["Reference", "=========", "", lead, ""]
    for question, names in grouped():
        title = question if question.startswith("llbt") else question[0].upper() + question[1:]
        lines += [title, "-" * len(title), "", *summary_of(f"llbt.{name}" for name in names)]
    written("reference.rst", "\n".join(lines))
    lines = [":orphan:", "", "Records", "=======", "", "What functions return.", ""]
    written("records.rst", "\n".join([*lines, *summary_of(sorted(set(RECORDS.values())))]))


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
    """Write a generated page if its text has changed, because Sphinx reads every changed file again."""
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (path.exists() and path.read_text(encoding="utf-8") == text):
        path.write_text(text, encoding="utf-8")


def linked_names(app: object, page: str, source: list[str]) -> None:
    """Link the public names that pages have in backquotes, with or without the brackets of a call."""
    if page.startswith("pages/"):
        known = {*(f"llbt.{name}" for name in NAMES), *RECORDS.values()}
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
written("_whole/try.html", try_page())
for page, text in developer_pages().items():
    written(f"developers/{page}", text)
