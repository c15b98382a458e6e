"""How a ranking depends on choices of the analysis: ties, order, unit of dependence, and omitted data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import stats

from ..base.arguments import Confidence, Rng, checked
from ..base.table import Field, Record, Table, counted
from ..core.columns import FloatArray, IntArray, Label
from ..core.comparisons import Comparisons
from ..core.response import THREE
from ..errors import LLBTError, OptionError, listed
from ..fitting.estimates import Estimates
from ..fitting.fitted import WithWorths, average_of, plain_of
from ..fitting.model import LLBT
from ..formulas.grid import At
from ..resampling import shown
from .kinds import refit_data, unit_model
from .level_tests import levels_of
from .log_worths import centred
from .pair_tests import all_pairs
from .refit import WrittenTerm, beside, written_terms

_MOST_LEVELS = 500  # most levels that are left out in turn by default
_MOST_RANKED = 200  # most objects for which every choice gets rank sets
_OF_TABLES = ("ties split", "ties dropped", "without order", "with order")  # analyses for any fit of comparisons
_SAME = 1e-9  # log-worths that differ by less count as equal


@dataclass(frozen=True, repr=False, eq=False)
class Sensitivity(Record):
    """The effects of choices of the analysis on a ranking. Made by `sensitivity`.

    Attributes
    ----------
    rows : Table
        One row per choice; ``table()`` returns these rows.
    refits : pandas.DataFrame
        One row per refit: choice, left_out (label, or None), leader, overtakes (whether the leader is another),
        kendall_tau, rank_change (the largest), object (whose rank changes most). NA if nothing can be fitted.
    """

    _made_by: ClassVar[str] = "llbt.sensitivity(…)"

    rows: Table
    refits: pd.DataFrame

    def table(self) -> Table:
        """Return one row per choice: refits, leader, other_leaders, kendall_tau, rank_change, where, rank_set."""
        return self.rows


@dataclass(frozen=True)
class _Choice:
    """One alternative analysis: its name, the data it leaves out, and its fit."""

    name: str
    fitted: Callable[[], WithWorths]
    left_out: Label | None = None


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The J objects of the fit in a refit: log-worths, and the size of each rank set; NaN if there is none."""

    log_worths: FloatArray
    rank_sets: FloatArray

    @property
    def median_set(self) -> float:
        known = self.rank_sets[~np.isnan(self.rank_sets)]
        return float(np.median(known)) if len(known) else np.nan


