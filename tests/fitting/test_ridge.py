"""Slopes that are shrunk: against a maximum of the penalized likelihood by scipy, and folds refitted one by one."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special

import llbt
from llbt.fitting.folds import folds_of
from llbt.fitting.ridge import _least_of

OBJECTS = list("ABCDE")
FORMULA = "object + tie + object:(x + y)"


@cache
def table(n: int = 500, seed: int = 3, sd: float = 0.2, judges: int = 12) -> llbt.Comparisons:
    """Judgments of the model: slopes of standard deviation `sd` for each standard deviation of x and y."""
    rng = np.random.default_rng(seed)
    i, size = rng.integers(0, 5, n), np.array([2.0, 0.5])
    j = (i + rng.integers(1, 5, n)) % 5
    x, slopes = rng.normal(size=(n, 2)) * size, rng.normal(0, sd, (5, 2)) / size
    worth = np.linspace(0.4, -0.4, 5)
    gap = worth[i] - worth[j] + (x * (slopes[i] - slopes[j])).sum(axis=1)
    odds = special.softmax(np.column_stack([gap, np.full(n, -0.5), -gap]), axis=1)
    drawn = (rng.random(n)[:, None] > odds.cumsum(axis=1)).sum(axis=1)
    frame = pd.DataFrame({"object_i": np.array(OBJECTS)[i], "object_j": np.array(OBJECTS)[j], "x": x[:, 0]})
    frame = frame.assign(y=x[:, 1], outcome=np.array(["i", "tie", "j"])[drawn], judge=np.arange(n) % judges)
    return llbt.from_judgments(frame, covariates=["x", "y"], clusters=["judge"])


def by_scipy(c: llbt.Comparisons, strength: float, counts: Any = None) -> tuple[np.ndarray, float]:
    """Log-worths (5,), slopes (5, 2) less their means, tie; the maximum of the penalized likelihood by BFGS."""
    i, j = c.pairs.T
    whole = c.to_frame()
    x, n = whole[["x", "y"]].to_numpy(), c.outcome_counts if counts is None else counts
    total = c.totals[:, None]
    spread = np.sqrt(((x - (x * total).sum(0) / total.sum()) ** 2 * total).sum(0) / total.sum())

    def loss(free: np.ndarray) -> float:
        worth, slopes = np.append(free[:4], 0), np.vstack([free[4:12].reshape(4, 2), np.zeros(2)])
        gap = worth[i] - worth[j] + (x * (slopes[i] - slopes[j])).sum(axis=1)
        log_p = special.log_softmax(np.column_stack([gap, np.full(len(gap), free[12]), -gap]), axis=1)
        away = (slopes - slopes.mean(axis=0)) * spread
        return float(-(n * log_p).sum() + strength / 2 * (away**2).sum())

    found = optimize.minimize(loss, np.zeros(13), method="BFGS", options={"gtol": 1e-6})
    return found.x, found.fun


def estimates(res: Any, names: tuple[str, ...] = ("x", "y")) -> np.ndarray:
    worth = [res.params[f"object[{o}]"] for o in OBJECTS[:4]]
    slopes = [res.params[f"object[{o}]:{name}"] for o in OBJECTS[:4] for name in names]
    return np.array([*worth, *slopes, res.params["tie"]])


@pytest.mark.parametrize("strength", [2.0, 60.0])
def test_a_given_strength_is_the_maximum_of_the_penalized_likelihood(strength: float) -> None:
    res = llbt.fit(FORMULA, table(), penalty=strength)
    np.testing.assert_allclose(estimates(res), by_scipy(table(), strength)[0], atol=2e-5)
    assert any(f"penalty={strength:g}" in note for note in res.summary().notes)


def test_errors_are_of_the_penalized_information_by_differences() -> None:
    res, step = llbt.fit(FORMULA, table(), penalty=20.0), 1e-4
    problem, names = res.problem(), list(res.cov_params().index)
    start = res.params[names].to_numpy()

    def score(at: np.ndarray) -> np.ndarray:
        from llbt.fitting.specification import penalty_of
        from llbt.kernel.likelihood import Likelihood

        more = penalty_of(problem, res.comparisons, res.specification, res.design, res.free)
        assert more is not None
        return np.asarray(Likelihood.of(problem).moments(at)[1] + more(at).gradient)

    hessian = [(score(start + step * e) - score(start - step * e)) / (2 * step) for e in np.eye(len(start))]
    np.testing.assert_allclose(np.linalg.inv(-np.array(hessian)), res.cov_params().to_numpy(), rtol=1e-4, atol=1e-8)


def test_the_reference_and_the_units_do_not_matter() -> None:
    frame = table().to_frame().rename(columns={"wins_i": "w", "wins_j": "l"})
    frame = frame.assign(x=frame["x"] * 100, wins_i=frame["w"], wins_j=frame["l"]).drop(columns=["w", "l"])
    other = llbt.from_counts(frame, covariates=["x", "y"])
    one, two = llbt.fit(FORMULA, table(), penalty=30.0), llbt.fit(FORMULA, other, penalty=30.0, reference="B")
    chances = [res.predict().to_frame()["estimate"] for res in (one, two)]
    np.testing.assert_allclose(*chances, atol=1e-7)


@pytest.mark.slow
def test_the_strength_is_that_of_the_smallest_loss_of_held_out_clusters() -> None:
    """Each fold by scipy, with the folds of the fit's seed."""
    res = llbt.fit(FORMULA, table(200), penalty="ridge", rng=4)
    prior, c = res.specification.prior, table(200)
    assert "held-out judges in 5 folds" in prior.text
    tried = prior.strength * 2.0 ** (1.5 * np.arange(-1, 2))
    losses = np.zeros(3)
    x, (i, j) = c.to_frame()[["x", "y"]].to_numpy(), c.pairs.T
    for part in folds_of(c, "judge", 5, np.random.default_rng(4)):
        held = part.held(c.outcome_counts.shape)
        for k, strength in enumerate(tried):
            free, _ = by_scipy(c, strength, c.outcome_counts - held)
            worth, slopes = np.append(free[:4], 0), np.vstack([free[4:12].reshape(4, 2), np.zeros(2)])
            gap = worth[i] - worth[j] + (x * (slopes[i] - slopes[j])).sum(axis=1)
            log_p = special.log_softmax(np.column_stack([gap, np.full(len(gap), free[12]), -gap]), axis=1)
            losses[k] -= (held * log_p).sum()
    assert losses[1] == losses.min()
    assert f"{losses[1] / c.totals.sum():.5g}" in prior.text


