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
    start = np.array(
        [*res().params[["object[A]", "object[B]"]], *(CONTRASTS @ dimension().loadings[:, 0]), np.log(0.3)]
    )
    return np.asarray(optimize.minimize(lambda at: -exact(at), start, method="BFGS", options={"gtol": 1e-3}).x)


def test_loadings_maximize_the_likelihood() -> None:
    """With three objects σ²I + ℓℓᵀ is any covariance of two differences. EP is within some percent of the grid."""
    loadings = CONTRASTS.T @ maximum()[2:4]
    found = dimension()
    np.testing.assert_allclose(found.loadings[:, 0], loadings * np.sign(loadings @ found.loadings[:, 0]), atol=0.02)
    assert found.sigma == pytest.approx(np.exp(maximum()[4]), abs=0.02)
    assert found.loadings[:, 0].sum() == pytest.approx(0, abs=1e-8)
    assert found.loadings[:, 0][np.argmax(np.abs(found.loadings[:, 0]))] > 0


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
    np.testing.assert_allclose(dimension().std_error[:, 0], np.sqrt(np.diag(cov)), rtol=0.08)


def test_the_share_is_of_the_variance_of_centred_effects() -> None:
    found = dimension()
    effects = found.sigma**2 * (np.eye(3) - 1 / 3) + np.outer(found.loadings[:, 0], found.loadings[:, 0])
    assert found.shares[0] == pytest.approx(found.loadings[:, 0] @ found.loadings[:, 0] / np.trace(effects))


def test_scores_order_the_judges() -> None:
    """A judge with a larger score prefers the object with the largest loading more often."""
    found, f = dimension(), frame()
    high, low = (found.objects[k(found.loadings[:, 0])] for k in (np.argmax, np.argmin))
    pair = f[(f["object_i"] + f["object_j"]).isin([high + low, low + high])]
    prefers = (pair["object_i"] == high) == (pair["wins_i"] == 1)
    shares = prefers.groupby(pair["judge"]).mean()
    scores = pd.Series(found.scores[:, 0], index=found.judges)[shares.index]
    assert np.corrcoef(shares, scores)[0, 1] > 0.7
    assert found.score_errors[:, 0].max() < 1
    assert np.std(found.scores[:, 0]) == pytest.approx(1, abs=0.35)


def test_tables_drawn_from_the_fit_give_the_p_value() -> None:
    found = llbt.judges.dimension(res(), n=2, rng=3)
    assert found.p_value == pytest.approx(1 / 3)
    assert "p = 0.333 (2 drawn tables)" in " ".join(str(found).split())
    assert "n=199 gives its p-value" in " ".join(str(dimension()).split())


def test_both_ends_of_many_loadings_are_printed() -> None:
    loadings = np.linspace(-2, 1.1, 60)[:, None]
    long = replace(dimension(), objects=tuple(range(60)), loadings=loadings, std_error=np.full((60, 1), 0.1))
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
    assert not found.loadings[:, 0].any()
    assert "No dimension" in str(found)
    assert found.scores[:, 0].tolist() == [0] * 8


def test_a_missing_second_dimension_is_told_from_a_missing_first() -> None:
    loadings, zeros = dimension().loadings, np.zeros((3, 1))
    two = replace(dimension(), shares=np.zeros(2), std_error=np.ones((3, 2)), loadings=np.hstack([loadings, zeros]))
    none = replace(two, loadings=np.hstack([zeros, zeros]))
    assert "No second dimension of judge was found" in str(two)
    assert "likelihood of the fit with 1 dimension." in " ".join(str(two).split())
    assert "No dimension of judge was found" in str(none)
    assert "likelihood of the fit with independent effects." in " ".join(str(none).split())


@pytest.mark.parametrize("reference", ["A", "E"])
def test_the_second_dimension_is_found_with_any_reference(reference: str) -> None:
    c = llbt.from_counts(judged([0.9, -0.9, 0.2, -0.2, 0], seed=5, judges=20), clusters="judge")
    fit = llbt.fit("object + (object | judge)", c, reference=reference)
    assert llbt.judges.dimension(fit, rank=2).statistic == pytest.approx(5.659, abs=0.01)


def test_the_first_dimension_has_errors_and_a_share_without_a_second() -> None:
    f = judged([0.9, -0.9, 0.2, -0.2, 0], seed=4, sigma=0, judges=20)
    fit = llbt.fit("object + (object | judge)", llbt.from_counts(f, clusters="judge"))
    one, two = (llbt.judges.dimension(fit, rank=rank) for rank in (1, 2))
    assert "No second dimension" in str(two)
    assert "100 % of the variance" in str(two)
    np.testing.assert_allclose(two.std_error[:, 0], one.std_error[:, 0])
    assert np.isnan(two.std_error[:, 1]).all()


@pytest.mark.parametrize("patience", [1.0, 3e6])  # told of in the first fit, and in the search by scipy
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
    assert of_judges.objects[int(np.argmin(np.abs(of_judges.loadings[:, 0])))] in ("C", "D")


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


