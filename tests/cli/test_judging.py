"""The command line: audits, formats of judgments, and the exit codes that continuous integration goes by."""

import gzip
import io
import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from support.shell import refused, run

import llbt
from llbt.cli.judging import with_options

MODELS = ["alpha", "bravo", "delta", "hotel"]
BATTLES = [  # every pair in both orders, each outcome
    dict(
        model_a=a,
        model_b=b,
        winner=["model_a", "model_b", "tie", ("model_a", "model_b")[k % 2]][(m + k) % 4],
        judge=f"J{m % 4}",
        question_id=f"{k}.{m}",
    )
    for k, (a, b) in enumerate(itertools.permutations(MODELS, 2))
    for m in range(8)
]
APART = [{"object_i": i, "object_j": j, "outcome": o} for i, j in ("ab", "cd") for o in ("i", "j", "tie")]
ODD = [*BATTLES, BATTLES[0] | {"model_b": "alpha"}, BATTLES[0] | {"winner": None}]
TIED = "object + tie"


def passed(*args, **options):
    """What is on stdout of a call with exit code 0 and nothing on stderr."""
    result = run(*args, **options)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def fitted(*args, **options):
    return json.loads(passed("fit", *args, "--formula", TIED, "--format", "json", **options))


@pytest.fixture
def saved(tmp_path):
    def save(records, name="t.jsonl"):
        path = tmp_path / name
        if path.suffix in (".json", ".jsonl"):
            lines = [json.dumps(record) for record in records]
            path.write_text("\n".join(lines) if path.suffix == ".jsonl" else f"[{','.join(lines)}]")
        elif path.suffix == ".parquet":
            pd.DataFrame(records).to_parquet(path)
        else:
            pd.DataFrame(records).to_csv(path, index=False)
        return path

    return save


# -- what is printed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "markdown", "html", "latex"])
def test_what_the_library_says_is_printed(form, saved):
    path = saved(ODD)
    report = with_options(llbt.audit(path))
    assert passed("audit", path, "--format", form) == getattr(report, f"as_{form}")() + "\n"
    checks = [
        finding.check.replace("_", r"\_") if form in ("latex", "markdown") else finding.check
        for finding in report.findings
    ]
    text = passed("audit", path, "--format", form)
    assert all(check in text for check in checks)


def test_text_is_the_default(saved):
    path = saved(ODD)
    assert passed("audit", path) == passed("audit", path, "--format", "text")
    assert passed("audit", path).startswith("Audit: ")


def test_json(saved):
    path = saved(ODD)
    report = with_options(llbt.audit(path))
    facts = json.loads(passed("audit", path, "--format", "json"))
    assert set(facts) == {"sizes", "notes", "findings"}
    assert facts["sizes"] == list(report.sizes)
    assert facts["notes"] == list(report.notes)
    assert facts["findings"] == report.to_frame().to_dict("records")
    by_check = {finding["check"]: finding for finding in facts["findings"]}
    assert by_check["self_comparisons"]["found"] == "1 row with an object compared with itself: 'alpha'"
    assert by_check["missing"]["found"] == "1 row without winner"


def test_csv(saved):
    path = saved(ODD)
    result = run("audit", path, "--format", "csv")
    frame = pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)
    pd.testing.assert_frame_equal(frame, with_options(llbt.audit(path)).to_frame(), check_dtype=False)
    assert result.stderr.splitlines() == [f"note: {note}" for note in llbt.audit(path).notes]


def test_html_is_a_table(saved):
    path = saved(ODD)
    (table,) = pd.read_html(io.StringIO(passed("audit", path, "--format", "html")))
    expected = [[finding.check, finding.level] for finding in llbt.audit(path).findings]
    assert table[table.iloc[:, 0].isin([check for check, _ in expected])].iloc[:, :2].values.tolist() == expected


# -- exit codes ----------------------------------------------------------------------------------------------


def test_findings_alone_are_no_failure(saved):
    result = run("audit", saved(APART))
    assert result.exit_code == 0
    assert "ERROR" in result.stdout


