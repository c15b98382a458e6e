"""The command line gives what the library gives, and says on stderr what it refuses."""

import gzip
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from support.mixed import judged_frame
from support.shell import refused, run

import llbt

TABLE1 = llbt.load_dataset("dras_table1")
TIED = "object + tie"
PARTY = pd.DataFrame(  # judgments of three objects, both orders, every outcome
    {
        "a": ["x", "y", "x", "x", "z", "y", "z", "x"],
        "b": ["y", "x", "z", "z", "x", "z", "y", "y"],
        "winner": ["x", "tie", "x", "z", "x", "y", "z", "y"],
        "judge": [1, 1, 2, 2, 1, 1, 2, 2],
        "age": [20, 30, 20, 30, 50, 40, 30, 20],
        "n": [5, 3, 4, 2, 6, 1, 3, 2],
        "length_a": [1.5, 2.0, 4.0, 3.0, 2.5, 1.0, 0.5, 2.0],
        "length_b": [2.5, 1.0, 3.0, 1.0, 4.5, 2.0, 1.5, 0.5],
    }
)
PLACES = {"objects": ("a", "b"), "outcome": "winner"}
AB = ["--objects", "a,b"]
WINNER = [*AB, "--outcome", "winner"]


def fitted(*args, formula=TIED, **options):
    """Return what ``llbt fit … --cov-type nonrobust --format json`` says, once it has succeeded."""
    result = run("fit", *args, "--cov-type", "nonrobust", "--formula", formula, "--format", "json", **options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def assert_same(facts, res):
    rows = pd.DataFrame(facts["coefficients"])
    assert rows["term"].tolist() == list(res.names)
    np.testing.assert_allclose(rows["estimate"].astype(float), res.params, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rows["std_error"].astype(float), res.bse, rtol=1e-8)
    assert facts["deviance"] == pytest.approx(res.deviance, rel=1e-9, abs=1e-9)
    assert facts["df_resid"] == res.df_resid


@pytest.fixture
def party(tmp_path):
    path = tmp_path / "party.csv"
    PARTY.to_csv(path, index=False)
    return path


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.csv"
    TABLE1.to_frame().to_csv(path, index=False)
    return path


# -- graded judgments ----------------------------------------------------------------------------------------


def graded_rows() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    i = rng.integers(0, 3, 300)
    j = (i + rng.integers(1, 3, 300)) % 3
    grade = np.clip(np.round((j - i) * 0.4 + rng.normal(0, 1.2, 300)), -2, 2).astype(int)
    names, labels = np.array(list("xyz")), np.array(["A<<B", "A<B", "A=B", "A>B", "A>>B"])
    rows = {"object_i": names[i], "object_j": names[j], "outcome": labels[grade + 2], "grade": grade}
    rows["winner"] = np.where(grade > 0, names[i], np.where(grade < 0, names[j], "tie"))
    return pd.DataFrame(rows).assign(size=abs(grade))


@pytest.mark.parametrize(
    "options",
    [
        ["--outcomes", "A>>B=2,A>B=+1,A=B=0,A<B=-1,A<<B=-2"],
        ["--outcomes", "{'A>>B': 2, 'A>B': 1, 'A=B': 'tie', 'A<B': -1, 'A<<B': -2}"],
        ["--outcome", "winner", "--strength", "size"],
        ["--outcome", "grade", "--strength", "grade"],
    ],
)
def test_grades_are_kept(tmp_path, options):
    path = tmp_path / "graded.csv"
    graded_rows().to_csv(path, index=False)
    result = run("fit", path, *options, "--format", "json")
    assert result.exit_code == 0, result.stderr
    rows = pd.DataFrame(json.loads(result.stdout)["coefficients"]).set_index("term")["estimate"].astype(float)
    res = llbt.fit("object + tie + grade", llbt.from_judgments(graded_rows(), outcome="grade", strength="grade"))
    np.testing.assert_allclose(rows[list(res.names)], res.params, rtol=1e-9)


def test_grades_that_are_not_the_same_to_both_sides_are_refused(tmp_path):
    path = tmp_path / "graded.csv"
    graded_rows().to_csv(path, index=False)
    said = run("fit", path, "--outcomes", "A>>B=2,A>B=1,A=B=0,A<B=-1,A<<B=-3")
    assert said.exit_code == 2
    assert "the same grades on both sides" in said.stderr


# -- example, datasets, version ------------------------------------------------------------------------------


def test_example():
    result = run("example")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Table 1" in result.stdout
    assert "Worth: A .658 > D .295 > B .033 > C .013" in result.stdout
    assert re.search(r"^object\[A\] +0\.4007 ", result.stdout, re.MULTILINE)
    assert re.search(r"^tie +-1\.8317 ", result.stdout, re.MULTILINE)
    assert "Odds" in result.stdout
    assert "30.455" in result.stdout


def test_the_example_says_how_to_go_on():
    line = next(line for line in run("example").stdout.splitlines() if "dras_table1" in line)
    formula = re.search('llbt fit dras_table1 --formula "(.*?)"', line)[1]
    assert fitted("dras_table1", formula=formula)["deviance"] == pytest.approx(107.500, abs=5e-4)


def test_datasets():
    result = run("datasets")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in llbt.list_datasets().to_frame()["name"])


