"""Style control: the leaderboard at equal style next to the plain one, and the effect of style on judgments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..base.arguments import Confidence, Rng, checked
from ..base.table import Field, Record, Table, counted, format_number, format_p, interval_fields
from ..core.columns import Coded, FloatArray, code, own_numbers
from ..core.comparisons import Comparisons, lines_of, tabulate
from ..core.counts import whole
from ..core.statistics import TestResult
from ..data.column_roles import Names
from ..data.sources import as_names
from ..errors import JudgmentError, OptionError, listed, safe_repr
from ..fitting.model import LLBT, default_formula
from ..fitting.plain_estimates import PlainEstimates
from ..fitting.specification import CovType, Prior
from ..formulas.brackets import has_brackets
from ..formulas.grammar import parse, vocabulary
from ..formulas.grid import At, check_at
from .changes_record import SCALES
from .ranks import leaderboard
from .scales import FACTORS, Scale
from .two_boards import TAKEN, two_boards

_AT_EVERY = "judgments, wins, ties and losses are counted at all values of"  # counts are not shown in this table


@dataclass(frozen=True, repr=False, eq=False)
class StyleControl(Record):
    """Two leaderboards of the same judgments: at equal style, and without style control.

    Made by `style_control`.

    Attributes
    ----------
    plain, styled : LLBTResults
        The fits without and with the style covariates. The table of `styled` has the covariates as fitted: for a
        difference z the sides have z/2 and −z/2.
    style : tuple of k str
    divisors : ndarray, shape (k,)
        The root mean square of (x_i − x_j)/(x_i + x_j), by which this difference was divided.
    plain_board, styled_board : Table
        The leaderboards of both fits.
    test : TestResult
        Wald's test of whether any style covariate has an effect.
    scale : {"log_odds", "elo", "log_worth"}
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.style_control(data)"

    plain: PlainEstimates
    styled: PlainEstimates
    style: tuple[str, ...]
    divisors: FloatArray
    plain_board: Table
    styled_board: Table
    test: TestResult
    scale: Scale
    confidence: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return a row per object, the best at equal style first.

        At equal style: rank, rank_low, rank_high, object, estimate, conf_low, conf_high. Without style control:
        plain_rank, plain_rank_low, plain_rank_high, plain_estimate, plain_conf_low, plain_conf_high. rank_change is the
        number of ranks gained by style control. Each style x has the columns x_effect, x_effect_low, x_effect_high and
        x_effect_p, the same in every row, so that one file also has the effects; they are not printed.
        """
        fields = tuple(f for f in self.styled_board.fields if f.name in (*TAKEN, "object"))
        title = f"Leaderboard at equal style, and without style control: {SCALES[self.scale]}"
        styled = replace(self.styled_board, fields=fields, title=title, head=self._head(), notes=self.notes)
        boards = two_boards(styled, self.plain_board, "plain", "Without")
        return replace(boards, fields=(*boards.fields, *self._effects(len(styled)))).first()

    def coefficients(self) -> Table:
        """Return style, estimate, std_error, conf_low, conf_high, p_value, divisor.

        The estimate is the advantage of i per standard deviation of (x_i − x_j)/(x_i + x_j), on the scale.
        """
        names, factor = [_term(name) for name in self.style], FACTORS[self.scale]
        bounds = factor * self.styled.conf_int(1 - self.confidence).loc[names].to_numpy()
        return Table(
            (
                Field("style", "style", list(self.style)),
                Field("estimate", "estimate", factor * self.styled.params[names].to_numpy(), "estimate"),
                Field("std_error", "Std. Error", factor * self.styled.bse[names].to_numpy(), "estimate"),
                *interval_fields(bounds[:, 0], bounds[:, 1], self.confidence),
                Field("p_value", "p", self.styled.pvalues[names].to_numpy(), "p_value"),
                Field("divisor", "divisor", self.divisors, "number"),
            ),
            title=f"Effects of style, per standard deviation: {SCALES[self.scale]}",
            head=(self._tested(),),
        )

    def _effects(self, rows: int) -> tuple[Field, ...]:
        """Return the effects of style as columns that are the same in every row, for a file with one row per object."""
        named = {"estimate": "", "conf_low": "_low", "conf_high": "_high", "p_value": "_p"}
        return tuple(
            Field(f"{row['style']}_effect{end}", f"{row['style']}_effect{end}", [row[name]] * rows, "number")
            for row in self.coefficients().to_frame().to_dict("records")
            for name, end in named.items()
        )

    def _tested(self) -> str:
        letter = "F" if self.test.distribution.startswith("F") else "χ²"
        tested = (
            f"{letter}({len(self.style)}) = {format_number(self.test.statistic)}, p = {format_p(self.test.p_value)}"
        )
        word = "Style has an effect" if self.test.p_value <= 1 - self.confidence else "No effect of style detected"
        return f"{word}: {tested}"

    def _head(self) -> tuple[str, ...]:
        """Return the test, and the effect of each style covariate."""
        coefficients = self.coefficients().to_frame()
        level = f"{100 * self.confidence:.4g} % CI"
        return (
            self._tested(),
            *(
                f"{row.style}: {row.estimate:+.3g} per standard deviation ({level} {row.conf_low:.3g} to "
                f"{row.conf_high:.3g})"
                for row in coefficients.itertuples()
            ),
        )


@checked
def style_control(
    data: Comparisons,
    style: Names | None = None,
    formula: str | None = None,
    *,
    at: At = None,
    scale: Scale = "log_odds",
    cov_type: CovType = "cautious",
    groups: str | Sequence[str] = (),
    prior: Prior = None,
    confidence: Confidence = 0.95,
    rng: Rng = 0,
) -> StyleControl:
    """Return the leaderboard at equal style, such as equal length of the answers, next to the plain one.

    The judgments are fitted twice, without and with the style covariates. This is a separate function, because as an
    option of `fit` it would return two fits instead of one.

    Parameters
    ----------
    data : Comparisons
        A table with a side covariate for each style: ``from_judgments(frame, side_covariates=["length"])`` reads the
        columns ``length_a`` and ``length_b``. They are lengths or counts, that is, non-negative numbers.
    style : str or sequence of str, optional
        The side covariates to control for; by default all side covariates of the table.
    formula : str, optional
        The model without style; by default `default_formula`. The style covariates are added to it.
    at : mapping, optional
        Covariate values for both leaderboards, if log-worths differ by other covariates.
    scale : {"log_odds", "elo", "log_worth"}
        The scale of both leaderboards and the coefficients.
    cov_type, groups, prior
        As in `fit`, for both fits.
    confidence : float
        The level of each interval, and the simultaneous level of all ranks of a leaderboard.
    rng : int or numpy.random.Generator
        Used to simulate the rank ranges of both leaderboards.

    Returns
    -------
    StyleControl
        A row per object; ``coefficients()``: the effects of style; ``plain`` and ``styled``: the two fits.

    Raises
    ------
    OptionError
        For an unknown style, a style that the formula already has, a formula with effects of judges, and other scales.
    JudgmentError
        For a style covariate with labels, with negative numbers, or equal on both sides of all judgments.

    Notes
    -----
    The covariate of a judgment is d = (x_i − x_j)/(x_i + x_j), which is 0 where both are 0. It is divided by its
    standard deviation over the judgments, as in the notebook of arena-rank 0.1.1 [2]_. Differences from the code of the
    Arena:

    * The Arena's code subtracts the mean of d and takes the standard deviation around the mean. Here nothing is
      subtracted, so d changes its sign if the objects change places. Subtracting the mean amounts to an order effect,
      which ``order`` estimates.
    * FastChat [3]_ divides by x_i + x_j + 1. This matters for counts that are often 0 or 1: one header against none is
      ½ there and 1 here. FastChat's model is ``fit("object + tie + sides((n_i - n_j)/(n_i + n_j + 1))", c)``.
    * The Arena counts ties as half wins, as ``style_control(c.split_ties())`` does.
    * The Arena shrinks coefficients. FastChat shrinks them together with the ratings, by a penalty ½Σβ²/2 on the
      log-likelihood. arena-rank shrinks only the coefficients, by a penalty Σβ²/2 on the *mean* log-likelihood, which
      is strong. arena-rank also weights judgments by 1/(judgments of the pair, at least 50). Here nothing is shrunk or
      weighted.

    On 3,000 simulated judgments, in which d has a mean of .02 standard deviations, the coefficient of length is .4551
    here and .4541 in arena-rank without penalty and weights.

    References
    ----------
    .. [1] Li, T., Angelopoulos, A. & Chiang, W.-L. (2024). Does style matter? Disentangling style and substance in
       Chatbot Arena. LMSYS blog, 29 August 2024.
    .. [2] arena-rank 0.1.1, https://github.com/lmarena/arena-rank: utils/data_utils.py, examples/example_utils.py.
    .. [3] FastChat, https://github.com/lm-sys/FastChat: fastchat/serve/monitor/rating_systems.py.

    Examples
    --------
    >>> import llbt
    >>> battles = [
    ...     {"model_a": a, "model_b": b, "winner": winner, "length_a": x, "length_b": y}
    ...     for a, b, winner, x, y in [
    ...         ("A", "B", "model_a", 90, 60), ("A", "B", "model_b", 40, 70), ("A", "B", "model_a", 50, 80),
    ...         ("A", "B", "model_b", 70, 50), ("A", "B", "model_a", 80, 30)]]
    >>> c = llbt.from_judgments(battles, side_covariates=["length"])
    >>> boards = llbt.style_control(c, "length", cov_type="nonrobust")
    >>> boards.to_frame()[["object", "rank", "plain_rank", "rank_change"]].values.tolist()
    [['A', 1, 1, 0], ['B', 2, 2, 0]]
    >>> boards.coefficients().to_frame().round(2)[["style", "estimate"]].values.tolist()
    [['length', 0.77]]
    """
    if scale not in SCALES:
        raise OptionError(f"scale={scale!r}", expected="'log_odds', 'elo' or 'log_worth', on which effects add up")
    names = _named(data, style)
    plain_formula = formula or default_formula(data)
    _check_formula(plain_formula, names, data)
    place = _place(at)
    table, divisors, zeros = _normalized(data, names)
    terms = [_term(name) for name in names]
    styled_formula = " + ".join([plain_formula, *terms])
    plain, styled = (
        LLBT.from_formula(text, table).fit(cov_type=cov_type, groups=groups, prior=prior)
        for text in (plain_formula, styled_formula)
    )
    where: dict[str, At] = {"plain": place, "styled": {**(place or {}), **dict.fromkeys(names, 0.0)}}
    boards = [
        leaderboard(res, scale=scale, at=where[key], confidence=confidence, rng=rng)
        for key, res in (("plain", plain), ("styled", styled))
    ]
    notes = [note for note in boards[1].notes if not note.startswith(("at ", _AT_EVERY))]  # boards[0] has this note
    notes = [note.removesuffix(", groups as well") for note in (*boards[0].notes, *notes)]
    return StyleControl(
        plain=plain,
        styled=styled,
        style=names,
        divisors=divisors,
        plain_board=boards[0],
        styled_board=boards[1],
        test=styled.wald_test(np.eye(len(styled.params))[[list(styled.params.index).index(term) for term in terms]]),
        scale=scale,
        confidence=confidence,
        notes=(*zeros, *dict.fromkeys(notes), "Style: (i − j)/(i + j), divided by its standard deviation around 0"),
    )


def _term(name: str) -> str:
    return name if name.isidentifier() else f"Q({json.dumps(name, ensure_ascii=False)})"


def _named(data: Comparisons, style: Names | None) -> tuple[str, ...]:
    """Return the names of the style covariates, checked."""
    there = [column.name for column in data.sides]
    names = tuple(there) if style is None else tuple(dict.fromkeys(as_names(style, "style")))
    lacking = [name for name in names if name not in there]
    if lacking or not names:
        wanted = [*there, *lacking] or ["length"]
        raise OptionError(
            f"style={listed(lacking)}: no side covariate of that name" if lacking else "no style covariates",
            f"Read them from the columns {wanted[-1]}_a and {wanted[-1]}_b: llbt.from_judgments(data, "
            f"side_covariates={wanted!r}).",
            expected=f"among {listed(there)}" if there else "a table with side covariates",
        )
    return names


def _place(at: At) -> Mapping[str, Any] | None:
    """Return the covariate values of both leaderboards, without the style covariates."""
    check_at(at, average=False)
    if at is None or isinstance(at, Mapping):
        return at
    raise OptionError(f"at={safe_repr(at)}", expected="values of covariates, such as {'language': 'de'}")


def _check_formula(formula: str, names: Sequence[str], data: Comparisons) -> None:
    if has_brackets(formula):
        raise OptionError(
            f"formula={formula!r} has effects of judges",
            "Leave them out; cov_type='cluster', groups='judge' allows for judges who differ.",
        )
    parse(formula, vocabulary(data))
    twice = [name for name in names if _mentions(formula, name)]
    if twice:
        raise OptionError(
            f"formula={formula!r} already has {listed(twice)}, and style control adds it",
            "Leave it out of the formula.",
        )


def _mentions(formula: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(_[ij])?(?!\w)", formula) is not None


def _normalized(data: Comparisons, names: Sequence[str]) -> tuple[Comparisons, FloatArray, tuple[str, ...]]:
    """Return the table with normalized style covariates, their divisors, and notes."""
    lines = lines_of(data)
    judgments = lines.counts.sum(axis=1)
    sides: list[Coded] = []
    divisors: list[float] = []
    notes: list[str] = []
    for column in lines.sides:
        if column.name not in names:
            sides.append(column)
            continue
        values = _numbers(column)
        total = values.sum(axis=1)
        share = np.divide(values[:, 0] - values[:, 1], total, out=np.zeros(len(values)), where=total > 0)
        divisor = float(np.sqrt(np.average(share**2, weights=judgments)))
        if divisor == 0:
            what = "0 in all judgments" if not values.any() else "equal on both sides of all judgments"
            raise JudgmentError(
                f"style covariate {column.name!r} is {what}, so it has no effect that could be estimated",
                f"Leave {column.name!r} out of style=.",
            )
        if (total == 0).any():
            zero = counted(whole(float(judgments[total == 0].sum())), "judgment")
            notes.append(f"{column.name} is 0 on both sides of {zero}, which count as equal")
        half = share / divisor / 2
        both = np.column_stack([half, -half])
        sides.append(own_numbers(column.name, both) or code(column.name, both, numeric=True))
        divisors.append(divisor)
    order = [[column.name for column in lines.sides if column.name in names].index(name) for name in names]
    like = replace(data, columns=(), sides=(), cluster_counts=None)
    return tabulate(replace(lines, sides=tuple(sides)), like), np.array(divisors)[order], tuple(notes)


def _numbers(column: Coded) -> FloatArray:
    """Return the values of a style covariate, shape (R, 2), checked."""
    if not column.numeric:
        raise JudgmentError(
            f"style covariate {column.name!r} holds labels, such as {column.levels[0]!r}",
            f"Read it as numbers: llbt.from_judgments(data, side_covariates=[{column.name!r}], "
            f"numeric={column.name!r}).",
            expected="lengths or counts",
        )
    values = np.asarray(column.values, dtype=np.float64)
    if (values < 0).any():
        raise JudgmentError(
            f"style covariate {column.name!r} has negative values, the smallest {values.min():.6g}; "
            "(i − j)/(i + j) is for lengths and counts",
            f"Fit it as it is: llbt.fit('object + {_term(column.name)}', data).",
            expected="numbers of at least 0",
        )
    return values
