"""Judgments in the formats of the field: every reader against a table written out by hand."""

import copy
import dataclasses
import gzip
import json
import pickle
import re
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.format_cases import (
    ALPACA,
    ARENA,
    CASES,
    HARD,
    HARD_TABLE,
    JUDGEARENA,
    OPENCOMPASS,
    PAIRS,
    POTATO,
    PREFMOD,
    PROMPTFOO,
    RAW_HEAD,
    STUDIO,
    WMT07,
    WMT07_TASK,
    WMT08,
    WMT2,
    WMT5,
)

import llbt
from llbt import from_counts, from_judgments, from_matrix, read_judgments

STANDARD = ("object_i", "object_j", "outcome", "judge", "prompt", "tie_kind", "strength", "weight", "block")


def rows(judgments, names=STANDARD):
    """Rows as tuples with None for what is missing, in no order."""
    frame = judgments.to_frame()[list(names)]
    return sorted((tuple(None if pd.isna(x) else x for x in row) for row in frame.to_numpy(object)), key=repr)


def oriented(judgments):
    """The same judgments, the objects of each sorted where their order means nothing."""
    return judgments if judgments.shown else judgments.oriented()


def plain_rows(frame):
    return rows(frame, ("object_i", "object_j", "outcome"))


def counts_of(table, **options):
    names = ["object_i", "object_j", "wins_i", "ties", "wins_j"]
    return from_counts(pd.DataFrame(table, columns=names), **options)


def shuffled(records):
    """The same records with fields and rows in another order."""
    return [dict(reversed(list(record.items()))) for record in reversed(records)]


# what the organizers of WMT08 made of them: statmt.org/wmt08/README.evaluation-dev-data, segments from 1
WMT07_SEGMENTS = """1 cu = uedin
1 cu > pctranslator2007
1 uedin > pctranslator2007
1 umd > cu
1 umd > pctranslator2007
1 umd > uedin
14 cu > pctranslator2007
14 cu > uedin
14 cu > umd
14 uedin = umd
14 uedin > pctranslator2007
14 umd > pctranslator2007
16 cu = pctranslator2007
16 cu = uedin
16 cu = umd
16 pctranslator2007 = uedin
16 pctranslator2007 = umd
16 uedin = umd
"""


BY_ID = {case.id: case for case in CASES}
AUTO = [case for case in CASES if case.auto]
FREE = {"prefmod": ("strength", "block"), "alpaca_eval_weighted": ("strength", "block")}  # not written down anywhere


def each(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.id)


def check(judgments, case):
    names, frame = ("object_i", "object_j", "outcome", *case.also.split()), judgments.to_frame()
    # rows for no judgment may be there or not
    said = judgments if judgments.weights is None else judgments.take(judgments.weights > 0)
    assert rows(said, names) == sorted(case.table, key=repr)
    assert frame.columns[:7].tolist() == list(STANDARD[:7])
    assert "block" in frame
    assert ("weight" in frame) == ("weight" in names)
    for name in set(STANDARD) - {*names, "weight", *FREE.get(case.id, ())}:
        assert frame[name].isna().all(), name


def check_notes(notes, case):
    said = [note for note in notes if re.match(r"[\d,]+ \w+ (left out|added)|[\d,]+ row.* left out", note)]
    numbers = [int(re.match(r"[\d,]+", note)[0].replace(",", "")) for note in said]
    assert sorted(numbers) == sorted(n for n, _ in case.left), notes
    for n, word in case.left:
        assert any(note.startswith(f"{n} ") and word in note for note in said), (n, word, notes)


def check_counts(c, case, **options):
    assert c == counts_of(case.counts, **options)


class TestEveryFormat:
    def test_all_are_here(self):
        here = {case.name for case in CASES} | {"wmt3", "wmt4"}
        assert here == set(llbt.formats.table().to_frame()["name"])

    @each(CASES)
    def test_by_name(self, case, tmp_path):
        frame = read_judgments(case.open(tmp_path), format=case.name, **case.options)
        check(frame, case)
        check_notes(frame.notes, case)

    @each(AUTO)
    def test_by_its_fields(self, case, tmp_path):
        frame = read_judgments(case.open(tmp_path), **case.options)
        check(frame, case)
        check_notes(frame.notes, case)
        assert f"read as '{case.name}'" in frame.notes[0]

    @each([case for case in AUTO if case.name in llbt.formats.known])
    def test_by_its_record(self, case, tmp_path):
        frame = read_judgments(case.open(tmp_path), format=llbt.formats.known[case.name], **case.options)
        check(frame, case)

    @each(CASES)
    def test_says_how_much_was_read(self, case, tmp_path):
        frame = read_judgments(case.open(tmp_path), format=case.name, **case.options)
        total = frame.n_judgments
        n = re.fullmatch(r"([\d,]+) records? read as '(\w+)': ([\d.,]+) judgments?", frame.notes[0])
        assert n, frame.notes
        if case.suffix == "" and case.id != "matrix":
            assert int(n[1]) == len(case.source)
        assert float(n[3].replace(",", "")) == total

    @pytest.mark.slow
    @each(CASES)
    @pytest.mark.parametrize("order", [False, True])
    def test_two_steps_and_one_give_the_counts(self, case, order, tmp_path):
        source = case.open(tmp_path)
        frame = read_judgments(source, format=case.name, **case.options)
        if order and not frame.shown:  # nobody recorded it, so it cannot be kept
            with pytest.raises(llbt.errors.OptionError, match="does not record which object was shown first"):
                from_judgments(frame, order=True)
            return
        two = from_judgments(frame, order=order)
        check_counts(two, case, order=order)
        check_notes(two.notes, case)
        if set(case.options) <= {"objects"}:
            one = from_judgments(source, format=case.name, order=order, **case.options)
            check_counts(one, case, order=order)

    @each([case for case in CASES if "judge" in case.also.split()])
    @pytest.mark.slow
    def test_the_judge_is_a_covariate_in_two_steps_and_in_one(self, case, tmp_path):
        source = case.open(tmp_path)
        frame = read_judgments(source, format=case.name)
        has_prompt = "prompt" in case.also.split()
        asked = {"covariates": "judge", "clusters": ("prompt",) if has_prompt else ()}
        one = from_judgments(source, format=case.name, **asked)
        two = from_judgments(frame, **asked)
        assert one == two
        judges = {row[3 + case.also.split().index("judge")] for row in case.table}
        assert set(one.columns[0].levels.tolist()) == judges
        assert sum(one.pool("judge").counts.ravel()) == sum(sum(row[2:]) for row in case.counts)

    @each([case for case in CASES if case.others])
    def test_other_fields_keep_their_names(self, case, tmp_path):
        frame = read_judgments(case.open(tmp_path), format=case.name, **case.options)
        assert set(frame.to_frame().columns) - set(STANDARD) >= set(case.others.split())

    @each([case for case in CASES if isinstance(case.source, list) and case.id != "choix"])
    @pytest.mark.slow
    def test_order_of_fields_and_records_does_not_matter(self, case):
        frame = read_judgments(shuffled(case.source), format=case.name, **case.options)
        names = [name for name in ("object_i", "object_j", "outcome", *case.also.split()) if name != "block"]
        whole = read_judgments(case.source, format=case.name, **case.options)
        assert rows(oriented(frame), names) == rows(oriented(whole), names)

    @each(CASES)
    def test_what_the_caller_passes_is_left_alone(self, case, tmp_path):
        source = case.open(tmp_path)
        before = copy.deepcopy(source)
        read_judgments(source, format=case.name, **case.options)
        if isinstance(source, pd.DataFrame):
            pd.testing.assert_frame_equal(source, before)
        else:
            assert source == before

    @pytest.mark.slow
    @each([case for case in CASES if isinstance(case.source, list) and case.id != "choix"])
    @pytest.mark.parametrize("suffix", [".json", ".jsonl", ".json.gz", ".jsonl.gz"])
    def test_from_json(self, case, suffix, tmp_path):
        path = tmp_path / f"judgments{suffix}"
        lines = "\n".join(json.dumps(record) for record in case.source)
        text = lines + "\n" if "jsonl" in suffix else json.dumps(case.source, indent=1)
        path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
        frame = read_judgments(path, format=case.name, **case.options)
        check(frame, case)
        check_notes(frame.notes, case)

    @pytest.mark.slow
    @each([case for case in CASES if isinstance(case.source, list) and case.id != "choix"])
    @pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "parquet"])
    def test_from_frames(self, case, engine, tmp_path):
        made = {
            "pandas": pd.DataFrame,
            "polars": lambda records: pl.DataFrame(records, infer_schema_length=None),
            "pyarrow": pa.Table.from_pylist,
            "parquet": lambda records: self.parquet(records, tmp_path),
        }[engine]
        frame = read_judgments(made(case.source), format=case.name, **case.options)
        check(frame, case)
        check_notes(frame.notes, case)

    @staticmethod
    def parquet(records, folder):
        path = folder / "judgments.parquet"
        pl.DataFrame(records, infer_schema_length=None).write_parquet(path)
        return path

    @each([case for case in CASES if case.suffix == ".csv" and case.auto])
    @pytest.mark.parametrize("suffix", [".tsv", ".csv.gz"])
    def test_from_text(self, case, suffix, tmp_path):
        path = tmp_path / f"judgments{suffix}"
        text = case.source.replace(",", "\t") if suffix == ".tsv" else case.source
        path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
        check(read_judgments(path), case)


