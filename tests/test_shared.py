"""Real judgments that do not ship: figures of the crowd's judgments on 59 language models (LLMFAO)."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.solvers import explicit_glm

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


def test_the_eliminated_fit_is_the_explicit_glm(judgments: pd.DataFrame) -> None:
    c = llbt.from_judgments(judgments, objects=("model_x", "model_y"), outcome="winner")
    res = llbt.fit("object + tie", c)
    assert res.solution.solver == "eliminate"
    glm = explicit_glm(res.problem(), res.names)
    np.testing.assert_allclose(res.params, glm.params.iloc[: len(res.names)], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(res.bse, glm.bse.iloc[: len(res.names)], rtol=1e-8)
    assert res.deviance == pytest.approx(glm.deviance, rel=1e-10)
