"""Frames of scores become matrices of systems by inputs, or say why they cannot."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.correlations import scores

import llbt
from llbt.errors import JudgmentError
from llbt.metrics.metric_scores import MetricScores

X, Z = scores()


@pytest.fixture
def frame():
    rows = [(s, i) for s in ("s10", "s2", "s1") for i in (3, 1, 2)]
    values = np.arange(9.0)
    return pd.DataFrame(rows, columns=["system", "input"]).assign(bleu=values, note="x", human=values[::-1])


def test_a_long_frame_becomes_sorted_matrices(frame):
    found = MetricScores.from_frame(frame)
    assert (found.systems, found.inputs, found.metrics) == (("s1", "s10", "s2"), (1, 2, 3), ("bleu",))
    assert found.matrix("bleu").loc["s10"].tolist() == [1.0, 2.0, 0.0]
    assert found.human_matrix().loc["s1", 3] == 2.0


def test_the_order_of_rows_does_not_matter(frame):
    one, other = (MetricScores.from_frame(rows) for rows in (frame, frame.sample(frac=1, random_state=1)))
    pd.testing.assert_frame_equal(one.matrix("bleu"), other.matrix("bleu"))


def test_a_pair_without_a_row_is_missing_and_counted(frame):
    found = MetricScores.from_frame(frame.drop(index=[0, 4]))
    assert np.isnan(found.values[0]).sum() == np.isnan(found.human).sum() == 2
    assert found.notes == ("2 pairs of system and input without a row: missing", "columns not used: 'note'")
    assert found.to_frame()["missing"].tolist() == [2, 2]


def test_one_score_per_system_is_read_without_inputs(frame):
    found = MetricScores.from_frame(frame.iloc[[0, 3, 6]], input=None, metrics=["bleu"])
    assert found.values.shape == (1, 3, 1)


def test_scores_survive_a_pickle(frame):
    found = MetricScores.from_frame(frame)
    assert pickle.loads(pickle.dumps(found)).as_text() == found.as_text()


def test_normality_is_scipy_s_test_of_the_means():
    x, z = scores()
    found = MetricScores.from_matrices({"m": x, "flat": np.ones_like(x)}, z).normality().to_frame()
    expected = stats.shapiro(x.mean(axis=1))
    assert found.loc[0, ["statistic", "p_value"]].tolist() == pytest.approx([expected.statistic, expected.pvalue])
    assert np.isnan(found.loc[1, "p_value"])


FRAME_ERRORS = {
    "no column": (lambda f: MetricScores.from_frame(f, human="gold"), llbt.errors.JudgmentError, "no column 'gold'"),
    "no metric": (
        lambda f: MetricScores.from_frame(f.drop(columns="bleu")),
        llbt.errors.JudgmentError,
        "no column of metric",
    ),
    "text": (
        lambda f: MetricScores.from_frame(f, ["note"]),
        llbt.errors.JudgmentError,
        "column 'note': values of type .*, not numbers; expected scores",
    ),
    "twice": (
        lambda f: MetricScores.from_frame(pd.concat([f, f])),
        llbt.errors.JudgmentError,
        "9 rows with the system and input",
    ),
    "no system": (
        lambda f: MetricScores.from_frame(f.assign(system=f["system"].where(f.index != 4))),
        llbt.errors.JudgmentError,
        "no value in 1 row, first at row 4",
    ),
    "one system": (
        lambda f: MetricScores.from_frame(f.iloc[:3]),
        llbt.errors.JudgmentError,
        "1 system; expected at least 2",
    ),
    "infinite": (
        lambda f: MetricScores.from_frame(f.replace(3.0, np.inf)),
        llbt.errors.JudgmentError,
        "1 infinite score",
    ),
    "unknown": (lambda f: MetricScores.from_frame(f).matrix("ter"), llbt.errors.OptionError, "no metric 'ter'"),
    "shapes": (
        lambda f: MetricScores.from_matrices({"a": X}, Z.T),
        llbt.errors.JudgmentError,
        r"'a' has shape \(9, 7\)",
    ),
    "labels": (
        lambda f: MetricScores.from_matrices({"a": X}, Z, systems=["a", "b"]),
        llbt.errors.JudgmentError,
        "2 labels",
    ),
    "none": (lambda f: MetricScores.from_matrices({}, Z), llbt.errors.JudgmentError, "no metrics"),
}


@pytest.mark.parametrize("case", FRAME_ERRORS)
def test_frames_that_cannot_be_read_say_why(case, frame):
    call, error, fragment = FRAME_ERRORS[case]
    with pytest.raises(error, match=fragment):
        call(frame)


def test_scores_are_averaged_over_raters():
    rows = [(s, d, r, len(s) + d * r, d + r) for s in ("a", "bb") for d in (1, 2, 3) for r in (1, 2, 3) if d + r < 6]
    frame = pd.DataFrame(rows, columns=["system", "input", "rater", "bleu", "human"])
    found = MetricScores.from_frame(frame, rater="rater")
    means = frame.groupby(["system", "input"])[["bleu", "human"]].mean().unstack()
    np.testing.assert_allclose(found.matrix("bleu").values, means["bleu"])
    np.testing.assert_allclose(found.human, means["human"])
    assert found.notes == ("16 rows averaged over 3 raters by column 'rater'",)
    with pytest.raises(JudgmentError, match=r"10 rows with the system and input of an earlier one.*rater='rater'"):
        MetricScores.from_frame(frame)
    with pytest.raises(JudgmentError, match="2 rows with the system and input and rater of an earlier one"):
        MetricScores.from_frame(pd.concat([frame, frame[:2]]), rater="rater")
