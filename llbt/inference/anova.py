"""Analysis of deviance: likelihood ratio tests of nested fits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array, hstack

from ..errors import DesignError
from ..results import LLBTResults
from ..solvers import Problem, independent_columns
from ..statistics import chi2_p_value
from ..table import Field, Table


def anova(*results: LLBTResults) -> Table:
    """Compare nested fits of one table by likelihood ratio tests.

    Parameters
    ----------
    *results : LLBTResults
        Two or more fits, in any order; each is tested against the next larger one.

    Returns
    -------
    Table
        One row per fit, by falling residual df: model (formula), df_resid, deviance, df and statistic (differences to
        the row above) and p_value (χ²).

    Raises
    ------
    DesignError
        For fits of different tables, and fits that are not nested.

    Notes
    -----
    Dras (2015, section 3) compares models by differences of their deviances.

    Examples
    --------
    >>> import llbt
    >>> table = llbt.load_dataset("dras_table1")
    >>> m0, m1 = llbt.fit("object + tie", table), llbt.fit("object * judge + tie", table)
    >>> llbt.anova(m0, m1).to_frame()[["df_resid", "df"]].iloc[1].tolist()
    [35.0, 9.0]
    """
    if len(results) < 2:
        raise DesignError(f"anova compares two or more fits; {len(results)} given.")
    for k, res in enumerate(results):
        if not isinstance(res, LLBTResults):
            raise DesignError(f"anova: m{k} is a {type(res).__name__}; it compares fits, as llbt.fit returns them.")
    _check_tables(results)
    ranked = sorted(enumerate(results), key=lambda numbered: -numbered[1].df_resid)
    for (a, small), (b, large) in itertools.pairwise(ranked):
        _check_nested(f"m{a}", small, f"m{b}", large)
    fits = [fit for _, fit in ranked]
    df = [math.nan, *(float(a.df_resid - b.df_resid) for a, b in itertools.pairwise(fits))]
    drop = [math.nan, *(a.deviance - b.deviance for a, b in itertools.pairwise(fits))]
    p = [math.nan if math.isnan(d) else chi2_p_value(d, n) for d, n in zip(drop, df, strict=True)]
    return Table(
        (
            Field("model", "Model", [fit.specification.formula for fit in fits]),
            Field("df_resid", "Resid. Df", [fit.df_resid for fit in fits], "count"),
            Field("deviance", "Resid. Dev", [fit.deviance for fit in fits], "statistic"),
            Field("df", "Df", df, "count"),
            Field("statistic", "Deviance", drop, "statistic"),
            Field("p_value", "Pr(>Chi)", p, "p_value"),
            Field("", "", p, "stars"),
        ),
        title="Analysis of deviance",
    )


def _check_tables(results: Sequence[LLBTResults]) -> None:
    first = results[0].comparisons
    for k, res in enumerate(results[1:], start=1):
        c = res.comparisons
        if c == first:
            continue
        differ = sorted(set(first.covariates) ^ set(c.covariates))
        if differ:
            said = [
                (f"m{n} was fitted to {len(t)} comparisons" if n == 0 else f"m{n} to {len(t)}")
                + (f" ({', '.join(gone)} pooled)" if (gone := [d for d in differ if d not in t.covariates]) else "")
                for n, t in ((0, first), (k, c))
            ]
            raise DesignError(f"{said[0]}, {said[1]}: fit both to the table with {', '.join(differ)}.")
        raise DesignError(
            f"m0 was fitted to {', '.join(first.sizes())}, m{k} to {', '.join(c.sizes())}: deviances of "
            "different tables cannot be compared; fit both to one table."
        )


def _check_nested(a: str, small: LLBTResults, b: str, large: LLBTResults) -> None:
    """Check that the linear predictors of the small model are among those of the large one."""
    outer, inner = large.problem(), small.problem()
    zero = np.zeros(len(outer.counts))
    both = Problem(
        csr_array(hstack([outer.signed, inner.signed, (inner.signed_offset - outer.signed_offset)[:, None]])),
        csr_array(hstack([outer.tie, inner.tie, (inner.tie_offset - outer.tie_offset)[:, None]])),
        outer.counts,
        zero,
        zero,
    )
    inside = not independent_columns(both)[len(large.free) :].any()
    if inside and small.df_resid > large.df_resid:
        return
    what = "the same model" if inside else "not nested"
    raise DesignError(
        f"{a} ({small.specification.formula}) and {b} ({large.specification.formula}) are {what}, so their deviances "
        "cannot be tested against each other; compare their .aic or .bic."
    )
