"""Fits by Laplace's approximation: asked for, taken for crossed groupings, its bias, and what is refused."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.mixed import judged_frame

import llbt
from llbt.errors import DesignError, OptionError


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    found = judged_frame(30, 0.8, seed=2)
    return found.assign(prompt=np.arange(len(found)) * 7 % 11 % 6)


@pytest.fixture(scope="module")
def crossed(frame: pd.DataFrame) -> llbt.MixedResults:
    c = llbt.from_counts(frame, clusters=("judge", "prompt"))
    found = llbt.fit("object + tie + (object | judge) + (tie | prompt)", c)
    assert isinstance(found, llbt.MixedResults)
    return found


@pytest.fixture(scope="module")
def res(frame: pd.DataFrame) -> llbt.MixedResults:
    c = llbt.from_counts(frame, clusters="judge")
    found = llbt.fit("object + tie + (object | judge)", c, approximation="laplace")
    assert isinstance(found, llbt.MixedResults)
    return found


def test_one_point_of_quadrature_is_the_same_approximation(res: llbt.MixedResults) -> None:
    from llbt.kernel.marginal import marginal
    from llbt.kernel.quadrature import Quadrature

    found = res.maximum
    bundles = res.judges.grouped.bundles
    one = marginal(res.judges.problem, bundles, found.params, found.scales, Quadrature(1))
    assert res.llf == pytest.approx(one.value, abs=5e-5)  # whose modes are found to 1e-5
    assert res.converged
    assert "Laplace's approximation" in res.as_text()
    assert res.specification.approximation == "laplace"


def test_effects_are_those_of_the_groups(res: llbt.MixedResults) -> None:
    """Raw effects of all objects, and contrasts that a judge can know: two parametrizations."""
    from dataclasses import replace

    by_modes = llbt.judge_effects(replace(res, solution=replace(res.solution, predicted=())))
    found = llbt.judge_effects(res)
    np.testing.assert_allclose(found.effects, by_modes.effects, atol=1e-5)
    np.testing.assert_allclose(found.effect_errors, by_modes.effect_errors, atol=1e-5)


def test_bounds_of_the_standard_deviation_are_about_the_estimate(res: llbt.MixedResults) -> None:
    bounds = res.scale_intervals().iloc[0]
    assert bounds["conf_low"] < res.scales.iloc[0] < bounds["conf_high"]


def test_crossed_groupings_are_those_of_lme4() -> None:
    """R's glmer with a multi-membership design of (1 | judge:object) and (1 | prompt:object); see the script there."""
    folder = Path(__file__).parents[1] / "reference" / "models"
    expected = json.loads((folder / "crossed_glmer.json").read_text())
    frame = pd.read_csv(folder / "crossed_glmer.csv")
    frame["wins_i"], frame["wins_j"] = frame["y"], 1 - frame["y"]
    c = llbt.from_counts(frame.drop(columns="y"), clusters=("judge", "prompt"))
    res = llbt.fit("object + (object | judge) + (object | prompt)", c, approximation="laplace")
    assert isinstance(res, llbt.MixedResults)
    assert res.llf == pytest.approx(expected["logLik"], abs=1e-5)
    assert res.names == tuple(f"object[{name}]" for name in expected["objects"])
    np.testing.assert_allclose(res.maximum.params, expected["coefficients"], atol=1e-4)
    np.testing.assert_allclose(res.maximum.scales, [expected["sigma"][name] for name in ("judge", "prompt")], atol=1e-4)


def test_crossed_groupings_have_a_scale_each(crossed: llbt.MixedResults, frame: pd.DataFrame) -> None:
    assert list(crossed.scales.index) == ["(object | judge)", "(tie | prompt)"]
    assert "30 levels of judge and of 6 levels of prompt" in crossed.as_text()
    assert set(llbt.judge_effects(crossed, by="prompt").to_frame()["prompt"]) == set(range(6))
    assert llbt.judge_effects(crossed).worths().shape == (30, 3)
    assert pickle.loads(pickle.dumps(crossed)).as_text() == crossed.as_text()
    turned = llbt.fit("object + tie + (tie | prompt) + (object | judge)", crossed.comparisons)
    assert turned.llf == pytest.approx(crossed.llf, abs=1e-7)
    np.testing.assert_allclose(turned.maximum.scales, crossed.maximum.scales[::-1], atol=1e-4)
    np.testing.assert_allclose(turned.scales**2, crossed.scales[turned.scales.index] ** 2, atol=5e-4)