@pytest.mark.parametrize(
    ("asked", "code", "named"),
    [
        ("disconnected", 1, {"disconnected"}),
        ("self_comparisons", 0, set()),
        ("self_comparisons,disconnected", 1, {"disconnected"}),
        ("self_comparisons, missing", 0, set()),
        ("error", 1, {"disconnected"}),
        ("note", 1, {"disconnected"}),
        ("judges", 1, {"judges"}),  # not checked: no judge
    ],
)
def test_fail_on(asked, code, named, saved):
    path = saved(APART)
    result = run("audit", path, "--fail-on", asked)
    assert result.exit_code == code
    assert result.stdout == with_options(llbt.audit(path)).as_text() + "\n"  # the report is printed all the same
    assert result.stderr.startswith("failed: ") == bool(code)
    assert named <= set(re.findall(r"[a-z_]+", result.stderr.removeprefix("failed: ")))
    expected = [finding.check for finding in llbt.audit(path).failed(*re.split(r",\s*", asked))]
    assert result.stderr == (f"failed: {', '.join(expected)}\n" if expected else "")


@pytest.mark.parametrize("level", ["error", "warning", "note"])
def test_nothing_to_fail_on(level, saved):
    assert "nothing found" in passed("audit", saved(BATTLES), "--fail-on", level)


@pytest.mark.parametrize("form", ["json", "csv", "html"])
def test_the_report_is_whole_also_where_it_fails(form, saved):
    path = saved(APART)
    result = run("audit", path, "--fail-on", "error", "--format", form)
    assert result.exit_code == 1
    assert result.stdout == run("audit", path, "--format", form).stdout


