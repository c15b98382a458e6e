"""What is printed is text: controls, marks of direction and letters without width are shown as their escapes."""

import json
import os
import pickle
import re
import subprocess
import sys
import unicodedata
import warnings
from pathlib import Path

import pandas as pd
import pytest
from support import shell

import llbt
from llbt.errors import LLBTError, LLBTWarning, printable

HIDDEN = {"escape": "\x1b[31m", "right to left": "\u202e", "no width": "\u200b", "C1": "\x9b31m", "half": "\ud800"}
ESCAPES = {name: text.encode("unicode_escape").decode() for name, text in HIDDEN.items()}
WRITABLE = [name for name in HIDDEN if name != "half"]  # what a file in UTF-8 can hold


def judgments(sign, column="judge"):
    x, y = f"x{sign}", f"y{sign}"
    rows = [(x, y, "i"), (y, x, "i"), (x, y, "tie"), (y, "z", "i"), ("z", x, "i"), ("z", y, "tie"), ("z", y, "i")] * 3
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "outcome"])
    return frame.assign(**{column: [f"J{k % 2}{sign}" for k in range(len(frame))]})


def hidden(text):
    """The characters of a text that no reader sees, apart from the ends of its lines."""
    return {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}


@pytest.mark.parametrize("case", HIDDEN)
def test_every_hidden_character_has_its_escape(case):
    assert printable(f"a{HIDDEN[case]}b") == f"a{ESCAPES[case]}b"
    assert printable(printable(HIDDEN[case])) == printable(HIDDEN[case])


def test_what_is_seen_stays():
    for text in ("Ünïcödé", "日本語", "🦙❤️", "عربي", "e\u0301", "a b\xa0c", "λᵢ − λⱼ ≤ ∞", "\\", "\ufffd"):
        assert printable(text) == text
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in ("Cc", "Zl", "Zp", "Cs") or unicodedata.bidirectional(chr(code)) in (
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
        ):
            assert not hidden(printable(chr(code)))


@pytest.mark.parametrize("case", WRITABLE)
def test_answers(case):
    sign, escape = HIDDEN[case], ESCAPES[case]
    c = llbt.from_judgments(judgments(sign), covariates="judge", order=True)
    res = llbt.fit("object + tie", c, reference="z")
    answers = [
        c,
        res,
        res.summary(),
        llbt.worth(res),
        llbt.pairwise(res),
        llbt.interpret(res),
        llbt.audit(judgments(sign)),
    ]
    answers += [llbt.residuals(res), llbt.anova(res), llbt.leaderboard(res, rng=1)]
    for answer in answers:
        for form in ("as_text", "as_markdown", "as_html", "as_latex", "__repr__", "__str__"):
            if hasattr(answer, form):
                printed = getattr(answer, form)()
                assert not hidden(printed), (type(answer).__name__, form)
    escaped = {"as_text": escape, "as_html": escape, "as_markdown": escape.replace("\\", "\\\\").replace("[", "\\[")}
    for form, said in escaped.items():
        assert f"x{said}" in getattr(llbt.worth(res), form)()
    assert not hidden(llbt.interpret(res).text)
    assert escape in llbt.interpret(res).text
    assert f"x{sign}" in llbt.worth(res).to_frame()["object"].tolist()  # data are as they are


