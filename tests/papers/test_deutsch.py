"""Every figure of Deutsch, Dror & Roth (2021) that can be computed, against what the paper prints."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.paper_pages import held_by, rows_of, to_hold

from llbt.metrics import MetricScores, compare_all, correlate, coverage, interval, williams

ROWS = rows_of("deutsch-2021")
# Table 2, SummEval: percent of inputs whose test rejects, p at system level
TABLE_2 = {
    "human": (32, 0.52),
    "AutoSummENG": (33, 0.01),
    "MeMoG": (33, 0.01),
    "NPowER": (33, 0.01),
    "bertscore_recall": (26, 0.15),
    "BEwTE_f1": (37, 0.00),
    "METEOR": (27, 0.00),
    "MoverScore": (35, 0.00),
    "qa-eval_f1": (40, 0.01),
    "rouge-1_f1": (32, 0.00),
    "rouge-2_f1": (34, 0.00),
    "rouge-l_f1": (26, 0.13),
    "rouge-su4_f1": (32, 0.00),
    "s3_resp": (26, 0.00),
}
METRICS = [name for name in TABLE_2 if name != "human"]
BEST = ["qa-eval_f1", "bertscore_recall"]
WMT19 = [
    *("BEER", "BERTr", "BLEU", "CDER", "CharacTER", "chrF", "chrF+", "EED", "ESIM", "Meteor++_2.0(syntax)"),
    *("Meteor++_2.0(syntax+copy)", "NIST", "PER", "PReP", "sacreBLEU-BLEU", "sacreBLEU-chrF", "TER", "WER", "WMDO"),
    *("YiSi-0", "YiSi-1", "YiSi-1_srl"),
]


@pytest.fixture(scope="module")
def scores(shared: Path) -> MetricScores:
    path = shared / "data" / "deutsch_fabbri2020.csv.gz"
    return MetricScores.from_frame(path, METRICS, human="expert_relevance", input="instance")


def test_every_row_is_held() -> None:
    assert held_by(__file__) == to_hold(ROWS)


def test_fishers_constants() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=20)
    z = x + rng.normal(size=20)
    constants = 0
    for coefficient, lost in (("pearson", 3), ("spearman", 3), ("kendall", 4)):
        r = correlate(x, z, coefficient=coefficient).estimate
        spread = {"pearson": 1, "spearman": math.sqrt(1 + r**2 / 2), "kendall": math.sqrt(0.437)}[coefficient]
        half = stats.norm.isf(0.025) * spread / math.sqrt(20 - lost)
        found = interval(x, z, method="fisher", coefficient=coefficient)
        expected = np.tanh(np.arctanh(r) + np.array([-half, half]))
        assert (found.conf_low, found.conf_high) == pytest.approx(tuple(expected), rel=1e-12)
        constants += 2
    assert constants == ROWS["Section 3.1, Fisher's constants"].numbers


@pytest.mark.shared
def test_sizes_and_correlations(scores: MetricScores) -> None:
    assert (len(scores.systems), len(scores.inputs)) == (16, 100)
    assert ROWS["Section 5, SummEval"].numbers == 2
    x, z = scores.matrix("rouge-1_f1"), scores.human_matrix()
    found = [round(correlate(x, z, level=level).estimate, 1) for level in ("system", "input")]
    assert found == [0.6, 0.3]
    assert len(found) == ROWS["Section 5.2, ROUGE-1"].numbers


@pytest.mark.shared
def test_normality(scores: MetricScores) -> None:
    p = scores.normality().to_frame().set_index("metric")["p_value"]
    assert p.round(2).to_dict() == {name: value for name, (_, value) in TABLE_2.items()}
    assert len(p) == ROWS["Table 2, SummEval, systems"].numbers
    rejected = dict.fromkeys(TABLE_2, 0)
    for k in range(len(scores.inputs)):
        columns = {name: scores.values[j][:, k] for j, name in enumerate(scores.metrics)}
        one = MetricScores.from_matrices(columns, scores.human[:, k]).normality().to_frame()
        for name in one.loc[one["p_value"] <= 0.05, "metric"]:
            rejected[name] += 1
    assert rejected == {name: percent for name, (percent, _) in TABLE_2.items()}
    assert len(rejected) == ROWS["Table 2, SummEval, inputs"].numbers


@pytest.mark.slow
@pytest.mark.shared
def test_coverage(scores: MetricScores) -> None:
    """1,000 halves; 200 resamples in place of 1,000 change little. Standard error of either simulation: up to .015."""
    published = {"system": [0.87, 0.81, 0.70, 0.98], "input": [1.00, 0.73, 0.73, 0.93]}
    x, z = scores.matrix("qa-eval_f1"), scores.human_matrix()
    for level, expected in published.items():
        found = coverage(x, z, level=level, n=200, n_trials=1000, rng=3)
        assert found.methods == ("fisher", "boot-systems", "boot-inputs", "boot-both")
        np.testing.assert_allclose(found.estimate, expected, atol=0.03)
    assert sum(map(len, published.values())) == ROWS["Table 1, SummEval"].numbers


@pytest.mark.shared
def test_interval_of_rouge_2(scores: MetricScores) -> None:
    found = interval(scores.matrix("rouge-2_f1"), scores.human_matrix(), coefficient="kendall", rng=1)
    ends = (found.conf_low, found.conf_high)
    assert ends == pytest.approx((-0.09, 0.84), abs=0.05)
    wrong = tuple((1 - end) / 2 for end in reversed(ends))
    assert wrong == pytest.approx((0.09, 0.54), abs=0.025)
    assert len(ends + wrong) == ROWS["Figure 4, ROUGE-2, SummEval"].numbers


def wins(found, **options) -> dict[str, int]:
    """Return how many metrics each metric beats."""
    return dict(zip(METRICS, found.better(**options).sum(axis=1).tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.shared
def test_tests_at_system_level(scores: MetricScores) -> None:
    found = compare_all(scores, method="perm-both", n=8000, rng=1)
    by_row = found.adjusted("bonferroni")
    assert wins(by_row) == {name: 11 * (name in BEST) for name in METRICS}
    first, second = (METRICS.index(name) for name in BEST)
    assert not by_row.better()[first, second]
    assert not by_row.better()[second, first]
    assert ROWS["Figure 5, SummEval, systems"].numbers == 3
    over_table = found.adjusted("bonferroni", family="table").better().sum()
    assert 19 <= over_table <= by_row.better().sum() == 22
    assert ROWS["Figure 6, SummEval, systems"].numbers == 1
    for coefficient in ("spearman", "kendall"):
        ranks = compare_all(scores, method="perm-both", coefficient=coefficient, n=1000, rng=1).adjusted("bonferroni")
        assert (ranks.better() == by_row.better()).mean() > 0.8
        assert set(sorted(METRICS, key=wins(ranks).__getitem__)[-2:]) == set(BEST)
    assert ROWS["Section 6.2, Spearman and Kendall"].numbers == 1


@pytest.mark.slow
@pytest.mark.shared
def test_the_default_number_of_draws_is_enough_for_figure_6(scores: MetricScores) -> None:
    """Bonferroni over all 156 tests: none can be significant with 1,000 swaps, 20 are with 20,000."""
    few = compare_all(scores, method="perm-both", n=1000, rng=1).adjusted("bonferroni", family="table")
    assert few.better().sum() == 0
    found = compare_all(scores, method="perm-both", adjust="bonferroni", family="table", rng=1)
    assert found.n == 120 * 156
    assert 19 <= found.better().sum() <= 22


@pytest.mark.slow
@pytest.mark.shared
def test_tests_at_summary_level(scores: MetricScores) -> None:
    found = compare_all(scores, method="perm-both", level="input", n=1000, rng=1)
    assert wins(found, adjusted=False)["bertscore_recall"] == 12
    by_row = found.adjusted("bonferroni")
    assert wins(by_row)["bertscore_recall"] >= 10
    assert ROWS["Figure 5, SummEval, summaries"].numbers == 1
    shares = (found.p_value * 1001 - 1) / 1000  # the paper's p-value, which can be 0
    assert 15 <= (shares <= 0.05 / 156).sum() <= 25
    assert 30 <= by_row.better().sum() <= 42
    assert ROWS["Figure 6, SummEval, summaries"].numbers == 1


@pytest.mark.shared
def test_williams_test_on_wmt19(shared: Path) -> None:
    """The metrics that compare with a reference, and of these the 22 that the shared task lists."""
    frame = pd.read_csv(shared / "data" / "wmt19_sys_scores" / "DA-newstest2019-deen-sys-nohy-scores.csv", sep=" ")
    names = [name for name in WMT19 if name in frame]
    wmt19 = MetricScores.from_frame(frame, names, human="HUMAN", system="SYSTEM", input=None)
    r = np.corrcoef(np.vstack([wmt19.values[:, :, 0], wmt19.human[:, 0]]))
    better = compare_all(wmt19, method="williams").adjusted(None).p_value < 0.05
    lower = [
        min(
            williams(r[i, -1] - 0.3, r[j, -1] - 0.3, r[i, j], len(frame), alternative=side).p_value
            for side in ("greater", "less")
        )
        for i, j in itertools.combinations(range(len(names)), 2)
    ]
    found = (len(lower), round(np.abs(r[:-1, -1]).mean(), 1), (better | better.T).sum() // 2, sum(np.less(lower, 0.05)))
    assert found == (231, 0.9, 81, 3)
    assert len(found) == ROWS["Section 5.2, WMT19 German–English"].numbers
