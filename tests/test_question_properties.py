"""What must not change the answer of any question to a fit or a table (hypothesis): `test_properties` asks it of fits.

A table told otherwise: its rows permuted, split, with the two sides exchanged; pooled into fewer rows; by another
library's frame; with other names in the same order; with another reference. The answers are the same rows, up to names.
"""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.fits import fit_by

import llbt

pytestmark = pytest.mark.slow

OBJECTS = "ABCD"
COUNTS = ["wins_i", "ties", "wins_j"]
few = settings(max_examples=4)

# Both solvers stop within 1e-9 standard errors of the maximum; p-values by simulation are those of one stream.
CLOSE = 1e-6


@st.composite
def tables(draw):
    """Positive counts of all pairs of four objects by two judges, so that every estimate exists."""
    rows = [(a, b, judge) for a, b in itertools.combinations(OBJECTS, 2) for judge in ("J1", "J2")]
    counts = draw(st.lists(st.tuples(*[st.integers(1, 40)] * 3), min_size=len(rows), max_size=len(rows)))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge"])
    frame[COUNTS] = np.array(counts, dtype=float)
    return frame


def permuted(frame):
    return frame.iloc[np.random.default_rng(3).permutation(len(frame))].reset_index(drop=True)


def split(frame):
    half = frame.assign(**{name: frame[name] / 2 for name in COUNTS})
    return pd.concat([half, half], ignore_index=True)


def exchanged(frame):
    sides = {"object_i": "object_j", "object_j": "object_i", "wins_i": "wins_j", "wins_j": "wins_i"}
    odd = np.arange(len(frame)) % 2 == 1
    other = frame.rename(columns=sides)[list(frame)]
    return pd.concat([frame[~odd], other[odd]], ignore_index=True)


def renamed(frame):
    """Other names in the same order."""
    return frame.assign(**{name: frame[name].str.lower() + " x" for name in ("object_i", "object_j")})


WAYS = {
    "permuted": permuted,
    "split": split,
    "exchanged": exchanged,
    "renamed": renamed,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


def fits(frame, **options):
    c = llbt.from_counts(frame, covariates="judge")
    return [fit_by(formula, c, **options) for formula in ("object + tie", "object * judge + tie")]


QUESTIONS = {  # of a small and a large fit
    "worth": lambda small, large: llbt.worth(large),
    "leaderboard": lambda small, large: llbt.leaderboard(small),
    "pairwise": lambda small, large: llbt.pairwise(large, at={"judge": "J1"}),
    "ranks": lambda small, large: llbt.pairwise(small).ranks(),
    "quasi_variances": lambda small, large: llbt.quasi_variances(small),
    "goodness_of_fit": lambda small, large: llbt.goodness_of_fit(small),
    "anova": lambda small, large: llbt.anova(small, large),
    "anova of terms": lambda small, large: llbt.anova(large),
    "anova by score": lambda small, large: llbt.anova(small, large, test="score"),
    "drop1": lambda small, large: llbt.drop1(large),
    "add1": lambda small, large: llbt.add1(small, "object:judge + tie:judge"),
    "residuals": lambda small, large: llbt.residuals(small),
    "residuals of pairs": lambda small, large: llbt.residuals(small, of="pairs"),
    "influence": lambda small, large: llbt.influence(small, by="judge"),
    "level_tests": lambda small, large: llbt.level_tests(small, by="judge"),
    "intransitivity": lambda small, large: llbt.intransitivity(small.comparisons),
    "predict": lambda small, large: large.predict(),
    "sign_test": lambda small, large: llbt.classical.sign_test(small.comparisons, ties="split"),
    "classical.model_test": lambda small, large: llbt.classical.model_test(small.comparisons),
    "head_to_head": lambda small, large: llbt.classical.head_to_head(small.comparisons),
    "judges.summary": lambda small, large: llbt.judges.summary(small.comparisons),
    "profile": lambda small, large: small.conf_int(method="profile"),
}
UNSPLIT = {  # a table of halves has no whole judgments
    "intransitivity",
    "sign_test",
    "classical.model_test",
    "judges.summary",
}


def rows_of(answer):
    """Return an answer's rows with the objects of a pair in order and plain names, and what turns with the pair."""
    frame = answer if isinstance(answer, pd.DataFrame) else answer.to_frame()
    frame = frame.reset_index(drop=frame.index.dtype != object)
    for name in frame.select_dtypes(exclude="number"):
        frame[name] = frame[name].map(plain)
    return frame


def plain(value):
    """Return text without what `renamed` does to objects."""
    text = str(value)
    for name in OBJECTS:
        text = text.replace(f"{name.lower()} x", name)
    return text


def assert_same(found, expected):
    found, expected = rows_of(found), rows_of(expected)
    assert list(found) == list(expected)
    labels = [name for name in found if not pd.api.types.is_numeric_dtype(found[name])]
    found, expected = (
        frame.sort_values(labels, kind="stable").reset_index(drop=True) if labels else frame
        for frame in (found, expected)
    )
    for name in found:
        if name in labels:
            assert found[name].tolist() == expected[name].tolist(), name
        else:
            np.testing.assert_allclose(
                found[name].to_numpy(float), expected[name].to_numpy(float), rtol=CLOSE, atol=CLOSE, err_msg=name
            )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("question", QUESTIONS)
@few
@given(frame=tables())
def test_a_table_told_otherwise_answers_the_same(question, way, frame):
    if way == "split" and question in UNSPLIT:
        return
    ask = QUESTIONS[question]
    assert_same(ask(*fits(WAYS[way](frame))), ask(*fits(frame)))
