"""Check that fits can be compared: same data and link, and one model's predictors are among the other's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, hstack

from ..core.basis import of_comparisons
from ..core.columns import FloatArray
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..errors import DesignError, listed
from ..fitting.estimates import Estimates
from ..fitting.protocols import FitLike
from ..kernel.indexed_rows import Gathered
from ..kernel.likelihood import Problem
from ..kernel.solvers import independent_columns


def check_tables(results: Sequence[Estimates]) -> None:
    """Raise for fits of different tables."""
    first = results[0].comparisons
    for k, res in enumerate(results[1:], start=1):
        c = res.comparisons
        if c.same_counts(first):
            continue
        why = of_comparisons(first).difference(of_comparisons(c))
        differ = sorted(set(first.covariates) ^ set(c.covariates))
        if differ and not why:
            differences = [
                (f"m{n} was fitted to {len(t)} comparisons" if n == 0 else f"m{n} to {len(t)}")
                + (f" ({', '.join(gone)} pooled)" if (gone := [d for d in differ if d not in t.covariates]) else "")
                for n, t in ((0, first), (k, c))
            ]
            raise DesignError(f"{differences[0]}, {differences[1]}", f"Fit both to the table with {', '.join(differ)}.")
        raise DesignError(
            f"m0 was fitted to {', '.join(first.sizes())}, m{k} to {', '.join(c.sizes())}; deviances of different "
            f"tables cannot be compared{': ' + why if why else ''}",
            "Fit both to one table.",
        )


def same_answers(one: FitLike, other: FitLike) -> bool:
    """Whether two fits have the same answers and kind of choice, so that their likelihoods can be compared."""
    a, b = one.answers, other.answers
    if isinstance(a, Rankings) and isinstance(b, Rankings):
        if one.specification.best_worst != other.specification.best_worst:
            return False
        return a is b or (
            (a.objects, a.kind) == (b.objects, b.kind)
            and all(np.array_equal(x, y) for x, y in ((a.items, b.items), (a.places, b.places), (a.starts, b.starts)))
            and np.array_equal(a.counts, b.counts)
        )
    if isinstance(a, Patterns) and isinstance(b, Patterns):
        same = (a.objects, a.kind, a.levels) == (b.objects, b.kind, b.levels)
        return a is b or (same and np.array_equal(a.answers, b.answers) and np.array_equal(a.counts, b.counts))
    return False


def check_links(results: Sequence[Estimates]) -> None:
    """Raise for fits with different links, because no link is a special case of another."""
    links = list(dict.fromkeys(res.specification.link for res in results))
    if any(res.response != results[0].response for res in results):
        raise DesignError(
            f"the fits have different links ({listed(links)}), and a test compares nested models of one link",
            "Compare their .aic or .bic, or llbt.held_out([m0, m1]).",
        )


def within(small: Estimates, large: Estimates) -> bool:
    """Whether one model's linear predictors are among the other's."""
    return predictors_within(small.problem(), large.problem())


def predictors_within(small: Problem, large: Problem) -> bool:
    """Whether one problem's predictors, including offsets of held parameters, are among the other's."""
    both = side_by_side(large, small)
    return not independent_columns(both)[large.predictors[0].shape[1] :].any()


def side_by_side(large: Problem, small: Problem) -> Problem:
    """Return the predictors of both models side by side, with the difference of their offsets as last column."""
    parts = zip(large.predictors, small.predictors, small.offsets - large.offsets, strict=True)
    return replace(large, predictors=tuple(_hstacked(*part) for part in parts), offsets=0 * large.offsets)


def _hstacked(large: Gathered, small: Gathered, column: FloatArray) -> Gathered:
    return Gathered.of(csr_array(hstack([large.tocsr(), small.tocsr(), column[:, None]])))
