"""The pictures of decisions and of the curve show the numbers of their records."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.decided import drawn, ragged, scores
from support.drawn import PICTURES

import llbt
from llbt.metrics.difference_curve import difference_curve


def test_the_picture_of_decisions_has_a_mark_per_pair_turned_to_the_metric():
    found = llbt.metrics.decisions(scores(9, systems=9, spread=0.2), ragged(10, systems=9, spread=0.3))
    ax = llbt.plot.decisions(found)
    turn = np.where(found.metric_difference < 0, -1, 1)
    points = np.column_stack([found.metric_difference, found.human_difference]) * turn[:, None]
    by_label = {part.get_label(): part.get_offsets() for part in ax.collections}
    names = {
        "both": "both",
        "metric_only": "metric only",
        "opposite": "opposite",
        "humans_only": "humans only",
        "neither": "neither",
    }
    expected = {f"{label}: {(found.outcome == name).sum()}": name for name, label in names.items()}
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == [label for label in expected if not label.endswith(": 0")]
    assert set(legend) == set(by_label)
    for label in legend:
        np.testing.assert_allclose(by_label[label], points[found.outcome == expected[label]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Metric difference", "Human difference")


def test_a_picture_without_pairs_is_empty():
    ax = llbt.plot.decisions(llbt.metrics.decisions(np.ones((1, 4)), np.ones((1, 4))))
    assert not ax.collections
    assert ax.get_legend() is None


def test_the_picture_of_the_curve_has_band_bins_target_and_needed_difference():
    curve = difference_curve(*drawn(11))
    _, (other, mine) = plt.subplots(1, 2)
    ax = llbt.plot.difference_curve(curve, unit="BLEU", ax=mine)
    assert ax is mine
    assert not other.lines
    line = ax.lines[0].get_xydata()
    np.testing.assert_allclose(line[:, 1], curve.predict(line[:, 0])["estimate"])
    (band,) = [part for part in ax.collections if part.get_paths()[0].vertices.shape[0] > 100]
    edge = band.get_paths()[0].vertices
    assert edge[:, 1].max() == pytest.approx(curve.predict(line[-1:, 0])["conf_high"].iloc[0])
    assert edge[:, 1].min() == pytest.approx(curve.predict([0.0])["conf_low"].iloc[0])
    (bars,) = ax.containers
    middle, _, (spans,) = bars.lines
    np.testing.assert_allclose(middle.get_xydata(), np.column_stack([curve.bins.mean, curve.bins.estimate]))
    drawn_bounds = np.array([segment[:, 1] for segment in spans.get_segments()])
    np.testing.assert_allclose(drawn_bounds, np.column_stack([curve.bins.conf_low, curve.bins.conf_high]))
    (text,) = ax.texts
    assert float(text.get_text()) == pytest.approx(curve.needed, rel=0.01)
    assert text.xy[0] == curve.needed
    assert any(set(part.get_ydata()) == {0.8} for part in ax.lines)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Difference of BLEU", "P(humans agree)")


def test_a_single_huge_difference_does_not_squeeze_the_picture():
    d, agree = drawn(12)
    ax = llbt.plot.difference_curve(difference_curve(np.append(d, 500.0), np.append(agree, True)))
    assert ax.get_xlim()[1] < 50


@pytest.mark.parametrize("agree", ["all", "none at all"])
def test_the_curve_without_an_estimate_shows_the_bins_alone(agree):
    curve = difference_curve([1.0, 2, 3], [1, 1, 1], bins=2) if agree == "all" else difference_curve([], [])
    ax = llbt.plot.difference_curve(curve)
    assert not ax.texts
    ax.figure.canvas.draw()


def test_of_many_pairs_and_subsets_points_are_small_and_those_of_the_legend_are_not():
    few, many = (PICTURES["decisions"](size) for size in (4, 60))
    assert {float(dots.get_sizes()[0]) for dots in few.collections} == {16.0}
    assert {float(dots.get_sizes()[0]) for dots in many.collections} == {16 * 400 / 1770}
    assert {float(handle.get_sizes()[0]) for handle in many.get_legend().legend_handles} == {16.0}
    sizes = [PICTURES["subset_correlations"](size).lines[1].get_markersize() for size in (4, 200)]
    assert sizes == [4, 0]
