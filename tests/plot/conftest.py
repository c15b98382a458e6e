"""Fits that several tests of pictures draw; figures are closed after each."""

import matplotlib.pyplot as plt
import pytest
from support.worths import TABLE1, fit


@pytest.fixture(scope="module")
def pooled():
    return fit("object + tie", TABLE1.pool())


@pytest.fixture(scope="module")
def by_judge():
    return fit("object * judge + tie * judge", TABLE1)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
