"""Bootstrap, simulation and bootstrap tests of fit, recomputed from the same draws by fitting one by one."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.draws import first_block
from support.fits import fit_by

import llbt
from llbt import Comparisons, LLBTResults
from llbt.core.response import THREE, both_bad, graded
from llbt.inference import simulated_counts
from llbt.inference.bootstrap_record import Bootstrap
from llbt.inference.simulated_counts import draw_clusters, draw_judgments, draw_parametric, with_counts
from llbt.kernel.batch import fit_many

COLUMNS = ["object_i", "object_j", "wins_i", "ties", "wins_j"]
COUNTS = COLUMNS[2:]


def quietly(formula: str, c: Comparisons, **options: object) -> LLBTResults:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", llbt.errors.ClusterWarning)
        return fit_by(formula, c, **options)


def close(found, expected, *, rtol=0.0, atol=0.0):
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=rtol, atol=atol)


def table(rows: list[tuple], **roles: object) -> Comparisons:
    return llbt.from_counts(pd.DataFrame(rows, columns=COLUMNS), **roles)


def pair(wins: int, losses: int) -> LLBTResults:
    """Two objects without ties: λ = ½ log(wins/losses), a function of one binomial count."""
    frame = pd.DataFrame([("A", "B", wins, losses)], columns=["object_i", "object_j", "wins_i", "wins_j"])
    return quietly("object", llbt.from_counts(frame))


def many_judges(judges: int = 25, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for judge in range(judges):
        for a, b in (("A", "B"), ("A", "C"), ("B", "C")):
            counts = rng.multinomial(rng.integers(3, 9), rng.dirichlet([5, 2, 4]))
            rows.append((a, b, *counts, f"J{judge:02d}"))
    return pd.DataFrame(rows, columns=[*COLUMNS, "judge"])


DRAS = llbt.load_dataset("dras_table1")
POOLED = quietly("object + tie", DRAS.pool())
BESIDE = quietly("object + tie", llbt.from_counts(many_judges(), clusters="judge"))
SPLITS = quietly("object + tie", llbt.from_counts(many_judges(), covariates="judge"))
DRAW = {
    "judgment": lambda res, n, rng: draw_judgments(res, n, rng),
    "parametric": lambda res, n, rng: draw_parametric(res.solution.means, n, rng),
    "judge": lambda res, n, rng: draw_clusters(res, "judge", n, rng),
}


def one_by_one(res: LLBTResults, counts: np.ndarray) -> np.ndarray:
    """Parameters of drawn tables, fitted with llbt.fit; NaN where there is no finite estimate."""
    found = np.full((len(counts), len(res.names)), np.nan)
    for b, drawn in enumerate(counts):
        try:
            fitted = quietly(
                res.specification.formula,
                with_counts(res.comparisons, drawn),
                reference=res.design.reference,
                fixed=res.fixed,
            )
        except llbt.errors.DesignError:
            continue
        found[b] = fitted.params[list(res.names)]
    return found


# -- replicates ------------------------------------------------------------------------------------------------------

REFITTED = {
    "pooled": (POOLED, ["judgment", "parametric"]),
    "clusters": (BESIDE, ["judgment", "parametric", "judge"]),
    "covariate": (SPLITS, ["judgment", "judge"]),
    "judge in the model": (quietly("object * judge + tie", DRAS), ["judgment", "parametric"]),
    "order": (quietly("object + order", llbt.load_dataset("baseball")), ["judgment", "parametric"]),
    "held": (quietly("object + tie", DRAS.pool(), fixed={"tie": -1.0}), ["judgment"]),
}


@pytest.mark.parametrize(("case", "resample"), [(case, how) for case, (_, ways) in REFITTED.items() for how in ways])
@pytest.mark.slow
def test_replicates_are_refits(case: str, resample: str) -> None:
    res = REFITTED[case][0]
    boot = llbt.bootstrap(res, resample=resample, n=12, rng=7)
    counts = DRAW[resample](res, 12, first_block(7))
    assert boot.names == res.names
    close(boot.estimate, res.params, rtol=1e-12)
    expected = one_by_one(res, counts)
    close(boot.replicates, expected, atol=1e-6)
    assert boot.degenerate == np.isnan(expected).any(axis=1).sum()
    assert len(np.unique(expected[:, 0])) > 6


def test_a_statistic_is_that_of_the_refits() -> None:
    counts = draw_judgments(POOLED, 8, first_block(3))

    def difference(res: LLBTResults) -> float:
        return float(res.params["object[A]"] - res.params["object[B]"])

    boot = llbt.bootstrap(POOLED, difference, n=8, rng=3)
    expected = one_by_one(POOLED, counts)
    close(boot.replicates[:, 0], expected[:, 0] - expected[:, 1], atol=1e-7)
    assert boot.names == ("statistic",)
    close(boot.estimate, [difference(POOLED)], rtol=1e-12)


def test_same_rng_same_result_and_global_state_untouched() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    a = llbt.bootstrap(POOLED, n=20, rng=5).replicates
    b = llbt.bootstrap(POOLED, n=20, rng=np.random.default_rng(5)).replicates
    other = llbt.bootstrap(POOLED, n=20, rng=6).replicates
    assert np.array_equal(a, b)
    assert not np.allclose(a, other)
    assert np.array_equal(llbt.bootstrap(POOLED, lambda res: res.params, n=20, rng=5).replicates.round(6), a.round(6))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    generator = np.random.default_rng(5)
    assert np.array_equal(llbt.bootstrap(POOLED, n=20, rng=generator).replicates, a)
    assert not np.allclose(llbt.bootstrap(POOLED, n=20, rng=generator).replicates, a)  # it moved on


def test_the_default_rng_differs_from_call_to_call() -> None:
    assert not np.allclose(llbt.bootstrap(POOLED, n=5).replicates, llbt.bootstrap(POOLED, n=5).replicates)


# -- draws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("resample", ["judgment", "parametric"])
def test_totals_of_comparisons_are_fixed(resample: str) -> None:
    for res in (POOLED, SPLITS, REFITTED["order"][0]):
        counts = DRAW[resample](res, 30, np.random.default_rng(0))
        assert counts.shape == (30, *res.counts.shape)
        assert np.array_equal(counts.sum(axis=2), np.tile(res.counts.sum(axis=1), (30, 1)))
        assert np.array_equal(counts, np.floor(counts))
        assert counts.min() >= 0
        assert len(np.unique(counts.reshape(30, -1), axis=0)) > 25


def test_draws_have_the_right_means() -> None:
    """2,000 draws: means within five of their standard errors; judgments vary about the counts, the rest about fits."""
    for resample, center in (("judgment", POOLED.counts), ("parametric", POOLED.solution.means)):
        counts = DRAW[resample](POOLED, 2000, np.random.default_rng(1))
        p = center / center.sum(axis=1, keepdims=True)
        error = np.sqrt(center * (1 - p) / 2000)
        assert np.all(np.abs(counts.mean(axis=0) - center) < 5 * error + 1e-9)
        close(counts.var(axis=0), center * (1 - p), rtol=0.25)
    assert np.abs(POOLED.counts - POOLED.solution.means).max() > 1


FEW = {
    "grades": (graded(2, middle=True), "object + tie + grade", [[1, 1, 1, 0, 1], [1, 0, 1, 1, 0], [1, 1, 0, 1, 1]]),
    "both bad": (both_bad(), "object + tie + bad", [[1, 1, 1, 1], [1, 0, 2, 1], [1, 1, 1, 2]]),
}


@pytest.mark.parametrize("case", FEW)
def test_few_judgments_of_many_outcomes_are_drawn_from_a_list(case: str) -> None:
    """3,000 draws of a comparison fall on the splits of its total as often as scipy's multinomial says (χ²)."""
    response, formula, counts = FEW[case]
    c = Comparisons(tuple("ABC"), np.array([[0, 1], [0, 2], [1, 2]]), np.array(counts, float), response, False)
    res = quietly(formula, c)
    drawn = draw_parametric(res.solution.means, 3000, np.random.default_rng(5))
    for s, means in enumerate(res.solution.means):
        splits, often = np.unique(drawn[:, s], axis=0, return_counts=True)
        p = stats.multinomial.pmf(splits, int(c.totals[s]), means / means.sum())
        rest = max(3000 * (1 - p.sum()), 1e-9)
        many = 3000 * p >= 5
        expected = [*(3000 * p[many]), 3000 * p[~many].sum() + rest]
        assert stats.chisquare([*often[many], often[~many].sum()], expected).pvalue > 1e-3
    assert llbt.bootstrap(res, n=20, rng=1).replicates.shape == (20, len(res.params))
    assert len(llbt.simulate(res, 3, rng=1)) == 3
    p_bootstrap = llbt.goodness_of_fit(res, n=20, rng=1).p_bootstrap
    assert p_bootstrap is not None
    assert 0 < min(p_bootstrap) <= max(p_bootstrap) <= 1
    assert "fit" in llbt.interpret(res).sentences


