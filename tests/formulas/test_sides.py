"""Features of both sides of a comparison: against side covariates that hold them, and against a GLM by hand."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import llbt

TANH = "sides(np.tanh((length_i - length_j) / 200))"
SHARE = "sides((length_i - length_j) / (length_i + length_j))"


def judgments(n=1200):
    rng = np.random.default_rng(1)
    i = rng.integers(0, 4, n)
    j = (i + rng.integers(1, 4, n)) % 4
    length = rng.integers(5, 90, (n, 2)) * 10.0
    eta = 2 * (np.array([0.4, 0.1, -0.2, 0.0])[[i, j]] * [[1], [-1]]).sum(axis=0) + np.tanh(
        (length[:, 0] - length[:, 1]) / 200
    )
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "i", "j").astype(object)
    outcome[rng.random(n) < 0.2] = "tie"
    labels = np.array(list("abcd"))
    frame = pd.DataFrame({"object_i": labels[i], "object_j": labels[j], "outcome": outcome})
    frame["judge"] = rng.choice(["J1", "J2"], n)
    frame[["length_a", "length_b"]] = length
    for name, half in (
        ("tanh", np.tanh((length[:, 0] - length[:, 1]) / 200) / 2),
        ("share", (length @ [1, -1]) / length.sum(axis=1) / 2),
    ):
        frame[f"{name}_a"], frame[f"{name}_b"] = half, -half
    return frame


FRAME = judgments()
SIDES = {name: (f"{name}_a", f"{name}_b") for name in ("length", "tanh", "share")}
TABLE = llbt.from_judgments(FRAME, covariates="judge", side_covariates=SIDES)


@pytest.mark.parametrize(
    ("feature", "same"),
    [
        ("sides(length_i - length_j)", "length"),
        ("sides(np.log(length_i / length_j))", "np.log(length)"),
        (TANH, "tanh"),
        (SHARE, "share"),
        (f"{SHARE}:judge", "share:judge"),
        (f"{TANH} * judge", "tanh * judge"),
        (f"{TANH} + length", "tanh + length"),
    ],
)
@pytest.mark.slow
def test_a_feature_is_a_side_covariate_that_holds_half_of_it(feature, same):
    """f/2 for one side and −f/2 for the other, made in the frame, has the difference f."""
    found = llbt.fit(f"object + tie + {feature}", TABLE)
    expected = llbt.fit(f"object + tie + {same}", TABLE)
    np.testing.assert_allclose(found.params, expected.params, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.bse, expected.bse, rtol=1e-6)
    assert found.llf == pytest.approx(expected.llf, rel=1e-10)


def test_a_feature_is_the_logit_of_the_decisions():
    """Without ties: a logistic regression on the feature itself, whose coefficient is 2β."""
    decided = FRAME[FRAME["outcome"] != "tie"].reset_index(drop=True)
    c = llbt.from_judgments(decided, side_covariates={"length": SIDES["length"]})
    res = llbt.fit(f"object + {TANH}", c)
    columns = {o: 1.0 * (decided["object_i"] == o) - 1.0 * (decided["object_j"] == o) for o in "abc"}
    columns["f"] = np.tanh((decided["length_a"] - decided["length_b"]) / 200)
    glm = sm.GLM(1.0 * (decided["outcome"] == "i"), pd.DataFrame(columns), family=sm.families.Binomial()).fit()
    np.testing.assert_allclose(2 * res.params, glm.params, rtol=1e-5)
    np.testing.assert_allclose(2 * res.bse, glm.bse, rtol=1e-5)


def test_swapped_rows_change_nothing():
    swapped = FRAME.rename(
        columns={"object_i": "object_j", "object_j": "object_i", "length_a": "length_b", "length_b": "length_a"}
    )
    swapped["outcome"] = swapped["outcome"].map({"i": "j", "j": "i", "tie": "tie"})
    c = llbt.from_judgments(swapped, side_covariates={"length": SIDES["length"]})
    expected = llbt.fit(
        f"object + tie + {SHARE}", llbt.from_judgments(FRAME, side_covariates={"length": SIDES["length"]})
    )
    np.testing.assert_allclose(llbt.fit(f"object + tie + {SHARE}", c).params, expected.params, atol=1e-8)


def test_questions_to_such_a_fit():
    """Worths are those of equal sides; predictions of a frame have its lengths, and swap with its sides."""
    res = llbt.fit(f"object + tie + {TANH}", TABLE)
    λ = llbt.worth(res, scale="log_worth").to_frame().set_index("object")["estimate"]
    assert λ["a"] == pytest.approx(res.params["object[a]"])
    pd.testing.assert_series_equal(
        λ, llbt.worth(res, "average", "log_worth").to_frame().set_index("object")["estimate"]
    )
    frame = pd.DataFrame(
        {"object_i": ["a", "b"], "object_j": ["b", "a"], "length_i": [300.0, 100.0], "length_j": [100.0, 300.0]}
    )
    p = res.predict(frame).to_frame()["estimate"].to_numpy().reshape(2, 3)
    np.testing.assert_allclose(p[0], p[1, ::-1], rtol=1e-12)
    difference = res.params["object[a]"] - res.params["object[b]"] + res.params.iloc[3] * np.tanh(1)
    assert np.log(p[0, 0] / p[0, 2]) == pytest.approx(2 * difference, rel=1e-9)
    at = res.predict(at={"length": 50}).to_frame().iloc[:3]["estimate"].to_numpy()
    assert np.log(at[0] / at[2]) == pytest.approx(2 * (res.params["object[a]"] - res.params["object[b]"]))
    assert "length: numeric" in res.as_text()
    assert llbt.drop1(res).to_frame()["term"].tolist()[1:] == ["object", TANH, "tie"]
    assert llbt.anova(llbt.fit("object + tie", TABLE), res).to_frame()["p_value"].iloc[1] < 1e-10


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("sides(length_i + length_j)", "must be antisymmetric"),
        ("sides(np.maximum(length_i, length_j))", "with the sides swapped"),
        ("sides((length_i - length_j) + 1e-3)", "with the sides swapped"),
        ("sides(length_i)", "needs the two values of a side covariate"),
        ("sides(length)", "needs the two values of a side covariate"),
        ("sides(length_i - tanh_j)", "needs the two values of a side covariate"),
        ("sides((length_i - length_j) * length)", "not 'length'"),
        ("length_i", "write it within sides"),
        ("np.log(sides(length_i - length_j))", "must be a whole factor"),
        ("sides(sides(length_i - length_j))", "must be a whole factor"),
        ("object:sides(length_i - length_j)", "only be combined with covariates of the comparison"),
        ("tie:sides(length_i - length_j)", "has no meaning"),
        ("lenght_i", "no variable 'lenght_i'"),
    ],
)
def test_what_is_no_feature_of_both_sides(term, said):
    with pytest.raises(llbt.errors.FormulaError, match=said):
        llbt.fit(f"object + tie + {term}", TABLE)
