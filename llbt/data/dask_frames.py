"""Frames of Dask for `sources`: pandas counts every partition, and the counts are summed as a tree.

narwhals will move its support of Dask into another package; until then it warns at every frame.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd
from narwhals import Implementation, Schema

from ..errors import JudgmentError, listed
from .distinct_rows import Frame


@dataclass(frozen=True, eq=False)
class DaskFrame:
    """A frame of Dask; counting does not keep the order of its rows.

    Attributes
    ----------
    native : dask.dataframe.DataFrame
    """

    native: Any
    implementation = Implementation.DASK

    def collect_schema(self) -> Schema:
        """Return the types of the columns, which Dask knows without computing."""
        return _in_memory(self.native._meta).collect_schema()

    def select(self, names: Sequence[str]) -> DaskFrame:
        """Return the frame with these columns only."""
        return DaskFrame(self.native[list(names)])

    def collect(self) -> Frame:
        """Return all rows in memory."""
        return _in_memory(self.native.compute())

    def tally(self, times: str) -> Frame:
        """Return the distinct rows in memory, with a column `times`: the number of rows that each stands for.

        Raises
        ------
        JudgmentError
            For values that have no hash, such as lists.
        """

        def counted(part: pd.DataFrame) -> pd.DataFrame:
            return _summed(part.assign(**{times: 1}), times)

        def summed(parts: pd.DataFrame) -> pd.DataFrame:
            return _summed(parts, times)

        meta = counted(self.native._meta)
        distinct = self.native.reduction(counted, aggregate=summed, combine=summed, meta=meta, split_every=8)
        try:
            return _in_memory(distinct.compute())
        except TypeError as error:
            raise JudgmentError(
                f"columns {listed(tuple(meta.columns[:-1]))} hold values that cannot be told apart: {error}",
                expected="labels or numbers",
            ) from None

    def __len__(self) -> int:
        return len(self.native)


def is_dask(frame: object) -> bool:
    """Whether a frame is a Dask frame; the check does not import Dask."""
    module = sys.modules.get("dask.dataframe")
    return module is not None and isinstance(frame, module.DataFrame)


def _summed(parts: pd.DataFrame, times: str) -> pd.DataFrame:
    """Return the sums of `times` over equal rows; categories become labels, as partitions may differ in their codes."""
    keys = [name for name in parts.columns if name != times]
    totals = parts.groupby(keys, sort=False, dropna=False, observed=True)[times].sum().reset_index()
    coded = [name for name in keys if isinstance(totals[name].dtype, pd.CategoricalDtype)]
    return totals.assign(**{name: totals[name].astype(object) for name in coded})


def _in_memory(frame: pd.DataFrame) -> Frame:
    made: Frame = nw.from_native(frame.reset_index(drop=True), eager_only=True)
    return made