def test_an_empty_cell_stays_empty_when_judgments_are_resampled() -> None:
    res = quietly("object + tie", table([("A", "B", 5, 0, 4), ("B", "C", 3, 2, 4)]))
    assert draw_judgments(res, 50, np.random.default_rng(0))[:, 0, 1].max() == 0
    assert draw_parametric(res.solution.means, 50, np.random.default_rng(0))[:, 0, 1].max() > 0


@pytest.mark.parametrize("res", [BESIDE, SPLITS], ids=["cluster", "covariate"])
def test_clusters_move_whole(res: LLBTResults) -> None:
    """A drawn table is Σ m_g × the table of cluster g, with Σ m_g = G, by brute force over the same draws."""
    rows = many_judges().to_dict("records")
    keys = res.comparisons.to_frame().to_dict("records")
    parts = []
    for level in sorted({row["judge"] for row in rows}):
        part = np.zeros((len(keys), 3))
        for row in rows:
            for k, key in enumerate(keys):
                if row["judge"] == level and all(row[name] == key[name] for name in key if name not in COUNTS):
                    part[k] += [row[name] for name in COUNTS]
        parts.append(part)
    counts = draw_clusters(res, "judge", 10, np.random.default_rng(4))
    clusters = np.random.default_rng(4).integers(25, size=(10, 25))
    weights = [np.bincount(row, minlength=25) for row in clusters]
    for drawn, times in zip(counts, weights, strict=True):
        assert times.sum() == 25
        assert np.array_equal(drawn, sum(m * part for m, part in zip(times, parts, strict=True)))
    assert max(times.max() for times in weights) > 1


def test_a_covariate_and_a_cluster_resample_alike() -> None:
    a, b = (llbt.bootstrap(res, resample="judge", n=30, rng=2).replicates for res in (BESIDE, SPLITS))
    close(a, b, atol=1e-7)


def test_clusters_vary_more_than_judgments() -> None:
    """Dras's four judges differ far more than chance."""
    res = quietly("object + tie", DRAS)
    by_judge, single = (llbt.bootstrap(res, resample=how, n=400, rng=3) for how in ("judge", "judgment"))
    spread = [boot.to_frame().set_index("term").loc["object[A]", "std_error"] for boot in (by_judge, single)]
    assert spread[0] > 2 * spread[1]


def test_standard_errors_are_near_the_sandwiches() -> None:
    boot = llbt.bootstrap(POOLED, n=2000, rng=8).to_frame().set_index("term")
    close(boot["std_error"], quietly("object + tie", DRAS.pool(), cov_type="HC0").bse, rtol=0.1)
    clusters = llbt.bootstrap(BESIDE, resample="judge", n=2000, rng=8).to_frame().set_index("term")
    robust = quietly("object + tie", BESIDE.comparisons, cov_type="cluster", groups="judge")
    close(clusters["std_error"], robust.bse, rtol=0.15)


