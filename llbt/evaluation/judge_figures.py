"""What is counted for each judge: outcomes, repeats of a unit, what a model says of the judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from ..columns import Coded, FloatArray, IntArray, code, groups
from ..comparisons import Comparisons
from ..data.sources import as_names
from ..errors import DesignError, JudgmentError, listed
from ..prediction import BLOCKS, codings_of
from ..results import LLBTResults
from ..table import counted
from .judged import Judged

ASKER = "judge_summary"


@dataclass(frozen=True, eq=False)
class Lines:
    """R lines of judgments by one judge each.

    Attributes
    ----------
    judge : Coded, shape (R,)
    counts : ndarray, shape (R, 3)
    frame : DataFrame
        Objects and covariates of the comparisons.
    at : ndarray of int, shape (R,)
        The row of `frame` that a line belongs to.
    shown : bool
    """

    judge: Coded
    counts: FloatArray
    frame: pd.DataFrame
    at: IntArray
    shown: bool

    def summed(self, values: FloatArray) -> FloatArray:
        """Return values (R,) summed by judge, shape (K,)."""
        return np.asarray(np.bincount(self.judge.codes, values, len(self.judge.levels)), dtype=np.float64)


def lines_of_judgments(judged: Judged, judge: str) -> Lines:
    """Return a line per judgment."""
    name = judge if judge in judged.frame else "judge"  # a column that was read as the judge is called so
    rows = np.arange(len(judged.said))
    return Lines(judged.column(name, ASKER, "judge"), np.eye(3)[judged.said], judged.frame, rows, judged.shown)


def lines_of_counts(c: Comparisons, judge: str) -> Lines:
    """Return a line per comparison and judge, who is a covariate or a cluster of the table."""
    frame, kept = c.to_frame(), c.cluster_counts
    column = next((found for found in c.columns if found.name == judge), None)
    if column is not None and not column.numeric:
        return Lines(column, c.counts, frame, np.arange(len(c)), c.keeps_order)
    column = next((found for found in kept.columns if found.name == judge), None) if kept else None
    if column is None or kept is None:
        has = listed((*c.clusters, *c.covariates)) or "none"
        raise JudgmentError(
            f"{ASKER}: the table has no cluster or covariate of labels {judge!r} (judge=); it keeps {has}. Keep it "
            f"where the table is made: from_judgments(…, clusters={judge!r})."
        )
    return Lines(column, kept.counts, frame, kept.rows, c.keeps_order)


@dataclass(frozen=True, eq=False)
class Repeats:
    """What judgments of the same unit say, each (K,), and notes."""

    agreed: FloatArray
    pairs: FloatArray
    swapped: FloatArray
    flips: FloatArray
    notes: tuple[str, ...]


def unknown_repeats(judges: int) -> Repeats:
    """Return what a table of counts says of repeats: nothing."""
    unknown = np.full(judges, np.nan)
    note = (
        "a table of counts does not say which judgments are of the same unit: agreement, swapped and flips are NA; "
        "pass the judgments themselves"
    )
    return Repeats(unknown, unknown, unknown, unknown, (note,))


def count_repeats(judged: Judged, judge: Coded, unit: str | Sequence[str] | None) -> Repeats:
    """Count pairs of judgments of the same unit: of a judge and others, and of a judge in both display orders."""
    among, _ = judged.grouped(unit or (), ASKER, "unit")
    size, low = len(judge.levels), judged.pairs.min(axis=1)
    _, units = groups([low, judged.pairs.max(axis=1), among])
    first, line = groups([units, np.asarray(judge.codes, dtype=np.int64)])
    turned = judged.pairs[:, 0] > low
    said = np.where(turned, 2 - judged.said, judged.said)
    own, everyone = _tally(line, said), _tally(units, said)[units[first]]
    others = everyone - own

    def by_judge(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(judge.codes[first], values, size), dtype=np.float64)

    agreed = by_judge((own * others).sum(axis=1))
    pairs = by_judge(own.sum(axis=1) * others.sum(axis=1))
    notes = _unit_notes(judged, unit)
    if not judged.shown:
        unknown = np.full(size, np.nan)
        return Repeats(agreed, pairs, unknown, unknown, notes)
    one, other = (_tally(line[way], judged.said[way], len(first)) for way in (~turned, turned))
    swapped = by_judge(one.sum(axis=1) * other.sum(axis=1))
    return Repeats(agreed, pairs, swapped, by_judge(one[:, 0] * other[:, 0] + one[:, 2] * other[:, 2]), notes)


def _tally(group: IntArray, said: IntArray, size: int | None = None) -> FloatArray:
    """Return how often each group says what, shape (size, 3)."""
    size = int(group.max(initial=-1)) + 1 if size is None else size
    return np.bincount(3 * group + said, minlength=3 * size).reshape(-1, 3).astype(np.float64)


def _unit_notes(judged: Judged, unit: str | Sequence[str] | None) -> tuple[str, ...]:
    if unit:
        return (f"units are the two objects and {', '.join(as_names(unit, 'unit'))}",)
    if "prompt" in judged.frame and judged.frame["prompt"].nunique() > 1:
        return ("units are the two objects alone, whatever the prompt; unit='prompt' tells prompts apart",)
    return ("units are the two objects alone",)


@dataclass(frozen=True, eq=False)
class ModelFigures:
    """Sums over a judge's judgments, each (K,): judgments, p(said), Σ p², log-likelihood, its mean and variance."""

    judgments: FloatArray
    said: FloatArray
    expected: FloatArray
    likelihood: FloatArray
    mean: FloatArray
    variance: FloatArray
    notes: tuple[str, ...]