REFUSED = {
    "no file": (["nowhere.csv"], "there is no file 'nowhere.csv', and no bundled data set"),
    "a folder": (["."], "is a folder"),
    "a pattern without files": (["nowhere*.parquet"], "nowhere*.parquet"),
    "an unknown check": (["FILE", "--fail-on", "seperation"], "no check 'seperation'; expected names among"),
    "an unknown check among others": (["FILE", "--fail-on", "error,what"], "no check 'what'"),
    "a level that is no failure": (["FILE", "--fail-on", "ok"], "no check 'ok'"),
    "an empty check": (["FILE", "--fail-on", "error,"], "'--fail-on': found 'error,'; expected parts"),
    "no check": (["FILE", "--fail-on", ""], "'--fail-on'"),
    "an unknown format": (["FILE", "--format", "pdf"], "found 'pdf'; expected 'text', 'markdown'"),
    "an unknown input format": (["FILE", "--input-format", "arenas"], "--input-format arenas"),
    "a format that does not fit": (["FILE", "--input-format", "evalica"], "no columns 'left', 'right'"),
    "one object": (["FILE", "--objects", "model_a"], "'--objects': found 'model_a'; expected two columns"),
    "no such objects": (["FILE", "--objects", "a,b", "--outcome", "winner"], "no columns 'a', 'b'"),
    "no such outcome": (["FILE", "--input-format", "arena", "--outcome", "won"], "'won'"),
    "no such judge": (["FILE", "--judge", "who"], "'who'"),
    "no such prompt": (["FILE", "--prompt", "what"], "'what'"),
    "no such weights": (["FILE", "--weights", "n"], "'n'"),
    "weights that are none": (["FILE", "--weights", "judge"], "--weights: 'J0'"),
    "outcomes that are none": (
        ["FILE", "--outcomes", "x=won"],
        "found 'x=won'; expected i, j, tie, bad, none or a whole",
    ),
    "an option of fit": (["FILE", "--formula", "object"], "No such option"),
    "an option of files": (["puddings", "--outcome", "x"], "'--outcome': it is for files; the bundled data set"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = saved(BATTLES)
    args, fragment = REFUSED[case]
    assert fragment in refused("audit", *(path if arg == "FILE" else arg for arg in args))


def test_no_argument():
    assert re.search("Missing argument.*FILE", refused("audit"))


@pytest.mark.parametrize(
    ("name", "raw", "fragment"),
    [
        ("t.csv", b"object_i,object_j,outcome\na,b,i\na,b\n", "line 3"),
        ("t.csv", "object_i,object_j,outcome\né,b,i\n".encode("latin-1"), "line 2"),
        ("t.csv", b"", "first line"),
        ("t.csv", b"a,b\n1,2\n", "no known format"),
        ("t.csv.gz", gzip.compress(b"object_i,object_j,outcome\na,b,i\n", mtime=0)[:-9], "cut off"),
        ("t.jsonl", b'{"object_i": "a"}\n{"object_i": ', "line 2"),
        ("t.json", b"[]", "empty"),
        ("t.parquet", b"PAR1", "parquet"),
        ("t.docx", b"", "unknown kind of file"),
    ],
)
@pytest.mark.parametrize("command", [["audit"], ["fit", "--formula", TIED]])
def test_damaged_files(command, name, raw, fragment, tmp_path):
    (tmp_path / name).write_bytes(raw)
    said = refused(*command, tmp_path / name)
    assert said.startswith("error: ")
    assert name in said
    assert fragment in said


PRINTED = {"columns", "rename", "digits", "decimals", "caption", "size", "notes"}


def test_every_option_has_a_help_text():
    text = passed("audit", "--help", terminal_width=200)
    options = dict(re.findall(r"^  (--[a-z-]+).*?(?:  |\n +)(\w.*)$", text, re.MULTILINE))
    given = {"objects", "outcome", "outcomes", "judge", "prompt", "weights", "input-format", "defaults", "fail-on"}
    given |= {
        "ties-column",
        "ignore",
        "where",
        "winner",
        "loser",
        "scores",
        "orders",
        "max-dropped",
        "missing",
        "exclude",
        "drop",
    }
    given |= {"rankings", "best", "worst", "design", "ratings", "object", "block", "unranked"}
    assert {f"--{name}" for name in given | {"labels", "format", *PRINTED}} == {
        name for name in options if name != "--help"
    }
    assert all(len(said) > 15 for said in options.values())


# -- where judgments come from -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dras_table1", "puddings", "cems", "baseball"])
def test_bundled_data_sets(name):
    if name not in set(llbt.list_datasets().to_frame()["name"]):
        name = "citations"
    assert run("audit", name).stdout == with_options(llbt.audit(llbt.load_dataset(name))).as_text() + "\n"


def test_judge_and_prompt_of_bundled_data_sets():
    expected = with_options(llbt.audit(llbt.load_dataset("dras_table1"), judge="judge")).as_text()
    assert run("audit", "dras_table1", "--judge", "judge").stdout == expected + "\n"
    assert run("audit", "dras_table1", "--judge", "who").exit_code == 2


def test_a_file_comes_before_a_data_set_of_its_name(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved(APART, "t.csv").rename("puddings")
    assert run("audit", "puddings", "--fail-on", "disconnected").exit_code == 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("records", [BATTLES, APART])
def test_standard_input(records, pack, saved):
    path = saved(records, "t.csv")
    found = passed("audit", "-", input=pack(path.read_bytes()))
    assert found == passed("audit", path)
    assert f"{len(records)} judgments" in found


def test_standard_input_with_named_columns(saved):
    frame = pd.DataFrame(BATTLES).rename(columns={"model_a": "x", "model_b": "y", "winner": "w"})
    raw = frame.replace({"w": {"model_a": "left", "model_b": "right"}}).to_csv(index=False)
    options = ["--objects", "x,y", "--outcome", "w", "--prompt", "question_id"]
    assert "nothing found" in passed("audit", "-", *options, input=raw)
    assert "no known format" in refused("audit", "-", input=raw)


def test_a_pattern_of_parquet_files(saved, tmp_path):
    for k in range(3):
        saved(BATTLES[k::3], f"part{k}.parquet")
    whole = json.loads(passed("audit", saved(BATTLES, "whole.parquet"), "--format", "json"))
    parts = json.loads(passed("audit", tmp_path / "part*.parquet", "--format", "json"))
    assert parts["sizes"] == whole["sizes"]
    assert parts["findings"] == whole["findings"]
    assert fitted(tmp_path / "part*.parquet") == fitted(tmp_path / "whole.parquet")


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t.jsonl", "t.parquet"])
def test_kinds_of_files(name, saved):
    assert passed("audit", saved(ODD, name)) == passed("audit", saved(ODD, "other.jsonl"))


# -- options -------------------------------------------------------------------------------------------------


def test_objects_outcome_judge_and_prompt(saved):
    names = {"model_a": "first", "model_b": "other", "winner": "said", "judge": "who", "question_id": "on"}
    path = saved([{names[key]: value for key, value in record.items()} for record in ODD])
    outcomes = {"model_a": "i", "model_b": "j"}
    mine = llbt.formats.columns(("first", "other"), "said", outcomes=outcomes, judge="who", prompt="on")
    given = ["--objects", "first,other", "--outcome", "said", "--judge", "who", "--prompt", "on"]
    found = passed("audit", path, *given, "--outcomes", "model_a=i,model_b=j")
    assert found == with_options(llbt.audit(path, format=mine)).as_text() + "\n"
    assert "4 judges, 96 prompts" in found
    assert "1 row without said" in found


def test_a_judge_or_prompt_of_another_name(saved):
    path = saved([record | {"team": "AB"[k % 2], "topic": k % 3} for k, record in enumerate(BATTLES)])
    assert "4 judges, 96 prompts" in passed("audit", path)
    assert "2 judges, 96 prompts" in run("audit", path, "--judge", "team").stdout
    assert "4 judges, 3 prompts" in run("audit", path, "--prompt", "topic").stdout


def test_weights(saved):
    path = saved([record | {"n": 3} for record in BATTLES])
    assert "288 judgments" in passed("audit", path, "--weights", "n")


def test_input_format(saved):
    path = saved([record | {"left": "x", "right": "y"} for record in BATTLES])
    assert "--input-format arena" in refused("audit", path)
    assert "96 judgments" in passed("audit", path, "--input-format", "arena")


def test_outcomes_left_out(saved):
    found = passed("audit", saved([*BATTLES, BATTLES[0] | {"winner": "skip"}]), "--outcomes", "skip=none")
    assert "96 judgments" in found


# -- fit: formats --------------------------------------------------------------------------------------------

WMT = "srclang,trglang,srcIndex,judgeId," + ",".join(f"system{k}Id,system{k}rank" for k in range(1, 6))
RANKINGS = ["1,1,2,3,3", "2,1,1,3,-1", "5,4,3,2,1", "1,2,1,2,4"]


def wmt_text():
    lines = [
        f"cs,en,{k},J{k % 2}," + ",".join(f"s{m},{rank}" for m, rank in enumerate(ranks.split(",")))
        for k, ranks in enumerate(RANKINGS)
    ]
    return "\n".join([WMT, *lines]) + "\n"


def wmt_judgments():
    """The judgments that the rankings imply, by hand."""
    rows = []
    for ranks in RANKINGS:
        for (i, x), (j, y) in itertools.combinations(enumerate(map(int, ranks.split(","))), 2):
            if -1 not in (x, y):
                rows.append((f"s{i}", f"s{j}", "tie" if x == y else "i" if x < y else "j"))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])


def assert_same(facts, res):
    rows = pd.DataFrame(facts["coefficients"])
    assert rows["term"].tolist() == list(res.names)
    np.testing.assert_allclose(rows["estimate"].astype(float), res.params, rtol=1e-10, atol=1e-12)
    assert facts["n_judgments"] == res.comparisons.n_judgments


def battles_by_hand():
    rows = [(r["model_a"], r["model_b"], {"model_a": "i", "model_b": "j"}.get(r["winner"], "tie")) for r in BATTLES]
    return llbt.fit(TIED, llbt.from_judgments(pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])))


