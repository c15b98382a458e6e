"""Coverage of intervals by clusters where judges use a graded scale differently, by simulation.

Five grades, five objects. Each judge has tastes of his own (λ of sd .4), a readiness for ties and one for the larger
grade of his own (γ of sd .8). Intervals hold what `object + tie + grade` estimates from very many judges.
"""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from support.folders import SIMULATIONS
from support.preferred import half_log_odds

import llbt
from llbt.core.response import graded
from llbt.fitting.clusters import Way
from llbt.fitting.covariances import jackknifed
from llbt.kernel.batch import fit_many
from llbt.kernel.likelihood import Problem
from llbt.kernel.robust import Clustered
from llbt.kernel.solvers import eliminate

FIVE = graded(2, middle=True)
PAIRS = np.column_stack(np.triu_indices(5, 1))
SIDES = (np.eye(5)[PAIRS[:, 0]] - np.eye(5)[PAIRS[:, 1]])[:, :4]
WORTH = np.array([0.6, 0.4, 0.2, 0.1, 0.0])
LEVELS = np.array([0.2, -0.6])
NAMES = ("object[A]", "object[B]", "object[C]", "object[D]", "tie", "grade[+]")
TASTE, SCALE = 0.4, 0.8  # standard deviations of a judge's λ and γ
EACH = 60  # judgments of a judge, or their median
SETTINGS = [(judges, unequal) for unequal in (0.0, 1.0) for judges in (12, 20, 30)]


@cache
def design() -> Problem:
    names = ["++", "+", "=", "-", "--"]
    frame = pd.DataFrame(np.full((10, 5), 5.0), columns=names)
    frame[["object_i", "object_j"]] = np.array(list("ABCDE"))[PAIRS]
    return llbt.fit("object + tie + grade", llbt.from_counts(frame, grades=names)).problem()


