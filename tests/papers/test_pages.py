"""The pages about papers: their code runs, their calls exist, what they count is what their tables have."""

import contextlib
import io
import operator
import re
import warnings

import pytest
from support.folders import REPOSITORY
from support.paper_pages import CODE, OUTCOMES, PAGES, PAPERS, counts_of, rows_of, text_of

import llbt

NUMBER = r"(\d+)"
SUMMARY = (
    rf"Of {NUMBER} numbers, {NUMBER} come out exactly, {NUMBER} within simulation error,\s{NUMBER} differs?, and "
    rf"{NUMBER} (?:have|has) no public data\."
)


def test_every_paper_has_a_page_that_index_and_readme_name() -> None:
    assert {path.stem for path in PAPERS.glob("*.md")} == {"index", *PAGES}
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert f"\n{page}\n" in text_of("index")
        assert f"(vignettes/site/pages/papers/{page}.md)" in readme


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow) if page == "peyrard-2021" else page for page in PAGES]
)
def test_code_of_a_page_runs(page: str) -> None:
    code = "\n".join(CODE.findall(text_of(page)))
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, {})
    assert "import llbt" in code


@pytest.mark.parametrize("page", PAGES)
def test_calls_of_a_page_exist(page: str) -> None:
    names = {name for row in rows_of(page).values() for name in re.findall(r"`llbt\.([a-zA-Z_.]*\w)", row.call)}
    assert names
    for name in names:
        operator.attrgetter(name)(llbt)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_counts_its_figures(page: str) -> None:
    counts = counts_of(page)
    found = re.search(SUMMARY, text_of(page))
    assert found is not None, f"expected: {sum(counts)} {counts}"
    assert [int(number) for number in found.groups()] == [sum(counts), *counts]


def test_the_index_sums_the_pages() -> None:
    every = [counts_of(page) for page in PAGES]
    lines = re.findall(r"^\| \[.*?\]\((.*?)\.md\) \| (.*) \|$", text_of("index"), re.MULTILINE)
    shown = {page: [int(cell) for cell in cells.split(" | ")] for page, cells in lines}
    assert shown == {page: [*counts, sum(counts)] for page, counts in zip(PAGES, every, strict=True)}
    total = [sum(column) for column in zip(*every, strict=True)]
    assert f"| all five | {' | '.join(map(str, [*total, sum(total)]))} |" in text_of("index")
    assert len(OUTCOMES) == len(total)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("dras-2015", ["null preference", "subject covariate", "sign test"]),
        ("peyrard-2021", ["Mood", "Wilcoxon", "sign test"]),
        ("deutsch-2021", ["Spearman", "Shapiro", "Bonferroni"]),
        ("mathur-2020", ["outlier", "Wilcoxon"]),
        ("bojar-2011", ["kappa", "reference translation"]),
    ],
)
def test_a_page_has_the_words_of_its_paper(page: str, words: list[str]) -> None:
    assert [word for word in words if word not in text_of(page)] == []