@pytest.mark.parametrize("given", [[], ["--input-format", "arena"], ["--input-format", "auto"]])
@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.csv", "t.parquet"])
def test_arena(name, given, saved):
    facts = fitted(saved(BATTLES, name), *given)
    assert_same(facts, battles_by_hand())
    assert facts["n_judgments"] == 96


def test_arena_on_standard_input(saved):
    assert_same(fitted("-", input=saved(BATTLES, "t.csv").read_bytes()), battles_by_hand())


@pytest.mark.parametrize("given", [[], ["--input-format", "wmt5"]])
def test_wmt(given, tmp_path):
    (tmp_path / "t.csv").write_text(wmt_text())
    expected = llbt.fit(TIED, llbt.from_judgments(wmt_judgments()))
    assert_same(fitted(tmp_path / "t.csv", *given), expected)
    audited = passed("audit", tmp_path / "t.csv")
    assert f"{len(wmt_judgments())} judgments" in audited
    assert "4 judgments left out: an object not ranked" in audited


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_counts(name, saved):
    table = llbt.load_dataset("puddings")
    path = saved(table.to_frame().to_dict("records"), name)
    assert_same(fitted(path), llbt.fit(TIED, table))


def test_other_formats(saved):
    pairs = [{"winner": b["model_a"], "loser": b["model_b"]} for b in BATTLES]
    facts = json.loads(passed("fit", saved(pairs), "--formula", "object", "--format", "json"))
    assert facts["n_judgments"] == 96
    rows = [
        dict(generator_1=b["model_a"], generator_2=b["model_b"], preference=1 + k % 3 / 2)
        for k, b in enumerate(BATTLES)
    ]
    said = ["i", "tie", "j"]
    expected = [(row["generator_1"], row["generator_2"], said[k % 3]) for k, row in enumerate(rows)]
    frame = pd.DataFrame(expected, columns=["object_i", "object_j", "outcome"])
    assert_same(fitted(saved(rows, "t.json")), llbt.fit(TIED, llbt.from_judgments(frame)))


