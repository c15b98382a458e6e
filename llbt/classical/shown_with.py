"""How the score of a system depends on how often it is shown together with the reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from scipy import stats

from ..base.arguments import NAMES, Confidence, checked
from ..base.table import Field, Record, Table, counted
from ..core.columns import IntArray, Label
from ..core.judgments import Judgments
from ..data.blocks import as_pandas
from ..data.files import open_source
from ..data.judge_columns import read_judged
from ..data.sources import as_names
from ..errors import JudgmentError, OptionError, listed
from .pair_counts import pair_counts
from .ranking_scores import reading_sums
from .readings import READINGS, Reading

Names = Annotated[str | Sequence[str], NAMES]
_ALL = "all"


@dataclass(frozen=True, repr=False, eq=False)
class ShownWith(Record):
    """Correlation of systems' scores with how often they are shown with the reference.

    Attributes
    ----------
    systems : DataFrame
        A row per system and group: the columns of `by`, then object, shown (blocks that show it), with_reference (of
        these, blocks that show the reference too), share, score, n (judgments or blocks behind the score).
    correlations : DataFrame
        A row per group, then one of all rows together: the columns of `by`, then n_objects, estimate (Pearson's
        correlation of share and score), conf_low, conf_high.
    by : tuple of str
    reference : label
    reading : str
    confidence : float
    notes : tuple of str
    """

    systems: pd.DataFrame
    correlations: pd.DataFrame
    by: tuple[str, ...]
    reference: Label
    reading: Reading
    confidence: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return the correlation of each group, and in the last row the correlation of all groups together."""
        kinds: dict[str, Literal["count", "number"]] = {"n_objects": "count"}
        headings = {"n_objects": "objects", "conf_low": f"{100 * self.confidence:.4g} % low", "conf_high": "high"}
        frame = self.correlations
        return Table(
            (
                *(Field(name, name, frame[name].tolist()) for name in self.by),
                *(
                    Field(name, headings.get(name, name), frame[name].to_numpy(), kinds.get(name, "number"), 3)
                    for name in ("n_objects", "estimate", "conf_low", "conf_high")
                ),
            ),
            title=f"Correlation of being shown with {self.reference!r} and score",
            head=(
                f"share: blocks that also show {self.reference!r}, among the blocks that show an object",
                f"score: {READINGS[self.reading]}",
            ),
            notes=self.notes,
            more=".systems has shares and scores",
        )


