"""How far mechanisms of aggregation agree on the ranks of systems."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arguments import JUDGED_INSIDE, checked
from ..base.table import Field, Record, Table, counted
from ..core.columns import FloatArray, Label
from ..errors import JudgmentError, OptionError, listed

_EQUAL = 1e-9  # scores that differ by no more are equal
_TOP = 3
_MOST_ROWS = 60
_FIGURES = ("disagreement", "reversed", "tied_in_one", "best_differ", "top3_differ")
_HEADINGS = ("Disagreement", "Reversed", "Tied in one", "Best differ", "Top 3 differ")


@dataclass(frozen=True, repr=False, eq=False)
class AggregationComparison(Record):
    """How far mechanisms of aggregation disagree on the order of systems. S setups, P pairs of mechanisms.

    Attributes
    ----------
    setups : tuple, length S
        The names of the setups.
    pairs : tuple of (str, str), length P
        The mechanisms compared.
    sizes : ndarray of int, shape (S,)
        Number of systems in each setup.
    figures : mapping of ndarray, each of shape (S, P)
        ``disagreement``, ``reversed``, ``tied_in_one``, ``best_differ`` and ``top3_differ`` of each setup; NaN where
        undefined.
    notes : tuple of str
    """

    setups: tuple[Label, ...]
    pairs: tuple[tuple[str, str], ...]
    sizes: npt.NDArray[np.int64]
    figures: Mapping[str, FloatArray]
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return one row per pair of mechanisms, averaged over the setups."""
        return Table(
            (
                *_pair_fields(self.pairs),
                Field("n", "Setups", (~np.isnan(self.figures["disagreement"])).sum(axis=0), "count"),
                *(Field(f, h, _means(self.figures[f]), "number") for f, h in zip(_FIGURES, _HEADINGS, strict=True)),
            ),
            title=f"Agreement of aggregations, averaged over {counted(len(self.setups), 'setup')}",
            notes=("disagreement is (1 − τ-b)/2; shares of pairs of systems, and of setups", *self.notes),
        ).first(_MOST_ROWS)

    def by_setup(self) -> Table:
        """Return one row per setup and pair of mechanisms, not averaged."""
        rows = np.repeat(np.arange(len(self.setups)), len(self.pairs))
        return Table(
            (
                Field("setup", "Setup", [self.setups[row] for row in rows]),
                *_pair_fields(self.pairs * len(self.setups)),
                Field("n_systems", "Systems", self.sizes[rows], "count"),
                *(Field(f, h, self.figures[f].ravel(), "number") for f, h in zip(_FIGURES, _HEADINGS, strict=True)),
            ),
            title="Agreement of aggregations by setup",
            notes=self.notes,
        ).first(_MOST_ROWS)

    @checked
    def by_group(self, groups: Annotated[Mapping[Any, Label], JUDGED_INSIDE]) -> Table:
        """Return the figures averaged over the setups of each group, such as a metric, a task or a range of sizes.

        Parameters
        ----------
        groups : mapping of setup to label
            The group of each setup, by the setup's name.

        Returns
        -------
        Table
            group, first, second, n (setups with a disagreement) and the figures of `to_frame`; groups in the order of
            the setups.

        Raises
        ------
        OptionError
            For setups without a group.

        Examples
        --------
        >>> import llbt
        >>> import pandas as pd
        >>> alike = pd.DataFrame({"mean": [0.3, 0.2, 0.1], "bt": [0.9, 0.5, 0.1]}, index=["A", "B", "C"])
        >>> setups = {"BLEU, de": alike, "BLEU, fr": alike, "chrF, de": alike.assign(bt=[0.1, 0.5, 0.9])}
        >>> compared = llbt.scores.compare(setups)
        >>> metrics = {name: name.split(",")[0] for name in setups}
        >>> compared.by_group(metrics).to_frame()[["group", "n", "disagreement"]].values.tolist()
        [['BLEU', 2, 0.0], ['chrF', 1, 1.0]]
        """
        gone = [name for name in self.setups if name not in groups]
        if gone:
            raise OptionError(f"groups= gives no group for {listed(gone)}", expected="a group for each setup")
        of = [groups[name] for name in self.setups]
        labels = list(dict.fromkeys(of))
        inside = [np.array([one == label for one in of]) for label in labels]
        figures = {f: np.array([_means(self.figures[f][rows]) for rows in inside]) for f in _FIGURES}
        n = np.array([(~np.isnan(self.figures["disagreement"][rows])).sum(axis=0) for rows in inside])
        return Table(
            (
                Field("group", "Group", [label for label in labels for _ in self.pairs]),
                *_pair_fields(self.pairs * len(labels)),
                Field("n", "Setups", n.ravel(), "count"),
                *(Field(f, h, figures[f].ravel(), "number") for f, h in zip(_FIGURES, _HEADINGS, strict=True)),
            ),
            title="Agreement of aggregations, averaged over the setups of each group",
            notes=self.notes,
        )


