"""Fits side by side: the numbers are those of the fits, in every format and through other libraries."""

import re

import lxml.html
import numpy as np
import pandas as pd
import pytest
from statsmodels.iolib.summary2 import summary_col
from support.in_full import in_full

import llbt
from llbt.report.model_table import model_table

TABLE1 = llbt.load_dataset("dras_table1")
SMALL = llbt.fit("object + tie", TABLE1)
LARGE = llbt.fit("object * judge + tie", TABLE1)
FITS = [SMALL, LARGE]
BROKEN = llbt.from_counts(
    pd.DataFrame(
        {
            "object_i": ["a_1%", "a_1%", "B&#|$x$"],
            "object_j": ["B&#|$x$", "<b>\\", "<b>\\"],
            "wins_i": [7, 9, 5],
            "wins_j": [3, 2, 4],
            "ties": [1, 2, 2],
        }
    )
)


def numbers(text):
    """Return the numbers in a text, whatever the minus sign."""
    plain = text.replace("$-$", "-").replace("−", "-").replace(",", "").replace("{*}", "*")
    return [float(found) for found in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", plain)]


def rows_of_text(table):
    lines = table.as_text().splitlines()
    return lines[lines.index(next(line for line in lines if line.startswith("object["))) :]


def test_the_frame_has_the_numbers_of_every_fit():
    frame = model_table(FITS, names=["small", "large"]).to_frame()
    for name, res in zip(["small", "large"], FITS, strict=True):
        own = frame[frame["model"] == name].set_index("term")
        assert sorted(own.index) == sorted(res.names)
        expected = res.to_frame().set_index("term").loc[own.index]
        pd.testing.assert_frame_equal(own.drop(columns="model"), expected, rtol=1e-12)


def test_the_figures_are_those_of_statsmodels_glm():
    figures = model_table(FITS).figures
    for k, res in enumerate(FITS):
        glm = res.to_glm()
        assert figures["deviance"].iloc[k] == pytest.approx(glm.deviance, rel=1e-8)
        means = glm.fittedvalues.to_numpy().reshape(res.counts.shape)  # Σ n log p by their fitted counts
        judgments = (res.counts * np.log(means / res.counts.sum(axis=1, keepdims=True))).sum()
        assert figures["llf"].iloc[k] == pytest.approx(judgments, rel=1e-8)
        assert figures["aic"].iloc[k] == pytest.approx(-2 * judgments + 2 * len(res.params), rel=1e-8)
        assert figures["df_resid"].iloc[k] == glm.df_resid
    assert figures[["n_judgments", "n_comparisons", "n_ties"]].to_numpy().tolist() == [[960, 24, 43]] * 2


def test_terms_stand_by_what_they_describe():
    terms = model_table(FITS).terms
    assert terms[-1] == "tie"
    assert terms[:3] == ("object[A]", "object[B]", "object[C]")


def test_every_number_can_be_read_back_from_text():
    table = model_table([SMALL], stars=False, digits=6)
    lines = rows_of_text(table)
    for k, term in enumerate(SMALL.names):
        assert numbers(lines[2 * k].removeprefix(term)) == pytest.approx([SMALL.params[term]], abs=1e-5)
        assert numbers(lines[2 * k + 1]) == pytest.approx([SMALL.bse[term]], abs=1e-5)
    assert any(numbers(line) == [280.91] for line in lines if line.startswith("Residual deviance"))


@pytest.mark.parametrize("form", ["html", "markdown", "latex"])
def test_every_number_can_be_read_back_from_other_formats(form):
    table = model_table(FITS, stars=False, digits=6)
    text = getattr(table, f"as_{form}")()
    if form == "html":
        cells = [cell.text_content() for cell in lxml.html.fromstring(text).iter("td")]
    else:
        cells = re.split(r"\||&|\\\\", text.replace(r"\(", "(").replace(r"\)", ")"))
    found = [number for cell in cells if len(cell) < 30 for number in numbers(cell)]
    for res in FITS:
        for value in [*res.params, *res.bse, round(res.deviance, 2), round(res.aic, 2)]:
            assert np.min(np.abs(np.array(found) - value)) < 1e-5, value


@pytest.mark.parametrize(
    ("below", "expected"),
    [("std_error", lambda r: [r.bse]), ("statistic", lambda r: [r.tvalues]), (None, lambda r: [])],
)
def test_what_stands_below_is_chosen(below, expected):
    lines = rows_of_text(model_table([SMALL], below=below, digits=6, stars=False))
    values = [column.iloc[0] for column in expected(SMALL)]
    if values:
        assert numbers(lines[1]) == pytest.approx(values, abs=1e-4)
    else:
        assert lines[1].startswith("object[B]")


def test_intervals_have_the_confidence_asked_for():
    table = model_table([SMALL], below="conf_int", confidence=0.9, digits=6)
    low, high = SMALL.conf_int(0.1).iloc[0]
    assert numbers(rows_of_text(table)[1]) == pytest.approx([low, high], abs=1e-5)
    assert any("90 % confidence intervals" in note for note in table.notes)


def test_stars_follow_the_p_values():
    lines = {line.split()[0]: line for line in rows_of_text(model_table([LARGE], below=None)) if line}
    for term, p in LARGE.pvalues.items():
        marks = 3 if p < 0.001 else 2 if p < 0.01 else 1 if p < 0.05 else 0
        assert lines[term].count("*") == marks, term
    assert "*" not in "".join(rows_of_text(model_table([LARGE], stars=False)))


def test_decimals_stand_below_each_other():
    lines = rows_of_text(model_table([SMALL]))[: 2 * len(SMALL.names)]
    assert len({line.rindex(".") for line in lines}) == 1


def test_held_and_aliased_parameters_are_said():
    held = llbt.fit("object + tie", TABLE1, fixed={"tie": -0.5})
    table = model_table([SMALL, held])
    assert "(2): Held, not estimated: tie = -0.5000." in table.notes
    assert np.isnan(table.std_error[table.terms.index("tie"), 1])
    line = next(line for line in rows_of_text(table) if line.startswith("tie"))
    assert numbers(line)[-1] == -0.5
    aliased = llbt.fit("object + LAT + tie", llbt.load_dataset("cems"))
    assert aliased.aliased == ("LAT",)
    assert "(1): 1 not defined because of singularities (NA): LAT." in model_table([aliased]).notes


def test_fits_of_different_tables_are_not_compared_in_silence():
    said = "the fits are not all of one table, so deviances cannot be compared"
    split = model_table([SMALL, llbt.fit("object + tie", TABLE1.pool())])
    assert said in split.notes
    assert split.figures["aic"].nunique() == 1 or np.ptp(split.figures["aic"]) < 1e-9
    assert not any("log-likelihood of" in note for note in split.notes)
    assert said not in model_table(FITS).notes
    fewer = llbt.fit("object + tie", TABLE1.select(where={"judge": ["J1", "J2"]}))
    assert any(
        "of (2) and (1) cannot be compared: they are not of the same judgments" in n
        for n in model_table([SMALL, fewer]).notes
    )
    without = llbt.fit("object", TABLE1.drop_ties())
    said = "(2) and (1) cannot be compared: the outcomes are i, tie, j in one and i, j in the other"
    assert any(said in note for note in model_table([SMALL, without]).notes)
    other = llbt.fit("object + tie", TABLE1, reference="A")
    assert any("reference objects differ" in note for note in model_table([SMALL, other]).notes)


def test_a_saturated_fit_has_deviance_0():
    table = model_table([llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))])
    line = next(line for line in table.as_text().splitlines() if line.startswith("Residual deviance"))
    assert line.split()[-1] == "0"


