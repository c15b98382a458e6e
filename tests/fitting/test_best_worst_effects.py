"""Best-worst sets with normal effects of judges, against integrals on a grid that know nothing of the package."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special

import llbt
import llbt.inference.kinds  # registers the kinds of fits
from llbt.errors import DesignError, FormulaError, OptionError
from llbt.fitting import best_worst_effects
from llbt.inference.unit_models import unit_model

BRACKET = "(object | judge)"
SHOWN = ["s1", "s2", "s3"]


@cache
def said() -> pd.DataFrame:
    """Ten judges see the same three objects five times, and name the best and the worst."""
    rng = np.random.default_rng(4)
    rows = []
    for g in range(10):
        own = np.array([0.6, 0.1, -0.7]) + 0.8 * rng.normal(size=3)
        for _ in range(5):
            ends = [(i, j) for i in range(3) for j in range(3) if i != j]
            p = special.softmax([own[i] - own[j] for i, j in ends])
            i, j = ends[rng.choice(6, p=p)]
            rows.append([*"ABC", "ABC"[i], "ABC"[j], f"J{g}", "fm"[g % 2]])
    return pd.DataFrame(rows, columns=[*SHOWN, "best", "worst", "judge", "sex"])


def read(frame: pd.DataFrame) -> llbt.Rankings:
    return llbt.from_choices(frame, objects=SHOWN, best="best", worst="worst", covariates="sex", clusters="judge")


@cache
def fitted():
    return llbt.fit(f"object + {BRACKET}", read(said()))


def brute(lam_a: float, lam_b: float, sigma: float) -> np.ndarray:
    """Return log L of each judge: sums over a grid of b_A − b_C and b_B − b_C, which have covariance σ²(I + 11ᵀ)."""
    at = np.linspace(-8, 8, 161)
    z1, z2 = np.meshgrid(at, at, indexing="ij")
    weight = np.exp(-(z1**2 + z2**2) / 2)
    weight /= weight.sum()
    root = np.linalg.cholesky(np.array([[2.0, 1.0], [1.0, 2.0]]))
    worth = {"A": lam_a + sigma * root[0, 0] * z1, "B": lam_b + sigma * (root[1, 0] * z1 + root[1, 1] * z2)}
    worth["C"] = 0 * z1
    total = sum(np.exp(worth[i] - worth[j]) for i in "ABC" for j in "ABC" if i != j)
    found = []
    for _, of_judge in said().groupby("judge"):
        chance = np.ones_like(z1)
        for best, worst in zip(of_judge["best"], of_judge["worst"], strict=True):
            chance = chance * np.exp(worth[best] - worth[worst]) / total
        found.append(np.log((weight * chance).sum()))
    return np.array(found)


@pytest.mark.parametrize("params", [(0.7, 0.4, 0.3), (0.9, 0.5, 0.9), (1.5, -0.2, 1.4)])
def test_the_log_likelihood_of_each_judge_is_the_integral_over_their_effects(params) -> None:
    found = fitted().sets.each(np.array(params))[0]
    np.testing.assert_allclose(found, brute(*params), atol=2e-5)


def test_the_sample_that_more_objects_have_is_near_the_integral(monkeypatch) -> None:
    monkeypatch.setattr(best_worst_effects, "_SLOPES", {})
    sets = best_worst_effects.SetsByJudge.of(llbt.fit("object", read(said())), fitted().sets.judge)
    at = fitted().solution.params
    assert sets.each(at)[0].sum() == pytest.approx(brute(*at).sum(), abs=0.03)


def test_sets_of_two_are_comparisons_with_normal_effects_of_judges() -> None:
    rng = np.random.default_rng(2)
    won = rng.random(80) < np.repeat(special.expit(rng.normal(0.5, 1.2, 10)), 8)
    rows = pd.DataFrame({"s1": "A", "s2": "B", "judge": [f"J{k // 8}" for k in range(80)]})
    rows["best"], rows["worst"] = np.where(won, "A", "B"), np.where(won, "B", "A")
    data = llbt.from_choices(rows, objects=["s1", "s2"], best="best", worst="worst", clusters="judge")
    res = llbt.fit(f"object + {BRACKET}", data)
    pairs = llbt.fit(f"object + {BRACKET}", data.to_comparisons())
    assert res.llf == pytest.approx(pairs.llf, abs=1e-5)
    np.testing.assert_allclose(res.params, [*pairs.maximum.params, *pairs.maximum.scales], atol=1e-3)


def test_score_and_information_are_derivatives_of_the_log_likelihood() -> None:
    sets, at, step = fitted().sets, np.array([0.9, 0.4, 0.7]), 1e-5
    _, score, information = sets.each(at)
    for k, move in enumerate(step * np.eye(3)):
        up, down = sets.each(at + move), sets.each(at - move)
        np.testing.assert_allclose(score[:, k], (up[0] - down[0]) / (2 * step), atol=1e-7)
        np.testing.assert_allclose(information[:, :, k], -(up[1] - down[1]) / (2 * step), atol=1e-7)


@pytest.mark.slow
def test_estimates_and_errors_are_those_of_a_minimizer_of_the_integral() -> None:
    res = fitted()
    found = optimize.minimize(lambda x: -brute(*x).sum(), [0.5, 0.2, 0.5], method="Nelder-Mead",
                              options={"xatol": 1e-6, "fatol": 1e-9})  # fmt: skip
    np.testing.assert_allclose(res.params[["object[A]", "object[B]", BRACKET]], found.x, atol=2e-4)
    assert res.llf == pytest.approx(-found.fun, abs=1e-5)
    assert (res.converged, res.n_params, res.aic) == (True, 3, pytest.approx(6 - 2 * res.llf))
    h = 1e-3 * np.eye(3)
    bent = [[sum(s * t * brute(*(found.x + s * a + t * b)).sum() for s in (1, -1) for t in (1, -1)) / 4e-6
             for a in h] for b in h]  # fmt: skip
    np.testing.assert_allclose(res.bse.dropna(), np.sqrt(np.diag(np.linalg.inv(-np.array(bent)))), rtol=2e-3)


@pytest.mark.slow
def test_without_variance_it_is_the_fit_without_brackets() -> None:
    plain, res = llbt.fit("object", read(said())), fitted()
    at = np.append(plain.solution.params, 0.0)
    value, score, _ = res.sets.each(at)
    assert value.sum() == pytest.approx(plain.llf, abs=1e-9)
    np.testing.assert_allclose(score.sum(axis=0), 0, atol=1e-8)
    found = llbt.anova(plain, res).to_frame().iloc[1]
    ratio = 2 * (res.llf - plain.llf)
    assert found["statistic"] == pytest.approx(ratio)
    assert found["p_value"] == pytest.approx(special.erfc(np.sqrt(ratio / 2)) / 2)  # half of χ² with 1 df
    rows = said().assign(judge=[f"J{k % 10}" for k in range(50)])  # judges drawn by lot differ by chance alone
    alike = llbt.fit(f"object + {BRACKET}", read(rows))
    assert alike.scale == 0
    assert "σ = 0" in str(alike)
    low, high = alike.conf_int(method="profile").loc[BRACKET]
    assert low == 0 < high < 1
    np.testing.assert_allclose(alike.params.iloc[:2], plain.params.iloc[:2], atol=1e-4)


def test_a_judge_left_out_is_a_fit_without_the_judge() -> None:
    model = unit_model(fitted(), None, "by")
    assert (model.unit, model.counts @ model.sizes) == ("judge", 50)
    counts = model.counts.copy()
    counts[3] = 0
    again = llbt.fit(f"object + {BRACKET}", read(said().query("judge != 'J3'")))
    np.testing.assert_allclose(model.estimated(counts), again.solution.params, atol=1e-6)
    np.testing.assert_allclose(model.refitted(counts).solution.params, again.solution.params, atol=1e-6)
    np.testing.assert_allclose(model.log_scores(model.estimates).sum(), fitted().llf)
    by_sex = unit_model(fitted(), "sex", "by")
    assert (by_sex.labels, by_sex.parts.tolist()) == (("f", "m"), [5.0, 5.0])
    with pytest.raises(OptionError, match="one level for each judge"):
        unit_model(fitted(), "list", "by")


def test_a_set_is_predicted_for_a_judge_of_the_population() -> None:
    frame = fitted().predict().to_frame().drop_duplicates("ranking")
    assert len(frame) == 6
    assert frame["estimate"].sum() == pytest.approx(1)
    drawn = llbt.simulate(fitted(), 200, rng=1)
    share = np.mean([t.counts[(t.items[t.starts[:-1]] == 0) & (t.items[t.starts[:-1] + 1] == 2)].sum() for t in drawn])
    at = frame.set_index("ranking")["estimate"].filter(regex=r"^A.*C").iloc[0]
    assert share / 50 == pytest.approx(at, abs=0.02)


@pytest.mark.slow
def test_the_report_page_shows_the_worths_and_the_spread_of_the_judges(tmp_path) -> None:
    page = llbt.write_report(fitted(), tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Preferences in best-worst sets" in page
    assert f"{fitted().scale:.4f}" in page
    assert "llbt.leaderboard(res)" in page


def test_what_the_model_cannot_have_is_refused() -> None:
    data = read(said())
    with pytest.raises(OptionError, match="the judges are the independent units"):
        llbt.fit(f"object + {BRACKET}", data, cov_type="cluster", groups="judge")
    with pytest.raises(FormulaError, match="one bracket"):
        llbt.fit("object + (order | judge)", data)
    with pytest.raises(FormulaError, match="have no column 'nobody'"):
        llbt.fit("object + (object | nobody)", data)
    with pytest.raises(OptionError, match=r"integrated out.*llbt\.influence\(res\)"):
        llbt.judge_effects(fitted())
    many = pd.DataFrame([list("ABCDEFG")], columns=[f"s{k}" for k in range(7)]).assign(best="A", worst="B", judge="J")
    seven = llbt.from_choices(many, objects=[f"s{k}" for k in range(7)], best="best", worst="worst", clusters="judge")
    with pytest.raises(DesignError, match="at most 6 objects"):
        llbt.fit(f"object + {BRACKET}", seven)


@pytest.mark.slow
def test_profile_intervals_end_where_the_integral_maximized_over_the_worths_has_fallen_by_half_a_quantile() -> None:
    low, high = fitted().conf_int(method="profile").loc[BRACKET]
    for sigma in (low, high):
        inner = optimize.minimize(lambda x, at=sigma: -brute(*x, at).sum(), [0.0, -0.2], method="Nelder-Mead",
                                  options={"xatol": 1e-5, "fatol": 1e-8})  # fmt: skip
        assert -inner.fun == pytest.approx(fitted().llf - 3.841459 / 2, abs=1e-3)


@pytest.mark.slow
def test_questions_are_answered_from_the_protocols() -> None:
    res, data = fitted(), read(said())
    lam = np.append(res.params.to_numpy()[:2], 0.0)
    worths = llbt.worth(res).to_frame().set_index("object")["estimate"]
    np.testing.assert_allclose(worths[list("ABC")], special.softmax(2 * lam), rtol=1e-9)
    both = llbt.held_out([llbt.fit("object", data), res], folds=5, rng=1, by="judge").to_frame()
    assert both["log_loss"].iloc[1] < both["log_loss"].iloc[0]  # judges differ in these sets
    wide = llbt.fit(f"object * sex + {BRACKET}", data)
    ratio = 2 * (wide.llf - res.llf)
    for table in (llbt.drop1(wide), llbt.add1(res, "object:sex")):
        assert table.to_frame()["statistic"].max() == pytest.approx(ratio, abs=1e-6)
    again = llbt.fit(f"object + {BRACKET}", read(said().query("judge != 'J3'")))
    found = llbt.influence(res).to_frame().query("judge == 'J3'").set_index("object")["without"]
    np.testing.assert_allclose(found[["A", "B"]], again.params.iloc[:2], atol=1e-6)
    boot = llbt.bootstrap(res, n=3, rng=1).to_frame()
    assert boot["term"].tolist() == ["object[A]", "object[B]", BRACKET]
    assert f"standard deviation of {res.scale:.2f}" in llbt.interpret(res).text
    assert BRACKET in str(llbt.model_table([res]))