def test_the_strength_is_found_between_those_tried() -> None:
    """Losses of a parabola in the logarithm of the standard deviation, whose least is known."""
    assert _least_of(4.0, 1.0, 4.0) == 0
    assert _least_of(*[(x - 0.3) ** 2 for x in (-1, 0, 1)]) == pytest.approx(0.3)
    assert _least_of(1.0, 1.0, 1.0) == 0
    prior = llbt.fit(FORMULA, table(500, judges=10), penalty="ridge", rng=1).specification.prior
    steps = (1 - np.log2(prior.strength**-0.5)) / 0.75
    assert abs(steps - round(steps)) > 1e-3


def test_it_is_repeatable_and_the_held_out_loss_refits_with_the_penalty() -> None:
    one, two = (llbt.fit(FORMULA, table(200), penalty="ridge", rng=4) for _ in range(2))
    assert one.specification.prior.strength == two.specification.prior.strength
    plain = llbt.fit(FORMULA, table(200))
    losses = llbt.held_out([plain, one], by="judge", folds=4, rng=1).to_frame()["log_loss"]
    assert losses[1] < losses[0]


@pytest.mark.slow
def test_slopes_are_nearer_to_the_truth_and_intervals_hold_on_average() -> None:
    """40 tables of 300 judgments, slopes of sd .1 per sd: seeds 100 to 139."""
    off, hits = np.zeros(2), []
    for seed in range(100, 140):
        c, rng = table(300, seed, 0.1), np.random.default_rng(seed)
        rng.integers(0, 5, 300), rng.integers(1, 5, 300), rng.normal(size=(300, 2))
        true = rng.normal(0, 0.1, (5, 2))[:, 0]
        wanted = (true[0] - true[1]) / 2
        for k, res in enumerate((llbt.fit(FORMULA, c), llbt.fit(FORMULA, c, penalty=100.0))):
            found = res.t_test("object[A]:x - object[B]:x = 0").to_frame().iloc[0]
            off[k] += (found["estimate"] - wanted) ** 2
        hits.append(found["conf_low"] <= wanted <= found["conf_high"])
    assert off[1] < 0.8 * off[0]
    assert np.mean(hits) > 0.85


REFUSED = {
    "no slopes": (("object + tie", {"penalty": "ridge"}), "object:x"),
    "a prior": ((FORMULA, {"penalty": 3.0, "prior": 1}), "Leave one of the two out"),
    "a GLM": ((FORMULA, {"penalty": 3.0, "method": "glm"}), "method='glm'"),
    "effects of judges": ((FORMULA + " + (1 | judge)", {"penalty": 3.0}), r"."),
    "a negative strength": ((FORMULA, {"penalty": -1.0}), "positive strength"),
    "another word": ((FORMULA, {"penalty": "lasso"}), "'ridge'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_slopes_to_shrink_is_refused(case: str) -> None:
    (formula, options), said = REFUSED[case]
    with pytest.raises(llbt.LLBTError, match=said):
        llbt.fit(formula, table(), **options)


def test_questions_that_refit_keep_the_strength_or_say_what_does_not_hold() -> None:
    res = llbt.fit("object + tie + object:x", table(), penalty=3.0)
    compared = llbt.anova(llbt.fit("object + tie", table()), res)
    assert any("do not maximize the likelihood" in note for note in compared.notes)
    assert len(llbt.drop1(res).to_frame())
    by_judge = llbt.fit("object + tie + object:x", table(), penalty=3.0, cov_type="cluster", groups="judge")
    with pytest.raises(llbt.LLBTError, match="penalty and clusters"):
        by_judge.wald_test(["object[A]:x = 0", "object[B]:x = 0"])
