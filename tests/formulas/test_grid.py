"""`at=` and other arguments that name labels: what cannot be a label is refused in words, whatever asks."""

import numpy as np
import pandas as pd
import pytest
from support.calls import by_judge, counts, counts_of_judges, fitted, mixed, rankings

import llbt

NESTED = {
    "a mapping": {"x": "J1"},
    "lists in a list": [["J1"]],
    "mappings in a list": [{"judge": "J1"}],
    "a list in a tuple": (["J1"],),
    "a frame": pd.DataFrame({"a": [1]}),
}
QUESTIONS = {
    "worth": llbt.worth,
    "leaderboard": llbt.leaderboard,
    "pairwise": llbt.pairwise,
    "contrasts": lambda res, at: llbt.contrasts(res, {"A": {"A": 1, "B": -1}}, at=at),
    "predict": lambda res, at: res.predict(at=at),
    "next_pairs": llbt.planning.next_pairs,
    "plot.worth": llbt.plot.worth,
    "plot.intervals": llbt.plot.intervals,
    "plot.probabilities": llbt.plot.probabilities,
    "plot.judges": llbt.plot.judges,
    "plot.ties": llbt.plot.ties,
}


@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("question", QUESTIONS)
def test_levels_that_are_no_labels_are_refused(question, nested, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(llbt.errors.OptionError, match=r"judge") as caught:
        QUESTIONS[question](by_judge(), at={"judge": NESTED[nested]})
    assert "'J1', 'J2'" in str(caught.value)  # the levels, of which one is to be typed


LABELS = {
    "reference": lambda bad: llbt.fit("object + tie", counts(), reference=bad),
    "reference of a judge": lambda bad: llbt.fit("object * judge + tie", counts(), reference={"judge": bad}),
    "reference of lists": lambda bad: llbt.fit("object", rankings(), reference=bad),
    "anchor": lambda bad: llbt.leaderboard(fitted(), anchor=bad),
    "objects": lambda bad: llbt.pairwise(fitted(), objects=[bad]),
    "of": lambda bad: llbt.plot.judge_effects(llbt.judge_effects(mixed()), of=bad),
    "by": lambda bad: llbt.judge_effects(mixed(), by=bad),
    "keep": lambda bad: llbt.model_table([fitted()], keep=[bad]),
    "drop": lambda bad: llbt.model_table([fitted()], drop=[bad]),
    "split": lambda bad: llbt.judges.tree("object", counts(), split=[bad]),
    "ax": lambda bad: llbt.plot.worth(fitted(), ax=bad),
    "common": lambda bad: llbt.judges.classes("object + tie", counts_of_judges(), k=2, common=[bad]),
    "exclude": lambda bad: llbt.classical.head_to_head(counts(), exclude=[bad]),
}


@pytest.mark.parametrize("bad", [["A"], {"A": [1]}, np.zeros(2)], ids=["list", "mapping", "array"])
@pytest.mark.parametrize("argument", LABELS)
def test_what_is_no_label_is_refused(argument, bad):
    with pytest.raises(llbt.errors.OptionError):
        LABELS[argument](bad)
