"""Real judgments that do not ship: figures of the crowd's judgments on 59 language models (LLMFAO)."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.kernel.explicit import explicit_glm

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def judgments(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "llmfao.csv")


def test_every_judgment_is_counted(judgments: pd.DataFrame) -> None:
    """The figures of the data's README: 8,931 judgments, 59 models, 124 workers, 39 % ties."""
    c = llbt.from_judgments(judgments, objects=("model_x", "model_y"), outcome="winner", clusters="worker")
    assert (c.n_judgments, len(c.objects)) == (8931, 59)
    assert c.cluster_counts is not None
    assert len(c.cluster_counts.columns[0].levels) == 124
    assert c.n_ties == (judgments["winner"] == "tie").sum()
    assert round(c.n_ties / c.n_judgments, 2) == 0.39
    left = ((judgments["winner"] == "left") & (judgments["model_x"] < judgments["model_y"])).sum()
    right = ((judgments["winner"] == "right") & (judgments["model_x"] > judgments["model_y"])).sum()
    assert c.counts[:, 0].sum() == left + right


@pytest.mark.slow
def test_the_eliminated_fit_is_the_explicit_glm(judgments: pd.DataFrame) -> None:
    c = llbt.from_judgments(judgments, objects=("model_x", "model_y"), outcome="winner")
    res = llbt.fit("object + tie", c)
    assert res.solution.solver == "eliminate"
    glm = explicit_glm(res.problem(), res.names)
    np.testing.assert_allclose(res.params, glm.params.iloc[: len(res.names)], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(res.bse, glm.bse.iloc[: len(res.names)], rtol=1e-8)
    assert res.deviance == pytest.approx(glm.deviance, rel=1e-10)


# -- WMT10: 7,692 blocks of five systems ranked by experts -------------------------------------------------------

WMT10 = "wmt10_expert_RNK.csv.gz"


@pytest.mark.slow
def test_wmt10_by_name_and_in_display_order(shared: Path) -> None:
    """Counts of a plain loop over the blocks: 75,768 judgments, 12,729 ties, both orders of the pairs."""
    by_name = llbt.from_judgments(shared / "data" / WMT10)
    shown = llbt.from_judgments(shared / "data" / WMT10, order=True)
    assert by_name.counts.sum(axis=0).tolist() == [33_433, 12_729, 29_606]
    assert shown.counts.sum(axis=0).tolist() == [32_062, 12_729, 30_977]
    assert by_name.n_ties / by_name.n_judgments == pytest.approx(0.168000, abs=5e-7)
    assert by_name.notes[:2] == (
        "7,692 records read as 'wmt5': 75,768 judgments",
        "1,152 judgments left out: an object not ranked",
    )


def test_wmt10_keeps_its_blocks(shared: Path) -> None:
    frame = llbt.read_judgments(shared / "data" / WMT10)
    raw = pd.read_csv(shared / "data" / WMT10)
    ranked = (raw[[f"system{k}rank" for k in range(1, 6)]] > 0).sum(axis=1)
    sizes = frame.to_frame().groupby("block").size().reindex(raw.index, fill_value=0)
    assert sizes.tolist() == (ranked * (ranked - 1) // 2).tolist()
    unranked = frame.to_frame()[frame.to_frame()[[f"system{k}rank" for k in range(1, 6)]].min(axis=1) < 0]
    assert unranked["block"].nunique() == ((ranked < 5) & (ranked > 1)).sum()  # shown, and still there


@pytest.mark.slow
def test_wmt10_as_long_rankings(shared: Path) -> None:
    """A second route: every block as a ranking in long form."""
    raw = pd.read_csv(shared / "data" / WMT10)
    long = pd.concat(
        pd.DataFrame({"block": raw.index, "object": raw[f"system{k}Id"], "rank": raw[f"system{k}rank"]})
        for k in range(1, 6)
    )
    assert llbt.from_rankings(long, block="block", missing=-1).to_comparisons() == llbt.from_judgments(
        shared / "data" / WMT10
    )


def test_llmfao_is_recognized(shared: Path) -> None:
    c = llbt.from_judgments(shared / "data" / "llmfao.csv", clusters=("judge", "prompt"))
    assert c.notes[0] == "8,931 rows read as 'evalica'"
    assert (c.n_judgments, len(c.objects), c.n_ties) == (8931, 59, 3471)
    assert len(c.cluster_counts.columns[0].levels) == 124
    found = llbt.audit(shared / "data" / "llmfao.csv")
    assert [finding.check for finding in found.failed("warning")] == [
        "blocks",
        "ties",
        "judges",
        "outlying_judges",
    ]
    # judgments of a worker and on a prompt are alike: given these, 53.3 % for the first position may be chance
    assert "given worths p = 0.0962" in found.finding("position").found
