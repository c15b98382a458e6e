"""Ties and strength: the likelihood by hand and by scipy, R's BradleyTerry2, and how often a true model is rejected."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from support.folders import REFERENCE

import llbt
from llbt.errors import DesignError

CEMS = llbt.load_dataset("cems").pool()
FIT = llbt.fit("object + tie", CEMS)


def drawn(rng: np.random.Generator, sigma: float, each: int = 60, judges: int = 0) -> llbt.Comparisons:
    """Return judgments of four objects, whose ties depend on strength by some σ."""
    worth = np.array([0.9, 0.5, 0.1, -0.6])
    pairs = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])
    u = worth[pairs[:, 0]] - worth[pairs[:, 1]]
    weight = np.exp(np.stack([u, -0.3 + (1 - sigma) * np.log(np.cosh(u)), -u], axis=1))
    counts = rng.multinomial(each, weight / weight.sum(axis=1, keepdims=True))
    names = np.array(list("ABCD"))
    frame = pd.DataFrame({"object_i": names[pairs[:, 0]], "object_j": names[pairs[:, 1]]})
    return llbt.from_counts(frame.assign(wins_i=counts[:, 0], ties=counts[:, 1], wins_j=counts[:, 2]))


def loss(params: np.ndarray, c: llbt.Comparisons, sigma: float | None) -> float:
    """Return −Σ n log p: whether a judgment is decided is logistic, and so is who wins a decision."""
    *worth, tie = params[:-1] if sigma is None else params
    s = params[-1] if sigma is None else sigma
    lead = np.append(worth, 0.0)[c.pairs]
    u = lead[:, 0] - lead[:, 1]
    tied = tie - np.log(2) - s * np.log(np.cosh(u))
    wins, ties, losses = c.counts.T
    said = stats.logistic.logcdf(tied) * ties + stats.logistic.logsf(tied) * (wins + losses)
    return -float((said + stats.logistic.logcdf(2 * u) * wins + stats.logistic.logsf(2 * u) * losses).sum())


@pytest.mark.parametrize("sigma", [None, 0.0, 1.0])
def test_the_likelihood_is_maximal(sigma: float | None) -> None:
    """By scipy's BFGS, from the factors of the likelihood; the standard error by differences of its second order."""
    found = llbt.tie_tests(FIT).to_frame()
    row = found.iloc[{None: 0, 1.0: 1, 0.0: 2}[sigma]]
    start = np.zeros(6 + (sigma is None))
    best = optimize.minimize(loss, start, args=(CEMS, sigma), method="BFGS", options={"gtol": 1e-7})
    n = CEMS.counts
    saturated = (n * np.log(np.where(n > 0, n, 1) / n.sum(axis=1, keepdims=True) ** (n > 0))).sum()
    assert row["deviance"] == pytest.approx(2 * (saturated + best.fun), abs=1e-4)
    if sigma is None:
        assert row["sigma"] == pytest.approx(best.x[-1], abs=1e-3)
        steps = 1e-3 * np.eye(len(best.x))
        second = np.array(
            [[sum(p * q * loss(best.x + p * a + q * b, CEMS, None) for p in (1, -1) for q in (1, -1)) / 4e-6
              for a in steps] for b in steps]
        )  # fmt: skip
        assert row["std_error"] == pytest.approx(np.sqrt(np.linalg.inv(second)[-1, -1]), rel=0.05)


@pytest.mark.parametrize("name", ["cems", "dras_table1"])
def test_the_generalized_model_is_that_of_r(name: str) -> None:
    """BradleyTerry2's GenDavidson, whose tie.scale is log σ."""
    known = json.loads((REFERENCE / "models" / "gen_davidson.json").read_text(encoding="utf-8"))[name]
    found = llbt.tie_tests(llbt.fit("object + tie", llbt.load_dataset(name).pool())).to_frame().set_index("model")
    assert found.loc["free", "sigma"] == pytest.approx(known["sigma"], rel=1e-5)
    assert found.loc["free", "std_error"] == pytest.approx(known["std_error"], rel=1e-4)
    for model in ("free", "as fitted"):
        assert found.loc[model, "deviance"] == pytest.approx(known[model], abs=1e-6)


def test_the_model_as_fitted_is_the_fit() -> None:
    found = llbt.tie_tests(FIT).to_frame()
    assert found["deviance"][1] == pytest.approx(FIT.deviance, abs=1e-6)
    ratio = found["deviance"][1:] - found["deviance"][0]
    np.testing.assert_allclose(found["statistic"][1:], ratio, rtol=1e-8)
    np.testing.assert_allclose(found["p_value"][1:], stats.chi2.sf(ratio, 1), rtol=1e-8)


def test_a_known_dependence_is_found() -> None:
    for sigma, rejected in ((1.0, 2), (0.0, 1)):
        found = llbt.tie_tests(llbt.fit("object + tie", drawn(np.random.default_rng(2), sigma, 4000))).to_frame()
        assert abs(found["sigma"][0] - sigma) < 3 * found["std_error"][0]
        assert found["p_value"][rejected] < 1e-6
        assert found["p_value"][3 - rejected] > 0.01


def test_clusters_are_tested_by_flips() -> None:
    table = llbt.load_dataset("dras_table1")
    found = llbt.tie_tests(llbt.fit("object + tie", table, cov_type="cluster", groups="judge")).to_frame()
    assert found["p_value"].isna().tolist() == [True, False, True]
    assert found["std_error"].isna().all()
    assert found["p_value"][1] * 8 == pytest.approx(round(found["p_value"][1] * 8))  # of 8 flips


@pytest.mark.parametrize(
    ("formula", "table", "options", "said"),
    [
        ("object", CEMS, {}, "has no tie"),
        ("tie", CEMS, {}, "has no object"),
        ("object + tie", CEMS, {"prior": 1.0}, "without prior"),
        ("object + tie", CEMS, {"link": "cumulative"}, "link='adjacent'"),
        ("object", llbt.load_dataset("citations"), {}, "no ties"),
        ("object + tie", llbt.load_dataset("dras_modpref"), {}, "does not separate σ"),
    ],
)
@pytest.mark.filterwarnings("ignore::llbt.errors.TiesWarning")
def test_other_fits_are_refused(formula: str, table: llbt.Comparisons, options: dict[str, object], said: str) -> None:
    with pytest.raises(DesignError, match=said):
        llbt.tie_tests(llbt.fit(formula, table, **options))  # type: ignore[call-overload]


@pytest.mark.exhaustive
def test_true_models_are_rejected_in_five_percent() -> None:
    """400 tables of 60 judgments of each of six pairs, seed 39: true σ = 1 is rejected in .065, true σ = 0 in .040."""
    rng = np.random.default_rng(39)
    for sigma, row in ((1.0, 1), (0.0, 2)):
        fits = [llbt.fit("object + tie", drawn(rng, sigma), method="eliminate") for _ in range(400)]
        rejected = np.mean([llbt.tie_tests(res).to_frame()["p_value"][row] <= 0.05 for res in fits])
        assert 0.02 < rejected < 0.085