# -- fractional counts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("resample", ["judgment", "judge"])
def test_fractional_counts_are_refused_unless_parametric(resample: str) -> None:
    res = quietly("object", DRAS.split_ties())
    assert (res.counts % 1 > 0).any()
    with pytest.raises(llbt.errors.DesignError, match=r"fractional counts.*parametric"):
        llbt.bootstrap(res, resample=resample, n=5, rng=0)


def test_fractional_totals_are_rounded_up_as_often_as_they_say() -> None:
    frame = pd.DataFrame([("A", "B", 3.25, 2.5), ("A", "C", 4.0, 2.0)], columns=["object_i", "object_j", "x", "y"])
    res = quietly("object", llbt.from_counts(frame, wins=("x", "y")))
    counts = draw_parametric(res.solution.means, 4000, np.random.default_rng(1))
    totals = counts.sum(axis=2)
    assert set(np.unique(totals[:, 0])) == {5.0, 6.0}
    assert abs(totals[:, 0].mean() - 5.75) < 5 * np.sqrt(0.1875 / 4000)
    assert set(totals[:, 1]) == {6.0}
    assert llbt.bootstrap(res, resample="parametric", n=5, rng=0).replicates.shape == (5, 2)


# -- degenerate resamples --------------------------------------------------------------------------------------------


def test_degenerate_resamples_are_those_without_a_finite_estimate() -> None:
    """Ten judgments, one against: the estimate is infinite in about a third of the resamples."""
    res = pair(9, 1)
    boot = llbt.bootstrap(res, n=250, rng=1)
    wins = draw_judgments(res, 250, first_block(1))[:, 0, 0]
    separated = (wins == 0) | (wins == 10)
    assert 50 < separated.sum() < 125
    assert np.array_equal(np.isnan(boot.replicates[:, 0]), separated)
    assert boot.degenerate == separated.sum()
    close(boot.replicates[~separated, 0], np.log(wins[~separated] / (10 - wins[~separated])) / 2, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "rows"),
    [
        ("object + tie", [("A", "B", 4, 1, 2), ("B", "C", 3, 1, 2), ("A", "C", 3, 0, 1)]),
        ("object", [("A", "B", 4, 0, 2), ("B", "C", 3, 0, 2), ("A", "C", 3, 0, 1)]),
        ("object", [("A", "B", 6, 0, 2), ("B", "C", 5, 0, 1)]),
        ("object", [("A", "B", 2, 0, 2), ("A", "C", 2, 0, 2), ("A", "D", 1, 0, 4), ("B", "C", 2, 0, 2)]),
    ],
)
def test_degenerate_resamples_of_sparse_tables(formula: str, rows: list[tuple]) -> None:
    res = quietly(formula, table(rows))
    boot = llbt.bootstrap(res, n=150, rng=2)
    expected = one_by_one(res, draw_judgments(res, 150, first_block(2)))
    assert 5 < np.isnan(expected).any(axis=1).sum() < 145
    assert np.array_equal(np.isnan(boot.replicates), np.isnan(expected))
    close(boot.replicates, expected, atol=1e-6)


def test_large_designs_find_degenerate_tables_too() -> None:
    """Designs too large for dense products are fitted one by one: 61 objects, of which the last loses everything."""
    size = 61
    rows = [(k, m, 2, 0, 2) for k in range(size) for m in range(k + 1, size)]
    res = quietly("object", table(rows), reference=0)
    counts = res.counts.copy()
    last = res.comparisons.pairs[:, 1] == size - 1
    counts[last] = [4.0, 0.0]
    found = fit_many(res.problem(), np.stack([counts, res.counts]), res.solution.params)
    assert res.counts.shape[0] * len(res.names) ** 2 > 5e6
    assert found.degenerate.tolist() == [True, False]
    assert np.isnan(found.params[0]).all()
    close(found.params[1], np.zeros(60), atol=1e-9)


def made_up(replicates: np.ndarray, estimate: float = 0.5) -> Bootstrap:
    values = np.asarray(replicates, dtype=float)[:, None]
    return Bootstrap(POOLED, ("x",), np.array([estimate]), values, "judgment", lambda _: {"x": estimate})


def test_degenerate_resamples_stand_at_the_ends() -> None:
    """−∞ for lower bounds and +∞ for upper ones; the bound is infinite where they are more than its tail."""
    few = made_up(np.r_[np.full(2, np.nan), np.linspace(0, 1, 99)])
    low, high = few.conf_int(0.9).loc["x"]
    assert few.degenerate == 2
    values = np.linspace(0, 1, 99)
    close(low, np.quantile(np.r_[np.full(2, -1e9), values], 0.05), atol=1e-12)
    close(high, np.quantile(np.r_[values, np.full(2, 1e9)], 0.95), atol=1e-12)
    basic = few.conf_int(0.9, method="basic").loc["x"]
    close(basic, [1.0 - high, 1.0 - low], atol=1e-12)
    assert low < np.quantile(values, 0.05)  # wider than without them
    assert high > np.quantile(values, 0.95)
    many = made_up(np.r_[np.full(6, np.nan), np.linspace(0, 1, 95)])
    for method in ("percentile", "basic", "bca"):
        assert many.conf_int(0.9, method=method).loc["x"].tolist() == [-np.inf, np.inf], method
    frame = many.to_frame().iloc[0]
    close([frame["bias"], frame["std_error"]], [0.0, np.std(np.linspace(0, 1, 95), ddof=1)], atol=1e-12)
    assert "6 resamples had no finite estimate" in many.as_text()
    assert "no finite estimate" not in made_up(np.linspace(0, 1, 20)).as_text()


def test_a_sparse_table_has_infinite_bounds() -> None:
    """Of nine wins and one loss, all ten are wins with probability .9¹⁰ = .35 > .025: no interval ends there."""
    boot = llbt.bootstrap(pair(9, 1), n=300, rng=4)
    bounds = boot.conf_int().loc["object[A]"]
    assert bounds["conf_high"] == np.inf
    assert np.isinf(boot.conf_int(method="basic").loc["object[A]", "conf_low"])
    assert "resamples had no finite estimate" in boot.as_text()
    table_row = boot.to_frame().iloc[0]
    kept = boot.replicates[np.isfinite(boot.replicates)]
    close([table_row["std_error"], table_row["bias"]], [kept.std(ddof=1), kept.mean() - boot.estimate[0]], rtol=1e-12)


