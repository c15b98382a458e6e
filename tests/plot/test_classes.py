"""The pictures of latent classes show their worths and posteriors."""

import numpy as np
import pandas as pd
import pytest
from support.calls import found_classes, judged_by_age

import llbt
from llbt.errors import DesignError


def test_classes_show_centred_log_worths_with_their_intervals() -> None:
    found = found_classes()
    ax = llbt.plot.classes(found, confidence=0.9)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(names) == sorted(map(str, found.pooled.comparisons.objects))
    for k, label in enumerate(found.labels):
        table = found.worths(scale="log_worth", confidence=0.9).to_frame()
        own = table[table["class"] == label].set_index("object")["estimate"]
        drawn = np.asarray(ax.containers[k].lines[0].get_xdata())
        np.testing.assert_allclose(drawn, (own - own.mean())[names], atol=1e-12)
        assert np.diff(drawn)[0] < 0 or label > 1
    # two objects: the ends are 1.645 errors of half the difference away
    if len(names) == 2:
        bar = ax.containers[0].lines[2][0].get_segments()[0][:, 0]
        assert np.ptp(bar) == pytest.approx(2 * 1.644854 * found.bse.iloc[0, 0] / 2, rel=1e-6)


def test_posteriors_are_parts_of_a_row() -> None:
    found = found_classes()
    ax = llbt.plot.posteriors(found)
    area = [abs(_area(part.get_paths()[0].vertices)) for part in ax.collections]
    np.testing.assert_allclose(area, found.posterior.sum(), rtol=1e-9)
    first = found.posterior.idxmax(axis=1)
    names = [int(label.get_text()) for label in ax.get_yticklabels()]
    assert first[names].is_monotonic_increasing


def _area(polygon: np.ndarray) -> float:
    """The shoelace formula."""
    x, y = polygon.T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) / 2)


def test_classes_at_infinity_stand_at_the_edge() -> None:
    rows = [
        (f"{order}{n}", i, j, "i" if (order.index(i) < order.index(j)) != (order == "BAC" and n % 3 == k) else "j")
        for order in ("CBA", "BAC")
        for n in range(6)
        for k, (i, j) in enumerate(("AB", "AC", "BC"))
    ]
    frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
    found = llbt.judges.classes("object", llbt.from_judgments(frame, clusters="judge"), k=2, starts=5, rng=1)[2]
    assert len(found.infinite) == 1
    ax = llbt.plot.classes(found)
    furthest = max(np.abs(np.asarray(container.lines[0].get_xdata())).max() for container in ax.containers)
    assert furthest < 5
    assert "at infinity" in "".join(text.get_text() for text in ax.get_legend().get_texts())
    assert found.worths().to_frame().loc[lambda f: f["class"] == found.infinite[0], "std_error"].isna().all()


def test_worths_of_covariates_have_no_single_picture() -> None:
    found = llbt.judges.classes("object * age", judged_by_age(), k=1, prior=1)
    with pytest.raises(DesignError, match="depend on covariates"):
        llbt.plot.classes(found[1])
