"""Outlying systems and correlations over subsets: against scipy, plain loops and figures of WMT19."""

import itertools
import math
import pickle
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import llbt
from llbt.errors import JudgmentError, LLBTWarning, OptionError
from llbt.metrics.correlate import correlate
from llbt.metrics.kernels import plain_correlations
from llbt.metrics.outliers import outliers
from llbt.metrics.subsets import subset_correlations

SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
}
COEFFICIENTS = list(SCIPY)
Z = np.array([0.3, 0.2, 0.15, 0.1, 0.0, -0.1, -1.4, 0.25])
X = np.array([31.0, 29.5, 30.0, 27.0, 28.0, 26.0, 10.0, 30.5])


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


# -- outliers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cutoff", [1.0, 2.5, 4.0])
def test_outliers_are_far_in_units_of_scipys_normal_mad(cutoff):
    z = np.random.default_rng(1).standard_t(2, size=200)
    far = np.abs(z - np.median(z)) / stats.median_abs_deviation(z, scale="normal") > cutoff
    assert outliers(z, cutoff).tolist() == far.tolist()
    assert 0 < far.sum() < 200


def test_both_tails_count():
    z = [-50.0, -1.2, -1, -0.5, 0, 0.5, 1, 4, 60]  # median 0, MAD 1: 4 is beyond 2.5 · 1.4826 = 3.7
    assert np.flatnonzero(outliers(z)).tolist() == [0, 7, 8]


def test_what_remains_is_not_searched_again():
    z = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 1.05, 9.0])
    found = outliers(z)
    assert np.flatnonzero(found).tolist() == [7]
    assert np.flatnonzero(outliers(z[~found])).tolist() == [6]


def test_the_cutoff_itself_is_no_outlier():
    z = np.array([-1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 3 * 1.4826])  # median 0, MAD 1
    assert not outliers(z, 3.0).any()
    assert outliers(z, 2.999).tolist() == [False] * 6 + [True]


def test_a_series_keeps_its_labels():
    z = pd.Series(Z, index=list("abcdefgh"), name="human")
    found = outliers(z)
    assert isinstance(found, pd.Series)
    assert found[found].index.tolist() == ["g"]
    assert z.tolist() == Z.tolist()


def test_a_mad_of_zero_has_no_outliers_and_says_so():
    with pytest.warns(LLBTWarning, match="median absolute deviation is 0"):
        assert not outliers([1.0, 1.0, 1.0, 5.0]).any()
    found = correlate([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 5.0], outliers="drop")
    assert found.left_out == ()
    assert "median absolute deviation is 0" in found.notes[0]
    assert found.estimate == pytest.approx(np.corrcoef([1, 2, 3, 4], [1, 1, 1, 5])[0, 1])


@pytest.mark.parametrize("z", [[], [1.0]])
def test_too_few_scores_have_no_outliers(z):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert outliers(z).tolist() == [False] * len(z)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_correlations_with_and_without_outliers_are_scipys(coefficient):
    every = correlate(X, Z, coefficient=coefficient)
    found = correlate(X, Z, coefficient=coefficient, outliers="drop")
    kept = np.arange(8) != 6
    assert every.estimate == pytest.approx(SCIPY[coefficient](X, Z), rel=1e-12)
    assert found.estimate == pytest.approx(SCIPY[coefficient](X[kept], Z[kept]), rel=1e-12)
    assert (every.n, every.left_out, found.n, found.left_out) == (8, (), 7, (6,))
    assert "outliers left out: 6" in found.as_text()
    assert correlate(X, Z, outliers="drop", cutoff=1e9).notes == ("no outliers",)


def test_outliers_are_those_of_mean_scores():
    """Matrices with scores missing, and a system that has none: against the means by hand."""
    rng = np.random.default_rng(3)
    z = Z[:, None] + rng.normal(0, 0.01, size=(8, 5))
    x = X[:, None] + rng.normal(size=(8, 5))
    z[0, 2], z[3] = np.nan, np.nan
    found = correlate(pd.DataFrame(x, index=list("abcdefgh")), z, outliers="drop")
    assert (found.left_out, found.n) == (("g",), 6)
    rest = [0, 1, 2, 4, 5, 7]
    expected = np.corrcoef(x[rest].mean(axis=1), np.nanmean(z[rest], axis=1))[0, 1]
    assert found.estimate == pytest.approx(expected, rel=1e-12)


