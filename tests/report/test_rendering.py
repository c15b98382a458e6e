"""What is printed: numbers read back out of every format, and the summary line by line."""

import html
import io
import itertools
import re
import warnings
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from lxml import html as lxml_html
from scipy import stats
from support.fits import fit_by

import llbt
from llbt.base.markup import sortable
from llbt.base.table import Field, Table

TABLE1 = llbt.load_dataset("dras_table1")
LEGEND = "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"
HEADINGS = ["", "Estimate", "Odds", "Std. Error", "z value", "Pr(>|z|)", ""]
FORMATS = ("text", "html", "latex", "markdown")


def fit(formula, c, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.TiesWarning)
        return fit_by(formula, c, **keywords)


@pytest.fixture(scope="module")
def plain():
    return fit("object + tie", TABLE1.pool())


@pytest.fixture(scope="module")
def by_judge():
    return fit("object * judge + tie", TABLE1)


# -- readers: a rendering -> headings and rows of strings -----------------------------------------------------


def read_text(text):
    """Columns of a text table, by the positions of its cells: a column is where no line has a letter between."""
    lines = text.split("\n")
    start = next(k for k, line in enumerate(lines) if re.search(r"\S\s+\S", line) and k and not lines[k - 1].strip())
    end = next((k for k in range(start, len(lines)) if lines[k] in ("", "---")), len(lines))
    block = [line for line in lines[start:end] if not line.startswith("… ")]
    width = max(map(len, block))
    block = [line.ljust(width) for line in block]
    return block


LATEX_BACK = [
    (r"\textbackslash{}", "\0"),
    (r"\textasciitilde{}", "~"),
    (r"\textasciicircum{}", "^"),
    (r"\textless{}", "<"),
    (r"\textgreater{}", ">"),
    (r"\textbar{}", "|"),
    ("{''}", '"'),
    (r"\allowbreak{}", ""),
    ("-{}-", "--"),
    (r"\dots{}", "…"),
    ("{[}", "["),
    ("{]}", "]"),
    ("{*}", "*"),
    *((f"$_{n}$", letter) for n, letter in zip("ij0123456789", "ᵢⱼ₀₁₂₃₄₅₆₇₈₉", strict=True)),
    ("$-$", "-"),
    (r"$^2$", "²"),
    *((rf"$\{name}$", letter) for name, letter in zip(("lambda", "gamma", "delta", "pi", "chi"), "λγδπχ", strict=True)),
    (r"$\times$", "×"),
    (r"$\cdot$", "·"),
    (r"$\propto$", "∝"),
    (r"$\infty$", "∞"),
    *((rf"\{c}", c) for c in "{}$&#_%"),
    ("\0", "\\"),
]


def latex_back(cell):
    for escaped, c in LATEX_BACK:
        cell = cell.replace(escaped, c)
    return cell


def read_latex(text):
    """Headings and rows, the stars of p-values without their column and as they stand behind the numbers."""
    body = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
    if r"\endlastfoot" in text:
        body += text.split(r"\endlastfoot")[1].split(r"\end{longtable}")[0]
    rows = []
    for line in body.strip().split("\n"):
        if line in (r"\midrule", r"\endfirsthead", ""):
            continue
        assert line.endswith(r" \\")
        line = re.sub(r"\$\\cdot10\^\{(-?)(\d+)\}\$", lambda found: f"e{found[1] or '+'}{int(found[2]):02}", line)
        line = re.sub(r"\$\^\{(\**)(\\phantom\{\**\})?\}\$", r"\1", line)
        cells = re.split(r"(?<!\\)&", line.removesuffix(r" \\"))
        rows.append([latex_back(cell.strip()) for cell in cells])
    return rows


def markdown_back(cell):
    return html.unescape(re.sub(r"\\([\\`*_{}\[\]#|~$])", r"\1", cell))


def read_markdown(text):
    rows = [line for line in text.split("\n") if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line.strip()[1:-1]) for line in rows]
    rule = [cell.strip() for cell in cells.pop(1)]
    assert set(rule) <= {":--", "--:"}
    assert all(len(row) == len(rule) for row in cells)
    return [[markdown_back(cell.strip()) for cell in row] for row in cells]


def read_html(text):
    document = lxml_html.fragment_fromstring(text)
    rows = [document.find("thead").find("tr"), *document.find("tbody").findall("tr")]
    return [[cell.text_content() for cell in row] for row in rows]


WIDE = {"data sets"}  # records whose text breaks labels to fit a line

READERS = {"html": read_html, "markdown": read_markdown}


