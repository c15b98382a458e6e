"""Predictions for judges of the table: at their modes, with the errors of effects and of estimates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from support.mixed import judged_frame

import llbt
from llbt.errors import JudgmentError, OptionError


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Thirty judges of three objects, the last of whom judged one pair alone."""
    found = judged_frame(30, 0.8, seed=3, each=4, tie=0.9)
    return found[(found["judge"] != "J29") | (found["object_j"] == "B")]


@pytest.fixture(scope="module")
def res(frame: pd.DataFrame) -> llbt.MixedResults:
    found = llbt.fit("object + tie + (object | judge) + (tie | judge)", llbt.from_counts(frame, clusters="judge"))
    assert isinstance(found, llbt.MixedResults)
    return found


def _second_route(res: llbt.MixedResults, said: pd.DataFrame, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and errors of one judge by scipy: all four effects, one for each object, and differences.

    The mode of effects is searched again at every estimate, their covariance is the inverse of second differences.
    """
    counts = said[["wins_i", "ties", "wins_j"]].to_numpy()
    pairs = np.stack([said[side].map("ABC".index) for side in ("object_i", "object_j")], axis=1)

    def predictors(theta: np.ndarray, b: np.ndarray, of: np.ndarray) -> np.ndarray:
        worth = np.array([theta[0], theta[1], 0.0]) + b[:3]
        u = worth[of[:, 0]] - worth[of[:, 1]]
        return np.stack([u, 0 * u + theta[2] + b[3], -u], axis=1)

    def minus(b: np.ndarray, theta: np.ndarray) -> float:
        v = predictors(theta, b, pairs)
        log = v - np.log(np.exp(v).sum(axis=1, keepdims=True))
        own, tie = np.exp(theta[3:])
        return float(-(counts * log).sum() + (b[:3] ** 2).sum() / own**2 / 2 + b[3] ** 2 / tie**2 / 2)

    def mode(theta: np.ndarray) -> np.ndarray:
        found = optimize.minimize(minus, np.zeros(4), args=(theta,), method="BFGS", options={"gtol": 1e-8})
        return np.asarray(found.x)

    def chances(theta: np.ndarray, b: np.ndarray) -> np.ndarray:
        v = np.exp(predictors(theta, b, np.array([[i, j]]))[0])
        return np.asarray(v / v.sum())

    at = np.concatenate([res.solution.params, np.log(res.solution.scales)])
    best, steps = mode(at), np.eye(4)
    moved = [[minus(best + 1e-3 * (s * a + t * b), at) for s in (1, -1) for t in (1, -1)] for a in steps for b in steps]
    hessian = np.array([(m[0] - m[1] - m[2] + m[3]) / 4e-6 for m in moved]).reshape(4, 4)
    of_effects = np.array([(chances(at, best + h) - chances(at, best - h)) / 2e-4 for h in 1e-4 * steps]).T
    h = 1e-3 * np.eye(5)
    whole = np.array([(chances(at + d, mode(at + d)) - chances(at - d, mode(at - d))) / 2e-3 for d in h]).T
    cov = of_effects @ np.linalg.inv(hessian) @ of_effects.T + whole @ res.solution.covariance @ whole.T
    return chances(at, best), np.sqrt(np.diag(cov))


@pytest.mark.parametrize(("judge", "i", "j"), [("J07", 0, 2), ("J29", 0, 1), ("J29", 1, 2)])
def test_a_judge_is_predicted_at_the_mode(
    res: llbt.MixedResults, frame: pd.DataFrame, judge: str, i: int, j: int
) -> None:
    """Of J29 nothing is known of C, which the error holds."""
    found = res.predict(at={"judge": judge}).to_frame()
    found = found[(found["object_i"] == "ABC"[i]) & (found["object_j"] == "ABC"[j])]
    chances, errors = _second_route(res, frame[frame["judge"] == judge], i, j)
    np.testing.assert_allclose(found["estimate"], chances, atol=1e-4)
    np.testing.assert_allclose(found["std_error"], errors, rtol=5e-3)


def test_the_modes_are_those_of_judge_effects(res: llbt.MixedResults) -> None:
    worths = llbt.judge_effects(res).worths().loc["J07"]
    found = res.predict(at={"judge": "J07"}).to_frame().set_index(["object_i", "object_j", "outcome"])["estimate"]
    odds = found["A", "C", "i"] / found["A", "C", "j"]
    assert odds == pytest.approx(np.exp(2 * (worths["A"] - worths["C"])), rel=1e-8)


def test_frames_and_places_ask_for_judges(res: llbt.MixedResults, frame: pd.DataFrame) -> None:
    asked = pd.DataFrame({"object_i": ["A", "B", "A"], "object_j": ["B", "C", "B"], "judge": ["J07", "J29", "J29"]})
    found = res.predict(asked).to_frame()
    assert found["judge"].tolist() == ["J07"] * 3 + ["J29"] * 6
    both = res.predict(at={"judge": ["J07", "J29"]}).to_frame().set_index(["judge", "object_i", "object_j", "outcome"])
    for row in found.itertuples():
        assert row.estimate == both["estimate"][row.judge, row.object_i, row.object_j, row.outcome]
    u = res.params["object[A]"] - res.params["object[B]"]
    expected = res.average.response.probabilities(np.array([[u], [res.params["tie"]]]))[0].ravel()
    np.testing.assert_allclose(res.predict(at={}).to_frame()["estimate"].iloc[:3], expected)
    np.testing.assert_allclose(
        res.predict(at={}, population=True).to_frame()["estimate"],
        res.predict(population=True).to_frame()["estimate"],
    )
    split = llbt.fit(
        "object * judge + tie + (tie | judge)",
        llbt.from_counts(frame[frame["judge"] != "J29"].replace(0, 1), covariates="judge"),
    )
    assert set(split.predict(at={"judge": "J07"}).to_frame()["judge"]) == {"J07"}


def test_judges_who_do_not_differ_are_the_average_one() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": 4, "wins_j": 2, "judge": range(9)})
    res = llbt.fit("object + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    assert isinstance(res, llbt.MixedResults)
    known, average = res.predict(at={"judge": 3}).to_frame(), res.predict().to_frame()
    np.testing.assert_allclose(known[["estimate", "std_error"]], average[["estimate", "std_error"]], rtol=1e-10)


def test_order_and_other_links(frame: pd.DataFrame) -> None:
    rows = pd.concat([frame, frame.rename(columns={"object_i": "object_j", "object_j": "object_i"})])
    c = llbt.from_counts(rows, clusters="judge", order=True)
    res = llbt.fit("object + tie + order + (object | judge) + (order | judge)", c, link="cumulative")
    assert isinstance(res, llbt.MixedResults)
    effects = llbt.judge_effects(res)
    g = list(res.judges.levels).index("J07")
    worth = np.array([res.params["object[A]"], res.params["object[B]"], 0.0]) + effects.effects[g]
    u = worth[1] - worth[0] + res.params["order"] + effects.others[g, 0]
    expected = res.average.response.probabilities(np.array([[u], [res.params["tie"]]]))[0][:, 0]
    found = res.predict(at={"judge": "J07"}).to_frame()
    found = found[(found["object_i"] == "B") & (found["object_j"] == "A")]
    np.testing.assert_allclose(found["estimate"], expected, rtol=1e-8)


def test_who_is_not_there_is_said(res: llbt.MixedResults) -> None:
    asked = pd.DataFrame({"object_i": ["A"], "object_j": ["B"], "judge": ["J99"]})
    with pytest.raises(OptionError, match="no value is given for 'judge'"):
        res.predict(at={"judge": []})
    with pytest.raises(OptionError, match=r"'judge' \(population=True predicts a new one\) has no 'J99'"):
        res.predict(asked)
    with pytest.raises(OptionError, match="'J99'"):
        res.predict(at={"judge": "J99"})
    with pytest.raises(OptionError, match="Leave out population=True"):
        res.predict(at={"judge": "J07"}, population=True)
    with pytest.raises(OptionError, match="not both"):
        res.predict(asked, at={"judge": "J07"})
    with pytest.raises(JudgmentError, match="object_j"):
        res.predict(asked[["object_i", "judge"]])
