"""Fits of crossed effects by expectation propagation: beside Laplace's approximation and a Gibbs sampler; refusals."""

import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.core.columns import FloatArray
from llbt.errors import DesignError, OptionError, SeparationError

FORMULA = "object + (object | judge) + (object | prompt)"


def _crossed(judges: int, prompts: int, sigma: float, seed: int, share: float = 1.0) -> llbt.Comparisons:
    """One judgment of two of three objects in each cell, or in a share of the cells."""
    rng = np.random.default_rng(seed)
    judge, prompt = np.divmod(np.flatnonzero(rng.random(judges * prompts) < share), prompts)
    size = len(judge)
    i = rng.integers(3, size=size)
    j = (i + rng.integers(1, 3, size=size)) % 3
    worth = np.array([0.3, 0.0, -0.3]) + rng.normal(0, sigma, (judges, 1, 3)) + rng.normal(0, sigma, (prompts, 3))
    wins = (rng.random(size) < 1 / (1 + np.exp(-2 * (worth[judge, prompt, i] - worth[judge, prompt, j])))).astype(int)
    labels = np.array(list("ABC"))
    frame = pd.DataFrame({"object_i": labels[i], "object_j": labels[j], "wins_i": wins, "wins_j": 1 - wins})
    return llbt.from_counts(frame.assign(judge=judge, prompt=prompt), clusters=("judge", "prompt"))


def _fits(c: llbt.Comparisons) -> tuple[llbt.MixedResults, llbt.MixedResults]:
    by_sites, laplace = llbt.fit(FORMULA, c), llbt.fit(FORMULA, c, approximation="laplace")
    assert isinstance(by_sites, llbt.MixedResults)
    assert isinstance(laplace, llbt.MixedResults)
    return by_sites, laplace


@pytest.fixture(scope="module")
def fits() -> tuple[llbt.MixedResults, llbt.MixedResults]:
    return _fits(_crossed(10, 12, 0.8, seed=5))


def test_scales_are_larger_than_laplaces(fits: tuple[llbt.MixedResults, llbt.MixedResults]) -> None:
    by_sites, laplace = fits
    assert by_sites.converged
    assert by_sites.specification.approximation is None  # the default of two crossed groupings
    assert by_sites.gradient_norm < 1e-3
    assert by_sites.llf > laplace.llf + 0.5
    assert (by_sites.maximum.scales > laplace.maximum.scales).all()
    assert (by_sites.scales.to_numpy() > by_sites.maximum.scales).all()  # restricted likelihood
    assert (np.diag(by_sites.cov_params()) > 0).all()


def test_the_printout_says_how_effects_were_integrated_out(
    fits: tuple[llbt.MixedResults, llbt.MixedResults],
) -> None:
    said = str(fits[0].summary())
    assert "Expectation propagation" in said
    assert "Laplace" not in said
    assert "With crossed groupings, σ by Laplace's approximation may be" in fits[1].as_text(notes="all")


def test_shares_of_variance_have_the_variance_of_both_groupings(
    fits: tuple[llbt.MixedResults, llbt.MixedResults],
) -> None:
    res = fits[0]
    judge, prompt = 8 * res.scales.to_numpy() ** 2
    total = judge + prompt + np.pi**2 / 3
    expected = {("judge", ""): judge / total, ("prompt", ""): prompt / total}
    assert res.shares_between == pytest.approx(expected)
    assert res.share_between == res.shares_between["judge", ""]
    assert "between judges: ." in str(res)
    assert "; between prompts: ." in str(res)
    interpreted = llbt.interpret(res)
    assert "of the variance of a pair's latent log-odds is between prompts" in " ".join(str(interpreted).split())
    assert interpreted.figures["share between prompts"] == res.shares_between["prompt", ""]