def text_rows(text, columns):
    """Rows of a text table whose cells hold no double spaces, given the cells another format shows."""
    block = read_text(text)
    rows = []
    for line, cells in zip(block, columns, strict=True):
        rest = line
        found = []
        for cell in cells:
            rest = rest.lstrip() if cell else rest
            assert rest.startswith(cell), (line, cells)
            rest = rest[len(cell) :]
            found.append(cell)
        assert not rest.strip()
        rows.append(found)
    return rows


def number(text):
    if text in ("NA", ""):
        return np.nan
    if text.startswith("<"):
        return 0.0
    return float(text.replace(",", ""))


def tolerance(text):
    """Half a unit of the last digit that is printed."""
    if text in ("NA", "") or text.startswith("<"):
        return 2.3e-16
    mantissa, _, exponent = text.replace(",", "").lower().partition("e")
    return 0.5000001 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def assert_says(strings, values):
    for text, value in zip(strings, values, strict=True):
        read = number(text)
        assert (np.isnan(read) and np.isnan(value)) or abs(read - value) <= tolerance(text), (text, value)


def records():
    res, small = fit("object * judge + tie", TABLE1), fit("object + tie", TABLE1)
    return {
        "summary": res.summary(),
        "worth": llbt.worth(res),
        "worth, Elo": llbt.worth(res, scale="elo"),
        "predict": replace(res.predict(), printed=None),
        "t_test": res.t_test("object[A] = object[B], tie = -1"),
        "wald_test": res.wald_test("object[A] = object[B]"),
        "goodness_of_fit": llbt.goodness_of_fit(small),
        "anova": llbt.anova(small, res),
        "data sets": replace(llbt.list_datasets(), printed=None),
        "comparisons": llbt.load_dataset("puddings"),
    }


@pytest.mark.parametrize("name", records())
@pytest.mark.parametrize("kind", READERS)
@pytest.mark.slow
def test_numbers_are_the_records_to_the_printed_precision(name, kind):
    record = records()[name]
    table = record.table()
    headings, *rows = READERS[kind](getattr(record, f"as_{kind}")())
    names = [field.name for field in table.fields]
    if "conf_low" in names:  # printed with the next one as one column, [low, high]
        low = names.index("conf_low")
        assert headings[low] == "95 % CI"
        bounds = [row[low].strip("[]").split(", ") for row in rows]
        rows = [[*row[:low], *pair, *row[low + 1 :]] for row, pair in zip(rows, bounds, strict=True)]
        headings = [*headings[:low], "low", "high", *headings[low + 1 :]]
    assert len(headings) == len(table.fields)
    assert len(rows) == len(table.fields[0].values) if table.shown is None else len(table.shown)
    for k, field in enumerate(table.fields):
        printed = [row[k] for row in rows]
        if field.kind == "text":
            assert printed == [str(value) for value in field.values]
        elif field.kind == "stars":
            assert printed == [star(p) for p in field.values]
        else:
            assert_says(printed, field.values)
    frame = table.to_frame()
    for field in table.fields:
        if field.name:
            assert frame[field.name].tolist() == pytest.approx(list(field.values), nan_ok=True)


def star(p):
    if np.isnan(p):
        return ""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "." if p < 0.1 else ""


def unstarred(rows):
    """Rows of LaTeX with the stars of a number behind it in a cell of their own."""
    return [[part for cell in row for part in starred(cell)] for row in rows]


def starred(cell):
    found = re.fullmatch(r"(.*[\dA])(\*+)", cell)
    return found.groups() if found else (cell,)


def printed_fields(record):
    """The fields of the columns that are printed: the upper bound of an interval stands in the column of the lower."""
    return [field for field in record.table().fields if field.name not in ("conf_high", "rank_high")]


def unjoined(record, rows):
    """Rows of HTML with each bound in a cell of its own, as in LaTeX."""
    found = []
    for row in rows:
        cells = []
        for field, cell in zip(printed_fields(record), row, strict=True):
            bounds = re.fullmatch(r"\[(.*), +(.*)\]", cell) if field.name == "conf_low" else None
            ranks = cell.partition("–")
            cells += bounds.groups() if bounds else [cell]
            cells += [cell] if field.name == "conf_low" and not bounds else []
            if field.name == "rank_low":
                cells[-1:] = [ranks[0], ranks[2] or ranks[0]]
        found.append(cells)
    return found


def as_in_latex(record, joined):
    """Rows with the stars behind the estimates, and no others but of p < 0.05."""
    rows = unjoined(record, joined)
    table = record.table()
    names = [field.name or field.kind for field in table.fields]
    if "stars" not in names:
        return rows
    order = [k for k, name in enumerate(names) if name != "stars"]
    order.insert(names.index("estimate") + 1 if "estimate" in names else names.index("stars"), names.index("stars"))
    moved = [[row[k].strip(".") if names[k] == "stars" else row[k] for k in order] for row in rows]
    return [[cell for k, cell in zip(order, row, strict=True) if cell or names[k] != "stars"] for row in moved]


