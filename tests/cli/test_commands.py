"""Every command answers what the function of its name answers, in every format, and its options are arguments."""

from __future__ import annotations

import inspect
import io
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import typer.main
from support.board_files import swe_lists
from support.calls import JUDGMENTS, VERDICTS
from support.shell import answered, facts, refused, run

import llbt
from llbt.cli import options
from llbt.cli.main import app
from llbt.core.links import Link
from llbt.data.value_types import LabelType
from llbt.fitting.specification import CovType, Method
from llbt.inference.nested import Test as AnovaTest
from llbt.inference.scales import Scale
from llbt.inference.worth import Part
from llbt.judges.agreement import ResampledAgreement
from llbt.judges.labelled_units import Among
from llbt.metrics.correlate import Level
from llbt.metrics.interval import IntervalMethod
from llbt.metrics.kernels import Coefficient
from llbt.metrics.metric_tests import Statistic, TestMethod
from llbt.scores.board import Board
from llbt.scores.board_tests import BoardTest
from llbt.scores.leaderboard_result import Grouping
from llbt.scores.mechanisms import Mechanism

TABLE = llbt.load_dataset("dras_table1")
TIED, BY_JUDGE = "object + tie", "object * judge + tie"
FORMATS = ("text", "markdown", "latex", "html", "json", "csv")


def fitted(formula: str = TIED, **asked: Any) -> Any:
    return llbt.fit(formula, TABLE.pool(), **asked)


def same(printed: str, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        pd.read_csv(io.StringIO(printed)), expected, check_dtype=False, rtol=1e-9, check_column_type=False
    )


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(30, 3)) + np.array([0, 0.5, 1]), columns=list("ABC"))
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"system": np.repeat(list("abcdef"), 10), "input": np.tile(np.arange(10), 6)})
    frame["human"] = rng.normal(size=60) + np.repeat(np.arange(6), 10)
    frame["near"] = frame["human"] + 0.3 * rng.normal(size=60)
    frame["far"] = rng.normal(size=60)
    frame.to_csv(tmp_path / "metrics.csv", index=False)
    return tmp_path / "metrics.csv"


@pytest.fixture
def judgments(tmp_path: Path) -> Path:
    JUDGMENTS.to_csv(tmp_path / "judgments.csv", index=False)
    return tmp_path / "judgments.csv"


# -- models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=pytest.mark.slow if form != "json" else ()) for form in FORMATS]
)
def test_a_leaderboard_in_every_format(form: str) -> None:
    expected = llbt.leaderboard(fitted(), scale="elo", anchor={"D": 1000})
    said = answered(
        *("leaderboard", "dras_table1", "--pool", "judge", "--scale", "elo", "--anchor", "D=1000", "--format", form)
    )
    if form == "csv":
        same(said, expected.to_frame())
    elif form == "json":
        rows = facts("leaderboard", "dras_table1", "--pool", "all", "--scale", "elo", "--anchor", "D=1000")["rows"]
        assert [row["object"] for row in rows] == list("ADBC")
        np.testing.assert_allclose([row["estimate"] for row in rows], expected.to_frame()["estimate"])
    elif form == "html":  # a page of its own
        assert said.startswith("<!DOCTYPE html>")
        assert all(f">{name}<" in said for name in "ADBC")
    else:
        assert said == getattr(expected, f"as_{form}")() + "\n"


def test_worths_are_asked_for_at_levels_of_covariates() -> None:
    res = llbt.fit(BY_JUDGE, TABLE)
    asked = ["worth", "dras_table1", "--formula", BY_JUDGE, "--format", "csv"]
    same(answered(*asked, "--at", "judge=J3"), llbt.worth(res, at={"judge": "J3"}).to_frame())
    two = llbt.worth(res, {"judge": ["J3", "J1"]}, "log_worth", confidence=0.9).to_frame()
    same(answered(*asked, "--at", "judge=J3,judge=J1", "--scale", "log_worth", "--confidence", "0.9"), two)
    assert "'J9'" in refused(*asked, "--at", "judge=J9")


