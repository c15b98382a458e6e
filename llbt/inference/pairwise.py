"""Compare every pair of objects, with the error controlled over all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np

from ..base.arguments import Confidence, Positive, Rng, as_generator, checked
from ..base.notes import Qualifying
from ..base.table import Table, counted
from ..core.columns import IntArray, Label, known
from ..errors import OptionError
from ..fitting.asked_groups import By, GroupHypothesis, Weights, stack_groups
from ..fitting.class_worths import ClassWorths
from ..fitting.fit_part import FitPart
from ..fitting.fitted import AnyFit, ClassSource, ClassWorthSource, OneSource
from ..fitting.protocols import WithManyWorths, has_many_worths
from ..formulas.grid import At
from .class_answers import class_pairs
from .contexts import check_mean, mean_note
from .groups import groups_of
from .large import check_plain, large_pairs
from .log_worths import centred
from .margins import Adjust, check_tested
from .new_judge import asked_of, population_notes
from .pair_tests import all_pairs
from .pairwise_record import Pairwise
from .scales import Scale


@overload
def pairwise(
    res: AnyFit | FitPart | OneSource,
    *,
    objects: Sequence[Label] | None = None,
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    at: At = None,
    by: None = None,
    weights: Weights = None,
    hypothesis: None = None,
    population: bool = False,
    margin: Positive | None = None,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
) -> Pairwise: ...
@overload
def pairwise(
    res: ClassSource,
    *,
    objects: Sequence[Label] | None = None,
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    at: At = None,
    by: By | None = None,
    weights: Weights = None,
    hypothesis: GroupHypothesis | None = None,
    population: bool = False,
    margin: Positive | None = None,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
) -> Table: ...
@overload
def pairwise(
    res: AnyFit | OneSource | ClassSource,
    *,
    objects: Sequence[Label] | None = None,
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    at: At = None,
    by: By,
    weights: Weights = None,
    hypothesis: GroupHypothesis | None = None,
    population: bool = False,
    margin: Positive | None = None,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
) -> Table: ...


@checked
def pairwise(
    res: AnyFit | FitPart | OneSource | ClassSource,
    *,
    objects: Sequence[Label] | None = None,
    scale: Scale = "log_odds",
    adjust: Adjust | None = "single-step",
    at: At = None,
    by: By | None = None,
    weights: Weights = None,
    hypothesis: GroupHypothesis | None = None,
    population: bool = False,
    margin: Positive | None = None,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
) -> Pairwise | Table:
    """Compare every pair of objects: estimates, tests, adjusted p-values and simultaneous intervals.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults, LargeResults or RankingResults
        For a fit with effects of judges, answers are for the average judge, unless `population` is True.
    objects : sequence of labels, optional
        The objects to compare, by default all. With a fit of more than 10,000 objects, at most 1,000. Tests are
        adjusted for the pairs of these objects.
    scale : {"log_odds", "log_worth", "odds_ratio", "elo", "probability"}
        The scale of estimates and intervals: 2(λ_i − λ_j), λ_i − λ_j, the odds exp(2(λ_i − λ_j)), 400·log10 of the
        odds, or P(i beats j | decided) = 1/(1 + exp(−2(λ_i − λ_j))). Tests are the same on all scales. For graded
        judgments and other links, all scales except ``"log_worth"`` use P(i preferred | decided), for any grade, with
        errors by the delta method.
    adjust : {"single-step", "holm", "bonferroni", "fdr_bh"} or None
        How p-values are adjusted for the number of pairs: single-step, Holm and Bonferroni control the chance of any
        false finding, and ``"fdr_bh"`` controls the expected share of false findings. None: p-values are not adjusted.
    at : mapping or "average", optional
        Covariate values at which log-worths are taken, if they differ by covariates: ``{"judge": "J3"}``, or a mean
        with weights that sum to 1, ``{"language": {"de": 0.3, "en": 0.7}}``, on the requested scale (see `worth`).
    by : str or sequence of str, optional
        Covariates that split the answer into blocks of rows, one for each level or for each value that `at` lists. A
        block equals the answer with `at` that level; its p-values and simultaneous intervals hold within the block.
    weights : data frame, optional
        A target mix: covariate values and a column ``weight`` that sums to 1, such as the languages and topics of all
        customers. It works like a mix in `at`, but for several covariates jointly; the weights are taken as known.
    hypothesis : "pairwise", optional
        With `by`: differences between the groups, the first minus the second. Not for probabilities; `predict` has
        their differences.
    population : bool
        For a fit with effects of judges: whether answers are for a judge drawn from the population instead of the
        average judge. Probabilities are then averaged over the distribution of the effects, so they are nearer to ½, as
        in `worth`. Tests are the same. Not with ``"log_worth"``.
    margin : float, optional
        The largest difference that does not matter, on the scale: 20 Elo, an odds ratio of 1.25, a probability of .05
        from one half. It is then tested whether i is no worse than j, no better, or equivalent, adjusted by `adjust`
        for both directions of all pairs. With ``"single-step"`` the claims agree with the simultaneous intervals.
    confidence : float
        The simultaneous level of all intervals, whatever `adjust` is.
    rng : int or numpy.random.Generator
        Used to simulate the distribution of max |z|. The default seed makes printouts repeatable; other seeds change
        the intervals by about a thousandth of their width (with 2,000 objects, about three thousandths).

    Returns
    -------
    Pairwise or Table
        With `by` a table of the pairs of each group.
        For latent classes a table: class, share, the columns below for each class with p-values adjusted over its
        pairs, and p_over_classes, adjusted over the pairs of all classes; intervals are simultaneous over all classes,
        too. Else a Pairwise: object_i, object_j, estimate, std_error, statistic, p_value, p_adjusted, conf_low,
        conf_high; one row per pair. Intervals are made on the log-odds scale and transformed. For a fit with effects of
        objects, ``(1 | object)``, worths are predictions: probability_greater, P(λ_i > λ_j), replaces statistic and
        p-values, and intervals are prediction intervals. Values are NaN for objects whose log-worth the table does not
        determine, because they were not compared with the others at `at`. Their pairs do not count in adjustments. With
        `margin` there are also p_no_worse, p_no_better, p_equivalent and claim, as in `contrasts`.

    Raises
    ------
    OptionError
        For a margin with predictions or latent classes, and a margin that leaves no room on the scale. If log-worths
        differ between classes and `at` is missing. For unknown options and objects, for a population if the fit has no
        effects of judges or on the scale of log-worths, and for too many objects.
    DesignError
        If the pairs do not fit into memory.

    Notes
    -----
    Single-step p-values and intervals come from the distribution of the largest |z| over all pairs, with their actual
    correlation. So they agree with each other, and they are never wider than Bonferroni's. For equal variances and
    correlations this is Tukey's method.

    References
    ----------
    Hothorn, T., Bretz, F. & Westfall, P. (2008). Simultaneous inference in general parametric models. Biometrical
    Journal 50(3), 346-363.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> pairs = llbt.pairwise(res)
    >>> pairs.to_frame()[["object_i", "object_j", "estimate", "p_adjusted"]].round(3).values.tolist()[:3]
    [['A', 'B', 2.997, 0.0], ['A', 'C', 3.9, 0.0], ['A', 'D', 0.801, 0.0]]
    """

    def again(of: AnyFit | FitPart | OneSource | ClassSource, place: At) -> Pairwise | Table:
        return pairwise(
            of,
            objects=objects,
            scale=scale,
            adjust=adjust,
            at=place,
            population=population,
            margin=margin,
            confidence=confidence,
            rng=rng,
        )

    if by is not None or weights is not None or hypothesis is not None:
        groups = groups_of(res, at, by, weights, hypothesis)
        return again(res, groups[0].at) if by is None else stack_groups(groups, lambda place: again(res, place).table())
    if isinstance(res, ClassWorthSource):
        if margin is not None:
            raise OptionError(
                "margin= with latent classes: only tests of equality are adjusted over classes",
                "Name the pair: llbt.contrasts(classes, {'A - B': {'A': 1, 'B': -1}}, margin=…).",
            )
        of = res.class_worths()
        stacked = of.stacked(lambda one: again(one, at).table())
        return _in_classes(of, stacked, objects, scale, adjust, at, confidence, rng)
    if has_many_worths(res):
        check_plain(at, population)
        return large_pairs(res, _few(res, objects), as_generator(rng), scale, adjust, margin, confidence)
    plain, at, drawn = asked_of(res, at, population, scale)
    if margin is not None:
        check_tested(plain, "pairwise")
    log_worths, notes = centred(plain, at, drawn)
    check_mean(log_worths.contexts, log_worths.beside is not None, scale)
    mean = mean_note(log_worths.contexts, scale)
    if mean and scale == "probability":
        mean = (*mean, _OF_MEANS)
    notes = (*notes, *mean, *population_notes(drawn), *((_OF_AVERAGE,) if drawn else ()), *_of_patterns(res, scale))
    labels: tuple[Label, ...] = ()
    if objects is not None:
        some = _positions(objects, plain.comparisons.objects)
        labels, log_worths = tuple(plain.comparisons.objects[k] for k in some), log_worths.some(some)
        notes = (*notes, f"{counted(len(labels), 'object')} of {len(plain.comparisons.objects)}")
    return all_pairs(
        plain,
        log_worths,
        rng,
        objects=labels,
        scale=scale,
        adjust=adjust,
        margin=margin,
        confidence=confidence,
        notes=notes,
    )


def _of_patterns(res: object, scale: Scale) -> tuple[str, ...]:
    """Return a note on the meaning of differences in fits of patterns; raise for probabilities."""
    if not getattr(res, "answers_depend", False):  # only fits of patterns may have this attribute
        return ()
    if scale == "probability":
        raise OptionError(
            "scale='probability', but answers of a judge depend on each other here, and exp(2(λᵢ − λⱼ)) are odds given "
            "the judge's other answers",
            "Use the probabilities of the answers: res.predict().",
        )
    return ("differences describe one answer, given all other answers of the judge",)


def _in_classes(
    of: ClassWorths,
    stacked: Table,
    objects: Sequence[Label] | None,
    scale: Scale,
    adjust: Adjust | None,
    at: At,
    confidence: float,
    rng: Rng,
) -> Table:
    """Return the pairs of every class, also adjusted over all classes."""
    log_worths = [centred(one, at)[0] for one in of.each]
    notes = dict.fromkeys(note for one in of.each for note in centred(one, at)[1])
    if objects is not None:
        log_worths = [one.some(_positions(objects, of.each[0].comparisons.objects)) for one in log_worths]
    return class_pairs(
        of, log_worths, replace(stacked, notes=(*notes, *of.notes)), scale, adjust, confidence, as_generator(rng)
    )


_MOST_OBJECTS = 1000  # most objects of a very large fit, whose covariances are solved for


def _few(res: WithManyWorths, objects: Sequence[Label] | None) -> IntArray:
    """Return the positions of the objects that are compared in a very large fit."""
    there = len(res.comparisons.objects)
    if objects is None or len(objects) > _MOST_OBJECTS:
        size = there if objects is None else len(objects)
        raise OptionError(
            f"{size * (size - 1) // 2:,} pairs of {size:,} objects",
            "Name those to be compared: pairwise(res, objects=[…]).",
            expected=f"up to {_MOST_OBJECTS:,} objects",
        )
    return _positions(objects, res.comparisons.objects)


def _positions(objects: Sequence[Label], there: Sequence[Label]) -> IntArray:
    """Return the positions of two or more objects, each named once, in the order of the table."""
    wanted = set(known(objects, there, "objects"))
    if len(wanted) < 2:
        raise OptionError(f"objects={list(objects)!r}", expected="two objects or more")
    return np.array([k for k, label in enumerate(there) if label in wanted], dtype=np.int64)


_OF_MEANS = "z values and p-values are of the mean log-odds, which may favour another object than the mean probability"
_OF_AVERAGE = Qualifying("z values and p-values are of log-worths: a new judge is undecided where the average judge is")
