"""The command that says how many more judgments it takes: the answers of the Python function."""

import io

import numpy as np
import pandas as pd
import pytest
from support.shell import answered, facts, refused

import llbt

POOLED = ("needed", "dras_table1", "--pool", "judge")


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        (["--split", "1", "--elo", "20"], {"split": 1, "elo": 20.0}),
        (["--split", "D,B", "--power", ".9"], {"split": ["D", "B"], "power": 0.9}),
        (["--top", "2", "--confidence", ".9", "--rng", "3"], {"top": 2, "confidence": 0.9, "rng": 3}),
    ],
)
def test_the_rows_are_those_of_python(asked, options) -> None:
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool(), cov_type="cautious")
    expected = llbt.planning.needed(res, **options).to_frame()
    printed = pd.read_csv(io.StringIO(answered(*POOLED, *asked, "--format", "csv")))
    pd.testing.assert_frame_equal(printed, expected, check_dtype=False)


def test_what_is_added_is_prompts_where_errors_are_clustered_by_them(tmp_path) -> None:
    rng = np.random.default_rng(5)
    i = rng.integers(4, size=600)
    j = (i + rng.integers(1, 4, size=600)) % 4
    won = np.where(rng.random(600) < 1 / (1 + np.exp((i - j) / 2)), "model_a", "model_b")
    names = np.array(list("wxyz"))
    frame = pd.DataFrame({"model_a": names[i], "model_b": names[j], "winner": won})
    frame.assign(prompt=rng.integers(60, size=600)).to_csv(tmp_path / "battles.csv", index=False)
    asked = ["needed", tmp_path / "battles.csv", "--split", "1", "--cov-type", "cluster", "--groups", "prompt"]
    (row,) = facts(*asked)["rows"]
    assert row["units"] == np.ceil(60 * row["factor"])
    assert row["judgments"] == np.ceil(600 * row["factor"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "no goal; expected --split A,B, --split 1, --top 3 or --elo 20"),
        (["--split", "A,X"], "--split A,X; expected 1, or two of"),
        (["--top", "9"], "--top 9 of 4 objects; expected fewer than 4"),
        (["--elo", "-3"], "--elo -3.0"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, message) -> None:
    assert message in refused(*POOLED, *asked)
