"""All pairs of metrics: the tests one by one, adjusted p-values, the picture, published findings."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from support.calls import fitted
from support.in_full import in_full
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
    legend = llbt.plot.significance(found).get_legend()
    assert legend.get_texts()[-1].get_text() == "no test"


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
        (lambda s: llbt.plot.significance(fitted()), r"for a fit, llbt\.plot\.intervals"),
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
@pytest.mark.slow
def test_qaeval_and_bertscore_beat_the_eleven_others(shared):
    """Figure 5, system level, Pearson's r, cells swapped, Bonferroni by row; rank coefficients let others win too."""
    path = shared / "data" / "deutsch_fabbri2020.csv.gz"
    many = MetricScores.from_frame(path, FABBRI, human="expert_relevance", input="instance")
    found = llbt.metrics.compare_all(many, method="perm-both", n=1000, rng=1).adjusted("bonferroni")
    wins = dict(zip(FABBRI, found.better().sum(axis=1), strict=True))
    assert {name: count for name, count in wins.items() if count} == {"qa-eval_f1": 11, "bertscore_recall": 11}


# -- accuracies, tasks and clusters ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts():
    """Two tasks with other systems and inputs, whose metrics are in a different order."""
    rng = np.random.default_rng(2)
    found = {}
    for task, shape in (("en-de", (8, 20)), ("en-es", (10, 15))):
        human = rng.normal(size=(shape[0], 1)) + rng.normal(size=shape)
        metrics = {f"sd {sd}": human + sd * rng.normal(size=shape) for sd in (0.3, 2, 8)}
        names = list(metrics) if task == "en-de" else list(metrics)[::-1]
        found[task] = MetricScores.from_matrices({name: metrics[name] for name in names}, human)
    return found


@pytest.mark.parametrize(
    ("statistic", "method"),
    [
        ("correlation", "perm-both"),
        ("pairwise_accuracy", "perm-systems"),
        ("soft_pairwise_accuracy", "perm-both"),
        ("tie_calibrated_accuracy", "perm-pairs"),
    ],
)
def test_all_pairs_over_tasks_are_the_tests_one_by_one(parts, statistic, method):
    found = llbt.metrics.compare_all(parts, statistic=statistic, method=method, n=400, draws=99, rng=1)
    assert found.tasks == ("en-de", "en-es")
    assert found.metrics == ("sd 0.3", "sd 2", "sd 8")
    np.testing.assert_allclose(found.estimate, found.task_estimate.mean(axis=0))
    human = {task: one.human for task, one in parts.items()}
    for i, j in itertools.permutations(range(3), 2):
        x, y = ({task: one.matrix(found.metrics[k]).to_numpy() for task, one in parts.items()} for k in (i, j))
        one = llbt.metrics.compare(
            x, y, human, statistic=statistic, method=method, alternative="greater", n=400, draws=99, rng=2
        )
        near = 0.1 if statistic == "soft_pairwise_accuracy" else 1e-9
        assert found.difference[i, j] == pytest.approx(one.difference, abs=near)
        assert found.difference[i, j] == pytest.approx(found.estimate[i] - found.estimate[j])
        assert abs(found.p_value[i, j] - one.p_value) < 0.13
        of_tasks = one.by_task().to_frame()["p_value"]
        np.testing.assert_allclose(found.task_p_value[:, i, j], of_tasks, atol=0.13)


def test_tasks_of_inputs_are_a_mapping_or_a_column(many):
    labels = ["a" if k % 3 else "b" for k in range(30)]
    given = {"statistic": "pairwise_accuracy", "n": 50, "rng": 1}
    one = llbt.metrics.compare_all(many, tasks=labels, **given)
    other = llbt.metrics.compare_all(many, tasks=dict(enumerate(labels)), **given)
    np.testing.assert_array_equal(one.p_value, other.p_value)
    assert one.tasks == other.tasks == ("b", "a")
    with pytest.raises(llbt.errors.OptionError, match="no task of 29 inputs: 1, 2"):
        llbt.metrics.compare_all(many, tasks={0: "a"}, n=5)


def test_clusters_end_where_one_of_them_is_better():
    """As in WMT24: C is beaten by A of its cluster, D by nobody of the cluster that C begins, E by D of it."""
    from llbt.metrics.compare_all import clustered

    better = np.zeros((6, 6), dtype=bool)
    better[0, [2, 3]] = True  # A beats C and D
    better[3, 4] = True
    estimate = np.array([0.9, 0.8, 0.7, 0.6, 0.5, np.nan])
    assert clustered(better, np.arange(6), estimate)[:5].tolist() == [1, 1, 2, 2, 3]
    assert np.isnan(clustered(better, np.arange(6), estimate)[5])
    turned = np.array([4, 3, 2, 1, 0, 5])
    assert clustered(better[np.ix_(turned, turned)], turned, estimate[turned])[:5].tolist() == [1, 1, 2, 2, 3]