@pytest.mark.parametrize("name", records())
def test_every_format_prints_the_same_strings(name):
    record = records()[name]
    rows = read_html(record.as_html())
    assert unstarred(read_latex(record.as_latex())[1:]) == as_in_latex(record, rows)[1:]
    assert read_markdown(record.as_markdown()) == rows
    if name not in WIDE:
        assert text_rows(record.as_text(), rows) == rows


@pytest.mark.parametrize("name", [name for name in records() if name not in WIDE])
def test_columns_of_the_text_are_aligned(name):
    record = records()[name]
    block = read_text(record.as_text())
    fields = printed_fields(record)
    rows = read_html(record.as_html())
    position = 0
    for k, field in enumerate(fields):
        width = max(len(row[k]) for row in rows)
        for line, row in zip(block, rows, strict=True):
            cell = line[position : position + width]
            assert cell == (row[k].ljust(width) if field.kind in ("text", "stars") else row[k].rjust(width))
        position += width + 1


@pytest.mark.parametrize("name", records())
def test_html_is_one_table_that_pandas_reads(name):
    record = records()[name]
    text = record.as_html()
    assert record._repr_html_() == sortable(text)
    assert text.startswith("<table")
    assert text.endswith("</table>")
    assert text.count("<table") == text.count("</table>") == 1
    (frame,) = pd.read_html(io.StringIO(text), keep_default_na=False)
    rows = read_html(text)
    assert len(frame) >= len(rows) - 1
    width = len(rows[0])
    assert frame.shape[1] == width
    for k, row in enumerate(rows[1:]):
        for shown, cell in zip(frame.iloc[k], row, strict=True):
            assert str(shown) in (cell, " ".join(cell.split())) or float(shown) == pytest.approx(
                number(cell), rel=1e-12
            )


@pytest.mark.parametrize("name", records())
def test_repr_and_print_are_the_text(name, capsys):
    record = records()[name]
    assert repr(record) == str(record) == record.as_text()
    print(record)
    assert capsys.readouterr().out == record.as_text() + "\n"
    assert not re.search(r"[ \t]+$", record.as_text(), flags=re.MULTILINE)


def test_a_fit_prints_its_summary(plain):
    assert repr(plain) == plain.as_text() == plain.summary().as_text()
    assert plain.as_html() == plain.summary().as_html()
    assert plain._repr_html_().startswith(sortable(plain.as_html()))  # a notebook also shows what to ask next
    assert plain.as_latex() == plain.summary().as_latex()
    assert plain.as_markdown() == plain.summary().as_markdown()


def test_latex_is_balanced_and_uses_booktabs(by_judge):
    text = by_judge.as_latex()
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert text.count(rule) == 1
    opened = re.findall(r"\\begin\{(\w+)\}", text)
    closed = re.findall(r"\\end\{(\w+)\}", text)
    assert sorted(opened) == sorted(closed)
    assert "tabular" in opened
    assert r"\begin{tabular}{@{}lrrrrr@{}}" in text
    plain_text = re.sub(r"\\[{}]", "", text)
    assert plain_text.count("{") == plain_text.count("}")
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    assert text.startswith("% \\usepackage{booktabs}\n")
    assert not re.search(r"(?<!\\)[#%]", text.partition("\n")[2])
    assert not re.search(r"(?<![\\$])_", text)


@pytest.mark.parametrize("kind", ["html", "latex", "markdown"])
def test_every_format_says_what_the_text_says(by_judge, kind):
    """Formula, data, ties, fit and notes stand in every format, not only in the text."""
    rendered = getattr(by_judge, f"as_{kind}")()
    back = {"html": html.unescape, "latex": latex_back, "markdown": markdown_back}[kind](rendered)
    back = re.sub(r"\s+", " ", back.replace("$_i$", "ᵢ").replace("$_j$", "ⱼ"))
    table = by_judge.summary()
    for line in (table.title, *table.head, *table.foot, *table.notes, *([] if kind == "latex" else [LEGEND])):
        said = re.sub(r"\s+", " ", line.replace("−", "-")).strip()
        assert said in back.replace("−", "-"), said


# -- the summary, line by line ------------------------------------------------------------------------------


def lines_of(res, **keywords):
    return res.summary(**keywords).as_text().split("\n")


def line_starting(lines, start):
    (found,) = [line for line in lines if line.strip().startswith(start)]
    return found.strip()


