"""Scores of metrics and of humans for the same systems on the same inputs, as matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ..base.arguments import checked
from ..base.table import Field, Record, Table, counted
from ..core.columns import FloatArray, Label, arranged, as_objects, refuse_surrogates
from ..data.column_roles import Names
from ..data.frames import plain
from ..data.score_columns import RATER_WORDS, called, is_beside, refuse_bad_cells
from ..data.score_tables import score_table
from ..data.sources import as_names
from ..data.tables import unused_note
from ..errors import JudgmentError, OptionError, listed
from .system_scores import refuse_other_labels, score_matrix

_FEWEST, _MOST = 3, 5000  # systems that the Shapiro–Wilk test can have


@dataclass(frozen=True, repr=False, eq=False)
class MetricScores(Record):
    """Scores of K metrics and of humans for N systems on M inputs.

    Attributes
    ----------
    systems, inputs, metrics : tuple of label, length N, M, K
    values : ndarray, shape (K, N, M)
        Metric scores; NaN where a score is missing.
    human : ndarray, shape (N, M)
        Human scores; NaN where a score is missing.
    notes : tuple of str

    Notes
    -----
    Missing scores are allowed at every level. At system level a system's mean is over its scores, so humans may have
    judged only a part of the inputs. At input and global level a cell counts if it has both a metric and a human score.
    """

    _made_by: ClassVar[str] = "MetricScores.from_frame(…) or MetricScores.from_matrices(…)"

    systems: tuple[Label, ...]
    inputs: tuple[Label, ...]
    metrics: tuple[str, ...]
    values: FloatArray
    human: FloatArray
    notes: tuple[str, ...]

    @classmethod
    @checked
    def from_frame(
        cls,
        frame: object,
        metrics: str | Sequence[str] | None = None,
        *,
        human: str = "human",
        system: str = "system",
        input: str | None = "input",
        rater: str | None = None,
        ignore: Names = (),
    ) -> MetricScores:
        """Return the scores of a frame with one row per system and input and one column per metric.

        Parameters
        ----------
        frame : frame, path or list of records
        metrics : str or sequence of str, optional
            Columns of metric scores. By default all other numeric columns, except columns with the usual names of
            items, runs, raters, lengths or times.
        human : str
            Column of human scores.
        system, input : str
            Columns of the system and the input that was scored; ``input=None`` for one score per system.
        rater : str, optional
            Column of the rater. Scores of several raters for one system and input are averaged.
        ignore : str or sequence of str
            Columns to leave out.

        Returns
        -------
        MetricScores
            Systems and inputs sorted. Scores of a system on an input are missing if there is no row for them; a note
            counts these pairs.

        Raises
        ------
        JudgmentError
            For missing columns, scores that are not finite numbers, rows without a system or input, duplicate pairs of
            system and input, and fewer than two systems.

        Examples
        --------
        >>> import llbt
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"system": list("aabb"), "input": [1, 2, 1, 2], "bleu": [1.0, 2, 3, 4], "human": 1.0})
        >>> llbt.metrics.MetricScores.from_frame(frame).matrix("bleu").values.tolist()
        [[1.0, 2.0], [3.0, 4.0]]
        """
        table, left = score_table(frame), as_names(ignore, "ignore")
        keys = [system] if input is None else [system, input]
        if rater is not None:
            _refuse_gone(table, [*keys, rater])
            left = (*left, rater)
        given = [metrics] if isinstance(metrics, str) else metrics
        names = list(given) if given is not None else _numbers_in(table, [*keys, human, *left])
        _refuse_gone(table, [*keys, human, *names, *left])
        if not names:
            raise JudgmentError("no column of metric scores", "Pass metrics= and the names of their columns.")
        table, averaged = (table, ()) if rater is None else _over_raters(table, keys, rater, [*names, human])
        rows, systems = _labelled(table, system)
        columns, inputs = _labelled(table, input) if input is not None else (np.zeros_like(rows), ("all",))
        _refuse_twice(table, rows * len(inputs) + columns, keys)
        values = np.full((len(names) + 1, len(systems), len(inputs)), np.nan)
        for k, name in enumerate([*names, human]):
            values[k, rows, columns] = _scores(table, name)
        absent = len(systems) * len(inputs) - len(table)
        missing = (f"{counted(absent, 'pair')} of system and input without a row: missing",) if absent else ()
        unused = [str(name) for name in table.columns if name not in (*keys, human, *names, *left)]
        return cls.from_matrices(
            dict(zip(names, values, strict=False)), values[-1], systems=systems, inputs=inputs
        )._with((*averaged, *missing, *unused_note(unused)))

    @classmethod
    @checked
    def from_matrices(
        cls,
        metrics: Mapping[str, npt.ArrayLike],
        human: npt.ArrayLike,
        *,
        systems: Sequence[Label] | None = None,
        inputs: Sequence[Label] | None = None,
    ) -> MetricScores:
        """Return the scores of matrices, one per metric.

        Parameters
        ----------
        metrics : mapping of name to array_like or DataFrame, each (N, M) or (N,)
        human : array_like or DataFrame, shape (N, M) or (N,)
        systems, inputs : sequence of label, optional
            By default the labels of a DataFrame, otherwise 0, 1, 2, …

        Returns
        -------
        MetricScores

        Raises
        ------
        JudgmentError
            For matrices of different shapes, matrices with values other than finite numbers and NaN, and frames whose
            labels differ.

        Examples
        --------
        >>> import llbt
        >>> scores = {"bleu": [1.0, 2.0, 4.0]}
        >>> llbt.metrics.MetricScores.from_matrices(scores, [1.0, 3.0, 2.0], systems=["a", "b", "c"]).systems
        ('a', 'b', 'c')
        """
        if not isinstance(metrics, Mapping) or not metrics:
            raise JudgmentError("no metrics", expected="a mapping {name: matrix}")
        of_human = score_matrix("human", human)
        matrices = {str(name): score_matrix(repr(name), values) for name, values in metrics.items()}
        for name, values in matrices.items():
            if values.shape != of_human.shape:
                raise JudgmentError(
                    f"{name!r} has shape {values.shape}, human {of_human.shape}",
                    expected="the same systems (rows) and inputs (columns), NaN where a score is missing",
                )
        if len(of_human) < 2:
            raise JudgmentError(counted(len(of_human), "system"), expected="at least 2")
        for name, given in metrics.items():
            refuse_other_labels(("human", repr(name)), (human, given), inputs=of_human.shape[1] > 1)
        labelled = next((given for given in (human, *metrics.values()) if isinstance(given, pd.DataFrame)), None)
        if labelled is not None:
            systems = labelled.index.tolist() if systems is None else systems
            inputs = labelled.columns.tolist() if inputs is None else inputs
        labels = [
            _labels(name, given, size)
            for name, given, size in zip(("systems", "inputs"), (systems, inputs), of_human.shape, strict=True)
        ]
        return cls(labels[0], labels[1], tuple(matrices), np.stack(list(matrices.values())), of_human, ())

    @checked
    def matrix(self, metric: str) -> pd.DataFrame:
        """Return the scores of a metric, a row per system and a column per input.

        Raises
        ------
        OptionError
            For an unknown metric.
        """
        if metric not in self.metrics:
            raise OptionError(f"no metric {metric!r}", expected=f"one of {listed(self.metrics, 30)}")
        return self._frame(self.values[self.metrics.index(metric)])

    def human_matrix(self) -> pd.DataFrame:
        """Return the human scores, a row per system and a column per input."""
        return self._frame(self.human)

    def table(self) -> Table:
        """Return mean, standard deviation and number of scores of each metric, and of humans in the last row."""
        every = [*self.values, self.human]
        return Table(
            (
                Field("metric", "Metric", [*self.metrics, "human"]),
                Field("mean", "Mean", [float(np.nanmean(x)) if _there(x) else np.nan for x in every], "number"),
                Field("sd", "SD", [float(np.nanstd(x, ddof=1)) if _there(x) > 1 else np.nan for x in every], "number"),
                Field("n", "Scores", [_there(x) for x in every], "count"),
                Field("missing", "Missing", [x.size - _there(x) for x in every], "count"),
            ),
            title="Scores of metrics and humans",
            head=(f"{counted(len(self.systems), 'system')}, {counted(len(self.inputs), 'input')}",),
            notes=self.notes,
        )

    def normality(self) -> Table:
        """Return the Shapiro–Wilk test of system scores, which Fisher's and Williams' methods assume to be normal.

        Returns
        -------
        Table
            metric, statistic (W), p_value; one row per metric, and one for humans. NaN where a metric has fewer than
            three systems with scores, or all their means are equal.

        References
        ----------
        Shapiro, S. S. & Wilk, M. B. (1965). An analysis of variance test for normality. Biometrika 52, 591-611.
        Deutsch, D., Dror, R. & Roth, D. (2021). Transactions of the ACL 9, 1132-1146, Table 2.

        Examples
        --------
        >>> import llbt
        >>> scores = llbt.metrics.MetricScores.from_matrices({"bleu": [1.0, 2.0, 4.0, 9.0]}, [1.0, 3.0, 2.0, 4.0])
        >>> scores.normality().to_frame()["statistic"].round(3).tolist()
        [0.895, 0.993]
        """
        tests = np.array([shapiro(x) for x in (*self.values, self.human)])
        undefined = [name for name, p in zip((*self.metrics, "human"), tests[:, 1], strict=True) if np.isnan(p)]
        why = "fewer than three systems with scores, or all means equal"
        return Table(
            (
                Field("metric", "Metric", [*self.metrics, "human"]),
                Field("statistic", "W", tests[:, 0], "statistic"),
                Field("p_value", "p", tests[:, 1], "p_value"),
            ),
            title="Shapiro–Wilk test of system scores",
            head=("Null hypothesis: mean scores of systems are normal",),
            notes=(*self.notes, *([f"undefined for {listed(undefined)}: {why}"] if undefined else [])),
        )

    def _frame(self, values: FloatArray) -> pd.DataFrame:
        return pd.DataFrame(values, index=list(self.systems), columns=list(self.inputs))

    def _with(self, notes: tuple[str, ...]) -> MetricScores:
        return MetricScores(self.systems, self.inputs, self.metrics, self.values, self.human, notes)


def shapiro(x: FloatArray) -> tuple[float, float]:
    """Return W and p of the Shapiro–Wilk test of the systems' means (N, M); NaN where it is undefined."""
    held = ~np.isnan(x).all(axis=1)
    means = np.nanmean(x[held], axis=1)
    if not _FEWEST <= len(means) <= _MOST or np.ptp(means) <= 1e-12 * np.abs(means).max():
        return np.nan, np.nan
    test = stats.shapiro(means)
    return float(test.statistic), float(test.pvalue)


