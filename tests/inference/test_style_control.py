"""Style control is two explicit fits; its coefficients are those of a logistic regression."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special

import llbt
from llbt.inference.style_control import style_control

MODELS = np.array(["amber", "beryl", "coral", "delft"])
QUALITY = np.array([0.3, 0.1, 0.0, -0.4])


def _battles(n: int = 600) -> pd.DataFrame:
    """Beryl is long, and length is preferred; integers, and headers that are often 0 on both sides."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 4, n)
    b = (a + rng.integers(1, 4, n)) % 4
    lengths = rng.normal([300, 420, 300, 300], 60, (n, 4)).round().astype(int)
    one, other = lengths[np.arange(n), a], lengths[np.arange(n), b]
    lead = QUALITY[a] - QUALITY[b] + 0.4 * (one - other) / 100
    odds = np.exp(np.c_[lead, np.full(n, -0.5), -lead])
    drawn = (rng.random(n)[:, None] > np.cumsum(odds / odds.sum(1, keepdims=True), axis=1)).sum(1)
    return pd.DataFrame(
        {
            "model_a": MODELS[a],
            "model_b": MODELS[b],
            "winner": np.array(["model_a", "tie", "model_b"])[drawn],
            "length_a": one,
            "length_b": other,
            "headers_a": rng.poisson(0.7, n),
            "headers_b": rng.poisson(0.7, n),
        }
    )


BATTLES = _battles()
STYLE = ["length", "headers"]
TABLE = llbt.from_judgments(BATTLES, side_covariates=STYLE)


def _share(name: str) -> np.ndarray:
    a, b = BATTLES[f"{name}_a"], BATTLES[f"{name}_b"]
    return ((a - b) / (a + b).where(a + b > 0)).fillna(0).to_numpy()


@pytest.mark.parametrize("scale", ["log_odds", "elo", "log_worth"])
def test_both_leaderboards_are_those_of_the_explicit_fits(scale):
    found = style_control(TABLE, "length", scale=scale, cov_type="nonrobust")
    frame = found.to_frame()
    plain = llbt.fit("object + tie", TABLE)
    styled = llbt.fit("object + sides((length_i - length_j) / (length_i + length_j)) + tie", TABLE)
    boards = [
        llbt.leaderboard(plain, scale=scale).to_frame(),
        llbt.leaderboard(styled, scale=scale, at={"length": 300}).to_frame(),
    ]
    columns = ["rank", "rank_low", "rank_high", "estimate", "conf_low", "conf_high"]
    assert frame["object"].tolist() == boards[1]["object"].tolist()
    np.testing.assert_allclose(frame[columns], boards[1][columns], rtol=1e-6)
    again = boards[0].set_index("object").loc[frame["object"], columns]
    np.testing.assert_allclose(frame[[f"plain_{name}" for name in columns]], again, rtol=1e-6)
    assert frame["rank_change"].tolist() == (again["rank"].to_numpy() - frame["rank"]).tolist()
    factor = {"log_odds": 2, "elo": 800 / np.log(10), "log_worth": 1}[scale]
    divisor = np.sqrt(np.mean(_share("length") ** 2))
    row = found.coefficients().to_frame().loc[0]
    term = styled.names[-2]
    assert row["divisor"] == pytest.approx(divisor, rel=1e-12)
    assert row["estimate"] == pytest.approx(factor * divisor * styled.params[term], rel=1e-6)
    assert row["std_error"] == pytest.approx(factor * divisor * styled.bse[term], rel=1e-6)
    np.testing.assert_allclose(row[["conf_low", "conf_high"]].astype(float), factor * divisor
                               * styled.conf_int().loc[term].to_numpy(), rtol=1e-6)  # fmt: skip


