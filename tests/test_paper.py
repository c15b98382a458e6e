"""The paper says what its script finds, and is what a journal takes: JOSS's front matter, sections and length."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from support.folders import REPOSITORY

PAPER = REPOSITORY / "paper"
TEXT = (PAPER / "paper.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("paper_figures", PAPER / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_number_is_made_by_the_script(script: ModuleType) -> None:
    found = script.numbers()
    assert script.paper(found) == TEXT
    assert set(found) == set(script.PLACE.findall((PAPER / "template.md").read_text(encoding="utf-8")))
    # as the README and Dras (2015) have them
    assert (found["as_printed"], found["deviance"], found["drop"], found["df"]) == ("30.646", "30.455", "173.4", "9")


def test_the_figure_shows_what_was_found(script: ModuleType) -> None:
    left, right = script.figure().axes
    assert [text.get_text() for text in left.get_xticklabels()] == ["J1", "J2", "J3", "J4"]
    lines = {line.get_label(): list(line.get_ydata()) for line in right.lines}
    assert lines["Wald, F(q, G − 1)"] == pytest.approx([12.0, 6.3, 6.7])
    assert lines["Rao's score, flipped"] == pytest.approx([5.3, 4.1, 5.5])
    assert (PAPER / "figure.png").stat().st_size > 20_000


def test_the_form_is_that_of_the_journal() -> None:
    _, head, body = TEXT.split("---\n", 2)
    front = yaml.safe_load(head)
    assert set(front) >= {"title", "tags", "authors", "affiliations", "date", "bibliography"}
    assert {author["affiliation"] for author in front["authors"]} <= {place["index"] for place in front["affiliations"]}
    assert (PAPER / front["bibliography"]).exists()
    for section in ("Summary", "Statement of need", "State of the field", "References"):
        assert f"\n# {section}\n" in body
    assert 250 < len(re.findall(r"\w+", body)) < 1000
    assert all((PAPER / name).exists() for name in re.findall(r"\]\((\S+?\.png)\)", body))


@pytest.mark.slow
def test_it_has_two_pages_as_the_journal_sets_it(tmp_path: Path) -> None:
    """The journal's A4 page: letters of 10 points, a column of 14 by 23.2 cm beside a margin."""
    pandoc, latex = shutil.which("pandoc"), shutil.which("pdflatex")
    if pandoc is None or latex is None:
        pytest.skip("pandoc and pdflatex set the paper: install Debian's packages pandoc and texlive-latex-recommended")
    margins = "top=3.5cm,bottom=3cm,right=1.5cm,left=1cm,headheight=2.2cm,reversemp,includemp,marginparwidth=4.5cm"
    options = ["-V", "documentclass=article", "-V", "fontsize=10pt", "-V", "papersize=a4", "-V", f"geometry:{margins}"]
    target = tmp_path / "paper.tex"
    command = [pandoc, "paper.md", "--standalone", "--citeproc", *options, "-o", str(target)]
    subprocess.run(command, check=True, cwd=PAPER, capture_output=True)
    shutil.copy(PAPER / "figure.png", tmp_path)
    said = subprocess.run(
        [latex, "-interaction=nonstopmode", target.name], check=True, cwd=tmp_path, capture_output=True
    )
    assert "(2 pages" in said.stdout.decode(errors="replace").replace("\n", "")


def test_what_is_cited_is_in_the_bibliography_and_only_that() -> None:
    cited = set(re.findall(r"@(\w+\d{4}|choix)", TEXT))
    listed = set(re.findall(r"^@\w+\{(\w+),", (PAPER / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert cited == listed
    assert len(cited) > 10


def test_entries_of_the_bibliography_are_whole() -> None:
    text = (PAPER / "paper.bib").read_text(encoding="utf-8")
    for kind, name, entry in re.findall(r"^@(\w+)\{(\w+),(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        wanted = {
            "article": {"journal", "year", "volume", "pages", "doi"},
            "inproceedings": {"booktitle", "year", "pages"},
        }
        fields = set(re.findall(r"(\w+) = \{", entry))
        assert fields >= {"author", "title"} | wanted.get(kind, {"url"}), name
        assert " and others" not in entry, name
        assert all(re.fullmatch(r"10\.\d{4,5}/\S+", doi) for doi in re.findall(r"doi = \{(.*?)\}", entry)), name
        assert all(re.fullmatch(r"\d+--\d+", pages) for pages in re.findall(r"pages = \{(.*?)\}", entry)), name
