"""Conjoint experiments without a model of choice: marginal means of levels, and average marginal component effects."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import Confidence, checked
from ..base.table import Field, Qualifying, Record, Table, counted, interval_fields
from ..core.columns import FloatArray, IntArray, Label
from ..core.statistics import critical_value, two_sided_p
from ..data.column_roles import Names
from ..data.conjoint import profiles_of
from ..data.files import open_source
from ..data.frames import plain, refuse_odd_cells
from ..data.outcome_codings import NO, YES
from ..data.sources import Source, as_names, in_memory
from ..data.tables import unused_note
from ..errors import DesignError, JudgmentError, OptionError, listed, near

_ROUNDING = 1e-12  # of the largest outcome: standard errors below it are sums of deviations that cancel
_REMEDY = "Name them: classical.conjoint(frame, outcome='chosen', attributes=['price', 'size'], respondent='id')."


@dataclass(frozen=True, repr=False, eq=False)
class Conjoint(Record):
    """Marginal means and average marginal component effects of L levels of attributes. Made by `classical.conjoint`.

    Attributes
    ----------
    attributes : tuple, length L
        The attribute of each level.
    levels : tuple, length L
        The first level of an attribute is its reference.
    n : ndarray, shape (L,)
        Number of profiles with the level.
    mean, mean_error : ndarray, shape (L,)
        The mean outcome of these profiles (a share for choices), and its standard error; NaN if the means of
        respondents do not vary.
    effect, effect_error : ndarray, shape (L,)
        The effect of the level against the reference; 0 and NaN for the reference. The standard error is also NaN if
        the mean of the level, or of the reference, has none.
    df : float
        The number of respondents minus 1, for intervals and tests.
    confidence : float
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.classical.conjoint(frame)"

    attributes: tuple[str, ...]
    levels: tuple[Label, ...]
    n: IntArray
    mean: FloatArray
    mean_error: FloatArray
    effect: FloatArray
    effect_error: FloatArray
    df: float
    confidence: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return attribute, level, n, estimate (marginal mean), std_error, conf_low, conf_high."""
        half = critical_value(self.confidence, self.df) * self.mean_error
        return Table(
            (
                *self._labels(),
                Field("n", "Profiles", self.n, "count"),
                Field("estimate", "Mean", self.mean, "estimate"),
                Field("std_error", "Std. Error", self.mean_error, "estimate"),
                *interval_fields(self.mean - half, self.mean + half, self.confidence),
            ),
            title="Marginal means of the levels",
            notes=self.notes,
        )

    def effect_table(self) -> Table:
        """Return attribute, level, estimate (AMCE), std_error, statistic, p_value, conf_low, conf_high."""
        half = critical_value(self.confidence, self.df) * self.effect_error
        statistic = self.effect / self.effect_error
        return Table(
            (
                *self._labels(),
                Field("estimate", "AMCE", self.effect, "estimate"),
                Field("std_error", "Std. Error", self.effect_error, "estimate"),
                Field("statistic", "t", statistic, "statistic"),
                Field("p_value", "p", two_sided_p(statistic, self.df), "p_value"),
                *interval_fields(self.effect - half, self.effect + half, self.confidence),
            ),
            title="Average marginal component effects (AMCE), against the first level of each attribute",
            notes=self.notes,
        )

    def _labels(self) -> tuple[Field, Field]:
        return (
            Field("attribute", "Attribute", list(self.attributes)),
            Field("level", "Level", list(self.levels)),
        )


@checked
def conjoint(
    frame: object,
    *,
    outcome: str | None = None,
    attributes: Names = (),
    respondent: str | None = None,
    task: Names = (),
    reference: Mapping[str, Label] | None = None,
    confidence: Confidence = 0.95,
) -> Conjoint:
    """Return marginal means and average marginal component effects (AMCE) of a conjoint experiment.

    Respondents choose between, or rate, profiles whose attributes were drawn at random. The marginal mean of a level is
    the mean outcome of the profiles with it. The AMCE of a level is the effect on the mean outcome of changing an
    attribute from its reference to the level, averaged over the other attributes.

    Parameters
    ----------
    frame : frame, path or list of records
        A row for each profile. Remove rows of a "none" option first: they are no profiles. If no profile of a task was
        chosen, all its profiles count as not chosen, and a note counts these tasks.
    outcome : str, optional
        The column that marks the chosen profile (0 and 1, yes and no), or a column of ratings. By default this column,
        and the columns of the other roles, are found by their names and values.
    attributes : sequence of str, optional
        The columns of attributes. Their values are labels.
    respondent : str, optional
        The column of respondents; standard errors are clustered by it.
    task : str or sequence of str, optional
        The columns that, together with the respondent, identify a set of profiles.
    reference : mapping of attribute to level, optional
        By default the first level in sorted order.
    confidence : float
        The confidence of each single interval.

    Returns
    -------
    Conjoint
        attribute, level, n, estimate (the marginal mean), std_error, conf_low, conf_high; ``.effect_table()`` has the
        AMCEs with tests.

    Raises
    ------
    OptionError
        For roles that are neither named nor found, and for columns or levels that do not exist.
    JudgmentError
        For missing values, outcomes that are not numbers, and two chosen profiles in one task.
    DesignError
        For fewer than two respondents, and attributes that determine each other.

    Notes
    -----
    AMCEs are coefficients of the regression of the outcome on all levels, by least squares. Standard errors sum the
    scores of each of the G respondents, with the factor G/(G − 1), as R's packages survey and cregg do. Intervals and
    tests use t with G − 1 degrees of freedom (cregg: the normal distribution). If both profiles of a task have the same
    level, its marginal mean counts both profiles: one was chosen, the other was not.

    AMCEs depend on the reference and on the distribution of the other attributes; marginal means do not need a
    reference. For worths of the levels by a model of choice, see `llbt.from_choices`.

    References
    ----------
    Hainmueller, J., Hopkins, D. J. & Yamamoto, T. (2014). Causal inference in conjoint analysis. Political Analysis
    22(1), 1-30. Leeper, T. J., Hobolt, S. B. & Tilley, J. (2020). Measuring subgroup preferences in conjoint
    experiments. Political Analysis 28(2), 207-221.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> profiles = pd.DataFrame(
    ...     {
    ...         "respondent": [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
    ...         "task": [1, 1, 2, 2] * 3,
    ...         "price": ["low", "high", "high", "low", "low", "low", "high", "low", "low", "high", "high", "high"],
    ...         "size": ["s", "s", "l", "s", "l", "s", "l", "l", "l", "l", "s", "l"],
    ...         "chosen": [1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1],
    ...     }
    ... )
    >>> answer = llbt.classical.conjoint(profiles)
    >>> answer.to_frame()[["attribute", "level", "estimate"]].round(2).values.tolist()
    [['price', 'high', 0.33], ['price', 'low', 0.67], ['size', 'l', 0.57], ['size', 's', 0.4]]
    >>> answer.effect_table().to_frame()["estimate"].round(2).tolist()
    [0.0, 0.37, 0.0, -0.24]
    """
    source = open_source(frame)
    table = in_memory(source)
    refuse_odd_cells(table)
    roles = _roles(source, outcome, as_names(attributes, "attributes"), respondent, as_names(task, "task"))
    _refuse_missing(table[roles.columns])
    outcomes = _outcomes(table[roles.outcome], roles.outcome)
    clusters, respondents = _respondents(table[roles.respondent], roles.respondent)
    levels = _levels(table, roles.attributes, reference or {})
    inside = np.column_stack([codes == k for codes, known in levels for k in range(len(known))]).astype(np.float64)
    n = inside.sum(axis=0)
    mean = outcomes @ inside / n
    influence = _summed(inside * (outcomes[:, None] - mean) / n, clusters, respondents)
    mean_error = np.sqrt(respondents / (respondents - 1) * (influence**2).sum(axis=0))
    constant = mean_error < _ROUNDING * np.abs(outcomes).max()  # one respondent's deviations from the mean sum to 0
    effect, variance = _effects(levels, inside, outcomes, clusters, respondents)
    return Conjoint(
        tuple(name for name, (_, known) in zip(roles.attributes, levels, strict=True) for _ in known),
        tuple(level for _, known in levels for level in known),
        n.astype(np.int64),
        mean,
        np.where(constant, np.nan, mean_error),
        effect,
        np.where(constant | _with_reference(levels, constant), np.nan, np.sqrt(variance)),
        respondents - 1.0,
        confidence,
        (
            *_without_errors(levels, roles.attributes, constant),
            *_never_together(levels, roles.attributes),
            *_of_tasks(table, outcomes, roles),
            *roles.notes(table, respondents),
        ),
    )


@dataclass(frozen=True)
class _Roles:
    """The columns of a conjoint experiment, and a note on how they were found."""

    outcome: str
    attributes: tuple[str, ...]
    respondent: str
    task: tuple[str, ...]
    how: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The columns that have a role."""
        return [self.outcome, self.respondent, *self.attributes, *self.task]

    def notes(self, table: pd.DataFrame, respondents: int) -> tuple[str, ...]:
        """Return how columns were found, the clusters, and the columns without a role."""
        unused = [str(name) for name in table if name not in self.columns]
        what = f"standard errors clustered by {counted(respondents, 'respondent')} ({self.respondent})"
        return (*self.how, what, *unused_note(unused))


def _roles(
    source: Source, outcome: str | None, attributes: Sequence[str], respondent: str | None, task: Sequence[str]
) -> _Roles:
    """Return the named columns; columns of other roles are found by their names and values."""
    asked = [name for name in (outcome, respondent, *attributes, *task) if name is not None]
    gone = next((name for name in asked if name not in source.names), None)
    if gone is not None:
        names = list(source.names)
        raise OptionError(f"no column {gone!r}{near(gone, names)}", expected=f"one of {listed(names, 20)}")
    if len(set(asked)) < len(asked):
        raise OptionError(f"a column has two roles: {listed(asked, 20)}", expected="each column once")
    if outcome is not None and attributes and respondent is not None:
        return _Roles(outcome, tuple(attributes), respondent, tuple(task))
    layout = profiles_of(source, outcome=outcome, respondent=respondent, task=task)
    judge = layout.judge if layout is not None else None
    if layout is None or judge is None:
        raise JudgmentError(
            f"the columns {listed(list(source.names), 20)} do not show which hold outcomes, attributes and respondents",
            _REMEDY,
        )
    by = judge
    sets = task or [name for name in layout.arguments["block"] if name != by]
    chosen = outcome or str(layout.arguments["chosen"])
    described = attributes or [name for name in layout.arguments["attributes"] if name not in (chosen, by, *sets)]
    how = f"outcomes by column {chosen!r}, respondents by {by!r}" + (f", tasks by {listed(list(sets))}" if sets else "")
    return _Roles(chosen, tuple(described), by, tuple(sets), (how,))


def _refuse_missing(table: pd.DataFrame) -> None:
    gaps = table.isna().sum()
    if gaps.any():
        name = str(gaps.index[int(gaps.to_numpy().argmax())])
        raise JudgmentError(
            f"column {name!r} has {counted(int(gaps[name]), 'missing value')}",
            f"Leave out these rows: frame.dropna(subset=[{name!r}]).",
        )


def _outcomes(column: pd.Series, name: str) -> FloatArray:
    """Return choices as 0 and 1, or ratings."""
    words = column.astype(str).str.strip().str.casefold()
    if words.isin([*YES, *NO]).all():
        return np.asarray(words.isin([*YES]), dtype=np.float64)
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        odd = column[~np.isfinite(numbers)].iloc[0]
        raise JudgmentError(f"column {name!r} holds {odd!r:.60}", expected="0 and 1, yes and no, or numbers")
    return numbers


def _respondents(column: pd.Series, name: str) -> tuple[IntArray, int]:
    codes, distinct = pd.factorize(column)
    if len(distinct) < 2:
        raise DesignError(f"column {name!r} has {counted(len(distinct), 'respondent')}", expected="at least two")
    return codes.astype(np.int64), len(distinct)


_Levels = list[tuple[IntArray, list[Label]]]


def _levels(table: pd.DataFrame, attributes: Sequence[str], reference: Mapping[str, Label]) -> _Levels:
    """Return the codes and levels of each attribute, the reference first."""
    unknown = next((name for name in reference if name not in attributes), None)
    if unknown is not None:
        raise OptionError(f"reference= names {unknown!r}", expected=f"an attribute: {listed(list(attributes), 20)}")
    levels: _Levels = []
    for name in attributes:
        codes, distinct = pd.factorize(table[name], sort=True)
        known = [plain(value) for value in distinct]
        if len(known) < 2:
            raise DesignError(f"the attribute {name!r} has one level, {known[0]!r}", "Leave it out of attributes=.")
        first = reference.get(name, known[0])
        if first not in known:
            raise OptionError(f"reference={{{name!r}: {first!r}}}", expected=f"a level: {listed(known, 20)}")
        order = [known.index(first), *(k for k, level in enumerate(known) if level != first)]
        levels.append((np.argsort(order)[codes].astype(np.int64), [known[k] for k in order]))
    return levels


def _summed(rows: FloatArray, clusters: IntArray, number: int) -> FloatArray:
    """Return rows summed by respondent, (G, k)."""
    sums = np.zeros((number, rows.shape[1]))
    np.add.at(sums, clusters, rows)
    return sums


def _effects(
    levels: _Levels, inside: FloatArray, outcomes: FloatArray, clusters: IntArray, number: int
) -> tuple[FloatArray, FloatArray]:
    """Return the regression's coefficient of each level and its variance; 0 and NaN for references."""
    first = np.cumsum([0, *(len(known) for _, known in levels[:-1])])
    others = np.setdiff1d(np.arange(inside.shape[1]), first)
    design = np.column_stack([np.ones(len(outcomes)), inside[:, others]])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise DesignError(
            "the attributes determine each other, so their effects cannot be separated",
            "Leave one of them out of attributes=.",
        )
    inverse = np.linalg.inv(design.T @ design)
    params = inverse @ (design.T @ outcomes)
    scores = _summed(design * (outcomes - design @ params)[:, None], clusters, number) @ inverse
    effect, variance = np.zeros(inside.shape[1]), np.full(inside.shape[1], np.nan)
    effect[others] = params[1:]
    variance[others] = number / (number - 1) * (scores**2).sum(axis=0)[1:]
    return effect, variance


def _with_reference(levels: _Levels, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which levels belong to an attribute whose reference level is among the chosen levels."""
    sizes = [len(known) for _, known in levels]
    return np.repeat(chosen[np.cumsum([0, *sizes[:-1]])], sizes)


def _without_errors(levels: _Levels, attributes: Sequence[str], constant: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """Return a note on the levels that have no standard error."""
    named = [f"{name} {level}" for name, (_, known) in zip(attributes, levels, strict=True) for level in known]
    bare = list(itertools.compress(named, constant))
    if not bare:
        return ()
    why = "NA where the mean outcome does not vary between respondents, such as for levels that one respondent saw"
    return (Qualifying(f"Standard errors are {why}: {listed(bare, 3)}."),)


def _never_together(levels: _Levels, attributes: Sequence[str]) -> tuple[str, ...]:
    """Return a note on combinations of two attributes' levels that no profile has."""
    gaps = []
    for (a, (one, known)), (b, (other, also)) in itertools.combinations(zip(attributes, levels, strict=True), 2):
        met = np.zeros((len(known), len(also)), dtype=np.bool_)
        met[one, other] = True
        gaps += [f"{a} {known[i]} with {b} {also[j]}" for i, j in np.argwhere(~met)]
    if not gaps:
        return ()
    more = f", nor {counted(len(gaps) - 1, 'other combination')}" if len(gaps) > 1 else ""
    return (Qualifying(f"No profile has {gaps[0]}{more}. AMCEs then assume that the effects of attributes add up."),)


def _of_tasks(table: pd.DataFrame, outcomes: FloatArray, roles: _Roles) -> tuple[str, ...]:
    """Return notes on tasks without a choice; raise for tasks with two choices."""
    if not roles.task or not np.isin(outcomes, (0, 1)).all():
        return ()
    chosen = pd.Series(outcomes).groupby([table[name].to_numpy() for name in (roles.respondent, *roles.task)]).sum()
    if (chosen > 1).any():
        raise JudgmentError(
            f"{counted(int((chosen > 1).sum()), 'task')} with several chosen profiles", expected="at most one in a task"
        )
    without = int((chosen == 0).sum())
    return (f"{counted(without, 'task')} without a chosen profile: their profiles count as not chosen",) * bool(without)
