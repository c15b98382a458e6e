"""All pairs of metrics: the tests one by one, adjusted p-values, the picture, published findings."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from support.three_metrics import X, Z, three

import llbt
from llbt.metrics.metric_scores import MetricScores
from llbt.resampling import Resampler

FABBRI = [
    "rouge-1_f1",
    "rouge-2_f1",
    "rouge-l_f1",
    "rouge-su4_f1",
    "BEwTE_f1",
    "qa-eval_f1",
    "AutoSummENG",
    "MeMoG",
    "NPowER",
    "bertscore_recall",
    "METEOR",
    "MoverScore",
    "s3_resp",
]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_all_pairs_are_the_tests_one_by_one(many):
    found = llbt.metrics.compare_all(many, n=2000, rng=1)
    for i, j in itertools.permutations(range(4), 2):
        x, y = many.values[[i, j]]
        one = llbt.metrics.compare(x, y, many.human, alternative="greater", n=2000, rng=2)
        assert found.difference[i, j] == pytest.approx(one.difference)
        assert abs(found.p_value[i, j] - one.p_value) < 0.06
    assert np.isnan(found.p_value.diagonal()).all()


@pytest.mark.parametrize(
    ("adjust", "by", "expected"),
    [
        (None, "row", [0.01, 0.02, 0.04]),
        ("bonferroni", "row", [0.03, 0.06, 0.12]),
        ("bonferroni", "table", [0.12, 0.24, 0.48]),
        ("holm", "row", [0.03, 0.04, 0.04]),
        ("fdr_bh", "row", [0.03, 0.03, 0.04]),
    ],
)
def test_p_values_are_adjusted_over_rows_or_the_table(adjust, by, expected):
    from llbt.metrics.compare_all import _adjusted

    p = np.full((4, 4), 0.9)
    np.fill_diagonal(p, np.nan)
    p[0, 1:] = [0.01, 0.02, 0.04]
    found = _adjusted(p, adjust, by)
    assert found[0, 1:] == pytest.approx(expected)
    assert np.isnan(found.diagonal()).all()


@pytest.mark.slow
def test_another_adjustment_is_of_the_same_tests_and_draws_nothing(many, monkeypatch):
    found = llbt.metrics.compare_all(many, n=50, rng=1)
    drawn = []
    monkeypatch.setattr(Resampler, "each", lambda *_: drawn.append(1))
    monkeypatch.setattr(np.random, "default_rng", lambda *_: drawn.append(1))
    whole = found.adjusted("bonferroni", family="table")
    assert not drawn
    np.testing.assert_array_equal(whole.p_value, found.p_value)
    np.testing.assert_allclose(whole.p_adjusted, np.minimum(12 * found.p_value, 1))
    assert "adjusted (bonferroni) over all pairs" in whole.as_text()
    for again in (whole.adjusted("holm"), found.adjusted("holm", family="row")):
        assert again.as_text() == found.as_text()
    for i, row in enumerate(found.p_value):  # Holm by statsmodels, as a second route
        off = np.arange(4) != i
        np.testing.assert_allclose(found.p_adjusted[i, off], multipletests(row[off], method="holm")[1])


def test_williams_tests_of_all_pairs_are_two_directions_of_one(many):
    found = llbt.metrics.compare_all(many, method="williams").adjusted(None)
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose((found.p_value + found.p_value.T)[off], 1)
    assert len(found.to_frame()) == 12


def test_pairs_without_a_test_are_counted():
    x, y, z = three(shape=(8, 1))
    found = llbt.metrics.compare_all(MetricScores.from_matrices({"a": x, "b": 2 * x, "c": y}, z), method="williams")
    assert "1 pair without a test" in found.as_text()


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda s: llbt.metrics.compare_all(s.values), "scores is of type ndarray; expected MetricScores"),
        (lambda s: llbt.metrics.compare_all(s, n=10).adjusted("fdr"), "adjust='fdr'"),
        (lambda s: llbt.metrics.compare_all(s, n=10).adjusted("holm", family="column"), "family='column'"),
        (
            lambda s: llbt.metrics.compare_all(MetricScores.from_matrices({"a": X}, Z)),
            "1 metric; expected at least two",
        ),
        (lambda s: llbt.plot.significance(s), "comparisons is of type MetricScores; expected MetricComparisons"),
        (lambda s: llbt.plot.significance(llbt.metrics.compare_all(s, n=10), alpha=2), "alpha=2"),
    ],
)
def test_all_pairs_refuse_what_they_cannot_compare(many, call, fragment):
    with pytest.raises(llbt.errors.OptionError, match=fragment):
        call(many)


def test_the_picture_shades_what_is_significant(many):
    found = llbt.metrics.compare_all(many, n=500, rng=1).adjusted("bonferroni")
    ax = llbt.plot.significance(found)
    shades = ax.images[0].get_array()
    np.testing.assert_array_equal(shades >= 1, found.better(adjusted=False))
    np.testing.assert_array_equal(shades == 2, found.better())
    dots = next(line for line in ax.lines if line.get_label() == "_better")
    assert set(zip(dots.get_ydata(), dots.get_xdata(), strict=True)) == set(
        zip(*np.nonzero(found.better()), strict=True)
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == list(many.metrics)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "row better than column, p ≤ 0.05",
        "and after Bonferroni by row",
    ]


@pytest.mark.shared
def test_qaeval_and_bertscore_beat_the_eleven_others(shared):
    """Figure 5, system level, Pearson's r, Bonferroni by row; with the rank coefficients other metrics win too."""
    path = shared / "data" / "deutsch_fabbri2020.csv.gz"
    many = MetricScores.from_frame(path, FABBRI, human="expert_relevance", input="instance")
    found = llbt.metrics.compare_all(many, n=1000, rng=1).adjusted("bonferroni")
    wins = dict(zip(FABBRI, found.better().sum(axis=1), strict=True))
    assert {name: count for name, count in wins.items() if count} == {"qa-eval_f1": 11, "bertscore_recall": 11}