def test_mixes_and_groups_are_asked_for() -> None:
    res = llbt.fit(BY_JUDGE, TABLE)
    asked = ["worth", "dras_table1", "--formula", BY_JUDGE, "--format", "csv"]
    mixed = llbt.worth(res, at={"judge": {"J1": 0.25, "J3": 0.75}}).to_frame()
    same(answered(*asked, "--at", "judge=J1:0.25,judge=J3:0.75"), mixed)
    assert "with and without a weight" in refused(*asked, "--at", "judge=J1:0.5,judge=J3")
    assert "sum to 0.5" in refused(*asked, "--at", "judge=J1:0.5")
    board = ["leaderboard", *asked[1:]]
    same(answered(*board, "--by", "judge"), llbt.leaderboard(res, by="judge").to_frame())
    apart = llbt.leaderboard(res, at={"judge": ["J1", "J3"]}, by="judge", hypothesis="pairwise").to_frame()
    same(answered(*board, "--at", "judge=J1,judge=J3", "--by", "judge", "--hypothesis", "pairwise"), apart)


@pytest.mark.parametrize("command", ["worth", pytest.param("leaderboard", marks=pytest.mark.slow)])
def test_a_target_mix_is_read_from_a_file(command: str, tmp_path: Path) -> None:
    """Also against the average by hand: Σ w_k λ(x_k) of log-odds less their mean."""
    frame, file = pd.DataFrame({"judge": ["J1", "J3"], "weight": [0.25, 0.75]}), tmp_path / "mix.csv"
    frame.to_csv(file, index=False)
    res = llbt.fit(BY_JUDGE, TABLE)
    asked = [command, "dras_table1", "--formula", BY_JUDGE, "--format", "csv", "--scale", "log_odds"]
    printed = answered(*asked, "--mix", file)
    same(printed, getattr(llbt, command)(res, scale="log_odds", weights=frame).to_frame())
    by_hand = {judge: llbt.worth(res, {"judge": judge}, "log_odds").to_frame() for judge in ("J1", "J3")}
    one, other = (found.set_index("object")["estimate"] for found in by_hand.values())
    found = pd.read_csv(io.StringIO(printed)).set_index("object")["estimate"]
    expected = 0.25 * one + 0.75 * other
    np.testing.assert_allclose((found - found.mean())[expected.index], expected - expected.mean(), atol=1e-9)
    assert "--mix together with --at average" in refused(*asked, "--mix", file, "--at", "average")
    frame.assign(weight=0.1).to_csv(file, index=False)
    assert "sum to 0.2" in refused(*asked, "--mix", file)


def test_worths_of_covariates_alone_are_asked_for(tmp_path: Path) -> None:
    price = pd.DataFrame({"object": list("ABCD"), "price": [1.0, 2.0, 3.0, 4.0]})
    price.to_csv(tmp_path / "price.csv", index=False)
    rows = [("A", "B", 10, 90), ("A", "C", 50, 50), ("A", "D", 50, 50), ("B", "C", 90, 10), ("B", "D", 90, 10)]
    frame = pd.DataFrame([*rows, ("C", "D", 50, 50)], columns=["object_i", "object_j", "wins_i", "wins_j"])
    frame.to_csv(tmp_path / "counts.csv", index=False)
    formula, scale = "price + (1 | object)", "log_worth"
    res = llbt.fit(formula, llbt.from_counts(frame, object_covariates=price))
    asked = ["worth", str(tmp_path / "counts.csv"), "--object-covariates", str(tmp_path / "price.csv")]
    said = answered(*asked, "--formula", formula, "--scale", scale, "--part", "covariates", "--format", "csv")
    same(said, llbt.worth(res, scale=scale, part="covariates").to_frame())


@pytest.mark.slow
def test_anova_of_terms_and_of_models() -> None:
    of_terms = answered("anova", "dras_table1", "--formula", BY_JUDGE)
    assert of_terms == llbt.anova(llbt.fit(BY_JUDGE, TABLE)).as_text() + "\n"
    of_models = answered("anova", "dras_table1", "--formula", TIED, "--formula", BY_JUDGE, "--format", "csv")
    same(of_models, llbt.anova(llbt.fit(TIED, TABLE), llbt.fit(BY_JUDGE, TABLE)).to_frame())
    wald = answered("anova", "dras_table1", "--formula", TIED, "--formula", BY_JUDGE, "--test", "wald")
    assert wald == llbt.anova(llbt.fit(TIED, TABLE), llbt.fit(BY_JUDGE, TABLE), test="wald").as_text() + "\n"


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (["--prior", "jeffreys"], {"prior": "jeffreys"}),
        (["--prior", "0.5"], {"prior": 0.5}),
        (["--reference", "object=B"], {"reference": {"object": "B"}}),
        (["--reference", "B", "--link", "probit"], {"reference": "B", "link": "probit"}),
        (["--cov-type", "quasi"], {"cov_type": "quasi"}),
    ],
)
def test_options_of_a_fit_are_its_arguments(given: list[str], asked: dict[str, Any]) -> None:
    same(answered("fit", "dras_table1", "--pool", "judge", *given, "--format", "csv"), fitted(**asked).to_frame())


