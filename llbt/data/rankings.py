"""From rankings and ratings of several objects at once to Comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from ..arguments import JUDGED_INSIDE, NotNegative, checked
from ..core.columns import FloatArray, sort_key
from ..core.comparisons import Comparisons
from ..core.response import THREE, Response
from ..errors import JudgmentError, listed
from ..table import counted
from .block_columns import (
    block_makers,
    check_roles,
    columns_of_objects,
    columns_of_rows,
    flat,
    kept_columns,
    roles_beside,
)
from .blocks import (
    Blocks,
    Scale,
    as_pandas,
    as_values,
    pairs_within,
    read_long,
    read_wide,
    refuse_negative,
    refuse_twice,
)
from .column_roles import Names, Wanted, wanted
from .files import open_source
from .grades import graded_outcomes, rising
from .outcome_codings import TIE
from .sources import open_frame
from .tables import assembled, coded_pairs, condensed, kept_at, unused_note

_ROUNDING = 1e-12  # relative; a mean of ratings or 0.3 − 0.2 is off by some 1e-16


@checked
def from_rankings(
    frame: object,
    *,
    objects: Sequence[str] | None = None,
    object: str = "object",
    rank: str = "rank",
    judge: str | None = None,
    prompt: str | None = None,
    block: Names | None = None,
    unranked: Any = (),
    covariates: Names = (),
    clusters: Names = (),
    numeric: Names = (),
    object_covariates: object = None,
    judge_covariates: object = None,
) -> Comparisons:
    """Return the comparisons that rankings imply: each object against each other one of its block.

    Parameters
    ----------
    frame : frame, path or list of records
        A frame of any library that narwhals knows, or the path of a file. Long, one row per ranked object, or
        wide, one row per ranking.
    objects : sequence of str, optional
        Wide form: the columns of ranks, one per object and named after it; each row is a block.
    object, rank : str
        Long form: the columns with the object and its rank, 1 for the best. Only the order of the ranks of
        a block counts; equal ranks are ties.
    judge, prompt : str, optional
        Long form: columns that together make a block, the objects that were ranked side by side.
    block : str or sequence of str, optional
        Long form: the columns that make a block, in place of `judge` and `prompt`.
    unranked : value or sequence of values
        Ranks that mean "shown, but not ranked", such as −1. A missing rank always does.
    covariates, clusters, numeric, object_covariates, judge_covariates
        As in `from_judgments`; in the long form these columns have one value per block. ``clusters="block"``
        keeps the block itself: the label of its column, of several columns together, or the number of the row.

    Returns
    -------
    Comparisons

    Raises
    ------
    JudgmentError
        For columns that are not there; ranks that are not finite numbers, or below 0 beside others above it; an object
        that is missing or ranked twice in a block; a covariate with several values in a block; and if no block has two
        ranked objects.
    OptionError
        For columns that have two roles, and if nothing says what makes a block.

    Notes
    -----
    A ranking of k objects counts as k(k − 1)/2 judgments, but these are not independent: of k objects of
    equal worth, ranked without ties, the wins of one vary (k + 1)/3 times as much as those of independent
    judgments (the variance of a rank, (k² − 1)/12, over (k − 1)/4). Estimates are consistent; standard errors
    and tests of a plain fit are too optimistic. Keep the block (or the judge) in `clusters`, and fit with
    ``cov_type="cluster"``. Nothing is implied about an object without a rank.

    References
    ----------
    .. [1] Dittrich, R., Katzenbeisser, W. and Reisinger, H. (2000). The analysis of rank ordered preference data
       based on Bradley-Terry type models. OR Spektrum 22, 117-134.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> wide = pd.DataFrame({"A": [1, 2, 1], "B": [2, 1, 1], "C": [3, 3, None]})
    >>> c = llbt.from_rankings(wide, objects=["A", "B", "C"], clusters="block")
    >>> c.to_frame()
      object_i object_j  wins_i  ties  wins_j
    0        A        B       1     1       1
    1        A        C       2     0       0
    2        B        C       2     0       0
    >>> c.notes[0]
    '7 judgments implied by 3 blocks of ranked objects'
    """
    asked = wanted(covariates, clusters, numeric, object_covariates, None, (), judge_covariates)
    scale = Scale("rank", "ranked", higher_wins=False, unranked=as_values(unranked))
    makers = {"judge": judge, "prompt": prompt, "block": block}
    return _implied(frame, objects, {"object": object, "rank": rank}, makers, scale, asked)


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
    tie_threshold: NotNegative = 0.0,
    cuts: Annotated[Sequence[float], JUDGED_INSIDE] = (),
    higher_is_better: bool = True,
    missing: Any = (),
    covariates: Names = (),
    clusters: Names = (),
    numeric: Names = (),
    object_covariates: object = None,
    judge_covariates: object = None,
) -> Comparisons:
    """Return the comparisons that ratings imply: each object against each other one of its block.

    Parameters
    ----------
    frame : frame, path or list of records
        As in `from_rankings`: long, one row per rated object, or wide, one row per block.
    objects : sequence of str, optional
        Wide form: the columns of ratings, one per object and named after it; each row is a block.
    object, rating : str
        Long form: the columns with the object and its rating, any finite number.
    judge, prompt, block
        As in `from_rankings`; the judge alone unless told otherwise.
    tie_threshold : float
        Two ratings are tied if they differ by at most so much (on the scale of the ratings), give or take
        1e-12 of the larger one: 0.8 and 0.7 are tied at 0.1, though floats differ by more.
    cuts : sequence of float
        Differences beyond which a preference has the next grade, each larger than the one before and than
        `tie_threshold`: with ``(2,)`` a difference of more than 2 is a strong preference, a smaller one a slight one.
        Without cuts there is one grade.
    higher_is_better : bool
        Whether the higher rating wins, or the lower.
    missing : value or sequence of values
        Ratings that mean "none", such as 0. A missing value always does.
    covariates, clusters, numeric, object_covariates, judge_covariates
        As in `from_rankings`.

    Returns
    -------
    Comparisons

    Raises
    ------
    JudgmentError
        As in `from_rankings`, and for an object rated several times in a block.
    OptionError
        As in `from_rankings`, and for a threshold that is negative or not a number.

    Notes
    -----
    With a threshold, ties are not transitive (of 1, 2 and 3 only the ends differ by more than 1); the model
    takes one pair at a time and needs no transitivity. As to standard errors, see `from_rankings`. Grades made of
    `cuts` are differences of one judge's ratings, which are dependent whatever the blocks: the notes always say so.

    References
    ----------
    .. [1] Dittrich, R., Francis, B., Hatzinger, R. and Katzenbeisser, W. (2007). A paired comparison approach for
       the analysis of sets of Likert-scale responses. Statistical Modelling 7, 3-28.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> ratings = pd.DataFrame(
    ...     {"judge": ["J1", "J1", "J1", "J2", "J2"], "object": ["A", "B", "C", "A", "B"], "rating": [5, 4, 1, 2, 4]})
    >>> llbt.from_ratings(ratings, tie_threshold=1).to_frame()
      object_i object_j  wins_i  ties  wins_j
    0        A        B       0     1       1
    1        A        C       1     0       0
    2        B        C       1     0       0
    >>> llbt.from_ratings(ratings, cuts=(2,)).to_frame()
      object_i object_j  i+  i  j  j+
    0        A        B   0  1  1   0
    1        A        C   1  0  0   0
    2        B        C   1  0  0   0
    """
    threshold = float(tie_threshold)
    asked = wanted(covariates, clusters, numeric, object_covariates, None, (), judge_covariates)
    scale = Scale(
        *("rating", "rated", bool(higher_is_better), threshold, _ROUNDING, as_values(missing)),
        cuts=rising(cuts, threshold, "tie_threshold"),
    )
    by_default = judge == "judge" and (objects is not None or block is not None)
    makers = {"judge": None if by_default else judge, "prompt": prompt, "block": block}
    return _implied(frame, objects, {"object": object, "rating": rating}, makers, scale, asked)


def _implied(
    frame: object,
    objects: Sequence[str] | None,
    long: Mapping[str, str],
    makers: Mapping[str, Names | None],
    scale: Scale,
    asked: Wanted,
) -> Comparisons:
    """Return the comparisons implied by values in blocks, in either form."""
    source = open_source(frame)
    names = source.names
    block = block_makers(makers, wide=objects is not None)
    asked = asked.of_blocks(names, block.get("judge", ()))
    values = columns_of_rows(long) if objects is None else columns_of_objects(objects)
    roles = {**values, **block, **roles_beside(asked, names, flat(block))}
    check_roles(names, roles)
    table = as_pandas(source, flat(roles))
    made = (read_long if objects is None else read_wide)(table, flat(values), flat(block), scale)
    ranked = made.ranked()
    if scale.noun == "rank":
        refuse_negative(ranked.value, "unranked")
    refuse_twice(ranked, table, scale)
    i, j = pairs_within(ranked.block)
    if not i.size:
        raise JudgmentError(
            f"no block has two {scale.participle} objects: {counted(ranked.value.size, scale.noun)} in "
            f"{counted(made.first.size, 'block')}; a comparison needs two",
            f"Check what makes a block ({', '.join(f'{name}=' for name in (block or values))}).",
        )
    kept = kept_columns(table, made, roles, asked)
    of_judges = [] if asked.judges is None else asked.labelled(open_frame(kept).pick(asked.roles()))[1]
    pairs = coded_pairs(ranked.labels, np.column_stack([ranked.item[i], ranked.item[j]]))
    said, response, unused = _said(scale, ranked.value[i], ranked.value[j])
    lines = condensed(pairs, said, None, *kept_at(kept, asked, ranked.block[i]), response or THREE)
    used = set(flat(roles))
    unkept = tuple(name for name in names if name not in used)
    notes = [*_notes(made, ranked, i.size, scale, asked, block.get("judge", ())), *unused, *of_judges]
    notes += unused_note(unkept)
    return assembled(lines, pairs, asked, notes, unkept=unkept, order=False, response=response)


def _said(scale: Scale, i: FloatArray, j: FloatArray) -> tuple[npt.NDArray[Any], Response | None, list[str]]:
    """Return the outcome of each two values, graded where there are cuts; the scale if it is one, and notes."""
    wins, sizes = scale.compared(i, j)
    if not scale.cuts:
        return TIE - wins, None, []
    middle = (0,) if scale.threshold else ()
    return graded_outcomes(wins, sizes, (*middle, *range(1, len(scale.cuts) + 2)))


def _notes(
    made: Blocks, ranked: Blocks, implied: int, scale: Scale, asked: Wanted, judge: tuple[str, ...]
) -> list[str]:
    """Return what was read, what was left out, and what to mind about the standard errors."""
    sizes = np.bincount(ranked.block, minlength=made.first.size)
    missing = made.value.size - ranked.value.size
    small = int((sizes < 2).sum())
    gone = np.setdiff1d(np.arange(len(made.labels)), ranked.item[sizes[ranked.block] > 1])
    notes = [
        f"{counted(implied, 'judgment')} implied by {counted(sizes.size - small, 'block')} of "
        f"{scale.participle} objects"
    ]
    if missing:
        notes.append(f"{counted(missing, scale.noun)} missing: nothing is implied about these objects in these blocks")
    if small:
        notes.append(f"{counted(small, 'block')} with fewer than two {scale.participle} objects left out")
    if gone.size:
        labels = sorted(made.labels[gone].tolist(), key=sort_key)
        notes.append(f"{counted(gone.size, 'object')} left without comparisons: {listed(labels)}")
    if scale.cuts:
        return [*notes, _dependence(made, asked, "differences of one judge's ratings", judge)]
    if sizes.max() <= 2:
        return notes
    kept = "rankings_from keeps rankings as lists, each of them one judgment of fit"
    lists = [kept] if scale.noun == "rank" else []
    return [*notes, *lists, _dependence(made, asked, "judgments implied by one block")]


def _dependence(made: Blocks, asked: Wanted, what: str, judge: tuple[str, ...] = ()) -> str:
    # Every cluster kept here is constant in a block, so each of them gathers whole blocks.
    known = (*asked.clusters, *(name for name in asked.covariates if name in made.makers))
    alone = made.makers if len(made.makers) == 1 else ()
    group = (*known, *judge, *alone, "block")[0]
    keeping = "" if known else f"keep clusters={group!r} and "
    return (
        f"{what} are not independent: standard errors and tests of a plain fit are too "
        f"optimistic; {keeping}fit with cov_type='cluster', groups={group!r}"
    )
