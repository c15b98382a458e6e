"""The picture of a tree shows its splits, its leaves, and their centred log-worths."""

import numpy as np
import pytest
from support.calls import judged_by_age

import llbt
from llbt.errors import DesignError


def test_leaves_show_centred_log_worths() -> None:
    found = llbt.judges.tree("object", judged_by_age(), alpha=0.999)
    assert len(found.leaves) == 2
    ax = llbt.plot.tree(found, confidence=0.9)
    texts = [text.get_text() for text in ax.texts]
    assert [f"{leaf.number}: n = {len(leaf.judges)}" in texts for leaf in found.leaves] == [True, True]
    assert any(text.startswith("age\np = ") for text in texts)
    columns = [container.lines[0].get_xdata() for container in ax.containers]
    for k, leaf in enumerate(found.leaves):
        res = found.results(leaf.number)
        difference = res.params.iloc[0] if res.names[0].startswith("object[A]") else -res.params.iloc[0]
        # A above B, as far from the middle of the leaf; all leaves have one scale
        away = np.asarray(columns[k]) - k
        assert away.sum() == pytest.approx(0, abs=1e-12)
        scale = abs(away[0]) / abs(difference / 2)
        assert scale == pytest.approx(abs(np.asarray(columns[0])[0]) / abs(found.results(2).params.iloc[0] / 2))


def test_worths_of_covariates_have_no_single_picture() -> None:
    c = judged_by_age()
    found = llbt.judges.tree("object * age", c, split=["age"], max_depth=0)
    with pytest.raises(DesignError, match="depend on covariates"):
        llbt.plot.tree(found)
