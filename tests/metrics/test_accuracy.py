"""Pairwise accuracy, with calibrated ties and soft: against plain loops, enumeration, scipy and counts of WMT19."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.draws import draw

from llbt.errors import DesignError, JudgmentError, OptionError
from llbt.metrics.accuracy import pairwise_accuracy
from llbt.metrics.segment_tests import sign_flips
from llbt.metrics.soft_accuracy import soft_pairwise_accuracy
from llbt.metrics.tie_calibration import tie_calibrated_accuracy
from llbt.resampling import Resampler

RULES = ("strict", "drop", "half")


def sign(x):
    return int(x > 0) - int(x < 0)


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


def rounded(seed, shape, decimals=0):
    return np.round(np.random.default_rng(seed).normal(size=shape), decimals)


# -- pairwise accuracy -------------------------------------------------------------------------------------------


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
    assert "2 ties of the metric, 1 of humans" in pairwise_accuracy([1.0, 1, 2, 2], human).notes[0]
    assert "−metric" in pairwise_accuracy(-human, human).notes[-1]
    assert len(pairwise_accuracy(human, human).notes) == 1
    assert len(pairwise_accuracy([1.0, 1, 1, 2], human).notes) == 1  # 3 of 6 are ties, none is in the opposite order


# -- calibrated ties ---------------------------------------------------------------------------------------------


def acc_eq(metric, human, epsilon):
    """Return acc_eq of columns, averaged over those with a pair, by a plain loop."""
    columns = []
    for x, z in zip(metric.T, human.T, strict=True):
        right = []
        for i, j in itertools.combinations(range(len(x)), 2):
            h = z[i] - z[j]
            if not math.isnan(h):
                d = x[i] - x[j]
                right.append((0 if abs(d) <= epsilon else sign(d)) == sign(h))
        columns += [np.mean(right)] if right else []
    return float(np.mean(columns))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("grouping", ["input", "system"])
@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_the_best_epsilon_is_that_of_a_search_over_all(decimals, grouping, missing):
    rng = np.random.default_rng(5)
    truth = rng.normal(size=(6, 8))
    metric = np.round(truth + 0.5 * rng.normal(size=(6, 8)), decimals)
    human = np.round(truth)
    human[rng.random((6, 8)) < missing] = np.nan
    found = tie_calibrated_accuracy(metric, human, grouping=grouping)
    x, z = (metric, human) if grouping == "input" else (metric.T, human.T)
    pairs = list(itertools.combinations(range(len(x)), 2))
    candidates = sorted({0.0, *(abs(a[i] - a[j]) for a in x.T for i, j in pairs)})
    values = [acc_eq(x, z, epsilon) for epsilon in candidates]
    assert found.estimate == pytest.approx(max(values), abs=1e-12)
    assert found.epsilon == next(e for e, v in zip(candidates, values, strict=True) if v > max(values) - 1e-12)
    assert found.uncalibrated == pytest.approx(values[0], abs=1e-12)
    assert found.n == sum(not math.isnan(b[i] - b[j]) for b in z.T for i, j in pairs)
    assert found.human_ties == sum(b[i] == b[j] for b in z.T for i, j in pairs)
    assert found.estimate >= found.uncalibrated


def test_a_given_epsilon_is_used_as_it_is():
    metric, human = rounded(6, (2, 9), 1)
    for epsilon in (0, 0.15, 0.8, 99.0):
        found = tie_calibrated_accuracy(metric, human, epsilon=epsilon)
        assert found.estimate == pytest.approx(acc_eq(metric[:, None], human[:, None], epsilon))
        assert (found.epsilon, found.calibrated) == (epsilon, False)
        assert not found.notes


def test_at_epsilon_zero_a_vector_has_its_strict_pairwise_accuracy():
    metric, human = rounded(7, (2, 14))
    found = tie_calibrated_accuracy(metric, human)
    assert found.uncalibrated == pytest.approx(pairwise_accuracy(metric, human).estimate, rel=1e-12)


def test_the_scale_of_the_metric_scales_epsilon():
    metric, human = rounded(8, (2, 10, 5), 3)
    one, other = tie_calibrated_accuracy(metric, human), tie_calibrated_accuracy(1024 * metric, human)
    assert (other.estimate, other.epsilon) == pytest.approx((one.estimate, 1024 * one.epsilon))


@pytest.mark.parametrize(
    ("metric", "human", "expected"),
    [
        ([1.0, 2.0], [5.0, 5.0], (1.0, 1.0, 0.0)),  # a tie of humans: the difference becomes a tie
        ([1.0, 1.0], [5.0, 6.0], (0.0, 0.0, 0.0)),  # no ε makes a tie an order
        ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], (1.0, 0.0, 1.0)),  # all equal
    ],
    ids=["human-tie", "metric-tie", "all-equal"],
)
def test_small_cases_by_hand(metric, human, expected):
    found = tie_calibrated_accuracy(metric, human)
    assert (found.estimate, found.epsilon, found.uncalibrated) == expected


@pytest.mark.parametrize("human", [[1.0], [math.nan, 1.0], [math.nan, math.nan]])
def test_calibration_without_pairs_is_nan_with_a_note(human):
    found = tie_calibrated_accuracy(np.arange(len(human), dtype=float), human)
    assert math.isnan(found.estimate)
    assert math.isnan(found.epsilon)
    assert "no pair has two human scores" in found.notes[-1]


def test_the_metric_may_lack_what_humans_lack():
    metric = np.array([[1.0, math.nan], [2.0, 3.0], [4.0, 1.0]])
    human = np.array([[1.0, math.nan], [2.0, 2.0], [3.0, 1.0]])
    assert tie_calibrated_accuracy(metric, human).estimate == 1.0
    assert tie_calibrated_accuracy(pd.DataFrame(metric), pd.DataFrame(human)).n == 4


# -- soft pairwise accuracy --------------------------------------------------------------------------------------


def enumerated(x, y):
    """Return the mid-p-value that x is better than y over all exchanges of their scores, exactly."""
    d = x - y
    moved = np.array([np.dot(signs, d) for signs in itertools.product((1, -1), repeat=len(d))])
    return float((moved > d.sum() + 1e-9).mean() + (np.abs(moved - d.sum()) <= 1e-9).mean() / 2)


@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_p_values_are_those_of_all_exchanges(decimals):
    x = rounded(9, (3, 9), decimals)
    i, j = np.triu_indices(3, 1)
    found = sign_flips(x, i, j, 40_000, draw(1))
    expected = [enumerated(x[a], x[b]) for a, b in zip(i, j, strict=True)]
    np.testing.assert_allclose(found, expected, atol=4 * 0.5 / math.sqrt(40_000))


def test_p_values_are_scipys_less_half_of_the_one_seen():
    """Without equal differences the exact p-value of scipy counts the one seen whole, the mid-p-value by half."""
    x, y = np.random.default_rng(10).normal(size=(2, 10)) + np.array([[0.4], [0]])
    test = stats.permutation_test(
        (x, y), lambda a, b: np.mean(a - b), permutation_type="samples", alternative="greater", n_resamples=np.inf
    )
    assert enumerated(x, y) == pytest.approx(test.pvalue - 0.5 / 2**10, abs=1e-12)


def test_a_p_value_and_its_reverse_add_up_to_one_and_neither_is_zero():
    x = np.vstack([rounded(11, (3, 20)), np.zeros((2, 20)), np.full((1, 20), 50.0)])
    i, j = np.triu_indices(6, 1)
    forth, back = (sign_flips(x, *pair, 99, draw(1)) for pair in ((i, j), (j, i)))
    np.testing.assert_allclose(forth + back, 1, rtol=1e-12)
    assert min(forth.min(), back.min()) > 0
    assert back.min() == pytest.approx(0.5 / 100)
    assert forth[(i == 3) & (j == 4)] == pytest.approx(0.5)


def test_soft_accuracy_is_one_minus_the_mean_gap():
    metric, human = np.random.default_rng(12).normal(size=(2, 5, 30)) + np.arange(5)[:, None] / 4
    found = soft_pairwise_accuracy(metric, human, n=20_000, rng=1)
    assert found.estimate == pytest.approx(1 - np.mean(np.abs(found.human_p - found.metric_p)), rel=1e-12)
    t = [
        [stats.ttest_rel(x[a], x[b], alternative="greater").pvalue for a, b in itertools.combinations(range(5), 2)]
        for x in (human, metric)
    ]
    assert found.estimate == pytest.approx(1 - np.mean(np.abs(np.subtract(*t))), abs=0.01)  # t is close at M = 30
    frame = found.to_frame()
    assert len(frame) == found.n == 10
    np.testing.assert_allclose(frame["agreement"], 1 - np.abs(frame["human_p"] - frame["metric_p"]))


def test_the_order_of_systems_does_not_matter():
    metric, human = rounded(13, (2, 6, 15))
    order = np.array([3, 0, 5, 1, 4, 2])
    one, other = (
        soft_pairwise_accuracy(metric[rows], human[rows], n=200, rng=3).estimate for rows in (np.arange(6), order)
    )
    assert one == pytest.approx(other, rel=1e-12)


def test_extremes_of_soft_accuracy():
    scores = np.arange(4)[:, None] * 10.0 + rounded(14, (4, 40), 3)
    assert soft_pairwise_accuracy(scores, 7 * scores, rng=1).estimate == 1.0
    assert soft_pairwise_accuracy(scores, -scores, n=999, rng=1).estimate == pytest.approx(0.001)  # p never 0 or 1
    assert soft_pairwise_accuracy(np.ones((3, 5)), scores[:3], n=999, rng=1).estimate == pytest.approx(0.5, abs=1e-3)


def test_pairs_are_compared_on_the_segments_that_both_have():
    rng = np.random.default_rng(15)
    human = rng.normal(size=(3, 9))
    human[0, :3] = human[1, 5:] = np.nan
    human[2, 3:] = np.nan
    i, j = np.triu_indices(3, 1)
    found = sign_flips(human, i, j, 40_000, Resampler("", rng))
    both = ~np.isnan(human[0] + human[1])
    assert both.sum() == 2
    assert found[0] == pytest.approx(enumerated(human[0, both], human[1, both]), abs=0.01)
    assert math.isnan(found[1])
    soft = soft_pairwise_accuracy(rng.normal(size=(3, 9)), human, n=50, rng=1)
    assert soft.n == 2
    assert "1 pair without a common human-scored segment" in soft.notes[0]
    assert not math.isnan(soft.estimate)


def test_one_system_has_no_soft_accuracy():
    found = soft_pairwise_accuracy(np.ones((1, 4)), np.ones((1, 4)), n=9, rng=1)
    assert math.isnan(found.estimate)
    assert "no pair of systems counts" in found.notes[-1]


# -- bad input ---------------------------------------------------------------------------------------------------

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
    (lambda: pairwise_accuracy([1, 2], [1, 2], by=["a"]), DesignError, "by= has 1 labels for 2 systems"),
    (lambda: pairwise_accuracy([1, 2], [1, 2], by="ab"), DesignError, "by= has 0 labels"),
    (lambda: pairwise_accuracy([1, 2], [1, 2], by=["a", None]), DesignError, "1 missing labels (first at row 1)"),
    (lambda: pairwise_accuracy({"a": [1]}, [1]), JudgmentError, "one of metric= and human= maps groups"),
    (lambda: pairwise_accuracy({"a": [1]}, {"b": [1]}), JudgmentError, "in one of metric= and human= only: 'a', 'b'"),
    (lambda: pairwise_accuracy({}, {}), JudgmentError, "hold no group"),
    (lambda: pairwise_accuracy({"a": [1]}, {"a": [1]}, by=["a"]), DesignError, "leave by= out"),
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
    (lambda: tie_calibrated_accuracy(np.ones(10_002), np.ones(10_002)), DesignError, "50,015,001 pairs, more than"),
    (lambda: soft_pairwise_accuracy(M, M, n=0), OptionError, "soft_pairwise_accuracy: n=0"),
    (lambda: soft_pairwise_accuracy(M, M, rng=1.5), OptionError, "rng=1.5"),
    (lambda: soft_pairwise_accuracy([1, 2], M), JudgmentError, "expected numbers: a matrix, one row per system"),
    (lambda: soft_pairwise_accuracy(M, [[1, 2, 3], [1, 2]]), JudgmentError, "human= is a list"),
    (lambda: soft_pairwise_accuracy(M, np.ones((3, 3))), JudgmentError, "metric= has 2 systems and human= 3"),
    (lambda: soft_pairwise_accuracy(M * math.nan, M), JudgmentError, "metric= has 6 values that are not finite"),
    (lambda: soft_pairwise_accuracy(M, M * math.nan), JudgmentError, "no human score for the systems in rows 0, 1"),
    (lambda: soft_pairwise_accuracy(np.ones((2, 0)), M), JudgmentError, "metric= has no segment"),
    (lambda: soft_pairwise_accuracy(np.ones((0, 3)), np.ones((0, 3))), JudgmentError, "no systems"),
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


@pytest.mark.slow
def test_one_sided_p_values_are_uniform_where_nothing_differs():
    """Share of mid-p-values below .05 and .5 in 2,000 pairs of equal systems, within four standard errors."""
    x = np.random.default_rng(16).normal(size=(4000, 25))
    p = sign_flips(x, np.arange(0, 4000, 2), np.arange(1, 4000, 2), 999, draw(1))
    for level in (0.05, 0.5):
        assert np.mean(p <= level) == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 2000))


# -- counts of WMT19 ---------------------------------------------------------------------------------------------


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
