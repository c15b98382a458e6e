"""Williams' test against Steiger's formula, its size, and the correlations of WMT19."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.three_metrics import three

import llbt
from llbt.metrics.metric_scores import MetricScores

WMT = [
    "BEER",
    "BERTr",
    "BLEU",
    "CDER",
    "CharacTER",
    "chrF",
    "chrF+",
    "EED",
    "ESIM",
    "Meteor++_2.0(syntax)",
    "Meteor++_2.0(syntax+copy)",
    "NIST",
    "PER",
    "PReP",
    "sacreBLEU-BLEU",
    "sacreBLEU-chrF",
    "TER",
    "WER",
    "WMDO",
    "YiSi-0",
    "YiSi-1",
    "YiSi-1_srl",
]


def test_williams_t_is_steiger_s_formula():
    """The determinant by numpy, and the formula as (2) in Steiger (1980)."""
    r_x, r_y, r_xy, n = 0.75, 0.6, 0.45, 24
    matrix = np.array([[1, r_x, r_y], [r_x, 1, r_xy], [r_y, r_xy, 1]])
    mean = (r_x + r_y) / 2
    top = (n - 1) * (1 + r_xy)
    expected = (r_x - r_y) * math.sqrt(
        top / (2 * (n - 1) / (n - 3) * np.linalg.det(matrix) + mean**2 * (1 - r_xy) ** 3)
    )
    found = llbt.metrics.williams(r_x, r_y, r_xy, n)
    assert (found.statistic, found.df, found.p_value) == pytest.approx((expected, 21, 2 * stats.t.sf(expected, 21)))


def test_williams_test_of_scores_takes_their_correlations():
    x, y, z = three(shape=(12, 4))
    means = [side.mean(axis=1) for side in (x, y, z)]
    r = np.corrcoef(means)
    found = llbt.metrics.compare(x, y, z, method="williams", alternative="greater")
    by_hand = llbt.metrics.williams(r[0, 2], r[1, 2], r[0, 1], 12, alternative="greater")
    assert (found.statistic, found.df, found.p_value) == pytest.approx((by_hand.statistic, by_hand.df, by_hand.p_value))


@pytest.mark.parametrize(
    ("given", "fragment"),
    [(("a", 0.5, 0.3, 20), "r_x='a'"), ((0.5, 1.5, 0.3, 20), "r_y=1.5"), ((0.5, 0.5, 0.3, 20.5), "n=20.5")],
)
def test_williams_test_refuses_what_is_no_correlation(given, fragment):
    with pytest.raises(llbt.errors.OptionError, match=fragment):
        llbt.metrics.williams(*given)


def test_the_size_of_williams_test():
    rng = np.random.default_rng(7)
    z = rng.normal(size=(1500, 16))
    x, y = (z + rng.normal(size=z.shape) for _ in range(2))
    p = []
    for rows in zip(x, y, z, strict=True):
        r = np.corrcoef(rows)
        p.append(llbt.metrics.williams(r[0, 2], r[1, 2], r[0, 1], 16).p_value)
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 1500)


@pytest.mark.parametrize("x", [[1.0, 2, 3], [1.0, 3, 2, 5, 4]])
def test_williams_test_is_undefined_for_three_systems_and_for_one_metric_twice(x):
    x = np.array(x)
    z = np.arange(len(x)) ** 2.0
    found = llbt.metrics.compare(x, 2 * x, z, method="williams")
    assert math.isnan(found.p_value)
    assert "Williams' test is undefined" in found.as_text()


@pytest.fixture(scope="module")
def wmt(shared):
    path = shared / "data" / "wmt19_sys_scores" / "DA-newstest2019-deen-sys-nohy-scores.csv"
    return MetricScores.from_frame(pd.read_csv(path, sep=" "), WMT, human="HUMAN", system="SYSTEM", input=None)


@pytest.mark.shared
def test_williams_test_over_the_metrics_of_wmt19(wmt):
    """81 of 231 pairs of German to English differ, one-tailed at .05 in either direction."""
    found = llbt.metrics.compare_all(wmt, method="williams").adjusted(None)
    better = found.p_value < 0.05
    assert (better | better.T).sum() // 2 == 81


@pytest.mark.shared
def test_williams_test_with_correlations_as_low_as_in_summarization(wmt):
    """3 of 231 pairs are left where both correlations with humans are .3 lower, that of the metrics as it is."""
    r = np.corrcoef(np.vstack([wmt.values[:, :, 0], wmt.human[:, 0]]))
    pairs = [
        min(
            llbt.metrics.williams(r[i, -1] - 0.3, r[j, -1] - 0.3, r[i, j], 16, alternative=side).p_value
            for side in ("greater", "less")
        )
        for i, j in itertools.combinations(range(22), 2)
    ]
    assert (len(pairs), sum(p < 0.05 for p in pairs)) == (231, 3)
