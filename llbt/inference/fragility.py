"""How few judgments, judges or prompts can be removed to change a ranking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd

from ..base.arguments import Count, Kind, checked, is_real
from ..base.table import Field, Record, Table, counted, format_count, format_percent
from ..core.columns import FloatArray, IntArray, Label
from ..errors import DesignError, OptionError
from ..fitting.clusters import clustered, own_unit, way_of
from ..fitting.estimates import Estimates
from ..fitting.fitted import WithWorths, average_of, plain_of
from ..fitting.specification import penalty_of
from ..formulas.grid import At
from ..resampling import shown
from .greedy_removal import Search, Units
from .kinds import unit_model
from .log_worths import log_worths_at
from .unit_fragility import UnitSearch

Change = Literal["leader", "top", "adjacent"]
Part = Annotated[
    float, Kind(lambda share: is_real(share) and 0 < share < 1, "a share of the units, above 0 and below 1")
]

_TRIED = 5  # pairs of objects, the nearest to first order, that are searched for one change
_MOST_REFITS = 5_000  # most units that are left out in turn
_NAMED = 3  # most kinds of judgments in a printout


@dataclass(frozen=True, repr=False, eq=False)
class Fragility(Record):
    """The number of units whose removal changes a ranking. Made by `fragility`.

    Attributes
    ----------
    unit : str
        ``"judgment"``, or the name of the clusters.
    total : float
        The number of units.
    rows : list of dict
        change, object, overtaken_by, removed (units), share, exact.
    removals : pandas.DataFrame
        change, object, overtaken_by, what (the judgment, or the label of the cluster), removed.
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.fragility(…)"

    unit: str
    total: float
    rows: list[dict[str, object]]
    removals: pd.DataFrame
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return one row per change: which object overtakes which, and number, share and names of removed units."""
        rows = self.rows
        return Table(
            (
                Field("change", "change", [row["change"] for row in rows]),
                Field("object", "object", [row["object"] for row in rows]),
                Field("overtaken_by", "overtaken by", [row["overtaken_by"] for row in rows]),
                Field("removed", "removed", np.array([row["removed"] for row in rows], dtype=np.float64), "count"),
                Field("share", "share", np.array([row["share"] for row in rows], dtype=np.float64), "number", 3),
                Field("exact", "exact", [_exactness(row) for row in rows]),
                Field("which", "which", [self._which(row) for row in rows]),
            ),
            title=f"Fragility: {self.unit}s removed until the ranking changes, of {format_count(self.total)}",
            notes=self.notes,
        )

    def _which(self, row: dict[str, object]) -> str:
        frame = self.removals
        mine = frame[(frame["change"] == row["change"]) & (frame["object"] == row["object"])]
        pairs = zip(mine["what"], mine["removed"], strict=True)
        phrases = [f"{format_count(n)} × {what}" if n > 1 else str(what) for what, n in pairs]
        return ", ".join(phrases[:_NAMED]) + (f" and {len(phrases) - _NAMED} more" if len(phrases) > _NAMED else "")


def _exactness(row: dict[str, object]) -> str:
    if row["removed"] != row["removed"]:  # NaN
        return "NA"
    return "yes" if row["exact"] else "at most"


@checked
def fragility(
    res: WithWorths,
    *,
    change: Change = "leader",
    unit: str | None = None,
    k: Count = 3,
    most: Part = 0.5,
    at: At = "average",
    progress: bool = False,
) -> Fragility:
    """Return how few judgments, or judges, have to be left out for a ranking to change.

    Parameters
    ----------
    res : LLBTResults, MixedResults, DiscriminationResults, RankingResults or PatternResults
    change : {"leader", "top", "adjacent"}
        The change to search for: another leader; other objects among the first `k`; or the reverse order of two
        neighbours, with a row for each two.
    unit : str, optional
        The unit that is left out: ``"judgment"``, or a cluster or covariate of the table, such as ``"judge"``, whose
        levels are left out whole. By default the clusters of the fit, or judgments if it has none. For a fit with
        effects of judges, the judges; for rankings ``"list"``; for patterns ``"pattern"``.
    k : int
        The number of top objects, for ``change="top"``.
    most : float
        The largest share of the units that may be left out. If no removal up to this share changes the ranking, the
        result is NaN.
    at : mapping or "average"
        Covariate values at which worths are compared, if the formula's worth has covariates.
    progress : bool

    Returns
    -------
    Fragility
        change, object, overtaken_by, removed, share, exact, which. ``removals`` has all removed units.

    Raises
    ------
    OptionError
        For clusters that the table does not have, for a fit with two-way clustering without `unit`, and for a `k` that
        is not below the number of objects.
    DesignError
        For a single cluster, and for a fit with log-worths held by ``fixed=``.

    Notes
    -----
    Units are left out by their influence on the difference of two log-worths, −I⁻¹s to first order. The model is
    refitted and more units are left out until the difference has changed its sign. Then units are put back as long as
    the sign stays. All steps are refits, so the change is real. Another choice of units might need fewer units, so the
    number is an upper bound. It is exact if all smaller choices were fitted too (up to 2,000). For leader and top, the
    search covers the five pairs of objects that are nearest to a change, to first order. Judgments of one comparison
    with the same outcome are equal, so the cost depends on the cells, not on the judgments. An estimate that becomes
    infinite without some judgments counts as a change if it reverses the order.

    For fits other than `LLBTResults` each unit is left out alone first. Then as many units are left out as should
    suffice by the sum of their single effects, and refits check the result. Estimates that are not finite do not count
    as a change.

    References
    ----------
    Broderick, T., Giordano, R. & Meager, R. (2020). An automatic finite-sample robustness metric: when can dropping a
    little data make a big difference? arXiv:2011.14999.

    Huang, J. Y., Shen, Y., Wei, D. & Broderick, T. (2025). Dropping just a handful of preferences can change top large
    language model rankings. arXiv:2508.11847.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_modpref"))
    >>> llbt.fragility(res).to_frame()[["object", "overtaken_by", "removed", "exact"]].values.tolist()
    [['+', '-', 27.0, 'at most']]
    """
    average = average_of(res)
    log_worths, _ = log_worths_at(average, at)
    inside = np.flatnonzero(~np.isnan(log_worths.estimate))
    order = inside[np.argsort(-log_worths.estimate[inside], kind="stable")]
    if change == "top" and k >= len(order):
        raise OptionError(f"k={k} of {counted(len(order), 'object')}", expected="fewer than there are")
    held = [name for name in average.fixed if log_worths.rows[:, average.names.index(name)].any()]
    if held:
        raise DesignError(
            f"log-worths held by fixed= ({', '.join(held)})",
            "Fit without them: the ranking is by estimates.",
        )
    plain = plain_of(res)
    if plain is not None:
        unit = unit or own_unit(plain.specification.groups, "unit")
        search, names, total = _searched(plain, unit, most)
        changed = partial(_changed, search, log_worths.rows[:, plain.free])
    else:
        model = unit_model(res, unit, "unit")
        unit, names, total = model.unit, model.titles(), float(model.counts.sum())
        if len(names) > _MOST_REFITS:
            raise OptionError(
                f"{format_count(len(names))} {unit}s to leave out in turn",
                "Name a cluster or covariate: unit=.",
                expected=f"at most {format_count(_MOST_REFITS)}",
            )
        units = UnitSearch(model, len(average.free))
        changed = partial(_turned, units, max(1, int(most * total)), log_worths.rows[:, average.free])
    rows: list[dict[str, object]] = []
    removals: list[dict[str, object]] = []
    asked = list(_asked(change, order, k))
    for description, above, below in shown("fragility", asked, progress):
        row, removed = changed((above, below))
        label = {"change": description, **_named(res, row)}
        number = np.nan if removed is None else int(removed.sum())
        rows.append({**label, "removed": number, "share": number / total, "exact": row is not None and row[2]})
        if removed is not None:
            removals += [{**label, "what": names[j], "removed": int(removed[j])} for j in np.flatnonzero(removed)]
    columns = ["change", "object", "overtaken_by", "what", "removed"]
    frame = pd.DataFrame(removals, columns=columns).sort_values("removed", ascending=False, kind="stable")
    gone = sum(row["removed"] != row["removed"] for row in rows)
    notes: tuple[str, ...] = ("exact = 'yes': the minimum; 'at most': an upper bound",)
    if gone:
        found_none = f"NA: none found among removals of up to {format_percent(most)} of the {unit}s"
        notes = (f"{found_none}, in {counted(gone, 'row')}", *notes)
    return Fragility(unit, total, rows, frame.reset_index(drop=True), notes)


def _searched(res: Estimates, unit: str, most: float) -> tuple[Search, list[str], float]:
    """Return the search among the units of a fit, the units' names, and their number."""
    problem = res.problem()
    penalty = penalty_of(problem, res.comparisons, res.specification, res.design, res.free)
    if unit == "judgment":
        units, total = Units.of_judgments(problem.counts), float(problem.counts.sum())
        frame = res.comparisons.to_frame()
        outcomes, k = res.comparisons.response.outcomes, problem.counts.shape[1]
        cells = units.taken.indices  # one judgment of each kind
        names = [f"{_described(frame, cell // k)} {outcomes[cell % k]}" for cell in cells]
    else:
        lines = clustered(res.comparisons, unit, (unit,))
        units, total = Units.of_clusters(lines, problem.counts.shape), float(lines.size)
        names = [f"{unit} {level}" for level in way_of(res.comparisons, unit, (unit,)).levels]
    if not len(units.number):
        raise DesignError("no cell has a whole judgment to leave out", "Name a cluster of the table: unit=.")
    limit = max(1, int(most * total))
    return Search(problem, penalty, res.solution.params, units, limit), names, total