def test_nested_groupings_are_integrated_out_as_on_a_grid() -> None:
    rng = np.random.default_rng(4)
    judges, prompts, each = 15, 6, 3
    lead = 0.4 + rng.normal(0, 0.7, (judges, 1)) + rng.normal(0, 0.7, (judges, prompts))
    wins = rng.binomial(each, 1 / (1 + np.exp(-2 * lead)))
    judge, prompt = np.divmod(np.arange(judges * prompts), prompts)
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins.ravel(), "wins_j": each - wins.ravel()})
    nested = frame.assign(judge=judge, prompt=judge * prompts + prompt)
    res = llbt.fit(FORMULA, llbt.from_counts(nested, clusters=("judge", "prompt")))
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    weights /= weights.sum()

    def value(factors: FloatArray) -> float:
        """The log-likelihood; the effects of two objects differ by a normal variable of variance 2σ²."""
        of_judge, of_prompt = np.sqrt(2) * factors * res.maximum.scales
        p = 1 / (1 + np.exp(-2 * (res.maximum.params[0] + of_judge * nodes[:, None] + of_prompt * nodes)))
        of_prompts = [[(p**k * (1 - p) ** (each - k)) @ weights for k in row] for row in wins]
        return float(sum(np.log(np.prod(row, axis=0) @ weights) for row in of_prompts))

    assert res.llf == pytest.approx(value(np.ones(2)), abs=0.02)
    for k in range(2):
        for factor in (0.93, 1.07):
            assert value(np.where(np.arange(2) == k, factor, 1.0)) < value(np.ones(2))


def _uncertain(res: llbt.MixedResults) -> list[str]:
    return [note for note in res.judges.notes if "is very uncertain" in note]


def test_a_scale_with_a_large_error_has_a_note(fits: tuple[llbt.MixedResults, llbt.MixedResults]) -> None:
    """With 4 judges × 20 prompts the likelihood can be nearly flat in σ."""
    sparse = llbt.fit(FORMULA, _crossed(4, 20, 0.5, seed=0))
    assert _uncertain(sparse)[0].startswith("σ of (object | judge) is very uncertain: 1.01, standard error 1.02.")
    assert not _uncertain(fits[0])


@pytest.mark.slow
def test_the_interval_of_a_scale_with_a_large_error_is_what_its_note_says_to_type() -> None:
    sparse = llbt.fit(FORMULA, _crossed(4, 20, 0.5, seed=0))
    note = _uncertain(sparse)[0]
    interval = eval(note.partition("interval: ")[2].rstrip("."), {"res": sparse}).loc["(object | judge)"]
    assert interval["conf_high"] == np.inf


def test_predictions_name_whose_they_are(fits: tuple[llbt.MixedResults, llbt.MixedResults]) -> None:
    res = fits[0]
    assert "of the average judge; for a new judge: res.predict(population=True)" in res.predict().notes
    new, average = (res.predict(population=population).to_frame()["estimate"] for population in (True, False))
    assert (np.abs(new - 0.5) < np.abs(average - 0.5)).all()


def test_effects_are_predicted(fits: tuple[llbt.MixedResults, llbt.MixedResults]) -> None:
    for by in ("judge", "prompt"):
        near, other = (llbt.judge_effects(res, by=by).to_frame() for res in fits)
        assert np.corrcoef(near["estimate"], other["estimate"])[0, 1] > 0.98


def test_what_is_of_laplace_alone_is_refused(fits: tuple[llbt.MixedResults, llbt.MixedResults]) -> None:
    with pytest.raises(DesignError, match="not integrated out by Laplace"):
        fits[0].laplace_bias()
    with pytest.raises(DesignError, match="computed in different ways"):
        llbt.anova(*fits)


def test_refusals_speak_of_crossed_effects(fits: tuple[llbt.MixedResults, llbt.MixedResults]) -> None:
    res = fits[0]
    for asked in (llbt.influence, llbt.fragility):
        with pytest.raises(DesignError, match="effects of judge and prompt, so all of them depend"):
            asked(res)
    with pytest.raises(DesignError, match="effects of judge and prompt: all judgments depend on each other"):
        llbt.fit(FORMULA, res.comparisons, cov_type="cluster", groups="judge")


