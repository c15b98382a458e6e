"""Judgments simulated from worths, and a table that leaves parameters aliased."""

import itertools

import numpy as np
import pandas as pd

import llbt


def simulated(rng, log_worths, tie=-0.5, judgments=30):
    """All pairs of some objects, judged."""
    i, j = np.triu_indices(len(log_worths), 1)
    difference = log_worths[i] - log_worths[j]
    odds = np.exp(np.column_stack([difference, np.full(len(i), tie), -difference]))
    counts = rng.multinomial(judgments, odds / odds.sum(axis=1, keepdims=True))
    names = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    columns = {"object_i": names[i], "object_j": names[j]}
    return llbt.from_counts(pd.DataFrame(columns | dict(zip(("wins_i", "ties", "wins_j"), counts.T, strict=True))))


def aliased(**options):
    """Judge J2 never saw D."""
    rng = np.random.default_rng(3)
    pairs = [(judge, *pair) for judge in ("J1", "J2") for pair in itertools.combinations("ABCD", 2)]
    rows = [
        {"object_i": a, "object_j": b, "judge": judge, "ties": 2}
        | dict(zip(("wins_i", "wins_j"), rng.integers(3, 9, 2), strict=True))
        for judge, a, b in pairs
        if judge == "J1" or b != "D"
    ]
    table = llbt.from_counts(pd.DataFrame(rows), covariates="judge")
    return llbt.fit("object * judge + tie", table, **options), table
