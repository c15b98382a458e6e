"""Kinds of fits side by side: each number is an attribute of its fit, and figures stand only where a fit has them."""

import numpy as np
import pandas as pd
import pytest
from support.in_full import in_full
from support.questions import KINDS, fit_of, smaller

import llbt

CLASSES, CALIBRATED, LARGE = (fit_of(kind) for kind in ("classes", "calibrated", "large"))
TABLE = llbt.model_table([fit_of(kind) for kind in KINDS], names=list(KINDS))


def of(name):
    frame = TABLE.to_frame()
    return frame[frame["model"] == name].set_index("term").drop(columns="model")


@pytest.mark.parametrize("kind", ["plain", "rankings", "patterns"])
def test_columns_of_fits_are_their_frames(kind):
    expected = fit_of(kind).to_frame().set_index("term")
    pd.testing.assert_frame_equal(of(kind).loc[expected.index], expected, check_names=False)


def test_classes_have_a_column_each_and_their_likelihood_together():
    assert [name for name in TABLE.names if name.startswith("classes")] == ["classes class 1", "classes class 2"]
    for label in CLASSES.labels:
        found = of(f"classes class {label}")
        rows = CLASSES.summary().to_frame()
        rows = rows[rows["class"] == label].set_index("term")
        for column in ("estimate", "std_error", "conf_low", "conf_high"):
            np.testing.assert_allclose(found[column], rows[column])
        np.testing.assert_allclose(found["statistic"], found["estimate"] / found["std_error"])
        figures = TABLE.figures.loc[f"classes class {label}"]
        assert (figures["llf"], figures["aic"], figures["bic"]) == (CLASSES.llf, CLASSES.aic, CLASSES.bic)
        assert figures["share"] == CLASSES.shares[label]
    assert "belong to all classes of a fit together" in in_full(TABLE)


def test_calibrated_worths_have_no_likelihood_and_their_labels():
    figures = TABLE.figures.loc["calibrated"]
    assert figures[["deviance", "aic", "bic", "llf", "n_judgments"]].isna().all()
    assert figures["effective_labels"] == CALIBRATED.effective_labels
    assert (figures["n_labels"], figures["n_units"]) == (CALIBRATED.n_labels, CALIBRATED.n_units)
    frame = CALIBRATED.to_frame().set_index("object")
    found = of("calibrated")
    for name in "ABC":
        assert found["estimate"][f"object[{name}]"] == pytest.approx(frame["estimate"][name] - frame["estimate"]["D"])
        apart = llbt.contrasts(CALIBRATED, {"x": {name: 1, "D": -1}}).to_frame()
        assert found["std_error"][f"object[{name}]"] == pytest.approx(apart["std_error"].iloc[0] / 2)
    alone = llbt.model_table([CALIBRATED]).as_text()
    row = next(line for line in alone.splitlines() if line.startswith("Log-likelihood"))
    assert row.split() == ["Log-likelihood", "—"]
    assert "Σ n log p" not in alone


def test_very_many_objects_stand_where_they_are_asked_for():
    alone = llbt.model_table([LARGE])
    assert alone.terms == ("tie",)
    assert "4 parameters left out" in alone.notes
    asked = llbt.model_table([LARGE], keep=["object[A]", "tie"]).to_frame().set_index("term")
    exact = LARGE.t_test(["object[A] = 0", "tie = 0"]).to_frame()
    np.testing.assert_allclose(asked["estimate"], exact["estimate"])
    np.testing.assert_allclose(asked["std_error"], exact["std_error"])
    assert llbt.model_table([LARGE], keep=["object"]).terms == LARGE.names[:4]
    assert TABLE.figures.loc["large", "llf"] == pytest.approx(LARGE.llf) == pytest.approx(fit_of("plain").llf)


def test_aic_and_bic_of_a_prior_of_very_many_objects_are_left_out():
    from support.large import few_are_many
    from support.questions import judged

    with few_are_many(2):
        res = llbt.fit("object + tie", judged(), prior=1.0)
    figures = llbt.model_table([res]).figures.iloc[0]
    assert figures["llf"] == res.llf
    assert figures[["aic", "bic"]].isna().all()


def test_likelihoods_that_do_not_compare_are_said():
    said = [note for note in TABLE.notes if "cannot be compared" in note]
    named = {name for name in TABLE.names for note in said if f"of {name} and plain" in note}
    first = fit_of("plain").basis
    assert named == {
        kind for kind in ("rankings", "patterns", "discrimination") if first.difference(fit_of(kind).basis)
    }
    assert not any("calibrated" in note or "classes" in note for note in said)
    mixed, plain = fit_of("mixed"), smaller("mixed")
    assert not any("cannot be compared" in note for note in llbt.model_table([mixed, plain, CLASSES]).notes)


def test_rows_of_all_kinds_are_read_by_maketables():
    fits = TABLE.for_maketables()
    assert len(fits) == len(TABLE.names)
    by_name = dict(zip(TABLE.names, fits, strict=True))
    assert by_name["calibrated"].__maketables_stat__("llf") is None
    assert by_name["classes class 1"].__maketables_stat__("llf") == CLASSES.llf
    assert by_name["calibrated"].__maketables_stat__("effective_labels") == CALIBRATED.effective_labels


def test_parameters_of_every_kind_are_kept_and_renamed():
    table = llbt.model_table([CLASSES, CALIBRATED], keep=["tie"], rename={"tie": "Ties"})
    assert table.terms == ("Ties",)
    assert table.has_term.all()


def test_the_worths_of_an_answer_alone_are_refused():
    with pytest.raises(llbt.errors.OptionError, match=r"FitPart.*Pass the whole result, as llbt\.judges\.calibrate"):
        llbt.model_table([CALIBRATED.results])
    with pytest.raises(llbt.errors.OptionError, match=r"FitPart.*Pass the whole result, as llbt\.judges\.classes"):
        llbt.model_table([CLASSES.results(1)])
