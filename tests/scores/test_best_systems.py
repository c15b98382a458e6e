"""The set of the best and the winner's score: against the multivariate normal's probabilities and truncated draws."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import DesignError

board_of = llbt.scores.leaderboard


def scores(systems: int = 4, items: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    shared = rng.normal(size=(items, 1))
    frame = pd.DataFrame(shared + rng.normal(size=(items, systems)), columns=list("ABCDEF")[:systems])
    return frame + np.linspace(0.25, 0, systems)


def test_p_values_are_tails_of_the_joint_normal() -> None:
    """P(max_j (Z_j − Z_i)/s_ij ≥ z_i) by scipy's integral of the covariance of the scores themselves."""
    frame = scores()
    board = board_of(frame, test="t")
    found = board.best(rng=1)
    cov = frame[list(board.systems)].cov().to_numpy() / len(frame)
    np.testing.assert_allclose(board.covariance, cov, rtol=1e-9)
    p_values = board.by_pair().to_frame().set_index(["object_i", "object_j"])["p_value"]
    for k, label in enumerate(board.systems):
        others = [j for j in range(4) if j != k]
        contrast = np.eye(4)[others] - np.eye(4)[k]
        joint = contrast @ cov @ contrast.T
        corr = joint / np.sqrt(np.outer(np.diag(joint), np.diag(joint)))
        z = [
            stats.norm.isf(p_values[label, board.systems[j]] / 2) * -1
            if k < j
            else stats.norm.isf(p_values[board.systems[j], label] / 2)
            for j in others
        ]
        expected = 1 - stats.multivariate_normal.cdf(np.full(3, max(z)), cov=corr, allow_singular=True)
        assert found.p_value[k] == pytest.approx(1 if k == 0 else expected, abs=0.012)  # the first: nobody is ahead


def test_the_corrected_score_is_median_unbiased_given_that_it_came_first() -> None:
    """Rejection sampling: with its mean at the corrected score, half of the draws in which it is first lie below."""
    frame = scores()
    board = board_of(frame, test="t")
    found = board.best().score
    cov = board.covariance * (stats.t.isf(0.025, board.df) / stats.norm.isf(0.025)) ** 2
    along = cov[:, 0] / cov[0, 0]
    rest = board.estimate - along * board.estimate[0]
    drawn = found.corrected + np.sqrt(cov[0, 0]) * np.random.default_rng(2).standard_normal(400_000)
    first = (rest + np.outer(drawn, along)).argmax(axis=1) == 0
    assert (drawn[first] < found.estimate).mean() == pytest.approx(0.5, abs=0.01)
    assert found.conf_low < found.corrected < found.estimate < found.conf_high


def test_lower_scores_as_the_better_ones_mirror_the_answer() -> None:
    frame = scores()
    up = board_of(frame, test="t").best()
    down = board_of(llbt.scores.SystemScores.from_frame(-frame, higher_is_better=False), test="t").best()
    assert up.systems == down.systems
    np.testing.assert_allclose(up.p_value, down.p_value, atol=1e-12)
    assert down.score.corrected == pytest.approx(-up.score.corrected)
    assert (down.score.conf_low, down.score.conf_high) == pytest.approx((-up.score.conf_high, -up.score.conf_low))


def test_a_clear_winner_is_said_in_words() -> None:
    right = pd.DataFrame({"A": [1] * 38 + [0] * 2, "B": [1] * 20 + [0] * 20, "C": [1] * 10 + [0] * 30})
    found = board_of(right, test="mcnemar").best()
    assert found.candidates == ("A",)
    assert found.head[0] == "'A' is the best, with 95 % confidence"
    assert found.to_frame()["is_candidate"].tolist() == ["yes", "no", "no"]
    whole = board_of(pd.DataFrame({"A": [1] * 9, "B": [1] * 9, "C": [0] * 9}), test="mcnemar").best()
    assert whole.candidates == ("A", "B")
    assert (whole.score.corrected, whole.lead.estimate) == (1, 0)
    assert whole.head[1] == "Score of 'A': 1.00; nothing varies, so there is no interval"


def test_without_standard_errors_there_is_no_answer() -> None:
    frame = scores().assign(doc=["d0"] * 119 + ["d1"])
    with pytest.raises(DesignError, match="by='item'"):
        board_of(frame, test="t", by="doc").best()


def test_a_system_with_a_single_score_has_no_error_and_the_best_is_unknown() -> None:
    frame = scores()
    frame.loc[1:, "D"] = np.nan
    board = board_of(frame, test="t")
    assert np.isnan(board.to_frame().set_index("object")["std_error"]["D"])
    with pytest.raises(DesignError, match="standard errors are missing"):
        board.best()
    assert llbt.scores.read_board(frame).leaderboard().head == ()
