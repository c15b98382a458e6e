"""Shares of outcomes among a machine's verdicts, corrected by the table of its verdicts and people's labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..core.columns import FloatArray
from .calibration_units import Source, Units


def corrected_shares(units: Units) -> pd.DataFrame:
    """Return machine, pair, outcome, labels, verdicts, estimate and std_error; see `Calibration.rogan_gladen`.

    With M[h, k] the share of verdicts k where people say h, the shares q of a pair solve Mᵀ q = the shares of verdicts.
    By the delta method the covariance of q is M⁻ᵀ (cov of the shares + Σ_h q_h² cov of M's row h) M⁻¹. NaN if the table
    has no inverse. If a pair is shown in both orders, outcomes are from the side of the object whose name sorts first.
    """
    human = _tallies(units, units.human)
    rows = []
    for machine in units.machines:
        verdicts = _tallies(units, machine)
        rows += _of_machine(units, str(machine.name), human, verdicts)
    return pd.DataFrame(rows)


def _tallies(units: Units, source: Source) -> FloatArray:
    """Return the shares of the outcomes in each unit, from the side of the first name of its pair, shape (U, K)."""
    flip = np.array(units.table.response.flip)
    i, j = units.table.pairs[source.comparison].T
    outcomes = np.where(i > j, flip[source.outcomes], source.outcomes)
    shares = np.zeros((units.size, len(flip)))
    np.add.at(shares, (source.unit, outcomes), source.share)
    return shares


def _of_machine(units: Units, name: str, human: FloatArray, verdicts: FloatArray) -> list[dict[str, object]]:
    lab, outcomes = units.labelled, units.table.response.outcomes
    table = human[lab].T @ verdicts[lab]
    rows = table.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = table / rows[:, None]
    try:
        back = np.linalg.inv(shares).T
    except np.linalg.LinAlgError:
        back = np.full(shares.shape, np.nan)
    records: list[dict[str, object]] = []
    for k, pair in enumerate(units.pairs):
        mine = units.pair == k
        of_all, n = verdicts[mine].mean(axis=0), int(mine.sum())
        estimate = back @ of_all
        middle = (np.diag(of_all) - np.outer(of_all, of_all)) / n
        middle = middle + sum(
            q**2 * (np.diag(share) - np.outer(share, share)) / total
            for q, share, total in zip(estimate, shares, rows, strict=True)
        )
        error = np.sqrt(np.maximum(np.diag(back @ middle @ back.T), 0.0))
        own = human[mine & lab].mean(axis=0) if (mine & lab).any() else np.full(len(outcomes), np.nan)
        records += [
            {
                "machine": name,
                "pair": pair,
                "outcome": outcome,
                "labels": own[h],
                "verdicts": of_all[h],
                "estimate": estimate[h],
                "std_error": error[h],
            }
            for h, outcome in enumerate(outcomes)
        ]
    return records