@checked
def shown_with(
    data: object,
    *,
    shown: Names | None = None,
    blocks: object = None,
    block: Names = "block",
    by: Names = (),
    reference: Label = "_ref",
    reading: Reading = "ge_others",
    confidence: Confidence = 0.95,
) -> ShownWith:
    """Return the correlation of systems' scores with how often they are shown with the reference.

    Parameters
    ----------
    data : Judgments, frame, path or list of records
        Judgments in any form that `read_judgments` reads. The scores include judgments against the reference.
    shown : str or sequence of str, optional
        Columns with the objects that a block shows, ranked or not. By default a block shows the objects of its
        judgments.
    blocks : frame, path or list of records, optional
        One row per block, with the columns `shown` and `by`, for example the raw file, which also has blocks without
        judgments. By default the blocks of the judgments.
    block : str or sequence of str
        Columns of the judgments that, together with `by`, make a block.
    by : str or sequence of str
        Columns that define groups, such as the language pair. Each group has its own scores and correlation.
    reference : label
        The object that others may be shown with; the correlations leave it out.
    reading : str
        As in `ranking_scores`.
    confidence : float
        The confidence of the intervals.

    Returns
    -------
    ShownWith
        The columns of `by`, n_objects, estimate, conf_low, conf_high: a row per group, and one (``"all"``) that
        correlates the rows of all groups. NaN for fewer than three objects, or if all shares or all scores are equal.
        Its attribute ``systems`` has share and score of each object.

    Raises
    ------
    JudgmentError
        For missing columns, blocks that do not show the judged objects, and a reference that no block shows.
    OptionError
        For an unknown reading, and `blocks` without `shown`.

    Notes
    -----
    A system that meets the reference mostly loses to it, so one might expect that being shown with it more often lowers
    a score under ``"ge_others"``. Bojar et al. (2011) studied this for WMT10. They found no correlation over all
    language pairs, −.107. Within language pairs the correlations ranged from .341 (Spanish to English) to −.433
    (English to German), which was due to a few outlying systems. So look at ``systems`` before you trust a correlation.
    Intervals are Fisher's, which take the objects as a random sample.

    References
    ----------
    Bojar, O., Ercegovčević, M., Popel, M. & Zaidan, O. F. (2011). A grain of salt for the WMT manual evaluation. WMT,
    1-11.

    Examples
    --------
    >>> import llbt
    >>> rows = [("A", "_ref", "j"), ("A", "B", "i"), ("B", "C", "i"), ("A", "C", "i"), ("C", "_ref", "j")]
    >>> names = ("object_i", "object_j", "outcome", "block")
    >>> judgments = [dict(zip(names, (*row, number))) for number, row in enumerate(rows)]
    >>> systems = llbt.classical.shown_with(judgments).systems
    >>> systems[["object", "shown", "with_reference", "score"]].round(2).values.tolist()
    [['A', 3, 1, 0.67], ['B', 2, 0, 0.5], ['C', 3, 1, 0.0]]
    """
    if blocks is not None and shown is None:
        raise OptionError("blocks= without shown=", "Name the columns of its objects: shown=['system1Id', …].")
    if shown is not None and not as_names(shown, "shown"):
        raise OptionError("shown= names no column", "Leave it out, or name the columns of the objects of a block.")
    groups = as_names(by, "by")
    judgments = read_judged(data)
    exposed = _exposed(judgments, None if shown is None else as_names(shown, "shown"), blocks, block, groups)
    met = _met(exposed, groups, reference)
    scores = _scores(judgments, groups, reading, block)
    systems, more = _joined(met, scores, groups, reference)
    correlations, undefined = _correlations(systems, groups, confidence)
    every = (*judgments.notes, *_uncounted(shown, blocks), *more, *undefined)
    return ShownWith(systems, correlations, groups, reference, reading, confidence, every)


def _exposed(
    judgments: Judgments, shown: tuple[str, ...] | None, blocks: object, block: Names, by: tuple[str, ...]
) -> pd.DataFrame:
    """Return one row per block and object shown in it: the columns of `by`, _block, object."""
    if blocks is not None and shown is not None:
        source = open_source(blocks, what="blocks")
        gone = [name for name in (*by, *shown) if name not in source.names]
        if gone:
            raise JudgmentError(f"blocks= has no column {listed(gone)}", expected=f"some of {listed(source.names, 30)}")
        frame = as_pandas(source, (*by, *shown))
        return _stacked(frame, np.arange(len(frame)), shown, by)
    judgments.grouped(by, "by")
    group, _ = judgments.grouped(tuple(dict.fromkeys((*as_names(block, "block"), *by))), "block")
    if shown is None:
        frame = judgments.to_frame()
        return _stacked(frame, group, ("object_i", "object_j"), by)
    for name in shown:
        if name not in judgments.names:
            judgments.column(name, "shown")
    first = np.unique(group, return_index=True)[1]
    return _stacked(judgments.take(first).to_frame(), group[first], shown, by)


def _uncounted(shown: Names | None, blocks: object) -> list[str]:
    """Return notes on information about blocks that the judgments lack."""
    notes = (
        [] if shown is not None else ["objects shown but not judged are not counted in a block: name them with shown="]
    )
    return notes + (
        [] if blocks is not None else ["blocks without a judgment are not counted: pass blocks= to count them"]
    )


def _stacked(frame: pd.DataFrame, block: IntArray, columns: Sequence[str], by: tuple[str, ...]) -> pd.DataFrame:
    """Return the objects of several columns in one column, with each object once per block."""
    beside = {name: np.tile(frame[name].to_numpy(dtype=object), len(columns)) for name in by}
    objects = np.concatenate([frame[name].to_numpy(dtype=object) for name in columns])
    stacked = pd.DataFrame({**beside, "_block": np.tile(block, len(columns)), "object": objects})
    return stacked.dropna(subset=["object"]).drop_duplicates(["_block", "object"])


