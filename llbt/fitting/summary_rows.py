"""The rows of a printed fit: parameters and references, their order, and the choice of rows if there are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from ..core.columns import FloatArray
from .estimates import Estimates

Sort = Literal["name", "estimate"]

MOST_ROWS = 60  # most rows of a printout


@dataclass(frozen=True, eq=False)
class CoefficientRows:
    """Parameters, references (0) and effects that are minus the sum of parameters. R rows.

    Attributes
    ----------
    names : list of str
    terms : list of str
        The term of each row in the formula.
    blocks : list of str
        The block of each row: worth, tie, bad, grade, order.
    estimate, error, statistic, p_value : ndarray, shape (R,)
    without : ndarray of bool, shape (R,)
        Rows that are not parameters.
    """

    names: list[str]
    terms: list[str]
    blocks: list[str]
    estimate: FloatArray
    error: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    without: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def sorted(self) -> CoefficientRows:
        """Return the rows of each term by their estimates, the largest first; NaN last."""
        places = {term: k for k, term in enumerate(dict.fromkeys(self.terms))}
        order = np.lexsort((-self.estimate, np.array([places[term] for term in self.terms]))).tolist()
        return CoefficientRows(
            [self.names[k] for k in order],
            [self.terms[k] for k in order],
            [self.blocks[k] for k in order],
            self.estimate[order],
            self.error[order],
            self.statistic[order],
            self.p_value[order],
            self.without[order],
        )

    def most_informative(self, most: int, among: list[int]) -> tuple[int, ...]:
        """Return the rows to print. Short terms are printed in full; long terms share the remaining lines.

        Objects with the highest worths come first; in other terms, rows with the largest statistics. References and
        sums are always printed.
        """
        if len(among) <= most + 1:  # a line "1 row hidden" would be as long as the row
            return tuple(among)
        terms = list(dict.fromkeys(self.terms[k] for k in among))
        free = {t: [k for k in among if self.terms[k] == t and not self.without[k]] for t in terms}
        chosen_rows = [k for k in among if self.without[k]]
        left = max(most - len(chosen_rows), 0)
        for done, term in enumerate(sorted(terms, key=lambda t: len(free[t]))):
            each = max(1, left // (len(terms) - done))
            chosen = sorted(free[term], key=self._informs, reverse=True)[:each]
            chosen_rows += chosen
            left -= len(chosen)
        return tuple(sorted(chosen_rows))

    def _informs(self, k: int) -> float:
        """Return the values by which rows of a term are chosen for printing."""
        of_objects = self.blocks[k] == "worth" and ":" not in self.terms[k]
        value = self.estimate[k] if of_objects else abs(self.statistic[k])
        return float("-inf") if np.isnan(value) else float(value)


def coefficient_rows(res: Estimates) -> CoefficientRows:
    """Return the rows of a fit: its parameters, references at 0, and effects that follow from their sum."""
    design = res.design
    zeros, sums = design.reference_rows, design.sums
    positions = [position for position, *_ in zeros] + [position for position, *_ in sums]
    names = np.insert(np.array(res.names, dtype=object), positions, [row[1] for row in (*zeros, *sums)]).tolist()
    added = ["worth"] * len(zeros) + [design.blocks[columns[0]] for _, _, columns in sums]
    blocks = np.insert(np.array(design.blocks, dtype=object), positions, added).tolist()
    of_zeros = [_term_of(name, position, design.terms) for position, name in zeros]
    of_added = of_zeros + [design.terms[columns[0]] for _, _, columns in sums]
    terms = np.insert(np.array(design.terms, dtype=object), positions, of_added).tolist()
    none = np.full(len(zeros), np.nan)
    estimate, error, statistic, p_value = (
        np.asarray(np.insert(values.to_numpy(dtype=np.float64), positions, [*start, *value]), dtype=np.float64)
        for values, start, value in zip(
            (res.params, res.bse, res.tvalues, res.pvalues),
            (np.zeros(len(zeros)), none, none, none),
            _of_sums(res),
            strict=True,
        )
    )
    without = np.insert(np.zeros(len(res.names), dtype=np.bool_), positions, True)
    return CoefficientRows(names, terms, blocks, estimate, error, statistic, p_value, without)


def _term_of(name: str, position: int, terms: tuple[str, ...] | list[str]) -> str:
    """Return the term of a reference: the term of its parameters, or its own if there are none."""
    beside = [terms[k] for k in (position - 1, position) if 0 <= k < len(terms)]
    return next((term for term in beside if name.startswith(f"{term}[")), name)


def _of_sums(res: Estimates) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return estimate, error, statistic and p-value of effects that are minus a sum of parameters."""
    rows = np.zeros((len(res.design.sums), len(res.names)))
    for row, (_, _, columns) in zip(rows, res.design.sums, strict=True):
        row[list(columns)] = -1.0
    if not len(rows):
        return rows[:, 0], rows[:, 0], rows[:, 0], rows[:, 0]
    estimate = np.array([-np.sum(res.params.to_numpy()[list(columns)]) for _, _, columns in res.design.sums])
    error = np.sqrt(np.diag(res.combined_cov(rows)))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(error > 0, estimate / error, np.nan)
    return estimate, error, statistic, 2 * stats.t.sf(np.abs(statistic), res.df_of(rows))
