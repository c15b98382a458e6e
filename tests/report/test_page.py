"""The report page: one file that loads nothing, whose tables and pictures are those of the library."""

import base64
import hashlib
import itertools
import re

import lxml.html
import pandas as pd
import pytest
from support.shell import run

import llbt
from llbt.base.table import Field
from llbt.errors import DesignError
from llbt.report import page_parts
from llbt.report.interpret import interpret
from llbt.report.page import write_report
from llbt.report.page_script import SCRIPT
from llbt.report.page_style import COLOURS, stylesheet

pytestmark = pytest.mark.xdist_group("pages")  # one worker has all tests of the pages, and writes each once

EVIL = [
    "<b>bold</b>",
    "<script>x()</script>",
    "$x_1$",
    "50%",
    "A|B",
    "😀 grin",
    "مرحبا",
    "\"quoted' & co",
    "</svg></style>",
]
TABLE1 = llbt.load_dataset("dras_table1")
FITTED = llbt.fit("object * judge + tie", TABLE1)


WALKOVER = [("a", "b", 5, 0), ("b", "c", 1, 1), ("a", "c", 1, 0)]  # nobody beats a


def judgments(names):
    """Return judgments of all pairs: each object beats, ties with and loses to each other one."""
    rows = [(a, b, outcome) for k, a in enumerate(names) for b in names[k + 1 :] for outcome in ("i", "i", "tie", "j")]
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def dras(folder):
    return write_report(TABLE1, path=folder / "dras.html", title="Four systems").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def by_judge(folder):
    path = write_report(TABLE1, formula="object * judge + tie", path=folder / "judges.html")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def evil(folder):
    path = write_report(judgments(EVIL), path=folder / "evil.html", title="<i>T</i> & Co")
    return path.read_text(encoding="utf-8")


@pytest.fixture(
    scope="module", params=["dras", *(pytest.param(name, marks=pytest.mark.slow) for name in ("by_judge", "evil"))]
)
def text(request):
    return request.getfixturevalue(request.param)


def parsed(text):
    return lxml.html.document_fromstring(text)


def table_named(document, start):
    for table in document.iter("table"):
        if table.findtext("caption").startswith(start):
            return table
    raise AssertionError(start)


def columns_of(table):
    """Return the cells of each column by its heading: the values to sort by where there are some, otherwise texts."""
    heads = [head.text_content() for head in table.find("thead/tr")]
    rows = [[cell.get("data-value") or cell.text_content() for cell in row] for row in table.find("tbody")]
    return dict(zip(heads, zip(*rows, strict=True), strict=True))


# -- one file that loads nothing -------------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(text):
    document = parsed(text)
    for element in document.iter():
        assert element.tag not in ("link", "iframe", "object", "embed", "base", "img", "form"), element.tag
        for key, value in element.attrib.items():
            if key in ("src", "href", "xlink:href", "action", "srcset", "poster"):
                assert value.startswith(("#", "data:image/png;base64,")), (key, value[:80])
    assert not re.search(r"url\((?!#)|@import|@font-face", text)


