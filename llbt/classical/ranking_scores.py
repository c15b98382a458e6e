"""Scores of systems from rankings, as in shared tasks; bootstrap intervals, rank ranges, significance clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.arguments import Confidence, Jobs, Number, Rng, checked
from ..base.table import Field, Record, Table, counted, format_count, interval_fields
from ..core import statistics
from ..core.columns import FloatArray, IntArray, Label
from ..core.comparisons import Comparisons
from ..core.judgments import Judgments
from ..data.judge_columns import read_judged, refuse_lists
from ..data.sources import as_names
from ..errors import JudgmentError, OptionError, listed
from ..resampling import Resampler, degenerate_notes, percentiles
from .pair_counts import Objects, PairCounts, as_whole, excluded, named, pair_counts
from .readings import READINGS, Reading, Sums, block_sums, pair_sums, ranked


@dataclass(frozen=True, repr=False, eq=False)
class RankingScores(Record):
    """Scores of J systems, the best first.

    Attributes
    ----------
    objects : tuple, length J
    estimate : ndarray, shape (J,)
        Scores on the scale of the reading: shares, or from −1 to 1 for ``"net_wins"``. NaN if no judgment counts.
    n : ndarray, shape (J,)
        The number of judgments behind each score (decided judgments if ties are ignored), or of blocks for
        ``"ge_all_in_block"``.
    replicates : ndarray, shape (B, J)
        The scores in B resamples.
    reading : str
    drawn : str
        The resampled units, in words; ``"judgment"`` or ``"block"`` if there is only one unit.
    confidence : float
        The confidence of each interval and each rank range.
    counted : tuple of str
        Notes on the counts.
    """

    objects: tuple[Label, ...]
    estimate: FloatArray
    n: FloatArray
    replicates: FloatArray
    reading: Reading
    drawn: str
    confidence: float
    counted: tuple[str, ...]

    @property
    def rank(self) -> FloatArray:
        """Rank of each score, 1 for the best, shape (J,); equal scores share the better rank."""
        return as_whole(ranked(self.estimate[None, :])[0])

    @property
    def conf_low(self) -> FloatArray:
        """Lower bounds of the percentile intervals, shape (J,); NaN without resamples."""
        return percentiles(self.replicates, self.confidence, self.estimate)[0]

    @property
    def conf_high(self) -> FloatArray:
        """Upper bounds of the percentile intervals, shape (J,); NaN without resamples."""
        return percentiles(self.replicates, self.confidence, self.estimate)[1]

    @property
    def rank_low(self) -> FloatArray:
        """The best rank of the range over the resamples, shape (J,); NaN without resamples."""
        return as_whole(self._ranges()[0])

    @property
    def rank_high(self) -> FloatArray:
        """The worst rank of the range over the resamples, shape (J,); NaN without resamples."""
        return as_whole(self._ranges()[1])

    @property
    def cluster(self) -> FloatArray:
        """Cluster of each object, 1 for the best.

        Every rank range above a break is better than every one below it; NaN without resamples.
        """
        return as_whole(_clusters(self._ranges()))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the counts, on objects left out and on resampling."""
        return (*self.counted, *self._reservations())

    @checked
    def with_confidence(self, confidence: Confidence) -> RankingScores:
        """Return the scores with intervals, rank ranges and significance clusters at another level; same resamples."""
        return replace(self, confidence=float(confidence))

    @checked
    def without(self, exclude: Objects) -> RankingScores:
        """Return the scores without some objects; the other objects are ranked among themselves.

        The counts of judgments and blocks still include the excluded objects. To leave them out of the counts, use
        ``exclude=`` of `ranking_scores`.

        Parameters
        ----------
        exclude : label or sequence of labels
            Objects to leave out, such as the reference translation ``"_ref"``.
        """
        remaining = ~excluded(self.objects, exclude)
        left = tuple(label for label, here in zip(self.objects, remaining, strict=True) if here)
        if len(left) < 2:
            raise OptionError(
                f"exclude={list(named(exclude))!r} leaves {counted(len(left), 'object')}"
                f"{f' ({listed(left)})' if left else ''}",
                "Exclude fewer objects.",
                expected="at least two to rank",
            )
        note = f"judgments of {listed(named(exclude))} counted for the others, not shown"
        return replace(
            self,
            objects=left,
            estimate=self.estimate[remaining],
            n=self.n[remaining],
            replicates=self.replicates[:, remaining],
            counted=(*self.counted, *([] if remaining.all() else [note])),
        )

    def table(self) -> Table:
        """Return object, estimate, n, conf_low, conf_high, rank, rank_low, rank_high, cluster; the best first."""
        unit = "blocks" if self.reading == "ge_all_in_block" else "judgments"
        return Table(
            (
                Field("object", "object", list(self.objects)),
                Field("estimate", "score", self.estimate, "estimate"),
                Field("n", unit, self.n, "count"),
                *interval_fields(self.conf_low, self.conf_high, self.confidence),
                *(Field(name, name, getattr(self, name), "count") for name in ("rank", "rank_low", "rank_high")),
                Field("cluster", "cluster", self.cluster, "count"),
            ),
            title=f"Ranking scores: {READINGS[self.reading]}",
            notes=self.notes,
        )

    def _ranges(self) -> FloatArray:
        """Return the best and the worst rank of each object over the resamples, shape (2, J)."""
        ranges = percentiles(ranked(self.replicates), self.confidence, self.estimate, whole=True)
        return np.clip(ranges, 1, len(self.objects))

    def _reservations(self) -> list[str]:
        undefined = np.isnan(self.estimate)
        notes = []
        if undefined.any():
            notes.append(f"{counted(int(undefined.sum()), 'object')} without a judgment that counts: score NA")
        if self.drawn in ("judgment", "block"):
            return [*notes, f"a single {self.drawn} cannot be resampled: no intervals, rank ranges or clusters"]
        if not len(self.replicates):
            return [*notes, "no resamples: n=1000 gives intervals, rank ranges and significance clusters"]
        number = format_count(len(self.replicates))
        notes += [
            f"{100 * self.confidence:.4g} % percentile intervals: {number} resamples of the {self.drawn}",
            "rank ranges are for each object alone; clusters: groups whose ranges do not overlap",
        ]
        return [*notes, *degenerate_notes(self.replicates[:, ~undefined], "without a judgment of an object")]