def test_version():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"llbt {llbt.__version__}\n")


def test_every_option_has_a_help_text():
    text = run("fit", "--help", terminal_width=200).stdout
    options = re.findall(r"^  (--[a-z-]+).*?(?:  |\n +)(\w.*)$", text, re.MULTILINE)
    assert len(options) == 59
    assert all(len(said) > 15 for _, said in options)


# -- formats -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pooled():
    return llbt.fit("object * judge + tie", TABLE1)


def printed(form):
    result = run("fit", "dras_table1", "--formula", "object * judge + tie", "--format", form)
    assert result.exit_code == 0
    assert bool(result.stderr) == (form == "csv")  # its notes
    return result.stdout


def test_json(pooled):
    facts = json.loads(printed("json"))
    for name in ("null_deviance", "pearson_chi2", "aic", "bic", "llf"):
        assert facts[name] == pytest.approx(getattr(pooled, name), rel=1e-12)
    assert facts["formula"] == "object * judge + tie"
    assert (facts["df_null"], facts["n_cells"], facts["n_judgments"]) == (48, 72, 960)
    assert facts["converged"] is True
    assert facts["objects"] == ["A", "B", "C", "D"]
    assert_same(facts, pooled)
    assert facts["notes"][0].startswith("Estimates are log-worths")


def test_csv(pooled):
    frame = pd.read_csv(io.StringIO(printed("csv")))
    pd.testing.assert_frame_equal(frame, pooled.to_frame(), rtol=1e-14, check_dtype=False)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_rendered(form, pooled):
    text = printed(form)
    assert text == getattr(pooled, f"as_{form}")() + "\n"
    assert all(f"{abs(value):.3f}" in text for value in pooled.params)


def test_html_is_a_table(pooled):
    (table,) = pd.read_html(io.StringIO(printed("html")))
    rows = table[table.iloc[:, 0].isin(pooled.names)]
    np.testing.assert_allclose(rows["Estimate"].astype(float), pooled.params, atol=5.1e-4)


def test_text_is_the_default():
    assert run("fit", "dras_table1", "--formula", "object * judge + tie").stdout == printed("text")


def test_missing_numbers_are_null():
    facts = fitted("puddings", "--fixed", "tie=-0.3")
    held = facts["coefficients"][-1]
    assert (held["term"], held["estimate"], held["std_error"], held["p_value"]) == ("tie", -0.3, None, None)


# -- files ---------------------------------------------------------------------------------------------------


def test_columns_of_wins_mean_counts(counts):
    assert_same(fitted(counts), llbt.fit(TIED, TABLE1.pool()))


@pytest.mark.parametrize("name", ["t.tsv", "t.tsv.gz", "t.csv.gz"])
def test_kinds_of_files(name, tmp_path):
    TABLE1.to_frame().to_csv(tmp_path / name, index=False, sep="\t" if ".tsv" in name else ",")
    assert_same(fitted(tmp_path / name), llbt.fit(TIED, TABLE1.pool()))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(pack):
    raw = pack(TABLE1.to_frame().to_csv(index=False).encode())
    assert_same(fitted("-", input=raw), llbt.fit(TIED, TABLE1.pool()))


@pytest.mark.parametrize("kind", ["json", "jsonl", "jsonl.gz", "parquet"])
def test_standard_input_of_any_kind(kind):
    frame = TABLE1.to_frame()
    packed = {
        "json": lambda: frame.to_json(orient="records", indent=1).encode(),
        "jsonl": lambda: frame.to_json(orient="records", lines=True).encode(),
        "jsonl.gz": lambda: gzip.compress(frame.to_json(orient="records", lines=True).encode()),
        "parquet": frame.to_parquet,
    }
    assert_same(fitted("-", input=packed[kind]()), llbt.fit(TIED, TABLE1.pool()))