def test_levels_are_compared_with_the_one_that_is_named() -> None:
    given = ["--formula", BY_JUDGE, "--reference", "judge=J2,object=A", "--format", "csv"]
    expected = llbt.fit(BY_JUDGE, TABLE, reference={"judge": "J2", "object": "A"}).to_frame()
    same(answered("fit", "dras_table1", *given), expected)


@pytest.mark.slow
def test_columns_are_pooled(judgments: Path) -> None:
    given = ["--covariates", "judge", "--cov-type", "nonrobust", "--format", "json"]
    assert (
        facts("fit", judgments, *given[:4])["df_null"]
        == 2 * facts("fit", judgments, *given[:4], "--pool", "all")["df_null"]
    )
    assert "judges" in refused("fit", judgments, *given, "--pool", "judges")


def test_judge_covariates_are_joined(judgments: Path, tmp_path: Path) -> None:
    ages = pd.DataFrame({"judge": ["J1", "J2"], "age": ["old", "young"]})
    ages.to_csv(tmp_path / "ages.csv", index=False)
    formula = "object * age + tie"
    expected = llbt.fit(formula, llbt.from_judgments(JUDGMENTS, judge_covariates=ages)).to_frame()
    given = ["--judge-covariates", tmp_path / "ages.csv", "--formula", formula, "--cov-type", "nonrobust"]
    same(answered("fit", judgments, *given, "--format", "csv"), expected)
    both = ["--judge-covariates", "-", "--object-covariates", "-"]
    assert "standard input is --object-covariates already" in refused("fit", judgments, *both, input="judge,age\n")


@pytest.mark.parametrize("form", ["text", "markdown", "html", "latex"])
def test_columns_names_digits_and_captions_are_chosen(form: str) -> None:
    given = ["--columns", "object,estimate", "--rename", "A=Alpha", "--digits", "2", "--caption", "Four"]
    asked = {"columns": ["object", "estimate"], "rename": {"A": "Alpha"}, "digits": 2, "caption": "Four"}
    expected = getattr(llbt.worth(fitted()), f"as_{form}")(**asked)
    said = answered("worth", "dras_table1", "--pool", "all", *given, "--format", form)
    assert said == expected + "\n"
    assert "Alpha" in said


def test_what_is_no_option_of_a_format() -> None:
    said = refused("worth", "dras_table1", "--columns", "object", "--format", "csv")
    assert "'--columns': it is for text, Markdown, LaTeX and HTML, not for --format csv" in said
    assert "'--size': it is for LaTeX and HTML" in refused("worth", "dras_table1", "--size", "small")


def test_html_has_a_size() -> None:
    said = answered("worth", "dras_table1", "--pool", "all", "--size", "small", "--format", "html")
    assert said == llbt.worth(fitted()).as_html(size="small") + "\n"


@pytest.mark.parametrize("name", ["--cov-type", "--link", "--scale", "--format", "--size"])
def test_words_of_options_are_refused_in_the_words_of_the_house(name: str) -> None:
    said = refused("worth", "dras_table1", name, "foo")
    assert f"Invalid value for '{name}': found 'foo'; expected '" in said
    assert "Value error" not in said


# -- judges and scores -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_report_on_a_judge(tmp_path: Path) -> None:
    frame = VERDICTS.assign(length_a=range(40), length_b=7)
    frame.to_csv(tmp_path / "verdicts.csv", index=False)
    given = ["--human", "people", "--machine", "machine", "--family", "A", "--length", "length_a,length_b", "--n", "9"]
    expected = llbt.judges.report(
        frame, human="people", machine="machine", family=["A"], length=("length_a", "length_b"), n=9
    )
    page = tmp_path / "judge.html"
    said = answered("judge-report", tmp_path / "verdicts.csv", *given, "--format", "csv", "-o", page)
    same(said, expected.to_frame())
    assert expected.answer[:30] in page.read_text(encoding="utf-8")
    assert "name the column of its verdicts" in refused("judge-report", tmp_path / "verdicts.csv", "--human", "people")


