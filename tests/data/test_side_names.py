"""A frame of new comparisons whose sides have other names is refused with the renaming that runs."""

import re

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import JudgmentError

FRAME = pd.DataFrame({"model_a": list("ABCABC") * 4, "model_b": list("BCABCA") * 4, "winner": ["a", "b"] * 12}).assign(
    **dict(zip(("length_a", "length_b"), np.random.default_rng(1).normal(size=(2, 24)), strict=True))
)
OBJECTS = {"model_a": "object_i", "model_b": "object_j"}


def fitted() -> llbt.LLBTResults:
    objects, outcomes = ("model_a", "model_b"), {"a": "i", "b": "j"}
    c = llbt.from_judgments(FRAME, objects=objects, outcome="winner", outcomes=outcomes, side_covariates=["length"])
    return llbt.fit("object + length", c)


@pytest.mark.parametrize(
    "frame", [FRAME, FRAME.rename(OBJECTS, axis=1), FRAME.rename({"length_b": "length_j"}, axis=1)]
)
def test_the_proposed_renaming_runs(frame: pd.DataFrame) -> None:
    """The raw file of a fit has columns length_a and length_b; predictions take length_i and length_j."""
    res = fitted()
    with pytest.raises(JudgmentError, match=r"no columns .*'length_i'.* endings _i and _j") as refused:
        res.predict(frame)
    call = re.search(r"In pandas: (.*)\.$", refused.value.remedy)
    if call is None:  # length_a and length_j are no pair
        assert "Rename or add the columns 'object_i', 'object_j', 'length_i'." in str(refused.value)
        return
    renamed = eval(call[1], {"frame": frame})
    assert set(res.predict(renamed).to_frame()["length_i"]) == set(FRAME["length_a"])


def test_a_column_with_another_name_is_to_be_added() -> None:
    with pytest.raises(JudgmentError, match=r"Rename or add the columns 'length_i', 'length_j'\."):
        fitted().predict(FRAME.rename({**OBJECTS, "length_a": "words", "length_b": "signs"}, axis=1))