@checked
def compare(
    setups: Annotated[Mapping[Label, pd.DataFrame] | Sequence[pd.DataFrame], JUDGED_INSIDE],
) -> AggregationComparison:
    """Return how far mechanisms of aggregation, such as mean, median and BT, disagree on the order of systems.

    Parameters
    ----------
    setups : mapping or sequence of DataFrame
        One frame per setup, such as a test set and a metric, by name or in order. Systems are in rows, mechanisms in
        columns. Values are scores on any scale, the higher the better (negate other scores). All setups have the same
        mechanisms; their systems may differ.

    Returns
    -------
    AggregationComparison
        Averages over setups by pair of mechanisms: first, second, n,
        disagreement, reversed, tied_in_one, best_differ, top3_differ. ``by_setup()`` has these figures for each setup,
        ``by_group()`` their means by metric, task or size.

    Raises
    ------
    OptionError
        For a value that is not a mapping or list of frames.
    JudgmentError
        For fewer than two systems or mechanisms, scores that are not numbers, and mechanisms that differ between
        setups.

    Notes
    -----
    Of the N(N − 1)/2 pairs of systems, C have the same order by both mechanisms, and D the opposite order. The first
    mechanism leaves n₁ pairs untied, the second n₂. Then

    * disagreement = (1 − τ-b)/2 with Kendall's τ-b = (C − D)/√(n₁ n₂); undefined if a mechanism ties all systems;
    * reversed = the share of D in all pairs; without ties it equals the disagreement;
    * tied_in_one = share of pairs tied by exactly one of the two;
    * best_differ and top3_differ: whether the sets of the best, and of the three best systems differ (1) or not (0);
      a top-k set holds every system at least as good as the k-th. top3_differ is undefined for two systems.

    Scores that differ by at most 1e-9 are equal. If a mechanism gives some system no score, the figures of this
    mechanism are missing in this setup; averages use the other setups.

    The paper reports these figures, in per cent, for 296 real setups (four tasks, 18 metrics, 73,471 pairs of systems),
    with Elo and TrueSkill from a single order (Tables 1 and 4). Its BT comes from code that counts a tie as a win for
    the later column, so the order of the columns matters. On its 65 public setups the disagreement of mean and BT is
    .099 with that code, and .078 with ties left out, as by ``BradleyTerry(ties="drop")``.

    ===================  ============  ===========  ============
    mechanisms           disagreement  best differ  top 3 differ
    ===================  ============  ===========  ============
    mean, median         4             18           30
    mean, BT             9             40           49
    median, BT           9             41           55
    mean, Elo            20            55           84
    median, Elo          19            56           84
    mean, TrueSkill      18            44           76
    median, TrueSkill    17            46           79
    BT, Elo              16            38           75
    BT, TrueSkill        18            53           72
    Elo, TrueSkill       18            45           71
    ===================  ============  ===========  ============

    References
    ----------
    .. [1] Peyrard, M., Zhao, W., Eger, S. and West, R. (2021). Better than average: Paired evaluation of NLP systems.
       ACL-IJCNLP 2021, 2301-2315: Tables 1 and 4.

    Examples
    --------
    >>> import llbt
    >>> import pandas as pd
    >>> bleu = pd.DataFrame({"mean": [0.3, 0.2, 0.1], "median": [0.2, 0.3, 0.1]}, index=["A", "B", "C"])
    >>> chrf = pd.DataFrame({"mean": [0.3, 0.2, 0.1], "median": [0.5, 0.4, 0.1]}, index=["A", "B", "C"])
    >>> compared = llbt.scores.compare({"BLEU": bleu, "chrF": chrf})
    >>> compared.to_frame().round(3).iloc[0].to_dict()
    {'first': 'mean', 'second': 'median', 'n': 2, 'disagreement': 0.167, 'reversed': 0.167, 'tied_in_one': 0.0,
     'best_differ': 0.5, 'top3_differ': 0.0}
    >>> compared.by_setup().to_frame()[["setup", "disagreement"]].round(3).values.tolist()
    [['BLEU', 0.333], ['chrF', 0.0]]
    """
    labels, frames = _setups(setups)
    scores = [_scores(frame, name, frames[0]) for name, frame in zip(labels, frames, strict=True)]
    mechanisms = [str(name) for name in frames[0].columns]
    pairs = tuple(itertools.combinations(mechanisms, 2))
    by_setup = np.array([_figures(values) for values in scores])  # (S, figures, P)
    sizes = np.array([values.shape[1] for values in scores])
    figures = {name: by_setup[:, k] for k, name in enumerate(_FIGURES)}
    return AggregationComparison(labels, pairs, sizes, figures, _notes(labels, mechanisms, scores, figures))


