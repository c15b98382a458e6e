"""Fits with a discrimination of each judge: numbers by other routes, the printout, and what is refused."""

import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special, stats
from support.folders import REFERENCE

import llbt
from llbt.errors import DesignError, OptionError, SeparationError

FIGURES = json.loads((REFERENCE / "models" / "discrimination.json").read_text(encoding="utf-8"))
CEMS = "cems by SEX, other covariates summed out"


def fitted(formula: str, c: llbt.Comparisons, judge: str = "judge", **options: Any) -> llbt.DiscriminationResults:
    found = llbt.fit(formula, c, discrimination=judge, **options)
    assert isinstance(found, llbt.DiscriminationResults)
    return found


def table(name: str) -> tuple[llbt.Comparisons, str]:
    if name == CEMS:
        return llbt.load_dataset("cems").pool("ENG"), "SEX"
    return llbt.load_dataset(name.split()[0]), "judge"


def planted(sigma: list[float], each: int, seed: int, order: float = 0.0) -> pd.DataFrame:
    """Judgments with ties of four objects by judges with these discriminations, so many of each pair."""
    rng, worth, rows = np.random.default_rng(seed), np.array([0.8, 0.3, 0.0, -0.5]), []
    for k, factor in enumerate(sigma):
        for i in range(4):
            for j in range(4):
                if i < j or (order and i != j):
                    u = factor * (worth[i] - worth[j]) + order
                    counts = rng.multinomial(each, special.softmax([u, -0.6, -u]))
                    rows.append(("ABCD"[i], "ABCD"[j], f"J{k + 1}", *counts))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])


@pytest.fixture(scope="module")
def res() -> llbt.DiscriminationResults:
    return fitted("object + tie", llbt.load_dataset("dras_table1"))


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_a_direct_maximization(name: str) -> None:
    """Reference: scipy's maximum of 20 starts, errors by finite differences where the first discrimination is 1."""
    figures, (c, judge) = FIGURES[name], table(name)
    found = fitted("object + tie", c, judge)
    assert found.deviance == pytest.approx(figures["deviance"], abs=1e-6)
    assert found.df_resid == figures["df"]
    sigma, p = found.discriminations.to_numpy(), len(found.names)
    np.testing.assert_allclose(sigma / sigma[0], figures["sigma_relative_to_first"], atol=1e-6)
    np.testing.assert_allclose(found.params.iloc[:-1] * sigma[0], figures["lam_with_sigma1_fixed"], atol=1e-6)
    assert found.params["tie"] == pytest.approx(figures["tie"], abs=1e-6)
    onto = np.zeros((p - 1 + len(sigma), p + len(sigma)))  # of (λσ₁, γ, σ/σ₁) in (λ, γ, σ)
    onto[: p - 1, : p - 1], onto[: p - 1, p] = sigma[0] * np.eye(p - 1), found.params.iloc[:-1]
    onto[p - 1, p - 1] = 1
    onto[p:, p + 1 :], onto[p:, p] = np.eye(len(sigma) - 1) / sigma[0], -sigma[1:] / sigma[0] ** 2
    errors = np.sqrt(np.diag(onto @ found.solution.covariance @ onto.T))
    reference = np.array(figures["se_sigma1_fixed"])
    np.testing.assert_allclose(np.sort(errors), np.sort(reference), rtol=2e-4)


def test_deviances_of_the_models_beside() -> None:
    """Figures: models.md, by R's glm and by direct maximization."""
    c = llbt.load_dataset("dras_table1_as_analysed")
    found = fitted("object + tie", c)
    assert (found.without.deviance, found.without.df_resid) == (pytest.approx(281.1032, abs=1e-4), 44)
    wider = found.wider.res
    assert wider is not None
    assert (wider.deviance, wider.df_resid) == (pytest.approx(108.7921, abs=1e-4), 35)
    by_judge = fitted("object + tie * judge", c)
    assert (by_judge.deviance, by_judge.df_resid) == (pytest.approx(221.4110, abs=1e-4), 38)
    alike, own = found.equality_test(), found.proportionality_test()
    assert (alike.statistic, alike.df) == (pytest.approx(281.1032 - 224.5973, abs=1e-4), 3)
    assert (own.statistic, own.df) == (pytest.approx(224.5973 - 108.7921, abs=1e-4), 6)
    assert alike.p_value == pytest.approx(stats.chi2.sf(alike.statistic, 3))


