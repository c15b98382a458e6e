"""Labels of objects: typed over both columns together, alike in memory and by DuckDB, and as the caller says."""

import gzip
import io
import json

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import shell
from support.tables import file_frame

import llbt
from llbt import audit, from_counts, from_judgments, read_judgments
from llbt.data import files
from llbt.formats import columns

HEAD = "object_i,object_j,outcome\n"


@pytest.fixture(params=["in memory", "on disk"])
def where(request, monkeypatch):
    """Every file is small, or every file is large."""
    for kind in files.LARGE:
        monkeypatch.setitem(files.LARGE, kind, 0 if request.param == "on disk" else 2**40)
    return request.param


@pytest.fixture
def saved(tmp_path):
    def save(text, name="t.csv"):
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path / name

    return save


def doors(path, **options):
    """The comparisons of a file, counted where it is and by way of the judgments."""
    made = [from_judgments(path, **options), from_judgments(read_judgments(path, **options))]
    assert made[0] == made[1]
    assert [type(label) for label in made[0].objects] == [type(label) for label in made[1].objects]
    return made[0]


def refusal(call, *args, **options):
    with pytest.raises(llbt.errors.JudgmentError) as error:
        call(*args, **options)
    return str(error.value)


# objects as they are written in both columns → as they are read
TOGETHER = {
    "leading zeros on one side": ("007,8,i\n8,9,j\n", ("007", "8", "9")),
    "leading zeros on the other": ("8,007,i\n9,8,j\n", ("007", "8", "9")),
    "numbers": ("7,10,i\n10,9,j\n", (7, 9, 10)),
    "negative numbers": ("-7,10,i\n10,0,j\n", (-7, 0, 10)),
    "decimals": ("2.5,10,i\n10,3.25,j\n", (2.5, 3.25, 10)),
    "decimals with zeros": ("2.50,3.5,i\n", ("2.50", "3.5")),
    "whole numbers with a point": ("1.0,2.0,i\n", ("1.0", "2.0")),
    "exponents": ("1e5,2,i\n", ("1e5", "2")),
    "a sign": ("+1,2,i\n", ("+1", "2")),
    "minus zero": ("-0,2,i\n", ("-0", "2")),
    "a word on one side": ("1,gpt,i\n1,2,j\n", ("1", "2", "gpt")),
    "digits of another script": ("٣,1,i\n", ("1", "٣")),
    "flags": ("True,False,i\n", ("False", "True")),
    "eighteen digits": (
        "123456789012345678,123456789012345679,i\n",
        (123456789012345678, 123456789012345679),
    ),
    "nineteen digits": (
        "1234567890123456781,1234567890123456782,i\n",
        ("1234567890123456781", "1234567890123456782"),
    ),
    "words for missing among names": ("NA,x,i\n1,null,j\n", ("1", "NA", "null", "x")),
    "infinity": ("inf,1,i\n", ("1", "inf")),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TOGETHER)
def test_labels_are_typed_over_both_columns(case, saved, where):
    rows, expected = TOGETHER[case]
    found = doors(saved(HEAD + rows)).objects
    assert found == expected
    assert [type(label) for label in found] == [type(label) for label in expected]


@pytest.mark.parametrize("case", TOGETHER)
def test_counts_are_typed_alike(case, saved, where):
    rows, expected = TOGETHER[case]
    text = "object_i,object_j,wins_i,wins_j\n" + rows.replace(",i\n", ",2,1\n").replace(",j\n", ",1,2\n")
    assert from_counts(saved(text)).objects == expected
    assert from_counts(text.encode()).objects == expected
    assert from_counts(file_frame(io.BytesIO(text.encode()))).objects == expected


EQUAL = {
    "a point": ("2,3,i\n2.0,3,j\n", ("2", "2.0")),
    "versions": ("1.1,2.1,i\n1.10,2.1,j\n", ("1.1", "1.10")),
    "zeros": ("7,8,i\n8,007,i\n", ("007", "7")),
    "among words": ("gpt,3.10,i\ngpt,3.1,j\n", ("3.1", "3.10")),
    "an exponent": ("1e3,1000,i\n", ("1000", "1e3")),
}


@pytest.mark.parametrize("case", EQUAL)
def test_labels_that_are_equal_as_numbers_are_refused(case, saved, where):
    rows, (one, other) = EQUAL[case]
    path = saved(HEAD + rows)
    for door in (from_judgments, read_judgments, audit, llbt.write_report):
        said = refusal(door, path)
        assert "t.csv" in said
        assert f"{one!r}, {other!r}" in said
        assert 'labels="text"' in said
        assert 'labels="number"' in said
    assert f"{one!r}, {other!r}" in refusal(file_frame, path)