def test_all_resamples_degenerate() -> None:
    boot = made_up(np.full(20, np.nan))
    assert boot.degenerate == 20
    assert boot.conf_int().loc["x"].tolist() == [-np.inf, np.inf]
    assert np.isnan(boot.to_frame()["std_error"].iloc[0])


# -- intervals -------------------------------------------------------------------------------------------------------


def test_percentile_and_basic_are_quantiles() -> None:
    boot = llbt.bootstrap(POOLED, n=199, rng=9)
    for confidence in (0.95, 0.8):
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        quantiles = np.quantile(boot.replicates, tails, axis=0).T
        close(boot.conf_int(confidence), quantiles, atol=1e-12)
        basic = 2 * boot.estimate[:, None] - quantiles[:, ::-1]
        close(boot.conf_int(confidence, method="basic"), basic, atol=1e-12)
    close(boot.to_frame()[["conf_low", "conf_high"]], boot.conf_int(), atol=1e-12)
    assert boot.conf_int().index.tolist() == list(POOLED.names)


def bca_by_hand(values: np.ndarray, estimate: float, left_out: np.ndarray, tail: float) -> list[float]:
    """Efron & Tibshirani (1993), (14.10), (14.14), (14.15); `left_out` holds one value per unit left out."""
    z0 = stats.norm.ppf((np.mean(values < estimate) + np.mean(values <= estimate)) / 2)
    away = left_out.mean() - left_out
    a = np.sum(away**3) / (6 * np.sum(away**2) ** 1.5)
    z = stats.norm.ppf([tail, 1 - tail])
    tails = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
    return np.quantile(values, tails).tolist()


def leave_one_judgment_out(res: LLBTResults) -> np.ndarray:
    """The parameters without each judgment in turn, one row per judgment."""
    found = []
    for s, cell in np.argwhere(res.counts > 0):
        less = res.counts.copy()
        less[s, cell] -= 1
        fitted = quietly(res.specification.formula, with_counts(res.comparisons, less))
        found += [fitted.params.to_numpy()] * int(res.counts[s, cell])
    return np.array(found)


SMALL = quietly("object + tie", table([("A", "B", 12, 5, 4), ("B", "C", 15, 3, 6), ("A", "C", 17, 4, 3)]))


@pytest.mark.slow
def test_bca_of_a_statistic_by_hand() -> None:
    boot = llbt.bootstrap(SMALL, lambda res: res.params, n=199, rng=3)
    left_out = leave_one_judgment_out(SMALL)
    assert len(left_out) == SMALL.comparisons.n_judgments
    for confidence in (0.95, 0.8):
        expected = [
            bca_by_hand(boot.replicates[:, k], boot.estimate[k], left_out[:, k], (1 - confidence) / 2) for k in range(3)
        ]
        close(boot.conf_int(confidence, method="bca"), expected, atol=1e-7)
    assert not np.allclose(boot.conf_int(method="bca"), boot.conf_int(), atol=1e-3)


def test_bca_of_the_parameters_is_near_that_of_a_statistic() -> None:
    """The acceleration of the parameters is that of one Newton step instead of a refit."""
    boot = llbt.bootstrap(SMALL, n=199, rng=3)
    full = replace(llbt.bootstrap(SMALL, lambda res: res.params, n=1, rng=3), replicates=boot.replicates)
    spread = boot.replicates.std(axis=0)[:, None]
    difference = (boot.conf_int(method="bca") - full.conf_int(method="bca")) / spread
    close(difference, np.zeros((3, 2)), atol=0.25)


@pytest.mark.parametrize("statistic", [None, lambda res: res.params])
@pytest.mark.slow
def test_bca_of_clusters_by_hand(statistic) -> None:
    c = llbt.from_counts(many_judges(14), clusters="judge")
    res = quietly("object + tie", c)
    boot = llbt.bootstrap(res, statistic, resample="judge", n=120, rng=3)
    judges = sorted(many_judges(14)["judge"].unique())
    left_out = np.array(
        [
            quietly("object + tie", c.select(where={"judge": [j for j in judges if j != gone]})).params.to_numpy()
            for gone in judges
        ]
    )
    expected = [bca_by_hand(boot.replicates[:, k], boot.estimate[k], left_out[:, k], 0.025) for k in range(3)]
    spread = boot.replicates.std(axis=0).max()
    close(boot.conf_int(method="bca"), expected, atol=1e-7 if statistic else 0.25 * spread)


def test_bca_equals_scipy() -> None:
    """λ̂ = ½ log(wins/losses): one binomial, so scipy can resample the judgments themselves."""
    wins, losses, n = 150, 60, 20_000
    judgments = np.r_[np.ones(wins), np.zeros(losses)]

    def log_worth(x: np.ndarray, axis: int = -1) -> np.ndarray:
        share = np.mean(x, axis=axis)
        return np.log(share / (1 - share)) / 2

    boot = llbt.bootstrap(pair(wins, losses), n=n, rng=11)
    step = 0.5 * (1 / wins + 1 / losses)  # one judgment more: the distribution is discrete
    # a bound is right to half a judgment at this n, so ours and scipy's differ by one at the most
    for ours, theirs in (("percentile", "percentile"), ("basic", "basic"), ("bca", "BCa")):
        expected = stats.bootstrap(
            (judgments,), log_worth, n_resamples=n, method=theirs, rng=np.random.default_rng(12), batch=500
        ).confidence_interval
        close(boot.conf_int(method=ours).loc["object[A]"], [expected.low, expected.high], atol=1.15 * step)
    exact = stats.binom.ppf([0.025, 0.975], wins + losses, wins / (wins + losses)) / (wins + losses)
    close(boot.conf_int().loc["object[A]"], np.log(exact / (1 - exact)) / 2, atol=1.1 * step)


