"""A study against the single calls it is made of, on drawn scores; and against what papers print, where data are."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.board_files import mt_metrics, sacrerouge

import llbt
from llbt.errors import JudgmentError, OptionError
from llbt.metrics import MetricScores, compare_all, correlate, decisions, interval, outliers, read_study

METRICS = ["good", "poor", "flat"]


def rows_of(tasks=("en-de", "de-en"), systems=7, inputs=12, seed=1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    quality = np.append(rng.normal(size=systems - 1), -6)
    rows = [
        (task, f"s{s}", k, quality[s] + rng.normal(), rng.normal(), round(rng.normal()), quality[s] + rng.normal())
        for task in tasks
        for s in range(systems)
        for k in range(inputs)
    ]
    return pd.DataFrame(rows, columns=["lp", "system", "segment", *METRICS, "human"])


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return rows_of()


@pytest.fixture(scope="module")
def study(frame: pd.DataFrame) -> llbt.metrics.Study:
    return read_study(frame)


def matrices(frame: pd.DataFrame, task: str, name: str) -> pd.DataFrame:
    return frame[frame["lp"] == task].pivot(index="system", columns="segment", values=name)


def test_layouts_are_read_alike(frame: pd.DataFrame, study: llbt.metrics.Study) -> None:
    long = frame.melt(["lp", "system", "segment"], var_name="metric", value_name="score")
    beside = long.pivot(index=["lp", "metric", "segment"], columns="system", values="score").reset_index()
    mapped = {task: part.drop(columns="lp") for task, part in frame.groupby("lp", sort=False)}
    expected = study.correlations().to_frame().set_index(["task", "metric"])["estimate"]
    for source in (long, beside, mapped):
        found = read_study(source).correlations().to_frame().set_index(["task", "metric"])["estimate"]
        pd.testing.assert_series_equal(found.reindex(expected.index), expected, atol=1e-14, rtol=0)


def test_correlations_are_those_of_single_calls(frame: pd.DataFrame, study: llbt.metrics.Study) -> None:
    found = study.correlations(levels=["system", "input"], coefficients=["pearson", "kendall"], method="fisher")
    table = found.to_frame()
    assert len(table) == 2 * 3 * 2 * 2
    for row in table.itertuples():
        x, z = matrices(frame, row.task, row.metric), matrices(frame, row.task, "human")
        one = interval(x, z, level=row.level, coefficient=row.coefficient, method="fisher")
        assert (row.estimate, row.conf_low, row.conf_high) == pytest.approx(
            (one.estimate, one.conf_low, one.conf_high), abs=1e-12, nan_ok=True
        )
        if row.level == "system":
            far = np.asarray(outliers(z.mean(axis=1)))
            assert row.outliers == far.sum() >= 1
            alone = correlate(x[~far], z[~far], coefficient=row.coefficient).estimate
            assert row.without_outliers == pytest.approx(alone, abs=1e-12)


def test_normality_is_that_of_scipy(frame: pd.DataFrame, study: llbt.metrics.Study) -> None:
    from scipy import stats

    for row in study.normality(alpha=0.2).to_frame().itertuples():
        x = matrices(frame, row.task, row.metric)
        assert row.p_value == pytest.approx(stats.shapiro(x.mean(axis=1)).pvalue, abs=1e-9)
        p = [stats.shapiro(x[k]).pvalue for k in x if x[k].nunique() > 1]
        assert (row.inputs, row.rejected) == (len(p), pytest.approx(np.mean(np.array(p) <= 0.2)))


def test_decisions_are_those_of_each_metric(frame: pd.DataFrame, study: llbt.metrics.Study) -> None:
    found = study.decisions()
    for metric in METRICS:
        sides = [{task: matrices(frame, task, name) for task in study.tasks} for name in (metric, "human")]
        assert found.by_metric[metric].outcome.tolist() == decisions(*sides).outcome.tolist()
    assert found.to_frame()["n"].tolist() == [42, 42, 42]
    assert found.errors().metrics == tuple(METRICS)


def test_errors_under_either_convention_and_shared_ones(study: llbt.metrics.Study) -> None:
    usual, exchanged = (study.decisions(convention=name) for name in ("usual", "exchanged"))
    one, other = usual.to_frame(), exchanged.to_frame()
    assert one["type_1"].tolist() == other["type_2"].tolist() != one["type_2"].tolist()
    assert one["type_2"].tolist() == other["type_1"].tolist()
    assert list(other)[3:6] == ["type_1", "type_2", "opposite"]
    assert "Type II: the metric's difference is significant" in str(exchanged)
    assert usual.errors().type_1.tolist() == exchanged.errors().type_2.tolist()
    wrong = np.array([usual.by_metric[name].outcome == "humans_only" for name in METRICS]).sum(axis=0)
    expected = [int((wrong >= k).sum()) for k in (1, 2, 3)]
    assert usual.shared_errors().to_frame()["type_2"].tolist() == expected
    assert exchanged.shared_errors().to_frame()["type_1"].tolist() == expected
    assert expected[0] > expected[2] > 0
    for k, name in enumerate(METRICS):
        row = usual.by_metric[name].by_difference().to_frame().iloc[-1]
        names = ["n", "both", "type_1", "opposite", "type_2", "neither"]
        assert one.loc[k, names].tolist() == row[names].tolist()


def test_comparisons_are_those_of_each_task(frame: pd.DataFrame, study: llbt.metrics.Study) -> None:
    found = study.compare(method="williams")
    for task, scores in study.by_task().items():
        one = compare_all(scores, method="williams")
        np.testing.assert_array_equal(found.by_task[task].p_value, one.p_value)
    table = found.to_frame().set_index("metric")
    assert table.index[0] == "good"
    for k, task in enumerate(study.tasks, 1):
        number = found.by_task[task].clusters().to_frame().set_index("metric")["significance_cluster"]
        assert table[f"cluster_{k}"].to_dict() == number.to_dict()
    beaten = sum(one.better(adjusted=False).any(axis=0) for one in found.by_task.values())
    assert (2 - table["unbeaten"]).to_dict() == dict(zip(METRICS, beaten.tolist(), strict=True))
    assert "for systems like these" in str(found)
    assert "\\begin{tabular}" in found.as_latex()


def test_an_estimate_near_zero_adds_no_decimals(study: llbt.metrics.Study) -> None:
    found = study.compare(method="williams")
    last = np.arange(len(METRICS)) == 2
    near = {task: replace(one, estimate=np.where(last, 0.00123, one.estimate)) for task, one in found.by_task.items()}
    printed = str(replace(found, by_task=near)).split()
    decimals = {len(word.partition(".")[2]) for word in printed if re.fullmatch(r"-?[01]\.\d+", word)}
    assert max(decimals) == 4


def test_metrics_are_compared_on_what_humans_judged() -> None:
    frame = rows_of(tasks=("x",))
    frame.loc[frame["segment"] >= 5, "human"] = np.nan
    found = read_study(frame)
    assert found.parts[0].scores.inputs == (0, 1, 2, 3, 4)
    assert [note for note in found.notes if "human" in note] == [
        "x (human): 5 of 12 inputs have human scores; others are left out"
    ]
    few = read_study(frame[frame["segment"] < 5])
    assert found.correlations().to_frame().equals(few.correlations().to_frame())


def test_signs_systems_and_humans(frame: pd.DataFrame) -> None:
    two = frame.assign(esa=-frame["human"])
    found = read_study(two, human=["human", "esa"], lower_is_better="good")
    table = found.correlations().to_frame().set_index(["task", "human", "metric"])["estimate"]
    assert table["en-de", "human", "good"] < 0 < table["en-de", "esa", "good"]
    with pytest.raises(OptionError, match=r"2 kinds of human scores.*human='human'"):
        found.compare()
    without = found.without("s6")
    assert all(len(part.scores.systems) == 6 for part in without.parts)
    assert len(without.by_task("esa")) == 2


def test_a_metric_of_some_tasks_only(frame: pd.DataFrame) -> None:
    frame = frame.assign(poor=frame["poor"].where(frame["lp"] == "en-de"))
    found = read_study(frame)
    assert [part.scores.metrics for part in found.parts] == [("good", "poor", "flat"), ("good", "flat")]
    table = found.compare(method="williams").to_frame().set_index("metric")
    assert np.isnan(table.loc["poor", "estimate_2"])
    assert "metrics left out because scores are missing: 'poor'" in found.decisions().notes


def test_files_of_tools(tmp_path: Path) -> None:
    found = read_study(mt_metrics(tmp_path / "mt"), human="esa")
    assert (found.tasks, found.metrics) == (("en-de",), ("BLEU-refA",))
    sacrerouge(tmp_path / "metrics.jsonl")
    assert read_study(tmp_path / "metrics.jsonl", human="responsiveness").metrics == ("rouge-1.f1", "rouge-1.recall")
    (tmp_path / "a.csv").write_text("LP SYSTEM HUMAN LP chrF\nde-en a 1 2 3\nde-en b 2 3 4\n", encoding="utf-8")
    found = read_study(tmp_path / "a.csv")
    assert (found.tasks, found.metrics) == (("de-en",), ("LP.1", "chrF"))


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda f: f[f["system"] == "s1"], {}, "task 'en-de': 1 system"),
        (lambda f: f.drop(columns="human"), {}, "no scores are called 'human'"),
        (lambda f: f, {"human": "mqm"}, "human='mqm'"),
        (lambda f: f, {"metrics": "bleu"}, "metrics='bleu'"),
        (lambda f: f.drop(columns="system"), {}, "no column of systems"),
        (lambda f: f[["lp", "system", "segment", "human"]], {}, "no metric, only 'human'"),
        (lambda f: pd.concat([f, f]), {}, "task 'en-de': 84 rows with the system and segment of an earlier one"),
        (lambda f: f.assign(human=np.nan), {}, "no task has scores by a metric and by 'human'"),
    ],
)
def test_refused(frame: pd.DataFrame, change, options, said) -> None:
    with pytest.raises((JudgmentError, OptionError), match=said):
        read_study(change(frame), **options)


def test_a_constant_metric_is_named_with_its_task(frame: pd.DataFrame) -> None:
    with pytest.raises(JudgmentError, match=r"task 'en-de'.*all scores of flat are equal"):
        read_study(frame.assign(flat=1.0)).compare()
    found = read_study(frame.assign(flat=1.0)).correlations()
    assert any(note.startswith("undefined for flat, en-de (human)") for note in found.notes)


@pytest.mark.shared
@pytest.mark.slow
def test_wmt19(shared: Path) -> None:
    """Mathur et al. (2020), section 3 and Table 2: 18 pairs; English–Kazakh BLEU .85, and .58 without outliers."""
    study = read_study(shared / "data" / "wmt19_sys_scores")
    table = study.correlations().to_frame().set_index(["task", "metric"])
    assert (len(study.tasks), len(table)) == (18, 404)
    row = table.loc[("en-kk", "sacreBLEU-BLEU")]
    assert (round(row["estimate"], 2), round(row["without_outliers"], 2)) == (0.85, 0.58)


@pytest.mark.shared
def test_summeval(shared: Path) -> None:
    """Deutsch et al. (2021), Table 2: percent of inputs whose test rejects, and p of the means of systems."""
    path = shared / "data" / "deutsch_fabbri2020.csv.gz"
    table = read_study(path, human="expert_relevance", metrics=["qa-eval_f1", "METEOR"]).normality().to_frame()
    found = table.set_index("metric")[["rejected", "p_value"]].round(2).T.to_dict("list")
    assert found == {"qa-eval_f1": [0.40, 0.01], "METEOR": [0.27, 0.0], "expert_relevance": [0.32, 0.52]}


def test_scores_of_systems_alone() -> None:
    scores = MetricScores.from_matrices({"bleu": [1.0, 2.0, 4.0]}, [1.0, 3.0, 2.0])
    rows = [{"system": k, "bleu": b, "human": h} for k, b, h in zip("abc", [1.0, 2, 4], [1.0, 3, 2], strict=True)]
    found = read_study(rows)
    assert found.tasks == ("",)
    expected = correlate(scores.matrix("bleu"), scores.human_matrix()).estimate
    assert found.correlations().to_frame()["estimate"].tolist() == pytest.approx([expected])


def test_a_metric_that_is_called_length_is_not_lost_without_a_note() -> None:
    rows = [{"system": s, "segment": k, "bleu": s + k, "length": k - s, "human": s} for s in range(3) for k in range(2)]
    left = read_study(rows)
    assert left.metrics == ("bleu",)
    assert [note for note in left.notes if "length" in note] == [
        "not read as scores: 'length'; metrics= takes their names"
    ]
    taken = read_study(rows, metrics=["bleu", "length"])
    assert taken.metrics == ("bleu", "length")
    assert not [note for note in taken.notes if "length" in note]
    long = pd.DataFrame(rows).melt(["system", "segment"], var_name="metric", value_name="score")
    assert set(read_study(long).metrics) == {"bleu", "length"}
