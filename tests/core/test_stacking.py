"""Stacked tables: counts, levels and clusters as pandas concatenates frames; what does not fit is refused."""

import pandas as pd
import pytest

import llbt
from llbt.core.stacking import stacked
from llbt.errors import JudgmentError, OptionError

A = pd.DataFrame(
    {
        "object_i": ["x", "y", "x", "x"],
        "object_j": ["y", "z", "z", "y"],
        "outcome": ["i", "tie", "j", "j"],
        "language": ["de", "en", "de", "en"],
        "prompt": ["p1", "p2", "p1", "p3"],
    }
)
B = pd.DataFrame(
    {
        "object_i": ["w", "y", "y"],
        "object_j": ["y", "z", "w"],
        "outcome": ["tie", "i", "i"],
        "language": ["en", "fr", "en"],
        "prompt": ["p3", "p4", "p2"],
    }
)
READ = {"covariates": ["language"], "clusters": ["prompt"]}


def test_the_stack_is_the_table_of_both_frames() -> None:
    """By pandas: both frames concatenated, with a column that says which row is from which."""
    both = pd.concat([A.assign(table="a"), B.assign(table="b")])
    expected = llbt.from_judgments(both, covariates=["language", "table"], clusters=["prompt"])
    found = stacked({"a": llbt.from_judgments(A, **READ), "b": llbt.from_judgments(B, **READ)}, "table")
    columns = ["object_i", "object_j", "language", "table", "prompt"]
    frames = [c.to_frame(clusters=True).sort_values(columns).reset_index(drop=True) for c in (found, expected)]
    assert found.objects == expected.objects == ("w", "x", "y", "z")
    pd.testing.assert_frame_equal(frames[0][frames[1].columns], frames[1])


def test_numbers_and_object_covariates_are_stacked() -> None:
    size = pd.DataFrame({"object": ["w", "x", "y", "z"], "size": [1.0, 2.0, 3.0, 4.0]})
    tables = {
        name: llbt.from_judgments(
            frame.assign(age=[20.5 + k for k in range(len(frame))]), covariates=["age"], object_covariates=size
        )
        for name, frame in {"a": A, "b": B}.items()
    }
    found = stacked(tables, "table")
    assert found.object_columns[0].values.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert sorted(found.columns[0].levels.tolist()) == [20.5, 21.5, 22.5, 23.5]


def test_what_only_one_table_has_is_named() -> None:
    found = stacked({"a": llbt.from_judgments(A, clusters=["prompt"]), "b": llbt.from_judgments(B)}, "table")
    assert found.clusters == ()
    assert any("prompt" in note and "not kept" in note for note in found.notes)


def test_object_covariates_that_differ_are_not_kept() -> None:
    sizes = [pd.DataFrame({"object": ["w", "x", "y", "z"], "size": [k, 2.0, 3.0, 4.0 + k]}) for k in (1.0, 5.0)]
    each = [llbt.from_judgments(frame, object_covariates=size) for frame, size in zip((A, B), sizes, strict=True)]
    found = stacked(dict(zip("ab", each, strict=True)), "table")
    assert found.object_covariates == ()
    assert any("size" in note for note in found.notes)


@pytest.mark.parametrize(
    ("tables", "error", "message"),
    [
        ((llbt.from_judgments(A, **READ), llbt.from_judgments(B)), JudgmentError, "only 'a' has the covariate 'lang"),
        ((llbt.from_judgments(A), llbt.from_judgments(B, order=True)), JudgmentError, "only 'b' keeps which object"),
        ((llbt.from_judgments(A), llbt.from_judgments(B).drop_ties()), JudgmentError, "the outcomes are"),
        (
            (llbt.from_judgments(A.rename(columns={"language": "table"}), covariates=["table"]),) * 2,
            OptionError,
            "has a column 'table' already",
        ),
    ],
)
def test_tables_of_different_kinds_are_refused(tables, error, message) -> None:
    with pytest.raises(error, match=message):
        stacked(dict(zip("ab", tables, strict=True)), "table")


def test_the_remedy_for_a_covariate_of_one_table_works() -> None:
    a, b = llbt.from_judgments(A, **READ), llbt.from_judgments(B)
    with pytest.raises(JudgmentError, match=r"\.pool\('language'\)"):
        stacked({"a": a, "b": b}, "table")
    assert stacked({"a": a.pool("language"), "b": b}, "table").n_judgments == 7