@cache
def of_four() -> tuple[pd.DataFrame, llbt.MixedResults]:
    """Four objects: half of the variance between judges is of A against B, a quarter of A and B against C and D."""
    f = judged([0.8, -0.8, 0, 0], seed=11, sigma=0.2, judges=30)
    tilt = 0.5 * np.random.default_rng(2).standard_normal(30)[f["judge"]]
    side = f["object_i"].isin(["A", "B"]).astype(int) - f["object_j"].isin(["A", "B"]).astype(int)
    turned = np.random.default_rng(3).random(len(f)) < np.abs(special.expit(2 * tilt * side) - 0.5)
    f.loc[turned, "wins_i"] = (tilt * side > 0).astype(int)[turned]
    f["wins_j"] = 1 - f["wins_i"]
    fit = llbt.fit("object + (object | judge)", llbt.from_counts(f, clusters="judge"), reference="D")
    assert isinstance(fit, llbt.MixedResults)
    return f, fit


def exact_of_four(params: FloatArray, loadings: FloatArray, sigma: float) -> float:
    """Return log L with the covariance σ²I + LLᵀ of four objects' effects, by integrals over a grid for each judge."""
    f, basis = of_four()[0], linalg.helmert(4)
    points, weights = np.polynomial.hermite_e.hermegauss(13)
    grid = np.stack(np.meshgrid(points, points, points), axis=-1).reshape(-1, 3)
    logs = np.log(np.einsum("i,j,k->ijk", weights, weights, weights).ravel() / weights.sum() ** 3)
    cov = basis @ (sigma**2 * np.eye(4) + loadings @ loadings.T) @ basis.T
    worths = np.append(params, 0) + grid @ linalg.cholesky(cov) @ basis
    place = {label: k for k, label in enumerate("ABCD")}
    apart = worths[:, f["object_i"].map(place)] - worths[:, f["object_j"].map(place)]
    of_lines = special.log_expit(2 * apart * np.where(f["wins_i"] == 1, 1, -1))
    by_judge = np.zeros((30, len(grid)))
    np.add.at(by_judge, f["judge"].to_numpy(), of_lines.T)
    return float(special.logsumexp(by_judge + logs, axis=1).sum())


def test_two_dimensions_of_four_objects_maximize_the_likelihood() -> None:
    """With four objects σ²I + LLᵀ is any covariance of three differences. No step of .1 from the maximum is higher."""
    fit = of_four()[1]
    one, two = (llbt.judges.dimension(fit, rank=rank) for rank in (1, 2))
    assert two.loadings[:, 0] @ two.loadings[:, 1] == pytest.approx(0, abs=1e-10)
    assert two.n_params == 2
    worths = fit.params.to_numpy()[:3]
    best = optimize.minimize(lambda x: -exact_of_four(x, two.loadings, two.sigma), worths, method="Nelder-Mead",
                             options={"xatol": 1e-3, "fatol": 1e-3})  # fmt: skip
    for step in 0.1 * np.eye(8).reshape(8, 4, 2):
        for side in (step, -step):
            assert exact_of_four(best.x, two.loadings + side, two.sigma) < -best.fun
    less = optimize.minimize(lambda x: -exact_of_four(x, one.loadings, one.sigma), worths, method="Nelder-Mead",
                             options={"xatol": 1e-3, "fatol": 1e-3})  # fmt: skip
    assert two.statistic == pytest.approx(2 * (less.fun - best.fun), abs=0.3)


@pytest.mark.slow
def test_errors_of_two_dimensions_are_those_of_the_grid() -> None:
    """By second differences in all ten parameters, within loadings whose columns stay orthogonal."""
    fit, basis = of_four()[1], linalg.helmert(4)
    found = llbt.judges.dimension(fit, rank=2)
    loadings = basis @ found.loadings

    def value(at: FloatArray) -> float:
        return exact_of_four(at[:3], basis.T @ at[3:9].reshape(2, 3).T, np.exp(at[9]))

    at = np.concatenate([fit.params.to_numpy()[:3], loadings.T.ravel(), [np.log(found.sigma)]])
    at[:3] = optimize.minimize(lambda x: -value(np.append(x, at[3:])), at[:3], options={"gtol": 1e-2}).x
    step = 0.03 * np.eye(10)
    bent = np.zeros((10, 10))
    for k in range(10):
        for m in range(k + 1):
            a, b = step[k], step[m]
            bent[k, m] = bent[m, k] = value(at + a + b) - value(at + a - b) - value(at - a + b) + value(at - a - b)
    apart = np.concatenate([np.zeros(3), loadings[:, 1], loadings[:, 0], [0.0]])  # the slope of the columns' product
    free = linalg.null_space(apart[None])
    cov = (free @ linalg.inv(free.T @ (-bent / (4 * 0.03**2)) @ free) @ free.T)[3:9, 3:9]
    errors = [np.sqrt(np.diag(basis.T @ cov[k : k + 3, k : k + 3] @ basis)) for k in (0, 3)]
    np.testing.assert_allclose(found.std_error, np.column_stack(errors), rtol=0.1)


def test_two_dimensions_of_three_objects_are_refused() -> None:
    with pytest.raises(DesignError, match="rank=2 with 3 objects") as refused:
        llbt.judges.dimension(res(), rank=2)
    call = refused.value.remedy.partition(": ")[2].rstrip(".")
    assert eval(call, {"llbt": llbt, "res": res()}).rank == 1
    with pytest.raises(OptionError, match="rank=3; expected 1 or 2"):
        llbt.judges.dimension(res(), rank=3)


def test_two_objects_and_other_groupings_are_refused() -> None:
    two = llbt.fit("object + (object | judge)", llbt.from_counts(judged([0.5, -0.5], seed=1), clusters="judge"))
    with pytest.raises(DesignError, match="one direction only"):
        llbt.judges.dimension(two)
    with pytest.raises(OptionError, match="a grouping with"):
        llbt.judges.dimension(res(), by="prompt")
