"""Files: whatever way a table is written, it reads back; what is damaged is refused with file, line and field."""

import csv
import gzip
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import file_frame

import llbt
from llbt import from_judgments, read_judgments
from llbt.data import files

ROWS = [
    ("gpt", "llama", "i", "J1"),
    ("llama", "claude", "j", "J2"),
    ("claude", "gpt", "tie", "J1"),
    ("gpt", "claude", "j", "J3"),
]
NAMES = ["object_i", "object_j", "outcome", "judge"]
FRAME = pd.DataFrame(ROWS, columns=NAMES)
EXPECTED = from_judgments(FRAME, covariates="judge", order=True)


def text_of(rows=ROWS, names=NAMES, sep=",", end="\n"):
    """A csv written by hand; fields with a separator, a quote or a line break are quoted."""
    out = io.StringIO()
    csv.writer(out, delimiter=sep, lineterminator=end).writerows([names, *rows])
    return out.getvalue()


def lines_of(rows=ROWS, names=NAMES):
    return [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows]


CSV, JSONL, JSON = text_of(), "\n".join(lines_of()) + "\n", "[" + ",\n ".join(lines_of()) + "]"


@pytest.fixture
def saved(tmp_path):
    def save(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return save


def counted(path, **options):
    return from_judgments(path, covariates="judge", order=True, **options)


def refusal(call, *args, **options):
    with pytest.raises(llbt.errors.JudgmentError) as error:
        call(*args, **options)
    return str(error.value)


# -- one table, written in many ways ---------------------------------------------------------------------------

WRITTEN = {
    "commas": ("t.csv", CSV),
    "tabs": ("t.tsv", text_of(sep="\t")),
    "tabs in csv": ("t.csv", text_of(sep="\t")),
    "semicolons": ("t.csv", text_of(sep=";")),
    "bars": ("t.txt", text_of(sep="|")),
    "no suffix": ("table", CSV),
    "a suffix in capitals": ("t.CSV", CSV),
    "dots in the name": ("2024.07.v1.csv", CSV),
    "gz": ("t.csv.gz", gzip.compress(CSV.encode())),
    "gz without saying so": ("t.csv", gzip.compress(CSV.encode())),
    "not gzipped, whatever it says": ("t.csv.gz", CSV),
    "gz in two parts": ("t.csv.gz", gzip.compress(CSV[:50].encode()) + gzip.compress(CSV[50:].encode())),
    "byte order mark": ("t.csv", b"\xef\xbb\xbf" + CSV.encode()),
    "byte order mark of json": ("t.json", b"\xef\xbb\xbf" + JSON.encode()),
    "lines of Windows": ("t.csv", text_of(end="\r\n")),
    "lines of jsonl of Windows": ("t.jsonl", JSONL.replace("\n", "\r\n")),
    "lines of an old Mac": ("t.csv", text_of(end="\r")),
    "everything quoted": ("t.csv", re.sub(r"([^,\n]+)", r'"\1"', CSV)),
    "no last line break": ("t.csv", CSV.rstrip("\n")),
    "empty lines": ("t.csv", CSV.replace("\n", "\n\n")),
    "empty lines at the end": ("t.csv", CSV + "\n\n"),
    "a list": ("t.json", JSON),
    "a list on one line": ("t.json", json.dumps(json.loads(JSON))),
    "a list, indented": ("t.json", json.dumps(json.loads(JSON), indent=2)),
    "a list in jsonl": ("t.jsonl", JSON),
    "lines": ("t.jsonl", JSONL),
    "lines in json": ("t.json", JSONL),
    "ndjson": ("t.ndjson", JSONL),
    "empty lines in jsonl": ("t.jsonl", "\n" + JSONL.replace("\n", "\n\n")),
    "jsonl.gz": ("t.jsonl.gz", gzip.compress(JSONL.encode())),
    "json.gz": ("t.json.gz", gzip.compress(JSON.encode())),
}


@pytest.mark.parametrize("way", WRITTEN)
@pytest.mark.slow
def test_written_in_many_ways(way, saved):
    path = saved(*WRITTEN[way])
    pd.testing.assert_frame_equal(pd.DataFrame(file_frame(path)), FRAME, check_dtype=False)
    assert counted(path) == EXPECTED
    assert counted(str(path)) == EXPECTED
    assert from_judgments(read_judgments(path), covariates="judge", order=True) == EXPECTED


@pytest.mark.parametrize("name", ["t.parquet", "t.pq"])
def test_parquet(name, tmp_path):
    FRAME.to_parquet(tmp_path / name)
    pd.testing.assert_frame_equal(file_frame(tmp_path / name), FRAME, check_dtype=False)
    assert counted(tmp_path / name) == EXPECTED


@pytest.mark.parametrize("index", ["judge", "object_i", "outcome"])
def test_a_column_of_a_parquet_file_that_pandas_calls_the_index_is_a_column(index, tmp_path):
    FRAME.set_index(index).to_parquet(tmp_path / "t.parquet")
    assert counted(tmp_path / "t.parquet") == EXPECTED


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_binary_file_is_csv(pack, end):
    found = file_frame(io.BytesIO(pack(text_of(end=end).encode())))
    assert from_judgments(found, covariates="judge", order=True) == EXPECTED


AWKWARD = [
    "a,b",
    "a;b",
    "a\tb",
    "a|b",
    'say "x"',
    '"',
    "two\nlines",
    "Ünïcödé",
    "日本語",
    "🦙",
    "e\u0301",
    " padded ",
    "\u2028",
    "a\u0085b",
    "\\",
    "'",
    "#1",
    "NA",
    "None",
    "nan",
    "null",
    "N/A",
]


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize("label", AWKWARD)
def test_awkward_labels(label, kind, tmp_path):
    rows = [(label, "b", "i", label), ("c", label, "tie", "x"), ("b", "c", "j", "x")]
    frame = pd.DataFrame(rows, columns=NAMES)
    path = written(frame, kind, tmp_path)
    c = counted(path)
    assert set(c.objects) == {label, "b", "c"}
    assert c == from_judgments(frame, covariates="judge", order=True)


def written(frame, kind, folder):
    """The path of a frame written by pandas."""
    path = folder / f"t.{kind}"
    match kind:
        case "csv" | "tsv":
            frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
        case "json" | "jsonl":
            frame.to_json(path, orient="records", lines=kind == "jsonl", force_ascii=False)
        case _:
            frame.to_parquet(path)
    return path


def test_words_for_missing_are_labels_among_labels_and_missing_among_numbers(saved):
    words = ["NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A"]
    rows = [f"{word},b,i,{word},{k}.5,{word}" for k, word in enumerate(words)] + ["b,c,j,7,2.5,x"]
    frame = file_frame(saved("t.csv", "object_i,object_j,outcome,number,age,label\n" + "\n".join(rows) + "\n"))
    assert frame["object_i"].tolist() == [*words, "b"]
    assert frame["label"].tolist() == [*words, "x"]
    assert frame["number"].isna().tolist() == [True] * len(words) + [False]
    assert frame["number"].iloc[-1] == 7
    assert frame["age"].tolist() == [k + 0.5 for k in range(len(words))] + [2.5]


def test_only_words_for_missing_are_labels(saved):
    assert file_frame(saved("t.csv", "a,b\nNA,1\nnan,2\n"))["a"].tolist() == ["NA", "nan"]


@pytest.mark.parametrize("sep", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_empty_fields_are_missing_also_in_the_last_column(sep, end, saved):
    text = end.join(sep.join(x) for x in ["ab", "1 ", " 2", "", "3" + "x"]).replace(" ", "") + end
    frame = file_frame(saved("t.csv", text))
    assert frame["a"].tolist()[0::2] == [1, 3]
    assert frame["a"].isna().tolist() == [False, True, False]
    assert [None if pd.isna(x) else x for x in frame["b"]] == [None, "2", "x"]


def test_a_last_column_without_any_value(saved):
    frame = file_frame(saved("t.csv", text_of([(*row, "") for row in ROWS], [*NAMES, "remark"])))
    assert frame["remark"].isna().all()
    pd.testing.assert_frame_equal(frame[NAMES], FRAME, check_dtype=False)


def test_labels_of_json_keep_their_types(saved):
    records = [dict(object_i=1, object_j="1", outcome="i", age=2.5), dict(object_i=True, object_j="x", outcome="j")]
    frame = file_frame(saved("t.json", json.dumps(records)))
    assert [type(x) for x in frame["object_i"]] == [int, bool]
    assert frame["object_j"].tolist() == ["1", "x"]
    assert frame["age"].isna().tolist() == [False, True]


def test_records_need_not_have_all_fields(saved):
    lines = [*lines_of(), '{"outcome": "i", "object_j": "llama", "extra": [1, {"a": 2}], "object_i": "gpt"}']
    frame = read_judgments(saved("t.jsonl", "\n".join(lines)))
    assert frame.to_frame()[["object_i", "object_j", "outcome"]].iloc[-1].tolist() == ["gpt", "llama", "i"]
    assert frame.to_frame()["judge"].isna().tolist() == [False] * 4 + [True]
    assert frame.to_frame()["extra"].iloc[-1] == [1, {"a": 2}]


def test_a_long_answer_is_no_damage(saved):
    long = "word " * 60_000  # beyond the limit of Python's csv module
    rows = [(*row, long, "") for row in ROWS]
    assert counted(saved("t.csv", text_of(rows, [*NAMES, "answer", "remark"]))) == EXPECTED
    said = refusal(counted, saved("t.csv", text_of([*rows, ("x", "y")], [*NAMES, "answer", "remark"])))
    assert "t.csv" in said
    assert "line 6" in said


# -- labels that are different stay different ----------------------------------------------------------------------

IDS = {
    "of 19 digits": ("1234567890123456781", "1234567890123456782"),
    "of 23 digits": ("12345678901234567890123", "12345678901234567890124"),
    "of words": ("ab1", "ab2"),
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["csv", "NA in csv", "json"])
@pytest.mark.parametrize("ids", IDS)
def test_identifiers_are_not_merged(ids, kind, missing, saved):
    a, b = IDS[ids]
    judges = [a, b, a, ""] if missing else [a, b, a, b]
    if kind == "json":
        values = [int(x) if x.isdigit() else x or None for x in judges]
        records = [dict(object_i="x", object_j="y", outcome="i", judge=judge) for judge in values]
        path = saved("t.json", json.dumps(records))
    else:
        path = saved("t.csv", text_of([("x", "y", "i", x or ("NA" if kind != "csv" else "")) for x in judges]))
    found = read_judgments(path).to_frame()["judge"]
    if missing and kind == "NA in csv" and ids == "of words":
        assert found.tolist() == [a, b, a, "NA"]
    else:
        assert found.isna().sum() == missing
        assert found.nunique() == 2


@pytest.mark.parametrize("pair", [("1.1", "1.10"), ("1", "01")])
def test_objects_written_differently_are_not_merged(pair, saved):
    """Versions such as 3.1 and 3.10: a csv that merges them gives a wrong table without a word."""
    path = saved("t.csv", text_of([(pair[0], "7", "i"), (pair[1], "7", "j"), (pair[0], pair[1], "i")], NAMES[:3]))
    try:
        objects = from_judgments(path).objects
    except llbt.errors.JudgmentError as error:
        assert "t.csv" in str(error) or "written" in str(error)  # noqa: PT017  # refusing is as good as keeping apart
    else:
        assert len(objects) == 3


# -- round trip ----------------------------------------------------------------------------------------------------

letters = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff")
labels = st.text(letters, min_size=1, max_size=6).map(lambda text: f"m{text}") | st.sampled_from(AWKWARD)


@st.composite
def frames(draw):
    objects = draw(st.lists(labels, min_size=2, max_size=4, unique=True))
    objects = [x for x in objects if x.lower() not in ("tie", "i", "j")]
    judges = draw(st.lists(labels, min_size=1, max_size=3))
    pairs = [(a, b) for a in objects for b in objects if a != b]
    row = st.tuples(st.sampled_from(pairs), st.sampled_from(["i", "j", "tie"]), st.sampled_from(judges))
    rows = draw(st.lists(row, min_size=1, max_size=6))
    return pd.DataFrame([(*pair, said, judge) for pair, said, judge in rows], columns=NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
@settings(max_examples=60, deadline=None)
@given(frame=frames())
def test_what_pandas_writes_reads_back(kind, tmp_path_factory, frame):
    path = written(frame, kind, tmp_path_factory.mktemp("t"))
    assert counted(path) == from_judgments(frame, covariates="judge", order=True)
    found = read_judgments(path)
    assert found.to_frame()[NAMES].values.tolist() == frame.values.tolist()


@settings(max_examples=40, deadline=None)
@given(frame=frames(), sep=st.sampled_from(",;\t|"), end=st.sampled_from(["\n", "\r\n"]), quoting=st.booleans())
@pytest.mark.slow
def test_what_python_writes_reads_back(tmp_path_factory, frame, sep, end, quoting):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        rule = csv.QUOTE_ALL if quoting else csv.QUOTE_MINIMAL
        csv.writer(out, delimiter=sep, lineterminator=end, quoting=rule).writerows([NAMES, *frame.values.tolist()])
    assert counted(path) == from_judgments(frame, covariates="judge", order=True)


# -- damage --------------------------------------------------------------------------------------------------------

ZIPPED = gzip.compress(CSV.encode(), mtime=0)
DAMAGED = {
    "gz cut off": ("t.csv.gz", ZIPPED[:-9], ["gzipped", "cut off"]),
    "gz cut in its head": ("t.csv.gz", ZIPPED[:5], ["gzipped", "cut off"]),
    "gz with a wrong sum": ("t.csv.gz", ZIPPED[:-8] + b"\0\0\0\0" + ZIPPED[-4:], ["gzipped", "damaged"]),
    "gz with a wrong byte": ("t.csv.gz", ZIPPED[:20] + b"\xff" + ZIPPED[21:], ["gzipped", "damaged"]),
    "gz of jsonl cut off": ("t.jsonl.gz", gzip.compress(JSONL.encode())[:-12], ["gzipped", "cut off"]),
    "a line cut off": ("t.csv", CSV + "gpt,llama", ["line 6", "2 fields", "4"]),
    "a line cut off after a comma": ("t.csv", CSV + "gpt,llama,", ["line 6", "3 fields"]),
    "a line cut off in the middle": ("t.csv", CSV.replace("llama,claude,j,J2", "llama,claude"), ["line 3", "2 fields"]),
    "a line too long": ("t.csv", CSV.replace("claude,gpt,tie,J1", "claude,gpt,tie,J1,x"), ["line 4", "5"]),
    "the first line too long": ("t.csv", CSV.replace("gpt,llama,i,J1", "gpt,llama,i,J1,x"), ["line 2", "5 fields"]),
    "all lines too long": ("t.csv", text_of([(*row, "x") for row in ROWS]), ["line 2", "5 fields", "4"]),
    "all lines end with a separator": ("t.csv", text_of([(*row, "") for row in ROWS]), ["line 2", "5 fields"]),
    "a quote without end": ("t.csv", CSV.replace("claude,gpt", '"claude,gpt'), ["row 3", "EOF inside string"]),
    "latin-1": ("t.csv", (CSV + "é,gpt,i,J1\n").encode("latin-1"), ["line 6", "0xe9", "UTF-8"]),
    "latin-1 in jsonl": ("t.jsonl", (JSONL + JSONL.replace("gpt", "é")).encode("latin-1"), ["line 5", "0xe9"]),
    "latin-1 in gz": ("t.csv.gz", gzip.compress((CSV + "é,gpt,i,J1\n").encode("latin-1")), ["line 6", "0xe9"]),
    "UTF-16": ("t.csv", CSV.encode("utf-16"), ["line 1", "UTF-16"]),
    "UTF-16, big end first": ("t.csv", b"\xfe\xff" + CSV.encode("utf-16-be"), ["line 1", "UTF-16"]),
    "UTF-16 in json": ("t.json", JSON.encode("utf-16"), ["line 1", "UTF-16"]),
    "UTF-16 without a mark": ("t.csv", CSV.encode("utf-16-le"), ["line "]),
    "a column twice": ("t.csv", text_of([(*row, "x") for row in ROWS], [*NAMES, "outcome"]), ["'outcome'", "several"]),
    "two columns without a name": ("t.csv", "object_i,object_j,outcome,,\na,b,i,1,2\n", ["several", "''"]),
    "a field twice in jsonl": (
        "t.jsonl",
        JSONL + '{"object_i": "x", "object_i": "y"}',
        ["line 5", "'object_i'", "twice"],
    ),
    "a field twice in a nested record": ("t.jsonl", JSONL + '{"a": {"b": 1, "b": 2}}', ["line 5", "'b'", "twice"]),
    "a field twice in a list": ("t.json", '[{"object_i": "x", "object_i": "y"}]', ["line 1", "'object_i'", "twice"]),
    "jsonl broken at line 3": (
        "t.jsonl",
        JSONL.replace('"claude", "object_j": "gpt"', '"claude"; 3'),
        ["line 3", "column "],
    ),
    "jsonl cut off": ("t.jsonl", JSONL[:-20], ["line 4", "cut off"]),
    "a list broken at line 2": (
        "t.json",
        JSON.replace('"llama", "object_j": "claude"', '"llama" 3'),
        ["line 2", "column "],
    ),
    "a list cut off": ("t.json", JSON[:-20], ["line 4", "cut off"]),
    "two lists": ("t.json", JSON + "\n" + JSON, ["line 5", "not JSON"]),
    "one object": ("t.json", '{"records":\n [1, 2]}', ["no known format", "'records'"]),
    "one object on a line": ("t.json", json.dumps({"data": json.loads(JSON)}), ["data"]),
    "numbers": ("t.json", "[1, 2]", ["record 0", "1", "fields"]),
    "a number among records": ("t.json", JSON[:-1] + ", 3]", ["record 4", "3"]),
    "a text among lines": ("t.jsonl", JSONL + '"end"\n', ["record 4", "'end'"]),
    "a list among lines": ("t.jsonl", JSONL + "[1, 2]\n", ["record 4", "[1, 2]"]),
    "triples": ("t.json", '[["a", "b", "c"]]', ["record 0", "pairs"]),
    "brackets without end": ("t.json", "[" * 100_000, ["nested"]),
    "a number of 5000 digits": ("t.jsonl", JSONL + '{"judge": ' + "1" * 5000 + "}", ["line 5"]),
    "half a character": ("t.jsonl", JSONL + '{"object_i": "\\ud83d", "object_j": "x", "outcome": "i"}', ["5"]),
    "an empty csv": ("t.csv", "", ["first line"]),
    "a csv of a mark": ("t.csv", b"\xef\xbb\xbf", ["first line"]),
    "a csv of empty lines": ("t.csv", "\n\n", ["first line"]),
    "an empty json": ("t.json", "", ["empty"]),
    "an empty list": ("t.json", "[]", ["empty"]),
    "an empty jsonl": ("t.jsonl", "\n\n", ["empty"]),
    "an empty gz": ("t.csv.gz", gzip.compress(b""), ["first line"]),
    "an empty parquet": ("t.parquet", b"", ["parquet"]),
    "a parquet that is none": ("t.parquet", CSV, ["parquet"]),
    "a csv of names only": ("t.csv", CSV.split("\n")[0] + "\n", ["no rows"]),
    "an unknown suffix": ("t.xlsx", CSV, [".csv", ".parquet", "unknown"]),
    "an unknown suffix of gz": ("t.doc.gz", CSV, [".csv", "unknown"]),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_is_refused_where_it_is(case, saved):
    name, content, parts = DAMAGED[case]
    path = saved(name, content)
    for door in (counted, read_judgments, llbt.audit):
        said = refusal(door, path)
        assert name in said
        for part in parts:
            assert part in said, said


@pytest.mark.parametrize("position", [0.02, 0.2, 0.5, 0.8, 0.98])
@pytest.mark.parametrize("how", ["cut", "changed"])
def test_a_damaged_parquet_file(how, position, tmp_path):
    path = tmp_path / "t.parquet"
    FRAME.to_parquet(path, compression="gzip")
    raw = path.read_bytes()
    at = int(len(raw) * position)
    path.write_bytes(raw[:at] if how == "cut" else raw[:at] + bytes(x ^ 0xFF for x in raw[at : at + 8]) + raw[at + 8 :])
    try:
        found = counted(path)
    except llbt.errors.JudgmentError as error:
        assert "t.parquet" in str(error)  # noqa: PT017  # some bytes of a parquet file carry nothing
    else:
        assert how == "changed"
        assert found == EXPECTED


def test_no_file(tmp_path):
    for door in (counted, file_frame, read_judgments, llbt.audit):
        assert "gone.csv' is not there" in refusal(door, tmp_path / "gone.csv")
        assert "is a folder" in refusal(door, tmp_path)
        assert tmp_path.name in refusal(door, str(tmp_path))


def test_a_name_that_cannot_be_one():
    assert "not there" in refusal(file_frame, "a" * 300 + ".csv")


@pytest.mark.parametrize("file", [None, 3])
def test_what_is_no_file(file):
    assert type(file).__name__ in refusal(file_frame, file)


def test_other_fields_may_be_damaged_only_where_they_are_asked_for(saved):
    """A column that is not a label or number is refused by its name, not by what pandas says of it."""
    records = [dict(zip(NAMES, row, strict=True)) | {"tags": [1, {}]} for row in ROWS]
    path = saved("t.json", json.dumps(records))
    assert counted(path) == EXPECTED
    assert "'tags'" in refusal(from_judgments, path, covariates="tags")


@pytest.mark.parametrize("field", NAMES)
def test_a_list_instead_of_a_label_is_refused_by_its_field(field, saved):
    records = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    records[2][field] = ["x", {"y": 1}]
    assert f"'{field}'" in refusal(counted, saved("t.json", json.dumps(records)))


@pytest.mark.parametrize("number", ["1" * 400, "1e999", "NaN", "-1"])
def test_preferences_that_are_no_numbers(number, saved):
    record = '{"generator_1": "x", "generator_2": "y", "preference": %s}'
    path = saved("t.jsonl", "\n".join(record % said for said in ("1", "2", number)))
    if number == "NaN":
        assert "1 judgment left out: 'preference' missing or failed" in read_judgments(path).notes
    else:
        said = refusal(read_judgments, path)
        assert "'preference'" in said
        assert "2" in said


# -- by DuckDB: the same files, the same answers ------------------------------------------------------------------


@pytest.fixture
def on_disk(monkeypatch):
    """Every file is large."""
    for kind in files.LARGE:
        monkeypatch.setitem(files.LARGE, kind, 0)


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_large_files(kind, on_disk, tmp_path):
    assert counted(written(FRAME, kind, tmp_path)) == EXPECTED


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("label", ["a,b", "two\nlines", 'say "x"', "日本語", "NA", "null", "None", " padded ", "\\"])
@pytest.mark.slow
def test_awkward_labels_of_large_files(label, kind, on_disk, tmp_path):
    rows = [(label, "b", "i", label), ("c", label, "tie", "x"), ("b", "c", "j", "x")]
    frame = pd.DataFrame(rows, columns=NAMES)
    assert counted(written(frame, kind, tmp_path)) == from_judgments(frame, covariates="judge", order=True)


MANY = 60_000  # beyond what DuckDB looks at before it answers
LATE = {
    "a line cut off": ("t.csv", CSV + "gpt,llama,i,J1\n" * MANY + "gpt,ll"),
    "a line too long": ("t.csv", CSV + "gpt,llama,i,J1\n" * MANY + "gpt,llama,i,J1,x\n"),
    "latin-1": ("t.csv", (CSV + "gpt,llama,i,J1\n" * MANY + "é,llama,i,J1\n").encode("latin-1")),
    "json cut off": ("t.jsonl", JSONL + (lines_of()[0] + "\n") * MANY + lines_of()[0][:20]),
    "a field twice": ("t.jsonl", JSONL + '{"object_i": "x", "object_i": "y", "object_j": "x", "outcome": "i"}\n'),
    "a column twice": ("t.csv", text_of([(*row, "j") for row in ROWS], [*NAMES, "outcome"])),
}


@pytest.mark.slow
@pytest.mark.parametrize("door", ["from_judgments", "read_judgments", "audit"])
@pytest.mark.parametrize("case", LATE)
def test_damage_of_large_files(case, door, on_disk, saved):
    path = saved(*LATE[case])
    said = refusal(lambda: str(getattr(llbt, door)(path)))  # a relation is read when it is asked for
    assert path.name in said


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_several_files(kind, tmp_path):
    for k, part in enumerate((FRAME[:1], FRAME[1:])):
        written(part, kind, tmp_path).rename(tmp_path / f"part{k}.{kind}")
    assert counted(f"{tmp_path}/part*.{kind}") == EXPECTED
    assert "none*" in refusal(counted, f"{tmp_path}/none*.{kind}")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_several_files_with_their_columns_in_another_order(kind, tmp_path):
    """Columns have names: those of the second file are not read by their places in the first."""
    for k, part in enumerate((FRAME[:2], FRAME[2:][["judge", "object_j", "object_i", "outcome"]])):
        written(part, kind, tmp_path).rename(tmp_path / f"part{k}.{kind}")
    assert counted(f"{tmp_path}/part*.{kind}") == EXPECTED


def test_a_file_whose_name_looks_like_a_pattern(tmp_path):
    path = tmp_path / "run[1].csv"
    path.write_text(CSV)
    assert counted(path) == EXPECTED
    np.testing.assert_array_equal(file_frame(path).to_numpy(), FRAME.to_numpy())


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_list_of_files_is_read_as_one_and_small_ones_are_frames(kind, tmp_path, monkeypatch):
    parts = [FRAME[:2].assign(only=[1, 2]) if kind != "csv" else FRAME[:2], FRAME[2:]]
    paths = [written(part, kind, tmp_path).rename(tmp_path / f"part{k}.{kind}") for k, part in enumerate(parts)]
    for source in (paths, [str(paths[0]), paths[1]], f"{tmp_path}/part*.{kind}", [f"{tmp_path}/part*.{kind}"]):
        frame = read_judgments(source)
        assert frame.notes == ("4 records read as 'judgments': 4 judgments",)
        assert frame.to_frame()["judge"].tolist() == FRAME["judge"].tolist()
        assert counted(source) == EXPECTED
    if kind != "csv":
        assert frame.to_frame()["only"].tolist()[:2] == [1, 2]
        assert from_judgments(paths[:1] * 2, covariates="only").columns[0].levels.tolist() == [1, 2]
    monkeypatch.setattr("llbt.data.files.LARGE", dict.fromkeys(("csv", "json", "parquet"), 0))
    assert counted(paths) == EXPECTED


def test_numbers_are_found_in_all_files_together(tmp_path):
    for k, version in enumerate(("1.1", "1.10")):
        (tmp_path / f"part{k}.csv").write_text(f"object_i,object_j,outcome,version\na,b,i,{version}\n")
    c = from_judgments(f"{tmp_path}/part*.csv", covariates="version")
    assert c.columns[0].levels.tolist() == ["1.1", "1.10"]


def test_files_that_do_not_belong_together(tmp_path):
    written(FRAME, "csv", tmp_path).rename(tmp_path / "a.csv")
    written(FRAME, "parquet", tmp_path).rename(tmp_path / "b.parquet")
    (tmp_path / "c.csv").write_text("object_i,object_j,winner\na,b,i\n")
    assert "several kinds" in refusal(read_judgments, [tmp_path / "a.csv", tmp_path / "b.parquet"])
    assert "'winner'" in refusal(read_judgments, [tmp_path / "a.csv", tmp_path / "c.csv"])
    assert "gone.csv" in refusal(read_judgments, [tmp_path / "a.csv", tmp_path / "gone.csv"])


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_every_door_takes_open_files(saved, mode):
    path = saved("t.csv", "A,B,C\n1,2,3\n2,1,3\n1,3,2\n")
    doors = (llbt.from_scores, lambda source: llbt.from_rankings(source, objects=list("ABC")).to_comparisons())
    for door in doors:
        with open(path, mode) as file:
            assert door(file) == door(path)