def test_bca_counts_replicates_that_equal_the_estimate_by_halves() -> None:
    """With as many wins as losses the distribution is symmetric about the estimate: no bias, no acceleration.

    A replicate that equals the estimate does so to rounding only; counted as below, it would shift the interval.
    """
    boot = llbt.bootstrap(pair(100, 100), n=20_000, rng=11)
    wins = draw_judgments(pair(100, 100), 20_000, np.random.default_rng(11))[:, 0, 0]
    assert 800 < np.sum(wins == 100) < 1500
    z0 = stats.norm.ppf((np.mean(wins < 100) + np.mean(wins <= 100)) / 2)
    tails = stats.norm.cdf([2 * z0 + stats.norm.ppf(0.025), 2 * z0 + stats.norm.ppf(0.975)])
    expected = np.quantile(np.log(wins / (200 - wins)) / 2, tails)
    close(boot.conf_int(method="bca").loc["object[A]"], expected, atol=1e-7)
    # a shift of all that equal it would be seen
    shifted = stats.norm.cdf(2 * stats.norm.ppf(np.mean(wins <= 100)) + stats.norm.ppf([0.025, 0.975]))
    assert not np.allclose(np.quantile(np.log(wins / (200 - wins)) / 2, shifted), expected, atol=1e-7)


def test_unknown_interval() -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"method='BCa'.*'bca'"):
        llbt.bootstrap(POOLED, n=5, rng=0).conf_int(method="BCa")


# -- any statistic ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statistic", "names"),
    [
        (lambda res: 2.0 * res.params["tie"], ("statistic",)),
        (lambda res: np.float64(res.params["tie"]), ("statistic",)),
        (lambda res: res.params.to_numpy(), tuple(f"statistic[{k}]" for k in range(4))),
        (lambda res: res.params[["tie", "object[A]"]], ("tie", "object[A]")),
        (lambda res: {"gap": res.params["object[A]"], "ties": res.params["tie"]}, ("gap", "ties")),
        (lambda res: [res.deviance], ("statistic",)),
    ],
)
def test_a_statistic_may_be_a_number_a_series_a_mapping_or_an_array(statistic, names) -> None:
    boot = llbt.bootstrap(POOLED, statistic, n=4, rng=1)
    assert boot.names == names
    counts = draw_judgments(POOLED, 4, first_block(1))
    expected = []
    for drawn in counts:
        found = statistic(quietly("object + tie", with_counts(POOLED.comparisons, drawn)))
        expected.append(np.ravel(list(found.values()) if isinstance(found, dict) else found))
    close(boot.replicates, expected, rtol=1e-9)
    assert boot.to_frame()["term"].tolist() == list(names)


@pytest.mark.slow
def test_a_series_is_matched_by_its_labels() -> None:
    """A statistic may list its values in another order in every resample, as llbt.worth does: the best first."""
    close_call = quietly("object + tie", table([("A", "B", 10, 4, 9), ("B", "C", 9, 4, 10), ("A", "C", 10, 3, 10)]))

    def by_rank(res: LLBTResults) -> pd.Series:
        return llbt.worth(res).to_frame().set_index("object")["estimate"]

    def by_name(res: LLBTResults) -> pd.Series:
        return by_rank(res).sort_index()

    ranked, named = (llbt.bootstrap(close_call, statistic, n=30, rng=1) for statistic in (by_rank, by_name))
    order = [named.names.index(name) for name in ranked.names]
    close(ranked.replicates, named.replicates[:, order], rtol=1e-9)
    assert ranked.conf_int().loc["A"].tolist() == pytest.approx(named.conf_int().loc["A"].tolist())


def test_a_mapping_is_matched_by_its_keys() -> None:
    def either(res: LLBTResults) -> dict:
        a, b = ("a", res.params["object[A]"]), ("t", res.params["tie"])
        return dict([a, b] if res.params["tie"] > POOLED.params["tie"] - 1e-9 else [b, a])

    boot = llbt.bootstrap(POOLED, either, n=12, rng=1)
    close(boot.replicates, llbt.bootstrap(POOLED, n=12, rng=1).replicates[:, [0, 3]], atol=1e-6)


def test_a_statistic_of_another_length_is_named_not_spread() -> None:
    def varying(res: LLBTResults) -> list[float]:
        return [1.0, 2.0] if res is POOLED else [3.0]

    with pytest.raises(llbt.errors.OptionError, match="in a resample"):
        llbt.bootstrap(POOLED, varying, n=5, rng=1)


def test_parameters_that_a_resample_lacks_make_it_degenerate() -> None:
    """Resampling judges leaves some out, and with them their parameters."""
    res = quietly("object * judge + tie", DRAS)
    plain = llbt.bootstrap(res, resample="judge", n=15, rng=1)
    custom = llbt.bootstrap(res, lambda fitted: fitted.params, resample="judge", n=15, rng=1)
    assert 0 < plain.degenerate <= 15
    assert custom.degenerate == plain.degenerate


def test_an_error_in_a_resample_is_named() -> None:
    def fussy(res: LLBTResults) -> float:
        if res is not POOLED:
            raise KeyError("object[Z]")
        return 0.0

    with pytest.raises(
        llbt.errors.OptionError, match=r"the statistic raised KeyError in a resample: 'object\[Z\]'"
    ) as caught:
        llbt.bootstrap(POOLED, fussy, n=3, rng=1)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_design_error_of_the_statistic_is_not_a_degenerate_resample() -> None:
    def asks_wrongly(res: LLBTResults) -> float:
        return 0.0 if res is POOLED else res.t_test("object[Z] = 0").to_frame()["estimate"].iloc[0]

    with pytest.raises(llbt.errors.OptionError, match="statistic raised OptionError in a resample"):
        llbt.bootstrap(POOLED, asks_wrongly, n=3, rng=1)


def test_progress_changes_nothing(capsys: pytest.CaptureFixture) -> None:
    loud = llbt.bootstrap(POOLED, lambda res: res.deviance, n=5, rng=1, progress=True)
    assert "bootstrap" in capsys.readouterr().err
    quiet = llbt.bootstrap(POOLED, lambda res: res.deviance, n=5, rng=1)
    assert np.array_equal(loud.replicates, quiet.replicates)
    assert capsys.readouterr().err == ""