def test_the_first_block(plain):
    lines = lines_of(plain)
    assert lines[1:5] == [
        "Formula: object + tie",
        "Data: 4 objects (reference D), 6 comparisons, 960 judgments",
        "Ties: 4.5 %",
        "Worth: A .658 > D .295 > B .033 > C .013",
    ]
    assert lines[0] == "Log-linear Bradley-Terry model"
    assert lines[5] == ""


def test_the_share_of_ties(plain):
    assert f"{100 * 43 / 960:.1f}" == "4.5"
    assert TABLE1.n_ties == 43


def test_ties_that_are_not_modelled_stand_in_the_first_block():
    c = llbt.load_dataset("dras_collins")
    lines = lines_of(fit("object", c))
    block = lines[: lines.index("")]
    assert "Ties: 38.7 %, not modelled (γ = 0); add + tie" in block
    modelled = lines_of(fit("object + tie", c))
    assert "Ties: 38.7 %" in modelled[: modelled.index("")]
    assert "not modelled" not in "\n".join(modelled)


def test_a_table_without_a_tie_category_says_so():
    lines = lines_of(fit("object", llbt.load_dataset("citations")))
    assert line_starting(lines, "Ties:") == "Ties: no tie category"


def test_the_data_line_says_of_each_covariate_what_it_is(by_judge):
    data = line_starting(by_judge.summary().head, "Data:")
    assert data == ("Data: 4 objects (reference D), 24 comparisons, 960 judgments; judge: 4 levels, reference J1")
    unused = line_starting(fit("object + tie", TABLE1).summary().head, "Data:")
    assert "judge: 4 levels, not in the formula" in unused
    clustered = fit("object + tie", TABLE1, cov_type="cluster", groups="judge")
    assert line_starting(clustered.summary().head, "Data:").endswith("judge: 4 levels, only as clusters")
    discriminating = llbt.fit("object + tie", TABLE1, discrimination="judge")
    assert line_starting(discriminating.summary().head, "Data:").endswith("judge: 4 levels, each with a discrimination")
    frame = TABLE1.to_frame().assign(age=lambda f: 20.0 + f.index % 3)
    frame["level"] = np.arange(len(frame)) % 3 + 1
    c = llbt.from_counts(frame, covariates=["judge", "age", "level"])
    data = line_starting(fit("object * age + tie:level", c).summary().head, "Data:")
    assert "age: numeric" in data
    assert "level: 3 levels" in data
    assert "judge: 4 levels, not in the formula" in data
    baseball = line_starting(fit("object + order", llbt.load_dataset("baseball")).summary().head, "Data:")
    assert "7 objects (reference Toronto), 42 comparisons, 273 judgments" in baseball
    assert "object_i shown first" in baseball


def test_large_numbers_have_their_thousands_apart():
    c = llbt.load_dataset("citations")
    assert "3,727 judgments" in line_starting(lines_of(fit("object", c)), "Data:")


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("object + tie", True),
        ("C(object, Sum) + tie", True),
        ("object + tie:judge", True),
        ("object * judge + tie", False),
        ("object:judge + tie", False),
        ("tie", False),
    ],
)
def test_the_worth_line_has_worths_without_covariates(formula, shown):
    res = fit(formula, TABLE1)
    found = [line for line in lines_of(res) if line.startswith("Worth:")]
    assert len(found) == (formula != "tie")
    if not shown:
        assert found in ([], ["Worth: by judge, llbt.worth(res)"])
    else:
        worths = llbt.worth(res).to_frame()
        parts = re.findall(r"(\w) (\.\d{3})", found[0])
        assert [name for name, _ in parts] == worths["object"].tolist()
        assert_says([share for _, share in parts], worths["estimate"])
        assert found[0].count(" > ") == 3


def many(size):
    rng = np.random.default_rng(size)
    rows = [(f"m{i:03}", f"m{j:03}", *rng.integers(1, 30, 3)) for i, j in itertools.combinations(range(size), 2)]
    return llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"]))


def test_the_worth_line_has_the_best_five_of_more_than_ten_objects():
    assert fit("object + tie", many(10)).summary().head[-1].count(" > ") == 9
    res = fit("object + tie", many(11))
    (line,) = [line for line in res.summary().head if line.startswith("Worth:")]
    best = llbt.worth(res).to_frame()["object"].tolist()[:5]
    assert re.findall(r"(m\d+) \.", line) == best
    assert line.endswith(" > … (6 more: llbt.worth(res))")


