"""One σ for each level of a covariate of judges, by simulation: intervals, bias of σ, and the test of equal σ.

Two objects, worths .6 and 0, or three, worths .6, .3, 0. Half of the judges are experts. The effects of the others have
σ = .9 and those of experts .3, or both have .6. A judge makes 12 judgments, equally many of each pair, or judges 20
random pairs, one on each prompt, whose effects have σ .4. Tables are fitted by `llbt.fit` as a user does.
"""

import itertools
import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt
from llbt.core.columns import FloatArray
from llbt.errors import LLBTError

WORTHS = {2: np.array([0.6, 0.0]), 3: np.array([0.6, 0.3, 0.0])}
EACH, PROMPTS, OF_PROMPTS = 12, 20, 0.4
SIGMA = {"different": (0.9, 0.3), "equal": (0.6, 0.6)}  # of others and of experts
NAMES, LEVELS = np.array(list("ABC")), ("no", "yes")
CASES = [
    (24, "different", "2 objects"),
    (60, "different", "2 objects"),
    (24, "equal", "2 objects"),
    (60, "equal", "2 objects"),
    (24, "different", "3 objects"),
    (24, "different", "3 objects, crossed"),
]


def table(judges: int, sigma: str, kind: str, rng: np.random.Generator) -> llbt.Comparisons:
    worths, expert = WORTHS[int(kind[0])], np.arange(judges) % 2
    own = rng.normal(0, np.array(SIGMA[sigma])[expert][:, None], (judges, len(worths)))
    of_prompts = np.zeros((PROMPTS, len(worths)))
    if kind.endswith("crossed"):
        judge, prompt = np.divmod(np.arange(judges * PROMPTS), PROMPTS)
        i = rng.integers(3, size=len(judge))
        j = (i + rng.integers(1, 3, size=len(judge))) % 3
        of_prompts = rng.normal(0, OF_PROMPTS, of_prompts.shape)
    else:
        judge, row = np.divmod(np.arange(judges * EACH), EACH)
        pairs = np.array(list(itertools.combinations(range(len(worths)), 2)))
        (i, j), prompt = pairs[row % len(pairs)].T, np.zeros(len(judge), dtype=int)
    worth, row = worths + own[judge] + of_prompts[prompt], np.arange(len(judge))
    wins = (rng.random(len(judge)) < 1 / (1 + np.exp(-2 * (worth[row, i] - worth[row, j])))).astype(int)
    frame = pd.DataFrame({"object_i": NAMES[i], "object_j": NAMES[j], "wins_i": wins, "wins_j": 1 - wins})
    frame = frame.assign(judge=judge, prompt=prompt, expert=np.array(LEVELS)[expert[judge]])
    return llbt.from_counts(frame, clusters=("judge", "prompt"), covariates="expert")


def fitted(judges: int, sigma: str, kind: str, rng: np.random.Generator) -> FloatArray | None:
    """Return for one table whether intervals hold the truth, the estimates of σ, and whether equal σ is rejected."""
    try:
        c = table(judges, sigma, kind, rng)
        more = " + (object | prompt)" if kind.endswith("crossed") else ""
        res, equal = (llbt.fit(f"object + (object | {by}){more}", c) for by in ("gr(judge, by=expert)", "judge"))
    except LLBTError:
        return None
    assert isinstance(res, llbt.MixedResults)
    low, high = res.conf_int().loc["object[A]"]
    profile = res.scale_intervals().to_numpy()[:2]
    truth = np.array(SIGMA[sigma])
    held = (profile[:, 0] < truth) & (truth < profile[:, 1])
    p = llbt.anova(equal, res).to_frame()["p_value"].iloc[1]
    return np.array([low < 0.6 < high, *held, *res.scales.iloc[:2], *res.maximum.scales[:2], p < 0.05])


def simulated(judges: int, sigma: str, kind: str, tables: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, judges, len(sigma), len(kind)])
    every = [fitted(judges, sigma, kind, rng) for _ in range(tables)]
    estimated = np.array([one for one in every if one is not None])
    mean, error = estimated.mean(axis=0), estimated.std(axis=0, ddof=1) / len(estimated) ** 0.5
    columns = [
        "coverage, worth of A",
        *(f"coverage, σ of {name}" for name in ("others", "experts")),
        *(f"σ of {name}" for name in ("others", "experts")),
        *(f"by maximum likelihood, {name}" for name in ("others", "experts")),
        "equal σ rejected",
    ]
    return {
        "tables": tables,
        **{name: round(float(value), 4) for name, value in zip(columns, mean, strict=True)},
        **{f"error, {name}": round(float(error[k]), 4) for k, name in ((3, "others"), (4, "experts"))},
        "without finite estimates": round(1 - len(estimated) / tables, 4),
    }


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads((SIMULATIONS / "level_scales.json").read_text(encoding="utf-8")))


def _name(case: tuple[int, str, str]) -> str:
    return ", ".join(map(str, case))


@pytest.mark.parametrize("case", recorded()["found"], ids=str)
def test_intervals_cover(case: str) -> None:
    """Within two and a half Monte Carlo errors of .93 to .97."""
    numbers = recorded()["found"][case]
    error = 2.5 * np.sqrt(0.05 * 0.95 / numbers["tables"])
    for name in ("worth of A", "σ of others", "σ of experts"):
        assert 0.93 - error < numbers[f"coverage, {name}"] < 0.97 + error


@pytest.mark.parametrize("case", recorded()["found"], ids=str)
def test_sigma_is_hardly_biased(case: str) -> None:
    """With 30 judges at each level within 4 % and two Monte Carlo errors of the truth, with 12 within 10 %."""
    numbers = recorded()["found"][case]
    judges, sigma, _ = case.split(", ", 2)
    for name, truth in zip(("others", "experts"), SIGMA[sigma], strict=True):
        bias = abs(numbers[f"σ of {name}"] - truth)
        assert bias < (0.04 if judges == "60" else 0.1) * truth + 2 * numbers[f"error, {name}"]


def test_equal_scales_are_seldom_rejected() -> None:
    """At level 5 % at most 10 % of true hypotheses with 12 judges at each level, and 8 % with 30."""
    found = recorded()["found"]
    assert found["24, equal, 2 objects"]["equal σ rejected"] < 0.1
    assert found["60, equal, 2 objects"]["equal σ rejected"] < 0.08
    assert found["60, different, 2 objects"]["equal σ rejected"] > 0.9


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [case for case in CASES if _name(case) in recorded()["found"]], ids=_name)
def test_it_is_found_again(case: tuple[int, str, str]) -> None:
    known = recorded()["found"][_name(case)]
    assert simulated(*case, known["tables"], recorded()["seed"]) == pytest.approx(known, abs=0.005)
