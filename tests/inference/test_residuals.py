"""Standardized residuals against R's figures, the score test behind them, and what is printed."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.inference.residuals import residuals, standardized_residuals

# R's residuals at gnm's unpolished estimates, with counts of hundreds (as in test_reference).
CELL = 1e-6

TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
SCHOOLS = ["LO", "PA", "MI", "SG", "BA", "ST"]


def merged(labels):
    """Cells (first wins, tie, second wins) of prefmod's pairs (1,2), (1,3), (2,3), …; the smaller label is i here."""
    cells = []
    for a, b in [(labels[i], labels[j]) for j in range(1, len(labels)) for i in range(j)]:
        i, j = sorted((a, b))
        cells += [(i, j, outcome) for outcome in (("i", "tie", "j") if (i, j) == (a, b) else ("j", "tie", "i"))]
    return cells


def home_and_away():
    pairs = [(TEAMS[i], TEAMS[j]) for j in range(1, 7) for i in range(j)]
    away = [(b, a, outcome) for a, b in pairs for outcome in "ji"]
    return [(a, b, outcome) for a, b in pairs for outcome in "ij"] + away


FITS = {
    "extras_dras_multi_tie": (
        "dras_table1_as_analysed",
        "object + tie",
        [(i, j, outcome) for i, j in itertools.combinations("ABCD", 2) for outcome in ("tie", "i", "j")],
    ),
    "extras_cems_llbt_undec": ("cems", "object + tie", merged(SCHOOLS)),
    "extras_baseball_llbt_pos": ("baseball", "object + order", home_and_away()),
}


def fitted(data, formula):
    return llbt.fit(formula, llbt.load_dataset(data).pool())


def by_cell(table):
    frame = table.to_frame()
    return frame.set_index(["object_i", "object_j", "outcome"])


@pytest.fixture(scope="module")
def cems():
    return fitted("cems", "object + tie")


@pytest.mark.parametrize("file", list(FITS))
def test_they_are_those_of_r(reference, file):
    data, formula, cells = FITS[file]
    figures, res = reference(file), fitted(data, formula)
    close = {"rtol": 0, "atol": CELL}
    pearson, deviance = by_cell(residuals(res)), by_cell(residuals(res, kind="deviance"))
    assert len(pearson) == len(cells) == res.n_cells
    np.testing.assert_allclose(deviance.loc[cells, "residual"], figures["rstandard"], **close)  # R's rstandard(fit)
    expected = np.array(figures["resid_pearson"]) / np.sqrt(1 - np.array(figures["hat"]))  # type = "pearson"
    np.testing.assert_allclose(pearson.loc[cells, "residual"], expected, **close)
    np.testing.assert_allclose(pearson.loc[cells, "fitted"], figures["fitted"], **close)
    counts = np.add(figures["fitted"], figures["resid_response"])
    np.testing.assert_allclose(pearson.loc[cells, "count"], counts, **close)


def test_their_squares_are_score_tests_of_one_cell(cems):
    """Agresti (2002), section 4.5.5: r² is the score statistic for a parameter of its own for the cell."""
    residual = standardized_residuals(cems)
    exog, y, mu = cems.to_glm().model.exog, cems.counts.ravel(), cems.solution.means.ravel()
    for cell in (0, 7, 44):
        own = np.zeros(len(y))
        own[cell] = 1
        z = np.column_stack([exog, own])
        score = z.T @ (y - mu)
        statistic = score @ np.linalg.solve(z.T @ (mu[:, None] * z), score)
        assert residual[cell] ** 2 == pytest.approx(statistic, rel=1e-6)


def test_the_largest_come_first_and_all_are_in_the_frame(cems):
    table = residuals(cems, most=3)
    frame = table.to_frame()
    assert list(frame) == ["object_i", "object_j", "outcome", "count", "fitted", "residual"]
    assert len(frame) == cems.n_cells
    assert (np.diff(frame["residual"].abs()) <= 0).all()
    assert frame["residual"].tolist()[0] == pytest.approx(-7.6681, abs=1e-3)
    text = table.as_text()
    assert table.shown == (0, 1, 2)
    assert "BA beats ST less often" in text
    assert "ST beats BA more often" in text
    assert "BA and MI tie more often" in text
    assert "MI beats BA" not in text
    assert "… 42 smaller ones" in text
    beyond = int((frame["residual"].abs() > 2).sum())
    assert f"{beyond} of 45 residuals" in text


