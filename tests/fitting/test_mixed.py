"""Fits with effects of judges: the printout, σ and what is asked of it, and what is refused."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.calls import counts_of_judges
from support.mixed import judged_frame

import llbt
from llbt.errors import DesignError, OptionError, SeparationError
from llbt.fitting.variance_components import boundary_test

_COUNTS = ["object_i", "object_j", "wins_i", "ties", "wins_j"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return judged_frame(30, 0.8, seed=2)


@pytest.fixture(scope="module")
def res(frame: pd.DataFrame) -> llbt.MixedResults:
    found = llbt.fit("object + tie + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    assert isinstance(found, llbt.MixedResults)
    return found


def test_a_grouping_is_a_cluster_or_a_covariate(res: llbt.MixedResults, frame: pd.DataFrame) -> None:
    split = llbt.fit("object + tie + (object | judge)", llbt.from_counts(frame, covariates="judge"))
    assert len(split.comparisons) > len(res.comparisons)
    assert split.llf == pytest.approx(res.llf, abs=1e-9)
    np.testing.assert_allclose(split.params, res.params, atol=1e-8)
    np.testing.assert_allclose(split.scales, res.scales, atol=1e-8)


def test_the_printout_says_what_was_fitted(res: llbt.MixedResults) -> None:
    text = res.as_text()
    for said in (
        "with normal effects of judge",
        "Formula: object + tie + (object | judge)",
        "(object | judge)  σ",
        "½χ²₀ + ½χ²₁",
        "Adaptive Gauss-Hermite quadrature",
        "average judge",
    ):
        assert said in text
    assert f"{res.scales.iloc[0]:.4g}" in text
    assert res.to_frame()["term"].tolist() == list(res.names)


def test_tests_and_shares_of_the_standard_deviation(res: llbt.MixedResults) -> None:
    gain = 2 * (res.llf - res.without.llf)
    test = res.boundary_test()
    assert test.statistic == pytest.approx(gain)
    assert test.p_value == pytest.approx(stats.chi2.sf(gain, 1) / 2)
    sigma = float(res.scales.iloc[0])
    assert res.share_between == pytest.approx(8 * sigma**2 / (8 * sigma**2 + np.pi**2 / 3))
    assert res.aic == pytest.approx(-2 * res.llf + 2 * 4)
    assert res.without.params.index.tolist() == list(res.names)


def test_bounds_of_the_standard_deviation_are_those_of_the_profile(res: llbt.MixedResults) -> None:
    """At the bounds the likelihood, maximized by a search of scipy over all else, has fallen by χ²(.95)/2."""
    from scipy import optimize

    from llbt.kernel.marginal import marginal
    from llbt.kernel.quadrature import Quadrature

    judges = res.judges

    def fallen(sigma: float) -> float:
        def minus(params: np.ndarray) -> tuple[float, np.ndarray]:
            found = marginal(judges.problem, judges.grouped.bundles, params, np.array([sigma]), Quadrature(31))
            return -found.value, -found.score[:-1]

        found = optimize.minimize(minus, res.solution.params, jac=True, method="BFGS", options={"gtol": 1e-5})
        return float(res.llf + found.fun)

    bounds = res.scale_intervals().iloc[0]
    assert bounds["conf_low"] < res.scales.iloc[0] < bounds["conf_high"]
    for bound in bounds:
        assert fallen(bound) == pytest.approx(stats.chi2.isf(0.05, 1) / 2, rel=0.02)


def test_no_difference_between_judges_is_a_result() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": 4, "wins_j": 2, "judge": range(9)})
    c = llbt.from_counts(frame, clusters="judge")
    res, without = llbt.fit("object + (object | judge)", c), llbt.fit("object", c)
    assert isinstance(without, llbt.LLBTResults)
    assert res.scales.tolist() == [0.0]
    assert res.llf == pytest.approx(without.llf, abs=1e-8)
    np.testing.assert_allclose(res.params, without.params, atol=1e-8)
    np.testing.assert_allclose(res.bse, without.bse, rtol=1e-8)
    assert res.boundary_test().p_value == 1
    assert "σ = 0 for (object | judge)" in res.as_text()
    low, high = res.scale_intervals().iloc[0]
    assert low == 0
    z = np.linspace(-12, 12, 2001)

    def log_likelihood(at: float) -> float:  # of nine equal judges, by a sum
        p = 1 / (1 + np.exp(-2 * (at + high * np.sqrt(2) * z)))
        return float(9 * np.log(np.sum(p**4 * (1 - p) ** 2 * stats.norm.pdf(z)) * (z[1] - z[0])))

    at_bound = max(log_likelihood(at) for at in np.linspace(0, 1, 1001))
    assert res.llf - at_bound == pytest.approx(stats.chi2.isf(0.05, 1) / 2, rel=0.03)


def test_an_estimate_of_0_has_an_upper_bound_beside_others() -> None:
    """One σ is 0, the other is not: at the bound the likelihood has fallen by χ²(.95)/2, by a fit of the rest."""
    from llbt.kernel.mixed import MixedLikelihood, State, climbed, nothing
    from llbt.kernel.quadrature import Quadrature

    c = llbt.from_counts(judged_frame(25, 0.8, seed=4, each=4), clusters="judge")
    res = llbt.fit("object + tie + (object | judge) + (tie | judge)", c)
    assert isinstance(res, llbt.MixedResults)
    assert res.scales.iloc[0] > 0.3
    assert res.scales.iloc[1] == 0
    low, high = res.scale_intervals().iloc[1]
    assert low == 0
    likelihood = MixedLikelihood(res.judges.problem, res.judges.grouped.bundles, 1)
    at = np.concatenate([res.maximum.params, np.log([res.maximum.scales[0], high])])
    state = climbed(likelihood, State(at, (0, 1), nothing()), Quadrature(13), 1e-6)
    assert res.llf - state.marginal.value == pytest.approx(stats.chi2.isf(0.05, 1) / 2, rel=0.03)


def test_parameters_can_be_held_and_links_chosen(frame: pd.DataFrame) -> None:
    c = llbt.from_counts(frame, clusters="judge")
    free = llbt.fit("object + tie + (object | judge)", c, link="cumulative")
    held = llbt.fit(
        "object + tie + (object | judge)", c, link="cumulative", fixed={"tie": float(free.maximum.params[-1])}
    )
    assert held.llf == pytest.approx(free.llf, abs=1e-6)
    assert np.isnan(held.bse["tie"])
    np.testing.assert_allclose(held.maximum.params, free.maximum.params[:-1], atol=1e-4)


def test_results_survive_a_pickle(res: llbt.MixedResults) -> None:
    assert pickle.loads(pickle.dumps(res)).as_text() == res.as_text()


def test_what_is_not_there_says_where_to_look(res: llbt.MixedResults) -> None:
    with pytest.raises(AttributeError, match=r"has no deviance: .* no fitted counts"):
        _ = res.deviance


def _refused(frame: pd.DataFrame, formula: str, error: type[Exception], fragment: str, **options: object) -> None:
    c = llbt.from_counts(frame, clusters="judge")
    with pytest.raises(error, match=fragment):
        llbt.fit(formula, c, **options)  # type: ignore[arg-type]


def test_bad_input_is_refused(frame: pd.DataFrame) -> None:
    plain = "object + tie + (object | judge)"
    _refused(frame, "object + tie + (object | worker)", DesignError, "'worker' is not a column")
    _refused(frame[frame["judge"] < "J02"], plain, DesignError, "'judge' has 2 levels")
    _refused(
        frame[frame["judge"] < "J02"],
        "object + tie + (tie | judge)",
        DesignError,
        r"\), then llbt\.fit\('object \+ tie \+ tie:judge', c\)",
    )
    two = llbt.from_counts(frame[frame["judge"] < "J02"], covariates="judge")
    with pytest.raises(DesignError, match=r"covariate: llbt\.fit\('object \+ tie \+ object:judge', c\)"):
        llbt.fit(plain, two)
    assert llbt.fit("object + tie + object:judge", two, prior="jeffreys").converged
    _refused(frame, "object + tie + (order | judge)", DesignError, "deviations from order")
    _refused(frame, plain, OptionError, "cov_type='quasi' together with", cov_type="quasi")
    _refused(frame, plain, OptionError, "prior=1", prior=1)
    _refused(frame, f"{plain} + (tie | judge)", OptionError, "out of order", link="cumulative")
    alone = frame.assign(judge=[f"J{k}" for k in range(len(frame))], wins_i=1, ties=0, wins_j=0)
    alone.loc[::2, ["wins_i", "wins_j"]] = [0, 1]
    alone.loc[::5, ["wins_i", "ties", "wins_j"]] = [0, 1, 0]
    _refused(alone, plain, DesignError, "made one judgment")


@pytest.mark.parametrize(
    ("formula", "term"),
    [
        ("object + tie:judge + (tie | judge)", "tie:judge"),
        ("object + tie * C(judge) + (tie | judge)", r"tie:C\(judge\)"),
        ("object + order:judge + tie + (order | judge)", "order:judge"),
        ("object * judge + tie + (object | judge)", "object:judge"),
    ],
)
def test_effects_beside_parameters_of_each_judge_are_refused(formula: str, term: str) -> None:
    rows = [("A", "B", 4, 2, 3), ("B", "C", 3, 2, 2), ("C", "A", 3, 1, 2)]
    frame = pd.DataFrame([(*row, f"J{k}") for row in rows for k in range(4)], columns=[*_COUNTS, "judge"])
    c = llbt.from_counts(frame, covariates="judge", order=True)
    with pytest.raises(DesignError, match=f"{term}, which already gives each judge its own parameter"):
        llbt.fit(formula, c)


def test_a_ratio_of_rounding_is_none() -> None:
    """Log-likelihoods at σ = 0 are equal but for rounding: the p-value is 1, not ½."""
    assert boundary_test(-92.3678, float(np.nextafter(-92.3678, -93)), "(tie | judge)", 0.0).p_value == 1
    res = llbt.fit("price + (1 | object)", _priced())
    assert isinstance(res, llbt.MixedResults)
    assert res.scales.tolist() == [0.0]
    test = res.boundary_test()
    assert (test.statistic, test.p_value) == (0, 1)
    assert "likelihood ratio 0, p = 1" in res.as_text()
    assert "objects differ no more than by chance" in res.as_text()
    assert llbt.anova(res.without, res).to_frame()["p_value"].iloc[-1] == 1


def _priced() -> llbt.Comparisons:
    """Counts as near to those of log-worths of half the price as whole numbers are."""
    prices = dict(zip("ABCD", (1.0, 2.0, 4.0, 3.0), strict=True))
    wins = {(i, j): round(40 / (1 + np.exp(prices[j] - prices[i]))) for i in prices for j in prices if i < j}
    frame = pd.DataFrame([(*pair, won, 40 - won) for pair, won in wins.items()], columns=[*_COUNTS[:3], "wins_j"])
    table = pd.DataFrame({"object": list(prices), "price": list(prices.values())})
    return llbt.from_counts(frame, object_covariates=table)


@pytest.mark.slow
def test_many_effects_are_sampled_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six objects: the log-likelihood is that of 400,000 draws of the effects from their distribution."""
    rng = np.random.default_rng(4)
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    rows = []
    for g in range(15):
        own = rng.normal(0, 0.8, 6)
        for i, j in pairs[g % 3 :: 2]:
            rows.append(("ABCDEF"[i], "ABCDEF"[j], g, int(rng.random() < 1 / (1 + np.exp(-2 * (own[i] - own[j]))))))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i"]).assign(
        wins_j=lambda f: 1 - f["wins_i"]
    )
    res = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    assert isinstance(res, llbt.MixedResults)
    assert res.converged
    assert "Importance sampling" in res.as_text()
    assert np.all(res.maximum.noise[:-1] < 0.1 * res.bse)
    at = dict(zip(res.names, res.maximum.params, strict=True))
    worth = np.array([at.get(f"object[{name}]", 0.0) for name in "ABCDEF"])
    draws = worth + rng.normal(0, res.maximum.scales[0], (400_000, 6))
    total, variance = 0.0, 0.0
    for _, said in frame.groupby("judge"):
        i, j = said["object_i"].map("ABCDEF".index), said["object_j"].map("ABCDEF".index)
        sign = np.where(said["wins_i"] == 1, 1, -1)
        p = np.exp(-np.logaddexp(0, -2 * sign * (draws[:, i] - draws[:, j])).sum(axis=1))
        total += np.log(p.mean())
        variance += p.var() / p.mean() ** 2 / len(p)
    assert res.llf == pytest.approx(total, abs=4 * np.hypot(res.maximum.moved, np.sqrt(variance)))
    bounds = res.scale_intervals().iloc[0]
    assert bounds["conf_low"] < res.scales.iloc[0] < bounds["conf_high"]
    monkeypatch.setattr("llbt.fitting.effect_checks.BUDGET", 100)
    _refused(frame, "object + (object | judge)", DesignError, "too many to integrate")