def test_more_rows_than_are_asked_for_hide_the_worst_objects():
    res = fit("object + order + tie", llbt.from_counts(many(20).to_frame(), order=True))
    frame = res.params.filter(like="object").sort_values(ascending=False)
    names = [row[0] for row in read_html(res.summary(max_rows=10).as_html())[1:]]
    assert set(names) == {"object[m019]", "order", "tie", *frame.index[:7]}
    assert "… 12 rows hidden" in res.summary(max_rows=10).as_text()
    assert len(read_html(res.summary(max_rows=22).as_html())) == 23
    assert len(read_latex(res.summary(max_rows=10).as_latex())) == 11  # as asked, but all rows of a printout


@pytest.mark.parametrize("formula", ["object + tie", "object * judge + tie", "C(object, Sum) + tie"])
def test_rows_are_sorted_by_estimate_within_their_terms(formula):
    res = fit(formula, TABLE1)
    plain, by_estimate = (res.summary(sort=sort).to_frame() for sort in ("name", "estimate"))
    assert sorted(plain["term"]) == sorted(by_estimate["term"])
    term = by_estimate["term"].str.replace(r"\[[^\]]*\]", "", regex=True)
    assert term.drop_duplicates().tolist() == plain["term"].str.replace(r"\[[^\]]*\]", "", regex=True).unique().tolist()
    for _, rows in by_estimate.groupby(term):
        assert rows["estimate"].is_monotonic_decreasing
    both = plain.set_index("term"), by_estimate.set_index("term").loc[plain["term"]]
    pd.testing.assert_frame_equal(*both)


def test_equal_worths_are_joined_by_an_equals_sign():
    rows = [("a", "b", 4, 2, 4), ("b", "c", 6, 2, 4), ("a", "c", 6, 2, 4)]
    c = llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"]))
    assert re.search(r"Worth: a (\.\d+) = b \1 > c", "\n".join(lines_of(fit("object + tie", c))))


def test_the_coefficient_table(plain):
    headings, *rows = read_html(plain.as_html())
    assert headings == HEADINGS
    assert [row[0] for row in rows] == ["object[A]", "object[B]", "object[C]", "object[D]", "tie"]
    reference = rows.pop(3)
    assert number(reference[1]) == 0
    assert number(reference[2]) == 1
    assert reference[3:] == ["NA", "NA", "NA", ""]
    for k, values in zip((1, 3, 4, 5), (plain.params, plain.bse, plain.tvalues, plain.pvalues), strict=True):
        assert_says([row[k] for row in rows], values)
    factor = np.array([2, 2, 2, 1])
    assert_says([row[2] for row in rows], np.exp(factor * plain.params))
    assert [row[6] for row in rows] == [star(p) for p in plain.pvalues]


def test_order_has_odds_of_two_delta():
    res = fit("object + order", llbt.load_dataset("baseball"))
    rows = {row[0]: row for row in read_html(res.as_html())}
    assert_says([rows["order"][2]], [np.exp(2 * res.params["order"])])
    assert "exp(2δ)" in res.as_text()


def test_all_estimates_of_a_table_have_the_same_decimals(by_judge):
    _, *rows = read_html(by_judge.as_html())
    decimals = {len(cell.partition(".")[2]) for row in rows for cell in (row[1], row[3]) if cell != "NA"}
    assert len(decimals) == 1


def test_every_reference_main_effect_is_shown_and_no_interaction(by_judge):
    _, *rows = read_html(by_judge.as_html())
    names = [row[0] for row in rows]
    assert names.count("object[D]") == 1
    assert names.index("object[D]") == 3
    assert len(names) == len(by_judge.names) + 1
    other = fit("C(object, Treatment('B')) + tie", TABLE1)
    assert "C(object, Treatment('B'))[B]" in [row[0] for row in read_html(other.as_html())]
    assert "reference B" in line_starting(lines_of(other), "Data:")


def test_p_values_are_printed_as_r_prints_them(plain):
    text = plain.as_text()
    assert plain.pvalues["object[C]"] < 2.2e-16
    assert re.search(r"object\[C\] .* <2e-16 \*\*\*", text)
    p = [0.2, 0.05, 0.0499, 0.01234, 0.00012345, 0.0000999, 1e-15, 2.3e-16, 2.1e-16, 0.0]
    table = Table((Field("p", "p", p, "p_value"), Field("", "", p, "stars")))
    _, *rows = read_html(table.as_html())
    assert rows == [
        ["0.2000", ""],
        ["0.0500", "."],
        ["0.0499", "*"],
        ["0.0123", "*"],
        ["0.00012", "***"],
        ["1.0e-04", "***"],
        ["1.0e-15", "***"],
        ["2.3e-16", "***"],
        ["<2e-16", "***"],
        ["<2e-16", "***"],
    ]


