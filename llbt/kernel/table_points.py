"""The log-likelihood of a table at many points at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .indexed_rows import FloatArray
from .likelihood import Likelihood, Problem

_ENTRIES = 2_000_000  # numbers in memory at a time: points × comparisons × outcomes


@dataclass(frozen=True, eq=False)
class TablePoints:
    """The log-likelihood of a table of S comparisons with K outcomes and B predictors.

    Attributes
    ----------
    likelihood : Likelihood
    rows : tuple of B csr_array, each (S, p)
    """

    likelihood: Likelihood
    rows: tuple[csr_array, ...]

    @classmethod
    def of(cls, problem: Problem) -> TablePoints:
        """Return the log-likelihood of a problem's counts."""
        return cls(Likelihood.of(problem), tuple(rows.tocsr() for rows in problem.predictors))

    def moments(self, params: FloatArray) -> tuple[float, FloatArray, Any]:
        """Return the log-likelihood at p parameters, its gradient (p,) and minus its second derivatives (p, p)."""
        return self.likelihood.moments(params)

    def values(self, params: FloatArray) -> FloatArray:
        """Return the log-likelihood at n points (n, p), shape (n,)."""
        return np.concatenate([self._values(self._probabilities(some)) for some in self._blocks(params)])

    def slopes(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihood at n points (n, p), shape (n,), and its gradients (n, p)."""
        values, slopes = [], []
        problem = self.likelihood.problem
        for some in self._blocks(params):
            probability = self._probabilities(some)
            flat = probability.reshape(len(probability), -1)
            scores = problem.response.scores(flat, np.repeat(problem.counts.T, len(some), axis=1))
            values.append(self._values(probability))
            each = (score.reshape(-1, len(some)) for score in scores)
            slopes.append(np.asarray(sum((rows.T @ score).T for rows, score in zip(self.rows, each, strict=True))))
        return np.concatenate(values), np.concatenate(slopes)

    def _blocks(self, params: FloatArray) -> list[FloatArray]:
        size = max(1, _ENTRIES // max(1, self.likelihood.problem.counts.size))
        return [params[start : start + size] for start in range(0, len(params), size)]

    def _probabilities(self, params: FloatArray) -> FloatArray:
        """Return the probabilities of the outcomes at n points, shape (K, S, n)."""
        problem = self.likelihood.problem
        predictors = [
            rows @ params.T + offset[:, None] for rows, offset in zip(self.rows, problem.offsets, strict=True)
        ]
        return problem.response.probabilities(predictors)[0]

    def _values(self, probability: FloatArray) -> FloatArray:
        """Return Σ y log p, shape (n,); −∞ if cuts are out of order, because some outcome then has no probability."""
        counts = self.likelihood.problem.counts
        floored = np.log(np.maximum(probability, np.finfo(float).tiny))
        values = np.asarray(sum(column @ logs for column, logs in zip(counts.T, floored, strict=True)))
        return np.where((probability < 0).any(axis=(0, 1)), -np.inf, values)
