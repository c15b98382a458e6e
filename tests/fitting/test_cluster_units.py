"""The unit that makes standard errors largest, and what a printout says of it."""

import numpy as np
import pandas as pd
import pytest
from support.clusters import close, judged, quietly

import llbt
from llbt.fitting.cluster_units import ClusterUnit, cautious_unit
from llbt.kernel import robust


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


def test_many_clusters_are_summed_in_turn(fitted: llbt.LLBTResults, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = quietly("object + tie", fitted.comparisons, cov_type="CR1", groups="item")
    monkeypatch.setattr(robust, "_ENTRIES", 30.0)
    in_turn = quietly("object + tie", fitted.comparisons, cov_type="CR1", groups="item")
    close(in_turn.cov_params(), whole.cov_params(), rtol=1e-10)


def test_cautious_standard_errors_are_those_of_that_unit(fitted: llbt.LLBTResults) -> None:
    res = quietly("object + tie", fitted.comparisons, cov_type="cautious")
    by_judge = quietly("object + tie", fitted.comparisons, cov_type="cluster", groups="judge")
    close(res.cov_params(), by_judge.cov_params(), rtol=1e-12)
    assert res.specification == by_judge.specification
    plain = quietly("object + tie", judged(), cov_type="cautious")
    assert plain.as_text() == quietly("object + tie", judged()).as_text()


def test_two_judges_are_no_unit() -> None:
    res = quietly("object + tie", judged(2, clusters="judge"), cov_type="cautious")
    assert res.specification.cov_type == "nonrobust"
    assert "judgments are taken as independent: judge (G = 2, G* = " in res.as_text()
    assert unit_of(res) is None


def test_units_are_kept_where_they_are_there() -> None:
    frame = judged(6).to_frame().assign(judge="J", prompt=["p", None] * 3)
    c = llbt.from_counts(frame.iloc[:6], units=("judge", "prompt", "block"))
    assert c.clusters == ("judge",)
    assert any("prompt is not kept" in note for note in c.notes)
    split = llbt.from_counts(frame.iloc[:6], covariates="judge", units=("judge", "block"))
    assert (split.covariates, split.clusters) == (("judge",), ())


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
    for options in ({"cov_type": "cluster", "groups": "judge"}, {"cov_type": "HC0"}, {"cov_type": "quasi"}):
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
