"""The plain numpy prototype that the issue measured: counts by bincount, Newton steps on J × J arrays, no checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import linalg

from .inputs import OUTCOMES, Array

BLOCK = 1 << 18


def counts_of_codes(i: Array, j: Array, outcome: Array, size: int) -> Array:
    """Return counts (J, J, 3) in one pass over blocks of rows."""
    cells = size * size * 3
    found = np.zeros(cells, dtype=np.int64)
    rows = max(BLOCK, cells)  # a block is worth the pass over the cells that its bincount costs
    codes = np.empty(min(rows, len(i)), dtype=np.int64)
    for start in range(0, len(i), rows):
        stop = min(start + rows, len(i))
        block = codes[: stop - start]
        np.multiply(i[start:stop], size, out=block, dtype=np.int64)
        block += j[start:stop]
        block *= 3
        block += outcome[start:stop]
        found += np.bincount(block, minlength=cells)
    return found.reshape(size, size, 3).astype(float)


def fit_codes(i: Array, j: Array, outcome: Array, size: int) -> dict[str, Any]:
    return fit(counts_of_codes(i, j, outcome, size))


def fit_strings(frame: pd.DataFrame) -> dict[str, Any]:
    both = pd.concat([frame["left"], frame["right"]], ignore_index=True)
    codes, names = pd.factorize(both, sort=True)
    outcome = np.asarray(pd.Categorical(frame["outcome"], categories=list(OUTCOMES)).codes)
    return fit_codes(codes[: len(frame)], codes[len(frame) :], outcome, len(names))


def fit(counts: Array) -> dict[str, Any]:
    """Return estimates, standard errors and the log-likelihood; λ of the last object is 0."""
    size = len(counts)
    params = np.zeros(size + 1)
    for _ in range(50):
        score, information, value = _moments(counts, params)
        factor = linalg.cho_factor(information, lower=True, overwrite_a=True, check_finite=False)
        step = linalg.cho_solve(factor, score, check_finite=False)
        params += step
        if score @ step < 1e-18:
            break
    inverse, _ = linalg.lapack.dpotri(factor[0], lower=1)
    error = np.sqrt(np.diag(inverse))
    found = {"log_odds": np.r_[2 * params[: size - 1], 0], "se": error[: size - 1], "log_likelihood": value}
    found |= {"tie": params[size - 1], "tie_se": error[size - 1]}
    return found | {"order": params[size], "order_se": error[size]}


def _moments(counts: Array, params: Array) -> tuple[Array, Array, float]:
    size = len(counts)
    totals = counts.sum(axis=2)
    log_worth = np.r_[params[: size - 1], 0]
    worth, tie, shift = np.exp(log_worth), np.exp(params[size - 1]), np.exp(params[size])
    up = np.outer(worth * shift, 1 / worth)
    down = 1 / up
    norm = up + down
    norm += tie
    mean = (up - down) / norm
    tied = tie / norm
    lead = counts[:, :, 0] - counts[:, :, 2] - totals * mean
    cross = -totals * mean * tied
    weight = totals * (1 - tied - mean**2)
    score = np.r_[(lead.sum(axis=1) - lead.sum(axis=0))[:-1], counts[:, :, 1].sum() - (totals * tied).sum(), lead.sum()]
    information = np.zeros((size + 1, size + 1))
    both = (weight + weight.T)[:-1, :-1]
    np.negative(both, out=information[: size - 1, : size - 1])
    rows, columns = weight.sum(axis=1), weight.sum(axis=0)
    information[np.arange(size - 1), np.arange(size - 1)] += (rows + columns)[:-1]
    information[size - 1, : size - 1] = information[: size - 1, size - 1] = (cross.sum(axis=1) - cross.sum(axis=0))[:-1]
    information[size, : size - 1] = information[: size - 1, size] = (rows - columns)[:-1]
    information[size - 1, size - 1] = (totals * tied * (1 - tied)).sum()
    information[size, size - 1] = information[size - 1, size] = cross.sum()
    information[size, size] = weight.sum()
    won, lost = counts[:, :, 0].sum(axis=1), counts[:, :, 2].sum(axis=1)
    value = (won - lost) @ log_worth - (counts[:, :, 0] - counts[:, :, 2]).sum(axis=0) @ log_worth
    value += counts[:, :, 1].sum() * params[size - 1] + (won.sum() - lost.sum()) * params[size]
    return score, information, float(value - (totals * np.log(norm)).sum())


def bootstrap(counts: Array, resamples: int, seed: int = 1) -> Array:
    """Resample judgments within comparisons and refit each from the estimate by chord steps, shape (resamples, p)."""
    size = len(counts)
    found = fit(counts)
    start = np.r_[found["log_odds"][:-1] / 2, found["tie"], found["order"]]
    factor = linalg.cho_factor(_moments(counts, start)[1])
    i, j = np.nonzero(counts.sum(axis=2))
    cells = counts[i, j]
    totals = cells.sum(axis=1)
    share = cells / totals[:, None]
    rng = np.random.default_rng(seed)
    replicates = np.empty((resamples, size + 1))
    for b in range(resamples):
        drawn = rng.multinomial(totals.astype(np.int64), share)
        replicates[b] = _chord(drawn[:, 0] - drawn[:, 2], drawn[:, 1].sum(), totals, i, j, start, factor)
    return replicates


def _chord(lead: Array, ties: float, totals: Array, i: Array, j: Array, start: Array, factor: Any) -> Array:
    size = len(start) - 1
    params = start.copy()
    for _ in range(100):
        log_worth = np.r_[params[: size - 1], 0]
        up = np.exp(log_worth[i] - log_worth[j] + params[size])
        down = 1 / up
        norm = up + down + np.exp(params[size - 1])
        excess = lead - totals * (up - down) / norm
        worth = np.bincount(i, excess, size) - np.bincount(j, excess, size)
        tied = ties - np.exp(params[size - 1]) * (totals / norm).sum()
        score = np.r_[worth[:-1], tied, excess.sum()]
        step = linalg.cho_solve(factor, score, check_finite=False)
        params += step
        if score @ step < 1e-16:
            break
    return params
