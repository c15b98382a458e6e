"""The errors of one metric that another metric does not make."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from ..base.arguments import checked
from ..base.table import Field, Record, Table, counted
from ..core.columns import IntArray
from ..errors import OptionError, kind_of
from .decision_records import DecisionTable


@dataclass(frozen=True, repr=False, eq=False)
class ErrorAgreement(Record):
    """Errors that one metric makes and another does not; made by `error_agreement`. K metrics.

    Attributes
    ----------
    metrics : tuple of label, length K
    type_1, type_2 : ndarray of int, shape (K, K)
        On the diagonal, the errors of the metric. Elsewhere, the errors of the row's metric on pairs that the column's
        metric gets right.
    n : int
        Number of pairs on which all metrics are tested.
    notes : tuple of str
    """

    metrics: tuple[Hashable, ...]
    type_1: IntArray
    type_2: IntArray
    n: int
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return metric, other, type_1, type_2; rows with the metric itself have all of its errors."""
        size = len(self.metrics)
        others = ["(all errors)" if a == b else self.metrics[b] for a, b in np.ndindex(size, size)]
        return Table(
            (
                Field("metric", "Metric", [name for name in self.metrics for _ in range(size)]),
                Field("other", "Right", others),
                Field("type_1", "Type I", self.type_1.ravel(), "count"),
                Field("type_2", "Type II", self.type_2.ravel(), "count"),
            ),
            title="Errors of a metric where another is right",
            head=(counted(self.n, "pair"),),
            notes=self.notes,
        )


@checked
def error_agreement(decisions: Mapping[str, DecisionTable]) -> ErrorAgreement:
    """Return the number of errors of each metric, and the number on pairs that another metric gets right.

    Parameters
    ----------
    decisions : mapping of metric to DecisionTable
        Decision tables of the same pairs of systems.

    Returns
    -------
    ErrorAgreement

    Raises
    ------
    OptionError
        If `decisions` is not a mapping of decision tables, or the tables have different pairs.

    Notes
    -----
    A metric gets a pair right if it makes neither error. Type I and II are named as in `metrics.decisions`; section 5
    and Figure 4 of [1]_ exchange the names. Pairs on which a test is undefined for some metric are left out.

    References
    ----------
    .. [1] Mathur, N., Baldwin, T. & Cohn, T. (2020). Tangled up in BLEU: reevaluating the evaluation of automatic
       machine translation evaluation metrics. ACL, 4984-4997, figure 5.

    Examples
    --------
    >>> import llbt
    >>> humans = ([0.2, -0.1, 0.0], [0.01, 0.02, 0.9])
    >>> one = llbt.metrics.decisions_from_tests([2.1, -0.3, 1.0], [0.001, 0.4, 0.03], *humans)
    >>> other = llbt.metrics.decisions_from_tests([9.0, -4.0, 3.0], [0.001, 0.01, 0.2], *humans)
    >>> llbt.metrics.error_agreement({"one": one, "other": other}).type_2.tolist()
    [[1, 1], [0, 0]]
    """
    tables = list(decisions.values()) if isinstance(decisions, Mapping) else []
    if not tables or not all(isinstance(table, DecisionTable) for table in tables):
        given = "no table" if isinstance(decisions, Mapping) and not decisions else kind_of(decisions)
        raise OptionError(f"decisions= is {given}", expected="a mapping of metric to metrics.decisions(…)")
    first = tables[0]
    keys = [(t.object_i, t.object_j, tuple(t.groups[k] for k in t.group), t.alpha) for t in tables]
    for name, key in zip(decisions, keys, strict=True):
        if key != keys[0]:
            raise OptionError(
                f"{name!r} has other pairs of systems or another α than the first table",
                expected="tables with the same pairs and the same α",
            )
    defined = np.all([t.outcome != "undefined" for t in tables], axis=0)
    one = np.array([table.type_1[defined] for table in tables])
    two = np.array([table.type_2[defined] for table in tables])
    right = ~(one | two)
    counts = [errors.astype(np.int64) @ right.T.astype(np.int64) for errors in (one, two)]
    for errors, count in zip((one, two), counts, strict=True):
        np.fill_diagonal(count, errors.sum(axis=1))
    gone = len(first.group) - int(defined.sum())
    notes = (f"left out: {counted(gone, 'pair')} without a p-value",) if gone else ()
    return ErrorAgreement(tuple(decisions), counts[0], counts[1], int(defined.sum()), notes)