class TestArena:
    def test_both_bad_is_a_tie_with_a_note_unless_told_otherwise(self):
        c = from_judgments(ARENA, format="arena")
        assert c.n_ties == 3
        told = "2 ties are of the kind 'both_bad', which outcomes={'both_bad': 'bad'} counts apart"
        assert [note for note in c.notes if "both_bad" in note] == [told]
        assert from_judgments(read_judgments(ARENA)).notes[1] == told
        without = {"tie (bothbad)": None, "both_bad": None}
        for left in (
            from_judgments(ARENA, format="arena", outcomes=without),
            from_judgments(read_judgments(ARENA, outcomes=without)),
        ):
            assert (left.n_ties, left.n_judgments) == (1, 4)
            assert sum("left out" in note for note in left.notes) == 2
            assert not any("kind" in note for note in left.notes)

    def test_one_of_the_two_words_left_out(self):
        frame = read_judgments(ARENA, outcomes={"tie (bothbad)": None})
        assert frame.to_frame()["tie_kind"].notna().sum() == 1
        assert len(frame.to_frame()) == 5

    def test_ties_may_be_wins(self):
        frame = read_judgments(ARENA, outcomes={"tie (bothbad)": "j"})
        assert (frame.to_frame()["outcome"] == "j").sum() == 2
        assert frame.to_frame()["tie_kind"].notna().sum() == 1

    def test_a_parquet_file_in_one_call(self, tmp_path):
        path = tmp_path / "battles.parquet"
        pd.DataFrame(ARENA).rename(columns={"question_id": "prompt"}).to_parquet(path)
        c = from_judgments(path, format="arena", covariates="judge", clusters="prompt")
        assert (c.covariates, c.clusters) == (("judge",), ("prompt",))
        assert c == from_judgments(str(path), covariates="judge", clusters="prompt")
        assert c == from_judgments(read_judgments(path), covariates="judge", clusters="prompt")

    def test_judge_and_prompt_by_the_names_of_the_file_too(self):
        frame = pd.DataFrame(ARENA)
        c = from_judgments(frame, format="arena", covariates="judge", clusters="prompt")
        own = from_judgments(frame, format="arena", covariates="judge", clusters="question_id")
        assert own.clusters == ("question_id",)
        assert np.array_equal(own.cluster_counts.counts, c.cluster_counts.counts)

    @pytest.mark.parametrize("bad", [dict(winner_model_a=1, winner_model_b=1, winner_tie=0), dict(winner_tie=None)])
    def test_kaggle_rows_with_no_single_one(self, bad):
        records = [*BY_ID["kaggle"].source, BY_ID["kaggle"].source[2] | bad]
        with pytest.raises(llbt.errors.JudgmentError, match=r"winner_tie.*max_dropped=1"):
            read_judgments(records)
        frame = read_judgments(records, max_dropped=1)
        assert len(frame.to_frame()) == 3
        assert any(note.startswith("1 judgment left out") for note in frame.notes)


class TestArenaHard:
    def test_without_a_baseline_the_error_says_what_to_do(self):
        records = [{k: v for k, v in record.items() if k != "baseline"} for record in HARD]
        with pytest.raises(llbt.errors.JudgmentError, match=r"baseline") as error:
            read_judgments(records)
        assert "pass defaults= and the value of 'baseline'" in str(error.value)
        check(read_judgments(records, defaults={"baseline": "b"}), BY_ID["arena_hard"])
        check_counts(from_judgments(records, defaults={"baseline": "b"}), BY_ID["arena_hard"])
        check_counts(from_judgments(pd.DataFrame(records), defaults={"baseline": "b"}), BY_ID["arena_hard"])
        mine = dataclasses.replace(llbt.formats.known["arena_hard"], defaults={"baseline": "b"})
        assert llbt.audit(records, format=mine).finding("outcomes").level == "ok"
        check(read_judgments(records, format=mine), BY_ID["arena_hard"])
        check_counts(from_judgments(records, format=mine), BY_ID["arena_hard"])

    def test_the_default_does_not_replace_what_the_file_says(self):
        mine = dataclasses.replace(llbt.formats.known["arena_hard"], defaults={"baseline": "other"})
        check(read_judgments(HARD, format=mine), BY_ID["arena_hard"])

    def test_unknown_scores(self):
        records = [*HARD, HARD[0] | {"games": [{"score": "A?B"}, {"score": "A=B"}]}]
        with pytest.raises(llbt.errors.JudgmentError, match=r"'A\?B'"):
            read_judgments(records)
        frame = read_judgments(records, max_dropped=1)
        assert len(frame.to_frame()) == len(HARD_TABLE) + 1

    def test_what_may_be_dropped_is_counted_over_both_games(self):
        records = [*HARD, HARD[0] | {"games": [{"score": "A?B"}, {"score": "B?A"}]}]
        with pytest.raises(llbt.errors.JudgmentError, match="2"):
            read_judgments(records, max_dropped=1)
        assert len(read_judgments(records, max_dropped=2).to_frame()) == len(HARD_TABLE)


class TestAlpacaEval:
    @pytest.mark.parametrize("format", ["alpaca_eval", "alpaca_eval_weighted"])
    @pytest.mark.parametrize("value", [2.5, 0.5, -1.0])
    def test_outside_the_scale(self, format, value):
        records = [*ALPACA[:4], ALPACA[0] | {"preference": value}]
        with pytest.raises(llbt.errors.JudgmentError, match=rf"4.*'preference' is {value:g}"):
            read_judgments(records, format=format)
        with pytest.raises(llbt.errors.JudgmentError, match=rf"4.*'preference' is {value:g}"):
            from_judgments(records, format=format)
        frame = read_judgments(records, format=format, max_dropped=1)
        expected = read_judgments(ALPACA[:4], format=format)
        assert rows(frame, ("object_i", "object_j", "outcome", "prompt")) == rows(
            expected, ("object_i", "object_j", "outcome", "prompt")
        )
        assert any("1 judgment" in note and "left out" in note for note in frame.notes), frame.notes

    @pytest.mark.parametrize("format", ["alpaca_eval", "alpaca_eval_weighted"])
    def test_one_record_too_many(self, format):
        records = [*ALPACA[:4], *(ALPACA[0] | {"preference": value} for value in (5, 6))]
        with pytest.raises(llbt.errors.JudgmentError, match="2 judgments unknown"):
            read_judgments(records, format=format, max_dropped=1)
        assert read_judgments(records, format=format, max_dropped=2).notes

    def test_failed_records_are_counted_as_records_in_the_weighted_reading_too(self):
        frame = read_judgments(ALPACA, format="alpaca_eval_weighted")
        assert frame.to_frame()["weight"].sum() == 5
        assert next(note for note in frame.notes if "left out" in note).startswith("1 ")

    @pytest.mark.parametrize("grades", [(0, 1, 1.5, 2, np.nan), (0, 1, 1.0000005, 1.3, 1.5, 1.99, 2, np.nan)])
    def test_the_win_rate_is_alpaca_evals(self, grades):
        """Its rule (alpaca_eval/metrics/helpers.py): 0 stands for 1.5, missing ones go, the mean of preference − 1."""
        x = np.random.default_rng(1).choice(grades, 300)
        records = [ALPACA[0] | {"preference": value} for value in x]
        known = np.where(x == 0, 1.5, x)[~np.isnan(x)]
        wins, ties, losses = from_judgments(records).to_frame()[["wins_i", "ties", "wins_j"]].to_numpy()[0]
        assert from_judgments(records).objects == ("new", "ref")  # new is object i
        assert (wins + ties / 2) / (wins + ties + losses) == pytest.approx((known - 1).mean(), abs=1e-12)
        assert wins + ties + losses == pytest.approx(len(known))

    def test_grades_are_read_by_the_nearer_end_where_that_is_asked_for(self):
        frame = read_judgments(ALPACA[:4], format="alpaca_eval")
        assert frame.to_frame()["outcome"].tolist() == ["i", "j", "tie", "i"]

    @pytest.mark.parametrize("engine", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist])
    def test_versions_are_told_apart_in_frames(self, engine):
        assert "'alpaca_eval'" in read_judgments(engine(ALPACA[:3])).notes[0]
        assert "'alpaca_eval_weighted'" in read_judgments(engine(ALPACA[:4])).notes[0]

    def test_weights_of_ties_are_half_a_win_for_either(self):
        c = from_judgments(ALPACA[2:3], format="alpaca_eval_weighted")
        assert not c.has_ties
        assert c == from_judgments(ALPACA[4:5], format="alpaca_eval_weighted")
        assert sorted(c.counts[0].tolist()) == [0, 0.5, 0.5]