@pytest.mark.slow
@pytest.mark.parametrize("case", EQUAL)
def test_the_caller_says_what_labels_are(case, saved, where):
    rows, (one, other) = EQUAL[case]
    path = saved(HEAD + rows)
    assert {one, other} <= set(doors(path, labels="text").objects)
    assert f"{len(doors(path, labels='text').objects)} objects" in audit(path, format=columns(labels="text")).sizes[0]
    if case == "among words":
        assert "'gpt'" in refusal(from_judgments, path, labels="number")
    elif case == "an exponent":
        assert "an object compared with itself" in refusal(from_judgments, path, labels="number")
    else:
        assert doors(path, labels="number").objects == tuple(sorted({float(one), {"2": 3, "1.1": 2.1, "007": 8}[one]}))


def test_labels_of_frames_are_what_the_caller_says():
    frame = pd.DataFrame({"object_i": [8, 9], "object_j": ["8.0", "10"], "outcome": ["i", "j"]})
    assert from_judgments(frame[1:]).objects == (9, "10")
    assert from_judgments(frame, labels="text").objects == ("10", "8", "8.0", "9")
    assert from_judgments(frame[1:], labels="number").objects == (9, 10)
    assert frame["object_i"].tolist() == [8, 9]
    mixed = pd.DataFrame({"object_i": [8, 9], "object_j": ["9", "8"], "outcome": ["i", "j"]})
    assert "read alike" in refusal(from_judgments, mixed)
    assert from_judgments(mixed, labels="text").objects == ("8", "9")
    polars = pytest.importorskip("polars")
    ids = polars.DataFrame({"object_i": [8, 9], "object_j": [10, 10], "outcome": ["i", "j"]})
    assert from_judgments(ids, labels="text").objects == ("10", "8", "9")


@pytest.mark.parametrize("labels", ["texts", 1, True, "TEXT"])
def test_labels_are_text_or_number(labels):
    frame = pd.DataFrame({"object_i": ["8"], "object_j": ["9"], "outcome": ["i"]})
    for door in (from_judgments, read_judgments, lambda frame, labels: columns(labels=labels)):
        with pytest.raises(llbt.errors.OptionError, match=rf"labels={labels!r}; expected 'text', 'number' or None"):
            door(frame, labels=labels)


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_files_with_types_keep_them(kind, tmp_path, where):
    for values, expected in (([1, 2], (1, 2)), (["1", "2"], ("1", "2")), (["007", "7"], ("007", "7"))):
        frame = pd.DataFrame({"object_i": values[:1], "object_j": values[1:], "outcome": ["i"]})
        path = tmp_path / f"t.{kind}"
        frame.to_parquet(path) if kind == "parquet" else frame.to_json(path, orient="records", lines=True)
        found = doors(path).objects
        assert found == expected
        assert [type(label) for label in found] == [type(label) for label in expected]


def test_the_winners_name_is_the_objects(saved, where):
    """The outcomes are written as the objects are, and read as these are."""
    winners = "007,08,007\n08,9,9\n9,007,007\n"
    c = doors(saved(HEAD + winners), outcomes="names")
    assert c.to_frame()[["object_i", "object_j", "wins_i", "wins_j"]].to_numpy().tolist() == [
        *(["007", "08", 1, 0], ["007", "9", 1, 0], ["08", "9", 0, 1])
    ]
    found = doors(saved(HEAD + "2.0,3,2.0\n3,2,2\n"), outcomes="names", labels="number")
    assert found.to_frame()[["object_i", "object_j", "wins_i", "wins_j"]].to_numpy().tolist() == [[2, 3, 2, 0]]


def test_sides_of_a_covariate_are_typed_together(saved, where):
    path = saved("object_i,object_j,outcome,lang_a,lang_b\na,b,i,007,8\nb,c,j,8,9\n")
    c = from_judgments(path, side_covariates={"lang": ("lang_a", "lang_b")})
    assert c.sides[0].levels.tolist() == ["007", "8", "9"]
    path = saved("object_i,object_j,outcome,len_a,len_b\na,b,i,7,8.5\nb,c,j,8,9\n")
    c = from_judgments(path, side_covariates={"len": ("len_a", "len_b")})
    assert c.sides[0].levels.tolist() == [7, 8, 8.5, 9]


def test_an_object_table_names_objects_as_they_are(saved, where):
    table = saved("object,price\n007,1.5\n8,2.5\n9,3.5\n10,4.5\n", "objects.csv")
    c = from_judgments(saved(HEAD + "007,8,i\n8,9,j\n"), object_covariates=table)
    assert c.object_columns[0].values.tolist() == [1.5, 2.5, 3.5]
    assert any("'10'" in note for note in c.notes)
    numbers = pd.DataFrame({"object_i": [7, 8], "object_j": [8, 9], "outcome": ["i", "j"]})
    c = from_judgments(numbers, object_covariates=saved("object,price\n7.0,1.5\n8,2.5\n9,3.5\n", "objects.csv"))
    assert c.object_columns[0].values.tolist() == [1.5, 2.5, 3.5]
    twice = saved("object,price\n7.0,1.5\n7,1.5\n8,2.5\n9,3.5\n", "objects.csv")
    assert "several rows for 7" in refusal(from_judgments, numbers, object_covariates=twice)