def judged(rng: np.random.Generator, judge: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Draw the outcome, 0 … 4, of each judgment."""
    judges = judge.max() + 1
    worth = WORTH + rng.normal(0, TASTE, (judges, 5))
    levels = LEVELS + rng.normal(0, SCALE, (judges, 2))
    lead = worth[judge, PAIRS[pair, 0]] - worth[judge, PAIRS[pair, 1]]
    p = FIVE.probabilities([lead, *levels[judge].T])[0]
    return np.asarray((rng.random(len(pair)) > np.cumsum(p, axis=0)[:4]).sum(axis=0))


def table(pair: np.ndarray, said: np.ndarray) -> np.ndarray:
    return np.bincount(pair * 5 + said, minlength=50).reshape(10, 5).astype(float)


@cache
def target() -> np.ndarray:
    """What the model estimates from 200,000 judges, each of whom judges every pair once."""
    rng = np.random.default_rng(0)
    judge, pair = np.repeat(np.arange(200_000), 10), np.tile(np.arange(10), 200_000)
    return fit_many(design(), table(pair, judged(rng, judge, pair))[None], np.append(WORTH[:4], LEVELS)).params[0]


def decided(params: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return half the log-odds of being preferred of every pair, (10,), and their slopes, (10, 6)."""
    half, slope, of_level = half_log_odds(SIDES @ params[:4], params[5])
    return half, np.column_stack([slope[:, None] * SIDES, np.zeros(10), of_level])


def covered(rng: np.random.Generator, judges: int, unequal: float) -> np.ndarray:
    """Whether the intervals of λ, γ and P(preferred) hold their target, by clusters and as if independent, (2, 16)."""
    number = np.maximum(np.round(EACH * np.exp(unequal * rng.normal(size=judges))), 5).astype(int)
    judge = np.repeat(np.arange(judges), number)
    pair = rng.integers(0, 10, len(judge))
    said = judged(rng, judge, pair)
    problem = replace(design(), counts=table(pair, said))
    fit = eliminate(problem)
    found = jackknifed(problem, fit, [Way("judge", Clustered(pair, np.eye(5)[said], judge), tuple(judge))], NAMES)
    half, slopes = decided(fit.params)
    away = np.abs(np.append(fit.params - target(), half - decided(target())[0]))
    rows = np.concatenate([np.eye(6), slopes])
    return np.array(
        [
            away < stats.t.isf(0.025, df) * np.sqrt(np.einsum("kp,pq,kq->k", rows, cov, rows))
            for cov, df in ((found.matrix, found.df), (fit.cov, np.inf))
        ]
    )


def coverage(judges: int, unequal: float, tables: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    by_judge, naive = np.mean([covered(rng, judges, unequal) for _ in range(tables)], axis=0)
    found = {
        "lambda": by_judge[:4].mean(),
        "tie": by_judge[4],
        "grade": by_judge[5],
        "preferred": by_judge[6:].mean(),
        "lambda, as if independent": naive[:4].mean(),
        "preferred, as if independent": naive[6:].mean(),
        "grade, as if independent": naive[5],
    }
    return {name: round(float(value), 4) for name, value in found.items()}


def named(judges: int, unequal: float) -> str:
    return f"{judges} judges" + (" of unequal size" if unequal else "")


def test_half_log_odds_and_errors_are_those_of_the_package() -> None:
    """One table, read from rows with their judge, and fitted by clusters."""
    rng = np.random.default_rng(2)
    judge, pair = np.repeat(np.arange(12), 60), rng.integers(0, 10, 720)
    said = judged(rng, judge, pair)
    rows = pd.DataFrame({"judge": judge, "said": 2 - said, "other": 0})
    rows[["object_i", "object_j"]] = np.array(list("ABCDE"))[PAIRS[pair]]
    c = llbt.from_judgments(rows, strength="said", clusters="judge")
    res = llbt.fit("object + tie + grade", c, cov_type="cluster", groups="judge")
    problem = replace(design(), counts=table(pair, said))
    fit = eliminate(problem)
    cov = jackknifed(problem, fit, [Way("judge", Clustered(pair, np.eye(5)[said], judge), tuple(judge))], NAMES)
    half, slopes = decided(fit.params)
    error = np.sqrt(np.einsum("kp,pq,kq->k", slopes, cov.matrix, slopes)) * stats.t.isf(0.025, cov.df)
    shown = llbt.worth(res, scale="probability").to_frame().set_index("object").loc[list("ABCD")]
    for name, sign in (("estimate", 0), ("conf_low", -1), ("conf_high", 1)):
        np.testing.assert_allclose(shown[name], special.expit(2 * (half + sign * error))[PAIRS[:, 1] == 4], rtol=1e-6)


@pytest.mark.parametrize(("judges", "unequal"), SETTINGS)
def test_recorded_coverage_by_judges_who_use_the_scale_differently(judges: int, unequal: float) -> None:
    record = json.loads((SIMULATIONS / "graded_judges.json").read_text(encoding="utf-8"))
    found = record["coverage"][named(judges, unequal)]
    for name in ("lambda", "tie", "grade", "preferred"):
        assert 0.93 <= found[name] <= 0.98, name
    assert found["preferred, as if independent"] < 0.9


@pytest.mark.slow
def test_intervals_by_judges_cover() -> None:
    """100 tables: within three standard errors of what is recorded."""
    record = json.loads((SIMULATIONS / "graded_judges.json").read_text(encoding="utf-8"))
    found = coverage(12, 0.0, 100, 5)
    expected = record["coverage"][named(12, 0.0)]
    for name in ("lambda", "tie", "grade", "preferred"):
        assert found[name] == pytest.approx(expected[name], abs=0.06)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("judges", "unequal"), SETTINGS)
def test_coverage_by_judges_again(judges: int, unequal: float) -> None:
    record = json.loads((SIMULATIONS / "graded_judges.json").read_text(encoding="utf-8"))
    found = coverage(judges, unequal, record["tables"], record["seed"])
    assert found == pytest.approx(record["coverage"][named(judges, unequal)], abs=2e-3)