def _there(x: FloatArray) -> int:
    return int((~np.isnan(x)).sum())


def _labels(name: str, given: Sequence[Label] | None, size: int) -> tuple[Label, ...]:
    labels = tuple(plain(label) for label in given) if given is not None else tuple(range(size))
    refuse_surrogates(f"{name}=", labels)
    if len(labels) != size or len(set(labels)) != size:
        raise JudgmentError(
            f"{name}= has {counted(len(labels), 'label')}, {len(set(labels))} of them distinct",
            expected=f"{size} distinct ones",
        )
    return labels


def _numbers_in(table: pd.DataFrame, roles: Sequence[str]) -> list[str]:
    others = [name for name in table.columns if name not in roles and not is_beside(name)]
    refuse_bad_cells(table, others)
    return [str(n) for n in others if pd.api.types.is_numeric_dtype(table[n]) and table[n].dtype.kind != "b"]


def _refuse_gone(table: pd.DataFrame, names: Sequence[str]) -> None:
    gone = [name for name in names if name not in table.columns]
    if gone:
        raise JudgmentError(
            f"no column {listed(gone)}; the frame has {listed(list(table.columns), 20)}",
            "Name its columns with human=, system=, input= and metrics=.",
        )


def _labelled(table: pd.DataFrame, name: str) -> tuple[npt.NDArray[np.intp], tuple[Label, ...]]:
    """Return a column as integer codes, and its sorted labels."""
    missing = table[name].isna().to_numpy()
    if missing.any():
        raise JudgmentError(
            f"no value in {counted(int(missing.sum()), 'row')}, first at row {int(missing.argmax())}",
            "Leave these rows out.",
            where=f"column {name!r}",
            expected="one for each score",
        )
    refuse_surrogates(f"column {name!r}", table[name])
    codes, labels = pd.factorize(table[name].map(plain))
    column = arranged(name, as_objects(plain(label) for label in labels), codes)
    return column.codes, tuple(column.levels.tolist())


