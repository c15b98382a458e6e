"""A leaderboard as a page of its own: all rows, labels without markup, nothing loaded, sorted and filtered."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lxml import html
from support.chromium import open_chromium

import llbt
from llbt.report.board_page import board_page

HOSTILE = "<script>alert('x')</script>&amp;"


def board(size: int, scale: Any = "elo") -> llbt.Table:
    rng = np.random.default_rng(2)
    wins = rng.integers(1, 30, (size, size))
    np.fill_diagonal(wins, 0)
    names = [HOSTILE, *(f"model {k:02d}" for k in range(1, size))]
    return llbt.leaderboard(llbt.fit("object", llbt.from_matrix(wins, names=names)), scale=scale)


def test_a_page_has_all_rows_and_what_the_table_prints() -> None:
    found = board(70, "log_odds")
    page = html.document_fromstring(board_page(found))
    assert page.findtext(".//h1") == found.title
    headings = [button.text for button in page.iterfind(".//thead//button")]
    assert headings[:5] == ["Rank range", "Object", "Estimate", "95 % CI", "Win %"]
    rows = page.findall(".//tbody/tr")
    assert [row.find(".//bdi").text for row in rows] == found.to_frame()["object"].tolist()
    assert len(rows) == 70
    low, estimates = found.to_frame()["conf_low"], found.to_frame()["estimate"]
    values = np.array([[float(cell.get("data-value")) for cell in row.findall("td")[:3]] for row in rows])
    np.testing.assert_array_equal(values[:, 0], found.to_frame()["rank_low"])
    np.testing.assert_allclose(values[:, 1:], np.column_stack([estimates, low]), atol=6e-4)
    assert all(note in page.text_content() for note in found.notes)
    assert all(line in page.text_content() for line in found.head)


def test_labels_are_text_and_nothing_is_loaded() -> None:
    text = board_page(board(5))
    page = html.document_fromstring(text)
    (script,) = page.iterfind(".//script")
    assert HOSTILE in [name.text for name in page.iterfind(".//bdi")]
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    assert f"script-src &#x27;sha256-{digest}&#x27;" in text
    assert not re.search(r"https?://|\b(?:src|href)=\"(?!#)", text)


def test_options_are_those_of_the_table() -> None:
    page = html.document_fromstring(
        board_page(board(4), columns=["object", "wins"], rename={"model 01": "<b>"}, caption="C & D", label="tab:x")
    )
    assert page.findtext(".//h1") == "C & D"
    assert page.find(".//table").get("id") == "tab:x"
    assert len(page.findall(".//thead//th")) == 2
    assert "<b>" in [name.text for name in page.iterfind(".//bdi")]


def tiers(size: int) -> llbt.Table:
    rng = np.random.default_rng(3)
    solved = rng.random((size, 90)) < np.linspace(0.9, 0.3, size)[:, None]
    names = [HOSTILE, *(f"model {k:02d}" for k in range(1, size))]
    scores = pd.DataFrame(solved.T.astype(float), columns=names)
    return llbt.scores.leaderboard(scores, test="mcnemar").table()


@pytest.mark.parametrize("size", [4, 20, 60])
def test_tiers_of_scores_have_the_same_page(size: int) -> None:
    found = tiers(size)
    text = board_page(found)
    page = html.document_fromstring(text)
    rows = page.findall(".//tbody/tr")
    assert [row.find(".//bdi").text for row in rows] == found.to_frame()["object"].tolist()
    headings = [button.text for button in page.iterfind(".//thead//button")]
    low = headings.index("Rank range")
    cells = [[cell.get("data-value") for cell in row] for row in rows]
    assert [int(row[low]) for row in cells] == found.to_frame()["rank_low"].tolist()
    clusters = found.to_frame()["significance_cluster"].tolist()
    if len(set(clusters)) == 1:  # a note says so, and a column of ones would say nothing
        assert "Cluster" not in headings
        assert "one cluster" in text
    else:
        assert [int(row[headings.index("Cluster")]) for row in cells] == clusters
    assert not re.search(r"https?://|\b(?:src|href)=\"(?!#)", text)


@pytest.mark.browser
@pytest.mark.parametrize("made", [board, tiers])
def test_columns_sort_and_rows_are_filtered(tmp_path: Path, made: Callable[[int], llbt.Table]) -> None:
    path = tmp_path / "board.html"
    path.write_text(board_page(made(40)), encoding="utf-8")
    with open_chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        rows = page.locator("tbody tr:visible")
        assert rows.count() == 40
        page.locator("thead th", has_text="Wins").locator("button").click()
        k = page.locator("thead th").evaluate_all("cells => cells.findIndex(c => c.innerText.startsWith('Wins'))")
        wins = rows.evaluate_all("(rows, k) => rows.map(r => Number(r.cells[k].innerText))", k)
        assert wins == sorted(wins)
        page.get_by_label("Filter rows by name").fill("model 1")
        assert rows.count() == 10
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert said == []