class TestOtherTools:
    def test_potato_without_grades(self):
        records = [POTATO[0] | {"preference": label} for label in ("A", "tie", "B")]
        assert plain_rows(read_judgments(records)) == [("x", "y", "i"), ("x", "y", "j"), ("x", "y", "tie")]

    @pytest.mark.parametrize(
        ("records", "format"),
        [
            ([dict(response1="r", response2="s", overall_preference=1)], "helpsteer3"),
            ([dict(answer_0="r", answer_1="s", score_0=1, score_1=0)], "webgpt"),
            ([dict(instance_id=1, user_id=2, preference="A+")], "potato"),
            ([dict(prompt="p", chosen="r", rejected="s")], "chosen_rejected"),
            ([dict(prompt="p", chosen="r", rejected="s")], "auto"),
            ([dict(id=1, data={"text": "t"}, annotations=STUDIO[0]["annotations"])], "label_studio"),
        ],
    )
    def test_models_without_names(self, records, format):
        for asked in (format, "auto"):
            with pytest.raises(llbt.errors.JudgmentError, match="objects="):
                read_judgments(records, format=asked)
            with pytest.raises(llbt.errors.JudgmentError, match="objects="):
                from_judgments(records, format=asked)

    @pytest.mark.parametrize(
        ("case", "field", "value"),
        [
            ("helpsteer3", "overall_preference", 4),
            ("webgpt", "score_0", 3),
            ("potato_scale", "preference.scale_value", -5),
        ],
    )
    def test_numbers_off_the_scale(self, case, field, value):
        records = [*BY_ID[case].source, BY_ID[case].source[0] | {field: value}]
        with pytest.raises(llbt.errors.JudgmentError, match=field):
            read_judgments(records, **BY_ID[case].options)
        assert len(read_judgments(records, **BY_ID[case].options, max_dropped=1).to_frame()) == len(records) - 1

    def test_label_studio_without_a_result_is_a_tie_if_told(self):
        frame = read_judgments(STUDIO, outcomes={None: "tie"})
        assert rows(frame, ("object_i", "object_j", "outcome", "judge")) == [
            ("x", "y", "i", 5),
            ("x", "y", "tie", 6),
            ("y", "z", "j", 5),
        ]
        assert from_judgments(STUDIO, format="label_studio", outcomes={None: "tie"}).n_ties == 1

    def test_label_studio_says_what_to_do_with_empty_results(self):
        notes = " ".join(read_judgments(STUDIO).notes)
        assert "{None: 'tie'}" in notes

    def test_label_studio_judges_with_names(self):
        tasks = copy.deepcopy(STUDIO)
        for task in tasks:
            for annotation in task["annotations"]:
                annotation["completed_by"] = {"id": annotation["completed_by"], "email": "me@x.org"}
        assert read_judgments(tasks).to_frame()["judge"].unique().tolist() == ["me@x.org"]

    def test_label_studio_fields_of_the_data_by_name(self):
        tasks = [task | {"data": {"a": "x", "b": "y"}} for task in STUDIO]
        frame = read_judgments(tasks, objects=("data.a", "data.b"))
        assert plain_rows(frame) == [("x", "y", "i"), ("x", "y", "j")]

    def test_label_studio_tasks_without_annotations(self):
        frame = read_judgments([*STUDIO, STUDIO[0] | {"annotations": []}])
        assert len(frame.to_frame()) == 2
        assert any(note.startswith("1 record left out") for note in frame.notes)

    @pytest.mark.parametrize("empty", [{"comparison": None}, {"comparison": []}])
    def test_label_studio_min_without_a_result(self, empty):
        records = BY_ID["label_studio_min"].source
        records = [*records, records[0] | empty]
        frame = read_judgments(records)
        check(frame, BY_ID["label_studio_min"])
        assert any("left out" in note and note.startswith("1 ") for note in frame.notes)
        assert len(read_judgments(records, outcomes={None: "tie"}).to_frame()) == 3

    def test_ties_in_win_counts(self):
        records = [{"player1": "x", "player2": "y", "win1": 3, "win2": 2, "ties": 4}]
        frame = read_judgments(records)
        assert rows(frame, ("object_i", "object_j", "outcome", "weight")) == [
            ("x", "y", "i", 3),
            ("x", "y", "j", 2),
            ("x", "y", "tie", 4),
        ]
        assert from_judgments(records) == counts_of([("x", "y", 3, 4, 2)])

    @pytest.mark.parametrize("value", [-1, float("inf")])
    def test_counts_below_zero(self, value):
        with pytest.raises(llbt.errors.JudgmentError, match="win1"):
            read_judgments([{"player1": "x", "player2": "y", "win1": value, "win2": 2}])

    def test_choix_takes_any_pairs(self):
        expected = counts_of([("x", "y", 2, 0, 1)])
        for pairs in ([("x", "y"), ("y", "x"), ("x", "y")], [["x", "y"], ["x", "y"], ["y", "x"]]):
            assert from_judgments(pairs) == expected
            assert from_judgments(read_judgments(pairs)) == expected

    def test_a_frame_of_winners_and_losers(self):
        frame = pd.DataFrame({"loser": ["y", "x"], "winner": ["x", "z"]})
        assert plain_rows(read_judgments(frame)) == [("x", "y", "i"), ("z", "x", "i")]

    @pytest.mark.parametrize("kind", [".csv", "polars", "frame"])
    def test_a_matrix_from_anywhere(self, kind, tmp_path):
        frame = BY_ID["matrix"].source
        if kind == ".csv":
            frame.to_csv(tmp_path / "wins.csv")
            source = tmp_path / "wins.csv"
        else:
            source = pl.from_pandas(frame.reset_index()) if kind == "polars" else frame.reset_index()
        assert from_judgments(source, format="matrix") == from_matrix(frame)
        assert from_judgments(read_judgments(source, format="matrix")) == from_matrix(frame)


class TestFilesAsTheyAreWritten:
    """What one record of the cases does not show: files that are one JSON object, and lines with other fields."""

    @staticmethod
    def saved(folder, name, found):
        path = folder / name
        lines = "\n".join(map(json.dumps, found)) if isinstance(found, list) else json.dumps(found, indent=2)
        path.write_text(lines, encoding="utf-8")
        return path

    def test_promptfoo(self, tmp_path):
        frame = read_judgments(self.saved(tmp_path, "output.json", PROMPTFOO))
        check(frame, BY_ID["promptfoo"])
        assert set(frame.to_frame()["assertion"].map(lambda found: found["type"])) == {"select-best"}

    @pytest.mark.parametrize("indent", [None, 2])
    def test_opencompass(self, indent, tmp_path):
        path = tmp_path / "judgments.json"
        path.write_text(json.dumps({str(k): record for k, record in enumerate(OPENCOMPASS)}, indent=indent))
        check(read_judgments(path), BY_ID["opencompass"])

    def test_judgearena(self, tmp_path):
        frame = read_judgments(self.saved(tmp_path, "results.json", JUDGEARENA[0]))
        assert rows(frame, ("object_i", "object_j", "outcome", "judge", "strength")) == sorted(
            BY_ID["judgearena"].table[:4], key=repr
        )

    def test_judgearena_with_a_preference_a_row(self):
        records = [
            dict(model_A="x", model_B="y", judge="g", instruction_index=k, preferences=said)
            for k, said in enumerate((0.2, 0.5, 1.0))
        ]
        frame = read_judgments(pd.DataFrame(records))
        assert "'judgearena'" in frame.notes[0]
        assert rows(frame, ("object_i", "object_j", "outcome", "judge", "prompt")) == [
            ("x", "y", "i", "g", 0),
            ("x", "y", "j", "g", 2),
            ("x", "y", "tie", "g", 1),
        ]

    def test_openai_evals(self, tmp_path):
        records = BY_ID["openai_evals"].source
        lines = [{name: value for name, value in record.items() if value is not None} for record in records]
        assert set(lines[0]) == {"spec", "created_at"}
        check(read_judgments(self.saved(tmp_path, "log.jsonl", lines)), BY_ID["openai_evals"])

    def test_comparia_from_text(self, tmp_path):
        frame = pd.DataFrame(BY_ID["comparia"].source)
        frame.to_csv(tmp_path / "votes.csv", index=False)
        check(read_judgments(tmp_path / "votes.csv"), BY_ID["comparia"])


