"""Graded judgments by simulation: what intervals cover, what grades gain over win, tie and loss, size of `grade_tests`.

Five grades, five objects, all pairs alike often, equally spaced λ. Intervals of P(i preferred | decided) are those of
`worth`: half the log-odds with a delta-method error, turned back into a probability.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.folders import SIMULATIONS
from support.preferred import half_log_odds

import llbt
from llbt.core.response import graded
from llbt.fitting.results import LLBTResults
from llbt.kernel.batch import fit_many
from llbt.kernel.likelihood import Problem, probabilities

FIVE = graded(2, middle=True)
PAIRS = np.column_stack(np.triu_indices(5, 1))
SIDES = np.eye(5)[PAIRS[:, 0]] - np.eye(5)[PAIRS[:, 1]]  # differences of log-worths, (10, 5)
LEVELS = np.array([0.2, -0.6])  # γ of the tie, and of the larger grade
NAMES = ("object[A]", "object[B]", "object[C]", "object[D]", "tie", "grade[+]")
FORMULA = "object + tie + grade"
Z = float(stats.norm.isf(0.025))


@cache
def recorded(name: str) -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / f"{name}.json").read_text(encoding="utf-8")))


def fitted(counts: np.ndarray, formula: str = FORMULA) -> LLBTResults:
    """Fit a table (10, 5), or (10, 3)."""
    names = ["++", "+", "=", "-", "--"] if counts.shape[1] == 5 else ["+", "=", "-"]
    frame = pd.DataFrame(counts, columns=names)
    frame[["object_i", "object_j"]] = np.array(list("ABCDE"))[PAIRS]
    return llbt.fit(formula, llbt.from_counts(frame, grades=names))


@cache
def design(outcomes: int = 5) -> Problem:
    formula = FORMULA if outcomes == 5 else "object + tie"
    return fitted(np.full((10, outcomes), 5.0), formula).problem()


def worths(spread: float) -> np.ndarray:
    """λ of five objects, equally spaced, the last 0."""
    return spread * np.arange(4, -1, -1) / 4


def of(spread: float) -> np.ndarray:
    return np.append(worths(spread)[:4], LEVELS)


def drawn(rng: np.random.Generator, spread: float, judgments: int, tables: int) -> np.ndarray:
    p = probabilities(design(), of(spread))
    return rng.multinomial(judgments, p, size=(tables, 10)).astype(float)


# -- independent judgments -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """Estimates of B tables: contrasts of λ and half the log-odds of being preferred, each (B, 10), with errors."""

    contrasts: np.ndarray
    contrast_errors: np.ndarray
    decided: np.ndarray
    decided_errors: np.ndarray
    kept: np.ndarray


def estimated(problem: Problem, counts: np.ndarray, start: np.ndarray) -> Found:
    """Fit B tables and return the answers for every pair."""
    fits = fit_many(problem, counts, start)
    params = fits.params[~fits.degenerate]
    rows = [part.toarray() for part in problem.predictors]
    totals = counts[~fits.degenerate].sum(axis=2)
    *_, weight = problem.response.moments([params @ part.T for part in rows], totals)
    info = sum(
        np.einsum("bs,sp,sq->bpq", weight[k, m], rows[k], rows[m], optimize=True)
        for k in range(len(rows))
        for m in range(len(rows))
    )
    cov = np.linalg.inv(info)
    lead = np.concatenate([SIDES[:, :4], np.zeros((10, params.shape[1] - 4))], axis=1)
    contrasts = params @ lead.T
    errors = np.sqrt(np.einsum("kp,bpq,kq->bk", lead, cov, lead, optimize=True))
    level = params[:, 5:6] if params.shape[1] > 5 else -np.inf
    half, slope, of_level = half_log_odds(contrasts, level)
    gradient = slope[:, :, None] * lead
    if params.shape[1] > 5:
        gradient[:, :, 5] = of_level
    spread = np.sqrt(np.einsum("bkp,bpq,bkq->bk", gradient, cov, gradient, optimize=True))
    return Found(contrasts, errors, half, spread, ~fits.degenerate)


def truth(spread: float) -> np.ndarray:
    """Half the log-odds that i is preferred, given a decision, of every pair."""
    p = probabilities(design(), of(spread))
    return np.asarray(np.log(p[:, :2].sum(axis=1) / p[:, 3:].sum(axis=1)) / 2)


def of_intervals(spread: float, judgments: int, tables: int, seed: int) -> dict[str, float]:
    """Return the coverage of λ and of the probability, and what five grades gain over three outcomes."""
    counts = drawn(np.random.default_rng(seed), spread, judgments, tables)
    five = estimated(design(), counts, of(spread))
    collapsed = np.stack([counts[:, :, :2].sum(axis=2), counts[:, :, 2], counts[:, :, 3:].sum(axis=2)], axis=2)
    three = estimated(design(3), collapsed, of(spread)[:5])
    both = five.kept & three.kept
    a, b = both[five.kept], both[three.kept]
    exact = truth(spread)
    mse = [np.mean((one[kept] - exact) ** 2) for one, kept in ((five.decided, a), (three.decided, b))]
    error = [np.mean(one[kept]) for one, kept in ((five.decided_errors, a), (three.decided_errors, b))]
    z = [
        np.mean((one.decided[kept] / one.decided_errors[kept])[:, exact > 0]) if spread else np.nan
        for one, kept in ((five, a), (three, b))
    ]
    away = np.abs(five.contrasts - SIDES @ worths(spread)) < Z * five.contrast_errors
    low, high = (special.expit(2 * (five.decided + sign * Z * five.decided_errors)) for sign in (-1, 1))
    share = special.expit(2 * exact)
    found = {
        "lambda": float(np.mean(away)),
        "lambda, worst pair": float(np.mean(away, axis=0).min()),
        "preferred": float(np.mean((low < share) & (share < high))),
        "degenerate": float(np.mean(~five.kept)),
        "squared error, three over five": float(mse[1] / mse[0]),
        "standard error, three over five": float(error[1] / error[0]),
    }
    return {name: round(value, 4) for name, value in found.items()} | (
        {"judgments gained": round(float((z[0] / z[1]) ** 2 - 1), 4)} if spread else {}
    )


SPREADS = (0.0, 0.4, 0.8, 1.6)
SETTINGS = [(spread, judgments) for spread in SPREADS for judgments in (20, 200)]


def test_batched_answers_are_those_of_the_package() -> None:
    counts = drawn(np.random.default_rng(5), 0.8, 30, 2)
    found = estimated(design(), counts, of(0.8))
    for k, table in enumerate(counts):
        res = fitted(table)
        for scale, values, errors in (
            ("log_worth", found.contrasts, found.contrast_errors),
            ("log_odds", 2 * found.decided, 2 * found.decided_errors),
        ):
            pairs = llbt.pairwise(res, scale=scale, adjust=None).to_frame()
            np.testing.assert_allclose(pairs["estimate"], values[k], rtol=1e-7)
            np.testing.assert_allclose(pairs["std_error"], errors[k], rtol=1e-6)
        shown = (
            llbt.worth(res, scale="probability").to_frame().set_index("object").loc[list("ABCD")]
        )  # against E, intervals of one pair each
        ends = (special.expit(2 * (found.decided[k] + sign * Z * found.decided_errors[k])) for sign in (-1, 1))
        np.testing.assert_allclose(shown[["conf_low", "conf_high"]].T, np.array(list(ends))[:, PAIRS[:, 1] == 4], 1e-6)


@pytest.mark.parametrize(("spread", "judgments"), SETTINGS)
def test_recorded_intervals_of_grades_cover(spread: float, judgments: int) -> None:
    found = recorded("graded_coverage")["found"][f"{spread}, {judgments}"]
    for name in ("lambda", "lambda, worst pair", "preferred"):
        assert 0.93 <= found[name] <= 0.97, name
    assert found["degenerate"] < 0.01
    assert found["squared error, three over five"] > 1
    assert found["standard error, three over five"] > 1


@pytest.mark.parametrize(("spread", "judgments"), [(0.8, 20), (0.8, 200)])
def test_intervals_of_grades_cover(spread: float, judgments: int) -> None:
    """400 tables of ten pairs, which are not independent: within .025 of what many tables have."""
    found = of_intervals(spread, judgments, 400, 3)
    expected = recorded("graded_coverage")["found"][f"{spread}, {judgments}"]
    for name in ("lambda", "preferred"):
        assert found[name] == pytest.approx(expected[name], abs=0.025)
    for name in ("squared error, three over five", "standard error, three over five"):
        assert found[name] == pytest.approx(expected[name], rel=0.15)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("spread", "judgments"), SETTINGS)
def test_intervals_of_grades_cover_again(spread: float, judgments: int) -> None:
    record = recorded("graded_coverage")
    found = of_intervals(spread, judgments, record["tables"], record["seed"])
    assert found == pytest.approx(record["found"][f"{spread}, {judgments}"], abs=2e-3)