def test_words_follow_the_sign_of_every_row(cems):
    table = residuals(cems, most=1000)
    frame, words = table.to_frame(), list(table.fields[-1].values)
    assert len(words) == len(frame)
    for row, sentence in zip(frame.itertuples(), words, strict=True):
        assert sentence.endswith("more often" if row.count > row.fitted else "less often")
        winner, loser = (row.object_i, row.object_j) if row.outcome == "i" else (row.object_j, row.object_i)
        start = f"{row.object_i} and {row.object_j} tie" if row.outcome == "tie" else f"{winner} beats {loser}"
        assert sentence.startswith(start + " ")
    assert table.more == ""


def test_covariates_have_their_columns():
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"))
    frame = residuals(res).to_frame()
    assert list(frame) == ["object_i", "object_j", "judge", "outcome", "count", "fitted", "residual"]
    assert frame.iloc[0][["object_i", "object_j", "judge", "outcome"]].tolist() == ["A", "D", "J3", "j"]


@pytest.mark.parametrize("kind", ["pearson", "deviance"])
def test_without_ties_one_cell_of_each_comparison_is_printed(kind):
    res = fitted("baseball", "object + order")
    table = residuals(res, kind=kind, most=100)
    frame = table.to_frame()
    assert len(frame) == 84
    printed = frame.iloc[list(table.shown)]
    assert len(printed) == 42
    assert not printed.duplicated(["object_i", "object_j"]).any()
    assert (printed["residual"] > 0).all()
    assert "less often" not in table.as_text()
    if kind == "pearson":
        sides = frame.pivot(index=["object_i", "object_j"], columns="outcome", values="residual")
        np.testing.assert_allclose(sides["i"], -sides["j"], rtol=1e-6)
    assert "object_i was shown first" in table.notes


def test_a_saturated_fit_has_no_residuals():
    table = residuals(llbt.fit("object + tie", llbt.load_dataset("dras_modpref")))
    assert table.to_frame()["residual"].isna().all()
    text = table.as_text()
    assert "every cell is fitted exactly" in text
    assert text.count("NA") == 3


def test_cells_that_are_fitted_exactly_come_last():
    """Object d meets only a: its one comparison is fitted exactly, the circle a, b, c is not."""
    frame = pd.DataFrame(
        [("a", "b", 7, 2), ("b", "c", 6, 3), ("a", "c", 4, 5), ("a", "d", 3, 4)],
        columns=["object_i", "object_j", "wins_i", "wins_j"],
    )
    table = residuals(llbt.fit("object", llbt.from_counts(frame)), most=4)
    residual = table.to_frame()["residual"]
    assert residual.isna().tolist() == [False] * 6 + [True] * 2
    assert residual.iloc[0] == pytest.approx(-residual.iloc[1])
    assert "2 cells are fitted exactly" in table.as_text()
    assert len(table.shown) == 4
    assert "fitted exactly" in list(table.fields[-1].values)


def test_swapping_i_and_j_changes_nothing():
    frame = llbt.load_dataset("cems").pool().to_frame()
    swapped = frame.rename(
        columns={"object_i": "object_j", "object_j": "object_i", "wins_i": "wins_j", "wins_j": "wins_i"}
    )
    first, second = (by_cell(residuals(llbt.fit("object + tie", llbt.from_counts(f)))) for f in (frame, swapped))
    np.testing.assert_allclose(first["residual"], second.loc[first.index, "residual"], atol=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "anscombe"}, r"kind='anscombe'; expected 'pearson' or 'deviance'"),
        ({"most": 0}, r"most=0; expected an integer of at least 1"),
        ({"most": 2.5}, r"most=2.5"),
        ({"most": True}, r"most=True"),
    ],
)
def test_errors(cems, options, message):
    with pytest.raises(llbt.errors.OptionError, match=message):
        residuals(cems, **options)


def test_nothing_warns(cems):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        residuals(cems).as_html()
        residuals(llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))).as_latex()