class TestModelFormats:
    def test_comparia_without_a_vote(self):
        records = [*BY_ID["comparia"].source, BY_ID["comparia"].source[1] | {"both_equal": False}]
        with pytest.raises(llbt.errors.JudgmentError, match="1 missing outcome"):
            read_judgments(records)
        frame = read_judgments(records, max_dropped=1)
        assert (len(frame.to_frame()), frame.dropped) == (4, 1)

    @pytest.mark.parametrize(
        ("case", "field", "value"),
        [
            ("helpsteer2", "preference_strength", 4),
            ("judgearena", "preferences", [1.5]),
            ("prism", "score", 101),
            ("pickapic", "label_0", 2),
        ],
    )
    def test_numbers_off_the_scale(self, case, field, value):
        records = [BY_ID[case].source[0] | {field: value}, *BY_ID[case].source[1:]]
        with pytest.raises(llbt.errors.JudgmentError, match=f"{field}.*max_dropped="):
            read_judgments(records, **BY_ID[case].options)

    @pytest.mark.parametrize(
        ("case", "gone"),
        [("pku_saferlhf", ("response_0_source", "response_1_source")), ("helpsteer2", ("m1", "m2"))],
    )
    def test_models_without_names(self, case, gone):
        records = [{k: v for k, v in record.items() if k not in gone} for record in BY_ID[case].source]
        with pytest.raises(llbt.errors.JudgmentError, match="objects="):
            read_judgments(records)

    @pytest.mark.parametrize("case", ["openai_evals", "autoevals", "judgebench", "promptfoo"])
    def test_objects_that_are_no_plain_fields_may_be_named(self, case):
        known = llbt.formats.known[case]
        records = [record | {"mine": "a", "theirs": "b"} for record in copy.deepcopy(BY_ID[case].source)]
        frame = read_judgments(records, objects=("mine", "theirs"))
        assert {*frame.to_frame()["object_i"], *frame.to_frame()["object_j"]} == {"a", "b"}
        assert (
            frame.to_frame()["outcome"].tolist()
            == read_judgments(BY_ID[case].source, format=known).to_frame()["outcome"].tolist()
        )

    def test_pairs_alone_are_no_judgments(self):
        records = [{k: v for k, v in record.items() if k != "judgments"} for record in BY_ID["judgebench"].source]
        with pytest.raises(llbt.errors.JudgmentError, match=r"run_judge\.py"):
            read_judgments(records)

    def test_an_arena_with_answers_is_no_autoarena(self):
        records = [record | dict(response_a="r", response_b="s", prompt="p") for record in ARENA]
        assert plain_rows(read_judgments(records)) == plain_rows(read_judgments(ARENA))
        assert "'arena'" in read_judgments(records).notes[0]

    def test_an_unknown_preference(self):
        records = copy.deepcopy(BY_ID["multipref"].source)
        records[1]["expert_worker_annotations"][0]["overall_pref"] = "A-is-better"
        with pytest.raises(llbt.errors.JudgmentError, match="'A-is-better'"):
            read_judgments(records)
        assert len(read_judgments(records, max_dropped=1).to_frame()) == 5

    def test_the_list_that_an_annotation_comes_from_stays(self):
        frame = read_judgments(BY_ID["multipref"].source)
        assert set(frame.to_frame().loc[frame.to_frame()["judge"] == "e1", "list"]) == {"expert_worker_annotations"}
        assert set(frame.to_frame().loc[frame.to_frame()["judge"] == "n1", "list"]) == {"normal_worker_annotations"}

    def test_every_two_against_a_loop(self):
        rng = np.random.default_rng(1)
        records = [
            dict(
                utterance_id=k,
                interaction_id=str(rng.integers(12)),
                user_id="v",
                model_name=str(rng.integers(5)),
                score=int(rng.integers(1, 6)),
                if_chosen=False,
            )
            for k in range(60)
        ]
        expected = []
        for k, i in enumerate(records):
            for j in records[k + 1 :]:
                if i["interaction_id"] == j["interaction_id"] and i["model_name"] != j["model_name"]:
                    better = i["score"] - j["score"]
                    said = "i" if better > 0 else "j" if better < 0 else "tie"
                    expected.append((i["model_name"], j["model_name"], said, i["interaction_id"], float(abs(better))))
        frame = read_judgments(records)
        assert rows(frame, ("object_i", "object_j", "outcome", "block", "strength")) == sorted(expected, key=repr)

    @each(AUTO)
    def test_further_fields_change_nothing(self, case):
        if not isinstance(case.source, list) or not isinstance(case.source[0], dict):
            return
        records = [record | {"remark": "r", "figure": 3} for record in case.source]
        frame = read_judgments(records, **case.options)
        assert f"read as '{case.name}'" in frame.notes[0]
        check(frame, case)

    @each([case for case in AUTO if isinstance(case.source, list) and isinstance(case.source[0], dict)])
    def test_no_other_format_has_as_many_of_its_fields(self, case):
        fields = {name for record in case.source for name in record}
        found = {
            known.name: len(known.marks) + len(known.values)
            for known in llbt.formats.known.values()
            if known.marks and fields >= set(known.marks)
        }
        rivals = {name for name, marks in found.items() if marks >= found[case.name]} - {case.name}
        assert all(llbt.formats.known[name].values for name in rivals)  # what their values are tells them apart