# -- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rng", ["1", 1.5, -1, True, np.random.RandomState(1), [1]])
def test_rng_of_a_wrong_type(rng: object) -> None:
    for asker, question in (
        ("bootstrap", lambda: llbt.bootstrap(POOLED, n=5, rng=rng)),
        ("simulate", lambda: llbt.simulate(POOLED, rng=rng)),
        ("goodness_of_fit", lambda: llbt.goodness_of_fit(POOLED, 5, rng=rng)),
    ):
        with pytest.raises(llbt.errors.OptionError, match=f"{asker}: rng"):
            question()


@pytest.mark.parametrize("n", [0, -3, 2.5, "many"])
def test_numbers_of_resamples_that_are_none(n: object) -> None:
    with pytest.raises(llbt.errors.OptionError, match="bootstrap: n="):
        llbt.bootstrap(POOLED, n=n, rng=1)


@pytest.mark.parametrize("n", [-3, 2.5, "many"])
@pytest.mark.parametrize("asker", ["simulate", "goodness_of_fit"])
def test_numbers_of_tables_that_are_none(asker: str, n: object) -> None:
    with pytest.raises(llbt.errors.OptionError, match=f"{asker}: n="):
        getattr(llbt, asker)(POOLED, n, rng=1)


def test_unknown_resample_names_the_ways() -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"resample='jugde'.*judge"):
        llbt.bootstrap(BESIDE, resample="jugde", n=5, rng=1)


@pytest.mark.parametrize("options", [{"prior": "jeffreys"}, {"prior": 1.0}])
def test_penalized_fits_are_not_resampled(options: dict) -> None:
    res = quietly("object + tie", DRAS.pool(), **options)
    with pytest.raises(llbt.errors.DesignError, match="maximum likelihood"):
        llbt.bootstrap(res, n=5, rng=1)
    with pytest.raises(llbt.errors.DesignError, match="maximum likelihood"):
        llbt.goodness_of_fit(res, 5, rng=1)


# -- ranks -----------------------------------------------------------------------------------------------------------


def test_ranks_of_resamples_is_counted() -> None:
    res = quietly("object + tie", llbt.load_dataset("cems").pool())
    boot = llbt.bootstrap(res, n=300, rng=2)
    frame = boot.ranks().to_frame()
    objects = list(res.comparisons.objects)
    counted = {(label, rank): 0 for label in objects for rank in range(1, 7)}
    for values in boot.replicates:
        worth = dict.fromkeys(objects, 0.0)
        worth |= {name.removeprefix("object[").removesuffix("]"): v for name, v in zip(boot.names, values, strict=True)}
        del worth["tie"]
        for label in objects:
            counted[label, 1 + sum(worth[other] > worth[label] for other in objects)] += 1
    found = frame.set_index(["object", "rank"])["estimate"]
    assert len(found) == 36
    for key, count in counted.items():
        assert found[key] == pytest.approx(count / 300, abs=1e-12)
    close(found.groupby("object").sum(), np.ones(6), atol=1e-12)
    assert ((found > 0) & (found < 1)).any()


def test_ranks_of_resamples_leaves_degenerate_resamples_out() -> None:
    res = quietly("object + tie", table([("A", "B", 4, 1, 2), ("B", "C", 3, 1, 2), ("A", "C", 3, 0, 1)]))
    boot = llbt.bootstrap(res, n=150, rng=2)
    assert boot.degenerate > 5
    found = boot.ranks().to_frame().set_index(["object", "rank"])["estimate"]
    close(found.groupby("object").sum(), np.ones(3), atol=1e-12)
    kept = boot.replicates[np.isfinite(boot.replicates[:, 0])]
    close(found["A", 1], np.mean((kept[:, 0] >= kept[:, 1]) & (kept[:, 0] >= 0)), atol=1e-12)


def test_ranks_of_resamples_where_worths_differ() -> None:
    res = quietly("object * judge + tie", DRAS)
    boot = llbt.bootstrap(res, n=40, rng=2)
    at_j3 = boot.ranks(at={"judge": "J3"}).to_frame().set_index(["object", "rank"])["estimate"]
    kept = boot.replicates[~np.isnan(boot.replicates).any(axis=1)]
    a, b, c = (
        kept[:, boot.names.index(f"object[{o}]")] + kept[:, boot.names.index(f"object[{o}]:judge[J3]")] for o in "ABC"
    )
    close(at_j3["D", 1], np.mean((a < 0) & (b < 0) & (c < 0)), atol=1e-12)
    with pytest.raises(llbt.errors.OptionError, match=r"Bootstrap\.ranks: the worths differ by judge"):
        boot.ranks()


def test_ranks_of_resamples_needs_parameters() -> None:
    with pytest.raises(llbt.errors.DesignError, match="Leave out statistic="):
        llbt.bootstrap(POOLED, lambda res: res.deviance, n=3, rng=1).ranks()


# -- simulate --------------------------------------------------------------------------------------------------------


def test_simulated_tables_are_the_drawn_ones() -> None:
    tables = llbt.simulate(POOLED, 3, rng=4)
    counts = draw_parametric(POOLED.solution.means, 3, np.random.default_rng(4))
    assert len(tables) == 3
    for c, drawn in zip(tables, counts, strict=True):
        assert np.array_equal(c.counts, drawn)
        assert c.objects == POOLED.comparisons.objects
        assert np.array_equal(c.totals, POOLED.comparisons.totals)
        assert any("simulated" in note for note in c.notes)
    assert llbt.simulate(POOLED, 3, rng=4)[2] == tables[2]
    assert llbt.simulate(POOLED, 3, rng=5)[2] != tables[2]
    assert len(llbt.simulate(POOLED, rng=1)) == 1


