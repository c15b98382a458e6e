"""Clustered judgments, and fits of them without warnings."""

import warnings

import numpy as np
import pandas as pd
from scipy import special
from support.fits import fit_by

import llbt
from llbt import Comparisons, LLBTResults


def quietly(formula: str, c: Comparisons, **options: object) -> LLBTResults:
    """Fit with every warning an error, but for few clusters."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", llbt.errors.ClusterWarning)
        return fit_by(formula, c, **options)


def close(found, expected, *, rtol=0.0, atol=0.0):
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=rtol, atol=atol)


def free_places(res: LLBTResults) -> list[int]:
    return [k for k, name in enumerate(res.names) if name not in res.fixed]


def free_cov(res: LLBTResults) -> np.ndarray:
    free = free_places(res)
    return res.cov_params().to_numpy()[np.ix_(free, free)]


DRAS = llbt.load_dataset("dras_table1")


def judged(
    judges: int = 12, items: int = 9, rows: int = 400, *, seed: int = 0, order: bool = False, **roles: object
) -> Comparisons:
    """Judgments of four objects by judges who differ, on items; `roles` say what is a covariate and what a cluster."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(0, 0.5, (judges, 4)) + np.array([0.5, 0.2, 0.0, -0.3])
    judge = np.r_[np.arange(judges), rng.integers(0, judges, rows - judges)]
    pairs = np.array([rng.choice(4, 2, replace=False) for _ in range(rows)])
    u = taste[judge, pairs[:, 0]] - taste[judge, pairs[:, 1]]
    p = special.softmax(np.column_stack([u, np.full(rows, -0.4), -u]), axis=1)
    frame = pd.DataFrame(
        {
            "object_i": np.array(list("ABCD"))[pairs[:, 0]],
            "object_j": np.array(list("ABCD"))[pairs[:, 1]],
            "outcome": [rng.choice(["i", "tie", "j"], p=q) for q in p],
            "judge": [f"J{k:02d}" for k in judge],
            "item": [f"s{k:02d}" for k in rng.integers(0, items, rows)],
        }
    )
    frame["both"] = frame["judge"] + "/" + frame["item"]
    frame["age"] = 20.0 + judge
    return llbt.from_judgments(frame, order=order, **roles)
