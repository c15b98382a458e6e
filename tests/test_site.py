"""The site has a place for everything that is public; ``python -m vignettes.site`` builds it and runs its code."""

import ast
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.folders import REPOSITORY

import llbt

SITE = REPOSITORY / "vignettes" / "site"
PAGES = {path.relative_to(SITE).as_posix(): path.read_text(encoding="utf-8") for path in SITE.rglob("pages/**/*.md")}
CODE = re.compile(r"```\{code-cell\}\n(?::tags:[^\n]*\n\n)?(.*?)```", re.DOTALL)
NOT_ASKED_FOR = {  # records that answer, and what describes formats: the reference has them
    "Comparisons",
    "DiscriminationResults",
    "LargeResults",
    "Judgments",
    "LLBT",
    "LLBTError",
    "LLBTResults",
    "MixedResults",
    "Table",
    "TestResult",
}
SPACES = ("classical", "judges", "metrics", "planning", "plot", "scores")


def called(path: Path) -> set[str]:
    """Return the attributes that a script reads, by their last names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_every_picture_is_in_the_gallery() -> None:
    scripts = {path.stem.removeprefix("plot_"): called(path) for path in SITE.glob("gallery/plot_*.py")}
    assert sorted(scripts) == sorted(llbt.plot.__all__)
    assert [name for name, attributes in scripts.items() if name not in attributes] == []


def test_every_public_function_answers_a_question() -> None:
    page = PAGES["pages/questions.md"]
    names = [name for name in llbt.__all__ if callable(getattr(llbt, name)) and name not in NOT_ASKED_FOR]
    names += [f"{space}.{name}" for space in SPACES for name in getattr(llbt, space).__all__]
    assert [name for name in names if not re.search(rf"`llbt\.{re.escape(name)}`", page)] == []


def test_what_questions_are_answered_with_is_there() -> None:
    for name in re.findall(r"`llbt\.([\w.]+)`", PAGES["pages/questions.md"]):
        thing: object = llbt
        for part in name.split("."):
            thing = getattr(thing, part)


def test_every_error_has_its_cause_and_cure() -> None:
    page = PAGES["pages/errors.md"]
    assert [name for name in llbt.errors.__all__ if f"\n## {name}\n" not in page] == []


def test_links_to_other_sites_are_whole() -> None:
    texts = PAGES | {name: (REPOSITORY / name).read_text(encoding="utf-8") for name in ("README.md", "CHANGELOG.md")}
    links = {link: name for name, text in texts.items() for link in re.findall(r"\]\((\w+:[^)\s]*)\)", text)}
    assert len(links) > 1
    for link, name in links.items():
        parts = urlsplit(link)
        assert parts.scheme == "https", (name, link)
        assert re.fullmatch(r"([a-z0-9-]+\.)+[a-z]{2,}", parts.netloc), (name, link)
        if parts.netloc == "doi.org":
            assert re.fullmatch(r"/10\.\d{4,5}/\S+", parts.path), (name, link)


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if "{code-cell}" in text])
def test_code_of_pages_can_be_read(name: str) -> None:
    cells = CODE.findall(PAGES[name])
    assert cells
    assert "import llbt" in "\n".join(cells)
    for cell in cells:
        ast.parse(cell)
