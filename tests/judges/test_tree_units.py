"""Trees predict new judges: against trees grown by hand without them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special

import llbt
from llbt.errors import OptionError
from llbt.inference.unit_models import folds_of, units_to_predict


def _frame() -> pd.DataFrame:
    """Sixty judges, of whom the older ones prefer B."""
    rng = np.random.default_rng(1)
    judge = np.repeat(np.arange(60), 6)
    says = np.where(rng.random(360) < np.where(judge < 30, 0.8, 0.3), "i", "j")
    prompt = np.tile(np.arange(6), 60)
    return pd.DataFrame({"judge": judge, "age": 20 + judge, "object_i": "A", "object_j": "B", "outcome": says}).assign(
        prompt=prompt
    )


def _table() -> llbt.Comparisons:
    return llbt.from_judgments(_frame(), clusters=("judge", "prompt"), covariates="age", numeric="age")


def loss_of(tree: llbt.judges.JudgeTree, said: pd.DataFrame) -> float:
    """Return −Σ log p of judgments, with the worths of each judge's leaf."""
    leaf, loss = tree.predict(said[["age"]].reset_index(drop=True)).to_numpy(), 0.0
    for node in tree.leaves:
        worth = float(tree.results(node.number).params["object[A]"])
        mine = said["outcome"].to_numpy()[leaf == node.number]
        loss -= special.log_expit(2 * worth * np.where(mine == "i", 1, -1)).sum()
    return loss


def test_new_judges_are_predicted_by_the_leaf_of_a_tree_of_the_others() -> None:
    c, frame = _table(), _frame()
    tree = llbt.judges.tree("object", c)
    plain, mixed = llbt.fit("object", c), llbt.fit("object + (object | judge)", c)
    found = llbt.held_out([plain, tree, mixed], by="judge", folds=3, rng=2).to_frame()
    assert found["model"].tolist() == ["object", "object (tree)", "object + (object | judge)"]
    model, loss = units_to_predict(tree, None), 0.0
    for part in folds_of(model, 3, np.random.default_rng(2)):
        out = [label for label, held in zip(model.labels or (), part, strict=True) if held]
        rest = c.select(where={"judge": [label for label in range(60) if label not in out]})
        again = llbt.judges.tree("object", rest)
        said = frame[frame["judge"].isin(out)]
        loss += loss_of(again, said)
    assert found["log_loss"].iloc[1] == pytest.approx(loss / 360, abs=1e-8)
    assert found["log_loss"].iloc[1] < found["log_loss"].iloc[2] < found["log_loss"].iloc[0]


def test_new_prompts_are_predicted_by_the_leaf_of_each_judge_in_a_tree_of_the_others() -> None:
    c, frame = _table(), _frame()
    tree = llbt.judges.tree("object", c)
    model, loss = units_to_predict(tree, "prompt"), 0.0
    assert model.labels == tuple(range(6))
    for part in folds_of(model, 3, np.random.default_rng(2)):
        out = np.flatnonzero(part)
        again = llbt.judges.tree("object", c.select(where={"prompt": [k for k in range(6) if k not in out]}))
        said = frame[frame["prompt"].isin(out)]
        loss += loss_of(again, said)
    found = llbt.held_out(tree, by="prompt", folds=3, rng=2).to_frame()
    assert found["log_loss"].iloc[0] == pytest.approx(loss / 360, abs=1e-8)


def test_what_a_tree_does_not_predict_is_refused() -> None:
    """The remedy is a table with the column as a cluster."""
    c = _table()
    tree = llbt.judges.tree(
        "object", llbt.from_judgments(_frame(), clusters="judge", covariates=["age", "prompt"], numeric="age")
    )
    with pytest.raises(
        OptionError, match=r"'prompt' is no cluster of the tree's table.*clusters=\('judge', 'prompt'\)"
    ):
        llbt.held_out(tree, by="prompt")
    assert llbt.held_out(llbt.judges.tree("object", c), by="prompt", folds=2).to_frame()["log_loss"].iloc[0] < np.log(2)
    with pytest.raises(OptionError, match="the tree is honest or pruned"):
        llbt.held_out(llbt.judges.tree("object", c, honest=True, rng=1))
