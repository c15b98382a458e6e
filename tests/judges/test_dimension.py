"""The dimension along which judges differ most, beside integrals over a grid with any covariance of the effects."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, optimize, special

import llbt
from llbt.core.columns import FloatArray
from llbt.errors import DesignError, LLBTError, OptionError
from llbt.judges.dimension import JudgeDimension

JUDGES, EACH = 30, 15
CONTRASTS = linalg.helmert(3)
_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
GRID = np.stack(np.meshgrid(_POINTS, _POINTS), axis=-1).reshape(-1, 2)
LOG_WEIGHTS = np.log(np.outer(_WEIGHTS, _WEIGHTS).ravel() / _WEIGHTS.sum() ** 2)


def judged(loadings: list[float], seed: int, sigma: float = 0.3, judges: int = JUDGES) -> pd.DataFrame:
    rng, size = np.random.default_rng(seed), len(loadings)
    own = np.linspace(0.6, 0, size) + sigma * rng.standard_normal((judges, size))
    own += rng.standard_normal((judges, 1)) * np.array(loadings)
    judge, i = np.repeat(np.arange(judges), EACH), rng.integers(size, size=judges * EACH)
    j = (i + rng.integers(1, size, size=len(i))) % size
    wins = (rng.random(len(i)) < special.expit(2 * (own[judge, i] - own[judge, j]))).astype(int)
    names = np.array(list("ABCDE"))
    frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 1 - wins})
    return frame.assign(judge=judge, prompt=np.arange(len(i)) % 12)


@cache
def frame() -> pd.DataFrame:
    return judged([0.7, -0.6, -0.1], seed=7)


@cache
def res() -> llbt.MixedResults:
    found = llbt.fit("object + (object | judge)", llbt.from_counts(frame(), clusters="judge"), reference="C")
    assert isinstance(found, llbt.MixedResults)
    return found


@cache
def dimension() -> JudgeDimension:
    return llbt.judges.dimension(res())


def exact(at: FloatArray) -> float:
    """Return log L at λ_A, λ_B, two contrasts of the loadings, and log σ, by integrals over a grid for each judge."""
    of_objects = np.vstack([np.eye(2), np.zeros(2)])
    loadings, sigma = CONTRASTS.T @ at[2:4], np.exp(at[4])
    cov = CONTRASTS @ (sigma**2 * np.eye(3) + np.outer(loadings, loadings)) @ CONTRASTS.T
    worths = of_objects @ at[:2] + GRID @ linalg.cholesky(cov) @ CONTRASTS  # (points, objects)
    f, place = frame(), {"A": 0, "B": 1, "C": 2}
    apart = worths[:, f["object_i"].map(place)] - worths[:, f["object_j"].map(place)]
    logs = special.log_expit(2 * apart * np.where(f["wins_i"] == 1, 1, -1))
    by_judge = np.zeros((JUDGES, len(GRID)))
    np.add.at(by_judge, f["judge"].to_numpy(), logs.T)
    return float(special.logsumexp(by_judge + LOG_WEIGHTS, axis=1).sum())


@cache
def maximum() -> FloatArray:
    start = np.array([*res().params[["object[A]", "object[B]"]], *(CONTRASTS @ dimension().loadings), np.log(0.3)])
    return np.asarray(optimize.minimize(lambda at: -exact(at), start, method="BFGS", options={"gtol": 1e-3}).x)


def test_loadings_maximize_the_likelihood() -> None:
    """With three objects σ²I + ℓℓᵀ is any covariance of two differences. EP is within some percent of the grid."""
    loadings = CONTRASTS.T @ maximum()[2:4]
    found = dimension()
    np.testing.assert_allclose(found.loadings, loadings * np.sign(loadings @ found.loadings), atol=0.02)
    assert found.sigma == pytest.approx(np.exp(maximum()[4]), abs=0.02)
    assert found.loadings.sum() == pytest.approx(0, abs=1e-8)
    assert found.loadings[np.argmax(np.abs(found.loadings))] > 0


def test_the_likelihood_ratio_is_that_of_the_grid() -> None:
    def alone(at: FloatArray) -> float:
        return -exact(np.array([at[0], at[1], 0, 0, at[2]]))

    smaller = optimize.minimize(alone, [*maximum()[:2], np.log(0.5)], method="BFGS", options={"gtol": 1e-3}).fun
    assert dimension().statistic == pytest.approx(2 * (exact(maximum()) + smaller), abs=0.4)
    assert dimension().n_params == 2


def test_standard_errors_are_those_of_the_grid() -> None:
    """By second differences of the grid's log-likelihood in all five parameters."""
    at, step = maximum(), 0.02 * np.eye(5)
    bent = np.array([
        [exact(at + a + b) - exact(at + a - b) - exact(at - a + b) + exact(at - a - b) for b in step] for a in step
    ])  # fmt: skip
    cov = CONTRASTS.T @ linalg.inv(-bent / (4 * 0.02**2))[2:4, 2:4] @ CONTRASTS
    np.testing.assert_allclose(dimension().std_error, np.sqrt(np.diag(cov)), rtol=0.08)


