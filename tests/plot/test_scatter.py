"""Points, outliers and correlations against those of single calls."""

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.metrics import correlate

HUMAN = pd.Series([0.2, 0.1, 0.0, -0.1, -1.4], index=list("abcde"))
METRIC = pd.Series([30.0, 28, 29, 27, 10], index=list("abcde"))


def test_points_outliers_and_their_correlations() -> None:
    ax = llbt.plot.scatter(METRIC, HUMAN)
    kept, far = (one.get_offsets() for one in ax.collections)
    np.testing.assert_allclose(kept, np.column_stack([HUMAN[:4], METRIC[:4]]))
    np.testing.assert_allclose(far, [[-1.4, 10]])
    assert [text.get_text() for text in ax.texts] == ["e"]
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    r = [correlate(METRIC, HUMAN, outliers=o).estimate for o in ("drop", "keep")]
    assert [float(text.split("=")[1]) for text in said] == pytest.approx(r, abs=5e-4)


def test_without_outliers_there_is_one_correlation() -> None:
    ax = llbt.plot.scatter(METRIC[:4].to_numpy(), HUMAN[:4].to_numpy())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["r = 0.800"]


def test_means_of_inputs() -> None:
    x = np.array([[1.0, 3.0], [2.0, 2.5], [np.nan, 4.0]])
    ax = llbt.plot.scatter(x, [[1.0, 2.0], [3.0, 4.0], [5.0, 5.5]])
    points = np.concatenate([one.get_offsets() for one in ax.collections])
    np.testing.assert_allclose(np.asarray(points), [[1.5, 2], [3.5, 2.25], [5.25, 4]])


def test_long_names_of_outliers_are_shortened_and_stay_different() -> None:
    long = [f"organisation-{k}/a-very-long-model-name-{k:02d}-instruct-2026-preview" for k in range(5)]
    (name,) = (text.get_text() for text in llbt.plot.scatter(METRIC.set_axis(long), HUMAN.set_axis(long)).texts)
    assert len(name) <= 24
    assert "…" in name or "..." in name
    assert "4" in name
