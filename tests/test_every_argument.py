"""Every argument of every public function takes any value: it answers or says what is wrong, and changes nothing."""

import random
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from support.argument_values import ANSWERED, CHANGED, RAW, REFUSED, every_bend, every_value, outcome

SEED, SAMPLE = 5, 4_000  # of 67,000 cases, some 30 s of CPU; all of them take ten minutes: -m exhaustive
# A statistic is a function of the caller's: what it raises is passed on as it is.
OWN = ("bootstrap(statistic",)


def faults(cases, folder: Path) -> tuple[Counter[str], list[str]]:
    """How many cases ended how, and what is neither an answer nor a refusal, one line each."""
    count: Counter[str] = Counter()
    found = []
    for case in cases:
        kind, text = outcome(case)
        count[kind] += 1
        if kind in (RAW, CHANGED) and not any(word in f"{case} {text}" for word in OWN):
            found.append(f"{kind} | {case} | {text[:200]!r}")
        for file in folder.iterdir():
            file.unlink()  # reports that were asked for
    return count, found


@pytest.mark.slow
def test_a_sample_is_answered_or_refused(tmp_path, monkeypatch):
    """How long a case takes is not asked here: the machine may have other work."""
    monkeypatch.chdir(tmp_path)
    plt.close("all")  # figures that other tests left open
    count, found = faults(random.Random(SEED).sample([*every_value(), *every_bend()], SAMPLE), tmp_path)
    assert count[ANSWERED] > SAMPLE / 50
    assert count[REFUSED] > SAMPLE / 2
    assert found == []


@pytest.mark.exhaustive
def test_all_are_answered_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert faults([*every_value(), *every_bend()], tmp_path)[1] == []
