"""Intervals of σ of few random judges, by simulation: how many hold the truth, and to which side the others miss it.

Studies are those of `test_few_judges`: three objects, ties, σ = .5, 20 judgments a judge.
"""

import importlib.util
import json
import sys
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt
from llbt.errors import LLBTError

CASES = (4, 6, 12)


@cache
def studies() -> Any:
    spec = importlib.util.spec_from_file_location("few_judges", SIMULATIONS / "test_few_judges.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def fitted(judges: int, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return where the interval of one table lies; None without finite estimates."""
    try:
        res = llbt.fit("object + tie + (object | judge)", studies().table(judges, "equal", rng), reference="C")
    except LLBTError:
        return None
    assert isinstance(res, llbt.MixedResults)
    low, high = res.scale_intervals().iloc[0]
    sigma = studies().SIGMA
    return {
        "hold": low <= sigma <= high,
        "above": low > sigma,
        "below": high < sigma,
        "from 0": low == 0,
        "without end": np.isinf(high),
        "hold the printed σ": low <= res.scales.iloc[0] <= high,
    }


def simulated(judges: int, tables: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, judges])
    every = [fitted(judges, rng) for _ in range(tables)]
    found = pd.DataFrame([one for one in every if one is not None]).astype(float).mean()
    return {str(name): round(float(value), 4) for name, value in found.items()}


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "scale_intervals.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("judges", CASES)
def test_intervals_hold_what_their_docstring_says(judges: int) -> None:
    """By maximum likelihood, whose σ is too small with few judges: what misses the truth lies below it."""
    found = recorded()["found"][str(judges)]
    assert found["below"] >= found["above"]
    assert found["hold"] == pytest.approx({4: 0.84, 6: 0.90, 12: 0.95}[judges])
    assert found["hold the printed σ"] == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("judges", CASES)
def test_it_is_found_again(judges: int) -> None:
    found = simulated(judges, recorded()["tables"][str(judges)], recorded()["seed"])
    assert found == pytest.approx(recorded()["found"][str(judges)], abs=0.0041)