@pytest.mark.parametrize("more", [{"winner": "?"}, {"winner": None}])
def test_max_dropped(more, saved):
    path = saved([*BATTLES, BATTLES[0] | more, BATTLES[5] | more])
    assert "outcome" in refused("fit", path, "--formula", TIED)
    assert "outcome" in refused("fit", path, "--formula", TIED, "--max-dropped", 1)
    facts = fitted(path, "--max-dropped", 2)
    assert_same(facts, battles_by_hand())
    assert any(note.startswith("2 rows with ") and "left out (--max-dropped)" in note for note in facts["notes"])


@pytest.mark.parametrize("given", ["x", "1.5"])
def test_max_dropped_is_a_number(given, saved):
    assert "--max-dropped" in refused("fit", saved(BATTLES), "--formula", TIED, "--max-dropped", given)


def test_options_of_judgments_do_not_go_with_those_of_counts(saved):
    path = saved(BATTLES)
    for given, named in ((["--max-dropped", 1], "--max-dropped"), (["--input-format", "arena"], "--input-format")):
        said = refused("fit", path, "--formula", TIED, "--wins", "a,b", *given)
        assert f"'--wins': it is for counts, {named} for judgments" in said


def test_unknown_formats(saved):
    assert "--input-format arenas" in refused("fit", saved(BATTLES), "--formula", TIED, "--input-format", "arenas")
    said = refused("fit", saved([{"one": 1, "two": 2}]), "--formula", TIED)
    assert "no known format has the columns 'one', 'two'. Pass" in said
    assert "one of llbt formats" in said


def test_a_misspelt_column_is_asked_after(saved):
    rows = [{"object_i": "x", "object_j": "y", "outcom": "i"}]
    assert "'outcom' (did you mean 'outcome'?)" in refused("fit", saved(rows), "--formula", TIED)


# -- formats -------------------------------------------------------------------------------------------------


def test_formats_lists_every_format():
    text = passed("formats")
    assert text == llbt.formats.table().as_text() + "\n"
    first = [line.split()[0] for line in text.splitlines() if line.split()]
    assert all(name in first for name in (*llbt.formats.known, "matrix", "prefmod"))
    whole = passed("formats", "--format", "csv")  # text breaks long descriptions
    for known in llbt.formats.known.values():
        assert known.description.split(":")[0] in whole
        assert all(mark in whole for mark in known.marks)


@pytest.mark.slow
def test_every_format_that_is_listed_is_an_input_format(saved):
    path = saved([{"one": 1, "two": 2}], "t.csv")
    for name in llbt.formats.table().to_frame()["name"]:
        assert "expected 'auto', a JudgmentFormat" not in run("audit", path, "--input-format", name).stderr, name
    assert "expected 'auto', a JudgmentFormat" in refused("audit", path, "--input-format", "arenas")