def test_a_table_without_ties_says_so():
    table = model_table([llbt.fit("object", llbt.load_dataset("citations"))])
    assert next(line for line in table.as_text().splitlines() if line.startswith("Ties")).split() == ["Ties", "—"]


def test_names_with_markup_are_escaped_everywhere():
    table = model_table([llbt.fit("object + tie", BROKEN)], names=["<i>m</i>_1 & 50%"])
    markup = table.as_html()
    assert "<i>" not in markup
    assert "<b>" not in markup
    latex = table.as_latex()
    inside = latex[latex.index(r"\midrule") : latex.index(r"\bottomrule")]
    for line in inside.splitlines()[1:]:
        assert len(re.findall(r"(?<!\\)&", line)) == 1, line  # one column separator, whatever the names hold
    assert not re.search(r"(?<!\\)[%#_]", re.sub(r"\$_[ij]\$", "", latex.partition("\n")[2]))
    markdown = [line for line in table.as_markdown().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in markdown} == {3}


# -- other libraries -------------------------------------------------------------------------------------------


def test_statsmodels_summary_col_takes_the_explicit_fit():
    """Results have no ``.model``, which summary_col asks for; the genuine statsmodels fit behind them has."""
    text = str(summary_col([res.to_glm() for res in FITS], regressor_order=list(LARGE.names), drop_omitted=True))
    first = next(line for line in text.splitlines() if line.startswith("object[A] "))
    assert numbers(first.removeprefix("object[A]")) == pytest.approx(
        [SMALL.params["object[A]"], LARGE.params["object[A]"]], abs=1e-4
    )


def test_maketables_finds_what_its_plug_in_format_names():
    table = model_table(FITS)
    small, large = table.for_maketables()
    frame = large.__maketables_coef_table__
    assert frame.index.name == "Coefficient"
    np.testing.assert_allclose(frame["b"].loc[list(LARGE.names)], LARGE.params)
    np.testing.assert_allclose(frame["se"].loc[list(LARGE.names)], LARGE.bse)
    np.testing.assert_allclose(frame["p"].loc[list(LARGE.names)], LARGE.pvalues)
    np.testing.assert_allclose(frame["ci95l"].loc[list(LARGE.names)], LARGE.conf_int()["conf_low"])
    assert small.__maketables_stat__("N") == 960
    assert small.__maketables_stat__("deviance") == SMALL.deviance
    assert small.__maketables_stat__("r2") is None
    assert set(small.__maketables_default_stat_keys__) <= set(small.__maketables_stat_labels__)
    assert not any(hasattr(small, name) for name in ("params", "bse", "pvalues"))


