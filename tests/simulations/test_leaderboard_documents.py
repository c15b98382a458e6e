"""How often `scores.leaderboard(by=)` finds some difference among five equal systems, at level 5 %, by simulation.

Scores are N(0, ½) of system and document + N(0, ½) of system and instance; documents have 10 instances each, or
round(10 e^N(0, 1)), at least one.
"""

import json

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from support.folders import SIMULATIONS

import llbt
from llbt.scores.board_tests import BoardTest

RECORD = SIMULATIONS / "leaderboard_documents.json"
TESTS: tuple[BoardTest, ...] = ("t", "wilcoxon")
DOCUMENTS = (8, 20, 50)
SYSTEMS = 5


def board(documents: int, unequal: bool, rng: np.random.Generator) -> pd.DataFrame:
    spread = np.exp(rng.normal(size=documents)) if unequal else np.ones(documents)
    document = np.repeat(np.arange(documents), np.maximum(np.round(10 * spread), 1).astype(int))
    luck = rng.normal(size=(documents, SYSTEMS))[document] + rng.normal(size=(len(document), SYSTEMS))
    return pd.DataFrame(luck / np.sqrt(2), columns=list("ABCDE")).assign(document=document)


def some_difference(test: BoardTest, documents: int, unequal: bool, seed: list[int]) -> bool:
    frame = board(documents, unequal, np.random.default_rng(seed))
    return bool(llbt.scores.leaderboard(frame, test=test, by="document").better.any())


def shares(trials: int, seed: int, n_jobs: int = 1) -> dict[str, float]:
    """The share of tables with some difference, by test, sizes and number of documents."""
    found = {}
    for test in TESTS:
        for unequal in (False, True):
            for documents in DOCUMENTS:
                key = f"{test}, {documents} {'unequal' if unequal else 'equal'} documents"
                jobs = [delayed(some_difference)(test, documents, unequal, [seed, trial]) for trial in range(trials)]
                found[key] = round(float(np.mean(Parallel(n_jobs=n_jobs)(jobs))), 4)
    return found


def recorded() -> dict:
    return json.loads(RECORD.read_text(encoding="utf-8"))


def test_the_t_test_holds_its_level() -> None:
    record = recorded()
    assert record["trials"] == 2000
    assert all(0.02 <= share <= 0.065 for key, share in record["found"].items() if key.startswith("t,"))
    assert all(share <= 0.065 for share in record["found"].values())


@pytest.mark.exhaustive
def test_the_record_is_what_comes_out() -> None:
    record = recorded()
    assert shares(record["trials"], record["seed"], n_jobs=-1) == record["found"]
