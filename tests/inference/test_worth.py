"""Worths on every scale: by the delta method, as published, averaged, and at chosen classes."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.worths import SCALES, TABLE1, fit, partly_connected

import llbt


def delta_method(f, res, step=1e-5):
    """Standard errors of f(parameters) by central differences; f returns one value per object."""
    params = res.params.fillna(0.0)
    names = [name for name in res.names if np.isfinite(res.bse[name])]
    gradient = []
    for name in names:
        up, down = params.copy(), params.copy()
        up[name] += step
        down[name] -= step
        gradient.append((f(up) - f(down)) / (2 * step))
    gradient = np.array(gradient)
    cov = res.cov_params().loc[names, names].to_numpy()
    return np.sqrt(np.einsum("pk,pq,qk->k", gradient, cov, gradient))


def interval(scale, estimate, error, confidence):
    """Wald intervals, on the logit scale for probabilities and on the log scale for odds."""
    z = stats.norm.ppf(0.5 + confidence / 2)
    if scale == "probability":
        half = z * error / (estimate * (1 - estimate))
        return special.expit(special.logit(estimate) - half), special.expit(special.logit(estimate) + half)
    if scale == "odds_ratio":
        return estimate * np.exp(-z * error / estimate), estimate * np.exp(z * error / estimate)
    return estimate - z * error, estimate + z * error


def assert_worths(found, res, scale, log_worth, objects, confidence=0.95):
    """Compare one class of a worth table with log-worths as a function of the parameters."""

    def on_scale(params):
        lam = np.array([log_worth(params, o) for o in objects])
        return SCALES[scale](lam - lam[list(objects).index(res.design.reference)])

    expected = pd.DataFrame({"object": list(objects), "estimate": on_scale(res.params.fillna(0.0))})
    expected["std_error"] = delta_method(on_scale, res)
    known = expected["estimate"].to_numpy(), expected["std_error"].to_numpy()
    expected["conf_low"], expected["conf_high"] = interval(scale, *known, confidence)
    expected = expected.sort_values("estimate", ascending=False).reset_index(drop=True)
    found = found[expected.columns].reset_index(drop=True)
    assert found["object"].tolist() == expected["object"].tolist()
    numbers = expected.columns[1:]
    np.testing.assert_allclose(found[numbers], expected[numbers], rtol=2e-6, atol=1e-9)


def main_effect(params, o):
    return params.get(f"object[{o}]", 0.0)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("reference", [None, "B"])
def test_worths_on_every_scale(scale, reference):
    res = fit("object + tie", TABLE1, reference=reference)
    for confidence in (0.95, 0.5):
        frame = llbt.worth(res, scale=scale, confidence=confidence).to_frame()
        assert frame.columns.tolist() == ["object", "estimate", "std_error", "conf_low", "conf_high"]
        assert_worths(frame, res, scale, main_effect, "ABCD", confidence)


@pytest.mark.parametrize("scale", SCALES)
def test_worths_by_class_on_every_scale(by_judge, scale):
    frame = llbt.worth(by_judge, scale=scale).to_frame()
    assert frame["judge"].tolist() == [judge for judge in ("J1", "J2", "J3", "J4") for _ in range(4)]
    for judge, rows in frame.groupby("judge"):

        def log_worth(params, o, judge=judge):
            return main_effect(params, o) + params.get(f"object[{o}]:judge[{judge}]", 0.0)

        assert_worths(rows, by_judge, scale, log_worth, "ABCD")


def test_the_published_worths():
    """Dras (2015): A .658, D .295, B .033, C .013 on the pooled table."""
    frame = llbt.worth(fit("object + tie", TABLE1.pool())).to_frame()
    assert frame["object"].tolist() == ["A", "D", "B", "C"]
    assert frame["estimate"].round(3).tolist() == [0.658, 0.295, 0.033, 0.013]
    assert frame["estimate"].sum() == pytest.approx(1)


def test_worths_do_not_depend_on_the_reference_or_the_coding():
    tables = [
        llbt.worth(fit(formula, TABLE1, reference=reference)).to_frame()
        for formula in ("object + tie", "C(object, Sum) + tie", "C(object, Treatment('C')) + tie")
        for reference in (None, "B")
    ]
    for other in tables[1:]:
        pd.testing.assert_frame_equal(other, tables[0], rtol=1e-7)


def test_intervals_stay_inside_their_range():
    frame = pd.DataFrame(
        [("a", "b", 999, 1, 1), ("b", "c", 300, 0, 1), ("a", "c", 50, 0, 1)],
        columns=["object_i", "object_j", "wins_i", "ties", "wins_j"],
    )
    res = fit("object + tie", llbt.from_counts(frame))
    for confidence in (0.5, 0.95, 0.999999):
        shares = llbt.worth(res, confidence=confidence).to_frame()
        assert ((shares["conf_low"] > 0) & (shares["conf_low"] < shares["estimate"])).all()
        assert ((shares["estimate"] < shares["conf_high"]) & (shares["conf_high"] < 1)).all()
        odds = llbt.worth(res, scale="odds_ratio", confidence=confidence).to_frame()
        assert (odds["conf_low"] > 0).all()
    assert shares["estimate"].max() > 0.99


def test_the_reference_has_no_error_on_the_scales_against_it(plain):
    for scale, value in {"log_worth": 0, "log_odds": 0, "elo": 0, "odds_ratio": 1}.items():
        row = llbt.worth(plain, scale=scale).to_frame().set_index("object").loc["D"]
        assert row["estimate"] == value
        assert row["std_error"] == 0
        assert row["conf_low"] == row["conf_high"] == value


def test_worths_at_chosen_classes(by_judge):
    everything = llbt.worth(by_judge).to_frame()
    for at in ({"judge": "J3"}, {"judge": ["J3"]}):
        found = llbt.worth(by_judge, at).to_frame()
        pd.testing.assert_frame_equal(found, everything.query("judge == 'J3'").reset_index(drop=True))
    two = llbt.worth(by_judge, at={"judge": ["J4", "J1"]}).to_frame()
    assert two["judge"].unique().tolist() == ["J4", "J1"]


def test_worths_averaged_over_the_judgments(rich):
    res = fit("object * judge + object:age + tie", rich)
    rows = rich.to_frame()
    weight = rows[["wins_i", "ties", "wins_j"]].sum(axis=1)
    share = weight[rows["judge"] == "J2"].sum() / weight.sum()
    age = (weight * rows["age"]).sum() / weight.sum()

    def log_worth(params, o):
        interaction = share * params.get(f"object[{o}]:judge[J2]", 0.0)
        return main_effect(params, o) + interaction + age * params.get(f"object[{o}]:age", 0.0)

    for scale in SCALES.keys() - {"probability"}:  # of which the mean is in test_contexts.py
        table = llbt.worth(res, at="average", scale=scale)
        assert table.to_frame().columns[0] == "object"
        assert_worths(table.to_frame(), res, scale, log_worth, "abcd")
        assert any("averaged over the judgments" in note for note in table.notes)


def test_average_without_covariates_is_the_worth_itself(plain):
    pd.testing.assert_frame_equal(llbt.worth(plain, at="average").to_frame(), llbt.worth(plain).to_frame())


def test_numbers_default_to_their_mean_over_the_judgments_and_a_note_says_so(rich):
    res = fit("object * age + tie", rich)
    rows = rich.to_frame()
    weight = rows[["wins_i", "ties", "wins_j"]].sum(axis=1)
    mean = (weight * rows["age"]).sum() / weight.sum()
    assert mean != pytest.approx(rows["age"].mean(), rel=1e-5)  # not the mean over the rows
    table = llbt.worth(res)
    assert table.to_frame()["age"].unique() == pytest.approx([mean])
    (note,) = [note for note in table.notes if "age" in note]
    assert "mean over the judgments" in note
    assert "at=" in note
    for age in (mean, 20.0, 77.0):
        at = None if age == mean else {"age": age}

        def log_worth(params, o, age=age):
            return main_effect(params, o) + age * params.get(f"object[{o}]:age", 0.0)

        assert_worths(llbt.worth(res, at).to_frame(), res, "probability", log_worth, "abcd")
    several = llbt.worth(res, at={"age": [20, 40]}).to_frame()
    assert several["age"].tolist() == [20] * 4 + [40] * 4


@pytest.mark.parametrize("scale", SCALES)
def test_worths_from_object_covariates(rich, scale):
    price = {"a": 3.0, "b": 1.0, "c": 4.0, "d": 2.0}
    res = fit("price + price:judge + tie", rich)
    for judge, extra in (("J1", 0.0), ("J2", 1.0)):
        frame = llbt.worth(res, {"judge": judge}, scale).to_frame()

        def log_worth(params, o, extra=extra):
            return price[o] * (params["price"] + extra * params["price:judge[J2]"])

        assert_worths(frame, res, scale, log_worth, "abcd")


def test_worths_with_side_covariates_are_of_equal_sides(rich):
    res = fit("object + length + tie", rich)
    assert res.bse["length"] > 0
    table = llbt.worth(res)
    assert_worths(table.to_frame(), res, "probability", main_effect, "abcd")
    assert any("length" in note and "both sides" in note for note in table.notes)


def test_the_length_cancels_where_it_is_the_same(rich):
    res = fit("object + length + tie", rich)
    frames = [llbt.worth(res, at={"length": value}).to_frame().drop(columns="length") for value in (1, 4)]
    pd.testing.assert_frame_equal(*frames, rtol=1e-9)


def test_worths_that_the_table_does_not_determine_are_nan():
    res = partly_connected()
    assert len(res.aliased) == 1
    for scale in ("log_worth", "log_odds", "elo", "odds_ratio"):
        frame = llbt.worth(res, scale=scale).to_frame()
        assert frame.query("judge == 'J1'")["estimate"].notna().all()
        unknown = frame.query("judge == 'J2' and object == 'c'")  # J2 compared a and b alone
        assert unknown[["estimate", "std_error", "conf_low", "conf_high"]].isna().all(axis=None)
        assert frame.query("judge == 'J2' and object != 'c'")["estimate"].notna().all()


def test_shares_of_a_class_are_those_of_the_objects_that_it_compares():
    """J2 judged a against b 3 to 3, once undecided: half each, and no share of c, as a note says."""
    table = llbt.worth(partly_connected())
    frame = table.to_frame().set_index(["judge", "object"])["estimate"]
    assert frame["J1"].sum() == pytest.approx(1)
    assert frame["J2"][["a", "b"]].tolist() == pytest.approx([0.5, 0.5])
    assert np.isnan(frame["J2"]["c"])
    assert "NA at judge J2: the table does not compare 'c' with the others there" in table.notes


def test_worths_of_held_parameters_are_known_numbers():
    res = fit("object + tie", TABLE1, fixed={"object[A]": 0.5})
    frame = llbt.worth(res, scale="log_worth").to_frame().set_index("object")
    assert frame.loc["A", ["estimate", "std_error"]].tolist() == [0.5, 0.0]
    assert_worths(llbt.worth(res).to_frame(), res, "probability", main_effect, "ABCD")


def test_equal_worths_are_listed_in_the_order_of_the_objects():
    frame = pd.DataFrame(
        [(i, j, 3, 2, 3) for i, j in itertools.combinations("dbca", 2)],
        columns=["object_i", "object_j", "wins_i", "ties", "wins_j"],
    )
    found = llbt.worth(fit("object + tie", llbt.from_counts(frame))).to_frame()
    np.testing.assert_allclose(found["estimate"], 0.25, rtol=1e-9)
    assert sorted(found["object"]) == list("abcd")


def test_every_worth_table_says_its_scale_and_reference(plain):
    said = {"probability": "sum", "log_worth": "λ", "log_odds": "2λ", "odds_ratio": "exp(2λ)", "elo": "400"}
    for scale, words in said.items():
        text = llbt.worth(plain, scale=scale).as_text()
        assert words in text
        assert "reference D" in text
        assert "95 %" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"scale": "elos"}, r"scale='elos'; expected 'probability', 'log_worth'"),
        ({"at": "mean"}, r"at='mean'"),
        ({"at": {"judge": "J9"}}, r"'judge' has no 'J9' in the table; expected one of 'J1', 'J2', 'J3', 'J4'"),
        ({"at": {"sex": "f"}}, r"'sex' is not a covariate of the formula"),
    ],
)
def test_worth_errors(by_judge, arguments, said):
    with pytest.raises(llbt.errors.OptionError, match=said):
        llbt.worth(by_judge, **arguments)


@pytest.mark.parametrize("confidence", [95, 1, 0, -0.5, float("nan")])
def test_a_confidence_is_a_probability(plain, confidence):
    with pytest.raises(llbt.errors.OptionError, match="confidence"):
        llbt.worth(plain, confidence=confidence)


def test_at_needs_a_value_for_each_name(by_judge, rich):
    for res, at in ((by_judge, {"judge": []}), (fit("object * age + tie", rich), {"age": []})):
        for question in (lambda res, at: llbt.worth(res, at), lambda res, at: res.predict(at=at)):
            with pytest.raises(llbt.errors.OptionError, match="at"):
                question(res, at)


def test_worth_needs_worths():
    with pytest.raises(llbt.errors.DesignError, match=r"no term for the worths. Add object"):
        llbt.worth(fit("tie", TABLE1))


def test_at_a_number_takes_numbers(rich):
    with pytest.raises(llbt.errors.OptionError, match=r"'age' is 'old'; expected a finite number"):
        llbt.worth(fit("object * age + tie", rich), at={"age": "old"})