def _described(frame: pd.DataFrame, row: int) -> str:
    return f"{frame['object_i'].iloc[row]}:{frame['object_j'].iloc[row]}"


def _asked(change: Change, order: IntArray, k: int) -> Iterator[tuple[str, IntArray, IntArray]]:
    """Yield each ranking change to search for: its description, the objects to overtake, and those that may do so."""
    if change == "leader":
        yield "leader", order[:1], order[1:]
    elif change == "top":
        yield f"top {k}", order[:k], order[k:]
    else:
        for r in range(len(order) - 1):
            yield f"rank {r + 1}", order[r : r + 1], order[r + 1 : r + 2]


def _changed(
    search: Search, rows: FloatArray, sides: tuple[IntArray, IntArray]
) -> tuple[tuple[int, int, bool] | None, IntArray | None]:
    """Return which object overtakes which at the smallest removal found, whether none is smaller, and the removal."""
    above, below = sides
    pairs = [(a, b) for a in above for b in below]
    needed = np.zeros(len(pairs))
    if len(pairs) > _TRIED:
        needed = _needed(search, np.stack([rows[a] - rows[b] for a, b in pairs]))
    best: tuple[int, int] | None = None
    least: IntArray | None = None
    for place in np.argsort(needed, kind="stable")[:_TRIED]:
        a, b = pairs[place]
        within = search if least is None else replace(search, most=int(least.sum()) - 1)
        removed = within.turned(rows[a] - rows[b])
        if removed is not None:
            best, least = (int(a), int(b)), removed
    if best is None or least is None:
        return None, None

    def is_changed(params: FloatArray) -> bool:
        worths = rows @ params
        return bool(worths[below].max() > worths[above].min() + 1e-9)

    fewer, exact = search.fewest(least, is_changed)
    params = None if fewer is least else search.fitted(fewer, search.params)
    if params is not None:
        worths = rows @ params
        best = int(above[np.argmin(worths[above])]), int(below[np.argmax(worths[below])])
    return (*best, exact), fewer


