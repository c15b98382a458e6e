"""Formats of other packages: imported when they are named or a file is to be recognized, and named when they break."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from support.shell import refused, run

import llbt
from llbt.data.registered_formats import registered
from llbt.errors import LLBTWarning, OptionError

LAB = """
from llbt.formats import Game, JudgmentFormat, Labels

LAB = JudgmentFormat(
    name="lab", description="judgments of our laboratory", 
    games=(Game(("one", "two"), Labels("better", {"1": "i", "2": "j", "=": "tie"})),),
    marks=("one", "two", "better"),
)
ARENA = JudgmentFormat(
    name="arena", description="not the arena", 
    games=(Game(("model_b", "model_a"), Labels("winner", {"model_a": "j", "model_b": "i"})),),
    marks=("model_a", "model_b", "winner", "judge"),
)
"""
ROWS = pd.DataFrame({"one": list("xxy"), "two": list("yzz"), "better": ["1", "=", "2"]})
BATTLES = pd.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "model_b"], "judge": "k"})


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return what puts a distribution with modules and entry points on the path; all is undone at the end."""
    before = set(sys.modules)

    def installed(name: str, source: str, **points: str) -> None:
        room = tmp_path / name
        (room / f"{name}-1.0.dist-info").mkdir(parents=True)
        (room / f"{name}-1.0.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{point} = {value}" for point, value in points.items()]
        text = "\n".join(["[llbt.formats]", *lines, ""])
        (room / f"{name}-1.0.dist-info" / "entry_points.txt").write_text(text)
        (room / f"{name}.py").write_text(source)
        monkeypatch.syspath_prepend(str(room))
        registered.cache_clear()

    registered.cache_clear()
    yield installed
    registered.cache_clear()
    for module in set(sys.modules) - before:
        if module.startswith("lab_"):
            del sys.modules[module]


def test_a_registered_format_is_named_recognized_and_listed(install: Callable[..., None]) -> None:
    install("lab_formats", LAB, lab="lab_formats:LAB")
    assert "lab_formats" not in sys.modules
    for found in (llbt.read_judgments(ROWS, format="lab"), llbt.read_judgments(ROWS)):
        assert found.to_frame()["outcome"].tolist() == ["i", "tie", "j"]
        assert "3 records read as 'lab': 3 judgments" in found.notes
    assert llbt.from_judgments(ROWS).n_judgments == 3
    assert llbt.audit(ROWS, format="lab").sizes[0].startswith("3 objects")
    assert llbt.formats.table().to_frame().set_index("name").loc["lab", "fields"] == "one, two, better"
    assert "lab" not in llbt.formats.known


def test_nothing_is_imported_for_formats_of_llbt(install: Callable[..., None]) -> None:
    install("lab_formats", "raise SystemExit('imported')", lab="lab_formats:LAB")
    llbt.read_judgments(BATTLES, format="arena")
    llbt.read_judgments(BATTLES)
    with pytest.raises(OptionError, match="'lab'"):  # named among the known ones, without being imported
        llbt.read_judgments(BATTLES, format="arenas")
    assert "lab_formats" not in sys.modules


def test_formats_of_llbt_are_not_replaced(install: Callable[..., None]) -> None:
    """Neither by name nor by explaining more of the columns."""
    plain = llbt.read_judgments(BATTLES).to_frame()
    install("lab_formats", LAB, arena="lab_formats:ARENA")
    pd.testing.assert_frame_equal(llbt.read_judgments(BATTLES).to_frame(), plain)
    pd.testing.assert_frame_equal(llbt.read_judgments(BATTLES, format="arena").to_frame(), plain)
    assert llbt.formats.table().to_frame()["name"].is_unique


@pytest.mark.parametrize(
    ("source", "value", "fragment"),
    [
        ("import nowhere_at_all", "lab_broken:LAB", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("1/0", "lab_broken:LAB", "ZeroDivisionError"),
        ("", "lab_broken:LAB", "AttributeError"),
        ("LAB = print", "lab_broken:LAB", "is of type builtin_function_or_method; expected a JudgmentFormat"),
        (LAB, "lab_broken:LAB", "is the format 'lab'; expected a JudgmentFormat whose name is 'broken'"),
        (
            LAB + "\nclass Mine(JudgmentFormat): pass\nLAB = Mine(name='broken', games=LAB.games)",
            "lab_broken:LAB",
            "is of type Mine",
        ),
    ],
)
def test_a_broken_one_is_named_and_the_others_stay(
    source: str, value: str, fragment: str, install: Callable[..., None]
) -> None:
    install("lab_broken", source, broken=value)
    install("lab_formats", LAB, lab="lab_formats:LAB")
    with pytest.raises(OptionError) as caught:
        llbt.read_judgments(ROWS, format="broken")
    assert fragment in caught.value.found + "; expected " + caught.value.expected
    assert caught.value.where == "format 'broken' of the package 'lab_broken' (lab_broken:LAB)"
    with pytest.warns(LLBTWarning, match="'lab_broken'"):
        assert llbt.read_judgments(ROWS).to_frame()["outcome"].tolist() == ["i", "tie", "j"]
    with pytest.warns(LLBTWarning, match="left out"):
        assert "lab" in llbt.formats.table().to_frame()["name"].tolist()


def test_the_command_line_knows_them(install: Callable[..., None], tmp_path: Path) -> None:
    install("lab_formats", LAB, lab="lab_formats:LAB", gone="lab_formats:GONE")
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    result = run("audit", tmp_path / "rows.csv", "--input-format", "lab")
    assert result.exit_code == 0, result.output
    assert "'gone' of the package 'lab_formats'" in refused("audit", tmp_path / "rows.csv", "--input-format", "gone")
    assert "judgments of our laboratory" in run("formats").stdout