@pytest.mark.filterwarnings("ignore::llbt.errors.LLBTWarning")
@pytest.mark.parametrize("case", WRITABLE)
def test_errors_and_warnings(case, tmp_path):
    sign, escape = HIDDEN[case], ESCAPES[case]
    frame = judgments(sign, column=f"len{sign}")
    wrong = [
        lambda: llbt.from_judgments(frame, covariates=f"gone{sign}"),
        lambda: llbt.from_judgments(frame.assign(outcome=f"who{sign}")),
        lambda: llbt.from_judgments(f"no{sign}.csv"),
        lambda: llbt.from_judgments([{f"a{sign}": 1}]),
        lambda: llbt.fit(f"object + Q('len{sign}')", llbt.from_judgments(frame)),
        lambda: llbt.fit("object", llbt.from_judgments(frame, outcomes={"tie": None}), reference=f"q{sign}"),
        lambda: llbt.fit("object + tie", llbt.from_judgments(frame[:1])),
        lambda: llbt.fit("object", llbt.from_judgments(frame), fixed={f"object[{sign}]": 1}),
    ]
    for call in wrong:
        with pytest.raises(LLBTError) as error:
            call()
        assert not hidden(str(error.value))
        assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    with pytest.warns(LLBTWarning) as said:
        warnings.warn(f"a label {sign}", LLBTWarning, stacklevel=1)
    assert escape in str(said[0].message)


@pytest.mark.parametrize("case", [name for name in WRITABLE if name != "C1"])
def test_names_of_files(case, tmp_path):
    sign = HIDDEN[case]
    path = tmp_path / f"t{sign}.csv"
    path.write_text("object_i,object_j,outcome\na,b\n", encoding="utf-8")
    with pytest.raises(LLBTError) as error:
        llbt.from_judgments(path)
    assert not hidden(str(error.value))
    assert ESCAPES[case] in str(error.value)


def test_a_line_break_in_a_label_starts_no_line_of_a_message():
    counts = pd.DataFrame({"object_i": ["a\nerror: b"], "object_j": ["c"], "wins_i": [3], "wins_j": [0]})
    with pytest.raises(LLBTError) as error:
        llbt.fit("object", llbt.from_counts(counts))
    assert "\n" not in str(error.value)
    assert r"a\nerror: b" in str(error.value)
    with pytest.raises(LLBTError) as error:  # the mark below a formula has a line of its own
        llbt.fit("object + gone", llbt.load_dataset("dras_table1"))
    assert re.search(r"\n  object \+ gone\n +\^+", str(error.value))


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "json"])
@pytest.mark.parametrize("case", ["escape", "no width"])
@pytest.mark.slow
def test_the_command_line(case, form, tmp_path):
    sign = HIDDEN[case]
    path = tmp_path / "t.csv"
    judgments(sign).to_csv(path, index=False)
    for command in ("fit", "audit"):
        done = shell.run(command, str(path), "--format", form)
        assert done.exit_code == 0
        assert not hidden(done.stdout + done.stderr)
    if form == "json":
        fitted = json.loads(shell.run("fit", str(path), "--format", form).stdout)
        assert fitted["objects"] == [f"x{sign}", f"y{sign}", "z"]


RUN = """
import json, sys
from llbt.cli.main import main
for given in json.loads(sys.argv[1]):
    sys.argv[1:] = given
    try:
        main()
    except SystemExit as end:
        print(end.code, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("case", ["escape", "right to left"])
def test_standard_error_of_the_command_line(case, tmp_path):
    """In a process of its own: what is said of arguments, files and labels, whoever says it."""
    sign = HIDDEN[case]
    path = str(tmp_path / f"t{sign}.csv")
    judgments(sign).assign(outcome=f"who{sign}").to_csv(path, index=False)
    calls = [
        ["fit", path],
        ["fit", f"gone{sign}"],
        ["fit", path, f"--{sign}"],
        ["fit", path, "--fixed", f"tie={sign}"],
        ["fit", path, "--outcomes", f"{{{sign}"],
        [sign],
    ]
    env = {**os.environ, "PYTHONPATH": str(Path(llbt.__file__).parents[1])}
    asked = [sys.executable, "-c", RUN, json.dumps(calls)]
    done = subprocess.run(asked, capture_output=True, env=env, check=False)
    assert done.stdout.decode().split() == ["2"] * len(calls)
    said = done.stderr.decode()
    assert said.count(ESCAPES[case]) >= len(calls)
    assert not hidden(said)
    assert "Traceback" not in said