class TestWMT:
    def test_sizes(self):
        head = {"srclang": "cs", "trglang": "en", "srcIndex": 1, "judgeId": "j1"}
        for size in (2, 3, 4, 5):
            ids = {f"system{k}Id": f"s{k}" for k in range(1, size + 1)}
            ranks = {f"system{k}rank": k for k in range(1, size + 1)}
            frame = read_judgments([head | ids | ranks])
            assert f"'wmt{size}'" in frame.notes[0]
            assert (frame.to_frame()["outcome"] == "i").all()
            assert len(frame.to_frame()) == size * (size - 1) // 2

    def test_identical_outputs_on_both_sides(self):
        record = dict(srclang="cs", trglang="en", srcIndex=1, judgeID="j", rankingID=5)
        record |= {"system1Id": "a+b", "system1rank": 1, "system2Id": "c+d+e", "system2rank": 2}
        frame = read_judgments([record])
        assert plain_rows(frame) == [(i, j, "i") for i in "ab" for j in "cde"]
        assert next(note for note in frame.notes if "identical" in note).startswith("5 ")

    def test_what_was_recorded_at_once(self, tmp_path):
        frame = read_judgments(BY_ID["wmt2"].open(tmp_path))
        assert list(
            zip(frame.to_frame()["object_i"], frame.to_frame()["object_j"], frame.to_frame()["record"], strict=True)
        ) == [
            ("a", "c", 0),
            ("b", "c", 0),
            ("c", "d", 1),
            ("d", "a", 2),
        ]
        c = from_judgments(frame, clusters="record")
        assert c.cluster_counts.columns[0].levels.tolist() == [0, 1, 2]
        once = frame.to_frame().assign(weight=1 / frame.to_frame().groupby("record")["record"].transform("size"))
        assert from_judgments(once).n_judgments == 3
        as_written = read_judgments(BY_ID["wmt2"].open(tmp_path), joined=False)
        assert plain_rows(as_written) == [("a+b", "c", "i"), ("c", "d", "tie"), ("d", "a", "j")]
        assert "record" not in as_written.names
        assert as_written.to_frame()["block"].tolist() == [901, 901, 902]

    def test_records_of_five_systems(self):
        ids = dict(zip((f"system{k}Id" for k in range(1, 6)), ("a+b", "c", "d+e", "f", "blank"), strict=True))
        record = dict(srclang="cs", trglang="en", srcIndex=1, judgeId="j")
        frame = read_judgments([record | ids | {f"system{k}rank": k for k in range(1, 6)}] * 2)
        sizes = frame.to_frame().groupby("record").size()
        assert sorted(sizes) == sorted([2, 4, 2, 2, 1, 2] * 2)  # of six pairs of outputs in either record
        assert frame.to_frame().groupby("record")["block"].nunique().max() == 1
        assert frame.to_frame().groupby("record")["outcome"].nunique().max() == 1

    def test_a_field_called_record_keeps_what_it_says_under_another_name(self):
        records = [dict(object_i="x", object_j="y", outcome="i", record=k) for k in (5, 5)]
        frame = read_judgments(records)
        assert "record" not in frame.names
        assert frame.to_frame()["record_"].tolist() == [5, 5]

    @pytest.mark.parametrize("rank", [0, 6, -2])
    def test_ranks_off_the_scale(self, rank):
        text = WMT2 + f"cze,eng,8,71,anno2,d,{rank},a,2,903\n"
        records = [dict(zip(WMT2.split("\n")[0].split(","), line.split(","), strict=True)) for line in text.split()[1:]]
        with pytest.raises(llbt.errors.JudgmentError, match="system1rank"):
            read_judgments(records)
        frame = read_judgments(records, max_dropped=1)
        assert plain_rows(frame) == sorted(row[:3] for row in BY_ID["wmt2"].table)

    @pytest.mark.parametrize("name", ["judgements", "wmt07.csv"])
    def test_five_is_the_best_rank_of_2007(self, name, tmp_path):
        (tmp_path / name).write_text(WMT07)
        (tmp_path / "segments.txt").write_text(WMT07_SEGMENTS)
        frame = read_judgments(tmp_path / name)
        assert any("1 record left out: 'TYPE'" in note for note in frame.notes)
        segments = read_judgments(tmp_path / "segments.txt", format="wmt_text").to_frame()
        segments["prompt"] = segments["prompt"].map(lambda k: f"{WMT07_TASK}:{int(k) - 1}")
        prompts = segments["prompt"].unique()
        assert len(prompts) == 3
        for prompt in prompts:
            ours, theirs = (from_judgments(x[x["prompt"] == prompt]).win_matrix() for x in (frame.to_frame(), segments))
            assert (np.sign(ours - ours.T) == np.sign(theirs - theirs.T)).all(axis=None)

    def test_one_is_the_best_rank_of_2008_and_2009(self, tmp_path):
        (tmp_path / "wmt08.csv").write_text(f"{RAW_HEAD}\n{WMT08}")
        check(read_judgments(tmp_path / "wmt08.csv"), BY_ID["wmt08"])
        check(read_judgments(tmp_path / "wmt08.csv", format="wmt08"), BY_ID["wmt08"])
        (tmp_path / "wmt09.csv").write_text(
            "JUDGEMENT_ID\t" + RAW_HEAD.replace(",TIME", ",ANNOTATOR_TYPE_COUNT,TIME").replace(",", "\t") + "\tEXTRA\n"
            "0\tWMT09 Multisource-English News\tRANK\t2442\t0\t0\t39\trwth\t3\t\tcmu\t2\t\tbbn\t1" + 8 * "\t" + "\n"
            "9\tWMT09 English-Hungarian News\tEDIT\t660\t91\t1\t130\tuedin\tEDIT" + 14 * "\t" + '"A nők" című\n'
            "8\tWMT09 English-Hungarian News\tEDIT_ACCEPT\t2112\t91\t0\t121\tuedin\t0\t91" + 13 * "\t" + "\n"
        )
        frame = read_judgments(tmp_path / "wmt09.csv")
        assert plain_rows(frame) == [("cmu", "bbn", "j"), ("rwth", "bbn", "j"), ("rwth", "cmu", "j")]
        assert set(frame.to_frame()["judge"]) == {0}

    @pytest.mark.parametrize("header", [RAW_HEAD + "\n", ""])
    def test_years_are_not_read_as_one_another(self, header, tmp_path):
        (tmp_path / "raw.csv").write_text(header + WMT07.split("\n", 1)[1])
        with pytest.raises(llbt.errors.JudgmentError, match=r"'wmt08' does not read 'TASK' 'WMT07 .*format='wmt07'"):
            read_judgments(tmp_path / "raw.csv", format="wmt08")
        (tmp_path / "raw.csv").write_text(header + WMT07.split("\n", 1)[1] + WMT08)
        for known in ("wmt07", "wmt08"):
            with pytest.raises(llbt.errors.JudgmentError, match="'TASK' 'WMT0"):
                read_judgments(tmp_path / "raw.csv", format=known)
        if header:
            with pytest.raises(llbt.errors.JudgmentError, match=r"those of 'wmt07', 'wmt08', but 'TASK' holds 'WMT08"):
                read_judgments(tmp_path / "raw.csv")

    def test_a_line_of_another_file_that_ends_early_is_damaged_still(self, tmp_path):
        (tmp_path / "cut.csv").write_text("model_a,model_b,winner\nx,y,model_a\nx,y\n")
        with pytest.raises(llbt.errors.JudgmentError, match="cut off"):
            read_judgments(tmp_path / "cut.csv")
        (tmp_path / "long.csv").write_text(f"{RAW_HEAD}\n{WMT07.splitlines()[2]}" + ",1" * 20 + "\n")
        with pytest.raises(llbt.errors.JudgmentError, match="line 2"):
            read_judgments(tmp_path / "long.csv")

    def test_text_that_is_not_wmt(self, tmp_path):
        path = tmp_path / "ranks.txt"
        path.write_text("1 cu = uedin\n1 cu > umd extra words\n", encoding="utf-8")
        with pytest.raises(llbt.errors.JudgmentError, match="line 2"):
            read_judgments(path, format="wmt_text")

    def test_an_unknown_sign(self, tmp_path):
        path = tmp_path / "ranks.txt"
        path.write_text("1 cu = uedin\n1 cu ? umd\n", encoding="utf-8")
        with pytest.raises(llbt.errors.JudgmentError, match=r"'\?'"):
            read_judgments(path, format="wmt_text")
        frame = read_judgments(path, format="wmt_text", max_dropped=1)
        assert plain_rows(frame) == [("cu", "uedin", "tie")]

    def test_no_object_is_named_by_a_joined_label(self):
        frame = read_judgments(self.records())
        assert set(frame.to_frame()["object_i"]) | set(frame.to_frame()["object_j"]) == set("abcd")

    @staticmethod
    def records():
        head, *lines = WMT2.split()
        return [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]


class TestPrefmod:
    NAMES = ("A", "B", "C", "D")
    ORDERS = MappingProxyType(
        {
            "prefmod": [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)],
            "dictionary": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
        }
    )

    def wide(self, order, entries):
        return pd.DataFrame(entries, columns=[f"V{k}" for k in range(1, 7)]).assign(SEX=[1, 2]), self.ORDERS[order]

    @pytest.mark.parametrize("order", ["prefmod", "dictionary", "listed"])
    @pytest.mark.parametrize(("first", "tie", "second"), [(0, 1, 2), (1, 0, -1)])
    def test_orders_and_codings(self, order, first, tie, second):
        frame, pairs = self.wide("prefmod" if order == "listed" else order, [[first, tie, second] * 2, [second] * 6])
        named = [(self.NAMES[i], self.NAMES[j]) for i, j in pairs]
        expected = [(*two, outcome, 0) for two, outcome in zip(named, ["i", "tie", "j"] * 2, strict=True)]
        expected += [(*two, "j", 1) for two in named]
        made = read_judgments(
            frame, format="prefmod", object_names=self.NAMES, pairs=named if order == "listed" else order
        )
        assert rows(made, ("object_i", "object_j", "outcome", "judge")) == sorted(expected, key=repr)
        assert made.to_frame()["SEX"].tolist().count(1) == 6

    def test_missing_entries_are_not_judged(self):
        frame, _ = self.wide("prefmod", [[0, 1, 2, np.nan, None, 0], [0, 0, 0, 0, 0, 0]])
        made = read_judgments(frame, format="prefmod", object_names=self.NAMES, pairs="prefmod")
        assert len(made.to_frame()) == 10
        assert next(note for note in made.notes if "left out" in note).startswith("2 ")

    def test_the_two_orders_differ(self):
        frame, _ = self.wide("prefmod", [[0, 0, 2, 0, 2, 2], [0, 1, 2, 0, 1, 2]])
        made = [
            from_judgments(read_judgments(frame, format="prefmod", object_names=self.NAMES, pairs=order))
            for order in ("prefmod", "dictionary")
        ]
        assert made[0] != made[1]

    def test_headings_that_do_not_name_the_pairs(self):
        frame, _ = self.wide("prefmod", [[0] * 6, [2] * 6])
        with pytest.raises(llbt.errors.JudgmentError, match=r"object_names=.*pairs="):
            read_judgments(frame, format="prefmod")
        with pytest.raises(llbt.errors.OptionError, match="pairs="):
            read_judgments(frame, format="prefmod", object_names=self.NAMES)
        with pytest.raises(llbt.errors.JudgmentError, match="object_names="):
            read_judgments(frame, format="prefmod", pairs="prefmod")

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"pairs": "lexical"}, llbt.errors.OptionError, "pairs='lexical'"),
            ({"pairs": [("A", "B"), ("A", "Z")]}, llbt.errors.OptionError, "'Z'"),
            ({"pairs": [("A", "B"), ("A", "A")]}, llbt.errors.OptionError, "'A', 'A'"),
            ({"pairs": "prefmod", "object_names": list("ABCDEFG")}, llbt.errors.JudgmentError, "21 pairs"),
        ],
    )
    def test_orders_that_do_not_fit(self, options, error, message):
        frame, _ = self.wide("prefmod", [[0] * 6, [2] * 6])
        with pytest.raises(error, match=message):
            read_judgments(frame, format="prefmod", **{"object_names": self.NAMES, **options})

    @pytest.mark.parametrize("bad", ["x", 0.5, 77])
    def test_entries_nobody_knows(self, bad):
        frame = PREFMOD.assign(**{"A:B": [0, 2, bad]}).astype({"A:B": object})
        with pytest.raises(llbt.errors.JudgmentError):
            read_judgments(frame, format="prefmod")

    def test_the_meaning_of_entries(self):
        wide = PREFMOD.replace({0: "first", 2: "second", 1: "none"})
        frame = read_judgments(wide, format="prefmod", outcomes={"first": "i", "second": "j", "none": "tie"})
        check(frame, BY_ID["prefmod"])

    def test_a_file(self, tmp_path):
        PREFMOD.to_csv(tmp_path / "wide.csv", index=False, na_rep="NA")
        check(read_judgments(tmp_path / "wide.csv", format="prefmod"), BY_ID["prefmod"])
        check_counts(from_judgments(tmp_path / "wide.csv", format="prefmod"), BY_ID["prefmod"])

    def test_cems_wide_is_cems_long(self):
        counts = llbt.load_dataset("cems").pool("ENG", "SEX")
        objects = ("LO", "PA", "MI", "SG", "BA", "ST")
        order = sorted(
            [(i, j) for i in range(6) for j in range(6) if i < j], key=lambda two: (two[1], two[0])
        )  # 12, 13, 23, 14, …
        long = counts.to_frame()
        found = {(row.object_i, row.object_j): (row.wins_i, row.ties, row.wins_j) for row in long.itertuples()}
        wide = np.full((303, 15), np.nan)
        for column, (i, j) in enumerate(order):
            first, second = objects[i], objects[j]
            wins, ties, losses = found.get((first, second)) or found[(second, first)][::-1]
            said = [0] * wins + [1] * ties + [2] * losses
            wide[: len(said), column] = said
        frame = pd.DataFrame(wide, columns=[f"V{k}" for k in range(1, 16)])
        made = read_judgments(frame, format="prefmod", object_names=objects, pairs="prefmod")
        assert made.to_frame()["judge"].nunique() == 303
        c = from_judgments(made)
        assert c.objects == objects
        assert from_counts(c.to_frame()).same_counts(counts)
        missing = 303 * 15 - counts.n_judgments
        assert next(note for note in made.notes if "left out" in note).startswith(f"{missing} ")