def test_a_new_judge_has_new_effects_of_both(crossed: llbt.MixedResults) -> None:
    average, new = (crossed.predict(population=flag).to_frame()["estimate"] for flag in (False, True))
    assert (average - new).abs().max() > 0.01
    assert np.isfinite(crossed.predict(at={"judge": "J01", "prompt": 2}).to_frame()["std_error"]).all()


@pytest.mark.slow
def test_the_bias_is_towards_zero_where_judgments_are_few() -> None:
    c = llbt.from_counts(judged_frame(100, 1.2, seed=0, each=1), clusters="judge")
    res = llbt.fit("object + tie + (object | judge)", c, approximation="laplace")
    assert isinstance(res, llbt.MixedResults)
    found = res.laplace_bias(rng=1).to_frame().set_index("term")
    again = res.laplace_bias(rng=1).to_frame().set_index("term")
    pd.testing.assert_frame_equal(found, again)
    sigma = found.loc["σ (object | judge)"]
    assert sigma["bias"] < -2 * sigma["std_error"]
    exact = llbt.fit("object + tie + (object | judge)", c).scales.iloc[0]
    assert abs(sigma["corrected"] - exact) < abs(sigma["estimate"] - exact)


def test_what_cannot_be_approximated_is_refused(frame: pd.DataFrame) -> None:
    c = llbt.from_counts(frame.assign(worker=frame["judge"].str.lower()), clusters=("judge", "worker"))
    with pytest.raises(OptionError, match="without brackets"):
        llbt.fit("object + tie", c, approximation="laplace")
    with pytest.raises(DesignError, match="'judge' and 'worker' divide the judgments into the same 30 groups") as error:
        llbt.fit("object + tie + (object | judge) + (object | worker)", c)
    assert "llbt.fit('object + tie + (object | judge)', c)" in str(error.value)
    exact = llbt.fit("object + tie + (object | judge)", c)
    with pytest.raises(DesignError, match="not integrated out by Laplace"):
        exact.laplace_bias()
    with pytest.raises(OptionError, match="by='prompt'"):
        llbt.judge_effects(exact, by="prompt")


# -- effects of objects, and of grades and both bad ---------------------------------------------------------------


def _priced(each: int = 400, seed: int = 3) -> llbt.Comparisons:
    """Three objects with a price, and worths that the price does not wholly explain."""
    rng = np.random.default_rng(seed)
    worth = {"A": 0.9, "B": -0.5, "C": 0.4}
    rows = []
    for i, j in (("A", "B"), ("A", "C"), ("B", "C")):
        wins = rng.binomial(each, 1 / (1 + np.exp(-2 * (worth[i] - worth[j]))))
        rows.append((i, j, wins, each - wins))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "wins_j"])
    prices = pd.DataFrame({"object": ["A", "B", "C"], "price": [1.0, 2.0, 4.0]})
    return llbt.from_counts(frame, object_covariates=prices)


def _summed(c: llbt.Comparisons, price: float, sigma: float) -> float:
    """The log-likelihood with effects of three objects summed out on a grid of two differences, by hand."""
    z = np.linspace(-7, 7, 701) * sigma
    d, e = np.meshgrid(z, z, indexing="ij")  # b_A − b_C and b_B − b_C: covariance σ²(I + 11ᵀ)
    log = -(2 * d**2 + 2 * e**2 - 2 * d * e) / 3 / (2 * sigma**2) - np.log(2 * np.pi * sigma**2 * np.sqrt(3))
    own = {"A": d - 3 * price, "B": e - 2 * price, "C": 0 * d}
    for (i, j), (wins, losses) in zip(c.pairs, c.outcome_counts, strict=True):
        u = own[c.objects[i]] - own[c.objects[j]]
        log -= wins * np.logaddexp(0, -2 * u) + losses * np.logaddexp(0, 2 * u)
    return float(np.log(np.exp(log - log.max()).sum()) + log.max() + 2 * np.log(z[1] - z[0]))


