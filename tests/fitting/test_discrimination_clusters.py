"""Errors by clusters beside discriminations, against sandwiches of finite differences of an own likelihood."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, special

import llbt
from llbt.errors import OptionError

STEP = 1e-4
OBJECTS = "ABCD"


@cache
def judged() -> llbt.Comparisons:
    """Five judges who discriminate differently judge the pairs of twelve prompts, on which worths differ."""
    rng = np.random.default_rng(6)
    rows = []
    for judge, sigma in enumerate((0.5, 0.8, 1.0, 1.2, 1.4)):
        for prompt in range(12):
            own = np.random.default_rng(prompt).normal(0, 0.3, 4)
            for i in range(4):
                for j in range(i + 1, 4):
                    away = sigma * (np.array([0.8, 0.3, -0.2, -0.6]) + own)
                    p = np.exp([away[i] - away[j], -0.5, away[j] - away[i]])
                    said = rng.choice(["i", "tie", "j"], p=p / p.sum())
                    rows.append((OBJECTS[i], OBJECTS[j], said, f"J{judge}", f"P{prompt:02d}"))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge", "prompt"])
    return llbt.from_judgments(frame, covariates="judge", clusters="prompt")


def fitted(cov_type: str) -> llbt.DiscriminationResults:
    return llbt.fit("object + tie", judged(), discrimination="judge", cov_type=cov_type, groups="prompt")


def by_prompt(params: np.ndarray) -> np.ndarray:
    """The log-likelihood of each prompt at three log-worths, γ and five σ, shape (12,)."""
    c = judged()
    kept = c.cluster_counts
    assert kept is not None
    pairs, judge = c.pairs[kept.rows], c.columns[0].codes[kept.rows]
    worth, sigma = np.append(params[:3], 0.0), params[4:]
    away = sigma[judge] * (worth[pairs[:, 0]] - worth[pairs[:, 1]])
    logs = np.stack([away, np.full(len(away), params[3]), -away], axis=1)
    logs -= special.logsumexp(logs, axis=1, keepdims=True)
    return np.bincount(kept.columns[0].codes, (kept.counts * logs).sum(axis=1), 12)


def differences(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores (12, p) and informations (12, p, p) of the prompts, by central differences."""
    eye = np.eye(len(at)) * STEP
    scores = np.stack([(by_prompt(at + e) - by_prompt(at - e)) / (2 * STEP) for e in eye], axis=1)
    bends = [[by_prompt(at + d + e) - by_prompt(at + d - e) - by_prompt(at - d + e) + by_prompt(at - d - e)
              for e in eye] for d in eye]  # fmt: skip
    return scores, -np.moveaxis(np.array(bends), 2, 0) / (4 * STEP**2)


@pytest.mark.parametrize("cov_type", ["CR1", "cluster"])
def test_errors_are_the_sandwich_of_finite_differences(cov_type: str) -> None:
    """On directions that keep the mean of σ² at 1."""
    res = fitted(cov_type)
    at = np.concatenate([res.params, res.discriminations])
    scores, informations = differences(at)
    along = linalg.null_space(np.concatenate([np.zeros(4), at[4:]])[None, :])  # as many judgments by each judge
    s, own = scores @ along, along.T @ informations @ along
    whole = own.sum(axis=0)
    np.testing.assert_allclose(along @ np.linalg.inv(whole) @ along.T, res.solution.covariance, rtol=1e-4, atol=1e-7)
    if cov_type == "CR1":
        moved = s @ np.linalg.inv(whole)
        expected = 12 / 11 * moved.T @ moved
    else:
        moved = np.array([np.linalg.solve(whole - h, x) for h, x in zip(own, s, strict=True)])
        expected = 11 / 12 * moved.T @ moved
    cov = along @ expected @ along.T
    np.testing.assert_allclose(res.cov_params(), cov[:4, :4], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(res.discrimination_errors, np.sqrt(np.diag(cov)[4:]), rtol=1e-3)
    assert res.df_inference == pytest.approx(11)
    assert "by prompt (G = 12" in res.as_text()
    assert res.specification.groups == ("prompt",)


def test_the_sandwich_does_not_depend_on_what_is_held() -> None:
    """With σ of the first judge held at 1, and carried over to the norm by the delta method."""
    res = fitted("CR1")
    at = np.concatenate([res.params, res.discriminations])
    size = at[4]
    free = np.concatenate([at[:3] * size, at[3:4], at[5:] / size])

    def whole(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[:4], [1.0], x[4:]])

    def normed(x: np.ndarray) -> np.ndarray:
        y = whole(x)
        scale = np.sqrt(np.mean(y[4:] ** 2))
        return np.concatenate([y[:3] * scale, y[3:4], y[4:] / scale])

    scores, informations = differences(whole(free))
    kept = np.delete(np.arange(9), 4)
    moved = scores[:, kept] @ np.linalg.inv(informations.sum(axis=0)[np.ix_(kept, kept)])
    eye = np.eye(8) * STEP
    slope = np.stack([(normed(free + e) - normed(free - e)) / (2 * STEP) for e in eye], axis=1)
    cov = slope @ (12 / 11 * moved.T @ moved) @ slope.T
    np.testing.assert_allclose(res.covariance.matrix, cov, rtol=1e-3, atol=1e-6)


def test_questions_and_intervals_are_by_clusters() -> None:
    res, plain = fitted("cluster"), llbt.fit("object + tie", judged(), discrimination="judge")
    worth = llbt.worth(res, scale="log_worth").to_frame().set_index("object")
    assert worth.loc["A", "std_error"] == pytest.approx(res.bse["object[A]"])
    assert not np.allclose(res.bse, plain.bse, rtol=0.01)
    pd.testing.assert_series_equal(res.params, plain.params)
    assert (res.predict().to_frame()["std_error"] > 0).all()
    half = res.discrimination_intervals()["conf_high"] - res.discriminations
    np.testing.assert_allclose(half / res.discrimination_errors, 2.20098516, rtol=1e-6)  # t on 11 df
    assert any("Likelihood-ratio tests take judgments as independent" in note for note in res.equality_test().notes)


def test_what_clusters_do_not_tell_is_refused() -> None:
    for method in (lambda r: r.conf_int(method="profile"), lambda r: r.discrimination_intervals(method="profile")):
        with pytest.raises(OptionError, match="takes judgments as independent"):
            method(fitted("CR1"))
    with pytest.raises(OptionError, match="only one cluster informs each discrimination"):
        llbt.fit("object + tie", judged(), discrimination="judge", cov_type="cluster", groups="judge")
    with pytest.raises(OptionError, match="one-way clustering"):
        llbt.fit("object + tie", judged(), discrimination="judge", cov_type="cluster", groups=["judge", "prompt"])
    with pytest.raises(OptionError, match="cov_type='quasi' together with discrimination"):
        llbt.fit("object + tie", judged(), discrimination="judge", cov_type="quasi")
    with pytest.raises(OptionError, match=r"groups= together"):
        llbt.fit("object + tie", judged(), discrimination="judge", cov_type="cluster")
