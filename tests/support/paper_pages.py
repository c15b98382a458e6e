"""The site's pages about papers: the figures of each, in a table of where, what, the outcome, how many, the call."""

import re
from dataclasses import dataclass
from pathlib import Path

from support.folders import REPOSITORY

PAPERS = REPOSITORY / "vignettes" / "site" / "pages" / "papers"
PAGES = ("dras-2015", "peyrard-2021", "deutsch-2021", "mathur-2020", "bojar-2011")
OUTCOMES = ("exact", "within simulation error", "differs", "no public data")
CODE = re.compile(r"```\{code-cell\}\n(?::tags:[^\n]*\n\n)?(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Row:
    """Figures of a paper that one call gives."""

    where: str
    paper: str
    outcome: str
    numbers: int
    call: str


def text_of(page: str) -> str:
    """Return the Markdown of a page."""
    return (PAPERS / f"{page}.md").read_text(encoding="utf-8")


def rows_of(page: str) -> dict[str, Row]:
    """Return the rows of a page's table by their first cell."""
    lines = [line for line in text_of(page).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]
    rows = [Row(where, paper, outcome, int(numbers), call) for where, paper, outcome, numbers, call in cells]
    assert len({row.where for row in rows}) == len(rows)
    assert {row.outcome for row in rows} <= set(OUTCOMES)
    return {row.where: row for row in rows}


def counts_of(page: str) -> list[int]:
    """Return how many figures of a page have each outcome."""
    rows = rows_of(page).values()
    return [sum(row.numbers for row in rows if row.outcome == outcome) for outcome in OUTCOMES]


def held_by(path: str) -> set[str]:
    """Return the rows that a test file names."""
    return set(re.findall(r'ROWS\["([^"]+)"\]', Path(path).read_text(encoding="utf-8")))


def to_hold(rows: dict[str, Row]) -> set[str]:
    """Return the rows whose figures can be computed, which a test has to do."""
    return {where for where, row in rows.items() if row.outcome != "no public data"}