def test_other_columns_are_what_the_whole_column_says(saved, where):
    """A label at the end of a long column makes all of it labels; one decimal makes all of it numbers."""
    n = 30_000
    late = "".join(f"a,b,i,{k % 7},{k % 3},{k % 2 == 0},{k % 5}\n" for k in range(n)) + "a,b,i,x,0.5,False,NA\n"
    path = saved("object_i,object_j,outcome,judge,length,flag,site\n" + late)
    c = from_judgments(path, covariates=("judge", "length", "flag"))
    judge, length, flag = c.columns
    assert judge.levels.tolist() == ["0", "1", "2", "3", "4", "5", "6", "x"]
    assert (length.numeric, length.levels.tolist()) == (True, [0, 0.5, 1, 2])
    assert flag.levels.tolist() == [False, True]
    assert "column 'site': 1 missing value" in refusal(from_judgments, path, covariates="site")


@pytest.mark.parametrize("flags", [("True", "False"), ("true", "false"), ("TRUE", "FALSE"), ("1", "0")])
def test_flags_are_read_alike(flags, saved, where):
    yes, no = flags
    path = saved(HEAD + f"a,b,{yes}\nb,c,{no}\n")
    said = {True: "i", False: "j"} if yes == "True" else {yes: "i", no: "j"}
    c = doors(path, outcomes=said)
    assert c.to_frame()["wins_i"].tolist() == [1, 0]


@pytest.mark.parametrize("labels", ["text", "number"])
@pytest.mark.parametrize("source", ["file", "-"])
@pytest.mark.slow
def test_labels_on_the_command_line(labels, source, saved):
    text = HEAD + "2,3,i\n2.0,3,j\n3,2,i\n3,2.0,j\n"
    path, given = (str(saved(text)), None) if source == "file" else ("-", text)
    bare = shell.run("fit", path, "--format", "json", input=given)
    assert bare.exit_code == 2
    assert "'2', '2.0'" in bare.stderr
    done = shell.run("fit", path, "--format", "json", "--labels", labels, input=given)
    assert json.loads(done.stdout)["objects"] == (["2", "2.0", "3"] if labels == "text" else [2, 3])
    assert shell.run("audit", path, "--labels", labels, input=given).exit_code == 0


