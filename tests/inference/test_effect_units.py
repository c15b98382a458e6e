"""Held-out units of fits with effects: scores given what is known, against integrals over a grid of effects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from scipy import special
from support.questions import fit_of, judged

import llbt
from llbt.core.columns import FloatArray
from llbt.errors import DesignError, OptionError
from llbt.inference.kinds import units_to_predict
from llbt.inference.unit_models import DependentUnits, folds_of

BOTH = "object + (object | judge) + (object | prompt)"
_AT, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def _table(judges: int = 6, prompts: int = 3, seed: int = 1) -> llbt.Comparisons:
    """Two objects, three judgments in each cell."""
    rng = np.random.default_rng(seed)
    judge, prompt = np.divmod(np.arange(judges * prompts), prompts)
    worth = 0.3 + rng.normal(0, 0.6, judges)[judge] + rng.normal(0, 0.5, prompts)[prompt]
    wins = rng.binomial(3, special.expit(2 * worth))
    frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "wins_j": 3 - wins})
    return llbt.from_counts(frame.assign(judge=judge, prompt=prompt), clusters=("judge", "prompt"))


def _log_z(table: pd.DataFrame, worth: float, of_judge: float, of_prompt: float) -> float:
    """Return the log-likelihood of some cells, judges integrated out at each point of the prompts' grid."""
    prompts = sorted(set(table["prompt"]))
    at, weights = (_AT, _WEIGHTS) if of_prompt else (np.zeros(1), np.ones(1))
    grid, chance = (np.array(list(product(of, repeat=len(prompts)))).T for of in (at, weights))
    log = np.log(chance).sum(axis=0)
    for _, cells in table.groupby("judge"):
        said = np.zeros((len(log), len(_AT)))
        for cell in cells.itertuples():
            u = worth + np.sqrt(2) * (of_judge * _AT + of_prompt * grid[prompts.index(cell.prompt)][:, None])
            said += cell.wins_i * special.log_expit(2 * u) + cell.wins_j * special.log_expit(-2 * u)
        log = log + special.logsumexp(said + np.log(_WEIGHTS), axis=1)
    return float(special.logsumexp(log))


def _score(table: pd.DataFrame, by: str, unit: object, known: Sequence[object], params: FloatArray) -> float:
    rest = table[table[by].isin(known)]
    return _log_z(pd.concat([rest, table[table[by] == unit]]), *params) - _log_z(rest, *params)


@cache
def _fit(approximation: Literal["laplace"] | None = None) -> llbt.MixedResults:
    res = llbt.fit(BOTH, _table(judges=4), approximation=approximation)
    assert isinstance(res, llbt.MixedResults)
    return res


@pytest.mark.parametrize("by", ["judge", pytest.param("prompt", marks=pytest.mark.slow)])
def test_a_unit_is_predicted_from_what_is_known(by: str) -> None:
    """By expectation propagation within .003, of 9 and 12 judgments; Laplace's approximation is ten times as far."""
    table, params = _fit().comparisons.to_frame(clusters=True), np.array([0.2, 0.35, 0.25])
    off = []
    for res in (_fit(), _fit("laplace")):
        model = units_to_predict(res, by)
        assert isinstance(model, DependentUnits)
        known = model.counts.copy()
        known[[0, 2]] = 0
        found = model.log_scores_given(params, known)
        assert np.isnan(found[known > 0]).all()
        train = [label for label, there in zip(model.labels or (), known, strict=True) if there]
        exact = [_score(table, by, (model.labels or ())[unit], train, params) for unit in (0, 2)]  # one at a time
        off.append(np.abs(found[[0, 2]] - exact).max())
        alone = model.log_scores_given(np.array([0.2, 0.0, 0.0]), known)
        wins = table[table[by] == (model.labels or ())[0]][["wins_i", "wins_j"]].sum()
        assert alone[0] == pytest.approx(wins @ special.log_expit([0.4, -0.4]))
    assert off[0] < 3e-3
    assert off[0] < off[1] / 5 < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("by", ["judge", "prompt"])