def test_simulated_tables_have_the_fitted_means() -> None:
    for res in (POOLED, REFITTED["order"][0]):
        found = np.array([c.counts if c.has_ties else c.counts[:, [0, 2]] for c in llbt.simulate(res, 2000, rng=6)])
        means = res.solution.means
        p = means / means.sum(axis=1, keepdims=True)
        assert np.all(np.abs(found.mean(axis=0) - means) < 5 * np.sqrt(means * (1 - p) / 2000))


def test_simulated_tables_keep_their_kind() -> None:
    c = replace(table([("A", "B", 3, 0, 2), ("B", "C", 2, 0, 3)]), response=THREE)
    rare = quietly("object + tie", c, fixed={"tie": -12.0})
    for drawn in llbt.simulate(rare, 3, rng=1):
        assert drawn.has_ties
        assert drawn.n_ties == 0
    baseball = llbt.simulate(REFITTED["order"][0], rng=1)[0]
    assert not baseball.has_ties
    assert baseball.keeps_order
    assert llbt.fit("object + order", baseball).names == REFITTED["order"][0].names
    clustered = llbt.simulate(BESIDE, rng=1)[0]
    assert clustered.clusters == ()
    assert any("clusters forgotten" in note for note in clustered.notes)
    assert BESIDE.comparisons.clusters == ("judge",)


def test_simulated_tables_so_many_times_as_large_are_those_of_the_larger_table() -> None:
    """Two routes: the judgments of the fit multiplied, or the table multiplied and fitted again."""
    larger = quietly(POOLED.specification.formula, with_counts(POOLED.comparisons, 6 * POOLED.counts))
    for one, other in zip(llbt.simulate(POOLED, 3, times=6, rng=4), llbt.simulate(larger, 3, rng=4), strict=True):
        assert np.array_equal(one.counts, other.counts)
        assert np.array_equal(one.totals, 6 * POOLED.comparisons.totals)
        assert any("6 times as many judgments" in note for note in one.notes)
    halves = np.array([c.totals for c in llbt.simulate(POOLED, 400, times=0.01, rng=1)])  # 160 becomes 1 or 2
    expected = 0.01 * POOLED.comparisons.totals
    assert np.all((halves == np.floor(expected)) | (halves == np.ceil(expected)))
    assert np.all(np.abs(halves.mean(axis=0) - expected) < 5 * 0.5 / np.sqrt(400))


@pytest.mark.parametrize("times", [0, -1, np.nan, np.inf, "2", True, 1e14])
def test_simulate_refuses_times_that_are_no_positive_number(times: object) -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"times=.*expected"):
        llbt.simulate(POOLED, times=times, rng=1)


# -- the bootstrap test of fit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", ["object + tie", "object + tie:pair"])
@pytest.mark.slow
def test_bootstrap_p_values_by_hand(formula: str) -> None:
    res = quietly(formula, llbt.load_dataset("puddings"))
    n = 60
    found = llbt.goodness_of_fit(res, n, rng=5)
    reduced = quietly(formula, res.comparisons, prior="jeffreys")  # the tables are drawn at these estimates
    drawn = draw_parametric(reduced.solution.means, n, first_block(5))
    fits = [quietly(formula, with_counts(res.comparisons, one)) for one in drawn]
    by_deviance = (1 + sum(fit.deviance >= res.deviance for fit in fits)) / (n + 1)
    by_pearson = (1 + sum(fit.pearson_chi2 >= res.pearson_chi2 for fit in fits)) / (n + 1)
    assert found.p_bootstrap == pytest.approx((by_deviance, by_pearson), abs=1e-12)
    assert 0.05 < by_deviance < 1
    plain = llbt.goodness_of_fit(res)
    assert (found.deviance, found.pearson, found.dispersion) == (plain.deviance, plain.pearson, plain.dispersion)


def test_bootstrap_p_value_is_never_zero() -> None:
    res = quietly("object + tie", DRAS)
    assert res.deviance > 200
    found = llbt.goodness_of_fit(res, 99, rng=1)
    assert found.p_bootstrap == (0.01, 0.01)
    frame = found.to_frame()
    assert frame["p_bootstrap"].tolist()[:2] == [0.01, 0.01]
    assert frame["p_bootstrap"].isna().tolist() == [False, False] + [True] * (len(frame) - 2)


@pytest.mark.slow
def test_bootstrap_p_value_counts_degenerate_tables() -> None:
    """A drawn table without a finite estimate has a deviance all the same: the largest likelihood is a supremum."""
    res = quietly("object + tie", table([("A", "B", 3, 1, 1), ("B", "C", 2, 1, 2), ("A", "C", 3, 0, 1)]))
    n = 200
    reduced = quietly("object + tie", res.comparisons, prior="jeffreys")
    counts = draw_parametric(reduced.solution.means, n, np.random.default_rng(3))
    drawn = fit_many(res.problem(), counts, res.solution.params)
    deviances = []
    for one in counts:
        c = with_counts(res.comparisons, one)
        try:
            deviances.append(quietly("object + tie", c).deviance)
        except llbt.errors.SeparationError:
            deviances.append(quietly("object + tie", c, prior=1e-4, method="eliminate").deviance)
    close(drawn.deviance, deviances, atol=0.01)  # so small a prior is near the supremum
    least, most = ((1 + np.sum(np.array(deviances) >= res.deviance + s)) / (n + 1) for s in (0.01, -0.01))
    assert least <= llbt.goodness_of_fit(res, n, rng=3).p_bootstrap[0] <= most
    assert most - least < 0.05
    assert drawn.degenerate.sum() > 10


def test_without_resamples_nothing_is_added() -> None:
    found = llbt.goodness_of_fit(POOLED)
    assert found.p_bootstrap is None
    assert "p_bootstrap" not in found.to_frame()
    assert llbt.goodness_of_fit(POOLED, n=0) == found


def test_the_bootstrap_p_value_is_reproducible() -> None:
    a, b, other = (llbt.goodness_of_fit(POOLED, 50, rng=seed).p_bootstrap for seed in (1, 1, 2))
    assert a == b
    puddings = quietly("object + tie", llbt.load_dataset("puddings"))
    assert (
        llbt.goodness_of_fit(puddings, 50, rng=1).p_bootstrap != llbt.goodness_of_fit(puddings, 50, rng=2).p_bootstrap
    )
    assert other is not None