def test_the_coefficients_are_those_of_a_logistic_regression_as_in_the_arena():
    """Ties as half wins, as the Arena counts them."""
    found = style_control(TABLE.split_ties(), STYLE, cov_type="nonrobust")
    a, b = (np.searchsorted(MODELS, BATTLES[name]) for name in ("model_a", "model_b"))
    objects = np.eye(4)[a] - np.eye(4)[b]
    shares = np.column_stack([_share(name) for name in STYLE])
    design = np.column_stack([objects[:, :3], shares / np.sqrt(np.mean(shares**2, axis=0))])
    won = BATTLES["winner"].map({"model_a": 1.0, "tie": 0.5, "model_b": 0.0}).to_numpy()

    def loss(beta: np.ndarray) -> float:
        return float(np.sum(np.logaddexp(0, design @ beta) - won * (design @ beta)))

    def slope(beta: np.ndarray) -> np.ndarray:
        return design.T @ (special.expit(design @ beta) - won)

    beta = optimize.minimize(loss, np.zeros(5), jac=slope, method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(found.coefficients().to_frame()["estimate"], beta[3:], rtol=1e-5, atol=1e-7)


def test_sides_that_change_places_change_nothing():
    swapped = BATTLES.rename(columns=lambda name: name[:-1] + {"a": "b", "b": "a"}[name[-1]] if "_" in name else name)
    swapped["winner"] = BATTLES["winner"].map({"model_a": "model_b", "model_b": "model_a", "tie": "tie"})
    other = style_control(llbt.from_judgments(swapped, side_covariates=STYLE), cov_type="nonrobust")
    mine = style_control(TABLE, cov_type="nonrobust")
    np.testing.assert_allclose(mine.coefficients()["estimate"], other.coefficients()["estimate"], rtol=1e-8)


def test_one_file_holds_the_effects_too():
    found = style_control(TABLE, STYLE, scale="elo", cov_type="nonrobust")
    frame, effects = found.to_frame(), found.coefficients().to_frame().set_index("style")
    for name in STYLE:
        said = frame[[f"{name}_effect", f"{name}_effect_low", f"{name}_effect_high", f"{name}_effect_p"]]
        wanted = effects.loc[name, ["estimate", "conf_low", "conf_high", "p_value"]].astype(float)
        np.testing.assert_array_equal(said.to_numpy(dtype=float), np.tile(wanted, (len(frame), 1)))
    assert "effect" not in str(found).replace("has an effect", "")


def test_the_order_of_the_styles_is_kept():
    one, other = (style_control(TABLE, names).coefficients().to_frame() for names in (STYLE, STYLE[::-1]))
    assert other["style"].tolist() == STYLE[::-1]
    np.testing.assert_allclose(
        one.set_index("style").loc[STYLE[::-1]].to_numpy(), other.set_index("style").to_numpy(), rtol=1e-8
    )


def test_what_is_printed():
    found = style_control(TABLE, scale="elo")
    text = found.as_text(notes="all")
    zeros = int(((BATTLES["headers_a"] == 0) & (BATTLES["headers_b"] == 0)).sum())
    assert "Leaderboard at equal style" in text
    assert "length: +" in text
    assert f"headers is 0 on both sides of {zeros} judgments, which count as equal" in text
    assert max(map(len, found.as_text().splitlines())) <= 88
    assert "<table" in found._repr_html_()


def test_other_covariates_have_a_value():
    frame = BATTLES.assign(language=np.where(np.arange(len(BATTLES)) % 2, "de", "en"))
    c = llbt.from_judgments(frame, side_covariates=["length"], covariates="language")
    found = style_control(c, formula="object * language + tie", at={"language": "de"}, cov_type="nonrobust")
    plain = llbt.leaderboard(found.plain, at={"language": "de"}).to_frame().set_index("object")["estimate"]
    frame = found.to_frame()
    np.testing.assert_allclose(frame["plain_estimate"], plain.loc[frame["object"]])


def test_a_name_that_is_no_word_is_quoted():
    frame = BATTLES.rename(columns={"length_a": "n words_a", "length_b": "n words_b"})
    found = style_control(llbt.from_judgments(frame, side_covariates=["n words"]), cov_type="nonrobust")
    expected = style_control(TABLE, "length", cov_type="nonrobust").coefficients()["estimate"]
    np.testing.assert_allclose(found.coefficients()["estimate"], expected)


# -- refusals ----------------------------------------------------------------------------------------------------------


def _refusal(frame: pd.DataFrame, **reading: object) -> str:
    with pytest.raises(llbt.LLBTError) as error:
        style_control(llbt.from_judgments(frame, **{"side_covariates": ["length"], **reading}))
    return str(error.value)


def test_a_table_without_style_is_refused_and_the_remedy_runs():
    with pytest.raises(llbt.errors.OptionError, match="no style covariates") as error:
        style_control(llbt.from_judgments(BATTLES))
    call = str(error.value).partition("length_b: ")[2].removesuffix(".")
    assert style_control(eval(call, {"llbt": llbt, "data": BATTLES})).style == ("length",)
    with pytest.raises(
        llbt.errors.OptionError, match="no side covariate of that name; expected among 'length'"
    ) as error:
        style_control(llbt.from_judgments(BATTLES, side_covariates=["length"]), "headers")
    call = str(error.value).partition("headers_b: ")[2].removesuffix(".")
    assert style_control(eval(call, {"llbt": llbt, "data": BATTLES})).style == ("length", "headers")


def test_a_column_without_its_pair_is_refused():
    assert "no column 'length_b'" in _refusal(BATTLES.drop(columns="length_b"))


def test_missing_values_are_refused_and_the_remedy_runs():
    frame = BATTLES.assign(length_a=BATTLES["length_a"].where(BATTLES["length_a"] > 250))
    assert "Pass missing='drop'" in _refusal(frame)
    c = llbt.from_judgments(frame, side_covariates=["length"], missing="drop")
    assert style_control(c).style == ("length",)


def test_labels_are_refused_and_the_remedy_reads_numbers():
    text = BATTLES.astype({"length_a": str, "length_b": str})
    said = _refusal(text)
    call = said.partition("Read it as numbers: ")[2].removesuffix(".")
    assert style_control(eval(call, {"llbt": llbt, "data": text})).style == ("length",)
    assert "not a number" in _refusal(text.assign(length_a="long"), numeric="length")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"length_a": 0, "length_b": 0}, "is 0 in all judgments"),
        ({"length_a": 7, "length_b": 7}, "is equal on both sides of all judgments"),
        ({"length_a": -7}, "has negative values, the smallest -7"),
    ],
)
def test_values_without_an_effect_are_refused(values, said):
    assert said in _refusal(BATTLES.assign(**values))


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(llbt.errors.OptionError, match="already has 'length'"):
        style_control(TABLE, "length", "object + tie + length")
    with pytest.raises(llbt.errors.OptionError, match="effects of judges"):
        style_control(TABLE, "length", "object + tie + (object | judge)")
    with pytest.raises(llbt.errors.OptionError, match="scale='probability'"):
        style_control(TABLE, "length", scale="probability")
    with pytest.raises(llbt.errors.OptionError, match="average"):
        style_control(TABLE, "length", at="average")