@checked
def ranking_scores(
    data: object,
    *,
    reading: Reading = "ge_others",
    exclude: Objects = (),
    block: str | Sequence[str] | None = "block",
    n: Number = 0,
    rng: Rng = None,
    progress: bool = False,
    n_jobs: Jobs = 1,
) -> RankingScores:
    """Return scores of systems from rankings, by one of the definitions of the Workshop on Machine Translation (WMT).

    Parameters
    ----------
    data : Comparisons, frame, path or list of records
        A table of counts, or judgments in any form that `read_judgments` reads. Counts are summed over covariates.
    reading : str
        The score of an object with w wins, t ties and l losses:

        * ``"ge_others"``: (w + t)/(w + t + l), the official score of WMT10; Bojar et al. (2011) advise against it;
        * ``"gt_others"``: w/(w + t + l);
        * ``"ignore_ties"``: w/(w + l);
        * ``"ge_all_in_block"``: the share of its blocks in which no other object is better; objects that share the
          first place all count. Needs judgments with blocks;
        * ``"expected_wins"``: the mean over opponents of w/(w + l) against each, with equal weights; opponents without
          a decided judgment are left out of the mean;
        * ``"net_wins"``: (w − l)/(w + t + l), the share won minus the share lost, from −1 to 1.
    exclude : label or sequence of labels
        Objects whose judgments are left out, such as the reference translation ``"_ref"``. Losses to them do not count,
        and a block with only one other object has no judgment left. ``ranking_scores(…).without("_ref")`` counts their
        judgments and blocks, and leaves the objects out of the result only.
    block : str, sequence of str or None
        Columns of the judgments that together identify a block: systems ranked side by side. If they have values, whole
        blocks are resampled. None resamples single judgments.
    n : int
        Number of resamples for intervals, rank ranges and significance clusters, such as 1000; with 0 there are none.
    rng : numpy.random.Generator or int, optional
    progress : bool
        Show a progress bar.
    n_jobs : int
        Processes; −1 for one per core. The result is the same for the same `rng`.

    Returns
    -------
    RankingScores
        object, estimate, n, conf_low, conf_high, rank, rank_low, rank_high, cluster; the best first. Intervals and rank
        ranges have 95 % confidence; ``with_confidence(0.9)`` returns others from the same resamples.

    Raises
    ------
    OptionError
        For invalid options, and for unknown objects in `exclude`.
    JudgmentError
        For judgments without blocks if blocks are needed, if no judgment is left, and for resampling fractional counts.

    Notes
    -----
    ``"ge_others"`` rewards ties: a system gains if its output equals the output of others, even if it is never better
    (Bojar et al. 2011). All scores depend on the opponents of a system. ``"expected_wins"`` gives each opponent the
    same weight, but still depends on which opponents the system met. A fit with ``object + tie`` allows for the
    opponents.

    Resamples draw judgments from the whole table (or blocks from all blocks) with replacement, as many as there are.
    A rank range runs between two quantiles of the ranks in the resamples; clusters are the groups whose rank ranges do
    not overlap (Koehn 2012; WMT13). A rank range holds for one system, not for all together; for simultaneous rank
    ranges see ``pairwise(res).ranks()``.

    References
    ----------
    Bojar, O., Ercegovčević, M., Popel, M. & Zaidan, O. F. (2011). A grain of salt for the WMT manual evaluation. WMT,
    1-11. Koehn, P. (2012). Simulating human judgment in machine translation evaluation campaigns. IWSLT, 179-184.
    Lopez, A. (2012). Putting human assessments of machine translation systems in order. WMT, 1-9. Sakaguchi, K.,
    Post, M. & Van Durme, B. (2014). Efficient elicitation of annotations for human evaluation of machine translation.
    WMT, 1-11.

    Examples
    --------
    >>> import llbt
    >>> scores = llbt.classical.ranking_scores(llbt.load_dataset("dras_table1"), n=200, rng=1)
    >>> scores.to_frame()[["object", "n", "rank", "rank_low", "rank_high", "cluster"]].values.tolist()
    [['A', 480, 1, 1, 1, 1], ['D', 480, 2, 2, 2, 2], ['B', 480, 3, 3, 3, 3], ['C', 480, 4, 4, 4, 4]]
    """
    _check_blocks(data, reading, block)
    draw = Resampler.of("classical.ranking_scores", rng, n_jobs, progress)
    # a table of counts has no blocks: read_judged says so
    if reading != "ge_all_in_block":
        refuse_lists(data)
    table = isinstance(data, Comparisons) and reading != "ge_all_in_block"
    source = data if table else read_judged(data)
    counts = pair_counts(source, exclude=exclude)
    sums = reading_sums(counts, reading, block)
    if n and sums.units is None:
        _refuse_fractions(sums)
    drawn = np.empty((0, len(counts.objects)))
    if n and sums.number > 1:
        drawn = np.concatenate(draw.blocks(sums.resampled, n, sums.entries))
    return _scored(counts, sums, drawn)


