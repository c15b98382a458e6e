"""Response patterns drawn from a fit."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..base.budgets import refuse_draws, refuse_large
from ..core.patterns import MISSING, Patterns, gathered_patterns
from ..errors import DesignError
from ..fitting.protocols import WithPatterns
from ..kernel.independent_pairs import IndependentPairs


def drawn_patterns(res: WithPatterns, n: int, rng: np.random.Generator) -> tuple[Patterns, ...]:
    """Return patterns drawn from a fit; numbers of judges and missing answers, and covariates, are as in the data.

    If missing answers are not modelled, each drawn judge leaves out the same answers as a judge of the data.
    """
    p, likelihood = res.patterns, res.whole_likelihood
    if np.any(p.counts % 1 > 0):
        raise DesignError("some counts of patterns are not whole numbers", "Give whole counts.")
    refuse_draws("keeping the patterns of {n} tables", n, float(p.n_judges) * p.answers.shape[1] / 8)
    if not isinstance(likelihood.space, IndependentPairs):
        numbers = float(likelihood.space.number) * (2 * p.answers.shape[1] + len(likelihood.products))
        refuse_large("the probabilities of all patterns", 8 * numbers, "Fit fewer objects.")
    each = np.repeat(np.arange(len(p)), p.counts.astype(np.int64))
    group = likelihood.group[each]
    columns = tuple(column.take(each) for column in p.columns)
    missing = res.missingness
    beside = len(missing.names) if missing else 0
    notes = (*p.notes, f"patterns simulated from {res.specification.formula!r}")
    tables = []
    for _ in range(n):
        answers = np.empty((len(each), p.answers.shape[1]), dtype=np.int8)
        for g in range(len(likelihood.eta)):
            inside = np.flatnonzero(group == g)
            weights = likelihood.weights(g, res.solution.params)
            answers[inside] = likelihood.space.drawn(weights, len(inside), rng)
        if missing:
            logits = missing.logits(res.solution.params[len(res.solution.params) - beside :])
            gone = rng.random(answers.shape) < special.expit(logits.level + logits.slope * answers)
        else:
            gone = p.answers[each] == MISSING
        answers[gone] = MISSING
        tables.append(
            gathered_patterns(
                p.objects,
                answers,
                p.kind,
                levels=p.levels,
                columns=columns,
                object_columns=p.object_columns,
                times=p.times,
                notes=notes,
            )
        )
    return tuple(tables)