def test_agreement(judgments: Path) -> None:
    asked = {"coefficients": ["percent", "scott_pi"], "n": 50, "rng": 1, "resample": "both"}
    expected = llbt.judges.agreement(llbt.read_judgments(JUDGMENTS), unit=["prompt"], **asked)
    given = ["--coefficients", "percent,scott_pi", "--n", "50", "--rng", "1", "--resample", "both"]
    same(answered("agreement", judgments, *given, "--format", "csv"), expected.to_frame())
    assert answered("agreement", judgments, "--unit", "prompt", *given).startswith("Agreement between judges")
    assert "--resample" in refused("agreement", judgments, "--resample", "all")
    assert "counts" in refused("agreement", "dras_table1")


@pytest.mark.parametrize("method", ["mean", "bt", pytest.param("elo", marks=pytest.mark.slow)])
def test_scores_are_aggregated(scores: Path, method: str) -> None:
    expected = llbt.scores.aggregate(pd.read_csv(scores), method=method, n=20, rng=1)
    same(
        answered("aggregate", scores, "--method", method, "--n", "20", "--rng", "1", "--format", "csv"),
        expected.to_frame(),
    )


def test_long_scores_and_lower_ones_that_are_better(scores: Path) -> None:
    wide = pd.read_csv(scores)
    long = wide.rename_axis("item").reset_index().melt(id_vars="item", var_name="model", value_name="loss")
    text = long.to_csv(index=False)
    given = ["--system", "model", "--instance", "item", "--score", "loss", "--lower-is-better", "--tie-threshold", ".1"]
    asked = llbt.scores.SystemScores.from_wide(wide, higher_is_better=False, tie_threshold=0.1)
    expected = llbt.scores.aggregate(asked, method="bt").to_frame()
    same(answered("aggregate", "-", *given, "--method", "bt", "--format", "csv", input=text), expected)
    assert "--others" in refused("aggregate", "-", *given, "--others", "loss", input=text)


def test_scores_make_a_leaderboard(scores: Path) -> None:
    wide = pd.read_csv(scores)
    wide["task"] = np.arange(len(wide)) // 4
    long = wide.rename_axis("instance").reset_index().melt(["instance", "task"], var_name="system", value_name="score")
    expected = llbt.scores.leaderboard(long, test="t", by="task", groups="letters", adjust=None)
    given = ["--test", "t", "--by", "task", "--groups", "letters", "--adjust", "none"]
    for frame in (wide, long):
        said = answered("scores", "leaderboard", "-", *given, "--format", "csv", input=frame.to_csv(index=False))
        same(said, expected.to_frame())
    drawn = llbt.scores.leaderboard(pd.read_csv(scores), test="permutation", n=99, rng=1)
    given = ["--test", "permutation", "--n", "99", "--rng", "1"]
    assert answered("scores", "leaderboard", scores, *given) == drawn.as_text() + "\n"
    assert "--test" in refused("scores", "leaderboard", scores, "--test", "mcnemar")


def test_a_folder_of_results_makes_tiers(tmp_path: Path) -> None:
    lists = {"one": ["p__p-1", "q__q-3", "q__q-4"], "two": ["p__p-1", "p__p-2"], "three": ["p__p-1"]}
    swe_lists(tmp_path / "runs", lists)
    assert "--items listed" in refused("board", tmp_path / "runs")
    given = ["board", tmp_path / "runs", "--items", "listed"]
    read = llbt.scores.read_board(tmp_path / "runs", items="listed")
    same(answered(*given, "--format", "csv"), read.leaderboard().to_frame())
    assert "repository" in answered(*given)
    same(answered(*given, "--by", "item", "--format", "csv"), read.leaderboard(by="item").to_frame())
    fewer = read.without("three").leaderboard(test="t", macro="repository", by="repository").to_frame()
    asked = ["--without", "three", "--test", "t", "--macro", "repository", "--by", "repository"]
    same(answered(*given, *asked, "--format", "csv"), fewer)
    assert facts(*given)["rows"][0]["object"] == "one"
    table = "system,item,score\na,1,1\nb,1,0\na,2,0\nb,2,0\n"
    assert "McNemar" in answered("board", "-", input=table)
    for command in (["board"], ["scores", "leaderboard"]):
        page = answered(*command, "-", "--format", "html", input=table)
        assert page.startswith("<!DOCTYPE html>")
        assert "Rank range</button>" in page