def test_a_bracket_is_tested_beside_quadrature(fits: tuple[llbt.MixedResults, llbt.MixedResults]) -> None:
    res = fits[0]
    smaller = llbt.fit("object + (object | judge)", res.comparisons)
    found = llbt.anova(smaller, res)
    gain = 2 * (res.llf - smaller.llf)
    assert found.to_frame()["p_value"].iloc[-1] == pytest.approx(stats.chi2.sf(gain, 1) / 2, rel=1e-6)
    assert "up to .2 below those by quadrature" in found.as_text()


@pytest.mark.slow
def test_goodness_is_by_drawn_tables(fits: tuple[llbt.MixedResults, llbt.MixedResults]) -> None:
    res = fits[0]
    found = llbt.goodness_of_fit(res, n=18, rng=1)
    cells, pairs = found.to_frame(), llbt.residuals(res, n=18, rng=1).to_frame()
    assert cells["observed"].sum() == res.n_judgments
    wins = cells[cells["outcome"] == "i"].set_index(["object_i", "object_j"])["z"]  # without ties one z a pair
    np.testing.assert_allclose(pairs.set_index(["object_i", "object_j"])["residual"], wins[pairs_of(pairs)], atol=1e-6)


def pairs_of(frame: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(frame[["object_i", "object_j"]])


def test_too_large_a_matrix_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llbt.fitting.effect_checks._SHARED", 29)
    c = _crossed(10, 12, 0.8, seed=5)
    with pytest.raises(DesignError, match=r"30 effects .*at most 29.*cov_type='cluster', groups=\('judge', 'prompt'\)"):
        llbt.fit(FORMULA, c)
    assert llbt.fit("object", c, cov_type="cluster", groups=("judge", "prompt")).converged


@pytest.mark.slow
def test_effects_without_an_end_are_refused_with_the_figure() -> None:
    with pytest.raises(SeparationError, match=r"of \(object \| judge\) is \+∞: the likelihood has no maximum below 10"):
        llbt.fit(FORMULA, _crossed(6, 8, 1.5, seed=0))


def test_groupings_that_tell_nothing_are_refused() -> None:
    frame = pd.DataFrame({"object_i": list("ABAB"), "object_j": list("CCCC"), "wins_i": [1, 0, 0, 1]})
    frame = frame.assign(wins_j=1 - frame["wins_i"], judge=[0, 1, 2, 0], prompt=range(4), day="Monday")
    c = llbt.from_counts(frame, clusters=("judge", "prompt", "day"))
    with pytest.raises(DesignError, match="every level of 'prompt' made one judgment"):
        llbt.fit(FORMULA, c)
    with pytest.raises(DesignError, match="'day' has 1 level, too few to estimate a standard deviation") as error:
        llbt.fit("object + (object | judge) + (object | day)", c)
    assert "at least 3 levels. Leave its brackets out: llbt.fit('object + (object | judge)', c)." in str(error.value)
    two = llbt.from_counts(frame.assign(day=[1, 1, 2, 2]), clusters=("judge", "prompt"), covariates="day")
    with pytest.raises(DesignError, match=r"covariate: llbt\.fit\('object \+ object:day \+ \(object \| judge\)', c\)"):
        llbt.fit("object + (object | judge) + (object | day)", two)
    with pytest.raises(DesignError, match="effects cannot be separated"):
        llbt.fit(FORMULA, llbt.from_counts(frame.assign(prompt=frame["judge"] + 1), clusters=("judge", "prompt")))


@pytest.mark.parametrize(
    ("formula", "match"),
    [
        ("object + tie", "without brackets"),
        ("object + tie + (object | judge)", "effects of 'judge'"),
        ("object + tie + (object | judge) + (tie | prompt)", "with \\(tie \\| prompt\\)"),
    ],
)
def test_other_effects_are_refused(formula: str, match: str) -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": [1, 0, 0, 1], "ties": [0, 1, 0, 0]})
    frame = frame.assign(wins_j=1 - frame["wins_i"] - frame["ties"], judge=range(4), prompt=[0, 1, 2, 0])
    c = llbt.from_counts(pd.concat([frame, frame.assign(prompt=[1, 0, 1, 2])]), clusters=("judge", "prompt"))
    with pytest.raises(OptionError, match=match):
        llbt.fit(formula, c, approximation="ep")


def _gibbs(
    res: llbt.MixedResults, scales: FloatArray, params: FloatArray, sweeps: int
) -> tuple[FloatArray, FloatArray]:
    """The score of log σ by a Pólya-Gamma Gibbs sampler at given estimates, and its Monte Carlo error, (2,) each."""
    lines, problem = res.judges.crossed, res.judges.problem
    assert lines is not None
    eta = 2 * np.stack(problem.at(params))[0, lines.rows]
    excess = (lines.counts[0] - lines.counts[1]) / 2
    parts = []
    for e, touched in enumerate(lines.touched):
        part = np.zeros((len(eta), len(lines.levels[e][0])))
        part[np.arange(len(eta)), touched[0]], part[np.arange(len(eta)), touched[1]] = 1.0, -1.0
        parts.append(2 * scales[e] * part)
    loadings, first = np.concatenate(parts, axis=1), parts[0].shape[1]
    rng = np.random.default_rng(8)
    steps = (np.arange(1, 61)[:, None] - 0.5) ** 2
    w, scores = np.zeros(loadings.shape[1]), []
    for sweep in range(sweeps + 100):
        u = (eta + loadings @ w) / (2 * np.pi)
        weight = (rng.standard_exponential((60, len(u))) / (steps + u**2)).sum(axis=0) / (2 * np.pi**2)
        angle = np.maximum(np.abs(u) * 2 * np.pi, 1e-6)
        weight += np.tanh(angle / 2) / (2 * angle) - (1 / (steps + u**2)).sum(axis=0) / (2 * np.pi**2)
        cov = np.linalg.inv((loadings.T * weight) @ loadings + np.eye(len(w)))
        mean = cov @ (loadings.T @ (excess - weight * eta))
        w = mean + np.linalg.cholesky(cov) @ rng.standard_normal(len(w))
        if sweep >= 100:
            square = mean**2 + np.diag(cov) - 1
            scores.append([square[:first].sum(), square[first:].sum()])
    batches = np.array(scores).reshape(20, -1, 2).mean(axis=1)
    return batches.mean(axis=0), batches.std(axis=0, ddof=1) / np.sqrt(20)


@pytest.mark.slow
def test_the_maximum_is_that_of_a_gibbs_sampler() -> None:
    """Where a fifth of the cells is judged: there Laplace's σ is a fifth too small."""
    by_sites, laplace = _fits(_crossed(40, 25, 0.8, seed=3, share=0.25))
    information = np.linalg.inv(by_sites.maximum.covariance)[-2:, -2:]
    score, error = _gibbs(by_sites, by_sites.maximum.scales, by_sites.maximum.params, 2000)
    off = np.linalg.solve(information, score)  # of log σ
    assert (np.abs(off) < 0.02 + 3 * np.linalg.solve(information, error)).all(), (off, error)
    score, _ = _gibbs(by_sites, laplace.maximum.scales, laplace.maximum.params, 400)
    assert (score > 0).all()
    assert (laplace.maximum.scales < 0.95 * by_sites.maximum.scales).all()


@pytest.mark.slow
def test_laplaces_scales_are_two_percent_too_small_on_a_full_table() -> None:
    start = time.process_time()
    by_sites, laplace = _fits(_crossed(30, 50, 1.0, seed=3))
    ratio = laplace.maximum.scales / by_sites.maximum.scales
    assert ((ratio > 0.96) & (ratio < 0.99)).all()
    assert time.process_time() - start < 60
