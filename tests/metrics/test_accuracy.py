"""Pairwise accuracy: against a loop over pairs, Kendall's tau, and counts of WMT19; errors of all accuracies."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.accuracies import rounded, sign

from llbt.errors import DesignError, JudgmentError, OptionError
from llbt.metrics.accuracy import pairwise_accuracy
from llbt.metrics.soft_accuracy import soft_pairwise_accuracy
from llbt.metrics.tie_calibration import tie_calibrated_accuracy

RULES = ("strict", "drop", "half")


def looped(metric, human, ties):
    """Return agreements and pairs by a plain loop."""
    right = total = 0
    for i, j in itertools.combinations(range(len(metric)), 2):
        d, h = sign(metric[i] - metric[j]), sign(human[i] - human[j])
        if ties == "drop" and (d == 0 or h == 0):
            continue
        total += 1
        right += 0.5 if ties == "half" and (d == 0) != (h == 0) else d == h
    return right, total


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_accuracy_is_a_loop_over_pairs(seed, ties):
    metric, human = rounded(seed, (2, 12))
    found = pairwise_accuracy(metric, human, ties=ties)
    right, total = looped(metric, human, ties)
    assert (found.agreements, found.n) == (right, total)
    assert found.estimate == pytest.approx(right / total)
    assert len({looped(metric, human, rule) for rule in RULES}) == 3  # the rules differ on these


def test_without_ties_accuracy_is_kendalls_tau():
    """τ = 2·accuracy − 1, by scipy."""
    metric, human = np.random.default_rng(1).normal(size=(2, 15))
    tau = stats.kendalltau(metric, human).statistic
    for ties in RULES:
        assert pairwise_accuracy(metric, human, ties=ties).estimate == pytest.approx((tau + 1) / 2, rel=1e-12)


def test_half_gives_a_constant_metric_one_half():
    assert pairwise_accuracy(np.zeros(6), np.arange(6), ties="half").estimate == 0.5


@pytest.mark.parametrize("as_mapping", [True, False])
def test_groups_are_pooled_and_systems_of_different_groups_not_paired(as_mapping):
    by = np.array(["a", "b", "a", "a", "b", "c"])
    metric, human = rounded(4, (2, 6), 1)
    if as_mapping:
        found = pairwise_accuracy({k: metric[by == k] for k in "abc"}, {k: human[by == k] for k in "cba"})
    else:
        found = pairwise_accuracy(metric, human, by=by)
    counts = [looped(metric[by == k], human[by == k], "strict") for k in "abc"]
    frame = found.to_frame()
    assert frame["term"].tolist() == ["a", "b", "c", "all"]
    assert frame["n"].tolist() == [3, 1, 0, 4]
    assert frame["agreements"].tolist() == [right for right, _ in counts] + [sum(right for right, _ in counts)]
    assert frame["estimate"].isna().tolist() == [False, False, True, False]
    assert found.estimate == frame["estimate"].iloc[-1]
    assert found.pairs().to_frame()["group"].tolist() == ["a", "a", "a", "b"]


def test_pairs_name_the_systems_and_their_differences():
    metric = pd.Series([3.0, 1.0, 2.0], index=["x", "y", "z"])
    human = pd.Series([0.3, 0.2, 0.1], index=["z", "y", "x"])
    frame = pairwise_accuracy(metric, human).pairs().to_frame()
    assert frame[["object_i", "object_j"]].to_numpy().tolist() == [["x", "y"], ["x", "z"], ["y", "z"]]
    np.testing.assert_allclose(frame["metric_difference"], [2, 1, -1])
    np.testing.assert_allclose(frame["human_difference"], [-0.1, -0.2, -0.1])
    assert frame["agree"].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("metric", "human", "ties"),
    [([1.0], [2.0], "strict"), ([], [], "strict"), ([1.0, 1.0], [1.0, 2.0], "drop")],
    ids=["one", "none", "tied"],
)
def test_without_pairs_accuracy_is_nan_with_a_note(metric, human, ties):
    found = pairwise_accuracy(metric, human, ties=ties)
    assert math.isnan(found.estimate)
    assert any("so the accuracy is NaN" in note for note in found.notes)
    assert math.isnan(found.to_frame()["estimate"].iloc[0])


def test_notes_count_ties_and_doubt_a_metric_of_the_wrong_sign():
    human = np.array([1.0, 2, 3, 3])
    assert "2 of the metric, 1 of humans" in pairwise_accuracy([1.0, 1, 2, 2], human).notes[1]
    assert "−metric" in pairwise_accuracy(-human, human).notes[-1]
    assert len(pairwise_accuracy(human, human).notes) == 2
    assert len(pairwise_accuracy([1.0, 1, 1, 2], human).notes) == 2  # 3 of 6 are ties, none is in the opposite order


M = np.ones((2, 3))


BAD = [
    (lambda: pairwise_accuracy([1, math.nan], [1, 2]), JudgmentError, "pairwise_accuracy: metric= has 1 values"),
    (lambda: pairwise_accuracy([1, 2], [1, math.nan]), JudgmentError, "human= has 1 values that are not finite"),
    (lambda: pairwise_accuracy([1, 2], [1, 2, 3]), JudgmentError, "2 metric scores and 3 human scores"),
    (
        lambda: pairwise_accuracy([1, 2], [1, 2], ties="skip"),
        OptionError,
        "ties='skip'; expected",
    ),
    (lambda: pairwise_accuracy(pd.DataFrame(M), [1, 2]), JudgmentError, "Average the segments: metric.mean(axis=1)"),
    (
        lambda: tie_calibrated_accuracy(pd.Series([1, 2], ["a", "b"]), pd.Series([1, 2], ["b", "a"])),
        JudgmentError,
        "metric and human are frames whose labels differ",
    ),
    (lambda: pairwise_accuracy([1, 2], [1, 2], by=["a"]), OptionError, "by= has 1 labels for 2 systems"),
    (lambda: pairwise_accuracy([1, 2], [1, 2], by="ab"), OptionError, "by= has 0 labels"),
    (lambda: pairwise_accuracy([1, 2], [1, 2], by=["a", None]), OptionError, "1 missing labels (first at row 1)"),
    (lambda: pairwise_accuracy({"a": [1]}, [1]), JudgmentError, "one of metric= and human= maps groups"),
    (lambda: pairwise_accuracy({"a": [1]}, {"b": [1]}), JudgmentError, "in one of metric= and human= only: 'a', 'b'"),
    (lambda: pairwise_accuracy({}, {}), JudgmentError, "hold no group"),
    (lambda: pairwise_accuracy({"a": [1]}, {"a": [1]}, by=["a"]), OptionError, "Leave by= out"),
    (lambda: pairwise_accuracy({"a": [1, 2]}, {"a": [1]}), JudgmentError, "group 'a': 2 metric scores and 1"),
    (lambda: tie_calibrated_accuracy(M, M, grouping="global"), OptionError, "grouping='global'"),
    (
        lambda: tie_calibrated_accuracy(M, M, epsilon=-1),
        OptionError,
        "epsilon=-1; expected a finite number, at least",
    ),
    (lambda: tie_calibrated_accuracy(M, M, epsilon=math.inf), OptionError, "epsilon=inf"),
    (lambda: tie_calibrated_accuracy(M, M[:, :2]), JudgmentError, "metric= has shape (2, 3) and human= (2, 2)"),
    (lambda: tie_calibrated_accuracy(M * math.nan, M), JudgmentError, "no score for 6 human scores (first at (0, 0))"),
    (lambda: tie_calibrated_accuracy(M * math.inf, M), JudgmentError, "not finite"),
    (lambda: tie_calibrated_accuracy(["a"], [1]), JudgmentError, "expected numbers"),
    (lambda: tie_calibrated_accuracy(np.ones((2, 3, 4)), M), JudgmentError, "expected numbers: a matrix"),
    (
        lambda: tie_calibrated_accuracy(np.ones(10_002), np.ones(10_002)),
        DesignError,
        "50,015,001 pairs; expected up to 50,000,000",
    ),
    (lambda: soft_pairwise_accuracy(M, M, n=0), OptionError, "soft_pairwise_accuracy: n=0"),
    (lambda: soft_pairwise_accuracy(M, M, rng=1.5), OptionError, "rng=1.5"),
    (lambda: soft_pairwise_accuracy([1, 2], M), JudgmentError, "expected numbers: a matrix, one row per system"),
    (lambda: soft_pairwise_accuracy(M, [[1, 2, 3], [1, 2]]), JudgmentError, "human= is a list"),
    (lambda: soft_pairwise_accuracy(M, np.ones((3, 3))), JudgmentError, "metric= has 2 systems and human= 3"),
    (lambda: soft_pairwise_accuracy(M * math.nan, M), JudgmentError, "metric= has 6 values that are not finite"),
    (lambda: soft_pairwise_accuracy(M, M * math.nan), JudgmentError, "no human score for the systems in rows 0, 1"),
    (lambda: soft_pairwise_accuracy(np.ones((2, 0)), M), JudgmentError, "metric= has no segment"),
    (lambda: soft_pairwise_accuracy(np.ones((0, 3)), np.ones((0, 3))), JudgmentError, "have no rows"),
    (
        lambda: soft_pairwise_accuracy(pd.DataFrame(M, index=["a", "b"]), pd.DataFrame(M, index=["b", "a"])),
        JudgmentError,
        "human = human.loc[metric.index]",
    ),
]


@pytest.mark.parametrize(("call", "error", "fragment"), BAD, ids=[f"{k:02}" for k in range(len(BAD))])
def test_bad_input(call, error, fragment):
    with pytest.raises(error) as caught:
        call()
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    "record",
    [
        pairwise_accuracy([1, 2, 3], [1, 3, 2]),
        pairwise_accuracy([1, 2, 3], [1, 3, 2]).pairs(),
        tie_calibrated_accuracy([1, 2, 3], [1, 3, 2]),
        soft_pairwise_accuracy(rounded(1, (3, 8)), rounded(2, (3, 8)), n=20, rng=1),
    ],
    ids=["accuracy", "pairs", "calibration", "soft"],
)
def test_records_survive_pickling_and_print(record):
    again = pickle.loads(pickle.dumps(record))
    pd.testing.assert_frame_equal(again.to_frame(), record.to_frame())
    assert again.as_text() == record.as_text() == repr(record)


def test_inputs_are_left_as_they_are():
    metric, human = rounded(1, (2, 4, 6))
    before = metric.copy(), human.copy()
    soft_pairwise_accuracy(metric, human, n=20, rng=1)
    tie_calibrated_accuracy(metric, human)
    pairwise_accuracy(metric[:, 0], human[:, 0])
    assert (metric == before[0]).all()
    assert (human == before[1]).all()


@pytest.mark.shared
@pytest.mark.parametrize(
    ("metric", "right"), [("YiSi-1", 1236), ("chrF", 1212), ("sacreBLEU-BLEU", 1193), ("TER", 1191)]
)
def test_pairs_of_wmt19_over_all_language_pairs(shared, metric, right):
    frames = [pd.read_csv(path, sep=" ") for path in sorted((shared / "data" / "wmt19_sys_scores").glob("*.csv"))]
    frame = pd.concat(frames)
    found = pairwise_accuracy(frame[metric], frame["HUMAN"], by=frame["LP"])
    assert (found.agreements, found.n) == (right, 1362)
    assert len(found.groups) == 18
    counts = [looped(part[metric].to_numpy(), part["HUMAN"].to_numpy(), "strict") for part in frames]
    assert tuple(np.sum(counts, axis=0)) == (right, 1362)