def test_series_are_matched_by_label():
    metric, human = pd.Series(X, index=list("abcdefgh")), pd.Series(Z, index=list("abcdefgh"))
    shuffled = human.sample(frac=1, random_state=1)
    assert shuffled.index.tolist() != metric.index.tolist()
    found = subset_correlations(metric, shuffled, sizes=8)
    assert found.estimate[0] == pytest.approx(np.corrcoef(X, Z)[0, 1], rel=1e-12)


# -- correlations of rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_rows_correlate_as_in_scipy(coefficient, ties):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 50, 6))
    if ties:
        x, y = np.round(x), np.round(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [SCIPY[coefficient](a, b) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(plain_correlations(x, y, coefficient), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_scale_of_scores_does_not_matter(scale):
    assert plain_correlations(scale * X[None], Z[None], "pearson")[0] == pytest.approx(
        np.corrcoef(X, Z)[0, 1], rel=1e-10
    )


# -- subsets -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_top_correlations_are_a_loop_over_the_best(coefficient):
    found = subset_correlations(X, Z, coefficient=coefficient)
    assert found.n.tolist() == [8, 7, 6, 5, 4]
    assert found.first.tolist() == [1] * 5
    ranked = sorted(range(8), key=lambda k: -Z[k])
    expected = [SCIPY[coefficient](X[ranked[:n]], Z[ranked[:n]]) for n in found.n]
    np.testing.assert_allclose(found.estimate, expected, rtol=1e-12)
    assert found.to_frame().columns.tolist() == ["first", "n", "estimate"]


@pytest.mark.parametrize("window", [3, 4, 8])
def test_rolling_correlations_are_a_loop_over_neighbours(window):
    found = subset_correlations(X, Z, subsets="rolling", sizes=window, coefficient="kendall")
    ranked = sorted(range(8), key=lambda k: -Z[k])
    windows = [ranked[k : k + window] for k in range(8 - window + 1)]
    assert found.first.tolist() == list(range(1, 10 - window))
    assert set(found.n.tolist()) == {window}
    np.testing.assert_allclose(found.estimate, [SCIPY["kendall"](X[w], Z[w]) for w in windows], rtol=1e-12)


def test_sampled_correlations_have_the_distribution_over_all_subsets():
    """Quantiles of 4,000 draws against full enumeration of the 56 sets of 5 of 8 systems."""
    found = subset_correlations(X, Z, subsets="sampled", sizes=[5], n=4000, confidence=0.5, rng=1)
    every = [np.corrcoef(X[list(s)], Z[list(s)])[0, 1] for s in itertools.combinations(range(8), 5)]
    drawn = found.replicates[0]
    assert {round(r, 9) for r in drawn} == {round(r, 9) for r in every}
    assert drawn.mean() == pytest.approx(np.mean(every), abs=4 * np.std(every) / math.sqrt(4000))
    assert found.estimate[0] == pytest.approx(np.median(drawn))
    np.testing.assert_allclose(found.conf_int()[0], np.quantile(drawn, [0.25, 0.75]))
    assert found.to_frame()["draws"].tolist() == [4000]


def test_samples_of_all_systems_are_the_correlation_of_all():
    found = subset_correlations(X, Z, subsets="sampled", n=40, rng=1)
    assert found.n.tolist() == [8, 7, 6, 5, 4]
    np.testing.assert_allclose(found.replicates[0], np.corrcoef(X, Z)[0, 1], rtol=1e-12)
    assert np.ptp(found.replicates[1]) > 0.01


@pytest.mark.slow
def test_the_best_systems_fall_below_random_ones_though_the_metric_sees_them_as_well():
    """The share that the docstring names; the best window is the lowest about as often as any other."""
    rng, below, lowest = np.random.default_rng(1), [], []
    for _ in range(300):
        human = rng.normal(size=15)
        metric = human + rng.normal(0, 1.2, size=15)
        random_sets = subset_correlations(metric, human, subsets="sampled", sizes=[6], n=400, rng=rng)
        best = subset_correlations(metric, human, sizes=[6]).estimate[0]
        below.append(best < random_sets.conf_int()[0, 0])
        windows = subset_correlations(metric, human, subsets="rolling", sizes=6).estimate
        assert windows[0] == pytest.approx(best)
        lowest.append(windows.argmin() == 0)
    assert 0.14 < np.mean(below) < 0.28  # standard error 0.024
    assert 0.05 < np.mean(lowest) < 0.20  # ten windows; 0.018


def test_samples_follow_the_generator():
    drawn = [
        subset_correlations(X, Z, subsets="sampled", n=20, rng=rng).replicates
        for rng in (1, np.random.default_rng(1), 2)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()


def test_undefined_subsets_are_nan_counted_and_noted():
    metric = [5.0, 5.0, 5.0, 4.0, 3.0]
    human = [5.0, 4.0, 3.0, 2.0, 1.0]
    top = subset_correlations(metric, human, sizes=[3, 5])
    assert np.isnan(top.estimate).tolist() == [True, False]
    assert top.notes == ("best 3: all metric scores are equal, so the correlation is NaN",)
    sampled = subset_correlations(metric, human, subsets="sampled", sizes=[3], n=500, rng=1)
    lost = 500 - sampled.defined[0]
    assert 20 < lost < 80  # one of ten sets
    assert sampled.notes == (f"{lost} sets of 3 systems with equal scores: no correlation",)
    assert sampled.conf_int().tolist() == [[-math.inf, math.inf]]  # more than the tails hold


def test_windows_of_several_sizes_are_those_of_each():
    both = subset_correlations(X, Z, subsets="rolling", sizes=[4, 6])
    each = [subset_correlations(X, Z, subsets="rolling", sizes=size).to_frame() for size in (4, 6)]
    pd.testing.assert_frame_equal(both.to_frame(), pd.concat(each, ignore_index=True))


def test_ties_in_human_scores_that_decide_are_noted():
    human = [3.0, 2.0, 2.0, 2.0, 1.0, 0.0]
    assert subset_correlations(X[:6], human, sizes=[6, 4]).notes == ()
    assert "tie at the cut of the best 3" in subset_correlations(X[:6], human, sizes=[6, 3]).notes[0]
    assert "some human scores tie" in subset_correlations(X[:6], human, subsets="rolling").notes[0]


BAD = [
    (lambda: outliers([1.0, math.nan, 2.0]), JudgmentError, "outliers: z= has 1 values that are not finite (first nan"),
    (lambda: outliers([1.0, math.inf]), JudgmentError, "first inf at row 1"),
    (lambda: outliers(["a", "b"]), JudgmentError, "expected numbers: one number per system"),
    (lambda: outliers([[1.0, 2.0]]), JudgmentError, "z= is shape (1, 2)"),
    (lambda: outliers([1j, 2]), JudgmentError, "expected numbers"),
    (lambda: outliers([1.0, 2.0], 0), OptionError, "cutoff=0; expected a finite number, above 0"),
    (lambda: outliers([1.0, 2.0], math.nan), OptionError, "cutoff=nan"),
    (lambda: outliers([1.0, 2.0], True), OptionError, "cutoff=True"),
    (lambda: subset_correlations([1, 2], [1, 2, 3]), JudgmentError, "2 metric scores and 3 human scores"),
    (lambda: subset_correlations([1, math.nan, 3], [1, 2, 3]), JudgmentError, "metric= has 1 values"),
    (lambda: subset_correlations(X, Z, coefficient="tau"), OptionError, "coefficient='tau'; expected"),
    (
        lambda: subset_correlations(pd.Series(X), pd.Series(Z, index=range(1, 9))),
        JudgmentError,
        "2 systems have a score in one of metric= and human= only: 0, 8",
    ),
    (
        lambda: subset_correlations(pd.Series([1.0, 2, 3], list("aab")), pd.Series([1.0, 2, 3], list("abc"))),
        JudgmentError,
        "the labels of metric= are not distinct: 'a'",
    ),
    (lambda: correlate(X, Z, outliers="leave"), OptionError, "outliers='leave'"),
    (lambda: correlate(X, Z, outliers="drop", cutoff=-1), OptionError, "correlate: cutoff=-1"),
    (lambda: correlate([X, X], [Z, Z], level="input", outliers="drop"), OptionError, "expected level='system'"),
    (
        lambda: subset_correlations([1, 2], [1, 2]),
        JudgmentError,
        "subset_correlations: 2 systems; expected at least 3 for correlations",
    ),
    (
        lambda: subset_correlations(X, Z, sizes=[2]),
        OptionError,
        "sizes=[2]; expected whole numbers of systems, from 3 to 8",
    ),
    (lambda: subset_correlations(X, Z, sizes=[9]), OptionError, "sizes=[9]"),
    (lambda: subset_correlations(X, Z, sizes=[]), OptionError, "sizes=[]"),
    (
        lambda: subset_correlations(X, Z, subsets="rolling", sizes=9),
        OptionError,
        "subset_correlations: sizes=9; expected",
    ),
    (lambda: subset_correlations(X, Z, subsets="rolling", sizes=4.0), OptionError, "sizes=4.0"),
    (lambda: subset_correlations(X, Z, subsets="sampled", n=0), OptionError, "subset_correlations: n=0"),
    (lambda: subset_correlations(X, Z, subsets="sampled", confidence=95), OptionError, "confidence=95"),
    (lambda: subset_correlations(X, Z, subsets="sampled", rng=-1), OptionError, "rng=-1; expected"),
]


@pytest.mark.parametrize(("call", "error", "fragment"), BAD, ids=[f"{k:02}" for k in range(len(BAD))])
def test_bad_input(call, error, fragment):
    with pytest.raises(error) as caught:
        call()
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    "record",
    [
        correlate(X, Z, outliers="drop"),
        subset_correlations(X, Z),
        subset_correlations(X, Z, subsets="sampled", n=5, rng=1),
    ],
    ids=lambda record: type(record).__name__,
)
def test_records_survive_pickling_and_print(record):
    again = pickle.loads(pickle.dumps(record))
    pd.testing.assert_frame_equal(again.to_frame(), record.to_frame())
    assert again.as_text() == record.as_text() == repr(record)


# -- the picture -------------------------------------------------------------------------------------------------


def test_the_picture_has_a_line_per_metric_with_the_fewest_systems_at_the_right():
    one, other = subset_correlations(X, Z), subset_correlations(-X, Z)
    ax = llbt.plot.subset_correlations({"one": one, "other": other})
    lines = {line.get_label(): line for line in ax.lines if line.get_label() in ("one", "other")}
    for name, found in (("one", one), ("other", other)):
        order = np.argsort(found.n)
        np.testing.assert_allclose(lines[name].get_xydata(), np.column_stack([found.n[order], found.estimate[order]]))
    left, right = ax.get_xlim()
    assert left > right
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "other"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Best systems taken", "Pearson's r")


def test_rolling_sets_stand_over_their_best_rank():
    found = subset_correlations(X, Z, coefficient="spearman", subsets="rolling")
    _, (other, mine) = plt.subplots(1, 2)
    ax = llbt.plot.subset_correlations(found, ax=mine)
    assert ax is mine
    assert not other.lines
    np.testing.assert_allclose(ax.lines[1].get_xydata(), np.column_stack([found.first, found.estimate]))
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_legend()) == ("Rank of the best system", "Spearman's ρ", None)
    assert ax.get_xlim()[0] < ax.get_xlim()[1]


def test_random_systems_have_a_band():
    found = subset_correlations(X, Z, subsets="sampled", n=50, rng=1)
    ax = llbt.plot.subset_correlations({"best": subset_correlations(X, Z), "random": found})
    (band,) = ax.collections
    points = band.get_paths()[0].vertices
    for n, (low, high) in zip(found.n, found.conf_int(), strict=True):
        there = points[points[:, 0] == n, 1]
        assert (there.min(), there.max()) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("given", "fragment"),
    [
        ([1, 2], "expected what llbt.metrics.subset_correlations"),
        ({}, "expected what llbt.metrics.subset_correlations"),
        ({"a": subset_correlations(X, Z), "b": 3}, "expected what llbt.metrics.subset_correlations"),
        (
            {"a": subset_correlations(X, Z), "b": subset_correlations(X, Z, subsets="rolling")},
            "one plot cannot show rolling and other subsets",
        ),
        (
            {"a": subset_correlations(X, Z), "b": subset_correlations(X, Z, coefficient="kendall")},
            "several coefficients",
        ),
    ],
    ids=["list", "empty", "number", "mixed", "coefficients"],
)
def test_the_picture_refuses_what_it_cannot_draw(given, fragment):
    with pytest.raises(llbt.LLBTError, match=fragment):
        llbt.plot.subset_correlations(given)


# -- figures of WMT19 --------------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize(
    ("pair", "metric", "every", "without"),
    [
        ("enkk", "sacreBLEU-BLEU", 0.851575, 0.575650),
        ("ende", "YiSi-2", 0.923919, -0.014332),
        ("enru", "YiSi-2", -0.766430, 0.133882),
    ],
)
def test_outliers_of_wmt19_make_correlations(shared, pair, metric, every, without):
    """Mathur, Baldwin & Cohn (2020), table of correlations with and without outliers."""
    path = shared / "data" / "wmt19_sys_scores" / f"DA-newstest2019-{pair}-sys-nohy-scores.csv"
    frame = pd.read_csv(path, sep=" ")
    assert correlate(frame[metric], frame["HUMAN"]).estimate == pytest.approx(every, abs=5e-7)
    found = correlate(frame[metric], frame["HUMAN"], outliers="drop")
    assert found.estimate == pytest.approx(without, abs=5e-7)
    far = outliers(frame["HUMAN"])
    kept = frame[~far]
    assert found.estimate == pytest.approx(stats.pearsonr(kept[metric], kept["HUMAN"]).statistic, rel=1e-10)
