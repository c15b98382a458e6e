"""Influence of cells against statsmodels, and of judges against refits by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from support.fits import fit_by

import llbt
from llbt import Comparisons, LLBTResults

COLUMNS = ["object_i", "object_j", "wins_i", "ties", "wins_j"]
DRAS = llbt.load_dataset("dras_table1")


def quietly(formula: str, c: Comparisons, **options: object) -> LLBTResults:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", llbt.errors.ClusterWarning)
        return fit_by(formula, c, **options)


def close(found, expected, *, rtol=0.0, atol=0.0):
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=rtol, atol=atol)


def as_cluster(c: Comparisons) -> Comparisons:
    return llbt.from_counts(c.to_frame(), clusters="judge")


# -- cells -----------------------------------------------------------------------------------------------------------

CELL_CASES = {
    "dras": ("object + tie", DRAS.pool(), {}),
    "judges": ("object * judge + tie", DRAS, {}),
    "order": ("object + order", llbt.load_dataset("baseball"), {}),
    "puddings": ("object + tie", llbt.load_dataset("puddings"), {"method": "eliminate"}),
    "held": ("object + tie", DRAS.pool(), {"fixed": {"tie": -1.2}}),
}


@pytest.mark.parametrize("case", list(CELL_CASES))
def test_cells_equal_statsmodels(case: str) -> None:
    formula, c, options = CELL_CASES[case]
    res = quietly(formula, c, **options)
    frame = llbt.influence(res).to_frame()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = res.to_glm().get_influence(observed=False)
        expected = pd.DataFrame(
            {
                "count": res.counts.ravel(),
                "fitted": res.fittedvalues.to_numpy(),
                "hat": theirs.hat_matrix_diag,
                "residual": theirs.resid_studentized,
                "cooks_distance": theirs.cooks_distance[0],
            },
            index=res.fittedvalues.index,
        )
    names = list(res.fittedvalues.index.names)
    found = frame.set_index(names).loc[expected.index]
    assert len(found) == res.n_cells
    for column in expected:
        close(found[column], expected[column], rtol=1e-5, atol=1e-8)
    assert frame["cooks_distance"].is_monotonic_decreasing
    assert frame.columns.tolist() == [*names, *expected.columns]


def test_cells_that_are_fitted_exactly_have_no_distance() -> None:
    frame = llbt.influence(quietly("object + tie", llbt.load_dataset("dras_modpref"))).to_frame()
    close(frame["hat"], np.ones(3), atol=1e-9)
    assert frame[["residual", "cooks_distance"]].isna().all(axis=None)


def test_one_cell_fitted_exactly_stands_last() -> None:
    """A tie effect of its own for judge J2, who judged one pair: its tie is fitted exactly."""
    rows = [("A", "B", 6, 2, 3, "J1"), ("B", "C", 5, 1, 4, "J1"), ("A", "C", 7, 1, 2, "J1"), ("A", "B", 4, 2, 4, "J2")]
    c = llbt.from_counts(pd.DataFrame(rows, columns=[*COLUMNS, "judge"]), covariates="judge")
    frame = llbt.influence(quietly("object + tie * judge", c)).to_frame()
    exact = (frame["judge"] == "J2") & (frame["outcome"] == "tie")
    assert exact.sum() == 1
    assert frame.index[exact][0] == len(frame) - 1
    assert np.isnan(frame.loc[exact, "cooks_distance"].iloc[0])
    assert frame.loc[~exact, "cooks_distance"].notna().all()
    assert frame.loc[~exact, "cooks_distance"].is_monotonic_decreasing


# -- levels ----------------------------------------------------------------------------------------------------------


def log_worths(res: LLBTResults, objects: str = "ABCD") -> np.ndarray:
    return np.array([res.params.get(f"object[{label}]", 0.0) for label in objects])


@pytest.mark.parametrize("kept", ["covariate", "cluster"])
def test_leaving_one_judge_out_is_a_refit(kept: str) -> None:
    c = DRAS if kept == "covariate" else as_cluster(DRAS)
    res = quietly("object + tie", c)
    frame = llbt.influence(res, by="judge").to_frame()
    told = ["judge", "judgments", "object", "estimate", "without", "change", "largest", "p_adjusted"]
    assert frame.columns.tolist() == told
    assert len(frame) == 16
    rows = DRAS.to_frame()
    changes = {}
    for judge in ("J1", "J2", "J3", "J4"):
        rest = llbt.from_counts(rows[rows["judge"] != judge], covariates="judge")
        without = log_worths(quietly("object + tie", rest.pool()))
        own = frame[frame["judge"] == judge]
        assert own["object"].tolist() == list("ABCD")
        close(own["estimate"], log_worths(res), atol=1e-9)
        close(own["without"], without, atol=1e-8)
        close(own["change"], without - log_worths(res), atol=1e-8)
        changes[judge] = np.abs(without - log_worths(res)).max()
        close(own["largest"], np.full(4, changes[judge]), atol=1e-8)
        assert (own["judgments"] == rows.loc[rows["judge"] == judge, ["wins_i", "ties", "wins_j"]].sum().sum()).all()
    assert list(dict.fromkeys(frame["judge"])) == sorted(changes, key=changes.get, reverse=True)


def test_printed_is_a_row_per_judge_with_the_object_that_moves_most() -> None:
    found = llbt.influence(quietly("object + tie", DRAS), by="judge")
    assert found.levels is not None
    frame, levels = found.to_frame(), found.levels.to_frame()
    told = ["judge", "judgments", "object", "estimate", "without", "change", "p_adjusted"]
    assert levels.columns.tolist() == told
    most = frame.loc[frame.groupby("judge")["change"].apply(lambda change: change.abs().idxmax())].set_index("judge")
    pd.testing.assert_frame_equal(levels.set_index("judge"), most.loc[levels["judge"], levels.columns[1:]])
    close(levels["change"].abs(), most.loc[levels["judge"], "largest"], atol=1e-12)
    assert found.as_text().count("J3") == 1
    assert llbt.influence(quietly("object + tie", DRAS)).levels is None


@pytest.mark.slow
def test_many_judges_are_cut_where_they_are_printed() -> None:
    rows = DRAS.to_frame()
    many = pd.concat([rows.assign(judge=rows["judge"] + str(k)) for k in range(9)])
    found = llbt.influence(quietly("object + tie", llbt.from_counts(many, clusters="judge")), by="judge")
    assert "… 6 more rows" in found.as_text()
    assert found.levels is not None
    assert len(found.levels.to_frame()) == 36
    assert len(found.to_frame()) == 36 * 4


def test_objects_that_a_class_does_not_compare_say_nothing_of_a_level() -> None:
    """C has no log-worth at class x with or without a judge: it is not what moves, and no level is infinite for it."""
    rows = [(i, j, 5, 2, 3, judge, "y") for i, j in ("AB", "BC", "AC") for judge in ("J1", "J2", "J3")]
    rows += [("A", "B", k, 1, 3, f"J{k}", "x") for k in (1, 2, 3)]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "judge", "class"])
    table = llbt.from_counts(frame.rename(columns={"class": "group"}), covariates="group", clusters="judge")
    found = llbt.influence(quietly("object * group + tie", table), by="judge", at={"group": "x"})
    assert np.isfinite(found.to_frame()["largest"]).all()
    assert found.levels is not None
    assert "C" not in found.levels.to_frame()["object"].tolist()


def test_a_cluster_and_a_covariate_say_the_same() -> None:
    a, b = (llbt.influence(quietly("object + tie", c), by="judge").to_frame() for c in (DRAS, as_cluster(DRAS)))
    assert a[["judge", "object"]].equals(b[["judge", "object"]])
    close(a[["estimate", "without", "change", "largest"]], b[["estimate", "without", "change", "largest"]], atol=1e-8)


def test_options_of_the_fit_are_kept_when_a_judge_is_left_out() -> None:
    rows = DRAS.to_frame()
    rest = llbt.from_counts(rows[rows["judge"] != "J2"], covariates="judge")
    for options in ({"prior": "jeffreys"}, {"prior": 9.0}, {"fixed": {"tie": -1.0}}, {"reference": "A"}):
        frame = llbt.influence(quietly("object + tie", DRAS, **options), by="judge").to_frame()
        expected = log_worths(quietly("object + tie", rest, **options))
        close(frame.loc[frame["judge"] == "J2", "without"], expected, atol=1e-7)


def test_robust_fits_have_the_same_influence() -> None:
    plain = llbt.influence(quietly("object + tie", DRAS), by="judge").to_frame()
    robust = llbt.influence(quietly("object + tie", DRAS, cov_type="cluster", groups="judge"), by="judge").to_frame()
    pd.testing.assert_frame_equal(plain, robust)


def test_worths_with_covariates_are_compared_where_at_says() -> None:
    c = llbt.load_dataset("cems")
    res = quietly("object * ENG + tie", c)
    first = c.to_frame()["ENG"].min()
    frame = llbt.influence(res, by="SEX", at={"ENG": first}).to_frame()
    gone = frame["SEX"].iloc[0]
    rest = c.select(where={"SEX": [level for level in sorted(c.to_frame()["SEX"].unique()) if level != gone]})
    expected = llbt.worth(quietly("object * ENG + tie", rest), at={"ENG": first}, scale="log_worth").to_frame()
    own = frame[frame["SEX"] == gone].set_index("object")["without"]
    close(own, expected.set_index("object")["estimate"][own.index], atol=1e-8)


def test_a_level_without_which_nothing_can_be_fitted_comes_first() -> None:
    """Only J2 compared C: without J2 the table has no C. Without J1 there is a fit."""
    rows = [("A", "B", 6, 2, 3, "J1"), ("A", "B", 4, 1, 2, "J2"), ("B", "C", 5, 2, 4, "J2"), ("A", "C", 5, 1, 3, "J2")]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "judge"])
    for role in ("covariates", "clusters"):
        res = quietly("object + tie", llbt.from_counts(frame, **{role: "judge"}), reference="A")
        found = llbt.influence(res, by="judge").to_frame()
        assert found["judge"].tolist() == ["J2"] * 3 + ["J1"] * 3
        own = found[found["judge"] == "J2"].set_index("object")
        assert np.isnan(own.loc["C", "without"])
        assert np.isnan(own.loc["C", "change"])
        assert np.isinf(own["largest"]).all()
        assert np.isfinite(found.loc[found["judge"] == "J1", "without"]).all()


def test_a_level_that_alone_keeps_estimates_finite_comes_first() -> None:
    """Without J2 object A wins everything."""
    rows = [("A", "B", 6, 0, 0, "J1"), ("B", "C", 4, 1, 2, "J1"), ("A", "B", 4, 1, 2, "J2"), ("B", "C", 5, 2, 4, "J2")]
    c = llbt.from_counts(pd.DataFrame(rows, columns=[*COLUMNS, "judge"]), covariates="judge")
    res = quietly("object + tie", c)
    table = llbt.influence(res, by="judge")
    found = table.to_frame()
    assert found["judge"].iloc[0] == "J2"
    assert found.loc[found["judge"] == "J2", "without"].isna().all()
    assert "NA" in table.as_text()


def test_the_only_level_leaves_nothing() -> None:
    c = DRAS.select(where={"judge": "J1"})
    found = llbt.influence(quietly("object + tie", c), by="judge").to_frame()
    assert found["judge"].tolist() == ["J1"] * 4
    assert found["without"].isna().all()


def test_a_level_without_judgments_changes_nothing() -> None:
    rows = DRAS.to_frame()
    nobody = rows[rows["judge"] == "J1"].assign(judge="J9", wins_i=0, ties=0, wins_j=0)
    c = llbt.from_counts(pd.concat([rows, nobody]), clusters="judge")
    found = llbt.influence(quietly("object + tie", c), by="judge").to_frame().set_index(["judge", "object"])
    expected = llbt.influence(quietly("object + tie", DRAS), by="judge").to_frame().set_index(["judge", "object"])
    close(found.loc[expected.index, "without"], expected["without"], atol=1e-8)


@pytest.mark.parametrize("by", ["jugde", "object", "ENG"])
def test_unknown_levels(by: str) -> None:
    with pytest.raises(
        llbt.errors.OptionError, match=f"influence: by='{by}' is not a column of this table; it has 'judge'"
    ):
        llbt.influence(quietly("object + tie", DRAS), by=by)


def test_levels_that_were_pooled_away() -> None:
    with pytest.raises(llbt.errors.OptionError, match="influence: by='judge' is not a column of this table"):
        llbt.influence(quietly("object + tie", DRAS.pool()), by="judge")


def test_a_formula_without_worths() -> None:
    with pytest.raises(llbt.errors.DesignError, match="no term for the worths"):
        llbt.influence(quietly("tie", DRAS), by="judge")


# -- Dras's question -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dras_table1", "dras_table1_as_analysed"])
def test_j3_is_the_most_influential_judge(name: str) -> None:
    c = llbt.load_dataset(name)
    for kept in (c, as_cluster(c)):
        frame = llbt.influence(quietly("object + tie", kept), by="judge").to_frame()
        largest = frame.groupby("judge")["largest"].first()
        assert frame["judge"].iloc[0] == largest.idxmax() == "J3"
        assert largest["J3"] > 3 * largest.drop("J3").max()


@pytest.mark.parametrize("name", ["dras_table1", "dras_table1_as_analysed"])
def test_the_question_of_dras_in_two_calls(name: str) -> None:
    """Do the judges express a preference at all, and do they disagree? They do, and it is J3 about A and B."""
    c = llbt.load_dataset(name)
    none, same, differ = (quietly(formula, c) for formula in ("tie", "object + tie", "object * judge + tie"))
    steps = llbt.anova(none, same, differ).to_frame()
    p = steps["p_value"].dropna()
    assert len(p) == 2
    assert (p < 1e-20).all()
    assert steps["df"].dropna().tolist() == [3, 9]
    assert llbt.influence(same, by="judge").to_frame()["judge"].iloc[0] == "J3"
    terms = differ.tvalues[[term for term in differ.names if ":judge[" in term]].abs()
    assert len(terms) == 9
    large = {"object[A]:judge[J3]", "object[B]:judge[J3]"}
    assert set(terms.index[terms > 2]) == large
    assert terms[list(large)].min() > 4
    assert terms.drop(list(large)).max() < 1.1
