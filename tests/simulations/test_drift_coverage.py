"""How often bands of drifting worths cover, and how often the test rejects worths that do not change, or do.

All pairs of J objects are judged so many times on each of T days, with ties. A table that is drawn without drift gives
the size of the test by drawn tables, too: one is drawn from each fit, and the quantile of all of these is what each
statistic is held against (Giacomini, Politis & White 2013, Econometric Theory 29(3)).
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.drifting import drifting_table
from support.folders import SIMULATIONS

import llbt
from llbt.inference.drift_record import _drawn


def asked(tables: int, seed: int, days: int, objects: int, number: int, sigma: float) -> dict[str, float]:
    """Return the shares of what covers and what is rejected."""
    found: dict[str, list[Any]] = {
        name: [] for name in ("bands", "changes", "rate", "statistic", "p", "drawn", "sigma")
    }
    for one in range(tables):
        rng = np.random.default_rng([seed, days, objects, number, round(1000 * sigma), one])
        c, worth = drifting_table(rng, sigma, days, objects, number)
        res = llbt.fit("object + tie", c)
        drift = llbt.drift(res, time="day")
        test, change = drift.test(), drift.change().to_frame().set_index("object").loc[list(c.objects)]
        found["bands"].append(np.abs(drift.estimate - worth) <= 1.96 * drift.std_error)
        gone = change["estimate"] - (worth[-1] - worth[0])
        found["changes"].append(np.abs(gone) <= 1.96 * change["std_error"] + 1e-9)
        found["rate"].append(drift.sigma_low <= sigma <= drift.sigma_high)
        found["statistic"].append(test.statistic)
        found["p"].append(test.p_value)
        found["sigma"].append(drift.sigma)
        if sigma == 0:
            found["drawn"] += _drawn(drift.periods, res.solution.params, 1, rng).tolist()
    shares = {name: round(float(np.mean(found[name])), 4) for name in ("bands", "changes", "rate")}
    p = np.array(found["p"])
    shares |= {"median sigma": round(float(np.median(found["sigma"])), 4), "sigma 0": round(float(np.mean(p == 1)), 4)}
    shares |= {f"rejected at {level}": round(float(np.mean(p <= float(level))), 4) for level in (".05", ".10")}
    if sigma == 0:
        drawn = np.array(found["drawn"])
        shares |= {
            f"rejected at {level} by draws": round(
                float(np.mean(np.array(found["statistic"]) > np.quantile(drawn, 1 - float(level)))), 4
            )
            for level in (".05", ".10")
        }
    return shares


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "drift_coverage.json").read_text(encoding="utf-8")))


SETTINGS = [(10, 5, 8, 0.0), (10, 5, 8, 0.1), (10, 5, 8, 0.2), (5, 4, 15, 0.0), (5, 4, 15, 0.2)]


def name_of(setting: tuple[int, int, int, float]) -> str:
    return "{} days, {} objects, {} judgments of a pair and day, sigma {}".format(*setting)


@pytest.mark.parametrize("setting", SETTINGS)
def test_bands_cover_and_a_true_hypothesis_is_rarely_rejected(setting: tuple[int, int, int, float]) -> None:
    found = recorded()["found"][name_of(setting)]
    assert found["bands"] >= 0.93
    assert found["changes"] >= 0.92
    assert found["rate"] >= 0.92
    if setting[-1] == 0:
        assert 0.02 <= found["rejected at .05"] <= 0.07
        assert 0.03 <= found["rejected at .05 by draws"] <= 0.07
    else:
        assert found["rejected at .05"] > 0.6
        assert abs(found["median sigma"] - setting[-1]) < 0.02


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", SETTINGS)
def test_coverage_again(setting: tuple[int, int, int, float]) -> None:
    record = recorded()
    found = asked(record["tables"], record["seed"], *setting)
    assert found == pytest.approx(record["found"][name_of(setting)], abs=2e-2)
