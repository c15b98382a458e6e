"""What is said where a name is nearly right, and where a remedy would be refused."""

import pandas as pd
import pytest

import llbt
from llbt.errors import DesignError, OptionError, SeparationError

WORTHS = llbt.worth(llbt.fit("object", llbt.load_dataset("baseball")))


def test_other_names_of_nothing_are_refused() -> None:
    with pytest.raises(OptionError, match="Did you mean 'Baltimore'"):
        WORTHS.as_text(rename={"Baltimor": "B"})
    with pytest.raises(OptionError, match="the table has none of them"):
        WORTHS.as_latex(rename={"gpt": "GPT"})
    with pytest.raises(OptionError, match="Did you mean 'object\\[Boston\\]'"):
        llbt.model_table([llbt.fit("object", llbt.load_dataset("baseball"))], rename={"object[Bostn]": "B"})


def test_one_mapping_serves_several_tables() -> None:
    said = WORTHS.as_text(rename={"Boston": "Red Sox", "Oakland": "Athletics", "estimate": "worth"})
    assert "Red Sox" in said
    assert "Boston" not in said


def test_letters_of_other_scripts_are_announced_on_paper() -> None:
    frame = pd.DataFrame([("漢字", "Größe", 5, 3)], columns=["object_i", "object_j", "wins_i", "wins_j"])
    lines = llbt.worth(llbt.fit("object", llbt.from_counts(frame))).as_latex().splitlines()
    assert lines[1].startswith("% 漢字: lualatex")
    assert not any("lualatex" in line for line in WORTHS.as_latex().splitlines())


def test_summary_says_where_worths_are() -> None:
    def said(formula: str, c: llbt.Comparisons) -> list[str]:
        return [line for line in llbt.fit(formula, c).summary().head if line.startswith("Worth:")]

    c = llbt.load_dataset("dras_table1")
    assert said("object * judge + tie", c) == ["Worth: by judge, llbt.worth(res)"]
    assert said("tie", c) == []
    rows = [("A", "B", 9, 8, 7, 5, 2), ("A", "C", 9, 9, 6, 3, 1), ("B", "C", 7, 8, 9, 6, 4)]
    names = ("++", "+", "=", "-", "--")
    graded = llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", *names]), grades=names)
    assert "probability of being preferred" in said("object + tie + grade", graded)[0]


def test_grouping_that_is_nearly_kept() -> None:
    c = llbt.load_dataset("dras_table1")
    with pytest.raises(DesignError, match="did you mean 'judge'"):
        llbt.fit("object + tie + (object | juge)", c)
    with pytest.raises(OptionError, match="did you mean 'judge'"):
        llbt.fit("object + tie", c, cov_type="cluster", groups="judgee")


def test_separation_offers_no_prior_that_is_refused() -> None:
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": 3, "wins_j": 0, "judge": range(6)})
    c = llbt.from_counts(frame, clusters="judge")
    with pytest.raises(SeparationError, match=r"fit all judges together: llbt\.fit\('object', c, prior=1\)"):
        llbt.fit("object + (object | judge)", c)
    with pytest.raises(SeparationError, match="jeffreys"):
        llbt.fit("object", c)