@checked
def sensitivity(
    res: WithWorths,
    *,
    leave_out: str | Sequence[str] | None = None,
    at: At = "average",
    confidence: Confidence = 0.95,
    rng: Rng = 0,
    progress: bool = False,
) -> Sensitivity:
    """Return how the ranking would change with other choices of the analysis.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults, RankingResults or PatternResults
    leave_out : str or sequence of str, optional
        Clusters or covariates, whose levels are left out one after another, and ``"object"`` (not for rankings and
        patterns). By default objects, clusters, and labelled covariates of the judgments, each with up to 500 levels. A
        note names columns that are not left out.
    at : mapping or "average"
        Covariate values at which worths are compared, if the formula's worth has covariates.
    confidence : float
        The simultaneous level of all rank sets of a fit.
    rng : int or numpy.random.Generator
        Used to simulate the distribution of max |z| for the rank sets.
    progress : bool

    Returns
    -------
    Sensitivity
        choice, refits (their number), leader (the most frequent if there are several refits), other_leaders (refits
        with another leader), kendall_tau (the lowest correlation with the fitted ranking), rank_change (the largest
        change of an object), where (which object, and what was left out), rank_set (the number of ranks in the median
        object's confidence set). ``refits`` has one row per refit.

    Raises
    ------
    OptionError
        For names in `leave_out` that the table does not have.

    Notes
    -----
    The refits change one choice at a time and keep everything else:

    * ties count as half a win for each side, or are dropped, without ``tie`` in the formula;
    * the formula has the term ``order`` or not, if the table keeps the order;
    * judgments are clustered, as ``cov_type="cautious"`` does, or independent;
    * each level of `leave_out` is left out.

    Ranks are compared among the objects that both fits rank. Refits without finite estimates are counted in a note and
    not compared. This is no test: a stable ranking does not depend on these choices, but may still be wrong.

    References
    ----------
    Steegen, S., Tuerlinckx, F., Gelman, A. & Vanpaemel, W. (2016). Increasing transparency through a multiverse
    analysis. Perspectives on Psychological Science 11(5), 702-712.

    See Also
    --------
    fragility : The fewest judgments or judges whose removal changes a ranking.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1"))
    >>> choices = llbt.sensitivity(res).to_frame()
    >>> choices[["choice", "refits", "leader", "rank_set"]].head(3).values.tolist()
    [['as fitted', 1, 'A', 1.0], ['ties split', 1, 'A', 1.0], ['ties dropped', 1, 'A', 1.0]]
    """
    names, unasked = _left_out(res, leave_out)
    choices, kept_in = [_Choice("as fitted", lambda: res), *_analyses(res)], []
    for name in names:
        try:
            choices += _without_each(res, name)
        except LLBTError:  # its levels have own parameters, or depend on each other
            if leave_out is not None:
                raise
            kept_in.append(name)
    ranked = len(res.comparisons.objects) <= _MOST_RANKED
    whole = _ranked(res, res.comparisons.objects, at, None)
    by_choice: list[tuple[_Choice, _Ranking | None]] = []
    for choice in shown("sensitivity", choices, progress):
        sets = (confidence, rng) if ranked and choice.left_out is None else None
        by_choice.append((choice, _ranking_at(choice, res.comparisons.objects, at, sets)))
    refits = _compared(by_choice, whole, res.comparisons.objects)
    notes = (
        [f"rank_set: number of ranks in the median object's {100 * confidence:.4g} % confidence set"] if ranked else []
    )
    lost = sum(ranking is None for _, ranking in by_choice)
    if lost:
        notes.append(f"{counted(lost, 'refit')} without finite estimates; .refits has no leader for these")
    if kept_in:
        notes.append(f"not left out, because its levels are not independent units of the fit: {', '.join(kept_in)}")
    if unasked:
        notes.append(f"more than {_MOST_LEVELS} levels, left out only if named in leave_out=: {', '.join(unasked)}")
    return Sensitivity(_table(refits, tuple(notes)), refits.drop(columns="rank_set"))


# -- the choices -----------------------------------------------------------------------------------------------------