def model_figures(lines: Lines, model: LLBTResults | None) -> ModelFigures:
    """Return what a model says of each judge's judgments; sums over none, and a note, without one."""
    if model is None:
        zero = np.zeros(len(lines.judge.levels))
        note = "no model= was given: agreement with a model is NA"
        return ModelFigures(zero, zero, zero, zero, zero, zero, (note,))
    p = _chances(lines, model)[lines.at]
    counts = lines.counts if model.comparisons.has_ties else lines.counts[:, [0, 2]]
    known = np.asarray(~np.isnan(p).any(axis=1))
    notes = _left_out(lines, counts, known)
    p, counts = np.where(known[:, None], p, 1.0), np.where(known[:, None], counts, 0.0)
    n, log_p = counts.sum(axis=1), np.log(p)
    mean = special.xlogy(p, p).sum(axis=1)
    return ModelFigures(
        judgments=lines.summed(n),
        said=lines.summed((counts * p).sum(axis=1)),
        expected=lines.summed(n * (p**2).sum(axis=1)),
        likelihood=lines.summed((counts * log_p).sum(axis=1)),
        mean=lines.summed(n * mean),
        variance=lines.summed(n * ((p * log_p**2).sum(axis=1) - mean**2)),
        notes=notes,
    )


def _left_out(lines: Lines, counts: FloatArray, known: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    ties = float(lines.counts.sum() - counts.sum())
    unknown = float(counts[~known].sum())
    notes = [f"{counted(ties, 'tie')} left out of the agreement with the model, which has no ties"] if ties else []
    if unknown:
        notes.append(f"{counted(unknown, 'judgment')} left out of the agreement with the model: not determined by it")
    return tuple(notes)


def _chances(lines: Lines, model: LLBTResults) -> FloatArray:
    """Return the model's outcome probabilities for the rows of the frame, shape (F, C); NaN where undetermined."""
    if "order" in model.design.blocks and not lines.shown:
        raise DesignError(
            f"{ASKER}: the model {model.specification.formula!r} has an order effect, but these data do not say which "
            "object was shown first. Pass judgments that do (from_judgments(…, order=True)), or a model without order."
        )
    needed = _needed(model)
    gone = [name for name in needed if name not in lines.frame]
    if gone:
        raise JudgmentError(
            f"{ASKER}: the model {model.specification.formula!r} needs {listed(gone)}, which these data do not have; "
            f"they have {listed(list(lines.frame), 20)}."
        )
    frame = pd.DataFrame(lines.frame)[needed]
    gaps = [name for name in needed if frame[name].isna().any()]
    if gaps:
        raise JudgmentError(f"{ASKER}: column {gaps[0]!r}, which the model uses, has missing values. Leave them out.")
    codes = [code(name, frame[name].to_numpy(dtype=object)) for name in needed]
    objects = model.comparisons.objects
    strange = [x for x in dict.fromkeys(x for column in codes[:2] for x in column.levels.tolist()) if x not in objects]
    if strange:
        raise JudgmentError(
            f"{ASKER}: the model does not know the objects {listed(strange)}; it has {listed(objects)}. Leave them out."
        )
    first, group = groups([np.asarray(column.codes, dtype=np.int64) for column in codes])
    found = model.predict(frame.iloc[first].reset_index(drop=True)).to_frame()["estimate"].to_numpy(dtype=float)
    return np.asarray(found.reshape(len(first), -1)[group])


def _needed(model: LLBTResults) -> list[str]:
    """Return the columns that a prediction needs: the objects first."""
    codings = codings_of(model)
    columns = ["object_i", "object_j"]
    for name in sorted({name for block in BLOCKS for name in codings.blocks[block].variables}):
        role = codings.table.variables[name].role
        columns += [name] if role == "covariate" else [f"{name}_i", f"{name}_j"] if role == "side covariate" else []
    return columns
