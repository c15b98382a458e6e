"""Errors by clusters of pattern fits, against sandwiches of finite differences of the patterns' log-probabilities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.core.patterns import Patterns
from llbt.errors import DesignError, OptionError

STEP = 1e-4
PAIRS = ["AB", "AC", "BC"]


def answered(*, gaps: bool = False) -> Patterns:
    """Answers of 80 judges of eight schools, whose worths differ by school."""
    rng = np.random.default_rng(4)
    rows = []
    for k in range(80):
        lam = np.array([0.4, 0.1, -0.5]) + np.random.default_rng(k % 8).normal(0, 0.4, 3)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            p = np.exp([lam[i] - lam[j], -0.7, lam[j] - lam[i]])
            rows.append(rng.choice([1.0, 0.0, -1.0], p=p / p.sum()))
    frame = pd.DataFrame(np.reshape(rows, (80, 3)), columns=PAIRS).assign(school=[f"S{k % 8}" for k in range(80)])
    if gaps:
        frame.loc[rng.choice(80, 20, replace=False), "AC"] = np.nan
    return llbt.from_patterns(frame, "comparisons", objects=list("ABC"), columns=PAIRS, covariates="school")


def differences(res: llbt.PatternResults) -> tuple[np.ndarray, list[np.ndarray]]:
    """Scores of the schools (G, p) and their informations, by central differences."""
    p = res.patterns
    likelihood = res.whole_likelihood
    codes = p.columns[0].codes
    at, eye = res.solution.params, np.eye(len(res.solution.params)) * STEP

    def by_school(params: np.ndarray) -> np.ndarray:
        return np.bincount(codes, p.counts * likelihood.log_probabilities(params), 8)

    scores = np.stack([(by_school(at + e) - by_school(at - e)) / (2 * STEP) for e in eye], axis=1)
    bends = [
        [(by_school(at + d + e) - by_school(at + d - e) - by_school(at - d + e) + by_school(at - d - e)) for e in eye]
        for d in eye
    ]
    informations = -np.moveaxis(np.array(bends), 2, 0) / (4 * STEP**2)
    return scores, list(informations)


@pytest.mark.parametrize(
    ("formula", "missing"),
    [("object + tie", "ignorable"), ("object + tie + dependence", "ignorable"), ("object + tie", "common")],
)
def test_errors_of_patterns_are_the_sandwich_of_finite_differences(formula: str, missing: str) -> None:
    p = answered(gaps=missing != "ignorable")
    found = {
        kind: llbt.fit(formula, p, missing=missing, cov_type=kind, groups="school")  # type: ignore[arg-type, call-overload]
        for kind in ("CR1", "cluster")
    }
    scores, informations = differences(found["CR1"])
    whole = np.sum(informations, axis=0)
    cov = np.linalg.inv(whole)
    moved = scores @ cov
    cr1 = found["CR1"].cov_params().to_numpy()
    np.testing.assert_allclose(cr1, 8 / 7 * moved.T @ moved, rtol=1e-3, atol=1e-5)
    without = np.array([np.linalg.solve(whole - own, s) for own, s in zip(informations, scores, strict=True)])
    cr3 = found["cluster"].cov_params().to_numpy()
    np.testing.assert_allclose(cr3, 7 / 8 * without.T @ without, rtol=1e-3, atol=1e-5)
    assert found["CR1"].df_inference == 7
    sizes = np.bincount(p.columns[0].codes, p.counts)
    assert found["cluster"].df_inference == pytest.approx(sizes.sum() ** 2 / (sizes @ sizes) - 1)
    worth = llbt.worth(found["cluster"], scale="log_worth").to_frame().set_index("object")
    assert worth.loc["A", "std_error"] == pytest.approx(found["cluster"].bse["object[A]"])
    assert "Standard errors: CR3 by school" in found["cluster"].as_text()


def test_clusters_of_patterns_are_refused_where_they_say_nothing() -> None:
    p = answered()
    with pytest.raises(OptionError, match=r"cov_type='cluster' \(or 'CR1'\) and groups= together"):
        llbt.fit("object + tie", p, cov_type="cluster")
    with pytest.raises(OptionError, match=r"groups='scool'.*from_patterns\(…, covariates='scool'\)"):
        llbt.fit("object + tie", p, cov_type="cluster", groups="scool")
    one = llbt.from_patterns(
        pd.DataFrame({"AB": [1, -1, 1], "AC": [1, 1, -1], "BC": [-1, 1, 1], "school": ["S", "S", "S"]}),
        "comparisons", objects=list("ABC"), columns=PAIRS, covariates="school",
    )  # fmt: skip
    with pytest.raises(DesignError, match="one cluster"):
        llbt.fit("object", one, cov_type="CR1", groups="school")
    res = llbt.fit("object + tie", p, cov_type="CR1", groups="school")
    with pytest.raises(OptionError, match="the fit has clusters"):
        res.conf_int(method="profile")
