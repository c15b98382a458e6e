"""Nothing in a picture lies upon something else, is too small to be read or leaves the canvas, whatever the size."""

import warnings

import pytest
from support.drawn import PICTURES, SIZES, faults

import llbt

QUICK = ("intervals", "network", "residuals", "worth")
LONG = ("significance", "win_probabilities")  # and variants of a picture: seconds each, of many objects


def _marks(name, size):
    if size == SIZES[0]:
        return [] if name in QUICK else pytest.mark.slow
    many = size == SIZES[-1] or name in LONG or (":" in name and name != "worth: by judge")
    return pytest.mark.exhaustive if many else pytest.mark.slow


CASES = [pytest.param(name, size, marks=_marks(name, size)) for size in SIZES for name in PICTURES]


@pytest.mark.parametrize(("name", "size"), CASES)
@pytest.mark.slow
def test_every_text_has_a_place_of_its_own(name, size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a layout that collapses is a warning
        assert faults(PICTURES[name](size)) == []


def test_every_picture_is_looked_at():
    assert {name.split(":")[0] for name in PICTURES} == set(llbt.plot.__all__)


def test_texts_upon_each_other_and_beyond_the_canvas_are_seen():
    ax = PICTURES["worth"](4)
    ax.text(0.5, 0.5, "a text", transform=ax.transAxes)
    ax.text(0.52, 0.5, "another", transform=ax.transAxes)
    ax.text(0.5, 1.5, "outside", transform=ax.transAxes)
    found = " ".join(faults(ax))
    assert "'a text' upon 'another'" in found
    assert "leaves the canvas" in found
