"""New judges and new prompts: discriminations against fits by hand, and one table for every kind of fit."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special

import llbt
from llbt.inference.kinds import units_to_predict
from llbt.inference.unit_models import folds_of

JUDGES, FOLDS = 12, 5


@cache
def frame() -> pd.DataFrame:
    """Judges whose discriminations differ; everyone judges every prompt."""
    rng, size = np.random.default_rng(5), JUDGES * 40
    i = rng.integers(3, size=size)
    j = (i + rng.integers(1, 3, size=size)) % 3
    judge, prompt = np.divmod(np.arange(size), 40)
    worth = np.array([0.8, 0.1, -0.6])
    p = special.expit(2 * np.linspace(-0.2, 1.0, JUDGES)[judge] * (worth[i] - worth[j]))
    wins = (rng.random(size) < p).astype(int)
    labels = np.array(list("ABC"))
    made = pd.DataFrame({"object_i": labels[i], "object_j": labels[j], "judge": judge, "prompt": prompt % 10})
    return made.assign(age=20 + judge, wins_i=wins, wins_j=1 - wins)


def table(rows: pd.DataFrame) -> llbt.Comparisons:
    return llbt.from_counts(rows, clusters="prompt", covariates=["judge", "age"], numeric="age")


@cache
def fits() -> list[Any]:
    c = table(frame())
    of_judges = llbt.from_counts(frame(), clusters=["judge", "prompt"], covariates="age", numeric="age")
    return [
        llbt.fit("object", c, cov_type="cluster", groups="judge"),
        llbt.fit("object + (object | judge)", c),
        llbt.fit("object", c, discrimination="judge"),
        llbt.judges.classes("object", c, by="judge", k=[2], starts=2)[2],
        llbt.judges.tree("object", of_judges, by="judge"),
    ]


def test_a_new_judge_may_have_the_discrimination_of_each_known_judge() -> None:
    res = fits()[2]
    model, loss, rows = units_to_predict(res, "judge"), 0.0, frame()
    for part in folds_of(model, FOLDS, np.random.default_rng(2)):
        out = np.flatnonzero(part)
        again = llbt.fit("object", table(rows[~rows["judge"].isin(out)]), discrimination="judge")
        worth = {"C": 0.0, **{name[7]: value for name, value in again.params.items() if str(name).startswith("object")}}
        for label in out:
            mine = rows[rows["judge"] == label]
            apart = (mine["object_i"].map(worth) - mine["object_j"].map(worth)).to_numpy()
            sign = np.where(mine["wins_i"] == 1, 1, -1)
            chances = [np.exp(special.log_expit(2 * sigma * apart * sign).sum()) for sigma in again.discriminations]
            loss -= np.log(np.mean(chances))
    found = llbt.held_out(res, by="judge", folds=FOLDS, rng=2).to_frame()
    assert found["log_loss"].iloc[0] == pytest.approx(loss / len(rows), abs=1e-6)


@pytest.mark.parametrize("by", ["judge", "prompt"])
def test_one_table_has_every_kind_of_fit(by: str) -> None:
    found = llbt.held_out(fits(), by=by, folds=FOLDS, rng=1).to_frame()
    assert found["model"].tolist() == [
        "object", "object + (object | judge)", "object (discrimination of each judge)", "object (2 classes)",
        "object (tree)",
    ]  # fmt: skip
    assert found["log_loss"].between(0.4, 0.75).all()
    assert (found["log_loss"].iloc[1:] < found["log_loss"].iloc[0] + 1e-6).all()  # judges differ
