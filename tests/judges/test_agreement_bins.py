"""Agreement by intervals of a number, and of ties by their kind."""

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import OptionError
from llbt.judges import agreement


def drawn(units=60, seed=2) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for prompt in range(units):
        truth, length = rng.integers(4), int(rng.integers(1, 30))
        for judge in ("J1", "J2", "J3"):
            k = truth if rng.random() < 1 / (1 + length / 15) else rng.integers(4)
            rows.append(("A", "B", ["i", "j", "tie", "both bad"][k], judge, prompt, length))
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge", "prompt", "words"])


OUTCOMES = {"i": "i", "j": "j", "tie": "tie", "both bad": "bad"}


def test_bins_are_groups_made_by_hand() -> None:
    frame = drawn()
    judgments = llbt.read_judgments(frame, outcomes=OUTCOMES)
    found = agreement(judgments, unit="prompt", by="words", bins=3, coefficients="scott_pi").to_frame()
    edges = np.quantile(frame["words"], [1 / 3, 2 / 3])
    place = np.searchsorted(edges, frame["words"], side="right")
    assert len(found) == 4
    for k in range(3):
        some = frame[place == k]
        low, high = some["words"].min(), some["words"].max()
        one = agreement(llbt.read_judgments(some, outcomes=OUTCOMES), unit="prompt", coefficients="scott_pi")
        row = found.iloc[k]
        assert row["words"] == f"{low} to {high}"
        assert row["estimate"] == pytest.approx(one.to_frame()["estimate"][0], abs=1e-12)
    assert found["words"][3] == "all"
    assert found["estimate"][0] > found["estimate"][2]


def test_ties_of_two_kinds_are_labels_of_their_own() -> None:
    frame = drawn()
    judgments = llbt.read_judgments(frame, outcomes=OUTCOMES)
    apart = agreement(judgments, unit="prompt", label="outcome_and_kind", coefficients="percent")
    assert apart.labels == ("i", "both_bad", "tie", "j")
    wide = frame.pivot(index="prompt", columns="judge", values="outcome")
    pairs = [(a, b) for a, b in (("J1", "J2"), ("J1", "J3"), ("J2", "J3"))]
    expected = np.mean([(wide[a] == wide[b]).mean() for a, b in pairs])
    assert apart.to_frame()["estimate"][0] == pytest.approx(expected, abs=1e-12)
    together = agreement(judgments, unit="prompt", coefficients="percent").to_frame()["estimate"][0]
    assert together > expected


def test_refused() -> None:
    judgments = llbt.read_judgments(drawn(), outcomes=OUTCOMES)
    with pytest.raises(OptionError, match="bins=3 without by"):
        agreement(judgments, unit="prompt", bins=3)
    with pytest.raises(OptionError, match="bins=2 with by='judge', which holds"):
        agreement(judgments, unit="prompt", by="judge", bins=2)


def test_outcomes_without_kinds_of_ties_are_the_labels() -> None:
    for kept in (["i", "j"], ["i", "j", "tie"]):
        frame = drawn()[lambda f, kept=kept: f["outcome"].isin(kept)]
        tables = [agreement(frame, unit="prompt", label=label) for label in ("outcome", "outcome_and_kind")]
        assert tables[0].labels == tables[1].labels
        pd.testing.assert_frame_equal(tables[0].estimates, tables[1].estimates)