def test_judges_who_never_waver_have_no_finite_standard_deviation() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "judge": range(10), "wins_i": [6] * 6 + [0] * 4})
    _refused(frame.assign(wins_j=6 - frame["wins_i"]), "object + (object | judge)", SeparationError, r"is \+∞")


def test_notes_say_what_makes_little_known(frame: pd.DataFrame) -> None:
    one = pd.DataFrame([("A", "B", "J99", 1, 0, 0)], columns=list(frame.columns))
    res = llbt.fit("object + tie + (object | judge)", llbt.from_counts(pd.concat([frame, one]), clusters="judge"))
    assert "1 of 31 levels of judge made one judgment" in res.as_text()
    nested = pd.DataFrame([(f"O{k}", f"O{k + 1}", f"J{k}", 3 + k % 3, 2) for k in range(6)])
    nested.columns = ["object_i", "object_j", "judge", "wins_i", "wins_j"]
    found = llbt.fit("object + (object | judge)", llbt.from_counts(nested, clusters="judge"))
    assert "Every pair was judged by a single level of judge" in found.as_text()


@pytest.mark.parametrize(("link", "brackets"), [("adjacent", "(object | judge) + (tie | judge)"), ("probit", "")])
def test_a_new_judge_is_an_average_over_judges(link: str, brackets: str) -> None:
    """Probabilities by a sum over a grid of effects; their errors by differences in every estimate."""
    c = llbt.from_counts(judged_frame(30, 0.8, seed=3, each=4, tie=0.9), clusters="judge")
    res = llbt.fit(f"object + tie + {brackets or '(object | judge)'}", c, link=link)  # type: ignore[arg-type]
    assert isinstance(res, llbt.MixedResults)
    assert (res.scales > 0).all()
    size = len(res.names)
    z = np.linspace(-8, 8, 161)
    weight = np.outer(stats.norm.pdf(z), stats.norm.pdf(z)) * (z[1] - z[0]) ** 2

    def averaged(at: np.ndarray) -> np.ndarray:
        params, (own, tie) = dict(zip(res.names, at[:size], strict=True)), (*np.exp(at[size:]), 0.0)[:2]
        u = params["object[A]"] - params["object[B]"] + own * np.sqrt(2) * z[:, None] + 0 * z[None]
        w = params["tie"] + tie * z[None] + 0 * z[:, None]
        p = res.average.response.probabilities(np.array([u.ravel(), w.ravel()]))[0]
        return np.asarray(p @ weight.ravel())

    at = np.concatenate([res.solution.params, np.log(res.solution.scales)])
    found = res.predict(population=True).to_frame().query("object_i == 'A' and object_j == 'B'")
    np.testing.assert_allclose(found["estimate"], averaged(at), atol=1e-6)
    jacobian = np.array([(averaged(at + h) - averaged(at - h)) / 2e-4 for h in 1e-4 * np.eye(len(at))])
    errors = np.sqrt(np.diag(jacobian.T @ res.solution.covariance @ jacobian))
    np.testing.assert_allclose(found["std_error"], errors, rtol=1e-4)