@pytest.mark.parametrize(
    ("raw", "fragment"),
    [(b"PAR1 and nothing", "'the file' cannot be read as parquet"), (b'{"a": 1}\n{"a": \n', "'the file'")],
)
def test_damaged_standard_input(raw, fragment):
    assert fragment in refused("fit", "-", "--formula", TIED, input=raw)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    TABLE1.to_frame().to_csv(tmp_path / "bom.csv", index=False, encoding="utf-8-sig")
    assert_same(fitted(tmp_path / "bom.csv"), llbt.fit(TIED, TABLE1.pool()))


def test_a_bundled_data_set_unless_a_file_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    puddings = llbt.load_dataset("puddings")
    assert_same(fitted("puddings"), llbt.fit(TIED, puddings))
    TABLE1.pool().to_frame().to_csv("puddings", index=False)
    assert_same(fitted("puddings"), llbt.fit(TIED, TABLE1.pool()))


def test_words_for_missing_are_names_among_labels(tmp_path):
    frame = TABLE1.pool().to_frame().replace({"A": "NA", "B": "None"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert fitted(tmp_path / "t.csv")["objects"] == ["C", "D", "NA", "None"]


def test_words_for_missing_are_missing_among_numbers(tmp_path):
    frame = TABLE1.to_frame().assign(age=np.arange(24) / 2)
    frame.loc[3, "age"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False, na_rep="NA")
    said = refused("fit", tmp_path / "t.csv", "--formula", "object + object:age", "--covariates", "age")
    assert "column 'age': 1 missing value, the first at row 3" in said


# -- counts --------------------------------------------------------------------------------------------------


def test_wins_and_ties(tmp_path):
    frame = TABLE1.pool().to_frame().rename(columns={"wins_i": "w1", "wins_j": "w2", "ties": "both"})
    frame.assign(neither=2).to_csv(tmp_path / "t.csv", index=False)
    frame["both"] += 2
    expected = llbt.fit(TIED, llbt.from_counts(frame, wins=("w1", "w2"), ties_column="both"))
    assert_same(fitted(tmp_path / "t.csv", "--wins", "w1, w2", "--ties-column", "both,neither"), expected)


def test_covariates(counts):
    facts = fitted(counts, "--covariates", "judge", formula="object * judge + tie * judge")
    assert (facts["df_resid"], facts["formula"]) == (32, "object * judge + tie * judge")


def test_object_covariates(tmp_path):
    cems = llbt.load_dataset("cems")
    cems.to_frame().to_csv(tmp_path / "c.csv", index=False)
    table = {column.name: column.values for column in cems.object_columns}
    pd.DataFrame({"object": cems.objects, **table}).to_csv(tmp_path / "o.tsv", index=False, sep="\t")
    options = ["--covariates", "ENG,SEX", "--object-covariates", tmp_path / "o.tsv", "--numeric", "LAT,EC"]
    formula = "LAT + EC + LAT:ENG + tie"
    assert_same(fitted(tmp_path / "c.csv", *options, formula=formula), llbt.fit(formula, cems))


# -- judgments -----------------------------------------------------------------------------------------------


def test_judgments(party):
    assert_same(fitted(party, *WINNER), llbt.fit(TIED, llbt.from_judgments(PARTY, **PLACES)))


def test_weights(party):
    expected = llbt.fit(TIED, llbt.from_judgments(PARTY, **PLACES, weights="n"))
    assert_same(fitted(party, *WINNER, "--weights", "n"), expected)


def test_order(party):
    formula = "object + tie + order"
    expected = llbt.fit(formula, llbt.from_judgments(PARTY, **PLACES, order=True))
    assert_same(fitted(party, *WINNER, "--order", formula=formula), expected)


def test_merged_orders_are_noted(party):
    assert any("shown in both orders were merged" in note for note in fitted(party, *WINNER)["notes"])


def test_numeric(party):
    formula = "object + tie + tie:age"
    options = {"covariates": ("judge", "age"), "numeric": "age", "clusters": "n"}
    expected = llbt.fit(formula, llbt.from_judgments(PARTY, **PLACES, **options))
    given = ["--covariates", "judge,age", "--numeric", "age", "--clusters", "n"]
    assert_same(fitted(party, *WINNER, *given, formula=formula), expected)


def test_side_covariates(party):
    formula = "object + length + tie"
    sides = {"length": ("length_a", "length_b")}
    expected = llbt.fit(formula, llbt.from_judgments(PARTY, **PLACES, side_covariates=sides))
    facts = fitted(party, *WINNER, "--side-covariates", "length=length_a:length_b", formula=formula)
    assert_same(facts, expected)


CODES = {
    "numbers": ({"i": 1, "j": 0, "tie": 0.5}, "1=i,0=j,0.5=tie"),
    "signs": ({"i": 1, "j": -1, "tie": 0}, "-1=j, 0=tie, 1=i"),
    "slots": ({"i": 1, "j": 2, "tie": 3}, "1=I,2=J,3=Tie"),
    "words": ({"i": "first one", "j": "a,b", "tie": "="}, '"a,b=j",first one=i,==tie'),
    "pasted": ({"i": 1, "j": 0, "tie": 0.5}, "{1: 'i', 0: 'j', 0.5: 'tie'}"),
}


@pytest.mark.parametrize("code", CODES)
def test_outcomes(code, tmp_path):
    labels, given = CODES[code]
    said = np.where(PARTY["winner"] == PARTY["a"], "i", np.where(PARTY["winner"] == PARTY["b"], "j", "tie"))
    PARTY.assign(outcome=[labels[outcome] for outcome in said]).to_csv(tmp_path / "t.csv", index=False)
    facts = fitted(tmp_path / "t.csv", *AB, "--outcomes", given)
    assert_same(facts, llbt.fit(TIED, llbt.from_judgments(PARTY, **PLACES)))


@pytest.mark.parametrize("spelled", [("True", "False"), ("true", "false")])
def test_boolean_outcomes(spelled, tmp_path):
    decided = PARTY[PARTY["winner"] != "tie"]
    first = decided["winner"] == decided["a"]
    decided.assign(outcome=np.where(first, *spelled)).to_csv(tmp_path / "t.csv", index=False)
    facts = fitted(tmp_path / "t.csv", *AB, "--outcomes", "true=i,false=j", formula="object")
    assert_same(facts, llbt.fit("object", llbt.from_judgments(decided, **PLACES)))


@pytest.mark.parametrize("given", ["skipped=none,=none", "skipped=,=", "{'skipped': None, None: None}"])
def test_outcomes_left_out_are_noted(given, tmp_path):
    more = PARTY.iloc[[0, 0, 0]].assign(winner=["skipped", "skipped", None])
    pd.concat([PARTY, more]).to_csv(tmp_path / "t.csv", index=False)
    facts = fitted(tmp_path / "t.csv", *WINNER, "--outcomes", given)
    assert facts["n_judgments"] == len(PARTY)
    assert any("2 rows with outcome 'skipped' left out" in note for note in facts["notes"])
    assert any("1 row with a missing outcome left out" in note for note in facts["notes"])


@pytest.mark.parametrize(("reading", "sign"), [("names", 1), ("slots", -1)])
def test_outcomes_of_two_readings(reading, sign):
    text = "object_i,object_j,outcome\nA,B,A\nB,A,A\nA,B,B\n"  # A wins twice; or the second object does
    assert "--outcomes names" in refused("fit", "-", "--formula", "object", input=text)
    facts = fitted("-", "--outcomes", reading, formula="object", input=text)
    assert facts["coefficients"][0]["estimate"] == pytest.approx(sign * np.log(2) / 2)


# -- the fit -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["2", "6"])
def test_reference_of_integer_labels(reference):
    expected = llbt.fit(TIED, llbt.load_dataset("puddings"), reference=int(reference))
    assert_same(fitted("puddings", "--reference", reference), expected)


def test_reference_of_text():
    assert_same(fitted("dras_table1", "--reference", "B"), llbt.fit(TIED, TABLE1, reference="B"))


def test_fixed():
    fixed = {"tie": -0.5, "object[A]": 0.25}
    assert_same(fitted("dras_table1", "--fixed", "tie=-0.5,object[A]=.25"), llbt.fit(TIED, TABLE1, fixed=fixed))


@pytest.mark.parametrize("method", ["glm", "eliminate", "auto"])
def test_method(method):
    text = run("fit", "dras_table1", "--formula", TIED, "--method", method).stdout
    assert llbt.fit(TIED, TABLE1, method=method).summary().foot[-1] in text


# -- warnings and errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("link", "title"), [("cumulative", "Cumulative Bradley-Terry"), ("probit", "Thurstone model")])
def test_link(link, title):
    table = llbt.load_dataset("dras_table1")
    found = json.loads(run("fit", "dras_table1", "--formula", TIED, "--link", link, "--format", "json").stdout)
    assert found["llf"] == pytest.approx(llbt.fit(TIED, table, link=link).llf)
    assert run("fit", "dras_table1", "--formula", TIED, "--link", link).stdout.startswith(title)


def test_warnings_are_lines_of_stderr():
    result = run("fit", "puddings", "--formula", "object", "--format", "csv")
    assert result.exit_code == 0
    (warning,) = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    assert warning.startswith("warning: 27.1 % of the judgments are ties")
    assert "warning" not in result.stdout


def test_warnings_are_repeated_in_one_process():
    call = ("fit", "puddings", "--formula", "object")
    assert run(*call).stderr == run(*call).stderr != ""


REFUSED = {
    "no file": (["nowhere.csv"], "there is no file 'nowhere.csv', and no bundled data set"),
    "a folder": (["."], "the file '.' is a folder"),
    "one object": (["PARTY", "--objects", "a"], "'--objects': found 'a'; expected two columns"),
    "an empty part": (["PARTY", "--covariates", "judge,"], "'--covariates': found 'judge,'; expected parts"),
    "an empty list": (["PARTY", "--objects", ""], "'--objects': found ''; expected parts"),
    "three wins": (["PARTY", "--wins", "a,b,c"], "'--wins': found 'a,b,c'; expected two columns"),
    "no =": (["PARTY", *WINNER, "--outcomes", "x"], "'--outcomes': found 'x'; expected parts with an ="),
    "no outcome": (
        ["PARTY", *WINNER, "--outcomes", "x=won"],
        "found 'x=won'; expected i, j, tie, bad, none or a whole",
    ),
    "twice": (["PARTY", *WINNER, "--outcomes", "x=i,x=j"], "'x' is there twice"),
    "no mapping": (["PARTY", *WINNER, "--outcomes", "{x: 1, …}"], "{x: 1, …} is not a mapping"),
    "no side": (["PARTY", *WINNER, "--side-covariates", "length=length_a"], "found 'length=length_a'; expected one"),
    "wins of judgments": (["PARTY", *WINNER, "--wins", "a,b"], "'--wins': it is for counts, --outcome for judgments"),
    "ties of judgments": (
        ["PARTY", "--ties-column", "t,u", "--weights", "n"],
        "'--ties-column': several columns can only be summed with --wins; pass that, too",
    ),
    "ties alone": (["PARTY", *AB, "--ties-column", "n"], "column 'n' (--ties-column) holds 1, 2, 3 and 3 more"),
    "no column": (["PARTY", "--objects", "a,c"], "party.csv: no column 'c' (--objects)"),
    "no object table": (["PARTY", "--object-covariates", "no.csv"], "the file 'no.csv' is not there"),
    "options of files": (["puddings", "--order"], "'--order': it is for files; the bundled data set 'puddings'"),
    "an unknown object": (["puddings", "--reference", "7"], "error: --reference 7 is not an object of the table"),
    "no number": (["puddings", "--fixed", "tie=x"], "'--fixed': could not convert string to float: 'x'; expected"),
    "an unknown parameter": (["puddings", "--fixed", "order=1"], "error: fixed: no parameter 'order'"),
    "an unknown method": (["puddings", "--method", "em"], "found 'em'; expected 'auto', 'glm' or 'eliminate'."),
    "an unknown format": (["puddings", "--format", "pdf"], "found 'pdf'; expected 'text', 'markdown'"),
    "an unknown option": (["puddings", "--model", "x"], "No such option"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, party):
    args, fragment = REFUSED[case]
    args = [str(party) if arg == "PARTY" else arg for arg in args]
    assert fragment in refused("fit", *args, "--formula", TIED)


@pytest.mark.parametrize(
    ("args", "formula"),
    [
        (["dras_table1"], "object + tie"),
        (["PARTY", *WINNER], "object + tie"),
        (["PARTY", *WINNER, "--order"], "object + tie + order"),
        (["PARTY", *WINNER, "--outcomes", "a=i,b=j,tie=none"], "object"),
    ],
)
def test_the_formula_that_a_table_asks_for(args, formula, party):
    args = [str(party) if arg == "PARTY" else arg for arg in args]
    result = run("fit", *args, "--format", "json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["formula"] == formula
    assert result.stdout == run("fit", *args, "--format", "json", "--formula", formula).stdout


def test_what_is_missing_is_named():
    assert re.search("Missing argument.*FILE", refused("fit", "--formula", TIED))


def test_the_caret_stays_under_the_name():
    result = run("fit", "puddings", "--formula", "object + wiggle")
    assert result.exit_code == 2
    text, marked = result.stderr.splitlines()[-2:]
    assert text[marked.index("^") :] == "wiggle"


def test_numbers_without_a_mapping_print_one_to_paste(tmp_path):
    codes = PARTY["winner"].map({"x": 1, "y": 0, "z": 0, "tie": 0.5})
    PARTY.assign(outcome=codes).to_csv(tmp_path / "t.csv", index=False)
    said = refused("fit", tmp_path / "t.csv", *AB, "--formula", TIED)
    pasted = re.search(r"Pass --outcomes (\S+?=\S*)", said)[1]
    assert fitted(tmp_path / "t.csv", *AB, "--outcomes", pasted)["n_judgments"] == len(PARTY)


@pytest.mark.parametrize(
    ("raw", "fragment"),
    [
        (b"", "'the file' has no first line"),
        (b"\xff\xfe\x00\x81", "'the file', line 1: the byte 0xff is not UTF-8"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "'the file' is gzipped, but damaged or cut off"),
        (b"\x1f\x8b\x08\x00 no gzip at all", "'the file' is gzipped, but damaged"),
        (b'a,b\n1,"2\n', "'the file' cannot be read as csv"),
        (b"a,b\n1,2,3\n1,2,3\n", "'the file', line 2: 3 fields, but the first line names 2"),
        (b"object_i,object_j,wins_i,wins_j\n", "the file: no rows"),
    ],
)
def test_bad_input(raw, fragment):
    assert fragment in refused("fit", "-", "--formula", TIED, input=raw)


def test_standard_input_is_read_once():
    said = refused("fit", "-", "--formula", TIED, "--object-covariates", "-", input="a,b\n1,2\n")
    assert "standard input is FILE already" in said


# -- as a process --------------------------------------------------------------------------------------------


_MAIN = "from llbt.cli.main import main; main()"


def process(*args, **variables):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"} | variables
    return subprocess.run([sys.executable, "-c", _MAIN, *args], capture_output=True, env=environment, timeout=120)


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_defaults_for_a_field_that_a_file_lacks(tmp_path):
    """Arena-Hard v0.1 does not name its baseline."""
    games = [{"score": "A>B"}, {"score": "A=B"}]
    records = [dict(question_id=k, model="mn"[k % 2], judge="g", games=games[:: 1 - 2 * (k % 3 > 0)]) for k in range(9)]
    path = tmp_path / "hard.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    refused = run("fit", path)
    assert refused.exit_code == 2
    assert "pass --defaults and the value of 'baseline'" in refused.stderr
    found = run("fit", path, "--defaults", "baseline=gpt-4-0314", "--format", "json")
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout)["objects"] == ["gpt-4-0314", "m", "n"]
    assert run("audit", path, "--defaults", "baseline=gpt-4-0314").exit_code == 0
    page = run("report", path, "--defaults", "baseline=gpt-4-0314", "-o", tmp_path / "r.html")
    assert page.exit_code == 0, page.stderr


@pytest.mark.slow
def test_output_is_utf8_whatever_the_locale():
    done = process("fit", "puddings", "--formula", "object")
    assert done.returncode == 0
    assert "log-worths λ" in done.stdout.decode("utf-8")
    assert "γ = 0" in done.stderr.decode("utf-8")


@pytest.mark.slow
def test_exit_code_of_the_process():
    done = process("fit", "citations", "--formula", TIED)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: ")
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_standard_input_that_is_closed_is_empty():
    line = ["sh", "-c", f'exec "$0" -c "{_MAIN}" fit - <&-', sys.executable]
    closed = subprocess.run(line, capture_output=True, timeout=120)
    assert closed.returncode == 2
    assert closed.stderr.startswith(b"error: ")


@pytest.mark.slow
def test_a_report_needs_no_backend_of_a_notebook(tmp_path):
    done = process("report", "puddings", "-o", str(tmp_path / "r.html"), MPLBACKEND="none of matplotlib's")
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_library_imports_neither_the_command_line_nor_what_only_some_functions_need():
    late = ("typer", "llbt.cli", "matplotlib", "statsmodels", "duckdb", "pyspark")
    code = f"import sys; from llbt import *; sys.exit(any(name in sys.modules for name in {late}))"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


# -- standard errors by the unit that makes them largest -----------------------------------------------------


def board(judges):
    """Return judgments of four objects by judges who differ, each prompt judged by five of them."""
    rng = np.random.default_rng(judges)
    pair = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])[rng.integers(0, 6, 600)]
    judge = rng.integers(0, judges, 600)
    lead = np.subtract(*np.take_along_axis((np.arange(4) / 4 + rng.normal(0, 0.5, (judges, 4)))[judge], pair, 1).T)
    said = np.where(rng.random(600) < 1 / (1 + np.exp(-2 * lead)), "left", "right")
    said[rng.random(600) < 0.1] = "tie"
    a, b = np.array(list("wxyz"))[pair].T
    frame = pd.DataFrame({"a": a, "b": b, "said": said, "judge": judge, "prompt": rng.integers(0, 120, 600)})
    return frame.assign(judge=[f"J{k}" for k in judge])


SAID = {"objects": ("a", "b"), "outcome": "said"}
BOARD = [*AB, "--outcome", "said"]


@pytest.fixture
def twelve(tmp_path):
    board(12).to_csv(tmp_path / "twelve.csv", index=False)
    return tmp_path / "twelve.csv"


def test_judges_are_clusters_by_default(twelve):
    clustered = llbt.fit(
        TIED, llbt.from_judgments(board(12), **SAID, clusters="judge"), cov_type="cluster", groups="judge"
    )
    result = run("fit", twelve, *BOARD, "--format", "json")
    facts = json.loads(result.stdout)
    assert_same(facts, clustered)
    plain = llbt.fit(TIED, llbt.from_judgments(board(12), **SAID))
    wide, narrow = (llbt.pairwise(res, scale="log_worth").to_frame()["std_error"] ** 2 for res in (clustered, plain))
    ratio = np.sqrt(wide.sum() / narrow.sum())
    assert ratio > 1.3
    note = next(note for note in facts["notes"] if note.startswith("Clustered by judge"))
    assert note.startswith(f"Clustered by judge: standard errors {ratio:.2f} × unclustered (")
    assert "; by prompt " in note


def test_independent_judgments_on_request(twelve):
    expected = llbt.fit(TIED, llbt.from_judgments(board(12), **SAID))
    assert_same(fitted(twelve, *BOARD), expected)
    by_prompt = llbt.fit(
        TIED, llbt.from_judgments(board(12), **SAID, clusters="prompt"), cov_type="CR1", groups="prompt"
    )
    given = ["--cov-type", "CR1", "--groups", "prompt", "--format", "json"]
    assert_same(json.loads(run("fit", twelve, *BOARD, *given).stdout), by_prompt)


def test_groups_are_kept_and_mean_clusters(twelve):
    renamed = board(12).rename(columns={"judge": "who"})
    path = twelve.with_name("who.csv")
    renamed.to_csv(path, index=False)
    asked = llbt.fit(TIED, llbt.from_judgments(renamed, **SAID, clusters="who"), cov_type="cluster", groups="who")
    for given in (["--groups", "who"], ["--judge", "who"], ["--clusters", "who"]):
        assert_same(json.loads(run("fit", path, *BOARD, *given, "--format", "json").stdout), asked)
    assert "'whom'" in refused("fit", path, *BOARD, "--judge", "whom")


@pytest.mark.parametrize("judges", [1, 2])
def test_too_few_judges_leave_judgments_independent(judges, tmp_path):
    """It says from how many."""
    frame = board(judges).drop(columns="prompt")
    frame.to_csv(tmp_path / "few.csv", index=False)
    facts = json.loads(run("fit", tmp_path / "few.csv", *BOARD, "--format", "json").stdout)
    assert_same(facts, llbt.fit(TIED, llbt.from_judgments(frame, **SAID)))
    taken = [note for note in facts["notes"] if note.startswith("Judgments are taken as independent. ")]
    assert len(taken) == 1
    assert f"the table has judge (G = {judges}, " in taken[0]


def test_clusters_that_make_errors_smaller_are_not_taken(tmp_path):
    """Each judge says every outcome of every pair as often: no judge tells anything, and errors by judge are 0."""
    rows = [("x", "y", said, k) for k in range(9) for said in ("left", "tie", "right")]
    pd.DataFrame(rows, columns=["a", "b", "said", "judge"]).to_csv(tmp_path / "even.csv", index=False)
    facts = json.loads(run("fit", tmp_path / "even.csv", *BOARD, "--format", "json").stdout)
    assert facts["coefficients"][0]["std_error"] > 0.1


def test_a_column_with_gaps_is_no_unit_and_named(twelve):
    frame = board(12).drop(columns="prompt")
    frame.loc[[3, 5], "judge"] = None
    frame.to_csv(twelve, index=False)
    facts = json.loads(run("fit", twelve, *BOARD, "--format", "json").stdout)
    assert_same(facts, llbt.fit(TIED, llbt.from_judgments(frame, **SAID)))
    assert "judge is not kept as clusters: 2 rows without a label" in facts["notes"]


def test_bundled_data_stay_as_they_are():
    printed = run("fit", "dras_table1", "--formula", TIED).stdout
    assert printed.strip() == llbt.fit(TIED, TABLE1).as_text().strip()
    assert "--judge" in refused("fit", "dras_table1", "--judge", "judge")


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_the_report_goes_by_judges_as_well(twelve):
    pages = {}
    for kind in ("cautious", "nonrobust"):
        path = twelve.with_name(f"{kind}.html")
        assert run("report", twelve, *BOARD, "-o", path, "--cov-type", kind).exit_code == 0
        pages[kind] = path.read_text(encoding="utf-8")
    assert "Clustered by judge: standard errors " in pages["cautious"]
    assert "groups=(&#x27;judge&#x27;,)" in pages["cautious"]
    said = {kind: page.count("Clustered by") for kind, page in pages.items()}
    assert said["cautious"] > said["nonrobust"] > 0  # the finding of the audit stands in both


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
def test_a_report_has_effects_of_judges(tmp_path):
    path, page = tmp_path / "counts.csv", tmp_path / "page.html"
    judged_frame(6, 0.8, seed=3, each=6, tie=0.9).to_csv(path, index=False)
    formula = "object + tie + (object | judge)"
    assert run("report", path, "--ties-column", "ties", "--formula", formula, "-o", page).exit_code == 0
    res = llbt.fit(formula, llbt.from_counts(str(path), clusters="judge"))
    assert f"σ {res.scales.iloc[0]:.4g}" in page.read_text(encoding="utf-8")


def test_discrimination_and_laplace_are_options(tmp_path):
    data = tmp_path / "judged.csv"
    judged_frame(8, 0.5, 1).to_csv(data, index=False)
    said = run("fit", "dras_table1", "--formula", TIED, "--discrimination", "judge")
    assert said.exit_code == 0, said.output
    assert said.stdout.rstrip() == str(llbt.fit(TIED, TABLE1, discrimination="judge")).rstrip()
    mixed = ["--clusters", "judge", "--formula", "object + tie + (object | judge)", "--approximation", "laplace"]
    said = run("fit", data, *mixed)
    assert said.exit_code == 0, said.output
    assert "Laplace's approximation" in said.stdout
    assert "--approximation laplace" in refused("fit", "dras_table1", "--approximation", "laplace")
    assert "--method" in refused("fit", "dras_table1", "--method", "glm", "--discrimination", "judge")


def test_notes_of_answers_name_options(tmp_path):
    data = tmp_path / "party.csv"
    PARTY.to_csv(data, index=False)
    said = run("fit", data, *WINNER, "--clusters", "judge", "--cov-type", "nonrobust", "--formula", TIED)
    assert said.exit_code == 0, said.output
    assert "cov_type=" not in said.stdout
    assert "as_text" not in said.stdout
    assert "more notes: --notes all" in said.stdout or "more note: --notes all" in said.stdout
    whole = run(
        "fit", data, *WINNER, "--clusters", "judge", "--cov-type", "nonrobust", "--formula", TIED, "--notes", "all"
    )
    assert "keep: --order" in " ".join(whole.stdout.split())


def test_the_remedy_of_ties_with_gaps_answers(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("object_i,object_j,wins_i,wins_j,draws\na,b,3,2,1\nb,c,4,1,\na,c,2,2,3\n")
    refusal = run("fit", str(path))
    assert refusal.exit_code == 2
    assert "--ties-column draws --missing drop" in refusal.output
    answer = run("fit", str(path), "--ties-column", "draws", "--missing", "drop")
    assert answer.exit_code == 0
    assert "13 judgments" in answer.output
    assert "1 row with a missing value left out" in answer.output
