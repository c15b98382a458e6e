"""Cumulative links by simulation: what intervals of λ, cuts and P(i preferred | decided) cover, and levels of tests.

Five objects, all pairs alike often, equally spaced λ; errors of the observed information, as fits have them. Intervals
of P(i preferred | decided) are made on the log-odds scale, with errors by the delta method, as `pairwise` makes them.
"""

import itertools
import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.folders import SIMULATIONS

import llbt
from llbt.kernel.batch import fit_many
from llbt.kernel.likelihood import Problem, probabilities

PAIRS = np.column_stack(np.triu_indices(5, 1))
SIDES = np.eye(5)[PAIRS[:, 0]] - np.eye(5)[PAIRS[:, 1]]
GRADES = {3: ("i", "tie", "j"), 5: ("i+", "i", "tie", "j", "j+")}
CUTS = {"cumulative": (0.5, 1.0), "probit": (0.3, 0.6)}  # θ₁, and how far θ₂ is beyond it
Z = float(stats.norm.isf(0.025))
WITHIN = (0.93, 0.97)


@cache
def design(link: str, outcomes: int) -> Problem:
    frame = pd.DataFrame(np.full((10, outcomes), 5.0), columns=list(GRADES[outcomes]))
    frame[["object_i", "object_j"]] = np.array(list("ABCDE"))[PAIRS]
    formula = "object + tie" + (" + grade" if outcomes == 5 else "")
    return llbt.fit(formula, llbt.from_counts(frame, grades=GRADES[outcomes]), link=link).problem()


def true(link: str, outcomes: int, spread: float) -> np.ndarray:
    cuts = CUTS[link][: (outcomes - 1) // 2]
    scale = 1.0 if link == "cumulative" else 0.6  # standard deviations of the two curves
    return np.concatenate([scale * spread * np.arange(4, 0, -1) / 4, cuts])


def covered(link: str, outcomes: int, spread: float, judgments: int, tables: int, seed: int) -> dict[str, float]:
    """Return the share of intervals that hold the truth, over all pairs, and the share of tables without estimates."""
    problem, params = design(link, outcomes), true(link, outcomes, spread)
    counts = np.random.default_rng(seed).multinomial(judgments, probabilities(problem, params), size=(tables, 10))
    fits = fit_many(problem, counts, params)
    kept = ~fits.degenerate
    found, y = fits.params[kept], np.moveaxis(counts[kept].astype(float), 2, 0)
    rows = [part.toarray() for part in problem.predictors]
    *_, weight = problem.response.contributions([found @ part.T for part in rows], y)
    width = range(len(rows))
    info = sum(np.einsum("ts,sp,sq->tpq", weight[b, c], rows[b], rows[c], optimize=True) for b in width for c in width)
    cov = np.linalg.inv(info)
    lead = np.concatenate([SIDES[:, :4], np.zeros((10, len(params) - 4))], axis=1)
    difference = found @ lead.T
    error = np.sqrt(np.einsum("kp,tpq,kq->tk", lead, cov, lead, optimize=True))
    value, slope, of_cut = problem.response.preference(difference.ravel(), np.repeat(found[:, 4:5], 10, axis=0))
    gradient = slope.reshape(-1, 10, 1) * lead
    gradient[:, :, 4] += of_cut.reshape(-1, 10)
    spread_of = np.sqrt(np.einsum("tkp,tpq,tkq->tk", gradient, cov, gradient, optimize=True))
    exact, *_ = problem.response.preference(lead @ params, np.repeat(params[None, 4:5], 10, axis=0))
    cut_error = np.sqrt(cov[:, range(4, len(params)), range(4, len(params))])
    shares = {
        "lambda": np.abs(difference - lead @ params) < Z * error,
        "preferred": np.abs(value.reshape(-1, 10) - exact) < Z * spread_of,
        "cuts": np.abs(found[:, 4:] - params[4:]) < Z * cut_error,
        "degenerate": ~kept,
    }
    return {name: round(float(np.mean(share)), 4) for name, share in shares.items()}


def rejected(link: str, outcomes: int, judgments: int, tables: int, seed: int) -> dict[str, float]:
    """Return how often the likelihood-ratio test at level 5 % rejects equal worths, and X² the model, both true."""
    problem, params = design(link, outcomes), true(link, outcomes, 0.0)
    counts = np.random.default_rng(seed).multinomial(judgments, probabilities(problem, params), size=(tables, 10))
    cuts = np.arange(4, len(params))
    null = replace(problem, predictors=tuple(rows.columns(cuts) for rows in problem.predictors))
    large, small = fit_many(problem, counts, params), fit_many(null, counts, params[4:])
    assert not (large.degenerate | small.degenerate).any()
    df = 10 * (outcomes - 1) - len(params)
    return {
        "likelihood ratio": round(float(np.mean(small.deviance - large.deviance > stats.chi2.isf(0.05, 4))), 4),
        "fit": round(float(np.mean(large.pearson_chi2 > stats.chi2.isf(0.05, df))), 4),
    }


CASES = list(itertools.product(CUTS, (3, 5), (0.0, 0.8), (20, 200)))


TESTS = list(itertools.product(CUTS, (3, 5), (20, 200)))


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "link_coverage.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_intervals_cover(case: tuple[str, int, float, int]) -> None:
    found = recorded()["found"][", ".join(map(str, case))]
    for name in ("lambda", "preferred", "cuts"):
        assert WITHIN[0] < found[name] < WITHIN[1], name
    assert found["degenerate"] < 0.001


@pytest.mark.slow
@pytest.mark.parametrize("link", CUTS)
def test_a_few_tables_say_the_same(link: str) -> None:
    found = covered(link, 5, 0.8, 20, 1000, seed=7)
    before = recorded()["found"][f"{link}, 5, 0.8, 20"]
    for name in ("lambda", "preferred", "cuts"):
        assert found[name] == pytest.approx(before[name], abs=0.015), name


@pytest.mark.parametrize("case", TESTS, ids=str)
def test_tests_of_what_is_true_keep_their_level(case: tuple[str, int, int]) -> None:
    found = recorded()["rejected"][", ".join(map(str, case))]
    assert 0.04 < found["likelihood ratio"] < 0.06
    assert 0.04 < found["fit"] < 0.06


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
def test_intervals_cover_again(case: tuple[str, int, float, int]) -> None:
    record = recorded()
    found = covered(*case, record["tables"], record["seed"])
    assert found == pytest.approx(record["found"][", ".join(map(str, case))], abs=2e-3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", TESTS, ids=str)
def test_tests_keep_their_level_again(case: tuple[str, int, int]) -> None:
    record = recorded()
    found = rejected(*case, record["tables"], record["seed"])
    assert found == pytest.approx(record["rejected"][", ".join(map(str, case))], abs=2e-3)
