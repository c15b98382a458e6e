"""The evidence of an audit of lists: the lists by judge, and their expectations under one worth for each object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.columns import Coded, FloatArray, IntArray, Label
from ..core.comparisons import Comparisons
from ..core.rankings import Rankings
from ..errors import DesignError, OptionError, listed
from ..fitting.implied_pair_fit import independent_in
from ..fitting.ranking_estimates import names_of_ties
from ..fitting.ranking_lists import Ghost, lists_of, without_column
from ..formulas.design import build_design
from ..kernel.likelihood import inverse
from ..kernel.list_firth import fit_reduced
from ..kernel.list_fit import ListFit, Unbounded, fit_lists
from ..kernel.list_likelihood import Lists
from ..kernel.list_units import ListUnits

_MANY = 60  # objects up to which Firth's bias reduction takes seconds at most
_PRIOR = 1.0  # wins and as many losses of each object, where estimates are infinite
_FURTHEST = 5.0  # log-worths beyond which estimates may be infinite
_ENTRIES = 5e7  # of the information of all units, at once


@dataclass(frozen=True, eq=False)
class ListExpected:
    """A fit of worths, and of ties if there are any.

    Attributes
    ----------
    lists : Lists
        The lists; log δ is held at 0 where it has no finite estimate.
    fit : ListFit
        The maximum likelihood fit. If estimates are infinite or nearly so: the fit with Firth's bias reduction, or with
        a prior for many objects.
    covariance : ndarray, shape (p + T, p + T)
    objects : ndarray of int, shape (U,)
        The object of each row of worths.
    endless : str
        The parameters along which the likelihood rises without bound, although worths are finite for fixed ties.
    """

    lists: Lists
    fit: ListFit
    covariance: FloatArray
    objects: IntArray
    endless: str

    def units(self, of: Coded) -> ListUnits:
        """Return the lists by a column."""
        return ListUnits.of(self.lists, self.fit.params, self.covariance, of.codes, len(of.levels))


@dataclass(frozen=True, eq=False)
class ListEvidence:
    """Lists of objects and their judges. L lists of J objects.

    Attributes
    ----------
    rankings : Rankings
    judge, prompt : Coded or None
        Codes (L,).
    names : tuple of str
        The columns of judge and prompt.
    """

    rankings: Rankings
    judge: Coded | None
    prompt: Coded | None
    names: tuple[str, str]

    @property
    def by_object(self) -> FloatArray:
        """How many lists have each object, shape (J,)."""
        r = self.rankings
        return np.bincount(r.items, r.counts[r.lists], len(r.objects)).astype(np.float64)

    @property
    def by_judge(self) -> FloatArray:
        """How many lists each judge gave, shape (G,)."""
        if self.judge is None:
            return np.zeros(0)
        return np.bincount(self.judge.codes, self.rankings.counts).astype(np.float64)

    @property
    def units(self) -> dict[str, Coded]:
        """The columns that group lists, each with two labels or more."""
        named = zip(self.names, (self.judge, self.prompt), strict=True)
        return {name: column for name, column in named if column is not None and len(column.levels) > 1}

    @cached_property
    def pairs(self) -> Comparisons:
        """The comparisons that the lists imply."""
        return replace(self.rankings, columns=(), cluster_columns=()).to_comparisons()

    @cached_property
    def parts(self) -> list[tuple[Label, ...]]:
        """The groups of objects that lists connect."""
        return list(self.pairs.components())

    @cached_property
    def expected(self) -> ListExpected:
        """Expectations under one worth for each object, for objects that the lists connect.

        Raises
        ------
        DesignError
            For ties of so many objects that their sets cannot be summed.
        """
        r = replace(self.rankings, columns=(), cluster_columns=())
        design = build_design("object", self.pairs)
        orders = np.setdiff1d(r.tied, [1])
        lists = lists_of(r, self.pairs, design, independent_in(design, self.pairs), orders, sequential=False)
        lists, fit, endless = _fitted(lists, design.names)
        cov = inverse(fit.information)
        return ListExpected(lists, fit, cov, design.worth.units["object"], endless)

    @property
    def inexpectable(self) -> str:
        """Why lists cannot be compared with a fit; empty if they can."""
        if len(self.parts) > 1:
            return "objects are not connected: see disconnected"
        units = max((len(column.levels) for column in self.units.values()), default=1)
        if units * len(self.rankings.objects) ** 2 > _ENTRIES:
            return f"not searched: {units:,} units times {len(self.rankings.objects):,} objects squared"
        try:
            _ = self.expected
        except DesignError as refused:
            return refused.found
        return ""


def _fitted(lists: Lists, names: tuple[str, ...]) -> tuple[Lists, ListFit, str]:
    """Return the maximum, or a penalized fit if it does not exist; and the parameters that are infinite with free δ."""
    endless = ""
    try:
        fit = fit_lists(lists)
        if fit.converged and np.abs(fit.params).max(initial=0.0) <= _FURTHEST:
            return lists, fit, ""
    except Unbounded as error:
        every = [*names[: lists.matrix.shape[1]], *names_of_ties(lists.orders)]
        endless = listed([name for name, by in zip(every, error.direction, strict=True) if abs(by) > 0.05])
    if lists.matrix.shape[0] <= _MANY:
        return lists, fit_reduced(lists), endless
    held = replace(lists, held=np.zeros(len(lists.orders)))
    whole = fit_lists(Ghost(_PRIOR).joined(held))
    ghost = lists.matrix.shape[1]
    params, information, gradient = (
        without_column(array, ghost) for array in (whole.params, whole.information, whole.gradient)
    )
    penalized = replace(whole, params=params, information=information, gradient=gradient)
    return held, penalized, endless


def lists_evidence(r: Rankings, judge: str | None, prompt: str | None) -> ListEvidence:
    """Return the evidence of lists.

    Raises
    ------
    OptionError
        For columns that the rankings do not keep.
    """
    columns = {column.name: column for column in (*r.columns, *r.cluster_columns)}
    factors = []
    for name, default in ((judge, "judge"), (prompt, "prompt")):
        if name is not None and name not in columns:
            raise OptionError(
                f"no covariate or cluster {name!r} of the lists",
                f"Keep it when the lists are made: from_rankings(…, clusters={name!r}).",
                expected=f"one of {listed(list(columns)) or 'none'}",
            )
        column = columns.get(name or default)
        factors.append(column.take(slice(None)) if column is not None else None)
    return ListEvidence(r, factors[0], factors[1], (judge or "judge", prompt or "prompt"))