def test_objects_have_effects_beside_their_covariates() -> None:
    """By quadrature; with 400 judgments a pair the integrand is all but normal, so Laplace's approximation agrees."""
    c = _priced()
    res = llbt.fit("price + (1 | object)", c)
    assert isinstance(res, llbt.MixedResults)
    assert "Adaptive Gauss-Hermite quadrature" in res.as_text()
    approximated = llbt.fit("price + (1 | object)", c, approximation="laplace")
    assert isinstance(approximated, llbt.MixedResults)
    assert approximated.llf == pytest.approx(res.llf, abs=0.01)
    assert "may be far off" in approximated.as_text()
    (price,), (sigma,) = res.maximum.params, res.maximum.scales
    assert res.llf == pytest.approx(_summed(c, price, sigma), abs=0.01)
    for by in (0.9, 1.1):
        assert _summed(c, price, sigma * by) < res.llf + 0.01
    price = float(res.params["price"])
    effects = llbt.judge_effects(res, by="object").to_frame().set_index("object")["estimate"]
    worths = llbt.fit("object", c).params
    found = effects["A"] - effects["C"] - 3 * price
    assert found == pytest.approx(worths["object[A]"], abs=0.03)  # so many judgments leave the prior no say
    assert effects.sum() == pytest.approx(0, abs=1e-6)
    assert "3 levels of object" in res.as_text()


def _sparse(objects: int, votes: int, seed: int) -> llbt.Comparisons:
    """Random pairs of objects with worths of sd .6 about half a covariate, a vote each."""
    rng = np.random.default_rng(seed)
    names, price = [f"o{k:02d}" for k in range(objects)], rng.normal(size=objects)
    worth = 0.5 * price + 0.6 * rng.normal(size=objects)
    i = rng.integers(objects, size=votes)
    j = (i + rng.integers(1, objects, size=votes)) % objects
    won = (rng.random(votes) < 1 / (1 + np.exp(-2 * (worth[i] - worth[j])))).astype(int)
    frame = pd.DataFrame(
        {"object_i": np.array(names)[i], "object_j": np.array(names)[j], "wins_i": won, "wins_j": 1 - won}
    )
    return llbt.from_counts(frame, object_covariates=pd.DataFrame({"object": names, "price": price}))


def test_effects_of_few_judgments_are_integrated_over() -> None:
    """Eight objects, 24 votes: the log-likelihood is that of draws of the effects from their distribution."""
    c = _sparse(8, 24, seed=5)
    res = llbt.fit("price + (1 | object)", c)
    assert isinstance(res, llbt.MixedResults)
    assert "Importance sampling" in res.as_text()
    assert "by profile likelihood" in res.as_text()
    low, high = res.scale_intervals().iloc[0]
    assert low < res.scales.iloc[0] < high
    drawn = res.maximum.scales[0] * np.random.default_rng(1).normal(size=(100_000, 8))
    problem = res.judges.problem
    eta = problem.at(res.maximum.params)[0] + drawn[:, _pairs(res)[:, 0]] - drawn[:, _pairs(res)[:, 1]]
    log = -(problem.counts.T[:, None] * np.logaddexp(0, np.stack([-2 * eta, 2 * eta]))).sum(axis=(0, 2))
    value = np.logaddexp.reduce(log) - np.log(len(log))
    noise = np.exp(log - value).std() / np.sqrt(len(log))
    assert noise < 0.03
    assert res.llf == pytest.approx(value, abs=0.1)  # whose own error is below .1
    approximated = llbt.fit("price + (1 | object)", c, approximation="laplace")
    assert isinstance(approximated, llbt.MixedResults)
    assert approximated.llf < res.llf - 0.1


