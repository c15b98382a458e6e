"""Effects of judges, against a search over all of them at once; and the questions asked of the average judge."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import llbt


@pytest.fixture(scope="module")
def res() -> llbt.MixedResults:
    rng = np.random.default_rng(6)
    rows = []
    for g in range(14):
        own, tie = rng.normal(0, 0.9, 3), rng.normal(0, 0.8)
        for i, j in ((0, 1), (0, 2), (1, 2))[: 3 if g else 1]:  # the first judge saw one pair
            u = 0.4 * (j - i) + own[i] - own[j]
            p = np.exp([u, tie, -u])
            rows.append(("ABC"[i], "ABC"[j], f"J{g:02d}", *rng.multinomial(4, p / p.sum())))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])
    c = llbt.from_counts(frame, clusters="judge")
    found = llbt.fit("object + tie + (object | judge) + (tie | judge)", c)
    assert isinstance(found, llbt.MixedResults)
    return found


def _posterior(res: llbt.MixedResults, judge: str) -> tuple[np.ndarray, np.ndarray]:
    """Mode and covariance of one judge's three worths and tie effect, by a search and second differences."""
    frame = res.comparisons.to_frame(clusters=True).query(f"judge == '{judge}'")
    worth = np.array([res.params.get(f"object[{name}]", 0.0) for name in "ABC"])
    sigma = np.array([res.scales.iloc[0]] * 3 + [res.scales.iloc[1]])

    def minus(b: np.ndarray) -> float:
        total = 0.5 * float(np.sum((b / sigma) ** 2))
        for row in frame.itertuples():
            i, j = "ABC".index(row.object_i), "ABC".index(row.object_j)
            u = worth[i] - worth[j] + b[i] - b[j]
            logs = np.array([u, res.params["tie"] + b[3], -u])
            total -= np.array([row.wins_i, row.ties, row.wins_j]) @ (logs - np.log(np.exp(logs).sum()))
        return total

    mode = optimize.minimize(minus, np.zeros(4), options={"gtol": 1e-8}).x
    step = 1e-3 * np.eye(4)
    hessian = [
        [(minus(mode + a + b) - minus(mode + a - b) - minus(mode - a + b) + minus(mode - a - b)) / 4e-6 for b in step]
        for a in step
    ]
    return mode, np.linalg.inv(hessian)


@pytest.mark.parametrize("judge", ["J00", "J01", "J08"])
def test_effects_are_the_modes_of_all_effects_at_once(res: llbt.MixedResults, judge: str) -> None:
    mode, cov = _posterior(res, judge)
    found = llbt.judge_effects(res)
    g = res.judges.levels.index(judge)
    seen = [0, 1] if judge == "J00" else [0, 1, 2]
    centre = np.zeros((4, 4))
    centre[np.ix_(seen, seen)] = np.eye(len(seen)) - 1 / len(seen)
    np.testing.assert_allclose(found.effects[g], (centre @ mode)[:3], atol=1e-3)
    errors = np.sqrt(np.diag(centre @ cov @ centre.T))[:3]
    np.testing.assert_allclose(found.effect_errors[g][seen], errors[seen], rtol=2e-3)
    assert np.isnan(found.effect_errors[g]).sum() == 3 - len(seen)
    assert found.others[g, 0] == pytest.approx(mode[3], abs=1e-3)
    assert found.other_errors[g, 0] == pytest.approx(np.sqrt(cov[3, 3]), rel=2e-3)


def test_the_table_has_a_row_for_each_judge_and_effect(res: llbt.MixedResults) -> None:
    frame = llbt.judge_effects(res, confidence=0.9).to_frame()
    assert len(frame) == 13 * 3 + 2 + 14
    assert frame["term"].value_counts().to_dict() == {"(object | judge)": 41, "(tie | judge)": 14}
    place = {term: e for e, term in enumerate(res.scales.index)}
    sigma = frame["term"].map(res.scales).to_numpy()
    log_variance = np.diag(res.solution.covariance)[len(res.names) + frame["term"].map(place).to_numpy()]
    df = 1 / (2 * (frame["std_error"] / sigma) ** 4 * log_variance)  # Satterthwaite's, of the inverse of σ⁻² + W
    reach = stats.t.isf(0.05, np.maximum(df, 1)) * frame["std_error"]
    np.testing.assert_allclose(frame["conf_high"] - frame["estimate"], reach, rtol=1e-6)


def test_worths_of_judges_are_those_of_the_average_judge_and_his_effects(res: llbt.MixedResults) -> None:
    found = llbt.judge_effects(res)
    worths = found.worths()
    assert (worths["C"] == 0).all()
    np.testing.assert_allclose(
        worths["A"], res.params["object[A]"] + found.effects[:, 0] - found.effects[:, 2], atol=1e-12
    )


@pytest.mark.parametrize("approximation", [None, "laplace"])
def test_judges_who_do_not_differ_have_no_effects(approximation: str | None) -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": 4, "wins_j": 2, "judge": range(9)})
    c = llbt.from_counts(frame, clusters="judge")
    found = llbt.judge_effects(llbt.fit("object + (object | judge)", c, approximation=approximation))
    assert not found.effects.any()
    assert not found.effect_errors.any()
    assert len(found.to_frame()) == 18
    assert len(llbt.plot.judge_effects(found).get_yticklabels()) == 9  # which the report draws


def test_questions_are_asked_of_the_average_judge(res: llbt.MixedResults) -> None:
    worths = llbt.worth(res, scale="log_worth").to_frame().set_index("object")
    for name in "AB":
        assert worths.loc[name, "estimate"] == pytest.approx(res.params[f"object[{name}]"])
        assert worths.loc[name, "std_error"] == pytest.approx(res.bse[f"object[{name}]"])
    pair = llbt.pairwise(res).to_frame().query("object_i == 'A' and object_j == 'C'").iloc[0]
    assert pair["estimate"] == pytest.approx(2 * res.params["object[A]"])
    assert pair["std_error"] == pytest.approx(2 * res.bse["object[A]"])
    assert set(llbt.leaderboard(res).to_frame()["object"]) == set("ABC")
    contrast = llbt.contrasts(res, {"A or B": {"A": 0.5, "B": 0.5, "C": -1}}, scale="log_worth").to_frame().iloc[0]
    expected = (res.params["object[A]"] + res.params["object[B]"]) / 2
    assert contrast["estimate"] == pytest.approx(expected)
    assert len(llbt.quasi_variances(res).to_frame()) == 3
    assert len(llbt.plot.intervals(res).get_yticklabels()) == 3


def test_the_largest_effects_print_first() -> None:
    from support.calls import mixed

    found = llbt.judge_effects(mixed())
    sizes = found.to_frame()["estimate"].abs()
    printed = found.table().printed
    assert printed is not None
    assert [abs(value) for value in printed.to_frame()["estimate"]] == sorted(sizes, reverse=True)
    assert found.to_frame()["judge"].tolist() == sorted(found.to_frame()["judge"])