class TestOwnFormat:
    RECORDS = (
        {"shown": "x", "hidden": "y", "says": "1st", "who": "J1", "item": 1, "extra": "e"},
        {"shown": "y", "hidden": "x", "says": "both bad", "who": "J2", "item": 2, "extra": "f"},
        {"shown": "y", "hidden": "x", "says": "2nd!", "who": "J2", "item": 2, "extra": "f"},
        {"shown": "y", "hidden": "x", "says": "skip", "who": "J2", "item": 3, "extra": "f"},
    )
    LABELS = llbt.formats.Labels(
        "says",
        {"1st": "i", "2nd!": "j", "both bad": "tie", "skip": None},
        tie_kinds={"both bad": "both_bad"},
        strengths={"2nd!": 2, "1st": 1},
    )
    FORMAT = llbt.formats.JudgmentFormat(
        "mine", (llbt.formats.Game(("shown", "hidden"), LABELS),), judge=("who",), prompt=("item",)
    )
    TABLE = (
        ("x", "y", "i", "J1", 1, None, 1),
        ("y", "x", "tie", "J2", 2, "both_bad", None),
        ("y", "x", "j", "J2", 2, None, 2),
    )

    def test_everything(self):
        frame = read_judgments(list(self.RECORDS), format=self.FORMAT)
        assert rows(frame, STANDARD[:7]) == sorted(self.TABLE, key=repr)
        assert frame.to_frame()["extra"].tolist() == ["e", "f", "f"]
        assert frame.notes[0] == "4 records read as 'mine': 3 judgments"
        assert sum("left out" in note for note in frame.notes) == 1
        one = from_judgments(list(self.RECORDS), format=self.FORMAT, covariates="judge", clusters="prompt")
        assert one == from_judgments(frame, covariates="judge", clusters="prompt")
        assert one.n_judgments == 3
        assert (one.covariates, one.clusters) == (("judge",), ("prompt",))

    @pytest.mark.parametrize(
        ("verdict", "said"),
        [
            (llbt.formats.Lean("points", 0, 10), "i"),
            (llbt.formats.Lean("points", 10, 0), "j"),
            (llbt.formats.Lean("points", 0, 10, tie_within=3), "tie"),
            (llbt.formats.ByScores(("points", "m")), "j"),
            (llbt.formats.ByScores(("points", "m"), higher_is_better=False), "i"),
            (llbt.formats.ByScores(("points", "points")), "tie"),
            (llbt.formats.OneHot("zero", "zero", "one"), "tie"),
            (llbt.formats.OneHot("one", "zero", "zero"), "i"),
            (llbt.formats.OneHot("zero", "one", "zero"), "j"),
            (llbt.formats.Always("j"), "j"),
            (llbt.formats.Always("tie"), "tie"),
        ],
    )
    def test_every_verdict(self, verdict, said):
        records = [{"a": "x", "b": "y", "points": 3, "m": 4, "zero": 0, "one": 1}]
        own = llbt.formats.JudgmentFormat("own", (llbt.formats.Game(("a", "b"), verdict),))
        assert plain_rows(read_judgments(records, format=own)) == [("x", "y", said)]
        assert from_judgments(records, format=own) == from_judgments(read_judgments(records, format=own))

    def test_scores_may_have_a_strength(self):
        own = llbt.formats.JudgmentFormat(
            "own", (llbt.formats.Game(("a", "b"), llbt.formats.ByScores(("points", "m"), strength=True)),)
        )
        assert read_judgments([{"a": "x", "b": "y", "points": 3, "m": 4.5}], format=own).to_frame()[
            "strength"
        ].tolist() == [1.5]

    def test_a_constant(self):
        own = llbt.formats.JudgmentFormat(
            "own",
            (
                llbt.formats.Game(
                    (llbt.formats.Constant("base"), "b"), llbt.formats.Labels("says", {"won": "i", "lost": "j"})
                ),
            ),
        )
        records = [{"b": "y", "says": "won"}, {"b": "z", "says": "lost"}]
        assert plain_rows(read_judgments(records, format=own)) == [("base", "y", "i"), ("base", "z", "j")]
        assert from_judgments(records, format=own) == counts_of([("base", "y", 1, 0, 0), ("base", "z", 0, 0, 1)])

    def test_nested_fields(self):
        own = llbt.formats.JudgmentFormat(
            "own",
            (llbt.formats.Game(("pair.0.name", "pair.1.name"), llbt.formats.Labels("vote.by")),),
            judge=("vote.who",),
        )
        records = [{"pair": [{"name": "x"}, {"name": "y"}], "vote": {"by": "left", "who": 3}}] * 2
        frame = read_judgments(records, format=own)
        assert rows(frame, ("object_i", "object_j", "outcome", "judge")) == [("x", "y", "i", 3)] * 2
        assert from_judgments(records, format=own) == counts_of([("x", "y", 2, 0, 0)])

    def test_defaults_and_what_is_only_judged(self):
        own = dataclasses.replace(self.FORMAT, defaults={"hidden": "base"}, only={"item": (1,)})
        records = [{k: v for k, v in record.items() if k != "hidden"} for record in self.RECORDS]
        frame = read_judgments(records, format=own)
        assert plain_rows(frame) == [("x", "base", "i")]
        assert any(note.startswith("3 records left out") for note in frame.notes)

    def test_no_games(self):
        with pytest.raises(llbt.errors.JudgmentError, match="games="):
            llbt.formats.JudgmentFormat("empty", ())


class TestOverrides:
    def test_objects_and_outcome_need_no_format(self):
        records = [{"l": "x", "r": "y", "said": "l"}, {"l": "x", "r": "y", "said": "tie"}]
        frame = read_judgments(records, objects=("l", "r"), outcome="said")
        assert plain_rows(frame) == [("x", "y", "i"), ("x", "y", "tie")]
        assert from_judgments(records, objects=("l", "r"), outcome="said") == from_judgments(frame)

    def test_objects_of_a_format(self):
        records = [record | {"x": "new", "y": "old"} for record in ALPACA[:2]]
        frame = read_judgments(records, format="alpaca_eval", objects=("x", "y"))
        assert plain_rows(frame) == [("new", "old", "i"), ("new", "old", "j")]

    def test_objects_of_two_games(self):
        record = {"first": "alpaca", "second": "vicuna", "g1_winner": "first", "g2_winner": "second", "turn": 1}
        frame = read_judgments([record], format="mt_bench_pair", objects=("first", "second"))
        assert plain_rows(frame) == [("alpaca", "vicuna", "i"), ("vicuna", "alpaca", "i")]

    def test_outcome_of_a_format(self):
        records = [record | {"vote": "model_b"} for record in ARENA]
        assert set(read_judgments(records, outcome="vote", format="arena").to_frame()["outcome"]) == {"j"}

    def test_outcomes_extend_those_of_the_format(self):
        records = [*ARENA, ARENA[0] | {"winner": "??"}]
        frame = read_judgments(records, outcomes={"??": "j"})
        assert (len(frame.to_frame()), (frame.to_frame()["outcome"] == "j").sum()) == (7, 2)
        assert frame.to_frame()["tie_kind"].notna().sum() == 2
        left = read_judgments(records, outcomes={"??": None})
        assert (len(left.to_frame()), sum("left out" in note for note in left.notes)) == (6, 1)

    def test_judge_and_prompt(self):
        frame = read_judgments(ARENA, judge="language", prompt="turn")
        assert frame.to_frame()["judge"].tolist() == [record["language"] for record in ARENA]
        assert frame.to_frame()["prompt"].tolist() == [record["turn"] for record in ARENA]
        assert "question_id" in frame.names

    def test_several_fields_together(self):
        frame = read_judgments(ARENA, prompt="question_id+turn", judge="language+judge")
        assert frame.to_frame()["prompt"].nunique() == len(
            {(record["question_id"], record["turn"]) for record in ARENA}
        )
        assert frame.to_frame()["judge"].nunique() == len({(record["language"], record["judge"]) for record in ARENA})
        assert frame.to_frame()["prompt"].tolist()[0] == "81:1"

    def test_the_field_that_has_a_plus_in_its_name(self):
        records = [record | {"a+b": f"P{k}"} for k, record in enumerate(ARENA)]
        assert read_judgments(records, prompt="a+b").to_frame()["prompt"].tolist() == [f"P{k}" for k in range(6)]

    @pytest.mark.parametrize("options", [{"judge": "juge"}, {"prompt": "promt"}, {"prompt": "turn+promt"}])
    def test_a_judge_or_prompt_that_is_not_there(self, options):
        with pytest.raises(llbt.errors.JudgmentError, match=r"juge|promt"):
            read_judgments(ARENA, **options)

    def test_missing_parts_of_a_prompt_are_missing(self):
        frame = read_judgments([ARENA[0] | {"turn": None}, ARENA[1]], prompt="turn")
        assert frame.to_frame()["prompt"].isna().tolist() == [True, False]


