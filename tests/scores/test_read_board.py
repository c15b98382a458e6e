"""Boards read from small results in the shapes of the tools, against the tables that they stand for, by hand."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.board_files import (
    APPRAISE,
    every_eval,
    helm,
    inspect_log,
    inspect_zip,
    livecodebench,
    lm_eval,
    mt_metrics,
    promptfoo,
    sacrerouge,
    swe_lists,
    write,
)

import llbt
from llbt.errors import JudgmentError, OptionError
from llbt.scores.board import Board

read = llbt.scores.read_board
NAN = math.nan


def values(board: Board) -> dict[object, list[float]]:
    return {system: board.scores.values[k].tolist() for k, system in enumerate(board.systems)}


def said(board: Board) -> str:
    return " | ".join(board.notes)


def test_lm_eval_has_a_system_by_folder_and_items_by_task(tmp_path: Path) -> None:
    board = read(lm_eval(tmp_path))
    assert board.source == "lm_eval"
    assert values(board) == {"org/a": [1, 0, 0, 1, 0, 0], "org/b": [1, 1, 0, 1, 1, 0]}
    assert board.items[0] == "arc_easy / 0"
    assert board.facts["task"].tolist() == ["arc_easy"] * 3 + ["mmlu_law"] * 3
    assert board.group == "subject"
    assert read(tmp_path, task="mmlu_law").items == (0, 1, 2)


def test_filters_are_asked_for_and_not_averaged(tmp_path: Path) -> None:
    lm_eval(tmp_path, filters=("strict-match", "flexible-extract"))
    with pytest.raises(OptionError, match=r"score='exact_match,flexible-extract'"):
        read(tmp_path)
    assert values(read(tmp_path, score="exact_match,strict-match"))["org/a"] == [1, 0, 0, 1, 0, 0]
    with pytest.raises(OptionError, match="'exact_match,strict-match'"):
        read(tmp_path, score="acc")


def test_the_latest_of_several_runs_of_lm_eval_counts(tmp_path: Path) -> None:
    lm_eval(tmp_path)
    later = {"doc_id": 0, "doc": {}, "filter": "none", "metrics": ["exact_match"], "doc_hash": "arc_easy0"}
    write(tmp_path / "org__a" / "samples_arc_easy_2025-03-02T10-00-00.1.jsonl", {**later, "exact_match": 0.0})
    board = read(tmp_path)
    assert values(board)["org/a"][list(board.items).index("arc_easy / 0")] == 0
    assert "1 score left out: the same system was run again" in said(board)


def test_one_number_of_different_documents_is_refused(tmp_path: Path) -> None:
    lm_eval(tmp_path)
    other = {"doc_id": 1, "doc": {}, "metrics": ["exact_match"], "doc_hash": "other", "exact_match": 0.0}
    write(tmp_path / "org__c" / "samples_arc_easy_2025-03-02T10-00-00.1.jsonl", other)
    with pytest.raises(JudgmentError, match="same number and different contents"):
        read(tmp_path)


def test_inspect_letters_errors_and_epochs(tmp_path: Path) -> None:
    write(tmp_path / "2025_arc_x.json", inspect_log("o/a", ["C", "I", None]))
    inspect_zip(tmp_path / "2025_arc_y.eval", inspect_log("o/b", ["C", "P", "N"]))
    board = read(tmp_path)
    np.testing.assert_array_equal(board.scores.values, [[1, 0, NAN], [1, 0.5, 0]])
    assert board.cost is not None
    assert board.cost.tolist() == [[10, 20, 30], [10, 20, 30]]
    assert "1 sample without a score" in said(board)
    assert "1 score of 6 missing (o/a: 1)" in said(board)
    write(tmp_path / "2025_arc_z.json", inspect_log("o/a", ["I", "I", "C"], epoch=2))
    board = read(tmp_path)
    np.testing.assert_array_equal(board.scores.values, [[0.5, 0, 1], [1, 0.5, 0]])
    assert "averaged over 2 runs" in said(board)


def test_a_successful_log_counts_before_one_that_failed_later(tmp_path: Path) -> None:
    write(tmp_path / "a.json", inspect_log("o/a", ["C", "C"]))
    write(tmp_path / "b.json", inspect_log("o/a", ["I", "I"], status="error", day=2))
    write(tmp_path / "c.json", inspect_log("o/b", ["I", "I"]))
    board = read(tmp_path)
    assert values(board)["o/a"] == [1, 1]
    assert "1 log whose status is not success" in said(board)


def test_helm_leaves_out_figures_of_the_run_and_perturbed_copies(tmp_path: Path) -> None:
    board = read(helm(tmp_path))
    np.testing.assert_array_equal(board.scores.values, [[1, 0, NAN], [1, 1, 1]])
    assert board.systems == ("org/a", "org/b")
    assert board.facts["subject"].unique().tolist() == ["anatomy"]
    assert "6 records of perturbed instances left out" in said(board)


SOLVED = {"20240101_one": ["p__p-1", "q__q-3"], "20240102_two": ["p__p-1", "p__p-2"]}


def test_lists_of_solved_items_need_all_items(tmp_path: Path) -> None:
    swe_lists(tmp_path / "runs", SOLVED)
    with pytest.raises(JudgmentError, match="items='listed'"):
        read(tmp_path / "runs")
    board = read(tmp_path / "runs", items="listed")
    assert dict(zip(board.items, board.scores.values.T.tolist(), strict=True)) == {
        "p__p-1": [1, 1], "q__q-3": [1, 0], "p__p-9": [0, 0], "p__p-2": [0, 1],
    }  # fmt: skip
    assert board.facts["repository"].tolist() == ["p/p", "q/q", "p/p", "p/p"]
    everything = [*board.items, "r__r-7"]
    (tmp_path / "ids.txt").write_text("\n".join(everything), encoding="utf-8")
    for items in (everything, tmp_path / "ids.txt"):
        whole = read(tmp_path / "runs", items=items)
        assert len(whole.items) == 5
        assert whole.scores.values[:, list(whole.items).index("r__r-7")].tolist() == [0, 0]
        assert whole.facts["repository"].tolist() == ["p/p", "q/q", "p/p", "p/p", "r/r"]
        assert whole.group == "repository"  # also for an item that nobody lists: else tests are by item
    with pytest.raises(JudgmentError, match="not in items="):
        read(tmp_path / "runs", items=["p__p-1"])


def test_reports_and_details_of_swe_bench_say_what_failed(tmp_path: Path) -> None:
    report = {"total_instances": 3, "resolved_ids": ["p__p-1"], "unresolved_ids": ["q__q-1"], "error_ids": [],
              "empty_patch_ids": [], "incomplete_ids": ["q__q-2"]}  # fmt: skip
    write(tmp_path / "gpt-4.1.run7.json", report)
    write(tmp_path / "mini.run7.json", {**report, "resolved_ids": ["q__q-2"], "incomplete_ids": ["p__p-1"]})
    board = read(tmp_path)
    assert board.systems == ("gpt-4.1", "mini")
    np.testing.assert_array_equal(board.scores.values, [[NAN, 0, 1], [1, 0, NAN]])
    for system, cost in (("one", 0.5), ("two", 1.5)):
        details = {"p__p-1": {"resolved": True, "cost": cost, "api_calls": 3}, "q__q-1": {"resolved": False, "cost": 2}}
        write(tmp_path / "details" / system / "per_instance_details.json", details)
    costly = read(tmp_path / "details")
    assert costly.cost is not None
    assert costly.cost.tolist() == [[0.5, 2], [1.5, 2]]


def test_tables_are_read_as_scores_are() -> None:
    frame = pd.DataFrame({"doc": ["d1", "d1", "d2"], "language": "de", "a": [1.0, 2, 3], "b": [3.0, 2, 1]})
    board = read(frame)
    assert board.systems == ("a", "b")
    assert list(board.facts) == ["doc", "language"]
    assert board.group == "doc"
    rows = [{"model": m, "id": k, "score": k * 1.0, "usd": 2.0 * k} for m in "ab" for k in (1, 2)]
    priced = read(rows, system="model", item="id", score="score", cost="usd")
    assert priced.cost is not None
    assert priced.cost.tolist() == [[2, 4], [2, 4]]
    with pytest.raises(OptionError, match="system="):
        read(rows, cost="usd")


def test_one_system_and_files_of_nothing_are_refused(tmp_path: Path) -> None:
    lm_eval(tmp_path / "one", models=("org/a",))
    with pytest.raises(JudgmentError, match="1 system"):
        read(tmp_path / "one")
    (tmp_path / "empty").mkdir()
    with pytest.raises(JudgmentError, match="holds no files"):
        read(tmp_path / "empty")
    (tmp_path / "empty" / "notes.md").write_text("x", encoding="utf-8")
    with pytest.raises(JudgmentError, match="none with results on items"):
        read(tmp_path / "empty")
    with pytest.raises(OptionError, match="'lm_eval'"):
        read(tmp_path / "one", format="lm-eval")


def test_items_that_one_system_alone_has_are_said() -> None:
    rows = [("a", 1, 1.0), ("a", 2, 0.0), ("b", 1, 0.0), ("b", 3, 1.0), ("c", 1, 1.0)]
    board = read(pd.DataFrame(rows, columns=["system", "item", "score"]))
    assert "One system alone has 2 items ('a', 'b'): no pair is tested on them." in said(board)


def test_every_eval_ever_joins_samples_by_hash(tmp_path: Path) -> None:
    board = read(every_eval(tmp_path))
    assert board.items == ("h0", "h1", "h2")
    assert values(board) == {"o/a": [1, 0, 0], "o/b": [1, 1, 0]}
    assert board.cost is not None
    assert board.cost.tolist() == [[2, 2, 2]] * 2


def test_appraise_leaves_out_checks_and_averages_users(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(APPRAISE, encoding="utf-8")
    board = read(tmp_path / "export.csv")
    assert board.source == "appraise"
    assert board.items == ("doc1 / 12", "doc2 / 12")
    assert values(board) == {"SysA": [74, 50], "SysB": [60, 55]}  # 74: two users; 60: the later of two scores
    assert board.facts["document"].tolist() == ["doc1", "doc2"]
    for words in ("1 row of type BAD", "1 row of documents that are repeated", "1 score left out", "2 raters"):
        assert words in said(board)
    (tmp_path / "export.csv").write_text(APPRAISE + APPRAISE.replace("deu", "ces"), encoding="utf-8")
    with pytest.raises(OptionError, match="task='eng-ces'"):
        read(tmp_path / "export.csv")
    assert values(read(tmp_path / "export.csv", task="eng-deu"))["SysA"] == [74, 50]


def test_older_exports_of_appraise_have_no_spans(tmp_path: Path) -> None:
    lines = [line.replace("[],", "") for line in APPRAISE.splitlines()]
    (tmp_path / "export.csv").write_text("\n".join(lines), encoding="utf-8")
    assert values(read(tmp_path / "export.csv")) == {"SysA": [74, 50], "SysB": [60, 55]}


def test_mt_metrics_eval_goes_by_the_order_of_segments(tmp_path: Path) -> None:
    mt_metrics(tmp_path)
    with pytest.raises(OptionError, match="score='BLEU-refA'"):
        read(tmp_path)
    board = read(tmp_path, score="esa")
    np.testing.assert_array_equal(board.scores.values, [[90, 80, 60], [50, NAN, 70]])
    assert board.facts["domain"].tolist() == ["news", "news", "speech"]
    assert board.group == "document"
    assert "'refA' are reference translations" in said(board)
    (tmp_path / "human-scores" / "en-de.esa.seg.score").write_text("a 1\na 2\nb 3\n", encoding="utf-8")
    with pytest.raises(JudgmentError, match="segments are matched by their order"):
        read(tmp_path, score="esa")


def test_sacrerouge_has_metrics_within_metrics(tmp_path: Path) -> None:
    sacrerouge(tmp_path / "metrics.jsonl")
    with pytest.raises(OptionError, match="'responsiveness'"):
        read(tmp_path)
    assert values(read(tmp_path, score="rouge-1.f1")) == {"7": [53.3, 10], "8": [40, 20]}
    assert values(read(tmp_path, score="responsiveness"))["7"] == [1.5, 1.5]
    assert "2 records of reference summaries left out" in said(read(tmp_path, score="rouge-1.f1"))


def test_promptfoo_has_providers_prompts_and_named_scores(tmp_path: Path) -> None:
    file = promptfoo(tmp_path / "results.json")
    with pytest.raises(OptionError, match="'Tone'"):
        read(file)
    board = read(file, score="score")
    assert values(board)["a"] == [1, 0, 0]
    np.testing.assert_array_equal(values(board)["b"], [1, 1, NAN])
    assert "1 test without a score because an error ended them" in said(board)
    assert board.cost is not None
    assert board.cost[0].tolist() == [0.25, 0.5, 0.75]
    assert board.cost_unit == "dollars"
    both = read(promptfoo(tmp_path / "both.json", prompts=("short", "long")), score="score")
    assert both.systems == ("a, long", "a, short", "b, long", "b, short")
    write(tmp_path / "odd.json", {"evalId": "e", "results": {"version": 2, "table": {}}})
    with pytest.raises(JudgmentError, match=r"promptfoo eval --output results\.json"):
        read(tmp_path / "odd.json")


def test_livecodebench_has_samples_as_runs(tmp_path: Path) -> None:
    board = read(livecodebench(tmp_path))
    assert values(board) == {"model-a": [1] + [0] * 9, "model-b": [1, 1] + [0] * 8}  # their pass@1: .1 and .2
    assert board.facts["platform"].tolist()[:2] == ["leetcode", "atcoder"]
    assert "2 runs" in said(board)


def test_records_of_another_shape_are_refused_in_a_sentence(tmp_path: Path) -> None:
    lm_eval(tmp_path)
    name = "samples_arc_easy_2025-03-02T10-00-00.1.jsonl"
    write(tmp_path / "org__a" / name, {"doc": {}, "metrics": ["exact_match"], "exact_match": 1.0})
    with pytest.raises(JudgmentError, match="no field 'doc_id'"):
        read(tmp_path)
    write(tmp_path / "org__a" / name, {"doc_id": [1], "metrics": ["exact_match"], "exact_match": 1.0})
    with pytest.raises(JudgmentError, match=r"\[1\] as item"):
        read(tmp_path)
    (tmp_path / "org__a" / name).write_text('{"doc_id": 1,', encoding="utf-8")
    with pytest.raises(JudgmentError, match="not JSON"):
        read(tmp_path)
    (tmp_path / "x.eval").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(JudgmentError, match="cannot be unzipped"):
        read(tmp_path / "x.eval")
    log = inspect_log("o/a", ["C", "maybe"])
    write(tmp_path / "odd.json", log)
    with pytest.raises(JudgmentError, match="says 'maybe'"):
        read(tmp_path / "odd.json")


def test_values_that_are_no_names_are_refused(tmp_path: Path) -> None:
    """Found by changing every field of every fixture to every kind of value."""
    samples = every_eval(tmp_path / "every") / "arc" / "o/a" / "0_samples.jsonl"
    text = samples.read_text(encoding="utf-8")
    samples.write_text(text.replace('"total_tokens": 2', '"total_tokens": {}'), encoding="utf-8")
    with pytest.raises(JudgmentError, match=r"total_tokens: \{\} is not a number"):
        read(tmp_path / "every")
    spec = next(helm(tmp_path / "helm").rglob("run_spec.json"))
    spec.write_text(spec.read_text(encoding="utf-8").replace('"org/a"', '["org/a"]'), encoding="utf-8")
    with pytest.raises(JudgmentError, match=r"\['org/a'\] as system"):
        read(tmp_path / "helm")
    (mt_metrics(tmp_path / "mt") / "documents/en-de.docs").write_text("news\n", encoding="utf-8")
    with pytest.raises(JudgmentError, match="the line 'news'; expected a domain and a document"):
        read(tmp_path / "mt")


def test_one_system_or_one_item_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(JudgmentError, match=r"1 system, 'org/a', in .* expected at least two systems\. Put"):
        read(lm_eval(tmp_path, models=("org/a",)))
    one = pd.DataFrame({"system": ["a", "b"], "item": [1, 1], "score": [1, 0]})
    assert any("Read more items" in note for note in read(one).leaderboard().notes)
