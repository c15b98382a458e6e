"""The unit that makes standard errors largest, and what a printout says of it."""

import numpy as np
import pandas as pd
import pytest
from test_robust import close, judged, quietly

import llbt
from llbt.cluster_units import ClusterUnit, cautious_unit


def unit_of(res: llbt.LLBTResults, *names: str) -> ClusterUnit | None:
    return cautious_unit(res.problem(), res.solution, res.comparisons, names or None)


@pytest.fixture(scope="module")
def fitted() -> llbt.LLBTResults:
    return quietly("object + tie", judged(15, 40, 900, clusters=["item", "judge"]))


def test_the_ratio_is_that_of_the_variances_of_the_judgments_log_odds(fitted: llbt.LLBTResults) -> None:
    """Against the covariance of a clustered fit, each judgment's own log-odds in a loop."""
    robust = quietly("object + tie", fitted.comparisons, cov_type="CR1", groups="judge")
    variances = np.zeros(2)
    for row, n in zip(fitted.comparisons.pairs, fitted.comparisons.totals, strict=True):
        z = np.array([float(row[0] == k) - float(row[1] == k) for k in range(3)] + [0.0])
        for k, res in enumerate((robust, fitted)):
            variances[k] += n * z @ res.cov_params().to_numpy() @ z
    found = unit_of(fitted, "judge")
    close(found.ratio, np.sqrt(variances[0] / variances[1]), rtol=1e-8)
    assert (found.name, found.clusters) == ("judge", 15)
    assert 10 < found.effective < 15


def test_the_largest_is_taken_whatever_the_order(fitted: llbt.LLBTResults) -> None:
    assert unit_of(fitted).name == "judge"
    assert unit_of(fitted, "judge", "item") == unit_of(fitted, "item", "judge") == unit_of(fitted)
    assert unit_of(fitted).ratio > unit_of(fitted, "item").ratio


def test_few_clusters_give_way_to_many() -> None:
    res = quietly("object + tie", judged(4, 40, 900, clusters=["judge", "item"]))
    assert unit_of(res, "judge").ratio > unit_of(res, "item").ratio
    assert unit_of(res).name == "item"
    assert unit_of(res, "judge").name == "judge"


def test_nothing_to_choose() -> None:
    assert unit_of(quietly("object + tie", judged())) is None
    alone = judged(clusters="judge").select(where={"judge": "J03"})
    assert unit_of(quietly("object + tie", alone, prior=1.0)) is None
    assert unit_of(quietly("tie", judged(clusters="judge"))) is None


def test_the_printout_says_what_the_clusters_would_change(fitted: llbt.LLBTResults) -> None:
    unit = unit_of(fitted)
    note = f"judgments are taken as independent; {unit.said}: cov_type='cluster', groups='judge'"
    assert note in fitted.as_text()
    assert "times those of independent judgments" in unit.said
    for options in ({"cov_type": "cluster", "groups": "judge"}, {"cov_type": "HC0"}, {"scale": "X2"}):
        assert "taken as independent" not in quietly("object + tie", fitted.comparisons, **options).as_text()
    assert "taken as independent" not in quietly("object + tie", judged()).as_text()


def test_a_block_of_copies_counts_once() -> None:
    """Every judgment four times, in a block of its own: errors by block are twice as large, but for G/(G − 1)."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "outcome": rng.choice(["i", "tie", "j"], 200)})
    frame["block"] = np.arange(200)
    c = llbt.from_judgments(pd.concat([frame] * 4), clusters="block")
    unit = unit_of(quietly("object + tie", c))
    close(unit.ratio, 2 * np.sqrt(200 / 199), rtol=1e-6)