# one table written in ways in which DuckDB and memory once differed → what both read
ENDS = {
    "some lines of Windows": "a,b,i,1\r\nb,c,j,2\na,c,i,x\r\n",
    "Windows after Unix": "a,b,i,1\nb,c,j,2\na,c,i,x\r\n",
    "an old Mac's in between": "a,b,i,1\nb,c,j,2\ra,c,i,x\n",
    "line breaks in labels": 'a,b,i,1\r\nb,c,j,"2\n3"\r\na,c,i,x\r\n',
    "quoted, of several kinds": '"a","b","i","1"\nb,c,j,"2"\r\na,c,i,"x"\n',
    "empty lines": "\r\na,b,i,1\n\n\nb,c,j,2\r\n\r\na,c,i,x\n",
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("case", ENDS)
def test_line_ends_of_several_kinds(case, pack, saved, where):
    text = ("object_i,object_j,outcome,judge\n" + ENDS[case]).encode()
    c = from_judgments(saved(pack(text), "t.csv.gz" if pack is gzip.compress else "t.csv"), covariates="judge")
    assert c.to_frame()[["object_i", "object_j", "wins_i", "wins_j"]].to_numpy().tolist() == [
        *(["a", "b", 1, 0], ["a", "c", 1, 0], ["b", "c", 0, 1])
    ]
    assert c.columns[0].levels.tolist() == (["1", "2\n3", "x"] if "labels" in case else ["1", "2", "x"])


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_columns_that_differ_in_case(kind, tmp_path, where):
    frame = pd.DataFrame({"object_i": ["a", "b"], "object_j": ["b", "c"], "outcome": ["i", "j"]})
    frame = frame.assign(Judge=["X", "Y"], judge=["x", "y"])
    path = tmp_path / f"t.{kind}"
    match kind:
        case "csv":
            frame.to_csv(path, index=False)
        case "jsonl":
            frame.to_json(path, orient="records", lines=True)
        case _:
            frame.to_parquet(path)
    assert from_judgments(path, covariates="Judge").columns[0].levels.tolist() == ["X", "Y"]
    assert from_judgments(path, covariates="judge").columns[0].levels.tolist() == ["x", "y"]
    assert from_judgments(read_judgments(path), covariates="Judge").columns[0].levels.tolist() == ["X", "Y"]


def test_lines_before_the_names_and_blanks_between_fields(saved, where):
    assert from_judgments(saved("\n\n" + HEAD + "a,b,i\n")).objects == ("a", "b")
    assert from_judgments(saved("object_i object_j  outcome\na   b i\nb c    j\n", "t.txt")).objects == ("a", "b", "c")


# values of a field of JSON → the labels that they are
FIELDS = {
    "dates": (["2024-01-01", "2024-01-02"], ["2024-01-01", "2024-01-02"]),
    "times": (["2024-01-01 00:00:00", "2024-01-02 00:00:00"], ["2024-01-01 00:00:00", "2024-01-02 00:00:00"]),
    "times of the world": (["2024-01-01T10:00:00Z", "x"], ["2024-01-01T10:00:00Z", "x"]),
    "hours": (["10:00:00", "09:00:00"], ["09:00:00", "10:00:00"]),
    "identifiers": (["123E4567-e89b-12d3-a456-426614174000"] * 2, ["123E4567-e89b-12d3-a456-426614174000"]),
    "texts of numbers": (["1", "02"], ["02", "1"]),
    "numbers and texts": ([1, "x"], [1, "x"]),
    "flags": ([True, False], [False, True]),
    "flags and texts": ([True, "x"], [True, "x"]),
    "long numbers": ([12345678901234567890123, 12345678901234567890124], None),
    "numbers beyond 64 bits": ([12345678901234567890, 1], None),
    "whole floats": ([1.0, 2], [1, 2]),
}


@pytest.mark.parametrize("role", ["objects", "cluster"])
@pytest.mark.parametrize("case", FIELDS)
@pytest.mark.slow
def test_fields_of_json(case, role, saved, where):
    values, expected = FIELDS[case]
    expected = sorted(values) if expected is None else expected
    rows = [{"object_i": "p", "object_j": "q", "outcome": "i", "judge": value} for value in values]
    if role == "objects":
        rows = [{**row, "object_i": value, "object_j": "other"} for row, value in zip(rows, values, strict=True)]
    path = saved("\n".join(map(json.dumps, rows)), "t.jsonl")
    if role == "cluster":
        levels = from_judgments(path, clusters="judge").cluster_counts.columns[0].levels.tolist()
    else:
        levels = [label for label in from_judgments(path).objects if label != "other"]
        assert from_judgments(path) == from_judgments(read_judgments(path))
    assert levels == expected
    assert [type(level) for level in levels] == [type(level) for level in expected]


def test_labels_that_json_tells_apart_are_not_merged(saved, where):
    rows = [{"object_i": 1, "object_j": "2", "outcome": "i"}, {"object_i": "1", "object_j": "2", "outcome": "j"}]
    assert "read alike" in refusal(from_judgments, saved("\n".join(map(json.dumps, rows)), "t.jsonl"))
    assert from_judgments(saved("\n".join(map(json.dumps, rows)), "t.jsonl"), labels="text").objects == ("1", "2")


NESTED = [{"object_i": {"id": a}, "object_j": {"id": b}, "outcome": "i"} for a, b in ("AB", "BC", "CA")]


@pytest.mark.parametrize("ask", [from_judgments, read_judgments])
@pytest.mark.parametrize("engine", ["records", "jsonl", "parquet", "pandas", "pyarrow", "polars", "lazy", "duckdb"])
def test_objects_are_no_records(engine, ask, saved, tmp_path):
    made = {
        "records": lambda: NESTED,
        "jsonl": lambda: saved("\n".join(map(json.dumps, NESTED)), "t.jsonl"),
        "parquet": lambda: written(tmp_path / "t.parquet"),
        "pandas": lambda: pd.DataFrame(NESTED),
        "pyarrow": lambda: pa.Table.from_pylist(NESTED),
        "polars": lambda: pl.DataFrame(NESTED),
        "lazy": lambda: pl.LazyFrame(NESTED),
        "duckdb": lambda: duckdb.from_arrow(pa.Table.from_pylist(NESTED)),
    }
    assert "column 'object_i' holds" in refusal(ask, made[engine]())
    assert ask(made[engine](), objects=("object_i.id", "object_j.id"), outcome="outcome").objects == ("A", "B", "C")


def test_objects_that_are_records_are_named_by_a_field():
    assert "Name the field with the label, such as 'object_i.id'." in refusal(read_judgments, NESTED)


def written(path):
    pq.write_table(pa.Table.from_pylist(NESTED), path)
    return str(path)
