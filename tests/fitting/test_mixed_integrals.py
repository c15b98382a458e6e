"""Fits with effects of judges beside integrals of our own: grids for few objects, random draws for many."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt

LINE = np.linspace(-7, 7, 141)
WEIGHT = stats.norm.pdf(LINE) * (LINE[1] - LINE[0])


def _by_grid(res: llbt.MixedResults, at: np.ndarray) -> float:
    """Σ_g log ∫ Π p^y of three objects: a sum over a square grid of (b_A − b_C, b_B − b_C), by Cholesky's root.

    The contrasts of the package are eigenvectors of each judge's graph; this is another way to write the effects, and
    the levels of a judge are read from the table.
    """
    size = len(res.names)
    params, sigma = dict(zip(res.names, at[:size], strict=True)), np.exp(at[size])
    one, two = np.meshgrid(LINE, LINE, indexing="ij")
    own = {"A": sigma * np.sqrt(2) * one, "B": sigma * (one / np.sqrt(2) + two * np.sqrt(1.5)), "C": 0 * one}
    worth = {name: params.get(f"object[{name}]", 0.0) + effect for name, effect in own.items()}
    kept = res.comparisons.to_frame(clusters=True)
    outcomes = list(res.comparisons.count_columns)
    half = len(outcomes) // 2 if "bad" not in outcomes else 1
    total = 0.0
    for _, said in kept.groupby("judge"):
        log = np.zeros_like(one)
        for row in said.to_dict("records"):
            lead = worth[row["object_i"]] - worth[row["object_j"]]
            weights = {name: 0 * one + params.get(name, 0.0) for name in ("tie", "bad") if name in outcomes}
            if half == 2:
                weights["i+"], weights["j+"] = 2 * lead + params["grade[+]"], -2 * lead + params["grade[+]"]
            first, second = ("i", "j") if half == 2 else ("wins_i", "wins_j")
            weights[first], weights[second] = lead, -lead
            weights["ties"] = weights.get("tie", 0 * one + params.get("tie", 0.0))
            norm = np.log(sum(np.exp(weights[name]) for name in outcomes))
            log += sum(row[name] * (weights[name] - norm) for name in outcomes)
        total += np.log(WEIGHT @ np.exp(log) @ WEIGHT)
    return total


def _counts(outcomes: list[str], seed: int, log_weights: list[float], scores: list[int]) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for g in range(14):
        own = np.array([0.4, 0.1, 0.0]) + 0.6 * rng.normal(size=3)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            p = np.exp(np.array(scores) * (own[i] - own[j]) + log_weights)
            rows.append(("ABC"[i], "ABC"[j], g, *rng.multinomial(3, p / p.sum())))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "judge", *outcomes])


GRADED = _counts(["i+", "i", "tie", "j", "j+"], 3, [-0.6, 0, 0.2, 0, -0.6], [2, 1, 0, -1, -2])
BAD = _counts(["wins_i", "ties", "bad", "wins_j"], 4, [0, 0.1, -0.4, 0], [1, 0, 0, -1])
CASES = {
    "grades": (lambda: llbt.from_counts(GRADED, clusters="judge", grades=list(GRADED.columns[3:])), "tie + grade"),
    "both bad": (lambda: _judged(BAD), "tie + bad"),
}


def _judged(frame: pd.DataFrame) -> llbt.Comparisons:
    """Return the table of judgments, one by one, whose fourth outcome is that both are bad."""
    long = frame.melt(["object_i", "object_j", "judge"], var_name="outcome", value_name="n")
    long = long.loc[long.index.repeat(long["n"])]
    outcomes = {"wins_i": "i", "ties": "tie", "bad": "bad", "wins_j": "j"}
    return llbt.from_judgments(long.drop(columns="n"), outcome="outcome", outcomes=outcomes, clusters="judge")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_other_outcomes_are_an_integral_over_a_grid(case: str) -> None:
    table, rest = CASES[case]
    res = llbt.fit(f"object + {rest} + (object | judge)", table())
    assert isinstance(res, llbt.MixedResults)
    assert res.scales.iloc[0] > 0.2
    at = np.append(res.maximum.params, np.log(res.maximum.scales))
    assert res.llf == pytest.approx(_by_grid(res, at), abs=1e-8)
    free = np.append(~np.isnan(res.bse), True)
    for step in 2e-3 * np.eye(len(at))[free]:
        slope = (_by_grid(res, at + step) - _by_grid(res, at - step)) / 4e-3
        assert slope == pytest.approx(0, abs=1e-3)


def _drawn(signs: np.ndarray, eta: np.ndarray, prior: float, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return log-weights of random draws around the mode of a judge's effects b, one of every object judged.

    Parameters
    ----------
    signs : ndarray, shape (R, J)
        1 and −1 at the objects of each judgment.
    eta : ndarray, shape (R, 6)
        Log-weights of i, tie and j without effects, then their counts.
    prior : float
        The variance of every b.
    """
    scores = np.array([1.0, 0.0, -1.0])
    b = np.zeros(signs.shape[1])
    said = eta[:, 3:]
    total = said.sum(axis=1)
    for _ in range(40):
        p = np.exp(eta[:, :3] + (signs @ b)[:, None] * scores)
        p /= p.sum(axis=1, keepdims=True)
        mean = p @ scores
        gradient = signs.T @ (said @ scores - total * mean) - b / prior
        information = (signs.T * (total * (p @ scores**2 - mean**2))) @ signs + np.eye(len(b)) / prior
        step = np.linalg.solve(information, gradient)
        b = b + step / max(1.0, np.abs(step).max())
    root = np.linalg.inv(np.linalg.cholesky(information)).T
    z = rng.normal(size=(draws, len(b)))
    at = b + z @ root.T
    log = eta[:, None, :3] + (at @ signs.T).T[:, :, None] * scores
    log -= np.log(np.exp(log).sum(axis=2, keepdims=True))
    posterior = np.einsum("rk,rnk->n", said, log) + stats.norm.logpdf(at, scale=np.sqrt(prior)).sum(axis=1)
    proposal = stats.norm.logpdf(z).sum(axis=1) + 0.5 * np.linalg.slogdet(information)[1]
    return np.asarray(posterior - proposal)