class TestFrame:
    def test_columns_with_the_names_of_others_are_renamed_with_a_note(self):
        records = [record | {"strength": 9, "outcome": "o", "tie_kind": "k", "block": 7} for record in ARENA]
        frame = read_judgments(records, format="arena")
        assert frame.to_frame()["strength"].isna().all()
        assert frame.to_frame().columns.is_unique
        for name, value in {"strength": 9, "outcome": "o", "tie_kind": "k"}.items():
            renamed = [note for note in frame.notes if f"'{name}'" in note and f"'{name}_'" in note]
            assert len(renamed) == 1, frame.notes
            assert (frame.to_frame()[f"{name}_"] == value).all()
        assert (frame.to_frame()["block"] == 7).all()
        assert set(frame.to_frame()["outcome"]) == {"i", "j", "tie"}
        assert from_judgments(frame) == from_judgments(ARENA, format="arena")

    def test_a_renamed_column_does_not_hide_another(self):
        records = [record | {"strength": 1, "strength_": 2} for record in ARENA]
        frame = read_judgments(records)
        assert frame.to_frame().columns.is_unique
        assert sorted(frame.to_frame()[name].iloc[0] for name in frame.names if str(name).startswith("strength_")) == [
            1,
            2,
        ]

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
    def test_a_frame_reads_back(self, case, tmp_path):
        """Its own columns say what it is, also where those of the format were kept beside them."""
        frame = read_judgments(case.open(tmp_path), format=case.name, **case.options).to_frame()
        pd.testing.assert_frame_equal(read_judgments(frame).to_frame(), frame)

    @pytest.mark.parametrize("name", ["judge", "prompt"])
    def test_judge_and_prompt_under_other_names(self, name):
        records = [record | {"judge": "old", "prompt": "old"} for record in ARENA]
        frame = read_judgments(records, **{name: "language"})
        assert frame.to_frame()[name].tolist() == [record["language"] for record in ARENA]
        assert (frame.to_frame()[f"{name}_"] == "old").all()

    def test_notes_stay_with_the_judgments(self):
        judgments = read_judgments(ARENA)
        assert len(judgments.notes) == 2
        some = judgments.take(judgments.to_frame()["judge"] == "J1")
        assert set(some.to_frame()["judge"]) == {"J1"}
        for other in (pickle.loads(pickle.dumps(judgments)), some, judgments.take(slice(4)), judgments.turned()):
            assert other.notes == judgments.notes

    def test_selected_rows_are_counted(self):
        judgments = read_judgments(ARENA)
        c = from_judgments(judgments.take(judgments.to_frame()["tie_kind"] != "both_bad"))
        assert c.n_judgments == 4
        assert c.notes[:2] == judgments.notes

    def test_weights_of_selected_rows(self):
        frame = read_judgments(BY_ID["counts"].source)
        assert from_judgments(frame.to_frame()[frame.to_frame()["object_i"] == "x"]).n_judgments == 6

    def test_read_again(self):
        frame = read_judgments(ARENA)
        again = read_judgments(frame)
        assert rows(again, STANDARD[:5]) == rows(frame, STANDARD[:5])
        counts = read_judgments(BY_ID["counts"].source)
        assert from_judgments(read_judgments(counts)) == from_judgments(counts)

    @pytest.mark.parametrize(
        "objects", [("i", "j"), ("j", "i"), ("tie", "x"), ("x", "tie"), ("b", "a"), ("right", "left")]
    )
    def test_objects_called_like_outcomes(self, objects):
        a, b = objects
        records = [dict(model_a=a, model_b=b, winner=said) for said in ("model_a", "model_a", "model_b", "tie")]
        frame = read_judgments(records)
        expected = counts_of([(a, b, 2, 1, 1)])
        assert frame.to_frame()["outcome"].tolist() == ["i", "i", "j", "tie"]
        assert from_judgments(records, format="arena") == expected
        assert from_judgments(frame) == expected

    def test_an_index_of_the_caller_does_not_matter(self):
        frame = pd.DataFrame(ARENA)
        frame.index = pd.Index([5, 5, 3, 3, 1, 1])
        check(read_judgments(frame), BY_ID["arena"])
        pairs = pd.DataFrame(PAIRS).set_axis(list("aabbc")[:3])
        check(read_judgments(pairs), BY_ID["mt_bench_pair"])

    def test_types_of_labels(self):
        records = [
            dict(model_a=1, model_b=2, winner="model_a", judge=3),
            dict(model_a=2, model_b=1, winner="tie", judge=None),
        ]
        frame = read_judgments(records)
        assert rows(frame, STANDARD[:4]) == [(1, 2, "i", 3), (2, 1, "tie", None)]
        assert from_judgments(frame).objects == (1, 2)


class TestNotes:
    def test_missing_and_unknown_outcomes(self):
        records = [*ARENA, ARENA[0] | {"winner": None}, ARENA[0] | {"winner": "?"}, ARENA[1] | {"winner": "?"}]
        with pytest.raises(llbt.errors.JudgmentError) as error:
            read_judgments(records)
        assert all(
            part in str(error.value) for part in ("1 missing outcome", "'?' (2 rows, first at row 7)", "outcomes={")
        )
        with pytest.raises(llbt.errors.JudgmentError):
            read_judgments(records, max_dropped=2)
        frame = read_judgments(records, max_dropped=3)
        assert frame.notes[0] == "9 records read as 'arena': 6 judgments"
        assert sum(int(note.split()[0]) for note in frame.notes if "max_dropped=" in note) == 3
        c = from_judgments(records, format="arena", max_dropped=3)
        assert c == from_judgments(ARENA, format="arena")
        assert sum(int(note.split()[0]) for note in c.notes if "max_dropped=" in note) == 3
        assert any("9 rows read as 'arena'" in note for note in c.notes)

    def test_a_missing_object(self):
        records = [*ARENA, ARENA[0] | {"model_b": None}]
        with pytest.raises(llbt.errors.JudgmentError, match=r"model_b|objects"):
            read_judgments(records)
        frame = read_judgments(records, max_dropped=1)
        assert len(frame.to_frame()) == 6
        assert any(note.startswith("1 ") and "left out" in note for note in frame.notes)

    def test_order_that_is_not_known_is_said(self):
        for name in ("alpaca_eval", "choix", "chosen_rejected", "bradleyterry2", "prefmod"):
            notes = read_judgments(BY_ID[name].source, format=name).notes
            assert any("order of presentation" in note for note in notes), name
        for name in ("arena", "crowd_kit", "bradleyterry2_home"):
            notes = read_judgments(BY_ID[name].source, format=name).notes
            assert not any("order of presentation" in note for note in notes), name

    def test_weighted_preferences_say_what_they_do_to_standard_errors(self):
        notes = from_judgments(ALPACA, format="alpaca_eval_weighted").notes
        assert any("standard errors" in note for note in notes)


