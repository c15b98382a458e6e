"""Make the fixtures by llbt: `python twin/make_fixtures.py` writes twin/fixtures/*.json.

A fixture has votes and llbt's answer: log-worths of mean 0, the tie effect γ, standard errors of all differences, rank
ranges and tiers at llbt's critical value; or the text of its refusal. `simulated` is the critical value that tiers.py
simulates; tiers.js must give the same.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import tiers

import llbt

FOLDER = Path(__file__).parent / "fixtures"
Votes = list[tuple[str, ...]]


def simulated_votes(
    seed: int, names: Sequence[str], number: int, ties: float, units: int = 0, slope: float = 0.3
) -> Votes:
    """Return votes of objects whose log-worths fall by a slope; a unit stretches all differences."""
    rng = random.Random(seed)
    shifts = [rng.gauss(0, 0.6) for _ in range(units)]
    votes: Votes = []
    for _ in range(number):
        a, b = rng.sample(range(len(names)), 2)
        unit = rng.randrange(units) if units else None
        lead = slope * (b - a) * (1 + (shifts[unit] if unit is not None else 0))
        said = "tie" if rng.random() < ties else "a" if rng.random() < 1 / (1 + 2.718281828 ** (-2 * lead)) else "b"
        votes.append((names[a], names[b], said, *([] if unit is None else [f"u{unit}"])))
    return votes


def cases() -> dict[str, Votes]:
    """Return the votes of every fixture by name."""
    letters = [chr(65 + k) for k in range(26)]
    found: dict[str, Votes] = {
        "one-object": [("A", "A", "a")],
        "no-votes": [],
        "unknown-outcome": [("A", "B", "win")],
        "islands": [("A", "B", "a"), ("B", "A", "a"), ("C", "D", "tie"), ("D", "C", "b")],
        "eight-islands": [(f"L{k}", f"R{k}", "tie") for k in range(8)],
        "one-group-above": [("A", "B", "a"), ("B", "C", "a"), ("C", "B", "a"), ("A", "C", "a")],
        "chain": [("A", "B", "a"), ("B", "C", "a"), ("C", "D", "a")],
        "twelve-below": [("top", name, "a") for name in letters[:12]] + simulated_votes(1, letters[:12], 400, 0.1),
        "all-ties": [("A", "B", "tie"), ("B", "C", "tie"), ("C", "A", "tie")],
        "ties-grow": [("A", "B", "a")] * 5 + [("A", "B", "tie")] * 3,
        "ties-grow-in-a-chain": [("A", "B", "a"), ("B", "C", "a"), ("A", "B", "tie"), ("B", "C", "tie")],
        "two-objects": [("A", "B", "a")] * 5 + [("A", "B", "b")] * 3,
        "two-objects-and-ties": [("A", "B", "a")] * 5 + [("B", "A", "a")] * 3 + [("A", "B", "tie")] * 4,
        "duplicates": [("A", "B", "a"), ("B", "C", "a"), ("C", "A", "a"), ("A", "B", "b")] * 7,
        "few-units": simulated_votes(2, letters[:4], 200, 0.2, units=12),
        "one-unit-needed": [
            *simulated_votes(3, letters[:4], 300, 0.2, units=45),
            ("A", "new", "a", "u46"), ("A", "new", "b", "u46"),
        ],
    }  # fmt: skip
    names = ["größer", "模型", "Ω", "a b", "it's", '"quoted"', "<b>", "🦙", "=1+1", "é"]
    found["unicode"] = simulated_votes(4, names, 900, 0.15)
    found["unicode-above"] = [(names[7], name, "a") for name in names if name != names[7]]
    for seed, (size, number, ties) in enumerate(
        (size, number, ties) for size in (3, 4, 6, 10, 20) for number in (12, 60) for ties in (0.0, 0.15, 0.5)
    ):
        found[f"simulated-{size}-{number * size}-{ties:.2f}"] = simulated_votes(
            seed, letters[:size], number * size, ties
        )
    for seed, (size, units, ties) in enumerate((s, u, t) for s in (3, 8) for u in (40, 120) for t in (0.0, 0.3)):
        found[f"units-{size}-{units}-{ties:.1f}"] = simulated_votes(seed, letters[:size], 12 * units, ties, units)
    found["close"] = simulated_votes(5, letters[:12], 600, 0.2, slope=0.01)
    found["steep"] = simulated_votes(6, letters[:8], 1500, 0.1, slope=0.35)
    return found


def fitted(votes: Votes) -> llbt.LLBTResults:
    """Return the fit by llbt."""
    units = len(votes[0]) > 3 if votes else False
    frame = pd.DataFrame(votes, columns=["a", "b", "outcome", "unit"][: 3 + units])
    clusters: Any = {"clusters": "unit"} if units else {}
    outcomes = {"a": "i", "b": "j", "tie": "tie"}
    table = llbt.from_judgments(frame, objects=["a", "b"], outcome="outcome", outcomes=outcomes, **clusters)
    ties = bool((frame["outcome"] == "tie").any())
    clustered: Any = {"cov_type": "cluster", "groups": "unit"} if units else {}
    return llbt.fit("object + tie" if ties else "object", table if ties else table.drop_ties(), **clustered)


def of_llbt(votes: Votes) -> dict[str, Any]:
    """Return llbt's answer: the text of its refusal, or estimates, and ranks and tiers at its critical value."""
    try:
        res = fitted(votes)
    except llbt.LLBTError as error:
        return {"refused": error.found.partition(". In all")[0]}
    pairs = llbt.pairwise(res)
    frame = pairs.to_frame()
    objects = sorted(set(frame["object_i"]) | set(frame["object_j"]))
    lead, error = (pd.DataFrame(0.0, index=objects, columns=objects) for _ in range(2))
    for row in frame.itertuples():  # of log-odds 2λ
        lead.loc[row.object_i, row.object_j], lead.loc[row.object_j, row.object_i] = row.estimate, -row.estimate
        error.loc[row.object_i, row.object_j] = error.loc[row.object_j, row.object_i] = row.std_error
    beats = lead > pairs.critical * error
    worths = (lead.mean(axis=1) / 2).sort_values(ascending=False, kind="stable")
    tier: dict[str, int] = {}
    left = list(worths.index)
    while left:
        tier |= {name: max(tier.values(), default=0) + 1 for name in left if not beats.loc[left[0], name]}
        left = [name for name in left if name not in tier]
    board = [
        {"object": name, "worth": worth, "rank_low": int(1 + beats[name].sum()),
         "rank_high": int(len(objects) - beats.loc[name].sum()), "tier": tier[name]}
        for name, worth in worths.items()
    ]  # fmt: skip
    tie = float(res.params["tie"]) if "tie" in res.params else None
    errors = (error / 2).to_numpy().tolist()
    return {"critical": pairs.critical, "board": board, "tie": tie, "objects": objects, "errors": errors}


def fixture(votes: Votes) -> dict[str, Any]:
    """Return votes with llbt's answer; a refusal has the twin's own text if llbt's text says more than the twin can."""
    said = of_llbt(votes)
    try:
        return {"votes": votes, **said, "simulated": tiers.tiers(votes)["critical"]}
    except ValueError as error:
        own = str(error)
    if "refused" not in said and len(votes[0]) == 3:
        raise SystemExit(f"llbt answers where the twin says: {own}")
    shared = said.get("refused", "").partition(", so '")[0]
    return {"votes": votes, "refused": shared if shared and own.startswith(shared) else own}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, votes in cases().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = json.dumps(fixture(votes), ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
