"""Fits that several tests of questions ask."""

import pytest
from support.worths import TABLE1, fit, rich_table


@pytest.fixture(scope="module")
def by_judge():
    return fit("object * judge + tie", TABLE1)


@pytest.fixture(scope="module")
def plain():
    return fit("object + tie", TABLE1)


@pytest.fixture(scope="module")
def rich():
    return rich_table()