@pytest.mark.slow
def test_maketables_prints_judgments_not_cells():
    maketables = pytest.importorskip("maketables")
    latex = maketables.ETable(model_table(FITS).for_maketables()).make(type="tex")
    assert "Judgments & 960 & 960" in latex
    assert "280.913 & 107.500" in latex


def test_the_notebook_summary_of_a_fit_says_what_comes_next():
    assert SMALL._repr_html_().endswith("<p>next: worth · pairwise · anova · goodness_of_fit</p>")
    assert "next:" not in SMALL.as_html()
    assert "next:" not in llbt.worth(SMALL)._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "options", "fragment"),
    [
        (SMALL, {}, "expected a list of fits: llbt.model_table([m0, m1])"),
        ([], {}, "results= is empty"),
        ([SMALL, 3], {}, "number 1 is an int"),
        (FITS, {"names": ["a"]}, "expected 2 names, a different one for each fit"),
        (FITS, {"names": ["a", "a"]}, "expected 2 names, a different one for each fit"),
        (FITS, {"below": "se"}, "below='se'"),
        (FITS, {"digits": 0}, "digits=0"),
        (FITS, {"confidence": 95}, "confidence=95"),
    ],
)
def test_what_is_wrong_is_said(arguments, options, fragment):
    with pytest.raises(llbt.errors.OptionError) as error:
        model_table(arguments, **options)
    assert fragment in str(error.value)


# -- which parameters ------------------------------------------------------------------------------------------


def test_parameters_are_kept_dropped_and_renamed():
    c = llbt.load_dataset("dras_table1")
    fits = [llbt.fit("object + tie", c), llbt.fit("object * judge + tie", c)]
    whole = model_table(fits)
    table = model_table(fits, keep=["object", "tie"], rename={"A": "Alpha", "tie": "Ties"})
    assert table.terms == ("object[Alpha]", "object[B]", "object[C]", "Ties")
    assert "9 parameters left out" in table.notes
    frame = whole.to_frame()
    kept = frame[frame["term"].isin(["object[A]", "object[B]", "object[C]", "tie"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(table.to_frame().drop(columns="term"), kept.drop(columns="term"))
    assert model_table(fits, drop=["object:judge"]).terms == model_table(fits, keep=["object", "tie"]).terms
    assert "object[A]" not in model_table(fits, drop=["object[A]"]).terms
    assert table.as_text(columns=["term", "(1)"], rename={"B": "Beta"}).count("object[Beta]") == 1
    pd.testing.assert_frame_equal(table.figures, whole.figures)  # figures are those of the whole fits


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keep": ["gone"]}, "keep= names 'gone'"),
        ({"drop": "tie"}, "drop='tie'"),
        ({"keep": ["tie"], "drop": ["object"]}, "both keep= and drop="),
        ({"drop": ["object", "tie"]}, "leaves no parameter"),
        ({"rename": {"A": "B"}}, "several parameters"),
        ({"rename": ["A"]}, "a dict"),
        ({"digits": 0}, "1 to 15"),
    ],
)
def test_parameters_that_there_are_not_are_refused(options, said):
    fits = [llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())]
    with pytest.raises(llbt.errors.OptionError, match=re.escape(said)):
        model_table(fits, **options)


def test_fits_of_lists_stand_beside_those_of_pairs():
    rng = np.random.default_rng(8)
    said = -np.round(np.array([0.6, 0.1, -0.5]) + rng.gumbel(size=(60, 3)))
    places = np.array([np.unique(row, return_inverse=True)[1] + 1 for row in said])
    r = llbt.from_rankings(pd.DataFrame(places, columns=list("ABC")), objects=list("ABC"))
    lists, plain = llbt.fit("object + tie", r), llbt.fit("object + tie", r.to_comparisons())
    table = llbt.model_table([lists, plain], names=["lists", "pairs"])
    assert set(lists.names) | set(plain.names) == set(table.terms)
    frame = table.to_frame().set_index(["model", "term"])
    for name in lists.names:
        assert frame.loc[("lists", name), "estimate"] == lists.params[name]
        assert frame.loc[("lists", name), "std_error"] == lists.bse[name]
    figures = table.figures.loc["lists"]
    assert (figures["llf"], figures["n_judgments"]) == (lists.llf, 60)
    assert np.isnan(figures["deviance"])
    assert "of pairs and lists cannot be compared: one is of rankings, the other of judgments" in in_full(table)
    alone = llbt.model_table([lists], drop=["object"])
    assert str(alone).startswith("Models of lists and patterns")
    assert all(name.startswith("tie") for name in alone.terms)