def test_the_policy_allows_the_one_script_and_no_other(text):
    document = parsed(text)
    scripts = list(document.iter("script"))
    assert [script.text for script in scripts] == [SCRIPT]
    policy = document.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    digest = base64.b64encode(hashlib.sha256(scripts[0].text.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert not [key for element in document.iter() for key in element.attrib if key.startswith("on")]


@pytest.mark.slow
def test_ids_are_unique_and_references_lead_somewhere(text):
    document = parsed(text)
    ids = [element.get("id") for element in document.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    targets = re.findall(r'(?:href="|url\()#([^")]+)', text)
    assert targets
    assert set(targets) <= set(ids)


@pytest.mark.slow
def test_headings_go_down_one_level_at_a_time(text):
    levels = [int(element.tag[1]) for element in parsed(text).iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_the_page_says_its_language_encoding_and_width(text):
    document = parsed(text)
    assert document.get("lang") == "en"
    assert document.xpath("//meta/@charset") == ["utf-8"]
    assert "width=device-width" in document.xpath("//meta[@name='viewport']/@content")[0]
    assert text.startswith("<!DOCTYPE html>")


# -- tables ----------------------------------------------------------------------------------------------------


def test_every_column_sorts_by_a_button(text):
    for table in parsed(text).iter("table"):
        for head in table.find("thead/tr"):
            if head.tag == "th":
                buttons = head.findall("button")
                assert [button.get("type") for button in buttons] == ["button"]
                assert head.get("scope") == "col"
        assert all(len(row) == len(table.find("thead/tr")) for row in table.find("tbody"))


def test_wide_tables_scroll_by_keyboard_and_have_a_name(text):
    for table in parsed(text).iter("table"):
        around = table.getparent()
        assert (around.get("class"), around.get("role"), around.get("tabindex")) == ("scroll", "region", "0")
        assert around.get("aria-label")


def test_the_leaderboard_is_that_of_the_library(dras):
    found = columns_of(table_named(parsed(dras), "Leaderboard"))
    board = llbt.leaderboard(llbt.fit("object + tie", TABLE1)).to_frame()
    assert list(found["object"]) == board["object"].tolist()
    assert list(found["group"]) == board["group"].tolist()
    headings = {"conf_low": "95 % low", "conf_high": "high"}
    for name in ("estimate", "conf_low", "conf_high", "rank_low", "wins", "ties", "losses"):
        values = [float(value) for value in found[headings.get(name, name)]]
        assert values == pytest.approx(board[name].tolist()), name


def test_pairs_and_coefficients_are_those_of_the_library(dras):
    res = llbt.fit("object + tie", TABLE1)
    document = parsed(dras)
    pairs = columns_of(table_named(document, "Pairwise"))
    assert [float(p) for p in pairs["p adjusted"]] == pytest.approx(
        llbt.pairwise(res).to_frame()["p_adjusted"].tolist()
    )
    estimates = columns_of(table_named(document, "Log-linear"))["Estimate"]
    assert [float(x) for x in estimates] == pytest.approx([*res.params.iloc[:3], 0.0, res.params["tie"]])


def test_the_paragraph_is_that_of_interpret(dras):
    lead = parsed(dras).xpath("//p[@class='lead']")[0].text_content()
    assert lead == interpret(llbt.fit("object + tie", TABLE1)).text


def test_each_judge_is_held_against_the_rest(by_judge):
    document = parsed(by_judge)
    columns = columns_of(table_named(document, "Each judge against the rest"))
    expected = llbt.level_tests(llbt.fit("object * judge + tie", TABLE1), by="judge").to_frame()
    assert list(columns["judge"]) == expected["judge"].tolist()
    assert [float(p) for p in columns["p (Holm)"]] == pytest.approx(expected["p_adjusted"].tolist())


def test_judges_have_a_section_with_what_each_does(by_judge):
    """Its table is that of `judges.summary`, without what counts do not say; its pictures show what differs."""
    part = parsed(by_judge).get_element_by_id("judges")
    does = columns_of(part.find(".//table"))
    frame = llbt.judges.summary(TABLE1, model=FITTED).to_frame()
    assert list(does["Judge"]) == frame["judge"].tolist()
    assert [float(x) for x in does["Ties"]] == pytest.approx(frame["tie_rate"].tolist())
    assert "Flips" not in does
    assert [caption.text for caption in part.iter("figcaption")] == [
        "Log-worths of the objects by judge, and of all judges"
    ]


def test_a_bar_moves_over_the_sections(folder, unpictured, capsys):
    write_report(llbt.load_dataset("dras_modpref"), path=folder / "bar.html", progress=True)
    found = capsys.readouterr()
    assert "write_report: 100%" in found.err
    assert found.out == ""


def test_without_judges_none_are_held_against_each_other(evil):
    assert "against the rest" not in evil


def test_worths_that_differ_by_judge_are_averaged_and_drawn_by_class(by_judge):
    document = parsed(by_judge)
    captions = [element.text_content() for element in document.iter("figcaption")]
    assert "Worths by class" in captions
    res = llbt.fit("object * judge + tie", TABLE1)
    board = llbt.leaderboard(res, at="average").to_frame()
    found = columns_of(table_named(document, "Leaderboard"))
    assert [float(x) for x in found["estimate"]] == pytest.approx(board["estimate"].tolist())


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_of_many_pairs_the_best_and_neighbours_stand_before_all_of_them(folder):
    names = [f"m{k:02d}" for k in range(26)]
    document = parsed(write_report(judgments(names), path=folder / "many.html").read_text(encoding="utf-8"))
    rows = table_named(document, "Pairwise").find("tbody")
    assert len(rows) == 25 + 24  # the best against all, and neighbours further down
    assert "49 of 325" in document.text_content()
    fold = document.xpath("//section[@id='pairs']/details[@class='unprinted']")[0]
    assert fold.findtext("summary") == "All 325 pairs"
    assert len(fold.find(".//tbody")) == 325
    assert len(table_named(document, "Leaderboard").find("tbody")) == 26
    assert len(table_named(document, "Log-linear").find("tbody")) == 26 + 1  # every coefficient, and the tie's


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_of_very_many_pairs_the_page_says_which_call_has_the_rest(folder):
    names = [f"m{k:02d}" for k in range(64)]
    document = parsed(write_report(judgments(names), path=folder / "very_many.html").read_text(encoding="utf-8"))
    part = document.get_element_by_id("pairs")
    assert all(fold.find("summary").text_content().startswith("Notes") for fold in part.findall("details"))
    assert "125 of 2,016" in part.text_content()
    assert "all: llbt.pairwise(res).to_frame()" in part.text_content()


def test_an_undefined_number_has_no_value_to_sort_by():
    table = llbt.Table((Field("object", "", ["a", "b", "c"]), Field("x", "x", [2.0, float("nan"), -1.0], "estimate")))
    cells = lxml.html.fromstring(page_parts.table(table)).xpath("//td/@data-value")
    assert cells == ["2.0", "", "-1.0"]


# -- pictures --------------------------------------------------------------------------------------------------


def test_every_picture_is_inline_and_has_a_name(text):
    figures = list(parsed(text).iter("figure"))
    assert len(figures) >= 4
    for figure in figures:
        svg = figure.find("svg")
        assert svg.get("role") == "img"
        assert svg.get("aria-label") == figure.findtext("figcaption")
        assert svg.get("viewbox") or svg.get("viewBox")
        assert len(svg.xpath(".//*")) > 10


def test_letters_in_pictures_are_letters(dras):
    drawn = {element.text_content().strip() for element in parsed(dras).xpath("//figure//*[local-name()='text']")}
    assert {"A", "B", "C", "D"} <= drawn


@pytest.mark.slow
def test_no_figure_stays_open_and_no_setting_changes(folder):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    plt.close("all")
    before = dict(mpl.rcParams)
    write_report(llbt.load_dataset("dras_modpref"), path=folder / "two.html")
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_a_picture_that_cannot_be_drawn_says_why():
    def refuse():
        raise llbt.errors.DesignError("too <many> objects")

    markup = page_parts.picture("p", "Pairs compared", refuse)
    assert "not drawn. too &lt;many&gt; objects" in markup


# -- names with markup -----------------------------------------------------------------------------------------


def test_names_are_escaped_wherever_they_stand(evil):
    document = parsed(evil)
    assert not list(document.iter("b"))
    assert not list(document.iter("i"))
    assert len(list(document.iter("script"))) == 1
    assert document.findtext(".//h1") == "<i>T</i> & Co"
    board = columns_of(table_named(document, "Leaderboard"))
    assert sorted(board["object"]) == sorted(EVIL)


@pytest.mark.parametrize("name", EVIL)
def test_names_come_out_as_they_are(evil, name):
    """Also inside the pictures: nothing is read as mathematics or markup."""
    document = parsed(evil)
    lead = document.xpath("//p[@class='lead']")[0].text_content()
    shown = [element.text_content().strip() for element in document.xpath("//figure//*[local-name()='text']")]
    cells = [element.text_content() for element in document.iter("bdi")]
    assert name in cells
    assert name in shown
    assert "nan" not in lead


def test_the_text_after_the_names_is_still_there(evil):
    document = parsed(evil)
    names = [section.get("id") for section in document.iter("section")]
    assert names == ["leaderboard", "words", "audit", "pairs", "model", "fit", "choices", "counts", "made"]
    assert [link.get("href") for link in document.find(".//nav").iter("a")] == [f"#{name}" for name in names]


def test_control_characters_do_not_break_the_page():
    assert page_parts.escaped("a\x00b\x1b[31m\nc") == r"a\x00b\x1b[31m c"


# -- colours ---------------------------------------------------------------------------------------------------


def luminance(colour):
    """Return the relative luminance of WCAG 2.1."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_formula_gives_the_published_extremes():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_letters_can_be_read_on_what_is_behind_them(mode):
    css = stylesheet()
    block = re.findall(r":root\{([^}]*--text[^}]*)\}", css)[mode == "dark"]
    colours = dict(re.findall(r"--([\w-]+):(#[0-9a-f]{6})", block))
    assert set(colours) == set(COLOURS)
    for behind in ("page", "card"):
        for letters in ("text", "quiet", "link", "error", "warning"):
            assert contrast(colours[letters], colours[behind]) >= 4.5, (letters, behind)
    for letters in ("ink", *(name for name in COLOURS if name.startswith("series"))):
        assert contrast(colours[letters], colours["paper"]) >= 4.5, letters


def test_pictures_take_the_colours_of_the_page(by_judge):
    """Letters and lines beside what is drawn follow the scheme; those on cells and bars stay as the cells do."""
    pictures = "".join(lxml.html.tostring(svg, encoding="unicode") for svg in parsed(by_judge).iter("svg"))
    used = set(re.findall(r"var\(--([\w-]+)\)", pictures))
    assert {"paper", "ink", "series-0"} <= used <= set(COLOURS)
    assert "#1a1a1a" not in pictures
    assert "#ffffff" not in pictures
    assert "#111111" in pictures


def test_pictures_stand_on_paper_of_the_page_and_print_is_light():
    css = stylesheet()
    assert re.search(r"figure\{[^}]*background:var\(--paper\);", css)
    assert "@media screen and (prefers-color-scheme:dark)" in css
    assert "@media print" in css
    assert set(re.findall(r"var\(--([\w-]+)\)", css)) <= set(COLOURS)


# -- data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "formula"),
    [("citations", "object"), ("dras_modpref", "object + tie"), ("baseball", "object + order")],
)
@pytest.mark.usefixtures("unpictured")
def test_the_default_formula_follows_the_table(folder, name, formula):
    text = write_report(llbt.load_dataset(name), path=folder / f"{name}.html").read_text(encoding="utf-8")
    assert f"llbt.fit(&#x27;{formula}&#x27;, comparisons)" in text


@pytest.mark.usefixtures("unpictured")
def test_a_saturated_model_has_nothing_to_test(folder):
    path = write_report(llbt.load_dataset("dras_modpref"), path=folder / "saturated.html")
    assert "there is nothing to test" in path.read_text(encoding="utf-8")


@pytest.mark.usefixtures("unpictured")
def test_separated_judgments_are_corrected_and_the_page_says_so_first(folder):
    rows = [("a", "b", "i")] * 5 + [("b", "c", "i"), ("c", "b", "i"), ("a", "c", "i")]  # nobody beats a
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])
    text = write_report(frame, path=folder / "separated.html").read_text(encoding="utf-8")
    notices = parsed(text).xpath("//p[@class='notice']")
    assert notices[0].text_content().startswith("Without correction some estimate is infinite")
    assert "prior='jeffreys'" in parsed(text).text_content()


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_counts_and_judgments_of_one_table_give_one_leaderboard(folder):
    frame = judgments(["x", "y", "z"])
    counts = llbt.from_judgments(frame).to_frame().rename(columns={"wins_i": "won", "wins_j": "lost"})
    a = write_report(frame, path=folder / "a.html").read_text(encoding="utf-8")
    b = write_report(llbt.from_counts(counts, wins=("won", "lost")), folder / "b.html").read_text(encoding="utf-8")
    boards = [columns_of(table_named(parsed(text), "Leaderboard")) for text in (a, b)]
    assert boards[0] == boards[1]


@pytest.mark.usefixtures("unpictured")
def test_the_audit_sees_the_judgments(folder):
    frame = judgments(["x", "y", "z"]).assign(who=["p", "q"] * 6)
    found = llbt.audit(frame, judge="who")
    text = write_report(llbt.from_judgments(frame), folder / "audit.html", audit=found).read_text(encoding="utf-8")
    document = parsed(text)
    tables = [columns_of(table) for table in document.xpath("//section[@id='audit']//table")]
    levels = [value for columns in tables for value in columns.get("Level", ())]
    assert sorted(levels) == sorted(finding.level for finding in found.findings)


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_a_fit_is_reported_as_it_is(folder):
    fixed = llbt.fit("object + tie", TABLE1, reference="B", fixed={"tie": -0.5}, cov_type="HC0")
    text = write_report(fixed, folder / "fixed.html").read_text(encoding="utf-8")
    options = ("reference='B'", "fixed={'tie': -0.5}", "cov_type='HC0'")
    call = parsed(text).xpath("//section[@id='made']//div")[0].text_content()
    assert call == f"res = llbt.fit('object + tie', comparisons, {', '.join(options)})"
    estimates = columns_of(table_named(parsed(text), "Log-linear"))["Estimate"]
    assert [float(x) for x in estimates][:3] == pytest.approx([fixed.params[f"object[{name}]"] for name in "ACD"])
    levels = [v for t in parsed(text).xpath("//section[@id='audit']//table") for v in columns_of(t).get("Level", ())]
    assert sorted(levels) == sorted(finding.level for finding in llbt.audit(TABLE1).findings)


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_a_fit_with_reduced_bias_says_why(folder):
    needed = llbt.from_counts(pd.DataFrame(WALKOVER, columns=["object_i", "object_j", "wins_i", "wins_j"]))
    for c, notices in ((needed, 2), (TABLE1, 1)):
        res = llbt.fit(llbt.default_formula(c), c, prior="jeffreys")
        text = write_report(res, folder / "reduced.html").read_text(encoding="utf-8")
        said = [element.text_content() for element in parsed(text).xpath("//p[@class='notice']")]
        assert len(said) == notices
        assert all("nobody" in line or "won" in line for line in said[:-1])
        assert said[-1].startswith("Estimates use Firth")
    by_itself = write_report(needed, folder / "by_itself.html").read_text(encoding="utf-8")
    assert parsed(by_itself).xpath("//p[@class='notice']")[0].text_content().startswith("Without correction")


@pytest.mark.slow
def test_the_same_data_give_the_same_page(folder, dras):
    again = write_report(TABLE1, path=folder / "again.html", title="Four systems")
    assert again.read_text(encoding="utf-8") == dras


@pytest.mark.parametrize(
    ("data", "options", "error", "fragment"),
    [
        (FITTED, {"formula": "object"}, llbt.errors.OptionError, "formula='object' is for data, and this is a fit"),
        (TABLE1, {"audit": TABLE1}, llbt.errors.OptionError, "expected Audit, what llbt.audit(…) returns, or None"),
        (TABLE1, {"formula": "tie"}, llbt.errors.DesignError, "has no term for the worths. Add object"),
        (TABLE1, {"path": "nowhere/at/all.html"}, llbt.errors.OptionError, "there is no folder 'nowhere/at'"),
        (TABLE1, {"path": "."}, llbt.errors.OptionError, "is a folder. Name a file"),
        (TABLE1, {"confidence": 95}, llbt.errors.OptionError, "confidence=95"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path, monkeypatch, data, options, error, fragment):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as caught:
        write_report(data, **options)
    assert fragment in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_judgments_are_not_overwritten(tmp_path):
    path = tmp_path / "judgments.csv"
    judgments(["a", "b"]).to_csv(path, index=False)
    before = path.read_bytes()
    with pytest.raises(llbt.errors.OptionError, match="is an input of this call"):
        write_report(path, path=path)
    assert path.read_bytes() == before


@pytest.mark.usefixtures("unpictured")
def test_a_file_is_read_once(tmp_path, monkeypatch):
    read, opened = llbt.data.files._open_paths, []
    monkeypatch.setattr(llbt.data.files, "_open_paths", lambda paths, *more: opened.append(paths) or read(paths, *more))
    path = tmp_path / "judgments.csv"
    judgments(["a", "b", "c"]).assign(judge=["x", "y", "x", "y"] * 3).to_csv(path, index=False)
    text = write_report(path, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert opened == [[str(path)]]
    assert str(llbt.audit(path).findings[0].found) in text.replace("&#x27;", "'")


# -- the command line ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_the_command_writes_what_the_library_writes(tmp_path):
    path = tmp_path / "mine.csv"
    frame = judgments(["x", "y", "z"]).rename(columns={"object_i": "a", "object_j": "b", "outcome": "winner"})
    frame.to_csv(path, index=False)
    result = run("report", path, "-o", tmp_path / "out.html", "--objects", "a,b", "--outcome", "winner")
    assert result.exit_code == 0, result.output
    mine = llbt.formats.columns(("a", "b"), "winner")
    res = llbt.fit("object + tie", llbt.from_judgments(path, format=mine), cov_type="cautious")
    expected = write_report(res, tmp_path / "own.html", title="mine", audit=llbt.audit(path, format=mine))
    assert (tmp_path / "out.html").read_bytes() == expected.read_bytes()


@pytest.mark.usefixtures("unpictured")
def test_the_command_takes_bundled_data_and_a_reference(tmp_path):
    out = tmp_path / "puddings.html"
    result = run("report", "puddings", "-o", out, "--reference", "3")
    assert result.exit_code == 0, result.output
    assert str(out) in result.stdout
    assert "reference=3" in out.read_text(encoding="utf-8")


@pytest.mark.usefixtures("unpictured")
def test_the_command_takes_standard_input(tmp_path):
    text = judgments(["x", "y", "z"]).to_csv(index=False)
    result = run("report", "-", "-o", tmp_path / "in.html", input=text)
    assert result.exit_code == 0, result.output
    assert "<h1>Preference judgments</h1>" in (tmp_path / "in.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("unpictured")
@pytest.mark.parametrize("given", [(), ("--formula", "object")])
def test_the_command_reduces_bias_where_estimates_are_infinite(tmp_path, given):
    path = tmp_path / "apart.csv"
    pd.DataFrame(WALKOVER, columns=["object_i", "object_j", "wins_i", "wins_j"]).to_csv(path, index=False)
    assert run("report", path, "-o", tmp_path / "r.html", *given).exit_code == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert parsed(text).xpath("//p[@class='notice']")[0].text_content().startswith("Without correction")


@pytest.mark.usefixtures("unpictured")
def test_a_judge_that_is_named_may_have_gaps(tmp_path):
    frame = judgments(["x", "y", "z"]).assign(who=[None, *["p", "q"] * 5, "p"])
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    assert run("report", tmp_path / "gaps.csv", "--judge", "who", "-o", tmp_path / "r.html").exit_code == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "1 row without who" in text


@pytest.mark.parametrize(
    ("args", "fragment"),
    [
        (("nofile.csv",), "there is no file 'nofile.csv'"),
        (("dras_table1", "--outcome", "w"), "it is for files"),
        (("dras_table1", "-o", "no/such/folder.html"), "there is no folder"),
    ],
)
def test_the_command_says_what_is_wrong(args, fragment):
    result = run("report", *args)
    assert result.exit_code == 2
    assert fragment in " ".join(result.stderr.split())


@pytest.mark.slow
@pytest.mark.shared
def test_a_report_on_real_judgments(shared, tmp_path):
    """LLMFAO: 8,931 judgments of 59 models by 124 workers, 39 % ties (the data's README)."""
    mine = llbt.formats.columns(("model_x", "model_y"), "winner", judge="worker")
    judged = llbt.read_judgments(shared / "data" / "llmfao.csv", format=mine)
    path = write_report(judged, tmp_path / "llmfao.html")
    document = parsed(path.read_text(encoding="utf-8"))
    assert "8,931 judgments of 59 objects" in document.xpath("//p[@class='lead']")[0].text_content()
    assert len(table_named(document, "Leaderboard").find("tbody")) == 59
    assert path.stat().st_size < 2_000_000


def test_more_objects_than_a_page_can_show_are_refused(tmp_path):
    """A ring of 10,001 objects: said at once, where the dense fit would take hours."""
    names = [f"m{k}" for k in range(10_001)]
    frame = pd.DataFrame({"i": names, "j": names[1:] + names[:1], "wins_i": 1, "wins_j": 1})
    table = llbt.from_counts(frame, objects=("i", "j"), wins=("wins_i", "wins_j"))
    for data in (table, llbt.fit("object", table, prior=0.1)):
        with pytest.raises(DesignError, match="10,001, more than 10,000"):
            write_report(data, tmp_path / "page.html")
