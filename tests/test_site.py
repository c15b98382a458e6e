"""The site has a place for everything that is public; ``python -m vignettes.site`` builds it and runs its code."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.chromium import open_chromium
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
    scripts = {path.stem.removeprefix("plot_"): called(path) for path in SITE.glob("gallery/*/plot_*.py")}
    plots = set(llbt.plot.__all__)
    assert plots <= scripts.keys()
    assert [name for name in plots if name not in scripts[name]] == []
    assert [name for name, attributes in scripts.items() if not attributes & plots] == []  # two may share one


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


# -- the built site in Chromium: no code of pages is run for it -------------------------------------------------

SEARCHES = {
    "style control": "style-control",
    "home advantage": "order",
    "position bias": "order",
    "kappa": "agreement",
    "how many judgments": "power-analysis",
    "LaTeX": "paper-tables",
    "install": "install",
    "rankings": "rankings",
    "both bad": "both-bad",
    "random effects": "judges-differ",
    "two weeks": "two-weeks",
    "CI": "ci",
}
READ = ("index", "pages/howto/crowd-study", "tutorials/08-formula-reference-and-glossary", "api/llbt.fit", "reference")
WIDEST = 88  # characters of a printout
_ROOM = """() => Array.from(document.querySelectorAll("pre"), pre => {
  const line = document.createElement("span"), style = getComputedStyle(pre);
  line.style.whiteSpace = "pre";
  line.textContent = "x".repeat(%d);
  pre.append(line);
  const room = pre.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const width = line.getBoundingClientRect().width;
  line.remove();
  return room - width;
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site: what LLBT_SITE names, else one built here without notebooks and gallery."""
    if built := os.environ.get("LLBT_SITE"):
        return Path(built)
    folder = tmp_path_factory.mktemp("site")
    source = REPOSITORY / "vignettes" / "site"
    options = ["-q", "-D", "nb_execution_mode=off", "-D", "plot_gallery=0"]
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, source, folder], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def page(site):
    with open_chromium() as browser:
        yield browser.new_page(viewport={"width": 1280, "height": 900})


@pytest.mark.browser
@pytest.mark.parametrize(("words", "name"), SEARCHES.items())
def test_search_finds_how_tos_first(site, page, words: str, name: str) -> None:
    page.goto(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    page.wait_for_selector("#search-results li a")
    links = "els => els.slice(0, 3).map(el => el.querySelector('a').getAttribute('href').split('#')[0])"
    assert f"pages/howto/{name}.html" in page.eval_on_selector_all("#search-results li", links)


@pytest.mark.browser
@pytest.mark.parametrize("name", READ)
def test_pages_need_no_network_and_fit_printouts(site, page, name: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / f"{name}.html").as_uri())
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
    assert min(page.evaluate(_ROOM % WIDEST), default=0.0) >= 0


@pytest.mark.browser
def test_no_page_loads_anything_from_elsewhere(site) -> None:
    loads = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"https?://")
    pages = [path for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts]
    assert len(pages) > 100
    assert [path.name for path in pages if loads.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.browser
def test_navigation_of_the_reference_shows_public_names_only(site, page) -> None:
    page.goto((site / "reference.html").as_uri())
    texts = "els => els.map(el => el.textContent.trim())"
    shown = page.eval_on_selector_all(".bd-sidebar-primary .bd-links li a", texts)
    spaces = (*SPACES, "errors", "formats")
    names = [name for name in llbt.__all__ if name not in spaces]
    names += [f"{space}.{name}" for space in spaces for name in getattr(llbt, space).__all__]
    assert sorted(shown) == sorted(f"llbt.{name}" for name in names)


def test_first_page_is_short_and_has_three_ways_in() -> None:
    text = (SITE / "index.md").read_text(encoding="utf-8").split("```{toctree}")[0].split("# llbt\n", 1)[1]
    assert [way for way in ("I have judgments", "I have rankings", "I have scores of metrics") if way not in text] == []
    prose = re.sub(r"```\{code-cell\}.*?```", "", text, flags=re.DOTALL)
    prose = re.sub(r"^:.*$", "", prose.replace("grid-item-card}", "\n"), flags=re.MULTILINE)
    assert len(re.findall(r"[^\W\d_][\w’'-]*", re.sub(r"\]\([^)]*\)", "]", prose))) <= 160
