"""How often `grade_tests` rejects a scale as it is, and one that is not, at level 5 %, by simulation.

Five objects, all pairs alike often, λ of spread .8. The scores of the grades are those of the setting.
"""

import json

import numpy as np
import pandas as pd
import pytest
from support.folders import SIMULATIONS

import llbt
from llbt.core.response import graded

PAIRS = np.column_stack(np.triu_indices(5, 1))
WORTH = 0.8 * np.arange(4, -1, -1) / 4
ORDER = ("++", "+", "=", "-", "--"), ("+++", "++", "+", "=", "-", "--", "---")
# scores of the grades of preference, judgments per pair, the row of the table, and whether its hypothesis is true
SETTINGS: dict[str, tuple[list[float], int, str, bool]] = {
    "linear, 20": ([1, 2], 20, "as fitted", True),
    "linear, 60": ([1, 2], 60, "as fitted", True),
    "linear, 200": ([1, 2], 200, "as fitted", True),
    "linear, three grades, 60": ([1, 2, 3], 60, "as fitted", True),
    "one score, 20": ([1, 1], 20, "i = i+", True),
    "one score, 60": ([1, 1], 60, "i = i+", True),
    "one score of the upper two, 60": ([1, 2, 2], 60, "i+ = i++", True),
    "second at 1.5, 60": ([1, 1.5], 60, "as fitted", False),
    "second at 3, 60": ([1, 3], 60, "as fitted", False),
}


def drawn(scores: list[float], judgments: int, tables: int, seed: int) -> np.ndarray:
    """Tables (B, 10, 2H + 1): γ of the tie .2, of the larger grades −.4, −.8."""
    lead = (WORTH[PAIRS[:, 0]] - WORTH[PAIRS[:, 1]])[:, None]
    up, levels = np.array(scores), -0.4 * np.arange(len(scores))
    signed, own = np.concatenate([up[::-1], [0], -up]), np.concatenate([levels[::-1], [0.2], levels])
    weights = np.exp(signed * lead + own)
    p = weights / weights.sum(axis=1, keepdims=True)
    return np.random.default_rng(seed).multinomial(judgments, p, size=(tables, 10)).astype(float)


def rejected(setting: str, tables: int, seed: int) -> dict[str, float]:
    """Return the share of tables rejected at level 5 %, and of those without an answer."""
    scores, judgments, row, _ = SETTINGS[setting]
    names = list(ORDER[len(scores) - 2])
    found: list[float] = []
    refused = 0
    for counts in drawn(scores, judgments, tables, seed):
        frame = pd.DataFrame(counts, columns=names)
        frame[["object_i", "object_j"]] = np.array(list("ABCDE"))[PAIRS]
        try:
            said = llbt.grade_tests(llbt.fit("object + tie + grade", llbt.from_counts(frame, grades=names)))
        except llbt.LLBTError:
            refused += 1
            continue
        found.append(said.to_frame().set_index("model").loc[row, "p_value"])
    return {"rejected": round(float(np.mean(np.array(found) <= 0.05)), 4), "refused": round(refused / tables, 4)}


def test_tables_are_drawn_as_the_package_has_them() -> None:
    """A linear scale has the probabilities of the response."""
    response = graded(2, middle=True)
    lead = WORTH[PAIRS[:, 0]] - WORTH[PAIRS[:, 1]]
    p = response.probabilities([lead, np.full(10, 0.2), np.full(10, -0.4)])[0].T
    np.testing.assert_allclose(drawn([1, 2], 1000, 200, 1).mean(axis=0) / 1000, p, atol=0.006)


@pytest.mark.parametrize("setting", SETTINGS)
def test_recorded_size_and_power(setting: str) -> None:
    found = json.loads((SIMULATIONS / "grade_tests_size.json").read_text(encoding="utf-8"))["found"][setting]
    assert found["refused"] < 0.01
    _, judgments, _, holds = SETTINGS[setting]
    largest = 0.09 if judgments == 20 else 0.07  # 600 tables, standard error .009; χ² is a little short of 200 votes
    assert 0.03 <= found["rejected"] <= largest if holds else found["rejected"] > 0.15


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["linear, 60", "one score, 60", "second at 3, 60"])
def test_size_and_power(setting: str) -> None:
    """80 tables: within three standard errors of what is recorded."""
    expected = json.loads((SIMULATIONS / "grade_tests_size.json").read_text(encoding="utf-8"))["found"][setting]
    share = expected["rejected"]
    error = 3 * np.sqrt(share * (1 - share) / 80)
    assert rejected(setting, 80, 7)["rejected"] == pytest.approx(share, abs=error)


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", SETTINGS)
def test_size_and_power_again(setting: str) -> None:
    record = json.loads((SIMULATIONS / "grade_tests_size.json").read_text(encoding="utf-8"))
    found = rejected(setting, record["tables"], record["seed"])
    assert found == pytest.approx(record["found"][setting], abs=3e-3)
