"""How often intervals of penalized slopes and worths hold, over objects with normally distributed slopes.

Six objects, 300 judgments of two outcomes, one feature of five values; slopes have a standard deviation of .1 or .3
log-worths for each standard deviation of the feature. Fits and folds are written out here, for speed; a test compares
them with `llbt.fit`.
"""

import json

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from scipy import special
from support.folders import SIMULATIONS

import llbt

RECORD = SIMULATIONS / "ridge_coverage.json"
OBJECTS = list("ABCDEF")
SPREADS = (0.1, 0.3)
TRIED = 2.0 ** np.arange(1.0, -6.5, -0.75)
FITS = ("plain", "chosen strength", "true strength")
FIGURES = ("slopes", "slopes, farthest", "worths", "error of slopes", "error of worths")
CENTRE = np.kron(np.diag([0.0, 1.0]), np.eye(5) - 1 / 6)  # of worths and slopes less those of the first


def drawn(spread: float, seed: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return i, j, x, whether i won, and the true worths and slopes (2, 6)."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, 6, 300)
    j = (i + rng.integers(1, 6, 300)) % 6
    x, true = rng.integers(-2, 3, 300) / 2**0.5, np.array([np.linspace(0.5, -0.5, 6), rng.normal(0, spread, 6)])
    gap = true[0, i] - true[0, j] + x * (true[1, i] - true[1, j])
    return i, j, x, rng.random(300) < special.expit(2 * gap), true


def fitted(rows: np.ndarray, won: np.ndarray, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Return estimates and their covariance, by Newton's method."""
    params = np.zeros(10)
    for _ in range(30):
        chance = special.expit(2 * rows @ params)
        information = 4 * (rows * (chance * (1 - chance))[:, None]).T @ rows + strength * CENTRE
        step = np.linalg.solve(information, 2 * rows.T @ (won - chance) - strength * CENTRE @ params)
        params = params + step
        if np.abs(step).max() < 1e-9:
            break
    return params, np.linalg.inv(information)


def held_out(rows: np.ndarray, won: np.ndarray, fold: np.ndarray, spread: float) -> float:
    loss = 0.0
    for k in range(5):
        params, _ = fitted(rows[fold != k], won[fold != k], spread**-2)
        loss -= special.log_expit((2 * won[fold == k] - 1) * 2 * (rows[fold == k] @ params)).sum()
    return loss


def chosen(rows: np.ndarray, won: np.ndarray, rng: np.random.Generator) -> float:
    """Return the standard deviation with the least loss of held-out judgments, by the rule of `penalty="ridge"`."""
    fold = rng.permutation(len(rows)) % 5
    losses = np.array([held_out(rows, won, fold, spread) for spread in TRIED])
    best = int(losses.argmin())
    if not 0 < best < len(losses) - 1:
        return float(TRIED[best])
    before, at, after = losses[best - 1 : best + 2]
    between = float(TRIED[best] * 2.0 ** (-0.75 * (before - after) / (2 * (before - 2 * at + after))))
    return between if held_out(rows, won, fold, between) < at else float(TRIED[best])


def rows_of(i: np.ndarray, j: np.ndarray, x: np.ndarray) -> np.ndarray:
    apart = (np.eye(6)[i] - np.eye(6)[j])[:, 1:]
    return np.hstack([apart, apart * x[:, None]])


def one(spread: float, seed: list[int]) -> list[list[float]]:
    """Return coverage of slopes, of that farthest from the mean, of worths, and squared errors; a row for a fit."""
    i, j, x, won, true = drawn(spread, seed)
    rows, rng = rows_of(i, j, x), np.random.default_rng([*seed, 1])
    wanted = np.concatenate([true[0, 1:] - true[0, 0], true[1, 1:] - true[1, 0]])
    far, found = int(np.abs(true[1, 1:] - true[1].mean()).argmax()), []
    for strength in (0.0, chosen(rows, won, rng) ** -2, spread**-2):
        params, cov = fitted(rows, won, strength)  # the sd of x is 1 in the population
        off = params - wanted
        held = np.abs(off) <= 1.96 * np.sqrt(np.diag(cov))
        found.append([held[5:].mean(), held[5 + far], held[:5].mean(), (off[5:] ** 2).mean(), (off[:5] ** 2).mean()])
    return found


def shares(tables: int, seed: int, n_jobs: int = 1) -> dict[str, dict[str, float]]:
    """Means over drawn tables by spread of the slopes and fit; errors are roots of mean squares."""
    found = {}
    for spread in SPREADS:
        every = np.array(Parallel(n_jobs=n_jobs)(delayed(one)(spread, [seed, k]) for k in range(tables)))
        means = every.mean(axis=0)
        means[:, 3:] **= 0.5
        for fit, row in zip(FITS, means.round(3).tolist(), strict=True):
            found[f"sd {spread}, {fit}"] = dict(zip(FIGURES, row, strict=True))
    return found


def test_fits_written_out_are_those_of_llbt() -> None:
    i, j, x, won, _ = drawn(0.3, [1, 2])
    names = np.array(OBJECTS)
    frame = pd.DataFrame({"object_i": names[i], "object_j": names[j], "x": x, "outcome": np.where(won, "i", "j")})
    res = llbt.fit("object + object:x", llbt.from_judgments(frame, covariates=["x"]), reference="A", penalty=30.0)
    asked = [f"object[{o}]" for o in OBJECTS[1:]] + [f"object[{o}]:x" for o in OBJECTS[1:]]
    params, cov = fitted(rows_of(i, j, x), won, 30.0 * x.std() ** 2)
    np.testing.assert_allclose(res.params[asked], params, atol=1e-6)
    np.testing.assert_allclose(res.bse[asked], np.sqrt(np.diag(cov)), rtol=1e-5)


def recorded() -> dict:
    return json.loads(RECORD.read_text(encoding="utf-8"))


def test_intervals_hold_with_the_true_strength_and_those_of_slopes_less_often_with_a_chosen_one() -> None:
    """500 tables: the standard error of .95 is about .01."""
    found = recorded()["found"]
    for spread in SPREADS:
        assert found[f"sd {spread}, true strength"]["slopes"] > 0.93
        assert found[f"sd {spread}, chosen strength"]["worths"] > 0.93
        assert found[f"sd {spread}, chosen strength"]["slopes"] < 0.91
        errors = [found[f"sd {spread}, {fit}"]["error of slopes"] for fit in FITS]
        assert errors == sorted(errors, reverse=True)


@pytest.mark.exhaustive
def test_the_record_is_what_comes_out() -> None:
    record = recorded()
    assert shares(record["tables"], record["seed"], n_jobs=-1) == record["found"]