def _turned(
    units: UnitSearch, most: int, rows: FloatArray, sides: tuple[IntArray, IntArray]
) -> tuple[tuple[int, int, bool] | None, IntArray | None]:
    """Return which object overtakes which at the smallest removal among units, and the removal; see `_changed`."""
    pairs = [(int(a), int(b)) for a in sides[0] for b in sides[1]]
    gap = np.array([(rows[a] - rows[b]) @ units.model.estimates[: units.worths] for a, b in pairs])
    best: tuple[int, int] | None = None
    least: IntArray | None = None
    for place in np.argsort(gap, kind="stable")[:_TRIED]:
        a, b = pairs[place]
        removed = units.turned(rows[a] - rows[b], most if least is None else int(least.sum()) - 1)
        if removed is not None:
            best, least = (a, b), removed
    if best is None or least is None:
        return None, None
    return (*best, int(least.sum()) == 1), least


def _needed(search: Search, rows: FloatArray) -> FloatArray:
    """Return how many units reverse each combination (m, p), to first order, (m,); infinite if no number does."""
    number = search.units.number
    needed = []
    for row, effects in zip(rows, search.effects(np.zeros_like(number), search.params, rows), strict=True):
        order = np.argsort(-effects, kind="stable")
        gained = np.cumsum(np.maximum(effects[order], 0.0) * number[order])
        place = int(np.searchsorted(gained, gap := float(row @ search.params)))
        before = gained[place - 1] if place else 0.0
        whole = place < len(order)
        needed.append(number[order][:place].sum() + (gap - before) / effects[order][place] if whole else np.inf)
    return np.array(needed)


def _named(res: WithWorths, row: tuple[int, int, bool] | None) -> dict[str, Label | None]:
    objects = res.comparisons.objects
    return {
        "object": None if row is None else objects[row[0]],
        "overtaken_by": None if row is None else objects[row[1]],
    }