def test_the_legend_follows_the_rows(plain):
    lines = lines_of(plain)
    assert lines[lines.index("---") + 1] == LEGEND
    assert LEGEND in html.unescape(plain.as_html())
    assert r"$^{*}\,p<0.05$" in plain.as_latex()
    assert LEGEND in markdown_back(plain.as_markdown())


def test_odds_can_be_left_out(plain):
    with_odds, without = plain.summary(), plain.summary(odds=False)
    assert read_html(with_odds.as_html())[0] == HEADINGS
    assert read_html(without.as_html())[0] == [name for name in HEADINGS if name != "Odds"]
    assert [[*row[:2], *row[3:]] for row in read_html(with_odds.as_html())] == read_html(without.as_html())
    assert "exp(γ)" in with_odds.as_text()
    assert "Odds" not in without.as_text()
    assert "exp(γ)" not in without.as_text()
    assert "odds" not in without.to_frame().columns
    (gloss,) = [note for note in with_odds.notes if note.startswith("Odds:")]
    for part in ("exp(2λ)", "exp(γ)"):
        assert part in gloss
    assert "δ" not in gloss  # there is no order effect to gloss


def test_the_deviances_with_df_and_p(plain):
    lines = lines_of(plain)
    assert re.search(r"^ +Null deviance: 1188\.2 +on 12 +degrees of freedom$", "\n".join(lines), flags=re.MULTILINE)
    residual = line_starting(lines, "Residual deviance")
    value, df, p = re.match(
        r"Residual deviance: +(\S+) +on +(\d+) +degrees of freedom \(χ² test of fit: p = (\S+)\)", residual
    ).groups()
    assert_says([value, p], [plain.deviance, stats.chi2.sf(plain.deviance, 8)])
    assert value == "30.455"
    assert df == "8"
    said = {"Pearson X²": [plain.pearson_chi2], "Log-likelihood of the judgments": [plain.llf, plain.aic, plain.bic]}
    said["Log-likelihood of the counts (Poisson, R's glm)"] = [plain.llf_poisson, plain.aic_poisson]
    for start, values in said.items():
        assert_says(re.findall(r"-?\d+\.\d+", line_starting(lines, start)), values)
    assert f"eliminated: {plain.n_iter} steps; checked" in line_starting(lines, "Newton")


def test_a_tiny_p_value_of_fit():
    residual = line_starting(lines_of(fit("object", TABLE1)), "Residual deviance")
    assert "(χ² test of fit: p <2e-16)" in residual


def test_a_saturated_fit_says_so_without_a_p_value():
    lines = lines_of(fit("object + tie", llbt.load_dataset("dras_modpref")))
    residual = line_starting(lines, "Residual deviance")
    assert residual == "Residual deviance:      0  on 0  degrees of freedom (saturated)"
    assert " p " not in residual
    assert line_starting(lines, "Pearson X²") == "Pearson X²: 0"
    assert not re.search(r"e-1\d", "\n".join(lines))


def test_the_published_numbers_of_the_modpref_data():
    """Dras (2015, section 2): 0.2778 (se 0.1060, p 0.0088), γ −0.6551 (se 0.2300, p 0.0044), odds 1.74 to 1."""
    rows = {row[0]: row for row in read_html(fit("object + tie", llbt.load_dataset("dras_modpref")).as_html(digits=4))}
    first, tie = rows["object[+]"], rows["tie"]
    assert [round(number(x), 4) for x in (first[1], first[3], first[5])] == [0.2778, 0.1060, 0.0088]
    assert [round(number(x), 4) for x in (tie[1], tie[3], tie[5])] == [-0.6551, 0.2300, 0.0044]
    assert round(number(first[2]), 2) == 1.74


def test_the_notes_say_scale_held_aliased_and_what_was_left_out():
    prices = pd.DataFrame({"object": list("ABCD"), "price": [1.0, 2.0, 3.0, 5.0]})
    frame = pd.concat([TABLE1.to_frame(), TABLE1.to_frame().iloc[[0]].assign(judge="J9", wins_i=0, ties=0, wins_j=0)])
    c = llbt.from_counts(frame, covariates="judge", object_covariates=prices)
    res = fit("object + price + tie", c, fixed={"tie": -1.5})
    text = res.as_text(notes="all")
    above, below = text.split("Estimate", 1)
    assert "Note: 1 not defined because of singularities (NA): price." in above
    assert "exp(2(λᵢ − λⱼ))" in below
    assert "Held, not estimated: tie = -1.5" in below
    assert re.search(r"left out: .* without a judgment", text)
    rows = {row[0]: row for row in read_html(res.as_html())}
    assert "price" not in rows
    assert number(rows["tie"][1]) == -1.5
    assert rows["tie"][3:6] == ["NA", "NA", "NA"]


