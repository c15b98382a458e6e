"""The report in a real browser: tables that sort, filter and fold, by mouse and by keyboard, at any width, in print."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.chromium import open_chromium
from support.drawn import names

import llbt
from llbt.report.page import write_report

pytestmark = pytest.mark.browser

MODELS = 59
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def judgments(size: int, n: int, judges: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    i = rng.integers(0, size, n)
    j = (i + rng.integers(1, size, n)) % size
    worth = rng.normal(0, 0.6, size)
    lead = worth[i] - worth[j]
    weight = np.exp(np.column_stack([lead, np.full(n, -0.3), -lead]))
    said = (rng.random(n)[:, None] > (weight / weight.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    label, judge = np.array(names(size)), np.array([f"annotator-{k:03d}" for k in range(judges)])
    columns = {"object_i": label[i], "object_j": label[j], "outcome": np.array(["i", "tie", "j"])[said]}
    return pd.DataFrame(columns | {"judge": judge[rng.integers(0, judges, n)]})


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser") / "many.html"
    return write_report(judgments(MODELS, 12_000, 40), path, title="Fifty-nine models").as_uri()


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser") / "few.html"
    table = llbt.load_dataset("dras_table1")
    return write_report(table, path, formula="object * judge + tie * judge").as_uri()


@pytest.fixture(scope="module")
def browser():
    with open_chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser):
    """Open a page; at the end nothing may have been asked for but the page, and nothing written to the console."""
    contexts, requests, written, addresses = [], [], [], set()

    def open_page(address, **options):
        context = browser.new_context(viewport=options.pop("viewport", WIDE), **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: written.append(message.text))
        page.on("pageerror", lambda error: written.append(str(error)))
        page.goto(address)
        addresses.add(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert {request.split("#")[0] for request in requests} <= addresses
    assert written == []


def board(page):
    return page.locator("#leaderboard table").first


def shown(table):
    """The texts of the first cells of the rows that can be seen."""
    return table.locator("tbody tr:visible th").all_inner_texts()


def column(table, heading):
    """The values of the rows that can be seen below a heading."""
    k = table.locator("thead th").evaluate_all(
        "(cells, name) => cells.findIndex(c => c.innerText.startsWith(name))", heading
    )
    script = "(rows, k) => rows.filter(r => r.offsetParent).map(r => Number(r.cells[k].dataset.value))"
    return table.locator("tbody tr").evaluate_all(script, k)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_no_violation(visit, many, few, scheme, viewport):
    from axe_playwright_python.sync_playwright import Axe

    for address in (many, few):
        page = visit(address, color_scheme=scheme, viewport=viewport)
        found = Axe().run(page).response
        assert len(found["passes"]) > 15
        assert [(broken["id"], broken["nodes"][0]["html"][:200]) for broken in found["violations"]] == []


def test_long_tables_are_folded_and_unfold(visit, many):
    page = visit(many)
    table, more = board(page), page.locator("#leaderboard button.more").first
    assert len(shown(table)) == 20
    assert more.inner_text() == f"Show all {MODELS} rows"
    assert more.get_attribute("aria-expanded") == "false"
    more.click()
    assert len(shown(table)) == MODELS
    assert more.get_attribute("aria-expanded") == "true"
    more.click()
    assert len(shown(table)) == 20


def test_columns_sort_both_ways_and_the_folded_rows_with_them(visit, many):
    page = visit(many)
    table = board(page)
    head = table.locator("thead th", has_text="losses")
    head.locator("button").click()
    rising = column(table, "losses")
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").click()
    falling = column(table, "losses")
    assert head.get_attribute("aria-sort") == "descending"
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    assert min(falling) >= max(rising)  # 20 of 59 each: the ends of the whole table
    table.locator("thead th", has_text="object").locator("button").click()
    assert shown(table) == sorted(names(MODELS))[:20]
    assert head.get_attribute("aria-sort") is None


def test_rows_are_filtered_by_name(visit, many):
    page = visit(many)
    table = board(page)
    page.locator("#leaderboard input[type=search]").fill("QUARTZ")
    expected = [name for name in names(MODELS) if name.startswith("quartz")]
    assert sorted(shown(table)) == sorted(expected)
    assert page.locator("#leaderboard output").inner_text() == f"{len(expected)} of {MODELS} rows"
    page.locator("#leaderboard input[type=search]").fill("")
    assert len(shown(table)) == 20


def test_a_name_is_found_in_all_tables_that_hold_it(visit, many):
    page = visit(many)
    name = names(MODELS)[5]
    page.get_by_label("Find a name in all tables").fill(name)
    assert shown(board(page)) == [name]
    pairs = page.locator("#pairs table tbody tr:visible").all_inner_texts()
    assert pairs
    assert all(name in row for row in pairs)
    assert page.locator("#fit table").first.locator("tbody tr:visible").count() >= 1  # it has no names of objects
    assert page.locator("aside output").inner_text().startswith("in ")
    assert page.locator("#counts details.unprinted").get_attribute("open") is not None


def test_everything_is_reached_by_keyboard(visit, many):
    page = visit(many)
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    board(page).locator("thead th button").nth(1).focus()
    page.keyboard.press("Enter")
    assert board(page).locator("thead th").nth(1).get_attribute("aria-sort") == "ascending"
    page.locator("#leaderboard button.more").first.focus()
    page.keyboard.press("Space")
    assert len(shown(board(page))) == MODELS
    scroll = page.locator("#leaderboard .scroll").first
    scroll.focus()
    assert scroll.evaluate("box => getComputedStyle(box).outlineStyle") != "none"


def test_the_leaderboard_stays_in_its_box_beside_the_contents(visit, many):
    page = visit(many)
    box = page.locator("#leaderboard .scroll").first
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    contents, main = page.locator("aside").bounding_box(), page.locator("main").bounding_box()
    assert contents["x"] + contents["width"] <= main["x"]
    page.locator("#counts").scroll_into_view_if_needed()
    assert page.locator("nav").is_visible()
    assert 0 <= page.locator("nav").bounding_box()["y"] < WIDE["height"]  # it stays in sight


def test_a_narrow_page_does_not_scroll_sideways(visit, many, few):
    for address in (many, few):
        page = visit(address, viewport=NARROW)
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
        wide = page.locator("figure svg").evaluate_all(
            "all => all.filter(s => s.getBoundingClientRect().right > 390).length"
        )
        assert wide == 0


def luminance(colour):
    channels = np.array([int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_of_pictures_can_be_read_in_either_scheme(visit, few, scheme):
    """Axe leaves SVG out, so the contrast of letters that lie on no cell or bar is looked at here."""
    page = visit(few, color_scheme=scheme)
    for name in ("leaderboard", "fit"):
        script = "(all) => all.map(text => getComputedStyle(text).fill)"
        letters = page.locator(f"#{name} figure svg text").evaluate_all(script)
        paper = page.locator(f"#{name} figure").first.evaluate("box => getComputedStyle(box).backgroundColor")
        assert (luminance(paper) < 0.05) == (scheme == "dark")
        for colour in set(letters):
            low, high = sorted((luminance(colour), luminance(paper)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, colour


def test_print_is_whole_and_light(visit, many):
    page = visit(many, color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert len(shown(board(page))) == MODELS
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) == pytest.approx(1)
    assert not page.locator("aside").is_visible()
    assert not page.locator("button.more").first.is_visible()
    assert page.locator("details:not([open]):not(.unprinted)").count() == 0
    for fold in page.locator("details.unprinted").all():  # thousands of rows that nobody asked for
        assert fold.locator("tbody tr").count() > 300
        assert fold.get_attribute("open") is None
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_without_javascript_everything_is_there(visit, many):
    page = visit(many, java_script_enabled=False)
    assert page.locator("#leaderboard tbody tr").count() == MODELS
    assert page.locator("#leaderboard tbody tr").last.is_visible()
    assert page.locator("input").count() == 0
    page.locator("details summary").first.click()
    assert page.locator("details").first.get_attribute("open") is not None