# -- several processes, and draws from lists of outcomes -------------------------------------------------------------


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing() -> None:
    alone = llbt.bootstrap(POOLED, n=1200, rng=3)
    together = llbt.bootstrap(POOLED, n=1200, rng=3, n_jobs=2)
    np.testing.assert_array_equal(alone.replicates, together.replicates)
    assert len(np.unique(alone.replicates[:, 0])) > 500


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "all"])
def test_a_number_of_jobs_is_a_whole_number(n_jobs) -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"n_jobs=.*number of processes"):
        llbt.bootstrap(POOLED, n=10, rng=1, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("total", "share"), [(5, (0.2, 0.5, 0.3)), (12, (0.0, 0.4, 0.6)), (7, (0.35, 0.65)), (1, (1.0, 0.0))]
)
def test_draws_are_multinomial(total: int, share: tuple[float, ...]) -> None:
    """Frequencies of all outcomes against scipy's probabilities, by χ² over those expected at least five times."""
    n = 20_000
    drawn = simulated_counts._draw(np.array([float(total)]), np.array([share]), n, np.random.default_rng(8))[:, 0]
    assert (drawn.sum(axis=1) == total).all()
    found, times = np.unique(drawn, axis=0, return_counts=True)
    expected = n * stats.multinomial(total, share).pmf(found)
    assert (expected > 0).all()
    often = expected >= 5
    assert expected[often].sum() > 0.99 * n
    if often.sum() > 1:
        scaled = expected[often] * times[often].sum() / expected[often].sum()
        assert stats.chisquare(times[often], scaled).pvalue > 1e-3


def test_large_totals_are_drawn_without_a_list() -> None:
    shares = np.array([[0.5, 0.2, 0.3]])
    drawn = simulated_counts._draw(np.array([100_000.0]), shares, 400, np.random.default_rng(8))[:, 0]
    assert drawn.dtype == np.int32
    close(drawn.mean(axis=0), 100_000 * shares[0], rtol=5e-3)
    close(drawn.var(axis=0, ddof=1), 100_000 * shares[0] * (1 - shares[0]), rtol=0.3)


def judged_once_each(n: int, twice: int = 0) -> pd.DataFrame:
    """Judgments with a number of either side, so that nearly each is a comparison of its own."""
    rng = np.random.default_rng(5)
    i, j = rng.permuted(np.tile(np.arange(4), (n, 1)), axis=1)[:, :2].T
    frame = pd.DataFrame({"object_i": i, "object_j": j, "x_i": rng.normal(size=n), "x_j": rng.normal(size=n)})
    frame["outcome"] = np.where(rng.random(n) < 1 / (1 + np.exp(-frame["x_i"] + frame["x_j"])), "i", "j")
    again = frame.head(twice).assign(outcome=lambda f: np.where(f["outcome"] == "i", "j", "i"))
    return pd.concat([frame, again], ignore_index=True)


def fit_with_numbers(frame: pd.DataFrame) -> llbt.LLBTResults:
    table = llbt.from_judgments(frame, side_covariates={"x": ("x_i", "x_j")})
    return llbt.fit("object + x", table)


def test_single_judgments_cannot_be_resampled_within_comparisons() -> None:
    res = fit_with_numbers(judged_once_each(900))
    with pytest.raises(
        llbt.errors.DesignError, match=r"no comparison has more than one judgment.*resample='parametric'"
    ):
        llbt.bootstrap(res, n=20, rng=1)
    drawn = llbt.bootstrap(res, n=300, rng=1, resample="parametric")
    error = drawn.to_frame().set_index("term")["std_error"]
    np.testing.assert_allclose(error[list(res.bse.index)], res.bse, rtol=0.2)
    some = llbt.bootstrap(fit_with_numbers(judged_once_each(900, twice=600)), n=20, rng=1)
    assert "20 % of the judgments are the only judgment of their comparison" in some.as_text()


def test_a_fit_counts_the_steps_that_found_its_maximum() -> None:
    """Also those of the check that there is one, from which the fit starts."""
    res = fit_with_numbers(judged_once_each(900))
    assert 3 <= res.solution.n_iter <= 12
    assert f"eliminated: {res.solution.n_iter} steps" in res.summary().as_text()


def test_ranks_print_a_line_for_each_object():
    ranks = llbt.bootstrap(POOLED, n=60, rng=1).ranks()
    printed = ranks.table().printed
    shares = ranks.to_frame().pivot_table(index="object", columns="rank", values="estimate")
    frame = printed.to_frame().set_index("object")
    assert len(printed) == len(shares)
    for label, row in shares.iterrows():
        drawn = np.repeat(row.index, np.round(row * 60).astype(int))
        assert frame.loc[label, "p_first"] == row[1]
        assert frame.loc[label, "median_rank"] == np.quantile(drawn, 0.5, method="inverted_cdf")
        assert frame.loc[label, "rank_low"] == np.quantile(drawn, 0.025, method="inverted_cdf")
        assert frame.loc[label, "rank_high"] == np.quantile(drawn, 0.975, method="inverted_cdf")
    assert "95 % range" in ranks.as_text()


def test_the_first_lines_say_who_is_first() -> None:
    """The shares are those of the table of ranks; worths that differ by judge have no single order."""
    c = llbt.load_dataset("dras_table1")
    boot = llbt.bootstrap(llbt.fit("object + tie", c.pool()), n=50, rng=1)
    assert boot.table().head == (
        "50 resamples (judgment)",
        "First place, share of resamples: A 1.000. All ranks: .ranks()",
    )
    few = llbt.bootstrap(llbt.fit("object + tie", c.pool().select(objects=["A", "D"])), n=50, rng=1)
    first = few.ranks().to_frame().query("rank == 1").set_index("object")["estimate"]
    assert f"A {first['A']:.3f}".replace(" 0.", " .") in few.table().head[1]
    assert len(llbt.bootstrap(llbt.fit("object * judge + tie", c), n=20, rng=1).table().head) == 1
