"""Every pair of objects compared, and what follows: letters, significance clusters, ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import special

from ..base.table import Field, Record, Table, counted, format_number, interval_fields
from ..core import statistics
from ..core.columns import FloatArray, IntArray, Label
from ..core.statistics import ratio
from ..errors import DesignError
from .margins import Adjust, Margin
from .scales import DIFFERENCES, LEVELS, Scale, level_on_scale, measured_from, on_scale, scale_text

ADJUSTED = {
    "single-step": "single-step",
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "fdr_bh": "Benjamini and Hochberg's method (false discovery rate)",
    None: "not adjusted",
}
MOST_LETTERS = 9  # most letters that a reader can distinguish in a table
_LAST_LETTER = 52  # a…z and A…Z; further letters would be words
SAME = 1e-9  # log-worths closer than this count as equal


@dataclass(frozen=True, eq=False)
class Decided:
    """Half the log-odds of being preferred, given a decision; used for graded judgments in place of λ_i − λ_j.

    Attributes
    ----------
    difference, std_error : ndarray, shape (m,)
        The half log-odds of every pair, and their standard errors.
    level : ndarray, shape (J,)
        The half log-odds of every object, against an object of mean log-worth.
    """

    difference: FloatArray
    std_error: FloatArray
    level: FloatArray


@dataclass(frozen=True, repr=False, eq=False)
class Pairwise(Record):
    """Every pair of objects compared. J objects, m = J(J − 1)/2 pairs.

    Made by `pairwise`.

    Attributes
    ----------
    objects : tuple, length J
    pairs : ndarray of int, shape (m, 2)
        The positions of objects i and j.
    log_worths : ndarray, shape (J,)
        Log-worths λ with mean 0; NaN for objects that are not compared.
    std_error : ndarray, shape (m,)
        Standard errors of the differences λ_i − λ_j.
    p_value, p_adjusted : ndarray, shape (m,)
    critical : float
        Quantile of max |z| over all pairs, for the simultaneous intervals.
    reach : ndarray, shape (m,)
        Critical value of each interval: `critical`, or a larger value for pairs that rest on few clusters.
    df : float
        Degrees of freedom of tests and intervals; infinite for the normal distribution.
    scale : str
        The scale of the printed estimates.
    adjust : str or None
    confidence : float
    notes : tuple of str
    decided : Decided or None
        The basis of odds, probabilities and Elo of graded judgments.
    rank_ranges : ndarray, shape (J, 2), or None
        For a fit with effects of objects, ``(1 | object)``: the lowest and highest rank of each object in draws of the
        log-worths, at the confidence level for each object; NaN if nothing is predicted. There are then no p-values,
        because worths drawn from a distribution are never equal.
    margin : Margin or None
        One-sided tests of every pair against a margin, if one was given.
    """

    _made_by: ClassVar[str] = "llbt.pairwise(res)"

    objects: tuple[Label, ...]
    pairs: IntArray
    log_worths: FloatArray
    std_error: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    critical: float
    reach: FloatArray
    df: float
    scale: Scale
    adjust: Adjust | None
    confidence: float
    notes: tuple[str, ...]
    decided: Decided | None = None
    rank_ranges: FloatArray | None = None
    margin: Margin | None = None

    @property
    def log_odds(self) -> tuple[FloatArray, FloatArray]:
        """Log-odds of i over j with their standard errors, (m,) each; for graded judgments, of being preferred."""
        if self.decided is None:
            return 2 * self.difference, 2 * self.std_error
        return 2 * self.decided.difference, 2 * self.decided.std_error

    @property
    def difference(self) -> FloatArray:
        """Differences of log-worths λ_i − λ_j, shape (m,)."""
        i, j = self.pairs.T
        return np.asarray(self.log_worths[i] - self.log_worths[j])

    @property
    def statistic(self) -> FloatArray:
        """Differences divided by their standard errors, shape (m,); NaN if nothing was estimated."""
        return ratio(self.difference, self.std_error)

    @property
    def probability_greater(self) -> FloatArray:
        """P(λ_i > λ_j) if log-worths are normal around their estimates, shape (m,); NaN if not estimated."""
        return np.asarray(special.ndtr(self.statistic))

    @property
    def significant(self) -> npt.NDArray[np.bool_]:
        """Whether the adjusted p-value is below 1 − confidence, shape (m,)."""
        if self.adjust == "single-step" and self.rank_ranges is None:  # the interval leaves out equality
            return self.apart
        known = np.abs(self.difference) > SAME  # where the model itself determines the difference
        return np.where(self.std_error == 0, known, self.p_adjusted < 1 - self.confidence)

    @property
    def apart(self) -> npt.NDArray[np.bool_]:
        """Whether the simultaneous interval excludes equality, shape (m,)."""
        half = np.where(self.std_error == 0, SAME, self.reach * self.std_error)
        return np.abs(self.difference) > half

    @property
    def ranking(self) -> IntArray:
        """Positions of the compared objects, the best first."""
        rounded = np.round(self.log_worths / SAME)
        return np.argsort(-rounded, kind="stable")[: int(np.sum(~np.isnan(rounded)))]

    def better(self, which: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return whether the row's object is better, for the chosen pairs (m,), shape (J, J)."""
        matrix, difference = np.zeros((len(self.objects), len(self.objects)), dtype=np.bool_), self.difference
        for (i, j), ahead in ((self.pairs.T, difference > 0), (self.pairs.T[::-1], difference < 0)):
            matrix[i[which & ahead], j[which & ahead]] = True
        return matrix

    def _numbers(self, which: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
        """Return how many objects are better than each object, and how many worse, among the chosen pairs (m,)."""
        size, (i, j), first = len(self.objects), self.pairs.T, self.difference > 0
        won = [np.bincount(side[which & ahead], minlength=size) for side, ahead in ((i, first), (j, ~first))]
        lost = [np.bincount(side[which & ahead], minlength=size) for side, ahead in ((j, first), (i, ~first))]
        return lost[0] + lost[1], won[0] + won[1]

    def table(self) -> Table:
        """Return object_i, object_j, estimate, std_error, statistic, p_value, p_adjusted, conf_low, conf_high.

        For a fit with effects of objects, probability_greater, P(λ_i > λ_j), replaces statistic and p-values. With a
        margin there are also p_no_worse, p_no_better, p_equivalent and claim, and tests of equality are in frames only.
        """
        what = scale_text(self.scale, DIFFERENCES, self.decided is not None, ", i against j")
        of = self if self.decided is None or self.scale == "log_worth" else self.decided
        estimate, error, low, high = on_scale(self.scale, of.difference, of.std_error, self.reach)
        letter = "z" if np.isinf(self.df) else "t"
        sides = [[self.objects[k] for k in column] for column in self.pairs.T]
        level = f"{100 * self.confidence:.4g} %"
        tests: tuple[Field, ...] = (
            Field("statistic", f"{letter} value", self.statistic, "statistic"),
            Field("p_value", f"Pr(>|{letter}|)", self.p_value, "p_value"),
            Field("p_adjusted", "p adjusted", self.p_adjusted, "p_value"),
            Field("", "", self.p_adjusted, "stars"),
        )
        caption = f"p-values: {ADJUSTED[self.adjust]}; {level} intervals"
        if self.rank_ranges is not None:
            tests = (Field("probability_greater", "P(λᵢ > λⱼ)", self.probability_greater, "number", 3),)
            caption = f"no p-values: worths drawn from a distribution are never equal; {level} prediction intervals"
        table = Table(
            (
                Field("object_i", "object_i", sides[0]),
                Field("object_j", "object_j", sides[1]),
                Field("estimate", "Estimate", estimate, "estimate"),
                Field("std_error", "Std. Error", error, "estimate"),
                *tests,
                *interval_fields(low, high, self.confidence),
            ),
            title=f"Pairwise comparisons: {what}",
            notes=(*self.notes, f"{caption} simultaneous, |{letter}| up to {format_number(self.critical, 4)}"),
            answer="pairwise",
        )
        return (table if self.margin is None else self.margin.beside(table)).first()

    @property
    def best_first(self) -> IntArray:
        """Positions of all J objects, the best first, objects that are not compared last."""
        return np.append(self.ranking, np.flatnonzero(np.isnan(self.log_worths)))

    @property
    def groups(self) -> list[str]:
        """Letters of the J objects; empty for objects that are not compared."""
        self._check_tested("letters")
        better = self.better(self.significant)
        return statistics.compact_letters(better | better.T, self.ranking.tolist())

    def letters(self) -> Table:
        """Return compact letters: two objects share a letter exactly when they do not differ significantly.

        Returns
        -------
        Table
            object, group; the best object first. Objects that are not compared have no letter. A difference is
            significant if its adjusted p-value is below 1 − `confidence`; p-values are adjusted as in `pairwise`.

        Raises
        ------
        DesignError
            If more than 52 letters, a…z and A…Z, are needed, because nobody can read these.

        References
        ----------
        Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
        Computational and Graphical Statistics 13(2), 456-466.

        Examples
        --------
        >>> import llbt
        >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
        >>> llbt.pairwise(res).letters().to_frame().values.tolist()
        [['A', 'a'], ['D', 'b'], ['B', 'c'], ['C', 'd']]
        """
        self._check_tested("letters")
        if _letters_exceed(self, _LAST_LETTER):
            raise DesignError(
                f"letters of {counted(len(self.ranking), 'object')} would need more than {_LAST_LETTER} letters",
                "Use .clusters() or .ranks(), which are shorter; or compare fewer objects: "
                "llbt.pairwise(res, objects=[…]).",
            )
        letters = self.groups
        number = len(set("".join(letters)))
        many = (f"{number} letters are hard to read; .clusters() and .ranks() are shorter",)
        return Table(
            (self._objects(), Field("group", "group", [letters[k] for k in self.best_first])),
            title="Compact letters: objects that share a letter do not differ significantly",
            notes=(*self.notes, self._significance(), *(many if number > MOST_LETTERS else ())),
        )

    def clusters(self) -> Table:
        """Return the ranking split wherever all objects above are significantly better than all objects below.

        Returns
        -------
        Table
            object, significance_cluster (1, 2, …; NaN for objects that are not compared); the best object first.
            Significance is defined as in `letters`. The WMT tables do not adjust p-values (``pairwise(res,
            adjust=None)``).

        References
        ----------
        Bojar, O. et al. (2013). Findings of the 2013 Workshop on Statistical Machine Translation. WMT, 1-44.

        Examples
        --------
        >>> import llbt
        >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
        >>> llbt.pairwise(res).clusters().to_frame().values.tolist()
        [['A', 1], ['D', 2], ['B', 3], ['C', 4]]
        """
        self._check_tested("clusters")
        number = np.array(statistics.significance_clusters(self.better(self.significant), self.ranking.tolist()))
        values = number if number.all() else np.where(number > 0, number, np.nan)
        return Table(
            (self._objects(), Field("significance_cluster", "cluster", values[self.best_first], "count")),
            title="Significance clusters: all objects above a break are significantly better than all below",
            notes=(*self.notes, self._significance()),
        )

    def ranks(self) -> Table:
        """Return the rank of every object with simultaneous confidence sets.

        Returns
        -------
        Table
            rank, rank_low, rank_high, object, estimate (on the scale, measured from the mean of the log-worths; worths
            sum to 1); the best first. rank_low is 1 + the number of significantly better objects, and rank_high is J −
            the number of significantly worse objects, where significant means that the simultaneous interval of the
            difference excludes 0. Ranks are NaN for objects without estimates, which do not count in J. For a fit with
            effects of objects, the ranges come from draws of the log-worths from their joint distribution
            (`Pairwise.rank_ranges`).

        References
        ----------
        Mogstad, M., Romano, J. P., Shaikh, A. M. & Wilhelm, D. (2024). Inference for ranks with applications to
        mobility across neighbourhoods and academic achievement across countries. Review of Economic Studies 91(1),
        476-518.

        Examples
        --------
        >>> import llbt
        >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
        >>> llbt.pairwise(res).ranks().to_frame()[["object", "rank", "rank_low", "rank_high"]].values.tolist()
        [['A', 1, 1, 1], ['D', 2, 2, 2], ['B', 3, 3, 3], ['C', 4, 4, 4]]
        """
        graded = self.decided is not None
        level = level_on_scale(self.scale, self.log_worths)
        if self.decided is not None and self.scale != "log_worth":
            level = on_scale(self.scale, self.decided.level, np.zeros(len(level)), 0.0)[0]
        estimate = level[self.best_first]
        return Table(
            (*self.rank_fields(), self._objects(), Field("estimate", "estimate", estimate, "estimate")),
            title=f"Ranks: {scale_text(self.scale, LEVELS, graded)}{measured_from(self.scale, graded)}",
            notes=(*self.notes, self.rank_note),
        )

    @property
    def rank_note(self) -> str:
        """A note on the rank ranges."""
        level = f"{100 * self.confidence:.4g} %"
        if self.rank_ranges is None:
            return f"simultaneous {level} confidence sets of all ranks"
        if np.isnan(self.rank_ranges).all():
            return "no rank ranges, because all effects of objects are 0"
        return f"Rank ranges are {level} prediction ranges of each object, from draws of the worths"

    def rank_fields(self) -> tuple[Field, ...]:
        """Return rank, rank_low and rank_high as columns, the best object first."""
        order, out, size = self.best_first, np.isnan(self.log_worths), len(self.ranking)
        above, below = self._numbers(self.apart)
        ahead, _ = self._numbers(np.abs(self.difference) > SAME)  # equal log-worths share their rank
        headings = {"rank": "rank", "rank_low": "rank_low", "rank_high": "rank_high"}
        columns = {
            "rank": 1 + ahead,
            "rank_low": 1 + above,
            "rank_high": size - below,
        }
        if self.rank_ranges is not None:
            columns |= dict(zip(("rank_low", "rank_high"), _whole(self.rank_ranges).T, strict=True))
            headings |= {"rank_low": f"{100 * self.confidence:.4g} % prediction: low", "rank_high": "high"}
        known = {name: column if not out.any() else np.where(out, np.nan, column) for name, column in columns.items()}
        return tuple(Field(name, headings[name], column[order], "count") for name, column in known.items())

    def _objects(self) -> Field:
        return Field("object", "object", [self.objects[k] for k in self.best_first])

    def _check_tested(self, what: str) -> None:
        """Raise if pairs are not tested."""
        if self.rank_ranges is not None:
            raise DesignError(
                f"{what} need tests of equal worths, but worths with a normal distribution, (1 | object), are never "
                "equal",
                "Use rank ranges: llbt.pairwise(res).ranks().",
            )

    def _significance(self) -> str:
        return f"significant: p < {1 - self.confidence:.4g}, p-values {ADJUSTED[self.adjust]}"


def _whole(ranges: FloatArray) -> npt.NDArray[np.float64 | np.int64]:
    """Return ranks as whole numbers if all are known."""
    return ranges if np.isnan(ranges).any() else ranges.astype(np.int64)


def takes_many_letters(pairs: Pairwise) -> bool:
    """Return whether `Pairwise.letters` would need more letters than a reader can distinguish."""
    return _letters_exceed(pairs, MOST_LETTERS)


def _letters_exceed(pairs: Pairwise, most: int) -> bool:
    better = pairs.better(pairs.significant)
    return statistics.letters_exceed(better | better.T, pairs.ranking.tolist(), most)