def test_intervals_of_metrics(metrics: Path) -> None:
    found = pd.read_csv(
        io.StringIO(answered("metrics", "interval", metrics, "--n", "50", "--rng", "1", "--format", "csv"))
    )
    frame = llbt.metrics.MetricScores.from_frame(pd.read_csv(metrics))
    assert found["metric"].tolist() == ["near", "far"]
    for metric, row in found.set_index("metric").iterrows():
        one = llbt.metrics.interval(frame.matrix(metric), frame.human_matrix(), n=50, rng=1).to_frame().iloc[0]
        np.testing.assert_allclose(
            row[["estimate", "conf_low", "conf_high"]].astype(float),
            one[["estimate", "conf_low", "conf_high"]].astype(float),
        )


@pytest.mark.slow
def test_comparisons_of_metrics(metrics: Path) -> None:
    given = ["--n", "50", "--rng", "1", "--coefficient", "kendall", "--method", "boot"]
    scores = llbt.metrics.MetricScores.from_frame(pd.read_csv(metrics))
    expected = llbt.metrics.compare_all(scores, coefficient="kendall", method="boot", n=50, rng=1)
    same(answered("metrics", "compare-all", metrics, *given, "--format", "csv"), expected.to_frame())
    assert answered("metrics", "compare-all", metrics, *given) == expected.as_text() + "\n"


def test_metrics_over_tasks_in_clusters(metrics: Path) -> None:
    frame = pd.read_csv(metrics).assign(lp=lambda frame: np.where(frame["input"] == frame["input"].min(), "one", "two"))
    tasks = {task: part.drop(columns="lp") for task, part in frame.groupby("lp")}
    scores = {task: llbt.metrics.MetricScores.from_frame(part) for task, part in tasks.items()}
    given = ["--statistic", "soft_pairwise_accuracy", "--tasks", "lp", "--n", "20", "--draws", "30", "--rng", "1"]
    expected = llbt.metrics.compare_all(scores, statistic="soft_pairwise_accuracy", n=20, draws=30, rng=1)
    text = frame.to_csv(index=False)
    same(answered("metrics", "compare-all", "-", *given, "--format", "csv", input=text), expected.to_frame())
    clusters = answered("metrics", "compare-all", "-", *given, "--clusters", "--format", "csv", input=text)
    same(clusters, expected.clusters().to_frame())
    assert "--tasks" in refused("metrics", "compare-all", "-", "--tasks", "pair", input=text)
    without = frame.assign(lp=frame["lp"].where(frame.index > 0)).to_csv(index=False)
    assert "empty in 1 of" in refused("metrics", "compare-all", "-", "--tasks", "lp", input=without)


@pytest.mark.parametrize("command", ["datasets", "formats"])
@pytest.mark.parametrize("form", FORMATS)
def test_lists_in_every_format(command: str, form: str) -> None:
    said = answered(command, "--format", form)
    wanted = "puddings" if command == "datasets" else "arena"
    assert wanted in said.replace("\\allowbreak{}", "")
    assert len(said.splitlines()) > 9 or form == "html"


# -- the surface -----------------------------------------------------------------------------------------------------


def made(group: Any) -> dict[str, Any]:
    return {name: group.get_command(None, name) for name in group.commands}


def commands() -> dict[str, Any]:
    found = made(typer.main.get_command(app))
    rooms = {room: made(found.pop(room)) for room in ("metrics", "scores")}
    return found | {f"{room} {name}": one for room, within in rooms.items() for name, one in within.items()}


@pytest.mark.parametrize("name", commands())
def test_options_have_texts_and_the_names_of_parameters(name: str) -> None:
    for param in commands()[name].params:
        if param.name in ("file", "other"):
            assert param.help
            continue
        assert len(param.help) > 8, param.name
        if param.name not in ("help", "install_completion", "show_completion"):
            assert param.opts[0] == "--" + param.name.replace("_", "-"), param.name


