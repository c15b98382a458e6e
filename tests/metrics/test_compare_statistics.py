"""Tests of two metrics by accuracies and over tasks: against loops over the public functions, and by enumeration."""

import itertools

import numpy as np
import pandas as pd
import pytest
from support.three_metrics import three

import llbt
from llbt.errors import DesignError, JudgmentError, OptionError
from llbt.metrics import compare, pairwise_accuracy, tie_calibrated_accuracy
from llbt.metrics import permuted_accuracies as kernel
from llbt.metrics.metric_tests import standardized
from llbt.metrics.permuted_accuracies import MeanOrders, PairResults, SignedSums, SoftOrders, TiedOrders
from llbt.metrics.segment_tests import sign_flips

ACCURACIES = ["pairwise_accuracy", "soft_pairwise_accuracy", "tie_calibrated_accuracy"]
METHODS = {"perm-both": (5, 7), "perm-systems": (5, 1), "perm-inputs": (1, 7)}
TESTS = [*itertools.product(ACCURACIES, METHODS), ("tie_calibrated_accuracy", "perm-pairs")]


def scores(missing=0.0, decimals=0, shape=(5, 7), seed=1):
    """Two metrics that lack the same cells, and humans who lack others; with ties where scores are rounded."""
    x, y, z = (np.round(side, decimals) for side in three(shape=shape, seed=seed))
    rng = np.random.default_rng(seed + 9)
    gone = rng.random(shape) < missing
    x[gone] = y[gone] = np.nan
    z[rng.random(shape) < missing] = np.nan
    return x, y, z


def swapped(x, y, swap):
    """Both metrics after one exchange."""
    swap = np.broadcast_to(swap, x.shape)
    return np.where(swap, y, x), np.where(swap, x, y)


def p_by_loop(x, signs):
    """Mid-p-values of all pairs of systems, on the inputs both have, by random signs (R, M)."""
    found = []
    for i, j in itertools.combinations(range(len(x)), 2):
        d = np.nan_to_num(x[i] - x[j])
        moved, seen = signs @ d, d.sum()
        ties = np.isclose(moved, seen, rtol=0, atol=1e-8)
        found.append((0.5 + np.sum((moved > seen) & ~ties) + ties.sum() / 2) / (len(signs) + 1))
    return np.array(found)