def _over_raters(
    table: pd.DataFrame, keys: Sequence[str], rater: str, names: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the means of scores over raters, a row for each system and input, and a note on rows and raters."""
    for key in (*keys, rater):
        _labelled(table, key)
    again = table.duplicated([*keys, rater]).to_numpy()
    _refuse_rows(again, [*keys, rater])
    means = table.assign(**{name: _scores(table, name) for name in names})
    averaged = means.groupby(list(keys), sort=False)[list(dict.fromkeys(names))].mean().reset_index()
    note = f"{counted(len(table), 'row')} averaged over {counted(table[rater].nunique(), 'rater')} by column {rater!r}"
    return averaged, (note,)


def _refuse_twice(table: pd.DataFrame, cell: npt.NDArray[np.intp], keys: Sequence[str]) -> None:
    raters = called([str(name) for name in table.columns if name not in keys], RATER_WORDS)
    _refuse_rows(pd.Series(cell).duplicated().to_numpy(), keys, raters)


def _refuse_rows(again: npt.NDArray[np.bool_], keys: Sequence[str], raters: Sequence[str] = ()) -> None:
    if again.any():
        raise JudgmentError(
            f"{counted(int(again.sum()), 'row')} with the {' and '.join(keys)} of an earlier one, first at row "
            f"{int(again.argmax())}",
            f"Pass rater={raters[0]!r} to average over it."
            if raters
            else f"Average them first: frame.groupby({list(keys)!r}).mean(numeric_only=True).reset_index()",
            expected="one row each",
        )


def _scores(table: pd.DataFrame, name: str) -> FloatArray:
    column = table[name]
    if not pd.api.types.is_numeric_dtype(column) or column.dtype.kind in "bc":
        raise JudgmentError(f"values of type {column.dtype}, not numbers", where=f"column {name!r}", expected="scores")
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