# -- long tables --------------------------------------------------------------------------------------------


def test_sixty_rows_are_printed_in_full():
    res = fit("object + tie", many(59))  # 58 parameters, the reference, tie
    assert len(read_html(res.as_html())) == 61
    assert "more rows" not in res.as_text()


def test_over_sixty_rows_only_the_most_informative_of_each_term():
    c = many(70)
    frame = pd.concat([c.to_frame().assign(x=x) for x in "uv"])
    frame["wins_i"] += np.arange(len(frame)) % 5
    res = fit("object * x + tie * x", llbt.from_counts(frame, covariates="x"))
    summary = res.summary()
    total = 69 + 1 + 69 + 2
    assert len(summary.to_frame()) == total
    names = [row[0] for row in read_html(res.as_html())[1:]]
    assert len(names) <= 61
    objects = res.params.filter(regex=r"^object\[\w+\]$").nlargest(15).index  # the best ones, whatever their names
    others = res.tvalues.filter(regex=r"^object\[\w+\]:").abs().nlargest(15).index
    assert {*objects, *others, "tie", "tie:x[v]", "object[m069]"} <= set(names)
    more = f"… {total - len(names):,} rows hidden (lowest worths, smallest |z|): max_rows=, or res.to_frame()"
    assert more in res.as_text().split("\n")
    assert more in html.unescape(res.as_html())
    assert [row[0] for row in read_latex(res.as_latex())[1:]] == summary.table().fields[0].values
    assert more in markdown_back(res.as_markdown())
    for name, row in zip(names, read_html(res.as_html())[1:], strict=True):
        if name == "object[m069]":  # the reference
            assert_says([row[1], row[3]], [0.0, np.nan])
        else:
            assert_says([row[1], row[3]], [res.params[name], res.bse[name]])
    assert len(res.to_frame()) == total - 1


def test_the_number_of_rows_left_out_has_its_thousands_apart():
    table = Table((Field("x", "x", list(range(2500))),), shown=(0, 1), more="… 2,498 more rows")
    assert [row[0] for row in read_html(table.as_html())] == ["x", "0", "1"]
    assert len(table.to_frame()) == 2500


# -- labels that mean something to a format -------------------------------------------------------------------

LABELS = [
    *("under_score", "per%cent", "am&p", "ha#sh", "dol$lar", "pi|pe", "<b>bold</b>", "st*a*r", "[br]ack", "b\\slash"),
    *("{cu}rly", "ti~de", "ca^ret", 'qu"ote', "back`tick", "it's", "&lt;", "$x_1$", "ü ñ 漢字", "e\u0301", "π λ"),
]


@pytest.fixture(scope="module")
def awkward():
    rng = np.random.default_rng(1)
    rows = [(i, j, *rng.integers(1, 9, 3)) for i, j in itertools.combinations(LABELS, 2)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])
    return fit("object + tie", llbt.from_counts(frame))


@pytest.mark.parametrize("kind", READERS)
def test_labels_come_back_out_of_every_format(awkward, kind):
    names = [row[0] for row in READERS[kind](getattr(awkward, f"as_{kind}")())[1:]]
    expected = [f"object[{label}]" for label in sorted(LABELS)] + ["tie"]
    assert names == expected
    worth = [row[0] for row in READERS[kind](getattr(llbt.worth(awkward), f"as_{kind}")())[1:]]
    assert sorted(worth) == sorted(LABELS)


def test_labels_are_not_markup_in_html(awkward):
    for record in (awkward, llbt.worth(awkward), awkward.predict(), awkward.comparisons):
        document = lxml_html.fragment_fromstring(record.as_html())
        assert not document.findall(".//b")
        tags = {element.tag for element in document.iter()}
        assert tags <= {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "br"}
        ElementTree.fromstring(record.as_html().replace("<br>", "<br/>"))


def test_labels_are_not_commands_in_latex(awkward):
    for record in (awkward, llbt.worth(awkward)):
        text = record.as_latex(longtable=True)
        body = text.split(r"\endlastfoot")[1].split(r"\end{longtable}")[0]
        assert not re.search(r"(?<!\\)[#%]", body)
        assert not re.search(r"(?<!\\)_(?!i\$|j\$)", body)
        assert "^" not in body.replace(r"\textasciicircum{}", "").replace("$^2$", "")
        assert "~" not in body
        assert r"b\textbackslash{}slash" in body
        assert body.count("\n") == body.count("\\\\\n") + body.count("\\midrule\n") + 1