def drawn(signs, inputs):
    """The random signs that `SignedSums` multiplies with."""
    return signs.of(np.eye(inputs)).T


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_pairwise_accuracy_after_exchanges_is_that_of_a_loop(decimals, method, missing):
    x, y, z = scores(missing, decimals)
    x, y = standardized(x), standardized(y)
    swap = np.random.default_rng(2).random((20, *METHODS[method])) < 0.5
    found = MeanOrders.of(x, y, z).values(swap)
    expected = [
        [pairwise_accuracy(np.nanmean(side, axis=1), np.nanmean(z, axis=1)).estimate for side in swapped(x, y, one)]
        for one in swap
    ]
    np.testing.assert_allclose(found.T, expected, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_soft_accuracy_after_exchanges_is_that_of_a_loop(decimals, method, missing):
    x, y, z = scores(missing, decimals)
    x, y = standardized(x), standardized(y)
    signs = SignedSums(40, (3, 0))
    rows = drawn(signs, 7)
    assert set(rows.ravel()) == {-1.0, 1.0}
    swap = np.random.default_rng(2).random((20, *METHODS[method])) < 0.5
    found = SoftOrders.of(x, y, z, signs).values(swap)
    human = p_by_loop(z, rows)
    expected = [[1 - np.abs(p_by_loop(side, rows) - human).mean() for side in swapped(x, y, one)] for one in swap]
    np.testing.assert_allclose(found.T, expected, atol=1e-12)


def test_p_values_of_pairs_are_those_of_paired_permutation_tests():
    """Other draws, the same test."""
    x = three(shape=(6, 40))[0]
    i, j = np.triu_indices(6, 1)
    draw = llbt.resampling.Resampler.of("", 5)
    soft = SoftOrders.of(x, x, x, SignedSums(20_000, (1, 0)))
    np.testing.assert_allclose(soft.human_p, sign_flips(x, i, j, 20_000, draw), atol=5 * 0.5 / np.sqrt(10_000))


def test_signs_are_the_same_however_many_are_held_at_once(monkeypatch):
    rows = np.random.default_rng(1).normal(size=(3, 10))
    signs = SignedSums(8, (1, 0))
    monkeypatch.setattr(kernel, "_ENTRIES", 8 * 4)
    few = signs.of(rows)
    np.testing.assert_allclose(few, rows @ drawn(signs, 10).T)
    assert len(np.unique(few)) == few.size


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("decimals", [0, 1, 6], ids=["ties", "rounding", "continuous"])
def test_accuracy_with_ties_after_exchanges_is_calibrated_again(decimals, method, missing):
    x, y, z = scores(missing, decimals)
    z = np.round(z)
    x, y = standardized(x), standardized(y)
    swap = np.random.default_rng(2).random((20, *METHODS[method])) < 0.5
    found = TiedOrders.of(x, y, z).values(swap)
    known = np.where(np.isnan(x), np.nan, z)
    expected = [[tie_calibrated_accuracy(side, known).estimate for side in swapped(x, y, one)] for one in swap]
    np.testing.assert_allclose(found.T, expected, atol=1e-12)


def test_results_of_pairs_are_exchanged_at_the_thresholds_of_each():
    """All exchanges of the results of three systems on two inputs, against a loop."""
    x, y, z = scores(shape=(3, 2), decimals=0, seed=4)
    results = PairResults.of(x, y, z)
    sides = [tie_calibrated_accuracy(side, z) for side in (x, y)]
    assert results.estimates == pytest.approx([side.estimate for side in sides])
    right = []
    for side, epsilon in zip((x, y), (one.epsilon for one in sides), strict=True):
        d = np.array([side[i] - side[j] for i, j in itertools.combinations(range(3), 2)])
        h = np.array([z[i] - z[j] for i, j in itertools.combinations(range(3), 2)])
        right.append((np.where(np.abs(d) <= epsilon, 0, np.sign(d)) == np.sign(h)).ravel())
    unlike = (right[0].astype(float) - right[1]) / 6
    every = {round(float(np.dot(flips, unlike)), 9) for flips in itertools.product((1, -1), repeat=6)}
    found = results.differences(2000, np.random.default_rng(1))
    assert set(np.round(found, 9).tolist()) == every
    assert len(every) > 1


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("statistic", ACCURACIES)
def test_p_values_are_those_of_all_exchanges(statistic, alternative):
    """Four systems on two inputs, 2⁸ exchanges; for soft accuracy the signs are those that the test draws."""
    x, y, z = scores(decimals=6, shape=(4, 2), seed=5)
    found = compare(x, y, z, statistic=statistic, alternative=alternative, n=2000, draws=50, rng=1)
    orders = {
        "pairwise_accuracy": lambda *sides: MeanOrders.of(*sides),
        "soft_pairwise_accuracy": lambda *sides: SoftOrders.of(
            *sides, SignedSums(50, (int(np.random.default_rng(1).integers(2**63)), 0))
        ),
        "tie_calibrated_accuracy": lambda *sides: TiedOrders.of(*sides),
    }[statistic](standardized(x), standardized(y), z)
    every = np.array(list(itertools.product([False, True], repeat=8))).reshape(-1, 4, 2)
    first, second = orders.values(every)
    delta = first - second
    assert found.difference == pytest.approx(delta[0], abs=1e-12)
    seen = {"greater": delta - delta[0], "less": delta[0] - delta, "two-sided": np.abs(delta) - abs(delta[0])}
    exact = np.mean(seen[alternative] >= -1e-9)
    assert abs(found.p_value - exact) < 4 * np.sqrt(exact * (1 - exact) / 2000) + 1 / 2000


@pytest.mark.parametrize(("statistic", "method"), TESTS)
@pytest.mark.parametrize("decimals", [0, 6], ids=["ties", "continuous"])
def test_a_metric_does_not_differ_from_itself_on_another_scale(statistic, method, decimals):
    x, _, z = scores(decimals=decimals, shape=(6, 12))
    for other in (x, 0.1 * x + 0.3):
        found = compare(x, other, z, statistic=statistic, method=method, n=99, draws=50, rng=1)
        assert found.difference == pytest.approx(0, abs=1e-12)
        assert found.p_value == 1.0


@pytest.mark.parametrize("statistic", ACCURACIES)
def test_estimates_are_those_of_the_functions_of_one_metric(statistic):
    x, y, z = scores(decimals=6, shape=(8, 60))
    found = compare(x, y, z, statistic=statistic, n=3, draws=4000, rng=1)
    alone = {
        "pairwise_accuracy": lambda side: pairwise_accuracy(side.mean(axis=1), z.mean(axis=1)),
        "soft_pairwise_accuracy": lambda side: llbt.metrics.soft_pairwise_accuracy(side, z, n=4000, rng=2),
        "tie_calibrated_accuracy": lambda side: tie_calibrated_accuracy(side, z),
    }[statistic]
    near = 0.02 if statistic == "soft_pairwise_accuracy" else 1e-12
    assert found.estimate_x == pytest.approx(alone(x).estimate, abs=near)
    assert found.estimate_y == pytest.approx(alone(y).estimate, abs=near)
    assert found.statistic == found.difference


@pytest.mark.parametrize("statistic", ACCURACIES)
def test_humans_agree_with_themselves(statistic):
    _, y, z = scores(shape=(14, 60))
    y = y + 5 * np.random.default_rng(1).normal(size=y.shape)
    found = compare(z, y, z, statistic=statistic, method="perm-both", alternative="greater", n=99, draws=99, rng=1)
    assert found.estimate_x == pytest.approx(1.0)
    assert found.p_value == 1 / 100


def test_exchanging_the_metrics_turns_the_alternative_round():
    x, y, z = scores(shape=(6, 12), decimals=6)
    for statistic in ACCURACIES:
        one = compare(x, y, z, statistic=statistic, alternative="greater", n=200, draws=99, rng=1)
        other = compare(y, x, z, statistic=statistic, alternative="less", n=200, draws=99, rng=1)
        assert one.difference == pytest.approx(-other.difference)
        assert one.p_value == pytest.approx(other.p_value)


# -- tasks -----------------------------------------------------------------------------------------------------------


def by_task():
    """Two tasks of other systems and other inputs."""
    parts = {"en-de": scores(shape=(5, 9), seed=1), "en-es": scores(shape=(7, 6), seed=2)}
    return [{name: part[k] for name, part in parts.items()} for k in range(3)]


@pytest.mark.parametrize("method", ["perm-both", "boot"])
def test_correlations_are_averaged_over_tasks(method):
    x, y, z = by_task()
    found = compare(x, y, z, method=method, n=50, rng=1)
    alone = [compare(x[name], y[name], z[name], method=method, n=50, rng=1) for name in x]
    assert found.tasks == ("en-de", "en-es")
    assert found.estimate_x == pytest.approx(np.mean([one.estimate_x for one in alone]))
    assert found.task_estimates[1] == pytest.approx([one.estimate_y for one in alone])
    np.testing.assert_allclose(found.replicates, found.task_replicates.mean(axis=0))
    np.testing.assert_allclose(found.task_replicates[0], alone[0].replicates)  # the first is drawn first


@pytest.mark.parametrize("statistic", ACCURACIES)
def test_accuracies_are_averaged_over_tasks(statistic):
    x, y, z = by_task()
    found = compare(x, y, z, statistic=statistic, n=99, draws=99, rng=1)
    assert found.replicates.shape == (99,)
    assert found.difference == pytest.approx(np.mean(found.task_estimates[0] - found.task_estimates[1]))
    extreme = np.sum(np.abs(found.replicates) >= abs(found.difference) - 1e-9)
    assert found.p_value == (1 + extreme) / 100
    frame = found.by_task().to_frame()
    assert frame["task"].tolist() == ["en-de", "en-es"]
    for row, one in zip(found.task_replicates, frame.itertuples(), strict=True):
        assert one.p_value == (1 + np.sum(np.abs(row) >= abs(one.difference) - 1e-9)) / 100
    assert "mean of 2 tasks" in found.as_text()


def test_a_column_of_tasks_is_a_mapping():
    """Systems without a score in a task take no part in it."""
    x, y, z = by_task()
    wide = [np.full((7, 15), np.nan) for _ in range(3)]
    for whole, side in zip(wide, (x, y, z), strict=True):
        whole[:5, ::2][:, :8] = side["en-de"][:, :8]
        whole[:5, 13] = side["en-de"][:, 8]
        whole[:, 1:13:2] = side["en-es"]
    tasks = ["en-de" if k % 2 == 0 or k == 13 else "en-es" for k in range(15)]
    order = [0, 1, 2, 3, 4, 5, 6, 8, 7]  # column 13 stands before column 14
    mapped = [{"en-de": side["en-de"][:, order], "en-es": side["en-es"]} for side in (x, y, z)]
    for statistic in ("correlation", *ACCURACIES):
        one = compare(*wide, statistic=statistic, tasks=tasks, n=20, draws=30, rng=1)
        other = compare(*mapped, statistic=statistic, n=20, draws=30, rng=1)
        assert one.tasks == other.tasks
        np.testing.assert_allclose(one.task_estimates, other.task_estimates)
        np.testing.assert_allclose(one.replicates, other.replicates, atol=1e-12)


def test_one_task_is_none():
    x, y, z = scores()
    one = compare({"en-de": x}, {"en-de": y}, {"en-de": z}, n=30, rng=1)
    plain = compare(x, y, z, n=30, rng=1)
    assert one.p_value == plain.p_value
    assert one.tasks == ("en-de",)
    assert plain.by_task().to_frame()["p_value"].tolist() == [plain.p_value]
    assert compare(x, y, z, method="williams").by_task().to_frame()["p_value"].notna().all()


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter():
    x, y, z = by_task()
    one, two = (
        compare(x, y, z, statistic="soft_pairwise_accuracy", n=600, draws=20, rng=1, n_jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.replicates, two.replicates)


# -- what is refused, and what is undefined --------------------------------------------------------------------------

X, Y, Z = scores(decimals=6)


@pytest.mark.parametrize(
    ("call", "error", "fragment"),
    [
        (lambda: compare(X, Y, Z, statistic="spa"), OptionError, "statistic='spa'"),
        (lambda: compare(X, Y, Z, statistic=ACCURACIES[0], level="input"), OptionError, "level='input' with statistic"),
        (lambda: compare(X, Y, Z, statistic=ACCURACIES[0], coefficient="kendall"), OptionError, "Leave coefficient="),
        (lambda: compare(X, Y, Z, statistic=ACCURACIES[1], method="boot"), OptionError, "method='boot' with statistic"),
        (lambda: compare(X, Y, Z, statistic=ACCURACIES[1], method="williams"), OptionError, "it is for correlations"),
        (lambda: compare(X, Y, Z, method="perm-pairs"), OptionError, "it exchanges results of pairs"),
        (lambda: compare(X, Y, Z, draws=0), OptionError, "draws=0"),
        (lambda: compare(X, Y, Z, tasks=["a", "b"]), OptionError, "tasks= has 2 labels for 7 inputs"),
        (lambda: compare(X, Y, Z, tasks="abcdefg"), OptionError, "tasks='abcdefg'; expected a list of labels"),
        (lambda: compare(X, Y, Z, tasks=["a"] * 6 + [None]), OptionError, "1 missing labels"),
        (lambda: compare(X, Y, Z, tasks=list("aaabbbb"), method="williams"), OptionError, "williams' with tasks"),
        (lambda: compare({"a": X}, {"a": Y}, {"a": Z}, tasks=["a"] * 7), OptionError, "Leave tasks= out"),
        (lambda: compare({"a": X}, Y, Z), JudgmentError, "'metric' maps tasks to scores, 'other', 'human' does not"),
        (lambda: compare({"a": X}, {"b": Y}, {"a": Z}), JudgmentError, "metric has no scores of task 'b'"),
        (lambda: compare({}, {}, {}), JudgmentError, "mappings without a task"),
        (lambda: compare({"a": X}, {"a": Y[:3]}, {"a": Z}), JudgmentError, "task 'a': metric has shape"),
        (lambda: compare({"a": X}, {"a": Y}, {"a": Z[:, :3]}), JudgmentError, "task 'a': metric has shape"),
        (lambda: compare({"a": X}, {"a": 0 * Y}, {"a": Z}), JudgmentError, "task 'a': all scores of other are equal"),
        (lambda: compare({"a": X}, {"a": "words"}, {"a": Z}), JudgmentError, "task 'a': other is not a matrix"),
        (lambda: compare(X, np.where(X > 9, X, np.inf), Z, statistic=ACCURACIES[2]), JudgmentError, "infinite"),
    ],
)
def test_what_does_not_go_together_is_refused(call, error, fragment):
    with pytest.raises(error, match="(?s).*".join(fragment.split("…"))) as caught:
        call()
    assert str(caught.value).startswith("metrics.compare: ")


def test_a_task_of_one_system_is_refused():
    x, y, z = (np.where(np.arange(5)[:, None] * (np.arange(7) == 6) > 0, np.nan, side) for side in (X, Y, Z))
    with pytest.raises(JudgmentError, match="task 'b' has scores of 1 system; expected at least 2"):
        compare(x, y, z, tasks=list("aaaaaab"))


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(kernel, "_MOST_PAIRS", 60)
    with pytest.raises(DesignError, match=r"70 pairs of systems on inputs; expected up to 60.*perm-pairs"):
        compare(X, Y, Z, statistic="tie_calibrated_accuracy", n=3)
    assert compare(X, Y, Z, statistic="tie_calibrated_accuracy", method="perm-pairs", n=3, rng=1).p_value <= 1


@pytest.mark.parametrize(("statistic", "method"), TESTS)
def test_without_a_pair_there_is_no_p_value(statistic, method):
    z = np.full((5, 7), np.nan)
    z[0] = 1.0
    found = compare(X, Y, z, statistic=statistic, method=method, n=9, draws=9, rng=1)
    assert np.isnan([found.estimate_x, found.difference, found.p_value]).all()
    assert found.as_text()


def test_scores_are_not_changed_and_notes_say_what_was_left_out():
    x, y, z = (side.copy() for side in (X, Y, Z))
    x[0, 0] = np.nan
    before = [side.copy() for side in (x, y, z)]
    for statistic in ACCURACIES:
        found = compare(x, y, z, statistic=statistic, n=9, draws=9, rng=1)
        assert "1 cell left out: one of the metrics has no score there" in found.notes
    for side, was in zip((x, y, z), before, strict=True):
        np.testing.assert_array_equal(side, was)


def test_labelled_frames_are_not_mappings():
    frames = [pd.DataFrame(side, index=list("abcde")) for side in (X, Y, Z)]
    found = compare(*frames, statistic="pairwise_accuracy", n=20, rng=1)
    assert found.p_value == compare(X, Y, Z, statistic="pairwise_accuracy", n=20, rng=1).p_value
    with pytest.raises(JudgmentError, match="labels differ"):
        compare(frames[0], frames[1].iloc[::-1], frames[2], statistic="pairwise_accuracy")


def test_exchanges_of_whole_systems_are_those_of_their_inputs() -> None:
    """The four p-values of a pair, looked up, against the sums of every exchange."""
    rng = np.random.default_rng(12)
    x, y, human = rng.integers(0, 4, size=(3, 6, 25)).astype(float)
    orders = SoftOrders.of(x, y, human, SignedSums(400, (3,)))
    swap = rng.random((50, 6, 1)) < 0.5
    each = orders.values(np.broadcast_to(swap, (50, 6, 25)))
    np.testing.assert_allclose(orders.values(swap), each, rtol=0, atol=1e-12)
    assert np.ptp(each[0]) > 0.01