def _met(exposed: pd.DataFrame, by: tuple[str, ...], reference: Label) -> pd.DataFrame:
    """Return how many blocks show each object of each group, and how many of them also show the reference."""
    codes, labels = pd.factorize(exposed["object"])  # pandas would take a date or half a character for something else
    there = exposed.loc[np.isin(codes, [k for k, label in enumerate(labels) if label == reference]), "_block"]
    if there.empty:
        raise JudgmentError(
            f"no block shows reference={reference!r}",
            expected=f"one of {listed(sorted(exposed['object'].unique(), key=str), 20)}",
        )
    beside = exposed.assign(with_reference=exposed["_block"].isin(there))
    blocks = beside.groupby([*by, "object"], sort=True)["with_reference"].agg(["size", "sum"]).reset_index()
    return blocks.rename(columns={"size": "shown", "sum": "with_reference"})


def _scores(judgments: Judgments, by: tuple[str, ...], reading: Reading, block: Names) -> pd.DataFrame:
    """Return the scores of the objects of each group: the columns of `by`, object, score, n."""
    group, values = judgments.grouped(by, "by")
    frames = []
    for k in range(len(values)):  # groups, not judgments
        counts = pair_counts(judgments.take(group == k))
        sums = reading_sums(counts, reading, block if reading == "ge_all_in_block" else None)
        score, n = (column[0] for column in sums.scores(sums.total[None, :]))
        frame = pd.DataFrame({"object": list(counts.objects), "score": score, "n": n})
        frames.append(frame.assign(**{name: values[name].iloc[k] for name in by}))
    return pd.concat(frames, ignore_index=True)


def _joined(
    met: pd.DataFrame, scores: pd.DataFrame, by: tuple[str, ...], reference: Label
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return shares and scores of all objects except the reference, and a note on objects never judged."""
    both = met.merge(scores, on=[*by, "object"], how="outer", sort=True)
    unseen = both[both["shown"].isna()]
    if len(unseen):
        raise JudgmentError(
            f"{counted(len(unseen), 'object')} judged, but shown in no block, the first "
            f"{listed(unseen[[*by, 'object']].iloc[0].tolist())}",
            "Check shown=, blocks= and by=.",
            expected="the blocks of these judgments",
        )
    both = both[both["object"] != reference].reset_index(drop=True)
    both.insert(len(by) + 3, "share", both["with_reference"] / both["shown"])
    both = both.astype({"shown": np.int64, "with_reference": np.int64})
    unjudged = int(both["score"].isna().sum())
    note = f"{counted(unjudged, 'object')} shown without a score: left out of the correlations"
    return both, (note,) if unjudged else ()


def _correlations(
    systems: pd.DataFrame, by: tuple[str, ...], confidence: float
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    scored = systems.dropna(subset=["score"])
    parts = [(key, part) for key, part in scored.groupby(list(by), sort=True)] if by else []
    rows = [(*key, *_correlation(part, confidence)) for key, part in parts]
    rows.append((*([_ALL] * len(by)), *_correlation(scored, confidence)))
    frame = pd.DataFrame(rows, columns=[*by, "n_objects", "estimate", "conf_low", "conf_high"])
    undefined = int(frame["estimate"].isna().sum())
    note = f"{counted(undefined, 'correlation')} undefined: fewer than three objects, or no variation"
    return frame, (note,) if undefined else ()


def _correlation(part: pd.DataFrame, confidence: float) -> tuple[int, float, float, float]:
    """Return the number of objects, and the correlation of share and score with Fisher's interval."""
    share, score = part["share"].to_numpy(dtype=np.float64), part["score"].to_numpy(dtype=np.float64)
    if len(part) < 3 or np.ptp(share) == 0 or np.ptp(score) == 0:
        return len(part), math.nan, math.nan, math.nan
    correlation = stats.pearsonr(share, score)
    low, high = correlation.confidence_interval(confidence) if len(part) > 3 else (math.nan, math.nan)
    return len(part), float(correlation.statistic), float(low), float(high)