def _setups(setups: object) -> tuple[tuple[Label, ...], list[pd.DataFrame]]:
    if isinstance(setups, pd.DataFrame):
        raise OptionError("setups= is one frame", "Pass [frame].", expected="one per setup")
    if isinstance(setups, Mapping):
        names, frames = tuple(setups), list(setups.values())
    elif isinstance(setups, Sequence) and not isinstance(setups, str):
        names, frames = tuple(range(len(setups))), list(setups)
    else:
        raise OptionError(
            f"setups= is of type {type(setups).__name__}",
            expected="a mapping from the names of setups to frames of scores (systems in rows, mechanisms in columns), "
            "or a list of such frames",
        )
    if not frames:
        raise OptionError("setups= is empty", expected="at least one setup")
    return names, frames


def _scores(frame: object, name: Label, like: pd.DataFrame) -> FloatArray:
    """Return the scores of a setup, shape (K mechanisms, N systems)."""
    where = f"setup {name!r}"
    if not isinstance(frame, pd.DataFrame):
        raise OptionError(
            f"{where} is of type {type(frame).__name__}",
            expected="a DataFrame with systems in rows and mechanisms in columns",
        )
    if frame.shape[0] < 2 or frame.shape[1] < 2:
        fault = f"{counted(len(frame), 'system')} and {counted(frame.shape[1], 'mechanism')}"
        raise JudgmentError(f"{where} has {fault}", expected="at least two of each")
    for what, labels in (("system", frame.index), ("mechanism", frame.columns)):
        if labels.has_duplicates:
            raise JudgmentError(f"{where} has {what} {labels[labels.duplicated()][0]!r} twice", expected="each once")
    if set(frame.columns) != set(like.columns):
        raise JudgmentError(
            f"{where} has the mechanisms {listed(list(frame.columns))}",
            "Leave out the others, or compare these setups separately.",
            expected=f"those of the first setup, {listed(list(like.columns))}",
        )
    strange = [column for column in like.columns if not pd.api.types.is_numeric_dtype(frame[column])]
    if strange:
        raise JudgmentError(
            f"{where}: column {strange[0]!r} ({frame[strange[0]].dtype}) holds no numbers",
            "Put the names of systems into the index: frame.set_index('system').",
            expected="the scores of the systems",
        )
    return frame[like.columns].to_numpy(dtype=np.float64, na_value=np.nan).T


