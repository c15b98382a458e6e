"""Latent classes in words: each number against worths, pairs and posteriors, the mixture by its own sum."""

import numpy as np
import pandas as pd
import pytest
from scipy import special
from support.questions import by_judge, fit_of

import llbt
from llbt.report.class_words import SURE

FOUND = fit_of("classes")
SAID = llbt.interpret(FOUND)


def test_each_class_has_its_own_worths_and_odds():
    worths, pairs = llbt.worth(FOUND).to_frame(), llbt.pairwise(FOUND).to_frame()
    for label in FOUND.labels:
        own = worths[worths["class"] == label]
        first, second = own["object"].iloc[:2]
        for label_of, value in zip(own["object"], own["estimate"], strict=True):
            assert SAID.figures[f"worth of {label_of} in class {label}"] == value
        odds = own["estimate"].iloc[0] / own["estimate"].iloc[1]
        assert SAID.figures[f"odds in class {label}"] == pytest.approx(odds)
        assert SAID.figures[f"share of decisions in class {label}"] == pytest.approx(odds / (1 + odds))
        here = pairs[pairs["class"] == label]
        row = here[here["object_i"].isin([first, second]) & here["object_j"].isin([first, second])].iloc[0]
        assert SAID.figures[f"p in class {label}"] == row["p_over_classes"]
        assert SAID.figures[f"low in class {label}"] < odds < SAID.figures[f"high in class {label}"]
        assert SAID.figures[f"pairs that differ in class {label}"] == (here["p_over_classes"] < 0.05).sum()
        assert SAID.figures[f"share of class {label}"] == FOUND.shares[label]
        assert SAID.figures[f"error of share {label}"] == FOUND.share_errors[label]
        assert SAID.sentences[f"class {label}"].startswith(f"Class {label} has ")


def test_all_judges_prefer_by_the_mixture_of_probabilities():
    """Σ π_k F(2(λ_k − mean)), not the log-worths averaged."""
    objects = FOUND.pooled.comparisons.objects
    worths = np.zeros((FOUND.k, len(objects)))
    for k, label in enumerate(FOUND.labels):
        for j, name in enumerate(objects):
            worths[k, j] = FOUND.params.loc[label].get(f"object[{name}]", 0.0)
    centred = worths - worths.mean(axis=1, keepdims=True)
    chance = FOUND.shares.to_numpy() @ special.expit(2 * centred)
    best = int(chance.argmax())
    assert SAID.figures["share of the first among all"] == pytest.approx(chance[best])
    assert f"prefer {objects[best]} most" in SAID.sentences["all judges"]
    assert SAID.figures["low among all"] < chance[best] < SAID.figures["high among all"]


def test_judges_are_placed_by_their_posteriors():
    most = FOUND.posterior.max(axis=1)
    assert SAID.figures["judges placed"] == (most >= SURE).sum()
    assert SAID.figures["least certain judge"] == most.min()
    assert SAID.figures["entropy"] == FOUND.entropy
    assert f"{most.idxmin()} is placed least surely" in SAID.sentences["judges"]


def test_no_figure_is_that_of_all_judges_alike():
    """The pooled fit's worths and odds are no answer of the classes."""
    pooled = llbt.interpret(FOUND.pooled).figures
    same = set(pooled) & set(SAID.figures)
    assert same == {"judgments"}
    assert llbt.worth(FOUND.pooled).to_frame()["estimate"].iloc[0] not in SAID.figures.values()


def test_one_class_and_infinite_ones():
    one = llbt.judges.classes("object + tie", by_judge(), k=1, rng=1)[1]
    said = llbt.interpret(one)
    assert list(said.sentences) == ["model", "class 1"]
    assert said.sentences["model"].startswith("1 latent class of judge")
    frame = pd.DataFrame(
        [(f"J{g}", i, j, "i" if (g < 5) == (i < j) else "j") for g in range(10) for i, j in ("AB", "AC", "BC") * 2],
        columns=["judge", "object_i", "object_j", "outcome"],
    )
    gone = llbt.judges.classes("object", llbt.from_judgments(frame, clusters="judge"), k=2, starts=3, rng=1)[2]
    assert gone.infinite
    said = llbt.interpret(gone)
    for label in gone.infinite:
        assert "not finite" in said.sentences[f"class {label}"]
        assert f"odds in class {label}" not in said.figures