ERRORS = {
    "unknown format": (ARENA, {"format": "arenas"}, ["'arenas'", "arena", "prefmod"]),
    "no format matches": ([{"one": 1, "two": 2}], {}, ["'one', 'two'", "objects=", "outcome=", "list_formats()"]),
    "two formats match": (
        [{"model_a": "x", "model_b": "y", "winner": "x", "left": "x", "right": "y"}],
        {},
        ["'arena'", "'evalica'", "format="],
    ),
    "a field is missing": ([{"model_a": "x", "winner": "x"}], {"format": "arena"}, ["'model_b'", "'winner'"]),
    "no outcome": ([{"model_a": "x", "model_b": "y"}], {"format": "arena"}, ["'winner'"]),
    "objects are not there": (ARENA, {"objects": ("a", "b")}, ["'a'", "model_a"]),
    "one object": (ARENA, {"objects": ("model_a",)}, ["objects=", "two"]),
    "outcome is not there": (ARENA, {"outcome": "won", "format": "arena"}, ["'won'"]),
    "unknown label": ([ARENA[0], ARENA[1] | {"winner": "model_c"}], {}, ["'model_c'", "row 1", "outcomes={"]),
    "an object that is not of the pair": ([ARENA[0], ARENA[1] | {"winner": "claude"}], {}, ["'claude'"]),
    "a wrong meaning": (ARENA, {"outcomes": {"tie": "draw"}}, ["'draw'", "'tie'"]),
    "with itself": ([ARENA[0], ARENA[1] | {"model_b": "llama"}], {}, ["'llama'", "itself"]),
    "not records": ([1, 2, 3], {}, ["record 0", "1", "fields"]),
    "half records": ([ARENA[0], "model_a"], {}, ["record 1", "model_a"]),
    "triples": ([("x", "y", "z")], {}, ["record 0", "pairs"]),
    "an empty list": ([], {}, ["empty"]),
    "an empty frame": (pd.DataFrame(ARENA).iloc[:0], {}, ["no rows"]),
    "a number": (3, {}, ["int"]),
    "a dict": ({"model_a": "x"}, {}, ["dict"]),
    "no such file": ("gone.csv", {}, ["gone.csv", "not there"]),
    "no such kind of file": (__file__, {}, [".py", ".csv"]),
    "a lean that is not a number": ([ALPACA[0], ALPACA[1] | {"preference": "first"}], {}, ["'preference'", "'first'"]),
    "outcomes of numbers": (ALPACA, {"outcomes": {1: "i"}}, ["outcomes=", "alpaca_eval"]),
    "outcome of one-hot": (
        BY_ID["kaggle"].source,
        {"outcome": "winner_tie", "format": "kaggle"},
        ["outcome=", "kaggle"],
    ),
    "two objects of five": (WMT5, {"objects": ("system1Id", "system2Id"), "format": "wmt5"}, ["objects="]),
    "everything left out": (ARENA[:1], {"outcomes": {"model_a": None}}, ["no judgment is left"]),
    "annotations that are no records": ([STUDIO[0] | {"annotations": [3]}], {}, ["annotations", "3"]),
}


OUT_OF_PLACE = (
    "unknown format",
    "one object",
    "a wrong meaning",
    "outcomes of numbers",
    "outcome of one-hot",
    "two objects of five",
)


def refused_as(name: str) -> type[Exception]:
    return llbt.errors.OptionError if name in OUT_OF_PLACE else llbt.errors.JudgmentError


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, tmp_path):
    source, options, parts = ERRORS[name]
    if source is WMT5:
        path = tmp_path / "wmt.csv"
        path.write_text(source, encoding="utf-8")
        source = path
    with pytest.raises(refused_as(name)) as error:
        from_judgments(read_judgments(source, **options))
    for part in parts:
        assert part in str(error.value), str(error.value)


@pytest.mark.parametrize(
    "name", ["unknown label", "with itself", "a field is missing", "unknown format", "half records"]
)
def test_errors_in_one_step_too(name):
    source, options, parts = ERRORS[name]
    with pytest.raises(refused_as(name)) as error:
        from_judgments(source, **{"format": "auto", **options})
    for part in parts:
        assert part in str(error.value), str(error.value)


def test_the_list_of_formats():
    found = llbt.formats.table().to_frame()
    assert found.columns.tolist() == ["name", "description", "fields"]
    assert found["name"].is_unique
    assert found["description"].str.len().min() > 10
    shapes = {"matrix", "prefmod"}  # no fields to go by, so no records; the list says so
    assert set(llbt.formats.known) | shapes == set(found["name"])
    assert set(llbt.formats.known) & shapes == set()
    assert set(found.loc[found["fields"] == "", "name"]) >= shapes
    assert all(f"``{name}``" in llbt.formats.table.__doc__ for name in shapes)
    with pytest.raises(TypeError):
        llbt.formats.known["mine"] = llbt.formats.known["arena"]


def test_the_readme_says_how_many_formats_there_are():
    """Which they are says the page of the site, which is made of `llbt.formats.table`."""
    readme = (Path(llbt.__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert f"[{len(llbt.formats.table().to_frame())} formats of the field](" in readme


def test_a_name_of_a_format_twice_marked_fields_are_the_most():
    both = [
        dict(model_a="x", model_b="y", winner="model_a", object_i="a", object_j="b", outcome="i", wins_i=1, wins_j=2)
    ]
    assert "'counts'" in read_judgments(both).notes[0]


def test_a_frame_whose_outcome_is_not_named_is_told_how_to_name_it():
    frame = pd.DataFrame({"left": ["a", "b"], "right": ["b", "c"], "pick": ["left", "right"]})
    with pytest.raises(llbt.errors.JudgmentError, match=r"needs the field 'outcome'.*Pass .*outcome= and the names"):
        read_judgments(frame, objects=("left", "right"))
    assert list(read_judgments(frame, objects=("left", "right"), outcome="pick").to_frame()["outcome"]) == ["i", "j"]


SAYS = {"L": "i", "R": "j", "none": "tie"}


class TestColumns:
    """A format for columns of one's own is read as the columns named one by one."""

    rows = pd.DataFrame(
        {
            "left": ["x", "y", "x", "z"],
            "right": ["y", "z", "z", "x"],
            "said": ["L", "R", "none", "L"],
            "who": ["p", "q", "p", "q"],
            "item": [1, 1, 2, 2],
            "times": [2, 1, 3, 1],
        }
    )
    mine = llbt.formats.columns(("left", "right"), "said", outcomes=SAYS, judge="who", prompt="item", weights="times")

    def test_judgments(self):
        read = read_judgments(self.rows, format=self.mine)
        named = dict(objects=("left", "right"), outcome="said", outcomes=SAYS, judge="who", prompt="item")
        expected = read_judgments(self.rows, **named).to_frame()
        columns = ["object_i", "object_j", "outcome", "judge", "prompt"]
        pd.testing.assert_frame_equal(read.to_frame()[columns], expected[columns])
        assert read.to_frame()["weight"].tolist() == [2, 1, 3, 1]

    def test_tables(self, tmp_path):
        named = dict(objects=("left", "right"), outcome="said", outcomes=SAYS, weights="times")
        expected = from_judgments(self.rows, **named, clusters="who").to_frame()
        self.rows.to_csv(tmp_path / "rows.csv", index=False)
        self.rows.to_parquet(tmp_path / "rows.parquet")
        for source in (self.rows, tmp_path / "rows.csv", tmp_path / "rows.parquet"):
            made = from_judgments(source, format=self.mine, units=("judge",))
            assert list(made.clusters) == ["who"]
            pd.testing.assert_frame_equal(made.to_frame(), expected)
            assert not any("read as" in note for note in made.notes)

    def test_audits_report_what_readers_refuse(self):
        broken = pd.concat([self.rows, self.rows.assign(right=["x", None, "z", "x"], said="what?")])
        found = llbt.audit(broken, format=self.mine)
        assert {found.finding(name).level for name in ("missing", "outcomes", "self_comparisons")} == {"error"}
        assert "'what?'" in found.finding("outcomes").found
        assert found.judge == "who"
        sound = llbt.audit(self.rows, format=self.mine)
        assert sound.sizes[0].startswith("3 objects, 3 of 3 pairs compared, 7 judgments")
        assert "2 judges, 2 prompts" in sound.sizes[0]

    @pytest.mark.parametrize("name", ["left", "said", "who", "item", "times"])
    def test_columns_have_to_be_there(self, name):
        for reader in (read_judgments, from_judgments, llbt.audit):
            with pytest.raises(llbt.errors.JudgmentError, match=f"no field '{name}'; it has"):
                reader(self.rows.drop(columns=name), format=self.mine)

    def test_defaults_and_labels(self):
        plain = llbt.formats.columns(("left", "right"), "said", outcomes=SAYS, defaults={"right": "b"})
        with pytest.raises(llbt.errors.OptionError, match="reads no field 'other'"):
            llbt.formats.columns(("left", "right"), "said", defaults={"other": 1})
        made = from_judgments(self.rows.drop(columns="right"), format=plain)
        assert made.objects == ("b", "x", "y", "z")
        two = b"object_i,object_j,outcome\n2,2.0,i\n3,2,j\n"
        assert from_judgments(two, format=llbt.formats.columns(labels="text")).objects == ("2", "2.0", "3")
        assert read_judgments(two, format=llbt.formats.columns(labels="text")).objects == ("2", "2.0", "3")
