"""New tables from a fit: drawn from the model, from the judgments, or from the clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from ..columns import FloatArray
from ..comparisons import Comparisons
from ..covariances import clustered
from ..errors import DesignError
from ..results import LLBTResults, check_fit
from ..statistics import as_generator, check_number


def simulate(res: LLBTResults, n: int = 1, *, rng: np.random.Generator | int | None = None) -> tuple[Comparisons, ...]:
    """Return new tables drawn from a fit, the totals of the comparisons as they are.

    Parameters
    ----------
    res : LLBTResults
    n : int
        How many tables.
    rng : numpy.random.Generator or int, optional

    Returns
    -------
    tuple of Comparisons
        Without clusters: the model says nothing about which cluster a judgment comes from. A fractional total is
        rounded up with the probability of its fraction, else down.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> one, other = llbt.simulate(res, 2, rng=1)
    >>> one.n_judgments
    960
    """
    check_fit("simulate", res)
    check_number("simulate", n, least=1)
    c = res.comparisons
    drawn = draw_parametric(res.solution.means, n, as_generator(rng, "simulate"))
    note = "counts simulated from " + repr(res.specification.formula)
    notes = (*c.notes, note, *(("clusters forgotten",) if c.clusters else ()))
    return tuple(replace(with_counts(c, counts), cluster_counts=None, notes=notes) for counts in drawn)


def with_counts(c: Comparisons, counts: FloatArray) -> Comparisons:
    """Return a table with other counts (S, C); it keeps its tie category, with or without ties."""
    whole = counts if c.has_ties else np.column_stack([counts[:, 0], np.zeros(len(counts)), counts[:, 1]])
    return replace(c, counts=whole.astype(np.float64), cluster_counts=None)


def draw_parametric(means: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw tables with the totals and the probabilities of expected counts (S, C), shape (n, S, C)."""
    totals = means.sum(axis=1)
    nearest = np.round(totals)
    totals = np.where(np.isclose(totals, nearest, rtol=1e-9), nearest, totals)  # fitted counts add up to rounding
    floor = np.floor(totals)
    drawn = floor + (rng.random((n, len(totals))) < totals - floor)
    return rng.multinomial(drawn.astype(np.int64), _normed(means)).astype(np.float64)


def draw_judgments(res: LLBTResults, n: int, rng: np.random.Generator) -> FloatArray:
    """Resample the judgments within each comparison, shape (n, S, C)."""
    counts = _whole_counts(res)
    totals = counts.sum(axis=1)
    return rng.multinomial(totals.astype(np.int64), _normed(counts), size=(n, len(totals))).astype(np.float64)


def draw_clusters(res: LLBTResults, name: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Resample whole clusters, shape (n, S, C); a comparison whose clusters were not drawn has total 0."""
    _whole_counts(res)
    lines = clustered(res.comparisons, name, (name,))
    size, cells = res.counts.shape
    shape = (lines.size, size * cells)
    column = (lines.rows[:, None] * cells + np.arange(cells)).ravel()
    by_cluster = csr_array((lines.counts.ravel(), (np.repeat(lines.codes, cells), column)), shape=shape)
    weights = rng.multinomial(lines.size, np.full(lines.size, 1 / lines.size), size=n).astype(np.float64)
    return np.asarray((by_cluster.T @ weights.T).T).reshape(n, size, cells)


def _whole_counts(res: LLBTResults) -> FloatArray:
    counts = res.counts
    if not np.all(counts == np.floor(counts)):
        raise DesignError(
            "bootstrap: the table has fractional counts, which are not judgments that could be resampled; "
            "use resample='parametric'."
        )
    return counts


def _normed(weights: FloatArray) -> FloatArray:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