def _explicit(frame: pd.DataFrame, theta: np.ndarray, shown_first: bool, by_judge: bool) -> float:
    """Return Σ n log p, written out: θ are the worths of A, B and C, γ (of each judge), (δ,) and σ of three judges."""
    i, j = (frame[side].map("ABCD".index).to_numpy() for side in ("object_i", "object_j"))
    k = frame["judge"].str[1:].astype(int).to_numpy() - 1
    worth, rest = np.append(theta[:3], 0.0), theta[3:]
    ties = rest[k] if by_judge else np.full(len(k), rest[0])
    rest = rest[3 if by_judge else 1 :]
    u = rest[-3:][k] * (worth[i] - worth[j]) + (rest[0] if shown_first else 0.0)
    logs = np.stack([u, ties, -u], axis=1)
    logs -= special.logsumexp(logs, axis=1, keepdims=True)
    return float((frame[["wins_i", "ties", "wins_j"]].to_numpy() * logs).sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "order", "by_judge"), [("object + tie + order", 0.3, False), ("object + tie * judge", 0.0, True)]
)
def test_a_search_of_scipy_finds_the_same_maximum_and_finite_differences_its_errors(
    formula: str, order: float, by_judge: bool
) -> None:
    frame = planted([1.3, 0.7, -0.5], 12, seed=4, order=order)
    c = llbt.from_counts(frame, covariates="judge", order=bool(order))
    found = fitted(formula, c)
    sigma = found.discriminations.to_numpy()
    params = found.params.to_numpy().copy()
    if by_judge:
        params[4:6] += params[3]  # treatment coding
    names = list(found.names)
    place = [names.index(f"object[{o}]") for o in "ABC"]
    rest = [k for k in range(len(names)) if k not in place]
    at = np.concatenate([params[place], params[rest], sigma])

    def minus(theta: np.ndarray) -> float:
        return -_explicit(frame, theta, bool(order), by_judge)

    assert -minus(at) == pytest.approx(found.llf, abs=1e-8)
    rng = np.random.default_rng(1)
    searched = [optimize.minimize(minus, at + rng.normal(0, 0.6, len(at)), method="BFGS").fun for _ in range(3)]
    assert -min(searched) == pytest.approx(found.llf, abs=1e-4)
    assert found.llf > -min(searched) - 1e-6
    # the information by second differences, on the norm, where the mean of squares is 1
    h, size = 1e-3, len(at)
    step = h * np.eye(size)
    info = np.array(
        [
            [
                (minus(at + a + b) - minus(at + a - b) - minus(at - a + b) + minus(at - a - b)) / (4 * h * h)
                for b in step
            ]
            for a in step
        ]
    )
    norm = np.zeros((1, size))
    norm[0, -3:] = sigma / 3
    free = np.linalg.svd(norm)[2][1:].T
    cov = free @ np.linalg.inv(free.T @ info @ free) @ free.T
    np.testing.assert_allclose(np.sqrt(np.diag(cov))[-3:], found.discrimination_errors, rtol=1e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(cov))[:3], found.bse.to_numpy()[place], rtol=1e-4)


def test_the_norm_and_the_sign() -> None:
    frame = planted([1.2, -0.8, 0.9], 10, seed=2)
    frame.loc[frame["judge"] == "J3", ["wins_i", "ties", "wins_j"]] *= 3
    found = fitted("object + tie", llbt.from_counts(frame, covariates="judge"))
    n, sigma = np.array([60, 60, 180]), found.discriminations.to_numpy()
    assert n @ sigma**2 / n.sum() == pytest.approx(1, abs=1e-12)
    assert n @ sigma > 0
    assert sigma[1] < 0


def test_equal_judges_have_discriminations_of_one_and_the_pooled_fit() -> None:
    one = planted([1.0], 20, seed=7)
    frame = pd.concat([one.assign(judge=name) for name in ("a", "b", "c")])
    found = fitted("object + tie", llbt.from_counts(frame, covariates="judge"))
    np.testing.assert_allclose(found.discriminations, 1, atol=1e-9)
    np.testing.assert_allclose(found.params, found.without.params, atol=1e-8)
    assert found.deviance == pytest.approx(found.without.deviance, abs=1e-8)
    assert found.equality_test().p_value == pytest.approx(1, abs=1e-6)


