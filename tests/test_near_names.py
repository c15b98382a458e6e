"""A name that is not there: which was meant, whatever room it is in; arguments in each other's place."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import pandas as pd
import pytest

import llbt

TABLE = llbt.load_dataset("dras_table1").pool()


def attribute(path: str) -> object:
    found: object = llbt
    for name in path.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("plot_residual", "llbt.plot.residuals"),
        ("residual_plot", "llbt.plot.residuals"),
        ("plot.residual", "llbt.plot.residuals"),
        ("plot.leaderbord", "llbt.leaderboard"),
        ("plot.leaderboard", "llbt.leaderboard"),
        ("leader_board", "llbt.leaderboard"),
        ("from_judgements", "llbt.from_judgments"),
        ("Pairwise", "llbt.pairwise"),
        ("soft_pairwise_accuracy", "llbt.metrics.soft_pairwise_accuracy"),
        ("metrics.corelate", "llbt.metrics.correlate"),
        ("scores.agregate", "llbt.scores.aggregate"),
        ("judges.agreements", "llbt.judges.agreement"),
        ("next_pairs", "llbt.planning.next_pairs"),
        ("planning.Scenario", "llbt.Scenario"),
        ("classical.signtest", "llbt.classical.sign_test"),
        ("formats.column", "llbt.formats.columns"),
        ("errors.JudgementError", "llbt.errors.JudgmentError"),
    ],
)
def test_what_was_meant_is_named(path: str, meant: str) -> None:
    with pytest.raises(AttributeError) as caught:
        attribute(path)
    said = str(caught.value)
    room, _, name = f"llbt.{path}".rpartition(".")
    assert said.startswith(f"module {room!r} has no attribute {name!r}. Did you mean llbt.")
    assert meant in said.partition("Did you mean ")[2].rstrip("?").split(" or ")
    assert attribute(meant.removeprefix("llbt.")) is not None
    told = "".join(traceback.format_exception_only(caught.value))
    assert told.count("Did you mean") == 1  # Python adds none of its own


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ("rankings_from", "from_rankings"),
        ("choices_from", "from_choices"),
        ("patterns_from", "from_patterns"),
        ("fit_rankings", "fit"),
        ("fit_patterns", "fit"),
    ],
)
def test_a_name_that_is_gone_says_what_to_type(old: str, now: str) -> None:
    with pytest.raises(AttributeError) as caught:
        attribute(old)
    assert str(caught.value) == f"module 'llbt' has no attribute '{old}'. Did you mean llbt.{now}?"
    assert callable(attribute(now))


@pytest.mark.parametrize(
    ("path", "calls"),
    [
        ("read_csv", ["llbt.read_judgments('judgments.csv')"]),
        ("from_json", ["llbt.read_judgments('judgments.json')"]),
        ("from_pandas", ["llbt.from_judgments(frame)"]),
        ("kappa", ["llbt.judges.agreement(judgments, unit='prompt')"]),
        ("judges.cohen_kappa", ["llbt.judges.agreement(judgments, unit='prompt')"]),
        ("summary", ["res.summary()"]),
        ("planning.power", ["llbt.power(llbt.Scenario(odds=1.5))", "llbt.planning.needed(res, top=1)"]),
    ],
)
def test_a_name_of_another_package_says_what_to_type(
    path: str, calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AttributeError) as caught:
        attribute(path)
    room, _, name = f"llbt.{path}".rpartition(".")
    start = f"module {room!r} has no attribute {name!r}. Type "
    assert str(caught.value) == f"{start}{', or for a fit '.join(calls)}."
    rows = [("A", "B", "i"), ("A", "C", "j"), ("B", "C", "i"), ("B", "A", "i"), ("C", "A", "i"), ("C", "B", "i")]
    judged = [(*row, prompt, judge) for prompt, row in enumerate(rows) for judge in ("J1", "J2")]
    frame = pd.DataFrame(judged, columns=["object_i", "object_j", "outcome", "prompt", "judge"])
    frame.to_csv(tmp_path / "judgments.csv", index=False)
    frame.to_json(tmp_path / "judgments.json", orient="records")
    monkeypatch.chdir(tmp_path)
    here = {
        "llbt": llbt,
        "frame": frame,
        "judgments": llbt.read_judgments(frame),
        "res": llbt.fit("object + tie", TABLE),
    }
    for call in calls:  # pasted, each answers
        assert eval(call, here) is not None


@pytest.mark.parametrize("path", ["__wrapped__", "_hidden", "zzz", "plot.__wrapped__", "plot.zzz"])
def test_what_is_near_nothing_is_refused_plainly(path: str) -> None:
    room, _, name = f"llbt.{path}".rpartition(".")
    with pytest.raises(AttributeError, match=f"^module '{room}' has no attribute '{name}'$"):
        attribute(path)


def test_imports_of_names_that_are_not_there_fail_as_they_do() -> None:
    with pytest.raises(ImportError, match=r"cannot import name 'residual' from 'llbt\.plot'"):
        from llbt.plot import residual  # noqa: F401
    assert not hasattr(llbt, "nothing_like_it")
    assert "llbt.plot" in sys.modules


def test_arguments_in_each_others_place() -> None:
    with pytest.raises(llbt.errors.OptionError) as caught:
        llbt.fit(TABLE, "object + tie")
    assert caught.value.remedy == "formula and data are swapped."
    with pytest.raises(llbt.errors.OptionError) as caught:
        llbt.fit(formula=TABLE, data="object + tie")
    assert caught.value.remedy == "formula and data are swapped."
    for wrong in (lambda: llbt.fit(TABLE, TABLE), lambda: llbt.fit("object", "object"), lambda: llbt.fit(3, TABLE)):
        with pytest.raises(llbt.errors.OptionError) as caught:
            wrong()
        assert not caught.value.remedy


def test_the_reference_has_no_parameter_and_this_is_said() -> None:
    with pytest.raises(llbt.errors.OptionError, match=r"'object\[D\]' is the reference, which is always 0"):
        llbt.fit("object + tie", TABLE, fixed={"object[D]": 1.0})
    res = llbt.fit("object + tie", TABLE)
    assert "object[D]" not in res.params
    worths = llbt.worth(res, scale="log_worth").to_frame().set_index("object")["estimate"]
    assert worths["D"] == 0
    assert worths["A"] == res.params["object[A]"]