FUNCTIONS = {
    "drift": llbt.drift,
    "sensitivity": llbt.sensitivity,
    "fragility": llbt.fragility,
    "held-out": llbt.held_out,
    "influence": llbt.influence,
    "level-tests": llbt.level_tests,
    "interpret": llbt.interpret,
    "next-pairs": llbt.planning.next_pairs,
    "power": llbt.power,
    "calibrate": llbt.judges.calibrate,
    "anova": llbt.anova,
    "contrasts": llbt.contrasts,
    "pairwise": llbt.pairwise,
    "predict": llbt.LLBTResults.predict,
    "leaderboard": llbt.leaderboard,
    "worth": llbt.worth,
    "agreement": llbt.judges.agreement,
    "judge-report": llbt.judges.report,
    "needed": llbt.planning.needed,
    "aggregate": llbt.scores.aggregate,
    "metrics interval": llbt.metrics.interval,
    "metrics compare-all": llbt.metrics.compare_all,
    "scores leaderboard": llbt.scores.leaderboard,
    "board": Board.leaderboard,
    "scores difficulty": llbt.scores.difficulty,
    "scores frontier": Board.frontier,
}


def test_rows_are_left_out_as_frames_leave_them_out(tmp_path: Path) -> None:
    """The cures of the audit, typed: the same fit as by filters of the frame."""
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"model_a": rng.choice([*"ABC"], 200), "judge": rng.choice([*"jkm"], 200), "question_id": 1})
    frame["model_b"] = [chr(ord("A") + (ord(a) - ord("A") + rng.integers(0, 3)) % 3) for a in frame["model_a"]]
    frame["winner"] = rng.choice(["model_a", "model_b", "tie"], 200)
    frame = frame[["model_a", "model_b", "winner", "judge", "question_id"]]
    frame.to_csv(tmp_path / "votes.csv", index=False)
    rest = frame[frame["judge"] != "k"].drop_duplicates()
    itself = rest["model_a"] == rest["model_b"]
    expected = llbt.worth(llbt.fit("object + tie", llbt.from_judgments(rest[~itself]))).to_frame()
    asked = ("worth", tmp_path / "votes.csv", "--exclude", "judge=k", "--drop", "copies,self", "--format", "csv")
    result = run(*asked, "--formula", "object+tie", "--cov-type", "nonrobust")
    same(result.stdout, expected)
    copies = (frame["judge"] != "k").sum() - len(rest)
    for note in (f"{(frame['judge'] == 'k').sum()} rows with judge = k (--exclude)",
                 f"{copies} rows equal to an earlier row (--drop copies)",
                 f"{itself.sum()} rows with one object on both sides (--drop self)"):  # fmt: skip
        assert f"note: left out: {note}" in result.stderr
    unknown = refused("fit", tmp_path / "votes.csv", "--exclude", "judge=kk")
    assert "no row has 'kk' in 'judge' (did you mean 'k'?)" in unknown
    assert "'--exclude'" in refused("fit", "dras_table1", "--exclude", "judge=J1")
    ranks = pd.DataFrame(
        {"judge": [*"abcdef"], "A": [1, 2, 1, 3, 1, 2], "B": [2, 1, 3, 1, 3, 1], "C": [3, 3, 2, 2, 2, 3]}
    )
    ranks.to_csv(tmp_path / "ranks.csv", index=False)
    lists = llbt.from_rankings(ranks[ranks["judge"] != "c"], objects=[*"ABC"], clusters="judge")
    gap = frame.assign(judge=[*[3, None], *range(1, 199)])  # whole numbers, with a gap: floats in memory
    gap.to_csv(tmp_path / "gap.csv", index=False)
    assert "2 rows with judge = 3 (--exclude)" in run("fit", tmp_path / "gap.csv", "--exclude", "judge=3").stderr
    asked = ("worth", tmp_path / "ranks.csv", "--exclude", "judge=c", "--cov-type", "nonrobust", "--format", "csv")
    same(run(*asked).stdout, llbt.worth(llbt.fit("object", lists)).to_frame())


