"""Decisions by a metric against a loop over pairs; errors of decisions and of the curve."""

import itertools
import math
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.decided import drawn, ragged, scores
from support.draws import draw

import llbt
from llbt.errors import JudgmentError, OptionError
from llbt.metrics.decision_errors import error_agreement
from llbt.metrics.decisions import decisions_from_tests
from llbt.metrics.difference_curve import difference_curve
from llbt.metrics.segment_tests import bootstrap


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def decided(d, p, h, q, alpha):
    """Return the outcome of one pair in plain words of the definition."""
    if math.isnan(p) or math.isnan(q):
        return "undefined"
    if p < alpha and q < alpha:
        return "both" if d * h > 0 else "opposite"
    return "metric_only" if p < alpha else "humans_only" if q < alpha else "neither"


@pytest.mark.parametrize("metric_test", ["paired-t", "bootstrap"])
def test_the_table_is_a_loop_over_pairs(metric_test):
    metric, human = scores(9, systems=9, spread=0.5), ragged(10, systems=9, spread=0.6)
    found = llbt.metrics.decisions(metric, human, metric_test=metric_test, rng=1, n=199)
    pairs = list(itertools.combinations(range(9), 2))
    drawn = bootstrap(metric, *np.triu_indices(9, 1), 199, draw(1))
    rows = []
    for k, (a, b) in enumerate(pairs):
        d, h = metric[a].mean() - metric[b].mean(), human[a].mean() - human[b].mean()
        p = stats.ttest_rel(metric[a], metric[b]).pvalue if metric_test == "paired-t" else drawn[k]
        q = stats.mannwhitneyu(human[a], human[b], method="asymptotic").pvalue
        rows.append((d, p, h, q, decided(d, p, h, q, 0.05)))
    frame = found.pairs().to_frame()
    columns = ["metric_difference", "metric_p", "human_difference", "human_p"]
    np.testing.assert_allclose(frame[columns], [row[:4] for row in rows], rtol=1e-9, atol=1e-12)
    assert frame["outcome"].tolist() == [row[4] for row in rows]
    assert set(frame["outcome"]) == {"both", "metric_only", "opposite", "humans_only", "neither"}
    bins = found.by_difference(bins=[0.2, 0.4]).to_frame()
    edges = [(0, 0.2), (0.2, 0.4), (0.4, math.inf), (0, math.inf)]
    assert bins[["low", "high"]].to_numpy().tolist() == [list(edge) for edge in edges]
    for row, (low, high) in enumerate(edges):
        inside = [r[4] for r in rows if low <= abs(r[0]) < high]
        assert bins["n"].iloc[row] == len(inside)
        for name in ("both", "opposite", "neither"):
            assert bins[name].iloc[row] == inside.count(name)
        assert bins["type_1"].iloc[row] == inside.count("metric_only") + inside.count("opposite")
        assert bins["type_2"].iloc[row] == inside.count("humans_only")


def test_outcomes_of_known_tests():
    d, p = [1, 1, 1, 1, 1, -1, 1, 1.0], [0.01, 0.01, 0.01, 0.2, 0.2, 0.01, math.nan, 0.05]
    h, q = [1, 0.1, -1, 1, 0.1, -1, 1, 1.0], [0.01, 0.3, 0.01, 0.01, 0.3, 0.01, 0.01, 0.3]
    found = decisions_from_tests(d, p, h, q)
    expected = ["both", "metric_only", "opposite", "humans_only", "neither", "both", "undefined", "neither"]
    assert found.outcome.tolist() == expected
    assert found.outcome.tolist() == [decided(*row, 0.05) for row in zip(d, p, h, q, strict=True)]
    assert found.type_1.tolist() == [name in ("metric_only", "opposite") for name in expected]
    assert found.type_2.tolist() == [name == "humans_only" for name in expected]
    assert found.to_frame()["n"].iloc[-1] == 7
    assert "1 pair of 8 without a p-value" in found.notes[0]
    assert decisions_from_tests(d, p, h, q, alpha=0.25).outcome[3] == "both"