def test_a_finer_table_and_turned_pairs_change_nothing(res: llbt.DiscriminationResults) -> None:
    frame = res.comparisons.to_frame()
    half = frame.assign(part="x", wins_i=frame["wins_i"] // 2)
    rest = frame.assign(part="y", wins_i=frame["wins_i"] - half["wins_i"], ties=0, wins_j=0)
    turned = {"object_i": "object_j", "object_j": "object_i", "wins_i": "wins_j", "wins_j": "wins_i"}
    c = llbt.from_counts(pd.concat([half.rename(columns=turned), rest]), covariates=["judge", "part"])
    found = fitted("object + tie", c)
    np.testing.assert_allclose(found.discriminations, res.discriminations, atol=1e-9)
    np.testing.assert_allclose(found.bse, res.bse, rtol=1e-8)
    assert found.llf == pytest.approx(res.llf, abs=1e-8)


def test_grades_both_bad_and_object_covariates() -> None:
    """Second route: at the discriminations found, the rest is a fit of its own, by elimination."""
    rng, rows = np.random.default_rng(5), []
    worth, sigma = np.array([0.7, 0.2, -0.4]), [1.2, 0.6, 1.0]
    for k, factor in enumerate(sigma):
        for i, j in ((0, 1), (0, 2), (1, 2)):
            u = factor * (worth[i] - worth[j])
            p = special.softmax([2 * u - 0.8, u, -0.3, -u, -2 * u - 0.8])
            rows.append(("ABC"[i], "ABC"[j], f"J{k}", *rng.multinomial(60, p)))
    grades = ("++", "+", "=", "-", "--")
    c = llbt.from_counts(
        pd.DataFrame(rows, columns=["object_i", "object_j", "judge", *grades]), grades=grades, covariates="judge"
    )
    found = fitted("object + tie + grade", c)
    assert found.df_resid == found.without.df_resid - 2
    theta = np.concatenate([found.params.to_numpy(), found.discriminations.to_numpy()])

    def value(at: np.ndarray) -> float:
        total, lam = 0.0, np.append(at[:2], 0.0)
        for row in rows:
            i, j, k = "ABC".index(row[0]), "ABC".index(row[1]), int(row[2][1:])
            u = at[4 + k] * (lam[i] - lam[j])
            logs = np.array([2 * u + at[3], u, at[2], -u, -2 * u + at[3]])
            total += float(np.array(row[3:]) @ (logs - special.logsumexp(logs)))
        return total

    assert value(theta) == pytest.approx(found.llf, abs=1e-8)
    slopes = [(value(theta + h) - value(theta - h)) / 2e-5 for h in 1e-5 * np.eye(len(theta))]
    np.testing.assert_allclose(slopes, 0, atol=1e-4)


def test_who_is_inverted_and_who_guesses() -> None:
    found = fitted(
        "object + tie", llbt.from_counts(planted([1.2, 1.0, 0.0, -1.0, 0.9], 60, seed=5), covariates="judge")
    )
    assert found.readings().tolist() == ["", "", "guessing", "inverted", ""]
    text = found.as_text()
    assert "Inverted (σ < 0: prefers what the others do not): 'J4'" in text
    assert "Guessing (σ ≈ 0): 'J3'" in text
    frame = found.by_judge(confidence=0.9).to_frame()
    low = found.discriminations - stats.norm.isf(0.05) * found.discrimination_errors
    np.testing.assert_allclose(frame["conf_low"], low)
    assert frame["judgments"].tolist() == [360.0] * 5


def test_the_printout_says_what_was_fitted(res: llbt.DiscriminationResults) -> None:
    text = res.as_text()
    for said in (
        "with a discrimination of each judge",
        "Formula: object + tie",
        "judge J3",
        "224.5933 on 41 here",
        "of object + tie + object:judge",
        "starts reached this maximum (seed 0)",
        "Estimates are of a judge with σ = 1. σ multiplies log-worths; mean of σ²: 1.",
    ):
        assert said in text
    assert "no χ² distribution" not in text
    assert res.to_frame()["term"].tolist() == list(res.names)
    assert res.aic == pytest.approx(-2 * res.llf + 2 * 7)
    assert res.aic_poisson - res.aic == pytest.approx(res.without.aic_poisson - res.without.aic)


def test_worths_next_to_equal_are_noted() -> None:
    frame = planted([0.02, 0.02, -0.02], 12, seed=11)
    found = fitted("object + tie", llbt.from_counts(frame, covariates="judge"))
    assert any("no χ² distribution" in note for note in found.equality_test().notes)
    assert "no χ² distribution" in " ".join(found.as_text().split())


def test_predictions_are_those_of_the_judge(res: llbt.DiscriminationResults) -> None:
    own = res.predict().to_frame()
    np.testing.assert_allclose(own["estimate"], (res.means / res.comparisons.totals[:, None]).ravel(), atol=1e-12)
    frame = pd.DataFrame({"object_i": ["A", "C"], "object_j": ["B", "A"], "judge": ["J3", "J1"]})
    found = res.predict(frame).to_frame()
    lam, sigma = {**res.params.drop("tie"), "object[D]": 0.0}, res.discriminations
    u = sigma["J3"] * (lam["object[A]"] - lam["object[B]"])
    expected = special.softmax([u, res.params["tie"], -u])
    np.testing.assert_allclose(found["estimate"].iloc[:3], expected, atol=1e-12)
    # errors by finite differences of the probability
    theta = np.concatenate([res.solution.params, res.solution.sigma])

    def chance(at: np.ndarray) -> float:
        x = at[4 + 2] * (at[0] - at[1])
        return float(special.softmax([x, at[3], -x])[0])

    slope = np.array([(chance(theta + h) - chance(theta - h)) / 2e-6 for h in 1e-6 * np.eye(len(theta))])
    error = np.sqrt(slope @ res.solution.covariance @ slope)
    assert found["std_error"].iloc[0] == pytest.approx(error, rel=1e-6)
    v = lam["object[A]"] - lam["object[B]"]
    plain = res.predict(frame.drop(columns="judge")).to_frame()  # of a judge of discrimination 1
    np.testing.assert_allclose(plain["estimate"].iloc[:3], special.softmax([v, res.params["tie"], -v]), atol=1e-12)
    assert plain["estimate"].iloc[0] != pytest.approx(found["estimate"].iloc[0])
    with pytest.raises(OptionError, match="'J9'"):
        res.predict(frame.assign(judge="J9"))


def test_questions_are_asked_of_a_judge_of_discrimination_one(res: llbt.DiscriminationResults) -> None:
    lam = np.append(res.params.to_numpy()[:3], 0.0)
    found = llbt.worth(res).to_frame().set_index("object")["estimate"]
    np.testing.assert_allclose(found[list("ABCD")], special.softmax(2 * lam), atol=1e-12)
    assert llbt.leaderboard(res).to_frame()["object"].tolist() == list("ADBC")
    pairs = llbt.pairwise(res, scale="log_odds").to_frame().set_index(["object_i", "object_j"])
    assert pairs.loc[("A", "B"), "estimate"] == pytest.approx(2 * (lam[0] - lam[1]))
    assert res.t_test("object[A] = 0").to_frame()["std_error"].iloc[0] == pytest.approx(res.bse["object[A]"])
    with pytest.raises(AttributeError, match=r"llbt\.worth\(res\)"):
        res.worth  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        res.no_such_thing  # noqa: B018


def test_what_is_held_and_what_survives_a_pickle(res: llbt.DiscriminationResults) -> None:
    held = fitted("object + tie", res.comparisons, fixed={"tie": float(res.params["tie"])})
    assert held.llf == pytest.approx(res.llf, abs=1e-8)
    assert held.df_resid == res.df_resid + 1
    assert np.isnan(held.bse["tie"])
    again = pickle.loads(pickle.dumps(res))
    assert again.as_text() == res.as_text()
    assert res.specification.discrimination == "judge"


def test_caution_is_in_the_discriminations() -> None:
    c = llbt.load_dataset("dras_table1")
    assert fitted("object + tie", c, cov_type="cautious").specification.cov_type == "nonrobust"


def _perfect() -> pd.DataFrame:
    frame = planted([1.0, 1.0, 0.8], 20, seed=9)
    mine = frame["judge"] == "J2"
    frame.loc[mine, ["wins_i", "ties", "wins_j"]] = [20, 0, 0]
    return frame


def test_a_judge_without_exception_is_named() -> None:
    with pytest.raises(SeparationError, match=r"judge 'J2' is \+∞ \(120 judgments\)"):
        fitted("object + tie", llbt.from_counts(_perfect(), covariates="judge"))
    turned = _perfect()
    mine = turned["judge"] == "J2"
    turned.loc[mine, ["wins_i", "ties", "wins_j"]] = [0, 0, 20]
    turned.loc[turned["judge"] == "J1", ["wins_i", "ties", "wins_j"]] *= 20
    with pytest.raises(SeparationError, match="judge 'J2' is −∞"):
        fitted("object + tie", llbt.from_counts(turned, covariates="judge"))


def test_ties_by_judge_without_a_finite_estimate_are_those_of_the_pooled_fit() -> None:
    """The judge has ties as well, which agree with his order as little as any: finite with one tie effect."""
    frame = _perfect()
    frame.loc[(frame["judge"] == "J2") & (frame["object_j"] == "D"), "ties"] = 4
    assert np.isfinite(fitted("object + tie", llbt.from_counts(frame, covariates="judge")).discriminations["J2"])


def _options() -> list[tuple[str, str, dict[str, Any], type[Exception], str]]:
    return [
        ("dras_table1", "object + tie", {"discrimination": "annotator"}, OptionError, "not a covariate of the table"),
        ("dras_table1", "object + tie", {"discrimination": "judge", "prior": 1.0}, OptionError, "prior"),
        ("dras_table1", "object + tie", {"discrimination": "judge", "link": "cumulative"}, OptionError, "adjacent"),
        ("dras_table1", "object + tie", {"discrimination": "judge", "cov_type": "HC0"}, OptionError, "cov_type"),
        (
            "dras_table1",
            "object + tie",
            {"discrimination": "judge", "cov_type": "cluster", "groups": "judge"},
            OptionError,
            "cov_type",
        ),
        ("dras_table1", "object + tie", {"discrimination": "judge", "fixed": {"object[A]": 1}}, OptionError, "scales"),
        ("dras_table1", "object + tie + (tie | judge)", {"discrimination": "judge"}, OptionError, "together with"),
        ("dras_table1", "object * judge + tie", {"discrimination": "judge"}, DesignError, "has separate worths"),
        ("dras_table1", "tie", {"discrimination": "judge"}, DesignError, "no worths"),
        ("bojar_six_annotators", "object + tie + bad", {"discrimination": "judge"}, DesignError, r"object \* judge"),
        ("dras_table1", "object + tie", {"discrimination": 3}, OptionError, "discrimination=3"),
    ]


@pytest.mark.parametrize(("data", "formula", "options", "error", "said"), _options())
def test_what_is_refused(data: str, formula: str, options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        llbt.fit(formula, llbt.load_dataset(data), **options)


def test_judges_that_cannot_be_told_apart_are_refused() -> None:
    frame = planted([1.0, 0.8], 10, seed=1)
    one = frame[frame["judge"] == "J1"]
    with pytest.raises(DesignError, match="at least two judges"):
        fitted("object + tie", llbt.from_counts(one, covariates="judge"))
    with pytest.raises(OptionError, match="is a cluster of the table"):
        fitted("object + tie", llbt.from_counts(frame, clusters="judge"))
    numbers = llbt.from_counts(frame.assign(judge=frame["judge"].str[1:].astype(float)), covariates="judge")
    with pytest.raises(OptionError, match="numeric"):
        fitted("object + tie", numbers)
    alone = frame[(frame["judge"] == "J2") | ~frame[["object_i", "object_j"]].eq("A").any(axis=1)]
    two = alone[(alone["judge"] == "J1") | alone[["object_i", "object_j"]].eq("A").any(axis=1)]
    some = two[(two["judge"] == "J1") | (two["object_j"] == "B")]  # J2 judged A and B alone, and nobody else A
    with pytest.raises(DesignError, match="does not identify"):
        fitted("object + tie", llbt.from_counts(some, covariates="judge"))


def test_worths_of_groups_of_judges_are_refused_beside_discriminations() -> None:
    """The worths of one group may be doubled if its discriminations are halved: nothing depends on it."""
    frame = planted([1.0, 0.8, 1.2, 1.1], 20, seed=1)
    frame = frame.assign(sex=np.where(frame["judge"].isin(["J1", "J2"]), "f", "m"))
    with pytest.raises(DesignError, match="groups of judges have separate worths"):
        fitted("object * sex + tie", llbt.from_counts(frame, covariates=["judge", "sex"]))


@pytest.mark.slow
def test_terms_of_every_kind_beside_discriminations() -> None:
    """Second route: with the discriminations found held, all else is a fit by a covariate of the sides: σ times λ."""
    frame = planted([1.2, 0.8, 0.6, -0.4], 40, seed=6, order=0.2)
    frame["my judge"] = frame.pop("judge").str[1:].astype(int)
    prices = pd.DataFrame({"object": list("ABCD"), "price": [3.0, 2.5, 1.0, 0.5]})
    c = llbt.from_counts(frame, covariates="my judge", order=True, object_covariates=prices)
    found = fitted("price + I(price ** 2) + tie + order * `my judge`", c, "my judge")
    assert found.wider.res is not None
    assert 'price:Q("my judge")' in found.wider.formula
    assert found.discriminations.index.tolist() == [1, 2, 3, 4]
    factor = frame["my judge"].map(found.discriminations)
    for power in (1, 2):
        for side in "ij":
            price = frame[f"object_{side}"].map(prices.set_index("object")["price"])
            frame[f"x{power}_{side}"] = factor * price**power
    sides = {f"x{power}": (f"x{power}_i", f"x{power}_j") for power in (1, 2)}
    plain = llbt.fit(
        "x1 + x2 + tie + order * `my judge`",
        llbt.from_counts(frame, covariates="my judge", order=True, side_covariates=sides),
    )
    assert isinstance(plain, llbt.LLBTResults)
    np.testing.assert_allclose(plain.params, found.params, atol=1e-7)
    assert plain.llf == pytest.approx(found.llf, abs=1e-7)


def test_judges_in_groups_with_worths_of_their_own_are_refused() -> None:
    """In each group discriminations are known up to a factor of its own, so there is one too many."""
    frame = planted([1.2, 0.8, 0.6, 1.0], 20, seed=6)
    frame["school"] = np.where(frame["judge"].isin(["J1", "J2"]), "x", "y")
    c = llbt.from_counts(frame, covariates=["judge", "school"])
    with pytest.raises(DesignError, match="does not identify"):
        fitted("object * school + tie", c)


@pytest.mark.slow
def test_a_maximum_at_infinity_that_no_judge_reaches_alone_is_named() -> None:
    """J1 contradicts himself on no scale of the others: as his σ outgrows theirs, worths move, too.

    A search of scipy on the likelihood written out runs away as well.
    """
    said = {"J1": "jjijjt", "J2": "ijjjij", "J3": "jjjiij"}
    pairs = ("BA", "CA", "CB", "DA", "DB", "DC")
    rows = [
        (*pair, judge, *(float(outcome == kind) for kind in ("i", "t", "j")))
        for judge, outcomes in said.items()
        for pair, outcome in zip(pairs, outcomes, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])
    with pytest.raises(
        SeparationError, match=r"judge 'J1' is \+∞ \(6 judgments\), because the likelihood rises without end"
    ):
        fitted("object + tie", llbt.from_counts(frame, covariates="judge"))
    start = np.array([0.5, -0.3, 0.4, -0.5, 1.0, 0.8, 0.6])
    found = optimize.minimize(lambda theta: -_explicit(frame, theta, False, False), start, method="BFGS")
    assert np.abs(found.x).max() > 50


def test_profile_intervals_are_where_the_likelihood_has_fallen() -> None:
    """Reference: scipy's BFGS over the parameters and the ratios of the other discriminations."""
    found = fitted("object + tie", llbt.from_counts(planted([1.3, 1.0, 0.2], each=6, seed=8), covariates="judge"))
    judged, solution, p = found.judging.judged, found.solution, len(found.names)
    bounds = found.discrimination_intervals(method="profile")
    for which, value in ((0, bounds.iloc[0, 1]), (2, bounds.iloc[2, 0])):
        others = np.arange(3) != which

        def fallen(at: np.ndarray, which: int = which, value: float = value, others: np.ndarray = others) -> float:
            sigma = np.full(3, value)
            left = (1 - judged.share[which] * value**2) / (judged.share[others] @ at[p:] ** 2)
            sigma[others] = at[p:] * np.sqrt(left)
            counts = judged.problem.counts
            return solution.value - float((counts * np.log(judged.probabilities(at[:p], sigma))).sum())

        start = np.concatenate([solution.params, solution.sigma[others]])
        there = optimize.minimize(fallen, start, method="BFGS", options={"gtol": 1e-5})
        assert there.fun == pytest.approx(stats.chi2.isf(0.05, 1) / 2, rel=1e-3)


def test_profile_intervals_are_those_of_wald_with_many_judgments() -> None:
    found = fitted("object + tie", llbt.from_counts(planted([1.3, 1.0, 0.2], each=2000, seed=8), covariates="judge"))
    narrow = found.discrimination_errors.to_numpy()[:, None]
    apart = (found.discrimination_intervals(method="profile") - found.discrimination_intervals()).to_numpy()
    assert np.abs(apart / narrow).max() < 0.1
