"""The vignettes as they are read on a forge: valid, executed, in order, and all of them in the index.

Their figures are asserted in their own cells; ``vignettes/run.py`` executes them.
"""

import ast
import json
import re
from functools import cache
from typing import Any

import nbformat
import pytest
from support.folders import REFERENCE, REPOSITORY

FOLDER = REPOSITORY / "vignettes"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
INDEX = (FOLDER / "README.md").read_text(encoding="utf-8")

# a root folder, or a drive, at the start of a path: where a notebook was executed says nothing to its reader
ABSOLUTE_PATH = re.compile(r"(?<![\w./:])/(?:tmp|home|root|usr|opt|var|private|Users|work|mnt)/|\b[A-Z]:\\\\")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)#\s]+)\)")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
LARGEST_NOTEBOOK = 400_000  # bytes; larger ones are not shown by forges, or slowly
LARGEST_PICTURE = 40_000

every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)


@cache
def read(name: str) -> Any:
    return nbformat.read(FOLDER / name, as_version=nbformat.NO_CONVERT)


def code_cells(name: str) -> list[Any]:
    return [cell for cell in read(name).cells if cell.cell_type == "code"]


def local_links(text: str) -> list[str]:
    return [target for target in LINK.findall(text) if "://" not in target]


def text_of(output: Any) -> str:
    """What an output shows as text, whatever its kind."""
    if output.output_type == "stream":
        return str(output.text)
    return "\n".join(str(text) for kind, text in output.get("data", {}).items() if not kind.startswith("image/png"))


def test_there_are_vignettes():
    assert len(NOTEBOOKS) >= 3


@every_notebook
def test_notebook_is_valid_nbformat_4_5(name):
    notebook = read(name)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


@every_notebook
def test_notebook_was_executed_from_top_to_bottom_without_errors(name):
    cells = code_cells(name)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [output.output_type for cell in cells for output in cell.outputs]
    assert kinds
    assert "error" not in kinds


@every_notebook
def test_notebook_shows_no_warning_and_no_stray_output(name):
    """Warnings print the path of the kernel; those that belong to a story are caught and printed."""
    said = [text_of(o) for cell in code_cells(name) for o in cell.outputs if o.get("name") == "stderr"]
    assert said == []


@every_notebook
def test_notebook_holds_its_pictures(name):
    for cell in code_cells(name):
        if re.search(r"^\s*(?:fig, ax|ax = |llbt\.plot_)", cell.source, re.MULTILINE):
            assert any("image/png" in output.get("data", {}) for output in cell.outputs), cell.id


@every_notebook
def test_notebook_reads_nothing_that_the_package_does_not_bring(name):
    """It runs beside an installed package: no file of the repository, no folder above its own."""
    for cell in code_cells(name):
        assert not re.search(r"\.\./|\"\.\.\"|__file__|tests/", cell.source), cell.id


R_FIGURES = {
    target.slice.value: ast.literal_eval(node.value)
    for cell in code_cells("02-from-prefmod-and-bradleyterry2.ipynb")
    for node in ast.parse(cell.source).body
    if isinstance(node, ast.Assign)
    for target in node.targets
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == "R"
}


def test_vignette_2_shows_figures_of_each_package():
    assert len(R_FIGURES) >= 10
    assert {name.split("_")[0] for name in R_FIGURES} == {"cems", "baseball", "bt2", "pl", "pudding"}


@pytest.mark.parametrize("name", R_FIGURES)
def test_figures_of_r_are_those_of_its_output(name):
    """Vignette 2 shows R's figures to eight decimals; the files of the references hold all digits."""
    r = json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))
    # gnm stops up to 4e-9 early; where a file has them, its estimates were polished by Newton steps
    estimates, errors = r.get("coefficients_refined", r.get("coefficients")), r.get("se_refined", r.get("se"))
    expected = {
        **{figure: r.get(figure) for figure in ("deviance", "df_residual", "logLik", "AIC")},
        "estimates": {term: (estimates[term], errors[term]) for term in estimates},
        "worth": dict(_rows(r, "worth")),
        "abilities": {row: tuple(values) for row, values in _rows(r, "abilities")},
        "quasiSE": {row: values[2] for row, values in _rows(r, "quasi")},
        "anova": r.get("anova", [{}])[-1],
    }
    for figure, found in R_FIGURES[name].items():
        if isinstance(found, dict):
            for row, values in found.items():
                assert values == pytest.approx(expected[figure][row], abs=6e-9), (figure, row)
        else:
            assert found == pytest.approx(expected[figure], abs=6e-9), figure