def test_a_new_judge_is_less_decided_than_the_average_one(res: llbt.MixedResults) -> None:
    frame = pd.DataFrame({"object_i": ["A"], "object_j": ["C"]})
    average, new = (res.predict(frame, population=flag).to_frame()["estimate"] for flag in (False, True))
    assert average[0] > new[0] > new[2] > average[2]


def test_without_effects_a_new_judge_is_the_average_one() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": 4, "wins_j": 2, "judge": range(9)})
    res = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    average, new = (res.predict(population=flag).to_frame() for flag in (False, True))
    np.testing.assert_allclose(new[["estimate", "std_error"]], average[["estimate", "std_error"]], rtol=1e-10)


def test_caution_is_in_the_effects(res: llbt.MixedResults) -> None:
    """The default of the command line: standard errors of the observed information, as without it."""
    cautious = llbt.fit("object + tie + (object | judge)", res.comparisons, cov_type="cautious")
    np.testing.assert_array_equal(cautious.bse, res.bse)


# -- what takes long ---------------------------------------------------------------------------------------------------


def test_a_fit_that_takes_long_says_what_runs_and_what_is_faster(monkeypatch):
    """The warning stands at the line of the caller; what it names is accepted as it is written."""
    c, formula = counts_of_judges(), "object + tie + (object | judge)"
    monkeypatch.setattr("llbt.resampling._PATIENCE", 1.0)
    with pytest.warns(llbt.errors.SlowWarning, match=r"integrals over \(object \| judge\) take long") as caught:
        plain = llbt.fit(formula, c)
    assert len(caught) == 1  # once, however many steps
    assert caught[0].filename == __file__
    written = re.search(r"approximation='(\w+)'", str(caught[0].message))[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", llbt.errors.SlowWarning)
        llbt.fit(formula, c, progress=True)
    with pytest.warns(llbt.errors.SlowWarning, match=r"take long: progress=True shows the steps\.$"):
        llbt.fit(formula, c, approximation=written)
    assert plain.llf == llbt.fit(formula, c, progress=True).llf


def test_a_bar_counts_the_steps_of_a_fit(capsys):
    res = llbt.fit("object + tie + (object | judge)", counts_of_judges(), progress=True)
    said = capsys.readouterr().err
    assert "fit: " in said
    assert int(re.findall(r"(\d+) steps \[", said)[-1]) >= res.solution.n_iter
    assert "95 % intervals of σ (with 8 levels, upper ends are too low): res.scale_intervals()" in res.as_text()
    bounds = res.scale_intervals(confidence=0.9, progress=True)
    assert "scale_intervals: " in capsys.readouterr().err
    pd.testing.assert_frame_equal(res.scale_intervals(confidence=0.9), bounds)