def reading_sums(counts: PairCounts, reading: Reading, block: str | Sequence[str] | None) -> Sums:
    """Return the sums from which a score is computed, by block if there are blocks."""
    size = len(counts.objects)
    group = _blocks(counts.judgments, reading, block)
    if reading == "ge_all_in_block" and group is not None:
        return block_sums(counts.judgments.pairs, counts.judgments.outcomes, group, size)
    return pair_sums(reading, counts.pairs, counts.counts, size, counts.cells, group)


def _check_blocks(data: object, reading: Reading, block: str | Sequence[str] | None) -> None:
    if block is None and reading == "ge_all_in_block":
        raise OptionError("reading='ge_all_in_block' needs blocks", "Name their columns with block=.")
    if isinstance(data, Comparisons) and block not in ("block", None):
        raise OptionError(
            f"block={block!r} names columns of judgments, but a table of counts has none",
            "Pass the judgments, as llbt.read_judgments(…) returns them.",
        )


def _blocks(judgments: Judgments, reading: Reading, block: str | Sequence[str] | None) -> IntArray | None:
    """Return the block number of each judgment, (R,), or None without blocks."""
    if block is None:
        return None
    there = "block" in judgments.names and bool(judgments.values("block").notna().any())
    if block == "block" and not there and reading != "ge_all_in_block":
        return None
    return judgments.grouped(as_names(block, "block"), "block")[0]


def _refuse_fractions(sums: Sums) -> None:
    if not np.all(sums.total == np.floor(sums.total)):
        raise JudgmentError(
            "the table has fractional counts, which are not judgments that could be resampled",
            "Pass a table of whole counts, or n=0.",
        )


def _scored(counts: PairCounts, sums: Sums, drawn: FloatArray) -> RankingScores:
    """Return the scores of the objects, the best first, with the scores in resamples (B, J)."""
    scores, numbers = (values[0] for values in sums.scores(sums.total[None, :]))
    order = np.argsort(ranked(scores[None, :])[0], kind="stable")  # NaN last
    return RankingScores(
        objects=tuple(counts.objects[k] for k in order),
        estimate=scores[order],
        n=as_whole(numbers[order]),
        replicates=drawn[:, order],
        reading=sums.reading,
        drawn=_drawn(sums),
        confidence=0.95,
        counted=(*counts.notes, *_undecided(counts, sums)),
    )


def _drawn(sums: Sums) -> str:
    if not sums.number > 1:
        return "judgment" if sums.units is None else "block"
    return "judgments, taken as independent" if sums.units is None else counted(sums.units.shape[0], "block")


def _undecided(counts: PairCounts, sums: Sums) -> list[str]:
    if sums.reading == "ge_others" and counts.counts[:, 1].any():
        return ["Ties count as won. Bojar et al. (2011) advise against it: reading='ignore_ties'."]
    if sums.reading != "expected_wins":
        return []
    undecided = int((counts.counts[:, [0, 2]].sum(axis=1) == 0).sum())
    return [f"left out of the means: {counted(undecided, 'pair')} without a decided judgment"] if undecided else []


def _clusters(ranges: FloatArray) -> FloatArray:
    """Return the cluster of each object, best first, (J,): groups whose rank ranges do not overlap, or NaN."""
    low, high = ranges
    known = np.flatnonzero(~np.isnan(low)).tolist()
    number = np.array(statistics.significance_clusters(high[:, None] < low[None, :], known), dtype=np.float64)
    return np.where(number > 0, number, np.nan)
