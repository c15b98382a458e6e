"""Latent classes of judges: groups with similar preferences, found from the judgments alone."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt

from ..base.arguments import Count, Jobs, Kind, Rng, checked, is_list, is_whole
from ..base.notes import Qualifying
from ..base.table import Field, Record, Table, counted
from ..base.table import Kind as CellKind
from ..core.columns import is_among
from ..core.comparisons import Comparisons
from ..errors import DesignError, OptionError, listed
from ..fitting.clusters import kept_way
from ..fitting.merged_rows import distinct
from ..fitting.model import LLBT
from ..fitting.results import LLBTResults
from ..fitting.specification import Prior
from ..formulas.brackets import split_brackets
from ..formulas.coding import Reference
from ..inference.refit import refit_data, refit_table
from ..inference.tested_models import tested
from ..inference.unit_models import unit_model, units_to_predict
from ..kernel.likelihood import pseudo_counts
from ..kernel.mixture import Answers, continued, mixture
from ..resampling import Resampler
from .class_fit import ByJudge, LatentClasses
from .class_lines import class_units_to_predict, table_of_judges
from .class_test import ClassTest, bootstrap_test, model_of_classes
from .class_units import class_units

_IMPLIED = re.compile(
    r"[Jj]udgments implied by one list|judge's ratings are not independent|share their scores"
)  # notes
_LEAST = 3  # judges
_WORDS = {"worth": "object"}


def _are_numbers(k: object) -> bool:
    several = [k] if is_whole(k) else list(k) if is_list(k) else []
    return len(several) > 0 and all(is_whole(one) and one >= 1 for one in several)


Classes = Annotated[int | Sequence[int], Kind(_are_numbers, "a number of classes, or several: range(1, 7)")]


@dataclass(frozen=True, repr=False, eq=False)
class ClassModels(Record):
    """Fits of several numbers of classes.

    Made by `classes`; ``models[3]`` is the fit of three classes.

    Attributes
    ----------
    fits : tuple of LatentClasses
        In the order of their numbers.
    """

    _made_by: ClassVar[str] = "llbt.judges.classes(formula, c)"

    fits: tuple[LatentClasses, ...]

    def __getitem__(self, k: int) -> LatentClasses:
        """Return the fit of K classes."""
        for one in self.fits:
            if one.k == k:
                return one
        raise OptionError(
            f"{k!r} classes", expected=f"a number that was fitted: {listed([one.k for one in self.fits])}"
        )

    @property
    def best(self) -> LatentClasses:
        """The fit with the smallest BIC of judges among those whose classes all have finite estimates."""
        finite = [one for one in self.fits if not one.infinite]
        return min(finite or self.fits, key=lambda one: one.bic_judges)

    @checked
    def bootstrap_test(
        self,
        k: Count,
        *,
        n: Count = 99,
        starts: Count = 10,
        enough: Count = 10,
        rng: Rng = None,
        n_jobs: Jobs = 1,
        progress: bool = False,
    ) -> ClassTest:
        """Test K classes against K + 1 with judges drawn from the fit of K classes.

        Parameters
        ----------
        k : int
            K, the smaller number of classes. K and K + 1 must both be among the fits.
        n : int
            The largest number of tables to draw.
        starts : int
            The number of random starts of EM in each table, besides the estimates.
        enough : int
            Drawing ends when this many drawn statistics are as large as the observed one, because p is then precise
            enough.
        rng : int, Generator or None
            The seed or generator of tables and starts.
        n_jobs : int
            Processes; −1 for one per core. The result is the same for the same `rng`.
        progress : bool
            Whether to show a bar; after the first table it estimates the time for all n.

        Returns
        -------
        ClassTest

        Raises
        ------
        OptionError
            If K or K + 1 classes were not fitted.

        Notes
        -----
        2 Δ log-likelihood has no χ² distribution (McLachlan 1987, Applied Statistics 36(3)), so the test simulates its
        distribution. For judges with the same comparisons, it draws a class and then answers from the fit of K classes,
        and fits both numbers of classes to these answers. p = (1 + statistics as large)/(n + 1). If `enough` statistics
        are as large after B < n draws, p is `enough`/B (Besag & Clifford 1991, Biometrika 78(2)). If K classes suffice,
        this happens early. n = 99 fits K and K + 1 classes from starts + 1 starts each, about 2,200 runs of EM. In
        simulations with 30 judges and four objects, each pair judged twice, the test at 5 % rejects one true class in
        5.8 % and two true classes in 5.3 %.

        Examples
        --------
        >>> import pandas as pd
        >>> import llbt
        >>> rows = [
        ...     (judge, i, j, "i" if (i < j) == (judge % 2 == 0) or judge == n else "j")
        ...     for judge in range(12)
        ...     for n, (i, j) in enumerate([("A", "B"), ("A", "C"), ("B", "C"), ("A", "D"), ("B", "D"), ("C", "D")])
        ... ]
        >>> frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
        >>> c = llbt.from_judgments(frame, clusters="judge")
        >>> classes = llbt.judges.classes("object", c, k=[1, 2], prior=0.5, rng=1)
        >>> classes.bootstrap_test(1, n=19, starts=3, rng=1).p_value
        0.05
        """
        small, large = self[k], self[k + 1]
        draw = Resampler.of("ClassModels.bootstrap_test", rng, n_jobs, progress)
        return bootstrap_test(small, large, n, starts, enough, draw)

    def table(self) -> Table:
        """Return k, llf, n_params, aic, bic, bic_judges, icl, entropy, smallest, starts, reached; a row per K."""
        fits = self.fits
        columns: tuple[tuple[str, str, Sequence[float], CellKind], ...] = (
            ("k", "K", [one.k for one in fits], "count"),
            ("llf", "log-lik.", [one.llf for one in fits], "statistic"),
            ("n_params", "params", [one.n_params for one in fits], "count"),
            ("aic", "AIC", [one.aic for one in fits], "statistic"),
            ("bic", "BIC", [one.bic for one in fits], "statistic"),
            ("bic_judges", "BIC of judges", [one.bic_judges for one in fits], "statistic"),
            ("icl", "ICL", [one.icl for one in fits], "statistic"),
            ("entropy", "entropy", [one.entropy for one in fits], "estimate"),
            ("smallest", "smallest share", [float(one.mixture.shares.min()) for one in fits], "estimate"),
            ("starts", "starts", [one.mixture.starts for one in fits], "count"),
            ("reached", "reached best", [one.mixture.reached for one in fits], "count"),
        )
        notes = [
            f"BIC of judges is smallest at K = {self.best.k}. It counts the "
            f"{counted(len(fits[0].by_judge.levels), 'judge')}, BIC the judgments."
        ]
        gone = [one.k for one in fits if one.infinite]
        if gone:
            notes.append(
                Qualifying(
                    f"K = {listed(gone)}: a class has infinite estimates, so BIC and ICL are bounds. A prior makes "
                    "them finite: prior=0.1."
                )
            )
        first = fits[0]
        return Table(
            tuple(Field(name, heading, values, kind) for name, heading, values, kind in columns),
            title=f"Latent classes of {first.by_judge.name}: {first.pooled.specification.formula}",
            notes=(*notes, *first.pooled.comparisons.notes),
        )


@checked
def classes(
    formula: str,
    data: Comparisons,
    *,
    by: str = "judge",
    k: Classes = range(1, 7),
    starts: Count = 50,
    common: Sequence[str] = (),
    prior: Prior = None,
    reference: Reference = None,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    progress: bool = False,
) -> ClassModels:
    """Find classes of judges with similar preferences: a mixture of K log-linear Bradley-Terry models, fitted by EM.

    Parameters
    ----------
    formula : str
        The model of each class: ``"object + tie"``; covariates as in `llbt.fit`, no brackets.
    data : Comparisons
        With the judges as a cluster or a covariate: ``llbt.from_judgments(frame, clusters="judge")``.
    by : str
        The column whose levels are the judges.
    k : int or sequence of int
        How many classes; several are compared.
    starts : int
        The number of random starts of EM, for each K.
    common : sequence of str
        Terms of the formula that all classes share, such as ``["tie", "order"]``.
    prior : float, optional
        Number of judgments added to each pair in each class, spread over its outcomes. It keeps estimates finite.
    reference : label or mapping, optional
        As in `llbt.fit`.
    rng : int, Generator or None
        The seed or generator of the starts.
    n_jobs : int
        Processes, among which the numbers of classes are divided; −1 for one per core. The result is the same for
        the same `rng`.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    ClassModels
        A row per K; ``models[3]`` has the shares, the worths by class and the posteriors of the judges.

    Raises
    ------
    FormulaError
        As `llbt.fit`, and for brackets.
    OptionError
        If the table does not keep the judges, for more classes than judges with different answers, and for unknown
        terms in `common`.
    DesignError
        For fewer than three judges, for judgments that are implied by rankings, ratings or scores, and as `llbt.fit`.
    SeparationError
        If all judges together have no finite estimates, and there is no prior.

    Notes
    -----
    Each judge belongs to one class, and all judgments of the judge follow its model: L = Σ_g log Σ_k π_k Π p_k
    (Dempster, Laird & Rubin 1977, Journal of the Royal Statistical Society B 39). Newton's method takes the best of all
    starts to the maximum. Standard errors come from the observed information of L, so they allow for uncertain class
    membership. A class whose judges agree on everything has no finite estimates; a note says so. BIC counts judges.

    Examples
    --------
    >>> import pandas as pd
    >>> import llbt
    >>> likes = {"ann": "ABC", "bob": "ABC", "cem": "ACB", "dan": "CBA", "eve": "CBA", "fay": "BCA", "gus": "CAB"}
    >>> pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    >>> rows = [
    ...     (who, i, j, "i" if order.index(i) < order.index(j) else "j")
    ...     for who, order in likes.items()
    ...     for i, j in pairs
    ... ]
    >>> frame = pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"])
    >>> c = llbt.from_judgments(frame, clusters="judge")
    >>> classes = llbt.judges.classes("object", c, k=[1, 2], prior=1, rng=1)
    >>> classes[2].posterior.round(2).loc["ann"].tolist()
    [0.04, 0.96]
    """
    text, brackets = split_brackets(formula)
    if brackets:
        raise OptionError(
            f"formula {formula!r} with brackets", "Leave them out: the classes describe how judges differ."
        )
    _check_made(data)
    pooled = LLBT.from_formula(text, data, reference=reference).fit(prior=prior)
    by_judge = _by_judge(pooled, data.named(by), common, prior)
    numbers = [int(k)] if is_whole(k) else sorted({int(one) for one in k})  # type: ignore[union-attr]
    distinct_judges = len(by_judge.answers.repeats)
    if numbers[-1] > distinct_judges:
        raise OptionError(
            f"k={numbers[-1]}", expected=f"at most {distinct_judges}, the number of judges with different answers"
        )
    resampler = Resampler.of("judges.classes", rng, n_jobs, progress)
    tasks = [functools.partial(_fitted, pooled, by_judge, number, starts) for number in numbers]
    return ClassModels(tuple(resampler.each(tasks, [number * number for number in numbers])))


def _fitted(pooled: LLBTResults, by_judge: ByJudge, k: int, starts: int, rng: np.random.Generator) -> LatentClasses:
    best = mixture(by_judge.answers, k, pooled.solution.params, starts, rng)
    return LatentClasses(pooled, by_judge, best)


def classes_again(res: LatentClasses, data: Comparisons) -> LatentClasses:
    """Return the same classes fitted to another table of judges, starting from their estimates, in the same order."""
    pooled = refit_table(res.pooled, data)
    answers = res.by_judge.answers
    blocks = np.array([res.design.blocks[at] for at in res.pooled.free], dtype=object)[answers.common]
    common = [_WORDS.get(block, block) for block in dict.fromkeys(blocks.tolist())]
    by_judge = _by_judge(pooled, res.by_judge.name, common, pooled.specification.prior)
    if len(pooled.free) != len(res.pooled.free):
        raise DesignError("the resampled judges do not determine all parameters of the classes", "Draw others.")
    mixture_ = continued(by_judge.answers, res.mixture, pooled.solution.params, 0, np.random.default_rng(0))
    again = LatentClasses(pooled, by_judge, mixture_)
    if again.infinite or not mixture_.converged:
        raise DesignError("a class has no finite estimates", "Take fewer classes, or fit with prior=0.1.")
    return again


unit_model.register(LatentClasses)(class_units)
units_to_predict.register(LatentClasses)(class_units_to_predict)
refit_data.register(LatentClasses)(classes_again)
tested.register(LatentClasses)(model_of_classes)


def _check_made(data: Comparisons) -> None:
    """Raise for judgments that are implied by rankings, ratings or scores: these are not independent in a class."""
    why = next((note for note in data.notes if _IMPLIED.search(note)), None)
    if why is None:
        return
    raise DesignError(
        f"judgments from one ranking, rating or score depend on each other ({why}). Latent classes assume independent "
        "judgments and would appear even in one population",
        "Fit the rankings whole: llbt.fit('object', llbt.from_rankings(…)); or split the judges by covariates: "
        "llbt.judges.tree('object', llbt.from_rankings(…), by='judge').",
        expected="pairs that were judged one by one",
    )


def _by_judge(pooled: LLBTResults, by: str, common: Sequence[str], prior: Prior) -> ByJudge:
    way = kept_way(pooled.comparisons, by, (by,))
    if len(way.levels) < _LEAST:
        raise DesignError(
            f"by={by!r} has {counted(len(way.levels), 'judge')}",
            f"Give each judge their own worths: llbt.fit('object * {by}', c).",
            expected=f"at least {_LEAST}",
        )
    problem, first, merged = distinct(pooled.design, pooled.problem(), list(pooled.comparisons.pairs.T))
    lines = way.clusters
    outcomes = problem.counts.shape[1]
    table = table_of_judges(merged[lines.rows], lines.codes, lines.counts, len(problem.counts))
    counts = np.zeros_like(problem.counts)
    if prior is not None:
        counts = pseudo_counts(pooled.comparisons.pairs[first], problem.totals, outcomes, float(prior))
    answers = Answers.of(problem, table, _common(pooled, common), counts)
    return ByJudge(by, way.levels, answers, lines.rows, lines.codes, lines.counts)


def _common(pooled: LLBTResults, common: Sequence[str]) -> npt.NDArray[np.bool_]:
    blocks = np.array([pooled.design.blocks[at] for at in pooled.free], dtype=object)
    words = [_WORDS.get(block, block) for block in blocks.tolist()]
    unknown = [term for term in common if not is_among(term, set(words))]
    if unknown:
        raise OptionError(f"common={unknown!r}", expected=f"terms of the formula: {listed(list(dict.fromkeys(words)))}")
    return np.array([word in common for word in words], dtype=np.bool_)
