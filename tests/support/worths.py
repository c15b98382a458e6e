"""Tables and scales that tests of worths, of their picture and of tests of fit begin from."""

import itertools
import warnings

import numpy as np
import pandas as pd
from support.fits import fit_by

import llbt

TABLE1 = llbt.load_dataset("dras_table1")


def fit(formula, c, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llbt.errors.TiesWarning)
        return fit_by(formula, c, **keywords)


def rich_table():
    """Judges, ages, an object table and lengths of both sides; order kept."""
    rng = np.random.default_rng(2)
    rows = [
        {
            "object_i": i,
            "object_j": j,
            "judge": judge,
            "age": float(rng.choice([20, 30, 60])),
            "length_i": float(rng.choice([1, 2, 4])),
            "length_j": float(rng.choice([1, 2, 4])),
            "wins_i": int(rng.integers(2, 12)),
            "ties": int(rng.integers(1, 6)),
            "wins_j": int(rng.integers(2, 12)),
        }
        for i, j in itertools.permutations("abcd", 2)
        for judge in ("J1", "J2")
    ]
    return llbt.from_counts(
        pd.DataFrame(rows),
        covariates=["judge", "age"],
        side_covariates={"length": ("length_i", "length_j")},
        object_covariates=pd.DataFrame({"object": list("abcd"), "price": [3.0, 1.0, 4.0, 2.0]}),
        order=True,
    )


SCALES = {
    "log_worth": lambda lam: lam,
    "log_odds": lambda lam: 2 * lam,
    "odds_ratio": lambda lam: np.exp(2 * lam),
    "elo": lambda lam: 400 * np.log10(np.exp(2 * lam)),
    "probability": lambda lam: np.exp(2 * lam) / np.exp(2 * lam).sum(),
}


def partly_connected():
    rows = [("a", "b", 5, 2, 3), ("b", "c", 4, 1, 4), ("a", "c", 2, 2, 4)]
    rows = [(*row, "J1") for row in rows] + [("a", "b", 3, 1, 3, "J2")]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j", "judge"])
    return fit("object * judge + tie", llbt.from_counts(frame, covariates="judge"))
