"""Scores of systems by several definitions of a win (readings) on the same rankings, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pandas as pd

from ..base.arguments import checked
from ..errors import OptionError
from .pair_counts import Objects
from .ranking_scores import ranking_scores
from .readings import Reading


@checked
def ranking_readings(
    data: object,
    *,
    readings: Sequence[Reading] = get_args(Reading),
    exclude: Objects = (),
    block: str | Sequence[str] | None = "block",
) -> pd.DataFrame:
    """Return the scores of systems by several readings of the same rankings, the higher the better.

    Parameters
    ----------
    data, exclude, block
        As in `ranking_scores`.
    readings : sequence of str
        Readings of `ranking_scores`; all six by default. ``"ge_all_in_block"`` needs blocks.

    Returns
    -------
    DataFrame
        Objects in rows, sorted; readings in columns.

    Raises
    ------
    OptionError
        Without a reading, and as in `ranking_scores`.
    JudgmentError
        As in `ranking_scores`.

    References
    ----------
    Bojar, O., Ercegovčević, M., Popel, M. & Zaidan, O. F. (2011). A grain of salt for the WMT manual evaluation. WMT,
    1-11.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> judgments = pd.DataFrame(
    ...     [("A", "B", "i"), ("A", "C", "j"), ("B", "C", "tie"), ("B", "C", "tie")],
    ...     columns=["object_i", "object_j", "outcome"],
    ... )
    >>> llbt.classical.ranking_readings(judgments, readings=("ge_others", "ignore_ties")).round(2)
       ge_others  ignore_ties
    A       0.50          0.5
    B       0.67          0.0
    C       1.00          1.0
    """
    if isinstance(readings, str) or not readings:
        raise OptionError(f"readings={readings!r}", expected="several: readings=['ge_others', 'net_wins']")
    scores = {}
    for reading in readings:
        result = ranking_scores(data, reading=reading, exclude=exclude, block=block)
        scores[reading] = pd.Series(result.estimate, list(result.objects))
    return pd.DataFrame(scores).sort_index()