def _pairs(res: llbt.MixedResults) -> np.ndarray:
    assert res.judges.lines is not None
    return res.judges.lines.pairs


@pytest.mark.slow
@pytest.mark.parametrize(("objects", "votes", "seed"), [(8, 24, 5), (12, 30, 7)])
def test_maxima_solve_the_equations_of_a_gibbs_sampler(objects: int, votes: int, seed: int) -> None:
    """At the maximum E|u|² = Jσ² and E Xᵀ(y − p) = 0 given the judgments (Fisher's identity): Pólya-Gamma draws."""
    res = llbt.fit("price + (1 | object)", _sparse(objects, votes, seed))
    assert isinstance(res, llbt.MixedResults)
    rng, problem, pairs = np.random.default_rng(3), res.judges.problem, _pairs(res)
    place = np.arange(len(pairs))
    apart = np.zeros((len(pairs), objects))
    apart[place, pairs[:, 0]], apart[place, pairs[:, 1]] = 2, -2  # on the scale of log-odds
    fixed, totals = 2 * problem.at(res.maximum.params)[0], problem.totals.astype(int)
    sigma, excess = float(res.maximum.scales[0]), problem.counts[:, 0] - problem.totals / 2
    u = np.zeros(objects)
    steps = (np.arange(1, 101) - 0.5) ** 2
    squares, scores = [], []
    for sweep in range(15_200):
        eta = fixed + apart @ u
        gammas = rng.gamma(np.broadcast_to(totals[:, None], (len(pairs), 100)))
        weight = (gammas / (steps + eta[:, None] ** 2 / (4 * np.pi**2))).sum(axis=1) / (2 * np.pi**2)
        weight += totals / 100 / (2 * np.pi**2)  # the mean of the terms left out
        cov = np.linalg.inv(apart.T @ (weight[:, None] * apart) + np.eye(objects) / sigma**2)
        u = cov @ (apart.T @ (excess - weight * fixed)) + np.linalg.cholesky(cov) @ rng.normal(size=objects)
        if sweep >= 200:
            squares.append(u @ u / sigma**2 - objects)
            p = 1 / (1 + np.exp(-fixed - apart @ u))
            scores.append(problem.signed.toarray()[:, 0] @ (problem.counts[:, 0] - problem.totals * p))
    for values in (squares, scores):  # of log σ, and of the slope; at Laplace's maximum that of log σ is .18
        batches = np.array(values).reshape(30, -1).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(30)
        assert error < 0.04
        assert abs(batches.mean()) < 3 * error + 0.02


def test_effects_of_objects_need_something_to_be_beside() -> None:
    c = _priced()
    with pytest.raises(DesignError, match="together with object"):
        llbt.fit("object + (1 | object)", c)
    two = llbt.from_counts(
        pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "wins_i": [4], "wins_j": [2]}),
        object_covariates=pd.DataFrame({"object": ["A", "B"], "price": [1.0, 2.0]}),
    )
    with pytest.raises(DesignError, match="2 objects"):
        llbt.fit("price + (1 | object)", two)