def test_boards_answer_at_equal_items_and_by_cost(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = [
        {"system": s, "item": k, "repository": f"r{k % 12}", "score": int(rng.random() < p), "usd": c}
        for s, p, c in (("a", 0.7, 3.0), ("b", 0.5, 1.0), ("c", 0.5, 2.0))
        for k in range(60)
    ]
    table = pd.DataFrame(rows)
    table.to_csv(tmp_path / "board.csv", index=False)
    file, csv = tmp_path / "board.csv", ("--format", "csv")
    read = llbt.scores.read_board(table, system="system", item="item", score="score", cost="usd")
    named = ("--system", "system", "--item", "item", "--score", "score", "--cost", "usd")
    asked = ("scores", "difficulty", file, *named)
    answer = llbt.scores.difficulty(read, by="item")
    same(answered(*asked, "--by", "item", *csv), answer.to_frame())
    same(answered(*asked, "--by", "item", "--table", "pairs", *csv), answer.pair_table().to_frame())
    items = pd.read_csv(io.StringIO(answered(*asked, "--table", "items", *csv)))
    assert items["difficulty"].tolist() == pytest.approx(
        llbt.scores.difficulty(read).item_table().to_frame()["difficulty"]
    )
    assert "<h1>Systems at equal items" in answered(*asked, "--format", "html")
    same(answered("scores", "frontier", file, *named, "--n", "99", *csv), read.frontier(n=99).to_frame())
    table.drop(columns="usd").to_csv(tmp_path / "free.csv", index=False)
    assert "--system system --item item --score score --cost usd" in refused(
        "scores", "frontier", tmp_path / "free.csv"
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_of_a_function_are_options_of_its_command(name: str) -> None:
    given = {param.name for param in commands()[name].params}
    optional = {p.name for p in inspect.signature(FUNCTIONS[name]).parameters.values() if p.kind is p.KEYWORD_ONLY}
    # what the shell does not have, and why: bars are for terminals, ranks need no seed, other judgments no second file,
    # costs are a table
    assert optional - given <= {"progress", "rng", "chance_from", "paired_inputs", "costs"}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (options.CovType, CovType),
        (options.Link, Link),
        (options.Method, Method),
        (options.Part, Part),
        (options.Scale, Scale),
        (options.Test, AnovaTest),
        (options.Among, Among),
        (options.Resample, ResampledAgreement),
        (options.Mechanism, Mechanism),
        (options.Level, Level),
        (options.Correlation, Coefficient),
        (options.IntervalMethod, IntervalMethod),
        (options.TestMethod, TestMethod),
        (options.BoardTest, BoardTest),
        (options.Grouping, Grouping),
        (options.Statistic, Statistic),
        (options.LabelType, LabelType),
    ],
)
def test_an_option_takes_what_its_argument_takes(ours: Any, theirs: Any) -> None:
    assert set(get_args(ours)) == set(get_args(theirs))


def test_the_list_of_commands_says_what_each_says_first() -> None:
    """The list reads docstrings from the source; a command itself has them from its function."""
    listed = run("--help", terminal_width=500).stdout
    for name, one in commands().items():
        first = one.get_short_help_str(400)
        assert first in (listed if " " not in name else run(name.split()[0], "--help", terminal_width=500).stdout), name


def test_help_says_the_exit_codes() -> None:
    said = " ".join(run("--help").stdout.split())
    assert all(f" {code} " in said.partition("Exit codes:")[2] for code in (0, 1, 2, 130, 141))


def test_style_prints_both_leaderboards(tmp_path):
    rng = np.random.default_rng(1)
    frame = llbt.load_dataset("dras_table1").pool().to_frame()[["object_i", "object_j"]]
    frame = pd.concat([frame] * 30, ignore_index=True)
    winner = np.where(rng.random(len(frame)) < 0.6, frame["object_i"], frame["object_j"])
    lengths = {name: rng.integers(10, 90, len(frame)) for name in ("length_a", "length_b")}
    frame = frame.assign(winner=winner, **lengths)
    frame.to_csv(tmp_path / "b.csv", index=False)
    csv = ["--format", "csv"]
    read = ["leaderboard", str(tmp_path / "b.csv"), "--objects", "object_i,object_j", "--outcome", "winner"]
    c = llbt.from_judgments(frame, objects=("object_i", "object_j"), outcome="winner", side_covariates=["length"])
    expected = llbt.style_control(c, scale="elo").to_frame()
    same(answered(*read, *csv, "--style", "length", "--scale", "elo"), expected)
    named = answered(*read, *csv, "--style", "size", "--side-covariates", "size=length_a:length_b", "--scale", "elo")
    same(named, expected.rename(columns=lambda name: name.replace("length_effect", "size_effect")))
    assert "does not go together with --style" in refused(*read, "--style", "length", "--by", "judge")
    assert "does not go together with --style" in refused(*read, "--style", "length", "--link", "cumulative")
    assert "no columns 'words_a', 'words_b'" in refused(*read, "--style", "words")