def test_the_share_is_of_the_variance_of_centred_effects() -> None:
    found = dimension()
    effects = found.sigma**2 * (np.eye(3) - 1 / 3) + np.outer(found.loadings, found.loadings)
    assert found.share == pytest.approx(found.loadings @ found.loadings / np.trace(effects))


def test_scores_order_the_judges() -> None:
    """A judge with a larger score prefers the object with the largest loading more often."""
    found, f = dimension(), frame()
    high, low = (found.objects[k(found.loadings)] for k in (np.argmax, np.argmin))
    pair = f[(f["object_i"] + f["object_j"]).isin([high + low, low + high])]
    prefers = (pair["object_i"] == high) == (pair["wins_i"] == 1)
    shares = prefers.groupby(pair["judge"]).mean()
    scores = pd.Series(found.scores, index=found.judges)[shares.index]
    assert np.corrcoef(shares, scores)[0, 1] > 0.7
    assert found.score_errors.max() < 1
    assert np.std(found.scores) == pytest.approx(1, abs=0.35)


def test_tables_drawn_from_the_fit_give_the_p_value() -> None:
    found = llbt.judges.dimension(res(), n=2, rng=3)
    assert found.p_value == pytest.approx(1 / 3)
    assert "p = 0.333 (2 drawn tables)" in " ".join(str(found).split())
    assert "n=199 gives its p-value" in " ".join(str(dimension()).split())


def test_both_ends_of_many_loadings_are_printed() -> None:
    loadings = np.linspace(-2, 1.1, 60)
    long = replace(dimension(), objects=tuple(range(60)), loadings=loadings, std_error=np.full(60, 0.1))
    printed = [int(line.split()[0]) for line in str(long).splitlines() if re.match(r"\d+ +-?\d", line)]
    assert printed == [59, *range(18, -1, -1)]
    assert "… 40 smaller loadings" in str(long)
    assert long.to_frame()["object"].tolist() == list(range(59, -1, -1))


def test_judges_without_differences_have_no_dimension() -> None:
    rows = [(i, j, judge, 3 - k, 1 + k) for judge in range(8) for k, (i, j) in enumerate(("AB", "AC", "BC"))]
    f = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "wins_j"])
    same = llbt.fit("object + (object | judge)", llbt.from_counts(f, clusters="judge"))
    found = llbt.judges.dimension(same)
    assert found.statistic == 0
    assert not found.loadings.any()
    assert "No dimension" in str(found)
    assert found.scores.tolist() == [0] * 8


@pytest.mark.parametrize("patience", [1.0, 6e6])  # told of in the first fit, and in the search by scipy
def test_what_takes_long_is_told_at_the_line_of_the_caller(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = res()
    monkeypatch.setattr("llbt.resampling._PATIENCE", patience)
    with pytest.warns(llbt.errors.SlowWarning, match="progress=True shows the steps") as caught:
        llbt.judges.dimension(fit)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.slow
def test_prompts_beside_judges_have_a_dimension_too() -> None:
    c = llbt.from_counts(judged([0.9, -0.9, 0, 0], seed=3, judges=20), clusters=("judge", "prompt"))
    crossed = llbt.fit("object + (object | judge) + (object | prompt)", c)
    of_judges, of_prompts = (llbt.judges.dimension(crossed, by=by) for by in ("judge", "prompt"))
    assert of_judges.statistic > 20 > of_prompts.statistic
    assert of_prompts.judges == tuple(range(12))
    assert of_judges.objects[int(np.argmin(np.abs(of_judges.loadings)))] in ("C", "D")


@pytest.mark.parametrize(
    ("formula", "error", "fault"),
    [
        ("object + order + (order | judge)", DesignError, "no effects of judges on log-worths"),
        ("object + (object | gr(judge, by=expert))", DesignError, "a σ for each level"),
        ("object + tie + (object | judge) + (tie | judge)", DesignError, r"\(tie \| judge\)"),
    ],
)
def test_fits_without_such_effects_are_refused(formula: str, error: type[LLBTError], fault: str) -> None:
    """The remedy can be pasted and runs."""
    f = judged([0.7, -0.6, -0.1], seed=2)
    f = f.assign(expert=np.where(f["judge"] < 15, "yes", "no"), ties=(f["prompt"] == 3).astype(int))
    f.loc[f["ties"] == 1, ["wins_i", "wins_j"]] = 0
    c = llbt.from_counts(f, clusters="judge", covariates="expert", order="order" in formula)
    fit = llbt.fit(formula + ("" if "tie" in formula else " + tie"), c)
    with pytest.raises(error, match=fault) as refused:
        llbt.judges.dimension(fit)
    call = refused.value.remedy.partition(": ")[2].rstrip(".")
    assert llbt.judges.dimension(eval(call, {"llbt": llbt, "res": fit})).statistic >= 0


def test_two_objects_and_other_groupings_are_refused() -> None:
    two = llbt.fit("object + (object | judge)", llbt.from_counts(judged([0.5, -0.5], seed=1), clusters="judge"))
    with pytest.raises(DesignError, match="one direction only"):
        llbt.judges.dimension(two)
    with pytest.raises(OptionError, match="a grouping with"):
        llbt.judges.dimension(res(), by="prompt")
