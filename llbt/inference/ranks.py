"""The leaderboard: worths, ranks, counts and groups of the objects, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.arguments import Confidence, Rng, as_generator, checked
from ..base.table import Field, Table, about, stacked_field
from ..core.comparisons import Comparisons
from ..core.max_z import MaxZ
from ..core.statistics import critical_value
from ..errors import OptionError
from ..fitting.asked_groups import By, GroupHypothesis, Weights, stack_groups
from ..fitting.class_worths import MOST_ROWS, ClassWorths
from ..fitting.fit_part import FitPart
from ..fitting.fitted import AnyFit, ClassSource, ClassWorthSource, OneSource, WithWorths
from ..fitting.protocols import WithManyWorths, has_lists, has_many_worths
from ..fitting.ranking_summary import reversal_notes
from ..formulas.grid import At, Difference
from .best import candidates
from .board_anchor import Anchor, anchored, read_anchor
from .board_columns import MOST_GROUPED, BoardColumns, chances_of, letters_of, mean_chances, object_counts
from .board_lines import corrected_line, first_place, ranked_first, simulated_note
from .class_answers import mixture_worths
from .contexts import check_mean, mean_note
from .groups import groups_of
from .large import Measured, check_plain, large_measured, rank_fields
from .log_worths import LogWorths, centred
from .new_judge import asked_of, population_notes
from .pair_tests import all_pairs
from .scales import (
    LEVELS,
    Scale,
    critical_for,
    elo_notes,
    in_points,
    measured_from,
    on_scale,
    scale_text,
    typeset,
    worths_on_scale,
)
from .simultaneous import pairs_of_classes
from .two_boards import two_boards

_ANCHORED = "{} is the anchor: it has no interval, and its error widens all other intervals"
_BY_ITSELF = "First place has its own test; rank ranges are simultaneous and therefore wider"
_MIXTURE = (
    "class all: a judge drawn from all classes; P is Σ π_k P_k(i preferred | decided) against an object of mean "
    "log-worth of each class, or the anchor"
)
_GROUPS = ", groups as well"
_OVER = " over objects and groups"
_NO_MIXTURE = (
    "no leaderboard of all judges: log-worths of classes are not averaged; without grades use scale='log_odds'"
)
_IMPLIED = ("judgments, wins, ties and losses are those of the comparisons that the lists imply",)


@checked
def leaderboard(
    res: AnyFit | FitPart | OneSource | ClassSource,
    *,
    scale: Scale = "log_odds",
    anchor: Anchor | None = None,
    at: At = None,
    by: By | None = None,
    weights: Weights = None,
    hypothesis: GroupHypothesis | None = None,
    population: bool = False,
    beside: WithWorths | None = None,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
) -> Table:
    """Return the leaderboard: estimates, intervals, ranks, counts and groups of the objects, the best first.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults, LargeResults or RankingResults
        For a fit with effects of judges, answers are for the average judge, unless `population` is True.
    scale : {"log_odds", "elo", "log_worth", "odds_ratio", "probability"}
    anchor : label or mapping, optional
        The zero of the scale: by default the mean of the log-worths (for odds the geometric mean), so that no object is
        singled out. A label is the object at 0 (odds 1). ``{"gpt-4": 1000}`` gives that object this value on the scale
        (``"elo"``, ``"log_odds"`` and ``"log_worth"``). Worths (``"probability"``) sum to 1 and have no anchor. For
        graded judgments and other links, all scales except ``"log_worth"`` use P(i preferred | decided), against an
        object of mean log-worth or the anchor.
    at : mapping or "average", optional
        Covariate values at which log-worths are taken, if they differ by covariates: ``{"judge": "J3"}``, or a mean
        with weights that sum to 1, ``{"language": {"de": 0.3, "en": 0.7}}``, on the requested scale (see `worth`).
    by : str or sequence of str, optional
        Covariates that split the answer into blocks of rows, one for each level or for each value that `at` lists. A
        block equals the answer with `at` that level, but rank ranges and groups are simultaneous over all blocks.
    weights : data frame, optional
        A target mix: covariate values and a column ``weight`` that sums to 1, such as the languages and topics of all
        customers. It works like a mix in `at`, but for several covariates jointly; the weights are taken as known.
    hypothesis : "pairwise", optional
        With `by`: differences between the groups, the first minus the second. Not for probabilities; `predict` has
        their differences.
    population : bool
        For a fit with effects of judges: whether answers are for a judge drawn from the population instead of the
        average judge, as in `worth`. Every scale then uses P(i preferred | decided), against an object of mean
        log-worth or the anchor.
    beside : a fit, optional
        Another fit, for example with another formula, or of last week's judgments. Its ranks and estimates, with the
        same options, are in further columns: ``other_rank``, ``other_rank_low``, ``other_rank_high``,
        ``other_estimate``, ``other_conf_low``, ``other_conf_high``, and ``rank_change``, the number of ranks that the
        object gains in `res`. `compare` tests changes between two tables.
    confidence : float
        The level of each interval, and the simultaneous level of all ranks and groups.
    rng : int or numpy.random.Generator
        Used to simulate the distribution of max |z| for ranks and groups; the default seed makes printouts repeatable.

    Returns
    -------
    Table
        ``to_frame()``, csv and JSON have these columns for any fit and options; text has the informative ones. With
        `by` the covariates come first. For latent classes ``class`` and ``share`` come first; there is a board for each
        class, and above them a board for ``"all"``: Σ π_k P_k(i preferred | decided) against an object of mean
        log-worth, on the scale.

        rank, rank_low, rank_high
            As in `Pairwise.ranks`; all ranges are simultaneous. For a fit with effects of objects, ``(1 | object)``,
            they are predictions for each object.
        object
            Its label.
        estimate, std_error, conf_low, conf_high
            On the scale. For a fit with effects of objects, predictions.
        win_share
            The share of its judgments that the object won, with ties and "both bad" as half.
        win_probability
            The model's mean probability that the object wins a decided judgment against another object, with equal
            weight for all others; for a mix of contexts, the mean over the contexts. NaN for differences between
            groups, for graded judgments of a mix, and for patterns.
        judgments, wins, ties, bad, losses
            Counts in the comparisons at the labels that `at` names, else in all; ``bad`` counts "both bad".
        may_be_best
            Whether the object is in the set that contains the best object with at least `confidence`; see `best`. With
            more than 300 objects, and for predictions: whether its rank range begins at 1.
        tier
            1, 2, …: no rank range reaches from one tier into another.
        group
            Letters: objects that share one do not differ significantly. Empty for more than 300 objects, if more than
            nine letters are needed, and for a fit with effects of objects.

        Values are NaN for objects that the table does not compare with the others at `at`. The lines above the columns
        state which objects may be the best. They also give the first object's estimate corrected for selection
        (`best`), if the correction is at least a tenth of a standard error.

    Notes
    -----
    A fit of more than 10,000 objects has no groups. Ranks then come from simultaneous intervals of all centred
    log-worths instead of all pairs: an object is significantly better if its interval is above the other's (Klein,
    Wright & Wieczorek 2020). The critical value is Šidák's for J estimates, which is valid for any correlation.

    References
    ----------
    Klein, M., Wright, T. & Wieczorek, J. (2020). A joint confidence region for an overall ranking of populations.
    Journal of the Royal Statistical Society C 69(3), 589-606.

    Šidák, Z. (1967). Rectangular confidence regions for the means of multivariate normal distributions. Journal of the
    American Statistical Association 62(318), 626-633.

    Raises
    ------
    OptionError
        If log-worths differ between classes and `at` is missing; for an unknown anchor, or an anchor on a scale without
        one; for a population if the fit has no effects of judges; and for a population on the scale of log-worths.
    DesignError
        For an anchor that the table does not compare with the others.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> board = llbt.leaderboard(res, scale="elo", anchor={"D": 1000}).to_frame()
    >>> board[["object", "estimate", "rank_low", "rank_high", "wins", "group"]].round(0).values.tolist()[:2]
    [['A', 1139.0, 1, 1, 402, 'a'], ['D', 1000.0, 2, 2, 334, 'b']]
    """
    if beside is not None:
        if by is not None or isinstance(res, ClassWorthSource):
            asked = f"by={by!r}" if by is not None else "latent classes"
            raise OptionError(f"beside= with {asked}, which makes several leaderboards", "Leave beside= out.")
        one, other = (
            leaderboard(
                of, scale=scale, anchor=anchor, at=at, weights=weights, population=population,
                confidence=confidence, rng=rng,
            )
            for of in (res, beside)
        )  # fmt: skip
        return _beside(one, other, beside)
    if by is not None or weights is not None or hypothesis is not None:
        if hypothesis is not None and isinstance(anchor, Mapping):
            raise OptionError(f"anchor={dict(anchor)!r} of differences", "Name the object alone; its difference is 0.")
        groups = groups_of(res, at, by, weights, hypothesis)
        if isinstance(res, ClassWorthSource):
            return stack_groups(
                groups,
                lambda place: leaderboard(
                    res, scale=scale, anchor=anchor, at=place, population=population, confidence=confidence, rng=rng
                ),
            )
        shared = _shared(res, [group.at for group in groups], population, scale, rng)
        return stack_groups(
            groups, lambda place: _board(res, scale, anchor, place, population, confidence, rng, shared)
        )
    if isinstance(res, ClassWorthSource):
        of = res.class_worths()
        boards = of.stacked(
            lambda one: leaderboard(
                one, scale=scale, anchor=anchor, at=at, population=population, confidence=confidence, rng=rng
            )
        )
        return _with_all_judges(of, boards, scale, anchor, at, confidence, rng)
    if has_many_worths(res):
        check_plain(at, population)
        return _large_board(res, scale, anchor, confidence)
    return _board(res, scale, anchor, at, population, confidence, rng, None)


def _shared(
    res: AnyFit | FitPart | OneSource, places: Sequence[At], population: bool, scale: Scale, rng: Rng
) -> MaxZ | None:
    """Return the distribution of max |z| over the pairs of objects in all groups; None for one group."""
    asked = [asked_of(res, place, population, scale) for place in places]
    log_worths = [centred(plain, at, drawn)[0] for plain, at, drawn in asked]
    return pairs_of_classes(asked[0][0], log_worths, as_generator(rng))


def _board(
    res: AnyFit | FitPart | OneSource,
    scale: Scale,
    anchor: Anchor | None,
    at: At,
    population: bool,
    confidence: float,
    rng: Rng,
    shared: MaxZ | None,
) -> Table:
    """Return the leaderboard of one class; rank ranges are simultaneous over all pairs of `shared`."""
    plain, at, drawn = asked_of(res, at, population, scale)
    log_worths, notes = centred(plain, at, drawn)
    graded = log_worths.beside is not None
    check_mean(log_worths.contexts, graded, scale)
    label, value = read_anchor(plain, anchor, scale, graded)
    tested = len(log_worths.estimate) <= MOST_GROUPED
    pairs = all_pairs(plain, log_worths, rng, confidence=confidence, tested=tested, adjusted=False, shared=shared)
    measured = log_worths if label is None else anchored(plain, log_worths, label)
    z = critical_for(plain, measured, scale, confidence)
    levels, error, low, high = worths_on_scale(measured, scale, z)
    estimate, low, high = levels + value, low + value, high + value
    counts, more = object_counts(plain.comparisons, at)
    order = pairs.best_first
    where = measured_from(scale, graded, label, value if isinstance(anchor, Mapping) else None)
    level, ranks, letters = f"{100 * confidence:.4g} %", pairs.rank_fields(), letters_of(pairs)
    sums = isinstance(at, Difference) or getattr(res, "answers_depend", False)  # these do not give probabilities
    chances = np.full(len(order), np.nan) if sums else chances_of(pairs, log_worths)
    ranked = ranked_first(ranks, order)
    first = candidates(pairs, log_worths, ranked, as_generator(rng))
    columns = BoardColumns(pairs.objects, order, ranks, (estimate, error, low, high), counts, chances, first)
    corrected = () if graded and scale != "log_worth" else corrected_line(pairs, log_worths, scale, (label, value), rng)
    board = Table(
        columns.fields(
            confidence,
            letters=letters,
            typeset=typeset(scale, graded),
            bad=plain.comparisons.response.has_bad,
            mix=log_worths.contexts is not None,
        ),
        title=f"Leaderboard: {scale_text(scale, LEVELS, graded)}{where}",
        head=(*first_place(pairs.objects, order, first, level), *corrected),
        notes=(
            *notes,
            *mean_note(log_worths.contexts, scale, "mean worth π"),
            *_other_first(plain.comparisons, log_worths),
            *more,
            *((*_IMPLIED, *reversal_notes(res)) if has_lists(res) else ()),
            *(plain.comparisons.notes if isinstance(res, FitPart) else ()),  # notes on counts
            *population_notes(drawn),
            *plain.covariance.missing_notes(estimate, error),
            *elo_notes(plain.comparisons, scale, graded),
            *(() if label is None else (_ANCHORED.format(label),)),
            (
                f"Rank ranges are simultaneous{_OVER if shared else ''}: all are correct with {level} confidence"
                if pairs.rank_ranges is None
                else pairs.rank_note
            )
            + (_GROUPS if letters is not None and not letters.frame_only else ""),
            *(() if first.sum() == ranked.sum() else (_BY_ITSELF,)),
            *(simulated_note(pairs) if pairs.rank_ranges is None else ()),
        ),
        answer="leaderboard",
    )
    return in_points(board, confidence) if scale == "elo" else board


def _beside(board: Table, other: Table, of: WithWorths) -> Table:
    """Return two leaderboards in one table, with notes that tell them apart."""
    both = two_boards(board, other, "other", "Other fit")
    described = f"other fit: {of.specification.formula}; change: ranks that the object gains here"
    more = tuple(note for note in other.notes if note not in both.notes)
    notes = (described, *both.notes, *(about("other fit", note) for note in more))
    return replace(both, notes=notes, printed=both.printed and replace(both.printed, notes=notes)).first()


def _with_all_judges(
    of: ClassWorths, boards: Table, scale: Scale, anchor: Anchor | None, at: At, confidence: float, rng: Rng
) -> Table:
    """Return the mixture's board and, below it, the classes' boards: Σ π_k P_k(i beats the average)."""
    first = of.each[0]
    log_worths = [centred(one, at)[0] for one in of.each]
    if scale == "log_worth" or log_worths[0].beside is not None or log_worths[0].contexts or isinstance(at, Difference):
        return replace(boards, notes=(*boards.notes, _NO_MIXTURE), answer="")
    label, value = read_anchor(first, anchor, scale, False)
    measured = (
        log_worths if label is None else [anchored(one, f, label) for one, f in zip(of.each, log_worths, strict=True)]
    )
    mixed = mixture_worths(of, measured)
    pairs = all_pairs(first, mixture_worths(of, log_worths), rng, confidence=confidence)
    z = critical_value(confidence, np.inf)
    error = np.sqrt(np.maximum(np.diag(mixed.cov), 0))
    estimate, error, low, high = on_scale(scale, mixed.estimate, error, z)
    counts, _ = object_counts(of.pooled.comparisons, at)
    chances = of.shares @ np.stack([mean_chances(one.estimate) for one in log_worths])
    levels = (estimate + value, error, low + value, high + value)
    order, ranks = pairs.best_first, pairs.rank_fields()
    columns = BoardColumns(pairs.objects, order, ranks, levels, counts, chances, ranked_first(ranks, order))
    on_top = {field.name: field for field in columns.fields(confidence, bad=of.pooled.comparisons.response.has_bad)}
    size = len(pairs.objects)
    on_top["class"] = Field("class", "class", ["all"] * size, "composed")
    on_top["share"] = Field("share", "share", np.ones(size), "number", 3)
    kinds: dict[str, Any] = dict.fromkeys(counts, "number")  # judgments are shared among the classes
    fields = tuple(
        replace(stacked_field([on_top[f.name], f]), kind=kinds.get(f.name, on_top[f.name].kind)) for f in boards.fields
    )
    return replace(
        boards, fields=fields, notes=(*(n.removesuffix(_GROUPS) for n in boards.notes), _MIXTURE), answer=""
    ).first(MOST_ROWS)


def _large_board(res: WithManyWorths, scale: Scale, anchor: Anchor | None, confidence: float) -> Table:
    """Return the leaderboard of very many objects."""
    label, value = read_anchor(res, anchor, scale, graded=False)
    place = None if label is None else res.comparisons.objects.index(label)
    measured: Measured = large_measured(res, scale, confidence, place)
    c, level = res.comparisons, f"{100 * confidence:.4g} %"
    where = measured_from(scale, False, label, value if isinstance(anchor, Mapping) else None)
    levels = (measured.estimate + value, measured.error, measured.low + value, measured.high + value)
    ranks, counts = rank_fields(res, confidence, measured.order), object_counts(c, None)[0]
    first = ranked_first(ranks, measured.order)
    columns = BoardColumns(c.objects, measured.order, ranks, levels, counts, mean_chances(res.worths), first)
    board = Table(
        columns.fields(confidence, typeset=typeset(scale, False), bad=c.response.has_bad),
        title=f"Leaderboard: {LEVELS[scale]}{where}",
        head=first_place(c.objects, measured.order, first, level),
        notes=(
            *measured.notes,
            *elo_notes(res.comparisons, scale, False),
            *(() if label is None else (_ANCHORED.format(label),)),
            f"{level} intervals are for each object alone; {level} rank ranges hold for all objects.",
            "Rank ranges (Klein, Wright & Wieczorek 2020) are wider than those by all pairs.",
        ),
        answer="leaderboard",
    ).first()
    return in_points(board, confidence) if scale == "elo" else board


def _other_first(c: Comparisons, log_worths: LogWorths) -> tuple[str, ...]:
    """Return a note if the largest mean win probability and the largest mean log-worth belong to different objects."""
    if log_worths.contexts is None or log_worths.beside is not None:
        return ()
    shares = log_worths.contexts.win_shares()
    first, other = int(np.nanargmax(log_worths.estimate)), int(np.nanargmax(shares))
    if first == other:
        return ()
    names, percent = c.objects, [f"{100 * shares[k]:.3g} %" for k in (other, first)]
    return (
        f"{names[other]} has the largest win share over {log_worths.contexts.text} ({percent[0]}; {names[first]}: "
        f"{percent[1]}), {names[first]} the largest mean log-odds",
    )