def test_every_row_of_markdown_has_its_cells(awkward):
    for record in (awkward, llbt.worth(awkward)):
        rows = [line for line in record.as_markdown().split("\n") if line.startswith("|")]
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in rows}
        assert widths == {len(printed_fields(record)) + 1}
        assert "<b>" not in record.as_markdown()


def test_wide_and_combining_characters_keep_the_columns_aligned(awkward):
    text = llbt.worth(awkward).as_text().split("\n")
    start = next(k for k, line in enumerate(text) if line.startswith("Object"))
    rows = text[start : start + len(LABELS) + 1]
    estimate = {len(display(line)) for line in rows}
    assert len(estimate) == 1


def display(line):
    """The line with one character per terminal column."""
    return line.replace("漢字", "####").replace("\u0301", "")


def test_a_label_with_a_line_break_stays_on_one_line():
    rows = [("new\nline", "tab\tbed", 5, 2, 3), ("tab\tbed", "zzz", 4, 1, 4), ("new\nline", "zzz", 2, 2, 4)]
    c = llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"]))
    res = fit("object + tie", c, reference="new\nline")
    plain = fit("object + tie", c)
    for record in (res, plain, llbt.worth(res), c, res.t_test("object[zzz]"), llbt.goodness_of_fit(res)):
        assert "\t" not in record.as_text()
        for kind in FORMATS:
            assert "new\nline" not in getattr(record, f"as_{kind}")(), kind
    assert [row[0] for row in read_markdown(plain.as_markdown())[1:3]] == [r"object[new\nline]", r"object[tab\tbed]"]
    lines = lines_of(plain)
    assert sum(line.startswith("Worth:") for line in lines) == 1
    assert lines[lines.index("") + 1].split()[0] == "Estimate"


def test_markdown_has_no_accidental_code_block(by_judge):
    """Four spaces at the start of a paragraph are code in Markdown: escapes in it would be printed."""
    assert not re.search(r"^ {4}", by_judge.as_markdown(), flags=re.MULTILINE)


def test_covariate_labels_are_escaped_too():
    frame = TABLE1.to_frame()
    frame["judge"] = frame["judge"].map({"J1": "a_1", "J2": "b|2", "J3": "<c>", "J4": "d&4"})
    res = fit("object * judge + tie * judge", llbt.from_counts(frame, covariates="judge"))
    for kind, reader in READERS.items():
        names = [row[0] for row in reader(getattr(res, f"as_{kind}")())[1:]]
        assert "tie:judge[b|2]" in names
        assert "object[A]:judge[d&4]" in names


# -- numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        ([0.2778, -0.6551], ["0.2778", "-0.6551"]),
        ([1.0, 2.0], ["1", "2"]),
        ([0.5, np.nan], ["0.5", "NA"]),
        ([np.inf, -np.inf], ["Inf", "-Inf"]),
        ([-1e-9, 1.0], ["0.000000", "1.000000"]),
        ([12345.6789], ["12346"]),
        ([0.000123456, 1.0], ["0.000123", "1.000000"]),
        ([3.2e7, 1.5], ["3.200e+07", "1.500"]),
    ],
)
def test_columns_of_numbers(values, printed):
    table = Table((Field("x", "x", values, "estimate"),))
    rows = [row[0] for row in read_html(table.as_html())[1:]]
    assert_says(
        [text for text in rows if "Inf" not in text and "e" not in text],
        [value for value, text in zip(values, rows, strict=True) if "Inf" not in text and "e" not in text],
    )
    for text, expected in zip(rows, printed, strict=True):
        if expected in ("NA", "Inf", "-Inf"):
            assert text == expected
        else:
            assert number(text) == pytest.approx(number(expected), rel=1e-3)
        assert not re.fullmatch(r"-0\.?0*", text)


def test_minus_signs_are_minus_signs_in_latex(plain):
    rows = [line for line in plain.as_latex().split("\n") if line.startswith("object{[}B{]} &")]
    assert "& $-$1.0" in rows[0]
    assert not re.search(r"& -\d", plain.as_latex())


def test_the_title_and_caption():
    table = Table((Field("x", "x & y", [1.0], "number"),), title="50 % <of> it_all", notes=("a & b",))
    assert table.as_text().startswith("50 % <of> it_all\n")
    assert r"\caption{50 \% \textless{}of\textgreater{} it\_all}" in table.as_latex()
    assert "50 % &lt;of&gt; it_all" in table.as_html()
    assert "Note: a &amp; b" in table.as_html()
    assert r"**50 % &lt;of&gt; it\_all**" in table.as_markdown()
    assert read_latex(table.as_latex())[0] == ["x & y"]
