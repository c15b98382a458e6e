"""Readers of ratings of several objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..base.arguments import checked
from ..core.rankings import Rankings
from .block_columns import block_makers, check_roles, columns_of_objects, columns_of_rows, flat, roles_beside
from .blocks import Scale, as_pandas, as_values, read_long, read_wide, refuse_twice
from .column_roles import Names, wanted
from .files import open_source
from .rankings import rankings_of_blocks


@checked
def from_ratings(
    frame: object,
    *,
    objects: Sequence[str] | None = None,
    object: str = "object",
    rating: str = "rating",
    judge: str | None = "judge",
    prompt: str | None = None,
    block: Names | None = None,
    higher_is_better: bool = True,
    missing: Any = (),
    covariates: Names = (),
    clusters: Names = (),
    numeric: Names = (),
    object_covariates: object = None,
    judge_covariates: object = None,
) -> Rankings:
    """Return ratings as rankings: lists of objects that were rated side by side, with their ratings.

    `Rankings.to_comparisons` returns the pairs that the lists imply: its ``tie_threshold=`` makes similar ratings ties,
    and ``cuts=`` grades preferences by the difference of ratings. ``fit(formula, rankings)`` uses only the order.

    Parameters
    ----------
    frame : frame, path or list of records
        As in `from_rankings`: long, one row per rated object, or wide, one row per block.
    objects : sequence of str, optional
        Wide form: the columns of ratings, one per object and named after it; each row is a block.
    object, rating : str
        Long form: the columns with the object and its rating, any finite number. Ratings that differ by at most 1e-12
        of the larger one are ties.
    judge, prompt, block
        As in `from_rankings`; by default the judge alone.
    higher_is_better : bool
        Whether the higher rating wins, or the lower.
    missing : value or sequence of values
        Ratings that mean "none", such as 0. A missing value always means none.
    covariates, clusters, numeric, object_covariates, judge_covariates
        As in `from_rankings`.

    Returns
    -------
    Rankings
        With `Rankings.ratings`.

    Raises
    ------
    JudgmentError
        As in `from_rankings`, and for an object rated several times in a block.
    OptionError
        As in `from_rankings`.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> ratings = pd.DataFrame(
    ...     {"judge": ["J1", "J1", "J1", "J2", "J2"], "object": ["A", "B", "C", "A", "B"], "rating": [5, 4, 1, 2, 4]})
    >>> r = llbt.from_ratings(ratings)
    >>> print(r)
    Rankings: 3 objects, 2 lists of 2 to 3, no ties
    <BLANKLINE>
    Ranking   Ratings Count
    A > B > C 5, 4, 1     1
    B > A     4, 2        1
    >>> r.to_comparisons(tie_threshold=1).to_frame()
      object_i object_j  wins_i  ties  wins_j
    0        A        B       0     1       1
    1        A        C       1     0       0
    2        B        C       1     0       0
    >>> r.to_comparisons(cuts=(2,)).to_frame()
      object_i object_j  i+  i  j  j+
    0        A        B   0  1  1   0
    1        A        C   1  0  0   0
    2        B        C   1  0  0   0
    """
    source = open_source(frame)
    by_default = judge == "judge" and (objects is not None or block is not None)
    block_of = {"judge": None if by_default else judge, "prompt": prompt, "block": block}
    makers = block_makers(block_of, wide=objects is not None)
    asked = wanted(covariates, clusters, numeric, object_covariates, None, (), judge_covariates)
    asked = asked.of_blocks(source.names, makers.get("judge", ()))
    long = {"object": object, "rating": rating}
    values = columns_of_rows(long) if objects is None else columns_of_objects(objects)
    roles = {**values, **makers, **roles_beside(asked, source.names, flat(makers))}
    check_roles(source.names, roles)
    table = as_pandas(source, flat(roles))
    scale = Scale("rating", "rated", bool(higher_is_better), as_values(missing))
    made = (read_long if objects is None else read_wide)(table, flat(values), flat(makers), scale)
    refuse_twice(made.ranked(), table)
    ranks = replace(made, value=-made.value) if scale.higher_wins else made
    return rankings_of_blocks(table, ranks, scale, roles, asked, source.names, ratings=made.value)