def test_clusters_of_metrics(parts):
    found = llbt.metrics.compare_all(parts, n=400, rng=1)
    frame = found.clusters().to_frame()
    assert frame["metric"].tolist() == ["sd 0.3", "sd 2", "sd 8"]
    assert frame["estimate"].is_monotonic_decreasing
    assert found.p_value[0, 1] <= 0.05 < found.p_value[1, 2]
    assert frame["significance_cluster"].tolist() == [1, 2, 2]
    np.testing.assert_allclose(frame[["estimate_1", "estimate_2"]].to_numpy().T, found.task_estimate)
    one = found.clusters(task="en-es").to_frame()
    assert one.columns.tolist() == ["metric", "significance_cluster", "estimate"]
    np.testing.assert_allclose(one["estimate"], found.task_estimate[1])
    assert found.clusters(1e-9).to_frame()["significance_cluster"].tolist() == [1, 1, 1]
    strict = found.adjusted("bonferroni", family="table").clusters(0.014, adjusted=True).to_frame()
    assert strict["significance_cluster"].max() <= 3
    assert "adjusted (bonferroni) over all pairs" in in_full(
        found.adjusted("bonferroni", family="table").clusters(adjusted=True)
    )
    with pytest.raises(llbt.errors.OptionError, match=r"no task 'de-en'; expected one of 'en-de', 'en-es'"):
        found.clusters(task="de-en")
    with pytest.raises(llbt.errors.OptionError, match="alpha=2"):
        found.clusters(2)


def test_metrics_that_are_the_same_stand_in_one_cluster(parts):
    human = parts["en-de"].human
    good = parts["en-de"].values[0]
    scores = MetricScores.from_matrices({"a": good, "b": 3 * good + 1, "c": -human}, human)
    found = llbt.metrics.compare_all(scores, statistic="tie_calibrated_accuracy", n=99, rng=1)
    assert found.p_value[0, 1] == found.p_value[1, 0] == 1.0
    assert found.clusters().to_frame()["significance_cluster"].tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("call", "error", "fragment"),
    [
        (lambda p: llbt.metrics.compare_all({}), llbt.errors.JudgmentError, "a mapping without a task"),
        (lambda p: llbt.metrics.compare_all({"a": 1}), llbt.errors.OptionError, "scores is a mapping to int"),
        (
            lambda p: llbt.metrics.compare_all(p, tasks=["a"]),
            llbt.errors.OptionError,
            "tasks= with a mapping.*Leave tasks= out",
        ),
        (
            lambda p: llbt.metrics.compare_all({**p, "c": MetricScores.from_matrices({"sd 2": X, "other": X + Z}, Z)}),
            llbt.errors.JudgmentError,
            "task 'en-de' has no scores of 'other'",
        ),
        (
            lambda p: llbt.metrics.compare_all({"c": MetricScores.from_matrices({"a": X, "b": 0 * X}, Z)}),
            llbt.errors.JudgmentError,
            "task 'c': all scores of b are equal",
        ),
        (
            lambda p: llbt.metrics.compare_all(p, method="williams"),
            llbt.errors.OptionError,
            "williams' with tasks",
        ),
    ],
)
def test_tasks_are_refused_that_do_not_go_together(parts, call, error, fragment):
    with pytest.raises(error, match=fragment):
        call(parts)


@pytest.mark.slow
def test_the_adjustment_that_is_asked_decides_how_many_are_drawn() -> None:
    """Six metrics of which one follows humans: 30 tests over the table, so 3,600 swaps, and 1/120 at the least."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(20, 1)) + rng.normal(size=(20, 15))
    metrics = {f"m{k}": human * (k == 0) + rng.normal(size=human.shape) for k in range(6)}
    scores = MetricScores.from_matrices(metrics, human)
    found = llbt.metrics.compare_all(scores, adjust="bonferroni", family="table", rng=1)
    assert (found.n, found.adjust, found.family) == (3600, "bonferroni", "table")
    again = llbt.metrics.compare_all(scores, n=3600, rng=1).adjusted("bonferroni", family="table")
    np.testing.assert_array_equal(found.p_adjusted, again.p_adjusted)
    assert found.better()[0].sum() == 5
    assert llbt.metrics.compare_all(scores, rng=1).n == 1000


def test_adjusted_p_values_say_how_small_they_can_be():
    """13 metrics, 999 swaps: 156/1000 over the table, which n=3120 would take to .05."""
    rng = np.random.default_rng(3)
    human = rng.normal(size=(16, 1)) + rng.normal(size=(16, 20))
    metrics = {f"m{k}": human + (1 + k) * rng.normal(size=human.shape) for k in range(13)}
    found = llbt.metrics.compare_all(MetricScores.from_matrices(metrics, human), n=999, rng=1)
    assert "999 resamples of each pair: no p-value can be below 0.001" in found.as_text()
    assert "No adjusted p-value can be below 0.0120" in found.as_text()
    whole = found.adjusted("bonferroni", family="table")
    assert "No adjusted p-value can be below 0.156, so none can be significant at 0.05" in " ".join(
        whole.as_text().split()
    )
    assert "n=3120 or more would be enough" in " ".join(whole.as_text().split())
    assert np.nanmin(whole.p_adjusted) == pytest.approx(0.156)
    assert "No adjusted p-value" not in found.adjusted("fdr_bh").as_text()
    assert "Null hypothesis: both metrics agree with humans equally well for systems like these" in whole.as_text()


def test_more_resamples_do_not_help_where_systems_are_few():
    x, _, z = three(shape=(4, 30))
    scores = MetricScores.from_matrices({f"m{k}": x + k * z for k in range(4)}, z)
    assert "there are too few systems or inputs to swap" in " ".join(
        llbt.metrics.compare_all(scores, n=999, rng=1).as_text().split()
    )