def _left_out(res: WithWorths, asked: str | Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the factors to leave out one level at a time, and those with too many levels."""
    if asked is not None:
        names = [asked] if isinstance(asked, str) else asked
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise OptionError(f"leave_out={asked!r}", expected="'object', clusters or covariates: ['judge', 'object']")
        names = list(dict.fromkeys(names))
        if plain_of(res) is not None:
            for name in names:
                if name != "object":
                    _check_column(res.comparisons, name)
        return names, []
    sizes = {name: size for name, size in _sizes(res).items() if size > 1}
    some = [name for name, size in sizes.items() if size <= _MOST_LEVELS]
    return some, [name for name, size in sizes.items() if size > _MOST_LEVELS]


def _sizes(res: WithWorths) -> dict[str, int]:
    """Return the columns whose levels can be left out, and ``object``, each with its number of levels."""
    data = res.answers
    if isinstance(data, Comparisons):
        labels = [column.name for column in data.columns if column.levels.dtype.kind not in "fiu"]
        sizes = {name: len(levels_of(data, name)) for name in dict.fromkeys((*data.clusters, *labels))}
        return sizes | {"object": len(data.objects) if len(data.objects) > 2 else 0}
    columns = (*data.columns, *getattr(data, "cluster_columns", ()))
    return {c.name: len(np.unique(c.codes)) for c in columns if c.levels.dtype.kind not in "fiu"}


def _check_column(c: Comparisons, name: str) -> None:
    if name not in (*c.covariates, *c.clusters):
        raise OptionError(
            f"leave_out={name!r} is not a column of this table; "
            f"it has {listed((*c.covariates, *c.clusters)) or 'none'}",
            f"Keep it when the table is made: from_judgments(…, clusters={name!r}).",
        )


def _analyses(res: WithWorths) -> Iterator[_Choice]:
    """Yield the alternative analyses of the same judgments."""
    if not isinstance(res.answers, Comparisons):
        return
    plain = plain_of(res)
    if plain is None:
        base: Estimates = getattr(res, "without")  # noqa: B009
        for choice in _analyses(base):
            if choice.name in _OF_TABLES:
                yield replace(choice, fitted=lambda choice=choice: beside(res, choice.fitted()))  # type: ignore[misc]
        return
    c, terms = plain.comparisons, written_terms(plain.specification.formula, plain.comparisons)
    if c.response is THREE and c.has_ties and c.n_ties:
        untied = [term for term in terms if term.block != "tie"]
        yield _Choice("ties split", lambda: _refit(plain, untied, c.split_ties()))
        yield _Choice("ties dropped", lambda: _refit(plain, untied, c.drop_ties()))
    if c.keeps_order:
        rest = [term for term in terms if term.block != "order"]
        if len(rest) < len(terms):
            yield _Choice("without order", lambda: _refit(plain, rest, c))
        else:
            order = WrittenTerm("order", "order", frozenset())
            yield _Choice("with order", lambda: _refit(plain, [*terms, order], c))
    if plain.specification.cov_type != "nonrobust":
        yield _Choice("judgments independent", lambda: _refit(plain, terms, c, "nonrobust"))
    elif c.clusters:
        yield _Choice("judgments by clusters", lambda: _refit(plain, terms, c, "cautious"))


def _refit(res: Estimates, terms: Sequence[WrittenTerm], c: Comparisons, cov_type: str | None = None) -> Estimates:
    """Return the fit of these terms to another table, with another covariance if one is given."""
    spec = res.specification
    model = LLBT.from_formula(" + ".join(term.name for term in terms), c, reference=spec.reference)
    held = {name: value for name, value in spec.fixed.items() if name in model.design.names}
    if cov_type is not None:
        spec = replace(spec, cov_type=cov_type, groups=())  # type: ignore[arg-type]
    return model.solved(replace(spec, formula=model.formula, reference=model.reference, fixed=held))


def _without_each(res: WithWorths, name: str) -> list[_Choice]:
    """Return one choice for each object, or each level of a cluster or covariate, without this object or level."""
    if name == "object" or plain_of(res) is not None:
        return list(_without_part(res, name))
    model = unit_model(res, name, "leave_out")
    labels = model.labels or ()

    def without(k: int) -> WithWorths:
        counts = model.counts.copy()
        counts[k] = 0
        refitted: WithWorths = model.refitted(counts)
        return refitted

    return [_Choice(f"without one {name}", partial(without, k), level) for k, level in enumerate(labels)]


def _without_part(res: WithWorths, name: str) -> Iterator[_Choice]:
    """Yield the choices that leave out a part of the table of comparisons."""
    c = res.answers
    if not isinstance(c, Comparisons):
        raise OptionError("leave_out='object': rankings and patterns cannot leave out an object", "Leave 'object' out.")
    levels: Sequence[Label] = c.objects if name == "object" else levels_of(c, name)

    def without(level: Label) -> WithWorths:
        rest = [other for other in levels if other != level]
        part = c.select(objects=rest) if name == "object" else c.select(where={name: rest})
        refitted: WithWorths = refit_data(res, part)
        return refitted

    for level in levels:
        yield _Choice(f"without one {name}", partial(without, level), level)


# -- what they change ------------------------------------------------------------------------------------------------


def _ranking_at(choice: _Choice, objects: Sequence[Label], at: At, sets: tuple[float, Rng] | None) -> _Ranking | None:
    try:
        return _ranked(choice.fitted(), objects, at, sets)
    except LLBTError:
        return None


def _ranked(res: WithWorths, objects: Sequence[Label], at: At, sets: tuple[float, Rng] | None) -> _Ranking:
    """Return the log-worths of a refit, which may have fewer objects, and with `sets` the sizes of rank sets."""
    worths = average_of(res)
    place = {label: k for k, label in enumerate(worths.comparisons.objects)}
    at_fit = np.array([place.get(label, -1) for label in objects])
    log_worths, _ = centred(worths, at)  # as in `pairwise`, whose simulation for the fit itself is then reused
    sizes = np.full(len(log_worths.estimate), np.nan)
    if sets is not None:
        confidence, rng = sets
        pairs = all_pairs(worths, log_worths, rng, confidence=confidence)
        rank, low, high = (np.asarray(f.values, dtype=np.float64) for f in pairs.rank_fields())
        sizes[pairs.best_first] = high - low + 1 + 0 * rank
    there = at_fit >= 0
    return _Ranking(np.where(there, log_worths.estimate[at_fit], np.nan), np.where(there, sizes[at_fit], np.nan))


def _compared(
    refits: Collection[tuple[_Choice, _Ranking | None]], whole: _Ranking, objects: Sequence[Label]
) -> pd.DataFrame:
    """Return one row per refit: its leader, and its agreement with the fit's ranking."""
    rows = []
    for choice, ranking in refits:
        row: dict[str, object] = {"choice": choice.name, "left_out": choice.left_out}
        if ranking is not None:
            row |= _against(whole.log_worths, ranking.log_worths, objects) | {"rank_set": ranking.median_set}
        rows.append(row)
    columns = ["choice", "left_out", "leader", "overtakes", "kendall_tau", "rank_change", "object", "rank_set"]
    return pd.DataFrame(rows, columns=columns)


def _against(before: FloatArray, after: FloatArray, objects: Sequence[Label]) -> dict[str, object]:
    """Return the agreement of a ranking with the fit's ranking, among the objects that both have."""
    both = np.flatnonzero(~np.isnan(before) & ~np.isnan(after))
    if not len(both):
        return {}
    ranks, moved = _ranks(before[both]), _ranks(after[both])
    change = np.abs(moved - ranks)
    ahead, leads = both[ranks == 1], both[moved == 1]
    leader = ahead[0] if ahead[0] in leads else leads[0]
    most = both[np.argmax(change)]
    tau = stats.kendalltau(ranks, moved).statistic if len(both) > 1 else np.nan
    return {
        "leader": objects[leader],
        "overtakes": bool(ahead[0] not in leads),
        "kendall_tau": float(tau),
        "rank_change": int(change.max()),
        "object": objects[most] if change.max() else None,
    }


def _ranks(values: FloatArray) -> IntArray:
    """Return ranks from 1; equal log-worths share the best rank."""
    return np.asarray((values[None, :] > values[:, None] + _SAME).sum(axis=1) + 1)


def _table(refits: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    """Return one row per choice; of several refits, the one furthest from the fit."""
    rows = []
    for name, some in refits.groupby("choice", sort=False):
        known = some.dropna(subset=["leader"])
        row: dict[str, object] = {"choice": name, "refits": len(some)}
        if len(known):
            furthest = known.sort_values(["rank_change", "kendall_tau"], ascending=[False, True], kind="stable").iloc[0]
            row |= {
                "leader": known["leader"].mode().iloc[0],
                "other_leaders": int(known["overtakes"].sum()),
                "kendall_tau": known["kendall_tau"].min(),
                "rank_change": furthest["rank_change"],
                "where": _described(furthest),
                "rank_set": known["rank_set"].iloc[0],
            }
        rows.append(row)
    names = ["choice", "refits", "leader", "other_leaders", "kendall_tau", "rank_change", "where", "rank_set"]
    frame = pd.DataFrame(rows, columns=names)

    def numbers(name: str) -> FloatArray:
        return frame[name].to_numpy(dtype=np.float64)

    return Table(
        (
            Field("choice", "choice", frame["choice"].tolist()),
            Field("refits", "refits", frame["refits"].to_numpy(), "count"),
            Field("leader", "leader", [None if pd.isna(x) else x for x in frame["leader"]]),
            Field("other_leaders", "other leaders", numbers("other_leaders"), "count"),
            Field("kendall_tau", "Kendall's tau", numbers("kendall_tau"), "number", 3),
            Field("rank_change", "rank change", numbers("rank_change"), "count"),
            Field("where", "where", ["" if pd.isna(x) else x for x in frame["where"]]),
            Field("rank_set", "rank set", numbers("rank_set"), "number", 3),
        ),
        title="Sensitivity: the ranking under other choices of the analysis",
        notes=notes,
    )


def _described(furthest: pd.Series[Any]) -> str:
    if pd.isna(furthest["object"]):
        return ""
    left_out = furthest["left_out"]  # NA next to labels
    return str(furthest["object"]) + ("" if pd.isna(left_out) else f", without {left_out}")