def _figures(scores: FloatArray) -> FloatArray:
    """Return all figures of one setup, shape (figures, P); NaN where a mechanism has no score for a system."""
    order = _order(scores)
    first, second = np.triu_indices(len(scores), 1)
    both = order[first] * order[second]
    decided = (order != 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = both.sum(axis=1) / np.sqrt(decided[first] * decided[second])
    top = [_at_the_top(scores, k) for k in (1, _TOP)]
    differ = [(members[first] != members[second]).any(axis=1).astype(np.float64) for members in top]
    if scores.shape[1] < _TOP:
        differ[1] = np.full(len(first), np.nan)
    tied_in_one = ((order[first] == 0) != (order[second] == 0)).mean(axis=1)
    figures = np.array([(1 - tau) / 2, (both < 0).mean(axis=1), tied_in_one, *differ])
    incomplete: npt.NDArray[np.bool_] = np.asarray(np.isnan(scores).any(axis=1))
    figures[:, incomplete[first] | incomplete[second]] = np.nan
    return figures


def _order(scores: FloatArray) -> FloatArray:
    """Return which of two systems is ahead by each mechanism, (K, N(N − 1)/2): 1 the first, −1 the second, 0 none."""
    i, j = np.triu_indices(scores.shape[1], 1)
    with np.errstate(invalid="ignore"):
        lead = scores[:, i] - scores[:, j]
    lead[scores[:, i] == scores[:, j]] = 0.0  # ∞ − ∞
    return np.where(np.abs(lead) <= _EQUAL, 0.0, np.sign(lead))


def _at_the_top(scores: FloatArray, k: int) -> npt.NDArray[np.bool_]:
    """Return the k best systems by each mechanism, (K, N): all systems at least as good as the k-th."""
    kth = np.sort(scores, axis=1)[:, ::-1][:, min(k, scores.shape[1]) - 1]
    return np.asarray(scores >= kth[:, None] - _EQUAL)


def _means(values: FloatArray) -> FloatArray:
    """Return means over the setups with a defined figure, shape (P,); NaN if there is none."""
    number = (~np.isnan(values)).sum(axis=0)
    return np.where(number > 0, np.nansum(values, axis=0) / np.maximum(number, 1), np.nan)


def _pair_fields(pairs: Sequence[tuple[str, str]]) -> tuple[Field, Field]:
    return Field("first", "First", [pair[0] for pair in pairs]), Field("second", "Second", [pair[1] for pair in pairs])


def _notes(
    setups: Sequence[Label], mechanisms: Sequence[str], scores: Sequence[FloatArray], figures: Mapping[str, FloatArray]
) -> tuple[str, ...]:
    notes = []
    for k, mechanism in enumerate(mechanisms):
        without = [name for name, values in zip(setups, scores, strict=True) if np.isnan(values[k]).any()]
        if without:
            notes.append(f"{mechanism} is left out in {listed(without)}: it has no score for some systems")
    undefined = np.isnan(figures["disagreement"]) & ~np.isnan(figures["reversed"])
    if undefined.any():
        tied = [name for name, row in zip(setups, undefined, strict=True) if row.any()]
        notes.append(f"disagreement is undefined in {listed(tied)}: a mechanism ties all systems")
    small = [name for name, values in zip(setups, scores, strict=True) if values.shape[1] < _TOP]
    if small:
        notes.append(f"the top 3 is undefined in {listed(small)}: there are fewer than three systems")
    return tuple(notes)