@pytest.mark.parametrize("approximation", [None, "laplace"])
def test_judges_differ_in_how_often_both_are_bad(approximation: str | None) -> None:
    """One effect of each judge on both bad: a sum over a grid, and for Laplace the same number by one point."""
    rng = np.random.default_rng(5)
    rows = []
    for g in range(20):
        bad = rng.normal(-0.5, 1.0)
        for i, j, u in (("A", "B", 0.4), ("A", "C", 0.2), ("B", "C", -0.2)):
            p = np.exp([u, 0.2, bad, -u])
            rows.append((i, j, g, *rng.multinomial(40, p / p.sum())))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "bad", "wins_j"])
    c = llbt.from_counts(frame, clusters="judge", ties_column={"ties": "tie", "bad": "bad"})
    res = llbt.fit("object + tie + bad + (bad | judge)", c, approximation=approximation)  # type: ignore[arg-type]
    assert isinstance(res, llbt.MixedResults)
    z = np.linspace(-9, 9, 2001)
    at = dict(zip(res.names, res.maximum.params, strict=True))
    sigma, total = float(res.maximum.scales[0]), 0.0
    worth = {"A": at["object[A]"], "B": at["object[B]"], "C": 0.0}
    for _, said in frame.groupby("judge"):
        log = -(z**2) / 2 - np.log(2 * np.pi) / 2
        for row in said.itertuples():
            u = worth[row.object_i] - worth[row.object_j]
            norm = np.log(np.exp(u) + np.exp(at["tie"]) + np.exp(at["bad"] + sigma * z) + np.exp(-u))
            log += row.wins_i * u + row.ties * at["tie"] + row.bad * (at["bad"] + sigma * z) - row.wins_j * u
            log -= (row.wins_i + row.ties + row.bad + row.wins_j) * norm
        total += np.log(np.exp(log).sum() * (z[1] - z[0]))
    assert res.llf == pytest.approx(total, abs=1e-6 if approximation is None else 0.1)
    assert res.scales.iloc[0] == pytest.approx(1.0, abs=0.5)
    assert llbt.judge_effects(res).others.shape == (20, 1)


def test_every_grade_has_an_effect_of_one_scale() -> None:
    """Two larger grades: a sum over a grid of two effects."""
    rng = np.random.default_rng(6)
    outcomes = ("+++", "++", "+", "-", "--", "---")
    rows = []
    for g in range(15):
        one, two = rng.normal(0, 0.8, 2)
        for i, j, u in (("A", "B", 0.3), ("A", "C", 0.1), ("B", "C", -0.2)):
            p = np.exp([5 * u + two, 3 * u + one, u, -u, -3 * u + one, -5 * u + two])
            rows.append((i, j, g, *rng.multinomial(30, p / p.sum())))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", *outcomes])
    c = llbt.from_counts(frame, clusters="judge", grades=outcomes)
    res = llbt.fit("object + grade + (grade | judge)", c)
    assert isinstance(res, llbt.MixedResults)
    z = np.linspace(-7, 7, 201)
    one, two = np.meshgrid(z, z, indexing="ij")
    at = dict(zip(res.names, res.maximum.params, strict=True))
    sigma, total = float(res.maximum.scales[0]), 0.0
    worth = {"A": at["object[A]"], "B": at["object[B]"], "C": 0.0}
    first, second = (at[name] for name in res.names if name.startswith("grade"))
    for _, said in frame.groupby("judge"):
        log = -(one**2 + two**2) / 2 - np.log(2 * np.pi)
        for row in said.itertuples(index=False):
            u = worth[row[0]] - worth[row[1]]
            a, b = first + sigma * one, second + sigma * two
            logs = [5 * u + b, 3 * u + a, u + 0 * a, -u + 0 * a, -3 * u + a, -5 * u + b]
            log += sum(n * weight for n, weight in zip(row[3:], logs, strict=True))
            log -= sum(row[3:]) * np.log(sum(np.exp(weight) for weight in logs))
        total += np.log(np.exp(log).sum() * (z[1] - z[0]) ** 2)
    assert res.llf == pytest.approx(total, abs=1e-5)
    effects = llbt.judge_effects(res)
    assert [label for _, label in effects.columns] == ["+", "++"]
    near = llbt.fit("object + grade + (grade | judge)", c, approximation="laplace")
    assert near.llf == pytest.approx(res.llf, abs=0.5)
    np.testing.assert_allclose(llbt.judge_effects(near).others, effects.others, atol=0.05)
    assert np.isfinite(res.predict(population=True).to_frame()["estimate"]).all()
    assert "effect γ of grade[++]" in llbt.plot.judge_effects(effects, of="grade[++]").get_xlabel()


def test_judges_of_the_table_are_simulated_with_all_their_effects(crossed: llbt.MixedResults) -> None:
    again = llbt.simulate(crossed, n=1, judges="same", rng=1)
    assert sum(table.n_judgments for table in again) == crossed.comparisons.n_judgments