@pytest.mark.shared
@pytest.mark.exhaustive
def test_124_workers_and_59_models_by_sampling(shared: Path) -> None:
    """The log-likelihood at the estimates by a sampler of our own: random numbers, effects of objects, no contrasts."""
    c = llbt.from_judgments(shared / "data" / "llmfao.csv", clusters="judge")
    res = llbt.fit("object + tie + (object | judge)", c)
    assert isinstance(res, llbt.MixedResults)
    assert res.converged
    rng, variance, total = np.random.default_rng(1), 0.0, 0.0
    at = pd.Series(res.maximum.params, index=res.names)
    worth = at.filter(like="object").rename(lambda name: name[7:-1])
    for _, said in c.to_frame(clusters=True).groupby("judge"):
        names = sorted({*said["object_i"], *said["object_j"]})
        signs = np.zeros((len(said), len(names)))
        signs[np.arange(len(said)), said["object_i"].map(names.index)] = 1
        signs[np.arange(len(said)), said["object_j"].map(names.index)] = -1
        lead = (said["object_i"].map(worth).fillna(0) - said["object_j"].map(worth).fillna(0)).to_numpy()
        levels = np.column_stack([lead, np.full(len(said), at["tie"]), -lead])
        eta = np.column_stack([levels, said[["wins_i", "ties", "wins_j"]]])
        log = _drawn(signs, eta, float(res.maximum.scales[0]) ** 2, 2000, rng)
        top = log.max()
        weight = np.exp(log - top)
        total += top + np.log(weight.mean())
        variance += weight.var() / weight.mean() ** 2 / len(weight)
    assert variance < 0.1
    assert res.llf == pytest.approx(total, abs=4 * np.hypot(res.maximum.moved, np.sqrt(variance)))
    assert res.llf > res.without.llf + 30