def test_missing_human_scores_and_lists_are_the_same():
    metric, human = scores(11), ragged(12)
    padded = np.full((5, 70), np.nan)
    for k, row in enumerate(human):
        padded[k, k : k + len(row)] = row
    one, other = llbt.metrics.decisions(metric, human), llbt.metrics.decisions(metric, padded)
    pd.testing.assert_frame_equal(one.pairs().to_frame(), other.pairs().to_frame())


def test_groups_are_apart_and_counted_together():
    metric, human = {"a": scores(13), "b": scores(14, systems=3)}, {"b": ragged(15, systems=3), "a": scores(16)}
    found = llbt.metrics.decisions(metric, human)
    assert found.by_difference(bins=1).to_frame()["n"].tolist() == [13, 13]
    frame = found.pairs().to_frame()
    assert frame["group"].tolist() == ["a"] * 10 + ["b"] * 3
    apart = pd.concat([llbt.metrics.decisions(metric[k], human[k]).pairs().to_frame().assign(group=k) for k in "ab"])
    pd.testing.assert_frame_equal(frame, apart.reset_index(drop=True))


def test_frames_name_the_systems():
    metric = pd.DataFrame(scores(17, systems=3), index=["x", "y", "z"])
    assert llbt.metrics.decisions(metric, ragged(18, systems=3)).object_j == ("y", "z", "z")


@pytest.mark.parametrize("bins", [1, 3, 5])
def test_numbers_of_bins_have_about_the_same_number_of_pairs(bins):
    found = llbt.metrics.decisions(scores(19, systems=10), ragged(20, systems=10))
    n = found.by_difference(bins=bins).to_frame()["n"].tolist()
    assert bins != 5 or found.to_frame()["n"].tolist() == n
    assert len(n) == bins + 1
    assert sum(n[:-1]) == n[-1] == 45
    assert max(n[:-1]) - min(n[:-1]) <= 1


def test_degenerate_tables():
    one = llbt.metrics.decisions(np.ones((1, 4)), np.ones((1, 4)))
    assert one.to_frame()["n"].tolist() == [0, 0]
    assert one.notes == ("no pair of systems",)
    equal = llbt.metrics.decisions(np.ones((3, 4)), np.ones((3, 4)))
    assert equal.outcome.tolist() == ["neither"] * 3
    assert equal.to_frame()["n"].tolist() == [3, 3]
    shifted = llbt.metrics.decisions(np.arange(3.0)[:, None] + np.zeros((3, 4)), ragged(21, systems=3))
    assert set(shifted.outcome) == {"undefined"}
    assert "3 pairs of 3 without a p-value" in shifted.notes[0]
    two = llbt.metrics.decisions(scores(22, systems=2), ragged(23, systems=2))
    assert two.to_frame()["n"].iloc[-1] == 1


M = np.random.default_rng(1).normal(size=(3, 6))


T = ([1.0, 2.0], [0.1, 0.2], [1.0, 2.0], [0.3, 0.4])


D = decisions_from_tests(*T)


