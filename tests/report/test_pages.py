"""LaTeX of every kind of answer, compiled: nothing is wider or taller than an A4 page (article, 11 pt)."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.printed_answers import all_answers, names

import llbt
from llbt.base.table import Field, Table
from llbt.errors import OptionError

TOO_LARGE = re.compile(
    r"Overfull \\[hv]box|^! |LaTeX Warning: Float too large|LaTeX Warning: Text page \d+ contains only"
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def compiled(tables: dict[str, str], folder: Path) -> list[str]:
    """What pdflatex complains of in a document of these tables, with the name of the table."""
    assert shutil.which("pdflatex"), "Install pdflatex: apt-get install texlive-latex-base texlive-latex-recommended"
    lines = [r"\documentclass[a4paper,11pt]{article}", r"\usepackage{booktabs,longtable,array}", r"\begin{document}"]
    for name, source in tables.items():
        lines += [rf"\typeout{{TABLE {name}}}", r"\clearpage", source]
    (folder / "tables.tex").write_text("\n".join([*lines, r"\end{document}"]), encoding="utf-8")
    for _ in range(2):  # the second knows the widths of tables over pages
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
        subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "tables.log").read_text(encoding="utf-8", errors="replace")
    assert "Output written on tables.pdf" in log, log[-2000:]
    told, name = [], ""
    for line in log.split("\n"):
        name = line if line.startswith("TABLE ") else name
        told += [f"{name}: {line}"] if TOO_LARGE.search(line) else []
    return told


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::llbt.errors.LLBTWarning")
def test_every_answer_fits_a_page(tmp_path):
    tables = {}
    for letters in (20, 35):
        for name, record in all_answers(letters):
            tables[f"{name.replace('_', '-')}, {letters}"] = record.as_latex()
    assert len(tables) > 150
    assert compiled(tables, tmp_path) == []
    assert r"\begin{longtable}" in tables["59: pairwise, 20"]
    wide = Table((Field("x", "x", ["W" * 60]),)).as_latex().replace(r"\allowbreak{}", "")  # the log is read rightly
    assert compiled({"wide": wide}, tmp_path) != []


def board(size, letters=20):
    names = [f"{k:03}{LETTERS}{LETTERS}"[:letters] for k in range(size)]
    numbers = [k / 7 for k in range(size)]
    return Table((Field("object", "object", names), Field("estimate", "estimate", numbers, "estimate")), title="Board")


def test_letters_become_smaller_before_names_are_broken():
    wide = [Field(f"x{k}", f"x{k}", [12345.678 + k], "estimate") for k in range(7)]
    normal = Table((Field("object", "object", ["a" * 10]), *wide[:5])).as_latex()
    assert "small" not in normal
    assert "p{" not in normal
    broken = Table((Field("object", "object", ["a" * 35]), *wide)).as_latex()
    assert re.search(r"\\(small|footnotesize)\n", broken)
    assert "p{" in broken
    assert broken.startswith("% \\usepackage{booktabs,array}\n")


def test_over_sixty_rows_and_over_a_page_it_goes_on_over_pages():
    assert r"\begin{longtable}" not in board(30).as_latex()
    assert r"\begin{longtable}" in board(50).as_latex()  # taller than a page at 13.6 pt a row
    assert r"\begin{longtable}" in board(61).as_latex(size="scriptsize")
    assert r"\begin{longtable}" in board(3).as_latex(longtable=True)
    assert board(130).first().as_latex().count(r" \\") >= 130  # all rows, though 60 of them print
    with pytest.raises(OptionError, match="taller than a page"):
        board(61).as_latex(longtable=False)


def test_what_is_wider_than_a_page_is_refused():
    many = Table(tuple(Field(f"x{k}", f"x{k}", [0.123 + k], "estimate") for k in range(30)))
    with pytest.raises(OptionError, match=r"30 columns are .* wider than a page") as error:
        many.as_latex()
    assert "columns=" in error.value.remedy
    assert "long table of pairs" in error.value.remedy
    assert r"\begin{tabular}" in many.as_latex(columns=["x1", "x2"])


def test_columns_names_digits_caption_and_label():
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    found = llbt.leaderboard(res).as_latex(
        columns=["object", "estimate"],
        rename={"A": "Model A_1", "estimate": "Log-odds"},
        digits=2,
        caption=r"50% of a_b, \input{x}",
        label="tab:x",
        size="small",
    )
    assert r"\caption{50\% of a\_b, \textbackslash{}input\{x\}}\label{tab:x}" in found
    assert r"Object & Log-odds \\" in found
    assert r"Model A\_1 & 1.9 \\" in found
    assert r"\small" in found
    summary = res.as_text(rename={"A": "Alpha"})
    assert "object[Alpha]" in summary
    assert "object[A]" not in summary
    board = llbt.leaderboard(res)
    lines = board.as_text(columns=["wins", "object"], caption="B").splitlines()
    assert lines[:4] == ["B", "First: A (with 95 % confidence)", "", "Wins Object"]
    assert "| Wins | Object |" in board.as_markdown(columns=["wins", "object"])
    assert ">402<" in board.as_html(columns=["wins"])
    for wrong in (["gone"], "object", ["object", "object"], []):
        with pytest.raises(OptionError):
            board.as_text(columns=wrong)
    with pytest.raises(OptionError, match="label="):
        board.as_latex(label="a b")
    with pytest.raises(OptionError, match="label="):
        board.as_html(label="a b")


@pytest.mark.filterwarnings("ignore::llbt.errors.LLBTWarning")
@pytest.mark.slow
def test_no_answer_prints_a_square_of_labels():
    """Pairs are rows of a long table: no column is headed by an object, judge or system, so none grows with them."""
    labels = set(names(20, 4)) | {name[::-1] for name in names(20, 4)}
    found = set()
    for name, record in all_answers(20):
        fields = record.table().fields
        texts = {str(value) for f in fields if f.kind == "text" for value in f.values}
        found |= labels & texts
        assert not labels & {said for f in fields for said in (f.name, f.heading)}, name
    assert found > set(names(20, 4))  # objects stand in the rows, judges too


def test_digits_of_a_model_table_are_options_of_every_format():
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    three, five = llbt.model_table([res]), llbt.model_table([res], digits=5)
    for name in ("as_text", "as_markdown", "as_html", "as_latex"):
        asked = getattr(three, name)(digits=5)
        assert asked == getattr(five, name)() != getattr(three, name)()
        assert asked == getattr(five.table(), name)(digits=5)
        with pytest.raises(OptionError, match="composed of numbers with 5"):
            getattr(five.table(), name)(digits=2)


def test_html_has_the_label_and_the_size_of_latex():
    board = llbt.leaderboard(llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool()))
    assert board.as_html(label="tab:x", size="small").startswith(
        '<table class="llbt" id="tab:x" style="font-size:91%"><caption'
    )
    plain = board.as_html()
    assert plain == board.as_html(label="tab:x").replace(' id="tab:x"', "")
    assert plain == board.as_html(size="scriptsize").replace(' style="font-size:73%"', "")
    with pytest.raises(OptionError, match="size="):
        board.as_html(size="huge")


@pytest.mark.parametrize(
    ("scale", "heading"),
    [("log_worth", r"$\hat\lambda$"), ("log_odds", r"$2\hat\lambda$"), ("elo", "Elo"), ("probability", r"$\hat\pi$")],
)
def test_estimates_are_headed_by_their_symbol(scale, heading):
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    assert rf" & {heading} & 95\,\% low & High" in llbt.leaderboard(res, scale=scale).as_latex()
    assert rf"Object & {heading} & Std.\ error & 95\,\% low & High" in llbt.worth(res, scale=scale).as_latex()
    assert "& Worth &" in llbt.worth(res, scale=scale).as_latex(rename={"estimate": "Worth"})


def test_stars_are_superscripts_of_the_column_before_them():
    res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    assert r"object{[}+{]} & 0.278$^{**}$ & 1.743 & 0.106 & 2.620 & 0.0088" in res.as_latex()
    assert r"& 0.0088$^{**}$ \\" in res.as_latex(columns=["term", "p_value", "stars"])
    assert "**" not in res.as_latex(columns=["term", "estimate"])


def test_numbers_have_powers_of_ten_and_minus_signs():
    table = Table((Field("p", "p", [1e-10, 1e-20, 0.5], "p_value"), Field("x", "x", [-3.2e9, 1.0, 2.0], "estimate")))
    found = table.as_latex()
    assert r"1.0$\cdot10^{-10}$" in found
    assert r"\textless{}2$\cdot10^{-16}$" in found
    assert r"$-$3.200$\cdot10^{9}$" in found