def _rows(r: dict[str, Any], what: str) -> list[tuple[str, Any]]:
    return list(zip(r[what]["rows"], r[what]["values"], strict=True)) if what in r else []


@every_notebook
def test_notebook_names_no_path_of_a_machine(name):
    shown = [text_of(output) for cell in code_cells(name) for output in cell.outputs]
    texts = [cell.source for cell in read(name).cells] + shown
    assert [match for text in texts for match in ABSOLUTE_PATH.findall(text)] == []


@pytest.mark.parametrize("text", ["/tmp/ipykernel_1/2.py:3: Warning", "open('/home/me/x.csv')", "(/opt/x)"])
def test_paths_of_machines_are_recognized(text):
    assert ABSOLUTE_PATH.search(text)


@pytest.mark.parametrize("text", ["../tests/reference", "https://a.org/home/x", "wins / ties / losses", "39/120"])
def test_other_slashes_are_no_paths(text):
    assert not ABSOLUTE_PATH.search(text)


@every_notebook
def test_notebook_asserts_its_figures(name):
    assert any(re.search(r"^\s*assert ", cell.source, re.MULTILINE) for cell in code_cells(name))


@every_notebook
def test_notebook_is_small_enough_to_be_shown(name):
    assert (FOLDER / name).stat().st_size < LARGEST_NOTEBOOK


@every_notebook
def test_notebook_begins_with_its_title_and_ends_with_what_is_next(name):
    cells = read(name).cells
    assert cells[0].source.startswith("# ")
    assert sum(bool(re.match(r"# ", cell.source)) for cell in cells if cell.cell_type == "markdown") == 1
    assert re.search(r"\bnext\b", cells[-1].source, re.IGNORECASE)
    assert local_links(cells[-1].source)


@every_notebook
def test_links_between_vignettes_name_a_vignette(name):
    """A vignette that is still to come may be named; its name has to be one of the eighteen."""
    names = {
        "01-evaluating-preference-judgments.ipynb",
        "02-from-prefmod-and-bradleyterry2.ipynb",
        "03-llm-arena.ipynb",
        "04-better-than-average.ipynb",
        "05-is-this-metric-better.ipynb",
        "06-a-grain-of-salt.ipynb",
        "07-planning-a-human-evaluation.ipynb",
        "08-formula-reference-and-glossary.ipynb",
        "09-graded-votes.ipynb",
        "10-judges-from-a-population.ipynb",
        "11-groups-of-judges.ipynb",
        "12-lists-as-they-were-given.ipynb",
        "13-which-pair-next.ipynb",
        "14-fifty-labels-and-ten-thousand-verdicts.ipynb",
        "15-a-board-from-week-to-week.ipynb",
        "16-judges-and-prompts-crossed.ipynb",
        "17-tiers-for-a-leaderboard-of-tasks.ipynb",
        "18-a-metric-paper-in-one-object.ipynb",
    }
    links = [link for cell in read(name).cells if cell.cell_type == "markdown" for link in local_links(cell.source)]
    assert set(links) <= names


def test_index_lists_exactly_the_vignettes():
    linked = [target for target in local_links(INDEX) if target.endswith(".ipynb")]
    assert sorted(set(linked)) == NOTEBOOKS


def test_index_calls_each_vignette_by_its_title():
    named = {target: title for title, target in re.findall(r"(?<!!)\[([^\]]+)\]\((\S+\.ipynb)\)", INDEX)}
    assert named == {name: read(name).cells[0].source.splitlines()[0].removeprefix("# ") for name in NOTEBOOKS}


def test_index_has_one_small_picture_with_alternative_text_for_each_vignette():
    pictures = PICTURE.findall(INDEX)
    assert sorted(target for _, target in pictures) == [f"images/{name[:2]}.png" for name in NOTEBOOKS]
    for alternative, target in pictures:
        assert len(alternative) >= 20, f"{target}: say what the picture shows"
        content = (FOLDER / target).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) < LARGEST_PICTURE


def test_no_picture_is_left_over():
    found = {f"images/{path.name}" for path in (FOLDER / "images").iterdir()}
    assert found == {target for _, target in PICTURE.findall(INDEX)}