def test_new_judges_and_prompts_are_predicted_by_fits_to_the_others(by: str) -> None:
    table = _table().to_frame(clusters=True).rename(columns={"object_i": "i", "object_j": "j"})
    if by == "prompt":
        table = table.rename(columns={"judge": "prompt", "prompt": "judge"})
    c = llbt.from_counts(table, objects=("i", "j"), clusters=("judge", "prompt"))
    res = llbt.fit(BOTH, c)
    model = units_to_predict(res, by)
    found = llbt.held_out(res, by=by, folds=2, rng=1).to_frame().iloc[0]
    labels, loss = np.array(model.labels, dtype=object), 0.0
    for part in folds_of(model, 2, np.random.default_rng(1)):
        train = labels[part == 0].tolist()
        again = llbt.fit(BOTH, c.select(where={by: train}))
        assert isinstance(again, llbt.MixedResults)
        own, other = again.maximum.scales if by == "judge" else again.maximum.scales[::-1]
        cells = table.rename(columns={by: "judge", "judge": "prompt"} if by == "prompt" else {})
        params = np.array([*again.maximum.params, own, other])
        loss -= sum(_score(cells, "judge", unit, train, params) for unit in labels[part > 0].tolist())
    assert found["log_loss"] == pytest.approx(loss / c.n_judgments, abs=2e-3)


def test_prompts_are_predicted_where_judges_alone_have_effects() -> None:
    c = _table(judges=5, prompts=4)
    res = llbt.fit("object + (object | judge)", c)
    model = units_to_predict(res, "prompt")
    assert isinstance(model, DependentUnits)
    known = np.array([0.0, 1.0, 1.0, 1.0])
    params = np.append(res.maximum.params, res.maximum.scales)
    np.testing.assert_allclose(model.estimated(np.ones(4)), params, atol=1e-5)
    exact = _score(c.to_frame(clusters=True), "prompt", 0, [1, 2, 3], np.append(params, 0.0))
    assert model.log_scores_given(params, known)[0] == pytest.approx(exact, abs=1e-5)


@pytest.mark.slow
def test_one_table_of_many_models_for_new_judges_and_new_weeks() -> None:
    fits = [llbt.fit("object + tie", judged()), fit_of("mixed"), fit_of("classes")]
    for by in ("judge", "week"):
        found = llbt.held_out(fits, by=by, folds=2, rng=1).to_frame()
        assert found["log_loss"].between(0.5, 1.2).all()
        assert found["delta_log_loss"].iloc[1] < 0  # judges of this table differ


def test_what_is_new_has_to_be_said() -> None:
    res = _fit()
    with pytest.raises(OptionError, match=r"no by= for a fit with effects of judge and prompt.*by='judge'"):
        llbt.held_out(res)
    with pytest.raises(OptionError, match="by='judgment' of a fit with effects of judge and prompt"):
        llbt.held_out(res, by="judgment")
    with pytest.raises(OptionError, match="'jugde'"):
        llbt.held_out(res, by="jugde")
    with pytest.raises(DesignError, match="effects of judge and prompt, so all of them depend on each other"):
        llbt.influence(res, by="judge")


def test_new_judges_of_many_objects_without_differences_need_few_points() -> None:
    """Products of rules would have 9⁹ points for ten objects."""
    pairs = [(i, j) for i in range(10) for j in range(i)]
    rows = [(i, j, judge, int((i + j) % 3 > 0)) for judge in range(4) for i, j in pairs]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i"])
    c = llbt.from_counts(frame.assign(wins_j=1 - frame["wins_i"]), clusters="judge")
    res = llbt.fit("object + (object | judge)", c)
    plain = llbt.fit("object", c, cov_type="cluster", groups="judge")
    assert isinstance(res, llbt.MixedResults)
    assert res.maximum.scales[0] == 0
    losses = llbt.held_out([res, plain], by="judge", folds=4, rng=1).to_frame()["log_loss"]
    assert losses[0] == pytest.approx(losses[1])
