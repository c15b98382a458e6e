"""Every figure of Dras (2015) that can be computed, against what the paper prints."""

import math
import warnings

import pandas as pd
from support.paper_pages import held_by, rows_of, to_hold

import llbt

ROWS = rows_of("dras-2015")
TABLE = llbt.load_dataset("dras_table1")
ANALYSED = llbt.load_dataset("dras_table1_as_analysed")


def made(*counts: int) -> llbt.LLBTResults:
    """Return the fit of one pair: wins of the first, ties, wins of the second."""
    frame = pd.DataFrame([("+", "-", *counts)], columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])
    return llbt.fit("object + tie", llbt.from_counts(frame))


def quietly(formula: str, table: llbt.Comparisons) -> llbt.LLBTResults:
    """Return a fit, without the warning that γ is 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.TiesWarning)
        return llbt.fit(formula, table)


def test_every_row_is_held() -> None:
    assert held_by(__file__) == to_hold(ROWS)


def test_output_of_modpref() -> None:
    res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    columns = ((res.params, 4), (res.bse, 4), (res.params / res.bse, 3), (res.pvalues, 4))
    found = [round(column.iloc[k], places) for k in (0, 1) for column, places in columns]
    published = [0.2778, 0.1060, 2.620, 0.0088, -0.6551, 0.2300, -2.848, 0.0044]
    assert found == published
    assert len(published) == ROWS["Section 5, ModPref, output"].numbers
    odds = llbt.pairwise(res, scale="odds_ratio").to_frame()["estimate"].iloc[0]
    assert (round(res.deviance, 9), res.df_resid, round(odds, 2)) == (0, 0, 1.74)
    assert ROWS["Section 5, ModPref, fit"].numbers == 3


def test_artificial_pairs() -> None:
    for n in (1, 40, 1000):
        equal = made(n, n, n)
        assert abs(equal.params).max() < 1e-12
    assert len(equal.params) == ROWS["Section 5, EqualPref"].numbers
    ties = made(10, 100, 10)
    assert ties.params["tie"] > 0
    assert ties.pvalues["tie"] < 0.001
    assert ROWS["Section 5, NoPref"].numbers == 1
    decided = made(60, 2, 60)
    assert decided.params["tie"] < 0
    assert decided.pvalues["tie"] < 0.001
    assert abs(decided.params["object[+]"]) < 1e-12
    assert ROWS["Section 5, StrongPref"].numbers == 2


def test_collins() -> None:
    c = llbt.load_dataset("dras_collins")
    res = llbt.fit("object + tie", c)
    found = (round(res.params["tie"], 3), round(res.pvalues["tie"], 4), round(res.pvalues.iloc[0], 4))
    assert found == (0.303, 0.0432, 0.0001)
    assert len(found) == ROWS["Section 5, Collins et al."].numbers


def test_sign_tests_say_the_same() -> None:
    same = 0
    for name in ("dras_modpref", "dras_collins"):
        c = llbt.load_dataset(name)
        wald = llbt.fit("object + tie", c).pvalues.iloc[0]
        assert (llbt.classical.sign_test(c).p_value[0] < 0.05) == (wald < 0.05)
        same += 1
    assert same == ROWS["Section 5, sign test"].numbers


def test_table_1() -> None:
    frame = TABLE.to_frame()
    assert len(frame) == 24
    per_judge = frame.groupby("judge")[["wins_i", "ties", "wins_j"]].sum().sum(axis=1)
    assert per_judge.tolist() == [240] * ROWS["Table 1, counts"].numbers * 4
    by_wins = llbt.classical.ranking_scores(TABLE, reading="gt_others").objects
    assert by_wins == ("A", "D", "B", "C")
    assert ROWS["Section 2, order by wins"].numbers == 1
    assert (TABLE.n_ties, TABLE.n_judgments) == (43, 960)
    assert ROWS["Section 2, ties"].numbers == 1
    won = frame.assign(first=frame["wins_i"] > frame["wins_j"]).pivot(
        index=["object_i", "object_j"], columns="judge", values="first"
    )
    others = won.drop(columns="J3")
    assert (others.nunique(axis=1) == 1).all()
    assert won.index[won["J3"] != others["J1"]].tolist() == [("A", "D"), ("B", "C")]
    assert ROWS["Section 2, judge J3"].numbers == 1


def test_pooled_fits_of_table_1() -> None:
    for table in (TABLE, ANALYSED):
        res = llbt.fit("object + tie", table.pool())
        assert llbt.worth(res).to_frame()["object"].tolist() == ["A", "D", "B", "C"]
        assert res.params["tie"] < -1.8
        assert res.pvalues["tie"] < 1e-9
    assert ROWS["Section 5, order and ties"].numbers == 2
    fits = {
        name: [quietly(formula, table.pool()) for formula in ("object + tie", "object")]
        for name, table in (("printed", TABLE), ("analysed", ANALYSED))
    }
    with_ties, without = fits["analysed"]
    found = (round(with_ties.deviance, 3), with_ties.df_resid, round(without.deviance, 2), without.df_resid)
    assert found == (30.646, 8, 221.22, 9)
    assert len(found) == ROWS["Section 5, deviances"].numbers
    assert math.floor(without.deviance / with_ties.deviance) == 7
    assert ROWS["Section 5, ratio of deviances"].numbers == 1
    assert [round(res.deviance, 3) for res in fits["printed"]] == [30.455, 220.947]  # what the page says of it


def test_subject_covariate() -> None:
    for table in (TABLE, ANALYSED):
        p = llbt.fit("object * judge + tie", table).pvalues
        p = p[p.index.str.contains(":judge")]
        expected = {"object[A]:judge[J3]", "object[B]:judge[J3]"}
        assert len(p) == 9
        assert set(p.index[p < 0.001]) == expected
        assert p.drop(list(expected)).min() > 0.2
        assert len(expected) == ROWS["Section 5, subject covariate"].numbers