BAD = [
    (lambda: llbt.metrics.decisions(M, M, metric_test="t"), OptionError, "metric_test='t'; expected 'paired-t'"),
    (lambda: llbt.metrics.decisions(M, M, n=0), OptionError, "metrics.decisions: n=0"),
    (lambda: llbt.metrics.decisions(M, M, rng="a"), OptionError, "rng='a'"),
    (lambda: llbt.metrics.decisions(M, M, alpha=5), OptionError, "alpha=5; expected a number between 0 and 1"),
    (lambda: D.by_difference(0), OptionError, "bins=0; expected a number of bins"),
    (lambda: D.by_difference([2.0, 1.0]), OptionError, "bins=[2.0, 1.0]"),
    (lambda: D.by_difference([-1.0]), OptionError, "bins=[-1.0]"),
    (lambda: D.by_difference("a"), OptionError, "bins='a'"),
    (lambda: llbt.metrics.decisions(M[0], M), JudgmentError, "metrics.decisions: metric= is shape (6,)"),
    (lambda: llbt.metrics.decisions(M, M[:2]), JudgmentError, "metric= has 3 systems and human= 2"),
    (lambda: llbt.metrics.decisions(M, [[1.0], [], [2.0]]), JudgmentError, "no human score for the systems in rows 1"),
    (lambda: llbt.metrics.decisions(M, [[1.0], ["a"], [2.0]]), JudgmentError, "system 1: human="),
    (lambda: llbt.metrics.decisions(M * math.nan, M), JudgmentError, "metric= has 18 values that are not finite"),
    (lambda: llbt.metrics.decisions(M, M * math.inf), JudgmentError, "human= has 18 values that are not finite"),
    (lambda: llbt.metrics.decisions({"a": M}, M), JudgmentError, "one of metric= and human= maps groups"),
    (
        lambda: llbt.metrics.decisions({"a": M}, {"a": M[:2]}),
        JudgmentError,
        "metrics.decisions: group 'a': metric= has 3",
    ),
    (lambda: decisions_from_tests(T[0], [0.1], *T[2:]), JudgmentError, "arrays of lengths [1, 2]"),
    (lambda: decisions_from_tests(*T, object_i=["a"]), JudgmentError, "arrays of lengths [1, 2]"),
    (lambda: decisions_from_tests(T[0], [0.1, 1.2], *T[2:]), JudgmentError, "metric_p=1.2 at pair 1"),
    (lambda: decisions_from_tests([1.0, math.nan], *T[1:]), JudgmentError, "metric_difference= has 1 values"),
    (lambda: error_agreement([D]), OptionError, "decisions is of type list; expected a dict of names"),
    (lambda: error_agreement({}), OptionError, "decisions= is no table; expected a mapping"),
    (
        lambda: error_agreement({"a": D, "b": decisions_from_tests(*T, object_i=["x", "y"])}),
        OptionError,
        "'b' has other pairs",
    ),
    (lambda: difference_curve([1.0], [1, 0]), JudgmentError, "1 differences and 2 agreements"),
    (lambda: difference_curve([1.0, math.nan], [1, 0]), JudgmentError, "metric_difference= has 1 values"),
    (
        lambda: difference_curve([1.0, 2.0], [1, 0.5]),
        JudgmentError,
        "1 values that are not 0 or 1 (first 0.5 at pair 1)",
    ),
    (lambda: difference_curve([1.0, 2.0], [1, 0], target=1), OptionError, "target=1; expected a number between"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], bins=0), OptionError, "bins=0; expected an integer of at least 1"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], confidence=95), OptionError, "confidence=95"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], groups=["a"]), OptionError, "groups= has 1 labels for 2 pairs"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], groups=["a", "a"]), OptionError, "at least two groups"),
    (lambda: difference_curve([1.0, 2.0], [1, 0], groups=["a", None]), OptionError, "1 missing labels"),
    (lambda: llbt.plot.decisions([1]), OptionError, "plot.decisions: decisions=[1]; expected DecisionTable"),
    (
        lambda: llbt.plot.difference_curve([1]),
        OptionError,
        "plot.difference_curve: curve=[1]; expected DifferenceCurve",
    ),
]


@pytest.mark.parametrize(("call", "error", "fragment"), BAD, ids=[f"{k:02}" for k in range(len(BAD))])
def test_bad_input(call, error, fragment):
    with pytest.raises(error) as caught:
        call()
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    "record",
    [D, D.pairs(), error_agreement({"a": D, "b": D}), difference_curve(*drawn(1))],
    ids=["table", "pairs", "errors", "curve"],
)
def test_records_survive_pickling_and_print(record):
    again = pickle.loads(pickle.dumps(record))
    pd.testing.assert_frame_equal(again.to_frame(), record.to_frame())
    assert again.as_text() == record.as_text() == repr(record)


def test_the_printout_says_whose_names_of_errors_these_are():
    found = llbt.metrics.decisions_from_tests([2.1], [0.001], [0.2], [0.9])
    assert found.type_1.tolist() == [True]
    assert "Types as in the introduction of Mathur et al. (2020)" in found.as_text()


def test_the_bootstrap_says_how_small_its_p_values_can_be():
    rng = np.random.default_rng(1)
    metric, human = rng.normal(size=(3, 20)), rng.normal(size=(3, 20))
    found = llbt.metrics.decisions(metric, human, metric_test="bootstrap", n=19, rng=1)
    assert "19 resamples: no p-value can be below 0.100, so nothing can be significant at 0.05" in " ".join(
        found.as_text().split()
    )
    assert "no p-value" not in llbt.metrics.decisions(metric, human).as_text()
